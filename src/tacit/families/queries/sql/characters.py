"""Characters: outside of quotes only those are read that every tokenizer takes for the same thing.

Databases and the parser here differ in what is a space and what is a letter beyond ASCII (U+200B,
U+00A0, U+2028, ...), in where a comment ends, and in which comments there are. So outside of quotes
a text has ASCII and letters, and between its words spaces, tabs, new lines and plain comments.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from tacit.errors import QueryError
from tacit.families.queries.understanding import QueryText

# What stands between two words. A comment inside of a comment is one to some databases only.
BETWEEN = re.compile(r"(?:[ \t\r\n]|--[^\r\n]*(?=\r|\n|\Z)|/\*(?:(?!\*/|/\*)[\s\S])*\*/)*")
QUOTED = re.compile(r"(?:[A-Za-z]&?)?['\"`]|\$")
HINT = "Write it in ASCII and letters; put other characters into quotes."


class TextToken(Protocol):
    """A word of a text: the places of its first and its last character."""

    start: int
    end: int


def check_characters(tokens: Sequence[TextToken], source: QueryText, dialect: str) -> None:
    """Refuse a text of which another tokenizer may make other words."""
    text, place = source.text, 0
    for token in tokens:
        _check_between(text[place : token.start], place, source, dialect)
        written = text[token.start : token.end + 1]
        if not QUOTED.match(written):
            for at, one in enumerate(written):
                if not one.isascii() and not one.isalpha():
                    raise _refused(one, token.start + at, source)
        place = token.end + 1
    _check_between(text[place:], place, source, dialect)


def _check_between(written: str, place: int, source: QueryText, dialect: str) -> None:
    if not written.isascii() or written.strip(" \t\r\n"):
        found = BETWEEN.match(written)
        end = found.end() if found is not None else 0
        if end < len(written):
            raise _refused(written[end], place + end, source)
        if dialect == "spark" and re.search(
            r"--[^\r\n]*\\\r?\n", written
        ):  # there the comment goes on
            raise _refused("\\", place, source)


def _refused(one: str, place: int, source: QueryText) -> QueryError:
    shown = f"U+{ord(one):04X}" if not one.isascii() or not one.isprintable() else repr(one)
    return QueryError(
        f"{shown} stands outside of quotes, and the database may take it for something else.",
        code="characters",
        hint=HINT,
        mark=source.mark(place),
    )
