"""Cards: a verdict as a page shows it, with its facts and its witness as small tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.microdata.hierarchy import value_text
from tacit.families.words import plural
from tacit.model.numbers import plain
from tacit.model.verdict import Witness
from tacit.report.charts.portrait_chart import noun

MOST_ROWS = 12  # of a table in the page
SHORT, READABLE = 9, 30  # characters of a fraction: it stands alone, or at least beside a decimal

CHECKED = {"yes": "checked", "no": "not checked", "cannot": "cannot be checked"}
CERTAINTY = {
    "exact": "decided in exact arithmetic",
    "conservative": "may refuse what is private, never the reverse",
    "statistical": "holds with the stated confidence",
}


@dataclass(frozen=True, slots=True)
class HtmlGrid:
    """A small table of the page; the row that is `marked` stands out."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    marked: int | None = None


def parameters(values: Mapping[str, Any]) -> str:
    """Measured or required numbers in a line.

    >>> parameters({"kind": "entropy", "l": Fraction(14, 5)})
    'kind = entropy, l = 2.8'
    """
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())


def shown(value: Any) -> str:
    """A value as a reader would write it.

    >>> (
    ...     shown(Fraction(1, 3)),
    ...     shown(Fraction(1303709, 3406724)),
    ...     shown(13053),
    ...     shown(None),
    ...     shown({"name": "Bruce"}),
    ...     shown(["a", "b"]),
    ... )
    ('1/3', '0.3827 (1303709/3406724)', '13053', '(missing)', 'name Bruce', 'a, b')
    """
    if value is None:
        return "(missing)"
    if isinstance(value, Fraction):
        return fraction_in_words(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(one)}" for name, one in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(shown(one) for one in value)
    return value_text(value)


def fraction_in_words(value: Fraction) -> str:
    """An exact number, with a decimal where it is too long to be read."""
    text = plain(value)
    if len(text) <= SHORT:
        return text
    return f"{float(value):.4g}" + (f" ({text})" if len(text) <= READABLE else "")


def grids(witness: Witness) -> list[HtmlGrid]:
    """The witness as small tables: for a group what the release
    shows of it, else every fact of it.
    """
    if witness.kind != "group" or "values" not in witness.personal or "size" not in witness.facts:
        rows = [
            (noun(name), shown(value))
            for name, value in {**witness.facts, **witness.personal}.items()
            if value != {} and name != "left" and not name.endswith("_decimal")
        ]
        return [HtmlGrid(f"Witness: {witness.kind}", ("fact", "value"), rows)]
    return [group_grid(witness), *counts_grid(witness)]


def group_grid(witness: Witness) -> HtmlGrid:
    """What the release shows of a group, and how many people are in it."""
    values = witness.personal["values"]
    row = [*map(shown, values.values()), f"{witness.facts['size']:,}"]
    return HtmlGrid("The group that proves it", [*values, "people"], [row])


def counts_grid(witness: Witness) -> list[HtmlGrid]:
    """How many people of a group have which sensitive value."""
    counts = witness.personal.get("counts")
    if not counts:
        return []
    rows = [[shown(value), f"{number:,}"] for value, number in counts.items()]
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], [f"and {plural('other value', len(rows) - MOST_ROWS)}", ""]]
    return [HtmlGrid("Its people", (str(witness.facts.get("sensitive", "value")), "people"), rows)]
