"""gamma-privacy from plan to verdict, against brute force and against the paper."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from oracles.overlap import covered, published
from oracles.overlap_cases import GAMMA, Case, cases
from overlap_asking import asked, question_of
from tacit.errors import DataError, ParameterError, TacitError
from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy
from tacit.model.verdict import Verdict

CASES, BATCH = 3000, 250
PATIENTS = {
    "columns": ["name", "sex", "age", "condition"],
    "key": ["name"],
    "sensitive": ["condition"],
    "rows": [
        ["Alan", "M", 23, "Heart"],
        ["Bob", "M", 24, "SARS"],
        ["Clark", "M", 25, "Viral"],
        ["Donald", "M", 26, "SARS"],
        ["Ellen", "F", 27, "Viral"],
        ["Fen", "F", 28, "SARS"],
        ["Garcia", "F", 28, "Flu"],
    ],
}
MALE = "SELECT condition FROM patients WHERE sex = 'M'"
OLDER = "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"
FURTHER = (
    "SELECT condition FROM patients WHERE age BETWEEN 25 AND 26",
    "SELECT condition FROM patients WHERE age BETWEEN 26 AND 27",
)


def patients(*views: str, gamma: Any = "1/2", **more: Any) -> Verdict:
    releases = {f"v{number}": {"query": text} for number, text in enumerate(views, 1)}
    check = {"gamma-privacy": {"releases": list(releases), "gamma": gamma, **more}}
    return asked(
        {"version": 1, "tables": {"patients": PATIENTS}, "releases": releases, "checks": [check]}
    )[0]


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, CASES, BATCH))
def test_verdict_count_and_witness_are_those_of_brute_force(start: int) -> None:
    for one in cases((*GAMMA, "told"), BATCH, start):
        true = one.beliefs()
        values = published(one.views, one.answers) if one.domain is None else one.domain
        question = question_of(one, values, covered(one.people, one.views, values))
        if not true.count:
            with pytest.raises(DataError, match="no table gives"):
                GammaPrivacy(gamma="1/2").check(question)
            continue
        for gamma in gammas(one):
            agrees(one, GammaPrivacy(gamma=gamma).check(question), gamma)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 120, 30))
def test_plans_are_judged_like_brute_force(start: int) -> None:
    for one in cases(GAMMA, 30, start):
        plan = one.to_plan("gamma-privacy")
        plan["checks"] = [
            {"gamma-privacy": {**plan["checks"][0]["gamma-privacy"], "gamma": str(gamma)}}
            for gamma in gammas(one)
        ]
        for gamma, verdict in zip(gammas(one), asked(plan), strict=True):
            agrees(one, verdict, gamma)


def gammas(one: Case) -> list[Fraction]:
    return sorted({Fraction(1, 2), one.gamma_wanted, one.beliefs().largest or Fraction(1, 2)})


def agrees(one: Case, verdict: Verdict, gamma: Fraction) -> None:
    true = one.beliefs()
    if true.largest is None:
        assert verdict.status == "holds" and verdict.vacuous, one
        return
    assert verdict.certainty == "exact"
    assert verdict.status == ("holds" if true.largest <= gamma else "breached"), one
    assert verdict.measured["worlds"] == true.count, one
    assert verdict.measured["gamma"] == true.largest, one
    if verdict.witness:
        names_everybody_above(one, verdict, gamma)


def names_everybody_above(one: Case, verdict: Verdict, gamma: Fraction) -> None:
    assert verdict.witness is not None
    found = {
        (as_key(entry["person"]), entry["value"]): entry["after"]
        for entry in verdict.witness.personal["above"]
    }
    above = {
        (as_key(key), value): share
        for key, shares in one.beliefs().above(gamma).items()
        for value, share in shares.items()
    }
    assert found == above, one


def as_key(key: Any) -> tuple[Any, ...]:
    return tuple(key) if isinstance(key, list | tuple) else (key,)


def test_the_papers_example() -> None:
    verdict = patients(MALE, OLDER)
    assert verdict.status == "breached" and verdict.witness is not None
    assert verdict.measured["gamma"] == Fraction(4, 5) and verdict.measured["worlds"] == 45
    assert verdict.witness.personal["person"] == {"name": "Donald"}
    assert verdict.story == "In 36 of the 45 tables that fit both views Donald has SARS."


def test_two_further_views_restore_it_with_8_tables() -> None:
    verdict = patients(MALE, OLDER, *FURTHER)
    assert verdict.status == "holds"
    assert verdict.measured["gamma"] == Fraction(1, 2) and verdict.measured["worlds"] == 8


def test_one_view_is_recursive_diversity_with_equality_allowed() -> None:
    """Claim 1, where the paper needs <= in recursive (c, 2)-diversity (errata 25)."""
    assert patients(MALE).status == "holds"
    assert patients(MALE, gamma="0.49").status == "breached"


def test_views_that_show_nobody_or_nothing() -> None:
    nobody = patients("SELECT condition FROM patients WHERE age > 90")
    assert nobody.status == "holds" and nobody.vacuous
    assert any("nobody" in warning for warning in nobody.warnings)
    counted = patients("SELECT 1 FROM patients WHERE age > 25")
    assert counted.status == "holds" and counted.vacuous


def test_spellings_and_missing_values_are_no_diversity() -> None:
    table = {
        **PATIENTS,
        "rows": [
            ["a", "M", 1, "Flu"],
            ["b", "M", 2, "flu"],
            ["c", "M", 3, None],
            ["d", "M", 4, "HIV"],
        ],
        "nullable": ["condition"],
    }
    plan = {
        "version": 1,
        "tables": {"patients": table},
        "releases": {"v": {"query": MALE}},
        "checks": [{"gamma-privacy": {"release": "v", "gamma": "1/2"}}],
    }
    (verdict,) = asked(plan)
    assert verdict.status == "breached" and verdict.measured["gamma"] == Fraction(3, 4)
    plan["tables"] = {"patients": {**table, "as-written": ["condition"]}}
    (verdict,) = asked(plan)
    assert verdict.status == "holds" and verdict.measured["gamma"] == Fraction(1, 2)


@pytest.mark.parametrize("gamma", [0, "-1/2", 2, "many"])
def test_gamma_is_a_share(gamma: Any) -> None:
    with pytest.raises(ParameterError):
        GammaPrivacy(gamma=gamma)


def test_epsilon_needs_theta() -> None:
    with pytest.raises(ParameterError, match="belong together"):
        GammaPrivacy(gamma="1/2", epsilon="0.02")
    with pytest.raises(TacitError, match="confidence of 1"):
        GammaPrivacy(gamma="1/2", epsilon="0.02", theta=1)


def test_answers_that_no_table_has(tmp_path: Any) -> None:
    rows = [["a", 1], ["b", 2], ["c", 3]]
    (tmp_path / "people.csv").write_text(
        "name,age\n" + "".join(f"{name},{age}\n" for name, age in rows)
    )
    for number in (1, 2, 3):
        (tmp_path / f"v{number}.csv").write_text("ill\nx\ny\n")
    where = ["age < 3", "age > 1", "age <> 2"]
    releases = {
        f"v{number}": {"query": f"SELECT ill FROM people WHERE {text}", "answer": f"v{number}.csv"}
        for number, text in enumerate(where, 1)
    }
    plan = {
        "version": 1,
        "tables": {"people": {"file": "people.csv", "key": ["name"], "sensitive": ["ill"]}},
        "releases": releases,
        "checks": [{"gamma-privacy": {"releases": list(releases), "gamma": "1/2"}}],
    }
    with pytest.raises(DataError, match="'v1', 'v2' and 'v3' contradict each other"):
        asked(plan, tmp_path)


def test_statistical_answers_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is wrong with a chance of 1/1000 at most; the seed is fixed."""
    monkeypatch.setattr(
        "tacit.families.overlaps.counting.average_beliefs.averaged", lambda part, job=None: None
    )
    seen = set()
    for one in cases(GAMMA, 60, 3):
        true = one.beliefs().largest
        values = published(one.views, one.answers) if one.domain is None else one.domain
        question = question_of(one, values, covered(one.people, one.views, values))
        if true is None:
            continue
        verdict = GammaPrivacy(gamma="1/2", epsilon="1/10", theta="0.999").check(question)
        seen.add((verdict.status, verdict.certainty))
        if verdict.certainty == "statistical":
            assert verdict.measured["epsilon"] == Fraction(1, 10) and verdict.measured[
                "theta"
            ] == Fraction(999, 1000)
        assert true <= Fraction(6, 10) if verdict.status == "holds" else true > Fraction(1, 2), one
    assert {("holds", "statistical"), ("breached", "statistical")} <= seen


