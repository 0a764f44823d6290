"""Nearby: worlds that break a condition, found from a known world outwards, against all worlds."""

from __future__ import annotations

import random
from itertools import chain, combinations

import pytest

from tacit.families.worlds import nearby
from tacit.families.worlds.formula import Condition, Count
from tacit.families.worlds.nearby import Index, Nearby, follows


def worlds(size: int) -> list[frozenset[int]]:
    everything = range(1, size + 1)
    return [
        frozenset(one)
        for one in chain.from_iterable(combinations(everything, many) for many in range(size + 1))
    ]


def random_condition(rng: random.Random, size: int) -> Condition:
    def literals(many: int) -> tuple[int, ...]:
        return tuple(one * rng.choice((1, 1, -1)) for one in rng.sample(range(1, size + 1), many))

    terms = tuple(literals(rng.randint(1, 3)) for _ in range(rng.randint(1, 4)))
    if rng.random() < 0.25:
        members = tuple((one,) for one in rng.sample(range(1, size + 1), rng.randint(2, 4)))
        low = rng.randint(0, len(members))
        return Condition(
            terms if rng.random() < 0.5 else (),
            (Count(members, low, rng.randint(low, len(members))),),
        )
    return Condition(terms)


@pytest.mark.parametrize("seed", range(8))
def test_a_world_that_breaks_a_condition_is_found_wherever_there_is_one(seed: int) -> None:
    rng = random.Random(seed)
    every = worlds(7)
    decided = {True: 0, False: 0}
    for _ in range(80):
        conditions = [random_condition(rng, 7) for _ in range(rng.randint(1, 6))]
        known = [world for world in every if all(one.holds(world) for one in conditions)]
        if not known:
            continue
        # From a condition that holds in the known world to the others:
        # what is asked is never broken there already.
        here = rng.choice(known)
        asked = [one for one in (random_condition(rng, 7) for _ in range(3)) if one.holds(here)]
        broken = [world for world in known if not all(one.holds(world) for one in asked)]
        found = Nearby(Index.of(conditions), here).breaking(asked)
        assert (found is None) == (not broken)
        assert found is None or found in broken
        decided[found is None] += 1
    assert min(decided.values()) > 5


def test_what_is_said_to_follow_does() -> None:
    rng = random.Random(1)
    every = worlds(6)
    many = 0
    for _ in range(4000):
        conditions = [random_condition(rng, 6) for _ in range(rng.randint(1, 6))]
        asked = random_condition(rng, 6)
        if follows(asked, Index.of(conditions)):
            many += 1
            assert all(
                asked.holds(world) for world in every if all(one.holds(world) for one in conditions)
            )
    assert many > 300


def test_after_many_rounds_everything_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearby, "ROUNDS", 1)
    chained = [Condition(((-one,), (one + 1,))) for one in range(1, 30)]
    known = Nearby(Index.of(chained), frozenset())
    found = known.breaking([Condition(((-1, -2),))])
    assert found == frozenset(range(2, 31)) or found == frozenset(range(1, 31))
