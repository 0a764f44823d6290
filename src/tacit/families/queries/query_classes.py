"""Classes: what kind of query this is, and how much work the decision
can be (Machanavajjhala 2008, Figure 2.3).

Classes are defined for single conjunctive queries without comparisons, read as sets, on large
domains and without keys. In the bounds n counts the subgoals of both queries, r is the largest
arity, m counts relations and k the subgoals of one query that share a relation (Machanavajjhala
(2008) says self-joins, which is one less and too few). c is the width.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tacit.families.queries.logic.acyclic import join_tree, tree_decomposition
from tacit.families.queries.query import (
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relations,
    Term,
    Variable,
)

Name = Literal[
    "no self-join",
    "maximal-row tableau",
    "at most one self-join per relation",
    "simple tableau",
    "acyclic",
    "bounded query-width",
]


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that a query is in.
    `width` is a width found for it (1: acyclic), perhaps not the least.
    """

    names: frozenset[Name]
    width: int

    def __contains__(self, name: Name) -> bool:
        return name in self.names


@dataclass(frozen=True, slots=True)
class Bound:
    """How much work the decision can be, and the theorem that says so."""

    formula: str
    source: str


GENERAL = Bound("complete for the second level of the polynomial hierarchy", "Theorem 2.2")


@lru_cache(maxsize=4096)
def classes_of(query: Query) -> Classes | None:
    """The classes of Figure 2.3 that a query is in; None where they are not defined.

    >>> a, b, c, d = map(Variable, "abcd")
    >>> triangle = Query(
    ...     "S", (Conjunctive((), (Atom("R", (a, b)), Atom("R", (b, c)), Atom("R", (c, a)))),)
    ... )
    >>> sorted(classes_of(triangle).names), classes_of(triangle).width
    (['bounded query-width'], 2)
    """
    if len(query.parts) != 1 or query.parts[0].comparisons or query.bag:
        return None
    part = query.parts[0]
    most = max(Counter(atom.relation for atom in part.atoms).values(), default=0)
    width = width_of(part)
    found: dict[Name, bool] = {
        "no self-join": most <= 1,
        "at most one self-join per relation": most <= 2,
        "maximal-row tableau": _is_tableau(part) and _is_maximal_row(part),
        "simple tableau": _is_tableau(part) and _is_simple(part),
        "acyclic": width <= 1,
        "bounded query-width": width > 1,
    }
    return Classes(frozenset(name for name, holds in found.items() if holds), width)


def width_of(part: Conjunctive) -> int:
    """A width of the query's hypergraph without the variables of the head, which are fixed:
    1 if it is acyclic.

    The bags of a tree decomposition are covered by as few atoms as a greedy choice finds.
    """
    fixed = set(part.head)
    numbers: dict[Term, int] = {}
    scopes = []
    for atom in part.atoms:
        free = dict.fromkeys(
            term for term in atom.terms if isinstance(term, Variable) and term not in fixed
        )
        scopes.append(tuple(numbers.setdefault(term, len(numbers)) for term in free))
    if join_tree(scopes) is not None:
        return 1
    return max(_cover(bag, scopes) for bag in tree_decomposition(scopes))


def _cover(bag: frozenset[int], scopes: Sequence[tuple[int, ...]]) -> int:
    left, used = set(bag), 0
    while left:
        best = max(scopes, key=lambda scope: len(left.intersection(scope)))
        left.difference_update(best)
        used += 1
    return used


def _columns(part: Conjunctive) -> Iterator[tuple[tuple[str, int], list[Term]]]:
    """The terms in each column of each relation, row by row."""
    columns: dict[tuple[str, int], list[Term]] = {}
    for atom in part.atoms:
        for column, term in enumerate(atom.terms):
            columns.setdefault((atom.relation, column), []).append(term)
    yield from columns.items()


def _is_tableau(part: Conjunctive) -> bool:
    """Does each variable stand in one column of a relation only?"""
    place: dict[tuple[str, Term], int] = {}
    return all(
        place.setdefault((relation, term), column) == column
        for (relation, column), terms in _columns(part)
        for term in terms
        if isinstance(term, Variable)
    )


