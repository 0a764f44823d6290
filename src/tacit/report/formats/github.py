"""The log of GitHub Actions: an annotation at each check of the plan that does not hold."""

from __future__ import annotations

from tacit.report.formats.findings import Findings, ReportFinding

COMMANDS = {"breached": "error", "undecided": "warning"}


def render(findings: Findings) -> str:
    """One workflow command for each check that does not hold, and one line that sums up."""
    lines = [annotation(one, findings.plan) for one in findings if one.verdict.status != "holds"]
    return "".join(f"{line}\n" for line in [*lines, escaped(findings.headline)])


def annotation(finding: ReportFinding, plan: str) -> str:
    """A workflow command."""
    place = f"file={value(plan)},line={finding.line},col={finding.column}"
    command = "notice" if finding.verdict.waived else COMMANDS[finding.verdict.status]
    return f"::{command} {place},title={value(finding.title)}::{escaped(finding.text)}"


def escaped(text: str) -> str:
    """A text that stays in its line.

    >>> escaped("100 %\\n::error::")
    '100 %25%0A::error::'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """A value of a workflow command.

    >>> value("may: a, b")
    'may%3A a%2C b'
    """
    return escaped(text).replace(":", "%3A").replace(",", "%2C")
