"""PostgreSQL: what it refuses, what it may do, and types that only it has."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import pytest
from sqlglot import parse_one

from tacit.engines.postgres.engine import Postgres
from tacit.engines.sql import shapes, shapes_coded
from tacit.errors import DataError, EngineError
from tacit.model.schema import Table

psycopg = pytest.importorskip("psycopg", reason="pip install 'tacit-privacy[postgres]'")
pytestmark = pytest.mark.slow


@pytest.fixture
def admin(postgres_url: str) -> Iterator[Any]:
    """A connection that may do everything; what it makes in the schema `hospital` is dropped."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE SCHEMA hospital; CREATE TABLE hospital.wards (name text, beds int)"
        )
        connection.execute("INSERT INTO hospital.wards VALUES ('a', 1), ('b', 2)")
        yield connection
        connection.execute("DROP SCHEMA hospital CASCADE")


@pytest.fixture
def guest(admin: Any) -> Iterator[str]:
    """A role that may do nothing yet; its name is that of no other worker's."""
    name = f"tacit_guest_{os.getpid()}"
    admin.execute(f"CREATE ROLE {name} LOGIN; GRANT USAGE ON SCHEMA hospital TO {name}")
    yield name
    admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def changed(url: str, **parts: object) -> str:
    """The URL with other settings."""
    return "postgresql:///?" + urlencode(
        {**dict(parse_qsl(urlsplit(url).query)), **parts}, quote_via=quote
    )


def test_a_refused_connection_says_what_to_check(postgres_url: str) -> None:
    with pytest.raises(EngineError, match=r"cannot be reached.*refused.*Start PostgreSQL"):
        Postgres(changed(postgres_url, port=1))


def test_an_unknown_database_is_named(postgres_url: str) -> None:
    with pytest.raises(EngineError, match=r'"hospitl" does not exist.*psql -l'):
        Postgres(changed(postgres_url, dbname="hospitl"))


def test_an_unknown_role_is_sent_to_libpq(postgres_url: str) -> None:
    with pytest.raises(EngineError, match=r"role .* does not exist.*~/\.pgpass"):
        Postgres(changed(postgres_url, user="nobody_known"))


def test_a_host_that_is_not_there_is_an_error() -> None:
    with pytest.raises(EngineError, match="Correct the host"):
        Postgres("postgresql://host.invalid/db")


def test_a_host_that_does_not_answer_is_not_waited_for() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(EngineError, match="firewall"),
    ):
        Postgres(f"postgresql://127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=2")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@127.0.0.1:1/db",
        "postgresql://ann:s3cret@[::1",
        "postgresql://ann:p@s3cret:x/db",
    ],
)
def test_no_error_shows_a_password(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "s3cret")
    with pytest.raises((EngineError, DataError)) as raised:
        Postgres(url)
    assert "s3cret" not in str(raised.value) + repr(raised.value.to_json())


def test_the_nearest_table_is_named(postgres_url: str, admin: Any) -> None:
    with (
        Postgres(postgres_url) as engine,
        pytest.raises(
            DataError, match=r"no table 'hospital\.ward'. Did you mean 'hospital\.wards'\?"
        ),
    ):
        engine.attach(Table("hospital.ward"))


def test_many_tables_are_counted_and_not_listed(postgres_url: str, admin: Any) -> None:
    for i in range(30):
        admin.execute(f"CREATE TABLE hospital.t{i} (a int)")
    with (
        Postgres(postgres_url) as engine,
        pytest.raises(DataError, match=r"None of its \d+ tables"),
    ):
        engine.attach(Table("zzzzzzzzzz"))


def test_a_table_without_rights_says_what_to_grant(postgres_url: str, guest: str) -> None:
    with Postgres(changed(postgres_url, user=guest)) as engine:
        with pytest.raises(
            EngineError, match=rf'may not be read.*GRANT SELECT ON "hospital"\."wards" TO {guest}'
        ):
            engine.attach(Table("hospital.wards"))
        with pytest.raises(EngineError, match=r"permission denied.*GRANT SELECT"):
            engine.value(shapes.row_count("hospital.wards"))


