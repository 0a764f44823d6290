"""Pages of views: what they ask of the package is what the command line tells, changes that they
propose hold, and cards can be saved.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nicegui")

from tacit.checking.assess import assess
from tacit.engines.open import open_engine
from tacit.errors import InputError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.queries.definitions.changed_views import changed_views
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.reading.readings import Readings
from tacit.families.worlds.runs.explain import explain_worlds
from tacit.model.jobs import Cancelled, Job
from tacit.plan.read.load import load_plan
from tacit.report.explained_worlds import lines
from tacit.workbench.parts.cards import chart_of, charts_in, table_names, tables_of, taken_apart
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.pictures import as_file, png_of
from tacit.workbench.tasks.check import check
from tacit.workbench.tasks.views import (
    STAYS,
    can_list,
    check_at,
    list_worlds,
    of_section,
    plan_text,
    query_evidence,
    world_rows,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = """\
version: 1
tables:
  patients: {columns: {pid: integer, name: text}, key: [pid]}
  stays: {columns: {pid: integer, diagnosis: text, ward: text}, nullable: []}
secrets:
  cancer: "SELECT DISTINCT p.name FROM patients p JOIN stays s ON p.pid = s.pid WHERE s.diagnosis = 'cancer'"
  anybody: "S(n) :- patients(p, n), stays(p, d, w)"
releases:
  wards: {query: "SELECT DISTINCT ward FROM stays"}
  "on: friday": {query: "SELECT DISTINCT ward, diagnosis FROM stays", to: [press]}
  datalog: {query: "V(w) :- stays(p, d, w)"}
  in-a-file: {query: wards.sql}
  flu: {query: "SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'"}
checks:
  - perfect-privacy: {secret: cancer, release: wards}
  - perfect-privacy: {secret: cancer, release: "on: friday"}
  - perfect-privacy: {secret: cancer, release: datalog}
  - perfect-privacy: {secret: cancer, release: in-a-file}
  - perfect-privacy: {secret: cancer, release: flu}
  - perfect-privacy: {secret: anybody, release: wards}
"""  # noqa: E501


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan about queries."""
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "wards.sql").write_text("SELECT DISTINCT ward FROM stays\n", "utf-8")
    (folder / "tacit.yaml").write_text(PLAN, "utf-8")
    return folder / "tacit.yaml"


@pytest.fixture(scope="module")
def checked(clinic: Path) -> dict[str, Any]:
    """Its verdicts, as the pages keep them."""
    return kept(clinic)


def kept(path: Path) -> dict[str, Any]:
    here = Path.cwd()
    try:
        return check(Job(), str(path), str(path.parent))
    finally:
        os.chdir(here)  # the work has a process of its own


@pytest.fixture(scope="module")
def source(clinic: Path) -> MicrodataSource:
    plan = load_plan(clinic)
    return MicrodataSource(plan, open_engine(plan.source, plan.folder))


# -- queries ---------------------------------------------------------------------------------------


def test_every_verdict_of_a_section_comes_with_its_card(checked: dict[str, Any]) -> None:
    wards = next(one for one in checked["sections"] if one["releases"] == ["wards"])
    found = of_section(checked, wards, ("perfect-privacy",))
    assert [verdict["subject"]["secret"] for _, verdict, _ in found] == ["cancer", "anybody"]
    assert all(
        f"perfect privacy of {verdict['subject']['secret']}" in card and 'class="graph"' in card
        for _, verdict, card in found
    )
    assert of_section(checked, wards, ("g-safety",)) == []


def test_how_queries_were_read_is_what_explain_tells(
    source: MicrodataSource, checked: dict[str, Any]
) -> None:
    found = query_evidence(source, 0, checked["verdicts"][0])
    readings = Readings(source.plan, lambda: source.engine)
    assert [(one.role, one.name) for one in found.read] == [("secret", "cancer"), ("view", "wards")]
    assert [list(one.lines) for one in found.read] == [
        readings.explained(name).lines() for name in ("cancer", "wards")
    ]


def test_a_proposed_change_put_into_the_plan_makes_the_check_hold(
    source: MicrodataSource, checked: dict[str, Any], clinic: Path, tmp_path: Path
) -> None:
    seen = []
    for number, verdict in enumerate(checked["verdicts"]):
        for change in query_evidence(source, number, verdict).changes:
            where, text = plan_text(source.plan, change)
            (tmp_path / "wards.sql").write_text(
                (clinic.parent / "wards.sql").read_text("utf-8"), "utf-8"
            )
            plan = with_change(PLAN, change.view, text, tmp_path if "the file" in where else None)
            (tmp_path / "tacit.yaml").write_text(plan, "utf-8")
            assert assess(load_plan(tmp_path / "tacit.yaml"))[number].status == "holds"
            seen.append((change.view, change.words))
    condition = "add the condition stays.diagnosis <> 'cancer'"
    assert seen == [
        ("wards", condition),
        ("on: friday", condition),
        ("datalog", condition),
        ("in-a-file", condition),
    ]


