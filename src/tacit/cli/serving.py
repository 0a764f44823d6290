"""`tacit serve` and `tacit grants`: answer what a role may know, by the
gateway or by the database itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from tacit.cli.options import as_json, loaded_plan, plan_option
from tacit.cli.printing import print_json, warn, write_out

# by the environment: everybody on the machine can read the arguments of a command
METRICS_TOKEN = "TACIT_METRICS_TOKEN"

seconds = click.FloatRange(min=0, min_open=True)
positive = click.IntRange(min=1)


@click.command(context_settings={"auto_envvar_prefix": "TACIT_SERVE"})
@click.argument("plan", default="tacit.yaml", type=click.Path(path_type=Path))
@click.option(
    "--host",
    metavar="ADDRESS",
    help=(
        "Where to listen (default: 127.0.0.1, this machine only; for others put a TLS proxy "
        "in front)."
    ),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port (default: 8321; 0: a free one).",
)
@click.option(
    "--postgres-port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Answer PostgreSQL's clients too, at this port (default: not; 0: a free one).",
)
@click.option(
    "--tls-certificate",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Speak TLS with this certificate (PEM, with its chain); SIGHUP reads it again.",
)
@click.option(
    "--tls-key",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The key of the certificate (PEM, without a password).",
)
@click.option(
    "--audit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Who asked what (default: tacit-audit.jsonl beside the plan).",
)
@click.option(
    "--audit-queries",
    type=click.Choice(["redacted", "full"]),
    help="Queries in that file without their constants (redacted, default), or as asked (full).",
)
@click.option(
    "--audit-bytes",
    type=positive,
    metavar="N",
    help="Begin a new file when that one has so many bytes (default: leave it to logrotate).",
)
@click.option(
    "--audit-to",
    metavar="URL",
    help="Send its lines to a collector too: syslog://HOST:514 or otlp+http://HOST:4318.",
)
@click.option(
    "--timeout",
    type=seconds,
    metavar="SECONDS",
    help="How long the database may work on one query (default: 60).",
)
@click.option(
    "--row-limit",
    type=positive,
    metavar="N",
    help="The most rows of one answer; the rest is cut off (default: 1000000).",
)
@click.option(
    "--queries",
    type=positive,
    metavar="N",
    help="How many queries run at the same time (default: 8).",
)
@click.option(
    "--wait",
    type=seconds,
    metavar="SECONDS",
    help="How long a query waits for its turn (default: 10).",
)
@click.option(
    "--deciders", type=positive, metavar="N", help="How many processes decide (default: 2)."
)
@click.option(
    "--decide-seconds",
    type=seconds,
    metavar="SECONDS",
    help="How long to decide about one query before it is refused (default: 5).",
)
@click.option(
    "--cache",
    type=positive,
    metavar="N",
    help="How many decisions are remembered (default: 10000).",
)
@click.option(
    "--user-queries",
    type=positive,
    metavar="N",
    help="How many queries of one user run at the same time (default: half of --queries).",
)
@click.option(
    "--user-decisions",
    type=positive,
    metavar="N",
    help="How many processes decide for one user at once (default: half of --deciders).",
)
@click.option(
    "--user-requests",
    type=positive,
    metavar="N",
    help="How often one user may ask in a minute (default: as often as they like).",
)
@click.option(
    "--user-seconds",
    type=seconds,
    metavar="SECONDS",
    help="How long queries of one user may run in a day (default: as long as they like).",
)
@click.option(
    "--user-bytes",
    type=positive,
    metavar="N",
    help="How many bytes of answers one user gets in a day (default: as many as there are).",
)
@click.option(
    "--answer-bytes",
    type=positive,
    metavar="N",
    help="The most bytes of one answer (default: as many as its rows have).",
)
@click.option(
    "--row-bytes",
    type=positive,
    metavar="N",
    help="The most bytes of one row of an answer (default: 1048576).",
)
@click.option(
    "--cell-bytes",
    type=positive,
    metavar="N",
    help="The most bytes of one text in an answer (default: as many as a row).",
)
@click.option(
    "--query-cost",
    type=seconds,
    metavar="N",
    help="Run no query that the database expects to be more work than this (default: run it).",
)
@click.option(
    "--hosts",
    metavar="A,B",
    help="By which names requests may call the gateway: tacit.clinic.example (default: any).",
)
@click.option(
    "--csv-harmless",
    is_flag=True,
    default=None,
    help="Put an apostrophe before texts of CSV answers that a spreadsheet would run as a formula.",
)
@click.option(
    "--drain-seconds",
    type=click.FloatRange(min=0),
    metavar="N",
    help="How long to answer on, and say that it is not ready, before it ends (default: 0).",
)
@click.option(
    "--oidc-issuer",
    metavar="URL",
    help="Take tokens of this identity provider too (default: those of tacit user only).",
)
@click.option(
    "--oidc-audience",
    metavar="NAME",
    help="For whom its tokens have to be (their claim aud); needed with --oidc-issuer.",
)
@click.option(
    "--oidc-keys",
    metavar="URL|FILE",
    help="Where its keys are, as a JSON Web Key Set (default: where its discovery says).",
)
@click.option(
    "--oidc-user",
    metavar="CLAIM",
    help="Which claim is the user's name (default: sub).",
)
@click.option(
    "--oidc-roles",
    metavar="CLAIM",
    help="Which claim lists roles of the plan, such as realm_access.roles (default: roles).",
)
@click.option(
    "--oidc-attributes",
    metavar="NAME=CLAIM,...",
    help="Which claims are attributes of the user: $user.NAME in views of the plan.",
)
@click.option(
    "--proxies",
    metavar="A,B",
    help=(
        "Addresses of the proxies whose word about a caller's address is believed (default: none)."
    ),
)
@click.option(
    "--workbench/--no-workbench",
    default=None,
    help="Pages for the owner too, or not (default: where the extra web is installed).",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="What the pages may read and write (default: the plan's folder).",
)
@click.option(
    "--workbench-hosts",
    metavar="A,B",
    help="Names under which a proxy offers the pages, such as tacit.clinic.example.",
)
@click.option(
    "--session-minutes",
    type=seconds,
    metavar="N",
    help="After how long without use one has to sign in to the pages again (default: 60).",
)
@click.option(
    "--upload-bytes",
    type=positive,
    metavar="N",
    help="The largest file that the pages take (default: 2147483648).",
)
@click.option(
    "--allow-superuser", is_flag=True, help="Start although the database user may do everything."
)
@as_json
def serve(plan: Path, as_json: bool, allow_superuser: bool, **given: Any) -> int:
    """Open the workbench for PLAN (default: tacit.yaml), and answer its roles' queries over HTTP,
    until you stop it.

    The workbench is pages in the browser for the owner; a link to them is printed. A query is
    answered if it says nothing about what its role must not know. Who may ask: tacit user. It stops
    with Ctrl-C; SIGHUP reads the plan again. Exit status: 0 when stopped, 2 when it cannot start.
    With a workbench it starts also with a plan that cannot be used yet.
    """
    options = {name: value for name, value in given.items() if value is not None}
    if token := os.environ.get(METRICS_TOKEN):
        options["metrics_token"] = token
    from tacit.workbench.serve import serve as answer

    answer(plan, tell=warn, allow_superuser=allow_superuser, **options)
    if as_json:
        print_json({"plan": str(plan), "stopped": True})
    return 0


@click.command()
@click.argument("role")
@plan_option
@as_json
def grants(role: str, plan: Path, as_json: bool) -> int:
    """Print SQL that gives ROLE its views, for a PostgreSQL that is to do it without the gateway.

    CREATE VIEW and GRANT statements for the views of the role that disclose nothing that it must
    not know; the others are named with the reason. Nothing is run: read them, then give them to the
    database.
    """
    from tacit.gateway.policy.grants import grants as grants_of

    found = grants_of(loaded_plan(plan), role)
    if as_json:
        print_json(found.to_json())
    else:
        write_out(found.sql().rstrip("\n"))
    return 0
