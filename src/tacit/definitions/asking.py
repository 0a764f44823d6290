"""Asking a definition about a microdata release: a verdict holds only if it holds under every reading of the values."""

from __future__ import annotations

from tacit.definitions.base import Definition
from tacit.errors import DataError, Mark, PlanError
from tacit.model.verdict import Verdict
from tacit.tables.microdata import MicrodataQuestion


def answer_with(
    definition: Definition, question: MicrodataQuestion, sensitive: str | None, mark: Mark | None
) -> Verdict:
    """Ask one definition; errors point at the check."""
    if definition.needs_sensitive and not question.sensitive:
        raise PlanError(
            f"{definition.check_name} needs a sensitive column, and table {question.table.name} has none.",
            hint="Name it under the table: sensitive: [condition]",
            mark=mark,
        )
    if sensitive is None and len(question.sensitive) == 1:
        sensitive = question.sensitive[0]
    readings = [*reversed(question.readings), question]
    try:
        verdicts = [definition.check(reading, sensitive=sensitive) for reading in readings]
    except DataError as error:
        raise error.at(mark) from None
    # Where a value may be no value at all, "holds" must be right either way.
    return min(
        verdicts, key=lambda verdict: ("breached", "undecided", "holds").index(verdict.status)
    )