def with_change(plan: str, view: str, text: str, folder: Path | None) -> str:
    """The plan with a change where the page says that it belongs."""
    if folder:
        (folder / "wards.sql").write_text(text, "utf-8")
        return plan
    old = [
        line
        for line in plan.splitlines()
        if line.strip().replace('"', "").startswith(f"{view}: {{")
    ]
    assert len(old) == 1
    return plan.replace(old[0], text)


def test_a_changed_view_keeps_the_names_of_its_columns(
    source: MicrodataSource, checked: dict[str, Any]
) -> None:
    [change] = query_evidence(source, 1, checked["verdicts"][1]).changes
    assert (
        'AS "ward"' in change.text
        and 'AS "diagnosis"' in change.text
        and change.text.startswith("SELECT DISTINCT\n")
    )
    where, text = plan_text(source.plan, change)
    assert (
        where == "In the plan below releases, in the place of on: friday's query:"
        and text.startswith("  'on: friday':\n    query: |-\n      SELECT")
    )


def test_what_holds_or_has_no_small_change_proposes_nothing(
    source: MicrodataSource, checked: dict[str, Any]
) -> None:
    for number in (4, 5):
        assert query_evidence(source, number, checked["verdicts"][number]).changes == ()


def test_words_that_nobody_proposed_lead_to_no_text(source: MicrodataSource) -> None:
    readings = Readings(source.plan, lambda: source.engine)
    question = readings.question(source.plan.checks[0])
    assert changed_views(PerfectPrivacy(), question, "wards", ["drop it all"]) == []
    assert (
        changed_views(
            PerfectPrivacy(), question, "gone", ["add the condition stays.diagnosis <> 'cancer'"]
        )
        == []
    )
    assert (
        changed_views(
            PerfectPrivacy(model="attribute-independent"),
            question,
            "wards",
            ["add the condition stays.diagnosis <> 'cancer'"],
        )
        == []
    )
    # A change that does not help is not shown, whoever proposes it.
    both = readings.question(source.plan.checks[1])
    assert (
        changed_views(
            PerfectPrivacy(),
            both,
            "on: friday",
            ["leave out the column ward", "leave out the column diagnosis"],
        )
        == []
    )


def test_random_proposals_are_judged_to_hold_as_they_are_written() -> None:
    """Views with small random queries: whatever text is proposed holds by a check of its own,
    from the text.
    """
    rng, proposed = random.Random(4), 0
    for _ in range(20):
        columns = rng.sample(["a", "b", "c"], k=rng.randint(2, 3))
        condition = rng.choice(["", " WHERE a <> 'y'", " WHERE b = c"])
        view = f"SELECT DISTINCT {', '.join(columns)} FROM R{condition}"
        secret = (
            f"SELECT DISTINCT {rng.choice('abc')} FROM R WHERE {rng.choice('abc')} = "
            f"'{rng.choice('xy')}'"
        )
        plan = (
            "version: 1\n"
            "tables:\n"
            f"  R: {{columns: {{a: text, b: text, c: text}}, nullable: []}}\n"
            f'secrets: {{s: "{secret}"}}\n'
            "releases:\n"
            f'  v: {{query: "{view}"}}\n'
            "checks:\n"
            f"  - perfect-privacy: {{secret: s, release: v}}\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tacit.yaml")
            path.write_text(plan, "utf-8")
            verdict = assess(load_plan(path)).to_json()["verdicts"][0]
            loaded = load_plan(path)
            with open_engine(loaded.source, loaded.folder) as engine:
                found = query_evidence(MicrodataSource(loaded, engine), 0, verdict)
            assert {one.words for one in found.changes} <= set(
                verdict.get("witness", {}).get("changes", ())
            )
            for change in found.changes:
                path.write_text(with_change(plan, "v", plan_text(loaded, change)[1], None), "utf-8")
                assert assess(load_plan(path))[0].status == "holds"
                proposed += 1
    assert proposed > 5


def test_a_plan_that_changed_is_not_mistaken_for_the_one_that_was_judged(
    source: MicrodataSource, checked: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="changed after this verdict"):
        check_at(source.plan, 5, checked["verdicts"][0])
    with pytest.raises(InputError, match="changed after this verdict"):
        query_evidence(source, 99, checked["verdicts"][0])


# -- worlds ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def conference(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    path = tmp_path_factory.mktemp("conference") / "colluding.yaml"
    path.write_text((EXAMPLES / "conference" / "colluding.yaml").read_text("utf-8"), "utf-8")
    return path, kept(path)


def test_the_worlds_are_those_that_explain_lists(conference: tuple[Path, dict[str, Any]]) -> None:
    path, checked = conference
    for number, verdict in enumerate(checked["verdicts"]):
        assert can_list(verdict)
        shown = list_worlds(Job(), str(path), str(path.parent), number, verdict, 50, None)
        told = explain_worlds(load_plan(path), verdict["name"], sample=50)
        assert (
            told.listing is not None
            and shown.lines == tuple(lines(told))
            and (shown.case, shown.cases) == (told.number, told.cases)
        )
        rows = world_rows(shown)
        assert [row[1] == STAYS for row in rows] == [one.after for one in told.listing.worlds]
        assert len(world_rows(shown, STAYS)) == sum(one.after for one in told.listing.worlds)
        assert "--" not in shown.case_told


