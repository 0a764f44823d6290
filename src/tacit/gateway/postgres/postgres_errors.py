"""Errors: what a client of PostgreSQL's protocol is told where it gets no answer: a SQLSTATE, the
words, a hint, and the place in its query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.gateway.policy.refusals import Refusal

# By the code of the refusal; what the policy forbids is 42501 whatever its code.
STATES = {
    "syntax": "42601",
    "not-read": "0A000",
    "not-a-query": "25006",
    "unknown-table": "42P01",
    "unknown-column": "42703",
    "unknown-function": "42883",
    "ambiguous-table": "42712",
    "ambiguous-column": "42702",
    "parameters": "42P02",
    "too-large": "54000",
    "role": "42501",
    "token": "28P01",
    "timeout": "57014",
    "busy": "53300",
    "limit": "53400",
    "answer-bytes": "54000",
    "answer-recorded": "54000",
    "cost": "54000",
    "ledger": "58030",
    "policy": "57P03",
    "users": "57P03",
    "database": "22000",
    "audit": "58030",
    "fault": "XX000",
}
PLACE = re.compile(r" \(line (\d+), column (\d+)\)(?=\.?$)")


class Trouble(Exception):
    """An error, as the protocol has it; `fatal` ends the session."""

    def __init__(
        self,
        state: str,
        message: str,
        *,
        hint: str | None = None,
        detail: str | None = None,
        position: int | None = None,
        fatal: bool = False,
    ) -> None:
        super().__init__(message)
        self.state = state
        self.message = message
        self.hint = hint
        self.detail = detail
        self.position = position
        self.fatal = fatal

    def fields(self) -> dict[str, str]:
        """Its fields, by the letters of the protocol."""
        severity = "FATAL" if self.fatal else "ERROR"
        found = {"S": severity, "V": severity, "C": self.state, "M": self.message}
        more = {"D": self.detail, "H": self.hint, "P": self.position and str(self.position)}
        return found | {letter: said for letter, said in more.items() if said}


def trouble_of(refusal: Refusal, sql: str = "") -> Trouble:
    """A refusal as an error. Where its words name a line and a column of the query, these become
    the position, counted in letters.

    >>> from tacit.gateway.policy.refusals import Refusal
    >>> found = trouble_of(
    ...     Refusal(400, "syntax", "what is this (line 2, column 3)."), "SELECT\\n  !"
    ... )
    >>> found.state, found.message, found.position
    ('42601', 'what is this.', 10)
    """
    state = "42501" if refusal.status == 403 else STATES.get(refusal.code, "42000")
    if refusal.status == 503 and refusal.code == "database":
        state = "57P03"
    if refusal.status == 429:
        state = "53400"
    place = PLACE.search(refusal.message)
    about = f"; it is about {refusal.secret}" if refusal.secret else ""
    return Trouble(
        state,
        PLACE.sub("", refusal.message),
        hint=refusal.hint,
        detail=f"The code of this refusal is {refusal.code}{about}.",
        position=place and position_of(sql, int(place[1]), int(place[2])),
    )


def position_of(sql: str, line: int, column: int) -> int | None:
    """The number of a letter, from 1, by its line and column; None where there is none."""
    lines = sql.split("\n")
    if not 1 <= line <= len(lines) or column > len(lines[line - 1]) + 1:
        return None
    return sum(len(one) + 1 for one in lines[: line - 1]) + column
