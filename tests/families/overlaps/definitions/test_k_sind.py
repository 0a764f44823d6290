"""k-SIND from plan to verdict, against brute force and against the paper."""

from __future__ import annotations

from typing import Any

import pytest

from oracles import overlap as oracle
from oracles.overlap_cases import SIND, Case, cases
from overlap_asking import asked, question_of
from tacit.errors import ParameterError
from tacit.families.overlaps.definitions.k_sind import KSind
from tacit.model.verdict import Verdict

CASES, BATCH = 1500, 250


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, CASES, BATCH))
def test_crowds_are_those_of_brute_force(start: int) -> None:
    for one in cases(SIND, BATCH, start):
        question = question_of(one, one.sind_domain(), one.people)
        agrees(one, KSind(k=2).check(question), 2)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 120, 40))
def test_plans_are_judged_like_brute_force(start: int) -> None:
    for one in cases(SIND, 40, start):
        plan = one.to_plan("k-sind", k=2)
        plan["checks"] += one.to_plan("k-sind", k=3)["checks"]
        for k, verdict in zip((2, 3), asked(plan), strict=True):
            agrees(one, verdict, k)


def agrees(one: Case, verdict: Verdict, k: int) -> None:
    crowds = one.sind()
    level = oracle.level(crowds)
    assert verdict.certainty == "exact", one
    assert verdict.status == ("holds" if level >= k else "breached"), one
    assert verdict.measured["k"] == level, one
    assert as_sets(verdict.personal["sets"]) == as_sets(crowds), one
    if verdict.witness:
        assert as_sets([verdict.witness.personal["people"]]) <= as_sets(crowds), one
        assert len(verdict.witness.personal["people"]) == level, one


def as_sets(crowds: list[Any]) -> set[frozenset[Any]]:
    return {frozenset(as_key(key) for key in crowd) for crowd in crowds}


def as_key(key: Any) -> tuple[Any, ...]:
    return tuple(key) if isinstance(key, list | tuple) else (key,)


def test_one_is_no_crowd() -> None:
    with pytest.raises(ParameterError):
        KSind(k=1)


def test_crowds_are_for_the_owner_only() -> None:
    (verdict,) = asked(next(iter(cases(SIND, 1))).to_plan("k-sind", k=2))
    assert "sets" in verdict.to_json("owner")["measured"]
    assert "sets" not in verdict.to_json("shared")["measured"]
