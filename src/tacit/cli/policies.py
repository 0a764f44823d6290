"""`tacit policies`: the packs of checks that documents ask for; `tacit policy suggest`: views for
what a role asks.
"""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.options import as_json, loaded_plan, plan_option
from tacit.cli.printing import print_json, say, screen, waiting


@click.command()
@click.argument("name", required=False)
@as_json
def policies(name: str | None, as_json: bool) -> int:
    """List the policy packs, or tell what the pack NAME (or file.yaml) covers and what not.

    A pack is included in a plan: checks: [include: {policy: NAME, release: RELEASE}].
    """
    from tacit.plan.read.policies import built_in, load_policy
    from tacit.report.terminal.policies import show_policies, show_policy

    found = [load_policy(one, Path()) for one in ([name] if name else built_in())]
    if as_json:
        print_json({"policies": [one.to_json() for one in found]})
    elif name:
        show_policy(found[0], screen())
    else:
        show_policies(found, screen())
    return 0


@click.group()
def policy() -> None:
    """What a role may ask at the gateway."""


@policy.command()
@click.argument("queries", type=click.Path(path_type=Path, dir_okay=False))
@plan_option
@click.option("--role", required=True, metavar="ROLE", help="Who asks; may be new.")
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="NAME=VALUE",
    help="An attribute of whoever asked these queries: views say $user.NAME for it. Repeatable.",
)
@click.option(
    "--dialect", type=click.Choice(["mysql", "tsql", "postgres", "duckdb"]), help="Of the queries."
)
@as_json
def suggest(
    queries: Path,
    plan: Path,
    role: str,
    attributes: tuple[str, ...],
    dialect: str | None,
    as_json: bool,
) -> int:
    """Propose the least views with which ROLE could ask the queries of QUERIES.sql.

    Nothing is changed: read what the views show, and put those that you want into the plan.
    """
    from tacit.cli.users import attributes_of
    from tacit.engines.open import open_engine
    from tacit.errors import InputError
    from tacit.gateway.policy.suggestions import logged_queries, suggestions

    loaded, given = loaded_plan(plan), attributes_of(attributes)
    try:
        text = queries.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{queries} cannot be read: {error}", hint="Name a file of SQL, in UTF-8."
        ) from None
    with waiting("deciding the queries"), open_engine(loaded.source, loaded.folder) as engine:
        found = suggestions(
            loaded, engine, role, logged_queries(text, dialect or engine.dialect), given, dialect
        )
    if as_json:
        print_json(found.to_json())
    else:
        say("\n".join(found.lines()))
    return 0
