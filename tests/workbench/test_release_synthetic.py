"""The page of a synthetic release, without a browser:
the noise of every group, and a written output beside the true people.
"""

from __future__ import annotations

import csv
import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import DataError, TacitError
from tacit.families.synthetic.reading.questions import synthetic_questions_of
from tacit.families.synthetic.runs.comparison import (
    GroupNoise,
    compared,
    is_output,
    promised,
    written_flows,
)
from tacit.families.synthetic.runs.synthesis_results import Synthesized
from tacit.families.synthetic.runs.synthesize import synthesize, the_release
from tacit.model.jobs import Job
from tacit.plan.open_plan import OpenPlan
from tacit.plan.read.load import load_plan
from tacit.workbench.bench import Bench
from tacit.workbench.pages.release.synthetic import in_order, noise_columns, noise_row, outputs
from tacit.workbench.tasks.overlaps import compare_output, promise

PLAN = """\
version: 1
tables:
  jobs: {file: flows.csv}
  wards: {file: wards.csv, key: [id], identifiers: [id]}
releases:
  homes: {table: jobs, synthetic: {group: work, value: home, count: jobs, epsilon: 4, delta: 1e-3, domain: tracts.csv}}
  counted: {table: jobs, synthetic: {group: work, value: home, count: jobs, epsilon: 4, delta: 1e-3, domain: tracts.csv, mechanism: geometric}}
  rows: {table: wards, synthetic: {group: ward, value: year, epsilon: 4, delta: 1e-3}}
checks:
  - differential-privacy: {release: homes}
"""  # noqa: E501
TRACTS = {"n1": (40.7, -74.0), "n2": (40.71, -74.01), "n3": (40.75, -73.95), "7": (40.8, -73.9)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Who works where and lives where, over four tracts, and an output of each release."""
    folder = tmp_path_factory.mktemp("jobs").resolve()
    rng = random.Random(7)
    (folder / "tacit.yaml").write_text(PLAN, "utf-8")
    flows = [
        (work, home, rng.randint(1, 60))
        for work in TRACTS
        for home in TRACTS
        if rng.random() < 0.8 or work == home
    ]
    write(folder / "flows.csv", ("work", "home", "jobs"), flows)
    write(
        folder / "tracts.csv",
        ("home", "latitude", "longitude"),
        [(name, *place) for name, place in TRACTS.items()],
    )
    write(
        folder / "wards.csv",
        ("id", "ward", "year"),
        [(number, rng.choice("AB"), 1950 + number % 5) for number in range(300)],
    )
    return folder


def write(path: Path, head: tuple[str, ...], rows: list[Any]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])


@pytest.fixture(scope="module")
def drawn(folder: Path) -> dict[str, Synthesized]:
    """The outputs, each with what was measured when it was drawn."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        plan = load_plan(folder / "tacit.yaml")
        files = {"homes": "homes.csv", "counted": "counted.parquet", "rows": "rows.csv"}
        return {
            name: synthesize(plan, name, file, seed=3, workers=1) for name, file in files.items()
        }
    finally:
        os.chdir(before)


# -- noise -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["homes", "counted", "rows"])
def test_every_group_has_its_noise(folder: Path, name: str) -> None:
    plan = load_plan(folder / "tacit.yaml")
    release = the_release(plan, name)
    with OpenPlan(plan) as opened:
        found, noises = promised(opened, release, Job())
    assert len(noises) == found.groups and sum(one.people for one in noises) == found.people
    if name == "counted":
        thresholds = [one.threshold or 0 for one in noises]
        assert found.noise.thresholds == (min(thresholds), max(thresholds))
        assert noise_columns(release, noises) == ["work", "people", "cells", "published from"]
    else:
        assert (
            min(one.alpha for one in noises if one.alpha),
            max(one.alpha for one in noises if one.alpha),
        ) == (found.noise.least, found.noise.greatest)
        assert sum((one.prior for one in noises), Fraction(0)) == found.noise.prior
        assert len(noise_columns(release, noises)) == 6
    assert all(len(noise_row(one)) == len(noise_columns(release, noises)) for one in noises)


def test_the_work_gives_the_same(folder: Path) -> None:
    found, noises = promise(Job(), str(folder / "tacit.yaml"), str(folder), "homes")
    assert (
        found.output is None
        and found.budget["again"]
        and [one.status for one in found.verdicts] == ["holds"]
    )
    assert [one.group for one in noises] == sorted(TRACTS)


def test_groups_are_sorted_by_any_column() -> None:
    noises = [
        GroupNoise("b", 20, 4, Fraction(1, 2), Fraction(2), None),
        GroupNoise("a", 10, 9, Fraction(1, 3), Fraction(3), None),
    ]
    columns = ["work", "people", "cells", "alpha", "prior people", "per person"]
    first = {column: in_order(noises, columns, (column, True))[0].group for column in columns}
    assert first == {
        "work": "b",
        "people": "b",
        "cells": "a",
        "alpha": "b",
        "prior people": "a",
        "per person": "a",
    }
    assert [one.group for one in in_order(noises, columns, ("people", False))] == ["a", "b"]
    assert in_order(noises, columns, None) is noises
    assert noise_row(noises[1]) == ("a", "10", "9", "0.3333", "3", "0.3")


# -- an output -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["homes", "counted", "rows"])
def test_a_file_compares_as_it_did_when_it_was_drawn(
    folder: Path, drawn: dict[str, Synthesized], name: str
) -> None:
    plan = load_plan(folder / "tacit.yaml")
    file = folder / str(drawn[name].output)
    with OpenPlan(plan) as opened:
        found = compared(opened, the_release(plan, name), file, Job())
    assert found.utility is not None and drawn[name].utility is not None
    assert found.utility.to_json() == drawn[name].utility.to_json()
    assert found.drawing.people == drawn[name].drawing.people and found.output == file.name
    assert (found.baseline is None) is (name == "counted")


def test_the_work_draws_maps_side_by_side(folder: Path, drawn: dict[str, Synthesized]) -> None:
    found = compare_output(
        Job(), str(folder / "tacit.yaml"), str(folder), "homes", str(folder / "homes.csv")
    )
    assert found.file == "homes.csv" and [side for side, _ in found.maps[0].panels] == [
        "true",
        "synthetic",
    ]
    assert all(
        svg.startswith('<svg role="img"') and "http" not in svg
        for one in found.maps
        for _, svg in one.panels
    )
    assert [one.caption for one in found.grids] == [
        "True and synthetic people",
        "By size of work",
        "The largest works",
    ]
    assert ("4", "ε in all") in found.figures and found.charts


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        (("work", "home"), ("n1", "n2"), "no column 'jobs'"),
        (("work", "home", "jobs"), ("n1", "elsewhere", 3), "a home that the release cannot have"),
        (("work", "home", "jobs"), ("elsewhere", "n1", 3), "a work that the release cannot have"),
        (("work", "home", "jobs"), ("n1", "n2", -3), "no number of people"),
        (("work", "home", "jobs"), ("n1", "n2", "many"), "no number of people"),
        (("work", "home", "jobs"), ("n1", "", 3), "a home that the release cannot have"),
    ],
)
def test_a_file_that_is_no_output_is_refused(
    folder: Path, tmp_path: Path, head: tuple[str, ...], row: tuple[Any, ...], message: str
) -> None:
    write(tmp_path / "other.csv", head, [row])
    plan = load_plan(folder / "tacit.yaml")
    with OpenPlan(plan) as opened, pytest.raises(DataError, match=message) as caught:
        written_flows(synthetic_questions_of(opened).scene("homes"), tmp_path / "other.csv")
    assert "elsewhere" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_in_words(folder: Path) -> None:
    with pytest.raises(TacitError):
        compare_output(
            Job(), str(folder / "tacit.yaml"), str(folder), "homes", str(folder / "missing.csv")
        )


