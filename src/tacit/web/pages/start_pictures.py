"""Pictures of the page Start: a column's histogram, small in a table and large to be read and saved."""

from __future__ import annotations

from html import escape

from tacit.report.charts import Chart
from tacit.starter.guessing import Guess
from tacit.starter.histograms import Histogram

WIDTH, HEIGHT, GAP = 132, 30, 2
LABELS, ROW, BARS = 190, 26, 330  # pixels: of the labels, of a bar's line, of the longest bar
INK, MUTED, FILL = "#1c2733", "#566370", "#35618f"
LONGEST_LABEL = 26


def said(column: str, histogram: Histogram) -> str:
    """A histogram in one sentence, for those who cannot see it.

    >>> from tacit.starter.histograms import Bar
    >>> said("age", Histogram("numbers", (Bar("20-29", 3), Bar("30-39", 5))))
    'age: 2 bands from 20-29 to 30-39; most rows (5) in 30-39.'
    """
    if not histogram.bars:
        return f"{column}: {histogram.why or 'nothing to show'}."
    most = max(histogram.bars, key=lambda bar: bar.rows)
    if histogram.kind == "values":
        rest = f", and {histogram.others:,} rows with others" if histogram.others else ""
        return f"{column}: {len(histogram.bars)} most frequent values{rest}; most rows ({most.rows:,}) have {most.label}."
    ends = f"{len(histogram.bars)} bands from {histogram.bars[0].label} to {histogram.bars[-1].label}"
    return f"{column}: {ends}; most rows ({most.rows:,}) in {most.label}."


def small(column: str, histogram: Histogram) -> str:
    """A histogram as a line of bars that fits into a cell of a table."""
    many = max(6, len(histogram.bars))
    width = (WIDTH + GAP) / many - GAP
    highest = max((bar.rows for bar in histogram.bars), default=0) or 1
    drawn = []
    for at, bar in enumerate(histogram.bars):
        high = max(1.0, bar.rows / highest * (HEIGHT - 2)) if bar.rows else 0.0
        place = f'x="{at * (width + GAP):.1f}" y="{HEIGHT - 1 - high:.1f}" width="{width:.1f}" height="{high:.1f}"'
        drawn.append(f"<rect {place}><title>{escape(bar.label)}: {bar.rows:,}</title></rect>")
    label = escape(said(column, histogram), quote=True)
    return (
        f'<svg class="histogram" role="img" aria-label="{label}" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT - 0.5}" y2="{HEIGHT - 0.5}"/>{"".join(drawn)}</svg>'
    )


def large(guess: Guess, histogram: Histogram) -> Chart:
    """A histogram with its numbers, one bar to a line."""
    lines = [(bar.label, bar.rows) for bar in histogram.bars]
    lines += [("all other values", histogram.others)] if histogram.others else []
    highest = max((rows for _, rows in lines), default=0) or 1
    drawn = []
    for at, (label, rows) in enumerate(lines):
        middle = at * ROW + ROW // 2
        width = max(1.0, rows / highest * BARS) if rows else 0.0
        short = label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"
        drawn.append(f'<text x="{LABELS - 10}" y="{middle + 4}" text-anchor="end" fill="{INK}">{escape(short)}</text>')
        drawn.append(f'<rect x="{LABELS}" y="{middle - 8}" width="{width:.1f}" height="16" rx="2" fill="{FILL}"/>')
        drawn.append(f'<text x="{LABELS + width + 8:.1f}" y="{middle + 4}" fill="{MUTED}">{rows:,}</text>')
    high = len(lines) * ROW + 4
    title = escape(said(guess.name, histogram), quote=True)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" viewBox="0 0 {LABELS + BARS + 90} {high}" '
        f'width="{LABELS + BARS + 90}" height="{high}" font-family="system-ui, sans-serif" font-size="13">{"".join(drawn)}</svg>'
    )
    facts = guess.facts
    note = f"{facts.rows:,} rows, {facts.distinct:,} different values, {facts.missing:,} missing."
    return Chart(f"What is in {guess.name}", note, svg)
