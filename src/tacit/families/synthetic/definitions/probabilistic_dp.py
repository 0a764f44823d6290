"""probabilistic-dp: but for a chance of delta the output itself is one that no person's value
makes much likelier. (Definition 4.6)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.synthetic.definitions.synthetic_definition import SyntheticDefinition
from tacit.families.synthetic.promise.terms import Guarantee

NOT_KEPT = (
    "what is made of the output need not keep a promise of probabilistic dp; "
    "differential-privacy does"
)
ADDS_UP = (
    "over several groups a promise of probabilistic dp adds up: delta is that of all "
    "groups together"
)


@dataclass(frozen=True, slots=True)
class ProbabilisticDp(SyntheticDefinition):
    """(epsilon, delta)-probabilistic differential privacy of a synthetic release;
    without parameters those of the release are asked.

    >>> ProbabilisticDp(epsilon=4.6, delta="1e-5").label
    '(4.6, 1e-05)-probabilistic dp'
    """

    epsilon: Any = None
    delta: Any = None

    check_name: ClassVar[str] = "probabilistic-dp"
    words: ClassVar[str] = "probabilistic dp"
    guarantee: ClassVar[Guarantee] = "pdp"
    _but: ClassVar[str] = "but for outputs that together have a chance of delta"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against="who knows the values of everybody else and sees the output itself",
        measured="the chance of an output that one person's value makes much likelier",
        risks=("singling out", "linkability", "inference"),
        disclosures=("identity", "attribute"),
        composes=True,
    )

    def _cautions(self) -> tuple[str, ...]:
        return NOT_KEPT, ADDS_UP
