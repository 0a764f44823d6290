"""pandas data frames: what becomes of each type.

| dtype | becomes |
|---|---|
| bool, int8 to int64, uint8 to uint64, their nullable kin, float64, string | the same; NaN and NA are missing |
| float32, float16 | its shortest decimal |
| datetime64 | the same; finer than microseconds refused, with a time zone its UTC time |
| timedelta64 | text; finer than microseconds, or longer than 292,000 years, refused |
| category | its categories; where it is ordered, in that order |
| interval (`pandas.cut`), period | text, in their order |
| Sparse | as if it were dense |
| object | by what its values are, which must be of one type: see `OBJECTS` |
| complex and others | refused |
"""  # noqa: E501

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from tacit.engines.duckdb.frames import FrameColumn, in_order, refused

MOST_DIGITS = 38
HUGE = 2**127
WHOLE = 2**53  # up to which every whole number is a float
FINER = "Round it to microseconds first: df[{0!r}].dt.floor('us'), or make it text."
ONE_TYPE = "Make it text: df[{0!r}].astype(str), or give all values one type."


def read_column(series: Any, name: str) -> FrameColumn:
    """A column of a data frame, as DuckDB reads it exactly."""
    import pandas as pd

    kind = series.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return _categories(series, name)
    if isinstance(kind, pd.IntervalDtype | pd.PeriodDtype):
        return _ordered(series, name)
    if isinstance(kind, pd.SparseDtype):
        return read_column(series.sparse.to_dense(), name)
    if isinstance(kind, pd.ArrowDtype):
        import pyarrow as pa

        from tacit.engines.duckdb.frames_arrow import read_array

        found = read_array(pa.chunked_array(series.array.__arrow_array__()), name)
        return FrameColumn(pd.Series(pd.arrays.ArrowExtensionArray(found.values)), found.cast)
    if pd.api.types.is_object_dtype(kind):
        return _objects(series, name)
    if kind.kind == "f" and kind.itemsize == 2:
        return FrameColumn(pd.Series(series.to_numpy().astype(str).astype("float64")))
    if kind.kind in "cV" or (kind.kind == "f" and kind.itemsize > 8):
        raise refused(name, f"values of type {kind}", "Make it text, or a number of 64 bits.")
    if kind.kind == "m":
        return _spans(series, name)
    if kind.kind == "M" and bool((series.dt.nanosecond.fillna(0) % 1000 != 0).any()):
        raise refused(name, "times that are finer than microseconds", FINER.format(name))
    return FrameColumn(series)


def as_frame(columns: Mapping[str, FrameColumn]) -> Any:
    """A data frame of columns, whatever their rows were called."""
    import pandas as pd

    return pd.DataFrame({name: one.values.array for name, one in columns.items()})


def _categories(series: Any, name: str) -> FrameColumn:
    """A category's value is what is read; in the order of the categories where they have one."""
    categories = series.cat.categories
    in_their_own = categories.dtype.kind in "biufM" and categories.is_monotonic_increasing
    if series.cat.ordered and not in_their_own and len(set(map(type, categories))) == 1:
        labels = [_label(one) for one in categories.to_numpy()]
        if len(set(labels)) == len(labels):
            return in_order(_texts(series.cat.codes.map(dict(enumerate(labels))), str), labels)
    return read_column(series.astype(categories.dtype), name)


def _label(category: Any) -> str:
    """A category in words; floats by their shortest decimal."""
    return str.__str__(category) if isinstance(category, str) else str(category)


def _ordered(series: Any, name: str) -> FrameColumn:
    """Intervals or periods as texts, in their order."""
    try:
        present = sorted(set(series.dropna()))
    except (TypeError, ValueError):  # hours beside years, periods beside intervals
        raise refused(
            name, "intervals or periods that cannot be compared", ONE_TYPE.format(name)
        ) from None
    return in_order(_texts(series, str), list(dict.fromkeys(map(str, present))))


