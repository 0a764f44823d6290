"""The page Start without a browser: what is stored, what is looked
at, and a draft that stays in step.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

pytest.importorskip("nicegui")

from tacit.errors import DataError, EngineError, InputError, TacitError
from tacit.families.catalog import DEFINITIONS
from tacit.model.jobs import Cancelled, Job
from tacit.model.schema import RangeHierarchy
from tacit.plan.edit.wishes.check_wishes import AddCheck, AddRole, SetCheck
from tacit.plan.edit.wishes.release_wishes import AddRelease
from tacit.plan.edit.wishes.table_wishes import SetHierarchy, SetRole
from tacit.plan.read.load import load_plan
from tacit.starter.previews import file_height
from tacit.starter.profile import profile_data
from tacit.workbench import drafts
from tacit.workbench.app import uploads
from tacit.workbench.app.mount import not_found
from tacit.workbench.bench import Bench
from tacit.workbench.pages.start.checks import read_number
from tacit.workbench.pages.start.columns import Columns
from tacit.workbench.pages.start.hierarchies import read_units, read_widths
from tacit.workbench.pages.start.offers import OFFERED
from tacit.workbench.pages.start.pictures import large, small
from tacit.workbench.pages.start.views import secret_wish, view_wish
from tacit.workbench.tasks import start as tasks_start

CSV = b"name,zip,age,condition\n" + b"".join(
    b"p%d,1305%d,%d,%s\n" % (n, n % 4, 20 + n, [b"flu", b"cold", b"ulcer"][n % 3])
    for n in range(40)
)


def bench_at(folder: Path) -> Bench:
    return Bench(folder / "tacit.yaml", lambda text: None)


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def store(folder: Path, name: str, *parts: bytes, **more: Any) -> uploads.Stored:
    return asyncio.run(uploads.store(pieces(*parts), name, folder, **more))


def refused(folder: Path, name: str, *parts: bytes, **more: Any) -> str:
    before = sorted(os.listdir(folder))
    with pytest.raises(TacitError) as raised:
        store(folder, name, *parts, **more)
    assert sorted(os.listdir(folder)) == before, "something was left behind"
    assert str(folder) not in str(raised.value), "a message names a place on the disk"
    return str(raised.value)


# Uploads


def test_a_file_is_stored_for_its_owner_under_a_safe_name(tmp_path: Path) -> None:
    stored = store(tmp_path, "../../Patients (May).csv", CSV[:100], CSV[100:])
    assert stored == uploads.Stored(tmp_path / "Patients_May.csv", is_new=True)
    assert stored.path.read_bytes() == CSV and stat.S_IMODE(stored.path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["Patients_May.csv"]


def test_no_file_is_replaced(tmp_path: Path) -> None:
    first = store(tmp_path, "a.csv", CSV).path
    assert store(tmp_path, "a.csv", CSV) == uploads.Stored(first, is_new=False)
    other = store(tmp_path, "a.csv", CSV + b"p99,1,1,flu\n")
    assert (other.path.name, other.is_new) == ("a-2.csv", True) and first.read_bytes() == CSV
    (tmp_path / "b.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert (
        store(tmp_path, "b.csv", CSV).path.name == "b-2.csv"
        and not (tmp_path / "elsewhere.csv").exists()
    )


def test_what_is_no_whole_table_is_refused_in_words_and_removed(tmp_path: Path) -> None:
    assert "larger than 100 bytes" in refused(tmp_path, "a.csv", CSV, limit=100)
    assert "is empty" in refused(tmp_path, "a.csv")
    assert "is not text" in refused(tmp_path, "a.csv", b"PK\x03\x04...")
    assert "is not text" in refused(tmp_path, "a.csv", b"a,b\n1,\0\n")
    assert "not UTF-8" in refused(tmp_path, "a.csv", b"a,b\n\xff\xfe,2\n")
    assert "two columns named" in refused(tmp_path, "a.csv", b"a,a\n1,2\n")
    assert "no whole Parquet" in refused(tmp_path, "a.parquet", b"PAR1 and then it was cut o")
    assert "not a kind of file" in refused(tmp_path, "a.exe", CSV)
    assert "not a kind of file" in refused(tmp_path, "noending", CSV)


def test_an_upload_that_stops_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield CSV
        raise ConnectionResetError

    with pytest.raises(InputError, match="could not be stored"):
        asyncio.run(uploads.store(broken(), "a.csv", tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".csv",
        "/",
        "..",
        "a/../../b.csv",
        "C:\\x\\y.csv",
        "\0.csv",
        "é ü.csv",
        "-rf.csv",
        "a" * 500 + ".csv",
        "con:.csv",
        '"><script>.csv',
    ],
)
def test_names_are_safe(name: str) -> None:
    try:
        safe = uploads.safe_name(name)
    except InputError:
        return
    assert (
        safe == Path(safe).name
        and safe[0] not in ".-"
        and len(safe) < 100
        and not set(safe) & set("/\\\0:<>\"' ")
    )


# Work


def looked(
    folder: Path,
    data: str,
    *,
    fresh: bool = False,
    job: Job | None = None,
    table: str | None = None,
) -> Any:
    here = Path.cwd()
    try:
        return tasks_start.look_at_data(
            job or Job(), data, str(folder / "tacit.yaml"), table, fresh
        )
    finally:
        os.chdir(here)


def test_a_fresh_file_that_cannot_be_read_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CSV + b"half,1\n")
    with pytest.raises(DataError) as raised:
        looked(tmp_path, "a.csv", fresh=True)
    assert not (tmp_path / "a.csv").exists() and str(tmp_path) not in str(raised.value)
    (tmp_path / "b.csv").write_bytes(CSV + b"half,1\n")
    with pytest.raises(DataError):
        looked(tmp_path, "b.csv")
    assert (tmp_path / "b.csv").exists()


def test_a_fresh_file_that_nobody_wants_any_more_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CSV)
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        looked(tmp_path, "a.csv", fresh=True, job=job)
    assert not (tmp_path / "a.csv").exists()


def test_the_tables_of_a_database_file(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE wards AS SELECT 1 AS id, 'A' AS ward")
    here = Path.cwd()
    assert tasks_start.list_tables(Job(), "d.duckdb", str(tmp_path / "tacit.yaml")) == ["wards"]
    os.chdir(here)
    assert looked(tmp_path, "d.duckdb", table="wards").look.source == "d.duckdb"


def test_passwords_are_not_said() -> None:
    url = "postgresql://ann:s%40cret@127.0.0.1:1/clinic"
    with pytest.raises(EngineError) as raised:
        tasks_start.list_tables(Job(), url, "tacit.yaml")
    assert "cret" not in str(raised.value) and "cret" not in repr(raised.value)
    with pytest.raises(TacitError) as hidden, tasks_start.hiding(url):
        raise EngineError("no password s@cret for ann.", hint="Is it s%40cret?")
    assert str(hidden.value) == "no password *** for ann. Is it ***?" and hidden.value.args == (
        "no password *** for ann.",
    )


def test_a_password_that_was_typed_beside_the_address() -> None:
    assert tasks_start.with_password("postgresql://ann@db/c", "") == "postgresql://ann@db/c"
    assert tasks_start.with_password("postgresql://ann:x@db/c", "y") == "postgresql://ann:x@db/c"
    assert (
        tasks_start.with_password("postgresql:///c?host=/tmp", "a&b")
        == "postgresql:///c?host=/tmp&password=a%26b"
    )


@pytest.mark.slow
def test_a_table_of_postgresql(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE wards (id int, ward text)")
        connection.execute("INSERT INTO wards SELECT n, 'W' || n % 3 FROM generate_series(1, 30) n")
    here = Path.cwd()
    url = tasks_start.with_password(postgres_url, "not asked for")
    names = tasks_start.list_tables(Job(), url, str(tmp_path / "tacit.yaml"))
    os.chdir(here)
    assert "wards" in names
    found = looked(tmp_path, url, table="wards")
    assert "not asked" not in found.look.source and "left out" in found.look.notes[0]
    assert [bar.rows for bar in found.histograms["ward"].bars] == [10, 10, 10]


# Drafts


@pytest.fixture
def profile(tmp_path: Path) -> Any:
    (tmp_path / "people.csv").write_bytes(CSV)
    return profile_data(str(tmp_path / "people.csv"), plan=tmp_path / "tacit.yaml")


def test_a_draft_becomes_a_plan_that_the_command_line_reads(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    book = bench.book()
    draft = drafts.begin(book, profile)
    assert drafts.draft_of(book) is draft and draft.is_changed and not book.exists
    draft.wish(
        SetRole("people", "age", "insensitive"), AddCheck("k-anonymity", {"release": "raw", "k": 2})
    )
    assert (
        draft.roles("people")["age"] == "insensitive"
        and drafts.problems(draft.text, book, bench) is None
    )
    drafts.save(draft, book)
    assert (
        load_plan(tmp_path / "tacit.yaml").tables["people"].insensitive == ("age",)
        and not draft.is_changed
    )
    draft.wish(SetHierarchy("people", "zip", RangeHierarchy((10, 100))))
    drafts.save(draft, book)
    assert "ranges: [10, 100]" in (tmp_path / "tacit.yaml").read_text()


def test_a_plan_that_was_written_meanwhile_is_not_replaced(tmp_path: Path, profile: Any) -> None:
    book = bench_at(tmp_path).book()
    draft = drafts.begin(book, profile)
    (tmp_path / "tacit.yaml").write_text("version: 1\n")
    with pytest.raises(InputError, match="is there already"):
        drafts.save(draft, book)
    assert (tmp_path / "tacit.yaml").read_text() == "version: 1\n"
    del book.kept[drafts.KEPT]
    draft = drafts.draft_of(book)
    assert draft is not None
    draft.change("version: 1\n# mine\n")
    (tmp_path / "tacit.yaml").write_text("version: 1\n# theirs\n")
    with pytest.raises(InputError, match="changed meanwhile"):
        drafts.save(draft, book)


def test_a_draft_without_changes_follows_the_file(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text("version: 1\n")
    book = bench_at(tmp_path).book()
    draft = drafts.draft_of(book)
    (tmp_path / "tacit.yaml").write_text("version: 1\ntables: {}\n")
    assert (
        drafts.draft_of(book) is draft
        and draft is not None
        and draft.text == "version: 1\ntables: {}\n"
    )


def test_both_changed_and_somebody_chooses(tmp_path: Path) -> None:
    draft = drafts.PlanDraft("version: 1\n", "version: 1\n")
    assert (
        not drafts.follow(draft, None)
        and not drafts.follow(draft, "version: 1\n")
        and draft.version == 0
    )
    draft.change("version: 1\n# mine\n")
    assert (
        drafts.follow(draft, "version: 1\n# theirs\n")
        and draft.text == "version: 1\n# mine\n"
        and draft.was == "version: 1\n"
    )
    drafts.settle(draft, "version: 1\n# theirs\n", mine=True)
    assert draft.text == "version: 1\n# mine\n" and not drafts.follow(
        draft, "version: 1\n# theirs\n"
    )
    drafts.settle(draft, "version: 1\n# theirs\n", mine=False)
    assert draft.text == "version: 1\n# theirs\n" and not draft.is_changed
    draft.change("version: 1\n# the same\n")
    assert (
        not drafts.follow(draft, "version: 1\n# the same\n") and not draft.is_changed
    )  # both wrote the same
    new = drafts.PlanDraft("version: 1\n", None)
    assert not drafts.follow(new, "version: 1\n# theirs\n") and new.was is None  # saving refuses


def test_what_is_no_plan_or_reaches_outside_is_not_saved(tmp_path: Path, profile: Any) -> None:
    book = bench_at(tmp_path).book()
    draft = drafts.begin(book, profile)
    good = draft.text
    for text in ("tables: [\n", "version: 1\nsource: ..\n"):
        draft.change(text)
        with pytest.raises(TacitError):
            drafts.save(draft, book)
        assert not book.exists
    draft.change(good)
    drafts.save(draft, book)
    for text in ("tables: [\n", "version: 1\nsource: ..\n"):
        draft.change(text)
        with pytest.raises(TacitError):
            drafts.save(draft, book)
        assert book.text() == good and draft.is_changed


def test_a_column_that_is_not_there_is_said_at_its_line(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    book = bench.book()
    draft = drafts.begin(book, profile)
    assert drafts.opinion(draft, book, bench) == drafts.Opinion() and "tacit init" not in draft.text
    draft.change(draft.text.replace("- condition ", "- conditoin ", 1))
    found = drafts.opinion(draft, book, bench)
    line = next(
        number for number, one in enumerate(draft.text.split("\n"), 1) if "conditoin" in one
    )
    assert found.wrong is None and found.strange is not None and found.lines == [line]
    assert "no column 'conditoin'" in str(found.strange) and "Did you mean 'condition'?" in str(
        found.strange
    )
    draft.change(draft.text.replace("file: people.csv", "file: others.csv"))
    assert drafts.opinion(draft, book, bench).strange is None  # that one was not looked at


def test_a_wish_that_would_break_the_plan_is_refused(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    book = bench.book()
    draft = drafts.begin(book, profile)
    drafts.refuse_harm(draft, book, bench, view_wish("zips", "SELECT zip FROM people"))
    with pytest.raises(TacitError) as raised:
        drafts.refuse_harm(draft, book, bench, AddRole("clerk", allow=("nothing",)))
    assert raised.value.mark is None and "nothing" in str(raised.value)
    for name, query in (("", "SELECT 1"), ("a", " ; ")):
        with pytest.raises(InputError, match="yet"):
            secret_wish(name, query)


def test_every_check_that_is_offered_can_be_added(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    book = bench.book()
    draft = drafts.begin(book, profile)
    draft.wish(
        view_wish("zips", "SELECT zip\n  FROM people"),
        view_wish("ages", "SELECT age FROM people"),
        secret_wish("flu", "SELECT name FROM people WHERE condition = 'flu'"),
    )
    assert draft.views() == {"zips": "SELECT zip\n  FROM people", "ages": "SELECT age FROM people"}
    draft.wish(
        AddRelease(
            "made-up",
            {
                "table": "people",
                "synthetic": {"group": "age", "value": "zip", "epsilon": 1, "delta": 0},
            },
        )
    )
    assert (
        list(draft.synthetic("people")) == ["made-up"]
        and not draft.synthetic("others")
        and "made-up" not in draft.releases("people")
    )
    for offer in OFFERED.values():
        draft.wish(
            offer.wish(
                {"copies": ["raw"], "views": ["zips", "ages"], "synthetic": ["made-up"]}[offer.of],
                "flu",
            )
        )
        assert drafts.problems(draft.text, book, bench) is None, offer
    every = {*DEFINITIONS} - {"toy"}
    assert {one.kind for one in OFFERED.values()} == every, "a definition cannot be added"
    with pytest.raises(InputError, match="not said"):
        OFFERED["perfect"].wish(["zips"], "")
    drafts.save(draft, book)
    assert {one.kind for one in load_plan(book.path).checks} >= {
        one.kind for one in OFFERED.values()
    }


def test_the_height_of_a_file_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("13053;1305*;130**;*\n13054;1305*;130**;*\n")
    assert file_height(tmp_path / "zip.csv", "zip.csv") == 3
    (tmp_path / "empty.csv").write_text("")
    assert file_height(tmp_path / "empty.csv", "empty.csv") == 0


def test_pages_speak_of_no_commands(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CSV + b"caf\xe9,1,1,flu\n")
    with pytest.raises(TacitError) as raised:
        looked(tmp_path, "a.csv")
    assert "iconv" not in str(raised.value) and "UTF-8" in str(raised.value)
    assert "iconv" not in refused(tmp_path, "b.csv", CSV, b"caf\xe9,1,1,flu\n")


def test_a_draft_that_is_no_yaml_can_be_asked_and_says_where_it_is_wrong(tmp_path: Path) -> None:
    bench = bench_at(tmp_path)
    draft = drafts.PlanDraft("tables: [\n", None)
    assert (draft.values(), draft.tables(), draft.roles("t"), draft.releases("t")) == (
        {},
        [],
        {},
        {},
    )
    error = drafts.problems(draft.text, bench.book(), bench)
    assert error is not None and error.mark is not None and error.mark.line
    with pytest.raises(TacitError):
        draft.wish(SetCheck(0, {"k": 2}))


@pytest.mark.parametrize(
    "text",
    [
        "tables:\n  t: {file: ../outside.csv}\n",
        "source: ..\ntables:\n  t: {}\n",
        "ledger: ../ledger.sqlite\ntables:\n  t: {}\n",
        "tables:\n  t: {hierarchies: {a: ../outside.csv}}\n",
        "tables:\n  t: {file: link.csv}\n",
    ],
)
def test_a_draft_reaches_nothing_outside(tmp_path: Path, text: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "outside.csv").write_text("a\n1\n")
    (home / "link.csv").symlink_to(tmp_path / "outside.csv")
    bench = bench_at(home)
    error = drafts.problems("version: 1\n" + text, bench.book(), bench)
    assert (
        error is not None and "outside of home/" in str(error) and str(tmp_path) not in str(error)
    )
    assert drafts.data_files(bench, home, (".csv",)) == []


def test_files_are_named_as_the_plan_names_them(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    for name in ("a.csv", "plans/b.csv", ".hidden.csv", "c.txt"):
        (tmp_path / name).write_text("a\n1\n")
    bench = Bench(tmp_path / "plans" / "tacit.yaml", lambda text: None, folder=tmp_path)
    assert drafts.data_files(bench, tmp_path / "plans", (".csv",)) == ["b.csv", "../a.csv"]


def test_a_new_plan_gets_a_name_that_is_free(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    first = drafts.new_plan(bench, tmp_path, "people")
    assert first.name == "tacit.yaml"
    drafts.begin(bench.book(first), profile)
    second = drafts.new_plan(bench, tmp_path, "people")
    (tmp_path / "people.yaml").write_text("version: 1\n")
    assert (
        second.name == "people.yaml"
        and drafts.new_plan(bench, tmp_path, "people").name == "people-2.yaml"
    )
    assert drafts.new_plan(bench, tmp_path, "../x").parent == tmp_path


def test_the_plan_that_is_served_is_begun_first(tmp_path: Path, profile: Any) -> None:
    bench = Bench(tmp_path / "clinic.yml", lambda text: None)
    assert drafts.new_plan(bench, tmp_path, "people") == tmp_path / "clinic.yml"
    assert (
        drafts.new_plan(bench, tmp_path / "other", "people").name == "tacit.yaml"
    )  # a plan elsewhere lies elsewhere
    (tmp_path / "clinic.yml").write_text("version: 1\n")
    assert drafts.new_plan(bench, tmp_path, "people").name == "tacit.yaml"


def test_what_nobody_has_saved_is_listed(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    (tmp_path / "other.yaml").write_text("version: 1\n")
    other = drafts.draft_of(bench.book(tmp_path / "other.yaml"))
    draft = drafts.begin(bench.book(), profile)
    assert other is not None and drafts.unsaved(bench) == {tmp_path / "tacit.yaml"}
    other.change("version: 1\n# mine\n")
    drafts.save(draft, bench.book())
    assert drafts.unsaved(bench) == {tmp_path / "other.yaml"}


def test_wishes_and_hands_stay_in_step(tmp_path: Path, profile: Any) -> None:
    draft = drafts.begin(bench_at(tmp_path).book(), profile)
    version = draft.version
    draft.wish(SetRole("people", "age", draft.roles("people")["age"]))  # type: ignore[arg-type]
    assert draft.version == version
    draft.change(draft.text.replace("- age ", "- AGE ", 1))
    assert "AGE" in draft.roles("people") and draft.version == version + 1
    draft.wish(SetRole("people", "AGE", None), SetRole("people", "age", "quasi-identifiers"))
    assert draft.roles("people")["age"] == "quasi-identifiers"


# One more table


def test_a_second_table_is_added_and_nothing_is_lost(tmp_path: Path, profile: Any) -> None:
    bench = bench_at(tmp_path)
    book = bench.book()
    draft = drafts.begin(book, profile)
    draft.wish(SetRole("people", "age", None))  # kept as a comment at the end of its table
    before = draft.text
    (tmp_path / "wards.csv").write_text(
        "ward,head,beds\n" + "".join(f"W{n},Dr {n},{n % 9}\n" for n in range(40))
    )
    assert drafts.add_table(draft, tmp_path, looked(tmp_path, "wards.csv")) == "wards"
    added = [line for line in draft.text.splitlines() if line not in before.splitlines()]
    assert (
        added[0] == "  wards:"
        and added[1] == "    file: wards.csv"
        and all(line.startswith("    ") for line in added[1:])
    )
    assert [line for line in draft.text.splitlines() if line not in added] == before.splitlines()
    assert (
        draft.tables() == ["people", "wards"]
        and draft.chosen == "wards"
        and draft.profiles["wards"].look.rows == 40
    )
    draft.wish(SetRole("people", "age", "quasi-identifiers"))
    assert "age" in draft.roles("people") and drafts.opinion(draft, book, bench) == drafts.Opinion()
    drafts.save(draft, book)
    assert load_plan(book.path).tables["wards"].file == "wards.csv"
    with pytest.raises(InputError, match="in the plan already, as the table wards"):
        drafts.add_table(draft, tmp_path, looked(tmp_path, "wards.csv"))
    assert draft.tables() == ["people", "wards"]


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\ntables: {a: {file: data/a.csv}}  # mine\n",
        "version: 1\nsource: data\ntables: {a: {}}  # mine\n",
        "version: 1\n",
    ],
)
def test_a_table_joins_plans_of_any_shape(tmp_path: Path, text: str) -> None:
    (tmp_path / "data" / "b").mkdir(parents=True)
    for place in ("a.csv", "data/a.csv", "data/b/a.csv"):
        (tmp_path / place).write_bytes(CSV)
    draft = drafts.PlanDraft(text, text)
    name = drafts.add_table(draft, tmp_path, looked(tmp_path, "data/b/a.csv"))
    (tmp_path / "tacit.yaml").write_text(draft.text)
    table = load_plan(tmp_path / "tacit.yaml").tables[name]
    assert ("# mine" in draft.text) == ("# mine" in text) and table.file == (
        "b/a.csv" if "source" in text else "data/b/a.csv"
    )
    assert name == ("a_2" if "a:" in text else "a")
    if "source" in text:
        with pytest.raises(InputError, match="outside of data"):
            drafts.add_table(draft, tmp_path, looked(tmp_path, "a.csv"))
    assert (
        tasks_start.look_at_table(
            Job(), str(tmp_path / "tacit.yaml"), str(tmp_path), name
        ).look.rows
        == 40
    )
    with pytest.raises(InputError, match="Save the plan first"):
        tasks_start.look_at_table(Job(), str(tmp_path / "tacit.yaml"), str(tmp_path), "later")


def test_files_of_tables_are_known_from_the_plan_s_folder() -> None:
    assert drafts.PlanDraft(
        "source: d.duckdb\ntables: {a: {}, b: {file: x/b.csv}}", None
    ).files() == {"x/b.csv": "b"}
    assert drafts.PlanDraft("tables: {a: }", None).files() == {"a.csv": "a", "a.parquet": "a"}


def test_a_plan_has_one_source(tmp_path: Path) -> None:
    files, database = (
        drafts.PlanDraft("version: 1\n", None),
        drafts.PlanDraft("source: postgresql://ann:pw@db/clinic", None),
    )
    drafts.refuse_apart(files, tmp_path, ".")
    drafts.refuse_apart(database, tmp_path, "postgresql://ann:pw@db/clinic")
    drafts.refuse_apart(drafts.PlanDraft("source: ./d.duckdb", None), tmp_path, "d.duckdb")
    for draft, source in (
        (files, "d.duckdb"),
        (database, "."),
        (database, "postgresql://db/other"),
    ):
        with pytest.raises(InputError, match="one source") as raised:
            drafts.refuse_apart(draft, tmp_path, source)
        assert "pw" not in str(raised.value)


# Fields and pictures


@pytest.mark.parametrize(
    "read, good, bad",
    [
        (read_widths, "5 10", "5 ten"),
        (read_units, "month year", "week"),
        (read_number, "2.8", "many"),
    ],
)
def test_what_is_entered_is_read_or_said_to_be_wrong(
    read: Callable[[str], Any], good: str, bad: str
) -> None:
    assert read(good)
    for text in (bad, "", "-", "1e999999999"):
        with pytest.raises(InputError):
            read(text)


def test_pictures_speak_and_hide_nothing_dangerous(tmp_path: Path) -> None:
    rows = "".join(f"<b>{number % 3}</b>,{number}\n" for number in range(30))
    (tmp_path / "t.csv").write_text("<i>kind</i>,size\n" + rows)
    found = profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml")
    for one in found.guesses:
        for svg in (
            small(one.name, found.histograms[one.name]),
            large(one, found.histograms[one.name]).svg,
        ):
            assert (
                'role="img"' in svg
                and "aria-label=" in svg
                and "<b>" not in svg
                and "<i>" not in svg
            )


def test_a_column_that_becomes_a_quasi_identifier_gets_levels_and_keeps_those_it_has(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv").write_bytes(CSV.replace(b",age,", b",size,"))
    found = profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml")
    draft = drafts.begin(bench_at(tmp_path).book(), found)
    columns = Columns(None, draft, found, "t", draft.wish, print)  # type: ignore[arg-type]
    columns._chosen("size", "quasi-identifiers")
    assert draft.table("t")["hierarchies"]["size"] == {"ranges": [2, 10, 20]}
    draft.wish(SetHierarchy("t", "size", RangeHierarchy((5,))))
    columns._chosen("size", "")
    columns._chosen("size", "quasi-identifiers")
    assert draft.roles("t")["size"] == "quasi-identifiers" and draft.table("t")["hierarchies"][
        "size"
    ] == {"ranges": [5]}


def test_the_frequent_values_are_not_dwarfed_by_all_others(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "word\n" + "".join(f"w{min(number, 900)}\n" for number in range(1000)) + "w901\nw901\n" * 90
    )
    found = profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml")
    chart = large(found.guesses[0], found.histograms["word"])
    assert chart.svg.count("<rect") == 8 and "all other" not in chart.svg
    assert chart.note.endswith("Shown are the 8 most frequent; 894 rows have other values.")


def test_a_page_that_does_not_exist_looks_like_the_others() -> None:
    answer = not_found(None, None)  # type: ignore[arg-type]
    text = bytes(answer.body).decode()
    assert (
        answer.status_code == 404
        and "<style>" in text
        and 'name="viewport"' in text
        and "/workbench/overview" in text
    )


def test_a_view_of_what_no_table_has_is_told_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(CSV)
    found = profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml")
    bench = bench_at(tmp_path)
    draft = drafts.begin(bench.book(), found)
    draft.wish(
        AddRelease("good", {"query": "SELECT zip FROM t"}),
        AddRelease("bad", {"query": "SELECT zipp FROM t"}),
    )
    said = drafts.opinion(draft, bench.book(), bench)
    assert said.wrong is None and said.strange is not None and len(list(said.strange)) == 1
    assert "no column 'zipp'" in str(said.strange) and "Did you mean 'zip'?" in str(said.strange)
    assert [draft.text.splitlines()[line - 1].strip()[:3] for line in said.lines] == ["bad"]
    draft.profiles.clear()  # nobody has looked: nothing is known, and nothing said
    assert drafts.opinion(draft, bench.book(), bench).strange is None
