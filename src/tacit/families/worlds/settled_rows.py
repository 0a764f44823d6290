"""Settled: which rows of the secret are possible, and which can be absent, in some worlds;
each row from a known world on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.families.worlds.formula import Condition, Propagation, Term, negated
from tacit.families.worlds.matching import Tuple
from tacit.families.worlds.nearby import Index, Nearby

Rows = Mapping[Tuple, tuple[Term, ...]]


@dataclass(frozen=True, slots=True)
class Settled:
    """Rows that are there in some world, and rows that are absent
    in some, each with such a world.
    """

    possible: Mapping[Tuple, frozenset[int]]
    avoidable: Mapping[Tuple, frozenset[int]]


def settled(conditions: Sequence[Condition], rows: Rows, world: frozenset[int]) -> Settled:
    """What can be of each row, where all conditions hold; `world` is one where they do.

    >>> found = settled([Condition(((1,),))], {(0,): ((1,),), (1,): ((2,),)}, frozenset({1}))
    >>> sorted(found.possible), sorted(found.avoidable)
    ([(0,), (1,)], [(1,)])
    """
    known = Propagation.of(conditions)
    around = Nearby(Index.of(known.conditions), world)
    possible: dict[Tuple, frozenset[int]] = {}
    avoidable: dict[Tuple, frozenset[int]] = {}
    for row, ways in rows.items():
        left, is_sure = known.left_of(ways)
        is_there = is_sure or any(Condition((way,)).holds(world) for way in left)
        (possible if is_there else avoidable)[row] = world
        if is_sure or not left:
            continue
        against = [Condition(left)] if is_there else [Condition(negated(way)) for way in left]
        other = around.breaking(against)
        if other is not None:
            (avoidable if is_there else possible)[row] = other
    return Settled(possible, avoidable)
