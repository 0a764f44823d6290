"""Certified sampling: is every belief at most gamma + epsilon, with
confidence theta, judged by uniform tables?
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from tacit.errors import ParameterError
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.sampling.bets import Bets, SampleCounts, no_counts, upper_bounds
from tacit.families.overlaps.sampling.rejection import Sampler, sampler_of
from tacit.families.overlaps.system import Flags, System
from tacit.model.deadline import OutOfTime, look
from tacit.model.jobs import Job

SEED = 7  # verdicts are the same on every run
FIRST_LOOK, GROWTH = 100, 1.2
PILOT = 3  # batches that are drawn before it is said how long it takes
ROUNDING = Fraction(1, 100)  # the share of 1 - theta that is for rounding errors in drawing
A_LITTLE = Fraction(1, 1 << 40)  # by which a belief is shown to be above gamma at least

Interval = tuple[Fraction, Fraction]
Status = Literal["holds", "breached", "undecided"]


# -- how many tables ------------------------------------------------------------------------------


def draws_for(cells: int, epsilon: Fraction, risk: Fraction) -> int:
    """So many tables put all estimates within epsilon of the truth, except with
    probability `risk` (Hoeffding 1963).

    The share of a class that has a value is between 0 and 1, so its average over n tables is off by
    epsilon or more with probability at most 2 exp(-2 n epsilon**2); the union over cells takes the
    risk of all together.

    >>> draws_for(150, Fraction(2, 100), Fraction(5, 100))
    10875
    """
    return math.ceil(log_above(2 * cells / risk) / (2 * epsilon**2))


def log_above(number: Fraction) -> Fraction:
    """At least the natural logarithm of a number that is at least 1."""
    log = math.log(number.numerator) - math.log(number.denominator)
    return Fraction(log) + Fraction(abs(log) + 2 * math.log(number.numerator) + 1) / 2**50


# -- what is watched ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class JoinedCells:
    """Cells of a class, by their places in a part, whose values may mean the same;
    `fixed` people have one for certain.
    """

    class_: int
    meaning: int
    cells: Integers
    fixed: int


class _Drawn:
    """A part that is being drawn: its sampler, and what was seen of
    its cells and of cells together.
    """

    def __init__(self, study: _Study, number: int) -> None:
        self.number = number
        self.part = study.system.parts[number]
        self.together = list(study.together(number))
        self.sampler: Sampler = sampler_of(self.part, np.random.default_rng([study.seed, number]))
        self.counts = no_counts(*self._ends(study))
        alone = np.array(
            [(value,) in study.meanings for value in self.part.value.tolist()], dtype=bool
        )
        self.is_asked: Flags = np.concatenate([alone, np.ones(len(self.together), dtype=bool)])
        self.is_low: Flags = (
            ~self.is_asked
        )  # cells of which it is shown that they are at most gamma + epsilon
        self.is_above: Flags = np.zeros(len(self.is_asked), dtype=bool)
        self.bets = (
            Bets(self.counts, study.limit),
            Bets(self.counts.turned(), 1 - study.above, below=True),
        )
        self.waiting: list[Integers] = []
        for _ in range(PILOT):
            if self.sampler.found < FIRST_LOOK:
                self.waiting.append(self.sampler.batch(FIRST_LOOK))

    def _ends(self, study: _Study) -> tuple[Integers, Integers, Integers]:
        """Between which numbers of people is what is watched, and how many its class has."""
        part = self.part
        low, high, sizes = part.low.tolist(), part.high.tolist(), study.sizes[part.place].tolist()
        for one in self.together:
            rest = np.setdiff1d(
                np.flatnonzero(part.class_of == part.class_of[one.cells[0]]), one.cells
            )
            total = part.classes[int(part.class_of[one.cells[0]])].total
            low.append(
                max(int(part.low[one.cells].sum()), total - int(part.high[rest].sum())) + one.fixed
            )
            high.append(
                min(int(part.high[one.cells].sum()), total - int(part.low[rest].sum())) + one.fixed
            )
            sizes.append(int(study.system.overlap.sizes[one.class_]))
        return np.array(low), np.array(high), np.array(sizes)

    def count(self, tables: Integers) -> None:
        """Count some tables."""
        more = [tables[:, one.cells].sum(axis=1) + one.fixed for one in self.together]
        self.counts = self.counts.with_tables(np.column_stack([tables, *more]))

    def watched(self, wide: int) -> Iterator[tuple[int, int | None, int | None]]:
        """Class, value and meaning of all that is watched:
        cells have a value, cells together a meaning.
        """
        for place in self.part.place.tolist():
            yield place // wide, place % wide, None
        for one in self.together:
            yield one.class_, None, one.meaning


# -- the verdict ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Statistical:
    """What tables that were drawn say about gamma.

    `holds`: every belief is at most gamma + epsilon; `breached`: one is above gamma; each with
    confidence theta. `beliefs` are the bounds of all beliefs, by class and meaning. `found` has the
    bounds of every part, as counting has them. All bounds hold together with confidence theta.
    `shares` are estimates, for the cells of parts that were drawn.
    """

    status: Status
    because: str
    beliefs: dict[tuple[int, int], Interval]
    found: tuple[Expected, ...]
    shares: dict[int, Fraction]  # by the number of the cell in the system
    draws: tuple[int, ...]  # by the part, 0 for one that was counted
    seconds: float

    @property
    def worst(self) -> tuple[int, int] | None:
        """Class and meaning of the belief that breaches by most, or else of the one with the
        largest upper bound.
        """
        side = 0 if self.status == "breached" else 1
        return max(
            self.beliefs, key=lambda one: (self.beliefs[one][side], -one[0], -one[1]), default=None
        )

    @property
    def upper(self) -> Fraction:
        """No belief is above it."""
        return max((high for _, high in self.beliefs.values()), default=Fraction(0))

    def reached(self, gamma: Fraction) -> Fraction:
        """The least epsilon for which it holds."""
        return max(self.upper - gamma, Fraction(0))


class _Study:
    """All parts of a system, the tables drawn so far, and what they show."""

    def __init__(
        self,
        system: System,
        found: Sequence[Expected | None],
        meanings: Sequence[Sequence[int]] | None,
        gamma: Fraction,
        epsilon: Fraction,
        theta: Fraction,
        seed: int,
    ) -> None:
        self.system, self.known, self.seed = system, list(found), seed
        self.wide = len(system.overlap.values)
        self.meanings = (
            [tuple(one) for one in meanings]
            if meanings is not None
            else [(value,) for value in range(self.wide)]
        )
        self.limit, self.above = gamma + epsilon, gamma + A_LITTLE
        self.start = time.perf_counter()
        self.sizes = np.repeat(system.overlap.sizes, self.wide)
        self.drawn: list[_Drawn] = []
        # People whom no view shows are left out, and parts without a belief that could be too
        # strong need no table.
        doubtful = {
            class_
            for (class_, _), (_, high) in self.beliefs(self.certain()).items()
            if high > self.limit
        }
        self.open = [
            number
            for number, (part, one) in enumerate(zip(system.parts, found, strict=True))
            if one is None and doubtful & set((part.place // self.wide).tolist())
        ]
        watched = sum(
            len(system.parts[number].place) + len(list(self.together(number)))
            for number in self.open
        )
        # 1 - theta is divided: half for the bets, both ways for all that is watched, half for the
        # last look, which decides in any case, and a little for rounding.
        self.rounding = ROUNDING * (1 - theta)
        risk = (1 - theta - self.rounding) / 2
        self.most = draws_for(watched, epsilon / 2 - A_LITTLE, risk) if watched else 0
        self.log_last = log_above(2 * watched / risk) if watched else Fraction(0)
        self.log_needed = math.nextafter(float(self.log_last), math.inf)

    def together(self, number: int) -> Iterator[JoinedCells]:
        """Cells of a part whose values may mean the same, where these are several."""
        part = self.system.parts[number]
        at = {place: cell for cell, place in enumerate(part.place.tolist())}
        for class_ in sorted({place // self.wide for place in at}):
            for meaning, same in enumerate(self.meanings):
                places = [self.system.cell(class_, value) for value in same]
                cells = [at[place] for place in places if place in at]
                if cells and len(same) > 1:
                    fixed = sum(int(self.system.low[place]) for place in places if place not in at)
                    yield JoinedCells(class_, meaning, np.array(cells), fixed)

    def certain(self) -> list[Interval]:
        """Bounds of all cells without any table, as numbers of people."""
        found = [
            (Fraction(low), Fraction(high))
            for low, high in zip(self.system.low.tolist(), self.system.high.tolist(), strict=True)
        ]
        for part, one in zip(self.system.parts, self.known, strict=True):
            if one is not None:
                for place, low, high in zip(part.place.tolist(), one.low, one.high, strict=True):
                    found[place] = low, high
        return found

    def beliefs(self, cells: Sequence[Interval]) -> dict[tuple[int, int], Interval]:
        """Bounds of all beliefs about people whom a view shows, from those of the cells."""
        found = {}
        for class_ in np.flatnonzero(
            self.system.overlap.is_covered & (self.system.overlap.sizes > 0)
        ).tolist():
            size = int(self.system.overlap.sizes[class_])
            for meaning, same in enumerate(self.meanings):
                mine = [cells[self.system.cell(class_, value)] for value in same]
                low, high = (
                    sum((one for one, _ in mine), Fraction(0)),
                    sum((one for _, one in mine), Fraction(0)),
                )
                found[class_, meaning] = low / size, min(high / size, Fraction(1))
        return found

    def begin(self) -> None:
        """Make the samplers, and draw some tables to see how long it takes."""
        for number in self.open:
            self.drawn.append(_Drawn(self, number))

    def forecast(self) -> float:
        """About how many seconds the tables take that may still be needed."""
        return sum(
            one.sampler.forecast(max(self.most - one.sampler.found, 0)) for one in self.drawn
        )

    def count(self, one: _Drawn, wanted: int, job: Job | None) -> bool:
        """Count tables of a part until there are so many, no more;
        false where rounding errors could be too many.
        """
        while (missing := wanted - one.counts.draws) > 0:
            look()
            if sum(Fraction(other.sampler.error) for other in self.drawn) > self.rounding:
                return False
            tables = one.waiting.pop(0) if one.waiting else one.sampler.batch(missing)
            one.count(tables[:missing])
            if len(tables) > missing:
                one.waiting.insert(0, tables[missing:])
            if job is not None:
                job.step(
                    f"part {one.number + 1}: {one.counts.draws:,} of at most {self.most:,} tables",
                    one.counts.draws / self.most,
                )
        return True

    def look(self, one: _Drawn) -> bool:
        """Note what the tables of a part show; true where a belief is above gamma."""
        turned = one.counts.turned()
        one.is_low |= one.bets[0].refuted(one.counts, self.log_needed)
        one.is_above |= one.bets[1].refuted(turned, self.log_needed)
        if one.counts.draws == self.most:
            one.is_low |= self._last(one.counts, self.limit)
            one.is_above |= self._last(turned, 1 - self.above)
        return bool((one.is_above & one.is_asked).any())

    def _last(self, counts: SampleCounts, limit: Fraction) -> Flags:
        """Hoeffding's bound at the last look: estimate + sqrt(log / 2n) is
        at most the limit, in fractions.
        """
        needed = self.log_last / (2 * counts.draws)
        rooms = [limit - share for share in _averages(counts)]
        return np.array([room > 0 and room**2 >= needed for room in rooms], dtype=bool)

    def bounds(self, one: _Drawn) -> list[Interval]:
        """Bounds of the shares of all that is watched:
        from the bets, after the last look from Hoeffding, and as noted.
        """
        counts = one.counts
        if not counts.draws:
            ends = zip(
                counts.low.tolist(), counts.high.tolist(), counts.sizes.tolist(), strict=True
            )
            return [(Fraction(low, size), Fraction(high, size)) for low, high, size in ends]
        high = upper_bounds(counts, self.log_needed)
        low = [1 - bound for bound in upper_bounds(counts.turned(), self.log_needed)]
        if counts.draws == self.most:
            off = Fraction(
                math.isqrt(math.ceil(self.log_last / (2 * counts.draws) * 2**60)) + 1, 2**30
            )
            low = [
                max(bound, share - off) for bound, share in zip(low, _averages(counts), strict=True)
            ]
            high = [
                min(bound, share + off)
                for bound, share in zip(high, _averages(counts), strict=True)
            ]
        for at in np.flatnonzero(one.is_low & one.is_asked).tolist():
            high[at] = min(high[at], self.limit)
        for at in np.flatnonzero(one.is_above).tolist():
            low[at] = max(low[at], self.above)
        return list(zip(low, high, strict=True))

    def result(self, status: Status, because: str) -> Statistical:
        """What is known now; `holds` becomes `undecided` where something
        that was counted leaves it open.
        """
        cells, found = self.certain(), list(self.known)
        draws, shares = [0] * len(found), {}
        groups: dict[tuple[int, int], Interval] = {}
        for one in self.drawn:
            for at, ((class_, value, meaning), bound) in enumerate(
                zip(one.watched(self.wide), self.bounds(one), strict=True)
            ):
                if meaning is not None:
                    groups[class_, meaning] = bound
                elif value is not None:
                    cell = self.system.cell(class_, value)
                    cells[cell] = bound[0] * int(self.sizes[cell]), bound[1] * int(self.sizes[cell])
                    if one.counts.draws:
                        shares[cell] = _averages(one.counts)[at]
            draws[one.number] = one.counts.draws
        for number, part in enumerate(self.system.parts):
            mine = [cells[place] for place in part.place.tolist()]
            found[number] = found[number] or Expected(
                tuple(low for low, _ in mine), tuple(high for _, high in mine)
            )
        beliefs = self.beliefs(cells) | groups
        if status == "holds" and any(high > self.limit for _, high in beliefs.values()):
            status, because = (
                "undecided",
                "what was counted leaves open whether a belief is at most gamma + epsilon",
            )
        seconds = time.perf_counter() - self.start
        return Statistical(
            status,
            because,
            beliefs,
            tuple(one for one in found if one),
            shares,
            tuple(draws),
            seconds,
        )


def _averages(counts: SampleCounts) -> list[Fraction]:
    """The average shares in the tables drawn."""
    return [
        Fraction(people, counts.draws * size)
        for people, size in zip(counts.people.tolist(), counts.sizes.tolist(), strict=True)
    ]


def statistical(
    system: System,
    found: Sequence[Expected | None],
    *,
    gamma: Fraction,
    epsilon: Fraction,
    theta: Fraction,
    meanings: Sequence[Sequence[int]] | None = None,
    seed: int = SEED,
    job: Job | None = None,
) -> Statistical:
    """Is every belief at most gamma + epsilon, or is one above gamma, with confidence theta?

    `found` has what was counted, one entry for each part of the system; parts with None are drawn,
    exactly uniformly and independently. `meanings` are the values that count together; without it
    each counts alone. Looking stops as soon as everything is decided, at the latest after as many
    tables as put every estimate within epsilon / 2 of the truth: then one of the two is shown.
    `undecided` is left for the deadline. Raises CannotSample where tables of a part cannot be
    drawn, and NoTable where that shows that none fits.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> males, older = ["Heart", "SARS", "SARS", "Viral"], ["Flu", "SARS", "SARS", "Viral"]
    >>> views = overlap_of(
    ...     ["Flu", "Heart", "SARS", "Viral"],
    ...     [males, older],
    ...     [[0], [0], [0], [0, 1], [1], [1], [1]],
    ... )
    >>> both = system_of(views)
    >>> ask = {"epsilon": Fraction(1, 50), "theta": Fraction(95, 100)}
    >>> [
    ...     statistical(both, [None], gamma=Fraction(gamma), **ask).status
    ...     for gamma in ("1/2", "4/5", "17/20")
    ... ]
    ['breached', 'holds', 'holds']
    """
    _check(gamma, epsilon, theta)
    study = _Study(system, found, meanings, gamma, epsilon, theta, seed)
    if any(low > gamma for low, _ in study.beliefs(study.certain()).values()):
        return study.result("breached", "a belief that was counted is above gamma")
    try:
        study.begin()
        if study.drawn and job is not None:
            job.step(f"sampling would take about {_seconds(study.forecast())} at most", 0.0)
        for one in study.drawn:
            wanted = FIRST_LOOK
            while not one.is_low.all():
                wanted = min(wanted, study.most)
                if not study.count(one, wanted, job):
                    return study.result(
                        "undecided",
                        "so many proposals were needed that rounding errors could matter",
                    )
                if study.look(one):
                    return study.result(
                        "breached", f"{one.counts.draws:,} tables show a belief above gamma"
                    )
                wanted = math.ceil(wanted * GROWTH)
    except OutOfTime:
        if len(study.drawn) < len(study.open):
            return study.result("undecided", "time ran out before tables could be drawn")
        return study.result(
            "undecided",
            "time ran out; all tables that may be needed would take about "
            f"{_seconds(study.forecast())} more",
        )
    return study.result("holds", "every belief is shown to be at most gamma + epsilon")


def forecast(
    system: System,
    found: Sequence[Expected | None],
    *,
    epsilon: Fraction,
    theta: Fraction,
) -> tuple[int, float]:
    """How many tables of each part a statistical answer needs at most, and about how many
    seconds that takes; some are drawn to see.
    """
    study = _Study(system, found, None, Fraction(0), epsilon, theta, SEED)
    study.begin()
    return study.most, study.forecast()


def _check(gamma: Fraction, epsilon: Fraction, theta: Fraction) -> None:
    """Numbers with which a statistical answer says something."""
    if not 0 < gamma <= 1:
        raise ParameterError(
            f"gamma={gamma} is no share.",
            parameter="gamma",
            hint="Use a number above 0 and at most 1.",
        )
    if epsilon <= 4 * A_LITTLE or epsilon > 1:
        hint = "Use a small number above 0, such as 0.02."
        raise ParameterError(
            f"epsilon={epsilon} allows nothing or everything.", parameter="epsilon", hint=hint
        )
    if not 0 < theta < 1:
        raise ParameterError(
            f"theta={theta} is no confidence.",
            parameter="theta",
            hint="Use a number below 1, such as 0.95.",
        )


def _seconds(number: float) -> str:
    """A time in words."""
    return f"{number:,.0f} s" if number >= 1 else "1 s"
