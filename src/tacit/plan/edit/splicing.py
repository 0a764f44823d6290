"""Cut and paste in YAML text: change one value, key or item, and
leave every other character as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from tacit.plan.edit.spelling import STEP, Opened, is_literal, item_text, lines_of, scalar, written
from tacit.plan.read.document import KeyPath
from tacit.plan.read.syntax import LINE_END
from tacit.plan.read.tree import (
    TextNode,
    Trail,
    by_hand,
    column_of,
    comment_after,
    find,
    line_after,
    line_end_of,
    line_start,
    line_stop,
    names_in,
    read,
    trail,
    values_of,
)

SPACES = re.compile(
    r"(?:\s|#[^\n\r\x85\u2028\u2029]*)*"
)  # between tokens: spaces, line ends, comments
Notes = tuple[tuple[str, ...], str]


def insert_lines(text: str, at: int, lines: Sequence[str]) -> str:
    """Lines after the line of a place."""
    end = line_end_of(text)
    stop = line_after(text, at)
    if stop == len(text) and line_stop(text, at) == len(text):  # the last line has no end
        return text + end + end.join(lines)
    return text[:stop] + "".join(line + end for line in lines) + text[stop:]


# Mappings


def put(
    text: str, path: KeyPath, value: Any, *, after: Sequence[str] = (), notes: Notes | None = None
) -> str:
    """Set the value at a path of keys; what is missing on the way is added.

    A new key comes after the last one of `after` that is there, else at the end. `notes` are how a
    comment about the value before may begin, and the one to write instead of it.

    >>> print(put("a: 1  # one\\nb: {c: 2}\\n", ("b", "d"), [3]), end="")
    a: 1  # one
    b: {c: 2, d: [3]}
    """
    root = read(text)
    found = trail(root, path)
    if len(found) > len(path):
        if says(text, path, value):
            return text
        new = replaced(text, found, value)
        return renoted(new, path, notes) if notes else new
    if len(found) < len(path):
        first, rest = path[: len(found)], path[len(found) :]
        for step in reversed(rest):
            value = Opened({str(step): value})
        return put(text, first, value, after=after)
    mapping = found[-1][1]
    if mapping.is_empty:
        return filled(text, found, {str(path[-1]): value})
    if mapping.kind != "mapping":
        raise by_hand()
    return inserted(text, mapping, str(path[-1]), value, after)


def replaced(text: str, found: Trail, value: Any) -> str:
    """Another value in the place of one that is there."""
    key, node = found[-1]
    new = written(value)
    if node.kind in ("scalar", "alias") or node.flow:
        space = " " if node.is_nothing else ""
        if (
            new.startswith('"')
            and is_literal(str(value))
            and text[node.start : node.end][:1] in "|>"
            and not node.is_nothing
        ):
            return literal(text, found, str(value))
        return text[: node.start] + space + new + kept_column(text, node, len(space + new))
    if key is None:
        raise by_hand()
    colon = colon_after(text, key)
    comment = text[colon : node.start].partition("#")[2]
    kept = (
        f"  #{LINE_END.split(comment)[0]}"
        if comment and line_start(text, node.start) > colon
        else ""
    )
    return f"{text[:colon]} {new}{kept}{text[node.end :]}"


def kept_column(text: str, node: TextNode, length: int) -> str:
    """What follows a value that gets another length:
    a comment behind it stays in its column if it can.
    """
    rest = text[node.end :]
    spaces = len(rest) - len(rest.lstrip(" "))
    if spaces < 2 or rest[spaces : spaces + 1] != "#":
        return rest
    return " " * max(2, spaces + (node.end - node.start) - length) + rest[spaces:]


def literal(text: str, found: Trail, value: str) -> str:
    """A text of several lines in the place of another one."""
    key, node = found[-1]
    inside = " " * (column_of(text, key.start if key else node.start) + len(STEP))
    lines = ["|-", *(f"{inside}{line}".rstrip() for line in value.split("\n"))]
    return text[: node.start] + line_end_of(text).join(lines) + text[node.end :]


def says(text: str, path: KeyPath, value: Any) -> bool:
    """Whether a value is there already, however it is written:
    'a' or "a", [1,2] or on lines of its own.

    >>> says("a: {b: ['x']}", ("a", "b"), ["x"]), says("a: '1'", ("a",), 1)
    (True, False)
    """
    there: Any = values_of(text)
    for step in path:
        there = there[step]
    return repr(there) == repr(values_of(f"x: {written(value)}")["x"])


def colon_after(text: str, key: TextNode) -> int:
    """The place behind the colon that follows a key."""
    found = SPACES.match(text, key.end)
    at = found.end() if found else key.end
    if text[at : at + 1] != ":":
        raise by_hand()
    return at + 1


def filled(text: str, found: Trail, value: Mapping[str, Any] | list[Any]) -> str:
    """A first entry or item for what is {}, [], null or nothing:
    on a line of its own where the key has one.
    """
    key, node = found[-1]
    if key is None or any(one.flow for _, one in found[:-1] if one.kind in ("mapping", "list")):
        return replaced(text, found, value)
    colon = colon_after(text, key)
    before = text[:colon] + text[node.end :] if not node.is_nothing else text
    indent = " " * (column_of(text, key.start) + len(STEP))
    return insert_lines(before, colon - 1, [indent + line for line in lines_of(value)])


def inserted(text: str, mapping: TextNode, name: str, value: Any, after: Sequence[str]) -> str:
    """A new entry of a mapping that has others."""
    names = [key.value for key, _ in mapping.value]
    places = [names.index(one) for one in after if one in names]
    at = max(places) if places else len(names) - 1
    key, last = mapping.value[at]
    if mapping.flow:
        return f"{text[: last.end]}, {scalar(name)}: {written(value)}{text[last.end :]}"
    indent = " " * column_of(text, key.start)
    if text[line_start(text, key.start) : key.start].strip() == "?":
        indent = text[line_start(text, key.start) : key.start].partition("?")[0]
    return insert_lines(text, last.end, [indent + line for line in lines_of({name: value})])


def drop(text: str, path: KeyPath) -> str:
    """Take away a key with its value; its mapping stays, as {} if it was the last.

    >>> print(drop("a: 1  # one\\nb: 2  # two\\n", ("a",)), drop("{a: 1, b: 2}", ("b",)))
    b: 2  # two
     {a: 1}
    """
    found = trail(read(text), path)
    if len(found) <= len(path):
        return text
    (above, mapping), (key, node) = found[-2:]
    if key is None:
        raise by_hand()
    if mapping.flow:
        spans = [(one.start, other.end) for one, other in mapping.value]
        return without_part(text, spans, spans.index((key.start, node.end)))
    return without_lines(text, above, mapping, key.start, node.end, "{}")


def without_part(text: str, spans: Sequence[tuple[int, int]], at: int) -> str:
    """A flow list or mapping without one of its parts; comments between them stay."""
    start, end = spans[at]
    if at + 1 < len(spans):
        between = SPACES.match(text, end)
        comma = between.end() if between else end
        stop = comma + 1
        while text[stop : stop + 1] == " ":
            stop += 1
        return text[:start] + text[end:comma].lstrip(" ") + text[stop:]
    if at == 0:
        return text[:start].rstrip(" ") + text[end:].lstrip(" ")
    before = spans[at - 1][1]
    if "#" in text[before:start]:
        return text[:start] + text[end:]
    return text[:before] + text[end:]


def without_lines(
    text: str, above: TextNode | None, whole: TextNode, start: int, end: int, empty: str
) -> str:
    """A block without the lines of one of its entries;
    where it was the only one, `empty` is written.
    """
    begin = line_start(text, start)
    if text[begin:start].strip(" ") not in ("", "?", "-"):
        raise by_hand()
    rest = text[:begin] + text[line_after(text, end) :]
    if len(whole.value) > 1:
        return rest
    if above is None:
        raise by_hand()
    colon = colon_after(text, above)
    return f"{rest[:colon]} {empty}{rest[colon:]}"


def rename(text: str, path: KeyPath, name: str) -> str:
    """Another name for a key."""
    found = trail(read(text), path)
    if len(found) <= len(path) or found[-1][0] is None:
        return text
    key = found[-1][0]
    return text if key.value == name else text[: key.start] + scalar(name) + text[key.end :]


def renoted(text: str, path: KeyPath, notes: Notes) -> str:
    """Another comment behind an entry, where the one that is there was about the value before.

    >>> renoted("a: 2  # twice", ("a",), (("once", "twice"), "thrice"))
    'a: 2  # thrice'
    """
    node = find(read(text), path)
    said = comment_after(text, node.end) if node else ""
    if node is None or not any(is_about(said, old) for old in notes[0]):
        return text
    at = text.index("#", node.end)
    return f"{text[:at]}# {notes[1]}{text[line_stop(text, at) :]}"


def is_about(said: str, old: str) -> bool:
    """Whether a comment is a note, or begins with it."""
    return bool(old) and said.startswith(old) and (said == old or said[len(old)] in ".;:,")


def with_keys(text: str, path: KeyPath, keys: Mapping[str, Any]) -> str:
    """A mapping with these keys and no others; a mapping in it that was one before is changed
    key by key too, so that its comments stay.
    """
    now: Any = values_of(text)
    for step in path:
        now = now.get(step) if isinstance(now, dict) else None
    if (
        not isinstance(now, dict)
        or not now
        or not all(isinstance(key, str) for key in (*now, *keys))
    ):
        return put(text, path, dict(keys))
    for key, value in keys.items():
        inner = (*path, key)
        text = (
            with_keys(text, inner, value) if isinstance(value, Mapping) else put(text, inner, value)
        )
    for key in now:
        if key not in keys:
            text = drop(text, (*path, key))
    return text


# Lists


def dash(text: str, items: TextNode, at: int) -> int:
    """Where the dash of an item stands."""
    if at == 0:
        return items.start if text[items.start] == "-" else text.index("-", items.start)
    before = items.value[at - 1].end
    found = SPACES.match(text, before)
    return found.end() if found else before


def append(
    text: str,
    path: KeyPath,
    item: Any,
    *,
    note: str = "",
    in_lines: bool = False,
    after: Sequence[str] = (),
) -> str:
    """Add an item to a list; a missing list is made, and one text alone becomes the first of it.

    `note` is written behind an item that has a line of its own.
    `in_lines` is how a new list is written.

    >>> print(append("a: [b]\\nc:\\n  - d   # four\\n", ("c",), "e", note="five"), end="")
    a: [b]
    c:
      - d   # four
      - e   # five
    """
    found = trail(read(text), path)
    if len(found) <= len(path):
        text = put(text, path, [], after=after)
        found = trail(read(text), path)
    node = found[-1][1]
    if node.kind == "scalar" and not node.is_empty:
        return (
            f"{text[: node.start]}[{text[node.start : node.end]}, "
            f"{written(item)}]{text[node.end :]}"
        )
    if node.is_empty:
        if not in_lines:
            return replaced(text, found, [item])
        text = filled(text, found, [item])
        return noted(text, path, note) if note else text
    if node.kind != "list":
        raise by_hand()
    last = node.value[-1]
    if node.flow:
        return f"{text[: last.end]}, {written(item)}{text[last.end :]}"
    indent = " " * column_of(text, dash(text, node, len(node.value) - 1))
    text = insert_lines(text, last.end, [f"{indent}- {item_text(item)}"])
    return noted(text, path, note) if note else text


def noted(text: str, path: KeyPath, note: str) -> str:
    """A comment behind the last item of a list, below the one before it."""
    items = find(read(text), path)
    if items is None or items.flow or not items.value:
        return text
    last = items.value[-1]
    if text[last.end : line_stop(text, last.end)].strip():
        return text
    at = column_of(text, last.end) + 2
    if len(items.value) > 1:
        other = items.value[-2]
        if comment_after(text, other.end):
            at = max(at, column_of(text, text.index("#", other.end)))
    spaces = " " * (at - column_of(text, last.end))
    return f"{text[: last.end]}{spaces}# {note}{text[line_stop(text, last.end) :]}"


def remove(text: str, path: KeyPath, at: int) -> tuple[str, str]:
    """A list without one of its items, and the comment that stood
    behind that item on a line of its own.

    >>> remove("a:\\n  - b   # two\\n  - c\\n", ("a",), 0)
    ('a:\\n  - c\\n', 'two')
    """
    found = trail(read(text), path)
    above, items = found[-1]
    item = items.value[at]
    if items.flow:
        return without_part(text, [(one.start, one.end) for one in items.value], at), ""
    place = dash(text, items, at)
    return without_lines(text, above, items, place, item.end, "[]"), comment_after(text, item.end)


def without_name(text: str, path: KeyPath, name: str) -> tuple[str, str]:
    """A list of names without one of them, and the comment that stood behind it."""
    note = ""
    while (node := find(read(text), path)) is not None:
        if node.kind == "alias":
            if name in names_in(reduce(lambda there, step: there[step], path, values_of(text))):
                raise by_hand()
            break
        if node.kind == "scalar":
            return (put(text, path, []), note) if node.value == name else (text, note)
        places = [
            at for at, one in enumerate(node.value) if one.kind == "scalar" and one.value == name
        ]
        if node.kind != "list" or not places:
            break
        text, said = remove(text, path, places[0])
        note = note or said
    return text, note


def put_item(text: str, path: KeyPath, name: str) -> str:
    """Another text in the place of an item."""
    node = find(read(text), path)
    if node is None or node.kind != "scalar":
        raise by_hand()
    return text[: node.start] + scalar(name) + text[node.end :]


def is_in_lines(text: str, path: KeyPath) -> bool:
    """Whether a list has each item on a line of its own."""
    node = find(read(text), path)
    return node is not None and node.kind == "list" and not node.flow
