"""Paging: a few entries of a long ledger by their place, without reading those before;
and which entries reached a client.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence

from tacit.ledger.checked_rows import changed, rows_to_entries
from tacit.ledger.entries import Entry, is_plain
from tacit.ledger.ledger import Ledger
from tacit.ledger.store import chunks
from tacit.model.jobs import Job
from tacit.model.recipients import is_among

STEP = 5_000  # rows that are looked at between two words about progress

# Both stand once in a body: within texts JSON writes a quotation mark as \", and no other key has a
# list of texts behind it.
TO, AFTER = '"to":[', '],"verdicts":['


def size(ledger: Ledger, release: str | None = None) -> int:
    """How many entries there are, or how many speak of a release."""
    with ledger.store.reading() as ask:
        if release is None:
            return ledger.book.end(ask).number
        return (
            int(ask("SELECT COUNT(*) FROM tacit_entries WHERE release = ?", release)[0][0])
            if is_plain(release)
            else 0
        )


def page(
    ledger: Ledger, offset: int, limit: int, *, release: str | None = None, newest: bool = True
) -> list[Entry]:
    """The entries from a place on, the newest first (or the oldest).
    Each one's hash is checked, and that none is missing between them.

    Without a release the place says the number; with one the index is walked along.
    A million entries are no matter.
    """
    order = "DESC" if newest else "ASC"
    with ledger.store.reading() as ask:
        if release is not None:
            rows = (
                ask(
                    f"SELECT number FROM tacit_entries WHERE release = ? ORDER BY number {order} "
                    "LIMIT ? OFFSET ?",
                    release,
                    limit,
                    offset,
                )
                if is_plain(release)
                else []
            )
            numbers: Sequence[int] = [row[0] for row in rows]
        else:
            end = ledger.book.end(ask).number
            places = range(offset + 1, min(offset + limit, end) + 1)
            numbers = [end + 1 - place for place in places] if newest else list(places)
    return those(ledger, numbers)


def those(ledger: Ledger, numbers: Sequence[int]) -> list[Entry]:
    """The entries with these numbers, in this order; an error where one is gone."""
    found: dict[int, Entry] = {}
    with ledger.store.reading() as ask:
        for some in chunks(list(numbers)):
            marks = ", ".join("?" for _ in some)
            rows = ask(
                f"SELECT number, body, hash FROM tacit_entries WHERE number IN ({marks})", *some
            )
            found |= {entry.number: entry for entry in rows_to_entries(ledger.book, rows)}
    if missing := [number for number in numbers if number not in found]:
        raise changed(ledger.where, f"entry {missing[0]} is missing.")
    return [found[number] for number in numbers]


def beginnings(ledger: Ledger) -> dict[str, tuple[int, int]]:
    """By identity the first entry about something, and how many there are."""
    with ledger.store.reading() as ask:
        rows = ask(
            "SELECT identity, MIN(number), COUNT(DISTINCT number) FROM tacit_concerns GROUP BY "
            "identity"
        )
    return {own: (first, many) for own, first, many in rows}


def reaching(
    ledger: Ledger, client: str, *, release: str | None = None, job: Job | None = None
) -> array[int]:
    """The numbers of the entries that reached a client, also by way
    of the public, the oldest first.

    All entries are looked at once; their hashes are checked when they are shown.
    """
    found: array[int] = array("q")
    for number, to in _recipients(ledger, release, job or Job()):
        if not to or is_among(client, to):
            found.append(number)
    return found


def _recipients(ledger: Ledger, release: str | None, job: Job) -> Iterator[tuple[int, list[str]]]:
    """Each entry's number and recipients, read from its body only as far as that takes."""
    if release is not None and not is_plain(release):
        return
    only, values = ("AND release = ?", (release,)) if release is not None else ("", ())
    last, place = max(1, size(ledger)), 0
    while True:
        job.step(f"looking at entry {place + 1:,}", min(1.0, place / last))
        with ledger.store.reading() as ask:
            rows = ask(
                f"SELECT number, body FROM tacit_entries WHERE number > ? {only} ORDER BY number "
                f"LIMIT {STEP}",
                place,
                *values,
            )
        for number, body in rows:
            yield number, recipients_in(str(body), number, ledger.where)
        if len(rows) < STEP:
            return
        place = rows[-1][0]


def recipients_in(body: str, number: int, where: str) -> list[str]:
    r"""The recipients that the body of an entry names;
    a body without them is not what was recorded.

    >>> recipients_in('{"note":"\\"to\\":[","tables":[],"to":["a","b"],"verdicts":[]}', 1, "ledger")
    ['a', 'b']
    """
    begin, end = body.find(TO), body.find(AFTER)
    if 0 <= begin < end:
        text = body[begin + len(TO) - 1 : end + 1]
        try:
            return [] if text == "[]" else [str(one) for one in json.loads(text)]
        except ValueError:
            pass
    raise changed(where, f"entry {number} is not what was recorded.")
