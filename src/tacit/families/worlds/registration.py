"""Registration of view safety: the checks that a plan may ask, and their keys."""

from __future__ import annotations

from tacit.families.registration import (
    SECRET,
    CheckKey,
    CheckKind,
    Registration,
    choice,
    joint_check,
    number,
    optional,
)
from tacit.model.release import Constraint, View


def view_safety(name: str, definition: str) -> CheckKind:
    """g-safety or e-safety: what a new view says beyond the published ones."""
    return joint_check(
        name,
        f"worlds.definitions.{definition}",
        (View, Constraint),
        SECRET,
        *optional(
            choice("over", "instance", "domain", "all"),
            CheckKey("dictionary", "names", "[TABLE.COLUMN]"),
            number("seconds", "60"),
        ),
    )


CHECKS = (
    view_safety("g-safety", "g_safety.GSafety"),
    view_safety("e-safety", "e_safety.ESafety"),
)
REGISTRATION = Registration("worlds", CHECKS)
