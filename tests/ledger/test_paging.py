"""Pages of a ledger by place, release and recipient:
the same entries as when all are read one after the other.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.ledger.checked_rows import Changed
from tacit.ledger.entries import EntryDraft
from tacit.ledger.ledger import Ledger
from tacit.ledger.paging import page, reaching, recipients_in, size, those
from tacit.model.jobs import Cancelled, Job

Drafts = Callable[..., EntryDraft]
RELEASES = ("april", "may", 'say "to":[]')
CLIENTS = ("clinic", "bank", ",", '"', '"to":[', "]", "Zoë")


def filled(ledger: Ledger, draft: Drafts, many: int) -> None:
    rng = random.Random(7)
    ledger.record_all(
        draft(
            rng.choice(RELEASES),
            to=tuple(rng.sample(CLIENTS, rng.choice([0, 1, 1, 2]))),
            note=rng.choice(["", '"to":["clinic"],"verdicts":[', "x"]),
        )
        for _ in range(many)
    )


def test_pages_are_what_a_walk_through_the_whole_ledger_finds(
    ledger: Ledger, draft: Drafts
) -> None:
    assert page(ledger, 0, 25) == [] and size(ledger) == 0 and not reaching(ledger, "clinic")
    filled(ledger, draft, 120)
    rng = random.Random(8)
    for _ in range(400):
        release, newest = rng.choice([None, *RELEASES, "never"]), rng.random() < 0.5
        offset, limit = rng.randrange(0, 140), rng.randrange(1, 60)
        every = [one for one in ledger.entries() if release in (None, one.release)]
        ordered = every[::-1] if newest else every
        assert (
            page(ledger, offset, limit, release=release, newest=newest)
            == ordered[offset : offset + limit]
        )
        assert size(ledger, release) == len(every)


def test_what_reached_a_client_is_found_whatever_it_is_called(
    ledger: Ledger, draft: Drafts
) -> None:
    filled(ledger, draft, 90)
    for client in (*CLIENTS, "nobody", "clin", ""):
        for release in (None, *RELEASES, "never", "a\0b"):
            every = [
                one.number for one in ledger.entries(to=client) if release in (None, one.release)
            ]
            assert list(reaching(ledger, client, release=release)) == every
    assert [one.number for one in those(ledger, [7, 3, 90])] == [7, 3, 90]


def test_looking_for_a_client_tells_how_far_it_is_and_stops(
    ledger: Ledger, draft: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.ledger.paging.STEP", 10)
    filled(ledger, draft, 45)
    told: list[float] = []
    assert len(reaching(ledger, "clinic", job=Job(lambda text, share: told.append(share)))) == len(
        [*ledger.entries(to="clinic")]
    )
    assert told == sorted(told) and len(told) == 5
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        reaching(ledger, "clinic", job=job)


def test_a_page_with_a_hole_or_a_forged_entry_is_not_shown(tmp_path: Path, draft: Drafts) -> None:
    from tacit.ledger.ledger import open_ledger

    with open_ledger("out.sqlite", tmp_path, create=True) as ledger:
        filled(ledger, draft, 20)
    with sqlite3.connect(tmp_path / "out.sqlite") as direct:
        for (name,) in direct.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            direct.execute(f"DROP TRIGGER {name}")
        direct.execute("DELETE FROM tacit_entries WHERE number = 9")
        direct.execute(
            'UPDATE tacit_entries SET body = replace(body, \'"by":"owner"\', \'"by":"nobody"\') '
            "WHERE number = 4"
        )
        direct.execute("UPDATE tacit_entries SET body = 'gone' WHERE number = 2")
    direct.close()
    with open_ledger("out.sqlite", tmp_path) as ledger:
        assert [one.number for one in page(ledger, 0, 5)] == [20, 19, 18, 17, 16]
        with pytest.raises(Changed, match="entry 9 is missing"):
            page(ledger, 10, 5)
        with pytest.raises(Changed, match="entry 4 is not what was recorded"):
            page(ledger, 15, 3)
        with pytest.raises(Changed, match="entry 2 is not what was recorded"):
            reaching(ledger, "clinic")


def test_a_body_without_recipients_is_not_what_was_recorded() -> None:
    for body in (
        "",
        "{}",
        '{"to":["a","verdicts":[]}',
        '{"to":[a],"verdicts":[]}',
        '],"verdicts":["to":[',
    ):
        with pytest.raises(Changed):
            recipients_in(body, 1, "ledger")
