"""Restoring gamma-privacy against brute force: found if and only if it exists, the fewest views,
and right about "none".
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles import overlap, overlap_cases
from oracles.overlap_cases import GAMMA, Case, Query, Within, cases
from tacit.families.overlaps.counting.average_beliefs import beliefs
from tacit.families.overlaps.overlap import Overlap
from tacit.families.overlaps.restore.aware_adversary import aware, drawn_tables
from tacit.families.overlaps.restore.candidates import Between, OneOf, candidates
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews, Flags, extended
from tacit.families.overlaps.restore.fair_shares import is_unfair, unfair_part
from tacit.families.overlaps.restore.judging_views import CandidateJudge
from tacit.families.overlaps.restore.restorations import Limits, Restoration
from tacit.families.overlaps.restore.restore import restored
from tacit.families.overlaps.restore.robust_views import withstanding
from tacit.families.overlaps.restore.table_listing import Lists
from tacit.families.overlaps.system import system_of
from tacit.model.jobs import Cancelled, Job
from thorough import THOROUGH

HALF = Fraction(1, 2)
case = cache(overlap_cases.case)  # drawing a case takes longer than restoring it


def disclosed(case: Case, gamma: Fraction, truth: dict[Any, Any] | None = None) -> DisclosedViews:
    """What a case has out, with everybody's true value:
    every view is looked at for every person and value.
    """
    truth = case.truth if truth is None else truth
    given = overlap.answers(case.people, truth, case.views)
    known = list(case.domain if case.domain is not None else overlap.published(case.views, given))
    values = [*known, *sorted(set(truth.values()) - set(known))]
    covered = overlap.covered(case.people, case.views, known)
    rows: dict[Any, int] = {
        (view, row): at
        for at, (view, row) in enumerate(((v, r) for v, a in enumerate(given) for r in a), 1)
    }
    shown = [0, *(many for answer in given for many in answer.values())]
    classes: dict[Any, int] = {}
    class_of = []
    for key, public in case.people.items():
        maps = []
        for number, view in enumerate(case.views):
            put = [view.puts(public, value) for value in known]
            for one in put:
                if one is not None and (number, one) not in rows:
                    rows[number, one] = len(shown)
                    shown.append(0)
            maps.append(tuple(0 if one is None else rows[number, one] for one in put))
        class_of.append(classes.setdefault(tuple(maps), len(classes)) if key in covered else -1)
    outputs = np.array(list(classes), dtype=np.int64).reshape(
        len(classes), len(case.views), len(known)
    )
    sizes = np.bincount([one for one in class_of if one >= 0], minlength=len(classes))
    names = tuple(view.name for view in case.views)
    return DisclosedViews(
        Overlap(tuple(known), names, outputs, sizes, np.array(shown)),
        np.array(class_of),
        np.array([values.index(truth[key]) for key in case.people]),
        gamma,
        tuple((value,) for value in range(len(values))),
    )


def members_of(case: Case, views: Sequence[overlap.View]) -> Flags:
    """Whom further views show; their conditions do not look at the private value."""
    found = [[view.puts(row, None) is not None for row in case.people.values()] for view in views]
    return np.array(found, dtype=bool).reshape(len(views), len(case.people))


def agrees(
    case: Case, found: Restoration, wanted: list[tuple[int, ...]], judge: overlap.Judge
) -> None:
    """Is this what brute force says?"""
    before = judge.beliefs(())
    assert (found.before, found.tables_before) == (before.largest, before.count)
    for one in found.tallies:
        assert one.sets == sum(one.ruled_out.values()) + one.judged + one.left, one
    if wanted == [()]:
        assert found.status == "holds"
    elif not wanted:
        assert found.status in ("none", "impossible") and found.proved
    else:
        assert found.status == "restored" and found.proved and len(found.views) == len(wanted[0]), (
            wanted
        )
        after = judge.beliefs(found.views)
        assert after.private(case.gamma_wanted) and (found.after, found.tables_after) == (
            after.largest,
            after.count,
        )
        if found.most_tables:
            many = len({*case.truth.values(), *(case.domain or ())})
            assert kept(after, many) == max(kept(judge.beliefs(one), many) for one in wanted)


def kept(found: overlap.Beliefs, values: int) -> Fraction:
    """How many tables fit, over how many there are: people in no view may have any value."""
    return Fraction(found.count, values ** len(found.posteriors))


WAYS: list[dict[str, Any]] = [
    {},
    {"pruned": False},
    {"order": "blind", "seed": 3},
    {"order": "blind", "pruned": False},
]


def searched(case: Case, *, most: int = 2) -> Iterator[Restoration]:
    """The search in all its ways, by lists and by counting."""
    out, members = disclosed(case, case.gamma_wanted), members_of(case, case.candidate_views)
    for way in WAYS:
        yield restored(out, members, limits=Limits(views=most), with_classes=False, **way)
    yield restored(out, members, limits=Limits(views=most), with_classes=False, lists=Lists(out, 0))


def look_at(numbers: Sequence[int]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for number in numbers:
        one = case("restore", number)
        judge = overlap.Judge(one.people, one.truth, one.views, one.candidate_views, one.domain)
        wanted = one.restorations(2)
        for found in searched(one):
            try:
                agrees(one, found, wanted, judge)
            except AssertionError as error:
                raise AssertionError(
                    f"{one}\ngamma {one.gamma_wanted}, wanted {wanted}, found {found}"
                ) from error
        seen[f"{found.status} {len(found.views)}"] += 1
    return seen


@pytest.mark.slow
def test_the_search_finds_what_brute_force_finds() -> None:
    seen = look_at(range(110))
    assert (
        seen["restored 1"] > 20
        and seen["restored 2"] > 5
        and seen["none 0"] > 2
        and seen["impossible 0"] > 5
    ), seen


@pytest.mark.slow
def test_the_search_finds_what_brute_force_finds_on_many_tables() -> None:
    seen = look_at(range(110, 110 + 150 * THOROUGH))
    assert seen["restored 2"] > 4 * THOROUGH, seen


def test_sets_of_three_are_found_and_ruled_out() -> None:
    for number in range(40):
        one = case("restore", number)
        judge = overlap.Judge(one.people, one.truth, one.views, one.candidate_views[:9], one.domain)
        wanted = overlap.restorations(
            one.people,
            one.truth,
            one.views,
            one.candidate_views[:9],
            one.gamma_wanted,
            3,
            one.domain,
        )
        out, members = disclosed(one, one.gamma_wanted), members_of(one, one.candidate_views[:9])
        agrees(one, restored(out, members, with_classes=False), wanted, judge)


def test_views_of_every_kind_may_be_out() -> None:
    """Views that show public columns, how many there are, or nothing of some people;
    declared domains; missing values.
    """
    statuses: Counter[str] = Counter()
    for one in cases(GAMMA, 150):
        keys = list(one.people)
        sets = list(
            itertools.islice(
                itertools.chain.from_iterable(
                    itertools.combinations(keys, size) for size in (2, 3, 4)
                ),
                25,
            )
        )
        further = [
            overlap.by_members(f"c{at}", chosen, one.key[0])
            if len(one.key) == 1
            else among(one, chosen)
            for at, chosen in enumerate(sets)
        ]
        out = disclosed(one, HALF)
        if (
            not len(out.overlap.sizes) or not out.is_true()
        ):  # somebody's value is none of those that count
            continue
        new = {key for key in keys if one.truth[key] not in out.overlap.values}
        if out.is_open:  # then views that show a value that is new are not considered
            sets, further = zip(
                *((s, f) for s, f in zip(sets, further, strict=True) if not new & set(s)),
                strict=True,
            ) or ((), ())
        wanted = overlap.restorations(
            one.people, one.truth, one.views, further, HALF, 1, one.domain
        )
        found = restored(out, members_of(one, further), limits=Limits(views=1), with_classes=False)
        agrees(
            replace(one, gamma_wanted=HALF),
            found,
            wanted,
            overlap.Judge(one.people, one.truth, one.views, further, one.domain),
        )
        statuses[found.status] += 1
    assert len(statuses) == 4, statuses


def among(case: Case, chosen: Sequence[Any]) -> overlap.View:
    return overlap.View("c", lambda row, value: tuple(row[name] for name in case.key) in chosen)


def test_what_is_impossible_is_so_with_all_views_that_there_are() -> None:
    """No two sets of people at all restore what is called impossible,
    also where nobody's value is certain.
    """
    unfair = 0
    for number in range(110):
        one = case("restore", number)
        if len(one.people) > 6:
            continue
        out = disclosed(one, one.gamma_wanted)
        found = restored(out, np.zeros((0, out.people), dtype=bool))
        if found.status != "impossible":
            continue
        keys = list(one.people)
        every = [
            overlap.by_members("c", some, one.key[0])
            for size in range(1, len(keys) + 1)
            for some in itertools.combinations(keys, size)
        ]
        assert not overlap.restorations(
            one.people, one.truth, one.views, every, one.gamma_wanted, 2, one.domain
        ), one
        unfair += one.beliefs().largest != 1
    assert unfair > 3


def test_a_proof_that_shares_are_not_fair_is_checked_in_whole_numbers() -> None:
    proofs = 0
    for number in range(110):
        one = case("restore", number)
        system = system_of(disclosed(one, HALF).overlap)
        sizes = np.repeat(system.overlap.sizes, len(system.overlap.values))
        for part in system.parts:
            found = unfair_part(part, sizes[part.place], HALF)
            if found is None or not any(found):
                continue
            proofs += 1
            total, most = 0, Fraction(0)
            cells = [0] * len(part.place)
            for times, row in zip(found, (*part.classes, *part.rows), strict=True):
                total += times * row.total
                for cell in row.cells:
                    cells[cell] += times
            for cell, times in enumerate(cells):
                ends = (
                    int(part.low[cell]),
                    min(Fraction(int(part.high[cell])), HALF * int(sizes[part.place[cell]])),
                )
                most += max(times * ends[0], times * ends[1])
            assert total > most
        if is_unfair(system, HALF):
            assert (
                max(
                    one.beliefs().posteriors[key][value]
                    for key in one.beliefs().posteriors
                    for value in one.beliefs().posteriors[key]
                )
                > HALF
            )
    assert proofs > 5


# -- the paper's example ---------------------------------------------------------------------------

NAMES = ("Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia")
SEX, AGE = "MMMMFFF", (23, 24, 25, 26, 27, 28, 28)
CONDITION = ("Heart", "SARS", "Viral", "SARS", "Viral", "SARS", "Flu")


def paper() -> DisclosedViews:
    male, older = [sex == "M" for sex in SEX], [age >= 26 for age in AGE]
    values = ("Flu", "Heart", "SARS", "Viral")
    number = [values.index(one) for one in CONDITION]
    outputs = np.zeros((3, 2, 4), dtype=np.int64)
    outputs[:2, 0], outputs[1:, 1] = np.arange(1, 5), np.arange(5, 9)
    class_of = np.array(
        [0 if m and not o else 1 if m else 2 for m, o in zip(male, older, strict=True)]
    )
    shown = np.zeros(9, dtype=np.int64)
    for person, value in enumerate(number):
        for view in range(2):
            shown[outputs[class_of[person], view, value]] += 1
    shown[0] = 0
    return DisclosedViews(
        Overlap(values, ("male", "older"), outputs, np.array([3, 1, 3]), shown),
        class_of,
        np.array(number),
        HALF,
        ((0,), (1,), (2,), (3,)),
    )


def test_the_papers_two_views_are_found_after_few_counts() -> None:
    out = paper()
    choices = candidates({"sex": list(SEX), "age": list(AGE)})
    for lists in (None, Lists(out, 0)):
        found = restored(out, choices.members, lists=lists)
        assert (found.status, found.before, found.after) == ("restored", Fraction(4, 5), HALF)
        assert (
            (found.tables_before, found.tables_after) == (45, 8)
            and found.proved
            and (found.most_tables or lists is not None)
        )
        assert [choices.conditions[one] for one in found.views] == [
            (Between("age", 25, 26),),
            (Between("age", 26, 27),),
        ]
        assert found.judged <= 20


def test_no_one_or_two_views_do_better_on_the_papers_example() -> None:
    """All sets of one or two of the groups of people that ranges of age and sex select."""
    out, choices = paper(), candidates({"sex": list(SEX), "age": list(AGE)})
    people = overlap.only_keys(NAMES)
    further = [
        overlap.by_members("c", [NAMES[at] for at in np.flatnonzero(row)])
        for row in choices.members
    ]
    known = [overlap.by_members("male", NAMES[:4]), overlap.by_members("older", NAMES[3:])]
    truth = dict(zip(NAMES, CONDITION, strict=True))
    wanted = overlap.restorations(people, truth, known, further, HALF, 2)
    assert {len(one) for one in wanted} == {2}
    judge = overlap.Judge(people, truth, known, further)
    assert max(judge.beliefs(one).count for one in wanted) == 8
    assert restored(out, choices.members).views in wanted


def test_somebody_who_knows_the_search_may_believe_more() -> None:
    """On the paper's example: 6 of the 8 tables lead to the same views, and in 4 of them Alan
    has a heart disease.
    """
    out, choices = paper(), candidates({"sex": list(SEX), "age": list(AGE)})
    found = restored(out, choices.members)
    known = aware(out, choices.members, found)
    assert (known.status, known.worst, known.same, known.asked, known.epsilon) == (
        "breached",
        Fraction(2, 3),
        6,
        8,
        None,
    )


def test_views_that_withstand_are_found_for_the_papers_example() -> None:
    out, choices = paper(), candidates({"sex": list(SEX), "age": list(AGE)})
    found = withstanding(out, choices.members, (0,), views=2, lists=Lists(out))
    assert found is not None and len(found.views) == 2
    assert (found.worst, found.same, found.fitting) == (HALF, 8, 8)


# -- those who know the search ---------------------------------------------------------------------


def few_people(
    numbers: Sequence[int], most: int
) -> Iterator[tuple[Case, DisclosedViews, Flags, Restoration]]:
    """Cases that can be restored, small enough to search on every table."""
    many = 0
    for number in numbers:
        one = case("restore", number)
        if len(one.people) > 6 or one.domain is not None:
            continue
        out, members = disclosed(one, one.gamma_wanted), members_of(one, one.candidate_views)
        found = restored(out, members, limits=Limits(views=2), with_classes=False)
        if found.status == "restored":
            many += 1
            yield one, out, members, found
        if many == most:
            return


def test_the_belief_of_somebody_who_knows_the_search_is_what_brute_force_says() -> None:
    seen: Counter[str] = Counter()
    for one, out, members, found in few_people(range(110), 10):

        def procedure(
            table: dict[Any, Any], one: Case = one, members: Flags = members
        ) -> Sequence[overlap.View]:
            again = restored(
                disclosed(one, one.gamma_wanted, table),
                members,
                limits=Limits(views=2),
                with_classes=False,
            )
            return [one.candidate_views[view] for view in again.views]

        wanted = overlap.aware(one.people, one.truth, one.views, procedure)
        known = aware(out, members, found, limits=Limits(views=2), with_classes=False, most=10**6)
        assert (known.worst, known.epsilon) == (wanted.largest, None), one
        assert (known.status == "breached") == (known.worst > one.gamma_wanted)
        seen[known.status] += 1
        drawn = aware(
            out, members, found, limits=Limits(views=2), with_classes=False, most=0, draws=40
        )
        assert drawn.status in ("undecided", known.status)
    assert seen["holds"] and seen["breached"], seen


def test_views_that_withstand_hold_for_everybody() -> None:
    """The procedure, run on every table, leaves one who knows it with no belief above gamma."""
    held = 0
    for one, out, members, plain in few_people(range(110), 14):

        def chosen(
            table: dict[Any, Any], one: Case = one, members: Flags = members
        ) -> Sequence[overlap.View]:
            other = disclosed(one, one.gamma_wanted, table)
            above = restored(other, members[:0]).above
            again = withstanding(other, members, above, views=2, lists=Lists(other))
            return [] if again is None else [one.candidate_views[view] for view in again.views]

        found = withstanding(out, members, plain.above, views=2, lists=Lists(out))
        if found is None:
            continue
        judge = overlap.Judge(one.people, one.truth, one.views, one.candidate_views)
        assert judge.beliefs(found.views).private(one.gamma_wanted) and len(found.views) >= len(
            plain.views
        )
        assert (
            overlap.aware(one.people, one.truth, one.views, chosen).largest <= one.gamma_wanted
        ), one
        held += 1
    assert held > 3


def test_tables_are_drawn_evenly() -> None:
    """On the paper's example, where all 8 tables are known."""
    out, choices = paper(), candidates({"sex": list(SEX), "age": list(AGE)})
    found = restored(out, choices.members)
    drawn = drawn_tables(
        out,
        choices.members,
        [choices.members[one] for one in found.views],
        4000,
        np.random.default_rng(1),
    )
    assert drawn is not None
    counts = Counter(tuple(one.tolist()) for one in drawn)
    assert len(counts) == 8 and all(380 < many < 620 for many in counts.values())


