"""The least generalization of 4.6 million rows shaped like Lands End (1,920 nodes):
the search, and the whole command.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

from benchmarks.anonymize_adult import command, raw_question, searched
from benchmarks.data import lands_end
from benchmarks.meter import cpu


def search_alone(kind: str) -> dict[str, Any]:
    """The search after the base count, and what this process needed at most (counting included)."""
    counting, raw = cpu(lambda: raw_question(lands_end(), "lands"), 1)
    seconds, found = cpu(lambda: searched(raw, (kind,), "loss"), 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "counting": counting,
        "combinations": len(raw.base),
        "seconds": seconds,
        "node": found.best,
        "cost": found.cost,
        "asked": found.asked,
        "megabytes": peak,
    }


def main(what: str, kind: str) -> None:
    found = (
        search_alone(kind)
        if what == "search"
        else command(lands_end(), kind, "lands.parquet", repeats=1)
    )
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
