"""Geometric: the thresholded histogram, an alternative that is better for small groups;
its threshold, and what it spends.

Every occupied cell gets two-sided geometric noise, which falls by q = e^(-epsilon/2) a step, and is
published from a threshold on. One person's value changes two cells by one: where both are occupied
otherwise the ratio is at most 1/q^2 = e^epsilon. Where the person is alone in a cell, that cell is
published with the chance tau, and never without them: delta is tau.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tacit.families.synthetic.cells import DomainCells
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.probability_bounds import Bounds, above, ball, below, precise
from tacit.families.synthetic.promise.terms import CannotPromise, Noise, Terms

if TYPE_CHECKING:
    from flint import arb

MOST = 10**6  # a threshold beyond publishes nothing


def choose(terms: Terms, people: int, cells: DomainCells) -> Noise:
    """The least threshold that delta allows; for a delta of 0 noise on every cell, and few that are
    published by mistake.

    >>> choose(
    ...     Terms(Epsilon.read(2), Fraction("1e-5"), mechanism="geometric"),
    ...     100,
    ...     DomainCells.alike(50),
    ... ).threshold
    13
    """
    if not terms.delta:
        return Noise(
            threshold=first(lambda at: above(cells.number * reach(terms.epsilon, at)) <= 1, terms),
            everywhere=True,
        )
    target = terms.delta / (min(people, cells.number) if terms.guarantee == "pdp" and people else 1)
    quiet = terms.guarantee == "dp"
    return Noise(
        threshold=first(
            lambda at: (
                published_chance(terms.epsilon, at) <= target
                and (quiet or is_quiet(terms.epsilon, at))
            ),
            terms,
        )
    )


def first(passes: object, terms: Terms) -> int:
    """The first threshold that passes."""
    assert callable(passes)
    low, high = 0, 1
    while not passes(high):
        low, high = high, 2 * high
        if high > MOST:
            raise CannotPromise(
                f"at an epsilon of {terms.epsilon} nothing would be published.",
                "Raise epsilon or delta.",
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def step(epsilon: Epsilon) -> arb:
    """q = e^(-epsilon/2)."""
    if epsilon.argument is not None:
        return (1 / ball(epsilon.argument)).sqrt()
    assert epsilon.value is not None
    return (-ball(epsilon.value) / 2).exp()


def reach(epsilon: Epsilon, least: int) -> arb:
    """The chance that the noise is at least so much, for least >= 1; q^least/(1 + q)."""
    with precise():
        q = step(epsilon)
        return q**least / (1 + q) if least >= 1 else 1 - q ** (1 - least) / (1 + q)


def published_chance(epsilon: Epsilon, threshold: int) -> Fraction:
    """At least the chance that a cell of one person is published."""
    return Fraction(above(reach(epsilon, threshold - 1)))


def is_quiet(epsilon: Epsilon, threshold: int) -> bool:
    """Does a cell that is not published say no more than one person's noise may?"""
    with precise():
        return silent(reach(epsilon, threshold - 1), step(epsilon))


def silent(tau: arb, q: arb) -> bool:
    """1/(1 - tau) <= 1/q, certainly."""
    return above(1 / (1 - tau)) <= below(1 / q)


def spent(terms: Terms, people: int, cells: DomainCells, noise: Noise, epsilon: Epsilon) -> Bounds:
    """Delta at an epsilon, of a group whose noise is as the terms say."""
    assert noise.threshold is not None
    if cells.number < 2 or not people:
        return Bounds(0.0, 0.0)
    with precise():
        q, ratio = step(terms.epsilon), ratio_ball(epsilon)
        tau = ball(0) if noise.everywhere else reach(terms.epsilon, noise.threshold - 1)
        # Both cells have others: at the release's own epsilon this is 0,
        # which balls only come close to.
        inside = ball(0) if epsilon == terms.epsilon else (1 - ratio * q * q) / (1 + q) ** 2
        appears = tau + positive(
            (1 - tau - ratio * q) / (1 + q)
        )  # alone in one, others in the other
        leaves = positive((1 - ratio * q * (1 - tau)) / (1 + q)) + positive(
            q * (1 - ratio / q * (1 - tau)) / (1 + q)
        )
        found = [inside] if noise.everywhere else [inside, tau, appears, leaves]
        if people == 1 and not noise.everywhere:
            found = [tau]
        if terms.guarantee == "pdp":
            return _disclosed(terms, people, cells, epsilon, tau, q, everywhere=noise.everywhere)
        low = max(
            0.0, below(tau), below(inside - 2 * _hidden(terms.epsilon, people, noise.threshold))
        )
        return Bounds(low, min(1.0, max(0.0, *(above(one) for one in found))))


def _hidden(epsilon: Epsilon, people: int, threshold: int) -> arb:
    """The chance that one of two cells with half of the known people each is not published:
    then less is told than the noise would allow.
    """
    half = (people - 1) // 2
    return reach(epsilon, half - threshold + 1) if half >= threshold else ball(1)


def _disclosed(
    terms: Terms,
    people: int,
    cells: DomainCells,
    epsilon: Epsilon,
    tau: arb,
    q: arb,
    *,
    everywhere: bool,
) -> Bounds:
    """The chance of disclosure: that somebody who is alone in a cell is published, and less than
    what the noise spends is asked.
    """
    if epsilon.ratio[0] < terms.epsilon.ratio[1] and epsilon != terms.epsilon:
        return Bounds(0.0, 1.0)
    if everywhere:
        return Bounds(0.0, 0.0)
    if not silent(tau, q):
        return Bounds(0.0, 1.0)
    # So many people can be alone: all, or where there are more of
    # them than cells all cells but one.
    alone_at_most = people if people <= cells.number else cells.number - 1
    found = 1 - (1 - tau) ** alone_at_most
    return Bounds(max(0.0, below(found)), min(1.0, above(found)))


def ratio_ball(epsilon: Epsilon) -> arb:
    """e^epsilon as a ball."""
    return (
        ball(epsilon.argument) if epsilon.argument is not None else ball(epsilon.value or 0).exp()
    )


def positive(number: arb) -> arb:
    """A number, or 0 where it is certainly negative."""
    return number if above(number) > 0 else ball(0)
