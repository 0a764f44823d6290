"""Try a query as a role, in a browser:
one is refused with its reason, one is allowed and answered.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.visiting import Visitor

WARM = 60_000  # the first decision waits for a process that reads the plan
REFUSED = "SELECT name FROM stays WHERE ward = 'A'"
ALLOWED = "SELECT name, ward FROM stays WHERE condition = 'Flu'"


@pytest.fixture
def page(hospital: Served, visit: Callable[..., Visitor]) -> Page:
    tab = visit().page(hospital.link())
    tab.goto(hospital.url("try"))
    expect(tab.get_by_test_id("decide")).to_be_visible(timeout=WARM)
    return tab


def ask(page: Page, sql: str) -> None:
    page.get_by_label("Query", exact=True).fill(sql)
    page.get_by_test_id("decide").click()


@pytest.mark.slow
def test_a_query_that_tells_about_a_secret_is_refused_and_the_page_says_why(page: Page) -> None:
    ask(page, REFUSED)
    decision = page.get_by_test_id("decision")
    expect(decision).to_contain_text("refused", timeout=WARM)
    expect(decision).to_contain_text(
        "The answer would say something about cancer, which this role must not learn."
    )
    expect(decision).to_contain_text("discloses")
    evidence = page.get_by_test_id("evidence").first
    expect(evidence).to_contain_text("What it says about cancer")
    expect(evidence).to_contain_text("condition <> 'Cancer'")
    expect(page.get_by_test_id("reading")).to_contain_text("How it was read")
    expect(page.get_by_test_id("run")).to_have_count(0)


def test_a_query_that_says_nothing_about_it_is_allowed_and_its_rows_are_those_of_the_role(
    page: Page,
) -> None:
    ask(page, ALLOWED)
    expect(page.get_by_test_id("decision")).to_contain_text("allowed", timeout=WARM)
    page.get_by_test_id("run").click()
    answer = page.get_by_test_id("answer")
    expect(answer.get_by_role("row")).to_have_count(4, timeout=WARM)
    expect(answer).to_contain_text("Bob")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save these rows as CSV").click()
    assert saved.value.path().read_text("utf-8").splitlines() == [
        "name,ward",
        "Bob,A",
        "Dan,B",
        "Hal,C",
    ]


def test_a_query_is_decided_by_keyboard_alone(page: Page) -> None:
    page.get_by_label("Query", exact=True).focus()
    page.keyboard.type(ALLOWED)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("decision")).to_contain_text("allowed", timeout=WARM)


def test_what_was_tried_is_there_after_a_reload_and_in_no_address(page: Page) -> None:
    ask(page, REFUSED)
    expect(page.get_by_test_id("decision")).to_contain_text("refused", timeout=WARM)
    page.reload()
    expect(page.get_by_test_id("decision")).to_contain_text("refused", timeout=WARM)
    expect(page.get_by_label("Query", exact=True)).to_have_value(REFUSED)
    assert "SELECT" not in page.url


@pytest.mark.slow
def test_a_query_with_a_mistake_is_told_where_it_is(page: Page) -> None:
    ask(page, "SELECT nobody FROM stays")
    expect(page.get_by_test_id("decision")).to_contain_text("nobody", timeout=WARM)
    expect(page.get_by_test_id("decision")).to_contain_text("unknown-column")
