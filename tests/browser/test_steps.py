"""Start goes step by step, each term says what it is, and the documentation is on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.accessible import assert_accessible, axe_path
from browser.plans import write_plan
from browser.serving import Served
from browser.steps import LONG
from browser.visiting import PHONE, Visitor

pytestmark = pytest.mark.slow


def test_one_step_at_a_time_by_keyboard_and_a_word_for_each_term(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    served = serve(write_plan("synthetic", tmp_path))
    page = visit(width=PHONE, theme="dark").page(served.link())
    page.get_by_test_id("columns").wait_for(timeout=LONG)
    expect(page.get_by_test_id("checks")).to_be_hidden()
    page.get_by_test_id("step-next").press("Enter")
    expect(page.get_by_test_id("hierarchies")).to_be_visible()
    expect(page.get_by_test_id("columns")).to_be_hidden()
    mark = page.get_by_label("What is: level?")
    mark.press("Enter")
    expect(page.get_by_text("How coarse a column is made")).to_be_visible()
    mark.press("Enter")
    page.get_by_test_id("step-checks").press("Enter")
    expect(page.get_by_test_id("checks")).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("checks")).to_be_visible(timeout=LONG)  # it stays where it was
    if axe_path():
        assert_accessible(page)
    page.get_by_test_id("all-steps").click()
    expect(page.get_by_test_id("plan-text")).to_be_visible()
    expect(page.get_by_test_id("columns")).to_be_visible()
    page.get_by_test_id("all-steps").click()
    page.get_by_test_id("step-plan").click()
    expect(page.get_by_test_id("save-plan")).to_be_visible()

    page.goto(served.url("help"))
    documentation = page.get_by_test_id("documentation")
    documentation.get_by_role("link", name="Which definition for which worry").click()
    documentation.get_by_role("link", name="k-anonymity").first.click()
    expect(page.locator("article h1")).to_have_text("k-anonymity")
    if axe_path():
        assert_accessible(page)
    page.goto(served.url("help/none.md"))
    expect(page.get_by_test_id("error")).to_contain_text("no such page of the documentation")
