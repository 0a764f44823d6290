"""Tables are drawn uniformly, and what is certified from them is as true as it claims to be.

Tables are compared with all that fit, which the oracle lists. Random tests have fixed seeds.
Where one of many comparisons is judged by a test of significance, the level is one in a million.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest

from oracles import overlap as oracle
from tacit.errors import ParameterError
from tacit.families.overlaps.counting import entropy
from tacit.families.overlaps.counting.entropy import fitted
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.overlap import Overlap, merged, overlap_of
from tacit.families.overlaps.sampling import (
    bets,
    column_states,
    column_sums,
    rejection,
    tilts,
    walks,
)
from tacit.families.overlaps.sampling.bets import Bets, SampleCounts, no_counts, upper_bounds
from tacit.families.overlaps.sampling.certificates import (
    A_LITTLE,
    ROUNDING,
    draws_for,
    forecast,
    statistical,
)
from tacit.families.overlaps.sampling.column_states import CannotSample, columns_of, lattice_of
from tacit.families.overlaps.sampling.rejection import (
    Joined,
    LayerSampler,
    Sampler,
    Stepwise,
    sampler_of,
)
from tacit.families.overlaps.sampling.tilts import is_simple
from tacit.families.overlaps.sampling.walks import points_of
from tacit.families.overlaps.system import NoTable, OpenPart, System, system_of
from tacit.model.deadline import until
from tacit.model.jobs import Cancelled, Job

LEVEL = 1e-6
HALF = Fraction(1, 2)


# -- small systems and all their tables -----------------------------------------------------------


def random_overlap(rng: np.random.Generator, *, by_value: bool) -> Overlap:
    """A few people in a few views that show the private value, or in views of any kind."""
    people, views, values = (
        int(rng.integers(4, 9)),
        int(rng.integers(2, 5)),
        int(rng.integers(2, 5)),
    )
    truth = rng.integers(0, values, people)
    inside = rng.random((people, views)) < 0.6
    if by_value:
        answers = [truth[inside[:, view]].tolist() for view in range(views)]
        return merged(
            overlap_of(range(values), answers, [np.flatnonzero(one).tolist() for one in inside])
        )
    outputs = np.zeros((people, views, values), dtype=np.int64)
    number = 1
    for view in range(views):
        shows = rng.integers(0, 3, values)  # values that look alike; the first kind is left out
        for person in np.flatnonzero(inside[:, view]):
            outputs[person, view] = np.where(shows > 0, number + shows - 1, 0)
        number += 2
    shown = np.zeros(number, dtype=np.int64)
    for person in range(people):
        for view in range(views):
            shown[outputs[person, view, truth[person]]] += 1
    shown[0] = 0
    names = tuple(f"view {view}" for view in range(views))
    return merged(
        Overlap(tuple(range(values)), names, outputs, np.ones(people, dtype=np.int64), shown)
    )


def listed(overlap: Overlap) -> Counter[tuple[int, ...]]:
    """All solutions (people by class and value) with the number of tables that each stands for."""
    persons = np.repeat(np.arange(len(overlap.sizes)), overlap.sizes)
    outputs = [
        [
            [row or None for row in overlap.outputs[class_, :, value].tolist()]
            for value in range(len(overlap.values))
        ]
        for class_ in persons
    ]
    views = len(overlap.views)
    rows = [sorted(set(overlap.outputs[:, view].ravel().tolist()) - {0}) for view in range(views)]
    given = [{row: int(overlap.shown[row]) for row in some} for some in rows]
    found: Counter[tuple[int, ...]] = Counter()
    for places in oracle.fitting(outputs, given):
        cells = np.zeros((len(overlap.sizes), len(overlap.values)), dtype=np.int64)
        np.add.at(cells, (persons, np.array(places)), 1)
        found[tuple(cells.ravel().tolist())] += 1
    return found


def of_part(solutions: Counter[tuple[int, ...]], part: OpenPart) -> Counter[tuple[int, ...]]:
    """The solutions of one part; the other parts multiply all alike."""
    found: Counter[tuple[int, ...]] = Counter()
    for cells, many in solutions.items():
        found[tuple(cells[place] for place in part.place.tolist())] += many
    return found


def small_parts(
    count: int, seed: int, *, by_value: bool, columns_: int = 2
) -> list[tuple[System, OpenPart, Counter]]:
    """Parts with at least three solutions."""
    rng = np.random.default_rng(seed)
    found: list[tuple[System, OpenPart, Counter]] = []
    while len(found) < count:
        overlap = random_overlap(rng, by_value=by_value)
        system = system_of(overlap)
        for part in system.parts:
            solutions = of_part(listed(overlap), part)
            if len(solutions) >= 3 and len(columns_of(part)) >= columns_:
                found.append((system, part, solutions))
    return found[:count]


def shares(system: System, solutions: Counter[tuple[int, ...]]) -> list[Fraction]:
    """The belief in every cell, from all solutions."""
    tables = sum(solutions.values())
    sums = [
        sum(cells[at] * many for cells, many in solutions.items()) for at in range(len(system.low))
    ]
    sizes = np.repeat(system.overlap.sizes, len(system.overlap.values)).tolist()
    return [Fraction(one, tables * size) for one, size in zip(sums, sizes, strict=True)]


def significance(tables: np.ndarray, solutions: Counter[tuple[int, ...]]) -> float:
    """The p-value of the chi-square test that solutions were drawn with
    their numbers of tables as weights.
    """
    seen = Counter(map(tuple, tables.tolist()))
    assert set(seen) <= set(solutions), "a table that does not fit was drawn"
    total = sum(solutions.values())
    statistic, kinds, rest = 0.0, 0, [0.0, 0]
    for one, many in solutions.items():
        likely = len(tables) * many / total
        if likely < 5:
            rest = [rest[0] + likely, rest[1] + seen[one]]
        else:
            statistic += (seen[one] - likely) ** 2 / likely
            kinds += 1
    if rest[0] >= 5:
        statistic += (rest[1] - rest[0]) ** 2 / rest[0]
        kinds += 1
    return chi_square_tail(statistic, kinds - 1) if kinds > 1 else 1.0


def chi_square_tail(statistic: float, freedom: int) -> float:
    """The probability that chi-square is larger (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2)) / 2


