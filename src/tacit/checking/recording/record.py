"""Recording: a release goes out once its checks hold, judged together with what is published, and
the ledger has it first.
"""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import __version__
from tacit.checking.assess import Assessment, assess_open
from tacit.checking.holdings.adversaries import spellings_of
from tacit.checking.holdings.holdings import Holdings
from tacit.checking.holdings.ledgers import is_begun, ledger_of
from tacit.checking.recording.answer_digests import Answers
from tacit.checking.recording.output_files import Handed, handed_out, refuse_files, written
from tacit.checking.recording.release_identity import definition_of
from tacit.errors import InputError, did_you_mean
from tacit.families.family import kind_of, tables_of
from tacit.families.words import listed
from tacit.ledger.entries import GIVES, Entry, EntryDraft, LedgerVerdict, Tie, check_name
from tacit.ledger.ledger import Grown
from tacit.model.jobs import Job
from tacit.model.recipients import Spellings, is_among
from tacit.model.verdict import Audience
from tacit.plan.open_plan import OpenPlan
from tacit.plan.owned_files import owners_files
from tacit.plan.read.references import LEDGER

if TYPE_CHECKING:
    from tacit.ledger.held_releases import Holding
    from tacit.ledger.key import Key
    from tacit.plan.plan import Check, Plan

UNDECIDED = 3  # the exit status where nothing is breached, but something is undecided
MOST_TRIES = 10  # others may record something while the checks run; then these are asked again


