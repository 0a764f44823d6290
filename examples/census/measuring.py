"""What the study measures: homogeneity of minimal tables, time,
and utility, each as plain values.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit.engines.duckdb.engine import DuckDB
from tacit.families.catalog import define
from tacit.families.microdata.attacks.all_minimal import AllMinimal, ByHeight, all_minimal
from tacit.families.microdata.lattice import Lattice
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.reading.source import count_table
from tacit.families.microdata.recoded import generalized
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.repair.search import search
from tacit.families.microdata.utility.measures import measure
from tacit.model.schema import FlatHierarchy
from tacit.plan.read.load import load_plan

HERE = Path(__file__).parent
ADULT = (
    "age",
    "sex",
    "race",
    "marital_status",
    "education",
    "native_country",
    "workclass",
    "salary_class",
)
LANDS = ("zipcode", "orderdate", "gender", "style", "price", "quantity", "shipment")
GROUP_SIZES = (2, 5, 10, 15, 20, 30, 50)
DIVERSITIES = (2, 4, 6, 8, 10)
SIX = 6  # the k and l whose running times are compared
SAMPLE, SEED = 0.05, 2003
KINDS = ("k-anonymity", "entropy", "recursive (3,l)")
MEASURES = ("height", "average-group", "discernibility", "kl")

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Data:
    """A table of the study: the plan that knows its hierarchies, and
    the folder where the rows are.
    """

    plan: Path
    folder: Path
    table: str


@dataclass(frozen=True, slots=True)
class Times:
    """CPU seconds for one quasi-identifier:
    counting the table, all 6-anonymous and all 6-diverse tables.
    """

    columns: int
    nodes: int
    counting: float
    anonymous: float
    diverse: float
    asked: tuple[int, int]

    @property
    def ratio(self) -> float:
        """The whole time for diversity as a multiple of that for k-anonymity."""
        return (self.counting + self.diverse) / (self.counting + self.anonymous)


@dataclass(frozen=True, slots=True)
class Utility:
    """The least cost by each measure among all tables that meet one definition;
    empty where none does.

    `degree` is the k or the l, `base` is the divergence of the table in which every
    quasi-identifier is suppressed.
    """

    quasi: tuple[str, ...]
    kind: str
    degree: int
    base: float
    least: dict[str, float]


def question(data: Data, quasi: Sequence[str], sensitive: str) -> MicrodataQuestion:
    """Count the table and ask about it as it is."""
    plan = load_plan(data.plan)
    known = plan.tables[data.table]
    trees = {name: known.hierarchies.get(name, FlatHierarchy()) for name in quasi}
    table = replace(
        known,
        quasi_identifiers=tuple(quasi),
        sensitive=(sensitive,),
        as_written=(sensitive,),
        insensitive=(),
        hierarchies=trees,
    )
    with DuckDB(folder=data.folder) as engine:
        engine.attach(table)
        counted = count_table(engine, table, plan)
    return counted.question(
        data.table, {name: counted.hierarchies[name].level(0) for name in quasi}
    )


def lattice_of(raw: MicrodataQuestion) -> Lattice:
    """All levels of all columns."""
    return Lattice(raw.quasi, tuple(raw.hierarchies[name].height for name in raw.quasi))


def required(kind: str, degree: int) -> Required:
    """A definition of the study.

    >>> required("recursive (3,l)", 4).label
    'recursive (3,4)-diversity'
    """
    if kind == "k-anonymity":
        return Required(define("k-anonymity", {"k": degree}))
    more = {"kind": "entropy"} if kind == "entropy" else {"kind": "recursive", "c": 3}
    return Required(define("l-diversity", {**more, "l": degree}))


def homogeneity(
    data: Data, quasi: Sequence[str], sensitive: str, tell: Tell
) -> dict[int, AllMinimal]:
    """Tables 3.9 to 3.12: for every k, the attack on all minimal k-anonymous tables."""
    raw = question(data, quasi, sensitive)
    found = {}
    for k in GROUP_SIZES:
        tell(f"{data.table}: all minimal {k}-anonymous tables")
        found[k] = all_minimal(raw, [required("k-anonymity", k)], lattice_of(raw), sensitive)
    return found


def times(
    data: Data, columns: Sequence[str], sensitive: str, repeats: int, tell: Tell
) -> Iterator[Times]:
    """Figures 3.1 and 3.2: how long all 6-anonymous tables take, and all entropy 6-diverse ones."""
    for size in range(3, len(columns) + 1):
        tell(f"{data.table}: running times for {size} columns")
        yield times_for(data, columns[:size], sensitive, repeats)


def times_for(data: Data, quasi: Sequence[str], sensitive: str, repeats: int) -> Times:
    """The times for one quasi-identifier."""
    counting, raw = least(lambda: question(data, quasi, sensitive), repeats)
    lattice = lattice_of(raw)
    anonymous, one = least(lambda: all_nodes(raw, lattice, required("k-anonymity", SIX)), repeats)
    diverse, two = least(lambda: all_nodes(raw, lattice, required("entropy", SIX)), repeats)
    return Times(len(quasi), len(lattice), counting, anonymous, diverse, (one.asked, two.asked))


def all_nodes(raw: MicrodataQuestion, lattice: Lattice, one: Required) -> Any:
    """All minimal nodes: with them every table that meets the definition is known."""
    return search(NodeJudge(raw, [one], lattice), ByHeight(), every=True)


def least(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least CPU time of a few runs, and what the last one gave."""
    seconds = []
    for _ in range(repeats):
        begun = time.process_time()
        answer = work()
        seconds.append(time.process_time() - begun)
    return min(seconds), answer


