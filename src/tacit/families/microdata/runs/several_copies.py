"""The attack of somebody who has several generalized copies of one table, with what is
published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tacit.checking.holdings.holdings import holdings_of
from tacit.checking.publications import all_out
from tacit.errors import TacitError
from tacit.families.microdata.attacks.attack_scene import AttackTarget, rows_with
from tacit.families.microdata.attacks.stories import Story, StoryStep
from tacit.families.microdata.definitions.together.class_worlds import ClassWorlds
from tacit.families.microdata.definitions.together.decision import at_most
from tacit.families.microdata.definitions.together.joined_releases import ABSENT, TooLarge
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.families.microdata.reading.several_releases import joint_questions_of
from tacit.families.overlaps.overlap import Integers
from tacit.families.words import (
    known_facts,
    listed,
    mention,
    name_of,
    people,
    plural,
    saying,
    spoken,
)
from tacit.model.jobs import Job
from tacit.model.numbers import percents
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

ATTACK = "second release"
SECONDS = 10.0  # for worlds
SHOWN = 4  # values in a story


def second_release(
    plan: Plan,
    release: str,
    columns: Sequence[str],
    target: AttackTarget | None = None,
    job: Job | None = None,
) -> Iterator[Story]:
    """What is left of everybody's values for who has the most of what is published; nothing where
    nobody has another copy, or where it cannot be judged together.
    """
    if not all_out(plan) or not columns:
        return
    with OpenPlan(plan, job) as opened:
        try:
            hands = holdings_of(opened).hands(Check("k-anonymity", {"k": 2}, releases=(release,)))
            names = max((hand.names for hand in hands), key=len, default=())
            if not names:
                return
            joint = replace(joint_questions_of(opened).question((*names, release)), seconds=SECONDS)
        except TacitError:
            return  # the checks say why
        if joint.asked.base.persons is None:
            try:
                yield from (_describe_learned(joint, column, target) for column in columns)
            except TooLarge:
                return  # there are too many kinds of people and tuples to look at


def _describe_learned(joint: JointQuestion, column: str, target: AttackTarget | None) -> Story:
    releases, sizes, found = joint.releases, joint.releases.sizes, joint.possible
    reading = joint.asked.stricter or joint.asked
    value_of = joint.values(reading, column)
    both = _values(found, value_of, len(sizes))
    alone = _fewest(joint, value_of)
    everybody = int(sizes.sum())
    certain = int(sizes[(both == 1) & (alone > 1) & found.known].sum())
    fewer = int(sizes[(both < alone) & found.known].sum())
    headline = (
        f"{listed(joint.names)} together leave {fewer:,} of {people(everybody)} fewer "
        f"values of {spoken(column)} than each alone, and {certain:,} of them one"
    )
    # Of others some values that they can have were not found in time: these come last.
    class_ = int(np.lexsort((sizes, both - alone, both, ~found.known))[0])
    row = int(np.flatnonzero(releases.class_of == class_)[0])
    if target is not None:
        base = joint.asked.base
        known = {name: base.value(name, target.rows[0]) for name in joint.asked.quasi}
        row = rows_with(joint.base, known)[0]
        class_ = int(releases.class_of[row])
    known = joint.known(row)
    if target is not None or joint.who is not None:
        identity = target.identity if target is not None else joint.who(row) if joint.who else {}
        person = Person(identity, known)
    else:
        person = joint.asked.somebody(known)
    codes = sorted(set(value_of[found.tuples[found.of(class_)]].tolist()) - {-1})
    told = (
        _beliefs(joint, reading, column, class_, codes, person)
        if found.known[class_]
        else {"text": f"What {listed(joint.names)} leave together was not found out in time."}
    )
    return Story(
        ATTACK,
        headline,
        column,
        person=person,
        people=fewer,
        facts={"releases": joint.names, "fewer": fewer, "certain": certain, "people": everybody},
        **told,
    )


def _values(worlds: ClassWorlds, value_of: Integers, many: int) -> Integers:
    """How many known values somebody of each class can have."""
    values = value_of[worlds.tuples]
    pairs = np.unique(np.stack((worlds.classes, values))[:, values >= 0], axis=1)
    return np.bincount(pairs[0], minlength=many)


def _fewest(joint: JointQuestion, value_of: Integers) -> Integers:
    """How many values the group of each class shows, in the release where these are fewest."""
    releases = joint.releases
    many = len(releases.sizes)
    fewest = np.full(many, np.iinfo(np.int64).max, dtype=np.int64)
    for number in range(len(releases.groups)):
        one = replace(
            releases,
            groups=releases.groups[number : number + 1],
            shown=releases.shown[number : number + 1],
            _rows={},
        )
        inside = releases.groups[number] != ABSENT
        fewest[inside] = np.minimum(fewest, _values(at_most(one), value_of, many))[inside]
    return fewest


def _beliefs(
    joint: JointQuestion,
    reading: MicrodataQuestion,
    column: str,
    class_: int,
    codes: Sequence[int],
    person: Person,
) -> dict[str, object]:
    """The value that somebody believes in most, step by step, and the story."""
    values, value_of = reading.base.dictionaries[column], joint.values(reading, column)
    some = [value_text(values[code]) for code in codes]
    more = [f"{len(some) - SHOWN} more"] if len(some) > SHOWN else []
    left = listed([*some[:SHOWN], *more], "or")
    start = (
        f"Anyone who has {listed(joint.names)} and knows that {name_of(person)} "
        f"{known_facts(person.known)}"
    )
    shares = _shares(joint, class_, value_of)
    if not codes or shares is None:
        told = f"{start} is left with {plural(column, len(codes))}"
        return {"text": f"{told}{f': {left}' if codes else ''}."}
    code = max(shares, key=lambda one: (shares[one], -one))
    whole = reading.before(column)
    before = Fraction(whole[values[code]], sum(whole.values()))
    steps = [StoryStep("before the release", before)]
    for number, copy in enumerate(joint.copies):
        if joint.releases.groups[number][class_] == ABSENT:
            continue  # they joined later, or left before
        steps.append(
            StoryStep(f"with {copy.name} alone", _alone(joint, number, class_, value_of, code))
        )
    steps.append(StoryStep(f"with {listed(joint.names)} together", shares[code]))
    first, last = percents(before, shares[code])
    knows = "knows" if shares[code] == 1 else f"believes with {last}"
    text = (
        f"{start} is left with {left}, and {knows} that {mention(person)} "
        f"{saying(column, values[code])}. Belief {first} -> {last}."
    )
    return {
        "text": text,
        "value": values[code],
        "before": before,
        "after": shares[code],
        "steps": tuple(steps),
    }


def _shares(joint: JointQuestion, class_: int, value_of: Integers) -> dict[int, Fraction] | None:
    """How likely each known value is, or nearly; None where that was not counted."""
    counted = joint.counted
    if not counted.known[class_] or counted.shares is None:
        return None
    span = counted.of(class_)
    found: dict[int, Fraction] = {}
    for code, (low, _) in zip(
        value_of[counted.tuples[span]].tolist(), counted.shares[span], strict=True
    ):
        if code >= 0:
            found[code] = found.get(code, Fraction(0)) + low
    total = sum(found.values(), Fraction(0))
    return {code: share / total for code, share in found.items()} or None


def _alone(
    joint: JointQuestion, number: int, class_: int, value_of: Integers, code: int
) -> Fraction:
    """The share of a value in the group of a class in one release."""
    releases = joint.releases
    group = releases.groups[number]
    inside = (group == group[class_])[releases.has.classes]
    values, many = value_of[releases.has.tuples[inside]], releases.has.people[inside]
    known = int(many[values >= 0].sum())
    return Fraction(int(many[values == code].sum()), known) if known else Fraction(0)
