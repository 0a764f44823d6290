"""A release with groups of its own, or without some rows, beside another: as all worlds say."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from checking.keeping import plan_of
from oracles import together as oracle
from tacit.errors import DataError
from tacit.families.catalog import define
from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.together.class_scores import answer_together
from tacit.families.microdata.definitions.together.decision import failing_rows
from tacit.families.microdata.definitions.together.grouped import grouped
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.reading.several_releases import joint_questions_of
from tacit.families.microdata.recoded import Recoded
from tacit.plan.open_plan import OpenPlan
from thorough import THOROUGH

CHECKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("l-diversity", {"kind": "distinct", "l": 2}),
    ("k-anonymity", {"k": 2}),
    ("m-invariance", {"m": 2, "kind": "values"}),
    ("alpha-k", {"alpha": Fraction(2, 3), "k": 2}),
    ("t-closeness", {"t": Fraction(1, 3), "distance": "equal"}),
)
Row = tuple[int, str, str]


def plan_with(rows: list[Row], level: int, roles: dict[str, list[str]]) -> Any:
    return plan_of(
        {
            "version": 1,
            "tables": {
                "t": {
                    "columns": ["age", "ward", "value"],
                    "rows": [list(row) for row in rows],
                    **roles,
                    "hierarchies": {"age": {"ranges": [10]}},
                }
            },
            "releases": {
                "april": {"table": "t", "generalization": {"age": level}},
                "may": {"table": "t"},
            },
        }
    )


def found_in(raw: Any, rng: random.Random) -> tuple[Recoded, list[tuple[int, int]]]:
    """Rows of each combination in groups at random, some in none; and where each row is: its
    combination and its group.
    """
    cells: Counter[tuple[int, int]] = Counter()
    parts, whole = rng.randint(1, 3), rng.random() < 0.5
    for row, people in enumerate(raw.base.occurrences.tolist()):
        groups = [rng.randint(-1, parts - 1) for _ in range(people)]
        cells.update((row, groups[0] if whole else group) for group in groups)
    if all(group == -1 for _, group in cells):
        cells = Counter({(row, 0): n for (row, _), n in cells.items()})
    shown = [(row, group) for row, group in cells if group != -1]
    labels = {raw.quasi[0]: tuple(f"group {n}" for n in range(parts))}
    codes = {raw.quasi[0]: np.array([group for _, group in shown])}
    for name in raw.quasi[1:]:
        labels[name], codes[name] = ("*",), np.zeros(len(shown), dtype=np.int64)
    recoded = Recoded(
        raw,
        np.array([row for row, _ in shown]),
        np.array([cells[one] for one in shown]),
        labels,
        codes,
    )
    return recoded, list(cells.elements())


def asked(
    rows: list[Row], level: int, roles: dict[str, list[str]], rng: random.Random
) -> tuple[JointQuestion, list[tuple[tuple[Any, ...], int]]]:
    """The question about april and such a release; everybody's values and their group."""
    plan = plan_with(rows, level, roles)
    with OpenPlan(plan) as opened:
        joint = joint_questions_of(opened).question(("april", "may"))
        recoded, places = found_in(joint.asked, rng)
        own = grouped(joint, recoded).joint
        own.releases  # noqa: B018  reads what it needs while the plan is open
        raw = joint.asked.base
        names = (*joint.asked.quasi, *joint.asked.sensitive)
        people = [(tuple(raw.value(name, row) for name in names), group) for row, group in places]
        return own.closed(), people


@pytest.mark.sampled
@pytest.mark.parametrize(("kind", "given"), CHECKS, ids=[kind for kind, _ in CHECKS])
def test_groups_of_their_own_are_judged_as_all_worlds_say(kind: str, given: dict[str, Any]) -> None:
    rng, seen = random.Random(len(kind)), Counter[str]()
    definition = define(kind, given)
    assert isinstance(definition, MicrodataDefinition)
    for _ in range(60 * THOROUGH):
        rows = [
            (rng.choice([21, 24, 33]), rng.choice("AB"), rng.choice("uvw"[: rng.randint(2, 3)]))
            for _ in range(rng.randint(5, 8))
        ]
        level, quasi = rng.choice([0, 1, 2, 2, 2]), rng.choice([["age"], ["age", "ward"]])
        roles = {"quasi-identifiers": quasi, "sensitive": ["value"]}
        joint, everybody = asked(rows, level, roles, rng)
        people = [(one[-1],) for one, _ in everybody]
        april = [(shown(one[0], level), *one[1:-1]) for one, _ in everybody]
        may = [None if group == -1 else group for _, group in everybody]
        known = oracle.known(people, [oracle.Release(april, [0]), oracle.Release(may, [0])])
        table = Counter(one for (one,), group in zip(people, may, strict=True) if group is not None)
        right = "breached" if any(map(oracle.fails(kind, given, table), known)) else "holds"
        verdict = answer_together(definition, joint, None)
        assert verdict.status == right, (everybody, level, str(verdict))
        fails, is_known = failing_rows(definition, joint, None)
        assert is_known
        assert fails.any() == (right == "breached")
        seen[right] += 1
    assert min(seen["breached"], seen["holds"]) > 3, seen


def shown(age: int, level: int) -> Any:
    """An age at a level of its hierarchy."""
    return (age, age // 10, "*")[level]


def test_rows_that_other_columns_tell_apart_are_not_dealt_by_chance() -> None:
    rows = [(21, "A", "u"), (21, "B", "u"), (24, "A", "v"), (24, "B", "v")]
    roles = {"quasi-identifiers": ["age"], "sensitive": ["value"], "insensitive": ["ward"]}
    errors = 0
    for seed in range(20):
        try:
            asked(rows, 1, roles, random.Random(seed))
        except DataError as error:
            assert "left to chance" in error.message
            errors += 1
    assert 0 < errors < 20
