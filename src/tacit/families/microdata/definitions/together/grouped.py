"""Grouped: a release with groups of its own, or without some rows, beside those that are published.

Who is in which group, or in none, is known because it was made here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.errors import DataError
from tacit.families.microdata.counts import pack_codes, tally
from tacit.families.microdata.definitions.together.joined_releases import ABSENT
from tacit.families.microdata.definitions.together.question import Copy, JointQuestion
from tacit.families.microdata.groups import Mask
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.recoded import Recoded, as_it_is
from tacit.families.overlaps.overlap import Integers

NOWHERE = -1  # the group of rows that are left out


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """The question about such a release, and the group of each of its combinations; `cells` has
    the group of each cell of what was found.
    """

    joint: JointQuestion
    groups: Integers
    cells: Integers

    def cells_with(self, people: Mask) -> Mask:
        """The cells in whose groups some combinations are; all where these are in none."""
        found = np.unique(self.groups[people])
        if not (found != NOWHERE).any():
            return np.ones(len(self.cells), dtype=bool)
        return np.isin(self.cells, found)

    def near(self, people: Mask) -> Integers:
        """Pairs of a group that is published and a cell whose group has people of it, for groups
        that are published in which some combinations are.
        """
        cell_of = np.full(int(self.groups.max(initial=0)) + 1, NOWHERE)
        cell_of[self.cells] = np.arange(len(self.cells))
        releases, pairs, first = self.joint.releases, [], 0
        inside = (self.groups != NOWHERE) & (releases.class_of != ABSENT)
        for out in releases.groups[:-1]:
            own = np.where(releases.class_of != ABSENT, out[releases.class_of], ABSENT)
            some = inside & np.isin(own, own[people & (own != ABSENT)]) & (own != ABSENT)
            pairs.append(np.stack((first + own[some], cell_of[self.groups[some]])))
            first += int(out.max(initial=0)) + 1
        found: Integers = np.unique(np.concatenate(pairs, axis=1), axis=1)
        return found


def grouped(joint: JointQuestion, recoded: Recoded) -> Grouped:
    """The same question with what was found as the release that is asked about.

    Raises DataError where rows of one combination go to several groups, and other columns tell them
    apart: which of them goes where is left to chance when they are written.
    """
    names = list(recoded.labels)
    packed, _ = pack_codes(
        [recoded.codes[name] for name in names],
        [len(recoded.labels[name]) for name in names],
        len(recoded.rows),
    )
    _, first, cells = np.unique(packed, return_index=True, return_inverse=True)
    cells = cells.reshape(-1)
    index, groups, people = _rows(joint, recoded, cells, len(first))
    last, base = joint.copies[-1], joint.base.only(index)
    called = {f"{last.name} shows {name}": name for name in names}
    labels = {new: tuple(recoded.labels[name]) for new, name in called.items()}
    codes = {}
    for new, name in called.items():
        by_group = np.append(recoded.codes[name][first].astype(np.int64), len(labels[new]))
        codes[new] = by_group[groups]  # who is in none has the code after the last
    base = replace(
        base,
        occurrences=people,
        dictionaries={**base.dictionaries, **labels},
        recoded={**base.recoded, **codes},
    )
    copies = [
        replace(one, inside=None if one.inside is None else one.inside[index])
        for one in joint.copies[:-1]
    ]
    levels = {new: as_it_is(labels[new]) for new in called}
    copies.append(Copy(last.name, levels, last.columns, groups != NOWHERE, called))
    who = joint.who
    made = replace(
        joint,
        copies=copies,
        base=base,
        earlier=None,
        asked=replace(recoded.question(), find=recoded.raw.find),
        who=None if who is None else lambda row: who(int(index[row])),
    )
    return Grouped(made, groups, cells)


def _rows(
    joint: JointQuestion, recoded: Recoded, cells: Integers, number: int
) -> tuple[Integers, Integers, Integers]:
    """Combinations of the question's table with the group that some of their people are in, and
    how many these are.
    """
    base, raw, inside = joint.base, recoded.raw.base, joint.copies[-1].inside
    own = np.arange(len(base)) if inside is None else np.flatnonzero(inside)
    others = np.setdiff1d(np.arange(len(base)), own)
    kind, mine, kinds = _kinds(joint, recoded.raw, own)
    every = np.bincount(kind, weights=raw.occurrences, minlength=kinds).astype(np.int64)
    there, people = tally(kind[recoded.rows] * number + cells, recoded.counts, kinds * number)
    part, group = np.divmod(there, number)
    rest = every - np.bincount(part, weights=people, minlength=kinds).astype(np.int64)
    out = np.flatnonzero(rest)
    part, group = np.append(part, out), np.append(group, np.full(len(out), NOWHERE))
    people = np.append(people, rest[out])
    order, parts = np.argsort(part, kind="stable"), np.bincount(part, minlength=kinds)
    if bool(((parts[mine] > 1) & (np.bincount(mine, minlength=kinds)[mine] > 1)).any()):
        raise DataError(
            "rows that look alike go to several groups, and columns that are released as they are "
            "tell them apart: who is in which group is left to chance."
        )
    index = np.repeat(np.arange(len(own)), parts[mine])
    nth = np.arange(len(index)) - np.repeat(np.cumsum(parts[mine]) - parts[mine], parts[mine])
    at = order[(np.cumsum(parts) - parts)[mine][index] + nth]
    many = np.where(parts[mine][index] > 1, people[at], base.occurrences[own][index])
    return (
        np.append(own[index], others),
        np.append(group[at], np.full(len(others), NOWHERE)),
        np.append(many, base.occurrences[others]),
    )


def _kinds(
    joint: JointQuestion, raw: MicrodataQuestion, own: Integers
) -> tuple[Integers, Integers, int]:
    """A number for each combination of the raw table and for some of the question's: equal ones
    have the same quasi-identifiers and sensitive values. And how many numbers there are.
    """
    pairs, sizes = [], []
    for name in raw.quasi:
        place = {value: code for code, value in enumerate(raw.base.dictionaries[name])}
        missing = raw.base.size(name) - 1
        values = joint.base.dictionaries[name]
        codes = np.array([*(place.get(value, missing) for value in values), missing])
        pairs.append((raw.base.codes(name), codes[joint.base.codes(name)[own]]))
        sizes.append(missing + 1)
    for name in raw.sensitive:
        missing = raw.base.size(name) - 1
        codes = joint.values(raw, name)[joint.tuple_of[own]]
        pairs.append((raw.base.codes(name), np.where(codes < 0, missing, codes)))
        sizes.append(missing + 1)
    together = [np.concatenate(pair) for pair in pairs]
    packed, _ = pack_codes(together, sizes, len(raw.base) + len(own))
    found, kind = np.unique(packed, return_inverse=True)
    kind = kind.reshape(-1)
    return kind[: len(raw.base)], kind[len(raw.base) :], len(found)
