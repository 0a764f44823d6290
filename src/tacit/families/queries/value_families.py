"""Families: can the values of two queries be compared as they are written?

A column without a type may hold texts or numbers: whether `a = 1` and `a = '1'` mean the same row
is up to the engine. And an engine compares some types (UUID, time, floating point) in ways of its
own. Where constants meet such columns, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tacit.families.queries.kinds import ENGINE, family, family_of
from tacit.families.queries.query import Conjunctive, Constant, Query, Relations, Variable

Item = tuple[Any, ...]  # a column, or a variable of a part


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
    for number, query in enumerate(queries):
        for place, part in enumerate(query.parts):
            groups.read(part, (number, place), relations)
    return next(groups.doubts(relations), None)


class ValueFamilies:
    """Columns and variables that hold the same kind of values,
    with the constants that they meet.
    """

    def __init__(self) -> None:
        self.above: dict[Item, Item] = {}
        self.constants: list[tuple[Item, str]] = []
        self.columns: dict[Item, None] = {}

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

    def read(self, part: Conjunctive, at: Item, relations: Relations) -> None:
        """What one conjunctive query joins and compares."""
        for atom in part.atoms:
            for column, term in zip(relations[atom.relation].columns, atom.terms, strict=True):
                place = ("column", atom.relation, column)
                self.columns[place] = None
                self.meet(place, term, at)
        for one in part.comparisons:
            left: Item = ("comparison", *at, str(one))
            self.meet(left, one.left, at)
            self.meet(left, one.right, at)

    def meet(self, item: Item, term: Variable | Constant, at: Item) -> None:
        """An item is joined with a variable, or compared with a constant."""
        if isinstance(term, Variable):
            self.join(item, ("variable", *at, term.name))
        elif (found := family_of(term.value)) is not None:
            self.constants.append((item, found))

    def doubts(self, relations: Relations) -> Iterator[str]:
        """The groups in which values of several families meet, or that only the engine compares."""
        met: dict[Item, set[str]] = {}
        for item, found in self.constants:
            met.setdefault(self.top(item), set()).add(found)
        for _, relation, column in self.columns:
            top = self.top(("column", relation, column))
            kind = relations[relation].kinds.get(column)
            if kind == ENGINE and met.get(top):
                yield f"{relation}.{column} has a type whose values only the database compares"
            if family(kind) is not None:
                met.setdefault(top, set()).add(str(family(kind)))
        for _, relation, column in self.columns:
            families = met.get(self.top(("column", relation, column)), set()) - {"distribution"}
            if len(families) > 1 and families != {"date", "timestamp"}:
                known = relations[relation].kinds.get(column)
                has = f"is {known}" if known else "has no type"
                yield (
                    f"{relation}.{column} {has}, and is compared with "
                    f"{' and '.join(sorted(families))}"
                )
