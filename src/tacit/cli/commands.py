"""`tacit` itself, with all its commands."""

from __future__ import annotations

import click

from tacit.cli.attacking import attack
from tacit.cli.audits import audit
from tacit.cli.checking import check, demo, init
from tacit.cli.dbt import dbt
from tacit.cli.dossiers import dossier
from tacit.cli.explaining import explain
from tacit.cli.ledgers import ledger
from tacit.cli.policies import policies, policy
from tacit.cli.repairing import anonymize, restore
from tacit.cli.serving import grants, serve
from tacit.cli.synthesizing import synthesize
from tacit.cli.users import user


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tacit-privacy")
def cli() -> None:
    """Tacit tells a data owner what a release would disclose.

    It proves that a release meets what you require of it, or shows the attack.
    Begin with: tacit demo
    """


COMMANDS = (
    demo,
    init,
    check,
    anonymize,
    restore,
    synthesize,
    attack,
    explain,
    serve,
    user,
    audit,
    grants,
    ledger,
    dossier,
    dbt,
    policies,
    policy,
)

for command in COMMANDS:
    cli.add_command(command)
