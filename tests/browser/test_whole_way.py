"""The whole way in a browser: a table is dropped, roles are corrected, it is checked, repaired,
written, and recorded.
"""

from __future__ import annotations

import base64
import csv
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.steps import settled
from browser.tables import adult, write_adult, write_census
from browser.visiting import Visitor
from tacit.checking.holdings.ledgers import ledger_of
from tacit.plan.read.load import load_plan

LONG = 120_000
QUASI = ["age", "workclass", "education", "marital_status", "race", "sex", "native_country"]
needs_adult = pytest.mark.skipif(
    adult() is None,
    reason="Adult is not here; set TACIT_DATA to the folder that has adult/adult.csv",
)
DROP = """
([name, content]) => {
  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
  const carried = new DataTransfer();
  carried.items.add(new File([bytes], name, {type: 'text/csv'}));
  const event = kind => new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true});
  const target = document.querySelector('[data-testid=drop]');
  target.dispatchEvent(event('dragover'));
  target.dispatchEvent(event('drop'));
}
"""  # noqa: E501


def drop(page: Page, file: Path) -> None:
    """Drop a file on the page, as from a window beside it."""
    page.get_by_test_id("drop").wait_for()
    settled(page)
    page.evaluate(DROP, [file.name, base64.b64encode(file.read_bytes()).decode()])
    page.get_by_test_id("columns").wait_for(timeout=LONG)
    settled(page)


def groups_of(path: Path, columns: list[str], sensitive: str) -> dict[tuple[str, ...], list[str]]:
    """What a reader of the file sees:
    the sensitive values of each group of rows that look alike.
    """
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[tuple(row[column] for column in columns)].append(row[sensitive])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("table", ["census", pytest.param("adult", marks=needs_adult)])
def test_from_a_dropped_table_to_a_written_4_diverse_release_and_a_ledger_entry(
    table: str, serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    file = (
        write_adult(tmp_path / "adult.csv", 6_000)
        if table == "adult"
        else write_census(tmp_path / "census.csv", 3_000)
    )
    (tmp_path / "served").mkdir()
    served = serve(tmp_path / "served" / "tacit.yaml")
    page = visit().page(served.link())
    drop(page, file)
    say_what_is_sensitive(page, table)
    save_and_check(page, served)
    output = repair_and_write(page)
    groups = groups_of(served.folder / output, QUASI, "occupation")
    assert (
        min(map(len, groups.values())) >= 5
        and min(len(set(values)) for values in groups.values()) >= 4
    )
    assert sum(map(len, groups.values())) == sum(1 for _ in file.open(encoding="utf-8")) - 1
    record(page, served, output)


def say_what_is_sensitive(page: Page, table: str) -> None:
    """Correct the roles and the checks by clicking; the text follows."""
    if table == "adult":
        for column in ("education_num", "relationship", "salary_class", "fnlwgt"):
            page.get_by_label(f"Role of {column}", exact=True).select_option(label="not released")
    page.get_by_label("Role of occupation", exact=True).select_option(label="sensitive")
    text = page.get_by_test_id("plan-text")
    expect(text).to_have_value(re.compile(r"sensitive:[^\n]*\n\s+- occupation"))
    if table == "adult":  # begins with three checks, and the census with one
        page.get_by_role("button", name=re.compile("^Remove check 3")).click()
        expect(text).not_to_have_value(re.compile("recursive"))
    else:
        page.get_by_label("Check to add", exact=True).select_option(value="distinct")
        page.get_by_test_id("add-check").click()
        expect(text).to_have_value(re.compile("kind: distinct"))  # the form is drawn anew with it
    diversity = page.get_by_label(re.compile("^l of check 2"))
    diversity.fill("4")
    diversity.press("Enter")
    expect(text).to_have_value(re.compile(r"kind: distinct, l: 4"))
    expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: not saved yet")


def save_and_check(page: Page, served: Served) -> None:
    """Save the plan, which the command line reads too, and see that
    nothing was known before it is checked.
    """
    page.get_by_test_id("save-plan").click()
    expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: saved")
    plan = load_plan(served.plan)
    assert plan.tables[next(iter(plan.tables))].sensitive == ("occupation",)
    page.get_by_role("link", name="Next: check it on the page Overview").click()
    expect(page.get_by_test_id("release-generalized")).to_contain_text("not yet checked")
    page.get_by_role("button", name="Check everything").click()
    expect(page.get_by_test_id("release-generalized")).not_to_contain_text(
        "not yet checked", timeout=LONG
    )


def repair_and_write(page: Page) -> str:
    """Search, look at another solution than the first, and write it."""
    page.get_by_role("link", name="Repair generalized").click()
    page.get_by_test_id("search").click(timeout=LONG)
    expect(page.get_by_test_id("solved")).to_contain_text("The checks can be met", timeout=LONG)
    page.get_by_test_id("dot-2").click()
    expect(page.get_by_test_id("dot-2")).to_have_attribute("aria-pressed", "true")
    for kind, begins in (("SVG", b'<svg xmlns="http://www.w3.org/2000/svg"'), ("PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save {kind}: the scatter").click()
        assert saved.value.path().read_bytes().startswith(begins)
    page.get_by_test_id("write").click(timeout=LONG)
    written = page.get_by_test_id("written")
    expect(written).to_be_visible(timeout=LONG)
    found = re.search(r"Written: (\S+)", written.inner_text())
    assert found is not None
    page.get_by_test_id("as-release").click()
    expect(written).to_contain_text("The plan has the file as release generalized-written")
    return found[1]


def record(page: Page, served: Served, output: str) -> None:
    """Begin the ledger and record what was written, to one recipient."""
    page.get_by_test_id("to-ledger").click()
    page.get_by_test_id("begin").click()
    page.get_by_role("button", name="Go on").click()
    form = page.get_by_test_id("record-form")
    form.locator(".q-chip", has_text="generalized-written").wait_for(timeout=LONG)  # chosen already
    expect(page.get_by_role("radio", name=f"{output}, as the plan says")).to_be_checked()
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("recorded")).to_contain_text("not said who gets it")
    form.get_by_role("radio", name="To these").click()
    form.get_by_label("Recipients").click()
    page.keyboard.type("University")
    page.keyboard.press("Enter")
    expect(form.locator(".chip", has_text="University")).to_be_visible()
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("was-recorded")).to_be_visible(timeout=LONG)
    with ledger_of(load_plan(served.plan)) as ledger:
        held = list(ledger.held())
    assert [one.release for one in held] == ["generalized-written"]
    expect(page.get_by_test_id("summary")).to_contain_text("generalized-written")
    page.goto(served.url("overview"))
    expect(page.get_by_test_id("given-generalized-written")).to_contain_text("to University")
    expect(page.get_by_test_id("conclusion")).to_have_text(
        "generalized-written met its checks when it went out. "
        "Some results are missing or out of date: generalized."
    )  # the ledger has changed since the draft was checked; what went out is judged
