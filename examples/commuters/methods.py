"""The methods that the study compares: how each chooses its noise for a
workplace, and draws its synthetic workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
from examples.commuters.data import Commuters

from tacit.families.synthetic.cells import KEEP_UNITS, Domain, DomainCells
from tacit.families.synthetic.drawing.group_drawing import draw
from tacit.families.synthetic.drawing.randomness import Randomness
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.noise import Chooser
from tacit.families.synthetic.promise.printed_bounds import printed_alpha, pure_alpha
from tacit.families.synthetic.promise.terms import Noise, Terms
from tacit.families.synthetic.utility.flows import Flows

EPSILON, DELTA = Epsilon.read("4.6"), Fraction("1e-5")  # of section 4.6
SHRUNK = Epsilon.read("8.6")  # what section 4.6 ends at
KEEPS = (
    (5, Fraction(1)),
    (10, Fraction(1, 2)),
    (15, Fraction(1, 5)),
)  # miles, and how often empty tracts up to there are kept
BEYOND = Fraction(1, 20)
NEAR = 15.0  # miles
DP = Terms(EPSILON, DELTA)
PDP = Terms(EPSILON, DELTA, guarantee="pdp")


@dataclass(frozen=True)
class Method:
    """A way to publish the flows: what it promises, over which cells, and its noise where that
    is not the least the promise allows.
    """

    name: str
    words: str
    terms: Terms
    domain: Callable[[Commuters, int], Domain] = field(
        default=lambda data, group: Domain(len(data.codes))
    )
    coarse: bool = False
    printed: bool = False  # noise by Algorithm 4, as Machanavajjhala (2008) has it

    def noise(self, chooser: Chooser, people: int, cells: DomainCells) -> Noise:
        """Of one group."""
        if not self.printed:
            return chooser.noise(people, cells)
        alpha = algorithm_4(people, cells.number)
        return Noise(alpha=Fraction(max(1, int(alpha * 10**9 + 1)), 10**9))


@cache
def algorithm_4(people: int, cells: int) -> float:
    """Machanavajjhala's (2008) noise for the whole domain;
    it takes delta for each workplace, though pdp adds up over them.
    """
    found = printed_alpha(people, cells, float(EPSILON.ratio[0]), float(DELTA))
    assert found is not None
    return found


def near(data: Commuters, group: int) -> Domain:
    """The tracts within some miles of a workplace, and nothing else."""
    places = np.flatnonzero(data.miles(group) <= NEAR)
    return Domain(len(places), places=places)


def shrinking(data: Commuters, group: int) -> Domain:
    """All tracts; empty ones are kept with a chance that falls with the distance."""
    miles = data.miles(group)
    keeps = np.full(len(miles), int(BEYOND * KEEP_UNITS), np.int64)
    for limit, keep in reversed(KEEPS):
        keeps[miles <= limit] = int(keep * KEEP_UNITS)
    return Domain(len(miles), keeps=keeps)


METHODS = (
    Method("dp", "tracts, differential privacy", DP),
    Method("pdp", "tracts, probabilistic dp of all workplaces together", PDP),
    Method(
        "theorem-4.2",
        "tracts, probabilistic dp as Machanavajjhala (2008) computes it",
        PDP,
        printed=True,
    ),
    Method("near", f"tracts within {NEAR:.0f} miles, others dropped", DP, near),
    Method(
        "districts",
        "districts, people placed inside them anywhere",
        DP,
        lambda data, group: Domain(data.regions[0]),
        coarse=True,
    ),
    Method(
        "dp-8.6",
        "tracts, differential privacy with the epsilon of the next two",
        Terms(SHRUNK, DELTA),
    ),
    Method(
        "shrunk",
        "far-off empty tracts mostly left out, epsilon 8.6",
        Terms(SHRUNK, DELTA),
        shrinking,
    ),
    Method(
        "algorithm-5",
        "the same as Machanavajjhala (2008) computes it",
        Terms(SHRUNK, DELTA, guarantee="pdp"),
        shrinking,
        printed=True,
    ),
    Method(
        "histogram",
        "tracts, thresholded geometric histogram",
        Terms(EPSILON, DELTA, mechanism="geometric"),
    ),
)


@dataclass(frozen=True)
class Drawn:
    """What a method made of the flows: the noise of each group, the people of
    its prior, and the synthetic flows.

    `spent` has each group's delta at the method's epsilon, from above:
    by the rigorous bounds, whoever chose the noise.
    """

    method: Method
    noises: tuple[Noise, ...]
    priors: tuple[float, ...]
    spent: tuple[float, ...]
    flows: Flows
    dropped: int

    @property
    def delta(self) -> float:
        """Of the data set, from above: the greatest of a group for dp, the sum of all for pdp."""
        return max(self.spent) if self.method.terms.guarantee == "dp" else sum(self.spent)

    @property
    def holds(self) -> bool:
        """Is the promise kept for the whole data set?"""
        return self.delta <= self.method.terms.delta


def run(method: Method, data: Commuters, seed: int) -> Drawn:
    """Publish the flows by a method. The draws are seeded: this is a study, not a release."""
    chooser = Chooser(method.terms, groups=len(data.held))

    @cache
    def spent_by(people: int, cells: DomainCells, noise: Noise) -> float:
        return chooser.most(people, cells, noise, method.terms.epsilon)

    found, noises, priors, spent, dropped = [], [], [], [], 0
    domains = [method.domain(data, group) for group in range(len(data.held))]
    people = [
        located(held, domain, data.regions[1] if method.coarse else None)
        for held, domain in zip(data.held, domains, strict=True)
    ]
    for inside, domain in sorted(zip(people, domains, strict=True), key=lambda one: one[0].people):
        method.noise(
            chooser, inside.people, domain.cells
        )  # from small groups to large ones: one leads to the next
    for group, (held, domain, inside) in enumerate(zip(data.held, domains, people, strict=True)):
        dropped += held.people - inside.people
        noise = method.noise(chooser, inside.people, domain.cells)
        randomness = Randomness.seeded(seed, f"{method.name} {group}")
        drawn = draw(inside, domain, method.terms, noise, randomness).held
        places = drawn.places if domain.places is None else domain.places[drawn.places]
        if method.coarse:
            places, counts = scattered(drawn, data.regions[1], randomness)
        else:
            counts = drawn.counts
        found.append((np.full(len(places), group), places, counts))
        noises.append(noise)
        priors.append(prior(domain, inside, noise))
        spent.append(spent_by(inside.people, domain.cells, noise))
    group_of, value, count = (
        np.concatenate(parts).astype(np.int64) for parts in zip(*found, strict=True)
    )
    flows = Flows(data.flows.groups, data.flows.values, group_of, value, count)
    return Drawn(method, tuple(noises), tuple(priors), tuple(spent), flows, dropped)


def located(held: OccupiedCells, domain: Domain, regions: Integers | None) -> OccupiedCells:
    """The true people by their place in the domain; who is outside of it is left out."""
    if regions is not None:
        counts = np.bincount(
            regions[held.places], weights=held.counts, minlength=domain.size
        ).astype(np.int64)
        places = np.flatnonzero(counts)
        return OccupiedCells(places, counts[places])
    if domain.places is None:
        return held
    inside = np.isin(held.places, domain.places)
    return OccupiedCells(np.searchsorted(domain.places, held.places[inside]), held.counts[inside])


def scattered(
    drawn: OccupiedCells, regions: Integers, randomness: Randomness
) -> tuple[Integers, Integers]:
    """People of districts placed in a tract of theirs, each tract as likely as the other."""
    found = []
    for region, count in zip(drawn.places.tolist(), drawn.counts.tolist(), strict=True):
        tracts = np.flatnonzero(regions == region)
        found.append(tracts[randomness.below(len(tracts), count)])
    whole = OccupiedCells.of(np.concatenate(found) if found else [])
    return whole.places, whole.counts


def prior(domain: Domain, held: OccupiedCells, noise: Noise) -> float:
    """How many people of the prior there are on average, in the cells that are kept;
    0 for a histogram.
    """
    if noise.alpha is None:
        return 0.0
    keeps = np.full(domain.size, 1.0) if domain.keeps is None else domain.keeps / KEEP_UNITS
    keeps[held.places] = 1.0
    return float(noise.alpha) * float(keeps.sum())


def table_4_1() -> Iterator[tuple[int, float, float, Fraction, Fraction]]:
    """For each e^epsilon of Table 4.1: Theorem 4.1, Algorithm 4, and
    our least noise for pdp and for dp.
    """
    people, cells, delta = 10**6, 10**4, Fraction("1e-6")
    for ratio in (5, 10, 20, 50):
        printed = printed_alpha(people, cells, ratio, float(delta))
        ours = [
            Chooser(Terms(Epsilon.read(f"ln({ratio})"), delta, guarantee))
            .noise(people, DomainCells.alike(cells))
            .alpha
            for guarantee in ("pdp", "dp")
        ]
        assert printed is not None and ours[0] is not None and ours[1] is not None
        yield ratio, pure_alpha(people, ratio), printed, ours[0], ours[1]
