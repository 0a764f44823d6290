"""Recording and withdrawing releases, with a real ledger."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from checking.test_what_is_out import GAMMA, PLAN, ROWS, asking
from tacit.checking.assess import assess
from tacit.checking.holdings.ledgers import begin, ledger_of
from tacit.checking.recording.answer_digests import Answers
from tacit.checking.recording.record import record, withdraw
from tacit.errors import DataError, InputError, TacitError
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan

MALE = {"gamma-privacy": {"release": "male", "gamma": "1/2"}}
APRIL = {"k-anonymity": {"release": "april", "k": 2}}
MAY = {"k-anonymity": {"release": "may", "k": 2}}


def plan_in(folder: Path, *checks: dict[str, Any], **changed: Any) -> Plan:
    (folder / "tacit.yaml").write_text(
        yaml.safe_dump(asking(*checks, **changed), sort_keys=False), "utf-8"
    )
    return load_plan(folder / "tacit.yaml")


def test_a_view_is_recorded_then_written_and_counts_from_then_on(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    found = record(plan, "male", output=tmp_path / "male.csv", note="to the bank", by="ann")
    assert (
        found.exit_status == 0
        and found.entry is not None
        and str(found) == "male: recorded as entry 1, to bank"
    )
    assert (tmp_path / "male.csv").read_text() == "condition\nHeart\nSARS\nSARS\nViral\n"
    entry = found.entry
    assert (entry.release, entry.shape, entry.to, entry.tables, entry.by, entry.note) == (
        "male",
        "view",
        ("bank",),
        ("patients",),
        "ann",
        "to the bank",
    )
    assert [(one.check, one.status) for one in entry.verdicts] == [("gamma-privacy", "holds")]
    document = json.loads(json.dumps(found.to_json("shared")))
    assert (
        document["recorded"]
        and document["releases"] == ["male"]
        and document["entries"][0]["number"] == 1
        and document["verdicts"][0]["subject"] == {"release": "male", "given": []}
    )
    refused = record(plan, "late", output=tmp_path / "late.csv")
    assert (
        refused.exit_status == 1 and refused.entry is None and not (tmp_path / "late.csv").exists()
    )
    assert refused.to_json()["entries"] == [] and "0.5-privacy is breached" in str(refused)
    with ledger_of(plan) as ledger:
        assert [one.release for one in ledger.entries()] == ["male"] and ledger.verify().intact
    for name in ("SARS", "Heart", "Alan"):
        assert name.encode() not in (tmp_path / "tacit-ledger.sqlite").read_bytes()


def test_to_others_it_may_go_and_what_is_out_already_is_recorded_in_any_case(
    tmp_path: Path,
) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    record(plan, "male")
    assert record(plan, "late", to=["press"]).exit_status == 0
    assert record(plan, "late", to=()).exit_status == 1  # the bank is part of the public
    forced = record(plan, "late", out_already=True)
    assert (
        forced.exit_status == 0
        and forced.entry is not None
        and forced.entry.verdicts[0].status == "breached"
    )
    assert "though its checks do not hold" in str(forced)


def test_the_ledger_counts_when_something_is_recorded_whatever_the_plan_says_is_published(
    tmp_path: Path,
) -> None:
    plan = plan_in(
        tmp_path, MALE, {"gamma-privacy": {**GAMMA["gamma-privacy"], "given": []}}, published=[]
    )
    record(plan, "male")
    assert assess(plan).exit_status == 0
    assert record(plan, "late").exit_status == 1


def test_withdrawing(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    with pytest.raises(InputError, match="nothing was recorded yet"):
        withdraw(plan, "male")
    record(plan, "male")
    with pytest.raises(InputError, match="no release 'mail'"):
        withdraw(plan, "mail")
    with pytest.raises(InputError, match="did not go to 'press'"):
        withdraw(plan, "male", to=["press"])
    found = withdraw(plan, "male", by="ann")
    assert found.to_json()["entries"][0]["kind"] == "withdrawal" and "still knows it" in str(found)
    verdict = assess(plan)[1]
    assert verdict.status == "breached" and any("was withdrawn" in one for one in verdict.warnings)


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("mayl", {}, "no release 'mayl'"),
        ("floors", {}, "no check of floors"),
        ("drawn", {}, "only the file itself says what goes out"),
        ("male", {"output": Path("male.xlsx")}, "answers are written as CSV"),
        ("male", {"output": Path("a.csv"), "answer": Path("b.csv")}, "Leave one of them out"),
        ("male", {"to": [" "]}, "cannot be the name of a recipient"),
        ("male", {"by": "x\ny"}, "cannot be the name"),
        ("male", {"answer": Path("no/such.csv")}, "no/such.csv"),
    ],
)
def test_what_cannot_be_recorded(
    tmp_path: Path, name: str, more: dict[str, Any], said: str
) -> None:
    plan = plan_in(tmp_path, MALE, {"differential-privacy": {"release": "drawn"}})
    with pytest.raises(TacitError, match=said):
        record(plan, name, **more)


def test_the_output_replaces_nothing_of_the_owner(tmp_path: Path) -> None:
    (tmp_path / "extra.csv").write_text("ward,floor\na,1\n")
    plan = plan_in(
        tmp_path,
        {"perfect-privacy": {"secret": "sars", "release": "floors"}},
        tables={**PLAN["tables"], "extra": {"file": "extra.csv"}},
    )
    with pytest.raises(DataError, match="would be lost"):
        record(plan, "floors", output=tmp_path / "extra.csv")


def test_microdata_as_they_are_generalized_in_an_order_of_their_own(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MAY)
    found = record(plan, "may", output=tmp_path / "may.csv")
    assert found.exit_status == 0
    lines = (tmp_path / "may.csv").read_text().splitlines()
    assert lines[0] == "sex,age,condition" and lines[1:] == sorted(lines[1:]) and len(lines) == 8
    again = record(plan, "may", answer=tmp_path / "may.csv")
    assert (
        again.entry is not None
        and found.entry is not None
        and again.entry.answer == found.entry.answer
    )
    (tmp_path / "other.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(DataError, match="is not what may shows"):
        record(plan, "may", answer=tmp_path / "other.csv")
    assert record(plan, "may", answer=tmp_path / "other.csv", out_already=True).exit_status == 0
    assert [one.reason.code for one in assess(plan) if one.reason] == ["answer-changed"]


def test_an_answer_in_a_file_with_columns_in_another_order(tmp_path: Path) -> None:
    releases = {
        **PLAN["releases"],
        "ages": {"query": "SELECT age, condition FROM patients WHERE sex = 'F'"},
    }
    plan = plan_in(tmp_path, {"gamma-privacy": {"release": "ages", "gamma": 1}}, releases=releases)
    first = record(plan, "ages")
    (tmp_path / "ages.csv").write_text("Condition;AGE\nFlu;28\nViral;27\nSARS;28\n")
    second = record(plan, "ages", answer=tmp_path / "ages.csv")
    assert (
        first.entry is not None
        and second.entry is not None
        and first.entry.answer == second.entry.answer
    )


def test_synthetic_data_spend_once_for_each_output(tmp_path: Path) -> None:
    pytest.importorskip("flint")
    check = {"differential-privacy": {"release": "drawn", "epsilon": 4, "delta": 0}}
    plan = plan_in(tmp_path, check)
    for number in (1, 2, 3):
        men = ["Heart"] * number + ["Viral"] * (4 - number)
        (tmp_path / f"{number}.csv").write_text(
            "sex,condition\n" + "".join(f"M,{one}\n" for one in men) + "F,SARS\n" * 3
        )
    first = record(plan, "drawn", answer=tmp_path / "1.csv")
    assert first.entry is not None and dict(first.entry.spent) == {
        "epsilon": "2",
        "delta": "0",
        "guarantee": "dp",
    }
    assert record(plan, "drawn", answer=tmp_path / "1.csv").exit_status == 0  # the same one
    assert record(plan, "drawn", answer=tmp_path / "2.csv").exit_status == 0  # 2 + 2
    third = record(plan, "drawn", answer=tmp_path / "3.csv")
    assert third.exit_status == 3 and third.assessment.verdicts[0].reason is not None


def test_rules_are_recorded_without_an_answer(tmp_path: Path) -> None:
    plan = plan_in(
        tmp_path, {"g-safety": {"secret": "sars", "release": "rule", "over": "all", "seconds": 5}}
    )
    found = record(plan, "rule", out_already=True)
    assert (
        found.entry is not None and found.entry.answer is None and found.entry.shape == "constraint"
    )


def test_a_ledger_that_is_gone_is_not_an_empty_one(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    verdicts = assess(plan)
    assert any("not begun yet" in one for one in verdicts[0].warnings)
    assert not (tmp_path / "tacit-ledger.key").exists()
    record(plan, "male")
    for file in tmp_path.glob("tacit-ledger.sqlite*"):
        file.unlink()
    with pytest.raises(InputError, match="there is no ledger"):
        assess(plan)


def test_a_ledger_that_cannot_be_begun_leaves_no_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be made"):
        record(plan_in(tmp_path, MALE, ledger="no/folder.sqlite"), "male")
    assert not (tmp_path / "tacit-ledger.key").exists()


def test_a_table_under_another_name_is_noticed(tmp_path: Path) -> None:
    record(plan_in(tmp_path, MALE), "male")
    text = (tmp_path / "tacit.yaml").read_text().replace("patients", "people")
    (tmp_path / "tacit.yaml").write_text(text)
    [verdict] = assess(load_plan(tmp_path / "tacit.yaml"))
    assert any(
        "is about patients, which is people here: both have the same people" in one
        for one in verdict.warnings
    ), verdict.warnings
    assert (
        verdict.reason is not None and verdict.reason.code == "release-changed"
    )  # `male` may be about the same people
    # So it is for checks of other releases, and for names in other letters.
    for other in ("people", "Patients"):
        (tmp_path / "other.yaml").write_text(
            yaml.safe_dump(asking(MALE, GAMMA), sort_keys=False).replace("patients", other)
        )
        late = assess(load_plan(tmp_path / "other.yaml"))[1]
        assert (
            late.status == "undecided"
            and late.reason is not None
            and late.reason.code == "release-changed"
            and "male (entry 1" in late.reason.text
        )


def test_another_ledger_with_the_same_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(plan_in(tmp_path, MALE), "male")
    other = plan_in(tmp_path, MALE, ledger="other.sqlite")
    with pytest.raises(InputError, match="what is published is not known"):
        record(other, "male")
    (tmp_path / "tacit-ledger.key").rename(tmp_path / "elsewhere.key")
    monkeypatch.setenv(
        "TACIT_KEY_FILE", str(tmp_path / "elsewhere.key")
    )  # wherever it is: a ledger was begun with it
    for ask in (
        lambda: record(other, "male"),
        lambda: assess(other),
        lambda: ledger_of(other, create=True),
    ):
        with pytest.raises(
            InputError,
            match=r"what is published is not known.*tacit ledger begin --plan .*tacit\.yaml",
        ):
            ask()
    assert len(begin(other)) == 64
    with pytest.raises(InputError, match=r"there is a ledger other\.sqlite already"):
        begin(other)
    assert record(other, "male").entry is not None


def test_a_view_of_which_only_the_answer_is_known(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text(
        "\n".join(["name,sex,age", *(f"{name},{sex},{age}" for name, sex, age, _ in ROWS)])
    )
    (tmp_path / "male.csv").write_text("condition\nSARS\nViral\nHeart\nSARS\n")
    tables = {
        "patients": {
            key: value
            for key, value in PLAN["tables"]["patients"].items()
            if key not in ("columns", "rows")
        }
    }
    releases = {"male": {**PLAN["releases"]["male"], "answer": "male.csv"}}
    plan = plan_in(tmp_path, MALE, tables=tables, releases=releases, secrets={})
    assert record(plan, "male").exit_status == 0
    assert assess(plan).exit_status == 0 and record(plan, "male").exit_status == 0
    (tmp_path / "male.csv").write_text("condition\nSARS\nViral\nHeart\nViral\n")
    assert [one.reason.code for one in assess(plan) if one.reason] == ["answer-changed"]


def test_the_file_appears_only_once_it_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.ledger.ledger import Ledger

    plan = plan_in(tmp_path, MALE)

    def full(self: Ledger, drafts: object, **_: object) -> None:
        assert not (tmp_path / "male.csv").exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Ledger, "record_all", full)
    with pytest.raises(TacitError, match="disk is full"):
        record(plan, "male", output=tmp_path / "male.csv")
    assert not (tmp_path / "male.csv").exists() and not list(tmp_path.glob(".male*"))


def test_judging_again_where_others_recorded_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tacit.checking.recording.record as recording

    plan = plan_in(
        tmp_path, MALE, GAMMA, {"perfect-privacy": {"secret": "sars", "release": "floors"}}
    )
    record(plan, "floors", to=["press"])
    judged = recording.assess_open
    done: list[bool] = []

    def slow(opened: OpenPlan, *more: Any) -> Any:
        found = judged(opened, *more)
        if not done and "late" in opened.plan.checks[0].releases:
            done.append(
                True
            )  # somebody else, on another machine, records what makes the difference
            monkeypatch.setattr(recording, "one_at_a_time", lambda folder: open(os.devnull))  # noqa: SIM115
            record(plan, "male")
        return found

    monkeypatch.setattr(recording, "assess_open", slow)
    assert record(plan, "late", output=tmp_path / "late.csv").exit_status == 1 and done
    assert not (tmp_path / "late.csv").exists()  # it was ready when the first try failed


def in_files(folder: Path, rows: Any = ROWS) -> dict[str, Any]:
    """The tables of the plan with the patients in a file."""
    (folder / "patients.csv").write_text(
        "\n".join(["name,sex,age,condition", *(",".join(map(str, row)) for row in rows)])
    )
    return {
        **PLAN["tables"],
        "patients": {
            key: value
            for key, value in PLAN["tables"]["patients"].items()
            if key not in ("columns", "rows")
        },
    }


def test_what_is_written_is_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tacit.checking.recording.record as recording

    plan = plan_in(tmp_path, MALE, tables=in_files(tmp_path))
    judged, tries = recording.assess_open, []

    def slow(opened: OpenPlan, *more: Any) -> Any:
        found = judged(opened, *more)
        tries.append(found.verdicts[0].status)
        if len(tries) == 1:
            in_files(tmp_path, [(name, sex, age, "SARS") for name, sex, age, _ in ROWS])
        return found

    monkeypatch.setattr(recording, "assess_open", slow)
    refused = record(plan, "male", output=tmp_path / "male.csv")
    assert (
        tries == ["holds", "breached"]
        and refused.exit_status == 1
        and not (tmp_path / "male.csv").exists()
    )


def test_what_is_written_from_postgresql_is_one_snapshot(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    import tacit.checking.recording.record as recording

    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "CREATE TABLE live (name text PRIMARY KEY, sex text, age int, condition text)"
        )
        with admin.cursor() as cursor:
            cursor.executemany("INSERT INTO live VALUES (%s, %s, %s, %s)", ROWS)
        try:
            table = {
                "key": ["name"],
                "quasi-identifiers": ["sex", "age"],
                "sensitive": ["condition"],
            }
            releases = {"men": {"query": "SELECT condition FROM live WHERE sex = 'M'"}}
            plan = plan_in(
                tmp_path,
                {"gamma-privacy": {"release": "men", "gamma": "1/2"}},
                tables={"live": table},
                releases=releases,
                secrets={},
                source=postgres_url,
            )
            judged = recording.assess_open

            def slow(opened: OpenPlan, *more: Any) -> Any:
                found = judged(opened, *more)
                admin.execute("UPDATE live SET condition = 'SARS'")
                return found

            monkeypatch.setattr(recording, "assess_open", slow)
            assert record(plan, "men", output=tmp_path / "men.csv").exit_status == 0
            assert (tmp_path / "men.csv").read_text() == "condition\nHeart\nSARS\nSARS\nViral\n"
        finally:
            admin.execute("DROP TABLE live")


def test_a_check_of_a_list_is_asked_for_what_goes_out_now(tmp_path: Path) -> None:
    """gamma-privacy is not monotone: four views are harmless together of which two are not."""
    releases = {
        "men": {"query": "SELECT condition FROM patients WHERE sex = 'M'"},
        "older": {"query": "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"},
        "all": {"query": "SELECT condition FROM patients"},
    }
    many = plan_in(
        tmp_path,
        {"gamma-privacy": {"releases": list(releases), "gamma": "1/2"}},
        releases=releases,
        secrets={},
    )
    both = record(many, "men", "older")
    assert both.exit_status == 1 and both.entries == () and "men and older" in both.release
    assert both.assessment.verdicts[0].subject == {"releases": ["men", "older"], "given": []}
    assert record(many, "men").exit_status == 0
    again = record(many, "older")
    assert again.exit_status == 1 and again.assessment.verdicts[0].subject == {
        "release": "older",
        "given": ["men"],
    }


def test_what_goes_out_at_once_is_judged_together_whichever_checks_it_has(tmp_path: Path) -> None:
    plan = plan_in(
        tmp_path, MALE, GAMMA, {"perfect-privacy": {"secret": "sars", "release": "floors"}}, MAY
    )
    for to in (["bank"], ["press"], ()):
        both = record(plan, "male", "late", to=to)
        assert both.exit_status == 1 and [one.subject for one in both.assessment] == [
            {"release": "male", "given": ["late"]},
            {"release": "late", "given": ["male"]},
        ]
    mixed = record(plan, "male", "may", to=["press"])
    assert mixed.exit_status == 3 and [
        one.reason.code for one in mixed.assessment if one.reason
    ] == ["does-not-compose"]  # k-anonymity judges one alone
    assert (
        record(plan, "male", "floors").exit_status == 1
    )  # whoever gets both gets what perfect privacy denies
    assert record(plan, "male").exit_status == 0 and record(plan, "late").exit_status == 1


def test_several_at_once_are_recorded_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.ledger import ledger as book

    two = {"gamma-privacy": {"releases": ["male", "late"], "gamma": 1}}
    plan = plan_in(tmp_path, two)
    with pytest.raises(InputError, match="for one release"):
        record(plan, "male", "late", output=tmp_path / "both.csv")
    with pytest.raises(InputError, match="nothing to record"):
        record(plan)
    append, written = book.append, []

    def fails(ask: Any, own: Any, entry: Any) -> None:
        append(ask, own, entry)
        written.append(entry.number)
        if len(written) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(book, "append", fails)
        record(plan, "male", "late")
    with ledger_of(plan) as ledger:
        assert written == [1, 2] and not list(ledger.entries())
    found = record(plan, "male", "late", "male")
    assert [one.release for one in found.entries] == ["male", "late"] and str(
        found
    ) == "male and late: recorded as entries 1 and 2, to bank"
    document = found.to_json()
    assert document["releases"] == ["male", "late"] and [
        one["number"] for one in document["entries"]
    ] == [1, 2]


@pytest.mark.parametrize(
    "order",
    [
        "",
        " ORDER BY age",
        (
            " ORDER BY (SELECT COUNT(*) FROM patients c WHERE c.name = p.name AND c.condition "
            "= 'SARS')"
        ),
        " ORDER BY age DESC LIMIT 5",
    ],
)
def test_rows_are_written_in_an_order_of_their_own(tmp_path: Path, order: str) -> None:
    releases = {"names": {"query": f"SELECT p.sex, p.name FROM patients p{order}"}}
    plan = plan_in(
        tmp_path,
        {"perfect-privacy": {"secret": "floors", "release": "names"}},
        releases=releases,
        secrets={"floors": "SELECT floor FROM wards"},
    )
    assert record(plan, "names", output=tmp_path / "names.csv").exit_status == 0
    lines = (tmp_path / "names.csv").read_text().splitlines()
    assert (
        lines[0] == "sex,name"
        and len(lines) == (6 if "LIMIT" in order else 8)
        and lines[1:] == sorted(lines[1:])
    )


def test_a_file_that_cannot_be_compared_is_not_taken(tmp_path: Path) -> None:
    tables = {"stays": {"columns": {"name": "text", "condition": "text"}}}
    secrets = {"cancer": "SELECT name FROM stays WHERE condition = 'Cancer'"}
    releases = {"flu": {"query": "SELECT name FROM stays WHERE condition = 'Flu'"}}
    check = {"perfect-privacy": {"secret": "cancer", "release": "flu"}}
    plan = plan_in(tmp_path, check, tables=tables, secrets=secrets, releases=releases)
    (tmp_path / "evil.csv").write_text("name,condition\nAnn,Cancer\n")
    with pytest.raises(DataError, match="cannot be compared with what flu shows"):
        record(plan, "flu", answer=tmp_path / "evil.csv")
    assert record(plan, "flu", answer=tmp_path / "evil.csv", out_already=True).exit_status == 0
    # An answer in the plan stands for the data, and is written too.
    (tmp_path / "flu0.csv").write_text("name\nFen\nBob\n")
    releases["flu"]["answer"] = "flu0.csv"
    plan = plan_in(tmp_path, check, tables=tables, secrets=secrets, releases=releases)
    assert record(plan, "flu", output=tmp_path / "flu.csv").exit_status == 0
    assert (tmp_path / "flu.csv").read_text() == "name\nBob\nFen\n"
    assert "that flu0.csv has the answer was not checked" in str(record(plan, "flu"))
    assert record(plan, "flu", answer=tmp_path / "flu.csv").exit_status == 0
    with pytest.raises(DataError, match="is not what flu shows"):
        record(plan, "flu", answer=tmp_path / "evil.csv")
    for rows in ("name,condition\nAnn,Cancer\n", "condition\nCancer\n"):
        (tmp_path / "flu0.csv").write_text(rows)
        with pytest.raises(DataError, match="and flu shows name"):
            record(plan, "flu", output=tmp_path / "flu.csv")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            "name,sex,condition\nAlan,M,Heart\n",
            "has the columns name, sex, condition, and drawn has sex, condition",
        ),
        ("condition,sex\nHeart,M\n", "has the columns condition, sex"),
        ("sex,condition\nM,Plague\n", "outside of the groups and the domain"),
        ("sex,condition\nX,Flu\n", "outside of the groups and the domain"),
        ("sex,condition\n,Flu\n", "outside of the groups and the domain"),
        ("sex,condition\nM,Flu\n", "does not have as many people in each sex"),
        (
            "sex,condition\n" + "M,Flu\n" * 4 + "F,Flu\n" * 4,
            "does not have as many people in each sex",
        ),
    ],
)
def test_synthetic_data_that_were_not_drawn(tmp_path: Path, rows: str, said: str) -> None:
    pytest.importorskip("flint")
    plan = plan_in(
        tmp_path, {"differential-privacy": {"release": "drawn", "epsilon": 4, "delta": 0}}
    )
    (tmp_path / "file.csv").write_text(rows)
    with pytest.raises(DataError, match=said):
        record(plan, "drawn", answer=tmp_path / "file.csv")
    assert not (tmp_path / "tacit-ledger.sqlite").exists() or not [*ledger_of(plan).entries()]


def test_the_data_are_no_answer(tmp_path: Path) -> None:
    plan = plan_in(
        tmp_path, {"differential-privacy": {"release": "drawn"}}, MALE, tables=in_files(tmp_path)
    )
    for name in ("drawn", "male"):
        with pytest.raises(InputError, match="is the owner's own file"):
            record(plan, name, answer=tmp_path / "patients.csv", out_already=True)


def test_other_people_with_the_same_answer(tmp_path: Path) -> None:
    """Donald leaves, and Zed comes with the same condition: `male` was about Donald."""
    plan = plan_in(tmp_path, MALE, GAMMA, tables=in_files(tmp_path))
    first = record(plan, "male", to=["press"])
    assert first.entry is not None and first.entry.people is not None
    verdict = assess(plan)[0]
    assert "same-people" not in [one.id for one in verdict.assumptions]
    record(plan, "male")
    rows = [("Zed", *row[1:]) if row[0] == "Donald" else row for row in ROWS]
    plan = plan_in(tmp_path, MALE, GAMMA, tables=in_files(tmp_path, rows))
    again, verdict = assess(plan)
    for one in (again, verdict):
        assert (
            one.status == "undecided"
            and one.reason is not None
            and one.reason.code == "answer-changed"
            and "people of patients" in one.reason.text
        )


def test_tables_that_are_tied_to_the_one_that_is_asked_about(tmp_path: Path) -> None:
    """Whoever has what visits say of the patients' conditions knows more than gamma-privacy of
    the patients counts with.
    """
    visits = {
        "columns": {"name": "text", "condition": "text"},
        "rows": [["Donald", "SARS"]],
        "sensitive": ["condition"],
    }
    releases = {
        **PLAN["releases"],
        "visitors": {"query": "SELECT name, condition FROM visits", "to": ["bank"]},
    }
    checks = GAMMA, {"k-anonymity": {"release": "may", "k": 2}}
    more = {"tables": {**PLAN["tables"], "visits": visits}, "releases": releases}
    plan = plan_in(tmp_path, *checks, **more)
    record(plan, "visitors", out_already=True)
    assert {one.status for one in assess(plan)} == {"holds"}
    for constraints in (["visits(n, c) -> patients(n, s, a, c)"],):
        for one in assess(plan_in(tmp_path, *checks, **more, constraints=constraints)):
            assert (
                one.status == "undecided"
                and one.reason is not None
                and one.reason.code == "does-not-compose"
                and "visitors" in one.reason.text
            )


def test_two_names_of_one_file(tmp_path: Path) -> None:
    tables = in_files(tmp_path)
    tables |= {"again": {**tables["patients"], "file": "patients.csv"}}
    releases = {
        **PLAN["releases"],
        "men": {"query": "SELECT condition FROM again WHERE sex = 'M'", "to": ["bank"]},
    }
    plan = plan_in(
        tmp_path,
        {"gamma-privacy": {"release": "men", "gamma": "1/2"}},
        GAMMA,
        tables=tables,
        releases=releases,
    )
    assert record(plan, "men").exit_status == 0
    late = assess(plan)[1]
    assert (
        late.status == "undecided"
        and late.reason is not None
        and late.reason.code == "does-not-compose"
    )


def one_of_two(folder: str, name: str) -> None:
    found = record(load_plan(Path(folder) / "tacit.yaml"), name)
    os._exit(found.exit_status)


def test_two_at_once_do_not_both_pass(tmp_path: Path) -> None:
    plan_in(tmp_path, MALE, GAMMA)
    spawn = multiprocessing.get_context("spawn")
    both = [
        spawn.Process(target=one_of_two, args=(str(tmp_path), name)) for name in ("male", "late")
    ]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
    assert sorted(one.exitcode or 0 for one in both) == [0, 1]


def test_rows_in_postgresql_and_a_ledger_there(
    tmp_path: Path, postgres_url: str, ledger_url: str
) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA, APRIL, source=postgres_url, ledger=ledger_url)
    assert record(plan, "male").exit_status == 0
    gamma, anonymity = assess(plan)[1], assess(plan)[2]
    assert gamma.status == "breached" and gamma.subject["given"] == ["male"]
    assert anonymity.reason is not None and anonymity.reason.code == "does-not-compose"
    # The same rows in files give the same hash.
    files = tmp_path / "files"
    files.mkdir()
    (files / "patients.csv").write_text(
        "\n".join(["name,sex,age,condition", *(",".join(map(str, row)) for row in ROWS)])
    )
    tables = {
        **PLAN["tables"],
        "patients": {
            key: value
            for key, value in PLAN["tables"]["patients"].items()
            if key not in ("columns", "rows")
        },
    }
    (files / "tacit-ledger.key").write_bytes((tmp_path / "tacit-ledger.key").read_bytes())
    (files / "tacit-ledger.key").chmod(0o600)
    other = plan_in(files, MALE, GAMMA, tables=tables, ledger=ledger_url)
    with (
        ledger_of(other) as ledger,
        ledger_of(plan) as same,
        OpenPlan(other) as here,
        OpenPlan(plan) as there,
    ):
        assert ledger.head() == same.head()
        for name in ("male", "may", "joined"):
            one, two = (Answers(opened, ledger.key).today(name) for opened in (here, there))
            assert one is not None and one == two
    verdict = assess(other)[1]
    assert (
        verdict.reason is not None and verdict.reason.code == "release-changed"
    )  # SQL of another database


def test_a_recipient_in_other_letters_does_not_get_past_what_it_has(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    record(plan, "male", to=["Bank"])
    for written in ("BANK", "bank", " Bank "):
        assert record(plan, "late", to=[written]).exit_status == 1
    elsewhere = record(plan, "male", to=["Clinic", "clinic ", "Bank"])
    assert elsewhere.to == ("Clinic", "bank")  # the plan's spelling, and one of each
    assert (
        record(plan, "late", to=["CLINIC"]).exit_status == 1
    )  # the plan does not know them, the ledger does
    found = withdraw(plan, "male", to=["CLINIC"])
    assert found.entries[0].to == ("Clinic",)


def test_an_entry_stays_as_it_was_written(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    with ledger_of(plan, create=True):
        pass
    made = record(plan, "male", to=["Press"])
    assert made.entry is not None and made.entry.to == ("Press",)
    record(plan, "male", to=["press"])
    with ledger_of(plan) as ledger:
        assert [one.to for one in ledger.entries(to="PRESS")] == [
            ("Press",),
            ("press",),
        ] and ledger.verify().intact


def test_a_ledger_that_lies_beside_the_plan_is_asked_whether_the_plan_names_it_or_not(
    tmp_path: Path,
) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA, published=["floors"])
    assert [one.status for one in assess(plan)] == ["holds", "holds"] and not any(
        one.warnings for one in assess(plan)
    )
    record(plan, "male")
    [of_male, of_late] = assess(plan)
    assert (
        of_male.status == "holds"
        and of_late.status == "breached"
        and "bank has male (entry 1" in of_late.because
    )
    refused = record(plan, "late")
    assert refused.exit_status == 1 and refused.unsaid == ()
    assert record(plan, "late", to=["Bank", "press"]).unsaid == ("to: [bank, press] of late",)
    asked = plan_in(tmp_path, MALE, GAMMA)
    assert record(asked, "late").unsaid == () and assess(asked)[1].status == "breached"


def test_a_ledger_is_not_spoken_of_where_it_says_nothing_of_these(tmp_path: Path) -> None:
    record(plan_in(tmp_path, MALE, GAMMA), "male")
    elsewhere = {
        name: {**one, "to": ["press"]} if name == "late" else one
        for name, one in PLAN["releases"].items()
    }
    [verdict] = assess(plan_in(tmp_path, GAMMA, published=[], releases=elsewhere))
    assert verdict.status == "holds" and verdict.warnings == ()


@pytest.mark.parametrize("published", [[], ["ledger"]])
def test_given_that_leaves_out_what_the_ledger_holds_says_so(
    tmp_path: Path, published: list[str]
) -> None:
    record(plan_in(tmp_path, MALE, GAMMA), "male")
    [verdict] = assess(
        plan_in(
            tmp_path,
            {"gamma-privacy": {**GAMMA["gamma-privacy"], "given": []}},
            published=published,
        )
    )
    [note] = verdict.warnings
    assert note.startswith("male (entry 1") and note.endswith(
        "is published too, as the ledger says, and is not judged here: `given` of this check "
        "leaves it out"
    )
    [text] = [one.text for one in verdict.assumptions if one.id == "given-only"]
    assert "nobody has male (entry 1" in text
    refused = record(
        plan_in(
            tmp_path,
            {"gamma-privacy": {**GAMMA["gamma-privacy"], "given": []}},
            published=published,
        ),
        "late",
    )
    assert (
        refused.exit_status == 1
    )  # what goes out is judged with all that is published, whatever a check leaves out


def test_a_ledger_beside_the_plan_that_cannot_be_read_leaves_checks_undecided(
    tmp_path: Path,
) -> None:
    record(plan_in(tmp_path, MALE, GAMMA), "male")
    key = tmp_path / "tacit-ledger.key"
    key.rename(tmp_path / "elsewhere.key")
    [verdict] = assess(plan_in(tmp_path, GAMMA, published=[]))
    assert (
        verdict.status == "undecided"
        and verdict.reason is not None
        and verdict.reason.code == "ledger-unread"
        and "tacit-ledger.key" in verdict.reason.text
    )
    (tmp_path / "elsewhere.key").rename(key)
    assert assess(plan_in(tmp_path, GAMMA, published=[]))[0].status == "breached"
