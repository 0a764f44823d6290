"""The command line: reads arguments, calls the functions that do the work, prints what they return."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

    from tacit.assess import Assessment
    from tacit.attacks.stories import Attack
    from tacit.errors import TacitError
    from tacit.model.verdict import Audience

INTERRUPTED = 130
BAD_INPUT = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tacit")
def cli() -> None:
    """Tacit tells a data owner what a release would disclose.

    It proves that a release meets what you require of it, or shows the attack. Begin with: tacit demo
    """


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
to_report = click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.html", help="Also write a report to read in a browser."
)
for_audience = click.option(
    "--audience",
    type=click.Choice(["owner", "shared"]),
    help="owner shows personal values, shared leaves them out (default: owner; shared where CI is set).",
)


@cli.command()
@click.argument("plan", default="tacit.yaml", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="NAME", help="Only this check, kind of check or release. Repeatable.")
@as_json
@to_report
@for_audience
def check(plan: Path, only: tuple[str, ...], as_json: bool, report: Path | None, audience: str | None) -> int:
    """Answer every check of PLAN (default: tacit.yaml).

    Exit status: 0 all hold, 1 some check is breached, 2 the input is wrong, 3 something is undecided.
    """
    from tacit.plan.load import load_plan

    assessment = run_checks(load_plan(plan, need_checks=True), only, portraits=report is not None)
    present(assessment, as_json=as_json, report=report, audience=chosen(audience), plan=plan)
    return assessment.exit_status


@cli.command()
@click.argument("folder", default="tacit-demo", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path))
@as_json
@to_report
@for_audience
def demo(folder: Path, as_json: bool, report: Path | None, audience: str | None) -> int:
    """Write the hospital example to DIR (default: tacit-demo) and check it."""
    from tacit import demo as example
    from tacit.plan.load import load_plan

    example.write(folder)
    plan = folder / "tacit.yaml"
    assessment = run_checks(load_plan(plan, need_checks=True), (), portraits=True)
    present(
        assessment, as_json=as_json, report=report or folder / "report.html", audience=chosen(audience), plan=plan
    )
    return 0


@cli.command()
@click.argument("data")
@click.option(
    "--plan", "-o", "--output", "plan", default="tacit.yaml", type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE", help="Where to write the plan (default: tacit.yaml). A file that is there is left alone.",
)  # fmt: skip
@click.option("--table", metavar="NAME", help="Which table of a database; for a file, what to call its table.")
@as_json
def init(data: str, plan: Path, table: str | None, as_json: bool) -> int:
    """Look at DATA and write a starter plan.

    DATA is a CSV or Parquet file, a DuckDB file, postgresql://host/database or spark. Identifiers,
    quasi-identifiers and sensitive columns are guessed, each with the reason, for you to correct.
    """
    from tacit.starter.showing import show
    from tacit.starter.start import start

    with messages().status("looking at the columns"):
        starter = start(data, plan=plan, table=table)
    for note in starter.notes:
        click.echo(f"Note: {note}", err=True)
    if as_json:
        print_json(starter.to_json())
    else:
        show(starter, screen())
    return 0


@cli.command()
@click.argument("release")
@click.option("--plan", default="tacit.yaml", type=click.Path(path_type=Path), metavar="FILE", help="The plan (default: tacit.yaml).")
@click.option("--target", metavar="KEY", help="Tell the story of one person: their name or other key.")
@click.option("--threshold", default="95%", metavar="SHARE", help="From when on a group is nearly of one value (default: 95%).")
@click.option(
    "--link", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.csv",
    help="A table that the attacker has: quasi-identifiers as they are, and names.",
)  # fmt: skip
@click.option("--sensitive", metavar="COLUMN", help="Only this sensitive column.")
@as_json
@to_report
@for_audience
def attack(
    release: str, plan: Path, target: str | None, threshold: str, link: Path | None, sensitive: str | None,
    as_json: bool, report: Path | None, audience: str | None,
) -> int:  # fmt: skip
    """Attack RELEASE of the plan: what somebody believes before and after.

    Tries homogeneity, background knowledge, linking, proximity and minimality. Exit status: 0 when done,
    2 the input is wrong.
    """
    from tacit.attacks.attack import attack as carry_out
    from tacit.attacks.attack import read_threshold
    from tacit.jobs import Job
    from tacit.plan.load import load_plan

    share, loaded = read_threshold(threshold), load_plan(plan)
    with messages().status("reading the table") as status:
        job = Job(lambda text, _: status.update(text))
        found = carry_out(loaded, release, target=target, threshold=share, link=link, sensitive=sensitive, job=job)
    if as_json:
        write_attack_page(found, report, chosen(audience))
        print_json(found.to_json(chosen(audience)))
        return 0
    from tacit.report.attack import show

    show(found, screen(), chosen(audience))
    write_attack_page(found, report, chosen(audience))
    return 0


def write_attack_page(found: Attack, report: Path | None, audience: Audience) -> None:
    """The stories as a page, where asked."""
    if report is not None:
        from tacit.report.attack import write_attack

        write_attack(found, report, audience)


def run_checks(plan: Any, only: tuple[str, ...], *, portraits: bool) -> Assessment:
    """Answer the checks, with a line of progress where somebody is watching."""
    from tacit.assess import assess
    from tacit.jobs import Job

    with messages().status("reading the tables") as status:
        job = Job(lambda text, share: status.update(f"{text} ({share:.0%})"))
        return assess(plan, only=only, job=job, portraits=portraits)


def present(
    assessment: Assessment, *, as_json: bool, report: Path | None, audience: Audience, plan: Path
) -> None:
    """Show the verdicts: JSON or text on standard output, and the HTML report where asked."""
    from tacit.report import terminal

    if as_json:
        write_page(assessment, report, audience)
        print_json(assessment.to_json(audience))
        return
    console = screen()
    terminal.show(assessment, console, audience)
    # Whatever happens to the page, the verdicts have been read by now.
    write_page(assessment, report, audience)
    terminal.show_next(next_steps(assessment, plan, report), console)


def write_page(assessment: Assessment, report: Path | None, audience: Audience) -> None:
    """The HTML report, where asked."""
    if report is not None:
        from tacit.report.html import write_report

        write_report(assessment, report, audience)


def next_steps(assessment: Assessment, plan: Path, report: Path | None) -> list[str]:
    """What to do after a check."""
    breached = dict.fromkeys(
        str(verdict.subject.get("release", "")) for verdict in assessment.verdicts if verdict.status == "breached"
    )
    coarser = [
        name for name in breached if name in assessment.questions and assessment.questions[name].table.hierarchies
    ]
    steps = []
    if coarser:
        steps.append(f"raise a level of {' and '.join(coarser)} in {plan} and check again")
    if attacked := [name for name in breached if name in assessment.questions]:
        steps.append(f"tacit attack {attacked[0]} --plan {plan}")
    if report is None:
        steps.append(f"tacit check {plan} --report report.html")
    else:
        steps.append(f"open {report}")
    return steps


def chosen(audience: str | None) -> Audience:
    """Who will read this: as asked, else the owner; in CI logs nobody's personal values."""
    if audience is None:
        return "shared" if os.environ.get("CI") else "owner"
    return "owner" if audience == "owner" else "shared"


def screen() -> Console:
    """Standard output; as wide as the terminal, 100 columns where there is none."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 100)


def messages() -> Console:
    """Standard error, for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_json(document: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def fail(error: TacitError) -> int:
    """Say what is wrong: on standard error, or as JSON where that was asked for."""
    if "--json" in sys.argv:
        problems = [one.to_json() for one in error]
        print_json({"error": problems[0], **({"errors": problems} if len(problems) > 1 else {})})
    else:
        for one in error:
            click.echo(f"{click.style('error', fg='red', bold=True)}: {one}", err=True)
    return BAD_INPUT


def main() -> None:
    """Run the command line; every way it can end has an exit status and no traceback."""
    sys.exit(run())


def run() -> int:
    """Run a command and turn what went wrong into words."""
    from tacit.errors import EngineError, InputError, TacitError

    try:
        return int(cli.main(standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; nothing was written", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        return fail(InputError(error.format_message(), hint="See tacit --help."))
    except TacitError as error:
        return fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return fail(EngineError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")))
