"""SQL that was once read otherwise than databases run it:
now it is read as DuckDB answers it, or refused with a code.
"""

from __future__ import annotations

from collections import Counter

import pytest

from families.queries.sql.test_sql_supports import COLUMNS, FACTS, RELATIONS
from oracles.sql_supports import Instances, evaluated, taking_part
from tacit.errors import QueryError
from tacit.families.queries.query import Relation
from tacit.families.queries.read import read

SICK = "EXISTS (SELECT 1 FROM S WHERE S.c = R.a AND S.b = 1)"

# (SQL, how it is read: "supports", "exact", or the code with which it is refused)
CASES = [
    # HAVING means the alias where the column is no key
    ("SELECT a, avg(b) AS b FROM R GROUP BY a HAVING b > 1", "supports"),
    ("SELECT a, sum(b) AS b FROM R GROUP BY a HAVING b > 1", "supports"),
    ("SELECT c AS b FROM S GROUP BY c HAVING b = 2", "exact"),
    ("SELECT * FROM (SELECT c AS b FROM S GROUP BY c HAVING b = 2) q", "exact"),
    ("SELECT a FROM R WHERE a IN (SELECT c AS b FROM S GROUP BY c HAVING b = 2)", "supports"),
    ("SELECT a FROM R WHERE EXISTS (SELECT c AS b FROM S GROUP BY c HAVING b = 2)", "supports"),
    ("SELECT c AS b FROM S GROUP BY c, S.b HAVING b = 2", "ambiguous-column"),
    ("SELECT b AS b FROM S GROUP BY b HAVING b = 2", "exact"),
    ("SELECT a AS x, b AS x FROM R WHERE x = 1", "ambiguous-column"),
    (
        (
            "SELECT a FROM R o(a, k) WHERE EXISTS (SELECT b AS k FROM S WHERE EXISTS (SELECT 1 "
            "WHERE k = 1))"
        ),
        "ambiguous-column",
    ),
    (
        "SELECT a FROM R o(a, k) WHERE EXISTS (SELECT k AS z, c AS k FROM S WHERE z = 1)",
        "ambiguous-column",
    ),
    # subqueries as grouping keys
    ("SELECT count(*) FROM R GROUP BY a IN (SELECT c FROM S WHERE b = 1)", "supports"),
    (f"SELECT count(*) FROM R GROUP BY {SICK}", "supports"),
    (f"SELECT count(*) FROM R GROUP BY CASE WHEN {SICK} THEN 1 END", "supports"),
    ("SELECT count(*) FROM R GROUP BY (SELECT max(c) FROM S WHERE S.b = R.b)", "supports"),
    (
        "SELECT count(*) FROM R GROUP BY GROUPING SETS ((a), (a IN (SELECT c FROM S WHERE b = 1)))",
        "supports",
    ),
    ("SELECT a FROM R GROUP BY (1)", "exact"),
    # an inner order that something outside goes by
    (f"SELECT * FROM (SELECT a FROM R ORDER BY {SICK} DESC, a) LIMIT 1", "supports"),
    (f"(SELECT a FROM R ORDER BY {SICK} DESC, a) LIMIT 1", "supports"),
    (f"WITH q AS (SELECT a FROM R ORDER BY {SICK} DESC, a) SELECT * FROM q LIMIT 1", "supports"),
    (f"SELECT string_agg(a, ',') FROM (SELECT a FROM R ORDER BY {SICK} DESC, a)", "supports"),
    (f"SELECT first(a) FROM (SELECT a FROM R ORDER BY {SICK} DESC, a)", "supports"),
    (f"SELECT a, row_number() OVER () FROM (SELECT a FROM R ORDER BY {SICK} DESC, a)", "supports"),
    (
        (
            "SELECT DISTINCT ON (q) q, a FROM (SELECT 1 AS q, a FROM R) r ORDER BY q, a IN "
            "(SELECT c FROM S WHERE b = 1), a"
        ),
        "supports",
    ),
    # rows that are always there
    (
        (
            "SELECT a FROM R WHERE EXISTS (SELECT count(*) AS n FROM S WHERE S.c = R.a AND R.b "
            "= 1 GROUP BY ALL)"
        ),
        "supports",
    ),
    (
        (
            "SELECT a FROM R WHERE EXISTS (SELECT 1, count(*) AS n FROM S WHERE S.c = R.a AND "
            "R.b = 1 GROUP BY ALL)"
        ),
        "supports",
    ),
    (
        (
            "SELECT a FROM R WHERE EXISTS (SELECT count(*) AS n FROM S WHERE S.c = R.a AND R.b "
            "= 1 GROUP BY ())"
        ),
        "supports",
    ),
    (
        (
            "SELECT c FROM S WHERE EXISTS (SELECT DISTINCT r.c IN (SELECT a FROM R WHERE b = "
            "1) FROM S r OFFSET 1)"
        ),
        "supports",
    ),
    # aggregates that make a query a grouped one
    (
        "SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE 1 = 0 ORDER BY count(*) LIMIT 1)",
        "supports",
    ),
    (
        "SELECT a FROM R WHERE EXISTS (SELECT DISTINCT ON (count(*)) 1 FROM S WHERE 1 = 0)",
        "supports",
    ),
    (
        (
            "SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE 1 = 0 WINDOW w AS (ORDER BY "
            "count(*)))"
        ),
        "supports",
    ),
    ("SELECT (SELECT max(R.a) FROM S WHERE 1 = 0) FROM R", "not-read"),
    ("SELECT 1 FROM R WHERE 1 = 0 ORDER BY (SELECT max(R.a) FROM S WHERE 1 = 0)", "not-read"),
    ("SELECT (SELECT count(*) FILTER (WHERE R.a = 1) FROM S) FROM R", "not-read"),
    # names
    (
        "WITH RECURSIVE x AS (SELECT * FROM S), S AS (SELECT 1 AS b, 2 AS c) SELECT * FROM x",
        "ambiguous-table",
    ),
    ('WITH "main.R" AS (SELECT 1 AS a) SELECT a FROM main.R', "ambiguous-table"),
    ('SELECT a FROM R AS "x.y" WHERE "x.y".a = 1', "ambiguous-table"),
    ("SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S AS R WHERE main.R.a = 1)", "supports"),
    ("SELECT a FROM other.main.R", "unknown-table"),
    (
        "SELECT a FROM R, (SELECT 1 AS rowid) q WHERE EXISTS (SELECT 1 FROM S WHERE rowid = 1)",
        "ambiguous-column",
    ),
    ("SELECT a AS rowid FROM R WHERE rowid = 1", "ambiguous-column"),
    ("SELECT q.rowid FROM (SELECT a AS rowid FROM R) q", "exact"),
    ("SELECT a FROM R x(a, S) WHERE EXISTS (SELECT 1 FROM S WHERE S IS NULL)", "ambiguous-column"),
    (
        (
            "SELECT a FROM R z(a, b_1) WHERE EXISTS (SELECT 1 FROM (SELECT x.b, S.b FROM R x, "
            "S) q WHERE b_1 = 1)"
        ),
        "ambiguous-column",
    ),
    ("SELECT q.b FROM (SELECT x.b, S.b FROM R x, S) q", "exact"),
    ("SELECT max(a) FROM R UNION ALL BY NAME SELECT max(c) FROM S", "ambiguous-column"),
    (
        "SELECT * FROM (SELECT count(*) FROM R) x NATURAL JOIN (SELECT count(*) FROM S) y",
        "ambiguous-column",
    ),
    # characters
    ("SELECT a FROM R{# WHERE a = 1 #}", "characters"),
    ("SELECT a FROM R WHERE b = 1\u200b OR a = 1", "characters"),
    ("SELECT a FROM R WHERE b\u00a0= 1", "characters"),
    ("SELECT a FROM R -- x\u2028WHERE a = 1", "exact"),
    ("SELECT a FROM R -- x\rWHERE a = 1", "exact"),
    ("SELECT a FROM R /* /* */ */ WHERE a = 1", "characters"),
    ("SELECT a AS \"x\u200b\" FROM R WHERE '\u00a0' = '\u00a0'", "exact"),
    # views as files have them
    ("CREATE VIEW v AS SELECT a FROM R", "exact"),
]


