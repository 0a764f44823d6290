"""Several columns read as one: `{variational: [p_flu, p_cold]}` makes a distribution of them.

What comes out is the JSON object that a single column of distributions would hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from tacit.families.microdata.counts import Counts, pack_codes

Parts = Mapping[str, tuple[str, ...]]


def unfused(columns: Iterable[str], parts: Parts) -> list[str]:
    """Columns as the data have them: a fused one is its parts, and each stands once.

    >>> unfused(["zip", "illness"], {"illness": ("p_flu", "p_cold")})
    ['zip', 'p_flu', 'p_cold']
    """
    return list(dict.fromkeys(one for name in columns for one in parts.get(name, (name,))))


def fuse(base: Counts, name: str, parts: Sequence[str]) -> Counts:
    """The same counts with one more column; it is missing where one of its parts is."""
    sizes = [base.size(part) for part in parts]
    packed, _ = pack_codes([base.codes(part) for part in parts], sizes, len(base))
    _, first, where = np.unique(packed, return_index=True, return_inverse=True)
    found = [fused(parts, [base.value(part, row) for part in parts]) for row in first.tolist()]
    values = tuple(dict.fromkeys(text for text in found if text is not None))
    code = {text: number for number, text in enumerate(values)} | {None: len(values)}
    codes = np.array([code[text] for text in found], dtype=np.int64)[where.reshape(-1)]
    missing = base.with_missing | {name} if None in found else base.with_missing
    return replace(
        base,
        dictionaries={**base.dictionaries, name: values},
        recoded={**base.recoded, name: codes},
        with_missing=missing,
    )


def fuse_all(base: Counts, parts: Parts) -> Counts:
    """The same counts with all columns that are made of several."""
    for name, some in parts.items():
        base = fuse(base, name, some)
    return base


def value_in(row: Mapping[str, Any], column: str, parts: Parts) -> Any:
    """The value of a column, fused or not, in a row of the data."""
    return (
        fused(parts[column], [row[part] for part in parts[column]])
        if column in parts
        else row[column]
    )


def fused(parts: Sequence[str], values: Sequence[Any]) -> str | None:
    """The values of one row as a JSON object; None where one is missing.

    >>> fused(["p_flu", "p_cold"], [Decimal("0.30"), 0.7])
    '{"p_flu": 0.30, "p_cold": 0.7}'
    """
    if any(value is None for value in values):
        return None
    pairs = zip(parts, values, strict=True)
    return "{" + ", ".join(f"{json.dumps(part)}: {written(value)}" for part, value in pairs) + "}"


def written(value: Any) -> str:
    """A number as JSON; anything else as text, which no distribution will take for a number."""
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return str(value) if number else json.dumps(str(value))


def apart(values: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """Values to look for in the data, with a fused one taken apart again.

    >>> apart({"zip": "13053", "illness": '{"p_flu": 0.3}'}, {"illness": ("p_flu",)})
    {'zip': '13053', 'p_flu': Decimal('0.3')}
    """
    out: dict[str, Any] = {}
    for name, value in values.items():
        out |= json.loads(value, parse_float=Decimal) if name in parts else {name: value}
    return out
