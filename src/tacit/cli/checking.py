"""`tacit check`, `tacit demo` and `tacit init`: the checks of a plan, and how to begin one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import (
    as_json,
    for_audience,
    loaded_plan,
    output_formats,
    to_report,
    within_memory,
)
from tacit.cli.printing import chosen, print_json, screen, waiting, warn, write_out

if TYPE_CHECKING:
    from tacit.checking.assess import Assessment
    from tacit.families.family import Depth
    from tacit.model.verdict import Audience
    from tacit.plan.plan import Plan

UNDECIDED = 3  # the exit status


@click.command()
@click.argument("plan", default="tacit.yaml", type=click.Path(path_type=Path))
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this check, kind of check or release. Repeatable.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    metavar="F[=FILE]",
    callback=output_formats,
    help=(
        "Also for other programs: sarif, junit, github or markdown, to FILE or instead of the "
        "text. Repeatable. Never with personal values."
    ),
)
@click.option(
    "--fail-on",
    type=click.Choice(["breached", "undecided"]),
    default="undecided",
    help="breached: what is undecided alone exits with 0 (default: undecided, which is both).",
)
@within_memory
@as_json
@to_report
@for_audience
def check(
    plan: Path,
    only: tuple[str, ...],
    formats: Mapping[str, Path | None],
    fail_on: str,
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Answer every check of PLAN (default: tacit.yaml).

    Exit status: 0 all hold, 1 some check is breached, 2 the input is wrong, 3 something is
    undecided, 70 Tacit itself went wrong.
    """
    from tacit.plan.owned_files import refuse_report

    refuse_two_texts(formats, as_json=as_json)
    loaded = loaded_plan(plan, need_checks=True)
    outputs = [path for path in (report, *formats.values()) if path is not None]
    for number, path in enumerate(outputs):
        refuse_report(path, loaded, beside=outputs[:number])
    quiet = as_json or None in formats.values()
    depth: Depth | None = "page" if report is not None else None if quiet else "terminal"
    assessment = run_checks(loaded, only, depth)
    if formats:
        write_formats(formats, loaded, only, assessment, fail_on)
    if None in formats.values():
        write_page(assessment, report, chosen(audience), loaded)
        return exit_status(assessment, fail_on)
    present(
        assessment,
        as_json=as_json,
        report=report,
        audience=chosen(audience),
        plan=plan,
        loaded=loaded,
        kinds=[check.kind for check in loaded.checks],
    )
    return exit_status(assessment, fail_on)


def refuse_two_texts(formats: Mapping[str, Path | None], *, as_json: bool) -> None:
    """Standard output has room for one text."""
    without_file = [name for name, path in formats.items() if path is None]
    if without_file and (as_json or len(without_file) > 1):
        other = "--json" if as_json else f"--format {without_file[1]}"
        raise click.UsageError(
            f"--format {without_file[0]} and {other} both print to standard output. Give one of "
            f"them a file: --format {without_file[0]}=FILE."
        )


def exit_status(assessment: Assessment, fail_on: str) -> int:
    """The exit status of the checks; 0 for what is undecided where only a breach counts."""
    status = assessment.exit_status
    return 0 if status == UNDECIDED and fail_on == "breached" else status


def write_formats(
    formats: Mapping[str, Path | None],
    plan: Plan,
    only: tuple[str, ...],
    assessment: Assessment,
    fail_on: str,
) -> None:
    """The findings for other programs: to files, whole or not at all, or to standard output."""
    from tacit.checking.assess import selected
    from tacit.report.formats import render
    from tacit.report.formats.findings import FAILS_ON, find
    from tacit.report.html.pages import write_page

    fails = FAILS_ON[fail_on]
    findings = find(plan, selected(plan, only), assessment.verdicts, fails, assessment.seconds)
    for name, path in formats.items():
        text = render(name, findings)
        if path is None:
            write_out(text.removesuffix("\n"))
        else:
            write_page(text, path)


