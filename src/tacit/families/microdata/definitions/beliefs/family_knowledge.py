"""The worst knowledge of (l, k, m): values ruled out, people known, and a family who share a value.

Chen, LeFevre and Ramakrishnan (VLDB 2007). Somebody asks whether the target, of a group of n people
of whom a have the value s, has s. They know l values that the target does not have, the values of k
others, and m others v of whom they know: if v has s, so has the target. The release keeps the odds
against s at

    odds  =  P(target has neither s nor a ruled-out value, no v has s) / P(target has s)

given the known people. Ruled out are the l most frequent other values, and known people of the
target's group have values that are left: W people have these. Known people never have s. With k
known people and m of the family in the target's group, or in another group (n people, a with s),
the factors are

    own(k, m)    =  (W - k) / a  *  product for i = 1 .. m of (n - k - a - i) / (n - k - i)
    other(k, m)  =  product for i = 0 .. m - 1 of (n - k - a - i) / (n - k - i)

For given k the logarithm of each is concave in m, so a sum of them over groups is least where the
whole family is in one group; people known in a group without family and target tell nothing. What
is left is concave in how the k known people are split. So there are three cases: all in the
target's group; the family elsewhere; the family and the known people elsewhere. Another group may
be the target's own once more: `own(k, m)` is never greater than the product of the two factors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from tacit.families.microdata.counts import run_starts
from tacit.families.microdata.definitions.beliefs.implications import CLOSE, logarithm, near
from tacit.families.microdata.groups import Groups

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.definitions.beliefs.implications import Floats
    from tacit.families.microdata.groups import Mask


@dataclass(frozen=True, slots=True)
class FamilyAmount:
    """How much is known: values ruled out, people known, people in the family."""

    l: int  # noqa: E741  (the literature's own names)
    k: int
    m: int


@dataclass(frozen=True, slots=True)
class WorstFamily:
    """The greatest belief, with the group and the code of the value that it is about.

    `amount` is what it takes, `known` and `family` are the groups of these people, and `below` are
    the groups about whose people the belief is not below the limit.
    """

    belief: Fraction
    group: int
    value: int
    amount: FamilyAmount
    known: int
    family: int
    below: Mask


@dataclass(frozen=True, slots=True)
class GroupValues:
    """Every value of every group: its code, and how many people are in the group, have the value,
    and are left beside them when the most frequent other values are ruled out (n, a and W).
    """

    owner: Integers
    values: Integers
    people: Integers
    having: Integers
    left: Integers

    def own(self, k: int, m: int) -> Floats:
        """The logarithm of `own` for every cell."""
        return (
            log(self.left - k)
            - log(self.having)
            + avoiding_logs(self.people - 1 - k, self.having, m)
        )

    def other(self, k: int, m: int) -> Floats:
        """The logarithm of `other` for every cell."""
        return avoiding_logs(self.people - k, self.having, m)

    def own_exactly(self, cell: int, k: int, m: int) -> Fraction:
        """The same as a fraction."""
        n, a, left = (int(one[cell]) for one in (self.people, self.having, self.left))
        return Fraction(max(0, left - k), a) * avoiding(n - 1 - k, a, m)

    def other_exactly(self, cell: int, k: int, m: int) -> Fraction:
        """The same as a fraction."""
        return avoiding(int(self.people[cell]) - k, int(self.having[cell]), m)


@dataclass(frozen=True, slots=True)
class FamilyGroups:
    """The groups that a family with a value can come from, when k of such a group are known."""

    cells: GroupValues
    k: int
    m: int
    logs: Floats
    order: Integers  # the cells by value
    begins: Integers
    _found: dict[int, tuple[Fraction, int]] = field(default_factory=dict)

    def least_logs(self) -> Floats:
        """The least of `other` for the value of every cell."""
        least = np.minimum.reduceat(self.logs[self.order], self.begins[:-1])
        sizes = np.diff(self.begins)
        found = np.empty(len(self.logs))
        found[self.order] = np.repeat(least, sizes)
        return found

    def least(self, cell: int) -> tuple[Fraction, int]:
        """The same as a fraction, with the cell where it is."""
        value = int(self.cells.values[cell])
        if value not in self._found:
            at = int(np.searchsorted(self.cells.values[self.order[self.begins[:-1]]], value))
            mine = self.order[self.begins[at] : self.begins[at + 1]]
            close = mine[near(self.logs[mine])]
            signs = np.column_stack((self.cells.people[close], self.cells.having[close]))
            first = close[np.unique(signs, axis=0, return_index=True)[1]]
            self._found[value] = min(
                (self.cells.other_exactly(one, self.k, self.m), one) for one in first.tolist()
            )
        return self._found[value]


@dataclass(frozen=True, slots=True)
class FamilySearch:
    """The three cases: all in the target's group, the family
    elsewhere, known people too elsewhere.
    """

    cells: GroupValues
    amount: FamilyAmount
    family: FamilyGroups
    everybody: FamilyGroups

    def logs(self) -> Floats:
        """The logarithm of the least odds for every cell."""
        k, m = self.amount.k, self.amount.m
        inside = self.cells.own(k, m)
        if not m:
            return inside
        apart = self.cells.own(k, 0) + self.family.least_logs()
        away = self.cells.own(0, 0) + self.everybody.least_logs()
        least: Floats = np.minimum(inside, np.minimum(apart, away))
        return least

    def exactly(self, cell: int) -> tuple[Fraction, int, int]:
        """The least odds as a fraction, with the cells of the known people and of the family."""
        k, m = self.amount.k, self.amount.m
        best = self.cells.own_exactly(cell, k, m), cell, cell
        if m:
            share, other = self.family.least(cell)
            apart = self.cells.own_exactly(cell, k, 0) * share, cell, other
            share, other = self.everybody.least(cell)
            away = self.cells.own_exactly(cell, 0, 0) * share, other, other
            best = min(best, apart, away, key=lambda one: one[0])
        return best

    def alike(self, chosen: Integers) -> Iterator[tuple[int, Integers]]:
        """Some cells by all that counts: the first of them, and all of them."""
        value = self.cells.values[chosen] * bool(self.amount.m)
        own = (one[chosen] for one in (self.cells.people, self.cells.having, self.cells.left))
        signs = np.column_stack((value, *own))
        _, first, which = np.unique(signs, axis=0, return_index=True, return_inverse=True)
        for at, one in enumerate(first.tolist()):
            yield int(chosen[one]), chosen[which.reshape(-1) == at]


def worst_family(groups: Groups, asked: FamilyAmount, limit: Fraction) -> WorstFamily:
    """The greatest belief that such knowledge can give; `limit` is what it should be below.

    Floats find the cells that may be the worst, fractions decide among them.
    """
    amount = enough(groups, asked)
    search = searching(groups, amount)
    logs, cells = search.logs(), search.cells
    found = ((*search.exactly(cell), cell) for cell, _ in search.alike(near(logs)))
    odds, known, relatives, cell = min(found, key=lambda one: (one[0], one[3]))
    wide = search if amount == asked else searching(groups, asked)
    below = np.zeros(len(groups), dtype=bool)
    below[cells.owner[too_likely(wide, limit)]] = True
    return WorstFamily(
        1 / (1 + odds),
        group=int(cells.owner[cell]),
        value=int(cells.values[cell]),
        amount=amount,
        known=int(cells.owner[known]),
        family=int(cells.owner[relatives]),
        below=below,
    )


def enough(groups: Groups, asked: FamilyAmount) -> FamilyAmount:
    """No more knowledge than makes somebody certain about somebody."""
    lengths = np.diff(groups.starts)
    l = min(asked.l, int(lengths[lengths > 0].min()) - 1)  # noqa: E741
    cells = cells_of(groups, l)
    k = min(asked.k, int(cells.left.min()))
    if k == int(cells.left.min()):
        return FamilyAmount(l, k, 0)
    return FamilyAmount(l, k, min(asked.m, int((cells.people - k - cells.having).min())))


def cells_of(groups: Groups, l: int) -> GroupValues:  # noqa: E741
    """The cells of a release where l values can be ruled out for a person."""
    lengths = np.diff(groups.starts)
    filled = np.flatnonzero(lengths)
    begins, lengths = groups.starts[filled], lengths[filled]
    before = np.concatenate(([0], np.cumsum(groups.counts)))
    sizes = (lengths, np.minimum(l, lengths), np.minimum(l + 1, lengths))
    people, first, more = (
        np.repeat(before[begins + size] - before[begins], lengths) for size in sizes
    )
    rank = np.arange(len(groups.counts)) - np.repeat(begins, lengths)
    # The l most frequent other values: the value itself may be among the l + 1 most frequent.
    left = people - np.where(rank <= l, more, first + groups.counts)
    return GroupValues(np.repeat(filled, lengths), groups.values, people, groups.counts, left)


def searching(groups: Groups, amount: FamilyAmount) -> FamilySearch:
    """All cases for every cell."""
    cells = cells_of(groups, amount.l)
    order = np.argsort(cells.values, kind="stable")
    begins = np.append(run_starts(cells.values[order]), len(order))
    family, everybody = (
        FamilyGroups(cells, k, amount.m, cells.other(k, amount.m), order, begins)
        for k in (0, amount.k)
    )
    return FamilySearch(cells, amount, family, everybody)


def too_likely(search: FamilySearch, limit: Fraction) -> Mask:
    """In which cells can the belief reach the limit?"""
    logs, bound = search.logs(), logarithm((1 - limit) / limit)
    found: Mask = (logs == -np.inf) | (logs < bound - CLOSE)
    for cell, cells in search.alike(np.flatnonzero(~found & (logs <= bound + CLOSE))):
        found[cells] = search.exactly(cell)[0] <= (1 - limit) / limit
    return found


def log(numbers: Integers) -> Floats:
    """The logarithm, -inf for what is not positive."""
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.maximum(0, numbers))
    return found


def avoiding_logs(people: Integers, having: Integers, number: int) -> Floats:
    """The logarithm of `avoiding` for many groups."""
    total = np.zeros(len(people))
    for i in range(number):
        total += log(people - having - i) - np.log(np.maximum(1, people - i))
    return total


def avoiding(people: int, having: int, number: int) -> Fraction:
    """The probability that none of so many people has a value that some have.

    >>> avoiding(5, 2, 2), avoiding(2, 1, 2), avoiding(1, 1, 0)
    (Fraction(3, 10), Fraction(0, 1), Fraction(1, 1))
    """
    if number and people - having < number:
        return Fraction(0)
    return Fraction(comb(people - having, number), comb(people, number)) if number else Fraction(1)
