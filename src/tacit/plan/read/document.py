"""YAML text to plain values as they are written, and the place of every key and value."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import yaml

from tacit.errors import Mark, PlanError, TacitError, raise_all
from tacit.plan.read.syntax import DEEPEST, LINE_END, TOO_DEEP, place_in, syntax_error
from tacit.plan.read.values import UnfitError, is_short_number, redact

T = TypeVar("T")
KeyPath = tuple[str | int, ...]  # keys and positions from the top of the file


INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
WORDS = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

AS_WRITTEN = "plain"  # the tag we give to scalars without quotes; all others are text
TEXT_TAGS = ("quoted", "tag:yaml.org,2002:str")

GET_A_PLAN = (
    "Run `tacit demo` for an example, `tacit init DATA` to get one for your table, or give "
    "the path of yours."
)


class PlanSource(Protocol):
    """Where a plan stands: in a file, or in the arguments of a Python function."""

    @property
    def file(self) -> str:
        """What it is called."""

    def mark(self, *path: str | int, key: bool = False) -> Mark:
        """The place of the value at a path of keys and positions."""

    def has(self, *path: str | int) -> bool:
        """Whether the path leads somewhere."""

    def values(self, faults: Faults) -> dict[Any, Any]:
        """The whole as dicts, lists and scalars; what cannot stand in a plan is noted."""

    def spelled(self, text: str) -> str:
        """A message with keys and values of a plan as they are written here."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file that could be parsed: its lines (passwords covered) and its tree of nodes."""

    file: str
    lines: tuple[str, ...]
    root: yaml.Node

    def mark(self, *path: str | int, key: bool = False) -> Mark:
        """The place of the value at a path of keys and positions.

        A mapping or list is found at the key before it, and so is everything with `key=True`;
        where the path leads nowhere, at the last of its steps that is there.

        >>> document = parse("tables:\\n  people: {key: [name]}\\n")
        >>> (
        ...     str(document.mark("tables", "people", "key", 0)),
        ...     str(document.mark("tables", "people", "file")),
        ... )
        ('tacit.yaml:2:18', 'tacit.yaml:2:3')
        """
        label, node = None, self.root
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            label, node = child
        is_seen = isinstance(node, yaml.ScalarNode) and (node.value or node.tag != AS_WRITTEN)
        if label is not None and (key or not is_seen):
            node = label
        return self.place(node.start_mark)

    def has(self, *path: str | int) -> bool:
        """Whether the path leads somewhere."""
        node = self.root
        for step in path:
            child = _child(node, step)
            if child is None:
                return False
            node = child[1]
        return True

    def values(self, faults: Faults) -> dict[Any, Any]:
        """The whole as `plain_values` has it."""
        return plain_values(self, faults)

    def spelled(self, text: str) -> str:
        """As it is: messages are in the words of a file."""
        return text

    def place(self, mark: Any) -> Mark:
        """A place as PyYAML gives it, counted from 1 and with its line."""
        return place_in(self.file, self.lines, mark.line, mark.column)


class Faults:
    """The problems of one file, collected so that all are reported in one go.

    >>> faults = Faults(parse("k: 1"))
    >>> faults.add("k=1 protects nobody.", "k", hint="Use k >= 2.")
    >>> faults.raise_all()
    Traceback (most recent call last):
    tacit.errors.PlanError: tacit.yaml:1:4: k=1 protects nobody. Use k >= 2.
        k: 1
           ^
    """

    def __init__(self, document: PlanSource) -> None:
        self.document = document
        self.found: list[TacitError] = []

    def __len__(self) -> int:
        return len(self.found)

    def add(
        self, message: str, *path: str | int, hint: str | None = None, key: bool = False
    ) -> None:
        """Note a problem at a path; with `key` the key is at fault, not its value."""
        mark, spelled = self.document.mark(*path, key=key), self.document.spelled
        self.take(PlanError(redact(spelled(message)), hint=spelled(hint or "") or None, mark=mark))

    def take(self, error: TacitError) -> None:
        """Note an error that knows its place, once: an argument may stand for several values."""
        if all((one.message, one.mark) != (error.message, error.mark) for one in self.found):
            self.found.append(error)

    def unfit(self, error: UnfitError, *path: str | int) -> None:
        """Note a value that does not belong where it stands, under the key that holds it."""
        key = next((step for step in reversed(path) if isinstance(step, str)), "the plan")
        self.add(f"found {error.found} in {key!r}.", *path, hint=error.hint)

    def fit(self, path: KeyPath, read: Callable[..., T], value: object, *words: Any) -> T | None:
        """The value as one of the functions of `values` reads it;
        None, and a note, where it cannot.

        >>> from tacit.plan.read import values
        >>> faults = Faults(parse("k: four"))
        >>> faults.fit(("k",), values.whole, "four", "a whole number")
        >>> faults.found[0].message
        "found 'four' in 'k'."
        """
        try:
            return read(value, *words)
        except UnfitError as error:
            self.unfit(error, *path)
            return None

    def raise_all(self) -> None:
        """Raise what was found, in the order of the file."""
        raise_all(sorted(self.found, key=_order))


