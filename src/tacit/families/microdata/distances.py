"""Distances between sensitive values: numbers, equal or not, taxonomies, distributions, one's own.

A distance knows the values of its column by code. All are exact: decimals are decimals (in the
proximity paper's own example two distributions are 1/10 apart, and 0.10000000000000003 in binary
floats), and what is compared are integers over a common denominator.
"""

from __future__ import annotations

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tacit.errors import DataError
from tacit.families.microdata.hierarchy import Hierarchy, value_text
from tacit.families.microdata.neighbours import Nearness, PairNearness, Windows
from tacit.families.microdata.ratios import SAFE
from tacit.model.numbers import exact, plain

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.ratios import Mask

Values = Sequence[Any]
SAMPLE = 2_000  # pairs on which a user's own distance is tried
ROUNDING = Fraction(1, 10**6)  # what probabilities may lack of 1: thirds have no decimal form


class Distance(ABC):
    """How unlike two values of a column are.
    `name` is what a plan calls it, `unit` what it counts.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = ""

    @abstractmethod
    def within(self, epsilon: Fraction) -> Nearness:
        """Which values are at most `epsilon` apart."""


@dataclass(frozen=True, slots=True)
class Discrete(Distance):
    """0 for equal values, 1 for all others."""

    number: int
    name: ClassVar[str] = "discrete"

    def within(self, epsilon: Fraction) -> Windows:
        """Each value by itself, or from 1 on all of them."""
        place = np.arange(self.number) if epsilon < 1 else np.zeros(self.number, dtype=np.int64)
        return Windows(place, place, place)


@dataclass(frozen=True, slots=True)
class Numeric(Distance):
    """|x - y| for numbers: `places` are the values as integers, each 1/`scale`."""

    places: Any
    scale: int
    name: ClassVar[str] = "numeric"

    def within(self, epsilon: Fraction) -> Windows:
        """A window on the line of different numbers.

        >>> numeric("salary", [1, 2, 4]).within(Fraction(1)).last.tolist()
        [1, 1, 2]
        """
        line, place = np.unique(self.places, return_inverse=True)
        reach = epsilon * self.scale // 1  # the differences are whole
        wide = line.astype(object)
        first = np.searchsorted(wide, wide - reach, side="left")
        last = np.searchsorted(wide, wide + reach, side="right") - 1
        return Windows(place, first[place], last[place])


@dataclass(frozen=True, slots=True)
class Taxonomy(Distance):
    """The number of levels from the leaves up to the lowest common ancestor.

    Above the last level there is a root, unless the last level is one.
    """

    tree: Hierarchy
    name: ClassVar[str] = "taxonomy"
    unit: ClassVar[str] = "level"

    def within(self, epsilon: Fraction) -> Windows:
        """Blocks: the values that are one at the level of epsilon."""
        blocks = levels_of(self.tree)
        place = blocks[min(int(epsilon), len(blocks) - 1)]
        return Windows(place, place, place)


def levels_of(tree: Hierarchy) -> list[Integers]:
    """For each level of a hierarchy the label's code of each value; the last level has one label.

    A hierarchy that ends in several labels has a root above them, whichever of them the data have.
    """
    levels = [level.codes[: len(tree.values)] for level in tree.levels]
    if not tree.has_root or len(np.unique(levels[-1])) > 1:
        levels.append(np.zeros(len(tree.values), dtype=np.int64))
    return levels


@dataclass(frozen=True, slots=True)
class Variational(Distance):
    """Half the sum of |p_i - q_i|: `shares` has a row for each value, in integers over `scale`."""

    shares: Any
    scale: int
    name: ClassVar[str] = "variational"

    def within(self, epsilon: Fraction) -> PairNearness:
        """Pairs of distributions, some million numbers at a time."""
        reach = 2 * epsilon * self.scale // 1

        def near(one: Integers, other: Integers) -> Mask:
            apart = np.zeros(len(one), dtype=self.shares.dtype)
            for column in self.shares.T:
                apart = apart + np.abs(column[one] - column[other])
            return np.asarray(apart <= reach, dtype=np.bool_)

        return PairNearness(near)


@dataclass(frozen=True, slots=True)
class Own(Distance):
    """A function of the user, asked once for every two values that meet in a group."""

    column: str
    values: Values
    function: Callable[[Any, Any], Any]
    _known: dict[tuple[int, int], Fraction] = field(default_factory=dict, repr=False)
    name: ClassVar[str] = "python"

    def between(self, one: int, other: int) -> Fraction:
        """The distance of two values by their codes."""
        pair = (min(one, other), max(one, other))
        if pair not in self._known:
            self._known[pair] = user_distance(
                self.column, self.function, *(self.values[i] for i in pair)
            )
        return self._known[pair]

    def within(self, epsilon: Fraction) -> PairNearness:
        """Pairs of values, each asked for once."""

        def near(one: Integers, other: Integers) -> Mask:
            pairs, where = np.unique(np.stack((one, other)), axis=1, return_inverse=True)
            found = [a == b or self.between(a, b) <= epsilon for a, b in pairs.T.tolist()]
            answers: Mask = np.array(found, dtype=np.bool_)[where.reshape(-1)]
            return answers

        return PairNearness(near)


def numeric(column: str, values: Values) -> Numeric:
    """The distance of numbers; a value that is none is an error.

    >>> numeric("salary", ["many"])
    Traceback (most recent call last):
    tacit.errors.DataError: column 'salary' has to be numbers here, and 'many' is none. Write numbers as 1234 or 1234.5 and leave unknown ones empty, or choose another check or distance.
    """  # noqa: E501
    places, scale = scaled(column, values)
    return Numeric(places, scale)


def scaled(column: str, values: Values) -> tuple[Any, int]:
    """Numbers as integers over a common denominator; unlimited ones where 64 bits are not enough.

    >>> places, scale = scaled("dose", [Decimal("0.5"), 2])
    >>> places.tolist(), scale
    ([1, 4], 2)
    """
    numbers = [as_number(column, value) for value in values]
    scale = lcm(*(number.denominator for number in numbers))
    places = [int(number * scale) for number in numbers]
    fits = all(-SAFE < place < SAFE for place in places)
    return np.array(places, dtype=np.int64 if fits else object), scale


def as_number(column: str, value: Any) -> Fraction:
    """A value of a column of numbers; text is no number, even where it looks like one."""
    try:
        if isinstance(value, str):
            raise ValueError
        return exact(value)
    except ValueError:
        raise DataError(
            f"column {column!r} has to be numbers here, and {value_text(value)!r} is none.",
            hint=(
                "Write numbers as 1234 or 1234.5 and leave unknown ones empty, or choose "
                "another check or distance."
            ),
        ) from None


def variational(column: str, values: Values) -> Variational:
    """The distance of distributions, each a JSON object of value: probability.

    >>> one, other = '{"flu": 0.5, "cold": 0.5}', '{"flu": 0.4, "cold": 0.6}'
    >>> near = variational("disease", [one, other]).within
    >>> [near(Fraction(n, 100)).near(0, np.array([1])).tolist() for n in (9, 10)]
    [[False], [True]]
    """
    read = [distribution(column, value) for value in values]
    names = sorted({name for one in read for name in one})
    scale = lcm(*(share.denominator for one in read for share in one.values()))
    rows = [[int(one.get(name, Fraction(0)) * scale) for name in names] for one in read]
    kind = np.int64 if 2 * scale * max(1, len(names)) < SAFE else object
    return Variational(np.array(rows, dtype=kind).reshape(len(rows), len(names)), scale)


def distribution(column: str, text: Any) -> dict[str, Fraction]:
    """A cell that is a distribution, its numbers read as written.

    >>> distribution("disease", '{"flu": 0.9}')
    Traceback (most recent call last):
    tacit.errors.DataError: the probabilities of '{"flu": 0.9}' in column 'disease' add up to 0.9. Make them add up to 1, for example with one more value: {"flu": 0.7, "none": 0.3}.
    """  # noqa: E501
    found = json_object(column, text)
    try:
        shares = {name: exact(value or 0) for name, value in found.items()}
    except ValueError as error:
        raise DataError(f"{shown(text)} in column {column!r}: {error}.") from None
    for name, share in shares.items():
        if share < 0:
            raise DataError(
                f"{shown(text)} in column {column!r} gives {name!r} a negative probability.",
                hint="Probabilities lie between 0 and 1.",
            )
    total = sum(shares.values(), Fraction(0))
    if abs(total - 1) > ROUNDING:
        raise DataError(
            f"the probabilities of {shown(text)} in column {column!r} add up to {plain(total)}.",
            hint=(
                'Make them add up to 1, for example with one more value: {"flu": 0.7, "none": 0.3}.'
            ),
        )
    return shares


def json_object(column: str, text: Any) -> dict[str, Any]:
    """A JSON object with each name once."""

    def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name stands twice")
        return dict(pairs)

    try:
        found = json.loads(text, parse_float=Fraction, object_pairs_hook=each_once)
        if isinstance(found, dict):
            return found
    except (ValueError, TypeError):
        pass
    raise DataError(
        f"{shown(text)} in column {column!r} is not a distribution.",
        hint='Write value: probability for each value once, in CSV as {"flu": 0.7, "none": 0.3}.',
    )


def own(column: str, values: Values, function: Callable[[Any, Any], Any]) -> Own:
    """A distance that the user has written, tried on a sample: symmetric, and 0 on equal values.

    >>> own("age", [1, 5], lambda x, y: x - y)
    Traceback (most recent call last):
    tacit.errors.DataError: the distance of 'age' is -4 from '1' to '5'. A distance is 0 or more.
    """
    for value in sampled(values, SAMPLE):
        if apart := user_distance(column, function, value, value):
            raise DataError(
                f"the distance of {column!r} is {plain(apart)} from {shown(value)} to itself.",
                hint="A distance is 0 between equal values.",
            )
    for x, y in sampled_pairs(values):
        forth, back = user_distance(column, function, x, y), user_distance(column, function, y, x)
        if forth != back:
            raise DataError(
                f"the distance of {column!r} is {plain(forth)} from {shown(x)} to {shown(y)}, "
                f"and {plain(back)} the other way round.",
                hint="A distance is the same in both directions.",
            )
    return Own(column, values, function)


def user_distance(column: str, function: Callable[[Any, Any], Any], x: Any, y: Any) -> Fraction:
    """What a user's distance says about two values, as an exact number."""
    where = f"the distance of {column!r} from {shown(x)} to {shown(y)}"
    try:
        answer = function(x, y)
        answer = answer.item() if hasattr(answer, "item") else answer
    except Exception as error:
        raise DataError(f"{where} fails: {type(error).__name__}: {error}.") from None
    try:
        apart = exact(answer)
    except ValueError:
        raise DataError(f"{where} is {answer!r}.", hint="A distance is a finite number.") from None
    if apart < 0:
        where = f"the distance of {column!r} is {plain(apart)} from {shown(x)} to {shown(y)}"
        raise DataError(f"{where}.", hint="A distance is 0 or more.")
    return apart


def sampled(values: Values, most: int) -> Values:
    """All values, or some of them; the same ones every time."""
    return values if len(values) <= most else random.Random(0).sample(list(values), most)


def sampled_pairs(values: Values) -> list[tuple[Any, Any]]:
    """All pairs of different values, or some of them; the same ones every time."""
    if len(values) * (len(values) - 1) <= 2 * SAMPLE:
        return list(combinations(values, 2))
    rng = random.Random(0)
    return [
        (values[i], values[j])
        for i, j in (rng.sample(range(len(values)), 2) for _ in range(SAMPLE))
    ]


def shown(value: Any, most: int = 80) -> str:
    """A value as a message quotes it."""
    text = value_text(value)
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def usual(column: str, values: Values) -> Distance:
    """The distance of a column that declares none:
    numeric for numbers, discrete for anything else.
    """
    numbers = all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in values
    )
    return numeric(column, values) if numbers else Discrete(len(values))
