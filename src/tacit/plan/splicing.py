"""Cut and paste in YAML text: change one value, key or item, and leave every other character as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import yaml

from tacit.errors import PlanError
from tacit.plan.document import Document, Faults, KeyPath, parse, plain_values
from tacit.plan.syntax import DEEPEST, LINE_END, TOO_DEEP

PLAIN = re.compile(r"(\.\./)*[A-Za-z_][A-Za-z0-9_./-]*")
NOT_PLAIN = {"y", "yes", "n", "no", "on", "off", "true", "false", "null"}  # YAML reads these as something else
SPACES = re.compile(r"(?:\s|#[^\n\r\x85\u2028\u2029]*)*")  # between tokens: spaces, line ends, comments
WIDEST = 100  # characters of a value in one line
STEP = "  "
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml's, where PyYAML has it, gives the same places ten times faster

Notes = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of the text with the places where it begins and ends; a block ends with its last value.

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
        return not self.value or (self.kind == "scalar" and self.value in ("~", "null", "Null", "NULL"))


def scalar(text: str) -> str:
    """A text as YAML: as it is where that is surely text, else in quotes.

    >>> print(scalar("zip"), scalar("yes"), scalar("1"), scalar('a "b": #c'), scalar("two\\nlines"))
    zip "yes" "1" "a \\"b\\": #c" "two\\u000alines"
    """
    if PLAIN.fullmatch(text) and text.lower() not in NOT_PLAIN:
        return text
    return '"' + "".join(map(escaped, text)) + '"'


def escaped(letter: str) -> str:
    """A letter between double quotes."""
    return "\\" + letter if letter in '"\\' else printed(letter)


def printed(text: str) -> str:
    """A text in one line; letters that cannot be printed by their number.

    >>> print(printed("two\\nlines"))
    two\\u000alines
    """

    def shown(letter: str) -> str:
        number = ord(letter)
        return letter if letter.isprintable() else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"

    return "".join(map(shown, text))


def written(value: Any) -> str:
    """A value in one line of YAML, as a plan reads it back.

    >>> print(written({"release": "april", "l": Fraction(14, 5), "share": Fraction(1, 3), "to": ["a", "b c"]}))
    {release: april, l: 2.8, share: "1/3", to: [a, "b c"]}
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{written(key)}: {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(written, value)) + "]"
    return scalar(str(value))