# -- pieces ----------------------------------------------------------------------------------------


def test_pieces_with_further_views_have_the_tables_that_brute_force_lists() -> None:
    rng = random.Random(5)
    for number in range(60):
        one = case("restore", number)
        out = disclosed(one, HALF)
        further = rng.sample(one.candidate_views, min(2, len(one.candidate_views)))
        flags = members_of(one, further)
        there = extended(out, range(len(out.pieces)), list(flags))
        wanted = overlap.gamma(
            one.people,
            [*one.views, *further],
            overlap.answers(one.people, one.truth, [*one.views, *further]),
            one.domain,
        )
        found = beliefs(there.overlap)
        assert found.tables == wanted.count, one
        keys = list(one.people)
        values = [*out.overlap.values, *sorted(set(one.truth.values()) - set(out.overlap.values))]
        for person, class_ in zip(there.people.tolist(), there.class_of.tolist(), strict=True):
            for at, value in enumerate(there.overlap.values):
                assert (
                    found.share(class_, at)
                    == (wanted.posteriors[keys[person]].get(values[value], Fraction(0)),) * 2
                )


def test_a_piece_that_no_view_touches_stays_as_it_is() -> None:
    """Two separate pairs of views: a set has to touch both where
    somebody is above gamma in both.
    """
    one = paper()
    twice = DisclosedViews(
        Overlap(
            one.overlap.values,
            ("a", "b", "c", "d"),
            np.concatenate(
                [
                    np.pad(one.overlap.outputs, ((0, 0), (0, 2), (0, 0))),
                    np.pad(
                        np.where(one.overlap.outputs, one.overlap.outputs + 8, 0),
                        ((0, 0), (2, 0), (0, 0)),
                    ),
                ]
            ),
            np.tile(one.overlap.sizes, 2),
            np.concatenate([one.overlap.shown, one.overlap.shown[1:]]),
        ),
        np.concatenate([one.class_of, one.class_of + 3]),
        np.tile(one.value, 2),
        HALF,
        one.meanings,
    )
    ages = np.array(AGE)
    pairs = [(25, 26), (26, 27), (23, 24)]
    ranges = np.array([(ages >= low) & (ages <= high) for low, high in pairs])
    members = np.concatenate([np.pad(ranges, ((0, 0), (0, 7))), np.pad(ranges, ((0, 0), (7, 0)))])
    found = restored(twice, members, limits=Limits(views=4))
    assert (
        found.status == "restored"
        and len(found.views) == 4
        and (found.tables_before, found.tables_after) == (45 * 45, 64)
    )
    assert {one < 3 for one in found.views} == {True, False}
    assert [one.ruled_out.get("untouched", 0) > 0 for one in found.tallies] == [
        False,
        True,
        False,
        False,
    ]
    assert restored(twice, members, limits=Limits(views=3)).status == "none"


