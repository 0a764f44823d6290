"""`tacit restore` as a user runs it:
what it prints and writes, how it ends, and what it leaves behind.
"""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from oracles import overlap
from oracles.overlap_cases import case
from tacit.families.overlaps.restore.candidates import candidates
from tacit.families.overlaps.restore.restore import restored
from tacit.families.overlaps.runs.restore import restore
from tacit.families.overlaps.runs.restore_results import Restored
from tacit.plan.read.document import parse
from tacit.plan.read.load import load_plan, read_plan

PATIENTS = """\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    key: [name]
    sensitive: [condition]
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
releases:
  male:      {query: "SELECT condition FROM patients WHERE sex = 'M'"}
  age26to28: {query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"}
checks:
  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5}
"""
PERSONAL = ("Donald", "Alan", "SARS", "Heart")
PEOPLE = """\
version: 1
tables:
  people:
    columns: [name, age, town, condition]
    key: [name]
    sensitive: [condition]
    rows:
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tacit.yaml").write_text(PATIENTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people(
    *rows: tuple[str, int, str, str], views: dict[str, str], gamma: str = "0.5", more: str = ""
) -> str:
    """A plan about some people."""
    lines = [PEOPLE + "".join(f"      - {json.dumps(row)}\n" for row in rows), "releases:\n"]
    lines += [
        f'  {name}: {{query: "SELECT condition FROM people WHERE {where}"}}\n'
        for name, where in views.items()
    ]
    lines += [
        "checks:\n",
        f'  - gamma-privacy: {{releases: [{", ".join(views)}], gamma: "{gamma}"{more}}}\n',
    ]
    return "".join(lines)


# -- restored --------------------------------------------------------------------------------------


def test_the_papers_example_is_restored_with_two_views(tacit: Any) -> None:
    ran = tacit("restore")
    assert ran.status == 0
    for said in (
        "restored with 2 further views",
        "80 % (4/5)   45 tables fit",
        "50 % (1/2)   8 tables fit",
        "SELECT condition FROM patients WHERE age BETWEEN 25 AND 26  2 rows",
        "no set of one view restores it",
        "none of as few keeps more tables",
        "4 rows more are published; 8 tables fit where 45 did",
        "the adversary does not know why the further views came",
        "- gamma-privacy: {releases: [male, age26to28, further-1, further-2], gamma: 0.5}",
        "tacit restore --plan tacit.yaml --aware",
    ):
        assert said in " ".join(ran.out.split()) or said in ran.out, said


def test_the_json_is_the_contract(tacit: Any) -> None:
    document = tacit("restore", "--json").json
    assert list(document)[:5] == ["release", "output", "verdicts", "utility", "seconds"]
    assert (
        document["release"] == ["male", "age26to28"]
        and document["output"] is None
        and document["status"] == "restored"
    )
    before, after = document["verdicts"]
    assert (before["status"], before["measured"]["gamma"]) == ("breached", "4/5")
    assert (after["status"], after["measured"]["gamma"], after["certainty"]) == (
        "holds",
        "1/2",
        "exact",
    )
    assert after["subject"] == {"releases": ["male", "age26to28", "further-1", "further-2"]}
    assert document["utility"] == {
        "worlds_before": "45",
        "worlds_after": "8",
        "rows": "4",
        "people_before": "7",
        "people_after": "7",
    }
    assert document["views"][0] == {
        "name": "further-1",
        "query": "SELECT condition FROM patients WHERE age BETWEEN 25 AND 26",
        "rows": "2",
        "to": [],
    }
    assert document["assumptions"] == [
        {
            "id": "views-unexplained",
            "text": "the adversary does not know why the further views came",
            "checked": "cannot",
        }
    ]
    assert document["assumptions"][0] in after["assumptions"] and document["aware"] is None
    search = document["search"]
    assert search["fewest"] and search["most_worlds"] and int(search["judged"]) <= 20
    for one in search["sets"]:
        assert int(one["sets"]) == int(one["judged"]) + int(one["left"]) + sum(
            map(int, one["ruled_out"].values())
        )


def test_the_draft_makes_the_check_hold(tacit: Any, folder: Path) -> None:
    plan = Path("tacit.yaml").read_bytes()
    ran = tacit("restore", "-o", "draft.yaml")
    assert ran.status == 0 and "draft.yaml: lines to paste into tacit.yaml" in ran.out
    assert Path("tacit.yaml").read_bytes() == plan and sorted(os.listdir(folder)) == [
        "draft.yaml",
        "tacit.yaml",
    ]
    draft, whole = yaml.safe_load(Path("draft.yaml").read_text("utf-8")), yaml.safe_load(PATIENTS)
    whole["releases"] |= draft["releases"]
    whole["checks"] = draft["checks"]
    Path("more.yaml").write_text(json.dumps(whole), "utf-8")
    checked = tacit("check", "more.yaml", "--json")
    assert checked.status == 0 and checked.json["verdicts"][0]["measured"]["worlds"] == "8"


def test_a_draft_is_written_again_and_the_plan_never(tacit: Any, folder: Path) -> None:
    Path("draft.yaml").write_text("old", "utf-8")
    assert tacit("restore", "-o", "draft.yaml").status == 0 and "further-1" in Path(
        "draft.yaml"
    ).read_text("utf-8")
    ran = tacit("restore", "-o", "tacit.yaml")
    assert (
        ran.status == 2
        and "it would be lost" in ran.err
        and Path("tacit.yaml").read_text("utf-8") == PATIENTS
    )


def test_names_that_are_taken_are_left_alone(tacit: Any) -> None:
    Path("tacit.yaml").write_text(
        PATIENTS.replace("checks:", '  further-1: {query: "SELECT age FROM patients"}\nchecks:'),
        "utf-8",
    )
    assert [one["name"] for one in tacit("restore", "--json").json["views"]] == [
        "further-2",
        "further-3",
    ]


def test_a_shared_audience_reads_nobodys_value(tacit: Any) -> None:
    for arguments in ((), ("--json",), ("--aware",), ("--aware", "--json")):
        ran = tacit("restore", "--audience", "shared", *arguments)
        assert not any(name in ran.out for name in PERSONAL), arguments
    tacit("restore", "--report", "r.html", "--audience", "shared")
    assert not any(name in Path("r.html").read_text("utf-8") for name in PERSONAL)


def test_a_shared_audience_reads_no_condition_on_a_key(tacit: Any) -> None:
    """A condition on a key names people, in the SQL and in the lines for the plan."""
    ran = tacit("restore", "--columns", "name", "--audience", "shared", "--report", "r.html")
    document = tacit("restore", "--columns", "name", "--audience", "shared", "--json")
    for text in (ran.out, document.out, Path("r.html").read_text("utf-8")):
        assert not any(
            name in text for name in (*PERSONAL, "Bob", "Clark", "Ellen", "Fen", "Garcia")
        )
    assert "for the owner only" in ran.out and "--audience owner" in ran.out
    assert [one["query"] for one in document.json["views"]] == [None, None] and document.json[
        "draft"
    ] is None
    owner = tacit("restore", "--columns", "name", "--json").json
    assert "name IN" in owner["draft"] and all("name IN" in one["query"] for one in owner["views"])


def test_classes_of_views_that_name_people_are_for_the_owner(tacit: Any) -> None:
    Path("tacit.yaml").write_text(
        PATIENTS.replace("sex = 'M'", "name IN ('Alan', 'Bob', 'Clark', 'Donald')"), "utf-8"
    )
    document = tacit("restore", "--columns", "sex", "--audience", "shared", "--json")
    assert "'Alan'" not in document.out


def test_the_next_command_is_about_the_same_check_and_columns(tacit: Any) -> None:
    check = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5"
    Path("tacit.yaml").write_text(
        PATIENTS.replace(
            check + "}", f"{check}, name: my strict}}\n{check.replace('0.5', '0.8')}, name: lax}}"
        ),
        "utf-8",
    )
    ran = tacit("restore", "my strict", "--columns", "age,sex", "--views", "2")
    said = " ".join(ran.out.split())
    assert said.endswith(
        "| tacit restore 'my strict' --plan tacit.yaml --columns age,sex --views 2 --aware"
    )
    assert tacit(
        "restore",
        "my strict",
        "--plan",
        "tacit.yaml",
        "--columns",
        "age,sex",
        "--views",
        "2",
        "--aware",
    ).status in (0, 3)


def test_unknown_names_come_with_those_that_are_known(tacit: Any) -> None:
    assert "It has one without a name: write tacit restore alone." in tacit("restore", "zzz").err
    check = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5"
    Path("tacit.yaml").write_text(
        PATIENTS.replace(check + "}", f"{check}, name: strict}}\n{check.replace('0.5', '0.8')}}}"),
        "utf-8",
    )
    assert (
        "Known: strict. Those without a name are called by their releases: male,age26to28."
        in tacit("restore", "zzz").err
    )


def test_a_check_without_a_name_is_called_by_its_releases(tacit: Any) -> None:
    check = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5}"
    Path("tacit.yaml").write_text(
        PATIENTS.replace(check, f"{check}\n  - gamma-privacy: {{releases: [male], gamma: 0.5}}"),
        "utf-8",
    )
    assert " ".join(tacit("check").out.split("Next:")[1].split()).startswith(
        "tacit restore male,age26to28 --plan tacit.yaml |"
    )
    assert "Say which: tacit restore male,age26to28." in tacit("restore").err
    assert tacit("restore", "male,age26to28", "--views", "2").status == 0
    Path("tacit.yaml").write_text(
        PATIENTS.replace(check, f"{check}\n{check.replace('0.5', '0.8')}"), "utf-8"
    )
    assert (
        "2 gamma-privacy checks of male,age26to28 without a name. Give one of them name: NAME"
        in tacit("restore", "male,age26to28").err
    )


def test_what_is_out_already_is_not_overlooked(tacit: Any) -> None:
    check = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5}"
    Path("tacit.yaml").write_text(
        PATIENTS.replace(
            check, "  - gamma-privacy: {releases: [age26to28], gamma: 0.5, given: [male]}"
        ),
        "utf-8",
    )
    assert "Next: tacit restore --plan tacit.yaml" in tacit("check").out
    ran = tacit("restore")
    said = " ".join(ran.out.split())
    assert (
        ran.status == 0
        and "(everybody has male already)" in said
        and "8 tables fit where 45 did" in said
    )
    assert (
        "Seen by anyone (male and age26to28, and all further views); the further views are "
        "for everybody"
    ) in said
    assert (
        "- gamma-privacy: {releases: [age26to28, further-1, further-2], gamma: 0.5, given: [male]}"
        in ran.out
    )
    assert tacit("restore", "-o", "draft.yaml").status == 0
    draft, plan = (
        yaml.safe_load(Path(name).read_text("utf-8")) for name in ("draft.yaml", "tacit.yaml")
    )
    Path("tacit.yaml").write_text(
        json.dumps({**plan, **draft, "releases": plan["releases"] | draft["releases"]}), "utf-8"
    )
    assert tacit("check").status == 0


def test_the_search_is_repeated_for_the_check_that_was_asked_for(tacit: Any) -> None:
    check = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5}"
    Path("tacit.yaml").write_text(
        PATIENTS.replace(check, f"{check}\n  - gamma-privacy: {{releases: [male], gamma: 0.5}}"),
        "utf-8",
    )
    assert "tacit restore male,age26to28 --plan tacit.yaml --aware" in " ".join(
        tacit("restore", "male,age26to28").out.split()
    )
    only = tacit("check", "--only", "age26to28").out
    assert "tacit restore male,age26to28 --plan tacit.yaml" in " ".join(only.split())


def test_the_page_shows_the_views_and_both_verdicts(tacit: Any) -> None:
    assert tacit("restore", "--report", "r.html").status == 0
    page = Path("r.html").read_text("utf-8")
    for said in (
        "what to publish in addition",
        "age BETWEEN 25 AND 26",
        "breached",
        "Donald",
        "further view",
        "does not know why",
        "<svg",
    ):
        assert said in page, said
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_what_holds_already_is_said_so(tacit: Any) -> None:
    Path("tacit.yaml").write_text(PATIENTS.replace("gamma: 0.5", "gamma: 0.8"), "utf-8")
    ran = tacit("restore", "--report", "r.html")
    assert ran.status == 0 and "holds already" in ran.out
    document = tacit("restore", "--json").json
    assert (
        document["status"] == "holds"
        and len(document["verdicts"]) == 1
        and document["views"] == []
        and document["draft"] is None
    )


def test_columns_for_conditions_can_be_chosen(tacit: Any) -> None:
    document = tacit("restore", "--columns", "sex", "--json").json
    assert document["status"] in ("none", "not-found") and document["search"]["columns"] == ["sex"]
    by_name = tacit("restore", "--columns", "name", "--json").json
    assert by_name["status"] == "restored" and " IN ('" in by_name["views"][0]["query"]
    assert tacit("restore", "--columns", "age, sex", "--json").json["status"] == "restored"


# -- one who knows the search ----------------------------------------------------------------------


def test_aware_finds_views_that_withstand(tacit: Any) -> None:
    document = tacit("restore", "--aware", "--json").json
    assert document["status"] == "restored" and document["assumptions"] == []
    assert document["aware"] | {"because": ""} == {
        "status": "holds",
        "because": "",
        "belief": "1/2",
        "belief_decimal": 0.5,
        "same": "8",
        "asked": "8",
    }
    assert "views-unexplained" not in [one["id"] for one in document["verdicts"][1]["assumptions"]]
    ran = tacit("restore", "--aware")
    assert (
        ran.status == 0
        and "8 of the 8 tables that fit all views lead to the same further views"
        in " ".join(ran.out.split())
    )


def test_aware_says_what_one_who_knows_believes_where_nothing_withstands(
    tacit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.families.overlaps.runs.restore.withstanding", lambda *_, **__: None)
    ran = tacit("restore", "--aware", "-o", "draft.yaml", "--report", "r.html")
    assert ran.status == 3 and not Path("draft.yaml").exists()
    told = " ".join(ran.out.split())
    assert (
        "6 of the 8 tables" in told
        and "Alan has Heart in 2/3 of them" in told
        and "Nothing was written" in told
    )
    document = tacit("restore", "--aware", "--json").json
    assert document["aware"]["status"] == "breached" and document["aware"]["belief"] == "2/3"
    assert document["aware"]["person"] == {"name": "Alan"} and document["assumptions"]
    assert (
        "person" not in tacit("restore", "--aware", "--json", "--audience", "shared").json["aware"]
    )


# -- not restored ----------------------------------------------------------------------------------


def test_what_is_certain_cannot_be_undone(tacit: Any) -> None:
    rows = [("Ann", 20, "A", "x"), ("Bob", 21, "A", "y"), ("Cy", 22, "B", "z")]
    Path("tacit.yaml").write_text(
        people(*rows, views={"young": "age < 22", "old": "age > 20"}), "utf-8"
    )
    ran = tacit("restore", "-o", "draft.yaml", "--report", "r.html")
    assert ran.status == 1 and not Path("draft.yaml").exists()
    told = " ".join(ran.out.split())
    assert (
        "cannot be restored" in told
        and "in every table that fits, and keeps it whatever else is published" in told
        and "Ann has x" in told
    )
    document = tacit("restore", "--json").json
    assert (document["status"], document["proved"], document["views"], document["output"]) == (
        "impossible",
        True,
        [],
        None,
    )
    assert "Ann" not in tacit("restore", "--json", "--audience", "shared").out


def test_a_known_set_that_is_not_diverse_cannot_be_undone(tacit: Any) -> None:
    """All six, and three of them who differ:
    two of the other three have the same, which nobody can hide.
    """
    rows = [
        ("Ann", 20, "A", "x"),
        ("Cy", 22, "B", "x"),
        ("Di", 24, "B", "y"),
        ("Bob", 21, "A", "y"),
        ("Ed", 23, "B", "z"),
        ("Flo", 25, "B", "w"),
    ]
    Path("tacit.yaml").write_text(
        people(*rows, views={"every": "age > 0", "odd": "age IN (21, 23, 25)"}), "utf-8"
    )
    ran = tacit("restore")
    assert ran.status == 1
    told = " ".join(ran.out.split())
    assert (
        "2 of 3 people have the same condition, more than 0.5 of them, whatever else is published"
        in told
    )
    assert "Of Ann, Cy and Di, 2 have x in every table that fits" in told
    shared = tacit("restore", "--audience", "shared")
    assert "2 of 3 people" in " ".join(shared.out.split()) and "Ann" not in shared.out


def test_none_of_the_kind_is_proved(tacit: Any) -> None:
    document = tacit("restore", "--views", "1", "--json")
    assert document.status == 1 and document.json["status"] == "none" and document.json["proved"]
    assert "no set of up to 1 view with conditions on sex and age" in document.json["because"]
    ran = tacit("restore", "--views", "1")
    assert (
        "This is proved" in ran.out
        and "21 sets of 1 view: 10 judged exactly" in " ".join(ran.out.split())
        and "--views 2" in ran.out
    )


def test_a_search_without_time_is_no_proof(tacit: Any) -> None:
    ran = tacit("restore", "--seconds", "0.000001", "--json")
    assert ran.status == 3 and ran.json["status"] == "not-found" and not ran.json["proved"]
    assert "This is no proof" in tacit("restore", "--seconds", "0.000001").out


# -- other views -----------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [False, True])
def test_classes_of_what_is_out_are_candidates_too(tacit: Any, missing: bool) -> None:
    """Those whom one view shows and the other does not, by the conditions of both."""
    rows = [(f"p{at}", at, "A", value) for at, value in enumerate("xxyzxyzzy")]
    plan = people(*rows, views={"low": "age <= 6", "high": "age >= 4"})
    if missing:
        plan = plan.replace("\nreleases:", '\n      - ["p99", null, "A", "x"]\nreleases:')
    Path("tacit.yaml").write_text(plan, "utf-8")
    document = tacit("restore", "--columns", "town", "--json").json
    assert (
        document["verdicts"][0]["measured"]["gamma"] == "21/38" and document["status"] == "restored"
    )
    negated = "NOT COALESCE((age >= 4), FALSE)" if missing else "NOT age >= 4"
    assert [one["query"] for one in document["views"]] == [
        f"SELECT condition FROM people WHERE age <= 6 AND {negated}"
    ]
    assert "3 classes of what is published select 3 different groups" in " ".join(
        tacit("restore", "--columns", "town").out.split()
    )


def test_classes_are_published_where_few_views_do_not_help(
    tacit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three views in a row make five classes, all diverse:
    with two of them published all five are known.
    """
    rows = [(f"p{at:02}", at, "A", value) for at, value in enumerate("zyzwwxzzxwyxz")]
    Path("tacit.yaml").write_text(
        people(
            *rows, views={"low": "age <= 3", "middle": "age BETWEEN 2 AND 8", "high": "age >= 7"}
        ),
        "utf-8",
    )
    monkeypatch.setattr(
        "tacit.families.overlaps.runs.restore.restored",
        lambda out, members, **options: restored(out, members[:0], **options),
    )
    ran = tacit("restore")
    assert (
        ran.status == 0
        and "restored with 2 further views" in ran.out
        and "these are whole classes of what is published" in " ".join(ran.out.split())
    )
    document = tacit("restore", "--json").json
    assert len(document["views"]) == 2 and document["verdicts"][1]["measured"]["gamma"] == "1/2"
    assert (
        all(" AND " in one["query"] for one in document["views"]) and document["search"]["fewest"]
    )


