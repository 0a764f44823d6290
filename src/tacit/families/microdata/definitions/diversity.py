"""How diverse is each group? The three measures of l-diversity, over all groups at once.

Integers decide; floats are only used to leave out groups that are clearly not the least diverse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.definitions.entropy import diversity, entropy, is_diverse
from tacit.families.microdata.groups import Ambiguous, Groups

if TYPE_CHECKING:
    Integers = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

UNBOUNDED = 2**62  # the l of a group that has nothing to protect
CLOSE = 1e-9  # entropies of up to 2**32 people are computed in floats to better than this


@dataclass(frozen=True, slots=True)
class DiversityFinding:
    """The least diverse group (`number`), its `l`, and which groups are below what is required."""

    groups: Groups
    number: int
    l: Any  # noqa: E741  (the literature's own name)
    below: Mask


def at_most_int64(required: Fraction) -> int:
    """A whole number that numpy can compare with counts; more than all of them is enough."""
    return min(int(required), UNBOUNDED)


def distinct(groups: Groups, required: Fraction) -> DiversityFinding:
    """Count the values of each group."""
    values = np.diff(groups.starts)
    number = int(np.argmin(values))
    return DiversityFinding(groups, number, int(values[number]), values < at_most_int64(required))


def recursive(
    groups: Groups, required: Fraction, c: Fraction, dont_care: Collection[Any] = ()
) -> DiversityFinding:
    """For each group the largest l for which it is (pd-)recursive (c,l)-diverse, at least 1.

    Definition 3.9. Let the y-th most frequent value be the first that must not be disclosed. Then
    r_y < c tail(l), where the tail is r_l + ... + r_m for l > y, and r_(l-1) + ... + r_m without
    r_y for l <= y. Without don't-care values y is 1: Definition 3.8. Groups that have nothing to
    protect meet every l.
    """
    counts: Any = groups.counts
    if int(counts.sum()) * max(c.numerator, c.denominator) > 2**62:
        counts = counts.astype(object)
    guarded = guarded_groups(groups, dont_care)
    harmless = any(value in dont_care for value in groups.dictionary)
    largest = np.full(len(groups), UNBOUNDED if harmless else 1, dtype=np.int64)
    largest[np.diff(groups.starts) == 0] = 1
    if len(guarded.groups):
        begins, lengths = guarded.begins, guarded.lengths
        cells = guarded.cells
        counts = counts[cells]
        tail = (
            np.repeat(np.cumsum(np.add.reduceat(counts, begins)), lengths)
            - np.cumsum(counts)
            + counts
        )
        place = np.arange(len(counts)) - np.repeat(begins, lengths)
        first = np.repeat(guarded.first, lengths)
        protected = np.repeat(counts[begins + guarded.first], lengths)
        previous = np.concatenate((tail[:1], tail[:-1]))
        tail = np.where(first < place, tail, previous - protected)
        passes = (place > 0) & (protected * c.denominator < tail * c.numerator)
        largest[guarded.groups] = 1 + np.add.reduceat(passes.astype(np.int64), begins)
    number = int(np.argmin(largest))
    return DiversityFinding(groups, number, int(largest[number]), largest < at_most_int64(required))


def largest_recursive(
    weights: Mapping[Any, int], c: Fraction, dont_care: Collection[Any] = ()
) -> int:
    """The same of one person: the largest l, where each value is believed with such a weight.

    >>> largest_recursive({"flu": 4, "cold": 3, "cough": 2}, Fraction(1))
    2
    """
    if not weights:
        return 1
    ranked = sorted(weights.items(), key=lambda one: -one[1])
    first = next((at for at, (value, _) in enumerate(ranked) if value not in dont_care), None)
    if first is None:
        return UNBOUNDED
    heavy = [weight for _, weight in ranked]
    tails = (
        sum(heavy[at:]) if first < at else sum(heavy[at - 1 :]) - heavy[first]
        for at in range(1, len(heavy))
    )
    return 1 + sum(heavy[first] < c * tail for tail in tails)


@dataclass(frozen=True, slots=True)
class Guarded:
    """The groups with a value that must not be disclosed, and their cells side by side.

    `first` is the place, within its group, of the most frequent value that must not be disclosed.
    """

    groups: Integers
    cells: Integers
    begins: Integers
    lengths: Integers
    first: Integers


def guarded_groups(groups: Groups, dont_care: Collection[Any]) -> Guarded:
    """Leave out groups that have only don't-care values, or none at all."""
    codes = [code for code, value in enumerate(groups.dictionary) if value in dont_care]
    lengths = np.diff(groups.starts)
    if not codes:
        return all_guarded(lengths)
    owner = np.repeat(np.arange(len(groups)), lengths)
    careful = ~np.isin(groups.values, codes) if codes else np.ones(len(groups.values), dtype=bool)
    if codes and groups.ambiguous is not None:
        careful |= may_be_protected(groups.ambiguous, codes)[owner]
    guarded, first_cell = np.unique(owner[careful], return_index=True)
    first_cell = np.flatnonzero(careful)[first_cell]
    kept = (
        np.isin(owner, guarded) if len(guarded) < len(groups) else np.ones(len(owner), dtype=bool)
    )
    lengths = lengths[guarded]
    begins = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))[:-1]
    return Guarded(
        guarded, np.flatnonzero(kept), begins, lengths, first_cell - groups.starts[guarded]
    )


