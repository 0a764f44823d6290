"""From a plan's check to a question of view safety: the data, what everybody knows, who sees what, which secrets."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, count, islice, product
from math import prod
from typing import TYPE_CHECKING, Any

from tacit.definitions.words import listed
from tacit.errors import DataError, InputError, PlanError, QueryError, TacitError
from tacit.model.release import Constraint, View
from tacit.model.verdict import Assumption
from tacit.plan.references import LEDGER
from tacit.queries.dependencies import inclusion, keys_of, read_constraint
from tacit.queries.dependency import Dependency
from tacit.queries.facts import Fact
from tacit.queries.families import doubtful
from tacit.queries.parameters import bound, is_mark, marked, parameters, places
from tacit.queries.query import (
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Term,
    Variable,
)
from tacit.queries.reading import Reading
from tacit.queries.termination import refuse_endless
from tacit.readings import Readings, no_nulls, untyped
from tacit.view_data import ViewData, violated
from tacit.worlds.question import SafetyCase, SafetyQuestion
from tacit.worlds.setting import Seen, Setting
from tacit.worlds.universe import UNSEEN, unbounded, universe_of
from tacit.worlds.worlds import answer, violations

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.errors import Mark
    from tacit.plan.plan import Check, Plan

AS_SETS = Assumption("published-as-sets", "views are published without duplicate rows", "no")
NO_OTHER_VIEW = Assumption("no-other-release", "nothing else is out", "no")
MOST_CASES = 2_000
MOST_TOGETHER = 6  # clients in a group that colludes
FIRST = dt.datetime(1777, 7, 7)
MOST_BESIDE = 64  # possible rows of a table that does not matter and is counted all the same
EMPTY = Query("", ())

Sees = tuple[tuple[str, ...], list[str], list[str]]  # clients, what they have seen, what they would see


class ViewQuestions:
    """The questions of a plan about view safety. Tables are read once, and only those that a question speaks of."""

    def __init__(self, plan: Plan, readings: Readings, engine: Callable[[], Engine]) -> None:
        self.plan = plan
        self.readings = readings
        self.data = ViewData(plan, readings, engine)

    def question(self, check: Check, only: Sees | None = None) -> SafetyQuestion:
        """The question that a check asks, of everybody or `only` of one adversary, with what they have seen and would see."""
        over = str(check.parameters.get("over", "instance"))
        given = self._given(check) if only is None else only[1]
        try:
            adversaries = list(self._adversaries(check, given)) if only is None else [only]
            cases = tuple(self._cases(check, given, over, adversaries))
        except TacitError as error:
            raise error.at(self.plan.mark(*check.path)) from None
        bags = [name for name in (*given, *check.releases) if self._is_bag(name)]
        assumed = (NO_OTHER_VIEW, *((AS_SETS,) if bags else ()), *no_nulls(self.plan.tables.values()), *untyped(self.readings.relations()))
        warnings = (f"{listed(bags)} would be published with duplicate rows: write SELECT DISTINCT, or publish {'it' if len(bags) == 1 else 'them'} as a set",) if bags else ()
        columns = self._secret_columns(str(check.secret))
        return SafetyQuestion(str(check.secret), check.releases, tuple(given), cases, columns, self.plan.fresh, assumed, warnings)

    # -- who sees what ----------------------------------------------------------------------------------

    def _given(self, check: Check) -> list[str]:
        given = self.plan.published if check.given is None else check.given
        for name in given:
            if name == LEDGER:
                raise PlanError("what the ledger holds is not looked at here.", hint="Ask tacit check, or name the releases that are out.", mark=self.plan.mark("published"))
            release = self.plan.releases[name]
            if not isinstance(release, View | Constraint):
                hint = "Name views and constraints; leave microdata and synthetic data out."
                raise PlanError(f"{check.kind} takes views and constraints as published, and {name!r} is neither.", hint=hint, mark=self.plan.mark(*check.path))
        # What is asked about is not out yet.
        return [name for name in given if name not in check.releases]

    def _adversaries(self, check: Check, given: Sequence[str]) -> Iterator[Sees]:
        """Clients, alone or together, with what they have seen and what they would see; the public is nobody."""
        to = {name: set(self.plan.releases[name].to) for name in (*given, *check.releases)}
        clients = sorted(set().union(*to.values())) if to else []
        for group in check.collude:
            for client in group:
                if client not in clients:
                    known = ", ".join(clients) or "none: add `to:` to releases"
                    raise PlanError(f"no release goes to {client!r}.", hint=f"Clients are {known}.", mark=self.plan.mark(*check.path, "collude"))
        if any(len(group) > MOST_TOGETHER for group in check.collude):
            raise PlanError(
                f"more than {MOST_TOGETHER} clients collude.", hint="Name smaller groups: all parts of a group are asked about.",
                mark=self.plan.mark(*check.path, "collude"),
            )  # fmt: skip
        # Who may collude may also not: knowing more can make a release harmless that tells some of them something.
        parts = [part for group in check.collude for many in range(len(group), 1, -1) for part in combinations(group, many)]
        groups = [(), *dict.fromkeys(parts), *((client,) for client in clients)]
        for group in groups:
            seen = [name for name in given if not to[name] or to[name] & set(group)]
            new = [name for name in check.releases if not to[name] or to[name] & set(group)]
            if new:
                yield tuple(group), seen, new

    # -- cases ------------------------------------------------------------------------------------------

    def connected(self, check: Check, also: Sequence[str] = ()) -> list[str]:
        """The tables that a check speaks of, those in `also`, and all that constraints connect with them."""
        text = self.plan.secrets[str(check.secret)]
        queries = [query for name in check.releases if (query := self._view(name)) is not None]
        start = tables_of([*queries, self._example(str(check.secret), text)], [*self.plan.dictionary, *check.dictionary])
        rules = [one for name in check.releases for one in self._constraint(name)]
        start += [name for one in rules for name in one.relations()]
        return connected([*start, *also], [*self.dependencies, *rules])

    def _cases(self, check: Check, given: Sequence[str], over: str, adversaries: Sequence[Sees]) -> Iterator[SafetyCase]:
        text = self.plan.secrets[str(check.secret)]
        dictionary = [*self.plan.dictionary, *check.dictionary]
        queries = [query for name in (*given, *check.releases) if (query := self._view(name)) is not None]
        dependencies = [*self.dependencies, *(one for name in (*given, *check.releases) for one in self._constraint(name))]
        start = tables_of([*queries, self._example(str(check.secret), text)], dictionary)
        start += [name for one in (*given, *check.releases) for each in self._constraint(one) for name in each.relations()]
        mentioned = connected(start, dependencies)
        # Tables that nothing connects with the question do not matter; small ones are counted all the same.
        also = [name for name, one in self.readings.relations().items() if name not in mentioned and (possible_rows(one) or MOST_BESIDE + 1) <= MOST_BESIDE]
        mentioned = [*mentioned, *also]
        instance = self._instance(mentioned, over, given, check)
        values = self._values(text, self._setting(given, check.releases, dictionary, instance, over, check, mentioned), check)
        secrets = [(one, self._read_secret(str(check.secret), bound(text, one))) for one in values]
        everything = [*queries, *(query for _, query in secrets)]
        self._check_types(everything)
        for who, seen, new in adversaries:
            base = self._setting(seen, new, dictionary, instance, over, check, mentioned)
            named = [*seen, *(f"{name} (its values)" for name in dictionary)]
            for one, query in secrets:
                setting = replace(base, secret=query, values=self._parameter_values(text, values))
                self._check_order(setting)
                self._check_endless(setting, over)
                yield SafetyCase(setting, who, tuple(named), tuple(new), one)

    def _setting(
        self, seen: Sequence[str], new: Sequence[str], dictionary: Sequence[str], instance: frozenset[Fact] | None, over: str, check: Check,
        mentioned: Sequence[str],
    ) -> Setting:  # fmt: skip
        relations = self.readings.relations()
        known = (*self.dependencies, *(one for name in seen for one in self._constraint(name)))
        matter = tuple(one for one in known if set(one.relations()) <= set(mentioned))
        setting = Setting(relations, matter, (), (), EMPTY, instance=instance, also=tuple(mentioned))
        published = [self._seen(name, setting, over, check) for name in seen if self._view(name) is not None]
        published += [self._answered(self._dictionary_view(name), setting, over) for name in dictionary]
        return replace(
            setting,
            published=tuple(published),
            new=tuple(self._seen(name, setting, over, check) for name in new if self._view(name) is not None),
            new_dependencies=tuple(one for name in new for one in self._constraint(name)),
        )

    def _answered(self, query: Query, setting: Setting, over: str) -> Seen:
        if over != "instance":
            return Seen(query, frozenset())
        if setting.instance is None:
            raise DataError(f"the answer of {query.name} is not known, because the tables have no rows.", hint="Give rows or a file to the tables.")
        return Seen(query, answer(query, setting))

    def _seen(self, name: str, setting: Setting, over: str, check: Check) -> Seen:
        """A view with its answer: that of its file, or what the data give."""
        query, release = self._view(name), self.plan.releases[name]
        assert query is not None and isinstance(release, View)
        if release.answer is None or over != "instance":
            return self._answered(query, setting, over)
        rows = self.data.answer(release, query)
        if setting.instance is not None and (found := answer(query, setting)) != rows:
            strange = sorted(map(str, found ^ rows))[0]
            raise DataError(
                f"{release.answer} is not what the data give for {name!r}: they differ in the row {strange}.",
                hint="Correct the file, or leave `answer` out.", mark=self.plan.mark("releases", name, "answer"),
            )  # fmt: skip
        return Seen(query, rows)

    def _has_answer(self, name: str) -> bool:
        release = self.plan.releases[name]
        return isinstance(release, View) and release.answer is not None

    # -- queries and constraints ------------------------------------------------------------------------

    def _view(self, name: str) -> Query | None:
        """The query of a view; None for a constraint."""
        if not isinstance(self.plan.releases[name], View):
            return None
        return exactly(self.readings.view(name), self.plan.mark("releases", name, "query"))

    def _is_bag(self, name: str) -> bool:
        """Would a view be published with duplicate rows?"""
        exact = self.readings.view(name).exact if isinstance(self.plan.releases[name], View) else None
        return exact is not None and exact.bag and not shows_keys(exact, self.readings.relations())

    def _read_secret(self, name: str, text: str) -> Query:
        try:
            reading = self.readings.read_as(text, name)
            return exactly(reading, None)
        except TacitError as error:
            raise error.at(self.plan.mark("secrets", name)) from None

    def _example(self, name: str, text: str) -> Query:
        """The secret with variables in the place of its parameters: which tables it speaks of, and what it joins."""
        if not parameters(text):
            return self._read_secret(name, text)
        try:
            query, values = marked(text, lambda one: self.readings.read_as(one, name))
        except TacitError as error:
            raise error.at(self.plan.mark("secrets", name)) from None
        if not query.parts:
            return self._read_secret(name, bound(text, values))
        return Query(query.name, tuple(opened(part, values) for part in query.parts))

    def _secret_columns(self, name: str) -> tuple[str, ...]:
        text = self.plan.secrets[name]
        return () if parameters(text) else self.readings.secret(name).columns

    def _dictionary_view(self, name: str) -> Query:
        """The view that shows a column's values."""
        table, _, column = name.rpartition(".")
        relation = self.readings.relations()[table]
        if column not in relation.columns:
            raise DataError(f"table {table!r} has no column {column!r}.", hint=f"Its columns are {', '.join(relation.columns)}.", mark=self.plan.mark("dictionary"))
        terms = {one: Variable(one) for one in relation.columns}
        known = frozenset({terms[column]})
        return Query(f"{name} (its values)", (Conjunctive((terms[column],), (Atom(table, tuple(terms.values())),), known=known),))

    def _constraint(self, name: str) -> tuple[Dependency, ...]:
        """What a release that is a constraint says; nothing for a view."""
        release = self.plan.releases[name]
        if not isinstance(release, Constraint):
            return ()
        return self._dependencies(release.constraint, "releases", name, "constraint")

    def _dependencies(self, text: str, *path: str | int) -> tuple[Dependency, ...]:
        try:
            return read_constraint(text, self.readings.relations(), file="the constraint")
        except TacitError as error:
            raise QueryError(
                f"{text.strip()!r}: {error.message}", code=getattr(error, "code", "syntax"), hint=error.hint, mark=self.plan.mark(*path)
            ) from None

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        """What everybody knows: constraints, keys, foreign keys."""
        relations = self.readings.relations()
        found = list(keys_of(relations))
        for table in self.plan.tables.values():
            for one in table.foreign_keys:
                for name, columns in ((table.name, one.columns), (one.table, one.references)):
                    for column in columns:
                        if column not in relations[name].columns:
                            raise PlanError(
                                f"table {name!r} has no column {column!r}.", hint=f"Its columns are {', '.join(relations[name].columns)}.",
                                mark=self.plan.mark("tables", table.name, "foreign-keys"),
                            )  # fmt: skip
                found.append(inclusion(table.name, one.columns, one.table, one.references, relations))
        for at, text in enumerate(self.plan.constraints):
            found += self._dependencies(text, "constraints", at)
        return tuple(found)

    # -- data -------------------------------------------------------------------------------------------

    def _instance(self, mentioned: Sequence[str], over: str, given: Sequence[str], check: Check) -> frozenset[Fact] | None:
        if over != "instance":
            self._check_closed(mentioned, over)
            return None
        names = [name for name in (*given, *check.releases) if self._view(name) is not None]
        if all(self.data.is_empty(self.plan.tables[name]) for name in mentioned) and all(self._has_answer(name) for name in names):
            return None  # only answers are known
        facts = frozenset(fact for name in mentioned for fact in self.data.facts(name))
        setting = Setting(self.readings.relations(), (), (), (), EMPTY, instance=facts)
        for dependency, mark in self._marked(given, check):
            if set(dependency.relations()) <= set(mentioned) and (broken := violations(dependency, setting)):
                raise violated(dependency, broken, mark)
        return facts

    def _marked(self, given: Sequence[str], check: Check) -> Iterator[tuple[Dependency, Mark | None]]:
        written = {one.text: ("constraints", at) for at, text in enumerate(self.plan.constraints) for one in self._dependencies(text, "constraints", at)}
        for one in self.dependencies:
            if one.text in written:
                yield one, self.plan.mark(*written[one.text])
            else:
                key = "key" if len(one.atoms) > 1 else "foreign-keys"
                yield one, self.plan.mark("tables", one.atoms[0].relation, key)
        for name in (*given, *check.releases):
            for one in self._constraint(name):
                yield one, self.plan.mark("releases", name, "constraint")

    def _check_closed(self, mentioned: Sequence[str], over: str) -> None:
        if over != "domain":
            return
        relations = self.readings.relations()
        missing = [f"{name}.{column}" for name in mentioned for column in relations[name].columns if column not in relations[name].domains]
        if missing:
            table, _, column = missing[0].rpartition(".")
            raise InputError(
                f"over: domain needs the domain of every column, and {listed(missing)} {'has' if len(missing) == 1 else 'have'} none.",
                hint=f"Add domains: {{{column}: [...]}} to {table}, or ask over: all.",
            )

    # -- values of parameters ---------------------------------------------------------------------------

    def _values(self, text: str, base: Setting, check: Check) -> list[dict[str, Any]]:
        """Every value that is known in the parameters' columns, or their domains, and new ones where these are open.

        With several open parameters as many new values are tried: they may be the same, or differ.
        """
        if not parameters(text):
            return [{}]
        where = self._places(text, str(check.secret))
        known = universe_of(replace(base, secret=self._example(str(check.secret), text), values=self._known(where)), 0)
        relations = self.readings.relations()
        found: dict[str, list[Any]] = {}
        for name, columns in where.items():
            places = [(table, relations[table].columns.index(column)) for table, column in columns]
            found[name] = list(dict.fromkeys(value for place in places for value in known.numbering.plain(known.columns[place]) if value is not None))
        is_open = {name: any(column not in relations[table].domains for table, column in columns) for name, columns in where.items()}
        kinds = {name: relations[columns[0][0]].kinds.get(columns[0][1]) for name, columns in where.items()}
        taken = [value for values in found.values() for value in values]
        new = {kind: beyond(taken, kind, sum(is_open.values())) for kind in kinds.values()}
        choices = [[*values, *(new[kinds[name]] if is_open[name] else ())] for name, values in found.items()]
        if prod(map(len, choices)) > MOST_CASES:
            raise InputError(
                f"the parameters of {check.secret!r} have {prod(map(len, choices)):,} values; up to {MOST_CASES:,} are asked.",
                hint="Write a constant for one of them.",
            )
        many = [values for values in product(*choices) if is_first(values, new.values())]
        if not many:
            raise InputError(f"there is no value to ask {check.secret!r} for: a domain is empty.", hint="Add values to the domain.")
        return [dict(zip(found, values, strict=True)) for values in many]

    def _known(self, where: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[tuple[str, str, Any], ...]:
        """The values of the parameters' columns in the data."""
        relations = self.readings.relations()
        return tuple(
            (table, column, fact.values[relations[table].columns.index(column)])
            for columns in where.values() for table, column in columns
            if not self.data.is_empty(self.plan.tables[table])
            for fact in self.data.facts(table)
        )  # fmt: skip

    def _places(self, text: str, name: str) -> dict[str, list[tuple[str, str]]]:
        try:
            return places(text, self.readings.relations(), lambda one: self.readings.read_as(one, name))
        except TacitError as error:
            raise error.at(self.plan.mark("secrets", name)) from None

    def _parameter_values(self, text: str, values: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, Any], ...]:
        """All values of the parameters, so that the worlds of all cases are over the same values."""
        if not parameters(text):
            return ()
        where = self._places(text, "")
        return tuple((table, column, one[name]) for one in values for name, columns in where.items() for table, column in columns)

    # -- what cannot be judged --------------------------------------------------------------------------

    def _check_types(self, queries: Sequence[Query]) -> None:
        if reason := doubtful(queries, self.readings.relations()):
            raise QueryError(
                f"{reason}, so constants may not mean what they look like.", code="types", hint="Give the column a type under columns."
            )

    def _check_order(self, setting: Setting) -> None:
        """< is read where all values are known; with open columns there is no telling where a new value stands."""
        for atoms, comparisons, name in _compared(setting):
            ordered = {term for one in comparisons if one.operator != "!=" for term in (one.left, one.right) if isinstance(term, Variable)}
            for atom in atoms:
                relation = setting.relations[atom.relation]
                for column, term in zip(relation.columns, atom.terms, strict=True):
                    if term in ordered and column not in relation.domains:
                        raise QueryError(
                            f"{name} compares {relation.name}.{column} by <, and the column has no domain.",
                            code="order", hint=f"Add domains: {{{column}: [...]}} to {relation.name}, or use = and !=.",
                        )  # fmt: skip

    def _check_endless(self, setting: Setting, over: str) -> None:
        """Constraints that can demand ever more new values; where columns are closed there is an end."""
        open_ = unbounded(setting) if over == "instance" else {
            (name, at) for name in setting.mentioned() for at, column in enumerate(setting.relations[name].columns)
            if column not in setting.relations[name].domains
        }  # fmt: skip
        closed = [
            (name, column) for name in setting.mentioned() for at, column in enumerate(setting.relations[name].columns) if (name, at) not in open_
        ]  # fmt: skip
        refuse_endless(setting.all_dependencies(), setting.relations, closed)


