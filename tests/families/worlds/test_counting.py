"""Counting by enumeration, by states and by brute force; and what follows at once."""

from __future__ import annotations

import random
from itertools import product

from tacit.families.worlds.counting import (
    SecretTally,
    TuplePart,
    _enumerated,
    plausible,
    split,
    tally,
    worlds,
)
from tacit.families.worlds.formula import Condition, Count, Impossible, Propagation
from tacit.families.worlds.states import by_states
from tacit.families.worlds.world_solver import find

Numbers = dict[frozenset[tuple[int, ...]], tuple[int, int]]


def random_condition(rng: random.Random, size: int) -> Condition:
    def term() -> tuple[int, ...]:
        return tuple(
            rng.choice([-1, 1]) * one
            for one in rng.sample(range(1, size + 1), rng.randint(1, min(3, size)))
        )

    counts = []
    if rng.random() < 0.3:
        members = tuple(
            (one,) for one in rng.sample(range(1, size + 1), rng.randint(1, min(4, size)))
        )
        if rng.random() < 0.3:
            members = tuple(tuple({*member, rng.randint(1, size)}) for member in members)
        low = rng.randint(0, min(2, len(members)))
        counts.append(Count(members, low, rng.randint(low, len(members))))
    return Condition(
        tuple(term() for _ in range(rng.randint(0 if counts else 1, 3))), tuple(counts)
    )


def random_part(rng: random.Random, size: int) -> TuplePart:
    before = tuple(random_condition(rng, size) for _ in range(rng.randint(0, 4)))
    after = tuple(random_condition(rng, size) for _ in range(rng.randint(0, 3)))
    secret = tuple(
        (
            (at,),
            tuple(tuple(abs(one) for one in term) for term in random_condition(rng, size).terms)
            or ((1,),),
        )
        for at in range(rng.randint(0, 3))
    )
    return TuplePart(tuple(range(1, size + 1)), before, after, secret)


def counted(part: TuplePart) -> Numbers:
    found: dict[frozenset[tuple[int, ...]], list[int]] = {}
    for bits in product((False, True), repeat=len(part.tuples)):
        world = frozenset(one for one, bit in zip(part.tuples, bits, strict=True) if bit)
        if all(condition.holds(world) for condition in part.before):
            secret = frozenset(
                row for row, ways in part.secret if any(world.issuperset(way) for way in ways)
            )
            numbers = found.setdefault(secret, [0, 0])
            numbers[0] += 1
            numbers[1] += all(condition.holds(world) for condition in part.after)
    return {secret: (before, after) for secret, (before, after) in found.items()}


def test_both_ways_of_counting_are_right() -> None:
    rng = random.Random(5)
    for _ in range(1500):
        part = random_part(rng, rng.randint(1, 7))
        truth = counted(part)
        assert _enumerated(part) == truth
        spoken = {
            one for condition in (*part.before, *part.after) for one in condition.tuples()
        } | {one for _, ways in part.secret for way in ways for one in way}
        if spoken:
            known = TuplePart(tuple(sorted(spoken)), part.before, part.after, part.secret)
            assert by_states(
                known.tuples, known.before, known.after, known.secret, most=10**6
            ) == counted(known)


def test_parts_multiply() -> None:
    rng = random.Random(6)
    for _ in range(400):
        whole = random_part(rng, 8)
        parts = split(whole.before, whole.after, dict(whole.secret))
        tallies = [tally(part, most_states=10**6) for part in parts]
        known = [one for one in tallies if one is not None]
        truth = SecretTally(whole, counted(whole))
        free = 8 - sum(len(part.tuples) for part in parts)
        assert worlds(known, free) == (truth.before, truth.after)
        if truth.after:
            assert plausible(known) == (
                len(truth.secrets),
                sum(after > 0 for _, after in truth.secrets.values()),
            )


def test_a_long_chain_is_counted_by_states() -> None:
    """60 tuples in a row, no two neighbours both there: Fibonacci numbers."""
    size = 60
    before = tuple(Condition(((-one,), (-(one + 1),))) for one in range(1, size))
    found = tally(
        TuplePart(tuple(range(1, size + 1)), before, (Condition(((1,),)),), (((0,), ((size,),)),)),
        most_states=1000,
    )
    assert found is not None
    fibonacci = [1, 2]
    while len(fibonacci) <= size:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert found.before == fibonacci[size] and found.after == fibonacci[size - 2]


def test_what_follows_at_once_changes_no_world() -> None:
    rng = random.Random(7)
    for _ in range(1500):
        size = rng.randint(2, 6)
        conditions = [random_condition(rng, size) for _ in range(rng.randint(1, 6))]
        every = [
            frozenset(one for one, bit in enumerate(bits, 1) if bit)
            for bits in product((False, True), repeat=size)
        ]
        truth = {
            world for world in every if all(condition.holds(world) for condition in conditions)
        }
        try:
            found = Propagation.of(conditions)
        except Impossible:
            assert not truth
            continue
        left = {
            world
            for world in every
            if all((one in world) == there for one, there in found.fixed.items())
            and all(condition.holds(world) for condition in found.conditions)
        }
        assert left == truth


def test_the_solver_finds_a_world_where_there_is_one() -> None:
    rng = random.Random(8)
    for _ in range(150):
        size = rng.randint(2, 6)
        conditions = [random_condition(rng, size) for _ in range(rng.randint(0, 4))]
        broken = [random_condition(rng, size) for _ in range(rng.randint(1, 3))]
        every = [
            frozenset(one for one, bit in enumerate(bits, 1) if bit)
            for bits in product((False, True), repeat=size)
        ]
        truth = {
            world
            for world in every
            if all(one.holds(world) for one in conditions)
            and not all(one.holds(world) for one in broken)
        }
        found = find(conditions, broken)
        assert (found is None) == (not truth)
        if found is not None:
            assert found in truth
