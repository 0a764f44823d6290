"""Parameters: a secret such as S(r) :- RP(r, $paper), asked for
every value that $paper may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from tacit.errors import QueryError
from tacit.families.queries.query import Comparison, Constant, Query, Relations, Variable
from tacit.families.queries.understanding import QueryUnderstanding

PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w+)")
MOST_PARAMETERS = 4


def marks(at: int) -> tuple[Any, ...]:
    """Values that nobody writes, of every type: a text, a number, a day, a moment;
    and true, where there is no choice.
    """
    return (
        f"$parameter{at}",
        918273645546372 + at,
        f"1777-07-{at + 1:02}",
        f"1777-07-07 07:07:{at:02}",
        True,
    )


def parameters(text: str) -> list[str]:
    """The names of a query's parameters, each once.

    >>> parameters("S(r) :- RP(r, $paper), x != '$none'")
    ['paper']
    """
    return list(dict.fromkeys(name for found in PIECES.finditer(text) if (name := found.group(1))))


def bound(text: str, values: Mapping[str, Any]) -> str:
    """A query with values in the place of its parameters.

    >>> bound("S(r) :- RP(r, $paper)", {"paper": "p1"})
    "S(r) :- RP(r, 'p1')"
    """

    def put(found: re.Match[str]) -> str:
        name = found.group(1)
        return found.group() if name is None or name not in values else written(values[name])

    return PIECES.sub(put, text)


def written(value: Any) -> str:
    """A value as a constant of Datalog and SQL."""
    if isinstance(value, bool):
        return f"'{str(value).lower()}'"
    plain = (
        value
        if isinstance(value, str | int) or str(value).replace(".", "", 1).lstrip("-").isdigit()
        else str(value)
    )
    return str(Constant(plain))


def places(
    text: str, relations: Relations, read: Callable[[str], QueryUnderstanding]
) -> dict[str, list[tuple[str, str]]]:
    """The columns that each parameter stands in or is compared with."""
    query, values = marked(text, read)
    found = {
        name: list(dict.fromkeys(_standing(query, value, relations)))
        for name, value in values.items()
    }
    for name, columns in found.items():
        if not columns:
            raise QueryError(
                f"${name} is compared with no column.",
                code="parameter",
                hint=f"Use it where a value stands, e.g. R(x, ${name}).",
            )
    return found


def marked(text: str, read: Callable[[str], QueryUnderstanding]) -> tuple[Query, dict[str, Any]]:
    """A query with a value of its own in the place of each parameter, of whichever type the
    columns there have.
    """
    names = parameters(text)
    if len(names) > MOST_PARAMETERS:
        raise QueryError(
            f"there are {len(names)} parameters; up to {MOST_PARAMETERS} are asked.",
            code="parameter",
            hint="Write constants for the others.",
        )
    for values in product(*(marks(at) for at in range(len(names)))):
        chosen = dict(zip(names, values, strict=True))
        try:
            reading = read(bound(text, chosen))
        except QueryError as error:
            if error.code != "type-clash":
                raise
            continue
        if reading.exact is not None:
            return reading.exact, chosen
        break  # it is outside what is read exactly, whatever the values
    else:
        raise QueryError(
            "the parameters are compared with columns of different types.",
            code="type-clash",
            hint="Write a constant for one of them.",
        )
    return Query(reading.name, ()), chosen


def is_mark(term: object, value: Any) -> bool:
    """Is a term the value that stands for a parameter? A day is read as midnight where a moment
    is asked for.
    """
    return (
        isinstance(term, Constant)
        and str(term.value).lower().removesuffix(" 00:00:00") == str(value).lower()
    )


def _standing(query: Query, value: Any, relations: Relations) -> Iterator[tuple[str, str]]:
    """The columns where a constant stands, or with whose variables it is compared."""

    def is_marker(term: object) -> bool:
        return is_mark(term, value)

    for part in query.parts:
        compared = {
            one.left if is_marker(one.right) else one.right
            for one in part.comparisons
            if _touches(one, is_marker)
        }
        for atom in part.atoms:
            for column, term in zip(relations[atom.relation].columns, atom.terms, strict=True):
                if is_marker(term) or (isinstance(term, Variable) and term in compared):
                    yield atom.relation, column


def _touches(one: Comparison, is_marker: Callable[[object], bool]) -> bool:
    return is_marker(one.left) or is_marker(one.right)
