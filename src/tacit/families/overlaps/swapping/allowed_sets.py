"""Allowed sets: the largest sets of kinds of people and values within which everybody may
exchange with everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import Flags
from tacit.model.deadline import OutOfTime, look

Mask = int  # a set of kinds, or of types, as the bits of a number
Type = tuple[int, int]  # a kind of people, and the value that they have


class Exchanges:
    """For each two values, the kinds whose people may exchange them:
    `with_whom[value][value][kind]`, both ways round.
    """

    def __init__(self, kinds: int, values: tuple[int, ...]) -> None:
        self.kinds = kinds
        self.values = values
        self.with_whom: dict[int, dict[int, list[Mask]]] = {value: {} for value in values}

    def set(self, one: int, other: int, may: Flags) -> None:
        """Kinds that may exchange two values, [kind, kind]; a kind may with itself."""
        packed = np.packbits(may | np.eye(self.kinds, dtype=bool), axis=1, bitorder="little")
        masks = [int.from_bytes(row.tobytes(), "little") for row in packed]
        self.with_whom[one][other] = self.with_whom[other][one] = masks

    def flags(self, one: int, other: int) -> Flags:
        """The kinds that may exchange two values, [kind, kind]."""
        wide = -(-self.kinds // 8)
        packed = b"".join(mask.to_bytes(wide, "little") for mask in self.with_whom[one][other])
        bytes_ = np.frombuffer(packed, dtype=np.uint8).reshape(self.kinds, wide)
        return np.unpackbits(bytes_, axis=1, count=self.kinds, bitorder="little").astype(bool)

    def decide(self, one: int, other: int, kinds: tuple[int, int], may: bool) -> None:
        """Two kinds may, or may not, exchange two values."""
        masks = self.with_whom[one][other]
        for own, their in (kinds, kinds[::-1]):
            masks[own] = masks[own] | 1 << their if may else masks[own] & ~(1 << their)

    def may(self, one: int, other: int, kinds: tuple[int, int]) -> bool:
        """May two kinds exchange two values?"""
        return bool(self.with_whom[one][other][kinds[0]] >> kinds[1] & 1)


def bound(exchanges: Exchanges, counts: Integers, *, diverse: bool) -> int:
    """A level that no division into allowed sets exceeds:
    the least, over all types, of the most who fit with the type.

    Who is in a set with somebody of kind a and value v has another value u only if both kinds may
    exchange u and v. If the set has a second value w, everybody in it is of a kind that may
    exchange v and w with a.

    >>> may = Exchanges(2, (0, 1))
    >>> may.set(0, 1, np.full((2, 2), False))
    >>> counts = np.array([[1, 1], [2, 1]])
    >>> (
    ...     bound(may, counts, diverse=True),
    ...     bound(may, counts, diverse=False),
    ... )
    (2, 2)
    """
    least = int(counts.sum())
    for value in exchanges.values:
        there = counts[:, value] > 0
        near = {
            other: exchanges.flags(value, other)[there]
            for other in exchanges.values
            if other != value
        }
        look()
        people = np.tile(counts[:, value], (int(there.sum()), 1))
        for other, flags in near.items():
            people += flags * counts[:, other]
        most = (
            np.zeros(len(people), dtype=np.int64)
            if diverse
            else np.full(len(people), int(counts[:, value].sum()))
        )
        for other, flags in near.items():
            is_diverse = (flags & (counts[:, other] > 0)).any(axis=1)
            most = np.maximum(most, np.where(is_diverse, (people * flags).sum(axis=1), 0))
        least = min(least, int(most.min(initial=least)))
    return least


def allowed_sets(
    exchanges: Exchanges, counts: Integers, *, diverse: bool, most: int
) -> tuple[list[tuple[Type, ...]], bool]:
    """The maximal allowed sets, as types (kind, value) that somebody
    has, and whether these are all.

    Some people are an allowed set if every two of different kinds may exchange every two of the
    values that somebody of the set has. So an allowed set is a set of kinds and a set of values,
    and all who are of these kinds and have these values. `counts[kind, value]` says how many there
    are. In the `diverse` variant a set has two values. It ends after `most` sets, or at the
    deadline, with those that it has.

    >>> may = Exchanges(2, (0, 1, 2))
    >>> for pair, both in (((0, 1), True), ((0, 2), False), ((1, 2), False)):
    ...     may.set(*pair, np.full((2, 2), both))
    >>> for one in allowed_sets(may, np.array([[1, 1, 0], [1, 0, 2]]), diverse=True, most=9)[0]:
    ...     print(one)
    ((1, 0), (1, 2))
    ((0, 0), (0, 1), (1, 0))
    """
    places = {
        (kind, value): at for at, (kind, value) in enumerate(np.argwhere(counts > 0).tolist())
    }
    types = list(places)
    by_value = {
        value: sum(1 << kind for kind in np.nonzero(counts[:, value])[0].tolist())
        for value in exchanges.values
    }
    found: dict[Mask, None] = {}
    is_all = False
    try:
        for kinds, values in _kinds_and_values(exchanges, diverse):
            people = [(value, kinds & by_value[value]) for value in values]
            if diverse and sum(1 for _, who in people if who) < 2:
                continue
            found[sum(1 << places[kind, value] for value, who in people for kind in bits(who))] = (
                None
            )
            if len(found) > most:
                break
        else:
            is_all = True
    except OutOfTime:
        pass
    found.pop(0, None)
    return [tuple(types[at] for at in bits(one)) for one in _largest(list(found))], is_all


def _kinds_and_values(exchanges: Exchanges, diverse: bool) -> Iterator[tuple[Mask, Sequence[int]]]:
    """Sets of kinds and values such that none can be added to either; some are found twice."""
    everybody = (1 << exchanges.kinds) - 1
    for kind in range(exchanges.kinds):
        yield 1 << kind, exchanges.values
    twins = _twins(exchanges)
    for together in twins.values():
        if not diverse or len(together) > 1:
            yield everybody, together
    start = dict.fromkeys(range(exchanges.kinds), everybody)
    firsts = tuple(twins)
    for at, value in enumerate(firsts):
        for kinds, values in _with_more(exchanges, firsts, (value,), at + 1, start):
            yield kinds, [one for first in values for one in twins[first]]


def _twins(exchanges: Exchanges) -> dict[int, list[int]]:
    """Values that are always together: all may exchange them, and whoever may exchange the one with
    a third may the other.

    They are under the first of them.
    """
    everybody = [(1 << exchanges.kinds) - 1] * exchanges.kinds
    found: dict[int, list[int]] = {}
    for value in exchanges.values:
        rules = exchanges.with_whom[value]
        for first, together in found.items():
            others = exchanges.with_whom[first]
            if rules[first] == everybody and all(
                rules[one] == others[one] for one in exchanges.values if one not in (first, value)
            ):
                together.append(value)
                break
        else:
            found[value] = [value]
    return found


def _with_more(
    exchanges: Exchanges,
    values: Sequence[int],
    chosen: tuple[int, ...],
    start: int,
    near: dict[int, Mask],
) -> Iterator[tuple[Mask, tuple[int, ...]]]:
    """Those with the chosen values and some of the later ones.
    `near` is with whom each kind may exchange so far.
    """
    for at in range(start, len(values)):
        look()
        more = values[at]
        closer = _narrowed(near, [exchanges.with_whom[value][more] for value in chosen])
        if not closer:
            continue
        longer = (*chosen, more)
        for kinds in cliques(closer):
            if not any(
                _may_all(exchanges, kinds, longer, other) for other in values if other not in longer
            ):
                yield kinds, longer
        yield from _with_more(exchanges, values, longer, at + 1, closer)


def _narrowed(near: dict[int, Mask], rules: Sequence[list[Mask]]) -> dict[int, Mask]:
    """With whom each kind may still exchange; kinds that are left alone go."""
    found = {}
    for kind, mask in near.items():
        for rule in rules:
            mask &= rule[kind]
        if mask != 1 << kind:
            found[kind] = mask
    return found


def _may_all(exchanges: Exchanges, kinds: Mask, values: Sequence[int], more: int) -> bool:
    """May all of some kinds exchange one more value with each of some values?"""
    rules = exchanges.with_whom[more]
    first = (kinds & -kinds).bit_length() - 1
    if any(rules[value][first] & kinds != kinds for value in values):
        return False
    return all(rules[value][kind] & kinds == kinds for kind in bits(kinds) for value in values)


def cliques(near: dict[int, Mask]) -> Iterator[Mask]:
    """The maximal sets whose members are all near each other; everybody is near themselves.

    Those that are near to the same others are always together, and are taken as one (Bron and
    Kerbosch, with a pivot).

    >>> sorted(cliques({0: 0b011, 1: 0b111, 2: 0b110}))
    [3, 6]
    """
    there = sum(1 << one for one in near)
    twins: dict[Mask, Mask] = {}
    for one, mask in near.items():
        twins[mask & there] = twins.get(mask & there, 0) | 1 << one
    groups = list(twins.values())
    first = [(group & -group).bit_length() - 1 for group in groups]
    firsts = sum(1 << one for one in first)
    members = dict(zip(first, groups, strict=True))
    links = {one: near[one] & firsts & ~(1 << one) for one in first}
    for clique in _maximal(links, 0, firsts, 0):
        yield sum(members[one] for one in bits(clique))


def _maximal(links: dict[int, Mask], chosen: Mask, open_: Mask, closed: Mask) -> Iterator[Mask]:
    if not open_:
        if not closed:
            yield chosen
        return
    look()
    pivot = max(bits(open_ | closed), key=lambda one: (open_ & links[one]).bit_count())
    for one in bits(open_ & ~links[pivot]):
        bit = 1 << one
        yield from _maximal(links, chosen | bit, open_ & links[one], closed & links[one])
        open_ &= ~bit
        closed |= bit


def _largest(sets: list[Mask]) -> list[Mask]:
    """Those that are not inside another one, in a fixed order."""
    holding: dict[int, list[Mask]] = {}
    found: list[Mask] = []
    for one in sorted(sets, key=lambda mask: (-mask.bit_count(), mask)):
        near = min((holding.get(bit, []) for bit in bits(one)), key=len)
        if any(one & larger == one for larger in near):
            continue
        found.append(one)
        for bit in bits(one):
            holding.setdefault(bit, []).append(one)
    return sorted(found, key=lambda mask: (mask.bit_count(), mask))


def bits(mask: Mask) -> Iterator[int]:
    """The members of a set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
