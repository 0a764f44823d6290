"""Pictures on a dark page: drawn for white paper, each colour has its counterpart, and what is saved stays as it was drawn."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

pytest.importorskip("nicegui")

from tacit.web.frame import styles

DRAWN_BY = ("believed", "charts", "curves", "map_marks", "query_graphs", "trade_off", "upset")
ALSO = ("start_pictures", "ledger_matrix")


def colours(text: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}\b", text))


@pytest.mark.parametrize("module", [*DRAWN_BY, *ALSO])
def test_every_colour_of_a_picture_has_a_counterpart_in_the_dark(module: str) -> None:
    place = (
        files("tacit.report") / f"{module}.py"
        if module in DRAWN_BY
        else files("tacit.web.pages") / f"{module}.py"
    )
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
        one.name.removesuffix(".py")
        for one in files("tacit.report").iterdir()
        if one.name.endswith(".py") and colours(one.read_text("utf-8"))
    }
    assert drawing <= {*DRAWN_BY}
