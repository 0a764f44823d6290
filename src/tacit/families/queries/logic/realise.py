"""Realise: Python values for the new values of a valuation.

New values are the strings "_fresh1", "_fresh2", ...; where columns are compared by <, values that
lie where the valuation puts them: numbers, texts or dates, as the constants and column types say.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from typing import Any

from tacit.families.queries.logic.comparisons import values_between
from tacit.families.queries.logic.numbered_queries import NUMBERED_NULL, TermNumbering
from tacit.families.queries.logic.valuations import Valuation, ValuationSearch

SORTS = {1: "number", 2: "text", 3: "date"}


def realised(
    question: ValuationSearch, found: Valuation, numbering: TermNumbering
) -> dict[int, Any] | None:
    """A Python value for every number that the valuation uses;
    None where no value lies between two constants.
    """
    values = dict.fromkeys(
        found.value(term)
        for side in question.sides
        for _, terms in ([side.body.atoms[side.chosen]] if side.chosen is not None else [])
        + list(side.body.atoms)
        for term in terms
    )
    answer: dict[int, Any] = {
        value: numbering.symbols.constant(value).value for value in values if value >= 0
    }
    if question.ordered:
        ordered = _ordered_values(question, found, numbering)
        if ordered is None:
            return None
        answer.update(ordered)
    taken = {numbering.symbols.constant(number).value for number in question.named if number >= 0}
    names = (name for number in count(1) if (name := f"_fresh{number}") not in taken)
    for value in values:
        if value not in answer:
            answer[value] = next(names)
    return answer


class _Groups:
    """Columns and variables that can hold the same values, found by union."""

    def __init__(self) -> None:
        self.above: dict[Hashable, Hashable] = {}

    def top(self, item: Hashable) -> Hashable:
        while self.above.setdefault(item, item) != item:
            item = self.above[item]
        return item

    def join(self, one: Hashable, two: Hashable) -> None:
        self.above[self.top(one)] = self.top(two)


def _ordered_values(
    question: ValuationSearch, found: Valuation, numbering: TermNumbering
) -> dict[int, Any] | None:
    groups, ordered, constants = _columns(question)
    members: dict[Hashable, dict[int, None]] = {}
    for side in question.sides:
        for relation, terms in side.body.atoms:
            for column, term in enumerate(terms):
                value = found.value(term)
                if value < 0:
                    members.setdefault(groups.top((relation, column)), {})[value] = None
    tops = {groups.top(item) for item in ordered}
    sorts: dict[Hashable, set[int]] = {}
    for item, constant in constants:
        sorts.setdefault(groups.top(item), set()).add(numbering.symbols.key(constant)[0])
    answer: dict[int, Any] = {}
    for top, values in members.items():
        if top in tops:
            sort = _sort(sorts.get(top, set()), groups, top, numbering)
            placed = sort and _placed(
                sorted(values, key=found.ranks.__getitem__), found, sort, numbering
            )
            if not placed:
                return None
            answer.update(placed)
    return answer


def _columns(
    question: ValuationSearch,
) -> tuple[_Groups, list[Hashable], list[tuple[Hashable, int]]]:
    """Which columns belong together, which are compared by order, and the constants met in them."""
    groups = _Groups()
    ordered: list[Hashable] = []
    constants: list[tuple[Hashable, int]] = []
    for number, body in enumerate(question.bodies):
        for relation, terms in body.atoms:
            for column, term in enumerate(terms):
                if term < 0:
                    groups.join((number, term), (relation, column))
                elif term != NUMBERED_NULL:
                    constants.append(((relation, column), term))
        for left, operator, right in body.comparisons:
            variables = [(number, term) for term in (left, right) if term < 0]
            groups.join(variables[0], variables[-1])
            constants += [(variables[0], term) for term in (left, right) if term > 0]
            if operator != "!=":
                ordered.append(variables[0])
    return groups, ordered, constants


def _sort(found: set[int], groups: _Groups, top: Hashable, numbering: TermNumbering) -> str | None:
    """What kind of values a group of columns has:
    from its constants, else from the column types, else numbers.
    """
    if found:
        return SORTS.get(min(found))
    for relation, described in numbering.relations.items():
        for column, name in enumerate(described.columns):
            kind = str(described.kinds.get(name, "")).lower()
            if (
                kind
                and (relation, column) in groups.above
                and groups.top((relation, column)) == top
            ):
                if "date" in kind or "time" in kind:
                    return "date"
                if any(word in kind for word in ("char", "text", "string")):
                    return "text"
    return "number"


def _placed(
    values: Sequence[int], found: Valuation, sort: str, numbering: TermNumbering
) -> dict[int, Any] | None:
    """Values for a sorted run of new ones, between the constants of their sort."""
    key = numbering.symbols.key
    fixed = sorted(
        (number for number in found.ranks if number >= 0 and SORTS.get(key(number)[0]) == sort),
        key=key,
    )
    answer: dict[int, Any] = {}
    for low, high, run in _runs(values, fixed, found):
        ends = [
            None if end is None else numbering.symbols.constant(end).value for end in (low, high)
        ]
        between = values_between(ends[0], ends[1], len(run), sort)
        if between is None:
            return None
        answer.update(zip(run, between, strict=True))
    return answer


def _runs(
    values: Sequence[int], fixed: Sequence[int], found: Valuation
) -> Iterator[tuple[int | None, int | None, list[int]]]:
    """The new values between one constant and the next."""
    for low, high in zip([None, *fixed], [*fixed, None], strict=True):
        run = [
            value
            for value in values
            if (low is None or found.ranks[low] < found.ranks[value])
            and (high is None or found.ranks[value] < found.ranks[high])
        ]
        if run:
            yield low, high, run
