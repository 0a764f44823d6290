"""Settled: which rows of the secret are possible, and which can be absent, in some worlds; a few solver calls for all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacit.worlds.formula import Condition, Term
from tacit.worlds.matching import Tuple
from tacit.worlds.solving import Deadline, Model

Rows = Mapping[Tuple, tuple[Term, ...]]


@dataclass(frozen=True, slots=True)
class Settled:
    """Rows that are there in some world, and rows that are absent in some, each with such a world."""

    possible: Mapping[Tuple, frozenset[int]]
    avoidable: Mapping[Tuple, frozenset[int]]


def settled(conditions: Sequence[Condition], rows: Rows, deadline: Deadline) -> Settled:
    """What can be of each row, where all conditions hold.

    Every world that is found settles many rows; the next one is asked to settle one that is still open.

    >>> found = settled([Condition(((1,),))], {(0,): ((1,),), (1,): ((2,),)}, Deadline(9))
    >>> sorted(found.possible), sorted(found.avoidable)
    ([(0,), (1,)], [(1,)])
    """
    possible: dict[Tuple, frozenset[int]] = {}
    avoidable: dict[Tuple, frozenset[int]] = {}
    while True:
        model = Model()
        for condition in conditions:
            model.require(condition)
        there = {row: model.is_any(ways) for row, ways in rows.items()}
        wanted = [there[row] for row in rows if row not in possible]
        wanted += [there[row].negated() for row in rows if row not in avoidable]
        if not wanted:
            return Settled(possible, avoidable)
        model.model.add_bool_or(wanted)
        # As many open rows as the solver finds at once: fewer calls.
        model.model.maximize(sum(wanted))
        world = model.solved_soon(deadline)
        if world is None:
            return Settled(possible, avoidable)
        for row, ways in rows.items():
            is_there = any(all((literal > 0) == (abs(literal) in world) for literal in way) for way in ways)
            (possible if is_there else avoidable).setdefault(row, world)
