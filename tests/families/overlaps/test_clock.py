"""Counting looks at the clock: it ends in time, and what it has found by then is right."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from math import comb, factorial, log2, prod

import numpy as np
import pytest

from overlap_asking import Known
from tacit.families.overlaps.counting import layers, products
from tacit.families.overlaps.counting.arithmetic import ScaledNumbers, multiplied
from tacit.families.overlaps.counting.average_beliefs import averaged, beliefs
from tacit.families.overlaps.counting.factorials import bits, quotient
from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy
from tacit.families.overlaps.overlap import Overlap
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.stages import stages
from tacit.families.overlaps.system import system_of
from tacit.model.deadline import OutOfTime
from tacit.model.verdict import Reason, Verdict


def views_of(sizes: list[int], members: list[list[int]], values: int, seed: int = 1) -> Overlap:
    """Classes of so many people, each in some views; who has what is drawn."""
    rng = np.random.default_rng(seed)
    current = np.array(
        [rng.multinomial(size, rng.dirichlet(np.full(values, 5.0))) for size in sizes]
    )
    many = max(view for seen in members for view in seen) + 1
    outputs, shown = np.zeros((len(sizes), many, values), dtype=np.int64), [0]
    for view in range(many):
        inside = [view in seen for seen in members]
        for value in range(values):
            outputs[inside, view, value] = len(shown)
            shown.append(int(current[inside, value].sum()))
    return Overlap(
        tuple(range(values)),
        tuple(f"v{view}" for view in range(many)),
        outputs,
        np.array(sizes),
        np.array(shown),
        current,
    )


def beside(one: Overlap, other: Overlap) -> Overlap:
    """Two tables of the same values that have nothing to do with each other, as one."""
    moved = np.where(other.outputs > 0, other.outputs + len(one.shown) - 1, 0)
    (a, m, wide), (b, n, _) = one.outputs.shape, other.outputs.shape
    outputs = np.zeros((a + b, m + n, wide), dtype=np.int64)
    outputs[:a, :m], outputs[a:, m:] = one.outputs, moved
    return Overlap(
        one.values,
        tuple(f"v{view}" for view in range(m + n)),
        outputs,
        np.concatenate([one.sizes, other.sizes]),
        np.concatenate([one.shown, other.shown[1:]]),
    )


def asked(overlap: Overlap, **parameters: object) -> tuple[Verdict, float]:
    """The verdict, and how long it took."""
    people = Known([((f"p{class_:03}",), class_, None) for class_ in range(len(overlap.sizes))])
    same = tuple((value,) for value in range(len(overlap.values)))
    question = OverlapQuestion(
        overlap.views, "t", ("name",), "condition", ("age",), overlap, people=people, meanings=same
    )
    begun = time.monotonic()
    return GammaPrivacy(**parameters).check(question), time.monotonic() - begun


HARD = views_of(
    [90] * 63, [[view for view in range(6) if number >> view & 1] for number in range(1, 64)], 8
)


def test_one_view_of_many_people_is_judged_at_once_and_tables_are_told_by_their_digits() -> None:
    for values in (3, 20):
        overlap = views_of([700_000], [[0]], values)
        verdict, seconds = asked(overlap, gamma="0.9")
        most = Fraction(int(overlap.shown.max()), 700_000)
        assert verdict.status == "holds" and verdict.measured["gamma"] == most and seconds < 5
        assert "worlds" not in verdict.measured and verdict.measured["worlds_digits"] > 100_000
        assert (
            stages(OverlapQuestion(("v",), "t", ("k",), "c", (), overlap)).last.largest[0].least
            == most
        )
    few = views_of([2000], [[0]], 3)
    tables = asked(few, gamma="0.9")[0].measured["worlds"]
    assert tables == factorial(2000) // prod(factorial(int(one)) for one in few.shown)
    assert len(str(tables)) == beliefs(few).digits


def test_two_large_views_are_counted_quickly_and_exactly() -> None:
    overlap = views_of([30_000, 50, 30_000], [[0], [0, 1], [1]], 2)
    verdict, seconds = asked(overlap, gamma="0.9")
    first, second = int(overlap.shown[1]), int(overlap.shown[3])
    weights = [comb(50, x) * comb(30_000, first - x) * comb(30_000, second - x) for x in (0, 1)]
    ratio = [Fraction(weights[1], weights[0])]
    for x in range(1, 50):  # from one number of people in both views to the next
        ratio.append(
            ratio[-1]
            * Fraction(
                (50 - x) * (first - x) * (second - x),
                (x + 1) * (30_000 - first + x + 1) * (30_000 - second + x + 1),
            )
        )
    average = sum(x * one for x, one in enumerate(ratio, 1)) / (1 + sum(ratio))
    assert verdict.status == "holds" and seconds < 20
    assert beliefs(overlap).share(1, 0) == (average / 50, average / 50)


def test_parts_with_the_same_sums_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = views_of([2, 3, 2], [[0], [0, 1], [1]], 3)
    counts = []
    monkeypatch.setattr(
        "tacit.families.overlaps.counting.average_beliefs.averaged",
        lambda part, job: counts.append(part) or averaged(part, job),
    )
    alone, both = beliefs(one), beliefs(beside(one, one))
    assert len(counts) == 2 and alone.tables is not None and both.tables == alone.tables**2
    assert all(
        both.share(class_ + 3, value) == alone.share(class_, value)
        for class_ in range(3)
        for value in range(3)
    )


def test_what_is_not_counted_in_time_is_undecided_and_says_what_to_do() -> None:
    for seconds in (0.01, 0.4):
        verdict, took = asked(HARD, gamma="0.9", seconds=seconds)
        assert (
            isinstance(verdict.evidence, Reason)
            and verdict.status == "undecided"
            and verdict.evidence.code == "time"
        )
        assert (
            f"Allow more than {seconds:g} with seconds:, or tables to be drawn"
            in verdict.evidence.text
            and took < seconds + 3
        )


def test_what_is_not_counted_in_time_is_drawn_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overlap = views_of([9, 5, 9], [[0], [0, 1], [1]], 3)
    exact = asked(overlap, gamma="0.9")[0]

    def late(part: object, job: object) -> None:
        raise OutOfTime

    monkeypatch.setattr("tacit.families.overlaps.counting.average_beliefs.averaged", late)
    verdict = asked(overlap, gamma="0.9", epsilon="0.05", theta="0.95")[0]
    assert exact.status == verdict.status == "holds" and verdict.certainty == "statistical"
    told = asked(overlap, gamma="0.9")[0].evidence
    assert (
        isinstance(told, Reason)
        and told.code == "time"
        and "before the tables that fit were counted. Allow" in told.text
    )


def test_a_breach_in_what_was_counted_is_told_although_the_time_was_up_for_the_rest() -> None:
    sure = views_of([3], [[0]], 8)
    verdict, seconds = asked(beside(sure, HARD), gamma="1/8", seconds=0.5)
    assert verdict.status == "breached" and "at least" in verdict.because and seconds < 4
    assert verdict.measured["gamma"] >= Fraction(1, 3)


def test_quotients_of_factorials_are_right() -> None:
    rng = random.Random(5)
    for _ in range(200):
        above, below = ([rng.randrange(50) for _ in range(rng.randrange(5))] for _ in range(2))
        true = Fraction(prod(map(factorial, above)), prod(map(factorial, below)))
        assert quotient(above, below) == (true.numerator, true.denominator)
        assert bits(above) == pytest.approx(log2(prod(map(factorial, above))), abs=1e-9)


def test_numbers_of_ways_follow_from_one_another() -> None:
    pairs = sorted({(n, x) for n in range(12) for x in range(n + 2) if (n + x) % 3 or n > 6})
    assert list(layers._combinations(pairs)) == [comb(n, x) for n, x in pairs]


def test_states_are_told_apart_however_many_digits_they_have() -> None:
    rng = np.random.default_rng(2)
    for most in (2, 1000, 10**7):
        rows = rng.integers(0, most, (30, 25))[rng.integers(0, 30, 90)]
        found, which = np.unique(rows, axis=0, return_inverse=True)
        states, target = layers._distinct(rows)
        assert states.tolist() == found.tolist() and target.tolist() == which.reshape(-1).tolist()


def test_products_in_one_variable_are_those_of_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    (part,) = system_of(views_of([4, 3, 4], [[0], [0, 1], [1]], 2)).parts
    rounded = products.Rounded(part)
    for _ in range(30):
        start, wide = rng.integers(0, 4, 3).tolist(), rng.integers(1, 9, 3).tolist()
        windows = [products.PowerWindow((a,), (a + b,)) for a, b in zip(start, wide, strict=True)]
        one, other = (
            products.Polynomial(window, ScaledNumbers(rng.random(window.shape)))
            for window in windows[:2]
        )
        kept = products.PowerWindow(
            (start[0] + start[1] + start[2] - 2,), (start[0] + start[1] + start[2] - 2 + wide[2],)
        )
        quick = products.product(one, other, kept, rounded).numbers
        with monkeypatch.context() as patched:
            patched.setattr(products, "INNER", 0)
            slow = products.product(one, other, kept, rounded).numbers
        assert np.allclose(quick.part, slow.part) and (quick.roundings, quick.lost) == (
            slow.roundings,
            slow.lost,
        )


def test_a_long_matrix_product_is_done_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    one, other = rng.integers(0, 9, (7, 5)).astype(float), rng.integers(0, 9, (5, 3)).astype(float)
    monkeypatch.setattr("tacit.families.overlaps.counting.arithmetic.AT_ONCE", 40)
    room = np.empty((7, 3))
    assert (
        (multiplied(one, other) == one @ other).all()
        and multiplied(one, other, room) is room
        and (room == one @ other).all()
    )
