"""Replay of verdicts about several releases together: all worlds are counted, person by person.

Nothing here is shared with the checkers. Everybody who hangs together by groups is given tuples in
every way that leaves each group what it shows; ways that leave the same are counted as one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from tacit.errors import ParameterError
from tacit.families.microdata.definitions.replay.replay_beliefs import belief, predicates, too_much
from tacit.families.microdata.definitions.replay.replay_diversity import (
    entropy_at_least,
    negative_holds,
    recursive_holds,
)
from tacit.families.microdata.definitions.replay.replay_neighbours import RECOUNTS, ShownGroup
from tacit.model.verdict import Verdict

Row = Mapping[str, Any]
Tuple = tuple[Any, ...]
Cells = dict[Any, int]
Place = tuple[str, Tuple]  # a release and a group of it
MOST = 100_000  # ways to go on that are kept, and worlds of which a distribution is made


def replay_together(
    verdict: Verdict,
    rows: Iterable[Row | None],
    quasi: Sequence[str],
    published: Mapping[str, Iterable[Row | None]],
    distance: Callable[[Any, Any], Any] | None = None,
) -> bool:
    """Does the evidence of a verdict about several releases stand up on the rows of all of them?"""
    evidence = verdict.witness or verdict.certificate
    assert evidence is not None
    *others, asked = evidence.facts["releases"]
    if missing := [name for name in others if name not in published]:
        raise ParameterError(
            f"the evidence of this {verdict.check} is about several releases together: the rows of "
            f"{missing[0]} are not given.",
            parameter="published",
            hint=f"Give them person by person: replay(..., published={{{missing[0]!r}: rows}}).",
        )
    lists = {**{name: list(published[name]) for name in others}, asked: list(rows)}
    sheet = Sheet(lists, tuple(quasi))
    column = evidence.facts.get("sensitive")
    judge = WorldsJudge(verdict, sheet, column, distance)
    if len(sheet.people) != evidence.facts["people"]:
        return False
    if verdict.required.get("attacker") == "marketer":
        return judge.risk_on_average()
    if verdict.witness is None:
        return all(judge.meets(at) for at in sheet.kinds.values())
    told = verdict.witness.personal
    groups = tuple(
        sorted((name, tuple(sorted(told["groups"][name].items()))) for name in told["groups"])
    )
    same = [at for at, one in enumerate(sheet.people) if sheet.labels(one) == groups]
    return (
        len(same) == evidence.facts["size"]
        and judge.shows(told, same[0])
        and not judge.meets(same[0])
    )


@dataclass(frozen=True)
class Sheet:
    """The releases person by person: the row of each in each release, None where they are not."""

    rows: Mapping[str, Sequence[Row | None]]
    quasi: tuple[str, ...]

    def __post_init__(self) -> None:
        if len({len(some) for some in self.rows.values()}) > 1:
            raise ParameterError(
                "the releases have different numbers of people.",
                parameter="published",
                hint="Give one row for each person in each release, None for who is not in it.",
            )

    @cached_property
    def people(self) -> list[dict[str, Row]]:
        """The rows of everybody, by release."""
        by_person = zip(*self.rows.values(), strict=True)
        return [
            {name: row for name, row in zip(self.rows, some, strict=True) if row is not None}
            for some in by_person
        ]

    @cached_property
    def columns(self) -> list[str]:
        """The columns that are released as they are."""
        every = (row for one in self.people for row in one.values())
        return list(dict.fromkeys(name for row in every for name in row if name not in self.quasi))

    def labels(self, one: Mapping[str, Row]) -> tuple[Place, ...]:
        """The groups of somebody, as evidence names them."""
        return tuple(
            sorted(
                (name, tuple((key, row[key]) for key in sorted(self.quasi) if key in row))
                for name, row in one.items()
            )
        )

    @cached_property
    def places(self) -> list[tuple[Place, ...]]:
        """The groups of everybody."""
        return [self.labels(one) for one in self.people]

    @cached_property
    def kinds(self) -> dict[tuple[Place, ...], int]:
        """One person of each kind: who is in the same groups cannot be told apart."""
        return {places: at for at, places in enumerate(self.places)}

    @cached_property
    def tuples(self) -> list[Tuple]:
        """What everybody has."""
        found = []
        for one in self.people:
            has: dict[str, Any] = {}
            for row in one.values():
                for name in self.columns:
                    if name in row and has.setdefault(name, row[name]) != row[name]:
                        raise ParameterError(
                            f"somebody has another {name} in one release than in another.",
                            parameter="published",
                            hint="The rows of all releases must be in the same order of people.",
                        )
            if missing := [name for name in self.columns if name not in has]:
                raise ParameterError(
                    f"no release shows the {missing[0]} of somebody.", parameter="published"
                )
            found.append(tuple(has[name] for name in self.columns))
        return found

    def shows(self, release: str, one: Tuple) -> Tuple:
        """What a release shows of a tuple."""
        row = next(row for row in self.rows[release] if row is not None)
        pairs = zip(self.columns, one, strict=True)
        return tuple(value for name, value in pairs if name in row)

    def shown(self, place: Place) -> Counter[Tuple]:
        """The rows of a group."""
        members = [at for at, places in enumerate(self.places) if place in places]
        return Counter(self.shows(place[0], self.tuples[at]) for at in members)

    def beside(self, who: int, every: Sequence[tuple[Place, ...]]) -> list[int]:
        """Everybody who hangs together with somebody by their groups, they themselves first."""
        found, places = [who], set(every[who])
        while more := [
            at for at, some in enumerate(every) if at not in found and not places.isdisjoint(some)
        ]:
            found += more
            places |= {place for at in more for place in every[at]}
        return [who, *sorted(found[1:], key=lambda at: repr(every[at]))]

    def worlds(self, who: int, without: str = "") -> dict[Tuple, int]:
        """In how many worlds somebody has each tuple, if need be without one of the releases."""
        places = [tuple(one for one in some if one[0] != without) for some in self.places]
        people = self.beside(who, places)
        groups = {place: self.shown(place) for at in people for place in places[at]}
        left = {(place, look): n for place, some in groups.items() for look, n in some.items()}
        numbered = {key: at for at, key in enumerate(left)}
        every = list(dict.fromkeys(self.tuples))

        def uses(at: int, one: Tuple) -> list[int | None]:
            return [numbered.get((place, self.shows(place[0], one))) for place in places[at]]

        found = {}
        for has in every:
            ways = Counter({tuple(left.values()): 1})
            for at in people:
                choices = [uses(at, one) for one in ([has] if at == who else every)]
                ways = _further(ways, [one for one in choices if None not in one])
            if number := sum(ways.values()):
                found[has] = number
        return found


def _further(
    ways: Mapping[tuple[int, ...], int], choices: Sequence[Sequence[int | None]]
) -> Counter[tuple[int, ...]]:
    """What is left of the groups' rows after somebody got one of some tuples, and in how many
    ways.
    """
    found: Counter[tuple[int, ...]] = Counter()
    for left, number in ways.items():
        for used in choices:
            rest = list(left)
            for at in used:
                assert at is not None
                rest[at] -= 1
            if all(rest[at] >= 0 for at in used if at is not None):
                found[tuple(rest)] += number
    if len(found) > MOST:
        raise _too_many()
    return found


def _too_many() -> ParameterError:
    return ParameterError(
        "the worlds of people who hang together are too many to be counted one by one.",
        parameter="published",
        hint="Replay a smaller table, or coarser releases.",
    )


@dataclass(frozen=True)
class WorldsJudge:
    """What was asked, put to what all worlds say of somebody."""

    verdict: Verdict
    sheet: Sheet
    column: str | None
    distance: Callable[[Any, Any], Any] | None

    @cached_property
    def whole(self) -> Cells:
        """How many people of the release that was asked about have each value."""
        rows = list(self.sheet.rows.values())[-1]
        found = Counter(row[self.column] for row in rows if row is not None and self.column)
        return {value: number for value, number in found.items() if value is not None}

    def cells(self, worlds: Mapping[Tuple, int]) -> tuple[Cells, int]:
        """In how many worlds somebody has each value, without a common factor, and of how many."""
        at = self.sheet.columns.index(str(self.column))
        common, found = math.gcd(*worlds.values()), Counter[Any]()
        for one, number in worlds.items():
            found[one[at]] += number // common
        if found.total() > MOST:
            raise _too_many()
        return {value: n for value, n in found.items() if value is not None}, found.total()

    def shows(self, told: Mapping[str, Any], who: int) -> bool:
        """Is what a witness tells of somebody what the worlds say?"""
        if self.column is None:
            return True
        cells, _ = self.cells(self.sheet.worlds(who))
        if {*told["possible"]} != {*cells}:
            return False
        known = sum(cells.values())
        return "after" not in told or told["after"] == Fraction(cells[told["value"]], known)

    def meets(self, who: int) -> bool:
        """Does what is known of somebody meet what the check requires?"""
        check, required, worlds = self.verdict.check, self.verdict.required, self.sheet.worlds(who)
        if check == "risk":
            return bool(self.chance(who, worlds) <= required["risk"])
        if check == "k-anonymity":
            return bool(self.rows(who, worlds) >= required["k"])
        cells, every = self.cells(worlds)
        if check == "m-invariance" and required["kind"] == "unique":
            return bool(self.shared_values(who) >= required["m"])
        if check == "m-invariance":
            return bool(len(cells) >= required["m"]) and not self.lost(who, cells)
        if check == "l-diversity":
            return diverse(cells, every, required)
        known = sum(cells.values())
        if check in RECOUNTS:
            rows = self.rows(who, worlds)
            return RECOUNTS[check](
                ShownGroup(self.verdict, cells, self.whole, known, rows, self.distance)
            )
        if check in ("c-k-safety", "skyline"):
            return not cells or bool(Fraction(max(cells.values()), known) < required["c"])
        everybody = sum(self.whole.values())
        prior = {value: Fraction(number, everybody) for value, number in self.whole.items()}
        return not any(
            too_much(required, predicate, (), prior, after)
            for predicate in predicates(required.get("protect", {"equals": "all"}), list(prior))
            if (after := belief(cells, predicate, {})) is not None
        )

    def shared_values(self, who: int) -> int:
        """How many values all groups of somebody show, each once and in the same rows; else 0."""
        at, found = self.sheet.columns.index(str(self.column)), []
        for place in self.sheet.places[who]:
            found.append(
                Counter(
                    self.sheet.tuples[one]
                    for one, places in enumerate(self.sheet.places)
                    if place in places
                )
            )
        values = [row[at] for row in found[0].elements()]
        once = len({*values}) == len(values) and None not in values
        return len(values) if once and all(one == found[0] for one in found) else 0

    def lost(self, who: int, cells: Cells) -> bool:
        """Is there a value that somebody could have before the last release, and cannot now?"""
        last = list(self.sheet.rows)[-1]
        if all(name == last for name, _ in self.sheet.places[who]):
            return False
        before, _ = self.cells(self.sheet.worlds(who, without=last))
        return not {*before} <= {*cells}

    def rows(self, who: int, worlds: Mapping[Tuple, int]) -> int:
        """The fewest rows of a release that can be somebody's."""
        return min(
            sum(number for look, number in rows.items() if look in can)
            for rows, can in self._looks(who, worlds)
        )

    def chance(self, who: int, worlds: Mapping[Tuple, int]) -> Fraction:
        """The greatest chance that a row is somebody's."""
        every = sum(worlds.values())
        return max(
            Fraction(number, every * rows[look])
            for rows, can in self._looks(who, worlds)
            for look, number in can.items()
        )

    def _looks(
        self, who: int, worlds: Mapping[Tuple, int]
    ) -> Iterator[tuple[Counter[Tuple], Counter[Tuple]]]:
        """In each release the rows of somebody's group, and what worlds show there of them."""
        for place in self.sheet.places[who]:
            can: Counter[Tuple] = Counter()
            for one, number in worlds.items():
                can[self.sheet.shows(place[0], one)] += number
            yield self.sheet.shown(place), can

    def risk_on_average(self) -> bool:
        """Is the marketer's risk what was measured, and the answer right?"""
        sizes = Counter(self.sheet.places)
        mean = sum(
            (
                self.chance(at, self.sheet.worlds(at)) * sizes[places]
                for places, at in self.sheet.kinds.items()
            ),
            Fraction(0),
        ) / len(self.sheet.people)
        allowed = mean <= self.verdict.required["risk"]
        return bool(
            mean == self.verdict.measured["risk"] and allowed == (self.verdict.status == "holds")
        )


def diverse(cells: Cells, worlds: int, required: Mapping[str, Any]) -> bool:
    """l-diversity of a distribution over worlds."""
    if required["kind"] == "distinct":
        return bool(len(cells) >= required["l"])
    if required["kind"] == "entropy":
        return bool(cells) and entropy_at_least(list(cells.values()), required["l"])
    careless = required.get("dont-care", ())
    ordered = {value: cells[value] for value in sorted(cells, key=lambda one: one in careless)}
    return recursive_holds(ordered, required) and negative_holds(ordered, worlds, required)
