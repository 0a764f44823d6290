"""Deciding only: does a definition hold for who has several releases? A search asks it of many.

What every world allows at most refutes most releases at once; what some world shows proves the
others, kind by kind, without looking for all that is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.families.microdata.definitions.microdata import MicrodataDefinition
from tacit.families.microdata.definitions.together.judging import (
    known_of,
    values_before,
    worst_by_name,
)
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.definitions.together.releases import (
    ABSENT,
    MOST_CELLS,
    Flags,
    Releases,
    TooLarge,
)
from tacit.families.microdata.definitions.together.seen import COUNTED, SHOWN, About, Seen
from tacit.families.microdata.definitions.together.worlds import (
    Worlds,
    explored,
    fewest_rows,
)
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.overlaps.setting import Integers
from tacit.model.deadline import Deadline, OutOfTime


def holds_together(
    definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None
) -> bool | None:
    """Does it hold under every reading of the values? None where that was not found out."""
    asked = joint.asked
    column = sensitive or (asked.sensitive[0] if asked.sensitive else None)
    readings = (asked, *asked.readings) if definition.needs_sensitive else (asked,)
    if definition.asks_together & COUNTED:
        return _counted(definition, joint, readings, column)
    if definition.asks_together <= SHOWN:
        return bool(Asking(definition, joint, readings, column).passing(_has(joint)).all())
    if "lost" in definition.asks_together and not _is_known_before(joint):
        return None
    asking = Asking(definition, joint, readings, column)
    try:
        if not asking.passing(at_most(joint.releases)).all():
            return False
    except TooLarge:
        pass  # no quick refutation
    return _shown(asking)


def failing_rows(
    definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None
) -> tuple[Flags, bool]:
    """Which combinations have people for whom it is not shown to hold, under every reading; and
    whether somebody is known to fail, or nobody.
    """
    releases = joint.releases
    holds = holds_together(definition, joint, sensitive)
    if holds:
        return np.zeros(len(releases.class_of), dtype=bool), True
    fails: Flags = np.full(len(releases.sizes) + 1, definition.averages)
    column = sensitive or (joint.asked.sensitive[0] if joint.asked.sensitive else None)
    readings = (
        (joint.asked, *joint.asked.readings) if definition.needs_sensitive else (joint.asked,)
    )
    worlds = joint.counted if definition.asks_together & COUNTED else joint.possible
    for one in () if definition.averages else readings:
        for class_, seen in enumerate(known_of(definition, joint, one, column, worlds)):
            fails[class_] |= seen is None or any(one.fails for one in definition.scores(seen))
    fails[-1] = False  # who is in no release
    return fails[releases.class_of], holds is not None


def _counted(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    readings: tuple[MicrodataQuestion, ...],
    column: str | None,
) -> bool | None:
    found = [worst_by_name(definition, joint, one, column, joint.counted) for one in readings]
    if any(worst.score.fails for tally in found for worst in tally.found.values()):
        return False
    return None if any(tally.unknown for tally in found) else True


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """A definition that asks which tuples somebody can have: the more, the better."""

    definition: MicrodataDefinition
    joint: JointQuestion
    readings: tuple[MicrodataQuestion, ...]
    column: str | None

    def passing(self, worlds: Worlds) -> Flags:
        """Which classes pass with these tuples, under every reading."""
        found: Flags = np.ones(len(self.joint.releases.sizes), dtype=bool)
        for one in self.readings:
            every = known_of(self.definition, self.joint, one, self.column, worlds)
            for class_, seen in enumerate(every):
                assert seen is not None
                found[class_] &= not any(score.fails for score in self.definition.scores(seen))
        return found

    def passes(self, class_: int, tuples: Integers) -> bool:
        """The same of one class."""
        releases = self.joint.releases
        one = Worlds(np.full(len(tuples), class_), tuples, np.ones(1, dtype=bool))
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
            about = About(reading, self.column or "")
            seen = Seen(about, tuple(sorted(codes)), rows=rows, lost=lost)
            if any(score.fails for score in self.definition.scores(seen)):
                return False
        return True

    def _lost(self, class_: int, codes: set[int], value_of: Integers) -> int | None:
        before = values_before(self.joint, value_of, class_)
        return None if before is None or before[0] is None else len(before[0] - codes)


def _shown(asking: Asking) -> bool | None:
    """Look for worlds that show enough for everybody, and end with the first who has no more."""
    joint, releases = asking.joint, asking.joint.releases
    deadline, is_known = Deadline(joint.seconds), True
    passing = asking.passing(_has(joint))
    if not passing[releases.settled].all():
        return False
    for part in releases.connected():
        open_ = ~passing[part.classes]
        try:
            can: Flags = part.current > 0
            for _ in explored(part, can, open_, deadline, joint.job):
                for at in np.flatnonzero(open_).tolist():
                    open_[at] = not asking.passes(int(part.classes[at]), part.tuples[can[at]])
            if open_.any():
                return False
        except (OutOfTime, TooLarge):
            is_known = False
    return True if is_known else None


def _has(joint: JointQuestion) -> Worlds:
    """What the data show of everybody: one world."""
    has = joint.releases.has
    return Worlds(has.classes, has.tuples, np.ones(len(joint.releases.sizes), dtype=bool))


def _is_known_before(joint: JointQuestion) -> bool:
    """Is it known what everybody could have before?"""
    return joint.before is None or bool(joint.before.possible.known.all())


def at_most(releases: Releases) -> Worlds:
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
    return Worlds(classes[can], tuples[can], np.ones(len(releases.sizes), dtype=bool))
