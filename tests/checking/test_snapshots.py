"""Releases of one table at several times: people are matched by key, some joined, some left."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from checking.keeping import plan_of
from oracles import together as oracle
from tacit.checking.assess import assess
from tacit.errors import PlanError

KINDS: dict[str, dict[str, Any]] = {
    "l-diversity": {"kind": "distinct", "l": 2},
    "k-anonymity": {"k": 2},
    "alpha-k": {"alpha": Fraction(9, 10), "k": 1},
}


def plan_with(now: list[Any], then: list[Any], checks: list[Any], **table: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "tables": {
            "patients": {
                "columns": ["id", "now", "then", "value"],
                "rows": now,
                "key": ["id"],
                "quasi-identifiers": ["now", "then"],
                "sensitive": ["value"],
                "hierarchies": {"now": "*", "then": "*"},
            },
            "earlier": {"snapshot-of": "patients", "rows": then, **table},
        },
        "releases": {
            "april": {"table": "earlier", "generalization": {"now": 1}},
            "may": {"table": "patients", "generalization": {"then": 1}},
        },
        "published": ["april"],
        "checks": checks,
    }


@pytest.mark.slow
def test_what_two_snapshots_tell_is_what_all_worlds_tell(tmp_path: Path) -> None:
    rng, seen = random.Random(8), set()
    for _ in range(60):
        many = rng.randint(3, 7)
        rows = [[at, rng.choice("xy"), rng.choice("pq"), rng.choice("uvw")] for at in range(many)]
        now = [at == 0 or rng.random() < 0.8 for at in range(many)]
        then = [rng.random() < 0.8 or not now[at] for at in range(many)]
        held = {rows[at][3] for at in range(many) if now[at]}
        for row in rows:
            row[3] = row[3] if row[3] in held else rows[0][3]
        if not any(was and now[at] for at, was in enumerate(then)):
            continue
        plan = plan_with(
            [row for at, row in enumerate(rows) if now[at]],
            [row for at, row in enumerate(rows) if then[at]],
            [
                {
                    kind: {
                        "release": "may",
                        **{k: str(v) if k == "alpha" else v for k, v in p.items()},
                    }
                }
                for kind, p in KINDS.items()
            ],
        )
        releases = [
            oracle.Release([row[2] if then[at] else None for at, row in enumerate(rows)], [0]),
            oracle.Release([row[1] if now[at] else None for at, row in enumerate(rows)], [0]),
        ]
        known = oracle.known([(row[3],) for row in rows], releases)
        for found, (kind, asked) in zip(
            assess(plan_of(plan, tmp_path)).verdicts, KINDS.items(), strict=True
        ):
            breaks = oracle.fails(kind, asked, {})
            right = "breached" if any(map(breaks, known)) else "holds"
            assert found.status == right, (rows, now, then, str(found))
            assert "same-key" in [one.id for one in found.assumptions]
            if found.witness is not None and "person" in found.witness.personal:
                assert breaks(known[found.witness.personal["person"]["id"]])
            seen.add((kind, found.status))
    assert len(seen) == 2 * len(KINDS)


NOW = [[1, "x", "p", "u"], [2, "x", "p", "v"], [3, "x", "p", "v"]]
DISTINCT = [{"l-diversity": {"release": "may", "kind": "distinct", "l": 2}}]


def test_who_left_is_told_by_what_the_first_release_shows_of_them(tmp_path: Path) -> None:
    plan = plan_with(NOW, [*NOW[:2], [4, "x", "q", "v"]], DISTINCT)
    [found] = assess(plan_of(plan, tmp_path)).verdicts
    assert found.witness is not None
    whom = found.witness.personal["person"]
    assert whom == {"id": 3} or whom == {"id": 4}
    left = [*NOW[:2], NOW[2]], [*NOW, [4, "x", "q", "v"]]
    [found] = assess(plan_of(plan_with(*left, DISTINCT), tmp_path)).verdicts
    assert found.witness is not None and found.witness.personal["person"] == {"id": 4}
    assert found.witness.personal["groups"] == {"april": {"now": "*", "then": "q"}}
    assert found.witness.personal["known"] == {"now": "*", "then": "q"}


@pytest.mark.parametrize(
    ("then", "why"),
    [
        ([[1, "x", "p", "v"]], "value of 1 person is another one in april"),
        ([NOW[0], [9, "x", "p", "w"]], "1 value of value that nobody has now"),
        ([["1", "x", "p", "u"]], "nobody of april is in may, by id"),
    ],
)
def test_what_does_not_fit_is_undecided_and_says_why(
    then: list[Any], why: str, tmp_path: Path
) -> None:
    [found] = assess(plan_of(plan_with(NOW, then, DISTINCT), tmp_path)).verdicts
    assert found.status == "undecided" and found.reason is not None and why in found.reason.text


@pytest.mark.parametrize("named", [{"given": ["april"]}, {}])
def test_a_copy_of_another_table_that_looks_the_same_is_not_passed_over_in_silence(
    named: dict[str, Any],
    tmp_path: Path,
) -> None:
    plan = plan_with(NOW, NOW[:2], [{"k-anonymity": {"release": "may", "k": 2, **named}}])
    plan["tables"]["earlier"] = {**plan["tables"]["patients"], "rows": NOW[:2]}
    [found] = assess(plan_of(plan, tmp_path)).verdicts
    assert found.status == "holds"
    [note] = [one for one in found.warnings if one.startswith("april")]
    assert "taken to be other people" in note and "snapshot-of" in note


def test_nothing_is_said_of_a_copy_of_a_table_about_something_else(tmp_path: Path) -> None:
    plan = plan_with(NOW, NOW[:2], [{"k-anonymity": {"release": "may", "k": 2}}])
    plan["tables"]["earlier"] = {
        "columns": ["id", "club"],
        "key": ["id"],
        "quasi-identifiers": ["club"],
        "rows": [[1, "chess"], [2, "chess"]],
    }
    plan["releases"]["april"] = {"table": "earlier"}
    [found] = assess(plan_of(plan, tmp_path)).verdicts
    assert found.status == "holds" and not found.warnings


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"earlier": {"snapshot-of": "patient"}}, "there is no table 'patient'"),
        ({"earlier": {"snapshot-of": "patients", "sensitive": ["value"]}}, "does not go with"),
        ({"earlier": {"snapshot-of": "patients", "rows": [[1, 2]]}}, "2 cells for 4 columns"),
        ({"earlier": {"snapshot-of": "earlier"}}, "is a snapshot itself"),
        ({"patients": {"columns": ["value"]}}, "has no key"),
    ],
)
def test_a_snapshot_that_cannot_be_one_is_an_error(
    change: dict[str, Any], why: str, tmp_path: Path
) -> None:
    plan = plan_with(NOW, NOW[:2], [])
    if "patients" in change:
        del plan["tables"]["patients"]["key"]
    else:
        plan["tables"] |= change
    with pytest.raises(PlanError, match=why):
        plan_of(plan, tmp_path)
