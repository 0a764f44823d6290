"""Tables in memory: what becomes of each type of a pandas, Polars or
Arrow table on its way to DuckDB.

Every value is kept exactly, or its column is refused by name. Types are read in an order of their
own where they have one: ordered categories, the intervals of `pandas.cut`, periods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.engines.duckdb.reserved_words import quoted
from tacit.errors import DataError, MissingExtra


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """A column as DuckDB takes it: values, and the SQL type to read them as where that is not
    the one that they have.
    """

    values: Any
    cast: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What is registered with DuckDB, and the SQL types of columns that go there as text."""

    data: Any
    casts: Mapping[str, str] = field(default_factory=dict)


def readable(data: Any, columns: Sequence[str] = ()) -> Frame:
    """A table in memory as DuckDB reads it exactly;
    where `columns` are given, those of them that it has.
    """
    if is_of("pandas", data) and hasattr(data, "iloc") and hasattr(data, "columns"):
        from tacit.engines.duckdb.frames_pandas import as_frame, read_column

        found = {
            name: read_column(data.iloc[:, at], name)
            for name, at in chosen(list(data.columns), columns).items()
        }
        return Frame(
            as_frame(found), {name: one.cast for name, one in found.items() if one.cast is not None}
        )
    return readable_arrow(data, columns)


def readable_arrow(data: Any, columns: Sequence[str]) -> Frame:
    """A table that comes by way of Arrow;
    what Arrow has no place for goes as text, and is cast back.
    """
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra(
            "pyarrow", extra="client", purpose="tables that are no pandas data frames"
        ) from None
    from tacit.engines.duckdb import frames_arrow, frames_polars, frames_relation

    casts: dict[str, str] = {}
    if is_of("polars", data) and hasattr(data, "select"):
        data, casts = frames_polars.for_arrow(data, columns)
    elif frames_relation.is_relation(data):
        data, casts = frames_relation.for_arrow(data, columns)
    table = frames_arrow.as_table(data)
    found = {
        name: frames_arrow.read_array(table.column(at), name)
        for name, at in chosen(table.schema.names, columns).items()
    }
    casts |= {name: one.cast for name, one in found.items() if one.cast is not None}
    return Frame(pyarrow.table({name: one.values for name, one in found.items()}), casts)


def is_of(package: str, data: Any) -> bool:
    """Is a value's type one of a package?"""
    return type(data).__module__.partition(".")[0] == package


def chosen(labels: Sequence[Any], asked: Sequence[str]) -> dict[str, int]:
    """Where the columns stand that are asked for, all where none are; each has a name of its own.

    >>> chosen(["zip", "age", "zip "], ["age"])
    {'age': 1}
    >>> chosen(["q", "Q"], ["Q"])
    {'Q': 1}
    >>> chosen(["zip", "zip"], ["zip"])
    Traceback (most recent call last):
    tacit.errors.DataError: the table has two columns named 'zip' (columns 1 and 2). Rename one of them.
    """  # noqa: E501
    for name in asked:
        if not isinstance(name, str):
            raise not_text(name)
    wanted = set(asked)
    places: dict[str, int] = {}
    folded: dict[str, tuple[str, int]] = {}
    for at, label in enumerate(labels):
        if wanted and label not in wanted:
            continue
        if not isinstance(label, str):
            raise not_text(label)
        first, before = folded.setdefault(label.casefold(), (label, at))
        if before != at:  # DuckDB does not tell Zip from zip
            named = (
                f"named {label!r}"
                if first == label
                else f"named {first!r} and {label!r}, which differ only in case"
            )
            raise DataError(
                f"the table has two columns {named} (columns {before + 1} and {at + 1}).",
                hint="Rename one of them.",
            )
        places[label] = at
    return places


def not_text(label: Any) -> DataError:
    """A column whose label is no text."""
    return DataError(
        f"the column {label!r} of the table has no text for a name, but "
        f"{article(type(label).__name__)}.",
        hint="Name the columns first, for example: df.columns = [str(name) for name in df.columns]",
    )


def article(noun: str) -> str:
    """A noun with its article.

    >>> article("int"), article("tuple")
    ('an int', 'a tuple')
    """
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def no_table(data: Any) -> DataError:
    """Something that is no table."""
    return DataError(
        f"{article(type(data).__name__)} is not a table that Tacit can read.",
        hint="Give a pandas or Polars data frame, an Arrow table or a DuckDB relation.",
    )


def refused(name: str, what: str, hint: str) -> DataError:
    """A column that cannot be read exactly."""
    return DataError(f"column {name!r} of the table has {what}.", hint=hint)


def in_order(values: Any, labels: Sequence[str]) -> FrameColumn:
    """Texts in an order of their own, least first."""
    return FrameColumn(
        values, f"ENUM({', '.join(quoted(label) for label in labels)})" if labels else "VARCHAR"
    )
