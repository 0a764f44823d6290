"""Standing: what is believed most about everybody after some releases, and since which of them
it is above a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.families.overlaps.stages import Stages


@dataclass(frozen=True, slots=True)
class ClassStanding:
    """What is believed most about the people of a class.

    `belief` is the largest share of fitting tables in which they have the `value` (its number), at
    least; `before` is the largest one could have before the last release, of whatever value. Both
    are None where nothing is known yet, or nothing was counted. `since` is the place of the release
    after which the belief went above the limit and has stayed there; None where it is not above. It
    `is_settled` where all releases before were counted too.
    """

    class_: int
    people: int
    value: int | None
    belief: Fraction | None
    before: Fraction | None
    since: int | None
    is_settled: bool


def standing(stages: Stages, class_: int, limit: Fraction) -> ClassStanding:
    """How the people of one class stand.

    >>> from tacit.families.overlaps.stages import Largest, Stage
    >>> half, most = (
    ...     Largest(0, Fraction(1, 2), Fraction(1, 2)),
    ...     Largest(0, Fraction(4, 5), Fraction(4, 5)),
    ... )
    >>> after = (
    ...     Stage("women", {0: half}, frozenset({1})),
    ...     Stage("fifty", {0: most, 1: half}, frozenset()),
    ... )
    >>> both = [
    ...     standing(Stages("cp", ("x",), (1, 2), after), class_, Fraction(1, 2))
    ...     for class_ in (0, 1)
    ... ]
    >>> [(one.belief, one.before, one.since) for one in both]
    [(Fraction(4, 5), Fraction(1, 2), 1), (Fraction(1, 2), None, None)]
    """
    last = stages.last.largest.get(class_)
    earlier = stages.stages[-2].largest.get(class_) if len(stages.stages) > 1 else None
    since, is_settled = since_when(stages, class_, limit)
    return ClassStanding(
        class_,
        stages.sizes[class_],
        None if last is None else last.value,
        None if last is None else last.least,
        None if earlier is None else earlier.least,
        since,
        is_settled,
    )


def since_when(stages: Stages, class_: int, limit: Fraction) -> tuple[int | None, bool]:
    """The release since which the belief has been above the limit, and whether that is settled:
    the one before may not be counted.
    """
    since = None
    for place in range(len(stages.stages) - 1, -1, -1):
        stage = stages.stages[place]
        found = stage.largest.get(class_)
        if found is None:
            return since, since is None or class_ in stage.unseen
        if found.least <= limit:
            return since, True
        since = place
    return since, True


# -- in which order classes are looked at ----------------------------------------------------------


def by_belief(stages: Stages) -> list[int]:
    """The most exposed first; those about whom nothing was counted come last."""
    largest = stages.last.largest
    return [
        *stages.exposed,
        *(class_ for class_ in range(len(stages.sizes)) if class_ not in largest),
    ]


def by_since(stages: Stages, limit: Fraction) -> list[int]:
    """Those who were above the limit first come first, and those who
    are not come last, by their belief.
    """
    many = len(stages.stages)
    since = {class_: since_when(stages, class_, limit)[0] for class_ in stages.last.largest}
    return sorted(
        by_belief(stages),
        key=lambda class_: many if (place := since.get(class_)) is None else place,
    )


def by_size(stages: Stages) -> list[int]:
    """The smallest classes first."""
    return sorted(range(len(stages.sizes)), key=lambda class_: (stages.sizes[class_], class_))
