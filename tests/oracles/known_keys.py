"""Perfect privacy given known keys, by brute force from the definition: every set of keys that
there can be, and under each all databases, weighed by random odds of their rows.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from oracles.perfect import Asked, Fact, Instance, Schema, answer, possible_facts

Foreign = tuple[tuple[str, int, str], ...]  # a table, its column, the table whose key is there


@dataclass(frozen=True, slots=True)
class Given:
    """Tables, those of which everybody knows the keys (the first column), and foreign keys."""

    schema: Schema
    known: frozenset[str]
    foreign: Foreign


def key_sets(given: Given) -> Iterator[Mapping[str, frozenset[Any]]]:
    """Every choice of a set of keys for each table whose keys are known."""
    names = sorted(given.known)
    every = []
    for name in names:
        values = given.schema[name].columns[0] or ()
        every.append(
            [
                frozenset(some)
                for size in range(len(values) + 1)
                for some in itertools.combinations(values, size)
            ]
        )
    for chosen in itertools.product(*every):
        yield dict(zip(names, chosen, strict=True))


def worlds(given: Given, keys: Mapping[str, frozenset[Any]]) -> list[Instance]:
    """All databases with exactly these keys: a row for each known key, and any other rows,
    one at most for a key; every reference leads to a key that is there.
    """

    def may_be(fact: Fact) -> bool:
        name, row = fact
        return all(
            row[column] is None or row[column] in keys[other]
            for table, column, other in given.foreign
            if table == name
        )

    possible = [fact for fact in possible_facts(given.schema) if may_be(fact)]
    choices: list[list[Instance]] = []
    for name, table in given.schema.items():
        rows = [fact for fact in possible if fact[0] == name]
        if name in given.known:
            for key in sorted(keys[name]):
                choices.append([frozenset({one}) for one in rows if one[1][0] == key])
        elif table.keys:
            for key in sorted({one[1][0] for one in rows}):
                some = [frozenset({one}) for one in rows if one[1][0] == key]
                choices.append([frozenset(), *some])
        else:
            choices += [[frozenset(), frozenset({one})] for one in rows]
    return [frozenset().union(*some) for some in itertools.product(*choices)]


def is_disclosed(given: Given, secret: Asked, view: Asked, rng: random.Random) -> bool:
    """Do the answers depend on each other, for some set of keys, under random odds?

    P(s, v) P = P(s) P(v) is a polynomial in the odds: random ones miss it hardly ever.
    """
    for keys in key_sets(given):
        odds: dict[Fact, int] = {}
        both: Counter[Any] = Counter()
        first: Counter[Any] = Counter()
        second: Counter[Any] = Counter()
        total = 0
        for world in worlds(given, keys):
            weight = 1
            for fact in world:
                if fact not in odds:
                    odds[fact] = rng.randint(1, 1 << 40)
                weight *= odds[fact]
            s, v = answer(secret, world), answer(view, world)
            both[s, v] += weight
            first[s] += weight
            second[v] += weight
            total += weight
        if any(both[s, v] * total != first[s] * second[v] for s in first for v in second):
            return True
    return False
