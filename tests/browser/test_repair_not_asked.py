"""Repair of a table that a check judges as views, in a browser:
the page says what its search does not ask.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.serving import Served
from browser.visiting import Visitor

OPENS = 30_000  # the table is counted before the page is there
PLAN = """\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
    key: [name]
    identifiers: [name]
    quasi-identifiers: [sex, age]
    sensitive: [condition]
    hierarchies: {sex: "*", age: {ranges: [5, 10]}}
releases:
  copy: {table: patients}
  other: {table: patients}
  insurer: {query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"}
checks:
  - k-anonymity: {release: copy, k: 2}
  - gamma-privacy: {releases: [copy, insurer], gamma: 0.5}
  - k-sind: {release: other, k: 2}
"""


@pytest.fixture(scope="module")
def served(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    plan: Path = tmp_path_factory.mktemp("views") / "tacit.yaml"
    plan.write_text(PLAN, "utf-8")
    return serve(plan)


@pytest.mark.slow
def test_a_search_says_what_it_does_not_ask(served: Served, visit: Callable[..., Visitor]) -> None:
    page = visit().page(served.link())
    page.goto(served.url("repair/copy"))
    expect(page.get_by_test_id("not-asked")).to_contain_text(
        "The search does not ask gamma-privacy of copy and insurer"
    )
    page.get_by_test_id("search").click(timeout=OPENS)
    expect(page.get_by_test_id("solved")).to_contain_text(
        "The checks that were asked can be met", timeout=OPENS
    )
    page.goto(served.url("repair/other"))
    expect(page.get_by_test_id("not-asked")).to_contain_text("so there is nothing to reach")
    expect(page.get_by_test_id("search")).to_have_count(0)
