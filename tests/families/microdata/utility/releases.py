"""Random small tables and releases of them, with what every label means:
for the tests of utility.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from asking import handmade
from tacit.families.microdata.hierarchy import Hierarchy, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.recoded import Recoded, generalized
from tacit.model.schema import CsvHierarchy, RangeHierarchy, Table

QUASI, SENSITIVE = ("age", "town"), ("s",)
COLUMNS = (*QUASI, *SENSITIVE)
TOWNS = {
    "p": ("north", "*"),
    "q": ("north", "*"),
    "r": ("south", "*"),
    "t": ("south", "*"),
    "u": ("island", "*"),
}


@dataclass(frozen=True)
class Example:
    """A table, a release of it by the code under test, and the same for the oracle."""

    table: list[tuple[Any, ...]]
    recoded: Recoded
    release: list[Any]
    meaning: dict[tuple[int, Any], frozenset[Any]]

    @property
    def oracle(self) -> tuple[Any, ...]:
        return self.table, self.release, len(QUASI), self.meaning


def some_table(rng: random.Random, most: int = 9) -> list[tuple[Any, ...]]:
    ages = [*rng.sample(range(18, 34), rng.randint(1, 5)), *([None] if rng.random() < 0.25 else [])]
    towns = [
        *rng.sample(sorted(TOWNS), rng.randint(1, 4)),
        *([None] if rng.random() < 0.25 else []),
    ]
    values = ["x", "y", "z", None][: rng.randint(1, 4)]
    return [
        (rng.choice(ages), rng.choice(towns), rng.choice(values))
        for _ in range(rng.randint(1, most))
    ]


def trees(base: Any) -> dict[str, Hierarchy]:
    lines = [(number, [town, *steps]) for number, (town, steps) in enumerate(TOWNS.items(), 1)]
    return {
        "age": hierarchy("age", base.dictionaries["age"], RangeHierarchy((2, 8))),
        "town": hierarchy(
            "town",
            base.dictionaries["town"],
            CsvHierarchy("towns.csv"),
            rows=lines,
            file="towns.csv",
        ),
        "s": hierarchy("s", base.dictionaries["s"]),
    }


def asked(
    table: Sequence[tuple[Any, ...]], persons: random.Random | None = None
) -> MicrodataQuestion:
    """The raw question: counted combinations, or entries of several
    people where persons are told apart.
    """
    if persons is not None:
        entries, counts = list(table), [1] * len(table)
        people: list[int] | None = [persons.randrange(1, 5) for _ in table]
    else:
        found = Counter(table)
        entries, counts, people = list(found), list(found.values()), None
    base = handmade(
        [dict(zip(COLUMNS, row, strict=True)) for row in entries], weights=counts, persons=people
    )
    tree = trees(base)
    return MicrodataQuestion(
        "r",
        Table("t"),
        QUASI,
        SENSITIVE,
        base,
        {name: one.level(0) for name, one in tree.items()},
        base.rows,
        base.rows,
        hierarchies=tree,
    )


# What the levels call a value, written again by hand.
AGES: list[Callable[[Any], Any]] = [
    lambda age: age,
    lambda age: None if age is None else f"{age // 2 * 2}-{age // 2 * 2 + 1}",
    lambda age: None if age is None else f"{age // 8 * 8}-{age // 8 * 8 + 7}",
    lambda age: "*",
]
PLACES: list[Callable[[Any], Any]] = [
    lambda town: town,
    lambda town: None if town is None else TOWNS[town][0],
    lambda town: "*",
]
NAMES = (AGES, PLACES)
TOP = (3, 2)


def label(row: Sequence[Any], levels: Sequence[int]) -> tuple[Any, ...]:
    return tuple(NAMES[column][level](row[column]) for column, level in enumerate(levels))


def meaning_of(
    table: Sequence[Any], levels: Sequence[int]
) -> dict[tuple[int, Any], frozenset[Any]]:
    found: dict[tuple[int, Any], set[Any]] = {}
    for row in table:
        for column, name in enumerate(label(row, levels)):
            found.setdefault((column, name), set()).add(row[column])
    return {key: frozenset(values) for key, values in found.items()}


def whole_columns(
    rng: random.Random, levels: Sequence[int] | None = None, table: list[Any] | None = None
) -> Example:
    """All columns recoded to levels; in half the cases some combinations are dropped."""
    table = table or some_table(rng)
    levels = levels or [rng.randint(0, top) for top in TOP]
    raw = asked(table)
    drop = (
        set(rng.sample(sorted(set(table), key=repr), rng.randint(0, len(set(table)))))
        if rng.random() < 0.5
        else set()
    )
    keep = None
    if drop:
        keep = np.array([entry not in drop for entry in entries_of(raw)])
    recoded = generalized(raw, dict(zip(QUASI, levels, strict=True)), keep=keep)
    release = [None if row in drop else label(row, levels) for row in table]
    return Example(table, recoded, release, meaning_of(table, levels))


def entries_of(raw: MicrodataQuestion) -> list[tuple[Any, ...]]:
    return [tuple(raw.base.value(name, row) for name in COLUMNS) for row in range(len(raw.base))]


def local(rng: random.Random) -> Example:
    """Rows in random groups, each with labels of its own;
    one group may be dropped, some labels are written twice.
    """
    table = some_table(rng)
    raw = asked(table, persons=rng if rng.random() < 0.3 else None)
    group_of = [rng.randrange(3) for _ in table]
    dropped = rng.choice([None, None, 0])
    labels: dict[int, tuple[Any, ...]] = {}
    meaning: dict[tuple[int, Any], frozenset[Any]] = {}
    for group in sorted(set(group_of)):
        rows = [row for row, own in zip(table, group_of, strict=True) if own == group]
        names = []
        for column, name_it in enumerate((age_label, town_label)):
            name, values = name_it(
                rng, {row[column] for row in rows}, {row[column] for row in table}
            )
            names.append(name)
            meaning[column, name] = meaning.get((column, name), frozenset()) | values
        labels[group] = tuple(names)
    release = [None if own == dropped else labels[own] for own in group_of]
    return Example(table, from_rows(raw, table, release), release, meaning)


def age_label(rng: random.Random, ages: set[Any], known: set[Any]) -> tuple[Any, frozenset[Any]]:
    if len(ages) == 1:
        return next(iter(ages)), frozenset(ages)
    if rng.random() < 0.3 and len(ages - {None}) > 0:
        # Words that no hierarchy has and that do not parse:
        # all between the first and the last that is shown so.
        low, high = min(ages - {None}), max(ages - {None})
        between = {age for age in known if age is not None and low <= age <= high}
        return f"{low} to {high}{' or none' if None in ages else ''}", frozenset(
            between | (ages & {None})
        )
    if None in ages:
        return "*", frozenset(known)
    low, high = min(ages) - rng.randint(0, 2), max(ages) + rng.randint(0, 2)
    if rng.random() < 0.5:
        return f"[{low}, {high + 1})", frozenset(
            age for age in known if age is not None and low <= age <= high
        )
    return f"{low}-{high}", frozenset(
        age for age in known if age is not None and low <= age <= high
    )


def town_label(rng: random.Random, towns: set[Any], known: set[Any]) -> tuple[Any, frozenset[Any]]:
    if len(towns) == 1:
        return next(iter(towns)), frozenset(towns)
    parts = {TOWNS[town][0] if town is not None else None for town in towns}
    if len(parts) == 1:
        part = next(iter(parts))
        return part, frozenset(
            town for town in known if town is not None and TOWNS[town][0] == part
        )
    if None not in towns and rng.random() < 0.5:
        return "|".join(sorted(towns)), frozenset(towns)
    return "*", frozenset(known)


def from_rows(raw: MicrodataQuestion, table: Sequence[Any], release: Sequence[Any]) -> Recoded:
    """A local recoding of the entries; the label of every cell has a place of its own, also
    where it is the same.
    """
    entries = entries_of(raw)
    left = raw.base.occurrences.tolist()
    rows: list[int] = []
    counts: list[int] = []
    shown: list[tuple[Any, ...]] = []
    for row, labels in zip(table, release, strict=True):
        entry = next(i for i, one in enumerate(entries) if one == row and left[i])
        left[entry] -= 1
        if labels is None:
            continue
        if (entry, labels) in zip(rows, shown, strict=True):
            counts[list(zip(rows, shown, strict=True)).index((entry, labels))] += 1
        else:
            rows.append(entry)
            counts.append(1)
            shown.append(labels)
    places = np.arange(len(rows), dtype=np.int64)
    names: Mapping[str, tuple[Any, ...]] = {
        name: tuple(labels[column] for labels in shown) for column, name in enumerate(QUASI)
    }
    return Recoded(
        raw,
        np.array(rows, dtype=np.int64),
        np.array(counts, dtype=np.int64),
        names,
        dict.fromkeys(QUASI, places),
    )
