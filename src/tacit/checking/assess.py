"""From a plan to verdicts: open the source, count each table once, ask each definition."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.engines.open import open_engine
from tacit.errors import InputError, PlanError, TacitError, did_you_mean, raise_all
from tacit.families.microdata.definitions.asking import answer_with
from tacit.families.microdata.definitions.microdata import MicrodataDefinition
from tacit.families.microdata.reading.source import Source, nobody
from tacit.families.queries.reading.readings import Readings
from tacit.families.registry import (
    MICRODATA,
    OF_OVERLAPS,
    OF_QUERIES,
    OF_SYNTHETIC,
    OF_WORLDS,
    define,
)
from tacit.model.jobs import Cancelled, Job
from tacit.model.verdict import Audience, Reason, Verdict, subject_text
from tacit.plan.known_tables import KEYS_IGNORED
from tacit.plan.read.load import not_built

if TYPE_CHECKING:
    from tacit.checking.holdings.holdings import Hand, Holdings
    from tacit.engines.base import Engine
    from tacit.families.definition import Definition
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.portrait import Portrait
    from tacit.families.microdata.reading.together import JointQuestions
    from tacit.families.overlaps.memberships import Seats
    from tacit.families.overlaps.question import OverlapQuestion
    from tacit.families.overlaps.reading.questions import OverlapQuestions
    from tacit.families.overlaps.stages import Stages
    from tacit.families.queries.question import QueryQuestion
    from tacit.families.synthetic.reading.questions import SyntheticQuestions
    from tacit.families.worlds.reading.questions import ViewQuestions
    from tacit.plan.plan import Check, Plan

GAMMA = "gamma-privacy"
EXIT_STATUS = {"breached": 1, "undecided": 3}
INTERNAL, WENT_WRONG = "internal", 70


@dataclass(frozen=True, slots=True)
class Assessment:
    """The answers to a plan's checks, in the plan's order, and the questions behind them.

    `portraits` has, by release, what a report draws; it is empty unless it was asked for. So are
    `stages`: by the releases that gamma-privacy judged together, everybody's beliefs after each of
    them; and `seats`: who is in which of the releases that were judged together. `people` says how
    many people of a table were judged by overlapping views. `queries` has what perfect privacy was
    asked about, by the secret and the views: a report draws them.
    """

    plan: str
    verdicts: tuple[Verdict, ...]
    questions: Mapping[str, MicrodataQuestion] = field(default_factory=dict)
    seconds: float = 0.0
    portraits: Mapping[str, Portrait] = field(default_factory=dict)
    stages: Mapping[str, Stages] = field(default_factory=dict)
    people: Mapping[str, int] = field(default_factory=dict)
    seats: Mapping[str, Seats] = field(default_factory=dict)
    queries: Mapping[tuple[str, ...], QueryQuestion] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """0 all hold, 1 some check is breached, 3 nothing breached but something undecided;
        70 before them, where Tacit itself went wrong.
        """
        if any(
            verdict.reason is not None and verdict.reason.code == INTERNAL
            for verdict in self.verdicts
        ):
            return WENT_WRONG
        found = {verdict.status for verdict in self.verdicts}
        return next((EXIT_STATUS[status] for status in EXIT_STATUS if status in found), 0)

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit check --json` prints."""
        return {
            "plan": self.plan,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
        }

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
    plan: Plan,
    *,
    only: Sequence[str] = (),
    job: Job | None = None,
    portraits: bool = False,
    stages: bool = False,
    new_answers: Mapping[str, str] | None = None,
) -> Assessment:
    """Answer the checks of a plan.

    `only` picks checks by name, kind or release; `portraits` also computes what a report draws,
    `stages` only what the terminal tells of a breach: beliefs release by release, where they are
    quick to count. `new_answers` are keyed hashes of what is about to go out, for the ledger.
    Raises TacitError where the input is wrong.
    """
    begun = time.perf_counter()
    job = job or Job()
    checks = selected(plan, only)
    raise_all(not_built(plan, checks))
    with Desk(plan, job, new_answers) as desk:
        verdicts = []
        for number, check in enumerate(checks):
            job.step(f"{check.kind} of {', '.join(check.releases)}", number / len(checks))
            verdicts.append(answer(check, desk))
        pictures = draw(desk.asked, verdicts, job) if portraits else {}
        followed = (
            follow(desk.overlapping, verdicts, job, everything=portraits)
            if portraits or stages
            else {}
        )
        seated = seat(desk.overlapping) if portraits else {}
        job.step("done", 1.0)
        # Witnesses and examples were looked up while the engine was open; nobody is from here on.
        questions = {name: replace(question, find=nobody) for name, question in desk.asked.items()}
    seconds = time.perf_counter() - begun
    return Assessment(
        plan.file,
        tuple(verdicts),
        questions,
        seconds,
        pictures,
        followed,
        judged(desk.overlapping),
        seated,
        desk.queries,
    )


