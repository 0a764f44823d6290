"""Exactly uniform numbers, exactly fair coins, exactly geometric noise:
by enumeration of the random bits, and by counting draws.
"""

from __future__ import annotations

import itertools
import os
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod, sqrt

import numpy as np
import pytest

from tacit.families.synthetic.cells import KEEP_UNITS
from tacit.families.synthetic.drawing import randomness as module
from tacit.families.synthetic.drawing.randomness import Chance, Randomness, WaitingTime, folded
from tacit.families.synthetic.promise.losses import Epsilon

HALF = Epsilon.read("ln(4)")  # noise falls by 1/2 a step


def scripted(*parts: bytes) -> Randomness:
    """These bytes, one part for each time that some are read."""
    left = iter(parts)

    def read(size: int) -> bytes:
        part = next(left)
        assert len(part) == size
        return part

    return Randomness(read)


def words(*values: int, kind: str = "<u8") -> bytes:
    return np.array(values, kind).tobytes()


def fits(counts: Counter[object], chances: dict[object, float], draws: int) -> bool:
    """Pearson's chi-square: five standard deviations, and nothing that cannot occur;
    seeds are fixed, so this never changes.
    """
    assert set(counts) <= set(chances)
    statistic = sum((counts[one] - draws * p) ** 2 / (draws * p) for one, p in chances.items())
    freedom = len(chances) - 1
    return statistic < freedom + 5 * sqrt(2 * freedom)


# -- where the bytes come from ---------------------------------------------------------------------


def test_the_same_seed_draws_the_same_and_another_does_not():
    one, again, other, named = (
        source.below(10**12, 50).tolist()
        for source in (
            Randomness.seeded(1),
            Randomness.seeded(1),
            Randomness.seeded(2),
            Randomness.seeded(1, "Queens"),
        )
    )
    assert one == again
    assert len({tuple(draws) for draws in (one, other, named)}) == 3


def test_a_seed_keeps_its_draws_over_versions_and_machines():
    source = Randomness.seeded(2008)
    assert source.below(100, 8).tolist() == [48, 87, 25, 81, 23, 35, 32, 28]
    assert source.geometric(Epsilon.read(1), 8).tolist() == [-3, 0, 0, 2, -1, -2, 1, 1]


def test_a_seed_goes_on_instead_of_starting_again():
    source = Randomness.seeded(1)
    assert source.below(10**12, 5).tolist() != source.below(10**12, 5).tolist()


def test_the_system_never_draws_the_same_twice():
    drawn = {tuple(Randomness.system().below(10**12, 5).tolist()) for _ in range(50)}
    assert len(drawn) == 50


def test_the_system_keeps_no_bytes_that_a_forked_process_would_share():
    source = Randomness.system()
    source.below(10, 3)
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, source.below(10**18, 1).tobytes())
        os._exit(0)
    mine = source.below(10**18, 1).tobytes()
    os.waitpid(child, 0)
    assert os.read(reader, 8) != mine
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("source", [Randomness.system(), Randomness.seeded(3)])
def test_randomness_travels_to_other_processes(source):
    assert len(pickle.loads(pickle.dumps(source)).below(5, 4)) == 4


# -- whole numbers ---------------------------------------------------------------------------------


def test_every_number_has_the_same_share_of_the_fair_words():
    every = np.arange(256, dtype=np.uint8)
    for limit in range(1, 256):
        found, fair = folded(every, np.full(256, limit, np.uint8))
        counts = Counter(found[fair].tolist())
        assert set(counts) == set(range(limit))
        assert len(set(counts.values())) == 1
        assert (~fair).sum() < min(limit, 128)


@pytest.mark.parametrize("limit", [3, 10, 2**62 + 1, 2**63 - 1])
def test_words_that_would_favour_small_numbers_are_drawn_again(limit):
    runs = 2**64 // limit
    source = scripted(words(5, runs * limit, runs * limit - 1), words(2**64 - 1), words(7))
    assert source.below(limit, 3).tolist() == [5 % limit, 7 % limit, limit - 1]


@pytest.mark.parametrize("limit", [1, 2, 2**32, 2**62])
def test_a_power_of_two_needs_no_second_draw(limit):
    assert scripted(words(0, 2**64 - 1)).below(limit, 2).tolist() == [0, limit - 1]


