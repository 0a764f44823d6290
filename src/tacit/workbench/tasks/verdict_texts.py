"""Verdicts in words, as the tasks of repairing bring them back from processes of their own."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class VerdictText:
    """A verdict in words."""

    status: str
    label: str
    because: str
    story: str = ""

    @classmethod
    def of(cls, verdict: Verdict) -> VerdictText:
        """From a verdict, for the owner."""
        label = f"{verdict.name}: {verdict.label}" if verdict.name else verdict.label
        return cls(
            verdict.status,
            label,
            verdict.because,
            verdict.story or (verdict.reason.text if verdict.reason else ""),
        )