@pytest.fixture(scope="module")
def instances() -> Instances:
    return Instances(COLUMNS, FACTS, 2)


@pytest.mark.sampled
@pytest.mark.parametrize(("sql", "how"), CASES, ids=[sql for sql, _ in CASES])
def test_sql_is_read_as_it_runs_or_refused(sql: str, how: str, instances: Instances) -> None:
    if how not in ("supports", "exact"):
        with pytest.raises(QueryError) as caught:
            read(sql, RELATIONS, name="q")
        assert caught.value.code == how, caught.value.message
        return
    reading = read(sql, RELATIONS, name="q")
    assert ("exact" if reading.is_exact else "supports") == how
    answers = instances.answers_one_by_one(
        sql.partition(" AS ")[2] if sql.startswith("CREATE") else sql, 2
    )
    if reading.exact is not None:
        for facts, answer in zip(instances.sets, answers, strict=True):
            assert answer is None or _as_read(
                evaluated(reading.exact, facts), answer, reading.exact.bag
            ), f"{sql}\n{reading.exact}\non {sorted(facts, key=str)}"
        return
    missing = instances.critical(answers) - taking_part(reading.supports, instances.facts)
    assert not missing, f"{sql}\n" + "\n".join(map(str, reading.supports)) + f"\nlacks {missing}"


