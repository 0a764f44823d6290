"""The framework of section 3.7: its equivalences, as docs/errata.md corrects
them, and what it says and refuses.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from asking import Desk, as_they_are, handmade, question
from oracles import beliefs as oracle
from oracles import microdata
from tacit.errors import DataError, ParameterError, TacitError
from tacit.families.microdata.definitions.beliefs.background_adversary import BackgroundAdversary
from tacit.families.microdata.definitions.beliefs.beliefs import (
    BeliefTarget,
    greatest,
    least,
    strongest,
    strongest_of_both,
    weight,
)
from tacit.families.microdata.definitions.beliefs.crowd import crowd
from tacit.families.microdata.definitions.beliefs.disclosure import Secrets, by_blocks, one_by_one
from tacit.families.microdata.definitions.beliefs.disclosure_measures import (
    DisclosureMeasure,
    Negative,
    Positive,
    Ratio,
    Uninformative,
    Upward,
    exceeds_power_of_e,
)
from tacit.families.microdata.definitions.beliefs.predicates import Predicate, Protect
from tacit.families.microdata.definitions.beliefs.prior import FittedPrior
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.definitions.semantic import Semantic
from tacit.families.microdata.groups import group
from tacit.model.verdict import Verdict

F = Fraction


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    opened = Desk(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.engine.close()


def belief(counts: Mapping[Any, int], predicate: set[Any], **knowledge: int) -> Fraction:
    """The greatest belief in one group, without a prior."""
    return greatest(BeliefTarget(counts, {}), frozenset(predicate), **knowledge).after


def random_counts(rng: random.Random) -> dict[int, int]:
    return {s: rng.randint(1, 9) for s in range(rng.randint(1, 6))}


# -- equivalences that Machanavajjhala (2008) states ---------------------------------------------


def test_semantic_diversity_is_recursive_diversity() -> None:
    """Definition 3.12 with c/(1+c) in place of c, l - 2 negations: r_1 < c (r_l + ... + r_m)."""
    rng = random.Random(312)
    for _ in range(3000):
        counts, c = random_counts(rng), F(rng.randint(1, 12), rng.randint(1, 4))
        l = rng.randint(2, 5)  # noqa: E741
        surest = max(belief(counts, {s}, negations=l - 2) for s in counts)
        assert (surest < c / (1 + c)) == microdata.recursive_holds(counts.values(), c, l), counts


def test_with_the_same_c_the_two_are_not_equivalent() -> None:
    """As Definition 3.12 is printed: 3 of 4 people have flu,
    recursive (4,2)-diverse, belief 3/4.
    """
    counts = {"flu": 3, "cold": 1}
    assert microdata.recursive_holds(counts.values(), F(4), 2)
    assert belief({0: 3, 1: 1}, {0}) == F(3, 4)
    assert microdata.recursive_holds([1, 1], F(3, 2), 2) and not microdata.recursive_holds(
        [1, 1], F(1), 2
    )
    assert not belief({0: 1, 1: 1}, {0}) < F(
        1, 2
    )  # c = 1/2 of Definition 3.12 is c = 1 of Definition 3.8


def test_values_that_nobody_cares_about_are_predicates_that_nobody_protects() -> None:
    """Definition 3.9: the don't-care values are not secret, and may still be negated."""
    rng = random.Random(39)
    for _ in range(3000):
        counts, c = random_counts(rng), F(rng.randint(1, 12), rng.randint(1, 4))
        l = rng.randint(2, 5)  # noqa: E741
        care_free = set(rng.sample(sorted(counts), rng.randint(0, len(counts))))
        secret = counts.keys() - care_free
        surest = max((belief(counts, {s}, negations=l - 2) for s in secret), default=F(0))
        expected = microdata.pd_recursive_holds(counts, c, l, care_free)
        assert (surest < c / (1 + c)) == expected, (counts, care_free, c, l)


