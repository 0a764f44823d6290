"""Promise: how near a set of further views may bring beliefs to gamma, guessed from what each of
them does alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.restore.disclosed_views import Flags

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Sets = np.ndarray[Any, np.dtype[np.int64]]  # one set of views in a row
SURE = 1e-4  # beliefs closer to 0 or 1 are taken as this close
AT_ONCE = 4_000_000
MOST_FOLLOWED = 160  # beliefs


@dataclass(frozen=True, slots=True, eq=False)
class OddsPromise:
    """`base` are the odds (as logarithms) of the beliefs that are followed;
    `shift` is by how much each candidate moves them.

    A view multiplies the odds of a belief by some factor, and for a set of views the factors are
    multiplied. That is right where they meet somebody independently of each other, and a good guess
    elsewhere.
    """

    base: Floats
    shift: Floats

    def of(self, sets: Sets) -> Floats:
        """The largest odds with some sets of candidates: the smaller the better."""
        found = np.empty(len(sets))
        step = max(1, AT_ONCE // max(1, len(self.base)))
        for at in range(0, len(sets), step):
            some = sets[at : at + step]
            moved = self.base[None, :] + self.shift[some[:, 0]]
            for place in range(1, sets.shape[1]):
                moved = moved + self.shift[some[:, place]]
            found[at : at + step] = moved.max(axis=1, initial=-inf)
        return found

    def kept(self, places: Flags | Integers) -> OddsPromise:
        """The same for some of the candidates."""
        return OddsPromise(self.base, self.shift[places])


def promise_of(base: Floats, followed: Floats) -> OddsPromise:
    """From the beliefs that are followed, and what they are with each candidate alone;
    not a number where it does not touch them.

    Of very many beliefs those are followed on that are large, or become so with some candidate.
    """
    odds = logit(base).reshape(-1)
    shift = logit(followed).reshape(len(followed), odds.size) - odds[None]
    shift = np.where(np.isnan(shift), 0.0, shift).astype(np.float32)
    if odds.size > MOST_FOLLOWED and len(shift):
        high, higher = (
            np.argsort(-odds, kind="stable"),
            np.argsort(-(odds + shift.max(axis=0)), kind="stable"),
        )
        chosen = np.unique(
            np.concatenate([high[: MOST_FOLLOWED // 2], higher[: MOST_FOLLOWED // 2]])
        )
        odds, shift = odds[chosen], shift[:, chosen]
    return OddsPromise(odds, shift)


def logit(beliefs: Floats) -> Floats:
    """The logarithm of the odds; what is not a number stays so.

    >>> logit(np.array([0.5, 1.0])).round(1).tolist()
    [0.0, 9.2]
    """
    near = np.clip(beliefs, SURE, 1 - SURE)
    found: Floats = np.log(near) - np.log1p(-near)
    return found


def best_of(kept: Sequence[tuple[Floats, Sets]], most: int) -> tuple[Floats, Sets]:
    """The most promising sets, in order; equal ones as they came."""
    promise, sets = (
        np.concatenate([one for one, _ in kept]),
        np.concatenate([one for _, one in kept]),
    )
    order = np.argsort(promise, kind="stable")[:most]
    return promise[order], sets[order]
