"""Homogeneity: whoever finds somebody's group finds their value, where the group has only one.

Near-homogeneity: one value has at least the threshold's share (Machanavajjhala 2008, Tables 3.11
and 3.12).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.attacks.stories import Story, StoryStep
from tacit.families.words import mention, people, plural, saying, spoken
from tacit.model.numbers import percent, percent_exactly

NAME = "homogeneity"


def homogeneity(scene: AttackScene) -> Story | None:
    """Who is in a group with (nearly) one value, and what becomes of the worst-off.
    Linear in the cells.
    """
    groups, cells = scene.groups, scene.cells
    if not len(cells.owner):
        return None
    top = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(top, cells.owner, cells.counts)
    certain = (top == cells.known) & (cells.known > 0)
    limit = scene.threshold
    # Exact: a share is at least n/d where count * d is at least n * known.
    near = (top * limit.denominator >= cells.known * limit.numerator) & (cells.known > 0)
    facts: dict[str, Any] = {
        "threshold": limit,
        "groups": len(groups),
        "groups_certain": int(certain.sum()),
        "people_certain": groups.people(certain),
        "groups_near": int(near.sum()),
        "people_near": groups.people(near),
        "people": scene.question.people,
    }
    number, value = worst(scene)
    person = None
    if scene.place is not None:
        number, person = scene.place.number, scene.place.person
        value = (
            scene.place.value
            if scene.place.value is not None
            else next(iter(scene.shares(number)), None)
        )
        if value is None:
            return None
    found = scene.learned(number, value, person)
    before, after = Fraction(*found.before), Fraction(*found.after)
    unknown = scene.place is not None and scene.place.value is None
    steps = (StoryStep("before the release", before), StoryStep("with the release", after))
    return Story(
        NAME,
        headline(scene, facts) if scene.place is None else about_one(scene, number),
        scene.column,
        without_value(scene, value, after) if unknown else found.attack(),
        found.person,
        value,
        before,
        after,
        people=facts["people_near"] if scene.place is None else int(groups.sizes[number]),
        steps=() if unknown else steps,
        facts=facts,
    )


def worst(scene: AttackScene) -> tuple[int, Any]:
    """The group and value with the greatest share;
    among equals the rarest value before, then the first.
    """
    cells = scene.cells
    counted = scene.question.before(scene.column)
    rarity = np.array([counted.get(value, 0) for value in scene.groups.dictionary], dtype=np.int64)[
        cells.values
    ]
    share = (
        cells.counts / np.maximum(cells.known, 1)[cells.owner]
    )  # equal fractions are equal floats
    cell = int(np.lexsort((np.arange(len(share)), rarity, -share))[0])
    return int(cells.owner[cell]), scene.groups.dictionary[int(cells.values[cell])]


def headline(scene: AttackScene, facts: dict[str, Any]) -> str:
    """What was found, without naming anybody."""
    word, everybody = spoken(scene.column), people(scene.question.people)
    sure, close, limit = (
        facts["people_certain"],
        facts["people_near"],
        percent_exactly(scene.threshold),
    )
    told = (
        f"the {word} of {sure:,} of {everybody} is certain: "
        if sure
        else f"nobody's {word} is certain: "
    )
    told += (
        f"{plural('group', facts['groups_certain'])} with a single one"
        if sure
        else "every group has several"
    )
    if scene.threshold < 1:
        told += f"; at {limit} or more: {people(close)} in {plural('group', facts['groups_near'])}"
    return told


def without_value(scene: AttackScene, value: Any, after: Fraction) -> str:
    """What is believed, rightly or wrongly, of a target whose value the table does not have."""
    assert scene.place is not None
    name, column = mention(scene.place.person), spoken(scene.column)
    return (
        f"The table has no {column} of {name}. Among the others in the group whose {column} is "
        f"known, {percent(after)} have the most frequent one: whoever counts may believe that "
        f"{name} {saying(scene.column, value)}."
    )


def about_one(scene: AttackScene, number: int) -> str:
    """The target's group, without a value of it."""
    shares = scene.shares(number)
    top = Fraction(max(shares.values()), max(1, int(scene.cells.known[number])))
    size = int(scene.groups.sizes[number])
    return (
        f"a group of {people(size)} with {plural(scene.column, len(shares))}; the most "
        f"frequent has {percent(top)}"
    )
