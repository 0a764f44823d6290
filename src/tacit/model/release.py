"""Release: what leaves the house. A view, microdata, synthetic data, or a published constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Microdata:
    """A generalized copy of a table, made by levels or found in a file that someone else made."""

    name: str
    table: str
    generalization: Mapping[str, int] = field(default_factory=dict)
    file: str | None = None
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A query, and its answer where that came from elsewhere."""

    name: str
    query: str
    query_file: str | None = None
    answer: str | None = None
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint that is made public."""

    name: str
    constraint: str
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A mechanism's output: which table, and the mechanism's parameters."""

    name: str
    table: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    to: tuple[str, ...] = ()


Release = Microdata | View | Constraint | Synthetic
