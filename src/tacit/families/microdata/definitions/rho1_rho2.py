"""(rho1,rho2)-privacy: does anybody's belief move from below rho1
to above rho2? (Machanavajjhala 2008, 3.3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.beliefs.background_adversary import (
    BackgroundAdversary,
    with_prior,
)
from tacit.families.microdata.definitions.beliefs.disclosure_measures import Upward
from tacit.families.microdata.definitions.beliefs.prior import FilePrior, Rows
from tacit.families.microdata.definitions.beliefs.semantic_keys import read_file, read_upward
from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.semantic import Semantic
from tacit.families.microdata.definitions.together.person_view import Needs, PersonView, Score
from tacit.families.microdata.groups import Mask
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Rho1Rho2(MicrodataDefinition):
    """No Bayes-optimal belief in a value, or in its opposite, moves
    from below `rho1` to above `rho2`.

    `prior` is f(q, s), the distribution of quasi-identifiers and value that is believed before the
    release; without it, how frequent each value is in the whole table. The belief after the release
    is that of Theorem 3.1. Machanavajjhala 2008, Definition 3.6. A preset of `Semantic`.

    >>> Rho1Rho2(rho1="0.31", rho2="0.58").label
    '(0.31,0.58)-privacy'
    >>> Rho1Rho2(rho1=0.5, rho2=1)
    Traceback (most recent call last):
    tacit.errors.ParameterError: rho2=1 protects nobody: no belief is above it. Use 0 < rho1 < rho2 < 1.
    """  # noqa: E501

    rho1: Any
    rho2: Any
    prior: FilePrior | str | None = None
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "rho1-rho2"
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value, and its opposite",
        against="who knows that a person is in the table, how they look, and a prior",
        measured="how far a belief moves",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        MicrodataDefinition.__post_init__(self)
        measure = read_upward(self.rho1, self.rho2)
        object.__setattr__(self, "rho1", measure.rho1)
        object.__setattr__(self, "rho2", measure.rho2)
        if self.prior is not None:
            object.__setattr__(self, "prior", read_file(self.prior, "prior"))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return Upward(self.rho1, self.rho2).label

    def with_files(self, read: Callable[[str], Rows]) -> Rho1Rho2:
        """The same definition with the prior read."""
        return replace(self, prior=with_prior(BackgroundAdversary(prior=self.prior), read).prior)

    def is_monotone_for(self, question: MicrodataQuestion) -> bool:
        """Yes, unless the prior tells people apart (Theorem 3.2)."""
        return self._semantic().is_monotone_for(question)

    @property
    def looks_up(self) -> bool:
        """Yes, where there is a prior."""
        return self.prior is not None

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely each value is; what a prior adds is defined for one release."""
        return self._semantic().asks_together

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone."""
        return self._semantic().alone_because

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The greatest belief that was below rho1 before."""
        return self._semantic().scores(seen)

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """The groups in which a belief jumps."""
        return self._semantic().failing(question, sensitive=sensitive)

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for the greatest belief that was below rho1 before."""
        verdict = self._semantic().check(question, sensitive=sensitive)
        required = {
            key: value
            for key, value in verdict.required.items()
            if key not in ("protect", "against")
        }
        required |= verdict.required["against"]
        return replace(verdict, check=self.check_name, required=required)

    def _semantic(self) -> Semantic:
        adversary = BackgroundAdversary(prior=self.prior)
        return Semantic(Upward(self.rho1, self.rho2), against=adversary, missing=self.missing)
