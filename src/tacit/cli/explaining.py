"""`tacit explain`: how a query was read, and which databases a check leaves possible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import as_json, for_audience, loaded_plan, plan_option, to_report
from tacit.cli.printing import chosen, print_json, say, screen, waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.model.verdict import Audience
    from tacit.plan.plan import Plan


@click.command()
@click.argument("name", metavar="NAME|QUERY|CHECK")
@plan_option
@click.option(
    "--worlds",
    is_flag=True,
    help=(
        "For a check of view safety: the possible databases and plausible secrets before and after."
    ),
)
@click.option(
    "--templates",
    is_flag=True,
    help="For a check of view safety: the smallest shapes of the possible databases.",
)
@click.option(
    "--sample",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="How many databases to draw where there are too many to list (default: 8).",
)
@click.option(
    "--case",
    type=int,
    metavar="N",
    help=(
        "Which adversary and value of the secret's parameters (default: the first that is "
        "breached)."
    ),
)
@click.option(
    "--role",
    metavar="ROLE",
    help="May this role have the answer of the QUERY at the gateway, and if not, what is missing?",
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="NAME=VALUE",
    help="With --role: an attribute of whoever asks, as in tacit user add. Repeatable.",
)
@as_json
@to_report
@for_audience
def explain(
    name: str,
    plan: Path,
    worlds: bool,
    templates: bool,
    sample: int | None,
    case: int | None,
    role: str | None,
    attributes: tuple[str, ...],
    as_json: bool,
    report: Path | None,
    audience: str | None,
) -> int:
    """Print how a query was read: its subgoals, its class, and what was not read exactly.

    NAME is a secret or a view of the plan; or give a QUERY over its tables, in quotes. With
    --worlds or --templates it is a CHECK of view safety: its name, or its kind where there is one
    such check.
    """

    if role is not None:
        return explain_role(loaded_plan(plan), role, name, attributes, as_json=as_json)
    if worlds or templates:
        return explain_worlds(
            loaded_plan(plan),
            name,
            worlds,
            templates,
            sample,
            case,
            as_json=as_json,
            report=report,
            audience=chosen(audience),
        )
    from tacit.errors import InputError
    from tacit.families.queries.reading.readings import readings_of
    from tacit.plan.open_plan import OpenPlan

    if sample is not None or case is not None or report is not None:
        raise InputError(
            "--sample, --case and --report are for possible databases.",
            hint="Add --worlds, or leave them out.",
        )
    loaded = loaded_plan(plan)
    refuse_check(loaded, name)
    with OpenPlan(loaded) as opened:
        found = readings_of(opened).explained(name)
    if as_json:
        print_json(found.to_json())
    else:
        say("\n".join(found.lines()))
    return 0


def explain_role(
    plan: Plan, role: str, query: str, attributes: Sequence[str], *, as_json: bool
) -> int:
    """Print what the gateway would decide on a query. The exit status says nothing of it."""
    from tacit.cli.users import attributes_of, refuse_roles
    from tacit.engines.open import open_engine
    from tacit.gateway.policy.asker import Asker
    from tacit.gateway.policy.decisions import Decider
    from tacit.gateway.policy.policy import unchecked_policy

    refuse_roles(plan, [role])
    with open_engine(plan.source, plan.folder) as engine:
        policy = unchecked_policy(plan, engine)
    found = Decider(policy).decide(role, query, (), Asker("you", attributes_of(attributes)))
    if as_json:
        print_json(
            {
                "role": role,
                "allowed": found.allowed,
                "code": found.code,
                "message": found.message,
                "hint": found.hint,
                "secret": found.secret,
            }
        )
    else:
        outcome = "answered" if found.allowed else f"refused ({found.code})"
        say("\n".join(filter(None, (f"As {role}: {outcome}.", found.message, found.hint))))
    return 0


def refuse_check(plan: Any, name: str) -> None:
    """A check is no query: say how it is explained."""
    from tacit.errors import InputError
    from tacit.families.catalog import kinds_of

    is_check = any(
        check.kind in kinds_of("worlds") and name in (check.name, check.kind)
        for check in plan.checks
    )
    if is_check and name not in (*plan.secrets, *plan.releases):
        raise InputError(
            f"{name!r} is a check.", hint=f"Ask: tacit explain {name} --worlds, or --templates."
        )


def explain_worlds(
    plan: Any,
    name: str,
    worlds: bool,
    templates: bool,
    sample: int | None,
    case: int | None,
    *,
    as_json: bool,
    report: Path | None,
    audience: Audience,
) -> int:
    """Print the possible worlds of a check, before and after."""
    from tacit.families.worlds.runs.explain import SAMPLE
    from tacit.families.worlds.runs.explain import explain_worlds as carry_out
    from tacit.model.jobs import Job
    from tacit.plan.owned_files import refuse_report

    refuse_report(report, plan)
    with waiting("reading the tables") as tell:
        job = Job(lambda text, _: tell(text))
        found = carry_out(
            plan,
            name,
            worlds=worlds,
            with_templates=templates,
            sample=sample or SAMPLE,
            case=case,
            job=job,
        )
    from tacit.report import explained_worlds

    if as_json:
        print_json(found.to_json(audience))
    else:
        explained_worlds.show(found, screen(), audience)
    if report is not None:
        explained_worlds.write_worlds(found, report, audience)
    return 0
