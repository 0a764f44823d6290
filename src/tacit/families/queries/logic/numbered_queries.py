"""Numbered: queries with terms as numbers, the form in which they are searched.

Constants are 0, 1, 2, ... (NULL is 0) and variables are negative. The two queries of a question get
variables of different parity, so they are apart without renaming.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from tacit.families.queries.logic.comparisons import order_key
from tacit.families.queries.query import (
    NULL,
    Atom,
    Conjunctive,
    Constant,
    Relation,
    Relations,
    Term,
    Variable,
)

NUMBERED_NULL = 0
NumberedAtom = tuple[str, tuple[int, ...]]
NumberedComparison = tuple[int, str, int]


class Symbols:
    """The constants seen so far, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[Constant, int] = {NULL: NUMBERED_NULL}
        self._constants: list[Constant] = [NULL]
        self._keys: list[tuple[int, Any]] = [(-1, None)]

    def number(self, constant: Constant) -> int:
        """The number of a constant, the same for equal constants.

        >>> symbols = Symbols()
        >>> symbols.number(Constant("a")), symbols.number(NULL), symbols.number(Constant("a"))
        (1, 0, 1)
        """
        found = self._numbers.get(constant)
        if found is None:
            found = self._numbers[constant] = len(self._constants)
            self._constants.append(constant)
            self._keys.append(order_key(constant.value))
        return found

    def constant(self, number: int) -> Constant:
        """The constant with a number."""
        return self._constants[number]

    def key(self, number: int) -> tuple[int, Any]:
        """Where the constant stands in the order of all constants."""
        return self._keys[number]


@dataclass(frozen=True, slots=True)
class NumberedBody:
    """A conjunctive query in numbers.

    `domains` has the variables that stand in a column with a domain, `maybe` those that can be
    NULL, `origins` the place of each atom in the query as it was written, `names` the variables'
    names.
    """

    head: tuple[int, ...]
    atoms: tuple[NumberedAtom, ...]
    comparisons: tuple[NumberedComparison, ...]
    known: frozenset[int]
    domains: dict[int, frozenset[int]]
    maybe: frozenset[int]
    origins: tuple[int, ...]
    names: dict[int, str] = field(default_factory=dict)

    def variables(self) -> Collection[int]:
        """Every variable of an atom, in order of appearance, each once."""
        return dict.fromkeys([term for _, terms in self.atoms for term in terms if term < 0])

    def constants(self) -> set[int]:
        """Every constant that is named."""
        found = {term for _, terms in self.atoms for term in terms if term >= 0}
        found.update(term for term in self.head if term >= 0)
        return found | {
            term for left, _, right in self.comparisons for term in (left, right) if term >= 0
        }


def column_domain(relation: Relation, column: int, symbols: Symbols) -> frozenset[int] | None:
    """The numbers of all values that a column can have, NULL aside; None where it has no domain."""
    values = relation.domains.get(relation.columns[column])
    if values is None:
        return None
    return frozenset(symbols.number(Constant(value)) for value in values if value is not None)


class TermNumbering:
    """Turns queries into numbers, one parity of variables per side."""

    def __init__(self, relations: Relations, symbols: Symbols) -> None:
        self.relations = relations
        self.symbols = symbols
        self._domains: dict[tuple[str, int], frozenset[int] | None] = {}

    def domain(self, relation: str, column: int) -> frozenset[int] | None:
        """The domain of a column, in numbers."""
        place = relation, column
        if place not in self._domains:
            self._domains[place] = column_domain(self.relations[relation], column, self.symbols)
        return self._domains[place]

    def may_be_null(self, relation: str, column: int) -> bool:
        """May NULL stand in the column? Never in a key."""
        described = self.relations[relation]
        name = described.columns[column]
        return name in described.nullable and not any(name in key for key in described.keys)

    def body(self, part: Conjunctive, parity: int) -> NumberedBody | None:
        """A conjunctive query in numbers, or None where a constant
        or a comparison makes it empty.
        """
        numbers: dict[Variable, int] = {}

        def put(term: Term) -> int:
            if isinstance(term, Constant):
                return self.symbols.number(term)
            return numbers.setdefault(term, -2 * len(numbers) - 1 - parity)

        atoms = tuple((atom.relation, tuple(map(put, atom.terms))) for atom in part.atoms)
        head = tuple(map(put, part.head))
        comparisons = self._comparisons(part, put)
        # also x <= x says that x is not NULL
        compared = {
            term for one in part.comparisons for term in (put(one.left), put(one.right)) if term < 0
        }
        known = frozenset(map(put, part.known)) | compared
        described = self._columns(atoms, known)
        if comparisons is None or described is None:
            return None
        domains, maybe = described
        names = {number: variable.name for variable, number in numbers.items()}
        return NumberedBody(
            head, atoms, comparisons, known, domains, maybe, tuple(range(len(atoms))), names
        )

    def _comparisons(self, part: Conjunctive, put: Any) -> tuple[NumberedComparison, ...] | None:
        kept = []
        for one in part.comparisons:
            left, right = put(one.left), put(one.right)
            if NUMBERED_NULL in (left, right):
                return None
            if left >= 0 and right >= 0:
                if not compares(
                    one.operator, self.symbols.key(left), self.symbols.key(right), left == right
                ):
                    return None
            elif left == right:
                if one.operator != "<=":
                    return None
            else:
                kept.append((left, one.operator, right))
        return tuple(dict.fromkeys(kept))

    def _columns(
        self, atoms: Iterable[NumberedAtom], known: frozenset[int]
    ) -> tuple[dict[int, frozenset[int]], frozenset[int]] | None:
        """Domains and possible NULLs of the variables;
        None where a constant cannot stand in its column.
        """
        domains: dict[int, frozenset[int]] = {}
        maybe: dict[int, bool] = {}
        for relation, terms in atoms:
            for column, term in enumerate(terms):
                domain, nullable = self.domain(relation, column), self.may_be_null(relation, column)
                if term < 0:
                    maybe[term] = maybe.get(term, True) and nullable and term not in known
                    if domain is not None:
                        domains[term] = domains.get(term, domain) & domain
                elif (term == NUMBERED_NULL and not nullable) or (
                    term > 0 and domain is not None and term not in domain
                ):
                    return None
        return domains, frozenset(variable for variable, may in maybe.items() if may)

    def words(self, body: NumberedBody, place: int) -> Atom:
        """An atom as people wrote it."""
        relation, terms = body.atoms[place]
        return Atom(relation, tuple(self.term(body, term) for term in terms))

    def term(self, body: NumberedBody, term: int) -> Term:
        """A term as people wrote it."""
        return (
            self.symbols.constant(term)
            if term >= 0
            else Variable(body.names.get(term, f"v{-term}"))
        )


def compares(operator: str, left: Any, right: Any, equal: bool) -> bool:
    """Does `left operator right` hold of two constants' places in the order?"""
    if operator == "!=":
        return not equal
    return bool(left < right) or (equal and operator == "<=")
