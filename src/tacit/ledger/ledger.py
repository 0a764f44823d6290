"""The ledger: entries are recorded, listed, looked up by table, and
checked from the first to the last.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Self

from tacit.errors import InputError
from tacit.ledger.checked_rows import (
    PAGE,
    Head,
    LedgerIdentity,
    changed,
    concerned,
    proof_of,
    read_book,
    rows_to_entries,
)
from tacit.ledger.entries import (
    Entry,
    EntryDraft,
    canonical,
    checked,
    content,
    identity,
    is_plain,
    time_text,
)
from tacit.ledger.group_commit import GroupCommit
from tacit.ledger.held_releases import Holding, holdings
from tacit.ledger.key import Key, owners_key, read_key
from tacit.ledger.schema import FORMAT
from tacit.ledger.store import Ask, LedgerStore
from tacit.ledger.users import NOBODY, list_seal
from tacit.ledger.verify import Fault, Verified, faults, verify
from tacit.model.jobs import Job
from tacit.model.recipients import is_among

__all__ = ["Holding", "Ledger", "Verified", "ledger_exists", "open_ledger"]

SMALL = 1_000  # entries that are checked whole before what is held is told: some 30 ms
POSTGRES = ("postgresql://", "postgres://")


class NoLedger(InputError):
    """Nothing was recorded there yet."""


class Grown(Exception):
    """Entries were added since a release was judged."""


@dataclass(frozen=True, slots=True)
class Addition:
    """Entries that are added together, and the hash of the entry that they follow."""

    drafts: Sequence[EntryDraft]
    follows: str | None


class Ledger:
    """What is published: append-only, each entry sealed with the owner's key and tied to the one
    before.

    Use `open_ledger`; a ledger is a context manager and may be used by several threads.
    """

    def __init__(
        self, store: LedgerStore, key: Key, *, clock: Callable[[], datetime] | None = None
    ) -> None:
        self.store = store
        self.key = key
        self._now = clock or partial(datetime.now, UTC)
        self._commits = GroupCommit(self._write)
        with store.reading() as ask:
            self.book = read_book(ask, key, store.where)

    @property
    def where(self) -> str:
        """The file or database, as the plan writes it."""
        return self.store.where

    @property
    def id(self) -> str:
        """A random number that tells this ledger from others with the same key."""
        return self.book.id

    def record(self, draft: EntryDraft, *, follows: str | None = None) -> Entry:
        """Add an entry; it is on the disk when this returns.
        Order is by number, whatever the clock says.
        """
        return self.record_all([draft], follows=follows)[0]

    def record_all(
        self, drafts: Iterable[EntryDraft], *, follows: str | None = None
    ) -> list[Entry]:
        """Add entries, all or none of them.

        `follows` is the hash of the last entry that their verdicts know of (empty:
        they know of none). If others were added since, nothing is recorded and Grown is raised.
        """
        return self._commits.do(Addition([checked(draft) for draft in drafts], follows))

    def entries(
        self, *, release: str | None = None, to: str | None = None, last: int | None = None
    ) -> Iterator[Entry]:
        """Entries in their order: those of a release, those that reached a client (also by way
        of the public), the last few.
        """
        if last is not None:
            return iter([*islice(self._walk(release, to, newest=True), max(0, last))][::-1])
        return self._walk(release, to, newest=False)

    def entry(self, number: int) -> Entry:
        """The entry with this number."""
        with self.store.reading() as ask:
            rows = (
                ask("SELECT number, body, hash FROM tacit_entries WHERE number = ?", number)
                if abs(number) < 1 << 63
                else []
            )
            if not rows:
                end = self._end(ask)[0]
                raise InputError(
                    f"there is no entry {number} in the ledger {self.where}.",
                    hint=f"It has the entries 1 to {end}."
                    if end > 1
                    else "It has one entry, 1."
                    if end
                    else "It has no entries yet.",
                )
            return next(rows_to_entries(self.book, rows))

    def held(self, tables: Collection[str] | None = None) -> list[Holding]:
        """What is published about these tables (all, if None), in the order of its
        entries, also what was withdrawn.

        Entries that gave the same to the same recipients are told once, with the latest number. An
        entry that names no table may be about any and is always told. Only entries that concern the
        tables are read, and each one's hash is checked; a ledger of up to 1,000 entries is checked
        whole, so that also what is missing is seen. In a larger one, only `verify` sees that.
        """
        with self.store.reading() as ask:
            if self._end(ask)[0] <= SMALL:
                for fault in faults(ask, self.book):
                    raise changed(self.where, fault.message)
            return holdings(ask, self.book, tables)

    def named(self, start: str) -> Iterator[Entry]:
        """The first entry of each release whose name begins so, found by index."""
        with self.store.reading() as ask:
            rows = ask(
                "SELECT number, body, hash FROM tacit_entries WHERE number IN (SELECT MIN(number) "
                "FROM tacit_entries WHERE release >= ? AND release < ? GROUP BY release) "
                "ORDER BY number",
                start,
                start[:-1] + chr(ord(start[-1]) + 1),
            )
        yield from rows_to_entries(self.book, rows)

    def verify(
        self, expect: str | None = None, job: Job | None = None, *, users: int = NOBODY
    ) -> Verified:
        """Was anything changed, put in another order, taken out or cut off since it was recorded?

        Who puts a whole older copy of the ledger in its place goes unseen, unless `expect` is a
        hash (of any entry, or `head()`) that was noted elsewhere: it has to be part of the chain.
        `users` is a version of the list of users that was noted elsewhere: it must not be older.
        """
        with self.store.reading() as ask:
            found = verify(ask, self.book, expect, job, users=users)
            unlike = [Fault("schema", None, one) for one in self.store.unlike(ask)]
        return replace(found, faults=(*found.faults, *unlike))

    def head(self) -> str:
        """The hash of the last entry, or of the empty ledger.
        Note it elsewhere and give it to `verify` later.
        """
        with self.store.reading() as ask:
            return self._end(ask)[1]

    def close(self) -> None:
        """Let the database go."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, additions: Sequence[Addition]) -> list[list[Entry]]:
        """Write what several callers add, all or none of it."""
        with self.store.writing() as ask:
            number, before, _ = self._end(ask)
            added = []
            for one in additions:
                if one.follows is not None and one.follows != (before if number else ""):
                    raise Grown
                entries = []
                for draft in one.drafts:
                    if draft.kind != "release":
                        self._check_known(ask, draft)
                    number += 1
                    entries.append(self._sealed(draft, number, before))
                    append(ask, self.book, entries[-1])
                    before = entries[-1].hash
                added.append(entries)
        return added

    def _end(self, ask: Ask) -> Head:
        """Number and hash of the last entry, as the sealed head says and the last row confirms."""
        return self.book.end(ask)

    def _walk(self, release: str | None, to: str | None, *, newest: bool) -> Iterator[Entry]:
        """Page by page, so that no transaction stays open; entries are never changed in between."""
        if release is not None and not is_plain(release):
            return  # no database would take the question
        sign, order = ("<", "DESC") if newest else (">", "ASC")
        only, values = ("AND release = ?", (release,)) if release is not None else ("", ())
        place = (1 << 63) - 1 if newest else -1
        while True:
            with self.store.reading() as ask:
                rows = ask(
                    f"SELECT number, body, hash FROM tacit_entries WHERE number {sign} ? {only} "
                    f"ORDER BY number {order} LIMIT {PAGE}",
                    place,
                    *values,
                )
            for entry in rows_to_entries(self.book, rows):
                if to is None or not entry.to or is_among(to, entry.to):
                    yield entry
            if len(rows) < PAGE:
                return
            place = rows[-1][0]

    def _check_known(self, ask: Ask, draft: EntryDraft) -> None:
        """What is withdrawn or corrected went out before, under that name."""
        known = {
            row[0]
            for row in ask(
                "SELECT number FROM tacit_entries WHERE release = ? AND kind <> 'withdrawal'",
                draft.release,
            )
        }
        if not known or not known.issuperset(draft.corrects):
            done = "withdrawn" if draft.kind == "withdrawal" else "corrected"
            raise InputError(
                f"the release {draft.release!r} is not in the ledger {self.where}, so it cannot "
                f"be {done}.",
                hint="tacit ledger list says what is published.",
            )

    def _sealed(self, draft: EntryDraft, number: int, before: str) -> Entry:
        said = {name: getattr(draft, name) for name in EntryDraft.__dataclass_fields__}
        entry = Entry(**said, number=number, at=self._now().astimezone(UTC), before=before, hash="")
        own = self.key.mac("entry", canonical(content(entry)).encode())
        return Entry(**said, number=number, at=entry.at, before=before, hash=own)


