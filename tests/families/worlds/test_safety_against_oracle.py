"""g-safety and e-safety against brute force:
thousands of small cases, with constraints, != and unions.
"""

from __future__ import annotations

import pytest

from oracles.safety_cases import PLAIN, Case, Kind, cases
from safety_asking import (
    differs,
    instance_of,
    is_lawful,
    judged_directly,
    look_alike,
    status,
)
from tacit.families.worlds.definitions import view_safety
from tacit.model.verdict import Verdict
from thorough import THOROUGH

COUNTS = ("worlds_before", "worlds_after", "secrets_before", "secrets_after")


@pytest.mark.sampled
@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.name)
def test_verdicts_and_counts_are_those_of_brute_force(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        view_safety, "derived", lambda setting: None
    )  # worlds decide; rewritings are tried below
    tried = 0
    for case, truth in cases([kind], count=350 * THOROUGH):
        found = judged_directly(case)
        if found is None:
            continue
        tried += 1
        g, e = found
        assert (g.status, e.status) == (status(truth.gsafe), status(truth.esafe)), case
        for verdict in found:
            assert verdict.measured.get("worlds_equal", truth.worlds_equal) == truth.worlds_equal, (
                case
            )
            if "worlds_before" in verdict.measured:
                numbers = (
                    truth.worlds_before,
                    truth.worlds_after,
                    truth.secrets_before,
                    truth.secrets_after,
                )
                assert tuple(verdict.measured[name] for name in COUNTS) == numbers, case
        assert_replays(case, g, e)
    assert tried >= 230 * THOROUGH


def assert_replays(case: Case, g: Verdict, e: Verdict) -> None:
    """The evidence of a breach is what it says, by the oracle's own answers."""
    if g.witness is not None:
        world = instance_of(g.witness.personal["world"])
        assert (
            is_lawful(case, world)
            and look_alike(case, case.instance, world)
            and differs(case, case.instance, world)
        ), case
    if e.witness is not None:
        truth = case.judge()
        for secret in e.witness.personal["secrets"]:
            rows = frozenset(map(tuple, secret["rows"]))
            assert truth.multiplicities[rows] == (secret["before"], secret["after"]), case
