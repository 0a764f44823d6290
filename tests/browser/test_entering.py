"""Who gets in, in a browser: by the link, once; by an owner's token;
a nurse's token opens no page with data.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.serving import Served
from browser.steps import settled
from browser.visiting import Visitor
from tacit.checking.holdings.ledgers import ledger_of
from tacit.ledger.users import Users
from tacit.plan.read.load import load_plan

SIGN_IN = re.compile(r"/workbench/sign-in$")
PATHS = ("", "overview", "release/april", "repair", "ledger", "try")


@pytest.fixture(scope="module")
def tokens(hospital: Served) -> dict[str, str]:
    """Tokens of a nurse and of an owner."""
    with ledger_of(load_plan(hospital.plan), create=True) as ledger:
        users = Users(ledger)
        return {"nurse": users.add("nora", ("nurses",)), "owner": users.add("olga", (), owner=True)}


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.slow
def test_the_link_opens_the_workbench_once(hospital: Served, visit: Callable[..., Visitor]) -> None:
    link = hospital.link()
    page = visit().page(link)
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert "once" not in page.url
    late = visit()
    again = late.page(link)
    expect(again.get_by_role("heading", level=1)).to_have_text("This link does not work any more")
    late.forgive("410")


def test_without_a_session_every_page_asks_for_one(
    hospital: Served, visit: Callable[..., Visitor]
) -> None:
    page = visit().page()
    for path in PATHS:
        page.goto(hospital.url(path))
        expect(page).to_have_url(SIGN_IN)


def test_a_nurses_token_opens_no_page(
    hospital: Served, tokens: dict[str, str], visit: Callable[..., Visitor]
) -> None:
    nurse = visit()
    page = nurse.page(hospital.url("sign-in"))
    sign_in(page, tokens["nurse"])
    expect(page.get_by_role("alert")).to_be_visible()
    nurse.forgive("403")
    page.goto(hospital.url("overview"))
    expect(page).to_have_url(SIGN_IN)


def test_an_owner_signs_in_by_keyboard_and_out_again(
    hospital: Served, tokens: dict[str, str], visit: Callable[..., Visitor]
) -> None:
    page = visit().page(hospital.url("sign-in"))
    page.get_by_label("Token").focus()
    page.keyboard.type(tokens["owner"])
    page.keyboard.press("Enter")
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(SIGN_IN)
    page.goto(hospital.url("overview"))
    expect(page).to_have_url(SIGN_IN)


@pytest.mark.slow
def test_the_session_is_in_no_script_and_no_address(
    hospital: Served, visit: Callable[..., Visitor]
) -> None:
    somebody = visit()
    page = somebody.page(hospital.link())
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    cookies = {cookie["value"] for cookie in somebody.context.cookies()}
    assert cookies and not any(value in url for value in cookies for url in somebody.requests)
