"""Explain: how a query was read, as a value and as the lines that `tacit explain` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tacit.families.queries.query import Conjunctive, Query, Relations, Variable
from tacit.families.queries.understanding import Approximation, QueryUnderstanding


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """One conjunctive query: its rows, where they come from, and under which conditions."""

    head: tuple[str, ...]
    subgoals: tuple[str, ...]
    comparisons: tuple[str, ...]
    known: tuple[str, ...]
    may_be_null: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainedQuery:
    """A union of conjunctive queries, as a set or a bag, with the query classes that were found."""

    name: str
    semantics: Literal["set", "bag"]
    parts: tuple[ExplainedPart, ...]
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a query was read: exactly, or by which supports and why."""

    name: str
    language: str
    columns: tuple[str, ...]
    exact: ExplainedQuery | None
    supports: tuple[ExplainedQuery, ...]
    approximations: tuple[Approximation, ...]

    def lines(self) -> list[str]:
        """The explanation as text."""
        how = "exactly" if self.exact else "by its supports"
        found = [
            (
                f"{self.name}: "
                f"{self.language.upper() if self.language == 'sql' else 'Datalog'}, "
                f"read {how}."
            )
        ]
        found.append(f"columns: {', '.join(self.columns) or 'none (a yes/no question)'}")
        for query in (self.exact,) if self.exact else self.supports:
            found += ["", *_query_lines(query)]
        if not self.exact and not self.supports:
            found += ["", "It depends on no table."]
        if self.approximations:
            found += [
                "",
                (
                    "Not read exactly (the supports keep at least the rows that matter, so "
                    "`private` stays right):"
                ),
            ]
            found += [line for one in self.approximations for line in _approximation_lines(one)]
        return found

    def to_json(self) -> dict[str, Any]:
        """The explanation as a JSON object."""
        return {
            "query": self.name,
            "language": self.language,
            "columns": list(self.columns),
            "exact": _query_json(self.exact) if self.exact else None,
            "supports": [_query_json(one) for one in self.supports],
            "approximations": [
                {
                    "code": one.code,
                    "fragment": one.fragment,
                    "text": one.text,
                    "line": one.line,
                    "column": one.column,
                    "direction": one.direction,
                }
                for one in self.approximations
            ],
        }


def explained(
    reading: QueryUnderstanding,
    relations: Relations,
    classes: Mapping[str, Sequence[str]] | None = None,
) -> Explanation:
    """How a query was read.

    `classes` gives the query classes by the name of the query or
    support, as the decision finds them.

    >>> from tacit.families.queries.query import Relation
    >>> from tacit.families.queries.read import read
    >>> relations = {"R": Relation("R", ("a", "b"), nullable=frozenset("b"))}
    >>> reading = read("SELECT DISTINCT a FROM R WHERE a != 1", relations, name="v")
    >>> print("\\n".join(explained(reading, relations, {"v": ["no self-join"]}).lines()))
    v: SQL, read exactly.
    columns: a
    <BLANKLINE>
    v, a set: no self-join
      (a) where
        R(a, b)
        a != 1
        may be NULL: b
    """
    found = classes or {}

    def of(query: Query) -> ExplainedQuery:
        parts = tuple(_part(part, relations) for part in query.parts)
        return ExplainedQuery(
            query.name, "bag" if query.bag else "set", parts, tuple(found.get(query.name, ()))
        )

    return Explanation(
        reading.name,
        reading.language,
        reading.columns,
        of(reading.exact) if reading.exact else None,
        tuple(map(of, reading.supports)),
        reading.approximations,
    )


def may_be_null(part: Conjunctive, relations: Relations) -> tuple[Variable, ...]:
    """The variables that may take NULL: not known, and in nullable columns only."""
    fixed: set[Variable] = set(part.known)
    for atom in part.atoms:
        relation = relations[atom.relation]
        for column, term in zip(relation.columns, atom.terms, strict=True):
            if isinstance(term, Variable) and column not in relation.nullable:
                fixed.add(term)
    return tuple(variable for variable in part.variables() if variable not in fixed)


def _part(part: Conjunctive, relations: Relations) -> ExplainedPart:
    return ExplainedPart(
        tuple(map(str, part.head)),
        tuple(map(str, part.atoms)),
        tuple(map(str, part.comparisons)),
        tuple(sorted(map(str, part.known))),
        tuple(map(str, may_be_null(part, relations))),
    )


def _query_lines(query: ExplainedQuery) -> list[str]:
    found = [
        f"{query.name}, a {query.semantics}"
        + (f": {', '.join(query.classes)}" if query.classes else "")
    ]
    for part in query.parts:
        found.append(f"  ({', '.join(part.head)}) where")
        found += [f"    {one}" for one in (*part.subgoals, *part.comparisons)] or ["    true"]
        if part.may_be_null:
            found.append(f"    may be NULL: {', '.join(part.may_be_null)}")
    if not query.parts:
        found.append("  no row on any database")
    return found


def _approximation_lines(one: Approximation) -> list[str]:
    fragment = " ".join(one.fragment.split())
    fragment = fragment if len(fragment) <= 90 else fragment[:87] + "..."
    return [f"  {one.line}:{one.column} {one.code}: {fragment}", f"      {one.text}"]


def _query_json(query: ExplainedQuery) -> dict[str, Any]:
    return {
        "name": query.name,
        "semantics": query.semantics,
        "classes": list(query.classes),
        "parts": [
            {
                "head": list(part.head),
                "subgoals": list(part.subgoals),
                "comparisons": list(part.comparisons),
                "known": list(part.known),
                "may_be_null": list(part.may_be_null),
            }
            for part in query.parts
        ],
    }
