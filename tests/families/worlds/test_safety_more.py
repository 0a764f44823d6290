"""g-safety and e-safety against brute force:
over domains, with open columns, and in other words.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from oracles.safety_cases import Case, Kind, cases
from oracles.safety_variants import variants
from safety_asking import (
    answer,
    asked,
    differs,
    instance_of,
    is_lawful,
    judged,
    look_alike,
    status,
)
from tacit.families.worlds.definitions import view_safety
from thorough import THOROUGH

COUNTS = ("worlds_before", "worlds_after", "secrets_before", "secrets_after")


@pytest.mark.slow
def test_rewritings_do_not_change_the_verdicts(tmp_path: Path) -> None:
    kinds = set()
    for case, truth in cases(count=250):
        found = judged(case, tmp_path)
        if found is not None:
            assert tuple(one.status for one in found) == (
                status(truth.gsafe),
                status(truth.esafe),
            ), case
            kinds |= {one.certificate.kind for one in found if one.certificate}
    assert kinds >= {"rewriting", "worlds-equal", "one-secret", "separate", "odds-equal"}


@pytest.mark.slow
def test_on_every_database_over_the_domains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_safety, "derived", lambda setting: None)
    tried = 0
    for case, _ in cases(count=180 * THOROUGH):
        found = judged(case, tmp_path, over="domain")
        if found is None:
            continue
        tried += 1
        truth, (g, e) = case.over_domain(), found
        assert (g.status, e.status) == (status(truth.gsafe), status(truth.esafe)), case
        if g.witness is not None:
            one, two = (
                instance_of(g.witness.facts["instance"]),
                instance_of(g.witness.facts["world"]),
            )
            assert is_lawful(case, one) and is_lawful(case, two) and look_alike(case, one, two), (
                case
            )
            assert differs(case, one, two) and answer(case.secret, one) != answer(
                case.secret, two
            ), case
    assert tried >= 120 * THOROUGH


@pytest.mark.slow
def test_columns_without_a_domain(tmp_path: Path) -> None:
    """What holds with open columns holds over larger domains;
    what is breached has a world that shows it.
    """
    found: dict[tuple[str, str], int] = {}
    for case, _ in cases(
        [Kind(tuples=6, relations=2, constraints=1), Kind(tuples=5, relations=2, constraints=0)],
        count=120 * THOROUGH,
    ):
        verdicts = judged(case, tmp_path, domains=False)
        if verdicts is None:
            continue
        g, e = verdicts
        for verdict in verdicts:
            found[verdict.check, verdict.status] = found.get((verdict.check, verdict.status), 0) + 1
        if g.witness is not None:
            world = instance_of(g.witness.personal["world"])
            assert (
                is_lawful(case, world)
                and look_alike(case, case.instance, world)
                and differs(case, case.instance, world)
            ), case
        for larger in (wider(case, 1), wider(case, 2)):
            if larger is None:
                continue
            truth = larger.judge()
            assert g.status != "holds" or truth.gsafe, (case, g)
            assert e.status != "holds" or truth.esafe, (case, e)
    assert all(
        found.get((check, word), 0) >= THOROUGH
        for check in ("g-safety", "e-safety")
        for word in ("holds", "breached", "undecided")
    ), found


def wider(case: Case, more: int, most: int = 15) -> Case | None:
    """The same case where every column may have all values that occur and some new ones;
    None where that is too much.
    """
    texts = {value for columns in case.schema.values() for _, values in columns for value in values}
    schema = {}
    for name, columns in case.schema.items():
        numbers = [all(isinstance(value, int) for value in values) for _, values in columns]
        schema[name] = tuple(
            (
                column,
                tuple(
                    sorted((value for value in texts if isinstance(value, int) == number), key=repr)
                )
                + tuple((900 + at) if number else f"new{at}" for at in range(more)),
            )
            for (column, _), number in zip(columns, numbers, strict=True)
        )
    found = Case(
        case.name, schema, case.constraints, case.instance, case.views, case.new, case.secret
    )
    return found if found.tuples <= most else None


@pytest.mark.slow
def test_what_changes_nothing_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publishing twice, adding what follows, renaming, reordering, an irrelevant table."""
    monkeypatch.setattr(view_safety, "derived", lambda setting: None)
    tried = 0
    for number, (case, truth) in enumerate(cases(count=30 * THOROUGH)):
        for variant in variants(case, number):
            found = judged(variant.case, tmp_path)
            if found is None:
                continue
            tried += 1
            g, e = found
            assert (g.status, e.status) == (status(truth.gsafe), status(truth.esafe)), (
                variant.name,
                case,
            )
            if "worlds_before" in g.measured:
                assert g.measured["worlds_before"] == truth.worlds_before * variant.factor, (
                    variant.name,
                    case,
                )
    assert tried >= 160 * THOROUGH


def test_a_second_question_about_the_same_views_does_not_ground_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.families.worlds import worlds

    made = []
    original = worlds.Base.of.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        worlds.Base,
        "of",
        classmethod(lambda cls, setting: made.append(1) or original(cls, setting)),
    )
    monkeypatch.setattr(worlds, "BASES", worlds.Bases())
    case = next(
        case
        for case, truth in cases(count=200)
        if case.views and not truth.worlds_equal and judged(case, tmp_path)
    )
    made.clear()
    worlds.BASES.kept.clear()
    plan = case.to_plan()
    asked(plan, tmp_path)
    assert len(made) <= 1