def _order(error: TacitError) -> tuple[int, int]:
    mark = error.mark or Mark("")
    return mark.line or 0, mark.column or 0


def read_text(path: Path, shown: str, *, what: str = "file", hint: str | None = None) -> str:
    """The text of a UTF-8 file, or the error that says why there is none."""
    place = Mark(shown)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise PlanError(f"there is no {what} {shown!r}.", hint=hint, mark=place) from None
    except IsADirectoryError:
        raise PlanError(
            f"{shown!r} is a folder.", hint="Give the path of a file in it.", mark=place
        ) from None
    except OSError as error:
        raise PlanError(
            f"{shown!r} cannot be read: {(error.strerror or str(error)).lower()}.", mark=place
        ) from None
    except ValueError:  # a NUL or half a surrogate pair in the name
        raise PlanError(f"{shown!r} is not the name of a file.") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = LINE_END.split(error.object[: error.start].decode("utf-8-sig", "replace"))
        raise PlanError(
            f"{shown!r} is not UTF-8: byte 0x{error.object[error.start]:02x} (byte "
            f"{error.start + 1} of the file).",
            hint="Save the file as UTF-8.",
            mark=Mark(shown, len(before), len(before[-1]) + 1),
        ) from None


def read_document(path: str | Path) -> Document:
    """Read and parse the plan file."""
    return parse(read_text(Path(path), str(path), what="plan", hint=GET_A_PLAN), str(path))


