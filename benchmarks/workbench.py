"""The workbench with a million rows: how long each interaction takes,
and how much memory the server holds.

    python -m benchmarks.workbench [ROWS]

`tacit serve` runs in a process of its own, and Chromium clicks through its pages. An interaction is
timed inside the browser, from the click until what it asked for is on the screen, and done several
times. Work (checking, searching) is not timed: its progress is shown. Pages are opened, too: that
time is until the page is built, with the browser reading the scripts again.
"""

from __future__ import annotations

import json
import re
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from playwright.sync_api import Page, sync_playwright

ROWS, TIMES = 1_000_000, 5
GOAL = 0.3  # seconds for an interaction
LONG = 600_000  # milliseconds, for work
PLAN = """\
version: 1
tables:
  people:
    file: people.parquet
    person: [name]
    identifiers: [name]
    quasi-identifiers: [age, zip, sex, schooling]
    sensitive: [illness]
    as-written: [illness]
    hierarchies: {age: {ranges: [5, 10, 20, 40]}, zip: {mask: right}, sex: "*", schooling: {ranges: [4]}}
releases:
  coarse: {table: people, generalization: {age: 2, zip: 3, schooling: 1}}
checks:
  - k-anonymity: {release: coarse, k: 5}
  - l-diversity: {release: coarse, kind: distinct, l: 4}
"""  # noqa: E501
MAKE = """
  COPY (
    SELECT 'person ' || i AS name, 17 + CAST(60 * random() * random() AS integer) AS age, lpad(CAST(CAST(99999 * random() * random() AS integer) AS varchar), 5, '0') AS zip,
    CASE WHEN random() < 0.5 THEN 'F' ELSE 'M' END AS sex, CAST(16 * random() AS integer) AS schooling, 'illness ' || CAST(12 * random() * random() AS integer) AS illness
    FROM range({rows}) AS t(i)
  ) TO '{file}' (FORMAT parquet)
"""  # noqa: E501
# Presses what is named first, and waits until the text of what is named second is another one.
PRESS = """
([pressed, watched]) => new Promise((resolve, reject) => {
  const text = () => document.querySelector(watched)?.innerText ?? '';
  const before = text(), button = document.querySelector(pressed);
  if (!button || button.disabled) return reject('there is nothing to press: ' + pressed);
  const begun = performance.now();
  const look = () => text() && text() !== before ? resolve((performance.now() - begun) / 1000)
    : performance.now() - begun > 20000 ? reject('nothing came of ' + pressed) : requestAnimationFrame(look);
  button.click();
  requestAnimationFrame(look);
})
"""  # noqa: E501


@contextmanager
def serving(rows: int) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """`tacit serve` on a table of so many people: the process, its one-time link, its folder."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        connection = duckdb.connect()
        connection.execute("SELECT setseed(0.5)")
        connection.execute(MAKE.format(rows=rows, file=folder / "people.parquet"))
        (folder / "tacit.yaml").write_text(PLAN, "utf-8")
        command = [
            sys.executable,
            "-m",
            "tacit",
            "serve",
            str(folder / "tacit.yaml"),
            "--port",
            "0",
            "--workbench",
            "--deciders",
            "1",
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield process, link_of(process), folder
            finally:
                process.send_signal(signal.SIGINT)


def link_of(process: subprocess.Popen[str]) -> str:
    """The link that the server prints."""
    said = ""
    assert process.stderr
    while process.poll() is None:
        if select.select([process.stderr], [], [], 60)[0]:
            said += process.stderr.readline()
            if found := re.search(r"http://\S+/workbench/enter\S+", said):
                return found[0]
    raise RuntimeError(said + process.stderr.read())


def megabytes(process: int, which: str) -> float:
    """What a process holds now (VmRSS), or has held at most (VmHWM)."""
    lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(which))


class Visit:
    """Somebody who clicks through the pages, with a watch."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.rows: list[dict[str, Any]] = []

    def opens(self, path: str, shows: str) -> None:
        """Open a page several times, until it shows something."""
        took = []
        for _ in range(TIMES):
            begun = time.perf_counter()
            self.page.goto(f"{self.address}/{path}", wait_until="commit")
            self.page.locator(shows).first.wait_for(timeout=LONG)
            took.append(time.perf_counter() - begun)
        self.rows.append(
            {"name": f"open {path.split('/')[0] or 'start'}", "page": True, **summed(took)}
        )

    def presses(self, name: str, pressed: str, watched: str, *, times: int = TIMES) -> None:
        """Press something several times."""
        took = [self.page.evaluate(PRESS, [pressed, watched]) for _ in range(times)]
        self.rows.append({"name": name, "page": False, **summed(took)})


def summed(took: list[float]) -> dict[str, Any]:
    return {"median": statistics.median(took), "worst": max(took), "times": len(took)}


