"""The tables that benchmarks run on: one that is generated, one that is public."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import duckdb
import numpy as np

HERE = Path(__file__).parent
ROWS = 4_591_581
LANDS_QUASI = ("zipcode", "orderdate", "gender", "style", "price", "quantity", "shipment")
ADULT_QUASI = ("age", "sex", "race", "marital_status", "education", "native_country", "workclass")


def lands_end(rows: int = ROWS) -> Path:
    """A folder with a table shaped like Machanavajjhala's (2008) Lands End
    database (Table 3.8), and its plan.

    The real table is not public. Numbers of rows and of values per column are the printed ones; the
    skew (frequencies fall with a power of the rank) is ours. The seed is fixed: the figures of ARX
    that Tacit is compared with were measured on these very rows.
    """
    folder = HERE / "data" / f"lands-end-{rows}"
    if not (folder / "tacit.yaml").exists():
        write_lands(folder, rows)
    return folder


def write_lands(folder: Path, rows: int = ROWS) -> None:
    """Draw the columns, write them as Parquet, and the hierarchies as CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(20261115)
    zips = np.array(
        [f"{code:05d}" for code in np.sort(rng.choice(np.arange(501, 99951), 31953, replace=False))]
    )
    days = np.arange(np.datetime64("2003-01-01"), np.datetime64("2003-01-01") + 320).astype(str)
    styles = np.array([f"S{number:04d}" for number in range(1509)])
    prices = np.array(
        [f"{price:04d}" for price in np.sort(rng.choice(np.arange(1, 10000), 346, replace=False))]
    )
    costs = np.array([f"C{number:03d}" for number in range(147)])
    # The order of the draws is part of what makes the table.
    write_columns(
        folder / "lands.parquet",
        {
            "zipcode": skewed(rng, zips, 0.7, rows),
            "orderdate": (
                days,
                np.concatenate((np.arange(320), rng.integers(0, 320, max(0, rows - 320))))[:rows],
            ),
            "gender": (np.array(["M", "F"]), (rng.random(rows) < 0.65).astype(int)),
            "style": skewed(rng, styles, 0.8, rows),
            "price": skewed(rng, prices, 0.8, rows),
            "quantity": (np.array(["1"]), np.zeros(rows, dtype=int)),
            "shipment": (np.array(["STD", "EXP"]), (rng.random(rows) < 0.2).astype(int)),
            "cost": skewed(rng, costs, 0.6, rows),
        },
    )
    write_hierarchy(
        folder / "zipcode.csv",
        [(z, f"{z[:4]}*", f"{z[:3]}**", f"{z[:2]}***", f"{z[:1]}****", "*") for z in zips],
    )
    write_hierarchy(
        folder / "price.csv", [(p, f"{p[:3]}*", f"{p[:2]}**", f"{p[:1]}***", "*") for p in prices]
    )
    (folder / "tacit.yaml").write_text(LANDS_PLAN)


