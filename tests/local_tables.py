"""Random small tables for local recoding, with the checks to ask
of them and what the oracle says.
"""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from asking import handmade
from oracles import closeness, partitions
from tacit.families.microdata.definitions.alpha_k import AlphaK
from tacit.families.microdata.definitions.dissimilarity import Dissimilarity
from tacit.families.microdata.definitions.eps_m import EpsM
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.definitions.t_closeness import TCloseness
from tacit.families.microdata.distances import Discrete, Distance, numeric
from tacit.families.microdata.hierarchy import Hierarchy, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.repair.requirements import Required
from tacit.model.schema import CsvHierarchy, Table

Row = dict[str, Any]
KINDS: dict[str, Any] = {
    "k-anonymity": KAnonymity,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "alpha-k": AlphaK,
    "eps-m": EpsM,
    "dissimilarity": Dissimilarity,
}
MONOTONE = ("k-anonymity", "l-diversity", "t-closeness", "alpha-k")
CITIES = {
    "a1": ["A", "west", "*"],
    "a2": ["A", "west", "*"],
    "b1": ["B", "west", "*"],
    "c1": ["C", "east", "*"],
    "c2": ["C", "east", "*"],
}
CODES = {1: ["odd", "*"], 2: ["even", "*"], 3: ["odd", "*"], 4: ["even", "*"]}
TREES: dict[str, dict[Any, list[str]]] = {"city": CITIES, "code": CODES}
COLUMNS: dict[str, Sequence[Any]] = {
    "age": range(20, 40),
    "dose": [Decimal(n) / 4 for n in range(-3, 6)],
    "born": [datetime.date(1980, 1 + n, 10 + n) for n in range(6)],
    "city": list(CITIES),
    "code": list(CODES),
    "colour": ["red", "green", "blue"],
}


@dataclass(frozen=True)
class Local:
    """A table with checks: `checks` are names with parameters, as the oracle takes them."""

    rows: tuple[Row, ...]
    quasi: tuple[str, ...]
    checks: tuple[tuple[str, Mapping[str, Any]], ...]
    person: tuple[str, ...] = ()
    missing: str = "own-group"
    discrete: bool = False

    def __str__(self) -> str:
        told = [
            (name, {key: str(value) for key, value in more.items()}) for name, more in self.checks
        ]
        rows = "\n  ".join(map(str, self.rows))
        return f"{told} {self.missing} person={self.person} discrete={self.discrete}\n  {rows}"

    @property
    def required(self) -> list[Required]:
        return [Required(KINDS[name](**more, missing=self.missing)) for name, more in self.checks]

    def question(self) -> MicrodataQuestion:
        """What Tacit is asked; equal rows are counted together."""
        names = (*self.person, *self.quasi, "s")
        counted = Counter(tuple(row[name] for name in names) for row in self.rows)
        found = [dict(zip(names, values, strict=True)) for values in counted]
        people = sorted({row["name"] for row in found}) if self.person else []
        base = handmade(
            [{name: row[name] for name in (*self.quasi, "s")} for row in found],
            weights=list(counted.values()),
            persons=[people.index(row["name"]) for row in found] if self.person else None,
        )
        trees = {name: tree_of(name, base.dictionaries[name]) for name in (*self.quasi, "s")}
        return MicrodataQuestion(
            "release",
            Table("t", person=self.person, quasi_identifiers=self.quasi, sensitive=("s",)),
            self.quasi,
            ("s",),
            base,
            {name: tree.level(0) for name, tree in trees.items()},
            len(self.rows),
            len(people) or len(self.rows),
            hierarchies=trees,
            measure=self.measure,
        )

    def measure(self, column: str, values: tuple[Any, ...]) -> Distance:
        return Discrete(len(values)) if self.discrete else numeric(column, values)

    @property
    def distance(self) -> Any:
        return closeness.discrete if self.discrete else closeness.numeric

    def meets(self, rows: Sequence[Row]) -> bool:
        """What the oracle says of released rows."""
        return all(
            partitions.holds(
                check, more, rows, self.quasi, self.person, self.distance, self.missing
            )
            for check, more in self.checks
        )


