"""Short ways to write queries and relations in tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tacit.families.queries.datalog.datalog_reader import read_datalog
from tacit.families.queries.logic.chase import key_places
from tacit.families.queries.logic.numbered_queries import NumberedBody, Symbols, TermNumbering
from tacit.families.queries.logic.prepare import normalised
from tacit.families.queries.query import (
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Variable,
)

R2: Relations = {"R": Relation("R", ("a", "b"))}
R3: Relations = {"R": Relation("R", ("a", "b", "c"))}


def relations(*described: Relation) -> dict[str, Relation]:
    return {one.name: one for one in described}


def read(text: str, known: Relations = R2, *, bag: bool = False) -> Query:
    reading = read_datalog(text, known, name=text.split("(")[0])
    assert reading.exact is not None
    return replace(reading.exact, bag=bag)


def body(text: str, known: Relations = R2) -> tuple[NumberedBody, Symbols]:
    """A single rule in numbers, after the chase."""
    numbering = TermNumbering(known, Symbols())
    numbered = numbering.body(read(text, known).parts[0], 0)
    assert numbered is not None
    chased = normalised(numbered, numbering, key_places(known))
    assert chased is not None
    return chased, numbering.symbols


def random_query(
    rng: random.Random,
    name: str,
    known: Relations,
    *,
    atoms: Sequence[int] = (1, 2, 3),
    arity: int | None = None,
    comparisons: bool = False,
) -> Query:
    """A small conjunctive query over the constants 1 and 2."""
    variables = [Variable(f"{name.lower()}{number}") for number in range(rng.choice([2, 3, 4]))]

    def term() -> Any:
        return Constant(rng.choice([1, 2])) if rng.random() < 0.3 else rng.choice(variables)

    chosen = [rng.choice(list(known.values())) for _ in range(rng.choice(atoms))]
    body = tuple(
        Atom(relation.name, tuple(term() for _ in relation.columns)) for relation in chosen
    )
    used = [variable for variable in variables if any(variable in atom.terms for atom in body)]
    width = rng.choice([0, 0, 1]) if arity is None else arity
    head = tuple(rng.choice(used) if used else Constant(1) for _ in range(width))
    where = ()
    if comparisons and used and rng.random() < 0.7:
        where = (
            Comparison(
                rng.choice(used), rng.choice(["!=", "<", "<="]), rng.choice([*used, Constant(1)])
            ),
        )
    return Query(name, (Conjunctive(head, body, where, frozenset(used)),))