@pytest.mark.slow
def test_new_values_and_people_in_no_view_may_be_shown() -> None:
    """Against brute force: conditions of the kind that Tacit makes,
    on tables with people in no view.
    """
    seen = set()
    for number in range(40):
        one = case("restore", number)
        plan = read_plan(parse(json.dumps(one.to_plan("gamma-privacy")), "tacit.yaml"), Path())
        found = restore(plan, views=1)
        columns = {
            name: [row[name] for row in one.people.values()]
            for name in one.columns
            if name not in one.key
        }
        groups = [
            [key for key, flag in zip(one.people, row, strict=True) if flag]
            for row in candidates(columns).members
        ]
        classes = overlap.conservative_partition(
            one.people, one.views, one.domain or overlap.published(one.views, one.answers)
        )
        further = [overlap.by_members("c", group, one.key[0]) for group in (*groups, *classes)]
        wanted = overlap.restorations(
            one.people, one.truth, one.views, further, one.gamma_wanted, 1, one.domain
        )
        assert found.exit_status == (0 if wanted else 1), (one, wanted, found)
        if isinstance(found, Restored) and found.views:
            judge = overlap.Judge(one.people, one.truth, one.views, further, one.domain)
            many = len({*one.truth.values(), *(one.domain or ())})
            best = max(
                wanted,
                key=lambda some: Fraction(
                    judge.beliefs(some).count, many ** len(judge.beliefs(some).posteriors)
                ),
            )
            assert Fraction(found.worlds_after or 0, many**found.people_after) == Fraction(
                judge.beliefs(best).count, many ** len(judge.beliefs(best).posteriors)
            )
        seen.add(found.status)
    assert {"restored", "impossible"} <= seen


