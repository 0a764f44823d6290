"""Queries tried as a role: the gateway's own decision, why, how it was read, and the first rows
of what is allowed.
"""

from __future__ import annotations

import pickle
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.gateway_plans import HOSPITAL, policy
from tacit.errors import EngineError, InputError, PlanError
from tacit.gateway.policy.decisions import Decider
from tacit.gateway.policy.explanations import Explainer, TriedQuery
from tacit.gateway.trial import ALL, Trial, first_rows, prepared, with_roles
from tacit.model.jobs import Cancelled, Job
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan

# Role, query, code of the decision, outcomes of the steps.
CASES: tuple[tuple[str, str, str, list[str]], ...] = (
    ("nurses", "SELECT name FROM patients", "discloses", ["passed", "refused"]),
    (
        "nurses",
        "SELECT name FROM patients WHERE illness = 'flu'",
        "allowed",
        ["passed", "passed", "passed", "not asked"],
    ),
    (
        "nurses",
        "SELECT ward, count(*) FROM patients GROUP BY ward",
        "undecided",
        ["passed", "refused"],
    ),
    (
        "nurses",
        "SELECT ward FROM patients WHERE illness = 'flu' AND 1 / age = 1",
        "may-fail",
        ["passed", "passed", "refused"],
    ),
    ("nurses", "SELECT nam FROM patients", "unknown-column", ["refused"]),
    ("nurses", "DROP TABLE patients", "not-a-query", ["refused"]),
    ("nurses", "SELECT (", "syntax", ["refused"]),
    ("nurses", "SELECT 1", "allowed", ["passed", "passed", "passed", "not asked"]),
    (
        "clerks",
        "SELECT DISTINCT nurse FROM wards",
        "allowed",
        ["passed", "passed", "passed", "passed"],
    ),
    (
        "clerks",
        "SELECT name FROM patients WHERE illness = 'cold'",
        "not-granted",
        ["passed", "passed", "passed", "refused"],
    ),
    ("clerks", "SELECT name FROM flu", "allowed", ["passed", "passed", "passed", "passed"]),
    ("porters", "SELECT * FROM wards", "allowed", ["passed", "passed", "passed", "passed"]),
    (
        "porters",
        "SELECT name FROM patients",
        "not-granted",
        ["passed", "passed", "passed", "refused"],
    ),
)


def written(folder: Path, text: str = HOSPITAL) -> Plan:
    (folder / "tacit.yaml").write_text(text, "utf-8")
    return load_plan(folder / "tacit.yaml")


@pytest.fixture(scope="module")
def explainer(tmp_path_factory: pytest.TempPathFactory) -> Explainer:
    return Explainer(policy(tmp_path_factory.mktemp("hospital")))


@pytest.mark.parametrize(
    ("role", "sql", "code", "steps"), CASES, ids=[f"{role}: {sql}" for role, sql, *_ in CASES]
)
def test_the_decision_is_the_gateways_and_the_steps_lead_to_it(
    explainer: Explainer, role: str, sql: str, code: str, steps: list[str]
) -> None:
    found = explainer.decide(role, sql)
    alone = Decider(explainer.policy).decide(role, sql)
    assert replace(found.decision, key="") == replace(
        alone, key=""
    )  # keys have the numbers of constants that a decider met before
    assert found.decision.code == code and [one.outcome for one in found.steps] == steps
    assert (found.steps[-1].outcome == "refused") == (not found.decision.allowed)
    assert found.steps[-1].text and pickle.loads(pickle.dumps(found)) == found
    if code not in ("unknown-column", "not-a-query", "syntax"):
        assert found.reading is not None and {one.secret for one in found.secrets} == set(
            explainer.policy.roles[role].denied
        )


def test_a_refusal_carries_the_row_that_matters_and_what_would_help(explainer: Explainer) -> None:
    found = explainer.decide("nurses", "SELECT name, ward FROM patients WHERE age > $1", [30])
    about = found.in_question
    assert (
        about is not None
        and about.secret == "cancer"
        and about.verdict is not None
        and about.verdict.witness is not None
    )
    facts = about.verdict.witness.facts
    assert (
        facts["critical_tuple"]["values"][2] == "cancer"
        and facts["executed"]["view"]["without"] != facts["executed"]["view"]["with"]
    )
    assert any("illness <> 'cancer'" in change for change in facts["changes"])
    assert (
        found.reading is not None
        and found.reading.exact is not None
        and "30 < age" in found.reading.exact.parts[0].comparisons
    )
    assert (
        about.reading.exact is not None and "'cancer'" in about.reading.exact.parts[0].subgoals[0]
    )


def test_what_is_not_read_exactly_is_said_with_its_place_and_shown_to_disclose(
    explainer: Explainer,
) -> None:
    found = explainer.decide(
        "nurses", "SELECT ward,\n count(*) FROM patients WHERE age > ? GROUP BY ward", [20]
    )
    assert (
        found.decision.code == "undecided"
        and found.reading is not None
        and found.reading.exact is None
    )
    assert (found.reading.approximations[0].code, found.reading.approximations[0].line) == (
        "aggregate",
        2,
    )
    assert found.in_question is not None and found.in_question.verdict is not None
    assert (
        found.in_question.verdict.status == "breached"
    )  # the owner may know more than a client is told
    assert "not exactly" in found.steps[0].text


