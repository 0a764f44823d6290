"""A report ends with what is said for the record, and a place to sign."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

from tacit.checking.assess import assess
from tacit.plan.read.load import load_plan
from tacit.report.html.page import render
from tacit.report.html.record import recorded

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


def test_the_owner_has_everything_and_a_shared_report_no_hash(tmp_path: Path) -> None:
    path, data = tmp_path / "tacit.yaml", tmp_path / "people.csv"
    path.write_text(PLAN)
    data.write_text("zip,ill\n13053,flu\n13068,cold\n")
    plan = load_plan(path)
    found = assess(plan)
    owner, shared = (render(found, one, plan) for one in ("owner", "shared"))
    for text in (owner, shared):
        assert "City &lt;Hospital&gt;" in text and "May the authors have it?" in text
        assert "people.zip" in text and "quasi-identifier" in text and "signature" in text
        assert "threes. Waived by C. Dee until 2999-01-31: agreed." in text
    for file in (path, data):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert digest in owner and digest not in shared
    assert "For the record" not in render(found, "owner")


def test_the_date_is_that_of_utc_and_every_check_has_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    path.write_text(PLAN)
    (tmp_path / "people.csv").write_text("zip,ill\n13053,flu\n13068,cold\n")
    plan = load_plan(path)
    said = recorded(plan, assess(plan).verdicts, "owner", date(2030, 1, 31))
    assert ("Date", "2030-01-31 (UTC)") in said.facts
    assert list(said.grids[0].rows[0]) == [
        "threes",
        "k-anonymity",
        "k = 3",
        "k = 1",
        "breached, waived",
    ]
