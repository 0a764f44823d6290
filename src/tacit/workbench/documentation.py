"""The documentation inside the workbench: its pages as HTML, and the glossary's terms."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tacit
from tacit.errors import InputError

FIRST = "README.md"
IMAGE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n", re.MULTILINE)
LINK = re.compile(r'(<a\b[^>]*?\bhref=")([^"]*)(")')
TERM = re.compile(r"^## (.+)\n\n(.+?) \[([^\]]*)\]\(([^)]*)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Term:
    """A word that is not everyday English, in two sentences, and where there is more."""

    name: str
    text: str
    more: str
    page: str


@cache
def folder() -> Path:
    """Where the documentation is: in the package, or beside its source."""
    inside = Path(tacit.__file__).parent / "docs"
    return inside if inside.is_dir() else Path(tacit.__file__).parents[2] / "docs"


@cache
def terms() -> dict[str, Term]:
    """The terms of the glossary by their names."""
    return {one[0]: Term(*one) for one in TERM.findall(text_of("glossary.md"))}


def text_of(page: str) -> str:
    """The text of a page, named from the documentation's folder."""
    place = (folder() / page).resolve()
    if place.suffix != ".md" or not place.is_relative_to(folder().resolve()) or not place.is_file():
        raise InputError("there is no such page of the documentation.", hint="Open Help.")
    return place.read_text("utf-8")


def as_html(page: str, prefix: str) -> str:
    """A page as HTML without pictures; its links lead to pages below `prefix`."""
    import markdown2

    made = markdown2.markdown(
        IMAGE.sub("", text_of(page)), extras=["fenced-code-blocks", "tables", "header-ids"]
    )
    made = made.replace("<pre>", '<pre tabindex="0">')  # a wide one scrolls by keyboard too
    return LINK.sub(lambda found: f"{found[1]}{target(found[2], page, prefix)}{found[3]}", made)


def target(link: str, page: str, prefix: str) -> str:
    """Where a link of a page leads in the workbench; what is not in the documentation leads to
    its first page.

    >>> target("../guide.md#levels", "definitions/k-anonymity.md", "/help")
    '/help/guide.md#levels'
    >>> target("https://example.org", "guide.md", "/help"), target("#a", "guide.md", "/help")
    ('https://example.org', '#a')
    """
    if "://" in link or link.startswith(("#", "mailto:")):
        return link
    path, mark, anchor = link.partition("#")
    found = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if found.startswith("..") or not found.endswith(".md"):
        return f"{prefix}/{FIRST}"
    return f"{prefix}/{found}{mark}{anchor}"
