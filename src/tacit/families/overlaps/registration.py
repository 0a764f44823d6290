"""Registration of several views of one table: the checks that a plan may ask, and their keys."""

from __future__ import annotations

from tacit.families.registration import (
    CheckKey,
    CheckKind,
    Registration,
    choice,
    integer,
    joint_check,
    number,
    optional,
)
from tacit.model.release import Microdata, View


def check(name: str, definition: str, *parameters: CheckKey) -> CheckKind:
    """A check of views of one table, of which some may be microdata."""
    return joint_check(name, f"overlaps.definitions.{definition}", (View, Microdata), *parameters)


CHECKS = (
    check(
        "gamma-privacy",
        "gamma_privacy.GammaPrivacy",
        number("gamma"),
        *optional(number("epsilon", "0.02"), number("theta", "0.95"), number("seconds", "60")),
    ),
    check("k-sind", "k_sind.KSind", integer("k"), *optional(number("seconds", "60"))),
    check(
        "k-rsind",
        "k_rsind.KRsind",
        integer("k"),
        *optional(choice("variant", "diverse", "literal"), number("seconds", "60")),
    ),
)
REGISTRATION = Registration("overlaps", CHECKS)
