"""What a release shows today: every kind of view, on DuckDB and
PostgreSQL, and files that have the same.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from checking.keeping import KEY, plan_of
from tacit.checking.recording.answer_digests import Answers
from tacit.checking.recording.release_identity import definition_of
from tacit.families.family import tables_of
from tacit.families.queries.reading.trees import needed_views
from tacit.plan.open_plan import OpenPlan

PLAN: dict[str, Any] = {
    "version": 1,
    "tables": {
        "staff": {
            "columns": {"name": "text", "ward": "text", "pay": "decimal"},
            "rows": [["Ann", "A", 10.5], ["Bob", "A", 11], ["Cy", "B", 10.5]],
            "nullable": [],
        },
        "beds": {
            "columns": {"ward": "text", "number": "integer"},
            "rows": [["A", 1], ["A", 2], ["B", 3]],
            "nullable": [],
        },
    },
    "releases": {
        "plain": {"query": "SELECT ward, pay FROM Staff"},
        "star": {"query": "SELECT * FROM beds"},
        "some": {"query": "SELECT DISTINCT pay FROM Staff WHERE ward = 'A' OR ward = 'B'"},
        "both": {"query": "SELECT s.name, b.number FROM staff s JOIN beds b ON s.ward = b.ward"},
        "either": {"query": "SELECT ward FROM Staff UNION ALL SELECT ward FROM beds"},
        "sorted": {"query": "SELECT name FROM Staff ORDER BY pay DESC, name LIMIT 2"},
        "counted": {"query": "SELECT ward, count(*) AS many FROM Staff GROUP BY ward"},
        "nested": {"query": "SELECT ward FROM plain WHERE pay > 10.5"},
        "deeper": {
            "query": (
                "WITH x AS (SELECT ward FROM nested) SELECT x.ward, beds.number FROM x, beds "
                "WHERE x.ward = beds.ward"
            )
        },
        "created": {"query": "CREATE VIEW created AS SELECT number FROM beds WHERE number > 1"},
        "rules": {"query": "V(n) :- staff(n, 'A', p); V(n) :- staff(n, w, p), beds(w, 3)"},
        "yes": {"query": "V() :- beds('A', 2)"},
        "no": {"query": "V() :- beds('A', 3)"},
        "nobody": {"query": "V(n) :- staff(n, w, p), w != w"},
    },
}
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "plain": [("A", 10.5), ("A", 11), ("B", 10.5)],
    "star": [("A", 1), ("A", 2), ("B", 3)],
    "some": [(10.5,), (11,)],
    "both": [("Ann", 1), ("Ann", 2), ("Bob", 1), ("Bob", 2), ("Cy", 3)],
    "either": [("A",), ("A",), ("B",), ("A",), ("A",), ("B",)],
    "sorted": [("Bob",), ("Ann",)],
    "counted": [("A", 2), ("B", 1)],
    "nested": [("A",)],
    "deeper": [("A", 1), ("A", 2)],
    "created": [(2,), (3,)],
    "rules": [("Ann",), ("Bob",), ("Cy",)],
    "yes": [(1,)],
    "no": [],
    "nobody": [],
}
TABLES = {
    "both": ("beds", "staff"),
    "deeper": ("beds", "staff"),
    "nested": ("staff",),
    "rules": ("beds", "staff"),
    "yes": ("beds",),
    "either": ("beds", "staff"),
}


def answers_of(opened: OpenPlan) -> Answers:
    return Answers(opened, KEY)


def plainly(rows: Iterable[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows with their numbers as decimals."""
    return Counter(
        tuple(one if isinstance(one, str) else Decimal(str(one)) for one in row) for row in rows
    )


def check_all(**changed: Any) -> dict[str, str]:
    found = {}
    with OpenPlan(plan_of({**PLAN, **changed})) as opened:
        answers = answers_of(opened)
        for name, rows in ROWS.items():
            assert plainly(answers.shown(name).rows) == plainly(rows), name
            summed = answers.today(name)
            assert summed is not None and summed.rows == len(rows), name
            found[name] = summed.digest
            assert TABLES.get(name) in (None, tables_of(name, opened))
    return found


def test_answers_are_the_same_on_all_engines(postgres_url: str) -> None:
    assert check_all() == check_all(source=postgres_url)


def test_a_view_needs_those_that_it_names() -> None:
    plan = plan_of(PLAN)
    assert needed_views(plan, "deeper") == ["plain", "nested"] and needed_views(plan, "rules") == []


def test_a_release_is_what_its_views_are() -> None:
    before = definition_of(plan_of(PLAN), "deeper", KEY)
    changed = copy.deepcopy(PLAN)
    changed["releases"]["plain"]["query"] += " WHERE ward <> 'C'"
    assert definition_of(plan_of(changed), "deeper", KEY) != before
    other = copy.deepcopy(PLAN)
    other["releases"]["star"]["query"] += " WHERE ward <> 'C'"
    other["releases"]["deeper"]["to"] = ["press"]
    assert definition_of(plan_of(other), "deeper", KEY) == before


@pytest.mark.parametrize(
    ("name", "text", "fits"),
    [
        ("plain", "ward,pay\nB,10.50\nA,11\nA,10.5\n", True),
        ("plain", "pay;ward\n10.5;A\n11;A\n10.5;B\n", True),
        ("plain", "one,two\nA,11\nA,10.5\nB,10.5\n", True),
        ("plain", "ward,pay\nA,10.5\nA,11\n", False),
        ("plain", "ward,pay\nA,10.5\nA,11\nB,10.5\nB,10.5\n", False),
        ("plain", "ward\nA\nA\nB\n", False),
        ("counted", "ward,many\nA,2\nB,1\n", True),
        ("counted", "ward,many\nA,x\nB,1\n", False),
        ("star", "number,ward\n1,A\n2,A\n3,B\n", True),
    ],
)
def test_files_with_the_same_rows_however_they_are_written(
    name: str, text: str, fits: bool, tmp_path: Path
) -> None:
    (tmp_path / "answer.csv").write_text(text)
    with OpenPlan(plan_of(PLAN, tmp_path)) as opened:
        answers = answers_of(opened)
        today = answers.today(name)
        assert (
            today is not None
            and answers.has(tmp_path / "answer.csv", "answer.csv", name, today.digest) == fits
        )
