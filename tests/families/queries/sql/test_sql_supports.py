"""What SQL is read as, against what DuckDB answers on all small instances.

An exact reading must give the same answer on every instance, a reading by supports must contain
every row whose addition ever changes the answer. R.b and S.b may be NULL.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import duckdb
import pytest

from oracles.sql_supports import Instances, PostgresInstances, evaluated, taking_part
from tacit.errors import QueryError
from tacit.families.queries.query import Relation
from tacit.families.queries.read import read
from thorough import THOROUGH

COLUMNS = {"R": ("a", "b"), "S": ("b", "c")}
INTEGERS = dict.fromkeys("abc", "integer")
FACTS = [("R", row) for row in itertools.product((1, 2), (1, 2, None))] + [
    ("S", row) for row in itertools.product((1, 2, None), (1, 2))
]
RELATIONS = {
    "R": Relation("R", ("a", "b"), nullable=frozenset("b"), kinds=INTEGERS),
    "S": Relation("S", ("b", "c"), nullable=frozenset("b"), kinds=INTEGERS),
}
KEYED = {
    **RELATIONS,
    "R": Relation("R", ("a", "b"), (("a",),), nullable=frozenset("b"), kinds=INTEGERS),
}


@pytest.fixture(scope="module")
def instances() -> Instances:
    return Instances(COLUMNS, FACTS, 3)


@pytest.fixture(scope="module")
def keyed() -> Instances:
    return Instances(COLUMNS, FACTS, 3, {"R": (0,)})


def examine(
    sql: str, instances: Instances, relations: dict[str, Relation], *, again: bool = True
) -> str:
    """Compare reading and execution; how the query was read."""
    reading = read(sql, relations, name="q")
    answers: list[Counter[tuple[object, ...]] | None]
    try:
        answers = list(instances.answers(sql))
    except duckdb.Error:  # DuckDB has no plan for some correlated joins
        answers = instances.answers_one_by_one(sql, 2 if again else -1)
        if not again:
            return "not run"
    if reading.exact is not None:
        for facts, answer in zip(instances.sets, answers, strict=True):
            assert answer is None or evaluated(reading.exact, facts) == answer, (
                f"{sql}\n{reading.exact}\non {sorted(facts, key=str)}"
            )
        return "bag" if reading.exact.bag else "set"
    assert reading.approximations, sql
    missing = instances.critical(answers) - taking_part(reading.supports, instances.facts)
    assert not missing, f"{sql}\n" + "\n".join(map(str, reading.supports)) + f"\nlacks {missing}"
    return "supports"


# (SQL, how it is read)
WRITTEN = [
    ("SELECT a FROM R", "bag"),
    ("SELECT DISTINCT a FROM R", "set"),
    ("SELECT a, b FROM R", "bag"),
    ("SELECT 1", "bag"),
    ("SELECT 1 FROM R", "bag"),
    ("SELECT DISTINCT 1 FROM R WHERE a = 1", "set"),
    ("SELECT a, 7, NULL FROM R", "bag"),
    ("SELECT * FROM R, S", "bag"),
    ("SELECT R.* FROM R, S WHERE R.b = S.b", "bag"),
    ("SELECT S.*, a FROM R, S WHERE R.b < S.b", "bag"),
    ("SELECT * FROM R JOIN S ON R.b = S.b", "bag"),
    ("SELECT * FROM R JOIN S USING (b)", "bag"),
    ("SELECT b FROM R JOIN S USING (b)", "bag"),
    ("SELECT R.b, S.b FROM R JOIN S USING (b)", "bag"),
    ("SELECT * FROM R NATURAL JOIN S", "bag"),
    ("SELECT * FROM R CROSS JOIN S", "bag"),
    ("SELECT x.a FROM R x JOIN R y ON x.b = y.b JOIN R z ON y.a = z.a", "bag"),
    ("SELECT DISTINCT x.a FROM R x, R y WHERE x.b = y.b AND y.a = 1", "set"),
    ("SELECT x.a FROM (R x JOIN S ON x.b = S.b) JOIN R y ON y.b = S.b", "bag"),
    ("SELECT x.a FROM R AS x(b, a)", "bag"),
    ("SELECT q.n FROM (SELECT a AS n FROM R WHERE b = 1) q WHERE q.n = 2", "bag"),
    ("SELECT n FROM (SELECT a FROM R WHERE b IS NULL) q(n)", "bag"),
    (
        (
            "WITH x AS (SELECT a FROM R), y(n) AS (SELECT a FROM x WHERE a = 1) SELECT * FROM "
            "x, y WHERE a = n"
        ),
        "bag",
    ),
    ("WITH x AS (SELECT a FROM R UNION ALL SELECT c FROM S) SELECT * FROM x p, x q", "bag"),
    ("WITH x AS (SELECT a FROM R UNION SELECT c FROM S) SELECT * FROM x WHERE a = 1", "set"),
    ("WITH R AS (SELECT c AS a FROM S) SELECT a FROM R", "bag"),
    ("SELECT * FROM (SELECT DISTINCT a FROM R) q", "set"),
    ("SELECT a FROM (SELECT DISTINCT a, b FROM R) q", "bag"),
    ("SELECT q.a, S.c FROM (SELECT DISTINCT a FROM R) q, S", "supports"),
    ("SELECT q.a, S.b, S.c FROM (SELECT DISTINCT a FROM R) q, S", "set"),
    ("SELECT a FROM R UNION ALL SELECT c FROM S", "bag"),
    ("SELECT a FROM R UNION SELECT c FROM S", "set"),
    ("SELECT a, b FROM R UNION ALL SELECT c, b FROM S WHERE b IS NOT NULL", "bag"),
    ("SELECT a, NULL FROM R UNION SELECT c, b FROM S", "set"),
    ("SELECT DISTINCT a FROM (SELECT a FROM R UNION ALL SELECT c FROM S) q", "set"),
    ("(SELECT a FROM R) UNION ALL (SELECT a FROM R WHERE b = 1)", "bag"),
    ("SELECT a FROM R WHERE b = 1 OR b = 2", "bag"),
    ("SELECT a FROM R WHERE a = 1 OR b = 2", "bag"),
    ("SELECT DISTINCT a FROM R WHERE a = 1 OR b = 2", "set"),
    ("SELECT a FROM R WHERE NOT (a = 1 OR b = 2)", "bag"),
    ("SELECT a FROM R WHERE NOT (a = 1 AND b = 2)", "bag"),
    ("SELECT a FROM R WHERE NOT (a = 1 AND NOT (b = 2 OR a = b))", "bag"),
    ("SELECT a FROM R WHERE a = b", "bag"),
    ("SELECT a FROM R WHERE a <> b", "bag"),
    ("SELECT a FROM R WHERE a >= b", "bag"),
    ("SELECT a FROM R WHERE b = b", "bag"),
    ("SELECT a FROM R WHERE b <> b", "bag"),
    ("SELECT a FROM R WHERE b IS NULL", "bag"),
    ("SELECT a FROM R WHERE a IS NULL", "bag"),
    ("SELECT a FROM R WHERE b IS NOT NULL", "bag"),
    ("SELECT a FROM R WHERE NOT b IS NULL AND b > 1", "bag"),
    ("SELECT a FROM R WHERE b BETWEEN 1 AND 1", "bag"),
    ("SELECT a FROM R WHERE b NOT BETWEEN a AND 1", "bag"),
    ("SELECT a FROM R WHERE b IN (1, 2)", "bag"),
    ("SELECT a FROM R WHERE b IN (1, a)", "bag"),
    ("SELECT a FROM R WHERE b NOT IN (1)", "bag"),
    ("SELECT a FROM R WHERE b NOT IN (1, NULL)", "bag"),
    ("SELECT a FROM R WHERE b IN (1, NULL)", "bag"),
    ("SELECT a FROM R WHERE (a, b) IN ((1, 1), (2, 2))", "supports"),
    ("SELECT a FROM R WHERE (a, b) = (1, 2)", "supports"),
    ("SELECT a FROM R WHERE b IS NOT DISTINCT FROM 1", "bag"),
    ("SELECT a FROM R WHERE b IS DISTINCT FROM 1", "bag"),
    ("SELECT x.a FROM R x, R y WHERE x.b IS NOT DISTINCT FROM y.b", "bag"),
    ("SELECT x.a FROM R x, R y WHERE x.b IS DISTINCT FROM y.b", "bag"),
    ("SELECT a FROM R WHERE (b = 1) IS TRUE", "bag"),
    ("SELECT a FROM R WHERE (b = 1) IS NOT TRUE", "bag"),
    ("SELECT a FROM R WHERE (b = 1) IS FALSE", "bag"),
    ("SELECT a FROM R WHERE (b = 1 OR a = 2) IS NOT FALSE", "bag"),
    ("SELECT a FROM R WHERE (b = 1 AND a = 2) IS NOT FALSE", "bag"),
    ("SELECT a FROM R WHERE TRUE", "bag"),
    ("SELECT a FROM R WHERE FALSE", "bag"),
    ("SELECT a FROM R WHERE NULL", "bag"),
    ("SELECT a FROM R WHERE b = NULL", "bag"),
    ("SELECT a FROM R WHERE 1 = 1 AND b = 1 + 1", "bag"),
    ("SELECT a FROM R WHERE b = '2'", "bag"),
    ("SELECT a FROM R WHERE b = -1 OR b > 2 - 1", "bag"),
    ("SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.b)", "set"),
    ("SELECT a, b FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.b)", "set"),
    ("SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.b)", "supports"),
    ("SELECT a, b FROM R WHERE EXISTS (SELECT b + 1 FROM S WHERE S.b = R.b LIMIT 1)", "set"),
    ("SELECT a, b FROM R WHERE EXISTS (SELECT 1 FROM S LIMIT 0)", "supports"),
    ("SELECT a, b FROM R WHERE EXISTS (SELECT count(*) FROM S WHERE S.b = R.b)", "supports"),
    ("SELECT DISTINCT a FROM R WHERE b IN (SELECT b FROM S)", "set"),
    ("SELECT DISTINCT a FROM R WHERE b IN (SELECT b FROM S WHERE c = a)", "set"),
    ("SELECT DISTINCT a FROM R WHERE (a, b) IN (SELECT c, b FROM S)", "supports"),
    ("SELECT DISTINCT a FROM R WHERE NOT ((a, b) = (1, NULL))", "supports"),
    ("SELECT DISTINCT a FROM R WHERE 1 IN (SELECT b FROM S)", "set"),
    ("SELECT DISTINCT a FROM R WHERE b = ANY (SELECT b FROM S)", "set"),
    (
        (
            "SELECT DISTINCT a FROM R WHERE b IN (SELECT b FROM S) OR EXISTS (SELECT 1 FROM S "
            "WHERE c = a)"
        ),
        "set",
    ),
    ("SELECT a, b FROM R WHERE b IN (SELECT b FROM S) OR a = 1", "set"),
    (
        (
            "SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE EXISTS (SELECT 1 "
            "FROM R y WHERE y.b = S.b AND y.a = R.a))"
        ),
        "set",
    ),
    (
        "SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE R.b IS NULL AND R.a = c)",
        "set",
    ),
    ("SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE R.b = 1 AND R.a < c)", "set"),
    ("SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE R.a = R.b)", "set"),
    (
        (
            "SELECT DISTINCT a FROM R WHERE EXISTS (SELECT 1 FROM S UNION SELECT 2 FROM R y "
            "WHERE y.b = R.b AND y.a <> R.a)"
        ),
        "set",
    ),
    ("SELECT a FROM R WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.b = R.b)", "supports"),
    (
        "SELECT DISTINCT a FROM R WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.b = R.b AND c = 1)",
        "supports",
    ),
    ("SELECT a FROM R WHERE b NOT IN (SELECT b FROM S)", "supports"),
    ("SELECT a FROM R WHERE a NOT IN (SELECT b FROM S)", "supports"),
    ("SELECT a FROM R WHERE b NOT IN (SELECT c FROM S)", "supports"),
    ("SELECT a FROM R WHERE (a, b) NOT IN (SELECT c, b FROM S)", "supports"),
    ("SELECT a FROM R WHERE b NOT IN (SELECT b FROM S WHERE c = 1) AND a = 1", "supports"),
    ("SELECT a FROM R WHERE a = 1 OR b NOT IN (SELECT b FROM S)", "supports"),
    ("SELECT a FROM R WHERE NOT (a = 1 OR b IN (SELECT b FROM S))", "supports"),
    ("SELECT a FROM R WHERE (b IN (SELECT b FROM S)) IS NOT TRUE", "supports"),
    ("SELECT a FROM R WHERE b <> ALL (SELECT b FROM S)", "supports"),
    ("SELECT a FROM R WHERE b > ANY (SELECT b FROM S)", "supports"),
    ("SELECT a FROM R LEFT JOIN S ON R.b = S.b", "supports"),
    ("SELECT * FROM R LEFT JOIN S ON R.b = S.b AND c = 1", "supports"),
    ("SELECT * FROM R LEFT JOIN S ON R.b = S.b AND a = 1", "supports"),
    ("SELECT * FROM R LEFT JOIN S USING (b) WHERE c IS NULL", "supports"),
    ("SELECT * FROM R LEFT JOIN S USING (b) WHERE c = 2", "bag"),
    ("SELECT * FROM R LEFT JOIN S USING (b) WHERE c IS NULL AND b = 1", "supports"),
    ("SELECT * FROM R LEFT JOIN S ON R.b = S.b WHERE S.b IS NULL", "supports"),
    ("SELECT * FROM R RIGHT JOIN S USING (b)", "supports"),
    ("SELECT b FROM R RIGHT JOIN S USING (b) WHERE a IS NULL", "supports"),
    ("SELECT * FROM R FULL JOIN S USING (b)", "supports"),
    ("SELECT b FROM R FULL JOIN S USING (b) WHERE b = 1", "supports"),
    ("SELECT * FROM R FULL JOIN S ON R.b = S.b WHERE a IS NULL OR c IS NULL", "supports"),
    (
        "SELECT * FROM R LEFT JOIN S ON EXISTS (SELECT 1 FROM R y WHERE y.b = S.b AND y.a <> R.a)",
        "supports",
    ),
    (
        "SELECT x.a FROM R x LEFT JOIN S ON x.b = S.b LEFT JOIN R y ON y.a = S.c WHERE y.b = 1",
        "bag",
    ),
    ("SELECT * FROM S, R LEFT JOIN S t ON R.b = t.b WHERE t.c = 1", "bag"),
    ("SELECT * FROM R FULL JOIN S USING (b) WHERE a = 1 AND c = 1", "bag"),
    ("SELECT * FROM R LEFT JOIN S USING (b) JOIN R t ON t.a = c", "bag"),
    (
        "SELECT * FROM R LEFT JOIN (S LEFT JOIN R t ON S.b = t.a) ON R.b = S.b WHERE c = 1",
        "supports",
    ),
    ("SELECT * FROM S, R RIGHT JOIN S t ON R.b = t.b", "supports"),
    ("SELECT a FROM R SEMI JOIN S USING (b)", "supports"),
    ("SELECT DISTINCT a FROM R SEMI JOIN S USING (b)", "set"),
    ("SELECT a FROM R ANTI JOIN S USING (b)", "supports"),
    ("SELECT a FROM R EXCEPT SELECT c FROM S", "supports"),
    ("SELECT a FROM R EXCEPT ALL SELECT c FROM S WHERE c = 1", "supports"),
    ("SELECT b FROM R WHERE a = 1 EXCEPT SELECT b FROM S WHERE c = 1", "supports"),
    ("SELECT a FROM R INTERSECT SELECT c FROM S", "set"),
    ("SELECT b FROM R INTERSECT SELECT b FROM S", "set"),
    ("SELECT b FROM R INTERSECT ALL SELECT b FROM S", "supports"),
    ("SELECT * FROM (SELECT b FROM R EXCEPT SELECT b FROM S) q WHERE b = 1", "supports"),
    ("SELECT * FROM (SELECT b FROM R INTERSECT SELECT b FROM S) q WHERE b IS NULL", "set"),
    ("SELECT count(*) FROM R", "supports"),
    ("SELECT count(*), 1 FROM R WHERE b = 1", "supports"),
    ("SELECT a, count(*) FROM R GROUP BY a", "supports"),
    ("SELECT a, sum(b) AS n FROM R GROUP BY 1 HAVING a = 1", "supports"),
    ("SELECT a FROM R GROUP BY a HAVING count(*) > 1", "supports"),
    ("SELECT a FROM R GROUP BY a", "set"),
    ("SELECT a FROM R GROUP BY a, b", "bag"),
    ("SELECT a FROM R GROUP BY a HAVING a > 1", "set"),
    ("SELECT a FROM R GROUP BY ALL", "set"),
    ("SELECT b, a FROM R GROUP BY ROLLUP (a, b)", "supports"),
    ("SELECT max(a) FROM R HAVING count(*) > 1", "supports"),
    ("SELECT n FROM (SELECT count(*) AS n FROM R) q, S", "supports"),
    (
        (
            "SELECT * FROM (SELECT a, count(*) AS n FROM R GROUP BY a) q JOIN S ON q.a = S.b "
            "WHERE q.a = 1"
        ),
        "supports",
    ),
    ("SELECT * FROM (SELECT a, count(*) AS n FROM R GROUP BY a) q JOIN S ON q.n = S.b", "supports"),
    (
        "SELECT * FROM (SELECT a, count(*) AS n FROM R GROUP BY a) q WHERE n = 2 AND a = 1",
        "supports",
    ),
    ("SELECT a, row_number() OVER (ORDER BY a, b) FROM R", "supports"),
    ("SELECT * FROM (SELECT a, count(*) OVER () AS n FROM R) q WHERE a = 1", "supports"),
    ("SELECT a FROM R QUALIFY count(*) OVER (PARTITION BY b) > 1", "supports"),
    ("SELECT a FROM R ORDER BY a", "bag"),
    ("SELECT DISTINCT a FROM R ORDER BY a DESC", "set"),
    ("SELECT a FROM R ORDER BY a, b LIMIT 1", "supports"),
    ("SELECT * FROM (SELECT a, b FROM R ORDER BY a, b LIMIT 1) q WHERE a = 2", "supports"),
    ("SELECT * FROM (SELECT DISTINCT ON (a) a, b FROM R ORDER BY a, b) q WHERE b = 2", "supports"),
    ("SELECT a + 1 FROM R", "supports"),
    ("SELECT a FROM R WHERE a + b = 3", "supports"),
    ("SELECT a FROM R WHERE a + b = 3 OR b = 1", "supports"),
    ("SELECT a FROM R WHERE CAST(a AS VARCHAR) LIKE '1%' AND b = 1", "supports"),
    ("SELECT a FROM R WHERE CASE WHEN b = 1 THEN a = 1 ELSE TRUE END", "supports"),
    ("SELECT coalesce(b, 1) FROM R WHERE a = 1", "supports"),
    ("SELECT CASE WHEN b = 1 THEN a END FROM R", "supports"),
    ("SELECT (SELECT max(c) FROM S WHERE S.b = R.b) FROM R", "supports"),
    ("SELECT a FROM R WHERE a = (SELECT max(c) FROM S WHERE S.b = R.b)", "supports"),
    ("SELECT a FROM R WHERE a < (SELECT count(*) FROM S)", "supports"),
    ("SELECT a, b = 1 FROM R", "supports"),
    ("SELECT a, EXISTS (SELECT 1 FROM S WHERE S.b = R.b) FROM R", "supports"),
    ("SELECT * FROM R, LATERAL (SELECT c FROM S WHERE S.b = R.b) q", "bag"),
    ("SELECT * FROM R, LATERAL (SELECT c FROM S WHERE S.b = R.b AND R.a = 1) q WHERE c = 1", "bag"),
    ("SELECT * FROM R, LATERAL (SELECT count(*) AS n FROM S WHERE S.b = R.b) q", "supports"),
    (
        (
            "SELECT * FROM R, LATERAL (SELECT c FROM S WHERE S.b = R.b ORDER BY c LIMIT 1) q "
            "WHERE c = 2"
        ),
        "supports",
    ),
    ("SELECT * FROM (VALUES (1, 2), (2, NULL)) v(x, y), R WHERE a = x", "bag"),
    ("SELECT * FROM (VALUES (1, 2), (2, NULL)) v(x, y) JOIN R ON y = b", "bag"),
    ("SELECT x FROM (SELECT a, 1 AS x FROM R UNION ALL SELECT c, 2 FROM S) q WHERE x = 2", "bag"),
    ("SELECT a AS z FROM R WHERE z = 1", "bag"),
    (
        (
            "SELECT a FROM R WHERE a IN (SELECT c FROM S WHERE b IN (SELECT b FROM R y WHERE "
            "y.a <> R.a)) AND b = 1 AND a = 2"
        ),
        "set",
    ),
    ("SELECT * EXCLUDE (a) FROM R", "bag"),
    ("SELECT x FROM (VALUES (1), (1), (2)) v(x) WHERE x < 2", "bag"),
    ("SELECT 1 UNION ALL SELECT 1", "bag"),
    ("SELECT * FROM (SELECT 1 AS x UNION ALL SELECT 1) q JOIN R ON x = a", "bag"),
    ("SELECT a, b FROM R UNION ALL BY NAME SELECT b, c FROM S", "bag"),
    ("SELECT a AS z, z FROM R", "bag"),
    ("SELECT a FROM R WHERE a IN (SELECT c AS b FROM S WHERE b = 1)", "supports"),
    ("SELECT DISTINCT a FROM R WHERE a IN (SELECT c AS z FROM S WHERE z = 1)", "set"),
    (
        (
            "SELECT count(*) OVER w FROM R WINDOW w AS (PARTITION BY b ORDER BY (SELECT max(c) "
            "FROM S WHERE S.b = R.b))"
        ),
        "supports",
    ),
    ("SELECT a FROM R ORDER BY (SELECT max(c) FROM S WHERE S.b = R.b), a, b LIMIT 1", "supports"),
    (
        (
            "SELECT x.n, y.n, z.n FROM (SELECT count(*) AS n FROM R WHERE a = 1 OR b = 1) x, "
            "(SELECT max(a) AS n FROM R WHERE a = 2 OR b IS NULL OR b = 2) y, (SELECT max(c) "
            "AS n FROM S) z"
        ),
        "supports",
    ),
    ("SELECT * FROM ((SELECT a FROM R) q JOIN S ON a = b)", "bag"),
]


@pytest.mark.parametrize(("sql", "how"), WRITTEN, ids=[sql for sql, _ in WRITTEN])
def test_what_is_read_is_what_is_answered(sql: str, how: str, instances: Instances) -> None:
    assert examine(sql, instances, RELATIONS) == how


# Several things at once; only that nothing is lost matters here.
MIXED = [
    "SELECT * FROM R FULL JOIN S USING (b) FULL JOIN R t USING (b)",
    "SELECT b FROM R FULL JOIN S USING (b) LEFT JOIN R t USING (b) WHERE b = 1",
    "SELECT * FROM R NATURAL FULL JOIN S",
    "SELECT b, c FROM R RIGHT JOIN S USING (b) JOIN R t USING (b)",
    "SELECT * FROM R LEFT JOIN LATERAL (SELECT c FROM S WHERE S.b = R.b) q ON TRUE",
    (
        "SELECT * FROM R LEFT JOIN LATERAL (SELECT count(*) n FROM S WHERE S.b = R.b AND c=1) "
        "q ON TRUE WHERE n = 0"
    ),
    (
        "SELECT a FROM R WHERE EXISTS (WITH x AS (SELECT c FROM S WHERE S.b = R.b) SELECT 1 "
        "FROM x x1, x x2 WHERE x1.c < x2.c)"
    ),
    (
        "SELECT DISTINCT a FROM R WHERE EXISTS (WITH x AS (SELECT c FROM S WHERE S.b = R.b) "
        "SELECT 1 FROM x x1, x x2 WHERE x1.c < x2.c)"
    ),
    (
        "SELECT DISTINCT R.a FROM R LEFT JOIN S ON R.b=S.b WHERE EXISTS (SELECT 1 FROM R y "
        "WHERE y.b = S.b)"
    ),
    (
        "SELECT DISTINCT R.a FROM R LEFT JOIN S ON R.b=S.b WHERE EXISTS (SELECT 1 FROM R y "
        "WHERE y.b IS NOT DISTINCT FROM S.b)"
    ),
    (
        "SELECT DISTINCT R.a FROM R LEFT JOIN S ON R.b=S.b WHERE NOT EXISTS (SELECT 1 FROM R y "
        "WHERE y.b = S.b)"
    ),
    (
        "SELECT n FROM (SELECT a, count(b) AS n FROM R GROUP BY a) q WHERE EXISTS (SELECT 1 "
        "FROM S WHERE S.b = q.n AND c = q.a)"
    ),
    (
        "SELECT n FROM (SELECT a, count(b) AS n FROM R GROUP BY a) q WHERE n IN (SELECT b FROM "
        "S WHERE c = q.a)"
    ),
    (
        "SELECT n FROM (SELECT a, count(b) AS n FROM R GROUP BY a) q WHERE q.a = 1 AND n NOT "
        "IN (SELECT b FROM S WHERE c = q.n)"
    ),
    "SELECT a, (SELECT count(*) FROM S WHERE c = R.a) AS n FROM R WHERE b = 1 GROUP BY a",
    "SELECT count(*) FROM R HAVING count(*) > (SELECT count(*) FROM S)",
    "SELECT a FROM R GROUP BY a HAVING max(b) = (SELECT max(c) FROM S WHERE S.b = R.a)",
    "SELECT a FROM R WHERE b IN (SELECT b FROM S UNION SELECT a FROM R y WHERE y.b=1)",
    "SELECT DISTINCT a FROM R WHERE b IN (SELECT b FROM S EXCEPT SELECT y.a FROM R y WHERE y.b=1)",
    "SELECT a FROM R WHERE b NOT IN (SELECT b FROM S INTERSECT SELECT y.a FROM R y WHERE y.b=1)",
    "SELECT sum(a) FROM R WHERE b = 1 UNION ALL SELECT c FROM S WHERE b=2",
    "SELECT * FROM (SELECT 1 AS x UNION SELECT 2) q LEFT JOIN R ON x = a",
    (
        "SELECT x.a FROM R x WHERE x.b = 1 OR EXISTS (SELECT 1 FROM S WHERE S.b = x.b AND S.c "
        "= x.a) OR x.b IS NULL"
    ),
    "SELECT * FROM (SELECT DISTINCT b FROM R) x JOIN (SELECT DISTINCT b FROM S) y USING (b)",
    "SELECT b FROM (SELECT b FROM R UNION SELECT b FROM S) x WHERE b IS DISTINCT FROM 2",
    "SELECT a FROM R WHERE (SELECT count(*) FROM S) = 0",
    "SELECT a FROM R WHERE (SELECT c FROM S ORDER BY c, b LIMIT 1) = a",
    "SELECT a FROM R WHERE (a = 1) = (b = 1)",
    "SELECT a FROM R WHERE (a = 1) IS DISTINCT FROM (b = 1)",
    "SELECT a FROM R WHERE NOT (b IN (SELECT b FROM S) AND a = 1)",
    "SELECT DISTINCT a FROM R WHERE NOT (NOT EXISTS (SELECT 1 FROM S WHERE S.b=R.b) OR a = 1)",
    "SELECT DISTINCT a FROM R WHERE CAST(b AS INTEGER) IN (SELECT b FROM S)",
    (
        "SELECT x.a, y.a FROM R x, R y WHERE x.a < y.a AND x.b IS NOT DISTINCT FROM y.b AND "
        "x.b IS NULL"
    ),
    "SELECT DISTINCT b FROM R WHERE b = (SELECT 1)",
    "SELECT * FROM R, (SELECT 1 AS one, NULL AS no) k WHERE a = one OR b = no",
    "SELECT a FROM R WHERE b = ALL (SELECT b FROM S)",
]


@pytest.mark.parametrize("sql", MIXED)
def test_nothing_is_lost_where_several_things_meet(sql: str, instances: Instances) -> None:
    assert examine(sql, instances, RELATIONS) in ("bag", "set", "supports")


KEY_CASES = [
    ("SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.b)", "set"),
    ("SELECT a FROM R WHERE a = 1 OR b = 2 OR b IN (SELECT b FROM S)", "set"),
    ("SELECT b FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.b = R.b)", "supports"),
    (
        "SELECT x.a FROM R x, R y WHERE x.a = y.a AND EXISTS (SELECT 1 FROM S WHERE S.b = y.b)",
        "set",
    ),
    ("SELECT b FROM R WHERE a = 1 AND EXISTS (SELECT 1 FROM S)", "set"),
    ("SELECT 1 FROM R WHERE (a = 1 OR a = 2) AND EXISTS (SELECT 1 FROM S)", "supports"),
    ("SELECT DISTINCT a FROM R", "set"),
    ("SELECT a, count(*) FROM R GROUP BY a", "supports"),
]


@pytest.mark.parametrize(("sql", "how"), KEY_CASES, ids=[sql for sql, _ in KEY_CASES])
def test_a_key_tells_when_rows_cannot_repeat(sql: str, how: str, keyed: Instances) -> None:
    assert examine(sql, keyed, KEYED) == how


def test_asking_all_instances_at_once_is_asking_each(instances: Instances) -> None:
    for sql, _ in WRITTEN[::9]:
        if "(a, b)" in sql:
            # DuckDB gives row values with NULL one meaning inside LATERAL and another outside
            continue
        together = instances.answers(sql)
        for at in range(0, len(instances.sets), 61):
            assert together[at] == instances.answer(sql, at), sql


@pytest.mark.parametrize("sql", [sql for sql, _ in WRITTEN if "(a, b)" in sql])
def test_row_values_are_enclosed_whatever_null_means_in_them(
    sql: str, instances: Instances
) -> None:
    reading = read(sql, RELATIONS, name="q")
    answers = instances.answers_one_by_one(sql, 2)
    assert reading.exact is None or "ROLLUP" in sql
    assert instances.critical(answers) <= taking_part(reading.supports, instances.facts)


class Maker:
    """Random SELECTs over R and S."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def condition(self, columns: list[str], depth: int) -> str:
        one, other = (self.random.choice(columns) for _ in range(2))
        kind = self.random.randrange(16 if depth else 8)
        if kind < 3:
            return f"{one} {self.pick('=', '<>', '<', '>=')} {self.pick('1', '2', other)}"
        if kind == 3:
            return f"{one} IS {self.pick('', 'NOT ')}NULL"
        if kind == 4:
            return f"{one} {self.pick('', 'NOT ')}IN (1, {self.pick('2', 'NULL', other)})"
        if kind == 5:
            return (
                f"{one} {self.pick('', 'NOT ')}BETWEEN {self.pick('1', other)} AND "
                f"{self.pick('2', other)}"
            )
        if kind == 6:
            return f"{one} IS {self.pick('', 'NOT ')}DISTINCT FROM {self.pick('1', 'NULL', other)}"
        if kind == 7:
            return f"{one} + {other} = {self.pick('2', '3')}"
        if kind < 10:
            return (
                f"({self.condition(columns, depth - 1)} {self.pick('AND', 'OR')} "
                f"{self.condition(columns, depth - 1)})"
            )
        if kind == 10:
            return f"NOT ({self.condition(columns, depth - 1)})"
        if kind == 11:
            return (
                f"({self.condition(columns, depth - 1)}) IS "
                f"{self.pick('', 'NOT ')}{self.pick('TRUE', 'FALSE')}"
            )
        alias, inner = self.pick("R", "S"), f"i{self.random.randrange(10**6)}"
        mine = [f"{inner}.{name}" for name in COLUMNS[alias]]
        where = self.condition(mine + columns, depth - 1)
        if kind == 14:
            return (
                f"{one} {self.pick('=', '<', '>=')} (SELECT "
                f"{self.pick('max', 'count')}({mine[0]}) FROM {alias} {inner} WHERE {where})"
            )
        if kind == 15:
            return (
                f"{one} {self.pick('= ANY', '> ANY', '<> ALL')} (SELECT "
                f"{self.random.choice(mine)} FROM {alias} {inner} WHERE {where})"
            )
        if kind == 12:
            return f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM {alias} {inner} WHERE {where})"
        return (
            f"{one} {self.pick('', 'NOT ')}IN (SELECT {self.random.choice(mine)} FROM {alias} "
            f"{inner} WHERE {where})"
        )

    def source(self, alias: str, depth: int) -> tuple[str, list[str]]:
        if depth and self.random.random() < 0.3:
            return f"({self.query(depth - 1, 2)}) {alias}(u, v)", [f"{alias}.u", f"{alias}.v"]
        table = self.pick("R", "S")
        return f"{table} {alias}", [f"{alias}.{name}" for name in COLUMNS[table]]

    def query(self, depth: int, width: int) -> str:
        if depth and self.random.random() < 0.15:
            operation = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL")
            return f"{self.query(depth - 1, width)} {operation} ({self.query(depth - 1, width)})"
        if depth and self.random.random() < 0.1:
            name = f"c{self.random.randrange(10**6)}"
            body = (
                f"SELECT p.u AS a, q.v AS b FROM {name} p, {name} q WHERE "
                f"{self.condition(['p.u', 'p.v', 'q.u', 'q.v'], 1)}"
            )
            picked = self.query_of(
                f"({body}) {name}_2", [f"{name}_2.a", f"{name}_2.b"], depth - 1, width
            )
            return f"WITH {name}(u, v) AS ({self.query(depth - 1, 2)}) SELECT * FROM ({picked}) x"
        tag = self.random.randrange(10**6)
        text, columns = self.source(f"t{tag}", depth)
        for number in range(self.random.choice((0, 0, 1, 1))):
            more, others = self.source(f"j{tag}{number}", depth)
            kind = self.pick(
                "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"
            )
            on = f"{self.random.choice(columns)} = {self.random.choice(others)}"
            if self.random.random() < 0.3 and kind != "FULL JOIN":
                on += f" AND {self.condition(columns + others, 0)}"
            text = f"{text} {kind} {more} ON {on}"
            columns = columns if kind in ("SEMI JOIN", "ANTI JOIN") else columns + others
        if depth and self.random.random() < 0.08:
            inner = self.condition([f"l{tag}.b", f"l{tag}.c", *columns], 0)
            text = (
                f"{text}, LATERAL (SELECT l{tag}.b AS u, l{tag}.c AS v FROM S l{tag} WHERE "
                f"{inner}) m{tag}"
            )
            columns = [*columns, f"m{tag}.u", f"m{tag}.v"]
        return self.query_of(text, columns, depth, width)

    def query_of(self, text: str, columns: list[str], depth: int, width: int) -> str:
        where = f" WHERE {self.condition(columns, depth + 1)}" if self.random.random() < 0.8 else ""
        if self.random.random() < 0.12:
            key = self.random.choice(columns)
            items = [key] + [
                f"{self.pick('count', 'max')}({self.random.choice(columns)})"
                for _ in range(width - 1)
            ]
            having = (
                f" HAVING {self.pick('count(*) > 1', f'{key} = 1')}"
                if self.random.random() < 0.4
                else ""
            )
            return f"SELECT {', '.join(items)} FROM {text}{where} GROUP BY {key}{having}"
        items = [self.random.choice([*columns, *columns, *columns, "1"]) for _ in range(width)]
        if depth and self.random.random() < 0.06:
            items[0] = f"count(*) OVER (PARTITION BY {self.random.choice(columns)})"
        ending = ""
        if self.random.random() < 0.06:
            ending = f" ORDER BY {', '.join(columns)} LIMIT {self.pick('1', '2')}"
            return f"SELECT * FROM (SELECT {', '.join(items)} FROM {text}{where}{ending}) x"
        if self.random.random() < 0.05:
            keys = list(dict.fromkeys(item for item in items if item in columns))
            if len(keys) == width:
                return (
                    f"SELECT {', '.join(keys)} FROM {text}{where} GROUP BY "
                    f"{', '.join([*keys, columns[0]])}"
                )
        return f"SELECT {self.pick('', '', 'DISTINCT ')}{', '.join(items)} FROM {text}{where}"


