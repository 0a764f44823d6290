"""The tree of a YAML text: what stands where, to the character, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import yaml

from tacit.errors import PlanError
from tacit.plan.read.document import Document, Faults, KeyPath, parse, plain_values
from tacit.plan.read.syntax import DEEPEST, LINE_END, TOO_DEEP

LOADER: Any = getattr(
    yaml, "CBaseLoader", yaml.BaseLoader
)  # libyaml's, where PyYAML has it, gives the same places ten times faster

Trail = list[
    tuple["TextNode | None", "TextNode"]
]  # keys (None in a list) and values, from the whole text to where a path leads


@dataclass(frozen=True, slots=True)
class TextNode:
    """A piece of the text with the places where it begins and ends;
    a block ends with its last value.

    `value` is the text of a scalar, the items of a list, or the pairs of a mapping.
    """

    kind: Literal["scalar", "list", "mapping", "alias"]
    start: int
    end: int
    value: Any = ""
    flow: bool = True

    @property
    def is_nothing(self) -> bool:
        """Whether no character stands for it: `key:` and nothing behind."""
        return self.kind == "scalar" and self.start == self.end

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing: {}, [], null or no character at all."""
        return not self.value or (
            self.kind == "scalar" and self.value in ("~", "null", "Null", "NULL")
        )


@lru_cache(maxsize=32)  # one wish asks for the same text again and again
def read(text: str) -> TextNode:
    """The tree of a text; the PlanError that says where it is no YAML."""
    try:
        events: Iterator[Any] = iter(yaml.parse(text, Loader=LOADER))
        for event in events:
            if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                return node_of(text, event, events, 0)
    except (yaml.YAMLError, ValueError, OverflowError):
        pass
    document(text)  # says what is wrong
    raise by_hand()


def node_of(text: str, event: Any, events: Iterator[Any], depth: int) -> TextNode:
    """The node that begins with an event."""
    if depth > DEEPEST:
        raise ValueError(TOO_DEEP)
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        return TextNode("alias", start, end, event.anchor)
    if isinstance(event, yaml.ScalarEvent):
        if event.style in ("|", ">"):
            end = max(start, len(text[:end].rstrip()))
        return TextNode("scalar", start, end, event.value)
    children: list[TextNode] = []
    for one in events:
        if isinstance(one, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            end = one.end_mark.index  # type: ignore[union-attr]
            break
        children.append(node_of(text, one, events, depth + 1))
    # Without brackets it ends where its last value ends, not where the next token begins.
    has_brackets = event.flow_style and text[start] in "[{&!"
    end = end if has_brackets or not children else children[-1].end
    if isinstance(event, yaml.SequenceStartEvent):
        return TextNode("list", start, end, tuple(children), bool(event.flow_style))
    pairs = tuple(zip(children[::2], children[1::2], strict=True))
    return TextNode("mapping", start, end, pairs, bool(event.flow_style))


def child(node: TextNode, step: str | int) -> tuple[TextNode | None, TextNode] | None:
    """The key (None in a list) and the value that a step leads to."""
    if node.kind == "list" and isinstance(step, int):
        return (None, node.value[step]) if step < len(node.value) else None
    if node.kind == "mapping":
        return next(
            ((key, one) for key, one in node.value if key.kind == "scalar" and key.value == step),
            None,
        )
    return None


def trail(root: TextNode, path: KeyPath) -> Trail:
    """The keys and values along a path, as far as it leads; the first is the whole text."""
    found: Trail = [(None, root)]
    for step in path:
        following = child(found[-1][1], step)
        if following is None:
            break
        found.append(following)
    return found


def find(root: TextNode, path: KeyPath) -> TextNode | None:
    """What stands at a path.

    >>> find(read("a: {b: [1, 2]}"), ("a", "b", 1)).value
    '2'
    """
    found = trail(root, path)
    return found[-1][1] if len(found) > len(path) else None


def path_at(text: str, line: int, column: int) -> KeyPath:
    """The path of what stands at a place of the text, as far in as it leads;
    lines and columns count from 1.

    >>> (
    ...     path_at("a: 1\\nb: {c: 2, d: [3, 4]}\\n", 2, 5),
    ...     path_at("a: 1\\nb: {c: 2, d: [3, 4]}\\n", 2, 18),
    ... )
    (('b', 'c'), ('b', 'd', 1))
    """
    starts = [0, *(end.end() for end in LINE_END.finditer(text))]
    at = starts[min(line, len(starts)) - 1] + column - 1
    path: list[str | int] = []
    node: TextNode | None = read(text)
    while node is not None:
        inside = next(
            ((step, one) for step, start, end, one in parts(node) if start <= at < end), None
        )
        if inside is not None:
            path.append(inside[0])
        node = inside[1] if inside else None
    return tuple(path)


def parts(node: TextNode) -> Iterator[tuple[str | int, int, int, TextNode]]:
    """The parts of a list or mapping: the step that leads there, where it begins with its key
    and where it ends, and what it is.
    """
    if node.kind == "list":
        yield from ((at, one.start, one.end, one) for at, one in enumerate(node.value))
    elif node.kind == "mapping":
        yield from (
            (key.value, key.start, max(key.end, one.end), one)
            for key, one in node.value
            if key.kind == "scalar"
        )


@lru_cache(maxsize=32)
def values_of(text: str) -> dict[Any, Any]:
    """What a text says as dicts and lists, as far as it can be read; to be looked at only."""
    found = document(text)
    return plain_values(found, Faults(found))


def names_in(value: Any) -> list[Any]:
    """A list of names; one text alone stands for a list of one."""
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []


@lru_cache(maxsize=32)
def document(text: str) -> Document:
    """A text that is asked about again and again."""
    return parse(text)


def line_start(text: str, at: int) -> int:
    """Where the line of a place begins."""
    return max(text.rfind(end, 0, at) for end in "\n\r\x85\u2028\u2029") + 1


def line_stop(text: str, at: int) -> int:
    """Where the line of a place ends, before its line end."""
    found = LINE_END.search(text, at)
    return found.start() if found else len(text)


def line_after(text: str, at: int) -> int:
    """Where the line after that of a place begins."""
    found = LINE_END.search(text, at)
    return found.end() if found else len(text)


def column_of(text: str, at: int) -> int:
    """How many characters stand before a place in its line."""
    return at - line_start(text, at)


def line_end_of(text: str) -> str:
    """How the lines of a text end."""
    found = LINE_END.search(text)
    return found.group() if found else "\n"


def comment_after(text: str, at: int) -> str:
    """The comment behind a value in the same line, without its #;
    empty where there is none or more than that.

    >>> comment_after("a: 1   # one", 4), comment_after("{a: 1, b: 2}  # two", 5)
    ('one', '')
    """
    rest = text[at : line_stop(text, at)].strip()
    return rest[1:].strip() if rest.startswith("#") else ""


def by_hand() -> PlanError:
    """What is written in a way that no edit can keep."""
    return PlanError(
        "this part of the plan is written with anchors, aliases or several things in one line.",
        hint="Change it in the text by hand.",
    )