def test_every_limit_is_kept_to_and_reached():
    limits = np.tile(np.arange(1, 6), 500)
    found = Randomness.seeded(4).below_each(limits)
    assert {limit: set(found[limits == limit].tolist()) for limit in range(1, 6)} == {
        n: set(range(n)) for n in range(1, 6)
    }
    assert found.dtype == np.int64


def test_numbers_below_a_limit_are_uniform():
    found = Counter(Randomness.seeded(5).below(37, 300_000).tolist())
    assert fits(found, dict.fromkeys(range(37), 1 / 37), 300_000)


def test_blocks_do_not_show():
    size = 3 * module.BLOCK + 17
    found = Randomness.seeded(6).below(10**9, size)
    assert len(np.unique(found)) > 0.999 * size


@pytest.mark.parametrize("limit", [1, 2, 5, 130, 256])
def test_large_limits_are_exact_too(limit):
    """Python's integers, one at a time: all values of the bytes that one number takes."""
    size = -(-(limit - 1).bit_length() // 8)
    counts: Counter[int] = Counter()
    for value in range(256**size):
        parts = iter([value.to_bytes(size, "big")])
        try:
            counts[
                Randomness(lambda _, parts=parts: next(parts)).below_each(
                    np.array([limit], object)
                )[0]
            ] += 1
        except StopIteration:
            counts["again"] += 1
    again = counts.pop("again", 0)
    assert set(counts) == set(range(limit))
    assert len(set(counts.values())) == 1
    assert again < 128


def test_limits_beyond_64_bits_are_drawn_in_full():
    limit = 10**30
    found = Randomness.seeded(7).below(limit, 200)
    assert max(found) > limit * 9 // 10
    assert all(0 <= one < limit for one in found)


@pytest.mark.parametrize("limits", [[0], [3, -1], [0, 10**30]])
def test_nothing_is_below_zero(limits):
    with pytest.raises(ValueError, match="at least 1"):
        Randomness.system().below_each(module.numbers(limits))


def test_nothing_is_drawn_for_nobody():
    source = Randomness(lambda size: b"" if not size else pytest.fail("read"))
    assert [
        len(source.below(9, 0)),
        len(source.chances(np.zeros(0, np.int64))),
    ] == [0, 0]
    assert len(source.geometric(HALF, 0)) == 0


# -- coins -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keep", [0, 1, 37_800_000, 500_000_000, 123_456_789, KEEP_UNITS - 1, KEEP_UNITS]
)
def test_a_cell_is_kept_with_exactly_its_chance(keep):
    """All words of the first 16 bits; the one that ties leaves it to a
    chance that makes the whole exact.
    """
    size = 1 << module.TOSS
    digit, rest = divmod(keep * size, KEEP_UNITS)
    for last, tied in ((0, True), (size - 1, False)):
        more = (words(last, kind="<u2"),) if rest else ()
        found = scripted(words(*range(size), kind="<u2"), *more).chances(np.full(size, keep))
        below = digit + (1 if rest and tied else 0)
        assert found.tolist() == [word < below for word in range(size)]
    assert Fraction(digit, size) + Fraction(1, size) * Fraction(rest, KEEP_UNITS) == Fraction(
        keep, KEEP_UNITS
    )


