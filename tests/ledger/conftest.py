"""A ledger of each kind, and drafts to record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.ledger.entries import EntryDraft, LedgerVerdict
from tacit.ledger.key import Key
from tacit.ledger.ledger import Ledger, open_ledger

SECRET = bytes(range(32))
KEY = Key(SECRET)
KINDS = ("sqlite", pytest.param("postgres", marks=pytest.mark.slow))


def a_draft(release: str = "april", **other: Any) -> EntryDraft:
    said: dict[str, Any] = {
        "kind": "release",
        "shape": "view",
        "tables": ("patients",),
        "to": ("clinic",),
        "by": "owner",
        "plan": KEY.mac("plan", b"1"),
        "definition": KEY.mac("definition", repr(release).encode()),
        "answer": KEY.mac("answer", b"1"),
        "verdicts": (LedgerVerdict("perfect-privacy", "cancer", "holds", "exact"),),
    }
    return EntryDraft(release=release, **{**said, **other})


@pytest.fixture
def draft() -> Callable[..., EntryDraft]:
    return a_draft


@pytest.fixture
def secret() -> bytes:
    return SECRET


@pytest.fixture
def key() -> Key:
    return KEY


@pytest.fixture(autouse=True)
def beside_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """What `ledger:` of a plan says: a file, or a schema of its own in a database."""
    if request.param == "sqlite":
        yield "out.sqlite"
        return
    yield request.getfixturevalue("ledger_url")


@pytest.fixture
def ledger(place: str, tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(place, tmp_path, key=KEY, create=True) as opened:
        yield opened
