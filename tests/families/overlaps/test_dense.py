"""Counting by products of polynomials and class by class, against plain enumeration of all
numbers of people in the cells.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import factorial, prod
from types import ModuleType

import numpy as np
import pytest

from tacit.families.overlaps import overlap_cores
from tacit.families.overlaps.counting import (
    chain,
    enclosures,
    falling,
    layers,
    products,
    residues,
)
from tacit.families.overlaps.counting.arithmetic import Array, ScaledNumbers
from tacit.families.overlaps.counting.axis_parts import Factor, common, smallest
from tacit.families.overlaps.counting.expectations import Expected
from tacit.families.overlaps.counting.state_products import (
    ClassStates,
    kernels,
    passed,
    shares,
    unary,
)
from tacit.families.overlaps.overlap import Overlap, merged, overlap_of
from tacit.families.overlaps.system import NoTable, OpenPart, Sum, system_of
from tacit.model.jobs import Cancelled, Job

WAYS = (products, chain)
CASES, BATCH = 3200, 200


# -- enumeration ----------------------------------------------------------------------------------


def solutions(part: OpenPart) -> Iterator[tuple[int, ...]]:
    """All numbers of people in the cells that give every sum its total, tried cell by cell."""
    sums = [(set(one.cells.tolist()), one.total) for one in (*part.classes, *part.rows)]
    many = len(part.place)
    of = [
        [number for number, (cells, _) in enumerate(sums) if cell in cells] for cell in range(many)
    ]
    last = [max(cells) for cells, _ in sums]
    left, chosen = [total for _, total in sums], [0] * many

    def go_on(cell: int) -> Iterator[tuple[int, ...]]:
        if cell == many:
            yield tuple(chosen)
            return
        low = max([int(part.low[cell]), *(left[one] for one in of[cell] if last[one] == cell)])
        high = min([int(part.high[cell]), *(left[one] for one in of[cell])])
        for chosen[cell] in range(low, high + 1):
            for one in of[cell]:
                left[one] -= chosen[cell]
            yield from go_on(cell + 1)
            for one in of[cell]:
                left[one] += chosen[cell]

    return go_on(0)


def enumerated(part: OpenPart) -> tuple[int, list[int]]:
    """The number of tables, and the number of people in each cell summed over all of them."""
    tables, totals = 0, [0] * len(part.place)
    for people in solutions(part):
        many = prod(factorial(one.total) for one in part.classes) // prod(
            factorial(x) for x in people
        )
        tables += many
        totals = [total + many * x for total, x in zip(totals, people, strict=True)]
    return tables, totals


# -- random views ---------------------------------------------------------------------------------


def members(rng: random.Random, people: int, views: int) -> list[list[int]]:
    """Who is in which views: a chain, a star, a tree, anything, or ranges."""
    kind = rng.choice(["chain", "star", "tree", "any", "ranges", "nested"])
    if kind == "ranges":
        ends = [sorted(rng.choices(range(people + 1), k=2)) for _ in range(views)]
        return [
            [view for view, (start, stop) in enumerate(ends) if start <= person < stop]
            for person in range(people)
        ]
    kinds = {
        "chain": [[view, view + 1] for view in range(views - 1)],
        "star": [[0, view] for view in range(1, views)],
        "tree": [[rng.randrange(view), view] for view in range(1, views)],
        "any": [sorted(rng.sample(range(views), rng.randint(1, views))) for _ in range(4)],
        "nested": [list(range(view + 1)) for view in range(1, views)],
    }
    some = kinds[kind] + [[view] for view in range(views) if rng.random() < 0.9]
    return rng.choices(some or [[0]], k=people)


def random_views(number: int) -> Overlap:
    """A few people, values and views; now and then answers that no table gives."""
    rng = random.Random(number)
    many, views, people = rng.choice([2, 2, 3, 3, 4]), rng.randint(2, 4), rng.randint(5, 18)
    seen = members(rng, people, views)
    weights = rng.choice([[1, 1, 1, 1], [8, 4, 2, 1]])[:many]
    truth = rng.choices(range(many), weights, k=people)
    answers = [
        [truth[person] for person in range(people) if view in seen[person]] for view in range(views)
    ]
    if rng.random() < 0.05:
        answers = [[rng.randrange(many) for _ in answer] for answer in answers]
    return merged(overlap_of(range(many), answers, seen))


def chained(people: int, values: int, views: int, share: float, seed: int = 1) -> Overlap:
    """Views one after the other, each of which has so large a share of
    people in common with the next.
    """
    rng = random.Random(seed)
    wide = people / (views - (views - 1) * share)
    starts = [round(view * wide * (1 - share)) for view in range(views)]
    stops = [round(start + wide) for start in starts[:-1]] + [people]
    truth = rng.choices(range(values), k=people)
    answers = [truth[start:stop] for start, stop in zip(starts, stops, strict=True)]
    seen = [
        [view for view in range(views) if starts[view] <= person < stops[view]]
        for person in range(people)
    ]
    return merged(overlap_of(range(values), answers, seen))


def only_part(views: Overlap) -> OpenPart:
    (part,) = system_of(views).parts
    return part


# -- against enumeration --------------------------------------------------------------------------


def agrees(way: ModuleType, part: OpenPart, tables: int, totals: list[int]) -> bool:
    """Does a way of counting find these tables, exactly and between
    bounds? False where it does not apply.
    """
    try:
        if way.cost(part) is None or way.exact_cost(part) is None:
            return False
        exact, bounds = way.count(part), way.enclosed(part)
    except NoTable:
        assert tables == 0
        return True
    assert exact.tables == tables > 0
    assert list(exact.low) == list(exact.high) == [Fraction(total, tables) for total in totals]
    assert bounds.tables is None
    assert_between(bounds, exact)
    return True


def assert_between(bounds: Expected, exact: Expected, wide: Fraction = Fraction(1, 10**11)) -> None:
    for low, true, high in zip(bounds.low, exact.low, bounds.high, strict=True):
        assert low <= true <= high <= low + wide


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, CASES, BATCH))
def test_both_ways_find_what_enumeration_finds(start: int) -> None:
    applied = dict.fromkeys(WAYS, 0)
    for number in range(start, start + BATCH):
        try:
            system = system_of(random_views(number))
        except NoTable:
            continue
        for part in system.parts:
            tables, totals = enumerated(part)
            for way in WAYS:
                applied[way] += agrees(way, part, tables, totals)
    assert applied[products] > BATCH // 3
    assert applied[chain] > BATCH // 4


@pytest.mark.parametrize("number", range(0, 400, 40))
def test_tighter_bounds_of_cells_are_kept(number: int) -> None:
    """Bounds usually follow from the sums;
    where they say more, tables outside of them do not count.
    """
    for seed in range(number, number + 40):
        rng = random.Random(seed)
        try:
            parts = system_of(random_views(seed)).parts
        except NoTable:
            continue
        for part in parts:
            low = np.array(
                [
                    min(int(b), int(a) + rng.choice([0, 0, 0, 1]))
                    for a, b in zip(part.low, part.high, strict=True)
                ]
            )
            high = np.array(
                [
                    max(int(a), int(b) - rng.choice([0, 0, 0, 1]))
                    for a, b in zip(low, part.high, strict=True)
                ]
            )
            tighter = OpenPart(part.place, part.value, low, high, part.classes, part.rows)
            tables, totals = enumerated(tighter)
            for way in WAYS:
                agrees(way, tighter, tables, totals)


def test_a_ring_of_views_is_left_to_products() -> None:
    rng = random.Random(5)
    seen = [[0], [1], [2], [0, 1], [1, 2], [0, 2]] * 4
    truth = rng.choices("xy", k=len(seen))
    answers = [
        [truth[person] for person, views in enumerate(seen) if view in views] for view in range(3)
    ]
    part = only_part(merged(overlap_of("xy", answers, seen)))
    assert chain.cost(part) is None and chain.exact_cost(part) is None
    assert agrees(products, part, *enumerated(part))


def test_a_row_about_several_values_is_left_to_others() -> None:
    outputs = np.array([[[1, 1, 2], [0, 0, 0]], [[1, 1, 2], [3, 4, 4]], [[0, 0, 0], [3, 4, 4]]])
    views = Overlap(
        ("x", "y", "z"), ("v", "w"), outputs, np.array([3, 3, 3]), np.array([0, 4, 2, 2, 4])
    )
    assert [way.cost(part) for part in system_of(views).parts for way in WAYS] == [None, None]


def test_contradicting_sums_are_no_table() -> None:
    cells = np.arange(4)
    classes = (Sum(cells[:2], 2), Sum(cells[2:], 2))
    part = OpenPart(
        cells,
        np.array([0, 1, 0, 1]),
        np.zeros(4, np.int64),
        np.full(4, 2),
        classes,
        (Sum(cells[::2], 2), Sum(cells[1::2], 3)),
    )
    assert enumerated(part) == (0, [0] * 4)
    for way in WAYS:
        with pytest.raises(NoTable):
            way.cost(part)


# -- larger ones, and each way against the other ---------------------------------------------------


def test_ways_and_modes_agree_on_a_larger_chain() -> None:
    part = only_part(chained(120, 4, 4, 0.25))
    counts, bounds = [way.count(part) for way in WAYS], [way.enclosed(part) for way in WAYS]
    assert counts[0].tables == counts[1].tables and counts[0].low == counts[1].low
    for one in bounds:
        assert_between(one, counts[0], Fraction(1, 10**10))


def test_many_people_in_one_class_need_no_more_room_than_a_float_has() -> None:
    part = only_part(chained(1800, 3, 2, 0.6))
    exact = products.count(part)
    assert_between(products.enclosed(part), exact, Fraction(1, 10**8))
    assert exact.tables is not None and exact.tables.bit_length() > 1800


@pytest.mark.parametrize("number", range(12))
def test_bounds_hold_with_any_tilt_and_much_loss(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is set to 0 is made good in the upper bound, however much it is;
    a poor tilt makes it more.
    """
    part = only_part(chained(90, 3, 3, 0.4, seed=number))
    exact, found = products.count(part), smallest(part)
    assert found is not None
    if number % 2:
        rng = random.Random(number)
        poor = tuple((one, Fraction(rng.randint(1, 99), 16)) for one in (*part.classes, *part.rows))
        monkeypatch.setattr(enclosures, "tilts", lambda part: poor)
        enclosures.cell_tilts.cache_clear()
        enclosures._tables.cache_clear()
    for floor in (2.0**-70, 2.0**-50, 2.0**-36):
        rounded = enclosures.Rounded(part, floor)
        for marginals in (
            products.marginals(found, rounded),
            chain.marginals(chain._tree(part), rounded),
        ):
            for cell, (low, high) in enclosures.averages(part, marginals).items():
                assert low <= exact.low[cell] <= high
    enclosures.cell_tilts.cache_clear()
    enclosures._tables.cache_clear()


