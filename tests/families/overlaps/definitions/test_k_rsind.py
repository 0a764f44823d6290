"""k-RSIND from plan to verdict, against brute force over all set partitions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from oracles import overlap as oracle
from oracles.overlap_cases import SIND, Case, cases
from overlap_asking import asked, question_of
from tacit.errors import ParameterError
from tacit.families.overlaps.definitions.k_rsind import KRsind, Variant
from tacit.model.verdict import Verdict

CASES, BATCH = 900, 150


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, CASES, BATCH))
def test_level_and_division_are_those_of_brute_force(start: int) -> None:
    for one in cases(SIND, BATCH, start):
        question = question_of(one, one.sind_domain(), one.people)
        for variant in ("diverse", "literal"):
            agrees(one, KRsind(k=2, variant=variant).check(question), 2, variant)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["diverse", "literal"])
def test_plans_are_judged_like_brute_force(variant: Variant) -> None:
    for one in cases(SIND, 30, 7):
        agrees(one, asked(one.to_plan("k-rsind", k=3, variant=variant))[0], 3, variant)


def agrees(one: Case, verdict: Verdict, k: int, variant: str) -> None:
    level, _ = one.rsind(variant == "diverse")
    assert verdict.measured["k"] == level, (variant, one)
    assert verdict.certainty == "exact"
    assert verdict.status == ("holds" if level >= k else "breached"), (variant, one)
    if level:
        crowds = [[as_key(key, one) for key in crowd] for crowd in verdict.personal["sets"]]
        assert sorted(map(str, (key for crowd in crowds for key in crowd))) == sorted(
            map(str, one.people)
        )
        assert min(map(len, crowds)) == level
        assert all(
            oracle.rsind_set(one.instances(), one.truth, crowd, variant == "diverse")
            for crowd in crowds
        ), (variant, one)


def as_key(key: Any, one: Case) -> Any:
    return (
        tuple(key)
        if isinstance(next(iter(one.people)), tuple)
        and isinstance(key, Sequence)
        and not isinstance(key, str)
        else key
    )


def test_spellings_are_one_value_and_missing_ones_are_none() -> None:
    rng = random.Random(5)
    for one in cases(SIND, 100, 11):
        values = one.sind_domain()
        meant = dict(zip(values, rng.choices([0, 1, 2, None], k=len(values)), strict=True))
        open_ = tuple(at for at, value in enumerate(values) if meant[value] is None)
        same = tuple(
            (*(at for at, value in enumerate(values) if meant[value] == number), *open_)
            for number in sorted({*meant.values()} - {None})
        )
        verdict = KRsind(k=2).check(
            replace(question_of(one, values, one.people), meanings=same or (open_,))
        )
        level = 0
        for division in oracle.set_partitions(list(one.people)):
            diverse = all(
                len({meant[one.truth[key]] for key in crowd} - {None}) > 1 for crowd in division
            )
            if diverse and all(
                oracle.rsind_set(one.instances(), one.truth, crowd, True) for crowd in division
            ):
                level = max(level, min(map(len, division)))
        assert (verdict.measured["k"], verdict.status) == (
            level,
            "holds" if level >= 2 else "breached",
        ), (meant, one)


@pytest.mark.parametrize("said", [{}, {"merge-spelling": ["ill"]}, {"unknown": {"ill": ["?"]}}])
def test_what_the_owner_says_about_spellings_decides(said: dict[str, Any]) -> None:
    """It was undecided, with the advice to say merge-spelling, also for those who had."""
    table = {
        "columns": ["name", "ill"],
        "key": ["name"],
        "sensitive": ["ill"],
        "rows": [["a", "flu"], ["b", "Flu"], ["c", "?"]],
    }
    plan = {
        "version": 1,
        "tables": {"people": {**table, **said}},
        "releases": {"all": {"query": "SELECT ill FROM people"}},
        "checks": [{"k-rsind": {"release": "all", "k": 2}}],
    }
    verdict = asked(plan)[0]
    assert (verdict.status, verdict.measured["k"]) == ("breached", 0)
    assert any("merge-spelling" in one for one in verdict.warnings) == (
        "merge-spelling" not in said
    )


def test_the_whole_table_is_literal_rsind_by_its_rarest_value() -> None:
    """Errata 20: taken literally Definition 4 is met by grouping people by the value they have."""
    rows = [[name, value] for name, value in zip("abcdef", "xxyyyy", strict=True)]
    plan = {
        "version": 1,
        "tables": {
            "people": {
                "columns": ["name", "ill"],
                "key": ["name"],
                "sensitive": ["ill"],
                "rows": rows,
            }
        },
        "releases": {"all": {"query": "SELECT name, ill FROM people"}},
        "checks": [
            {"k-rsind": {"release": "all", "k": 2, "variant": "literal"}},
            {"k-rsind": {"release": "all", "k": 2}},
        ],
    }
    literal, diverse = asked(plan)
    assert literal.status == "holds" and literal.measured["k"] == 2
    assert diverse.status == "breached" and diverse.measured["k"] == 0


def test_parameters() -> None:
    with pytest.raises(ParameterError):
        KRsind(k=1)
    with pytest.raises(ParameterError):
        KRsind(k=2, variant="other")  # type: ignore[arg-type]
