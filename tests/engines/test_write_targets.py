"""Where a release is written to: whole or not at all, never over its own source, with errors
that say what to do.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp, parse_one

from disks import little_disk
from services import open_kind
from tacit.engines import output
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes, shapes_text
from tacit.errors import DataError, EngineError, TacitError
from tacit.model.schema import Table

OLD = "old\n1\n"
ROWS = ((1, "flu"), (2, None), (3, 'a "b", c'))
TABLE = Table("wards", columns={"age": "integer", "ill": "text"}, rows=ROWS)


def everything(engine: Engine) -> exp.Expression:
    engine.attach(TABLE)
    return shapes.columns_of("wards", ["age", "ill"])


def numbers(rows: int) -> exp.Expression:
    """A query that takes its time."""
    return parse_one(
        "SELECT i, i * 2 AS j, 'abcdefgh' || CAST(i AS TEXT) AS s FROM generate_series(1, "
        f"{rows}) AS t(i)",
        dialect="duckdb",
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that is there before."""
    path = tmp_path / "out.csv"
    path.write_text(OLD)
    return path


def untouched(path: Path) -> bool:
    """Whether the old file is as it was, and nothing lies beside it."""
    return path.read_text() == OLD and list(path.parent.iterdir()) == [path]


def read_back(path: Path) -> list[tuple[Any, ...]]:
    with DuckDB(folder=path.parent) as engine:
        engine.attach(Table("out", file=path.name))
        return list(engine.rows(shapes.columns_of("out", list(engine.columns("out")))))


@pytest.mark.parametrize(
    "name", ["out.csv", "out.parquet", "OUT.PQ", "sp ace 'quote' [1] {2}.csv", "ä" * 100 + ".csv"]
)
def test_a_file_is_written_and_can_be_read_back(engine: Engine, tmp_path: Path, name: str) -> None:
    engine.save(everything(engine), str(tmp_path / name), rows=3)
    assert Counter(read_back(tmp_path / name)) == Counter(ROWS)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_is_there_is_replaced_and_keeps_its_rights(engine: Engine, old: Path) -> None:
    old.chmod(0o640)
    engine.save(everything(engine), str(old))
    assert Counter(read_back(old)) == Counter(ROWS)
    assert old.stat().st_mode & 0o777 == 0o640


