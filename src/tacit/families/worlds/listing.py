"""Listing: the worlds before and after one by one, counted or sampled,
and the secrets they make plausible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tacit.families.queries.facts import Fact
from tacit.families.worlds.counting import SecretTally, plausible, tally
from tacit.families.worlds.formula import Condition
from tacit.families.worlds.matching import Tuple
from tacit.families.worlds.ranking import Space, space
from tacit.families.worlds.worlds import SettingWorlds
from tacit.model.deadline import OutOfTime, look

LISTED = 30  # up to so many worlds all are shown
MOST_NODES = 60_000  # of a diagram; a few seconds
MOST_STATES = 30_000
MOST_SECRETS = 1_000

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ListedWorld:
    """A database that was possible before: its rows, its secret, and whether it stays possible.
    `is_data` marks the owner's.
    """

    facts: tuple[Fact, ...]
    secret: tuple[Row, ...]
    after: bool
    is_data: bool = False


@dataclass(frozen=True, slots=True)
class Plausible:
    """An answer of the secret, with the number of worlds that have it before and after.
    `is_data` marks the true one.
    """

    rows: tuple[Row, ...]
    before: int
    after: int
    is_data: bool = False


@dataclass(frozen=True, slots=True)
class WorldListing:
    """Worlds and secrets before and after; numbers are None where they could not be counted.

    `complete`: all worlds are listed. `uniform`: all are, or those that are were drawn with the
    same chance. `secrets` has those with the most worlds first, and the one of the data; there are
    `secrets_before` of them.
    """

    before: int | None
    after: int | None
    worlds: tuple[ListedWorld, ...]
    complete: bool
    uniform: bool
    secrets: tuple[Plausible, ...] = ()
    secrets_before: int | None = None
    secrets_after: int | None = None


def listing(
    found: SettingWorlds, *, sample: int, rng: Random, listed: int = LISTED
) -> WorldListing:
    """List the worlds where there are few, else draw `sample` of them, all with the same chance.

    Where they cannot be counted, the data and a few others are found by the solver: no fair sample.
    """
    before = _space(found, found.before)
    after = _space(found, [*found.before, *found.after]) if found.after else before
    look()
    tallies = _tallies(found)
    if before is None:
        numbers, worlds = None, _solved(found, sample)
    else:
        numbers = (
            list(range(before.count))
            if before.count <= max(listed, sample)
            else sorted(drawn(before.count, sample, rng))
        )
        worlds = [before.world(number) for number in numbers]
    shown = sorted((_listed(found, world) for world in worlds), key=lambda one: _order(one, found))
    complete = before is not None and numbers is not None and len(numbers) == before.count
    return WorldListing(
        before.count if before else None,
        after.count if after else None,
        tuple(shown),
        complete,
        before is not None,
        *_secrets(found, tallies),
    )


def drawn(count: int, number: int, rng: Random) -> set[int]:
    """Different numbers below `count`, every set of them with the same chance.

    >>> len(drawn(1 << 100, 8, Random(1)))
    8
    """
    found: set[int] = set()
    while len(found) < number:
        found.add(rng.randrange(count))
    return found


def _space(found: SettingWorlds, conditions: Sequence[Condition]) -> Space | None:
    fixed = found.base.known.fixed
    rest = (one for one in range(1, len(found.store.facts) + 1) if one not in fixed)
    return space(
        rest, frozenset(one for one, there in fixed.items() if there), conditions, most=MOST_NODES
    )


def _listed(found: SettingWorlds, world: frozenset[int]) -> ListedWorld:
    secret = tuple(found.rows(found.secret_of(world)))
    return ListedWorld(
        tuple(found.facts(world)), secret, stays(found, world), world == found.actual
    )


def stays(found: SettingWorlds, world: frozenset[int]) -> bool:
    """Is a world still possible after the new views?"""
    return all(condition.holds(world) for condition in found.after)


def _order(one: ListedWorld, found: SettingWorlds) -> tuple[object, ...]:
    """The data first, then what stays, then what is ruled out; the nearest to the data first."""
    data = found.setting.instance or frozenset()
    return (
        not one.is_data,
        not one.after,
        len(data.symmetric_difference(one.facts)) if data else 0,
        list(map(str, one.facts)),
    )


def _solved(found: SettingWorlds, number: int) -> list[frozenset[int]]:
    """Worlds as the solver finds them, each different from those before."""
    worlds = [found.actual] if found.actual is not None else []
    open_ = [
        one for one in range(1, len(found.store.facts) + 1) if one not in found.base.known.fixed
    ]
    try:
        if (out := found.ruled_out()) is not None:
            worlds.append(out)
        while len(worlds) < number:
            others = [
                Condition(tuple((-one,) if one in world else (one,) for one in open_))
                for world in worlds
            ]
            world = found.some(others)
            if world is None:
                break
            worlds.append(world)
    except OutOfTime:
        pass
    return worlds[:number]


# -- secrets ---------------------------------------------------------------------------------------


def _tallies(found: SettingWorlds) -> list[SecretTally] | None:
    """All parts by secret; None where one of them could not be counted."""
    tallies = []
    for part in found.parts:
        look()
        one = tally(part, most_states=MOST_STATES)
        if one is None:
            return None
        tallies.append(one)
    return tallies


def _secrets(
    found: SettingWorlds, tallies: Sequence[SecretTally] | None
) -> tuple[tuple[Plausible, ...], int | None, int | None]:
    if tallies is None:
        return (), None, None
    actual = found.secret_of(found.actual) if found.actual is not None else None
    merged: list[tuple[frozenset[Tuple], int, int]] = [
        (frozenset(), 1 << found.free, 1 << found.free)
    ]
    true = merged[0]
    for one in tallies:
        counts = [
            (secret, before, after) for secret, (before, after) in one.secrets.items() if before
        ]
        # Numbers multiply, so the largest products are made of the largest factors.
        merged = _most([_times(first, second) for first in merged for second in _most(counts)])
        if actual is not None:
            mine = frozenset(row for row, _ in one.part.secret if row in actual)
            true = _times(true, (mine, *one.secrets[mine]))
    if actual is not None and true not in merged:
        merged.append(true)
    shown = [
        Plausible(tuple(found.rows(secret)), before, after, secret == actual)
        for secret, before, after in merged
    ]
    return tuple(
        sorted(shown, key=lambda one: (-one.before, -one.after, len(one.rows), repr(one.rows)))
    ), *plausible(tallies)


def _times(
    one: tuple[frozenset[Tuple], int, int], two: tuple[frozenset[Tuple], int, int]
) -> tuple[frozenset[Tuple], int, int]:
    return one[0] | two[0], one[1] * two[1], one[2] * two[2]


def _most(
    counts: Iterable[tuple[frozenset[Tuple], int, int]],
) -> list[tuple[frozenset[Tuple], int, int]]:
    """Those with the most worlds before."""
    return sorted(counts, key=lambda one: (-one[1], -one[2], len(one[0]), sorted(one[0])))[
        :MOST_SECRETS
    ]
