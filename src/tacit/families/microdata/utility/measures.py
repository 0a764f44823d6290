"""Measures: how much a release has lost, in one number. The smaller, the better.

Each says as data whether it is monotone: whether recoding whole columns further, with all rows
released, never costs less. A search may then stop below a node. Only height stays so where rows may
be dropped, because a coarser release may drop fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from tacit.errors import ParameterError, did_you_mean
from tacit.families.microdata.counts import ROOM, pack_codes, tally
from tacit.families.microdata.utility.cover import CoveredColumn, shown_columns
from tacit.families.microdata.utility.divergence import divergence
from tacit.families.microdata.utility.shares import (
    column_shares,
    loss_of,
    loss_product,
    loss_text,
    rounded_up,
)
from tacit.families.microdata.utility.weights import read_weights, refuse_weights, whole_weights

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.recoded import Recoded

Cost = int | Fraction | float
Weights = Mapping[str, Any] | None
SAFE = 2**31  # the square of a number of rows below this fits into 63 bits


class UtilityMeasure(Protocol):
    """A measure of utility: what a release costs, and how costs are compared and written."""

    name: ClassVar[str]
    says: ClassVar[str]
    monotone: ClassVar[bool]
    monotone_with_suppression: ClassVar[bool]
    weighted: ClassVar[bool]

    def cost(self, recoded: Recoded, weights: Weights = None) -> Cost:
        """What the release costs: exact where the number is rational, else a float."""

    def key(self, recoded: Recoded, weights: Weights = None) -> Cost:
        """A number in the same order as the cost, exact wherever that is possible."""

    def text(self, recoded: Recoded, weights: Weights = None) -> Fraction | str:
        """The cost as a report writes it: a fraction, or a decimal rounded up."""


class Loss:
    """How much of the columns' detail is gone: from 0 (nothing) to 1 (all).

    Each column's share is the mean over the rows of (values under the label - 1) / (values - 1); a
    row that is dropped counts as 1. The loss is the geometric mean of 1 + share over the columns,
    less 1 (the loss of ARX); weights are exponents: (prod (1 + share)^w)^(1 / sum of w) - 1.
    """

    name: ClassVar[str] = "loss"
    says: ClassVar[str] = "the part of the columns' detail that is gone"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = False
    weighted: ClassVar[bool] = True

    def cost(self, recoded: Recoded, weights: Weights = None) -> float:
        """The loss as a float."""
        return loss_of(*self._parts(recoded, weights))

    def key(self, recoded: Recoded, weights: Weights = None) -> Fraction:
        """The product of (1 + share) ** weight."""
        return loss_product(*self._parts(recoded, weights))

    def text(self, recoded: Recoded, weights: Weights = None) -> str:
        """The loss as a decimal, rounded up by whole-number arithmetic."""
        return loss_text(*self._parts(recoded, weights))

    def _parts(self, recoded: Recoded, weights: Weights) -> tuple[list[Fraction], list[int]]:
        whole = whole_weights(recoded.raw.quasi, weights)
        return list(column_shares(recoded).values()), list(whole.values())


class Height:
    """How many steps of generalization were taken:
    the levels added up, each times its column's weight.

    A local recoding has no levels, so it has no height.
    """

    name: ClassVar[str] = "height"
    says: ClassVar[str] = "steps of generalization"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    weighted: ClassVar[bool] = True

    def cost(self, recoded: Recoded, weights: Weights = None) -> Fraction:
        """The levels added up."""
        if recoded.generalization is None:
            raise ParameterError(
                "height adds up levels, and this release has none: its groups are recoded one "
                "by one.",
                parameter="utility",
                hint="Use loss, discernibility, average-group or kl for a local recoding.",
            )
        levels = recoded.generalization
        given = read_weights(recoded.raw.quasi, weights)
        return sum(
            (weight * levels.get(column, 0) for column, weight in given.items()), Fraction(0)
        )

    key = text = cost


class Discernibility:
    """How many rows look alike: each row costs the size of its group, a dropped row as much as
    the table has rows.
    """

    name: ClassVar[str] = "discernibility"
    says: ClassVar[str] = "pairs of rows that look alike"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = False
    weighted: ClassVar[bool] = False

    def cost(self, recoded: Recoded, weights: Weights = None) -> Fraction:
        """The squares of the group sizes, added up, and the table's rows
        for every row that is dropped.
        """
        refuse_weights(self.name, weights)
        return Fraction(
            self.cost_of_groups(group_sizes(recoded), recoded.raw.base.rows, recoded.suppressed)
        )

    key = text = cost

    @staticmethod
    def cost_of_groups(sizes: Integers, rows: int, suppressed: int = 0) -> int:
        """The same from the sizes of the groups alone.

        >>> Discernibility.cost_of_groups(np.array([2, 3]), rows=6, suppressed=1)
        19
        """
        squares = (
            int(np.dot(sizes, sizes))
            if rows < SAFE
            else sum(size * size for size in sizes.tolist())
        )
        return squares + suppressed * rows


class AverageGroup:
    """How large a group is on average: released rows per group.
    Where nothing is released, all rows of the table.
    """

    name: ClassVar[str] = "average-group"
    says: ClassVar[str] = "rows per group"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = False
    weighted: ClassVar[bool] = False

    def cost(self, recoded: Recoded, weights: Weights = None) -> Fraction:
        """Released rows per group."""
        refuse_weights(self.name, weights)
        return self.cost_of_groups(group_sizes(recoded), recoded.raw.base.rows, recoded.suppressed)

    key = text = cost

    @staticmethod
    def cost_of_groups(sizes: Integers, rows: int, suppressed: int = 0) -> Fraction:
        """The same from the sizes of the groups alone.

        >>> AverageGroup.cost_of_groups(np.array([2, 3]), rows=6, suppressed=1)
        Fraction(5, 2)
        """
        return Fraction(rows - suppressed, len(sizes)) if len(sizes) else Fraction(rows)


class KL:
    """How far the table's distribution is from what a reader of the
    release would guess (Machanavajjhala 2008, 3.6).

    The Kullback-Leibler divergence, in nats, of the table's distribution over quasi-identifiers and
    sensitive columns from the release with every row spread evenly over the values that it may
    stand for.
    """

    name: ClassVar[str] = "kl"
    says: ClassVar[str] = "divergence of the table from the release spread evenly, in nats"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = False
    weighted: ClassVar[bool] = False

    def cost(self, recoded: Recoded, weights: Weights = None) -> float:
        """The divergence as a float."""
        refuse_weights(self.name, weights)
        return divergence(recoded)

    key = cost

    def text(self, recoded: Recoded, weights: Weights = None) -> str:
        """The divergence as a decimal, rounded up."""
        return rounded_up(self.cost(recoded, weights))


LOSS = Loss()
MEASURES: tuple[UtilityMeasure, ...] = (LOSS, Height(), Discernibility(), AverageGroup(), KL())


def measure(name: str) -> UtilityMeasure:
    """The measure of a name.

    >>> measure("average-group").says
    'rows per group'
    >>> measure("discernability")
    Traceback (most recent call last):
    tacit.errors.ParameterError: there is no utility 'discernability'. Did you mean 'discernibility'?
    """  # noqa: E501
    known = {one.name: one for one in MEASURES}
    if name not in known:
        raise ParameterError(
            f"there is no utility {name!r}.", parameter="utility", hint=did_you_mean(name, known)
        )
    return known[name]


def group_sizes(recoded: Recoded, columns: Mapping[str, CoveredColumn] | None = None) -> Integers:
    """How many released rows each group has: rows that show the same labels."""
    known = shown_columns(recoded) if columns is None else columns
    codes, sizes = [one.codes for one in known.values()], [len(one.rows) for one in known.values()]
    key, room = pack_codes(codes, sizes, len(recoded.rows))
    return tally(key, recoded.counts, room)[1]


def table_group_sizes(raw: MicrodataQuestion) -> Integers:
    """How many rows of the table have each combination of quasi-identifiers."""
    base = raw.base
    packed = base.packed(raw.quasi)
    if packed is not None:
        return tally(packed, base.occurrences, ROOM)[1]
    key, room = pack_codes(
        [base.codes(name) for name in raw.quasi], [base.size(name) for name in raw.quasi], len(base)
    )
    return tally(key, base.occurrences, room)[1]