class AsWrongAsCanBe(enclosures.Rounded):
    """Arithmetic with 2^-24 in which every rounding is as wrong as
    it may be, always the same way.
    """

    way = 1

    def wrong(self, raw: Array, roundings: Array | int) -> Array:
        return raw * (1 - 2.0**-24) ** (-self.way * np.asarray(roundings))

    def dot(self, one: Array, other: Array, out: Array | None = None) -> Array:
        self.after_dot.append(True)
        found = self.wrong(one @ other, (one > 0).astype(float) @ (other > 0))
        if out is not None:
            out[:] = found
        return found

    def made(
        self, raw: Array, of: Sequence[ScaledNumbers], terms: int, roundings: int
    ) -> ScaledNumbers:
        raw = raw if self.after_dot else self.wrong(raw, roundings)
        self.after_dot.clear()
        return super().made(raw, of, terms, roundings)

    def weights(self, factor: Factor) -> ScaledNumbers:
        found = super().weights(factor)
        return ScaledNumbers(
            self.wrong(found.part, 3 * len(factor.cells)), found.roundings, found.lost
        )

    @property
    def after_dot(self) -> list[bool]:
        return AFTER_DOT


class AsLowAsCanBe(AsWrongAsCanBe):
    way = -1


AFTER_DOT: list[bool] = []


