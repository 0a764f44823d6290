"""Pictures of the page Start: a column's histogram, small in a
table and large to be read and saved.
"""

from __future__ import annotations

from html import escape
from unicodedata import east_asian_width

from tacit.report.charts.portrait_chart import Chart
from tacit.starter.guessing import ColumnGuess
from tacit.starter.histograms import Histogram

WIDTH, HEIGHT, GAP = 132, 30, 2
LETTER, ROW, BARS, NUMBER = (
    9,
    26,
    230,
    70,
)  # pixels: of a wide letter, of a bar's line, of the longest bar, of the number behind it
INK, MUTED, FILL = "#1c2733", "#566370", "#35618f"
LONGEST_LABEL = 26


def describe_histogram(column: str, histogram: Histogram) -> str:
    """A histogram in one sentence, for those who cannot see it.

    >>> from tacit.starter.histograms import HistogramBar
    >>> describe_histogram(
    ...     "age", Histogram("numbers", (HistogramBar("20-29", 3), HistogramBar("30-39", 5)))
    ... )
    'age: 2 bands from 20-29 to 30-39; most rows (5) in 30-39.'
    """
    if not histogram.bars:
        return f"{column}: {histogram.why or 'nothing to show'}."
    most = max(histogram.bars, key=lambda bar: bar.rows)
    if histogram.kind == "values":
        rest = f", and {histogram.others:,} rows with others" if histogram.others else ""
        return (
            f"{column}: {len(histogram.bars)} most frequent values{rest}; most rows "
            f"({most.rows:,}) have {most.label}."
        )
    ends = (
        f"{len(histogram.bars)} bands from {histogram.bars[0].label} to {histogram.bars[-1].label}"
    )
    return f"{column}: {ends}; most rows ({most.rows:,}) in {most.label}."


def small(column: str, histogram: Histogram) -> str:
    """A histogram as a line of bars that fits into a cell of a table."""
    many = max(6, len(histogram.bars))
    width = (WIDTH + GAP) / many - GAP
    highest = max((bar.rows for bar in histogram.bars), default=0) or 1
    drawn = []
    for at, bar in enumerate(histogram.bars):
        high = max(1.0, bar.rows / highest * (HEIGHT - 2)) if bar.rows else 0.0
        place = (
            f'x="{at * (width + GAP):.1f}" y="{HEIGHT - 1 - high:.1f}" width="{width:.1f}" '
            f'height="{high:.1f}"'
        )
        drawn.append(f"<rect {place}><title>{escape(bar.label)}: {bar.rows:,}</title></rect>")
    label = escape(describe_histogram(column, histogram), quote=True)
    return (
        f'<svg class="histogram" role="img" aria-label="{label}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT - 0.5}" y2="{HEIGHT - 0.5}"/>{"".join(drawn)}</svg>'
    )


def room(text: str) -> int:
    """How wide a text can become; letters of Chinese, Japanese and Korean take more.

    >>> room("flu"), room("日本")
    (27, 30)
    """
    return sum(15 if east_asian_width(letter) in "WF" else LETTER for letter in text)


def large(guess: ColumnGuess, histogram: Histogram) -> Chart:
    """A histogram with its numbers, one bar to a line."""
    highest = max((bar.rows for bar in histogram.bars), default=0) or 1
    shorts = [
        one.label if len(one.label) <= LONGEST_LABEL else one.label[: LONGEST_LABEL - 1] + "…"
        for one in histogram.bars
    ]
    left = max(map(room, shorts), default=0) + 10
    drawn = []
    for at, (short, bar) in enumerate(zip(shorts, histogram.bars, strict=True)):
        middle = at * ROW + ROW // 2
        width = max(1.0, bar.rows / highest * BARS) if bar.rows else 0.0
        drawn.append(
            f'<text x="{left - 10}" y="{middle + 4}" text-anchor="end" '
            f'fill="{INK}">{escape(short)}</text>'
        )
        drawn.append(
            f'<rect x="{left}" y="{middle - 8}" width="{width:.1f}" height="16" rx="2" '
            f'fill="{FILL}"/>'
        )
        drawn.append(
            f'<text x="{left + width + 8:.1f}" y="{middle + 4}" fill="{MUTED}">{bar.rows:,}</text>'
        )
    wide, high = left + BARS + NUMBER, len(histogram.bars) * ROW + 4
    title = escape(describe_histogram(guess.name, histogram), quote=True)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" viewBox="0 0 '
        f'{wide} {high}" '
        f'width="{wide}" height="{high}" style="max-width: {wide}px" font-family="system-ui, '
        f'sans-serif" font-size="13">{"".join(drawn)}</svg>'
    )
    facts = guess.facts
    note = f"{facts.rows:,} rows, {facts.distinct:,} different values, {facts.missing:,} missing."
    if histogram.others:  # no bar: it would dwarf the others, and it is no value
        note += (
            f" Shown are the {len(histogram.bars)} most frequent; {histogram.others:,} rows "
            "have other values."
        )
    return Chart(f"What is in {guess.name}", note, svg)
