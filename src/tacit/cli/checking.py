"""`tacit check`, `tacit demo` and `tacit init`: the checks of a plan, and how to begin one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import as_json, for_audience, to_report
from tacit.cli.printing import chosen, print_json, screen, waiting, warn

if TYPE_CHECKING:
    from tacit.assess import Assessment
    from tacit.model.verdict import Audience


@click.command()
@click.argument("plan", default="tacit.yaml", type=click.Path(path_type=Path))
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this check, kind of check or release. Repeatable.",
)
@as_json
@to_report
@for_audience
def check(
    plan: Path, only: tuple[str, ...], as_json: bool, report: Path | None, audience: str | None
) -> int:
    """Answer every check of PLAN (default: tacit.yaml).

    Exit status: 0 all hold, 1 some check is breached, 2 the input is wrong, 3 something is undecided.
    """
    from tacit.plan.load import load_plan
    from tacit.plan.owned import refuse_report

    loaded = load_plan(plan, need_checks=True)
    refuse_report(report, loaded)
    assessment = run_checks(loaded, only, portraits=report is not None, stages=not as_json)
    present(
        assessment,
        as_json=as_json,
        report=report,
        audience=chosen(audience),
        plan=plan,
        kinds=[check.kind for check in loaded.checks],
    )
    return assessment.exit_status


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
    from tacit.plan.load import load_plan
    from tacit.plan.owned import refuse_report

    example.write(folder)
    plan, page = folder / "tacit.yaml", report or folder / "report.html"
    loaded = load_plan(plan, need_checks=True)
    refuse_report(page, loaded)
    assessment = run_checks(loaded, (), portraits=True)
    present(
        assessment,
        as_json=as_json,
        report=page,
        audience=chosen(audience),
        plan=plan,
        more=[f"tacit serve {plan}"],
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
@as_json
def init(data: str, plan: Path, table: str | None, as_json: bool) -> int:
    """Look at DATA and write a starter plan.

    DATA is a CSV or Parquet file, a DuckDB file, postgresql://host/database or spark. Identifiers,
    quasi-identifiers and sensitive columns are guessed, each with the reason, for you to correct.
    """
    from tacit.starter.showing import show
    from tacit.starter.start import start

    with waiting("looking at the columns"):
        starter = start(data, plan=plan, table=table)
    for note in starter.notes:
        warn(f"Note: {note}")
    if as_json:
        print_json(starter.to_json())
    else:
        show(starter, screen())
    return 0


def run_checks(
    plan: Any, only: tuple[str, ...], *, portraits: bool, stages: bool = False
) -> Assessment:
    """Answer the checks, with a line of progress where somebody is watching."""
    from tacit.assess import assess
    from tacit.jobs import Job

    with waiting("reading the tables") as tell:
        job = Job(lambda text, share: tell(f"{text} ({share:.0%})"))
        return assess(plan, only=only, job=job, portraits=portraits, stages=stages)


def present(
    assessment: Assessment,
    *,
    as_json: bool,
    report: Path | None,
    audience: Audience,
    plan: Path,
    more: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> None:
    """Show the verdicts: JSON or text on standard output, and the HTML report where asked.

    `more` are further steps to name. `kinds` are those of all checks of the plan, also of those that were not asked.
    """
    from tacit.report import terminal

    if as_json:
        write_page(assessment, report, audience)
        print_json(assessment.to_json(audience))
        return
    console = screen()
    terminal.show(assessment, console, audience)
    # Whatever happens to the page, the verdicts have been read by now.
    write_page(assessment, report, audience)
    terminal.show_next([*next_steps(assessment, plan, report, kinds=kinds), *more], console)


def write_page(assessment: Assessment, report: Path | None, audience: Audience) -> None:
    """The HTML report, where asked."""
    if report is not None:
        from tacit.report.html import write_report

        write_report(assessment, report, audience)


def next_steps(
    assessment: Assessment, plan: Path, report: Path | None, *, kinds: Sequence[str] = ()
) -> list[str]:
    """What to do after a check; `kinds` are those of all checks of the plan, where not all were asked."""
    from tacit.definitions.registry import MICRODATA
    from tacit.report.crowds import is_restorable

    # Other checks of microdata judge it as views: no search for levels asks them.
    breached = dict.fromkeys(
        str(verdict.subject.get("release", ""))
        for verdict in assessment.verdicts
        if verdict.status == "breached" and verdict.check in MICRODATA
    )
    coarser = [
        name
        for name in breached
        if name in assessment.questions
        and any(
            column in assessment.questions[name].table.hierarchies
            for column in assessment.questions[name].quasi
        )
    ]
    steps = [f"tacit anonymize {coarser[0]} -o {coarser[0]}.csv --plan {plan}"] if coarser else []
    if attacked := [name for name in breached if name in assessment.questions]:
        steps.append(f"tacit attack {attacked[0]} --plan {plan}")
    if restorable := [verdict for verdict in assessment.verdicts if is_restorable(verdict)]:
        first, every = restorable[0], kinds or [verdict.check for verdict in assessment.verdicts]
        name = first.name or (
            ""
            if every.count(first.check) == 1
            else ",".join(first.subject.get("releases") or [first.subject["release"]])
        )
        steps.append(f"tacit restore {shlex.quote(name) + ' ' if name else ''}--plan {plan}")
    if explained := explainable(assessment):
        steps.append(f"tacit explain {explained} --worlds --plan {plan}")
    if report is None:
        steps.append(f"tacit check {plan} --report report.html")
    else:
        steps.append(f"open {report}")
    return steps


def explainable(assessment: Assessment) -> str | None:
    """How to call the first breached check whose possible databases can be shown."""
    from tacit.definitions.registry import OF_WORLDS

    about = [verdict for verdict in assessment.verdicts if verdict.check in OF_WORLDS]
    nameless = [verdict.check for verdict in about if not verdict.name]
    called = [
        verdict.name or verdict.check
        for verdict in about
        if verdict.status == "breached"
        and verdict.scope == "this data"
        and (verdict.name or nameless.count(verdict.check) == 1)
    ]
    return called[0] if called else None
