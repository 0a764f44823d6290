"""The worlds of several releases: which tuples somebody can have, and how likely each is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tacit.families.microdata.definitions.together.joined_releases import (
    ABSENT,
    Component,
    Flags,
    Releases,
    TooLarge,
)
from tacit.families.overlaps.counting.average_beliefs import Interval, all_averaged, averaged
from tacit.families.overlaps.counting.filling import TableFilling
from tacit.families.overlaps.counting.possible_cells import pieces_of
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import system_of
from tacit.model.deadline import Deadline, OutOfTime, look, until
from tacit.model.jobs import Job

EXACT_STEPS = 2e10  # what takes more is counted between bounds, unless these leave something open


@dataclass(frozen=True, eq=False)
class ClassWorlds:
    """What somebody of a class can have: pairs of class and tuple, sorted.

    `shares` has the share of all worlds in which a person of the class has the tuple, where worlds
    were counted: the least and the greatest that it can be, so that some pairs may be in no world.
    `known` are the classes of which that is all: about the others there was no time to find out,
    or no room (`is_late` says which).
    """

    classes: Integers
    tuples: Integers
    known: Flags
    shares: tuple[Interval, ...] | None = None
    is_late: bool = False

    @cached_property
    def is_exact(self) -> bool:
        """Are all shares numbers, and no bounds?"""
        return all(low == high for low, high in self.shares or ())

    def of(self, class_: int) -> slice:
        """The pairs of a class."""
        low, high = np.searchsorted(self.classes, [class_, class_ + 1]).tolist()
        return slice(low, high)


def possible_worlds(
    releases: Releases,
    deadline: Deadline,
    job: Job | None = None,
) -> ClassWorlds:
    """Which tuples can somebody of each class have, in some world?

    What is found holds in some world, also for classes about which not all is known.

    >>> from tacit.families.microdata.definitions.together.joined_releases import releases_of
    >>> both = releases_of([[0, 0, 1, 1], [0, 1, 0, 1]], [0, 1, 1, 0])
    >>> found = possible_worlds(both, Deadline(9))
    >>> [found.tuples[found.of(class_)].tolist() for class_ in range(4)]
    [[0, 1], [0, 1], [0, 1], [0, 1]]
    """
    job, is_late = job or Job(), False
    known = np.ones(len(releases.sizes), dtype=bool)
    pairs = [settled_pairs(releases)]
    for part in releases.connected():
        try:
            can = part.current > 0
        except TooLarge:
            known[part.classes] = False
            pairs.append((releases.has.classes[part.cells], releases.has.tuples[part.cells]))
            continue
        try:
            for _ in explored(part, can, np.ones(len(can), dtype=bool), deadline, job):
                pass
        except OutOfTime:
            is_late, known[part.classes] = True, False
        at = np.nonzero(can)
        pairs.append((part.classes[at[0]], part.tuples[at[1]]))
    classes, tuples = (np.concatenate(some) for some in zip(*pairs, strict=True))
    order = np.lexsort((tuples, classes))
    return ClassWorlds(classes[order], tuples[order], known, is_late=is_late)


def settled_pairs(releases: Releases) -> tuple[Integers, Integers]:
    """Classes that are settled with their tuples, sorted by class."""
    inside = releases.settled[releases.has.classes]
    return releases.has.classes[inside], releases.has.tuples[inside]


def explored(
    part: Component, can: Flags, open_: Flags, deadline: Deadline, job: Job
) -> Iterator[None]:
    """Find worlds until all is known of the classes that are open; it stops after each world.

    `can` has what worlds show, in place; whoever looks on may close classes in `open_`. Raises
    OutOfTime and TooLarge.
    """
    flat, current = can.reshape(-1), part.current.reshape(-1)
    if not open_.any():
        return
    for piece in pieces_of(system_of(part.overlap()).parts):
        job.step("looking for worlds", 0.5)
        filling = TableFilling(piece, current[piece.place])
        class_ = piece.place // can.shape[1]
        while (wanted := ~flat[piece.place] & (piece.high > 0) & open_[class_]).any():
            with until(deadline, job):
                found = filling.more(wanted, job)
            if found is None:
                break
            flat[piece.place] |= found > 0
            yield


def counted_worlds(
    releases: Releases,
    deadline: Deadline,
    job: Job | None = None,
    *,
    exact_steps: float | None = None,
) -> ClassWorlds:
    """How likely is each tuple of somebody of each class, where all worlds weigh the same?

    What would take more than so many steps is known between bounds.

    >>> from tacit.families.microdata.definitions.together.joined_releases import releases_of
    >>> both = releases_of([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 1, 1, 0])
    >>> found = counted_worlds(both, Deadline(9))
    >>> found.classes.tolist(), found.tuples.tolist(), [str(low) for low, _ in found.shares]
    ([0, 1, 2, 2], [0, 1, 0, 1], ['1', '1', '1/2', '1/2'])
    """
    job, is_late = job or Job(), False
    most = EXACT_STEPS if exact_steps is None else exact_steps
    known = np.ones(len(releases.sizes), dtype=bool)
    has, sizes = releases.has, releases.sizes
    found = {
        (class_, tuple_): (Fraction(people, int(sizes[class_])),) * 2
        for class_, tuple_, people in zip(
            has.classes.tolist(), has.tuples.tolist(), has.people.tolist(), strict=True
        )
        if releases.settled[class_]
    }
    with until(deadline, job):
        for part in releases.connected():
            job.step("counting worlds", 0.5)
            try:
                is_late |= _count(part, found, most, job)
            except (OutOfTime, TooLarge) as error:
                is_late |= isinstance(error, OutOfTime)
                known[part.classes] = False
    pairs = sorted(found)
    return ClassWorlds(
        np.array([one for one, _ in pairs], dtype=np.int64),
        np.array([two for _, two in pairs], dtype=np.int64),
        known,
        tuple(found[pair] for pair in pairs),
        is_late,
    )


def _count(
    part: Component, found: dict[tuple[int, int], Interval], exact_steps: float, job: Job
) -> bool:
    """Count the worlds of classes that hang together, as far as there is time; how many people can
    have a tuple at least and at most says something, too. Tells whether there was no time for some.
    """
    system = system_of(part.overlap())
    beliefs = all_averaged(system, lambda one: averaged(one, job, exact_steps=exact_steps))
    for at, class_ in enumerate(part.classes.tolist()):
        look()
        size = int(system.overlap.sizes[at])
        for number, tuple_ in enumerate(part.tuples.tolist()):
            share = beliefs.share(at, number)
            if share is None:
                cell = system.cell(at, number)
                low, high = int(system.low[cell]), int(system.high[cell])
                share = Fraction(low, size), Fraction(high, size)
            if share[1]:
                found[class_, tuple_] = share
    return beliefs.is_late


def fewest_rows(releases: Releases, worlds: ClassWorlds) -> Integers:
    """For each class the fewest rows, in a release that it is in, that can be a person's: rows
    that show what somebody of the class can have.
    """
    fewest = np.full(len(releases.sizes), np.iinfo(np.int64).max, dtype=np.int64)
    for number in range(len(releases.groups)):
        class_, rows, _ = _rows_of_pairs(releases, worlds, number)
        found = np.zeros(len(fewest), dtype=np.int64)
        np.add.at(found, class_, rows)
        inside = releases.groups[number] != ABSENT
        fewest[inside] = np.minimum(fewest[inside], found[inside])
    return fewest


def greatest_chances(releases: Releases, worlds: ClassWorlds) -> list[Interval]:
    """For each class the greatest chance that a row of some release is a person's: how likely it
    is that they have what the row shows, among the rows of their group that show it.
    """
    assert worlds.shares is not None
    low, high = (_greatest(releases, worlds, shares) for shares in zip(*worlds.shares, strict=True))
    return list(zip(low, high, strict=True))


def _greatest(
    releases: Releases, worlds: ClassWorlds, shares: Sequence[Fraction]
) -> list[Fraction]:
    best = [Fraction(0)] * len(releases.sizes)
    for number in range(len(releases.groups)):
        class_, rows, which = _rows_of_pairs(releases, worlds, number)
        chance = [Fraction(0)] * len(rows)
        for at, share in zip(which.tolist(), shares, strict=True):
            if at >= 0:
                chance[at] += share
        for one, many, share in zip(class_.tolist(), rows.tolist(), chance, strict=True):
            look()
            best[one] = max(best[one], share / many)
    return best


def _rows_of_pairs(
    releases: Releases, worlds: ClassWorlds, number: int
) -> tuple[Integers, Integers, Integers]:
    """What the pairs of class and tuple show in a release, each sight once: the class, how many
    rows of its group show that; and for each pair the number of its sight, -1 for nobody there.
    """
    keys, rows, wide = releases.rows(number)
    group = releases.groups[number][worlds.classes]
    inside = np.flatnonzero(group != ABSENT)
    looks = releases.shown[number][worlds.tuples[inside]]
    sight = worlds.classes[inside] * wide + looks
    seen, first, where = np.unique(sight, return_index=True, return_inverse=True)
    which = np.full(len(group), -1, dtype=np.int64)
    which[inside] = where.reshape(-1)
    key = group[inside][first] * wide + looks[first]
    return seen // wide, rows[np.searchsorted(keys, key)], which