def test_an_allowed_query_says_from_what_it_follows(explainer: Explainer) -> None:
    told = {
        sql: explainer.decide("clerks", sql).steps[-1].text
        for sql in (
            "SELECT name FROM flu",
            "SELECT name FROM patients WHERE illness = 'flu'",
            "SELECT DISTINCT nurse FROM wards",
        )
    }
    assert "which the role is allowed" in told["SELECT name FROM flu"]
    assert "computed from flu" in told["SELECT name FROM patients WHERE illness = 'flu'"]
    assert "staff" in told["SELECT DISTINCT nurse FROM wards"]


def test_evidence_that_takes_too_long_is_left_out_and_the_decision_is_not(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.gateway.policy.explanations.EXPLAIN_SECONDS", -1.0)
    found = explainer.decide("nurses", "SELECT name FROM patients")
    assert found.decision.code == "discloses" and [one.verdict for one in found.secrets] == [None]


# -- a plan without roles, and with contradictions -------------------------------------------------


def test_without_roles_each_secret_can_be_tried(tmp_path: Path) -> None:
    head = HOSPITAL.partition("roles:")[0].replace(
        "secrets:\n",
        "secrets:\n"
        '  old: "SELECT name FROM patients WHERE age > 60"\n'
        '  any: "S(n) :- patients(n, a, i, $w)"\n',
    )
    plan, left_out = with_roles(written(tmp_path, head))
    assert list(plan.roles) == [ALL, "old", "cancer"] and left_out == ("any",)
    found = prepared(written(tmp_path, head))
    assert (
        not found.are_roles
        and found.left_out == ("any",)
        and pickle.loads(pickle.dumps(found)).policy.digest == found.policy.digest
    )
    explainer = Explainer(found.policy)
    assert explainer.decide(
        "old", "SELECT name FROM patients WHERE illness = 'cancer' AND age < 50"
    ).decision.allowed
    assert (
        explainer.decide(
            ALL, "SELECT name FROM patients WHERE illness = 'cancer' AND age < 50"
        ).decision.secret
        == "cancer"
    )
    with pytest.raises(PlanError, match="neither roles nor secrets"):
        prepared(written(tmp_path, "version: 1\ntables: {t: {columns: {a: text}, rows: [[x]]}}\n"))


def test_contradictions_are_told_and_do_not_keep_one_from_trying(tmp_path: Path) -> None:
    found = prepared(
        written(tmp_path, HOSPITAL.replace("allow: [staff, flu]", "allow: [staff, patients]"))
    )
    assert (
        list(found.contradictions) == ["clerks"]
        and "patients is allowed and discloses cancer" in found.contradictions["clerks"][0]
    )
    assert (
        not Explainer(found.policy).decide("clerks", "SELECT name FROM patients").decision.allowed
    )  # deny wins


# -- in a process of its own -----------------------------------------------------------------------


def test_a_process_explains_one_query_after_the_other_and_starts_again(tmp_path: Path) -> None:
    trial = Trial(policy(tmp_path))
    try:
        trial.start()
        begun = time.monotonic()
        found = [
            trial.ask("nurses", sql)
            for sql in ("SELECT name FROM patients", "SELECT name FROM flu")
        ]
        assert all(isinstance(one, TriedQuery) for one in found) and [
            one.decision.allowed for one in found
        ] == [False, True]
        assert time.monotonic() - begun < 5
        with pytest.raises(InputError, match="no such role"):
            trial.ask("doctors", "SELECT 1")
        trial.close()
        assert trial.ask("nurses", "SELECT 1").decision.allowed
        trial._seconds = 0.0
        with pytest.raises(EngineError, match="not found out in time"):
            trial.ask("nurses", "SELECT name FROM patients")
    finally:
        trial.close()


# -- first rows ------------------------------------------------------------------------------------


def test_only_what_is_allowed_runs_and_only_its_first_rows_are_read(tmp_path: Path) -> None:
    plan = written(tmp_path)
    found = first_rows(
        plan,
        "nurses",
        "SELECT name, age, NULL AS nothing FROM patients WHERE illness = ? ORDER BY name",
        ["flu"],
        limit=1,
    )
    assert (
        found.decision.allowed
        and found.columns == ("name", "age", "nothing")
        and found.rows == (("Ann", "30", None),)
        and found.more
    )
    assert not first_rows(plan, "nurses", "SELECT name FROM flu", limit=2).more
    refused = first_rows(plan, "nurses", "SELECT name FROM patients")
    assert refused.decision.code == "discloses" and refused.rows == () and refused.columns == ()
    with pytest.raises(InputError, match="no such role"):
        first_rows(plan, "doctors", "SELECT 1")


HEAVY = "SELECT count(*) AS many FROM range(3000000) a, range(3000000) b"


def test_a_query_that_takes_too_long_is_stopped_and_so_is_one_that_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = written(tmp_path)

    def decided(self: Any, role: str, sql: str, parameters: Any = ()) -> Any:
        from tacit.gateway.policy.decisions import Decision

        return Decision(True, "allowed", "", sql=sql)

    monkeypatch.setattr(Decider, "decide", decided)
    begun = time.monotonic()
    with pytest.raises(EngineError, match=r"within 0[.]5 seconds"):
        first_rows(plan, "nurses", HEAVY, seconds=0.5)
    job = Job()
    job.tell = lambda text, share: job.cancel() if text == "running the query" else None
    with pytest.raises(Cancelled):
        first_rows(plan, "nurses", HEAVY, job=job)
    assert time.monotonic() - begun < 10
