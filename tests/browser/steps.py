"""Steps that several ways share: wait until a page is there, have everything checked."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from browser.serving import Served

LONG = 120_000  # milliseconds, for work


def quiet(page: Page) -> None:
    """Wait until the page is built and the work that it began is over."""
    page.locator("#content h1").first.wait_for()
    expect(page.get_by_role("button", name=re.compile("^Cancel: "))).to_have_count(0, timeout=LONG)
    page.wait_for_timeout(300)


def settled(page: Page) -> None:
    """Wait until the page is quiet, and has all its steps open."""
    quiet(page)
    every = page.get_by_test_id("all-steps")
    if every.count() and every.is_visible() and every.inner_text() == "All on one page":
        every.click()  # most ways use several steps of the page Start
        expect(every).to_have_text("One step at a time")


def overview(page: Page, served: Served) -> None:
    """Go to the overview, and wait until it has looked at the tables too."""
    page.goto(served.url("overview"))
    expect(page.locator('[data-testid^="table-"]').last).to_contain_text(" row", timeout=LONG)


def check_all(page: Page, served: Served) -> None:
    """Have everything checked, on the overview."""
    overview(page, served)
    before = kept(served)
    page.get_by_role("button", name="Check everything").click()
    for _ in range(LONG // 100):
        if kept(served) != before:
            break
        page.wait_for_timeout(100)
    settled(page)
    assert kept(served) != before, "nothing was checked"


def kept(served: Served) -> list[int]:
    """When verdicts were written: it changes with every check."""
    return [path.stat().st_mtime_ns for path in (served.folder / ".tacit-workbench").glob("*.json")]