def _texts(series: Any, write: Callable[[Any], str]) -> Any:
    """A column of text, missing where the column is."""
    import pandas as pd

    there = series.notna()
    return pd.Series(
        [write(one) if here else None for one, here in zip(series, there, strict=True)],
        dtype=object,
    )


def _objects(series: Any, name: str) -> FrameColumn:
    """A column of Python's values, which must be of one type."""
    import pandas as pd

    known = series[series.notna().to_numpy()]
    types = set(map(type, known))
    if all(issubclass(one, pd.Interval | pd.Period) for one in types) and types:
        return _ordered(series, name)
    kinds = set(map(_kind, types))
    if kinds == {int, float}:
        return _mixed_numbers(series, known, name)
    kind = kinds.pop() if len(kinds) == 1 else None
    if types and kind is None:
        shown = " and ".join(sorted(one.__name__ for one in types))
        raise refused(name, f"values of type {shown}", ONE_TYPE.format(name))
    return OBJECTS[kind or str](series, known, name)


def _kind(one: type) -> type | None:
    """The type that a Python type is read as, None where there is none."""
    import numpy as np

    if issubclass(one, np.float16 | np.float32 | float):
        return float
    if issubclass(one, np.bool_):
        return bool
    if issubclass(one, np.integer):
        return int
    if issubclass(one, np.ndarray):
        return list
    # bool before int and datetime before date, of which they are kinds.
    return next((kind for kind in OBJECTS if issubclass(one, kind)), None)


def _text(series: Any, known: Any, name: str) -> FrameColumn:
    plain = all(type(one) is str for one in known)
    return FrameColumn(
        series if plain and len(known) == len(series) else _texts(series, str.__str__), "VARCHAR"
    )


def _whole(series: Any, known: Any, name: str) -> FrameColumn:
    """Whole numbers, of up to 127 bits."""
    most = max(map(abs, known.map(int)), default=0)
    if most >= HUGE:
        raise refused(name, "whole numbers of more than 127 bits", ONE_TYPE.format(name))
    return FrameColumn(
        _texts(series, lambda one: str(int(one))), "BIGINT" if most < 2**63 else "HUGEINT"
    )


def _floats(series: Any, known: Any, name: str) -> FrameColumn:
    """Floats by their shortest decimals."""
    return FrameColumn(_texts(series, lambda one: str(float(str(one)))), "DOUBLE")


def _mixed_numbers(series: Any, known: Any, name: str) -> FrameColumn:
    """Whole numbers among floats, where a float holds them all."""
    if any(_kind(type(one)) is int and abs(int(one)) > WHOLE for one in known):
        raise refused(
            name, "floats beside whole numbers that no float holds", ONE_TYPE.format(name)
        )
    return _floats(series, known, name)


def _decimals(series: Any, known: Any, name: str) -> FrameColumn:
    """Decimals, where all fit into one type of 38 digits."""
    if not all(one.is_finite() for one in known):
        raise refused(name, "decimals that are no numbers", "Leave them empty (None).")
    after = max((max(0, -int(one.as_tuple().exponent)) for one in known), default=0)
    before = max((max(0, one.adjusted() + 1) for one in known if one), default=0)
    if before + after > MOST_DIGITS:
        raise refused(
            name,
            f"numbers that need more than {MOST_DIGITS} digits together",
            "Round them, or make the column text.",
        )
    return FrameColumn(_texts(series, lambda one: f"{one:f}"), f"DECIMAL({MOST_DIGITS}, {after})")


def _moments(series: Any, known: Any, name: str) -> FrameColumn:
    """Times; all with a time zone, or none."""
    if any(getattr(one, "nanosecond", 0) for one in known):
        raise refused(name, "times that are finer than microseconds", FINER.format(name))
    zoned = {one.tzinfo is not None for one in known}
    if len(zoned) > 1:
        raise refused(
            name, "times with a time zone beside times without", "Give all of them one, or none."
        )
    return FrameColumn(
        _texts(series, lambda one: one.isoformat(" ")),
        "TIMESTAMP WITH TIME ZONE" if zoned == {True} else "TIMESTAMP",
    )


