"""People: the table of a synthetic release as the engine counts it:
groups, values, and how many people each pair has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tacit.engines.base import Engine
from tacit.engines.sql import shapes, shapes_coded
from tacit.errors import DataError, EngineError, Mark, did_you_mean
from tacit.families.microdata.reading.source import check_keys, count_people, single_column_hint
from tacit.families.overlaps.reading.value_meanings import FLOATS
from tacit.families.synthetic.occupied_cells import Integers
from tacit.families.synthetic.reading.labels import Spelling
from tacit.families.words import plural
from tacit.model.release import Synthetic
from tacit.model.schema import Table
from tacit.plan.plan import Plan

MOST = 2**33  # people in one row: more than there are
ROWS = 4_000_000  # of the table that are looked at in one query; a table with fewer is kept


@dataclass(frozen=True)
class PeoplePairs:
    """Pairs of a group and a value with how many people have them:
    places in the lists of `SyntheticPeople`, sorted by group and value.
    """

    group: Integers
    value: Integers
    count: Integers

    def only(self, first: int, last: int) -> PeoplePairs:
        """The pairs of the groups from the one place to the other."""
        low, high = (
            np.searchsorted(self.group, first, "left"),
            np.searchsorted(self.group, last, "right"),
        )
        return PeoplePairs(self.group[low:high], self.value[low:high], self.count[low:high])


@dataclass(frozen=True)
class SyntheticPeople:
    """The people behind a release. Rows are counted by the engine; nobody's row is read."""

    engine: Engine
    release: Synthetic
    table: Table
    spellings: tuple[Spelling, Spelling]  # of the group and of the value
    groups: tuple[Any, ...]
    values: tuple[Any, ...]
    rows: Integers  # of each group
    checked: bool  # that nobody has two rows
    _kept: dict[str, PeoplePairs] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def collations(self) -> dict[str, str]:
        """How the engine sorts its texts by code point."""
        return self.engine.collations(self.table.name)

    def pairs(self, first: int, last: int) -> PeoplePairs:
        """The pairs of the groups from the one place to the other, in one query."""
        if "all" not in self._kept and int(self.rows.sum()) <= ROWS:
            self._kept["all"] = self._query_people(0, len(self.groups) - 1)
        return (
            self._kept["all"].only(first, last) if self._kept else self._query_people(first, last)
        )

    def spans(self, groups: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Groups, given in order, that follow each other, as many at a time as one query should
        look at: first and last place.
        """
        first, last, behind = 0, -1, 0
        for place in groups:
            rows = int(self.rows[place])
            if last >= first and (place != last + 1 or behind + rows > ROWS):
                yield first, last
                first, behind = place, 0
            elif last < first:
                first = place
            last, behind = place, behind + rows
        if last >= first:
            yield first, last

    def by_group(self, groups: Iterable[int]) -> Iterator[tuple[int, PeoplePairs]]:
        """The pairs of each of these groups, given in order."""
        for first, last in self.spans(groups):
            pairs = self.pairs(first, last)
            for group in range(first, last + 1):
                yield group, pairs.only(group, group)

    def _query_people(self, first: int, last: int) -> PeoplePairs:
        group, value = self.release.group, self.release.value
        sizes = {group: len(self.groups) + 1, value: len(self.values) + 1}
        query = shapes_coded.coded_sums(
            self.table.name,
            sizes,
            keys=[[group], [value]],
            amount=self.release.count,
            between=None if (first, last) == (0, len(self.groups) - 1) else (first, last),
            collations=self.collations,
        )
        found = self.engine.numbers(query)
        some = found[2] > 0
        return PeoplePairs(*(column[some] for column in found))


def people_of(release: Synthetic, plan: Plan, engine: Engine) -> SyntheticPeople:
    """Attach the table of a release, and see that its columns say of everybody where they are."""
    table, mark = plan.tables[release.table], plan.mark("tables", release.table)
    try:
        engine.attach_once(table)
    except (DataError, EngineError) as error:
        raise error.at(mark) from None
    native = engine.native_types(table.name)
    for key in ("group", "value", "count"):
        name = getattr(release, key)
        if name is not None and name not in native:
            hint = single_column_hint(native) or did_you_mean(name, native)
            raise DataError(
                f"table {table.name} has no column {name!r}.",
                hint=hint,
                mark=at(plan, release, key),
            )
    try:
        engine.refuse_losses(
            table.name,
            [name for name in (release.group, release.value, release.count) if name is not None],
        )
    except DataError as error:
        raise error.at(mark) from None
    check_filled(release, plan, engine)
    checked = check_people(table, plan, engine)
    if release.count:
        check_counts(release, plan, engine, native[release.count])
    collations = engine.collations(table.name)
    groups, values = (
        tuple(row[0] for row in engine.rows(shapes.dictionary(table.name, [name], collations)))
        for name in (release.group, release.value)
    )
    query = shapes_coded.coded_sums(
        table.name, {release.group: len(groups) + 1}, keys=[[release.group]], collations=collations
    )
    codes, rows = engine.numbers(query)
    if not np.array_equal(codes, np.arange(len(groups))):
        raise DataError(
            f"table {table.name} changed while it was read.",
            hint="Ask again when nobody writes to it.",
            mark=mark,
        )
    spellings = spelling(engine, release.group, native), spelling(engine, release.value, native)
    return SyntheticPeople(engine, release, table, spellings, groups, values, rows, checked)


def at(plan: Plan, release: Synthetic, *keys: str) -> Mark | None:
    """Where a key of the release stands in the plan."""
    return plan.mark("releases", release.name, "synthetic", *keys)


def spelling(engine: Engine, column: str, native: dict[str, str]) -> Spelling:
    """How the values of a column are written."""
    return Spelling(
        column,
        engine.meaning(native[column]).kind,
        re.fullmatch(FLOATS, native[column]) is not None,
    )


def check_filled(release: Synthetic, plan: Plan, engine: Engine) -> None:
    """Everybody has a group and a value."""
    rows, *missing = next(
        engine.rows(shapes.missing_counts(release.table, [release.group, release.value]))
    )
    if not rows:
        raise DataError(
            f"table {release.table} has no rows.",
            hint="There is nothing to release.",
            mark=plan.mark("tables", release.table),
        )
    hints = {
        "group": "Fill it in, or leave those rows out: who belongs to no group is in no output.",
        "value": (
            "Fill it in, leave those rows out, or give them a value of their own, such as "
            "unknown, that the domain lists."
        ),
    }
    for (key, hint), many in zip(hints.items(), missing, strict=True):
        if many:
            column = getattr(release, key)
            raise DataError(
                f"column {column!r} is the {key} of {release.name}, and {plural('row', many)} of "
                f"table {release.table} {'has' if many == 1 else 'have'} none.",
                hint=hint,
                mark=at(plan, release, key),
            )


def check_people(table: Table, plan: Plan, engine: Engine) -> bool:
    """Nobody has two rows, as far as the table says who is who; whether it does."""
    if not table.person and not table.keys:
        return False
    rows = int(engine.value(shapes.row_count(table.name)))
    known = engine.native_types(table.name)
    for role, names in (
        ("person", table.person),
        ("key", tuple(name for key in table.keys for name in key)),
    ):
        for place, name in enumerate(names):
            if name not in known:
                mark = plan.mark("tables", table.name, role, place)
                raise DataError(
                    f"table {table.name} has no column {name!r}.",
                    hint=did_you_mean(name, known),
                    mark=mark,
                )
    check_keys(engine, table, plan, rows)
    people = count_people(engine, table, plan, rows)
    if people < rows:
        raise DataError(
            f"table {table.name} has {plural('row', rows)} and {people:,} different "
            f"{' and '.join(table.person)}: what is promised holds for a row, and somebody with "
            "several rows would be promised less.",
            hint=(
                "Make a table with one row per person, or leave person: out (the promise is "
                "then per row)."
            ),
            mark=plan.mark("tables", table.name, "person"),
        )
    return bool(table.person) or any(set(key) <= set(table.identifiers) for key in table.keys)


def check_counts(release: Synthetic, plan: Plan, engine: Engine, native: str) -> None:
    """A column that counts people holds whole numbers from 0 on."""
    kind = engine.meaning(native).kind
    where = f"column {release.count!r} of table {release.table} counts people, and"
    mark = at(plan, release, "count")
    if kind not in ("integer", "decimal"):
        raise DataError(
            f"{where} is {kind}.",
            hint="Name a column of whole numbers, or leave out count: each row is then one person.",
            mark=mark,
        )
    assert release.count is not None
    found = next(
        engine.rows(
            shapes.amount_faults(release.table, release.count, MOST, whole=kind == "integer")
        )
    )
    wrong = {
        "has no number": "Fill it in, or leave those rows out.",
        "is negative": "Write 0, 1, 2, ...",
        f"is above {MOST:,}": "So many people there are not.",
        "is not a whole number": "Write 0, 1, 2, ...: a share of a person cannot be protected.",
    }
    for (what, hint), many in zip(wrong.items(), found, strict=True):
        if many:
            raise DataError(f"{where} {what} in {plural('row', many)}.", hint=hint, mark=mark)
