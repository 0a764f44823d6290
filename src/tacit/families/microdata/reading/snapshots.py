"""Snapshots: copies of a table that was another one then; a key says who is in which of them.

Who joined or left between two releases is in some of them only, and that is known. A person has
the same values in every release: what changed meanwhile is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.sql import shapes
from tacit.errors import DataError
from tacit.families.microdata.counts import Counts, pack_codes, pack_columns
from tacit.families.microdata.definitions.together.question import Copy, JointQuestion
from tacit.families.microdata.reading.declared_distances import parts_of
from tacit.families.microdata.recoded import as_it_is
from tacit.families.words import listed, plural
from tacit.model.jobs import Job
from tacit.model.verdict import Assumption

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.reading.source import MicrodataSource
    from tacit.model.schema import Table

Row = Mapping[str, Any]
Key = tuple[Any, ...]


def same_key(key: Sequence[str], tables: Sequence[str]) -> Assumption:
    """The key is taken to name the same people in several tables."""
    names = "names" if len(key) == 1 else "name"
    return Assumption(
        "same-key",
        f"{', '.join(key)} {names} the same person in {listed(tables)}, and nobody's values "
        "changed between",
        "no",
    )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A generalized copy with the key of everybody who is in it."""

    name: str
    columns: tuple[str, ...]
    rows: Mapping[Key, Row]


def snapshot(
    name: str,
    key: Sequence[str],
    engine: Engine,
    table: str,
    shown: Sequence[str],
) -> Snapshot:
    """Some columns of a table as a snapshot; everybody has a key of their own."""
    there = engine.columns(table)
    if missing := [one for one in key if one not in there]:
        raise DataError(
            f"{name} has no column {missing[0]!r}, and key says who is who.",
            hint=f"Give the copy with its key: {listed(list(key))}.",
        )
    names = list(dict.fromkeys([*key, *shown]))
    rows: dict[Key, Row] = {}
    twice = 0
    for cells in engine.rows(shapes.columns_of(table, names)):
        who, row = tuple(cells[: len(key)]), dict(zip(names, cells, strict=True))
        if None in who:
            raise DataError(
                f"somebody in {name} has no {listed(list(key))}, and key says who is who.",
                hint="Fill it in.",
            )
        twice += who in rows
        rows[who] = {column: row[column] for column in shown}
    if twice:
        raise DataError(
            f"{plural('row', twice)} of {name} with the {listed(list(key))} of another.",
            hint="A key tells everybody apart.",
        )
    return Snapshot(name, tuple(shown), rows)


def shown_by(
    source: MicrodataSource, question: MicrodataQuestion, shown: Collection[str], key: Sequence[str]
) -> Snapshot:
    """A release of a table as a snapshot: `question` has its levels, `shown` are its columns."""
    table = question.table
    refuse_fused(source, table)
    columns = [
        one
        for one in (*table.quasi_identifiers, *table.sensitive, *table.insensitive)
        if one in shown
    ]
    plain = snapshot(question.release, key, source.reader, table.name, columns)
    labels = {
        column: dict(
            zip(
                (*question.base.dictionaries[column], None),
                question.levels[column].by_value(),
                strict=True,
            )
        )
        for column in question.quasi
        if column in shown
    }
    rows = {
        who: {
            column: labels[column][value] if column in labels else value
            for column, value in row.items()
        }
        for who, row in plain.rows.items()
    }
    return Snapshot(plain.name, plain.columns, rows)


def refuse_fused(source: MicrodataSource, table: Table) -> None:
    """Distributions over several columns are not matched person by person."""
    if fused := list(parts_of(table, source.reader.columns(table.name))):
        raise DataError(
            f"{fused[0]} of {table.name} is made of several columns, and what people who joined or "
            "left have there is not compared."
        )


def joint_of_snapshots(
    source: MicrodataSource,
    question: MicrodataQuestion,
    key: Sequence[str],
    copies: Sequence[Snapshot],
    job: Job,
) -> JointQuestion:
    """The question about a release of a table and copies of what the table was before."""
    table, name = question.table, question.release
    columns = (*table.sensitive, *table.insensitive)
    refuse_fused(source, table)
    own = snapshot(name, key, source.reader, table.name, [*table.quasi_identifiers, *columns])
    everybody = list(dict.fromkeys([*own.rows, *(who for one in copies for who in one.rows)]))
    for one in copies:
        _check(one, own, columns, table.quasi_identifiers)
    _refuse_strangers(own, copies, key)
    values = {
        column: [_value(who, column, [own, *copies]) for who in everybody] for column in columns
    }
    _refuse_unseen(question, values)
    cells: dict[str, list[Any]] = {
        column: [own.rows[who][column] if who in own.rows else None for who in everybody]
        for column in table.quasi_identifiers
    }
    labels = {
        (one.name, column): f"{one.name} shows {column}"
        for one in copies
        for column in one.columns
        if column in table.quasi_identifiers
    }
    for one in copies:
        for column in one.columns:
            if (one.name, column) in labels:
                cells[labels[one.name, column]] = [
                    one.rows[who][column] if who in one.rows else None for who in everybody
                ]
    base = _counts({**cells, **values}, {**question.base.dictionaries}, table.quasi_identifiers)
    return JointQuestion(
        question,
        [
            *(
                Copy(
                    one.name,
                    {
                        labels[one.name, column]: as_it_is(
                            base.dictionaries[labels[one.name, column]]
                        )
                        for column in one.columns
                        if (one.name, column) in labels
                    },
                    frozenset(one.columns) & frozenset(columns),
                    np.array([who in one.rows for who in everybody]),
                    {
                        labels[one.name, column]: column
                        for column in table.quasi_identifiers
                        if (one.name, column) in labels
                    },
                )
                for one in copies
            ),
            Copy(
                name,
                {column: question.levels[column] for column in question.quasi},
                frozenset(columns),
                np.array([who in own.rows for who in everybody]),
            ),
        ],
        base,
        columns,
        job=job,
        who=lambda row: dict(zip(key, everybody[row], strict=True)),
    )


