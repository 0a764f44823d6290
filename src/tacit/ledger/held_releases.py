"""What is held: the releases that are published about some tables, found by index and never by
reading the whole ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tacit.ledger.checked_rows import ANY, LedgerIdentity, changed, concerned, rows_to_entries
from tacit.ledger.entries import Entry, Shape, Tie, identity, is_plain, time_text
from tacit.ledger.store import Ask, chunks
from tacit.model.recipients import folded

# The latest entry of each thing that was given. The index is walked from one thing to the next, so
# that a release that is recorded every night for years costs one step and not thousands.
LATEST = """
    WITH RECURSIVE seen (identity) AS (
        SELECT MIN(identity) FROM tacit_concerns WHERE name = ?
        UNION ALL
        SELECT (SELECT MIN(c.identity) FROM tacit_concerns c WHERE c.name = ? AND c.identity > seen.identity)
        FROM seen WHERE seen.identity IS NOT NULL
    )
    SELECT seen.identity, (SELECT MAX(c.number) FROM tacit_concerns c WHERE c.name = ? AND c.identity = seen.identity)
    FROM seen WHERE seen.identity IS NOT NULL"""  # noqa: E501

NAMES = """
    WITH RECURSIVE seen (name) AS (
        SELECT MIN(name) FROM tacit_concerns
        UNION ALL
        SELECT (SELECT MIN(c.name) FROM tacit_concerns c WHERE c.name > seen.name) FROM seen WHERE seen.name IS NOT NULL
    )
    SELECT name FROM seen WHERE name IS NOT NULL"""  # noqa: E501

WITHDRAWN = (
    "SELECT number, body, hash FROM tacit_entries WHERE kind = 'withdrawal' AND release IN "
    "({marks}) ORDER BY number"
)


@dataclass(frozen=True, slots=True)
class Holding:
    """A release that some have: `to` lists them, nobody means the public.
    What was withdrawn is known to them still.
    """

    release: str
    shape: Shape
    to: tuple[str, ...]
    tables: tuple[str, ...]
    definition: str
    answer: str | None
    entry: int
    at: datetime
    withdrawn: datetime | None
    spent: Mapping[str, str]
    people: str | None = None
    ties: tuple[Tie, ...] = ()
    corrected: int | None = None  # the number of the entry that corrects it

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        said = {name: getattr(self, name) for name in self.__dataclass_fields__}
        times = {
            "at": time_text(self.at),
            "withdrawn": self.withdrawn and time_text(self.withdrawn),
        }
        return {
            **said,
            **times,
            "to": list(self.to),
            "tables": list(self.tables),
            "spent": dict(self.spent),
            "ties": [list(one) for one in self.ties],
        }


def holdings(ask: Ask, book: LedgerIdentity, tables: Collection[str] | None) -> list[Holding]:
    """What is published about these tables, in the order of the entries."""
    found = _latest(ask, tables)
    entries = [entry for some in chunks(sorted(found)) for entry in _entries(ask, book, some)]
    if len(entries) != len(found):
        raise changed(book.where, "an entry that is looked up is gone.")
    for entry in entries:
        if not found[entry.number] <= {(identity(entry), name) for name in concerned(entry)}:
            raise changed(book.where, f"entry {entry.number} is listed for what it does not say.")
    return list(_describe_entry(ask, book, entries))


def _latest(ask: Ask, tables: Collection[str] | None) -> dict[int, set[tuple[str, str]]]:
    """Entries to be read: by number, the identities and tables under which they are listed."""
    names = (
        [row[0] for row in ask(NAMES)]
        if tables is None
        else sorted({*filter(is_plain, tables), ANY})
    )
    found: dict[int, set[tuple[str, str]]] = {}
    for name in names:
        for own, number in ask(LATEST, name, name, name):
            found.setdefault(number, set()).add((own, name))
    return found


def _entries(ask: Ask, book: LedgerIdentity, numbers: Collection[int]) -> Iterator[Entry]:
    rows = ask(
        f"SELECT number, body, hash FROM tacit_entries WHERE number IN ({_marks(numbers)}) ORDER "
        "BY number",
        *numbers,
    )
    yield from rows_to_entries(book, rows)


def _describe_entry(ask: Ask, book: LedgerIdentity, entries: list[Entry]) -> Iterator[Holding]:
    withdrawals = _withdrawals(ask, book, sorted({entry.release for entry in entries}))
    corrected = {
        number: entry.number
        for entry in entries
        if entry.kind == "correction"
        for number in entry.corrects
    }
    for entry in entries:
        at = next((one.at for one in withdrawals.get(entry.release, ()) if _ends(one, entry)), None)
        yield Holding(
            entry.release,
            entry.shape,
            entry.to,
            entry.tables,
            entry.definition,
            entry.answer,
            entry.number,
            entry.at,
            at,
            entry.spent,
            entry.people,
            entry.ties,
            corrected.get(entry.number),
        )


def _withdrawals(ask: Ask, book: LedgerIdentity, releases: list[str]) -> dict[str, list[Entry]]:
    """All withdrawals of these releases, each list in order."""
    found: dict[str, list[Entry]] = {}
    for some in chunks(releases):
        for one in rows_to_entries(book, ask(WITHDRAWN.format(marks=_marks(some)), *some)):
            found.setdefault(one.release, []).append(one)
    return found


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" for _ in values)


def _ends(withdrawal: Entry, entry: Entry) -> bool:
    """Was it withdrawn later, from everybody or from all who had it?"""
    if withdrawal.number < entry.number or withdrawal.kind != "withdrawal":
        return False
    return not withdrawal.to or (
        bool(entry.to) and set(map(folded, entry.to)) <= set(map(folded, withdrawal.to))
    )
