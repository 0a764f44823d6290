"""What is read from the tables is checked before it is believed."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tacit.errors import DataError, InputError
from tacit.ledger.entries import GIVES, Entry, parsed
from tacit.ledger.key import VARIABLE, Key
from tacit.ledger.schema import FORMAT
from tacit.ledger.store import Ask, Row

PAGE = 1_000  # rows at a time
ANY = ""  # the table of an entry that names none
NO_HEAD = "the head was not made with the owner's key."


class Changed(DataError):
    """Somebody without the key wrote to the ledger."""


class Head(NamedTuple):
    """The end of the ledger: number and hash of the last entry, and
    the version of the list of users.
    """

    number: int
    hash: str
    users: int


@dataclass(frozen=True, slots=True)
class LedgerIdentity:
    """Which ledger it is: its key, its random id, and how messages call it."""

    key: Key
    id: str
    where: str

    def empty(self) -> str:
        """The hash that the first entry follows: that of an empty ledger with this id."""
        return self.key.mac("empty", self.id.encode())

    def seal(self, number: int, own: str, users: int) -> str:
        """What the head has to carry to be believed."""
        return self.key.mac("head", f"{self.id} {number} {own} {users}".encode())

    def head(self, ask: Ask) -> Head | None:
        """What the head says; None where the owner's key did not make it."""
        rows = ask("SELECT number, hash, users, mac FROM tacit_head")
        if len(rows) != 1:
            return None
        *said, mac = rows[0]
        head = Head(*said)
        return head if same(self.seal(*head), mac) else None

    def move(self, ask: Ask, head: Head) -> None:
        """Write another head."""
        ask(
            "UPDATE tacit_head SET number = ?, hash = ?, users = ?, mac = ? WHERE one = 1",
            *head,
            self.seal(*head),
        )

    def end(self, ask: Ask) -> Head:
        """The head; an error unless it and the last row agree."""
        head = self.head(ask)
        if head is None:
            raise changed(self.where, NO_HEAD)
        last = ask("SELECT number, hash FROM tacit_entries ORDER BY number DESC LIMIT 1")
        if (last or [(0, self.empty())])[0] != head[:2]:
            raise changed(self.where, f"it does not end with entry {head.number} as it should.")
        return head

    def fits(self, body: object, own: object) -> bool:
        """Did the owner's key make this hash from this body?"""
        return isinstance(body, str) and same(
            self.key.mac("entry", body.encode("utf-8", "surrogateescape")), own
        )


def same(expected: str, found: object) -> bool:
    """Compare two hashes without telling by the time it takes where they differ."""
    return isinstance(found, str) and found.isascii() and hmac.compare_digest(expected, found)


def changed(where: str, what: str) -> Changed:
    """Someone without the key was at the ledger."""
    return Changed(
        f"the ledger {where} was changed: {what}",
        hint=(
            "Run: tacit ledger verify. Then put it back from your copy and find out who "
            "wrote to it."
        ),
    )


def concerned(entry: Entry) -> tuple[str, ...]:
    """Under which tables an entry is looked up. Withdrawals are found by the release's name."""
    if entry.kind not in GIVES:
        return ()
    return entry.tables or (ANY,)


def rows_to_entries(book: LedgerIdentity, rows: Iterable[Row]) -> Iterator[Entry]:
    """Entries from (number, body, hash), each checked."""
    for number, body, own in rows:
        if not book.fits(body, own):
            raise changed(book.where, f"entry {number} is not what was recorded.")
        entry = parsed(body, own)
        if entry.number != number:
            raise changed(book.where, f"entry {entry.number} stands at place {number}.")
        yield entry


def read_book(ask: Ask, key: Key, where: str) -> LedgerIdentity:
    """The ledger's own row; an InputError where it is of a later
    format or was begun with another key.
    """
    rows = ask("SELECT format, id, begun, proof FROM tacit_ledger")
    if len(rows) != 1:
        raise changed(where, "its first row is gone.")
    version, own, begun, proof = rows[0]
    if version != FORMAT:
        raise InputError(
            f"the ledger {where} has format {version}; this Tacit reads format {FORMAT}.",
            hint="Use the Tacit that wrote it, or a newer one.",
        )
    if not same(proof_of(key, own, begun), proof):
        raise InputError(
            f"this key is not the one the ledger {where} was begun with.",
            hint=f"Put the right key back from your copy, or say where it is: {VARIABLE}=FILE.",
        )
    return LedgerIdentity(key, own, where)


def proof_of(key: Key, own: str, begun: str) -> str:
    """What only the key that a ledger was begun with can write into its first row."""
    return key.mac("ledger", f"{FORMAT} {own} {begun}".encode())
