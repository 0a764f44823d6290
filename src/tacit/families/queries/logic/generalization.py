"""Generalization: what several bodies say in common (Plotkin 1970).

Of a row of a union nobody says by which part it is there. Whichever it is, what the parts have in
common is there: subgoals of the same table, with a variable where their terms differ. The same
terms get the same variable everywhere, so that joins stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.families.queries.query import (
    NULL,
    Atom,
    Conjunctive,
    Constant,
    Term,
    Variable,
)


def common_body(bodies: Sequence[Conjunctive]) -> Conjunctive:
    """A body that is found, with the same head, wherever one of some bodies is; their heads are
    equally long.

    >>> from tacit.families.queries.query import Relation
    >>> from tacit.families.queries.read import read
    >>> relations = {"R": Relation("R", ("a", "b", "c")), "S": Relation("S", ("a",))}
    >>> sql = "SELECT R.a FROM R, S WHERE R.a = S.a AND (b = 1 OR c = 2)"
    >>> print(common_body(read(sql, relations, name="q").exact.parts))
    (a) :- R(a, some~2, c~3), S(a)
    """
    first, *others = bodies
    meeting = _Meeting(bodies)
    head = tuple(map(meeting.term, zip(*(one.head for one in bodies), strict=True)))
    atoms = []
    for atom in first.atoms:
        alike = [_most_alike(atom, one) for one in others]
        found = [one for one in alike if one is not None]
        if len(found) == len(others):
            terms = zip(atom.terms, *(one.terms for one in found), strict=True)
            atoms.append(Atom(atom.relation, tuple(map(meeting.term, terms))))
    mentioned = {term for atom in atoms for term in atom.terms}
    comparisons = [
        one
        for one in first.comparisons
        if all(one in other.comparisons for other in others)
        and mentioned.issuperset(
            meeting.term((term,) * len(bodies))
            for term in (one.left, one.right)
            if isinstance(term, Variable)
        )
    ]
    known = frozenset(one for one in mentioned if isinstance(one, Variable) and meeting.known(one))
    return Conjunctive(head, tuple(dict.fromkeys(atoms)), tuple(comparisons), known)


def _most_alike(atom: Atom, body: Conjunctive) -> Atom | None:
    """The subgoal of a body that agrees with another one in most places."""
    same = [one for one in body.atoms if one.relation == atom.relation]
    return max(
        same,
        key=lambda one: sum(
            left == right for left, right in zip(one.terms, atom.terms, strict=True)
        ),
        default=None,
    )


class _Meeting:
    """Terms of several bodies, one of each, as one term."""

    def __init__(self, bodies: Sequence[Conjunctive]) -> None:
        self._bodies = bodies
        self._terms: dict[tuple[Term, ...], Term] = {}
        self._known: dict[Variable, bool] = {}

    def term(self, terms: tuple[Term, ...]) -> Term:
        first = terms[0]
        same = all(one == first for one in terms)
        if same and isinstance(first, Constant):
            return first
        if terms not in self._terms:
            name = first.name if isinstance(first, Variable) else "some"
            found = Variable(name if same else f"{name}~{1 + len(self._terms)}")
            self._terms[terms] = found
            self._known[found] = all(map(_is_known, terms, self._bodies))
        return self._terms[terms]

    def known(self, one: Variable) -> bool:
        """Is none of the terms of a variable ever NULL?"""
        return self._known[one]


def _is_known(term: Term, body: Conjunctive) -> bool:
    return term != NULL if isinstance(term, Constant) else term in body.known
