"""Pictures on a dark page: drawn for white paper, each colour has its counterpart, and what is
saved stays as it was drawn.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from tacit.workbench.app.frame import styles

DRAWN_BY = (
    "charts/person_beliefs.py",
    "charts/portrait_chart.py",
    "charts/curves.py",
    "charts/map_marks.py",
    "charts/query_graphs.py",
    "charts/trade_off.py",
    "charts/upset.py",
)
ALSO = ("start/pictures.py", "ledger/matrix.py")
REPORT = Path(str(files("tacit.report")))
PAGES = Path(str(files("tacit.workbench.pages")))


def colours(text: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}\b", text))


@pytest.mark.parametrize("module", [*DRAWN_BY, *ALSO])
def test_every_colour_of_a_picture_has_a_counterpart_in_the_dark(module: str) -> None:
    place = (REPORT if module in DRAWN_BY else PAGES) / module
    used = colours(place.read_text("utf-8"))
    missing = {
        one
        for one in used
        if any(
            f'.body--dark figure.picture [{kind}="{one}"]' not in styles(())
            for kind in ("fill", "stroke")
        )
    }
    assert used and not missing


def test_no_module_draws_with_colours_that_are_not_looked_at() -> None:
    drawing = {
        str(one.relative_to(REPORT))
        for one in REPORT.rglob("*.py")
        if colours(one.read_text("utf-8"))
    }
    assert drawing <= {*DRAWN_BY}
