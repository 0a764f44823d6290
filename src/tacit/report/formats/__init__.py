"""Formats that other programs read: SARIF, JUnit, the log of GitHub Actions, Markdown.

None of them shows personal values: they end in logs and on pages that many people can read.
"""

from __future__ import annotations

from importlib import import_module

from tacit.report.formats.findings import Findings

FORMATS = ("sarif", "junit", "github", "markdown")


def render(name: str, findings: Findings) -> str:
    """The findings in one of the formats, as text that ends with a new line."""
    module = import_module(f"tacit.report.formats.{name}")
    text: str = module.render(findings)
    return text
