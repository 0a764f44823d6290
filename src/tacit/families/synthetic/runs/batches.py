"""Batches: the groups of a release in portions that are drawn, and kept, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# of a batch, unless one group has more: a second of drawing or less is lost by an interruption
PEOPLE = 100_000
GROUPS = 5_000
READ, READ_GROUPS = (
    2_000_000,
    200_000,
)  # people and groups whose true counts are in memory at a time


@dataclass(frozen=True, slots=True)
class Batch:
    """Some groups in a row: the place of the first among all groups, how many, and how many
    people they have.
    """

    first: int
    groups: int
    people: int

    @property
    def name(self) -> str:
        """What its part is called; the same whoever draws it, and when."""
        return f"{self.first:010d}"


def batches(sizes: Iterable[int], *, people: int = PEOPLE, groups: int = GROUPS) -> list[Batch]:
    """Groups of these sizes in batches. They depend on nothing else, so
    that a later run finds them again.

    >>> [(one.first, one.groups, one.people) for one in batches([3, 4, 9, 1, 1], people=7)]
    [(0, 2, 7), (2, 1, 9), (3, 2, 2)]
    """
    found: list[Batch] = []
    first, many, inside = 0, 0, 0
    for place, size in enumerate(sizes):
        if many and (inside + size > people or many == groups):
            found.append(Batch(first, many, inside))
            first, many, inside = place, 0, 0
        many, inside = many + 1, inside + size
    return [*found, Batch(first, many, inside)] if many else found


def portions(some: Sequence[Batch], *, people: int = READ) -> Iterator[list[Batch]]:
    """Batches whose true counts are read together, by one query.

    >>> [len(one) for one in portions(batches([5, 5, 5, 20, 1], people=5), people=10)]
    [2, 1, 1, 1]
    """
    held: list[Batch] = []
    many, groups = 0, 0
    for one in some:
        many, groups = many + one.people, groups + one.groups
        if held and (many > people or groups > READ_GROUPS):
            yield held
            held, many, groups = [], one.people, one.groups
        held.append(one)
    if held:
        yield held


def members(some: Sequence[Batch], groups: Sequence[Any]) -> list[Any]:
    """The groups of some batches, of all groups."""
    return [group for one in some for group in groups[one.first : one.first + one.groups]]
