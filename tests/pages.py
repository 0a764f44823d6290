"""Pages for tests: taken apart, and plans with values that try to break out of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

EVIL = "</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Page(HTMLParser):
    """A page taken apart: its tags with their attributes, and the text that a reader sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def plan_of(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> str:
    """A plan with small data: the first column is the name, the last is sensitive."""
    name, *quasi, sensitive = columns
    table = {
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "person": [name],
        "identifiers": [name],
        "quasi-identifiers": quasi,
        "sensitive": [sensitive],
    }
    checks = [
        {"k-anonymity": {"release": "all", "k": 2}},
        {"l-diversity": {"release": "all", "kind": "distinct", "l": 2}},
    ]
    return json.dumps(
        {
            "version": 1,
            "tables": {"people": table},
            "releases": {"all": {"table": "people"}},
            "checks": checks,
        }
    )