def binomial_tail(events: int, trials: int, chance: float) -> float:
    """The probability of at least so many events."""
    return sum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k)
        for k in range(events, trials + 1)
    )


def laws_of(part: OpenPart) -> tuple[walks.PointLaw, ...]:
    return tilts.tilted(part, columns_of(part))


# -- columns --------------------------------------------------------------------------------------


def test_the_points_of_a_column_are_all_that_its_rows_allow() -> None:
    for by_value in (True, False):
        for _, part, _ in small_parts(40, 1, by_value=by_value):
            for column in columns_of(part):
                box = [
                    range(low, high + 1)
                    for low, high in zip(column.low.tolist(), column.high.tolist(), strict=True)
                ]
                if math.prod(map(len, box)) > 20_000:
                    continue
                grid = np.stack(np.meshgrid(*box, indexing="ij"), axis=-1).reshape(-1, len(box))
                for cells, total in column.rows:
                    grid = grid[grid[:, cells].sum(axis=1) == total]
                lattice = lattice_of(column)
                points = points_of(lattice)
                assert sorted(map(tuple, points.tolist())) == sorted(map(tuple, grid.tolist()))
                assert lattice.points == len(grid)


def test_a_law_knows_its_averages_and_its_largest_weight() -> None:
    rng = np.random.default_rng(2)
    for _, part, _ in small_parts(20, 2, by_value=True):
        for column in columns_of(part):
            law = walks.PointLaw(lattice_of(column), rng.random(len(column.cells)) * 2 + 0.1)
            points = points_of(law.lattice)
            weights = np.prod(law.means**points, axis=1) / np.prod(
                [[math.factorial(x) for x in one] for one in points.tolist()], axis=1
            )
            assert np.allclose(
                law.weights(points) / law.weights(points).sum(), weights / weights.sum(), rtol=1e-12
            )
            assert np.allclose(law.averages, weights @ points / weights.sum(), rtol=1e-12)
            assert math.isclose(law.largest, law.weights(points).max(), rel_tol=1e-12)
            assert math.isclose(law.peak, weights.max() / weights.sum(), rel_tol=1e-12)


