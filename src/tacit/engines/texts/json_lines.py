"""JSON lines: an object a line. Numbers are kept as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.engines.files import cannot_read, not_utf8
from tacit.engines.texts.columns import TextColumns, Texts
from tacit.engines.texts.values import text_of
from tacit.errors import DataError, Mark

AT_ONCE = 50_000
EXAMPLE = 'Write an object on each line, such as {"zip": "13053", "age": 28}'


class Number(str):
    """A number as it is written, so that no digit is lost."""

    __slots__ = ()


def read(path: Path, shown: str) -> TextColumns:
    """The keys of all objects as columns; what an object does not have is missing."""
    names: dict[str, None] = {}
    for row in objects(path, shown):
        names.update(dict.fromkeys(row))
    return TextColumns(tuple(names), chunks(path, shown, tuple(names)))


def chunks(path: Path, shown: str, names: tuple[str, ...]) -> Iterator[Mapping[str, Texts]]:
    """Some rows at a time, by column."""
    rows: list[Mapping[str, Any]] = []
    for row in objects(path, shown):
        rows.append(row)
        if len(rows) == AT_ONCE:
            yield {name: [as_text(one.get(name)) for one in rows] for name in names}
            rows = []
    yield {name: [as_text(one.get(name)) for one in rows] for name in names}


def as_text(value: Any) -> str | None:
    """A value as text: objects and lists as JSON.

    >>> as_text(Number("1.10")), as_text(True), as_text({"a": Number("1.0")})
    ('1.10', 'true', '{"a": 1.0}')
    """
    return written(value) if isinstance(value, dict | list) else text_of(value)


def written(value: Any) -> str:
    """JSON, its numbers as they were written."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def objects(path: Path, shown: str) -> Iterator[dict[str, Any]]:
    """The objects of a file, or an error that names the line."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for line, text in enumerate(file, 1):
                if text.strip():
                    yield parsed(text, Mark(shown, line))
    except UnicodeDecodeError:
        raise not_utf8(path, shown) from None
    except OSError as error:
        raise cannot_read(shown, error) from None


def parsed(text: str, mark: Mark) -> dict[str, Any]:
    """One line."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in found]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise DataError(f"{twice!r} stands twice in this line.", hint=EXAMPLE, mark=mark)
        return dict(found)

    try:
        found = json.loads(
            text,
            parse_float=Number,
            parse_int=Number,
            parse_constant=lambda _: None,
            object_pairs_hook=pairs,
        )
    except DataError:
        raise
    except (ValueError, RecursionError):
        raise DataError("this line is not JSON.", hint=EXAMPLE, mark=mark) from None
    if not isinstance(found, dict):
        raise DataError("this line is no object.", hint=EXAMPLE, mark=mark)
    return found
