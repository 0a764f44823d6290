"""A ledger in memory, for thousands of small plans;
and how entries are made of a plan's releases.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tacit.checking.assess import assess
from tacit.checking.recording.answer_digests import Answers
from tacit.checking.recording.release_identity import definition_of
from tacit.families.family import tables_of
from tacit.ledger.held_releases import Holding
from tacit.ledger.key import Key
from tacit.model.release import Constraint, Synthetic
from tacit.model.verdict import Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Plan
from tacit.plan.read.document import parse
from tacit.plan.read.load import read_plan

KEY = Key(bytes(range(32)))
DAY = datetime(2026, 4, 1, 12, tzinfo=UTC)


class Kept:
    """What a ledger says is held, without a ledger."""

    def __init__(self, holdings: Sequence[Holding]) -> None:
        self.key = KEY
        self.holdings = list(holdings)

    def held(self, tables: Collection[str] | None = None) -> list[Holding]:
        return [
            one
            for one in self.holdings
            if tables is None or not one.tables or set(one.tables) & set(tables)
        ]

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def plan_of(document: Mapping[str, Any], folder: Path = Path()) -> Plan:
    return read_plan(parse(json.dumps(document), "tacit.yaml"), folder)


def out(
    plan: Plan,
    entries: Sequence[tuple[str, Sequence[str]]],
    answers: Mapping[str, str] | None = None,
) -> list[Holding]:
    """Holdings for releases of a plan as they are now."""
    with OpenPlan(plan) as opened:
        today = Answers(opened, KEY)
        return [
            holding(plan, opened, today, name, to, number, answers or {})
            for number, (name, to) in enumerate(entries, 1)
        ]


def holding(
    plan: Plan,
    opened: OpenPlan,
    today: Answers,
    name: str,
    to: Sequence[str],
    number: int,
    answers: Mapping[str, str],
) -> Holding:
    release = plan.releases[name]
    answer = answers.get(name)
    if answer is None and not isinstance(release, Constraint | Synthetic):
        found = today.today(name)
        answer = found.digest if found else None
    return Holding(
        name,
        release.shape,
        tuple(to),
        tables_of(name, opened),
        definition_of(plan, name, KEY),
        answer,
        number,
        DAY,
        None,
        {},
    )


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets a plan's ledger hold some releases."""

    def keep(
        plan: Plan,
        entries: Sequence[tuple[str, Sequence[str]]] = (),
        holdings: Sequence[Holding] | None = None,
    ) -> None:
        found = Kept(out(plan, entries) if holdings is None else holdings)
        monkeypatch.setattr("tacit.checking.holdings.holdings.is_begun", lambda plan: True)
        monkeypatch.setattr(
            "tacit.checking.holdings.holdings.ledger_of", lambda plan, create=False: found
        )
        monkeypatch.setattr(
            "tacit.checking.holdings.holdings.tables_in",
            lambda ledger: {name for one in found.holdings for name in one.tables},
        )

    return keep


@pytest.fixture
def judge(kept: Callable[..., None]) -> Callable[..., tuple[Verdict, ...]]:
    """The verdicts of a plan where the ledger holds some releases."""

    def judged(
        document: Mapping[str, Any],
        entries: Sequence[tuple[str, Sequence[str]]] = (),
        holdings: Sequence[Holding] | None = None,
        folder: Path = Path(),
    ) -> tuple[Verdict, ...]:
        plan = plan_of(document, folder)
        kept(plan, entries, holdings)
        return assess(plan).verdicts

    return judged
