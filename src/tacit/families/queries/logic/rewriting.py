"""Rewriting: can a query be computed from published views, on every
database that satisfies the constraints?

Chase and back (Deutsch, Popa, Tannen 1999). The rows of the query are made to satisfy the
constraints; what the views show of them is the most that a rewriting can ask for. It is right if
whatever has such rows in the views is an answer of the query: the views are replaced by what they
stand for, and supposing that the query does not have the answer must lead to a contradiction in
every branch of the chase. Where one such body is not enough, the query is split into cases: two of
its terms are equal, or not; a constraint is met in one way, or in another.

A rewriting that is found is right. Where none is found there may be one all the same:
the question is undecidable (Theorem 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product
from math import prod

from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.logic.disjunctive_chase import (
    Chase,
    ChaseTableau,
    DisjunctiveRule,
    LimitMet,
    has_order,
    rules_of,
)
from tacit.families.queries.logic.termination import terminating
from tacit.families.queries.query import (
    NULL,
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relations,
    Term,
    Variable,
)
from tacit.families.queries.sql.supports import named
from tacit.model.deadline import look

GOAL = "=>"  # a row of this relation holds the answer that is asked for; no table has such a name
STEPS = 400  # of one chase
EXPANSIONS = 256  # ways to replace views that are unions
WORK = 60_000  # rows that one chase may look at
SHORT = 200  # short bodies that are tried
CASES = 64  # cases into which a query is split


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A query over views that has the answer of another one, as
    sets, whenever the constraints hold.
    """

    query: Query

    def __str__(self) -> str:
        lines = [f"{self.query.name}{part}{_unread(part)}" for part in self.query.parts]
        return "\n".join(lines) or f"{self.query.name} is always empty"


def rewriting(
    new: Query, views: Sequence[Query], dependencies: Sequence[Dependency], relations: Relations
) -> Rewriting | None:
    """The query `new` computed from `views` (as sets), or None where no way was found.

    Bags and order comparisons are not looked at: such a query is not rewritten, such a constraint
    or view is not used (a view that is a bag is used as a set).

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> from tacit.families.queries.read import read
    >>> relations = {"RS": Relation("RS", ("r", "c")), "RP": Relation("RP", ("r", "p"))}
    >>> who, new = (
    ...     read(text, relations, name=name).exact
    ...     for name, text in (("who", "V(r, c) :- RS(r, c)"), ("rs", "N(r) :- RS(r, c)"))
    ... )
    >>> print(rewriting(new, [who], [], relations))
    rs(r) :- who(r, c)
    >>> busy = read("B(r) :- RS(r, c), RP(r, p)", relations, name="busy").exact
    >>> papers = read("P(r, p) :- RP(r, p)", relations, name="papers").exact
    >>> print(rewriting(busy, [papers], read_constraint("RP[r] in RS[r]", relations), relations))
    busy(r) :- papers(r, p)
    """
    if new.bag or any(has_order(part.comparisons) for part in new.parts):
        return None
    task = _Task(new, views, dependencies, relations)
    found: list[Conjunctive] = []
    for part in new.parts:
        try:
            cases = task.cases(part)
        except LimitMet:
            cases = None
        if cases is None:
            return None
        found += cases
    parts = tuple(map(_named, _without_contained(found)))
    return Rewriting(Query(new.name, tuple(dict.fromkeys(parts))))


def implied(
    dependency: Dependency, dependencies: Sequence[Dependency], relations: Relations
) -> bool:
    """Does a constraint hold on every database that satisfies others? False
    also where that was not found out.

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> relations = {"R": Relation("R", ("a", "b")), "T": Relation("T", ("a",))}
    >>> given = [
    ...     *read_constraint("R(x, y) -> T(x)", relations),
    ...     *read_constraint("T(x) -> R(x, x)", relations),
    ... ]
    >>> [
    ...     implied(read_constraint(text, relations)[0], given, relations)
    ...     for text in ("R(x, y) -> R(x, x)", "R(x, y) -> R(y, x)")
    ... ]
    [True, False]
    """
    if has_order(dependency.comparisons):
        return False
    universal = dependency.universal()
    goals = [
        _goal_of(way, universal)
        for way in dependency.alternatives
        if not has_order(way.comparisons)
    ]
    rules = [rule for rule in goals if rule is not None] + [
        *rules_of(terminating(dependencies, relations))
    ]
    chase = Chase(rules, relations, work=WORK)
    start = chase.tableau(
        [*dependency.atoms, Atom(GOAL, universal)], dependency.comparisons, dependency.known
    )
    return _closes(chase, start)


def _goal_of(way: Alternative, universal: Sequence[Variable]) -> DisjunctiveRule | None:
    """What must not be, where an alternative is supposed not to hold; None where it never does."""
    equal = _unified(way.equalities)
    if equal is None:
        return None
    put = way.substituted(equal)
    return DisjunctiveRule(
        (*put.atoms, Atom(GOAL, tuple(equal.get(one, one) for one in universal))), put.comparisons
    )


