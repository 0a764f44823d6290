"""Counting cell by cell against brute force:
the tables of classes, views and values, one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from oracles import overlap as oracle
from oracles.overlap_cases import classes
from tacit.families.overlaps.counting import layers
from tacit.families.overlaps.overlap import Overlap
from tacit.families.overlaps.system import NoTable, System, system_of

CASES = 3000
BATCH = 250


def overlap_from(case: oracle.Classes) -> Overlap:
    """The oracle's classes in the numbers of the package:
    rows of each view are numbered one after the other.
    """
    number: dict[tuple[int, object], int] = {}
    shown = [0]
    views, values = len(case.given), len(case.outputs[0])
    outputs = np.zeros((len(case.sizes), views, values), dtype=np.int64)
    for view, answer in enumerate(case.given):
        rows = {
            case.outputs[one][value][view]
            for one in range(len(case.sizes))
            for value in range(values)
        } | set(answer)
        for row in sorted((row for row in rows if row is not None), key=repr):
            number[view, row] = len(shown)
            shown.append(answer.get(row, 0))
    for one in range(len(case.sizes)):
        for value in range(values):
            for view in range(views):
                row = case.outputs[one][value][view]
                outputs[one, view, value] = 0 if row is None else number[view, row]
    names = tuple(f"v{view}" for view in range(views))
    return Overlap(
        tuple(range(values)),
        names,
        outputs,
        np.array(case.sizes, dtype=np.int64),
        np.array(shown, dtype=np.int64),
    )


def averages(system: System, found: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    cells = [Fraction(int(one)) for one in system.low]
    for part, some in zip(system.parts, found, strict=True):
        for place, average in zip(part.place.tolist(), some, strict=True):
            cells[place] = average
    return cells


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, CASES, BATCH))
def test_tables_and_averages_are_those_of_brute_force(start: int) -> None:
    empty = 0
    for number in range(start, start + BATCH):
        case = classes(number)
        tables, totals = oracle.of_classes(case)
        try:
            system = system_of(overlap_from(case))
            found = [layers.count(part) for part in system.parts]
            bounds = [layers.enclosed(part) for part in system.parts]
        except NoTable:
            assert tables == 0, number
            empty += 1
            continue
        many = system.settled
        for one in found:
            assert one.tables is not None
            many *= one.tables
        assert many == tables, number
        exact = averages(system, [one.low for one in found])
        assert exact == [
            Fraction(size * total, tables)
            for size, row in zip(case.sizes, totals, strict=True)
            for total in row
        ], number
        for low, true, high in zip(
            averages(system, [one.low for one in bounds]),
            exact,
            averages(system, [one.high for one in bounds]),
            strict=True,
        ):
            assert low <= true <= high and high - low < Fraction(1, 10**9), number
    assert empty < BATCH // 2


def test_a_class_that_does_not_fit_a_float_is_left_to_others() -> None:
    outputs = np.array([[[1, 2]], [[1, 2]]])
    views = Overlap(("x", "y"), ("v",), outputs, np.array([1000, 1]), np.array([0, 500, 501]))
    (part,) = system_of(views).parts
    with pytest.raises(layers.TooManyLayerStates):
        layers.enclosed(part)
    assert layers.count(part).low[0] == Fraction(1000 * 500, 1001)


def test_uniform_tables_are_drawn() -> None:
    outputs = np.array([[[1, 2], [0, 0]], [[1, 2], [3, 4]], [[0, 0], [3, 4]]])
    views = Overlap(("x", "y"), ("v", "w"), outputs, np.array([2, 1, 1]), np.array([0, 2, 1, 1, 1]))
    (part,) = system_of(views).parts
    exact = layers.count(part)
    drawn = layers.tables_of(part, 20_000, np.random.default_rng(7))
    # Hoeffding: an average of 20,000 draws between 0 and 2 is off by
    # 0.05 with probability below 1e-10.
    assert np.abs(drawn.mean(axis=0) - [float(one) for one in exact.low]).max() < 0.05
    for one in (*part.classes, *part.rows):
        assert (drawn[:, one.cells].sum(axis=1) == one.total).all()
