"""Memberships: how many people are in which views, by the
combinations of views that they are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import NOTHING, Integers, Overlap
from tacit.families.overlaps.question import OverlapQuestion

Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Combination:
    """People who are in just the views `inside`, by their places, and in some of `perhaps` if
    their private value is one that these select.
    """

    inside: tuple[int, ...]
    perhaps: tuple[int, ...]
    people: int

    @property
    def views(self) -> int:
        """How many views could show them."""
        return len(self.inside) + len(self.perhaps)


@dataclass(frozen=True, slots=True)
class Memberships:
    """The combinations of some views that somebody is in, those with the most people first.

    `sensitive` is the private column, and `called` what the views are:
    "view", or "release" where one is microdata.
    """

    views: tuple[str, ...]
    combinations: tuple[Combination, ...]
    sensitive: str = ""
    called: str = "view"

    @property
    def people(self) -> int:
        """How many people there are."""
        return sum(one.people for one in self.combinations)

    @property
    def is_certain(self) -> bool:
        """Is it settled for everybody which views they are in, whatever their private value?"""
        return not any(one.perhaps for one in self.combinations)

    def shown_by(self, view: int) -> int:
        """How many people are in a view, or may be."""
        return sum(
            one.people for one in self.combinations if view in one.inside or view in one.perhaps
        )

    def together(self, views: Sequence[int]) -> Memberships:
        """The same by some of the views, and by one more that stands for all others."""
        kept = {view: place for place, view in enumerate(views)}
        many: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        for one in self.combinations:
            inside = sorted({kept.get(view, len(kept)) for view in one.inside})
            perhaps = sorted({kept.get(view, len(kept)) for view in one.perhaps} - set(inside))
            place = tuple(inside), tuple(perhaps)
            many[place] = many.get(place, 0) + one.people
        names = (*(self.views[view] for view in views), f"{len(self.views) - len(kept):,} others")
        return replace(self, views=names, combinations=_ordered(many))


@dataclass(frozen=True, slots=True)
class Seats:
    """Who is in which view: as everybody can tell who knows the public columns (`told`), and as
    it is (`true`), for the owner.
    """

    told: Memberships
    true: Memberships


def seats(question: OverlapQuestion) -> Seats:
    """Who is in which of the releases that a question is about."""
    found = memberships(question.overlap), true_memberships(question.overlap)
    told, true = (
        replace(one, sensitive=question.sensitive, called=question.called) for one in found
    )
    return Seats(told, true)


def memberships(overlap: Overlap) -> Memberships:
    """How many people are in which views, as everybody can tell who knows the public columns.

    Where a view looks at the private value, people may be in it or not.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> memberships(
    ...     overlap_of(["x", "y"], [["x", "y"], ["x", "y"]], [[0], [0, 1], [1], [1]])
    ... ).combinations[0]
    Combination(inside=(1,), perhaps=(), people=2)
    """
    shows = overlap.outputs != NOTHING
    return _counted(overlap.views, shows.all(axis=2), shows.any(axis=2), overlap.sizes)


def true_memberships(overlap: Overlap) -> Memberships:
    """The same by the private values that people have in the data, for the owner's eyes;
    as everybody can tell where these are not known.
    """
    told = memberships(overlap)
    if told.is_certain or overlap.current is None:
        return told
    class_, value = np.nonzero(overlap.current)
    shows = overlap.outputs[class_, :, value] != NOTHING
    return _counted(overlap.views, shows, shows, overlap.current[class_, value])


def _counted(views: tuple[str, ...], inside: Flags, any_: Flags, many: Integers) -> Memberships:
    """Add up people who are in the same views:
    one row for each kind of people, one column for each view.
    """
    there = many > 0
    states, place = np.unique(
        inside[there].astype(np.int8) + any_[there], axis=0, return_inverse=True
    )
    people = np.zeros(len(states), dtype=np.int64)
    np.add.at(people, place.reshape(-1), many[there])
    found = {
        (tuple(np.flatnonzero(row == 2).tolist()), tuple(np.flatnonzero(row == 1).tolist())): count
        for row, count in zip(states, people.tolist(), strict=True)
    }
    return Memberships(views, _ordered(found))


def _ordered(many: dict[tuple[tuple[int, ...], tuple[int, ...]], int]) -> tuple[Combination, ...]:
    """The most people first; where as many are, the fewer views first."""
    found = [Combination(inside, perhaps, people) for (inside, perhaps), people in many.items()]
    return tuple(sorted(found, key=lambda one: (-one.people, one.views, one.inside, one.perhaps)))
