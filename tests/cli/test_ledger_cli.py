"""`tacit ledger` as a data steward runs it: what is published, what was changed, and what is
refused."""

from __future__ import annotations

import csv
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.ledger.entries import Entry, EntryDraft, LedgerVerdict
from tacit.ledger.ledger import open_ledger
from tacit.model.verdict import Certificate

PLAN = """\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    key: [name]
    sensitive: [condition]
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
  staff: {columns: [name, ward], key: [name], rows: [[Weber, A], [Mayer, B]], nullable: []}
secrets:
  sick: "S(n, c) :- patients(n, s, a, c)"
releases:
  wards:     {query: "SELECT name, ward FROM staff"}
  male:      {query: "SELECT condition FROM patients WHERE sex = 'M'", to: [insurer]}
  age26to28: {query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28", to: [clinic]}
  plain:     {query: "SELECT sex FROM patients"}
published: [ledger]
checks:
  - perfect-privacy: {secret: sick, release: wards}
  - gamma-privacy: {releases: [male], gamma: 0.5, name: men}
  - gamma-privacy: {releases: [age26to28], gamma: 0.5, name: late}
"""
ZERO = "0" * 64
PERSONAL = ("Donald", "Alan", "SARS", "Heart", "Viral")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)
    return tmp_path


def draft(
    release: str, *to: str, kind: Any = "release", status: str = "holds", **more: Any
) -> EntryDraft:
    return EntryDraft(
        kind,
        release,
        "view",
        ("patients",),
        to,
        "weber",
        ZERO,
        ZERO,
        ZERO,
        (LedgerVerdict("gamma-privacy", "men", status, "exact"),),
        **more,
    )


def recorded(folder: Path, *drafts: EntryDraft) -> list[Entry]:
    with open_ledger("tacit-ledger.sqlite", folder, create=True) as ledger:
        return [ledger.record(one) for one in drafts]


def flat(text: str) -> str:
    return " ".join(text.split())


