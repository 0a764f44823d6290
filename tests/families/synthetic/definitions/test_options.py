"""What the options of a synthetic release cost, as the page of differential privacy says it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit

pytest.importorskip("flint", reason="needs the extra synthesis")

TOWNS = """home,region,weight,keep
Ashby,town,20,1
Burton,town,12,1
Corfe,town,8,1
Dunster,town,6,1
Elmley,valley,4,0.5
Fenwick,valley,3,0.5
Garth,valley,2,0.5
Holme,valley,2,0.5
Ilsham,coast,1,0.2
Jevington,coast,1,0.2
Kelso,coast,1,0.2
Lynton,coast,1,0.2
"""
JOBS = "Mill,Ashby,230 Mill,Burton,140 Mill,Corfe,85 Mill,Dunster,31 Mill,Elmley,11 Mill,Holme,3"
COSTS = {
    "delta: 1e-6": "0.039",
    "delta: 0": "1.24",
    "delta: 1e-6, coarsen: towns.csv": "0.039",
    "delta: 1e-6, prior: towns.csv": "0.039",
    "delta: 1e-6, shrink: towns.csv": "0.235",
    "delta: 1e-6, accept: 200": "0.115",
    "delta: 1e-6, guarantee: pdp": "0.057",
}
PAGE = Path(__file__).parents[4] / "docs" / "definitions" / "differential-privacy.md"


def test_the_page_has_the_noise_that_each_option_costs(tmp_path: Path) -> None:
    rows = ", ".join(f"[{one}]" for one in JOBS.split())
    common = "group: workplace, value: home, count: jobs, epsilon: 6, domain: towns.csv"
    releases = [
        f"  r{number}: {{table: jobs, synthetic: {{{common}, {options}}}}}\n"
        for number, options in enumerate(COSTS)
    ]
    checks = [f"  - differential-privacy: {{release: r{number}}}\n" for number in range(len(COSTS))]
    (tmp_path / "towns.csv").write_text(TOWNS)
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\ntables:\n  jobs:\n"
        "    columns: {workplace: text, home: text, jobs: integer}\n"
        f"    rows: [{rows}]\nreleases:\n{''.join(releases)}checks:\n{''.join(checks)}"
    )
    verdicts = list(tacit.load(tmp_path / "tacit.yaml").check())
    assert {verdict.status for verdict in verdicts} == {"holds"}
    noise = [float(verdict.measured["alpha"]) for verdict in verdicts]
    assert [f"{one:.{2 if one > 1 else 3}f}" for one in noise] == list(COSTS.values())
    table = (
        PAGE.read_text("utf-8").partition("### Options of the release")[2].partition("\n\n- ")[0]
    )
    assert [
        line.split("|")[2].strip() for line in table.splitlines() if "0." in line or "1." in line
    ] == list(COSTS.values())
