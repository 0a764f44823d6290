"""The page Start in Chromium: a file is dropped, roles are corrected, the text follows and
leads, and the plan runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.plan.read.load import load_plan

pytest.importorskip("nicegui")
pytest.importorskip("playwright.sync_api")
visiting = pytest.importorskip("browser.visiting")
if visiting.chromium_path() is None:
    pytest.skip("no Chromium: apt install chromium", allow_module_level=True)

pytestmark = pytest.mark.slow
DEMO = Path(__file__).parents[2] / "src" / "tacit" / "demo"
WAIT = 30_000
ROWS = "name,zip,age,condition\n" + "".join(
    f"p{n},130{n % 7}{n % 3},{20 + n % 50},{['flu', 'cold', 'ulcer'][n % 3]}\n" for n in range(300)
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, list[str]]]:
    """`tacit serve` for the demo in a folder of its own:
    the folder, the link, and what is printed.
    """
    folder = tmp_path_factory.mktemp("start")
    for file in DEMO.glob("*.[cy]*"):
        (folder / file.name).write_bytes(file.read_bytes())
    command = [
        sys.executable,
        "-m",
        "tacit",
        "serve",
        "tacit.yaml",
        "--port",
        "0",
        "--deciders",
        "1",
    ]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines: list[str] = []
    threading.Thread(
        target=lambda: lines.extend(iter(process.stdout.readline, "")) if process.stdout else None,
        daemon=True,
    ).start()  # type: ignore[arg-type]
    try:
        until = time.monotonic() + 60
        while not (
            links := [
                found[0] for line in lines if (found := re.search(r"http://\S+once=\S+", line))
            ]
        ):
            assert process.poll() is None and time.monotonic() < until, lines
            time.sleep(0.1)
        yield folder, links[0], lines
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def context(served: tuple[Path, str, list[str]]) -> Iterator[Any]:
    """A browser that came in by the link;
    what it asks for is kept, and must all be on this machine.
    """
    with visiting.chromium() as browser:
        made = browser.new_context(viewport={"width": 1280, "height": 900})
        made.set_default_timeout(WAIT)
        asked: list[str] = []
        made.on("request", lambda request: asked.append(request.url))
        page = made.new_page()
        page.goto(served[1])
        page.get_by_test_id("all-steps").click()
        page.get_by_text("One step at a time").wait_for()
        page.close()
        yield made
        outside = [
            url
            for url in asked
            if not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
        ]
        assert not outside


def start(context: Any, served: tuple[Path, str, list[str]]) -> Any:
    page = context.new_page()
    page.goto(served[1].split("/enter")[0] + "/")
    return page


def text_of(page: Any) -> str:
    return str(page.get_by_test_id("plan-text").input_value())


def until(page: Any, words: str) -> None:
    page.wait_for_function(
        "words => document.querySelector('[data-testid=plan-text]').value.includes(words)",
        arg=words,
    )


def test_the_demo_can_be_read_and_changed_and_saved(
    context: Any, served: tuple[Path, str, list[str]]
) -> None:
    page = start(context, served)
    page.get_by_test_id("role-age").wait_for()
    assert page.get_by_test_id("role-name").input_value() == "identifiers"
    assert (
        "Alan" not in page.content()
        and "every value differs" in page.get_by_test_id("columns").inner_text()
    )

    page.get_by_test_id("role-age").select_option("insensitive")
    until(page, "insensitive: [age]")
    assert "generalization: {zip: 2, nationality: 1}" in text_of(
        page
    ) and "# what a neighbour may know" in text_of(page)
    page.get_by_test_id("role-age").select_option("quasi-identifiers")
    until(page, "[zip, nationality, age]")

    page.get_by_test_id("check-0-k").fill("3")
    page.get_by_test_id("check-0-k").press("Enter")
    until(page, "release: april, k: 3}")
    page.get_by_test_id("hierarchy-zip").locator("summary").first.click()
    page.get_by_test_id("tree-zip").wait_for()
    page.get_by_test_id("save-plan").click()
    page.get_by_text("tacit.yaml was saved.").wait_for()
    plan = load_plan(served[0] / "tacit.yaml")
    assert plan.tables["inpatients"].quasi_identifiers == (
        "zip",
        "nationality",
        "age",
    ) and plan.checks[0].parameters == {"k": 3}
    page.close()


def test_an_error_stands_at_its_line_and_the_page_follows_the_hand(
    context: Any, served: tuple[Path, str, list[str]]
) -> None:
    page = start(context, served)
    page.get_by_test_id("role-age").wait_for()
    good = text_of(page)
    page.get_by_test_id("plan-text").fill(good.replace("k: 3", "k: 1"))
    line = good[: good.index("k: 3")].count("\n") + 1
    page.get_by_text(f"tacit.yaml, line {line}, column").wait_for()
    page.get_by_text("k=1 protects nobody").wait_for()
    assert page.locator(".editor .lines .wrong").inner_text() == str(line)
    page.get_by_role("button", name=f"Go to line {line}").click()
    chosen = (
        "(() => { const area = document.querySelector('[data-testid=plan-text]'); return "
        "area.value.slice(area.selectionStart, area.selectionEnd); })()"
    )
    page.wait_for_function(f"{chosen}.includes('k: 1')")

    page.get_by_test_id("plan-text").fill(
        good.replace(
            "sensitive: [condition]", "sensitive: [condition]\n    insensitive: [zip]"
        ).replace("[zip, nationality, age]", "[nationality, age]")
    )
    page.wait_for_function(
        "document.querySelector('[data-testid=role-zip]').value == 'insensitive'"
    )

    other = start(context, served)  # a second tab has what is not saved, and follows
    other.get_by_test_id("role-zip").wait_for()
    assert other.get_by_test_id("role-zip").input_value() == "insensitive"
    page.get_by_test_id("plan-text").fill("version: 1\ntables: [\n")
    page.get_by_text("a value was expected").first.wait_for()
    page.get_by_test_id("plan-text").fill(good)
    other.wait_for_function(
        "document.querySelector('[data-testid=role-zip]').value == 'quasi-identifiers'"
    )
    assert "saved" in page.get_by_test_id("plan-state").inner_text()
    other.close()
    page.close()


def test_a_dropped_file_becomes_a_plan(
    context: Any, served: tuple[Path, str, list[str]], tmp_path: Path
) -> None:
    folder, _, lines = served
    page = start(context, served)
    page.get_by_text("Open a plan, a file or a database").click()
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 cut o")
    page.get_by_test_id("upload").locator("input[type=file]").set_input_files(str(broken))
    page.get_by_text("no whole Parquet file").wait_for()
    table = tmp_path / "Patients 2024.csv"
    table.write_text(ROWS)
    page.get_by_test_id("upload").locator("input[type=file]").set_input_files(str(table))
    page.get_by_test_id("role-condition").wait_for()
    page.get_by_text("This plan is not saved yet").wait_for()
    page.reload()  # loses nothing
    page.get_by_test_id("role-condition").wait_for()
    page.get_by_test_id("role-zip").focus()
    page.keyboard.press("ArrowDown")  # by keyboard alone
    until(page, "sensitive:")
    assert page.get_by_test_id("role-zip").input_value() in (
        "sensitive",
        "identifiers",
        "insensitive",
    )
    page.get_by_test_id("role-zip").select_option("quasi-identifiers")
    until(page, "- zip")
    page.get_by_test_id("save-plan").click()
    page.get_by_text("Patients_2024.yaml was saved.").wait_for()
    assert sorted(one.name for one in folder.glob("Patients*")) == [
        "Patients_2024.csv",
        "Patients_2024.yaml",
    ]
    assert not list(folder.glob(".upload*")) and not (folder / "broken.parquet").exists()
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "check", "Patients_2024.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    assert not [line for line in lines if "p17" in line or "Fault" in line]
    page.close()
