"""Tables without a key: each row is one person, the same one in every release."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from checking.keeping import plan_of
from tacit.checking.assess import assess
from tacit.errors import DataError
from tacit.families.overlaps.runs.restore import restore


def plan(rng: random.Random) -> dict[str, Any]:
    """A random table, of which two copies or two views are published."""
    rows = [
        [at, rng.choice([21, 22, 31, 32, None]), rng.choice("AB"), rng.choice("uvw")]
        for at in range(rng.randint(3, 7))
    ]
    table = {
        "columns": {"id": "integer", "age": "integer", "zone": "text", "value": "text"},
        "rows": rows,
        "quasi-identifiers": ["age", "zone"],
        "sensitive": ["value"],
        "hierarchies": {"age": {"ranges": [10]}, "zone": "*"},
    }
    copies = {
        "april": {"table": "people", "generalization": {"age": 1, "zone": 1}},
        "may": {"table": "people", "generalization": {"age": 2}},
    }
    views = {
        "april": {"query": "SELECT value FROM people WHERE age < 30"},
        "may": {"query": "SELECT zone, value FROM people"},
    }
    asked = {"releases": ["april", "may"]}
    return {
        "version": 1,
        "tables": {"people": table},
        "releases": rng.choice([copies, views]),
        "checks": [
            {"gamma-privacy": {**asked, "gamma": rng.choice(["1/2", "2/3"])}},
            {"k-sind": {**asked, "k": 2}},
            {"k-rsind": {**asked, "k": 2}},
        ],
    }


def test_a_table_without_a_key_is_judged_as_with_one() -> None:
    rng, seen = random.Random(3), set()
    for _ in range(40):
        bare = plan(rng)
        table = bare["tables"]["people"]
        without = {**table, "columns": {**table["columns"]}, "rows": [r[1:] for r in table["rows"]]}
        del without["columns"]["id"]
        named = {**bare, "tables": {"people": {**table, "key": ["id"], "identifiers": ["id"]}}}
        pairs = zip(
            assess(plan_of({**bare, "tables": {"people": without}})).verdicts,
            assess(plan_of(named)).verdicts,
            strict=True,
        )
        for one, other in pairs:
            assert (one.status, one.measured) == (other.status, other.measured)
            assert "same-rows" in [a.id for a in one.assumptions]
            assert "same-rows" not in [a.id for a in other.assumptions]
            seen.add((one.check, one.status))
    assert {status for _, status in seen} >= {"breached", "holds"}
    assert {check for check, _ in seen} == {"gamma-privacy", "k-sind", "k-rsind"}


def test_further_views_need_people_who_are_told_apart(tmp_path: Path) -> None:
    found = plan(random.Random(1))
    found["tables"]["people"]["rows"] = [[1, 21, "A", "u"], [2, 22, "A", "v"], [3, 31, "B", "v"]]
    found["checks"] = [{"gamma-privacy": {"releases": ["april", "may"], "gamma": "1/2"}}]
    with pytest.raises(DataError, match="nothing tells the people in 'people' apart"):
        restore(plan_of(found, tmp_path))