def test_chances_of_many_cells():
    keeps = np.tile(np.array([0, KEEP_UNITS // 10, KEEP_UNITS * 9 // 10, KEEP_UNITS]), 200_000)
    found = Randomness.seeded(9).chances(keeps)
    assert [found[start::4].sum() for start in (0, 3)] == [0, 200_000]
    for start, share in ((1, 0.1), (2, 0.9)):
        assert abs(found[start::4].mean() - share) < 5 * sqrt(0.09 / 200_000)


def exact(chance: Chance) -> Decimal:
    """The chance from its definition, to hundreds of digits."""
    epsilon = chance.waiting.epsilon
    half = (
        (Decimal(epsilon.argument.numerator) / epsilon.argument.denominator).ln()
        if epsilon.argument
        else None
    )
    half = (half or Decimal(epsilon.value.numerator) / epsilon.value.denominator) / 2
    on = (-half).exp()
    if chance.waiting.threshold is not None:
        on = 1 - on**chance.waiting.threshold / (1 + on)
    on = on ** (2**chance.digit)
    return on if chance.of == "beyond" else on / (1 + on)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "epsilon", ["4.6", "0.001", "0.000001", "700", "ln(50)", "ln(3)", "ln(4)", "ln(1.01)", "1/3"]
)
def test_bounds_of_a_chance_are_right_and_close(epsilon):
    for threshold, digit, of, bits in itertools.product(
        (None, 1, 12, 500), (0, 1, 7, 20), ("digit", "beyond"), (16, 80, 400)
    ):
        chance = Chance(WaitingTime(Epsilon.read(epsilon), threshold), digit, of)
        low, high = chance.between(bits)
        with localcontext() as context:
            context.prec = 700
            assert low <= exact(chance) * 2**bits <= high
        assert 0 <= low <= high <= 2**bits
        assert high - low <= 2


@dataclass(frozen=True)
class Fixed(Chance):
    """A chance that is an exact fraction, known only up to some bits."""

    value_: Fraction = Fraction(1, 3)

    def between(self, bits: int) -> tuple[int, int]:
        scaled = self.value_ * 2**bits
        return max(int(scaled) - 1, 0), min(int(scaled) + 2, 2**bits)


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(1, 4), Fraction(0), Fraction(1), Fraction(1, 2**40)]
)
def test_a_coin_is_tossed_further_while_its_bits_do_not_decide(value):
    chance = Fixed(WaitingTime(HALF), 0, "digit", value)
    low, high = chance.between(16)
    for word in {0, low, high - 1, min(high, 2**16 - 1), 2**16 - 1}:
        for more in (0, 2**64 - 1):
            source = scripted(
                words(word, kind="<u2"),
                *[more.to_bytes(8, "big")] * (1 if low <= word < high else 0),
            )
            bits = Fraction(word, 2**16) + Fraction(
                more, 2**80
            )  # of the uniform number, as far as drawn
            longest = chance.between(80)
            if not (low <= word < high and longest[0] <= word << 64 | more < longest[1]):
                assert source.coins(chance, 1).tolist() == [bits < value]


def test_a_coin_that_stays_on_the_edge_is_tossed_again_and_again():
    edge = (2**64 - 1).to_bytes(8, "big")
    source = scripted(words(2**14 - 1, kind="<u2"), edge, edge, bytes(8))
    assert source.coins(Fixed(WaitingTime(HALF), 0, "digit", Fraction(1, 4)), 1).tolist() == [True]


# -- counts ----------------------------------------------------------------------------------------


class Again(Exception):
    """A path that is not followed further."""


@dataclass(frozen=True)
class Coins(Randomness):
    """Coins that come up as told, for noise that halves at each step, and how likely that was."""

    tosses: list[bool] = field(default_factory=list)
    chance: list[Fraction] = field(default_factory=list)

    def coins(self, chance: Chance, size: int):
        on = Fraction(1, 2) ** (2**chance.digit)
        likely = on if chance.of == "beyond" else on / (1 + on)
        found = []
        for _ in range(size):
            if len(self.chance) == len(self.tosses):
                raise Again
            up = self.tosses[len(self.chance)]
            self.chance.append(likely if up else 1 - likely)
            found.append(up)
        return np.array(found, bool)


def law(most: int, tosses: int) -> dict[int, Fraction]:
    """The law of a waiting time, over all outcomes of its coins."""
    found: Counter[int] = Counter()
    seen = set()
    for outcome in itertools.product((False, True), repeat=tosses):
        source = Coins(os.urandom, list(outcome))
        try:
            wait = int(source.waits(WaitingTime(HALF), 1, most)[0])
        except Again:
            continue
        path = outcome[: len(source.chance)]
        if path not in seen:
            seen.add(path)
            found[wait] += prod(source.chance)
    return dict(found)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 8, 9, 16])
def test_a_waiting_time_has_exactly_the_geometric_law(most):
    expected = {wait: Fraction(1, 2) ** (wait + 1) for wait in range(most)} | {
        most: Fraction(1, 2) ** most
    }
    assert law(most, 7) == expected


def test_a_waiting_time_goes_on_beyond_its_digits():
    digits = WaitingTime(HALF).digits(module.LARGEST)
    assert digits == 4
    found = law(module.LARGEST, digits + 3)
    assert found == {wait: Fraction(1, 2) ** (wait + 1) for wait in range(3 * 2**digits)}


