"""`tacit dossier`: what is signed about a release that went out, and whether it is still so."""

from __future__ import annotations

from pathlib import Path

import click

from tacit.cli.options import as_json, for_audience, loaded_plan, plan_option
from tacit.cli.printing import chosen, print_json, progress, say


@click.group()
def dossier() -> None:
    """What is signed about a release that went out: its report with the ledger's entry."""


@dossier.command()
@click.argument("release")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    required=True,
    help="Where to write it; FILE.pdf: to print, and it cannot be verified.",
)
@plan_option
@as_json
@for_audience
def make(release: str, output: Path, plan: Path, as_json: bool, audience: str | None) -> int:
    """Write the dossier of RELEASE, which the ledger has, under a keyed hash.

    Exit status: 0 it is written, whatever the checks say; 2 the input is wrong.
    """
    from tacit.ledger.key import key_file
    from tacit.plan.owned_files import refuse_report
    from tacit.report.dossier import make_dossier
    from tacit.report.html.pages import write_page

    loaded = loaded_plan(plan, need_checks=True)
    kept = [key_file(loaded.folder)]
    kept += [loaded.folder / loaded.ledger] if "://" not in loaded.ledger else []
    refuse_report(output, loaded, beside=kept)
    with progress() as job:
        found = make_dossier(loaded, release, chosen(audience), job=job)
    write_page(found.text, output)
    if as_json:
        print_json(
            {
                "release": release,
                "entry": found.sources.entry,
                "hash": found.seal,
                "verdicts": list(found.sources.verdicts),
                "output": str(output),
            }
        )
    else:
        say(f"{output}: the dossier of {release}, entry {found.sources.entry} of the ledger")
        say(f"Keyed hash: {found.seal}")
    return 0


@dossier.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.html")
@plan_option
@as_json
def verify(file: Path, plan: Path, as_json: bool) -> int:
    """Make the dossier FILE again from plan, data and ledger, and say what differs.

    Exit status: 0 it is the same, 1 something differs, 2 the file or its inputs cannot be read.
    """
    from tacit.report.dossier import verify_dossier

    with progress() as job:
        found = verify_dossier(file, loaded_plan(plan, need_checks=True), job)
    if as_json:
        print_json(found.to_json())
    elif found.differs:
        say("\n".join([f"{file} differs:", *(f"  {one}" for one in found.differs)]))
    else:
        say(f"{file} is the same: {found.release}, entry {found.entry}, hash {found.seal}")
    return 1 if found.differs else 0
