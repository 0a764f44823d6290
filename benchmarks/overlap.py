"""Overlapping views of one table: all beliefs of chained and irregular views, possibility, crowds;
against plain counting.

    python -m benchmarks.overlap growth [FILE.svg] | peers | sampled |
    possible | crowds | one NAME PEOPLE

CPU seconds of one question in a process of its own, from classes to the answer; crowds from the
rows of a table. The peers are plain enumeration of all tables and a model counter (Ganak), where
these finish.
"""

from __future__ import annotations

import itertools
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import Axis, chart, exponents
from benchmarks.meter import measured, require
from tacit.families.overlaps.counting.average_beliefs import Beliefs, beliefs
from tacit.families.overlaps.overlap import Overlap, merged, overlap_of


@dataclass(frozen=True, slots=True)
class Chain:
    """Views in a row, each with some people in common with the next: a line of the picture."""

    views: int
    values: int
    share: Fraction  # of a view's people that the next one has too
    sizes: tuple[int, ...]  # people
    goal: float  # seconds for the largest size

    def overlap(self, people: int) -> Overlap:
        """The views of so many people with random values."""
        rng = random.Random(people)
        wide = int(people / (self.views - self.share * (self.views - 1)))
        step = wide - int(wide * self.share)
        ranges = [(view * step, view * step + wide) for view in range(self.views)]
        return ranged(people, range(self.values), ranges, rng)


CHAINS = {
    "10 views, 10 values, 10 % in common": Chain(10, 10, Fraction(1, 10), (250, 500, 1000), 5.0),
    "3 views, 20 values, 10 % in common": Chain(3, 20, Fraction(1, 10), (1250, 2500, 5000), 5.0),
    "5 views, 5 values, 30 % in common": Chain(5, 5, Fraction(3, 10), (250, 500, 1000), 60.0),
}


def ranged(
    people: int, values: Sequence[int], ranges: Sequence[tuple[int, int]], rng: random.Random
) -> Overlap:
    """Views of people in a line, each over a range of them."""
    truth = [rng.choice(values) for _ in range(people)]
    members = [
        [view for view, (low, high) in enumerate(ranges) if low <= person < high]
        for person in range(people)
    ]
    kept = [person for person in range(people) if members[person]]
    answers = [[truth[person] for person in range(low, min(high, people))] for low, high in ranges]
    return merged(overlap_of(list(values), answers, [members[person] for person in kept]))


def irregular(people: int, values: int, views: int, seed: int) -> Overlap:
    """Views over ranges of ages that begin and end anywhere."""
    rng = random.Random(seed)
    ages = sorted(rng.randint(20, 90) for _ in range(people))
    found = []
    for _ in range(views):
        wide = rng.randint(15, 40)
        low = rng.randint(20, 90 - wide)
        found.append((sum(age < low for age in ages), sum(age <= low + wide for age in ages)))
    return ranged(people, range(values), found, rng)


# -- growth and goals ------------------------------------------------------------------------------


def one(name: str, people: int) -> dict[str, Any]:
    """All beliefs of one chain."""
    views = CHAINS[name].overlap(people)
    begun = time.process_time()
    found = beliefs(views)
    seconds = time.process_time() - begun
    require(found.is_complete, f"{name}: not counted")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "name": name,
        "people": people,
        "seconds": seconds,
        "megabytes": megabytes,
        "how": how(found),
        "goal": CHAINS[name].goal,
    }


def how(found: Beliefs) -> str:
    """In integers, or between bounds that are so far apart at most."""
    if found.tables is not None:
        return f"10^{len(str(found.tables)) - 1} tables"
    apart = max(float(high - low) for _, _, (low, high) in found.shares())
    return f"between bounds {apart:.0e} apart"


def growth() -> list[dict[str, Any]]:
    """Every chain at every size."""
    return [
        alone("one", name, str(people)) for name, chain in CHAINS.items() for people in chain.sizes
    ]


# -- peers -----------------------------------------------------------------------------------------


