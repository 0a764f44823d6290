"""The window: groups along a curve in which nobody has too many like him.

What all methods of local recoding promise is tested in test_mondrian.
"""

from __future__ import annotations

import itertools
import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import close_tables
from asking import Desk, question
from local_tables import Local, released, tables
from oracles import closeness
from oracles.partitions import holds, some_partition_passes
from tacit.families.microdata.definitions.dissimilarity import Dissimilarity
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.definitions.risk import Risk
from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.repair.hilbert import hilbert_order, hilbert_positions
from tacit.families.microdata.repair.mondrian import mondrian
from tacit.families.microdata.repair.partition import Grouping
from tacit.families.microdata.repair.proximity_rule import crowded, rules
from tacit.families.microdata.repair.requirements import Required, all_hold
from tacit.families.microdata.repair.window import window

TABLES = int(os.environ.get("TACIT_ORACLE_TABLES", "240"))
ADULT = Path(__file__).parents[5] / "shared" / "data" / "adult"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("window"))


@pytest.mark.parametrize(("axes", "bits"), [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2)])
def test_the_hilbert_curve_visits_every_cell_and_steps_to_a_neighbour(axes: int, bits: int) -> None:
    cells = np.array(list(itertools.product(range(2**bits), repeat=axes))).T
    positions = hilbert_positions(cells, bits)
    assert sorted(positions.tolist()) == list(range(2 ** (bits * axes)))
    walk = cells[:, np.argsort(positions)]
    assert (np.abs(np.diff(walk, axis=1)).sum(axis=0) == 1).all()


def test_many_axes_still_give_an_order() -> None:
    rng = np.random.default_rng(2)
    for axes in (0, 1, 7, 40, 70):
        order = hilbert_order(rng.integers(0, 5, (axes, 30)), [5] * axes)
        assert sorted(order.tolist()) == list(range(30))


def test_zones_stay_together_along_the_curve() -> None:
    zone = np.array([1, 0, 1, 0, 1])
    assert zone[hilbert_order(np.array([[0, 1, 2, 3, 4]]), [5], zone)].tolist() == [0, 0, 1, 1, 1]


def test_a_rule_allows_exactly_what_the_definition_allows() -> None:
    """A group of so many with a ball of one more than the allowed conflicts passes, and with two
    more it fails.
    """
    rng = random.Random(5)
    for _ in range(TABLES):
        size = rng.randint(2, 9)
        check, more = rng.choice(
            [
                (
                    "dissimilarity",
                    {"epsilon": Fraction(0), "delta": Fraction(rng.randint(0, 20), 20), "k": 1},
                ),
                ("alpha-k", {"alpha": Fraction(rng.randint(1, 20), 20), "k": 1}),
                ("eps-m", {"epsilon": Fraction(0), "m": Fraction(rng.randint(4, 16), 4)}),
            ]
        )

        def rows(ball: int, size: int = size) -> tuple[dict[str, Any], ...]:
            return tuple({"age": 1, "s": 0 if i < ball else i, "name": 0} for i in range(size))

        case = Local(rows(1), ("age",), ((check, more),))
        allowed = rules(case.question(), case.required)[0].conflicts(size) + 1
        for ball in range(1, size + 1):
            assert holds(check, more, rows(ball), ["age"], ()) == (ball <= allowed), (
                check,
                more,
                size,
                ball,
            )


def test_too_many_alike_are_a_proof() -> None:
    proofs = 0
    for case in tables(2 * TABLES, seed=21, most=6, plain=True):
        for spare in (0, 1, 2):
            if crowded(
                case.question(),
                case.required,
                rules(case.question(), case.required),
                suppress=spare,
            ):
                proofs += 1
                assert not some_partition_passes(
                    case.checks, case.rows, suppress=spare, distance=case.distance
                ), case
    assert proofs > TABLES // 20


def test_the_proof_says_how_many_are_alike() -> None:
    rows = tuple({"age": n, "s": min(n, 5), "name": 0} for n in range(10))
    case = Local(
        rows, ("age",), (("dissimilarity", {"epsilon": 0, "delta": Fraction(3, 4), "k": 5}),)
    )
    outcome = window(case.question(), case.required)
    assert outcome.proved
    assert (
        "5 of 10 rows are alike, and groups of 5 or more have room for 4 of them" in outcome.because
    )


def groups_of(outcome: Grouping) -> dict[tuple[Any, ...], list[Any]]:
    assert outcome.recoded is not None
    found: dict[tuple[Any, ...], list[Any]] = {}
    for _, shown in released(outcome.recoded):
        found.setdefault(tuple(shown[name] for name in outcome.recoded.raw.quasi), []).append(
            shown["s"]
        )
    return found


