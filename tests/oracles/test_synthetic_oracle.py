"""The oracle of synthetic data against values worked out by hand, closed formulas, and where
chapter 4 is wrong.
"""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Sequence
from fractions import Fraction
from math import ceil, comb, exp, factorial, lgamma, prod
from pathlib import Path

import pytest

from oracles import synthetic
from oracles.synthetic import (
    Law,
    Laws,
    Mechanism,
    Table,
    accepted,
    coarsened,
    delta_dp,
    delta_dp_of_several,
    delta_pdp,
    delta_pdp_of_several,
    dirichlet,
    disclosed,
    disclosure_set,
    epsilon_pure,
    geometric,
    guesses,
    histograms,
    is_good,
    is_representative,
    laws_of,
    merged,
    neighbours,
    noise,
    noise_at_least,
    pairs,
    placed,
    processed,
    shrunk,
    together,
    unrepresentative,
)

HALF, THIRD, ONE = Fraction(1, 2), Fraction(1, 3), Fraction(1)

# -- Machanavajjhala's (2008) claims that fail, as data ------------------------------------------

# Theorem 4.2 (4.4.3): n = m = 1, and m > n:
# k, n, m, e^epsilon, alpha, the printed bound, the truth.
THEOREM_4_2 = (
    (2, 1, 1, Fraction(1000), Fraction(386, 10**6), 0.00401, ONE),
    (2, 1, 2, Fraction(200), Fraction(1, 1990), 0.02019, Fraction(1991, 1992)),
    (2, 2, 9, Fraction(10), Fraction(1, 90), 0.49512, ONE),
)
# Theorem 4.3 (4.5.1): n = m, k, alpha, e^epsilon = gamma + 1;
# delta of Algorithm 3, of it with accept/reject.
THEOREM_4_3 = (3, 2, HALF, Fraction(4), Fraction(7, 64), Fraction(11, 32))
# Theorem 4.5 (4.5.2, appendix A): n = m, k, alpha, f, e^epsilon;
# delta of Algorithm 3 on the whole domain, of Algorithm 5 and 3 at epsilon' (rounded).
THEOREM_4_5 = (
    (2, 3, Fraction(1, 4), Fraction(1, 10), Fraction(5), Fraction(19, 33), 0.63615),
    (2, 4, HALF, Fraction(1, 50), Fraction(3), Fraction(9, 20), 0.62096),
    (3, 6, ONE, Fraction(1, 10), Fraction(3), Fraction(1, 11), 0.10470),
)
# 4.4.2, "a dataset satisfies pdp if each partition does":
# n = m, k, alpha, e^epsilon of each of two groups, their delta.
PARTITIONS = (2, 2, HALF, Fraction(4), Fraction(5, 8))


def uniform(alpha: Fraction, k: int, m: int) -> Mechanism:
    return lambda table: dirichlet(table, (alpha,) * k, m)


def around(mechanism: Mechanism, table: Table) -> Laws:
    """The laws of a table and of its neighbours: all that its disclosure set needs."""
    return {one: mechanism(one) for one in (table, *neighbours(table))}


def some_alphas(rng: random.Random, k: int) -> list[Fraction]:
    return [Fraction(rng.randint(1, 12), rng.randint(1, 8)) for _ in range(k)]


# -- tables ----------------------------------------------------------------------------------------


def test_the_oracle_shares_no_code_with_tacit() -> None:
    tree = ast.parse(Path(synthetic.__file__).read_text("utf-8"))
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in names if name.startswith("tacit")]


@pytest.mark.parametrize(("n", "k"), [(0, 3), (1, 1), (3, 2), (4, 3), (2, 5)])
def test_histograms_are_all_ways_to_count_the_people(n: int, k: int) -> None:
    found = list(histograms(n, k))
    people = {
        tuple(row.count(cell) for cell in range(k)) for row in itertools.product(range(k), repeat=n)
    }
    assert len(found) == len(set(found)) == comb(n + k - 1, k - 1)
    assert set(found) == people


