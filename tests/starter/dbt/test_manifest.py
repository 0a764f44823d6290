"""A dbt project as a plan: from the manifest alone, without dbt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tacit.cli import cli
from tacit.errors import InputError
from tacit.plan.read.load import load_plan
from tacit.starter.dbt.manifest import read_project
from tacit.starter.dbt.run import check_project
from tacit.starter.dbt.writing import plan_of

PRINT = "0123456789abcdef" * 2


def column(name: str, *roles: str) -> dict[str, Any]:
    """A column as the manifest has it."""
    return {"name": name, "tags": [], "meta": {}, "config": {"meta": dict.fromkeys(roles, True)}}


def node(kind: str, name: str, sql: str | None = None, *reads: str, **more: Any) -> dict[str, Any]:
    """A node as the manifest has it."""
    columns = {one["name"]: one for one in more.pop("columns", ())}
    return {
        "unique_id": f"{kind}.shop.{name}",
        "name": name,
        "resource_type": kind,
        "schema": "main",
        "alias": name,
        "original_file_path": f"{name}.sql",
        "config": {"materialized": "view", **more.pop("config", {})},
        "columns": columns,
        "compiled_code": sql,
        "depends_on": {"macros": [], "nodes": list(reads)},
        **more,
    }


PEOPLE = node(
    "source", "people", columns=[column("name", "pii"), column("dx", "sensitive"), column("town")]
)
VISITS = node("source", "visits", columns=[column("id"), column("name"), column("day")])
BOTH = ("source.shop.people", "source.shop.visits")


def project(tmp_path: Path, *nodes: dict[str, Any], **exposures: list[str]) -> Path:
    """A folder with a manifest."""
    (tmp_path / "target").mkdir(exist_ok=True)
    every = {one["unique_id"]: one for one in (PEOPLE, VISITS, *nodes)}
    manifest = {
        "metadata": {"adapter_type": "duckdb", "project_name": "shop"},
        "nodes": {id: one for id, one in every.items() if one["resource_type"] != "source"},
        "sources": {id: one for id, one in every.items() if one["resource_type"] == "source"},
        "exposures": {
            name: {"name": name, "depends_on": {"nodes": reads}}
            for name, reads in exposures.items()
        },
    }
    (tmp_path / "target" / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def verdict_of(model: str, check: str, **parameters: Any) -> dict[str, Any]:
    """A test `tacit.verdict` as the manifest has it."""
    return node(
        "test",
        f"verdict_{model}",
        f"-- tacit fingerprint {PRINT}\n-- tacit rows \nselect 1",
        attached_node=f"model.shop.{model}",
        test_metadata={
            "namespace": "tacit",
            "name": "verdict",
            "kwargs": {"check": check, "parameters": parameters},
        },
    )


def test_an_exposure_is_asked_against_who_has_which_sensitive_value(tmp_path: Path) -> None:
    days = node("model", "days", 'select day from "shop"."main"."visits"', BOTH[1])
    found = check_project(project(tmp_path, days, board=["model.shop.days"]))
    (verdict,) = found.assessment.verdicts
    assert verdict.status == "holds" and verdict.subject["secret"] == "people.dx"
    towns = node("model", "towns", 'select town from "shop"."main"."people"', BOTH[0])
    shown = project(tmp_path, days, towns, board=["model.shop.days", "model.shop.towns"])
    assert [one.status for one in check_project(shown).assessment.verdicts] == ["breached"]


def test_a_model_is_read_down_to_the_tables_whatever_with_calls_them(tmp_path: Path) -> None:
    inner = node("model", "inner", 'select name, day from "shop"."main"."visits"', BOTH[1])
    outer = node(
        "model",
        "outer",
        'with visits as (select dx from "shop"."main"."people") '
        'select day from "shop"."main"."inner"',
        BOTH[0],
        "model.shop.inner",
        config={"tags": ["release"]},
    )
    made = plan_of(read_project(project(tmp_path, inner, outer)))
    assert '"visits"' in made.releases["outer"]["query"]
    assert "inner" not in made.tables and made.checks[0]["perfect-privacy"]["releases"] == ["outer"]
    assert check_project(tmp_path).assessment.verdicts[0].status == "holds"


def test_rows_of_the_past_are_not_what_the_sql_selects_today(tmp_path: Path) -> None:
    grown = node(
        "model",
        "grown",
        'select day from "shop"."main"."visits"',
        BOTH[1],
        config={"materialized": "incremental"},
        columns=[column("day")],
    )
    made = plan_of(read_project(project(tmp_path, grown, board=["model.shop.grown"])))
    assert made.tables["grown"]["derived-from"] == ["visits"]
    assert 'FROM "main"."grown"' in made.releases["grown"]["query"]


@pytest.mark.parametrize(
    ("sql", "reads", "because"),
    [
        ('select * from "shop"."main"."other"', BOTH, "not one that it names by ref or source"),
        ('select * from "shop"."main"."people" tablesample 10%', BOTH, "more than a name"),
        ("select from where", BOTH, "is not read"),
    ],
)
def test_what_is_not_read_is_not_checked_and_says_so(
    sql: str | None, reads: tuple[str, ...], because: str, tmp_path: Path
) -> None:
    odd = node("model", "odd", sql, *reads)
    days = node("model", "days", 'select day from "shop"."main"."visits"', BOTH[1])
    shown = project(tmp_path, odd, days, one=["model.shop.odd"], two=["model.shop.days"])
    (note,) = plan_of(read_project(shown)).notes
    assert note.startswith("exposure one is not checked: ") and because in note
    done = CliRunner().invoke(cli, ["dbt", str(shown)], standalone_mode=False)
    assert done.return_value == 3


def test_a_check_of_rows_without_a_source_is_not_asked(tmp_path: Path) -> None:
    towns = node(
        "model",
        "towns",
        'select town from "shop"."main"."people"',
        BOTH[0],
        columns=[column("town", "quasi_identifier")],
    )
    made = plan_of(read_project(project(tmp_path, towns, verdict_of("towns", "risk"))))
    assert made.notes == [
        "the test verdict_towns is not checked: it needs the rows; give --source."
    ]


def test_the_plan_is_a_plan(tmp_path: Path) -> None:
    days = node("model", "days", 'select day from "shop"."main"."visits"', BOTH[1])
    wanted = verdict_of("days", "perfect-privacy", secret="people.dx")
    found = check_project(project(tmp_path, days, wanted))
    assert load_plan(found.file).secrets.keys() == {"people.dx"}
    assert yaml.safe_load(found.file.read_text("utf-8"))["tables"]["people"] == {
        "columns": ["name", "dx", "town"],
        "identifiers": ["name"],
        "sensitive": ["dx"],
    }
    (stored,) = json.loads(found.store.read_text("utf-8"))["verdicts"]
    assert (stored["fingerprint"], stored["rows_hash"], stored["status"]) == (PRINT, None, "holds")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one["metadata"].update(adapter_type="spark"), "the project runs on spark"),
        (lambda one: one.pop("exposures"), "no manifest that dbt 1.8 or newer writes"),
        (
            lambda one: one["sources"]["source.shop.people"]["columns"]["dx"].update(tags=["pii"]),
            "people.dx is pii and sensitive; a column has one role",
        ),
        (
            lambda one: one["nodes"]["test.shop.verdict_days"].update(compiled_code=None),
            "the test verdict_days is not compiled. Run: dbt compile",
        ),
        (
            lambda one: one["nodes"]["test.shop.verdict_days"]["test_metadata"]["kwargs"].update(
                check="t-closness"
            ),
            "Did you mean 't-closeness'?",
        ),
        (lambda one: one["nodes"].clear(), "the project asks nothing"),
        (
            lambda one: one["nodes"]["model.shop.days"].update(compiled_code=None),
            "days is not compiled. Run: dbt compile",
        ),
    ],
)
def test_what_is_wrong_is_said(change: Any, message: str, tmp_path: Path) -> None:
    days = node("model", "days", 'select day from "shop"."main"."visits"', BOTH[1])
    file = (
        project(tmp_path, days, verdict_of("days", "perfect-privacy", secret="people.dx"))
        / "target"
        / "manifest.json"
    )
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))
    with pytest.raises(InputError) as error:
        check_project(tmp_path)
    assert message in str(error.value)


def test_without_a_manifest_the_next_step_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Run dbt compile in the project"):
        check_project(tmp_path)


def test_the_folder_of_the_package_is_printed() -> None:
    done = CliRunner().invoke(cli, ["dbt", "--package"], standalone_mode=False)
    assert (Path(done.output.strip()) / "dbt_project.yml").is_file()
