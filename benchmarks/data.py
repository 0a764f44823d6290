"""The tables that benchmarks run on: one that is generated, one that is public."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np

HERE = Path(__file__).parent
ROWS = 4_591_581
LANDS_QUASI = ("zipcode", "orderdate", "gender", "style", "price", "quantity", "shipment")
ADULT_QUASI = ("age", "sex", "race", "marital_status", "education", "native_country", "workclass")


def lands_end(rows: int = ROWS) -> Path:
    """A folder with a table shaped like the dissertation's Lands End database (Table 3.8), and its plan.

    The real table is not public. Numbers of rows and of values per column are the printed ones;
    the skew (frequencies fall with a power of the rank) is ours. The seed is fixed.
    """
    folder = HERE / "data" / f"lands-{rows}"
    if not (folder / "tacit.yaml").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_lands(folder, rows)
    return folder


def write_lands(folder: Path, rows: int) -> None:
    """Draw the columns, write them as Parquet, and the hierarchies as CSV."""
    rng = np.random.default_rng(4591581)
    zips = [f"{code:05d}" for code in np.sort(rng.choice(np.arange(501, 99951), 31953, replace=False))]
    days = np.arange(np.datetime64("2003-01-01"), np.datetime64("2003-01-01") + 320).astype(str).tolist()
    prices = [f"{price:04d}" for price in np.sort(rng.choice(np.arange(1, 10000), 346, replace=False))]
    columns: dict[str, tuple[Sequence[str], float]] = {
        "zipcode": (zips, 0.7),
        "orderdate": (days, 0.0),
        "gender": (["F", "M"], 0.9),
        "style": ([f"S{i:04d}" for i in range(1509)], 0.8),
        "price": (prices, 0.8),
        "quantity": (["1"], 0.0),
        "shipment": (["STD", "EXP"], 2.0),
        "cost": ([f"C{i:03d}" for i in range(147)], 0.6),
    }
    table = {name: skewed(rng, values, skew, rows) for name, (values, skew) in columns.items()}
    connection = duckdb.connect()
    connection.register("codes", table)
    for name, (values, _) in columns.items():
        connection.register(f"values_{name}", {"v": np.array(values, dtype=object), "code": np.arange(len(values))})
    picked = ", ".join(f"values_{name}.v AS {name}" for name in columns)
    joined = " ".join(f"JOIN values_{name} ON codes.{name} = values_{name}.code" for name in columns)
    connection.execute(f"COPY (SELECT {picked} FROM codes {joined}) TO '{folder / 'lands.parquet'}' (FORMAT parquet)")
    write_hierarchy(folder / "zipcode.csv", [(z, f"{z[:4]}*", f"{z[:3]}**", f"{z[:2]}***", f"{z[:1]}****", "*") for z in zips])
    write_hierarchy(folder / "price.csv", [(p, f"{p[:3]}*", f"{p[:2]}**", f"{p[:1]}***", "*") for p in prices])
    (folder / "tacit.yaml").write_text(LANDS_PLAN)


def skewed(rng: np.random.Generator, values: Sequence[str], skew: float, rows: int) -> np.ndarray:
    """Codes drawn with frequencies that fall with a power of a random rank; every value occurs."""
    weight = 1 / np.arange(1, len(values) + 1) ** skew
    codes = rng.permutation(len(values))[rng.choice(len(values), size=rows, p=weight / weight.sum())]
    codes[: len(values)] = np.arange(len(values))[:rows]
    return rng.permutation(codes)


def write_hierarchy(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.write_text("\n".join(";".join(row) for row in rows) + "\n")


LANDS_PLAN = """\
version: 1
tables:
  lands:
    file: lands.parquet
    quasi-identifiers: [zipcode, orderdate, gender, style, price, quantity, shipment]
    sensitive: [cost]
    hierarchies:
      zipcode: zipcode.csv
      orderdate: {dates: [month, quarter]}
      gender: "*"
      style: "*"
      price: price.csv
      quantity: "*"
      shipment: "*"
releases:
  raw: {table: lands}
  coarse: {table: lands, generalization: {zipcode: 3, orderdate: 1, style: 1, price: 3}}
checks:
  - k-anonymity: {release: raw, k: 5}
  - l-diversity: {release: raw, kind: recursive, c: 3, l: 4}
  - k-anonymity: {release: coarse, k: 5}
  - l-diversity: {release: coarse, kind: recursive, c: 3, l: 4}
"""


def adult() -> Path | None:
    """The Adult census extract (45,222 rows), where it is: TACIT_DATA or ../shared/data."""
    folders = [os.environ.get("TACIT_DATA"), HERE.parent.parent / "shared" / "data"]
    found = [Path(folder) / "adult" / "adult.csv" for folder in folders if folder]
    return next((path for path in found if path.is_file()), None)
