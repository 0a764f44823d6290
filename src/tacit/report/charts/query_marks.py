"""Which subgoals a verdict of perfect privacy is about:
those that the row that matters can be, or the pairs that could be one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tacit.families.queries.kinds import Clash, fitted
from tacit.families.queries.logic.comparisons import order_key
from tacit.families.queries.query import Atom, Conjunctive, Constant, Relations, Term, Variable
from tacit.report.query_evidence import NEW, text_row

MATTERS = "+"  # as the tables of the report mark the row that matters
MOST_TRIED = 20_000  # rows put to subgoals before it is left at what each subgoal says by itself

Subgoal = tuple[int, int]  # a part of a union, and an atom of it
Marks = Mapping[Subgoal, str]
Values = dict[Variable, Constant]
Rows = Sequence[tuple[str, tuple[Constant, ...]]]


class TooManyMarkings(Exception):
    """There are too many ways to try."""


def critical(
    parts: Sequence[Conjunctive],
    relations: Relations,
    row: Mapping[str, Any],
    instance: Iterable[Mapping[str, Any]],
) -> dict[Subgoal, str]:
    """The subgoals that are the row that matters, in some way in which a query finds a row among
    the instance with it.

    Rows are those of a witness, as values or as its JSON has them.

    >>> from tacit.families.queries.query import Relation
    >>> x, y = Variable("x"), Variable("y")
    >>> part = Conjunctive((x,), (Atom("R", (x, Constant("a"))), Atom("R", (x, y))))
    >>> tables = {"R": Relation("R", ("k", "v"))}
    >>> critical(
    ...     [part],
    ...     tables,
    ...     {"relation": "R", "values": ["_fresh1", "b"]},
    ...     [{"relation": "R", "values": ["_fresh1", "a"]}],
    ... )
    {(0, 1): '+'}
    """
    if row["relation"] not in relations:
        return {}
    matters = known(row, relations)
    rows = [matters, *(known(one, relations) for one in instance if one["relation"] in relations)]
    alone = {
        (number, place)
        for number, part in enumerate(parts)
        for place, atom in enumerate(part.atoms)
        if atom.relation == matters[0] and matched(atom, matters[1], {}) is not None
    }
    try:
        found = {spot for spot in sorted(alone) if is_met(parts[spot[0]], spot[1], matters, rows)}
    except TooManyMarkings:
        found = set()
    return dict.fromkeys(sorted(found or alone), MATTERS)


def paired(parts: Sequence[Conjunctive], texts: Iterable[str]) -> dict[Subgoal, str]:
    """The subgoals of pairs that could be one row: each with the numbers of its pairs, from 1 on.

    `texts` has one text for each pair, as its certificate has it.

    >>> x, y = Variable("x"), Variable("y")
    >>> paired(
    ...     [Conjunctive((), (Atom("R", (x, y)), Atom("S", (x,))))], ["R(x, y)", "T(x)", "R(x, y)"]
    ... )
    {(0, 0): '1, 3'}
    """
    places: dict[str, list[Subgoal]] = {}
    for number, part in enumerate(parts):
        for place, atom in enumerate(part.atoms):
            places.setdefault(str(atom), []).append((number, place))
    found: dict[Subgoal, list[str]] = {}
    for number, text in enumerate(texts, 1):
        for spot in places.get(text, ()):
            found.setdefault(spot, []).append(str(number))
    return {spot: ", ".join(numbers) for spot, numbers in sorted(found.items())}


# -- ways to find a row ----------------------------------------------------------------------------


def is_met(
    part: Conjunctive, place: int, matters: tuple[str, tuple[Constant, ...]], rows: Rows
) -> bool:
    """Can the query find a row with this subgoal being the row that matters?"""
    first = matched(part.atoms[place], matters[1], {})
    others = [atom for number, atom in enumerate(part.atoms) if number != place]
    tries = iter(range(MOST_TRIED))
    return first is not None and any(
        may_hold(part, values) for values in valuations(others, rows, first, tries)
    )


def valuations(
    atoms: Sequence[Atom], rows: Rows, values: Values, tries: Iterator[int]
) -> Iterator[Values]:
    """All ways to send the subgoals to rows."""
    if not atoms:
        yield values
        return
    for relation, row in rows:
        if next(tries, None) is None:
            raise TooManyMarkings
        if relation == atoms[0].relation and (more := matched(atoms[0], row, values)) is not None:
            yield from valuations(atoms[1:], rows, more, tries)


def matched(atom: Atom, row: Sequence[Constant], values: Values) -> Values | None:
    """The values with one more subgoal sent to a row, or None where they do not match.
    Values are compared as they are written.
    """
    found = dict(values)
    for term, value in zip(atom.terms, row, strict=True):
        wanted = term if isinstance(term, Constant) else found.setdefault(term, value)
        if written(wanted) != written(value):
            return None
    return found


def may_hold(part: Conjunctive, values: Values) -> bool:
    """Are the comparisons true? Where a new value stands it fits, as it was chosen to."""
    return all(
        true_of(put(one.left, values), one.operator, put(one.right, values))
        for one in part.comparisons
    )


def true_of(left: Constant, operator: str, right: Constant) -> bool:
    """Is a comparison true of two values?"""
    if operator == "!=":
        return written(left) != written(right)
    if any(isinstance(one.value, str) and one.value.startswith(NEW) for one in (left, right)):
        return True
    low, high = order_key(left.value), order_key(right.value)
    # A number that JSON has as text says nothing about its order.
    return low[0] != high[0] or bool(low < high if operator == "<" else low <= high)


def put(term: Term, values: Values) -> Constant:
    """A term's value."""
    return term if isinstance(term, Constant) else values.get(term, Constant(f"{NEW}0"))


def known(row: Mapping[str, Any], relations: Relations) -> tuple[str, tuple[Constant, ...]]:
    """A row of a witness, with each value of its column's type."""
    relation = relations[row["relation"]]
    return relation.name, tuple(
        Constant(typed(value, relation.kinds.get(column)))
        for column, value in zip(relation.columns, row["values"], strict=True)
    )


def typed(value: Any, kind: str | None) -> Any:
    """A value as its column's type has it; new values stay what they are.

    >>> typed("12", "integer"), typed("_fresh1", "integer"), typed("a", None)
    (12, '_fresh1', 'a')
    """
    try:
        fits, found = fitted(value, kind)
    except Clash:
        return value
    return found if fits else value


def written(one: Constant) -> str:
    """How a value is written."""
    return text_row([one.value])[0]
