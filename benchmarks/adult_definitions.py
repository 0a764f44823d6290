"""Every definition on one release of Adult:
one scan of the data, and how long each takes beside counting.
"""

from __future__ import annotations

import json
import time

from benchmarks.data import ADULT_QUASI, adult


def main() -> None:
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.catalog import define
    from tacit.families.microdata.reading.source import count_table
    from tacit.model.schema import RangeHierarchy, Table
    from tacit.plan.plan import Plan

    path = adult()
    if path is None:
        print(
            json.dumps(
                {
                    "skipped": (
                        "Adult is not here; set TACIT_DATA to the folder that has adult/adult.csv"
                    )
                }
            )
        )
        return
    asked = {
        "k-anonymity": ({"k": 5}, "occupation"),
        "l-diversity": ({"kind": "recursive", "c": 3, "l": 4}, "occupation"),
        "t-closeness": ({"t": "0.5"}, "occupation"),
        "alpha-k": ({"alpha": "0.5", "k": 5}, "occupation"),
        "k-e": ({"k": 3, "e": 10}, "hours_per_week"),
        "variance": ({"v": 10}, "hours_per_week"),
        "eps-m": ({"epsilon": 5, "m": 2}, "hours_per_week"),
        "dissimilarity": ({"epsilon": 5, "delta": "0.2", "k": 5}, "hours_per_week"),
        "risk": ({"at-most": "0.2"}, "occupation"),
        "semantic": ({"measure": {"positive": "0.9"}}, "occupation"),
        "c-k-safety": ({"c": "0.99", "k": 2}, "occupation"),
        "skyline": ({"l": 1, "k": 1, "m": 1, "c": "0.99"}, "occupation"),
    }
    table = Table(
        "adult",
        file=path.name,
        quasi_identifiers=ADULT_QUASI,
        sensitive=("occupation", "hours_per_week"),
        hierarchies={"age": RangeHierarchy((5, 10, 20))},
    )
    engine = DuckDB(folder=path.parent)
    plan = Plan("", path.parent, mark=lambda *place: None)
    engine.attach(table)
    begun = time.perf_counter()
    counted = count_table(engine, table, plan)
    scan = time.perf_counter() - begun
    levels = {
        name: tree.level(0) for name, tree in counted.hierarchies.items() if name in ADULT_QUASI
    }
    rows = []
    for name, (parameters, column) in asked.items():
        question = counted.question("raw", levels)
        question.groups(column)
        question.before(column)
        definition = define(name, parameters)
        begun = time.perf_counter()
        verdict = definition.check(question, sensitive=column)
        rows.append(
            {"name": name, "seconds": time.perf_counter() - begun, "status": verdict.status}
        )
    print(json.dumps({"scan": scan, "rows": rows}))


if __name__ == "__main__":
    main()