@pytest.mark.sampled
@pytest.mark.parametrize("start", range(0, 1000, 200))
def test_where_nothing_is_counted_the_sums_alone_decide_rightly(
    monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    monkeypatch.setattr(
        "tacit.families.overlaps.counting.average_beliefs.averaged", lambda part, job=None: None
    )
    seen = set()
    for one in cases(GAMMA, 200, start):
        true = one.beliefs().largest
        values = published(one.views, one.answers) if one.domain is None else one.domain
        question = question_of(one, values, covered(one.people, one.views, values))
        if true is None:
            continue
        for gamma in (Fraction(1, 3), Fraction(1, 2), Fraction(3, 4)):
            verdict = GammaPrivacy(gamma=gamma).check(question)
            if verdict.status == "holds":
                assert true <= gamma, one
                assert true <= verdict.measured["gamma"], one
            elif verdict.status == "breached":
                assert true > gamma, one
                assert true >= verdict.measured["gamma"], one
            seen.add(verdict.status)
    assert {"breached", "undecided"} <= seen


def test_the_sums_alone_can_say_that_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value is in each view twice, and whoever the views do not tell apart are four."""
    monkeypatch.setattr(
        "tacit.families.overlaps.counting.average_beliefs.averaged", lambda part, job=None: None
    )
    rows = [[f"p{number}", number, "wxyz"[number % 4]] for number in range(12)]
    columns = ["name", "age", "ill"]
    table = {"columns": columns, "key": ["name"], "sensitive": ["ill"], "rows": rows}
    plan = {
        "version": 1,
        "tables": {"people": table},
        "releases": {
            "young": {"query": "SELECT ill FROM people WHERE age < 8"},
            "old": {"query": "SELECT ill FROM people WHERE age >= 4"},
        },
        "checks": [
            {"gamma-privacy": {"releases": ["young", "old"], "gamma": gamma}}
            for gamma in (0.5, 0.49, "0.4999999999999999999999999")
        ],
    }
    half, less, nearly = asked(plan)
    assert (half.status, half.certainty) == ("holds", "exact")
    assert half.measured["gamma"] == Fraction(1, 2) and "worlds" not in half.measured
    assert less.status == nearly.status == "undecided"


def test_what_cannot_be_counted_is_undecided_with_an_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "tacit.families.overlaps.counting.average_beliefs.averaged", lambda part, job=None: None
    )
    verdict = patients(MALE, OLDER)
    assert verdict.status == "undecided" and verdict.reason is not None
    assert verdict.reason.code == "too-many"
    assert "With epsilon: 0.02, theta: 0.95 at most" in verdict.reason.text


def test_a_domain_value_that_the_column_would_round_is_refused() -> None:
    """1.25 in a column with one decimal would be tested as 1.3:
    then a value that nobody can have protects everybody.
    """
    table = {
        "columns": {"name": "text", "dose": "decimal"},
        "key": ["name"],
        "sensitive": ["dose"],
        "domains": {"dose": [1.5, 1.25, 2.5]},
        "rows": [["a", 1.5], ["b", 1.5], ["c", 1.5]],
    }
    releases = {"high": {"query": "SELECT 1 FROM people WHERE dose IN (1.25, 2.5)"}}
    with pytest.raises(DataError, match=r"cannot hold 1\.25"):
        asked(
            {
                "version": 1,
                "tables": {"people": table},
                "releases": releases,
                "checks": [{"gamma-privacy": {"release": "high", "gamma": "1/2"}}],
            }
        )
