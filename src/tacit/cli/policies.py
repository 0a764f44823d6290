"""`tacit policies`: the packs of checks that documents ask for."""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.options import as_json
from tacit.cli.printing import print_json, screen


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