def test_pd_recursive_diversity_is_not_what_holds_if_dont_care_values_cannot_be_negated() -> None:
    """5 healthy, 1 flu, 1 cold, l = 3:
    who rules out healthy is left with 1 of 2, who may not with 1 of 6.
    """
    counts = {"healthy": 5, "flu": 1, "cold": 1}
    assert belief(counts, {"flu"}, negations=1) == F(1, 2)
    assert not microdata.pd_recursive_holds(counts, F(1), 3, ["healthy"])
    without_cold = {s: n for s, n in counts.items() if s != "cold"}
    assert belief(without_cold, {"flu"}) == F(1, 6)


def test_negative_disclosure_is_that_of_somebody_without_negations() -> None:
    """Definition 3.10: with l >= 3 the adversary of
    3.7 could negate the value itself.
    """
    rng = random.Random(310)
    for _ in range(2000):
        counts = random_counts(rng)
        value, c2 = rng.randrange(6), F(rng.randint(1, 60))
        rarest = least(BeliefTarget(counts, {}), frozenset([value])).after
        expected = microdata.negative_holds(counts, sum(counts.values()), c2, [value])
        assert (rarest >= c2 / 100) == expected, (counts, value, c2)
    seen = oracle.Target(
        {"flu": 2, "cold": 2}, {"flu": F(1, 2), "cold": F(1, 2)}, {"flu": F(1, 2), "cold": F(1, 2)}
    )
    literal = [one.after for one in oracle.beliefs(seen, frozenset(["flu"]), oracle.Adversary(1))]
    assert min(literal) == 0, (
        "half of the group has flu, and who denies it believes that nobody does"
    )


def table(counts: Mapping[str, int], more: Mapping[str, int]) -> list[dict[str, Any]]:
    wards = {"A": counts, "B": more}
    return [
        {"ward": w, "condition": s} for w in wards for s, n in wards[w].items() for _ in range(n)
    ]


def test_the_presets_agree_with_l_diversity_on_tables(desk: Desk) -> None:
    rng = random.Random(37)
    values = ["flu", "cold", "cough", "hiv"]
    for _ in range(40):
        rows = table(
            *({s: rng.randint(1, 5) for s in rng.sample(values, rng.randint(1, 4))} for _ in "AB")
        )
        c, l, c2 = F(rng.randint(1, 8), 2), rng.randint(2, 4), rng.randint(5, 40)  # noqa: E741
        with desk.counted(
            rows, quasi=["ward"], sensitive=["condition"], types=dict.fromkeys(rows[0], "text")
        ) as counted:
            asked = question(counted)
            limits = {"measure": {"positive": c / (1 + c)}, "against": {"negations": l - 2}}
            positive = Semantic(**limits).check(asked)
            pd = Semantic(protect={"equals": "all", "dont-care": ["flu"]}, **limits).check(asked)
            negative = Semantic(
                protect={"equals": ["hiv"]}, measure={"negative": F(c2, 100)}
            ).check(asked)
            recursive = {"kind": "recursive", "l": l, "c": c}
            npd = {**recursive, "dont_care": ["flu"], "negative": ["hiv"], "c2": c2}
            assert (
                positive.status
                == LDiversity(**recursive).check(asked, sensitive="condition").status
            )
            with_flu = LDiversity(**recursive, dont_care=["flu"]).check(
                asked, sensitive="condition"
            )
            assert pd.status == with_flu.status
            both = "holds" if (pd.status, negative.status) == ("holds", "holds") else "breached"
            assert both == LDiversity(**npd).check(asked, sensitive="condition").status


def test_negations_of_the_negated_value_change_nothing_for_negative_disclosure(desk: Desk) -> None:
    rows = table({"flu": 3, "cold": 1}, {"flu": 2, "cold": 2})
    with desk.counted(rows, quasi=["ward"], sensitive=["condition"]) as counted:
        for negations in (0, 1, 2):
            verdict = Semantic(
                measure={"negative": F(1, 4)}, against={"negations": negations}
            ).check(question(counted))
            assert (verdict.status, verdict.measured) == ("holds", {"negative": F(1, 4)})


def test_numeric_secrets_close_the_gap_of_l_diversity() -> None:
    """Section 3.7: salaries of 99,999, 100,000 and 100,001 are 3-diverse and all the same."""
    salaries = [99_999, 100_000, 100_001]
    close = Protect(equals=(), within=F(1)).predicates("salary", salaries)
    counts = {0: 4, 1: 4, 2: 4}
    assert max(belief(counts, {s}) for s in counts) == F(1, 3)
    assert max(belief(counts, set(one.codes)) for one in close) == 1


