"""`tacit synthesize`: draw private synthetic data and write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tacit.cli.options import as_json, for_audience, loaded_plan, plan_option, to_report
from tacit.cli.printing import chosen, print_json, progress, screen, warn


@click.command()
@click.argument("release")
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    help="Where to write the synthetic data: FILE.csv, FILE.parquet, or a new table of the source.",
)
@plan_option
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Draw the same output every time. Such an output is not private: for experiments only.",
)
@click.option(
    "--restart",
    is_flag=True,
    help="Throw away what an interrupted run has drawn, and draw everything again.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes draw (default: one for each processor).",
)
@click.option(
    "--areas",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.geojson",
    help="The areas of the values, for the maps of the report (default: points).",
)
@as_json
@to_report
@for_audience
def synthesize(
    release: str,
    output: str,
    plan: Path,
    seed: int | None,
    restart: bool,
    workers: int | None,
    areas: Path | None,
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Draw synthetic people for RELEASE with the least noise that its
    guarantee allows, and write them.

    A run that was interrupted goes on where it stopped. Exit status: 0 written, 1 a check of the
    release is breached, 2 the input is wrong, 3 a check is undecided; nothing is written unless all
    checks hold.
    """
    from tacit.families.synthetic.runs.synthesize import synthesize as carry_out
    from tacit.families.synthetic.runs.synthesize import the_release
    from tacit.plan.owned_files import refuse_report

    loaded = loaded_plan(plan)
    refuse_report(report, loaded, output)
    refuse_areas(areas, report, output)
    owner = chosen(audience) == "owner"
    with progress() as job:
        found = carry_out(
            loaded,
            release,
            output,
            seed=seed,
            restart=restart,
            workers=workers,
            compare=owner,
            job=job,
        )
    from tacit.report import synthesis

    named = the_release(loaded, release)
    for warning in found.warnings:
        warn(f"Warning: {warning}")
    if as_json:
        synthesis.write_page(found, report, chosen(audience), named, areas_of(found, areas))
        print_json(found.to_json(chosen(audience)))
        return found.exit_status
    synthesis.show(found, screen(), named, chosen(audience), plan)
    synthesis.write_page(found, report, chosen(audience), named, areas_of(found, areas))
    return found.exit_status


def refuse_areas(areas: Path | None, report: Path | None, output: str) -> None:
    """Raise an error if the file of areas is of no use, or would be replaced:
    asked before the work starts.
    """
    from tacit.errors import InputError

    if areas is None:
        return
    if report is None:
        raise InputError("--areas is for the maps of the report.", hint="Add --report FILE.html.")
    if areas.resolve() in (report.resolve(), Path(output).resolve()):
        raise InputError(f"{areas} would be replaced.", hint="Write to another file.")
    from tacit.report.charts.geojson import read_features

    read_features(areas)


def areas_of(found: Any, areas: Path | None) -> Any:
    """The areas of the values that were drawn, where asked;
    the output is written, so names that do not fit are no error any more.
    """
    if areas is None or found.picture is None:
        return None
    from tacit.errors import TacitError
    from tacit.report.charts.geojson import read_areas

    try:
        return read_areas(areas, found.picture.synthetic.values)
    except TacitError as error:
        warn(f"Warning: the maps are drawn without areas: {error}")
        return None
