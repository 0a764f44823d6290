"""Maximum entropy: about how many people each cell of a part has, in milliseconds, where tables
cannot be counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import OpenPart

Floats = np.ndarray[Any, np.dtype[np.float64]]

DENSE = 800  # up to so many sums Newton's method is used: its matrix has so many rows and columns
STEPS = 40
SWEEPS = 300
CLOSE = 1e-6  # people by which a sum may be missed
# what a multiplier's logarithm may be: a cell that must be empty would drive it on for ever
FARTHEST = 40.0


@dataclass(frozen=True, slots=True, eq=False)
class PoissonCells:
    """Cells that are independent Poisson variables given their expectations: `people`.

    log(people[j]) is the sum of the multipliers of the sums that hold cell j: one of `classes`, any
    of `rows`. Of all such products it is the one that has the sums of the part on average, as far
    as `off` says: by how many people a sum is missed at most.
    """

    people: Floats
    classes: Floats
    rows: Floats
    off: float


def fitted(part: OpenPart) -> PoissonCells:
    """The maximum-entropy expectations of all cells of a part.

    The uniform law over tables gives a solution x the weight prod 1/x!, which is the law of
    independent Poisson variables, given their sums. Without the condition, the multipliers that
    make the sums right on average minimise a convex function, sum(people) - sum(total *
    multiplier); Newton's method finds them, or scaling sum after sum where there are very many.
    Beliefs that are read off it are approximate: they rank, and never decide.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> [part] = system_of(overlap_of("xy", ["xxy"], [[0], [0], [0]])).parts
    >>> fitted(part).people.round(4).tolist()
    [0.6667, 0.3333, 0.6667, 0.3333, 0.6667, 0.3333]
    """
    sums = [*part.classes, *part.rows]
    number = np.repeat(np.arange(len(sums)), [len(one.cells) for one in sums])
    cells = np.concatenate([one.cells for one in sums])
    totals = np.array([one.total for one in sums], dtype=np.float64)
    size = len(part.place)
    multipliers = np.zeros(len(sums))
    start = np.log(np.maximum(totals, 0.5) / np.array([len(one.cells) for one in sums]))
    multipliers[: len(part.classes)] = start[: len(part.classes)]
    if len(sums) <= DENSE:
        matrix = np.zeros((len(sums), size))
        matrix[number, cells] = 1.0
        multipliers = _by_newton(matrix, totals, multipliers)
    else:
        multipliers = _by_scaling(_disjoint(part), cells, number, totals, multipliers, size)
    people = np.exp(np.bincount(cells, multipliers[number], size))
    off = np.abs(np.bincount(number, people[cells], len(sums)) - totals).max()
    return PoissonCells(
        people, multipliers[: len(part.classes)], multipliers[len(part.classes) :], float(off)
    )


def _by_newton(matrix: Floats, totals: Floats, multipliers: Floats) -> Floats:
    """Newton's method with a step that is halved until it helps;
    a little weight on the diagonal, for sums that repeat.
    """

    def cost(at: Floats) -> float:
        return float(np.exp(np.minimum(at @ matrix, 500.0)).sum() - totals @ at)

    now = cost(multipliers)
    for _ in range(STEPS):
        people = np.exp(multipliers @ matrix)
        wrong = matrix @ people - totals
        if np.abs(wrong).max() < CLOSE:
            break
        curve = (matrix * people) @ matrix.T
        curve[np.diag_indices_from(curve)] += 1e-9 * (1.0 + curve.diagonal())
        step = np.linalg.solve(curve, wrong)
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        share = 1.0
        while share > 1e-6:
            tried = multipliers - share * step
            then = cost(tried)
            if then <= now - 1e-4 * share * float(wrong @ step):
                break
            share /= 2
        if share <= 1e-6 or float(np.abs(tried).max()) > FARTHEST:
            break
        multipliers, now = tried, then
    return multipliers


def _disjoint(part: OpenPart) -> list[list[int]]:
    """The sums of a part, by families that share no cell and can be scaled at once."""
    families: list[list[int]] = [list(range(len(part.classes)))]
    taken: list[set[int]] = [set(range(len(part.place)))]
    for row, one in enumerate(part.rows):
        cells = set(one.cells.tolist())
        for family, used in zip(families, taken, strict=True):
            if not used & cells:
                family.append(len(part.classes) + row)
                used |= cells
                break
        else:
            families.append([len(part.classes) + row])
            taken.append(cells)
    return families


def _by_scaling(
    families: list[list[int]],
    cells: Integers,
    number: Integers,
    totals: Floats,
    multipliers: Floats,
    size: int,
) -> Floats:
    """Iterative proportional fitting: every family in turn is made right, until all are nearly."""
    chosen = [np.isin(number, family) for family in families]
    people = np.exp(np.bincount(cells, multipliers[number], size))
    multipliers = multipliers.copy()
    for _ in range(SWEEPS):
        worst = 0.0
        for family, mine in zip(families, chosen, strict=True):
            found = np.bincount(number[mine], people[cells[mine]], len(totals))[family]
            worst = max(worst, float(np.abs(found - totals[family]).max()))
            change = np.log(np.maximum(totals[family], 1e-12) / np.maximum(found, 1e-12))
            change = (
                np.clip(multipliers[family] + change, -FARTHEST, FARTHEST) - multipliers[family]
            )
            multipliers[family] += change
            factor = np.zeros(len(totals))
            factor[family] = change
            people[cells[mine]] *= np.exp(factor[number[mine]])
        if worst < CLOSE:
            break
    return multipliers
