"""A report ends with what is said for the record, and a place to sign."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

from tacit.checking.assess import assess
from tacit.plan.read.load import load_plan
from tacit.report.html.page import render
from tacit.report.html.record_page import recorded
from tacit.report.trials import tried_on

PLAN = """version: 1
organisation: City <Hospital>
author: A. Bee
question: May the authors have it?
tables:
  people: {quasi-identifiers: [zip], sensitive: [ill], hierarchies: {zip: {mask: right}}}
releases: {april: {table: people, generalization: {zip: 1}, to: [authors]}}
checks:
- k-anonymity: {release: april, k: 3, name: threes}
waive:
- {check: threes, reason: agreed, by: C. Dee, until: 2999-01-31}
"""
COPY = "releases: {all: {table: people, generalization: {zip: 5}}, "
HIDDEN = "the last characters hidden one by one"
RISKS = "Risk of re-identification, of each release by itself"


def test_the_owner_has_everything_and_a_shared_report_no_hash(tmp_path: Path) -> None:
    path, data = tmp_path / "tacit.yaml", tmp_path / "people.csv"
    path.write_text(PLAN)
    data.write_text("zip,ill\n13053,flu\n13068,cold\n")
    plan = load_plan(path)
    found = assess(plan)
    owner, shared = (render(found, one, plan) for one in ("owner", "shared"))
    for text in (owner, shared):
        assert "City &lt;Hospital&gt;" in text and "May the authors have it?" in text
        assert "Columns of people" in text and "quasi-identifier" in text and "signature" in text
        assert "threes. Waived by C. Dee until 2999-01-31: agreed." in text
    for file in (path, data):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert digest in owner and digest not in shared
    assert "For the record" not in render(found, "owner")


def test_the_date_is_that_of_utc_and_every_check_has_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    path.write_text(PLAN)
    (tmp_path / "people.csv").write_text("zip,ill\n13053,flu\n13058,cold\n")
    plan = load_plan(path)
    found = assess(plan)
    said = recorded(plan, found, "owner", date(2030, 1, 31), tried_on(plan, found))
    assert ("Date", "2030-01-31 (UTC)") in said.facts
    checked = next(one for one in said.grids if one.caption == "What was checked")
    assert list(checked.rows[0]) == [
        "april",
        "threes: 3-anonymity",
        "k-anonymity",
        "singling out",
        "k = 3",
        "k = 1",
        "k = 2",
        "breached, waived",
    ]


def test_attacks_levels_and_what_was_not_checked_are_said(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    path.write_text(PLAN)
    (tmp_path / "people.csv").write_text("zip,ill\n13053,flu\n13058,flu\n")
    plan = load_plan(path)
    found = assess(plan)
    said = recorded(plan, found, "shared", None, tried_on(plan, found))
    by_caption = {one.caption: one.rows for one in said.grids}
    assert by_caption["Columns of people"] == [
        ["zip", "quasi-identifier", HIDDEN, "level 1 of 5: 1 character hidden"],
        ["ill", "sensitive", "", "as it is"],
        ["all others", "", "", "not released"],
    ]
    assert [row[2:] for row in by_caption[RISKS]] == [
        ["1 (100 %)", "", "1/2 (50 %)"],
        ["1 (100 %)", "", "1/2 (50 %)"],
        ["2 of 2", "", "0 of 2"],
    ]
    assert "homogeneity" in [row[0] for row in by_caption["Attacks that were run"]]
    assert by_caption["Recommendation"] == [
        ["april", "Release it only where the waivers are accepted: threes."]
    ]
    assert "no check addresses inference" in said.unchecked
    assert not any("flu" in cell for rows in by_caption.values() for row in rows for cell in row)


def test_views_are_not_attacked_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    path.write_text(
        """version: 1
