"""Determinacy: has a query the same answer on any two databases that show the same in some views?

Suppose that one database has an answer of the query, and another shows the same in all views. The
rows of the query are in the first; what views show of them is in the second too, with the rows that
a view needs to show it, and with what keys and constraints add. If these rows have the answer, the
second database has it. That is asked once for all databases, with variables in the place of values
(chase and back: Deutsch, Popa, Tannen 1999). What is found is right; where nothing is found the
answer may be determined all the same (the question is undecidable).

Where rows count, an answer is determined if it is with the keys of all its rows beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tacit.families.queries.logic.generalization import common_body
from tacit.families.queries.logic.tableau import (
    Budget,
    RowTableau,
    Rules,
    TooMuchWork,
    Values,
    may_hold,
)
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relations,
    Term,
    Variable,
)
from tacit.model.deadline import Deadline, OutOfTime

STEPS = 60_000
SPLITS = 3  # constraints with alternatives that are looked at, one inside of the other
MOST_CASES = 100  # ways in which rows of views that are unions may be there, all together


@dataclass(frozen=True, slots=True)
class ShownBodies:
    """What somebody sees: views, and rows that are known to be there (each a body without head).

    `whole` are the views that show rows of one table whole, each as often as it is there: by name
    the table, and which of its columns each column of the view is.
    """

    views: tuple[Query, ...]
    facts: tuple[Conjunctive, ...] = ()
    whole: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    _start: list[_Start] = field(default_factory=list, repr=False, compare=False)

    def without(self, tables: set[str]) -> ShownBodies:
        """The same without the facts that speak of some tables."""
        kept = [one for one in self.facts if not any(a.relation in tables for a in one.atoms)]
        return replace(self, facts=tuple(kept), _start=[])

    def start(self, rules: Rules, budget: Budget) -> _Start:
        """Two databases in which the facts are, before anything else is known of them."""
        if not self._start:
            self._start.append(
                _Start(self._with_facts(rules, budget), self._with_facts(rules, budget))
            )
        return self._start[0]

    def _with_facts(self, rules: Rules, budget: Budget) -> RowTableau:
        found = RowTableau(rules, budget)
        for fact in self.facts:
            found.put_copy(fact, {})
        found.chase()
        return found


@dataclass(frozen=True, slots=True)
class _Start:
    """Two databases that are alike for somebody; their unknown values differ."""

    first: RowTableau
    second: RowTableau


def is_determined(
    part: Conjunctive, shown: ShownBodies, rules: Rules, deadline: Deadline | None = None
) -> bool:
    """Is the set of rows of a conjunctive query determined by what is shown?

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.logic.tableau import rules_of
    >>> from tacit.families.queries.query import Relation
    >>> from tacit.families.queries.read import read
    >>> relations = {
    ...     "posts": Relation("posts", ("id", "author", "text"), keys=(("id",),)),
    ...     "shared": Relation("shared", ("post", "user")),
    ... }
    >>> def query(text):
    ...     return read(text, relations, name="q").exact
    >>> mine = query("V(i, a, t) :- posts(i, a, t), shared(i, 7)")
    >>> rules = rules_of((), relations)
    >>> [
    ...     is_determined(query(text).parts[0], ShownBodies((mine,)), rules)
    ...     for text in (
    ...         "Q(t) :- posts(5, a, t), shared(5, 7)",
    ...         "Q(t) :- posts(5, a, t)",
    ...         "Q(t) :- posts(5, a, t), shared(5, 8)",
    ...     )
    ... ]
    [True, False, False]
    """
    budget = Budget(STEPS, deadline or Deadline(10.0))
    try:
        first = shown.start(rules, budget).first.copy(budget)
        first.put(part.atoms, part.comparisons, part.known)
        first.chase()
        doubted: set[str] = set()
        if _is_there(part, first, shown, doubted, SPLITS):
            return True
    except (TooMuchWork, OutOfTime):
        return False
    fewer = shown.without(doubted)
    if len(fewer.facts) == len(shown.facts):
        return False
    # What is determined given some of the facts is so given all of them.
    return is_determined(part, fewer, rules, deadline)


def is_counted(
    part: Conjunctive,
    table: str,
    shown: ShownBodies,
    rules: Rules,
    deadline: Deadline | None = None,
) -> bool:
    """Is each row of a query that shows rows of a table whole in a view that has it as often?"""
    budget = Budget(STEPS, deadline or Deadline(10.0))
    try:
        first = shown.start(rules, budget).first.copy(budget)
        first.put(part.atoms, part.comparisons, part.known)
        first.chase()
        row = [first.value(term) for term in part.head]
        return any(
            _is_shown(tuple(row[at] for at in shown.whole[view.name][1]), view, first)
            for view in shown.views
            if view.name in shown.whole and shown.whole[view.name][0] == table
        )
    except (TooMuchWork, OutOfTime):
        return False


def _is_shown(row: tuple[Term, ...], view: Query, tableau: RowTableau) -> bool:
    """Does a view certainly show a row?"""
    ways = [way for one in view.parts if (way := _shows(one, row, tableau)) is not None]
    return any(way.is_in(tableau) for way in ways)


def _is_there(
    part: Conjunctive, first: RowTableau, shown: ShownBodies, doubted: set[str], splits: int
) -> bool:
    """Has every database that shows the same as the first one the answer that is in it?
    `doubted` gets the tables of alternatives that facts contradict.
    """
    if first.broken:
        # Rows that somebody got may have changed since: that they contradict the query is no proof.
        return not shown.facts
    second = shown.start(first.rules, first.budget).second.copy(first.budget)
    unions = []
    terms: set[Term] = set()
    for view in shown.views:
        for row in _rows_of(view, first):
            terms.update(row)
            ways = [way for one in view.parts if (way := _shows(one, row, first)) is not None]
            if any(way.is_in(second) for way in ways):
                continue
            if len(ways) > 1:
                unions.append(ways)
            if (alike := _alike(ways, row, first)) is not None:
                alike.put(second)
    # Values that are shown are the same in both databases, and so is what is known of them.
    second.put(
        (),
        [one for one in first.comparisons() if all(_is_shared(term, terms) for term in _two(one))],
        [one for one in terms if first.is_known(one)],
    )
    second.chase()
    head = {one: first.value(one) for one in part.head if isinstance(one, Variable)}
    if second.broken and shown.facts:
        return False
    if _has_answer(part, head, second, _few(unions, part)):
        return True
    return splits > 0 and _in_all_cases(part, first, shown, doubted, splits)


def _in_all_cases(
    part: Conjunctive, first: RowTableau, shown: ShownBodies, doubted: set[str], splits: int
) -> bool:
    """Is the answer there whichever alternative of a constraint the first database satisfies?"""
    for rule in first.rules.splitting:
        for values in first.matches(rule.atoms, rule.comparisons, rule.known):
            ways = range(len(rule.alternatives))
            if any(first.is_satisfied(rule, at, values) for at in ways):
                continue
            cases = []
            for at in ways:
                case = first.copy()
                case.satisfy(rule, at, values)
                case.chase()
                if case.broken:
                    doubted.update(atom.relation for atom in rule.alternatives[at].atoms)
                cases.append(case)
            return all(_is_there(part, case, shown, doubted, splits - 1) for case in cases)
    return False


def _has_answer(
    part: Conjunctive,
    head: Values,
    second: RowTableau,
    unions: Sequence[Sequence[_Way]],
) -> bool:
    """Have the rows of a database the answer? A row of a union is there by one of its parts, and
    each of them is tried.
    """
    if second.broken:
        return True
    if next(second.matches(part.atoms, part.comparisons, part.known, head), None) is not None:
        return True
    if not unions:
        return False
    for way in unions[0]:
        case = second.copy()
        way.put(case)
        case.chase()
        if not _has_answer(part, head, case, unions[1:]):
            return False
    return True


def _few(unions: Sequence[Sequence[_Way]], part: Conjunctive) -> list[Sequence[_Way]]:
    """The unions that are looked at: those that speak of the same tables first."""
    names = {atom.relation for atom in part.atoms}
    number = 1
    found = []
    for ways in sorted(unions, key=lambda ways: (not ways[0].speaks_of(names), len(ways))):
        number *= len(ways)
        if number > MOST_CASES:
            break
        found.append(ways)
    return found


def _alike(ways: Sequence[_Way], row: tuple[Term, ...], first: RowTableau) -> _Way | None:
    """What is there in whichever way a row is."""
    if len(ways) < 2:
        return ways[0] if ways else None
    return _shows(_common(tuple(way.body for way in ways)), row, first)


_common = lru_cache(maxsize=2_000)(common_body)


def _rows_of(view: Query, tableau: RowTableau) -> Iterator[tuple[Term, ...]]:
    """What a view certainly shows, each row once."""
    seen = set()
    for body in view.parts:
        for found in tableau.matches(body.atoms, body.comparisons, body.known):
            row = tuple(found[one] if isinstance(one, Variable) else one for one in body.head)
            if row not in seen:
                seen.add(row)
                yield row


@dataclass(frozen=True, slots=True)
class _Way:
    """A body that shows a row, with values of its variables; and what the row's terms then are."""

    body: Conjunctive
    values: Values
    equal: tuple[tuple[Term, Term], ...]

    def is_in(self, tableau: RowTableau) -> bool:
        """Is the row there already in this way?"""
        body = self.body
        return not self.equal and any(
            True for _ in tableau.matches(body.atoms, body.comparisons, body.known, self.values)
        )

    def speaks_of(self, names: set[str]) -> bool:
        """Are some of these tables in the body?"""
        return any(atom.relation in names for atom in self.body.atoms)

    def put(self, tableau: RowTableau) -> None:
        """The row is there in this way."""
        tableau.put_copy(self.body, self.values)
        tableau.equate(*self.equal)


