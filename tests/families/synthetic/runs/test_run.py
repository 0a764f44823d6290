"""A whole run: what is written, what is refused, and that a run which was stopped, by whatever,
goes on without drawing anybody twice.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from disks import little_disk
from families.synthetic.runs.city import HOMES, city, counts, sizes
from tacit.checking.recording.record import record
from tacit.errors import DataError, EngineError, InputError, ParameterError
from tacit.families.synthetic.runs import people_batches
from tacit.families.synthetic.runs.batch_parts import BatchPart, Folder
from tacit.families.synthetic.runs.batches import batches
from tacit.families.synthetic.runs.synthesis_results import SEEDED, Synthesized
from tacit.families.synthetic.runs.synthesize import synthesize
from tacit.model.jobs import Cancelled, Job
from tacit.plan.read.load import load_plan

HERE = Path(__file__).parent
FEW = 60  # people of a batch, so that a small city has many


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_batches, "batches", partial(batches, people=FEW))


def run(plan: Path, release: str = "map", output: str = "out.csv", **options: Any) -> Synthesized:
    return synthesize(load_plan(plan), release, str(plan.parent / output), **options)


# -- what is written -------------------------------------------------------------------------------


def test_what_is_out_by_the_ledger_is_spent_already(tmp_path: Path) -> None:
    plan = tmp_path / "tacit.yaml"
    plan.write_text("""
version: 1
tables: {t: {columns: [w, h, n], rows: [[A, x, 5000], [A, y, 3000], [B, z, 900], [B, x, 4000]], domains: {h: [x, y, z]}}}
releases:
  one: {table: t, synthetic: {group: w, value: h, count: n, epsilon: 1, delta: 1e-3}}
  two: {table: t, synthetic: {group: w, value: h, count: n, epsilon: 1, delta: 1e-3}}
