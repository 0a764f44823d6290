"""Closeness and neighbours on thousands of random small tables,
against brute force from the definitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from close_tables import DEFINITIONS, WAYS, Case, Row, cases
from oracles import closeness as oracle
from oracles import microdata
from tacit.families.microdata.definitions.alpha_k import AlphaK
from tacit.families.microdata.definitions.dissimilarity import Dissimilarity
from tacit.families.microdata.definitions.eps_m import EpsM
from tacit.families.microdata.definitions.replay.replay import replay
from tacit.families.microdata.definitions.t_closeness import TCloseness
from tacit.model.verdict import Verdict

MOST_PICKS = 300


def faults(case: Case, verdict: Verdict) -> Iterator[str]:
    """What Tacit says and the definition does not."""
    check, parameters = case.kind.check_name, case.parameters
    table = microdata.value_counts(case.rows, "s", case.person)
    measure = oracle.measure_of(check, parameters, table, case.distance(), case.tree)
    parts = list(oracle.parts(case.rows, case.quasi, "s", case.person, case.missing, measure))
    several = any(part.several for part in parts) or (
        case.kind is TCloseness
        and sum(table.values()) > microdata.people(with_value(case.rows), case.person)
    )
    fine = {
        part.values: all(oracle.passes(check, parameters, one) for one in part.found)
        for part in parts
    }
    if verdict.status == "undecided":
        decidable = case.kind in (AlphaK, EpsM, Dissimilarity) and case.missing == "own-group"
        if not several or decidable or verdict.evidence.code != "several-values":  # type: ignore[union-attr]
            yield f"undecided {verdict.evidence}"
        return
    if verdict.status == "holds" and not all(fine.values()):
        yield "holds, but the definition does not"
    if several:
        if verdict.certainty != "conservative":
            yield f"is {verdict.certainty}, although people have several values"
    elif verdict.status == "breached" and all(fine.values()):
        yield "breached, but the definition holds"
    elif dict(verdict.measured) != oracle.worst(check, parts):
        yield f"measures {verdict.measured}, the definition {oracle.worst(check, parts)}"
    yield from witness_faults(case, verdict, {part.values: part for part in parts}, fine, several)


def with_value(rows: tuple[Row, ...]) -> list[Row]:
    return [row for row in rows if row["s"] is not None]


def witness_faults(
    case: Case,
    verdict: Verdict,
    parts: dict[Any, oracle.Part],
    fine: dict[Any, bool],
    several: bool,
) -> Iterator[str]:
    """A witness shows a group that is there, counted right, and that violates the definition."""
    ground = (
        oracle.ground("hierarchical", microdata.value_counts(case.rows, "s", ()), case.tree)
        if case.tree
        else None
    )
    distance = ground if case.parameters.get("distance") == "hierarchical" else None
    distance = (
        case.distance()
        if case.way in ("taxonomy", "python") and case.kind is Dissimilarity
        else distance
    )
    if not replay(verdict, case.rows, case.quasi, case.person, distance=distance):
        yield "does not replay"
    if verdict.witness is None:
        return
    facts, personal = verdict.witness.facts, verdict.witness.personal
    part = parts.get(tuple(personal["values"].values()))
    if verdict.witness.kind != "group" or part is None:
        yield f"no group {personal['values']}"
        return
    if (facts["size"], personal["counts"]) != (part.size, part.counts):
        yield (
            f"size {facts['size']} and counts {personal['counts']} instead of {part.size} and "
            f"{part.counts}"
        )
    if list(personal["counts"].values()) != sorted(part.counts.values(), reverse=True):
        yield "counts do not begin with the most frequent"
    if several:
        return
    if fine[part.values]:
        yield "the group of the witness passes"
    failing = [key for key, passes in fine.items() if not passes]
    if facts["groups_below"] != len(failing):
        yield f"{facts['groups_below']} groups below, {len(failing)} fail"
    yield from story_faults(case, verdict, part)


def story_faults(case: Case, verdict: Verdict, part: oracle.Part) -> Iterator[str]:
    """The beliefs of the story are shares of the group and of the table."""
    assert verdict.witness is not None
    personal = verdict.witness.personal
    if "after" not in personal:
        return
    if case.kind in (EpsM, Dissimilarity):
        centre, values = personal["centre"], oracle.tuples(part.counts)
        distance = oracle.numeric if case.kind is EpsM else case.distance()
        near = [one for one in values if distance(centre, one) <= case.parameters["epsilon"]]
        if Fraction(len(near), len(values)) != personal["after"] or set(near) != set(
            personal["neighbours"]
        ):
            yield (
                f"around {centre} are {near}, the story says {personal['neighbours']} with "
                f"{personal['after']}"
            )
        if verdict.witness.facts["fails"] == "risk" and len(values) > 1:
            risk = Fraction(len(near) - 1, len(values) - 1)
            if risk != verdict.measured["risk"]:
                yield f"the ball around {centre} has risk {risk} and is not the largest"
    if case.kind is AlphaK and personal["after"] != verdict.measured["alpha"]:
        yield f"believes with {personal['after']}, measures {verdict.measured['alpha']}"
    if personal["after"] < personal["before"] and case.kind is TCloseness:
        yield "the story of t-closeness is of something that became less likely"


@pytest.fixture(scope="module")
def compared() -> tuple[Counter[str], list[str]]:
    seen: Counter[str] = Counter()
    found = []
    for case in cases():
        groups = microdata.groups(case.rows, case.quasi, case.missing)
        if any(
            microdata.number_of_picks(one, "s", case.person) > MOST_PICKS for one in groups.values()
        ):
            continue
        verdict = case.definition().check(case.question(), sensitive="s")
        seen[f"{case.kind.check_name} {verdict.status}"] += 1
        seen[
            (
                f"{case.kind.check_name} {case.parameters.get('distance', case.way)} "
                f"{verdict.certainty}"
            )
        ] += 1
        found += [f"{fault}\n{verdict}\n{case}" for fault in faults(case, verdict)]
    return seen, sorted(found, key=len)


@pytest.mark.slow
def test_tacit_agrees_with_brute_force(compared: tuple[Counter[str], list[str]]) -> None:
    found = compared[1]
    assert not found, f"{len(found)} disagreements, for example\n\n" + "\n\n".join(found[:4])


def test_the_random_cases_reach_every_kind_of_verdict(
    compared: tuple[Counter[str], list[str]],
) -> None:
    seen = compared[0]
    for definition in DEFINITIONS:
        for status in ("holds", "breached"):
            assert seen[f"{definition.check_name} {status}"] >= 30, seen
    for way in WAYS:
        assert seen[f"dissimilarity {way} exact"] >= 30, seen
    for distance in ("equal", "ordered", "hierarchical"):
        assert seen[f"t-closeness {distance} exact"] >= 30, seen
    assert seen["dissimilarity numeric conservative"] >= 5, seen
    assert min(seen[f"{name} undecided"] for name in ("t-closeness", "k-e", "variance")) >= 10, seen


def test_the_root_is_that_of_the_hierarchy_whatever_the_data_are(tmp_path: Path) -> None:
    """Flu and cold are joined at the level below the root, 1 of 2:
    also where nobody has a broken bone (Li et al. 2007, section 5).
    """
    (tmp_path / "illness.csv").write_text("flu;infection\ncold;infection\nbreak;injury\n")
    (tmp_path / "people.csv").write_text("ward,illness\nA,flu\nA,flu\nB,cold\nB,cold\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {people: {quasi-identifiers: [ward], sensitive: [illness], hierarchies: {illness: "
        "illness.csv}}}\n"
        "releases: {out: {table: people}}\n"
        "checks:\n  - t-closeness: {release: out, t: 0.25, distance: hierarchical}\n"
    )
    verdict = tacit.load(tmp_path / "tacit.yaml").check()[0]
    assert (verdict.status, verdict.measured["t"]) == ("holds", Fraction(1, 4))
