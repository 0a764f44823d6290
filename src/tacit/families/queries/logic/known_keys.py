"""Known keys: what queries say where everybody knows which keys there are.

Given the set of keys of a relation, the row of each key is a choice of its own, and a foreign key
into it is a condition on single rows: the choices stay independent of each other. So two queries
disclose each other if and only if, for some set of keys, the answers of both depend on the row of
one key (or on one row of a relation whose keys are not known): for product measures this is the
argument of Miklau and Suciu, with choices of many values in the place of rows that are there or
not. That a key is there depends on nothing.

`reduced` writes a query so that it says which of its subgoals ask for nothing but a key. The
reduced queries are judged over more databases than there can be, so what is private there is
private. What is disclosed there is shown by `shown` on databases that there can be, or is not
decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice, product
from typing import TYPE_CHECKING, Any

from tacit.families.queries.facts import Fact
from tacit.families.queries.query import (
    NULL,
    Atom,
    Conjunctive,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)
from tacit.model.deadline import look

if TYPE_CHECKING:  # every plan has known keys, and few ask about queries
    from tacit.families.queries.logic.critical import Disclosed

MOST_TRIES = 200  # ways to fill in the rows of which a disclosure says nothing


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The relations of which everybody knows which keys there are, with the column of the key;
    `foreign` are columns whose values are such keys: relation, column, the relation of the key.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    foreign: tuple[tuple[str, str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.columns)


def known_keys(
    dictionary: Sequence[str],
    relations: Relations,
    foreign: Sequence[tuple[str, tuple[str, ...], str, tuple[str, ...]]],
) -> KnownKeys:
    """The keys among the columns whose values everybody knows: a column that is the only key of
    its table. `foreign` are foreign keys: table, columns, table, columns.

    >>> pair = ("id", "name")
    >>> both = {"P": Relation("P", pair, (("id",),)), "S": Relation("S", pair)}
    >>> known_keys(["P.id", "P.name", "S.id"], both, [("S", ("id",), "P", ("id",))])
    KnownKeys(columns={'P': 'id'}, foreign=(('S', 'id', 'P'),))
    """
    columns = {}
    for name in dictionary:
        table, _, column = name.rpartition(".")
        relation = relations.get(table)
        if relation is not None and relation.keys == ((column,),) and not relation.uniques:
            columns[table] = column
    return KnownKeys(
        columns,
        tuple(
            dict.fromkeys(
                (table, here[0], other)
                for table, here, other, there in foreign
                if table in relations and columns.get(other) is not None
                if there == (columns[other],)
            )
        ),
    )


def keys_of(relation: str) -> str:
    """The relation of the keys that there are; no table is called so."""
    return f"keys of {relation}"


def with_keys(relations: Relations, known: KnownKeys) -> Relations:
    """The relations, with one of its keys for each whose keys are known."""
    return {
        **relations,
        **{keys_of(name): _keys(relations[name], column) for name, column in known.columns.items()},
    }


def _keys(relation: Relation, column: str) -> Relation:
    domains = {column: relation.domains[column]} if column in relation.domains else {}
    kinds = {column: relation.kinds[column]} if column in relation.kinds else {}
    return Relation(keys_of(relation.name), (column,), domains=domains, kinds=kinds)


# -- queries that say where they ask for a key -----------------------------------------------------


def reduced(query: Query, relations: Relations, known: KnownKeys) -> Query:
    """The query with subgoals that ask for nothing but a key said so; those that follow from
    others by a foreign key are left out. On all databases that there can be it answers the same.

    >>> from tacit.families.queries.query import Variable
    >>> pair = ("id", "name")
    >>> both = {"P": Relation("P", pair, (("id",),)), "S": Relation("S", ("id", "ill"))}
    >>> x, y, z = map(Variable, "xyz")
    >>> part = Conjunctive((z,), (Atom("P", (x, y)), Atom("S", (x, z))))
    >>> print(reduced(Query("V", (part,)), both, KnownKeys({"P": "id"})))
    V(z) :- S(x, z), keys of P(x)
    >>> print(reduced(Query("V", (part,)), both, KnownKeys({"P": "id"}, (("S", "id", "P"),))))
    V(z) :- S(x, z)
    """
    if not known:
        return query
    parts = tuple(_reduced(part, relations, known) for part in query.parts)
    return replace(query, parts=parts)


def _reduced(part: Conjunctive, relations: Relations, known: KnownKeys) -> Conjunctive:
    while True:
        atoms = _without_followers(
            tuple(_key_alone(atom, part, relations, known) for atom in part.atoms),
            part.known,
            relations,
            known,
        )
        if atoms == part.atoms:
            return part
        part = replace(part, atoms=atoms)


def _key_alone(atom: Atom, part: Conjunctive, relations: Relations, known: KnownKeys) -> Atom:
    """The subgoal, or that its key is there where it asks for nothing else."""
    column = known.columns.get(atom.relation)
    if column is None:
        return atom
    relation = relations[atom.relation]
    at = relation.columns.index(column)
    often = Counter(_terms(part))
    for name, term in zip(relation.columns, atom.terms, strict=True):
        if name == column:
            continue
        says = name in relation.nullable and term in part.known
        if not isinstance(term, Variable) or often[term] > 1 or says:
            return atom
    return Atom(keys_of(atom.relation), (atom.terms[at],))


def _terms(part: Conjunctive) -> Iterator[Term]:
    yield from part.head
    for atom in part.atoms:
        yield from atom.terms
    for one in part.comparisons:
        yield from (one.left, one.right)


def _without_followers(
    atoms: tuple[Atom, ...], never: frozenset[Variable], relations: Relations, known: KnownKeys
) -> tuple[Atom, ...]:
    """The subgoals without keys that are there because of another subgoal; what asks for nothing
    but keys stands last.
    """
    there = {
        (keys_of(atom.relation), _term(atom, known.columns[atom.relation], relations))
        for atom in atoms
        if atom.relation in known.columns
    }
    for table, column, other in known.foreign:
        for atom in atoms:
            if atom.relation == table:
                term = _term(atom, column, relations)
                if term in never or (
                    term != NULL
                    and (not isinstance(term, Variable) or column not in relations[table].nullable)
                ):
                    there.add((keys_of(other), term))
    listed = {keys_of(name) for name in known.columns}
    first = [atom for atom in atoms if atom.relation not in listed]
    last = [
        atom
        for atom in atoms
        if atom.relation in listed and (atom.relation, atom.terms[0]) not in there
    ]
    return (*first, *dict.fromkeys(last))


def _term(atom: Atom, column: str, relations: Relations) -> Term:
    return atom.terms[relations[atom.relation].columns.index(column)]


# -- disclosures on databases that there can be ----------------------------------------------------


def shown(
    found: Disclosed, secret: Query, view: Query, relations: Relations, known: KnownKeys
) -> Disclosed | None:
    """The same disclosure on databases with one set of keys, which satisfy the foreign keys;
    None where the answers do not change there.
    """
    rows = _Rows(relations, known)
    listed = {keys_of(name): name for name in known.columns}
    for fact in (
        *found.instance_secret,
        *found.instance_view,
        found.secret_tuple,
        found.view_tuple,
        *found.path,
    ):
        rows.take(fact, listed)
    rows.close()
    sides = [
        (query, [fact for fact in instance if fact.relation not in listed], row)
        for query, instance, row in (
            (secret, found.instance_secret, found.secret_tuple),
            (view, found.instance_view, found.view_tuple),
        )
    ]
    made = [rows.side(*side) for side in sides]
    if made[0] is None or made[1] is None:
        return None
    return replace(
        found,
        instance_secret=made[0][0],
        instance_view=made[1][0],
        instead_secret=made[0][1],
        instead_view=made[1][1],
    )


class _Rows:
    """One set of keys, and rows to stand where a database must have one."""

    def __init__(self, relations: Relations, known: KnownKeys) -> None:
        self.relations = relations
        self.known = known
        self.keys: dict[str, dict[Any, None]] = {name: {} for name in known.columns}
        self.spare: dict[tuple[str, str], Any] = {}  # what rows refer to that are filled in
        self.values: set[Any] = set()
        self.numbers = count(1)

    def take(self, fact: Fact, listed: Mapping[str, str]) -> None:
        """Have the keys that a row needs."""
        self.values.update(fact.values)
        if fact.relation in listed:
            self.keys[listed[fact.relation]][fact.values[0]] = None
            return
        columns = self.relations[fact.relation].columns
        if fact.relation in self.keys:
            at = columns.index(self.known.columns[fact.relation])
            self.keys[fact.relation][fact.values[at]] = None
        for table, column, other in self.known.foreign:
            if table == fact.relation:
                value = fact.values[columns.index(column)]
                if value is not None:
                    self.keys[other][value] = None

    def close(self) -> None:
        """Have a key for every reference of a row that is filled in."""
        waiting = [name for name, keys in self.keys.items() if keys]
        while waiting:
            name = waiting.pop()
            for table, column, other in self.known.foreign:
                domain = self.relations[other].domains.get(self.known.columns[other])
                if table != name or (other, column) in self.spare:
                    continue
                if self.keys[other] and domain is not None:
                    continue
                key = domain[0] if domain is not None else self._fresh()
                self.spare[other, column] = key
                self.keys[other][key] = None
                waiting.append(other)

    def _fresh(self) -> str:
        """A value that occurs nowhere."""
        while (value := f"_fresh{next(self.numbers)}") in self.values:
            pass
        self.values.add(value)
        return value

    def fillers(self, name: str, key: Any) -> Iterator[Fact]:
        """Rows with a key of which nothing else matters, those first that are like no other."""
        relation = self.relations[name]
        refers = {column: other for table, column, other in self.known.foreign if table == name}
        options: list[list[Any]] = []
        for column in relation.columns:
            missing = [None] if column in relation.nullable else []
            if column == self.known.columns[name]:
                options.append([key])
            elif column in refers:
                options.append([*reversed(self.keys[refers[column]]), *missing])
            elif (domain := relation.domains.get(column)) is not None:
                options.append([*sorted(domain, key=self.values.__contains__), *missing])
            else:
                options.append([self._fresh(), *missing])
        return (Fact(name, values) for values in product(*options))

    def side(
        self, query: Query, own: Sequence[Fact], row: Fact
    ) -> tuple[tuple[Fact, ...], Fact | None] | None:
        """The rows beside `row`, and the one in whose place it stands;
        None where the query's answer was not seen to change.
        """
        from tacit.families.queries.evaluate import answers

        has = {(fact.relation, self._key(fact)) for fact in (*own, row)}
        missing = [
            (name, key)
            for name, keys in self.keys.items()
            for key in keys
            if (name, key) not in has
        ]
        swaps = row.relation in self.keys
        if swaps:
            missing.append((row.relation, self._key(row)))
        # A wide table has too many rows to list: no more of them are tried than there are tries.
        some = [islice(self.fillers(*one), MOST_TRIES) for one in missing]
        for filled in islice(product(*some), MOST_TRIES):
            look()
            others = (*own, *(filled[:-1] if swaps else filled))
            without = (*own, *filled)
            if self._refer(*without, row) and answers(query, without) != answers(
                query, (*others, row)
            ):
                return others, filled[-1] if swaps else None
        return None

    def _refer(self, *facts: Fact) -> bool:
        """Are all references to known keys to keys that are there?"""
        return all(
            value is None or value in self.keys[other]
            for fact in facts
            for table, column, other in self.known.foreign
            if table == fact.relation
            for value in (fact.values[self.relations[table].columns.index(column)],)
        )

    def _key(self, fact: Fact) -> Any:
        column = self.known.columns.get(fact.relation)
        if column is None:
            return None
        return fact.values[self.relations[fact.relation].columns.index(column)]