def draw(
    questions: Mapping[str, MicrodataQuestion], verdicts: Sequence[Verdict], job: Job
) -> dict[str, Portrait]:
    """What a report shows of the releases: their groups, and who is exposed."""
    from tacit.families.microdata.portrait import portraits

    job.step("looking for who is exposed", 1.0)
    return portraits(questions, verdicts)


def follow(
    questions: Mapping[tuple[str, str], OverlapQuestion],
    verdicts: Sequence[Verdict],
    job: Job,
    *,
    everything: bool,
) -> dict[str, Stages]:
    """Everybody's beliefs release by release, where gamma-privacy was asked;
    not `everything`: where it is breached, and quickly.
    """
    from tacit.families.overlaps.stages import BRIEFLY, SECONDS, stages

    breached = {
        subject_text(verdict.subject)
        for verdict in verdicts
        if verdict.check == GAMMA and verdict.status == "breached"
    }
    return {
        name: stages(question, job, seconds=SECONDS if everything else BRIEFLY)
        for (kind, name), question in questions.items()
        if kind == GAMMA and (everything or name in breached)
    }


def seat(questions: Mapping[tuple[str, str], OverlapQuestion]) -> dict[str, Seats]:
    """Who is in which of the releases that were judged together;
    of those whom some release could show, where gamma-privacy was asked.
    """
    from tacit.families.overlaps.memberships import seats

    gamma_last = sorted(questions.items(), key=lambda one: one[0][0] == GAMMA)
    return {name: seats(question) for (_, name), question in gamma_last}


def judged(questions: Mapping[tuple[str, str], OverlapQuestion]) -> dict[str, int]:
    """How many people of each table were judged by overlapping views."""
    found: dict[str, int] = {}
    for question in questions.values():
        found[question.table] = max(found.get(question.table, 0), question.overlap.people)
    return found


def selected(plan: Plan, only: Sequence[str]) -> list[Check]:
    """The checks to answer: all, or those of a name, kind or release."""
    names = {
        word for check in plan.checks for word in (check.name, check.kind, *check.releases) if word
    }
    for word in only:
        if word not in names:
            raise PlanError(
                f"--only {word}: the plan has no such check or release.",
                hint=did_you_mean(word, names),
            )
    return [
        check
        for check in plan.checks
        if not only or {check.name, check.kind, *check.releases} & set(only)
    ]


class Desk:
    """Where a plan's checks are answered. The source is opened when the first of them needs it:
    some need no data.
    """

    def __init__(
        self, plan: Plan, job: Job | None = None, new_answers: Mapping[str, str] | None = None
    ) -> None:
        self.plan = plan
        self.job = job or Job()
        self.new_answers = new_answers or {}  # keyed hashes of what is about to go out, by release
        self.overlapping: dict[tuple[str, str], OverlapQuestion] = {}  # by check and releases
        self.queries: dict[tuple[str, ...], QueryQuestion] = {}  # by secret and views
        self._source: Source | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def engine(self) -> Engine:
        """Where the rows live."""
        return self._stack.enter_context(open_engine(self.plan.source, self.plan.folder))

    @property
    def source(self) -> Source:
        """The plan's tables, counted."""
        if self._source is None:
            self._source = Source(self.plan, self.engine)
        return self._source

    @property
    def asked(self) -> Mapping[str, MicrodataQuestion]:
        """The questions about microdata so far; none, with no source opened, where no check had."""
        return {} if self._source is None else self._source.questions

    @cached_property
    def readings(self) -> Readings:
        """The plan's queries, read."""
        return Readings(self.plan, lambda: self.engine)

    def question(self, check: Check) -> Any:
        """The question that a check asks about some views."""
        if check.kind in OF_WORLDS:
            from tacit.checking.asking import all_cases

            return all_cases(check, self.holdings, self)
        if check.kind in OF_OVERLAPS:
            question = self.overlapping[check.kind, ", ".join(check.releases)] = (
                self.overlaps.question(check)
            )
            return question
        if check.kind in OF_SYNTHETIC:
            return self.synthetic.question(check)
        return self.readings.question(check)

    @cached_property
    def overlaps(self) -> OverlapQuestions:
        """The plan's questions about several views of one table."""
        from tacit.families.overlaps.reading.questions import OverlapQuestions

        return OverlapQuestions(self.plan, self.readings, lambda: self.engine, self.job)

    @cached_property
    def together(self) -> JointQuestions:
        """The plan's questions about several microdata releases of one table."""
        from tacit.families.microdata.reading.together import JointQuestions

        return JointQuestions(self.source, self.job)

    @cached_property
    def synthetic(self) -> SyntheticQuestions:
        """The plan's questions about synthetic releases, and what they are made of."""
        from tacit.families.synthetic.reading.questions import SyntheticQuestions

        return SyntheticQuestions(self.plan, self.engine, self.job)

    @cached_property
    def holdings(self) -> Holdings:
        """What is out by the ledger, and who has it."""
        from tacit.checking.holdings.holdings import Holdings

        found = Holdings(self, self.new_answers)
        self._stack.callback(found.close)
        return found

    @cached_property
    def views(self) -> ViewQuestions:
        """The plan's questions about view safety."""
        from tacit.families.worlds.reading.questions import ViewQuestions

        return ViewQuestions(self.plan, self.readings, lambda: self.engine)


