"""The search through the levels of Adult (30,162 rows, 2,160 nodes) where a tenth of the rows may
be dropped, beside the same search without; and the values of k that can be met, and at which loss.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.anonymize_adult import lattice_of, raw_question
from benchmarks.data import adult_folder
from benchmarks.meter import cpu

SHARE = 10
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "5-anonymity": ("k-anonymity", {"k": 5}),
    "recursive (3,4)-diversity": ("l-diversity", {"kind": "recursive", "c": 3, "l": 4}),
    "marketer risk of 0.05": ("risk", {"attacker": "marketer", "at_most": "0.05"}),
}


def searching(raw: Any, check: tuple[str, dict[str, Any]], suppress: int) -> Callable[[], Any]:
    """The search for the least loss and all minimal levels, from nothing but the counts."""
    from tacit.families.catalog import define
    from tacit.families.microdata.repair.costs import cost_by
    from tacit.families.microdata.repair.node_judge import NodeJudge
    from tacit.families.microdata.repair.requirements import Required
    from tacit.families.microdata.repair.search import search

    def work() -> Any:
        required = [Required(define(*check))]
        judge = NodeJudge(raw, required, lattice_of(raw), suppress=suppress)
        return search(judge, cost_by(judge, "loss"))

    return work


def exploring(folder: Path, suppress: str) -> Callable[[], Any]:
    """Which k can be met at which loss, with counting the table."""
    from fractions import Fraction

    from tacit.families.microdata.runs.explore import explore
    from tacit.plan.read.load import load_plan

    plan = load_plan(folder / "tacit.yaml")
    return lambda: explore(plan, "five", options={"suppress": Fraction(suppress)})


def main() -> None:
    folder = adult_folder()
    if folder is None:
        print(json.dumps({"skipped": "Adult is not here"}))
        return
    raw = raw_question(folder, "adult")
    rows = []
    for name, check in ASKED.items():
        peer, whole = cpu(searching(raw, check, 0), 1)
        seconds, found = cpu(searching(raw, check, raw.rows // SHARE), 1)
        rows.append(
            {
                "name": name,
                "seconds": seconds,
                "asked": found.asked,
                "cost": found.cost,
                "peer": peer,
                "peer_cost": whole.cost,
                "goal": "as fast as without",
            }
        )
    peer, whole = cpu(exploring(folder, "0"), 1)
    seconds, found = cpu(exploring(folder, "1/10"), 1)
    rows.append(
        {
            "name": f"which of {len(found.rungs)} k can be met",
            "seconds": seconds,
            "asked": "all their",
            "cost": next(rung.cost for rung in found.rungs if rung.asked_for),
            "peer": peer,
            "peer_cost": next(rung.cost for rung in whole.rungs if rung.asked_for),
            "goal": "10 s CPU",
        }
    )
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
