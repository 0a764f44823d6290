"""Restorations: what a search for further views may do, what it ends in, and what became of all
sets that it could have tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from tacit.families.overlaps.restore.judging_views import CandidateOutcome, Set
from tacit.families.overlaps.restore.known_sets import Stuck

Order = Literal["best", "blind"]
Status = Literal["holds", "restored", "impossible", "none", "not-found"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to search: views in a set, sets of each number of views that are judged from lists
    or by counting, seconds.
    """

    views: int = 3
    listed: int = 400_000
    counted: int = 400
    seconds: float | None = None


DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class RestorationTally:
    """What became of all sets of so many views:
    `ruled_out` by which fact, `judged` exactly, `left` without an answer.
    """

    views: int
    sets: int
    ruled_out: dict[str, int]
    judged: int
    left: int


@dataclass(frozen=True, slots=True)
class Restoration:
    """What the search ends in.

    `views` are places among the candidates; `classes` the classes to publish, where these restore
    and no set of few views does. `proved`: no smaller set restores, and where none was found, that
    there is none. `most_tables`: no other set of as few views keeps more tables of all people,
    those in no view included. `first` is how many sets were judged until the first that restores.
    `above` are the pieces with somebody above gamma, before. `whose` is stuck: 0 the adversary for
    whom views were looked for, else one of the others.
    """

    status: Status
    views: Set = ()
    classes: tuple[int, ...] = ()
    before: Fraction | None = None
    after: Fraction | None = None
    tables_before: int | None = None
    tables_after: int | None = None
    stuck: Stuck | None = None
    whose: int = 0
    tallies: tuple[RestorationTally, ...] = ()
    judged: int = 0
    first: int | None = None
    proved: bool = False
    most_tables: bool = False
    above: tuple[int, ...] = ()


@dataclass(slots=True)
class RestorationLevel:
    """Sets of one number of views: the best that restores, and what became of the others."""

    merit: tuple[Any, ...] | None = None
    views: Set = ()
    outcome: CandidateOutcome | None = None
    judged: int = 0
    first: int | None = None
    left: int = 0
    ruled_out: dict[str, int] = field(default_factory=dict)
