"""OverlapQuestion: what is asked about several views of one table, and who the people are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tacit.families.overlaps.meanings import Meanings
from tacit.families.overlaps.overlap import Overlap
from tacit.model.jobs import Job
from tacit.model.verdict import Assumption

Key = tuple[Any, ...]  # the values of a person's key columns


class ClassPeople(Protocol):
    """Who the people of the classes are; they are looked up where the rows live."""

    def members(self, class_: int, limit: int, value: int | None) -> list[Key]:
        """The first people of a class, with some value or with any."""

    def everyone(self, limit: int | None) -> Iterator[tuple[Key, int, int | None]]:
        """The first people of all classes: key, class, and the number
        of the value where it is known.
        """

    def class_of(self, key: Key) -> int | None:
        """The class of a person; None for somebody who is not there or is left out."""


class Nobody:
    """People who cannot be looked up any more, or never could."""

    def members(self, class_: int, limit: int, value: int | None) -> list[Key]:
        """Nobody."""
        return []

    def everyone(self, limit: int | None) -> Iterator[tuple[Key, int, int | None]]:
        """Nobody."""
        return iter(())

    def class_of(self, key: Key) -> int | None:
        """No class."""
        return None


@dataclass(frozen=True, slots=True)
class ViewAnswer:
    """One view: its columns, and what its rows show besides the private value.

    The rows of the view have the numbers from `first` on: for each of the combinations in `shown`
    one row, or where `private` is the place of the private column, one for each value. `file` is
    where the answer came from, if not from the data.
    """

    columns: tuple[str, ...]
    shown: Sequence[tuple[str | None, ...]]
    first: int
    private: int | None
    file: str | None = None

    def rows(self, values: int) -> int:
        """How many different rows the view can have."""
        return len(self.shown) * (1 if self.private is None else values)


@dataclass(frozen=True, slots=True, eq=False)
class OverlapQuestion:
    """What is asked about several releases of one table.

    `overlap` has one view for each of `releases`, in that order. Everybody knows the `public`
    columns; `key` names people. `called` is what the releases are: "view", or "release" where one
    is microdata. `meanings` are the values, by their numbers, that may mean the same.
    `is_declared_domain` is false where the values are those that were published or that the data
    have.
    """

    releases: tuple[str, ...]
    table: str
    key: tuple[str, ...]
    sensitive: str
    public: tuple[str, ...]
    overlap: Overlap
    answers: tuple[ViewAnswer, ...] = ()
    meanings: Meanings = ()
    is_declared_domain: bool = False
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()
    people: ClassPeople = field(default_factory=Nobody)
    job: Job = field(default_factory=Job)
    called: str = "view"

    def closed(self) -> OverlapQuestion:
        """The question once the source is closed: nobody can be looked up any more."""
        return replace(self, people=Nobody())

    def members(self, class_: int, limit: int, value: int | None = None) -> list[Key]:
        """The first people of a class in the order of their keys;
        with `value`, those who have it in the data.
        """
        return self.people.members(class_, limit, value) if limit > 0 else []

    def everyone(self, limit: int | None = None) -> Iterator[tuple[Key, int, int | None]]:
        """The first people in the order of their keys, each with the class and the number of the
        value in the data.
        """
        return self.people.everyone(limit)

    def class_of(self, key: Sequence[Any]) -> int | None:
        """The class of the person with a key;
        None for somebody who is not there or whom no view could show.
        """
        return self.people.class_of(tuple(key))

    def seen(self, many: int) -> Overlap:
        """What somebody knows who has seen only the first of the releases:
        the same classes, values and rows, fewer views.

        Classes keep their numbers, also those that are alike as long
        as the other views are not out.
        """
        overlap = self.overlap
        rows = self.answers[many].first if many < len(self.answers) else len(overlap.shown)
        return replace(
            overlap,
            views=overlap.views[:many],
            outputs=overlap.outputs[:, :many],
            shown=overlap.shown[:rows],
        )

    def row(self, number: int) -> tuple[str, dict[str, Any]]:
        """What a row of a view shows: the view, and its columns with their values, as text but
        for the private one.
        """
        at = max(place for place, one in enumerate(self.answers) if one.first <= number)
        answer = self.answers[at]
        values = len(self.overlap.values) if answer.private is not None else 1
        which, value = divmod(number - answer.first, values)
        cells: list[Any] = list(answer.shown[which])
        if answer.private is not None:
            cells.insert(answer.private, self.overlap.values[value])
        return self.releases[at], dict(zip(answer.columns, cells, strict=True))
