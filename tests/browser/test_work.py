"""Work that takes long, in a browser: how far it is, a reload and a
second tab in the middle, and cancel.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.tables import write_long
from browser.visiting import Visitor

ROWS = 120_000
OPENS = 30_000  # the table is counted before the page is there
SEARCH = "work-repair-search"


@pytest.fixture(scope="module")
def served(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    return serve(write_long(tmp_path_factory.mktemp("long"), ROWS))


def search(page: Page, served: Served) -> None:
    """Begin a search that takes some seconds."""
    page.goto(served.url("repair/june"))
    page.get_by_test_id("search").click(timeout=OPENS)
    expect(page.get_by_test_id(SEARCH)).to_contain_text(re.compile(r"\d+\s?%"), timeout=OPENS)


@pytest.mark.slow
def test_a_search_goes_on_through_a_reload_and_in_a_second_tab_and_can_be_cancelled(
    served: Served, visit: Callable[..., Visitor]
) -> None:
    owner = visit()
    page = owner.page(served.link())
    search(page, served)
    page.reload()
    expect(page.get_by_test_id(SEARCH)).to_be_visible(timeout=OPENS)
    expect(page.get_by_test_id(SEARCH).get_by_role("progressbar")).to_have_attribute(
        "aria-valuenow", re.compile(r"\d+")
    )
    second = owner.page(served.url("ledger"))
    expect(second.get_by_test_id("running")).to_contain_text("june")
    second.goto(served.url("repair/june"))
    expect(second.get_by_test_id(SEARCH)).to_be_visible(timeout=OPENS)
    second.get_by_test_id(SEARCH).get_by_role("button", name=re.compile("^Cancel")).click()
    for tab in (page, second):
        expect(tab.get_by_test_id(SEARCH)).to_contain_text(
            "It was stopped. Nothing was written.", timeout=OPENS
        )
        expect(tab.get_by_test_id("solved")).to_have_count(0)
    assert sorted(
        path.name
        for path in served.folder.iterdir()
        if not path.name.startswith((".", "tacit-audit"))
    ) == ["people.csv", "tacit.yaml"]


@pytest.mark.slow
def test_a_search_that_nobody_watches_is_finished_when_one_comes_back(
    served: Served, visit: Callable[..., Visitor]
) -> None:
    owner = visit()
    page = owner.page(served.link())
    search(page, served)
    page.close()
    again = owner.page(served.url("repair/june"))
    expect(again.get_by_test_id("solved")).to_be_visible(timeout=120_000)
    expect(again.get_by_test_id("solved")).to_contain_text("The checks can be met")
