"""Hierarchies in the browser: files find their columns, and groups are made by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.accessible import assert_accessible, axe_path
from browser.serving import Served
from browser.steps import LONG, settled
from browser.visiting import PHONE, Visitor
from tacit.plan.read.load import load_plan

pytestmark = pytest.mark.slow
ROWS = "age,occupation,income\n" + "".join(
    f"{20 + n % 10},{['nurse', 'doctor', 'cook'][n % 3]},{['low', 'high'][n % 2]}\n"
    for n in range(60)
)


def test_files_find_their_columns_and_groups_are_made_by_keyboard(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    served = serve(tmp_path / "tacit.yaml")
    (tmp_path / "people.csv").write_text(ROWS, "utf-8")
    files = tmp_path.parent / f"{tmp_path.name}-files"
    files.mkdir()
    ages = "".join(f"{age};{'20-23' if age < 25 else '25-29'};*\n" for age in range(20, 30))
    (files / "first.csv").write_text(ages, "utf-8")
    (files / "second.csv").write_text("x;y;*\n", "utf-8")
    page = visit(width=PHONE, theme="dark").page(served.link())
    settled(page)
    page.get_by_test_id("file").select_option("people.csv")
    page.get_by_test_id("columns").wait_for(timeout=LONG)
    settled(page)
    section = page.get_by_test_id("drop-hierarchies-upload").locator("input[type=file]")
    section.set_input_files([files / "first.csv", files / "second.csv"])
    said = page.get_by_test_id("hierarchies-said")
    expect(said).to_contain_text("second.csv fits no column", timeout=LONG)
    expect(said).to_contain_text("Matched by their values: age: first.csv.")
    assert not (tmp_path / "second.csv").exists()
    age = page.get_by_test_id("hierarchy-age")
    age.locator("summary").first.click()
    expect(age).to_contain_text('"20-23" (level 1) is the label of 24, which is not in it.')

    work = page.get_by_test_id("hierarchy-occupation")
    work.locator("summary").first.press("Enter")
    page.get_by_test_id("way-occupation").select_option("groups")
    for name in ("doctor", "nurse"):
        page.get_by_test_id(f"tick-{name}").press("Space")
    page.get_by_test_id("group-name").press_sequentially("health")
    page.get_by_test_id("group").press("Enter")
    expect(page.get_by_test_id("grouping-occupation")).to_contain_text("2 values, 40 rows")
    page.get_by_test_id("group-undo").press("Enter")
    expect(page.get_by_test_id("grouping-occupation")).not_to_contain_text("40 rows")
    for name in ("doctor", "nurse"):
        page.get_by_test_id(f"tick-{name}").press("Space")
    page.get_by_test_id("group-name").fill("health")
    page.get_by_test_id("group").press("Enter")
    if axe_path():
        assert_accessible(page)
    page.get_by_test_id("use-groups").press("Enter")
    expect(work).to_contain_text("hierarchy_occupation.csv")
    made = (tmp_path / "hierarchy_occupation.csv").read_text("utf-8")
    assert made == "cook;cook;*\ndoctor;health;*\nnurse;health;*\n"
    page.get_by_test_id("undo").click()
    expect(page.get_by_test_id("way-occupation")).not_to_have_value("file")
    page.get_by_test_id("save-plan").click()
    page.get_by_text("was saved.").wait_for()
    plan = load_plan(next(tmp_path.glob("*.yaml")))
    assert plan.tables["people"].hierarchies["age"].file == "first.csv"