def number(value: Fraction) -> str:
    """An exact number: a decimal where it has an end, else a fraction in quotes."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f'"{value}"'
    digits = next(many for many in range(value.denominator.bit_length() + 1) if (value * 10**many).denominator == 1)
    return f"{Decimal(int(value * 10**digits)).scaleb(-digits):f}"


def block(value: Mapping[str, Any]) -> list[str]:
    """A mapping on lines of its own: long values and texts of several lines are easier to read so.

    >>> block({"query": "SELECT a\\nFROM t", "to": ["x"]})
    ['query: |-', '  SELECT a', '  FROM t', 'to: [x]']
    """
    lines: list[str] = []
    for key, one in value.items():
        if isinstance(one, str) and is_literal(one):
            lines += [f"{scalar(key)}: |-", *(f"{STEP}{line}".rstrip() for line in one.split("\n"))]
        elif isinstance(one, Mapping) and len(written(one)) > WIDEST:
            lines += [f"{scalar(key)}:", *(STEP + line for line in block(one))]
        else:
            lines.append(f"{scalar(key)}: {written(one)}")
    return lines


def is_literal(text: str) -> bool:
    """Whether a text can stand line by line as it is: several lines, and no spaces that would be lost."""
    lines = text.split("\n")
    if len(lines) < 2 or not lines[0].strip() or not lines[-1].strip() or lines[0][:1].isspace():
        return False
    return all(line.replace("\t", "").isprintable() and line == line.rstrip() for line in lines)


@lru_cache(maxsize=32)  # one wish asks for the same text again and again
def read(text: str) -> Node:
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


def node_of(text: str, event: Any, events: Iterator[Any], depth: int) -> Node:
    """The node that begins with an event."""
    if depth > DEEPEST:
        raise ValueError(TOO_DEEP)
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        return Node("alias", start, end, event.anchor)
    if isinstance(event, yaml.ScalarEvent):
        if event.style in ("|", ">"):
            end = max(start, len(text[:end].rstrip()))
        return Node("scalar", start, end, event.value)
    children: list[Node] = []
    for one in events:
        if isinstance(one, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            end = one.end_mark.index  # type: ignore[union-attr]
            break
        children.append(node_of(text, one, events, depth + 1))
    # Without brackets it ends where its last value ends, not where the next token begins.
    has_brackets = event.flow_style and text[start] in "[{&!"
    end = end if has_brackets or not children else children[-1].end
    if isinstance(event, yaml.SequenceStartEvent):
        return Node("list", start, end, tuple(children), bool(event.flow_style))
    pairs = tuple(zip(children[::2], children[1::2], strict=True))
    return Node("mapping", start, end, pairs, bool(event.flow_style))


def child(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    """The key (None in a list) and the value that a step leads to."""
    if node.kind == "list" and isinstance(step, int):
        return (None, node.value[step]) if step < len(node.value) else None
    if node.kind == "mapping":
        return next(((key, one) for key, one in node.value if key.kind == "scalar" and key.value == step), None)
    return None


def trail(root: Node, path: KeyPath) -> list[tuple[Node | None, Node]]:
    """The keys and values along a path, as far as it leads; the first is the whole text."""
    found: list[tuple[Node | None, Node]] = [(None, root)]
    for step in path:
        following = child(found[-1][1], step)
        if following is None:
            break
        found.append(following)
    return found


def find(root: Node, path: KeyPath) -> Node | None:
    """What stands at a path.

    >>> find(read("a: {b: [1, 2]}"), ("a", "b", 1)).value
    '2'
    """
    found = trail(root, path)
    return found[-1][1] if len(found) > len(path) else None


def path_at(text: str, line: int, column: int) -> KeyPath:
    """The path of what stands at a place of the text, as far in as it leads; lines and columns count from 1.

    >>> path_at("a: 1\\nb: {c: 2, d: [3, 4]}\\n", 2, 5), path_at("a: 1\\nb: {c: 2, d: [3, 4]}\\n", 2, 18)
    (('b', 'c'), ('b', 'd', 1))
    """
    starts = [0, *(end.end() for end in LINE_END.finditer(text))]
    at = starts[min(line, len(starts)) - 1] + column - 1
    path: list[str | int] = []
    node: Node | None = read(text)
    while node is not None:
        inside = next(((step, one) for step, start, end, one in parts(node) if start <= at < end), None)
        if inside is not None:
            path.append(inside[0])
        node = inside[1] if inside else None
    return tuple(path)


def parts(node: Node) -> Iterator[tuple[str | int, int, int, Node]]:
    """The parts of a list or mapping: the step that leads there, where it begins with its key and where it ends, and what it is."""
    if node.kind == "list":
        yield from ((at, one.start, one.end, one) for at, one in enumerate(node.value))
    elif node.kind == "mapping":
        yield from ((key.value, key.start, max(key.end, one.end), one) for key, one in node.value if key.kind == "scalar")


# Lines


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
    """The comment behind a value in the same line, without its #; empty where there is none or more than that.

    >>> comment_after("a: 1   # one", 4), comment_after("{a: 1, b: 2}  # two", 5)
    ('one', '')
    """
    rest = text[at : line_stop(text, at)].strip()
    return rest[1:].strip() if rest.startswith("#") else ""


def insert_lines(text: str, at: int, lines: Sequence[str]) -> str:
    """Lines after the line of a place."""
    end = line_end_of(text)
    stop = line_after(text, at)
    if stop == len(text) and line_stop(text, at) == len(text):  # the last line has no end
        return text + end + end.join(lines)
    return text[:stop] + "".join(line + end for line in lines) + text[stop:]


def by_hand() -> PlanError:
    """What is written in a way that no edit can keep."""
    return PlanError(
        "this part of the plan is written with anchors, aliases or several things in one line.",
        hint="Change it in the text by hand.",
    )


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


def replaced(text: str, found: list[tuple[Node | None, Node]], value: Any) -> str:
    """Another value in the place of one that is there."""
    key, node = found[-1]
    new = written(value)
    if node.kind in ("scalar", "alias") or node.flow:
        space = " " if node.is_nothing else ""
        if new.startswith('"') and is_literal(str(value)) and text[node.start : node.end][:1] in "|>" and not node.is_nothing:
            return literal(text, found, str(value))
        return text[: node.start] + space + new + kept_column(text, node, len(space + new))
    if key is None:
        raise by_hand()
    colon = colon_after(text, key)
    comment = text[colon:node.start].partition("#")[2]
    kept = f"  #{LINE_END.split(comment)[0]}" if comment and line_start(text, node.start) > colon else ""
    return f"{text[:colon]} {new}{kept}{text[node.end :]}"


def kept_column(text: str, node: Node, length: int) -> str:
    """What follows a value that gets another length: a comment behind it stays in its column if it can."""
    rest = text[node.end :]
    spaces = len(rest) - len(rest.lstrip(" "))
    if spaces < 2 or rest[spaces : spaces + 1] != "#":
        return rest
    return " " * max(2, spaces + (node.end - node.start) - length) + rest[spaces:]


def literal(text: str, found: list[tuple[Node | None, Node]], value: str) -> str:
    """A text of several lines in the place of another one."""
    key, node = found[-1]
    inside = " " * (column_of(text, key.start if key else node.start) + len(STEP))
    lines = ["|-", *(f"{inside}{line}".rstrip() for line in value.split("\n"))]
    return text[: node.start] + line_end_of(text).join(lines) + text[node.end :]


def says(text: str, path: KeyPath, value: Any) -> bool:
    """Whether a value is there already, however it is written: 'a' or "a", [1,2] or on lines of its own.

    >>> says("a: {b: ['x']}", ("a", "b"), ["x"]), says("a: '1'", ("a",), 1)
    (True, False)
    """
    there: Any = plain(text)
    for step in path:
        there = there[step]
    return repr(there) == repr(plain(f"x: {written(value)}")["x"])


@lru_cache(maxsize=32)
def plain(text: str) -> dict[Any, Any]:
    """The values of a text, as far as they can be read; to be looked at only."""
    found = document(text)
    return plain_values(found, Faults(found))


@lru_cache(maxsize=32)
def document(text: str) -> Document:
    """A text that is asked about again and again."""
    return parse(text)


def colon_after(text: str, key: Node) -> int:
    """The place behind the colon that follows a key."""
    found = SPACES.match(text, key.end)
    at = found.end() if found else key.end
    if text[at : at + 1] != ":":
        raise by_hand()
    return at + 1


def filled(text: str, found: list[tuple[Node | None, Node]], value: Mapping[str, Any] | list[Any]) -> str:
    """A first entry or item for what is {}, [], null or nothing: on a line of its own where the key has one."""
    key, node = found[-1]
    if key is None or any(one.flow for _, one in found[:-1] if one.kind in ("mapping", "list")):
        return replaced(text, found, value)
    colon = colon_after(text, key)
    before = text[:colon] + text[node.end :] if not node.is_nothing else text
    indent = " " * (column_of(text, key.start) + len(STEP))
    return insert_lines(before, colon - 1, [indent + line for line in lines_of(value)])


def lines_of(value: Mapping[str, Any] | list[Any]) -> list[str]:
    """Entries or items, each on a line of its own."""
    if isinstance(value, list):
        return [f"- {item_text(one)}" for one in value]
    lines: list[str] = []
    for key, one in value.items():
        if isinstance(one, Opened):
            lines += [f"{scalar(key)}:", *(STEP + line for line in lines_of(one))]
        elif isinstance(one, Mapping) and one and (len(written(one)) > WIDEST or has_literal(one)):
            lines += [f"{scalar(key)}:", *(STEP + line for line in block(one))]
        else:
            lines += block({key: one})
    return lines


class Opened(dict[str, Any]):
    """A mapping that others will join: its entries get lines of their own where that can be."""


def item_text(item: Any) -> str:
    """An item on a line of its own: one key and its value need no braces.

    >>> item_text({"k-anonymity": {"release": "april", "k": 4}}), item_text("zip")
    ('k-anonymity: {release: april, k: 4}', 'zip')
    """
    if isinstance(item, Mapping) and len(item) == 1:
        return written(item)[1:-1]
    return written(item)


def has_literal(value: Mapping[str, Any]) -> bool:
    """Whether one of its values is a text of several lines."""
    return any(isinstance(one, str) and is_literal(one) for one in value.values())


def inserted(text: str, mapping: Node, name: str, value: Any, after: Sequence[str]) -> str:
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


def without_lines(text: str, above: Node | None, whole: Node, start: int, end: int, empty: str) -> str:
    """A block without the lines of one of its entries; where it was the only one, `empty` is written."""
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


# Lists


def dash(text: str, items: Node, at: int) -> int:
    """Where the dash of an item stands."""
    if at == 0:
        return items.start if text[items.start] == "-" else text.index("-", items.start)
    before = items.value[at - 1].end
    found = SPACES.match(text, before)
    return found.end() if found else before


def append(text: str, path: KeyPath, item: Any, *, note: str = "", in_lines: bool = False, after: Sequence[str] = ()) -> str:
    """Add an item to a list; a missing list is made, and one text alone becomes the first of it.

    `note` is written behind an item that has a line of its own. `in_lines` is how a new list is written.

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
        return f"{text[: node.start]}[{text[node.start : node.end]}, {written(item)}]{text[node.end :]}"
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
    """A list without one of its items, and the comment that stood behind that item on a line of its own.

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
