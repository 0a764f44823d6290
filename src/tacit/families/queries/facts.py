"""Facts: tuples in relations, the rows of the small instances that serve as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.families.queries.query import Constant


@dataclass(frozen=True, slots=True)
class Fact:
    """A tuple in a relation; None is NULL.

    >>> print(Fact("D", ("_fresh1", "cancer", None)))
    D('_fresh1', 'cancer', NULL)
    """

    relation: str
    values: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(str(Constant(value)) for value in self.values)})"