def test_classes_are_published_where_few_views_do_not_help() -> None:
    """Three views in a row make five classes, all diverse:
    with two of them published all five are known.
    """
    sizes, values = (2, 2, 3, 2, 4), "zyzwwxzzxwyxz"
    rows = tuple((f"p{age}", age, value) for age, value in enumerate(values))
    ends = list(itertools.accumulate(sizes, initial=0))
    ranges = [(ends[0], ends[2] - 1), (ends[1], ends[4] - 1), (ends[3], ends[5] - 1)]
    one = Case(
        "classes",
        ("name", "age"),
        ("name",),
        rows,
        tuple(Query(("condition",), Within("age", some, "BETWEEN")) for some in ranges),
    )
    out = disclosed(one, HALF)
    nobody = np.zeros((0, out.people), dtype=bool)
    found = restored(out, nobody)
    assert (
        found.status == "restored" and len(found.classes) == 2 and found.before == Fraction(25, 39)
    )
    after = beliefs(
        extended(
            out, range(len(out.pieces)), [out.class_of == one for one in found.classes]
        ).overlap
    )
    assert max(high for _, _, (_, high) in after.shares()) <= HALF
    assert restored(out, nobody, with_classes=False).status == "none"


# -- conditions ------------------------------------------------------------------------------------


