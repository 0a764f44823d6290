"""Bayes-optimal privacy: Theorem 3.1, Theorem 3.2's example, and priors that are right or wrong."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from oracles import beliefs as oracle
from tacit.errors import DataError, TacitError
from tacit.families.microdata.definitions.beliefs.beliefs import BeliefTarget, greatest
from tacit.families.microdata.definitions.beliefs.disclosure_measures import Upward
from tacit.families.microdata.definitions.beliefs.prior import read_prior
from tacit.families.microdata.definitions.rho1_rho2 import Rho1Rho2
from tacit.model.verdict import Verdict

F = Fraction

# -- Theorem 3.1 --------------------------------------------------------------------------------


def star(cell: tuple[str, str]) -> tuple[str, str]:
    return ("*", cell[1])


def shares(values: list[str]) -> dict[str, Fraction]:
    return {s: F(n, len(values)) for s, n in oracle.tally(values).items()}


def test_equation_3_1_counts_the_random_worlds() -> None:
    """All pairs (psi, Z_n) of small populations, and Tacit's own kernel beside the formula."""
    rng = random.Random(31)
    for _ in range(1500):
        population = [
            ((rng.choice("ab"), rng.choice("xy")), rng.choice("stu"))
            for _ in range(rng.randint(3, 7))
        ]
        label = rng.choice([star, lambda cell: ("*", "*"), lambda cell: cell])
        sample = rng.sample(range(len(population)), rng.randint(1, min(4, len(population))))
        released = oracle.tally((label(population[i][0]), population[i][1]) for i in sample)
        q = population[sample[0]][0]
        worlds = oracle.random_worlds(population, label, released, sample[0])
        counts = {s: n for (block, s), n in released.items() if block == label(q)}
        given_q = shares([s for cell, s in population if cell == q])
        given_block = shares([s for cell, s in population if label(cell) == label(q)])
        formula = oracle.equation_3_1(counts, given_q, given_block)
        assert worlds == {s: share for s, share in formula.items() if share}
        units = {s: share / given_block[s] for s, share in given_q.items()}
        target = BeliefTarget({s: n for s, n in counts.items() if s in units}, given_q, units)  # type: ignore[arg-type]
        for s, share in formula.items():
            assert greatest(target, frozenset([s])).after == share  # type: ignore[list-item]


def test_somebody_who_knows_who_else_is_in_the_table_can_know_more() -> None:
    """Theorem 3.1 is not the worst case: Eve and Adam are the group, men have no breast cancer.

    The theorem's adversary knows that Eve is in the table, and believes with 9/13 that she has it.
    Who knows that Adam is the other one is certain.
    """
    given_q = {"flu": F(4, 5), "breast cancer": F(1, 5)}
    given_block = {"flu": F(9, 10), "breast cancer": F(1, 10)}
    counts = {"flu": 1, "breast cancer": 1}
    assert oracle.equation_3_1(counts, given_q, given_block)["breast cancer"] == F(9, 13)
    eve, adam = given_q, {"flu": F(1), "breast cancer": F(0)}
    weights = {
        world: eve[world[0]] * adam[world[1]]
        for world in itertools.permutations(["flu", "breast cancer"])
    }
    assert weights[("breast cancer", "flu")] / sum(weights.values()) == 1


# -- Theorem 3.2 --------------------------------------------------------------------------------

THEOREM = """\
version: 1
tables:
  people:
    columns: [name, q, s]
    rows:
{rows}
    person: [name]
    identifiers: [name]
    quasi-identifiers: [q]
    sensitive: [s]
    hierarchies: {{q: "*"}}
releases:
  table: {{table: people}}
  starred: {{table: people, generalization: {{q: 1}}}}
checks:
  - rho1-rho2: {{release: table, rho1: 0.31, rho2: 0.58, prior: f.csv}}
  - rho1-rho2: {{release: starred, rho1: 0.31, rho2: 0.58, prior: f.csv}}
"""
TABLE_3_5 = {("q1", "s1"): 1, ("q2", "s1"): 35, ("q1", "s2"): 1, ("q2", "s2"): 15}
PRIOR_3_5 = "q,s,probability\nq1,s1,.15\nq2,s1,.25\nq1,s2,.35\nq2,s2,.25\n"


