"""The hospital of `tacit demo`, read in a browser:
what is breached, who is exposed, what somebody believes about them.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from browser.serving import Served
from browser.steps import LONG, check_all, overview
from browser.visiting import Visitor


@pytest.mark.slow
def test_the_breach_of_the_demo_is_read_on_the_pages(
    demo: Served, visit: Callable[..., Visitor]
) -> None:
    page = visit().page(demo.link())
    overview(page, demo)
    expect(page.get_by_test_id("release-april")).to_contain_text("not yet checked")
    check_all(page, demo)
    expect(page.get_by_test_id("conclusion")).to_have_text("Not ready to release: april.")
    expect(page.get_by_test_id("count-holds")).to_have_text("2")
    april = page.get_by_test_id("release-april")
    expect(april).to_contain_text("4 people share one condition, so it is known")
    expect(page.get_by_test_id("release-may")).to_contain_text("entropy 2.8-diversity")

    april.get_by_role("link", name="Open april").click()
    expect(page).to_have_url(re.compile("/workbench/release/april$"))
    main = page.locator("#content")
    expect(main).to_contain_text(
        "Anyone who knows that Bruce is 31, American and lives in 13053 now knows that Bruce "
        "has Cancer."
    )
    expect(main).to_contain_text("4 of 12 people are exposed for certain")
    expect(main).to_contain_text("no other data about these people has been published")


@pytest.mark.slow
def test_what_somebody_believes_about_a_person_is_shown_before_and_after(
    demo: Served, visit: Callable[..., Visitor]
) -> None:
    page = visit().page(demo.link())
    check_all(page, demo)
    page.goto(demo.url("release/april"))
    people = page.get_by_test_id("people")
    people.get_by_role("button", name="Bruce").first.click(timeout=LONG)
    expect(page.get_by_test_id("about")).to_have_text(
        "What an attacker believes about Bruce", timeout=LONG
    )
    expect(page.get_by_test_id("beliefs")).to_contain_text("100 %")
    expect(page.get_by_test_id("beliefs")).to_contain_text("41 %")
    assert "Bruce" not in page.url


@pytest.mark.slow
def test_the_verdicts_can_be_saved_as_the_report_with_or_without_people(
    demo: Served, visit: Callable[..., Visitor]
) -> None:
    page = visit().page(demo.link())
    check_all(page, demo)
    page.goto(demo.url("release/april"))
    for button, shows_people in (("Report for you", True), ("Report to share", False)):
        with page.expect_download(timeout=LONG) as saved:
            page.get_by_role("button", name=button).click()
        text = saved.value.path().read_text("utf-8")
        assert (
            saved.value.suggested_filename.endswith(".html")
            and "april" in text
            and "<script" not in text
        )
        assert ("Bruce" in text) is shows_people


@pytest.mark.slow
def test_what_changed_since_the_check_before_is_told(
    demo: Served, visit: Callable[..., Visitor]
) -> None:
    page = visit().page(demo.link())
    check_all(page, demo)
    was = demo.plan.read_text("utf-8")
    try:
        demo.plan.write_text(
            was.replace("{zip: 2, age: 1, nationality: 1}", "{zip: 2, age: 2, nationality: 1}"),
            "utf-8",
        )
        assert demo.plan.read_text("utf-8") != was
        page.reload()
        expect(page.get_by_test_id("release-april")).to_contain_text("before the last change")
        page.get_by_role("button", name="Check everything").click()
        expect(page.get_by_test_id("conclusion")).to_have_text(
            "All releases meet the checks of this plan.", timeout=LONG
        )
        expect(page.get_by_test_id("changes")).to_contain_text("breached → holds")
    finally:
        demo.plan.write_text(was, "utf-8")


@pytest.mark.slow
def test_verdicts_are_kept_for_the_owner_only(demo: Served, visit: Callable[..., Visitor]) -> None:
    page = visit().page(demo.link())
    check_all(page, demo)
    kept = demo.folder / ".tacit-workbench"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    files = [path for path in kept.iterdir() if path.suffix == ".json"]
    assert files and all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    assert "Bruce" in json.dumps(json.loads(files[0].read_text("utf-8")))
    assert "Bruce" not in demo.text
