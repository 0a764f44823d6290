"""Replay of verdicts about closeness and neighbours, the slow and obvious way.

Every pair of values of a group is compared, and the earth mover's distance is added up value by
value. Nothing here is shared with the checkers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from tacit.errors import InputError
from tacit.model.numbers import exact
from tacit.model.verdict import Verdict

Row = Mapping[str, Any]
Cells = Mapping[Any, int]
Apart = Callable[[Any, Any], Any]


def replay_neighbours(
    verdict: Verdict,
    rows: Sequence[Row],
    quasi: Sequence[str],
    person: Sequence[str] = (),
    distance: Apart | None = None,
) -> bool:
    """Does the evidence of a verdict about closeness or neighbours
    stand up on the released rows?
    """
    passes = RECOUNTS[verdict.check]
    if verdict.witness is not None:
        facts, told = verdict.witness.facts, verdict.witness.personal
        group = group_of(told["values"], rows, verdict)
        seen = look(verdict, group, rows, facts["sensitive"], person, distance)
        return (seen.size, seen.here) == (facts["size"], told["counts"]) and not passes(seen)
    columns = verdict.certificate.facts["sensitive"] if verdict.certificate else []
    groups = (group_of({name: row[name] for name in quasi}, rows, verdict) for row in rows)
    return all(
        passes(look(verdict, group, rows, column, person, distance))
        for group in groups
        for column in columns
    )


def group_of(values: Row, rows: Sequence[Row], verdict: Verdict) -> list[Row]:
    """The rows that cannot be told apart from the given values."""
    any_matches = verdict.required.get("missing") == "match-any"

    def agree(one: Any, other: Any) -> bool:
        return bool(one == other) or (any_matches and (one is None or other is None))

    return [row for row in rows if all(agree(row[name], value) for name, value in values.items())]


def people_with(rows: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, set[Any]]:
    """Who has each value; somebody with several values stands at each of them."""
    found: dict[Any, set[Any]] = {}
    for number, row in enumerate(rows):
        if row[column] is not None:
            found.setdefault(row[column], set()).add(tuple(row[name] for name in person) or number)
    return found


def look(
    verdict: Verdict,
    group: Sequence[Row],
    rows: Sequence[Row],
    column: str,
    person: Sequence[str],
    apart: Apart | None,
) -> ShownGroup:
    """Count one group."""
    here, there = (people_with(some, column, person) for some in (group, rows))
    size = len({tuple(row[name] for name in person) or number for number, row in enumerate(group)})
    return ShownGroup(
        verdict,
        {value: len(who) for value, who in here.items()},
        {value: len(who) for value, who in there.items()},
        len(set().union(*here.values())),
        size,
        apart,
    )


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """One group as the released rows show it, and what was asked of it.

    `here` and `there` are how many people of the group and of the table have each value, `known`
    how many of the group have one at all, `size` how many there are. `apart` is a distance that the
    rows do not show.
    """

    verdict: Verdict
    here: Cells
    there: Cells
    known: int
    size: int
    apart: Apart | None = None

    @property
    def required(self) -> Mapping[str, Any]:
        """What was asked."""
        return self.verdict.required

    def distance(self) -> Apart:
        """The distance that was meant: the one that is given, or one
        that the values themselves tell.
        """
        if self.apart is not None:
            return self.apart
        evidence = self.verdict.witness or self.verdict.certificate
        name = str(evidence.facts.get("distance")) if evidence else ""
        if name not in DISTANCES:
            raise InputError(
                f"the {name} distance is not in the released rows.",
                hint="Give it: replay(..., distance=function of two values).",
            )
        return DISTANCES[name]


def close_enough(seen: ShownGroup) -> bool:
    """t-closeness: the work of moving the group's distribution onto the table's."""
    if not seen.known:
        return bool(seen.required["t"] >= 1)
    way, people = seen.required["distance"], sum(seen.there.values())
    gaps = {
        value: Fraction(seen.here.get(value, 0), seen.known) - Fraction(count, people)
        for value, count in seen.there.items()
    }
    if way == "equal":
        return bool(sum(map(abs, gaps.values())) / 2 <= seen.required["t"])
    if way == "ordered":
        order = sorted(gaps, key=in_order) if seen.apart is None else along(gaps, seen.apart)
        sums = accumulate(gaps[value] for value in order)
        return bool(sum(map(abs, sums)) / max(1, len(gaps) - 1) <= seen.required["t"])
    return bool(tree_work(gaps, seen.distance()) <= seen.required["t"])


def tree_work(gaps: Mapping[Any, Fraction], apart: Apart) -> Fraction:
    """What has to leave the clusters of each level, where `apart` is the distance on a tree."""
    steps = sorted({exact(apart(x, y)) for x in gaps for y in gaps})
    work = Fraction(0)
    for low, high in pairwise(steps):
        clusters = {frozenset(y for y in gaps if exact(apart(x, y)) <= low) for x in gaps}
        over = sum((abs(sum((gaps[x] for x in one), Fraction(0))) for one in clusters), Fraction(0))
        work += (high - low) * over / 2
    return work


def along(values: Collection[Any], apart: Apart) -> list[Any]:
    """The values on a line, from one end to the other."""
    somewhere = next(iter(values))
    end = max(values, key=lambda one: exact(apart(somewhere, one)))
    return sorted(values, key=lambda one: exact(apart(end, one)))


def in_order(value: Any) -> Any:
    """What an ordered column is sorted by."""
    if isinstance(value, str) or hasattr(value, "isoformat"):
        return value
    return float(value) if value in (math.inf, -math.inf) else exact(value)


def few_enough(seen: ShownGroup) -> bool:
    """(alpha,k)-anonymity: the most frequent value, and the size."""
    share = Fraction(max(seen.here.values(), default=1), max(1, seen.known))
    return bool(share <= seen.required["alpha"] and seen.size >= seen.required["k"])


def wide_enough(seen: ShownGroup) -> bool:
    """(k,e)-anonymity: how many numbers, and from where to where."""
    numbers = {exact(value) for value in seen.here}
    width = max(numbers, default=Fraction(0)) - min(numbers, default=Fraction(0))
    return bool(len(numbers) >= seen.required["k"] and width >= seen.required["e"])


def many_enough(seen: ShownGroup) -> bool:
    """m-invariance of one release: how many values, for the kind `unique` each once."""
    once = seen.required["kind"] == "values" or len(seen.here) == seen.size
    return bool(once and len(seen.here) >= seen.required["m"])


def varied_enough(seen: ShownGroup) -> bool:
    """Variance: the mean of the squared differences from the mean."""
    numbers = [exact(value) for value, count in seen.here.items() for _ in range(count)]
    mean = sum(numbers, Fraction(0)) / max(1, seen.known)
    variance = sum(((number - mean) ** 2 for number in numbers), Fraction(0)) / max(1, seen.known)
    return bool(variance >= seen.required["v"])


def ball(seen: ShownGroup, apart: Apart) -> int:
    """The most people around one value;
    who has several values counts with each, and at most once.
    """
    near = (
        sum(
            n
            for other, n in seen.here.items()
            if exact(apart(value, other)) <= seen.required["epsilon"]
        )
        for value in seen.here
    )
    return min(seen.known, max(near, default=0))


def scattered_enough(seen: ShownGroup) -> bool:
    """(epsilon,m)-anonymity: how often the largest ball goes into the group."""
    largest = max(1, ball(seen, difference))
    return bool(Fraction(max(1, seen.known), largest) >= seen.required["m"])


def dissimilar_enough(seen: ShownGroup) -> bool:
    """Dissimilarity: how many of the others are near, and the size."""
    if seen.size < seen.required["k"]:
        return False
    if seen.known < 2:
        return bool(seen.required["delta"] <= 0)
    near = ball(seen, seen.distance())
    return bool(Fraction(near - 1, seen.known - 1) <= 1 - seen.required["delta"])


def difference(x: Any, y: Any) -> Fraction:
    """|x - y|"""
    return abs(exact(x) - exact(y))


def variation(x: str, y: str) -> Fraction:
    """Half the sum of |p_i - q_i| for two JSON objects."""
    p, q = (json.loads(text, parse_float=Fraction) for text in (x, y))
    return (
        sum((difference(p.get(name) or 0, q.get(name) or 0) for name in {*p, *q}), Fraction(0)) / 2
    )


DISTANCES: dict[str, Apart] = {
    "numeric": difference,
    "discrete": lambda x, y: int(x != y),
    "variational": variation,
}
RECOUNTS: dict[str, Callable[[ShownGroup], bool]] = {
    "t-closeness": close_enough,
    "alpha-k": few_enough,
    "k-e": wide_enough,
    "variance": varied_enough,
    "eps-m": scattered_enough,
    "dissimilarity": dissimilar_enough,
    "m-invariance": many_enough,
}
