"""Every node of a statement is accounted for: replaced by another of its kind it changes the
reading, or is left out on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlglot import exp, parse_one

from tacit.errors import QueryError
from tacit.families.queries.query import Relation
from tacit.families.queries.sql.account import LEFT_OUT, Account
from tacit.families.queries.sql.sql_reader import read_tree
from tacit.families.queries.understanding import QueryText, QueryUnderstanding

KINDS = dict.fromkeys(("a", "b", "c", "d"), "integer") | {"t": "text"}
# Two tables of each kind, so that one can stand for the other.
RELATIONS = {
    name: Relation(name, columns, nullable=frozenset("b"), kinds=KINDS)
    for name, columns in {
        "R": ("a", "b", "t"),
        "R2": ("a", "b", "t"),
        "S": ("c", "d"),
        "S2": ("c", "d"),
    }.items()
}
OTHER_TABLE = {"R": "R2", "S": "S2"}
OTHER_COLUMN = {"a": "b", "b": "a", "c": "d", "d": "c", "t": "a"}
OTHER_KIND: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
    exp.And: exp.Or,
    exp.Or: exp.And,
    exp.Union: exp.Except,
    exp.Intersect: exp.Union,
    exp.Except: exp.Intersect,
    exp.Upper: exp.Lower,
    exp.Sum: exp.Max,
    exp.Max: exp.Min,
    exp.Add: exp.Sub,
    exp.Like: exp.ILike,
    exp.RowNumber: exp.Rank,
    exp.NullSafeEQ: exp.NullSafeNEQ,
}

STATEMENTS = [
    "SELECT DISTINCT a FROM R WHERE b = 1",
    "SELECT R.a AS x, 'k' AS y FROM R WHERE R.b IN (1, 2) AND NOT R.a = 3",
    "SELECT x.a FROM R x JOIN S y ON x.b = y.c WHERE y.d < 4 OR y.d > 7",
    "SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S WHERE S.c = R.b AND S.d = 2)",
    "SELECT a FROM R WHERE a NOT IN (SELECT c FROM S WHERE d = 5)",
    "SELECT a FROM R WHERE (a, b) IN (SELECT c, d FROM S)",
    "SELECT a FROM R LEFT JOIN S ON b = c AND d = 1",
    "SELECT a FROM R WHERE b BETWEEN 1 AND 3 UNION SELECT c FROM S WHERE d IS NOT DISTINCT FROM 2",
    "SELECT a FROM R EXCEPT SELECT c FROM S",
    "WITH q(u) AS (SELECT a FROM R WHERE b = 1) SELECT u FROM q WHERE u = 2",
    "SELECT q.z FROM (SELECT a + 1 AS z, b FROM R WHERE b = 2) q WHERE q.b = 2",
    "SELECT upper(t) FROM R WHERE t LIKE 'x%' AND a = 1",
    (
        "SELECT b, count(*) AS n, sum(a) AS m FROM R WHERE b < 3 GROUP BY b HAVING b > 1 AND "
        "count(*) > 2"
    ),
    "SELECT count(*) FROM R GROUP BY a IN (SELECT c FROM S WHERE d = 1)",
    "SELECT count(*) FROM R GROUP BY GROUPING SETS ((a), (b IN (SELECT c FROM S WHERE d = 1)))",
    (
        "SELECT count(*) FROM R GROUP BY CASE WHEN EXISTS (SELECT 1 FROM S WHERE d = 1) THEN a "
        "ELSE b END"
    ),
    (
        "SELECT * FROM (SELECT a FROM R ORDER BY EXISTS (SELECT 1 FROM S WHERE c = a AND d = "
        "1)) q LIMIT 1"
    ),
    "SELECT a FROM R ORDER BY b, (SELECT max(d) FROM S WHERE c = a)",
    (
        "SELECT a, row_number() OVER (PARTITION BY b ORDER BY (SELECT max(c) FROM S WHERE d = "
        "a)) FROM R"
    ),
    "SELECT a FROM R QUALIFY row_number() OVER (ORDER BY b) = 1",
    "SELECT a, sum(b) OVER w FROM R WINDOW w AS (PARTITION BY a IN (SELECT c FROM S WHERE d = 4))",
    "SELECT DISTINCT ON (a) a, b FROM R ORDER BY a, (SELECT max(c) FROM S WHERE d = b)",
    "SELECT a FROM R LIMIT 2 OFFSET 1",
    (
        "SELECT a FROM R WHERE EXISTS (SELECT upper(t), (SELECT max(c) FROM S) FROM R2 WHERE "
        "R2.a = R.a LIMIT 1)"
    ),
    "SELECT * FROM (VALUES (1, 2), (3, 4)) v(x, y), R WHERE x = a",
    "SELECT a FROM R, LATERAL (SELECT c FROM S WHERE d = a) q WHERE c = 1",
    "SELECT a FROM R WHERE (SELECT max(c) FROM S WHERE d = b) = 3",
    "SELECT * FROM (SELECT max(a) AS m FROM R WHERE b = 1) q WHERE m = 5",
    "SELECT m, d FROM (SELECT max(a) AS m FROM R) q JOIN S ON m = c AND d = 1",
    "SELECT a, c FROM R NATURAL JOIN R2 JOIN (SELECT c, d AS b FROM S) s USING (b)",
    "SELECT a FROM R ANTI JOIN S ON b = c AND d = 3",
    "SELECT a FROM R WHERE NOT EXISTS (SELECT 1 FROM S WHERE c = b) AND t IS NOT NULL",
    "(SELECT a FROM R WHERE b = 2) UNION ALL (SELECT c FROM S ORDER BY d LIMIT 3) ORDER BY 1",
    (
        "SELECT string_agg(t, ',' ORDER BY t) AS s, count(*) FILTER (WHERE b = 1) AS n FROM R "
        "WHERE a = 1"
    ),
    "SELECT * EXCLUDE (t) FROM R WHERE a = 1 AND b IS NULL",
    "SELECT a FROM R WHERE a = ANY (SELECT c FROM S WHERE d = 1) AND (b = 1) IS NOT TRUE",
    (
        "SELECT a, CASE WHEN b = 1 THEN (SELECT min(c) FROM S WHERE d = 2) END AS z FROM R "
        "WHERE a IS NOT NULL"
    ),
]


def read(tree: exp.Expr, account: Account | None = None) -> QueryUnderstanding | str:
    text = tree.sql(dialect="duckdb")
    try:
        return read_tree(
            tree, QueryText(text, "q"), RELATIONS, name="q", dialect="duckdb", account=account
        )
    except QueryError as error:
        return f"{error.code}: {error.message}"


def said(reading: QueryUnderstanding | str) -> object:
    """All that a reading says of rows."""
    if isinstance(reading, str):
        return reading
    return (
        reading.columns,
        sorted(map(repr, reading.supports)),
        repr(reading.exact),
        reading.sorted_by,
    )


def others(node: exp.Expr) -> Iterator[exp.Expr]:
    """Nodes of the same kind that say something else."""
    if isinstance(node, exp.Literal):
        yield (
            exp.Literal.string(f"{node.this}other")
            if node.is_string
            else exp.Literal.number(int(node.this) + 90)
        )
    elif (
        isinstance(node, exp.Identifier)
        and isinstance(node.parent, exp.Table)
        and node.name in OTHER_TABLE
    ):
        yield exp.to_identifier(OTHER_TABLE[node.name])
    elif (
        isinstance(node, exp.Identifier)
        and isinstance(node.parent, exp.Column)
        and node.arg_key == "this"
        and node.name in OTHER_COLUMN
    ):
        yield exp.to_identifier(OTHER_COLUMN[node.name])
    elif isinstance(node, exp.Identifier):
        yield exp.to_identifier("other")
    elif type(node) in OTHER_KIND:
        yield OTHER_KIND[type(node)](
            **{
                key: value.copy() if isinstance(value, exp.Expr) else value
                for key, value in node.args.items()
            }
        )
    elif isinstance(node, exp.Not):
        yield node.this.copy()
    elif isinstance(node, exp.Is | exp.Between | exp.Exists | exp.In) and not isinstance(
        node.parent, exp.Not
    ):
        yield exp.Paren(this=exp.Not(this=node.copy()))


def replaced(tree: exp.Expr) -> Iterator[tuple[int, exp.Expr, exp.Expr]]:
    """The statement with each of its nodes replaced, one at a time."""
    for at, node in enumerate(tree.walk()):
        for other in others(node):
            copied = tree.copy()
            place = list(copied.walk())[at]
            changed = place.replace(other) if place is copied else copied
            if place is not copied:
                place.replace(other)
            yield at, node, changed


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_node_that_is_replaced_changes_the_reading_or_is_left_out_on_purpose(sql: str) -> None:
    tree = parse_one(sql, read="duckdb")
    account = Account()
    before = read(tree, account)
    assert not isinstance(before, str), before
    roles = [account.roles[id(node)] for node in tree.walk()]
    for at, node, changed in replaced(tree):
        if said(read(changed)) == said(before):
            assert roles[at] in LEFT_OUT, (
                f"{node!r} is {roles[at]}\n{changed.sql()}\n{said(before)}"
            )


@pytest.mark.parametrize("sql", STATEMENTS)
def test_every_node_has_a_role(sql: str) -> None:
    tree, account = parse_one(sql, read="duckdb"), Account()
    assert not isinstance(read(tree, account), str)
    assert account.unaccounted(tree) is None


def test_a_node_that_nobody_takes_is_found() -> None:
    tree = parse_one("SELECT a FROM R WHERE b = 1")
    account = Account()
    account.whole("support", tree.args["from_"])
    account.took("support", tree)
    assert account.unaccounted(tree) is not None


def test_a_subquery_that_was_read_but_is_used_nowhere_is_found() -> None:
    tree, account = (
        parse_one("SELECT a FROM R WHERE EXISTS (SELECT 1 FROM S)", read="duckdb"),
        Account(),
    )
    reading = read(tree, account)
    assert not isinstance(reading, str) and account.unaccounted(tree) is None
    account._used.clear()
    assert isinstance(account.unaccounted(tree), exp.Select)
