"""The corpus: statements kept as data, those written by hand in groups, and one generated for
every place and kind of expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from oracles.gateway import Column, Schema, Table

FOLDER = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True)
class Group:
    """Statements about the same tables and secret, by what brute force finds of them."""

    about: str
    schema: Schema
    secret: str
    dialect: str
    statements: Mapping[str, Sequence[str]]


def written(dialect: str = "duckdb") -> list[Group]:
    """The groups written by hand for an engine."""
    groups = [
        _group(one) for one in yaml.safe_load((FOLDER / "written.yaml").read_text(encoding="utf-8"))
    ]
    return [one for one in groups if one.dialect == dialect]


@dataclass(frozen=True, slots=True)
class Shape:
    """A generated statement and what it is there for:
    a kind of expression at a place, or a clause of a query that stands somewhere.
    """

    schema: str
    place: str
    kind: str
    sql: str


def shapes() -> list[Shape]:
    """The generated statements."""
    found = yaml.safe_load((FOLDER / "generated.yaml").read_text(encoding="utf-8"))
    return [Shape(*row) for row in found]


def _group(given: Mapping[str, Any]) -> Group:
    tables = tuple(
        Table(name, tuple(Column(column, tuple(values)) for column, values in columns.items()))
        for name, columns in given["tables"].items()
    )
    statements = {kind: given.get(kind, []) for kind in ("discloses", "keeps", "fails", "runs-not")}
    return Group(
        given["about"], Schema(tables), given["secret"], given.get("dialect", "duckdb"), statements
    )
