"""The flows of a folder as SmartNoise SQL publishes them;
for an environment of its own, so this imports nothing of Tacit.

    python -m benchmarks.smartnoise_histogram FOLDER EPSILON DELTA

Reads FOLDER/flows.npz (group, value, count), writes FOLDER/smartnoise.npz and prints seconds and
megabytes. One row is one person, and epsilon and delta are for a table with one row more or less,
as SmartNoise has it.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.meter import Meter

QUERY = "SELECT destination, origin, COUNT(*) AS jobs FROM flows.jobs GROUP BY destination, origin"


def published(epsilon: float, delta: float, flows: Any) -> list[Any]:
    """The answer, row by row; the counts are given, as a database would have added them up."""
    import pandas
    from snsql import Privacy, from_df

    columns = {"destination": {"type": "int"}, "origin": {"type": "int"}}
    metadata = {
        "": {"flows": {"jobs": {"row_privacy": True, "rows": int(flows["count"].sum()), **columns}}}
    }
    reader = from_df(
        pandas.DataFrame({name: [0] for name in columns}),
        privacy=Privacy(epsilon=epsilon, delta=delta),
        metadata=metadata,
    )
    counted = zip(*(flows[name].tolist() for name in ("count", "group", "value")), strict=True)
    return list(
        reader.execute(QUERY, pre_aggregated=[("keycount", "destination", "origin"), *counted])[1:]
    )


def main(folder: str, epsilon: str, delta: str) -> None:
    warnings.filterwarnings("ignore")
    flows = dict(np.load(Path(folder) / "flows.npz"))
    import opendp.prelude  # noqa: F401
    import pandas  # noqa: F401
    import snsql  # noqa: F401

    begun = Meter()
    rows = published(float(epsilon), float(delta), flows)
    group, value, count = np.array(rows, np.int64).reshape(-1, 3).T
    found = begun.row()
    np.savez(Path(folder) / "smartnoise.npz", group=group, value=value, count=count)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