def test_views_are_judged_with_microdata(tacit: Any) -> None:
    plan = yaml.safe_load(PATIENTS)
    plan["tables"]["patients"] |= {
        "quasi-identifiers": ["sex", "age"],
        "hierarchies": {"sex": "*", "age": {"ranges": [3]}},
    }
    plan["releases"] = {
        "copy": {"table": "patients", "generalization": {"sex": 0, "age": 2}},
        "older": plan["releases"]["age26to28"],
    }
    plan["checks"] = [{"gamma-privacy": {"releases": ["copy", "older"], "gamma": 0.5}}]
    Path("tacit.yaml").write_text(json.dumps(plan), "utf-8")
    ran = tacit("restore", "--json")
    assert ran.status in (0, 1) and ran.json["status"] in (
        "holds",
        "restored",
        "impossible",
        "none",
    ), ran.err


def test_awkward_names_and_values_are_written_as_the_database_reads_them(tacit: Any) -> None:
    plan = (
        PATIENTS.replace("age", "Order By")
        .replace("sex", "user")
        .replace(
            "\"SELECT condition FROM patients WHERE user = 'M'\"",
            '"SELECT condition FROM patients WHERE \\"user\\" = \'M\'"',
        )
    )
    plan = (
        plan.replace("WHERE Order By", 'WHERE \\"Order By\\"')
        .replace("Order By26to28", "age26to28")
        .replace("condition", "group")
        .replace("SELECT group", 'SELECT \\"group\\"')
    )
    plan = plan.replace("M,", '"it\'s",').replace("'M'", "'it''s'")
    Path("tacit.yaml").write_text(plan, "utf-8")
    document = tacit("restore", "-o", "draft.yaml", "--json").json
    assert document["status"] == "restored", document
    draft, whole = yaml.safe_load(Path("draft.yaml").read_text("utf-8")), yaml.safe_load(plan)
    whole["releases"] |= draft["releases"]
    whole["checks"] = draft["checks"]
    Path("more.yaml").write_text(json.dumps(whole), "utf-8")
    assert tacit("check", "more.yaml", "--json").status == 0


