"""Values that are no diversity: "unknown" is missing, and "cancer" is "Cancer", when the owner says so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.tables.counts import Counts

UNKNOWN_WORDS = frozenset(
    {
        "?",
        "-",
        "--",
        "n/a",
        "na",
        "n.a.",
        "nan",
        "none",
        "null",
        "nil",
        "unknown",
        "missing",
        "unspecified",
        "not known",
    }
    | {"unbekannt", "inconnu", "desconocido"}
)


def folded(value: Any) -> Any:
    """A value without case and needless spaces.

    >>> folded(" Heart  Disease")
    'heart disease'
    """
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


def spelling_variants(values: Sequence[Any]) -> list[Any]:
    """The values that are the same as an earlier one but for case and spaces.

    >>> spelling_variants(["Cancer", "cancer ", "Flu"])
    ['cancer ']
    """
    first: dict[Any, Any] = {}
    return [value for value in values if first.setdefault(folded(value), value) != value]


def unknown_words(values: Sequence[Any]) -> list[Any]:
    """The values that look as if they mean that nothing is known.

    >>> unknown_words(["Cancer", "?", "Unknown"])
    ['?', 'Unknown']
    """
    return [value for value in values if folded(value) in UNKNOWN_WORDS]


def cleaned(
    base: Counts, column: str, *, unknown: Collection[Any] = (), merge_spelling: bool = False
) -> Counts:
    """The same counts with some values of a column missing, and spelling variants as one value."""
    values = base.dictionaries[column]
    kept: dict[Any, int] = {}
    targets = []
    for value in values:
        if value in unknown:
            targets.append(-1)
            continue
        name = folded(value) if merge_spelling else value
        targets.append(kept.setdefault(name, len(kept)))
    names = [
        next(value for value, code in zip(values, targets, strict=True) if code == new)
        for new in kept.values()
    ]
    codes = np.array([len(kept) if code < 0 else code for code in (*targets, -1)], dtype=np.int64)
    missing = base.with_missing | {column} if -1 in targets else base.with_missing
    raw = {
        name: tuple(value for value, code in zip(values, targets, strict=True) if code == new)
        for new, name in enumerate(names)
    }
    return replace(
        base,
        dictionaries={**base.dictionaries, column: tuple(names)},
        with_missing=missing,
        recoded={**base.recoded, column: codes[base.codes(column)]},
        raw={**base.raw, column: raw},
    )
