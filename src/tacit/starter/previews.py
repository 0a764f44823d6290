"""What a hierarchy would do to a column:
its levels with the labels of each, and the tree that they make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tacit.engines.files import read_rows
from tacit.families.microdata.hierarchy import Hierarchy, hierarchy, value_text
from tacit.model.schema import CsvHierarchy, HierarchySpec
from tacit.starter.histograms import Counted

MOST_PARTS = 6  # branches that are shown below one
MOST_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class PreviewStep:
    """A level: how many labels it has, some of them, and how few rows one of them has."""

    height: int
    labels: int
    examples: tuple[str, ...]
    fewest: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A label, how many different values and how many rows it stands
    for, and the finer ones below it.

    `more` is how many finer ones are left out.
    """

    label: str
    height: int
    values: int
    rows: int
    parts: tuple[Branch, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Preview:
    """The levels from fine to coarse, the coarsest labels as trees,
    and how many values it was made of.
    """

    steps: tuple[PreviewStep, ...]
    trees: tuple[Branch, ...]
    more: int
    values: int


def preview(
    column: str, counted: Counted, spec: HierarchySpec, *, folder: Path = Path(".")
) -> Preview:
    """What a hierarchy would do to these values; a DataError where it does not fit them.

    >>> from tacit.model.schema import RangeHierarchy
    >>> found = preview("age", ((28, 3), (31, 1), (35, 2)), RangeHierarchy((10, 20)))
    >>> [(step.labels, step.examples, step.fewest) for step in found.steps[1:]]
    [(2, ('20-29', '30-39'), 3), (1, ('20-39',), 6), (1, ('*',), 6)]
    >>> [part.label for part in found.trees[0].parts[0].parts]
    ['20-29', '30-39']
    """
    ordered = sorted(counted, key=order)
    rows = read_rows(folder / spec.file, spec.file) if isinstance(spec, CsvHierarchy) else ()
    file = spec.file if isinstance(spec, CsvHierarchy) else ""
    built = hierarchy(column, tuple(value for value, _ in ordered), spec, rows=rows, file=file)
    counts = [many for _, many in ordered]
    steps = tuple(step(built, height, counts) for height in range(built.height + 1))
    everything = list(range(len(counts)))
    trees = branches(built, built.height, everything, counts)
    return Preview(steps, tuple(trees[:MOST_PARTS]), max(0, len(trees) - MOST_PARTS), len(counts))


def file_height(path: Path, shown: str) -> int:
    """How many levels the file of a hierarchy has above the values themselves."""
    rows = read_rows(path, shown)
    return max(0, len(rows[0][1]) - 1) if rows else 0


def order(one: tuple[Any, int]) -> tuple[bool, Decimal, str]:
    """Numbers by size, before texts by their letters."""
    value = one[0]
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return False, Decimal(str(value)), ""
    return True, Decimal(0), value_text(value)


def step(built: Hierarchy, height: int, counts: Sequence[int]) -> PreviewStep:
    """One level in short."""
    labels = built.levels[height].by_value()[: len(counts)]
    rows: dict[Any, int] = {}
    for label, many in zip(labels, counts, strict=True):
        rows[label] = rows.get(label, 0) + many
    examples = tuple(value_text(label) for label in list(rows)[:MOST_EXAMPLES])
    return PreviewStep(height, len(rows), examples, min(rows.values(), default=0))


def branches(
    built: Hierarchy, height: int, members: Sequence[int], counts: Sequence[int]
) -> list[Branch]:
    """The labels of a level that some values have, with what is below the first of them."""
    level = built.levels[height]
    together: dict[int, list[int]] = {}
    for member in members:
        together.setdefault(int(level.codes[member]), []).append(member)
    made = []
    for number, (code, inside) in enumerate(together.items()):
        below = (
            branches(built, height - 1, inside, counts) if height and number < MOST_PARTS else []
        )
        shown = tuple(below[:MOST_PARTS])
        rows = sum(counts[member] for member in inside)
        label = value_text(level.labels[code])
        made.append(Branch(label, height, len(inside), rows, shown, len(below) - len(shown)))
    return made
