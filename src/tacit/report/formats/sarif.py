"""SARIF 2.1.0: what code scanning reads. Checks that hold are no results: scanners would show
them as alerts.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import quote

from tacit import __version__
from tacit.model.verdict import Verdict, as_json
from tacit.report.formats.findings import Findings, ReportFinding

LEVELS = {"breached": "error", "undecided": "warning"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(findings: Findings) -> str:
    """One run of Tacit, with a result for each check that does not hold."""
    results = [one for one in findings if one.verdict.status != "holds"]
    kinds = list(dict.fromkeys(one.verdict.check for one in results))
    run = {
        "tool": {
            "driver": {
                "name": "Tacit",
                "semanticVersion": __version__,
                "rules": [rule(kind, results) for kind in kinds],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {"executionSuccessful": not any(one.went_wrong for one in findings)},
        ],
        "results": [result(one, kinds.index(one.verdict.check), findings) for one in results],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def rule(kind: str, results: list[ReportFinding]) -> dict[str, Any]:
    """What a kind of check is about."""
    verdict = next(one.verdict for one in results if one.verdict.check == kind)
    return {
        "id": kind,
        "name": "".join(word.capitalize() for word in kind.split("-")),
        "shortDescription": {"text": f"The release does not meet its {kind} check."},
        "fullDescription": {"text": described(verdict)},
        "defaultConfiguration": {"level": "error"},
    }


def described(verdict: Verdict) -> str:
    """What a check protects, against whom and by which measure."""
    return (
        f"Protects {verdict.protects or 'the people of the release'} against "
        f"{verdict.against or 'anyone who sees it'}. Measure: {verdict.measure or verdict.label}."
    )


def result(finding: ReportFinding, rule_index: int, findings: Findings) -> dict[str, Any]:
    """A check that does not hold, at its place in the plan."""
    verdict = finding.verdict
    return {
        "ruleId": verdict.check,
        "ruleIndex": rule_index,
        "level": LEVELS[verdict.status],
        "message": {"text": f"{finding.title}: {finding.text}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(findings.plan)},
                    "region": {"startLine": finding.line, "startColumn": finding.column},
                }
            }
        ],
        "partialFingerprints": {"tacitCheck/v1": fingerprint(verdict)},
        **(
            {"suppressions": [{"kind": "external", "justification": str(verdict.waived)}]}
            if verdict.waived
            else {}
        ),
        "properties": {
            "status": verdict.status,
            "certainty": verdict.certainty,
            "measured": as_json(verdict.measured),
            "required": as_json(verdict.required),
        },
    }


def fingerprint(verdict: Verdict) -> str:
    """The same for the same question, wherever it stands in the plan and whatever is found."""
    asked = [verdict.check, verdict.label, verdict.name, as_json(verdict.subject)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]
