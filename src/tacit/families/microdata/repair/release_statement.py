"""Write a release where the rows are:
the engine gets labels, never rows, and one statement to run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.sql import shapes_coded
from tacit.errors import DataError, TacitError
from tacit.families.microdata.counts import pack_codes, run_starts
from tacit.families.microdata.fused_columns import unfused
from tacit.families.microdata.hierarchy import value_text
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from pathlib import Path

    from sqlglot import exp

    from tacit.engines.base import Engine
    from tacit.engines.output import Relation
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.hierarchy import HierarchyLevel, Labels
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.recoded import Recoded

LEFT_OUT, CELLS, GROUPS = "tacit left out", "tacit cells", "tacit groups"


@dataclass(frozen=True, slots=True)
class ReleaseStatement:
    """The statement that yields a release, and the relations that it joins the table with."""

    query: exp.Select
    relations: Mapping[str, Mapping[str, Relation]]


def write(
    recoded: Recoded,
    engine: Engine,
    target: str,
    *,
    job: Job | None = None,
    replace: bool = False,
    keep: Collection[Path] = (),
) -> None:
    """Write a release to a file (.csv, .parquet) or to a table of the source, in random order.

    Columns come in the order quasi-identifiers, sensitive, insensitive; others are not written. All
    rows are written or none: what was there before stays until the end. A table that exists is
    replaced only if `replace` says so; files in `keep`, and what the release is made from, never.
    The shares that `job` is told are of the writing alone.
    """
    job = job or Job()
    engine.check_target(target, replace=replace, keep=keep)
    if not recoded.released:
        raise DataError(
            "every row is suppressed: there is nothing to write.", hint="Allow less suppression."
        )
    job.step("preparing the release", 0.0)
    made = statement(recoded, engine.collations(recoded.raw.table.name))
    try:
        for name, columns in made.relations.items():
            engine.put_map(name, columns)
        job.step(f"writing {recoded.released} rows", 0.1)
        engine.save(made.query, target, rows=recoded.released, replace=replace)
    finally:
        for name in made.relations:
            with suppress(TacitError):
                engine.drop_map(name)


def statement(recoded: Recoded, collations: Mapping[str, str]) -> ReleaseStatement:
    """The statement that yields a release:
    column by column where whole columns and groups are recoded.
    """
    groups = left_out(recoded)
    return (
        by_cell(recoded, collations) if groups is None else by_column(recoded, groups, collations)
    )


def columns_of(raw: MicrodataQuestion) -> list[str]:
    """The columns of a release as they are stored: one that is made of several is its parts."""
    stored = {name for key in raw.base.packing for name in key}
    parts = {
        name: tuple(raw.table.distances[name]["variational"])
        for name in raw.sensitive
        if name not in stored
    }
    return unfused([*raw.quasi, *raw.sensitive, *raw.table.insensitive], parts)


def left_out(recoded: Recoded) -> dict[str, Integers] | None:
    """The groups that are suppressed, as codes of their labels in each quasi-identifier.

    None where this does not say all:
    columns are not recoded as a whole, or groups are suppressed in part.
    """
    if recoded.generalization is None:
        return None
    raw, levels = recoded.raw, levels_of(recoded)
    names = [name for name in raw.quasi if constant(raw, name, levels[name]) is None]
    dropped = np.ones(len(raw.base), dtype=bool)
    dropped[recoded.rows] = False
    none: dict[str, Integers] = {name: np.zeros(0, dtype=np.int64) for name in names}
    if recoded.released == raw.base.rows:
        return none
    whole = len(recoded.rows) == len(raw.base) - int(dropped.sum())
    if not whole or bool((raw.base.occurrences[recoded.rows] != recoded.counts).any()):
        return None
    codes = {name: levels[name].codes[raw.base.codes(name)] for name in names}
    packed, _ = pack_codes(
        list(codes.values()), [len(levels[name].labels) for name in names], len(raw.base)
    )
    groups, first = np.unique(packed[dropped], return_index=True)
    if bool(np.isin(packed[~dropped], groups).any()):
        return None
    where = np.flatnonzero(dropped)[first]
    return {name: codes[name][where] for name in names}


def levels_of(recoded: Recoded) -> dict[str, HierarchyLevel]:
    """The level of each quasi-identifier."""
    assert recoded.generalization is not None
    return {
        name: recoded.raw.hierarchies[name].level(recoded.generalization[name])
        for name in recoded.raw.quasi
    }


def constant(raw: MicrodataQuestion, name: str, level: HierarchyLevel) -> str | None:
    """The only label of a column, where all values have the same;
    not that of a column shown as it is.
    """
    if shows_values(raw, name, level):
        return None
    used = level.codes if name in raw.base.with_missing else level.codes[:-1]
    if not len(used) or bool((used != used[0]).any()):
        return None
    return text(level.labels[int(used[0])])


def text(label: Any) -> str | None:
    """A label as the release shows it."""
    return None if label is None else value_text(label)


def by_column(
    recoded: Recoded, dropped: Mapping[str, Integers], collations: Mapping[str, str]
) -> ReleaseStatement:
    """Each value by the label of its column's level; suppressed groups are left out."""
    raw, levels = recoded.raw, levels_of(recoded)
    constants = {
        name: label
        for name in raw.quasi
        if (label := constant(raw, name, levels[name])) is not None
    }
    as_is = [name for name in raw.quasi if shows_values(raw, name, levels[name])]
    suppresses = any(len(codes) for codes in dropped.values())
    names = [
        name for name in raw.quasi if name not in constants and (suppresses or name not in as_is)
    ]
    place = {name: f"tacit labels {i}" for i, name in enumerate(names)}
    relations: dict[str, Mapping[str, Relation]] = {
        place[name]: codes_and_labels(levels[name], shown=name not in as_is) for name in names
    }
    if suppresses:
        relations[LEFT_OUT] = {f"n{i}": dropped[name] for i, name in enumerate(names)}
    query = shapes_coded.recoded(
        raw.table.name,
        columns_of(raw),
        labels=place,
        missing={name: missing_label(levels[name]) for name in names},
        constants=constants,
        as_is=as_is,
        left_out=LEFT_OUT if suppresses else None,
        collations=collations,
    )
    return ReleaseStatement(query, relations)


