"""Filling: tables of a part in which more cells have somebody, or the proof that there is none."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from tacit.families.overlaps.counting.linear import Program, certainly_empty, proves_empty
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import Flags, OpenPart
from tacit.families.solver import module, solve
from tacit.model.deadline import OutOfTime, left, look, until
from tacit.model.jobs import Job

EXCHANGE_SECONDS = 1.0  # for one exchange of two values: nearly all take some milliseconds
WORKERS = min(8, os.cpu_count() or 1)
SMALL = 300  # cells below which one worker is quicker than several
TURN_SECONDS = 2.0  # for the first search of a whole part; each next one has twice as long
MOST_TURNS = 30
NEAR = 2  # people by whom a cell may differ in a table that is looked for near another one
NEAR_TURNS = 18
NEAR_SECONDS = 1.0
MOST_TERMS = 20_000_000  # of exchanges that are remembered


@cache
def new_model() -> type[Any]:
    """A model of CP-SAT without its old names for methods:
    to attach these takes longer than most programs here.
    """

    class Model(module().CpModel):  # type: ignore[misc]
        def _add_pre_pep8_methods(self) -> None:
            pass

    return Model


def solution(
    part: OpenPart, *, some: Flags | None = None, like: Integers | None = None
) -> Integers | None:
    """A table of a part in which one of some cells has somebody; None if there is none.
    Raises OutOfTime.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> (part,) = system_of(overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])).parts
    >>> solution(part, some=np.array([False, False, True, False, False, False])).tolist()
    [0, 1, 1, 0, 0, 1]
    """
    cp = module()
    model = new_model()()
    cells = [
        model.new_int_var(low, high, "")
        for low, high in zip(part.low.tolist(), part.high.tolist(), strict=True)
    ]
    for one in (*part.classes, *part.rows):
        model.add(cp.LinearExpr.sum([cells[cell] for cell in one.cells.tolist()]) == one.total)
    if some is not None:
        model.add(cp.LinearExpr.sum([cells[cell] for cell in np.nonzero(some)[0].tolist()]) >= 1)
    if like is not None:
        for cell, people in zip(cells, like.tolist(), strict=True):
            model.add_hint(cell, people)
    solver = cp.CpSolver()
    solver.parameters.num_workers = 1 if len(cells) < SMALL else WORKERS
    solver.parameters.random_seed = 1
    # A table to stay close to helps at once or leads astray: it is taken and left by turns.
    for turn in range(MOST_TURNS):
        solver.parameters.max_time_in_seconds = min(left(), TURN_SECONDS * 2**turn)
        status = solve(solver, model)
        if status == cp.INFEASIBLE:
            return None
        if status in (cp.OPTIMAL, cp.FEASIBLE):
            return _Sums(part).checked(
                np.array([solver.value(cell) for cell in cells], dtype=np.int64)
            )
        solver.parameters.num_workers = WORKERS
        model.clear_hints()
        if like is not None and turn % 2:
            for cell, people in zip(cells, like.tolist(), strict=True):
                model.add_hint(cell, people)
    raise OutOfTime


class _Sums:
    """The sums of a part, counted at once."""

    def __init__(self, part: OpenPart) -> None:
        sums = [one for one in (*part.classes, *part.rows) if len(one.cells)]
        self._low = part.low
        self._cells = np.concatenate([one.cells for one in sums])
        self._starts = np.cumsum([0, *(len(one.cells) for one in sums[:-1])])
        self._totals = np.array([one.total for one in sums], dtype=np.int64)

    def fit(self, table: Integers) -> bool:
        """Are all sums right?"""
        found = np.add.reduceat(table[self._cells], self._starts)
        return bool((table >= self._low).all() and (found == self._totals).all())

    def checked(self, table: Integers) -> Integers:
        """The table itself, counted once more."""
        if not self.fit(table):
            raise AssertionError("the solver gave a table that does not fit")
        return table


@dataclass(frozen=True, slots=True, eq=False)
class _Exchange:
    """What keeps all sums when people of some classes change from one value to another.

    Class n has the cells `into[n]` and `out[n]`. If d[n] of its people change, each of `sums`
    (classes, signs) must come to nothing: the sum of sign * d over these classes is 0.
    """

    into: Integers
    out: Integers
    sums: tuple[tuple[Integers, Integers], ...]

    @property
    def terms(self) -> int:
        return len(self.into) + sum(len(classes) for classes, _ in self.sums)


class TableFilling:
    """Finds tables of a part, one after the other, in which some cells have somebody.

    Three ways, the cheapest first. From the table at hand people *exchange two values*, at most one
    in each class: that leaves a small integer program in one number per class, which CP-SAT solves
    in milliseconds where the whole part would take minutes. *Linear programming* proves that cells
    are empty in every table. What is left is asked of CP-SAT, first near the table at hand, then
    for the whole part. `is_explored`: exchanges have been tried already, so it begins with proofs.

    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> from tacit.families.overlaps.system import system_of
    >>> (part,) = system_of(overlap_of("xy", ["xy"], [[0], [0]])).parts
    >>> filling = TableFilling(part, np.array([1, 0, 0, 1]))
    >>> filling.more(np.array([False, True, True, False])).tolist()
    [0, 1, 1, 0]
    """

    def __init__(self, part: OpenPart, table: Integers, *, is_explored: bool = False) -> None:
        self.part = part
        self._sums = _Sums(part)
        self.table = self._sums.checked(table)
        self.empty: Flags = part.high == 0
        self._values, self._column = np.unique(part.value, return_inverse=True)
        self._at = np.full((len(part.classes), len(self._values)), -1, dtype=np.int64)
        self._at[part.class_of, self._column] = np.arange(len(part.place))
        self._rows_of = _rows_of(part)
        self._exchanges: dict[tuple[int, int], _Exchange] = {}
        self._terms = 0
        self._tries_before_proof = -1 if is_explored else len(self._values) ** 2 // 2
        self._asked: Flags = np.zeros(len(part.place), dtype=bool)
        self._version = np.zeros(len(self._values), dtype=np.int64)
        self._in_vain: dict[tuple[int, int], tuple[int, int]] = {}
        self._tries = 0
        self._is_proved = False
        self._is_bounded: Flags = np.zeros(len(part.place), dtype=bool)
        self._program: Program | None = None
        self._rng = random.Random(1)

    def more(self, wanted: Flags, job: Job | None = None) -> Integers | None:
        """A table in which some of these cells have somebody; None where there is none.
        Raises OutOfTime.
        """
        wanted = wanted & ~self.empty
        while wanted.any():
            tries = None if self._is_proved else self._tries_before_proof
            found = self.exchanged(wanted, job, tries)
            if found is not None:
                return found
            if not self._is_proved:
                self.empty |= certainly_empty(self.part, wanted, max(left() / 3, 1.0))
                self._is_proved = True
            elif (wanted & ~self._is_bounded).any():
                self._bound(int(np.argmax(wanted & ~self._is_bounded)))
            elif self._near(wanted):
                return self.table
            else:
                return self._search(wanted)
            wanted &= ~self.empty
        return None

    def exchanged(
        self, wanted: Flags, job: Job | None = None, tries: int | None = None
    ) -> Integers | None:
        """A table in which some of these cells have somebody, if
        exchanges of two values lead to one.

        None proves nothing. `tries` is how many exchanges are tried
        since other cells were asked for.
        """
        wanted = wanted & ~self.empty
        if (wanted & ~self._asked).any():
            self._begin(wanted)
        if (wanted & (self.table > 0)).any():
            return self.table
        while tries is None or self._tries <= tries:
            look()
            if job is not None:
                job.step("looking for tables", 0.5)
            pair = self._best_pair(wanted)
            if pair is None:
                return None
            if self._exchange(pair, wanted, min(EXCHANGE_SECONDS, left())):
                return self.table
        return None

    def _begin(self, wanted: Flags) -> None:
        """Other cells are asked for: forget what was in vain."""
        self._asked = wanted.copy()
        self._in_vain.clear()
        self._tries = 0
        self._is_proved = False

    def _best_pair(self, wanted: Flags) -> tuple[int, int] | None:
        """The two values between which most people could change to a cell that is wanted."""
        has = self._at >= 0
        wants = (has & wanted[self._at]).astype(np.float64)
        gives = (has & (self.table > self.part.low)[self._at]).astype(np.float64)
        gain = wants.T @ gives
        gain += gain.T
        for one, other in self._in_vain:
            if self._in_vain[one, other] == (self._version[one], self._version[other]):
                gain[one, other] = gain[other, one] = 0
        np.fill_diagonal(gain, 0)
        best = int(gain.argmax())
        one, other = sorted(divmod(best, len(self._values)))
        return (one, other) if gain[one, other] > 0 else None

    def _exchange(self, pair: tuple[int, int], wanted: Flags, seconds: float) -> bool:
        """Let people change between two values so that as many wanted
        cells as possible have somebody.
        """
        self._tries += 1
        exchange = self._exchange_of(pair)
        change = _best_change(self.part, exchange, self.table, wanted, seconds)
        if change is None or not change.any():
            self._in_vain[pair] = (int(self._version[pair[0]]), int(self._version[pair[1]]))
            return False
        table = self.table.copy()
        table[exchange.into] += change
        table[exchange.out] -= change
        self.table = self._sums.checked(table)
        self._version[list(pair)] += 1
        return True

    def _exchange_of(self, pair: tuple[int, int]) -> _Exchange:
        found = self._exchanges.get(pair)
        if found is None:
            found = _exchange_between(self._at[:, pair[0]], self._at[:, pair[1]], self._rows_of)
            self._terms += found.terms
            if self._terms > MOST_TERMS:
                self._exchanges.clear()
                self._terms = found.terms
            self._exchanges[pair] = found
        return found

    def _bound(self, cell: int) -> None:
        """Prove by the most people that a cell can have in real numbers that it has none, or
        find a table that way.
        """
        self._is_bounded[cell] = True
        if self._program is None:
            self._program = Program(self.part)
        found = self._program.most(cell, left())
        if found is None:
            return
        people, multipliers = found
        alone = np.zeros(len(people), dtype=bool)
        alone[cell] = True
        if any(proves_empty(self.part, alone, sign * multipliers) for sign in (1, -1)):
            self.empty[cell] = True
        rounded = np.rint(people).astype(np.int64) + self.part.low
        if rounded[cell] > 0 and self._sums.fit(rounded):
            self._move_to(rounded)

    def _near(self, wanted: Flags) -> bool:
        """Look for a table that differs from the one at hand in a few values, and by a few
        people in each cell.
        """
        cells = np.nonzero(wanted)[0]
        for turn in range(NEAR_TURNS):
            cell = int(cells[turn % len(cells)])
            free = np.isin(self._column, self._some_columns(cell, 3 + turn // 3))
            low = np.where(free, np.maximum(self.part.low, self.table - NEAR), self.table)
            high = np.where(free, np.minimum(self.part.high, self.table + NEAR), self.table)
            try:
                with until(NEAR_SECONDS * (1 + turn // 3)):
                    found = solution(
                        replace(self.part, low=low, high=high),
                        some=wanted & free,
                        like=self.table,
                    )
            except OutOfTime:
                continue
            if found is not None:
                self._move_to(found)
                return True
        return False

    def _some_columns(self, cell: int, number: int) -> list[int]:
        """The value of a cell, one that its class has now, and others that many people have."""
        own = self._at[self.part.class_of[cell]]
        has = np.nonzero((own >= 0) & (self.table > self.part.low)[own])[0].tolist()
        people = np.bincount(self._column, self.table, len(self._values)) + 1
        chosen = [int(self._column[cell]), *([self._rng.choice(has)] if has else [])]
        others = [one for one in range(len(self._values)) if one not in chosen]
        while others and len(chosen) < number:
            one = self._rng.choices(others, [people[other] for other in others])[0]
            others.remove(one)
            chosen.append(one)
        return chosen

    def _search(self, wanted: Flags) -> Integers | None:
        """Ask CP-SAT about the whole part."""
        found = solution(self.part, some=wanted, like=self.table)
        if found is None:
            self.empty |= wanted
            return None
        self._move_to(found)
        return found

    def _move_to(self, table: Integers) -> None:
        self._version[np.unique(self._column[table != self.table])] += 1
        self.table = table


def _rows_of(part: OpenPart) -> list[set[int]]:
    """The rows of each cell."""
    found: list[set[int]] = [set() for _ in part.place]
    for number, row in enumerate(part.rows):
        for cell in row.cells.tolist():
            found[cell].add(number)
    return found


def _exchange_between(first: Integers, second: Integers, rows_of: Sequence[set[int]]) -> _Exchange:
    """The exchange between two values, from the cells of each class for the one and for the
    other (-1: settled).
    """
    both = (first >= 0) & (second >= 0)
    into, out = first[both], second[both]
    sums: dict[int, dict[int, int]] = {}
    for number, (one, other) in enumerate(zip(into.tolist(), out.tolist(), strict=True)):
        for row in rows_of[one] - rows_of[other]:
            sums.setdefault(row, {})[number] = 1
        for row in rows_of[other] - rows_of[one]:
            sums.setdefault(row, {})[number] = -1
    # The rows of the one value often say the same as those of the other.
    different = {_signed(terms): terms for terms in sums.values()}
    kept = tuple(
        (np.array(list(terms), dtype=np.int64), np.array(list(terms.values()), dtype=np.int64))
        for terms in different.values()
    )
    return _Exchange(into, out, kept)


def _signed(terms: dict[int, int]) -> frozenset[tuple[int, int]]:
    """The same for a sum and its negative."""
    sign = terms[min(terms)]
    return frozenset((number, sign * one) for number, one in terms.items())


def _best_change(
    part: OpenPart, exchange: _Exchange, table: Integers, wanted: Flags, seconds: float
) -> Integers | None:
    """How many people of each class change, at most one, so that most wanted cells have somebody;
    None if not found.

    A wanted cell has nobody, so one more person there counts once.
    """
    into, out = exchange.into, exchange.out
    most = np.minimum(np.minimum(part.high[into] - table[into], table[out] - part.low[out]), 1)
    least = -np.minimum(np.minimum(part.high[out] - table[out], table[into] - part.low[into]), 1)
    gain = wanted[into].astype(np.int64) - wanted[out].astype(np.int64)
    if not ((gain > 0) & (most > 0)).any() and not ((gain < 0) & (least < 0)).any():
        return None
    cp = module()
    model = new_model()()
    is_free = least < most
    free = np.nonzero(is_free)[0]
    change = [
        model.new_int_var(low, high, "")
        for low, high in zip(least[free].tolist(), most[free].tolist(), strict=True)
    ]
    number = np.cumsum(is_free) - 1
    for classes, signs in exchange.sums:
        own = is_free[classes]
        if own.any():
            terms = [change[one] for one in number[classes[own]].tolist()]
            model.add(cp.LinearExpr.weighted_sum(terms, signs[own].tolist()) == 0)
    aims = np.nonzero(is_free & (gain != 0))[0]
    model.maximize(
        cp.LinearExpr.weighted_sum(
            [change[one] for one in number[aims].tolist()], gain[aims].tolist()
        )
    )
    solver = cp.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = False
    solver.parameters.random_seed = 1
    if solve(solver, model) not in (cp.OPTIMAL, cp.FEASIBLE) or solver.objective_value < 0.5:
        return None
    found = np.zeros(len(into), dtype=np.int64)
    found[free] = [solver.value(one) for one in change]
    return found
