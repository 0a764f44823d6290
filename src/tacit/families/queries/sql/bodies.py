"""Body: what a query looks for, while it is being read; and how conditions and joins change it.

A body is a conjunctive query whose head may also hold `OPAQUE`: a column that is some function of
the rest. While a subquery is read, `Slot`s stand for the columns around it; `joined` fills them in.
Conditions about an opaque column are left out, which keeps more rows: a body encloses what matters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tacit.families.queries.kinds import order
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Constant,
    Relation,
    Relations,
    Term,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Slot(Variable):
    """A column of a query that is being read, by number."""


class Opaque:
    """A column that is computed from others."""

    def __repr__(self) -> str:
        return "OPAQUE"


OPAQUE: Final = Opaque()
Entry = Term | Opaque


@dataclass(frozen=True, slots=True)
class Equal:
    """= of SQL and Datalog: both sides are known and the same."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Same:
    """IS NOT DISTINCT FROM: the same, also where both are NULL."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Missing:
    """IS NULL."""

    left: Term


@dataclass(frozen=True, slots=True)
class NotNull:
    """IS NOT NULL."""

    left: Term


Condition = Equal | Same | Missing | NotNull | Comparison


@dataclass(frozen=True, slots=True)
class QueryBody:
    """Atoms and conditions, with the columns that they give.
    `pending`: conditions about slots only.

    `alone`: it is about rows of an outer join that have no match.
    """

    head: tuple[Entry, ...] = ()
    atoms: tuple[Atom, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    known: frozenset[Variable] = frozenset()
    pending: tuple[Condition, ...] = ()
    alone: bool = False

    def bound(self) -> Iterator[Variable]:
        """The variables of the atoms, in order, each once; slots are not among them."""
        found = (term for atom in self.atoms for term in atom.terms)
        yield from dict.fromkeys(
            term for term in found if isinstance(term, Variable) and not isinstance(term, Slot)
        )

    def put(self, values: Mapping[Variable, Term]) -> QueryBody:
        """The body with some variables replaced everywhere."""
        if not values:
            return self

        def new(term: Term) -> Term:
            return values.get(term, term) if isinstance(term, Variable) else term

        return QueryBody(
            tuple(entry if isinstance(entry, Opaque) else new(entry) for entry in self.head),
            tuple(Atom(atom.relation, tuple(map(new, atom.terms))) for atom in self.atoms),
            tuple(
                Comparison(new(one.left), one.operator, new(one.right)) for one in self.comparisons
            ),
            frozenset(term for term in map(new, self.known) if isinstance(term, Variable)),
            tuple(_moved(one, new) for one in self.pending),
            self.alone,
        )


def _moved(condition: Condition, new: Callable[[Term], Term]) -> Condition:
    if isinstance(condition, Comparison):
        return Comparison(new(condition.left), condition.operator, new(condition.right))
    if isinstance(condition, Missing | NotNull):
        return type(condition)(new(condition.left))
    return type(condition)(new(condition.left), new(condition.right))


def terms_of(condition: Condition) -> tuple[Term, ...]:
    """The one or two terms that a condition is about."""
    return (
        (condition.left,)
        if isinstance(condition, Missing | NotNull)
        else (condition.left, condition.right)
    )


class Fresh:
    """New variables and slots. A variable keeps the name of its column before the ~."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)

    def variable(self, base: str) -> Variable:
        """A variable that occurs nowhere else."""
        return Variable(f"{base.split('~')[0]}~{next(self.numbers)}")

    def slots(self, count: int) -> tuple[Slot, ...]:
        """As many slots as a table has columns."""
        return tuple(Slot(f"?{next(self.numbers)}") for _ in range(count))

    def scan(self, relation: Relation) -> QueryBody:
        """All rows of a relation."""
        terms = tuple(self.variable(column) for column in relation.columns)
        return QueryBody(terms, (Atom(relation.name, terms),))

    def renamed(self, body: QueryBody) -> QueryBody:
        """The same body with variables of its own."""
        return body.put({old: self.variable(old.name) for old in body.bound()})


def constrained(
    body: QueryBody,
    conditions: Iterable[Condition],
    relations: Relations,
    slots: Sequence[Slot] = (),
) -> tuple[QueryBody | None, bool]:
    """The body under more conditions, or None where they contradict each other;
    and whether any was left out.

    `slots` name the columns of the head in the conditions.

    >>> relations = {"R": Relation("R", ("a", "b"))}
    >>> body = Fresh().scan(relations["R"])
    >>> found, _ = constrained(body, [Equal(body.head[0], Constant(1))], relations)
    >>> print(found.atoms[0])
    R(1, b~2)
    """
    left_out = False
    moved: dict[Variable, Term] = {}
    for condition in conditions:
        columns = dict(zip(slots, body.head, strict=True)) if slots else {}
        found = [_followed(term, moved, columns) for term in terms_of(condition)]
        terms = [term for term in found if not isinstance(term, Opaque)]
        if len(terms) < len(found):
            left_out = True
            continue
        step = _met(condition, terms)
        if step is None or any(
            old in body.known for old, new in step.values.items() if new == NULL
        ):
            return None, left_out
        moved |= step.values
        body = _after(body, step)
    return settled(body, relations), left_out


def _followed(term: Term, moved: Mapping[Variable, Term], columns: Mapping[Slot, Entry]) -> Entry:
    entry: Entry = term
    if isinstance(entry, Slot) and entry in columns:
        entry = columns[entry]
    while isinstance(entry, Variable) and entry in moved:
        entry = moved[entry]
    return entry


