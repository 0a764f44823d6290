"""The oracle of overlapping views against what was printed, what was computed elsewhere, and
itself done slowly.
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import random
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import factorial, prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from oracles import overlap
from oracles.overlap import Judge, View, by_members, only_keys
from oracles.overlap_cases import (
    AIMS,
    GAMMA,
    KINDS,
    PRIVATE,
    SIND,
    Case,
    all_ranges,
    case,
    cases,
    classes,
)

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("TACIT_CASES") or HERE.parents[2] / "shared" / "cases") / "tables.json"
TABLES: list[dict[str, Any]] = (
    json.loads(SHARED.read_text("utf-8"))["cases"] if SHARED.is_file() else []
)
HALF = Fraction(1, 2)


def named(kind: str) -> Any:
    found = [pytest.param(one, id=one["name"]) for one in TABLES if one["kind"] == kind]
    return found or [
        pytest.param(
            None,
            marks=pytest.mark.skip(reason="no tables.json in the folder that TACIT_CASES names"),
        )
    ]


def frozen(sets: Sequence[Sequence[Any]]) -> set[frozenset[Any]]:
    return {frozenset(one) for one in sets}


# -- values computed elsewhere ---------------------------------------------------------------------


@pytest.mark.parametrize("given", named("gamma"))
def test_gamma_cases(given: dict[str, Any]) -> None:
    found = overlap.from_members([(view["members"], view["values"]) for view in given["views"]])
    assert found.count == given["count"]
    expected = given["posteriors"] if given["count"] else {}
    assert found.posteriors == {
        key: {value: Fraction(share) for value, share in shares.items()}
        for key, shares in expected.items()
    }
    assert found.largest == (Fraction(given["max_posterior"]) if given["max_posterior"] else None)


def view_of(given: Mapping[str, Any], name: str) -> View:
    cells = {tuple(cell) for cell in given["cells"]} if "cells" in given else None
    where = given.get("where", {})

    def selects(row: Mapping[str, Any], value: Any) -> bool:
        if cells is not None:
            return (row["id"], value) in cells
        return all(({**row, "P": value})[column] in allowed for column, allowed in where.items())

    return View(name, selects, tuple(given["project"]), given["projectP"])


@pytest.mark.parametrize("given", named("sind"))
def test_sind_cases(given: dict[str, Any]) -> None:
    people = {
        number: dict(zip(given["attributes"], row, strict=True))
        for number, row in enumerate(given["B"])
    }
    truth = dict(enumerate(given["P"]))
    views = [view_of(view, f"v{number}") for number, view in enumerate(given["views"])]
    found = overlap.fitting_the_truth(people, truth, views, given["dom"])
    assert len(found.tables) == given["instances"]
    possible = [sorted({table[key] for table in found.tables}) for key in people]
    assert possible == given["possible_values"]
    assert found.partition() == given["sind_partition"]
    assert overlap.level(found.partition()) == given["k_sind_level"]
    careful = overlap.conservative_partition(people, views, given["dom"])
    assert (careful, overlap.level(careful)) == (
        given["conservative_partition"],
        given["conservative_level"],
    )
    assert (
        overlap.rsind(people, truth, views, given["dom"], diverse=False)[0]
        == given["k_rsind_level_def4"]
    )
    assert overlap.rsind(people, truth, views, given["dom"])[0] == given["k_rsind_level_diverse"]
    assert all(
        overlap.rsind_set(found, truth, one, diverse=False) for one in given["k_rsind_witness"]
    )
    printed = [
        list(pair)
        for pair in itertools.combinations(people, 2)
        if overlap.printed_csind(people, truth, views, *pair)
    ]
    assert printed == given["csind_edges_printed"]
    assert all(view.shows_private for view in views) == given["all_views_project_P"]


# -- gamma-privacy in the paper --------------------------------------------------------------------

PATIENTS = {
    "Alan": ("M", 23, "Heart"),
    "Bob": ("M", 24, "SARS"),
    "Clark": ("M", 25, "Viral"),
    "Donald": ("M", 26, "SARS"),
    "Ellen": ("F", 27, "Viral"),
    "Fen": ("F", 28, "SARS"),
    "Garcia": ("F", 28, "Flu"),
}
PUBLIC = {name: {"name": name, "sex": sex, "age": age} for name, (sex, age, _) in PATIENTS.items()}
ILL = {name: row[-1] for name, row in PATIENTS.items()}


def aged(low: int, high: int) -> View:
    return View(f"{low} to {high}", lambda row, value: low <= row["age"] <= high)


MALE = View("male", lambda row, value: row["sex"] == "M")
BOTH = [MALE, aged(26, 28)]


def believed(*views: View) -> overlap.Beliefs:
    return overlap.gamma(PUBLIC, views, overlap.answers(PUBLIC, ILL, views))


def test_the_paper_counts_45_tables() -> None:
    found = believed(*BOTH)
    assert found.count == 45
    assert found.posteriors["Donald"] == {"SARS": Fraction(4, 5), "Viral": Fraction(1, 5)}
    for name in ("Alan", "Bob", "Clark"):
        shares = {"Heart": Fraction(1, 3), "SARS": Fraction(2, 5), "Viral": Fraction(4, 15)}
        assert found.posteriors[name] == shares
    for name in ("Ellen", "Fen", "Garcia"):
        shares = {"Flu": Fraction(1, 3), "SARS": Fraction(2, 5), "Viral": Fraction(4, 15)}
        assert found.posteriors[name] == shares
    assert found.above(HALF) == {"Donald": {"SARS": Fraction(4, 5)}}
    assert not found.private(HALF)
    assert found.private(Fraction(4, 5))


def test_each_view_alone_is_private() -> None:
    for view in BOTH:
        assert (believed(view).count, believed(view).largest) == (12, HALF)
    assert set(believed(MALE).posteriors) == {"Alan", "Bob", "Clark", "Donald"}


def test_both_further_views_restore() -> None:
    """8 tables, where the paper prints 4."""
    found = believed(*BOTH, aged(25, 26), aged(26, 27))
    assert found.count == 8
    assert {share for shares in found.posteriors.values() for share in shares.values()} == {HALF}


def test_the_fewest_further_views() -> None:
    """Of all ranges of ages none restores alone, and the paper's
    pair is one of the pairs that do.
    """
    ranges = [
        aged(low, high) for low, high in itertools.combinations_with_replacement(range(23, 29), 2)
    ]
    found = overlap.restorations(PUBLIC, ILL, BOTH, ranges, HALF, 2)
    pairs = {frozenset(ranges[place].name for place in chosen) for chosen in found}
    assert all(len(pair) == 2 for pair in pairs)
    assert frozenset(["25 to 26", "26 to 27"]) in pairs
    assert overlap.restorations(PUBLIC, ILL, BOTH, ranges, HALF, 1) == []
    assert overlap.restorations(PUBLIC, ILL, BOTH, ranges, Fraction(4, 5), 2) == [()]
    sure = [*BOTH, aged(26, 26)]
    assert overlap.restorations(PUBLIC, ILL, sure, ranges, Fraction(99, 100), 2) == []


def test_views_that_no_table_fits() -> None:
    """Half of each value for everybody would solve the equations."""
    found = overlap.from_members([("ab", "xy"), ("bc", "xy"), ("ac", "xy")])
    assert (found.count, found.posteriors, found.largest) == (0, {}, None)
    with pytest.raises(ValueError, match="no table fits"):
        found.private(HALF)


def test_people_in_no_view_are_left_out() -> None:
    people = only_keys("abc")
    views = [by_members("v", "ab")]
    found = overlap.gamma(people, views, [Counter([("x",), ("y",)])])
    assert (found.count, set(found.posteriors)) == (2, {"a", "b"})
    assert overlap.gamma(people, [by_members("v", "")], [Counter()]) == overlap.Beliefs(1, {})
    assert (
        overlap.gamma(
            people, [by_members("v", "ab", shows_private=False)], [Counter({(): 2})]
        ).count
        == 1
    )


def test_a_declared_domain_matters_where_a_view_hides_the_value() -> None:
    people = only_keys("abc")
    views = [by_members("v", "ab"), by_members("w", "bc", shows_private=False)]
    given: list[overlap.Answer] = [Counter([("x",), ("y",)]), Counter({(): 2})]
    found = overlap.gamma(people, views, given)
    assert (found.count, found.posteriors["c"]) == (4, {"x": HALF, "y": HALF})
    found = overlap.gamma(people, views, given, ("x", "y", "z"))
    assert (found.count, found.posteriors["c"]["z"]) == (6, Fraction(1, 3))
    assert set(found.posteriors["a"]) == {"x", "y"}


def test_claim_1() -> None:
    """One view is gamma-private iff it is recursive (gamma/(1-gamma),
    2)-diverse, with <= (errata 25).
    """
    gammas = [Fraction(one, other) for other in range(2, 8) for one in range(1, other)]
    for size in range(1, 7):
        for values in itertools.combinations_with_replacement("wxyz", size):
            counts = sorted(Counter(values).values(), reverse=True)
            found = overlap.from_members([(range(size), values)])
            assert found.count == factorial(size) // prod(map(factorial, counts))
            for gamma in gammas:
                assert found.private(gamma) == (counts[0] <= gamma / (1 - gamma) * sum(counts[1:]))


# -- adversaries who know the procedure ------------------------------------------------------------


def test_silence_speaks_to_those_who_know_why() -> None:
    """Publish a's value only where it is x: where nothing is published, a has y."""
    people, views = only_keys("ab"), [by_members("v", "ab")]
    alone = by_members("a", "a")
    for truth, belief in (({"a": "x", "b": "y"}, "x"), ({"a": "y", "b": "x"}, "y")):
        found = overlap.aware(
            people, truth, views, lambda table: [alone] if table["a"] == "x" else []
        )
        assert found == overlap.Beliefs(
            1, {"a": {belief: Fraction(1)}, "b": {"xy".replace(belief, ""): Fraction(1)}}
        )


