"""What the board knows: which verdict belongs to which check, whether it still speaks of the
plan as it is, and what changed.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tacit import demo
from tacit.errors import InputError, TacitError
from tacit.model.jobs import Cancelled, Job
from tacit.model.release import Microdata
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan
from tacit.workbench.bench import STATE, Bench
from tacit.workbench.check_states import (
    CheckState,
    adopt,
    answers,
    changes,
    fingerprints,
    keys_of,
    merged,
    sections_of,
    start,
    state_of,
)
from tacit.workbench.pages.overview.page import (
    ReleaseHistory,
    board_csv,
    can_be_repaired,
    check_text,
    decided_then,
    given_of,
    in_short,
    roles,
    sentence,
    what_it_is,
)
from tacit.workbench.tasks.check import ASSESSED, check, most_of, report

TWO = """version: 1
tables:
  a: {file: a.csv, quasi-identifiers: [age], sensitive: [ill], person: [name], identifiers: [name]}
  b: {file: b.csv, quasi-identifiers: [age], sensitive: [ill]}
releases:
  one: {table: a}
  two: {table: b}
checks:
  - k-anonymity: {release: one, k: 2}
  - l-diversity: {release: one, kind: distinct, l: 2}
  - k-anonymity: {release: two, k: 2}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(
        "name,age,ill\nAnn,20,flu\nBob,20,cold\nCleo,30,flu\nDan,30,cold\n"
    )
    (tmp_path / "b.csv").write_text("age,ill\n20,flu\n20,cold\n")
    (tmp_path / "tacit.yaml").write_text(TWO)
    return tmp_path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check goes to the plan's folder; a test's process comes back."""
    monkeypatch.setattr(os, "chdir", lambda path: None)


def plan_of(folder: Path, old: str = "", new: str = "") -> Plan:
    (folder / "tacit.yaml").write_text(TWO.replace(old, new) if old else TWO)
    return load_plan(folder / "tacit.yaml")


def checked(folder: Path, *only: str) -> dict[str, Any]:
    return check(Job(), str(folder / "tacit.yaml"), str(folder), only)


# -- which check is which --------------------------------------------------------------------------


def test_a_check_keeps_its_key_when_its_numbers_change(folder: Path) -> None:
    before = keys_of(plan_of(folder))
    assert len(set(before)) == 3
    assert keys_of(plan_of(folder, "l: 2", "l: 3")) == before
    twice = plan_of(
        folder,
        "  - k-anonymity: {release: two, k: 2}",
        "  - k-anonymity: {release: two, k: 2}\n  - k-anonymity: {release: two, k: 3}",
    )
    assert len(set(keys_of(twice))) == 4


def different(folder: Path, old: str, new: str) -> list[bool]:
    before = fingerprints(plan_of(folder))
    after = fingerprints(plan_of(folder, old, new))
    return [before[key] != after[key] for key in before]


def test_a_fingerprint_changes_with_what_its_check_depends_on_and_nothing_else(
    folder: Path,
) -> None:
    assert different(folder, "version: 1", "version: 1  # nothing") == [False, False, False]
    assert different(folder, "l: 2", "l: 3") == [False, True, False]
    assert different(folder, "two: {table: b}", "two: {table: b, to: [doctors]}") == [
        False,
        False,
        True,
    ]
    assert different(
        folder,
        "a.csv, quasi-identifiers: [age]",
        "a.csv, quasi-identifiers: [age], hierarchies: {age: '*'}",
    ) == [True, True, False]


def test_a_fingerprint_notices_that_a_file_was_written_again(folder: Path) -> None:
    plan = plan_of(folder)
    before = fingerprints(plan)
    (folder / "b.csv").write_text("age,ill\n20,flu\n21,cold\n30,flu\n")
    after = fingerprints(plan)
    assert [before[key] != after[key] for key in before] == [False, False, True]


def test_queries_depend_on_all_tables_secrets_and_constraints(tmp_path: Path) -> None:
    text = (
        "version: 1\n"
        "tables:\n"
        "  R: {columns: [x], rows: [[1]]}\n"
        "  S: {columns: [x], rows: [[1]]}\n"
        "secrets:\n"
        "  s: 'Q(x) :- R(x)'\n"
        "  t: 'Q(x) :- S(x)'\n"
        "releases:\n"
        "  v: {query: 'V(x) :- S(x)'}\n"
        "checks:\n"
        "  - perfect-privacy: {secret: s, release: v}\n"
    )

    def mark(old: str = "", new: str = "") -> str:
        (tmp_path / "tacit.yaml").write_text(text.replace(old, new) if old else text)
        (found,) = fingerprints(load_plan(tmp_path / "tacit.yaml")).values()
        return found

    usual = mark()
    assert mark("rows: [[1]]}\nsecrets", "rows: [[2]]}\nsecrets") != usual
    assert mark("s: 'Q(x) :- R(x)'", "s: 'Q(x) :- R(x), S(x)'") != usual
    assert mark("t: 'Q(x) :- S(x)'", "t: 'Q(x) :- S(x), R(x)'") == usual, (
        "another secret is not asked about"
    )


# -- checking --------------------------------------------------------------------------------------


def test_a_check_gives_verdicts_cards_and_pictures_that_json_can_hold(
    folder: Path, here: None
) -> None:
    found = json.loads(json.dumps(checked(folder)))
    assert [one["status"] for one in found["verdicts"]] == ["holds", "holds", "holds"]
    assert found["keys"] == found["plan_keys"] == keys_of(load_plan(folder / "tacit.yaml"))
    one, two = found["sections"]
    assert (
        one["name"] == "one"
        and one["releases"] == ["one"]
        and one["kinds"] == ["k-anonymity", "l-diversity"]
        and one["status"] == "holds"
    )
    assert len(one["cards"]) == len(one["keys"]) == 2 and one["cards"][0].lstrip().startswith(
        '<article class="card holds">'
    )
    assert all(chart["svg"].startswith("<svg") and chart["title"] for chart in one["charts"])
    assert "<script" not in json.dumps(found) and two["figures"][0] == ["2", "people"]


def test_a_check_tells_how_far_it_is_and_can_be_stopped(folder: Path, here: None) -> None:
    steps: list[float] = []
    check(Job(lambda text, share: steps.append(share)), str(folder / "tacit.yaml"), str(folder))
    assert steps == sorted(steps) and 0 < steps[0] < 0.1 and steps[-1] < 1
    assert len(set(steps)) >= 6, "three checks, who is exposed, and two releases to draw"
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        check(job, str(folder / "tacit.yaml"), str(folder))


def test_the_steps_of_a_check_stay_within_its_part_of_the_way(folder: Path) -> None:
    told: list[tuple[str, float]] = []
    job = most_of(Job(lambda text, share: told.append((text, share))), plan_of(folder).checks)
    for number, text in enumerate(
        ["k-anonymity of one", "l-diversity of one", "k-anonymity of two"]
    ):
        job.step(text, number / 3)
        for share in (0.0, 0.5, 1.0) if number < 2 else ():
            job.step("sampling", share)
    job.step("looking for who is exposed", 1.0)
    job.step("beliefs", 0.0)
    job.step("done", 1.0)
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[-1] < ASSESSED and "done" not in dict(told)
    assert told[0][0] == "counting for k-anonymity of one" and told[4][0] == "l-diversity of one", (
        "the second check finds the table counted"
    )
    whole = 2 + 1 + 2 + 2
    assert shares[4] == pytest.approx(0.02 + (ASSESSED - 0.02) * 2 / whole) and shares[
        8
    ] == pytest.approx(0.02 + (ASSESSED - 0.02) * 3 / whole)


def test_a_check_reads_nothing_outside_of_its_folder(folder: Path, here: None) -> None:
    inside = folder / "inside"
    inside.mkdir()
    (inside / "tacit.yaml").write_text(
        TWO.replace("a.csv", "../a.csv").replace("b.csv", "../b.csv")
    )
    with pytest.raises(InputError, match="outside"):
        check(Job(), str(inside / "tacit.yaml"), str(inside))


def test_a_shared_report_names_nobody(tmp_path: Path, here: None) -> None:
    demo.write(tmp_path)
    path = str(tmp_path / "tacit.yaml")
    assert "Bruce" in report(Job(), path, str(tmp_path), ["april"], "owner")
    shared = report(Job(), path, str(tmp_path), ["april"], "shared")
    assert (
        "Bruce" not in shared
        and "13053" not in shared
        and "april" in shared
        and "may-entropy" not in shared
    )


# -- what is known ---------------------------------------------------------------------------------


def test_a_verdict_is_fresh_until_something_changes(folder: Path, here: None) -> None:
    found = checked(folder)
    assert [one.state for one in answers(plan_of(folder), None)] == ["unchecked"] * 3
    assert [one.state for one in answers(plan_of(folder), found)] == ["holds"] * 3
    assert [one.state for one in answers(plan_of(folder, "l: 2", "l: 3"), found)] == [
        "holds",
        "stale",
        "holds",
    ]
    more = plan_of(
        folder, "  - k-anonymity: {release: two, k: 2}", "  - t-closeness: {release: two, t: 0.5}"
    )
    assert [one.state for one in answers(more, found)] == ["holds", "holds", "unchecked"]


@pytest.mark.parametrize(
    ("states", "worst"),
    [
        ("holds", "holds"),
        ("holds undecided", "undecided"),
        ("undecided stale", "stale"),
        ("stale unchecked", "unchecked"),
        ("breached unchecked holds", "breached"),
        ("", "none"),
    ],
)
def test_a_release_holds_only_if_all_its_checks_do_now(states: str, worst: str) -> None:
    assert state_of([CheckState("", None, one) for one in states.split()]) == worst  # type: ignore[arg-type]


def test_checking_one_release_leaves_the_verdicts_on_others(folder: Path, here: None) -> None:
    whole = checked(folder)
    (folder / "b.csv").write_text("age,ill\n20,flu\n21,cold\n")
    part = checked(folder, "two")
    assert part["keys"] == whole["keys"][2:] and [one["name"] for one in part["sections"]] == [
        "two"
    ]
    both = merged(whole, part)
    assert both["keys"] == whole["keys"] and [one["status"] for one in both["verdicts"]] == [
        "holds",
        "holds",
        "breached",
    ]
    assert [one["name"] for one in both["sections"]] == ["one", "two"]
    assert [one.state for one in answers(plan_of(folder), both)] == ["holds", "holds", "breached"]
    assert [
        (one.kind, one.check, one.subject, one.before, one.now) for one in changes(both, whole)
    ] == [("worse", "2-anonymity", "two", "holds", "breached")]
    assert [one.kind for one in changes(whole, both)] == ["better"]
    assert merged(None, part) is part and merged(part, whole) is whole


def test_what_is_new_and_what_is_gone_is_told(folder: Path, here: None) -> None:
    whole = checked(folder)
    plan_of(
        folder, "  - k-anonymity: {release: two, k: 2}", "  - t-closeness: {release: two, t: 1}"
    )
    now = checked(folder)
    assert [(one.kind, one.check) for one in changes(now, whole)] == [
        ("new", "1-closeness"),
        ("gone", "2-anonymity"),
    ]
    assert changes(now, None) == [] and changes(None, None) == []
    part = merged(now, checked(folder, "one"))
    assert part["keys"] == now["keys"], "what the plan does not ask any more is not kept"


def test_what_is_asked_differently_is_told_though_its_status_stays(
    folder: Path, here: None
) -> None:
    whole = checked(folder)
    assert changes(checked(folder), whole) == []
    plan_of(
        folder,
        "k-anonymity: {release: two, k: 2}",
        "l-diversity: {release: two, kind: entropy, l: 2}",
    )
    entropy = checked(folder)
    plan_of(
        folder,
        "k-anonymity: {release: two, k: 2}",
        "l-diversity: {release: two, kind: entropy, l: 1.5}",
    )
    easier = checked(folder)
    assert [(one.kind, one.check, one.before, one.now) for one in changes(easier, entropy)] == [
        ("asked differently", "entropy 1.5-diversity", "holds", "holds")
    ]
    plan_of(folder, "l: 2", "l: 3")
    (worse,) = changes(checked(folder), whole)
    assert (worse.kind, worse.differently) == ("worse", True)
    plan_of(folder)
    (folder / "b.csv").write_text("age,ill\n20,flu\n20,cold\n20,cold\n")
    assert [
        (one.kind, one.subject, one.differently) for one in changes(checked(folder), whole)
    ] == [("changed", "two", False)]


def test_ended_checks_are_kept_once_whoever_looks(folder: Path, here: None) -> None:
    bench = Bench(folder / "tacit.yaml", print)
    book = bench.book()
    works = [
        SimpleNamespace(id="2", kind="check", state="done", result=checked(folder, "two")),
        SimpleNamespace(id="1", kind="check", state="done", result=checked(folder)),
    ]
    works.insert(0, SimpleNamespace(id="3", kind="check", state="failed", result=None))
    book.works.all = lambda: list(works)  # type: ignore[method-assign]
    asyncio.run(adopt(book))
    asyncio.run(adopt(book))
    assert book.checked is not None and book.before is not None
    assert len(book.checked["keys"]) == len(book.before["keys"]) == 3, (
        "the older one was kept first, and the newer one put into it"
    )
    place = folder / STATE / "tacit.yaml.json"
    assert place.stat().st_mode & 0o777 == 0o600 and place.parent.stat().st_mode & 0o777 == 0o700
    assert [one["name"] for one in sections_of(book.checked, "two")] == ["two"]
    bench.close()


def test_a_check_that_is_being_stopped_does_not_swallow_the_next_one(folder: Path) -> None:
    bench = Bench(folder / "tacit.yaml", print)
    book, runs, begun = bench.book(), SimpleNamespace(kind="check", key="", stops=False), []
    book.works.running = lambda: [runs]  # type: ignore[method-assign]
    book.works.start = lambda *asked, **more: begun.append(asked)  # type: ignore[method-assign]
    assert start(book) is runs and not begun, "what runs is not begun again"
    runs.stops = True
    start(book)
    assert len(begun) == 1
    book.works.running = list  # type: ignore[assignment]
    bench.close()


# -- words -----------------------------------------------------------------------------------------


def test_the_board_says_in_one_sentence_what_to_do(folder: Path, here: None) -> None:
    plan = plan_of(folder)
    found = checked(folder)
    assert (
        sentence(plan, answers(plan, None))
        == "Some results are missing or out of date: one and two."
    )
    assert sentence(plan, answers(plan, found)) == "All releases meet the checks of this plan."
    (folder / "b.csv").write_text("age,ill\n20,flu\n21,cold\n")
    assert sentence(plan, answers(plan, checked(folder))) == "Not ready to release: two."


def test_the_board_says_what_the_ledger_says_of_a_release(folder: Path, here: None) -> None:
    from tacit.checking.recording.record import record

    (folder / "a.csv").write_text((folder / "a.csv").read_text() + "Eve,40,flu\n")
    (folder / "out.csv").write_text("age,ill\n*,flu\n*,cold\n*,flu\n*,cold\n*,flu\n")
    plan_of(folder, "  one: {table: a}", "  one: {table: a}\n  done: {table: a, file: out.csv}")
    text = (folder / "tacit.yaml").read_text()
    for old, new in (
        ("checks:", "checks:\n  - k-anonymity: {release: done, k: 2}"),
        ("[ill], person", "[ill], hierarchies: {age: '*'}, person"),
    ):
        text = text.replace(old, new)
    (folder / "tacit.yaml").write_text(text)
    plan = load_plan(folder / "tacit.yaml")
    now = sentence(plan, answers(plan, checked(folder)))
    assert now == "done meets its checks. Not ready to release: one."
    assert record(plan, "done", to=("insurer",), by="me").entries
    given = given_of(plan)
    assert given["done"].to == ("insurer",) and given["done"].status == "holds"
    assert given["done"].words.endswith("; 1 of 1 check held then")
    old = answers(plan, None)
    assert sentence(plan, old, given) == (
        "done met its checks when it went out. Some results are missing or out of date: one and "
        "two."
    )
    mine = [one for one in old if one.check.releases == ("done",)]
    assert [decided_then(one, given) for one in mine] == ["holds"]
    assert {decided_then(one, given) for one in old if one not in mine} == {None}
    asked_more = replace(mine[0], check=replace(mine[0].check, parameters={"k": 3}))
    assert decided_then(asked_more, given) is None
    before, after = (
        replace(mine[0], state="stale", when=(given["done"].at + shift).isoformat())
        for shift in (timedelta(hours=-1), timedelta(hours=1))
    )
    assert (decided_then(before, given), decided_then(after, given)) == ("holds", None)
    assert sentence(plan, mine, given) == "Not checked since it went out: done."
    bad = {"done": ReleaseHistory((), given["done"].at, ("breached",))}
    assert sentence(plan, mine, bad).endswith("out of date: done.")
    breached = [replace(one, state="breached") for one in old if one.check.releases == ("one",)]
    said = sentence(plan, [*mine, *breached], given)
    assert said == "done met its checks when it went out. Not ready to release: one."


def test_the_board_does_not_pass_over_a_release_that_nothing_is_asked_about(
    folder: Path, here: None
) -> None:
    plan = plan_of(folder, "  two: {table: b}", "  two: {table: b}\n  raw: {table: b}")
    found = answers(plan, checked(folder))
    assert sentence(plan, found) == "What is checked holds; nothing is asked about raw."
    lines = board_csv(plan, found).decode().splitlines()
    assert lines[0] == "release,check,state,what was found,checked" and len(lines) == 5
    assert (
        lines[1].startswith("one,2-anonymity,holds,the smallest group has 2 people,20")
        and lines[-1] == "raw,,no checks,,"
    )
    later = plan_of(folder, "l: 2", "l: 3")
    stale = (
        board_csv(
            later, answers(later, checked_before := {**checked(folder, "two"), "fingerprints": {}})
        )
        .decode()
        .splitlines()
    )
    assert checked_before["keys"] and stale[1] == "one,2-anonymity,not yet checked,,"
    assert stale[3].startswith("two,2-anonymity,checked before the last change,was holds,20")


def test_the_saved_board_names_nobody(tmp_path: Path, here: None) -> None:
    demo.write(tmp_path)
    plan = load_plan(tmp_path / "tacit.yaml")
    text = board_csv(
        plan, answers(plan, check(Job(), str(tmp_path / "tacit.yaml"), str(tmp_path)))
    ).decode()
    assert (
        'april,3-diversity,breached,"4 people share one condition, so it is known",20' in text
        and "Bruce" not in text
    )


def test_repair_is_offered_only_where_it_can_do_something(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  R: {columns: [x, y], rows: [[1, 2]], sensitive: [y], quasi-identifiers: [x]}\n"
        "secrets:\n"
        "  s: 'Q(x) :- R(x, y)'\n"
        "releases:\n"
        "  t: {table: R}\n"
        "  v: {query: 'V(y) :- R(x, y)'}\n"
        "  w: {query: 'SELECT y FROM R WHERE x = 1'}\n"
        "checks:\n"
        "  - perfect-privacy: {secret: s, release: v}\n"
        "  - gamma-privacy: {releases: [w], gamma: 0.5}\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    assert {name: can_be_repaired(plan, one) for name, one in plan.releases.items()} == {
        "t": True,
        "v": False,
        "w": True,
    }
    file = replace(plan.of(Microdata)["t"], file="t.csv")  # a file stays as it is
    assert can_be_repaired(plan, file, "breached")
    assert not can_be_repaired(plan, file, "holds") and not can_be_repaired(plan, file, "stale")


def test_releases_checks_and_roles_are_told_in_words(folder: Path) -> None:
    plan = plan_of(folder)
    assert [check_text(one) for one in plan.checks] == ["2-anonymity", "2-diversity", "2-anonymity"]
    assert what_it_is(plan.releases["one"], plan) == "Microdata of a, as it is"
    assert roles(plan.tables["a"]) == {
        "identifiers": ("name",),
        "quasi-identifiers": ("age",),
        "sensitive": ("ill",),
        "person": ("name",),
    }
    assert len(in_short("x" * 500)) == 160
    assert given_of(plan) == {}


def test_a_plan_that_is_wrong_is_told_at_its_line(folder: Path, here: None) -> None:
    plan = TWO.replace("k-anonymity: {release: one", "k-anonimity: {release: one")
    (folder / "tacit.yaml").write_text(plan)
    with pytest.raises(TacitError) as caught:
        checked(folder)
    assert next(iter(caught.value)).mark.line == 9  # type: ignore[union-attr]


def test_a_waiver_stands_with_its_check_and_asks_for_a_new_card(folder: Path, here: None) -> None:
    named = TWO.replace("{release: one, k: 2}", "{release: one, k: 3, name: threes}")
    (folder / "tacit.yaml").write_text(named)
    before = fingerprints(load_plan(folder / "tacit.yaml"))
    waiver = "waive: [{check: threes, reason: agreed, by: A. Bee, until: 2999-12-31}]\n"
    (folder / "tacit.yaml").write_text(named + waiver)
    plan = load_plan(folder / "tacit.yaml")
    after = fingerprints(plan)
    assert [key for key in after if after[key] != before[key]] == [keys_of(plan)[0]]
    found = answers(plan, checked(folder))
    said = "Waived by A. Bee until 2999-12-31: agreed"
    assert [(one.state, one.waiver) for one in found][:2] == [("breached", said), ("holds", "")]
    assert said in board_csv(plan, found).decode()
