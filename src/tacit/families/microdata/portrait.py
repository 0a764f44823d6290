"""Portrait: what a picture of a release needs, computed from the arrays of its groups.

Everybody counts once. Somebody who has rows in several groups counts where they are most exposed.
Nothing here loops over groups: five million of them take a few seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, repeat, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.model.numbers import percent
from tacit.model.verdict import Verdict

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers

    Floats = np.ndarray[Any, np.dtype[np.float64]]

EXAMPLES = 12
ALIKE = 100  # rows of a cell among which to look for people who differ
FEW = 10  # up to so many different numbers have a bar each
EDGES = (0, 1, 2, 3, 4, 5, 10, 20, 50, *(10**power for power in range(2, 19)))
# A belief by how far it is from certain, in percent rounded up: certain, at least 95 %, 90 %, ...
DOUBTS = (0, 1, 6, 11, 26, 51, 76, 91)
BELIEFS = tuple(Fraction(percents, 100) for percents in (100, 95, 90, 75, 50, 25, 10, 0))


@dataclass(frozen=True, slots=True)
class PortraitBar:
    """How many people fall into a range of whole numbers; both ends belong to it."""

    low: int
    high: int
    people: int


@dataclass(frozen=True, slots=True)
class BeliefBand:
    """About how many people somebody can be this sure:
    at least `low`, and below `high` or exactly `low`.
    """

    low: Fraction
    high: Fraction
    people: int


Column = TypeVar("Column", PortraitBar, BeliefBand)


@dataclass(frozen=True, slots=True)
class Example:
    """Somebody, and how sure of their true value one can be before and after the release."""

    person: Person
    value: Any
    before: Fraction
    after: Fraction


@dataclass(frozen=True, slots=True)
class Exposure:
    """What a release tells about one sensitive column.

    `diversity`: people by how many values their group has. `beliefs`: people by how sure somebody
    can be about them, rightly or wrongly; the most exposed come first. `unknown`: people in groups
    where nobody's value is known, who are in none of `beliefs`. `several`: some people have several
    values, of which only the most frequent are counted. `examples`: the most exposed people.
    """

    sensitive: str
    diversity: tuple[PortraitBar, ...]
    beliefs: tuple[BeliefBand, ...]
    certain: int
    greatest: Fraction
    unknown: int = 0
    several: bool = False
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Portrait:
    """A release in numbers; `sizes`: people by how many people share their group."""

    release: str
    people: int
    groups: int
    smallest: int
    sizes: tuple[PortraitBar, ...]
    exposures: tuple[Exposure, ...] = ()


def portraits(
    questions: Mapping[str, MicrodataQuestion], verdicts: Iterable[Verdict]
) -> dict[str, Portrait]:
    """The portraits of some releases; each k that a verdict requires becomes the edge of a bar.

    Values that verdicts do not trust as diversity are none in the pictures either.
    """
    required: dict[str, set[int]] = {name: set() for name in questions}
    for verdict in verdicts:
        name, k = verdict.subject.get("release"), verdict.required.get("k")
        if name in required and isinstance(k, int):
            required[name].add(k)
    return {
        name: portrait(question.stricter or question, cuts=tuple(required[name]))
        for name, question in questions.items()
    }


def portrait(
    question: MicrodataQuestion, sensitive: str | None = None, *, cuts: Sequence[int] = ()
) -> Portrait:
    """Look at the groups of a release, and at one or all of its sensitive columns.

    Missing quasi-identifiers count as a value of their own. `cuts` are further edges for the sizes.
    """
    groups = question.groups()
    return Portrait(
        question.release,
        question.people,
        len(groups),
        int(groups.sizes.min()),
        histogram(groups, groups.sizes, cuts),
        tuple(
            exposure(question, name) for name in ((sensitive,) if sensitive else question.sensitive)
        ),
    )


def exposure(question: MicrodataQuestion, sensitive: str) -> Exposure:
    """How diverse the groups are in a column, how sure somebody can be, and about whom most."""
    groups = question.groups(sensitive)
    top, known = top_and_known(groups)
    beliefs, unknown = belief_bars(groups, top, known)
    greatest = int(np.argmax(top / np.maximum(known, 1)))
    return Exposure(
        sensitive,
        histogram(groups, np.diff(groups.starts)),
        beliefs,
        certain=sum(bar.people for bar in beliefs if bar.low == 1),
        greatest=ratio(top, known, greatest),
        unknown=unknown,
        several=groups.several,
        examples=examples(question, groups, known),
    )


def belief_bars(
    groups: Groups, top: Integers, known: Integers
) -> tuple[tuple[BeliefBand, ...], int]:
    """People by the greatest belief in their group, and people about whom nothing is known.

    Each belief has its bar, or else there are ranges where there are many.
    """
    share = top / np.maximum(known, 1)  # equal fractions are equal floats
    different, where = np.unique(np.where(known > 0, -share, 1), return_index=True)
    lows = [ratio(top, known, i) for i in where.tolist() if known[i]]
    if len({percent(low) for low in lows}) == len(lows) <= FEW:
        bins, highs = np.where(known > 0, np.searchsorted(different, -share), len(lows)), lows
    else:
        bins, lows, highs = doubt_bins(top, known), list(BELIEFS), [Fraction(1), *BELIEFS[:-1]]
    *numbers, unknown = people_by(groups, bins, len(lows) + 1).tolist()
    return trimmed(map(BeliefBand, lows, highs, numbers)), unknown


def ratio(top: Integers, known: Integers, number: int) -> Fraction:
    """The share of a group's most frequent value, exactly."""
    return Fraction(int(top[number]), max(1, int(known[number])))


