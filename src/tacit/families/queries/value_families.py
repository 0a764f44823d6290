"""Families: can the values of two queries be compared as they are written?

A column without a type may hold texts or numbers: whether `a = 1` and `a = '1'` mean the same row
is up to the engine. And an engine compares some types (UUID, time, floating point) in ways of its
own. Where constants meet such columns, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from tacit.families.queries.kinds import ENGINE, family, family_of
from tacit.families.queries.query import Conjunctive, Constant, Query, Relations, Variable

Item = tuple[Any, ...]  # a column: relation and position; or a variable of a part


def doubtful(queries: Sequence[Query], relations: Relations) -> str | None:
    """Why the constants of some queries may not mean what they look like; None where they do.

    Columns that a variable joins, in any of the queries, hold the same kind of values.

    >>> from tacit.families.queries.query import Atom, Relation
    >>> x = Variable("x")
    >>> one, two = (
    ...     Query("Q", (Conjunctive((x,), (Atom("R", (Constant(value), x)),)),))
    ...     for value in (1, "1")
    ... )
    >>> doubtful([one, two], {"R": Relation("R", ("a", "b"))})
    'R.a has no type, and is compared with number and text'
    >>> doubtful([one, two], {"R": Relation("R", ("a", "b"), kinds={"a": "integer"})}) is None
    False
    """
    groups = ValueFamilies()
    for said in dict.fromkeys(map(_said, queries)):
        groups.read(said)
    return next(groups.doubts(relations), None)


Said = tuple[tuple[Item, ...], tuple[tuple[tuple[Item, ...], tuple[str, ...]], ...]]


def _said(query: Query) -> Said:
    """The columns that a query speaks of; and which of them it joins, with what they meet."""
    of, said = _remembered(query)
    # Equal constants may be of several families: 1 and 1.0.
    return said if of is query else _remembered.__wrapped__(query)[1]


@lru_cache(maxsize=4096)
def _remembered(query: Query) -> tuple[Query, Said]:
    columns: dict[Item, None] = {}
    groups: dict[tuple[tuple[Item, ...], tuple[str, ...]], None] = {}
    for part in query.parts:
        said = PartFamilies()
        said.read(part)
        columns |= said.columns
        groups |= dict.fromkeys(said.groups())
    return query, (tuple(columns), tuple(groups))


class JoinedItems:
    """Items that hold the same kind of values."""

    def __init__(self) -> None:
        self.above: dict[Item, Item] = {}

    def top(self, item: Item) -> Item:
        """What stands for all that are joined with an item."""
        above = self.above.setdefault(item, item)
        while above != item:  # paths are halved: a thousand views join the same columns
            self.above[item] = item = self.above[above]
            above = self.above[item]
        return item

    def join(self, one: Item, two: Item) -> None:
        """Two items hold the same kind of values."""
        self.above[self.top(one)] = self.top(two)


class PartFamilies(JoinedItems):
    """The columns (relation and position) and variables of one conjunctive query, with the
    constants that they meet.
    """

    def __init__(self) -> None:
        super().__init__()
        self.constants: list[tuple[Item, str]] = []
        self.columns: dict[Item, None] = {}

    def read(self, part: Conjunctive) -> None:
        """What a conjunctive query joins and compares."""
        for atom in part.atoms:
            for column, term in enumerate(atom.terms):
                place = (atom.relation, column)
                self.columns[place] = None
                self.meet(place, term)
        for number, one in enumerate(part.comparisons):
            self.meet(("comparison", number, "of two"), one.left)
            self.meet(("comparison", number, "of two"), one.right)

    def meet(self, item: Item, term: Variable | Constant) -> None:
        """An item is joined with a variable, or compared with a constant."""
        if isinstance(term, Variable):
            self.join(item, (term.name,))
        elif (found := family_of(term.value)) is not None:
            self.constants.append((item, found))

    def groups(self) -> Iterator[tuple[tuple[Item, ...], tuple[str, ...]]]:
        """The columns that are joined, with the families of their constants."""
        columns: dict[Item, list[Item]] = {}
        met: dict[Item, set[str]] = {}
        for one in self.columns:
            columns.setdefault(self.top(one), []).append(one)
        for one, found in self.constants:
            met.setdefault(self.top(one), set()).add(found)
        for top, joined in columns.items():
            if len(joined) > 1 or top in met:
                yield tuple(joined), tuple(sorted(met.get(top, ())))


class ValueFamilies(JoinedItems):
    """Columns of all queries that hold the same kind of values, with the constants that they
    meet.
    """

    def __init__(self) -> None:
        super().__init__()
        self.constants: dict[tuple[Item, str], None] = {}
        self.columns: dict[Item, None] = {}

    def read(self, said: Said) -> None:
        """What one query joins and compares."""
        columns, groups = said
        self.columns |= dict.fromkeys(columns)
        for joined, families in groups:
            for one in joined[1:]:
                self.join(joined[0], one)
            self.constants |= dict.fromkeys((joined[0], one) for one in families)

    def doubts(self, relations: Relations) -> Iterator[str]:
        """The groups in which values of several families meet, or that only the engine compares."""
        met: dict[Item, set[str]] = {}
        for item, found in self.constants:
            met.setdefault(self.top(item), set()).add(found)
        for relation, place in self.columns:
            top, column = self.top((relation, place)), relations[relation].columns[place]
            kind = relations[relation].kinds.get(column)
            if kind == ENGINE and met.get(top):
                yield f"{relation}.{column} has a type whose values only the database compares"
            if family(kind) is not None:
                met.setdefault(top, set()).add(str(family(kind)))
        for relation, place in self.columns:
            column = relations[relation].columns[place]
            families = met.get(self.top((relation, place)), set()) - {"distribution"}
            if len(families) > 1 and families != {"date", "timestamp"}:
                known = relations[relation].kinds.get(column)
                has = f"is {known}" if known else "has no type"
                yield (
                    f"{relation}.{column} {has}, and is compared with "
                    f"{' and '.join(sorted(families))}"
                )
