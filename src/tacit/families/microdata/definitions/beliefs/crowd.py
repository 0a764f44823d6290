"""Everybody in a release, as the other side sees them:
people who are alike to it are looked at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.counts import pack_codes
from tacit.families.microdata.definitions.beliefs.beliefs import BeliefTarget, Predicate
from tacit.families.microdata.definitions.beliefs.prior import Cell, FittedPrior, Shares
from tacit.families.microdata.groups import Groups

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

    Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class KnownKinds:
    """The kinds of people whose value is known.

    People are of one kind where their groups have equally many people by value, and the prior does
    not tell them apart. `group[k]` is the first group in which there is somebody of kind k,
    `cell[k]` the quasi-identifiers that the prior knows. `where` has all pairs of a group and a
    kind in it.
    """

    groups: Groups
    prior: FittedPrior
    group: Integers
    where: tuple[Integers, Integers]
    cell: tuple[Cell, ...] = ()
    _beliefs: dict[Cell, tuple[Shares, Shares]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.group)

    @property
    def is_told_apart(self) -> bool:
        """Does the prior tell people of a group apart?"""
        return bool(self.prior.columns)

    def target(self, kind: int) -> BeliefTarget:
        """Somebody of a kind."""
        groups, number = self.groups, int(self.group[kind])
        span = slice(int(groups.starts[number]), int(groups.starts[number + 1]))
        counts = dict(zip(groups.values[span].tolist(), groups.counts[span].tolist(), strict=True))
        before, units = self._believed(self.cell[kind] if self.is_told_apart else ())
        if not self.is_told_apart:
            return BeliefTarget(counts, before)
        return BeliefTarget({s: n for s, n in counts.items() if s in units}, before, units)

    def _believed(self, cell: Cell) -> tuple[Shares, Shares]:
        if cell not in self._beliefs:
            self._beliefs[cell] = self.prior.before(cell), self.prior.units(cell)
        return self._beliefs[cell]

    def groups_of(self, kinds: Mask) -> Mask:
        """The groups in which there are people of some kinds."""
        group, kind = self.where
        found = np.zeros(len(self.groups), dtype=bool)
        found[group[kinds[kind]]] = True
        return found

    def row(self, kind: int, wanted: Predicate) -> int:
        """The row of somebody of a kind, if possible of one whose value is among those wanted."""
        base, sensitive = self.groups.base, str(self.groups.sensitive)
        inside = self.groups.key_of_row == self.groups.keys[self.group[kind]]
        if self.is_told_apart:
            for name, value in zip(self.prior.columns, self.cell[kind], strict=True):
                inside &= base.codes(name) == (*base.dictionaries[name], None).index(value)
        best = inside & np.isin(base.codes(sensitive), list(wanted))
        return int(np.flatnonzero(best if bool(best.any()) else inside)[0])


def crowd(groups: Groups, prior: FittedPrior) -> KnownKinds:
    """Everybody of a release, for somebody with a prior."""
    group, pattern = patterns(groups)
    if not prior.columns:
        _, first = np.unique(pattern, return_index=True)
        return KnownKinds(groups, prior, group[first], (group, pattern))
    return told_apart(groups, prior, dict(zip(group.tolist(), pattern.tolist(), strict=True)))


def patterns(groups: Groups) -> tuple[Integers, Integers]:
    """The groups in which values are known, and a number for how many people have which values."""
    lengths = np.diff(groups.starts)
    pattern = np.full(len(groups), -1, dtype=np.int64)
    number = 0
    for length in np.unique(lengths[lengths > 0]).tolist():
        chosen = np.flatnonzero(lengths == length)
        span = groups.starts[chosen][:, None] + np.arange(length)
        columns = [*groups.values[span].T, *groups.counts[span].T]
        key, _ = pack_codes(columns, [int(one.max()) + 1 for one in columns], len(chosen))
        unique, which = np.unique(key, return_inverse=True)
        pattern[chosen] = number + which
        number += len(unique)
    known = np.flatnonzero(pattern >= 0)
    return known, pattern[known]


def told_apart(groups: Groups, prior: FittedPrior, pattern: dict[int, int]) -> KnownKinds:
    """The kinds of people where the prior tells them apart by some of the quasi-identifiers."""
    base, sensitive = groups.base, str(groups.sensitive)
    rows = np.flatnonzero(base.codes(sensitive) < base.size(sensitive) - 1)
    number = np.searchsorted(groups.keys, groups.key_of_row[rows])
    found = np.unique(
        np.stack((number, *(base.codes(name)[rows] for name in prior.columns))), axis=1
    )
    group, codes = found[0], found[1:]
    alike = np.stack((np.array([pattern[one] for one in group.tolist()]), *codes))
    _, first, kind = np.unique(alike, axis=1, return_index=True, return_inverse=True)
    values = [
        [(*base.dictionaries[name], None)[code] for code in column[first].tolist()]
        for name, column in zip(prior.columns, codes, strict=True)
    ]
    return KnownKinds(
        groups, prior, group[first], (group, kind.reshape(-1)), tuple(zip(*values, strict=True))
    )
