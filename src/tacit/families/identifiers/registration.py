"""Registration of direct identifiers: the check that a plan may ask, and its keys."""

from __future__ import annotations

from tacit.families.registration import NAME, OUT, CheckKind, Registration, integer, optional
from tacit.model.release import Microdata, View

CHECKS = (
    CheckKind(
        "hipaa-identifiers",
        "identifiers.definitions.hipaa_identifiers.HipaaIdentifiers",
        (Microdata, View),
        (*optional(integer("year", "2026")), *OUT, *NAME),
    ),
)
REGISTRATION = Registration("identifiers", CHECKS)
