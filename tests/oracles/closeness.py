"""Closeness and neighbours by brute force: lists of values, integers and fractions, nothing clever.

Written from the papers' definitions before Tacit's own code and sharing none of it: Li, Li and
Venkatasubramanian 2007 (t-closeness), Wong et al. 2006 ((alpha,k)), Zhang et al. 2007 ((k,e)),
LeFevre et al. 2006 (variance), Li, Tao and Xiao 2008 ((epsilon,m)), Wang et al. 2009
((epsilon,delta)^k-dissimilarity, as docs/errata.md reads it).

What the sources leave open is decided here in a sentence each:
- People whose value is missing are left out, as if they were not in the group; only the size of a
  group (k of alpha-k and of dissimilarity) counts them, as k-anonymity does.
- A group in which nobody's value is known gets the worst number there is.
- Someone with several values has one of them, nobody knows which: a group is judged for every pick.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from oracles import microdata

Row = dict[str, Any]
Distance = Callable[[Any, Any], Fraction]
Counts = Mapping[Any, int]


# -- distances between two values ---------------------------------------------------------------


def exactly(value: Any) -> Fraction:
    """A number as it is written: the float 0.1 is one tenth."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(str(value))


def numeric(x: Any, y: Any) -> Fraction:
    """|x - y|"""
    return abs(exactly(x) - exactly(y))


def discrete(x: Any, y: Any) -> Fraction:
    """0 for equal values, 1 for others."""
    return Fraction(int(x != y))


def taxonomy(rows: Mapping[Any, Sequence[str]]) -> Distance:
    """The number of levels from the leaves up to the lowest common ancestor.

    `rows` has the labels above each value. Values that share no label have a root above all labels
    as their ancestor.
    """

    def distance(x: Any, y: Any) -> Fraction:
        ways = [(x, *rows[x], "the root"), (y, *rows[y], "the root")]
        return Fraction(next(i for i, (a, b) in enumerate(zip(*ways, strict=True)) if a == b))

    return distance


def variational(x: str, y: str) -> Fraction:
    """Half the sum of |p_i - q_i|, for distributions written as JSON objects."""
    p, q = (
        json.loads(text, parse_float=Fraction, parse_int=Fraction) if text else {}
        for text in (x, y)
    )
    return (
        sum((abs(Fraction(p.get(v) or 0) - Fraction(q.get(v) or 0)) for v in {*p, *q}), Fraction(0))
        / 2
    )


# -- one group ----------------------------------------------------------------------------------


def emd(group: Counts, table: Counts, distance: Distance) -> Fraction:
    """The earth mover's distance between two distributions given as counts: the least work to turn
    one into the other, by successive shortest paths on the transportation problem, in fractions."""
    here, there = sum(group.values()), sum(table.values())
    left = [[value, Fraction(n, here)] for value, n in group.items() if n]
    right = [[value, Fraction(n, there)] for value, n in table.items() if n]
    flow: dict[tuple[int, int], Fraction] = {}
    while any(have for _, have in left):
        path = cheapest_path(left, right, flow, distance)
        forward, back = path[0::2], path[1::2]
        amount = min([left[path[0][0]][1], right[path[-1][1]][1], *(flow[step] for step in back)])
        for step in forward:
            flow[step] = flow.get(step, Fraction(0)) + amount
        for step in back:
            flow[step] -= amount
        left[path[0][0]][1] -= amount
        right[path[-1][1]][1] -= amount
    return sum((f * distance(left[i][0], right[j][0]) for (i, j), f in flow.items()), Fraction(0))


