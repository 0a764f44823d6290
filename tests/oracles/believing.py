"""Belief in one value of one person by brute force:
all worlds, all negations, all implications, counting.

Written from the definitions, and sharing no code with Tacit. A release is a list of groups, a group
the list of its people's values; see `oracles.background` for what a world is. Somebody knows up to
n values that the person does not have, and up to k implications; what they know must be possible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from oracles.background import Event, Group, Person, Worlds, basic_implications, probability


def denials(worlds: Worlds, person: Person, value: Any, n: int) -> set[Event]:
    """What up to n negations about the person leave possible; the value itself is not denied."""
    others = [one for one in worlds.values if one != value]
    found = set()
    for number in range(min(n, len(others)) + 1):
        for some in itertools.combinations(others, number):
            left = worlds.everything
            for one in some:
                left &= ~worlds.atoms[person, one]
            found.add(left)
    return found


def greatest(
    worlds: Worlds, person: Person, value: Any, n: int, k: int, implications: Iterable[Event]
) -> Fraction:
    """The greatest belief in the value, if any n negations and any k of
    these implications may be known.
    """
    known = {worlds.everything}
    statements = set(implications)
    for _ in range(k):
        known |= {one & two for one in known for two in statements}
    atom = worlds.atoms[person, value]
    everything = {one & two for one in known for two in denials(worlds, person, value, n)}
    return max(probability(atom, given) for given in everything if given)


def any_implications(worlds: Worlds, person: Person, value: Any, n: int, k: int) -> Fraction:
    """The same where implications are: atoms joined by and -> atoms joined by or, as the
    definition has it.
    """
    return greatest(worlds, person, value, n, k, basic_implications(worlds))


def ending_in_it(
    worlds: Worlds, person: Person, value: Any, n: int, k: int, *, only: Sequence[int] | None = None
) -> Fraction:
    """The same where implications are: an atom (about the people of some groups only) -> the
    person has the value.
    """
    atom = worlds.atoms[person, value]
    left = [event for (other, _), event in worlds.atoms.items() if other != person or event != atom]
    if only is not None:
        left = [event for (other, _), event in worlds.atoms.items() if other[0] in only]
    return greatest(
        worlds, person, value, n, k, [(worlds.everything & ~event) | atom for event in left]
    )


def under(
    worlds: Worlds,
    person: Person,
    value: Any,
    denied: Iterable[Any],
    atoms: Iterable[tuple[Person, Any]],
) -> dict[Any, Fraction]:
    """The belief in every value, if these are denied and each of the atoms implies that the
    person has the value.
    """
    given = worlds.everything
    for one in denied:
        given &= ~worlds.atoms[person, one]
    for other, theirs in atoms:
        given &= (worlds.everything & ~worlds.atoms[other, theirs]) | worlds.atoms[person, value]
    return {one: probability(worlds.atoms[person, one], given) for one in worlds.values}


def shares(groups: Sequence[Group], value: Any, group: int) -> tuple[Fraction, Fraction]:
    """The share of a value in the whole table, and in a group, among the values that are known."""
    everybody = [one for some in groups for one in some if one is not None]
    here = [one for one in groups[group] if one is not None]
    return Fraction(everybody.count(value), len(everybody)), Fraction(here.count(value), len(here))
