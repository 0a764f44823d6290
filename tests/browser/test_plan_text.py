"""The text of a plan on the page Start:
a mistake is shown at its line, page and file stay in step, nothing is overwritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.steps import LONG, settled
from browser.visiting import Visitor


@pytest.fixture
def page(demo: Served, visit: Callable[..., Visitor]) -> Page:
    tab = visit().page(demo.link())
    settled(tab)
    tab.get_by_test_id("columns").wait_for(timeout=LONG)
    settled(tab)
    return tab


@pytest.fixture(autouse=True)
def as_it_was(demo: Served) -> object:
    """The plan of the demo, before and after each test."""
    was = demo.plan.read_text("utf-8")
    yield
    demo.plan.write_text(was, "utf-8")


def write(page: Page, text: str) -> None:
    page.get_by_test_id("plan-text").fill(text)


@pytest.mark.slow
def test_a_mistake_is_shown_at_its_line_while_one_writes(page: Page, demo: Served) -> None:
    text = demo.plan.read_text("utf-8")
    lines = text.splitlines()
    number = next(at for at, line in enumerate(lines, 1) if line.startswith("  april:"))
    write(page, text.replace("  april: {table:", "  april: {tabel:"))
    error = page.get_by_test_id("error")
    expect(error).to_contain_text(f"tacit.yaml, line {number}, column")
    expect(error).to_contain_text("tabel")
    expect(page.locator(".lines .wrong")).to_have_text([str(number)])
    assert demo.plan.read_text("utf-8") == text  # nothing was saved
    write(page, text)
    expect(error).to_have_count(0)


def test_a_broken_plan_on_the_disk_is_shown_at_its_line_on_every_page(
    page: Page, demo: Served
) -> None:
    demo.plan.write_text(
        demo.plan.read_text("utf-8").replace("k-anonymity:", "k-anonimity:"), "utf-8"
    )
    for path in ("overview", "release/april", "repair/april", "ledger", "try"):
        page.goto(demo.url(path))
        error = page.get_by_test_id("error").first
        expect(error).to_contain_text(re.compile(r"tacit\.yaml, line \d+, column \d+"))
        expect(error).to_contain_text("k-anonymity")  # what to write instead


@pytest.mark.slow
def test_what_is_clicked_is_in_the_text_and_comments_stay(page: Page, demo: Served) -> None:
    before = demo.plan.read_text("utf-8")
    page.get_by_label("Role of nationality", exact=True).select_option(label="sensitive")
    text = page.get_by_test_id("plan-text")
    expect(text).to_have_value(re.compile(r"sensitive:[^\n]*nationality|- nationality"))
    comments = [line for line in before.splitlines() if line.startswith("#")]
    assert comments and all(comment in text.input_value() for comment in comments)
    page.get_by_role("button", name="Discard changes").click()
    expect(text).to_have_value(before)


def test_a_change_by_hand_meanwhile_is_not_overwritten(page: Page, demo: Served) -> None:
    write(page, demo.plan.read_text("utf-8") + "# from the page\n")
    expect(page.get_by_test_id("plan-state")).to_contain_text("changed, not saved")
    demo.plan.write_text(demo.plan.read_text("utf-8") + "# by hand\n", "utf-8")
    page.get_by_test_id("save-plan").click()
    expect(page.get_by_test_id("error")).to_contain_text("changed meanwhile")
    assert demo.plan.read_text("utf-8").endswith("# by hand\n")
    page.get_by_role("button", name="Discard changes").click()


@pytest.mark.slow
def test_a_change_by_hand_is_followed_while_nothing_is_unsaved(page: Page, demo: Served) -> None:
    was = demo.plan.read_text("utf-8")
    demo.plan.write_text(was + "# by hand\n", "utf-8")
    text = page.get_by_test_id("plan-text")
    expect(text).to_have_value(re.compile("# by hand"), timeout=LONG)
    expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: saved")
    demo.plan.write_text(was, "utf-8")
    expect(text).to_have_value(was, timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize(
    "button, ending", [("Take the file's text", "# by hand\n"), ("Keep mine", "# from the page\n")]
)
def test_both_were_changed_and_one_chooses(
    page: Page, demo: Served, button: str, ending: str
) -> None:
    was = demo.plan.read_text("utf-8")
    write(page, was + "# from the page\n")
    expect(page.get_by_test_id("plan-state")).to_contain_text("changed, not saved")
    demo.plan.write_text(was + "# by hand\n", "utf-8")
    page.get_by_test_id("conflict").get_by_role("button", name=button).click(timeout=LONG)
    expect(page.get_by_test_id("conflict")).to_have_count(0)
    expect(page.get_by_test_id("plan-text")).to_have_value(was + ending)
    if "mine" in button:
        page.get_by_test_id("save-plan").click()
        expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: saved")
    assert demo.plan.read_text("utf-8") == was + ending
    demo.plan.write_text(was, "utf-8")
    expect(page.get_by_test_id("plan-text")).to_have_value(was, timeout=LONG)


@pytest.mark.slow
def test_a_text_with_errors_is_not_saved(page: Page, demo: Served) -> None:
    was = demo.plan.read_text("utf-8")
    write(page, was.replace("k-anonymity:", "k-anonimity:"))
    expect(page.get_by_test_id("plan-state")).to_contain_text("it has errors")
    page.get_by_test_id("save-plan").click()
    expect(page.get_by_text("Nothing was saved: a plan with errors")).to_be_visible()
    assert demo.plan.read_text("utf-8") == was
    page.get_by_role("button", name="Discard changes").click()
    expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: saved")


@pytest.mark.slow
def test_a_column_that_is_not_there_is_shown_at_its_line(page: Page, demo: Served) -> None:
    was = demo.plan.read_text("utf-8")
    write(page, was.replace("sensitive: [condition]", "sensitive: [conditoin]"))
    expect(page.get_by_test_id("error")).to_contain_text("Did you mean 'condition'?")
    page.get_by_role("button", name="Discard changes").click()
    expect(page.get_by_test_id("error")).to_have_count(0)


@pytest.mark.slow
def test_views_secrets_roles_and_their_checks_without_writing_the_text(
    page: Page, demo: Served
) -> None:
    was = demo.plan.read_text("utf-8")
    text = page.get_by_test_id("plan-text")
    for panel, what, query in (
        ("views", "view", "SELECT zip FROM inpatients"),
        ("secrets", "secret", "SELECT name FROM inpatients WHERE age = 50"),
    ):
        page.get_by_test_id(f"panel-{panel}").locator("summary").click()
        page.get_by_test_id(f"{what}-name").fill(f"my-{what}")
        page.get_by_test_id(f"{what}-query").fill(query)
        page.get_by_test_id(f"add-{what}").click()
        expect(text).to_have_value(re.compile(f"my-{what}"))
    page.get_by_test_id("panel-roles").locator("summary").click()
    page.get_by_test_id("role-name-new").fill("nurses")
    page.get_by_test_id("panel-roles").get_by_label("my-secret").check()
    page.get_by_test_id("panel-roles").get_by_label("my-view").check()
    page.get_by_test_id("add-role").click()
    expect(text).to_have_value(
        re.compile(r"nurses: \{default: deny, deny: \[my-secret\], allow: \[my-view\]\}")
    )
    page.get_by_test_id("add-kind").select_option("perfect")
    page.get_by_test_id("add-secret-of-check").wait_for()
    page.get_by_test_id("add-check").click()
    expect(text).to_have_value(
        re.compile(r"perfect-privacy: \{secret: my-secret, release: my-view\}")
    )
    page.get_by_test_id("add-kind").select_option("gamma")
    page.get_by_test_id("add-together-0").wait_for()
    page.get_by_test_id("add-check").click()
    expect(text).to_have_value(re.compile(r"gamma-privacy: \{releases: \[my-view\], gamma: 0.5\}"))
    page.get_by_test_id("add-view").click()  # with nothing in it
    expect(page.get_by_test_id("panel-views").get_by_test_id("error")).to_contain_text(
        "no name yet"
    )
    page.get_by_role("button", name="Discard changes").click()
    expect(text).to_have_value(was)


@pytest.mark.slow
def test_two_tabs_work_on_the_same_text(page: Page, demo: Served) -> None:
    second = page.context.new_page()
    second.goto(demo.url(""))
    settled(second)
    write(page, demo.plan.read_text("utf-8") + "# in the first tab\n")
    expect(second.get_by_test_id("plan-text")).to_have_value(
        re.compile("# in the first tab"), timeout=LONG
    )
    page.get_by_role("button", name="Discard changes").click()
    expect(second.get_by_test_id("plan-text")).not_to_have_value(
        re.compile("# in the first tab"), timeout=LONG
    )
