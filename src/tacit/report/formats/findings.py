"""Findings: each verdict with the place of its check in the plan, without personal values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tacit.model.verdict import Reason, Status, Verdict, subject_text
from tacit.plan.plan import Check, Plan

# Which statuses make the command fail, by what --fail-on says.
FAILS_ON: Mapping[str, frozenset[Status]] = {
    "breached": frozenset({"breached"}),
    "undecided": frozenset({"breached", "undecided"}),
}
HEADLINE = {
    "breached": "Not ready to release: {count} breached",
    "undecided": "Not decided: {count} undecided",
    "waived": "{count} waived; the others hold",
    "holds": "The releases meet the checks of this plan",
}


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """What one check found, and where the plan asks for it."""

    verdict: Verdict
    line: int
    column: int

    @property
    def title(self) -> str:
        """What was asked: the check's own name where it has one, and the definition.

        >>> from tacit.model.verdict import Certificate
        >>> verdict = Verdict(
        ...     "k-anonymity",
        ...     "4-anonymity",
        ...     {"release": "april"},
        ...     "holds",
        ...     "",
        ...     Certificate("groups"),
        ... )
        >>> ReportFinding(verdict, 1, 1).title
        '4-anonymity of april'
        """
        asked = f"{self.verdict.label} of {subject_text(self.verdict.subject)}"
        return f"{self.verdict.name}: {asked}" if self.verdict.name else asked

    @property
    def text(self) -> str:
        """What was found, with its waiver and notes."""
        evidence = self.verdict.evidence
        more = evidence.text if isinstance(evidence, Reason) else ""
        said = (self.verdict.because, more, *self.verdict.remarks)
        return " ".join(sentence(one) for one in said if one)

    @property
    def went_wrong(self) -> bool:
        """Did Tacit itself go wrong at this check?"""
        evidence = self.verdict.evidence
        return isinstance(evidence, Reason) and evidence.code == "internal"


@dataclass(frozen=True, slots=True)
class Findings:
    """What all checks found. `fails` are the statuses that make the command fail."""

    plan: str
    found: tuple[ReportFinding, ...]
    fails: frozenset[Status]
    seconds: float = 0.0

    def __iter__(self) -> Iterator[ReportFinding]:
        return iter(self.found)

    def count(self, status: Status) -> int:
        """How many checks have a status that nobody waived."""
        return sum(
            one.verdict.status == status and one.verdict.waived is None for one in self.found
        )

    @property
    def headline(self) -> str:
        """The worst of it, in a few words."""
        for status in ("breached", "undecided"):
            if count := self.count(status):
                return HEADLINE[status].format(count=f"{count} of {len(self.found)} checks")
        if waived := sum(one.verdict.waived is not None for one in self.found):
            return HEADLINE["waived"].format(count=f"{waived} of {len(self.found)} checks")
        return HEADLINE["holds"]


def find(
    plan: Plan,
    checks: Sequence[Check],
    verdicts: Sequence[Verdict],
    fails: frozenset[Status],
    seconds: float,
) -> Findings:
    """Each verdict with the place of its check; both are in the plan's order."""
    found = []
    for check, verdict in zip(checks, verdicts, strict=True):
        mark = plan.mark(*check.path)
        found.append(ReportFinding(verdict, (mark and mark.line) or 1, (mark and mark.column) or 1))
    return Findings(path_from_here(plan.file), tuple(found), fails, seconds)


def path_from_here(file: str) -> str:
    """A file as programs write it that look at a repository: from this folder, with slashes."""
    path = Path(file).resolve()
    here = Path.cwd().resolve()
    return str(PurePosixPath(path.relative_to(here) if path.is_relative_to(here) else path))


def sentence(text: str) -> str:
    """A text that begins with a capital and ends with a full stop.

    >>> sentence("a group of 1 person, 4 required")
    'A group of 1 person, 4 required.'
    """
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "!", "?")) else f"{whole}."