def test_neighbours_differ_in_the_value_of_one_person() -> None:
    """Against lists of people: one entry is another."""
    for people in itertools.product(range(3), repeat=4):
        changed = {(*people[:i], value, *people[i + 1 :]) for i in range(4) for value in range(3)}
        counted = {tuple(row.count(cell) for cell in range(3)) for row in changed}
        mine = tuple(people.count(cell) for cell in range(3))
        assert set(neighbours(mine)) == counted - {mine}


def test_in_several_groups_one_person_of_one_group_changes() -> None:
    assert neighbours(((1, 0), (0, 1))) == [((0, 1), (0, 1)), ((1, 0), (1, 0))]
    assert len(guesses(((1, 1), (2, 0)))) == 3


# -- mechanisms ------------------------------------------------------------------------------------


def rising(x: Fraction, times: int) -> Fraction:
    return prod((x + step for step in range(times)), start=ONE)


def test_two_draws_worked_out_by_hand() -> None:
    """Weights 3/2 and 1/2: first and second person in the first cell 3/4 * 5/6, one in each 3/4
    * 1/6 + 1/4 * 1/2.
    """
    assert dirichlet((1, 0), (HALF, HALF), 2) == {
        (2, 0): Fraction(5, 8),
        (1, 1): Fraction(1, 4),
        (0, 2): Fraction(1, 8),
    }


def test_the_urn_has_the_dirichlet_multinomial_law() -> None:
    rng = random.Random(41)
    for _ in range(60):
        k, n, m = rng.randint(1, 4), rng.randint(0, 4), rng.randint(0, 4)
        alphas = some_alphas(rng, k)
        table = rng.choice(list(histograms(n, k)))
        law = dirichlet(table, alphas, m)
        assert sum(law.values()) == 1
        assert set(law) == set(histograms(m, k))
        for output, chance in law.items():
            ways = Fraction(factorial(m), prod(factorial(one) for one in output))
            cells = zip(output, table, alphas, strict=True)
            up = prod((rising(count + alpha, drawn) for drawn, count, alpha in cells), start=ONE)
            assert chance == ways * up / rising(n + sum(alphas), m)


def test_shrinking_worked_out_by_hand() -> None:
    """The empty cell is dropped in 3 of 4 cases, and then everybody is in the other one."""
    kept = dirichlet((1, 0), (ONE, ONE), 1)
    law = shrunk((1, 0), (ONE, ONE), (HALF, Fraction(1, 4)), 1)
    assert law == {(1, 0): Fraction(3, 4) + kept[1, 0] / 4, (0, 1): kept[0, 1] / 4}


def test_shrinking_that_keeps_everything_changes_nothing() -> None:
    alphas = (ONE, HALF, THIRD)
    for table in histograms(2, 3):
        assert shrunk(table, alphas, (ONE,) * 3, 2) == dirichlet(table, alphas, 2)


def test_a_cell_that_was_dropped_never_appears() -> None:
    law = shrunk((2, 0), (ONE, ONE), (Fraction(0), Fraction(0)), 3)
    assert law == {(3, 0): 1}


def test_shrinking_as_drawn_cell_by_cell() -> None:
    """The ratio of appendix A: with a and b otherwise empty, P1/P2 = r_a phi_b / (r_b phi_a)
    given the other cells.
    """
    alpha, keep, n, m = HALF, Fraction(1, 5), 3, 2
    mechanism = lambda table: shrunk(table, (alpha,) * 3, (keep,) * 3, m)  # noqa: E731
    one, other = mechanism((1, 0, 2)), mechanism((0, 1, 2))
    mass = n + 2 * alpha  # those of the known cell and of the person's
    grown = rising(mass + alpha, m) / rising(mass, m)

    def phi(drawn: int) -> Fraction:
        return keep if drawn else keep + (1 - keep) * grown

    for output in histograms(m, 3):
        a, b = output[:2]
        assert one[output] / other[output] == (1 + a / alpha) * phi(b) / ((1 + b / alpha) * phi(a))