def test_theorem_3_2_a_release_that_is_coarser_discloses_more(tmp_path: Path) -> None:
    cells = [cell for cell, number in TABLE_3_5.items() for _ in range(number)]
    rows = "\n".join(f"      - [p{i}, {q}, {s}]" for i, (q, s) in enumerate(cells))
    (tmp_path / "tacit.yaml").write_text(THEOREM.format(rows=rows), "utf-8")
    (tmp_path / "f.csv").write_text(PRIOR_3_5, "utf-8")
    fine, coarse = tacit.load(tmp_path / "tacit.yaml").check()
    assert fine.status == "holds"
    assert fine.measured == {"belief": F(1, 2)}
    assert coarse.status == "breached"
    assert coarse.measured == {"belief": F(81, 137)}
    assert coarse.measured["belief"] > F(59, 100)
    told = coarse.witness
    assert told is not None
    assert (told.personal["before"], told.personal["after"]) == (F(3, 10), F(81, 137))
    assert told.personal["known"] == {"q": "q1"} and told.personal["value"] == "s1"
    assert not Rho1Rho2.monotone


def test_after_theorem_3_2_the_two_beliefs_are_not_equal() -> None:
    """The text says that q1 and q2 have the same belief in s1 after generalizing:
    they have .59 and .77.
    """
    block = {"s1": F(4, 10), "s2": F(6, 10)}
    q1 = oracle.equation_3_1({"s1": 36, "s2": 16}, {"s1": F(3, 10), "s2": F(7, 10)}, block)
    q2 = oracle.equation_3_1({"s1": 36, "s2": 16}, {"s1": F(1, 2), "s2": F(1, 2)}, block)
    assert (q1["s1"], q2["s1"]) == (F(81, 137), F(27, 35))


def test_both_halves_of_definition_3_6() -> None:
    measure = Upward(F(3, 10), F(6, 10))
    rng = random.Random(36)
    for _ in range(2000):
        before, after = F(rng.randint(0, 20), 20), F(rng.randint(0, 20), 20)
        breach = (before < measure.rho1 and after > measure.rho2) or (
            before > 1 - measure.rho1 and after < 1 - measure.rho2
        )
        assert measure.is_too_much(measure.score(before, after)) == breach


# -- priors -------------------------------------------------------------------------------------

PLAN = """\
version: 1
tables:
  clinic:
    columns: [name, ward, age, condition]
    rows:
      - [Ann, A1, 31, flu]
      - [Bob, A1, 34, flu]
      - [Cleo, A2, 45, cold]
      - [Dan, B1, 48, cold]
    person: [name]
    identifiers: [name]
    quasi-identifiers: [ward, age]
    sensitive: [condition]
    hierarchies: {hierarchies}
releases:
  some: {{table: clinic, generalization: {{ward: 1, age: 1}}}}
checks:
  - rho1-rho2: {{release: some, rho1: 0.4, rho2: 0.7, prior: prior.csv}}
"""
HIERARCHIES = "{ward: {mask: right}, age: {ranges: [10]}}"


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., Verdict]:
    """The verdict for a small clinic with a prior in a file."""

    def answer(*lines: str, hierarchies: str = HIERARCHIES, **files: str) -> Verdict:
        (tmp_path / "tacit.yaml").write_text(PLAN.format(hierarchies=hierarchies), "utf-8")
        for name, text in {"prior": "\n".join(lines), **files}.items():
            (tmp_path / f"{name}.csv").write_text(text, "utf-8")
        return tacit.load(tmp_path / "tacit.yaml").check()[0]

    return answer


def test_frequencies_alone_make_the_belief_the_share_of_the_group(
    ask: Callable[..., Verdict],
) -> None:
    verdict = ask("condition,probability", "flu,0.1", "cold,0.2", "hiv,0.7")
    assert verdict.status == "breached"
    assert verdict.measured == {"belief": F(1)}
    assert {one.id for one in verdict.assumptions} >= {"prior", "equally-likely"}
    assert "others-unknown" not in {one.id for one in verdict.assumptions}