def _check(one: Snapshot, own: Snapshot, columns: Sequence[str], quasi: Sequence[str]) -> None:
    """A copy shows columns of the table, the same values of everybody who is in both, and all of
    who left.
    """
    for column in one.columns:
        if column not in (*columns, *quasi):
            raise DataError(
                f"{one.name} has a column {column!r}, which is no quasi-identifier and no "
                f"released column of table {own.name}.",
                hint="Leave it out, or give it a role.",
            )
        if column in columns:
            changed = sum(
                1
                for who, row in one.rows.items()
                if who in own.rows and row[column] != own.rows[who][column]
            )
            if changed:
                raise DataError(
                    f"{column} of {plural('person', changed)} is another one in {one.name} than in "
                    f"{own.name}: worlds give everybody one value.",
                    hint="Only people whose values stayed as they were can be judged together.",
                )
    left = any(who not in own.rows for who in one.rows)
    hidden = [column for column in columns if column not in one.columns]
    if left and hidden:
        raise DataError(
            f"{one.name} has people who left, and does not show their {hidden[0]}.",
            hint="Give the copy with all columns that are released as they are.",
        )


def _refuse_strangers(own: Snapshot, copies: Sequence[Snapshot], key: Sequence[str]) -> None:
    """Every copy has somebody of the table, or of another copy that has: else the key says nothing
    of them, mostly because it is written otherwise there.
    """
    known, left = set(own.rows), list(copies)
    while near := [one for one in left if not known.isdisjoint(one.rows)]:
        known.update(*(one.rows for one in near))
        left = [one for one in left if one not in near]
    if left:
        raise DataError(
            f"nobody of {left[0].name} is in {own.name}, by {listed(list(key))}: nothing says who "
            "is who in both.",
            hint=f"Write {listed(list(key))} in the same way and with the same type in both.",
        )


def _value(who: Key, column: str, copies: Sequence[Snapshot]) -> Any:
    """Somebody's value, as the first copy shows it that has them and the column."""
    return next(
        one.rows[who][column] for one in copies if who in one.rows and column in one.columns
    )


def _refuse_unseen(question: MicrodataQuestion, values: Mapping[str, Sequence[Any]]) -> None:
    """Beliefs are about the values of the release that is asked about."""
    base = question.base
    for column, some in values.items():
        if column not in base.dictionaries:
            continue
        meant = {*base.dictionaries[column], *question.table.unknown.get(column, ())}
        meant |= {one for spelled in base.raw.get(column, {}).values() for one in spelled}
        strange = {one for one in some if one is not None} - meant
        if strange:
            raise DataError(
                f"people who left have {plural('value', len(strange))} of {column} that nobody has "
                "now: what a release says of these values cannot be compared with it.",
                hint="Ask about the values that are left, or leave those people out.",
            )


def _counts(
    cells: Mapping[str, Sequence[Any]], known: Mapping[str, Sequence[Any]], quasi: Sequence[str]
) -> Counts:
    """Counts of one row for each person; quasi-identifiers have the codes of the table."""
    dictionaries: dict[str, tuple[Any, ...]] = {}
    codes: dict[str, Integers] = {}
    for column, some in cells.items():
        if column in quasi:
            dictionaries[column] = tuple(known[column])
        else:
            dictionaries[column] = tuple(dict.fromkeys(one for one in some if one is not None))
        place = {value: code for code, value in enumerate(dictionaries[column])}
        codes[column] = np.array(
            [len(place) if one is None else place[one] for one in some], dtype=np.int64
        )
    sizes = {column: len(values) + 1 for column, values in dictionaries.items()}
    packing = pack_columns(sizes)
    many = len(next(iter(codes.values())))
    keys = tuple(
        pack_codes([codes[name] for name in packed], [sizes[name] for name in packed], many)[0]
        for packed in packing
    )
    missing = frozenset(name for name in codes if bool((codes[name] == sizes[name] - 1).any()))
    return Counts(dictionaries, sizes, packing, keys, np.ones(many, dtype=np.int64), None, missing)
