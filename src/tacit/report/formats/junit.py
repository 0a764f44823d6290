"""JUnit's XML: each check is a test. Viewers of continuous integration read it."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tacit.report.formats.findings import Findings, ReportFinding

# What XML 1.0 cannot hold, not even escaped.
FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(findings: Findings) -> str:
    """One suite, a case for each check; what fails the command fails here."""
    suite = Element("testsuite", name=clean(findings.plan))
    for finding in findings:
        suite.append(case(finding, findings))
    outcomes = [child.tag for one in suite for child in one]
    totals = {
        "tests": str(len(findings.found)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{findings.seconds:.3f}",
    }
    suite.attrib.update(totals)
    root = Element("testsuites", {"name": "Tacit", **totals})
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def case(finding: ReportFinding, findings: Findings) -> Element:
    """A check as a test."""
    verdict = finding.verdict
    found = Element(
        "testcase",
        classname=f"tacit.{verdict.check}",
        name=clean(finding.title),
        file=clean(findings.plan),
        line=str(finding.line),
        time=f"{verdict.seconds:.3f}",
    )
    if verdict.status != "holds":
        is_failure = verdict.status in findings.fails and verdict.fails
        fails = "failure" if is_failure else "skipped"
        tag = "error" if finding.went_wrong else fails
        outcome = SubElement(found, tag, message=clean(verdict.because))
        if tag != "skipped":
            outcome.set("type", verdict.status)
        outcome.text = clean(f"{findings.plan}:{finding.line}: {finding.text}")
    return found


def clean(text: str) -> str:
    """A text without the characters that XML cannot hold.

    >>> clean("ward\\x00 A")
    'ward\\ufffd A'
    """
    return FORBIDDEN.sub("\ufffd", text)
