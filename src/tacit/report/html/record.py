"""What a report says for the record: who asks, about which files, columns and releases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from pathlib import Path

from tacit.families.family import kind_of
from tacit.families.words import listed
from tacit.model.schema import HierarchySpec, Table
from tacit.model.verdict import Audience, Verdict
from tacit.plan.owned import owners_files
from tacit.plan.plan import Plan
from tacit.report.html.cards import Grid, parameters
from tacit.report.terminal.answers import judged

ROLES = {
    "identifiers": "identifier",
    "quasi_identifiers": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


@dataclass(frozen=True, slots=True)
class Recorded:
    """The facts, the tables below them, and the waivers. `asked` is the question of the plan."""

    facts: Sequence[tuple[str, str]]
    grids: Sequence[Grid]
    waived: Sequence[str]
    asked: str


def recorded(
    plan: Plan, verdicts: Sequence[Verdict], audience: Audience, today: date | None = None
) -> Recorded:
    """What is said of a plan and its verdicts.

    Hashes are for the owner only: with the hash of a small table a guess of its rows can be
    confirmed. So are the releases in words: a query may name a person.
    """
    day = today or datetime.now(UTC).date()
    facts = [("Date", f"{day.isoformat()} (UTC)")]
    facts += [("Organisation", plan.organisation)] if plan.organisation else []
    facts += [("Author", plan.author)] if plan.author else []
    grids = [checks_grid(verdicts), columns_grid(plan.tables.values())]
    if audience == "owner":
        grids += [releases_grid(plan, verdicts), files_grid(owners_files(plan), plan.folder)]
    waived = [f"{one.name}. {one.waived}" for one in verdicts if one.waived]
    return Recorded(facts, [one for one in grids if one.rows], waived, plan.question)


def checks_grid(verdicts: Iterable[Verdict]) -> Grid:
    """What was asked, and what was measured."""
    rows = [
        [
            one.name or one.label,
            one.check,
            parameters(one.required),
            parameters(
                {name: value for name, value in one.measured.items() if not listlike(value)}
            ),
            one.status + (", waived" if one.waived else ""),
        ]
        for one in verdicts
    ]
    return Grid("What was checked", ["check", "definition", "required", "measured", "found"], rows)


def listlike(value: object) -> bool:
    """Is a value too long for a cell of a table?"""
    return isinstance(value, list | tuple | dict | set | frozenset)


def columns_grid(tables: Iterable[Table]) -> Grid:
    """Every column that has a role, with it and its hierarchy."""
    rows = [
        [f"{table.name}.{column}", role, in_words(table.hierarchies.get(column))]
        for table in tables
        for key, role in ROLES.items()
        for column in getattr(table, key)
    ]
    return Grid("Columns", ["column", "role", "hierarchy"], rows)


def in_words(hierarchy: HierarchySpec | None) -> str:
    """A hierarchy in a few words.

    >>> from tacit.model.schema import CsvHierarchy
    >>> in_words(CsvHierarchy("zip.csv"))
    'csv: zip.csv'
    """
    if hierarchy is None:
        return ""
    kind = type(hierarchy).__name__.removesuffix("Hierarchy").lower()
    given = [getattr(hierarchy, one.name) for one in fields(hierarchy)]
    said = [
        listed([str(part) for part in one]) if isinstance(one, tuple) else str(one)
        for one in given
        if one not in (None, (), "")
    ]
    return f"{kind}: {', '.join(said)}" if said else kind


def releases_grid(plan: Plan, verdicts: Iterable[Verdict]) -> Grid:
    """The releases that were judged: what each is, and to whom it goes."""
    names = dict.fromkeys(name for one in verdicts for name in judged(one))
    found = [plan.releases[name] for name in names if name in plan.releases]
    rows = [[one.name, kind_of(one).in_a_line(one), ", ".join(one.to)] for one in found]
    return Grid("Releases", ["release", "what it is", "to"], rows)


def files_grid(paths: Iterable[Path], folder: Path) -> Grid:
    """The files that the answers rest on, by their SHA-256."""
    rows = [[shown(path, folder), digest(path)] for path in paths if path.is_file()]
    return Grid("Files, by SHA-256", ["file", "hash"], rows)


def shown(path: Path, folder: Path) -> str:
    """A file as the plan names it."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
