"""`tacit anonymize` and `tacit restore`: change a release, or add to it, until its checks hold."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from tacit.cli.options import (
    as_json,
    by_column,
    column_names,
    for_audience,
    levels,
    loaded_plan,
    percentage,
    plan_option,
    to_report,
    within_memory,
)
from tacit.cli.printing import chosen, print_json, progress, screen


@click.command()
@click.argument("release")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Where to write the release: FILE.csv, FILE.parquet, or a new table of the source.",
)
@plan_option
@click.option(
    "--method",
    type=click.Choice(["lattice", "mondrian", "window"]),
    help="Whole columns (lattice, default), or groups of their own.",
)
@click.option(
    "--suppress",
    callback=percentage,
    metavar="SHARE",
    help="The share of rows that may be dropped, such as 5%.",
)
@click.option(
    "--utility",
    type=click.Choice(["loss", "height", "discernibility", "average-group", "kl"]),
    help="What is kept small (default: loss).",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    callback=by_column,
    metavar="COLUMN=N",
    help="How much a column matters. Repeatable.",
)
@click.option(
    "--at-most",
    multiple=True,
    callback=by_column,
    metavar="COLUMN=LEVEL",
    help="The highest level of a column. Repeatable.",
)
@click.option(
    "--aware",
    is_flag=True,
    help=(
        "Accept only levels from which one who knows that no lower level passes learns "
        "nothing more."
    ),
)
@click.option("--relaxed", is_flag=True, help="Mondrian may split equal values.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Stop the search after N seconds with the best so far.",
)
@click.option(
    "--explore",
    is_flag=True,
    help="Show which parameters can be met at which loss, and write nothing.",
)
@click.option(
    "--replace", is_flag=True, help="Replace a table of the source that is there already."
)
@click.option(
    "--unjudged",
    is_flag=True,
    help="Write it also where a check cannot judge it together with what is published.",
)
@within_memory
@as_json
@to_report
@for_audience
def anonymize(
    release: str,
    output: str | None,
    plan: Path,
    method: str | None,
    suppress: Fraction | None,
    utility: str | None,
    weights: dict[str, Fraction],
    at_most: dict[str, Fraction],
    aware: bool,
    relaxed: bool,
    seconds: float | None,
    explore: bool,
    replace: bool,
    unjudged: bool,
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Generalize the table of RELEASE until all its checks hold, at the least loss, and write it.

    Levels that the plan names for RELEASE are ignored. Exit status: 0 written, 1 proved impossible,
    2 the input is wrong, 3 nothing was found, or a check cannot judge it together with what is
    published.
    """
    from tacit.errors import InputError
    from tacit.plan.owned_files import refuse_report

    given = {
        "method": method,
        "suppress": suppress,
        "utility": utility,
        "weights": weights,
        "at_most": levels(at_most),
    }
    options = {name: value for name, value in given.items() if value not in (None, {})}
    if output is None and not explore:
        raise InputError(
            "where should the release go?", hint="Add -o FILE.csv, or --explore to look first."
        )
    if explore and (output is not None or report is not None):
        raise InputError(
            "--explore writes nothing.", hint="Leave -o and --report out, or leave --explore out."
        )
    if relaxed and method == "lattice":
        raise InputError("--relaxed is for mondrian.", hint="Add --method mondrian.")
    loaded = loaded_plan(plan)
    refuse_report(report, loaded, output)
    with progress() as job:
        if explore:
            from tacit.families.microdata.runs.explore import explore as look

            explored = look(loaded, release, options=options, job=job)
        else:
            from tacit.families.microdata.runs.anonymize import anonymize as carry_out

            found = carry_out(
                loaded,
                release,
                output,
                options=options,
                aware=aware,
                relaxed=relaxed,
                seconds=seconds,
                replace_output=replace,
                unjudged=unjudged,
                portrait=report is not None,
                job=job,
            )
    from tacit.report.terminal import repair_summary

    if explore:
        print_json(explored.to_json()) if as_json else repair_summary.show_explored(
            explored, screen(), chosen(audience)
        )
        return explored.exit_status
    if as_json:
        repair_summary.write_page(found, report, chosen(audience))
        print_json(found.to_json(chosen(audience)))
        return found.exit_status
    repair_summary.show(found, screen(), chosen(audience), plan)
    repair_summary.write_page(found, report, chosen(audience))
    return found.exit_status


@click.command()
@click.argument("check", required=False)
@plan_option
@click.option(
    "--output",
    "-o",
    metavar="DRAFT.yaml",
    help="Where to write lines for the plan (default: they are printed).",
)
@click.option(
    "--views",
    type=int,
    default=3,
    show_default=True,
    metavar="N",
    help="Try sets of up to N further views.",
)
@click.option(
    "--columns",
    callback=column_names,
    metavar="A,B",
    help="Public columns for conditions (default: all but keys and identifiers).",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="How long to search (default: 60); with --aware, to ask as one who knows the search.",
)
@click.option(
    "--aware",
    is_flag=True,
    help="Also ask what somebody believes who knows how the views were chosen.",
)
@as_json
@to_report
@for_audience
def restore(
    check: str | None,
    plan: Path,
    output: str | None,
    views: int,
    columns: tuple[str, ...] | None,
    seconds: float | None,
    aware: bool,
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Find further truthful views with which a gamma-privacy CHECK of the plan holds again.

    CHECK is its name (default: the only one). Exit status: 0 restored, or it holds already, 1
    proved impossible, 2 the input is wrong, 3 nothing was found (with --aware also: not against one
    who knows the search).
    """
    from tacit.families.overlaps.runs.restore import VIEWS
    from tacit.families.overlaps.runs.restore import restore as carry_out
    from tacit.plan.owned_files import refuse_report

    loaded = loaded_plan(plan, need_checks=True)
    refuse_report(report, loaded, output)
    with progress() as job:
        found = carry_out(
            loaded,
            check,
            output,
            views=views,
            columns=columns,
            seconds=seconds,
            against_aware=aware,
            with_stages=report is not None,
            job=job,
        )
    from tacit.report import restoration

    if as_json:
        restoration.write_page(found, report, chosen(audience))
        print_json(found.to_json(chosen(audience)))
        return found.exit_status
    options = [
        *(["--columns", ",".join(columns)] if columns else []),
        *(["--views", str(views)] if views != VIEWS else []),
    ]
    restoration.show(found, screen(), chosen(audience), plan, options, check)
    restoration.write_page(found, report, chosen(audience))
    return found.exit_status
