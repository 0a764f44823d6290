"""k-SIND: is everybody in a crowd of k people who could swap their values without anybody
noticing? (Yao et al., Definition 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tacit.errors import DataError, MissingExtra
from tacit.families.definition import DefinitionFacts, check_seconds
from tacit.families.overlaps.definitions.overlap_definition import (
    SECONDS,
    OverlapDefinition,
    counted_sizes,
    crowd_story,
    crowds_json,
    described,
    known_for_certain,
    no_table,
    views,
)
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.swapping.sind import conservative_partition, sind_partition
from tacit.families.overlaps.system import NoTable
from tacit.families.parameters import whole
from tacit.families.words import people
from tacit.model.deadline import OutOfTime, until
from tacit.model.verdict import Certainty, Certificate, Verdict, Witness


@dataclass(frozen=True, slots=True)
class KSind(OverlapDefinition):
    """Everybody is in a crowd of at least `k` people who can swap their values in every table that
    fits the views.

    People who would look the same in every view whatever their value are always in one crowd. If
    these crowds are large enough it holds; whether others can join them is asked of a solver for
    `seconds`, and where that does not end the verdict is conservative.

    >>> KSind(k=3).label
    '3-SIND'
    >>> KSind(k=1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: k=1 protects nobody: everybody is alone in a crowd of one. Use k >= 2.
    """  # noqa: E501

    k: int
    seconds: Any = SECONDS

    check_name: ClassVar[str] = "k-sind"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="who somebody is told apart from, by what they may have",
        against="who sees all the views and knows everybody's public columns",
        measured="how many people can swap their values in every fitting table",
        risks=("singling out",),
        disclosures=("identity",),
    )

    def __post_init__(self) -> None:
        because = "protects nobody: everybody is alone in a crowd of one"
        object.__setattr__(self, "k", whole("k", self.k, least=2, because=because))
        check_seconds(self.seconds)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{self.k}-SIND"

    def check(self, question: OverlapQuestion, *, sensitive: str | None = None) -> Verdict:
        """Find the crowds, and the smallest of them."""
        sets, certainty, warnings = self._crowds(question)
        sizes = [sum(int(question.overlap.sizes[one]) for one in crowd) for crowd in sets]
        at = min(range(len(sets)), key=lambda one: sizes[one])
        base = Verdict(
            check=self.check_name,
            label=self.label,
            status="holds",
            because="",
            evidence=Certificate("crowds"),
            certainty=certainty,
            measure="how many people can swap their values in every table that fits the views",
            required={"k": self.k},
            assumptions=question.assumptions,
            measured={"k": sizes[at], "crowds": len(sets), "sizes": counted_sizes(sizes)},
            personal=crowds_json(
                question, [[(one, None, None) for one in crowd] for crowd in sets]
            ),
            **described(question),
        )
        base = replace(base, warnings=(*base.warnings, *warnings, *known_for_certain(question)))
        if sizes[at] >= self.k:
            because = (
                f"everybody can swap values with at least {people(sizes[at] - 1)} in every "
                f"table that fits {views(question)}"
            )
            return replace(
                base, because=because, evidence=Certificate("crowds", {"smallest": sizes[at]})
            )
        because = f"the smallest crowd has {people(sizes[at])}, {self.k} required"
        with until(self.seconds):
            shown, story = crowd_story(question, sets[at], sizes[at])
        return replace(
            base,
            status="breached",
            because=because,
            story=story,
            evidence=Witness("set", {"size": sizes[at]}, shown),
        )

    def _crowds(
        self, question: OverlapQuestion
    ) -> tuple[Sequence[Sequence[int]], Certainty, tuple[str, ...]]:
        """The crowds as sets of classes: all of them, or those who look the same in every view."""
        alike = conservative_partition(question.overlap)
        try:
            with until(self.seconds):
                return sind_partition(question.overlap, question.job).sets, "exact", ()
        except NoTable:
            raise no_table(question) from None
        except OutOfTime:
            if question.overlap.current is None:  # perhaps no table fits at all
                raise DataError(
                    "whether any table fits these answers was not settled in "
                    f"{float(self.seconds):g} seconds.",
                    hint="Allow more with seconds:, or ask about fewer views.",
                ) from None
            return (
                alike.sets,
                "conservative",
                (
                    (
                        "whether crowds can be joined was not settled in "
                        f"{float(self.seconds):g} seconds"
                    ),
                ),
            )
        except MissingExtra:
            if alike.smallest < self.k or question.overlap.current is None:
                raise
            return (
                alike.sets,
                "conservative",
                ("whether crowds can be joined was not asked: that needs the extra solve",),
            )
