"""Risk against brute force, for the three attackers."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tacit
from asking import Desk, question
from oracles import risk as oracle
from tacit.families.microdata.definitions.risk import Risk

QUASI = ("a", "b")
LIMITS = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(1))


def some_rows(rng: random.Random, most: int) -> list[dict[str, object]]:
    values = [None, "x", "y", "z"]
    return [
        {
            "a": rng.choice(values),
            "b": rng.choice(values[: rng.randint(1, 4)]),
            "s": rng.choice("uv"),
        }
        for _ in range(rng.randint(1, most))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_risk_agrees_with_brute_force(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    desk = Desk(tmp_path)
    for _ in range(120):
        rows = some_rows(rng, 9)
        population = rows + some_rows(rng, 12)
        with desk.counted(
            rows, quasi=QUASI, sensitive=("s",), types=dict.fromkeys(rows[0], "text")
        ) as counted:
            asked = replace(
                question(counted, {}),
                population=lambda name, groups, everybody=population: np.array(
                    [
                        oracle.alike(groups.label(number), everybody, QUASI)
                        for number in range(len(groups))
                    ]
                ),
            )
            for attacker, table in (
                ("prosecutor", None),
                ("marketer", None),
                ("marketer", "city"),
                ("journalist", "city"),
            ):
                truth = oracle.risk(rows, QUASI, attacker, population if table else None)
                for limit in (*LIMITS, truth):
                    verdict = Risk(at_most=limit, attacker=attacker, population=table).check(asked)
                    assert verdict.measured["risk"] == truth
                    assert verdict.status == ("holds" if truth <= limit else "breached")


def test_the_population_is_recoded_like_the_release(tmp_path: Path) -> None:
    rng = random.Random(7)
    for case in range(25):
        folder = tmp_path / str(case)
        folder.mkdir()
        city = [(rng.randint(20, 60), rng.choice("FM")) for _ in range(60)]
        for name, people in (("city", city), ("t", city[:12])):
            (folder / f"{name}.csv").write_text(
                "age,sex\n" + "".join(f"{age},{sex}\n" for age, sex in people)
            )
        (folder / "tacit.yaml").write_text(
            "version: 1\n"
            "tables:\n"
            "  t: {quasi-identifiers: [age, sex], hierarchies: {age: {ranges: [5, 10]}}}\n"
            "  city: {}\n"
            "releases: {r: {table: t, generalization: {age: 2}}}\n"
            "checks:\n- risk: {release: r, at-most: 0.2, attacker: journalist, population: city}\n"
            "- risk: {release: r, at-most: 0.2, attacker: marketer, population: city}\n"
        )
        everybody = [{"age": age // 10, "sex": sex} for age, sex in city]
        for verdict in tacit.load(folder / "tacit.yaml").check():
            attacker = verdict.required["attacker"]
            assert verdict.measured["risk"] == oracle.risk(
                everybody[:12], ("age", "sex"), attacker, everybody
            )
