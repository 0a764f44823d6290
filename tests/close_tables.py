"""Random small tables for the definitions about closeness and
neighbours, each with a check to ask.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from asking import handmade
from oracles import closeness as oracle
from tacit.families.microdata.definitions.alpha_k import AlphaK
from tacit.families.microdata.definitions.dissimilarity import Dissimilarity
from tacit.families.microdata.definitions.eps_m import EpsM
from tacit.families.microdata.definitions.k_e import KE
from tacit.families.microdata.definitions.t_closeness import TCloseness
from tacit.families.microdata.definitions.variance import Variance
from tacit.families.microdata.definitions.worst_group import WorstGroup
from tacit.families.microdata.distances import (
    Discrete,
    Distance,
    Taxonomy,
    numeric,
    own,
    variational,
)
from tacit.families.microdata.hierarchy import hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.model.schema import CsvHierarchy, Table

TABLES = int(os.environ.get("TACIT_ORACLE_TABLES", "1200"))
DEFINITIONS = (TCloseness, AlphaK, KE, Variance, EpsM, Dissimilarity)
WAYS = ("numeric", "discrete", "taxonomy", "variational", "python")
Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One table, one release of it, one check."""

    rows: tuple[Row, ...]
    person: tuple[str, ...]
    kind: type[WorstGroup]
    parameters: Mapping[str, Any]
    missing: str = "own-group"
    way: str = "numeric"
    tree: Mapping[Any, list[str]] = field(default_factory=dict)
    quasi: tuple[str, ...] = ("zip", "age")

    def __str__(self) -> str:
        told = {name: str(value) for name, value in self.parameters.items()}
        rows = "\n  ".join(str(row) for row in self.rows)
        return (
            f"{self.kind.check_name} {told} {self.missing} {self.way} person={self.person} "
            f"{self.tree}\n"
            f"  {rows}"
        )

    def definition(self) -> WorstGroup:
        options: dict[str, Any] = {**self.parameters, "missing": self.missing}
        return self.kind(**options)

    def distance(self) -> Any:
        """The distance of two values as the oracle has it."""
        ways = {
            "numeric": oracle.numeric,
            "discrete": oracle.discrete,
            "variational": oracle.variational,
        }
        ways |= {
            "taxonomy": oracle.taxonomy(self.tree),
            "python": lambda x, y: oracle.exactly(lengths(x, y)),
        }
        return ways[self.way]

    def question(self) -> MicrodataQuestion:
        """What Tacit is asked; the table is counted by hand."""
        numbers = {name: i for i, name in enumerate(sorted({row["name"] for row in self.rows}))}
        known = [{name: row[name] for name in (*self.quasi, "s")} for row in self.rows]
        base = handmade(
            known, persons=[numbers[row["name"]] for row in self.rows] if self.person else None
        )
        trees = {name: self.hierarchy(name, base.dictionaries[name]) for name in base.dictionaries}
        people = len(numbers) if self.person else len(self.rows)
        return MicrodataQuestion(
            "release",
            Table("t", person=self.person, quasi_identifiers=self.quasi, sensitive=("s",)),
            self.quasi,
            ("s",),
            base,
            {name: tree.level(0) for name, tree in trees.items()},
            len(self.rows),
            people,
            hierarchies=trees,
            measure=self.measure,
        )

    def hierarchy(self, name: str, values: tuple[Any, ...]) -> Any:
        if name != "s" or not self.tree:
            return hierarchy(name, values)
        rows = [(0, [str(value), *steps]) for value, steps in self.tree.items()]
        return hierarchy(name, values, CsvHierarchy("tree.csv"), rows=rows, file="tree.csv")

    def measure(self, column: str, values: tuple[Any, ...]) -> Distance:
        """The distance of the sensitive column as Tacit makes it."""
        if self.way == "taxonomy":
            return Taxonomy(self.hierarchy(column, values))
        if self.way == "python":
            return own(column, values, lengths)
        made = {"numeric": numeric, "variational": variational}
        return made[self.way](column, values) if self.way in made else Discrete(len(values))