# -- the kernel ---------------------------------------------------------------------------------


def test_knowing_people_is_less_than_denying_values() -> None:
    """Section 3.4.1, for positive disclosure."""
    rng = random.Random(341)
    for _ in range(500):
        counts = random_counts(rng)
        for s in counts:
            assert belief(counts, {s}, known=1) <= belief(counts, {s}, negations=1)


def test_the_strongest_knowledge_is_found_among_all() -> None:
    rng = random.Random(5)
    for _ in range(1500):
        cells = [(s, rng.randint(1, 4), F(rng.randint(1, 4))) for s in range(rng.randint(1, 4))]
        negations, known = rng.randint(0, 2), rng.randint(0, 4)
        best = min(
            weight((s, n - taken[s], unit) for s, n, unit in cells if s not in negated)
            for negated in itertools.combinations(range(len(cells)), min(negations, len(cells)))
            for taken in itertools.product(*(range(n + 1) for _, n, _ in cells))
            if sum(taken) <= known
        )
        for found in (strongest, strongest_of_both):
            rest, knowledge = found(cells, negations, known)
            assert rest == best, (cells, negations, known)
            assert len(knowledge.negated) <= negations and sum(knowledge.known.values()) <= known
            left = [
                (s, n - knowledge.known.get(s, 0), unit)
                for s, n, unit in cells
                if s not in knowledge.negated
            ]
            assert weight(left) == rest and all(n >= 0 for _, n, _ in left)


