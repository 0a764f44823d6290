"""A city on a river that does not exist: where its people live and work, by a gravity model.

    python examples/commuters/city.py FOLDER [--tracts 600]
    [--workplaces 200] [--jobs 100000] [--seed 1]

Writes flows.csv (origin, destination, jobs) and tracts.csv, with the columns of the published data
of New York. The same seed gives the same city everywhere: only `random()` of the standard library
is drawn from.
"""

from __future__ import annotations

import argparse
import csv
import math
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import NormalDist

COLUMNS = 30  # tracts from west to east, a mile apart
ROW = math.sqrt(3) / 2  # miles between rows: each tract has six neighbours at a mile
WEST, SOUTH = -93.40, 44.82  # degrees of the south-western corner
MILE = 1 / 69.0  # degrees of latitude
PULL = 4.0  # miles over which a home becomes e times less likely
BRIDGE = 1.5  # miles that crossing the river adds
LEAST, MOST = 3, 20_000  # jobs of a workplace
SPREAD = 1.6  # of the logarithm of its jobs
CENTRES = (
    (0.50, 0.50, 1.0),
    (0.78, 0.60, 0.6),
    (0.22, 0.25, 0.3),
)  # where, as parts of the map, and how heavy
QUARTERS = 5  # tracts from west to east that share a name, and from south to north


@dataclass(frozen=True, slots=True)
class Tract:
    """A piece of the city: where it is, in miles from the south-western corner, and its quarter."""

    code: int
    quarter: str
    x: float
    y: float

    @property
    def position(self) -> tuple[float, float]:
        """Latitude and longitude."""
        latitude = SOUTH + self.y * MILE
        return latitude, WEST + self.x * MILE / math.cos(math.radians(SOUTH))


@dataclass(frozen=True)
class City:
    """So many tracts, workplaces in some of them, and about so many jobs.

    >>> small = City(tracts=60, workplaces=8, jobs=500, seed=3)
    >>> small.flows == City(tracts=60, workplaces=8, jobs=500, seed=3).flows
    True
    """

    tracts: int = 600
    workplaces: int = 200
    jobs: int = 100_000
    seed: int = 1

    @property
    def height(self) -> float:
        """Miles from south to north."""
        return max(1.0, (self.tracts - 1) // COLUMNS * ROW)

    @cached_property
    def places(self) -> tuple[Tract, ...]:
        """The tracts, row by row."""
        found = []
        for number in range(self.tracts):
            row, column = divmod(number, COLUMNS)
            x, y = column + row % 2 / 2, row * ROW
            name = (
                f"{'North' if self.is_north(x, y) else 'South'} bank "
                f"{row // QUARTERS + 1}-{column // QUARTERS + 1}"
            )
            found.append(Tract(1_000_100 + 100 * number, name, x, y))
        return tuple(found)

    def is_north(self, x: float, y: float) -> bool:
        """On the northern bank of the river, which winds from west to east?"""
        return y > self.height * (0.45 + 0.12 * math.sin(x / COLUMNS * 2 * math.pi))

    def weight(self, tract: Tract, reach: float) -> float:
        """How dense a tract is: it falls by e over so many miles from a centre."""
        return sum(
            heavy
            * math.exp(-math.hypot(tract.x - across * COLUMNS, tract.y - up * self.height) / reach)
            for across, up, heavy in CENTRES
        )

    @cached_property
    def residents(self) -> list[float]:
        """The weight of each tract as a home;
        some are parks or yards where hardly anybody lives.
        """
        draw = Random(f"residents {self.seed}")
        return [
            self.weight(one, 6.0) * (0.02 if draw.random() < 0.06 else 0.5 + draw.random())
            for one in self.places
        ]

    @cached_property
    def work(self) -> dict[int, int]:
        """Which tracts have how many jobs: more in the centres, sizes log-normal."""
        draw = Random(f"work {self.seed}")
        weights = [self.weight(one, 3.5) for one in self.places]
        # The tracts that come first where each waits for a time that its weight makes shorter.
        waits = [-math.log(1 - draw.random()) / weight for weight in weights]
        chosen = sorted(sorted(range(self.tracts), key=waits.__getitem__)[: self.workplaces])
        normal = NormalDist()
        sizes = [
            math.exp(SPREAD * normal.inv_cdf(min(max(draw.random(), 1e-9), 1 - 1e-9)))
            for _ in chosen
        ]
        unit = self.jobs / sum(sizes)
        return {
            place: min(max(round(size * unit), LEAST), MOST)
            for place, size in zip(chosen, sizes, strict=True)
        }

    def miles(self, one: Tract, other: Tract) -> float:
        """How far it is to travel: over a bridge where the river is between."""
        detour = BRIDGE if self.is_north(one.x, one.y) != self.is_north(other.x, other.y) else 0.0
        return math.hypot(one.x - other.x, one.y - other.y) + detour

    @cached_property
    def flows(self) -> tuple[tuple[int, int, int], ...]:
        """Origin, destination and jobs: each worker lives in a tract with a chance of residents
        times exp(-miles / PULL).
        """
        draw = Random(f"flows {self.seed}")
        found = []
        for place, jobs in self.work.items():
            there = self.places[place]
            pulls = [
                many * math.exp(-self.miles(home, there) / PULL)
                for home, many in zip(self.places, self.residents, strict=True)
            ]
            homes = Counter(drawn(pulls, jobs, draw))
            found += [(self.places[home].code, there.code, many) for home, many in homes.items()]
        return tuple(sorted(found))


def drawn(weights: Sequence[float], number: int, draw: Random) -> Iterable[int]:
    """So many places, each with a chance of its weight."""
    sums = list(accumulate(weights))
    return (min(bisect(sums, draw.random() * sums[-1]), len(sums) - 1) for _ in range(number))


def write(city: City, folder: Path) -> None:
    """flows.csv and tracts.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "flows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("origin", "destination", "jobs"))
        writer.writerows(city.flows)
    with (folder / "tracts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("BoroCT2010", "geoid_tract2010", "nta_name", "lat", "lon"))
        for one in city.places:
            latitude, longitude = one.position
            writer.writerow(
                (one.code, f"99{one.code:09d}", one.quarter, f"{latitude:.6f}", f"{longitude:.6f}")
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a city into a folder."""
    parser = argparse.ArgumentParser(prog="city.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    for name, default in (("tracts", 600), ("workplaces", 200), ("jobs", 100_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"(default: {default:,})")
    asked = parser.parse_args(arguments)
    if not 0 < asked.workplaces <= asked.tracts or asked.jobs < 1:
        parser.error(
            "there are as many tracts as workplaces at least, and at least 1 of each, and 1 job"
        )
    city = City(asked.tracts, asked.workplaces, asked.jobs, asked.seed)
    write(city, asked.folder)
    jobs = sum(many for _, _, many in city.flows)
    print(
        f"{jobs:,} jobs in {len(city.work)} of {city.tracts} tracts, {len(city.flows):,} flows, "
        f"written to {asked.folder}"
    )


if __name__ == "__main__":
    main()
