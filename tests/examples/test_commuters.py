"""The commuters: the city that is generated, the plan on it, the study
as a reader runs it, and its page.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from examples.commuters import attack, study  # noqa: E402
from examples.commuters.city import LEAST, MOST, City, write  # noqa: E402
from examples.commuters.data import Commuters, new_york, prepare, read  # noqa: E402
from examples.commuters.methods import METHODS, run  # noqa: E402

from tacit import cli  # noqa: E402
from tacit.errors import InputError  # noqa: E402

HERE = ROOT / "examples" / "commuters"
SMALL = City(tracts=120, workplaces=12, jobs=3000)
BY_NAME = {method.name: method for method in METHODS}


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Commuters:
    folder = tmp_path_factory.mktemp("town")
    write(SMALL, folder)
    return read(folder, "a small town")


# -- the city --------------------------------------------------------------------------------------


def test_the_city_is_the_same_everywhere() -> None:
    city = City()
    assert sum(jobs for *_, jobs in city.flows) == 100_002 and len(city.flows) == 26_203
    assert city.flows[0] == (1000100, 1000800, 1)
    assert City(seed=2).flows != city.flows


def test_the_city_looks_like_one() -> None:
    city = City()
    sizes = sorted(city.work.values())
    assert len(city.places) == 600 and len(sizes) == 200 and sizes[0] >= LEAST and sizes[-1] <= MOST
    assert sizes[100] < sum(sizes) / 200 / 3  # many small workplaces, and a few large ones
    places = {one.code: one for one in city.places}
    miles = [
        ((places[home].x - places[there].x) ** 2 + (places[home].y - places[there].y) ** 2, jobs)
        for home, there, jobs in city.flows
    ]
    near = sum(jobs for squared, jobs in miles if squared <= 5.0**2)
    assert 0.4 < near / 100_002 < 0.6  # about half of all commutes are at most five miles long
    banks = [city.is_north(one.x, one.y) for one in city.places]
    assert 0.3 < sum(banks) / 600 < 0.7
    assert {one.quarter.split()[0] for one in city.places} == {"North", "South"}


def test_the_files_have_the_columns_of_the_published_data(tmp_path: Path) -> None:
    write(SMALL, tmp_path)
    with (tmp_path / "flows.csv").open(newline="") as lines:
        assert next(csv.reader(lines)) == ["origin", "destination", "jobs"]
    with (tmp_path / "tracts.csv").open(newline="") as lines:
        assert next(csv.reader(lines)) == [
            "BoroCT2010",
            "geoid_tract2010",
            "nta_name",
            "lat",
            "lon",
        ]
        rows = list(csv.reader(lines))
    assert len({row[0] for row in rows}) == 120
    assert prepare(tmp_path / "copy", tmp_path) == "New York"  # what is named is taken
    assert (tmp_path / "copy" / "flows.csv").read_bytes() == (tmp_path / "flows.csv").read_bytes()


def test_a_folder_without_flows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"flows\.csv and tracts\.csv are not in"):
        new_york(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-m", "examples.commuters.study", "--data", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2 and "Traceback" not in ran.stderr


# -- the plan --------------------------------------------------------------------------------------

HOLDS = (
    "homes",
    "pure",
    "probabilistic",
    "probabilistic",
    "districts",
    "near",
    "shrunk",
    "accepted",
    "histogram",
)


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tacit.yaml").write_bytes((HERE / "tacit.yaml").read_bytes())
    write(SMALL, tmp_path / "written")
    prepare(tmp_path / "data", tmp_path / "written")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_plan_holds_but_for_the_check_that_asks_too_much(
    planned: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["tacit", "check", "--json"])
    assert cli.run() == 1
    answers = json.loads(capsys.readouterr().out)
    found = sorted((one["subject"]["release"], one["status"]) for one in answers["verdicts"])
    assert found == sorted([*((name, "holds") for name in HOLDS), ("hasty", "breached")])


def test_homes_can_be_synthesized(
    planned: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["tacit", "synthesize", "homes", "-o", "homes.csv"])
    assert cli.run() == 0, capsys.readouterr()
    with (planned / "homes.csv").open(newline="") as lines:
        people = sum(int(row["jobs"]) for row in csv.DictReader(lines))
    assert people == sum(jobs for *_, jobs in SMALL.flows)


# -- the study -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BY_NAME)
def test_every_method_publishes_the_town(name: str, town: Commuters) -> None:
    drawn = run(BY_NAME[name], town, seed=1)
    assert drawn.holds == (name != "theorem-4.2")
    if drawn.method.terms.mechanism == "dirichlet":
        assert drawn.flows.people + drawn.dropped == town.flows.people
    assert (drawn.dropped > 0) == (name == "near")
    assert run(BY_NAME[name], town, seed=1).flows.count.tolist() == drawn.flows.count.tolist()


def test_the_noise_of_theorem_4_2_does_not_hold_for_all_workplaces_together(
    town: Commuters,
) -> None:
    """Each workplace keeps to delta, and together they do not: probabilistic dp adds up."""
    drawn = run(BY_NAME["theorem-4.2"], town, seed=1)
    assert max(drawn.spent) <= 1e-5 < sum(drawn.spent)


def test_table_4_1_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert study.main(["table-4.1"]) == 0
    told = capsys.readouterr().out
    assert "| 250000 | 111111 | 52632 | 20408 |" in told
    assert "| 17.4915 | 5.5238 | 2.1637 | 0.7418 |" in told
    assert "| 5.5309 | 2.1662 | 0.93495 | 0.33937 |" in told


def test_the_study_writes_its_numbers_and_pictures(
    town: Commuters, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vl_convert")
    study.write_study(town, 1, tmp_path)
    told = capsys.readouterr().out
    found = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [one["method"] for one in found["methods"]] == list(BY_NAME)
    for name in (*study.drawing.FIGURES.values(), "errors"):
        assert (
            ElementTree.parse(tmp_path / f"{name}.svg").getroot().tag
            == "{http://www.w3.org/2000/svg}svg"
        )
    for line in rows_of(told):
        assert line in told


def test_the_page_prints_the_numbers_of_the_results() -> None:
    """Each table of the page is the one that the results for New York have."""
    page = (HERE / "README.md").read_text("utf-8")
    found = json.loads((HERE / "results" / "new-york.json").read_text("utf-8"))
    assert [one["method"] for one in found["methods"]] == list(BY_NAME)
    for one in found["methods"]:
        errors = [f"{error:.2f}" for error in one["errors"] if error is not None]
        lines = [
            line
            for line in rows_of(page)
            if line.startswith(f"| {one['method']} |")
            and all(error in line for error in errors)
            and f"{one['far']:.1%}" in line
        ]
        assert lines, one["method"]
        assert f"| {one['prior']:.0f} |" in page or one["alpha"] is None
    assert "| 17.4915 | 5.5238 | 2.1637 | 0.7418 |" in page


def rows_of(text: str) -> list[str]:
    return re.findall(r"^\| .* \|$", text, re.MULTILINE)


# -- the attack ------------------------------------------------------------------------------------


def test_the_files_for_the_attack_keep_half_of_the_workers_away(
    town: Commuters, tmp_path: Path
) -> None:
    used, control = study.halves(town, 1)
    assert (
        used.people + control.people == town.flows.people
        and abs(used.people - control.people) < 300
    )
    study.write_people(town, tmp_path, 1, lambda text: None)
    assert {path.name for path in tmp_path.iterdir()} == {
        "used.csv",
        "control.csv",
        "synthetic-dp.csv",
        "synthetic-districts.csv",
        "synthetic-histogram.csv",
    }
    with (tmp_path / "used.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == used.people and list(rows[0]) == [
        "work",
        "work_lat",
        "work_lon",
        "home",
        "home_lat",
        "home_lon",
        "home_district",
    ]


def test_the_attack_says_what_it_misses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attack.main([str(tmp_path)]) == 2
    assert "has no used.csv" in capsys.readouterr().err
    (tmp_path / "used.csv").touch()
    monkeypatch.setitem(sys.modules, "anonymeter", None)
    assert attack.main([str(tmp_path)]) == 2
    assert "pip install anonymeter" in capsys.readouterr().err


def test_the_attack_runs_where_its_tool_is(
    town: Commuters, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(
        "anonymeter",
        reason="anonymeter needs an environment of its own: see examples/commuters/README.md",
    )
    study.write_people(town, tmp_path, 1, lambda text: None)
    assert attack.main([str(tmp_path), "--attacks", "50"]) == 0
    assert "| the people themselves | singling out" in capsys.readouterr().out
