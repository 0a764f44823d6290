"""Templates: the smallest shapes of the possible worlds, as an explanation
of what published views leave open.

A template (Deutsch and Papakonstantinou, section 4) is a set of rows with variables. Different
variables stand for different values, though each may be any constant (Definition 3); the
inequalities under which a template was found are kept, which the printed algorithm PWT drops. Two
things hold of what is found, if it is complete:

- every possible world contains an image of some template;
- every image of a template is itself a possible world.

They are not the judge: templates are *minimal* worlds, and what a view says by absence is not seen
in them (Theorem 3 fails for V(x) :- R(x) = {a} and N(x) :- T(x) = {}: the templates are the same,
the worlds are not).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import Any

from tacit.errors import QueryError
from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.evaluate import matched
from tacit.families.queries.logic.disjunctive_chase import (
    Chase,
    ChaseTableau,
    DisjunctiveRule,
    LimitMet,
    Way,
    has_order,
    rules_of,
)
from tacit.families.queries.logic.termination import endless
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)
from tacit.model.deadline import look

Row = tuple[Any, ...]
LIMIT = 5000  # tableaux of the chase


@dataclass(frozen=True, slots=True)
class Template:
    """Rows that make a possible world, whatever different values the variables stand for.

    `known` are the variables that could be NULL by their columns, and are not.
    """

    facts: tuple[Atom, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    known: frozenset[Variable] = frozenset()

    def __str__(self) -> str:
        shown = [
            *map(str, self.facts),
            *map(str, self.comparisons),
            *(f"{one} is known" for one in sorted(map(str, self.known))),
        ]
        return ", ".join(shown) or "no rows"


@dataclass(frozen=True, slots=True)
class Templates:
    """What was found. Where it is not `complete`, the limit was met, and there may be more."""

    found: tuple[Template, ...]
    complete: bool


def templates(
    relations: Relations,
    dependencies: Sequence[Dependency],
    views: Sequence[tuple[Query, Collection[Row]]],
    constants: Iterable[Any] = (),
    *,
    asked: Sequence[Query] = (),
    limit: int = LIMIT,
) -> Templates:
    """The templates of the worlds in which the constraints hold and each view has exactly its rows.

    Templates say of each variable whether it is one of the `constants`, and what the queries
    `asked` answer (the new view and the secret: their constants are terms of the chase). None is
    NULL.

    >>> from tacit.families.queries.read import read
    >>> relations = {"R": Relation("R", ("A", "B", "C"))}
    >>> view = read("V(a, c) :- R(a, b, c)", relations, name="V").exact
    >>> for one in templates(relations, [], [(view, [("a1", "c1"), ("a2", "c2")])]).found:
    ...     print(one)
    R('a1', x1, 'c1'), R('a2', x1, 'c2')
    R('a1', x1, 'c1'), R('a2', x2, 'c2')
    """
    _refuse_order(dependencies, [*(view for view, _ in views), *asked])
    rules = [*rules_of(dependencies)]
    if (
        endless(dependencies, {name: replace(one, domains={}) for name, one in relations.items()})
        is not None
    ):
        rules += _listed(
            relations
        )  # the chase ends only because there are no new values in some columns
    for view, rows in views:
        rules += _shown(view, rows)
    rules += [
        DisjunctiveRule(part.atoms, part.comparisons, part.known, watched=True)
        for query in asked
        for part in query.parts
    ]
    rules += [rule for value in constants for rule in _watch_constants(Constant(value), relations)]
    search = _BranchSearch(Chase(rules, relations, injective=True), relations)
    return search.run(limit, ends=endless(dependencies, relations) is None)


def _refuse_order(dependencies: Sequence[Dependency], queries: Sequence[Query]) -> None:
    ordered = [
        one.name for one in queries if any(has_order(part.comparisons) for part in one.parts)
    ]
    ordered += [
        one.text
        for one in dependencies
        if has_order(one.comparisons) or any(has_order(way.comparisons) for way in one.alternatives)
    ]
    if ordered:
        raise QueryError(
            f"templates know = and !=, and {ordered[0]!r} has an order comparison.",
            code="order",
            hint="List or count the worlds instead, or leave the templates out.",
        )


# -- views as rules --------------------------------------------------------------------------------


def _shown(view: Query, rows: Collection[Row]) -> Iterator[DisjunctiveRule]:
    """A view has no other rows than these, and it has each of them."""
    fixed = sorted((tuple(map(Constant, row)) for row in rows), key=lambda row: list(map(str, row)))
    for part in view.parts:
        ways = [Way(Alternative((), tuple(zip(part.head, row, strict=True)))) for row in fixed]
        yield DisjunctiveRule(part.atoms, part.comparisons, part.known, tuple(ways))
    for row in fixed:
        found = [_reason(part, row) for part in view.parts]
        yield DisjunctiveRule(ways=tuple(one for one in found if one is not None))


def _reason(part: Conjunctive, row: Sequence[Constant]) -> Way | None:
    """Why a view has a row: a body that yields it; None where a part never does."""
    values = matched(part.head, row, {}, part)
    if values is None:
        return None
    body = part.substituted(values)
    return Way(Alternative(body.atoms, (), body.comparisons), body.known)


def _listed(relations: Relations) -> Iterator[DisjunctiveRule]:
    """A column whose values are listed has one of them."""
    for relation in relations.values():
        for column, values in relation.domains.items():
            here = Variable(column)
            options = [*map(Constant, values), *([NULL] if _may_be_null(relation, column) else [])]
            ways = tuple(Way(Alternative((), ((here, value),))) for value in dict.fromkeys(options))
            yield DisjunctiveRule(
                (Atom(relation.name, tuple(map(Variable, relation.columns))),),
                ways=ways,
                urgent=True,
            )


def _watch_constants(constant: Constant, relations: Relations) -> Iterator[DisjunctiveRule]:
    """Watch for a constant in every column."""
    for relation in relations.values():
        for place in range(len(relation.columns)):
            terms: list[Term] = [Variable(name) for name in relation.columns]
            terms[place] = constant
            yield DisjunctiveRule((Atom(relation.name, tuple(terms)),), watched=True)


# -- the search ------------------------------------------------------------------------------------


class _BranchSearch:
    """The branches of the chase, the smallest first, so that what a finished one embeds into
    need not be followed.
    """

    def __init__(self, chase: Chase, relations: Relations) -> None:
        self.chase = chase
        self.relations = relations
        self.found: list[ChaseTableau] = []

    def run(self, limit: int, *, ends: bool) -> Templates:
        """Follow the branches, as long as there are not more than so many tableaux.

        Where the chase need not end a branch may come back to where it was;
        it is not followed, and what it leads to is missing.
        """
        start = self.chase.tableau(())
        assert start is not None
        numbers = count()
        waiting = [(0, 0, next(numbers), start)]
        seen = {start}
        missing = False
        while waiting and len(seen) <= limit:
            look()
            tableau = heappop(waiting)[-1]
            if any(_embeds(one, tableau) for one in self.found):
                continue
            try:
                following = self.chase.step(tableau)
            except LimitMet:
                waiting.append((0, 0, next(numbers), tableau))
                break
            if following is None:
                self._finish(tableau)
                continue
            for one in map(_named, following):
                if one in seen:
                    missing |= not ends
                    continue
                seen.add(one)
                heappush(waiting, (len(one.atoms), -len(one.variables), next(numbers), one))
        shown = sorted(
            (self._template(one) for one in self.found), key=lambda one: (len(one.facts), str(one))
        )
        return Templates(tuple(shown), not waiting and not missing)

    def _finish(self, tableau: ChaseTableau) -> None:
        """Keep a template that has an image, without rows that it does not need."""
        if not self._has_an_image(tableau):
            return
        core = _named(_core(self._loosened(tableau)))
        if not any(_embeds(one, core) for one in self.found):
            self.found = [one for one in self.found if not _embeds(core, one)] + [core]

    def _loosened(self, tableau: ChaseTableau) -> ChaseTableau:
        """The template without inequalities that it does not need:
        its images are worlds all the same.
        """
        sure = {term for atom in tableau.atoms for term in self._never_null(atom)}
        asked = [pair for pair in tableau.apart if NULL not in pair or not pair & sure]
        for pair in sorted(asked, key=lambda pair: sorted(map(str, pair))):
            looser = ChaseTableau(tableau.atoms, tableau.apart - {pair})
            if self.chase.step(looser) is None:
                tableau = looser
        return tableau

    def _template(self, tableau: ChaseTableau) -> Template:
        sure = {term for atom in tableau.atoms for term in self._never_null(atom)}
        pairs = [
            pair
            for pair in tableau.apart
            if NULL not in pair and not all(isinstance(term, Variable) for term in pair)
        ]
        literals = [
            sorted(pair, key=lambda term: (isinstance(term, Constant), str(term))) for pair in pairs
        ]
        comparisons = tuple(
            Comparison(one, "!=", two)
            for one, two in sorted(literals, key=lambda pair: list(map(str, pair)))
        )
        return Template(tableau.atoms, comparisons, frozenset(tableau.known - sure))

    def _never_null(self, atom: Atom) -> Iterator[Term]:
        relation = self.relations[atom.relation]
        for column, term in zip(relation.columns, atom.terms, strict=True):
            if not _may_be_null(relation, column):
                yield term

    def _has_an_image(self, tableau: ChaseTableau) -> bool:
        """Are there enough values for the variables of columns whose values are listed?"""
        options = {one: self._values(one, tableau) for one in tableau.variables}
        limited: dict[Variable, list[Constant]] = {
            one: values for one, values in options.items() if values is not None
        }
        taken: dict[Constant, Variable] = {}

        def place(variable: Variable, tried: set[Constant]) -> bool:
            """Give a variable a value, moving others where that helps."""
            for value in limited[variable]:
                if value not in tried:
                    tried.add(value)
                    if value not in taken or place(taken[value], tried):
                        taken[value] = variable
                        return True
            return False

        return all(place(one, set()) for one in limited)

    def _values(self, variable: Variable, tableau: ChaseTableau) -> list[Constant] | None:
        """The values that a variable can have; None: as many as need be."""
        found: list[Constant] | None = None
        for atom in tableau.atoms:
            relation = self.relations[atom.relation]
            for column, term in zip(relation.columns, atom.terms, strict=True):
                if term != variable or column not in relation.domains:
                    continue
                here = list(map(Constant, relation.domains[column])) + [NULL] * _may_be_null(
                    relation, column
                )
                found = list(
                    dict.fromkeys(value for value in here if found is None or value in found)
                )
        return (
            None
            if found is None
            else [value for value in found if frozenset((variable, value)) not in tableau.apart]
        )


def _may_be_null(relation: Relation, column: str) -> bool:
    return column in relation.nullable and not any(column in key for key in relation.keys)


# -- embeddings ------------------------------------------------------------------------------------


def _embeds(small: ChaseTableau, large: ChaseTableau) -> bool:
    """Has every image of `large` an image of `small` in it?"""
    return _embedding(small, large, large.atoms) is not None


def _core(tableau: ChaseTableau) -> ChaseTableau:
    """The template without rows onto whose place others can move;
    its images are images of the whole.
    """
    for atom in tableau.atoms:
        values = _embedding(tableau, tableau, [one for one in tableau.atoms if one != atom])
        if values is not None:
            kept = {
                Atom(one.relation, tuple(_put(term, values) for term in one.terms))
                for one in tableau.atoms
            }
            return _core(_restricted(tableau, kept))
    return tableau


def _restricted(tableau: ChaseTableau, kept: Collection[Atom]) -> ChaseTableau:
    atoms = tuple(one for one in tableau.atoms if one in kept)
    there = {term for one in atoms for term in one.terms}
    apart = [
        pair
        for pair in tableau.apart
        if all(isinstance(term, Constant) or term in there for term in pair)
    ]
    return ChaseTableau(atoms, frozenset(apart))


def _embedding(
    small: ChaseTableau, large: ChaseTableau, rows: Sequence[Atom]
) -> dict[Variable, Term] | None:
    """Terms of `large` for the variables of `small`, surely different ones, that send its rows
    to these rows.
    """
    if len({one.relation for one in small.atoms} - {one.relation for one in rows}):
        return None
    limits: dict[Variable, list[Term]] = {}
    for pair in small.apart:
        for one in pair:
            if isinstance(one, Variable):
                limits.setdefault(one, []).extend(pair - {one})

    def allowed(variable: Variable, term: Term, values: Mapping[Variable, Term]) -> bool:
        return all(_surely_apart(term, other, large) for other in values.values()) and all(
            _surely_apart(term, other, large)
            for other in limits.get(variable, ())
            if isinstance(other, Constant)
        )

    def send(at: int, values: dict[Variable, Term]) -> dict[Variable, Term] | None:
        if at == len(small.atoms):
            return values
        atom = small.atoms[at]
        for row in rows:
            if row.relation != atom.relation:
                continue
            extended = dict(values)
            for term, goal in zip(atom.terms, row.terms, strict=True):
                if isinstance(term, Variable) and term not in extended:
                    if not allowed(term, goal, extended):
                        break
                    extended[term] = goal
                elif _put(term, extended) != goal:
                    break
            else:
                found = send(at + 1, extended)
                if found is not None:
                    return found
        return None

    return send(0, {})


def _surely_apart(one: Term, two: Term, tableau: ChaseTableau) -> bool:
    if type(one) is type(two):
        return one != two
    return frozenset((one, two)) in tableau.apart


def _put(term: Term, values: Mapping[Variable, Term]) -> Term:
    return values.get(term, term) if isinstance(term, Variable) else term


def _named(tableau: ChaseTableau) -> ChaseTableau:
    """The tableau with its variables named x1, x2, ... by where they stand, and its rows in order.

    Tableaux that differ in names only mostly become one; those that do not are found by embedding.
    """
    colours: dict[Term, str] = dict.fromkeys(tableau.variables, "")
    for _ in range(3):
        seen: dict[Term, list[str]] = {one: [] for one in colours}
        for atom in tableau.atoms:
            shape = (
                f"{atom.relation}({', '.join(colours.get(term, str(term)) for term in atom.terms)})"
            )
            for place, term in enumerate(atom.terms):
                if term in seen:
                    seen[term].append(
                        f"{place}{[at for at, other in enumerate(atom.terms) if other == term]}"
                        f"{shape}"
                    )
        for pair in tableau.apart:
            for term in pair & seen.keys():
                seen[term] += ["!=" + str(other) for other in pair if isinstance(other, Constant)]
        marks = {one: (colours[one], sorted(found)) for one, found in seen.items()}
        ranks = {repr(mark): number for number, mark in enumerate(sorted(marks.values()))}
        colours = {one: f"?{ranks[repr(mark)]:06}" for one, mark in marks.items()}
    order = sorted(tableau.variables, key=lambda one: colours[one])
    names: dict[Variable, Term] = {
        one: Variable(f"x{number}") for number, one in enumerate(order, 1)
    }
    atoms = [
        Atom(one.relation, tuple(_put(term, names) for term in one.terms)) for one in tableau.atoms
    ]
    apart = [frozenset(_put(term, names) for term in pair) for pair in tableau.apart]
    # Pairs of variables are kept: when one becomes a constant, they
    # still say what the other is not.
    there = {*names.values()}
    kept = [
        pair for pair in apart if all(isinstance(term, Constant) or term in there for term in pair)
    ]
    return ChaseTableau(tuple(sorted(atoms, key=str)), frozenset(kept))