def test_a_new_file_is_the_owners_alone(engine: Engine, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        engine.save(everything(engine), str(tmp_path / "out.csv"))
    finally:
        os.umask(before)
    # Spark writes with the rights of its own process.
    usual = (0o640, 0o644) if engine.dialect == "spark" else ()
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 in (0o600, *usual)


def test_a_link_stays_a_link(tmp_path: Path, old: Path) -> None:
    (tmp_path / "link.csv").symlink_to(old)
    with DuckDB() as engine:
        engine.save(everything(engine), str(tmp_path / "link.csv"))
    assert (tmp_path / "link.csv").is_symlink()
    assert Counter(read_back(old)) == Counter(ROWS)


def test_csv_is_written_as_rfc_4180_says(engine: Engine, tmp_path: Path) -> None:
    table = Table(
        "odd",
        columns={"a,b": "text", "n": "integer"},
        rows=(("x", 1), ('say "hi"', 2), ("two\nlines", 3), (None, 4), ("", 5), (" y ", None)),
    )
    engine.attach(table)
    query = shapes.columns_of("odd", ["a,b", "n"]).order_by(*shapes.order_by(["n"], {}))
    engine.save(query, str(tmp_path / "out.csv"))
    text = (tmp_path / "out.csv").read_bytes().decode()
    lines = ['"a,b",n', "x,1", '"say ""hi""",2', '"two\nlines",3', ",4", '"",5']
    assert text.startswith("\n".join(lines) + "\n")
    assert text.removeprefix("\n".join(lines) + "\n") in (" y ,\n", '" y ",\n')


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_other_separators_in_names_do_not_confuse_the_reader(
    tmp_path: Path, separator: str
) -> None:
    name = separator.join("abc")
    with DuckDB() as engine:
        engine.attach(
            Table(
                "t", columns={name: "text", "n": "integer"}, rows=(("x", 1), (f"y{separator}z", 2))
            )
        )
        engine.save(shapes.columns_of("t", [name, "n"]), str(tmp_path / "out.csv"))
    assert Counter(read_back(tmp_path / "out.csv")) == Counter([("x", 1), (f"y{separator}z", 2)])


def test_a_query_without_rows_writes_the_names_of_its_columns(
    engine: Engine, tmp_path: Path
) -> None:
    nobody = everything(engine).where("1 = 0")  # type: ignore[attr-defined]
    for name in ("out.csv", "out.parquet"):
        engine.save(nobody, str(tmp_path / name), rows=0)
        assert read_back(tmp_path / name) == []


def test_other_numbers_of_rows_than_meant_leave_nothing(engine: Engine, old: Path) -> None:
    with pytest.raises(DataError, match="3 rows would have been written, but 4 were meant"):
        engine.save(everything(engine), str(old), rows=4)
    assert untouched(old)


def test_a_query_that_fails_leaves_nothing(engine: Engine, old: Path) -> None:
    everything(engine)
    with pytest.raises(EngineError):
        engine.save(shapes_text.typed("wards", {"ill": "BIGINT"}), str(old))
    assert untouched(old)
    assert engine.value(shapes.row_count("wards")) == 3


REFUSED: dict[str, tuple[Callable[[Path], str], str]] = {
    "no folder": (
        lambda folder: str(folder / "nowhere" / "out.csv"),
        "there is no folder .*nowhere",
    ),
    "a folder": (lambda folder: made(folder / "out.csv"), "out.csv is not a file"),
    "another ending": (
        lambda folder: str(folder / "out.xlsx"),
        "does not write .xlsx files.* ends in .csv or .parquet",
    ),
    "no ending": (lambda folder: str(folder / "out"), "neither a file nor a table"),
    "nothing": (lambda folder: "", "neither a file nor a table"),
    "a device": (lambda folder: device(folder / "out.csv"), "out.csv is not a file"),
    "a pipe": (lambda folder: pipe(folder / "out.csv"), "out.csv is not a file"),
    "links in a circle": (
        lambda folder: linked(folder / "out.csv", "out.csv"),
        "out.csv cannot be written: too many levels of symbolic links",
    ),
    "a link to no folder": (
        lambda folder: linked(folder / "out.csv", "nowhere/out.csv"),
        "there is no folder .*nowhere",
    ),
    "a folder that is a file": (lambda folder: f"{__file__}/out.csv", "there is no folder"),
    "a name that is too long": (
        lambda folder: str(folder / ("x" * 300 + ".csv")),
        "cannot be written: file name too long",
    ),
}


def made(folder: Path) -> str:
    folder.mkdir()
    return str(folder)


def device(path: Path) -> str:
    return linked(path, "/dev/full")


def linked(path: Path, target: str) -> str:
    path.symlink_to(target)
    return str(path)


def pipe(path: Path) -> str:
    os.mkfifo(path)
    return str(path)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_written_is_refused_before_the_work(tmp_path: Path, case: str) -> None:
    make, message = REFUSED[case]
    target = make(tmp_path)
    before = sorted(tmp_path.iterdir())
    with DuckDB() as engine, pytest.raises(TacitError) as raised:
        engine.check_target(target)
    assert re.search(message, str(raised.value))
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_not_a_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    target = Path(pipe(tmp_path / "out.csv"))
    with (
        pytest.raises(DataError, match=r"out\.csv is not a file"),
        output.temporary_place(target) as place,
    ):
        place.write_text("new")
    assert target.is_fifo() and list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        DuckDB() as engine,
        pytest.raises(EngineError, match="cannot be written: permission denied"),
    ):
        engine.check_target(str(tmp_path / "out.csv"))


def test_rights_that_are_missing_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with (
        DuckDB() as engine,
        pytest.raises(EngineError, match=r"out\.csv cannot be written: permission denied"),
    ):
        engine.check_target(str(tmp_path / "out.csv"))


def test_the_source_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("age,ill\n1,flu\n")
    (tmp_path / "again.csv").hardlink_to(tmp_path / "wards.csv")
    (tmp_path / "levels.csv").write_text("1;*\n")
    with DuckDB(folder=tmp_path) as engine:
        engine.attach(Table("wards"))
        for name in ("wards.csv", "again.csv", "sub/../wards.csv"):
            (tmp_path / "sub").mkdir(exist_ok=True)
            with pytest.raises(DataError, match="belongs to what is released"):
                engine.check_target(str(tmp_path / name))
        with pytest.raises(DataError, match="belongs to what is released"):
            engine.check_target(str(tmp_path / "levels.csv"), keep=[tmp_path / "levels.csv"])
        engine.check_target(str(tmp_path / "levels.csv"))


