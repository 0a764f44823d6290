"""`tacit dbt`: the checks of a dbt project."""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.checking import exit_status, present
from tacit.cli.options import as_json, for_audience, to_report
from tacit.cli.printing import chosen, waiting, warn, write_out

NOT_CHECKED = 3  # the exit status of what is undecided


@click.command()
@click.argument("project", default=".", type=click.Path(path_type=Path))
@click.option(
    "--target-path",
    "target",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where dbt wrote manifest.json (default: target in PROJECT).",
)
@click.option(
    "--source",
    metavar="DATABASE",
    help="Where the rows are: a DuckDB file or postgresql://user@host/database. Without it only "
    "what needs no rows is checked.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["breached", "undecided"]),
    default="undecided",
    help="breached: what is undecided alone exits with 0 (default: undecided, which is both).",
)
@click.option(
    "--package", is_flag=True, help="Print the folder of the dbt package with the tests, and end."
)
@as_json
@to_report
@for_audience
def dbt(
    project: Path,
    target: Path | None,
    source: str | None,
    fail_on: str,
    package: bool,
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Check the dbt project in the folder PROJECT (default: here), as dbt compile left it.

    Exposures, models marked `release` and tests `tacit.verdict` are asked about. The plan and the
    verdicts for dbt are written to target/tacit.
    """
    from tacit.model.jobs import Job
    from tacit.model.numbers import percent
    from tacit.plan.owned_files import refuse_report
    from tacit.starter.dbt.run import check_project, package_folder

    if package:
        write_out(str(package_folder()))
        return 0
    with waiting("reading the project") as tell:
        job = Job(lambda text, share: tell(f"{text} ({percent(share)})"))
        found = check_project(project, target=target, source=source, job=job)
    refuse_report(report, found.plan)
    for note in found.notes:
        warn(f"Note: {note}")
    present(
        found.assessment,
        as_json=as_json,
        report=report,
        audience=chosen(audience),
        plan=found.file,
        loaded=found.plan,
        more=[f'dbt run-operation tacit.store --args "$(cat {found.store})"'],
    )
    status = exit_status(found.assessment, fail_on)
    return status or (NOT_CHECKED if found.notes and fail_on == "undecided" else 0)
