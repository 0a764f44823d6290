"""From a plan to verdicts: open the source, count each table once, ask each definition."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from tacit.checking.holdings.holdings import Holdings
from tacit.checking.publications import is_alone
from tacit.checking.verdicts import ask, with_left_out, worst_verdict
from tacit.checking.waivers import with_waiver
from tacit.errors import MissingExtra, PlanError, TacitError, did_you_mean
from tacit.families.catalog import FAMILIES, FAMILY_OF, define
from tacit.families.family import Answered, Family, Q, Question, family_of
from tacit.model.deadline import until
from tacit.model.holdings import Adversary, Hand
from tacit.model.jobs import Cancelled, Job
from tacit.model.pictures import gauges_chart
from tacit.model.verdict import (
    INTERNAL,
    Audience,
    Reason,
    Verdict,
    Waiver,
    raise_unless_held,
    subject_text,
)
from tacit.plan.known_tables import KEYS_IGNORED
from tacit.plan.open_plan import OpenPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.families.definition import Definition
    from tacit.families.family import Depth
    from tacit.plan.plan import Check, Plan

EXIT_STATUS = {"breached": 1, "undecided": 3}
WENT_WRONG = 70


@dataclass(frozen=True, slots=True, repr=False)
class Assessment:
    """The answers to a plan's checks, in the plan's order, each with the question behind it."""

    plan: str
    answered: tuple[Answered[Question], ...]
    seconds: float = 0.0

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts, in the plan's order."""
        return tuple(one.verdict for one in self.answered)

    @property
    def questions(self) -> dict[str, Question]:
        """The questions behind the answers, by what they are about."""
        return {
            subject_text(one.verdict.subject): one.question
            for one in self.answered
            if one.question is not None
        }

    def looked_at(self) -> list[str]:
        """The tables that were looked at, each in a line: where several checks looked at one, what
        the one says that saw the most of it.
        """
        found: dict[str, tuple[int, str]] = {}
        asked = [one for one in self.answered if one.question is not None]
        for family, some in by_family(asked):
            for one in some:
                for table, (many, line) in family.looked_at(one.question).items():
                    if table not in found or many > found[table][0]:
                        found[table] = many, line
        return [line for _, line in found.values()]

    @property
    def exit_status(self) -> int:
        """0 all hold, 1 some check is breached, 3 nothing breached but something undecided;
        70 before them, where Tacit itself went wrong. What is waived does not count.
        """
        if any(
            verdict.reason is not None and verdict.reason.code == INTERNAL
            for verdict in self.verdicts
        ):
            return WENT_WRONG
        found = {verdict.status for verdict in self.verdicts if verdict.fails}
        return next((EXIT_STATUS[status] for status in EXIT_STATUS if status in found), 0)

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit check --json` prints."""
        return {
            "plan": self.plan,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
        }

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each verdict; it names nobody."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", extra="client", purpose="data frames") from None
        return pandas.DataFrame(
            [
                {
                    "check": verdict.check,
                    "name": verdict.name,
                    "subject": subject_text(verdict.subject),
                    "asked": verdict.label,
                    "status": verdict.status,
                    "certainty": verdict.certainty,
                    "measured": dict(verdict.measured),
                    "required": dict(verdict.required),
                    "because": verdict.because,
                    "waived": str(verdict.waived or ""),
                }
                for verdict in self.verdicts
            ]
        )

    def raise_for_status(self) -> None:
        """Raise NotMet unless all checks hold or are waived; what is undecided does not hold."""
        raise_unless_held(self.verdicts)

    def plot(self) -> Any:
        """What was measured beside what was required, as an Altair chart (the extra `notebook`)."""
        several = len({subject_text(one.subject) for one in self}) > 1
        return gauges_chart(
            [
                replace(one, label=f"{subject_text(verdict.subject)}: {one.label}")
                if several
                else one
                for verdict in self
                for one in verdict.gauges()
            ],
            self.plan,
        )

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.answered)

    def __getitem__(self, key: int | str) -> Verdict:
        """A verdict by its place, or by the name of its check."""
        if isinstance(key, int):
            return self.answered[key].verdict
        found = [verdict for verdict in self.verdicts if verdict.name == key]
        if not found:
            names = [verdict.name for verdict in self.verdicts if verdict.name]
            raise KeyError(f"no check is named {key!r}. {did_you_mean(key, names)}".strip())
        return found[0]

    def __repr__(self) -> str:
        found = ", ".join(f"{one.label} {one.status}" for one in self)
        return f"<Assessment of {self.plan}: {found}>"

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
    depth: Depth | None = None,
    new_answers: Mapping[str, str] | None = None,
    today: date | None = None,
) -> Assessment:
    """Answer the checks of a plan as of `today` (default: in UTC), and say which of them it waives.

    `only` picks checks by name, kind or release. `depth` also computes what a "page" draws, or
    only what the "terminal" tells of a breach, where that is quick. `new_answers` are keyed hashes
    of what is about to go out, for the ledger. Raises TacitError where the input is wrong.
    """
    job = job or Job()
    with until(job=job), OpenPlan(plan, job, today) as opened:
        found = assess_open(opened, selected(plan, only), Holdings(opened, new_answers), depth)
    return with_waivers(found, plan.waive, opened.today)


def assess_open(
    opened: OpenPlan, checks: Sequence[Check], holdings: Holdings, depth: Depth | None = None
) -> Assessment:
    """Answer checks of a plan that is open."""
    begun, job = time.perf_counter(), opened.job
    answered = []
    for number, check in enumerate(checks):
        job.step(f"{check.kind} of {', '.join(check.releases)}", number / len(checks))
        answered.append(answer(check, opened, holdings))
    if depth is not None:
        answered = pictured(answered, job, depth)
    job.step("done", 1.0)
    seconds = time.perf_counter() - begun
    # Witnesses and examples were looked up while the engine was open; nobody is from here on.
    return Assessment(opened.plan.file, tuple(map(closed, answered)), seconds)


def with_waivers(found: Assessment, waivers: Sequence[Waiver], today: date) -> Assessment:
    """The same answers, with the word that accepts those which do not hold."""
    by_name = {one.check: one for one in waivers}
    answered = tuple(
        replace(one, verdict=with_waiver(one.verdict, by_name[one.verdict.name], today))
        if one.verdict.name in by_name
        else one
        for one in found.answered
    )
    return replace(found, answered=answered)


def pictured(
    answered: Sequence[Answered[Question]], job: Job, depth: Depth
) -> list[Answered[Question]]:
    """The same answers with what is drawn of them; each family draws all of its own at once."""
    found = {
        id(before): after
        for family, some in by_family(answered)
        for before, after in zip(some, family.pictured(some, job, depth), strict=True)
    }
    return [found[id(one)] for one in answered]


def by_family(
    answered: Sequence[Answered[Question]],
) -> list[tuple[Family[Any], list[Answered[Question]]]]:
    """Answers by their kind of release, in the order of the docs."""
    return [
        (some[0].family, some)
        for name in FAMILIES
        if (some := [one for one in answered if FAMILY_OF[one.check.kind] == name])
    ]


def closed(answered: Answered[Question]) -> Answered[Question]:
    """The same, of a source that is closed."""
    question = answered.question
    return answered if question is None else replace(answered, question=question.closed())


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


def answer(check: Check, opened: OpenPlan, holdings: Holdings) -> Answered[Question]:
    """Ask the definition that a check names about the releases that it names, and about all that
    is published beside them.

    A mistake of ours takes no other check with it: this one is undecided then.
    """
    begun = time.perf_counter()
    definition = define(check.kind, check.parameters)
    try:
        found = (
            worst_verdict(check, definition, holdings)
            if not is_alone(check, opened.plan) and holdings.has_beside(check)
            else by_itself(check, definition, opened, holdings)
        )
        verdict = found.verdict
        if not is_alone(check, opened.plan):
            verdict = with_left_out(check, verdict, holdings)
    except Exception as error:
        if not is_mistake(error) or os.environ.get("TACIT_DEBUG"):
            raise
        verdict = went_wrong(check, definition, error)
        found = Answered(check, verdict)
    ignored = (KEYS_IGNORED,) if opened.plan.source_keys == "ignore" else ()
    told = replace(
        verdict,
        name=check.name,
        assumptions=(*verdict.assumptions, *ignored),
        seconds=time.perf_counter() - begun,
    )
    return replace(found, verdict=told)


def by_itself(
    check: Check, definition: Definition, opened: OpenPlan, holdings: Holdings
) -> Answered[Question]:
    """The answer about what a check names, beside which nothing is published that is not in its
    question.
    """
    question = question_alone(family_of(check.kind), check, opened, holdings)
    return ask(check, definition, question, opened)


def question_alone(family: Family[Q], check: Check, opened: OpenPlan, holdings: Holdings) -> Q:
    """The question about what a check names, for everybody."""
    hands = (
        holdings.hands(check)
        if family.has_all_adversaries
        else [Hand(Adversary((), (), check.releases))]
    )
    return family.question_for_all(check, hands, opened)


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
