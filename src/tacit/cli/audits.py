"""`tacit audit`: was the gateway's audit log changed?"""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.options import as_json, plan_option
from tacit.cli.printing import print_json, say

audit_option = click.option(
    "--audit",
    "audit_file",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="TACIT_SERVE_AUDIT",
    metavar="FILE",
    help="The gateway's audit log (default: tacit-audit.jsonl beside the plan).",
)
MOST_SHOWN = 10


@click.group()
def audit() -> None:
    """The gateway's audit log: who asked what, who came in, and who changed the users."""


@audit.command()
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expect",
    metavar="SEAL",
    help="The last seal as you noted it: finds that an older copy was put in the log's place.",
)
@plan_option
@as_json
def verify(files: tuple[Path, ...], expect: str | None, plan: Path, as_json: bool) -> int:
    """Has anybody changed the audit log? FILES are its files, the oldest first (default: the
    log beside the plan). Reads all lines, with the key of the ledger.

    Exit status: 0 nothing was changed, 1 something was, 2 the log or the key cannot be read.
    """
    from tacit.checking.holdings.ledgers import place_of
    from tacit.gateway.trail_check import verify_trail
    from tacit.ledger.key import read_key

    folder = place_of(plan).folder
    found = verify_trail(files or (audit_of(folder, None),), read_key(folder), expect)
    if as_json:
        print_json(found.to_json())
        return 0 if found.intact else 1
    older = f", and {found.unsealed} from before there were seals" if found.unsealed else ""
    say(
        f"Audit log   {found.lines} lines checked{older}: "
        f"{'nothing was changed' if found.intact else 'CHANGED'}"
    )
    for fault in found.faults[:MOST_SHOWN]:
        say(f"  - {fault.file}: {fault.message}")
    if (more := len(found.faults) - MOST_SHOWN) > 0:
        say(f"  and {more} more, see --json")
    for note in found.notes:
        say(f"  Note: {note}.")
    if found.intact:
        say(f"Last seal   {found.last}")
    return 0 if found.intact else 1


def audit_of(folder: Path, named: Path | None) -> Path:
    """The log: the one that is named, else the one beside the plan."""
    from tacit.gateway.options import AUDIT

    return named or folder / AUDIT
