"""Found levels: how a copy that someone else made generalizes a table, told by its labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, did_you_mean
from tacit.families.microdata.hierarchy import value_text
from tacit.families.overlaps.reading.answer_rows import FileRows, cell_key, times

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Counts
    from tacit.families.microdata.reading.source import MicrodataSource
    from tacit.model.release import Microdata

Kinds = dict[str, str]


def found_levels(
    given: FileRows,
    release: Microdata,
    source: MicrodataSource,
    columns: Sequence[str],
    base: Counts,
) -> dict[str, int]:
    """The level of each column of a copy, 0 for those that are released as they are.

    `base` counts the quasi-identifiers and the `columns` that are released as they are. The copy
    must have every row of the table, and be what the data give at these levels.
    """
    table, mark = source.plan.tables[release.table], source.plan.mark("releases", release.name)
    if given.rows != base.rows:
        raise DataError(
            f"{given.file} has {given.rows:,} rows, and table {table.name} {base.rows:,}: who "
            "was left out is not known.",
            mark=mark,
        )
    known = [*table.quasi_identifiers, *columns]
    for name in given.header:
        if name not in known:
            raise DataError(
                f"{given.file} has a column {name!r}, which is no quasi-identifier and no "
                f"released column of table {table.name}.",
                hint=did_you_mean(name, known),
                mark=mark,
            )
    engine = source.reader
    native = engine.native_types(table.name)
    kinds: Kinds = {name: engine.meaning(native[name]).kind for name in known if name in native}
    levels: dict[str, int] = {}
    for at, name in enumerate(given.header):
        has: Counter[Any] = Counter()
        for cells, many in given.cells.items():
            has[cells[at]] += many
        levels[name] = (
            0 if name in columns else _fitting(name, has, given.file, release, source, base, kinds)
        )
    _compare(given, levels, release, source, base, kinds)
    return levels


def _texts(
    name: str, height: int, release: Microdata, source: MicrodataSource, base: Counts, kinds: Kinds
) -> list[Any]:
    """What a level shows of each code of a column."""
    kind = "text" if height else kinds.get(name, "text")
    shown: Sequence[Any] = (*base.dictionaries[name], None)
    if height:
        tree = source.counted[release.table].hierarchies[name]
        shown = tree.level(height).by_value()
    return [cell_key(None if one is None else value_text(one), kind) for one in shown]


def _fitting(
    name: str,
    has: Counter[Any],
    file: str,
    release: Microdata,
    source: MicrodataSource,
    base: Counts,
    kinds: Kinds,
) -> int:
    """The lowest level that shows as many people with each label as the file has."""
    tree = source.counted[release.table].hierarchies[name]
    many = base.rows_by_code(name).tolist()
    labels: set[Any] = set()
    for height in range(tree.height + 1):
        texts = _texts(name, height, release, source, base, kinds)
        labels |= set(texts)
        wanted: Counter[Any] = Counter()
        for text, people in zip(texts, many, strict=True):
            wanted[text] += people
        found: Counter[Any] = Counter()
        for cell, people in has.items():
            found[cell_key(cell, "text" if height else kinds.get(name, "text"))] += people
        if +wanted == +found:
            return height
    strange = sorted(cell for cell in has if cell and cell not in map(str, labels))
    why = (
        f"{strange[0]!r} is a label of no level" if strange else "no level has its labels as often"
    )
    raise DataError(
        f"{file} does not show {name} as a level of its hierarchy would: {why}.",
        hint=f"Describe how {name} was generalized under hierarchies of {release.table}.",
        mark=source.plan.mark("releases", release.name, "file"),
    )


def _compare(
    given: FileRows,
    levels: dict[str, int],
    release: Microdata,
    source: MicrodataSource,
    base: Counts,
    kinds: Kinds,
) -> None:
    """The copy has the rows that the data give at these levels, each as often."""
    header = given.header
    texts = {name: _texts(name, levels[name], release, source, base, kinds) for name in header}
    codes = {name: base.codes(name).tolist() for name in header}
    wanted: Counter[Any] = Counter()
    for row, many in enumerate(base.occurrences.tolist()):
        wanted[tuple(texts[name][codes[name][row]] for name in header)] += many
    found: Counter[Any] = Counter()
    for some, many in given.cells.items():
        keys = (
            cell_key(cell, "text" if levels[name] else kinds.get(name, "text"))
            for name, cell in zip(header, some, strict=True)
        )
        found[tuple(keys)] += many
    wrong = next((one for one in found if found[one] != wanted[one]), None)
    if wrong is not None:
        raise DataError(
            f"{given.file} is not what the data give for {release.name!r}: the row "
            f"({', '.join('' if one is None else str(one) for one in wrong)}) stands "
            f"{times(found[wrong])} in the file and {times(wanted[wrong])} in the data.",
            hint="Correct the file, or leave it out.",
            mark=source.plan.mark("releases", release.name, "file"),
        )
