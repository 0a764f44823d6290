"""Aware: what an adversary believes who knows how further views are chosen.

Of the tables that fit all views, only those remain for which the same search would have ended in
the same views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, log, sqrt
from typing import Literal

import numpy as np

from tacit.families.overlaps.counting.layers import TooManyLayerStates, tables_of
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.restore.disclosed_views import (
    DisclosedViews,
    Flags,
    extended,
    published,
)
from tacit.families.overlaps.restore.restorations import DEFAULT, Limits, Restoration
from tacit.families.overlaps.restore.restore import restored
from tacit.families.overlaps.restore.table_listing import Lists, narrowed
from tacit.families.overlaps.system import system_of
from tacit.model.deadline import OutOfTime, look, until
from tacit.model.jobs import Job

MOST_TABLES = 2_000  # tables for each of which the search is run
DRAWS = 400
CONFIDENCE = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class Aware:
    """The largest belief of an adversary who knows the search.

    `same` of the `asked` tables that fit all views lead to the same views. These are all tables
    where `epsilon` is None; else they were drawn, and every belief is within epsilon of its share
    with a confidence of 0.95.
    """

    status: Literal["holds", "breached", "undecided"]
    worst: Fraction | None = None
    person: int | None = None
    meaning: int | None = None
    same: int = 0
    asked: int = 0
    epsilon: Fraction | None = None
    because: str = ""


def aware(
    out: DisclosedViews,
    members: Flags,
    found: Restoration,
    *,
    limits: Limits = DEFAULT,
    with_classes: bool = True,
    draws: int = DRAWS,
    most: int = MOST_TABLES,
    seconds: float | None = None,
    lists: Lists | None = None,
    job: Job | None = None,
    only: Callable[[DisclosedViews], bool] | None = None,
) -> Aware:
    """Run the search on every table that fits all views, or on some that are drawn, and look at
    those with the same end.

    Whoever is in a candidate but in no view may have any value that is published: the search
    depends on it too. `limits` have to be those of the search, and without seconds: a clock is not
    a procedure that one could know. `only` says for which tables this search is come to at all,
    where another one comes before it.
    """
    job, lists = job or Job(), lists or Lists(out)
    views = views_of(out, members, found)
    every = all_tables(out, members, views, lists, most)
    tables = (
        every
        if every is not None
        else drawn_tables(out, members, views, draws, np.random.default_rng(0))
    )
    if tables is None:
        return Aware(
            "undecided",
            because="there are too many tables to go through, and none can be drawn evenly",
        )
    same: list[Integers] = []
    number = 0
    try:
        with until(seconds):
            for number, table in enumerate(tables):
                look()
                job.step(
                    f"the same search on {number:,} of {len(tables):,} other tables",
                    number / len(tables),
                )
                other = replace(out, value=table)
                ended = restored(
                    other,
                    members,
                    limits=replace(limits, seconds=None),
                    with_classes=with_classes,
                    lists=lists,
                )
                if (ended.views, ended.classes) == (found.views, found.classes) and (
                    only is None or only(other)
                ):
                    same.append(table)
            look()  # a search that was cut short has another end
    except OutOfTime:
        return Aware(
            "undecided",
            asked=number,
            same=len(same),
            because=f"the time was up after {number:,} of {len(tables):,} tables",
        )
    covered = out.is_covered | np.logical_or.reduce(views)
    return believed(
        out,
        np.array(same, dtype=np.int64),
        np.flatnonzero(covered),
        len(tables),
        exact=every is not None,
    )


def views_of(out: DisclosedViews, members: Flags, found: Restoration) -> list[Flags]:
    """Whom the views show that were found."""
    return [*(members[one] for one in found.views), *(out.class_of == one for one in found.classes)]


def believed(
    out: DisclosedViews, tables: Integers, people: Integers, asked: int, *, exact: bool
) -> Aware:
    """The largest share of a value in some tables."""
    if not len(tables):
        return Aware(
            "undecided",
            asked=asked,
            because="none of the tables that were drawn leads to the same views",
        )
    counts = np.stack([np.isin(tables[:, people], same).sum(axis=0) for same in out.meanings])
    meaning, place = np.unravel_index(int(counts.argmax()), counts.shape)
    worst = Fraction(int(counts.max()), len(tables))
    found = Aware(
        "holds" if worst <= out.gamma else "breached",
        worst,
        int(people[place]),
        int(meaning),
        len(tables),
        asked,
    )
    if exact:
        return found
    # Hoeffding for each belief, with the chance of an error divided among all of them; rounded up.
    wide = sqrt(log(2 * counts.size / (1 - float(CONFIDENCE))) / (2 * len(tables)))
    epsilon = Fraction(ceil(wide * 10_000 + 1), 10_000)
    is_open = worst - epsilon <= out.gamma < worst + epsilon
    return replace(found, status="undecided" if is_open else found.status, epsilon=epsilon)


def all_tables(
    out: DisclosedViews, members: Flags, views: Sequence[Flags], lists: Lists, most: int
) -> list[Integers] | None:
    """All tables that fit all views, of everybody whom the search looks at;
    None where they are too many.
    """
    listing = lists.joined(lists.start(), frozenset().union(*(out.touched(view) for view in views)))
    for view in views:
        listing = narrowed(out, listing, view, lists.most) if listing is not None else None
    listing = (
        lists.joined(listing, frozenset(range(len(out.pieces)))) if listing is not None else None
    )
    if listing is None:
        return None
    open_ = np.setdiff1d(np.flatnonzero(members.any(axis=0)), listing.people)
    values = published(out, views)
    if len(listing.tables) * len(values) ** min(len(open_), 64) > most:
        return None
    found = []
    for table in listing.tables:
        look()
        for guess in product(values.tolist(), repeat=len(open_)):
            one = out.value.copy()
            one[listing.people], one[open_] = table, guess
            found.append(one)
    return found


def drawn_tables(
    out: DisclosedViews,
    members: Flags,
    views: Sequence[Flags],
    draws: int,
    rng: np.random.Generator,
) -> list[Integers] | None:
    """Tables that fit all views, drawn evenly and independently; None where that cannot be done."""
    there = extended(out, range(len(out.pieces)), views)
    system = system_of(there.overlap)
    cells = np.tile(system.low, (draws, 1))
    try:
        for part in system.parts:
            cells[:, part.place] = tables_of(part, draws, rng)
    except TooManyLayerStates:
        return None
    numbers = np.array(there.overlap.values, dtype=np.int64)
    open_ = np.setdiff1d(np.flatnonzero(members.any(axis=0)), there.people)
    found = []
    for row in cells.reshape(draws, len(there.overlap.sizes), -1):
        look()
        one = out.value.copy()
        for class_, counts in enumerate(row):
            one[there.people[there.class_of == class_]] = rng.permutation(
                np.repeat(numbers, counts)
            )
        one[open_] = rng.choice(numbers, size=len(open_))
        found.append(one)
    return found
