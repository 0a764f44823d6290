"""Measures of disclosure: how much learning is too much? (Machanavajjhala 2008, 3.3.2 and 3.7)

Each gives a belief a score, by its shares before and after the release; the greater, the worse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.model.numbers import percent, percent_exactly, plain

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]


class DisclosureMeasure(ABC):
    """A measure of disclosure with its limit.

    `compares`: the belief before the release matters too. `needs_all`: predicates that nobody of a
    group satisfies can fail as well. The sentences have the limit as {limit}, a score as {score}.
    """

    __slots__ = ()
    compares: ClassVar[bool]
    needs_all: ClassVar[bool]
    asked: ClassVar[str]
    found: ClassVar[str]
    kept: ClassVar[str]

    @abstractmethod
    def score(self, before: Fraction, after: Fraction) -> Fraction:
        """How bad a belief is."""

    @abstractmethod
    def scores(self, before: Sequence[Fraction], after: Floats) -> Floats:
        """The same for many beliefs at once, in floats;
        there is a column for each belief before.
        """

    @property
    @abstractmethod
    def most(self) -> float:
        """The greatest score that is allowed, as a float."""

    @abstractmethod
    def is_too_much(self, score: Fraction) -> bool:
        """Is that a breach?"""

    @abstractmethod
    def measured(self, score: Fraction) -> dict[str, Any]:
        """The worst score, as a verdict tells it."""

    @abstractmethod
    def required(self) -> dict[str, Any]:
        """The limit, as a verdict tells it."""

    @property
    @abstractmethod
    def limit(self) -> str:
        """The limit in words."""

    def shown(self, score: Fraction) -> str:
        """A score in words."""
        return percent(score)

    @property
    def label(self) -> str:
        """What is asked."""
        return self.asked.format(limit=self.limit)

    def because(self, score: Fraction) -> str:
        """What was found."""
        words = self.found if self.is_too_much(score) else self.kept
        return words.format(limit=self.limit, score=self.shown(score))


@dataclass(frozen=True, slots=True)
class Positive(DisclosureMeasure):
    """Nobody becomes too sure that a predicate is true:
    every belief stays below `c` (Definition 3.12).
    """

    c: Fraction

    compares: ClassVar[bool] = False
    needs_all: ClassVar[bool] = False
    asked: ClassVar[str] = "belief below {limit}"
    found: ClassVar[str] = "a belief of {score}, below {limit} required"
    kept: ClassVar[str] = "no belief above {score}"

    def score(self, before: Fraction, after: Fraction) -> Fraction:
        """The belief."""
        return after

    def scores(self, before: Sequence[Fraction], after: Floats) -> Floats:
        """The beliefs."""
        return after

    @property
    def most(self) -> float:
        """The belief that must not be reached."""
        return float(self.c)

    def is_too_much(self, score: Fraction) -> bool:
        """Definition 3.12: P < c."""
        return score >= self.c

    def measured(self, score: Fraction) -> dict[str, Any]:
        """The greatest belief."""
        return {"positive": score}

    def required(self) -> dict[str, Any]:
        """Below what."""
        return {"positive": self.c}

    @property
    def limit(self) -> str:
        """In percent."""
        return percent_exactly(self.c)


@dataclass(frozen=True, slots=True)
class Negative(DisclosureMeasure):
    """Nobody becomes too sure that a predicate is false: every belief stays at `c` or above."""

    c: Fraction

    compares: ClassVar[bool] = False
    needs_all: ClassVar[bool] = True
    asked: ClassVar[str] = "belief at least {limit}"
    found: ClassVar[str] = "a belief of only {score}, at least {limit} required"
    kept: ClassVar[str] = "no belief below {score}"

    def score(self, before: Fraction, after: Fraction) -> Fraction:
        """The belief in the opposite."""
        return 1 - after

    def scores(self, before: Sequence[Fraction], after: Floats) -> Floats:
        """The beliefs in the opposites."""
        return 1 - after

    @property
    def most(self) -> float:
        """What is left for the opposite."""
        return float(1 - self.c)

    def is_too_much(self, score: Fraction) -> bool:
        """A c-negative disclosure: P < c."""
        return 1 - score < self.c

    def measured(self, score: Fraction) -> dict[str, Any]:
        """The least belief."""
        return {"negative": 1 - score}

    def required(self) -> dict[str, Any]:
        """At least what."""
        return {"negative": self.c}

    @property
    def limit(self) -> str:
        """In percent."""
        return percent_exactly(self.c)

    def shown(self, score: Fraction) -> str:
        """The belief itself: no belief is below it."""
        return percent(1 - score, down=True)


@dataclass(frozen=True, slots=True)
class Uninformative(DisclosureMeasure):
    """No belief moves by more than `epsilon`, up or down (Principle 3.1)."""

    epsilon: Fraction

    compares: ClassVar[bool] = True
    needs_all: ClassVar[bool] = True
    asked: ClassVar[str] = "belief moved at most {limit}"
    found: ClassVar[str] = "a belief that moves by {score}, at most {limit} allowed"
    kept: ClassVar[str] = "no belief moves by more than {score}"

    def score(self, before: Fraction, after: Fraction) -> Fraction:
        """How far the belief moves."""
        return abs(after - before)

    def scores(self, before: Sequence[Fraction], after: Floats) -> Floats:
        """How far the beliefs move."""
        moved: Floats = np.abs(after - np.array(before, dtype=np.float64))
        return moved

    @property
    def most(self) -> float:
        """How far they may."""
        return float(self.epsilon)

    def is_too_much(self, score: Fraction) -> bool:
        """More than epsilon."""
        return score > self.epsilon

    def measured(self, score: Fraction) -> dict[str, Any]:
        """The greatest move."""
        return {"uninformative": score}

    def required(self) -> dict[str, Any]:
        """At most what."""
        return {"uninformative": self.epsilon}

    @property
    def limit(self) -> str:
        """In percent."""
        return percent_exactly(self.epsilon)


@dataclass(frozen=True, slots=True)
class Ratio(DisclosureMeasure):
    """No belief is multiplied or divided by more than `r`, or by more
    than e to the power `exponent`.
    """

    r: Fraction | None = None
    exponent: Fraction | None = None

    compares: ClassVar[bool] = True
    needs_all: ClassVar[bool] = True
    asked: ClassVar[str] = "belief changed at most {limit}-fold"
    found: ClassVar[str] = "a belief that {score}, at most {limit}-fold allowed"
    kept: ClassVar[str] = "no belief {score}"

    def score(self, before: Fraction, after: Fraction) -> Fraction:
        """1 - 1/factor: an infinite factor has a score too, and 0 and 0 are equal."""
        low, high = sorted((before, after))
        return Fraction(0) if low == high else 1 - low / high

    def scores(self, before: Sequence[Fraction], after: Floats) -> Floats:
        """The same for many."""
        known = np.broadcast_to(np.array(before, dtype=np.float64), after.shape)
        low, high = np.minimum(known, after), np.maximum(known, after)
        factor: Floats = low / np.where(high > 0, high, 1)
        return np.where(high > 0, 1 - factor, 0)

    @property
    def most(self) -> float:
        """The score of the factor that is allowed."""
        return float(1 - 1 / self.r) if self.r is not None else 1 - exp(-(self.exponent or 0))

    def is_too_much(self, score: Fraction) -> bool:
        """A factor of more than r."""
        if self.r is not None:
            return (1 - score) * self.r < 1
        return score == 1 or exceeds_power_of_e(1 / (1 - score), self.exponent or Fraction(0))

    def measured(self, score: Fraction) -> dict[str, Any]:
        """The greatest factor."""
        return {"ratio": "infinite" if score == 1 else 1 / (1 - score)}

    def required(self) -> dict[str, Any]:
        """At most what."""
        return {"ratio": self.limit if self.r is None else self.r}

    @property
    def limit(self) -> str:
        """The factor."""
        return f"e^{plain(self.exponent or 0)}" if self.r is None else plain(self.r)

    def shown(self, score: Fraction) -> str:
        """The factor, to two digits; where it holds, no belief does that or worse."""
        if score == 1:
            return "falls to nothing"
        if self.is_too_much(score):
            return f"changes {plain_factor(score)}-fold"
        return f"changes more than {plain_factor(score)}-fold"


@dataclass(frozen=True, slots=True)
class Upward(DisclosureMeasure):
    """No belief, in a predicate or its opposite, moves from below `rho1`
    to above `rho2` (Definition 3.6).
    """

    rho1: Fraction
    rho2: Fraction

    compares: ClassVar[bool] = True
    needs_all: ClassVar[bool] = True
    asked: ClassVar[str] = "{limit}-privacy"
    found: ClassVar[str] = "a belief that {score}"
    kept: ClassVar[str] = "no belief {score}"

    def score(self, before: Fraction, after: Fraction) -> Fraction:
        """The belief after, where it was below rho1 before;
        a predicate above 1 - rho1 by its opposite.
        """
        up = after if before < self.rho1 else Fraction(0)
        down = 1 - after if before > 1 - self.rho1 else Fraction(0)
        return max(up, down)

    def scores(self, before: Sequence[Fraction], after: Floats) -> Floats:
        """The same for many; whether a belief was below rho1 is decided exactly."""
        up = np.array([share < self.rho1 for share in before])
        down = np.array([share > 1 - self.rho1 for share in before])
        return np.maximum(np.where(up, after, 0), np.where(down, 1 - after, 0))

    @property
    def most(self) -> float:
        """As sure as they may become."""
        return float(self.rho2)

    def is_too_much(self, score: Fraction) -> bool:
        """Above rho2."""
        return score > self.rho2

    def measured(self, score: Fraction) -> dict[str, Any]:
        """The greatest belief that was below rho1."""
        return {"belief": score}

    def required(self) -> dict[str, Any]:
        """From below what to above what."""
        return {"rho1": self.rho1, "rho2": self.rho2}

    @property
    def limit(self) -> str:
        """Both limits."""
        return f"({plain(self.rho1)},{plain(self.rho2)})"

    def shown(self, score: Fraction) -> str:
        """Where a belief moves."""
        low = percent_exactly(self.rho1)
        if self.is_too_much(score):
            moved, most = percent(score), percent_exactly(self.rho2)
            return f"moves from below {low} to {moved}, at most {most} allowed"
        if not score:
            return f"was below {low} and is possible now"
        return f"moves from below {low} to above {percent(score)}"


def exceeds_power_of_e(value: Fraction, exponent: Fraction) -> bool:
    """Is a fraction greater than e to a positive fraction? They are never equal (Lindemann 1882).

    Partial sums of the series enclose the power more and more tightly, until they tell.

    >>> (
    ...     exceeds_power_of_e(Fraction(2719, 1000), Fraction(1)),
    ...     exceeds_power_of_e(Fraction(2718, 1000), Fraction(1)),
    ... )
    (True, False)
    """
    term = total = Fraction(1)
    step = 0
    while True:
        step += 1
        term *= exponent / step
        total += term
        if total >= value:
            return False
        # From here on every term is at most half the one before:
        # all of them add less than the last.
        if 2 * exponent <= step + 1 and total + term < value:
            return True


def plain_factor(score: Fraction) -> str:
    """The factor behind a score, to two digits, rounded up.

    >>> plain_factor(Fraction(2, 3))
    '3'
    """
    return plain(Fraction(-(-100 // (1 - score)), 100))
