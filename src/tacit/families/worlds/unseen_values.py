"""Unseen: how many values that nobody has seen suffice to find every counterexample.

A world that refutes safety can be cut down to the rows that it needs: one way to have each
published row, one way to have a row that differs, and what the constraints then ask for. What is
cut away leaves the answers as they are, because all queries are monotone. So as many unseen values
suffice as these rows can hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from tacit.families.queries.dependency import Dependency
from tacit.families.queries.logic.termination import new_values
from tacit.families.queries.query import Atom, Query, Variable
from tacit.families.worlds.universe import Place, unbounded, universe_of
from tacit.families.worlds.world_setting import WorldSetting

USUAL = 2  # unseen values where nobody asked for a number and none is proved to suffice
FURTHEST = 24  # unseen values that are tried to find a database at all
AT_ONCE = 6  # a number that is proved to suffice is taken as it is up to here


def enough(setting: WorldSetting) -> int | None:
    """A number of unseen values with which every world that could matter is isomorphic to one that
    is looked at; None if there is none.

    >>> from tacit.families.queries.query import Conjunctive, Relation
    >>> x, y = Variable("x"), Variable("y")
    >>> two = Query("N", (Conjunctive((), (Atom("R", (x,)), Atom("R", (y,)))),))
    >>> from tacit.families.worlds.world_setting import PublishedView
    >>> enough(
    ...     WorldSetting(
    ...         {"R": Relation("R", ("a",))}, (), (), (PublishedView(two, frozenset()),), two
    ...     )
    ... )
    2
    """
    places = unbounded(setting)
    if not places:
        return 0
    chosen = sum(len(seen.rows) * _most(seen.query, places) for seen in setting.published)
    differing = [
        _most(query, places) for query in (*(one.query for one in setting.new), setting.secret)
    ]
    differing += [_unseen(one.atoms, places) for one in setting.new_dependencies]
    chosen += max(differing, default=0)
    more = [one for one in setting.dependencies if not one.is_denial and _creates(one, places)]
    if not more:
        return chosen
    columns = {name: setting.relations[name].columns for name in setting.mentioned()}
    closed = [
        (name, columns[name][at])
        for name in columns
        for at in range(len(columns[name]))
        if (name, at) not in places
    ]
    seen_values = universe_of(setting, 0).numbering.values
    asked = [one for one in setting.dependencies if not one.is_denial]
    found = new_values(asked, setting.relations, chosen + len(seen_values), closed)
    return None if found is None else chosen + found


def chosen(
    setting: WorldSetting, asked: int | None, least: int = 0
) -> list[tuple[WorldSetting, bool]]:
    """The setting with as many unseen values as are looked at, fewer first, each with whether they
    are proved to suffice.

    A breach with few unseen values is one with more, and easier to follow. Where the owner asked
    for a number, that is the domain. `least` is a number to look up to even where fewer are proved
    to suffice.
    """
    if not unbounded(setting):
        return [(replace(setting, fresh=0), True)]
    needed = enough(setting)
    if asked is not None:
        numbers = [asked]
    else:
        numbers = list(
            range(max(needed if needed is not None and needed <= AT_ONCE else USUAL, least) + 1)
        )
    return [
        (replace(setting, fresh=number), needed is not None and number >= needed)
        for number in numbers
    ]


def further(setting: WorldSetting, asked: int | None) -> list[tuple[WorldSetting, bool]]:
    """More unseen values, for answers without data that no database gives with fewer."""
    needed = enough(setting)
    if asked is not None or not unbounded(setting):
        return []
    most = FURTHEST if needed is None else min(needed, FURTHEST)
    numbers = sorted({number for number in (4, 8, 16, most) if number <= most})
    return [
        (replace(setting, fresh=number), needed is not None and number >= needed)
        for number in numbers
    ]


def _most(query: Query, places: Collection[Place]) -> int:
    return max((_unseen(part.atoms, places) for part in query.parts), default=0)


def _unseen(atoms: Iterable[Atom], places: Collection[Place]) -> int:
    """How many variables of some atoms may stand for an unseen value."""
    can: dict[Variable, bool] = {}
    for atom in atoms:
        for at, term in enumerate(atom.terms):
            if isinstance(term, Variable):
                can[term] = can.get(term, True) and (atom.relation, at) in places
    return sum(can.values())


def _creates(dependency: Dependency, places: Collection[Place]) -> bool:
    """May a dependency ask for a value that is not there yet?"""
    for one in dependency.alternatives:
        mine = set(dependency.existential(one))
        where = [
            (term, (atom.relation, at))
            for atom in one.atoms
            for at, term in enumerate(atom.terms)
            if term in mine
        ]
        if any(place in places for _, place in where):
            return True
    return False
