"""A steward's whole job on the census table, which has 45,222 rows, no names and seven
quasi-identifiers: a first release, and a second one beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.tables import adult
from browser.visiting import Visitor
from tacit.checking.holdings.ledgers import ledger_of
from tacit.model.release import Microdata
from tacit.plan.read.load import load_plan

LONG = 180_000
LEFT_OUT = ("education_num", "relationship", "salary_class", "fnlwgt", "hours_per_week")
QUASI = ["age", "workclass", "education", "marital status", "race", "sex", "native country"]
TALLEST = (
    7_000  # pixels of the page of the release; with a person's values in one cell it had 9,700
)
LINE = 60  # pixels: a row with two lines is higher


@pytest.mark.slow
@pytest.mark.skipif(
    adult() is None,
    reason="Adult is not here; set TACIT_DATA to the folder that has adult/adult.csv",
)
def test_a_census_is_released_twice_without_touching_a_file_by_hand(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    (tmp_path / "served").mkdir()
    served = serve(tmp_path / "served" / "tacit.yaml")
    page = visit(width=1440).page(served.link())
    plan_it(page)
    see_who_is_exposed(page, served)
    first = write(page, served)
    record(page, "University")
    page.goto(served.url("overview"))
    expect(page.get_by_test_id(f"given-{first}")).to_contain_text("Given to University")
    expect(page.get_by_test_id(f"given-{first}")).to_contain_text("3 of 3 checks held then")
    before = load_plan(served.plan).releases[first]
    second = write(page, served)
    record(page, "Clinic")
    plan = load_plan(served.plan)
    assert second != first and plan.releases[first] == before
    with ledger_of(plan) as ledger:
        held = [(one.release, one.to) for one in ledger.held()]
    assert held == [(first, ("University",)), (second, ("Clinic",))]
    files = [one.file for one in plan.of(Microdata).values() if one.file]
    assert len(set(files)) == 2 and all((served.folder / name).is_file() for name in files)


def plan_it(page: Page) -> None:
    """Drop the file, say what is sensitive, and check."""
    file = adult()
    assert file is not None
    page.get_by_test_id("drop").wait_for()
    page.get_by_test_id("upload").locator("input[type=file]").set_input_files(str(file))
    page.get_by_test_id("columns").wait_for(timeout=LONG)
    for column in LEFT_OUT:
        page.get_by_label(f"Role of {column}", exact=True).select_option(label="not released")
    page.get_by_label("Role of occupation", exact=True).select_option(label="sensitive")
    expect(page.get_by_test_id("plan-text")).to_have_value(
        re.compile(r"sensitive:[^\n]*\n\s+- occupation")
    )
    page.get_by_test_id("step-plan").click()
    page.get_by_test_id("save-plan").click()
    page.get_by_role("link", name="Next: check it on the page Overview").click()
    page.get_by_role("button", name="Check everything").click()
    expect(page.get_by_test_id("conclusion")).to_have_text(
        "Not ready to release: generalized.", timeout=LONG
    )


def see_who_is_exposed(page: Page, served: Served) -> None:
    """The sentence about a person comes first, the repair is what is due, and people are a table
    with a column for each attribute.
    """
    page.goto(served.url("release/generalized"))
    page.get_by_test_id("about").wait_for(timeout=LONG)
    expect(page.get_by_test_id("story")).to_contain_text("Anyone who knows that")
    expect(page.locator("a.go")).to_have_text("Repair it")
    grid = page.get_by_test_id("grid-exposed-generalized")
    expect(grid.locator("tbody tr")).to_have_count(12, timeout=LONG)
    heads = grid.locator("thead th").all_inner_texts()
    assert heads[:7] == QUASI and heads[7] == "occupation"
    heights = grid.locator("tbody tr").evaluate_all("rows => rows.map(one => one.clientHeight)")
    assert len(heights) == 12 and max(heights) < LINE
    expect(page.get_by_test_id("people")).to_contain_text("45,222 people in 24,766 lines")
    assert page.evaluate("document.documentElement.scrollHeight") < TALLEST
    person = grid.locator("tbody tr").nth(8).get_by_role("button")
    known = person.get_attribute("aria-label")
    person.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("beliefs")).to_contain_text(f"A person {known}.")


def write(page: Page, served: Served) -> str:
    """Search, read what dropping rows would save, write the best, and add the file to the plan.
    The name of its release.
    """
    page.goto(served.url("repair/generalized"))
    page.get_by_test_id("search").click(timeout=LONG)
    cancel = page.get_by_role("button", name=re.compile("^Cancel: Searching"))
    cancel.wait_for()  # what was found before stands there until now
    expect(page.get_by_test_id("solved")).to_contain_text("can be met", timeout=LONG)
    if page.get_by_test_id("dropping").count():
        expect(page.get_by_test_id("dropping")).to_contain_text("lowers the loss by")
    expect(page.get_by_test_id("draft-dot")).to_contain_text("draft")
    page.get_by_test_id("write").wait_for(timeout=LONG)
    insists = page.get_by_test_id("unjudged")
    if insists.is_visible():
        insists.click()
    name = page.get_by_test_id("release-name").input_value()
    page.get_by_test_id("write").click()
    page.get_by_test_id("written").get_by_test_id("as-release").click(timeout=LONG)
    expect(page.get_by_test_id("next")).to_contain_text(f"It is release {name} of the plan")
    return name


def record(page: Page, recipient: str) -> None:
    """Record what was written, to one recipient."""
    page.get_by_test_id("to-ledger").click()
    begin = page.get_by_test_id("begin")
    form = page.get_by_test_id("record-form")
    begin.or_(form).first.wait_for(timeout=LONG)
    if begin.is_visible():
        begin.click()
        page.get_by_role("button", name="Go on").click()
    form.get_by_role("radio", name="To these").click(timeout=LONG)
    form.get_by_label("Recipients").click()
    page.keyboard.type(recipient)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("was-recorded")).to_have_count(0)
    page.get_by_test_id("record").click()
    # What came of the release before is not told beside this one.
    expect(page.get_by_test_id("was-recorded")).to_contain_text(f"to {recipient}", timeout=LONG)