def test_good_outputs_worked_out_by_hand() -> None:
    """gamma = 3/2, alpha = 1: (2, 0) allows up to 3 and 3/2 people, (1, 1) up to 3/2 in each."""
    gamma, alphas = Fraction(3, 2), (ONE, ONE)
    outputs = list(histograms(2, 2))
    assert [one for one in outputs if is_representative(one, (2, 0), gamma, alphas)] == [
        (1, 1),
        (2, 0),
    ]
    assert [one for one in outputs if is_representative(one, (1, 1), gamma, alphas)] == [(1, 1)]
    assert [one for one in outputs if is_good(one, (2, 0), gamma, alphas)] == [(1, 1), (2, 0)]
    assert [one for one in outputs if is_good(one, (1, 1), gamma, alphas)] == outputs
    law = accepted(uniform(ONE, 2, 2), (2, 0), gamma, alphas)
    assert law == {(1, 1): Fraction(1, 3), (2, 0): Fraction(2, 3)}  # 6/20 and 12/20 of 18/20


def test_accepting_everything_changes_nothing_and_nothing_never_ends() -> None:
    mechanism = uniform(ONE, 3, 2)
    assert accepted(mechanism, (1, 1, 0), Fraction(100), (ONE,) * 3) == mechanism((1, 1, 0))
    with pytest.raises(ValueError, match="never end"):
        accepted(mechanism, (1, 1, 0), Fraction(1, 100), (ONE,) * 3)


def test_noise_adds_up() -> None:
    for q in (HALF, Fraction(2, 7)):
        assert noise_at_least(-3, q) == sum(noise(z, q) for z in range(-3, 6)) + noise_at_least(
            6, q
        )
        assert noise_at_least(4, q) == noise(4, q) / (1 - q)  # a geometric series
        assert noise_at_least(4, q) + noise_at_least(-3, q) == 1  # symmetric


def test_a_threshold_worked_out_by_hand() -> None:
    """q = 1/2: noise 0 has 1/3, +1 or more 1/3, so a person alone
    reaches 2 in one of three cases.
    """
    assert geometric((1, 0), HALF, 2) == {(2, None): THIRD, (None, None): 1 - THIRD}
    everywhere = geometric((1, 0), HALF, 2, everywhere=True)
    assert everywhere[2, 2] == THIRD * Fraction(1, 6)
    assert sum(everywhere.values()) == 1


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize(
    ("n", "k", "threshold"),
    [(1, 2, 1), (2, 2, 2), (3, 2, 1), (2, 3, 2), (2, 2, 4), (3, 2, 0), (2, 2, -1)],
)
def test_counts_above_the_cap_tell_nothing_more(
    n: int, k: int, threshold: int, everywhere: bool
) -> None:
    least = max(n, threshold)
    for q, ratio in itertools.product(
        (HALF, Fraction(2, 5)), (Fraction(3, 2), Fraction(3), Fraction(25, 4))
    ):
        lumped, finer = (
            laws_of(
                lambda table, q=q, cap=cap: geometric(
                    table, q, threshold, everywhere=everywhere, cap=cap
                ),
                n,
                k,
            )
            for cap in (least, least + 3)
        )
        assert delta_dp(lumped, ratio) == delta_dp(finer, ratio)
        assert delta_pdp(lumped, ratio) == delta_pdp(finer, ratio)
        assert epsilon_pure(lumped) == epsilon_pure(finer)


def test_a_cap_that_would_lose_something_is_refused() -> None:
    with pytest.raises(ValueError, match="cap 1"):
        geometric((1, 1), HALF, 1, cap=1)


# -- definitions -----------------------------------------------------------------------------------


def by_all_sets(laws: Laws, ratio: Fraction) -> Fraction:
    """Definition 4.4 without its asymptotics: the worst set of outputs, all sets tried."""
    worst = Fraction(0)
    for one, other in pairs(laws):
        outputs = sorted({*laws[one], *laws[other]})
        for size in range(len(outputs) + 1):
            for chosen in itertools.combinations(outputs, size):
                mine, theirs = (
                    sum(laws[table].get(output, 0) for output in chosen) for table in (one, other)
                )
                worst = max(worst, mine - ratio * theirs)
    return worst


