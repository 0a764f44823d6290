"""What the gateway decides, by hand: which queries pass, which do not
and with which code, and what runs.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from gateway.gateway_plans import HOSPITAL, decider, policy
from tacit.errors import TacitError
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.gateway.policy import coverage, decisions
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.decisions import Decider


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Decider:
    return decider(tmp_path_factory.mktemp("hospital"))


@pytest.mark.parametrize(
    ("role", "sql", "code"),
    [
        ("nurses", "SELECT * FROM wards", "allowed"),
        ("nurses", "SELECT name, age FROM patients WHERE illness = 'flu'", "allowed"),
        ("nurses", "SELECT avg(age) FROM patients WHERE illness = 'flu'", "allowed"),
        ("nurses", "SELECT name FROM flu ORDER BY age DESC LIMIT 1", "allowed"),
        ("nurses", "SELECT * FROM main.FLU AS f", "allowed"),
        ("nurses", "SELECT age FROM old", "allowed"),
        ("nurses", "WITH f AS (SELECT * FROM flu) SELECT count(*) FROM f", "allowed"),
        ("nurses", "SELECT name FROM patients WHERE illness = 'cancer'", "discloses"),
        ("nurses", "SELECT name FROM patients", "discloses"),
        ("nurses", "SELECT 1 FROM patients", "discloses"),
        ("nurses", "SELECT count(*) FROM patients", "undecided"),
        ("nurses", "SELECT ward FROM patients WHERE illness <> 'flu'", "discloses"),
        (
            "nurses",
            (
                "SELECT w.ward FROM wards w WHERE EXISTS (SELECT 1 FROM patients p WHERE "
                "p.ward = w.ward AND p.illness = 'cancer')"
            ),
            "undecided",
        ),
        # an expression that can fail is computed for whichever rows the database likes
        ("nurses", "SELECT 100 / age FROM patients WHERE illness = 'flu'", "allowed"),
        (
            "nurses",
            "SELECT name FROM patients WHERE illness = 'flu' AND 100 / (age - 40) = 1",
            "may-fail",
        ),
        (
            "nurses",
            "SELECT name FROM patients WHERE illness = 'flu' AND CAST(name AS INTEGER) = 1",
            "may-fail",
        ),
        (
            "nurses",
            "SELECT 1 / (age - 40) FROM (SELECT age FROM patients WHERE illness = 'flu') q",
            "may-fail",
        ),
        ("nurses", "SELECT name FROM flu WHERE age = (SELECT max(age) FROM flu)", "may-fail"),
        (
            "nurses",
            "SELECT ward FROM wards WHERE 1 / length(nurse) = 1",
            "allowed",
        ),  # all of this table may be known
        (
            "nurses",
            "SELECT age FROM patients WHERE illness = 'flu' GROUP BY age HAVING count(*) > 1",
            "allowed",
        ),
        (
            "nurses",
            "SELECT ward, count(*) FROM patients WHERE illness = 'flu' GROUP BY ROLLUP (ward)",
            "allowed",
        ),
        (
            "nurses",
            "SELECT ward, age FROM patients WHERE illness = 'flu' GROUP BY CUBE (ward, age)",
            "allowed",
        ),
        (
            "nurses",
            (
                "SELECT ward, count(*) FROM patients WHERE illness = 'flu' GROUP BY GROUPING "
                "SETS ((ward), ())"
            ),
            "allowed",
        ),
        (
            "nurses",
            (
                "SELECT 1 / age, count(*) FROM patients WHERE illness = 'flu' GROUP BY ROLLUP "
                "(1 / age)"
            ),
            "may-fail",
        ),
        ("nurses", "SELECT ward, count(*) FROM patients GROUP BY ROLLUP (ward)", "undecided"),
        (
            "nurses",
            "SELECT 1 / (age - 40) AS x FROM patients WHERE illness = 'flu' AND x = 1",
            "may-fail",
        ),
        (
            "nurses",
            "SELECT name FROM patients WHERE illness = 'flu' AND CAST('x' AS INTEGER) = 1",
            "may-fail",
        ),
        (
            "nurses",
            "SELECT name FROM patients WHERE illness = 'flu' AND 9223372036854775807 + 1 > 0",
            "may-fail",
        ),
        (
            "nurses",
            "SELECT age FROM patients WHERE illness = 'flu' GROUP BY age HAVING 1 / (age - 40) = 1",
            "may-fail",
        ),
        (
            "nurses",
            (
                "SELECT p.name FROM patients p, patients q WHERE p.illness = 'flu' AND "
                "q.illness = 'flu' AND p.name = 0 AND q.age NOT IN (NULL)"
            ),
            "may-fail",
        ),
        (
            "nurses",
            (
                "SELECT * FROM (SELECT max(name) AS m FROM patients WHERE illness = 'flu') q "
                "WHERE m = 5"
            ),
            "may-fail",
        ),
        (
            "nurses",
            (
                "SELECT * FROM (SELECT max(age) AS m, count(*) AS n FROM patients WHERE "
                "illness = 'flu') q WHERE m = 5 AND n < 7"
            ),
            "allowed",
        ),
        ("nurses", "SELECT 3e0 FROM wards GROUP BY 3e0", "arity"),
        ("nurses", "SELECT ward FROM wards GROUP BY 99999999999999999999", "arity"),
        # conversions that fail by rows outside of the answer, and
        # constants that the database rounds
        (
            "nurses",
            (
                "SELECT name FROM patients WHERE illness = 'flu' AND age < "
                "1.00000000000000000000000000000000001"
            ),
            "may-fail",
        ),
        ("nurses", "SELECT name FROM patients WHERE illness = 'flu' AND age < 1.5", "may-fail"),
        ("nurses", "SELECT name FROM patients WHERE illness = 'flu' AND age = '7'", "allowed"),
        (
            "nurses",
            "SELECT name FROM patients WHERE illness = 'flu' AND age = 4.0000000000000001e1",
            "may-fail",
        ),
        # the client sees the order, so the order must say no more than the rows
        (
            "nurses",
            (
                "SELECT ward FROM wards ORDER BY (SELECT count(*) FROM patients p WHERE p.ward "
                "= wards.ward)"
            ),
            "order",
        ),
        ("nurses", "SELECT ward FROM wards GROUP BY ward ORDER BY count(*)", "order"),
        ("nurses", "(SELECT ward FROM wards GROUP BY ward ORDER BY count(*))", "order"),
        ("nurses", "SELECT ward FROM wards ORDER BY nurse", "allowed"),
        ("nurses", "SELECT string_agg(nurse, ',') FROM wards", "order"),
        ("nurses", "SELECT string_agg(nurse, ',' ORDER BY nurse) FROM wards", "allowed"),
        ("nurses", "SELECT any_value(nurse) FROM wards", "order"),
        ("nurses", "SELECT DISTINCT ON (ward) nurse FROM wards", "order"),
        ("nurses", "SELECT nurse, row_number() OVER () FROM wards", "order"),
        ("nurses", "SELECT nurse, rank() OVER (ORDER BY nurse) FROM wards", "allowed"),
        # only what follows from what is allowed
        ("clerks", "SELECT n FROM staff WHERE w = 'A'", "allowed"),
        ("clerks", "SELECT count(*) FROM flu", "allowed"),
        ("clerks", "SELECT name FROM patients WHERE illness = 'flu' AND age > 30", "allowed"),
        ("clerks", "SELECT DISTINCT nurse FROM wards WHERE ward = 'A'", "allowed"),
        ("clerks", "SELECT name FROM patients WHERE illness = 'flu' ORDER BY ward", "not-granted"),
        ("clerks", "SELECT name FROM patients WHERE illness = 'flu' ORDER BY name DESC", "allowed"),
        ("clerks", "SELECT nurse FROM wards", "not-granted"),  # staff has each pair once
        ("clerks", "SELECT name, ward FROM patients WHERE illness = 'flu'", "not-granted"),
        ("clerks", "SELECT name FROM flu WHERE 1 / (age - 40) = 1", "may-fail"),
        ("porters", "SELECT nurse FROM wards WHERE 1 / length(nurse) = 1", "allowed"),
        ("porters", "SELECT name FROM patients", "not-granted"),
        # not one SELECT over the plan's tables
        ("nurses", "", "not-a-query"),
        ("nurses", "SELECT 1; SELECT 2", "not-a-query"),
        ("nurses", "SELECT * FROM wards; DROP TABLE wards", "not-a-query"),
        ("nurses", "DELETE FROM wards", "not-a-query"),
        ("nurses", "CREATE VIEW v AS SELECT 1", "not-a-query"),
        ("nurses", "SELECT * INTO wards FROM wards", "not-a-query"),
        ("nurses", "COPY wards TO 'x.csv'", "not-a-query"),
        ("nurses", "SELECT * FROM read_csv('/etc/passwd')", "table-function"),
        ("nurses", "SELECT * FROM '/etc/passwd'", "unknown-table"),
        ("nurses", "SELECT * FROM information_schema.tables", "unknown-table"),
        ("nurses", "SELECT * FROM \u24e6ards", "characters"),
        ("nurses", "SELECT * FROM w\u0430rds", "unknown-table"),  # a Cyrillic a
        ("nurses", "SELECT rowid FROM wards", "ambiguous-column"),
        ("nurses", "SELECT random()", "volatile-function"),
        ("nurses", "SELECT CAST(16384 AS regclass)", "unknown-function"),
        ("nurses", "SELECT MAP {1: 2}", "unknown-function"),
        ("nurses", "SELECT stddev(age) FROM patients WHERE illness = 'flu'", "allowed"),
        ("nurses", "SELECT stddev(age) OVER () FROM patients WHERE illness = 'flu'", "order"),
        ("nurses", "SELECT name FROM patients WHERE illness = 'flu' AND age = '30.5'", "may-fail"),
        (
            "nurses",
            (
                "SELECT age, illness FROM patients INTERSECT SELECT "
                "1.00000000000000000000000000000000001, 'flu'"
            ),
            "may-fail",
        ),
        ("nurses", "SELECT getenv('HOME')", "unknown-function"),
        ("nurses", "SELECT * FROM wards -- and\n; -- nothing", "allowed"),
        ("nurses", "SELECT * FROM wards WHERE nurse = 'Kim' /* OR true */", "allowed"),
        ("nurses", "WITH flu AS (SELECT 1) SELECT * FROM flu", "ambiguous-table"),
        ("nurses", "SELECT 'unclosed FROM wards", "syntax"),
        ("nurses", "SELECT '\ud800' FROM wards", "syntax"),
        ("nurses", "SELECT '\0' FROM wards", "syntax"),
        ("nurses", "SELECT " + "(" * 3000 + "1" + ")" * 3000, "too-large"),
        ("nurses", "SELECT " + ", ".join("1" for _ in range(40_000)), "too-large"),
    ],
)
def test_decisions(hospital: Decider, role: str, sql: str, code: str) -> None:
    found = hospital.decide(role, sql)
    assert found.code == code, found
    assert found.allowed is (code == "allowed") is (found.sql is not None)
    assert (found.message and found.message[0].isupper()) or not found.allowed


def test_what_runs_comes_from_the_tree(hospital: Decider) -> None:
    found = hospital.decide("nurses", "select Name /* x */ from FLU where age > ? -- y", [40])
    assert found.sql == (
        'SELECT "t2"."name" AS "Name" FROM (SELECT "t1"."name" AS "name", "t1"."age" AS "age" FROM '
        '"patients" AS "t1" '
        'WHERE "t1"."illness" = \'flu\') AS "t2" WHERE "t2"."age" > 40 ORDER BY 1'
    )


def test_orders_that_mean_nothing_are_gone(hospital: Decider) -> None:
    """DuckDB keeps the order of a subquery, so that it would tell what it was ordered by."""
    hidden = (
        "SELECT x FROM (VALUES ('A'), ('B')) v(x) ORDER BY EXISTS (SELECT 1 FROM patients p "
        "WHERE p.ward = v.x AND p.illness = 'cancer')"
    )
    for sql in (f"SELECT * FROM ({hidden}) s", f"WITH s AS ({hidden}) SELECT * FROM s"):
        assert hospital.decide("nurses", sql).code == "order"
    plain = hospital.decide(
        "nurses", "SELECT * FROM (SELECT ward, nurse FROM wards ORDER BY nurse) s"
    )
    assert (
        plain.sql is not None
        and plain.sql.count("ORDER BY") == 1
        and plain.sql.endswith("ORDER BY 1, 2")
    )
    assert (
        hospital.decide("nurses", "SELECT ward FROM wards").sql
        == 'SELECT "t1"."ward" AS "ward" FROM "wards" AS "t1"'
    )
    porter = hospital.decide(
        "porters", "SELECT ward FROM wards"
    )  # two such answers side by side would tell more than each
    assert porter.sql is not None and porter.sql.endswith("ORDER BY 1")
    joined = hospital.decide(
        "nurses", "SELECT a.ward, b.nurse FROM wards a, wards b ORDER BY b.nurse"
    )
    assert joined.sql is not None and joined.sql.endswith('ORDER BY "t2"."nurse", 1, 2')


def test_limit_gets_an_order_that_storage_does_not_decide(hospital: Decider) -> None:
    found = hospital.decide("nurses", "SELECT * FROM wards LIMIT 1")
    assert found.sql is not None and found.sql.endswith("ORDER BY 1, 2 LIMIT 1")
    inner = hospital.decide("nurses", "SELECT count(*) FROM (SELECT * FROM wards LIMIT 1) q")
    assert inner.sql is not None and 'ORDER BY 1, 2 LIMIT 1) AS "t2"' in inner.sql


@pytest.mark.parametrize(
    ("sql", "parameters", "code"),
    [
        ("SELECT name FROM patients WHERE illness = ?", ["flu"], "allowed"),
        ("SELECT name FROM patients WHERE illness = $1", ["cancer"], "discloses"),
        (
            "SELECT name FROM patients WHERE illness = $what AND age > $1",
            {"what": "flu", "1": 3},
            "allowed",
        ),
        ("SELECT name FROM patients WHERE illness = $1", ["flu' OR true --"], "allowed"),
        (
            "SELECT name FROM patients WHERE illness = 'flu' AND age > ? AND name <> ?",
            [-1, "x"],
            "allowed",
        ),
        ("SELECT name FROM patients WHERE illness = 'flu' LIMIT ?", [1], "allowed"),
        (
            "SELECT name FROM patients WHERE illness = 'flu' AND age > ?",
            [Decimal("1.5")],
            "may-fail",
        ),
        (
            "SELECT name FROM patients WHERE illness = 'flu' AND age > ?",
            [Decimal("1e-99999")],
            "parameters",
        ),
        ("SELECT name FROM patients WHERE illness = 'flu' AND age > ?", [10**999], "parameters"),
        ("SELECT ? FROM wards WHERE nurse = ?", [None, True], "allowed"),
        ("SELECT name FROM patients WHERE illness = ?", [], "parameters"),
        ("SELECT name FROM patients WHERE illness = ?", ["flu", "more"], "parameters"),
        ("SELECT name FROM patients WHERE illness = ?", [["flu"]], "parameters"),
        ("SELECT name FROM patients WHERE illness = ?", [float("nan")], "parameters"),
        ("SELECT name FROM patients WHERE illness = $x", {"y": "flu"}, "parameters"),
    ],
)
def test_parameters(hospital: Decider, sql: str, parameters: Any, code: str) -> None:
    assert hospital.decide("nurses", sql, parameters).code == code


def test_parameters_stand_where_they_were_written(hospital: Decider) -> None:
    sql = "SELECT ? AS a, nurse FROM wards WHERE ward = ? AND nurse <> ? LIMIT ?"
    found = hospital.decide("nurses", sql, ["one", "A", "it's", 4])
    assert found.sql == (
        'SELECT \'one\' AS "a", "t1"."nurse" AS "nurse" FROM "wards" AS "t1" WHERE '
        '"t1"."ward" = \'A\' AND "t1"."nurse" <> \'it\'\'s\' ORDER BY 1, 2 LIMIT 4'
    )
    duckdb.sql("CREATE OR REPLACE TEMP TABLE wards AS SELECT 'A' AS ward, 'Kim' AS nurse")
    assert duckdb.sql(found.sql).fetchall() == [("one", "Kim")]


def test_queries_that_mean_the_same_have_one_key(hospital: Decider) -> None:
    one = hospital.decide("nurses", "SELECT name FROM patients WHERE illness = 'flu' AND age > 3")
    two = hospital.decide(
        "nurses", "select p.name from PATIENTS as p where 3 < p.age and 'flu' = p.illness"
    )
    three = hospital.decide(
        "nurses", "select p.name from PATIENTS as p where 4 < p.age and 'flu' = p.illness"
    )
    assert one.key == two.key != three.key


def test_the_decision_does_not_depend_on_rows(tmp_path: Path) -> None:
    """The same plan on data that differ in the secret, and in where values are missing:
    every message is the same.
    """
    declared = "{columns: {name: text, illness: text}}"
    found = []
    for at, rows in enumerate(("Ann,flu\nBob,cancer\n", "Ann,flu\nBob,\n", "Ann,\n")):
        folder = tmp_path / str(at)
        folder.mkdir()
        (folder / "people.csv").write_text(f"name,illness\n{rows}", "utf-8")
        asks = decider(
            folder,
            "version: 1\n"
            f"tables: {{people: {declared}}}\n"
            f"secrets: {{cancer: \"SELECT name FROM people WHERE illness = 'cancer'\"}}\n"
            f"roles: {{nurses: {{default: allow, deny: [cancer]}}}}\n",
        )
        queries = (
            "SELECT name FROM people WHERE illness = 'flu'",
            "SELECT name FROM people WHERE illness IS NULL",
            "SELECT name FROM people",
            "SELECT x FROM people",
        )
        found.append([asks.decide("nurses", one) for one in queries])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("allow: [staff, flu]", "allow: [patients]"),
            "is allowed patients, which discloses cancer",
        ),
        (
            ("{default: deny, allow: [wards]}", "{default: deny, deny: [patients], allow: [flu]}"),
            "role porters is allowed flu, which discloses patients",
        ),
        (
            ("nullable: []\n    rows", "nullable: []\n    key: [ward]\n    rows"),
            "is declared a key of patients",
        ),
        (
            (
                "{columns: {ward: text, nurse: text}, nullable: []",
                "{columns: {ward: text, nurse: text}, domains: {ward: [A]}, nullable: []",
            ),
            "its domain does not have",
        ),
        (
            ("secrets:\n", 'secrets:\n  wards: "SELECT nurse FROM wards"\n'),
            "is a table and also a secret or a release",
        ),
        (
            (
                "cancer: \"SELECT name FROM patients WHERE illness = 'cancer'\"",
                'cancer: "SELECT name FROM patients WHERE illness = $x"',
            ),
            "has parameters",
        ),
    ],
)
def test_a_plan_that_contradicts_itself_or_its_data_stops_the_start(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    assert change[0] in HOSPITAL
    with pytest.raises(TacitError) as error:
        policy(tmp_path, HOSPITAL.replace(*change))
    assert said in str(error.value) and error.value.mark is not None and error.value.mark.line


@pytest.mark.parametrize(
    ("key", "advice"),
    [("deny", "covers every paper"), ("allow", "a view for each value that the role may ask for")],
)
def test_advice_about_parameters_grants_nothing(key: str, advice: str, tmp_path: Path) -> None:
    """With the parameter's column in its answer an allowed view would show everybody's rows."""
    plan = HOSPITAL.replace(
        "secrets:\n", 'secrets:\n  mine: "SELECT name FROM patients WHERE ward = $w"\n'
    ).replace("roles:\n", f"roles:\n  some: {{default: deny, {key}: [mine]}}\n")
    with pytest.raises(TacitError, match="mine has parameters") as error:
        policy(tmp_path, plan)
    assert advice in str(error.value) and ("column into the answer" in str(error.value)) == (
        key == "deny"
    )


def test_constraints_that_tie_tables_are_refused(tmp_path: Path) -> None:
    plan = HOSPITAL.replace("deny: [cancer], allow: [staff, flu]", "allow: [staff, flu]")
    asks = decider(tmp_path, plan + 'constraints: ["patients(n, a, i, w) -> wards(w, m)"]\n')
    found = asks.decide("nurses", "SELECT * FROM wards")
    assert (found.code, found.secret) == ("undecided", "cancer")
    assert "constraint" in found.message


# Names that a reader and a database could look up in different places;
# each would have shown who has cancer.
ELSEWHERE = (
    (
        "SELECT name FROM patients p WHERE EXISTS (SELECT 1 FROM (SELECT 'illness') w WHERE "
        "illness = 'cancer')"
    ),
    (
        "SELECT name FROM (SELECT name, illness AS col0 FROM patients) p WHERE EXISTS (SELECT "
        "1 FROM (VALUES ('x')) v WHERE col0 = 'cancer')"
    ),
    """SELECT name FROM patients p WHERE EXISTS (SELECT 1 FROM (SELECT 'x' AS "Illness") w WHERE illness = 'cancer')""",  # noqa: E501
    """SELECT name FROM (SELECT name, illness AS "\u00e4" FROM patients) p WHERE EXISTS (SELECT 1 FROM (SELECT 'x' AS "\u00c4") w WHERE "\u00e4" = 'cancer')""",  # noqa: E501
    """SELECT name FROM patients AS p WHERE EXISTS (SELECT 1 FROM (SELECT 'x' AS illness) "P" WHERE p.illness = 'cancer')""",  # noqa: E501
    (
        "SELECT name FROM patients p WHERE ('a', 'cancer') IN (SELECT 'a' AS illness, illness "
        "FROM wards)"
    ),
    (
        "SELECT name FROM patients p WHERE EXISTS (SELECT 'x' AS illness FROM wards GROUP BY "
        "ward HAVING illness = 'cancer')"
    ),
    (
        "SELECT name FROM patients p WHERE EXISTS (SELECT 1 FROM (SELECT 'x' AS illness) a, "
        "wards b JOIN wards c ON illness = 'cancer')"
    ),
    (
        "SELECT name FROM patients p WHERE EXISTS (SELECT 1 FROM (SELECT 'x' AS illness) p, "
        "wards b JOIN wards c ON p.illness = 'cancer')"
    ),
    (
        "SELECT name FROM (SELECT name, illness AS x FROM patients) p WHERE EXISTS (SELECT 1 "
        "FROM (SELECT (x) FROM (SELECT 'flu' AS x) q) w WHERE x = 'flu')"
    ),
    """SELECT name FROM (SELECT name, 'flu' AS "ILLNESS", illness AS illness FROM patients) s WHERE illness = 'flu'""",  # noqa: E501
    """SELECT name FROM (SELECT name, illness AS "ILLNESS", 'flu' AS illness FROM patients) s WHERE ILLNESS = 'flu'""",  # noqa: E501
    """SELECT * FROM (SELECT name, illness AS "ILLNESS" FROM patients) a NATURAL JOIN (SELECT 'flu' AS illness) b""",  # noqa: E501
    (
        "SELECT l.r, l.name FROM (SELECT 1 AS rowid) o, (SELECT rowid AS r, name FROM patients "
        "WHERE illness = 'flu') l"
    ),
    """WITH "WARDS2" AS (SELECT 'a' AS tablename) SELECT tablename FROM wards2""",
    (
        "SELECT name FROM flu WHERE EXISTS (SELECT 1 FROM (SELECT 'flu' AS illness) w WHERE "
        "illness = 'flu')"
    ),
)
ROWS = [("Ann", 30, "flu", "A"), ("Cy", 50, "flu", "B")]


def rows_of(sql: str, more: list[tuple[str, int, str, str]]) -> Any:
    """What runs on the patients and some more of them, in the order in which it comes."""
    with duckdb.connect(config={"threads": 1}) as one:
        one.execute(
            "CREATE TABLE patients (name VARCHAR, age BIGINT, illness VARCHAR, ward VARCHAR)"
        )
        one.execute(
            "CREATE TABLE wards AS SELECT * FROM (VALUES ('A', 'Kim'), ('B', 'Lee')) v(ward, nurse)"
        )
        one.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", [*more[:1], *ROWS, *more[1:]])
        return one.execute(sql).fetchall()


@pytest.mark.parametrize("sql", ELSEWHERE)
def test_a_name_means_the_same_to_the_reader_and_to_the_database(
    hospital: Decider, sql: str
) -> None:
    found = hospital.decide("nurses", sql)
    if found.sql is not None:
        sick = [("Bob", 40, "cancer", "B"), ("Di", 7, "cancer", "A")]
        assert rows_of(found.sql, []) == rows_of(found.sql, sick[:1]) == rows_of(found.sql, sick)


@pytest.mark.slow
def test_so_it_does_in_postgresql(hospital: Decider, postgres_url: str) -> None:
    import psycopg

    asks = Decider(replace(hospital.policy, dialect="postgres"))
    catalog = """WITH "PG_STATS" AS (SELECT 'a' AS tablename, 'b' AS most_common_vals) SELECT most_common_vals FROM pg_stats WHERE tablename = 'patients'"""  # noqa: E501
    places = (
        "SELECT name FROM (SELECT 1 AS x, '' AS ctid) o, flu WHERE EXISTS (SELECT 1 FROM "
        "patients WHERE illness = 'flu' AND ctid = '(0,1)')"
    )
    digits = "SELECT 1.00 AS k FROM patients WHERE illness = 'cancer' UNION SELECT 1.0"
    allowed = [
        found.sql
        for sql in (*ELSEWHERE, catalog, places, digits)
        if (found := asks.decide("nurses", sql)).sql is not None
    ]
    assert not any("pg_stats" in sql for sql in allowed)
    answers = []
    for sick in ([], [("Bob", 40, "cancer", "B")]):
        with psycopg.connect(postgres_url) as one:
            one.execute(
                "CREATE TEMP TABLE patients (name text, age bigint, illness text, ward text)"
            )
            one.execute(
                "CREATE TEMP TABLE wards AS SELECT * FROM (VALUES ('A', 'Kim'), ('B', 'Lee')) "
                "v(ward, nurse)"
            )
            for row in [*sick, *ROWS]:
                one.execute("INSERT INTO patients VALUES (%s, %s, %s, %s)", row)
            answers.append(
                [[tuple(map(str, row)) for row in one.execute(sql).fetchall()] for sql in allowed]
            )
            one.rollback()
    assert answers[0] == answers[1] and len(allowed) > 3


def test_tables_that_share_rows_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("ward\nA\n", "utf-8")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as one:
        one.execute(
            "CREATE TABLE patients AS SELECT 'Ann' AS name, 'flu' AS illness; CREATE VIEW "
            "everybody AS SELECT name FROM patients"
        )
    roles = 'secrets: {s: "SELECT 1 AS one"}\nroles: {r: {default: allow, deny: [s]}}\n'
    for plan in (
        "tables: {a: {file: wards.csv}, b: {file: ./wards.csv}}\n",
        "source: clinic.duckdb\ntables: {patients: {}, everybody: {}}\n",
    ):
        with pytest.raises(TacitError, match="share rows"):
            policy(tmp_path, f"version: 1\n{plan}{roles}")


@pytest.mark.parametrize(
    ("role", "sql", "message", "hint"),
    [
        (
            "clerks",
            "SELECT name FROM patients WHERE illness = 'cold'",
            (
                "Role clerks may ask flu, staff, and of the rest only what is seen to follow "
                "from that."
            ),
            "Write FROM flu or FROM staff.",
        ),
        (
            "nurses",
            "SELECT name FROM patients WHERE illness = 'flu' ORDER BY CAST(name AS INTEGER)",
            (
                "name may mean the table's column or the result's, here inside of ORDER BY "
                "(line 1, column 63)."
            ),
            "alias.column",
        ),
        (
            "nurses",
            "SELECT sum(CAST(age AS DOUBLE)) OVER () FROM patients WHERE illness = 'flu'",
            "may be rounded, and its last digits then depend on how rows are stored",
            "with + - and * only",
        ),
        (
            "nurses",
            "SELECT * FROM wards WHERE",
            "something is missing at its end (line 1, column 26).",
            None,
        ),
    ],
)
def test_a_refusal_gives_the_true_reason_and_what_to_write(
    hospital: Decider, role: str, sql: str, message: str, hint: str | None
) -> None:
    found = hospital.decide(role, sql)
    assert message in found.message and (
        found.hint is None if hint is None else hint in str(found.hint)
    )


@pytest.mark.parametrize(
    "sql", ["SELECT name FROM patient", "SELECT illnes FROM patients", "SELECT x FROM wards"]
)
def test_a_role_that_is_allowed_some_views_is_told_no_other_name(
    hospital: Decider, sql: str
) -> None:
    found = hospital.decide("porters", sql)
    assert found.code == ("unknown-column" if "wards" in sql else "not-granted")
    assert found.hint == "Write FROM wards."
    assert "illness" not in found.message and hospital.decide("nurses", sql).hint != found.hint


WITHOUT_KEYS = """version: 1
tables:
  patients: {columns: {name: text, age: integer, ward: text}, rows: []}
  wards: {columns: {ward: text, nurse: text}, rows: []}