def peers() -> list[dict[str, Any]]:
    """Two overlapping views of few people: Tacit, the model counter, and trying every table."""
    rows = []
    for people in (10, 12, 16, 20):
        rng = random.Random(people)
        half = (0, people * 3 // 5), (people * 2 // 5, people)
        truth = [rng.choice(range(3)) for _ in range(people)]
        views = ranged(people, range(3), half, random.Random(people))  # draws the same values
        begun = time.process_time()
        tables = beliefs(views).tables
        row: dict[str, Any] = {
            "people": people,
            "seconds": time.process_time() - begun,
            "tables": str(tables),
        }
        for name, count in (("ganak", by_models), ("plain", by_trying)):
            if name == "plain" and people > 12:
                continue
            begun = time.process_time()
            require(count(truth, half) == tables, f"{name} counts otherwise")
            row[name] = time.process_time() - begun
        rows.append(row)
    return rows


def by_models(truth: Sequence[int], ranges: Sequence[tuple[int, int]]) -> int:
    """The models of a formula."""
    from tests.oracles.model_counter import tables

    return tables(
        range(len(truth)),
        range(3),
        [(range(low, high), Counter(truth[low:high])) for low, high in ranges],
    )


def by_trying(truth: Sequence[int], ranges: Sequence[tuple[int, int]]) -> int:
    """Every assignment of values, one after the other."""
    wanted = [sorted(truth[low:high]) for low, high in ranges]
    every = itertools.product(range(3), repeat=len(truth))
    return sum(
        all(
            sorted(table[low:high]) == answer
            for (low, high), answer in zip(ranges, wanted, strict=True)
        )
        for table in every
    )


# -- sampling, possibility, crowds -----------------------------------------------------------------


def sampled() -> list[dict[str, Any]]:
    """200 people, 8 irregular ranges: counted, or else a statistical answer with epsilon 0.02
    and theta 0.95.
    """
    return [
        alone("sample", str(values), str(seed)) for values in (4, 5, 8, 10) for seed in (1, 2, 3)
    ]


def sample(values: int, seed: int) -> dict[str, Any]:
    from tacit.families.overlaps.sampling.certificates import statistical

    views = irregular(200, values, 8, seed)
    begun = time.process_time()
    found = beliefs(views)
    row: dict[str, Any] = {
        "values": values,
        "seed": seed,
        "counted": found.is_complete,
        "status": "",
    }
    if not found.is_complete:
        asked = {"gamma": Fraction(9, 10), "epsilon": Fraction(1, 50), "theta": Fraction(19, 20)}
        answer = statistical(found.system, found.found, **asked)
        row |= {"status": answer.status, "draws": sum(answer.draws)}
    return row | {"seconds": time.process_time() - begun, "goal": 60.0}


def possible() -> list[dict[str, Any]]:
    """Which values are possible for whom: 5,000 people, 20 ranges."""
    return [alone("cells", str(seed)) for seed in (1, 2, 3)]


def cells(seed: int) -> dict[str, Any]:
    from tacit.families.overlaps.counting.possible_cells import possible as which

    views = irregular(5000, 10, 20, seed)
    begun = time.process_time()
    found = which(views)
    return {
        "seed": seed,
        "cells": found.can.size,
        "can": int(found.can.sum()),
        "seconds": time.process_time() - begun,
        "goal": 10.0,
    }


def crowds() -> list[dict[str, Any]]:
    """From rows to crowds: k-SIND of a million people, k-RSIND of 20,000."""
    return [
        alone("crowd", "k-sind", "1000000", "10", "20"),
        alone("crowd", "k-rsind", "20000", "10", "15"),
    ]


def crowd(kind: str, people: int, views: int, goal: float) -> dict[str, Any]:
    import pandas

    import tacit

    rng = np.random.default_rng(7)
    data = pandas.DataFrame(
        {
            "id": range(people),
            "age": rng.integers(18, 90, people),
            "ill": rng.choice(list("abcdefghij"), people),
        }
    )
    asked = [
        f"SELECT ill FROM data WHERE age BETWEEN {low} AND {low + 25}"
        for low in rng.integers(18, 65, views)
    ]
    definition = tacit.KSind(k=2) if kind == "k-sind" else tacit.KRsind(k=2)
    begun = time.process_time()
    (verdict,) = tacit.overlapping_views(data, asked, [definition], key="id", sensitive="ill")
    return {
        "name": kind,
        "people": people,
        "seconds": time.process_time() - begun,
        "goal": goal,
        "certainty": verdict.certainty,
        "status": verdict.status,
        "k": str(verdict.measured.get("k")),
    }


def drawn(rows: Sequence[dict[str, Any]]) -> str:
    """The growth as an SVG file, a line per chain."""
    from tacit.report.charts.portrait_chart import EXPOSED

    largest = [
        max((row for row in rows if row["name"] == name), key=lambda row: row["people"])
        for name in CHAINS
    ]
    times = [f"{row['people']:,} people {row['seconds']:.1f} s" for row in largest]
    title = f"All beliefs: {', '.join(times)}"
    across = Axis("people", "people", (200, 6000), (250, 500, 1000, 2500, 5000), ",d")
    up = Axis(
        "seconds", "CPU seconds, all beliefs", (0.05, 100), (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
    )
    told = "; ".join(
        f"{row['name']}, {row['people']:,} people: {row['seconds']:.2f} s, {row['how']}"
        for row in rows
    )
    return chart(
        rows,
        dict(zip(CHAINS, ("#4a76a8", "#0f766e", EXPOSED), strict=True)),
        across,
        up,
        title,
        told,
    )


def alone(*arguments: str) -> Any:
    """What a part of this module measures in a process of its own."""
    return measured("benchmarks.overlap", *arguments)


ALONE: dict[str, Callable[..., dict[str, Any]]] = {
    "one": lambda name, people: one(name, int(people)),
    "sample": lambda values, seed: sample(int(values), int(seed)),
    "cells": lambda seed: cells(int(seed)),
    "crowd": lambda kind, people, views, goal: crowd(kind, int(people), int(views), float(goal)),
}


def main(what: str, *given: str) -> None:
    if what in ALONE:
        print(json.dumps(ALONE[what](*given)))
        return
    rows = {
        "growth": growth,
        "peers": peers,
        "sampled": sampled,
        "possible": possible,
        "crowds": crowds,
    }[what]()
    found: dict[str, Any] = {"rows": rows}
    if what == "growth":
        found["exponents"] = exponents(rows, "people")
        if given:
            Path(given[0]).write_text(drawn(rows), "utf-8")
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
