"""What differential-privacy and probabilistic-dp have in common:
who is protected from what, and how a release's spending is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any, ClassVar

from tacit.errors import InputError, ParameterError
from tacit.families.definition import NO_OTHER_RELEASE, Definition
from tacit.families.synthetic.definitions import neighbouring_tables
from tacit.families.synthetic.definitions.neighbouring_tables import NeighbourCase
from tacit.families.synthetic.promise import spending
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.probability_bounds import SLACK
from tacit.families.synthetic.promise.spending import Spending, Spent, spending_of
from tacit.families.synthetic.promise.terms import CannotPromise, Guarantee
from tacit.families.synthetic.question import Sort, SyntheticQuestion
from tacit.families.words import listed, people, plural, spoken
from tacit.model.numbers import exact, plain
from tacit.model.verdict import Assumption, Certificate, Reason, Verdict

DIGITS = 6  # of a delta that is told
RANDOM = Assumption(
    "random-numbers", "the operating system's random numbers cannot be predicted", "cannot"
)


class SyntheticDefinition(Definition):
    """A definition about the mechanism that makes a synthetic release;
    it looks at group sizes and domains, never at values.
    """

    __slots__ = ()
    # Whether it holds depends on group sizes and public files only, which the other side has.
    simulatable: ClassVar[bool] = True
    words: ClassVar[str]
    guarantee: ClassVar[Guarantee]
    epsilon: Any
    delta: Any

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        if self.epsilon is None or self.delta is None:
            return self.words
        return f"({self.epsilon}, {plain_delta(self.delta)})-{self.words}"

    def __post_init__(self) -> None:
        """Read the parameters; None stands for those of the release."""
        if self.epsilon is not None:
            try:
                object.__setattr__(self, "epsilon", Epsilon.read(self.epsilon))
            except ValueError as error:
                raise ParameterError(f"{error}.", parameter="epsilon", hint="") from None
        if self.delta is not None:
            object.__setattr__(self, "delta", share(self.delta))

    def asked(self, question: SyntheticQuestion) -> tuple[Epsilon, Fraction]:
        """Epsilon and delta that are asked about: those of the check, else those of the release."""
        own = [release.terms for release in question.releases]
        if len(own) > 1 and (self.epsilon is None or self.delta is None):
            names = listed([release.name for release in question.releases])
            raise InputError(
                f"{names} are judged together.",
                hint="Say what they may spend in all: epsilon and delta.",
            )
        return self.epsilon or own[0].epsilon, own[0].delta if self.delta is None else self.delta

    def check(self, question: SyntheticQuestion, *, sensitive: str | None = None) -> Verdict:
        """Choose the noise of every group as the release says, and look what it spends."""
        epsilon, delta = self.asked(question)
        base = self._base(question, epsilon, delta)
        if not any(release.people for release in question.releases):
            return replace(
                base,
                because="there is nobody in any group",
                measured={"delta": Fraction(0)},
                vacuous=True,
            )
        if all(sort.cells.number < 2 for release in question.releases for sort in release.sorts):
            return replace(
                base,
                because="there is one value only, which everybody has",
                measured={"delta": Fraction(0)},
                vacuous=True,
            )
        releases = [chosen(spending_of(release, question.job)) for release in question.releases]
        if len(releases) > 1:
            return self._together(releases, base, epsilon, delta)
        return self._alone(releases[0], base, epsilon, delta)

    def _base(self, question: SyntheticQuestion, epsilon: Epsilon, delta: Fraction) -> Verdict:
        first = question.releases[0]
        names = [release.name for release in question.releases]
        value, group = spoken(first.value), spoken(first.group)
        return Verdict(
            check=self.check_name,
            label=self.label,
            status="holds",
            because="",
            evidence=Certificate("curve"),
            scope="this domain",
            subject={"release": names[0]} if len(names) == 1 else {"releases": names},
            protects=(
                f"each person's {value}; not their {group}, not how many people each {group} "
                "has, not that they are in the table"
            ),
            against=f"anybody who knows the {value} of everybody else",
            measure=(
                f"how much likelier an output may become by one person's {value}: e^epsilon "
                f"times, {self._but}"
            ),
            required={
                "epsilon": str(epsilon) if epsilon.value is None else epsilon.value,
                "delta": delta,
            },
            personal={"outside": outside}
            if (outside := sum(release.outside for release in question.releases))
            else {},
            assumptions=tuple(
                dict.fromkeys(
                    [
                        *(one for release in question.releases for one in release.assumptions),
                        RANDOM,
                        NO_OTHER_RELEASE,
                    ]
                )
            ),
            warnings=tuple(
                dict.fromkeys(
                    [
                        *(one for release in question.releases for one in release.warnings),
                        *question.warnings,
                        *self._cautions(),
                    ]
                )
            ),
        )

    _but: ClassVar[str]

    def _cautions(self) -> tuple[str, ...]:
        """What must be said wherever this is offered."""
        return ()

    # -- one release -------------------------------------------------------------------------------

    def _alone(
        self, release: Spending, base: Verdict, epsilon: Epsilon, delta: Fraction
    ) -> Verdict:
        spent = release.delta(epsilon, delta, self.guarantee)
        measured = {"delta": delta_text(spent.delta.high), **self._noise(release)}
        certain = spending.exact(release.planned.sorts, release.planned.terms, self.guarantee)
        verdict = replace(base, measured=measured, certainty="exact" if certain else "conservative")
        if Fraction(spent.delta.high) <= delta:
            return self._holds(release, verdict, epsilon, delta, spent)
        if Fraction(spent.delta.low) > delta:
            return self._breached(release, verdict, epsilon, delta, spent)
        low, high = delta_text(spent.delta.low), delta_text(spent.delta.high)
        text = (
            f"delta is between {low} and {high} at an epsilon of {epsilon}, and "
            f"{plain_delta(delta)} is asked"
        )
        return replace(
            verdict, status="undecided", because=text, evidence=Reason("between-bounds", text)
        )

    def _noise(self, release: Spending) -> dict[str, Any]:
        """The most noise of any group."""
        if release.planned.terms.mechanism == "geometric":
            return {"threshold": max(noise.threshold or 0 for _, noise in release.noises)}
        return {"alpha": max(noise.alpha or Fraction(0) for _, noise in release.noises)}

    def _holds(
        self, release: Spending, verdict: Verdict, epsilon: Epsilon, delta: Fraction, spent: Spent
    ) -> Verdict:
        least = release.epsilon(delta, self.guarantee, epsilon)
        curve = [
            [str(point), delta_text(found)]
            for point, found in release.curve(self.guarantee, delta, spent.worst)
        ]
        groups = plural("group", release.planned.groups)
        facts = {
            "curve": curve,
            "groups": release.planned.groups,
            "people": release.planned.people,
            "worst_group_size": spent.worst.people,
            "cells": spent.worst.cells.number,
        }
        because = (
            f"at an epsilon of {epsilon} delta is at most {delta_text(spent.delta.high)} "
            f"({plain_delta(delta)} allowed), for {people(release.planned.people)} in {groups}"
        )
        measured = {
            "epsilon": text_of(least) if least <= float(epsilon) else str(epsilon),
            **verdict.measured,
        }
        return replace(
            verdict, because=because, measured=measured, evidence=Certificate("curve", facts)
        )

    def _breached(
        self, release: Spending, verdict: Verdict, epsilon: Epsilon, delta: Fraction, spent: Spent
    ) -> Verdict:
        witness, text = self._case(release, epsilon, delta, spent.surest).describe(
            spent.surest.people, epsilon
        )
        least = release.epsilon(delta, self.guarantee, release.planned.terms.epsilon)
        because = (
            f"at an epsilon of {epsilon} delta is at least "
            f"{delta_text(spent.delta.low, up=False)}, and {plain_delta(delta)} is allowed; "
        ) + (
            f"it would hold for an epsilon of {text_of(least)}"
            if math.isfinite(least)
            else "it holds for no epsilon"
        )
        measured = (
            {"epsilon": text_of(least), **verdict.measured}
            if math.isfinite(least)
            else verdict.measured
        )
        return replace(
            verdict,
            status="breached",
            because=f"{because}. {text}",
            measured=measured,
            evidence=witness,
        )

    def _case(
        self, release: Spending, epsilon: Epsilon, delta: Fraction, sort: Sort
    ) -> NeighbourCase:
        """What tells two tables of such a group apart."""
        noise = next(noise for one, noise in release.noises if one is sort)
        if noise.alpha is None:
            return neighbouring_tables.counted(release.planned, sort, noise, delta)
        accept, missing = release.planned.terms.accept, 0.0
        if accept is not None:
            missing = release.promise(
                sort, release.group_terms(delta, self.guarantee)
            ).unrepresentative(noise.alpha, accept)
        return neighbouring_tables.drawn(
            release.planned, sort, noise, epsilon, 1 - Fraction(missing)
        )

    # -- several releases --------------------------------------------------------------------------

    def _together(
        self, releases: list[Spending], base: Verdict, epsilon: Epsilon, delta: Fraction
    ) -> Verdict:
        """What the releases spend in all: each as it promises, added up."""
        parts, noise = list[tuple[float, float]](), dict[str, Any]()
        for one in releases:
            terms = one.planned.terms
            found = one.delta(terms.epsilon, terms.delta, self.guarantee)
            parts.append((math.nextafter(float(terms.epsilon), math.inf), found.delta.high))
            noise |= {
                key: max(value, noise.get(key, value)) for key, value in self._noise(one).items()
            }
        fits = adds_up([one.planned.terms.epsilon for one in releases], epsilon)
        total = math.fsum(part for _, part in parts) * (1 + SLACK) if fits else 1.0
        total = min(total, self._composed(parts, math.nextafter(float(epsilon), -math.inf)))
        names = listed([one.planned.name for one in releases])
        verdict = replace(
            base,
            certainty="conservative",
            measured={"epsilon": str(epsilon), "delta": delta_text(total), **noise},
        )
        if Fraction(total) <= delta:
            because = (
                f"{names} together spend a delta of at most {delta_text(total)} at an epsilon of "
                f"{epsilon}"
            )
            return replace(
                verdict,
                because=because,
                evidence=Certificate(
                    "composition",
                    {
                        "releases": [
                            [one.planned.name, text_of(part[0]), delta_text(part[1])]
                            for one, part in zip(releases, parts, strict=True)
                        ]
                    },
                ),
            )
        text = (
            f"by what each promises {names} may together spend a delta of {delta_text(total)} at "
            "an "
            f"epsilon of {epsilon}, and {plain_delta(delta)} is allowed"
        )
        return replace(
            verdict, status="undecided", because=text, evidence=Reason("composition", text)
        )

    def _composed(self, parts: list[tuple[float, float]], epsilon: float) -> float:
        """What a closer look at all releases together says of delta."""
        return 1.0


def chosen(release: Spending) -> Spending:
    """A release with its noise; an error that names it where no noise keeps its terms."""
    try:
        _ = release.noises
    except CannotPromise as error:
        raise InputError(
            f"release {release.planned.name}: {error.message}", hint=error.hint
        ) from None
    return release


def adds_up(parts: Sequence[Epsilon], total: Epsilon) -> bool:
    """Are some epsilons together at most another?

    >>> one = Epsilon.read(1)
    >>> (
    ...     adds_up([one, one], Epsilon.read(2)),
    ...     adds_up([one, one], Epsilon.read("1.9")),
    ...     adds_up([Epsilon.read("ln(2)")] * 2, Epsilon.read("ln(4)")),
    ... )
    (True, False, True)
    """
    if total.value is not None and all(part.value is not None for part in parts):
        return sum(part.value or 0 for part in parts) <= total.value
    return math.prod(part.ratio[1] for part in parts) <= total.ratio[0]


def share(delta: Any) -> Fraction:
    """A delta, which is a chance below 1.

    >>> share("1e-5"), share(0)
    (Fraction(1, 100000), Fraction(0, 1))
    >>> share(1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: delta is 1. Use a chance from 0 up to, but not including, 1, for example 1e-6.
    """  # noqa: E501
    hint = "Use a chance from 0 up to, but not including, 1, for example 1e-6."
    try:
        found = exact(delta)
    except ValueError as error:
        raise ParameterError(f"{error}.", parameter="delta", hint=hint) from None
    if not 0 <= found < 1:
        raise ParameterError(f"delta is {plain(found)}.", parameter="delta", hint=hint)
    return found


def delta_text(number: float, *, up: bool = True) -> str:
    """A delta as text, rounded to the safe side.

    >>> delta_text(0.0), delta_text(0.5), delta_text(1.23456789e-6, up=False)
    ('0', '0.5', '0.00000123456')
    """
    found = Decimal(number)
    if not found:
        return "0"
    digits = DIGITS - found.adjusted() - 1
    rounded = found.quantize(
        Decimal(1).scaleb(-digits), rounding=ROUND_CEILING if up else "ROUND_FLOOR"
    )
    return f"{rounded.normalize():f}" if rounded.adjusted() > -12 else str(rounded.normalize())


def plain_delta(delta: Fraction) -> str:
    """A delta as people write it.

    >>> plain_delta(Fraction(1, 100000)), plain_delta(Fraction(0))
    ('1e-05', '0')
    """
    return f"{float(delta):g}"


def text_of(epsilon: float) -> str:
    """An epsilon as text."""
    return f"{epsilon:.4f}".rstrip("0").rstrip(".")
