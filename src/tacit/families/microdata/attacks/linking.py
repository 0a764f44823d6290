"""Linking: whoever has a list with names finds people in a release by what both have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.errors import DataError
from tacit.families.microdata.attacks.attack_scene import AttackScene, OutsideTable
from tacit.families.microdata.attacks.stories import Story, StoryStep
from tacit.families.microdata.groups import Groups, group
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.families.words import known_facts, listed, mention, name_of, people, saying, spoken
from tacit.model.deadline import look
from tacit.model.numbers import percent, percents

NAME = "linking"
NO_PLACE = (
    object()
)  # a value for which the hierarchy has no label: nobody in the release can have it


def linking(scene: AttackScene) -> Story | None:
    """Who stands alone: in the release, with exact quasi-identifiers, or
    among the people of an outside table.
    """
    if scene.outside is not None and scene.place is None:
        return linked(scene, scene.outside)
    return unique_people(scene)


def unique_people(scene: AttackScene) -> Story:
    """Without another table: who is the only one with their quasi-identifiers.
    One pass over the groups.
    """
    question = scene.question
    groups = question.groups()
    number = scene.place.number if scene.place else int(np.argmin(groups.sizes))
    size = int(groups.sizes[number])
    person = scene.place.person if scene.place else question.person(groups, number)
    unique = groups.people(groups.sizes == 1)
    raw = unique_as_they_are(question) if scene.levels_known else None
    before, after = Fraction(1, max(1, question.people)), Fraction(1, size)
    everybody = people(question.people)
    headline = f"{unique:,} of {everybody} stand alone in the release"
    if raw is not None:
        headline += f"; {raw:,} do before generalization"
    if scene.place is not None:
        headline = f"one of {people(size)} who look the same in the release"
    found = (
        f"knows which row is {mention(person)}'s"
        if size == 1
        else f"can narrow {mention(person)} down to {people(size)}"
    )
    return Story(
        NAME,
        headline,
        text=f"Anyone who knows that {name_of(person)} {known_facts(person.known)} {found}. "
        f"Belief which row it is {chances(before, after)}.",
        person=person,
        before=before,
        after=after,
        people=unique if scene.place is None else size,
        steps=(StoryStep("before the release", before), StoryStep("with the release", after)),
        facts={
            "unique": unique,
            **({"unique_raw": raw} if raw is not None else {}),
            "smallest": int(groups.sizes.min()),
        },
    )


def unique_as_they_are(question: MicrodataQuestion) -> int:
    """How many people nobody else shares all quasi-identifiers with, before generalization."""
    own = {name: question.hierarchies[name].level(0) for name in question.quasi}
    groups = group(question.base, question.quasi, own)
    return groups.people(groups.sizes == 1)


def chances(before: Fraction, after: Fraction) -> str:
    """Two shares as percent and as fractions.

    >>> chances(Fraction(1, 12), Fraction(1))
    '8.3 % (1/12) -> 100 %'
    """
    return " -> ".join(
        text if share == 1 else f"{text} ({share})"
        for share, text in zip((before, after), percents(before, after), strict=True)
    )


def linked(scene: AttackScene, outside: OutsideTable) -> Story:
    """With another table: its people, generalized like the release, and the groups they fall into.

    Each person outside matches the people of the release who look the same; somebody with a missing
    value is left out. One look-up for each different combination outside.
    """
    question = scene.question
    groups = group(question.base, outside.columns, question.levels, scene.column or None)
    place_of = groups_by_label(groups)
    shown = labels_outside(question, outside)
    complete = [one for one in outside.people if None not in one[0]]
    keys = [tuple(shown[i][value] for i, value in enumerate(known)) for known, _ in complete]
    # Each person outside who matches, with the number of the group.
    matched = [
        (place_of[key], one) for key, one in zip(keys, complete, strict=True) if key in place_of
    ]
    crowd = Counter(number for number, _ in matched)
    sizes = groups.sizes.tolist()
    unique = [pair for pair in matched if sizes[pair[0]] == 1]
    facts = {
        "outside": len(outside.people),
        "incomplete": len(outside.people) - len(complete),
        "unlisted": sum(NO_PLACE in key for key in keys),
        "matched": len(matched),
        "unique": len(unique),
        "one_to_one": sum(crowd[number] == 1 for number, _ in unique),
        "columns": list(outside.columns),
    }
    beliefs = beliefs_by_group(scene, groups) if scene.column else {}
    if beliefs:
        facts["certain"] = sum(
            beliefs[number][1] == 1 for number, _ in matched if number in beliefs
        )
    return describe_linked(scene, outside, groups, matched, beliefs, facts)


def describe_linked(
    scene: AttackScene,
    outside: OutsideTable,
    groups: Groups,
    matched: list[Any],
    beliefs: Mapping[int, Any],
    facts: dict[str, Any],
) -> Story:
    """The story of the person outside about whom most is learned."""
    number_outside = people(facts["outside"])
    headline = (
        f"by {listed(outside.columns)}, {facts['unique']:,} of {number_outside} outside match "
        "exactly one released row"
    )
    if scene.column:
        headline += f"; for {facts.get('certain', 0):,} the {spoken(scene.column)} is certain"
    if facts["unlisted"]:
        headline += (
            f"; {facts['unlisted']:,} could not be looked up, the hierarchies do not list "
            "their values"
        )
    concerned = max(facts["unique"], facts.get("certain", 0))
    if not matched:
        return Story(
            NAME,
            headline,
            scene.column or None,
            people=0,
            facts=facts,
            reason="nobody outside matches",
        )
    if beliefs:
        known_value = [pair for pair in matched if pair[0] in beliefs]
        if not known_value:
            return Story(
                NAME,
                headline,
                scene.column,
                people=concerned,
                facts=facts,
                reason="no value is known",
            )
        number, (known, identity) = min(
            known_value, key=lambda pair: (-beliefs[pair[0]][1], beliefs[pair[0]][2])
        )
        value, after, before = beliefs[number]
        claim = (
            "that "
            f"{mention(person := Person(identity, dict(zip(outside.columns, known, strict=True))))}"
            " "
        )
        claim += saying(scene.column, value)
    else:
        number, (known, identity) = min(matched, key=lambda pair: int(groups.sizes[pair[0]]))
        person = Person(identity, dict(zip(outside.columns, known, strict=True)))
        value, after, before = (
            None,
            Fraction(1, int(groups.sizes[number])),
            Fraction(1, scene.question.people),
        )
        claim = f"which row is {mention(person)}'s"
    sure = "knows" if after == 1 else f"believes with {percent(after)}"
    return Story(
        NAME,
        headline,
        scene.column or None,
        f"{outside.file} says that {name_of(person)} {known_facts(person.known)}. Whoever links "
        f"it, and knows that {mention(person)} is in the table, {sure} {claim}. Belief "
        f"{chances(before, after)}.",
        person,
        value,
        before,
        after,
        people=concerned,
        steps=(
            StoryStep("before the release", before),
            StoryStep(f"linking {outside.file} with the release", after),
        ),
        facts=facts,
    )


def groups_by_label(groups: Groups) -> dict[tuple[Any, ...], int]:
    """The number of each group by what the release shows of it."""
    first = np.unique(groups.key_of_row, return_index=True)[1]
    columns = [
        [
            groups.levels[name].labels[code]
            for code in groups.levels[name].codes[groups.base.codes(name)[first]].tolist()
        ]
        for name in groups.columns
    ]
    return {key: number for number, key in enumerate(zip(*columns, strict=True))}


def labels_outside(question: MicrodataQuestion, outside: OutsideTable) -> list[dict[Any, Any]]:
    """For each column of the outside table what the release would show of each of its values."""
    found = []
    for place, column in enumerate(outside.columns):
        values = tuple(
            dict.fromkeys(known[place] for known, _ in outside.people if known[place] is not None)
        )
        try:
            labels = question.labels(column, values)
        except DataError:
            labels = tuple(one_label(question, column, value) for value in values)
        found.append(dict(zip(values, labels, strict=True)))
    return found


def one_label(question: MicrodataQuestion, column: str, value: Any) -> Any:
    """What the release would show of one value, or that it has no place there."""
    try:
        return question.labels(column, (value,))[0]
    except DataError:
        return NO_PLACE


def beliefs_by_group(
    scene: AttackScene, groups: Groups
) -> dict[int, tuple[Any, Fraction, Fraction]]:
    """Each group's most frequent value, its share there and its share in the table.

    Groups where nobody's value is known are left out.
    """
    there = AttackScene(scene.question, scene.column)
    there.__dict__["groups"] = groups  # the groups by the columns that the outside table has
    found = {}
    for number in range(len(groups)):
        look()
        value, count = next(iter(there.shares(number).items()), (None, 0))
        if count:
            found[number] = (
                value,
                Fraction(count, int(there.cells.known[number])),
                scene.before(value),
            )
    return found