def test_dates_have_ranges(tacit: Any) -> None:
    plan = yaml.safe_load(PATIENTS)
    plan["tables"]["patients"]["columns"] = {
        "name": "text",
        "sex": "text",
        "age": "date",
        "condition": "text",
    }
    for row in plan["tables"]["patients"]["rows"]:
        row[2] = f"2001-02-{row[2]}"
    plan["releases"]["age26to28"]["query"] = (
        "SELECT condition FROM patients WHERE age BETWEEN DATE '2001-02-26' AND DATE '2001-02-28'"
    )
    Path("tacit.yaml").write_text(json.dumps(plan), "utf-8")
    document = tacit("restore", "--json").json
    assert (
        document["status"] == "restored"
        and "CAST('2001-02-25' AS DATE)" in document["views"][0]["query"]
    )


# -- bad input -------------------------------------------------------------------------------------


def test_there_must_be_something_to_restore(tacit: Any) -> None:
    Path("tacit.yaml").write_text(
        PATIENTS.replace("gamma-privacy", "k-sind").replace("gamma: 0.5", "k: 2"), "utf-8"
    )
    ran = tacit("restore")
    assert ran.status == 2 and "no gamma-privacy check" in ran.err


def test_several_checks_are_told_apart_by_name(tacit: Any) -> None:
    check = "  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5"
    Path("tacit.yaml").write_text(
        PATIENTS.replace(
            check + "}", f"{check}, name: strict}}\n{check.replace('0.5', '0.8')}, name: lax}}"
        ),
        "utf-8",
    )
    ran = tacit("restore")
    assert ran.status == 2 and "strict and lax" in ran.err
    assert tacit("restore", "lax", "--json").json["status"] == "holds"
    named = tacit("restore", "strict", "--json").json
    assert (
        named["status"] == "restored"
        and "name: strict" in named["draft"]
        and named["verdicts"][1]["name"] == "strict"
    )
    ran = tacit("restore", "strickt")
    assert ran.status == 2 and "strict" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--columns", "agee"), "age"),
        (("--columns", "condition"), "is what the views show"),
        (("--columns", ","), "at least one column"),
        (("--views", "0"), "between 1 and 6"),
        (("--views", "7"), "between 1 and 6"),
        (("--seconds", "0"), "seconds"),
        (("-o", "no/such/draft.yaml"), "there is no folder"),
        (("-o", "."), "is not a file"),
        (("--report", "no/such.html"), "there is no folder"),
        (("--report", "tacit.yaml"), "would replace"),
        (("--plan", "other.yaml"), "other.yaml"),
        (("nobody",), "no gamma-privacy check named 'nobody'"),
    ],
)
def test_bad_arguments_are_named(tacit: Any, arguments: tuple[str, ...], said: str) -> None:
    ran = tacit("restore", *arguments)
    assert ran.status == 2 and said in ran.err, ran.err
    as_json = tacit("restore", "--json", *arguments)
    assert as_json.status == 2 and list(as_json.json) == ["error"] and not as_json.err.strip()