tables: {people: {columns: {name: text, ill: text}}}
secrets: {s: "select name, ill from people"}
releases: {v: {query: "select ill from people"}}
checks: [{perfect-privacy: {release: v, secret: s}}]
"""
    )
    plan = load_plan(path)
    found = assess(plan)
    said = recorded(plan, found, "shared", None, tried_on(plan, found))
    assert "v was not attacked: there are attacks on generalized copies only" in said.unchecked
    assert "Do not release it" in said.grids[0].rows[0][1]
    assert "which organisation answers for it" in said.to_add and "what was asked" in said.to_add
    out = recorded(plan, found, "shared", None, tried_on(plan, found), went_out=True)
    assert "It went out without meeting its checks. Breached" in out.grids[0].rows[0][1]


def test_a_pack_is_told_clause_by_clause_where_its_checks_were_asked(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    pack = "- include: {policy: us-cms-11, release: april, name: cms}"
    path.write_text(PLAN.replace("waive:", f"{pack}\nwaive:"))
    (tmp_path / "people.csv").write_text("zip,ill\n13053,flu\n13058,cold\n")
    plan = load_plan(path)
    asked, apart = (
        {one.caption: one.rows for one in recorded(plan, assess(plan, only=(name,)), "owner").grids}
        for name in ("cms/cells", "threes")
    )
    caption = "Policy pack us-cms-11: No group of 1 to 10 people"
    first = asked[caption][2]
    assert first[:2] == ["no cell with a value of 1 to 10 is reported", "cells"]
    assert [row[0] for row in asked[caption]].count("not covered") == 3
    assert caption not in apart


def test_a_risk_stands_beside_what_the_plan_allows_and_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    risks = (
        "- k-anonymity: {release: all, k: 2}\n"
        "- risk: {release: april, at-most: 0.09}\n"
        "- risk: {release: april, at-most: 0.5, attacker: marketer}\n"
    )
    path.write_text(PLAN.replace("waive:", f"{risks}waive:").replace("releases: {", COPY))
    rows = "".join(f"1305{at % 3},flu\n" for at in range(7)) + "99999,cold\n"
    (tmp_path / "people.csv").write_text("zip,ill\n" + rows)
    plan = load_plan(path)
    found = assess(plan)
    said = recorded(plan, found, "shared", None, tried_on(plan, found))
    grid = next(one for one in said.grids if one.caption == RISKS)
    # Alone before and after: 99999. Groups of 3, 2, 2 and 1 before, of 7 and 1 after.
    assert [row[2:] for row in grid.rows[:3]] == [
        ["1 (100 %)", "0.09", "1 (100 %)"],
        ["1/2 (50 %)", "0.5", "1/4 (25 %)"],
        ["1 of 8", "", "1 of 8"],
    ]
    columns = next(one for one in said.grids if one.caption == "Columns of people")
    assert columns.head == ["column", "role", "hierarchy", "in april", "in all"]
    assert columns.rows[0][3:] == [
        "level 1 of 5: 1 character hidden",
        "level 5 of 5: suppressed",
    ]


def test_a_copy_that_was_made_elsewhere_is_hashed_and_nothing_is_claimed_of_its_levels(
    tmp_path: Path,
) -> None:
    path, copy = tmp_path / "tacit.yaml", tmp_path / "given.csv"
    path.write_text(PLAN.replace("generalization: {zip: 1}", "file: given.csv"))
    (tmp_path / "people.csv").write_text("zip,ill\n13053,flu\n13058,cold\n")
    copy.write_text("zip,ill\n1305*,flu\n1305*,cold\n")
    plan = load_plan(path)
    found = assess(plan)
    grids = {one.caption: one for one in recorded(plan, found, "owner").grids}
    assert grids["Columns of people"].rows == [
        ["zip", "quasi-identifier", HIDDEN, "as found in given.csv"],
        ["ill", "sensitive", "", "as found in given.csv"],
        ["all others", "", "", ""],
    ]
    hashes = dict(grids["Files, by SHA-256"].rows)
    assert hashes["given.csv"] == hashlib.sha256(copy.read_bytes()).hexdigest()
