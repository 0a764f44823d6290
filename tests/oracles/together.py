"""Several releases of one table by brute force: every assignment of tuples to people that fits.

Written from the definitions of the second release, sharing no code with Tacit: a world gives every
person one tuple such that each group of each release shows what it shows in the data. A person's
posterior is how often they have each value over all worlds. Beliefs are about people whose value is
known, as everywhere: worlds in which a person has no value are left out of the share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from oracles import closeness

Tuple = tuple[Any, ...]


@dataclass
class Release:
    """The group of each person, None for who is not in it; and the columns that it shows."""

    groups: Sequence[Any]
    columns: Sequence[int]

    def shows(self, one: Tuple) -> Tuple:
        return tuple(one[at] for at in self.columns)


def worlds(people: Sequence[Tuple], releases: Sequence[Release]) -> list[list[Tuple]]:
    """All assignments that fit, person by person."""
    left = [
        Counter(
            (release.groups[person], release.shows(one))
            for person, one in enumerate(people)
            if release.groups[person] is not None
        )
        for release in releases
    ]
    values = sorted(set(people), key=repr)

    def rest(person: int) -> Iterator[list[Tuple]]:
        if person == len(people):
            yield []
            return
        for one in values:
            keys = [
                None if r.groups[person] is None else (r.groups[person], r.shows(one))
                for r in releases
            ]
            if any(key is not None and not left[at][key] for at, key in enumerate(keys)):
                continue
            for at, key in enumerate(keys):
                left[at][key] -= key is not None
            yield from ([one, *others] for others in rest(person + 1))
            for at, key in enumerate(keys):
                left[at][key] += key is not None

    return list(rest(0))


@dataclass
class Known:
    """What all worlds say of one person: how often each tuple, and each value that is known."""

    tuples: Counter[Tuple]
    values: Counter[Any]
    worlds: int
    rows: int
    chance: Fraction
    signature: int = 0
    lost: int = 0


def known(people: Sequence[Tuple], releases: Sequence[Release]) -> list[Known]:
    """The same for everybody; the sensitive value comes first in a tuple."""
    found, before = worlds(people, releases), worlds(people, releases[:-1])
    out = []
    for person in range(len(people)):
        tuples = Counter(world[person] for world in found)
        values = Counter(
            {
                value: sum(n for one, n in tuples.items() if one[0] == value)
                for value in {one[0] for one in tuples} - {None}
            }
        )
        rows, chances = [], []
        for release in releases:
            group = release.groups[person]
            if group is None:
                continue
            theirs = [
                release.shows(one)
                for other, one in enumerate(people)
                if release.groups[other] == group
            ]
            can = {release.shows(one) for one in tuples}
            rows.append(sum(1 for row in theirs if row in can))
            chances += [
                Fraction(
                    sum(n for one, n in tuples.items() if release.shows(one) == row), len(found)
                )
                / theirs.count(row)
                for row in can
            ]
        lost = set[Any]()
        if any(release.groups[person] is not None for release in releases[:-1]):
            lost = {world[person][0] for world in before} - {None, *values}
        signature = size_of_signature(people, releases, person)
        out.append(Known(tuples, values, len(found), min(rows), max(chances), signature, len(lost)))
    return out


def size_of_signature(people: Sequence[Tuple], releases: Sequence[Release], person: int) -> int:
    """How many values the groups of a person have, if each has them once and all have the same
    rows; else 0 (Xiao and Tao 2007, of whole rows)."""
    found = [
        sorted((one for one, g in zip(people, r.groups, strict=True) if g == group), key=repr)
        for r in releases
        if (group := r.groups[person]) is not None
    ]
    values = [row[0] for row in found[0]]
    once = None not in values and len(set(values)) == len(values)
    return len(values) if once and all(rows == found[0] for rows in found) else 0


# -- definitions, by what is known of one person ---------------------------------------------------


def small(counts: Mapping[Any, int]) -> dict[Any, int]:
    """The same distribution with as few people as can be."""
    common = math.gcd(*counts.values()) if counts else 1
    return {value: n // common for value, n in counts.items()}


def is_entropy_diverse(counts: Mapping[Any, int], least: Fraction) -> bool:
    """prod(n^n) l^N <= N^N, in integers."""
    ns = list(small(counts).values()) or [1]
    total = sum(ns)
    left = math.prod(n**n for n in ns) * least.numerator**total
    return left <= total**total * least.denominator**total


def is_recursive(counts: Mapping[Any, int], c: Fraction, l: int, careless: Sequence[Any]) -> bool:  # noqa: E741
    """Definitions 3.8 and 3.9."""
    if not counts:
        return False
    ranked = sorted(counts, key=lambda value: (-counts[value], value in careless))
    r = [counts[value] for value in ranked]
    protected = [at for at, value in enumerate(ranked) if value not in careless]
    if not protected:
        return True
    y = protected[0] + 1
    if y <= l - 1:
        tail = sum(r[l - 1 :])
    else:
        tail = sum(r[l - 2 :]) - r[y - 1]
    return r[y - 1] < c * tail


def upward(known: Known, table: Mapping[Any, int], rho1: Fraction, rho2: Fraction) -> bool:
    """Does a belief in a value, or in its opposite, move from below rho1 to above rho2?"""
    everybody, mine = sum(table.values()), sum(known.values.values())
    if not mine:
        return False
    for value in table:
        before, after = (
            Fraction(table[value], everybody),
            Fraction(known.values.get(value, 0), mine),
        )
        if (before < rho1 and after > rho2) or (1 - before < rho1 and 1 - after > rho2):
            return True
    return False


def fails(kind: str, p: Mapping[str, Any], table: Mapping[Any, int]) -> Callable[[Known], bool]:
    """Does what is known of a person break a definition?"""
    f = {key: Fraction(value) for key, value in p.items() if isinstance(value, int | Fraction)}

    def mode(one: Known) -> str:
        return str(p.get("kind"))

    def diversity(one: Known) -> bool:
        if mode(one) == "distinct":
            return len(one.values) < p["l"]
        if mode(one) == "entropy":
            return not is_entropy_diverse(one.values, f["l"])
        rare = any(
            Fraction(100 * one.values.get(value, 0), one.worlds) < f["c2"]
            for value in p.get("negative", ())
        )
        return rare or not is_recursive(one.values, f["c"], p["l"], p.get("dont_care", ()))

    return {
        "k-anonymity": lambda one: one.rows < p["k"],
        "l-diversity": diversity,
        "alpha-k": lambda one: closeness.share(small(one.values)) > f["alpha"] or one.rows < p["k"],
        "k-e": lambda one: len(one.values) < p["k"] or closeness.spread(small(one.values)) < f["e"],
        "eps-m": lambda one: (
            closeness.crowding(small(one.values), closeness.numeric, f["epsilon"]) < f["m"]
        ),
        "variance": lambda one: closeness.variance(small(one.values)) < f["v"],
        "t-closeness": lambda one: (
            closeness.closeness(
                small(one.values), table, closeness.ground(p["distance"], table, None)
            )
            > f["t"]
        ),
        "c-k-safety": lambda one: bool(one.values) and closeness.share(small(one.values)) >= f["c"],
        "skyline": lambda one: bool(one.values) and closeness.share(small(one.values)) >= f["c"],
        "rho1-rho2": lambda one: upward(one, table, f["rho1"], f["rho2"]),
        "semantic": lambda one: bool(one.values) and closeness.share(small(one.values)) >= f["c"],
        "risk": lambda one: one.chance > f["at_most"],
        "m-invariance": lambda one: (
            one.signature < p["m"]
            if mode(one) == "unique"
            else len(one.values) < p["m"] or one.lost > 0
        ),
    }[kind]
