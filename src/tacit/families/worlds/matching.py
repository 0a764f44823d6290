"""Matching: every way to send the atoms of a body to possible tuples, found by hash joins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tacit.families.queries.query import Atom, Comparison, Constant, Term, Variable
from tacit.families.worlds.universe import MISSING, ValueNumbering
from tacit.model.deadline import look

Tuple = tuple[int, ...]
Match = tuple[Tuple, Tuple]  # the values of the variables, the tuples that were used
MOST_MATCHES = 4_000_000


class TooManyWays(Exception):
    """More ways than can be looked at: `what` says of what."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


@dataclass(slots=True)
class TupleStore:
    """Possible tuples by relation, each with a number from 1 on."""

    numbering: ValueNumbering
    rows: dict[str, list[Tuple]] = field(default_factory=dict)
    numbers: dict[tuple[str, Tuple], int] = field(default_factory=dict)
    facts: list[tuple[str, Tuple]] = field(default_factory=list)
    _indexes: dict[tuple[str, Tuple], dict[Tuple, list[tuple[Tuple, int]]]] = field(
        default_factory=dict
    )
    _missing: dict[tuple[str, int], bool] = field(default_factory=dict)

    def add(self, relation: str, rows: Iterable[Tuple]) -> None:
        """Make tuples possible."""
        self.rows[relation] = []
        for row in rows:
            self.facts.append((relation, row))
            self.numbers[relation, row] = len(self.facts)
            self.rows[relation].append(row)

    def having(self, relation: str, positions: Tuple) -> dict[Tuple, list[tuple[Tuple, int]]]:
        """The tuples of a relation by their values at some positions."""
        index = self._indexes.get((relation, positions))
        if index is None:
            index = {}
            for row in self.rows.get(relation, ()):
                index.setdefault(tuple([row[at] for at in positions]), []).append(
                    (row, self.numbers[relation, row])
                )
            self._indexes[relation, positions] = index
        return index

    def has_missing(self, relation: str, at: int) -> bool:
        """Is NULL possible in a column?"""
        found = self._missing.get((relation, at))
        if found is None:
            found = self._missing[relation, at] = any(
                row[at] == MISSING for row in self.rows.get(relation, ())
            )
        return found


@dataclass(slots=True)
class Matches:
    """Rows of values for the variables, in order, with the numbers of the tuples they rest on."""

    variables: tuple[Variable, ...]
    rows: list[Match]

    def values(self, terms: Sequence[Term], numbering: ValueNumbering) -> list[Tuple]:
        """What terms are in each match."""
        places = [
            term.value if isinstance(term, Constant) else self.variables.index(term)
            for term in terms
        ]
        fixed = [isinstance(term, Constant) for term in terms]
        if not any(fixed):
            return [tuple([values[at] for at in places]) for values, _ in self.rows]
        constants = [
            numbering.of(place) if is_fixed else 0
            for place, is_fixed in zip(places, fixed, strict=True)
        ]
        picks = list(zip(places, constants, fixed, strict=True))
        return [
            tuple([constant if is_fixed else values[at] for at, constant, is_fixed in picks])
            for values, _ in self.rows
        ]


def matches(
    atoms: Sequence[Atom],
    comparisons: Sequence[Comparison],
    known: frozenset[Variable],
    store: TupleStore,
    start: Matches | None = None,
) -> Matches:
    """Every way to satisfy atoms and comparisons, from given values of some variables on.

    >>> from tacit.families.queries.query import Variable
    >>> x, y = Variable("x"), Variable("y")
    >>> store = TupleStore(ValueNumbering())
    >>> store.add("R", [(1, 2), (2, 2)])
    >>> matches([Atom("R", (x, y))], [Comparison(x, "!=", y)], frozenset(), store).rows
    [((1, 2), (1,))]
    """
    found = start or Matches((), [((), ())])
    waiting = list(comparisons)
    left = list(atoms)
    found, waiting = _compared(found, waiting, store.numbering)
    while left:
        found, waiting = _with_next(found, left, waiting, known, store)
    return found


