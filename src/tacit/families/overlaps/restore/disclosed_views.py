"""Disclosed: what is published about some people, what is true of them, and what further views
would add to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import NOTHING, Integers, Overlap
from tacit.families.overlaps.system import System, system_of

Flags = np.ndarray[Any, np.dtype[np.bool_]]
IN_NO_VIEW = -1
ALONE = 2  # a view of fewer people is never diverse


@dataclass(frozen=True, eq=False)
class DisclosedViews:
    """Views of one table that are published, and the true table.

    `overlap` is what an adversary has. `class_of` has the class of each person, -1 for somebody in
    no view; `value` the number of their value. Numbers beyond those of `overlap` stand for values
    that no view shows yet. `meanings` are the values that may mean the same, by their numbers, over
    all `values` of them.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> views = overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])
    >>> out = DisclosedViews(
    ...     views, np.array([0, 1, 2]), np.array([0, 1, 0]), Fraction(1, 2), ((0,), (1,))
    ... )
    >>> out.system.parts[0].people, [one.tolist() for one in out.pieces]
    (3, [[0, 1, 2]])
    """

    overlap: Overlap
    class_of: Integers
    value: Integers
    gamma: Fraction
    meanings: tuple[tuple[int, ...], ...]

    @property
    def people(self) -> int:
        """How many people there are, also those in no view."""
        return len(self.class_of)

    @cached_property
    def values(self) -> int:
        """How many values there are, also those that no view shows yet."""
        return max(len(self.overlap.values), int(self.value.max(initial=-1)) + 1)

    @cached_property
    def is_covered(self) -> Flags:
        """Who is in a view."""
        found: Flags = self.class_of != IN_NO_VIEW
        return found

    @cached_property
    def system(self) -> System:
        """The tables that fit what is published."""
        return system_of(self.overlap)

    @cached_property
    def pieces(self) -> tuple[Integers, ...]:
        """Classes that hang together: those of one part, or one class of which all is settled.

        The tables that fit are all combinations of one choice for each piece, so views that touch
        some pieces change nothing in the others.
        """
        wide = len(self.overlap.values)
        found = [np.unique(part.place // wide) for part in self.system.parts]
        inside = np.zeros(len(self.overlap.sizes), dtype=bool)
        for one in found:
            inside[one] = True
        return (*found, *(np.array([one]) for one in np.flatnonzero(~inside).tolist()))

    @cached_property
    def piece_of(self) -> Integers:
        """The piece of each person, -1 for somebody in no view."""
        of_class = np.zeros(len(self.overlap.sizes) + 1, dtype=np.int64)
        of_class[IN_NO_VIEW] = IN_NO_VIEW
        for number, classes in enumerate(self.pieces):
            of_class[classes] = number
        return of_class[self.class_of]

    @cached_property
    def true_rows(self) -> Integers:
        """How many people of each class have which of the values that are published."""
        found = np.zeros((len(self.overlap.sizes), len(self.overlap.values)), dtype=np.int64)
        known = self.is_covered & (self.value < len(self.overlap.values))
        np.add.at(found, (self.class_of[known], self.value[known]), 1)
        return found

    @cached_property
    def is_open(self) -> bool:
        """Could somebody in a view have a value that no view shows yet?

        Not where one of the views shows the private value of everybody in the class:
        it would have shown the new one too.
        """
        outputs = np.sort(self.overlap.outputs, axis=2)
        shows = (outputs[:, :, :1] != NOTHING).all(axis=2) & (np.diff(outputs, axis=2) != 0).all(
            axis=2
        )
        return not bool(shows.any(axis=1).all())

    def is_true(self) -> bool:
        """Does the true table give the views their answers?"""
        found = np.zeros(len(self.overlap.shown), dtype=np.int64)
        for view in range(self.overlap.outputs.shape[1]):
            np.add.at(found, self.overlap.outputs[:, view], self.true_rows)
        found[NOTHING] = 0
        outside = bool((self.value[self.is_covered] >= len(self.overlap.values)).any())
        sizes = np.bincount(self.class_of[self.is_covered], minlength=len(self.overlap.sizes))
        return (
            not outside
            and bool((found == self.overlap.shown).all())
            and bool((sizes == self.overlap.sizes).all())
        )

    def counts(self, members: Flags) -> Integers:
        """How many people of each of some sets have each value."""
        sets = members.astype(np.float64)  # exact, and much faster than integers
        found = [sets[:, self.value == value].sum(axis=1) for value in range(self.values)]
        return (
            np.stack(found, axis=1).astype(np.int64)
            if found
            else np.zeros((len(members), 0), dtype=np.int64)
        )

    def is_diverse(self, counts: Integers) -> Flags:
        """Is no value (or what may mean the same) more frequent than gamma allows in some sets of
        people, by their counts?

        The beliefs about a set add up to these counts, whatever else is published; so if one is
        above gamma times the people of the set, somebody's belief is above gamma. The same is true
        of every set whose counts follow from the views.
        """
        size = counts.sum(axis=-1)
        most = np.stack(
            [counts[..., list(same)].sum(axis=-1) for same in self.meanings], axis=-1
        ).max(axis=-1, initial=0)
        found: Flags = most * self.gamma.denominator <= size * self.gamma.numerator
        return found

    def touched(self, members: Flags) -> frozenset[int]:
        """The pieces that have somebody of a set."""
        return frozenset(np.unique(self.piece_of[members & self.is_covered]).tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Extended:
    """Some pieces with further views: as an Overlap, and the class
    of each of the `people` in it.
    """

    overlap: Overlap
    people: Integers
    class_of: Integers


def extended(out: DisclosedViews, pieces: Iterable[int], views: Sequence[Flags]) -> Extended:
    """The tables that fit what is published about some pieces, and further views that touch no
    others.

    Rows of the views that are published count what the pieces themselves put into them: the other
    pieces put the same number there in every table, since what they have is independent of these.
    """
    chosen = np.array(sorted(pieces), dtype=np.int64)
    inside = np.isin(out.piece_of, chosen)
    joined = np.logical_or.reduce([inside, *views]) if views else inside
    people = np.flatnonzero(joined)
    signs = sum(
        (view[people].astype(np.int64) << at for at, view in enumerate(views)),
        np.zeros(len(people), dtype=np.int64),
    )
    keys, first, class_of = np.unique(
        (out.class_of[people] << len(views)) + signs, return_index=True, return_inverse=True
    )
    # Classes are numbered as their first people come, so that they have the same numbers whichever
    # side of a class a view shows.
    order = np.argsort(first)
    keys, class_of = keys[order], np.argsort(order)[class_of.reshape(-1)]
    before, sign = keys >> len(views), keys & ((1 << len(views)) - 1)
    values = published(out, views)
    outputs, shown = _rows(out, before, sign, len(views), values)
    sizes = np.bincount(class_of, minlength=len(keys))
    # What is shown is what is true.
    number = np.searchsorted(values, out.value[people])
    for view in range(outputs.shape[1]):
        np.add.at(shown, outputs[class_of, view, number], 1)
    shown[NOTHING] = 0
    names = tuple(str(one) for one in range(outputs.shape[1]))
    return Extended(Overlap(tuple(values.tolist()), names, outputs, sizes, shown), people, class_of)


def published(out: DisclosedViews, views: Sequence[Flags]) -> Integers:
    """The numbers of the values that are published, with those that further views show."""
    found: Integers = np.unique(
        np.concatenate([np.arange(len(out.overlap.values)), *(out.value[view] for view in views)])
    )
    return found


def _rows(
    out: DisclosedViews, before: Integers, sign: Integers, many: int, values: Integers
) -> tuple[Integers, Integers]:
    """What each class puts into each view: those that are published, then the further ones."""
    old = out.overlap.outputs.shape[1]
    outputs = np.zeros((len(before), old + many, len(values)), dtype=np.int64)
    covered = before != IN_NO_VIEW
    first = len(out.overlap.shown)
    # Nobody in a view has a value that was not shown before:
    # for those there is a row that is never shown.
    outputs[covered, :old, : len(out.overlap.values)] = out.overlap.outputs[before[covered]]
    outputs[covered, :old, len(out.overlap.values) :] = first + np.arange(old)[None, :, None]
    first += old
    for view in range(many):
        mine = (sign >> view) & 1 == 1
        outputs[mine, old + view] = first + np.arange(len(values))
        first += len(values)
    kept = (outputs != NOTHING).any(axis=(0, 2))
    return outputs[:, kept], np.zeros(first, dtype=np.int64)
