"""Homogeneity of all minimal tables against brute force:
every node, every group, every table below.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from asking import handmade
from tacit.families.catalog import define
from tacit.families.microdata.attacks.all_minimal import AllMinimal, Exposed, all_minimal, show
from tacit.families.microdata.hierarchy import hierarchy
from tacit.families.microdata.lattice import Lattice
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.repair.requirements import Required
from tacit.model.schema import CsvHierarchy, RangeHierarchy, Table

TOWNS = {"p": ("north", "*"), "q": ("north", "*"), "r": ("south", "*"), "t": ("south", "*")}
AGES = (
    lambda age: age,
    lambda age: f"{age // 4 * 4}",
    lambda age: f"{age // 16 * 16}",
    lambda age: "*",
)
LEVELS = (lambda town: town, lambda town: TOWNS[town][0], lambda town: "*")
Rows = list[tuple[int, str, str | None]]


def some_rows(rng: random.Random) -> Rows:
    values = ["x", "y", None][: rng.randint(1, 3)]
    return [
        (rng.randrange(20, 40), rng.choice("pqrt"), rng.choice(values))
        for _ in range(rng.randint(1, 14))
    ]


def question(rows: Rows) -> MicrodataQuestion:
    counted = Counter(rows)
    base = handmade(
        [dict(zip(("age", "town", "s"), row, strict=True)) for row in counted],
        weights=list(counted.values()),
    )
    lines = [(number, [town, *steps]) for number, (town, steps) in enumerate(TOWNS.items(), 1)]
    trees = {
        "age": hierarchy("age", base.dictionaries["age"], RangeHierarchy((4, 16))),
        "town": hierarchy(
            "town", base.dictionaries["town"], CsvHierarchy("t.csv"), rows=lines, file="t.csv"
        ),
        "s": hierarchy("s", base.dictionaries["s"]),
    }
    table = Table("t", quasi_identifiers=("age", "town"), sensitive=("s",))
    levels = {name: tree.level(0) for name, tree in trees.items()}
    return MicrodataQuestion(
        "t", table, ("age", "town"), ("s",), base, levels, len(rows), len(rows), hierarchies=trees
    )


def by_hand(
    rows: Rows, k: int, threshold: Fraction
) -> dict[tuple[int, int], tuple[int, Exposed, Exposed]]:
    """The minimal k-anonymous nodes with their groups, those of one value, and those nearly so."""
    groups: dict[tuple[int, int], list[list[str | None]]] = {}
    for node in product(range(len(AGES)), range(len(LEVELS))):
        found = defaultdict(list)
        for age, town, value in rows:
            found[AGES[node[0]](age), LEVELS[node[1]](town)].append(value)
        groups[node] = list(found.values())
    private = {node for node, parts in groups.items() if all(len(part) >= k for part in parts)}
    lower = {
        node: {
            other
            for other in private
            if other != node and other[0] <= node[0] and other[1] <= node[1]
        }
        for node in private
    }
    return {
        node: (
            len(groups[node]),
            exposed(groups[node], Fraction(1)),
            exposed(groups[node], threshold),
        )
        for node in private
        if not lower[node]
    }


def exposed(parts: list[list[str | None]], share: Fraction) -> Exposed:
    hit = []
    for part in parts:
        known = Counter(value for value in part if value is not None)
        if known and Fraction(max(known.values()), sum(known.values())) >= share:
            hit.append(part)
    return Exposed(len(hit), sum(map(len, hit)))


def found_for(rows: Rows, k: int, threshold: Fraction, **more: Any) -> AllMinimal:
    raw = question(rows)
    lattice = Lattice(
        ("age", "town"), tuple(raw.hierarchies[name].height for name in ("age", "town"))
    )
    return all_minimal(
        raw, [Required(define("k-anonymity", {"k": k}))], lattice, "s", threshold=threshold, **more
    )


@pytest.mark.parametrize("seed", range(20))
def test_every_minimal_table_is_found_and_counted_as_by_hand(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        rows, k, threshold = some_rows(rng), rng.randint(2, 5), Fraction(rng.randint(1, 4), 4)
        found = found_for(rows, k, threshold)
        expected = by_hand(rows, k, threshold)
        ours = {
            (one.levels["age"], one.levels["town"]): (one.groups, one.certain, one.near)
            for one in found.tables
        }
        assert found.complete and ours == expected, (rows, k, threshold)
        assert found.certain.total == len(expected)
        assert found.near.people * max(1, len(expected)) == sum(
            near.people for _, _, near in expected.values()
        )


def test_what_a_person_reads_names_tables_groups_and_people() -> None:
    rows: Rows = [(20, "p", "x"), (21, "p", "x"), (24, "q", "x"), (24, "q", "y")]
    lines = list(show(found_for(rows, 2, Fraction(19, 20))))
    assert lines[0] == "t: 1 minimal table for 2-anonymity, each of 4 people."
    assert lines[1] == (
        "1 of 1 table has groups with a single s; on average 1.00 groups with 2.00 people "
        "per table."
    )
    assert (
        lines[-1]
        == "  age 1, town 0: certain 2 people in 1 group, nearly 2 people in 1 group, of 2 groups"
    )


def test_where_nothing_is_private_enough_it_says_so() -> None:
    found = found_for([(20, "p", "x")], 2, Fraction(19, 20))
    assert found.tables == () and found.complete
    assert list(show(found)) == ["t: no table meets 2-anonymity, however general."]


def test_the_json_has_exact_averages_and_no_values() -> None:
    rows: Rows = [(20, "p", "secret"), (21, "p", "secret"), (24, "q", "secret"), (24, "q", "other")]
    document = json.loads(json.dumps(found_for(rows, 2, Fraction(19, 20)).to_json()))
    assert document["certain"] == {
        "affected_tables": "1",
        "tables": "1",
        "average_groups": "1",
        "average_groups_decimal": 1.0,
        "average_people": "2",
        "average_people_decimal": 2.0,
    }
    assert document["tables"][0]["generalization"] == {"age": "1", "town": "0"}
    assert "secret" not in json.dumps(document)
