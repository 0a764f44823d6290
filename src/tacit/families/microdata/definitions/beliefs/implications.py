"""The worst k implications that somebody can know about the people of a release.

Martin, Kifer, Machanavajjhala, Gehrke and Halpern (ICDE 2007) prove that no k basic implications
tell more than k simple ones, A_1 -> A, ..., A_k -> A, which end in the atom A whose belief is
asked. Then

    odds against A  =  P(not A, not A_1, ..., not A_k) / P(A),        belief  =  1 / (1 + odds)

and the odds are to be made small. An atom says that a person has a value. Groups are independent,
so the probability that no atom is true is a product over groups. Within a group of n people let the
first person avoid k_0 values, the second k_1 <= k_0, and so on: the worst are the most frequent
ones, the same for everybody, and person i then avoids them with (n - S(k_i) - i) / (n - i), where
S(v) is how many people have the v most frequent values. `least` finds the worst k_0, k_1, ...

Atoms of one group that are put into two packs are never worse than in one pack: in the joint order
every person comes later, and (n - S - i) / (n - i) falls with i. So a group may be used as if there
were several of it, and all that matters is the least probability that any group has for each number
of atoms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.groups import Groups

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.groups import Mask

    Floats = np.ndarray[Any, np.dtype[np.float64]]

CLOSE = 1e-9  # logarithms of probabilities that differ by less are compared exactly
AT_ONCE = 4_000_000  # numbers in a block


@dataclass(frozen=True, slots=True)
class WorstImplications:
    """The greatest belief, the group it is about, and how many atoms
    (A among them) are in each group.

    `below` are the groups about whose people the belief is not below the limit.
    """

    belief: Fraction
    group: int
    atoms: Mapping[int, int]
    below: Mask


@dataclass(frozen=True, slots=True)
class KnownGroups:
    """The groups in which values are known:
    `people` with one, `sums[:, v]` with the v + 1 most frequent.
    """

    numbers: Integers
    people: Integers
    sums: Integers

    def exactly(self, row: int, atoms: int) -> tuple[Fraction, tuple[int, ...]]:
        """The least probability that none of so many atoms is true,
        and how many each person avoids.
        """
        return least(int(self.people[row]), tuple(self.sums[row, :atoms].tolist()), atoms)

    def odds(self, row: int, atoms: int) -> Fraction:
        """The same divided by P(A), where A is one of the atoms."""
        return self.exactly(row, atoms)[0] * int(self.people[row]) / int(self.sums[row, 0])

    def alike(self, rows: Integers, atoms: int) -> Iterator[tuple[int, Integers]]:
        """Some groups by all that counts for so many atoms: the first of them, and all of them."""
        signs = np.column_stack((self.people[rows], self.sums[rows, :atoms]))
        _, first, which = np.unique(signs, axis=0, return_index=True, return_inverse=True)
        for at, one in enumerate(first.tolist()):
            yield int(rows[one]), rows[which.reshape(-1) == at]


def worst_implications(groups: Groups, k: int, limit: Fraction) -> WorstImplications:
    """The greatest belief that k implications can give; `limit` is what it should be below.

    Floats find the groups that may be the worst, fractions decide among them.
    """
    lengths = np.diff(groups.starts)
    fewest = int(lengths[lengths > 0].min())
    # With one implication less than a group has values, all but one can be ruled out: belief 1.
    # With as many, "if somebody there has this value, A" can be said of each of them: that is to
    # say A, of anybody.
    anything, k = k >= fewest, min(k, fewest - 1)
    crowds = crowds_of(groups, k + 1)
    logs = least_logs(crowds, k + 1)
    shares = np.log(crowds.sums[:, 0]) - np.log(crowds.people)
    others = [smallest(crowds, logs[:, atoms], atoms) for atoms in range(1, k + 1)]
    packs = best_packs([share for _, share in others])
    targets = [smallest_odds(crowds, logs[:, own + 1] - shares, own + 1) for own in range(k + 1)]
    # Among equals the knowledge that is all about one group.
    own = min(range(k, -1, -1), key=lambda own: targets[own][1] * packs[k - own][0])
    odds = targets[own][1] * packs[k - own][0]
    atoms = Counter({int(crowds.numbers[targets[own][0]]): own + 1})
    for pack in packs[k - own][1]:
        atoms[int(crowds.numbers[others[pack - 1][0]])] += pack
    below = np.zeros(len(groups), dtype=bool)
    below[crowds.numbers] = anything | too_likely(
        crowds, logs, shares, [share for share, _ in packs], limit
    )
    return WorstImplications(1 / (1 + odds), int(crowds.numbers[targets[own][0]]), atoms, below)


def crowds_of(groups: Groups, depth: int) -> KnownGroups:
    """The groups in which some value is known; none has fewer than `depth` values."""
    numbers = np.flatnonzero(np.diff(groups.starts) > 0)
    begins = groups.starts[numbers]
    sums = np.cumsum(groups.counts[begins[:, None] + np.arange(depth)], axis=1)
    return KnownGroups(numbers, np.add.reduceat(groups.counts, begins), sums)


def steps(atoms: int) -> Iterator[tuple[int, int, int]]:
    """Ways to add a person: how many values they avoid, how many people and atoms come before.

    Who avoids more comes first, so there are at least `size` atoms for each person before.

    >>> list(steps(2))
    [(2, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1)]
    """
    for size in range(atoms, 0, -1):
        for person in range(atoms // size):
            for used in range(person * size, atoms - size + 1):
                yield size, person, used


def least(people: int, sums: tuple[int, ...], atoms: int) -> tuple[Fraction, tuple[int, ...]]:
    """The least probability that none of some atoms is true, and how many each person avoids.

    A group of three people with three values;
    two atoms: one person avoids two values, or two people avoid one each.

    >>> least(3, (1, 2), 2)
    (Fraction(1, 3), (2,))
    """
    best: dict[tuple[int, int], tuple[Fraction, tuple[int, ...]]] = {(0, 0): (Fraction(1), ())}
    for size, person, used in steps(atoms):
        if (person, used) in best:
            share, sizes = best[person, used]
            left = max(0, people - sums[size - 1] - person)
            found = share * Fraction(left, people - person), (*sizes, size)
            key = person + 1, used + size
            if key not in best or found[0] < best[key][0]:
                best[key] = found
    return min((one for (_, used), one in best.items() if used == atoms), key=lambda one: one[0])


def least_logs(crowds: KnownGroups, atoms: int) -> Floats:
    """The logarithm of `least` for every group, with 0, 1, ... atoms."""
    logs = np.zeros((len(crowds.people), atoms + 1))
    size = max(1, AT_ONCE // (atoms + 1) ** 2)
    for begin in range(0, len(logs), size):
        block = slice(begin, begin + size)
        logs[block] = logs_of_block(crowds.people[block], crowds.sums[block], atoms)
    return logs


def logs_of_block(people: Integers, sums: Integers, atoms: int) -> Floats:
    """The same for some groups: `least` step by step, all of them at once."""
    best = np.full((atoms + 1, atoms + 1, len(people)), np.inf)
    best[0, 0] = 0
    for size, person, used in steps(atoms):
        left = np.maximum(0, people - sums[:, size - 1] - person)
        with np.errstate(divide="ignore"):  # log(0) is the right answer: it cannot be avoided
            share = np.log(left) - np.log(people - person)
        found = best[person, used] + share
        np.minimum(best[person + 1, used + size], found, out=best[person + 1, used + size])
    logs: Floats = best.min(axis=0).T
    return logs


def near(logs: Floats) -> Integers:
    """Where the least of some logarithms may be."""
    low = logs.min()
    return np.flatnonzero(logs <= low + CLOSE) if low > -np.inf else np.flatnonzero(logs == low)[:1]


def smallest(crowds: KnownGroups, logs: Floats, atoms: int) -> tuple[int, Fraction]:
    """The first group in which it is least likely that none of so many atoms is true."""
    found = ((crowds.exactly(row, atoms)[0], row) for row, _ in crowds.alike(near(logs), atoms))
    share, row = min(found)
    return row, share


def smallest_odds(crowds: KnownGroups, logs: Floats, atoms: int) -> tuple[int, Fraction]:
    """The first group with the least odds against A, where A is among so many atoms."""
    found = ((crowds.odds(row, atoms), row) for row, _ in crowds.alike(near(logs), atoms))
    odds, row = min(found)
    return row, odds


def best_packs(shares: list[Fraction]) -> list[tuple[Fraction, tuple[int, ...]]]:
    """The least product of shares for every number of atoms, where
    `shares[j - 1]` is for a pack of j.

    >>> best_packs([Fraction(1, 2), Fraction(1, 3)])[2]
    (Fraction(1, 4), (1, 1))
    """
    packs: list[tuple[Fraction, tuple[int, ...]]] = [(Fraction(1), ())]
    for atoms in range(1, len(shares) + 1):
        found = ((shares[own - 1] * packs[atoms - own][0], own) for own in range(atoms, 0, -1))
        share, own = min(found, key=lambda one: one[0])
        packs.append((share, (own, *packs[atoms - own][1])))
    return packs


def logarithm(share: Fraction) -> float:
    """The logarithm of a fraction, however small.

    >>> logarithm(Fraction(0)), logarithm(Fraction(1, 10**400)) < -900
    (-inf, True)
    """
    return math.log(share.numerator) - math.log(share.denominator) if share else -math.inf


def too_likely(
    crowds: KnownGroups, logs: Floats, shares: Floats, packs: list[Fraction], limit: Fraction
) -> Mask:
    """In which groups can the belief about a person reach the limit?"""
    k = len(packs) - 1
    outside = np.array([logarithm(share) for share in packs])
    bound = logarithm((1 - limit) / limit)
    odds = (logs[:, 1:] - shares[:, None] + outside[::-1]).min(axis=1)
    certain = odds == -np.inf
    found: Mask = certain | (odds < bound - CLOSE)
    close = np.flatnonzero(~found & (odds <= bound + CLOSE))
    for row, rows in crowds.alike(close, k + 1):
        exact = min(crowds.odds(row, own + 1) * packs[k - own] for own in range(k + 1))
        found[rows] = exact <= (1 - limit) / limit
    return found