def parse(content: str, file: str = "tacit.yaml", *, policy: bool = False) -> Document:
    """The tree of a YAML text, of a plan or a policy; a PlanError with its place where it is none.

    >>> parse("a: *\\n")
    Traceback (most recent call last):
    tacit.errors.PlanError: tacit.yaml:1:4: * starts an alias, and none follows. A lone star needs quotes: "*".
        a: *
           ^
    """  # noqa: E501
    lines = tuple(redact(line) for line in LINE_END.split(content))
    try:
        root = yaml.compose(content, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise syntax_error(error, file, lines) from None
    except yaml.reader.ReaderError as error:
        before = LINE_END.split(content[: error.position])
        raise PlanError(
            f"the character {chr(error.character)!r} is not allowed in YAML.",
            hint="Remove it.",
            mark=place_in(file, lines, len(before) - 1, len(before[-1])),
        ) from None
    except (ValueError, OverflowError):  # PyYAML lets these slip: "\UFFFFFFFF", %YAML 1.99999...
        raise PlanError(
            "a \\U escape or a %YAML line has a number out of range.", mark=Mark(file)
        ) from None
    what, start = ("policy", "title: ...") if policy else ("plan", "version: 1")
    if root is None or (isinstance(root, yaml.ScalarNode) and root.value == ""):
        raise PlanError(
            f"the {what} is empty.",
            hint=f"It starts with the line: {start}{'' if policy else f'. {GET_A_PLAN}'}",
            mark=Mark(file),
        )
    document = Document(file, lines, root)
    if not isinstance(root, yaml.MappingNode):
        raise PlanError(
            f"the {what} is not a mapping of keys to values.",
            hint=f"It starts with the line: {start}",
            mark=document.place(root.start_mark),
        )
    return document


def plain_values(document: Document, faults: Faults) -> dict[Any, Any]:
    """The whole file as dicts, lists and scalars;
    what cannot stand in a plan is noted and left out.

    >>> document = parse("ward: 007\\ndate: 2020-01-01\\nanswer: no\\nl: 2.8\\nk: 4")
    >>> plain_values(document, Faults(document))
    {'ward': '007', 'date': '2020-01-01', 'answer': 'no', 'l': Decimal('2.8'), 'k': 4}
    """
    # Without aliases a text has fewer values than characters, so only aliases can exceed this.
    reader = _Values(document, faults, budget=10 * sum(map(len, document.lines)) + 1000)
    value: dict[Any, Any] = reader.value(document.root, depth=0)
    return value


def as_written(word: str) -> str | int | Decimal | bool | None:
    """A word without quotes: a number, true, false, nothing, or else the text itself.

    >>> [as_written(word) for word in ("12", "1e-5", ".5", "true", "~")]
    [12, Decimal('0.00001'), Decimal('0.5'), True, None]
    >>> [
    ...     as_written(word)
    ...     for word in ("007", "+49", "yes", "2020-01-01", "12:30", "0x1F", "1_000", ".inf")
    ... ]
    ['007', '+49', 'yes', '2020-01-01', '12:30', '0x1F', '1_000', '.inf']
    """
    if word in WORDS:
        return WORDS[word]
    if is_short_number(word):
        if INTEGER.fullmatch(word):
            return int(word)
        if DECIMAL.fullmatch(word):
            return Decimal(word)
    return word


class _Loader(yaml.BaseLoader):
    """PyYAML's tree, marking which scalars stood without quotes,
    and refusing bottomless nesting.
    """

    depth = 0

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        return AS_WRITTEN if kind is yaml.ScalarNode and implicit[0] else "quoted"

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            event = cast(Any, self).peek_event()
            raise yaml.MarkedYAMLError(problem=TOO_DEEP, problem_mark=event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Values:
    """Turns nodes into values; `budget` bounds what aliases can make of a small file."""

    def __init__(self, document: Document, faults: Faults, budget: int) -> None:
        self.document, self.faults, self.budget = document, faults, budget

    def value(self, node: yaml.Node, depth: int) -> Any:
        self.budget -= 1
        if self.budget < 0 or depth > DEEPEST:
            raise self.fault(
                "aliases (*name) make the plan endless or far longer than it is.",
                node,
                "Write it out.",
            )
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node)
        if node.tag != "quoted":
            self.note(f"the tag {node.tag!r} means nothing in a plan.", node, "Leave it out.")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(child, depth + 1) for child in node.value]
        return self.mapping(node, depth)

    def scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag == AS_WRITTEN:
            return as_written(node.value)
        if node.tag not in TEXT_TAGS:
            self.note(f"the tag {node.tag!r} means nothing in a plan.", node, "Leave it out.")
        return node.value

    def mapping(self, node: yaml.Node, depth: int) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        places: dict[Any, Any] = {}
        for label, child in node.value:
            if not isinstance(label, yaml.ScalarNode):
                self.note(
                    "a list or mapping cannot be a key.",
                    label,
                    "Write a name, and a value after the colon.",
                )
                continue
            key = self.scalar(label)
            if key == "<<" and label.tag == AS_WRITTEN:
                self.note("merge keys (<<) are not read.", label, "Write the keys out.")
            elif key in places:
                first = f"{places[key].line + 1}:{places[key].column + 1}"
                self.note(
                    f"the key {label.value!r} stands twice, first at {first}.",
                    label,
                    "Keep one of them.",
                )
            else:
                places[key] = label.start_mark
                values[key] = self.value(child, depth + 1)
        return values

    def fault(self, message: str, node: yaml.Node, hint: str) -> PlanError:
        return PlanError(redact(message), hint=hint, mark=self.document.place(node.start_mark))

    def note(self, message: str, node: yaml.Node, hint: str) -> None:
        self.faults.take(self.fault(message, node, hint))


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    """The key (None in a list) and the value that a step leads to."""
    if isinstance(node, yaml.SequenceNode):
        inside = isinstance(step, int) and step < len(node.value)
        return (None, node.value[step]) if inside else None
    if isinstance(node, yaml.MappingNode):
        for label, value in node.value:
            if isinstance(label, yaml.ScalarNode) and step in (
                label.value,
                as_written(label.value),
            ):
                return label, value
    return None
