"""Places in a text, and YAML's own complaints about it in words that say what to write."""

from __future__ import annotations

import re

import yaml

from tacit.errors import Mark, PlanError
from tacit.plan.read.values import redact

LONGEST_LINE = 200  # characters that an error shows of a line; more only up to the caret
DEEPEST = 50  # levels of nesting; a plan has about six
TOO_DEEP = f"nested deeper than {DEEPEST} levels"

LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # what YAML calls the end of a line


def place_in(file: str, lines: tuple[str, ...], line: int, column: int) -> Mark:
    """A place with its line: tabs as one space, so that the caret stays below its character."""
    text = lines[line].replace("\t", " ") if line < len(lines) else None
    if text is not None and len(text) > LONGEST_LINE:
        text = text[: max(column + 40, LONGEST_LINE)] + " ..."
    return Mark(file, line + 1, column + 1, text)


# What PyYAML says (its context and problem), what we say, and what to do. {0} is the first group.
SYNTAX = (
    (r"found character '\\t'", "a tab where YAML wants spaces.", "Indent with spaces."),
    (r"found character '(.+)' that", "a value cannot start with {0}.", "Write it in quotes."),
    (
        r"scanning an alias",
        "* starts an alias, and none follows.",
        'A lone star needs quotes: "*".',
    ),
    (
        r"scanning an anchor",
        "& starts an anchor, and no name follows.",
        "Write the value in quotes.",
    ),
    (
        r"undefined alias '(.+)'",
        "*{0} repeats a value that is not there.",
        'Write it in quotes: "*{0}".',
    ),
    (r"duplicate anchor '(.+)'", "the anchor &{0} stands twice.", "Rename one of them."),
    (
        r"mapping values are not allowed",
        "a colon that starts no value here.",
        "Check the indentation; a text with a colon and a space in it needs quotes.",
    ),
    (
        r"expected <block end>",
        "this line does not line up with the ones it belongs to.",
        "Keys of one mapping, and the dashes of one list, start in the same column.",
    ),
    (r"could not find expected ':'", "a key without a colon.", "Write key: value."),
    (
        r"flow (sequence|mapping)",
        "a bracket is not closed, or a comma is missing.",
        "Text with brackets, commas or a colon in it needs quotes.",
    ),
    (r"unexpected end of stream", "a quote is not closed.", "Add the closing quote."),
    (
        r"unknown escape character '(.+)'",
        "\\{0} means nothing inside double quotes.",
        "Use single quotes, or write the backslash twice.",
    ),
    (
        r"another document",
        "a second document (---) begins.",
        "A plan is one document: remove the line.",
    ),
    (TOO_DEEP, f"{TOO_DEEP}.", "Look for brackets that are not closed."),
    (r"expected the node content", "a value was expected.", "Write it in quotes if it is text."),
)


def syntax_error(error: yaml.MarkedYAMLError, file: str, lines: tuple[str, ...]) -> PlanError:
    """PyYAML's error in our words, at the place where one would start to look.

    >>> error = yaml.MarkedYAMLError(
    ...     problem="mapping values are not allowed here",
    ...     problem_mark=yaml.Mark("", 0, 0, 4, None, 0),
    ... )
    >>> print(syntax_error(error, "tacit.yaml", ("a: b: c",)))
    tacit.yaml:1:5: a colon that starts no value here. Check the indentation; a text with a colon and a space in it needs quotes.
        a: b: c
            ^
    """  # noqa: E501
    said = f"{error.context or ''}: {error.problem or ''}"
    mark, start = error.problem_mark or error.context_mark, error.context_mark
    message, hint = f"this is not YAML: {error.problem}.", None
    for pattern, words, advice in SYNTAX:
        match = re.search(pattern, said)
        if match:
            message, hint = (part.format(*match.groups()) for part in (words, advice))
            break
    if "alias, and" in message or "quote is not" in message:
        mark = start or mark  # where it opens tells more than where the search for its end stopped
    elif start and mark and start.line != mark.line and "bracket" in message:
        message = message.replace(
            "bracket", f"bracket (opened at {start.line + 1}:{start.column + 1})"
        )
    place = place_in(file, lines, mark.line, mark.column) if mark else Mark(file)
    return PlanError(redact(message), hint=hint, mark=place)
