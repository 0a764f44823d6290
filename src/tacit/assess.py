"""From a plan to verdicts: open the source, count each table once, ask each definition."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.definitions.asking import answer_with
from tacit.definitions.registry import MICRODATA, OF_WORLDS, define
from tacit.engines.open import open_engine
from tacit.errors import InputError, PlanError, did_you_mean, raise_all
from tacit.jobs import Job
from tacit.model.verdict import Audience, Verdict
from tacit.plan.load import not_built
from tacit.readings import Readings
from tacit.source import Source, nobody

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.plan.plan import Check, Plan
    from tacit.tables.microdata import MicrodataQuestion
    from tacit.tables.portrait import Portrait
    from tacit.view_questions import ViewQuestions

EXIT_STATUS = {"breached": 1, "undecided": 3}


@dataclass(frozen=True, slots=True)
class Assessment:
    """The answers to a plan's checks, in the plan's order, and the questions behind them.

    `portraits` has, by release, what a report draws; it is empty unless it was asked for.
    """

    plan: str
    verdicts: tuple[Verdict, ...]
    questions: Mapping[str, MicrodataQuestion] = field(default_factory=dict)
    seconds: float = 0.0
    portraits: Mapping[str, Portrait] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """0 all hold, 1 some check is breached, 3 nothing breached but something undecided."""
        found = {verdict.status for verdict in self.verdicts}
        return next((EXIT_STATUS[status] for status in EXIT_STATUS if status in found), 0)

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit check --json` prints."""
        return {"plan": self.plan, "verdicts": [verdict.to_json(audience) for verdict in self.verdicts]}

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def __getitem__(self, key: int | str) -> Verdict:
        """A verdict by its place, or by the name of its check."""
        if isinstance(key, int):
            return self.verdicts[key]
        found = [verdict for verdict in self.verdicts if verdict.name == key]
        if not found:
            names = [verdict.name for verdict in self.verdicts if verdict.name]
            raise KeyError(f"no check is named {key!r}. {did_you_mean(key, names)}".strip())
        return found[0]

    def __str__(self) -> str:
        return "\n".join(str(verdict) for verdict in self.verdicts)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return "".join(verdict._repr_html_() for verdict in self.verdicts)


def assess(
    plan: Plan, *, only: Sequence[str] = (), job: Job | None = None, portraits: bool = False
) -> Assessment:
    """Answer the checks of a plan.

    `only` picks checks by name, kind or release; `portraits` also computes what a report draws. Raises TacitError where the input is wrong.
    """
    begun = time.perf_counter()
    job = job or Job()
    checks = selected(plan, only)
    raise_all(not_built(plan, checks))
    with Desk(plan) as desk:
        verdicts = []
        for number, check in enumerate(checks):
            job.step(f"{check.kind} of {', '.join(check.releases)}", number / len(checks))
            verdicts.append(answer(check, desk))
        asked = desk.source.questions if "source" in vars(desk) else {}
        pictures = draw(asked, verdicts, job) if portraits else {}
        job.step("done", 1.0)
        # Witnesses and examples were looked up while the engine was open; nobody is from here on.
        questions = {name: replace(question, find=nobody) for name, question in asked.items()}
    return Assessment(plan.file, tuple(verdicts), questions, time.perf_counter() - begun, pictures)


def draw(questions: Mapping[str, MicrodataQuestion], verdicts: Sequence[Verdict], job: Job) -> dict[str, Portrait]:
    """What a report shows of the releases: their groups, and who is exposed."""
    from tacit.tables.portrait import portraits

    job.step("looking for who is exposed", 1.0)
    return portraits(questions, verdicts)


def selected(plan: Plan, only: Sequence[str]) -> list[Check]:
    """The checks to answer: all, or those of a name, kind or release."""
    names = {word for check in plan.checks for word in (check.name, check.kind, *check.releases) if word}
    for word in only:
        if word not in names:
            raise PlanError(f"--only {word}: the plan has no such check or release.", hint=did_you_mean(word, names))
    return [
        check for check in plan.checks if not only or {check.name, check.kind, *check.releases} & set(only)
    ]


class Desk:
    """Where a plan's checks are answered. The source is opened when the first of them needs it: some need no data."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._stack = ExitStack()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def engine(self) -> Engine:
        """Where the rows live."""
        return self._stack.enter_context(open_engine(self.plan.source, self.plan.folder))

    @cached_property
    def source(self) -> Source:
        """The plan's tables, counted."""
        return Source(self.plan, self.engine)

    @cached_property
    def readings(self) -> Readings:
        """The plan's queries, read."""
        return Readings(self.plan, lambda: self.engine)


    def question(self, check: Check) -> Any:
        """The question that a check asks about a secret and some views."""
        return self.views.question(check) if check.kind in OF_WORLDS else self.readings.question(check)

    @cached_property
    def views(self) -> ViewQuestions:
        """The plan's questions about view safety."""
        from tacit.view_questions import ViewQuestions

        return ViewQuestions(self.plan, self.readings, lambda: self.engine)


def answer(check: Check, desk: Desk) -> Verdict:
    """Ask the definition that a check names about the release, or the queries, that it names."""
    begun = time.perf_counter()
    definition = define(check.kind, check.parameters)
    if check.kind in MICRODATA:
        mark = desk.plan.mark(*check.path)
        question = desk.source.question(check.releases[0])
        verdict = answer_with(definition.with_files(desk.source.lines), question, check.sensitive, mark)
    else:
        question = desk.question(check)
        try:
            verdict = definition.check(question)
        except InputError as error:
            raise error.at(desk.plan.mark(*check.path)) from None
    return replace(verdict, name=check.name, seconds=time.perf_counter() - begun)
