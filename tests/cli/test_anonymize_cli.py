"""`tacit anonymize` as a user runs it:
what it prints and writes, how it ends, and what it leaves behind.
"""

from __future__ import annotations

import csv
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tacit import demo
from tacit.model.jobs import Job

PERSONAL = ("Bruce", "Umeko", "Cancer", "Heart", "Viral", "13053", "1305*", "American", "Japanese")
PEOPLE = """\
version: 1
tables:
  people:
    columns: [name, zip, age, job, condition, note]
    rows:
      - [Ann, "13053", 21, clerk, flu, x]
      - [Bob, "13053", 22, clerk, cold, x]
      - [Cleo, "13068", 23, nurse, flu, x]
      - [Dan, "13068", 24, nurse, cold, x]
      - [Eve, "14850", 51, clerk, flu, x]
      - [Finn, "14850", 52, nurse, cough, x]
    identifiers: [name]
    quasi-identifiers: [zip, age, job]
    sensitive: [condition]
    hierarchies: {zip: {mask: right}, age: {ranges: [10, 20]}, job: "*"}
releases:
  all: {table: people}
  unchecked: {table: people}
  elsewhere: {table: people, file: other.csv}
  view: {query: "SELECT zip FROM people"}
checks:
  - k-anonymity: {release: all, k: 2}
  - l-diversity: {release: all, kind: distinct, l: 2, name: mixed}
  - k-anonymity: {release: elsewhere, k: 2}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    demo.write(tmp_path)
    (tmp_path / "people.yaml").write_text(PEOPLE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(path: str | Path) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def hidden(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".")]


def test_a_release_is_written_and_the_answer_names_it(tacit: Any, folder: Path) -> None:
    ran = tacit("anonymize", "april", "-o", "out.csv")
    assert ran.status == 0
    rows = rows_of("out.csv")
    assert list(rows[0]) == ["zip", "age", "nationality", "condition"] and len(rows) == 12
    groups = Counter((row["zip"], row["age"], row["nationality"]) for row in rows)
    assert min(groups.values()) >= 4
    for said in (
        "meets the checks of this plan",
        "level 1 of 3   13053 -> 1305*",
        "proved by asking",
        "4-anonymity",
        "3-diversity",
        "out.csv: 12 rows in random order",
        "Not written  name (identifier)",
        "april-written: {table: inpatients, file: out.csv}",
        "tacit check tacit.yaml --only april-written",
    ):
        assert said in ran.out, said
    assert not hidden(folder)


def test_the_lines_to_paste_check_the_file(tacit: Any, folder: Path) -> None:
    ran = tacit("anonymize", "april", "-o", "out.csv")
    printed = ran.out.partition("add to tacit.yaml:")[2].partition("Next:")[0]
    lines = [line.strip() for line in printed.strip().splitlines()]
    release, checks = lines[1], [f"  {line}" for line in lines[3:]]
    plan = Path("tacit.yaml").read_text("utf-8")
    plan = plan.replace("checks:\n", f"  {release}\nchecks:\n" + "\n".join(checks) + "\n")
    Path("tacit.yaml").write_text(plan, "utf-8")
    checked = tacit("check", "--only", "april-written")
    assert checked.status == 0 and checked.out.count("holds") == 2
    assert tacit("attack", "april-written").status == 0


def test_the_json_is_the_contract(tacit: Any) -> None:
    document = tacit("anonymize", "all", "--plan", "people.yaml", "-o", "out.csv", "--json").json
    assert {"release", "output", "verdicts", "utility", "seconds", "generalization"} <= set(
        document
    )
    assert (document["release"], document["output"]) == ("all", "out.csv")
    assert [one["status"] for one in document["verdicts"]] == ["holds", "holds"]
    assert [one["name"] for one in document["verdicts"]] == [None, "mixed"]
    assert set(document["generalization"]) == {"zip", "age", "job"}
    assert all(isinstance(level, int) for level in document["generalization"].values())
    assert document["optimal"] is True and document["suppressed"] == "0"
    chosen = [one for one in document["choices"] if one["chosen"]]
    assert len(chosen) == 1 and chosen[0]["generalization"] == document["generalization"]
    assert [one["cost"] for one in document["choices"]] == sorted(
        one["cost"] for one in document["choices"]
    )
    released = {(row["zip"], row["age"], row["job"]) for row in rows_of("out.csv")}
    assert len(released) < 6


def test_every_key_of_the_json_is_in_the_reference(tacit: Any) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/json.md").read_text("utf-8")
    said = page.partition("## tacit anonymize")[2].partition("\n## ")[0]
    found = tacit("anonymize", "april", "-o", "out.csv", "--json").json
    impossible = tacit(
        "anonymize", "april", "-o", "out.csv", "--json", "--at-most", "zip=0", "--at-most", "age=0"
    ).json
    explored = tacit("anonymize", "april", "--explore", "--json").json
    keys = {*found, *found["choices"][0], *impossible, *explored, *explored["explored"][0]}
    assert not [key for key in keys if f"`{key.removesuffix('_decimal')}`" not in said]


def test_levels_of_the_plan_are_ignored(tacit: Any) -> None:
    levels = tacit("anonymize", "april", "-o", "out.csv", "--json").json["generalization"]
    assert levels == {"zip": 1, "age": 2, "nationality": 1}  # the plan says zip 2, age 1


@pytest.mark.parametrize("method", ["mondrian", "window"])
def test_groups_of_their_own_have_no_levels(tacit: Any, method: str) -> None:
    ran = tacit("anonymize", "april", "-o", "out.csv", "--method", method, "--json")
    assert ran.status == 0 and "generalization" not in ran.json
    assert ran.json["method"] == method and ran.json["optimal"] is False
    told = tacit("anonymize", "april", "-o", "out.csv", "--method", method)
    assert "each with labels of its own" in told.out and "Not proved to be the best" in told.out
    assert "For example:" in told.out


def test_what_is_impossible_is_proved_and_leaves_the_old_file(tacit: Any, folder: Path) -> None:
    Path("out.csv").write_text("old", "utf-8")
    ran = tacit("anonymize", "april", "-o", "out.csv", "--at-most", "zip=0", "--at-most", "age=0")
    assert ran.status == 1
    for said in (
        "cannot be met",
        "This is proved",
        "BREACHED",
        "What would have to give",
        "allow higher levels of zip, age",
        "--explore",
    ):
        assert said in ran.out, said
    assert Path("out.csv").read_text("utf-8") == "old" and not hidden(folder)
    ran = tacit(
        "anonymize", "april", "-o", "out.csv", "--at-most", "zip=0", "--at-most", "age=0", "--json"
    )
    assert (ran.status, ran.json["output"], ran.json["impossible"]) == (1, None, True)
    assert ran.json["utility"] is None and ran.json["advice"]


def test_what_is_not_found_ends_with_three(tacit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tacit.families.microdata.runs.anonymize.is_silent", lambda task, judge, node: False
    )
    ran = tacit("anonymize", "april", "-o", "out.csv", "--aware")
    assert ran.status == 3 and "nothing found" in ran.out and "This is no proof" in ran.out
    assert not Path("out.csv").exists()
    assert (
        tacit("anonymize", "april", "-o", "out.csv", "--aware", "--json").json["impossible"]
        is False
    )


def test_exploring_writes_nothing_and_marks_the_plans_value(tacit: Any, folder: Path) -> None:
    before = sorted(os.listdir(folder))
    ran = tacit("anonymize", "april", "--explore")
    assert ran.status == 0 and sorted(os.listdir(folder)) == before
    assert ran.out.count("<- the plan") == 2 and "cannot be met" in ran.out
    document = tacit("anonymize", "april", "--explore", "--json").json
    mine = [(one["parameter"], one["value"]) for one in document["explored"] if one["asked_for"]]
    assert mine == [("k", "4"), ("l", "3")]
    costs = [
        one["cost"]
        for one in document["explored"]
        if one["parameter"] == "k" and one["cost"] is not None
    ]
    assert costs == sorted(costs)


@pytest.mark.parametrize("form", [(), ("--json",), ("--method", "mondrian"), ("--suppress", "10%")])
def test_a_shared_audience_sees_no_personal_values(tacit: Any, form: tuple[str, ...]) -> None:
    ran = tacit(
        "anonymize",
        "april",
        "-o",
        "out.csv",
        "--audience",
        "shared",
        "--report",
        "page.html",
        *form,
    )
    assert ran.status == 0
    text = ran.out + ran.err + Path("page.html").read_text("utf-8")
    assert not [word for word in PERSONAL if word in text]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("apri", "-o", "x.csv"), "no microdata release 'apri'. Did you mean 'april'"),
        (("april",), "where should the release go? Add -o FILE.csv"),
        (
            ("elsewhere", "-o", "x.csv", "--plan", "people.yaml"),
            "'elsewhere' is a file that is there already",
        ),
        (("unchecked", "-o", "x.csv", "--plan", "people.yaml"), "no check of release 'unchecked'"),
        (("view", "-o", "x.csv", "--plan", "people.yaml"), "no microdata release 'view'"),
        (("april", "-o", "x.csv", "--plan", "none.yaml"), "there is no plan"),
        (("april", "-o", "x.csv", "--at-most", "zap=1"), "zap"),
        (("april", "-o", "x.csv", "--at-most", "zip=9"), "zip"),
        (("april", "-o", "x.csv", "--at-most", "zip=1.5"), "no level"),
        (("april", "-o", "x.csv", "--at-most", "zip"), "no COLUMN=NUMBER"),
        (("april", "-o", "x.csv", "--weight", "zap=1"), "zap"),
        (("april", "-o", "x.csv", "--weight", "zip=-1"), "negative"),
        (("april", "-o", "x.csv", "--weight", "zip=2", "--utility", "kl"), "weight"),
        (("april", "-o", "x.csv", "--suppress", "120%"), "120%"),
        (("april", "-o", "x.csv", "--suppress", "much"), "much"),
        (("april", "-o", "x.csv", "--utility", "fun"), "fun"),
        (("april", "-o", "x.csv", "--method", "magic"), "magic"),
        (("april", "-o", "nowhere/x.csv"), "there is no folder nowhere"),
        (("april", "-o", "x.xlsx"), "does not write .xlsx files"),
        (("april", "-o", "a_table"), "no database"),
        (("april", "-o", "inpatients.csv"), "belongs to what is released"),
        (("april", "-o", "zip.csv"), "zip.csv"),
        (("april", "-o", "x.csv", "--method", "mondrian", "--aware"), "--method lattice"),
        (("april", "-o", "x.csv", "--method", "window", "--utility", "height"), "no height"),
        (("april", "-o", "x.csv", "--seconds", "0"), "0"),
    ],
)
def test_wrong_input_says_what_to_write(
    tacit: Any, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = tacit("anonymize", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err and "Traceback" not in ran.err
    assert not [word for word in PERSONAL if word in ran.err]
    as_json = tacit("anonymize", *arguments, "--json")
    assert as_json.status == 2 and as_json.json["error"]["message"]
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("step", ["counting", "preparing", "writing", "checking"])
def test_an_interruption_leaves_the_old_file(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    told = Job.step

    def interrupted(self: Job, text: str, share: float) -> None:
        told(self, text, share)
        if text.startswith(step):
            raise KeyboardInterrupt

    Path("out.csv").write_text("old", "utf-8")
    monkeypatch.setattr(Job, "step", interrupted)
    ran = tacit("anonymize", "april", "-o", "out.csv")
    assert ran.status == 130 and not hidden(folder)
    # Once the new file stands whole in its place, only the reading back was interrupted.
    assert Path("out.csv").read_text("utf-8") == "old" or step == "checking"


def cpu_seconds(process: subprocess.Popen[Any]) -> float:
    """How much a process has worked so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_ctrl_c_on_a_large_table_leaves_nothing(tmp_path: Path) -> None:
    draw = random.Random(4)
    lines = [
        f"{draw.randrange(10**5):05},{draw.randrange(90)},{draw.randrange(10**4)},{draw.randrange(50)}\n"
        for _ in range(300_000)
    ]
    (tmp_path / "people.csv").write_text("zip,age,pay,ill\n" + "".join(lines), "utf-8")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {people: {quasi-identifiers: [zip, age, pay], sensitive: [ill],\n"
        "  hierarchies: {zip: {mask: right}, age: {ranges: [5, 10]}, pay: {ranges: [10, 100]}}}}\n"
        "releases: {all: {table: people, method: mondrian}}\n"
        "checks: [{k-anonymity: {release: all, k: 5}}, {l-diversity: {release: all, kind: entropy, "
        "l: 3}}]\n",
        "utf-8",
    )
    before = sorted(os.listdir(tmp_path))
    command = [sys.executable, "-m", "tacit", "anonymize", "all", "-o", "out.csv"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and cpu_seconds(process) < 2.0:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, ""), err
    assert "interrupted; nothing half-written is left" in err and "Traceback" not in err
    assert sorted(os.listdir(tmp_path)) == before


def test_a_failure_while_writing_leaves_the_old_file(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    Path("out.csv").write_text("old", "utf-8")
    monkeypatch.setattr(Path, "replace", full)
    ran = tacit("anonymize", "april", "-o", "out.csv")
    assert ran.status == 2 and "disk is full" in ran.err
    assert Path("out.csv").read_text("utf-8") == "old" and not hidden(folder)


def test_keys_of_the_release_and_options_say_the_same(tacit: Any) -> None:
    options = tacit(
        "anonymize",
        "all",
        "--plan",
        "people.yaml",
        "-o",
        "a.csv",
        "--json",
        "--suppress",
        "20%",
        "--weight",
        "age=3",
        "--at-most",
        "zip=4",
        "--utility",
        "loss",
    ).json
    keys = "{table: people, suppress: 20%, weights: {age: 3}, at-most: {zip: 4}, utility: loss}"
    Path("keys.yaml").write_text(
        PEOPLE.replace("  all: {table: people}\n", f"  all: {keys}\n"), "utf-8"
    )
    plan = tacit("anonymize", "all", "--plan", "keys.yaml", "-o", "b.csv", "--json").json
    for name in ("generalization", "suppressed", "utility", "choices"):
        assert options[name] == plan[name]
    assert sorted(map(str, rows_of("a.csv"))) == sorted(map(str, rows_of("b.csv")))


def test_columns_without_a_role_are_told_and_not_written(tacit: Any) -> None:
    ran = tacit("anonymize", "all", "--plan", "people.yaml", "-o", "out.csv")
    assert "name (identifier); note (no role)" in ran.out
    assert set(rows_of("out.csv")[0]) == {"zip", "age", "job", "condition"}


@pytest.fixture
def database(folder: Path) -> Path:
    """The demo's table in a DuckDB file, with db.yaml as its plan."""
    import duckdb

    with duckdb.connect("clinic.duckdb") as opened:
        opened.execute("CREATE TABLE inpatients AS SELECT * FROM read_csv('inpatients.csv')")
    plan = (
        Path("tacit.yaml")
        .read_text("utf-8")
        .replace("source: .", "source: clinic.duckdb")
        .replace("    file: inpatients.csv\n", "")
    )
    Path("db.yaml").write_text(plan, "utf-8")
    return folder / "clinic.duckdb"


def rows_in(database: Path, table: str) -> int:
    import duckdb

    with duckdb.connect(str(database)) as opened:
        found = opened.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(found[0][0])


def test_a_table_of_the_database_can_be_the_target(tacit: Any, database: Path) -> None:
    ran = tacit("anonymize", "april", "-o", "april_out", "--plan", "db.yaml")
    assert ran.status == 0 and "april_out: 12 rows" in ran.out
    assert "write generalization: {zip: 1, age: 2, nationality: 1} to april in db.yaml" in re.sub(
        r"\s+", " ", ran.out
    )
    again = tacit("anonymize", "april", "-o", "april_out", "--plan", "db.yaml")
    assert again.status == 2 and "already" in again.err
    assert rows_in(database, "april_out") == 12


def test_a_table_that_is_there_is_replaced_where_that_is_said(tacit: Any, database: Path) -> None:
    assert tacit("anonymize", "april", "-o", "april_out", "--plan", "db.yaml").status == 0
    assert (
        tacit("anonymize", "april", "-o", "april_out", "--plan", "db.yaml", "--replace").status == 0
    )
    assert rows_in(database, "april_out") == 12
