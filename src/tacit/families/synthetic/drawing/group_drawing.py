"""Drawing: the synthetic people of one group, by either mechanism, with the domain shrunk and
outputs accepted as the terms say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.errors import DataError, ParameterError
from tacit.families.synthetic.cells import Domain
from tacit.families.synthetic.drawing.acceptance import Good
from tacit.families.synthetic.drawing.randomness import Randomness, WaitingTime
from tacit.families.synthetic.drawing.urn import PeopleUrn, UrnPrior
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.terms import Noise, Terms
from tacit.model.numbers import plain

MOST_TRIES = 1000  # where half of all outputs are good, nobody ever sees so many that are not
MOST_DRAWN = 10**9  # people of a group are drawn one by one, and take about 40 bytes each


@dataclass(frozen=True)
class Draw:
    """The synthetic people of a group, by place in its domain, and how often they were drawn
    until they were accepted.
    """

    held: OccupiedCells
    tries: int = 1


def draw(
    held: OccupiedCells,
    domain: Domain,
    terms: Terms,
    noise: Noise,
    randomness: Randomness,
    *,
    drawn: int | None = None,
) -> Draw:
    """Synthetic people of one group, exactly by the law that the terms are proved for.

    `held` are the true people, in cells of `domain`; `drawn` is how many synthetic ones there will
    be, where the mechanism lets us choose (dirichlet; as many as true ones, unless given).

    >>> from fractions import Fraction
    >>> terms = Terms(Epsilon.read(1), Fraction(0))
    >>> found = draw(
    ...     OccupiedCells.of([2, 2, 7]),
    ...     Domain(9),
    ...     terms,
    ...     Noise(alpha=Fraction(2)),
    ...     Randomness.seeded(5),
    ... )
    >>> found.held.people, found.tries
    (3, 1)
    """
    if terms.mechanism == "geometric":
        if terms.accept is not None:
            raise ParameterError(
                "accept draws outputs of the dirichlet mechanism again; the geometric one has none "
                "to reject.",
                parameter="accept",
                hint="Leave accept out, or write mechanism: dirichlet.",
            )
        return Draw(published(held, domain.size, terms.epsilon, noise, randomness))
    return sampled(held, domain, terms, noise, randomness, held.people if drawn is None else drawn)


def sampled(
    held: OccupiedCells,
    domain: Domain,
    terms: Terms,
    noise: Noise,
    randomness: Randomness,
    number: int,
) -> Draw:
    """So many people by the Dirichlet-multinomial law, again and again (the domain too) until
    they are accepted.
    """
    if noise.alpha is None or noise.alpha <= 0:
        raise ValueError("the dirichlet mechanism needs an alpha above 0")
    if number > MOST_DRAWN:
        raise DataError(
            f"a group has {number:,} people; at most {MOST_DRAWN:,} are drawn for one group.",
            hint="Write mechanism: geometric, or a finer group.",
        )
    good = None if terms.accept is None else Good(held, domain, noise.alpha, terms.accept)
    for tries, prior in enumerate(priors(held, domain, randomness), start=1):
        found = PeopleUrn(held, prior, noise.alpha).people(number, randomness)
        if good is None or good.accepts(found):
            return Draw(found, tries)
    assert good is not None
    raise ParameterError(
        f"{MOST_TRIES:,} draws in a row had cells with more than accept: {plain(good.gamma)} times "
        "their share.",
        parameter="accept",
        hint=(
            f"Write a larger accept, for example accept: {plain(2 * good.gamma)}, or leave it out."
        ),
    )


def priors(held: OccupiedCells, domain: Domain, randomness: Randomness) -> Iterator[UrnPrior]:
    """The cells to draw from, for every try: all of them, or those with somebody in them and the
    empty ones that are kept.
    """
    whole = UrnPrior.of(domain) if domain.keeps is None else None
    for _ in range(MOST_TRIES):
        yield whole or UrnPrior.of(domain, kept(held, domain.keeps, randomness))


def kept(held: OccupiedCells, keeps: Integers | None, randomness: Randomness) -> Integers:
    """The places that stay in the domain (Algorithm 5)."""
    assert keeps is not None
    stays = randomness.chances(keeps)
    stays[held.places] = True
    return np.flatnonzero(stays)


def published(
    held: OccupiedCells, size: int, epsilon: Epsilon, noise: Noise, randomness: Randomness
) -> OccupiedCells:
    """The thresholded geometric histogram: counts with noise, where they reach the threshold."""
    if noise.threshold is None or noise.threshold < 1:
        raise ValueError(
            "the geometric mechanism needs a threshold of at least 1: counts below it are no people"
        )
    counts = held.counts + randomness.geometric(epsilon, len(held.counts))
    shown = counts >= noise.threshold
    places, counts = held.places[shown], counts[shown]
    if noise.everywhere:
        more, noisy = spurious(held, size, epsilon, noise.threshold, randomness)
        order = np.argsort(both := np.concatenate([places, more]))
        places, counts = both[order], np.concatenate([counts, noisy])[order]
    return OccupiedCells(places, counts)


def spurious(
    held: OccupiedCells, size: int, epsilon: Epsilon, threshold: int, randomness: Randomness
) -> tuple[Integers, Integers]:
    """The empty cells whose noise alone reaches the threshold, and their noise.

    Only these are drawn. How far noise goes beyond the threshold that it reached is a waiting time,
    as a geometric law has no memory.
    """
    ranks = randomness.reached(epsilon, threshold, size - len(held.places))
    empty_before = held.places - np.arange(
        len(held.places)
    )  # so many empty cells lie before each occupied one
    places = ranks + np.searchsorted(empty_before, ranks, side="right")
    return places, threshold + randomness.waits(WaitingTime(epsilon), len(ranks))
