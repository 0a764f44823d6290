"""`tacit dbt`: the plan of a project is written and checked, and its verdicts are put where the
tests of the project find them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from tacit.checking.assess import Assessment, assess
from tacit.engines.base import Engine
from tacit.engines.duckdb.catalog import SOURCE
from tacit.engines.open import open_engine
from tacit.engines.output import check_file, refusing, temporary_place
from tacit.engines.sql import shapes_inlined
from tacit.errors import InputError
from tacit.families.catalog import FAMILY_OF
from tacit.model.jobs import Job
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan
from tacit.starter.dbt.manifest import read_project
from tacit.starter.dbt.writing import DbtPlan, plan_of


@dataclass(frozen=True, slots=True)
class CheckedProject:
    """What was found: the plan's file, and the arguments of `dbt run-operation tacit.store`."""

    plan: Plan
    assessment: Assessment
    notes: tuple[str, ...]
    file: Path
    store: Path


def package_folder() -> Path:
    """The dbt package with the tests, for `packages.yml`."""
    return Path(str(files("tacit.starter.dbt") / "package"))


def check_project(
    folder: Path, *, target: Path | None = None, source: str | None = None, job: Job | None = None
) -> CheckedProject:
    """Make the plan of a dbt project, check it, and write all of it to target/tacit."""
    project = read_project(folder, target)
    made = plan_of(project, None if source is None else placed(source))
    if not made.checks:
        raise InputError(
            "the project asks nothing. " + " ".join(made.notes),
            hint="Mark a secret and declare an exposure, or add a test tacit.verdict.",
        )
    place = project.target / "tacit"
    with refusing(place):
        place.mkdir(exist_ok=True)
    file, store = place / "tacit.yaml", place / "store.json"
    write(file, made.text)
    plan = load_plan(file, need_checks=True)
    before = rows_hashes(made, plan)
    assessment = assess(plan, job=job, depth="terminal")
    if rows_hashes(made, plan) != before:
        raise InputError(
            "rows changed while they were checked.", hint="Run it again when dbt is done."
        )
    verdicts = verdicts_for_dbt(made, assessment, before)
    write(store, json.dumps({"verdicts": verdicts}, indent=1))
    return CheckedProject(plan, assessment, tuple(made.notes), file, store)


def rows_hashes(made: DbtPlan, plan: Plan) -> dict[str, str]:
    """What the rows are that checks of microdata are about, by the fingerprint of the test."""
    asked = [one for one in made.wanted if one and FAMILY_OF[one.check] == "microdata"]
    if not asked:
        return {}
    with open_engine(plan.source, plan.folder) as engine:
        return {one.fingerprint: hash_of(one.rows or "", engine) for one in asked}


def hash_of(statement: str, engine: Engine) -> str:
    """The hash that dbt's test computes."""
    tree = sqlglot.parse_one(statement, read=engine.dialect)
    if not isinstance(tree, exp.Select):
        raise InputError("the manifest was changed by hand.", hint="Run: dbt compile")
    # Those of the database that --source names, whatever dbt calls it.
    here = shapes_inlined.in_catalog(tree, SOURCE if engine.dialect == "duckdb" else None)
    ((found,),) = engine.rows(here)
    return str(found)


def placed(source: str) -> str:
    """A source as the plan names it, which lies in another folder."""
    return source if "://" in source else str(Path(source).resolve())


def write(file: Path, text: str) -> None:
    """A file of ours, whole or not at all."""
    check_file(file, ())
    with temporary_place(file) as draft:
        draft.write_text(text, encoding="utf-8")


def verdicts_for_dbt(
    made: DbtPlan, assessment: Assessment, rows: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The verdicts that tests ask for, without personal values."""
    return [
        {
            "test": wanted.test,
            "model": wanted.model,
            "fingerprint": wanted.fingerprint,
            "rows_hash": rows.get(wanted.fingerprint),
            "status": verdict.status,
            "because": f"{verdict.label}: {verdict.to_json('shared')['because']}",
        }
        for wanted, verdict in zip(made.wanted, assessment.verdicts, strict=True)
        if wanted is not None
    ]
