"""Understanding: what Tacit understood of a query, and what it could only enclose.

Every query is a function of a few conjunctive queries read as bags, its supports (the rows that
FROM and WHERE find, both sides of NOT EXISTS, ...). What the supports do not disclose the query
does not disclose; the reverse does not hold, so `disclosed` is claimed from `exact` only, or from a
witness that was executed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tacit.errors import Mark
from tacit.families.queries.query import Query


@dataclass(frozen=True, slots=True)
class QueryText:
    r"""The text of a query and the file, or the name, that errors speak of.

    >>> str(QueryText("SELECT a\nFROM b", "wards.sql").mark(14))
    'wards.sql:2:6'
    """

    text: str
    file: str

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        before = self.text[: max(offset, 0)]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1

    def mark(self, offset: int | None) -> Mark:
        """The place of a character with its line."""
        if offset is None:
            return Mark(self.file)
        line, column = self.place(offset)
        return Mark(self.file, line, column, self.text.split("\n")[line - 1])


@dataclass(frozen=True, slots=True)
class Approximation:
    """A fragment of a query that is not read exactly:
    its code in the documentation, its text and place.

    `direction` "wider": the support keeps at least the rows that matter, so "private" stays right.
    """

    code: str
    fragment: str
    text: str
    line: int = 1
    column: int = 1
    direction: Literal["wider"] = "wider"


@dataclass(frozen=True, slots=True)
class QueryUnderstanding:
    """A query as read. `exact` is the query itself where it is a union
    of conjunctive queries, else None.

    `converts`: the database may convert a value to compare it, in a part that need not matter to
    the answer. Conversions can fail. `sorted_by` is what the rows are sorted by where that says
    more than they do: an answer is a bag, and its order is not judged. `order_shown`: every
    ORDER BY sorts by what the answer shows, so that the order tells no more than the answer.
    `as_set` is a bag with each row once, where that was read: in cases that may overlap, which say
    more of a row than disjoint ones.
    """

    name: str
    text: str
    language: Literal["sql", "datalog"]
    columns: tuple[str, ...]
    supports: tuple[Query, ...]
    exact: Query | None = None
    approximations: tuple[Approximation, ...] = ()
    converts: bool = False
    sorted_by: str | None = None
    order_shown: bool = False
    as_set: Query | None = None

    @property
    def enclosed(self) -> Query:
        """The query itself, or one bag that has all its supports.

        Heads are left out of the supports: the rows that change a bag are those that take part in
        it, whatever it shows of them.
        """
        if self.exact is not None:
            return self.exact
        parts = tuple(replace(part, head=()) for support in self.supports for part in support.parts)
        return Query(self.name, parts, bag=True)

    @property
    def is_exact(self) -> bool:
        """Is the query read as it is?"""
        return self.exact is not None


def spoken_of(reading: QueryUnderstanding) -> set[str]:
    """The tables that a query as read depends on."""
    return {atom.relation for part in reading.enclosed.parts for atom in part.atoms}
