"""Charts of possible worlds: how many databases and secrets stay, and how the databases are
shared out among secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.words import plural
from tacit.model.numbers import percents
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    INK,
    LABEL,
    SHELTERED,
    STEP,
    Chart,
    draw_bars,
    shortened,
)


@dataclass(frozen=True, slots=True)
class SecretShare:
    """A secret with its numbers of worlds before and after."""

    label: str
    before: int
    after: int


def counts_chart(numbers: Sequence[tuple[str, int, int]]) -> Chart | None:
    """Databases and secrets before and after; each pair has a scale of its own.
    None where nothing was counted.
    """
    rows: list[dict[str, Any]] = []
    for word, before, after in numbers:
        many = plural(word, 2).partition(" ")[2]
        rows.append(bar(len(rows), f"{many} before", Fraction(1), f"{before:,}", SHELTERED))
        rows.append(
            bar(
                len(rows),
                f"{many} after",
                share(after, before),
                f"{after:,}",
                EXPOSED if after < before else SHELTERED,
            )
        )
    if not rows:
        return None
    title = "; ".join(
        f"{after:,} of {plural(word, before)} {'stays' if after == 1 else 'stay'}"
        for word, before, after in numbers
    )
    return Chart(title, "What is possible before and after.", draw_bars(rows, title, widest=1.0))


def secrets_chart(secrets: Sequence[SecretShare], before: int, after: int) -> Chart:
    """Each secret's share of all databases before and after.
    The odds stay exactly where all shares do.
    """
    rows: list[dict[str, Any]] = []
    for one in secrets:
        first, second = share(one.before, before), share(one.after, after)
        texts = percents(first, second)
        rows.append(bar(len(rows), one.label, first, f"{texts[0]} before", SHELTERED))
        rows.append(
            bar(
                len(rows),
                "",
                second,
                f"{texts[1]} after",
                EXPOSED if first != second else SHELTERED,
            )
        )
    moved = sum(share(one.before, before) != share(one.after, after) for one in secrets)
    title = (
        (
            f"{'The share' if moved == 1 else 'The shares'} of {plural('secret', moved)} "
            f"change{'s' if moved == 1 else ''}"
        )
        if moved
        else "No secret's share changes"
    )
    note = (
        "The share of all possible databases that have this secret, before and after. The "
        "odds between secrets stay where all shares do."
    )
    return Chart(
        title, note, draw_bars(rows, title, widest=float(max(row["length"] for row in rows)) or 1.0)
    )


def share(part: int, whole: int) -> Fraction:
    """A part of a whole.

    >>> share(1, 4), share(0, 0)
    (Fraction(1, 4), Fraction(0, 1))
    """
    return Fraction(part, whole) if whole else Fraction(0)


def bar(place: int, label: str, length: Fraction, number: str, colour: str) -> dict[str, Any]:
    """The data of one bar."""
    return {
        "row": STEP * place + STEP // 2,
        "bar": True,
        "label": shortened(label, LABEL),
        "length": float(length),
        "number": number,
        "colour": colour,
        "ink": INK,
    }