def _as_read(
    mine: Counter[tuple[object, ...]], answer: Counter[tuple[object, ...]], bag: bool
) -> bool:
    return mine == answer if bag else set(mine) == set(answer)


@pytest.mark.parametrize(
    "sql",
    [
        'WITH x AS (SELECT 1 AS a), "X" AS (SELECT 2 AS a) SELECT a FROM "X"',
        'WITH r AS (SELECT 1 AS a) SELECT a FROM "R"',
        'SELECT 1 FROM S AS "A" WHERE EXISTS (SELECT 1 FROM R AS a WHERE "A".b = 1)',
    ],
)
def test_postgres_tells_tables_apart_by_case_so_such_names_are_refused(sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(sql, RELATIONS, name="q", dialect="postgres")
    assert caught.value.code in ("ambiguous-table", "ambiguous-column")


def test_postgres_has_columns_of_its_own() -> None:
    for name in ("ctid", "xmin", "tableoid"):
        with pytest.raises(QueryError, match="adds by itself") as caught:
            read(
                f"SELECT a FROM R o(a, {name}) WHERE EXISTS (SELECT 1 FROM S WHERE {name} IS NULL)",
                RELATIONS,
                name="q",
                dialect="postgres",
            )
        assert caught.value.code == "ambiguous-column"


def test_a_part_of_a_column_may_hide_a_table_around() -> None:
    relations = {
        **RELATIONS,
        "T": Relation("T", ("s", "n"), kinds={"n": "integer"}),
    }  # of s nobody knows that it is no struct
    with pytest.raises(QueryError, match="part of column 's'"):
        read("SELECT 1 FROM S WHERE EXISTS (SELECT 1 FROM T WHERE s.b = 1)", relations, name="q")
    assert read(
        "SELECT 1 FROM R n WHERE EXISTS (SELECT 1 FROM T WHERE n.a = 1)", relations, name="q"
    ).supports


def test_a_view_gives_its_columns_names() -> None:
    reading = read("CREATE VIEW v(x, y) AS SELECT a, b FROM R WHERE b = 1;", RELATIONS, name="v")
    assert reading.columns == ("x", "y")
    assert str(reading.exact) == "v(a, 1) :- R(a, 1)"
    over = read(
        "SELECT y FROM v WHERE x = 2",
        RELATIONS,
        name="q",
        views={"v": "CREATE OR REPLACE VIEW v(x, y) AS SELECT a, b FROM R"},
    )
    assert str(over.exact) == "q(b) :- R(2, b)"
    with pytest.raises(QueryError, match="there is no column 'a'"):
        read(
            "SELECT a FROM v",
            RELATIONS,
            name="q",
            views={"v": "CREATE VIEW v(x, y) AS SELECT a, b FROM R"},
        )


def test_numbers_with_a_point_are_shown_otherwise_than_whole_ones() -> None:
    assert not read(
        "SELECT c FROM S INTERSECT SELECT 1.0", RELATIONS, name="q", dialect="postgres"
    ).is_exact
    assert not read(
        "SELECT c FROM S INTERSECT SELECT * FROM (VALUES (1), (1.0)) v",
        RELATIONS,
        name="q",
        dialect="postgres",
    ).is_exact
    assert read(
        "SELECT c FROM S INTERSECT SELECT 1", RELATIONS, name="q", dialect="postgres"
    ).is_exact