def test_it_succeeds_where_the_whole_table_fails() -> None:
    """2 of 4 may be equal (1 + 1/3 * 3), but not 4 of 8 (1 + 1/3 * 7 = 3.33):
    a union of valid groups is invalid.
    """
    rows = tuple({"age": 20 + i, "s": s, "name": 0} for i, s in enumerate([0, 0, 1, 2, 0, 0, 3, 4]))
    case = Local(
        rows, ("age",), (("dissimilarity", {"epsilon": 0, "delta": Fraction(2, 3), "k": 4}),)
    )
    assert not case.meets([{**row, "age": "*"} for row in rows])
    assert groups_of(window(case.question(), case.required)) == {
        ("20-23",): [0, 0, 1, 2],
        ("24-27",): [0, 0, 3, 4],
    }
    assert groups_of(mondrian(case.question(), case.required)) == {
        ("20-23",): [0, 0, 1, 2],
        ("24-27",): [0, 0, 3, 4],
    }


def test_groups_that_look_alike_are_judged_as_one() -> None:
    """All have the same age, so whatever the groups are, a reader sees one."""
    rows = tuple({"age": 20, "s": s, "name": 0} for s in [0, 0, 1, 2, 0, 0, 3, 4])
    case = Local(
        rows, ("age",), (("dissimilarity", {"epsilon": 0, "delta": Fraction(2, 3), "k": 4}),)
    )
    for method in (window, mondrian):
        assert method(case.question(), case.required).recoded is None


def test_a_larger_k_makes_larger_groups() -> None:
    rows = tuple({"age": 20 + i, "s": i % 5, "name": 0} for i in range(20))
    case = Local(
        rows, ("age",), (("dissimilarity", {"epsilon": 0, "delta": Fraction(1, 2), "k": 2}),)
    )
    assert {len(group) for group in groups_of(window(case.question(), case.required)).values()} == {
        2
    }
    assert {
        len(group) for group in groups_of(window(case.question(), case.required, k=5)).values()
    } == {5}


def test_other_checks_get_runs_along_the_curve() -> None:
    rows = tuple({"age": 20 + i, "s": i % 2, "name": 0} for i in range(10))
    case = Local(
        rows, ("age",), (("k-anonymity", {"k": 3}), ("l-diversity", {"kind": "distinct", "l": 2}))
    )
    assert sorted(
        len(group) for group in groups_of(window(case.question(), case.required)).values()
    ) == [3, 3, 4]


def test_values_that_may_mean_unknown_or_be_one_value_are_no_diversity(desk: Desk) -> None:
    """Every reading of the values has to pass, whatever they mean."""
    found = 0
    rng = random.Random(31)
    values = ["flu", "Flu", "cold", "unknown", "cough"]
    for _ in range(8):
        rows = [
            {"age": rng.randint(20, 60), "city": rng.choice("abc"), "s": rng.choice(values)}
            for _ in range(30)
        ]
        with desk.counted(rows, quasi=["age", "city"], sensitive=["s"]) as counted:
            raw = question(counted, named=False)
            assert raw.readings
            for definition in (
                LDiversity(l=2, kind="entropy"),
                Dissimilarity(epsilon=0, delta="0.4", k=4),
            ):
                for method in (window, mondrian):
                    outcome = method(raw, [Required(definition)])
                    if outcome.recoded is not None:
                        assert all_hold(outcome.recoded.question(), [Required(definition)])
                        found += 1
    assert found > 10


def test_several_sensitive_columns_are_each_protected(desk: Desk) -> None:
    rng = random.Random(32)
    rows = [
        {"age": rng.randint(20, 60), "s": rng.randint(0, 4), "t": rng.choice("xyz")}
        for _ in range(60)
    ]
    diverse, apart = LDiversity(l=2, kind="distinct"), Dissimilarity(epsilon=0, delta="0.3", k=4)
    with desk.counted(rows, quasi=["age"], sensitive=["s", "t"]) as counted:
        raw = question(counted, named=False)
        for required in (
            [Required(diverse, "s"), Required(diverse, "t")],
            [Required(apart, "s"), Required(apart, "t")],
            [Required(KAnonymity(k=3))],
        ):
            for method in (window, mondrian):
                outcome = method(raw, required)
                assert outcome.recoded is not None
                assert len(outcome.recoded.question().groups()) > 1


def test_what_is_written_can_be_read_back_and_holds(desk: Desk) -> None:
    """The released rows, as a table of their own, meet the checks."""
    for case in tables(30, seed=33, plain=True):
        for method in (window, mondrian):
            outcome = method(case.question(), case.required)
            if outcome.recoded is None:
                continue
            rows = [
                {**{name: str(shown[name]) for name in case.quasi}, "s": shown["s"]}
                for _, shown in released(outcome.recoded)
            ]
            texts = dict.fromkeys(case.quasi, "text")
            with desk.counted(rows, quasi=case.quasi, sensitive=["s"], types=texts) as counted:
                read = question(counted, named=False)
                asked = outcome.recoded.question()
                assert sorted(read.groups().sizes.tolist()) == sorted(
                    asked.groups().sizes.tolist()
                ), case