def test_a_value_that_everybody_expected_and_nobody_has_is_the_other_half(
    ask: Callable[..., Verdict],
) -> None:
    verdict = ask("condition;probability", "flu;1/5", "cold;1/5", "hiv;3/5")
    assert verdict.measured == {"belief": F(1)}
    downward = ask("condition;probability", "flu;0.17", "cold;0.17", "hiv;0.66")
    assert downward.witness is not None


def test_the_prior_may_have_people_that_the_table_has_not(ask: Callable[..., Verdict]) -> None:
    """A9 and 39 are not in the table; the mask and the ranges say where they belong."""
    verdict = ask(
        "ward,age,condition,probability",
        "A1,31,flu,0.1",
        "A1,34,flu,0.1",
        "A2,45,cold,0.1",
        "B1,48,cold,0.1",
        "A9,39,cold,0.2",
        "A9,39,flu,0.1",
        "A1,31,cold,0.2",
        "B7,42,flu,0.1",
    )
    assert verdict.status == "breached"
    told = {one.id: one.text for one in verdict.assumptions}
    assert told["others-unknown"] == "it is not known who else is in the table"
    assert "independent" not in told


def test_columns_that_the_prior_has_not_are_independent(ask: Callable[..., Verdict]) -> None:
    verdict = ask(
        "age,condition,probability", "31,flu,1/4", "34,flu,1/4", "45,cold,1/4", "48,cold,1/4"
    )
    told = {one.id: one.text for one in verdict.assumptions}
    assert told["independent"] == "ward is independent of age and condition"
    assert verdict.against == (
        "anyone who knows that a person is in the table, and their ward and age, and "
        "believes prior.csv"
    )
    assert verdict.status == "holds"


def test_numbers_are_the_same_however_they_are_written(ask: Callable[..., Verdict]) -> None:
    one = ask("age,condition,probability", "31,flu,.5", "34,flu,.1", "45,cold,.2", "48,cold,.2")
    other = ask(
        "age,condition,probability", "31.0,flu,1/2", "34.00,flu,0.1", "45,cold,2e-1", "48,cold,0.20"
    )
    assert one.measured == other.measured and one.evidence == other.evidence


def complaint(ask: Callable[..., Verdict], *lines: str, **options: Any) -> TacitError:
    with pytest.raises(TacitError) as caught:
        ask(*lines, **options)
    return caught.value


FINE = ("ward,condition,probability", "A1,flu,1/2", "A2,cold,1/4", "B1,cold,1/4")


@pytest.mark.parametrize(
    ("lines", "message", "line"),
    [
        (
            [*FINE[:-1], "B1,cold,0.2"],
            "the probabilities of prior.csv sum to 0.95, not to 1.",
            None,
        ),
        ([*FINE[:-1], "B1,cold,-1/4"], "the probability -0.25 is negative.", 4),
        ([*FINE[:-1], "B1,cold,some"], "probability: 'some' is not a number", 4),
        ([*FINE[:-1], "B1,cold"], "this line has 2 cells, the first line has 3.", 4),
        ([*FINE, "B1,cold,0"], "(B1, cold) stands in line 4 already.", 5),
        (
            [FINE[0].replace("ward", "wards"), *FINE[1:]],
            "'wards' in prior.csv is neither a quasi-identifier of clinic",
            1,
        ),
        (
            ["ward,probability", "A1,1/2", "A2,1/4", "B1,1/4"],
            "the prior prior.csv has no column 'condition'",
            1,
        ),
        (
            [FINE[0].replace("probability", "share"), *FINE[1:]],
            "the prior prior.csv has no column 'probability'.",
            1,
        ),
        (
            ["ward,ward,condition,probability", "A,A,flu,1"],
            "prior.csv has two columns named 'ward'.",
            1,
        ),
        ([*FINE[:-1], "A2,,1/4"], "this line has no condition.", 4),
        (FINE[:1], "the prior prior.csv is empty.", None),
        (
            [FINE[0], "A1,flu,1/2", "A2,cold,1/2"],
            "gives no probability to ward 'B1' and condition 'cold', which occurs in table clinic.",
            None,
        ),
        (
            [*FINE[:-1], "B1,cold,0", "C1,cold,1/4"],
            "gives no probability to ward 'B1' and condition 'cold'",
            None,
        ),
        (
            [*FINE[:-1], "B1,cold,1/8", "B11,cold,1/8"],
            "the mask of column 'ward' has no place for 'B11'. It stands in prior.csv.",
            None,
        ),
        (
            ["age,condition,probability", "31,flu,1/2", "old,cold,1/2"],
            "'old' is no value of column 'age', whose values are like '31'.",
            3,
        ),
    ],
)
def test_a_prior_that_is_wrong_is_refused_where_it_is_wrong(
    ask: Callable[..., Verdict], lines: list[str], message: str, line: int | None
) -> None:
    error = complaint(ask, *lines)
    assert isinstance(error, DataError) and message in error.message, str(error)
    assert error.mark is not None and (error.mark.file, error.mark.line) == ("prior.csv", line)


