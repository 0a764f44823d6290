"""What an adversary tried against the workbench: files outside of its folder, verdicts that are
out of date, the owner's files overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tacit.checking.holdings.ledgers import begin, ledger_of
from tacit.checking.recording import record as recording
from tacit.errors import InputError, TacitError
from tacit.model.jobs import Job
from tacit.plan.read.load import load_plan
from tacit.workbench.app.reach import load_within
from tacit.workbench.check_states import answers, unwatched
from tacit.workbench.tasks.check import check

PLAN = """\
version: 1
source: SOURCE
tables:
  people: {FILE key: [name], person: [name], identifiers: [name], quasi-identifiers: [zip], sensitive: [ill], hierarchies: {zip: "*"}}
MORE
releases:
  april: {table: people, generalization: {zip: 1}}
RELEASES
checks:
  - k-anonymity: {release: april, k: 4}
CHECKS
"""  # noqa: E501
ROWS = "name,zip,ill\n" + "".join(f"p{i},{i % 2},flu\n" for i in range(6))
FEW = "name,zip,ill\np0,0,flu\n"


def plan_in(
    folder: Path,
    source: str = ".",
    file: str = "file: people.csv,",
    more: str = "",
    releases: str = "",
    checks: str = "",
) -> Path:
    path = folder / "tacit.yaml"
    text = (
        PLAN.replace("SOURCE", source)
        .replace("FILE", file)
        .replace("MORE", more)
        .replace("RELEASES", releases)
        .replace("CHECKS", checks)
    )
    path.write_text("\n".join(line for line in text.splitlines() if line.strip()) + "\n")
    return path


def shown_after(
    path: Path, change: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str]]:
    """What the page shows of each check after a change, and what is true then."""
    monkeypatch.chdir(path.parent)
    before = check(Job(), str(path), str(path.parent))
    change()
    shown = [one.state for one in answers(load_within(path, path.parent), before)]
    return list(
        zip(
            shown,
            [one["status"] for one in check(Job(), str(path), str(path.parent))["verdicts"]],
            strict=True,
        )
    )


def right(pairs: list[tuple[str, str]]) -> bool:
    return all(shown in ("stale", now) for shown, now in pairs)


def test_data_in_a_source_folder_that_change_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/people.csv").write_text(ROWS)
    path = plan_in(tmp_path, "data")
    assert right(
        shown_after(path, lambda: (tmp_path / "data/people.csv").write_text(FEW), monkeypatch)
    )


def test_data_that_change_are_noticed_though_size_and_time_are_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = tmp_path / "people.csv"
    people.write_text(ROWS)
    was = people.stat()

    def change() -> None:
        people.write_text(ROWS.replace("p5,1", "p5,7"))
        os.utime(people, ns=(was.st_atime_ns, was.st_mtime_ns))

    path = plan_in(tmp_path)
    before = check(Job(), str(path), str(tmp_path))
    change()
    assert people.stat().st_size == was.st_size and [
        one.state for one in answers(load_within(path, tmp_path), before)
    ] == ["stale"]


def test_rows_of_a_database_are_said_to_be_unwatched(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    assert not unwatched(load_plan(plan_in(tmp_path)))
    assert "Check again" in unwatched(
        load_plan(plan_in(tmp_path, "postgresql://localhost/clinic", ""))
    )


def test_a_database_file_that_changes_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows.txt").write_text(ROWS)

    def put(sql: str) -> None:
        with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
            database.execute(sql)

    put(f"CREATE TABLE people AS SELECT * FROM read_csv('{tmp_path}/rows.txt', all_varchar=true)")
    path = plan_in(tmp_path, "x.duckdb", "")
    assert right(
        shown_after(path, lambda: put("DELETE FROM people WHERE name > 'p0'"), monkeypatch)
    )


def test_a_population_that_changes_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "city.csv").write_text(ROWS + "".join(f"q{i},{i % 2},flu\n" for i in range(40)))
    more = (
        "  city: {file: city.csv, key: [name], person: [name], identifiers: [name], "
        'quasi-identifiers: [zip], hierarchies: {zip: "*"}}'
    )
    path = plan_in(
        tmp_path,
        more=more,
        checks="  - risk: {release: april, attacker: journalist, population: city, at-most: 0.05}",
    )
    assert right(shown_after(path, lambda: (tmp_path / "city.csv").write_text(ROWS), monkeypatch))


def test_an_entry_of_a_ledger_that_the_server_holds_open_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    path = plan_in(
        tmp_path,
        releases="  may: {table: people, generalization: {zip: 1}}\npublished: [ledger]",
        checks="  - k-anonymity: {release: may, k: 2}",
    )
    begin(load_plan(path))
    with ledger_of(
        load_plan(path)
    ):  # as the gateway does: SQLite then leaves what is new in its -wal file
        assert right(
            shown_after(
                path, lambda: recording.record(load_plan(path), "may", by="me"), monkeypatch
            )
        )


@pytest.mark.parametrize(
    ("source", "file", "releases", "secrets"),
    [
        (".", "file: people.csv,", "  may: {table: people, file: ../out/rel.csv}", ""),
        (".", "file: people.csv,", "", "secrets: {s: ../out/s.sql}"),
        ("sub", "", "", ""),
        ('"x://../../out"', "", "", ""),
    ],
)
def test_no_plan_leads_out_of_the_folder(
    tmp_path: Path, source: str, file: str, releases: str, secrets: str
) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    (home / "sub").mkdir(parents=True)
    out.mkdir()
    (home / "people.csv").write_text(ROWS)
    (out / "in.csv").write_text(ROWS)
    (out / "rel.csv").write_text("zip,ill\n*,flu\n")
    (out / "s.sql").write_text("SELECT name FROM people")
    path = plan_in(home, source, file, releases=releases + ("\n" + secrets if secrets else ""))
    if source == "sub":  # a table's name is a file's name there
        path.write_text(
            path.read_text()
            .replace("people:", '"../../out/in":')
            .replace("table: people", 'table: "../../out/in"')
        )
    with pytest.raises(InputError, match="outside"):
        load_within(path, home)


def test_recording_overwrites_no_file_of_the_owner(tmp_path: Path) -> None:
    own = tmp_path / "data/people.csv"
    own.parent.mkdir()
    own.write_text(ROWS)
    with pytest.raises(TacitError):
        recording.record(load_plan(plan_in(tmp_path, "data")), "april", by="me", output=own)
    assert own.read_text() == ROWS
