"""A small city for tests: workplaces with workers, and a plan that synthesizes where they live."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

TERMS = "epsilon: 2, delta: 0.001"
HOMES = [f"h{number:02d}" for number in range(12)]
PLAN = """\
version: 1
{source}tables:
  jobs: {{file: jobs.csv, domains: {{home: [{homes}]}}}}
releases:
  map: {{table: jobs, synthetic: {{group: work, value: home, count: jobs, {terms}}}}}
  each: {{table: jobs, synthetic: {{group: work, value: home, {terms}}}}}
{checks}"""


def city(
    folder: Path,
    *,
    groups: int = 30,
    terms: str = TERMS,
    checks: str = "",
    source: str = "",
    seed: int = 1,
) -> Path:
    """Write the data and the plan; the plan's path."""
    draw = np.random.default_rng(seed)
    rows = [
        (f"w{group:03d}", home, int(draw.integers(1, 9)), f"secret {group}")
        for group in range(groups)
        for home in draw.choice(HOMES, int(draw.integers(1, 7)), replace=False)
    ]
    with (folder / "jobs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("work", "home", "jobs", "name"), *rows])
    plan = folder / "tacit.yaml"
    plan.write_text(PLAN.format(terms=terms, checks=checks, source=source, homes=", ".join(HOMES)))
    return plan


def counts(path: Path, column: str = "jobs") -> Counter[tuple[str, str]]:
    """People by group and value of a CSV file; without the column, rows."""
    found: Counter[tuple[str, str]] = Counter()
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["work"], row["home"]] += int(row.get(column, 1))
    return found


def sizes(people: Counter[tuple[str, Any]]) -> Counter[str]:
    """People by group."""
    found: Counter[str] = Counter()
    for (group, _), many in people.items():
        found[group] += many
    return found
