"""Leftover: the values that people can have by each release alone, and by all together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.families.microdata.definitions.together.class_worlds import ClassWorlds
from tacit.families.microdata.definitions.together.joined_releases import ABSENT
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.overlaps.overlap import Integers

MOST_KINDS = 12  # of people who are alike in all releases: those with the fewest values
MOST_VALUES = 12  # that are listed


def leftover(
    joint: JointQuestion, question: MicrodataQuestion, column: str, worlds: ClassWorlds
) -> dict[str, Any]:
    """As evidence for the owner: `before`, how many values the table has, and `kinds` of people
    with their values `alone`, by release, and `together`, those with the fewest first.
    """
    releases, value_of = joint.releases, joint.values(question, column)
    values = value_of[worlds.tuples]
    pairs = np.unique(np.stack((worlds.classes, values))[:, values >= 0], axis=1)
    many = np.bincount(pairs[0], minlength=len(releases.sizes))
    known = np.flatnonzero(worlds.known)
    order = known[np.lexsort((known, -releases.sizes[known], many[known]))]
    dictionary = question.base.dictionaries[column]

    def named(codes: Integers) -> dict[str, Any]:
        some = np.unique(codes[codes >= 0])
        listed = [dictionary[code] for code in some[:MOST_VALUES].tolist()]
        return {"number": len(some), "values": listed}

    kinds = [
        {
            "known": joint.known(int(releases.examples[class_])),
            "people": int(releases.sizes[class_]),
            "alone": {
                copy.name: named(_shown(joint, release, class_, value_of))
                for release, copy in enumerate(joint.copies)
                if releases.groups[release][class_] != ABSENT
            },
            "together": named(values[worlds.of(class_)]),
        }
        for class_ in order[:MOST_KINDS].tolist()
    ]
    return {"before": len(dictionary), "kinds": kinds}


def _shown(joint: JointQuestion, release: int, class_: int, value_of: Integers) -> Integers:
    """The values that somebody's group shows in a release."""
    groups, has = joint.releases.groups[release], joint.releases.has
    found: Integers = value_of[has.tuples[groups[has.classes] == groups[class_]]]
    return found
