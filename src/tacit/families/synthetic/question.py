"""Question: what a check of synthetic releases is asked about.
Group sizes and domains only: no row of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tacit.families.synthetic.cells import DomainCells
from tacit.families.synthetic.promise.terms import Terms
from tacit.model.jobs import Job
from tacit.model.verdict import Assumption


@dataclass(frozen=True)
class Sort:
    """Groups that are alike: so many groups with as many people and the same cells;
    `example` is one of them.

    `labels` are up to three of its values, to tell a story with,
    where groups have cells of their own.
    """

    people: int
    cells: DomainCells
    groups: int = 1
    example: Any = None
    labels: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Planned:
    """A synthetic release as far as its promise depends on it.

    `group` and `value` are the columns; `labels` are up to three public values that all groups
    have, to tell a story with.
    """

    name: str
    table: str
    group: str
    value: str
    terms: Terms
    sorts: Sequence[Sort]
    labels: tuple[Any, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()
    outside: int = 0  # people who were left out, for the owner's eyes

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return sum(sort.groups for sort in self.sorts)

    @property
    def people(self) -> int:
        """How many people there are."""
        return sum(sort.groups * sort.people for sort in self.sorts)


@dataclass(frozen=True)
class SyntheticQuestion:
    """Synthetic releases that are judged together: of one table, about the same people."""

    releases: tuple[Planned, ...]
    job: Job = field(default_factory=Job)
    warnings: tuple[str, ...] = ()

    def closed(self) -> Self:
        """The question itself: it looks nobody up."""
        return self