def test_any_distance_will_do() -> None:
    """Numbers, equal or not, taxonomies, distributions, a user's own:
    judged by the oracle for closeness.
    """
    found = dict.fromkeys(close_tables.WAYS, 0)
    wanted = (
        case
        for case in close_tables.cases()
        if case.kind is Dissimilarity and case.missing == "own-group"
    )
    for case in itertools.islice(wanted, TABLES // 2):
        raw = case.question()
        measure = closeness.measure_of("dissimilarity", case.parameters, {}, case.distance())
        for method in (window, mondrian):
            outcome = method(raw, [Required(case.definition())])
            if outcome.recoded is not None:
                found[case.way] += 1
                rows = [shown for _, shown in released(outcome.recoded)]
                for part in closeness.parts(
                    rows, case.quasi, "s", case.person, "own-group", measure
                ):
                    assert all(
                        closeness.passes("dissimilarity", case.parameters, one)
                        for one in part.found
                    ), case
    assert min(found.values()) > 2, found


def test_too_many_values_to_compare_each_with_each_get_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tacit.families.microdata.repair.window.VALUES", 0)
    test_any_distance_will_do()


def test_checks_that_look_into_another_table_are_refused() -> None:
    case = Local(tuple({"age": n, "s": 0, "name": 0} for n in range(4)), ("age",), ())
    required = [Required(Risk(attacker="journalist", at_most="0.5", population="voters"))]
    for method in (window, mondrian):
        outcome = method(case.question(), required)
        assert outcome.recoded is None
        assert "looks up" in outcome.because


# -- Adult ----------------------------------------------------------------------------------------

QUASI = ("age", "sex", "race", "marital_status", "education", "native_country", "workclass")


def loss(recoded: Recoded, leaves: dict[str, dict[Any, int]]) -> float:
    """ALGORITHMS 5: the geometric mean of 1 + the mean share of the
    leaves that a label stands for.
    """
    product = 1.0
    for name in QUASI:
        under = np.array([leaves[name][label] for label in recoded.labels[name]])
        values = len(recoded.raw.base.dictionaries[name])
        shares = (under - 1) / max(1, values - 1)
        product *= 1 + float(
            (shares[recoded.codes[name]] * recoded.counts).sum() / recoded.counts.sum()
        )
    return product ** (1 / len(QUASI)) - 1


def leaves_under(recoded: Recoded) -> dict[str, dict[Any, int]]:
    """How many values of the table each label stands for."""
    out: dict[str, dict[Any, int]] = {}
    for name in QUASI:
        values = recoded.raw.base.dictionaries[name]
        tree = recoded.raw.hierarchies[name]
        above = {
            value: {level.by_value()[i] for level in tree.levels} for i, value in enumerate(values)
        }
        out[name] = {
            label: sum(covers(label, value, above[value]) for value in values)
            for label in recoded.labels[name]
        }
    return out


def covers(label: Any, value: Any, above: set[Any]) -> bool:
    if isinstance(value, int) and label != "*":
        low, _, high = str(label).partition("-")
        return int(low) <= value <= int(high or low)
    return label == "*" or label in above


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data is not here")
@pytest.mark.parametrize(
    ("column", "delta", "epsilon"),
    [("hours_per_week", "0.4", 2), ("hours_per_week", "0.5", 0), ("occupation", "0.7", 0)],
)
def test_on_adult_the_window_loses_less_than_mondrian(
    desk: Desk, column: str, delta: str, epsilon: int
) -> None:
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.reading.source import count_table
    from tacit.model.schema import CsvHierarchy, Table
    from tacit.plan.plan import Plan

    table = Table(
        "adult",
        file=str(ADULT / "adult.csv"),
        quasi_identifiers=QUASI,
        sensitive=(column,),
        hierarchies={name: CsvHierarchy(f"hierarchy_{name}.csv") for name in QUASI},
    )
    engine = DuckDB(folder=ADULT)
    engine.attach(table)
    raw = question(
        count_table(engine, table, Plan("adult", ADULT, mark=lambda *path: None)), named=False
    )
    required = [Required(Dissimilarity(epsilon=epsilon, delta=delta, k=10))]
    losses = []
    for method in (window, mondrian):
        recoded = method(raw, required).recoded
        assert recoded is not None
        assert recoded.released == raw.rows
        assert all_hold(recoded.question(), required)
        losses.append(loss(recoded, leaves_under(recoded)))
    assert losses[0] < 0.8 * losses[1]
