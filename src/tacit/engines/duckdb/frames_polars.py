"""Polars frames: what becomes of each type on its way to Arrow, whose own table then says what
DuckDB makes of it.

| type | becomes |
|---|---|
| Int128, UInt128 | whole numbers, exactly |
| Object | refused: Arrow would hold where the values lie in memory |
| lists and structs of whole numbers of 128 bits | refused |
| all others | Arrow's own type (Enum: an ordered dictionary, Categorical: one without order) |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.engines.duckdb.frames import chosen, refused

WIDE = {"Int128": "HUGEINT", "UInt128": "UHUGEINT"}  # Arrow has none so wide
OTHERWISE = "Give it another type, or make it text."


def for_arrow(data: Any, columns: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """The columns that are asked for, in types that Arrow holds, and the SQL types of those that
    go as text.
    """
    import polars as pl

    picked = data.select(list(chosen(data.collect_schema().names(), columns)))
    frame = picked.collect() if isinstance(picked, pl.LazyFrame) else picked
    casts = {name: WIDE[str(kind)] for name, kind in frame.schema.items() if str(kind) in WIDE}
    for name, kind in frame.schema.items():
        if kind == pl.Object:
            raise refused(name, "Python's objects (type Object)", OTHERWISE)
        if name not in casts and any(wide in str(kind) for wide in WIDE):
            raise refused(name, f"values of type {kind}, which Arrow cannot hold", OTHERWISE)
    return frame.with_columns(pl.col(name).cast(pl.String) for name in casts), casts
