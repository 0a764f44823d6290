"""Counting: how many worlds give each secret, before and after, exactly.

Tuples that no condition and no row of the secret connects are counted apart, and the numbers
multiplied. A part with few tuples is enumerated; a larger one is counted tuple by tuple, where all
states that have the same future are one. Integers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tacit.families.worlds.formula import Condition, Term, parts
from tacit.families.worlds.matching import Tuple
from tacit.families.worlds.states import TooManyStates, by_states
from tacit.model.deadline import look

ENUMERATED = 22  # tuples in a part that is enumerated
CHUNK = 18  # of 2**CHUNK worlds at a time

Rows = Mapping[Tuple, tuple[Term, ...]]  # rows of the secret, with the ways to have each


@dataclass(frozen=True, slots=True)
class TuplePart:
    """Tuples that hang together, with what speaks of them."""

    tuples: tuple[int, ...]
    before: tuple[Condition, ...]
    after: tuple[Condition, ...]
    secret: tuple[tuple[Tuple, tuple[Term, ...]], ...]

    @property
    def is_separate(self) -> bool:
        """Does it say nothing of the secret, or is nothing of it published?"""
        return not self.after or not self.secret


@dataclass(frozen=True, slots=True)
class SecretTally:
    """The secrets of a part, each a set of rows, with the number of worlds before and after."""

    part: TuplePart
    secrets: Mapping[frozenset[Tuple], tuple[int, int]]

    @property
    def before(self) -> int:
        """All worlds of the part."""
        return sum(before for before, _ in self.secrets.values())

    @property
    def after(self) -> int:
        """Those that are left."""
        return sum(after for _, after in self.secrets.values())

    def moved(self, actual: frozenset[Tuple]) -> frozenset[Tuple] | None:
        """A secret whose odds against the actual one change, one that dies if there is any;
        None where none do.

        >>> part = TuplePart((1,), (), (), ())
        >>> SecretTally(part, {frozenset(): (2, 1), frozenset({(1,)}): (4, 2)}).moved(
        ...     frozenset()
        ... ) is None
        True
        """
        here, now = self.secrets[actual]
        found = [
            secret
            for secret, (before, after) in self.secrets.items()
            if before and after * here != now * before
        ]
        return min(
            found,
            key=lambda one: (self.secrets[one][1] > 0, len(one ^ actual), sorted(one)),
            default=None,
        )


def split(
    before: Sequence[Condition],
    after: Sequence[Condition],
    secret: Rows,
    connected: Mapping[int, int] | None = None,
) -> list[TuplePart]:
    """The parts of a formula. `connected` are the parts of `before`, where they are known
    already (see `parts`).
    """
    known = parts(one.tuples() for one in before) if connected is None else connected
    groups = [list(one.tuples()) for one in after]
    groups += [[abs(literal) for way in ways for literal in way] for ways in secret.values()]
    joined = parts([known.get(one, one) for one in group] for group in groups)
    heads = {one: joined.get(head, head) for one, head in known.items()}
    heads.update((one, joined[one]) for group in groups for one in group if one not in heads)
    members: dict[int, list[int]] = {}
    for one, head in sorted(heads.items()):
        members.setdefault(head, []).append(one)

    def mine(conditions: Iterable[Condition]) -> dict[int, list[Condition]]:
        found: dict[int, list[Condition]] = {}
        for condition in conditions:
            found.setdefault(heads[next(condition.tuples())], []).append(condition)
        return found

    first, second = mine(before), mine(after)
    rows: dict[int, list[tuple[Tuple, tuple[Term, ...]]]] = {}
    for row, ways in secret.items():
        rows.setdefault(heads[abs(ways[0][0])], []).append((row, ways))
    return [
        TuplePart(
            tuple(tuples),
            tuple(first.get(head, ())),
            tuple(second.get(head, ())),
            tuple(rows.get(head, ())),
        )
        for head, tuples in members.items()
    ]


def tally(part: TuplePart, *, most_states: int) -> SecretTally | None:
    """The worlds of a part by secret, or None where they are too many to count."""
    if len(part.tuples) <= ENUMERATED:
        return SecretTally(part, _enumerated(part))
    try:
        return SecretTally(
            part,
            by_states(part.tuples, part.before, part.after, part.secret, most=most_states),
        )
    except TooManyStates:
        return None


def worlds(tallies: Iterable[SecretTally], free: int) -> tuple[int, int]:
    """All worlds before and after; `free` tuples may be there or not, whatever else."""
    found = list(tallies)
    return prod(one.before for one in found) << free, prod(one.after for one in found) << free


def plausible(tallies: Iterable[SecretTally]) -> tuple[int, int]:
    """How many secrets are plausible before and after."""
    found = list(tallies)
    first = prod(sum(before > 0 for before, _ in one.secrets.values()) for one in found)
    return first, prod(sum(after > 0 for _, after in one.secrets.values()) for one in found)


# -- enumeration -----------------------------------------------------------------------------------


def _enumerated(part: TuplePart) -> dict[frozenset[Tuple], tuple[int, int]]:
    found: dict[bytes, list[int]] = {}
    for chunk in chunks(part.tuples):
        look()
        before = satisfying_worlds(chunk, part.before)
        if not before.any():
            continue
        kept = {one: bits[before] for one, bits in chunk.items()}
        after = satisfying_worlds(kept, part.after, size=int(before.sum()))
        _add(found, kept, after, part.secret)
    rows = [row for row, _ in part.secret]
    return {_secret(bits, rows): (before, after) for bits, (before, after) in found.items()}


def chunks(tuples: Sequence[int]) -> Iterable[dict[int, Any]]:
    """All sets of tuples, some at a time: for each tuple in which of them it is."""
    low = min(len(tuples), CHUNK)
    numbers = np.arange(1 << low, dtype=np.int64)
    inner = {one: (numbers >> at & 1).astype(bool) for at, one in enumerate(tuples[:low])}
    for high in range(1 << (len(tuples) - low)):
        outer = {
            one: np.full(1 << low, bool(high >> at & 1)) for at, one in enumerate(tuples[low:])
        }
        yield inner | outer


def satisfying_worlds(
    chunk: Mapping[int, Any], conditions: Iterable[Condition], size: int | None = None
) -> Any:
    """Which of some worlds satisfy all conditions."""
    size = len(next(iter(chunk.values()))) if size is None else size
    found = np.ones(size, dtype=bool)
    for condition in conditions:
        found &= _holds(chunk, condition, size)
    return found


def _holds(chunk: Mapping[int, Any], condition: Condition, size: int) -> Any:
    found = any_of(chunk, condition.terms, size)
    for count in condition.counts:
        there = np.zeros(size, dtype=np.int64)
        for member in count.members:
            there += any_of(chunk, [(literal,) for literal in member], size)
        found |= (there >= count.low) & (there <= count.high)
    return found


def any_of(chunk: Mapping[int, Any], terms: Iterable[Term], size: int) -> Any:
    """In which of some worlds one of the terms is true."""
    found = np.zeros(size, dtype=bool)
    for term in terms:
        all_ = np.ones(size, dtype=bool)
        for literal in term:
            all_ &= chunk[literal] if literal > 0 else ~chunk[-literal]
        found |= all_
    return found


def _add(
    found: dict[bytes, list[int]],
    chunk: Mapping[int, Any],
    after: Any,
    secret: Sequence[tuple[Tuple, tuple[Term, ...]]],
) -> None:
    """Count the worlds of a chunk by their secret, whose rows are the bits of a key."""
    size = len(after)
    if not secret:
        counts = found.setdefault(b"", [0, 0])
        counts[0] += size
        counts[1] += int(after.sum())
        return
    bits = np.packbits(np.stack([any_of(chunk, ways, size) for _, ways in secret], axis=1), axis=1)
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).ravel()
    names, inverse = np.unique(keys, return_inverse=True)
    first = np.bincount(inverse, minlength=len(names))
    second = np.bincount(inverse, weights=after, minlength=len(names)).astype(np.int64)
    for name, before, left in zip(names, first, second, strict=True):
        counts = found.setdefault(name.tobytes(), [0, 0])
        counts[0] += int(before)
        counts[1] += int(left)


def _secret(bits: bytes, rows: Sequence[Tuple]) -> frozenset[Tuple]:
    there = np.unpackbits(np.frombuffer(bits, dtype=np.uint8))
    return frozenset(row for row, bit in zip(rows, there, strict=False) if bit)
