"""Files of SPSS, Stata and SAS, by pyreadstat.

A column whose values all have labels of their own is read as the labels, others as the numbers.
What the file itself calls missing is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.engines.files import cannot_read
from tacit.engines.texts.columns import TextColumns, Texts
from tacit.engines.texts.values import number_text, text_of
from tacit.errors import DataError, Mark, MissingExtra

AT_ONCE = 50_000
READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read(path: Path, shown: str) -> TextColumns:
    """The columns of such a file."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtra(
            "pyreadstat", extra="files", purpose="SPSS, Stata and SAS files"
        ) from None
    try:
        path.open("rb").close()
        columns, meta = getattr(pyreadstat, READERS[path.suffix.lower()])(
            str(path), output_format="dict"
        )
    except OSError as error:
        raise cannot_read(shown, error) from None
    except (pyreadstat.ReadstatError, ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{shown} cannot be read: {error}", mark=Mark(shown)) from None
    short = {name for name, kind in meta.readstat_variable_types.items() if kind == "float"}
    values = {
        name: [short_float(one) if name in short else one for one in listed(column)]
        for name, column in columns.items()
    }
    labels = {
        name: fitting
        for name, known in meta.variable_value_labels.items()
        if name in values and (fitting := own_labels(values[name], known))
    }
    notes = tuple(f"{name} is read as the labels of its values" for name in labels)
    return TextColumns(tuple(values), chunks(values, labels), notes)


def chunks(
    values: Mapping[str, Sequence[Any]], labels: Mapping[str, Mapping[Any, str]]
) -> Iterator[Mapping[str, Texts]]:
    """Some rows at a time."""
    rows = max(map(len, values.values()), default=0)
    for begin in range(0, max(1, rows), AT_ONCE):
        yield {
            name: [
                text_of(labels[name].get(one, one) if name in labels else one)
                for one in column[begin : begin + AT_ONCE]
            ]
            for name, column in values.items()
        }


def listed(column: Any) -> list[Any]:
    """A column as Python values."""
    return list(column.tolist() if hasattr(column, "tolist") else column)


def short_float(value: Any) -> Any:
    """A float of 32 bits as its shortest decimal.

    >>> short_float(0.10000000149011612), short_float(None)
    ('0.1', None)
    """
    import numpy as np

    if not isinstance(value, float) or value != value:
        return value
    return number_text(str(np.float32(value)))


def own_labels(values: Sequence[Any], labels: Mapping[Any, str]) -> dict[Any, str]:
    """The labels of a column; none where a value has none, or shares its label with another.

    >>> own_labels([1.0, 2.0, None], {1.0: "men", 2.0: "women"})
    {1.0: 'men', 2.0: 'women'}
    >>> own_labels([1.0, 3.0], {1.0: "men", 2.0: "women"})
    {}
    """
    there = {one for one in values if text_of(one) is not None}
    if not there or not there <= set(labels) or len(set(labels.values())) < len(labels):
        return {}
    return {value: str(label) for value, label in labels.items()}
