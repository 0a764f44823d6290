"""The documentation inside the workbench."""

import re
from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from tacit.errors import InputError
from tacit.families.catalog import DEFINITIONS
from tacit.workbench import documentation
from tacit.workbench.pages.start.offers import OFFERED

PAGES = sorted(
    path.relative_to(documentation.folder()).as_posix()
    for path in documentation.folder().rglob("*.md")
)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_shown_and_its_links_stay_inside(page: str) -> None:
    made = documentation.as_html(page, "/workbench/help")
    assert "<h1" in made and "<img" not in made and "<script" not in made
    for link in re.findall(r'href="([^"]*)"', made):
        if link.startswith("/"):
            inside = link.removeprefix("/workbench/help/").partition("#")[0]
            assert inside in PAGES, link
        else:
            assert link.startswith(("https://", "http://", "#", "mailto:")), link


@pytest.mark.parametrize("page", ["../README.md", "/etc/passwd", "images", "none.md", "../../x.md"])
def test_nothing_else_is_shown(page: str) -> None:
    with pytest.raises(InputError, match="no such page"):
        documentation.text_of(page)


def test_every_term_has_a_sentence_or_two_and_a_page_with_that_heading() -> None:
    terms = documentation.terms()
    assert len(terms) == documentation.text_of("glossary.md").count("\n## ")
    assert list(terms) == sorted(terms)
    for term in terms.values():
        assert len(re.findall(r"\.(?: |$)", term.text)) in (1, 2), term.name
        page, _, anchor = term.page.partition("#")
        assert page in PAGES
        assert not anchor or f'id="{anchor}"' in documentation.as_html(page, ""), term.page


def test_every_definition_has_its_page_and_its_sentence() -> None:
    for kind in {*DEFINITIONS} - {"toy"}:
        assert f"definitions/{kind}.md" in PAGES
    for offer in OFFERED.values():
        assert offer.sentence and not offer.sentence.endswith(".")


def test_the_terms_that_pages_explain_are_in_the_glossary() -> None:
    pages = Path(documentation.__file__).parent / "pages"
    for path in pages.rglob("*.py"):
        for call in re.findall(r"headed\(([^)]*)\)", path.read_text("utf-8")):
            for name in re.findall(r'"([^"]*)"', call)[2:]:
                assert name in documentation.terms(), f"{path.name}: {name}"