def answer(check: Check, desk: Desk) -> Verdict:
    """Ask the definition that a check names about the release, or the queries, that it names, and
    about all that is out beside it.

    A mistake of ours takes no other check with it: this one is undecided then.
    """
    begun = time.perf_counter()
    definition = define(check.kind, check.parameters)
    try:
        verdict = (
            with_holdings(check, definition, desk)
            if desk.holdings.has_beside(check)
            else by_itself(check, definition, desk)
        )
        verdict = with_left_out(check, verdict, desk)
    except Exception as error:
        if not is_mistake(error) or os.environ.get("TACIT_DEBUG"):
            raise
        verdict = went_wrong(check, definition, error)
    ignored = (KEYS_IGNORED,) if desk.plan.source_keys == "ignore" else ()
    return replace(
        verdict,
        name=check.name,
        assumptions=(*verdict.assumptions, *ignored),
        seconds=time.perf_counter() - begun,
    )


def is_mistake(error: Exception) -> bool:
    """Is an error a mistake of ours, and not wrong input, a full
    disk, or somebody who wants to stop?
    """
    stopped = isinstance(error, RuntimeError) and "interrupted" in str(
        error
    )  # as DuckDB says it of Ctrl-C
    return not stopped and not isinstance(error, TacitError | Cancelled | OSError)


def went_wrong(check: Check, definition: Definition, error: Exception) -> Verdict:
    """What a check comes to where Tacit itself went wrong.
    The error's own words are left out: they may hold values of people.
    """
    named: dict[str, Any] = (
        {"release": check.releases[0]}
        if len(check.releases) == 1
        else {"releases": list(check.releases)}
    )
    text = (
        f"Tacit itself went wrong: {type(error).__name__}. Please report it; TACIT_DEBUG=1 "
        "shows where."
    )
    return Verdict(
        check=check.kind,
        label=definition.label,
        subject={**({"secret": check.secret} if check.secret else {}), **named},
        status="undecided",
        because="Tacit itself went wrong",
        evidence=Reason(INTERNAL, text),
        protects=definition.place.protects,
        against=definition.place.against,
        measure=definition.place.measured,
    )


def with_left_out(check: Check, verdict: Verdict, desk: Desk) -> Verdict:
    """The verdict, which says what is out and is left out by `given` of its check."""
    if check.given is None:
        return verdict
    from tacit.checking.judging import with_left_out as noted

    return noted(check, verdict, desk.holdings)


def by_itself(check: Check, definition: Definition, desk: Desk) -> Verdict:
    """The verdict on what a check names."""
    if check.kind in MICRODATA:
        mark = desk.plan.mark(*check.path)
        question = desk.source.question(check.releases[0])
        return answer_with(
            definition.with_files(desk.source.lines), question, check.sensitive, mark
        )
    return judged_by(check, definition, desk.question(check), desk)


def with_names(check: Check, definition: Definition, names: Sequence[str], desk: Desk) -> Verdict:
    """The verdict of a definition of microdata on the release that a check names, for who has
    some others of the same table too.
    """
    if not names:
        return by_itself(check, definition, desk)
    from tacit.families.microdata.definitions.together.judging import answer_together

    assert isinstance(definition, MicrodataDefinition)
    joint = desk.together.question((*names, *check.releases))
    return answer_together(
        definition.with_files(desk.source.lines),
        joint,
        check.sensitive,
        desk.plan.mark(*check.path),
    )


def judged_by(check: Check, definition: Definition, question: Any, desk: Desk) -> Verdict:
    """The verdict on a question about queries, views or mechanisms; errors point at the check."""
    if check.kind in OF_QUERIES:
        desk.queries[question.secret.name, *(one.name for one in question.views)] = question
    try:
        return definition.check(question)
    except InputError as error:
        raise error.at(desk.plan.mark(*check.path)) from None


def with_holdings(check: Check, definition: Definition, desk: Desk) -> Verdict:
    """The verdict for everybody who gets what a check names, together with what they hold;
    the worst one counts.
    """
    from tacit.checking.asking import question_for
    from tacit.checking.judging import judged

    asked: dict[tuple[str, ...], OverlapQuestion] = {}

    def ask(check: Check, hand: Hand) -> Verdict:
        if check.kind in MICRODATA:
            return with_names(check, definition, hand.names, desk)
        question = question_for(check, hand, desk)
        if check.kind in OF_OVERLAPS:
            asked[*hand.names, *hand.new] = question
        return judged_by(check, definition, question, desk)

    verdict, hand = judged(check, definition, desk.holdings, ask)
    if (decided := asked.get((*hand.names, *hand.new))) is not None:
        desk.overlapping[check.kind, ", ".join(check.releases)] = decided
    return verdict