def tree_of(name: str, values: tuple[Any, ...]) -> Hierarchy:
    if name not in TREES:
        return hierarchy(name, values)
    lines = [(0, [str(value), *steps]) for value, steps in TREES[name].items()]
    return hierarchy(name, values, CsvHierarchy("tree.csv"), rows=lines, file="tree.csv")


def released(recoded: Recoded) -> list[tuple[Row, Row]]:
    """Every released row as it was and as it is shown, both with its person and sensitive value."""
    raw, out = recoded.raw, []
    for cell, (row, count) in enumerate(
        zip(recoded.rows.tolist(), recoded.counts.tolist(), strict=True)
    ):
        rest = {"s": raw.base.value("s", row)}
        if raw.base.persons is not None:
            rest["name"] = int(raw.base.persons[row])
        was = {name: raw.base.value(name, row) for name in raw.quasi}
        shown = {name: recoded.labels[name][int(recoded.codes[name][cell])] for name in raw.quasi}
        out += [({**was, **rest, "row": row}, {**shown, **rest})] * count
    return out


def random_check(rng: random.Random, name: str) -> tuple[str, dict[str, Any]]:
    share = rng.choice(
        [Fraction(1, 3), Fraction(1, 2), Fraction(3, 5), Fraction(4, 5), Fraction(1)]
    )
    if name == "k-anonymity":
        return name, {"k": rng.randint(2, 4)}
    if name == "l-diversity":
        kind = rng.choice(["distinct", "entropy", "recursive"])
        more = {"c": Fraction(rng.randint(1, 4))} if kind == "recursive" else {}
        return name, {"kind": kind, "l": rng.choice([2, 2, 3]), **more}
    if name == "t-closeness":
        return name, {"t": share}
    if name == "alpha-k":
        return name, {"alpha": share, "k": rng.randint(1, 3)}
    epsilon = Fraction(rng.choice([0, 0, 1, 2]))
    if name == "eps-m":
        return name, {
            "epsilon": epsilon,
            "m": rng.choice([Fraction(3, 2), Fraction(2), Fraction(3)]),
        }
    return name, {"epsilon": epsilon, "delta": 1 - share, "k": rng.randint(1, 4)}


def tables(number: int, seed: int, *, most: int = 14, plain: bool = False) -> Iterator[Local]:
    """Random tables with one or two checks.
    With `plain` nothing is missing and every row is a person.
    """
    rng = random.Random(seed)
    for turn in range(number):
        quasi = tuple(rng.sample(list(COLUMNS), rng.randint(1, 3)))
        person = ("name",) if not plain and rng.random() < 0.2 else ()
        holes = 0 if plain else rng.choice([0, 0, 0.15])
        size = rng.randint(1, most)
        crowd = max(1, size * 2 // 3)
        values = {
            name: rng.sample(list(COLUMNS[name]), rng.randint(1, min(5, len(COLUMNS[name]))))
            for name in quasi
        }
        secrets = rng.choice([range(2), range(4), range(0, 9, 2)])
        rows = tuple(
            {
                "name": rng.randrange(crowd) if person else 0,
                **{
                    name: None if rng.random() < holes else rng.choice(values[name])
                    for name in quasi
                },
                "s": None if rng.random() < holes / 2 else rng.choice(secrets),
            }
            for _ in range(size)
        )
        if all(row["s"] is None for row in rows):
            continue
        names = [list(KINDS)[turn % len(KINDS)]]
        if rng.random() < 0.25:
            names.append(rng.choice(list(KINDS)))
        missing = "own-group" if plain or rng.random() < 0.8 else "match-any"
        yield Local(
            rows,
            quasi,
            tuple(random_check(rng, name) for name in names),
            person,
            missing,
            rng.random() < 0.3,
        )
