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

ROWS = 2_000
OPENS = 30_000  # the table is counted before the page is there
SEARCH = "work-repair-search"
GO_ON = ".go-on"  # a file beside the plan: a search waits until the test writes it
# A file: processes that work for the pages import it, and so wait too.
PROGRAM = f"""
import time
from tacit.families.microdata.runs import anonymize

solve = anonymize.solve_beside

def solve_when_told(plan, task, job, levels=None):
    while not (plan.folder / {GO_ON!r}).exists():
        job.step("waiting for the test", 0.5)
        time.sleep(0.02)
    return solve(plan, task, job, levels)

anonymize.solve_beside = solve_when_told

if __name__ == "__main__":
    from tacit.cli import main
    main()
"""


@pytest.fixture(scope="module")
def served(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    program = tmp_path_factory.mktemp("program") / "waiting_tacit.py"
    program.write_text(PROGRAM, "utf-8")
    return serve(write_long(tmp_path_factory.mktemp("long"), ROWS), program=[str(program)])


def search(page: Page, served: Served) -> None:
    """Begin a search, that goes on when the test says so."""
    (served.folder / GO_ON).unlink(missing_ok=True)
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
    (served.folder / GO_ON).touch()
    again = owner.page(served.url("repair/june"))
    expect(again.get_by_test_id("solved")).to_be_visible(timeout=120_000)
    expect(again.get_by_test_id("solved")).to_contain_text("The checks can be met")
