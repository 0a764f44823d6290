"""All minimal: homogeneity in every table that just meets the checks
(Machanavajjhala 2008, Tables 3.9 to 3.12).

A table is minimal where all checks hold and none of its columns could be shown in more detail. An
owner who asks for k-anonymity may release any of these. How many have groups that give their people
away says whether the checks ask for enough, before a table is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.microdata.attacks.attack_scene import NINETY_FIVE, AttackScene
from tacit.families.microdata.attacks.homogeneity import homogeneity
from tacit.families.microdata.lattice import Lattice, Node
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.repair.node_judge import NodeJudge, NodeOutcome
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.repair.search import search
from tacit.families.words import listed, people, plural, spoken
from tacit.model.jobs import Job
from tacit.model.numbers import percent_exactly
from tacit.model.verdict import as_json, with_decimals


@dataclass(frozen=True, slots=True)
class Exposed:
    """How many groups, with how many people, are of one value (or nearly)."""

    groups: int = 0
    people: int = 0


@dataclass(frozen=True, slots=True)
class MinimalTable:
    """One minimal table: its levels, and whom it gives away for certain or nearly so."""

    levels: Mapping[str, int]
    groups: int
    certain: Exposed
    near: Exposed


@dataclass(frozen=True, slots=True)
class Average:
    """A line of Tables 3.9 to 3.12:
    tables with such groups, and groups and people per table of all.
    """

    affected: int
    total: int
    groups: Fraction
    people: Fraction

    @classmethod
    def of(cls, exposed: Sequence[Exposed]) -> Average:
        """The line for some tables.

        >>> Average.of([Exposed(2, 10), Exposed()])
        Average(affected=1, total=2, groups=Fraction(1, 1), people=Fraction(5, 1))
        """
        total = len(exposed)
        return cls(
            sum(one.groups > 0 for one in exposed),
            total,
            Fraction(sum(one.groups for one in exposed), max(1, total)),
            Fraction(sum(one.people for one in exposed), max(1, total)),
        )


@dataclass(frozen=True, slots=True)
class AllMinimal:
    """The homogeneity attack on all minimal tables of one release and one sensitive column.

    `threshold` is from which share of one value on a group is nearly homogeneous.
    `complete`: there are no other minimal tables. Names nobody and no value.
    """

    release: str
    sensitive: str
    required: tuple[str, ...]
    threshold: Fraction
    people: int
    tables: tuple[MinimalTable, ...]
    complete: bool
    asked: int

    @property
    def certain(self) -> Average:
        """Groups of a single value (Tables 3.9 and 3.10)."""
        return Average.of([table.certain for table in self.tables])

    @property
    def near(self) -> Average:
        """Groups in which one value has the threshold's share or more (Tables 3.11 and 3.12)."""
        return Average.of([table.near for table in self.tables])

    def to_json(self) -> dict[str, Any]:
        """The object of `tacit attack --all-minimal --json`."""
        return {
            "release": self.release,
            "sensitive": self.sensitive,
            "required": list(self.required),
            **with_decimals({"threshold": self.threshold, "people": self.people}),
            "certain": average_json(self.certain),
            "near": average_json(self.near),
            "complete": self.complete,
            "nodes_asked": as_json(self.asked),
            "tables": [table_json(table) for table in self.tables],
        }


def average_json(average: Average) -> dict[str, Any]:
    """A line as JSON."""
    return with_decimals(
        {
            "affected_tables": average.affected,
            "tables": average.total,
            "average_groups": average.groups,
            "average_people": average.people,
        }
    )


def table_json(table: MinimalTable) -> dict[str, Any]:
    """One minimal table as JSON."""
    return {
        "generalization": as_json(table.levels),
        "groups": as_json(table.groups),
        "groups_certain": as_json(table.certain.groups),
        "people_certain": as_json(table.certain.people),
        "groups_near": as_json(table.near.groups),
        "people_near": as_json(table.near.people),
    }


@dataclass(frozen=True, slots=True)
class ByHeight:
    """All minimal nodes are wanted, so no node is ruled out by its cost;
    the lowest is named best.
    """

    def bounds(self, lattice: Lattice) -> None:
        """None is cheaper than another beforehand."""

    def of(self, outcome: NodeOutcome) -> float:
        """How high a node is."""
        return float(sum(outcome.node))


