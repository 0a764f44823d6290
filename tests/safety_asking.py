"""Asking Tacit about cases of view safety that the oracle has judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from oracles import safety
from oracles.safety_cases import Case
from tacit.checking.assess import assess
from tacit.errors import QueryError
from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Query, Relation
from tacit.families.queries.read import read
from tacit.families.worlds.definitions.e_safety import ESafety
from tacit.families.worlds.definitions.g_safety import GSafety
from tacit.families.worlds.question import SafetyCase, SafetyQuestion
from tacit.families.worlds.world_setting import PublishedView, WorldSetting
from tacit.families.worlds.worlds import answer as answer_of
from tacit.model.verdict import Verdict
from tacit.plan.read.load import load_plan


def asked(plan: dict[str, Any], folder: Path) -> tuple[Verdict, ...]:
    """The verdicts of a plan."""
    file = folder / "tacit.yaml"
    file.write_text(yaml.safe_dump(plan, sort_keys=False), "utf-8")
    return assess(load_plan(file)).verdicts


def judged(
    case: Case, folder: Path, over: str = "instance", domains: bool = True
) -> tuple[Verdict, Verdict] | None:
    """The verdicts on g-safety and e-safety;
    None where text meets numbers, which a plan refuses to compare.
    """
    try:
        one, two = asked(case.to_plan(over, domains), folder)
    except QueryError as error:
        assert error.code == "type-clash" or (error.code in ("endless", "types") and not domains), (
            error
        )
        return None
    return one, two


def judged_directly(case: Case) -> tuple[Verdict, Verdict] | None:
    """The same without a plan, which takes longer to read than to answer."""
    relations = {
        name: Relation(
            name,
            tuple(column for column, _ in columns),
            domains=dict(columns),
            kinds=kinds_of(columns),
        )
        for name, columns in case.schema.items()
    }
    try:
        known = tuple(one for text in case.constraints for one in read_constraint(text, relations))
        published = tuple(
            queried(text, f"out{at}", relations) for at, text in enumerate(case.views, 1)
        )
        new = [(f"new{at}", kind, text) for at, (kind, text) in enumerate(case.new, 1)]
        views = tuple(queried(text, name, relations) for name, kind, text in new if kind == "view")
        told = tuple(
            one
            for _, kind, text in new
            if kind == "constraint"
            for one in read_constraint(text, relations)
        )
        secret = queried(case.secret, "hidden", relations)
    except QueryError as error:
        assert error.code == "type-clash", error
        return None
    instance = frozenset(Fact(name, row) for name, row in case.instance)
    setting = WorldSetting(relations, known, (), (), secret, told, instance, also=tuple(relations))
    seen = tuple(PublishedView(one, answer_of(one, setting)) for one in published)
    shown = tuple(PublishedView(one, answer_of(one, setting)) for one in views)
    names = tuple(name for name, _, _ in new)
    one_case = SafetyCase(replace(setting, published=seen, new=shown), new=names)
    question = SafetyQuestion("hidden", names, (), (one_case,))
    return GSafety().check(question), ESafety().check(question)


def queried(text: str, name: str, relations: dict[str, Relation]) -> Query:
    found = read(text, relations, name=name).exact
    assert found is not None
    return found


def kinds_of(columns: Sequence[tuple[str, tuple[Any, ...]]]) -> dict[str, str]:
    return {
        name: "integer" if all(isinstance(value, int) for value in values) else "text"
        for name, values in columns
    }


def status(holds: bool) -> str:
    return "holds" if holds else "breached"


def instance_of(facts: Sequence[dict[str, Any]]) -> safety.Instance:
    """Rows as a verdict has them, as the oracle has them."""
    return frozenset((fact["relation"], tuple(fact["values"])) for fact in facts)


def look_alike(case: Case, one: safety.Instance, two: safety.Instance) -> bool:
    """Do two databases give the published views the same answers?"""
    return all(answer(text, one) == answer(text, two) for text in case.views)


def answer(text: str, instance: safety.Instance) -> safety.Answer:
    return safety.answer(safety.read_query(text), instance)


def is_lawful(case: Case, instance: safety.Instance) -> bool:
    return all(
        safety.satisfies(safety.read_constraint(text), instance) for text in case.constraints
    )


def differs(case: Case, one: safety.Instance, two: safety.Instance) -> bool:
    """Does the new information tell the second from the first?"""
    for kind, text in case.new:
        if kind == "view" and answer(text, one) != answer(text, two):
            return True
        if kind == "constraint" and not safety.satisfies(safety.read_constraint(text), two):
            return True
    return False