def utility(data: Data, quasi: Sequence[str], sensitive: str, tell: Tell) -> Iterator[Utility]:
    """Figures 3.3 to 3.8: the most useful tables for every definition and l.

    All four measures are monotone, so the best table is among the minimal ones.
    """
    raw = question(data, quasi, sensitive)
    lattice = lattice_of(raw)
    base = float(measure("kl").cost(generalized(raw, lattice.named(lattice.top))))
    for degree in DIVERSITIES:
        tell(f"{data.folder.name}: utility for l = {degree} with {', '.join(quasi)}")
        for kind in KINDS:
            nodes = all_nodes(raw, lattice, required(kind, degree)).minimal
            tables = [generalized(raw, lattice.named(node)) for node in nodes]
            best = {
                name: min(float(measure(name).cost(table)) for table in tables)
                for name in MEASURES
                if tables
            }
            yield Utility(tuple(quasi), kind, degree, base, best)


def facts(data: Data, tell: Tell) -> Iterator[tuple[str, str, str]]:
    """What section 3.6 says of Adult in passing, most of it whatever the taxonomies:
    the fact, ours, the printed one.
    """
    tell(f"{data.table}: what the text says")
    raw = question(data, ADULT[:5], "occupation")
    lattice = lattice_of(raw)
    counts = raw.before("occupation").values()
    entropy = -sum(number / raw.people * math.log(number / raw.people) for number in counts)
    yield "rows without missing values", f"{raw.rows:,}", "45,222"
    yield (
        "the occupations of all together are entropy l-diverse up to l",
        f"{math.exp(entropy):.2f}",
        "10.57",
    )
    none = not all_nodes(raw, lattice, required("recursive (3,l)", 12)).minimal
    yield (
        "a table that is recursive (3,12)-diverse",
        "there is none" if none else "there is one",
        "there is none",
    )
    ages = raw.before("age")
    for low, high, printed in ((81, 90, "114"), (31, 40, "12,291")):
        yield (
            f"people aged {low} to {high}",
            f"{sum(n for age, n in ages.items() if low <= age <= high):,}",
            printed,
        )
    nodes = all_nodes(raw, lattice, required("k-anonymity", 4)).minimal
    large = sum(
        measure("average-group").cost(generalized(raw, lattice.named(node))) > 1000
        for node in nodes
    )
    yield (
        "minimal 4-anonymous tables with groups of more than 1,000 on average",
        f"{large} of {len(nodes)}",
        "some",
    )


def write_sample(data: Data, folder: Path) -> Data:
    """A Bernoulli sample of 5 % of the rows (section 3.6), the same every time."""
    rng = random.Random(SEED)
    with (
        (data.folder / "adult.csv").open(encoding="utf-8") as rows,
        (folder / "adult.csv").open("w", encoding="utf-8") as kept,
    ):
        kept.write(next(rows))
        kept.writelines(row for row in rows if rng.random() < SAMPLE)
    return replace(data, folder=folder)