published: [ledger]
checks: [differential-privacy: {release: one, epsilon: 2, delta: 2e-3}]
""")  # noqa: E501
    for name in ("first", "second"):
        assert not run(plan, "one", f"{name}.csv").exit_status
        assert record(load_plan(plan), "one", answer=tmp_path / f"{name}.csv").is_recorded
    third = run(plan, "one", "third.csv")
    assert third.exit_status == 3 and third.output is None and not (tmp_path / "third.csv").exists()
    assert "together spend" in third.verdicts[0].because
    plan.write_text(plan.read_text().replace("published: [ledger]\n", ""))
    for name in (
        "one",
        "two",
    ):  # a ledger that lies beside the plan is asked, whether the plan names it or not
        beside = run(plan, name, "third.csv")
        assert (
            beside.exit_status == 3
            and beside.output is None
            and beside.verdicts[0].subject["given"] == (["one"] if name == "two" else [])
        )
    plan.write_text(
        plan.read_text()
        .replace("checks:", "ledger: none.sqlite\npublished: [one]\nchecks:")
        .replace("epsilon: 2, delta: 2e-3", "epsilon: 1, delta: 1e-3")
    )
    again = run(plan, "one", "third.csv")  # another output of what is published spends once more
    assert again.exit_status == 3 and again.output is None


def test_every_group_has_as_many_people_as_before_and_nothing_else_is_written(
    tmp_path: Path,
) -> None:
    found = run(city(tmp_path))
    true, drawn = counts(tmp_path / "jobs.csv"), counts(tmp_path / "out.csv")
    assert sizes(drawn) == sizes(true)
    assert drawn != true
    assert {home for _, home in drawn} <= set(HOMES)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "work,home,jobs"
    assert found.output == str(tmp_path / "out.csv") and not found.exit_status
    assert (found.groups, found.people, found.drawing.people) == (30, true.total(), true.total())
    assert found.drawing.rows == len(drawn) and found.drawing.batches > 5
    assert [verdict.status for verdict in found.verdicts] == ["holds"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jobs.csv", "out.csv", "tacit.yaml"]


def test_without_a_count_there_is_a_row_for_each_person(tmp_path: Path) -> None:
    found = run(city(tmp_path), "each")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "work,home"
    assert sizes(counts(tmp_path / "out.csv")) == sizes(counts(tmp_path / "jobs.csv", "none"))
    assert found.drawing.rows == found.people == len(lines) - 1


def test_rows_are_in_no_order(tmp_path: Path) -> None:
    run(city(tmp_path, groups=60))
    with (tmp_path / "out.csv").open() as file:
        groups = [row["work"] for row in csv.DictReader(file)]
    falls = sum(one > two for one, two in pairwise(groups))
    assert (
        0.35 < falls / len(groups) < 0.65
    )  # in any order that follows groups or batches nearly none


def test_a_parquet_file_has_the_types_of_the_table(tmp_path: Path) -> None:
    plan = city(tmp_path)
    plan.write_text(
        plan.read_text().replace(
            "domains: {home: [",
            "columns: {work: text, home: text, jobs: integer}, domains: {home: [",
        )
    )
    run(plan, output="out.parquet")
    types = duckdb.sql(f"DESCRIBE FROM '{tmp_path}/out.parquet'").fetchall()
    assert [row[:2] for row in types] == [
        ("work", "VARCHAR"),
        ("home", "VARCHAR"),
        ("jobs", "BIGINT"),
    ]


def test_numbers_and_dates_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("day,zip\n2024-01-01,7\n2024-01-01,9\n2024-02-01,7\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\ntables: {t: {file: t.csv, columns: {day: date, zip: integer}}}\n"
        "releases: {r: {table: t, synthetic: {group: day, value: zip, epsilon: 1, delta: 0}}}\n"
    )
    for name in ("out.parquet", "out.csv"):
        run(tmp_path / "tacit.yaml", "r", name)
    rows = duckdb.sql(
        f"SELECT typeof(day), typeof(zip), count(*) FROM '{tmp_path}/out.parquet' GROUP BY ALL"
    ).fetchall()
    assert rows == [("DATE", "BIGINT", 3)]
    assert sorted((tmp_path / "out.csv").read_text().splitlines())[0].startswith("2024-01-01,")


def test_a_table_of_the_source_can_be_the_output(tmp_path: Path) -> None:
    plan = city(tmp_path)
    with duckdb.connect(str(tmp_path / "city.duckdb")) as database:
        database.execute(f"CREATE TABLE jobs AS FROM '{tmp_path}/jobs.csv'")
    plan.write_text(
        plan.read_text()
        .replace("file: jobs.csv, ", "")
        .replace("version: 1", "version: 1\nsource: city.duckdb")
    )
    found = synthesize(load_plan(plan), "map", "made")
    assert found.output == "made"
    with duckdb.connect(str(tmp_path / "city.duckdb")) as database:
        drawn = dict(
            database.execute("SELECT work, sum(jobs)::INT FROM made GROUP BY ALL").fetchall()
        )
        assert database.execute("SELECT * FROM made LIMIT 0").description[2][0] == "jobs"
    assert drawn == dict(sizes(counts(tmp_path / "jobs.csv")))
    assert not list(tmp_path.glob(".*"))


MORE = {
    "pure": "epsilon: 1, delta: 0",
    "geometric": "epsilon: 2, delta: 0.01, mechanism: geometric",
    "everywhere": "epsilon: 2, delta: 0, mechanism: geometric",
    "pdp": "epsilon: 3, delta: 0.05, guarantee: pdp",
    "accept": "epsilon: 3, delta: 0.05, accept: 4",
    "shrink": "epsilon: 3, delta: 0.01, shrink: keep.csv",
    "coarsen": "epsilon: 2, delta: 0.01, coarsen: regions.csv",
    "prior": "epsilon: 2, delta: 0.01, prior: prior.csv",
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", MORE)
def test_every_option_is_drawn(tmp_path: Path, name: str) -> None:
    (tmp_path / "keep.csv").write_text("home,keep\n" + "".join(f"{home},0.5\n" for home in HOMES))
    (tmp_path / "regions.csv").write_text(
        "home,region\n" + "".join(f"{home},{home[:2]}\n" for home in HOMES)
    )
    (tmp_path / "prior.csv").write_text(
        "home,weight\n" + "".join(f"{home},{1 + place % 3}\n" for place, home in enumerate(HOMES))
    )
    found = run(city(tmp_path, groups=12, terms=MORE[name]), workers=2)
    drawn, true = counts(tmp_path / "out.csv"), counts(tmp_path / "jobs.csv")
    assert {home for _, home in drawn} <= set(HOMES)
    if "geometric" in MORE[name]:
        assert found.noise.thresholds is not None and found.drawing.people == drawn.total()
        assert found.baseline is None
    else:
        assert sizes(drawn) == sizes(true)
        assert found.noise.least is not None and found.noise.prior > 0
    assert found.drawing.tries >= found.groups and found.drawing.most_tries >= 1
    assert found.utility is not None and found.steps


def test_people_outside_are_left_out_and_counted(tmp_path: Path) -> None:
    plan = city(tmp_path, terms="epsilon: 2, delta: 0.01, outside: drop")
    plan.write_text(plan.read_text().replace("h00, ", ""))
    true = counts(tmp_path / "jobs.csv")
    found = run(plan)
    lost = [many for (_, home), many in true.items() if home == "h00"]
    assert found.dropped == (sum(lost), len(lost))
    assert found.people == true.total() - sum(lost) == counts(tmp_path / "out.csv").total()


# -- what is refused -------------------------------------------------------------------------------


def test_a_check_that_does_not_hold_lets_nothing_be_written(tmp_path: Path) -> None:
    found = run(
        city(
            tmp_path,
            checks=(
                "checks:\n  - differential-privacy: {release: map, epsilon: 0.5, delta: 0.001}\n"
            ),
        )
    )
    assert found.exit_status == 1 and found.output is None
    assert "is breached" in found.because and "nothing was drawn" in found.because
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jobs.csv", "tacit.yaml"]


def test_the_checks_of_the_plan_are_asked_and_not_those_of_other_releases(tmp_path: Path) -> None:
    checks = (
        "checks:\n"
        "  - differential-privacy: {release: map, epsilon: 3, delta: 0.001, name: mine}\n"
        "  - differential-privacy: {release: map}\n"
        "  - differential-privacy: {release: each, epsilon: 0.1, delta: 0}\n"
    )
    found = run(city(tmp_path, checks=checks))
    assert [(verdict.name, verdict.status) for verdict in found.verdicts] == [
        ("mine", "holds"),
        (None, "holds"),
    ]


def test_an_undecided_check_lets_nothing_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from tacit.families.synthetic.definitions.differential_privacy import DifferentialPrivacy
    from tacit.model.verdict import Reason

    ask = DifferentialPrivacy.check
    monkeypatch.setattr(
        DifferentialPrivacy,
        "check",
        lambda self, question: replace(
            ask(self, question), status="undecided", evidence=Reason("x", "y")
        ),
    )
    found = run(city(tmp_path))
    assert found.exit_status == 3 and found.output is None and not (tmp_path / "out.csv").exists()


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "no such release": (
        lambda plan: run(plan, "mop"),
        InputError,
        "no release 'mop'. Did you mean 'map'",
    ),
    "no workers": (lambda plan: run(plan, workers=0), ParameterError, "at least one process"),
    "another ending": (
        lambda plan: run(plan, output="out.xlsx"),
        DataError,
        "does not write .xlsx",
    ),
    "the source": (
        lambda plan: run(plan, output="jobs.csv"),
        DataError,
        "belongs to what is released",
    ),
    "the plan": (lambda plan: run(plan, output="tacit.yaml"), DataError, "does not write .yaml"),
    "no folder": (lambda plan: run(plan, output="no/out.csv"), DataError, "there is no folder"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused_before_anything_is_drawn(tmp_path: Path, what: str) -> None:
    act, kind, words = REFUSED[what]
    with pytest.raises(kind, match=words):
        act(city(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jobs.csv", "tacit.yaml"]


def test_a_release_of_another_kind_is_refused(tmp_path: Path) -> None:
    plan = city(tmp_path)
    plan.write_text(
        "version: 1\ntables: {jobs: {file: jobs.csv}}\nreleases: {all: {table: jobs}}\n"
    )
    with pytest.raises(
        InputError, match=r"all is no synthetic release\. Write it as all: \{table: jobs, synthetic"
    ):
        run(plan, "all")


# -- seeds -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_seed_gives_the_same_output_however_it_is_drawn(tmp_path: Path) -> None:
    plan = city(tmp_path)
    outputs = []
    for workers in (1, 1, 2):
        found = run(plan, seed=7, workers=workers)
        assert SEEDED in found.warnings and SEEDED in found.to_json("shared")["warnings"]
        outputs.append((tmp_path / "out.csv").read_bytes())
        (tmp_path / "out.csv").unlink()
    stopped = Job()
    stopped.tell = lambda text, share: stopped.cancel() if text.startswith("drawing") else None
    with pytest.raises(Cancelled):
        run(plan, seed=7, job=stopped)
    assert run(plan, seed=7, workers=2).drawing.resumed
    outputs.append((tmp_path / "out.csv").read_bytes())
    assert len(set(outputs)) == 1
    run(plan, seed=8)
    assert (tmp_path / "out.csv").read_bytes() != outputs[0]
    found = run(plan)
    assert SEEDED not in found.warnings
    assert any("was there and was replaced" in warning for warning in found.warnings)


# -- stopped, and gone on --------------------------------------------------------------------------

STOPPED = """
import os, signal, sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from tacit.families.synthetic.runs import people_batches, batch_parts, batch_workers
from tacit.families.synthetic.runs.batches import batches
people_batches.batches = partial(batches, people={few})
keep, kept = batch_parts.Folder.keep, []
def stopping(self, batch, part):
    keep(self, batch, part)
    kept.append(batch)
    if len(kept) == {after}:
        os.kill(os.getpid(), signal.{signal})
