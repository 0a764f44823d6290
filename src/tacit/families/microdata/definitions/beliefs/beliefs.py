"""What somebody can come to believe about a person of a group: shares of the possible worlds.

A group shows how many of its people have each value, and nothing tells its people apart but what
was believed before. So the worlds in which a person has the value s weigh

    n(s) f(s|q) / f(s|q*)

(Machanavajjhala 2008, Theorem 3.1), or n(s) where the prior does not tell people apart. Whoever
can rule
out values for the person drops their weights; whoever knows other people of the group takes them
out of the counts. A belief is a share of what is left. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import comb

Predicate = frozenset[int]  # the codes of the values that satisfy it
Cell = tuple[int, int, Fraction | int]  # a value's code, its people, the weight of each
Weight = Fraction | int
Left = tuple[Weight, tuple[int, ...], tuple[tuple[int, int], ...]]  # weight, negated, taken out


@dataclass(frozen=True, slots=True)
class PersonKnowledge:
    """What is known beside quasi-identifiers and prior: values that the person does not have, and
    how many other people of the group are known to have each value.
    """

    negated: tuple[int, ...] = ()
    known: Mapping[int, int] = field(default_factory=dict)


NOTHING = PersonKnowledge()


@dataclass(frozen=True, slots=True)
class BeliefTarget:
    """Somebody in a group, as the other side sees them.

    `counts` has the people of the group by value, without those values that the person cannot have;
    `prior` is f(s|q) for every value. `units` is f(s|q) / f(s|q*), up to a common factor; where it
    is None the prior does not tell the people of the group apart.
    """

    counts: Mapping[int, int]
    prior: Mapping[int, Fraction]
    units: Mapping[int, Fraction] | None = None

    def cells(self, values: Iterable[int]) -> list[Cell]:
        """Some of the group's values with their people and weights."""
        return [(s, self.counts[s], self.units[s] if self.units else 1) for s in values]

    def before(self, predicate: Predicate, negated: Sequence[int] = ()) -> Fraction:
        """The belief without the release; what was ruled out before is ruled out here too."""
        total = 1 - sum((self.prior.get(s, Fraction(0)) for s in negated), Fraction(0))
        inside = predicate.difference(negated)
        return sum((self.prior.get(s, Fraction(0)) for s in inside), Fraction(0)) / total

    def without(self, negated: Sequence[int]) -> BeliefTarget:
        """The same person for somebody who can rule out some values."""
        return BeliefTarget(
            {s: n for s, n in self.counts.items() if s not in negated}, self.prior, self.units
        )


@dataclass(frozen=True, slots=True)
class PredicateBelief:
    """A predicate about a person as somebody believes in it, before and after the release."""

    predicate: Predicate
    before: Fraction
    after: Fraction
    knowledge: PersonKnowledge = NOTHING


def beliefs(
    target: BeliefTarget, predicate: Predicate, *, negations: int, known: int, compares: bool
) -> Iterator[PredicateBelief]:
    """The extreme beliefs of everybody who can rule out so many values and knows so many others.

    A measure of the belief after the release needs the greatest, for which only values outside the
    predicate are ruled out, and the least, for which none is: who negates the predicate's own
    values was told so by somebody else. A measure that `compares` with the belief
    before, which depends on what is ruled out, is asked for every choice.
    """
    if not compares:
        yield greatest(target, predicate, negations=negations, known=known)
        yield least(target, predicate, known=known)
        return
    for negated in choices(target.prior, negations):
        left = target.without(negated)
        if left.counts:
            yield greatest(left, predicate, known=known, negated=negated)
            yield least(left, predicate, known=known, negated=negated)


def greatest(
    target: BeliefTarget,
    predicate: Predicate,
    *,
    negations: int = 0,
    known: int = 0,
    negated: tuple[int, ...] = (),
) -> PredicateBelief:
    """The greatest belief in a predicate: the strongest knowledge leaves the least outside it.

    >>> flu, cold, cough = 0, 1, 2
    >>> ward = BeliefTarget({flu: 2, cold: 2, cough: 1}, {})
    >>> [str(greatest(ward, frozenset([flu]), negations=n).after) for n in (0, 1, 2)]
    ['2/5', '2/3', '1']
    """
    inside = weight(target.cells(target.counts.keys() & predicate))
    if not inside:
        return PredicateBelief(
            predicate, target.before(predicate, negated), Fraction(0), PersonKnowledge(negated)
        )
    outside = target.cells(target.counts.keys() - predicate)
    rest, knowledge = strongest(outside, negations, known)
    ruled_out = (*negated, *knowledge.negated)
    return PredicateBelief(
        predicate,
        target.before(predicate, ruled_out),
        Fraction(inside) / (inside + rest),
        PersonKnowledge(ruled_out, knowledge.known),
    )