def write_columns(path: Path, columns: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
    """Write values and codes of each column as Parquet."""
    connection = duckdb.connect()
    connection.register("codes", {name: codes for name, (_, codes) in columns.items()})
    for name, (values, _) in columns.items():
        connection.register(
            f"values_{name}", {"v": values.astype(object), "code": np.arange(len(values))}
        )
    picked = ", ".join(f"values_{name}.v AS {name}" for name in columns)
    joined = " ".join(
        f"JOIN values_{name} ON codes.{name} = values_{name}.code" for name in columns
    )
    connection.execute(f"COPY (SELECT {picked} FROM codes {joined}) TO '{path}' (FORMAT parquet)")


def skewed(
    rng: np.random.Generator, values: np.ndarray, skew: float, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Values in random order, and codes whose frequencies fall with a power of the rank;
    every value occurs.
    """
    values = values.copy()
    rng.shuffle(values)
    codes = rng.choice(len(values), size=rows, p=falling(len(values), skew))
    first = min(len(values), rows)
    codes[:first] = np.arange(first)
    rng.shuffle(codes)
    return values, codes


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
  five: {table: lands}
  entropy: {table: lands}
  recursive: {table: lands}
checks:
  - k-anonymity: {release: raw, k: 5}
  - l-diversity: {release: raw, kind: recursive, c: 3, l: 4}
  - k-anonymity: {release: coarse, k: 5}
  - l-diversity: {release: coarse, kind: recursive, c: 3, l: 4}
  - k-anonymity: {release: five, k: 5}
  - l-diversity: {release: entropy, kind: entropy, l: 4}
  - l-diversity: {release: recursive, kind: recursive, c: 3, l: 4}
"""


def adult() -> Path | None:
    """The Adult census extract (45,222 rows), where it is: TACIT_DATA or ../shared/data."""
    folders = [os.environ.get("TACIT_DATA"), HERE.parent.parent / "shared" / "data"]
    found = [Path(folder) / "adult" / "adult.csv" for folder in folders if folder]
    return next((path for path in found if path.is_file()), None)


def adult_folder(rows: int = 30_162) -> Path | None:
    """A folder with the first rows of Adult, its taxonomies and a plan:
    what ARX was measured on.
    """
    path = adult()
    if path is None:
        return None
    folder = HERE / "data" / f"adult-{rows}"
    if not (folder / "tacit.yaml").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with path.open() as lines:
            (folder / "adult.csv").write_text("".join(islice(lines, rows + 1)))
        for name in ADULT_QUASI:
            (folder / f"{name}.csv").write_bytes(
                (path.parent / f"hierarchy_{name}.csv").read_bytes()
            )
        (folder / "tacit.yaml").write_text(ADULT_PLAN)
    return folder


ADULT_PLAN = """\
version: 1
tables:
  adult:
    file: adult.csv
    quasi-identifiers: [age, sex, race, marital_status, education, native_country, workclass]
    sensitive: [occupation]
    as-written: [occupation]
    hierarchies:
      age: age.csv
      sex: sex.csv
      race: race.csv
      marital_status: marital_status.csv
      education: education.csv
      native_country: native_country.csv
      workclass: workclass.csv
releases:
  five: {table: adult}
  entropy: {table: adult}
  recursive: {table: adult}
checks:
  - k-anonymity: {release: five, k: 5}
  - l-diversity: {release: entropy, kind: entropy, l: 4}
  - l-diversity: {release: recursive, kind: recursive, c: 3, l: 4}
"""


def people(rows: int) -> Path:
    """A folder with a table of people who have numbers, categories and a salary, and its plan.
    The seed is fixed.
    """
    folder = HERE / "data" / f"people-{rows}"
    if not (folder / "tacit.yaml").exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(rows)
        table = {
            "age": np.clip(rng.normal(40, 14, rows), 17, 90).astype(int),
            "district": rng.choice(2000, size=rows, p=falling(2000, 0.7)),
            "hours": np.clip(rng.normal(40, 12, rows), 1, 99).astype(int),
            "sex": rng.integers(0, 2, rows),
            "schooling": rng.choice(16, size=rows, p=falling(16, 0.8)),
            "salary": np.exp(rng.normal(8, 0.6, rows)).astype(int),
        }
        connection = duckdb.connect()
        connection.register("people", table)
        connection.execute(f"COPY people TO '{folder / 'people.parquet'}' (FORMAT parquet)")
        (folder / "tacit.yaml").write_text(PEOPLE_PLAN)
    return folder


def falling(number: int, skew: float) -> np.ndarray:
    """Frequencies that fall with a power of the rank."""
    weight = 1 / np.arange(1, number + 1) ** skew
    return weight / weight.sum()


PEOPLE_PLAN = """\
version: 1
tables:
  people:
    file: people.parquet
    quasi-identifiers: [age, district, hours, sex, schooling]
    sensitive: [salary]
    hierarchies: {age: {ranges: [5, 10, 20]}, district: {ranges: [10, 100, 500]}, hours: {ranges: [5, 20]}, sex: "*", schooling: {ranges: [4]}}
releases:
  five: {table: people}
"""  # noqa: E501


if __name__ == "__main__":
    write_lands(Path(sys.argv[1]), *(int(rows) for rows in sys.argv[2:]))
