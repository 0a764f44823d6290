"""Registration of views against secrets: the checks that a plan may ask, and their keys."""

from __future__ import annotations

from tacit.families.registration import (
    SECRET,
    Registration,
    choice,
    joint_check,
    number,
    optional,
)
from tacit.model.release import View

CHECKS = (
    joint_check(
        "perfect-privacy",
        "queries.definitions.perfect_privacy.PerfectPrivacy",
        (View,),
        SECRET,
        *optional(
            choice("semantics", "set", "bag"),
            choice("model", "tuple-independent", "attribute-independent"),
            number("seconds"),
        ),
    ),
)
REGISTRATION = Registration("queries", CHECKS)
