"""The search through the lattice against every node by brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asking import Desk, question
from oracles import lattice as oracle
from tacit.families.microdata import rollup
from tacit.families.microdata.definitions.alpha_k import AlphaK
from tacit.families.microdata.definitions.dissimilarity import Dissimilarity
from tacit.families.microdata.definitions.eps_m import EpsM
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.definitions.t_closeness import TCloseness
from tacit.families.microdata.lattice import Lattice, Node, maximal, minimal, undominated
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.repair import search as module
from tacit.families.microdata.repair.costs import cost_by
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.repair.search import SearchResult, search
from thorough import THOROUGH

CHECKS: list[tuple[oracle.Check, Any]] = [
    (("k", 2), KAnonymity(k=2)),
    (("k", 4), KAnonymity(k=4)),
    (("distinct", 2), LDiversity(kind="distinct", l=2)),
    (("distinct", 3), LDiversity(kind="distinct", l=3)),
    (("entropy", Fraction(2)), LDiversity(kind="entropy", l=2)),
    (("entropy", Fraction(17, 10)), LDiversity(kind="entropy", l="1.7")),
    (("recursive", Fraction(2), 2), LDiversity(kind="recursive", l=2, c=2)),
    (("recursive", Fraction(3, 2), 3), LDiversity(kind="recursive", l=3, c="1.5")),
    (("near", Fraction(3, 10)), TCloseness(t="0.3")),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def random_table(
    rng: random.Random, *, holes: float = 0.0
) -> tuple[list[dict[str, Any]], oracle.Trees]:
    """Two or three columns with trees of one to three levels, and a sensitive one."""
    trees: dict[str, dict[Any, list[str]]] = {}
    for place in range(rng.randint(1, 3)):
        values = [f"v{place}{n}" for n in range(rng.randint(1, 5))]
        low = {value: f"low{rng.randint(0, 2)}" for value in values}
        middle = {one: f"mid{rng.randint(0, 1)}" for one in set(low.values())}
        steps = rng.randint(0, 2)
        trees[f"q{place}"] = {
            value: [*[low[value]][:steps], *[middle[low[value]]][: max(0, steps - 1)], "*"]
            for value in values
        }
    secrets = [f"s{n}" for n in range(rng.randint(2, 4))]
    rows = [
        {**{name: rng.choice(list(tree)) for name, tree in trees.items()}, "s": rng.choice(secrets)}
        for _ in range(rng.choice([4, 8, 12, 20, 30]))
    ]
    for row in rows:
        for name in row:
            if rng.random() < holes:
                row[name] = None  # type: ignore[assignment]
    # Every value of a tree occurs, so that leaves are counted alike however they are known.
    for name, tree in trees.items():
        present = {row[name] for row in rows}
        trees[name] = {value: steps for value, steps in tree.items() if value in present} or tree
    return rows, trees


def asked(desk: Desk, rows: list[dict[str, Any]], trees: oracle.Trees) -> Any:
    return desk.counted(
        rows,
        quasi=list(trees),
        sensitive=["s"],
        hierarchies={name: {"rows": tree} for name, tree in trees.items()},
        types=dict.fromkeys(rows[0], "text"),
        declared={"as_written": ("s",)},
    )


def lattice_of(raw: MicrodataQuestion) -> Lattice:
    return Lattice(raw.quasi, tuple(raw.hierarchies[name].height for name in raw.quasi))


def found_by(
    raw: MicrodataQuestion, definitions: list[Any], *, utility: str = "loss", suppress: int = 0
) -> tuple[NodeJudge, SearchResult]:
    judge = NodeJudge(
        raw, [Required(one) for one in definitions], lattice_of(raw), suppress=suppress
    )
    return judge, search(judge, cost_by(judge, utility))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(6 * THOROUGH))
@pytest.mark.parametrize("suppress", [0, 2, 6])
def test_the_search_finds_what_brute_force_finds(desk: Desk, seed: int, suppress: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        rows, trees = random_table(rng, holes=rng.choice([0, 0, 0.1]))
        quasi = list(trees)
        with asked(desk, rows, trees) as counted:
            raw = question(counted, named=False)
            for chosen in (rng.sample(CHECKS, 1), rng.sample(CHECKS, 2), rng.sample(CHECKS, 3)):
                checks = [check for check, _ in chosen]
                gone = {
                    node: oracle.passes(rows, trees, quasi, node, checks, "s", suppress)
                    for node in oracle.nodes(trees, quasi)
                }
                passing = [node for node, number in gone.items() if number is not None]
                judge, found = found_by(
                    raw, [definition for _, definition in chosen], suppress=suppress
                )
                assert set(found.minimal) == oracle.minimal(passing)
                assert found.all_minimal
                assert found.proved
                assert (found.best is None) == (not passing)
                for node in passing:
                    assert judge.outcome(node).holds
                    assert judge.outcome(node).suppressed == gone[node]
                    assert judge.recoded(node).suppressed == gone[node]
                if found.best is not None and not any(
                    value is None for row in rows for value in row.values()
                ):
                    costs = {
                        node: cost_by(judge, "loss").of(judge.outcome(node)) for node in passing
                    }
                    assert found.cost == pytest.approx(min(costs.values()), abs=1e-12)
                    if not suppress:
                        least = min(oracle.loss(rows, trees, quasi, node) for node in passing)
                        assert found.cost == pytest.approx(least, abs=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("utility", ["height", "discernibility", "average-group", "kl"])
@pytest.mark.parametrize("suppress", [0, 4])
def test_the_least_cost_by_every_measure(desk: Desk, utility: str, suppress: int) -> None:
    rng = random.Random(utility)
    for _ in range(40):
        rows, trees = random_table(rng)
        with asked(desk, rows, trees) as counted:
            raw = question(counted, named=False)
            check, definition = rng.choice(CHECKS)
            passing = [
                node
                for node in oracle.nodes(trees, list(trees))
                if oracle.passes(rows, trees, list(trees), node, [check], "s", suppress) is not None
            ]
            judge, found = found_by(raw, [definition], utility=utility, suppress=suppress)
            cost = cost_by(judge, utility)
            assert (found.best is None) == (not passing)
            if passing:
                assert found.cost == pytest.approx(
                    min(cost.of(judge.outcome(node)) for node in passing), abs=1e-9
                )


@pytest.mark.slow
def test_definitions_that_are_not_monotone_are_asked_everywhere(desk: Desk) -> None:
    """The proximity paper's definition: unions of groups that pass can fail."""
    rng = random.Random(31)
    surprises = 0
    for _ in range(150):
        rows, trees = random_table(rng)
        for row in rows:
            row["s"] = rng.randint(0, 9)
        definition: Any = rng.choice(
            [Dissimilarity(epsilon=1, delta="0.9", k=1), EpsM(epsilon=1, m=2)]
        )
        with desk.counted(
            rows,
            quasi=list(trees),
            sensitive=["s"],
            hierarchies={name: {"rows": tree} for name, tree in trees.items()},
            types={**dict.fromkeys(trees, "text"), "s": "integer"},
            distances={"s": "numeric"},
        ) as counted:
            raw = question(counted, named=False)
            passing = [
                node
                for node in oracle.nodes(trees, list(trees))
                if definition.check(
                    question(counted, dict(zip(trees, node, strict=True)), named=False),
                    sensitive="s",
                ).status
                == "holds"
            ]
            _, found = found_by(raw, [definition])
            assert set(found.minimal) == oracle.minimal(passing)
            above = [
                node
                for node in oracle.nodes(trees, list(trees))
                if any(all(a <= b for a, b in zip(low, node, strict=True)) for low in passing)
            ]
            surprises += len(above) > len(passing)
    assert surprises, "some case should not be monotone"


