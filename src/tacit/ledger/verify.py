"""Verify: is every entry what was recorded, in its place, with none missing?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from tacit.errors import InputError
from tacit.ledger.checked_rows import NO_HEAD, PAGE, Head, LedgerIdentity, concerned
from tacit.ledger.entries import HEX, Entry, identity, parsed, time_text
from tacit.ledger.store import Ask, Row
from tacit.ledger.users import NOBODY, users_fault
from tacit.model.jobs import Job

MOST = 100  # faults that are told


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it was recorded; `entry` is where, if it is one entry.

    Codes: `changed`, `missing`, `misplaced`, `cut`, `foreign`, `index`,
    `head`, `users`, `expected`, `schema`.
    """

    code: str
    entry: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Verified:
    """What `verify` found. `notes` are worth knowing and no faults: a clock that went backwards."""

    entries: int
    head: str
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]
    expected: int | None = (
        None  # the number of the entry with the expected hash, 0 for the empty ledger
    )
    users: int = NOBODY  # the version of the list of users

    @property
    def intact(self) -> bool:
        """Nothing was changed."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        faults = [
            {"code": one.code, "entry": one.entry, "message": one.message} for one in self.faults
        ]
        return {
            "intact": self.intact,
            "entries": self.entries,
            "head": self.head,
            "expected": self.expected,
            "users": self.users,
            "faults": faults,
            "notes": list(self.notes),
        }


@dataclass(slots=True)
class ChainWalk:
    """Where the walk along the chain is:
    the entry before, when it was made, and what is worth noting.
    """

    number: int
    hash: str
    at: datetime | None = None
    notes: list[str] = field(default_factory=list)
    backwards: int = 0
    expect: str | None = None
    expected: int | None = None


def verify(
    ask: Ask,
    book: LedgerIdentity,
    expect: str | None = None,
    job: Job | None = None,
    *,
    users: int = NOBODY,
) -> Verified:
    """All faults (the first hundred), and notes."""
    if expect is not None and not HEX.fullmatch(expect):
        raise InputError(
            f"{expect[:80]!r} is not a hash of a ledger.",
            hint="Write the 64 digits that tacit ledger verify printed.",
        )
    walk = ChainWalk(0, book.empty(), expect=expect)
    found = list(islice(_all(ask, book, walk, job), MOST))
    head = book.head(ask)
    version = NOBODY if head is None else head.users
    if version < users:
        found.append(
            Fault(
                "users",
                None,
                f"the list of users is version {version}, and you have noted version {users}: an "
                "older one was put in its place.",
            )
        )
    if walk.backwards > len(walk.notes):
        walk.notes.append(f"and {walk.backwards - len(walk.notes):,} more times")
    return Verified(walk.number, walk.hash, tuple(found), tuple(walk.notes), walk.expected, version)


def faults(ask: Ask, book: LedgerIdentity) -> Iterator[Fault]:
    """What is wrong with the entries, the first first."""
    return _chain(ask, book, ChainWalk(0, book.empty()), None)


def _all(ask: Ask, book: LedgerIdentity, walk: ChainWalk, job: Job | None) -> Iterator[Fault]:
    yield from _chain(ask, book, walk, job)
    if (message := users_fault(ask, book)) is not None:
        yield Fault("users", None, message)
    if walk.expect is not None and walk.expected is None:
        yield Fault(
            "expected",
            None,
            "no entry has the expected hash: an older copy was put in the ledger's place, or its "
            "end was written anew.",
        )


def _chain(ask: Ask, book: LedgerIdentity, walk: ChainWalk, job: Job | None) -> Iterator[Fault]:
    head = book.head(ask)
    if head is None:
        yield Fault("head", None, NO_HEAD)
    if walk.expect == walk.hash:
        walk.expected = 0
    yield from _strays(ask, walk)
    while rows := ask(
        "SELECT number, kind, release, body, hash FROM tacit_entries WHERE number > ? ORDER BY "
        f"number LIMIT {PAGE}",
        walk.number,
    ):
        if job is not None:
            job.step(
                f"checking entry {walk.number + 1:,}",
                walk.number / max(head[0] if head else 0, walk.number + len(rows)),
            )
        listed = _listed(ask, rows[0][0], rows[-1][0])
        for row in rows:
            yield from _row(book, walk, row, listed.get(row[0], set()))
    yield from _ending(head, walk, book)
    numbers = ask(
        "SELECT c.number FROM tacit_concerns c WHERE NOT EXISTS (SELECT 1 FROM tacit_entries e "
        "WHERE e.number = c.number) ORDER BY c.number LIMIT 1"
    )
    for (number,) in numbers:
        yield Fault("index", number, f"entry {number} is listed for a table, but is not there.")


def _strays(ask: Ask, walk: ChainWalk) -> Iterator[Fault]:
    for (number,) in ask("SELECT number FROM tacit_entries WHERE number < 1 ORDER BY number"):
        yield Fault(
            "foreign", number, f"entry {number} was not recorded by Tacit: entries begin with 1."
        )


def _listed(ask: Ask, first: int, last: int) -> dict[int, set[tuple[str, str]]]:
    """Under which tables and identities the entries of a page are listed."""
    found: dict[int, set[tuple[str, str]]] = {}
    for number, name, own in ask(
        "SELECT number, name, identity FROM tacit_concerns WHERE number BETWEEN ? AND ?",
        first,
        last,
    ):
        found.setdefault(number, set()).add((name, own))
    return found


def _row(
    book: LedgerIdentity, walk: ChainWalk, row: Row, listed: set[tuple[str, str]]
) -> Iterator[Fault]:
    """One entry against the one before it; the walk moves on."""
    number, kind, release, body, own = row
    before, gap = walk.hash, number != walk.number + 1
    if gap:
        which = (
            f"entry {walk.number + 1} is"
            if number == walk.number + 2
            else f"the entries {walk.number + 1} to {number - 1} are"
        )
        yield Fault("missing", walk.number + 1, f"{which} missing.")
    walk.number, walk.hash = number, own
    if own == walk.expect:
        walk.expected = number
    if not book.fits(body, own):
        yield Fault("changed", number, f"entry {number} is not what was recorded.")
        return
    entry = parsed(body, own)
    if entry.number != number:
        yield Fault("misplaced", number, f"entry {entry.number} stands at place {number}.")
    elif entry.before != before and not gap:
        yield Fault("misplaced", number, f"entry {number} does not follow the entry before it.")
    if (kind, release) != (entry.kind, entry.release) or listed != {
        (name, identity(entry)) for name in concerned(entry)
    }:
        yield Fault("index", number, f"entry {number} is listed for what it does not say.")
    _watch(walk, entry)


def _watch(walk: ChainWalk, entry: Entry) -> None:
    """Note a clock that went backwards: order is by number, so nothing is lost by it."""
    if walk.at is not None and entry.at < walk.at:
        walk.backwards += 1
        if len(walk.notes) < MOST:
            walk.notes.append(
                f"entry {entry.number} is dated {time_text(entry.at)}, before the entry that it "
                f"follows ({time_text(walk.at)}): the clock went backwards"
            )
    walk.at = entry.at


def _ending(head: Head | None, walk: ChainWalk, book: LedgerIdentity) -> Iterator[Fault]:
    """Does the chain end where the head says?"""
    if head is None or head[:2] == (walk.number, walk.hash):
        return
    if walk.number < head[0]:
        yield Fault(
            "cut",
            walk.number + 1,
            f"it ends with entry {walk.number}, but entry {head[0]} was recorded.",
        )
    elif walk.number > head[0]:
        yield Fault(
            "foreign",
            head[0] + 1,
            f"entry {walk.number} was not recorded by Tacit: the last one is {head[0]}.",
        )
    else:
        yield Fault(
            "head", walk.number, f"the head names another hash than that of entry {walk.number}."
        )
