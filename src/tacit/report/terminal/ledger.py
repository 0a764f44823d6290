"""What a person reads after `tacit ledger` and `tacit user`:
what is published, who holds it, who may ask, and what to do next.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.words import listed, plural
from tacit.ledger.entries import Entry, LedgerVerdict
from tacit.model.verdict import Audience
from tacit.report.terminal.text_parts import STYLES, WORDS, hanging, headed, put, two_sides
from tacit.report.terminal.verdict_lines import show as show_assessment
from tacit.report.terminal.verdict_lines import show_next

if TYPE_CHECKING:
    from tacit.checking.recording.corrections import Corrected
    from tacit.checking.recording.recheck import Recheck, Rechecked
    from tacit.checking.recording.record import RecordingResult, Withdrawn
    from tacit.ledger.users import User
    from tacit.ledger.verify import Verified

INDENT = 13
MOST_PROBLEMS = 20  # the first ones tell where to look
EVERYBODY = "everybody"
WORST = ("breached", "undecided", "holds")


def show_entries(
    entries: Sequence[Entry],
    console: Console,
    plan: Path,
    *,
    is_cut: bool = False,
    release: str | None = None,
    to: str | None = None,
) -> None:
    """Print entries as a table, the oldest first."""
    if not entries:
        about = f" of release {release}" if release else ""
        put(console, f"The ledger has no entry{about}{f' for {to}' if to else ''}.", 0)
        show_next(
            [step("ledger record RELEASE", plan)]
            if not release and not to
            else [step("ledger list", plan)],
            console,
        )
        return
    if is_cut:
        put(
            console,
            Text(
                f"earlier entries are left out; --last {2 * len(entries)} shows more", style="dim"
            ),
            0,
        )
    grid = table("no.", "when (UTC)", "release", "kind", "to", "by", "checks")
    for one in entries:
        kind = {"withdrawal": "withdrawn", "correction": f"{one.shape}, correction"}.get(
            one.kind, one.shape
        )
        grid.add_row(
            str(one.number),
            when(one.at),
            Text(one.release, style="bold"),
            kind,
            Text(recipients(one.to)),
            Text(one.by),
            verdicts_text(one),
        )
    console.print(grid)
    show_next(
        [step(f"ledger show {entries[-1].number}", plan), step("ledger verify", plan)], console
    )


def show_entry(entry: Entry, console: Console) -> None:
    """Print all that one entry says."""
    done = what_was_done(entry)
    console.print(
        two_sides(headed(entry.release, f"   {done}"), Text(f"entry {entry.number}", style="dim"))
    )
    by = f"{when(entry.at, exactly=True)} (UTC), by {entry.by}"
    said = {
        "When": by,
        "Tables": listed(entry.tables),
        "Wrong was": entry.wrong,
        "Note": entry.note,
        "Spent": spent(entry),
        "Judged by": f"Tacit {entry.version}" if entry.version else "",
    }
    for label, text in said.items():
        if text:
            console.print(labelled(label, text))
    show_judged(entry.verdicts, console)
    people = {"People": entry.people} if entry.people else {}
    hashes = {
        "Plan": entry.plan,
        "Definition": entry.definition,
        "Answer": entry.answer or "none",
        **people,
    }
    hashes |= {"Entry before": entry.before, "This entry": entry.hash}
    console.print()
    put(console, Text("Keyed hashes, which only the owner's key can make", style="dim"), 0)
    for label, text in hashes.items():
        console.print(labelled(label, text, INDENT + 1))


def what_was_done(entry: Entry) -> str:
    """What an entry records, in a few words."""
    if entry.kind == "withdrawal":
        return f"withdrawn from {recipients(entry.to)}; whoever had it still knows it"
    numbers = listed([str(number) for number in entry.corrects])
    corrects = (
        f", the correction of {'entry' if len(entry.corrects) == 1 else 'entries'} {numbers}"
        if entry.corrects
        else ""
    )
    return f"{entry.shape}{corrects}, given to {recipients(entry.to)}"


def show_judged(verdicts: Sequence[LedgerVerdict], console: Console) -> None:
    """The verdicts as they were when a release went out."""
    if not verdicts:
        return
    console.print()
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for one in verdicts:
        grid.add_row(
            Text(WORDS.get(one.status, one.status), style=STYLES.get(one.status, "")),
            Text(one.question_text),
            Text(one.certainty, style="dim"),
        )
    console.print(Padding(grid, (0, 0, 0, 2)))


def show_corrected(found: Corrected, console: Console, audience: Audience, plan: Path) -> None:
    """Print the verdicts about a correction for those who have
    both, and whether it was recorded.
    """
    recorded, numbers = found.recorded, [str(number) for number in found.correction.entries]
    wrong = f" --wrong {shlex.quote(found.correction.wrong)}"
    to = "".join(f" --to {shlex.quote(client)}" for client in recorded.to) or " --public"
    insist = (
        [
            (
                "to give it out all the same: "
                f"{step(f'ledger correct {shlex.quote(recorded.release)}{wrong}{to} --unjudged', plan)}"  # noqa: E501
            )
        ]
        if recorded.exit_status == 3
        else []
    )
    about = {
        "Corrects": (
            f"{'entry' if len(numbers) == 1 else 'entries'} {listed(numbers)}: {found.holders_text}"
        ),
        "Wrong was": found.correction.wrong,
    }
    show_recorded(
        recorded,
        console,
        audience,
        plan,
        [*steps_after_refusal(recorded, plan)[:1], *insist],
        about,
    )


def show_recorded(
    found: RecordingResult,
    console: Console,
    audience: Audience,
    plan: Path,
    refused: Sequence[str] | None = None,
    about: Mapping[str, str] | None = None,
) -> None:
    """Print the verdicts about a release, and whether it was recorded;
    `refused` are other steps after a refusal, `about` is said too.
    """
    if found.assessment.verdicts:
        show_assessment(found.assessment, console, audience)
        console.print()
    if found.entry is None:
        console.print(
            two_sides(
                headed(found.release, f"   {found.because}"),
                Text("REFUSED", style=STYLES["breached"]),
            )
        )
        show_labelled(about or {}, console)
        show_next(steps_after_refusal(found, plan) if refused is None else refused, console)
        return
    console.print(
        two_sides(
            headed(found.release, f"   {found.because}"), Text("recorded", style=STYLES["holds"])
        )
    )
    show_labelled(about or {}, console)
    if found.output is not None:
        console.print(labelled("Written to", str(found.output)))
    console.print(labelled("Hash", found.entry.hash))
    steps = [f"give {found.output} to {recipients(found.to)}"] if found.output is not None else []
    show_next(
        [*steps, step(f"ledger show {found.entry.number}", plan), step("ledger list", plan)],
        console,
    )


def show_labelled(said: Mapping[str, str], console: Console) -> None:
    """Labels, each with its text."""
    for label, text in said.items():
        console.print(labelled(label, text))


def steps_after_refusal(found: RecordingResult, plan: Path) -> list[str]:
    """What to do with a release whose checks do not hold."""
    name, file = shlex.join(found.releases), shlex.quote(str(plan))
    only = "".join(f" --only {shlex.quote(one)}" for one in found.releases)
    to = "".join(f" --to {shlex.quote(client)}" for client in found.to) or " --public"
    first = f"with {listed(found.unsaid)} in {file}: " if found.unsaid else ""
    return [
        f"{first}tacit check {file}{only} --report report.html",
        (
            f"only if {recipients(found.to)} {'has' if len(found.to) < 2 else 'have'} it "
            f"already: {step(f'ledger record {name}{to} --out-already', plan)}"
        ),
    ]


def show_withdrawn(found: Withdrawn, console: Console, plan: Path) -> None:
    """Print what was withdrawn, and from whom."""
    numbers = listed([str(one.number) for one in found.entries])
    console.print(
        two_sides(
            headed(found.release, f"   {found.because}"),
            Text(f"{'entry' if len(found.entries) == 1 else 'entries'} {numbers}", style="dim"),
        )
    )
    show_next(
        [
            f"tacit check {shlex.quote(str(plan))}",
            step(f"ledger list --release {shlex.quote(found.release)}", plan),
        ],
        console,
    )


def show_begun(ledger: str, key: Path, head: str, console: Console, plan: Path) -> None:
    """Print that there is a ledger now, and what to keep."""
    console.print(headed(ledger, "   an empty ledger"))
    console.print(labelled("Key", f"{key}: keep a copy of it elsewhere"))
    console.print(labelled("Hash", head))
    show_next([step("ledger record RELEASE", plan), step("ledger verify", plan)], console)


def show_verified(
    found: Verified, console: Console, plan: Path, *, expect: str | None = None
) -> None:
    """Print whether anybody changed the ledger, and what."""
    verdict = (
        Text("nothing was changed", style=STYLES["holds"])
        if found.intact
        else Text("CHANGED", style=STYLES["breached"])
    )
    console.print(
        two_sides(headed("Ledger", f"   {plural('entry', found.entries)} checked"), verdict)
    )
    for fault in found.faults[:MOST_PROBLEMS]:
        put(console, f"- {sentence(fault.message)}")
    if (more := len(found.faults) - MOST_PROBLEMS) > 0:
        put(console, f"and {more} more, see --json")
    for note in found.notes:
        console.print(labelled("Note:", sentence(note), 6))
    if found.intact:
        console.print(labelled("Last hash", found.head))
        if found.users:
            console.print(labelled("Users", f"version {found.users} of their list"))
        show_limits(found, console, expect)
        users = f" --expect-users {found.users}" if found.users else ""
        show_next([f"later: {step(f'ledger verify --expect HASH{users}', plan)}"], console)
    else:
        put(
            console,
            "Do not rely on it: put back a copy that is whole, and find out who can write to it.",
            0,
        )
        show_next([step("ledger list", plan)], console)


def show_rechecked(found: Recheck, console: Console, audience: Audience, plan: Path) -> None:
    """Print which of the releases that are published still stand, and why others do not."""
    if not found.found:
        put(console, "The ledger has no entry.", 0)
        show_next([step("ledger record RELEASE", plan)], console)
        return
    fallen = len(found.fallen)
    verdict = (
        Text(f"{fallen} of {len(found.found)} do not stand", style=STYLES["breached"])
        if fallen
        else Text("all of it stands", style=STYLES["holds"])
    )
    console.print(
        two_sides(
            headed("Ledger", f"   {plural('release', len(found.found))} checked again"), verdict
        )
    )
    grid = table("no.", "release", "to", "then", "now")
    for one in found.found:
        entry = one.entry
        now = Text(WORDS.get(one.now, one.now), style=STYLES.get(one.now, ""))
        grid.add_row(
            str(entry.number),
            Text(entry.release, style="bold"),
            Text(recipients(entry.to)),
            Text(WORDS.get(one.then, one.then)),
            now,
        )
    console.print(grid)
    for one in found.fallen:
        show_fallen(one, console, audience)
    show_next(
        [
            f"tacit check {shlex.quote(str(plan))} --report report.html"
            if fallen
            else step("ledger verify", plan)
        ],
        console,
    )


def show_fallen(one: Rechecked, console: Console, audience: Audience) -> None:
    """Why a release does not stand: what the checks say of it, and what changed."""
    console.print()
    console.print(
        headed(one.entry.release, f"   entry {one.entry.number}, to {recipients(one.entry.to)}")
    )
    for cause in one.causes:
        console.print(labelled("Because", f"{cause.text} ({cause.code})"))
    for each in one.standings:
        if each.status == "holds":
            continue
        verdict = each.verdict
        said = (
            each.because
            if verdict is None or audience != "owner" or not verdict.story
            else f"{each.because}. {verdict.story}"
        )
        reason = (
            f" {verdict.reason.text}" if verdict is not None and verdict.reason is not None else ""
        )
        who = f" against {recipients(each.who)}" if each.who else ""
        console.print(
            labelled(
                WORDS.get(each.status, each.status),
                f"{each.label}{who}: {said.rstrip('.')}.{reason}",
            )
        )


def show_limits(found: Verified, console: Console, expect: str | None) -> None:
    """What was not asked: whether the whole ledger was put back to an older one."""
    if expect is None:
        what = (
            "a hash, and the version of the list of users, that you keep elsewhere: note both"
            if found.users
            else "a hash that you keep elsewhere: note this one"
        )
        words = (
            f"Whether the whole ledger was put back to an older copy can only be seen with {what}."
        )
    else:
        words = (
            f"The hash that you noted is that of entry {found.expected}."
            if found.expected
            else "The hash that you noted is that of the empty ledger."
        )
    put(console, Text(words, style="dim"), 0)


def show_users(users: Sequence[User], roles: Collection[str], console: Console, plan: Path) -> None:
    """Print who may ask the gateway, and as what."""
    if not users:
        put(console, "Nobody may ask the gateway yet.", 0)
        show_next(
            [step(f"user add NAME --role {shlex.quote(next(iter(roles), 'ROLE'))}", plan)], console
        )
        return
    grid = table("user", "roles", "since (UTC)", "token", "last used")
    for one in users:
        style = "dim" if one.revoked or one.expired() else ""
        named = ", ".join(
            [
                *(["owner (opens the workbench)"] if one.owner else []),
                *(role if role in roles else f"{role} (not in this plan)" for role in one.roles),
            ]
        )
        grid.add_row(
            Text(one.name, style=style or "bold"),
            Text(named, style=style),
            Text(when(one.added), style=style),
            Text(token_state(one), style=style),
            Text(one.used or "", style=style),
        )
    console.print(grid)


def token_state(user: User) -> str:
    """Whether a user's token opens anything, and until when."""
    if user.revoked:
        return f"revoked {when(user.revoked)}"
    if user.expires:
        return f"{'expired' if user.expired() else 'in use until'} {when(user.expires)}"
    return "in use"