def _shows(body: Conjunctive, row: tuple[Term, ...], first: RowTableau) -> _Way | None:
    """How a body shows a row of the first database; None where it cannot."""
    values: Values = {}
    equal: list[tuple[Term, Term]] = []
    for one, term in zip(body.head, row, strict=True):
        shown = one if isinstance(one, Constant) else values.setdefault(one, term)
        if shown == term:
            continue
        if isinstance(shown, Constant) and isinstance(term, Constant):
            return None
        if NULL in (shown, term) and first.is_known(term if shown == NULL else shown):
            return None
        equal.append((shown, term))
    if any(values.get(one) == NULL for one in body.known):
        return None
    put = body.substituted(values)
    return _Way(body, values, tuple(equal)) if all(map(may_hold, put.comparisons)) else None


def _two(one: Comparison) -> tuple[Term, Term]:
    return one.left, one.right


def _is_shared(term: Term, terms: set[Term]) -> bool:
    return isinstance(term, Constant) or term in terms


# -- rows that count -------------------------------------------------------------------------------


def with_keys(part: Conjunctive, relations: Relations) -> Conjunctive | None:
    """The query with what tells its rows apart in the answer: as often as a row of the query is
    found, there is a row here. None where a table without a key is in it.

    >>> from tacit.families.queries.query import Relation
    >>> x, y, z = map(Variable, "xyz")
    >>> relations = {"R": Relation("R", ("a", "b"), keys=(("a",),))}
    >>> print(with_keys(Conjunctive((y,), (Atom("R", (x, y)), Atom("R", (y, z)))), relations))
    (y, x) :- R(x, y), R(y, z)
    """
    head = list(part.head)
    while (left := unidentified(head, part, relations)) is not None:
        key = next(_keys(left, part, relations), None)
        if key is None:
            return None
        head += [term for term in key if isinstance(term, Variable) and term not in head]
    return replace(part, head=tuple(head))


