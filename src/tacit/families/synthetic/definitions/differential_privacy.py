"""differential-privacy: no output becomes much likelier by one person's value, but for a chance
of delta. (Definitions 4.1 and 4.4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.synthetic.definitions.synthetic_definition import SyntheticDefinition
from tacit.families.synthetic.promise import accounting
from tacit.families.synthetic.promise.terms import Guarantee


@dataclass(frozen=True, slots=True)
class DifferentialPrivacy(SyntheticDefinition):
    """(epsilon, delta)-differential privacy of a synthetic release;
    without parameters those of the release are asked.

    Neighbouring tables differ in one person's value, and group sizes are public.
    It stays true of whatever is made of the output, and groups do not add up.

    >>> DifferentialPrivacy(epsilon="ln(50)", delta="1e-6").label
    '(ln(50), 1e-06)-differential privacy'
    >>> DifferentialPrivacy(epsilon=0)
    Traceback (most recent call last):
    tacit.errors.ParameterError: epsilon is 0; write a number above 0, for example 1 or ln(5).
    """

    epsilon: Any = None
    delta: Any = None

    check_name: ClassVar[str] = "differential-privacy"
    words: ClassVar[str] = "differential privacy"
    guarantee: ClassVar[Guarantee] = "dp"
    _but: ClassVar[str] = "but for a chance of delta"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against=(
            "who knows the values of everybody else and sees the output, whatever they do with it"
        ),
        measured="how much likelier one person's value makes any set of outputs",
        risks=("singling out", "linkability", "inference"),
        disclosures=("identity", "attribute"),
        composes=True,
    )

    def _composed(self, parts: list[tuple[float, float]], epsilon: float) -> float:
        return accounting.joint_delta(parts, epsilon)
