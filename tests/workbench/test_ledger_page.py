"""The ledger's page: its lines, its picture, its files and its tasks.
The page itself: tests/browser.
"""

from __future__ import annotations

import csv
import io
import pickle
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("nicegui")

from tacit.checking.holdings.ledgers import begin, ledger_of
from tacit.checking.holdings.shares import HeldShare, Holder
from tacit.checking.recording.current_verdicts import LedgerStanding, Standings
from tacit.errors import DataError, InputError
from tacit.ledger.entries import LedgerVerdict
from tacit.model.jobs import Job
from tacit.workbench.bench import Bench, Visit
from tacit.workbench.pages.ledger import entries as ledger_entries
from tacit.workbench.pages.ledger import holders as ledger_holders
from tacit.workbench.pages.ledger import matrix as ledger_matrix
from tacit.workbench.pages.ledger import page as ledger
from tacit.workbench.pages.ledger import recording_form as ledger_record
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.tasks import ledger as tasks_ledger
from tacit.workbench.tasks.ledger import Recording

EXAMPLE = Path(__file__).parents[2] / "examples" / "gateway"
DAY = datetime(2026, 4, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example with two recipients; tasks go to its folder, as processes of their own do."""
    for name in ("ledger.yaml", "patients.csv"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)
    return tmp_path


def visit(folder: Path) -> Visit:
    session: Any = SimpleNamespace(id="s", user="owner", on_end=[])
    bench = Bench(folder / "ledger.yaml", lambda text: None)
    return Visit(bench, bench.book(), session)


def recorded(folder: Path, release: str, **more: Any) -> tasks_ledger.RecordedNow:
    asked = Recording(**{"releases": (release,), "to": None, "by": "M. Weber", **more})
    found = tasks_ledger.record(Job(), folder / "ledger.yaml", folder, asked)
    assert (
        pickle.loads(pickle.dumps(found)).because == found.because
    )  # it comes from another process
    return found


# -- tasks -----------------------------------------------------------------------------------------


def test_a_release_is_recorded_then_written_and_the_next_is_refused_with_the_verdict(
    folder: Path,
) -> None:
    first = recorded(folder, "men", output="men.csv", note="by the page")
    assert (
        first.entries[0].number == 1
        and first.to == ("insurer",)
        and not first.wrong
        and (folder / "men.csv").read_text().startswith("condition\n")
    )
    second = recorded(folder, "older", output="older.csv")
    assert (
        not second.entries
        and [one.status for one in second.wrong] == ["breached"]
        and "insurer and registry together" in second.wrong[0].against
    )
    assert not (folder / "older.csv").exists()
    third = recorded(folder, "older", out_already=True)
    assert third.entries and third.wrong


def test_all_tasks_give_what_the_command_line_gives(folder: Path) -> None:
    path = folder / "ledger.yaml"
    recorded(folder, "men")
    recorded(folder, "older", out_already=True, to=("registry", "press"))
    plan = visit(folder).book.plan()
    held = tasks_ledger.who_holds(Job(), path, folder)
    assert {one.called: one.releases for one in held} == {
        "everybody": (),
        "insurer": ("men",),
        "press": ("older",),
        "registry": ("older",),
        "insurer and registry together": ("men", "older"),
    }
    stood = tasks_ledger.judge_again(Job(), path, folder)
    assert (
        stood.status(("insurer", "registry")) == "breached"
        and stood.status(("press",)) == "holds"
        and pickle.loads(pickle.dumps(stood)) == stood
    )
    assert list(tasks_ledger.entries_of(Job(), path, folder, "press", None)) == [2]
    assert (
        tasks_ledger.withdraw(Job(), path, folder, "men", ["insurer"], "W", "").entries[0].number
        == 3
    )
    with ledger_of(plan) as opened:
        assert tasks_ledger.verify(Job(), path, folder, opened.head(), 0).expected == 3
    assert [one.code for one in tasks_ledger.verify(Job(), path, folder, "0" * 64, 0).faults] == [
        "expected"
    ]


def test_a_correction_is_recorded_by_the_page_and_says_who_has_the_old_one(folder: Path) -> None:
    recorded(folder, "men")
    path, patients = folder / "ledger.yaml", folder / "patients.csv"
    patients.write_text(
        patients.read_text("utf-8")
        .replace("Bob,M,24,SARS", "Bob,M,24,Flu")
        .replace("Bob,24,M,SARS", "Bob,24,M,Flu"),
        "utf-8",
    )
    asked = tasks_ledger.Correcting("men", "a condition was entered wrongly", "W", output="new.csv")
    refused = tasks_ledger.correct(Job(), path, folder, asked)
    assert (
        not refused.entries
        and refused.told == "insurer has the old one"
        and refused.verdicts[0].status == "undecided"
        and not (folder / "new.csv").exists()
    )
    done = tasks_ledger.correct(Job(), path, folder, replace(asked, unjudged=True))
    assert (
        pickle.loads(pickle.dumps(done)).entries[0].corrects == (1,)
        and (folder / "new.csv").exists()
    )
    assert ledger_entries.row(done.entries[0])[3] == "view, correction"


def test_a_ledger_without_its_tables_is_said_to_be_changed(folder: Path) -> None:
    import sqlite3

    begin(visit(folder).book.plan())
    direct = sqlite3.connect(folder / "tacit-ledger.sqlite")
    direct.execute("DROP TABLE tacit_concerns")
    direct.close()
    assert [
        one.code
        for one in tasks_ledger.verify(Job(), folder / "ledger.yaml", folder, None, 0).faults
    ] == ["schema"]


def test_a_file_that_was_sent_is_compared_and_removed(folder: Path) -> None:
    place = folder / ".tacit-workbench" / "answer-1"
    for text, wrong in (("condition\nHeart Disease\n", True), (None, False)):
        ledger_record.private(place)
        assert place.stat().st_mode & 0o077 == 0 and place.parent.stat().st_mode & 0o077 == 0
        if text is None:
            recorded(folder, "men", output="men.csv")
            text = (folder / "men.csv").read_text()
        (place / "men.csv").write_text(text)
        asked = {"answer": ".tacit-workbench/answer-1/men.csv", "is_upload": True}
        if wrong:
            with pytest.raises(DataError, match=r"^men\.csv is not what men shows") as found:
                recorded(folder, "men", **asked)
            assert (
                found.value.hint
                == "Write the release as answer: men.csv, or say that it is published already."
            )
        else:
            assert recorded(folder, "men", **asked).entries
        assert not place.exists()


def test_a_plan_outside_of_the_folder_is_not_read(folder: Path) -> None:
    (folder / "below").mkdir()
    with pytest.raises(InputError, match="outside of"):
        tasks_ledger.who_holds(Job(), folder / "ledger.yaml", folder / "below")


# -- what the page says ----------------------------------------------------------------------------


def test_lines_of_the_table_say_who_got_what_under_which_verdict(folder: Path) -> None:
    recorded(folder, "men")
    recorded(folder, "older", out_already=True, to=())
    tasks_ledger.withdraw(Job(), folder / "ledger.yaml", folder, "men", None, "W", "")
    plan = visit(folder).book.plan()
    with ledger_of(plan) as opened:
        rows = [ledger_entries.row(one) for one in opened.entries()]
        two = replace(
            opened.entry(1),
            verdicts=(
                LedgerVerdict("a", None, "holds", "exact"),
                LedgerVerdict("b", None, "undecided", "exact"),
            ),
        )
        assert (
            ledger_entries.verdicts_summary(two) == "1 of 2 undecided"
            and ledger_entries.verdicts_summary(replace(two, verdicts=())) == "not judged"
        )
    assert [row[2:] for row in rows] == [
        ("men", "view", "insurer", "M. Weber", "holds"),
        ("older", "view", "everybody", "M. Weber", "breached"),
        ("men", "withdrawn", "everybody", "W", ""),
    ]
    found = ledger.summary(plan)
    assert (
        found.entries == 3
        and ledger.describe_ledger(found).startswith("3 entries; the last one on ")
        and ledger.describe_ledger(ledger.Summary(0, None, "")).startswith("The ledger is empty")
    )
    assert (
        ledger.shown_place(replace(plan, ledger="postgresql://ann@host/x"))
        == "a PostgreSQL database, as the plan says"
    )


def test_files_to_choose_from_are_not_the_owners(folder: Path) -> None:
    for name in ("april.csv", "notes.txt", "below/x.parquet", ".hidden/y.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("a\n")
    one = visit(folder)
    assert ledger_record.files_of(one, one.book.plan()) == ["april.csv", "below/x.parquet"]


@pytest.mark.parametrize(
    "name", ["../x.csv", "/etc/x.csv", "a/../../x.csv", ".tacit-workbench/x.csv", "", "  "]
)
def test_a_file_is_written_only_below_the_plan(folder: Path, name: str) -> None:
    with pytest.raises(InputError):
        ledger_record.within(visit(folder), name)


def test_a_file_below_the_plan_is_named_from_there(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "out").symlink_to(folder.parent)
    one = visit(folder)
    assert ledger_record.within(one, " below/x.csv ") == "below/x.csv"
    with pytest.raises(InputError):
        ledger_record.within(one, "out/x.csv")


# -- who holds what --------------------------------------------------------------------------------


def share(release: str, **more: Any) -> HeldShare:
    return HeldShare(
        release,
        "view",
        ("patients",),
        1,
        DAY,
        DAY,
        (LedgerVerdict("k-sind", None, "holds", "exact"),),
        **more,
    )


HOLDERS = (
    Holder((), (share("open", public=True),)),
    Holder(("<i>bank</i>",), (share("open", public=True), share("men & women"))),
    Holder(("press",), (share("open", public=True), share("old", withdrawn=DAY))),
    Holder(
        ("<i>bank</i>", "press"),
        (share("open", public=True), share("men & women"), share("old", withdrawn=DAY)),
    ),
)


def standing(who: tuple[str, ...], status: Any) -> LedgerStanding:
    return LedgerStanding(who, who, "k-sind", None, "2-SIND", ("old",), status, "because")


def test_the_picture_has_a_dot_for_each_release_that_somebody_holds() -> None:
    chart = ledger_matrix.matrix(HOLDERS)
    tree = ElementTree.fromstring(chart.svg)
    circles = [one for one in tree.iter() if one.tag.endswith("circle")]
    assert (
        sum(float(one.attrib["r"]) > 3 for one in circles)
        == sum(len(one.shares) for one in HOLDERS)
        and len(circles) == 4 * 3
    )
    assert (
        tree.attrib["role"] == "img"
        and "<i>bank</i> and press together: open, men & women, old" in tree.attrib["aria-label"]
    )
    texts = [one.text for one in tree.iter() if one.tag.endswith("text")]
    assert "men & women" in texts and "everybody" in texts
    assert (
        chart.title == "<i>bank</i> and press together hold 3 releases"
        and "ring" in chart.note
        and "withdrawn" in chart.note.lower()
    )


def test_the_picture_says_who_learns_too_much() -> None:
    found = Standings(
        (
            standing((), "holds"),
            standing(("press",), "undecided"),
            standing(("<i>bank</i>", "press"), "breached"),
        )
    )
    chart = ledger_matrix.matrix(HOLDERS, found)
    assert chart.title == "<i>bank</i> and press together learn more than the plan allows"
    assert (
        chart.svg.count("breached") == 1
        and chart.svg.count("undecided") == 1
        and chart.svg.count(">holds<") == 1
        and chart.svg.count("no check") == 1
    )
    all_hold = tuple(standing(one.who, "holds") for one in HOLDERS)
    assert (
        ledger_matrix.matrix(HOLDERS, Standings(all_hold)).title
        == "Nobody learns more than the plan allows from what is published"
    )
    assert ledger_matrix.matrix(
        (*HOLDERS, Holder(("new",), ())), Standings(all_hold)
    ).title.startswith("Nobody learns more")  # who has nothing is not asked about
    assert (
        "could not be decided"
        in ledger_matrix.matrix(HOLDERS, Standings((standing((), "not asked"),))).title
    )


def test_the_picture_says_nothing_good_of_those_whom_no_check_asks_about() -> None:
    everybody, *others = (standing(one.who, "holds") for one in HOLDERS)
    titles = [
        ledger_matrix.matrix(HOLDERS, found).title
        for found in (
            Standings((everybody,)),
            Standings((everybody, *others[1:])),
            Standings((everybody, *others[:-1])),
            Standings(()),
        )
    ]
    assert titles == [
        "No check asks about what <i>bank</i>, press and <i>bank</i> and press together hold",
        "No check asks about what <i>bank</i> holds",
        "No check asks about what <i>bank</i> and press together hold",
        "No check asks about what everybody, <i>bank</i>, press and 1 more hold",
    ]
    assert (
        ledger_matrix.matrix(HOLDERS, Standings((everybody, *others), ("men & women",))).title
        == "No check asks about men & women"
    )


def test_the_form_begins_with_what_the_page_before_left_once(folder: Path) -> None:
    plan = visit(folder).book.plan()
    kept: dict[str, Any] = {
        "to record": {"release": "men", "file": "out/men.csv"},
        "last release": "older",
    }
    assert ledger_record.begins_with(kept, plan, ["out/men.csv"]) == ("men", {"men": "out/men.csv"})
    assert kept == {} and ledger_record.begins_with(kept, plan, ["out/men.csv"]) == (None, {})
    assert ledger_record.begins_with({"last release": "older"}, plan, []) == ("older", {})
    assert ledger_record.begins_with(
        {"to record": {"release": "men", "file": "patients.csv"}}, plan, ["x.csv"]
    ) == ("men", {})  # no file that may go out
    assert ledger_record.begins_with(
        {"to record": {"release": "gone", "file": "x.csv"}, "last release": "men"}, plan, ["x.csv"]
    ) == ("men", {})


def test_what_somebody_holds_is_told_and_saved() -> None:
    told = ledger_holders.describe_holding(HOLDERS[2].shares[1], HOLDERS[2])
    assert (
        told
        == "since 2026-04-01, held when it went out, withdrawn 2026-04-01, still known (entry 1)"
    )
    assert "public" in ledger_holders.describe_holding(
        HOLDERS[2].shares[0], HOLDERS[2]
    ) and "public" not in ledger_holders.describe_holding(HOLDERS[0].shares[0], HOLDERS[0])
    assert (
        ledger_holders.describe_holding(replace(share("x"), verdicts=(), outputs=3), HOLDERS[1])
        == "since 2026-04-01, 3 different answers, went out unjudged (entry 1)"
    )
    lines = list(
        csv.reader(
            io.StringIO(
                csv_bytes(
                    [
                        ledger_holders.HEAD,
                        *(line for one in HOLDERS for line in ledger_holders.lines(one)),
                    ]
                ).decode()
            )
        )
    )
    assert len(lines) == 1 + sum(len(one.shares) for one in HOLDERS) and lines[2][:3] == [
        "<i>bank</i>",
        "open",
        "view",
    ]
    part = replace(
        standing(("a", "b", "c"), "breached"), who=("a", "b"), together="men (entry 1, 2026-04-01)"
    )
    assert ledger_holders.heading(part) == "2-SIND of old with men (entry 1, 2026-04-01), a and b"


def test_after_a_refusal_a_repair_is_named_only_where_it_can_help() -> None:
    def steps(*wrong: tuple[str, str]) -> str:
        some = [
            SimpleNamespace(status=status, reason=SimpleNamespace(code=code) if code else None)
            for status, code in wrong
        ]
        return ledger_record.next_steps(SimpleNamespace(wrong=some))  # type: ignore[arg-type]

    assert steps(("undecided", "does-not-compose")).startswith("give it only to those who have")
    for wrong in (
        [("undecided", "does-not-compose"), ("breached", "")],
        [("undecided", "time")],
        [],
    ):
        assert "repair it" in steps(*wrong)
    assert "name of its own" in steps(("undecided", "answer-changed"))