def lengths(x: Any, y: Any) -> Any:
    """A user's own distance: a float, to be read by its shortest decimal."""
    return abs(len(str(x)) - len(str(y))) / 10


# -- random cases -------------------------------------------------------------------------------


def sensitive_values(rng: random.Random, way: str) -> list[Any]:
    if way == "variational":
        return [distribution(rng) for _ in range(rng.randint(1, 5))]
    if way in ("taxonomy", "discrete", "python") and rng.random() < 0.7:
        return ["a", "bb", "ccc", "dddd", "eeeee"][: rng.randint(1, 5)]
    if rng.random() < 0.4:
        return [Decimal(n) / 10 for n in range(-2, rng.randint(0, 5))]
    return list(range(rng.choice([-3, 0, 10**12]), rng.randint(1, 6))) or [
        10**12,
        10**12 + 1,
        10**12 + 4,
    ]


def distribution(rng: random.Random) -> str:
    cuts = sorted(rng.choice(range(11)) for _ in range(2))
    shares = {"flu": cuts[0], "cold": cuts[1] - cuts[0], "none": 10 - cuts[1]}
    pairs = [
        f"{json.dumps(name)}: {Decimal(n) / 10}"
        for name, n in shares.items()
        if n or rng.random() < 0.5
    ]
    return "{" + ", ".join(pairs) + "}"


def random_tree(rng: random.Random, values: list[Any]) -> dict[Any, list[str]]:
    """Two or three levels of nested labels; the last may be one label or several."""
    low = {value: f"L{rng.choice('uvw')}" for value in values}
    high = {label: f"H{rng.choice('xy')}" for label in low.values()}
    end = ["*"] if rng.random() < 0.6 else []
    return {value: [low[value], high[low[value]], *end] for value in values}


def random_parameters(rng: random.Random, kind: type[WorstGroup], way: str) -> dict[str, Any]:
    share = rng.choice(
        [Fraction(1, 3), Fraction(1, 2), Fraction(rng.randint(1, 10), 10), Fraction(1)]
    )
    small = rng.choice(
        [Fraction(0), Fraction(1, 10), Fraction(rng.randint(0, 30), 10), Fraction(1), Fraction(2)]
    )
    if kind is TCloseness:
        return {"t": share, "distance": rng.choice(["equal", "ordered", "hierarchical"])}
    if kind is AlphaK:
        return {"alpha": share, "k": rng.randint(1, 4)}
    if kind is KE:
        return {"k": rng.randint(1, 3), "e": small}
    if kind is Variance:
        return {"v": small}
    if kind is EpsM:
        return {
            "epsilon": small,
            "m": rng.choice([Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)]),
        }
    return {
        "epsilon": small / 10 if way in ("variational", "python") else small,
        "delta": 1 - share,
        "k": rng.randint(1, 3),
    }


def cases() -> Iterator[Case]:
    rng = random.Random(20260501)
    for number in range(TABLES):
        kind = DEFINITIONS[number % len(DEFINITIONS)]
        if kind in (TCloseness, AlphaK):
            way = rng.choice(["numeric", "discrete"])
        else:
            way = rng.choice(WAYS) if kind is Dissimilarity else "numeric"
        values = sensitive_values(rng, way)
        person = ("name",) if rng.random() < 0.35 else ()
        size = rng.randint(1, 10)
        crowd = max(1, int(size * rng.choice([0.4, 0.8])))
        holes = rng.choice([0, 0, 0.2])
        rows = tuple(
            {
                "name": f"p{rng.randrange(crowd)}" if person else f"p{i}",
                "zip": None if rng.random() < holes else rng.choice("ab"),
                "age": None if rng.random() < holes else rng.choice("xy"),
                "s": None if rng.random() < holes else rng.choice(values),
            }
            for i in range(size)
        )
        if all(row["s"] is None for row in rows):
            continue
        tree = random_tree(rng, values) if way == "taxonomy" or kind is TCloseness else {}
        for _ in range(3):
            missing = rng.choice(["own-group", "own-group", "match-any"])
            yield Case(rows, person, kind, random_parameters(rng, kind, way), missing, way, tree)