@pytest.mark.slow
def test_people_with_several_rows_and_missing_values_that_match_any(desk: Desk) -> None:
    rng = random.Random(7)
    for _ in range(60):
        rows, trees = random_table(rng, holes=0.15)
        for row in rows:
            row["p"] = f"p{rng.randrange(max(2, len(rows) // 2))}"
        missing: Any = rng.choice(["own-group", "match-any"])
        definitions: list[Any] = [
            KAnonymity(k=2, missing=missing),
            LDiversity(kind="distinct", l=2, missing=missing),
        ]
        with desk.counted(
            rows,
            quasi=list(trees),
            sensitive=["s"],
            person=["p"],
            hierarchies={name: {"rows": tree} for name, tree in trees.items()},
            types=dict.fromkeys(rows[0], "text"),
            declared={"as_written": ("s",)},
        ) as counted:
            passing = [
                node
                for node in oracle.nodes(trees, list(trees))
                if all(
                    one.check(
                        question(counted, dict(zip(trees, node, strict=True)), named=False),
                        sensitive="s",
                    ).status
                    == "holds"
                    for one in definitions
                )
            ]
            _, found = found_by(question(counted, named=False), definitions)
            assert set(found.minimal) == oracle.minimal(passing)


def test_doubtful_values_must_hold_under_every_reading(desk: Desk) -> None:
    rows = [
        {"q": "a", "s": "flu"},
        {"q": "a", "s": "Flu"},
        {"q": "b", "s": "flu"},
        {"q": "b", "s": "cold"},
    ]
    with desk.counted(
        rows, quasi=["q"], sensitive=["s"], hierarchies={"q": "*"}, types={"q": "text", "s": "text"}
    ) as counted:
        _, found = found_by(question(counted, named=False), [LDiversity(kind="distinct", l=2)])
    assert found.best == (1,)


def test_a_large_lattice_is_searched_as_far_as_time_allows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(5)
    rows, trees = random_table(rng)
    while len(trees) < 3:
        rows, trees = random_table(rng)
    with asked(desk, rows, trees) as counted:
        raw = question(counted, named=False)
        _, exact = found_by(raw, [KAnonymity(k=3)])
        monkeypatch.setattr(module, "LARGEST", 1)
        judge, found = found_by(raw, [KAnonymity(k=3)])
        assert found.cost == exact.cost
        assert set(found.minimal) == set(exact.minimal)
        assert found.proved, "everything was seen before the time was over"
        stopped = search(judge, cost_by(judge, "loss"), seconds=1e-9)
        assert not stopped.proved
        assert stopped.best is None or judge.holds(stopped.best)