def beyond(values: Sequence[Any], kind: str | None, many: int) -> list[Any]:
    """Values that are none of some values of a column.

    >>> beyond(["p1", "_fresh1"], "text", 2), beyond([1, 7, 0], "integer", 1)
    (['_fresh0', '_fresh2'], [2])
    """
    taken = set(map(Constant, values))
    tried = (new_value(at, kind) for at in count())
    return list(islice((value for value in tried if Constant(value) not in taken), many))


def new_value(at: int, kind: str | None) -> Any:
    """One of many values of a type."""
    if kind in ("integer", "decimal"):
        return at
    if kind in ("date", "timestamp"):
        later = FIRST + dt.timedelta(days=at)
        return later if kind == "timestamp" else later.date()
    return f"{UNSEEN}{at}"


def is_first(values: Sequence[Any], new: Iterable[Sequence[Any]]) -> bool:
    """Of cases that differ only in which new values are which, is this the first?

    >>> is_first(("a", "_fresh0"), [["_fresh0", "_fresh1"]]), is_first(("_fresh1", "a"), [["_fresh0", "_fresh1"]])
    (True, False)
    """
    for some in new:
        seen = [some.index(value) for value in dict.fromkeys(values) if value in some]
        if seen != list(range(len(seen))):
            return False
    return True


