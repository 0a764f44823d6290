"""What a client asks is read within limits."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.gateway.http.requests import GatewayRequest, key_of, read_request
from tacit.gateway.policy.refusals import Refusal


def asked(**fields: object) -> GatewayRequest:
    return read_request(json.dumps(fields).encode())


def test_all_fields_are_read() -> None:
    found = asked(sql="SELECT ?", role="nurses", parameters=[1, "a", None, True], limit=3)
    assert (found.sql, found.role, found.parameters, found.limit) == (
        "SELECT ?",
        "nurses",
        (1, "a", None, True),
        3,
    )


def test_parameters_by_name_and_none() -> None:
    assert asked(sql="x", parameters={"a": 1}).parameters == {"a": 1}
    assert asked(sql="x", parameters=None).parameters == ()


def test_decimals_are_exact() -> None:
    assert read_request(b'{"sql": "x", "parameters": [0.10]}').parameters == (Decimal("0.10"),)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'"sql"',
        b"\xff",
        b'{"sql": 1}',
        b'{"sql": ""}',
        b'{"sql": " "}',
        b"{}",
        b'{"sql": "x", "sql": "y"}',
        b'{"sql": "x", "more": 1}',
        b'{"sql": "x", "limit": -1}',
        b'{"sql": "x", "limit": 1.5}',
        b'{"sql": "x", "limit": true}',
        b'{"sql": "x", "limit": 9223372036854775808}',
        b'{"sql": "x", "role": ""}',
        b'{"sql": "x", "role": 1}',
        b'{"sql": "x", "role": ["a"]}',
        b'{"sql": "a\\u0000b"}',
        b'{"sql": "\\ud800"}',
        b'{"sql": "x", "role": "\\ud800"}',
        b'{"sql": "x", "parameters": "a"}',
        b'{"sql": "x", "parameters": [[1]]}',
        b'{"sql": "x", "parameters": [{"a": 1}]}',
        b'{"sql": "x", "parameters": ["\\u0000"]}',
        b'{"sql": "x", "parameters": [NaN]}',
        b'{"sql": "x", "parameters": [Infinity]}',
        b'{"sql": "x", "parameters": [1e999]}',
        b'{"sql": "x", "parameters": [1e-999]}',
        b'{"sql": "x", "parameters": [' + b"1" * 39 + b"]}",
        b'{"sql": "x", "parameters": [' + b"1" * 5000 + b"]}",
        b'{"sql": "x", "parameters": [1e9999999999999999999]}',
        b'{"sql": "x", "parameters": {"' + b"a" * 201 + b'": 1}}',
        b'{"sql": "x", "parameters": ' + b"[" * 400_000 + b"]" * 400_000 + b"}",
        b"[" * 900_000,
    ],
)
def test_what_is_wrong_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        read_request(body)
    assert caught.value.status == 400
    assert caught.value.code in ("body", "parameters")


def test_what_is_too_long_is_refused() -> None:
    for body in (json.dumps({"sql": "x" * 100_001}).encode(), b" " * 1_000_001):
        with pytest.raises(Refusal) as caught:
            read_request(body)
        assert (caught.value.status, caught.value.code) == (413, "too-large")
    with pytest.raises(Refusal):
        asked(sql="x", parameters=[1] * 1001)
    assert len(asked(sql="x" * 100_000, parameters=[1] * 1000).parameters) == 1000


def test_errors_do_not_repeat_what_was_sent() -> None:
    with pytest.raises(Refusal) as caught:
        asked(sql="x", **{"Ellen Moss": 1})
    assert "Ellen" not in caught.value.body().decode()


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text(max_size=5)
    | st.decimals(-1000, 1000, places=2)
)
GIVEN = st.lists(VALUES, max_size=3).map(tuple) | st.dictionaries(
    st.text(max_size=3), VALUES, max_size=3
)


@settings(max_examples=1500, deadline=None)
@given(GIVEN, GIVEN)
def test_parameters_that_differ_have_keys_that_differ(one: object, other: object) -> None:
    same = repr(one) == repr(other)  # 1, 1.0 and True are equal in Python, and are not here
    if not same and isinstance(one, dict) and isinstance(other, dict):
        same = {key: repr(value) for key, value in one.items()} == {
            key: repr(value) for key, value in other.items()
        }
    assert same or key_of(one) != key_of(other) or (not one and not other)  # type: ignore[arg-type]


ODD = st.sampled_from(
    [1, "x", None, True, [], {}, [1], {"a": 1}, -1, 1.5, "", [[]], [None], "\0", 10**50]
)
BODIES = st.dictionaries(
    st.sampled_from(["sql", "role", "parameters", "limit", "more"]), ODD, max_size=4
)


@settings(max_examples=1500, deadline=None)
@given(st.binary(max_size=60) | BODIES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        read_request(body)
    except Refusal as refusal:
        json.loads(refusal.body())
