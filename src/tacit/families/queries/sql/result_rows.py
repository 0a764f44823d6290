"""Rows: what a part of a query returns, as bodies, with how much of it the bodies say.

The bodies of any `ResultRows` keep one promise, on which every "private" rests: how often a row
occurs is determined by the valuations of those bodies whose head fits the row (an opaque column
fits every value), and a row that fits none does not occur. So a condition on columns that are not
opaque may be pushed into every body, and two `ResultRows` are joined by joining their bodies.

`sets`: the rows are exactly the heads of the bodies. `bags`: and each as often as there are
valuations, added up over the bodies. `distinct`: no row occurs twice. `matched`: what `sets` and
`bags` will be once conditions have removed all rows without a match from an outer join, which then
is an inner one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tacit.families.queries.query import NULL, Atom, Relation, Relations, Term, Variable
from tacit.families.queries.sql.bodies import (
    OPAQUE,
    Condition,
    Entry,
    Fresh,
    Opaque,
    QueryBody,
    Same,
    Slot,
    constrained,
    joined,
    terms_of,
)
from tacit.families.queries.sql.truth import Cases, Dependence, Formula, TruthCase, cases

MOST_BODIES = 4000
FEW_BODIES = 16


class TooManyBodies(Exception):
    """The query falls apart into more conjunctive queries than anyone could look at."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of the result: its name and, where it is known, its type.
    Not `named`: databases call it what they like.
    """

    name: str
    kind: str | None = None
    named: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ResultRows:
    """What a part of a query returns."""

    columns: tuple[ResultColumn, ...]
    bodies: tuple[QueryBody, ...]
    sets: bool = True
    bags: bool = True
    distinct: bool = False
    matched: tuple[bool, bool] | None = None


class Algebra:
    """The operations on rows, over some relations."""

    def __init__(self, relations: Relations) -> None:
        self.relations = relations
        self.fresh = Fresh()

    def scan(self, relation: Relation) -> ResultRows:
        """A table: its rows are a set."""
        columns = tuple(ResultColumn(name, relation.kinds.get(name)) for name in relation.columns)
        return ResultRows(columns, (self.fresh.scan(relation),), distinct=True)

    def product(self, left: ResultRows, slots: Sequence[Slot], right: ResultRows) -> ResultRows:
        """Every pair of rows; the right side may look at the left one through its slots."""
        many = len(left.bodies) * len(right.bodies) > FEW_BODIES
        if (
            many
            and (_has_one_row(left) or _has_one_row(right))
            and not mentioned(right).intersection(slots)
        ):
            return self._apart(left, right)
        self._check(len(left.bodies) * len(right.bodies))
        found = [
            joined(one, other, slots, self.fresh, self.relations)
            for one in left.bodies
            for other in right.bodies
        ]
        exact = not any(left_out for _, left_out in found)
        matched = None
        if left.matched or right.matched:
            mine, other = (
                left.matched or (left.sets, left.bags),
                right.matched or (right.sets, right.bags),
            )
            matched = exact and mine[0] and other[0], exact and mine[1] and other[1]
        return ResultRows(
            left.columns + right.columns,
            tuple(body for body, _ in found if body is not None),
            exact and left.sets and right.sets,
            exact and left.bags and right.bags,
            left.distinct and right.distinct,
            matched,
        )

    def _apart(self, left: ResultRows, right: ResultRows) -> ResultRows:
        """Pairs of which one side always has a row, such as two COUNT(*):
        each side matters by itself.

        Every pair of bodies would be closer, but eight such sides have 4 to the 8 of them.
        """
        width, other = len(left.columns), len(right.columns)
        bodies = [replace(body, head=body.head + (OPAQUE,) * other) for body in left.bodies]
        bodies += [replace(body, head=(OPAQUE,) * width + body.head) for body in right.bodies]
        return ResultRows(left.columns + right.columns, tuple(dict.fromkeys(bodies)), False, False)

    def filtered(
        self, rows: ResultRows, slots: Sequence[Slot], formula: Formula, *, disjoint: bool = False
    ) -> ResultRows:
        """The rows for which a condition is true."""
        ways = cases(formula, disjoint=disjoint)
        return self._in_cases(rows, slots, ways, disjoint)

    def _in_cases(
        self, rows: ResultRows, slots: Sequence[Slot], ways: Cases, disjoint: bool
    ) -> ResultRows:
        found = []
        bodies: list[QueryBody] = []
        for body in rows.bodies:
            here = [self._in_case(body, slots, case) for case in ways]
            # Equal outcomes of one body are one; equal bodies, as of VALUES (1), (1), stay two.
            bodies += dict.fromkeys(one for some, _ in here for one in some)
            found += here
            self._check(len(bodies))
        exact = all(right for _, right in found)
        counted = not any(case.needed for case in ways) and (
            disjoint or len(ways) <= 1 or len(bodies) <= 1
        )
        sets, bags, matched = rows.sets, rows.bags, rows.matched
        if matched is not None:
            matched = matched[0] and exact, matched[1] and exact and counted
            if not any(body.alone for body in bodies):
                (sets, bags), matched = matched, None
        return replace(
            rows,
            bodies=tuple(bodies),
            sets=sets and exact,
            bags=bags and exact and counted,
            matched=matched,
        )

    def _in_case(
        self, body: QueryBody, slots: Sequence[Slot], case: TruthCase
    ) -> tuple[list[QueryBody], bool]:
        first, left_out = constrained(body, case.conditions, self.relations, slots)
        found = [first] if first is not None else []
        exact = case.exact and not left_out
        for one in case.needed:
            matched = [self.matched(base, slots, one) for base in found]
            exact = exact and all(right for _, right in matched)
            found = [base for some, _ in matched for base in some]
        return found + [
            more
            for base in found
            for one in case.depends
            for more in self.matched(base, slots, one)[0]
        ], exact

    def matched(
        self, body: QueryBody, slots: Sequence[Slot], on: Dependence
    ) -> tuple[list[QueryBody], bool]:
        """The body with each of the bodies of a subquery beside it, under the columns that it
        has; and whether exactly.
        """
        found: list[QueryBody] = []
        exact = on.rows.sets
        width = len(body.head)
        self._check(len(on.rows.bodies))
        for other in on.rows.bodies:
            pair, left_out = joined(body, other, slots, self.fresh, self.relations)
            exact = exact and not left_out
            if pair is None:
                continue
            pair, left_out = constrained(pair, on.conditions, self.relations, (*slots, *on.slots))
            exact = exact and not left_out
            if pair is not None:
                found.append(replace(pair, head=pair.head[:width]))
        return found, exact

    def depending(
        self, rows: ResultRows, slots: Sequence[Slot], on: Iterable[Dependence]
    ) -> ResultRows:
        """The same rows, whose computed columns also look into subqueries."""
        more = [
            found
            for one in on
            for body in rows.bodies
            for found in self.matched(body, slots, one)[0]
        ]
        self._check(len(more))
        if not more:
            return rows
        return replace(rows, bodies=rows.bodies + tuple(more), sets=False, bags=False, matched=None)

    def projected(
        self,
        rows: ResultRows,
        slots: Sequence[Slot],
        columns: Sequence[ResultColumn],
        entries: Sequence[Entry],
        base: ResultRows | None = None,
    ) -> ResultRows:
        """Some columns, in order; entries are slots, slots of queries around, constants, or opaque.

        `base` is what the rows were before a condition took some away:
        what keeps its rows apart keeps these apart.
        """
        bodies = tuple(
            replace(body, head=self._picked(body, slots, entries)) for body in rows.bodies
        )
        exact = not any(isinstance(entry, Opaque) for body in bodies for entry in body.head)
        apart = self._injective(rows, slots, entries) or (
            base is not None and self._injective(base, slots, entries)
        )
        distinct = rows.distinct and apart
        return ResultRows(
            tuple(columns), bodies, rows.sets and exact, rows.bags and exact, distinct
        )

    def _picked(
        self, body: QueryBody, slots: Sequence[Slot], entries: Sequence[Entry]
    ) -> tuple[Entry, ...]:
        values: dict[Term, Entry] = dict(zip(slots, body.head, strict=True))
        return tuple(
            entry if isinstance(entry, Opaque) else values.get(entry, entry) for entry in entries
        )

    def _injective(self, rows: ResultRows, slots: Sequence[Slot], entries: Sequence[Entry]) -> bool:
        """Do different rows stay different under a projection? No only means: not that we know."""
        if set(slots) <= set(entries) or not rows.bodies:
            return True
        if len(rows.bodies) > 1:
            return False
        (body,) = rows.bodies
        fixed = {
            entry for entry in self._picked(body, slots, entries) if isinstance(entry, Variable)
        }
        return not (
            set(body.head)
            - fixed_by(fixed, body.atoms, self.relations)
            - set(self._constants(body))
        )

    @staticmethod
    def _constants(body: QueryBody) -> list[Entry]:
        return [
            entry
            for entry in body.head
            if not isinstance(entry, Opaque) and not isinstance(entry, Variable)
        ]

    def once(self, rows: ResultRows) -> ResultRows:
        """DISTINCT."""
        return replace(rows, bags=rows.bags and rows.distinct, distinct=True, matched=None)

    def united(
        self, left: ResultRows, right: ResultRows, columns: tuple[ResultColumn, ...]
    ) -> ResultRows:
        """UNION ALL."""
        return ResultRows(
            columns, left.bodies + right.bodies, left.sets and right.sets, left.bags and right.bags
        )

    def common(
        self, left: ResultRows, right: ResultRows, columns: tuple[ResultColumn, ...]
    ) -> ResultRows:
        """INTERSECT: pairs of equal rows, NULL equal to NULL."""
        bodies, exact = self._equal_pairs(left, right)
        return ResultRows(columns, bodies, exact and left.sets and right.sets, False, True)

    def without(
        self, left: ResultRows, right: ResultRows, columns: tuple[ResultColumn, ...]
    ) -> ResultRows:
        """EXCEPT: the left rows, depending on equal right ones."""
        return ResultRows(
            columns, left.bodies + self._equal_pairs(left, right)[0], False, False, left.distinct
        )

    def _equal_pairs(
        self, left: ResultRows, right: ResultRows
    ) -> tuple[tuple[QueryBody, ...], bool]:
        self._check(len(left.bodies) * len(right.bodies))
        here, there = self.fresh.slots(len(left.columns)), self.fresh.slots(len(left.columns))
        same: list[Condition] = [Same(one, other) for one, other in zip(here, there, strict=True)]
        on = Dependence(right, there, tuple(same))
        found = [self.matched(body, here, on) for body in left.bodies]
        return tuple(body for some, _ in found for body in some), all(exact for _, exact in found)

    def outer(
        self,
        left: ResultRows,
        right: ResultRows,
        matches: ResultRows,
        *,
        keep_left: bool,
        keep_right: bool,
    ) -> ResultRows:
        """LEFT, RIGHT and FULL JOIN: the matches, and the rows of a side without one beside NULLs.

        Whether a row of the left side stays alone depends on its matches, so these are there once
        more with NULLs for the right columns: a condition that wants a right column known removes
        them with it.
        """
        width, other = len(left.columns), len(right.columns)
        bodies = list(matches.bodies)
        if keep_left:
            alone = [body.head[:width] + (NULL,) * other for body in matches.bodies]
            bodies += [
                replace(body, head=head, alone=True)
                for body, head in zip(matches.bodies, alone, strict=True)
            ]
            bodies += [
                replace(body, head=body.head + (NULL,) * other, alone=True) for body in left.bodies
            ]
        if keep_right:
            alone = [(NULL,) * width + body.head[width:] for body in matches.bodies]
            bodies += [
                replace(body, head=head, alone=True)
                for body, head in zip(matches.bodies, alone, strict=True)
            ]
            bodies += [
                replace(body, head=(NULL,) * width + body.head, alone=True) for body in right.bodies
            ]
        self._check(len(bodies))
        sure = matches.matched or (matches.sets, matches.bags)
        distinct = left.distinct and right.distinct
        return ResultRows(left.columns + right.columns, tuple(bodies), False, False, distinct, sure)

    def semi(self, left: ResultRows, matches: ResultRows) -> ResultRows:
        """The left rows that have a match."""
        width = len(left.columns)
        bodies = tuple(replace(body, head=body.head[:width]) for body in matches.bodies)
        return ResultRows(left.columns, bodies, left.sets and matches.sets, False, left.distinct)

    def anti(self, left: ResultRows, matches: ResultRows) -> ResultRows:
        """The left rows that have no match: they depend on those that have one."""
        found = self.semi(left, matches)
        return replace(found, bodies=left.bodies + found.bodies, sets=False)

    def hidden(self, rows: ResultRows, *, one_row: bool = False) -> ResultRows:
        """Rows of which each may depend on all others, so that no condition can be pushed inside.

        `one_row`: there is a row even where the bodies find nothing, as
        with COUNT(*) over an empty table.
        """
        blank: tuple[Entry, ...] = (OPAQUE,) * len(rows.columns)
        bodies = tuple(replace(body, head=blank) for body in rows.bodies)
        return ResultRows(
            rows.columns, (*bodies, QueryBody(blank)) if one_row else bodies, False, False
        )

    @staticmethod
    def _check(count: int) -> None:
        if count > MOST_BODIES:
            raise TooManyBodies


def _has_one_row(rows: ResultRows) -> bool:
    return any(
        not body.atoms and all(isinstance(entry, Opaque) for entry in body.head)
        for body in rows.bodies
    )


def mentioned(rows: ResultRows) -> set[Slot]:
    """The slots that rows look at: columns of queries around them."""
    found: set[Slot] = set()
    for body in rows.bodies:
        terms = [*body.head, *body.known, *(term for atom in body.atoms for term in atom.terms)]
        terms += [term for one in (*body.comparisons, *body.pending) for term in terms_of(one)]
        found |= {term for term in terms if isinstance(term, Slot)}
    return found


def fixed_by(given: set[Variable], atoms: Sequence[Atom], relations: Relations) -> set[Entry]:
    """The variables that can have one value only once some are
    given, by the keys of the relations.
    """
    fixed: set[Entry] = set(given)
    keys: list[tuple[Atom, Callable[[], bool]]] = []
    for atom in atoms:
        relation = relations[atom.relation]
        for key in relation.keys:
            if relation.nullable.isdisjoint(key):
                terms = {
                    term
                    for name, term in zip(relation.columns, atom.terms, strict=True)
                    if name in key
                }
                keys.append(
                    (
                        atom,
                        lambda terms=terms: all(  # type: ignore[misc]
                            not isinstance(t, Variable) or t in fixed for t in terms
                        ),
                    )
                )
    grown = True
    while grown:
        before = len(fixed)
        for atom, given_now in keys:
            if given_now():
                fixed.update(term for term in atom.terms if isinstance(term, Variable))
        grown = len(fixed) > before
    return fixed
