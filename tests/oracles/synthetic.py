"""Synthetic data by brute force: every table, every output and its exact probability, as the
definitions have them.

Written from Machanavajjhala (2008), chapter 4 and appendix A, and sharing no code with Tacit. One
group
has n people, each in one of k cells. The mechanisms see only how many people each cell has, so a
table is its histogram, a tuple of k counts. A law gives every possible output its probability, a
Fraction; an output it does not name cannot happen. `ratio` is e^epsilon, a Fraction too, so nothing
is ever rounded.

- Neighbouring tables differ in one person's value; nobody leaves and nobody joins.
- `dirichlet`: Algorithm 3, one synthetic person after another. `shrunk`: Algorithm 5 before it.
  `accepted`: the accept/reject method of 4.5.1. `coarsened`: the first half of 4.5.2. `geometric`:
  the thresholded histogram.
- `delta_dp`, `epsilon_pure`: differential privacy (Definition 4.1
  and its usual relaxation with delta).
- `disclosure_set`, `delta_pdp`: probabilistic differential privacy (Definitions 4.5 and 4.6).

Where several groups are published together, a table is a tuple of histograms (see `together`), and
one person of one group changes; everything below `laws` takes both kinds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm, prod
from typing import Any

Table = tuple[Any, ...]  # counts of the cells; or such tuples, one for each group
Output = Any  # hashable: a tuple of counts for all mechanisms here
Law = Mapping[
    Output, Fraction
]  # disclosure_set and disclosed take integers over one denominator as well
Laws = Mapping[Table, Law]
Mechanism = Callable[[Table], Law]

# -- tables and their neighbours -------------------------------------------------------------------


def histograms(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """All tables of n people over k cells.

    >>> list(histograms(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in histograms(n - first, k - 1):
            yield (first, *rest)


def guesses(table: Table) -> list[tuple[Table, ...]]:
    """For every person: the tables that somebody who knows everyone else's value thinks possible.

    People of one cell give the same tables, so each cell that somebody is in stands once.

    >>> guesses((2, 0))
    [((2, 0), (1, 1))]
    >>> guesses(((1, 0), (0, 1)))
    [(((1, 0), (0, 1)), ((0, 1), (0, 1))), (((1, 0), (1, 0)), ((1, 0), (0, 1)))]
    """
    if any(isinstance(one, tuple) for one in table):
        return [
            tuple((*table[:group], guess, *table[group + 1 :]) for guess in possible)
            for group, one in enumerate(table)
            for possible in guesses(one)
        ]
    cells = range(len(table))
    return [
        tuple(tuple(table[i] - (i == mine) + (i == cell) for i in cells) for cell in cells)
        for mine in cells
        if table[mine]
    ]


def neighbours(table: Table) -> list[Table]:
    """All tables with another value of one person.

    >>> neighbours((1, 1))
    [(0, 2), (2, 0)]
    """
    return sorted({guess for possible in guesses(table) for guess in possible} - {table})


def pairs(laws: Laws) -> Iterator[tuple[Table, Table]]:
    """All ordered pairs of neighbouring tables."""
    return ((table, other) for table in laws for other in neighbours(table))


# -- mechanisms ------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _drawn(
    weights: tuple[int, ...], step: int, number: int
) -> tuple[dict[tuple[int, ...], int], int]:
    """How the number of people fall into cells, one after another;
    a cell's weight grows by step with each one.

    Returns the share of every outcome and what the shares add up to.
    """
    shares, total = {(0,) * len(weights): 1}, 1
    for done in range(number):
        following: dict[tuple[int, ...], int] = {}
        for counts, share in shares.items():
            for cell, weight in enumerate(weights):
                if weight:  # a cell of weight 0 is ignored for good: nobody can be the first in it
                    more = (*counts[:cell], counts[cell] + 1, *counts[cell + 1 :])
                    following[more] = following.get(more, 0) + share * (
                        weight + step * counts[cell]
                    )
        shares, total = following, total * (sum(weights) + step * done)
    return shares, total


def dirichlet(table: tuple[int, ...], alphas: Sequence[Fraction], m: int) -> Law:
    """Algorithm 3 for one group: m people from a multinomial with the
    prior Dirichlet(n_1 + alpha_1, ...).

    The next person is in cell i with probability (n_i + alpha_i + those already drawn in i) / (n +
    |alpha| + those already drawn), the Polya urn: no Gamma function is needed.

    >>> dirichlet((1, 0), (Fraction(1), Fraction(1)), 1)
    {(1, 0): Fraction(2, 3), (0, 1): Fraction(1, 3)}
    """
    exact = [count + Fraction(alpha) for count, alpha in zip(table, alphas, strict=True)]
    step = lcm(*(one.denominator for one in exact))
    shares, total = _drawn(tuple(int(one * step) for one in exact), step, m)
    return {output: Fraction(share, total) for output, share in shares.items()}


def mixture(parts: Sequence[tuple[Fraction, Law]]) -> Law:
    """One of the laws, each with its probability."""
    found: dict[Output, Fraction] = {}
    for weight, law in parts:
        for output, probability in law.items():
            found[output] = found.get(output, Fraction(0)) + weight * probability
    return {output: probability for output, probability in found.items() if probability}


def shrunk(
    table: tuple[int, ...], alphas: Sequence[Fraction], keeps: Sequence[Fraction], m: int
) -> Law:
    """Algorithm 5, then Algorithm 3: each empty cell i is kept with probability keeps_i;
    the others have alpha 0.
    """
    parts = []
    choices = [(True,) if count else (True, False) for count in table]
    for kept in itertools.product(*choices):
        chance = prod(
            (Fraction(keep) if stays else 1 - Fraction(keep))
            for count, stays, keep in zip(table, kept, keeps, strict=True)
            if not count
        )
        if chance:
            left = [
                Fraction(alpha) if stays else Fraction(0)
                for stays, alpha in zip(kept, alphas, strict=True)
            ]
            parts.append((Fraction(chance), dirichlet(table, left, m)))
    return mixture(parts)


def is_representative(
    output: tuple[int, ...], table: tuple[int, ...], gamma: Fraction, alphas: Sequence[Fraction]
) -> bool:
    """gamma-Rep(D), Definition 4.8: no cell has more than gamma (alpha_i
    + [n_i - 1]^+) synthetic people.
    """
    return all(
        drawn <= gamma * (alpha + max(count - 1, 0))
        for drawn, count, alpha in zip(output, table, alphas, strict=True)
    )


def is_good(
    output: tuple[int, ...], table: tuple[int, ...], gamma: Fraction, alphas: Sequence[Fraction]
) -> bool:
    """gamma-Good(D), 4.5.1: representative of the table or of one
    where one person's value is another.
    """
    return any(is_representative(output, one, gamma, alphas) for one in (table, *neighbours(table)))


def accepted(
    mechanism: Mechanism,
    table: tuple[int, ...],
    gamma: Fraction,
    alphas: Sequence[Fraction],
    good: Callable[..., bool] = is_good,
) -> Law:
    """Run the mechanism until its output is gamma-Good (or what else `good` asks for):
    its law, given that.

    `alphas` are those of the whole domain:
    what is good must not depend on the cells that Algorithm 5 kept.
    """
    law = {
        output: chance
        for output, chance in mechanism(table).items()
        if good(output, table, gamma, alphas)
    }
    if not law:
        raise ValueError(f"no output of {table} is good: accept/reject would never end")
    total = sum(law.values())
    return {output: chance / total for output, chance in law.items()}


def unrepresentative(
    mechanism: Mechanism, n: int, gamma: Fraction, alphas: Sequence[Fraction]
) -> Fraction:
    """Lemma 4.3's p: the greatest probability, over all tables, of an output outside gamma-Rep."""
    return max(
        sum(
            (
                chance
                for output, chance in mechanism(table).items()
                if not is_representative(output, table, gamma, alphas)
            ),
            Fraction(0),
        )
        for table in histograms(n, len(alphas))
    )


def coarsened(
    mechanism: Mechanism, table: tuple[int, ...], blocks: Sequence[int], density: Sequence[Fraction]
) -> Law:
    """The mechanism on blocks of cells; each synthetic person is then put into a cell of the block
    by the density.

    Cell i lies in block blocks_i (0, 1, ...), and has the share density_i of it.
    """
    return mixture(
        [
            (chance, placed(coarse, blocks, density))
            for coarse, chance in mechanism(merged(table, blocks)).items()
        ]
    )


def merged(table: tuple[int, ...], blocks: Sequence[int]) -> tuple[int, ...]:
    """The counts of the blocks.

    >>> merged((3, 1, 2), (0, 1, 0))
    (5, 1)
    """
    return tuple(
        sum(count for count, mine in zip(table, blocks, strict=True) if mine == block)
        for block in range(max(blocks) + 1)
    )


def placed(coarse: tuple[int, ...], blocks: Sequence[int], density: Sequence[Fraction]) -> Law:
    """Where the people of each block end up, one after another."""
    whole = lcm(*(Fraction(one).denominator for one in density))
    inside = []
    for block, people in enumerate(coarse):
        weights = tuple(
            int(one * whole) if mine == block else 0
            for one, mine in zip(density, blocks, strict=True)
        )
        if sum(weights) != whole:
            raise ValueError(f"the density of block {block} does not add up to 1")
        inside.append(_drawn(weights, 0, people))
    return {
        tuple(map(sum, zip(*(counts for counts, _ in chosen), strict=True))): Fraction(
            prod(share for _, share in chosen), prod(total for _, total in inside)
        )
        for chosen in itertools.product(*(shares.items() for shares, _ in inside))
    }


def noise(z: int, q: Fraction) -> Fraction:
    """P(Z = z) of the two-sided geometric noise: proportional to q^|z|, q = e^-s."""
    return (1 - q) / (1 + q) * q ** abs(z)


def noise_at_least(z: int, q: Fraction) -> Fraction:
    """P(Z >= z): the sum of a geometric series; below 1, everything but the mirrored tail.

    >>> noise_at_least(1, Fraction(1, 2)), noise_at_least(0, Fraction(1, 2))
    (Fraction(1, 3), Fraction(2, 3))
    """
    return q**z / (1 + q) if z >= 1 else 1 - q ** (1 - z) / (1 + q)


def geometric(
    table: tuple[int, ...],
    q: Fraction,
    threshold: int,
    *,
    everywhere: bool = False,
    cap: int | None = None,
) -> Law:
    """The thresholded geometric histogram: counts with noise, shown where they
    reach the threshold, None elsewhere.

    Noise goes to the cells with somebody in them, or to all of them (`everywhere`). Shown counts of
    `cap` or more (n or the threshold, whichever is more, unless given; never less than that) stand
    as `cap`. That loses nothing: a shown v >= n is at least every count c that any table of n
    people can have there, so that P(v | c) = P(cap | c) q^(v - cap), and how far above the cap v
    lies has the same law whatever the table is. Every output of a lump has the lump's ratio between
    two tables, so delta, epsilon and the disclosure set's probability are exact.
    """
    least = max(sum(table), threshold)
    cap = least if cap is None else cap
    if cap < least:
        raise ValueError(
            f"cap {cap} is less than {least}: counts from there on may differ in their ratio"
        )
    cells = []
    for count in table:
        if count or everywhere:
            shown: dict[int | None, Fraction] = {
                v: noise(v - count, q) for v in range(threshold, cap)
            }
            shown[cap] = noise_at_least(cap - count, q)
            shown[None] = 1 - noise_at_least(threshold - count, q)
        else:
            shown = {None: Fraction(1)}
        cells.append(shown)
    return {
        tuple(value for value, _ in chosen): prod(
            (chance for _, chance in chosen), start=Fraction(1)
        )
        for chosen in itertools.product(*(shown.items() for shown in cells))
    }


def processed(law: Law, how: Callable[[Output], Hashable]) -> Law:
    """What is seen of the output when only `how` of it is published."""
    return mixture([(chance, {how(output): Fraction(1)}) for output, chance in law.items()])


# -- all tables at once ----------------------------------------------------------------------------


def laws_of(mechanism: Mechanism, n: int, k: int) -> dict[Table, Law]:
    """The mechanism's law on every table of n people over k cells."""
    return {table: mechanism(table) for table in histograms(n, k)}


def together(groups: Sequence[Laws]) -> dict[Table, Law]:
    """Independent groups published as one data set:
    every tuple of tables, every tuple of outputs.
    """
    return {
        tables: {
            tuple(output for output, _ in chosen): prod(
                (chance for _, chance in chosen), start=Fraction(1)
            )
            for chosen in itertools.product(
                *(laws[table].items() for laws, table in zip(groups, tables, strict=True))
            )
        }
        for tables in itertools.product(*groups)
    }


# -- differential privacy --------------------------------------------------------------------------


def _whole(laws: Laws) -> tuple[dict[Table, dict[Output, Any]], int]:
    """The laws in integers over one denominator:
    sums of these are much quicker than sums of Fractions.
    """
    below = lcm(*(chance.denominator for law in laws.values() for chance in law.values()))
    return {
        table: {
            output: chance.numerator * (below // chance.denominator)
            for output, chance in law.items()
        }
        for table, law in laws.items()
    }, below


def delta_dp(laws: Laws, ratio: Fraction) -> Fraction:
    """The least delta of (ln ratio, delta)-differential privacy.

    The set of outputs that tells D1 from D2 best is where P1 > ratio P2, so this is the greatest
    sum of (P1 - ratio P2)^+ over all ordered neighbouring pairs.
    """
    whole, below = _whole(laws)
    over, under = Fraction(ratio).as_integer_ratio()
    worst = 0
    for one, other in pairs(laws):
        there = whole[other]
        gaps = (under * mine - over * there.get(output, 0) for output, mine in whole[one].items())
        worst = max(worst, sum(gap for gap in gaps if gap > 0))
    return Fraction(worst, below * under)


def epsilon_pure(laws: Laws) -> Fraction | None:
    """The least e^epsilon of Definition 4.1: the greatest P1/P2; None where it is infinite."""
    greatest = Fraction(1)
    for one, other in pairs(laws):
        for output, chance in laws[one].items():
            if output not in laws[other]:
                return None
            greatest = max(greatest, chance / laws[other][output])
    return greatest


# -- probabilistic differential privacy ------------------------------------------------------------


def possible_pairs(table: Table, *, keyed: bool = True) -> set[tuple[Table, Table]]:
    """The pairs (D1, D2) of Definition 4.5, both ways round:
    within one row of D, and one row from each other.

    Rows have keys: D1 and D2 then differ from D in the same person. Without keys (`keyed=False`)
    rows are only counted, and one person moved into a cell and another person moved into it leave
    tables one row apart as well.
    """
    if keyed:
        return {pair for possible in guesses(table) for pair in itertools.permutations(possible, 2)}
    near = {table, *neighbours(table)}
    return {(one, other) for one in near for other in neighbours(one) if other in near}


def disclosure_set(laws: Laws, table: Table, ratio: Fraction, *, keyed: bool = True) -> set[Output]:
    """Disc(D, ln ratio), Definition 4.5: outputs that some D1 makes more than `ratio` times as
    likely as some D2.

    Where D2 cannot give the output at all, the ratio is infinite; where neither can, there is none.
    """
    over, under = Fraction(ratio).as_integer_ratio()
    return {
        output
        for one, other in possible_pairs(table, keyed=keyed)
        for output, chance in laws[one].items()
        if under * chance > over * laws[other].get(output, 0)
    }


def disclosed(laws: Laws, table: Table, ratio: Fraction, *, keyed: bool = True) -> Fraction:
    """P(A(D) in Disc(D, ln ratio)); needs the laws of the table and of its neighbours only."""
    bad = disclosure_set(laws, table, ratio, keyed=keyed)
    return Fraction(sum(chance for output, chance in laws[table].items() if output in bad))


def delta_pdp(laws: Laws, ratio: Fraction, *, keyed: bool = True) -> Fraction:
    """The least delta of (ln ratio, delta)-probabilistic differential privacy, Definition 4.6:
    the worst table's.
    """
    whole, below = _whole(laws)
    return max(disclosed(whole, table, ratio, keyed=keyed) for table in laws) / below


# -- several groups published together -------------------------------------------------------------


def delta_dp_of_several(groups: Sequence[Laws], ratio: Fraction) -> Fraction:
    """delta_dp of the data set that holds these independent groups,
    by brute force over the product.
    """
    return delta_dp(together(groups), ratio)


def delta_pdp_of_several(
    groups: Sequence[Laws], ratio: Fraction, *, keyed: bool = True
) -> Fraction:
    """delta_pdp of the data set that holds these independent groups,
    by brute force over the product.
    """
    return delta_pdp(together(groups), ratio, keyed=keyed)