def test_storing_says_which_right_is_missing(postgres_url: str, admin: Any, guest: str) -> None:
    admin.execute(f"GRANT SELECT ON hospital.wards TO {guest}")
    with Postgres(changed(postgres_url, user=guest)) as engine:
        with pytest.raises(EngineError, match=r"denied for schema hospital.*CREATE"):
            engine.write("hospital.copy", shapes.columns_of("hospital.wards", ["name"]))
        assert engine.value(shapes.row_count("hospital.wards")) == 2


def test_rights_to_some_columns_are_enough_for_them(
    postgres_url: str, admin: Any, guest: str
) -> None:
    admin.execute(f"GRANT SELECT (beds) ON hospital.wards TO {guest}")
    with Postgres(changed(postgres_url, user=guest)) as engine:
        engine.attach(Table("hospital.wards"))
        assert engine.columns("hospital.wards") == {"beds": "integer"}
        assert engine.value(shapes.row_count("hospital.wards")) == 2


def test_hidden_rows_are_an_error_and_not_left_out(
    postgres_url: str, admin: Any, guest: str
) -> None:
    admin.execute(
        f"GRANT SELECT ON hospital.wards TO {guest}; ALTER TABLE hospital.wards ENABLE ROW "
        "LEVEL SECURITY"
    )
    admin.execute("CREATE POLICY one ON hospital.wards USING (beds = 1)")
    with (
        Postgres(changed(postgres_url, user=guest)) as engine,
        pytest.raises(EngineError, match="BYPASSRLS"),
    ):
        engine.value(shapes.row_count("hospital.wards"))


def test_a_timeout_says_where_the_limit_is_set(postgres_url: str) -> None:
    url = changed(postgres_url, options="-c statement_timeout=50")
    with Postgres(url) as engine, pytest.raises(EngineError, match="statement_timeout"):
        engine.value(
            parse_one("SELECT COUNT(*) FROM GENERATE_SERIES(1, 100000000)", dialect="postgres")
        )


def test_a_lost_connection_is_an_error(postgres_url: str, admin: Any) -> None:
    engine = Postgres(postgres_url)
    process = engine.connection.info.backend_pid
    admin.execute("SELECT pg_terminate_backend(%s)", (process,))
    with pytest.raises(EngineError, match="could not answer"):
        engine.value(shapes.row_count("hospital.wards"))
    engine.close()


def test_the_session_cannot_change_anything(postgres_url: str, admin: Any) -> None:
    admin.execute("CREATE SEQUENCE hospital.numbers")
    with (
        Postgres(postgres_url) as engine,
        pytest.raises(EngineError, match="read-only transaction"),
    ):
        engine.value(parse_one("SELECT NEXTVAL('hospital.numbers')", dialect="postgres"))


def test_all_questions_see_the_same_rows(postgres_url: str, admin: Any) -> None:
    with Postgres(postgres_url) as engine:
        engine.attach(Table("hospital.wards"))
        before = engine.value(shapes.row_count("hospital.wards"))
        admin.execute("INSERT INTO hospital.wards VALUES ('c', 3)")
        assert engine.value(shapes.row_count("hospital.wards")) == before == 2


def test_writing_never_replaces_a_table(postgres_url: str, admin: Any) -> None:
    with Postgres(postgres_url) as engine:
        engine.attach(Table("hospital.wards"))
        engine.write("hospital.copy", shapes.columns_of("hospital.wards", ["name"]))
        with pytest.raises(DataError, match=r"has a table 'hospital\.copy' already"):
            engine.write("hospital.copy", shapes.columns_of("hospital.wards", ["name"]))
        with pytest.raises(EngineError, match="could not answer"):
            engine.write("nowhere.copy", shapes.columns_of("hospital.wards", ["name"]))
        assert engine.value(shapes.row_count("hospital.copy")) == 2
    assert admin.execute("SELECT count(*) FROM hospital.copy").fetchone() == (2,)


