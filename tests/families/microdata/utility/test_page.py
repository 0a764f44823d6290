"""The page about utility has every measure with what the code says about it;
tests/docs runs its examples.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.families.microdata.utility.measures import MEASURES, UtilityMeasure

PAGE = Path(__file__).parents[4] / "docs" / "utility.md"


@pytest.mark.parametrize("one", MEASURES, ids=lambda one: one.name)
def test_the_page_says_what_the_code_says(one: UtilityMeasure) -> None:
    text = PAGE.read_text("utf-8")
    assert f"\n## {one.name}\n" in text
    row = re.search(rf"^\| `{one.name}` \|.*$", text, re.MULTILINE)
    assert row
    said = [cell.strip() for cell in row[0].strip("|").split("|")][-3:]
    assert said == [
        "yes" if fact else "no"
        for fact in (one.weighted, one.monotone, one.monotone_with_suppression)
    ]