def by_people(mechanism: Mechanism, n: int, k: int, ratio: Fraction) -> Fraction:
    """Definitions 4.5 and 4.6 over tables of rows with keys: lists of people instead of counts."""

    def law(people: Sequence[int]) -> Law:
        return mechanism(tuple(people.count(cell) for cell in range(k)))

    tables = list(itertools.product(range(k), repeat=n))
    laws = {people: law(people) for people in tables}

    def apart(one: Sequence[int], other: Sequence[int]) -> int:
        return sum(mine != theirs for mine, theirs in zip(one, other, strict=True))

    worst = Fraction(0)
    for table in tables:
        near = [one for one in tables if apart(one, table) <= 1]
        bad = {
            output
            for one in near
            for other in near
            if apart(one, other) == 1
            for output, chance in laws[one].items()
            if chance > ratio * laws[other].get(output, 0)
        }
        worst = max(
            worst,
            sum((laws[table][output] for output in bad if output in laws[table]), Fraction(0)),
        )
    return worst


def some_mechanism(rng: random.Random, k: int, m: int) -> Mechanism:
    alphas = some_alphas(rng, k)
    keeps = [Fraction(rng.randint(1, 10), 10) for _ in range(k)]
    gamma = Fraction(rng.randint(8, 20), 4)
    plain: Mechanism = lambda table: dirichlet(table, alphas, m)  # noqa: E731
    smaller: Mechanism = lambda table: shrunk(table, alphas, keeps, m)  # noqa: E731
    base = rng.choice((plain, smaller))
    if rng.random() < 0.5 and all(
        any(is_good(o, t, gamma, alphas) for o in histograms(m, k)) for t in histograms(m, k)
    ):
        return lambda table: accepted(base, table, gamma, alphas)
    return base


def test_delta_is_that_of_the_worst_set_of_outputs() -> None:
    rng = random.Random(42)
    for _ in range(15):
        laws = laws_of(some_mechanism(rng, 2, 3), 3, 2)
        ratio = Fraction(rng.randint(11, 60), 10)
        assert delta_dp(laws, ratio) == by_all_sets(laws, ratio)


def test_pdp_is_that_of_tables_with_keys() -> None:
    rng = random.Random(43)
    for _ in range(40):
        n, k = rng.choice(((1, 2), (2, 2), (3, 2), (2, 3), (3, 3)))
        mechanism = some_mechanism(rng, k, n)
        ratio = Fraction(rng.randint(11, 60), 10)
        laws = laws_of(mechanism, n, k)
        assert delta_pdp(laws, ratio) == by_people(mechanism, n, k, ratio)
        assert delta_pdp(laws, ratio) <= delta_pdp(laws, ratio, keyed=False)


def test_without_keys_algorithm_3_discloses_the_same() -> None:
    """The further pairs have one more person in the cell of the
    divisor, so that their ratio is smaller.
    """
    rng = random.Random(44)
    for _ in range(40):
        n, k, m = rng.randint(1, 4), rng.randint(2, 3), rng.randint(1, 4)
        alphas = some_alphas(rng, k)
        laws = laws_of(lambda table: dirichlet(table, alphas, m), n, k)  # noqa: B023
        ratio = Fraction(rng.randint(11, 60), 10)
        assert delta_pdp(laws, ratio) == delta_pdp(laws, ratio, keyed=False)


def test_pdp_implies_dp_and_pure_dp_ends_both() -> None:
    rng = random.Random(45)
    for _ in range(40):
        n, k = rng.randint(1, 3), rng.randint(2, 3)
        laws = laws_of(some_mechanism(rng, k, n), n, k)
        ratio = Fraction(rng.randint(11, 60), 10)
        assert delta_dp(laws, ratio) <= delta_pdp(laws, ratio)
        pure = epsilon_pure(laws)
        if pure is not None:
            assert delta_dp(laws, pure) == delta_pdp(laws, pure) == 0
            if pure > 1:
                less = 1 + (pure - 1) * Fraction(999, 1000)
                assert delta_dp(laws, less) > 0 and delta_pdp(laws, less) > 0


