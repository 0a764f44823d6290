"""Small histograms of a table's columns, counted by the engine in a few passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import ceil
from typing import Any, Literal

from tacit.engines.base import Engine
from tacit.engines.sql import shapes
from tacit.engines.sql.shapes_histograms import bin_counts, month, value_counts
from tacit.families.microdata.hierarchy import value_text
from tacit.starter.guessing import ColumnGuess
from tacit.starter.survey import AT_ONCE, ColumnProfile

BINS = 12
TOP = 8  # values that are shown by themselves
MOST_VALUES = 5_000  # of a column that are kept, the most frequent first, to preview hierarchies
MOST_COUNTED = 50_000  # different values up to which they are counted one by one
DIFFERENT = "every value differs"
IDENTIFIES = "its values tell who somebody is, so none is shown"
NEARLY_DIFFERENT = "nearly every value differs, so none is shown"

Counted = tuple[tuple[Any, int], ...]  # values with their rows, the most frequent first


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """How many rows have a value, or one of a band of them."""

    label: str
    rows: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """The bars of a column; `others` are rows with values that have no bar.
    `why` says why there are none.
    """

    kind: Literal["numbers", "dates", "values", "none"]
    bars: tuple[HistogramBar, ...] = ()
    others: int = 0
    why: str = ""


def is_shown(guess: ColumnGuess) -> bool:
    """Whether values of a column may be shown: not those that tell who somebody is."""
    facts = guess.facts
    if guess.role == "identifier" or not facts.values:
        return False
    return facts.is_number or facts.is_date or not (facts.is_nearly_unique and facts.rows > 1)


def unseen(guess: ColumnGuess) -> Histogram:
    """Instead of a histogram: why there is none.

    >>> unseen(ColumnGuess(ColumnProfile("name", "text", 9, 9, 9), "identifier", "")).why
    'every value differs: its values tell who somebody is, so none is shown'
    """
    facts = guess.facts
    if not facts.values:
        return Histogram("none", why="no row has a value")
    if guess.role != "identifier":
        return Histogram("none", why=NEARLY_DIFFERENT)
    return Histogram("none", why=f"{DIFFERENT}: {IDENTIFIES}" if facts.is_unique else IDENTIFIES)


def histograms(
    engine: Engine,
    table: str,
    guesses: Sequence[ColumnGuess],
    tell: Callable[[float], None] = lambda share: None,
) -> tuple[dict[str, Histogram], dict[str, Counted]]:
    """A histogram of every column, and the most frequent values of those that may be shown.

    Numbers are counted together, a few columns at a time, in one pass over the rows; values and
    dates in one pass for each column. `tell` is told how much of it is done.
    """
    found = {one.name: unseen(one) for one in guesses}
    shown = [one for one in guesses if is_shown(one)]
    found |= number_histograms(engine, table, [one.facts for one in shown if one.facts.is_number])
    counted: dict[str, Counted] = {}
    for done, one in enumerate(shown):
        tell(done / len(shown))
        facts = one.facts
        if facts.is_date:
            found[one.name] = date_histogram(engine, table, facts)
        if facts.distinct <= MOST_COUNTED:
            counted[one.name] = frequent_values(engine, table, one.name)
            if found[one.name].kind == "none":
                found[one.name] = value_histogram(facts, counted[one.name])
    return found, counted


# Numbers


@dataclass(frozen=True, slots=True)
class Bins:
    """Bands of equal width: where each but the first begins, and what each is called."""

    edges: tuple[Decimal, ...]
    labels: tuple[str, ...]


def bins_of(facts: ColumnProfile) -> Bins:
    """At most twelve bands of equal width; those of whole numbers begin and end with whole numbers.

    >>> bins_of(ColumnProfile("age", "integer", 99, 99, 50, Decimal(17), Decimal(90))).labels[:2]
    ('17-23', '24-30')
    >>> bins_of(ColumnProfile("sex", "integer", 99, 99, 2, Decimal(0), Decimal(1)))
    Bins(edges=(Decimal('1'),), labels=('0', '1'))
    """
    low, high = facts.low or Decimal(0), facts.high or Decimal(0)
    if facts.kind == "integer":
        width = Decimal(max(1, ceil((high - low + 1) / BINS)))
        many = int((high - low) // width) + 1
        edges = tuple(low + width * at for at in range(many))
        labels = (f"{edge:f}" if width == 1 else f"{edge:f}-{edge + width - 1:f}" for edge in edges)
        return Bins(edges[1:], tuple(labels))
    if low == high:
        return Bins((), (f"{low:f}",))
    edges = tuple(rounded(low + (high - low) * at / BINS, high - low) for at in range(BINS + 1))
    labels = (f"{one:f} to {other:f}" for one, other in pairwise(edges))
    return Bins(edges[1:-1], tuple(labels))


def rounded(number: Decimal, span: Decimal) -> Decimal:
    """A number with as many digits as tell twelve bands of a span apart.

    >>> str(rounded(Decimal("40.53416667"), Decimal("0.41")))
    '40.5342'
    """
    digits = max(0, 3 - span.adjusted())
    return Decimal(f"{round(number, digits).normalize():f}") if digits else Decimal(round(number))


def number_histograms(
    engine: Engine, table: str, columns: Sequence[ColumnProfile]
) -> dict[str, Histogram]:
    """The histograms of columns of numbers."""
    found: dict[str, Histogram] = {}
    for begin in range(0, len(columns), AT_ONCE):
        bins = {one.name: bins_of(one) for one in columns[begin : begin + AT_ONCE]}
        counts = iter(
            next(engine.rows(bin_counts(table, {name: one.edges for name, one in bins.items()})))
        )
        for name, one in bins.items():
            bars = tuple(HistogramBar(label, int(next(counts))) for label in one.labels)
            found[name] = Histogram("numbers", bars)
    return found


# Values


def frequent_values(engine: Engine, table: str, name: str) -> Counted:
    """The most frequent values of a column with the number of their rows."""
    return tuple(
        (value, int(rows))
        for value, rows in engine.rows(value_counts(table, shapes.column(name), MOST_VALUES))
    )


def value_histogram(facts: ColumnProfile, counted: Counted) -> Histogram:
    """The most frequent values, each with a bar.

    >>> value_histogram(ColumnProfile("sex", "text", 9, 8, 2), (("F", 5), ("M", 3))).bars
    (HistogramBar(label='F', rows=5), HistogramBar(label='M', rows=3))
    """
    bars = tuple(HistogramBar(value_text(value), rows) for value, rows in counted[:TOP])
    return Histogram("values", bars, facts.values - sum(bar.rows for bar in bars))


# Dates


def date_histogram(engine: Engine, table: str, facts: ColumnProfile) -> Histogram:
    """Dates by month, put together to at most twelve spans of equal length."""
    query = value_counts(table, month(facts.name, is_text=facts.kind == "text"))
    return spans(facts, [(month_number(value), int(rows)) for value, rows in engine.rows(query)])


def month_number(value: Any) -> int | None:
    """A month counted from year 0: 12 times the year and the month, which is from 1 to 12.

    >>> month_number("1985-07"), month_number(23827), month_number("85-7")
    (23827, 23827, None)
    """
    if isinstance(value, str):
        found = re.fullmatch(r"(\d{4})-(\d\d)", value)
        return int(found[1]) * 12 + int(found[2]) if found else None
    return int(value)


def spans(facts: ColumnProfile, months: Iterable[tuple[int | None, int]]) -> Histogram:
    """Months put together.

    >>> spans(
    ...     ColumnProfile("born", "date", 3, 3, 3),
    ...     [(month_number("1985-07"), 2), (month_number("1999-01"), 1)],
    ... ).bars[0]
    HistogramBar(label='1985-07 to 1986-08', rows=2)
    """
    known = {month - 1: rows for month, rows in months if month is not None}
    if not known:
        return Histogram("dates", (), facts.values)
    first, last = min(known), max(known)
    width = max(1, ceil((last - first + 1) / BINS))
    bars = []
    for begin in range(first, last + 1, width):
        rows = sum(rows for month, rows in known.items() if begin <= month < begin + width)
        ends = [
            f"{month // 12:04}-{month % 12 + 1:02}"
            for month in (begin, min(begin + width - 1, last))
        ]
        bars.append(HistogramBar(ends[0] if width == 1 else " to ".join(ends), rows))
    return Histogram("dates", tuple(bars), facts.values - sum(known.values()))
