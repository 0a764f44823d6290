"""A dossier is the same for whoever has its inputs, and says so where it is not."""

from __future__ import annotations

import json
import sqlite3
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from tacit.checking.assess import assess
from tacit.checking.recording.record import record
from tacit.cli import commands
from tacit.errors import InputError
from tacit.plan.read.load import load_plan
from tacit.report.dossier import make_dossier, verify_dossier

PLAN = """version: 1
question: May <the> authors have it?
tables:
  people: {quasi-identifiers: [zip], sensitive: [ill], hierarchies: {zip: {mask: right}}}
releases: {april: {table: people, generalization: {zip: 1}, to: [authors]}}
checks:
- k-anonymity: {release: april, k: 2, name: twos}
"""
HIPAA = "hipaa-identifiers: {release: april}"
DATA = "zip,ill\n13053,flu\n13058,cold\n14850,flu\n14853,gout\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)
    (tmp_path / "tacit.yaml").write_text(PLAN)
    (tmp_path / "people.csv").write_text(DATA)
    record(load_plan(tmp_path / "tacit.yaml"), "april", by="weber")
    return tmp_path


def made(folder: Path) -> Path:
    file = folder / "april.html"
    file.write_text(make_dossier(load_plan(folder / "tacit.yaml"), "april").text, newline="")
    return file


def differs(folder: Path, file: Path) -> str:
    return "; ".join(verify_dossier(file, load_plan(folder / "tacit.yaml")).differs)


def test_made_again_it_is_the_same_with_the_same_hash(folder: Path) -> None:
    plan = load_plan(folder / "tacit.yaml")
    one, two = (make_dossier(plan, "april", made=date(2030, 1, 31)) for _ in range(2))
    assert one.text == two.text and one.seal == two.seal and one.seal in one.text
    assert "weber" in one.text and "2030-01-31" in one.text
    assert "who wrote the plan" in one.text and "what was asked" not in one.text
    assert differs(folder, made(folder)) == ""


def test_a_shared_one_names_no_value_and_verifies_too(folder: Path) -> None:
    plan = load_plan(folder / "tacit.yaml")
    found = make_dossier(plan, "april", "shared")
    assert "gout" not in found.text and "13053" not in found.text
    file = folder / "shared.html"
    file.write_text(found.text, newline="")
    assert differs(folder, file) == ""


def test_a_shared_one_hashes_every_file_and_names_those_that_it_speaks_of(folder: Path) -> None:
    path = folder / "tacit.yaml"
    path.write_text(PLAN.replace("releases:", "  ward_7: {sensitive: [drug]}\nreleases:"))
    (folder / "ward_7.csv").write_text("drug\naspirin\n")
    found = make_dossier(load_plan(path), "april", "shared")
    other = next(one for one in found.sources.files if one.startswith("another file, "))
    assert set(found.sources.files) == {"tacit.yaml", "people.csv", other}
    assert "ward_7" not in found.text and found.text.count(found.sources.files[other]) == 2
    file = folder / "shared.html"
    file.write_text(found.text, newline="")
    assert differs(folder, file) == ""
    (folder / "ward_7.csv").write_text("drug\nAspirin\n")
    assert differs(folder, file).startswith("ward_7.csv has other content; the hash")


def test_a_changed_byte_of_the_file_is_found(folder: Path) -> None:
    file = made(folder)
    text = file.read_text()
    for old, new in (("Recommendation", "recommendation"), ("weber", "Weber"), ("k = 2", "k = 3")):
        assert old in text
        file.write_text(text.replace(old, new, 1), newline="")
        said = differs(folder, file)
        line = text[: text.index(old)].count("\n") + 1
        assert said.startswith("the file is not as it was made")
        assert f"; line {line} of the file is the first that differs" in said


def test_a_changed_byte_of_plan_or_data_is_named(folder: Path) -> None:
    file = made(folder)
    (folder / "tacit.yaml").write_text(PLAN.replace("authors have", "authors Have"))
    assert "tacit.yaml has other content" in differs(folder, file)
    (folder / "tacit.yaml").write_text(PLAN)
    (folder / "people.csv").write_text(DATA.replace("gout", "mold"))
    said = differs(folder, file)
    assert "people.csv has other content" in said and "another answer today" in said
    (folder / "people.csv").write_text(DATA)
    assert differs(folder, file) == ""