def unidentified(head: Sequence[Term], part: Conjunctive, relations: Relations) -> Atom | None:
    """The first subgoal whose row is not told by the head and by keys; None where all are."""
    left = _determined(head, part, relations)[1]
    return left[0] if left else None


def has_one_row(part: Conjunctive, relations: Relations) -> bool:
    """Do constants and keys tell what the query shows? Then all its rows are alike."""
    told = _determined((), part, relations)[0]
    return all(isinstance(term, Constant) or term in told for term in part.head)


def _determined(
    head: Sequence[Term], part: Conjunctive, relations: Relations
) -> tuple[set[Term], list[Atom]]:
    """The values that the head and keys tell, and the subgoals whose rows they do not tell."""
    told = {*head, *(term for atom in part.atoms for term in atom.terms if _is_value(term))}
    left = list(part.atoms)
    while found := [
        atom for atom in left if any(told.issuperset(key) for key in _keys(atom, part, relations))
    ]:
        told.update(term for atom in found for term in atom.terms)
        left = [atom for atom in left if atom not in found]
    return told, left


def _keys(atom: Atom, part: Conjunctive, relations: Relations) -> Iterator[tuple[Term, ...]]:
    """The values of each key that tells the row of a subgoal."""
    relation = relations[atom.relation]
    terms = dict(zip(relation.columns, atom.terms, strict=True))
    for key in relation.keys:
        yield tuple(terms[column] for column in key)
    for key in relation.uniques:
        if all(column not in relation.nullable or _is_known(terms[column], part) for column in key):
            yield tuple(terms[column] for column in key)


def _is_known(term: Term, part: Conjunctive) -> bool:
    return term != NULL and (isinstance(term, Constant) or term in part.known)


def _is_value(term: Term) -> bool:
    return isinstance(term, Constant)
