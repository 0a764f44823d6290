"""Dependency: an integrity constraint, as a value:
whatever satisfies the body satisfies one of the alternatives.

This is IC(UCQ!=) of Deutsch and Papakonstantinou (section 3): disjunction, = and != on both sides,
variables that stand only on the right are existential. A disjunction on the left is read as several
dependencies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tacit.families.queries.query import Atom, Comparison, Term, Variable


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to satisfy a dependency: atoms, comparisons, and terms of the body that are equal.

    Equalities are identities: NULL and NULL are the same.
    Those of existential variables are worked in already.
    """

    atoms: tuple[Atom, ...] = ()
    equalities: tuple[tuple[Term, Term], ...] = ()
    comparisons: tuple[Comparison, ...] = ()

    def variables(self) -> Iterator[Variable]:
        """Every variable, each once."""
        terms: list[Term] = [term for atom in self.atoms for term in atom.terms]
        terms += [term for pair in self.equalities for term in pair]
        terms += [term for one in self.comparisons for term in (one.left, one.right)]
        yield from dict.fromkeys(term for term in terms if isinstance(term, Variable))

    def substituted(self, values: Mapping[Variable, Term]) -> Alternative:
        """The alternative with some variables replaced."""

        def put(term: Term) -> Term:
            return values.get(term, term) if isinstance(term, Variable) else term

        return Alternative(
            tuple(Atom(atom.relation, tuple(map(put, atom.terms))) for atom in self.atoms),
            tuple((put(left), put(right)) for left, right in self.equalities),
            tuple(
                Comparison(put(one.left), one.operator, put(one.right)) for one in self.comparisons
            ),
        )

    def __str__(self) -> str:
        equal = [f"{left} = {right}" for left, right in self.equalities]
        return ", ".join([*map(str, self.atoms), *equal, *map(str, self.comparisons)]) or "true"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A constraint. No alternative: the body is never satisfied. `known` variables are never NULL.

    `text` is what the owner wrote, or what a key or foreign key means in words.

    >>> x, y = Variable("x"), Variable("y")
    >>> never = Dependency("R(x, x) -> false", (Atom("R", (x, x)),))
    >>> print(never)
    R(x, x) -> false
    """

    text: str
    atoms: tuple[Atom, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    known: frozenset[Variable] = frozenset()

    def universal(self) -> tuple[Variable, ...]:
        """The variables of the body, in order, each once."""
        found = (term for atom in self.atoms for term in atom.terms)
        return tuple(dict.fromkeys(term for term in found if isinstance(term, Variable)))

    def existential(self, alternative: Alternative) -> tuple[Variable, ...]:
        """The variables that stand in an alternative only."""
        body = set(self.universal())
        return tuple(one for one in alternative.variables() if one not in body)

    @property
    def is_denial(self) -> bool:
        """Does it only forbid? Then it holds in every part of a database in which it holds."""
        return not any(one.atoms for one in self.alternatives)

    def relations(self) -> tuple[str, ...]:
        """The relations it speaks of, each once."""
        atoms = [*self.atoms, *(atom for one in self.alternatives for atom in one.atoms)]
        return tuple(dict.fromkeys(atom.relation for atom in atoms))

    def __str__(self) -> str:
        body = ", ".join(map(str, (*self.atoms, *self.comparisons))) or "true"
        return f"{body} -> {' | '.join(map(str, self.alternatives)) or 'false'}"


def joined(groups: Iterable[Collection[str]]) -> tuple[frozenset[str], ...]:
    """Groups of relations, those that share one made one.

    >>> [sorted(one) for one in joined([{"R", "S"}, {"T"}, {"S", "U"}])]
    [['T'], ['R', 'S', 'U']]
    """
    found: list[frozenset[str]] = []
    for group in groups:
        apart = [one for one in found if one.isdisjoint(group)]
        found = [*apart, frozenset(group).union(*(one for one in found if one not in apart))]
    return tuple(found)
