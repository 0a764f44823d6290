"""One file after another on the page Start: what is not saved stays until somebody says
otherwise, and the plan that is served is the one that is saved.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.steps import LONG, settled
from browser.visiting import Visitor
from tacit.plan.read.load import load_plan

PEOPLE = "name,age,condition\n" + "".join(
    f"p{n},{20 + n % 50},{['flu', 'cold', 'ulcer'][n % 3]}\n" for n in range(60)
)
RAGGED = "name,age,condition\nAnn,23,Flu\nBob,24\n"


@pytest.fixture
def clinic(serve: Callable[..., Served], tmp_path: Path) -> Served:
    """A folder in which there is no plan yet."""
    (tmp_path / "clinic").mkdir()
    return serve(tmp_path / "clinic" / "tacit.yaml")


def drop(page: Page, folder: Path, name: str, text: str = PEOPLE) -> None:
    file = folder.parent / name
    file.write_text(text)
    if page.get_by_test_id("opening").get_attribute("open") is None:
        page.get_by_text("Open a plan, a file or a database").click()
    page.get_by_test_id("upload").locator("input[type=file]").set_input_files(str(file))


@pytest.mark.slow
def test_nothing_that_is_not_saved_is_lost_and_the_first_plan_is_the_one_that_is_served(
    clinic: Served, visit: Callable[..., Visitor]
) -> None:
    page = visit().page(clinic.link())
    drop(page, clinic.folder, "ragged.csv", RAGGED)
    expect(page.get_by_test_id("error")).to_contain_text("ragged.csv", timeout=LONG)
    drop(page, clinic.folder, "binary.csv", "name,age\nJos\0,3\n")
    expect(page.get_by_test_id("error")).to_contain_text("binary.csv", timeout=LONG)
    expect(page.get_by_text("Looking at ragged.csv")).to_have_count(0)

    drop(page, clinic.folder, "first.csv")
    page.get_by_test_id("role-condition").wait_for(timeout=LONG)
    settled(page)
    expect(page.get_by_test_id("plan-state")).to_contain_text("tacit.yaml: not saved yet")
    page.get_by_test_id("role-age").select_option("insensitive")
    text = page.get_by_test_id("plan-text")
    expect(text).to_have_value(re.compile(r"insensitive:\s+(\[|- )age"))
    mine = text.input_value()

    drop(page, clinic.folder, "second.csv")
    question = page.get_by_test_id("unsaved")
    expect(question).to_contain_text("tacit.yaml is not saved yet")
    question.get_by_role("button", name="Leave second.csv out").click()
    expect(question).to_have_count(0)
    assert not (clinic.folder / "second.csv").exists()

    drop(page, clinic.folder, "ragged.csv", RAGGED)
    question.get_by_role("button", name="Begin anew").click()
    expect(page.get_by_test_id("error")).to_contain_text("ragged.csv", timeout=LONG)
    expect(text).to_have_value(mine)
    page.reload()
    expect(text).to_have_value(mine)
    expect(page.get_by_text("Looking at ragged.csv")).to_have_count(0)
    expect(page.get_by_test_id("plan-state")).to_contain_text("tacit.yaml: not saved yet")

    drop(page, clinic.folder, "second.csv", PEOPLE.replace("condition", "illness"))
    question.get_by_role("button", name="Begin anew").click()
    page.get_by_test_id("role-illness").wait_for(timeout=LONG)
    expect(page.get_by_test_id("plan-state")).to_contain_text("tacit.yaml: not saved yet")
    drop(page, clinic.folder, "third.csv")
    question.get_by_role("button", name="Add it to tacit.yaml").click()
    expect(page.get_by_test_id("which-table")).to_have_value("third", timeout=LONG)
    page.get_by_test_id("save-plan").click()
    saved = page.get_by_text("tacit.yaml was saved.")
    saved.wait_for()
    assert list(load_plan(clinic.plan).tables) == ["second", "third"] and [
        one.name for one in clinic.folder.glob("*.yaml")
    ] == ["tacit.yaml"]

    text.fill(
        text.input_value() + "# more\n"
    )  # what was said of the text before is not true of this one
    expect(saved).to_have_count(0)
    drop(page, clinic.folder, "fourth.csv")  # changes of a plan that has a file stay with it
    expect(page.get_by_test_id("plan-state")).to_contain_text(
        "fourth.yaml: not saved yet", timeout=LONG
    )
    page.get_by_text("Open a plan, a file or a database").click()
    expect(page.get_by_role("button", name="fourth.yaml (not saved)")).to_be_visible()
    page.get_by_role("button", name="tacit.yaml (not saved)").click()
    expect(text).to_have_value(re.compile("# more\n"))
