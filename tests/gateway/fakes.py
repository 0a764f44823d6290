"""Stands in for the decision where tests are about the rest:
what runs is what was asked, unless the query says otherwise.
"""

from __future__ import annotations

import os
import time
from typing import Any

from tacit.gateway.policy.decisions import Decision

REFUSED = {
    "discloses": "cancer",
    "undecided": "cancer",
    "may-fail": "cancer",
    "not-granted": None,
    "syntax": None,
    "too-large": None,
    "parameters": None,
}


class Decider:
    """Allows every query as it is. `/* code */` in front refuses it with that code;
    hang, crash and fault do as they say.
    """

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def decide(
        self, role: str, sql: str, parameters: Any = (), asker: Any = None, *more: Any
    ) -> Decision:
        code = (
            sql.partition("*/")[0].removeprefix("/*").strip() if sql.startswith("/*") else "allowed"
        )
        if code == "hang":
            time.sleep(3600)
        if code == "crash":
            os._exit(11)
        if code == "fault":
            raise RuntimeError("Ellen Moss")
        if code == "told":
            return Decision(
                True,
                "allowed",
                "told",
                sql=f"SELECT '{type(parameters[0]).__name__}' AS told",
                columns=("told",),
            )
        if code in REFUSED:
            return Decision(
                False, code, f"refused as {code}.", "Ask something else.", REFUSED[code]
            )
        return Decision(True, "allowed", "allowed.", sql=sql, columns=("one",), key=sql)