# -- what the chapter proves -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (3, 2), (2, 4), (4, 4)])
def test_theorem_4_1_is_the_exact_ratio(n: int, m: int, k: int) -> None:
    rng = random.Random(n + 10 * m + 100 * k)
    for _ in range(4):
        alphas = some_alphas(rng, k)
        laws = laws_of(lambda table: dirichlet(table, alphas, m), n, k)  # noqa: B023
        assert epsilon_pure(laws) == (m + min(alphas)) / min(alphas)


def test_equation_4_3_nothing_representative_is_disclosed() -> None:
    rng = random.Random(46)
    for _ in range(30):
        n, k, m = rng.randint(1, 4), rng.randint(2, 3), rng.randint(1, 4)
        alphas, gamma = some_alphas(rng, k), Fraction(rng.randint(5, 24), 4)
        laws = laws_of(lambda table: dirichlet(table, alphas, m), n, k)  # noqa: B023
        for table in laws:
            bad = disclosure_set(laws, table, gamma + 1)
            assert not [output for output in bad if is_representative(output, table, gamma, alphas)]


def test_lemma_4_2_accepting_what_is_representative_is_an_infinite_ratio() -> None:
    """(2, 0) accepts (2, 0) and (1, 1) may not: see the example by hand above."""
    gamma, alphas = Fraction(3, 2), (ONE, ONE)
    strict = laws_of(
        lambda table: accepted(uniform(ONE, 2, 2), table, gamma, alphas, is_representative), 2, 2
    )
    assert epsilon_pure(strict) is None
    assert strict[1, 1] == {(1, 1): 1}
    assert delta_pdp(strict, Fraction(10**9)) == Fraction(
        2, 3
    )  # of (2, 0): the output (2, 0), 12/20 of 18/20
    loose = laws_of(lambda table: accepted(uniform(ONE, 2, 2), table, gamma, alphas), 2, 2)
    assert (
        epsilon_pure(loose) is None
    )  # gamma-Good differs between neighbours too: pdp is all that is left


def test_lemma_4_3_accepting_what_is_good() -> None:
    rng = random.Random(47)
    met = 0
    for _ in range(80):
        n, k, m = rng.randint(1, 4), rng.randint(2, 3), rng.randint(1, 4)
        alphas, gamma = some_alphas(rng, k), Fraction(rng.randint(5, 24), 4)
        mechanism: Mechanism = lambda table: dirichlet(table, alphas, m)  # noqa: B023, E731
        p = unrepresentative(mechanism, n, gamma, alphas)
        if p < 1:
            laws = laws_of(lambda table: accepted(mechanism, table, gamma, alphas), n, k)  # noqa: B023
            assert delta_pdp(laws, (gamma + 1) / (1 - p)) <= p
            assert delta_pdp(laws, (gamma + 1) / (1 - p), keyed=False) <= p
            met += p > 0
    assert met > 20


def test_lemma_4_3_is_not_about_the_shrunk_domain() -> None:
    """Its proof needs a ratio of at most gamma + 1 for what is representative;
    dropping cells adds 1/f to that.
    """
    alphas, keeps, gamma = (ONE, ONE), (Fraction(1, 10),) * 2, Fraction(3)
    mechanism: Mechanism = lambda table: shrunk(table, alphas, keeps, 1)  # noqa: E731
    assert unrepresentative(mechanism, 1, gamma, alphas) == 0
    laws = laws_of(lambda table: accepted(mechanism, table, gamma, alphas), 1, 2)
    assert delta_pdp(laws, gamma + 1) == 1  # 29 to 1: (1, 0) gives (1, 0) with 9/10 + 1/10 * 2/3


