"""The page Start beyond views: a form for synthetic releases, in step with the text, and a
second table for the plan that is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessible import assert_accessible, axe_path
from browser.plans import write_plan
from browser.serving import Served
from browser.steps import LONG, settled
from browser.visiting import PHONE, Visitor
from tacit.model.release import Synthetic
from tacit.plan.read.load import load_plan


@pytest.fixture(scope="module")
def city(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The commuters of the page about synthetic data, served."""
    return serve(write_plan("synthetic", tmp_path_factory.mktemp("city")))


@pytest.fixture(autouse=True)
def as_it_was(city: Served) -> object:
    """The plan, before and after each test."""
    was = city.plan.read_text("utf-8")
    yield
    city.plan.write_text(was, "utf-8")


def opened(tab: Page) -> Page:
    settled(tab)
    tab.get_by_test_id("columns").wait_for(timeout=LONG)
    settled(tab)
    return tab


def fill(page: Page, **fields: str) -> None:
    for key, text in fields.items():
        page.get_by_test_id(f"synthetic-{key}").fill(text)


def choose(page: Page, **fields: str) -> None:
    for key, option in fields.items():
        page.get_by_test_id(f"synthetic-{key}").select_option(option)


@pytest.mark.slow
def test_a_release_is_added_by_form_and_wrong_fields_say_so(
    city: Served, visit: Callable[..., Visitor]
) -> None:
    page = opened(visit(width=PHONE, theme="dark").page(city.link()))
    page.get_by_test_id("panel-synthetic").locator("summary").first.click()
    fill(page, name="late", delta="2")
    choose(page, value="home", group="workplace", count="jobs", file="districts.csv")
    expect(page.get_by_test_id("synthetic-words")).to_contain_text(
        "Protected: each person's home in commutes."
    )
    page.get_by_test_id("add-synthetic").click()
    wrong = page.get_by_test_id("synthetic-epsilon")
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(wrong).to_be_focused()
    expect(page.locator("#synthetic-epsilon-said")).to_contain_text("found nothing in 'epsilon'.")
    fill(page, epsilon="ln(5)")  # from now on the form says at once what is wrong
    expect(page.locator("#synthetic-delta-said")).to_contain_text(
        "Write a number from 0 to less than 1"
    )
    choose(page, domain="none", mechanism="geometric")
    expect(page.get_by_test_id("synthetic-doubt")).to_contain_text("no domain that protects")
    if axe_path():
        assert_accessible(page)
    choose(page, domain="file")
    fill(page, delta="1e-6")
    page.get_by_text("Options", exact=True).click()
    fill(page, accept="4")
    page.get_by_text("Options", exact=True).click()
    page.get_by_test_id(
        "add-synthetic"
    ).click()  # opens what is folded, where something in it is wrong
    expect(page.get_by_test_id("synthetic-accept")).to_be_focused()
    expect(page.locator("#synthetic-accept-said")).to_contain_text(
        "does not go with mechanism geometric"
    )
    fill(page, accept="")
    choose(page, mechanism="dirichlet")
    expect(page.locator("#synthetic-delta-said")).to_be_empty()
    page.get_by_test_id("add-synthetic").click()
    expect(page.get_by_text("late is in the plan now")).to_be_visible()
    page.get_by_test_id("save-plan").click()
    expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: saved")
    plan = load_plan(city.plan)
    made = plan.releases["late"]
    assert isinstance(made, Synthetic) and (made.value, made.epsilon, made.count) == (
        "home",
        "ln(5)",
        "jobs",
    )
    assert [check.releases for check in plan.checks] == [("homes",), ("late",)]


@pytest.mark.slow
def test_a_release_is_changed_and_removed_and_follows_the_text(
    city: Served, visit: Callable[..., Visitor]
) -> None:
    page = opened(visit().page(city.link()))
    text = page.get_by_test_id("plan-text")
    was = text.input_value()
    page.get_by_role("button", name="Change homes").click()
    expect(page.get_by_test_id("synthetic-epsilon")).to_have_value("2")
    fill(page, within="5")
    choose(page, outside="drop")
    text.fill(was.replace("epsilon: 2", "epsilon: 3"))  # by hand, while the form is open
    expect(page.get_by_test_id("synthetic-epsilon")).to_have_value("3")
    expect(page.get_by_test_id("synthetic-within")).to_have_value("5")
    page.get_by_test_id("add-synthetic").click()
    expect(text).to_have_value(
        re.compile(
            r"epsilon: 3\n.*\n +domain: \{file: districts.csv, within: 5\}  # where somebody could "
            r"live.*\n +outside: drop"
        )
    )
    assert "# what is protected" in text.input_value()
    page.get_by_test_id("add-kind").select_option("pdp")
    page.get_by_test_id("add-check").click()
    expect(text).to_have_value(re.compile(r"probabilistic-dp: \{release: homes\}"))
    page.get_by_role("button", name="Remove homes").click()
    expect(text).not_to_have_value(re.compile("homes"))
    expect(page.get_by_test_id("synthetic-releases")).to_be_empty()
    page.get_by_role("button", name="Discard changes").click()
    expect(text).to_have_value(was)
    expect(page.get_by_role("button", name="Change homes")).to_be_visible()


@pytest.mark.slow
def test_a_second_file_is_added_to_the_open_plan(
    city: Served, visit: Callable[..., Visitor], tmp_path: Path
) -> None:
    was = city.plan.read_text("utf-8")
    page = opened(visit().page(city.link()))
    text = page.get_by_test_id("plan-text")
    text.fill(was + "# not saved yet\n")
    expect(page.get_by_test_id("plan-state")).to_contain_text("changed, not saved")

    wards = tmp_path / "wards.csv"
    wards.write_text(
        "ward,floor,diagnosis\n"
        + "".join(f"W{n % 9},{n % 3},{['flu', 'ulcer'][n % 2]}\n" for n in range(60))
    )
    page.get_by_text("Open a plan, a file or a database").click()
    page.get_by_test_id("into").select_option("add")
    page.get_by_test_id("upload").locator("input[type=file]").set_input_files(str(wards))
    expect(page.get_by_test_id("which-table")).to_have_value("wards", timeout=LONG)
    page.get_by_test_id("role-diagnosis").wait_for(timeout=LONG)
    now = text.input_value()
    assert [
        line for line in was.splitlines() if line not in now.splitlines()
    ] == [] and now.endswith("# not saved yet\n")
    expect(text).to_have_value(re.compile("file: wards.csv"))

    page.get_by_test_id("role-floor").select_option("insensitive")
    expect(text).to_have_value(re.compile(r"insensitive: \[floor\]"))
    page.get_by_test_id("save-plan").click()
    expect(page.get_by_test_id("plan-state")).to_have_text("tacit.yaml: saved")
    tables = load_plan(city.plan).tables
    assert list(tables) == ["commutes", "wards"] and tables["wards"].insensitive == ("floor",)
    assert not (city.folder / "wards.yaml").exists()
