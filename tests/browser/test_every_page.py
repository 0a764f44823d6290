"""Every page of every kind of release: usable with a screen reader in both themes, fits on a
phone, and shows no error.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.accessible import assert_accessible, axe_path
from browser.plans import write_plan
from browser.serving import Served
from browser.steps import LONG, check_all, settled
from browser.visiting import DESK, PHONE, Visitor

pytestmark = pytest.mark.skipif(
    axe_path() is None,
    reason=(
        "no axe-core: `make test` gets it where there are npm and a network; or name "
        "axe.min.js in TACIT_AXE"
    ),
)


@pytest.fixture(scope="module")
def served(
    serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Served]:
    """The server of a kind of plan, started when it is first asked for."""
    running: dict[str, Served] = {}

    def get(kind: str) -> Served:
        if kind not in running:
            running[kind] = serve(write_plan(kind, tmp_path_factory.mktemp(kind)))
        return running[kind]

    return get


def look_at(page: Page) -> None:
    """Both themes, by axe; then a phone: nothing sticks out, nothing is cut off."""
    assert_accessible(page)
    light = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(HAS_TURNED, light), f"{page.url} is not dark"
    assert_accessible(page)
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.wait_for_timeout(250)
    assert_accessible(page)
    wide = page.evaluate(TOO_WIDE)
    assert wide <= 0, f"{page.url} is {wide} pixels wider than a phone: {page.evaluate(STICKS_OUT)}"
    page.set_viewport_size({"width": DESK, "height": 900})
    page.emulate_media(color_scheme="light")


GROUND = "getComputedStyle(document.body).backgroundColor"
HAS_TURNED = f"""
light => new Promise(done => {{
  const end = performance.now() + 30000, look = () => {{
    const there = {GROUND} !== light && document.getAnimations().every(one => one.playState !== 'running');
    there || performance.now() > end ? done(there) : requestAnimationFrame(look);
  }}; requestAnimationFrame(look);
}})
"""  # noqa: E501
TOO_WIDE = """
() => new Promise(done => {
  const end = performance.now() + 10000, root = document.documentElement, look = () => {
    const wide = root.scrollWidth - root.clientWidth;
    wide <= 0 || performance.now() > end ? done(wide) : requestAnimationFrame(look);
  }; look();
})
"""  # pictures are drawn anew for the phone: the page has some time to fit
STICKS_OUT = """
() => [...document.querySelectorAll('#content *')].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest('.scroll'))
  .slice(0, 5).map(e => e.tagName + '.' + e.className + ': ' + e.textContent.slice(0, 40))
"""  # noqa: E501


# Kinds of plans, and what of them is looked at after everything was checked:
# all pages of the first, of the others what is theirs.
PAGES = {
    "demo": ["", "overview", "ledger", "try", "repair", "release/april", "repair/april"],
    "views": ["overview", "release/wards", "release/flu_wards"],
    "worlds": ["release/rs", "release/two"],
    "overlaps": ["release/hospital", "repair/hospital"],
    "synthetic": ["release/homes", "repair/homes"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAGES)
def test_every_page_is_accessible_and_fits_a_phone(
    kind: str, served: Callable[[str], Served], visit: Callable[..., Visitor]
) -> None:
    server = served(kind)
    page = visit().page(server.link())
    check_all(page, server)
    for path in PAGES[kind]:
        page.goto(server.url(path))
        settled(page)
        look_at(page)


@pytest.mark.slow
def test_solutions_of_a_repair_are_accessible_and_fit_a_phone(
    served: Callable[[str], Served], visit: Callable[..., Visitor]
) -> None:
    server = served("census")
    page = visit().page(server.link())
    page.goto(server.url("repair/public"))
    page.get_by_test_id("search").click(timeout=LONG)
    page.get_by_test_id("solved").wait_for(timeout=LONG)
    settled(page)
    look_at(page)


@pytest.mark.slow
def test_a_decision_is_accessible_and_fits_a_phone(
    served: Callable[[str], Served], visit: Callable[..., Visitor]
) -> None:
    server = served("hospital")
    page = visit().page(server.link())
    page.goto(server.url("try"))
    page.get_by_label("Query", exact=True).fill(
        "SELECT name FROM stays WHERE ward = 'A'", timeout=LONG
    )
    page.get_by_test_id("decide").click()
    page.get_by_test_id("decision").wait_for(timeout=LONG)
    settled(page)
    look_at(page)


def test_the_pages_before_the_workbench_are_accessible(
    served: Callable[[str], Served], visit: Callable[..., Visitor]
) -> None:
    somebody = visit()
    page = somebody.page(served("demo").url("sign-in"))
    page.get_by_role("heading", level=1).wait_for()
    look_at(page)
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    look_at(page)
    somebody.forgive("403")


@pytest.mark.slow
def test_all_pages_are_reached_by_keyboard(
    served: Callable[[str], Served], visit: Callable[..., Visitor]
) -> None:
    page = visit().page(served("demo").link())
    expect(page.get_by_test_id("steps")).to_be_visible(timeout=LONG)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for title in ("Tacit", "Start", "Overview", "Repair", "Ledger", "Try a query"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name=title, exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Try a query", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_theme_can_be_chosen_and_stays(
    served: Callable[[str], Served], visit: Callable[..., Visitor]
) -> None:
    page = visit(theme="light").page(served("demo").link())
    settled(page)
    light = page.evaluate(GROUND)
    for _ in range(2):
        page.get_by_role("button", name="Theme:").click()
    expect(page.get_by_role("button", name="Theme: Dark.")).to_be_visible()
    assert page.evaluate(HAS_TURNED, light)
    dark = page.evaluate(GROUND)
    page.reload()
    settled(page)
    page.wait_for_function(f"dark => {GROUND} === dark", arg=dark)
