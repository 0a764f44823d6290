"""Stages: the largest belief about everybody after the first
release, after the first two, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.overlaps.counting.average_beliefs import (
    A_SECOND,
    Beliefs,
    all_averaged,
    averaged,
    least_cost,
)
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.overlap import Integers, Overlap, merged
from tacit.families.overlaps.question import Key, OverlapQuestion
from tacit.families.overlaps.system import NoTable, OpenPart, system_of
from tacit.model.deadline import OutOfTime, left, look, until
from tacit.model.jobs import Job

SECONDS, BRIEFLY = 20.0, 2.0  # for all stages together: on a page, and in the terminal
MOST_CELLS = 200_000  # classes times values
EXACT_STEPS = 1e8  # beyond that bounds are as good for a picture
SHOWN = 12  # classes whose people and shares are kept, the most exposed first
NAMED = 4  # people of a class
TOO_LARGE = "too many tables fit"
TOO_MANY = "the releases tell too many people apart"
TOO_LONG = "it took too long"


@dataclass(frozen=True, slots=True)
class Largest:
    """What is believed most about the people of a class:
    the value by its number, and how much at least and at most.
    """

    value: int
    least: Fraction
    most: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What somebody believes who has seen the releases up to `release`.

    `largest` has the beliefs by class. Classes in `unseen` are in none of these releases: nothing
    is known about their people. Where a class is in neither, `missing` says why. `tables` is how
    many tables of the people in these releases fit, where counted.
    """

    release: str
    largest: Mapping[int, Largest]
    unseen: frozenset[int]
    tables: int | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """Everybody's largest belief, release by release;
    people are in the classes that they have after the last.

    `shares` are the shares of fitting tables in which a person of a class has each value, after the
    last release, and `members` are the first people of a class: both of the most exposed classes
    only.
    """

    sensitive: str
    values: tuple[Any, ...]
    sizes: tuple[int, ...]
    stages: tuple[Stage, ...]
    shares: Mapping[int, tuple[Fraction, ...]] = field(default_factory=dict)
    members: Mapping[int, tuple[Key, ...]] = field(default_factory=dict)
    meanings: tuple[tuple[int, ...], ...] = ()

    @property
    def people(self) -> int:
        """How many people some release shows."""
        return sum(self.sizes)

    @property
    def last(self) -> Stage:
        """What is believed after all releases."""
        return self.stages[-1]

    @property
    def exposed(self) -> list[int]:
        """The classes by their largest belief after all releases, the most exposed first."""
        return ranked(self.last)

    @property
    def missing(self) -> str:
        """Why some beliefs are not there; empty where all are."""
        return next((one.missing for one in reversed(self.stages) if one.missing), "")


def stages(
    question: OverlapQuestion, job: Job | None = None, *, seconds: float = SECONDS
) -> Stages:
    """The largest belief about everybody after each of the releases,
    counted for at most so many seconds.

    What was not counted by then, or is too large to be, is left out, and the stage says so.
    The last stage comes first: it is the one that a verdict speaks of.
    """
    job = job or Job()
    numbers = range(1, len(question.releases) + 1)
    found: dict[int, tuple[Stage, Beliefs | None, Integers]] = {}
    with until(seconds):
        for many in sorted(numbers, key=lambda one: one != len(numbers)):
            found[many] = _stage(question, many, job)
    last, beliefs, number = found[len(numbers)]
    shown = ranked(last)[:SHOWN]
    wide = range(len(question.overlap.values))
    shares = (
        {}
        if beliefs is None
        else {
            one: tuple(_middle(beliefs, int(number[one]), value) for value in wide) for one in shown
        }
    )
    return Stages(
        question.sensitive,
        question.overlap.values,
        tuple(question.overlap.sizes.tolist()),
        tuple(found[many][0] for many in numbers),
        shares,
        {one: tuple(question.members(one, NAMED)) for one in shown},
        _meanings(question),
    )


def ranked(stage: Stage) -> list[int]:
    """The classes by their largest belief, the most exposed first."""
    return sorted(stage.largest, key=lambda class_: (-stage.largest[class_].least, class_))


def _stage(
    question: OverlapQuestion, many: int, job: Job
) -> tuple[Stage, Beliefs | None, Integers]:
    """The beliefs after the first of the releases;
    with them the number that each class has there.
    """
    seen, number = _alike(question.seen(many))
    unseen = frozenset(np.flatnonzero(number < 0).tolist())
    name = question.releases[many - 1]
    if not len(seen.sizes):
        return Stage(name, {}, unseen), None, number
    if seen.sizes.size * len(seen.values) > MOST_CELLS:
        return Stage(name, {}, unseen, missing=TOO_MANY), None, number
    try:
        job.step(f"beliefs after {name}", 0.0)
        look()
        beliefs = _beliefs(seen, job)
        known = dict(_largest(beliefs, _meanings(question)))
        tables = beliefs.tables_told
    except (OutOfTime, NoTable):
        return Stage(name, {}, unseen, missing=TOO_LONG), None, number
    missing = "" if beliefs.is_complete else TOO_LONG if beliefs.is_late else TOO_LARGE
    largest = {class_: known[at] for class_, at in enumerate(number.tolist()) if at in known}
    return Stage(name, largest, unseen, tables, missing), beliefs, number


def _alike(overlap: Overlap) -> tuple[Overlap, Integers]:
    """Those whom some view could show, merged where the views treat them alike;
    and where each class went, -1 for the others.

    As long as few releases are published most classes are alike, and there is less to count.
    """
    covered = np.flatnonzero(overlap.is_covered)
    kept = replace(
        overlap, outputs=overlap.outputs[covered], sizes=overlap.sizes[covered], current=None
    )
    number = np.full(len(overlap.sizes), -1, dtype=np.int64)
    if len(covered):
        flat = kept.outputs.reshape(len(covered), -1)
        number[covered] = np.unique(flat, axis=0, return_inverse=True)[1].reshape(
            -1
        )  # the order that `merged` has
        kept = merged(kept)
    return kept, number


def _beliefs(overlap: Overlap, job: Job) -> Beliefs:
    def count(part: OpenPart) -> Expected | None:
        return (
            None
            if least_cost(part).steps > A_SECOND * left()
            else averaged(part, job, exact_steps=EXACT_STEPS)
        )

    return all_averaged(system_of(overlap), count)


def _meanings(question: OverlapQuestion) -> tuple[tuple[int, ...], ...]:
    return question.meanings or tuple((value,) for value in range(len(question.overlap.values)))


def _largest(beliefs: Beliefs, meanings: Sequence[Sequence[int]]) -> Iterator[tuple[int, Largest]]:
    """The largest belief about each class that was counted;
    values that may mean the same count together.
    """
    for class_ in range(len(beliefs.system.overlap.sizes)):
        look()
        every = []
        for same in meanings:
            shares = [one for value in same if (one := beliefs.share(class_, value)) is not None]
            if len(shares) == len(same):
                least, most = (
                    sum((low for low, _ in shares), Fraction(0)),
                    sum((high for _, high in shares), Fraction(0)),
                )
                every.append(Largest(same[0], least, min(most, Fraction(1))))
        if len(every) == len(meanings):
            best = max(every, key=lambda one: (one.least, -one.value))
            yield class_, replace(best, most=max(one.most for one in every))


def _middle(beliefs: Beliefs, class_: int, value: int) -> Fraction:
    share = beliefs.share(class_, value)
    return Fraction(0) if share is None else (share[0] + share[1]) / 2
