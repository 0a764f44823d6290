"""gamma-privacy: in at most a share gamma of the tables that fit all views does a person have a
value. (Zhang et al., Definition 2)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np

from tacit.errors import ParameterError
from tacit.families.definition import MISSING_UNKNOWN, DefinitionFacts, check_seconds
from tacit.families.microdata.hierarchy import value_text
from tacit.families.overlaps.counting.average_beliefs import Beliefs, beliefs, counted, least_cost
from tacit.families.overlaps.counting.expectations import MOST_STEPS, Expected
from tacit.families.overlaps.counting.linear import by_sums
from tacit.families.overlaps.definitions.overlap_definition import (
    MOST_NAMED,
    SECONDS,
    OverlapDefinition,
    described,
    has,
    having,
    keys,
    no_table,
    person,
    person_label,
    shared_tables,
    views,
)
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.sampling.certificates import forecast, statistical
from tacit.families.overlaps.sampling.column_states import CannotSample
from tacit.families.overlaps.system import NoTable, System
from tacit.families.words import listed, people
from tacit.model.deadline import Deadline, OutOfTime, until
from tacit.model.numbers import exact, plain
from tacit.model.text import folded
from tacit.model.verdict import Assumption, Certificate, Reason, Verdict, Witness

UNIFORM = Assumption("uniform-worlds", "all fitting tables are equally likely", "cannot")
DRAWN = Assumption(
    "random-numbers",
    "the random numbers that tables were drawn with are as good as independent ones",
    "cannot",
)
BOUNDING = 5.0  # seconds for the bounds that follow from the sums of a part
DIGITS = 12  # of a belief that is known between bounds


@dataclass(frozen=True, slots=True)
class ClassBelief:
    """How much is believed, at least and at most, that a person of a class has a value, however
    it is written.
    """

    class_: int
    value: int
    low: Fraction
    high: Fraction

    def least(self) -> Fraction | Decimal:
        """At least so much: as it is, or rounded down where it is known between bounds."""
        return self.low if self.low == self.high else rounded(self.low, ROUND_FLOOR)

    def most(self) -> Fraction | Decimal:
        """At most so much."""
        return self.high if self.low == self.high else rounded(self.high, ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class GammaPrivacy(OverlapDefinition):
    """Nobody has any value in more than a share gamma of the tables that fit all the views.

    People whom no view could show are left out. Where the tables cannot be counted, `epsilon` and
    `theta` allow a statistical answer: then "holds" means that every belief is at most gamma +
    epsilon, with confidence theta. `seconds` is for counting and drawing together; with `epsilon`,
    counting has half of it, and drawing all that is left.

    >>> GammaPrivacy(gamma="1/2").label
    '0.5-privacy'
    >>> GammaPrivacy(gamma=2)
    Traceback (most recent call last):
    tacit.errors.ParameterError: gamma is 2. Use a share above 0 and at most 1, for example 0.5.
    """

    gamma: Any
    epsilon: Any = None
    theta: Any = None
    seconds: Any = SECONDS

    check_name: ClassVar[str] = "gamma-privacy"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's sensitive value",
        against=(
            "who sees all the views, knows everybody's public columns, and thinks all fitting "
            "tables equally likely"
        ),
        measured="the share of fitting tables in which a person has a value",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", share("gamma", self.gamma))
        if (self.epsilon is None) != (self.theta is None):
            raise ParameterError(
                "epsilon and theta belong together.",
                parameter="epsilon",
                hint="Use for example epsilon: 0.02, theta: 0.95.",
            )
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", share("epsilon", self.epsilon, "0.02"))
            object.__setattr__(self, "theta", share("theta", self.theta, "0.95"))
            if self.epsilon == 1:
                raise ParameterError(
                    "epsilon is 1, and every belief is at most that.",
                    parameter="epsilon",
                    hint="Use for example 0.02.",
                )
            if self.theta == 1:
                raise ParameterError(
                    "no sample gives a confidence of 1.",
                    parameter="theta",
                    hint="Use for example 0.95.",
                )
        check_seconds(self.seconds)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{plain(self.gamma)}-privacy"

    def check(self, question: OverlapQuestion, *, sensitive: str | None = None) -> Verdict:
        """Count the tables that fit, and look for the largest belief."""
        base = Verdict(
            check=self.check_name,
            label=self.label,
            status="holds",
            because="",
            evidence=Certificate("beliefs"),
            measure=f"the share of fitting tables in which a person {having(question)}",
            required={
                "gamma": self.gamma,
                **({"epsilon": self.epsilon, "theta": self.theta} if self.epsilon else {}),
            },
            assumptions=(
                UNIFORM,
                *((MISSING_UNKNOWN,) if None in question.overlap.values else ()),
                *question.assumptions,
            ),
            **described(question),
        )
        if not question.overlap.people:
            return replace(
                base, because="the views show nobody", measured={"gamma": Fraction(0)}, vacuous=True
            )
        deadline = Deadline(self.seconds)
        counting = deadline if self.epsilon is None else Deadline(self.seconds / 2)
        try:
            with until(counting):
                found = self._sharpened(beliefs(question.overlap, question.job), question)
            return self._verdict(base, question, found, deadline)
        except NoTable:
            raise no_table(question) from None
        except OutOfTime:
            return unsettled(
                base,
                "time",
                f"The time was up while the {len(question.overlap.sizes):,} kinds of people were "
                f"compared. {self._more_time()}",
            )

    def _verdict(
        self, base: Verdict, question: OverlapQuestion, found: Beliefs, deadline: Deadline
    ) -> Verdict:
        bounded = found if found.is_complete else self._by_sums(found, deadline)
        every = list(believed(bounded, question.meanings))
        worst = max(every, key=lambda one: (one.low, -one.class_), default=None)
        if worst is not None and worst.low > self.gamma:
            return breached(
                base, question, found, [one for one in every if one.low > self.gamma], self.gamma
            )
        greatest = max(every, key=lambda one: one.high)
        if greatest.high > self.gamma and not found.is_complete:
            return self._sampled(base, question, found, deadline)
        if greatest.high > self.gamma:
            if found.is_late:
                between = f"between {float(greatest.low):.15g} and {float(greatest.high):.15g}"
                return unsettled(
                    base,
                    "time",
                    f"The largest belief is {between}, and the time was up before integers told on "
                    f"which side of {plain(self.gamma)}. {self._more_time()}",
                )
            text = (
                f"The largest belief is between {float(greatest.low):.15g} and "
                f"{float(greatest.high):.15g}, too close to {plain(self.gamma)} for floats, "
                "and too large for integers. Ask for a slightly larger gamma."
            )
            return unsettled(base, "too-close", text)
        return holding_verdict(base, question, found, greatest)

    def _by_sums(self, found: Beliefs, deadline: Deadline) -> Beliefs:
        """The same with what the sums say alone of the parts that could not be counted: in every
        table, and so on average, a cell has so many people at least and at most.
        """
        sizes = np.repeat(found.system.overlap.sizes, len(found.system.overlap.values))
        bounds = list(found.found)
        for number, part in enumerate(found.system.parts):
            if bounds[number] is None:
                high = part.high
                try:
                    with until(deadline), until(BOUNDING):
                        kinds, at = np.unique(sizes[part.place], return_inverse=True)
                        allowed = np.array([int(self.gamma * one) for one in kinds.tolist()])
                        high = by_sums(part, allowed[at])
                except OutOfTime:
                    pass
                low, most = (tuple(map(Fraction, ends.tolist())) for ends in (part.low, high))
                bounds[number] = Expected(low, most)
        return Beliefs(found.system, tuple(bounds), found.is_late)

    def _sharpened(self, found: Beliefs, question: OverlapQuestion) -> Beliefs:
        """Where bounds leave it open on which side of gamma a belief is, integers are counted."""
        rounded = [
            number for number, one in enumerate(found.found) if one is not None and not one.is_exact
        ]
        if not rounded or found.is_late:
            return found
        again = list(found.found)
        try:
            doubtful = {
                one.class_
                for one in believed(found, question.meanings)
                if one.low <= self.gamma < one.high
            }
            for number in rounded:
                part = found.system.parts[number]
                if doubtful & set((part.place // len(question.overlap.values)).tolist()):
                    again[number] = counted(part, question.job) or again[number]
        except OutOfTime:
            return Beliefs(found.system, tuple(again), is_late=True)
        return Beliefs(found.system, tuple(again), found.is_late)

    def _sampled(
        self, base: Verdict, question: OverlapQuestion, found: Beliefs, deadline: Deadline
    ) -> Verdict:
        """What tables say that were drawn at random, where that is allowed."""
        if self.epsilon is None and found.is_late:
            return unsettled(base, "time", f"{late(found)} {self._more_time()}")
        if self.epsilon is None:
            return unsettled(
                base,
                "too-many",
                f"{self._too_large(found)} {self._forecast(found, deadline)}",
            )
        try:
            with until(deadline):
                drawn = statistical(
                    found.system,
                    found.found,
                    gamma=self.gamma,
                    epsilon=self.epsilon,
                    theta=self.theta,
                    job=question.job,
                    meanings=question.meanings,
                )
        except CannotSample as error:
            if found.is_late:
                return unsettled(
                    base,
                    "time",
                    f"{late(found)} Nor can tables be drawn: {error}. {self._more_time()}",
                )
            return unsettled(
                base, "too-many", f"{self._too_large(found)} Nor can tables be drawn: {error}."
            )
        base = replace(base, certainty="statistical", assumptions=(*base.assumptions, DRAWN))
        facts = {"epsilon": self.epsilon, "theta": self.theta, "draws": sum(drawn.draws)}
        bounded = Beliefs(found.system, drawn.found)
        every = [
            ClassBelief(class_, question.meanings[same][0], low, high)
            for (class_, same), (low, high) in drawn.beliefs.items()
        ]
        above = [one for one in every if one.low > self.gamma]
        greatest = max(every, key=lambda one: one.high)
        if above:
            verdict = breached(base, question, bounded, above, self.gamma)
        elif greatest.high <= self.gamma + self.epsilon:
            verdict = holding_verdict(base, question, bounded, greatest)
        else:
            return unsettled(
                base,
                "time",
                f"{drawn.because[:1].upper()}{drawn.because[1:]}. Allow more with seconds:, or a "
                "larger epsilon.",
            )
        return replace(verdict, measured={**verdict.measured, **facts})

    def _too_large(self, found: Beliefs) -> str:
        steps = sum(
            least_cost(part).steps
            for part, one in zip(found.system.parts, found.found, strict=True)
            if one is None
        )
        return (
            "To count the tables that fit would take about "
            f"10^{max(len(str(int(steps))) - 1, 12)} steps, and up to "
            f"10^{len(str(int(MOST_STEPS))) - 1} are taken."
        )

    def _more_time(self) -> str:
        """What to do where the time was up."""
        drawn = (
            ""
            if self.epsilon
            else ", or tables to be drawn at random with epsilon: 0.02, theta: 0.95"
        )
        return (
            f"Allow more than {float(self.seconds):g} with seconds:{drawn}, or ask about "
            "fewer views."
        )

    def _forecast(self, found: Beliefs, deadline: Deadline) -> str:
        """What sampling would give, and about how long it would take."""
        ask = "epsilon: 0.02, theta: 0.95"
        try:
            with until(deadline):
                many, seconds = forecast(
                    found.system,
                    found.found,
                    epsilon=Fraction(1, 50),
                    theta=Fraction(19, 20),
                )
        except CannotSample as error:
            return f"Nor can tables be drawn: {error}. Ask about fewer views."
        except OutOfTime:
            return (
                f"Tables may perhaps be drawn with {ask}, but how long that takes was not "
                "found out in time."
            )
        time = f"about {seconds:,.0f} seconds" if seconds >= 2 else "a second or two"
        return (
            f"With {ask} at most {many:,} tables would be drawn, in {time}, and every belief "
            "be known to be at most gamma + 0.02 with 95 % confidence, or one to be "
            "above gamma."
        )


def share(name: str, value: Any, example: str = "0.5") -> Fraction:
    """A parameter above 0 and at most 1."""
    try:
        number = exact(value)
    except ValueError as error:
        raise ParameterError(
            f"{name}: {error}.", parameter=name, hint=f"Use for example {example}."
        ) from None
    if not 0 < number <= 1:
        raise ParameterError(
            f"{name} is {plain(number)}.",
            parameter=name,
            hint=f"Use a share above 0 and at most 1, for example {example}.",
        )
    return number


def believed(found: Beliefs, meanings: Sequence[Sequence[int]]) -> Iterator[ClassBelief]:
    """Every belief about the people of a class; values that may mean the same count together."""
    settled = dict(_settled(found.system, meanings))
    for class_ in range(len(found.system.overlap.sizes)):
        if class_ in settled:
            yield from (
                ClassBelief(class_, same[0], share, share)
                for same, share in zip(meanings, settled[class_], strict=True)
            )
            continue
        for same in meanings:
            shares = [found.share(class_, value) for value in same]
            known = [one for one in shares if one is not None]
            if len(known) == len(shares):
                low, high = (
                    sum((one[0] for one in known), Fraction(0)),
                    sum((one[1] for one in known), Fraction(0)),
                )
                yield ClassBelief(class_, same[0], low, min(high, Fraction(1)))


def _settled(
    system: System, meanings: Sequence[Sequence[int]]
) -> Iterator[tuple[int, list[Fraction]]]:
    """The shares of classes of which every table says the same, as of most where there are many:
    nothing is added up in fractions.
    """
    low, high = (
        bounds.reshape(len(system.overlap.sizes), -1) for bounds in (system.low, system.high)
    )
    people = np.column_stack([low[:, list(same)].sum(axis=1) for same in meanings])
    share = cache(Fraction)  # few different ones
    for class_ in np.flatnonzero((low == high).all(axis=1)).tolist():
        size = int(system.overlap.sizes[class_])
        yield class_, [share(many, size) for many in people[class_].tolist()]


def unsettled(base: Verdict, code: str, text: str) -> Verdict:
    """It was not decided, and why."""
    return replace(
        base, status="undecided", because="this could not be decided", evidence=Reason(code, text)
    )


def late(found: Beliefs) -> str:
    """How far counting came."""
    done, many = sum(one is not None for one in found.found), len(found.found)
    return (
        "The time was up before the tables that fit were "
        f"counted{f': {done:,} of {many:,} parts were' if many > 1 else ''}."
    )


def holding_verdict(
    base: Verdict, question: OverlapQuestion, found: Beliefs, greatest: ClassBelief
) -> Verdict:
    """Nobody is believed to have a value with more than gamma."""
    because = (
        f"nobody has any value in more than {share_text(greatest.most())} of the tables that fit "
        f"{views(question)}"
    )
    facts = {"people": question.overlap.people, "classes": len(question.overlap.sizes)}
    return replace(
        base,
        because=because,
        evidence=Certificate("beliefs", facts),
        measured=measured(question, found, greatest.most()),
    )


def breached(
    base: Verdict,
    question: OverlapQuestion,
    found: Beliefs,
    above: Sequence[ClassBelief],
    gamma: Fraction,
) -> Verdict:
    """Somebody is believed to have a value with more than gamma: who, and all the others."""
    worst = max(above, key=lambda one: (one.low, -one.class_))
    many = int(sum(question.overlap.sizes[class_] for class_ in {one.class_ for one in above}))
    key = question.members(worst.class_, 1)[0]
    value = question.overlap.values[worst.value]
    tables = shared_tables(worst.low, found.tables_told, is_exact=worst.low == worst.high)
    fit = "fits" if found.tables_told == 1 else "fit"
    story = (
        f"{tables} that {fit} {views(question)} {person_label(key)} "
        f"{has(question, value)}{same_meaning(question, worst)}."
    )
    least = "" if found.is_complete else "at least "
    of = f"{least}{people(many)} of {question.overlap.people:,} {'has' if many == 1 else 'have'}"
    because = f"{of} a value in more than {plain(gamma)} of the tables that fit {views(question)}"
    personal = {"person": person(question, key), "value": value, "above": named(question, above)}
    facts = {"after": worst.least(), "people_above": many}
    return replace(
        base,
        status="breached",
        because=because,
        story=story,
        evidence=Witness("person", facts, personal),
        measured=measured(question, found, worst.least()),
    )


def same_meaning(question: OverlapQuestion, belief: ClassBelief) -> str:
    """What else counts with a value, because it may mean the same."""
    values = question.overlap.values
    same = next(some for some in question.meanings if some[0] == belief.value)[1:]
    spelled = [
        value_text(values[one])
        for one in same
        if values[one] is not None and folded(values[one]) == folded(values[belief.value])
    ]
    is_open = len(spelled) < len(same)
    return (f" (also written {listed(spelled)})" if spelled else "") + (
        ", or none that is known" if is_open else ""
    )


def named(question: OverlapQuestion, above: Sequence[ClassBelief]) -> list[dict[str, Any]]:
    """Everybody above gamma, the most exposed first."""
    found: list[dict[str, Any]] = []
    for one in sorted(above, key=lambda one: (-one.low, one.class_)):
        value = question.overlap.values[one.value]
        found += [
            {"person": key, "value": value, "after": one.least()}
            for key in keys(question, one.class_, MOST_NAMED - len(found))
        ]
        if len(found) >= MOST_NAMED:
            break
    return found


def measured(
    question: OverlapQuestion, found: Beliefs, gamma: Fraction | Decimal
) -> Mapping[str, Any]:
    """The largest belief, how many tables fit (or how many digits that has), and how many people
    the smallest crowd has.
    """
    digits = {} if found.digits is None else {"worlds_digits": found.digits}
    tables = digits if found.tables_told is None else {"worlds": found.tables_told}
    return {"gamma": gamma, **tables, "smallest_crowd": int(question.overlap.sizes.min())}


def rounded(share: Fraction, side: str) -> Decimal:
    """A bound as a decimal, rounded to the given side."""
    with localcontext() as context:
        context.rounding, context.prec = side, DIGITS
        return Decimal(share.numerator) / Decimal(share.denominator)


def share_text(share: Fraction | Decimal) -> str:
    """A share that nobody is above, in words: where digits are left out, rounded up.

    >>> (
    ...     share_text(Fraction(1, 2)),
    ...     share_text(Fraction(12345678, 98765432)),
    ...     share_text(Fraction(3333334, 9999999)),
    ... )
    ('0.5', '0.125', '0.333334')
    """
    if isinstance(share, Fraction) and share.denominator < 10**6:
        return plain(share)
    with localcontext() as context:
        context.rounding, context.prec = ROUND_CEILING, 6
        numerator, denominator = share.as_integer_ratio()
        return f"{(Decimal(numerator) / Decimal(denominator)).normalize():f}"
