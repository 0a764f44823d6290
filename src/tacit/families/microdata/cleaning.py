"""Values that are no diversity: "unknown" is missing, and "cancer" is
"Cancer", when the owner says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.families.microdata.counts import Counts
from tacit.model.text import folded

# Those that nobody takes for a value: the starter plan has them as missing.
PLAINLY_UNKNOWN = frozenset(
    {"?", "??", "???", "n/a", "na", "n.a.", "#n/a", "#na", "<na>", "nan", "null", "#null!", "\\n"}
)
UNKNOWN_WORDS = frozenset(
    {"?", "??", "???", "-", "--", "---", "–", "—", ".", "..", "..."}
    | {
        "n/a",
        "na",
        "n.a.",
        "n.a",
        "#n/a",
        "#na",
        "<na>",
        "nan",
        "#value!",
        "#ref!",
        "#null!",
        "none",
        "null",
        "nil",
        "\\n",
    }
    | {
        "unknown",
        "unk",
        "not known",
        "missing",
        "unspecified",
        "not specified",
        "not recorded",
        "not stated",
        "not available",
        "not applicable",
    }
    | {
        "tbd",
        "tba",
        "to be determined",
        "refused",
        "declined",
        "declined to answer",
        "prefer not to say",
        "no answer",
        "no response",
    }
    | {"don't know", "dont know", "undisclosed", "withheld"}
    | {
        "unbekannt",
        "keine angabe",
        "k.a.",
        "k. a.",
        "inconnu",
        "non renseigné",
        "desconocido",
        "sconosciuto",
        "onbekend",
    }
)


def spelling_variants(values: Sequence[Any]) -> list[Any]:
    """The values that are the same as an earlier one but for case, spaces
    and ways to write the same letters.

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
    base: Counts,
    column: str,
    *,
    unknown: Collection[Any] = (),
    merge_spelling: bool = False,
    merged: Collection[Any] | None = None,
) -> Counts:
    """The same counts with some values of a column missing, and spelling variants as one value;
    of all words, or of those `merged`.
    """
    values = base.dictionaries[column]
    kept: dict[Any, int] = {}
    targets = []
    for value in values:
        if value in unknown:
            targets.append(-1)
            continue
        name = (
            folded(value)
            if merge_spelling and (merged is None or folded(value) in merged)
            else value
        )
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
