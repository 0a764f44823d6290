"""Beliefs, semantic definitions and (rho1,rho2)-privacy against every possible world.

First thousands of random persons in groups, then hundreds of random tables with priors,
hierarchies, gaps and releases, as a plan would have them. `TACIT_ORACLE_TABLES=5000` looks longer.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from asking import Desk, question
from oracles import beliefs as oracle
from tacit.families.microdata.definitions.beliefs.background_adversary import BackgroundAdversary
from tacit.families.microdata.definitions.beliefs.beliefs import BeliefTarget
from tacit.families.microdata.definitions.beliefs.disclosure import Secrets, most_frequent_others
from tacit.families.microdata.definitions.beliefs.disclosure_measures import (
    DisclosureMeasure,
    Negative,
    Positive,
    Ratio,
    Uninformative,
    Upward,
)
from tacit.families.microdata.definitions.beliefs.predicates import Predicate
from tacit.families.microdata.definitions.beliefs.prior import FilePrior, read_prior
from tacit.families.microdata.definitions.replay.replay import replay
from tacit.families.microdata.definitions.rho1_rho2 import Rho1Rho2
from tacit.families.microdata.definitions.semantic import Semantic

NUMBER = int(os.environ.get("TACIT_ORACLE_TABLES", "140"))
WARDS = {"A": "AB", "B": "AB", "C": "C", "D": "C"}
QUASI = ("ward", "age")
AGES = (20, 24, 31)
SALARIES = (1000, 1400, 2000, 2100, 5000)
LIMITS = [Fraction(n, 12) for n in range(1, 12)]

Row = dict[str, Any]
Score = Callable[[list[oracle.Belief]], Any]


def measured(measure: DisclosureMeasure) -> Score:
    """What the oracle says where Tacit uses a measure."""
    if isinstance(measure, Upward):
        return lambda found: oracle.upward(found, measure.rho1)
    return {
        Positive: oracle.positive,
        Negative: oracle.negative,
        Uninformative: oracle.uninformative,
        Ratio: oracle.ratio,
    }[type(measure)]


def random_measure(rng: random.Random) -> DisclosureMeasure:
    low, high = sorted(rng.sample(LIMITS, 2))
    return rng.choice(
        [Positive(low), Negative(low), Uninformative(low), Ratio(1 + 6 * low), Upward(low, high)]
    )


def holds(measure: DisclosureMeasure, score: Any) -> bool:
    """The requirement as the documents put it."""
    if isinstance(measure, Positive):
        return score < measure.c
    if isinstance(measure, Negative):
        return score >= measure.c
    if isinstance(measure, Upward):
        return score <= measure.rho2
    return score <= (measure.epsilon if isinstance(measure, Uninformative) else measure.r)


def plainly(score: Any) -> Any:
    return float("inf") if score == "infinite" else score


# -- one person ---------------------------------------------------------------------------------


def random_target(rng: random.Random) -> tuple[oracle.Target, BeliefTarget]:
    """Somebody in a small group, as the oracle and as Tacit see them."""
    domain = range(rng.randint(1, 5))
    counts = oracle.tally(rng.choice(domain) for _ in range(rng.randint(1, 6)))
    weights = {s: Fraction(rng.randint(1 if s in counts else 0, 5)) for s in domain}
    block = oracle.normal(weights)
    if rng.random() < 0.5:
        return oracle.Target(counts, block, block), BeliefTarget(counts, block)
    own = {s: Fraction(rng.randint(0, 5)) if weights[s] else Fraction(0) for s in domain}
    own[next(iter(counts))] += 1
    before = oracle.normal(own)
    units = {s: before[s] / block[s] for s in domain if before[s]}
    known = {s: n for s, n in counts.items() if s in units}
    return oracle.Target(counts, before, block), BeliefTarget(known, before, units)


@pytest.mark.slow
def test_the_worst_belief_about_one_person() -> None:
    rng = random.Random(312)
    for _ in range(20 * NUMBER):
        seen, target = random_target(rng)
        domain = list(seen.before)
        predicates = [
            Predicate(frozenset(rng.sample(domain, rng.randint(0, len(domain)))), "")
            for _ in range(rng.randint(1, 3))
        ]
        most = (2, 2) if sum(seen.counts.values()) < 5 else (2, 1)
        adversary = BackgroundAdversary(rng.randint(0, most[0]), rng.randint(0, most[1]))
        measure = random_measure(rng)
        found = oracle.all_beliefs(
            [seen],
            [predicate.codes for predicate in predicates],
            oracle.Adversary(adversary.negations, adversary.known_people),
        )
        expected = measured(measure)(found)
        about = Secrets(predicates, adversary, measure).worst_about(target)
        score = about[0] if about else Fraction(0)
        told = (seen, predicates, adversary, measure, about)
        assert plainly(next(iter(measure.measured(score).values()))) == expected, told
        assert measure.is_too_much(score) != holds(measure, expected), told
        if isinstance(measure, Upward):
            assert oracle.rho_breach(found, measure.rho1, measure.rho2) == measure.is_too_much(
                score
            )
        if about is not None and not isinstance(measure, Negative):
            belief = about[2]
            known = frozenset(belief.knowledge.negated)
            assert oracle.Belief(belief.predicate, known, belief.before, belief.after) in found, (
                told
            )


@pytest.mark.parametrize("negations", [1, 2, 3, 5, 9])
def test_the_most_frequent_other_values_of_many_groups(negations: int) -> None:
    rng = np.random.default_rng(negations)
    counts = rng.integers(0, 5, size=(60, 5))
    found = most_frequent_others(counts, counts, negations)
    for row, sums in zip(counts.tolist(), found.tolist(), strict=True):
        for at, most in enumerate(sums):
            others = sorted(row[:at] + row[at + 1 :], reverse=True)
            assert most == sum(others[:negations])


# -- whole tables -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("semantic"))


def shown(column: str, value: Any, level: int) -> Any:
    """What the release shows of a value."""
    if not level or value is None:
        return value
    low = value // 10 * 10 if column == "age" else 0
    return WARDS[value] if column == "ward" else f"{low}-{low + 9}"


def random_rows(rng: random.Random) -> list[Row]:
    values = SALARIES[: rng.randint(1, 4)]
    holes = rng.choice([0, 0, 0.2])
    rows = [
        {
            "ward": None if rng.random() < 0.05 else rng.choice("ABC"),
            "age": rng.choice(AGES),
            "salary": None if rng.random() < holes else rng.choice(values),
        }
        for _ in range(rng.randint(1, 9))
    ]
    rows[0]["salary"] = values[0]
    return rows


def random_prior(
    rng: random.Random, rows: list[Row]
) -> tuple[tuple[str, ...], dict[Any, Fraction]]:
    """A distribution that covers the rows;
    it may have wards, ages and salaries that they have not.
    """
    columns = rng.choice([(), ("ward",), ("age",), ("ward", "age"), ("age", "ward")])
    cells = {(*(row[name] for name in columns), row["salary"]) for row in rows if row["salary"]}
    domains = {"ward": ("A", "B", "C", "D"), "age": (*AGES, 27)}
    every = itertools.product(*(domains[name] for name in columns), SALARIES)
    extra = rng.sample(list(every), rng.randint(0, 4))
    weights = {cell: rng.randint(1, 6) for cell in sorted(cells, key=repr)} | {
        cell: rng.randint(0, 6) for cell in extra if cell not in cells
    }
    total = sum(weights.values())
    return columns, {cell: Fraction(weight, total) for cell, weight in weights.items()}


def file_of(columns: tuple[str, ...], weights: Mapping[Any, Fraction]) -> FilePrior:
    """The lines of a file that has it."""
    lines = [
        ["" if one is None else str(one) for one in (*cell, share)]
        for cell, share in weights.items()
    ]
    return read_prior([*enumerate([[*columns, "salary", "probability"], *lines], 1)], "prior.csv")


def random_protect(rng: random.Random) -> tuple[Any, Callable[[list[Any]], list[frozenset[Any]]]]:
    """A `protect` and the predicates it means, for a domain."""
    some = tuple(rng.sample(SALARIES, 2))
    low, high = sorted(some)
    return rng.choice(
        [
            ({"equals": "all"}, oracle.equals),
            ({"equals": list(some)}, lambda domain: [frozenset([one]) for one in some]),
            (
                {"equals": "all", "dont-care": list(some)},
                lambda domain: oracle.equals(one for one in domain if one not in some),
            ),
            ({"in": list(some)}, lambda domain: [frozenset(some)]),
            ({"range": [low, high]}, lambda domain: [oracle.between(domain, low, high)]),
            ({"within": 500}, lambda domain: oracle.within(domain, 500)),
            (
                {"equals": "all", "within": 100},
                lambda domain: oracle.equals(domain) + oracle.within(domain, 100),
            ),
        ]
    )


def cases(desk: Desk, number: int) -> Iterator[Any]:
    for seed in range(number):
        rng = random.Random(seed)
        rows = random_rows(rng)
        with desk.counted(
            rows,
            quasi=QUASI,
            sensitive=["salary"],
            types={"ward": "text", "age": "integer", "salary": "integer"},
            hierarchies={
                "ward": {"rows": {ward: [label, "*"] for ward, label in WARDS.items()}},
                "age": {"ranges": [10]},
            },
        ) as counted:
            for ward, age in itertools.product((0, 1), (0, 1)):
                levels = {"ward": ward, "age": age}
                yield rng, rows, question(counted, levels), levels


def released_rows(rows: list[Row], levels: Mapping[str, int]) -> list[Row]:
    return [
        {**row, **{name: shown(name, row[name], levels[name]) for name in QUASI}} for row in rows
    ]


def oracle_targets(
    rows: list[Row], levels: Mapping[str, int], prior: Any
) -> tuple[list[oracle.Target], list[Any]]:
    if prior is None:
        belief = oracle.own_distribution(rows, "salary")
    else:
        columns, weights = prior
        joint = {(cell[:-1], cell[-1]): share for cell, share in weights.items()}
        belief = oracle.Prior(
            columns,
            joint,
            lambda cell: tuple(
                shown(name, one, levels[name]) for name, one in zip(columns, cell, strict=True)
            ),
        )
    found = oracle.targets(rows, released_rows(rows, levels), QUASI, "salary", belief)
    return [target for _, _, target in found], sorted({s for _, s in belief.joint})


@pytest.mark.slow
def test_hundreds_of_small_tables(desk: Desk) -> None:
    asked = {"holds": 0, "breached": 0}
    for rng, rows, released, levels in cases(desk, NUMBER):
        prior = random_prior(rng, rows) if rng.random() < 0.5 else None
        protect, predicates = random_protect(rng)
        adversary = oracle.Adversary(rng.choice([0, 0, 1, 2]), rng.choice([0, 0, 1]))
        people, domain = oracle_targets(rows, levels, prior)
        if max(sum(target.counts.values()) for target in people) > 6:
            continue
        measure = random_measure(rng)
        expected = measured(measure)(oracle.all_beliefs(people, predicates(domain), adversary))
        definition = Semantic(
            protect=protect,
            against={
                "negations": adversary.negations,
                "known-people": adversary.known_people,
                **({"prior": file_of(*prior)} if prior else {}),
            },
            measure=measure,
        )
        verdict = definition.check(released, sensitive="salary")
        told = (rows, levels, prior, definition, verdict)
        assert plainly(next(iter(verdict.measured.values()))) == expected, told
        assert verdict.status == ("holds" if holds(measure, expected) else "breached"), told
        if verdict.witness or not prior:
            assert replay(verdict, released_rows(rows, levels), QUASI), told
        asked[verdict.status] += 1
    assert min(asked.values()) > NUMBER // 2, asked


def test_rho1_rho2_is_semantic_with_its_measure(desk: Desk) -> None:
    for rng, rows, released, levels in cases(desk, NUMBER // 4):
        prior = random_prior(rng, rows) if rng.random() < 0.7 else None
        people, domain = oracle_targets(rows, levels, prior)
        if max(sum(target.counts.values()) for target in people) > 6:
            continue
        rho1, rho2 = sorted(rng.sample(LIMITS, 2))
        found = oracle.all_beliefs(people, oracle.equals(domain), oracle.Adversary())
        definition = Rho1Rho2(rho1, rho2, prior=file_of(*prior) if prior else None)
        verdict = definition.check(released, sensitive="salary")
        told = (rows, levels, prior, definition, verdict)
        assert (verdict.status == "breached") == oracle.rho_breach(found, rho1, rho2), told
        assert verdict.measured == {"belief": oracle.upward(found, rho1)}, told
        semantic = Semantic(
            measure={"rho1": rho1, "rho2": rho2},
            against={"prior": file_of(*prior)} if prior else {},
        )
        other = semantic.check(released, sensitive="salary")
        assert (other.status, other.measured, other.evidence) == (
            verdict.status,
            verdict.measured,
            verdict.evidence,
        )
