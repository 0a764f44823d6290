"""`tacit ledger`: what is published, to whom and under which verdict."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import click

from tacit.cli.options import as_json, for_audience, loaded_plan, plan_option
from tacit.cli.printing import chosen, print_json, progress, say, screen

LISTED = 50

to_clients = click.option(
    "--to",
    multiple=True,
    metavar="CLIENT",
    help="Who gets it (default: as the plan says; else everybody). Repeatable.",
)
by_whom = click.option("--by", metavar="WHO", help="Who does it (default: your user name).")
is_out_already = click.option(
    "--out-already",
    is_flag=True,
    help="It is published: record it even if its checks do not hold. Nothing is written.",
)
with_note = click.option(
    "--note",
    default="",
    metavar="TEXT",
    help="Words for whoever reads the ledger later. No personal values, please.",
)


def _recipients(to: tuple[str, ...], public: bool) -> tuple[str, ...] | None:
    """Who gets it by the options; None: as the plan says."""
    from tacit.errors import InputError

    if public and to:
        raise InputError(
            "--public and --to exclude each other: everybody includes them.",
            hint="Leave one of them out.",
        )
    return () if public else to or None


@click.group()
def ledger() -> None:
    """What is published: every release, to whom, when, by whom and under which verdict.

    Entries are only ever added, and each is bound to those before it by the owner's key.
    """


@ledger.command()
@plan_option
@as_json
def begin(plan: Path, as_json: bool) -> int:
    """Begin an empty ledger. The first release or user does that too, but not where a key
    without a ledger is found.
    """
    from tacit.checking.holdings.ledgers import begin as carry_out
    from tacit.checking.holdings.ledgers import place_of
    from tacit.ledger.key import key_file

    place = place_of(plan)
    head = carry_out(place)
    if as_json:
        print_json({"ledger": place.ledger, "head": head})
    else:
        from tacit.report.terminal import ledger as report

        report.show_begun(place.ledger, key_file(place.folder), head, screen(), plan)
    return 0


@ledger.command("list")
@click.option(
    "--to", metavar="CLIENT", help="Only what reached this client, also as one of everybody."
)
@click.option("--release", metavar="NAME", help="Only this release.")
@click.option(
    "--last",
    type=click.IntRange(min=1),
    default=LISTED,
    show_default=True,
    metavar="N",
    help="Only the last N entries.",
)
@plan_option
@as_json
def list_entries(to: str | None, release: str | None, last: int, plan: Path, as_json: bool) -> int:
    """List the entries, the oldest first."""
    from tacit.checking.holdings.ledgers import ledger_of, place_of

    place = place_of(plan)
    with ledger_of(place) as opened:
        found = list(islice(opened.entries(release=release, to=to, last=last + 1), last + 1))
    entries, is_cut = found[-last:], len(found) > last
    if as_json:
        print_json(
            {
                "ledger": place.ledger,
                "entries": [one.to_json() for one in entries],
                "earlier": is_cut,
            }
        )
    else:
        from tacit.report.terminal import ledger as report

        report.show_entries(entries, screen(), plan, is_cut=is_cut, release=release, to=to)
    return 0


@ledger.command()
@click.argument("number", type=click.IntRange(min=1))
@plan_option
@as_json
def show(number: int, plan: Path, as_json: bool) -> int:
    """Show the entry with this NUMBER: its verdicts, its hashes, its note."""
    from tacit.checking.holdings.ledgers import ledger_of, place_of

    with ledger_of(place_of(plan)) as opened:
        entry = opened.entry(number)
    if as_json:
        print_json(entry.to_json())
    else:
        from tacit.report.terminal import ledger as report

        report.show_entry(entry, screen())
    return 0


@ledger.command()
@click.argument("releases", metavar="RELEASE...", nargs=-1, required=True)
@to_clients
@click.option("--public", is_flag=True, help="It goes to everybody, whatever the plan says.")
@by_whom
@click.option(
    "--answer",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The very file that goes out; needed for synthetic data.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write the answer, once it is recorded.",
)
@is_out_already
@with_note
@plan_option
@as_json
@for_audience
def record(
    releases: tuple[str, ...],
    to: tuple[str, ...],
    public: bool,
    by: str | None,
    answer: Path | None,
    output: Path | None,
    out_already: bool,
    note: str,
    plan: Path,
    as_json: bool,
    audience: str | None,
) -> int:
    """Check RELEASE of the plan and, if all its checks hold, record that it goes out.

    Several releases that go out at once are judged and recorded together. A check of a list is
    asked for those that go out now: the others may never follow, and what went out before is in the
    ledger. Rows are written in an order of their own.

    Exit status: 0 recorded, 1 refused because a check is breached, 2 the input is wrong, 3 refused
    because a check is undecided. What is refused is neither recorded nor written.
    """
    from tacit.checking.recording.record import record as carry_out

    recipients = _recipients(to, public)
    loaded = loaded_plan(plan)
    with progress() as job:
        found = carry_out(
            loaded,
            *releases,
            to=recipients,
            by=by,
            answer=answer,
            output=output,
            out_already=out_already,
            note=note,
            job=job,
        )
    if as_json:
        print_json(found.to_json(chosen(audience)))
    else:
        from tacit.report.terminal import ledger as report

        report.show_recorded(found, screen(), chosen(audience), plan)
    return found.exit_status


@ledger.command()
@click.argument("release")
@click.option(
    "--wrong", required=True, metavar="TEXT", help="What was wrong. No personal values, please."
)
@click.option(
    "--to",
    multiple=True,
    metavar="CLIENT",
    help="Who gets the correction (default: all who have the old one). Repeatable.",
)
@click.option("--public", is_flag=True, help="The correction goes to everybody.")
@by_whom
@click.option(
    "--answer",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The very file that goes out now; needed for synthetic data.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write the new answer, once it is recorded.",
)
@click.option(
    "--unjudged",
    is_flag=True,
    help="Record it also where what the old and the new one tell together could not be decided.",
)
@is_out_already
@with_note
@plan_option
@as_json
@for_audience
def correct(
    release: str,
    wrong: str,
    to: tuple[str, ...],
    public: bool,
    by: str | None,
    answer: Path | None,
    output: Path | None,
    unjudged: bool,
    out_already: bool,
    note: str,
    plan: Path,
    as_json: bool,
    audience: str | None,
) -> int:
    """Record that RELEASE as it is now takes the place of what went out
    under its name, which was wrong.

    Whoever has the old one still knows it. The checks are asked for those who have both, with both:
    the old one as it was recorded, the new one as the plan and the data give it today.

    Exit status: 0 recorded, 1 refused because a check is breached, 2 the input is wrong, 3 refused
    because a check is undecided (--unjudged records it then). What is refused is neither recorded
    nor written.
    """
    from tacit.checking.recording.corrections import correct as carry_out

    recipients = _recipients(to, public)
    loaded = loaded_plan(plan)
    with progress() as job:
        found = carry_out(
            loaded,
            release,
            wrong,
            to=recipients,
            by=by,
            answer=answer,
            output=output,
            unjudged=unjudged,
            out_already=out_already,
            note=note,
            job=job,
        )
    if as_json:
        print_json(found.to_json(chosen(audience)))
    else:
        from tacit.report.terminal import ledger as report

        report.show_corrected(found, screen(), chosen(audience), plan)
    return found.exit_status


@ledger.command()
@click.argument("release")
@click.option(
    "--to",
    multiple=True,
    metavar="CLIENT",
    help="From whom (default: everybody who has it). Repeatable.",
)
@by_whom
@with_note
@plan_option
@as_json
def withdraw(
    release: str, to: tuple[str, ...], by: str | None, note: str, plan: Path, as_json: bool
) -> int:
    """Record that RELEASE is given out no more.
    Whoever has it still knows it, and later checks count with that.
    """
    from tacit.checking.recording.record import withdraw as carry_out

    found = carry_out(loaded_plan(plan), release, to=to or None, by=by, note=note)
    if as_json:
        print_json(found.to_json())
    else:
        from tacit.report.terminal import ledger as report

        report.show_withdrawn(found, screen(), plan)
    return found.exit_status


@ledger.command()
@click.argument("number", type=click.IntRange(min=1))
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to write the answer.",
)
@plan_option
@as_json
def repair(number: int, output: Path, plan: Path, as_json: bool) -> int:
    """Write the file of the entry with this NUMBER again, where a kill kept it from being written
    after the entry. Only the very answer that was recorded is written; the ledger stays as it is.
    """
    from tacit.checking.recording.repairing import repair as carry_out

    with progress() as job:
        entry = carry_out(loaded_plan(plan), number, output, job)
    if as_json:
        print_json({"entry": entry.number, "release": entry.release, "output": str(output)})
    else:
        say(f"{output} has the answer of {entry.release} as entry {number} recorded it.")
    return 0


@ledger.command()
@plan_option
@as_json
@for_audience
def recheck(plan: Path, as_json: bool, audience: str | None) -> int:
    """Ask the checks of everything that was recorded again, and name what
    no longer stands, with the reason.

    Each release that is published is judged for all who have it, with all else that they hold, by
    the plan, the data and the Tacit of today.

    Exit status: 0 all of it stands, 1 some check is breached, 2 the input is wrong, 3 nothing is
    breached, but something is undecided or no check is about it.
    """
    from tacit.checking.recording.recheck import recheck as carry_out

    with progress() as job:
        found = carry_out(loaded_plan(plan), job)
    if as_json:
        print_json(found.to_json(chosen(audience)))
    else:
        from tacit.report.terminal import ledger as report

        report.show_rechecked(found, screen(), chosen(audience), plan)
    return found.exit_status


@ledger.command()
@click.option(
    "--expect",
    metavar="HASH",
    help=(
        "The hash of the last entry as you noted it: finds that the whole ledger was put back "
        "to an older one."
    ),
)
@click.option(
    "--expect-users",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="The version of the list of users as you noted it: finds that a revocation was undone.",
)
@plan_option
@as_json
def verify(expect: str | None, expect_users: int, plan: Path, as_json: bool) -> int:
    """Has anybody changed the ledger? Reads all entries.

    Exit status: 0 nothing was changed, 1 something was, 2 the ledger or its key cannot be read.
    """
    from tacit.checking.holdings.ledgers import ledger_of, place_of
    from tacit.ledger.checked_rows import Changed
    from tacit.ledger.verify import Fault, Verified

    try:
        with ledger_of(place_of(plan)) as opened, progress() as job:
            found = opened.verify(expect, job, users=expect_users)
    except Changed as error:  # so much that there is no chain to walk along
        found = Verified(0, "", (Fault("schema", None, error.message),), ())
    if as_json:
        print_json(found.to_json())
    else:
        from tacit.report.terminal import ledger as report

        report.show_verified(found, screen(), plan, expect=expect)
    return 0 if found.intact else 1
