"""`tacit attack`: what somebody believes before and after a release."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import (
    as_json,
    for_audience,
    loaded_plan,
    plan_option,
    to_report,
    within_memory,
)
from tacit.cli.printing import chosen, print_json, progress, say, screen, waiting

if TYPE_CHECKING:
    from tacit.families.microdata.attacks.stories import Attack
    from tacit.model.verdict import Audience


@click.command()
@click.argument("release")
@plan_option
@click.option(
    "--target", metavar="KEY", help="Tell the story of one person: their name or other key."
)
@click.option(
    "--threshold",
    default="95%",
    metavar="SHARE",
    help="From when on a group is nearly of one value (default: 95%).",
)
@click.option(
    "--link",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.csv",
    help="A table that the attacker has: quasi-identifiers as they are, and names.",
)
@click.option("--sensitive", metavar="COLUMN", help="Only this sensitive column.")
@click.option(
    "--all-minimal",
    is_flag=True,
    help="Homogeneity in every table that just meets the checks, instead of in this release.",
)
@within_memory
@as_json
@to_report
@for_audience
def attack(
    release: str,
    plan: Path,
    target: str | None,
    threshold: str,
    link: Path | None,
    sensitive: str | None,
    all_minimal: bool,
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Attack RELEASE of the plan: what somebody believes before and after.

    Tries homogeneity, background knowledge, linking, proximity and minimality, and what other
    copies of the table that are published say together with it.
    Exit status: 0 when done, 2 the input is wrong.
    """
    from tacit.families.microdata.runs.attack import attack as carry_out
    from tacit.families.microdata.runs.attack import read_threshold
    from tacit.model.jobs import Job
    from tacit.plan.owned_files import refuse_report

    share, loaded = read_threshold(threshold), loaded_plan(plan)
    refuse_report(report, loaded)
    if all_minimal:
        refuse_beside_all_minimal(target, link, report)
        return show_all_minimal(loaded, release, sensitive, share, as_json=as_json)
    with waiting("reading the table") as tell:
        job = Job(lambda text, _: tell(text))
        found = carry_out(
            loaded, release, target=target, threshold=share, link=link, sensitive=sensitive, job=job
        )
    if as_json:
        write_attack_page(found, report, chosen(audience))
        print_json(found.to_json(chosen(audience)))
        return 0
    from tacit.report.attack_report import show

    show(found, screen(), chosen(audience))
    write_attack_page(found, report, chosen(audience))
    return 0


def refuse_beside_all_minimal(*given: object) -> None:
    """All minimal tables are no single release: there is no person to follow and no page."""
    from tacit.errors import InputError

    if any(one is not None for one in given):
        raise InputError(
            "--all-minimal looks at tables, not at one person.",
            hint="Leave --target, --link and --report out.",
        )


def show_all_minimal(
    plan: Any, release: str, sensitive: str | None, threshold: Fraction, *, as_json: bool
) -> int:
    """Print how many of the minimal tables give people away."""
    from tacit.families.microdata.attacks.all_minimal import show
    from tacit.families.microdata.runs.attack import attack_all_minimal

    with progress() as job:
        found = attack_all_minimal(plan, release, sensitive=sensitive, threshold=threshold, job=job)
    if as_json:
        print_json({"release": release, "all_minimal": [one.to_json() for one in found]})
    else:
        say("\n\n".join("\n".join(show(one)) for one in found))
    return 0


def write_attack_page(found: Attack, report: Path | None, audience: Audience) -> None:
    """The stories as a page, where asked."""
    if report is not None:
        from tacit.report.attack_report import write_attack

        write_attack(found, report, audience)