def test_a_changed_ledger_is_named(folder: Path) -> None:
    file = made(folder)
    ledger = folder / "tacit-ledger.sqlite"
    with sqlite3.connect(ledger) as database:
        for name, kind in database.execute(
            "SELECT name, type FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            database.execute(f"DROP {kind} {name}")
        database.execute("UPDATE tacit_entries SET body = replace(body, 'weber', 'Weber')")
    assert "ledger" in differs(folder, file)


def test_what_is_not_recorded_or_not_the_same_any_more_has_none(folder: Path) -> None:
    plan = load_plan(folder / "tacit.yaml")
    with pytest.raises(InputError, match="no release 'may'"):
        make_dossier(plan, "may")
    (folder / "tacit.yaml").write_text(PLAN.replace("{zip: 1}", "{zip: 2}"))
    with pytest.raises(InputError, match="something else under april"):
        make_dossier(load_plan(folder / "tacit.yaml"), "april")


def test_exit_statuses_of_the_commands(folder: Path) -> None:
    plan, file, run = str(folder / "tacit.yaml"), str(folder / "d.html"), CliRunner().invoke

    def ended(*words: str) -> tuple[object, str]:
        found = run(commands.cli, ["dossier", *words, "--plan", plan], standalone_mode=False)
        return found.return_value if found.exception is None else found.exception, found.output

    assert ended("make", "april", "-o", file)[0] == 0
    status, text = ended("verify", file, "--json")
    assert status == 0 and json.loads(text)["same"]
    Path(file).write_text(Path(file).read_text().replace("weber", "webern"), newline="")
    assert ended("verify", file)[0] == 1
    Path(file).write_text("<p>Hello</p>")
    assert isinstance(ended("verify", file)[0], InputError)  # which ends with 2
    assert isinstance(ended("verify", file + ".not")[0], InputError)


def test_years_of_birth_are_judged_by_the_day_of_the_dossier(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(
        PLAN.replace("k-anonymity: {release: april, k: 2, name: twos}", HIPAA)
    )
    (tmp_path / "people.csv").write_text(DATA)
    plan = load_plan(tmp_path / "tacit.yaml")
    [found] = assess(plan, today=date(2031, 1, 1))
    assert found.required["year"] == 2031


def test_an_input_that_is_not_there_is_no_difference_but_wrong_input(folder: Path) -> None:
    file = made(folder)
    (folder / "people.csv").rename(folder / "elsewhere.csv")
    with pytest.raises(InputError, match=r"there is no people\.csv any more"):
        verify_dossier(file, load_plan(folder / "tacit.yaml"))


def test_what_went_out_later_is_named_where_the_page_is_another_one(folder: Path) -> None:
    from tacit.checking.recording.record import withdraw

    file = made(folder)
    withdraw(load_plan(folder / "tacit.yaml"), "april", by="weber")
    assert "the ledger has entries after 1, with which it is judged now" in differs(folder, file)


def test_other_versions_that_come_to_the_same_are_no_difference(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.report.html import record_page

    file = made(folder)
    monkeypatch.setattr(record_page.platform, "python_version", lambda: "3.99.1")
    assert "3.99.1" in make_dossier(load_plan(folder / "tacit.yaml"), "april").text
    assert differs(folder, file) == ""
    (folder / "tacit.yaml").write_text(PLAN + "# a remark\n")
    assert "and here is Tacit" in differs(folder, file)


def test_a_release_that_no_check_is_about_has_none(folder: Path) -> None:
    other = PLAN.replace("releases: {", "releases: {may: {table: people}, ")
    (folder / "tacit.yaml").write_text(other.replace("release: april, k", "release: may, k"))
    with pytest.raises(InputError, match="no check of april"):
        make_dossier(load_plan(folder / "tacit.yaml"), "april")


def test_a_changed_byte_of_a_copy_that_was_made_elsewhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN.replace("generalization: {zip: 1}", "file: a.csv"))
    (tmp_path / "people.csv").write_text(DATA)
    copy = "zip,ill\n1305*,flu\n1305*,cold\n1485*,flu\n1485*,gout\n"
    (tmp_path / "a.csv").write_text(copy)
    record(load_plan(tmp_path / "tacit.yaml"), "april", by="weber")
    file = made(tmp_path)
    (tmp_path / "a.csv").write_text(f"{copy}\n")
    assert "a.csv has other content" in differs(tmp_path, file)
    (tmp_path / "a.csv").unlink()
    with pytest.raises(InputError, match=r"there is no a\.csv any more"):
        differs(tmp_path, file)
