"""Levels are searched beside what is published: the least that hold together with it, or none."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checking.keeping import plan_of
from oracles import together as oracle
from tacit.checking.assess import assess
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.repair_results import NotRepaired, Repaired

HIERARCHIES = {"age": {"ranges": [10]}, "zone": {"mask": "right"}}
CHECKS = (
    {"l-diversity": {"kind": "distinct", "l": 2}},
    {"k-anonymity": {"k": 2}},
    {"k-anonymity": {"k": 3}},
    {"l-diversity": {"kind": "entropy", "l": 1.5}},
    {"risk": {"at-most": 0.5}},
)


def drawn(rng: random.Random, check: dict[str, Any]) -> dict[str, Any]:
    """A plan with a small table, a release that is published and one that is searched."""
    [(kind, asked)] = check.items()
    rows = [
        [rng.choice([21, 24, 33, 38]), rng.choice(["A1", "A2", "B1"]), rng.choice(["u", "v", "w"])]
        for _ in range(rng.randint(5, 9))
    ]
    return {
        "version": 1,
        "tables": {
            "t": {
                "columns": ["age", "zone", "value"],
                "rows": rows,
                "quasi-identifiers": ["age", "zone"],
                "sensitive": ["value"],
                "hierarchies": HIERARCHIES,
            }
        },
        "releases": {
            "april": {
                "table": "t",
                "generalization": {"age": rng.randint(0, 2), "zone": rng.randint(1, 2)},
            },
            "may": {"table": "t", "utility": "height"},
        },
        "published": ["april"],
        "checks": [{kind: {"release": "may", **asked}}],
    }


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CHECKS)))
def test_the_levels_found_are_the_least_that_hold_together_with_what_is_out(number: int) -> None:
    rng, found_some = random.Random(number), 0
    for _ in range(8):
        document = drawn(rng, CHECKS[number])
        holding = {}
        for age, zone in itertools.product(range(3), range(3)):
            at = json.loads(json.dumps(document))
            at["releases"]["may"]["generalization"] = {"age": age, "zone": zone}
            holding[age, zone] = assess(plan_of(at)).verdicts[0].status == "holds"
        found = anonymize(plan_of(document), "may")
        least = min((sum(node) for node, holds in holding.items() if holds), default=None)
        if isinstance(found, NotRepaired):
            assert least is None or not found.proved
            continue
        levels = found.recoded.generalization
        assert levels is not None and holding[levels["age"], levels["zone"]]
        assert all(verdict.status == "holds" for verdict in found.verdicts)
        assert not found.proved or levels["age"] + levels["zone"] == least
        found_some += 1
    assert found_some


def plan_with(april: dict[str, int]) -> dict[str, Any]:
    rows = [
        [21, "A1", "flu"],
        [24, "A2", "asthma"],
        [22, "B1", "asthma"],
        [27, "B2", "asthma"],
        [33, "A1", "gout"],
        [38, "A2", "flu"],
        [31, "B1", "gout"],
        [36, "B2", "asthma"],
    ]
    document = drawn(random.Random(1), {"l-diversity": {"kind": "distinct", "l": 2}})
    document["tables"]["t"]["rows"] = rows
    document["releases"]["april"]["generalization"] = april
    return document


def test_what_the_second_release_costs_because_of_the_first_is_said(tmp_path: Path) -> None:
    plan = plan_of(plan_with({"age": 1, "zone": 2}), tmp_path)
    output = str(tmp_path / "may.csv")
    found = anonymize(plan, "may", output, options={"utility": "loss"})
    assert isinstance(found, Repaired) and found.proved and found.output == output
    assert found.because_of["given"] == ["april"]
    assert found.because_of["generalization"] != found.recoded.generalization
    assert all(one.subject == {"release": "may", "given": ["april"]} for one in found.verdicts)
    assert "as found" not in str(found.verdicts[0])


def test_where_what_is_out_tells_too_much_by_itself_no_level_helps() -> None:
    found = anonymize(plan_of(plan_with({"age": 0, "zone": 0})), "may")
    assert isinstance(found, NotRepaired) and found.proved
    assert "together with april, so that no level helps" in found.because
    assert [one.status for one in found.verdicts] == ["breached"]
    witness = found.verdicts[0].witness
    assert witness is not None and set(witness.personal["groups"]) == {"april", "may"}
    assert set(witness.personal["left"]["kinds"][0]["alone"]) == {"april", "may"}


def test_levels_that_are_picked_are_asked_together_with_what_is_out() -> None:
    plan = plan_of(plan_with({"age": 1, "zone": 2}))
    assert isinstance(anonymize(plan, "may", levels={"age": 2, "zone": 1}), NotRepaired)
    assert isinstance(anonymize(plan, "may", levels={"age": 2, "zone": 2}), Repaired)


@pytest.mark.sampled
@pytest.mark.parametrize("number", range(len(CHECKS)))
@pytest.mark.parametrize(
    "options",
    [
        {"method": "mondrian", "utility": "loss"},
        {"method": "window", "utility": "loss"},
        {"suppress": 0.4},
    ],
    ids=["mondrian", "window", "suppress"],
)
def test_groups_of_their_own_and_rows_left_out_hold_together_with_what_is_out(
    options: dict[str, Any], number: int
) -> None:
    [(kind, asked)] = CHECKS[number].items()
    exact = {
        key.replace("-", "_"): Fraction(str(value)) if isinstance(value, float) else value
        for key, value in asked.items()
    }
    rng, found_some = random.Random(number), 0
    for _ in range(6):
        document = drawn(rng, CHECKS[number])
        level = document["releases"]["april"]["generalization"]
        found = anonymize(plan_of(document), "may", options=options)
        if isinstance(found, NotRepaired):
            continue
        assert all(verdict.status == "holds" for verdict in found.verdicts), found.verdicts
        known, table = told_together(found, level)
        breaks = oracle.fails(kind, exact, table)
        assert not any(map(breaks, known)), (document, options)
        found_some += 1
    assert found_some


def told_together(found: Repaired, level: dict[str, int]) -> tuple[list[oracle.Known], Any]:
    """What all worlds say of everybody who is in april, and in what was found or not."""
    recoded, base = found.recoded, found.recoded.raw.base
    people, april, may = [], [], []
    for row, everybody in enumerate(base.occurrences.tolist()):
        age, zone = base.value("age", row), base.value("zone", row)
        cells = [
            tuple(int(recoded.codes[name][cell]) for name in recoded.labels)
            for cell in np.flatnonzero(recoded.rows == row).tolist()
            for _ in range(int(recoded.counts[cell]))
        ]
        people += [(base.value("value", row),)] * everybody
        seen = ((age, age // 10, "*")[level["age"]], (zone, zone[0], "*")[level["zone"]])
        april += [seen] * everybody
        may += [*cells, *[None] * (everybody - len(cells))]
    table = Counter(one for (one,), group in zip(people, may, strict=True) if group is not None)
    return oracle.known(people, [oracle.Release(april, [0]), oracle.Release(may, [0])]), table


def test_where_no_groups_hold_with_what_is_out_that_is_proved(tmp_path: Path) -> None:
    plan = plan_of(plan_with({"age": 0, "zone": 0}), tmp_path)
    found = anonymize(plan, "may", options={"method": "mondrian", "utility": "loss"})
    assert isinstance(found, NotRepaired) and found.proved
    assert "even the coarsest groups fail 2-diversity together with april" in found.because
    assert [one.status for one in found.verdicts] == ["breached"]


def test_groups_of_their_own_are_written_beside_what_is_out(tmp_path: Path) -> None:
    plan = plan_of(plan_with({"age": 1, "zone": 2}), tmp_path)
    output = str(tmp_path / "may.csv")
    found = anonymize(plan, "may", output, options={"method": "mondrian", "utility": "loss"})
    assert isinstance(found, Repaired) and found.output == output
    assert found.verdicts[0].subject == {"release": "may", "given": ["april"]}


def test_checks_that_judge_no_group_alone_are_named_where_none_hold_with_what_is_out() -> None:
    document = plan_with({"age": 2, "zone": 1})
    document["tables"]["t"]["rows"] = [
        [21, "A1", "u"],
        [33, "B1", "u"],
        [24, "A2", "v"],
        [24, "B1", "u"],
        [24, "B1", "u"],
    ]
    document["checks"] = [{"c-k-safety": {"release": "may", "c": 0.9, "k": 0}}]
    found = anonymize(plan_of(document), "may", options={"method": "mondrian", "utility": "loss"})
    assert isinstance(found, NotRepaired)
    assert "for which (0.9,0)-safety together with april holds" in found.because
