"""Neighbouring tables: a pair of them, with an output that is much likelier from the first;
the witness of a breach, also in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.microdata.hierarchy import value_text
from tacit.families.synthetic.promise import geometric
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.terms import Noise
from tacit.families.synthetic.question import Planned, Sort
from tacit.families.words import listed, people
from tacit.model.verdict import Witness

Counts = dict[str, int]
MILLION = 10**6


@dataclass(frozen=True, slots=True)
class NeighbourCase:
    """One person is in the cell `here` or in the cell `there`, and all others are known:
    what comes out, and how much likelier from `here`.

    `ratio` is None where the output cannot come from the second table at all;
    with `at_least` it may be more.
    """

    here: str
    there: str
    known: Counts
    output: Counts
    ratio: Fraction | None
    at_least: bool = False

    def describe(self, size: int, epsilon: Epsilon) -> tuple[Witness, str]:
        """The witness, and in words."""
        first, second = (
            {**self.known, cell: self.known.get(cell, 0) + 1} for cell in (self.here, self.there)
        )
        facts: dict[str, Any] = {
            "group_size": size,
            "known": self.known,
            "first_table": first,
            "second_table": second,
            "output": self.output,
        }
        if self.ratio is not None:
            facts |= {"ratio": self.ratio, "ratio_decimal": float(self.ratio)}
        allowed = math.exp(float(epsilon))
        return Witness(
            "output", {**facts, "allowed_ratio": f"{allowed:.6g}"}
        ), f"{self._where} {self._times(allowed)}"

    @property
    def _where(self) -> str:
        others = [f"{many:,} in {cell}" for cell, many in self.known.items()]
        if others:
            cell, many = next(iter(self.known.items()))
            others[0] = f"{people(many)} {'is' if many == 1 else 'are'} known to be in {cell}"
        known = f"{listed(others)}{',' if len(others) > 1 else ''} and " if others else ""
        beside = self.output.get(self.there, 0)
        shown = (
            f"{self.output[self.here]:,} in {self.here} and "
            f"{f'{beside:,}' if beside else 'none'} in {self.there}"
        )
        return (
            f"Where {known}one person is in {self.here} or in {self.there}, an output with {shown}"
        )

    def _times(self, allowed: float) -> str:
        if self.ratio is None:
            return "cannot come from the other"
        return (
            f"is {'at least ' if self.at_least else ''}{rounded_down(self.ratio)} times as "
            f"likely from the first ({allowed:.4g} allowed)"
        )


def drawn(
    release: Planned, sort: Sort, noise: Noise, epsilon: Epsilon, accepted: Fraction
) -> NeighbourCase:
    """Of people who are drawn: nobody else is in the two cells of least prior, and a few more than
    it takes are drawn in the first.

    `accepted` is at most the chance that an output is accepted:
    drawing again may make the output that much likelier from the second table.
    """
    assert noise.alpha is not None
    here, there, elsewhere = labels(release, sort)
    others, keep = sort.people - 1, sort.cells.least_keep
    prior = noise.alpha * min(kind.weight for kind in sort.cells.kinds if kind.keep == keep)
    count = min(
        sort.people, max(1, math.floor((epsilon.ratio[1] / accepted * keep - 1) * prior) + 1)
    )
    if sort.cells.number == 2:  # the known people are in the other cell
        elsewhere = there
        count = sort.people if others else count
    output = {here: count, **({elsewhere: sort.people - count} if sort.people > count else {})}
    # An empty cell that is left out makes the first table likelier still.
    loose = accepted < 1 or (sort.cells.shrinks and (sort.cells.number > 2 or not others))
    return NeighbourCase(
        here,
        there,
        {elsewhere: others} if others else {},
        output,
        (1 + count / prior) / keep * accepted,
        loose,
    )


def counted(release: Planned, sort: Sort, noise: Noise, delta: Fraction) -> NeighbourCase:
    """Of counts with noise: somebody who is alone in a cell is published;
    or, where that is rare enough, both cells have many others.
    """
    assert noise.threshold is not None
    here, there, elsewhere = labels(release, sort)
    others, half, epsilon = sort.people - 1, (sort.people - 1) // 2, release.terms.epsilon
    if not noise.everywhere and (
        geometric.published_chance(epsilon, noise.threshold) > delta or half < noise.threshold
    ):
        cell = there if sort.cells.number == 2 else elsewhere
        return NeighbourCase(
            here, there, {cell: others} if others else {}, {here: noise.threshold}, None
        )
    rest = others - 2 * half
    known = {here: half, there: half + (rest if sort.cells.number == 2 else 0)}
    if rest and sort.cells.number > 2:
        known[elsewhere] = rest
    # Each of the two counts is likelier by e^(epsilon/2).
    ratio = epsilon.argument or Fraction(math.floor(epsilon.ratio[0] * MILLION), MILLION)
    return NeighbourCase(here, there, known, {here: half + 1, there: known[there]}, ratio)


def labels(release: Planned, sort: Sort) -> tuple[str, str, str]:
    """Three cells to tell it with: of these groups, where they have cells of their own."""
    found = [value_text(one) for one in (sort.labels or release.labels)[:3]]
    first, second, third = (*found, *["one cell", "another cell", "a third cell"][len(found) :])
    return first, second, third


def rounded_down(ratio: Fraction) -> str:
    """How many times, not more than it is.

    >>> rounded_down(Fraction(28937, 10000)), rounded_down(Fraction(12345, 2))
    ('2.89', '6,172')
    """
    return f"{math.floor(ratio):,}" if ratio >= 100 else f"{math.floor(ratio * 100) / 100:g}"
