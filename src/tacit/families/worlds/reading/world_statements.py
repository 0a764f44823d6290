"""What a plan states in queries and constraints, as view safety reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tacit.errors import DataError, Mark, PlanError, QueryError, TacitError
from tacit.families.queries.datalog.dependencies import inclusion, keys_of, read_constraint
from tacit.families.queries.dependency import Dependency
from tacit.families.queries.query import (
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Term,
    Variable,
)
from tacit.families.queries.query_parameters import bound, is_mark, marked, parameters
from tacit.families.queries.reading.readings import Readings
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.model.release import Constraint, View
from tacit.model.schema import ForeignKey
from tacit.plan.plan import Plan


class Statements:
    """The views, secrets and constraints of a plan, each as one exact query or dependency."""

    def __init__(self, plan: Plan, readings: Readings) -> None:
        self.plan = plan
        self.readings = readings

    def view(self, name: str) -> Query | None:
        """The query of a view; None for a constraint."""
        if not isinstance(self.plan.releases[name], View):
            return None
        return exactly(self.readings.view(name), self.plan.mark("releases", name, "query"))

    def views(self, names: Sequence[str]) -> list[Query]:
        """The queries of those releases that are views."""
        return [query for name in names if (query := self.view(name)) is not None]

    def is_bag(self, name: str) -> bool:
        """Would a view be published with duplicate rows?"""
        exact = (
            self.readings.view(name).exact if isinstance(self.plan.releases[name], View) else None
        )
        return exact is not None and exact.bag and not shows_keys(exact, self.readings.relations())

    def dictionary_view(self, name: str) -> Query:
        """The view that shows a column's values."""
        table, _, column = name.rpartition(".")
        relation = self.readings.relations()[table]
        if column not in relation.columns:
            raise DataError(
                f"table {table!r} has no column {column!r}.",
                hint=f"Its columns are {', '.join(relation.columns)}.",
                mark=self.plan.mark("dictionary"),
            )
        terms = {one: Variable(one) for one in relation.columns}
        known = frozenset({terms[column]})
        return Query(
            f"{name} (its values)",
            (Conjunctive((terms[column],), (Atom(table, tuple(terms.values())),), known=known),),
        )

    def secret(self, name: str, values: Mapping[str, Any]) -> Query:
        """A secret, with values for its parameters."""
        try:
            return exactly(
                self.readings.read_as(bound(self.plan.secrets[name], values), name), None
            )
        except TacitError as error:
            raise error.at(self.plan.mark("secrets", name)) from None

    def example(self, name: str) -> Query:
        """A secret with variables in the place of its parameters:
        which tables it speaks of, and what it joins.
        """
        text = self.plan.secrets[name]
        if not parameters(text):
            return self.secret(name, {})
        try:
            query, values = marked(text, lambda one: self.readings.read_as(one, name))
        except TacitError as error:
            raise error.at(self.plan.mark("secrets", name)) from None
        if not query.parts:
            return self.secret(name, values)
        return Query(query.name, tuple(opened(part, values) for part in query.parts))

    def secret_columns(self, name: str) -> tuple[str, ...]:
        """What the columns of a secret are called; nothing where it has parameters."""
        return () if parameters(self.plan.secrets[name]) else self.readings.secret(name).columns

    def constraints(self, names: Sequence[str]) -> list[Dependency]:
        """What those releases say that are constraints."""
        return [one for name in names for one in self.constraint(name)]

    def constraint(self, name: str) -> tuple[Dependency, ...]:
        """What a release that is a constraint says; nothing for a view."""
        release = self.plan.releases[name]
        if not isinstance(release, Constraint):
            return ()
        return self._dependencies(release.constraint, "releases", name, "constraint")

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        """What everybody knows: constraints, keys, foreign keys."""
        relations = self.readings.relations()
        found = list(keys_of(relations))
        for table, keys in self.readings.known().foreign_keys.items():
            for one in keys:
                self._refuse_unknown(table, one)
                found.append(inclusion(table, one.columns, one.table, one.references, relations))
        for at, text in enumerate(self.plan.constraints):
            found += self._dependencies(text, "constraints", at)
        return tuple(found)

    def marked(self, names: Sequence[str]) -> Iterator[tuple[Dependency, Mark | None]]:
        """What everybody knows and what the named releases say, each with its place in the plan."""
        written = {
            one.text: ("constraints", at)
            for at, text in enumerate(self.plan.constraints)
            for one in self._dependencies(text, "constraints", at)
        }
        for one in self.dependencies:
            if one.text in written:
                yield one, self.plan.mark(*written[one.text])
            else:
                key = "key" if len(one.atoms) > 1 else "foreign-keys"
                yield one, self.plan.mark("tables", one.atoms[0].relation, key)
        for name in names:
            for one in self.constraint(name):
                yield one, self.plan.mark("releases", name, "constraint")

    def connected(
        self,
        releases: Sequence[str],
        secret: str,
        dictionary: Sequence[str],
        also: Sequence[str] = (),
    ) -> list[str]:
        """The tables that releases, a secret and dictionaries speak of, those in `also`, and all
        that constraints connect with them.
        """
        views, known, rules = self.views(releases), self.dependencies, self.constraints(releases)
        start = tables_of([*views, self.example(secret)], dictionary)
        start += [name for one in rules for name in one.relations()]
        return connected([*start, *also], [*known, *rules])

    def _dependencies(self, text: str, *path: str | int) -> tuple[Dependency, ...]:
        try:
            return read_constraint(text, self.readings.relations(), file="the constraint")
        except TacitError as error:
            raise QueryError(
                f"{text.strip()!r}: {error.message}",
                code=getattr(error, "code", "syntax"),
                hint=error.hint,
                mark=self.plan.mark(*path),
            ) from None

    def _refuse_unknown(self, table: str, key: ForeignKey) -> None:
        """A PlanError where a foreign key names a column that is not there."""
        relations = self.readings.relations()
        for name, columns in ((table, key.columns), (key.table, key.references)):
            for column in columns:
                if column not in relations[name].columns:
                    raise PlanError(
                        f"table {name!r} has no column {column!r}.",
                        hint=f"Its columns are {', '.join(relations[name].columns)}.",
                        mark=self.plan.mark("tables", table, "foreign-keys"),
                    )


