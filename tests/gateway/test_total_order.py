"""Windows in a total order, and WITH: answers are the same however rows are stored."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import duckdb
import pytest

from gateway.gateway_plans import decider
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.decisions import Decider

PLAN = """version: 1
tables:
  orders:
    columns: {id: integer, owner: integer, made: timestamp, paid: boolean, note: text}
    key: [id]
    nullable: [note]
  items:
    columns: {id: integer, order_id: integer, price: integer}
    key: [id]
    nullable: []
    foreign-keys: {order_id: orders.id}
releases:
  mine: {query: "SELECT * FROM orders WHERE owner = $user.id"}
  myitems:
    query: >-
      SELECT items.* FROM items JOIN orders ON items.order_id = orders.id
      WHERE orders.owner = $user.id
roles:
  app: {default: deny, allow: [mine, myitems]}
  open: {default: allow}
"""
ROWS = [
    (1, 7, "2026-01-01", True, None),
    (2, 7, "2026-01-01", False, "b"),
    (3, 8, "2026-01-01", True, "c"),
    (4, 7, "2025-12-31", True, "b"),
]
ANN = Asker("ann", {"id": "7"})
ALLOWED = (
    "SELECT id, row_number() OVER (ORDER BY id) FROM orders WHERE owner = 7",
    "SELECT id, row_number() OVER (PARTITION BY paid ORDER BY made DESC, id) FROM orders "
    "WHERE owner = 7",
    "SELECT made, lag(id) OVER (ORDER BY made, id) FROM orders WHERE owner = 7",
    "SELECT o.id, i.id, row_number() OVER (ORDER BY o.id, i.id) "
    "FROM orders o JOIN items i ON i.order_id = o.id WHERE o.owner = 7",
    "WITH x AS (SELECT * FROM orders WHERE owner = 7) SELECT count(*) FROM x",
    "WITH x AS (SELECT * FROM orders WHERE owner = 7), y(n) AS (SELECT id FROM x WHERE paid) "
    "SELECT y.n, x.made FROM y JOIN x ON x.id = y.n",
    "WITH x AS (SELECT id FROM orders WHERE owner = 7 ORDER BY made LIMIT 2) "
    "SELECT a.id, b.id FROM x a JOIN x b ON a.id = b.id",
    "SELECT extract(year FROM made), count(*) FROM orders WHERE owner = 7 GROUP BY 1",
    "SELECT paid, stddev(id), var_pop(id / 3) FROM orders WHERE owner = 7 GROUP BY paid",
    "SELECT sum(id / 3), avg(id / 7), corr(id, id / 3) FROM orders WHERE owner = 7",
    "SELECT sum(NULL), avg(1 / 3), covar_pop(id / 3, 0.5) FROM orders WHERE owner = 7",
    "SELECT paid, made, row_number() OVER (PARTITION BY paid ORDER BY made) "
    "FROM orders WHERE owner = 7",
    "SELECT x.made, x.place FROM (SELECT made, row_number() OVER (ORDER BY made) AS place "
    "FROM orders WHERE owner = 7) x",
)
OPEN = "SELECT made, row_number() OVER (ORDER BY made), (SELECT count(*) FROM items) FROM orders"
REFUSED = {
    "SELECT id, row_number() OVER (ORDER BY made) FROM orders WHERE owner = 7": "order",
    "SELECT id, row_number() OVER (ORDER BY note, owner) FROM orders WHERE owner = 7": "order",
    "SELECT o.id, i.id, row_number() OVER (ORDER BY o.id) "
    "FROM orders o JOIN items i ON i.order_id = o.id WHERE o.owner = 7": "order",
    "SELECT paid, row_number() OVER (ORDER BY id) FROM orders WHERE owner = 7 "
    "GROUP BY paid, id": "order",
    "SELECT made, row_number() OVER (ORDER BY made), row_number() OVER (ORDER BY made DESC) "
    "FROM orders WHERE owner = 7": "order",
    "SELECT made, row_number() OVER (ORDER BY made) FROM orders WHERE owner = 7 "
    "QUALIFY id > 1": "order",
    "SELECT stddev(id) OVER () FROM orders WHERE owner = 7": "order",
    "SELECT stddev(DISTINCT id) FROM orders WHERE owner = 7": "order",
    "WITH x AS (SELECT * FROM orders) SELECT count(*) FROM x": "not-granted",
    "WITH x AS (SELECT * FROM orders WHERE owner = 8) SELECT count(*) FROM x": "not-granted",
    "SELECT extract(week FROM made), count(*) FROM orders WHERE owner = 7 GROUP BY 1": "may-fail",
    "SELECT date_trunc('month', made), count(*) FROM orders WHERE owner = 7 GROUP BY 1": "may-fail",
}


@pytest.fixture
def app(tmp_path: Path) -> Decider:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        fill(connection, ROWS)
    return decider(tmp_path, PLAN.replace("version: 1", "version: 1\nsource: shop.duckdb"))


def fill(connection: duckdb.DuckDBPyConnection, rows: object) -> None:
    connection.execute(
        "CREATE OR REPLACE TABLE orders "
        "(id BIGINT, owner BIGINT, made TIMESTAMP, paid BOOLEAN, note VARCHAR)"
    )
    connection.execute("CREATE OR REPLACE TABLE items (id BIGINT, order_id BIGINT, price BIGINT)")
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", list(rows))  # type: ignore
    connection.execute("INSERT INTO items VALUES (1, 1, 5), (2, 1, 5), (3, 4, 2), (4, 3, 9)")


@pytest.mark.parametrize("sql", ALLOWED)
def test_an_answer_does_not_depend_on_how_rows_are_stored_or_on_those_of_others(
    app: Decider, sql: str
) -> None:
    found = app.decide("app", sql, (), ANN)
    assert found.sql is not None, (found.code, found.message)
    answers: list[object] = []
    for rows in (*permutations(ROWS), [one for one in ROWS if one[1] == 7]):
        with duckdb.connect() as connection:
            fill(connection, rows)
            answers.append(connection.execute(found.sql).fetchall())
            assert len(connection.execute(sql).fetchall()) == len(answers[-1])
    assert all(one == answers[0] for one in answers)


def test_rows_are_numbered_beside_a_number_that_is_the_same_for_all(app: Decider) -> None:
    found = app.decide("open", OPEN, (), ANN)
    assert found.sql is not None, (found.code, found.message)
    answers: list[object] = []
    for rows in permutations(ROWS):
        with duckdb.connect() as connection:
            fill(connection, rows)
            answers.append(connection.execute(found.sql).fetchall())
    assert all(one == answers[0] for one in answers)


@pytest.mark.parametrize(("sql", "code"), REFUSED.items())
def test_what_depends_on_more_is_refused(app: Decider, sql: str, code: str) -> None:
    assert app.decide("app", sql, (), ANN).code == code


def test_names_of_with_that_double_each_other_are_refused(app: Decider) -> None:
    parts = ["w0 AS (SELECT id FROM orders WHERE owner = 7)"]
    for at in range(8):
        parts.append(f"w{at + 1} AS (SELECT a.id FROM w{at} a JOIN w{at} b ON a.id = b.id)")
    found = app.decide("app", f"WITH {', '.join(parts)} SELECT id FROM w8", (), ANN)
    assert found.code == "too-large"
