"""Scope: which tables a release is about, and which matter to a check."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.checking.holdings.trees import expanded
from tacit.checking.holdings.trees import tables_of as tables_in
from tacit.errors import TacitError
from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.datalog.read import is_datalog
from tacit.families.queries.dependency import joined
from tacit.families.registry import OF_OVERLAPS, OF_WORLDS
from tacit.model.release import Constraint, Microdata, Synthetic, View

if TYPE_CHECKING:
    from tacit.checking.desk import Desk
    from tacit.checking.holdings.held import Held
    from tacit.families.queries.reading.readings import Readings
    from tacit.families.queries.understanding import Reading
    from tacit.plan.plan import Check, Plan


def tables_of(plan: Plan, name: str, readings: Readings) -> tuple[str, ...]:
    """The tables of the plan that a release says something about."""
    release = plan.releases[name]
    if isinstance(release, Microdata | Synthetic):
        return (release.table,)
    if isinstance(release, Constraint):
        try:
            found = [
                one
                for each in read_constraint(release.constraint, readings.relations())
                for one in each.relations()
            ]
        except TacitError as error:
            raise error.at(plan.mark("releases", name, "constraint")) from None
        return tuple(sorted(set(found)))
    assert isinstance(release, View)
    if is_datalog(release.query):
        return tuple(sorted(spoken_of(readings.view(name))))
    try:
        return tuple(sorted(tables_in(plan, expanded(plan, name))))
    except TacitError as error:
        raise (
            error if release.query_file else error.at(plan.mark("releases", name, "query"))
        ) from None


def spoken_of(reading: Reading) -> set[str]:
    """The tables that a query as read depends on."""
    return {atom.relation for part in reading.enclosed.parts for atom in part.atoms}


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables about which something that is out matters to a check;
    `rules` are those about which a constraint does.
    """

    tables: frozenset[str]
    rules: frozenset[str]

    @property
    def asked(self) -> frozenset[str]:
        """The tables to ask the ledger about."""
        return self.tables | self.rules

    def concerns(self, held: Held) -> bool:
        """Does a release that is out matter? One that is about no table may be about any."""
        return not held.tables or not held.tables.isdisjoint(
            self.rules if held.shape == "constraint" else self.tables
        )


def scope_of(
    check: Check, desk: Desk, held: Sequence[Held], shared: Sequence[Collection[str]] = ()
) -> Scope:
    """Which tables matter to a check, given what is out and matters;
    `shared` are tables under which the same people stand.

    To view safety also those that constraints, or views that are out, connect with its own; to
    perfect privacy those that constraints tie to the secret's, and constraints about the views'
    tables; to all others those that are tied to the one table.
    """
    if check.kind in OF_WORLDS:
        more = [name for one in held for name in one.tables]
        known = frozenset(
            desk.views.connected(check, [name for name in more if name in desk.plan.tables])
        ).union(more)
        known = frozenset(tied(known, joined(map(set, shared))))
        return Scope(known, known)
    if check.secret is not None:
        groups = joined(
            [*tied_in(desk), *shared, *(one.tables for one in held if one.shape == "constraint")]
        )
        secret = tied(spoken_of(desk.readings.secret(check.secret)), groups)
        views = [
            name for one in check.releases for name in tables_of(desk.plan, one, desk.readings)
        ]
        return Scope(frozenset(secret), frozenset(tied([*secret, *views], groups)))
    if check.kind in OF_OVERLAPS:
        own = desk.overlaps.table_of(check.releases[0])
    else:
        release = desk.plan.releases[check.releases[0]]
        assert isinstance(release, Microdata | Synthetic)
        own = release.table
    about = frozenset(
        tied(
            {own},
            joined(
                [
                    *(tied_in(desk) if check.kind in OF_OVERLAPS else tied_or_all(desk)),
                    *shared,
                    *(one.tables for one in held if one.shape == "constraint"),
                ]
            ),
        )
    )
    return Scope(about, about)


def tied_in(desk: Desk) -> Iterator[Collection[str]]:
    """Tables of the plan whose rows tell of each other:
    by constraints and foreign keys, or because they are the same file.
    """
    yield from desk.readings.tied()
    behind: dict[str, set[str]] = {}
    for table in desk.plan.tables.values():
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
                *(str((desk.plan.folder / file).resolve()) for file in files),
            ]
        ):
            behind.setdefault(source, set()).add(table.name)
    yield from (names for names in behind.values() if len(names) > 1)


def tied_or_all(desk: Desk) -> list[Collection[str]]:
    """The same; all tables where the source does not say what they are like, so that nobody
    knows which are apart. A release in a file needs no other.
    """
    try:
        return list(tied_in(desk))
    except TacitError:
        return [set(desk.plan.tables)]


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
