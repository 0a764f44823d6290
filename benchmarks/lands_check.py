"""`tacit check` on 4.6 million rows against a bare GROUP BY in the same process, in CPU seconds."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.data import LANDS_QUASI, lands_end
from benchmarks.meter import cpu

REPEATS = 3


def bare_group_by(folder: Path, release: str) -> Callable[[], object]:
    """The lower limit: count the same combinations, recoded the same way, and nothing else."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(
        f"CREATE VIEW lands AS SELECT * FROM read_parquet('{folder / 'lands.parquet'}')"
    )
    columns = ", ".join(LANDS_QUASI)
    if release == "coarse":
        columns = "zipcode[:2], orderdate[:7], gender, price[:1], quantity, shipment"
    query = (
        f"SELECT count(*), max(n) FROM (SELECT {columns}, cost, count(*) AS n FROM lands "
        "GROUP BY ALL)"
    )
    return lambda: connection.execute(query).fetchall()


def tacit_check(folder: Path, release: str) -> Callable[[], object]:
    from tacit.checking.assess import assess
    from tacit.plan.read.load import load_plan

    plan = load_plan(folder / "tacit.yaml")
    return lambda: assess(plan, only=[release])


def main(release: str, what: str) -> None:
    folder = lands_end()
    found: dict[str, float] = {}
    if what == "time":
        found["bare"], _ = cpu(bare_group_by(folder, release), REPEATS)
        found["tacit"], _ = cpu(tacit_check(folder, release), REPEATS)
    else:
        tacit_check(folder, release)()
        found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