def cheapest_path(left: Any, right: Any, flow: Any, distance: Distance) -> list[tuple[int, int]]:
    """The cheapest way from a value with mass to one that lacks it;
    every second step goes back (Bellman-Ford).
    """
    cost: dict[Any, Fraction] = {("l", i): Fraction(0) for i, (_, have) in enumerate(left) if have}
    came: dict[Any, Any] = {}
    steps = [
        (i, j, distance(left[i][0], right[j][0]))
        for i in range(len(left))
        for j in range(len(right))
    ]
    changed = True
    while changed:
        changed = False
        for i, j, price in steps:
            a, b = ("l", i), ("r", j)
            if a in cost and (b not in cost or cost[a] + price < cost[b]):
                cost[b], came[b], changed = cost[a] + price, a, True
            if flow.get((i, j)) and b in cost and (a not in cost or cost[b] - price < cost[a]):
                cost[a], came[a], changed = cost[b] - price, b, True
    node = min(
        (("r", j) for j, (_, lack) in enumerate(right) if lack and ("r", j) in cost),
        key=lambda n: cost[n],
    )
    path = []
    while node in came:
        before = came[node]
        path.append((before[1], node[1]) if node[0] == "r" else (node[1], before[1]))
        node = before
    return path[::-1]


def ground(kind: str, table: Counts, tree: Mapping[Any, Sequence[str]] | None) -> Distance:
    """The ground distance of t-closeness: 1 for all others, rank/(m-1),
    or level of the ancestor/height.
    """
    if kind == "equal":
        return discrete
    if kind == "ordered":
        order = sorted(table, key=exactly if all(is_number(value) for value in table) else None)
        ranks = {value: rank for rank, value in enumerate(order)}
        return lambda x, y: Fraction(abs(ranks[x] - ranks[y]), max(1, len(order) - 1))
    assert tree is not None
    levels = taxonomy(tree)
    tops = {row[-1] for row in tree.values()}
    height = len(next(iter(tree.values()))) + (len(tops) > 1)
    return lambda x, y: levels(x, y) / height


def is_number(value: Any) -> bool:
    """Is a value a number, and not text or a date?"""
    return not isinstance(value, str | datetime.date | bool)


def tuples(counts: Counts) -> list[Any]:
    """The values of a group, one for each person."""
    return [value for value, n in counts.items() for _ in range(n)]


def closeness(counts: Counts, table: Counts, distance: Distance) -> Fraction:
    """How far a group is from the table; 1 where nothing is known."""
    return emd(counts, table, distance) if counts else Fraction(1)


def share(counts: Counts) -> Fraction:
    """The share of the most frequent value."""
    values = tuples(counts)
    return (
        Fraction(max(values.count(value) for value in values), len(values))
        if values
        else Fraction(1)
    )


def spread(counts: Counts) -> Fraction:
    """How far the greatest value is from the least."""
    numbers = [exactly(value) for value in tuples(counts)]
    return max(numbers) - min(numbers) if numbers else Fraction(0)


def variance(counts: Counts) -> Fraction:
    """The mean of the squared differences from the mean."""
    numbers = [exactly(value) for value in tuples(counts)]
    if not numbers:
        return Fraction(0)
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return sum(((one - mean) ** 2 for one in numbers), Fraction(0)) / len(numbers)


def neighbourhoods(values: Sequence[Any], distance: Distance, epsilon: Fraction) -> list[int]:
    """For each tuple how many tuples, itself among them, have a value within epsilon."""
    return [sum(1 for other in values if distance(one, other) <= epsilon) for one in values]


def crowding(counts: Counts, distance: Distance, epsilon: Fraction) -> Fraction:
    """The largest m for which at most |G|/m tuples lie around every one of them."""
    values = tuples(counts)
    return (
        Fraction(len(values), max(neighbourhoods(values, distance, epsilon)))
        if values
        else Fraction(1)
    )


def risk(counts: Counts, distance: Distance, epsilon: Fraction) -> Fraction:
    """Equation 3 of the paper: the largest (|ball| - 1) / (|G| - 1); 1 for a single value."""
    values = tuples(counts)
    if len(values) < 2:
        return Fraction(1)
    return Fraction(max(neighbourhoods(values, distance, epsilon)) - 1, len(values) - 1)


