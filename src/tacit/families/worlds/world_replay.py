"""Replay: is a world what a verdict says it is? Checked the plain way, by evaluating every query
and constraint on its rows.

Nothing here is shared with grounding, counting or the solver.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.evaluate import answers
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Conjunctive, Constant, Query, Variable
from tacit.families.worlds.world_setting import PublishedView, WorldSetting


def fits(setting: WorldSetting, world: Sequence[Fact]) -> bool:
    """Does a database satisfy the constraints and give the published views their answers?"""
    return all(satisfies(one, world) for one in setting.dependencies) and all(
        gives(one, world) for one in setting.published
    )


def is_ruled_out(setting: WorldSetting, world: Sequence[Fact]) -> bool:
    """Would the new views and constraints tell that a database is not the one?"""
    return not (
        all(gives(one, world) for one in setting.new)
        and all(satisfies(one, world) for one in setting.new_dependencies)
    )


def gives(seen: PublishedView, world: Sequence[Fact]) -> bool:
    """Has a view this answer on a database?"""
    return set(answers(seen.query, world)) == seen.rows


def satisfies(dependency: Dependency, world: Sequence[Fact]) -> bool:
    """Does every match of the body satisfy an alternative?

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> [rule] = read_constraint("R(x, y) -> R(y, x)", {"R": Relation("R", ("a", "b"))})
    >>> (
    ...     satisfies(rule, [Fact("R", (1, 2))]),
    ...     satisfies(rule, [Fact("R", (1, 2)), Fact("R", (2, 1))]),
    ... )
    (False, True)
    """
    universal = dependency.universal()
    body = Query(
        "body",
        (Conjunctive(universal, dependency.atoms, dependency.comparisons, dependency.known),),
    )
    return all(
        any(
            _met(way, dict(zip(universal, map(Constant, row), strict=True)), world)
            for way in dependency.alternatives
        )
        for row in answers(body, world)
    )


def _met(way: Alternative, values: dict[Variable, Constant], world: Sequence[Fact]) -> bool:
    put = way.substituted(dict(values))
    if any(left != right for left, right in put.equalities):
        return False
    terms = [term for atom in put.atoms for term in atom.terms if isinstance(term, Variable)]
    known = frozenset(term for term in terms if terms.count(term) > 1)
    return bool(answers(Query("way", (Conjunctive((), put.atoms, put.comparisons, known),)), world))
