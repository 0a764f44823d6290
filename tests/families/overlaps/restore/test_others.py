"""Further views for several adversaries at once, against brute force:
they hold for each of them, or it is proved that none do.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from families.overlaps.restore.test_restore import disclosed, members_of
from oracles import overlap
from oracles.overlap_cases import PRIVATE, Case, Query, Within
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews, Flags
from tacit.families.overlaps.restore.restorations import Limits, Restoration
from tacit.families.overlaps.restore.restore import restored
from tacit.families.overlaps.restore.table_listing import Lists
from thorough import THOROUGH

MOST = 2
GAMMAS = [
    Fraction(1, 3),
    Fraction(2, 5),
    Fraction(1, 2),
    Fraction(3, 5),
    Fraction(2, 3),
    Fraction(3, 4),
    Fraction(4, 5),
]


def within(some: Sequence[int]) -> Query:
    return Query((PRIVATE,), Within("age", tuple(sorted(some))))


def drawn(number: int) -> list[Case]:
    """A few people as two or three adversaries have them, two views each that overlap a little;
    none where somebody is certain.
    """
    rng = random.Random(f"others/{number}")
    many, values = ((7, "xyz"), (8, "vwxyz"))[number % 2]
    true = rng.sample((values * 3)[:many], many)
    candidates = {
        within(rng.sample(range(many), rng.choice([2, 2, 3, 4]))): None for _ in range(16)
    }
    one = Case(
        "others",
        ("name", "age"),
        ("name",),
        tuple((f"p{age}", age, value) for age, value in enumerate(true)),
        (),
        candidates=tuple(candidates),
    )
    people = [rng.sample(range(many), many) for _ in range(2)]
    sees = [
        (within(some[:4]), within(some[4 - (both := rng.choice([1, 1, 2])) : 8 - both]))
        for some in people
    ]
    adversaries = [
        replace(one, queries=views)
        for views in (*sees, *([sees[0][:1]] if rng.random() < 0.4 else []))
    ]
    largest = max(each.beliefs().largest for each in adversaries)
    below = [gamma for gamma in GAMMAS if gamma < largest < 1]
    gamma = rng.choice(below[-2:]) if below else Fraction(1)
    return (
        [
            replace(each, gamma_wanted=gamma)
            for each in sorted(adversaries, key=lambda each: -each.beliefs().largest)
        ]
        if below
        else []
    )


def wanted(one: Case, judges: Sequence[overlap.Judge]) -> list[tuple[int, ...]] | None:
    """The smallest sets of candidates that hold for all; None where there are none."""
    for many in range(MOST + 1):
        sets = itertools.combinations(range(len(one.candidate_views)), many)
        if found := [
            some
            for some in sets
            if all(judge.beliefs(some).private(one.gamma_wanted) for judge in judges)
        ]:
            return found
    return None


def looked_for(outs: Sequence[DisclosedViews], one: Case, **how: Any) -> Restoration:
    first, *others = outs
    return restored(
        first,
        members_of(one, one.candidate_views),
        limits=Limits(views=MOST),
        with_classes=False,
        others=others,
        **how,
    )


def look_at(numbers: Sequence[int]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for number in numbers:
        adversaries = drawn(number)
        if not adversaries:
            continue
        one, outs = adversaries[0], [disclosed(each, each.gamma_wanted) for each in adversaries]
        expected = wanted(
            one,
            [
                overlap.Judge(one.people, one.truth, each.views, one.candidate_views, one.domain)
                for each in adversaries
            ],
        )
        for found in (
            looked_for(outs, one),
            looked_for(outs, one, pruned=False),
            looked_for(outs, one, lists=Lists(outs[0], 0)),
        ):
            told = number, expected, found
            for tally in found.tallies:
                assert tally.sets == sum(tally.ruled_out.values()) + tally.judged + tally.left, told
            if expected is None:
                assert found.status in ("none", "impossible") and found.proved, told
            else:
                assert found.status == "restored" and found.proved and found.views in expected, told
        alone = looked_for(outs[:1], one)
        seen[found.status] += 1
        seen["others matter"] += (alone.status, len(alone.views)) != (
            found.status,
            len(found.views),
        )
        seen["stuck for another"] += found.whose > 0
    return seen


# Most that is drawn is stuck: these are some of each end, among them where the
# others matter or are stuck themselves.
SOME = (0, 2, 6, 13, 26, 31, 33, 41, 52, 58, 79, 102, 104, 107, 152)


def test_further_views_hold_for_every_adversary_or_none_do() -> None:
    seen = look_at(SOME)
    assert (
        seen["restored"] == 4
        and seen["none"] > 3
        and seen["impossible"] > 3
        and seen["others matter"] > 8
        and seen["stuck for another"] == 3
    ), seen


@pytest.mark.slow
def test_further_views_hold_for_every_adversary_or_none_do_on_many_tables() -> None:
    seen = look_at(range(160, 160 + 120 * THOROUGH))
    assert seen["none"] > 5 and seen["others matter"] > 5, seen


SEVEN = (
    "Heart",
    "SARS",
    "Viral",
    "SARS",
    "Viral",
    "SARS",
    "Flu",
)  # four men, of whom the last is one of the four older ones


def seen_by(values: Sequence[str], *views: Sequence[int]) -> DisclosedViews:
    rows = tuple((f"p{age}", age, value) for age, value in enumerate(values))
    return disclosed(
        Case("seven", ("name", "age"), ("name",), rows, tuple(map(within, views))), Fraction(1, 2)
    )


def flags(people: int, *views: Sequence[int]) -> Flags:
    return np.array([np.isin(range(people), some) for some in views])


def test_views_that_are_there_for_another_adversary_are_kept() -> None:
    """Two adversaries see other people each, and each needs two views:
    those for one change nothing for the other.
    """
    outs = [seen_by(SEVEN * 2, range(at, at + 4), range(at + 3, at + 7)) for at in (0, 7)]
    members = flags(14, (2, 3), (3, 4), (9, 10), (10, 11))
    for first, other in (outs, reversed(outs)):
        found = restored(first, members, limits=Limits(views=4), with_classes=False, others=[other])
        assert (found.status, found.views, found.proved) == ("restored", (0, 1, 2, 3), True)
        assert (
            restored(
                first, members, limits=Limits(views=3), with_classes=False, others=[other]
            ).status
            == "none"
        )


def test_what_does_the_same_for_one_adversary_may_not_for_another() -> None:
    """To show the first two men or the other two is the same for who knows all four;
    not for who has seen the third one with somebody else.
    """
    out, other = (
        seen_by((*SEVEN, "Heart"), range(4), range(3, 7)),
        seen_by((*SEVEN, "Heart"), (2, 7)),
    )
    members = flags(8, (2, 3), (3, 4), (0, 1))
    assert restored(out, members, with_classes=False).views == (0, 1)
    found = restored(out, members, with_classes=False, others=[other])
    assert (found.status, found.views) == ("restored", (1, 2))
