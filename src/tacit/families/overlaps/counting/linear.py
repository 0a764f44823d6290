"""Linear programs over the sums of a part:
solved in floating point, they prove in integers that cells are empty, or have few people.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import Flags, OpenPart
from tacit.model.deadline import left, look

MOST_CELLS = 20_000  # of a part whose cells are bounded one by one
CERTIFICATE = 1 << 32  # the multipliers of a proof are whole numbers of this part of one
A_DAY = (
    86_400.0  # seconds that a program has where nobody set a limit: the solver takes no infinity
)

Reals = np.ndarray[Any, np.dtype[np.float64]]


def certainly_empty(part: OpenPart, wanted: Flags, seconds: float) -> Flags:
    """Those of some cells that linear programming proves empty in every table;
    none where it does not finish.

    A linear program (solved in floating point) finds the cells that are empty in every solution of
    the sums in real numbers, and a multiplier for each sum. The multipliers, rounded, are then
    checked in integers: if, added up over the sums of a cell, they come to at least 1 for the cells
    in question and to at least 0 for all others, then the people in the cells in question are at
    most the sum of multiplier * total, and fewer than one is none.
    """
    empty = np.zeros(len(part.place), dtype=bool)
    found = _support(part, wanted, seconds)
    if found is None:
        return empty
    share, multipliers = found
    suspects = wanted & (share < 0.5)
    if suspects.any() and any(proves_empty(part, suspects, sign * multipliers) for sign in (1, -1)):
        empty = suspects
    return empty


def _support(part: OpenPart, wanted: Flags, seconds: float) -> tuple[Reals, Reals] | None:
    """For each cell 1 if it can have somebody and 0 if not, and a multiplier for each sum;
    in floating point.

    The program: x >= 0 with every sum t times its total, t >= 1; as many wanted cells as possible
    have x >= 1. As t may be as large as need be, all that can be positive are so at once.
    """
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    solver.SetTimeLimit(int(min(seconds, A_DAY) * 1000) + 1)
    far = solver.infinity()
    people = [solver.NumVar(0.0, far, "") for _ in part.place]
    scale = solver.NumVar(1.0, far, "")
    sums = []
    for one, total in _shifted(part):
        row = solver.Constraint(0.0, 0.0)
        for cell in one.tolist():
            row.SetCoefficient(people[cell], 1.0)
        row.SetCoefficient(scale, -float(total))
        sums.append(row)
    objective = solver.Objective()
    objective.SetMaximization()
    for cell in np.nonzero(wanted)[0].tolist():
        share = solver.NumVar(0.0, 1.0, "")
        row = solver.Constraint(0.0, far)
        row.SetCoefficient(people[cell], 1.0)
        row.SetCoefficient(share, -1.0)
        objective.SetCoefficient(share, 1.0)
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return None
    shares = np.minimum(np.array([one.solution_value() for one in people]), 1.0)
    return shares, np.array([row.dual_value() for row in sums])


class Program:
    """The sums in real numbers, beyond the least of each cell;
    asked again and again for the most of one cell.
    """

    def __init__(self, part: OpenPart) -> None:
        from ortools.linear_solver import pywraplp

        self._optimal = pywraplp.Solver.OPTIMAL
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._people = [self._solver.NumVar(0.0, self._solver.infinity(), "") for _ in part.place]
        self._sums = []
        for cells, total in _shifted(part):
            row = self._solver.Constraint(float(total), float(total))
            for cell in cells.tolist():
                row.SetCoefficient(self._people[cell], 1.0)
            self._sums.append(row)

    def most(self, cell: int, seconds: float) -> tuple[Reals, Reals] | None:
        """A solution with as many people in a cell as can be, and a multiplier for each sum;
        in floating point.
        """
        self._solver.SetTimeLimit(int(min(seconds, A_DAY) * 1000) + 1)
        objective = self._solver.Objective()
        objective.Clear()
        objective.SetMaximization()
        objective.SetCoefficient(self._people[cell], 1.0)
        if self._solver.Solve() != self._optimal:
            return None
        people = np.array([one.solution_value() for one in self._people])
        return people, np.array([row.dual_value() for row in self._sums])


def _shifted(part: OpenPart) -> Iterable[tuple[Integers, int]]:
    """The sums over people beyond the least of each cell."""
    for one in (*part.classes, *part.rows):
        yield one.cells, one.total - int(part.low[one.cells].sum())


def proves_empty(part: OpenPart, suspects: Flags, multipliers: Reals) -> bool:
    """Do the multipliers prove that nobody is in these cells, beyond
    the least of each? In integers.
    """
    if part.low[suspects].any():
        return False
    most = proved_most(part, suspects, multipliers)
    return most is not None and most <= 0


def proved_most(part: OpenPart, some: Flags, multipliers: Reals) -> int | None:
    """At most so many people are in some cells together, beyond the least of each, by multipliers
    of the sums. In integers; None where they are no use.
    """
    if not np.isfinite(multipliers).all() or np.abs(multipliers).max(initial=0) > 1000:
        return None
    rounded = np.rint(multipliers * CERTIFICATE).astype(np.int64)
    sums = list(_shifted(part))
    covered = np.zeros(len(part.place), dtype=np.int64)
    for (cells, _), one in zip(sums, rounded.tolist(), strict=True):
        covered[cells] += one
    missing = np.maximum(np.where(some, CERTIFICATE, 0) - covered, 0)
    # What rounding took away is put back on the class of the cell.
    more = np.zeros(len(part.classes), dtype=np.int64)
    np.maximum.at(more, part.class_of, missing)
    rounded[: len(more)] += more
    people = sum(total * one for (_, total), one in zip(sums, rounded.tolist(), strict=True))
    return int(people // CERTIFICATE)


def by_sums(part: OpenPart, allowed: Integers) -> Integers:
    """How many people each cell has at most, by the sums alone.

    Linear programs narrow the bounds of the cells that may have more than `allowed`, until one
    stays above it.
    """
    high = part.high.copy()
    doubtful = np.flatnonzero(high > allowed)
    if not len(doubtful) or len(part.place) > MOST_CELLS:
        return high
    program = Program(part)
    for cell in doubtful[np.argsort((allowed - high)[doubtful], kind="stable")].tolist():
        look()
        found = program.most(cell, left())
        if found is None:
            break
        alone = np.zeros(len(high), dtype=bool)
        alone[cell] = True
        proved = [proved_most(part, alone, sign * found[1]) for sign in (1, -1)]
        most = min((one for one in proved if one is not None), default=int(high[cell]))
        high[cell] = min(int(high[cell]), int(part.low[cell]) + max(most, 0))
        if high[cell] > allowed[cell]:
            break
    return high