def opened(part: Conjunctive, values: Mapping[str, Any]) -> Conjunctive:
    """A query with variables in the place of the values that stand for its parameters."""

    def put(term: Term) -> Term:
        return next(
            (Variable(f"${name}") for name, value in values.items() if is_mark(term, value)), term
        )

    return Conjunctive(
        tuple(map(put, part.head)),
        tuple(Atom(atom.relation, tuple(map(put, atom.terms))) for atom in part.atoms),
        tuple(Comparison(put(one.left), one.operator, put(one.right)) for one in part.comparisons),
        part.known,
    )


def shows_keys(query: Query, relations: Mapping[str, Relation]) -> bool:
    """Does every row of an answer tell the rows that it comes from? Then no row is there twice.

    >>> x, y = Variable("x"), Variable("y")
    >>> relations = {"R": Relation("R", ("a", "b"), keys=(("a",),))}
    >>> [
    ...     shows_keys(
    ...         Query("V", (Conjunctive((one,), (Atom("R", (x, y)),)),), bag=True), relations
    ...     )
    ...     for one in (x, y)
    ... ]
    [True, False]
    """
    if len(query.parts) != 1:
        return False
    [part] = query.parts
    for atom in part.atoms:
        terms = dict(zip(relations[atom.relation].columns, atom.terms, strict=True))
        keys = relations[atom.relation].keys
        if not any(
            all(isinstance(terms[name], Constant) or terms[name] in part.head for name in key)
            for key in keys
        ):
            return False
    return True


def tables_of(queries: Sequence[Query], dictionary: Sequence[str]) -> list[str]:
    """The tables that queries and dictionaries speak of."""
    names = [atom.relation for query in queries for part in query.parts for atom in part.atoms]
    return list(dict.fromkeys([*names, *(name.rpartition(".")[0] for name in dictionary)]))


def connected(start: Sequence[str], dependencies: Sequence[Dependency]) -> list[str]:
    """Tables that queries speak of, and all that constraints connect with them."""
    found = list(dict.fromkeys(start))
    grown = True
    while grown:
        more = [
            name
            for one in dependencies
            if set(found) & set(one.relations())
            for name in one.relations()
            if name not in found
        ]
        found += dict.fromkeys(more)
        grown = bool(more)
    return found


def exactly(reading: QueryUnderstanding, mark: Mark | None) -> Query:
    """The query itself; one that is not a union of conjunctive queries is refused."""
    if reading.exact is not None:
        return replace(reading.exact, bag=False)  # views and secrets are sets here
    first = reading.approximations[0]
    raise QueryError(
        f"{reading.name} is outside what view safety reads: {' '.join(first.fragment.split())} "
        f"({first.text}).",
        code=first.code,
        hint="Use joins, constants, =, !=, UNION; ask perfect-privacy about the rest.",
        mark=mark,
    )
