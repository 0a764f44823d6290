"""The flows: New York's where they are here, and those of the city that is generated otherwise.

    python -m examples.commuters.data [--output examples/commuters/data] [--data FOLDER] [--city]

writes flows.csv, tracts.csv and districts.csv for tacit.yaml.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from examples.commuters.city import City, write

from tacit.errors import InputError, TacitError
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells
from tacit.families.synthetic.utility.flows import Floats, Flows
from tacit.families.synthetic.utility.positions import Positions, miles_between

HERE = Path(__file__).parent
FILES = ("flows.csv", "tracts.csv")
FOLDER = "commuters"


@dataclass(frozen=True)
class Commuters:
    """Who works where and lives where, over tracts with places and districts."""

    name: str
    codes: tuple[str, ...]
    districts: tuple[str, ...]  # of each tract
    latitude: Floats
    longitude: Floats
    flows: Flows  # groups are the tracts that have jobs, values all tracts
    outside: int  # jobs of people who live in no tract of the list

    @cached_property
    def positions(self) -> Positions:
        """Where tracts and workplaces are."""
        return Positions(
            self.latitude, self.longitude, self.latitude[self.work], self.longitude[self.work]
        )

    @cached_property
    def work(self) -> Integers:
        """The tract of each group."""
        places = {code: place for place, code in enumerate(self.codes)}
        return np.array([places[group] for group in self.flows.groups], np.int64)

    @cached_property
    def held(self) -> tuple[OccupiedCells, ...]:
        """The true people of each group, by tract."""
        every = self.flows.summed
        ends = np.searchsorted(every.group, np.arange(len(every.groups) + 1))
        return tuple(OccupiedCells(every.value[a:b], every.count[a:b]) for a, b in pairwise(ends))

    def miles(self, group: int) -> Floats:
        """How far every tract is from a group."""
        there = self.work[group]
        return miles_between(
            self.latitude, self.longitude, self.latitude[there], self.longitude[there]
        )

    @cached_property
    def regions(self) -> tuple[int, Integers]:
        """How many districts there are, and the number of each tract's."""
        names, numbers = np.unique(np.array(self.districts), return_inverse=True)
        return len(names), numbers.astype(np.int64)


def new_york(folder: Path | None = None) -> Path | None:
    """The folder with New York's flows: the one that is named, that of TACIT_DATA, or the one
    beside the repository.
    """
    named = (
        [folder]
        if folder
        else [
            Path(one)
            for one in (os.environ.get("TACIT_DATA"), HERE.parents[2] / "shared" / "data")
            if one
        ]
    )
    every = [where for one in named for where in (one / FOLDER, one)]
    found = next((one for one in every if all((one / name).is_file() for name in FILES)), None)
    if folder and found is None:
        raise InputError(
            f"{' and '.join(FILES)} are not in {folder}.",
            hint="Leave --data out: a city is generated then.",
        )
    return found


def read(folder: Path, name: str) -> Commuters:
    """The flows of a folder."""
    with (folder / "tracts.csv").open(encoding="utf-8", newline="") as lines:
        tracts = sorted(csv.DictReader(lines), key=lambda row: row["BoroCT2010"])
    codes = tuple(row["BoroCT2010"] for row in tracts)
    known = set(codes)
    with (folder / "flows.csv").open(encoding="utf-8", newline="") as lines:
        rows = [
            (row["destination"], row["origin"], int(row["jobs"])) for row in csv.DictReader(lines)
        ]
    inside = [row for row in rows if row[1] in known]
    groups = sorted({row[0] for row in inside} & known)
    inside = [row for row in inside if row[0] in known]
    latitude, longitude = (
        np.array([float(row[column]) for row in tracts]) for column in ("lat", "lon")
    )
    outside = sum(row[2] for row in rows) - sum(row[2] for row in inside)
    return Commuters(
        name,
        codes,
        tuple(row["nta_name"] for row in tracts),
        latitude,
        longitude,
        Flows.of(inside, groups, codes),
        outside,
    )


def commuters(folder: Path | None, scratch: Path, *, city: bool = False) -> Commuters:
    """New York, or the generated city, which is written into a folder first."""
    found = None if city else new_york(folder)
    if found is not None:
        return read(found, "New York")
    write(City(), scratch)
    return read(scratch, "the generated city")


def prepare(output: Path, folder: Path | None = None, *, city: bool = False) -> str:
    """flows.csv, tracts.csv and districts.csv (each tract's district) for the plan;
    answers where they come from.
    """
    found = None if city else new_york(folder)
    output.mkdir(parents=True, exist_ok=True)
    if found is None:
        write(City(), output)
    else:
        for name in FILES:
            shutil.copyfile(found / name, output / name)
    with (output / "tracts.csv").open(encoding="utf-8", newline="") as lines:
        rows = [(row["BoroCT2010"], row["nta_name"]) for row in csv.DictReader(lines)]
    with (output / "districts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("origin", "region"))
        writer.writerows(rows)
    return "New York" if found else "the generated city"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files of the plan."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.commuters.data", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=HERE / "data",
        help="the folder to write (default: data beside the plan)",
    )
    parser.add_argument(
        "--data", type=Path, help="the folder with New York's flows.csv and tracts.csv"
    )
    parser.add_argument(
        "--city", action="store_true", help="the generated city, even where New York is here"
    )
    asked = parser.parse_args(arguments)
    try:
        name = prepare(asked.output, asked.data, city=asked.city)
    except TacitError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{name} written to {asked.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
