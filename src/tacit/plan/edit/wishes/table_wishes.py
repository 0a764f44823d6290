"""Wishes about tables and their columns: roles, who is a person, hierarchies, domains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.edit import splicing
from tacit.plan.edit.lookup import refuse_taken, releases_of, section_of, spec_at
from tacit.plan.edit.notes import described, level_note, level_notes
from tacit.plan.edit.spelling import lines_of, scalar
from tacit.plan.read import tree
from tacit.plan.read.hierarchies import height
from tacit.plan.read.tables import ROLES

RoleKey = Literal["identifiers", "quasi-identifiers", "sensitive", "insensitive"]
ORDER = (
    "file",
    "columns",
    "key",
    "person",
    *ROLES,
)  # a new key of a table comes behind the last of those before it
LEVELS = ("generalization", "at-most", "weights")  # of a release: they are about quasi-identifiers


@dataclass(frozen=True, slots=True)
class AddTable:
    """A table that the plan did not have."""

    name: str
    keys: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, text: str) -> str:
        """The text with the table. Comments at the end of the last one stay with that one."""
        refuse_taken(text, "tables", self.name)
        tables = tree.find(tree.read(text), ("tables",))
        last = tables.value[-1][0] if tables and tables.kind == "mapping" and tables.value else None
        _, end, _ = table_span(text, last.value) if last else (0, 0, 0)
        before = text[tree.line_start(text, last.start) : last.start] if last else ""
        if not end or before.strip():
            return splicing.put(
                text,
                ("tables", self.name),
                self.keys,
                after=("version", "source", "source-keys", "ledger"),
            )
        return splicing.insert_lines(
            text, end - 1, [before + line for line in lines_of({self.name: self.keys})]
        )


@dataclass(frozen=True, slots=True)
class SetRole:
    """A column with another role, or with none (None: it is not released).

    What was written behind the column goes with it. Levels are taken away from what is no
    quasi-identifier any more, and settings about sensitive values from what is not sensitive any
    more.
    """

    table: str
    column: str
    role: RoleKey | None

    def applied(self, text: str) -> str:
        """The text with the column under its role and no other."""
        entry = section_of(text, "tables", self.table)
        now = [role for role in ROLES if self.column in tree.names_in(entry.get(role))]
        if now == ([self.role] if self.role else []):
            return text
        is_block = self.writes_blocks(text)
        text, note = self.released(text)
        if self.role:
            text, remark = uncommented(text, self.table, self.column)
            after = ORDER[: ORDER.index(self.role)]
            path = ("tables", self.table, self.role)
            text = splicing.append(
                text, path, self.column, note=note or remark, in_lines=is_block, after=after
            )
            if (note or remark) and not splicing.is_in_lines(text, path):
                text = commented(text, self.table, self.column, note or remark)
        elif note:
            text = commented(text, self.table, self.column, note)
        if "quasi-identifiers" in now and self.role != "quasi-identifiers":
            text = self.without_levels(text)
        if "sensitive" in now and self.role != "sensitive":
            text = self.without_spelling(text)
        return text

    def writes_blocks(self, text: str) -> bool:
        """Whether the roles of this table are written with each column on a line of its own."""
        return any(splicing.is_in_lines(text, ("tables", self.table, role)) for role in ROLES)

    def released(self, text: str) -> tuple[str, str]:
        """The text with the column under no role, and what was written behind it."""
        note = ""
        for role in ROLES:
            text, said = splicing.without_name(text, ("tables", self.table, role), self.column)
            note = note or said
        return text, note

    def without_levels(self, text: str) -> str:
        """The releases of the table without levels and weights of the column."""
        for name in releases_of(text, self.table):
            for key in LEVELS:
                text = splicing.drop(text, ("releases", name, key, self.column))
        return text

    def without_spelling(self, text: str) -> str:
        """The table without what only sensitive columns have."""
        path = ("tables", self.table)
        for key in ("merge-spelling", "as-written"):
            text, _ = splicing.without_name(text, (*path, key), self.column)
        return splicing.drop(text, (*path, "unknown", self.column))


@dataclass(frozen=True, slots=True)
class SetPerson:
    """Whether a column is one of those that tell people apart."""

    table: str
    column: str
    on: bool = True

    def applied(self, text: str) -> str:
        """The text with or without the column under `person`."""
        path = ("tables", self.table, "person")
        has = self.column in tree.names_in(section_of(text, "tables", self.table).get("person"))
        if has == self.on:
            return text
        if self.on:
            return splicing.append(text, path, self.column, after=ORDER[: ORDER.index("person")])
        return splicing.without_name(text, path, self.column)[0]


@dataclass(frozen=True, slots=True)
class SetHierarchy:
    """Another way for a column's values to become coarser, or none.

    Levels that it does not have become its highest one.
    Comments that described the one before describe it.
    """

    table: str
    column: str
    spec: HierarchySpec | None

    def applied(self, text: str) -> str:
        """The text with that hierarchy."""
        section_of(text, "tables", self.table)
        path = ("tables", self.table, "hierarchies", self.column)
        before = spec_at(text, self.table, self.column)
        if self.spec is None:
            if tree.find(tree.read(text), path) is None:
                return text
            return self.with_levels(splicing.drop(text, path), before, 0)
        notes = ((described(before),), described(self.spec)) if before else None
        text = splicing.put(text, path, spec_value(self.spec), after=ORDER, notes=notes)
        top = height(self.spec)
        return self.with_levels(text, before, top)

    def with_levels(self, text: str, before: HierarchySpec | None, top: int | None) -> str:
        """The releases of the table with no level of this column above the top one."""
        for name in releases_of(text, self.table):
            for key in ("generalization", "at-most"):
                levels = section_of(text, "releases", name).get(key)
                if not isinstance(levels, Mapping) or self.column not in levels:
                    continue
                path = ("releases", name, key, self.column)
                level = levels[self.column]
                if self.spec is None or not isinstance(level, int):
                    text = splicing.drop(text, path)
                    continue
                now = level if top is None else min(level, top)
                text = splicing.put(text, path, now)
                text = splicing.renoted(
                    text, path, (level_notes(before, level), level_note(self.spec, now))
                )
        return text


@dataclass(frozen=True, slots=True)
class SetDomain:
    """The values that a column can have, in the order of the list."""

    table: str
    column: str
    values: tuple[Any, ...]

    def applied(self, text: str) -> str:
        """The text with that list."""
        section_of(text, "tables", self.table)
        return splicing.put(
            text, ("tables", self.table, "domains", self.column), list(self.values), after=ORDER
        )


def spec_value(spec: HierarchySpec) -> Any:
    """A hierarchy as the plan writes it.

    >>> from tacit.model.schema import FlatHierarchy
    >>> (
    ...     spec_value(MaskHierarchy("right")),
    ...     spec_value(CsvHierarchy("zip.csv")),
    ...     spec_value(FlatHierarchy()),
    ... )
    ({'mask': 'right'}, 'zip.csv', '*')
    """
    if isinstance(spec, CsvHierarchy):
        return spec.file
    if isinstance(spec, RangeHierarchy):
        return {"ranges": list(spec.widths)}
    if isinstance(spec, DateHierarchy):
        return {"dates": list(spec.units), **({"zone": spec.zone} if spec.zone else {})}
    return {"mask": spec.side} if isinstance(spec, MaskHierarchy) else "*"


def table_span(text: str, table: str) -> tuple[int, int, int]:
    """Where a table's entry begins and ends, with the comments behind it,
    and how far its keys are indented.
    """
    found = tree.trail(tree.read(text), ("tables", table))
    key, node = found[-1]
    if node.kind != "mapping" or node.flow or key is None or len(found) < 3:
        return 0, 0, 0
    indent = tree.column_of(text, node.value[0][0].start)
    end = tree.line_after(text, node.end)
    while (line := text[end : tree.line_after(text, end)]).strip().startswith(
        "#"
    ) and line.startswith(" " * indent):
        end = tree.line_after(text, end)
    return key.end, end, indent


def commented(text: str, table: str, column: str, note: str) -> str:
    """A column that has no place any more, as a comment at the end of its table:
    ready to be taken back.
    """
    _, end, indent = table_span(text, table)
    if not end:
        return text
    return splicing.insert_lines(text, end - 1, [f"{' ' * indent}# - {scalar(column)}  # {note}"])


def uncommented(text: str, table: str, column: str) -> tuple[str, str]:
    """The text without the comment that keeps a column, and what was written behind it."""
    start, end, _ = table_span(text, table)
    kept = re.compile(
        rf"^[ ]*#[ ]*- {re.escape(scalar(column))}[ ]*(?:#[ ]*([^\n\r]*))?(?:\r\n|\n|\Z)",
        re.MULTILINE,
    )
    found = kept.search(text, start, end)
    if found is None:
        return text, ""
    return text[: found.start()] + text[found.end() :], (found[1] or "").strip()