def test_a_parquet_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    duckdb.sql("SELECT 1 AS age").write_parquet(str(tmp_path / "wards.parquet"))
    with DuckDB(folder=tmp_path) as engine:
        engine.attach(Table("wards"))
        duckdb.sql("SELECT 2 AS age").write_parquet(str(tmp_path / "wards.parquet"))
        with pytest.raises(DataError, match=r"wards\.parquet has changed since it was counted"):
            engine.save(shapes.columns_of("wards", ["age"]), str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("kind", ["duckdb", pytest.param("postgres", marks=pytest.mark.slow)])
def test_a_full_disk_leaves_the_old_file(
    kind: str, request: pytest.FixtureRequest, old: Path
) -> None:
    with open_kind(kind, request) as engine:
        with (
            pytest.raises(EngineError, match=r"out\.csv cannot be written: the disk is full"),
            little_disk(),
        ):
            engine.save(numbers(200_000), str(old))
        assert untouched(old)
        engine.save(numbers(10), str(old), rows=10)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Ctrl-C interrupts, also where a shell in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_ctrl_c_leaves_the_old_file(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text(OLD)
    with open_kind(kind, request) as engine:
        watch = threading.Thread(
            target=when_writing, args=(tmp_path, lambda: os.kill(os.getpid(), signal.SIGINT))
        )
        watch.start()
        with pytest.raises(KeyboardInterrupt):
            # PostgreSQL makes all of them before it sends the first.
            engine.save(numbers(20_000_000 if kind == "postgres" else 200_000_000), str(path))
        watch.join()
        assert untouched(path)
        assert engine.value(numbers(1)) == 1


@pytest.mark.slow
def test_a_file_that_is_interrupted_again_and_again_never_hangs(tmp_path: Path) -> None:
    """DuckDB's writing in the background hung now and then: hence `begin`."""
    path = tmp_path / "out.csv"
    with DuckDB() as engine:
        sql = f"COPY ({engine.sql(numbers(100_000_000))}) TO '{path}' (FORMAT csv)"
        for _ in range(1500):
            watch = threading.Thread(
                target=when_writing, args=(tmp_path, engine.connection.interrupt, path.name)
            )
            watch.start()
            with pytest.raises(duckdb.InterruptException):
                engine.connection.execute(sql)
            watch.join()
            path.unlink(missing_ok=True)


def when_writing(folder: Path, act: Callable[[], None], name: str = ".*.tmp") -> None:
    """Act once some of the file is written; of the temporary one, where none is named."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        sizes = [path.stat().st_size for path in folder.glob(name) if path.exists()]
        if any(size > 10_000 for size in sizes):
            return act()
        time.sleep(0.01)
    return None


WRITER = """
import sys
from pathlib import Path
from sqlglot import parse_one
from tacit.engines.open import open_engine
source, target, rows = sys.argv[1:]
query = parse_one(
    f"SELECT i, i * 2 AS j, 'abcdefgh' || CAST(i AS TEXT) AS s FROM generate_series(1, {rows}) AS t(i)", dialect="duckdb"
)
engine = open_engine(source, Path("."))
print("writing", flush=True)
engine.save(query, target, replace=True)
"""  # noqa: E501


def writer(source: str, target: str) -> subprocess.Popen[str]:
    """A process that writes for a long time."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, source, target, "300000000"],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_kill_9_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(OLD)
    with writer(str(tmp_path), str(path)) as process:
        when_writing(tmp_path, process.kill)
    assert process.returncode == -signal.SIGKILL
    assert path.read_text() == OLD
    stray = [one for one in tmp_path.iterdir() if one != path]
    assert all(one.name.startswith(f".{name}.tacit-") for one in stray)
    with DuckDB() as engine:
        engine.save(numbers(10), str(path), rows=10)
    assert len(read_back(path)) == 10


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A DuckDB database with a source, an earlier output and a view."""
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE wards AS SELECT * FROM (VALUES (1, 'flu'), (2, NULL), (3, 'cold')) AS "
            "t(age, ill)"
        )
        connection.execute(
            "CREATE TABLE before AS SELECT 42 AS answer; CREATE VIEW seen AS FROM wards; CREATE "
            "SCHEMA other"
        )
    return path


def tables(database: Path) -> set[str]:
    with duckdb.connect(str(database), read_only=True) as connection:
        return {
            str(row[0])
            for row in connection.execute(
                "SELECT table_name FROM information_schema.tables"
            ).fetchall()
        }


@pytest.mark.parametrize("name", ["april", "other.april", "odd name's"])
def test_a_table_is_written_into_a_duckdb_database(database: Path, name: str) -> None:
    with DuckDB(database) as engine:
        engine.attach(Table("wards"))
        engine.save(shapes.columns_of("wards", ["age", "ill"]), name, rows=3)
        engine.attach(Table(name))
        assert engine.value(shapes.row_count(name)) == 3
        assert engine.value(shapes.row_count("wards")) == 3
    with DuckDB(database) as engine:
        engine.attach(Table(name))
        assert engine.columns(name) == {"age": "integer", "ill": "text"}


def test_what_a_duckdb_database_has_is_not_overwritten(database: Path) -> None:
    with DuckDB(database) as engine:
        engine.attach(Table("wards"))
        query = shapes.columns_of("wards", ["age"])
        for name, may, message in (
            ("wards", True, "table wards belongs to what is released"),
            ("WARDS", True, "belongs to what is released"),
            ("before", False, "has a table 'before' already"),
            ("seen", True, "has a table 'seen' already"),
            ("nowhere.april", False, "has no schema 'nowhere'"),
            (str(database), True, "does not write .duckdb files"),
        ):
            with pytest.raises(DataError, match=message):
                engine.save(query, name, replace=may)
        with pytest.raises(DataError, match="3 rows would have been written, but 5 were meant"):
            engine.save(query, "before", rows=5, replace=True)
    with DuckDB(database) as engine:
        engine.attach(Table("before"))
        assert list(engine.rows(shapes.columns_of("before", ["answer"]))) == [(42,)]
    assert tables(database) == {"wards", "before", "seen"}


def test_an_earlier_table_is_replaced_where_this_is_said(database: Path) -> None:
    with DuckDB(database) as engine:
        engine.attach(Table("wards"))
        engine.save(shapes.columns_of("wards", ["age"]), "before", rows=3, replace=True)
        engine.attach(Table("before"))
        assert engine.columns("before") == {"age": "integer"}


def test_kill_9_leaves_a_duckdb_database_as_it_was(database: Path) -> None:
    size = database.stat().st_size
    with writer(str(database), "before") as process:
        assert process.stdout is not None
        process.stdout.readline()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and database.stat().st_size == size and not wal(database):
            time.sleep(0.02)
        time.sleep(0.3)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    with DuckDB(database) as engine:
        engine.attach(Table("before"))
        assert list(engine.rows(shapes.columns_of("before", ["answer"]))) == [(42,)]
    assert tables(database) == {"wards", "before", "seen"}


def wal(database: Path) -> bool:
    """Whether DuckDB has begun to write."""
    log = database.with_name(database.name + ".wal")
    return log.exists() and log.stat().st_size > 0


def test_a_folder_of_files_has_no_place_for_tables(tmp_path: Path) -> None:
    with (
        DuckDB(folder=tmp_path) as engine,
        pytest.raises(DataError, match=r"'april' would be a table.* ends in \.csv or \.parquet"),
    ):
        engine.check_target("april")


@pytest.mark.slow
def test_a_table_is_written_into_postgresql(postgres_url: str) -> None:
    import psycopg

    from tacit.engines.postgres.engine import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute(
            "CREATE SCHEMA hospital; CREATE TABLE hospital.w AS SELECT 1 AS age, 'flu' AS ill"
        )
        owner.execute("CREATE VIEW hospital.v AS SELECT * FROM hospital.w")
        try:
            with Postgres(postgres_url) as engine:
                engine.attach(Table("hospital.w"))
                query = shapes.columns_of("hospital.w", ["age", "ill"])
                assert engine.value(shapes.row_count("hospital.w")) == 1
                owner.execute(
                    "INSERT INTO hospital.w VALUES (2, 'cold')"
                )  # after the count: not in the snapshot
                engine.save(query, "hospital.april", rows=1)
                engine.attach(Table("hospital.april"))
                assert list(engine.rows(shapes.columns_of("hospital.april", ["age", "ill"]))) == [
                    (1, "flu")
                ]
                assert engine.value(shapes.row_count("hospital.w")) == 2
                for name, may, message in (
                    ("hospital.april", False, "belongs to what is released|already"),
                    ("hospital.w", True, "belongs to what is released"),
                    ("hospital.v", True, "already"),
                    ("nowhere.april", True, "has no schema 'nowhere'"),
                ):
                    with pytest.raises(DataError, match=message):
                        engine.save(query, name, replace=may)
            with Postgres(postgres_url) as engine:
                engine.attach(Table("hospital.w"))
                with pytest.raises(
                    DataError, match="2 rows would have been written, but 7 were meant"
                ):
                    engine.save(query, "hospital.april", rows=7, replace=True)
                assert owner.execute("SELECT count(*) FROM hospital.april").fetchone() == (1,)
                engine.save(query, "hospital.april", rows=2, replace=True)
            with Postgres(
                postgres_url
            ) as engine:  # rows that stand in the plan are a temporary table of the session
                engine.save(everything(engine), "hospital.may", rows=3)
                assert engine.value(shapes.row_count("wards")) == 3
            found = owner.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'hospital'::regnamespace AND "
                "relkind = 'r'"
            )
            assert {row[0] for row in found} == {"w", "april", "may"}
        finally:
            owner.execute("DROP SCHEMA hospital CASCADE")


@pytest.mark.slow
def test_a_role_that_may_not_make_tables_is_told_what_to_ask_for(postgres_url: str) -> None:
    import psycopg

    from tacit.engines.postgres.engine import Postgres

    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute(
            "CREATE SCHEMA locked; CREATE ROLE tacit_reader LOGIN; GRANT USAGE ON SCHEMA locked TO "
            "tacit_reader"
        )
        try:
            told = pytest.raises(EngineError, match="GRANT CREATE ON SCHEMA locked TO tacit_reader")
            with Postgres(postgres_url + "&options=-c%20role%3Dtacit_reader") as engine, told:
                engine.check_target("locked.april")
        finally:
            owner.execute("DROP SCHEMA locked CASCADE; DROP ROLE tacit_reader")


@pytest.mark.slow
def test_kill_9_leaves_postgresql_as_it_was(postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("CREATE TABLE before AS SELECT 42 AS answer")
        try:
            with writer(postgres_url, "before") as process:
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(2)
                process.kill()
            deadline = time.monotonic() + 60
            running = (
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE TABLE "
                "\"tacit_%' AND state = 'active'"
            )
            owner.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE "
                "TABLE \"tacit_%'"
            )
            while owner.execute(running).fetchone() != (0,) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert owner.execute("SELECT answer FROM before").fetchall() == [(42,)]
            left = owner.execute(
                "SELECT relname FROM pg_class WHERE relname LIKE 'tacit\\_%'"
            ).fetchall()
            assert left == []
        finally:
            owner.execute("DROP TABLE before")


@pytest.mark.slow
def test_a_table_is_written_into_sparks_catalog(spark_session: Any) -> None:
    from tacit.engines.spark.engine import Spark

    with Spark(session=spark_session) as engine:
        query = everything(engine)
        spark_session.sql("DROP TABLE IF EXISTS april_written")
        try:
            engine.save(query, "april_written", rows=3)
            with pytest.raises(DataError, match="already"):
                engine.save(query, "april_written")
            with pytest.raises(DataError, match="3 rows would have been written, but 4 were meant"):
                engine.save(query, "april_written", rows=4, replace=True)
            assert spark_session.table("april_written").count() == 3
            engine.save(shapes.columns_of("wards", ["ill"]), "april_written", rows=3, replace=True)
            engine.attach(Table("april_written"))
            assert engine.columns("april_written") == {"ill": "text"}
            assert not [
                one.name
                for one in spark_session.catalog.listTables()
                if one.name.startswith("tacit_")
            ]
        finally:
            spark_session.sql("DROP TABLE IF EXISTS april_written")


@pytest.mark.slow
def test_a_spark_of_our_own_keeps_no_tables(spark_session: Any) -> None:
    from tacit.engines.spark.engine import Spark

    engine = Spark(session=spark_session)
    engine._made_session = True
    with pytest.raises(EngineError, match="no catalog that outlives the session"):
        engine.check_target("april")


def test_nothing_is_kept_when_the_temporary_file_cannot_be_moved(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with DuckDB() as engine, pytest.raises(EngineError, match="the disk is full"):
        engine.save(everything(engine), str(old))
    assert untouched(old)


def test_what_a_target_means() -> None:
    assert output.file_of("a/b.CSV") == Path("a/b.CSV")
    assert output.file_of("april") is None
    assert output.file_of("hospital.april") is None
