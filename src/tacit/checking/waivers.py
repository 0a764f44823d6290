"""Waivers: which verdict somebody accepts although it does not hold, and until when.

`tacit check` counts what they say. What is recorded in the ledger, and the gateway, do not.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from tacit.model.verdict import INTERNAL, Verdict, Waiver


def with_waiver(verdict: Verdict, waiver: Waiver, today: date) -> Verdict:
    """The same verdict, waived; or with a note where the waiver has ended, or is not needed.

    Nobody can accept what Tacit did not find out because it went wrong itself.
    """
    if today > waiver.until:
        text = f"the waiver by {waiver.by} ended on {waiver.until.isoformat()} and does not count"
        return replace(verdict, warnings=(*verdict.warnings, text))
    if verdict.status == "holds":
        text = f"it holds: the waiver by {waiver.by} is not needed"
        return replace(verdict, warnings=(*verdict.warnings, text))
    if verdict.reason is not None and verdict.reason.code == INTERNAL:
        return verdict
    return replace(verdict, waived=waiver)