def change(folder: Path, statement: str) -> None:
    """What somebody does who can write to the file: drop what guards it, then change it."""
    with sqlite3.connect(folder / "tacit-ledger.sqlite") as database:
        for (name,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        database.execute(statement)


# -- list ------------------------------------------------------------------------------------------


def test_a_list_says_what_went_to_whom_and_when(tacit: Any, folder: Path) -> None:
    entries = recorded(
        folder,
        draft("male", "insurer"),
        draft("wards"),
        draft("male", "insurer", kind="withdrawal"),
    )
    ran = tacit("ledger", "list")
    lines = ran.out.splitlines()
    assert ran.status == 0 and lines[0].split() == [
        "no.",
        "when",
        "(UTC)",
        "release",
        "kind",
        "to",
        "by",
        "checks",
    ]
    day = entries[0].at.strftime("%Y-%m-%d")
    assert flat(lines[1]).startswith(f"1 {day}") and flat(lines[1]).endswith(
        "male view insurer weber holds"
    )
    assert flat(lines[2]).endswith("wards view everybody weber holds") and "withdrawn" in lines[3]
    assert "tacit ledger show 3 --plan tacit.yaml" in ran.out and "tacit ledger verify" in flat(
        ran.out
    )


def test_a_list_may_be_about_one_client_or_one_release(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("male", "insurer"), draft("wards"), draft("late", "clinic"))

    def numbers(*words: str) -> list[int]:
        return [one["number"] for one in tacit("ledger", "list", "--json", *words).json["entries"]]

    assert numbers() == [1, 2, 3]
    assert numbers("--to", "insurer") == [1, 2]  # what is public reaches them as well
    assert numbers("--to", "nobody") == [2]
    assert numbers("--release", "late") == [3]
    assert numbers("--release", "late", "--to", "insurer") == []


def test_a_long_list_is_cut_at_its_beginning_and_says_so(tacit: Any, folder: Path) -> None:
    recorded(folder, *[draft(f"r{number}") for number in range(60)])
    printed = tacit("ledger", "list", "--json").json
    assert [one["number"] for one in printed["entries"]] == list(range(11, 61)) and printed[
        "earlier"
    ] is True
    assert "earlier entries are left out; --last 100 shows more" in tacit("ledger", "list").out
    printed = tacit("ledger", "list", "--json", "--last", "60").json
    assert len(printed["entries"]) == 60 and printed["earlier"] is False
    assert [
        one["number"] for one in tacit("ledger", "list", "--json", "--last", "1").json["entries"]
    ] == [60]


def test_a_breach_stands_out_in_the_list(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("male", status="breached"))
    assert "BREACHED" in tacit("ledger", "list").out


def test_an_empty_list_names_the_next_step(tacit: Any, folder: Path) -> None:
    recorded(folder)
    ran = tacit("ledger", "list")
    assert (
        ran.status == 0
        and "The ledger has no entry." in ran.out
        and "tacit ledger record RELEASE" in ran.out
    )
    ran = tacit("ledger", "list", "--release", "male", "--to", "insurer")
    assert "no entry of release male for insurer" in ran.out


@pytest.mark.parametrize("command", [["list"], ["show", "1"], ["verify"], ["withdraw", "male"]])
def test_a_ledger_that_is_not_there_is_not_an_empty_one(
    tacit: Any, folder: Path, command: list[str]
) -> None:
    ran = tacit("ledger", *command)
    assert ran.status == 2 and "ledger" in ran.err and ran.out == ""
    assert [path.name for path in folder.iterdir()] == ["tacit.yaml"]


@pytest.mark.parametrize("words", [("list",), ("show", "1"), ("verify",)])
def test_a_ledger_that_is_gone_while_its_key_is_there_is_not_an_empty_one(
    tacit: Any, folder: Path, words: tuple[str, ...]
) -> None:
    recorded(folder, draft("male", "insurer"))
    ledger = folder / "tacit-ledger.sqlite"
    for lose in (ledger.unlink, ledger.touch):
        lose()
        ran = tacit("ledger", *words)
        assert ran.status == 2 and "what is published is not known. Put the ledger back" in flat(
            ran.err
        )


# -- show ------------------------------------------------------------------------------------------


def test_an_entry_is_shown_with_its_verdicts_and_hashes(tacit: Any, folder: Path) -> None:
    (entry,) = recorded(
        folder, draft("male", "insurer", "clinic", note="contract 17", spent={"epsilon": "23/5"})
    )
    ran = tacit("ledger", "show", "1")
    assert ran.status == 0
    for said in (
        "given to clinic and insurer",
        "contract 17",
        "epsilon 23/5",
        "gamma-privacy (men)",
        "holds",
        entry.hash,
        entry.before,
        "by weber",
        "entry 1",
    ):
        assert said in flat(ran.out), said
    assert tacit("ledger", "show", "1", "--json").json == entry.to_json()


def test_names_and_notes_are_printed_as_they_are(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("[/x] [bold]male", "[red]ins", note="see [1] and [/file]\nand more"))
    for words in (("list",), ("show", "1")):
        ran = tacit("ledger", *words)
        assert ran.status == 0 and "[/x] [bold]male" in flat(ran.out) and "[red]ins" in ran.out
    assert "see [1] and [/file]" in tacit("ledger", "show", "1").out


def test_a_withdrawal_says_that_nobody_forgets(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("male", "insurer"), draft("male", "insurer", kind="withdrawal"))
    assert "withdrawn from insurer; whoever had it still knows it" in flat(
        tacit("ledger", "show", "2").out
    )


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("7", "there is no entry 7"),
        ("0", "0 is not in the range"),
        ("x", "'x'"),
        ("9" * 30, "there is no entry"),
    ],
)
def test_an_entry_that_is_not_there(tacit: Any, folder: Path, number: str, said: str) -> None:
    recorded(folder, draft("male"))
    ran = tacit("ledger", "show", number)
    assert ran.status == 2 and said in ran.err and "Traceback" not in ran.err


# -- verify ----------------------------------------------------------------------------------------


