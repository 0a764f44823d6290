"""What the page of a release says and shows, asked for without a browser."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit import demo
from tacit.checking.assess import assess
from tacit.checking.recording.record import record
from tacit.engines.open import open_engine
from tacit.families.catalog import FAMILIES
from tacit.families.microdata.attacks.attack_beliefs import KnowledgeAmount
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.words import known_facts
from tacit.model.release import Microdata
from tacit.plan.plan import Check, Plan
from tacit.plan.read.load import load_plan
from tacit.report.charts.person_beliefs import believed_chart
from tacit.report.tellers.microdata import left_grid
from tacit.workbench.check_states import CheckState, State
from tacit.workbench.pages.release.microdata import (
    Size,
    beliefs_csv,
    believe,
    group_words,
    line,
    lines_of,
    matching,
    sensitive_of,
    size_of,
)
from tacit.workbench.pages.release.page import evidence, sentence
from tacit.workbench.pages.release.together import drafts_of, others_out


@pytest.fixture
def source(tmp_path: Path) -> Iterator[MicrodataSource]:
    demo.write(tmp_path)
    plan = load_plan(tmp_path / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        yield MicrodataSource(plan, engine)


def answer(
    state: State, k: int, because: str = "a group of 1 person. Anyone who knows Bruce ..."
) -> CheckState:
    verdict: dict[str, Any] | None = (
        None if state == "unchecked" else {"status": state, "because": because}
    )
    return CheckState(str(k), Check("k-anonymity", {"k": k}), state, verdict)


COPIES = """version: 1
tables:
  people:
    columns: [age, zone, ill]
    rows: [[21, A, flu], [24, A, gout], [22, B, gout], [27, B, flu]]
    quasi-identifiers: [age, zone]
    sensitive: [ill]
    hierarchies: {age: {ranges: [10]}, zone: "*"}
releases:
  draft: {table: people}
  april: {table: people, generalization: {age: 1, zone: 1}}
  may: {table: people, file: may.csv}
checks:
  - l-diversity: {release: april, kind: distinct, l: 2}
  - l-diversity: {release: may, kind: distinct, l: 2}
