"""Mondrian and the window on 10,000 to a million rows:
CPU seconds, and whether they grow as n log n.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.anonymize_adult import raw_question
from benchmarks.data import people
from benchmarks.meter import cpu

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)


def mondrian_way() -> Callable[[Any], Any]:
    """5-anonymity by Mondrian."""
    from tacit.families.catalog import define
    from tacit.families.microdata.repair.mondrian import mondrian
    from tacit.families.microdata.repair.requirements import Required

    return lambda raw: mondrian(raw, [Required(define("k-anonymity", {"k": 5}))])


def window_way() -> Callable[[Any], Any]:
    """(epsilon, delta)-dissimilarity of salaries by the window: what it was made for."""
    from tacit.families.catalog import define
    from tacit.families.microdata.repair.requirements import Required
    from tacit.families.microdata.repair.window import window

    return lambda raw: window(
        raw, [Required(define("dissimilarity", {"epsilon": 200, "delta": "0.5", "k": 5}))]
    )


def groups_of(outcome: Any) -> int:
    """How many groups were made."""
    if outcome.recoded is None:
        raise SystemExit(f"no groups: {outcome}")
    return len(outcome.recoded.question().groups())


def main(method: str, *sizes: str) -> None:
    way = {"mondrian": mondrian_way, "window": window_way}[method]()
    rows = []
    for number in map(int, sizes or SIZES):
        raw = raw_question(people(number), "people")
        seconds, outcome = cpu(lambda raw=raw: way(raw), 3 if number <= 100_000 else 1)
        rows.append(
            {
                "rows": number,
                "seconds": seconds,
                "groups": groups_of(outcome),
                "per_row_and_log": seconds / (number * math.log2(number)),
            }
        )
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