def opened(part: Conjunctive, values: Mapping[str, Any]) -> Conjunctive:
    """A query with variables in the place of the values that stand for its parameters."""

    def put(term: Term) -> Term:
        return next((Variable(f"${name}") for name, value in values.items() if is_mark(term, value)), term)

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
    >>> [shows_keys(Query("V", (Conjunctive((one,), (Atom("R", (x, y)),)),), bag=True), relations) for one in (x, y)]
    [True, False]
    """
    if len(query.parts) != 1:
        return False
    [part] = query.parts
    for atom in part.atoms:
        terms = dict(zip(relations[atom.relation].columns, atom.terms, strict=True))
        keys = relations[atom.relation].keys
        if not any(all(isinstance(terms[name], Constant) or terms[name] in part.head for name in key) for key in keys):
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
        more = [name for one in dependencies if set(found) & set(one.relations()) for name in one.relations() if name not in found]
        found += dict.fromkeys(more)
        grown = bool(more)
    return found


def possible_rows(relation: Relation) -> int | None:
    """How many different rows a table can have, where all its columns have a domain."""
    if any(name not in relation.domains for name in relation.columns):
        return None
    return prod(len(relation.domains[name]) + (name in relation.nullable) for name in relation.columns)


def exactly(reading: Reading, mark: Mark | None) -> Query:
    """The query itself; one that is not a union of conjunctive queries is refused."""
    if reading.exact is not None:
        return replace(reading.exact, bag=False)  # views and secrets are sets here
    first = reading.approximations[0]
    raise QueryError(
        f"{reading.name} is outside what view safety reads: {' '.join(first.fragment.split())} ({first.text}).",
        code=first.code, hint="Use joins, constants, =, !=, UNION; ask perfect-privacy about the rest.", mark=mark,
    )  # fmt: skip


def _compared(setting: Setting) -> Iterator[tuple[Sequence[Atom], Sequence[Comparison], str]]:
    for query in setting.queries():
        for part in query.parts:
            yield part.atoms, part.comparisons, query.name
    for one in setting.all_dependencies():
        atoms = [*one.atoms, *(atom for each in one.alternatives for atom in each.atoms)]
        yield atoms, [*one.comparisons, *(c for each in one.alternatives for c in each.comparisons)], repr(one.text)
