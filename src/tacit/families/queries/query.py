"""Query: conjunctive queries and their unions, as values.

NULL is an ordinary constant here, `NULL`, that may stand in nullable columns only. What SQL says of
it is said by `known`: a variable in it never takes NULL, because it joins, is compared, or was
asked to be there. Reading a query fills `known`; after that nothing needs to treat NULL in a
special way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Operator = Literal["!=", "<", "<="]


@dataclass(frozen=True, slots=True)
class Variable:
    """Something that may take any value of the columns where it stands."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A value. 1 and "1" differ, and so do 1 and True; 1 and 1.0 are the same number.

    >>> Constant(1) == Constant("1"), Constant(1) == Constant(True), Constant(1) == Constant(1)
    (False, False, True)
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Constant):
            return False
        one, two = self.value, other.value
        if type(one) is not type(two) and (isinstance(one, bool) or isinstance(two, bool)):
            return False
        return one is two or bool(one == two)

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        return (
            "'" + self.value.replace("'", "''") + "'"
            if isinstance(self.value, str)
            else str(self.value)
        )


Term = Variable | Constant
NULL = Constant(None)


@dataclass(frozen=True, slots=True)
class Atom:
    """A subgoal: a relation with a term for each of its columns.

    >>> str(Atom("R", (Variable("x"), Constant("a"))))
    "R(x, 'a')"
    """

    relation: str
    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two terms must satisfy; = is not among them, because equal terms are one term."""

    left: Term
    operator: Operator
    right: Term

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Conjunctive:
    """A conjunctive query: its answer has a row `head` for every way to
    satisfy all atoms and comparisons.
    """

    head: tuple[Term, ...]
    atoms: tuple[Atom, ...]
    comparisons: tuple[Comparison, ...] = ()
    known: frozenset[Variable] = frozenset()

    def variables(self) -> Iterator[Variable]:
        """Every variable, in order of appearance, each once."""
        terms = [*self.head, *(term for atom in self.atoms for term in atom.terms)]
        terms += [term for one in self.comparisons for term in (one.left, one.right)]
        yield from dict.fromkeys(term for term in terms if isinstance(term, Variable))

    def substituted(self, values: Mapping[Variable, Term]) -> Conjunctive:
        """The query with some variables replaced, everywhere;
        a variable put in the place of a known one is known.
        """

        def put(term: Term) -> Term:
            return values.get(term, term) if isinstance(term, Variable) else term

        return Conjunctive(
            tuple(map(put, self.head)),
            tuple(Atom(atom.relation, tuple(map(put, atom.terms))) for atom in self.atoms),
            tuple(
                Comparison(put(one.left), one.operator, put(one.right)) for one in self.comparisons
            ),
            frozenset(term for term in map(put, self.known) if isinstance(term, Variable)),
        )

    def __str__(self) -> str:
        body = ", ".join(map(str, (*self.atoms, *self.comparisons))) or "true"
        return f"({', '.join(map(str, self.head))}) :- {body}"


@dataclass(frozen=True, slots=True)
class Query:
    """A union of conjunctive queries. `bag`: equal rows count, as in SQL without DISTINCT."""

    name: str
    parts: tuple[Conjunctive, ...]
    bag: bool = False
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """As of what it says, once: a query is looked up in every check that names it."""
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.name, self.parts, self.bag)))
        found: int = self._hash  # type: ignore[assignment]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Query, (self.name, self.parts, self.bag)  # hashes differ between processes

    def __str__(self) -> str:
        return "\n".join(f"{self.name}{part}" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Relation:
    """What everybody knows of a relation:
    columns in order, keys, domains, which columns may be NULL.

    `domains[column]` lists all values that the column can have; a column without one is as large as
    need be. `kinds` are the column types where they are known. `uniques` are keys with a nullable
    column, which tell rows apart only where they are not NULL.
    """

    name: str
    columns: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    domains: Mapping[str, tuple[Any, ...]] = ()  # type: ignore[assignment]
    nullable: frozenset[str] = frozenset()
    kinds: Mapping[str, str] = ()  # type: ignore[assignment]
    uniques: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "domains", dict(self.domains))
        object.__setattr__(self, "kinds", dict(self.kinds))


Relations = Mapping[str, Relation]
