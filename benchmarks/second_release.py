"""Two generalized copies of one table: how long it takes to judge them together, and how many
people of Adult fall below l by both although each passes.

    python -m benchmarks.second_release [FILE.svg] [--pairs | --json]

Goals, on two cores: two releases of Adult with about 1,000 groups each in 10 seconds, the search
beside a published release in 60, a million rows with two coarse releases in 60. The file gets a
picture of the growth; `--pairs` judges every two minimal solutions of Adult.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from benchmarks.data import adult
from benchmarks.growth import Axis, chart, exponents

if TYPE_CHECKING:
    from tacit.families.microdata.definitions.together.question import JointQuestion
    from tacit.plan.plan import Plan

QUASI = ("age", "education", "marital_status", "race", "sex", "native_country", "workclass")
TOP = {
    "age": 4,
    "education": 3,
    "marital_status": 2,
    "race": 1,
    "sex": 1,
    "native_country": 2,
    "workclass": 2,
}
# Pairs of releases, from few groups to many; the last have 995 and 1,217.
GROWING = (
    ({"education": 1, "sex": 0}, {"age": 3, "sex": 0}),
    ({"age": 2, "education": 2, "sex": 0}, {"age": 3, "education": 1, "sex": 0, "race": 0}),
    ({"age": 1, "education": 1, "sex": 0}, {"age": 2, "education": 2, "sex": 0, "race": 0}),
    ({"age": 1, "education": 0, "sex": 0}, {"age": 0, "education": 3, "sex": 0, "race": 0}),
    (
        {"age": 1, "education": 0, "sex": 0, "native_country": 1},
        {"age": 0, "education": 2, "sex": 0, "race": 0},
    ),
)
MILLION = """
  COPY (
    SELECT 17 + CAST(60 * random() * random() AS integer) AS age,
      CAST(16 * random() AS integer) AS schooling,
      CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex,
      'illness ' || CAST(12 * random() * random() AS integer) AS illness
    FROM range(1_000_000)
  ) TO '{file}' (FORMAT parquet)