def all_guarded(lengths: Integers) -> Guarded:
    """Every value is protected. Groups with one value need no look:
    they are 1-diverse and no more.
    """
    several = lengths > 1
    chosen = lengths[several]
    begins = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(chosen)))[:-1]
    cells = np.flatnonzero(np.repeat(several, lengths))
    return Guarded(
        np.flatnonzero(several), cells, begins, chosen, np.zeros(len(chosen), dtype=np.int64)
    )


def may_be_protected(ambiguous: Ambiguous, dont_care: list[int]) -> Mask:
    """Groups in which somebody with several values may mean one that must not be disclosed.

    There no value may be disclosed: Definition 3.8 implies 3.9, for
    every way to pick one value each.
    """
    protected = ~np.isin(ambiguous.values, dont_care)
    return ambiguous.groups & (
        np.bincount(ambiguous.owner[protected], minlength=len(ambiguous.groups)) > 0
    )


@dataclass(frozen=True, slots=True)
class Rarest:
    """Where a value that must not be ruled out is rarest:
    its share in percent, and the groups below.
    """

    groups: Groups
    number: int
    value: Any
    percent: Fraction
    below: Mask


def rarest(groups: Groups, values: Collection[Any], required: Fraction) -> Rarest:
    """Definition 3.10: every value of W occurs in at least c2
    percent of the people of every group.
    """
    owner = np.repeat(np.arange(len(groups)), np.diff(groups.starts))
    return min(
        (rarest_share(groups, owner, value, required) for value in values),
        key=lambda one: one.percent,
    )


def rarest_share(groups: Groups, owner: Integers, value: Any, required: Fraction) -> Rarest:
    """The group in which one value has the least share, and the groups where it has too little."""
    codes = [code for code, one in enumerate(groups.dictionary) if one == value]
    # Who has several values may mean another one: then only those count who have this one only.
    some = groups.ambiguous
    owner, values, counts = (
        (owner, groups.values, groups.counts)
        if some is None
        else (some.owner, some.values, some.sure)
    )
    chosen = np.isin(values, codes)
    have: Any = np.bincount(owner[chosen], weights=counts[chosen], minlength=len(groups)).astype(
        np.int64
    )
    everybody: Any = groups.sizes
    share = have / everybody
    close = np.flatnonzero(share <= share.min() + CLOSE)
    number = min(close.tolist(), key=lambda g: (Fraction(int(have[g]), int(everybody[g])), g))
    if int(everybody.max()) * max(required.numerator, 100 * required.denominator) > 2**62:
        have, everybody = have.astype(object), everybody.astype(object)
    below = have * (100 * required.denominator) < everybody * required.numerator
    return Rarest(
        groups,
        number,
        value,
        Fraction(100 * int(have[number]), int(everybody[number])),
        below.astype(bool),
    )


def entropic(groups: Groups, required: Fraction) -> DiversityFinding:
    """The entropy of each group: in floats where that is enough, exactly where it is close."""
    entropies = float_entropies(groups)
    least = np.flatnonzero(entropies <= entropies.min() + CLOSE)
    _, number, counts = min(
        (entropy(counts), int(members[0]), counts)
        for counts, members in distinct_groups(groups, least)
    )
    return DiversityFinding(
        groups, number, diversity(counts), below_entropy(groups, required, entropies)
    )


def below_entropy(groups: Groups, required: Fraction, entropies: Floats | None = None) -> Mask:
    """Which groups have too little entropy:
    floats decide where they are far from the limit, integers else.
    """
    entropies = float_entropies(groups) if entropies is None else entropies
    target = log(required.numerator) - log(required.denominator)
    below: Mask = entropies < target - CLOSE
    for close, members in distinct_groups(
        groups, np.flatnonzero(np.abs(entropies - target) <= CLOSE)
    ):
        below[members] = not is_diverse(close, required)
    return below


def float_entropies(groups: Groups) -> Floats:
    """The entropy of each group in floating point; 0 for groups with nothing known."""
    lengths = np.diff(groups.starts)
    entropies = np.zeros(len(groups))
    several = lengths > 1
    if bool(several.any()):
        inside = np.repeat(several, lengths)
        counts = groups.counts[inside].astype(np.float64)
        begins = np.concatenate(([0], np.cumsum(lengths[several])[:-1]))
        total = np.add.reduceat(counts, begins)
        entropies[several] = (
            np.log(total) - np.add.reduceat(counts * np.log(counts), begins) / total
        )
    return entropies


def distinct_groups(groups: Groups, numbers: Integers) -> Iterator[tuple[list[int], Integers]]:
    """Some groups by their counts: equal counts are looked at once,
    however many groups have them.
    """
    lengths = np.diff(groups.starts)[numbers]
    for length in np.unique(lengths).tolist():
        chosen = numbers[lengths == length]
        if length < 2:
            yield [1], chosen
            continue
        table = groups.counts[groups.starts[chosen][:, None] + np.arange(length)]
        unique, which = np.unique(table, axis=0, return_inverse=True)
        for i, counts in enumerate(unique.tolist()):
            yield counts, chosen[which.reshape(-1) == i]
