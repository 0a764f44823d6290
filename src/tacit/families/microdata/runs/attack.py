"""From a plan to stories: open the source, count the table once, let
every attack look at the release.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.engines.base import Engine
from tacit.engines.open import open_engine
from tacit.engines.sql import shapes
from tacit.errors import DataError, InputError, ParameterError, PlanError, did_you_mean
from tacit.families.catalog import define, kinds_of
from tacit.families.microdata.attacks import ATTACKS
from tacit.families.microdata.attacks.all_minimal import AllMinimal, all_minimal
from tacit.families.microdata.attacks.attack_scene import (
    NINETY_FIVE,
    AttackedCheck,
    AttackScene,
    AttackTarget,
    OutsideTable,
    rows_with,
)
from tacit.families.microdata.attacks.linking import linking
from tacit.families.microdata.attacks.stories import Attack, Story
from tacit.families.microdata.fused_columns import unfused, value_in
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.reading.declared_distances import parts_of
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.runs.several_copies import second_release
from tacit.families.words import listed, people
from tacit.model.jobs import Job
from tacit.model.numbers import exact
from tacit.model.release import Microdata
from tacit.model.schema import Table
from tacit.plan.plan import Plan

ROWS = 1_000  # of one person that are looked at


def attack(
    plan: Plan,
    release: str,
    *,
    target: str | None = None,
    threshold: Fraction = NINETY_FIVE,
    link: Path | None = None,
    sensitive: str | None = None,
    job: Job | None = None,
) -> Attack:
    """What somebody who sees a microdata release believes, before and after.

    `target` tells one person's story (the value of the person, key or identifier columns; with
    several columns, separated by commas). `threshold` is from when on a group counts as nearly of
    one value, `link` a CSV file that the attacker has, `sensitive` one column instead of all.
    """
    named_release(plan, release)
    with open_engine(plan.source, plan.folder) as engine:
        source = MicrodataSource(plan, engine)
        return attack_in(source, release, target, threshold, link, sensitive, job)


def attack_in(
    source: MicrodataSource,
    release: str,
    target: str | None = None,
    threshold: Fraction = NINETY_FIVE,
    link: Path | None = None,
    sensitive: str | None = None,
    job: Job | None = None,
    *,
    alone: bool = False,
) -> Attack:
    """The same of a source that is open; `alone`, whatever else is published."""
    begun = time.perf_counter()
    job, plan = job or Job(), source.plan
    microdata = named_release(plan, release)
    job.step("counting", 0.0)
    given = source.question(release)
    question = given.stricter or given
    columns = chosen_columns(question, sensitive)
    found = find_target(source, microdata, question, target) if target is not None else None
    outside = read_outside(link, question, source.engines[release]) if link is not None else None
    scenes = [
        AttackScene(
            question,
            column,
            threshold,
            attacked_checks(plan, release, source),
            outside,
            found,
            levels_known=microdata.file is None,
            doubtful=bool(column) and is_doubtful(given, column),
        )
        for column in columns or ("",)
    ]
    stories = tell(scenes, job)
    job.step("the second release", 0.9)
    if not alone:
        stories += tuple(second_release(plan, release, columns, found, job))
    identity = found.identity if found else None
    return Attack(
        release, stories, question.people, identity, question.warnings, time.perf_counter() - begun
    )


def attack_all_minimal(
    plan: Plan,
    release: str,
    *,
    sensitive: str | None = None,
    threshold: Fraction = NINETY_FIVE,
    job: Job | None = None,
) -> tuple[AllMinimal, ...]:
    """Homogeneity in every minimal table that meets the checks of a
    release, for each sensitive column.
    """
    from tacit.families.microdata.runs.task import task_of

    with open_engine(plan.source, plan.folder) as engine:
        source = MicrodataSource(plan, engine)
        task = task_of(plan, release, source, {}, aware=False, relaxed=False, seconds=None)
        columns = chosen_columns(task.raw, sensitive)
        return tuple(
            all_minimal(
                task.raw,
                task.required,
                task.lattice(),
                column,
                threshold=threshold,
                suppress=task.suppress,
                job=job,
            )
            for column in columns
        )


def is_doubtful(question: MicrodataQuestion, column: str) -> bool:
    """Do some values of a column perhaps mean unknown, or another value?"""
    if question.stricter is None:
        return False
    ours, stricter = question.base, question.stricter.base
    return ours.dictionaries[column] != stricter.dictionaries[column] or ours.missing(
        column
    ) != stricter.missing(column)


def tell(scenes: list[AttackScene], job: Job) -> tuple[Story, ...]:
    """Every attack on every sensitive column; what concerns no column is told once."""
    stories: list[Story] = []
    for place, scene in enumerate(scenes):
        for number, one in enumerate(ATTACKS):
            if one is not linking and not scene.column:
                continue
            if one is linking and place and (scene.outside is None or scene.place is not None):
                continue
            job.step(one.__name__, (place + number / len(ATTACKS)) / len(scenes))
            story = one(scene)
            if story is not None:
                stories.append(story)
    return tuple(stories)


def named_release(plan: Plan, name: str) -> Microdata:
    """The microdata release of that name."""
    release = plan.releases.get(name)
    if isinstance(release, Microdata):
        return release
    known = list(plan.of(Microdata))
    if release is None:
        raise PlanError(f"the plan has no release {name!r}.", hint=did_you_mean(name, known))
    raise PlanError(
        f"{name} is not microdata.",
        hint=f"Attacks are for generalized tables. {did_you_mean(name, known)}",
    )


def chosen_columns(question: MicrodataQuestion, sensitive: str | None) -> tuple[str, ...]:
    """The sensitive columns to attack."""
    if sensitive is None:
        return question.sensitive
    if sensitive not in question.sensitive:
        raise InputError(
            f"--sensitive {sensitive}: table {question.table.name} has no such sensitive column.",
            hint=did_you_mean(sensitive, question.sensitive),
        )
    return (sensitive,)


def attacked_checks(plan: Plan, release: str, source: MicrodataSource) -> tuple[AttackedCheck, ...]:
    """The checks of the plan about a release."""
    return tuple(
        AttackedCheck(
            define(check.kind, check.parameters).with_files(source.lines), check.sensitive
        )
        for check in plan.checks
        if check.releases == (release,) and check.kind in kinds_of("microdata")
    )


def read_threshold(text: str) -> Fraction:
    """A share as people write it.

    >>> read_threshold("95%"), read_threshold("0.9")
    (Fraction(19, 20), Fraction(9, 10))
    >>> read_threshold("120 %")
    Traceback (most recent call last):
    tacit.errors.ParameterError: the threshold 120 % is no share. Write a share above 0 and up to 100 %, such as 95% or 0.95.
    """  # noqa: E501
    written = text.strip()
    hint = "Write a share above 0 and up to 100 %, such as 95% or 0.95."
    try:
        share = exact(written.removesuffix("%").strip()) / (100 if written.endswith("%") else 1)
    except ValueError:
        raise ParameterError(
            f"the threshold {text!r} is no share.", parameter="threshold", hint=hint
        ) from None
    if not 0 < share <= 1:
        raise ParameterError(f"the threshold {text} is no share.", parameter="threshold", hint=hint)
    return share


def key_columns(table: Table) -> tuple[str, ...]:
    """The columns that tell who somebody is: person, else a key, else the identifiers."""
    return table.person or (table.keys[0] if table.keys else table.identifiers)


def find_target(
    source: MicrodataSource, release: Microdata, question: MicrodataQuestion, text: str
) -> AttackTarget:
    """Look somebody up in the table. The error names columns and counts only."""
    if release.file is not None:
        raise InputError(
            f"--target: {release.name} is a file, in which nobody can be looked up.",
            hint="It needs a release that this plan makes by levels.",
        )
    table, engine = question.table, source.engines[release.name]
    names = key_columns(table)
    if not names:
        raise InputError(
            f"--target: table {table.name} has no person, key or identifiers to look somebody "
            "up by.",
            hint="Name the column under the table: person: [name]",
        )
    wanted = text.split(",") if len(names) > 1 else [text]
    by = f"It is looked up by {listed(names)}" + (
        ", separated by commas." if len(names) > 1 else "."
    )
    missing = InputError(
        f"--target: none of the {people(question.people)} of table {table.name} has this value.",
        hint=by,
    )
    if len(wanted) != len(names):
        raise missing
    types = engine.columns(table.name)
    try:
        values = {
            name: typed(one.strip(), types[name]) for name, one in zip(names, wanted, strict=True)
        }
    except ValueError:
        raise missing from None
    columns = [*question.quasi, *question.sensitive]
    parts = parts_of(table, types)
    stored = unfused(columns, parts)
    query = shapes.matching(
        table.name, stored, values, collations=engine.collations(table.name), limit=ROWS
    )
    rows: dict[int, None] = {}
    for row in engine.rows(query):
        cells = dict(zip(stored, row, strict=True))
        rows |= dict.fromkeys(
            rows_with(question.base, {name: value_in(cells, name, parts) for name in columns})
        )
    if not rows:
        raise missing
    return AttackTarget(values, tuple(rows))


def typed(text: str, kind: str) -> Any:
    """What somebody typed, as a value of a column."""
    if kind == "integer":
        return int(text)
    if kind == "decimal":
        try:
            return Decimal(text)
        except InvalidOperation:
            raise ValueError(text) from None
    if kind == "date":
        return date.fromisoformat(text)
    if kind == "timestamp":
        return datetime.fromisoformat(text)
    if kind == "boolean":
        return (
            {"true": True, "false": False}[text.lower()]
            if text.lower() in ("true", "false")
            else text
        )
    return text


def read_outside(link: Path, question: MicrodataQuestion, engine: Engine) -> OutsideTable:
    """The people of a CSV file outside, with the quasi-identifiers
    that it shares with the release.
    """
    from tacit.engines.duckdb.engine import DuckDB

    if not link.is_file():
        raise InputError(f"--link: there is no file {link}.", hint="Give the path of a CSV file.")
    types = engine.columns(question.table.name)
    name = "outside"
    with DuckDB(folder=Path()) as reader:
        reader.attach(Table(name, file=str(link)))
        header = list(reader.columns(name))
        shared = tuple(one for one in question.quasi if one in header)
        if not shared:
            raise DataError(
                f"--link {link} has none of the quasi-identifiers of table {question.table.name}.",
                hint=(
                    "It needs a first line with one or more of these names: "
                    f"{', '.join(question.quasi)}."
                ),
            )
        again = "outside, typed"
        reader.attach(Table(again, file=str(link), columns={one: types[one] for one in shared}))
        others = identity_columns(question, header, shared)
        rows = list(reader.rows(shapes.columns_of(again, [*shared, *others])))
    return OutsideTable(
        link.name,
        shared,
        tuple((tuple(row[: len(shared)]), named(others, row[len(shared) :])) for row in rows),
    )


def identity_columns(
    question: MicrodataQuestion, header: list[str], shared: tuple[str, ...]
) -> list[str]:
    """The columns of the outside table that say who somebody is:
    those of the plan, else its first other one.
    """
    ours = [one for one in key_columns(question.table) if one in header]
    return ours or [one for one in header if one not in (*shared, *question.sensitive)][:1]


def named(columns: list[str], values: tuple[Any, ...]) -> Mapping[str, Any]:
    """Who somebody is, as far as the outside table says."""
    return {name: value for name, value in zip(columns, values, strict=True) if value is not None}
