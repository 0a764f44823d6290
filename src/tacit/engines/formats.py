"""Which files hold a table, by the endings of their names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Format = Literal["csv", "parquet", "arrow", "excel", "json lines", "statistics"]

PACKED = (".gz", ".zst")
TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ENDINGS: dict[Format, tuple[str, ...]] = {
    "csv": (*TEXT, *(text + packed for text in TEXT for packed in PACKED)),
    "parquet": PARQUET,
    "arrow": (".arrow", ".feather"),
    "excel": (".xlsx",),
    "json lines": (".jsonl", ".ndjson"),
    "statistics": (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"),
}
TABLE_FILES = tuple(ending for endings in ENDINGS.values() for ending in endings)
# What a browser is told to offer: it knows last endings only.
LAST_ENDINGS = (*dict.fromkeys(f".{ending.rpartition('.')[2]}" for ending in TABLE_FILES),)
IN_WORDS = (
    "CSV (.csv, .tsv, .txt, also with .gz or .zst), Parquet (.parquet, .pq), Excel (.xlsx), JSON "
    "lines (.jsonl, .ndjson), Arrow or Feather (.arrow, .feather), SPSS (.sav, .zsav), Stata "
    "(.dta) or SAS (.sas7bdat, .xpt)"
)


def ending_of(path: Path) -> str:
    """The ending of a table's file, with that of its packing; "" where it is none of them.

    >>> ending_of(Path("a.b/Patients.CSV.gz")), ending_of(Path("t.xlsx")), ending_of(Path("t.gz"))
    ('.csv.gz', '.xlsx', '')
    """
    name = path.name.lower()
    fitting = [one for one in TABLE_FILES if name.endswith(one) and len(name) > len(one)]
    return max(fitting, key=len, default="")


def format_of(path: Path) -> Format:
    """How a file is written; what has no known ending is read as CSV.

    >>> format_of(Path("t.csv.gz")), format_of(Path("t.feather")), format_of(Path("t.data"))
    ('csv', 'arrow', 'csv')
    """
    ending = ending_of(path)
    return next((one for one, endings in ENDINGS.items() if ending in endings), "csv")
