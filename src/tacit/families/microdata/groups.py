"""Groups: a release as the adversary sees it, people grouped by what can be looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import DataError
from tacit.families.microdata.counts import ROOM, Counts, pack_codes, run_starts, tally

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.hierarchy import HierarchyLevel

Mask = np.ndarray[Any, np.dtype[np.bool_]]
MOST_MATCHES = 50_000_000
PART = 1 << 16  # combinations that are recoded at a time


def nothing() -> Integers:
    """No cells."""
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Groups:
    """People by group, and by sensitive value within each group (a cell).

    The cells of group g are `starts[g]:starts[g + 1]`, with the most frequent value first. `sizes`
    counts people in a group, also those whose sensitive value is missing; `counts` counts people
    per cell, and a missing value is never a cell: it does not count as diversity. `ambiguous` tells
    where people have more than one value in a group (see `one_value_each`; None where nobody has),
    `overlapping` says that a person can be in several groups because missing values match any
    other. Where a group stands for others that are like it, `times` says for how many, itself
    among them.
    """

    columns: tuple[str, ...]
    levels: Mapping[str, HierarchyLevel]
    base: Counts
    key_of_row: Integers
    keys: Integers
    sizes: Integers
    sensitive: str | None = None
    starts: Integers = field(default_factory=nothing)
    values: Integers = field(default_factory=nothing)
    counts: Integers = field(default_factory=nothing)
    ambiguous: Ambiguous | None = None
    overlapping: bool = False
    times: Integers | None = None

    @property
    def several(self) -> bool:
        """Do some people have more than one value within a group?"""
        return self.ambiguous is not None

    def __len__(self) -> int:
        return len(self.keys)

    def label(self, group: int) -> dict[str, Any]:
        """What the release shows of a group; None where a value is missing."""
        row = int(np.flatnonzero(self.key_of_row == self.keys[group])[0])
        return {
            name: self.levels[name].labels[
                int(self.levels[name].codes[self.base.codes_at(name, row)])
            ]
            for name in self.columns
        }

    @property
    def dictionary(self) -> tuple[Any, ...]:
        """The sensitive values by code."""
        return self.base.dictionaries[self.sensitive] if self.sensitive is not None else ()

    def cells(self, group: int) -> dict[Any, int]:
        """A group's sensitive values with how many people have each, most frequent first."""
        span = slice(int(self.starts[group]), int(self.starts[group + 1]))
        pairs = zip(self.values[span].tolist(), self.counts[span].tolist(), strict=True)
        return {self.dictionary[code]: number for code, number in pairs}

    @property
    def number(self) -> int:
        """How many groups there are, those that others stand for among them."""
        return len(self.keys) if self.times is None else int(self.times.sum())

    def many(self, chosen: Mask) -> int:
        """How many groups the chosen ones stand for."""
        return int(chosen.sum()) if self.times is None else int(self.times[chosen].sum())

    def people(self, chosen: Mask) -> int:
        """How many people are in the chosen groups, each counted once."""
        if self.times is not None:
            return int((self.sizes[chosen] * self.times[chosen]).sum())
        if self.base.persons is None and not self.overlapping:
            return int(self.sizes[chosen].sum())
        return self.base.people(np.flatnonzero(np.isin(self.key_of_row, self.keys[chosen])))

    def member(self, group: int, value: Any = None) -> int:
        """The first combination of the base that lies in a group (and has a sensitive value)."""
        inside = np.flatnonzero(self.key_of_row == self.keys[group])
        if value is not None and self.sensitive is not None:
            codes = self.base.codes_at(self.sensitive, inside)
            having = inside[codes == self.dictionary.index(value)]
            # Where missing values match any other, only people of other groups may have the value.
            inside = having if len(having) else inside
        return int(inside[0])


