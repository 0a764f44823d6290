"""Output check: what stands in the output is read back and compared with what was meant, before
anyone relies on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tacit.engines.base import Engine
from tacit.errors import EngineError
from tacit.families.microdata.counts import ROOM, Counts, count, pack_codes, tally
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.recoded import Recoded
from tacit.model.schema import Table

FILES = (".csv", ".parquet")


def compare(recoded: Recoded, engine: Engine, output: str) -> None:
    """Count the output again: it must have the same rows as the release that was judged.

    Columns that are stored in parts (distributions) are left out of the comparison.
    """
    found = read_back(recoded, engine, output)
    if found.rows != recoded.released or not same_rows(recoded, found):
        if Path(output).suffix.lower() in FILES:
            Path(output).unlink(missing_ok=True)
        raise EngineError(
            f"what was written to {output} is not what was meant.",
            hint="Do not release it; run the command again and tell us.",
        )


def read_back(recoded: Recoded, engine: Engine, output: str) -> Counts:
    """The counts of the output."""
    path = Path(output)
    columns = [*recoded.raw.quasi, *recoded.raw.sensitive]
    if path.suffix.lower() not in FILES:
        engine.attach(Table(output))
        return count(engine, output, [name for name in columns if name in engine.columns(output)])
    from tacit.engines.duckdb.engine import DuckDB

    with DuckDB(folder=path.resolve().parent) as reader:
        reader.attach(Table("written", file=path.name))
        return count(
            reader, "written", [name for name in columns if name in reader.columns("written")]
        )


def same_rows(recoded: Recoded, found: Counts) -> bool:
    """Has the output the rows that were meant? Values are compared as they are written out."""
    meant, read, sizes = [], [], []
    for name in found.dictionaries:
        numbers: dict[str, int] = {}
        labels, codes = meant_in(recoded, name)
        meant.append(numbered(labels, numbers)[codes])
        texts = as_meant(
            recoded.raw.base, name, [value_text(value) for value in found.dictionaries[name]]
        )
        read.append(numbered([*texts, None], numbers)[found.codes(name)])
        sizes.append(len(numbers) + 1)
    sides = (meant, recoded.counts), (read, found.occurrences)
    packed = [pack_codes(codes, sizes, len(counts)) for codes, counts in sides]
    # Where a combination does not fit into one integer the two sides are not numbered alike:
    # then rows are compared.
    if prod(sizes) > ROOM:
        return slowly(meant, recoded.counts) == slowly(read, found.occurrences)
    one, two = (
        tally(key, counts, room) for (key, room), (_, counts) in zip(packed, sides, strict=True)
    )
    return all(map(np.array_equal, one, two))


def slowly(codes: list[Any], counts: Any) -> Counter[tuple[int, ...]]:
    """How often each combination occurs."""
    found: Counter[tuple[int, ...]] = Counter()
    for row, number in zip(
        zip(*(one.tolist() for one in codes), strict=True), counts.tolist(), strict=True
    ):
        found[row] += number
    return found


def meant_in(recoded: Recoded, name: str) -> tuple[list[str | None], Any]:
    """What a column was to show: texts, and the place of each cell's."""
    if name in recoded.labels:
        return [
            None if label is None else value_text(label) for label in recoded.labels[name]
        ], recoded.codes[name]
    base = recoded.raw.base
    return [*(value_text(value) for value in base.dictionaries[name]), None], base.codes(name)[
        recoded.rows
    ]


def as_meant(base: Counts, name: str, texts: list[str]) -> list[str]:
    """Where the owner said that some spellings are one value, they are written as they are and
    count as one.
    """
    clean = {
        value_text(raw): value_text(value)
        for value, all_of in base.raw.get(name, {}).items()
        for raw in all_of
    }
    return [clean.get(text, text) for text in texts]


def numbered(texts: Sequence[str | None], numbers: dict[str, int]) -> Any:
    """A number for every text, 0 for none; equal texts have equal numbers."""
    return np.array(
        [0 if text is None else numbers.setdefault(text, len(numbers) + 1) for text in texts],
        dtype=np.int64,
    )