def all_minimal(
    raw: MicrodataQuestion,
    required: Sequence[Required],
    lattice: Lattice,
    sensitive: str,
    *,
    threshold: Fraction = NINETY_FIVE,
    suppress: int = 0,
    seconds: float | None = None,
    job: Job | None = None,
) -> AllMinimal:
    """Find every minimal table for which the required checks hold, and attack each by homogeneity.

    `raw` is the question about the table as it is, `required` the checks, `lattice` the levels that
    may be chosen; `suppress` rows may be dropped. Groups are judged as `tacit attack` does: of
    values that may mean unknown, by the reading that trusts the least. Costs one search for all
    minimal nodes and one count for each of them.
    """
    job = job or Job()
    judge = NodeJudge(raw, required, lattice, suppress=suppress)
    found = search(judge, ByHeight(), every=True, seconds=seconds, job=job)
    tables = []
    for number, node in enumerate(found.minimal):
        job.step("attacking the minimal tables", number / len(found.minimal))
        tables.append(attacked(judge, node, sensitive, threshold))
    return AllMinimal(
        raw.release,
        sensitive,
        tuple(one.label for one in required),
        threshold,
        raw.people,
        tuple(tables),
        found.all_minimal,
        found.asked,
    )


def attacked(judge: NodeJudge, node: Node, sensitive: str, threshold: Fraction) -> MinimalTable:
    """The homogeneity attack on the table at one node."""
    question = judge.recoded(node).question()
    scene = AttackScene(question.stricter or question, sensitive, threshold)
    story = homogeneity(scene)
    facts = story.facts if story is not None else {}
    return MinimalTable(
        judge.lattice.named(node),
        len(scene.groups),
        Exposed(facts.get("groups_certain", 0), facts.get("people_certain", 0)),
        Exposed(facts.get("groups_near", 0), facts.get("people_near", 0)),
    )


def show(found: AllMinimal, most: int = 20) -> Iterator[str]:
    """What a person reads: the two lines of the tables, then the
    minimal tables, the most exposed first.
    """
    told = listed(found.required) or "no check"
    if not found.tables:
        yield (
            f"{found.release}: no table meets {told}, however general."
            if found.complete
            else (f"{found.release}: no table that meets {told} was found in the time given.")
        )
        return
    some = "" if found.complete else " found so far (not all were looked at)"
    yield (
        f"{found.release}: {plural('minimal table', len(found.tables))} for {told}{some}, "
        f"each of {people(found.people)}."
    )
    yield line(found.certain, f"groups with a single {spoken(found.sensitive)}")
    if found.threshold < 1:
        yield line(
            found.near,
            f"groups where one {spoken(found.sensitive)} has {percent_exactly(found.threshold)} "
            "or more",
        )
    yield "The minimal tables, those that give most people away first:"
    order = sorted(
        found.tables,
        key=lambda table: (-table.certain.people, -table.near.people, tuple(table.levels.values())),
    )
    for table in order[:most]:
        yield f"  {one_table(table)}"
    if len(order) > most:
        yield f"  and {len(order) - most:,} more"


def line(average: Average, words: str) -> str:
    """A line of the printed tables in words.

    >>> line(Average(8, 10, Fraction(6, 5), Fraction(1141, 5)), "groups with a single salary")
    '8 of 10 tables have groups with a single salary; on average 1.20 groups with 228.20 people per table.'
    """  # noqa: E501
    if not average.affected:
        return (
            f"None of the {plural('table', average.total)} has {words}."
            if average.total > 1
            else f"It has no {words}."
        )
    verb = "has" if average.affected == 1 else "have"
    return (
        f"{average.affected} of {plural('table', average.total)} {verb} {words}; on average "
        f"{float(average.groups):,.2f} groups with {float(average.people):,.2f} people per table."
    )


def one_table(table: MinimalTable) -> str:
    """One minimal table in words.

    >>> one_table(MinimalTable({"zip": 2, "age": 0}, 4, Exposed(1, 3), Exposed(2, 30)))
    'zip 2, age 0: certain 3 people in 1 group, nearly 30 people in 2 groups, of 4 groups'
    """
    levels = ", ".join(f"{name} {level}" for name, level in table.levels.items())
    certain = f"certain {people(table.certain.people)} in {plural('group', table.certain.groups)}"
    near = f"nearly {people(table.near.people)} in {plural('group', table.near.groups)}"
    return f"{levels}: {certain}, {near}, of {plural('group', table.groups)}"