@pytest.mark.slow
def test_without_a_prior_that_tells_people_apart_a_merged_group_discloses_no_more() -> None:
    rng = random.Random(32)
    for _ in range(3000):
        one, two = random_counts(rng), random_counts(rng)
        both = {s: one.get(s, 0) + two.get(s, 0) for s in one.keys() | two.keys()}
        shares = {s: F(1, 6) for s in range(6)}
        predicates = [
            Predicate(frozenset(rng.sample(range(6), rng.randint(1, 3))), "") for _ in range(2)
        ]
        limit = F(rng.randint(1, 9), 20)
        measure: DisclosureMeasure = rng.choice(
            [
                Positive(limit),
                Negative(limit),
                Uninformative(limit),
                Ratio(1 + limit),
                Upward(limit, 2 * limit),
            ]
        )
        secrets = Secrets(
            predicates, BackgroundAdversary(rng.randint(0, 2), rng.randint(0, 2)), measure
        )
        scores = [
            found[0] if (found := secrets.worst_about(BeliefTarget(counts, shares))) else F(0)
            for counts in (one, two, both)
        ]
        assert scores[2] <= max(scores[:2]), (one, two, secrets)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_all_people_at_once_or_one_by_one_is_the_same(seed: int) -> None:
    rng = random.Random(seed)
    number = rng.choice([1, 30, 400])
    rows = [
        {"ward": rng.randrange(max(1, number // 4)), "condition": rng.choice([None, *"abcde"])}
        for _ in range(number)
    ]
    rows[0]["condition"] = "a"
    base = handmade(rows)
    groups = group(base, ["ward"], as_they_are(base), "condition")
    counts = base.people_by_code("condition").tolist()
    shares = {code: F(n, sum(counts)) for code, n in enumerate(counts)}
    everybody = crowd(
        groups,
        FittedPrior((), base.dictionaries["condition"], {(): shares}, {(): shares}, {(): ()}),
    )
    codes = range(len(counts))
    single = [Predicate(frozenset([code]), "") for code in codes]
    several = [
        Predicate(frozenset(rng.sample(codes, rng.randint(0, len(codes)))), "") for _ in range(3)
    ]
    limits = [F(1, 2), F(1, 3), shares[0], F(2, 3)]
    for limit, (negations, known) in itertools.product(
        limits, [(0, 0), (0, 2), (1, 0), (3, 1), (9, 9)]
    ):
        measures: list[DisclosureMeasure] = [Positive(limit), Negative(limit), Uninformative(limit)]
        measures += [Ratio(1 + limit), Ratio(exponent=limit), Upward(limit / 2, limit)]
        for measure, predicates in itertools.product(measures, [single, [*single, *several]]):
            secrets = Secrets(predicates, BackgroundAdversary(negations, known), measure)
            if not secrets.are_simple(everybody):
                continue
            (one, failing), (other, also) = (
                one_by_one(everybody, secrets),
                by_blocks(everybody, secrets),
            )
            assert np.array_equal(failing, also)
            found = [secrets.worst_about(everybody.target(kind)) for kind in (one, other)]
            assert found[0] is found[1] is None or found[0][0] == found[1][0]
            assert found[0] is None or everybody.group[one] == everybody.group[other]


def test_powers_of_e_are_compared_exactly() -> None:
    e = F("2.718281828459045235360287471352662497757247093699959574966967627724")
    assert exceeds_power_of_e(e + F(1, 10**60), F(1))
    assert not exceeds_power_of_e(e - F(1, 10**60), F(1))
    assert not exceeds_power_of_e(F(1), F(1, 10**9))
    assert exceeds_power_of_e(F(10**9), F(20)) and not exceeds_power_of_e(F(10**8), F(20))


# -- what a verdict says ------------------------------------------------------------------------

CLINIC = """\
version: 1
tables:
  clinic:
    columns: [name, ward, age, condition]
    rows:
      - [Ann, A, 31, flu]
      - [Bob, A, 34, flu]
      - [Cleo, A, 35, cold]
      - [Dan, B, 38, cold]
      - [Eve, B, 32, flu]
      - [Fay, B, 33, cough]
    person: [name]
    identifiers: [name]
    quasi-identifiers: [ward, age]
    sensitive: [condition]
    hierarchies: {ward: "*", age: {ranges: [10]}}
releases:
  wards: {table: clinic, generalization: {age: 1}}
checks:
"""


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Verdict]:
    """The verdict of a check that stands in a plan with a small clinic."""

    def answer(check: str, **files: str) -> Verdict:
        (tmp_path / "tacit.yaml").write_text(f"{CLINIC}  - {check}\n", "utf-8")
        for name, text in files.items():
            (tmp_path / f"{name}.csv").write_text(text, "utf-8")
        return tacit.load(tmp_path / "tacit.yaml").check()[0]

    return answer


def test_the_attack_is_told_with_what_is_known(ask: Callable[..., Verdict]) -> None:
    verdict = ask(
        "semantic: {release: wards, measure: {positive: 0.9}, against: {negations: 1, "
        "known-people: 1}}"
    )
    assert verdict.witness is not None and verdict.story is not None
    assert verdict.because == "a belief of 100 %, below 90 % required"
    assert verdict.witness.personal["negated"] == ["flu"]
    assert verdict.story.startswith(
        "Anyone who knows that Cleo is 35 and has ward A and that Cleo does not have flu now "
        "knows that Cleo has cold. Belief 66 % -> 100 %."
    )
    assert verdict.against == (
        "anyone who knows who is in the table, and everybody's ward and age, and can rule out 1 "
        "condition for a person, and knows the condition of 1 other"
    )


def test_several_adversaries_are_asked_one_by_one_and_one_with_all_together(
    ask: Callable[..., Verdict],
) -> None:
    one = ask(
        "semantic: {release: wards, measure: {positive: 0.9}, against: [{negations: 1}, "
        "{known-people: 1}]}"
    )
    assert one.measured == {"positive": F(1)}
    apart = ask(
        "semantic: {release: wards, protect: {equals: [cough]}, measure: {positive: 0.9}, against: "
        "[{negations: 1}, {known-people: 1}]}"
    )
    together = ask(
        "semantic: {release: wards, protect: {equals: [cough]}, measure: {positive: 0.9}, against: "
        "{negations: 1, known-people: 1}}"
    )
    assert (apart.measured, together.measured) == ({"positive": F(1, 2)}, {"positive": F(1)})


def test_implications_are_counted_by_c_k_safety(
    ask: Callable[..., Verdict], tmp_path: Path
) -> None:
    for c in ("0.6", "0.9"):
        own = ask(
            f"semantic: {{release: wards, measure: {{positive: {c}}}, against: {{implications: "
            f"1}}}}"
        )
        safety = ask(f"c-k-safety: {{release: wards, c: {c}, k: 1}}")
        assert own.status == safety.status
        assert own.measured == {"positive": safety.measured["belief"]}
        assert own.evidence == safety.evidence
        assert own.required["against"] == {"implications": 1}
        assert tacit.replay(
            own, tacit.load(tmp_path / "tacit.yaml").released("wards"), ["ward", "age"]
        )


@pytest.mark.parametrize(
    "other",
    [
        "measure: {positive: 0.5}, against: {implications: 1, negations: 1}",
        "measure: {positive: 0.5}, against: [{implications: 1, prior: prior.csv}, {negations: 0}]",
        "measure: {uninformative: 0.9}, against: {implications: 1}",
        "measure: {positive: 0.9, negative: 0.1}, against: {implications: 1}",
        "measure: {positive: 0.5}, protect: {equals: [flu]}, against: {implications: 1}",
    ],
)
def test_other_questions_about_implications_are_refused(
    ask: Callable[..., Verdict], other: str
) -> None:
    verdict = ask(
        f"semantic: {{release: wards, {other}}}",
        prior="condition,probability\nflu,1/3\ncold,1/3\ncough,1/3\n",
    )
    if verdict.status == "undecided":
        assert verdict.reason is not None and verdict.reason.code == "implications"
    else:
        assert verdict.status == "breached" and "negations: 0" in other


def test_an_adversary_who_is_beaten_is_a_breach_whatever_else_is_undecided(
    ask: Callable[..., Verdict],
) -> None:
    verdict = ask(
        "semantic: {release: wards, measure: {positive: 0.9}, against: [{implications: 1, "
        "negations: 1}, {negations: 2}]}"
    )
    assert verdict.status == "breached"
    assert verdict.required["against"] == [{"negations": 1, "implications": 1}, {"negations": 2}]


def test_several_measures_must_all_hold(ask: Callable[..., Verdict]) -> None:
    verdict = ask("semantic: {release: wards, measure: {positive: 0.9, negative: 0.1}}")
    assert verdict.status == "breached" and verdict.measured == {
        "positive": F(2, 3),
        "negative": F(0),
    }
    assert verdict.label == "belief below 90 % and belief at least 10 %"
    holds = ask(
        "semantic: {release: wards, protect: {equals: [flu]}, measure: {positive: 0.9, "
        "negative: 0.1}}"
    )
    assert holds.status == "holds"
    assert holds.because == "no belief above 67 % and no belief below 33 %"


def test_what_is_protected_and_does_not_occur_is_a_warning(ask: Callable[..., Verdict]) -> None:
    verdict = ask(
        "semantic: {release: wards, protect: {equals: [cancre]}, measure: {positive: 0.5}}"
    )
    assert verdict.status == "holds" and verdict.vacuous
    assert verdict.warnings == ("equals of protect names 'cancre', which does not occur",)


def test_a_range_of_words_is_refused(ask: Callable[..., Verdict]) -> None:
    with pytest.raises(
        DataError, match="range and within of protect need numbers, and condition has 'cold'"
    ):
        ask("semantic: {release: wards, protect: {within: 3}, measure: {positive: 0.5}}")


def test_people_with_several_values_are_decided_for_positive_disclosure_only(desk: Desk) -> None:
    rows = [
        {"who": "Ann", "ward": "A", "condition": "flu"},
        {"who": "Ann", "ward": "A", "condition": "cold"},
        {"who": "Bob", "ward": "A", "condition": "flu"},
    ]
    with desk.counted(rows, quasi=["ward"], sensitive=["condition"], person=["who"]) as counted:
        asked = question(counted)
        positive = Semantic(measure={"positive": "9/10"}).check(asked)
        assert (positive.status, positive.certainty, positive.measured) == (
            "breached",
            "conservative",
            {"positive": F(1)},
        )
        verdict = Semantic(measure={"uninformative": "9/10"}).check(asked)
        assert verdict.status == "undecided" and verdict.reason is not None
        assert verdict.reason.code == "several-values"


def test_too_many_choices_are_not_begun(desk: Desk) -> None:
    rows = [{"ward": w, "condition": f"c{s:03}"} for w in "AB" for s in range(100)]
    with desk.counted(rows, quasi=["ward"], sensitive=["condition"]) as counted:
        verdict = Semantic(measure={"uninformative": "9/10"}, against={"negations": 4}).check(
            question(counted)
        )
    assert verdict.reason is not None and verdict.reason.code == "too-many-beliefs"


# -- what a plan may not say --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "message", "at"),
    [
        (
            "measure: {positve: 0.5}",
            "measure takes no 'positve'. Did you mean 'positive'?",
            "measure",
        ),
        ("measure: {positive: 0}", "positive=0 is no limit", "0}"),
        ("measure: {positive: 1.5}", "positive=1.5 is no limit", "1.5"),
        ("measure: {positive: lots}", "positive: 'lots' is not a number", "lots"),
        ("measure: {negative: 1}", "negative=1 would need everybody to be sure", "1}"),
        ("measure: {uninformative: 1}", "uninformative=1 protects nobody", "1}"),
        ("measure: {ratio: 0.5}", "ratio=0.5 is no factor", "0.5"),
        ("measure: {ratio: e^0}", "ratio=0 leaves no room", "e^0"),
        ("measure: {rho1: 0.5}", "rho1 needs rho2. Use 0 < rho1 < rho2 < 1.", "0.5"),
        ("measure: {rho1: 0.5, rho2: 0.4}", "rho1=0.5 is not below rho2=0.4.", "0.5"),
        ("measure: {rho1: 0.5, rho2: 1}", "rho2=1 protects nobody", "1}"),
        ("measure: strict", "measure says how much learning is too much.", "strict"),
        (
            "measure: {positive: 0.5}, against: {negation: 1}",
            "against takes no 'negation'. Did you mean 'negations'?",
            "against",
        ),
        (
            "measure: {positive: 0.5}, against: {negations: -1}",
            "negations=-1 is out of range.",
            "-1",
        ),
        (
            "measure: {positive: 0.5}, against: [{negations: 1.5}]",
            "negations=1.5 is not a whole number.",
            "1.5",
        ),
        (
            "measure: {positive: 0.5}, against: everybody",
            "against says what the other side may know.",
            "everybody",
        ),
        ("measure: {positive: 0.5}, against: {prior: 3}", "prior is the name of a CSV file.", "3}"),
        (
            "measure: {positive: 0.5}, protect: {equal: all}",
            "protect takes no 'equal'. Did you mean 'equals'?",
            "protect",
        ),
        (
            "measure: {positive: 0.5}, protect: {equals: [[a]]}",
            "equals needs a list of values.",
            "equals",
        ),
        ("measure: {positive: 0.5}, protect: {range: [3]}", "range needs two numbers", "range"),
        (
            "measure: {positive: 0.5}, protect: {range: [3, 1]}",
            "range ends before it begins: 3 to 1.",
            "range",
        ),
        ("measure: {positive: 0.5}, protect: {within: -1}", "within=-1 is no distance.", "-1"),
        (
            "measure: {positive: 0.5}, protect: {equals: [a], dont-care: [b]}",
            "dont-care belongs to equals: all.",
            "dont-care",
        ),
        ("protect: {equals: all}", "semantic needs 'measure'.", "semantic"),
    ],
)
def test_an_error_points_at_its_place(
    ask: Callable[..., Verdict], written: str, message: str, at: str
) -> None:
    check = f"semantic: {{release: wards, {written}}}"
    with pytest.raises(TacitError) as caught:
        ask(check)
    error = caught.value
    assert message in f"{error.message} {error.hint}", str(error)
    assert error.mark is not None and error.mark.text is not None and error.mark.column is not None
    assert error.mark.text[error.mark.column - 1 :].startswith(at), str(error)


def test_a_measure_can_be_given_as_a_value() -> None:
    assert Semantic(measure=Positive(F(1, 2))) == Semantic(measure={"positive": 0.5})
    with pytest.raises(ParameterError):
        Semantic(measure=())