def test_rows_of_the_plan_stay_in_the_session(postgres_url: str) -> None:
    with Postgres(postgres_url) as engine:
        engine.attach(Table("only_here", columns={"a": None}, rows=((1,),)))
        with Postgres(postgres_url) as other, pytest.raises(DataError, match="no table"):
            other.attach(Table("only_here"))


def test_rows_of_the_plan_need_the_right_to_temporary_tables(
    postgres_url: str, admin: Any, guest: str
) -> None:
    database = admin.info.dbname
    admin.execute(f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
    with (
        Postgres(changed(postgres_url, user=guest)) as engine,
        pytest.raises(EngineError, match="GRANT TEMPORARY"),
    ):
        engine.attach(Table("only_here", columns={"a": None}, rows=((1,),)))
    admin.execute(f"GRANT TEMPORARY ON DATABASE {database} TO PUBLIC")


def test_odd_types_are_read_in_one_form(postgres_url: str, admin: Any) -> None:
    admin.execute(
        """SET search_path = hospital;
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE DOMAIN age AS int CHECK (value > 0);
        CREATE TABLE odd AS SELECT x AS f, x::numeric AS g, timestamptz '2024-02-29 10:00+02' AS at, m::mood AS m,
          array['a', 'b'] AS l, 'b0e0c1de-0000-4000-8000-000000000000'::uuid AS u, 7::age AS years,
          'ab '::char(3) AS c, '{"flu": 0.5}'::jsonb AS j, 7::smallint AS s, now() AS later, interval '1 day' AS i
        FROM (VALUES ('NaN'::float8, 'sad'), (0.5, 'ok'), (NULL, NULL)) v(x, m)"""  # noqa: E501
    )
    names = ["f", "g", "at", "m", "l", "u", "years", "c", "j", "s"]
    with Postgres(postgres_url) as engine:
        engine.attach(Table("hospital.odd"))
        kinds = engine.columns("hospital.odd")
        assert [kinds[name] for name in names] == [
            "decimal",
            "decimal",
            "timestamp",
            *("text",) * 3,
            "integer",
            "text",
            "text",
            "integer",
        ]
        found = engine.rows(shapes.matching("hospital.odd", names, {"f": 0.5}, limit=9))
        assert list(found) == [
            (
                0.5,
                Decimal("0.5"),
                datetime(2024, 2, 29, 8),
                "ok",
                "{a,b}",
                "b0e0c1de-0000-4000-8000-000000000000",
                7,
                "ab",
                '{"flu": 0.5}',
                7,
            )
        ]
        for name, values in {
            "f": [0.5, None],
            "g": [Decimal("0.5"), None],
            "m": ["ok", "sad", None],
        }.items():
            query = shapes.dictionary("hospital.odd", [name], engine.collations("hospital.odd"))
            assert [row[0] for row in engine.rows(query)] == values
        sizes = dict.fromkeys(names, 4)
        coded = shapes_coded.coded_counts(
            "hospital.odd",
            sizes,
            keys=[names],
            person=["m"],
            collations=engine.collations("hospital.odd"),
        )
        assert engine.numbers(coded)[-1].tolist() == [1, 1]


def test_a_column_that_ignores_case_is_read_letter_by_letter(postgres_url: str, admin: Any) -> None:
    """Otherwise 'flu' and 'Flu' would be one value, and groups larger than what is released."""
    try:
        admin.execute(
            "CREATE COLLATION hospital.nocase (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
    except psycopg.Error:
        pytest.skip("this PostgreSQL was built without ICU")
    admin.execute(
        "CREATE TABLE hospital.ills (x text COLLATE hospital.nocase); INSERT INTO hospital.ills "
        "VALUES ('flu'), ('Flu')"
    )
    with Postgres(postgres_url) as engine:
        engine.attach(Table("hospital.ills"))
        found = engine.rows(
            shapes.dictionary("hospital.ills", ["x"], engine.collations("hospital.ills"))
        )
        assert list(found) == [("Flu",), ("flu",)]
