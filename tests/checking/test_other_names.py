"""The same people under another name: whoever holds their names and conditions holds them,
whatever a plan calls the table now.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

ROWS = [
    ("Alan", "M", 23, "Heart"),
    ("Bob", "M", 24, "SARS"),
    ("Clark", "M", 25, "Viral"),
    ("Donald", "M", 26, "SARS"),
    ("Ellen", "F", 27, "Viral"),
    ("Fen", "F", 28, "SARS"),
    ("Garcia", "F", 28, "Flu"),
]
ROLES = "key: [name], identifiers: [name], quasi-identifiers: [sex, age], sensitive: [condition]"
CHECKS = {
    "gamma-privacy": "gamma-privacy: {release: men, gamma: 0.5}",
    "k-anonymity": "k-anonymity: {release: coarse, k: 7}",
    "e-safety": "e-safety: {secret: colds, release: hearts, seconds: 5}",
    "perfect-privacy": "perfect-privacy: {secret: colds, release: hearts}",
}
OF_QUERIES = ("e-safety", "perfect-privacy")
DOMAINS = (
    "domains: {name: [Alan, Bob, Clark, Donald, Ellen, Fen, Garcia], sex: [M, F], age: [23, "
    "24, 25, 26, 27, 28], condition: [Heart, SARS, Viral, Flu, Cold]}"
)
NAMES = '  names: {query: "SELECT name, condition FROM patients", to: [insurer]}\n'


def plan_text(
    table: str, tables: str, *checks: str, source: str = "", more: str = "", ledger: str = ""
) -> str:
    asked = "".join(f"  - {one}\n" for one in checks)
    return (
        "version: 1\n"
        f"{source}{ledger}tables:\n"
        f"{tables}secrets:\n"
        f"  colds: \"SELECT name FROM {table} WHERE condition = 'Cold'\"\n"
        "releases:\n"
        f"  men: {{query: \"SELECT condition FROM {table} WHERE sex = 'M'\", to: [insurer]}}\n"
        f"  hearts: {{query: \"SELECT DISTINCT sex FROM {table} WHERE condition = 'Heart'\", to: "
        f"[insurer]}}\n"
        f"  coarse: {{table: {table}, generalization: {{sex: 1, age: 1}}, to: [insurer]}}\n"
        f"{more}{'checks:' if checks else ''}\n"
        f"{asked}"
    )


def asked_of(kind: str) -> str:
    return {"gamma-privacy": "men", "k-anonymity": "coarse"}.get(kind, "hearts")


def table_text(name: str, file: str | None = None, kind: str = "") -> str:
    roles = ROLES.replace("key: [name]", DOMAINS) if kind in OF_QUERIES else ROLES
    return (
        f'  {name}: {{{f"file: {file}, " if file else ""}{roles}, hierarchies: {{sex: "*", '
        f'age: "*"}}}}\n'
    )


def keyed(table: str, kind: str) -> str:
    """View safety does not take a view of the source for a table without keys."""
    key = "key: [name, sex, age, condition], domains:"
    return table.replace("domains:", key) if kind == "e-safety" else table


def write_csv(path: Path) -> None:
    path.write_text(
        "name,sex,age,condition\n" + "".join(f"{','.join(map(str, row))}\n" for row in ROWS),
        "utf-8",
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_csv(tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)
    return tmp_path


def flat(text: str) -> str:
    return " ".join(text.split())


def record_names(
    tacit: Callable[..., Any], source: str = "", ledger: str = "", table: str = ""
) -> None:
    """The insurer has everybody's name and condition."""
    Path("tacit.yaml").write_text(
        plan_text(
            "patients", table or table_text("patients"), source=source, more=NAMES, ledger=ledger
        ),
        "utf-8",
    )
    assert tacit("ledger", "record", "names", "--out-already").status == 0


def refused(tacit: Callable[..., Any], release: str, why: str) -> None:
    ran = tacit("ledger", "record", release)
    assert ran.status == 3, ran.out + ran.err
    said = flat(ran.out)
    assert why in said and "names (entry 1" in said and "REFUSED" in said


def same_file(folder: Path) -> str:
    return "patients.csv"


def copied(folder: Path) -> str:
    shutil.copy(folder / "patients.csv", folder / "people.csv")
    return "people.csv"