def visit(page: Page, link: str, folder: Path) -> list[dict[str, Any]]:
    """Through all pages: what is on them, page by page, person by person, slider by slider."""
    page.goto(link)
    somebody = Visit(page, link.split("/enter")[0])
    page.get_by_test_id("columns").wait_for(timeout=LONG)
    somebody.opens("", "[data-testid=columns]")
    somebody.opens("overview", "[data-testid=release-coarse]")
    page.wait_for_timeout(2000)
    page.get_by_role("button", name="Check everything").click()
    while not list((folder / ".tacit-workbench").glob("*.json")):
        page.wait_for_timeout(100)
    somebody.opens("overview", "[data-testid=release-coarse]")
    page.goto(f"{somebody.address}/release/coarse")
    page.get_by_test_id("about").wait_for(timeout=LONG)
    somebody.opens("release/coarse", "[data-testid=verdict]")
    page.get_by_test_id("about").wait_for(timeout=LONG)
    page.wait_for_timeout(1500)
    grid = "[data-testid^=grid-exposed]"
    somebody.presses(
        "next page of the people", f"{grid} .toolbar button:nth-of-type(2)", f"{grid} [role=status]"
    )
    somebody.presses(
        "page before",
        f"{grid} .toolbar button:nth-of-type(1)",
        f"{grid} [role=status]",
        times=TIMES - 1,
    )
    people(somebody, grid)
    search(somebody, grid)
    negations(somebody, grid)
    somebody.opens("repair/coarse", "[data-testid=search]")
    page.get_by_test_id("search").click()
    page.get_by_test_id("solved").wait_for(timeout=LONG)
    page.wait_for_timeout(1000)
    solutions(somebody)
    somebody.opens("ledger", "h1")
    somebody.opens("try", "h1")
    return somebody.rows


def people(somebody: Visit, grid: str) -> None:
    """Pick one person after the other."""
    took = []
    for number in range(2, 2 + TIMES):
        took.append(
            somebody.page.evaluate(
                PRESS, [f"{grid} tbody tr:nth-child({number}) button", "[data-testid=about]"]
            )
        )
        somebody.page.wait_for_timeout(800)
    somebody.rows.append({"name": "pick a person", "page": False, **summed(took)})


def negations(somebody: Visit, grid: str) -> None:
    """Move a slider, for somebody of whom not all is known yet: the one who was found last."""
    somebody.page.evaluate(PRESS, [f"{grid} tbody tr:nth-child(1) button", "[data-testid=about]"])
    somebody.page.wait_for_timeout(1000)
    slider = somebody.page.locator("[data-testid=beliefs] input[type=range]:not([disabled])").first
    slider.focus()
    took = []
    for _ in range(2):
        before = somebody.page.get_by_test_id("belief-picture").inner_text()
        begun = time.perf_counter()
        somebody.page.keyboard.press("ArrowRight")
        somebody.page.wait_for_function(
            "before => document.querySelector('[data-testid=belief-picture]').innerText !== before",
            arg=before,
            polling="raf",
            timeout=LONG,
        )
        took.append(time.perf_counter() - begun)
        somebody.page.wait_for_timeout(500)
    somebody.rows.append({"name": "one more negation", "page": False, **summed(took)})


def search(somebody: Visit, grid: str) -> None:
    """Look for somebody by name; without the pause that the field waits for more letters."""
    field, took = somebody.page.get_by_label("Search by name"), []
    for name in ("person 77", "person 4242", "person 99999"):
        before = somebody.page.locator(f"{grid} tbody").inner_text()
        field.fill(name)
        begun = time.perf_counter()
        somebody.page.wait_for_function(
            f"before => document.querySelector('{grid} tbody')?.innerText !== before",
            arg=before,
            polling="raf",
            timeout=LONG,
        )
        took.append(max(0.0, time.perf_counter() - begun - 0.3))
    somebody.rows.append({"name": "search a person by name", "page": False, **summed(took)})


def solutions(somebody: Visit) -> None:
    """Look at one solution after the other."""
    dots = somebody.page.locator("[data-testid^=dot-]").count()
    took = []
    for number in range(2, min(dots, TIMES) + 1):
        begun = time.perf_counter()
        somebody.page.locator(f"[data-testid=dot-{number}]").click()
        somebody.page.wait_for_function(
            f"document.querySelector('[data-testid=dot-{number}]').getAttribute('aria-pressed') "
            "=== 'true'",
            polling="raf",
            timeout=LONG,
        )
        took.append(time.perf_counter() - begun)
        somebody.page.wait_for_timeout(1500)
    if took:
        somebody.rows.append({"name": "pick another solution", "page": False, **summed(took)})


def measure(rows: int) -> dict[str, Any]:
    """All interactions on a table of so many rows, and the memory of the server."""
    from shutil import which

    with serving(rows) as (process, link, folder), sync_playwright() as play:
        before = megabytes(process.pid, "VmRSS")
        browser = play.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        found = visit(browser.new_page(viewport={"width": 1280, "height": 900}), link, folder)
        browser.close()
        return {
            "rows": found,
            "table": rows,
            "goal": GOAL,
            "before": before,
            "most": megabytes(process.pid, "VmHWM"),
            "after": megabytes(process.pid, "VmRSS"),
        }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)))
