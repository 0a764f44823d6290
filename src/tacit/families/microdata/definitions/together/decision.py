"""Decision only: does a definition hold for who has several releases? A search asks it of many.

What every world allows at most refutes most releases at once; what some world shows proves the
others, kind by kind, without looking for all that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.together.bounded_view import fails, scores_of
from tacit.families.microdata.definitions.together.class_scores import (
    known_of,
    values_before,
    worst_by_name,
)
from tacit.families.microdata.definitions.together.class_worlds import (
    ClassWorlds,
    explored,
    fewest_rows,
)
from tacit.families.microdata.definitions.together.joined_releases import (
    ABSENT,
    MOST_CELLS,
    Flags,
    Releases,
    TooLarge,
)
from tacit.families.microdata.definitions.together.person_view import (
    COUNTED,
    SHOWN,
    AskedRelease,
    PersonView,
)
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.overlaps.overlap import Integers
from tacit.model.deadline import Deadline, OutOfTime


def holds_together(
    definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None
) -> bool | None:
    """Does it hold under every reading of the values? None where that was not found out."""
    failing, open_ = _failing(definition, joint, sensitive, first=True)
    return False if failing.any() else None if open_.any() else True


def failing_rows(
    definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None
) -> tuple[Flags, bool]:
    """Which combinations have people for whom it is not shown to hold, under every reading; not
    all of them where some are found quickly. And whether it is known that somebody fails, or none.
    """
    failing, open_ = _failing(definition, joint, sensitive, first=False)
    fails = np.append(failing | open_, False)  # who is in no release does not
    return fails[joint.releases.class_of], bool(failing.any() or not open_.any())


def _failing(
    definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None, *, first: bool
) -> tuple[Flags, Flags]:
    """Classes that fail, and those of which it was not found out. Where the `first` that fails is
    enough, not all.
    """
    asked = joint.asked
    column = sensitive or (asked.sensitive[0] if asked.sensitive else None)
    readings = (asked, *asked.readings) if definition.needs_sensitive else (asked,)
    if definition.asks_together & COUNTED:
        return _counted(definition, joint, readings, column)
    asking = TuplesDefinition(definition, joint, readings, column)
    nobody: Flags = np.zeros(len(joint.releases.sizes), dtype=bool)
    if definition.asks_together <= SHOWN:
        return ~asking.passing(_has(joint)), nobody
    if "lost" in definition.asks_together and not _is_known_before(joint):
        return nobody, ~nobody
    try:
        failing = ~asking.passing(at_most(joint.releases))
        if failing.any():
            return failing, nobody
    except TooLarge:
        pass  # no quick refutation
    return _shown(asking, first=first)


def _counted(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    readings: tuple[MicrodataQuestion, ...],
    column: str | None,
) -> tuple[Flags, Flags]:
    """The same by how likely everything is; a mean is everybody's."""
    failing: Flags = np.zeros(len(joint.releases.sizes), dtype=bool)
    open_ = failing.copy()
    for one in readings:
        if definition.averages:
            tally = worst_by_name(definition, joint, one, column, joint.counted)
            failing |= any(worst.score.fails for worst in tally.found.values())
            open_ |= bool(tally.unknown)
            continue
        for class_, seen in enumerate(known_of(definition, joint, one, column, joint.counted)):
            if seen is None:
                open_[class_] = True
                continue
            scores = scores_of(definition, seen)
            open_[class_] |= scores is None
            failing[class_] |= fails(scores or ())
    return failing, open_


@dataclass(frozen=True, slots=True, eq=False)
class TuplesDefinition:
    """A definition that asks which tuples somebody can have: the more, the better."""

    definition: MicrodataDefinition
    joint: JointQuestion
    readings: tuple[MicrodataQuestion, ...]
    column: str | None

    def passing(self, worlds: ClassWorlds) -> Flags:
        """Which classes pass with these tuples, under every reading."""
        found: Flags = np.ones(len(self.joint.releases.sizes), dtype=bool)
        for one in self.readings:
            every = known_of(self.definition, self.joint, one, self.column, worlds)
            for class_, seen in enumerate(every):
                assert seen is not None
                found[class_] &= not fails(scores_of(self.definition, seen) or ())
        return found

    def passes(self, class_: int, tuples: Integers) -> bool:
        """The same of one class."""
        releases = self.joint.releases
        one = ClassWorlds(np.full(len(tuples), class_), tuples, np.ones(1, dtype=bool))
        rows = 0
        if "rows" in self.definition.asks_together:
            rows = int(fewest_rows(releases, one)[class_])
        for reading in self.readings:
            codes: set[int] = set()
            lost: int | None = None
            if self.column is not None:
                value_of = self.joint.values(reading, self.column)
                codes = set(value_of[tuples].tolist()) - {-1}
                if "lost" in self.definition.asks_together:
                    lost = self._lost(class_, codes, value_of)
            about = AskedRelease(reading, self.column or "")
            seen = PersonView(about, tuple(sorted(codes)), rows=rows, lost=lost)
            if any(score.fails for score in self.definition.scores(seen)):
                return False
        return True

    def _lost(self, class_: int, codes: set[int], value_of: Integers) -> int | None:
        before = values_before(self.joint, value_of, class_)
        return None if before is None or before[0] is None else len(before[0] - codes)


def _shown(asking: TuplesDefinition, *, first: bool) -> tuple[Flags, Flags]:
    """Look for worlds that show enough for everybody; if one is enough, end with the first part of
    the people in which somebody has no more.
    """
    joint, releases = asking.joint, asking.joint.releases
    deadline = Deadline(joint.seconds)
    passing = asking.passing(_has(joint))
    failing: Flags = ~passing & releases.settled
    open_classes: Flags = np.zeros(len(passing), dtype=bool)
    if failing.any() and first:
        return failing, open_classes
    for part in releases.connected():
        open_ = ~passing[part.classes]
        try:
            can: Flags = part.current > 0
            for _ in explored(part, can, open_, deadline, joint.job):
                for at in np.flatnonzero(open_).tolist():
                    open_[at] = not asking.passes(int(part.classes[at]), part.tuples[can[at]])
            failing[part.classes[open_]] = True
            if first and open_.any():
                break
        except (OutOfTime, TooLarge):
            open_classes[part.classes[open_]] = True
    return failing, open_classes


def _has(joint: JointQuestion) -> ClassWorlds:
    """What the data show of everybody: one world."""
    has = joint.releases.has
    return ClassWorlds(has.classes, has.tuples, np.ones(len(joint.releases.sizes), dtype=bool))


def _is_known_before(joint: JointQuestion) -> bool:
    """Is it known what everybody could have before?"""
    return joint.before is None or bool(joint.before.possible.known.all())


def at_most(releases: Releases) -> ClassWorlds:
    """What somebody of each class can have at most: what each of their groups shows. Raises
    TooLarge.
    """
    number = releases.tuples
    if number * len(releases.sizes) > MOST_CELLS:
        raise TooLarge
    classes = np.repeat(np.arange(len(releases.sizes)), number)
    tuples = np.tile(np.arange(number), len(releases.sizes))
    can = np.ones(len(classes), dtype=bool)
    for at in range(len(releases.groups)):
        keys, _, wide = releases.rows(at)
        group = releases.groups[at][classes]
        can &= (group == ABSENT) | np.isin(group * wide + releases.shown[at][tuples], keys)
    return ClassWorlds(classes[can], tuples[can], np.ones(len(releases.sizes), dtype=bool))