def _closes(chase: Chase, start: ChaseTableau | None) -> bool:
    """Does every branch contradict itself?"""
    try:
        return next(chase.branches(start, STEPS), None) is None
    except LimitMet:
        return False


class _Task:
    """A query that is being rewritten."""

    def __init__(
        self,
        new: Query,
        views: Sequence[Query],
        dependencies: Sequence[Dependency],
        relations: Relations,
    ) -> None:
        self.views = _usable(views)
        rules = rules_of(terminating(dependencies, relations))
        shown = [
            DisjunctiveRule(part.atoms, part.comparisons, part.known, watched=True)
            for view in self.views.values()
            for part in view.parts
        ]
        answered = [
            DisjunctiveRule((*part.atoms, Atom(GOAL, part.head)), part.comparisons, part.known)
            for part in new.parts
        ]
        # One body for the whole query; cases; and the way back, where the query is supposed not to
        # have the answer.
        self.settling = Chase(
            [rule for rule in rules if len(rule.ways) < 2], relations, splits=False, work=WORK
        )
        self.splitting = Chase([*rules, *shown], relations, work=WORK)
        self.refuting = Chase([*answered, *rules], relations, work=WORK)
        self.tried = 0

    def cases(self, part: Conjunctive) -> list[Conjunctive] | None:
        """Bodies over the views that together have the answer of a part;
        None where none were found.
        """
        self.tried = 0
        return self._cases(
            self.settling.tableau(
                [*part.atoms, Atom(GOAL, part.head)], part.comparisons, part.known
            )
        )

    def _cases(self, start: ChaseTableau | None) -> list[Conjunctive] | None:
        try:
            settled = next(self.settling.branches(start, STEPS), None)
        except LimitMet:
            settled = start
        if settled is None:
            return []  # no database has such rows
        self.tried += 1
        if self.tried > CASES:
            return None
        found = self._body(settled)
        if found is not None:
            return [found]
        following = self.splitting.step(settled)
        if following is None:
            return None
        parts: list[Conjunctive] = []
        for tableau in following:
            look()
            more = self._cases(tableau)
            if more is None:
                return None
            parts += more
        return parts

    def _body(self, tableau: ChaseTableau) -> Conjunctive | None:
        """A body over the views that these rows satisfy and only answers of the query do, as
        short as may be.
        """
        [goal] = [atom for atom in tableau.atoms if atom.relation == GOAL]
        atoms = tuple(dict.fromkeys(self._shown_atoms(tableau)))
        full = _over(goal.terms, atoms, tableau)
        if full is None:
            return None
        many = self._expansions(full) > EXPANSIONS
        if not many and not self._is_right(full):
            return None
        sizes = (chosen for size in (0, 1, 2) for chosen in combinations(atoms, size))
        for chosen in islice(sizes, SHORT):
            look()
            short = _over(goal.terms, chosen, tableau)
            if short is not None and self._is_right(short):
                return self._shortened(short)
        return None if many else self._shortened(full)

    def _shown_atoms(self, tableau: ChaseTableau) -> Iterator[Atom]:
        """What the views show of these rows, whatever the variables stand for."""
        for name, view in self.views.items():
            for part in view.parts:
                for values in self.settling.certain(
                    DisjunctiveRule(part.atoms, part.comparisons, part.known), tableau
                ):
                    yield Atom(
                        name,
                        tuple(
                            values[term] if isinstance(term, Variable) else term
                            for term in part.head
                        ),
                    )

    def _shortened(self, body: Conjunctive) -> Conjunctive:
        """The body without what it does not need."""
        joined = _read_as_known(body)
        for smaller in (_without_atom, _without_comparison, _without_known):
            at = 0
            while (found := smaller(body, at)) is not None:
                if _is_safe(found) and self._is_right(found):
                    body = found
                else:
                    at += 1
        still = body.known | (joined & _read_as_known(body))
        return replace(body, known=still)

    # -- and back ----------------------------------------------------------------------------------

    def _expansions(self, body: Conjunctive) -> int:
        return prod(len(self.views[atom.relation].parts) for atom in body.atoms)

    def _is_right(self, body: Conjunctive) -> bool:
        """Is every answer of the body one of the query, on every database
        that satisfies the constraints?
        """
        if self._expansions(body) > EXPANSIONS:
            return False
        choices = product(*(self.views[atom.relation].parts for atom in body.atoms))
        return all(_closes(self.refuting, self._expanded(body, chosen)) for chosen in choices)

    def _expanded(self, body: Conjunctive, chosen: Sequence[Conjunctive]) -> ChaseTableau | None:
        """The body with each view replaced by a part of it; None where that never has a row."""
        equal: list[tuple[Term, Term]] = []
        atoms = [Atom(GOAL, body.head)]
        comparisons, known = list(body.comparisons), set(body.known)
        for number, (atom, part) in enumerate(zip(body.atoms, chosen, strict=True)):
            own = part.substituted(
                {one: Variable(f"{one.name}~{number}'") for one in part.variables()}
            )
            equal += zip(atom.terms, own.head, strict=True)
            atoms += own.atoms
            comparisons += own.comparisons
            known |= own.known
        values = _unified(equal)
        if values is None:
            return None
        if NULL in [values.get(one) for one in known]:
            return None
        put = Conjunctive((), tuple(atoms), tuple(comparisons), frozenset(known)).substituted(
            values
        )
        return self.refuting.tableau(put.atoms, put.comparisons, put.known)