def group(
    base: Counts,
    quasi: Sequence[str],
    levels: Mapping[str, HierarchyLevel],
    sensitive: str | None = None,
    *,
    match_any: bool = False,
) -> Groups:
    """Group people by the generalized quasi-identifiers.

    `levels` has every column of `quasi`. With `match_any` a missing value matches any other, so a
    person's group are all people who could be that person; groups then overlap.
    """
    key, room = group_keys(base, quasi, levels)
    if sensitive is not None and room * base.size(sensitive) > ROOM:
        unique, key = np.unique(key, return_inverse=True)
        room = len(unique)
    seen = GroupPeople(base, key, np.arange(len(base)), room)
    if match_any:
        seen = matches(seen, quasi, levels)
    if sensitive is None:
        return Groups(tuple(quasi), levels, base, key, *seen.tally(), overlapping=match_any)
    groups = Groups(
        tuple(quasi), levels, base, key, nothing(), nothing(), sensitive, overlapping=match_any
    )
    return with_cells(groups, seen)


def group_keys(
    base: Counts, quasi: Sequence[str], levels: Mapping[str, HierarchyLevel]
) -> tuple[Integers, int]:
    """One integer per combination that tells its group, and the size of its range."""
    sizes = [len(levels[name].labels) for name in quasi]
    packed = base.packed(quasi) if all(levels[name].is_identity for name in quasi) else None
    if packed is not None:
        return packed, prod(sizes)
    if prod(sizes) > ROOM:
        return pack_codes(
            [levels[name].codes[base.codes(name)] for name in quasi], sizes, len(base)
        )
    return keys_at(base, quasi, levels), prod(sizes)


def keys_at(base: Counts, quasi: Sequence[str], levels: Mapping[str, HierarchyLevel]) -> Integers:
    """The codes of the labels of some columns, packed, where they fit into an integer.

    A part at a time: what stays in the processor's cache needs neither new memory nor a way to it.
    """
    stride, raised = 1, {}
    for name in reversed(quasi):
        raised[name] = levels[name].codes * stride
        stride *= len(levels[name].labels)
    key = np.zeros(len(base), dtype=np.int64)
    for begin in range(0, len(base), PART):
        rows = slice(begin, begin + PART)
        for name, codes in raised.items():
            if len(levels[name].labels) > 1:
                key[rows] += codes[base.codes_at(name, rows)]
    return key


@dataclass(frozen=True, slots=True)
class GroupPeople:
    """Rows of the base under a key each: the people that the adversary cannot tell apart."""

    base: Counts
    key: Integers
    rows: Integers
    room: int

    def tally(self) -> tuple[Integers, Integers]:
        """The keys in order with how many people each has: rows, or distinct persons."""
        if self.base.persons is None:
            return tally(self.key, self.base.occurrences[self.rows], self.room)
        person = self.base.persons[self.rows]
        pair, _ = pack_codes(
            [self.key, person], [self.room, int(person.max(initial=0)) + 1], len(person)
        )
        once = np.unique(pair, return_index=True)[1]
        return tally(self.key[once], np.ones(len(once), dtype=np.int64), self.room)


def with_cells(groups: Groups, seen: GroupPeople) -> Groups:
    """Count the people of every group, and of every sensitive value within it."""
    base, sensitive = groups.base, str(groups.sensitive)
    size = base.size(sensitive)
    key = seen.key * size
    key += base.codes_at(sensitive, seen.rows)
    cells, counts = replace(seen, key=key, room=seen.room * size).tally()
    owner, values = np.divmod(cells, size)
    del key, cells  # so large a table's numbers are let go as soon as they are not needed
    keys, sizes = seen.tally() if base.persons is not None else tally(owner, counts, seen.room)
    owner = positions(keys, owner)
    known = values < size - 1
    if not bool(known.all()):
        owner, values, counts = owner[known], values[known], counts[known]
    ambiguous = (
        ambiguity(seen, keys, sensitive, owner, values, counts)
        if base.persons is not None
        else None
    )
    if ambiguous is not None:
        owner, values, counts = one_value_each(owner, values, counts, ambiguous.people)
    starts = np.zeros(len(keys) + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=len(keys)), out=starts[1:])
    order = most_frequent_first(owner, counts)
    if order is not None:
        values, counts = values[order], counts[order]
    return replace(
        groups,
        keys=keys,
        sizes=sizes,
        starts=starts,
        values=values,
        counts=counts,
        ambiguous=ambiguous,
    )


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """What is known where people have several values: which of them is meant, nobody can say.

    `groups` marks the groups concerned, `people` counts those of each group with a known value.
    (`owner`, `values`) are all values of all groups; `sure` are the people who have that one only.
    """

    groups: Mask
    people: Integers
    owner: Integers
    values: Integers
    sure: Integers


