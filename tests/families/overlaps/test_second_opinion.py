"""Counts that are too large for brute force, against a model
counter that knows nothing of classes.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from oracles.model_counter import tables
from tacit.families.overlaps.counting.average_beliefs import beliefs
from tacit.families.overlaps.overlap import merged, overlap_of
from tacit.families.overlaps.system import NoTable

pytest.importorskip("pyganak", reason="pyganak counts the models of formulas")
CASES = 60


@pytest.mark.sampled
@pytest.mark.parametrize("number", range(CASES))
def test_as_many_tables_as_a_model_counter_finds(number: int) -> None:
    rng = random.Random(number)
    many, wide = rng.randint(8, 22), rng.randint(2, 4)
    values = "abcd"[:wide]
    truth = [rng.choice(values) for _ in range(many)]
    ranges = [sorted(rng.sample(range(many + 1), 2)) for _ in range(rng.randint(2, 4))]
    covered = [
        person for person in range(many) if any(low <= person < high for low, high in ranges)
    ]
    members = [
        [view for view, (low, high) in enumerate(ranges) if low <= person < high]
        for person in covered
    ]
    answers = [
        [truth[person] for person in covered if low <= person < high] for low, high in ranges
    ]
    if number % 5 == 0:
        answers[0][0] = rng.choice(values)
    asked = [
        ([person for person in covered if low <= person < high], Counter(answer))
        for (low, high), answer in zip(ranges, answers, strict=True)
    ]
    expected = tables(covered, values, asked)
    try:
        found = beliefs(merged(overlap_of(values, answers, members))).tables
    except NoTable:
        found = 0
    assert found == expected
