"""Level labels: what each level of a column shows of its most frequent value."""

from __future__ import annotations

from typing import Any

from tacit.families.microdata.microdata import MicrodataQuestion


def level_labels(raw: MicrodataQuestion) -> dict[str, tuple[Any, ...]]:
    """For every quasi-identifier the labels of its most frequent value, from level 0 upwards."""
    found = {}
    for name in raw.quasi:
        often = int(raw.base.rows_by_code(name).argmax())
        found[name] = tuple(
            level.labels[int(level.codes[often])] for level in raw.hierarchies[name].levels
        )
    return found