def ambiguity(
    seen: GroupPeople,
    keys: Integers,
    sensitive: str,
    owner: Integers,
    values: Integers,
    counts: Integers,
) -> Ambiguous | None:
    """Find people who have more than one value within a group; None where nobody has."""
    code, size = seen.base.codes(sensitive)[seen.rows], seen.base.size(sensitive)
    known = code < size - 1
    persons, code = seen.base.persons, code[known]
    assert persons is not None
    group, person = np.searchsorted(keys, seen.key[known]), persons[seen.rows[known]]
    people, who = np.unique(np.stack((group, person)), axis=1, return_inverse=True)
    total = np.bincount(people[0], minlength=len(keys))
    concerned = np.bincount(owner, weights=counts, minlength=len(keys)).astype(np.int64) > total
    if not bool(concerned.any()):
        return None
    once = np.unique(np.stack((who.reshape(-1), code)), axis=1)
    single = np.bincount(once[0])[once[0]] == 1
    sure_key = people[0][once[0][single]] * size + once[1][single]
    found, number = np.unique(sure_key, return_counts=True)
    sure = np.zeros(len(owner), dtype=np.int64)
    sure[np.searchsorted(owner * size + values, found)] = number
    return Ambiguous(concerned, total, owner, values, sure)


def positions(keys: Integers, found: Integers) -> Integers:
    """Where sorted (repeated) keys stand among sorted unique ones.

    >>> positions(np.array([2, 5, 7]), np.array([2, 2, 7])).tolist()
    [0, 0, 2]
    """
    begins = np.ones(len(found), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=begins[1:])
    place: Integers = np.cumsum(begins)
    place -= 1
    if not len(found) or int(place[-1]) + 1 == len(keys):
        return place
    among: Integers = np.searchsorted(keys, found[begins])
    return among[place]


def most_frequent_first(owner: Integers, counts: Integers) -> Integers | None:
    """The order of cells that puts frequent values first in each group;
    None where it is so already.
    """
    again = owner[1:] == owner[:-1]
    if not bool(np.any(again & (counts[1:] > counts[:-1]))):
        return None
    # Most groups of a raw table have one cell and need no sorting.
    crowded = np.zeros(len(owner), dtype=bool)
    crowded[1:] |= again
    crowded[:-1] |= again
    order = np.arange(len(owner))
    inside = order[crowded]
    order[crowded] = inside[np.lexsort((-counts[inside], owner[inside]))]
    return order


def one_value_each(
    owner: Integers, values: Integers, counts: Integers, limit: Integers
) -> tuple[Integers, Integers, Integers]:
    """Where people have several values in a group, the most
    concentrated counts with one value each.

    Definitions of diversity take every person to have one value. If some have more, the counts of
    a group add up to more than its people (`limit`), and a value that everybody has would look
    like a mere share. We give the frequent values their people first, until everybody has one.
    Every way to pick one value per person is at least as diverse (its counts are majorized), so a
    verdict "holds" on these counts is right whichever value is meant.

    >>> parts = one_value_each(np.array([0, 0]), np.array([0, 1]), np.array([3, 1]), np.array([3]))
    >>> [part.tolist() for part in parts]
    [[0], [0], [3]]
    """
    order = np.lexsort((values, -counts, owner))
    owner, values, counts = owner[order], values[order], counts[order]
    begins = run_starts(owner)
    before = np.cumsum(counts) - counts
    before -= np.repeat(before[begins], np.diff(np.append(begins, len(owner))))
    counts = np.clip(limit[owner] - before, 0, counts)
    kept = counts > 0
    return owner[kept], values[kept], counts[kept]


