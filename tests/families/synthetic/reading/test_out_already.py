"""Synthetic releases that are published, and the values that a story is told with."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("flint")

from tacit.checking.assess import assess
from tacit.errors import PlanError
from tacit.plan.read.load import load_plan

PLAN = """
version: 1
tables:
  jobs:
    columns: [town, home]
    rows: [[A, n], [A, s], [A, s], [A, w], [B, n], [B, e]]
    domains: {home: [e, n, s, w]}
releases:
  last: {table: jobs, synthetic: {group: town, value: home, epsilon: 2, delta: 0.001}}
  next: {table: jobs, synthetic: {group: town, value: home, epsilon: 4, delta: 0.001, prior: prior.csv}}
published: [last]
checks:
  - differential-privacy: {release: next}
  - differential-privacy: {releases: [last, next], epsilon: 6, delta: 0.002, name: both}
  - differential-privacy: {release: next, epsilon: 1, delta: 0.001, name: less}
"""  # noqa: E501


def test_what_is_out_already_is_said_and_stories_are_about_the_least_covered(
    tmp_path: Path,
) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN)
    (tmp_path / "prior.csv").write_text("home,weight\ne,5\nn,3\ns,1\nw,1\n")
    found = assess(load_plan(tmp_path / "tacit.yaml"))
    assert (
        found[0].reason is not None
        and found[0].reason.code == "composition"
        and "last is about the same people as next" in found[0].reason.text
    )
    assert found["both"].status == "holds" and not any(
        "published" in warning for warning in found["both"].warnings
    )
    witness = found["less"].witness
    assert found["less"].status == "breached" and witness is not None
    assert (
        set(witness.facts["output"]) <= {"s", "n"}
        and witness.facts["first_table"]["s"] == 1
        and witness.facts["second_table"]["w"] == 1
    )


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            "{group: home, value: town, epsilon: 1, delta: 0}",
            "'last' protects 'home', by which people are grouped",
        ),
        (
            "{group: town, value: sex, epsilon: 1, delta: 0}",
            "'last' protects 'home', and 'next' protects 'sex'",
        ),
        (
            "{group: town, value: home, count: many, epsilon: 1, delta: 0}",
            "do not count the same people",
        ),
    ],
)
def test_only_what_protects_the_same_adds_up(tmp_path: Path, other: str, said: str) -> None:
    (tmp_path / "tacit.yaml").write_text(f"""
version: 1
tables:
  jobs: {{columns: [town, home, sex, many], rows: [[A, n, f, 1], [A, s, m, 2], [B, n, f, 1]], domains: {{home: [n, s], town: [A, B], sex: [f, m]}}}}
releases:
  last: {{table: jobs, synthetic: {{group: town, value: home, epsilon: 1, delta: 0}}}}
  next: {{table: jobs, synthetic: {other}}}
checks:
  - differential-privacy: {{releases: [last, next], epsilon: 2, delta: 0}}
""")  # noqa: E501
    with pytest.raises(PlanError, match=said):
        assess(load_plan(tmp_path / "tacit.yaml"))