def test_conditions_that_select_the_same_people_are_one_candidate() -> None:
    found = candidates({"age": [1, 2, 3], "sex": ["F", "M", "M"]})
    sets = {tuple(row) for row in found.members.tolist()}
    assert len(sets) == len(found.conditions) == 6 and (True, True, True) in sets
    whole = {
        tuple(np.flatnonzero(row)): condition
        for row, condition in zip(found.members, found.conditions, strict=True)
    }
    assert whole[(1, 2)] == (Between("age", 2, 3),) and whole[(0,)] == (Between("age", 1, 1),)
    for condition, row in zip(found.conditions, found.members, strict=True):
        columns = {"age": [1, 2, 3], "sex": ["F", "M", "M"]}
        chosen = np.logical_and.reduce([one.selects(columns[one.column]) for one in condition])
        assert (chosen == row).all()


def test_nobody_whose_value_is_missing_is_selected() -> None:
    found = candidates({"age": [1, 2, None], "sex": [None, "M", "F"]})
    for condition, row in zip(found.conditions, found.members, strict=True):
        assert not row[2] or all(one.column == "sex" for one in condition)
        assert not row[0] or all(one.column == "age" for one in condition)


def test_many_values_are_thinned_to_steps_of_about_as_many_people() -> None:
    rng = random.Random(3)
    ages, weights = [rng.randrange(1000) for _ in range(3000)], [rng.random() for _ in range(3000)]
    found = candidates(
        {"age": ages, "weight": weights, "sex": rng.choices("FM", k=3000)}, most=4000
    )
    assert found.considered <= 4000 and set(found.thinned) == {"age", "weight"}
    ends = {
        one.low
        for condition in found.conditions
        if len(condition) == 1
        for one in condition
        if isinstance(one, Between) and one.column == "age"
    }
    assert 5 < len(ends) <= 40 and min(ends) == min(ages)


