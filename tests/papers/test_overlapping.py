"""Overlapping views of one table: the worked examples of both papers, and shared cases whose
values brute force computed.
"""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from overlap_asking import asked
from tacit.errors import DataError
from tacit.families.overlaps.counting.average_beliefs import beliefs
from tacit.families.overlaps.overlap import overlap_of
from tacit.model.verdict import Verdict

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("TACIT_CASES") or HERE.parents[2] / "shared" / "cases") / "tables.json"
NO_CASES = (
    f"no {SHARED.name} in {SHARED.parent}: put the cases there, or name their folder in TACIT_CASES"
)


def shared(kind: str) -> list[Any]:
    if not SHARED.is_file():
        return [pytest.param({}, marks=pytest.mark.skip(reason=NO_CASES))]
    every = json.loads(SHARED.read_text("utf-8"))["cases"]
    return [pytest.param(one, id=one["name"]) for one in every if one["kind"] == kind]


# -- gamma-privacy ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", shared("gamma"))
def test_gamma_cases_as_a_plan_with_answers_from_elsewhere(
    case: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("id\n" + "".join(f"{one}\n" for one in case["people"]))
    releases = {}
    for number, view in enumerate(case["views"], 1):
        (tmp_path / f"v{number}.csv").write_text(
            "ill\n" + "".join(f"{value}\n" for value in view["values"])
        )
        releases[f"v{number}"] = {
            "query": f"SELECT ill FROM people WHERE id IN ({quoted(view['members'])})",
            "answer": f"v{number}.csv",
        }
    plan = {
        "version": 1,
        "tables": {
            "people": {
                "columns": {"id": "text", "ill": "text"},
                "file": "people.csv",
                "key": ["id"],
                "sensitive": ["ill"],
            }
        },
        "releases": releases,
        "checks": [{"gamma-privacy": {"releases": list(releases), "gamma": "1/2"}}],
    }
    if not case["count"]:
        with pytest.raises(DataError, match="contradict each other"):
            asked(plan, tmp_path)
        return
    (verdict,) = asked(plan, tmp_path)
    assert verdict.measured["worlds"] == case["count"]
    assert verdict.measured["gamma"] == Fraction(case["max_posterior"])
    assert verdict.status == (
        "holds" if Fraction(case["max_posterior"]) <= Fraction(1, 2) else "breached"
    )


@pytest.mark.parametrize("case", shared("gamma"))
def test_gamma_cases_have_the_posteriors_of_brute_force(case: dict[str, Any]) -> None:
    if not case["count"]:
        pytest.skip("no table fits, so there are no posteriors")
    values = sorted({value for view in case["views"] for value in view["values"]})
    people = sorted({one for view in case["views"] for one in view["members"]})
    members = [
        [number for number, view in enumerate(case["views"]) if one in view["members"]]
        for one in people
    ]
    found = beliefs(overlap_of(values, [view["values"] for view in case["views"]], members))
    assert found.tables == case["count"]
    for at, person in enumerate(people):
        for number, value in enumerate(values):
            share = found.share(at, number)
            assert share is not None and share[0] == share[1] == Fraction(
                case["posteriors"][person].get(value, "0")
            )


# -- indistinguishability --------------------------------------------------------------------------


@pytest.mark.parametrize("case", shared("sind"))
def test_sind_cases(case: dict[str, Any]) -> None:
    found = asked(plan_of(case))
    sind, literal, diverse = found
    assert sind.measured["k"] == case["k_sind_level"]
    assert literal.measured["k"] == case["k_rsind_level_def4"]
    assert diverse.measured["k"] == case["k_rsind_level_diverse"]
    assert crowds(sind) == {frozenset(str(one) for one in some) for some in case["sind_partition"]}


def plan_of(case: dict[str, Any]) -> dict[str, Any]:
    columns = [f"{name}_" for name in case["attributes"]]
    rows = [
        [str(number), *row, value]
        for number, (row, value) in enumerate(zip(case["B"], case["P"], strict=True))
    ]
    table = {
        "columns": ["nr", *columns, "p"],
        "key": ["nr"],
        "sensitive": ["p"],
        "domains": {"p": case["dom"]},
        "rows": rows,
    }
    releases = {
        f"v{number}": {"query": query_of(view)} for number, view in enumerate(case["views"], 1)
    }
    checks = [
        {"k-sind": {"releases": list(releases), "k": 2}},
        {"k-rsind": {"releases": list(releases), "k": 2, "variant": "literal"}},
        {"k-rsind": {"releases": list(releases), "k": 2}},
    ]
    return {"version": 1, "tables": {"people": table}, "releases": releases, "checks": checks}


def query_of(view: dict[str, Any]) -> str:
    shown = [*(f"{name}_" for name in view["project"]), *(["p"] if view["projectP"] else [])]
    if "cells" in view:
        where = " OR ".join(
            f"(id_ = '{person}' AND p = '{value}')" for person, value in view["cells"]
        )
    else:
        named = {
            "p" if name == "P" else f"{name}_": values for name, values in view["where"].items()
        }
        where = (
            " AND ".join(f"{name} IN ({quoted(values)})" for name, values in named.items())
            or "TRUE"
        )
    return f"SELECT {', '.join(shown) or '1'} FROM people WHERE {where}"


def quoted(values: list[Any]) -> str:
    return ", ".join(f"'{value}'" if isinstance(value, str) else str(value) for value in values)


def crowds(verdict: Verdict) -> set[frozenset[str]]:
    return {frozenset(one) for one in verdict.personal["sets"]}


# -- Yao and others, the figures -------------------------------------------------------------------

TBL = [
    ["t1", "22030", 39, "White", "Male", 1, "Cold"],
    ["t2", "22030", 50, "White", "Male", 12, "AIDS"],
    ["t3", "22030", 38, "White", "Male", 5, "Obesity"],
    ["t4", "22030", 53, "Black", "Male", 5, "AIDS"],
    ["t5", "22031", 28, "Black", "Female", 8, "Chest Pain"],
    ["t6", "22031", 37, "White", "Female", 10, "Hypertension"],
    ["t7", "22031", 49, "Black", "Female", 1, "Obesity"],
    ["t8", "22031", 52, "White", "Male", 8, "Cold"],
    ["t9", "22032", 30, "Asian", "Male", 10, "Hypertension"],
    ["t10", "22032", 40, "Asian", "Male", 9, "Chest Pain"],
    ["t11", "22033", 30, "White", "Male", 10, "Hypertension"],
    ["t12", "22033", 40, "White", "Male", 9, "Chest Pain"],
]


def patients(rows: list[list[Any]], queries: list[str], check: dict[str, Any]) -> Verdict:
    table = {
        "columns": ["who", "zip", "age", "race", "gender", "charge", "problem"],
        "key": ["who"],
        "sensitive": ["problem"],
        "rows": rows,
    }
    releases = {f"v{number}": {"query": text} for number, text in enumerate(queries, 1)}
    kind, more = next(iter(check.items()))
    return asked(
        {
            "version": 1,
            "tables": {"tbl": table},
            "releases": releases,
            "checks": [{kind: {"releases": list(releases), **more}}],
        }
    )[0]


def test_figure_2_is_2_sind() -> None:
    verdict = patients(
        TBL[8:],
        ["SELECT zip, problem FROM tbl WHERE zip IN ('22032', '22033')"],
        {"k-sind": {"k": 2}},
    )
    assert verdict.status == "holds" and crowds(verdict) == {
        frozenset({"t9", "t10"}),
        frozenset({"t11", "t12"}),
    }


FIGURE_3 = [
    "SELECT problem FROM tbl WHERE zip = '22030'",
    "SELECT 1 FROM tbl WHERE who = 't1' AND problem = 'Obesity'",
]


def test_figure_3_is_2_rsind_and_not_2_sind() -> None:
    assert patients(TBL[:4], FIGURE_3, {"k-sind": {"k": 2}}).measured["k"] == 1
    verdict = patients(TBL[:4], FIGURE_3, {"k-rsind": {"k": 2}})
    assert verdict.status == "holds" and verdict.measured["k"] == 2


def test_figure_4_with_t6_in_one_set_only() -> None:
    """Errata 17: t6 is White and Female, and in no other set."""
    queries = [
        "SELECT race, problem FROM tbl WHERE zip = '22030'",
        "SELECT gender, problem FROM tbl WHERE race = 'White'",
    ]
    verdict = patients(TBL, queries, {"k-sind": {"k": 2}})
    assert verdict.measured["k"] == 1
    sets = [{"t1", "t2", "t3"}, {"t4"}, {"t5", "t7", "t9", "t10"}, {"t6"}, {"t8", "t11", "t12"}]
    assert crowds(verdict) == {frozenset(one) for one in sets}


def test_proposition_1_a_k_anonymous_release_is_k_sind() -> None:
    rows = [
        [f"p{number}", 10 * (number // 3) + number % 3, "abc"[number % 3]] for number in range(9)
    ]
    table = {
        "columns": ["who", "age", "ill"],
        "key": ["who"],
        "quasi-identifiers": ["age"],
        "sensitive": ["ill"],
        "rows": rows,
        "hierarchies": {"age": {"ranges": [10]}},
        "identifiers": ["who"],
    }
    plan = {
        "version": 1,
        "tables": {"people": table},
        "releases": {"april": {"table": "people", "generalization": {"age": 1}}},
        "checks": [
            {"k-anonymity": {"release": "april", "k": 3}},
            {"k-sind": {"release": "april", "k": 3}},
            {"gamma-privacy": {"release": "april", "gamma": "1/3"}},
        ],
    }
    anonymous, sind, gamma = asked(plan)
    assert [one.status for one in (anonymous, sind, gamma)] == ["holds"] * 3
    assert sind.measured["k"] == anonymous.measured["k"] == 3
    assert gamma.measured["worlds"] == 6**3


def test_hospital_microdata_and_an_insurers_view_are_judged_together() -> None:
    rows = [
        ["Ann", 31, "flu"],
        ["Bob", 35, "cold"],
        ["Cy", 38, "flu"],
        ["Di", 44, "cold"],
        ["Ed", 47, "flu"],
    ]
    table = {
        "columns": ["name", "age", "ill"],
        "key": ["name"],
        "quasi-identifiers": ["age"],
        "sensitive": ["ill"],
        "rows": rows,
        "hierarchies": {"age": {"ranges": [10]}},
    }
    releases = {
        "hospital": {"table": "people", "generalization": {"age": 1}},
        "insurer": {"query": "SELECT ill FROM people WHERE age > 36"},
    }
    checks = [
        {"gamma-privacy": {"releases": names, "gamma": "2/3"}}
        for names in (["hospital"], ["insurer"], ["hospital", "insurer"])
    ]
    alone, insurer, both = asked(
        {"version": 1, "tables": {"people": table}, "releases": releases, "checks": checks}
    )
    assert [alone.status, insurer.status, both.status] == ["holds", "holds", "breached"]
    assert both.measured["gamma"] == 1 and both.witness is not None
    assert both.witness.personal["person"] == {"name": "Cy"}