def test_a_ledger_that_nobody_changed(tacit: Any, folder: Path) -> None:
    entries = recorded(folder, draft("male"), draft("wards"))
    ran = tacit("ledger", "verify")
    assert (
        ran.status == 0
        and "2 entries checked" in ran.out
        and "nothing was changed" in ran.out
        and entries[-1].hash in ran.out
    )
    assert "older copy" in ran.out and "--expect HASH" in ran.out
    printed = tacit("ledger", "verify", "--json").json
    assert (
        printed["intact"] is True
        and printed["head"] == entries[-1].hash
        and printed["faults"] == []
    )


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tacit_entries SET body = replace(body, 'weber', 'mayer') WHERE number = 2",
        (
            "UPDATE tacit_entries SET body = replace(body, '\"holds\"', '\"breached\"') WHERE "
            "number = 1"
        ),
        "UPDATE tacit_entries SET release = 'other' WHERE number = 2",
        "DELETE FROM tacit_entries WHERE number = 2",
        "DELETE FROM tacit_entries WHERE number = 3",
        "UPDATE tacit_head SET number = 2",
    ],
)
def test_a_change_is_found(tacit: Any, folder: Path, statement: str) -> None:
    recorded(folder, draft("male"), draft("wards"), draft("late", "clinic"))
    change(folder, statement)
    ran = tacit("ledger", "verify")
    assert (
        ran.status == 1 and "CHANGED" in ran.out and "- " in ran.out and "Traceback" not in ran.err
    )
    printed = tacit("ledger", "verify", "--json")
    assert printed.status == 1 and printed.json["intact"] is False and printed.json["faults"]


def test_an_older_copy_is_found_by_a_hash_that_was_noted(tacit: Any, folder: Path) -> None:
    first, second = recorded(folder, draft("male"), draft("wards"))
    ran = tacit("ledger", "verify", "--expect", first.hash)
    assert ran.status == 0 and "The hash that you noted is that of entry 1." in ran.out
    old = (folder / "tacit-ledger.sqlite").read_bytes()
    (third,) = recorded(folder, draft("late"))
    assert not (folder / "tacit-ledger.sqlite-wal").exists()
    (folder / "tacit-ledger.sqlite").write_bytes(old)
    assert (
        tacit("ledger", "verify").status == 0
    )  # as the documentation says: it cannot be seen without
    ran = tacit("ledger", "verify", "--expect", third.hash)
    assert ran.status == 1 and "older copy" in ran.out
    assert tacit("ledger", "verify", "--expect", second.hash).status == 0


def test_many_faults_are_not_all_printed(tacit: Any, folder: Path) -> None:
    recorded(folder, *[draft(f"r{number}") for number in range(30)])
    change(folder, "UPDATE tacit_entries SET body = replace(body, 'weber', 'mayer')")
    ran = tacit("ledger", "verify")
    assert ran.status == 1 and "and 17 more, see --json" in ran.out
    assert [one["code"] for one in tacit("ledger", "verify", "--json").json["faults"]] == [
        "changed"
    ] * 30 + ["schema"] * 7  # its triggers


def test_a_wrong_hash_or_a_wrong_key_is_wrong_input(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("male"))
    ran = tacit("ledger", "verify", "--expect", "abc")
    assert ran.status == 2 and "'abc' is not a hash" in ran.err
    (folder / "tacit-ledger.key").write_text("11" * 32 + "\n", "utf-8")
    for command in (["verify"], ["list"], ["show", "1"], ["record", "wards"]):
        ran = tacit("ledger", *command)
        assert ran.status == 2 and "key" in ran.err and "11111111" not in ran.err
    (folder / "tacit-ledger.key").unlink()
    ran = tacit("ledger", "verify", "--json")
    assert (
        ran.status == 2
        and "there is no key" in ran.json["error"]["message"]
        and "TACIT_KEY_FILE" in ran.json["error"]["hint"]
    )


# -- record ----------------------------------------------------------------------------------------


