"""What (alpha,k)- and (epsilon,m)-anonymity and dissimilarity share:
the largest ball of each group.

They differ in the distance, in epsilon, and in what a ball is compared with; nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.families.microdata.definitions.worst_group import (
    Claimed,
    GroupFinding,
    Requirement,
    WorstGroup,
    claimed,
)
from tacit.families.microdata.distances import Distance
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.neighbours import Balls, largest_balls
from tacit.families.microdata.ratios import Ratios
from tacit.families.words import plural, saying, spoken
from tacit.model.numbers import plain


class NeighbourhoodDefinition(WorstGroup):
    """A definition about how many people of a group have a value near one of its values."""

    __slots__ = ()
    takes_several: ClassVar[bool] = True

    @property
    @abstractmethod
    def radius(self) -> Fraction:
        """How far a near value may be."""

    @abstractmethod
    def distance(self, question: MicrodataQuestion, column: str) -> Distance:
        """What near means."""

    @abstractmethod
    def requirements(self, groups: Groups, balls: Balls) -> tuple[Requirement, ...]:
        """What is asked of the largest balls."""

    def look(self, question: MicrodataQuestion, groups: Groups) -> GroupFinding:
        """Find the largest ball of every group."""
        distance = self.distance(question, str(groups.sensitive))
        balls = largest_balls(groups, distance, self.radius)
        return GroupFinding(
            question, groups, balls.cells, self.requirements(groups, balls), (balls, distance)
        )

    def facts(self, finding: GroupFinding) -> dict[str, Any]:
        """Which distance was meant."""
        return {"distance": finding.kept[1].name}

    def learned(
        self, finding: GroupFinding, number: int, requirement: Requirement
    ) -> Claimed | None:
        """Somebody's value is near the one at the centre of the largest ball."""
        balls, distance = finding.kept
        dictionary = finding.groups.dictionary
        centre = dictionary[balls.centre(number)]
        near = {dictionary[code]: code for code in balls.around(number).tolist()}
        everywhere = np.flatnonzero(
            balls.nearness.near(balls.centre(number), np.arange(len(dictionary)))
        )
        counts = finding.people_with(number)
        words = saying(finding.column, centre)
        if len(near) > 1:
            column = (
                f"{'an' if finding.column[0].lower() in 'aeiou' else 'a'} {spoken(finding.column)}"
            )
            words = f"has {column} within {self._radius_of(distance)} of {value_text(centre)}"
        return claimed(
            finding,
            number,
            {value: count for value, count in counts.items() if value in near},
            words,
            table=[dictionary[code] for code in everywhere.tolist()],
            first=centre,
            centre=centre,
            neighbours=list(near),
        )

    def _radius_of(self, distance: Distance) -> str:
        if distance.unit and self.radius.denominator == 1:
            return plural(distance.unit, int(self.radius))
        return plain(self.radius)


def largest_share(balls: Balls) -> Ratios:
    """The share of each group that its largest ball has; all of it where nothing is known."""
    return Ratios(np.maximum(1, balls.sizes), np.maximum(1, balls.cells.known))