def append(ask: Ask, book: LedgerIdentity, entry: Entry) -> None:
    """Write an entry, what it concerns, and the new end of the chain."""
    body = canonical(content(entry))
    ask(
        "INSERT INTO tacit_entries (number, kind, release, body, hash) VALUES (?, ?, ?, ?, ?)",
        entry.number,
        entry.kind,
        entry.release,
        body,
        entry.hash,
    )
    for name in concerned(entry):
        ask(
            "INSERT INTO tacit_concerns (name, identity, number) VALUES (?, ?, ?)",
            name,
            identity(entry),
            entry.number,
        )
    users = ask("SELECT users FROM tacit_head")[0][0]
    book.move(ask, Head(entry.number, entry.hash, users))


def open_ledger(
    where: str, folder: Path, *, key: Key | None = None, create: bool = False
) -> Ledger:
    """The ledger that a plan names:
    a SQLite file (relative to the plan's folder) or postgresql://...

    Where there is none yet it is made if `create` says so, with a key if there is none either.
    A ledger that is there and whose key is lost is never continued with a new one.
    """
    store = store_of(where, folder)
    try:
        if store.begun():
            return Ledger(store, key or read_key(folder))
        if not create:
            raise no_ledger(where)
        # The key is made once the file is there:
        # a key without a ledger looks like a ledger that was lost.
        store.create(lambda ask: begin(ask, key or owners_key(folder)))
        return Ledger(store, key or read_key(folder))
    except BaseException:
        store.close()
        raise


