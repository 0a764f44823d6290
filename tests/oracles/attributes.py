"""Independent attributes by brute force: which rows there are is public, and every attribute of
every row is drawn by itself.

For each public set of keys all ways to give the rows their attributes are tried, under random
weights. Two queries are independent if their answers are, exactly, whatever the keys are.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = tuple[Any, ...]
World = Mapping[str, Sequence[Row]]  # relation: its rows, the key first
Atom = tuple[str, tuple[str, ...]]  # a name in lower case is a variable, a digit a constant
Query = tuple[
    tuple[str, ...], Sequence[Atom], Sequence[tuple[str, str]]
]  # head, atoms, pairs that must differ
Schema = Mapping[
    str, tuple[Sequence[int], Sequence[Sequence[int]]]
]  # relation: keys, values of each attribute


def answer(query: Query, world: World) -> frozenset[Row]:
    """The rows of a query's answer, by trying every choice of rows for its atoms."""
    head, atoms, unequal = query
    found = set()
    for rows in itertools.product(*(world[name] for name, _ in atoms)):
        values: dict[str, Any] = {}
        fits = all(
            value == int(term) if term.isdigit() else values.setdefault(term, value) == value
            for (_, terms), row in zip(atoms, rows, strict=True)
            for term, value in zip(terms, row, strict=True)
        )
        if fits and all(of(one, values) != of(two, values) for one, two in unequal):
            found.add(tuple(of(term, values) for term in head))
    return frozenset(found)


def of(term: str, values: Mapping[str, Any]) -> Any:
    """What a term stands for."""
    return int(term) if term.isdigit() else values[term]


def weighted(
    schema: Schema, keys: Mapping[str, Sequence[int]], rng: random.Random
) -> Iterator[tuple[World, Fraction]]:
    """Every world with these rows, and its probability:
    the product of what each attribute of each row has.
    """
    cells = [
        (name, key, place)
        for name in schema
        for key in keys[name]
        for place in range(len(schema[name][1]))
    ]
    choices = []
    for name, _, place in cells:
        drawn = [rng.randint(1, 50) for _ in schema[name][1][place]]
        choices.append(
            [
                (value, Fraction(weight, sum(drawn)))
                for value, weight in zip(schema[name][1][place], drawn, strict=True)
            ]
        )
    for chosen in itertools.product(*choices):
        rows: dict[str, dict[int, list[int]]] = {
            name: {key: [key] for key in keys[name]} for name in schema
        }
        probability = Fraction(1)
        for (name, key, _), (value, weight) in zip(cells, chosen, strict=True):
            rows[name][key].append(value)
            probability *= weight
        yield {name: [tuple(row) for row in rows[name].values()] for name in schema}, probability


def are_independent(secret: Query, view: Query, schema: Schema, rng: random.Random) -> bool:
    """Are the two answers independent for every public set of keys,
    under weights drawn at random?
    """
    subsets = [
        [list(some) for size in range(len(keys) + 1) for some in itertools.combinations(keys, size)]
        for keys, _ in schema.values()
    ]
    for chosen in itertools.product(*subsets):
        joint: dict[tuple[Any, Any], Fraction] = {}
        for world, probability in weighted(schema, dict(zip(schema, chosen, strict=True)), rng):
            both = answer(secret, world), answer(view, world)
            joint[both] = joint.get(both, Fraction(0)) + probability
        hidden, seen = {one for one, _ in joint}, {two for _, two in joint}
        for one, two in itertools.product(hidden, seen):
            alone = sum(p for (s, _), p in joint.items() if s == one) * sum(
                p for (_, v), p in joint.items() if v == two
            )
            if joint.get((one, two), Fraction(0)) != alone:
                return False
    return True
