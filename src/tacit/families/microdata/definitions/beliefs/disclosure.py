"""The worst disclosure of a release: over everybody in it, every
secret, and all that may be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.definitions.beliefs.background_adversary import BackgroundAdversary
from tacit.families.microdata.definitions.beliefs.beliefs import (
    BeliefTarget,
    PredicateBelief,
    beliefs,
)
from tacit.families.microdata.definitions.beliefs.crowd import KnownKinds
from tacit.families.microdata.definitions.beliefs.disclosure_measures import DisclosureMeasure
from tacit.families.microdata.definitions.beliefs.predicates import Predicate

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.definitions.beliefs.crowd import Mask

    Floats = np.ndarray[Any, np.dtype[np.float64]]

CLOSE = 1e-9  # scores that differ by less are compared exactly
AT_ONCE = 1_000_000  # numbers in a block


@dataclass(frozen=True, slots=True)
class WorstBelief:
    """The worst belief by one measure, about which kind of people it is, and which groups fail."""

    measure: DisclosureMeasure
    score: Fraction
    predicate: Predicate
    belief: PredicateBelief
    kind: int
    below: Mask

    @property
    def is_breach(self) -> bool:
        """Is it too much?"""
        return self.measure.is_too_much(self.score)


def worst(
    crowd: KnownKinds,
    predicates: Sequence[Predicate],
    adversary: BackgroundAdversary,
    measure: DisclosureMeasure,
) -> WorstBelief | None:
    """The worst belief that such an adversary can have about anybody; None where there is none.

    Every belief is scored exactly; among equally bad ones the first group is shown.
    """
    if not predicates or not len(crowd):
        return None  # nothing is secret, or nobody's value is known
    secrets = Secrets(predicates, adversary, measure)
    search = by_blocks if secrets.are_simple(crowd) else one_by_one
    kind, too_much = search(crowd, secrets)
    found = secrets.worst_about(crowd.target(kind))
    return found and WorstBelief(measure, *found, kind, crowd.groups_of(too_much))


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is asked about everybody: which secrets, of whom, by which measure."""

    predicates: Sequence[Predicate]
    adversary: BackgroundAdversary
    measure: DisclosureMeasure

    def are_simple(self, crowd: KnownKinds) -> bool:
        """Can all beliefs be computed at once, as fractions of whole numbers?

        So it is where nobody is told apart and no values are ruled out. Values may be ruled out
        where only the belief after the release matters, and every secret is a single value.
        """
        if crowd.is_told_apart:
            return False
        single = all(len(one.codes) <= 1 for one in self.predicates)
        return not self.adversary.negations or (single and not self.measure.compares)

    def worst_about(
        self, target: BeliefTarget
    ) -> tuple[Fraction, Predicate, PredicateBelief] | None:
        """The worst belief about one person:
        among equals one that has grown, in the first secret.
        """
        scored = [
            (
                self.measure.score(belief.before, belief.after),
                belief.after > belief.before,
                -at,
                belief,
            )
            for at in self._disclosable_secrets(target)
            for belief in beliefs(
                target,
                self.predicates[at].codes,
                negations=self.adversary.negations,
                known=self.adversary.known_people,
                compares=self.measure.compares,
            )
        ]
        if not scored:
            return None
        score, _, at, belief = max(scored, key=lambda one: one[:3])
        return score, self.predicates[-at], belief

    def _disclosable_secrets(self, target: BeliefTarget) -> Iterator[int]:
        """The secrets that can be disclosed about a person, by number."""
        for at, predicate in enumerate(self.predicates):
            if self.measure.needs_all or not predicate.codes.isdisjoint(target.counts):
                yield at


def one_by_one(crowd: KnownKinds, secrets: Secrets) -> tuple[int, Mask]:
    """The kind of people about whom the worst is believed, and which kinds fail: each looked at."""
    too_much = np.zeros(len(crowd), dtype=bool)
    best: tuple[Fraction, int, int] | None = None
    for kind, group in enumerate(crowd.group.tolist()):
        found = secrets.worst_about(crowd.target(kind))
        if found is None:
            continue
        too_much[kind] = secrets.measure.is_too_much(found[0])
        best = max(best or (found[0], -group, -kind), (found[0], -group, -kind))
    return -best[2] if best else 0, too_much