@pytest.mark.parametrize(
    ("epsilon", "seed"),
    [("0.1", 1), ("1", 2), ("4.6", 3), ("ln(50)", 4), ("ln(1.5)", 5), ("30", 6)],
)
def test_noise_is_two_sided_geometric(epsilon, seed):
    draws = 200_000
    written = Epsilon.read(epsilon)
    r = float(Fraction(written.ratio[0])) ** -0.5
    far = (
        next(z for z in itertools.count(1) if draws * r**z / (1 + r) < 20)
        if draws * r / (1 + r) >= 20
        else 1
    )
    chances = {z: (1 - r) / (1 + r) * r ** abs(z) for z in range(1 - far, far)}
    chances |= {far: r**far / (1 + r), -far: r**far / (1 + r)}
    found = Counter(np.clip(Randomness.seeded(seed).geometric(written, draws), -far, far).tolist())
    if chances[far] * draws < 1:
        assert sum(count for z, count in found.items() if z) <= 3
    else:
        assert fits(found, chances, draws)


def test_noise_of_a_tiny_epsilon_is_as_wide_as_it_should_be():
    epsilon = Epsilon.read("0.0000001")
    found = Randomness.seeded(10).geometric(epsilon, 20_000)
    mean = 2 / float(epsilon)  # of |z|
    assert abs(np.abs(found).mean() - mean) < 5 * mean / sqrt(20_000)


def test_noise_never_overflows():
    epsilon = Epsilon.read("1e-300")
    found = Randomness.seeded(11).geometric(epsilon, 100)
    assert (np.abs(found) <= module.LARGEST).all()


@dataclass(frozen=True)
class Waits(Randomness):
    """WaitingTime times as told: enough of them to end beyond the last place."""

    gaps: tuple[int, ...] = ()

    def waits(self, waiting: WaitingTime, size: int, most: int = module.LARGEST):
        return np.array([*self.gaps, *[most] * (size - len(self.gaps))], np.int64)


def subsets(number: int) -> Iterator[tuple[int, ...]]:
    return itertools.chain.from_iterable(
        itertools.combinations(range(number), size) for size in range(number + 1)
    )


@pytest.mark.parametrize("number", range(6))
def test_gaps_between_the_places_that_reach_a_threshold(number):
    """Each set of places comes from exactly one sequence of gaps, of the right chance."""
    for places in subsets(number):
        gaps = tuple(
            place - before - 1 for before, place in zip((-1, *places), places, strict=False)
        )
        assert Waits(os.urandom, gaps).reached(HALF, 2, number).tolist() == list(places)


@pytest.mark.parametrize(("threshold", "number", "times"), [(1, 7, 10_000), (3, 9, 10_000)])
def test_every_place_reaches_the_threshold_on_its_own(threshold, number, times):
    source = Randomness.seeded(threshold)
    tau = 0.5**threshold / 1.5
    found = Counter(tuple(source.reached(HALF, threshold, number).tolist()) for _ in range(times))
    few = {
        one
        for one in subsets(number)
        if times * tau ** len(one) * (1 - tau) ** (number - len(one)) < 10
    }
    chances = {one: tau ** len(one) * (1 - tau) ** (number - len(one)) for one in subsets(number)}
    rest = sum(chances.pop(one) for one in few)
    if few:
        counted: Counter[object] = Counter(
            {one: count for one, count in found.items() if one not in few}
        )
        counted["rest"] = times - sum(counted.values())
        assert fits(counted, chances | {"rest": rest}, times)
    else:
        assert fits(found, chances, times)


def test_eight_million_places_with_a_few_that_reach():
    found = Randomness.seeded(12).reached(Epsilon.read(1), 24, 8_000_000)
    mean = 8_000_000 * np.exp(-12) / (1 + np.exp(-0.5))
    assert abs(len(found) - mean) < 5 * sqrt(mean)
    assert (np.diff(found) > 0).all()
    assert found[0] >= 0
    assert found[-1] < 8_000_000


def test_a_threshold_that_nothing_reaches():
    assert len(Randomness.seeded(13).reached(Epsilon.read(700), 10**9, 8_000_000)) == 0
