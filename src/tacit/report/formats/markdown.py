"""Markdown: a summary for a pull request or the summary page of a workflow."""

from __future__ import annotations

import re

from tacit.report.formats.findings import Findings, ReportFinding

SIGNS = {"holds": "holds", "breached": "**breached**", "undecided": "*undecided*"}
# What Markdown or HTML could take for markup, also when a name of the plan or the data holds it.
MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|<>~&@])")


def render(findings: Findings) -> str:
    """A headline and a table, a row for each check."""
    rows = [row(one, findings.plan) for one in findings]
    return "\n".join(
        [
            f"### Tacit: {plain(findings.headline)}",
            "",
            "| check | result | because | where |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def row(finding: ReportFinding, plan: str) -> str:
    """A check in a row."""
    place = plain(f"{plan}:{finding.line}")
    found = SIGNS[finding.verdict.status] + (", waived" if finding.verdict.waived else "")
    return f"| {plain(finding.title)} | {found} | {plain(finding.text)} | {place} |"


def plain(text: str) -> str:
    """A text on one line that Markdown shows as it is.

    >>> plain("a|b\\n<img>")
    'a\\\\|b \\\\<img\\\\>'
    """
    return MARKUP.sub(r"\\\1", " ".join(text.split()))
