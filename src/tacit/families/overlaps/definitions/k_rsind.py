"""k-RSIND: can the people be divided into crowds of k who could swap the values they have? (Yao
et al., Definition 4)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

from tacit.errors import DataError, ParameterError
from tacit.families.definition import DefinitionFacts, check_seconds
from tacit.families.overlaps.definitions.overlap_definition import (
    MOST_NAMED,
    MOST_SAID,
    SECONDS,
    OverlapDefinition,
    counted_sizes,
    crowds_json,
    described,
    key_json,
    known_for_certain,
    no_table,
    person_label,
)
from tacit.families.overlaps.meanings import surely
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.swapping.rsind import RestrictedCrowds, Variant, rsind_level
from tacit.families.overlaps.system import NoTable
from tacit.families.parameters import whole
from tacit.families.words import listed, people
from tacit.model.deadline import until
from tacit.model.verdict import Certificate, Reason, Verdict, Witness


@dataclass(frozen=True, slots=True)
class KRsind(OverlapDefinition):
    """The people can be divided into crowds of at least `k`, each of whom can swap the values that
    the crowd has now.

    `variant` diverse asks that each crowd has at least two different values. Definition 4 as
    printed (literal) does not: then a crowd of people who all have the same value counts, and
    releasing the whole table is 2-RSIND where every value occurs twice.

    >>> KRsind(k=3).label, KRsind(k=3, variant="literal").label
    ('3-RSIND', '3-RSIND (literal)')
    >>> KRsind(k=2, variant="exact")
    Traceback (most recent call last):
    tacit.errors.ParameterError: there is no variant 'exact'. Use diverse or literal.
    """

    k: int
    variant: Variant = "diverse"
    seconds: Any = SECONDS

    check_name: ClassVar[str] = "k-rsind"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="who somebody is told apart from, by the values that they have",
        against="who sees all the views and knows everybody's public columns",
        measured="how many people can swap the values that they have",
        risks=("singling out",),
        disclosures=("identity",),
    )

    def __post_init__(self) -> None:
        because = "protects nobody: everybody is alone in a crowd of one"
        object.__setattr__(self, "k", whole("k", self.k, least=2, because=because))
        if self.variant not in get_args(Variant):
            raise ParameterError(
                f"there is no variant {self.variant!r}.",
                parameter="variant",
                hint="Use diverse or literal.",
            )
        check_seconds(self.seconds)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{self.k}-RSIND" + (" (literal)" if self.variant == "literal" else "")

    def check(self, question: OverlapQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for the division with the largest crowds."""
        if question.overlap.current is None:
            hint = "Give the table a file that has the column, or ask k-sind."
            raise DataError(
                f"k-rsind needs everybody's {question.sensitive}, and the table does not have it.",
                hint=hint,
            )
        base = Verdict(
            check=self.check_name,
            label=self.label,
            status="holds",
            because="",
            evidence=Certificate("crowds"),
            measure="how many people can swap the values that they have now",
            required={"k": self.k, "variant": self.variant},
            assumptions=question.assumptions,
            **described(question),
        )
        base = replace(base, warnings=(*base.warnings, *known_for_certain(question)))
        try:
            meant = surely(question.overlap.values, question.meanings)
            with until(self.seconds):
                found = rsind_level(question.overlap, self.variant, question.job, meant=meant)
        except NoTable:
            raise no_table(question) from None
        return self._verdict(base, question, found)

    def _verdict(
        self, base: Verdict, question: OverlapQuestion, found: RestrictedCrowds
    ) -> Verdict:
        sizes = [sum(many for _, _, many in crowd) for crowd in found.sets]
        measured = {"k": found.level, "crowds": len(sizes), "sizes": counted_sizes(sizes)}
        base = replace(base, measured=measured, personal=crowds_json(question, found.sets))
        if found.level < found.most:
            base = replace(base, certainty="conservative")
        values = "" if self.variant == "literal" else ", each with two different values at least"
        if found.level >= self.k:
            because = (
                f"the people can be divided into {crowds_of(len(sizes), found.level)} who can "
                f"swap the values that they have{values}"
            )
            return replace(
                base, because=because, evidence=Certificate("crowds", {"smallest": found.level})
            )
        if found.most >= self.k:
            return self._undecided(base, found.level)
        size = f"at least {people(found.level)} each" if found.level else "any size"
        because = (
            f"no division into crowds of {self.k} who can swap the values that they "
            f"have{values}; the best has {size}"
        )
        if not found.level:
            because = (
                "the people cannot be divided into crowds who can swap the values that they "
                f"have{values}"
            )
        evidence, story = self._smallest(question, found)
        return replace(base, status="breached", because=because, story=story, evidence=evidence)

    def _smallest(
        self, question: OverlapQuestion, found: RestrictedCrowds
    ) -> tuple[Witness, str | None]:
        """The smallest crowd of the best division; where there is none, that is all."""
        if not found.sets:
            return Witness("set", {"size": 0}), None
        crowd = min(found.sets, key=lambda one: sum(many for _, _, many in one))
        members = [
            (key, value)
            for class_, value, many in crowd
            for key in question.members(class_, min(many, MOST_NAMED), value)
        ][:MOST_NAMED]
        values = list(dict.fromkeys(question.overlap.values[value] for _, value, _ in crowd))
        said = listed(
            [person_label(key) for key, _ in members[:MOST_SAID]]
            + ([f"{found.level - MOST_SAID:,} more"] if found.level > MOST_SAID else [])
        )
        story = f"In the best division the smallest crowd is {said}."
        return Witness(
            "set",
            {"size": found.level},
            {"people": [key_json(key) for key, _ in members], "values": values},
        ), story

    def _undecided(self, base: Verdict, level: int) -> Verdict:
        text = (
            f"A division into crowds of {level:,} was found; whether there is one with {self.k:,} "
            f"was not settled in {float(self.seconds):g} seconds. Allow more with seconds:, or ask "
            "for a smaller k."
        )
        return replace(
            base,
            status="undecided",
            certainty="exact",
            because="this could not be decided",
            evidence=Reason("time", text),
        )


def crowds_of(many: int, level: int) -> str:
    """So many crowds, of so many people at least.

    >>> crowds_of(1, 7), crowds_of(3, 2)
    ('one crowd of 7', '3 crowds of at least 2 people')
    """
    return (
        f"one crowd of {level:,}" if many == 1 else f"{many:,} crowds of at least {people(level)}"
    )