def in_parquet(folder: Path) -> str:
    duckdb.sql(
        f"COPY (SELECT * FROM read_csv('{folder}/patients.csv')) TO '{folder}/people.parquet' "
        "(FORMAT parquet)"
    )
    return "people.parquet"


def moved(folder: Path) -> str:
    (folder / "patients.csv").rename(folder / "moved.csv")
    return "moved.csv"


def linked(folder: Path) -> str:
    os.link(folder / "patients.csv", folder / "linked.csv")
    return "linked.csv"


@pytest.mark.sampled
@pytest.mark.parametrize("kind", list(CHECKS))
@pytest.mark.parametrize(
    ("way", "why"),
    [
        (same_file, "both come from the file patients.csv"),
        (copied, "both have the same"),
        (in_parquet, "both have the same"),
        (moved, "both have the same"),
        (linked, "both have the same"),
    ],
)
def test_a_table_that_the_plan_renamed_or_that_was_copied_has_the_same_people(
    tacit: Any, folder: Path, way: Callable[[Path], str], why: str, kind: str
) -> None:
    record_names(tacit)
    Path("tacit.yaml").write_text(
        plan_text("people", table_text("people", way(folder), kind), CHECKS[kind]), "utf-8"
    )
    refused(tacit, asked_of(kind), f"is about patients, which is people here: {why}")


@pytest.mark.parametrize("kind", list(CHECKS))
@pytest.mark.parametrize("way", [same_file, copied, linked])
def test_a_second_table_of_the_plan_with_the_same_rows_has_the_same_people(
    tacit: Any, folder: Path, way: Callable[[Path], str], kind: str
) -> None:
    record_names(tacit)
    tables = table_text("patients") + table_text("people", way(folder), kind)
    Path("tacit.yaml").write_text(plan_text("people", tables, CHECKS[kind], more=NAMES), "utf-8")
    why = "they have the same rows" if way is copied else "both come from the file"
    ran = tacit("ledger", "record", asked_of(kind))
    assert ran.status == 3 and why in flat(ran.out) and "names (entry 1" in flat(ran.out), (
        ran.out + ran.err
    )


@pytest.mark.parametrize("kind", list(CHECKS))
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_view_of_a_table_in_duckdb_has_its_people(
    tacit: Any, folder: Path, kind: str, is_kept: bool
) -> None:
    with duckdb.connect(str(folder / "hospital.duckdb")) as database:
        database.execute(
            f"CREATE TABLE patients AS SELECT * FROM read_csv('{folder}/patients.csv')"
        )
        database.execute("CREATE VIEW men_of AS SELECT * FROM patients WHERE sex = 'M'")
    source = "source: hospital.duckdb\n"
    record_names(tacit, source)
    tables = (table_text("patients") if is_kept else "") + keyed(
        table_text("men_of", kind=kind), kind
    )
    check = CHECKS[kind].replace("k: 7", "k: 4")
    Path("tacit.yaml").write_text(
        plan_text("men_of", tables, check, source=source, more=NAMES if is_kept else ""), "utf-8"
    )
    refused(tacit, asked_of(kind), "both come from")


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(CHECKS))
@pytest.mark.parametrize("is_kept", [False, True])
def test_a_view_of_a_table_in_postgresql_has_its_people_with_a_ledger_in_postgresql(
    tacit: Any, folder: Path, postgres_url: str, ledger_url: str, kind: str, is_kept: bool
) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as database:
        database.execute("DROP TABLE IF EXISTS patients CASCADE")
        database.execute(
            "CREATE TABLE patients (name text PRIMARY KEY, sex text, age int, condition text)"
        )
        for row in ROWS:
            database.execute("INSERT INTO patients VALUES (%s, %s, %s, %s)", row)
        database.execute("CREATE VIEW men_of AS SELECT * FROM patients WHERE sex = 'M'")
    source, ledger = f"source: {postgres_url}\n", f'ledger: "{ledger_url}"\n'
    record_names(tacit, source, ledger)
    tables = (table_text("patients") if is_kept else "") + keyed(
        table_text("men_of", kind=kind), kind
    )
    check = CHECKS[kind].replace("k: 7", "k: 4")
    Path("tacit.yaml").write_text(
        plan_text(
            "men_of", tables, check, source=source, more=NAMES if is_kept else "", ledger=ledger
        ),
        "utf-8",
    )
    refused(tacit, asked_of(kind), "both come from")


