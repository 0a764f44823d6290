"""Covering against brute force: what is computed from views is the
same wherever the views' answers are.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from oracles.sql_supports import Instances
from tacit.families.queries.logic.covering import covers
from tacit.families.queries.query import Query, Relation
from tacit.families.queries.read import read

RELATIONS = {"r": Relation("r", ("a", "b"), nullable=frozenset({"b"})), "s": Relation("s", ("c",))}
FACTS = [("r", (a, b)) for a in (1, 2) for b in (1, None)] + [("s", (c,)) for c in (1, 2)]
CONDITIONS = (
    "x.a = 1",
    "x.b = 1",
    "x.a < 2",
    "x.b IS NOT NULL",
    "x.a = y.a",
    "x.b = y.b",
    "x.a = z.c",
    "x.b <> y.a",
)
SHOWN = ("x.a", "x.b", "y.a", "y.b", "z.c", "1")


def text(rng: random.Random) -> str:
    """A query over up to three of r AS x, r AS y, s AS z."""
    tables = rng.choice((("r x",), ("r x", "r y"), ("r x", "s z"), ("s z",), ("r x", "r y", "s z")))
    aliases = {one.split()[1] for one in tables}
    conditions = [
        one for one in CONDITIONS if {word for word in "xyz" if f"{word}." in one} <= aliases
    ]
    shown = [one for one in SHOWN if one == "1" or one[0] in aliases]
    where = rng.sample(conditions, min(len(conditions), rng.randrange(3)))
    chosen = ", ".join(
        f"{one} AS c{at}"
        for at, one in enumerate(rng.sample(shown, rng.randrange(1, len(shown) + 1)))
    )
    return f"SELECT {rng.choice(('', 'DISTINCT '))}{chosen} FROM {', '.join(tables)}" + (
        f" WHERE {' AND '.join(where)}" if where else ""
    )


def exact(sql: str, name: str) -> Query | None:
    return read(sql, RELATIONS, name=name).exact


@pytest.fixture(scope="module")
def instances() -> Instances:
    return Instances({"r": ("a", "b"), "s": ("c",)}, FACTS, 6)


@pytest.mark.slow
def test_what_is_covered_follows_from_the_views(instances: Instances) -> None:
    rng = random.Random(9)
    answers: dict[str, list[Counter[Any]]] = {}
    covered = 0
    for _ in range(1_500):
        asked, *views = (text(rng) for _ in range(rng.randrange(2, 4)))
        query, read_views = (
            exact(asked, "q"),
            [one for at, sql in enumerate(views) if (one := exact(sql, f"v{at}"))],
        )
        if query is None or covers(query, read_views, RELATIONS) is None:
            continue
        covered += 1
        for sql in (asked, *views):
            answers.setdefault(sql, instances.answers(sql))
        seen: dict[tuple[Any, ...], Counter[Any]] = {}
        for at in range(len(instances.sets)):
            shown = tuple(frozenset(answers[one][at].items()) for one in views)
            assert seen.setdefault(shown, answers[asked][at]) == answers[asked][at], (asked, views)
    assert covered > 90


@pytest.mark.parametrize(
    ("asked", "view", "found"),
    [
        ("SELECT a FROM r WHERE a = 1", "SELECT a, b FROM r", True),
        ("SELECT a FROM r WHERE b = 1", "SELECT a FROM r", False),
        ("SELECT a FROM r", "SELECT DISTINCT a FROM r", False),  # how often is not shown
        ("SELECT DISTINCT a FROM r", "SELECT DISTINCT a, b FROM r", True),
        ("SELECT a FROM r WHERE b IS NOT NULL", "SELECT a FROM r", False),
        ("SELECT a FROM r", "SELECT a FROM r WHERE b IS NOT NULL", False),
        ("SELECT x.a FROM r x, r y WHERE x.a = y.a", "SELECT a FROM r", True),
        ("SELECT x.a FROM r x, r y WHERE x.b = y.b", "SELECT a FROM r", False),
        ("SELECT a FROM r WHERE a < 2 AND b = 1", "SELECT a FROM r WHERE b = 1", True),
        ("SELECT a FROM r WHERE a < 2 UNION ALL SELECT a FROM r", "SELECT a FROM r", True),
    ],
)
def test_by_hand(asked: str, view: str, found: bool) -> None:
    query, one = exact(asked, "q"), exact(view, "v")
    assert query is not None and one is not None
    assert (covers(query, [one], RELATIONS) is not None) is found