def test_a_walk_draws_from_its_law() -> None:
    rng = np.random.default_rng(3)
    for _, part, _ in small_parts(15, 3, by_value=True):
        for column in columns_of(part):
            law = walks.PointLaw(lattice_of(column), rng.random(len(column.cells)) + 0.3)
            weights = law.weights(points_of(law.lattice))
            whole = Counter(
                {
                    tuple(one): round(2**40 * weight)
                    for one, weight in zip(
                        points_of(law.lattice).tolist(), weights.tolist(), strict=True
                    )
                }
            )
            for most in (1, 4, 1 << 17):
                walk = walks.ColumnWalk(law, most)
                assert significance(walk.people(walk.draw(rng, 5000)), whole) > LEVEL


def test_too_many_states_are_declined() -> None:
    [column, *_] = columns_of(hard_system(5, 3).parts[0])
    with pytest.raises(CannotSample, match="too many states"):
        lattice_of(column, most=[10])


# -- tables are uniform ---------------------------------------------------------------------------


@pytest.mark.parametrize("by_value", [True, False], ids=["views of the value", "views of any kind"])
def test_tables_are_uniform(by_value: bool) -> None:
    for system, part, solutions in small_parts(60, 4, by_value=by_value, columns_=1):
        sampler = sampler_of(part, np.random.default_rng(5))
        tables = np.concatenate(list(sampler.draw(4000)))
        assert significance(tables, solutions) > LEVEL
        assert sampler.error < 1e-6
        assert (system.low[part.place] <= tables.min(axis=0)).all()


def test_tables_are_uniform_when_most_proposals_are_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rejection, "MOST_PAIRS", 0)
    monkeypatch.setattr(rejection, "FEW_PAIRS", 0)
    rejected = 0
    for _, part, solutions in small_parts(40, 6, by_value=True, columns_=3):
        proposals = rejection.joined(part, laws_of(part))
        assert not proposals.is_certain
        sampler = Sampler(proposals, np.random.default_rng(7))
        assert significance(np.concatenate(list(sampler.draw(4000))), solutions) > LEVEL
        rejected += sampler.found < 0.8 * sampler.proposed
    assert rejected > 20