def test_only_files_that_may_be_outputs_are_offered(
    folder: Path, drawn: dict[str, Synthesized]
) -> None:
    bench = Bench(folder / "tacit.yaml", print)
    visit: Any = type("Visit", (), {"bench": bench, "book": bench.book()})
    plan = load_plan(folder / "tacit.yaml")
    (folder / "notes.csv").write_text("a,b\n1,2\n", "utf-8")
    (folder / "broken.csv").write_bytes(b"\xff\xfe\x00")
    os.utime(folder / "homes.csv", (1, 1))
    assert outputs(visit, the_release(plan, "homes")) == [
        "counted.parquet",
        "homes.csv",
    ]  # the newest first, and not flows.csv
    assert outputs(visit, the_release(plan, "rows")) == ["rows.csv"]
    assert is_output(the_release(plan, "homes"), folder / "flows.csv")


def test_what_the_repair_page_wrote_last_comes_first(
    folder: Path, drawn: dict[str, Synthesized]
) -> None:
    bench = Bench(folder / "tacit.yaml", print)
    book = bench.book()
    visit: Any = type("Visit", (), {"bench": bench, "book": book})
    work = type("Work", (), {"result": type("Drawn", (), {"output": "homes.csv"})})
    book.works.latest = lambda kind, key="": (
        work if (kind, key) == ("repair-draw", "homes") else None
    )  # type: ignore[method-assign, assignment, return-value]
    assert outputs(visit, the_release(load_plan(folder / "tacit.yaml"), "homes"))[0] == "homes.csv"
