"""The synthetic people of a group have exactly the law that was proved private:
all random choices enumerated, against brute force.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import lgamma, prod, sqrt

import numpy as np
import pytest

from oracles import synthetic as oracle
from tacit.errors import DataError, ParameterError
from tacit.families.synthetic.cells import KEEP_UNITS, Domain
from tacit.families.synthetic.drawing import acceptance, urn
from tacit.families.synthetic.drawing import group_drawing as drawing
from tacit.families.synthetic.drawing.acceptance import Good
from tacit.families.synthetic.drawing.group_drawing import draw
from tacit.families.synthetic.drawing.randomness import LARGEST, Randomness, WaitingTime
from tacit.families.synthetic.occupied_cells import OccupiedCells
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.terms import Noise, Terms

HALF = Epsilon.read("ln(4)")  # noise falls by 1/2 a step
R = Fraction(1, 2)
FAR = 6  # noise from here on is one, in both directions


@dataclass(frozen=True)
class Script(Randomness):
    """Takes every random choice as told, then the first;
    keeps how many ways there were and the chance of the one taken.
    """

    told: tuple[int, ...] = ()
    taken: list[tuple[int, int]] = field(default_factory=list)
    chance: list[Fraction] = field(default_factory=list)

    def choose(self, chances: Iterable[Fraction]) -> int:
        ways = list(chances)
        step = len(self.taken)
        choice = self.told[step] if step < len(self.told) else 0
        self.taken.append((choice, len(ways)))
        self.chance.append(ways[choice])
        return choice

    def below_each(self, limits):
        found = [self.choose([Fraction(1, int(limit))] * int(limit)) for limit in limits]
        return np.array(found, limits.dtype)

    def chances(self, keeps):
        shares = [Fraction(int(keep), KEEP_UNITS) for keep in keeps]
        return np.array(
            [share == 1 or not self.choose([share, 1 - share]) for share in shares], bool
        )

    def geometric(self, epsilon, size):
        below = [1 - oracle.noise_at_least(1 - FAR, R)]
        inside = [oracle.noise(z, R) for z in range(1 - FAR, FAR)]
        ways = [*below, *inside, oracle.noise_at_least(FAR, R)]
        return np.array([self.choose(ways) - FAR for _ in range(size)], np.int64)

    def reached(self, epsilon, threshold, number):
        tau = oracle.noise_at_least(threshold, R)
        return np.array(
            [place for place in range(number) if self.choose([tau, 1 - tau]) == 0], np.int64
        )

    def waits(self, waiting: WaitingTime, size: int, most: int = LARGEST):
        ways = [R ** (wait + 1) for wait in range(FAR)] + [R**FAR]
        return np.array([self.choose(ways) for _ in range(size)], np.int64)


def law(run: Callable[[Randomness], Hashable]) -> dict[Hashable, Fraction]:
    """The exact law of something random: all ways its choices can go."""
    found: dict[Hashable, Fraction] = {}
    told: tuple[int, ...] | None = ()
    while told is not None:
        script = Script(os.urandom, told)
        try:
            output = run(script)
        except ParameterError:  # not accepted; the next try has the same law as the first
            pass
        else:
            found[output] = found.get(output, Fraction(0)) + prod(script.chance)
        taken = script.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        told = (*(choice for choice, _ in taken[:-1]), taken[-1][0] + 1) if taken else None
    return found


def held(table: tuple[int, ...]) -> OccupiedCells:
    return OccupiedCells.of([cell for cell, count in enumerate(table) for _ in range(count)])


def dense(drawn: OccupiedCells, size: int) -> tuple[int, ...]:
    assert (np.diff(drawn.places) > 0).all()
    assert (drawn.counts > 0).all()
    assert drawn.counts.dtype == drawn.places.dtype == np.int64
    return tuple(np.bincount(drawn.places, drawn.counts, size).astype(int).tolist())


@dataclass(frozen=True)
class Case:
    """A group, its prior and options."""

    table: tuple[int, ...]
    alpha: Fraction
    drawn: int
    weights: tuple[int, ...] | None = None
    keeps: tuple[Fraction, ...] | None = None
    accept: Fraction | None = None

    @property
    def alphas(self) -> list[Fraction]:
        return [self.alpha * weight for weight in self.weights or (1,) * len(self.table)]

    @property
    def paths(self) -> int:
        """How many ways the tickets can go."""
        total = self.alpha.denominator * sum(self.table) + self.alpha.numerator * sum(
            self.weights or (1,) * len(self.table)
        )
        return prod(total + self.alpha.denominator * step for step in range(self.drawn)) << (
            len(self.keeps or ())
        )

    def domain(self) -> Domain:
        return Domain(
            len(self.table),
            weights=None if self.weights is None else np.array(self.weights),
            keeps=None
            if self.keeps is None
            else np.array([int(keep * KEEP_UNITS) for keep in self.keeps]),
        )

    def law(self, patch: pytest.MonkeyPatch) -> dict[Hashable, Fraction]:
        """That of the sampler: accepted in the first try."""
        patch.setattr(drawing, "MOST_TRIES", 1)
        terms, noise = Terms(HALF, Fraction(0), accept=self.accept), Noise(alpha=self.alpha)
        domain, true = self.domain(), held(self.table)
        found = law(
            lambda script: dense(
                draw(true, domain, terms, noise, script, drawn=self.drawn).held, domain.size
            )
        )
        total = sum(found.values())
        assert self.accept is not None or total == 1
        return {output: chance / total for output, chance in found.items()}

    def expected(self) -> dict[tuple[int, ...], Fraction]:
        """That of the definition."""

        def mechanism(table):
            if self.keeps is None:
                return oracle.dirichlet(table, self.alphas, self.drawn)
            return oracle.shrunk(table, self.alphas, self.keeps, self.drawn)

        if self.accept is None:
            return dict(mechanism(self.table))
        return dict(oracle.accepted(mechanism, self.table, self.accept, self.alphas))


def cases(seed: int, number: int, **options: bool) -> list[Case]:
    """Random small cases with few enough ways to draw."""
    dice, found = random.Random(seed), []
    while len(found) < number:
        size = dice.randint(2, 4)
        table = tuple(dice.choice((0, 0, 1, 1, 2)) for _ in range(size))
        case = Case(
            table,
            Fraction(dice.randint(1, 4), dice.randint(1, 3)),
            dice.randint(1, 4),
            tuple(dice.randint(1, 3) for _ in table) if dice.random() < 0.5 else None,
            tuple(Fraction(dice.randint(1, 10), 10) for _ in table)
            if options.get("shrink")
            else None,
            Fraction(dice.randint(1, 6), dice.randint(1, 2)) if options.get("accept") else None,
        )
        if case.paths > 3000 or (case.keeps and not sum(table)):
            continue
        if case.accept is not None:
            try:
                case.expected()
            except ValueError:  # nothing is ever accepted
                continue
        found.append(case)
    return found


# -- the exact law ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases(1, 24), ids=str)
def test_the_urn_has_exactly_the_dirichlet_multinomial_law(case, monkeypatch):
    assert case.law(monkeypatch) == case.expected()


@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("case", cases(7, 4), ids=str)
def test_people_drawn_in_blocks_have_the_same_law(case, block, monkeypatch):
    monkeypatch.setattr(urn, "BLOCK", block)
    assert case.law(monkeypatch) == case.expected()


@pytest.mark.parametrize("case", cases(2, 16, shrink=True), ids=str)
def test_a_shrunk_domain_has_exactly_its_law(case, monkeypatch):
    assert case.law(monkeypatch) == case.expected()


@pytest.mark.parametrize("case", cases(3, 16, accept=True), ids=str)
def test_accepted_outputs_have_exactly_their_law(case, monkeypatch):
    assert case.law(monkeypatch) == case.expected()


@pytest.mark.parametrize("case", cases(4, 16, accept=True, shrink=True), ids=str)
def test_accepting_and_shrinking_together_have_exactly_their_law(case, monkeypatch):
    assert case.law(monkeypatch) == case.expected()


@pytest.mark.parametrize("case", cases(5, 6, accept=True), ids=str)
def test_tickets_beyond_64_bits_have_the_same_law(case, monkeypatch):
    monkeypatch.setattr(urn, "WORD", 1)
    monkeypatch.setattr(acceptance, "WORD", 1)
    assert case.law(monkeypatch) == case.expected()


def test_every_try_keeps_its_own_cells():
    """A kept set that is only good for a bad output must not be drawn from again."""
    seen = []

    class Watched(Randomness):
        def chances(self, keeps):
            seen.append(found := super().chances(keeps))
            return found

    case = Case((1, 0, 0, 0, 0, 0), Fraction(1), 4, keeps=(Fraction(1, 2),) * 6, accept=Fraction(1))
    terms, noise = Terms(HALF, Fraction(0), accept=case.accept), Noise(alpha=case.alpha)
    source = Watched(Randomness.seeded(3).read)
    result = draw(held(case.table), case.domain(), terms, noise, source, drawn=case.drawn)
    assert result.tries == len(seen) > 3
    assert len({tuple(one.tolist()) for one in seen}) > 1


@pytest.mark.sampled
@pytest.mark.parametrize("threshold", [1, 2, 3])
@pytest.mark.parametrize("table", [(1,), (2, 1), (0, 2, 1), (1, 0, 1), (0, 0, 0, 2)])
@pytest.mark.parametrize("everywhere", [False, True])
def test_the_geometric_histogram_has_exactly_its_law(table, threshold, everywhere):
    terms = Terms(HALF, Fraction(0), mechanism="geometric")
    noise = Noise(threshold=threshold, everywhere=everywhere)
    cap = max(sum(table), threshold)
    assert cap <= FAR

    def shown(script: Randomness) -> tuple[int | None, ...]:
        counts = dense(draw(held(table), Domain(len(table)), terms, noise, script).held, len(table))
        return tuple(min(count, cap) if count else None for count in counts)

    expected = oracle.geometric(table, R, threshold, everywhere=everywhere)
    assert law(shown) == {output: chance for output, chance in expected.items() if chance}


# -- gamma-Good ------------------------------------------------------------------------------------


def goods(seed: int, number: int) -> list[tuple[Case, tuple[int, ...]]]:
    dice, found = random.Random(seed), []
    for _ in range(number):
        size = dice.randint(1, 5)
        table, output = (
            tuple(dice.choice((0, 0, 1, 2, 3, 5)) for _ in range(size)) for _ in range(2)
        )
        weights = tuple(dice.randint(1, 3) for _ in table) if dice.random() < 0.5 else None
        alpha, gamma = (
            Fraction(dice.randint(1, 4), dice.randint(1, 4)),
            Fraction(dice.randint(1, 9), dice.randint(1, 4)),
        )
        found.append((Case(table, alpha, sum(output), weights, accept=gamma), output))
    return found


@pytest.mark.parametrize("word", [2**63, 1])
def test_good_is_what_the_definition_says(word, monkeypatch):
    monkeypatch.setattr(acceptance, "WORD", word)
    answers = Counter()
    for case, output in goods(6, 4000):
        good = Good(held(case.table), case.domain(), case.alpha, case.accept)
        expected = oracle.is_good(output, case.table, case.accept, case.alphas)
        assert good.accepts(held(output)) == expected, (case, output)
        answers[
            expected, oracle.is_representative(output, case.table, case.accept, case.alphas)
        ] += 1
    assert min(answers[key] for key in ((True, True), (True, False), (False, False))) > 100


def test_good_is_exact_where_products_are_beyond_64_bits():
    alpha, gamma = Fraction(10**25 + 1, 10**25), Fraction(2)
    true = OccupiedCells(np.array([0, 1, 2]), np.array([10**12] * 3))
    good = Good(true, Domain(3), alpha, gamma)
    most = (
        2 * 10**12
    )  # gamma (alpha + n - 1) is this and a little more; one person more gives room to one cell
    assert good.accepts(OccupiedCells(np.array([0, 1, 2]), np.array([most] * 3)))
    assert good.accepts(OccupiedCells(np.array([0, 1]), np.array([most + 2, most])))
    assert not good.accepts(OccupiedCells(np.array([0, 1]), np.array([most + 3, most])))
    assert not good.accepts(OccupiedCells(np.array([0, 1]), np.array([most + 1, most + 1])))


# -- larger groups, by counting --------------------------------------------------------------------


def beta_binomial(drawn: int, inside: float, outside: float) -> list[float]:
    def beta(a: float, b: float) -> float:
        return lgamma(a) + lgamma(b) - lgamma(a + b)

    ways = [
        lgamma(drawn + 1) - lgamma(count + 1) - lgamma(drawn - count + 1)
        for count in range(drawn + 1)
    ]
    logs = [
        way + beta(count + inside, drawn - count + outside) - beta(inside, outside)
        for count, way in enumerate(ways)
    ]
    return np.exp(logs).tolist()


def fits(counts: list[int], chances: list[float], *, least: float = 8) -> bool:
    """Pearson's chi-square with rare outcomes taken together: five standard deviations;
    seeds are fixed, so this never changes.
    """
    draws, bins, seen, share = len(counts), [], 0, 0.0
    found = Counter(counts)
    for outcome, chance in enumerate(chances):
        seen, share = seen + found[outcome], share + chance
        if draws * share >= least:
            bins.append((seen, share))
            seen, share = 0, 0.0
    bins[-1] = (bins[-1][0] + seen, bins[-1][1] + share)
    assert len(bins) > 3
    statistic = sum((seen - draws * share) ** 2 / (draws * share) for seen, share in bins)
    return statistic < len(bins) - 1 + 5 * sqrt(2 * (len(bins) - 1))


@pytest.mark.parametrize("weighted", [False, True])
def test_people_in_each_cell_of_a_larger_group(weighted):
    dice = random.Random(11)
    table = tuple(dice.choice((0, 0, 0, 1, 2, 9, 30)) for _ in range(40))
    weights = tuple(dice.randint(1, 9) for _ in table) if weighted else None
    case = Case(table, Fraction(3, 7), sum(table), weights)
    terms, noise, source = Terms(HALF, Fraction(0)), Noise(alpha=case.alpha), Randomness.seeded(12)
    domain, true = case.domain(), held(table)
    outputs = np.array(
        [dense(draw(true, domain, terms, noise, source).held, 40) for _ in range(3000)]
    )
    assert (outputs.sum(axis=1) == sum(table)).all()
    total = sum(table) + sum(case.alphas)
    for cell in (table.index(0), table.index(1), table.index(30)):
        inside = table[cell] + case.alphas[cell]
        assert fits(
            outputs[:, cell].tolist(),
            beta_binomial(sum(table), float(inside), float(total - inside)),
        )
    half = (
        outputs[:, :20].sum(axis=1).tolist()
    )  # a sum of cells has the law of one cell: they depend on each other as they should
    inside = sum(table[:20]) + sum(case.alphas[:20])
    assert fits(half, beta_binomial(sum(table), float(inside), float(total - inside)))


def test_empty_cells_are_kept_as_often_as_they_should():
    keeps = (Fraction(1, 10),) * 30 + (Fraction(9, 10),) * 30
    case = Case((5, *(0,) * 59), Fraction(50), 0, keeps=keeps)
    source, domain = Randomness.seeded(13), case.domain()
    times = 4000
    stays = np.zeros(60)
    for _ in range(times):
        stays[drawing.kept(held(case.table), domain.keeps, source)] += 1
    assert stays[0] == times
    assert (np.abs(stays[1:30] / times - 0.1) < 5 * sqrt(0.09 / times)).all()
    assert (np.abs(stays[30:] / times - 0.9) < 5 * sqrt(0.09 / times)).all()


def test_noise_everywhere_is_what_noise_on_every_cell_would_be():
    terms, noise = (
        Terms(Epsilon.read(1), Fraction(0), mechanism="geometric"),
        Noise(threshold=3, everywhere=True),
    )
    true = OccupiedCells(np.array([3, 4, 77]), np.array([1, 5, 2]))
    source, r, times = Randomness.seeded(14), float(np.exp(-0.5)), 3000
    drawn = [draw(true, Domain(100), terms, noise, source).held for _ in range(times)]
    outputs = np.array([dense(one, 100) for one in drawn])

    def chances(count: int) -> list[float]:
        shown = [(1 - r) / (1 + r) * r ** abs(value - count) for value in range(3, 40)]
        return [1 - sum(shown), 0, 0, *shown]

    for cell, count in ((0, 0), (3, 1), (4, 5), (77, 2), (99, 0)):
        assert fits(np.minimum(outputs[:, cell], 39).tolist(), chances(count))
    empty = np.delete(outputs, [3, 4, 77], axis=1)
    tau = r**3 / (1 + r)
    assert abs((empty > 0).mean() - tau) < 5 * sqrt(tau / empty.size)


# -- one group as it comes -------------------------------------------------------------------------


def test_a_million_people_over_eight_million_cells():
    true = OccupiedCells(np.arange(0, 8_000_000, 8000), np.full(1000, 1000))
    terms, noise = Terms(HALF, Fraction(0)), Noise(alpha=Fraction(1, 8))
    found = draw(true, Domain(8_000_000), terms, noise, Randomness.seeded(15)).held
    assert found.people == 1_000_000
    inside = found.counts[np.isin(found.places, true.places)].sum()
    assert abs(inside / 1_000_000 - 0.5) < 5 * sqrt(
        0.25 / 1_000_000 * 1.5
    )  # as many from the prior as from the people
    assert found.places[0] >= 0
    assert found.places[-1] < 8_000_000


def test_an_alpha_of_many_digits_is_taken_exactly():
    case = Case((3, 0), Fraction(10**30 + 7, 10**29), 3)
    terms, noise, source = Terms(HALF, Fraction(0)), Noise(alpha=case.alpha), Randomness.seeded(16)
    outputs = [
        dense(draw(held(case.table), case.domain(), terms, noise, source).held, 2)[0]
        for _ in range(3000)
    ]
    assert fits(outputs, beta_binomial(3, 13.0, 10.0))


def test_the_same_seed_gives_the_same_people_and_the_system_does_not():
    true = held((3, 0, 4, 0, 9, 0, 0, 0, 1))
    for terms, noise in (
        (Terms(HALF, Fraction(0)), Noise(alpha=Fraction(2))),
        (Terms(HALF, Fraction(0), mechanism="geometric"), Noise(threshold=1, everywhere=True)),
    ):

        def drawn(
            source: Randomness, terms: Terms = terms, noise: Noise = noise
        ) -> tuple[int, ...]:
            return dense(draw(true, Domain(9), terms, noise, source).held, 9)

        assert drawn(Randomness.seeded(17)) == drawn(Randomness.seeded(17))
        assert len({drawn(Randomness.seeded(seed)) for seed in range(20)}) > 10
        assert len({drawn(Randomness.system()) for _ in range(20)}) > 10


@pytest.mark.parametrize("noise", [Noise(alpha=Fraction(1)), Noise(threshold=10**6)])
def test_a_group_of_nobody_stays_empty(noise):
    terms = Terms(
        HALF,
        Fraction(0),
        mechanism="dirichlet" if noise.alpha else "geometric",
        accept=Fraction(4) if noise.alpha else None,
    )
    found = draw(
        OccupiedCells.of([]), Domain(5, keeps=np.full(5, 10**8)), terms, noise, Randomness.system()
    )
    assert found.held.people == 0
    assert found.tries == 1


def test_nothing_of_the_input_changes():
    case = Case((2, 0, 1), Fraction(1), 3, (1, 2, 3), (Fraction(1, 2),) * 3)
    true, domain = held(case.table), case.domain()
    draw(
        true,
        domain,
        Terms(HALF, Fraction(0), accept=Fraction(9)),
        Noise(alpha=case.alpha),
        Randomness.system(),
    )
    assert (true.places.tolist(), true.counts.tolist()) == ([0, 2], [2, 1])
    assert (domain.weights.tolist(), domain.keeps.tolist()) == ([1, 2, 3], [KEEP_UNITS // 2] * 3)


# -- what the user is told -------------------------------------------------------------------------


def test_an_accept_that_nothing_passes_says_what_to_write():
    terms = Terms(HALF, Fraction(0), accept=Fraction(1, 100))
    with pytest.raises(
        ParameterError,
        match=r"more than accept: 0\.01 times their share\. Write a larger accept.*accept: 0\.02",
    ) as told:
        draw(held((1, 1)), Domain(2), terms, Noise(alpha=Fraction(1)), Randomness.system())
    assert told.value.parameter == "accept"


def test_accept_has_no_meaning_for_the_geometric_mechanism():
    terms = Terms(HALF, Fraction(0), mechanism="geometric", accept=Fraction(4))
    with pytest.raises(ParameterError, match="mechanism: dirichlet"):
        draw(held((1, 1)), Domain(2), terms, Noise(threshold=2), Randomness.system())


def test_too_many_people_to_draw_one_by_one():
    true = OccupiedCells(np.array([1]), np.array([10**10]))
    with pytest.raises(DataError, match="10,000,000,000 people"):
        draw(
            true, Domain(2), Terms(HALF, Fraction(0)), Noise(alpha=Fraction(1)), Randomness.system()
        )


@pytest.mark.parametrize("noise", [Noise(), Noise(alpha=Fraction(0)), Noise(threshold=3)])
def test_the_dirichlet_mechanism_needs_noise(noise):
    with pytest.raises(ValueError, match="alpha above 0"):
        draw(held((1, 1)), Domain(2), Terms(HALF, Fraction(0)), noise, Randomness.system())


@pytest.mark.parametrize("noise", [Noise(), Noise(threshold=0, everywhere=True)])
def test_the_geometric_mechanism_publishes_no_negative_people(noise):
    with pytest.raises(ValueError, match="at least 1"):
        draw(
            held((1, 1)),
            Domain(2),
            Terms(HALF, Fraction(0), mechanism="geometric"),
            noise,
            Randomness.system(),
        )
