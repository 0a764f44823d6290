"""A kind of release that is added by its registration alone, in the browser: checked, told on its
own page, and recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.serving import Served
from browser.steps import LONG, check_all, settled
from browser.visiting import Visitor
from families.test_toy_family import BEGIN, PLAN

# A file: processes that work for the pages import it, and so know the toy too.
PROGRAM = f"""{BEGIN}
if __name__ == "__main__":
    from tacit.cli import main
    main()
"""


@pytest.mark.slow
def test_it_is_checked_told_and_recorded(
    tmp_path: Path, serve: Callable[..., Served], visit: Callable[..., Visitor]
) -> None:
    program, plan = tmp_path / "toy_tacit.py", tmp_path / "plan" / "tacit.yaml"
    plan.parent.mkdir()
    program.write_text(PROGRAM, "utf-8")
    plan.write_text(PLAN, "utf-8")
    served = serve(plan, program=[str(program)])
    page = visit().page(served.link())
    check_all(page, served)
    expect(page.get_by_test_id("conclusion")).to_contain_text("again")
    again = page.get_by_test_id("release-again")
    expect(again).to_contain_text("a total of 4")
    again.get_by_role("link", name="Open again").click()
    settled(page)
    expect(page.locator("#content")).to_contain_text("the table has 3 rows", timeout=LONG)
    page.goto(served.url("repair/again"))
    expect(page.get_by_test_id("by-hand")).to_contain_text("What can be done", timeout=LONG)
    page.goto(served.url("release/size"))
    settled(page)
    page.goto(served.url("ledger"))
    page.get_by_test_id("begin").click(timeout=LONG)
    page.get_by_role("button", name="Go on").click()
    form = page.get_by_test_id("record-form")  # it begins with the release looked at last
    expect(form.locator(".q-chip", has_text="size")).to_be_visible(timeout=LONG)
    form.get_by_role("radio", name="To everybody").click()
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("was-recorded")).to_contain_text("entry 1", timeout=LONG)
    assert (plan.parent / "size.csv").read_text("utf-8") == "rows\n3\n"
