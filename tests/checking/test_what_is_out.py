"""What is published changes verdicts: what does not compose is said, and so is what changed
since."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checking.keeping import DAY, out, plan_of
from tacit.errors import PlanError
from tacit.model.verdict import Verdict

Judge = Callable[..., tuple[Verdict, ...]]

ROWS = [
    ["Alan", "M", 23, "Heart"],
    ["Bob", "M", 24, "SARS"],
    ["Clark", "M", 25, "Viral"],
    ["Donald", "M", 26, "SARS"],
    ["Ellen", "F", 27, "Viral"],
    ["Fen", "F", 28, "SARS"],
    ["Garcia", "F", 28, "Flu"],
]
PLAN: dict[str, Any] = {
    "version": 1,
    "tables": {
        "patients": {
            "columns": ["name", "sex", "age", "condition"],
            "rows": ROWS,
            "key": ["name"],
            "person": ["name"],
            "identifiers": ["name"],
            "quasi-identifiers": ["sex", "age"],
            "sensitive": ["condition"],
            "hierarchies": {"sex": "*", "age": "*"},
            "domains": {"condition": ["Heart", "SARS", "Viral", "Flu"]},
        },
        "wards": {"columns": ["ward", "floor"], "rows": [["a", 1], ["b", 2]]},
    },
    "secrets": {"sars": "SELECT DISTINCT name FROM patients WHERE condition = 'SARS'"},
    "releases": {
        "male": {"query": "SELECT condition FROM patients WHERE sex = 'M'", "to": ["bank"]},
        "late": {
            "query": "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28",
            "to": ["bank"],
        },
        "floors": {"query": "SELECT floor FROM wards"},
        "joined": {"query": "SELECT p.condition FROM patients p, wards w WHERE p.sex = w.ward"},
        "april": {"table": "patients", "generalization": {"sex": 1, "age": 1}},
        "may": {"table": "patients", "generalization": {"sex": 0, "age": 1}},
        "drawn": {
            "table": "patients",
            "synthetic": {"group": "sex", "value": "condition", "epsilon": 2, "delta": 0},
        },
        "again": {
            "table": "patients",
            "synthetic": {"group": "sex", "value": "condition", "epsilon": 3, "delta": 0},
        },
        "rule": {"constraint": "patients(n, s, a, c) -> patients(m, s, b, d)"},
    },
    "published": ["ledger"],
}
GAMMA = {"gamma-privacy": {"release": "late", "gamma": "1/2"}}
ANONYMITY = {"k-anonymity": {"release": "april", "k": 2}}
PERFECT = {"perfect-privacy": {"secret": "sars", "release": "floors"}}


def asking(*checks: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(PLAN), "checks": copy.deepcopy(list(checks)), **changed}


def code(verdict: Verdict) -> str | None:
    return verdict.reason.code if verdict.reason else None


def test_views_that_one_client_holds_are_judged_together(judge: Judge) -> None:
    [alone] = judge(asking(GAMMA), [])
    assert alone.status == "holds" and alone.subject == {"release": "late", "given": []}
    [verdict] = judge(asking(GAMMA), [("male", ["bank"])])
    assert verdict.status == "breached" and verdict.measured["gamma"].as_integer_ratio() == (4, 5)
    assert verdict.subject == {"release": "late", "given": ["male"]}
    assert (
        "bank has male (entry 1, 2026-04-01) already" in verdict.because
        and "bank" in verdict.against
    )
    [other] = judge(asking(GAMMA), [("male", ["press"])])
    assert other.status == "holds"


def test_what_is_public_everybody_holds_and_who_colludes_holds_it_together(judge: Judge) -> None:
    [verdict] = judge(asking(GAMMA), [("male", [])])
    assert verdict.status == "breached"
    together = {"gamma-privacy": {**GAMMA["gamma-privacy"], "collude": [["bank", "press"]]}}
    [verdict] = judge(asking(together), [("male", ["press"])])
    assert verdict.status == "breached" and "bank and press together have male" in verdict.because


def test_a_ledger_that_is_not_asked_changes_nothing(judge: Judge) -> None:
    before = judge(asking(GAMMA, ANONYMITY, PERFECT, published=[]), [])
    after = judge(
        asking(GAMMA, ANONYMITY, PERFECT, published=[]), [("male", []), ("may", []), ("drawn", [])]
    )
    assert [
        (one.status, one.subject, one.because, one.assumptions, one.warnings) for one in before
    ] == [(one.status, one.subject, one.because, one.assumptions, one.warnings) for one in after]
    without = {"gamma-privacy": {**GAMMA["gamma-privacy"], "given": []}}
    assert judge(asking(without), [("male", ["bank"])])[0].status == "holds"


def test_given_names_releases_too(judge: Judge) -> None:
    given = {"gamma-privacy": {**GAMMA["gamma-privacy"], "given": ["male"]}}
    [verdict] = judge(asking(given, published=[]), [])
    assert verdict.status == "breached" and verdict.subject["given"] == ["male"]
    both = {"gamma-privacy": {**GAMMA["gamma-privacy"], "given": ["floors", "ledger"]}}
    assert judge(asking(both), [("male", ["bank"])])[0].status == "breached"


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ("male", "gamma-privacy or k-sind of both, releases: [male, april]"),
        ("drawn", "No definition judges synthetic data together with anything else"),
        ("joined", "'joined' joins tables"),
        ("rule", "No definition judges these together"),
    ],
)
def test_a_table_does_not_compose_with_anything_but_copies_of_it(
    judge: Judge, held: str, words: str
) -> None:
    [verdict] = judge(asking(ANONYMITY), [(held, [])])
    assert verdict.status == "undecided" and code(verdict) == "does-not-compose"
    assert (
        verdict.reason is not None
        and held in verdict.reason.text
        and "april" in verdict.reason.text
        and words in verdict.reason.text
    )
    assert verdict.subject == {"release": "april", "given": [held]} and verdict.measured["k"] == 7
    [other] = judge(asking(ANONYMITY), [("floors", [])])
    assert other.status == "holds" and other.subject["given"] == []


def test_what_is_breached_by_itself_stays_breached(judge: Judge) -> None:
    many = {"k-anonymity": {"release": "april", "k": 8}}
    [verdict] = judge(asking(many), [("male", [])])
    assert verdict.status == "breached" and any("male" in one for one in verdict.warnings)


def test_two_copies_of_one_table_are_judged_together(judge: Judge) -> None:
    [alone] = judge(asking(ANONYMITY), [])
    [verdict] = judge(asking(ANONYMITY), [("may", [])])
    assert (alone.measured["k"], verdict.measured["k"]) == (7, 3)
    assert verdict.subject == {"release": "april", "given": ["may"]}
    assert "may (entry 1, 2026-04-01)" in verdict.because


def test_the_same_release_again_is_one(judge: Judge) -> None:
    [verdict] = judge(asking(ANONYMITY), [("april", []), ("april", ["bank"])])
    assert verdict.status == "holds" and any(
        "april (entry 1, 2026-04-01) is published" in one for one in verdict.warnings
    )


@pytest.mark.parametrize(
    ("held", "status"),
    [
        ("drawn", "does-not-compose"),
        ("joined", "does-not-compose"),
        ("rule", "does-not-compose"),
        ("floors", None),
    ],
)
def test_overlapping_views_beside_other_things(judge: Judge, held: str, status: str | None) -> None:
    [verdict] = judge(asking(GAMMA), [(held, ["bank"])])
    assert (verdict.status, code(verdict)) == (
        ("holds", None) if status is None else ("undecided", status)
    )
    if status:
        assert (
            verdict.reason is not None
            and held in verdict.reason.text
            and "late" in verdict.reason.text
        )


def test_what_cannot_be_judged_does_not_hide_a_breach(judge: Judge) -> None:
    [verdict] = judge(asking(GAMMA), [("joined", ["bank"]), ("male", ["bank"])])
    assert verdict.status == "breached" and any("joined" in one for one in verdict.warnings)


def test_microdata_and_views_are_judged_together(judge: Judge) -> None:
    [alone] = judge(asking(GAMMA), [])
    [verdict] = judge(asking(GAMMA), [("may", ["bank"])])
    assert alone.measured["gamma"] != verdict.measured["gamma"] and verdict.subject["given"] == [
        "may"
    ]


def test_perfect_privacy_beside_other_things(judge: Judge) -> None:
    assert judge(asking(PERFECT), [("floors", [])])[0].status == "holds"
    [verdict] = judge(asking(PERFECT), [("male", [])])
    assert verdict.status == "breached" and verdict.subject == {
        "secret": "sars",
        "release": "floors",
        "given": ["male"],
    }
    for held in ("may", "drawn"):
        [verdict] = judge(asking(PERFECT), [(held, [])])
        assert code(verdict) == "does-not-compose"
    # A rule about the secret's table says nothing of the other table.
    assert judge(asking(PERFECT), [("rule", [])])[0].status == "holds"
    tied = {**PLAN["releases"], "tie": {"constraint": "patients(n, s, a, c) -> wards(w, a)"}}
    [verdict] = judge(asking(PERFECT, releases=tied), [("tie", [])])
    assert code(verdict) == "constraints"


def test_a_release_that_is_not_what_it_was(judge: Judge) -> None:
    holdings = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    changed = asking(GAMMA)
    changed["releases"]["male"]["query"] = (
        "SELECT condition FROM patients WHERE sex = 'M' AND age > 1"
    )
    [verdict] = judge(changed, holdings=holdings)
    assert code(verdict) == "release-changed" and "male (entry 1" in str(verdict.reason)
    gone = asking(GAMMA)
    del gone["releases"]["male"]
    [verdict] = judge(gone, holdings=holdings)
    assert code(
        verdict
    ) == "release-changed" and "Keep it in the plan as it was, under any name" in str(
        verdict.reason
    )
    spaced = asking(GAMMA)
    spaced["releases"]["male"]["query"] = "SELECT condition\n  FROM patients WHERE   sex = 'M' ;"
    assert judge(spaced, holdings=holdings)[0].status == "breached"


def test_the_new_release_under_an_old_name(judge: Judge) -> None:
    holdings = out(plan_of(asking(GAMMA)), [("late", ["bank"])])
    changed = asking(GAMMA)
    changed["releases"]["late"]["query"] = (
        "SELECT condition FROM patients WHERE age BETWEEN 26 AND 29"
    )
    assert code(judge(changed, holdings=holdings)[0]) == "release-changed"
    moved = asking(GAMMA, ANONYMITY)
    moved["tables"]["patients"]["rows"][6][3] = "Viral"
    late, april = judge(
        moved, holdings=out(plan_of(asking(GAMMA)), [("late", ["bank"]), ("april", [])])
    )
    assert code(late) == code(april) == "answer-changed"
    assert (
        late.reason is not None
        and "If the new one corrects it: tacit ledger correct late" in late.reason.text
    )


def test_data_that_changed(judge: Judge) -> None:
    holdings = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    changed = asking(GAMMA, PERFECT)
    changed["tables"]["patients"]["rows"][0][3] = "Viral"
    changed["tables"]["wards"]["rows"][0][1] = 3
    gamma = judge(changed, holdings=holdings)[0]
    perfect = judge(changed, holdings=out(plan_of(asking(GAMMA)), [("floors", [])]))[1]
    assert code(
        gamma
    ) == "answer-changed" and "changed since male (entry 1, 2026-04-01) went out" in str(
        gamma.reason
    )
    assert perfect.status == "holds"  # needs no answers
    elsewhere = asking(GAMMA)
    elsewhere["tables"]["patients"]["rows"][4][3] = "Heart"  # nobody whom male shows
    assert judge(elsewhere, holdings=holdings)[0].status != "undecided"


def test_an_answer_file_is_used_where_the_data_are_not_there(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "male.csv").write_text("condition\nSARS\nViral\nHeart\nSARS\n")
    (tmp_path / "late.csv").write_text("condition\nSARS\nViral\nFlu\nSARS\n")
    holdings = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    document = asking(GAMMA)
    table = document["tables"]["patients"]
    del table["columns"], table["rows"]
    (tmp_path / "patients.csv").write_text(
        "\n".join(["name,sex,age", *(f"{name},{sex},{age}" for name, sex, age, _ in ROWS)])
    )
    document["releases"]["male"]["answer"], document["releases"]["late"]["answer"] = (
        "male.csv",
        "late.csv",
    )
    [verdict] = judge(document, holdings=holdings, folder=tmp_path)
    assert verdict.status == "breached"
    assert ("published-still-true", "no") in [(one.id, one.checked) for one in verdict.assumptions]
    (tmp_path / "male.csv").write_text("condition\nSARS\nViral\nHeart\nFlu\n")
    [verdict] = judge(document, holdings=holdings, folder=tmp_path)
    assert code(verdict) == "answer-changed"


def test_an_answer_file_that_the_data_contradict(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "male.csv").write_text("condition\nSARS\nViral\nHeart\nSARS\n")
    holdings = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    document = asking(GAMMA)
    document["releases"]["male"]["answer"] = "male.csv"
    assert judge(document, holdings=holdings, folder=tmp_path)[0].status == "breached"
    document["tables"]["patients"]["rows"][0][3] = "Viral"
    [verdict] = judge(document, holdings=holdings, folder=tmp_path)
    assert code(verdict) == "answer-changed" and "does not fit the data of today" in str(
        verdict.reason
    )


def test_what_was_withdrawn_is_known_still_and_roles_are_said(judge: Judge) -> None:
    [holding] = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    document = asking(GAMMA, roles={"bank": {"default": "deny", "allow": ["floors"]}})
    [verdict] = judge(document, holdings=[replace(holding, withdrawn=DAY)])
    assert verdict.status == "breached"
    assert any("was withdrawn on 2026-04-01" in one for one in verdict.warnings)
    assert any("bank may ask the gateway too" in one for one in verdict.warnings)


def test_synthetic_data_add_up(judge: Judge) -> None:
    pytest.importorskip("flint")
    alone = {"differential-privacy": {"release": "again"}}
    assert judge(asking(alone), [])[0].status == "holds"
    [verdict] = judge(asking(alone), [("drawn", [])])
    assert code(verdict) == "composition" and "epsilon: 5" in str(verdict.reason)
    enough, less = (
        {"differential-privacy": {"release": "again", "epsilon": epsilon, "delta": 0}}
        for epsilon in (5, "4.9")
    )
    fits, does_not = judge(asking(enough, less), [("drawn", [])])
    assert (
        fits.status == "holds"
        and fits.subject == {"release": "again", "given": ["drawn"]}
        and does_not.status == "undecided"
    )
    assert any(one.id == "as-drawn" for one in fits.assumptions)
    [beside] = judge(asking(enough), [("male", [])])
    assert code(beside) == "does-not-compose"
    # Two outputs of the same mechanism are two;
    # one that is published is the one that is asked about.
    plan = plan_of(asking(enough))
    two = [
        replace(one, answer=str(number) * 64)
        for number, one in enumerate(out(plan, [("drawn", []), ("drawn", [])]))
    ]
    assert judge(asking(enough), holdings=two)[0].status == "undecided"
    assert judge(asking(alone), [("again", [])])[0].status == "holds"


def test_view_safety_takes_the_ledgers_recipients(judge: Judge) -> None:
    document: dict[str, Any] = {
        "version": 1,
        "tables": {
            "RS": {
                "columns": ["r", "c"],
                "rows": [["r1", "c1"], ["r2", "c2"]],
                "domains": {"r": ["r1", "r2"], "c": ["c1", "c2"]},
            },
            "T": {"columns": ["t"], "rows": [["x"]], "domains": {"t": ["x", "y"]}},
        },
        "secrets": {"first": "S(c) :- RS('r1', c)"},
        "releases": {
            "who": {"query": "V(r) :- RS(r, c)"},
            "all": {"query": "V(r, c) :- RS(r, c)", "to": ["bank"]},
            "micro": {"table": "RS"},
            "other": {"table": "T"},
        },
        "published": ["ledger"],
        "checks": [{"g-safety": {"secret": "first", "release": "who"}}],
    }
    assert judge(document, [])[0].status == "breached"
    [verdict] = judge(document, [("all", [])])
    assert verdict.status == "holds" and verdict.subject["given"] == ["all"]
    assert (
        judge(document, [("all", ["bank"])])[0].status == "breached"
    )  # the public does not have it
    assert judge(document, [("all", []), ("other", [])])[0].status == "holds"
    assert code(judge(document, [("all", []), ("micro", [])])[0]) == "does-not-compose"
    document["published"] = ["ledger", "all", "micro"]  # as if the ledger said so
    assert code(judge(document, [("all", [])])[0]) == "does-not-compose"


def test_over_all_databases_no_answer_is_compared(judge: Judge) -> None:
    document: dict[str, Any] = {
        "version": 1,
        "tables": {"R": {"columns": ["a"], "rows": [["x"]], "domains": {"a": ["x", "y"]}}},
        "secrets": {"some": "S(a) :- R(a)"},
        "releases": {"all": {"query": "V(a) :- R(a)"}, "x": {"query": "V() :- R('x')"}},
        "published": ["ledger"],
        "checks": [
            {"g-safety": {"secret": "some", "release": "x", "over": "domain"}},
            {"g-safety": {"secret": "some", "release": "x"}},
        ],
    }
    holdings = out(plan_of(document), [("all", [])])
    document["tables"]["R"]["rows"] = [["y"]]
    over_domain, now = judge(document, holdings=holdings)
    assert over_domain.status == "holds"
    # What is new tells something by itself, and whether what is published
    # makes that harmless is not known.
    assert now.status == "breached" and any(
        "The data changed since all" in one for one in now.warnings
    )


def test_a_list_is_judged_together_whoever_gets_which_part(judge: Judge) -> None:
    document = asking({"gamma-privacy": {"releases": ["male", "late"], "gamma": "1/2"}})
    document["releases"]["late"]["to"] = ["press"]
    [verdict] = judge(document, [])
    assert verdict.status == "breached" and verdict.subject == {
        "releases": ["male", "late"],
        "given": [],
    }


def test_who_colludes_is_known(judge: Judge) -> None:
    check = {"gamma-privacy": {**GAMMA["gamma-privacy"], "collude": [["bank", "prss"]]}}
    with pytest.raises(PlanError, match="no release goes to 'prss'"):
        judge(asking(check, published=[]), [])
    [verdict] = judge(asking(check), [])
    assert any("prss is said to collude" in one for one in verdict.warnings)


def test_what_the_plan_says_is_public_is_so_whatever_the_ledger_says(judge: Judge) -> None:
    document = asking(GAMMA, published=["ledger", "male"])
    document["releases"]["male"]["to"] = []
    document["releases"]["late"]["to"] = ["press"]
    [verdict] = judge(document, [("male", ["bank"])])
    assert verdict.status == "breached"
    document["releases"]["male"]["to"] = ["bank"]
    assert judge(document, [("male", ["bank"])])[0].status == "holds"


@pytest.mark.parametrize("written", ["Bank", "BANK", " bank ", "b\uff41nk"])
def test_a_recipient_in_other_letters_is_the_same_one(judge: Judge, written: str) -> None:
    [verdict] = judge(asking(GAMMA), [("male", [written])])  # as an entry has it
    assert (
        verdict.status == "breached"
        and "bank has male (entry 1, 2026-04-01) already" in verdict.because
    )
    releases = {
        **PLAN["releases"],
        "male": {**PLAN["releases"]["male"], "to": [written]},
    }  # as the plan has it
    [verdict] = judge(
        asking(
            {"gamma-privacy": {"release": "late", "gamma": "1/2", "given": ["male"]}},
            releases=releases,
        )
    )
    assert verdict.status == "breached"
    together = {
        "gamma-privacy": {**GAMMA["gamma-privacy"], "collude": [[written, "Press"]]}
    }  # as a check has it
    [verdict] = judge(asking(together), [("male", ["press"])])
    assert verdict.status == "breached" and not verdict.warnings
    plan = plan_of(asking(together, releases=releases))
    assert {plan.releases[name].to for name in ("male", "late")} == {
        (written.strip(),)
    } and plan.checks[0].collude == ((written.strip(), "Press"),)


# -- each step that a reason names, taken ----------------------------------------------------------


def test_what_is_kept_in_the_plan_as_it_was_under_any_name_is_judged(judge: Judge) -> None:
    holdings = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    gone = asking(GAMMA)
    old = gone["releases"].pop("male")
    for releases in (
        gone["releases"],
        {
            **gone["releases"],
            "male": {"query": "SELECT condition FROM patients WHERE age > 1", "to": ["bank"]},
        },
    ):
        [verdict] = judge({**gone, "releases": releases}, holdings=holdings)
        assert code(
            verdict
        ) == "release-changed" and "Keep it in the plan as it was, under any name" in str(
            verdict.reason
        )
        [verdict] = judge({**gone, "releases": {**releases, "male-april": old}}, holdings=holdings)
        assert verdict.status == "breached"


def test_the_data_as_they_were_are_judged_and_no_file_is_asked_for_that_would_contradict_today(
    judge: Judge,
) -> None:
    holdings = out(plan_of(asking(GAMMA)), [("male", ["bank"])])
    changed = asking(GAMMA)
    changed["tables"]["patients"]["rows"][0][3] = "Viral"
    [verdict] = judge(changed, holdings=holdings)
    assert (
        code(verdict) == "answer-changed"
        and str(verdict.reason).count("Ask about the data as they were") == 1
        and "FILE" not in str(verdict.reason)
    )
    assert judge(asking(GAMMA), holdings=holdings)[0].status == "breached"


def test_a_rule_that_ties_the_secret_leads_to_view_safety_which_judges_it(judge: Judge) -> None:
    tables = {
        "A": {"columns": ["x"], "rows": [["a"]], "domains": {"x": ["a", "b"]}},
        "B": {"columns": ["x"], "rows": [["a"]], "domains": {"x": ["a", "b"]}},
    }
    document = {
        "version": 1,
        "tables": tables,
        "secrets": {"s": "S(x) :- A(x)"},
        "releases": {"b": {"query": "V(x) :- B(x)"}, "rule": {"constraint": "B(x) -> A(x)"}},
        "checks": [
            {kind: {"secret": "s", "release": "b"}} for kind in ("perfect-privacy", "e-safety")
        ],
    }
    assert [one.status for one in judge(document)] == ["holds", "holds"]
    perfect, safety = judge({**document, "published": ["rule"]})
    assert (
        code(perfect) == "constraints"
        and "Ask for g-safety or e-safety" in str(perfect.reason)
        and safety.status == "breached"
    )