def used(got: ScaledNumbers, true: Array) -> float:
    """Which share of the roundings that are allowed the worst number has;
    fails where it is more than all.
    """
    kept = (true > 0) & (got.part > 0)
    power = np.round(np.log2(got.part[kept].max() / true[kept].max()))
    most = -got.roundings * np.log1p(-(2.0**-24))
    found = np.abs(np.log(got.part[kept] / true[kept] / 2.0**power)).max() / most
    assert found <= 1 + 1e-6
    return float(found)


@pytest.mark.parametrize("kind", [AsWrongAsCanBe, AsLowAsCanBe])
def test_no_rounding_is_forgotten(kind: type[AsWrongAsCanBe]) -> None:
    rng = np.random.default_rng(8)
    part = only_part(chained(40, 3, 3, 0.3))
    right, wrong = enclosures.Rounded(part, 2.0**-200), kind(part, 2.0**-200)
    windows = [products.PowerWindow((0, 0), shape) for shape in ((3, 4), (4, 2), (5, 3))]
    first, second, third = (
        products.Polynomial(one, ScaledNumbers(rng.random(one.shape))) for one in windows
    )
    both = []
    for arithmetic in (right, wrong):
        once = products.product(first, second, products.PowerWindow((0, 0), (6, 5)), arithmetic)
        both.append(
            products.product(once, third, products.PowerWindow((0, 0), (10, 7)), arithmetic).numbers
        )
    assert used(both[1], both[0].part) > 0.5
    source, target = (
        ClassStates(5, (5, 5, 3, 2), ((0,), (1, 2), (3,))),
        ClassStates(4, (4, 2, 2, 4), ((0,), (1, 2), (3,))),
    )
    tables = [
        ScaledNumbers(rng.random((a + 1, b + 1)))
        for a, b in zip(source.wide, target.wide, strict=True)
    ]
    own = [ScaledNumbers(rng.random(a + 1)) for a in source.wide]
    found = []
    for arithmetic in (right, wrong):
        weight, through = (
            unary(own, source, arithmetic),
            kernels(tables, source, target, arithmetic),
        )
        there = passed(weight, through, source, target, arithmetic)
        found.append([weight, *through, there, *shares(there, target, arithmetic)])
    assert all(used(got, one.part) > 0.3 for one, got in zip(*found, strict=True))
    tree = chain._tree(part)
    for axis in range(len(tree.layouts)):
        for one, got in zip(
            chain._own_weights(tree.shared, axis, right),
            chain._own_weights(tree.shared, axis, wrong),
            strict=True,
        ):
            assert used(got, one.part) > 0.9