def _usable(views: Iterable[Query]) -> dict[str, Query]:
    """The views without order comparisons, by name;
    a name that stands for two different views is of no use.
    """
    found: dict[str, Query] = {}
    twice = set()
    for view in views:
        if found.setdefault(view.name, view) != view:
            twice.add(view.name)
    return {
        name: view
        for name, view in found.items()
        if name not in twice and not any(has_order(part.comparisons) for part in view.parts)
    }


def _named(body: Conjunctive) -> Conjunctive:
    """The body with names that can be written: those of constraints may have quotes."""
    names = {
        one: Variable(f"{one.name.split(chr(39))[0]}~{number}")
        for number, one in enumerate(body.variables())
    }
    return named(body.substituted(names))


def _over(
    head: tuple[Term, ...], atoms: Sequence[Atom], tableau: ChaseTableau
) -> Conjunctive | None:
    """A body of these atoms with all that the tableau says of their terms;
    None where it misses a term of the head.
    """
    there = {term for atom in atoms for term in atom.terms if isinstance(term, Variable)}
    comparisons = tuple(
        one
        for one in tableau.comparisons
        if all(isinstance(term, Constant) or term in there for term in (one.left, one.right))
    )
    body = Conjunctive(head, tuple(atoms), comparisons, frozenset(tableau.known & there))
    return body if _is_safe(body) else None


def _is_safe(body: Conjunctive) -> bool:
    there = {term for atom in body.atoms for term in atom.terms}
    named = [*body.head, *(term for one in body.comparisons for term in (one.left, one.right))]
    return all(isinstance(term, Constant) or term in there for term in named)


def _read_as_known(body: Conjunctive) -> frozenset[Variable]:
    """The known variables that a reader takes for known anyway: they join, or are compared."""
    terms = [term for atom in body.atoms for term in atom.terms]
    compared = {term for one in body.comparisons for term in (one.left, one.right)}
    return frozenset(one for one in body.known if one in compared or terms.count(one) > 1)


def _unread(body: Conjunctive) -> str:
    """What the text of a body does not say: which variables are not NULL."""
    return "".join(
        f", {one} is known" for one in sorted(map(str, body.known - _read_as_known(body)))
    )


def _without_atom(body: Conjunctive, at: int) -> Conjunctive | None:
    if at >= len(body.atoms):
        return None
    atoms = body.atoms[:at] + body.atoms[at + 1 :]
    there = {term for atom in atoms for term in atom.terms}
    kept = tuple(
        one
        for one in body.comparisons
        if all(isinstance(term, Constant) or term in there for term in (one.left, one.right))
    )
    return Conjunctive(body.head, atoms, kept, frozenset(one for one in body.known if one in there))


def _without_comparison(body: Conjunctive, at: int) -> Conjunctive | None:
    if at >= len(body.comparisons):
        return None
    return replace(body, comparisons=body.comparisons[:at] + body.comparisons[at + 1 :])


def _without_known(body: Conjunctive, at: int) -> Conjunctive | None:
    known = sorted(body.known, key=str)
    return replace(body, known=body.known - {known[at]}) if at < len(known) else None


def _unified(pairs: Iterable[tuple[Term, Term]]) -> dict[Variable, Term] | None:
    """What variables must stand for so that all pairs are equal; None where constants clash."""
    found: dict[Variable, Term] = {}

    def end(term: Term) -> Term:
        while isinstance(term, Variable) and term in found:
            term = found[term]
        return term

    for left, right in pairs:
        one, two = end(left), end(right)
        if one == two:
            continue
        if isinstance(two, Variable):  # a view's own variable gives way to the one of the body
            one, two = two, one
        if isinstance(one, Constant):
            return None
        found[one] = two
    return {one: end(one) for one in found}


def _without_contained(parts: Sequence[Conjunctive]) -> list[Conjunctive]:
    """The parts of a union without those that another part has all rows of."""
    kept: list[Conjunctive] = []
    left = list(dict.fromkeys(parts))
    while left:
        one = left.pop(0)
        if not any(_is_contained(one, other) for other in (*kept, *left)):
            kept.append(one)
    return kept


def _is_contained(one: Conjunctive, other: Conjunctive) -> bool:
    """Is each row of a part one of another part? Atoms are sent to atoms; False is no proof."""
    chase = Chase((), {})
    rows = chase.tableau([*one.atoms, Atom(GOAL, one.head)], one.comparisons, one.known)
    if rows is None:
        return True
    pattern = DisjunctiveRule(
        (*other.atoms, Atom(GOAL, other.head)), other.comparisons, other.known
    )
    return any(True for _ in chase.certain(pattern, rows))
