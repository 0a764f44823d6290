"""Background knowledge: how much must somebody be able to rule out
until a person is known with certainty?

A negation is "Umeko has no heart disease". Whoever knows it strikes the rows with that value;
what is left of the group are the rows that may be hers (Machanavajjhala 2008, 3.3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.attacks.stories import Story, StoryStep
from tacit.families.microdata.counts import run_starts
from tacit.families.microdata.microdata import Person
from tacit.families.words import known_facts, mention, name_of, plural, saying, spoken
from tacit.model.deadline import look
from tacit.model.numbers import percent, percents

NAME = "background knowledge"
SHOWN = 4  # negations that a story names


def background(scene: AttackScene) -> Story | None:
    """The least number of negations until somebody is certain, who
    that is, and the belief on the way.

    People who are certain without any belong to the homogeneity attack. Linear in the cells.
    """
    if not len(scene.cells.owner):
        return None
    if scene.place is not None:
        return about(scene, scene.place.number, scene.place.value, scene.place.person)
    found = least_known(scene)
    if found is None:
        column = spoken(scene.column)
        message = f"nothing needs to be ruled out: everybody's {column} is certain already"
        return Story(
            NAME, message, scene.column, before=None, after=None, reason="everybody is certain"
        )
    number, value = found
    return about(scene, number, value, scene.question.person(scene.groups, number, value))


def least_known(scene: AttackScene) -> tuple[int, Any] | None:
    """The group and value that need the fewest negations; None where everybody is certain already.

    Among equals the knowledge that most people fit (few people of the table have what is ruled
    out), then the first group and value.
    """
    groups, cells = scene.groups, scene.cells
    top = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(top, cells.owner, cells.counts)
    open_groups = (cells.known > 0) & (top < cells.known)
    if not bool(open_groups.any()):
        return None
    distinct = np.bincount(cells.owner, minlength=len(groups))
    fewest = int(distinct[open_groups].min())
    chosen = np.flatnonzero((open_groups & (distinct == fewest))[cells.owner])
    counted = scene.question.before(scene.column)
    common = np.array([counted.get(value, 0) for value in groups.dictionary], dtype=np.int64)[
        cells.values
    ]
    begins = run_starts(cells.owner)
    total = np.zeros(len(groups), dtype=np.int64)
    total[cells.owner[begins]] = np.add.reduceat(common, begins)
    others = (total[cells.owner] - common)[chosen]
    order = np.lexsort((cells.values[chosen], cells.owner[chosen], others))
    cell = int(chosen[order[0]])
    return int(cells.owner[cell]), groups.dictionary[int(cells.values[cell])]


def about(scene: AttackScene, number: int, value: Any, person: Person) -> Story | None:
    """One person's story: what has to be ruled out, most telling first."""
    if value is None:
        return None
    chain = negations(scene.crowd(number), value, scene.values_of_target(number))
    found = scene.learned(number, value, person)
    before, after = Fraction(*found.before), Fraction(*found.after)
    name = mention(person)
    steps = [StoryStep("before the release", before), StoryStep("with the release", after)]
    steps += [
        StoryStep(f"ruling out that {name} {saying(scene.column, other)}", share)
        for other, share in chain
    ]
    last = steps[-1].belief
    # Where people have several values another choice might need fewer negations.
    most = "at most " if scene.groups.several and len(chain) > 1 else ""
    values = plural("value", len(chain))
    headline = (
        f"whoever can rule out {most}{values} of {spoken(scene.column)} knows somebody's with "
        "certainty"
    )
    if last < 1:
        headline = (
            f"ruling out {values} of {spoken(scene.column)} leads to {percent(last)}, not to "
            "certainty"
        )
    elif not chain:
        headline = f"nothing needs to be ruled out: the {spoken(scene.column)} is certain already"
    who = f"Anyone who knows that {name_of(person)} {known_facts(person.known)}"
    text = f"{who} believes with {percent(after)} that {name} {saying(scene.column, value)}"
    if chain:
        named = [saying(scene.column, other) for other, _ in chain[:SHOWN]]
        more = f" (and {plural('other value', len(chain) - SHOWN)})" if len(chain) > SHOWN else ""
        text += (
            f"; whoever can rule out that {name} {' or '.join(named)}{more} "
            f"{'knows it' if last == 1 else f'with {percent(last)}'}"
        )
    beliefs = list(dict.fromkeys(percents(before, *(one.belief for one in steps[1:]))))
    return Story(
        NAME,
        headline,
        scene.column,
        f"{text}. Belief {' -> '.join(shortened(beliefs))}.",
        person,
        value,
        before,
        last,
        people=as_exposed(scene, len(chain))
        if scene.place is None
        else int(scene.groups.sizes[number]),
        steps=tuple(steps),
        facts={"negations": len(chain), "after_release": after, "people": scene.question.people},
    )


def negations(
    crowd: Mapping[frozenset[Any], int], value: Any, own: frozenset[Any] | None = None
) -> list[tuple[Any, Fraction]]:
    """What to rule out, the most telling first, with the belief in a value after each.

    Where everybody has one value that is the most frequent other value, and all of them are needed.
    `own` are all values of the person: what is true cannot be ruled out.

    >>> crowd = {frozenset(["flu"]): 2, frozenset(["cold"]): 3, frozenset(["cough"]): 1}
    >>> negations(crowd, "flu")
    [('cold', Fraction(2, 3)), ('cough', Fraction(1, 1))]
    """
    left = dict(crowd)
    having_it = own or min(
        (having for having in crowd if value in having), key=len, default=frozenset([value])
    )
    found = []
    while others := {one for having in left if value not in having for one in having} - having_it:
        look()
        best = max(sorted(others, key=str), key=lambda other: belief(struck(left, other), value))
        left = struck(left, best)
        found.append((best, belief(left, value)))
    return found


def struck(crowd: Mapping[frozenset[Any], int], value: Any) -> dict[frozenset[Any], int]:
    """The people who are left when a value is ruled out."""
    return {having: count for having, count in crowd.items() if value not in having}


def belief(crowd: Mapping[frozenset[Any], int], value: Any) -> Fraction:
    """The share of people who have a value."""
    sure = sum(count for having, count in crowd.items() if value in having)
    return Fraction(sure, max(1, sum(crowd.values())))


def as_exposed(scene: AttackScene, number: int) -> int:
    """How many people are in groups that need no more negations than these."""
    distinct = np.bincount(scene.cells.owner, minlength=len(scene.groups))
    return scene.groups.people((distinct > 0) & (distinct <= number + 1))


def shortened(beliefs: list[str]) -> list[str]:
    """A long chain of beliefs by its ends.

    >>> shortened(["1 %", "2 %", "3 %", "4 %", "5 %", "6 %", "100 %"])
    ['1 %', '2 %', '3 %', '...', '100 %']
    """
    return beliefs if len(beliefs) <= 6 else [*beliefs[:3], "...", beliefs[-1]]
