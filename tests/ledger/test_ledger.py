"""The ledger as it is used: recorded, listed, held, withdrawn, checked;
in a file and in a database.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import oracles.ledger as by_hand
from tacit.errors import DataError, EngineError, InputError, TacitError
from tacit.ledger import verify as verifying
from tacit.ledger.entries import Entry, EntryDraft, LedgerVerdict, content, time_text
from tacit.ledger.held_releases import holdings
from tacit.ledger.key import Key
from tacit.ledger.ledger import Grown, Ledger, append, ledger_exists, open_ledger
from tacit.ledger.paging import reaching
from tacit.model.jobs import Cancelled, Job

Drafts = Callable[..., EntryDraft]


def rows(ledger: Ledger) -> tuple[list[Any], tuple[Any, ...]]:
    with ledger.store.reading() as ask:
        entries = ask("SELECT number, kind, release, body, hash FROM tacit_entries ORDER BY number")
        return entries, ask("SELECT number, hash, users, mac FROM tacit_head")[0]


def test_what_is_recorded_is_there_and_chained(
    ledger: Ledger, draft: Drafts, secret: bytes
) -> None:
    empty = ledger.head()
    verdicts = (
        LedgerVerdict("k-anonymity", None, "holds", "exact"),
        LedgerVerdict("gamma-privacy", "cancer", "undecided", "bound"),
    )
    first = ledger.record(
        draft(
            "april", to=("b", "a", "b"), tables=("u", "t"), verdicts=verdicts, note="Überblick\n2"
        )
    )
    second = ledger.record(
        draft(
            "ghosts",
            shape="synthetic",
            to=(),
            spent={"epsilon": "23/5", "delta": "1/100000", "guarantee": "dp"},
        )
    )
    assert (first.number, second.number) == (1, 2)
    assert (first.to, first.tables, first.verdicts) == (("a", "b"), ("t", "u"), verdicts)
    assert (first.before, second.before, ledger.head()) == (empty, first.hash, second.hash)
    assert list(ledger.entries()) == [first, second] == [ledger.entry(1), ledger.entry(2)]
    assert by_hand.chain(*rows(ledger), ledger.id, secret)
    assert ledger.verify().intact and ledger.verify().to_json()["entries"] == 2
    assert first.at.tzinfo is UTC and datetime.now(UTC) - first.at < timedelta(minutes=1)


def test_an_entry_is_recorded_only_after_what_it_knows_of(ledger: Ledger, draft: Drafts) -> None:
    first = ledger.record(draft("april"), follows="")
    for late in ("", "0" * 64):
        with pytest.raises(Grown):
            ledger.record(draft("may"), follows=late)
    assert ledger.record(draft("may"), follows=first.hash).number == 2


def test_an_entry_prints_as_json(ledger: Ledger, draft: Drafts) -> None:
    entry = ledger.record(draft())
    said = json.loads(json.dumps(entry.to_json()))
    assert (
        said["at"].endswith("Z")
        and said["verdicts"][0]["status"] == "holds"
        and said["to"] == ["clinic"]
    )
    assert set(said) == {
        "kind",
        "release",
        "shape",
        "tables",
        "to",
        "by",
        "plan",
        "definition",
        "answer",
        "verdicts",
        "spent",
        "note",
        "people",
        "version",
        "corrects",
        "wrong",
        "ties",
        "query",
        "number",
        "at",
        "before",
        "hash",
    }
    assert ledger.held(["patients"])[0].to_json()["withdrawn"] is None


def test_entries_are_found_by_release_by_recipient_and_from_the_end(
    ledger: Ledger, draft: Drafts
) -> None:
    for number in range(12):
        ledger.record(
            draft("odd" if number % 2 else "even", to=() if number == 3 else (f"c{number % 3}",))
        )
    numbers = lambda **asked: [one.number for one in ledger.entries(**asked)]  # noqa: E731
    assert numbers() == list(range(1, 13))
    assert numbers(release="odd") == [2, 4, 6, 8, 10, 12]
    assert numbers(to="c0") == [1, 4, 7, 10]  # the fourth went to the public
    assert numbers(release="odd", to="c1") == [2, 4, 8]
    assert numbers(last=3) == [10, 11, 12] and numbers(release="even", last=2) == [9, 11]
    assert (
        numbers(last=0)
        == numbers(release="none")
        == numbers(release="\ud800")
        == numbers(release="a\0b")
        == []
    )


def test_pages_do_not_show(ledger: Ledger, draft: Drafts, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(11):
        ledger.record(draft())
    for module in ("tacit.ledger.ledger.PAGE", "tacit.ledger.verify.PAGE"):
        monkeypatch.setattr(module, 3)
    assert [one.number for one in ledger.entries()] == list(range(1, 12))
    assert [one.number for one in ledger.entries(last=7)] == list(range(5, 12))
    assert ledger.verify().entries == 11 and ledger.verify().intact


@pytest.mark.parametrize("number", [0, -1, 2, 1 << 80, -(1 << 80)])
def test_an_entry_that_is_not_there_is_an_error(ledger: Ledger, draft: Drafts, number: int) -> None:
    with pytest.raises(InputError, match=rf"there is no entry {number} "):
        ledger.entry(number)
    ledger.record(draft())
    with pytest.raises(InputError, match=rf"there is no entry {number} .*It has one entry, 1\."):
        ledger.entry(number)


# --- what is held ---------------------------------------------------------------------------------


def test_the_same_for_the_same_recipients_is_told_once(
    ledger: Ledger, draft: Drafts, key: Key
) -> None:
    for _ in range(3):
        ledger.record(draft("april"))
    ledger.record(draft("april", to=("press",)))
    ledger.record(draft("april", answer=key.mac("answer", b"2")))
    ledger.record(draft("may", tables=("wards",)))
    assert [(one.release, one.entry, one.to) for one in ledger.held(["patients"])] == [
        ("april", 3, ("clinic",)),
        ("april", 4, ("press",)),
        ("april", 5, ("clinic",)),
    ]
    assert (
        [one.entry for one in ledger.held(["wards", "patients"])]
        == [one.entry for one in ledger.held()]
        == [3, 4, 5, 6]
    )
    assert ledger.held(["nothing"]) == ledger.held(["\ud800", "a\0b"]) == ledger.held([]) == []


def test_answers_that_nobody_knows_count_each(ledger: Ledger, draft: Drafts) -> None:
    for _ in range(2):
        ledger.record(
            draft(
                "ghosts", shape="synthetic", answer=None, spent={"epsilon": "1", "guarantee": "dp"}
            )
        )
        ledger.record(draft("rule", shape="constraint", answer=None))
    assert [(one.release, one.entry) for one in ledger.held()] == [
        ("ghosts", 1),
        ("ghosts", 3),
        ("rule", 4),
    ]


def test_an_entry_without_tables_is_about_any(ledger: Ledger, draft: Drafts) -> None:
    ledger.record(draft("rule", shape="constraint", tables=(), answer=None))
    assert [one.release for one in ledger.held(["patients"])] == ["rule"]


def test_a_withdrawn_release_stays_held(ledger: Ledger, draft: Drafts) -> None:
    ledger.record(draft("april", to=("a",)))
    ledger.record(draft("april", to=("b",)))
    ledger.record(draft("april", to=()))
    taken = ledger.record(draft("april", kind="withdrawal", to=("a", "c"), answer=None))
    assert [one.withdrawn for one in ledger.held(["patients"])] == [taken.at, None, None]
    for_all = ledger.record(draft("april", kind="withdrawal", to=(), answer=None))
    assert [one.withdrawn for one in ledger.held(["patients"])] == [
        taken.at,
        for_all.at,
        for_all.at,
    ]
    ledger.record(draft("april", to=("a",)))  # given again
    assert [(one.entry, one.withdrawn) for one in ledger.held(["patients"])] == [
        (2, for_all.at),
        (3, for_all.at),
        (6, None),
    ]


def test_what_is_not_out_cannot_be_withdrawn(ledger: Ledger, draft: Drafts) -> None:
    ledger.record(draft("april"))
    with pytest.raises(InputError, match="'mai' is not in the ledger"):
        ledger.record(draft("mai", kind="withdrawal"))
    assert len(list(ledger.entries())) == 1


class UndoneError(Exception):
    pass


def test_random_ledgers_hold_what_all_pairs_say(
    tmp_path: Path, draft: Drafts, key: Key, secret: bytes
) -> None:
    rng = random.Random(9)
    hashes = [key.mac("answer", bytes([one])) for one in range(2)]
    ledger = open_ledger("out.sqlite", tmp_path, key=key, create=True)
    for _ in range(1_500):
        drafts = [
            draft(
                rng.choice("rs"),
                kind=rng.choices(["release", "withdrawal"], [4, 1])[0],
                tables=tuple(sorted(rng.sample("tuv", rng.randint(0, 2)))),
                to=tuple(sorted(rng.sample("ab", rng.randint(0, 2)))),
                answer=rng.choice([None, *hashes]),
                shape=rng.choice(["view", "constraint"]),
                spent=rng.choice([{}, {}, {"epsilon": "1"}]),
            )
            for _ in range(rng.randint(0, 9))
        ]
        with pytest.raises(UndoneError), ledger.store.writing() as ask:
            entries: list[Entry] = []
            before = ledger.book.empty()
            for number, one in enumerate(drafts, 1):
                entries.append(ledger._sealed(one, number, before))
                append(ask, ledger.book, entries[-1])
                before = entries[-1].hash
            said = [content(entry) for entry in entries]
            for tables in (None, [], ["t"], ["t", "u"], ["w"]):
                told = [
                    (one.entry, one.withdrawn and time_text(one.withdrawn))
                    for one in holdings(ask, ledger.book, tables)
                ]
                assert told == by_hand.held(said, tables)
            assert verifying.verify(ask, ledger.book).intact
            found = ask(
                "SELECT number, kind, release, body, hash FROM tacit_entries ORDER BY number"
            )
            assert by_hand.chain(
                found, ask("SELECT number, hash, users, mac FROM tacit_head")[0], ledger.id, secret
            )
            assert by_hand.concerns(found) == dict.fromkeys(
                ask("SELECT name, number FROM tacit_concerns"), 1
            )
            raise UndoneError
    ledger.close()


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"release": ""},
        {"release": " a"},
        {"release": "a\nb"},
        {"release": "a\0"},
        {"release": "\ud800"},
        {"release": "x" * 201},
        {"release": 3},
        {"by": ""},
        {"by": None},
        {"to": ("",)},
        {"to": "clinic"},
        {"tables": "patients"},
        {"tables": ("a\tb",)},
        {"kind": "gift"},
        {"shape": "a picture"},
        {"plan": "abc"},
        {"definition": "SELECT name FROM patients"},
        {"definition": None},
        {"answer": "17 patients"},
        {"answer": b"1"},
        {"spent": {"epsilon": 1}},
        {"spent": {1: "1"}},
        {"note": "x" * 2_001},
        {"note": "\x1b[2J"},
        {"note": None},
        {"verdicts": (LedgerVerdict("k", None, 1, "exact"),)},  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_what_cannot_be_kept_is_refused(
    tmp_path: Path, draft: Drafts, key: Key, wrong: dict[str, Any]
) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        with pytest.raises(InputError):
            ledger.record(draft(**wrong))
        assert not list(ledger.entries()) and ledger.record(draft()).number == 1


def test_odd_names_are_kept(ledger: Ledger, draft: Drafts) -> None:
    names = (
        "l'été",
        "患者",
        "a b",
        "x; DROP TABLE tacit_entries",
        "%s ? :1",
        "non\u00a0breaking",
        "😀",
        '"quoted"',
    )
    entry = ledger.record(draft(names[0], tables=names, to=names, by=names[3], note="'); --"))
    assert ledger.entry(1) == entry and ledger.verify().intact
    assert all(ledger.held([name])[0].entry == 1 for name in names)
    assert [one.number for one in ledger.entries(release=names[0], to=names[4])] == [1]


def test_there_is_no_ledger_before_something_is_recorded(
    place: str, tmp_path: Path, key: Key
) -> None:
    assert not ledger_exists(place, tmp_path)
    with pytest.raises(InputError, match=r"there is no ledger .* yet") as caught:
        open_ledger(place, tmp_path)
    assert "tacit ledger record" in str(caught.value.hint)
    assert not list(tmp_path.iterdir())
    open_ledger(place, tmp_path, create=True).close()
    assert ledger_exists(place, tmp_path)
    open_ledger(place, tmp_path, create=True).close()  # the same again


def test_a_wrong_key_is_told_and_a_lost_one_is_not_replaced(
    place: str, tmp_path: Path, draft: Drafts
) -> None:
    with open_ledger(place, tmp_path, create=True) as ledger:
        ledger.record(draft())
    with pytest.raises(InputError, match=r"this key is not the one the ledger .* was begun with"):
        open_ledger(place, tmp_path, key=Key(bytes(32)))
    path = tmp_path / "tacit-ledger.key"
    mine = path.read_text("ascii")
    path.unlink()
    for create in (False, True):
        with pytest.raises(InputError, match="there is no key of the ledger"):
            open_ledger(place, tmp_path, create=create)
    assert not path.exists()
    path.write_text("0" * 64, "ascii")
    path.chmod(0o600)
    with pytest.raises(InputError, match="this key is not the one"):
        open_ledger(place, tmp_path, create=True)
    path.write_text(mine, "ascii")
    with open_ledger(place, tmp_path) as ledger:
        assert ledger.verify().intact


def test_a_later_format_is_not_read(ledger: Ledger, place: str, tmp_path: Path, key: Key) -> None:
    with ledger.store.writing() as ask:
        if "postgres" in place:
            ask("ALTER TABLE tacit_ledger DISABLE TRIGGER ALL")
        else:
            ask("DROP TRIGGER tacit_ledger_update")
        ask("UPDATE tacit_ledger SET format = 2")
    with pytest.raises(InputError, match="has format 2; this Tacit reads format 1"):
        open_ledger(place, tmp_path, key=key)


def test_a_clock_that_goes_backwards_is_recorded_and_noted(
    place: str, tmp_path: Path, draft: Drafts, key: Key
) -> None:
    open_ledger(place, tmp_path, key=key, create=True).close()
    times = iter([datetime(2026, 4, day, tzinfo=UTC) for day in (3, 2, 2, 9, 1)])
    with open_ledger(place, tmp_path, key=key) as opened:
        ledger = Ledger(opened.store, key, clock=lambda: next(times))
        for _ in range(5):
            ledger.record(draft())
        assert [one.at.day for one in ledger.entries()] == [3, 2, 2, 9, 1]
        found = ledger.verify()
        assert found.intact and len(found.notes) == 2
        assert found.notes[0].startswith(
            "entry 2 is dated 2026-04-02T00:00:00.000000Z, before"
        ) and found.notes[1].startswith("entry 5")
        assert [one.entry for one in ledger.held(["patients"])] == [5]


def test_a_clock_in_another_zone_is_kept_in_utc(
    place: str, tmp_path: Path, draft: Drafts, key: Key
) -> None:
    from datetime import timezone

    noon = datetime(2026, 4, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    with open_ledger(place, tmp_path, key=key, create=True) as opened:
        entry = Ledger(opened.store, key, clock=lambda: noon).record(draft())
        assert entry.to_json()["at"] == "2026-04-01T12:00:00.000000Z" and opened.entry(1) == entry


def test_verify_tells_where_it_is_and_stops_when_asked(ledger: Ledger, draft: Drafts) -> None:
    for _ in range(3):
        ledger.record(draft())
    told: list[tuple[str, float]] = []
    assert ledger.verify(job=Job(lambda text, share: told.append((text, share)))).intact
    assert told == [("checking entry 1", 0.0)]
    stopped = Job()
    stopped.cancel()
    with pytest.raises(Cancelled):
        ledger.verify(job=stopped)
    assert ledger.record(draft()).number == 4


def test_expected_hashes(ledger: Ledger, draft: Drafts) -> None:
    empty = ledger.head()
    entry = ledger.record(draft())
    ledger.record(draft())
    assert (
        ledger.verify(empty).expected,
        ledger.verify(entry.hash).expected,
        ledger.verify(ledger.head()).expected,
    ) == (0, 1, 2)
    found = ledger.verify("0" * 64)
    assert (
        not found.intact
        and [one.code for one in found.faults] == ["expected"]
        and "older copy" in found.faults[0].message
    )
    for wrong in (
        "",
        "abc",
        "0" * 63,
        entry.hash.upper() if entry.hash.upper() != entry.hash else "G" * 64,
    ):
        with pytest.raises(InputError, match="is not a hash"):
            ledger.verify(wrong)


def test_threads_share_a_ledger(ledger: Ledger, draft: Drafts) -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                ledger.record(draft())
                ledger.held(["patients"])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (
        not failed
        and [one.number for one in ledger.entries()] == list(range(1, 61))
        and ledger.verify().intact
    )


# --- places ---------------------------------------------------------------------------------------


def test_files_that_are_no_ledger_are_told(tmp_path: Path, key: Key) -> None:
    import sqlite3

    (tmp_path / "text").write_text("no database at all, whatever its name may be. " * 50)
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (x)").connection.close()
    (tmp_path / "folder").mkdir()
    for name, words in (
        ("text", "not a SQLite file"),
        ("other", "not a ledger"),
        ("folder", "cannot be opened"),
        ("no/where", "there is no ledger"),
    ):
        with pytest.raises(TacitError, match=words):
            open_ledger(name, tmp_path, key=key)
    with pytest.raises(InputError, match="cannot be made: no such file"):
        open_ledger("no/where", tmp_path, key=key, create=True)
    with pytest.raises(EngineError, match="not a SQLite file"):
        open_ledger("text", tmp_path, key=key, create=True)


def test_a_file_that_was_just_made_is_continued(tmp_path: Path, key: Key, draft: Drafts) -> None:
    (tmp_path / "out.sqlite").touch()
    with pytest.raises(InputError, match="there is no ledger"):
        open_ledger("out.sqlite", tmp_path, key=key)
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        assert ledger.record(draft()).number == 1


def test_the_file_is_the_owners_and_waits_for_the_disk(
    tmp_path: Path, key: Key, draft: Drafts
) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        ledger.record(draft())
        assert {one.stat().st_mode & 0o777 for one in tmp_path.iterdir()} == {0o600}
        connection = ledger.store._connection()  # type: ignore[attr-defined]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone()[0] >= 2
    assert [one.name for one in tmp_path.iterdir()] == ["out.sqlite"]


def test_another_file_in_its_place_is_seen(tmp_path: Path, key: Key, draft: Drafts) -> None:
    with open_ledger("out.sqlite", tmp_path, key=key, create=True) as ledger:
        ledger.record(draft())
        with open_ledger("other.sqlite", tmp_path, key=key, create=True) as other:
            other.record(draft())
        (tmp_path / "other.sqlite").rename(tmp_path / "out.sqlite")
        for beside in ("out.sqlite-wal", "out.sqlite-shm"):
            (tmp_path / beside).unlink()
        with pytest.raises(DataError, match="was changed"):
            ledger.record(draft())
        (tmp_path / "out.sqlite").unlink()
        with pytest.raises(EngineError, match="is gone"):
            ledger.head()


def test_entries_of_another_ledger_do_not_fit(tmp_path: Path, key: Key, draft: Drafts) -> None:
    with (
        open_ledger("one", tmp_path, key=key, create=True) as one,
        open_ledger("two", tmp_path, key=key, create=True) as two,
    ):
        one.record(draft())
        two.record(draft())
        with one.store.reading() as ask:
            taken = ask("SELECT number, kind, release, body, hash FROM tacit_entries")[0]
        with two.store.writing() as ask:
            ask("DROP TRIGGER tacit_entries_delete")
            ask("DELETE FROM tacit_entries")
            ask("INSERT INTO tacit_entries VALUES (?, ?, ?, ?, ?)", *taken)
        assert not two.verify().intact


@pytest.mark.slow
def test_a_database_that_cannot_be_reached_is_told_without_the_password(
    tmp_path: Path, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    for url in ("postgresql://me:geheim@127.0.0.1:1/none", "postgresql://%ZZgeheim@/x"):
        with pytest.raises(TacitError) as caught:
            open_ledger(url, tmp_path, key=key)
        assert "geheim" not in str(caught.value) and "ledger" in str(caught.value)
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(TacitError, match=r"pip install 'tacit-privacy\[postgres\]'"):
        open_ledger("postgresql:///x", tmp_path, key=key)


@pytest.mark.slow
def test_a_connection_that_the_server_ended_is_made_again(
    ledger_url: str, tmp_path: Path, key: Key, draft: Drafts
) -> None:
    import psycopg

    with (
        psycopg.connect(ledger_url, autocommit=True) as admin,
        open_ledger(ledger_url, tmp_path, key=key, create=True) as ledger,
    ):
        ledger.record(draft())
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid()"
        )
        assert ledger.record(draft()).number == 2 and ledger.verify().intact
        with pytest.raises(EngineError, match="last moment"), ledger.store.writing() as ask:
            ask("SELECT 1")
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                "current_database() AND pid <> pg_backend_pid()"
            )
        assert ledger.record(draft()).number == 3
        admin.execute("DROP TABLE tacit_head")
        with pytest.raises(DataError, match="no table tacit_head"):
            open_ledger(ledger_url, tmp_path, key=key)


def test_recipients_are_found_and_withdrawn_from_in_any_letters(
    ledger: Ledger, draft: Drafts
) -> None:
    ledger.record(draft("april", to=("Insurer",)))
    ledger.record(draft("april", to=("INSURER",)))
    assert [one.to for one in ledger.entries(to="insurer ")] == [
        ("Insurer",),
        ("INSURER",),
    ] and list(reaching(ledger, "insurer")) == [1, 2]
    ledger.record(draft("april", kind="withdrawal", to=("insurer",)))
    assert all(one.withdrawn for one in ledger.held())