releases:
  mine: {query: "SELECT * FROM patients WHERE ward IN (SELECT ward FROM wards WHERE nurse = $user)"}
  once: {query: "SELECT DISTINCT * FROM patients WHERE age < 18"}
  names: {query: "SELECT name FROM patients WHERE age > 90"}
roles:
  nurses: {default: deny, allow: [mine, once, names]}
"""


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("ward IN (SELECT ward FROM wards WHERE nurse = 'kim')", True),
        ("ward IN (SELECT ward FROM wards WHERE nurse = 'kim') AND age > 30", True),
        ("EXISTS (SELECT 1 FROM wards w WHERE w.ward = patients.ward AND w.nurse = 'kim')", True),
        ("ward IN (SELECT ward FROM wards WHERE nurse = 'lee')", False),
        # Nobody says how often these are there.
        ("age < 18 AND EXISTS (SELECT 1 FROM patients p WHERE p.name = patients.name)", False),
        ("age > 90 AND EXISTS (SELECT 1 FROM patients p WHERE p.name = patients.name)", False),
    ],
)
def test_whole_rows_of_a_table_without_a_key_are_covered(
    tmp_path: Path, where: str, expected: bool
) -> None:
    deciding = decider(tmp_path, WITHOUT_KEYS)
    for what in ("*", "name", "count(*)"):
        sql = f"SELECT {what} FROM patients WHERE {where}"
        assert deciding.decide("nurses", sql, (), Asker("kim")).allowed is expected


@pytest.mark.parametrize("key", ["", "key: id, "])
def test_no_part_of_a_query_is_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    plan = f"""version: 1
tables:
  posts: {{columns: {{id: integer, author: integer}}, nullable: [], {key}rows: []}}
  friends: {{columns: {{one: integer, other: integer}}, nullable: [], rows: []}}
releases:
  friendly:
    query: SELECT * FROM posts WHERE author IN (SELECT other FROM friends WHERE one = 7)
roles: {{readers: {{default: deny, allow: [friendly]}}}}
"""
    deciding = decider(tmp_path, plan)
    read: list[str] = []
    for module in (coverage, decisions):
        monkeypatch.setattr(module, "read_tree", _noting(module.read_tree, read))
    asked = (
        "SELECT p.id FROM posts p "
        "WHERE EXISTS (SELECT 1 FROM friends f WHERE f.one = 7 AND f.other = p.author)"
    )
    assert deciding.decide("readers", asked).allowed
    assert len(read) == len(set(read)) <= 3


def _noting(read_tree: Any, read: list[str]) -> Any:
    def noting(tree: exp.Expr, *given: Any, **named: Any) -> QueryUnderstanding:
        read.append(tree.sql())
        found: QueryUnderstanding = read_tree(tree, *given, **named)
        return found

    return noting
