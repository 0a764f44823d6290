"""Scope: the tables about which something that is published matters to a check."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from tacit.errors import TacitError
from tacit.families.queries.dependency import joined
from tacit.model.holdings import HeldRelease
from tacit.plan.open_plan import OpenPlan


@dataclass(frozen=True, slots=True)
class CheckScope:
    """The tables about which something that is published matters to a check;
    `rules` are those about which a constraint does.
    """

    tables: frozenset[str]
    rules: frozenset[str]

    @property
    def asked(self) -> frozenset[str]:
        """The tables to ask the ledger about."""
        return self.tables | self.rules

    def concerns(self, held: HeldRelease) -> bool:
        """Does a release that is published matter? One that is about no table may be about any."""
        return not held.tables or not held.tables.isdisjoint(
            self.rules if held.shape == "constraint" else self.tables
        )

    @classmethod
    def of(
        cls, own: Collection[str], groups: Iterable[Collection[str]], held: Sequence[HeldRelease]
    ) -> Self:
        """The tables that are tied to some; rules that are published tie tables too."""
        rules = [one.tables for one in held if one.shape == "constraint"]
        found = frozenset(tied(own, joined([*groups, *rules])))
        return cls(found, found)


def tied_in(opened: OpenPlan) -> Iterator[Collection[str]]:
    """Tables of the plan whose rows tell of each other:
    by constraints and foreign keys, because they are the same file, or one at several times, or
    because one is derived from others.
    """
    from tacit.families.queries.reading.readings import readings_of
    from tacit.families.queries.schema import derived

    yield from readings_of(opened).tied()
    yield from ({name, *some} for name, some in derived(opened.plan.tables).items())
    behind: dict[str, set[str]] = {}
    for table in opened.plan.tables.values():
        files = (
            [table.file]
            if table.file is not None
            else [f"{table.name}.csv", f"{table.name}.parquet"]
        )
        for source in (
            []
            if table.rows is not None
            else [
                plainly(table.name),
                *(str((opened.plan.folder / file).resolve()) for file in files),
            ]
        ):
            behind.setdefault(source, set()).add(table.name)
    yield from (names for names in behind.values() if len(names) > 1)


def tied_or_all(opened: OpenPlan) -> list[Collection[str]]:
    """The same; all tables where the source does not say what they are like, so that nobody
    knows which are apart. A release in a file needs no other.
    """
    try:
        return list(tied_in(opened))
    except TacitError:
        return [set(opened.plan.tables)]


def plainly(table: str) -> str:
    """A name of a table as most databases compare it.

    >>> plainly("public.Patients"), plainly("old.patients")
    ('patients', 'old.patients')
    """
    return table.casefold().removeprefix("public.")


def tied(tables: Collection[str], groups: Iterable[Collection[str]]) -> set[str]:
    """Tables with those whose rows constraints tie to theirs; the groups are disjoint.

    >>> sorted(tied({"R"}, [{"R", "S"}, {"T", "U"}]))
    ['R', 'S']
    """
    return set(tables).union(*(group for group in groups if not set(group).isdisjoint(tables)))
