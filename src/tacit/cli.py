"""The command line: reads arguments, calls the functions that do the work, prints what they return."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
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
WENT_WRONG = 70


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
plan_option = click.option(
    "--plan", default="tacit.yaml", type=click.Path(path_type=Path), metavar="FILE", help="The plan (default: tacit.yaml)."
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
    from tacit.plan.owned import refuse_report

    loaded = load_plan(plan, need_checks=True)
    refuse_report(report, loaded)
    assessment = run_checks(loaded, only, portraits=report is not None)
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
@plan_option
@click.option("--target", metavar="KEY", help="Tell the story of one person: their name or other key.")
@click.option("--threshold", default="95%", metavar="SHARE", help="From when on a group is nearly of one value (default: 95%).")
@click.option(
    "--link", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.csv",
    help="A table that the attacker has: quasi-identifiers as they are, and names.",
)  # fmt: skip
@click.option("--sensitive", metavar="COLUMN", help="Only this sensitive column.")
@click.option("--all-minimal", is_flag=True, help="Homogeneity in every table that just meets the checks, instead of in this release.")
@as_json
@to_report
@for_audience
def attack(
    release: str, plan: Path, target: str | None, threshold: str, link: Path | None, sensitive: str | None,
    all_minimal: bool, as_json: bool, report: Path | None, audience: str | None,
) -> int:  # fmt: skip
    """Attack RELEASE of the plan: what somebody believes before and after.

    Tries homogeneity, background knowledge, linking, proximity and minimality. Exit status: 0 when done,
    2 the input is wrong.
    """
    from tacit.attacks.attack import attack as carry_out
    from tacit.attacks.attack import read_threshold
    from tacit.jobs import Job
    from tacit.plan.load import load_plan
    from tacit.plan.owned import refuse_report

    share, loaded = read_threshold(threshold), load_plan(plan)
    refuse_report(report, loaded)
    if all_minimal:
        refuse_beside_all_minimal(target, link, report)
        return show_all_minimal(loaded, release, sensitive, share, as_json=as_json)
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


@cli.command()
@click.argument("name", metavar="NAME|QUERY|CHECK")
@plan_option
@click.option("--worlds", is_flag=True, help="For a check of view safety: the possible databases and plausible secrets before and after.")
@click.option("--templates", is_flag=True, help="For a check of view safety: the smallest shapes of the possible databases.")
@click.option("--sample", type=click.IntRange(1, 1000), metavar="N", help="How many databases to draw where there are too many to list (default: 8).")
@click.option("--case", type=int, metavar="N", help="Which adversary and value of the secret's parameters (default: the first that is breached).")
@as_json
@to_report
@for_audience
def explain(
    name: str, plan: Path, worlds: bool, templates: bool, sample: int | None, case: int | None, as_json: bool, report: Path | None, audience: str | None,
) -> int:  # fmt: skip
    """Print how a query was read: its subgoals, its class, and what was not read exactly.

    NAME is a secret or a view of the plan; or give a QUERY over its tables, in quotes. With --worlds or --templates
    it is a CHECK of view safety: its name, or its kind where there is one such check.
    """
    from tacit.plan.load import load_plan

    if worlds or templates:
        return explain_worlds(load_plan(plan), name, worlds, templates, sample, case, as_json=as_json, report=report, audience=chosen(audience))
    from tacit.assess import Desk
    from tacit.errors import InputError

    if sample is not None or case is not None or report is not None:
        raise InputError("--sample, --case and --report are for possible databases.", hint="Add --worlds, or leave them out.")
    loaded = load_plan(plan)
    refuse_check(loaded, name)
    with Desk(loaded) as desk:
        found = desk.readings.explained(name)
    if as_json:
        print_json(found.to_json())
    else:
        click.echo("\n".join(found.lines()))
    return 0


def refuse_check(plan: Any, name: str) -> None:
    """A check is no query: say how it is explained."""
    from tacit.definitions.registry import OF_WORLDS
    from tacit.errors import InputError

    is_check = any(check.kind in OF_WORLDS and name in (check.name, check.kind) for check in plan.checks)
    if is_check and name not in (*plan.secrets, *plan.releases):
        raise InputError(f"{name!r} is a check.", hint=f"Ask: tacit explain {name} --worlds, or --templates.")


def explain_worlds(
    plan: Any, name: str, worlds: bool, templates: bool, sample: int | None, case: int | None, *, as_json: bool, report: Path | None, audience: Audience,
) -> int:  # fmt: skip
    """Print the possible worlds of a check, before and after."""
    from tacit.explained_worlds import SAMPLE
    from tacit.explained_worlds import explain_worlds as carry_out
    from tacit.jobs import Job
    from tacit.plan.owned import refuse_report

    refuse_report(report, plan)
    with messages().status("reading the tables") as status:
        job = Job(lambda text, _: status.update(text))
        found = carry_out(plan, name, worlds=worlds, with_templates=templates, sample=sample or SAMPLE, case=case, job=job)
    from tacit.report import explained_worlds

    if as_json:
        print_json(found.to_json(audience))
    else:
        explained_worlds.show(found, screen(), audience)
    if report is not None:
        explained_worlds.write_worlds(found, report, audience)
    return 0


def percentage(context: click.Context, parameter: click.Parameter, value: str | None) -> Fraction | None:
    """A share of the rows, such as 5%."""
    from tacit.plan.values import UnfitError, share

    if value is None:
        return None
    try:
        return share(value)
    except UnfitError as error:
        raise click.BadParameter(f"{error}. {error.hint}") from None


def by_column(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Fraction]:
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


@cli.command()
@click.argument("release")
@click.option("--output", "-o", metavar="FILE", help="Where to write the release: FILE.csv, FILE.parquet, or a new table of the source.")
@plan_option
@click.option("--method", type=click.Choice(["lattice", "mondrian", "window"]), help="Whole columns (lattice, default), or groups of their own.")
@click.option("--suppress", callback=percentage, metavar="SHARE", help="The share of rows that may be dropped, such as 5%.")
@click.option(
    "--utility", type=click.Choice(["loss", "height", "discernibility", "average-group", "kl"]),
    help="What is kept small (default: loss).",
)  # fmt: skip
@click.option("--weight", "weights", multiple=True, callback=by_column, metavar="COLUMN=N", help="How much a column matters. Repeatable.")
@click.option("--at-most", multiple=True, callback=by_column, metavar="COLUMN=LEVEL", help="The highest level of a column. Repeatable.")
@click.option("--aware", is_flag=True, help="Accept only levels from which one who knows that no lower level passes learns nothing more.")
@click.option("--relaxed", is_flag=True, help="Mondrian may split equal values.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Stop the search after N seconds with the best so far.")
@click.option("--explore", is_flag=True, help="Show which parameters can be met at which loss, and write nothing.")
@click.option("--replace", is_flag=True, help="Replace a table of the source that is there already.")
@as_json
@to_report
@for_audience
def anonymize(
    release: str, output: str | None, plan: Path, method: str | None, suppress: Fraction | None, utility: str | None,
    weights: dict[str, Fraction], at_most: dict[str, Fraction], aware: bool, relaxed: bool, seconds: float | None,
    explore: bool, replace: bool, as_json: bool, report: Path | None, audience: str | None,
) -> int:  # fmt: skip
    """Generalize the table of RELEASE until all its checks hold, at the least loss, and write it.

    Levels that the plan names for RELEASE are ignored. Exit status: 0 written, 1 proved impossible,
    2 the input is wrong, 3 nothing was found.
    """
    from tacit.errors import InputError
    from tacit.jobs import Job
    from tacit.plan.load import load_plan
    from tacit.plan.owned import refuse_report

    given = {"method": method, "suppress": suppress, "utility": utility, "weights": weights, "at_most": levels(at_most)}
    options = {name: value for name, value in given.items() if value not in (None, {})}
    if output is None and not explore:
        raise InputError("where should the release go?", hint="Add -o FILE.csv, or --explore to look first.")
    if explore and (output is not None or report is not None):
        raise InputError("--explore writes nothing.", hint="Leave -o and --report out, or leave --explore out.")
    if relaxed and method == "lattice":
        raise InputError("--relaxed is for mondrian.", hint="Add --method mondrian.")
    loaded = load_plan(plan)
    refuse_report(report, loaded, output)
    with progress() as tell:
        job = Job(tell)
        if explore:
            from tacit.anonymization.explore import explore as look

            explored = look(loaded, release, options=options, job=job)
        else:
            from tacit.anonymization.run import anonymize as carry_out

            found = carry_out(
                loaded, release, output, options=options, aware=aware, relaxed=relaxed, seconds=seconds,
                replace_output=replace, portrait=report is not None, job=job,
            )  # fmt: skip
    from tacit.report import anonymized

    if explore:
        print_json(explored.to_json()) if as_json else anonymized.show_explored(explored, screen())
        return explored.exit_status
    if as_json:
        anonymized.write_page(found, report, chosen(audience))
        print_json(found.to_json(chosen(audience)))
        return found.exit_status
    anonymized.show(found, screen(), chosen(audience), plan)
    anonymized.write_page(found, report, chosen(audience))
    return found.exit_status


def levels(given: dict[str, Fraction]) -> dict[str, int]:
    """Levels are whole numbers."""
    for column, level in given.items():
        if level.denominator != 1 or level < 0:
            raise click.BadParameter(f"{level} is no level of {column}: write 0, 1, 2, ...")
    return {column: int(level) for column, level in given.items()}


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A bar with the time left, on standard error, where somebody is watching."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=messages(), transient=True) as bar:
        task = bar.add_task("reading the table", total=1.0)
        yield lambda text, share: bar.update(task, description=text, completed=share)


def refuse_beside_all_minimal(*given: object) -> None:
    """All minimal tables are no single release: there is no person to follow and no page."""
    from tacit.errors import InputError

    if any(one is not None for one in given):
        raise InputError("--all-minimal looks at tables, not at one person.", hint="Leave --target, --link and --report out.")


def show_all_minimal(plan: Any, release: str, sensitive: str | None, threshold: Fraction, *, as_json: bool) -> int:
    """Print how many of the minimal tables give people away."""
    from tacit.attacks.all_minimal import show
    from tacit.attacks.attack import attack_all_minimal
    from tacit.jobs import Job

    with progress() as tell:
        found = attack_all_minimal(plan, release, sensitive=sensitive, threshold=threshold, job=Job(tell))
    if as_json:
        print_json({"release": release, "all_minimal": [one.to_json() for one in found]})
    else:
        click.echo("\n\n".join("\n".join(show(one)) for one in found))
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
        name for name in breached
        if name in assessment.questions
        and any(column in assessment.questions[name].table.hierarchies for column in assessment.questions[name].quasi)
    ]  # fmt: skip
    steps = [f"tacit anonymize {coarser[0]} -o {coarser[0]}.csv --plan {plan}"] if coarser else []
    if attacked := [name for name in breached if name in assessment.questions]:
        steps.append(f"tacit attack {attacked[0]} --plan {plan}")
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
        verdict.name or verdict.check for verdict in about
        if verdict.status == "breached" and verdict.scope == "this data" and (verdict.name or nameless.count(verdict.check) == 1)
    ]  # fmt: skip
    return called[0] if called else None


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


def interrupted() -> int:
    """Say that the work was stopped."""
    click.echo("interrupted; nothing half-written is left", err=True)
    return INTERRUPTED


def run() -> int:
    """Run a command and turn what went wrong into words."""
    from tacit.errors import EngineError, InputError, TacitError

    try:
        return int(cli.main(standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort):
        return interrupted()
    except RuntimeError as error:
        if "interrupted" not in str(error):  # as DuckDB says it when Ctrl-C ends a statement
            raise
        return interrupted()
    except click.ClickException as error:
        return fail(InputError(error.format_message(), hint="See tacit --help."))
    except TacitError as error:
        return fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return fail(EngineError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")))
    except Exception as error:
        # A mistake of ours must not look like an answer: exit status 1 means that something is breached.
        if os.environ.get("TACIT_DEBUG"):
            raise
        words = f"Tacit itself went wrong: {type(error).__name__}: {error}"
        fail(EngineError(words, hint="Please report it; TACIT_DEBUG=1 shows where."))
        return WENT_WRONG
