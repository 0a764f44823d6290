"""Packs, waivers and the dossier in a browser: chosen on Start, shown on Overview, made from the
ledger's entry.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.serving import Served
from browser.visiting import Visitor
from tacit.plan.read.load import load_plan
from tacit.report.dossier import make_dossier, verify_dossier

LONG = 60_000  # milliseconds: a check in a process of its own, on a busy machine
PLAN = """version: 1
tables:
  stays:
    file: stays.csv
    quasi-identifiers: [zip]
    sensitive: [condition]
    hierarchies: {zip: {mask: right}}
releases:
  april: {table: stays, generalization: {zip: 2}}
  may: {table: stays}
checks:
- k-anonymity: {release: april, k: 2}
- k-anonymity: {release: may, k: 2, name: small groups}
- k-anonymity: {release: may, k: 3, name: other groups}
waive:
- {check: small groups, reason: "the board <agreed>", by: A. Bee, until: 2999-12-31}
- {check: other groups, reason: it was agreed, by: A. Bee, until: 2020-12-31}
"""
ROWS = "zip,condition\n13053,flu\n13053,cold\n13068,flu\n"


def written(folder: Path) -> Path:
    (folder / "tacit.yaml").write_text(PLAN, "utf-8")
    (folder / "stays.csv").write_text(ROWS, "utf-8")
    return folder / "tacit.yaml"


@pytest.mark.slow
def test_a_pack_is_included_on_start_and_waivers_stand_on_overview(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    served = serve(written(tmp_path))
    page = visit().page(served.link())
    page.goto(served.url(""))
    page.get_by_test_id("step-checks").click(timeout=LONG)
    page.get_by_test_id("pack-name").select_option("us-cms-11", timeout=LONG)
    expect(page.get_by_test_id("pack")).to_contain_text("CMS Cell Size Suppression Policy")
    page.get_by_test_id("pack-release").select_option("may")
    page.get_by_test_id("include-pack").click()
    expect(page.get_by_text("policy pack us-cms-11")).to_be_visible(timeout=LONG)
    page.goto(served.url("overview"))
    page.get_by_role("button", name="Check everything").click()
    board = page.get_by_test_id("release-may")
    expect(board).to_contain_text(
        "Waived by A. Bee until 2999-12-31: the board <agreed>.", timeout=LONG
    )
    expect(board).to_contain_text("The waiver by A. Bee ended on 2020-12-31 and does not count.")


@pytest.mark.slow
def test_the_dossier_is_saved_from_the_ledgers_entry(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    from tacit.checking.recording.record import record

    plan = load_plan(written(tmp_path))
    record(plan, "april", by="M. Weber")
    served = serve(plan.folder / "tacit.yaml")
    page = visit().page(served.link())
    page.goto(served.url("ledger"))
    page.get_by_role("button", name="1", exact=True).first.click(timeout=LONG)
    with page.expect_download(timeout=LONG) as saved:
        page.get_by_test_id("dossier-owner").click()
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    assert path.name == "dossier-april-owner.html"
    own = make_dossier(plan, "april")
    assert path.read_text("utf-8") == own.text
    expect(page.get_by_test_id("dossier-hash")).to_contain_text(own.seal)
    assert verify_dossier(path, plan).differs == ()
