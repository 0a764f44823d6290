"""Who holds what by the ledger, against a walk through all its entries."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from checking.keeping import plan_of
from checking.test_what_is_out import asking
from tacit.checking.holdings.shares import Holder, coalitions, holders, worst
from tacit.ledger.entries import Entry, EntryDraft, LedgerVerdict
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.plan.plan import Plan

KEY = Key(bytes(range(32)))
CLIENTS = ("bank", "clinic", "press")
CHECK = {
    "gamma-privacy": {
        "release": "late",
        "gamma": "1/2",
        "collude": [["press", "bank"], ["bank", "clinic", "press"]],
    }
}


@pytest.fixture
def plan() -> Plan:
    return plan_of(
        asking(
            CHECK,
            {"k-sind": {"releases": ["male", "late"], "k": 2, "collude": [["bank", "press"]]}},
        )
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    clock = iter(
        datetime(2026, 4, 1, tzinfo=UTC) + timedelta(hours=number) for number in range(10_000)
    )
    made = open_ledger("out.sqlite", tmp_path, key=KEY, create=True)
    made._now = lambda: next(clock)
    return made


def draft(rng: random.Random) -> EntryDraft:
    release = rng.choice(["male", "late", "gone"])
    status = rng.choice(["holds", "holds", "undecided", "breached"])
    return EntryDraft(
        kind="release",
        release=release,
        shape="view",
        tables=rng.choice([("patients",), ("patients", "wards"), ()]),
        to=tuple(rng.sample(CLIENTS, rng.choice([0, 1, 1, 2]))),
        by="owner",
        plan=KEY.mac("plan", b""),
        definition=KEY.mac("definition", release.encode()),
        answer=KEY.mac("answer", bytes([rng.randrange(2)])),
        verdicts=(LedgerVerdict("k-sind", None, status, "exact"),),
    )


def by_hand(entries: Sequence[Entry], who: Sequence[str]) -> dict[tuple[str, bool], list[Entry]]:
    """The entries that gave each release to somebody, by way of the public or not."""
    found: dict[tuple[str, bool], list[Entry]] = {}
    for one in entries:
        if one.kind == "release" and (not one.to or set(one.to) & set(who)):
            found.setdefault((one.release, not one.to), []).append(one)
    return found


def things(entries: Sequence[Entry]) -> dict[object, list[Entry]]:
    """Entries that give the same to the same, one after the other."""
    found: dict[object, list[Entry]] = {}
    for one in entries:
        found.setdefault((one.tables, one.to, one.answer), []).append(one)
    return found


def withdrawn(entries: Sequence[Entry], given: Sequence[Entry]) -> datetime | None:
    """When all that was given had ended; None where some of it had not."""
    ends = []
    for same in things(given).values():
        last = same[-1]
        after = [
            one
            for one in entries
            if one.kind == "withdrawal" and one.release == last.release and one.number > last.number
        ]
        ended = [one.at for one in after if not one.to or (last.to and set(last.to) <= set(one.to))]
        if not ended:
            return None
        ends.append(ended[0])
    return max(ends)


def check(found: Holder, entries: Sequence[Entry]) -> None:
    expected = by_hand(entries, found.who)
    assert {(one.release, one.public) for one in found.shares} == set(expected)
    for one in found.shares:
        given = expected[one.release, one.public]
        assert (one.since, one.last, one.entry) == (given[0].at, given[-1].at, given[-1].number)
        assert one.entries == len(given) and one.outputs == len({entry.answer for entry in given})
        assert one.status == given[-1].verdicts[0].status and set(one.tables) == {
            name for entry in given for name in entry.tables
        }
        assert one.withdrawn == withdrawn(entries, given), (one, given)
    assert [one.since for one in found.shares] == sorted(one.since for one in found.shares)


def test_who_holds_what_is_what_the_entries_say(plan: Plan, ledger: Ledger) -> None:
    rng = random.Random(3)
    assert all(not one.shares for one in holders(plan, ledger))
    for _ in range(90):
        new = draft(rng)
        if rng.random() < 0.2 and any(one.release == new.release for one in ledger.entries()):
            new = EntryDraft(
                kind="withdrawal",
                release=new.release,
                shape="view",
                tables=(),
                to=new.to,
                by="owner",
                plan=new.plan,
                definition=new.definition,
                answer=None,
            )
        ledger.record(new)
        found, entries = holders(plan, ledger), list(ledger.entries())
        assert [one.who for one in found] == [
            (),
            ("bank",),
            *([("clinic",)]),
            ("press",),
            ("bank", "press"),
            ("bank", "clinic", "press"),
        ]
        for one in found:
            check(one, entries)
    ledger.close()


def test_groups_are_told_once_and_words_are_plain(plan: Plan) -> None:
    assert coalitions(plan) == [("bank", "press"), ("bank", "clinic", "press")]
    assert Holder(("a", "b", "c"), ()).called == "a, b and c together"
    assert worst(["holds", "undecided"]) == "undecided" and worst(["holds"]) == "holds"


def test_an_entry_that_was_changed_is_not_believed(plan: Plan, ledger: Ledger) -> None:
    from tacit.ledger.checked_rows import Changed

    rng = random.Random(5)
    ledger.record_all(draft(rng) for _ in range(6))
    with ledger.store.writing() as ask:
        for (name,) in ask("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            ask(f"DROP TRIGGER {name}")
        ask("UPDATE tacit_entries SET body = replace(body, 'holds', 'HOLDS')")
    with pytest.raises(Changed):
        holders(plan, ledger)
    ledger.close()


def test_a_recipient_in_other_letters_holds_all_of_theirs(plan: Plan, ledger: Ledger) -> None:
    one = draft(random.Random(3))
    for release, to in (
        ("male", "BANK"),
        ("late", "bank"),
        ("gone", "Nobody Else"),
        ("male", "nobody else"),
    ):
        ledger.record(replace(one, release=release, to=(to,)))
    found = {one.who: one.releases for one in holders(plan, ledger)}
    assert found[("bank",)] == ("male", "late") and found[("bank", "press")] == ("male", "late")
    assert [who for who in found if len(who) == 1] == [
        ("Nobody Else",),
        ("bank",),
        ("clinic",),
        ("press",),
    ]
    assert set(found[("Nobody Else",)]) == {"gone", "male"}
    ledger.close()
