"""What is claimed of a release is never more than what was shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InputError, TacitError
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.explore import explore
from tacit.families.microdata.runs.repair_results import NotRepaired, Repaired
from tacit.plan.owned_files import owners_files, refuse_report
from tacit.plan.read.load import load_plan


def plan_of(folder: Path, rows: str, checks: str, release: str = "", tree: str = "") -> Any:
    trees = f", hierarchies: {{{tree}}}" if tree else ""
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        f"tables: {{t: {{columns: [a, s], rows: {rows}, quasi-identifiers: [a], sensitive: "
        f"[s]{trees}}}}}\n"
        f"releases: {{out: {{table: t{release}}}}}\nchecks: [{checks}]\n"
    )
    return load_plan(folder / "tacit.yaml")


FAIR = "[[1, u], [1, u], [1, v], [1, v], [2, v], [2, v], [2, v], [2, v]]"


def test_nothing_is_proved_where_another_way_to_drop_rows_could_help(tmp_path: Path) -> None:
    """Without group 2 (half of the rows) group 1 is the whole
    table, and as close to it as can be.
    """
    plan = plan_of(tmp_path, FAIR, "t-closeness: {release: out, t: 0.1}", ", suppress: 50%")
    found = anonymize(plan, "out")
    assert isinstance(found, NotRepaired)
    assert not found.proved
    assert found.exit_status == 3
    coarser = anonymize(
        plan_of(tmp_path, FAIR, "t-closeness: {release: out, t: 0.1}", ", suppress: 50%", 'a: "*"'),
        "out",
    )
    assert isinstance(coarser, Repaired)
    assert not coarser.proved
    assert not coarser.all_choices
    assert "whole groups" in coarser.unproved
    rungs = explore(plan, "out").rungs
    assert not any(rung.proved for rung in rungs if rung.cost is None)


def test_dropping_some_rows_of_a_group_is_not_ruled_out(tmp_path: Path) -> None:
    rows = "[[1, u], [1, u], [1, u], [1, v], [1, v]]"
    found = anonymize(
        plan_of(tmp_path, rows, "alpha-k: {release: out, alpha: 0.5, k: 2}", ", suppress: 20%"),
        "out",
    )
    assert isinstance(found, NotRepaired)
    assert not found.proved


def test_where_only_sizes_count_the_proof_stands(tmp_path: Path) -> None:
    rows = "[[1, u], [1, u], [2, v]]"
    found = anonymize(
        plan_of(tmp_path, rows, "k-anonymity: {release: out, k: 2}", ", suppress: 34%"), "out"
    )
    assert isinstance(found, Repaired)
    assert found.proved
    assert found.recoded.suppressed == 1
    nothing = anonymize(
        plan_of(tmp_path, rows, "k-anonymity: {release: out, k: 4}", ", suppress: 34%"), "out"
    )
    assert isinstance(nothing, NotRepaired)
    assert nothing.proved


def test_an_attacker_who_knows_is_not_waved_through_where_rows_may_be_dropped(
    tmp_path: Path,
) -> None:
    rows = "[[2, v], [2, v], [3, u], [2, v], [3, u]]"
    checks = "l-diversity: {release: out, kind: recursive, l: 2, c: 3}"
    found = anonymize(
        plan_of(tmp_path, rows, checks, ', suppress: "1/3"', 'a: "*"'), "out", aware=True
    )
    assert isinstance(found, NotRepaired)
    assert found.exit_status == 3


@pytest.mark.parametrize("method", ["lattice", "mondrian", "window"])
def test_a_check_that_refuses_missing_values_looks_at_the_table_itself(
    tmp_path: Path, method: str
) -> None:
    rows = "[[1, u], [null, v], [2, u]]"
    checks = "k-anonymity: {release: out, k: 3, missing: error}"
    with pytest.raises(TacitError, match="is missing in 1 rows"):
        anonymize(plan_of(tmp_path, rows, checks, f", method: {method}", 'a: "*"'), "out")


def test_nobody_is_known_among_those_who_are_left(tmp_path: Path) -> None:
    rows = "[[1, u], [2, u], [3, null], [3, null]]"
    found = anonymize(
        plan_of(tmp_path, rows, "semantic: {release: out, measure: {positive: 0.8}}", "", 'a: "*"'),
        "out",
    )
    assert isinstance(found, NotRepaired)


def test_a_moment_is_enough_for_the_coarsest_release(tmp_path: Path) -> None:
    found = anonymize(
        plan_of(tmp_path, FAIR, "k-anonymity: {release: out, k: 5}", "", 'a: "*"'),
        "out",
        seconds=1e-9,
    )
    assert isinstance(found, Repaired)
    assert found.recoded.generalization == {"a": 1}


@pytest.mark.parametrize(
    ("release", "message"),
    [
        (", method: mondrian, at-most: {a: 1}", "cannot be kept at level 1"),
        (", method: window, weights: {a: 2}", "takes no weights"),
        (", utility: discernibility, weights: {a: 2}", "weights"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    tmp_path: Path, release: str, message: str
) -> None:
    plan = plan_of(
        tmp_path, FAIR, "k-anonymity: {release: out, k: 2}", release, "a: {ranges: [2, 10]}"
    )
    with pytest.raises(TacitError, match=message):
        anonymize(plan, "out")


def test_what_can_be_met_is_explored_with_whole_columns(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, FAIR, "k-anonymity: {release: out, k: 2}", ", method: window")
    with pytest.raises(InputError, match="whole columns"):
        explore(plan, "out")


def test_files_that_checks_and_distances_name_are_the_owners(tmp_path: Path) -> None:
    for name in ("prior.csv", "tax.csv", "other.csv", "a.csv"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  t: {columns: [a, s], rows: [[1, u]], quasi-identifiers: [a], sensitive: [s], "
        "hierarchies: {a: a.csv},\n"
        "      distances: {s: {taxonomy: tax.csv}}}\n  other: {}\n"
        "releases: {out: {table: t}, again: {table: t, file: again.csv}}\n"
        "checks: [rho1-rho2: {release: out, rho1: 0.2, rho2: 0.5, prior: prior.csv}]\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    names = {path.name for path in owners_files(plan)}
    assert names == {"tacit.yaml", "prior.csv", "tax.csv", "other.csv", "a.csv"}
    for name in names:
        with pytest.raises(InputError, match="would replace"):
            refuse_report(tmp_path / name, plan)
    (tmp_path / "again.html").hardlink_to(tmp_path / "prior.csv")
    with pytest.raises(InputError, match="would replace"):
        refuse_report(tmp_path / "again.html", plan)
    with pytest.raises(InputError, match="no folder"):
        refuse_report(tmp_path / "nowhere" / "r.html", plan)
    os.mkfifo(tmp_path / "pipe.html")
    with pytest.raises(InputError, match=r"pipe\.html is not a file"):
        refuse_report(tmp_path / "pipe.html", plan)
    with pytest.raises(InputError, match="would replace"):
        refuse_report(tmp_path / "out.csv", plan, str(tmp_path / "out.csv"))


def test_a_mistake_of_ours_does_not_look_like_an_answer(tmp_path: Path) -> None:
    script = (
        "import sys, tacit.cli, tacit.families.microdata.runs.anonymize as run\n"
        "def broken(*a, **k): raise ZeroDivisionError('oops')\n"
        "run.solve = broken\n"
        "sys.argv = ['tacit', 'anonymize', 'out', '-o', 'x.csv']\n"
        "sys.exit(tacit.cli.run())\n"
    )
    plan_of(tmp_path, FAIR, "k-anonymity: {release: out, k: 2}")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    assert "went wrong" in done.stderr
