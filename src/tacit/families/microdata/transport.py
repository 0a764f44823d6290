"""Transport: how far a group's distribution is from the whole table's (earth mover's distance).

For the three ground distances of t-closeness (Li, Li and Venkatasubramanian 2007) the least work
has a closed form: with equal distances the total variation, on a line the sum of the differences of
the cumulative distributions, on a tree the mean over its levels of the total variation there. Only
the cells of a group are looked at, never the values that it lacks.

`whole` is how many people of the table have each value, by code. A group in which no value is known
is as far away as can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import run_starts, tally
from tacit.families.microdata.neighbours import NeighbourCells, ascending
from tacit.families.microdata.ratios import Ratios, room_for

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers


def equal(cells: NeighbourCells, whole: Integers) -> Ratios:
    """Total variation: what the group has more of than the table, added up."""
    return hierarchical(cells, whole, [np.arange(len(whole)), np.zeros(len(whole), dtype=np.int64)])


def hierarchical(cells: NeighbourCells, whole: Integers, levels: Sequence[Integers]) -> Ratios:
    """The mean over the levels below the root of the total variation between labels.

    `levels` has each value's label, level by level up to the root. Two values are as far apart as
    the level of their lowest common ancestor, of as many as there are: what a label has too much of
    climbs one step, 1/height of the whole way.
    """
    people, height = int(whole.sum()), max(1, len(levels) - 1)
    known = room_for(cells.known, people * people * height)
    work = [excess(cells, whole, labels) for labels in levels[:-1]]
    return shares(sum(work, start=0 * known), known * people * height)


def excess(cells: NeighbourCells, whole: Integers, labels: Integers) -> Any:
    """Per group how much more of each label it has than the table, times both numbers of people."""
    number, people = int(labels.max(initial=0)) + 1, int(whole.sum())
    key = cells.owner * number + labels[cells.values]
    key, counts = tally(key, cells.counts, len(cells.known) * number)
    owner, label = key // number, key % number
    there = np.bincount(labels, weights=whole, minlength=number).astype(np.int64)
    here = room_for(counts, people * people)
    return by_group(owner, np.maximum(0, here * people - there[label] * cells.known[owner]), cells)


def ordered(cells: NeighbourCells, whole: Integers, ranks: Integers) -> Ratios:
    """The sum over the values in order of |cumulative share here - there|, divided by m - 1.

    `ranks` has each value's place in the order.
    """
    below = np.cumsum(np.bincount(ranks, weights=whole).astype(np.int64))
    number, people = len(below), int(whole.sum())
    order = ascending(cells.owner * number + ranks[cells.values])
    owner, rank, counts = cells.owner[order], ranks[cells.values][order], cells.counts[order]
    known = room_for(cells.known, number * people * people)
    last = np.append(owner[1:] != owner[:-1], True)
    until = np.where(last, number, np.append(rank[1:], number))
    work = differences(below, rank, until, within_groups(owner, counts) * people, known[owner])
    begins = run_starts(owner)
    work[begins] += differences(below, 0 * begins, rank[begins], 0 * begins, known[owner[begins]])
    return shares(by_group(owner, work, cells), known * people * max(1, number - 1))


def differences(
    below: Integers, low: Integers, high: Integers, level: Integers, factor: Any
) -> Any:
    """For each stretch of the line from `low` up to `high`, the sum of |level - factor * below[i]|.

    `below` only grows, so that the difference changes its sign at most once, where a binary search
    finds it; the sums on both sides are differences of running sums.

    >>> one = [np.array([n]) for n in (0, 3, 4, 2)]
    >>> differences(np.array([1, 2, 3]), *one).tolist()
    [4]
    """
    running = np.concatenate(([0], np.cumsum(below))).astype(factor.dtype)
    level = level.astype(factor.dtype)
    turn = np.searchsorted(below, (level // factor).astype(np.int64), side="right")
    turn = np.clip(turn, low, high)
    left = level * (turn - low) - factor * (running[turn] - running[low])
    return left + factor * (running[high] - running[turn]) - level * (high - turn)


def by_group(owner: Integers, numbers: Any, cells: NeighbourCells) -> Any:
    """The sums of some numbers by the group that owns them."""
    sums = np.zeros(len(cells.known), dtype=numbers.dtype)
    begins = run_starts(owner)
    if len(begins):
        sums[owner[begins]] = np.add.reduceat(numbers, begins)
    return sums


def shares(work: Any, most: Any) -> Ratios:
    """Work as a share of the most there could be; all of it where there is no known value."""
    return Ratios(np.where(most == 0, 1, work), np.where(most == 0, 1, most))


def within_groups(owner: Integers, counts: Integers) -> Integers:
    """Running sums that begin anew in each group.

    >>> within_groups(np.array([0, 0, 1]), np.array([2, 3, 4])).tolist()
    [2, 5, 4]
    """
    begins = run_starts(owner)
    total = np.cumsum(counts)
    before = (total - counts)[begins]
    return total - np.repeat(before, np.diff(np.append(begins, len(owner))))
