"""Plan: what the owner's file says, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tacit.errors import Mark
from tacit.model.release import Release
from tacit.model.schema import Table
from tacit.model.verdict import Waiver

R = TypeVar("R", bound=Release)


@dataclass(frozen=True, slots=True)
class Check:
    """One question of the plan: which definition, with which parameters, about which releases.

    `parameters` holds what the check's own table in the documentation lists, under the names of the
    plan file and with thresholds as exact numbers. `sensitive` is the column it is asked for (None:
    all of them, or none is needed). `dictionary` are columns whose values are published too.
    `path` is where the check stands in the file: `plan.mark(*check.path, "k")` is the place of its
    parameter k.
    """

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    releases: tuple[str, ...] = ()
    secret: str | None = None
    sensitive: str | None = None
    given: tuple[str, ...] | None = None
    collude: tuple[tuple[str, ...], ...] = ()
    dictionary: tuple[str, ...] = ()
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class Role:
    """Who may ask the gateway what; deny wins. `record` says what of it the ledger keeps."""

    name: str
    default: str = "deny"
    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    record: str = "nothing"  # or answers: each counts as a release to its user


@dataclass(frozen=True, slots=True)
class Plan:
    """The owner's file. `mark(*path)` gives the place of a key or value for error messages.

    A recipient is written in one way throughout, the first one of the file:
    `to` and `collude` can be compared.
    """

    file: str
    folder: Path
    mark: Callable[..., Mark | None]
    source: str = "."
    source_keys: str = (
        "read"  # or ignore: keys and foreign keys that the source declares are left out
    )
    tables: Mapping[str, Table] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    releases: Mapping[str, Release] = field(default_factory=dict)
    published: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    fresh: int | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)
    ledger: str = "tacit-ledger.sqlite"
    waive: tuple[Waiver, ...] = ()
    organisation: str = ""
    author: str = ""
    question: str = ""  # that the owner asks, in words
    policies: Mapping[str, str] = field(default_factory=dict)  # packs, by what names their checks

    def of(self, kind: type[R]) -> dict[str, R]:
        """The releases of one kind, by name."""
        return {name: one for name, one in self.releases.items() if isinstance(one, kind)}
