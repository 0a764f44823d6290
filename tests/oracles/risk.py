"""Re-identification risk by hand: every person, everybody they
could be taken for, and plain means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]


def alike(row: Row, rows: Sequence[Row], quasi: Sequence[str]) -> int:
    """How many rows look like this one."""
    return sum(all(one[name] == row[name] for name in quasi) for one in rows)


def risk(
    rows: Sequence[Row],
    quasi: Sequence[str],
    attacker: str,
    population: Sequence[Row] | None = None,
) -> Fraction:
    """One over what hides a person: of the person worst off, or on
    average where everybody is guessed.
    """
    chances = [
        Fraction(1, alike(row, rows if population is None else population, quasi)) for row in rows
    ]
    return sum(chances, Fraction(0)) / len(chances) if attacker == "marketer" else max(chances)
