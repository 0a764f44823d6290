"""differential-privacy and probabilistic-dp of planned releases, against brute force over all
tables and outputs.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("flint")
pytest.importorskip("dp_accounting")

from oracles import synthetic as oracle
from tacit.errors import InputError, ParameterError
from tacit.families.synthetic.cells import DomainCells, Kind
from tacit.families.synthetic.definitions.differential_privacy import DifferentialPrivacy
from tacit.families.synthetic.definitions.probabilistic_dp import ProbabilisticDp
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.noise import Chooser
from tacit.families.synthetic.promise.terms import CannotPromise, Terms
from tacit.families.synthetic.question import Planned, Sort, SyntheticQuestion
from tacit.model.verdict import Verdict

F = Fraction
RATIOS = [F(3, 2), F(2), F(3), F(5), F(10), F(100)]
DELTAS = [F(1, 1000), F(1, 100), F(1, 20), F(1, 5)]
LABELS = ("north", "south", "west")


def planned(terms: Terms, *sorts: Sort, name: str = "jobs") -> Planned:
    return Planned(name, "commuters", "destination", "origin", terms, sorts, LABELS)


def asked(definition: Any, *releases: Planned) -> Verdict:
    return definition.check(SyntheticQuestion(releases))


def laws(
    people: int, cells: int, alpha: Fraction, keeps: tuple[Fraction, ...], accept: Fraction | None
) -> oracle.Laws:
    alphas = (alpha,) * cells

    def plain(table: tuple[int, ...]) -> oracle.Law:
        return (
            oracle.shrunk(table, alphas, keeps, people)
            if min(keeps) < 1
            else oracle.dirichlet(table, alphas, people)
        )

    return oracle.laws_of(
        lambda table: (
            plain(table) if accept is None else oracle.accepted(plain, table, accept, alphas)
        ),
        people,
        cells,
    )


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", [DifferentialPrivacy, ProbabilisticDp])
def test_verdicts_are_right(kind: type[Any], seed: int) -> None:
    rng = random.Random(seed)
    found = {"holds": 0, "breached": 0, "undecided": 0}
    for _ in range(40):
        people, number = rng.choice([(1, 3), (2, 3), (3, 3), (4, 3), (3, 4), (2, 5), (3, 5)])
        keeps = (
            tuple(sorted(rng.choice([F(1, 5), F(1, 2), F(1)]) for _ in range(number)))
            if rng.random() < 0.3
            else (F(1),) * number
        )
        terms = Terms(
            Epsilon(argument=rng.choice(RATIOS)),
            rng.choice(DELTAS),
            rng.choice(["dp", "pdp"]),
            accept=rng.choice([None, None, F(4)]),
        )  # type: ignore[arg-type]
        cells = DomainCells(tuple(Kind(1, 1, keep) for keep in keeps))
        ratio, delta = rng.choice(RATIOS), rng.choice(DELTAS)
        try:
            alpha = Chooser(terms).noise(people, cells).alpha or F(0)
        except CannotPromise:
            continue
        verdict = asked(
            kind(epsilon=f"ln({ratio})", delta=delta), planned(terms, Sort(people, cells))
        )
        truth = laws(people, number, alpha, keeps, terms.accept)
        spent = (
            oracle.delta_dp(truth, ratio)
            if kind is DifferentialPrivacy
            else oracle.delta_pdp(truth, ratio, keyed=False)
        )
        found[verdict.status] += 1
        assert verdict.status != "holds" or spent <= delta
        assert verdict.status != "breached" or spent > delta
        if verdict.status == "breached" and verdict.witness:
            facts, names = (
                verdict.witness.facts,
                [*LABELS, *(f"cell {one}" for one in range(3, number))],
            )
            first, second, output = (
                tuple(facts[key].get(name, 0) for name in names)
                for key in ("first_table", "second_table", "output")
            )
            assert truth[first][output] > ratio * truth[second][output]
            assert truth[first][output] >= facts["ratio"] * truth[second][output] > 0
            assert (
                "at least" in verdict.because.partition("an output")[2]
                or truth[first][output] == facts["ratio"] * truth[second][output]
            )
        if verdict.certainty == "exact" and verdict.status == "undecided":
            pytest.fail("an exact curve decides")
    assert found["holds"] > 5


def test_geometric_histograms_against_brute_force() -> None:
    rng = random.Random(5)
    for _ in range(60):
        people, number = rng.choice([(1, 2), (2, 2), (2, 3), (3, 3)])
        root = rng.choice([F(2), F(3), F(3, 2), F(10)])  # 1/q, so that epsilon = ln(root^2)
        delta = rng.choice([F(0), F(1, 10), F(1, 50), F(1, 1000)])
        guarantee = rng.choice(["dp", "pdp"]) if delta else "dp"
        terms = Terms(Epsilon(argument=root**2), delta, guarantee, "geometric")  # type: ignore[arg-type]
        cells = DomainCells.alike(number)
        noise = Chooser(terms).noise(people, cells)
        assert noise.threshold is not None
        truth = oracle.laws_of(
            lambda table, r=root, n=noise: oracle.geometric(
                table, 1 / r, n.threshold, everywhere=n.everywhere
            ),
            people,
            number,
        )
        spent = (
            oracle.delta_dp(truth, root**2)
            if guarantee == "dp"
            else oracle.delta_pdp(truth, root**2, keyed=False)
        )
        assert spent <= delta
        for asked_ratio in (root**2, root, F(5), F(11, 10)):
            kind = DifferentialPrivacy if guarantee == "dp" else ProbabilisticDp
            verdict = asked(
                kind(epsilon=f"ln({asked_ratio})", delta=F(1, 30)),
                planned(terms, Sort(people, cells)),
            )
            true = (
                oracle.delta_dp(truth, asked_ratio)
                if guarantee == "dp"
                else oracle.delta_pdp(truth, asked_ratio, keyed=False)
            )
            assert verdict.status != "holds" or true <= F(1, 30)
            assert verdict.status != "breached" or true > F(1, 30)


def test_groups_add_up_for_pdp_and_not_for_dp() -> None:
    cells, ratio = DomainCells.alike(3), F(4)
    terms = Terms(Epsilon(argument=ratio), F(1, 10), "pdp")
    one = laws(2, 3, Chooser(terms, 3).noise(2, cells).alpha or F(0), (F(1),) * 3, None)
    assert oracle.delta_pdp_of_several([one, one], ratio) <= F(1, 10)
    assert asked(ProbabilisticDp(), planned(terms, Sort(2, cells, 3))).status == "holds"
    alone = Terms(Epsilon(argument=ratio), F(1, 10))
    assert Chooser(alone, 3).noise(2, cells) == Chooser(alone, 1).noise(2, cells)
    assert asked(DifferentialPrivacy(), planned(alone, Sort(2, cells, 3))).status == "holds"


def test_releases_add_up() -> None:
    terms = Terms(Epsilon.read(1), F("1e-6"))
    first, second = (
        planned(terms, Sort(100, DomainCells.alike(50)), name=name) for name in ("april", "may")
    )
    with pytest.raises(InputError, match="april and may are judged together"):
        asked(DifferentialPrivacy(), first, second)
    assert asked(DifferentialPrivacy(epsilon=2, delta="2e-6"), first, second).status == "holds"
    assert (
        asked(DifferentialPrivacy(epsilon="1.5", delta="2e-6"), first, second).status == "undecided"
    )
    assert asked(ProbabilisticDp(epsilon="1.5", delta="0.1"), first, second).status == "undecided"


def test_many_releases_cost_less_than_their_sum() -> None:
    terms = Terms(Epsilon.read("0.1"), F("1e-7"))
    releases = [
        planned(terms, Sort(100, DomainCells.alike(50)), name=f"month {one}") for one in range(24)
    ]
    assert asked(DifferentialPrivacy(epsilon="2.2", delta="1e-5"), *releases).status == "holds"


def test_a_planned_release_holds_with_its_curve() -> None:
    sorts = [
        Sort(people, DomainCells.alike(200), groups)
        for people, groups in [(5, 3), (40, 2), (700, 1)]
    ]
    verdict = asked(DifferentialPrivacy(), planned(Terms(Epsilon.read("4.6"), F("1e-5")), *sorts))
    assert (verdict.status, verdict.certainty, verdict.scope) == ("holds", "exact", "this domain")
    assert verdict.certificate is not None
    curve = [
        (float(epsilon), float(delta)) for epsilon, delta in verdict.certificate.facts["curve"]
    ]
    assert all(a[1] >= b[1] for a, b in itertools.pairwise(curve))
    assert F(verdict.measured["delta"]) <= F("1e-5") and float(verdict.measured["epsilon"]) <= 4.6
    assert "not how many people each destination has" in verdict.protects


def test_nobody_is_nothing_to_protect() -> None:
    verdict = asked(DifferentialPrivacy(), planned(Terms(Epsilon.read(1), F(0))))
    assert verdict.status == "holds" and verdict.vacuous


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": -1},
        {"epsilon": "many"},
        {"epsilon": "ln(0.5)"},
        {"delta": -1},
        {"delta": 1},
        {"delta": "x"},
        {"epsilon": 1000},
    ],
)
def test_what_promises_nothing_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        DifferentialPrivacy(**parameters)


def test_what_holds_at_no_epsilon_is_breached() -> None:
    histogram = Terms(Epsilon.read(1), F("1e-5"), mechanism="geometric")
    verdict = asked(
        DifferentialPrivacy(epsilon=1, delta="1e-9"),
        planned(histogram, Sort(10, DomainCells.alike(5)), Sort(20, DomainCells.alike(5))),
    )
    assert verdict.status == "breached" and "holds for no epsilon" in verdict.because


def test_a_histogram_is_breached_below_its_epsilon() -> None:
    verdict = asked(
        DifferentialPrivacy(epsilon=1, delta="1e-3"),
        planned(
            Terms(Epsilon.read(3), F("1e-3"), mechanism="geometric"),
            Sort(200, DomainCells.alike(5)),
        ),
    )
    assert verdict.status == "breached"


@pytest.mark.parametrize("cells", [2, 3])
@pytest.mark.parametrize(
    ("delta", "asked_delta", "epsilon"),
    [
        ("0", "0", "ln(2)"),
        ("1/50", "1/50", "ln(2)"),
        ("1/50", "1/1000", "ln(9)"),
        ("1/50", "0", "ln(2)"),
    ],
)
def test_the_output_that_breaches_a_histogram_is_as_likely_as_it_says(
    delta: str, asked_delta: str, epsilon: str, cells: int
) -> None:
    terms, people = Terms(Epsilon.read("ln(9)"), F(delta), mechanism="geometric"), 22
    verdict = asked(
        DifferentialPrivacy(epsilon=epsilon, delta=F(asked_delta)),
        planned(terms, Sort(1, DomainCells.alike(cells)), Sort(people, DomainCells.alike(cells))),
    )
    assert verdict.status == "breached" and verdict.witness is not None
    facts, noise = verdict.witness.facts, Chooser(terms).noise(people, DomainCells.alike(cells))
    first, second = (
        tuple(facts[key].get(name, 0) for name in LABELS[:cells])
        for key in ("first_table", "second_table")
    )
    assert sum(first) == sum(second) == facts["group_size"] and noise.threshold is not None
    laws = [
        oracle.geometric(table, F(1, 3), noise.threshold, everywhere=noise.everywhere)
        for table in (first, second)
    ]
    likely = [
        sum(
            chance
            for output, chance in law.items()
            if all(output[LABELS.index(cell)] == many for cell, many in facts["output"].items())
        )
        for law in laws
    ]
    if F(delta) > F(asked_delta):  # somebody alone in a cell is published too often
        assert "ratio" not in facts and likely[0] > 0 == likely[1]
    else:
        assert likely[0] == facts["ratio"] * likely[1] == 9 * likely[1] > 0


def test_a_histogram_of_pdp_keeps_its_own_terms() -> None:
    for epsilon, people in (("0.01", 1), ("0.001", 5), ("2", 4)):
        terms = Terms(Epsilon.read(epsilon), F("1e-2"), "pdp", "geometric")
        assert (
            asked(ProbabilisticDp(), planned(terms, Sort(people, DomainCells.alike(5)))).status
            == "holds"
        )


def test_a_breach_over_two_cells_is_told_with_two_cells() -> None:
    verdict = asked(
        DifferentialPrivacy(epsilon="0.5", delta="1e-3"),
        planned(Terms(Epsilon.read(3), F("1e-3")), Sort(10, DomainCells.alike(2))),
    )
    assert verdict.status == "breached" and verdict.witness is not None
    facts, alpha = verdict.witness.facts, verdict.measured["alpha"]
    first, second, output = (
        tuple(facts[key].get(name, 0) for name in LABELS[:2])
        for key in ("first_table", "second_table", "output")
    )
    laws = {table: oracle.dirichlet(table, (alpha, alpha), 10) for table in (first, second)}
    assert (
        laws[first][output] == facts["ratio"] * laws[second][output]
        and sum(first) == sum(second) == 10
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "guarantee", "people", "cells"),
    [
        ("0.1", "1e-30", "dp", 300, 3),
        ("0.03", "1e-10", "pdp", 1000, 2),
        ("0.02", "1e-12", "dp", 700, 4),
        ("1", "1e-300", "dp", 50, 9),
    ],
)
def test_much_noise_and_little_delta_are_summed_all_the_same(
    epsilon: str, delta: str, guarantee: Any, people: int, cells: int
) -> None:
    terms = Terms(Epsilon.read(epsilon), F(delta), guarantee)
    assert (
        asked(DifferentialPrivacy(), planned(terms, Sort(people, DomainCells.alike(cells)))).status
        == "holds"
    )


def test_one_value_is_no_secret() -> None:
    verdict = asked(
        DifferentialPrivacy(),
        planned(Terms(Epsilon.read(1), F("1e-6")), Sort(10, DomainCells.alike(1))),
    )
    assert verdict.status == "holds" and verdict.vacuous


def test_who_is_left_out_is_for_the_owner() -> None:
    release = Planned(
        "jobs",
        "commuters",
        "destination",
        "origin",
        Terms(Epsilon.read(1), F("1e-6")),
        (Sort(10, DomainCells.alike(5)),),
        LABELS,
        outside=7,
    )
    verdict = asked(DifferentialPrivacy(), release)
    assert (
        verdict.to_json()["measured"]["outside"] == "7"
        and "outside" not in verdict.to_json("shared")["measured"]
    )


@pytest.mark.parametrize("kind", [DifferentialPrivacy, ProbabilisticDp])
def test_what_two_releases_spend_together_is_never_understated(kind: type[Any]) -> None:
    rng = random.Random(12)
    holds = 0
    for _ in range(40):
        people, number = rng.choice([(1, 3), (2, 3), (2, 4)])
        cells = DomainCells.alike(number)
        both = [
            Terms(
                Epsilon(argument=rng.choice([F(3, 2), F(2), F(4)])),
                rng.choice([F(1, 100), F(1, 20)]),
                kind.guarantee,
            )
            for _ in range(2)
        ]
        first, second = (
            laws(
                people,
                number,
                Chooser(terms).noise(people, cells).alpha or F(0),
                (F(1),) * number,
                None,
            )
            for terms in both
        )
        pairs = {
            table: {
                (a, b): p * q for a, p in first[table].items() for b, q in second[table].items()
            }
            for table in first
        }
        ratio, delta = (
            rng.choice([F(2), F(4), F(8), F(16)]),
            rng.choice([F(1, 50), F(1, 10), F(1, 3)]),
        )
        releases = [
            planned(terms, Sort(people, cells), name=f"release {at}")
            for at, terms in enumerate(both)
        ]
        verdict = asked(kind(epsilon=f"ln({ratio})", delta=delta), *releases)
        assert verdict.status in ("holds", "undecided")
        if verdict.status == "holds":
            holds += 1
            assert (
                oracle.delta_dp(pairs, ratio)
                if kind is DifferentialPrivacy
                else oracle.delta_pdp(pairs, ratio, keyed=False)
            ) <= delta
    assert holds > 5