"""


def plan_of(table: str, roles: Mapping[str, Any], more: Mapping[str, Any]) -> Plan:
    """A plan with one table."""
    from tacit.plan.read.arguments import Arguments
    from tacit.plan.read.load import read_plan

    written = {"version": 1, "tables": {table: roles}, **more}
    return read_plan(Arguments("benchmark", written, {}), Path())


def plan_of_adult(folder: Path, quasi: tuple[str, ...], more: Mapping[str, Any]) -> Plan:
    """Adult with its hierarchies, as a plan."""
    table = {
        "file": str(folder / "adult.csv"),
        "quasi-identifiers": list(quasi),
        "sensitive": ["occupation"],
        "hierarchies": {name: str(folder / f"hierarchy_{name}.csv") for name in quasi},
    }
    return plan_of("adult", table, more)


def two(april: Mapping[str, int], may: Mapping[str, int]) -> dict[str, Any]:
    """Two releases, the first of which is published."""
    return {
        "releases": {
            "april": {"table": "adult", "generalization": {**TOP, **april}},
            "may": {"table": "adult", "generalization": {**TOP, **may}},
        },
        "published": ["april"],
        "checks": [
            {"l-diversity": {"release": "may", "kind": "distinct", "l": 2}},
            {"k-anonymity": {"release": "may", "k": 2}},
        ],
    }


def growth(folder: Path) -> Iterator[dict[str, Any]]:
    """Both checks of two releases, the more groups the longer."""
    from tacit.checking.assess import assess

    for april, may in GROWING:
        begun, used = time.perf_counter(), time.process_time()
        found = assess(plan_of_adult(folder, QUASI, two(april, may)))
        witness = found.verdicts[0].witness or found.verdicts[0].certificate
        assert witness is not None
        yield {
            "name": "both checks",
            "kinds": witness.facts["kinds"],
            "seconds": time.process_time() - used,
            "wall": time.perf_counter() - begun,
            "status": [one.status for one in found],
        }


def search(folder: Path) -> tuple[float, Any]:
    """Levels beside a release that is published and meets the checks."""
    from tacit.families.microdata.runs.anonymize import anonymize

    more = two({**TOP, "education": 2, "marital_status": 0, "sex": 0}, {})
    more["releases"]["may"] = {"table": "adult"}
    more["checks"] = [
        {"l-diversity": {"release": "may", "kind": "distinct", "l": 3}},
        {"k-anonymity": {"release": "may", "k": 5}},
    ]
    begun = time.perf_counter()
    found = anonymize(plan_of_adult(folder, QUASI, more), "may")
    return time.perf_counter() - begun, found


def million() -> tuple[float, Any]:
    """Two coarse releases of a million rows."""
    from tacit.checking.assess import assess

    with TemporaryDirectory() as folder:
        file = Path(folder) / "people.parquet"
        duckdb.sql(MILLION.format(file=file))
        table = {
            "file": str(file),
            "quasi-identifiers": ["age", "schooling", "sex"],
            "sensitive": ["illness"],
            "hierarchies": {"age": {"ranges": [5, 20]}, "schooling": {"ranges": [4]}, "sex": "*"},
        }
        more = {
            "releases": {
                "april": {"table": "people", "generalization": {"age": 1, "schooling": 2}},
                "may": {"table": "people", "generalization": {"age": 2, "schooling": 1}},
            },
            "published": ["april"],
            "checks": two({}, {})["checks"],
        }
        plan = plan_of("people", table, more)
        begun = time.perf_counter()
        found = assess(plan)
        return time.perf_counter() - begun, found


def plan_of_heart(folder: Path, more: Mapping[str, Any]) -> Plan:
    """The patients of Cleveland: how narrow their vessels are is sensitive."""
    table = {
        "file": str(folder.parent / "heart" / "heart_cleveland.csv"),
        "quasi-identifiers": ["age", "sex", "cp", "thalach"],
        "sensitive": ["num"],
        "hierarchies": {
            "age": {"ranges": [5, 10, 20]},
            "thalach": {"ranges": [10, 20, 40]},
            "sex": "*",
            "cp": "*",
        },
    }
    return plan_of("heart", table, more)


def pairs(
    table: str, plan: Callable[[Mapping[str, Any]], Plan], least: tuple[int, ...]
) -> Iterator[tuple[int, int, int, int, int]]:
    """For some l: how many minimal solutions and pairs of them, how many pairs fail together, and
    the most people who fall below.
    """
    from tacit.families.microdata.reading.several_releases import joint_questions_of
    from tacit.families.microdata.runs.anonymize import anonymize
    from tacit.plan.open_plan import OpenPlan

    for l in least:  # noqa: E741
        check = {"l-diversity": {"release": "april", "kind": "distinct", "l": l}}
        asked = plan({"releases": {"april": {"table": table}}, "checks": [check]})
        nodes = [one.generalization for one in anonymize(asked, "april").choices]  # type: ignore[union-attr]
        with OpenPlan(asked) as opened:
            joint = joint_questions_of(opened).question(("april",))
            below = [
                people_below(joint, [dict(one), dict(other)], l)
                for one, other in itertools.combinations(nodes, 2)
            ]
        yield l, len(nodes), len(below), sum(1 for one in below if one), max(below, default=0)


def people_below(joint: JointQuestion, nodes: list[dict[str, int]], l: int) -> int:  # noqa: E741
    """How many people have fewer than l values left when both releases are published."""
    trees = joint.asked.hierarchies
    copies = [
        replace(
            joint.copies[0],
            levels={name: trees[name].level(level) for name, level in node.items()},
        )
        for node in nodes
    ]
    both = replace(joint, copies=copies)
    values = np.bincount(both.possible.classes, minlength=len(both.releases.sizes))
    return int(both.releases.sizes[values < l].sum())


def drawn(rows: list[dict[str, Any]]) -> str:
    """The growth as an SVG file."""
    last = rows[-1]
    title = f"{last['kinds']:,} kinds of people in two releases: {last['seconds']:.0f} s CPU"
    told = "; ".join(f"{one['kinds']:,} kinds: {one['seconds']:.1f} s" for one in rows)
    across = Axis("kinds", "kinds of people", (40, 6000), (50, 100, 500, 1000, 5000))
    up = Axis("seconds", "CPU seconds of both checks", (0.1, 20), (0.1, 0.5, 1, 5, 10, 20))
    return chart(rows, {"both checks": "#4a76a8"}, across, up, title, told)


def measures(folder: Path) -> dict[str, Any]:
    """All that has a goal: both checks as groups grow, the search, and a million rows."""
    rows = list(growth(folder))
    for file in (one for one in sys.argv[1:] if one.endswith(".svg")):
        Path(file).write_text(drawn(rows), "utf-8")
    seconds, found = search(folder)
    many, judged = million()
    return {
        "rows": rows,
        "exponent": exponents(rows, "kinds")["both checks"],
        "search": seconds,
        "asked": f"{type(found).__name__}, {found.nodes[0]} of {found.nodes[1]} choices asked",
        "million": many,
        "judged": [one.status for one in judged],
    }


def show(found: Mapping[str, Any]) -> None:
    """Print it."""
    for row in found["rows"]:
        print(
            f"{row['kinds']:>6,} kinds of people  {row['wall']:6.2f} s, {row['seconds']:.2f} s CPU"
            f"  {row['status']}"
        )
    print(
        f"grows with the power {found['exponent']:.1f}; the last took "
        f"{found['rows'][-1]['wall'] / 10:.2f} of the goal (10 s)"
    )
    for name, seconds, told in (
        ("search beside a published release", found["search"], found["asked"]),
        ("a million rows", found["million"], found["judged"]),
    ):
        print(f"{name:33}  {seconds:6.2f} s, {seconds / 60:.2f} of the goal  {told}")


def main() -> None:
    """Print what was measured; with `--json` as one object."""
    path, as_json = adult(), "--json" in sys.argv
    if path is None:
        told = "Adult is not here; set TACIT_DATA to the folder that has adult/adult.csv"
        print(json.dumps({"skipped": told}) if as_json else told)
        return
    found = measures(path.parent)
    if as_json:
        print(json.dumps(found))
        return
    show(found)
    if "--pairs" in sys.argv:
        adults = partial(plan_of_adult, path.parent, QUASI[:5])
        hearts = partial(plan_of_heart, path.parent)
        for table, plan, least in (("adult", adults, (4, 6, 8, 10)), ("heart", hearts, (3, 4))):
            for one in pairs(table, plan, least):
                told = "l {}: {} minimal solutions, {} pairs, {} fail, {} people".format(*one)
                print(table, told)


if __name__ == "__main__":
    main()