@click.command()
@click.argument(
    "folder",
    default="tacit-demo",
    metavar="[DIR]",
    type=click.Path(file_okay=False, path_type=Path),
)
@as_json
@to_report
@for_audience
def demo(folder: Path, as_json: bool, report: Path | None, audience: str | None) -> int:
    """Write the hospital example to DIR (default: tacit-demo) and check it."""
    from tacit import demo as example
    from tacit.errors import install_command
    from tacit.plan.owned_files import refuse_report

    example.write(folder)
    plan = folder / "tacit.yaml"
    page = report or (folder / "report.html" if can_draw() else None)
    loaded = loaded_plan(plan, need_checks=True)
    refuse_report(page, loaded)
    assessment = run_checks(loaded, (), "page")
    present(
        assessment,
        as_json=as_json,
        report=page,
        audience=chosen(audience),
        plan=plan,
        loaded=loaded,
        more=[*([] if can_draw() else [install_command("web")]), f"tacit serve {plan}"],
    )
    return 0


@click.command()
@click.argument("data")
@click.option(
    "--plan",
    "-o",
    "--output",
    "plan",
    default="tacit.yaml",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write the plan (default: tacit.yaml). A file that is there is left alone.",
)
@click.option(
    "--table", metavar="NAME", help="Which table of a database; for a file, what to call its table."
)
@click.option(
    "--policy",
    metavar="NAME",
    help="Begin with the checks of this policy pack (see tacit policies), or of a file.yaml.",
)
@as_json
def init(data: str, plan: Path, table: str | None, policy: str | None, as_json: bool) -> int:
    """Look at DATA and write a starter plan.

    DATA is a file (CSV, Parquet, Excel, JSON lines, Arrow, SPSS, Stata, SAS), a DuckDB file,
    postgresql://host/database or spark. Identifiers, quasi-identifiers and sensitive columns are
    guessed, each with the reason, for you to correct.
    """
    from tacit.starter.init_summary import show
    from tacit.starter.start import start

    with waiting("looking at the columns"):
        starter = start(data, plan=plan, table=table, policy=policy)
    for note in starter.notes:
        warn(f"Note: {note}")
    if as_json:
        print_json(starter.to_json())
    else:
        show(starter, screen())
    return 0


def can_draw() -> bool:
    """Is the extra here that draws the pictures of reports?"""
    from importlib.util import find_spec

    return find_spec("vl_convert") is not None


def run_checks(plan: Any, only: tuple[str, ...], depth: Depth | None) -> Assessment:
    """Answer the checks, with a line of progress where somebody is watching."""
    from tacit.checking.assess import assess
    from tacit.model.jobs import Job

    with waiting("reading the tables") as tell:
        job = Job(lambda text, share: tell(f"{text} ({share:.0%})"))
        return assess(plan, only=only, job=job, depth=depth)


def present(
    assessment: Assessment,
    *,
    as_json: bool,
    report: Path | None,
    audience: Audience,
    plan: Path,
    loaded: Plan,
    more: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> None:
    """Show the verdicts: JSON or text on standard output, and the HTML report where asked.

    `more` are further steps to name. `kinds` are those of all checks of the plan, also of those
    that were not asked.
    """
    from tacit.report.terminal import verdict_lines as terminal

    if as_json:
        write_page(assessment, report, audience, loaded)
        print_json(assessment.to_json(audience))
        return
    console = screen()
    terminal.show(assessment, console, audience)
    # Whatever happens to the page, the verdicts have been read by now.
    write_page(assessment, report, audience, loaded)
    terminal.show_next([*next_steps(assessment, plan, report, kinds=kinds), *more], console)


def write_page(assessment: Assessment, report: Path | None, audience: Audience, plan: Plan) -> None:
    """The HTML report, where asked."""
    if report is not None:
        from tacit.report.html.page import write_report
        from tacit.report.trials import tried_on

        with waiting("trying attacks"):
            tried = tried_on(plan, assessment)
        write_report(assessment, report, audience, plan, tried)


def next_steps(
    assessment: Assessment, plan: Path, report: Path | None, *, kinds: Sequence[str] = ()
) -> list[str]:
    """What to do after a check; `kinds` are those of all checks of the
    plan, where not all were asked.
    """
    from tacit.checking.assess import by_family

    every = list(kinds) or [verdict.check for verdict in assessment.verdicts]
    steps = [
        step
        for family, answered in by_family(assessment.answered)
        for step in family.next_steps(answered, str(plan), every)
    ]
    if report is None:
        steps.append(f"tacit check {plan} --report report.html")
    else:
        steps.append(f"open {report}")
    return steps