def top_and_known(groups: Groups) -> tuple[Integers, Integers]:
    """For each group, how many people have its most frequent value and how many a known value."""
    filled = np.flatnonzero(np.diff(groups.starts))
    begins = groups.starts[filled]
    top, known = np.zeros((2, len(groups)), dtype=np.int64)
    if len(begins):
        top[filled], known[filled] = groups.counts[begins], np.add.reduceat(groups.counts, begins)
    return top, known


def doubt_bins(top: Integers, known: Integers) -> Integers:
    """For each group the bin of its greatest belief;
    one more bin for groups where nothing is known.

    >>> doubt_bins(np.array([4, 19, 1, 0]), np.array([4, 20, 2, 0])).tolist()
    [0, 1, 4, 8]
    """
    doubt = -((top - known) * 100 // np.maximum(known, 1))
    return np.where(known > 0, np.searchsorted(DOUBTS, doubt, side="right") - 1, len(DOUBTS))


def histogram(
    groups: Groups, measure: Integers, cuts: Sequence[int] = ()
) -> tuple[PortraitBar, ...]:
    """People by a number that their group has:
    a bar for each number, or ranges where there are many.
    """
    exact = np.unique(measure)
    if len(exact) <= FEW:
        people = people_by(groups, np.searchsorted(exact, measure), len(exact))
        return tuple(
            PortraitBar(one, one, number)
            for one, number in zip(exact.tolist(), people.tolist(), strict=True)
        )
    edges = sorted({*EDGES, *cuts})
    people = people_by(groups, np.searchsorted(edges, measure, side="right") - 1, len(edges))
    ranges = zip(edges[:-1], edges[1:], people.tolist()[:-1], strict=True)
    return trimmed(PortraitBar(low, above - 1, number) for low, above, number in ranges)


def people_by(groups: Groups, bins: Integers, number: int) -> Integers:
    """How many people fall into each bin;
    who is in several groups counts once, in the lowest bin.
    """
    persons = groups.base.persons
    if persons is None:
        return np.bincount(bins, weights=groups.sizes, minlength=number).astype(np.int64)
    lowest = np.full(int(persons.max()) + 1, number, dtype=np.int64)
    np.minimum.at(lowest, persons, bins[np.searchsorted(groups.keys, groups.key_of_row)])
    return np.bincount(lowest, minlength=number + 1)[:number]


def trimmed(bars: Iterable[Column]) -> tuple[Column, ...]:
    """Without the empty bars at both ends.

    >>> [
    ...     bar.low
    ...     for bar in trimmed(
    ...         [
    ...             PortraitBar(1, 1, 0),
    ...             PortraitBar(2, 2, 5),
    ...             PortraitBar(3, 3, 0),
    ...             PortraitBar(4, 4, 1),
    ...             PortraitBar(5, 9, 0),
    ...         ]
    ...     )
    ... ]
    [2, 3, 4]
    """
    found = tuple(bars)
    filled = [i for i, bar in enumerate(found) if bar.people]
    return found[filled[0] : filled[-1] + 1] if filled else ()


def examples(question: MicrodataQuestion, groups: Groups, known: Integers) -> tuple[Example, ...]:
    """The people whose value can be believed most;
    among equals, those whose value is rare come first.

    Where several groups qualify each shows one person before any shows a second.
    """
    cells = most_exposed(question, groups, known)
    people = [
        zip(repeat(place), members(question, groups, known, cell))
        for place, cell in enumerate(cells)
    ]
    one_each = (pair for pair in chain.from_iterable(zip_longest(*people)) if pair is not None)
    return tuple(example for _, example in sorted(islice(one_each, EXAMPLES), key=itemgetter(0)))


def most_exposed(question: MicrodataQuestion, groups: Groups, known: Integers) -> list[int]:
    """The cells with the greatest share of their group;
    among equals, those with the rarest values.
    """
    sensitive = str(groups.sensitive)
    counted = question.before(sensitive)
    rarity = np.array(
        [counted.get(value, 0) for value in groups.base.dictionaries[sensitive]], dtype=np.float64
    )
    share = groups.counts / np.repeat(known, np.diff(groups.starts))
    cells: list[int] = foremost(
        (-share, rarity[groups.values]), EXAMPLES, np.arange(len(share))
    ).tolist()
    return cells


def members(
    question: MicrodataQuestion, groups: Groups, known: Integers, cell: int
) -> Iterator[Example]:
    """The people in a cell, each looked up when asked for;
    of those who are alike in all columns, one.
    """
    base, sensitive = groups.base, str(groups.sensitive)
    number = int(np.searchsorted(groups.starts, cell, side="right")) - 1
    code = int(groups.values[cell])
    value = base.dictionaries[sensitive][code]
    has_value = base.codes(sensitive) == code
    rows = np.flatnonzero(has_value & (groups.key_of_row == groups.keys[number]))
    before = Fraction(question.before(sensitive)[value], question.known_people(sensitive))
    after = Fraction(base.people(rows), int(known[number]))
    seen = []
    for row in rows[:ALIKE].tolist():
        facts = {name: base.value(name, row) for name in question.quasi}
        if facts not in seen:
            seen.append(facts)
            yield Example(question.somebody(facts, sensitive, value), value, before, after)


def foremost(keys: Sequence[Floats], number: int, among: Integers) -> Integers:
    """The first few of `among` in the order of the keys, then of
    position, without sorting them all.

    >>> foremost((np.array([2.0, 1.0, 1.0]), np.array([0.0, 5.0, 4.0])), 2, np.arange(3)).tolist()
    [2, 1]
    """
    if not keys or not len(among) or number < 1:
        return among[:number]
    key = keys[0][among]
    limit = np.partition(key, number - 1)[number - 1] if len(among) > number else key.max()
    sure, tied = among[key < limit], among[key == limit]
    order = np.lexsort(tuple(one[sure] for one in reversed(keys)))
    return np.concatenate((sure[order], foremost(keys[1:], number - len(sure), tied)))
