"""View safety in the paper: what is printed, what the definitions give, what Tacit answers.

`safety_cases.json` beside this file has the paper's examples, corrected where they are wrong, and a
counterexample for each theorem that is wrong as printed, with values by brute force. More cases are
read from the folder that TACIT_CASES names, where there is one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from safety_asking import asked

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("TACIT_CASES") or HERE.parents[2] / "shared" / "cases") / "safety.json"
PRINTED: list[dict[str, Any]] = json.loads((HERE / "safety_cases.json").read_text("utf-8"))["cases"]
MORE: list[dict[str, Any]] = (
    json.loads(SHARED.read_text("utf-8"))["cases"] if SHARED.is_file() else []
)
CASES = {case["id"]: case for case in (*PRINTED, *MORE)}


def plan_of(case: dict[str, Any]) -> dict[str, Any]:
    rows: dict[str, list[list[Any]]] = {name: [] for name in case["schema"]}
    for fact in case["instance"]:
        rows[fact["relation"]].append(fact["values"])
    tables = {
        name: {
            "columns": [column for column, _ in columns],
            "domains": dict(columns),
            "rows": rows[name],
            "nullable": [],
        }
        for name, columns in case["schema"].items()
    }
    published = {f"v{number}": {"query": text} for number, text in enumerate(case["views"], 1)}
    asks = {"secret": "s", "release": "n"}
    return {
        "version": 1,
        "tables": tables,
        "constraints": case["constraints"],
        "secrets": {"s": case["secret"]},
        "releases": {**published, "n": {"query": case["new_view"]}},
        "published": list(published),
        "checks": [{"g-safety": asks}, {"e-safety": asks}],
    }


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    g, e = asked(plan_of(case), tmp_path)
    expected = case["expected"]
    assert (g.status == "holds", e.status == "holds") == (
        expected["gsafe_definition2"],
        expected["esafe"],
    )
    assert g.certainty == e.certainty == "exact"
    for verdict in (g, e):
        measured = verdict.to_json()["measured"]
        assert measured["worlds_equal"] == expected["gsafe_worlds_equal"]
        for key, printed in (
            ("worlds_before", "worlds_before"),
            ("worlds_after", "worlds_after"),
            ("secrets_before", "plausible_secrets_before"),
            ("secrets_after", "plausible_secrets_after"),
        ):
            assert measured[key] == str(case[printed])
    if e.witness is not None:
        numbers = {
            frozenset(map(tuple, one["secret"])): (one["before"], one["after"])
            for one in case["multiplicities"]
        }
        for one in e.witness.personal["secrets"]:
            assert numbers[frozenset(map(tuple, one["rows"]))] == (one["before"], one["after"])


REVIEWS = ["RP(r, p) -> RS(r, c), SP(c, p)"]
AT_MOST_TWO = "RP(a, p), RP(b, p), RP(c, p), a != b -> c = a | c = b"
AT_LEAST_TWO = "SP(c, p) -> RP(a, p), RP(b, p), a != b"


def conference(constraints: list[str], rp: list[list[str]]) -> dict[str, Any]:
    reviewers, committees, papers = ["r1", "r2", "r3", "r4"], ["c1", "c2"], ["p1"]
    rs = [["r1", "c1"], ["r2", "c1"], ["r3", "c2"], ["r4", "c2"]]
    return {
        "version": 1,
        "tables": {
            "RS": {"columns": ["r", "c"], "domains": {"r": reviewers, "c": committees}, "rows": rs},
            "SP": {
                "columns": ["c", "p"],
                "domains": {"c": committees, "p": papers},
                "rows": [["c1", "p1"]],
            },
            "RP": {"columns": ["r", "p"], "domains": {"r": reviewers, "p": papers}, "rows": rp},
        },
        "constraints": constraints,
        "secrets": {"s": "S(r) :- RP(r, 'p1')"},
        "releases": {
            "vr": {"query": "V(r) :- RS(r, c)"},
            "vs": {"query": "V(c) :- RS(r, c)"},
            "rs": {"query": "N(r, c) :- RS(r, c)"},
            "sp": {"query": "N(c, p) :- SP(c, p)"},
        },
        "published": ["vr", "vs"],
        "checks": [
            {"g-safety": {"secret": "s", "release": ["rs", "sp"]}},
            {"e-safety": {"secret": "s", "release": ["rs", "sp"]}},
        ],
    }


def test_example_3_exposes_the_secret_fully(tmp_path: Path) -> None:
    """With C4 (corrected) and C5 only {r1, r2} stays."""
    plan = conference([*REVIEWS, AT_MOST_TWO, AT_LEAST_TWO], [["r1", "p1"], ["r2", "p1"]])
    g, e = asked(plan, tmp_path)
    assert (g.status, e.status) == ("breached", "breached")
    assert e.measured["secrets_before"] == 7 and e.measured["secrets_after"] == 1


def test_example_1_tells_who_is_out(tmp_path: Path) -> None:
    _, e = asked(conference(REVIEWS, [["r1", "p1"]]), tmp_path)
    assert e.story == "Before, r3 and r4 could be in the answer of s. Now nobody believes that."


def test_constraint_c4_as_printed_contradicts_c5(tmp_path: Path) -> None:
    from tacit.errors import DataError

    printed = "RP(a, p), RP(b, p), RP(c, p) -> c = a | c = b"
    with pytest.raises(DataError, match="the data violate"):
        asked(conference([*REVIEWS, printed, AT_LEAST_TWO], [["r1", "p1"]]), tmp_path)
    with pytest.raises(DataError, match="the data violate"):
        asked(conference([*REVIEWS, printed, AT_LEAST_TWO], [["r1", "p1"], ["r2", "p1"]]), tmp_path)
