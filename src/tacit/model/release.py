"""Release: what leaves the house. A view, microdata, synthetic data, or a published constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

Method = Literal["lattice", "mondrian", "window"]


@dataclass(frozen=True, slots=True)
class Repair:
    """How a microdata release is to be generalized until its checks hold.

    `suppress` is the share of rows that may be dropped, `weights` say how much each column matters,
    `at_most` is the highest level allowed for a column.
    """

    method: Method = "lattice"
    suppress: Fraction = Fraction(0)
    utility: str = "loss"
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Microdata:
    """A generalized copy of a table, made by levels or found in a file that someone else made."""

    name: str
    table: str
    generalization: Mapping[str, int] = field(default_factory=dict)
    file: str | None = None
    to: tuple[str, ...] = ()
    repair: Repair = Repair()


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