def test_a_value_that_the_hierarchy_does_not_have_is_named(ask: Callable[..., Verdict]) -> None:
    error = complaint(
        ask,
        *FINE[:-1],
        "B1,cold,1/8",
        "C1,cold,1/8",
        hierarchies="{ward: ward.csv, age: {ranges: [10]}}",
        ward="A1;A\nA2;A\nB1;B\n",
    )
    assert (
        error.message
        == "the hierarchy of column 'ward' has no place for 'C1'. It stands in prior.csv."
    )


def test_a_prior_that_is_not_there_is_an_error(ask: Callable[..., Verdict], tmp_path: Path) -> None:
    ask(*FINE)
    (tmp_path / "prior.csv").unlink()
    with pytest.raises(TacitError, match=r"there is no file prior.csv\."):
        tacit.load(tmp_path / "tacit.yaml").check()


@pytest.mark.parametrize(
    ("rho1", "rho2", "message"),
    [
        (0, "1/2", "rho1=0 is out of range. Use rho1 > 0."),
        ("1/2", "1/2", "rho1=0.5 is not below rho2=0.5. Use 0 < rho1 < rho2 < 1."),
        ("1/2", 1, "rho2=1 protects nobody: no belief is above it. Use 0 < rho1 < rho2 < 1."),
        ("a", 1, "rho1: 'a' is not a number"),
    ],
)
def test_thresholds_outside_their_range(rho1: Any, rho2: Any, message: str) -> None:
    with pytest.raises(TacitError) as caught:
        Rho1Rho2(rho1, rho2)
    assert message in str(caught.value)


def test_from_python_with_a_file_and_with_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pandas

    people = pandas.DataFrame({"ward": ["A", "A", "B"], "condition": ["flu", "cold", "flu"]})
    monkeypatch.chdir(tmp_path)
    Path("f.csv").write_text(
        "ward,condition,probability\nA,flu,1/10\nA,cold,6/10\nB,flu,3/10\n", "utf-8"
    )
    lines = [(1, ["ward", "condition", "probability"]), (2, ["A", "flu", "1/10"])]
    lines += [(3, ["A", "cold", "6/10"]), (4, ["B", "flu", "3/10"])]
    verdicts = [
        tacit.check(
            people,
            Rho1Rho2(0.2, 0.4, prior=prior),
            quasi_identifiers=["ward"],
            sensitive="condition",
        )
        for prior in ("f.csv", read_prior(lines, "f.csv"))
    ]
    assert [verdict.measured for verdict in verdicts] == [{"belief": F(1, 2)}] * 2
    assert verdicts[0].evidence == verdicts[1].evidence


def test_the_witness_can_be_replayed_without_the_prior(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(PRIOR_3_5, "utf-8")
    cells = [cell for cell, number in TABLE_3_5.items() for _ in range(number)]
    rows = "\n".join(f"      - [p{i}, {q}, {s}]" for i, (q, s) in enumerate(cells))
    (tmp_path / "tacit.yaml").write_text(THEOREM.format(rows=rows), "utf-8")
    plan = tacit.load(tmp_path / "tacit.yaml")
    fine, coarse = plan.check()
    assert tacit.replay(coarse, plan.released("starred"), ["q"])
    with pytest.raises(DataError, match="rests on more than the released rows"):
        tacit.replay(fine, plan.released("table"), ["q"])