def _is_simple(part: Conjunctive) -> bool:
    """Has every column with a repeated variable that is not in the
    head no other repeated symbol?
    """
    for _, terms in _columns(part):
        repeated = [term for term, times in Counter(terms).items() if times > 1]
        hidden = any(isinstance(term, Variable) and term not in part.head for term in repeated)
        if hidden and len(repeated) > 1:
            return False
    return True


def _is_maximal_row(part: Conjunctive) -> bool:
    """Does no row have, in the same places, all the constants of another row of its relation?"""
    return not any(
        _covers(one, two)
        for place, one in enumerate(part.atoms)
        for other, two in enumerate(part.atoms)
        if place != other and one.relation == two.relation
    )


def _covers(one: Atom, two: Atom) -> bool:
    return all(
        left == right
        for left, right in zip(one.terms, two.terms, strict=True)
        if isinstance(left, Constant)
    )


def bound(secret: Query, view: Query, relations: Relations) -> Bound:
    """How much work it can be to decide about two queries, also of
    different classes (Theorem 2.17).

    >>> from tacit.families.queries.query import Relation
    >>> x, y = map(Variable, "xy")
    >>> one = Query("S", (Conjunctive((x,), (Atom("R", (x, y)),)),))
    >>> bound(one, one, {"R": Relation("R", ("a", "b"))}).formula
    'O(n r)'
    """
    if (
        secret.bag
        and view.bag
        and not any(part.comparisons for query in (secret, view) for part in query.parts)
    ):
        return Bound("O(n^2 r)", "every tuple that fits a subgoal is critical in a bag")
    first, second = classes_of(secret), classes_of(view)
    if first is None or second is None:
        return GENERAL
    if all("no self-join" in one for one in (first, second)):
        return Bound("O(n r)", "Section 2.2.2")
    used = [
        relations[atom.relation]
        for query in (secret, view)
        for part in query.parts
        for atom in part.atoms
    ]
    if any(one.keys or one.domains or one.nullable for one in used):
        return GENERAL
    if "maximal-row tableau" in first or "maximal-row tableau" in second:
        other = second if "maximal-row tableau" in first else first
        return _beside_maximal_rows(first, second, other)
    return _of_containment(first, second)


def _beside_maximal_rows(first: Classes, second: Classes, other: Classes) -> Bound:
    """Theorems 2.16 and 2.17: one subgoal at a time is enough on the side of the maximal rows."""
    source = "Theorem 2.17"
    if all("maximal-row tableau" in one for one in (first, second)):
        return Bound("O(n^2 r)", "Theorem 2.16")
    if "no self-join" in other:
        return Bound("O(n r)", source)
    if "at most one self-join per relation" in other:
        return Bound("O(n * n^2 r)", source)
    if "acyclic" in other:
        return Bound("O(n 2^k * r n^2 log n)", source)
    if "simple tableau" in other:
        return Bound("O(n 2^k * n^3 r^2)", source)
    return Bound(f"O(n 2^k * c^2 r n^(c+1) log n), c = {other.width}", source)


def _of_containment(first: Classes, second: Classes) -> Bound:
    """Theorems 2.10, 2.12 and 2.14: the harder of the two
    containments, for each set of subgoals.
    """
    both = (first, second)
    if all("at most one self-join per relation" in one for one in both):
        return Bound("O(n^3 r)", "Theorem 2.10")
    easy = {"no self-join", "at most one self-join per relation", "acyclic"}
    if all(easy & one.names for one in both):
        return Bound("O(m 2^(2k) * r n^2 log n)", "Theorem 2.12 with c = 1")
    if all((easy | {"simple tableau"}) & one.names for one in both):
        return Bound("O(m 2^(2k) * n^3 r^2)", "Theorem 2.14")
    width = max(one.width for one in both)
    return Bound(f"O(m 2^(2k) * c^2 r n^(c+1) log n), c = {width}", "Theorem 2.12")