def test_theorem_4_4_placing_inside_keeps_both_deltas() -> None:
    """The coarse counts can be read off the output, and the rest depends on them alone."""
    rng = random.Random(48)
    for blocks, density in (
        ((0, 0, 1), (THIRD, 1 - THIRD, ONE)),
        ((0, 1, 0, 1), (HALF, Fraction(1, 5), HALF, Fraction(4, 5))),
        ((0, 0, 1), (ONE, Fraction(0), ONE)),
    ):
        for n in (1, 2, 3):
            mechanism = some_mechanism(rng, 2, n)
            coarse = laws_of(mechanism, n, 2)
            fine = laws_of(
                lambda table: coarsened(mechanism, table, blocks, density),  # noqa: B023
                n,
                len(blocks),
            )
            for ratio in (Fraction(5, 4), Fraction(2), Fraction(7, 2)):
                assert delta_pdp(fine, ratio) == delta_pdp(coarse, ratio)
                assert delta_dp(fine, ratio) == delta_dp(coarse, ratio)
            assert epsilon_pure(fine) == epsilon_pure(coarse)
            for table, law in fine.items():
                assert (
                    processed(law, lambda output: merged(output, blocks))  # noqa: B023
                    == coarse[merged(table, blocks)]
                )


def test_placing_worked_out_by_hand() -> None:
    assert placed((2, 1), (0, 0, 1), (THIRD, 1 - THIRD, ONE)) == {
        (2, 0, 1): Fraction(1, 9),
        (1, 1, 1): Fraction(4, 9),
        (0, 2, 1): Fraction(4, 9),
    }
    with pytest.raises(ValueError, match="block 0"):
        placed((1, 0), (0, 0, 1), (HALF, THIRD, ONE))


@pytest.mark.parametrize("q", [HALF, THIRD, Fraction(4, 5)])
@pytest.mark.parametrize("threshold", [1, 2, 3, 4])
def test_the_threshold_decides_delta(q: Fraction, threshold: int) -> None:
    """tau = P(1 + Z >= T): delta is tau where e^s (1 - tau) >= 1;
    pdp loses everybody who is alone in a cell.
    """
    tau, ratio = noise_at_least(threshold - 1, q), q**-2
    for n, k in ((1, 2), (2, 2), (2, 3), (3, 3)):
        laws = laws_of(lambda table: geometric(table, q, threshold), n, k)
        assert epsilon_pure(laws) is None
        if (1 - tau) / q >= 1:
            assert delta_dp(laws, ratio) == tau
            assert delta_pdp(laws, ratio) == 1 - (1 - tau) ** min(n, k)


@pytest.mark.parametrize("threshold", [-2, 0, 1, 3])
def test_noise_everywhere_is_pure(threshold: int) -> None:
    for q, (n, k) in itertools.product((HALF, Fraction(4, 5)), ((1, 2), (2, 3), (3, 2))):
        laws = laws_of(lambda table: geometric(table, q, threshold, everywhere=True), n, k)  # noqa: B023
        pure = epsilon_pure(laws)
        assert pure is not None and pure <= q**-2
        assert threshold > 1 or pure == q**-2
        assert delta_dp(laws, q**-2) == delta_pdp(laws, q**-2) == 0


# -- what the chapter claims and is not so ---------------------------------------------------------


def reference_0_sample(n: int, m: int, first: float, second: float, c: float) -> float:
    """Definition 4.7, with the Gamma function at real numbers."""
    found = 0.0
    for x in range(n + 1):
        f = c * (first + max(x - 1, 0))
        if f < m:
            found = max(
                found,
                exp(
                    lgamma(m + 1)
                    - lgamma(f + 1)
                    - lgamma(m - f + 1)
                    + lgamma(n + first + second)
                    - lgamma(x + first)
                    - lgamma(n - x + second)
                    - lgamma(m + n + first + second)
                    + lgamma(x + f + first)
                    + lgamma(n - x + m - f + second)
                ),
            )
    return found