def show_token(
    name: str,
    roles: Sequence[str],
    token: str,
    console: Console,
    plan: Path,
    *,
    owner: bool = False,
) -> None:
    """Print a new user's token, once."""
    may = [
        *(["open the workbench"] if owner else []),
        *([f"ask the gateway as {listed(roles, 'or')}"] if roles else []),
    ]
    console.print(headed(name, f"   may {listed(may)}"))
    console.print()
    console.print(Text(f"  {token}"), soft_wrap=True)  # never broken: it is there to be copied
    console.print()
    put(
        console,
        "This token is shown once and kept only as a hash. Treat it as a password; if it is lost, "
        "replace it by a new one.",
        0,
    )
    show_next(
        [f"tacit serve {shlex.quote(str(plan))}", step(f"user rotate {shlex.quote(name)}", plan)],
        console,
    )


def table(*heads: str) -> Grid:
    """An empty table with its heads; the cells of all columns but numbers and times may wrap."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in heads:
        grid.add_column(
            head,
            justify="right" if head == "no." else "left",
            no_wrap=head in ("no.", "when (UTC)", "since (UTC)"),
            overflow="fold",
        )
    return grid


def labelled(label: str, text: str, indent: int = INDENT) -> Grid | Padding:
    """A label and a text."""
    return hanging(label, text, indent)


def recipients(to: Sequence[str]) -> str:
    """Who got something.

    >>> recipients(("clinic", "insurer")), recipients(())
    ('clinic and insurer', 'everybody')
    """
    return listed(to) if to else EVERYBODY


def verdicts_text(entry: Entry) -> Text:
    """The verdicts of an entry in a few words, the worst first."""
    found = [verdict.status for verdict in entry.verdicts]
    if not found:
        return Text("", style="dim")
    worst = next((status for status in WORST if status in found), found[0])
    some = f"{found.count(worst)} of {len(found)} {WORDS.get(worst, worst)}"
    return Text(
        WORDS.get(worst, worst) if len(set(found)) == 1 else some, style=STYLES.get(worst, "")
    )


def spent(entry: Entry) -> str:
    """What a synthetic release costs."""
    return ", ".join(f"{name} {value}" for name, value in entry.spent.items())


def when(at: datetime, *, exactly: bool = False) -> str:
    """A time in UTC, to the minute or to the second.

    >>> (
    ...     when(datetime(2026, 4, 1, 12, 30, 5, tzinfo=UTC)),
    ...     when(datetime(2026, 4, 1, 12, 30, 5, tzinfo=UTC), exactly=True),
    ... )
    ('2026-04-01 12:30', '2026-04-01 12:30:05')
    """
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S" if exactly else "%Y-%m-%d %H:%M")


def sentence(words: str) -> str:
    """Words that end with one full stop.

    >>> sentence("the clock went backwards"), sentence("entry 3 is missing.")
    ('The clock went backwards.', 'Entry 3 is missing.')
    """
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."


def step(words: str, plan: Path) -> str:
    """A command to run next.

    >>> step("ledger verify", Path("clinic/my plan.yaml"))
    "tacit ledger verify --plan 'clinic/my plan.yaml'"
    """
    return f"tacit {words} --plan {shlex.quote(str(plan))}"