@pytest.mark.parametrize("rounds", [0, 1, 24])
def test_tables_are_uniform_when_columns_are_joined(
    monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    monkeypatch.setattr(column_sums, "ROUNDS", rounds)
    monkeypatch.setattr(rejection, "USUAL", 10**9)  # as if joining were free
    for box in (1, column_sums.MOST_BOX):
        monkeypatch.setattr(column_sums, "MOST_BOX", box)
        for _, part, solutions in small_parts(15, 8, by_value=True, columns_=3):
            proposals = rejection.joined(part, laws_of(part))
            assert len(proposals.last.columns) > 1
            sampler = Sampler(proposals, np.random.default_rng(9))
            assert significance(np.concatenate(list(sampler.draw(4000))), solutions) > LEVEL


@pytest.mark.parametrize("begun", [1, 1 << 17])
def test_tables_are_uniform_cell_by_cell(monkeypatch: pytest.MonkeyPatch, begun: int) -> None:
    monkeypatch.setattr(walks.ColumnWalk.__init__, "__defaults__", (begun,))
    for by_value in (True, False):
        parts = small_parts(20, 10, by_value=by_value)
        able = [
            one for one in parts if any(is_simple(one[1], column) for column in columns_of(one[1]))
        ]
        assert len(able) > 10
        for _, part, solutions in able:
            sampler = Sampler(Stepwise(part, laws_of(part)), np.random.default_rng(11))
            assert significance(np.concatenate(list(sampler.draw(4000))), solutions) > LEVEL


def test_tables_are_uniform_where_digits_take_several_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tacit.families.overlaps.counting.digits.WORD", 5)
    for _, part, solutions in small_parts(20, 12, by_value=True, columns_=3):
        proposals = Stepwise(part, laws_of(part))
        assert proposals.digits.words > 1 or len(part.classes) <= 2
        sampler = Sampler(proposals, np.random.default_rng(13))
        assert significance(np.concatenate(list(sampler.draw(4000))), solutions) > LEVEL


def test_tables_from_the_layers_of_the_count_are_uniform() -> None:
    for _, part, solutions in small_parts(10, 14, by_value=False, columns_=1):
        sampler = Sampler(LayerSampler(part), np.random.default_rng(15))
        assert significance(np.concatenate(list(sampler.draw(1000))), solutions) > LEVEL


def test_the_tilt_does_not_matter() -> None:
    rng = np.random.default_rng(16)
    for _, part, solutions in small_parts(15, 17, by_value=True, columns_=3):
        tilt = np.exp(rng.normal(0, 0.7, len(part.classes)))[part.class_of]
        laws = [
            walks.PointLaw(lattice_of(column), tilt[column.cells]) for column in columns_of(part)
        ]
        for proposals in (rejection.joined(part, laws), Stepwise(part, laws)):
            tables = np.concatenate(list(Sampler(proposals, rng).draw(4000)))
            assert significance(tables, solutions) > LEVEL


def test_a_class_of_which_no_view_tells_is_drawn_uniformly() -> None:
    overlap = merged(overlap_of("xyz", ["xy"], [[0], [0], [], [], []]))
    [part] = [one for one in system_of(overlap).parts if not one.rows]
    tables = np.concatenate(list(sampler_of(part, np.random.default_rng(28)).draw(4000)))
    solutions = Counter(
        {
            (a, b, 3 - a - b): 6 // math.prod(map(math.factorial, (a, b, 3 - a - b)))
            for a in range(4)
            for b in range(4 - a)
        }
    )
    assert significance(tables, solutions) > LEVEL


def test_swaps_do_not_connect_these_tables_but_they_are_drawn_uniformly() -> None:
    """7 people in a grid of 2 by 3 views:
    3 tables, of two solutions that no swaps of two values connect.
    """
    members = [[0, 2], [0, 3], [0, 4], [1, 2], [1, 2], [1, 3], [1, 4]]
    system = system_of(merged(overlap_of("012", ["012", "0122", "122", "01", "02"], members)))
    [part] = system.parts
    for proposals in (rejection.joined(part, laws_of(part)), Stepwise(part, laws_of(part))):
        tables = np.concatenate(list(Sampler(proposals, np.random.default_rng(18)).draw(6000)))
        seen = sorted(Counter(map(tuple, tables.tolist())).values())
        assert len(seen) == 2
        assert abs(seen[0] / sum(seen) - 1 / 3) < 0.04
    found = statistical(
        system, [None], gamma=Fraction(2, 3), epsilon=Fraction(1, 50), theta=Fraction(95, 100)
    )
    assert found.status == "holds"
    assert (
        statistical(
            system, [None], gamma=Fraction(3, 5), epsilon=Fraction(1, 50), theta=Fraction(95, 100)
        ).status
        == "breached"
    )


def test_the_same_seed_draws_the_same_tables() -> None:
    [part] = hard_system(5, 3).parts
    first, second, other = (
        np.concatenate(list(sampler_of(part, np.random.default_rng(seed)).draw(500)))
        for seed in (1, 1, 2)
    )
    assert (first == second).all()
    assert first.shape != other.shape or (first != other).any()


def test_a_part_without_a_table_is_found_out_or_declined() -> None:
    """Sums that no whole numbers satisfy: three people, each two of whom have one x together."""
    views = merged(overlap_of("xy", ["xy", "xy", "xy"], [[0, 1], [1, 2], [0, 2]]))
    [part] = system_of(views).parts
    with pytest.raises((NoTable, CannotSample)):
        sampler_of(part, np.random.default_rng(1))


# -- certified bounds -----------------------------------------------------------------------------


def test_hoeffding_takes_as_many_tables_as_it_must() -> None:
    getcontext().prec = 60
    for cells, epsilon, risk in (
        (1, "1/10", "1/2"),
        (150, "1/50", "1/20"),
        (10**6, "1/1000", "1/10000"),
    ):
        off, chance = Fraction(epsilon), Fraction(risk)
        exact = (
            (Decimal(2 * cells * chance.denominator) / chance.numerator).ln()
            / 2
            * (off.denominator**2)
            / (off.numerator**2)
        )
        assert exact <= draws_for(cells, off, chance) <= exact + Decimal("1.000001")


def counts_of(drawn: np.ndarray, size: int) -> SampleCounts:
    """One cell of a class of so many, seen in some tables."""
    return no_counts(np.array([0]), np.array([size]), np.array([size])).with_tables(drawn[:, None])


@pytest.mark.parametrize(("size", "chance"), [(1, 0.5), (1, 0.03), (5, 0.3), (20, 0.5)])
def test_bets_are_seldom_won_against_the_truth_however_often_one_looks(
    size: int, chance: float
) -> None:
    risk, runs, wins = 0.2, 200, [0, 0]
    rng = np.random.default_rng(20)
    looks = sorted({round(3 * 1.15**k) for k in range(40)})
    for _ in range(runs):
        drawn = rng.binomial(size, chance, looks[-1])
        whole = counts_of(drawn[:0], size)
        both = Bets(whole, Fraction(chance)), Bets(whole.turned(), 1 - Fraction(chance), below=True)
        won = [False, False]
        for before, now in zip([0, *looks], looks, strict=False):
            whole = whole.with_tables(drawn[before:now, None])
            won[0] |= bool(both[0].refuted(whole, math.log(1 / risk))[0])
            won[1] |= bool(both[1].refuted(whole.turned(), math.log(1 / risk))[0])
        wins = [wins[0] + won[0], wins[1] + won[1]]
    for one in wins:
        assert binomial_tail(one, runs, risk) > LEVEL
    assert sum(wins) > 0


def test_bounds_close_in_on_the_truth() -> None:
    rng = np.random.default_rng(21)
    for size, chance in ((1, 0.5), (1, 0.0), (1, 1.0), (10, 0.2)):
        counts = counts_of(rng.binomial(size, chance, 5000), size)
        [upper] = upper_bounds(counts, math.log(20))
        lower = 1 - upper_bounds(counts.turned(), math.log(20))[0]
        assert lower <= chance <= upper
        assert upper - lower < (0.08 if size == 1 else 0.03)
    assert upper_bounds(counts_of(np.ones(5000, dtype=np.int64), 1), 3.0) == [1]
    assert upper_bounds(counts_of(np.zeros(0, dtype=np.int64), 3), 3.0) == [1]


def test_bounds_and_bets_agree() -> None:
    rng = np.random.default_rng(22)
    for _ in range(60):
        size, needed = int(rng.integers(1, 8)), float(rng.uniform(1, 9))
        counts = counts_of(rng.binomial(size, rng.random(), int(rng.integers(1, 300))), size)
        [upper] = upper_bounds(counts, needed)
        step = Fraction(1, 1 << bets.FINEST)
        assert upper == 1 or Bets(counts, upper).refuted(counts, needed - 1e-4)[0]
        assert not Bets(counts, upper - 2 * step).refuted(counts, needed + 1e-4)[0]


def random_questions(count: int, seed: int) -> list[tuple[System, list[Fraction], Fraction]]:
    """Small systems with the beliefs in all cells, and a gamma near the largest that is not
    settled, and below 1.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[System, list[Fraction], Fraction]] = []
    while len(found) < count:
        overlap = random_overlap(rng, by_value=bool(rng.random() < 0.8))
        system = system_of(overlap)
        beliefs = shares(system, listed(overlap)) if system.parts else []
        free = [
            beliefs[place] for part in system.parts for place in part.place.tolist() if part.rows
        ]
        gamma = max(free, default=Fraction(0)) + Fraction(int(rng.integers(-150, 40)), 1000)
        settled = [belief for at, belief in enumerate(beliefs) if system.low[at] == system.high[at]]
        if free and max(settled, default=0) <= gamma < 1:
            found.append((system, beliefs, gamma))
    return found


def test_verdicts_and_bounds_are_wrong_no_more_often_than_promised() -> None:
    theta, epsilon = Fraction(3, 4), Fraction(1, 20)
    wrong, missed, drawn, statuses = 0, 0, 0, Counter()
    questions = random_questions(200, 23)
    for seed, (system, beliefs, gamma) in enumerate(questions):
        found = statistical(
            system, [None] * len(system.parts), gamma=gamma, epsilon=epsilon, theta=theta, seed=seed
        )
        statuses[found.status] += 1
        drawn += sum(found.draws) > 0
        covered = np.repeat(system.overlap.is_covered, len(system.overlap.values))
        of_view = [
            one for one, is_covered in zip(beliefs, covered.tolist(), strict=True) if is_covered
        ]
        wrong += (
            max(of_view) > gamma + epsilon if found.status == "holds" else max(of_view) <= gamma
        )
        bounds = [(system.low.tolist()[at], system.high.tolist()[at]) for at in range(len(beliefs))]
        for part, one in zip(system.parts, found.found, strict=True):
            for place, low, high in zip(part.place.tolist(), one.low, one.high, strict=True):
                bounds[place] = low, high
        sizes = np.repeat(system.overlap.sizes, len(system.overlap.values)).tolist()
        missed += not all(
            low <= belief * size <= high
            for (low, high), belief, size in zip(bounds, beliefs, sizes, strict=True)
        )
        assert all(belief <= found.upper for belief in of_view) or missed
    assert statuses["undecided"] == 0
    assert drawn > 150
    assert min(statuses["holds"], statuses["breached"]) > 60
    assert binomial_tail(wrong, len(questions), float(1 - theta)) > LEVEL
    assert binomial_tail(missed, len(questions), float(1 - theta)) > LEVEL


def test_a_belief_in_the_gap_is_decided_by_the_last_look() -> None:
    """Half of all tables, gamma a little less: either answer is true; one of them comes."""
    system = system_of(merged(overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])))
    for gamma in ("49/100", "48/100", "485/1000", "50/100"):
        found = statistical(
            system, [None], gamma=Fraction(gamma), epsilon=Fraction(1, 50), theta=Fraction(9, 10)
        )
        assert found.status in ("holds", "breached")
        assert found.status == "holds" or Fraction(gamma) < HALF
        assert found.draws[0] <= draws_for(
            6, Fraction(1, 100) - A_LITTLE, Fraction(1, 10) * (1 - ROUNDING) / 2
        )


def test_cells_that_are_never_or_always_filled() -> None:
    """Sums alone do not settle them: the squeeze leaves room that no table uses."""
    rng = np.random.default_rng(24)
    never = always = 0
    while never < 5 or always < 3:
        overlap = random_overlap(rng, by_value=True)
        system = system_of(overlap)
        beliefs = shares(system, listed(overlap))
        free = [(place, beliefs[place]) for part in system.parts for place in part.place.tolist()]
        if not any(belief in (0, 1) for _, belief in free):
            continue
        if any(belief == 1 for _, belief in free):
            always += 1
            found = statistical(
                system,
                [None] * len(system.parts),
                gamma=Fraction(9, 10),
                epsilon=Fraction(1, 50),
                theta=Fraction(95, 100),
            )
            assert found.status == "breached"
            assert found.worst is not None
            assert beliefs[system.cell(*found.worst)] > Fraction(9, 10)
        never += any(belief == 0 for _, belief in free)
        found = statistical(
            system,
            [None] * len(system.parts),
            gamma=Fraction(1),
            epsilon=Fraction(1, 50),
            theta=Fraction(95, 100),
        )
        assert found.status == "holds"
        for place, belief in free:
            assert belief not in (0, 1) or found.shares.get(place, belief) == belief


def test_what_was_counted_counts_exactly() -> None:
    views = overlap_of("xy", ["xy", "xy", "xy", "xy"], [[0], [0, 1], [1], [2], [2, 3], [3]])
    system = system_of(merged(views))
    assert [len(part.place) for part in system.parts] == [6, 6]
    counted = [None, Expected((HALF,) * 6, (HALF,) * 6, 2)]
    ask = {"epsilon": Fraction(1, 50), "theta": Fraction(95, 100)}
    holds = statistical(system, counted, gamma=HALF, **ask)
    assert holds.status == "holds"
    assert [one == 0 for one in holds.draws] == [one is not None for one in counted]
    breached = statistical(system, counted, gamma=Fraction(499, 1000), **ask)
    assert breached.status == "breached"
    assert sum(breached.draws) == 0
    assert "counted" in breached.because


def test_values_that_may_mean_the_same_count_together() -> None:
    rng = np.random.default_rng(27)
    statuses: Counter[str] = Counter()
    while sum(statuses.values()) < 60:
        overlap = random_overlap(rng, by_value=bool(rng.random() < 0.8))
        system = system_of(overlap)
        if len(overlap.values) < 3 or not system.parts:
            continue
        meanings = ((0, 2), (1, 2)) if len(overlap.values) == 3 else ((0, 3), (1, 2, 3))
        beliefs = shares(system, listed(overlap))
        exact = {
            (class_, meaning): sum(beliefs[system.cell(class_, value)] for value in same)
            for class_ in np.flatnonzero(overlap.is_covered).tolist()
            for meaning, same in enumerate(meanings)
        }
        gamma = max(exact.values()) + Fraction(int(rng.integers(-80, 60)), 1000)
        if not 0 < gamma < 1:
            continue
        ask = {
            "gamma": gamma,
            "epsilon": Fraction(1, 20),
            "theta": Fraction(999, 1000),
            "meanings": meanings,
        }
        found = statistical(system, [None] * len(system.parts), **ask)
        statuses[found.status] += 1
        assert set(found.beliefs) == set(exact)
        assert all(found.beliefs[one][0] <= exact[one] <= found.beliefs[one][1] for one in exact)
        if found.status == "holds":
            assert max(exact.values()) <= gamma + Fraction(1, 20)
        else:
            assert found.status == "breached"
            assert found.worst is not None
            assert exact[found.worst] > gamma
    assert min(statuses["holds"], statuses["breached"]) > 10


def test_a_forecast_needs_no_gamma() -> None:
    many, seconds = forecast(
        hard_system(5, 3), [None], epsilon=Fraction(1, 50), theta=Fraction(95, 100)
    )
    assert many > draws_for(60, Fraction(1, 50), Fraction(5, 100))
    assert 0 < seconds < 100


def test_people_in_no_view_are_left_out() -> None:
    views = overlap_of("xy", ["xxyy", "xxyy"], [[0, 1]] * 3 + [[0], [1], []])
    system = system_of(merged(views))
    found = statistical(
        system,
        [None] * len(system.parts),
        gamma=Fraction(51, 100),
        epsilon=Fraction(1, 50),
        theta=Fraction(95, 100),
    )
    assert found.status == "holds"


def test_time_that_runs_out_leaves_it_undecided() -> None:
    system = hard_system(5, 3)
    with until(0):
        found = statistical(
            system,
            [None],
            gamma=HALF,
            epsilon=Fraction(1, 50),
            theta=Fraction(95, 100),
        )
    assert found.status == "undecided"
    assert found.upper == 1
    assert found.because == "time ran out before tables could be drawn"


def test_a_job_hears_how_long_it_takes_and_can_cancel() -> None:
    system = hard_system(5, 3)
    told: list[str] = []
    job = Job(tell=lambda text, share: told.append(text))
    ask = {"gamma": HALF, "epsilon": Fraction(1, 20), "theta": Fraction(95, 100)}
    first = statistical(system, [None], job=job, **ask)
    assert "would take about" in told[0]
    assert first.shares == statistical(system, [None], **ask).shares
    job.cancel()
    with pytest.raises(Cancelled):
        statistical(system, [None], job=job, **ask)


@pytest.mark.parametrize(
    ("name", "number"), [("gamma", 0), ("gamma", "5/4"), ("epsilon", 0), ("theta", 1), ("theta", 0)]
)
def test_numbers_that_promise_nothing_are_refused(name: str, number: object) -> None:
    ask = {
        "gamma": HALF,
        "epsilon": Fraction(1, 50),
        "theta": Fraction(95, 100),
        name: Fraction(str(number)),
    }
    with pytest.raises(ParameterError, match=name):
        statistical(hard_system(2, 3), [None], **ask)


# -- maximum entropy ------------------------------------------------------------------------------


def test_maximum_entropy_has_all_sums_and_is_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    for dense, close in ((entropy.DENSE, 1e-4), (0, 0.2)):
        monkeypatch.setattr(entropy, "DENSE", dense)
        for seed in range(4):
            for part in hard_system(5, seed).parts:
                found = fitted(part)
                assert found.off < close
                logs = found.classes[part.class_of].copy()
                for row, one in zip(part.rows, found.rows.tolist(), strict=True):
                    logs[row.cells] += one
                assert np.allclose(np.exp(logs), found.people)


def test_maximum_entropy_is_near_the_averages_of_all_tables() -> None:
    for _, part, solutions in small_parts(40, 25, by_value=True):
        tables = sum(solutions.values())
        average = np.array(
            [
                sum(cells[at] * many for cells, many in solutions.items()) / tables
                for at in range(len(part.place))
            ]
        )
        assert np.abs(fitted(part).people - average).max() < 0.35
        laws = laws_of(part)
        sizes = np.bincount(part.class_of, sum_of(laws, part))
        assert np.abs(sizes - [one.total for one in part.classes]).max() < 0.5


def sum_of(laws: tuple[walks.PointLaw, ...], part: OpenPart) -> np.ndarray:
    """The average of every cell under its column's law."""
    found = np.zeros(len(part.place))
    for law in laws:
        found[law.lattice.column.cells] = law.averages
    return found


# -- irregular ranges -----------------------------------------------------------------------------


def hard_system(values: int, seed: int, people: int = 200, views: int = 8) -> System:
    """People of some ages in views of overlapping ranges of 15 to 40 years;
    the largest part of it.
    """
    rng = np.random.default_rng(seed)
    ages = rng.integers(20, 91, people)
    truth = rng.integers(0, values, people)
    answers, members = [], [[] for _ in range(people)]
    for view in range(views):
        width = int(rng.integers(15, 41))
        first = int(rng.integers(20, 91 - width))
        inside = np.flatnonzero((ages >= first) & (ages <= first + width)).tolist()
        for person in inside:
            members[person].append(view)
        answers.append(truth[inside].tolist())
    system = system_of(merged(overlap_of(range(values), answers, [one for one in members if one])))
    largest = max(system.parts, key=lambda part: len(part.place))
    return System(system.overlap, system.low, system.high, (largest,))


@pytest.mark.parametrize("values", [4, 5, 8, 10])
def test_irregular_ranges_are_certified(values: int) -> None:
    system = hard_system(values, 3)
    found = statistical(
        system,
        [None],
        gamma=Fraction(7, 10),
        epsilon=Fraction(1, 50),
        theta=Fraction(95, 100),
    )
    assert found.status != "undecided"
    [part] = system.parts
    ways = {type(sampler_of(part, np.random.default_rng(1)).proposals), Stepwise}
    assert ways <= {Joined, Stepwise}


def test_two_ways_of_drawing_have_the_same_averages() -> None:
    [part] = hard_system(8, 5).parts
    laws = laws_of(part)
    means = []
    for proposals in (rejection.joined(part, laws), Stepwise(part, laws)):
        tables = np.concatenate(list(Sampler(proposals, np.random.default_rng(26)).draw(8000)))
        means.append((tables.mean(axis=0), tables.var(axis=0) / len(tables)))
    (first, spread), (second, other) = means
    z = np.abs(first - second) / np.sqrt(spread + other + 1e-12)
    assert z.max() < 5.5  # less than one in a million for 104 cells


def test_columns_are_taken_in_an_order_with_few_states() -> None:
    [part] = hard_system(5, 3, people=1000).parts
    assert all(lattice_of(column).steps < 200_000 for column in columns_of(part))
    assert column_states.order_of(columns_of(part)[0])
