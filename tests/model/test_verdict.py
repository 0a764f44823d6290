"""The verdict and its JSON, which others script against."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.model.verdict import (
    Assumption,
    Certificate,
    Reason,
    Verdict,
    Witness,
    as_json,
    with_decimals,
)

EVIDENCE = {
    "holds": Certificate("groups", {"groups": 3}, {"person": {"name": "Bruce"}}),
    "breached": Witness(
        "group", {"size": 4}, {"values": {"zip": "130**"}, "counts": {"Cancer": 4}}
    ),
    "undecided": Reason("budget", "the time was up"),
}
FIELDS = (
    "check",
    "name",
    "subject",
    "status",
    "certainty",
    "scope",
    "protects",
    "against",
    "measure",
    "assumptions",
    "measured",
    "required",
    "because",
    "warnings",
    "seconds",
)


def verdict(status: Any = "breached", **changed: Any) -> Verdict:
    common: dict[str, Any] = {
        "check": "gamma-privacy",
        "label": "1/2-privacy",
        "subject": {"releases": ["male", "old"]},
        "status": status,
        "because": "one belief is 4/5",
        "evidence": EVIDENCE[status],
        "protects": "each person's condition",
        "against": "anyone",
        "measure": "belief",
        "measured": {"gamma": Fraction(4, 5), "worlds": 45},
        "required": {"gamma": Fraction(1, 2)},
        "story": "Donald has SARS.",
        "assumptions": (Assumption("uniform", "all tables are equally likely", "cannot"),),
        "warnings": ("few rows",),
    }
    return Verdict(**{**common, **changed})


@pytest.mark.parametrize("status", list(EVIDENCE))
@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_there_is_exactly_one_of_certificate_witness_and_reason(status: str, audience: Any) -> None:
    document = verdict(status).to_json(audience)
    kind = {"holds": "certificate", "breached": "witness", "undecided": "reason"}[status]
    assert [key for key in ("certificate", "witness", "reason") if key in document] == [kind]
    assert all(field in document for field in FIELDS)
    assert set(document) == {*FIELDS, kind}


def test_a_reason_is_a_code_and_a_text() -> None:
    assert verdict("undecided").to_json()["reason"] == {"code": "budget", "text": "the time was up"}


def test_the_documented_shape() -> None:
    document = verdict(seconds=0.00449).to_json()
    assert document["measured"] == {"gamma": "4/5", "gamma_decimal": 0.8, "worlds": "45"}
    assert document["required"] == {"gamma": "1/2"}
    assert document["subject"] == {"releases": ["male", "old"]}
    assert document["assumptions"] == [
        {"id": "uniform", "text": "all tables are equally likely", "checked": "cannot"}
    ]
    assert document["witness"] == {
        "kind": "group",
        "size": "4",
        "values": {"zip": "130**"},
        "counts": {"Cancer": "4"},
    }
    assert (document["name"], document["seconds"], document["warnings"]) == (
        None,
        0.004,
        ["few rows"],
    )
    assert list(document)[:5] == ["check", "name", "subject", "status", "certainty"]
    json.dumps(document, allow_nan=False)


def test_the_owner_reads_the_story_and_others_do_not() -> None:
    owner, shared = verdict().to_json("owner"), verdict().to_json("shared")
    assert owner["because"] == "one belief is 4/5. Donald has SARS."
    assert shared["because"] == "one belief is 4/5"
    assert shared["witness"] == {"kind": "group", "size": "4"}
    for word in ("Donald", "130**", "Cancer"):
        assert word in json.dumps(owner)
        assert word not in json.dumps(shared)


def test_vacuous_is_said_only_where_it_is_so() -> None:
    assert verdict("holds", vacuous=True).to_json()["vacuous"] is True
    assert "vacuous" not in verdict("holds").to_json()


@pytest.mark.parametrize("status", list(EVIDENCE))
def test_the_evidence_must_fit_the_status(status: str) -> None:
    for other, evidence in EVIDENCE.items():
        if other != status:
            with pytest.raises(TypeError, match=status):
                verdict(status, evidence=evidence)


def test_a_verdict_is_not_true_or_false() -> None:
    with pytest.raises(TypeError, match="three outcomes"):
        bool(verdict())


def test_verdicts_are_values() -> None:
    assert verdict() == verdict()
    assert verdict() != replace(verdict(), because="x")
    with pytest.raises(FrozenInstanceError):
        verdict().status = "holds"  # type: ignore[misc]


@pytest.mark.parametrize("status", list(EVIDENCE))
def test_only_the_evidence_of_its_status_is_there(status: str) -> None:
    one = verdict(status)
    found = {"holds": one.certificate, "breached": one.witness, "undecided": one.reason}
    assert {name for name, evidence in found.items() if evidence is not None} == {status}


def test_a_notebook_shows_values_and_not_markup() -> None:
    shown = verdict(because="<script>alert(1)</script>", story='<img src="x">')._repr_html_()
    assert "<script>" not in shown
    assert "<img" not in shown


# -- values as JSON -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (4, "4"),
        (-7, "-7"),
        (10**40, "1" + "0" * 40),
        (Fraction(4, 5), "4/5"),
        (Fraction(4), "4"),
        (True, True),
        (False, False),
        (None, None),
        ("text", "text"),
        ([1, [Fraction(1, 2)]], ["1", ["1/2"]]),
        ((1, 2), ["1", "2"]),
        ({"a": {"b": 1}}, {"a": {"b": "1"}}),
        (date(2024, 2, 29), "2024-02-29"),
        (Decimal("2.8284"), "2.8284"),
        (Decimal("0.0000001"), "0.0000001"),
        (Decimal("1E+2"), "100"),
    ],
)
def test_numbers_are_strings_and_the_rest_is_itself(value: Any, expected: Any) -> None:
    assert as_json(value) == expected


@settings(deadline=None, max_examples=50)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.fractions(), st.text(), st.dates()),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    )
)
def test_everything_becomes_json_without_floats(value: Any) -> None:
    def floats(node: Any) -> bool:
        if isinstance(node, dict):
            return any(floats(one) for one in node.values())
        if isinstance(node, list):
            return any(floats(one) for one in node)
        return isinstance(node, int | float) and not isinstance(node, bool)

    document = as_json(value)
    assert not floats(document)
    assert json.loads(json.dumps(document)) == document


def test_fractions_have_their_decimal_beside_them() -> None:
    assert with_decimals({"t": Fraction(1, 3), "k": 4, "l": "2.8284", "equal": True}) == {
        "t": "1/3",
        "t_decimal": 1 / 3,
        "k": "4",
        "l": "2.8284",
        "equal": True,
    }


def test_a_fraction_that_is_whole_has_its_decimal_too() -> None:
    """Scripts read x_decimal; it must not vanish when the value happens to be 1."""
    assert with_decimals({"belief": Fraction(1)}) == {"belief": "1", "belief_decimal": 1.0}