@dataclass(frozen=True, slots=True)
class RecordingResult:
    """What came of recording releases: an entry for each, or none where they were refused and
    nothing was written.
    """

    releases: tuple[str, ...]
    to: tuple[str, ...]
    entries: tuple[Entry, ...]
    assessment: Assessment
    output: Path | None = None
    because: str = ""
    seconds: float = 0.0
    unsaid: tuple[
        str, ...
    ] = ()  # what the plan would have to say, so that `tacit check` asks the same

    @property
    def release(self) -> str:
        """What was to be recorded, in words."""
        return listed(list(self.releases))

    @property
    def entry(self) -> Entry | None:
        """The last entry that was added."""
        return self.entries[-1] if self.entries else None

    @property
    def is_recorded(self) -> bool:
        """Is it in the ledger?"""
        return bool(self.entries)

    @property
    def exit_status(self) -> int:
        """0 recorded, 1 refused because a check is breached, 3 refused because one is undecided."""
        return 0 if self.is_recorded else self.assessment.exit_status

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit ledger record --json` prints."""
        return {
            "releases": list(self.releases),
            "to": list(self.to),
            "recorded": self.is_recorded,
            "entries": [entry.to_json() for entry in self.entries],
            "output": str(self.output) if self.output else None,
            "because": self.because,
            "verdicts": [verdict.to_json(audience) for verdict in self.assessment.verdicts],
            "seconds": round(self.seconds, 3),
        }

    def __str__(self) -> str:
        return f"{self.release}: {self.because}"


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A withdrawal: who had the release still knows it."""

    release: str
    entries: tuple[Entry, ...]
    because: str
    exit_status: int = field(default=0, init=False)

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit ledger withdraw --json` prints."""
        return {
            "release": self.release,
            "entries": [entry.to_json() for entry in self.entries],
            "because": self.because,
        }

    def __str__(self) -> str:
        return f"{self.release}: {self.because}"


def record(
    plan: Plan,
    *releases: str,
    to: Sequence[str] | None = None,
    by: str | None = None,
    answer: Path | None = None,
    output: Path | None = None,
    out_already: bool = False,
    note: str = "",
    job: Job | None = None,
) -> RecordingResult:
    """Ask the checks of a release, together with all that the ledger holds,
    and record it if all of them hold.

    Several releases that go out at once are judged together and recorded together, all or none:
    some are harmless only so. `to` are the recipients (None: those of the plan; nobody: the
    public). `answer` is the file that goes out, where it is not computed here; synthetic data need
    it. `output` is where the answer is written, once it is recorded, its rows in an order of their
    own. `out_already` records it whatever its checks say: it is published. What is judged is what
    is written: both are read from one snapshot of the source. Raises TacitError where the input is
    wrong.
    """
    begun, job = time.perf_counter(), job or Job()
    releases = tuple(dict.fromkeys(releases))
    own, who = (
        asked_about(plan, releases, to, out_already=out_already),
        user() if by is None else by,
    )
    check_name("person who records", who)
    for client in (one for release in releases for one in own.releases[release].to):
        check_name("recipient", client)
    if len(releases) > 1 and (answer or output):
        raise InputError(
            "--answer and --output are for one release.",
            hint=(
                "Leave them out. Afterwards, write each answer: tacit ledger record "
                f"{releases[0]} -o {releases[0]}.csv."
            ),
        )
    for release in releases:
        refuse_files(own, release, answer, output, out_already=out_already)
    found = until_recorded(
        own, lambda: once(own, releases, who, answer, output, note, job, out_already=out_already)
    )
    return replace(
        found, seconds=time.perf_counter() - begun, unsaid=tuple(unsaid(plan, own, releases))
    )


def until_recorded(plan: Plan, attempt: Callable[[], RecordingResult]) -> RecordingResult:
    """Judge and record, one process at a time;
    again where others recorded something or the data changed meanwhile.
    """
    with one_at_a_time(plan.folder):
        for _ in range(MOST_TRIES):
            with suppress(Grown, DataMoved):
                return attempt()
    raise InputError(
        "others keep recording releases, or changing the data, while the checks run.",
        hint="Try again when they are done.",
    )


@dataclass(frozen=True, slots=True)
class Correction:
    """That a release takes the place of what went out before under its name:
    what was wrong, and which entries gave it.
    """

    wrong: str
    old: tuple[Holding, ...]

    @property
    def entries(self) -> tuple[int, ...]:
        """The numbers of the entries that are corrected."""
        return tuple(one.entry for one in self.old)

    def refuse_the_same(self, plan: Plan, release: str, digest: str | None, key: Key) -> None:
        """What went out is no correction of itself."""
        definition = definition_of(plan, release, key)
        if any(one.definition == definition and one.answer == digest for one in self.old):
            raise InputError(
                f"{release} is what went out already: there is nothing to correct.",
                hint=(
                    "Correct the data or the plan first; or name the file with the "
                    "correction: --answer FILE."
                ),
            )


def once(
    plan: Plan,
    releases: Sequence[str],
    by: str,
    answer: Path | None,
    output: Path | None,
    note: str,
    job: Job,
    *,
    out_already: bool,
    unjudged: bool = False,
    correction: Correction | None = None,
) -> RecordingResult:
    """Judge and record. Raises Grown where the ledger has grown meanwhile, Moved where the data
    changed: the verdicts may be out of date.
    """
    to = tuple(
        dict.fromkeys(client for release in releases for client in plan.releases[release].to)
    )
    before, known = "", {}
    if is_begun(plan):
        with ledger_of(plan) as ledger:
            before = ledger.head() if any(ledger.entries(last=1)) else ""
            known = known_answer(plan, releases[0], answer, ledger.key)
    as_they_were = stamps(plan, answer)
    with OpenPlan(plan, job) as opened:
        holdings = Holdings(opened, known, correction.entries if correction else ())
        # asked of the very snapshot that is read afterwards
        found = assess_open(opened, plan.checks, holdings)
        if (
            found.exit_status
            and not out_already
            and not (unjudged and found.exit_status == UNDECIDED)
        ):
            return RecordingResult(tuple(releases), to, (), found, because=refused(found))
        with ledger_of(plan, create=True) as ledger, written(output) as place:
            handed = []
            for release in releases:
                job.step(f"reading the answer of {release}", 1.0)
                handed.append(
                    handed_out(opened, release, ledger.key, answer, place, out_already=out_already)
                )
            if correction is not None:
                correction.refuse_the_same(plan, releases[0], handed[0].digest, ledger.key)
            drafts = [
                draft_of(holdings, name, by, note, found, one, ledger.key, correction)
                for name, one in zip(releases, handed, strict=True)
            ]
            if stamps(plan, answer) != as_they_were:
                raise DataMoved
            job.settle("recording")  # from here on there is an entry, and its file must come too
            entries = ledger.record_all(drafts, follows=before)
    numbers = listed([str(entry.number) for entry in entries])
    because = (
        f"recorded as {'entry' if len(entries) == 1 else 'entries'} {numbers}, to "
        f"{listed(list(to)) or 'everybody'}"
    )
    if correction is not None:
        because = because.replace(
            ", to ",
            f", the correction of {'entry' if len(correction.old) == 1 else 'entries'} "
            f"{listed(list(map(str, correction.entries)))}, to ",
            1,
        )
    if unlike := [one.unchecked for one in handed if one.unchecked]:
        because += (
            f"; that {listed(unlike)} has the answer was not checked, for the data are not at hand"
        )
    if found.exit_status:
        because += (
            ", though its checks do not hold: it is published already"
            if out_already
            else ", though it could not be judged"
        )
    return RecordingResult(tuple(releases), to, tuple(entries), found, output, because)


class DataMoved(Exception):
    """The data changed since a release was judged."""


def stamps(plan: Plan, answer: Path | None) -> dict[Path, tuple[int, int, int]]:
    """What tells whether the owner's files are still the same ones;
    databases keep one snapshot by themselves.
    """
    files = [
        *owners_files(plan),
        *(
            plan.folder / one.answer_file
            for one in plan.releases.values()
            if one.answer_file is not None
        ),
    ]
    found = {}
    for path in (*files, *([answer] if answer else []), plan.folder / plan.source):
        with suppress(OSError, ValueError):
            if path.is_file():
                said = path.stat()
                found[path] = said.st_ino, said.st_size, said.st_mtime_ns
    return found


def draft_of(
    holdings: Holdings,
    release: str,
    by: str,
    note: str,
    found: Assessment,
    handed: Handed,
    key: Key,
    correction: Correction | None = None,
) -> EntryDraft:
    """What the ledger is to say of a release."""
    plan, one = holdings.plan, holdings.plan.releases[release]
    tables = tables_of(release, holdings.opened)
    answers = Answers(holdings.opened, key)
    return EntryDraft(
        kind="release" if correction is None else "correction",
        release=release,
        shape=one.shape,
        tables=tables,
        to=one.to,
        by=by,
        plan=plan_hash(plan, key),
        definition=definition_of(plan, release, key),
        answer=handed.digest,
        verdicts=tuple(
            LedgerVerdict(
                verdict.check, verdict.name, verdict.status, verdict.certainty, verdict.label
            )
            for verdict in found.verdicts
        ),
        spent=kind_of(one).spent(one),
        note=note,
        people=people_of(release, tables, answers),
        version=__version__,
        ties=ties_of(holdings, tables, answers),
        corrects=correction.entries if correction else (),
        wrong=correction.wrong if correction else "",
    )


def ties_of(holdings: Holdings, tables: Sequence[str], answers: Answers) -> tuple[Tie, ...]:
    """What tells the tables of a release under another name."""
    return tuple(
        tie
        for name in tables
        if name in holdings.plan.tables
        for tie, _ in holdings.ties.of(holdings.plan.tables[name], answers)
    )


def people_of(release: str, tables: Sequence[str], answers: Answers) -> str | None:
    """The people that a release is about, where views of their table may later be judged
    together with it.
    """
    plan = answers.plan
    table = plan.tables.get(tables[0]) if len(tables) == 1 else None
    if (
        table is None
        or not table.keys
        or len(table.sensitive) != 1
        or not kind_of(plan.releases[release]).keeps_people
    ):
        return None
    return answers.people(table)


def withdraw(
    plan: Plan,
    release: str,
    *,
    to: Sequence[str] | None = None,
    by: str | None = None,
    note: str = "",
) -> Withdrawn:
    """Record that a release is given out no more, to some or (None) to everybody who has it.
    They still know it.
    """
    if not is_begun(plan):
        raise InputError(
            "nothing was recorded yet, so nothing can be withdrawn.",
            hint="tacit ledger record RELEASE begins the ledger.",
        )
    with ledger_of(plan) as ledger:
        entries = [one for one in ledger.entries(release=release) if one.kind in GIVES]
        if not entries:
            known = sorted({one.release for one in ledger.entries()})
            raise InputError(
                f"the ledger has no release {release!r}.", hint=did_you_mean(release, known)
            )
        for client in to or ():
            if not any(not one.to or is_among(client, one.to) for one in entries):
                clients = sorted({client for one in entries for client in one.to})
                raise InputError(
                    f"{release} did not go to {client!r}.", hint=did_you_mean(client, clients)
                )
        last, to = (
            entries[-1],
            Spellings(client for one in entries for client in one.to).each(to or ()),
        )
        draft = EntryDraft(
            kind="withdrawal",
            release=release,
            shape=last.shape,
            tables=last.tables,
            to=to,
            by=by or user(),
            plan=plan_hash(plan, ledger.key),
            definition=last.definition,
            answer=last.answer,
            note=note,
            version=__version__,
        )
        entry = ledger.record(draft)
    because = (
        f"withdrawn from {listed(to) or 'everybody'} by entry {entry.number}; who had it "
        "still knows it"
    )
    return Withdrawn(release, (entry,), because)


# -- what is asked ---------------------------------------------------------------------------------


def asked_about(
    plan: Plan, chosen: Sequence[str], to: Sequence[str] | None, *, out_already: bool
) -> Plan:
    """The plan with the checks of some releases only, their recipients,
    and the ledger among what is published.

    A check of a list is asked for those that go out now: the others of its list may never follow,
    and what went out before is in the ledger. All that goes out now counts as out for the checks of
    the rest of it.
    """
    if not chosen:
        raise InputError("there is nothing to record.", hint="Name a release of the plan.")
    for release in chosen:
        if release not in plan.releases:
            raise InputError(
                f"the plan has no release {release!r}.", hint=did_you_mean(release, plan.releases)
            )
    checks = tuple(
        replace(check, releases=own)
        for check in plan.checks
        if (own := tuple(name for name in check.releases if name in chosen))
    )
    unasked = [
        release for release in chosen if not any(release in check.releases for check in checks)
    ]
    if unasked and not out_already:
        raise InputError(
            f"the plan has no check of {unasked[0]}, so nothing says whether it may go out.",
            hint=(
                f"Add one, for example {example(plan, unasked[0])}; or record with "
                "--out-already what is published in any case."
            ),
        )
    # A recipient whom the plan writes in another way is the same one.
    recipients = None if to is None else spellings_of(plan).each(to)
    own_to = {
        name: one.given_to(one.to if recipients is None else recipients)
        for name in chosen
        for one in [plan.releases[name]]
    }
    published = plan.published if LEDGER in plan.published else (*plan.published, LEDGER)
    return replace(
        plan,
        releases={**plan.releases, **own_to},
        published=published,
        checks=tuple(share_check(check, plan, chosen) for check in checks),
    )


def share_check(check: Check, plan: Plan, chosen: Sequence[str]) -> Check:
    """A check with the ledger, all that is published, and what goes out at the same time, among
    what is published: `share_check` leaves nothing out here.
    """
    others = [name for name in chosen if name not in check.releases]
    return replace(
        check, given=tuple(dict.fromkeys([*plan.published, *(check.given or ()), LEDGER, *others]))
    )


def unsaid(plan: Plan, own: Plan, releases: Sequence[str]) -> Iterator[str]:
    """What a plan does not say of that which was asked:
    its recipients, and that the ledger is looked at.
    """
    for name in releases:
        if (to := own.releases[name].to) != plan.releases[name].to:
            yield f"to: [{', '.join(to)}] of {name}" if to else f"no `to` of {name}"
    asked = [check for check in plan.checks if set(check.releases) & set(releases)]
    if any(check.given is not None and LEDGER not in check.given for check in asked):
        yield "`given` with ledger"


def example(plan: Plan, release: str) -> str:
    """A check that a release could have."""
    return kind_of(plan.releases[release]).example % release


def known_answer(plan: Plan, release: str, answer: Path | None, key: Key) -> dict[str, str]:
    """The keyed hash of what is about to go out, so that an output that was drawn again is not
    taken for the first one.
    """
    if answer is None or kind_of(plan.releases[release]).answer != "file":
        return {}
    with OpenPlan(plan) as opened:
        digest = handed_out(
            opened, release, key, answer, None, out_already=True
        ).digest  # what it holds is compared later
    return {release: digest} if digest else {}


def refused(found: Assessment) -> str:
    """Why a release was not recorded."""
    wrong = [verdict for verdict in found.verdicts if verdict.status != "holds"]
    named = listed([f"{verdict.label} is {verdict.status}" for verdict in wrong])
    return f"not recorded, and nothing was written: {named}"


def plan_hash(plan: Plan, key: Key) -> str:
    """The keyed hash of the plan file."""
    for path in (Path(plan.file), plan.folder / Path(plan.file).name):
        with suppress(OSError):
            return key.mac("plan", path.read_bytes())
    return key.mac("plan", repr((plan.tables, plan.secrets, plan.releases, plan.checks)).encode())


def user() -> str:
    """Who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "a user without a name"


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """One after the other: two releases that are judged at the same
    time would not know of each other.
    """
    if os.name != "posix":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks: the ledger's head tells
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