def test_a_large_lattice_of_checks_that_are_not_monotone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(8)
    for _ in range(40):
        rows, trees = random_table(rng)
        with asked(desk, rows, trees) as counted:
            raw = question(counted, named=False)
            definitions = [LDiversity(kind="distinct", l=2), KAnonymity(k=2)]
            _, exact = found_by(raw, definitions, suppress=3)
            with monkeypatch.context() as patch:
                patch.setattr(module, "LARGEST", 0)
                judge, found = found_by(raw, definitions, suppress=3)
            assert found.proved
            assert (found.best is None) == (exact.best is None)
            assert found.best is None or (
                judge.holds(found.best) and found.cost == pytest.approx(exact.cost)
            )
            assert set(found.minimal) == set(exact.minimal)


def test_two_sensitive_columns_are_judged_each_given_the_other(desk: Desk) -> None:
    """Definition 3.11, at every node by the definition's own check."""
    rng = random.Random(311)
    definition = LDiversity(kind="distinct", l=2)
    for _ in range(60):
        rows, trees = random_table(rng)
        for row in rows:
            row["s2"] = rng.choice("uvw")
        with desk.counted(
            rows,
            quasi=list(trees),
            sensitive=["s", "s2"],
            hierarchies={name: {"rows": tree} for name, tree in trees.items()},
            types=dict.fromkeys(rows[0], "text"),
            declared={"as_written": ("s", "s2")},
        ) as counted:
            passing = [
                node
                for node in oracle.nodes(trees, list(trees))
                if definition.check(
                    question(counted, dict(zip(trees, node, strict=True)), named=False)
                ).status
                == "holds"
            ]
            _, found = found_by(question(counted, named=False), [definition])
            assert set(found.minimal) == oracle.minimal(passing)


def test_combinations_that_do_not_fit_into_one_integer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(62)
    for _ in range(60):
        rows, trees = random_table(rng, holes=rng.choice([0, 0.2]))
        with asked(desk, rows, trees) as counted:
            raw = question(counted, named=False)
            _, usual = found_by(raw, [KAnonymity(k=2), LDiversity(kind="distinct", l=2)])
            with monkeypatch.context() as patch:
                patch.setattr(rollup, "ROOM", 1)
                _, slow = found_by(raw, [KAnonymity(k=2), LDiversity(kind="distinct", l=2)])
            assert (slow.best, slow.cost, slow.minimal) == (usual.best, usual.cost, usual.minimal)


@pytest.mark.slow
def test_fifteen_columns(desk: Desk) -> None:
    rng = random.Random(15)
    trees = {
        f"q{n}": {f"v{i}": [f"low{i // 2}", f"mid{i // 4}", "*"] for i in range(8)}
        for n in range(15)
    }
    rows = [
        {
            **{name: rng.choice(list(tree)) for name, tree in trees.items()},
            "s": str(rng.randint(0, 5)),
        }
        for _ in range(300)
    ]
    with asked(desk, rows, trees) as counted:
        raw = question(counted, named=False)
        judge = NodeJudge(raw, [Required(KAnonymity(k=5))], lattice_of(raw))
        assert len(judge.lattice) == 4**15
        found = search(judge, cost_by(judge, "loss"), seconds=2)
    assert found.best is not None
    assert not found.proved
    assert judge.holds(found.best)
    assert found.cost is not None
    assert found.cost < 1


def test_maximal_and_minimal_by_looking_everywhere() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        shape = tuple(rng.integers(1, 4, size=3).tolist())
        cut = rng.integers(0, 8)
        heights = np.indices(shape).sum(axis=0)
        chosen = (heights >= cut // 2) & (heights <= cut)
        nodes: list[Node] = [tuple(map(int, node)) for node in np.argwhere(chosen)]
        low = {tuple(map(int, node)) for node in np.argwhere(minimal(chosen))}
        assert low == oracle.minimal(nodes) == set(undominated(nodes))
        top = {
            node
            for node in nodes
            if not any(
                other != node and all(a >= b for a, b in zip(other, node, strict=True))
                for other in nodes
            )
        }
        assert {tuple(map(int, node)) for node in np.argwhere(maximal(chosen))} == top


def test_alpha_k_is_ruled_out_by_size_first(desk: Desk, tmp_path: Path) -> None:
    rows = [{"q": f"v{n}", "s": f"s{n % 3}"} for n in range(6)]
    with asked(desk, rows, {"q": {f"v{n}": ["*"] for n in range(6)}}) as counted:
        judge, found = found_by(question(counted, named=False), [AlphaK(alpha="0.5", k=4)])
        assert found.best == (1,)
        assert judge.outcome((0,)).stopped_by is not None