"""


def copies(folder: Path) -> Plan:
    (folder / "may.csv").write_text("age,zone,ill\n" + 2 * "20-29,*,flu\n20-29,*,gout\n")
    (folder / "tacit.yaml").write_text(COPIES)
    return load_plan(folder / "tacit.yaml")


def test_a_copy_is_told_together_with_others_only_where_there_are_others(tmp_path: Path) -> None:
    plan = copies(tmp_path)
    assert not others_out(plan, "may")
    assert record(plan, "may", to=("clinic",), by="me").entries
    assert not others_out(plan, "may") and others_out(plan, "april")
    (tmp_path / "tacit-ledger.sqlite").unlink()  # with its key still there
    assert others_out(plan, "may")


def test_levels_are_looked_for_in_drafts_and_not_in_files(tmp_path: Path) -> None:
    plan = copies(tmp_path)
    found = {name: drafts_of(plan, one) for name, one in plan.of(Microdata).items()}
    assert found == {"draft": ["draft"], "april": ["april"], "may": ["april"]}


def test_values_that_are_left_have_a_column_for_each_thing_that_is_known(tmp_path: Path) -> None:
    plan = copies(tmp_path)
    assert record(plan, "may", to=("clinic",), by="me").entries
    (said,) = assess(plan, only=["april"]).answered
    grid = left_grid(said.verdict)
    assert grid is not None
    assert grid.head == ("age", "zone", "people", "before", "may", "april", "together")
    assert [row[2] for row in grid.rows] == ["4"] and grid.rows[0][1] in ("A", "B")
    joined = left_grid(said.verdict, joined=True)
    assert joined is not None and joined.head[:2] == ("people who", "people")


def test_what_a_file_does_not_show_is_not_known_of_anybody(tmp_path: Path) -> None:
    plan = copies(tmp_path)
    with open_engine(plan.source, plan.folder) as engine:
        (first, *_) = lines_of(MicrodataSource(plan, engine), "may", "ill", 0, 1)
    assert known_facts(first.person.known) == "is 20-29"


def test_the_verdict_is_one_sentence() -> None:
    assert sentence([]) == "Nothing is asked about this release."
    assert sentence([answer("unchecked", 2)]) == "Not everything was checked yet: press Check."
    assert (
        sentence([answer("holds", 2), answer("stale", 3)])
        == "The plan or the data changed since this was checked: press Check."
    )
    assert (
        sentence([answer("holds", 2), answer("holds", 3)])
        == "It meets the checks of this plan: 2-anonymity and 3-anonymity hold."
    )
    assert (
        sentence([answer("holds", 2), answer("breached", 3)])
        == "Not ready to release: 3-anonymity is breached: a group of 1 person."
    )
    many = [answer("breached", 2), answer("breached", 3), answer("holds", 4)]
    assert sentence(many) == (
        "Not ready to release: 2 of 3 checks are breached, such as 2-anonymity: "
        "a group of 1 person."
    )
    assert (
        sentence([answer("undecided", 2, "this could not be decided.")])
        == "Not decided: 2-anonymity is undecided: this could not be decided."
    )


def test_every_kind_of_release_has_evidence_to_show() -> None:
    for name in set(FAMILIES) - {"identifiers"}:  # of these the cards say all
        module = evidence(name)
        assert isinstance(module.HAS_CARDS, bool) and isinstance(module.IS_ALWAYS_SHOWN, bool)
        assert list(inspect.signature(module.show).parameters) == [
            "visit",
            "name",
            "section",
        ] and inspect.iscoroutinefunction(module.show)
    assert evidence("a kind of its own") is None


def test_the_most_exposed_come_first_and_anybody_is_found_by_name(source: MicrodataSource) -> None:
    assert sensitive_of(source, "april") == ("condition",)
    assert size_of(source, "april", "condition") == Size(
        12, 12, ("name",), ("zip", "age", "nationality")
    )
    first, *others = lines_of(source, "april", "condition", 0, 12)
    assert (
        tuple(line(first)) == ("Bruce", "Cancer", "41 %", "100 %", "4")
        and line(first).listed is first
    )
    assert len(others) == 11
    assert [
        one.person.identity["name"] for one in matching(source, "april", "condition", "UME")
    ] == ["Umeko"]


def test_the_demo_s_umeko_is_believed_more_with_each_thing_that_is_known(
    source: MicrodataSource,
) -> None:
    (umeko,) = matching(source, "april", "condition", "Umeko")
    found = believe(source, "april", "condition", umeko, KnowledgeAmount(), None)
    assert found.asked == found.true == "Viral Infection" and found[
        "Viral Infection"
    ].after == Fraction(1, 2)
    found = believe(source, "april", "condition", umeko, KnowledgeAmount(negations=1), None)
    assert (
        found.facts == ("Umeko does not have Heart Disease",)
        and found["Viral Infection"].knowing == 1
    )
    assert beliefs_csv(found).decode().splitlines() == [
        "condition,true,before,with the release,with this knowledge,at most with so much knowledge",
        "Viral Infection,True,1/3,1/2,1,1",
        "Heart Disease,False,1/4,1/2,0,1",
    ]


def test_a_group_is_told_in_words_also_if_it_is_one_person(source: MicrodataSource) -> None:
    (umeko,) = matching(source, "april", "condition", "Umeko")
    found = believe(source, "april", "condition", umeko, KnowledgeAmount(), None)
    assert (
        group_words(found) == "4 people look the same in the release; they have 2 different values."
    )
    assert (
        group_words(replace(found, different=1))
        == "4 people look the same in the release; they all have the same value."
    )
    assert group_words(replace(found, known=2, different=1)) == (
        "4 people look the same in the release, and the condition of 2 of them is known; "
        "it is the same value each time."
    )
    assert (
        group_words(replace(found, known=0, different=0))
        == "4 people look the same in the release, and the condition of 0 of them is known."
    )
    assert (
        group_words(replace(found, people=1, known=1, different=1))
        == "Nobody else looks the same in the release."
    )
    assert (
        group_words(replace(found, people=1, known=0, different=0))
        == "Nobody else looks the same in the release, and the condition is not known."
    )


def test_the_picture_of_beliefs_says_what_it_shows(source: MicrodataSource) -> None:
    (umeko,) = matching(source, "april", "condition", "Umeko")
    chart = believed_chart(
        believe(source, "april", "condition", umeko, KnowledgeAmount(negations=1), None)
    )
    assert (
        chart.title == "That Umeko has Viral Infection: believed with 33 % before, with 100 % now"
    )
    assert 'role="img"' in chart.svg and "Viral Infection (true): 33 % → 50 % → 100 %" in chart.svg
    assert chart.svg.count("<rect") == 11, (
        "six grounds, and a bar for each belief that is not nothing"
    )


def test_values_of_people_are_no_html(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  t:\n"
        "    person: [name]\n"
        "    quasi-identifiers: [age]\n"
        "    sensitive: [ill]\n"
        "    columns: [name, age, ill]\n"
        "    rows: [['<b>Ann</b>', 1, '<script>'], [Bob, 1, '\"x\"']]\n"
        "releases:\n"
        "  r: {table: t}\n"
        "checks:\n"
        "  - k-anonymity: {release: r, k: 2}\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        opened = MicrodataSource(plan, engine)
        (ann,) = matching(opened, "r", "ill", "ann")
        chart = believed_chart(believe(opened, "r", "ill", ann, KnowledgeAmount(1, 0), None))
    assert "<script" not in chart.svg and "<b>" not in chart.svg


def test_a_release_without_a_sensitive_column_has_nothing_to_believe(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  t: {quasi-identifiers: [age], columns: [age], rows: [[1], [1]]}\n"
        "releases:\n"
        "  r: {table: t}\n"
        "checks:\n"
        "  - k-anonymity: {release: r, k: 2}\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        assert sensitive_of(MicrodataSource(plan, engine), "r") == ()
