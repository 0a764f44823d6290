"""Makes adult.csv of the files that UCI publishes:
python prepare.py FOLDER, where adult.data and adult.test are.

Both parts together, without the rows that have a missing value (`?`):
the 45,222 rows of Machanavajjhala (2008).
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "salary_class",
)


def complete_rows(path: Path) -> Iterator[list[str]]:
    """The rows of one part that have every value; the test part writes a point behind the last."""
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines, skipinitialspace=True):
            if len(row) == len(COLUMNS) and "?" not in row:
                yield [*row[:-1], row[-1].removesuffix(".")]


def prepare(folder: Path) -> int:
    """Write adult.csv into the folder; how many rows it has."""
    rows = [row for part in ("adult.data", "adult.test") for row in complete_rows(folder / part)]
    with (folder / "adult.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    return len(rows)


if __name__ == "__main__":
    print(f"adult.csv has {prepare(Path(sys.argv[1])):,} rows")