@pytest.mark.parametrize(("k", "n", "m", "ratio", "alpha", "printed", "truth"), THEOREM_4_2)
def test_theorem_4_2_fails(
    k: int, n: int, m: int, ratio: Fraction, alpha: Fraction, printed: float, truth: Fraction
) -> None:
    sample = reference_0_sample(n, m, float(alpha), float(alpha * (k - 1)), float(ratio - 1))
    assert sample * float(2 * k * ratio / (ratio - 2)) == pytest.approx(printed, abs=1e-5)
    assert delta_pdp(laws_of(uniform(alpha, k, m), n, k), ratio) == truth


def test_theorem_4_3_fails() -> None:
    n, k, alpha, ratio, plain, again = THEOREM_4_3
    mechanism, alphas = uniform(alpha, k, n), (alpha,) * k
    assert delta_pdp(laws_of(mechanism, n, k), ratio) == plain
    laws = laws_of(lambda table: accepted(mechanism, table, ratio - 1, alphas), n, k)
    assert delta_pdp(laws, ratio / (1 - plain)) == again > plain
    assert unrepresentative(mechanism, n, ratio - 1, alphas) == again  # what Lemma 4.3 asks for


@pytest.mark.parametrize(("n", "k", "alpha", "keep", "ratio", "whole", "smaller"), THEOREM_4_5)
def test_theorem_4_5_fails(
    n: int,
    k: int,
    alpha: Fraction,
    keep: Fraction,
    ratio: Fraction,
    whole: Fraction,
    smaller: float,
) -> None:
    """Cells are alike here, so tables with their counts in descending order stand for all."""
    later = ratio / keep * 2 ** ceil(alpha)  # e^epsilon'
    tables = [table for table in histograms(n, k) if list(table) == sorted(table, reverse=True)]
    mechanism = uniform(alpha, k, n)
    assert max(disclosed(around(mechanism, table), table, ratio) for table in tables) == whole
    shrinking: Mechanism = lambda table: shrunk(table, (alpha,) * k, (keep,) * k, n)  # noqa: E731
    found = max(disclosed(around(shrinking, table), table, later) for table in tables)
    assert found > whole
    assert float(found) == pytest.approx(smaller, abs=1e-5)


def test_partitions_that_satisfy_pdp_do_not_make_a_data_set_that_does() -> None:
    n, k, alpha, ratio, delta = PARTITIONS
    group = laws_of(uniform(alpha, k, n), n, k)
    assert delta_pdp(group, ratio) == delta
    assert delta_pdp_of_several([group, group], ratio) == 1 - (1 - delta) ** 2 > delta
    assert delta_dp_of_several([group, group], ratio) == delta_dp(group, ratio)


def test_groups_together_keep_dp_and_add_up_in_pdp() -> None:
    rng = random.Random(49)
    for _ in range(12):
        sizes = [(rng.randint(1, 2), 2) for _ in range(rng.choice((2, 2, 3)))]
        groups = [laws_of(some_mechanism(rng, k, n), n, k) for n, k in sizes]
        ratio = Fraction(rng.randint(11, 60), 10)
        assert all(sum(law.values()) == 1 for law in together(groups).values())
        assert delta_dp_of_several(groups, ratio) == max(delta_dp(one, ratio) for one in groups)
        safe = prod(1 - delta_pdp(one, ratio) for one in groups)
        assert delta_pdp_of_several(groups, ratio) == 1 - safe


def test_pdp_does_not_survive_showing_less_of_the_output() -> None:
    """Whether most synthetic people are in the first cell:
    an output that was safe shares the fate of one that was not.
    """
    laws = laws_of(uniform(HALF, 2, 3), 3, 2)
    less = {table: processed(law, lambda output: output[0] >= 2) for table, law in laws.items()}
    assert delta_pdp(laws, Fraction(4)) == Fraction(7, 64)
    assert delta_pdp(less, Fraction(4)) == Fraction(11, 32)
    assert delta_dp(less, Fraction(4)) <= delta_dp(laws, Fraction(4))
