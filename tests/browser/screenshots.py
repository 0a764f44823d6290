"""The pictures of the workbench in the documentation:
python tests/browser/screenshots.py [FOLDER] [SCENE ...]. Look at each afterwards.

Each scene is a page as a reader meets it, at a desk in both themes and on a phone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "docs")]

from playwright.sync_api import Page, expect  # noqa: E402

from browser.plans import write_plan  # noqa: E402
from browser.serving import Served, serving  # noqa: E402
from browser.steps import LONG, check_all, quiet, settled  # noqa: E402
from browser.visiting import DESK, PHONE, Theme, chromium, visitor  # noqa: E402

FOLDER = HERE.parents[1] / "docs" / "images" / "workbench"
SIZES: tuple[tuple[str, int, int, Theme], ...] = (
    ("", DESK, 780, "light"),
    ("-dark", DESK, 780, "dark"),
    ("-phone", PHONE, 844, "light"),
)
MOST_BYTES = 150_000

Scene = Callable[[Page, Served], None]


def checked(page: Page, served: Served) -> None:
    """Have everything checked, once."""
    if not (served.folder / ".tacit-workbench").exists():
        check_all(page, served)


def shows(path: str, *, after_check: bool = False, at: str = "") -> Scene:
    """A page as it is, after everything was checked where that matters;
    scrolled to something where `at` says what.
    """

    def scene(page: Page, served: Served) -> None:
        if after_check:
            checked(page, served)
        page.goto(served.url(path))
        settled(page)
        scroll(page, at)

    return scene


def scroll(page: Page, to: str) -> None:
    """Bring something to the top, once all pictures are there."""
    page.wait_for_timeout(900)
    if to:
        page.locator(to).first.evaluate(
            "element => window.scrollTo(0, element.getBoundingClientRect().top + window.scrollY "
            "- 12)"
        )
        page.wait_for_timeout(200)


def start(page: Page, served: Served) -> None:
    page.goto(served.url())
    page.get_by_test_id("columns").wait_for(timeout=LONG)
    quiet(page)


def all_steps(page: Page, served: Served) -> None:
    start(page, served)
    settled(page)


def hierarchies(page: Page, served: Served) -> None:
    all_steps(page, served)
    page.get_by_test_id("hierarchy-age").locator("summary").first.click()
    scroll(page, "[data-testid=hierarchy-age]")


def error(page: Page, served: Served) -> None:
    all_steps(page, served)
    text = page.get_by_test_id("plan-text")
    was = served.plan.read_text("utf-8")
    text.fill(was.replace("april: {table:", "april: {tabel:"))
    expect(page.get_by_test_id("error")).to_be_visible(timeout=LONG)
    scroll(page, "[aria-labelledby=text-title]")


def synthetic_form(page: Page, served: Served) -> None:
    all_steps(page, served)
    page.get_by_role("button", name="Change homes").click()
    page.get_by_test_id("synthetic-words").wait_for()
    scroll(page, "[aria-labelledby=synthetic-title]")


def beliefs(page: Page, served: Served) -> None:
    shows("release/april", after_check=True)(page, served)
    page.get_by_test_id("people").get_by_role("button", name="Tom").first.click()
    expect(page.get_by_test_id("about")).to_contain_text("Tom", timeout=LONG)
    scroll(page, "[data-testid=people]")


def repair(page: Page, served: Served) -> None:
    page.goto(served.url("repair/public"))
    page.get_by_test_id("search").wait_for(timeout=LONG)
    settled(page)
    if not page.get_by_test_id("solved").count():
        page.get_by_test_id("search").click()
    page.get_by_test_id("solved").wait_for(timeout=LONG)
    page.get_by_test_id("dot-3").press("Enter")
    scroll(page, "[data-testid=solved]")


def ledger(page: Page, served: Served) -> None:
    if not (served.folder / "tacit-ledger.sqlite").exists():
        words = ["ledger", "record", "men", "--by", "M. Weber", "--plan", str(served.plan)]
        subprocess.run([sys.executable, "-m", "tacit", *words], check=True, capture_output=True)
    page.goto(served.url("ledger"))
    settled(page)
    page.get_by_label("By", exact=True).fill("M. Weber")
    scroll(page, "")


def refused(page: Page, served: Served) -> None:
    page.goto(served.url("try"))
    settled(page)
    page.get_by_label("Query", exact=True).fill("SELECT name FROM stays WHERE ward = 'A'")
    page.get_by_test_id("decide").click()
    expect(page.get_by_test_id("decision")).to_be_visible(timeout=LONG)
    scroll(page, "")


def sign_in(page: Page, served: Served) -> None:
    page.context.clear_cookies()
    page.goto(served.url("sign-in"))


SCENES: dict[str, tuple[str, Scene]] = {
    "sign-in": ("demo", sign_in),
    "start": ("census", start),
    "hierarchies": ("census", hierarchies),
    "error": ("demo", error),
    "synthetic-form": ("synthetic", synthetic_form),
    "overview": ("demo", shows("overview", after_check=True)),
    "release": ("demo", shows("release/april", after_check=True)),
    "beliefs": ("demo", beliefs),
    "view": ("views", shows("release/wards", after_check=True, at="[data-testid=perfect-privacy]")),
    "worlds": ("worlds", shows("release/rs", after_check=True, at="[data-testid=view-safety]")),
    "overlaps": (
        "overlaps",
        shows("release/hospital", after_check=True, at="[data-testid=overlap-pictures]"),
    ),
    "synthetic": (
        "synthetic",
        shows("release/homes", after_check=True, at="[data-testid=synthetic-pictures]"),
    ),
    "repair": ("census", repair),
    "ledger": ("ledger", ledger),
    "try": ("hospital", refused),
}


@contextmanager
def servers() -> Iterator[Callable[[str], Served]]:
    """The server of a kind of plan, started when it is first asked for."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        running: dict[str, Served] = {}

        def get(kind: str) -> Served:
            if kind not in running:
                running[kind] = stack.enter_context(
                    serving(write_plan(kind, Path(folder) / kind), "--workbench")
                )
            return running[kind]

        yield get


def take(folder: Path, wanted: list[str]) -> None:
    """Take the pictures of some scenes, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    with servers() as server, chromium() as browser:
        for name, (kind, scene) in SCENES.items():
            if wanted and name not in wanted:
                continue
            for suffix, width, height, theme in SIZES:
                served = server(kind)
                page = visitor(browser, width=width, theme=theme).page(served.link())
                page.set_viewport_size({"width": width, "height": height})
                scene(page, served)
                place = folder / f"{name}{suffix}.png"
                page.screenshot(path=place, animations="disabled", caret="hide")
                page.context.close()
                size = place.stat().st_size
                sys.stdout.write(
                    f"{place.name} {size / 1000:.0f} "
                    f"kB{' TOO LARGE' if size > MOST_BYTES else ''}\n"
                )


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, sys.argv[2:])