def test_a_report_and_a_draft_are_two_files(tacit: Any) -> None:
    assert tacit("restore", "-o", "same.html", "--report", "same.html").status == 2


def test_the_true_values_are_needed(tacit: Any) -> None:
    plan = yaml.safe_load(PATIENTS)
    rows = plan["tables"]["patients"]["rows"]
    plan["tables"]["patients"] = {"key": ["name"], "sensitive": ["condition"]}
    Path("patients.csv").write_text(
        "\n".join(["name,sex,age", *(",".join(map(str, row[:3])) for row in rows)]), "utf-8"
    )
    for name, chosen in (("male", rows[:4]), ("age26to28", rows[3:])):
        Path(f"{name}.csv").write_text(
            "\n".join(["condition", *(row[3] for row in chosen)]), "utf-8"
        )
        plan["releases"][name]["answer"] = f"{name}.csv"
    Path("tacit.yaml").write_text(json.dumps(plan), "utf-8")
    assert tacit("check").status == 1
    ran = tacit("restore")
    assert ran.status == 2 and "the true condition of everybody" in ran.err


def test_large_tables_are_refused_in_words(tacit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.families.overlaps.runs.restore_scene.MOST_PEOPLE", 6)
    ran = tacit("restore")
    assert ran.status == 2 and "7 people are in the views, and restore looks at up to 6" in ran.err
    monkeypatch.setattr("tacit.families.overlaps.runs.restore_scene.MOST_PEOPLE", 100)
    monkeypatch.setattr("tacit.families.overlaps.runs.restore_scene.MOST_ROWS", 6)
    assert "has 7 rows" in tacit("restore").err


# -- how it ends -----------------------------------------------------------------------------------


def test_the_same_answer_every_time(tacit: Any) -> None:
    first, second = tacit("restore", "--json").json, tacit("restore", "--json").json
    for document in (first, second):
        document.pop("seconds")
        for verdict in document["verdicts"]:
            verdict.pop("seconds")
    assert first == second


@pytest.mark.parametrize("where", ["restored", "confirmed", "place.keep_mode"])
def test_an_interrupted_search_leaves_nothing(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """In the search, when the check is asked again, and when the
    draft is about to take its place.
    """

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    Path("draft.yaml").write_text("old", "utf-8")
    monkeypatch.setattr(f"tacit.families.overlaps.runs.restore.{where}", interrupted)
    ran = tacit("restore", "-o", "draft.yaml")
    assert ran.status == 130 and "nothing half-written is left" in ran.err
    assert (
        sorted(os.listdir(folder)) == ["draft.yaml", "tacit.yaml"]
        and Path("draft.yaml").read_text("utf-8") == "old"
    )


def test_a_plan_from_a_file_is_restored_in_its_folder(folder: Path) -> None:
    found = restore(load_plan(folder / "tacit.yaml"))
    assert (
        isinstance(found, Restored)
        and [one.rows for one in found.views] == [2, 2]
        and found.exit_status == 0
    )


def test_python_finds_what_the_command_line_finds(folder: Path) -> None:
    import pandas

    import tacit

    plan = yaml.safe_load(PATIENTS)
    table = plan["tables"]["patients"]
    views = {name: one["query"] for name, one in plan["releases"].items()}
    data = pandas.DataFrame(table["rows"], columns=table["columns"])
    found = tacit.restore(
        data, views, gamma=0.5, key="name", sensitive="condition", name="patients"
    )
    told = restore(load_plan(folder / "tacit.yaml"))
    assert isinstance(told, Restored) and found.views == {one.name: one.query for one in told.views}
    assert {**found.details, "seconds": 0} == {**told.to_json(), "seconds": 0}
    assert (
        tacit.restore(
            data, views, gamma=0.8, key="name", sensitive="condition", name="patients"
        ).status
        == "holds"
    )
    none = tacit.restore(
        data, views, gamma="0.3", key="name", sensitive="condition", name="patients"
    )
    assert none.status == "impossible" and not none.views and none.because and none.advice
    known = tacit.restore(
        data,
        views,
        gamma=0.5,
        key="name",
        sensitive="condition",
        columns=["sex"],
        further=1,
        aware=True,
        name="patients",
    )
    assert known.status == "none" and "sex" in known.because


def test_a_check_that_is_not_answered_in_time_with_the_further_views_is_not_restored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy, unsettled

    asked, check = [], GammaPrivacy.check

    def late(self: GammaPrivacy, question: Any, **more: Any) -> Any:
        asked.append(question)
        found = check(self, question, **more)
        return found if len(asked) == 1 else unsettled(found, "time", "The time was up.")

    monkeypatch.setattr(GammaPrivacy, "check", late)
    found = restore(load_plan(folder / "tacit.yaml"), output="draft.yaml")
    assert (
        found.status == "not-found"
        and found.exit_status == 3
        and not (folder / "draft.yaml").exists()
    )
