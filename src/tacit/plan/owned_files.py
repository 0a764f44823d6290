"""Owned: the owner's files, which no output may replace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.engines.output import check_file
from tacit.errors import InputError
from tacit.model.release import Microdata
from tacit.model.schema import CsvHierarchy
from tacit.plan.plan import Plan


def owners_files(plan: Plan) -> list[Path]:
    """The plan, its data, hierarchies, queries, and what checks and distances name.

    A release that is a file is not among them: writing it again is how it is made.
    """
    found = [
        path
        for name in _named(plan)
        for folder in folders_of(plan)
        if (path := folder / name).is_file()
    ]
    database = [
        path for path in [plan.folder / plan.source] if "://" not in plan.source and path.is_file()
    ]
    return [Path(plan.file), *database, *dict.fromkeys(found)]


def read_files(plan: Plan) -> list[Path]:
    """The files that answers rest on: the owner's, and releases that are files."""
    copies = [plan.folder / one.file for one in plan.of(Microdata).values() if one.file is not None]
    return list(dict.fromkeys([*owners_files(plan), *(one for one in copies if one.is_file())]))


def folders_of(plan: Plan) -> list[Path]:
    """Where names in a plan lead: its own folder, and that of its
    tables where `source` names another.
    """
    source = plan.folder / plan.source
    return [
        plan.folder,
        *(
            [source]
            if "://" not in plan.source and source.is_dir() and not source.samefile(plan.folder)
            else []
        ),
    ]


def _named(plan: Plan) -> Iterator[str]:
    for table in plan.tables.values():
        yield from (f"{table.name}.csv", f"{table.name}.parquet")
        yield from ([table.file] if table.file else [])
        yield from (
            spec.file for spec in table.hierarchies.values() if isinstance(spec, CsvHierarchy)
        )
        yield from _texts(table.distances)
    for release in plan.releases.values():
        yield from release.files()
    yield from plan.policies.values()
    for check in plan.checks:
        yield from _texts(check.parameters)


def _texts(value: Any) -> Iterator[str]:
    """All short texts in a value: some are names of files."""
    if isinstance(value, str):
        if value and len(value) < 200 and "\0" not in value:
            yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def refuse_report(
    report: Path | None, plan: Plan, output: str | None = None, *, beside: Collection[Path] = ()
) -> None:
    """Raise an error if a report could not be written, or would replace something else:
    asked before the work starts.
    """
    if report is None:
        return
    check_file(report, ())
    taken = [*owners_files(plan), *([Path(output)] if output else []), *beside]
    if any(is_same(report, one) for one in taken):
        raise InputError(
            f"the report would replace {report}.",
            hint="Name another file, for example report.html.",
        )


def is_same(one: Path, other: Path) -> bool:
    """Do two paths lead to the same file, whatever it is called,
    and also if neither is there yet?
    """
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )
