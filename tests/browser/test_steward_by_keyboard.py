"""A steward's whole job on the heart records, on a phone in the dark, without a mouse: Tab leads
to every step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.serving import Served
from browser.tables import heart
from browser.visiting import PHONE, Visitor
from tacit.checking.holdings.ledgers import ledger_of
from tacit.plan.read.load import load_plan

LONG = 180_000
MOST_STOPS = 400  # of Tab, until what is wanted has the focus


@pytest.mark.slow
@pytest.mark.skipif(
    heart() is None,
    reason="heart is not here; set TACIT_DATA to the folder that has heart/heart_cleveland.csv",
)
def test_two_releases_are_recorded_on_a_phone_without_a_mouse(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    (tmp_path / "served").mkdir()
    served = serve(tmp_path / "served" / "tacit.yaml")
    page = visit(width=PHONE, theme="dark").page(served.link())
    plan_it(page)
    press(page, page.get_by_role("button", name="Check everything"))
    expect(page.get_by_test_id("conclusion")).to_have_text(
        "Not ready to release: generalized.", timeout=LONG
    )
    names = [release(page, who) for who in ("University", "Clinic")]
    with ledger_of(load_plan(served.plan)) as ledger:
        held = [(one.release, one.to) for one in ledger.held()]
    assert held == [(names[0], ("University",)), (names[1], ("Clinic",))]
    assert names[0] != names[1]


def go_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus."""
    wanted.wait_for(timeout=LONG)
    for _ in range(MOST_STOPS):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way leads by Tab to {wanted}")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    """Reach something by Tab, and press it."""
    go_to(page, wanted)
    page.keyboard.press(key)


def plan_it(page: Page) -> None:
    """Choose the file, say one role more, walk through the steps, and save."""
    file = heart()
    assert file is not None
    with page.expect_file_chooser() as chooser:
        press(page, page.get_by_test_id("drop"))
    chooser.value.set_files(file)
    go_to(page, page.get_by_label("Role of cp", exact=True))
    page.keyboard.type("quasi")
    expect(page.get_by_test_id("plan-text")).to_have_value(
        re.compile(r"quasi-identifiers:[^\n]*\n[^:]*\n\s+- cp"), timeout=LONG
    )
    for step in ("Hierarchies", "What to protect against", "First look"):
        press(page, page.get_by_role("button", name=f"Next: {step}"))
    press(page, page.get_by_test_id("save-plan"))
    press(page, page.get_by_role("link", name="Next: check it on the page Overview"))


def release(page: Page, recipient: str) -> str:
    """Repair the draft, write it, and record it. The name of the release."""
    press(page, page.get_by_role("link", name="Overview", exact=True))
    press(page, page.get_by_role("link", name="Repair generalized", exact=True))
    press(page, page.get_by_test_id("search"))
    page.get_by_role("button", name=re.compile("^Cancel: Searching")).wait_for()
    expect(page.get_by_test_id("solved")).to_contain_text("can be met", timeout=LONG)
    insists = page.get_by_test_id("unjudged")
    page.get_by_test_id("write").wait_for(timeout=LONG)
    if insists.is_visible():
        press(page, insists, "Space")
    name = page.get_by_test_id("release-name").input_value()
    press(page, page.get_by_test_id("write"))
    press(page, page.get_by_test_id("written").get_by_test_id("as-release"))
    press(page, page.get_by_test_id("to-ledger"))
    begin, form = page.get_by_test_id("begin"), page.get_by_test_id("record-form")
    begin.or_(form).first.wait_for(timeout=LONG)
    if begin.is_visible():
        press(page, begin)
        press(page, page.get_by_role("button", name="Go on"))
    press(page, form.get_by_role("radio", name="To these"), "Space")
    go_to(page, form.get_by_label("Recipients", exact=True))
    page.keyboard.type(recipient)
    press(page, page.get_by_test_id("record"))  # who goes on has written a name
    expect(page.get_by_test_id("was-recorded")).to_contain_text(recipient, timeout=LONG)
    return name
