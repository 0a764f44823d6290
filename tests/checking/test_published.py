"""What a plan has under `published` is judged with views of the same table,
without a ledger and without `given`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checking.keeping import plan_of
from checking.test_restoring import PATIENTS, Drawn, hospital
from oracles import holdings, overlap
from tacit.checking.assess import assess
from tacit.model.verdict import Verdict
from tacit.workbench.check_states import fingerprint

PUBLIC = {
    name: {"query": f"SELECT condition FROM patients WHERE {where}"}
    for name, where in (("men", "sex = 'M'"), ("older", "age BETWEEN 26 AND 28"))
}
GAMMA = {"gamma-privacy": {"release": "older", "gamma": 0.5}}
SIND = {"k-sind": {"release": "older", "k": 2}}
RSIND = {"k-rsind": {"release": "older", "k": 2}}


def verdicts(
    *checks: Any, published: list[str], more: dict[str, Any] | None = None, **changed: Any
) -> list[Verdict]:
    releases = {**PUBLIC, **(more or {})}
    return list(
        assess(
            plan_of(
                hospital(releases=releases, published=published, checks=list(checks), **changed)
            )
        ).verdicts
    )


def test_what_is_published_counts_as_if_the_check_said_that_it_is_given() -> None:
    """By brute force, with recipients and groups that collude."""
    seen = set()
    for number in range(10):
        drawn = Drawn(number)
        people = overlap.only_keys(drawn.truth)
        document = drawn.plan(published=[name for name, _ in drawn.out])
        own = document["checks"][0]["gamma-privacy"]
        document["checks"].append(
            {"k-sind": {key: value for key, value in own.items() if key != "gamma"} | {"k": 2}}
        )
        if not (drawn.collude or drawn.out):
            continue

        def small(
            has: frozenset[str], gets: frozenset[str], drawn: Drawn = drawn, people: Any = people
        ) -> bool:
            views = [overlap.by_members(name, drawn.members[name]) for name in sorted(has | gets)]
            return overlap.level(overlap.sind_partition(people, drawn.truth, views, None)) < 2

        expected = [
            drawn.is_breached({}, ()),
            holdings.is_breached(drawn.new, drawn.out, drawn.collude, small),
        ]
        found = assess(plan_of(document)).verdicts
        assert [verdict.status for verdict in found] == [
            "breached" if one else "holds" for one in expected
        ], (number, vars(drawn))
        seen |= {(verdict.check, verdict.status) for verdict in found}
    assert {("gamma-privacy", "holds"), ("gamma-privacy", "breached")} <= seen


@pytest.mark.parametrize("check", [GAMMA, SIND, RSIND])
def test_all_kinds_about_views_of_one_table_judge_it(check: dict[str, Any]) -> None:
    [kind] = check
    alone, beside = verdicts(check, published=[])[0], verdicts(check, published=["men"])[0]
    given = verdicts({kind: {**check[kind], "given": ["men"]}}, published=[])[0]
    assert (
        alone.status == "holds"
        and beside.status == "breached"
        and "everybody has men already" in beside.because
    )
    assert (beside.because, beside.measured, beside.subject, beside.assumptions) == (
        given.because,
        given.measured,
        given.subject,
        given.assumptions,
    )
    assert (
        "no other data about these people has been published than what the plan says of the same "
        "tables" in [one.text for one in beside.assumptions]
    )


def test_given_nothing_turns_it_off_and_says_so() -> None:
    [verdict] = verdicts(
        {"gamma-privacy": {"release": "older", "gamma": 0.5, "given": []}}, published=["men"]
    )
    assert verdict.status == "holds"
    assert verdict.warnings == (
        "men is published too, and is not judged here: `given` of this check leaves it out",
    )


def test_a_check_that_names_what_is_published_is_as_before() -> None:
    both = {"gamma-privacy": {"releases": ["men", "older"], "gamma": 0.5}}
    assert timeless(verdicts(both, published=["men"])) == timeless(verdicts(both, published=[]))


def timeless(found: Sequence[Verdict]) -> list[Verdict]:
    return [replace(one, seconds=0) for one in found]


def test_releases_of_other_tables_change_nothing() -> None:
    wards = {"columns": ["ward", "floor"], "rows": [["a", 1], ["b", 2]], "key": ["ward"]}
    more, tables = (
        {"wards": {"query": "SELECT ward, floor FROM wards"}},
        {"patients": PATIENTS, "wards": wards},
    )
    found = verdicts(GAMMA, SIND, published=["wards"], more=more, tables=tables)
    assert timeless(found) == timeless(
        verdicts(GAMMA, SIND, published=[], more=more, tables=tables)
    )


def test_what_is_published_about_tied_tables_counts_as_by_the_ledger() -> None:
    tables = {
        "patients": PATIENTS,
        "visits": {"columns": ["name", "day"], "rows": [["Alan", 1], ["Fen", 2]]},
    }
    [verdict] = verdicts(
        GAMMA,
        published=["visits"],
        more={"visits": {"query": "SELECT name FROM visits"}},
        tables=tables,
        constraints=["visits(n, d) -> patients(n, s, a, c)"],
    )
    assert (
        verdict.status == "undecided"
        and verdict.reason is not None
        and verdict.reason.code == "does-not-compose"
    )


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (
            {
                "table": "patients",
                "synthetic": {"group": "sex", "value": "condition", "epsilon": 1, "delta": 0},
            },
            "No definition judges synthetic data",
        ),
        ({"query": "SELECT sex, COUNT(*) AS people FROM patients GROUP BY sex"}, "groups rows"),
        ({"query": "V(n) :- patients(n, s, a, c)"}, "is Datalog"),
        ({"constraint": "patients(n, s, a, 'Heart') -> s = 'M'"}, "g-safety or e-safety"),
    ],
)
def test_what_cannot_be_read_as_a_view_leaves_the_check_undecided_with_the_reason(
    release: dict[str, Any], why: str
) -> None:
    [verdict] = verdicts(GAMMA, published=["more"], more={"more": release})
    assert (
        verdict.status == "undecided"
        and verdict.reason is not None
        and verdict.reason.code == "does-not-compose"
        and why in verdict.reason.text
    )


def test_verdicts_on_the_pages_are_old_when_what_is_published_changes() -> None:
    def told(published: list[str]) -> str:
        copy = {"table": "patients", "generalization": {}}
        plan = plan_of(
            hospital(
                releases={**PUBLIC, "copy": copy},
                published=published,
                checks=[{"gamma-privacy": {"release": "copy", "gamma": 0.5}}],
            ),
            Path(),
        )
        return fingerprint(plan.checks[0], plan, {})

    assert told([]) != told(["men"])


def test_a_release_in_a_file_needs_no_other_table_also_beside_what_is_published(
    tmp_path: Path,
) -> None:
    (tmp_path / "vendor.csv").write_text("age,pay\n1,2\n1,3\n", "utf-8")
    document = {
        "version": 1,
        "tables": {
            "people": {"quasi-identifiers": ["age"], "sensitive": ["pay"]},
            "others": {"quasi-identifiers": ["age"], "sensitive": ["pay"]},
        },
        "releases": {
            "vendor": {"table": "people", "file": "vendor.csv"},
            "seen": {"table": "others"},
        },
        "checks": [{"k-anonymity": {"release": "vendor", "k": 2}}],
    }
    assert [one.status for one in assess(plan_of(document, tmp_path))] == ["holds"]
    # What the tables have is not at hand: nobody can say that they are not about the same people.
    assert [
        one.status for one in assess(plan_of({**document, "published": ["seen"]}, tmp_path))
    ] == ["undecided"]