def test_what_holds_is_recorded_and_then_written(tacit: Any, folder: Path) -> None:
    ran = tacit(
        "ledger",
        "record",
        "wards",
        "-o",
        "wards.csv",
        "--by",
        "M. Weber",
        "--note",
        "for the board",
    )
    assert (
        ran.status == 0
        and "entry 1" in ran.out
        and "give wards.csv to everybody" in flat(ran.out)
        and "tacit ledger show 1" in ran.out
    )
    with (folder / "wards.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["name", "ward"] and len(rows) == 3
    entry = tacit("ledger", "show", "1", "--json").json
    assert (
        entry["release"] == "wards"
        and entry["to"] == []
        and entry["by"] == "M. Weber"
        and entry["note"] == "for the board"
    )
    assert [one["status"] for one in entry["verdicts"]] == ["holds"] and len(entry["answer"]) == 64


def test_the_plan_says_who_gets_it_unless_you_do(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "male", "--json").json["to"] == ["insurer"]
    assert sorted(
        tacit("ledger", "record", "male", "--to", "clinic", "--to", "archive", "--json").json["to"]
    ) == ["archive", "clinic"]
    assert tacit("ledger", "record", "male", "--public", "--json").json["to"] == []
    ran = tacit("ledger", "record", "male", "--public", "--to", "clinic")
    assert ran.status == 2 and "exclude each other" in ran.err
    assert [one["to"] for one in tacit("ledger", "list", "--json").json["entries"]] == [
        ["insurer"],
        ["archive", "clinic"],
        [],
    ]


def test_a_breach_is_refused_and_nothing_is_written(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "male", "--public").status == 0
    ran = tacit(
        "ledger", "record", "age26to28", "-o", "late.csv"
    )  # together with male: Donald has SARS in 36 of 45 tables
    assert (
        ran.status == 1
        and "REFUSED" in ran.out
        and "not recorded" in ran.out
        and "BREACHED" in ran.out
    )
    assert "tacit check tacit.yaml --only age26to28" in flat(
        ran.out
    ) and "tacit ledger record age26to28 --to clinic --out-already" in flat(ran.out)
    assert (
        not (folder / "late.csv").exists()
        and len(tacit("ledger", "list", "--json").json["entries"]) == 1
    )


def test_who_does_not_hold_the_other_view_may_get_this_one(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "male").status == 0
    assert tacit("ledger", "record", "age26to28").status == 0
    assert tacit("ledger", "record", "age26to28", "--to", "insurer").status == 1


def test_what_is_out_already_is_recorded_with_its_breach(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male", "--public")
    ran = tacit("ledger", "record", "age26to28", "--out-already", "--json")
    assert (
        ran.status == 0
        and ran.json["recorded"] is True
        and ran.json["verdicts"][0]["status"] == "breached"
    )
    assert ran.json["entries"][0]["verdicts"][0]["status"] == "breached"
    assert "BREACHED" in tacit("ledger", "list").out


def test_what_is_out_already_is_recorded_and_never_written(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male")
    ran = tacit(
        "ledger", "record", "age26to28", "--to", "insurer", "--out-already", "-o", "raw.csv"
    )
    assert (
        ran.status == 2
        and "--out-already records what is published; it writes nothing." in flat(ran.err)
        and "Leave --output out" in flat(ran.err)
    )
    assert not (folder / "raw.csv").exists() and [
        one["release"] for one in tacit("ledger", "list", "--json").json["entries"]
    ] == ["male"]
    assert (
        tacit("ledger", "record", "male", "--out-already", "-o", "raw.csv").status == 2
    )  # whatever its checks say
    # What is suggested after a refusal names no file either, and says what it does.
    ran = tacit("ledger", "record", "age26to28", "--to", "insurer", "-o", "raw.csv")
    assert ran.status == 1 and (
        "only if insurer has it already: tacit ledger record age26to28 --to insurer --out-already"
    ) in flat(ran.out)
    ran = tacit("ledger", "record", "age26to28", "--to", "insurer", "--out-already")
    assert ran.status == 0 and "give " not in ran.out and not (folder / "raw.csv").exists()


def test_the_json_of_a_refusal(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male", "--public")
    ran = tacit("ledger", "record", "age26to28", "--json")
    assert (
        ran.status == 1
        and ran.json["recorded"] is False
        and ran.json["entries"] == []
        and ran.json["verdicts"][0]["status"] == "breached"
    )
    assert set(ran.json) == {
        "releases",
        "to",
        "recorded",
        "entries",
        "output",
        "because",
        "verdicts",
        "seconds",
    }


def test_what_is_undecided_is_refused_with_3(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male")
    text = PLAN.replace("WHERE sex = 'M'", "WHERE sex = 'F'")
    (folder / "tacit.yaml").write_text(text, "utf-8")
    ran = tacit("ledger", "record", "age26to28", "--to", "insurer", "--json")
    assert ran.status == 3 and ran.json["recorded"] is False
    assert ran.json["verdicts"][0]["reason"]["code"] == "release-changed"


def test_shared_output_has_no_personal_values(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male", "--public")
    for words in ((), ("--json",)):
        ran = tacit("ledger", "record", "age26to28", "--audience", "shared", *words)
        assert ran.status == 1 and not [value for value in PERSONAL if value in ran.out + ran.err]


def test_the_ledger_has_no_personal_values(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male", "--public")
    tacit("ledger", "record", "age26to28", "--out-already")
    for path in folder.glob("tacit-ledger*"):
        assert not [value for value in PERSONAL if value.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("mael",), "mael"),
        (("plain",), "plain"),
        (("male", "--answer", "none.csv"), "none.csv"),
        (("male", "--to", " "), "recipient"),
        (("male", "-o", "tacit.yaml"), "tacit.yaml"),
        (("male", "-o", "no/such/folder.csv"), "no"),
    ],
)
def test_a_wrong_record_is_refused_in_words(
    tacit: Any, folder: Path, words: tuple[str, ...], said: str
) -> None:
    ran = tacit("ledger", "record", *words)
    assert ran.status == 2 and said in ran.err and "Traceback" not in ran.err
    assert (folder / "tacit.yaml").read_text("utf-8") == PLAN
    with_entries = (folder / "tacit-ledger.sqlite").exists() and tacit(
        "ledger", "list", "--json"
    ).json["entries"]
    assert not with_entries


# -- withdraw --------------------------------------------------------------------------------------


def test_a_withdrawn_release_is_still_known(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male", "--public")
    ran = tacit("ledger", "withdraw", "male", "--note", "by mistake")
    assert ran.status == 0 and "entry 2" in ran.out and "tacit check tacit.yaml" in ran.out
    assert tacit("ledger", "record", "age26to28").status == 1
    assert tacit("ledger", "show", "2", "--json").json["note"] == "by mistake"


def test_a_release_is_withdrawn_from_some(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male", "--to", "clinic", "--to", "insurer")
    ran = tacit("ledger", "withdraw", "male", "--to", "clinic", "--by", "weber", "--json")
    assert ran.status == 0 and [one["to"] for one in ran.json["entries"]] == [["clinic"]]
    assert (
        ran.json["entries"][0]["kind"] == "withdrawal" and ran.json["entries"][0]["by"] == "weber"
    )


def test_what_never_went_out_cannot_be_withdrawn(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male")
    for words in (("wards",), ("male", "--to", "clinic")):
        ran = tacit("ledger", "withdraw", *words)
        assert ran.status == 2 and "Traceback" not in ran.err
    assert len(tacit("ledger", "list", "--json").json["entries"]) == 1


# -- recheck ---------------------------------------------------------------------------------------


def test_what_is_out_is_checked_again_and_stands(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male")
    ran = tacit("ledger", "recheck")
    assert ran.status == 0 and "all of it stands" in ran.out
    [one] = tacit("ledger", "recheck", "--json").json["recorded"]
    assert (
        one["entry"],
        one["release"],
        one["then"],
        one["now"],
        one["stands"],
        one["causes"],
    ) == (1, "male", "holds", "holds", True, [])
    assert one["verdicts"][0]["check"] == "gamma-privacy" and one["verdicts"][0]["who"] == [
        "insurer"
    ]


def causes(tacit: Any, entry: int = 1) -> list[str]:
    one = next(
        one
        for one in tacit("ledger", "recheck", "--json").json["recorded"]
        if one["entry"] == entry
    )
    assert not one["stands"]
    return [cause["code"] for cause in one["causes"]]


def test_what_no_longer_stands_is_named_with_what_went_out_since(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male")
    tacit("ledger", "record", "age26to28", "--to", "insurer", "--out-already")
    ran = tacit("ledger", "recheck")
    assert (
        ran.status == 1
        and "2 of 2 do not stand" in ran.out
        and "age26to28 (entry 2) went out since (released-since)" in flat(ran.out)
    )
    assert causes(tacit) == ["released-since"] and causes(tacit, 2) == ["did-not-hold"]
    assert not any(
        name in tacit("ledger", "recheck", "--audience", "shared").out for name in PERSONAL
    )


def test_what_no_longer_stands_because_data_or_plan_changed(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "male")
    (folder / "tacit.yaml").write_text(
        PLAN.replace("[Bob, M, 24, SARS]", "[Bob, M, 24, Flu]"), "utf-8"
    )
    ran = tacit("ledger", "recheck")
    assert (
        ran.status == 3
        and "the data give male another answer today (data-changed)" in flat(ran.out)
        and causes(tacit) == ["plan-changed", "data-changed"]
    )
    (folder / "tacit.yaml").write_text(
        PLAN.replace("WHERE sex = 'M'", "WHERE sex = 'M' AND age < 40"), "utf-8"
    )
    assert tacit("ledger", "recheck").status == 3 and causes(tacit) == ["plan-changed"]
    (folder / "tacit.yaml").write_text(PLAN.replace("male", "boys"), "utf-8")
    ran = tacit("ledger", "recheck")
    assert (
        ran.status == 3
        and "no release male any more" in ran.out
        and causes(tacit) == ["plan-changed"]
    )


def test_what_no_longer_stands_because_another_version_judged_it(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.checking.recording.record.__version__", "0.0.9")
    with_check = PLAN.replace("gamma: 0.5, name: men", "gamma: 0.4, name: men")
    (folder / "tacit.yaml").write_text(with_check, "utf-8")
    from tacit.checking import assess

    real = assess.by_itself  # as if that version had not seen the breach

    def blind(*asked: Any) -> Any:
        found = real(*asked)
        held = replace(found.verdict, status="holds", evidence=Certificate("crowd"))
        return replace(found, verdict=held)

    monkeypatch.setattr(assess, "by_itself", blind)
    monkeypatch.setattr(assess, "is_alone", lambda check, plan: True)
    assert tacit("ledger", "record", "male").status == 0
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    ran = tacit("ledger", "recheck")
    assert ran.status == 1 and "judged by Tacit 0.0.9" in flat(ran.out)
    assert causes(tacit) == ["other-version"]


def test_a_release_without_a_check_and_an_empty_ledger(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "recheck").status == 2
    tacit("ledger", "begin")
    assert tacit("ledger", "recheck").status == 0
    tacit("ledger", "record", "plain", "--out-already")
    ran = tacit("ledger", "recheck")
    assert ran.status == 3 and "no check of the plan is about plain (no-check)" in flat(ran.out)


def test_help_says_how_it_ends(tacit: Any) -> None:
    assert "1 refused" in flat(
        tacit("ledger", "record", "--help").out
    ) and "1 something was" in flat(tacit("ledger", "verify", "--help").out)
    ran = tacit("ledger")
    assert ran.status == 2 and ran.err.startswith("Usage: tacit ledger")


def test_json_is_one_object_and_nothing_else(tacit: Any, folder: Path) -> None:
    for words in (
        ("record", "wards"),
        ("list",),
        ("show", "1"),
        ("verify",),
        ("withdraw", "wards"),
    ):
        ran = tacit("ledger", *words, "--json")
        assert ran.status == 0 and ran.err == "" and isinstance(json.loads(ran.out), dict)


@pytest.mark.slow
def test_a_ledger_in_postgresql(tacit: Any, folder: Path, ledger_url: str) -> None:
    (folder / "tacit.yaml").write_text(
        PLAN.replace("version: 1\n", f"version: 1\nledger: {json.dumps(ledger_url)}\n"), "utf-8"
    )
    assert tacit("ledger", "record", "male", "--public").status == 0
    assert tacit("ledger", "record", "age26to28").status == 1
    assert tacit("ledger", "withdraw", "male").status == 0
    assert [one["kind"] for one in tacit("ledger", "list", "--json").json["entries"]] == [
        "release",
        "withdrawal",
    ]
    assert tacit("ledger", "verify").status == 0
    assert not (folder / "tacit-ledger.sqlite").exists()


def test_a_ledger_is_begun_where_only_its_key_is(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "male").status == 0
    for file in folder.glob("tacit-ledger.sqlite*"):
        file.unlink()
    for command in (
        ("check",),
        ("ledger", "record", "male"),
        ("ledger", "record", "male", "--out-already"),
    ):
        ran = tacit(*command)
        assert (
            ran.status == 2
            and "what is published is not known" in ran.err
            and "tacit ledger begin --plan tacit.yaml" in flat(ran.err)
        )
    assert not (folder / "tacit-ledger.sqlite").exists()
    ran = tacit("ledger", "begin")
    assert ran.status == 0 and "an empty ledger" in ran.out and "keep a copy" in ran.out
    assert tacit("ledger", "verify").status == 0 and tacit("check", "--only", "men").status == 0
    again = tacit("ledger", "begin", "--json")
    assert again.status == 2 and "already" in again.out + again.err
    printed = tacit("ledger", "begin", "--json", "--plan", other_plan(folder)).json
    assert printed["ledger"] == "second.sqlite" and len(printed["head"]) == 64


def other_plan(folder: Path) -> str:
    (folder / "other.yaml").write_text(PLAN + "ledger: second.sqlite\n", "utf-8")
    return "other.yaml"


def test_a_plan_that_is_wrong_elsewhere_keeps_nobody_from_looking(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("male"))
    (folder / "tacit.yaml").write_text(
        PLAN.replace("gamma: 0.5", "gamma: 7").replace("sex = 'M'", "sax ="), "utf-8"
    )
    assert tacit("check").status == 2
    for command in (("list",), ("show", "1"), ("verify",)):
        assert tacit("ledger", *command).status == 0
    (folder / "tacit.yaml").write_text(PLAN + "ledger: [x]\n", "utf-8")
    assert tacit("ledger", "list").status == 2


def test_so_much_is_gone_that_there_is_no_chain(tacit: Any, folder: Path) -> None:
    recorded(folder, draft("male"))
    change(folder, "DROP TABLE tacit_head")
    ran = tacit("ledger", "verify")
    assert ran.status == 1 and "CHANGED" in ran.out and "has no table tacit_head" in flat(ran.out)


def test_the_version_of_the_users_is_told_and_expected(tacit: Any, folder: Path) -> None:
    from tacit.ledger.users import Users

    with open_ledger("tacit-ledger.sqlite", folder, create=True) as ledger:
        Users(ledger).add("nora", ["nurses"])
    ran = tacit("ledger", "verify")
    assert "version 1 of their list" in ran.out and "--expect HASH --expect-users 1" in flat(
        ran.out
    )
    assert tacit("ledger", "verify", "--expect-users", "1").status == 0
    ran = tacit("ledger", "verify", "--expect-users", "2")
    assert ran.status == 1 and "you have noted version 2" in flat(ran.out)


def test_several_releases_at_once(tacit: Any, folder: Path) -> None:
    ran = tacit("ledger", "record", "male", "age26to28", "--public")
    assert ran.status == 1 and "REFUSED" in ran.out
    assert "tacit check tacit.yaml --only male --only age26to28" in flat(
        ran.out
    ) and "ledger record male age26to28 --public --out-already" in flat(ran.out)
    ran = tacit("ledger", "record", "male", "age26to28", "--to", "a", "--out-already", "--json")
    assert ran.json["releases"] == ["male", "age26to28"] and [
        one["number"] for one in ran.json["entries"]
    ] == [1, 2]


def test_a_file_that_a_kill_kept_from_coming_is_written_again(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "wards", "-o", "wards.csv").status == 0
    whole = sorted((folder / "wards.csv").read_text().splitlines())
    assert (folder / "wards.csv").stat().st_mode & 0o777 == 0o600
    (folder / "wards.csv").unlink()
    ran = tacit("ledger", "repair", "1", "-o", "again.csv")
    assert ran.status == 0 and "as entry 1 recorded it" in ran.out
    assert sorted((folder / "again.csv").read_text().splitlines()) == whole
    assert len(tacit("ledger", "list", "--json").json["entries"]) == 1


def test_only_what_was_recorded_is_written_again(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "wards", "-o", "wards.csv")
    tacit("ledger", "withdraw", "wards")
    plan = (folder / "tacit.yaml").read_text()
    ran = tacit("ledger", "repair", "2", "-o", "again.csv")
    assert ran.status == 2 and "has no file" in ran.err
    (folder / "tacit.yaml").write_text(plan.replace("[Mayer, B]", "[Mayer, C]"))
    ran = tacit("ledger", "repair", "1", "-o", "again.csv")
    assert ran.status == 2 and "another answer" in ran.err
    (folder / "tacit.yaml").write_text(plan.replace("wards:     {", "words:     {", 1))
    assert tacit("ledger", "repair", "1", "-o", "again.csv").status == 2
    assert tacit("ledger", "repair", "9", "-o", "again.csv").status == 2
    assert [one.name for one in folder.glob("*again*")] == []
