"""Over a domain: is there any database over given finite domains on
which the new views would disclose?

A g-safety breach somewhere is a pair of databases with the same published answers, different new
ones and different secrets: if two worlds of one class differ in the new answers and two in the
secret, some pair of them differs in both. So one solver call with two copies of every tuple
decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Constant, Query
from tacit.families.worlds.counting import ENUMERATED, any_of, chunks, satisfying_worlds
from tacit.families.worlds.formula import Condition, Count, Impossible, Propagation, Term, parts
from tacit.families.worlds.grounding import Answers, answers, grounded
from tacit.families.worlds.matching import Tuple, TupleStore
from tacit.families.worlds.possible_tuples import possible
from tacit.families.worlds.universe import Place, Universe, universe_of
from tacit.families.worlds.world_setting import WorldSetting
from tacit.families.worlds.world_solver import ConditionModel, NoWorld, find


@dataclass(frozen=True, slots=True)
class DatabasePair:
    """A database, and another one that looks the same before."""

    instance: frozenset[int]
    world: frozenset[int]


@dataclass(frozen=True, slots=True)
class OddsMove:
    """A database on which the odds of two secrets move:
    with its own answers, and both secrets' multiplicities.
    """

    instance: frozenset[int]
    secrets: tuple[tuple[frozenset[Tuple], int, int], ...]


@dataclass(slots=True)
class TuplePiece:
    """Tuples that hang together, with what speaks of them."""

    tuples: tuple[int, ...]
    conditions: list[Condition]
    published: list[tuple[Term, ...]]
    new: list[tuple[Term, ...]]
    new_conditions: list[Condition]
    secret: list[tuple[Tuple, tuple[Term, ...]]]


class Databases:
    """All databases over the domains of a setting that satisfy its constraints."""

    def __init__(self, setting: WorldSetting, fresh: int = 0) -> None:
        self.setting = setting
        self.universe = universe_of(setting, fresh)
        found = possible(setting, self.universe, ())
        self.store = found.store
        known = [
            one
            for dependency in setting.dependencies
            for one in found.conditions(dependency, setting.relations)
        ]
        try:
            self.known = Propagation.of(known)
        except Impossible:
            self.known = Propagation([])
            self.is_empty = True
        else:
            self.is_empty = False
        self.published = [open_rows(seen.query, self.store) for seen in setting.published]
        self.new = [open_rows(seen.query, self.store) for seen in setting.new]
        self.new_conditions = [
            one
            for dependency in setting.new_dependencies
            for one in grounded(dependency, self.store, setting.relations)
        ]
        self.secret = open_rows(setting.secret, self.store)
        # A constraint that holds on no database over these domains can never be published.
        self.is_empty = self.is_empty or any(
            not one.terms and not one.counts for one in self.new_conditions
        )

    def check(self) -> None:
        """Raise NoWorld where no database satisfies the constraints."""
        if self.is_empty or find([*self.known.conditions, *self.new_conditions]) is None:
            raise NoWorld

    @property
    def undetermined(self) -> int:
        """The number of tuples that are there in some databases and not in others."""
        return len(self.store.facts) - len(self.known.fixed)

    def facts(self, world: Iterable[int]) -> list[Fact]:
        """The rows of a database."""
        return [
            Fact(name, self.store.numbering.plain(row))
            for one in sorted(world)
            for name, row in [self.store.facts[one - 1]]
        ]

    def answer(self, found: Answers, world: frozenset[int]) -> frozenset[Tuple]:
        """The rows of a query on a database."""
        return frozenset(
            row for row, ways in found.items() if any(world.issuperset(way) for way in ways)
        )

    # -- g-safety ----------------------------------------------------------------------------------

    def pair(self, excluded: Sequence[frozenset[int]] = ()) -> DatabasePair | None:
        """Two databases that look the same before, and differ in what is new and in the secret;
        None if there are none.
        """
        if self.is_empty:
            return None
        size = len(self.store.facts)
        model = ConditionModel()
        for shift in (0, size):
            for condition in self._conditions():
                model.require(shifted(condition, shift))
        for condition in self.new_conditions:
            model.require(condition)  # a constraint is published of databases in which it holds
        for rows in self.published:
            for ways in rows.values():
                here, there = self._both(model, ways, size)
                model.model.add(here == there)
        new = [self._differs(model, ways, size) for rows in self.new for ways in rows.values()]
        new += [model.broken(shifted(condition, size)) for condition in self.new_conditions]
        model.model.add_bool_or(new)
        model.model.add_bool_or([self._differs(model, ways, size) for ways in self.secret.values()])
        for one in excluded:
            others = [number for number in range(1, size + 1) if number not in one]
            model.model.add_bool_or(
                [*(model.literal(-number) for number in one), *map(model.literal, others)]
            )
        self._sorted(model)
        found = model.solved()
        if found is None:
            return None
        return DatabasePair(
            frozenset(one for one in found if one <= size),
            frozenset(one - size for one in found if one > size),
        )

    def _conditions(self) -> Iterator[Condition]:
        yield from self.known.conditions
        for one, there in self.known.fixed.items():
            yield Condition(((one if there else -one,),))

    @staticmethod
    def _both(model: ConditionModel, ways: Sequence[Term], size: int) -> tuple[Any, Any]:
        return model.is_any(ways), model.is_any(
            [tuple(literal + size for literal in way) for way in ways]
        )

    def _differs(self, model: ConditionModel, ways: Sequence[Term], size: int) -> Any:
        """A Boolean that is true only if a row is there in one copy and not in the other."""
        here, there = self._both(model, ways, size)
        found = model.model.new_bool_var("")
        model.model.add(here != there).only_enforce_if(found)
        return found

    def _sorted(self, model: ConditionModel) -> None:
        """Of values that nothing tells apart, those come first that stand in more rows:
        one of many equal cases is enough.
        """
        for values in interchangeable(self.setting, self.universe):
            rows = {
                value: [
                    number for number, (_, row) in enumerate(self.store.facts, 1) if value in row
                ]
                for value in values
            }
            for one, two in pairwise(values):
                model.model.add(
                    sum(map(model.variable, rows[one])) >= sum(map(model.variable, rows[two]))
                )

    # -- e-safety ----------------------------------------------------------------------------------

    def pieces(self) -> list[TuplePiece]:
        """What hangs together by constraints, published rows, new rows and rows of the secret."""
        conditions = list(self._conditions())
        published = [ways for rows in self.published for ways in rows.values()]
        new = [ways for rows in self.new for ways in rows.values()]
        secret = list(self.secret.items())
        groups = [list(one.tuples()) for one in (*conditions, *self.new_conditions)]
        groups += [
            [literal for way in ways for literal in way]
            for ways in (*published, *new, *self.secret.values())
        ]
        heads = parts(groups)
        found: dict[int, TuplePiece] = {}
        for one, head in sorted(heads.items()):
            piece = found.setdefault(head, TuplePiece((), [], [], [], [], []))
            piece.tuples = (*piece.tuples, one)
        for condition in conditions:
            found[heads[next(condition.tuples())]].conditions.append(condition)
        for condition in self.new_conditions:
            found[heads[next(condition.tuples())]].new_conditions.append(condition)
        for ways in published:
            found[heads[ways[0][0]]].published.append(ways)
        for ways in new:
            found[heads[ways[0][0]]].new.append(ways)
        for row, ways in secret:
            found[heads[ways[0][0]]].secret.append((row, ways))
        return list(found.values())


def open_rows(query: Query, store: TupleStore) -> Answers:
    """The rows that a query may have; a row that it always has tells nothing."""
    return {row: ways for row, ways in answers(query, store).items() if () not in ways}


def moved(piece: TuplePiece) -> OddsMove | None:
    """A database of a piece on which odds move, by enumeration; None where there is none.
    For pieces of few tuples only.

    Of all databases with the same published rows, those with the same new rows must have each
    secret in the same proportion.
    """
    if not piece.secret or not (piece.new or piece.new_conditions):
        return None
    assert len(piece.tuples) <= ENUMERATED
    counted: dict[bytes, dict[bytes, dict[bytes, int]]] = {}
    example: dict[tuple[bytes, bytes], int] = {}
    base = 0
    for chunk in chunks(piece.tuples):
        size = len(next(iter(chunk.values())))
        kept = satisfying_worlds(chunk, piece.conditions)
        published = _signature(chunk, piece.published, kept, size)
        fits = satisfying_worlds(chunk, piece.new_conditions)
        new = _signature(chunk, piece.new, kept, size)
        secret = _signature(chunk, [ways for _, ways in piece.secret], kept, size)
        numbers = np.flatnonzero(kept)
        for number, fit, one, two, three in zip(
            numbers, fits[kept], published, new, secret, strict=True
        ):
            name = (b"+" if fit else b"-") + two
            secrets = counted.setdefault(one, {}).setdefault(name, {})
            secrets[three] = secrets.get(three, 0) + 1
            example.setdefault((one, name), base + int(number))
        base += size
    return _first_moved(piece, counted, example)


def _first_moved(
    piece: TuplePiece,
    counted: dict[bytes, dict[bytes, dict[bytes, int]]],
    example: dict[tuple[bytes, bytes], int],
) -> OddsMove | None:
    rows = [row for row, _ in piece.secret]
    for published, by_new in counted.items():
        before: dict[bytes, int] = {}
        for secrets in by_new.values():
            for secret, number in secrets.items():
                before[secret] = before.get(secret, 0) + number
        for new, after in by_new.items():
            if not new.startswith(b"+"):
                continue
            first = next(iter(after))
            for secret, number in before.items():
                if after.get(secret, 0) * before[first] != after[first] * number:
                    number_of = example[published, new]
                    instance = frozenset(
                        one for at, one in enumerate(piece.tuples) if number_of >> at & 1
                    )
                    secrets_moved = tuple(
                        (_rows(one, rows), before[one], after.get(one, 0))
                        for one in (first, secret)
                    )
                    return OddsMove(instance, secrets_moved)
    return None


def _signature(
    chunk: dict[int, Any], found: Sequence[Sequence[Term]], kept: Any, size: int
) -> list[bytes]:
    if not found:
        return [b""] * int(kept.sum())
    bits = np.packbits(
        np.stack([any_of(chunk, ways, size)[kept] for ways in found], axis=1), axis=1
    )
    return [row.tobytes() for row in bits]


def _rows(bits: bytes, rows: Sequence[Tuple]) -> frozenset[Tuple]:
    there = np.unpackbits(np.frombuffer(bits, dtype=np.uint8)) if bits else ()
    return frozenset(row for row, bit in zip(rows, there, strict=False) if bit)


def shifted(condition: Condition, by: int) -> Condition:
    """The same condition on the second copy of the tuples."""
    if not by:
        return condition

    def move(term: Term) -> Term:
        return tuple(literal + by if literal > 0 else literal - by for literal in term)

    counts = tuple(
        Count(tuple(map(move, one.members)), one.low, one.high) for one in condition.counts
    )
    return Condition(tuple(map(move, condition.terms)), counts)


def interchangeable(setting: WorldSetting, universe: Universe) -> list[list[int]]:
    """Values that can be exchanged: no constant names them, and they
    may stand in the same columns.
    """
    named = {universe.numbering.of(value) for value in _constants(setting)}
    where: dict[int, set[Place]] = {}
    for place, values in universe.columns.items():
        for value in values:
            where.setdefault(value, set()).add(place)
    groups: dict[frozenset[Place], list[int]] = {}
    for value, places in sorted(where.items()):
        if value not in named and value != 0:
            groups.setdefault(frozenset(places), []).append(value)
    # Where < is used values are told apart by their order.
    return [] if has_order(setting) else [values for values in groups.values() if len(values) > 1]


def has_order(setting: WorldSetting) -> bool:
    """Does anything compare by < or <=?"""
    compared = [
        one for query in setting.queries() for part in query.parts for one in part.comparisons
    ]
    for dependency in setting.all_dependencies():
        compared += [
            *dependency.comparisons,
            *(one for way in dependency.alternatives for one in way.comparisons),
        ]
    return any(one.operator != "!=" for one in compared)


def _constants(setting: WorldSetting) -> Iterator[Any]:
    def of(query: Query) -> Iterator[Any]:
        for part in query.parts:
            terms = [*part.head, *(term for atom in part.atoms for term in atom.terms)]
            terms += [term for one in part.comparisons for term in (one.left, one.right)]
            yield from (term.value for term in terms if isinstance(term, Constant))

    for query in setting.queries():
        yield from of(query)
    for dependency in setting.all_dependencies():
        terms = [term for atom in dependency.atoms for term in atom.terms]
        terms += [term for one in dependency.comparisons for term in (one.left, one.right)]
        for one in dependency.alternatives:
            terms += [term for atom in one.atoms for term in atom.terms]
            terms += [term for pair in one.equalities for term in pair]
            terms += [term for each in one.comparisons for term in (each.left, each.right)]
        yield from (term.value for term in terms if isinstance(term, Constant))
