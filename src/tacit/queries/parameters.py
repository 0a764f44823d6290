"""Parameters: a secret such as S(r) :- RP(r, $paper), asked for every value that $paper may have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tacit.errors import QueryError
from tacit.queries.query import Comparison, Constant, Query, Relations, Variable
from tacit.queries.reading import Reading

PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w+)")
# Values that nobody writes: a text, a number, a day, a moment; and true.
MARKERS: tuple[Any, ...] = ("$%s", 918273645546372, "1777-07-07", "1777-07-07 07:07:07", "true")


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
    plain = value if isinstance(value, str | int | bool) or str(value).replace(".", "", 1).lstrip("-").isdigit() else str(value)
    return str(Constant(plain))


def places(text: str, relations: Relations, read: Callable[[str], Reading]) -> dict[str, list[tuple[str, str]]]:
    """The columns that each parameter stands in or is compared with."""
    names = parameters(text)
    found: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        found[name] = _places_of(name, names, text, relations, read)
        if not found[name]:
            raise QueryError(
                f"${name} is compared with no column.", code="parameter", hint=f"Use it where a value stands, e.g. R(x, ${name})."
            )
    return found


def _places_of(
    name: str, names: list[str], text: str, relations: Relations, read: Callable[[str], Reading]
) -> list[tuple[str, str]]:
    problem: QueryError | None = None
    for marker in MARKERS:
        value = marker % name if isinstance(marker, str) and "%" in marker else marker
        # The other parameters take whatever kind their columns have; all kinds are tried together.
        for other in MARKERS:
            values = {each: other % each if isinstance(other, str) and "%" in other else other for each in names} | {name: value}
            try:
                exact = read(bound(text, values)).exact
            except QueryError as error:
                if error.code != "type-clash":
                    raise
                problem = error
                continue
            if exact is not None:
                return list(dict.fromkeys(_standing(exact, value, relations)))
    if problem is not None:
        raise QueryError(f"${name} is compared with columns of different types.", code="type-clash", hint="Write a constant instead.")
    return []


def _standing(query: Query, value: Any, relations: Relations) -> Iterator[tuple[str, str]]:
    """The columns where a constant stands, or with whose variables it is compared."""

    def is_marker(term: object) -> bool:
        # A day is read as midnight where a moment is asked for.
        return isinstance(term, Constant) and str(term.value).lower().removesuffix(" 00:00:00") == str(value)

    for part in query.parts:
        compared = {one.left if is_marker(one.right) else one.right for one in part.comparisons if _touches(one, is_marker)}
        for atom in part.atoms:
            for column, term in zip(relations[atom.relation].columns, atom.terms, strict=True):
                if is_marker(term) or (isinstance(term, Variable) and term in compared):
                    yield atom.relation, column


def _touches(one: Comparison, is_marker: Callable[[object], bool]) -> bool:
    return is_marker(one.left) or is_marker(one.right)