@pytest.mark.parametrize("number", range(6))
def test_bounds_hold_when_every_rounding_goes_wrong(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = only_part(chained(30, 2 + number % 3, 2 + number // 3, 0.3, seed=number))
    exact, found = products.count(part), products._shared(part)
    assert found is not None
    monkeypatch.setattr(enclosures, "ROUNDED", 1 << 24)
    monkeypatch.setattr(enclosures, "MOST_ROUNDINGS", 1 << 17)
    for kind in (AsWrongAsCanBe, AsLowAsCanBe):
        for marginals in (
            products.marginals(found, kind(part)),
            chain.marginals(chain._tree(part), kind(part, 2.0**-150)),
        ):
            for cell, (low, high) in enclosures.averages(part, marginals).items():
                assert low <= exact.low[cell] <= high < low + Fraction(1, 500)


def test_what_is_lost_is_counted_as_often_as_it_is_used() -> None:
    part, floor = only_part(chained(30, 2, 2, 0.3)), 2.0**-60
    arithmetic = enclosures.Rounded(part, floor)
    tiny = np.full(400, floor * 0.9)
    tiny[-1] = 1.0
    window = products.PowerWindow((0,), (400,))
    lossy = arithmetic.made(tiny.copy(), [ScaledNumbers(tiny)], 1, 0)
    scale = lossy.part[-1]
    assert (lossy.part[:-1] == 0).all() and lossy.lost >= floor * 0.9 * scale
    got = products.product(
        products.Polynomial(window, lossy),
        products.Polynomial(window, ScaledNumbers(np.ones(400))),
        window,
        arithmetic,
    ).numbers
    true = np.cumsum(tiny)  # of which all but the last coefficient comes from what was lost
    assert (got.part[:-1] == 0).all()
    assert (true * got.part[-1] <= got.part + got.lost).all()


def test_more_than_can_be_counted_is_seen_at_once() -> None:
    part = only_part(chained(2000, 40, 5, 0.4))
    price = products.cost(part)
    assert price is not None and not price.is_affordable
    assert chain.cost(part) is None


# -- pieces of states -----------------------------------------------------------------------------


def cuts(many: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to cut some values into pieces."""
    for choice in range(1 << (many - 1)):
        ends = [place for place in range(1, many) if choice >> (place - 1) & 1]
        yield tuple(
            tuple(range(start, stop)) for start, stop in zip([0, *ends], [*ends, many], strict=True)
        )


def test_falling_powers_pass_on_what_pieces_do() -> None:
    """Chains at random: every marginal is the same modulo a prime."""
    edges_seen = 0
    for number in range(300):
        rng = random.Random(f"falling/{number}")
        people, views = rng.randint(6, 30), rng.randint(3, 5)
        share = rng.choice([0.1, 0.3, 0.5])
        try:
            parts = system_of(chained(people, rng.randint(2, 5), views, share, number)).parts
        except NoTable:
            continue
        for part in parts:
            if chain.cost(part) is None:
                continue
            tree = chain._tree(part)
            edges = falling.edges_of(tree.shared, tree.order)
            if not edges:
                continue
            edges_seen += len(edges)
            by_falling = falling.Falling(edges, tree.layouts, len(tree.shared.columns))
            (modulo,) = residues._moduli(part, residues.primes(1))
            once = chain.marginals(tree, modulo)
            again = chain.marginals(
                tree,
                modulo,
                on=lambda state, edge, by=by_falling, modulo=modulo: by.passed(state, edge, modulo),
            )
            for one, other in zip(once, again, strict=True):
                same = (one.weight.part - other.weight.part) % modulo.prime
                assert not same.any(), number
    assert edges_seen > 100


@pytest.mark.parametrize("number", range(6))
def test_however_values_are_cut_into_pieces_the_count_is_the_same(number: int) -> None:
    part = only_part(chained(50, 3 + number % 3, 3 + number // 3, 0.3, seed=number))
    tree = chain._tree(part)
    exact = products.count(part)
    (modulo,) = residues._moduli(part, residues.primes(1))
    once = residues._sums(part, modulo.prime, chain.marginals(tree, modulo))
    for pieces in cuts(len(tree.shared.columns)):
        layouts = tuple(ClassStates(one.total, one.wide, pieces) for one in tree.layouts)
        other = chain.AxisTree(tree.shared, layouts, tree.order)
        assert residues._sums(part, modulo.prime, chain.marginals(other, modulo)) == once
        rounded = enclosures.Rounded(part, 2.0 ** -(1000 // (len(pieces) + 1)))
        for cell, (low, high) in enclosures.averages(part, chain.marginals(other, rounded)).items():
            assert low <= exact.low[cell] <= high <= low + Fraction(1, 10**10)


def states(layout: ClassStates) -> list[tuple[int, ...]]:
    """The states of a class one by one, in the order that the layout says."""

    def from_piece(piece: int, total: int) -> Iterator[tuple[int, ...]]:
        if piece == len(layout.pieces):
            yield ()
            return
        for one, _ in layout.cut(piece, total):
            for own in layout.states[piece][layout.own(piece, one)].tolist():
                yield from ((*own, *rest) for rest in from_piece(piece + 1, total - one))

    return list(from_piece(0, layout.total))


def test_a_pass_is_the_sum_over_all_states() -> None:
    rng = np.random.default_rng(3)
    for number in range(60):
        many = 2 + number % 4
        pieces = list(cuts(many))[number % (1 << (many - 1))]
        source, target = (
            ClassStates(
                total, tuple(rng.integers(total // many + 1, total + 2, many).tolist()), pieces
            )
            for total in rng.integers(2, 6, 2).tolist()
        )
        tables = [
            ScaledNumbers(rng.random((a + 1, b + 1)))
            for a, b in zip(source.wide, target.wide, strict=True)
        ]
        own = [ScaledNumbers(rng.random(a + 1)) for a in source.wide]
        arithmetic = enclosures.Rounded(only_part(chained(30, 2, 2, 0.3)), 2.0**-150)
        here, there = states(source), states(target)
        assert len(here) == source.size == len(set(here)) and len(there) == target.size
        weight = unary(own, source, arithmetic).part
        plain = np.array(
            [prod(float(own[v].part[x]) for v, x in enumerate(state)) for state in here]
        )
        assert np.allclose(weight / weight.max(), plain / plain.max())
        got = passed(
            ScaledNumbers(weight),
            kernels(tables, source, target, arithmetic),
            source,
            target,
            arithmetic,
        ).part
        wanted = np.array(
            [
                sum(
                    w
                    * prod(
                        float(tables[v].part[x, y])
                        for v, (x, y) in enumerate(zip(a, b, strict=True))
                    )
                    for w, a in zip(weight, here, strict=True)
                )
                for b in there
            ]
        )
        assert np.allclose(got / got.max(), wanted / wanted.max())
        for piece, (share, values) in enumerate(
            zip(shares(ScaledNumbers(weight), source, arithmetic), pieces, strict=True)
        ):
            rows = [tuple(row) for row in source.states[piece].tolist()]
            parts = [
                sum(
                    w
                    for w, a in zip(weight, here, strict=True)
                    if tuple(a[v] for v in values) == row
                )
                for row in rows
            ]
            assert np.allclose(share.part / share.part.max(), np.array(parts) / max(parts))


# -- polynomials ----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_product_of_polynomials_is_that_of_its_terms(
    axes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(axes)
    part = only_part(chained(30, 2, 2, 0.3))
    for number in range(40):
        # Small limits, so that what is cut for being too large is cut here too.
        monkeypatch.setattr(products, "INNER", int(rng.choice([1, 3, 2000])))
        monkeypatch.setattr(products, "BAND", int(rng.choice([1, 20, 1 << 20])))
        windows = []
        for _ in range(3):
            start = rng.integers(0, 3, axes)
            windows.append(
                products.PowerWindow(
                    tuple(start.tolist()), tuple((start + rng.integers(1, 5, axes)).tolist())
                )
            )
        one, other, kept = windows
        a, b = (
            np.where(rng.random(window.shape) < 0.3, 0.0, rng.random(window.shape))
            for window in (one, other)
        )
        wanted = np.zeros(kept.shape)
        for x in np.argwhere(a):
            for y in np.argwhere(b):
                place = x + one.start + y + other.start - kept.start
                if (place >= 0).all() and (place < kept.shape).all():
                    wanted[tuple(place)] += a[tuple(x)] * b[tuple(y)]
        got = products.product(
            products.Polynomial(one, ScaledNumbers(a)),
            products.Polynomial(other, ScaledNumbers(b)),
            kept,
            enclosures.Rounded(part),
        ).numbers
        assert np.allclose(
            got.part / max(got.part.max(), 1e-9), wanted / max(wanted.max(), 1e-9)
        ), number


# -- numbers --------------------------------------------------------------------------------------


def test_weights_are_within_two_roundings() -> None:
    rng = random.Random(1)
    for _ in range(100):
        ratio, low, wide = (
            Fraction(rng.randint(1, 10**6), rng.randint(1, 10**6)),
            rng.randint(0, 50),
            rng.randint(0, 60),
        )
        mantissas, exponents = enclosures.powers(ratio, low, low + wide)
        first = ratio**low / factorial(low)
        for x in range(low, low + wide + 1):
            true = ratio**x / factorial(x) / first
            got = Fraction(float(mantissas[x - low])) * Fraction(2) ** int(exponents[x - low])
            assert abs(got / true - 1) <= Fraction(2, 1 << 53)


def test_residues_are_exact_up_to_the_last_digit_of_a_float() -> None:
    rng = np.random.default_rng(2)
    for prime in (*residues.primes(3), residues.primes(residues.MOST_PRIMES)[-1]):
        assert prime > 2**21.9
        edge = np.array(
            [0, 1, prime // 2, prime // 2 + 1, prime, (1 << 53) - prime, -(1 << 53) + prime],
            dtype=np.int64,
        )
        numbers = np.concatenate(
            [
                edge,
                rng.integers(-(1 << 53) + prime, (1 << 53) - prime, 2000),
                np.arange(1, 2000) * prime + prime // 2,
            ]
        )
        modulo = residues.Modulo(prime, [])
        got = modulo.tidy(numbers.astype(np.float64))
        assert np.abs(got).max() <= (1 << 21) + 8
        assert [int(one) % prime for one in got] == [one % prime for one in numbers.tolist()]
        one, other = (
            rng.integers(-(1 << 21), 1 << 21, shape).astype(np.float64)
            for shape in ((3, 5000), (5000, 2))
        )
        exact = one.astype(object).astype(int).astype(object) @ other.astype(object).astype(
            int
        ).astype(object)
        assert [int(x) % prime for x in modulo.dot(one, other).reshape(-1)] == [
            int(x) % prime for x in exact.reshape(-1)
        ]
    assert residues.LONGEST * ((1 << 21) + 8) ** 2 + (1 << 22) < 1 << 53


def test_remainders_give_numbers_back() -> None:
    rng = random.Random(4)
    own = residues.primes(37)
    numbers = [rng.randrange(prod(own)) for _ in range(20)] + [0, 1, prod(own) - 1]
    assert residues.remainders([[one % prime for prime in own] for one in numbers], own) == numbers


def test_enough_primes_are_taken() -> None:
    """The weighted number is below the product of all primes but a few:
    neither too few nor twice as many as needed.
    """
    for part in (
        only_part(chained(200, 4, 3, 0.2)),
        only_part(chained(300, 3, 2, 0.5)),
        only_part(chained(60, 5, 4, 0.1)),
    ):
        found = smallest(part)
        assert found is not None
        many, tables = residues.needed(found), products.count(part).tables
        assert many is not None and tables is not None
        weighted = (
            tables
            * prod(map(factorial, residues._divisor(found)))
            // prod(factorial(one.total) for one in part.classes)
        )
        assert weighted * int(part.high.max()) < prod(residues.primes(many))
        assert many <= 2 * weighted.bit_length() / residues.BITS + 8


def test_axes_are_the_fewest_points() -> None:
    part = only_part(chained(100, 3, 3, 0.3))
    sizes = {one.total for one in part.classes}
    for found in (smallest(part), common(part)):
        assert found is not None and len(found.axes) == 2 and set(found.totals()) <= sizes


# -- jobs and cores -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_progress_is_told_and_a_count_can_be_stopped(way: ModuleType) -> None:
    part = only_part(chained(120, 4, 4, 0.2))
    for ask in (way.count, way.enclosed):
        told: list[float] = []
        ask(part, Job(tell=lambda text, share, told=told: told.append(share)))
        assert len(told) > 2 and told == sorted(told) and told[0] >= 0 and told[-1] <= 1
        stopped = Job()
        stopped.cancel()
        with pytest.raises(Cancelled):
            ask(part, stopped)


def test_work_on_all_cores_comes_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap_cores, "CORES", 3)
    assert list(
        overlap_cores.each(lambda x: list(overlap_cores.each(lambda y: x * y, range(3))), range(20))
    ) == [[0, x, 2 * x] for x in range(20)]
    with pytest.raises(ZeroDivisionError):
        list(overlap_cores.each(lambda x: 1 // (x - 3), range(20)))
    rest = overlap_cores.each(lambda x: x, range(1000))
    assert next(rest) == 0
    rest.close()


def test_matrix_products_keep_to_one_core_and_are_free_again() -> None:
    switch = overlap_cores._switch()
    if switch is None:
        pytest.skip("numpy's linear algebra has no such switch here")
    before = switch[0]()
    with overlap_cores.one_core_each():
        assert switch[0]() == 1
    assert switch[0]() == before


@pytest.mark.parametrize("way", [layers, products, chain])
def test_axes_that_do_not_hang_together(way: ModuleType) -> None:
    """Two shared classes whose values never meet, in one part because of a class between them:
    3 x 6 tables, not 6.
    """
    truth, views = [3, 1, 3, 1, 2, 2, 0, 0], [[0, 2, 5], [0, 1, 4, 6], [3, 6, 7]]
    members = [
        [number for number, some in enumerate(views) if person in some] for person in range(8)
    ]
    [part] = system_of(
        merged(
            overlap_of(range(4), [[truth[person] for person in some] for some in views], members)
        )
    ).parts
    if way is layers or way.cost(part) is not None:
        assert way.count(part).tables == 18
