"""Pages read below one folder, and run nothing that a plan names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError, TacitError
from tacit.workbench.app.reach import load_within, text_within

PLAN = (
    "version: 1\n"
    "tables:\n"
    "  people:\n"
    "    file: {file}\n"
    "    quasi-identifiers: [age]\n"
    "    sensitive: "
    "[illness]\n{more}"
)


def plan_with(folder: Path, file: str = "people.csv", more: str = "") -> Path:
    plan = folder / "tacit.yaml"
    plan.write_text(PLAN.format(file=file, more=more), "utf-8")
    return plan


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for place in (folder, tmp_path):
        (place / "people.csv").write_text("age,illness\n7,flu\n", "utf-8")
        (place / "illness.csv").write_text("flu,any\n", "utf-8")
    return folder


def test_a_plan_below_the_folder(home: Path) -> None:
    assert list(load_within(plan_with(home), home).tables) == ["people"]
    assert load_within(plan_with(home, "../people.csv"), home.parent).tables


@pytest.mark.parametrize(
    "file", ["../people.csv", "/etc/passwd", "link.csv", "sub/../../people.csv"]
)
def test_a_table_outside(home: Path, file: str) -> None:
    (home / "sub").mkdir()
    (home / "link.csv").symlink_to(home.parent / "people.csv")
    with pytest.raises(InputError, match="outside of home/"):
        load_within(plan_with(home, file), home)


@pytest.mark.parametrize(
    "more",
    [
        "source: ../people.duckdb\n",
        "ledger: ../ledger.sqlite\n",
        "    hierarchies: {age: ../illness.csv}\n",
        "    distances: {illness: {taxonomy: ../illness.csv}}\n",
    ],
)
def test_other_files_outside(home: Path, more: str) -> None:
    with pytest.raises(InputError, match="outside of home/"):
        load_within(plan_with(home, more=more), home)


@pytest.mark.parametrize(
    "more",
    [
        "releases: {april: {table: people, file: ../people.csv}}\n",
        "secrets: {s: ../secret.sql}\n",
        "secrets: {s: /etc/passwd.sql}\n",
        "releases-from: ['/**/*.sql']\n",
        "    hierarchies: {age: /dev/null}\n",
        "source: 'x://../../out'\n",
        "ledger: x://../../../out\n",
        f"    distances: {{illness: {{taxonomy: {'./' * 120}../illness.csv}}}}\n",
        "    hierarchies: {age: ~/x.csv}\n",
        "source: sub\n  ../../people: {}\n",
    ],
)
def test_names_that_lead_out_are_refused_before_they_are_read(home: Path, more: str) -> None:
    (home / "sub").mkdir()
    (home.parent / "secret.sql").write_text("SELECT secret FROM outside", "utf-8")
    text = PLAN.format(file="people.csv", more=more)
    with pytest.raises(TacitError) as told:
        text_within(text, home / "tacit.yaml", home)
    assert "SELECT secret" not in str(told.value)
    if not more.startswith("source: sub"):
        assert "outside of home/" in str(told.value) and told.value.mark is not None


def test_a_table_is_looked_for_from_the_source(home: Path) -> None:
    place = home / "a" / "b"
    place.mkdir(parents=True)
    with pytest.raises(InputError, match="outside of home/"):
        text_within(
            PLAN.format(file="../people.csv", more="source: ../..\n"), place / "tacit.yaml", home
        )
    text_within(PLAN.format(file="people.csv", more="source: ../..\n"), place / "tacit.yaml", home)


def test_values_of_people_may_look_like_paths(home: Path) -> None:
    text = (
        "version: 1\n"
        "tables:\n"
        "  people: {columns: {a: text}, rows: [[/etc], [../x]], domains: {a: [/etc, ../x]}}\n"
    )
    assert text_within(text, home / "tacit.yaml", home).tables["people"].rows == (
        ("/etc",),
        ("../x",),
    )


def test_code_is_not_run(home: Path) -> None:
    with pytest.raises(InputError, match="Python function") as told:
        load_within(plan_with(home, more="    distances: {illness: {python: 'os:system'}}\n"), home)
    assert told.value.mark is not None and told.value.mark.line == 7