@pytest.mark.slow
def test_postgresql_answers_what_is_read_in_its_dialect(postgres_url: str) -> None:
    import psycopg

    run = 0
    instances = PostgresInstances(postgres_url, COLUMNS, FACTS, 3)
    made = [Maker(seed).query(1, 2) for seed in range(400)]
    for sql in [*(one for one, _ in WRITTEN), *MIXED, *made]:
        try:
            answers = instances.answers(sql)
        except psycopg.Error:
            continue  # DuckDB's own words, FULL JOIN on more than equalities, ...
        run += 1
        reading = read(sql, RELATIONS, name="q", dialect="postgres")
        if reading.exact is not None:
            assert [evaluated(reading.exact, facts) for facts in instances.sets] == answers, sql
        elif all(len(part.atoms) <= 6 for one in reading.supports for part in one.parts):
            assert instances.critical(answers) <= taking_part(reading.supports, instances.facts), (
                sql
            )
    instances.connection.close()
    assert run > 350


def compare_random(
    seeds: range, instances: Instances, relations: dict[str, Relation]
) -> dict[str, int]:
    found = {"bag": 0, "set": 0, "supports": 0, "too large": 0, "not run": 0}
    for seed in seeds:
        maker = Maker(seed)
        sql = maker.query(maker.random.choice((0, 1, 1, 2)), maker.random.choice((1, 2)))
        try:
            # Trying all rows for all atoms takes too long for a few of the largest.
            if (
                max(
                    (
                        len(part.atoms)
                        for one in read(sql, relations, name="q").supports
                        for part in one.parts
                    ),
                    default=0,
                )
                > 6
            ):
                found["too large"] += 1
                continue
            found[examine(sql, instances, relations, again=False)] += 1
        except QueryError as error:
            assert error.code == "too-large", sql
            found["too large"] += 1
    return found


@pytest.mark.slow
def test_random_queries(instances: Instances, keyed: Instances) -> None:
    found = compare_random(range(200), instances, RELATIONS)
    assert found["bag"] + found["set"] > 60 and found["supports"] > 60 and found["not run"] < 50, (
        found
    )
    found = compare_random(range(1000, 1080), keyed, KEYED)
    assert found["set"] > 5, found


@pytest.mark.slow
def test_many_random_queries(instances: Instances, keyed: Instances) -> None:
    found = compare_random(range(10_000, 10_000 + 600 * THOROUGH), instances, RELATIONS)
    assert found["supports"] > 200 * THOROUGH, found
    compare_random(range(20_000, 20_000 + 300 * THOROUGH), keyed, KEYED)