def ledger_exists(where: str, folder: Path) -> bool:
    """Was a ledger begun there?"""
    store = store_of(where, folder)
    try:
        return store.begun()
    finally:
        store.close()


def store_of(where: str, folder: Path) -> LedgerStore:
    """The database of a ledger, not yet opened."""
    if where.startswith(POSTGRES):
        from tacit.ledger.postgres import PostgresStore

        return PostgresStore(where)
    from tacit.ledger.sqlite import SQLiteStore

    return SQLiteStore(folder / where, where)


def no_ledger(where: str) -> NoLedger:
    """Nothing was recorded yet; reading it as an empty ledger would hide a mistake in its path."""
    return NoLedger(
        f"there is no ledger {where} yet.",
        hint="Record what is published (tacit ledger record), or correct `ledger:` in the plan.",
    )


def begin(ask: Ask, key: Key) -> None:
    """Fill the tables of a new ledger."""
    book, begun = LedgerIdentity(key, secrets.token_hex(16), ""), time_text(datetime.now(UTC))
    ask(
        "INSERT INTO tacit_ledger (one, format, id, begun, proof) VALUES (1, ?, ?, ?, ?)",
        FORMAT,
        book.id,
        begun,
        proof_of(key, book.id, begun),
    )
    ask(
        "INSERT INTO tacit_head (one, number, hash, users, mac) VALUES (1, 0, ?, ?, ?)",
        book.empty(),
        NOBODY,
        book.seal(0, book.empty(), NOBODY),
    )
    ask(
        "INSERT INTO tacit_users_head (one, version, mac) VALUES (1, ?, ?)",
        NOBODY,
        list_seal(book, NOBODY, ()),
    )
