"""Looks at one solution of a generalized table, on the open source:
its levels, its checks and its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import InputError
from tacit.families.microdata.reading.source import MicrodataSource, stored_columns
from tacit.model.jobs import Job
from tacit.workbench.tasks.generalize import RepairText, Unsolved, Wanted, heads, told_of, unsolved

if TYPE_CHECKING:
    from tacit.families.microdata.runs.preview import Lens, PreviewRow


@dataclass(frozen=True, slots=True)
class Ladder:
    """A quasi-identifier with its levels, each with an example of a label."""

    column: str
    labels: tuple[str, ...]

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels) - 1


def ladders(source: MicrodataSource, release: str) -> tuple[tuple[Ladder, ...], int]:
    """The quasi-identifiers of a release with their levels, and how many rows the table has."""
    from tacit.families.microdata.runs.level_labels import level_labels
    from tacit.report.repair_words import written

    raw = source.raw(release)
    found = level_labels(raw).items()
    return tuple(Ladder(name, tuple(map(written, labels))) for name, labels in found), raw.base.rows


def look(
    source: MicrodataSource, release: str, wanted: Wanted, levels: Mapping[str, int]
) -> RepairText | Unsolved:
    """The release at some levels: what the checks say, and what it costs."""
    from tacit.families.microdata.runs.anonymize import solve_beside
    from tacit.families.microdata.runs.published_checks import beside_what_is_out
    from tacit.families.microdata.runs.repair_results import NotRepaired
    from tacit.families.microdata.runs.task import task_of

    task = task_of(
        source.plan, release, source, wanted.options(), aware=False, relaxed=False, seconds=None
    )
    found = solve_beside(source.plan, task, Job(), levels)
    return (
        unsolved(found, wanted)
        if isinstance(found, NotRepaired)
        else told_of(beside_what_is_out(found, source.plan))
    )


def lens(
    source: MicrodataSource, release: str, wanted: Wanted, levels: Mapping[str, int]
) -> tuple[Lens, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The rows of the table through the release at some levels, and the columns of both."""
    from tacit.families.microdata.runs.preview import lens_at

    made = lens_at(source, release, levels, options=wanted.options())
    return made, heads(made, source)


def page(source: MicrodataSource, through: Lens, offset: int, limit: int) -> list[PreviewRow]:
    """Some rows of the table, beside what the release shows of them."""
    table = through.raw.table
    if not source.engine.has(table.name):  # it was closed meanwhile
        source.engine.attach(table)
        source.reader.take_blanks_as_missing(table.name, stored_columns(source.reader, table))
    try:
        return through.page(source.reader, offset, limit)
    except KeyError:
        raise InputError(
            f"table {table.name} has changed since it was read.", hint="Search again."
        ) from None
