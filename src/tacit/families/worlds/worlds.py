"""Worlds: a setting as conditions on its possible tuples, and the
questions that are asked of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tacit.families.queries.dependency import Dependency
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Query
from tacit.families.worlds.counting import TuplePart, split
from tacit.families.worlds.formula import Condition, Impossible, Propagation, Term, parts
from tacit.families.worlds.grounding import Answers, answered, answers, grounded, left_of
from tacit.families.worlds.matching import Tuple, TupleStore
from tacit.families.worlds.nearby import Index, Nearby
from tacit.families.worlds.possible_tuples import possible
from tacit.families.worlds.universe import Universe, ValueNumbering, universe_of
from tacit.families.worlds.world_setting import PublishedView, Row, WorldSetting
from tacit.families.worlds.world_solver import NoWorld, find

KEPT_ANSWERS = 8  # of a grounding


@dataclass(slots=True)
class Base:
    """The worlds before: possible tuples, and what constraints and published views say of them.

    It is the same for every new view and every secret over the same values, so it is made once.
    """

    universe: Universe
    store: TupleStore
    known: Propagation
    after: dict[object, list[Condition]] = field(default_factory=dict)
    ruled_out: dict[object, frozenset[int] | None] = field(default_factory=dict)
    _answers: dict[Query, Answers] = field(default_factory=dict)
    _index: Index | None = None
    _connected: dict[int, int] | None = None

    def answers(self, query: Query) -> Answers:
        """The rows that a query may have, with the ways to have them;
        the last few queries are kept.
        """
        found = self._answers.pop(query, None)
        self._answers[query] = found = answers(query, self.store) if found is None else found
        while len(self._answers) > KEPT_ANSWERS:
            del self._answers[next(iter(self._answers))]
        return found

    @property
    def connected(self) -> dict[int, int]:
        """Which tuples hang together by what is known."""
        if self._connected is None:
            self._connected = parts(one.tuples() for one in self.known.conditions)
        return self._connected

    @property
    def index(self) -> Index:
        """The conditions by the literals in them."""
        if self._index is None:
            self._index = Index.of(self.known.conditions)
        return self._index

    @classmethod
    def of(cls, setting: WorldSetting) -> Base:
        """Ground what is known; raises NoWorld, or TooMany."""
        universe = universe_of(setting)
        found = possible(setting, universe)
        store = found.store
        conditions = [
            one
            for dependency in setting.dependencies
            for one in found.conditions(dependency, setting.relations)
        ]
        for seen in setting.published:
            conditions += answered(answers(seen.query, store), seen.rows, store)
        try:
            return cls(universe, store, Propagation.of(conditions))
        except Impossible:
            raise NoWorld from None


@dataclass(slots=True)
class Bases:
    """The last few groundings: a second question about the same
    published views does not start again.
    """

    most: int = 4
    kept: dict[object, Base] = field(default_factory=dict)

    def of(self, setting: WorldSetting) -> Base:
        """The grounding of a setting, made now or before."""
        key = _key(setting)
        base = self.kept.pop(key, None) or Base.of(setting)
        self.kept[key] = base
        while len(self.kept) > self.most:
            del self.kept[next(iter(self.kept))]
        return base


BASES = Bases()


def _key(setting: WorldSetting) -> object:
    """What a grounding depends on: everything that is known, and the
    values that the rest brings in.
    """
    values = universe_of(setting)
    plain = tuple(
        sorted(
            (place, tuple(map(repr, values.numbering.plain(numbers))))
            for place, numbers in values.columns.items()
        )
    )
    relations = tuple(
        (
            one.name,
            one.columns,
            one.nullable,
            tuple(sorted((name, tuple(map(repr, domain))) for name, domain in one.domains.items())),
        )
        for one in setting.relations.values()
    )
    return relations, setting.dependencies, setting.published, plain


class SettingWorlds:
    """The worlds of a setting before and after the new views, and the secrets they give."""

    def __init__(self, setting: WorldSetting, bases: Bases = BASES) -> None:
        self.setting = setting
        self.base = bases.of(setting)
        self.store = self.base.store
        self._propagation = self.base.known
        self._nearby: Nearby | None = None
        self._new = setting.new, setting.new_dependencies, setting.instance
        try:
            if self._new not in self.base.after:
                self.base.after[self._new] = self._simplified(self._after_conditions())
        except Impossible:
            raise NoWorld from None
        self.after = self.base.after[self._new]

    def _after_conditions(self) -> Iterable[Condition]:
        for dependency in self.setting.new_dependencies:
            yield from grounded(dependency, self.store, self.setting.relations)
        for seen in self.setting.new:
            yield from answered(self.base.answers(seen.query), seen.rows, self.store)

    def _simplified(self, conditions: Iterable[Condition]) -> list[Condition]:
        found = (self._propagation.simplified(one) for one in conditions)
        return list(dict.fromkeys(one for one in found if one is not None))

    @property
    def before(self) -> list[Condition]:
        """What every world satisfies, without what is fixed."""
        return self._propagation.conditions

    @cached_property
    def actual(self) -> frozenset[int] | None:
        """The tuples of the data."""
        if self.setting.instance is None:
            return None
        mentioned = set(self.setting.mentioned())
        rows = [
            (fact.relation, self.store.numbering.row(fact.values))
            for fact in self.setting.instance
            if fact.relation in mentioned
        ]
        return frozenset(self.store.numbers[row] for row in rows)

    @cached_property
    def _secret(self) -> dict[Tuple, tuple[tuple[Term, ...], bool]]:
        return left_of(self.base.answers(self.setting.secret), self._propagation)

    @cached_property
    def secret(self) -> dict[Tuple, tuple[Term, ...]]:
        """The rows that the secret may have and may not have, with the ways to have each."""
        return {row: ways for row, (ways, sure) in self._secret.items() if not sure}

    @cached_property
    def sure(self) -> frozenset[Tuple]:
        """The rows that the secret has in every world."""
        return frozenset(row for row, (_, sure) in self._secret.items() if sure)

    def secret_of(self, world: frozenset[int]) -> frozenset[Tuple]:
        """The answer of the secret in a world, without the rows that are sure."""
        return frozenset(
            row for row, ways in self.secret.items() if any(self._true(way, world) for way in ways)
        )

    @staticmethod
    def _true(way: Term, world: frozenset[int]) -> bool:
        return all(literal in world if literal > 0 else -literal not in world for literal in way)

    def stays(self) -> frozenset[int]:
        """A world after: the data, or any where there are none.
        Raises NoWorld where there is none.
        """
        if self.actual is not None:
            return self.actual
        found = self.some(self.after)
        if found is None:
            raise NoWorld
        return found

    # -- questions ---------------------------------------------------------------------------------

    def ruled_out(self) -> frozenset[int] | None:
        """A world before that is none after, or None where all stay.
        It is the same for every secret.
        """
        if self._new not in self.base.ruled_out:
            self.base.ruled_out[self._new] = self.breaking(self.after) if self.after else None
        return self.base.ruled_out[self._new]

    def other_secret(self, than: frozenset[Tuple]) -> frozenset[int] | None:
        """A world before in which the secret is another one, or None."""
        broken = self.having(than)
        return self.breaking(broken) if broken else None

    def having(self, secret: frozenset[Tuple]) -> list[Condition]:
        """Conditions that hold where the secret is this one (beside the sure rows)."""
        found = [Condition(ways) for row, ways in self.secret.items() if row in secret]
        return found + [
            Condition(tuple((-literal,) for literal in way))
            for row, ways in self.secret.items()
            if row not in secret
            for way in ways
        ]

    def breaking(self, broken: Sequence[Condition]) -> frozenset[int] | None:
        """A world before in which one of some conditions is broken;
        only what hangs together with them is solved for.
        """
        return self._around().breaking(broken)

    def _around(self) -> Nearby:
        if self._nearby is None:
            known = self.actual
            if known is None:
                known = self.some(())
                if known is None:
                    raise NoWorld
            self._nearby = Nearby(self.base.index, known)
        return self._nearby

    def some(self, conditions: Sequence[Condition]) -> frozenset[int] | None:
        """A world before that satisfies more conditions, or None;
        tuples that nothing speaks of are not there.
        """
        found = find([*self.before, *conditions], like=self.actual or frozenset())
        if found is None:
            return None
        return found | {one for one, there in self._propagation.fixed.items() if there}

    # -- counting ----------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> list[TuplePart]:
        """What hangs together: before, after, and in the secret."""
        return split(self.before, self.after, self.secret, self.base.connected)

    @property
    def free(self) -> int:
        """The number of tuples that may be there or not, whatever else."""
        return (
            len(self.store.facts)
            - len(self._propagation.fixed)
            - sum(len(part.tuples) for part in self.parts)
        )

    @property
    def undetermined(self) -> int:
        """The number of tuples that are not fixed."""
        return len(self.store.facts) - len(self._propagation.fixed)

    # -- words -------------------------------------------------------------------------------------

    def facts(self, world: Iterable[int]) -> list[Fact]:
        """The rows of a world."""
        numbering = self.store.numbering
        return [
            Fact(name, numbering.plain(row))
            for one in sorted(world)
            for name, row in [self.store.facts[one - 1]]
        ]

    def rows(self, secret: Iterable[Tuple]) -> list[tuple[object, ...]]:
        """The rows of a secret, with the sure ones."""
        return sorted((self.store.numbering.plain(row) for row in {*secret, *self.sure}), key=repr)


def violations(dependency: Dependency, setting: WorldSetting, most: int = 5) -> list[list[Fact]]:
    """Rows of the data that a dependency forbids together, or that lack what it asks for."""
    assert setting.instance is not None
    only = WorldSetting(
        setting.relations, (dependency,), (), (), setting.secret, instance=setting.instance
    )
    universe = universe_of(only)
    store = _stored(only, dict.fromkeys(dependency.relations()), universe.numbering)
    everything = frozenset(range(1, len(store.facts) + 1))
    found: list[list[Fact]] = []
    for condition in grounded(dependency, store, setting.relations):
        if not condition.holds(everything):
            rows = [-term[0] for term in condition.terms if len(term) == 1 and term[0] < 0]
            rows += [
                literal
                for count in condition.counts
                if not count.low
                for member in count.members
                for literal in member
            ]
            found.append(
                [
                    Fact(store.facts[one - 1][0], universe.numbering.plain(store.facts[one - 1][1]))
                    for one in dict.fromkeys(rows)
                ]
            )
            if len(found) == most:
                break
    return found


def answer(query: Query, setting: WorldSetting) -> frozenset[Row]:
    """The rows of a query on the data."""
    only = WorldSetting(
        setting.relations,
        (),
        (),
        (PublishedView(query, frozenset()),),
        query,
        instance=setting.instance,
    )
    numbering = universe_of(only).numbering
    found = answers(query, _stored(only, only.mentioned(), numbering))
    return frozenset(map(numbering.plain, found))


def _stored(
    setting: WorldSetting, relations: Iterable[str], numbering: ValueNumbering
) -> TupleStore:
    """The rows of the data."""
    assert setting.instance is not None
    store = TupleStore(numbering)
    for name in relations:
        rows = (fact.values for fact in setting.instance if fact.relation == name)
        store.add(name, sorted({numbering.row(values) for values in rows}))
    return store
