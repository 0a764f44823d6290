"""Trial noise: how much noise other terms would need, in a few groups of different sizes, before
anything is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import ParameterError
from tacit.families.synthetic.promise.noise import Chooser
from tacit.families.synthetic.promise.terms import CannotPromise, Terms
from tacit.families.synthetic.question import Sort
from tacit.plan.edit import splicing

SIZES = 7  # of groups that are looked at


@dataclass(frozen=True, slots=True)
class SizeNoise:
    """The noise of a group of some size: prior people in each cell (`alpha`) and all together,
    or the least count that is published.
    """

    people: int
    cells: int
    alpha: Fraction | None
    prior: Fraction
    threshold: int | None

    @property
    def share(self) -> Fraction | None:
        """How much of what a group is drawn from is invented;
        None where counts get noise instead.
        """
        return None if self.alpha is None else self.prior / (self.prior + self.people)


def some_sorts(sorts: Sequence[Sort], most: int = SIZES) -> tuple[Sort, ...]:
    """A few groups from the smallest to the largest, evenly among all groups, so that most people
    find one like theirs.

    >>> from tacit.families.synthetic.cells import DomainCells
    >>> [
    ...     one.people
    ...     for one in some_sorts([Sort(n, DomainCells.alike(9)) for n in range(1, 100)], 4)
    ... ]
    [1, 34, 66, 99]
    """
    ordered = sorted(sorts, key=lambda sort: (sort.people, sort.cells.number))
    many = sum(sort.groups for sort in ordered)
    wanted = [round(place * (many - 1) / (most - 1)) for place in range(most)] if many > 1 else [0]
    found: dict[int, Sort] = {}
    behind = 0
    for sort in ordered:
        behind += sort.groups
        while wanted and wanted[0] < behind:
            wanted.pop(0)
            found.setdefault(sort.people, sort)
    return tuple(found.values())


def noise_of(terms: Terms, groups: int, sorts: Sequence[Sort]) -> tuple[SizeNoise, ...]:
    """The least noise that terms allow, in each of some groups;
    `groups` is how many there are in all.
    """
    chooser, found = Chooser(terms, max(groups, 1)), []
    for sort in sorts:
        try:
            noise = chooser.noise(sort.people, sort.cells)
        except CannotPromise as error:
            raise ParameterError(error.message, parameter="epsilon", hint=error.hint) from None
        prior = (noise.alpha or Fraction(0)) * sort.cells.expected
        found.append(SizeNoise(sort.people, sort.cells.number, noise.alpha, prior, noise.threshold))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class SetTerms:
    """A wish of the plan's owner: other terms for a synthetic release; None takes a key away."""

    name: str
    terms: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with those terms.

        >>> text = "releases:\\n  map: {table: jobs, synthetic: {group: to, value: from, epsilon: 1, delta: 0}}  # mine\\n"
        >>> print(
        ...     SetTerms("map", {"epsilon": Fraction(5, 2), "delta": None})
        ...     .applied(text)
        ...     .splitlines()[1]
        ... )
          map: {table: jobs, synthetic: {group: to, value: from, epsilon: 2.5}}  # mine
        """  # noqa: E501
        for key, value in self.terms.items():
            path = ("releases", self.name, "synthetic", key)
            text = splicing.drop(text, path) if value is None else splicing.put(text, path, value)
        return text