def by_blocks(crowd: KnownKinds, secrets: Secrets) -> tuple[int, Mask]:
    """The same for all people at once, as far as floats can tell;
    where scores are close, exactly.
    """
    measure = secrets.measure
    before = [crowd.target(0).before(one.codes) for one in secrets.predicates]
    too_much = np.zeros(len(crowd), dtype=bool)
    best = (Fraction(-1), 0, 0)
    size = max(1, AT_ONCE // max(len(crowd.prior.domain), len(before)))
    for begin in range(0, len(crowd), size):
        kinds = np.arange(begin, min(begin + size, len(crowd)))
        block = Block(secrets, before, *shares(matrix(crowd, kinds), secrets))
        scores = block.scores()
        too_much[kinds] = (scores > measure.most + CLOSE).any(axis=1)
        for kind, score in block.exactly(np.abs(scores - measure.most) <= CLOSE):
            too_much[begin + kind] |= measure.is_too_much(score)
        if scores.max() >= float(best[0]) - CLOSE:
            for kind, score in block.exactly(scores >= scores.max() - CLOSE):
                group = int(crowd.group[begin + kind])
                best = max(best, (score, -group, -(begin + kind)))
    return -best[2], too_much


@dataclass(frozen=True, slots=True)
class Block:
    """Beliefs as fractions of whole numbers: a row per kind of
    people, a column per secret and side.
    """

    secrets: Secrets
    before: Sequence[Fraction]
    part: Integers
    whole: Integers

    def scores(self) -> Floats:
        """The score of every belief, in floats."""
        return self.secrets.measure.scores([*self.before, *self.before], self.part / self.whole)

    def exactly(self, chosen: Mask) -> Iterator[tuple[int, Fraction]]:
        """The exact scores of some beliefs with their rows; equal ones are computed once."""
        rows, columns = np.nonzero(chosen)
        secret = columns % len(self.before)
        found = np.stack((secret, self.part[rows, columns], self.whole[rows, columns]))
        unique, which = np.unique(found, axis=1, return_inverse=True)
        exact = [
            self.secrets.measure.score(self.before[at], Fraction(part, whole))
            for at, part, whole in unique.T.tolist()
        ]
        for row, one in zip(rows.tolist(), which.reshape(-1).tolist(), strict=True):
            yield row, exact[one]


def matrix(crowd: KnownKinds, kinds: Integers) -> Integers:
    """How many people of some kinds' groups have each value."""
    groups = crowd.groups
    number = crowd.group[kinds]
    lengths = groups.starts[number + 1] - groups.starts[number]
    rows = np.repeat(np.arange(len(kinds)), lengths)
    cells = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    cells += np.repeat(groups.starts[number], lengths)
    found = np.zeros((len(kinds), len(crowd.prior.domain)), dtype=np.int64)
    found[rows, groups.values[cells]] = groups.counts[cells]
    return found


def shares(counts: Integers, secrets: Secrets) -> tuple[Integers, Integers]:
    """The greatest and the least beliefs in every secret, as parts and wholes (see `beliefs`)."""
    known = secrets.adversary.known_people
    inside = satisfying(counts, secrets.predicates)
    outside = counts.sum(axis=1)[:, None] - inside
    ruled_out = most_frequent_others(counts, inside, secrets.adversary.negations)
    rest = np.maximum(outside - ruled_out - known, 0)
    left = np.maximum(inside - known, 0)
    nobody, all_of_them = inside == 0, outside == 0
    greatest = inside, np.where(nobody, 1, inside + rest)
    least = np.where(all_of_them, 1, left), np.where(all_of_them, 1, left + outside)
    return np.hstack((greatest[0], least[0])), np.hstack((greatest[1], least[1]))


def satisfying(counts: Integers, predicates: Sequence[Predicate]) -> Integers:
    """How many people of each row satisfy each predicate."""
    if all(len(one.codes) == 1 for one in predicates):
        return counts[:, [next(iter(one.codes)) for one in predicates]]
    holds = np.zeros((counts.shape[1], len(predicates)))
    for at, predicate in enumerate(predicates):
        holds[list(predicate.codes), at] = 1
    # Exact: floats hold whole numbers up to 2**53, and multiply much faster.
    found: Integers = (counts.astype(np.float64) @ holds).astype(np.int64)
    return found


def most_frequent_others(counts: Integers, inside: Integers, negations: int) -> Integers:
    """How many people have the most frequent values beside the one whose people are `inside`."""
    if not negations:
        return np.zeros_like(inside)
    if negations >= counts.shape[1]:
        others: Integers = counts.sum(axis=1)[:, None] - inside
        return others
    sums = np.cumsum(-np.sort(-counts, axis=1)[:, : negations + 1], axis=1)
    last = (sums[:, -2] - (sums[:, -3] if negations > 1 else 0))[:, None]
    return np.where(inside >= last, sums[:, -1:] - inside, sums[:, -2:-1])