def seen_together(
    atoms: Sequence[Atom],
    comparisons: Sequence[Comparison],
    known: frozenset[Variable],
    store: TupleStore,
    wanted: Sequence[Variable],
) -> set[Tuple]:
    """The values that some variables have together in any match;
    the other values are forgotten as soon as they can be.

    >>> x, y, z = map(Variable, "xyz")
    >>> store = TupleStore(ValueNumbering())
    >>> store.add("R", [(1, 2), (1, 3)])
    >>> seen_together([Atom("R", (x, y)), Atom("R", (x, z))], [], frozenset(), store, [x])
    {(1,)}
    """
    found = Matches((), [((), ())])
    waiting, left = list(comparisons), list(atoms)
    while left:
        found, waiting = _with_next(found, left, waiting, known, store)
        needed = {
            *wanted,
            *(term for one in left for term in one.terms),
            *(term for one in waiting for term in (one.left, one.right)),
        }
        kept = tuple(one for one in found.variables if one in needed)
        if kept != found.variables:
            found = Matches(
                kept,
                [(values, ()) for values in dict.fromkeys(found.values(kept, store.numbering))],
            )
    return set(found.values(wanted, store.numbering))


def _with_next(
    found: Matches,
    left: list[Atom],
    waiting: list[Comparison],
    known: frozenset[Variable],
    store: TupleStore,
) -> tuple[Matches, list[Comparison]]:
    """The matches with the atom that most is known of, which is taken from those that are left."""
    atom = max(left, key=lambda one: _bound(one, found.variables, store))
    left.remove(atom)
    return _compared(_extended(found, atom, known, store), waiting, store.numbering)


def _bound(atom: Atom, variables: tuple[Variable, ...], store: TupleStore) -> tuple[int, int]:
    """How many of its columns are fixed;
    of equally bound atoms the one with fewer tuples comes first.
    """
    fixed = sum(isinstance(term, Constant) or term in variables for term in atom.terms)
    return fixed, -len(store.rows.get(atom.relation, ()))


def _extended(found: Matches, atom: Atom, known: frozenset[Variable], store: TupleStore) -> Matches:
    keys: list[
        tuple[int, int]
    ] = []  # position in the tuple, place of the value among the variables
    constants: list[tuple[int, int]] = []
    new: dict[Variable, int] = {}
    same: list[tuple[int, int]] = []
    for at, term in enumerate(atom.terms):
        if isinstance(term, Constant):
            constants.append((at, store.numbering.of(term.value)))
        elif term in found.variables:
            keys.append((at, found.variables.index(term)))
        elif term in new:
            same.append((at, new[term]))
        else:
            new[term] = at
    index = store.having(atom.relation, tuple(at for at, _ in (*constants, *keys)))
    fixed = tuple(number for _, number in constants)
    places = [place for _, place in keys]
    never_null = [
        at
        for variable, at in new.items()
        if variable in known and store.has_missing(atom.relation, at)
    ]
    ends = _ends(index, same, never_null, list(new.values()))
    rows: list[Match] = []
    for values, used in found.rows:
        look()
        key = fixed + tuple([values[place] for place in places])
        rows += [(values + more, (*used, number)) for more, number in ends.get(key, ())]
        if len(rows) > MOST_MATCHES:
            raise TooManyWays(
                f"more than {MOST_MATCHES:,} ways to find {atom} together with the rest of "
                "its query"
            )
    return Matches((*found.variables, *new), rows)


def _ends(
    index: dict[Tuple, list[tuple[Tuple, int]]],
    same: Sequence[tuple[int, int]],
    never_null: Sequence[int],
    takes: Sequence[int],
) -> dict[Tuple, list[tuple[Tuple, int]]]:
    """What the tuples of an index add to a match: the values of its new variables."""
    if not same and not never_null and not takes:
        return {key: [((), number) for _, number in tuples] for key, tuples in index.items()}
    return {
        key: [
            (tuple([row[at] for at in takes]), number)
            for row, number in tuples
            if not any(row[at] != row[other] for at, other in same)
            and not any(row[at] == MISSING for at in never_null)
        ]
        for key, tuples in index.items()
    }


def _compared(
    found: Matches, waiting: Sequence[Comparison], numbering: ValueNumbering
) -> tuple[Matches, list[Comparison]]:
    """Keep what satisfies the comparisons whose sides are all known by now."""
    later: list[Comparison] = []
    for one in waiting:
        if any(
            isinstance(term, Variable) and term not in found.variables
            for term in (one.left, one.right)
        ):
            later.append(one)
            continue
        sides = zip(found.values((one.left, one.right), numbering), found.rows, strict=True)
        if one.operator == "!=":
            kept = [
                row
                for (left, right), row in sides
                if left != right and left != MISSING and right != MISSING
            ]
        else:
            kept = [
                row for (left, right), row in sides if numbering.holds(one.operator, left, right)
            ]
        found = Matches(found.variables, kept)
    return found, later