def test_another_case_can_be_asked_for(conference: tuple[Path, dict[str, Any]]) -> None:
    path, checked = conference
    found = [
        list_worlds(Job(), str(path), str(path.parent), 0, checked["verdicts"][0], 8, case)
        for case in (1, 2)
    ]
    assert [one.case for one in found] == [1, 2] and found[0].cases == 2
    with pytest.raises(InputError, match="no case 3"):
        list_worlds(Job(), str(path), str(path.parent), 0, checked["verdicts"][0], 8, 3)


def test_work_that_is_cancelled_stops(conference: tuple[Path, dict[str, Any]]) -> None:
    path, checked = conference
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        list_worlds(job, str(path), str(path.parent), 0, checked["verdicts"][0], 8, None)


def test_only_worlds_of_these_data_can_be_listed() -> None:
    assert not can_list({"check": "g-safety", "required": {"over": "domain"}})
    assert not can_list({"check": "perfect-privacy", "required": {}})
    assert can_list({"check": "e-safety", "required": {}})


def test_the_world_that_dies_is_marked(
    conference: tuple[Path, dict[str, Any]], clinic: Path
) -> None:
    _, checked = conference
    cards = [card for section in checked["sections"] for card in section["cards"]]
    dying = [card for card in cards if "is ruled out by" in card]
    assert dying and all('<section class="side dies">' in card for card in dying)


# -- cards -----------------------------------------------------------------------------------------


def test_pictures_and_tables_of_a_card_can_be_saved(checked: dict[str, Any]) -> None:
    card = checked["sections"][0]["cards"][0]
    html, charts = taken_apart(card)
    assert html == card and charts == []
    secret, view = charts_in(card)
    assert (
        secret.title.startswith("secret cancer:")
        and "Boxes are the tables" in secret.note
        and view.svg.endswith("</svg>")
    )
    assert as_file(view.svg).startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
    assert as_file(as_file(view.svg)).count(
        "xmlns="
    ) == 1 and '<rect width="100%" height="100%" fill="#fff"/>' in as_file(view.svg)
    assert png_of(view.svg).startswith(b"\x89PNG")
    assert "\x1b" not in as_file(
        view.svg.replace("</svg>", "<text>\x1b[31m</text></svg>")
    )  # XML could not hold it
    assert [one.caption for one in tables_of(card)] == [
        "patients",
        "stays",
        "answer without +",
        "answer with +",
        "stays",
        "answer without +",
        "answer with +",
    ]
    tables = tables_of(card)
    assert table_names(tables) == [
        "Patients",
        "Stays 1",
        "Answer without + 1",
        "Answer with + 1",
        "Stays 2",
        "Answer without + 2",
        "Answer with + 2",
    ]
    assert csv_bytes(tables[0].rows) == b"mark,pid,name\r\n,value 1,value 3\r\n", (
        "a file holds one table, and begins with its head"
    )


def test_a_card_says_how_sure_it_is_only_where_something_was_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "chdir", lambda path: None)
    text = (
        "version: 1\n"
        "tables:\n"
        "  R: {columns: [x, y], rows: [[1, 2]]}\n"
        "  S: {columns: [x], rows: [[1]]}\n"
        "secrets:\n"
        "  s: 'Q(x) :- R(x, y)'\n"
        "releases:\n"
        "  v: {query: 'V(x) :- S(x)'}\n"
        "checks:\n"
        "  - perfect-privacy: {secret: s, release: v}\n"
    )
    cards = {}
    for constraints in ("", "constraints: ['R(x, y) -> S(x)']\n"):
        (tmp_path / "tacit.yaml").write_text(text.replace("checks:", f"{constraints}checks:"))
        found = check(Job(), str(tmp_path / "tacit.yaml"), str(tmp_path))
        cards[found["verdicts"][0]["status"]] = found["sections"][0]["cards"][0]
    assert "exact: " in cards["holds"] and "exact: " not in cards["undecided"]


def test_tables_of_a_card_can_be_scrolled_by_keyboard(checked: dict[str, Any]) -> None:
    card = checked["sections"][0]["cards"][0]
    assert card.count('<div class="grid') == card.count(
        '<div class="grid" tabindex="0" role="group" aria-label="'
    )
    assert '<div class="grid" tabindex="0" role="group" aria-label="patients">' in card


def test_charts_are_taken_out_of_a_card_to_get_buttons(
    conference: tuple[Path, dict[str, Any]],
) -> None:
    _, checked = conference
    found = [taken_apart(card) for section in checked["sections"] for card in section["cards"]]
    assert any(charts for _, charts in found)
    for html, charts in found:
        assert "<figure" not in html and all(
            one.svg.startswith("<svg") and one.title and one.note for one in charts
        )


def test_a_figure_without_a_picture_is_none() -> None:
    assert chart_of("<figure><p>nothing</p></figure>") is None