def always(views: list[View]) -> overlap.Procedure:
    return lambda table: views


def test_a_procedure_that_always_does_the_same_says_nothing() -> None:
    for one in cases(["restore"], 15):
        further = one.candidate_views[:1]
        found = overlap.aware(one.people, one.truth, one.views, always(further), one.domain)
        views = [*one.views, *further]
        given = overlap.answers(one.people, one.truth, views)
        assert found.posteriors == overlap.gamma(one.people, views, given, one.domain).posteriors


def test_the_paper_s_restoration_against_those_who_know_it() -> None:
    ranges = [aged(25, 26), aged(26, 27)]
    procedure = overlap.first_restoration(PUBLIC, BOTH, ranges, HALF, 2)
    assert [view.name for view in procedure(ILL)] == ["25 to 26", "26 to 27"]
    found = overlap.aware(PUBLIC, ILL, BOTH, procedure)
    # The eight tables are alike: for each of them the same two views restore.
    assert (found.count, found.largest) == (8, HALF)


def test_knowing_the_procedure_can_tell_more() -> None:
    """Four tables fit and all is 1/2. In one of them the first candidate would have done, so it
    is another one.
    """
    people, truth = (
        only_keys("gedbc"),
        dict(zip("gedbc", ["hiv", "flu", "hiv", "flu", "asthma"], strict=True)),
    )
    disclosed = [by_members("v", "ge"), by_members("w", "edbc")]
    candidates = [by_members("first", "gedb"), by_members("second", "bc")]
    assert overlap.gamma(
        people, disclosed, overlap.answers(people, truth, disclosed)
    ).largest == Fraction(2, 3)
    assert overlap.restorations(people, truth, disclosed, candidates, HALF, 1) == [(1,)]
    views = [*disclosed, candidates[1]]
    plain = overlap.gamma(people, views, overlap.answers(people, truth, views))
    assert (plain.count, plain.largest) == (4, HALF)
    procedure = overlap.first_restoration(people, disclosed, candidates, HALF, 1)
    found = overlap.aware(people, truth, disclosed, procedure)
    assert (found.count, found.largest) == (3, Fraction(2, 3))
    assert all(
        set(shares) <= set(plain.posteriors[key]) for key, shares in found.posteriors.items()
    )


