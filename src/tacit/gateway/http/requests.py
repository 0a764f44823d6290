"""What a client asks: the body of a request, read within limits and checked field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tacit.gateway.policy.refusals import Refusal

MOST_BYTES = 1_000_000
MOST_LETTERS = 100_000  # of a query
MOST_PARAMETERS = 1_000
MOST_DIGITS = 38
MOST_NAME = 200
FIELDS = ("sql", "role", "parameters", "limit", "session", "dialect")
DIALECTS = ("mysql", "tsql", "postgres", "duckdb")
NOT_TEXT = "holds a letter that is not text (NUL, or half of a surrogate pair)."

Value = str | int | bool | Decimal | None


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """One request: the query, the role it is asked in, its parameters, the most rows wanted, and
    the session whose answers count.

    `key` holds the parameters as text in which 1, 1.0, true and "1" differ,
    as they do not among Python's values.
    """

    sql: str
    role: str | None
    parameters: Sequence[Value] | Mapping[str, Value]
    limit: int | None
    key: str
    session: str | None = None
    dialect: str | None = None


def read_request(body: bytes) -> GatewayRequest:
    """The request in a body; a Refusal with status 400 or 413 where it is wrong.

    >>> read_request(b'{"sql": "SELECT 1", "parameters": [1, true]}').key
    '[1, true]'
    """
    fields = read_object(body)
    for name in fields:
        if name not in FIELDS:
            raise wrong(
                "body", f"the body has a field that is not known; known are {', '.join(FIELDS)}."
            )
    sql = fields.get("sql")
    if not isinstance(sql, str) or not sql.strip():
        raise wrong("body", "the body has no query.", 'Send {"sql": "SELECT ..."}')
    return asked_of(
        sql,
        read_parameters(fields.get("parameters")),
        read_role(fields.get("role")),
        read_limit(fields.get("limit")),
        read_session(fields.get("session")),
        read_dialect(fields.get("dialect")),
    )


def asked_of(
    sql: str,
    parameters: tuple[Value, ...] | dict[str, Value],
    role: str | None,
    limit: int | None = None,
    session: str | None = None,
    dialect: str | None = None,
) -> GatewayRequest:
    """A request of these parts, whichever door it came by; a Refusal where the query is too long,
    or no text.
    """
    if len(sql) > MOST_LETTERS:
        raise Refusal(413, "too-large", f"the query is longer than {MOST_LETTERS} letters.")
    if not is_text(sql):
        raise wrong("body", f"the query {NOT_TEXT}")
    return GatewayRequest(sql, role, parameters, limit, key_of(parameters), session, dialect)


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a body. Numbers stay exact, a name stands once, NaN is no number."""
    if len(body) > MOST_BYTES:
        raise too_large()
    try:
        found = json.loads(
            body.decode("utf-8"), parse_float=Decimal, parse_constant=refuse, object_pairs_hook=once
        )
    except (ValueError, RecursionError, ArithmeticError):
        raise wrong(
            "body",
            "the body is not JSON in UTF-8 in which each name stands once.",
            'Send {"sql": "SELECT ..."}',
        ) from None
    if not isinstance(found, dict):
        raise wrong("body", "the body is not a JSON object.", 'Send {"sql": "SELECT ..."}')
    return found


def read_role(role: Any) -> str | None:
    """The name of a role, or None where the client names none."""
    if role is None or (isinstance(role, str) and 0 < len(role) <= MOST_NAME and is_text(role)):
        return role
    raise wrong("body", "role: is not the name of a role.")


def read_session(session: Any) -> str | None:
    """The name of a session, which the client chooses, or None."""
    if session is None or (
        isinstance(session, str) and 0 < len(session) <= MOST_NAME and is_text(session)
    ):
        return session
    raise wrong("body", "session: is not a name.", "Write a text of up to 200 letters.")


def read_dialect(dialect: Any) -> str | None:
    """How the query is spelled, or None for the source's own way."""
    if dialect is None:
        return None
    if isinstance(dialect, str) and dialect in DIALECTS:
        return dialect
    raise wrong("body", "dialect: is not known.", f"Write one of {', '.join(DIALECTS)}.")


def read_limit(limit: Any) -> int | None:
    """The most rows that the client wants, or None."""
    if limit is None or (type(limit) is int and 0 <= limit < 2**63):
        return limit
    raise wrong("body", "limit: is not a number of rows.", "Write a whole number from 0.")


def read_parameters(given: Any) -> tuple[Value, ...] | dict[str, Value]:
    """Parameters by place (a list) or by name (an object);
    each is text, a number, true, false or null.
    """
    if given is None:
        return ()
    if not isinstance(given, list | dict):
        raise wrong("parameters", "parameters: is neither a list nor an object.")
    if len(given) > MOST_PARAMETERS:
        raise wrong("parameters", f"there are more than {MOST_PARAMETERS} parameters.")
    if isinstance(given, dict):
        if any(len(name) > MOST_NAME or not is_text(name) for name in given):
            raise wrong("parameters", "a parameter's name is too long, or is not text.")
        return {name: read_value(value) for name, value in given.items()}
    return tuple(read_value(value) for value in given)


def read_value(value: Any) -> Value:
    """One parameter."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not is_text(value):
            raise wrong("parameters", f"a parameter {NOT_TEXT}")
        return value
    if isinstance(value, int | Decimal):
        number = Decimal(value)
        if (
            number.is_finite()
            and len(number.as_tuple().digits) <= MOST_DIGITS
            and abs(number.adjusted()) < MOST_DIGITS
        ):
            return value
        raise wrong("parameters", f"a parameter has more than {MOST_DIGITS} digits.")
    raise wrong("parameters", "a parameter is neither text nor a number, true, false or null.")


def key_of(parameters: tuple[Value, ...] | dict[str, Value]) -> str:
    """Parameters as text that differs wherever they do.

    >>> key_of((1, Decimal("1.0"), True, "1"))
    '[1, {"decimal": "1.0"}, true, "1"]'
    """
    return (
        json.dumps(parameters, default=lambda number: {"decimal": str(number)})
        if parameters
        else ""
    )


def is_text(text: str) -> bool:
    """Can a database store it? NUL and single surrogates cannot be
    written in UTF-8, or not be stored.
    """
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which each name stands once: two readers might take different ones."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def refuse(word: str) -> Any:
    """NaN and Infinity are not JSON."""
    raise ValueError


def wrong(code: str, message: str, hint: str | None = None) -> Refusal:
    """A request that is not as it should be."""
    return Refusal(400, code, message, hint=hint)


def too_large() -> Refusal:
    """A body beyond the limit; the connection ends, because the rest of it is not read."""
    return Refusal(
        413,
        "too-large",
        f"the body is longer than {MOST_BYTES} bytes.",
        headers={"Connection": "close"},
    )
