"""Proximity: a value that is nearly known. "Earns within 2,000 of 100,000, with 80 %" (Li et al.
2008).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.attacks.stories import Story, StoryStep
from tacit.families.microdata.distances import Discrete, Distance, Numeric
from tacit.families.microdata.neighbours import Balls, largest_balls
from tacit.families.words import (
    change,
    known_facts,
    mention,
    name_of,
    people,
    plural,
    saying,
    spoken,
)
from tacit.model.numbers import percent, percent_exactly, plain

NAME = "proximity"
WIDTH = Fraction(2, 100)  # of the range, where no check says how near is near
CHECKS = ("dissimilarity", "eps-m")


def proximity(scene: AttackScene) -> Story | None:
    """The most people of a group around one value; None for columns without a distance.
    n log n per group.
    """
    groups = scene.groups
    if not len(scene.cells.owner) or groups.overlapping:
        return None
    distance = scene.question.measure(scene.column, groups.dictionary)
    declared = declared_radius(scene)
    radius = declared if declared is not None else share_of_range(distance)
    if isinstance(distance, Discrete) or radius is None:
        return None
    balls = largest_balls(groups, distance, radius)
    number = scene.place.number if scene.place else worst(balls)
    known = int(balls.cells.known[number])
    if not known:
        return None
    value = groups.dictionary[centre(scene, balls, number)]
    person = scene.place.person if scene.place else scene.question.person(groups, number, value)
    inside = int(
        balls.masses[balls.cells.of(number)][position(balls, number, value, groups.dictionary)]
    )
    before, after = before_near(scene, balls, value), Fraction(inside, known)
    close = (
        balls.sizes * scene.threshold.denominator >= balls.cells.known * scene.threshold.numerator
    ) & (balls.cells.known > 0)
    width = f"within {plain(radius)}" if declared is not None else "within 2 % of its range"
    word = spoken(scene.column)
    concerned = groups.people(close) if scene.place is None else int(groups.sizes[number])
    headline = f"the {word} is known {width} with {percent(after)}"
    if scene.place is None:
        headline += (
            f"; at {percent_exactly(scene.threshold)} or more for {concerned:,} of "
            f"{people(scene.question.people)}"
        )
    claim = near_words(scene.column, value, distance, radius)
    return Story(
        NAME,
        headline,
        scene.column,
        f"Anyone who knows that {name_of(person)} {known_facts(person.known)} believes with "
        f"{percent(after)} that {mention(person)} {claim}. Belief {change(before, after)} "
        f"({inside}/{known}).",
        person,
        value,
        before,
        after,
        people=concerned,
        steps=(StoryStep("before the release", before), StoryStep("with the release", after)),
        facts={
            "groups_near": int(close.sum()),
            "threshold": scene.threshold,
            **({"within": declared} if declared is not None else {"within_share_of_range": WIDTH}),
        },
    )


def declared_radius(scene: AttackScene) -> Fraction | None:
    """How near is near, as a check of this release and column says; the widest of them."""
    asked = [
        Fraction(one.definition.epsilon)  # type: ignore[attr-defined]
        for one in scene.checks
        if one.definition.check_name in CHECKS and one.sensitive in (None, scene.column)
    ]
    return max(asked, default=None)


def share_of_range(distance: Distance) -> Fraction | None:
    """Two percent of a column's range; None for what are not numbers."""
    if not isinstance(distance, Numeric) or not len(distance.places):
        return None
    return WIDTH * Fraction(int(max(distance.places)) - int(min(distance.places)), distance.scale)


def worst(balls: Balls) -> int:
    """The group with the greatest share around one value.

    Among equals one with several values there (one alone is
    homogeneity), then the larger, then the first.
    """
    cells = balls.cells
    share = balls.sizes / np.maximum(cells.known, 1)  # equal fractions are equal floats
    alone = np.diff(cells.starts) < 2
    return int(np.lexsort((np.arange(len(share)), -cells.known, alone, -share))[0])


def centre(scene: AttackScene, balls: Balls, number: int) -> int:
    """The code of the value in the middle: the target's own, else that with the largest ball."""
    value = scene.place.value if scene.place else None
    return scene.groups.dictionary.index(value) if value is not None else balls.centre(number)


def position(balls: Balls, number: int, value: Any, dictionary: tuple[Any, ...]) -> int:
    """Which of a group's cells has a value."""
    return int(
        np.flatnonzero(balls.cells.values[balls.cells.of(number)] == dictionary.index(value))[0]
    )


def before_near(scene: AttackScene, balls: Balls, value: Any) -> Fraction:
    """The share of people in the whole table who have a value near this one."""
    base, codes = scene.question.base, np.arange(len(scene.groups.dictionary))
    near = codes[balls.nearness.near(scene.groups.dictionary.index(value), codes)]
    rows = np.flatnonzero(np.isin(base.codes(scene.column), near))
    return Fraction(base.people(rows), max(1, scene.question.known_people(scene.column)))


def near_words(column: str, value: Any, distance: Distance, radius: Fraction) -> str:
    """A value and what is near it, as a person says it.

    >>> near_words("salary", 100000, Numeric([], 1), Fraction(2000))
    'earns 100,000 give or take 2,000'
    """
    if isinstance(distance, Numeric):
        written = f"{value:,}" if isinstance(value, int) else value
        reach = f"{int(radius):,}" if radius.denominator == 1 else plain(radius)
        return f"{saying(column, written)} give or take {reach}"
    return (
        f"{saying(column, value)} or something within "
        f"{plural(distance.unit or 'step', int(radius))} of it"
    )