def is_dissimilar(counts: Counts, distance: Distance, epsilon: Fraction, delta: Fraction) -> bool:
    """The principle in words: every value is farther than epsilon from
    at least delta (|G| - 1) others.
    """
    values = tuples(counts)
    return all(
        sum(1 for j, other in enumerate(values) if j != i and distance(one, other) > epsilon)
        >= delta * (len(values) - 1)
        for i, one in enumerate(values)
    )


# -- a whole release ----------------------------------------------------------------------------


@dataclass
class Part:
    """One group: its values, its people, and for every pick the numbers that the check asks for."""

    values: tuple[Any, ...]
    size: int
    counts: dict[Any, int]
    several: bool
    found: list[tuple[Any, ...]]


def parts(
    rows: Sequence[Row],
    quasi: Sequence[str],
    column: str,
    person: Sequence[str],
    missing: str,
    measure: Callable[[int, Counts], tuple[Any, ...]],
) -> Iterator[Part]:
    """Every group, with what `measure` finds in it for its size and counts, pick by pick."""
    for key, members in microdata.groups(rows, quasi, missing).items():
        size = microdata.people(members, person)
        known = microdata.known_values(members, column, person)
        yield Part(
            key,
            size,
            microdata.value_counts(members, column, person),
            any(len(values) > 1 for values in known.values()),
            [measure(size, counts) for counts in microdata.picks(members, column, person)],
        )


def measure_of(
    check: str,
    parameters: Mapping[str, Any],
    table: Counts,
    distance: Distance | None,
    tree: Any = None,
) -> Callable[[int, Counts], tuple[Any, ...]]:
    """The numbers that a check measures in a group, in the order of its requirements."""
    if check == "t-closeness":
        base = ground(parameters.get("distance", "equal"), table, tree)
        return lambda size, counts: (closeness(counts, table, base),)
    if check == "alpha-k":
        return lambda size, counts: (share(counts), size)
    if check == "k-e":
        return lambda size, counts: (len(counts), spread(counts))
    if check == "variance":
        return lambda size, counts: (variance(counts),)
    epsilon = Fraction(parameters["epsilon"])
    if check == "eps-m":
        return lambda size, counts: (crowding(counts, numeric, epsilon),)
    assert distance is not None
    return lambda size, counts: (risk(counts, distance, epsilon), size)


# Each check's measured numbers: the key in `measured`, and whether a group passes.
REQUIREMENTS: dict[str, tuple[tuple[str, Callable[[Any, Mapping[str, Any]], bool]], ...]] = {
    "t-closeness": (("t", lambda t, p: t <= Fraction(p["t"])),),
    "alpha-k": (
        ("alpha", lambda a, p: a <= Fraction(p["alpha"])),
        ("k", lambda k, p: k >= p["k"]),
    ),
    "k-e": (("k", lambda k, p: k >= p["k"]), ("e", lambda e, p: e >= Fraction(p["e"]))),
    "variance": (("v", lambda v, p: v >= Fraction(p["v"])),),
    "eps-m": (("m", lambda m, p: m >= Fraction(p["m"])),),
    "dissimilarity": (
        ("risk", lambda r, p: r <= 1 - Fraction(p["delta"])),
        ("k", lambda k, p: k >= p["k"]),
    ),
}
GREATEST = {"t", "alpha", "risk"}  # the others are the worse the smaller they are


def passes(check: str, parameters: Mapping[str, Any], found: tuple[Any, ...]) -> bool:
    """Do the numbers of one group meet what is required?"""
    return all(
        fine(one, parameters) for (_, fine), one in zip(REQUIREMENTS[check], found, strict=True)
    )


def worst(check: str, groups: Sequence[Part]) -> dict[str, Any]:
    """What is measured: the worst number over all groups and picks."""
    out = {}
    for i, (name, _) in enumerate(REQUIREMENTS[check]):
        numbers = [found[i] for part in groups for found in part.found]
        out[name] = max(numbers) if name in GREATEST else min(numbers)
    return out
