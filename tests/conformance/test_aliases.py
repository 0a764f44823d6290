"""What a bare name means that SELECT gives and a table has too:
the table of rules, executed on DuckDB, PostgreSQL and Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest

from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.families.queries.sql.aliases import RULES, Place
from tacit.model.schema import Table

# b falls where a rises; g has two groups.
NUMBERS = Table(
    "numbers",
    columns={"a": "integer", "b": "integer", "g": "integer"},
    rows=((1, 20, 7), (2, 10, 7), (3, 5, 8)),
)
FAILS = "fails"

# (place, SQL in which `a` is a column and an alias, its answer by column, its answer by alias)
BOTH: list[tuple[Place, str, Any, Any]] = [
    ("select", "SELECT b AS a, a AS c FROM numbers ORDER BY c LIMIT 1", [(20, 1)], [(5, 5)]),
    ("where", "SELECT b AS a FROM numbers WHERE a > 9", [], [(10,), (20,)]),
    (
        "group by",
        "SELECT 5 AS a, count(*) AS n FROM numbers GROUP BY a",
        [(5, 1), (5, 1), (5, 1)],
        [(5, 3)],
    ),
    (
        "group by, inside",
        "SELECT 5 AS a, count(*) AS n FROM numbers GROUP BY a + 0",
        [(5, 1), (5, 1), (5, 1)],
        [(5, 3)],
    ),
    ("having", "SELECT max(b) AS a FROM numbers GROUP BY g HAVING a > 9", FAILS, [(20,)]),
    (
        "having, inside an aggregate",
        "SELECT max(b) AS a FROM numbers GROUP BY g HAVING max(a) > 9",
        [],
        FAILS,
    ),
    (
        "qualify",
        "SELECT b AS a FROM numbers QUALIFY row_number() OVER (ORDER BY a) = 1",
        [(20,)],
        [(5,)],
    ),
    ("order by", "SELECT b AS a FROM numbers ORDER BY a LIMIT 1", [(20,)], [(5,)]),
    ("order by, inside", "SELECT b AS a FROM numbers ORDER BY a + 0 LIMIT 1", [(20,)], [(5,)]),
    (
        "distinct on",
        "SELECT DISTINCT ON (a) 1 AS a, 2 AS c FROM numbers",
        [(1, 2), (1, 2), (1, 2)],
        [(1, 2)],
    ),
    (
        "distinct on, inside",
        "SELECT DISTINCT ON (a + 0) 1 AS a, 2 AS c FROM numbers",
        [(1, 2), (1, 2), (1, 2)],
        [(1, 2)],
    ),
]
# (place, SQL in which `x` is an alias alone, its answer where aliases are known)
ALONE: list[tuple[Place, str, Any]] = [
    ("select", "SELECT b AS x, x AS c FROM numbers ORDER BY b LIMIT 1", [(5, 5)]),
    ("where", "SELECT b AS x FROM numbers WHERE x > 9", [(10,), (20,)]),
    ("group by", "SELECT 5 AS x, count(*) AS n FROM numbers GROUP BY x", [(5, 3)]),
    ("group by, inside", "SELECT g AS x, count(*) AS n FROM numbers GROUP BY x + 0", FAILS),
    ("having", "SELECT max(b) AS x FROM numbers GROUP BY g HAVING x > 9", [(20,)]),
    (
        "having, inside an aggregate",
        "SELECT max(b) AS x FROM numbers GROUP BY g HAVING max(x) > 9",
        FAILS,
    ),
    ("qualify", "SELECT b AS x FROM numbers QUALIFY row_number() OVER (ORDER BY x) = 1", [(5,)]),
    ("order by", "SELECT b AS x FROM numbers ORDER BY x LIMIT 1", [(5,)]),
    ("order by, inside", "SELECT b AS x FROM numbers ORDER BY x + 0 LIMIT 1", [(5,)]),
]


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[str, Engine]]:
    with open_kind(request.param, request) as opened:
        opened.attach(NUMBERS)
        yield request.param, opened


def answer(engine: tuple[str, Any], sql: str) -> Any:
    """What the engine answers to the very text, without a parser between."""
    kind, opened = engine
    try:
        if kind == "spark":
            return sorted(tuple(row) for row in opened.session.sql(sql).collect())
        return sorted(opened.connection.execute(sql).fetchall())
    except Exception:  # each engine has its own
        if kind == "postgres":
            opened.connection.rollback()
        return FAILS


@pytest.mark.parametrize(
    ("place", "sql", "column", "alias"), BOTH, ids=[place for place, *_ in BOTH]
)
def test_a_name_that_is_both_means_what_the_table_says(
    engine: tuple[str, Engine], place: Place, sql: str, column: Any, alias: Any
) -> None:
    rule = RULES[engine[0]].get(place)
    if rule is not None:
        assert answer(engine, sql) == (column if rule[0] == "column" else alias)
    else:
        assert answer(engine, sql) == FAILS, "the engine knows the clause, so the table has to"


@pytest.mark.parametrize(("place", "sql", "alias"), ALONE, ids=[place for place, *_ in ALONE])
def test_a_name_that_is_an_alias_alone_is_known_where_the_table_says(
    engine: tuple[str, Engine], place: Place, sql: str, alias: Any
) -> None:
    known = "alias" in RULES[engine[0]].get(place, ())
    assert answer(engine, sql) == (alias if known else FAILS)


def test_an_item_of_select_knows_the_names_before_it_alone(engine: tuple[str, Engine]) -> None:
    assert answer(engine, "SELECT x AS c, b AS x FROM numbers") == FAILS


def test_every_place_is_executed() -> None:
    assert {place for place, *_ in BOTH} == set(get_args(Place))