def matches(
    seen: GroupPeople, quasi: Sequence[str], levels: Mapping[str, HierarchyLevel]
) -> GroupPeople:
    """All pairs (group, row of the base) that agree wherever both have a value."""
    codes = [levels[name].codes[seen.base.codes(name)] for name in quasi]
    sizes = [len(levels[name].labels) for name in quasi]
    absent = [code == missing_code(levels[name]) for name, code in zip(quasi, codes, strict=True)]
    pattern, _ = pack_codes(
        [one.astype(np.int64) for one in absent], [2] * len(absent), len(seen.rows)
    )
    rows = [np.flatnonzero(pattern == one) for one in np.unique(pattern)]
    lacking = [[bool(one[some[0]]) for one in absent] for some in rows]
    pairs = [
        join(
            seen.key,
            [i for i in range(len(quasi)) if not (here[i] or there[i])],
            codes,
            sizes,
            left,
            right,
        )
        for left, here in zip(rows, lacking, strict=True)
        for right, there in zip(rows, lacking, strict=True)
    ]
    return replace(
        seen,
        key=np.concatenate([pair[0] for pair in pairs]),
        rows=np.concatenate([pair[1] for pair in pairs]),
    )


def missing_code(level: HierarchyLevel) -> int:
    """The code of a missing value at a level, or one that never occurs."""
    return level.labels.index(None) if None in level.labels else -1


def join(
    key: Integers,
    shared: Sequence[int],
    codes: Sequence[Integers],
    sizes: Sequence[int],
    left: Integers,
    right: Integers,
) -> tuple[Integers, Integers]:
    """The pairs of a group (of the rows `left`) and a row of `right`
    that agree on the shared columns.
    """
    left = left[np.unique(key[left], return_index=True)[1]]
    both = np.concatenate((left, right))
    packed, _ = pack_codes([codes[i][both] for i in shared], [sizes[i] for i in shared], len(both))
    left_key, right_key = packed[: len(left)], packed[len(left) :]
    order = np.argsort(right_key, kind="stable")
    low = np.searchsorted(right_key[order], left_key, side="left")
    number = np.searchsorted(right_key[order], left_key, side="right") - low
    if int(number.sum()) > MOST_MATCHES:
        raise DataError(
            f"missing values match {int(number.sum()):,} pairs of combinations, too many "
            "to compare.",
            hint="Use missing: own-group, or fill in or drop the rows with missing values.",
        )
    offset = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
    return key[np.repeat(left, number)], right[order[np.repeat(low, number) + offset]]


def people_alike(groups: Groups, others: Groups) -> Integers:
    """For each group, how many people of another table's groups show the same labels."""
    both = []
    for side in (groups, others):
        first = np.unique(side.key_of_row, return_index=True)[1]
        both.append(
            [side.levels[name].codes[side.base.codes(name)[first]] for name in groups.columns]
        )
    codes, sizes = [], []
    for place, name in enumerate(groups.columns):
        ours, theirs = groups.levels[name].labels, others.levels[name].labels
        number = {label: code for code, label in enumerate(dict.fromkeys((*ours, *theirs)))}
        codes.append(
            np.concatenate(
                (
                    np.array([number[label] for label in ours])[both[0][place]],
                    np.array([number[label] for label in theirs])[both[1][place]],
                )
            )
        )
        sizes.append(len(number))
    key, _ = pack_codes(codes, sizes, len(groups) + len(others))
    ours_key, theirs_key = key[: len(groups)], key[len(groups) :]
    order = np.argsort(theirs_key)
    place_of = np.clip(np.searchsorted(theirs_key[order], ours_key), 0, max(len(others) - 1, 0))
    same = theirs_key[order][place_of] == ours_key
    return np.where(same, others.sizes[order][place_of], 0)
