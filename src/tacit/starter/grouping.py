"""A hierarchy made by hand: values are put together under labels, and labels under coarser ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tacit.errors import InputError
from tacit.families.microdata.hierarchy import SUPPRESSED


@dataclass(frozen=True, slots=True)
class Item:
    """A value or a label that can be put into a group: the group, its values and its rows."""

    name: str
    group: str
    values: int
    rows: int


@dataclass(frozen=True, slots=True)
class ValueGroups:
    """The values of a column with their rows, and for each level the label of each value.

    Labels are nested by construction: a level groups the labels of the one below.

    >>> groups = ValueGroups((("flu", 3), ("cold", 2), ("ulcer", 1)))
    >>> groups = groups.grouped(1, ["flu", "cold"], "lungs")
    >>> [(item.group, item.rows) for item in groups.items(1)]
    [('lungs', 3), ('lungs', 2), ('ulcer', 1)]
    >>> print(groups.text(), end="")
    flu;lungs;*
    cold;lungs;*
    ulcer;ulcer;*
    """

    values: tuple[tuple[str, int], ...]
    levels: tuple[tuple[str, ...], ...] = ()

    @property
    def height(self) -> int:
        """How many levels there are, without the one that is * for all."""
        return len(self.levels)

    def below(self, level: int) -> tuple[str, ...]:
        """For each value what it is called one level below."""
        return self.levels[level - 2] if level > 1 else tuple(name for name, _ in self.values)

    def at(self, level: int) -> tuple[str, ...]:
        """For each value its label at a level; of one that is not there, as below it."""
        return self.levels[level - 1] if level <= self.height else self.below(self.height + 1)

    def items(self, level: int) -> list[Item]:
        """What can be grouped at a level, in the order of the values."""
        counts: dict[str, list[int]] = {}
        groups = dict(zip(self.below(level), self.at(level), strict=True))
        for name, (_, rows) in zip(self.below(level), self.values, strict=True):
            count = counts.setdefault(name, [0, 0])
            count[0] += 1
            count[1] += rows
        return [Item(name, groups[name], *counts[name]) for name in counts]

    def grouped(self, level: int, names: Collection[str], label: str) -> ValueGroups:
        """The same with some items under one label at a level."""
        label = label.strip()
        if not names:
            raise InputError("nothing is ticked.", hint="Tick the values that belong together.")
        if not label:
            raise InputError("the group has no name.", hint="Write what its values have in common.")
        before = self.at(level)
        own = tuple(
            label if below in names else now
            for below, now in zip(self.below(level), before, strict=True)
        )
        return replace(self, levels=(*self.levels[: level - 1], own, *self._above(level, own)))

    def _above(self, level: int, own: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The levels above a changed one: each label below one label still."""
        found = []
        for above in self.levels[level:]:
            parents: dict[str, str] = {}
            for label, parent in zip(own, above, strict=True):
                parents.setdefault(label, parent)
            own = tuple(parents[label] for label in own)
            found.append(own)
        return tuple(found)

    def with_level(self) -> ValueGroups:
        """The same with one level more, in which nothing is joined yet."""
        return replace(self, levels=(*self.levels, self.below(self.height + 1)))

    def text(self) -> str:
        """The file: a line for every value, * at the top."""
        made = io.StringIO()
        writer = csv.writer(made, delimiter=";", lineterminator="\n")
        for at, (name, _) in enumerate(self.values):
            writer.writerow([name, *(labels[at] for labels in self.levels), SUPPRESSED])
        return made.getvalue()


def groups_of(values: Iterable[tuple[str, int]], rows: Iterable[Sequence[str]] = ()) -> ValueGroups:
    """The values of a column, grouped as the lines of a hierarchy's file say."""
    counted = tuple(values)
    known = {row[0]: tuple(row[1:]) for row in rows}
    if not known or any(name not in known for name, _ in counted):
        return ValueGroups(counted)
    columns = list(zip(*(known[name] for name, _ in counted), strict=True))
    while columns and set(columns[-1]) == {SUPPRESSED}:
        columns.pop()
    return ValueGroups(counted, tuple(columns))
