"""Whatever can take long looks at its deadline, and stops at whichever look it is told to."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

import tacit.demo
from families.synthetic.runs.city import city
from tacit.checking.assess import assess
from tacit.engines.duckdb.engine import DuckDB
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.attack import attack
from tacit.families.microdata.runs.explore import explore
from tacit.families.microdata.runs.repair_results import NotRepaired
from tacit.families.overlaps.overlap_cores import each
from tacit.families.overlaps.runs.restore import restore
from tacit.families.synthetic.runs.synthesize import synthesize
from tacit.families.worlds.runs.explain import explain_worlds
from tacit.model.deadline import Deadline, OutOfTime, begin, is_over, left, look, until
from tacit.model.jobs import Cancelled, Job
from tacit.model.verdict import Reason
from tacit.plan.plan import Plan
from tacit.plan.read.document import parse
from tacit.plan.read.load import load_plan, read_plan

OTHERS = """\
version: 1
tables:
  people:
    key: [name]
    sensitive: [condition]
    columns: [name, sex, age, condition]
    nullable: []
    domains: {name: [Al, Bo, Cy, Di, Ed], sex: [m, f], age: [1, 2, 3], condition: [flu, cold]}
    rows: [[Al, m, 1, flu], [Bo, m, 1, cold], [Cy, m, 2, flu], [Di, f, 2, cold], [Ed, f, 3, flu]]
secrets:
  flu: "S(n) :- people(n, s, a, 'flu')"
releases:
  male: {query: "SELECT condition FROM people WHERE sex = 'm'"}
  old: {query: "SELECT condition FROM people WHERE age BETWEEN 2 AND 3"}
  ages: {query: "SELECT DISTINCT age, condition FROM people"}
checks:
  - gamma-privacy: {releases: [male, old], gamma: 1/2}
  - k-sind: {releases: [male, old], k: 2}
  - k-rsind: {releases: [male, old], k: 2}
  - g-safety: {secret: flu, release: ages}
  - e-safety: {secret: flu, release: ages}
  - perfect-privacy: {secret: flu, release: ages}
"""


class Impatient(Job):
    """A job that is cancelled after so many looks, and counts them."""

    __slots__ = ("looks", "most")

    def __init__(self, most: float) -> None:
        self.looks, self.most = 0, most
        super().__init__()

    @property
    def cancelled(self) -> bool:
        self.looks += 1
        return self.looks > self.most

    @cancelled.setter
    def cancelled(self, value: bool) -> None: ...


@pytest.fixture
def demo(tmp_path: Path) -> Plan:
    place = tmp_path / "demo"
    shutil.copytree(Path(tacit.demo.__file__).parent, place)
    return load_plan(place / "tacit.yaml")


def others() -> Plan:
    return read_plan(parse(OTHERS), Path())


def lines(plan: Plan) -> Plan:
    return load_plan(city(plan.folder, groups=9))


Long = Callable[[Plan, Job], object]
LONG: dict[str, Long] = {
    "lattice": lambda plan, job: anonymize(plan, "april", job=job),
    "mondrian": lambda plan, job: anonymize(plan, "april", options={"method": "mondrian"}, job=job),
    "window": lambda plan, job: anonymize(plan, "april", options={"method": "window"}, job=job),
    "attack": lambda plan, job: attack(plan, "april", job=job),
    "explore": lambda plan, job: explore(plan, "april", job=job),
    "restore": lambda plan, job: restore(others(), columns=["age"], views=2, job=job),
    "worlds": lambda plan, job: explain_worlds(others(), "g-safety", job=job),
    "synthesize": lambda plan, job: synthesize(
        lines(plan), "map", str(plan.folder / "out.csv"), workers=1, job=job
    ),
}
ASKED = ("gamma-privacy", "k-sind", "k-rsind", "g-safety", "e-safety", "perfect-privacy")


def run(what: str, plan: Plan, job: Job) -> None:
    with until(job=job):
        LONG[what](plan, job) if what in LONG else assess(others(), only=(what,), job=job)


@pytest.mark.parametrize("what", [*LONG, *ASKED])
def test_what_takes_long_stops_at_whichever_look(what: str, demo: Plan) -> None:
    patient = Impatient(inf)
    run(what, demo, patient)
    assert patient.looks > 5
    for most in sorted({0, 1, patient.looks // 3, patient.looks // 2}):
        with pytest.raises(Cancelled):
            run(what, demo, Impatient(most))


@pytest.mark.parametrize("what", ["gamma-privacy", "g-safety", "e-safety", "perfect-privacy"])
def test_a_check_without_time_is_undecided(what: str) -> None:
    plan = read_plan(parse(OTHERS.replace(f"{what}: {{", f"{what}: {{seconds: 1e-9, ")), Path())
    [verdict] = assess(plan, only=(what,)).verdicts
    assert isinstance(verdict.evidence, Reason)
    assert (verdict.status, verdict.evidence.code) in (
        ("undecided", "time"),
        ("undecided", "time-limit"),
    )


def test_a_search_without_time_proves_nothing(demo: Plan) -> None:
    found = anonymize(demo, "april", seconds=1e-9)
    assert not isinstance(found, NotRepaired) and not found.proved


def test_a_limit_inside_another_can_only_be_stricter_also_on_other_cores() -> None:
    look()
    assert left() == inf and not is_over()
    with until(9), until(Deadline(0)):
        assert is_over()
        with pytest.raises(OutOfTime), until(9):
            look()
    with until(9), pytest.raises(OutOfTime):
        begin(10)
    job = Job()
    job.cancel()
    with until(job=job), pytest.raises(Cancelled), until(0):
        look()
    with pytest.raises(OutOfTime), until(0):
        list(each(lambda _: look(), range(8)))
    look()


def test_a_statement_that_runs_ends_at_the_deadline_and_the_next_one_is_answered() -> None:
    engine = DuckDB()
    many = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range * b.range = 7"
    with pytest.raises(OutOfTime), until(0.2):
        engine.stored(many)
    assert engine.stored("SELECT 1") == 1


def test_what_is_settled_goes_on() -> None:
    job = Job()
    job.settle("recording")
    job.cancel()
    with until(job=job):
        look()
