"""Values: parameters as constants in the tree of a query, and numbers
that are written in one way only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from tacit.errors import QueryError
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.understanding import QueryText

Parameters = Sequence[Any] | Mapping[str, Any]
MOST_PARAMETERS = 1_000
MOST_DIGITS = 38  # of a number
WHOLE = re.compile(r"[0-9]+")


def is_text(value: str) -> bool:
    """Can a database store it? JSON can carry halves of characters, which are none.

    >>> is_text("Zoë"), is_text("a\\0b"), is_text("\\ud800")
    (True, False, False)
    """
    return "\0" not in value and not any("\ud800" <= one <= "\udfff" for one in value)


def numbered(text: str, dialect: str) -> str:
    """The text with $1, $2, ... for each `?`, where that is a place for a value.

    >>> numbered("SELECT '?' FROM t WHERE a = ? AND b = ?", "duckdb")
    "SELECT '?' FROM t WHERE a = $1 AND b = $2"
    """
    if "?" not in text or dialect == "postgres":  # there it is an operator
        return text
    try:
        places = [
            one.start
            for one in sqlglot.tokenize(text, read=dialect)
            if one.token_type == TokenType.PLACEHOLDER and one.text == "?"
        ]
    except SqlglotError:
        return text  # the parser says what is wrong
    for number, place in reversed(list(enumerate(places, 1))):
        text = f"{text[:place]}${number}{text[place + 1 :]}"
    return text


def with_values(tree: exp.Query, parameters: Parameters, source: QueryText) -> exp.Query:
    """The tree with constants in the place of its parameters:
    `?` in order, `$1` by number, `$name` by name.
    """
    if len(parameters) > MOST_PARAMETERS:
        raise QueryError(
            f"there are {len(parameters):,} parameters; up to {MOST_PARAMETERS:,} are taken.",
            code="parameters",
            hint="Give fewer.",
        )
    used: set[int | str] = set()
    for node in list(tree.find_all(exp.Placeholder, exp.Parameter)):
        name = node.name or (node.this.name if isinstance(node.this, exp.Expr) else "")
        used.add(key := _key(name, parameters))
        node.replace(constant(_value(key, parameters, source, node), f"${name}"))
    unused = [
        one
        for one in (
            parameters if isinstance(parameters, Mapping) else range(1, len(parameters) + 1)
        )
        if one not in used
    ]
    if unused:
        hint = (
            f"The query has {len(used)} of its own: write ${unused[0]} where it belongs, or "
            "leave it out."
        )
        raise QueryError(f"parameter {unused[0]!r} is not used.", code="parameters", hint=hint)
    return tree


def _key(name: str, parameters: Parameters) -> int | str:
    return (
        name
        if isinstance(parameters, Mapping)
        else (int(name) if WHOLE.fullmatch(name) and len(name) < 9 else name)
    )


def _value(key: int | str, parameters: Parameters, source: QueryText, node: exp.Expr) -> Any:
    if isinstance(parameters, Mapping):
        if key in parameters:
            return parameters[str(key)]
    elif isinstance(key, int) and 1 <= key <= len(parameters):
        return parameters[key - 1]
    hint = 'Give it, e.g. "parameters": ["flu"] for $1, or {"ward": "A"} for $ward.'
    raise QueryError(
        f"parameter {key!r} has no value.",
        code="parameters",
        hint=hint,
        mark=source.mark(start_of(node)),
    )


def constant(value: Any, name: str = "parameter") -> exp.Expr:
    """A value as a literal.

    >>> [constant(value).sql() for value in ("it's", -5, 2.5, True, None)]
    ["'it''s'", '-5', '2.5', 'TRUE', 'NULL']
    """
    if value is None:
        return exp.null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str) and is_text(value):
        return exp.Literal.string(value)
    if isinstance(value, int | float | Decimal):
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if (
            exact.is_finite()
            and (exact == 0 or -MOST_DIGITS < exact.adjusted() < MOST_DIGITS)
            and len(exact.as_tuple().digits) <= MOST_DIGITS
        ):
            literal = exp.Literal.number(format(abs(exact), "f"))
            return exp.Neg(this=literal) if exact < 0 else literal
    raise QueryError(
        f"{name} is neither text, a number, true, false nor null.",
        code="parameters",
        hint="Give a value that can stand in SQL.",
    )


def shortened(tree: exp.Query, dialect: str) -> exp.Query:
    """The tree with numbers written once and the same:
    of 1.0 and 1.00, which are equal, PostgreSQL shows the one that it met first.

    A whole one becomes 1, but stays a number with decimals where it is more than compared:
    1.0 / 2 is not 1 / 2.

    >>> shortened(sqlglot.parse_one("SELECT 1.0 / 2, 2.50 FROM t WHERE a = 3.0"), "postgres").sql()
    'SELECT CAST(1 AS DECIMAL) / 2, 2.5 FROM t WHERE a = 3'
    """
    if dialect != "postgres":  # elsewhere a column shows all its numbers alike
        return tree
    for one in list(tree.find_all(exp.Literal)):
        if not one.is_string and "." in one.name and "e" not in one.name.lower():
            text = one.name.rstrip("0").rstrip(".") or "0"
            only_compared = isinstance(one.parent, exp.Predicate)
            one.set("this", text)
            if "." not in text and not only_compared:
                one.replace(exp.cast(one.copy(), "decimal"))
    return tree
