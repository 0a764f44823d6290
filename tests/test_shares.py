"""Shares are written in one place, with the digits that they need."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from pathlib import Path

import pytest

import tacit
from tacit.model.numbers import percent, percents
from tacit.report.charts.trade_off import Dot, draw

HERE = Path(tacit.__file__).parent
# Not shares of people, beliefs, risks or losses:
# how far a job is, where something stands on a page, what a reader typed.
OTHERS = {
    "model/jobs.py",
    "cli/checking.py",
    "engines/sql/shapes_paged.py",
    "workbench/parts/work_progress.py",
    "workbench/pages/repair/repair_answers.py",
    "workbench/pages/repair/ladder.py",
    "workbench/pages/repair/scatter.py",
    "workbench/pages/repair/lattice.py",
    "report/html/pages.py",
}


def formats_a_share(node: ast.JoinedStr) -> bool:
    """Does a text put a percent sign behind a number, or format one as a percentage?"""
    pairs = zip(node.values, [*node.values[1:], None], strict=True)
    for one, then in pairs:
        if not isinstance(one, ast.FormattedValue):
            continue
        if one.format_spec is not None and re.search(r"%['\"]?$", ast.unparse(one.format_spec)):
            return True
        if isinstance(then, ast.Constant) and re.match(r"\s?%(?![\w(])", str(then.value)):
            return True
    return False


def test_no_other_place_writes_shares() -> None:
    found = []
    for file in sorted(HERE.rglob("*.py")):
        name = file.relative_to(HERE).as_posix()
        if name in OTHERS or name == "model/numbers.py":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found += [
            f"{name}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr) and formats_a_share(node)
        ]
    assert not found, "write shares with tacit.model.numbers.percent"


def test_pages_write_no_shares_of_their_own() -> None:
    pages = {file.name: file.read_text(encoding="utf-8") for file in HERE.rglob("*.html")}
    assert pages and not [
        name
        for name, text in pages.items()
        if re.search(r"\}\}\s?%|\|\s*round|\|\s*percent\b[^}]*before", text)
    ]


@pytest.mark.parametrize("many", [1, 14, 300, 452, 4522, 22611, 45208, 45221])
def test_a_share_is_never_shown_smaller_afterwards_nor_greater_before(many: int) -> None:
    share = Fraction(many, 45222)
    shown = Fraction(percent(share).removesuffix(" %")) / 100
    before = Fraction(percent(share, down=True).removesuffix(" %")) / 100
    assert before <= share <= shown
    assert before > 0 and shown < 1
    assert shown <= share * Fraction(11, 10) and before >= share * Fraction(9, 10)


def test_what_was_hardly_believed_is_not_shown_as_one_percent() -> None:
    assert percents(Fraction(14, 45222), Fraction(1, 4)) == ("0.03 %", "25 %")
    assert percents(Fraction(9997, 10000), Fraction(1)) == ("99 %", "100 %")
    assert percents(Fraction(1, 2), Fraction(14, 45222)) == ("50 %", "0.03 %")
    assert percent(Fraction(9997, 10000)) == "99.97 %"


def test_the_axis_of_a_chart_has_the_digits_of_its_shares() -> None:
    """One in 4,000 to one in 1,000: with one digit after the point these were 0.0 % and 0.1 %."""
    svg = draw(
        [Dot("1", 0.1, Fraction(1, 4000), chosen=True), Dot("2", 0.2, Fraction(1, 1000))],
        "loss",
        "risk",
    )
    labels = re.findall(r">([\d.]+)%<", svg)
    assert (
        len(labels) > 2
        and len(set(labels)) == len(labels)
        and any(0 < float(label) < 0.1 for label in labels)
    )
