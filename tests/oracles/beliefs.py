"""Beliefs by brute force: every world is written down, and shares of worlds are beliefs.

Written from Machanavajjhala (2008) (3.3: Theorem 3.1 and Definition 3.6; 3.7: Definition 3.12) and
the design's contract before Tacit's code existed, and sharing none of it.

Three ways to a belief, from the literal to the convenient; tests hold them equal:

1. `random_worlds`: the pairs (psi, Z_n) of the proof of Theorem 3.1, all of them.
2. `equation_3_1`: the formula of the theorem.
3. `sequences`: the values of the people of one group, one by one, target first. Each person but the
   target is known to be in the group only (value s with f(s|q*)), the target also has q (f(s|q)).

What the sources leave open:

- An adversary knows *at most* n negations, and the values of *at most* m others.
- What an adversary knows is not contradicted by the release: some world is left.
- The belief before the release is conditioned on the negations too: they are the adversary's own.
- Negative disclosure of a predicate: the adversary does not negate values that satisfy it (who
  knows already that Bruce has no cancer is not told so by the release).
- Quasi-identifiers without a column in the prior are independent of all the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import inf
from typing import Any

Value = Any
Cell = tuple[Any, ...]
Joint = Mapping[tuple[Cell, Value], Fraction]  # f(q, s)


# -- Theorem 3.1, literally ---------------------------------------------------------------------


def random_worlds(
    population: Sequence[tuple[Cell, Value]],
    label: Callable[[Cell], Cell],
    released: Mapping[tuple[Cell, Value], int],
    target: int,
) -> dict[Value, Fraction]:
    """The belief about one individual of a population after a table of some of them is released.

    `population` has everybody's q and s; the adversary knows the q's and how often each (q, s)
    occurs, and that the target is in the table. `released` counts the rows (q*, s). A world is an
    assignment psi of values with those frequencies, and a sample Z_n that contains the target.
    """
    quasi = [q for q, _ in population]
    size = sum(released.values())
    others = [i for i in range(len(population)) if i != target]
    found: dict[Value, int] = {}
    for psi in assignments(population):
        for rest in itertools.combinations(others, size - 1):
            sample = (target, *rest)
            if tally((label(quasi[i]), psi[i]) for i in sample) == dict(released):
                found[psi[target]] = found.get(psi[target], 0) + 1
    total = sum(found.values())
    return {value: Fraction(number, total) for value, number in found.items()}


def assignments(population: Sequence[tuple[Cell, Value]]) -> Iterator[tuple[Value, ...]]:
    """Every way to hand out the values within each q, each once."""
    cells = sorted({q for q, _ in population})
    members = {q: [i for i, (other, _) in enumerate(population) if other == q] for q in cells}
    ways = [
        sorted(set(itertools.permutations(population[i][1] for i in members[q]))) for q in cells
    ]
    for chosen in itertools.product(*ways):
        psi = {
            i: value
            for q, values in zip(cells, chosen, strict=True)
            for i, value in zip(members[q], values, strict=True)
        }
        yield tuple(psi[i] for i in range(len(population)))


def tally(items: Iterable[Any]) -> dict[Any, int]:
    """How often each item occurs."""
    out: dict[Any, int] = {}
    for item in items:
        out[item] = out.get(item, 0) + 1
    return out


def equation_3_1(
    counts: Mapping[Value, int],
    given_q: Mapping[Value, Fraction],
    given_block: Mapping[Value, Fraction],
) -> dict[Value, Fraction]:
    """beta(q, s, T*) for every s, from n(q*, s), f(s|q) and f(s|q*)."""
    weights = {
        s: n * given_q.get(s, Fraction(0)) / given_block[s] for s, n in counts.items() if n > 0
    }
    total = sum(weights.values())
    return {s: Fraction(weight) / total for s, weight in weights.items()}


# -- the people of one group, one by one --------------------------------------------------------


@cache
def sequences(
    counts: tuple[tuple[Value, int], ...],
    given_q: tuple[tuple[Value, Fraction], ...],
    given_block: tuple[tuple[Value, Fraction], ...],
    known: tuple[Value, ...],
) -> dict[Value, Fraction]:
    """How much weight the worlds have in which the target has each value.

    A world gives every person of the group a value, such that the values are those of the group
    and the people after the target have the `known` ones.
    """
    block = dict(given_block)
    people = [value for value, number in counts for _ in range(number)]
    out: dict[Value, Fraction] = {}
    for world in set(itertools.permutations(people)):
        if world[1 : 1 + len(known)] != known:
            continue
        weight = dict(given_q).get(world[0], Fraction(0))
        for value in world[1:]:
            weight *= block[value]
        out[world[0]] = out.get(world[0], Fraction(0)) + weight
    return out


@dataclass(frozen=True)
class Target:
    """Somebody in a group: the group's counts, and what was believed about the person before.

    `before` is f(s|q) for every value s that is possible at all, `block` is f(s|q*).
    """

    counts: Mapping[Value, int]
    before: Mapping[Value, Fraction]
    block: Mapping[Value, Fraction]


@dataclass(frozen=True)
class Adversary:
    """What the other side may know beside the quasi-identifiers and the prior."""

    negations: int = 0
    known_people: int = 0


@dataclass(frozen=True)
class Belief:
    """A predicate as somebody believes in it, before and after the release."""

    predicate: frozenset[Value]
    negated: frozenset[Value]
    before: Fraction
    after: Fraction


def beliefs(target: Target, predicate: frozenset[Value], adversary: Adversary) -> Iterator[Belief]:
    """Every belief that some adversary can hold about one predicate of one person."""
    size = sum(target.counts.values())
    block = tuple(sorted(target.block.items(), key=repr))
    before = tuple(sorted(target.before.items(), key=repr))
    counts = tuple(sorted(target.counts.items(), key=repr))
    for number in range(min(adversary.known_people, size - 1) + 1):
        for known in itertools.combinations_with_replacement(
            sorted(target.counts, key=repr), number
        ):
            weights = sequences(counts, before, block, known)
            for negated in subsets(target.before, adversary.negations):
                left = {s: w for s, w in weights.items() if s not in negated}
                if sum(left.values()) > 0:
                    yield Belief(
                        predicate,
                        negated,
                        share(
                            predicate, {s: p for s, p in target.before.items() if s not in negated}
                        ),
                        share(predicate, left),
                    )


def subsets(values: Iterable[Value], most: int) -> Iterator[frozenset[Value]]:
    """All sets of at most so many values."""
    ordered = sorted(values, key=repr)
    for size in range(min(most, len(ordered)) + 1):
        for chosen in itertools.combinations(ordered, size):
            yield frozenset(chosen)


def share(predicate: frozenset[Value], weights: Mapping[Value, Fraction]) -> Fraction:
    """How much of the weight satisfies a predicate."""
    inside = sum((w for s, w in weights.items() if s in predicate), Fraction(0))
    return inside / sum(weights.values())


# -- measures -----------------------------------------------------------------------------------


def positive(found: Iterable[Belief]) -> Fraction:
    """The greatest belief; Definition 3.12 holds if it is below c."""
    return max((one.after for one in found), default=Fraction(0))


def negative(found: Iterable[Belief]) -> Fraction:
    """The least belief of those who do not negate the predicate's own values;
    at least c is required.
    """
    return min((one.after for one in found if not one.negated & one.predicate), default=Fraction(1))


def uninformative(found: Iterable[Belief]) -> Fraction:
    """The greatest difference of the beliefs after and before; at most epsilon is allowed."""
    return max((abs(one.after - one.before) for one in found), default=Fraction(0))


def ratio(found: Iterable[Belief]) -> Any:
    """The greatest factor between the beliefs before and after; 0 and 0 are equal."""

    def factor(one: Belief) -> Any:
        if one.before == one.after:
            return Fraction(1)
        if 0 in (one.before, one.after):
            return inf
        return max(one.after / one.before, one.before / one.after)

    return max((factor(one) for one in found), default=Fraction(1))


def upward(found: Iterable[Belief], rho1: Fraction) -> Fraction:
    """The greatest belief, in a predicate or its negation, that was below rho1 before;
    0 for none.
    """
    out = Fraction(0)
    for one in found:
        if one.before < rho1:
            out = max(out, one.after)
        if one.before > 1 - rho1:
            out = max(out, 1 - one.after)
    return out


def rho_breach(found: Iterable[Belief], rho1: Fraction, rho2: Fraction) -> bool:
    """Definition 3.6, both halves as they stand there."""
    return any(
        (one.before < rho1 and one.after > rho2) or (one.before > 1 - rho1 and one.after < 1 - rho2)
        for one in found
    )


# -- a whole release ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Prior:
    """f over some quasi-identifiers and the sensitive column, and how cells are generalized."""

    columns: tuple[str, ...] = ()
    joint: Mapping[tuple[Cell, Value], Fraction] = field(default_factory=dict)
    label: Callable[[Cell], Cell] = lambda cell: cell


def own_distribution(rows: Sequence[Mapping[str, Any]], column: str) -> Prior:
    """What the whole table says: the prior where none is given."""
    values = [row[column] for row in rows if row[column] is not None]
    shares = {((), s): Fraction(values.count(s), len(values)) for s in set(values)}
    return Prior((), shares)


def targets(
    rows: Sequence[Mapping[str, Any]],
    released: Sequence[Mapping[str, Any]],
    quasi: Sequence[str],
    column: str,
    prior: Prior,
) -> list[tuple[Cell, Cell, Target]]:
    """Everybody whose value is known, as (group, q, target), each kind once.

    `released` are the same rows, generalized. Missing quasi-identifiers are a value of their own.
    """
    keys = [tuple(row[name] for name in quasi) for row in released]
    cells = [tuple(row[name] for name in prior.columns) for row in rows]
    domain = {s for _, s in prior.joint}
    out = []
    for key, cell in sorted(
        {(k, c) for k, c, row in zip(keys, cells, rows, strict=True) if row[column] is not None},
        key=repr,
    ):
        group = [row[column] for row, k in zip(rows, keys, strict=True) if k == key]
        counts = tally(value for value in group if value is not None)
        q = {s: prior.joint.get((cell, s), Fraction(0)) for s in domain}
        near = [c for c in {c for c, _ in prior.joint} if prior.label(c) == prior.label(cell)]
        block = {s: sum(prior.joint.get((c, s), Fraction(0)) for c in near) for s in domain}
        out.append((key, cell, Target(counts, normal(q), normal(block))))
    return out


def normal(weights: Mapping[Value, Fraction]) -> dict[Value, Fraction]:
    """Weights that sum to one; values without weight stay, with 0."""
    total = sum(weights.values())
    return {s: w / total for s, w in weights.items()}


def all_beliefs(
    people: Iterable[Target], predicates: Iterable[frozenset[Value]], adversary: Adversary
) -> list[Belief]:
    """Every belief of every adversary in every predicate about everybody."""
    wanted = list(predicates)
    return [
        one
        for target in people
        for predicate in wanted
        for one in beliefs(target, predicate, adversary)
    ]


# -- predicates ---------------------------------------------------------------------------------


def equals(values: Iterable[Value]) -> list[frozenset[Value]]:
    """One predicate per value."""
    return [frozenset([value]) for value in values]


def between(domain: Iterable[Value], low: Any, high: Any) -> frozenset[Value]:
    """X in [low, high]."""
    return frozenset(value for value in domain if low <= value <= high)


def within(domain: Iterable[Value], width: Any) -> list[frozenset[Value]]:
    """For every x of the domain: X in [x - width, x + width]."""
    values = list(domain)
    return [between(values, x - width, x + width) for x in values]
