"""Tables to drop on a page: Adult where it is, and one that is drawn like it."""

from __future__ import annotations

import csv
import os
import random
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).parents[2]
COLUMNS = (
    "name",
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "native_country",
)
# Shares out of 100, roughly as in the census extract.
DRAWN = {
    "workclass": {"Private": 74, "Self-emp": 11, "Local-gov": 8, "State-gov": 4, "Federal-gov": 3},
    "education": {
        "HS-grad": 34,
        "Some-college": 24,
        "Bachelors": 19,
        "Masters": 7,
        "11th": 6,
        "Assoc": 8,
        "Doctorate": 2,
    },
    "marital_status": {
        "Married": 48,
        "Never-married": 32,
        "Divorced": 14,
        "Separated": 3,
        "Widowed": 3,
    },
    "occupation": {
        "Craft-repair": 13,
        "Prof-specialty": 13,
        "Exec-managerial": 13,
        "Adm-clerical": 12,
        "Sales": 12,
        "Other-service": 11,
        "Machine-op": 7,
        "Transport": 5,
        "Handlers": 5,
        "Farming": 4,
        "Tech-support": 3,
        "Protective": 2,
    },
    "race": {"White": 86, "Black": 9, "Asian": 3, "Other": 2},
    "sex": {"Male": 67, "Female": 33},
    "native_country": {
        "United-States": 91,
        "Mexico": 3,
        "Philippines": 2,
        "Germany": 2,
        "Canada": 2,
    },
}


def adult() -> Path | None:
    """The Adult census extract, where it is."""
    return shared("adult/adult.csv")


def heart() -> Path | None:
    """The heart disease records of Cleveland, where they are."""
    return shared("heart/heart_cleveland.csv")


def shared(name: str) -> Path | None:
    """A file of TACIT_DATA or ../shared/data, where it is there."""
    folders = [os.environ.get("TACIT_DATA"), ROOT.parent / "shared" / "data"]
    found = [Path(folder) / name for folder in folders if folder]
    return next((path for path in found if path.is_file()), None)


def write_adult(place: Path, rows: int) -> Path:
    """The first rows of Adult as a file."""
    path = adult()
    assert path is not None
    with path.open(encoding="utf-8") as lines:
        place.write_text("".join(islice(lines, rows + 1)), "utf-8")
    return place


def write_census(place: Path, rows: int, seed: int = 10) -> Path:
    """A table of made-up people that looks like Adult. The same seed gives the same people."""
    rng = random.Random(seed)
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(rows):
            drawn = [rng.choices(list(shares), shares.values())[0] for shares in DRAWN.values()]
            writer.writerow(
                [f"Person {number:06d}", min(90, 17 + int(rng.gammavariate(3, 8))), *drawn]
            )
    return place


LONG_PLAN = """\
version: 1
tables:
  people:
    person: [name]
    identifiers: [name]
    quasi-identifiers: [{columns}]
    sensitive: [illness]
    as-written: [illness]
    hierarchies: {{{levels}}}
releases:
  june: {{table: people, method: mondrian}}
checks:
  - k-anonymity: {{release: june, k: 5}}
  - l-diversity: {{release: june, kind: distinct, l: 4}}
"""


def write_long(folder: Path, rows: int, columns: int = 8) -> Path:
    """A plan whose table takes a while to divide into groups of
    their own, and the table beside it.
    """
    rng = random.Random(rows)
    names = [f"c{number}" for number in range(columns)]
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *names, "illness"])
        for number in range(rows):
            writer.writerow(
                [
                    f"P{number}",
                    *(int(100 * rng.random() ** 2) for _ in names),
                    "abcdefgh"[int(8 * rng.random())],
                ]
            )
    plan = folder / "tacit.yaml"
    plan.write_text(
        LONG_PLAN.format(
            columns=", ".join(names),
            levels=", ".join(f"{name}: {{ranges: [4, 16, 32]}}" for name in names),
        ),
        "utf-8",
    )
    return plan
