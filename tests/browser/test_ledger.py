"""The ledger in a browser: begun, a release recorded and one refused, what two hold together,
withdrawn, and found to be changed.
"""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.visiting import Visitor

EXAMPLE = Path(__file__).parents[2] / "examples" / "gateway"
LONG = 60_000  # milliseconds: a check in a process of its own, on a busy machine


def written(folder: Path) -> Path:
    for name in ("ledger.yaml", "patients.csv"):
        shutil.copy(EXAMPLE / name, folder)
    return folder / "ledger.yaml"


@pytest.fixture(scope="module")
def filled(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A ledger in which two have got something that they should not tell each other."""
    from tacit.checking.recording.record import record
    from tacit.plan.read.load import load_plan

    plan = load_plan(written(tmp_path_factory.mktemp("filled")))
    record(plan, "men", by="M. Weber")
    record(plan, "older", by="M. Weber", out_already=True)
    return serve(plan.folder / "ledger.yaml")


@pytest.fixture
def page(filled: Served, visit: Callable[..., Visitor]) -> Page:
    tab = visit().page(filled.link())
    tab.goto(filled.url("ledger"))
    expect(tab.get_by_test_id("summary")).to_be_visible(timeout=LONG)
    return tab


def choose(page: Page, release: str, *, no_more: bool = False) -> None:
    """Choose a release, and wait until the page knows: it then says to whom it goes."""
    form = page.get_by_test_id("record-form")
    form.get_by_label("Release", exact=True).click()
    page.locator(".q-menu .q-item", has_text=release).first.click()
    page.keyboard.press("Escape")
    expect(page.locator(".q-menu")).to_have_count(0, timeout=LONG)
    told = expect(form.get_by_text(re.compile(rf"\b{release} goes to")))
    told.to_have_count(0, timeout=LONG) if no_more else told.to_be_visible(timeout=LONG)


@pytest.mark.slow
def test_a_recipient_who_was_typed_is_recorded_though_nobody_pressed_enter(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    from tacit.checking.holdings.ledgers import begin, ledger_of
    from tacit.plan.read.load import load_plan

    begin(load_plan(written(tmp_path)))
    served = serve(tmp_path / "ledger.yaml")
    page = visit().page(served.link())
    page.goto(served.url("ledger"))
    choose(page, "men")
    form = page.get_by_test_id("record-form")
    form.get_by_role("radio", name="To these").click()
    box, chosen = form.get_by_label("Recipients", exact=True), form.locator(".chip")
    for name, key in (("Univ. Zürich", "Enter"), ("The press", "Tab")):
        box.click()
        page.keyboard.type(name)
        page.keyboard.press(key)
        expect(chosen.last).to_contain_text(name)
        expect(box).to_have_value("")
    served.process.send_signal(signal.SIGSTOP)  # busy: names are written before it hears of them
    box.click()
    for name in ("The ministry", "Clinic"):
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    served.process.send_signal(signal.SIGCONT)
    expect(chosen).to_have_count(4)
    form.get_by_role("button", name="Remove Clinic").click()
    expect(chosen).to_have_count(3)
    box.fill("reg")  # looks for one of the plan, and is no name itself
    form.get_by_role("button", name="Add registry").click()
    box.fill("A clinic")  # and goes on without a word to Record
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("was-recorded")).to_be_visible(timeout=LONG)
    with ledger_of(load_plan(served.plan)) as ledger:
        assert [set(one.to) for one in ledger.held()] == [
            {"Univ. Zürich", "The press", "The ministry", "registry", "A clinic"}
        ]
    page.reload()
    form.get_by_role("radio", name="To these").click()
    expect(form.get_by_role("button", name="Add The press")).to_be_visible(
        timeout=LONG
    )  # known from now on, so that nobody is spelled twice


@pytest.mark.slow
def test_who_gets_it_is_who_was_pressed_though_the_page_hears_of_it_late(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    from tacit.checking.holdings.ledgers import begin
    from tacit.plan.read.load import load_plan

    begin(load_plan(written(tmp_path)))
    served = serve(tmp_path / "ledger.yaml")
    page = visit().page(served.link())
    page.goto(served.url("ledger"))
    form = page.get_by_test_id("record-form")
    form.get_by_label("Release", exact=True).click()
    served.process.send_signal(signal.SIGSTOP)  # busy: it does not hear yet which release it is
    page.locator(".q-menu .q-item", has_text="men").first.click()
    page.keyboard.press("Escape")
    form.get_by_role("radio", name="To these").click()
    served.process.send_signal(signal.SIGCONT)
    expect(form.get_by_role("radio", name="To whom the plan says")).to_be_visible(timeout=LONG)
    expect(form.get_by_role("radio", name="To these")).to_be_checked(timeout=LONG)
    expect(form.get_by_label("Recipients", exact=True)).to_be_visible(timeout=LONG)


@pytest.mark.slow
def test_a_ledger_is_begun_one_release_recorded_and_the_next_refused(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    served = serve(written(tmp_path))
    page = visit().page(served.link())
    page.goto(served.url("ledger"))
    expect(page.get_by_test_id("not-begun")).to_contain_text(
        "Keep a copy of the key elsewhere", timeout=LONG
    )
    page.get_by_test_id("begin").click()
    page.get_by_role("button", name="Go on").click()
    choose(page, "men")
    page.get_by_test_id("record").click()
    expect(page.get_by_test_id("was-recorded")).to_contain_text(
        "recorded as entry 1, to insurer", timeout=LONG
    )
    assert (tmp_path / "men.csv").read_text("utf-8").startswith("condition\n")
    expect(page.get_by_test_id("grid-ledger").get_by_role("row")).to_have_count(2, timeout=LONG)
    choose(page, "men", no_more=True)
    choose(page, "older")
    page.get_by_test_id("record").click()
    refused = page.get_by_test_id("was-refused")
    expect(refused).to_contain_text("0.5-privacy is breached", timeout=LONG)
    expect(refused).to_contain_text("insurer and registry together", timeout=LONG)
    expect(refused.get_by_role("link", name="Look at older")).to_be_visible(timeout=LONG)
    assert not (tmp_path / "older.csv").exists()
    page.reload()
    expect(page.get_by_test_id("was-refused")).to_be_visible(timeout=LONG)


@pytest.mark.slow
def test_what_two_hold_together_is_judged(page: Page) -> None:
    page.get_by_test_id("judge").click()
    holders = page.get_by_test_id("holders")
    # The title says what the checks say; that something went out under a breach stands in the table
    # before they are asked.
    expect(holders).to_contain_text(
        "Insurer and registry together learn more than the plan allows", timeout=LONG
    )
    expect(holders.get_by_role("row", name="insurer and registry together")).to_contain_text(
        "In 36 of the 45 tables", timeout=LONG
    )
    expect(holders.get_by_role("row", name="insurer", exact=False).first).to_contain_text(
        "0.5-privacy of men", timeout=LONG
    )
    with page.expect_download() as saved:
        holders.get_by_role("button", name="Save CSV").click()
    assert saved.value.path().read_text("utf-8").splitlines()[1].startswith("insurer,men,view,")


def test_entries_are_filtered_shown_and_saved(page: Page) -> None:
    rows = page.get_by_test_id("grid-ledger").get_by_role("row")
    expect(rows).to_have_count(3, timeout=LONG)
    page.get_by_label("Given to").click()
    page.locator(".q-menu .q-item", has_text="registry").first.click()
    expect(rows).to_have_count(2, timeout=LONG)
    with page.expect_download() as saved:
        page.get_by_test_id("grid-ledger").get_by_role("button", name="Save CSV").click()
    assert (
        saved.value.path()
        .read_text("utf-8")
        .splitlines()[1]
        .endswith("older,view,registry,M. Weber,breached")
    )
    page.get_by_test_id("grid-ledger").get_by_role("button", name="2", exact=True).click()
    details = page.get_by_test_id("details")
    expect(details).to_contain_text("view, given to registry", timeout=LONG)
    expect(details).to_contain_text("0.5-privacy", timeout=LONG)
    page.get_by_role("button", name="Close").click()
    expect(details).to_have_count(0, timeout=LONG)


@pytest.mark.slow
def test_a_release_is_withdrawn_and_then_somebody_changes_the_ledger(
    page: Page, filled: Served
) -> None:
    page.get_by_test_id("verify").click()
    expect(page.get_by_test_id("verified")).to_contain_text("Nothing was changed", timeout=LONG)
    page.get_by_test_id("grid-ledger").get_by_role("button", name="1", exact=True).click()
    page.get_by_test_id("withdraw").click()
    expect(page.get_by_test_id("details")).to_contain_text(
        "Whoever has it still knows it", timeout=LONG
    )
    page.get_by_test_id("withdraw-confirmed").click()
    expect(page.get_by_test_id("details")).to_contain_text(
        "withdrawn from everybody by entry 3", timeout=LONG
    )
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_test_id("summary")).to_contain_text("3 entries", timeout=LONG)
    direct = sqlite3.connect(filled.folder / "tacit-ledger.sqlite")
    for (name,) in direct.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        direct.execute(f"DROP TRIGGER {name}")
    direct.execute(
        "UPDATE tacit_entries SET body = replace(body, 'Weber', 'Meyer') WHERE number = 2"
    )
    direct.commit()
    direct.close()
    page.get_by_test_id("verify").click()
    expect(page.get_by_test_id("verified")).to_contain_text(
        "entry 2 is not what was recorded", timeout=LONG
    )


@pytest.mark.slow
def test_a_release_is_corrected_from_its_entry(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    from tacit.checking.recording.record import record
    from tacit.plan.read.load import load_plan

    record(load_plan(written(tmp_path)), "men", by="M. Weber")
    patients = tmp_path / "patients.csv"
    patients.write_text(
        patients.read_text("utf-8").replace("Bob,M,24,SARS", "Bob,M,24,Flu"), "utf-8"
    )
    served = serve(tmp_path / "ledger.yaml")
    page = visit().page(served.link())
    page.goto(served.url("ledger"))
    page.get_by_test_id("grid-ledger").get_by_role("button", name="1", exact=True).click(
        timeout=LONG
    )
    page.get_by_test_id("correct").click(timeout=LONG)
    details = page.get_by_test_id("details")
    page.get_by_test_id("correct-confirmed").click(timeout=LONG)
    expect(details).to_contain_text(
        "a correction says what was wrong", timeout=LONG, ignore_case=True
    )
    details.get_by_label("What was wrong").fill("A condition was entered wrongly.")
    page.get_by_test_id("correct-confirmed").click()
    refused = page.get_by_test_id("was-not-corrected")
    expect(refused).to_contain_text("insurer has the old one", timeout=LONG)
    assert not (tmp_path / "men-corrected.csv").exists()
    details.get_by_role("checkbox").click()
    page.get_by_test_id("correct-confirmed").click()
    expect(page.get_by_test_id("was-corrected")).to_contain_text(
        "recorded as entry 2, the correction of entry 1, to insurer", timeout=LONG
    )
    assert (tmp_path / "men-corrected.csv").read_text("utf-8").startswith("condition\n")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_test_id("grid-ledger")).to_contain_text("view, correction", timeout=LONG)
    page.get_by_test_id("grid-ledger").get_by_role("button", name="2", exact=True).click()
    expect(page.get_by_test_id("details")).to_contain_text(
        "A condition was entered wrongly.", timeout=LONG
    )


SECOND = """
version: 1
tables:
  patients:
    columns: [name, age, zone, condition]
    rows:
      - [Ann, 21, A1, flu]
      - [Bob, 24, A2, asthma]
      - [Cat, 22, B1, asthma]
      - [Dan, 27, B2, asthma]
      - [Eve, 33, A1, gout]
      - [Fay, 38, A2, flu]
      - [Gus, 31, B1, gout]
      - [Hal, 36, B2, asthma]
    key: [name]
    identifiers: [name]
    quasi-identifiers: [age, zone]
    sensitive: [condition]
    hierarchies: {age: {ranges: [10]}, zone: {mask: right}}
releases:
  april: {table: patients, generalization: {age: 1, zone: 2}, to: [insurer]}
  may: {table: patients, generalization: {age: 2, zone: 1}, to: [insurer]}
published: [ledger]
checks:
  - l-diversity: {release: april, kind: distinct, l: 2}
  - l-diversity: {release: may, kind: distinct, l: 2}
"""


@pytest.mark.slow
def test_a_refusal_shows_which_values_the_copies_leave_together(
    serve: Callable[..., Served], visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    from tacit.checking.holdings.ledgers import begin
    from tacit.checking.recording.record import record
    from tacit.plan.read.load import load_plan

    (tmp_path / "tacit.yaml").write_text(SECOND, "utf-8")
    begin(load_plan(tmp_path / "tacit.yaml"))
    record(load_plan(tmp_path / "tacit.yaml"), "april", by="M. Weber")
    served = serve(tmp_path / "tacit.yaml")
    page = visit().page(served.link())
    page.goto(served.url("ledger"))
    choose(page, "may")
    page.get_by_test_id("record").click()
    refused = page.get_by_test_id("was-refused")
    left = refused.get_by_test_id("left")
    left.get_by_text("Values that are left").click(timeout=LONG)
    expect(left.get_by_role("table")).to_contain_text("1: asthma", timeout=LONG)
    search = refused.get_by_role("link", name="Look for levels of may beside what is published")
    expect(search).to_have_attribute("href", re.compile("/repair/may$"))
    refused.get_by_role("link", name="Look at may").click()
    page.get_by_test_id("tell-together").click(timeout=LONG)
    told = page.get_by_test_id("together")
    expect(told).to_contain_text("together leave 4 of 8 people fewer values", timeout=LONG)
    expect(told.get_by_role("figure")).to_contain_text("50 % before, 100 % after", timeout=LONG)