def test_other_people_in_a_table_of_the_same_shape_are_others(tacit: Any, folder: Path) -> None:
    record_names(tacit)
    (folder / "staff.csv").write_text(
        "name,sex,age,condition\n" + "".join(f"Dr. {','.join(map(str, row))}\n" for row in ROWS),
        "utf-8",
    )
    Path("tacit.yaml").write_text(
        plan_text("staff", table_text("staff"), CHECKS["k-anonymity"]), "utf-8"
    )
    assert tacit("ledger", "record", "coarse").status == 0


@pytest.mark.parametrize("way", [same_file, copied])
@pytest.mark.parametrize("is_kept", [False, True])
def test_synthetic_data_of_the_same_people_under_another_name_spend_the_same_budget(
    tacit: Any, folder: Path, way: Callable[[Path], str], is_kept: bool
) -> None:
    pytest.importorskip("flint")

    def text(table: str, tables: str, name: str, epsilon: int, more: str = "") -> str:
        drawn = "group: sex, value: condition, epsilon: 2, delta: 0, mechanism: dirichlet"
        return (
            "version: 1\n"
            "tables:\n"
            f"{tables}releases:\n"
            f"{more}  {name}: {{table: {table}, synthetic: {{{drawn}}}, to: [insurer]}}\n"
            "checks:\n"
            f"  - differential-privacy: {{release: {name}, epsilon: {epsilon}, delta: 0}}\n"
        )

    domain = "domains: {condition: [Heart, SARS, Viral, Flu]}, "
    first = table_text("patients").replace("key:", domain + "key:", 1)
    Path("tacit.yaml").write_text(text("patients", first, "drawn", 2), "utf-8")
    (folder / "1.csv").write_text("sex,condition\n" + "M,Heart\n" * 4 + "F,SARS\n" * 3, "utf-8")
    (folder / "2.csv").write_text("sex,condition\n" + "M,Viral\n" * 4 + "F,SARS\n" * 3, "utf-8")
    assert tacit("ledger", "record", "drawn", "--answer", "1.csv").status == 0
    second = table_text("people", way(folder)).replace("key:", domain + "key:", 1)
    kept = (
        text("patients", first, "drawn", 2).split("releases:\n")[1].split("checks:")[0]
        if is_kept
        else ""
    )
    tables = first + second if is_kept else second
    Path("tacit.yaml").write_text(text("people", tables, "again", 2, kept), "utf-8")
    ran = tacit("ledger", "record", "again", "--answer", "2.csv")
    assert ran.status in (1, 3) and "drawn (entry 1" in flat(ran.out), ran.out + ran.err
    if is_kept:  # what is allowed in all is enough for both
        Path("tacit.yaml").write_text(text("people", tables, "again", 4, kept), "utf-8")
        assert tacit("ledger", "record", "again", "--answer", "2.csv").status == 0


def test_entries_of_an_older_tacit_are_compared_by_their_people(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They say neither which version wrote them nor what tells their tables."""
    from tacit.ledger.entries import content

    new = ("version", "corrects", "wrong", "ties")
    with monkeypatch.context() as older:
        older.setattr(
            "tacit.ledger.ledger.content",
            lambda entry: {key: value for key, value in content(entry).items() if key not in new},
        )
        record_names(tacit)
    [entry] = tacit("ledger", "list", "--json").json["entries"]
    assert (
        entry["version"] is None and entry["ties"] == [] and tacit("ledger", "verify").status == 0
    )
    Path("tacit.yaml").write_text(
        plan_text("people", table_text("people", copied(folder)), CHECKS["k-anonymity"]), "utf-8"
    )
    refused(tacit, "coarse", "is about patients, which is people here: both have the same people")
    recheck = tacit("ledger", "recheck", "--json")
    assert recheck.status == 3 and "other-version" in [
        one["code"] for one in recheck.json["recorded"][0]["causes"]
    ]


def test_a_newer_tacit_is_named_where_it_wrote_what_this_one_does_not_know(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.ledger.entries import content

    with monkeypatch.context() as newer:
        newer.setattr(
            "tacit.ledger.ledger.content", lambda entry: {**content(entry), "weather": "fine"}
        )
        Path("tacit.yaml").write_text(
            plan_text("patients", table_text("patients"), more=NAMES), "utf-8"
        )
        tacit("ledger", "record", "names", "--out-already")
    ran = tacit("ledger", "list")
    assert ran.status == 2 and "entry 1 was written by a newer Tacit: it says weather" in flat(
        ran.err
    )
