"""Risk against brute force, for the three attackers."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas
import pytest

import tacit
from asking import Desk, question
from oracles import risk as oracle
from tacit.families.microdata.definitions.risk import Risk, easiest

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


@pytest.mark.parametrize("seed", range(3))
def test_the_marketer_is_met_without_the_people_who_are_easiest_to_find(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 7))]
        known = rng.random() < 0.5
        hidden = [size + (rng.randint(0, 4) if known else 0) for size in sizes]
        limit = Fraction(rng.randint(1, 9), 10)
        fewest = min(
            (
                sum(sizes[place] for place in range(len(sizes)) if place not in left)
                for many in range(1, len(sizes) + 1)
                for left in combinations(range(len(sizes)), many)
                if sum(Fraction(sizes[place], hidden[place]) for place in left)
                <= limit * sum(sizes[place] for place in left)
            ),
            default=None,
        )
        found = easiest(np.array(sizes), np.array(hidden), limit)
        gone = sum(size for size, goes in zip(sizes, found, strict=True) if goes)
        if fewest is None:
            assert found.all()
        elif known:  # which groups are the fewest people is then a harder question
            assert not found.all() and gone >= fewest
        else:
            assert gone == fewest, (sizes, limit)


def test_anonymize_drops_rows_for_the_marketer() -> None:
    people = pandas.DataFrame({"a": ["x"] * 9 + ["y"], "s": list("uvuvuvuvuu")})
    asked = tacit.Risk(at_most="1/8", attacker="marketer")
    found = tacit.anonymize(people, asked, quasi_identifiers=["a"], suppress="10%")
    assert found.table is not None and list(found.table["a"]) == ["x"] * 9
