"""The table of all definitions says what the definitions say about themselves."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from snippets import ROOT

from tacit.families.catalog import DEFINITIONS
from tacit.families.definition import Definition, Disclosure, Risk

PAGE = ROOT / "docs/definitions/overview.md"


def row(definition: type[Definition]) -> str:
    """The row of a definition; copy it from here when the test fails."""
    name, place = definition.check_name, definition.place
    cells = [
        f"[{name}]({name}.md)",
        place.protects,
        place.against,
        place.measured,
        ", ".join(place.risks),
        ", ".join(place.disclosures),
        "yes" if definition.simulatable else "no",
        "yes" if place.composes else "no",
    ]
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_has_its_row(name: str) -> None:
    assert row(DEFINITIONS[name]) in PAGE.read_text("utf-8").splitlines(), row(DEFINITIONS[name])


def test_there_are_no_other_rows() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(", PAGE.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(DEFINITIONS)


def test_risks_and_disclosures_are_those_that_the_page_explains() -> None:
    text = PAGE.read_text("utf-8")
    for word in (*get_args(Risk), *get_args(Disclosure)):
        assert f"**{word}**" in text, word
    for definition in DEFINITIONS.values():
        assert definition.place.risks and set(definition.place.risks) <= set(get_args(Risk))
        assert set(definition.place.disclosures) <= set(get_args(Disclosure))
        assert ("identity" in definition.place.disclosures) == (
            "singling out" in definition.place.risks
        )


@pytest.mark.parametrize("word", ["gamma-amplification", "semantic security", "(d,gamma)-privacy"])
def test_related_notions_are_described(word: str) -> None:
    assert f"**{word}**" in PAGE.read_text("utf-8").lower()
