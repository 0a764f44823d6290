"""Options that several commands have, and how their values are read."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tacit.plan.plan import Plan

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."
)
to_report = click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    help="Also write a report to read in a browser; FILE.pdf: the same, to print and sign.",
)
plan_option = click.option(
    "--plan",
    default="tacit.yaml",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The plan (default: tacit.yaml).",
)
for_audience = click.option(
    "--audience",
    type=click.Choice(["owner", "shared"]),
    help=(
        "owner shows personal values, shared leaves them out (default: owner; shared where "
        "CI is set)."
    ),
)


def keep_within(
    context: click.Context, parameter: click.Parameter, given: str | None
) -> str | None:
    """A size such as 2GB, kept until the command ends."""
    from tacit.model import memory

    if given is not None:
        try:
            context.with_resource(memory.at_most(memory.size(given)))
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return given


within_memory = click.option(
    "--memory",
    metavar="SIZE",
    callback=keep_within,
    expose_value=False,
    help="Take at most so much memory, such as 2GB (default: what the machine has).",
)


def loaded_plan(path: Path, *, need_checks: bool = False) -> Plan:
    """The plan that a command is about; what reads plans is loaded here, not for --help."""
    from tacit.plan.read.load import load_plan

    return load_plan(path, need_checks=need_checks)


def output_formats(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, Path | None]:
    """FORMAT or FORMAT=FILE, each format once."""
    from tacit.report.formats import FORMATS

    found: dict[str, Path | None] = {}
    for one in given:
        name, mark, file = one.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}.")
        if mark and not file:
            raise click.BadParameter(f"{one!r} names no file. Write --format {name}=FILE.")
        if name in found:
            raise click.BadParameter(f"{name} is given twice.")
        found[name] = Path(file) if mark else None
    return found


def percentage(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> Fraction | None:
    """A share of the rows, such as 5%."""
    from tacit.plan.read.values import UnfitError, share

    if value is None:
        return None
    try:
        return share(value)
    except UnfitError as error:
        raise click.BadParameter(f"{error}. {error.hint}") from None


def by_column(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, Fraction]:
    """COLUMN=NUMBER, as often as there are columns."""
    from tacit.model.numbers import exact

    found = {}
    for one in given:
        column, mark, number = one.rpartition("=")
        try:
            found[column] = exact(number)
        except ValueError:
            mark = ""
        if not mark or not column:
            raise click.BadParameter(f"{one!r} is no COLUMN=NUMBER, such as age=2.")
    return found


def column_names(
    context: click.Context, parameter: click.Parameter, given: str | None
) -> tuple[str, ...] | None:
    """Names of columns, separated by commas."""
    if given is None:
        return None
    found = tuple(name.strip() for name in given.split(",") if name.strip())
    if not found:
        raise click.BadParameter("name at least one column, such as age,sex.")
    return found


def levels(given: dict[str, Fraction]) -> dict[str, int]:
    """Levels are whole numbers."""
    for column, level in given.items():
        if level.denominator != 1 or level < 0:
            raise click.BadParameter(f"{level} is no level of {column}: write 0, 1, 2, ...")
    return {column: int(level) for column, level in given.items()}