def shows_values(raw: MicrodataQuestion, name: str, level: HierarchyLevel) -> bool:
    """Does a level show the values as they are?"""
    return level.is_identity and level.labels == (*raw.base.dictionaries[name], None)


def codes_and_labels(level: HierarchyLevel, *, shown: bool) -> dict[str, Relation]:
    """For every code of a value: its label, where it is shown, and the number of that label."""
    codes = level.codes[:-1]
    texts = [text(label) if shown else None for label in level.labels]
    return {
        "code": np.arange(len(codes)),
        "label": [texts[code] for code in codes.tolist()],
        "number": codes,
    }


def missing_label(level: HierarchyLevel) -> tuple[str | None, int]:
    """What a level shows where the value is missing, and its number."""
    number = int(level.codes[-1])
    return text(level.labels[number]), number


def by_cell(recoded: Recoded, collations: Mapping[str, str]) -> ReleaseStatement:
    """Each combination by the labels of its group;
    its rows are dealt at random where it has several groups.
    """
    raw, rows = recoded.raw, recoded.rows
    names = [name for name in raw.quasi if not keeps_values(recoded, name)]
    sizes = [len(recoded.labels[name]) for name in names]
    packed, _ = pack_codes([recoded.codes[name] for name in names], sizes, len(rows))
    _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    groups: dict[str, Relation] = {"number": np.arange(len(first))}
    for i, name in enumerate(names):
        texts = [text(label) for label in recoded.labels[name]]
        groups[f"l{i}"] = [texts[code] for code in recoded.codes[name][first].tolist()]
    cells: dict[str, Relation] = {f"k{i}": key[rows] for i, key in enumerate(raw.base.keys)}
    if raw.base.persons is not None:
        cells["person"] = raw.base.persons[rows]
    cells["number"] = number.reshape(-1).astype(np.int64)
    if divided := is_divided(recoded):
        cells["after"], cells["upto"] = places(rows, recoded.counts)
    query = shapes_coded.regrouped(
        raw.table.name,
        columns_of(raw),
        sizes=raw.base.radix,
        keys=raw.base.packing,
        person=raw.table.person if raw.base.persons is not None else (),
        cells=CELLS,
        groups=GROUPS,
        labels={name: i for i, name in enumerate(names)},
        divided=divided,
        collations=collations,
    )
    return ReleaseStatement(query, {CELLS: cells, GROUPS: groups})


def keeps_values(recoded: Recoded, name: str) -> bool:
    """Does every cell show the value that its rows have in a column?"""
    values: Labels = (*recoded.raw.base.dictionaries[name], None)
    code = {value: number for number, value in enumerate(values)}
    same = np.array([code.get(label, -1) for label in recoded.labels[name]], dtype=np.int64)
    return bool((same[recoded.codes[name]] == recoded.raw.base.codes(name)[recoded.rows]).all())


def is_divided(recoded: Recoded) -> bool:
    """Are the rows of some combination in several cells, or only some of them in any?"""
    if bool((recoded.counts != recoded.raw.base.occurrences[recoded.rows]).any()):
        return True
    return len(np.unique(recoded.rows)) < len(recoded.rows)


def places(rows: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Which rows of its combination, numbered from 1, each cell has:
    those after the first, up to the second.

    >>> after, upto = places(np.array([7, 3, 7]), np.array([2, 1, 4]))
    >>> after.tolist(), upto.tolist()
    ([0, 0, 2], [2, 1, 6])
    """
    order = np.argsort(rows, kind="stable")
    upto = np.cumsum(counts[order])
    after = upto - counts[order]
    starts = run_starts(rows[order])
    offset = np.repeat(after[starts], np.diff(np.append(starts, len(rows))))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return (after - offset)[back], (upto - offset)[back]