def test_values_that_do_not_compare_have_no_ranges() -> None:
    found = candidates({"town": list("abcdefgh")})
    assert all(isinstance(one, OneOf) for condition in found.conditions for one in condition)
    assert candidates({"same": [1, 1, 1]}).conditions == () == candidates({}).conditions


# -- limits ----------------------------------------------------------------------------------------


def test_a_search_that_runs_out_says_so() -> None:
    one = next(
        one
        for number in range(200)
        if (one := case("restore", number)).restorations(2) and len(one.restorations(2)[0]) == 2
    )
    out, members = disclosed(one, one.gamma_wanted), members_of(one, one.candidate_views)
    short = restored(out, members, limits=Limits(views=2, seconds=1e-9), with_classes=False)
    assert short.status == "not-found" and not short.proved
    few = restored(out, members, limits=Limits(views=1), with_classes=False)
    assert few.status == "none" and few.proved
    counted = restored(
        out, members, limits=Limits(views=1, counted=0), with_classes=False, lists=Lists(out, 0)
    )
    assert (
        counted.status == "not-found"
        and not counted.proved
        and sum(one.left for one in counted.tallies) > 0
    )


def test_a_cancelled_job_stops_the_search() -> None:
    job = Job()
    job.cancel()
    out, choices = paper(), candidates({"sex": list(SEX), "age": list(AGE)})
    with pytest.raises(Cancelled):
        restored(out, choices.members, job=job)


def test_the_search_gives_the_same_answer_again() -> None:
    for number in range(30):
        one = case("restore", number)
        members = members_of(one, one.candidate_views)
        assert restored(disclosed(one, HALF), members) == restored(disclosed(one, HALF), members)


def test_listing_and_counting_agree_about_what_is_out() -> None:
    for number in range(80):
        one = case("restore", number)
        out = disclosed(one, HALF)
        nobody = np.zeros((0, out.people), dtype=bool)
        listed, counted = CandidateJudge(out, nobody), CandidateJudge(out, nobody, Lists(out, 0))
        assert [outcome for outcome, _ in listed.before] == [
            outcome for outcome, _ in counted.before
        ]