@dataclass(frozen=True, slots=True)
class _Step:
    """What one condition does to a body."""

    values: Mapping[Variable, Term]
    known: frozenset[Variable] = frozenset()
    comparisons: tuple[Comparison, ...] = ()
    pending: tuple[Condition, ...] = ()


NOTHING = _Step({})


def _after(body: QueryBody, step: _Step) -> QueryBody:
    # What the condition makes known is named before the replacement,
    # so it is replaced with the rest.
    body = replace(body, known=body.known | step.known).put(step.values)
    return replace(
        body,
        comparisons=(*body.comparisons, *step.comparisons),
        pending=(*body.pending, *step.pending),
    )


def _met(condition: Condition, terms: Sequence[Term]) -> _Step | None:
    known = frozenset(term for term in terms if isinstance(term, Variable))
    if isinstance(condition, NotNull):
        return None if terms[0] == NULL else _Step({}, known)
    if isinstance(condition, Missing):
        return _same(terms[0], NULL, frozenset())
    if isinstance(condition, Same):
        return _same(terms[0], terms[1], frozenset())
    if NULL in terms:
        return None
    if isinstance(condition, Equal):
        return _same(terms[0], terms[1], known)
    return _compared(Comparison(terms[0], condition.operator, terms[1]), known)


def _same(left: Term, right: Term, known: frozenset[Variable]) -> _Step | None:
    if left == right:
        return _Step({}, known)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return None
    fixed = [not isinstance(term, Variable) or isinstance(term, Slot) for term in (left, right)]
    if all(fixed):  # only the query around knows what stands in a slot
        return _Step({}, known, pending=(Equal(left, right) if known else Same(left, right),))
    old, new = (right, left) if fixed[0] else (left, right)
    if not fixed[0] and not fixed[1]:
        old, new = right, left
    assert isinstance(old, Variable)
    return _Step({old: new}, known)


def _compared(comparison: Comparison, known: frozenset[Variable]) -> _Step | None:
    left, right = comparison.left, comparison.right
    if left == right:
        return _Step({}, known) if comparison.operator == "<=" else None
    if isinstance(left, Constant) and isinstance(right, Constant):
        return NOTHING if holds(left, comparison.operator, right) else None
    if all(isinstance(term, Constant | Slot) for term in (left, right)):
        return _Step({}, known, pending=(comparison,))
    return _Step({}, known, (comparison,))


def holds(left: Constant, operator: str, right: Constant) -> bool:
    """A comparison of two constants; those of different kinds differ and have no order."""
    found = order(left.value, right.value)
    if found is None:
        return operator == "!="
    return {"!=": found != 0, "<": found < 0, "<=": found <= 0}[operator]


def settled(body: QueryBody, relations: Relations) -> QueryBody | None:
    """The body with comparisons of constants worked out, or None where it cannot be satisfied."""
    kept: list[Comparison] = []
    for one in dict.fromkeys(body.comparisons):
        step = None if NULL in (one.left, one.right) else _compared(one, frozenset())
        if step is None:
            return None
        kept += [c for c in (*step.comparisons, *step.pending) if isinstance(c, Comparison)]
    for atom in body.atoms:
        relation = relations[atom.relation]
        for column, term in zip(relation.columns, atom.terms, strict=True):
            if term == NULL and column not in relation.nullable:
                return None
    return replace(body, comparisons=tuple(kept), pending=tuple(dict.fromkeys(body.pending)))


def joined(
    left: QueryBody, right: QueryBody, slots: Sequence[Slot], fresh: Fresh, relations: Relations
) -> tuple[QueryBody | None, bool]:
    """Both bodies side by side, the columns of the left one put into the slots of the right one.

    The head is the left head followed by the right one. Second:
    whether a condition had to be left out, because it is about an opaque column of the left side.
    """
    right = fresh.renamed(right)
    columns = dict(zip(slots, left.head, strict=True))
    opaque = {
        slot: fresh.variable("free") for slot, entry in columns.items() if isinstance(entry, Opaque)
    }
    left_out = False
    if opaque:
        right, left_out = _freed(right, opaque)
    values = {slot: entry for slot, entry in columns.items() if not isinstance(entry, Opaque)}
    # A slot that must be known is empty for a NULL in its place.
    if any(values.get(term) == NULL for term in right.known if isinstance(term, Slot)):
        return None, left_out
    right = right.put(values)  # type: ignore[arg-type]
    waiting, right = right.pending, replace(right, pending=())
    both = QueryBody(
        left.head + right.head,
        left.atoms + right.atoms,
        left.comparisons + right.comparisons,
        left.known | right.known,
        left.pending,
        left.alone or right.alone,
    )
    found, more = constrained(both, waiting, relations)
    return found, left_out or more


def _freed(body: QueryBody, opaque: Mapping[Slot, Variable]) -> tuple[QueryBody, bool]:
    """The body with some slots about which nothing is known:
    each a variable where an atom holds it, else gone.
    """
    mentioned = {
        term for one in (*body.comparisons, *body.pending) for term in terms_of(one)
    } | set(body.known)
    mentioned |= {term for atom in body.atoms for term in atom.terms}
    used = bool(mentioned & set(opaque))
    gone = set(opaque) - {
        term for atom in body.atoms for term in atom.terms if isinstance(term, Slot)
    }
    kept = replace(
        body,
        head=tuple(OPAQUE if entry in opaque else entry for entry in body.head),
        comparisons=tuple(one for one in body.comparisons if not gone & set(terms_of(one))),
        known=body.known - gone,
        pending=tuple(one for one in body.pending if not set(opaque) & set(terms_of(one))),
    )
    values: dict[Variable, Term] = {}
    for slot, free in opaque.items():
        values[slot] = free
    return kept.put(values), used
