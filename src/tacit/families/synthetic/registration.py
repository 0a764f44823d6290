"""Registration of synthetic data: the checks that a plan may ask, and their keys."""

from __future__ import annotations

from tacit.families.registration import (
    CheckKey,
    CheckKind,
    Registration,
    joint_check,
    number,
    optional,
)
from tacit.model.release import Synthetic


def check(name: str, definition: str) -> CheckKind:
    """A check of one mechanism or of several together; without parameters those of the releases
    count.
    """
    promised = CheckKey("epsilon", "epsilon", "4.6"), number("delta", "1e-5")
    return joint_check(
        name, f"synthetic.definitions.{definition}", (Synthetic,), *optional(*promised)
    )


CHECKS = (
    check("differential-privacy", "differential_privacy.DifferentialPrivacy"),
    check("probabilistic-dp", "probabilistic_dp.ProbabilisticDp"),
)
REGISTRATION = Registration("synthetic", CHECKS)
