"""The values that a private value can have:
its domain, or what is published, or what the data have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.attach import CONVERSIONS, converted
from tacit.engines.sql import shapes, shapes_stored, shapes_text
from tacit.engines.sql.shapes_conditions import any_of
from tacit.errors import DataError, EngineError
from tacit.families.microdata.cleaning import spelling_variants, unknown_words
from tacit.families.overlaps.meanings import Meanings, meanings
from tacit.families.overlaps.reading.people_classes import Assembled, ClassCounts, Telling, bit
from tacit.families.words import people as some_people
from tacit.families.words import plural
from tacit.model.text import is_blank

if TYPE_CHECKING:
    from tacit.families.overlaps.reading.answer_rows import FileRows
    from tacit.families.overlaps.reading.view_tables import KeyedTable
    from tacit.families.overlaps.reading.views import OverlapView
    from tacit.model.schema import Table
    from tacit.plan.plan import Plan

FLOATS = r"(?i)double.*|float.*|real"


def declared_domain(people: KeyedTable, plan: Plan) -> list[Any] | None:
    """The domain of the private column, as values of its type."""
    domain = people.table.domains.get(people.sensitive)
    if domain is None:
        return None
    try:
        found = [converted(people.name, people.sensitive, people.kind, value) for value in domain]  # type: ignore[arg-type]
    except DataError as error:
        raise error.at(plan.mark("tables", people.name, "domains", people.sensitive)) from None
    values = [as_stored(people, value) for value in found]
    check_held(people, values, plan)
    return values


def check_held(people: KeyedTable, values: Sequence[Any], plan: Plan) -> None:
    """Raise DataError where the column's type would round or refuse a value of the domain:
    it would be tested as another one.
    """
    mark = plan.mark("tables", people.name, "domains", people.sensitive)
    for value in values if people.kind != "text" else ():
        try:
            own = people.as_read(people.constant(value), people.sensitive)
            held = next(people.engine.rows(shapes_stored.one_value(own)))[0]
        except EngineError:
            held = None
        if value is not None and held != value:
            kind = people.native.get(people.sensitive, people.kind)
            raise DataError(
                f"column {people.sensitive!r} of table {people.name} has the type {kind} and "
                f"cannot hold {value}, which its domain lists.",
                hint="Leave the value out of the domain, or give the column a type that holds it.",
                mark=mark,
            )


def possible_values(
    people: KeyedTable,
    views: Sequence[OverlapView],
    given: Mapping[str, FileRows],
    declared: list[Any] | None,
    only_covered: bool,
    plan: Plan,
) -> list[Any] | None:
    """The values that a private value can have, sorted, the missing one last;
    None where the counts will tell.
    """
    tests = [view for view in views if view.tests]
    if declared is not None:
        nullable = people.sensitive in (people.table.nullable or ())
        return in_order(
            [
                *declared,
                *([None] if nullable or some_missing(people, views, given) else []),
                *blank_values(people),
            ]
        )
    if not people.is_known:
        if tests:
            raise needs_domain(people, plan, f"{tests[0].name!r} tests it")
        return in_order(
            value
            for view in views
            if view.private is not None
            for value in given[view.name].column(view.private)
        )
    if not tests:
        return None
    if not only_covered:
        return in_order(
            row[0]
            for row in people.engine.rows(shapes.distinct_rows(people.name, [people.sensitive]))
        )
    shown = any_of([view.condition for view in views if view.private is not None])
    query = shapes_stored.values_where(people.name, people.read(people.sensitive), shown)
    values = in_order(row[0] for row in people.engine.rows(query))
    if not values:
        raise needs_domain(people, plan, f"{tests[0].name!r} tests it, and no view shows any")
    return values


def some_missing(
    people: KeyedTable, views: Sequence[OverlapView], given: Mapping[str, FileRows]
) -> bool:
    """Is some private value missing, in the data or in what was published?"""
    if people.is_known:
        return bool(
            next(people.engine.rows(shapes.missing_counts(people.name, [people.sensitive])))[1]
        )
    return any(
        None in given[view.name].column(view.private) for view in views if view.private is not None
    )


def blank_values(people: KeyedTable) -> list[Any]:
    """The private values that are text in which nothing can be read:
    as the database has them, since views may test them; no domain lists them.
    """
    if not people.is_known or people.kind != "text":
        return []
    own = people.read(people.sensitive)
    query = shapes_stored.values_where(people.name, own, shapes_text.shows_nothing(own))
    return [value for (value,) in people.engine.rows(query)]


def values_found(telling: Telling, counted: ClassCounts, only_covered: bool) -> list[Any]:
    """The values that the data have, or those that the views show;
    none of them tests the private column.
    """
    if not only_covered:
        return in_order(counted.found)
    rows = np.arange(len(counted.many))
    shows = [
        places
        for view, places in zip(telling.views, telling.bits, strict=True)
        if view.private is not None
    ]
    published = np.zeros(len(rows), dtype=bool)
    for places in shows:
        published |= bit(counted.words, places[0], rows)
    return in_order(counted.found[code] for code in np.unique(counted.value[published]).tolist())


def needs_domain(people: KeyedTable, plan: Plan, because: str) -> DataError:
    """The error that asks for a domain."""
    return DataError(
        f"which values {people.sensitive} can have is not known: {because}.",
        hint=f"Add domains: {{{people.sensitive}: [...]}} to {people.name}.",
        mark=plan.mark("tables", people.name),
    )


def check_inside(people: KeyedTable, found: Assembled, is_declared: bool, plan: Plan) -> None:
    """Every value of the data is one that a private value can have, as far as that matters."""
    strange = [
        found.counted.found[code]
        for code in np.unique(found.counted.value[found.value < 0]).tolist()
    ]
    table, mark = people.table, plan.mark("tables", people.name, "domains", people.sensitive)
    if (
        any(value is None or is_blank(value) for value in found.counted.found)
        and table.nullable is not None
        and people.sensitive not in table.nullable
    ):
        raise DataError(
            f"some rows of table {people.name} have no {people.sensitive}.",
            hint=f"Fill it in, or say nullable: [{people.sensitive}].",
            mark=plan.mark("tables", people.name),
        )
    if is_declared and strange:
        raise DataError(
            f"column {people.sensitive!r} of table {people.name} has "
            f"{plural('value', len(strange))} that the domain does not list.",
            hint="Add them to the domain, or leave the domain out.",
            mark=mark,
        )
    if any(view.tests for view in found.telling.views) and found.outside().any():
        many = int(found.counted.many[found.outside()].sum())
        raise needs_domain(
            people,
            plan,
            f"{some_people(many)} in the views {'has' if many == 1 else 'have'} one that no "
            "view shows",
        )


def outside(people: KeyedTable, found: Assembled) -> int:
    """How many people in the views have a value that no view publishes."""
    return int(found.counted.many[found.outside()].sum()) if people.is_known else 0


def meanings_of(table: Table, values: Sequence[Any]) -> Meanings:
    """Which values may mean the same, as the owner says or else as they look."""
    name = table.sensitive[0]
    plain = name in table.as_written
    return meanings(
        values, unknown=table.unknown.get(name), merge_spelling=not plain, guess_unknown=not plain
    )


def doubts(table: Table, values: Sequence[Any]) -> Iterable[str]:
    """Values that may mean the same, about which the owner has said nothing."""
    name = table.sensitive[0]
    if any(map(is_blank, values)):
        yield (
            f"{name} is blank for some people: empty text or spaces, taken as missing, and so "
            "perhaps any other"
        )
    told = [value for value in values if value is not None and not is_blank(value)]
    if name in table.as_written:
        return
    unknown = unknown_words(told) if name not in table.unknown else []
    variants = (
        spelling_variants([value for value in told if value not in unknown])
        if name not in table.merge_spelling
        else []
    )
    if variants:
        yield (
            f"{name} has {plural('value', len(variants))} written like another but for case, "
            f"spaces or ways to write a letter; counted as the same. Say merge-spelling: [{name}] "
            f"or as-written: [{name}]"
        )
    if unknown:
        yield (
            f"{name} has {plural('value', len(unknown))} that may mean unknown, and so any other. "
            f"Say unknown: {{{name}: [...]}} or as-written: [{name}]"
        )


def in_order(values: Iterable[Any]) -> list[Any]:
    """Different values, sorted, the missing one last.

    >>> in_order(["b", None, "a", "b"])
    ['a', 'b', None]
    """
    found = dict.fromkeys(values)
    return [
        *sorted(value for value in found if value is not None),
        *([None] if None in found else []),
    ]


def as_stored(people: KeyedTable, value: Any) -> Any:
    """A value as the engine gives it: a column of floats has no decimals."""
    is_float = re.fullmatch(FLOATS, people.native.get(people.sensitive, "")) is not None
    return float(value) if is_float and value is not None else value


def private_value(people: KeyedTable, cell: str | None, file: str | None) -> Any:
    """A cell of an answer as a value of the private column."""
    if cell is None:
        return None
    try:
        return as_stored(people, CONVERSIONS[people.kind](cell))  # type: ignore[index]
    except (ValueError, TypeError, LookupError, ArithmeticError):
        raise DataError(
            f"{file} has {cell!r} in the place of {people.sensitive}, which is {people.kind}.",
            hint="Write a value of the column's type.",
        ) from None