batch_parts.Folder.keep = stopping
start = batch_workers.BatchWorker.__init__
def noted(self, setting):
    start(self, setting)
    with open({pids!r}, "a") as file:
        file.write(f"{{self.process.pid}}\\n")
batch_workers.BatchWorker.__init__ = noted
sys.argv = ["tacit", "synthesize", "map", "-o", {output!r}, "--plan", {plan!r}, "--workers", "{workers}", "--json"]
from tacit.cli import main
main()
"""  # noqa: E501


def stopped(
    plan: Path, name: str, *, after: int = 3, workers: int = 2
) -> subprocess.CompletedProcess[str]:
    code = STOPPED.format(
        few=FEW,
        after=after,
        signal=name,
        pids=str(plan.parent / "pids"),
        output=str(plan.parent / "out.csv"),
        plan=str(plan),
        workers=workers,
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def left_behind(output: Path) -> dict[str, BatchPart]:
    """The parts that a run left."""
    folder = Folder(output)
    folder.run = folder._manifest()["run"]
    found = {
        path.stem: folder.kept(next(one for one in batches_of(output) if one.name == path.stem))
        for path in folder.path.glob("*.part")
    }
    return {name: part for name, part in found.items() if part is not None}


def batches_of(output: Path) -> list[Any]:
    true = sizes(counts(output.parent / "jobs.csv"))
    return batches([true[group] for group in sorted(true)], people=FEW)


def ended(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_goes_on_and_no_group_is_drawn_twice(tmp_path: Path, workers: int) -> None:
    plan = city(tmp_path)
    output = tmp_path / "out.csv"
    assert stopped(plan, "SIGKILL", workers=workers).returncode == -signal.SIGKILL
    assert not output.exists()
    if workers > 1:
        assert all(ended(int(line)) for line in (tmp_path / "pids").read_text().split())
    parts = left_behind(output)
    assert len(parts) == 3
    (Folder(output).path / ".half.part.tmp").write_bytes(b"half")
    found = run(plan)
    assert found.drawing.resumed == 3
    drawn, groups = counts(output), sorted(sizes(counts(tmp_path / "jobs.csv")))
    assert sizes(drawn) == sizes(counts(tmp_path / "jobs.csv"))
    for part in parts.values():  # what was drawn before is published as it was
        for group, value, count in zip(
            part.group.tolist(), part.value.tolist(), part.count.tolist(), strict=True
        ):
            assert drawn[groups[group], HOMES[value]] == count
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_ctrl_c_says_that_the_parts_are_kept(tmp_path: Path) -> None:
    plan = city(tmp_path)
    done = stopped(plan, "SIGINT")
    assert done.returncode == 130
    assert "interrupted; nothing half-written is left. " in done.stderr
    assert (
        "batches are drawn. What is drawn so far is kept: the same command goes on from there."
        in done.stderr
    )
    assert "Traceback" not in done.stderr and not done.stdout
    assert all(ended(int(line)) for line in (tmp_path / "pids").read_text().split())
    assert run(plan).drawing.resumed >= 3
    assert sizes(counts(tmp_path / "out.csv")) == sizes(counts(tmp_path / "jobs.csv"))


def cancelled(plan: Path, **options: Any) -> None:
    job = Job()
    job.tell = lambda text, share: job.cancel() if text.startswith("drawing") else None
    with pytest.raises(Cancelled):
        run(plan, job=job, **options)


def test_another_table_or_other_terms_are_not_mixed_with_what_is_drawn(tmp_path: Path) -> None:
    plan = city(tmp_path)
    cancelled(plan)
    before, data = plan.read_text(), (tmp_path / "jobs.csv").read_text()
    plan.write_text(before.replace("epsilon: 2", "epsilon: 3"))
    with pytest.raises(DataError, match="epsilon of the release changed from 2 to 3"):
        run(plan)
    plan.write_text(before)
    with pytest.raises(DataError, match="the seed is not the same"):
        run(plan, seed=1)
    lines = data.splitlines()
    swapped = [lines[1].replace(lines[1].split(",")[1], "h11"), *lines[2:]]
    (tmp_path / "jobs.csv").write_text("\n".join([lines[0], *swapped]) + "\n")
    with pytest.raises(DataError, match=r"the people of the table are not the same.*together"):
        run(plan)
    (tmp_path / "jobs.csv").write_text(data + "w000,h01,1,x\n")
    with pytest.raises(DataError, match="groups of the table, or their sizes"):
        run(plan)
    plan.write_text(before.replace("h11]", "h11, h12]"))
    (tmp_path / "jobs.csv").write_text(data)
    with pytest.raises(DataError, match="the domain, prior or another file"):
        run(plan)
    plan.write_text(before)
    assert run(plan).drawing.resumed == 2
    (tmp_path / "jobs.csv").write_text(data + "w000,h01,1,x\n")
    cancelled(plan)
    (tmp_path / "jobs.csv").write_text(data)
    assert run(plan, restart=True).drawing.resumed == 0
    assert sizes(counts(tmp_path / "out.csv")) == sizes(counts(tmp_path / "jobs.csv"))


def test_a_torn_part_is_drawn_again(tmp_path: Path) -> None:
    plan = city(tmp_path)
    cancelled(plan)
    parts = list(Folder(tmp_path / "out.csv").path.glob("*.part"))
    parts[0].write_bytes(parts[0].read_bytes()[:-5])
    assert run(plan).drawing.resumed == len(parts) - 1
    assert sizes(counts(tmp_path / "out.csv")) == sizes(counts(tmp_path / "jobs.csv"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "kept"),
    [(1_000, 0), (20_000, 1)],
    ids=["a part does not fit", "the output does not fit"],
)
def test_a_full_disk_leaves_the_old_file_and_what_is_drawn(
    tmp_path: Path, limit: int, kept: int
) -> None:
    plan = city(tmp_path, groups=500)
    (tmp_path / "out.csv").write_text("old")
    with (
        little_disk(limit),
        pytest.raises(
            EngineError, match=r"cannot be written: the disk is full.*goes on from there"
        ),
    ):
        run(plan)
    assert (tmp_path / "out.csv").read_text() == "old"
    found = run(plan)
    assert (found.drawing.resumed == found.drawing.batches) == bool(kept)
    assert sizes(counts(tmp_path / "out.csv")) == sizes(counts(tmp_path / "jobs.csv"))
    assert not list(tmp_path.glob(".*"))


def test_a_worker_that_dies_is_an_error_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.families.synthetic.runs import batch_workers

    with (
        monkeypatch.context() as patch,
        pytest.raises(EngineError, match="ended before it was done"),
    ):
        patch.setattr(batch_workers, "CODE", "import sys; sys.stdin.buffer.read(1)")
        run(city(tmp_path), workers=2)
    assert not run(tmp_path / "tacit.yaml").exit_status


def test_many_portions_are_read_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.families.synthetic.runs.batches import portions

    monkeypatch.setattr(people_batches, "portions", partial(portions, people=100))
    found = run(city(tmp_path))
    assert sizes(counts(tmp_path / "out.csv")) == sizes(counts(tmp_path / "jobs.csv"))
    assert found.utility is not None and found.utility.people == found.people


# -- what is told ----------------------------------------------------------------------------------


def test_others_than_the_owner_see_nothing_that_compares_with_the_truth(tmp_path: Path) -> None:
    found = run(city(tmp_path))
    own, shared = found.to_json("owner"), found.to_json("shared")
    assert own["utility"] and own["baseline"] and own["tries"] and own["dropped"]
    assert shared["utility"] is shared["baseline"] is shared["tries"] is shared["dropped"] is None
    assert list(own)[:5] == ["release", "output", "verdicts", "utility", "seconds"]
    assert own["budget"]["again"][0]["times"] == "2"
    assert own["noise"]["least_alpha"] and float(own["noise"]["prior_people_decimal"]) > 0


def test_progress_says_how_long_it_takes(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    run(city(tmp_path), job=Job(lambda text, share: told.append((text, share))))
    drawing = [text for text, _ in told if text.startswith("drawing")]
    assert drawing[-1] == "drawing 30 of 30 groups, nearly done"
    assert told[-1] == ("done", 1.0)
    assert all(0 <= share <= 1 for _, share in told)


def test_the_noise_in_the_middle_is_that_of_the_groups_and_not_of_the_sorts(tmp_path: Path) -> None:
    found = run(city(tmp_path))
    assert found.noise.least is not None and found.noise.greatest is not None
    assert found.noise.least * len(HOMES) <= found.noise.median <= found.noise.greatest * len(HOMES)
    assert (
        found.noise.least * len(HOMES) * 30
        <= found.noise.prior
        <= found.noise.greatest * len(HOMES) * 30
    )


def test_synthetic_people_stay_near_the_true_ones_in_large_groups(tmp_path: Path) -> None:
    lines = [
        f"w,{home},{many}"
        for home, many in zip(HOMES, [5000, 1, 300, 0, 0, 20, 9, 0, 0, 0, 1, 700], strict=True)
    ]
    plan = city(tmp_path)
    (tmp_path / "jobs.csv").write_text("work,home,jobs\n" + "\n".join(lines) + "\n")
    run(plan)
    drawn = counts(tmp_path / "out.csv")
    assert abs(drawn["w", "h00"] - 5000) < 400 and drawn["w", "h11"] > 400
    assert np.isclose(drawn.total(), 6031)