def least(
    target: BeliefTarget, predicate: Predicate, *, known: int = 0, negated: tuple[int, ...] = ()
) -> PredicateBelief:
    """The least belief in a predicate: the greatest in its opposite."""
    opposite = frozenset(target.counts.keys() - predicate)
    belief = greatest(target, opposite, known=known, negated=negated)
    before = target.before(predicate, negated)
    return PredicateBelief(predicate, before, 1 - belief.after, belief.knowledge)


def weight(cells: Iterable[Cell]) -> Weight:
    """The weight of some cells."""
    return sum(count * unit for _, count, unit in cells)


def strongest(cells: Sequence[Cell], negations: int, known: int) -> tuple[Weight, PersonKnowledge]:
    """What knowledge of so many negations and people leaves the least weight, and how much.

    Without a choice between the two, or where all people weigh the same, the heaviest values are
    ruled out, and then the heaviest people taken out.

    >>> strongest([(0, 5, 1), (1, 3, 1), (2, 3, 1)], negations=1, known=4)
    (2, PersonKnowledge(negated=(0,), known={1: 3, 2: 1}))
    """
    if negations and known and len({unit for _, _, unit in cells}) > 1:
        return strongest_of_both(cells, negations, known)
    by_weight = sorted(cells, key=lambda cell: (-cell[1] * cell[2], cell[0]))
    negated = tuple(code for code, _, _ in by_weight[:negations])
    left = sorted(by_weight[negations:], key=lambda cell: (-cell[2], cell[0]))
    rest, taken = weight(left), {}
    for code, count, unit in left:
        if not known:
            break
        taken[code] = min(known, count)
        known -= taken[code]
        rest -= taken[code] * unit
    return rest, PersonKnowledge(negated, taken)


def strongest_of_both(
    cells: Sequence[Cell], negations: int, known: int
) -> tuple[Weight, PersonKnowledge]:
    """The same where ruling out the heaviest value may not be best:
    value by value, heaviest people first.

    Which people are taken out is clear once the ruled-out values are chosen: the heaviest that are
    left. So going through the values by the weight of one person, each is ruled out, or loses as
    many people as may still be taken out; the best of every number of negations and people is kept.

    >>> rest, best = strongest_of_both([(0, 10, 6), (1, 55, 1)], negations=1, known=5)
    >>> rest, best  # ruling out the heavier value, 60 of 115, would leave 50
    (30, PersonKnowledge(negated=(1,), known={0: 5}))
    """
    best: dict[tuple[int, int], Left] = {(negations, known): (0, (), ())}
    for code, count, unit in sorted(cells, key=lambda cell: (-cell[2], cell[0])):
        found: dict[tuple[int, int], Left] = {}
        for (may_negate, may_take), (rest, negated, taken) in best.items():
            gone = min(count, may_take)
            kept = (
                rest + (count - gone) * unit,
                negated,
                (*taken, (code, gone)) if gone else taken,
            )
            options = [((may_negate, may_take - gone), kept)]
            if may_negate:
                options.append(((may_negate - 1, may_take), (rest, (*negated, code), taken)))
            for state, left in options:
                found[state] = min(found.get(state, left), left, key=lambda one: one[0])
        best = found
    rest, negated, taken = min(best.values(), key=lambda one: (one[0], len(one[1])))
    return rest, PersonKnowledge(negated, dict(taken))


def choices(values: Iterable[int], most: int) -> Iterator[tuple[int, ...]]:
    """All ways to rule out at most so many values, the fewest first."""
    ordered = sorted(values)
    for number in range(min(most, len(ordered)) + 1):
        yield from combinations(ordered, number)


def number_of_choices(values: int, most: int) -> int:
    """How many ways there are.

    >>> number_of_choices(5, 2)
    16
    """
    return sum(comb(values, number) for number in range(min(most, values) + 1))