# -- indistinguishability in the paper -------------------------------------------------------------

FIGURE_1 = {
    "t1": ("22030", 39, "White", "Male", "Cold"),
    "t2": ("22030", 50, "White", "Male", "AIDS"),
    "t3": ("22030", 38, "White", "Male", "Obesity"),
    "t4": ("22030", 53, "Black", "Male", "AIDS"),
    "t5": ("22031", 28, "Black", "Female", "Chest Pain"),
    "t6": ("22031", 37, "White", "Female", "Hypertension"),
    "t7": ("22031", 49, "Black", "Female", "Obesity"),
    "t8": ("22031", 52, "White", "Male", "Cold"),
    "t9": ("22032", 30, "Asian", "Male", "Hypertension"),
    "t10": ("22032", 40, "Asian", "Male", "Chest Pain"),
    "t11": ("22033", 30, "White", "Male", "Hypertension"),
    "t12": ("22033", 40, "White", "Male", "Chest Pain"),
}
COLUMNS = ("zip", "age", "race", "gender")
EVERYBODY = {
    name: {"id": name, **dict(zip(COLUMNS, row[:-1], strict=True))}
    for name, row in FIGURE_1.items()
}
PROBLEM = {name: row[-1] for name, row in FIGURE_1.items()}


def some(*names: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return {name: EVERYBODY[name] for name in names}, {name: PROBLEM[name] for name in names}


def test_figure_2() -> None:
    view = View("zip", lambda row, value: row["zip"] in ("22032", "22033"), ("zip",))
    people, truth = some("t9", "t10", "t11", "t12")
    for domain in (None, ("Hypertension", "Chest Pain", "Cold")):
        found = overlap.fitting_the_truth(people, truth, [view], domain)
        assert len(found.tables) == 4
        assert found.partition() == [["t9", "t10"], ["t11", "t12"]]
        assert not found.sind("t9", "t11")
    problems = sorted(set(PROBLEM.values()))
    assert frozen(overlap.conservative_partition(EVERYBODY, [view], problems)) == frozen(
        [["t9", "t10"], ["t11", "t12"], [f"t{number}" for number in range(1, 9)]]
    )


FIGURE_3 = [
    View("zip", lambda row, value: row["zip"] == "22030"),
    View("none", lambda row, value: row["id"] == "t1" and value == "Obesity"),
]


def test_figure_3() -> None:
    people, truth = some("t1", "t2", "t3", "t4")
    assert overlap.answers(people, truth, FIGURE_3)[1] == Counter()
    first = overlap.fitting_the_truth(people, truth, FIGURE_3[:1])
    assert (len(first.tables), first.partition()) == (12, [list(people)])
    found = overlap.fitting_the_truth(people, truth, FIGURE_3)
    assert {table["t1"] for table in found.tables} == {"Cold", "AIDS"}
    assert {table["t2"] for table in found.tables} == {"Cold", "AIDS", "Obesity"}
    assert found.partition() == [["t1"], ["t2", "t3", "t4"]]
    assert found.rsind("t1", "t2", ("Cold", "AIDS"))
    assert found.rsind("t3", "t4", ("Cold", "AIDS", "Obesity"))
    assert not found.rsind("t1", "t3", ("Cold", "Obesity"))
    for diverse in (True, False):
        level, sets = overlap.rsind(people, truth, FIGURE_3, diverse=diverse)
        assert level == 2
        assert sets is not None and all(
            overlap.rsind_set(found, truth, one, diverse) for one in sets
        )
    assert all(
        overlap.rsind_set(found, truth, pair, diverse=True) for pair in (["t1", "t2"], ["t3", "t4"])
    )


def test_each_permutation_of_an_rsind_set_is_possible() -> None:
    """After Proposition 3: t2, t3 and t4 with Obesity, AIDS and AIDS in all three orders."""
    people, truth = some("t1", "t2", "t3", "t4")
    found = overlap.fitting_the_truth(people, truth, FIGURE_3)
    seen = {(table["t2"], table["t3"], table["t4"]) for table in found.tables}
    assert set(itertools.permutations(("Obesity", "AIDS", "AIDS"))) <= seen


FIGURE_4 = [
    View("race", lambda row, value: row["zip"] == "22030", ("race",)),
    View("gender", lambda row, value: row["race"] == "White", ("gender",)),
]
PANELS = [
    [["t1", "t2", "t3"], ["t4"], [f"t{number}" for number in range(5, 13)]],
    # Errata 17: t6 is in the second set only.
    [["t1", "t2", "t3", "t8", "t11", "t12"], ["t6"], ["t4", "t5", "t7", "t9", "t10"]],
    [["t1", "t2", "t3"], ["t4"], ["t5", "t7", "t9", "t10"], ["t6"], ["t8", "t11", "t12"]],
]


def test_figure_4() -> None:
    """By output maps with all problems, and by Definition 1 with two,
    that 4,096 tables can be tried.
    """
    problems = sorted(set(PROBLEM.values()))
    two = {name: "x" if name in ("t1", "t4", "t5", "t8", "t9") else "y" for name in EVERYBODY}
    for views, sets in zip((FIGURE_4[:1], FIGURE_4[1:], FIGURE_4), PANELS, strict=True):
        assert frozen(overlap.conservative_partition(EVERYBODY, views, problems)) == frozen(sets)
        assert frozen(overlap.sind_partition(EVERYBODY, two, views)) == frozen(sets)
    assert overlap.level(PANELS[2]) == 1


def test_figure_5() -> None:
    """The graph of CSIND for Figure 3 is complete but for t1 and t3."""
    people, truth = some("t1", "t2", "t3", "t4")
    edges = [
        pair
        for pair in itertools.combinations(people, 2)
        if overlap.printed_csind(people, truth, FIGURE_3, *pair)
    ]
    assert edges == [("t1", "t2"), ("t1", "t4"), ("t2", "t3"), ("t2", "t4"), ("t3", "t4")]


def test_proposition_1() -> None:
    """k-anonymous groups, each released with its values, provide k-SIND."""
    rng = random.Random(1)
    for _ in range(200):
        keys = list(range(rng.randint(2, 7)))
        sizes = [rng.randint(2, 3)]
        while sum(sizes) + 1 < len(keys):
            sizes.append(rng.randint(2, 3))
        groups = [keys[sum(sizes[:place]) : sum(sizes[: place + 1])] for place in range(len(sizes))]
        groups[-1] += keys[sum(sizes) :]
        groups = [group for group in groups if group]
        truth = {key: rng.choice("xyz") for key in keys}
        views = [by_members(f"g{place}", group) for place, group in enumerate(groups)]
        found = overlap.fitting_the_truth(only_keys(keys), truth, views)
        assert all(found.sind(one, other) for group in groups for one in group for other in group)
        assert overlap.level(found.partition()) >= overlap.level(groups)


def test_errata_18_people_who_always_agree() -> None:
    people, truth = only_keys("abc"), dict(zip("abc", "xyx", strict=True))
    views = [by_members("v", "ab"), by_members("w", "bc")]
    assert overlap.sind_partition(people, truth, views) == [["a", "c"], ["b"]]


def test_errata_20_a_whole_table_is_rsind() -> None:
    people, truth = only_keys("abcde"), dict(zip("abcde", "xyxyy", strict=True))
    whole = [View("all", lambda row, value: True, ("key",))]
    assert overlap.rsind(people, truth, whole, diverse=False) == (2, [["a", "c"], ["b", "d", "e"]])
    assert overlap.rsind(people, truth, whole) == (0, None)


def test_errata_23_current_values_and_all_values() -> None:
    """Each two can swap their current values, but not all three
    values (the views do not show them).
    """
    people, truth = only_keys("abc"), dict(zip("abc", "xyz", strict=True))
    rng, seen = random.Random(2), 0
    for _ in range(4000):
        cells = [
            {cell for cell in itertools.product("abc", "xyz") if rng.random() < 0.5}
            for _ in range(2)
        ]
        views = [
            View("v", lambda row, value, one=one: (row["key"], value) in one, shows_private=False)  # type: ignore[misc]
            for one in cells
        ]
        found = overlap.fitting_the_truth(people, truth, views)
        pairs = list(itertools.combinations("abc", 2))
        if all(found.rsind(one, other, (truth[one], truth[other])) for one, other in pairs):
            seen += not overlap.rsind_set(found, truth, "abc", diverse=False)
    assert seen


# -- against itself, slowly ------------------------------------------------------------------------


def test_tables_are_found_as_by_trying_all() -> None:
    tried = 0
    for one in cases([*GAMMA, *SIND, "told"], 250):
        domain = one.sind_domain()
        if len(domain) ** len(one.rows) <= 300:
            tried += 1
            given = (one.people, domain, one.views, one.answers)
            assert overlap.instances(*given) == overlap.instances_slowly(*given), one
    assert tried > 90


def test_swaps_are_the_swap_equation() -> None:
    """Proposition 4: two people can swap iff both orders put the same into every view."""
    for one in cases(SIND, 200):
        found = one.instances()
        for first, second in itertools.combinations(one.people, 2):
            possible = {(table[first], table[second]) for table in found.tables}
            equation = all(
                puts(one, view, (first, p), (second, q)) == puts(one, view, (first, q), (second, p))
                for view in one.views
                for p, q in possible
            )
            assert found.sind(first, second) == equation, one


def puts(one: Case, view: View, *cells: tuple[Any, Any]) -> Counter[Any]:
    return overlap.answer(one.people, dict(cells), view)


def test_levels_are_related_as_proved() -> None:
    """Output maps are conservative; Proposition 2; diverse is at most literal;
    both are at most the people.
    """
    for one in cases(SIND, 200):
        sets = one.sind()
        careful = one.conservative()
        assert all(any(set(part) <= set(whole) for whole in sets) for part in careful), one
        literal, diverse = one.rsind(diverse=False)[0], one.rsind()[0]
        assert overlap.level(careful) <= overlap.level(sets) <= literal <= len(one.rows), one
        assert diverse <= literal, one
        if all(len({one.truth[key] for key in crowd}) > 1 for crowd in sets):
            assert overlap.level(sets) <= diverse, one


def test_errata_21_current_swaps_are_rsind_where_all_views_show_the_value() -> None:
    """CSIND with the edge between people of the same current value."""
    tried = 0
    for one in cases(SIND, 240):
        if all(view.shows_private for view in one.views):
            found = one.instances()
            tried += 1
            for first, second in itertools.combinations(one.people, 2):
                values = (one.truth[first], one.truth[second])
                same = values[0] == values[1]
                edge = same or overlap.printed_csind(
                    one.people, one.truth, one.views, first, second
                )
                assert found.rsind(first, second, values) == edge, one
    assert tried > 30


def test_restorations_are_found_as_by_judging_all_views_anew() -> None:
    seen: Counter[Any] = Counter()
    for one in cases(["restore", "gamma"], 60):
        candidates = one.candidate_views or [query.view("c") for query in all_ranges(one)[:6]]
        judge = Judge(one.people, one.truth, one.views, candidates, one.domain)
        for chosen in itertools.combinations(range(len(candidates)), 2):
            if sum(chosen) % 3 == 0:
                assert judge.beliefs(chosen) == judge.slowly(chosen), (str(one), chosen)
        seen.update("kept" if one is not None else "more" for one in judge.kept)
    assert min(seen["kept"], seen["more"]) > 30


def test_classes_are_counted_as_by_the_formula() -> None:
    """The sum of prod class! / prod x! over the solutions x of the equations of ALGORITHMS 3."""
    seen: Counter[str] = Counter()
    for number in range(200):
        one = classes(number)
        count, first = overlap.of_classes(one)
        seen["none" if count == 0 else "one" if count == 1 else "many"] += 1
        values = range(len(one.outputs[0]))
        rows = [list(itertools.combinations_with_replacement(values, size)) for size in one.sizes]
        total, weights = 0, [[Fraction(0) for _ in values] for _ in one.sizes]
        for chosen in itertools.product(*rows):
            put: list[Counter[Any]] = [Counter() for _ in one.given]
            for outputs, picked in zip(one.outputs, chosen, strict=True):
                for value in picked:
                    for view, row in enumerate(outputs[value]):
                        if row is not None:
                            put[view][row] += 1
            if put == [+Counter(given) for given in one.given]:
                counts = [Counter(picked) for picked in chosen]
                weight = prod(
                    factorial(size) // prod(map(factorial, x.values()))
                    for size, x in zip(one.sizes, counts, strict=True)
                )
                total += weight
                for place, (size, x) in enumerate(zip(one.sizes, counts, strict=True)):
                    for value in values:
                        weights[place][value] += weight * Fraction(x[value], size)
        assert count == total, one
        assert [list(map(Fraction, counts)) for counts in first] == weights, one
    assert min(seen.values()) > 20 and len(seen) == 3


# -- the cases themselves --------------------------------------------------------------------------


def test_a_case_is_made_from_its_kind_and_number() -> None:
    for kind in KINDS:
        one = case(kind, 7)
        assert eval(one.name) == case.__wrapped__(kind, 7) == one
    assert len({str(one).partition("\n")[2] for one in cases(GAMMA, 300)}) > 295


def test_all_sizes_of_beliefs_are_common() -> None:
    found = list(cases(GAMMA, 500))
    mix: Counter[str] = Counter()
    for one in found:
        largest = one.beliefs().largest or Fraction(0)
        mix.update(aim for aim, (low, high) in AIMS.items() if low < largest <= high)
        mix["outside"] += len(one.beliefs().posteriors) < len(one.rows)
        mix["nobody"] += any(not given for given in one.answers)
        mix["repeated"] += len({repr(given) for given in one.answers}) < len(one.answers)
        mix["unpublished"] += one.domain is not None and len(one.domain) > len(
            overlap.published(one.views, one.answers)
        )
        mix["hidden"] += any(not view.shows_private for view in one.views)
    assert all(mix[aim] > 75 for aim in AIMS), mix
    assert min(mix.values()) > 25, mix


def test_all_levels_are_common() -> None:
    found = list(cases(SIND, 300))
    levels = Counter(overlap.level(one.sind()) for one in found)
    assert min(levels[1], levels[2], levels[3]) > 40, levels
    diverse = Counter(one.rsind()[0] for one in found)
    assert min(diverse[0], diverse[2], diverse[3]) > 20, diverse
    assert sum(one.rsind(diverse=False)[0] > overlap.level(one.sind()) for one in found) > 30
    assert sum(frozen(one.sind()) != frozen(one.conservative()) for one in found) > 60


def test_answers_from_elsewhere_often_contradict() -> None:
    counts = [one.beliefs().count for one in cases(["told"], 300)]
    assert 90 < sum(count == 0 for count in counts) < 210


def test_restoration_often_takes_one_or_two_views() -> None:
    mix = Counter(
        len(found[0]) if (found := one.restorations(2)) else None for one in cases(["restore"], 50)
    )
    assert min(mix[None], mix[1], mix[2]) >= 5, mix


@pytest.mark.parametrize("kind", KINDS)
def test_sql_says_what_the_conditions_say(kind: str) -> None:
    """A database answers the plan's queries on the plan's rows as the oracle does."""
    for number in range(60 if kind != "restore" else 10):
        one = case(kind, number)
        plan = yaml.safe_load(yaml.safe_dump(one.to_plan(), sort_keys=False))
        table = plan["tables"]["people"]
        with sqlite3.connect(":memory:") as base:
            base.execute(f"CREATE TABLE people ({', '.join(table['columns'])})")
            base.executemany(
                f"INSERT INTO people VALUES ({', '.join('?' * len(table['columns']))})",
                table["rows"],
            )
            for place, release in enumerate(plan["releases"].values()):
                assert Counter(base.execute(release["query"])) == Counter(one.answer_rows(place)), (
                    one
                )
        true = replace(one, told=None)
        told = replace(
            one, told=tuple(tuple(one.answer_rows(place)) for place, _ in enumerate(one.queries))
        )
        assert told.answers == true.answers == overlap.answers(one.people, one.truth, one.views)


def test_a_plan_has_the_form_of_the_design() -> None:
    one = next(one for one in cases(["gamma-domain"], 50) if len(one.queries) > 1)
    plan = one.to_plan("gamma-privacy", gamma=Fraction(2, 3), answer_files=True)
    names = [f"v{place}" for place, _ in enumerate(one.queries, 1)]
    assert list(plan) == ["version", "tables", "releases", "checks"]
    assert plan["checks"] == [{"gamma-privacy": {"releases": names, "gamma": "2/3"}}]
    assert plan["tables"]["people"]["sensitive"] == [PRIVATE]
    assert plan["tables"]["people"]["domains"] == {PRIVATE: list(one.domain or ())}
    assert list(one.answer_files()) == [plan["releases"][name]["answer"] for name in names]
    for text, query, given in zip(
        one.answer_files().values(), one.queries, one.answers, strict=True
    ):
        head, *lines = text.splitlines()
        assert (head, len(lines)) == (",".join(query.columns or ("1",)), sum(given.values()))
    asked = one.to_plan("k-sind", "k-rsind", k=3, variant="literal")["checks"]
    assert asked == [
        {"k-sind": {"releases": names, "k": 3}},
        {"k-rsind": {"releases": names, "k": 3, "variant": "literal"}},
    ]


def test_all_ranges_are_all_sets_of_people_that_ranges_select() -> None:
    for one in cases(["restore"], 8):
        chosen = all_ranges(one, text=())
        members = {
            frozenset(overlap.covered(one.people, [query.view("v")], ["any"])) for query in chosen
        }
        ages = sorted({row["age"] for row in one.people.values()})
        assert len(members) == len(chosen) == len(ages) * (len(ages) + 1) // 2


@pytest.mark.parametrize("name", ["overlap.py", "overlap_cases.py"])
def test_the_oracle_shares_no_code_with_tacit(name: str) -> None:
    for node in ast.walk(ast.parse((HERE / name).read_text("utf-8"))):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not any(one.split(".")[0] == "tacit" for one in names)