def _spans(series: Any, name: str) -> FrameColumn:
    """Durations of 64 bits, as DuckDB writes them."""
    import pandas as pd

    values = series.to_numpy()
    there, micros = pd.notna(values), values.astype("timedelta64[us]")
    if (micros.astype(values.dtype) != values)[there].any():
        raise refused(
            name,
            "durations that are finer than microseconds, or too long to be counted in them",
            FINER.format(name),
        )
    return FrameColumn(
        pd.Series(
            [
                microseconds(int(one)) if here else None
                for one, here in zip(micros.astype("int64"), there, strict=True)
            ],
            dtype=object,
        ),
        "INTERVAL",
    )


def _durations(series: Any, known: Any, name: str) -> FrameColumn:
    """Durations, as DuckDB writes them."""
    if any(getattr(one, "nanoseconds", 0) for one in known):
        raise refused(name, "durations that are finer than microseconds", FINER.format(name))
    return FrameColumn(
        _texts(series, lambda one: microseconds(one // dt.timedelta(microseconds=1))), "INTERVAL"
    )


def microseconds(many: int) -> str:
    """A duration in one unit: in several, 30 days and a month would be two."""
    return f"{many} microseconds"


def _mappings(series: Any, known: Any, name: str) -> FrameColumn:
    """Mappings of texts to values of one type; DuckDB takes {1: 0.5} and {"1": 0.5} for one."""
    if not all(isinstance(key, str) for one in known for key in one):
        raise refused(name, "mappings whose keys are no text", ONE_TYPE.format(name))
    kinds = {_kind(type(value)) for one in known for value in one.values() if value is not None}
    if not (len(kinds) <= 1 or kinds == {int, float}) or None in kinds:
        raise refused(name, "mappings to values of several types", ONE_TYPE.format(name))
    if kinds <= {int, float} and any(
        isinstance(value, int) and abs(value) > WHOLE for one in known for value in one.values()
    ):
        raise refused(name, "mappings to whole numbers that no float holds", ONE_TYPE.format(name))
    plain = {
        at: {str.__str__(key): _plain(value) for key, value in one.items()}
        for at, one in enumerate(series)
        if isinstance(one, dict)
    }
    return FrameColumn(_column([plain.get(at) for at in range(len(series))]))


def _plain(value: Any) -> Any:
    """NumPy's floats by their shortest decimals."""
    return float(str(value)) if _kind(type(value)) is float else value


def _lists(series: Any, known: Any, name: str) -> FrameColumn:
    """Lists as Python writes them, so that 1 and "1" differ."""
    return FrameColumn(
        _texts(series, lambda one: repr(one if isinstance(one, list) else one.tolist())), "VARCHAR"
    )


def _column(values: list[Any]) -> Any:
    import pandas as pd

    return pd.Series(values, dtype=object)


def _as_they_are(series: Any, known: Any, name: str) -> FrameColumn:
    return FrameColumn(series)


# What Python's own values are read as; a subclass stands before its class.
OBJECTS: Mapping[type, Callable[[Any, Any, str], FrameColumn]] = {
    str: _text,
    bool: lambda series, known, name: FrameColumn(
        _texts(series, lambda one: str(bool(one))), "BOOLEAN"
    ),
    int: _whole,
    float: _floats,
    Decimal: _decimals,
    dt.datetime: _moments,
    dt.date: lambda series, known, name: FrameColumn(_texts(series, dt.date.isoformat), "DATE"),
    dt.time: lambda series, known, name: FrameColumn(_texts(series, str), "VARCHAR"),
    dt.timedelta: _durations,
    uuid.UUID: lambda series, known, name: FrameColumn(_texts(series, str), "UUID"),
    bytes: _as_they_are,
    dict: _mappings,
    list: _lists,
}
