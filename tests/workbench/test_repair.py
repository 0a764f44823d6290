"""What the page Repair has done, without a browser:
searches, looks at a solution, and files that are written below the plan's folder only.
"""

from __future__ import annotations

import csv
import pickle
import threading
from fractions import Fraction
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tacit.checking.assess import assess
from tacit.engines.open import open_engine
from tacit.errors import InputError, TacitError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.model.jobs import Cancelled, Job
from tacit.plan.edit.editing import edited
from tacit.plan.read.load import load_plan
from tacit.workbench.bench import Bench
from tacit.workbench.check_states import answers, keep
from tacit.workbench.targets import target
from tacit.workbench.tasks import generalize as tasks_generalize
from tacit.workbench.tasks import restore as tasks_restore
from tacit.workbench.tasks import solution as tasks_solution
from tacit.workbench.tasks import synthesize as tasks_synthesize
from tacit.workbench.tasks.check import check
from tacit.workbench.tasks.generalize import (
    RepairText,
    Solved,
    Unsolved,
    Wanted,
    WrittenRelease,
    knowing,
)
from tacit.workbench.work import Works

DEMO = Path(__file__).parents[2] / "src" / "tacit" / "demo"
VIEWS = """version: 1
tables:
  patients:
    columns: [id, age, sex, ill]
    rows: [[1, 20, f, flu], [2, 20, f, burn], [3, 20, m, flu], [4, 20, m, cold], [5, 30, f, flu], [6, 30, m, burn], [7, 30, f, cold]]
    key: [id]
    identifiers: [id]
    sensitive: [ill]
releases:
  women: {query: "SELECT ill FROM patients WHERE sex = 'f' AND age = 20"}
  young: {query: "SELECT ill FROM patients WHERE age = 20"}
checks:
  - gamma-privacy: {releases: [women], gamma: 0.5}
  - gamma-privacy: {releases: [women, young], gamma: 0.5}
"""  # noqa: E501
PLACES = """version: 1
tables: {jobs: {file: jobs.csv, domains: {home: [a, b, c]}}}
releases:
  map: {table: jobs, synthetic: {group: work, value: home, count: many, epsilon: 2, delta: 0}}  # mine
checks:
  - differential-privacy: {release: map}
"""  # noqa: E501


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    folder = tmp_path / "d"
    copytree(
        DEMO,
        folder,
        ignore=lambda _, names: [
            name for name in names if name.endswith((".py", ".pyc")) or name == "__pycache__"
        ],
    )
    return folder / "tacit.yaml"


def search(plan: Path, release: str = "april", **wanted: Any) -> Solved | Unsolved:
    found = tasks_generalize.search(
        Job(), str(plan), str(plan.parent), release, Wanted(**wanted), "d"
    )
    same = pickle.loads(pickle.dumps(found))
    assert type(same) is type(found)
    return same


def written_by(
    plan: Path, name: str, levels: dict[str, int] | None, *, replaces: bool = False, **wanted: Any
) -> WrittenRelease | Unsolved:
    return tasks_generalize.write(
        Job(), str(plan), str(plan.parent), "april", Wanted(**wanted), levels, name, replaces, "d"
    )


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(
        Path.cwd()
    )  # the processes of the work go to the plan's folder, and tests come back


def test_a_search_writes_nothing_and_says_all_that_the_page_shows(plan: Path) -> None:
    before = sorted(plan.parent.iterdir())
    found = search(plan)
    assert isinstance(found, Solved)
    assert sorted(plan.parent.iterdir()) == before
    assert [choice.chosen for choice in found.choices] == [True]
    assert {answer.status for answer in found.told.answers} == {"holds"}
    assert [column.name for column in found.told.columns] == ["zip", "age", "nationality"]
    assert found.allowed == Fraction(1, 4)
    assert all(chart.svg.startswith("<svg") for chart in found.charts)


def test_levels_that_are_picked_are_looked_at_on_the_open_source(plan: Path) -> None:
    loaded = load_plan(plan)
    with open_engine(loaded.source, loaded.folder) as engine:
        source = MicrodataSource(loaded, engine)
        ladders, rows = tasks_solution.ladders(source, "april")
        assert rows == 12
        assert [(one.column, one.height) for one in ladders] == [
            ("zip", 3),
            ("age", 3),
            ("nationality", 1),
        ]
        told = tasks_solution.look(
            source, "april", Wanted(), {"zip": 2, "age": 3, "nationality": 1}
        )
        assert isinstance(told, RepairText)
        assert told.choice is not None
        assert told.choice.generalization == {"zip": 2, "age": 3, "nationality": 1}
        fails = tasks_solution.look(source, "april", Wanted(), {"zip": 1})
        assert isinstance(fails, Unsolved)
        assert "at the levels zip 1" in fails.because
        assert any(answer.status == "breached" for answer in fails.answers)
        lens, (heads, columns) = tasks_solution.lens(
            source, "april", Wanted(), {"zip": 1, "age": 2, "nationality": 1}
        )
        assert heads == ("name", *columns)
        lines = tasks_solution.page(source, lens, 0, 5)
        assert len(lines) == 5
        assert all(
            line.after is not None and line.after[0] == f"{str(line.before[1])[:4]}*"
            for line in lines
        )


def test_what_is_written_is_the_solution_that_was_picked(plan: Path) -> None:
    levels = {"zip": 2, "age": 3, "nationality": 1}
    found = written_by(plan, "out.csv", levels)
    assert isinstance(found, WrittenRelease)
    assert found.told.levels == levels
    assert "<html" in found.html
    with (plan.parent / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == found.released == 12
    assert {row["nationality"] for row in rows} == {"*"}
    assert "name" not in rows[0]


def test_levels_at_which_a_check_fails_are_not_written(plan: Path) -> None:
    found = written_by(plan, "out.csv", {"zip": 1})
    assert isinstance(found, Unsolved)
    assert not (plan.parent / "out.csv").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../out.csv",
        "/tmp/out.csv",
        "",
        "  ",
        "out.txt",
        "out",
        ".tacit-workbench/x.csv",
        ".hidden.csv",
        "a\0.csv",
        "tacit.yaml",
        "sub/../../x.csv",
    ],
)
def test_files_are_written_below_the_folder_only(plan: Path, name: str) -> None:
    with pytest.raises(TacitError):
        target(plan.parent, name)
    with pytest.raises(TacitError):
        written_by(plan, name, None)


def test_a_link_that_leads_out_of_the_folder_is_not_followed(plan: Path, tmp_path: Path) -> None:
    (plan.parent / "out.csv").symlink_to(tmp_path / "elsewhere.csv")
    (plan.parent / "sub").symlink_to(tmp_path)
    for name in ("out.csv", "sub/x.csv"):
        with pytest.raises(InputError, match="below the plan's folder"):
            target(plan.parent, name, replace_file=True)


def test_files_of_the_owner_are_never_replaced_and_others_only_when_asked(plan: Path) -> None:
    original = (plan.parent / "inpatients.csv").read_bytes()
    for replaces in (False, True):
        with pytest.raises(TacitError):
            written_by(plan, "inpatients.csv", None, replaces=replaces)
    assert (plan.parent / "inpatients.csv").read_bytes() == original
    (plan.parent / "old.csv").write_text("mine\n")
    with pytest.raises(InputError, match="there already"):
        written_by(plan, "old.csv", None)
    assert (plan.parent / "old.csv").read_text() == "mine\n"
    assert isinstance(written_by(plan, "old.csv", None, replaces=True), WrittenRelease)
    assert (plan.parent / "old.csv").read_text() != "mine\n"


def test_what_cannot_be_met_says_why_and_what_would_have_to_give(plan: Path) -> None:
    plan.write_text(plan.read_text().replace("k: 4", "k: 13"))
    found = search(plan)
    assert isinstance(found, Unsolved)
    assert found.proved
    assert "coarsest" in found.because
    assert any("k: 12" in line for line in found.advice)
    explored = tasks_generalize.explore(
        Job(), str(plan), str(plan.parent), "april", Wanted(method="mondrian")
    )
    assert any(rung.cost is None and rung.asked_for for rung in explored.rungs)


@pytest.mark.parametrize("method", ["mondrian", "window"])
def test_groups_of_their_own_come_with_their_first_rows(plan: Path, method: str) -> None:
    found = search(plan, method=method, utility="height", weights={"zip": Fraction(2)})
    assert isinstance(found, Solved)
    assert found.told.levels is None
    assert len(found.lines) == 12
    assert found.heads[0][0] == "name"
    assert isinstance(written_by(plan, "out.parquet", None, method=method), WrittenRelease)


def test_work_stops_where_it_is_told_to(plan: Path) -> None:
    def tell(text: str, share: float) -> None:
        if share > 0.03:
            job.cancel()

    job = Job(tell)
    with pytest.raises(Cancelled):
        tasks_generalize.write(
            job, str(plan), str(plan.parent), "april", Wanted(), None, "out.csv", False, "d"
        )
    assert not (plan.parent / "out.csv").exists()


def test_further_views_are_found_and_come_with_lines_for_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    path.write_text(VIEWS)
    found = pickle.loads(
        pickle.dumps(
            tasks_restore.restore(Job(), str(path), str(tmp_path), 1, 3, (), 20.0, False, "d")
        )
    )
    assert found.status in ("restored", "holds", "impossible", "none")
    assert found.releases == ("women", "young")
    assert "<html" in found.html
    assert bool(found.draft) == bool(found.views)
    loaded = load_plan(path)
    with open_engine(loaded.source, loaded.folder) as engine:
        assert tasks_restore.public_columns(
            MicrodataSource(loaded, engine), ("women", "young")
        ) == (
            "id",
            "age",
            "sex",
        )


BESIDE = """version: 1
tables:
  patients:
    columns: [name, sex, age, ill]
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS], [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
    key: [name]
    identifiers: [name]
    sensitive: [ill]
releases:
  men: {query: "SELECT ill FROM patients WHERE sex = 'M'", to: [insurer]}
  older: {query: "SELECT ill FROM patients WHERE age BETWEEN 26 AND 28", to: [registry]}
published: [men]
checks:
  - gamma-privacy: {release: older, gamma: 0.5, collude: [[insurer, registry]]}
"""  # noqa: E501


def test_further_views_beside_what_is_out_go_to_those_who_get_the_release(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    from tacit.workbench.pages.repair.restore import wishes

    path = tmp_path / "tacit.yaml"
    path.write_text(BESIDE)
    found = tasks_restore.restore(Job(), str(path), str(tmp_path), 0, 3, (), 20.0, False, "d")
    assert (
        found.is_done
        and found.to == ("registry",)
        and "insurer and registry together (men and older" in dict(found.told)["Seen by"]
    )
    path.write_text(edited(BESIDE, *wishes(found), folder=tmp_path))
    plan = load_plan(path)
    assert plan.releases["further-1"].to == ("registry",) and plan.checks[0].collude == (
        ("insurer", "registry"),
    )
    assert [verdict.status for verdict in assess(plan).verdicts] == ["holds"]


def test_other_terms_are_tried_before_they_are_in_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "tacit.yaml"
    path.write_text(PLACES)
    (tmp_path / "jobs.csv").write_text("work,home,many\nx,a,5\nx,b,2\ny,a,40\ny,c,3\n")
    known = pickle.loads(
        pickle.dumps(tasks_synthesize.sizes(Job(), str(path), str(tmp_path), "map"))
    )
    assert [sort.people for sort in known.sorts] == [7, 43]
    now, private = (
        tasks_synthesize.tried(PLACES, "tacit.yaml", tmp_path, "map", terms, known)
        for terms in ({}, {"epsilon": Fraction(1, 2)})
    )
    assert all(less.prior < more.prior for less, more in zip(now, private, strict=True))
    with pytest.raises(TacitError, match="epsilon"):
        tasks_synthesize.tried(
            PLACES, "tacit.yaml", tmp_path, "map", {"epsilon": Fraction(-1)}, known
        )
    assert path.read_text() == PLACES
    drawn = pickle.loads(
        pickle.dumps(
            tasks_synthesize.draw(
                Job(), str(path), str(tmp_path), "map", "map.csv", False, False, "d"
            )
        )
    )
    assert drawn.output == "map.csv"
    with (tmp_path / "map.csv").open(newline="") as file:
        assert sum(int(row["many"]) for row in csv.DictReader(file)) == 50
    with pytest.raises(InputError, match="there already"):
        tasks_synthesize.draw(Job(), str(path), str(tmp_path), "map", "map.csv", False, False, "d")


def test_a_number_of_the_page_is_read_as_the_plan_reads_it() -> None:
    pytest.importorskip("nicegui")
    from tacit.workbench.pages.repair.synthesize import as_number

    assert [as_number(text) for text in ("0.0001", "1/3", " 2 ")] == [
        Fraction(1, 10_000),
        Fraction(1, 3),
        2,
    ]
    for text in (
        "1e999999999",
        "1e-999999999",
        "9" * 100_000,
        "1/0",
        "ln(50)",
        "",
    ):  # at once, and as it was typed
        assert as_number(text) == text


# -- what the page says ----------------------------------------------------------------------------


def test_a_check_of_views_stands_with_its_own_verdict_on_the_list(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    from tacit.workbench.pages.repair.page import of_views, restorable

    path = tmp_path / "tacit.yaml"
    strict = VIEWS.replace("young], gamma: 0.5}", "young], gamma: 0.1}")
    path.write_text(strict)
    book = Bench(path, lambda text: None).book()
    plan = book.plan()
    assert [state for *_, state in of_views(answers(plan, None))] == ["unchecked", "unchecked"]
    keep(book, check(Job(), str(path), str(tmp_path), ()))
    found = of_views(answers(plan, book.checked))
    assert [entry[:3] for entry in found] == [
        ("women", "women", "gamma-privacy of women"),
        ("women", "women and young", "gamma-privacy of women and young"),
    ]
    assert [state for *_, state in found] == ["holds", "breached"]
    path.write_text(strict.replace("gamma: 0.5}", "gamma: 0.75}"))
    assert [state for *_, state in of_views(answers(book.plan(), book.checked))] == [
        "stale",
        "breached",
    ]
    assert restorable(plan, "women") == [0, 1] and restorable(plan, "young") == [1]


def test_a_written_file_is_found_in_the_plan_by_its_levels_or_its_name(plan: Path) -> None:
    pytest.importorskip("nicegui")
    from tacit.model.release import Microdata
    from tacit.workbench.pages.repair.write import in_plan, next_words, raised

    found = written_by(plan, "out.csv", {"zip": 2, "age": 3, "nationality": 1})
    assert isinstance(found, WrittenRelease)
    other, same = (
        Microdata("april", "inpatients", {"zip": 1}),
        Microdata("april", "inpatients", {**raised(found), "sex": 0}),
    )
    file = Microdata("april-written", "inpatients", file="out.csv")
    assert in_plan({}, "april", found) is None and in_plan({"april": other}, "april", found) is None
    assert in_plan({"april": same}, "april", found) == "april"
    assert in_plan({"april": same, file.name: file}, "april", found) == "april-written"
    assert "first put" in next_words(None) and "first put" not in next_words("april")


def test_what_is_written_gets_a_name_and_nothing_that_went_out_is_changed(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    from tacit.checking.recording.record import record
    from tacit.plan.read.load import load_plan
    from tacit.workbench.pages.repair.write import (
        free_release,
        refuse_released,
        taken_names,
        wrong_name,
    )

    (tmp_path / "a.csv").write_text("age,ill\n20,flu\n20,cold\n")
    (tmp_path / "out.csv").write_text("age,ill\n20,flu\n20,cold\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\ntables: {a: {quasi-identifiers: [age], sensitive: [ill]}}\n"
        "releases: {one: {table: a}, one-written: {table: a, file: out.csv}}\n"
        "checks: [{k-anonymity: {release: one-written, k: 2}}]\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    refuse_released(plan, (tmp_path / "out.csv").resolve())
    assert record(plan, "one-written", to=("insurer",), by="me").entries
    with pytest.raises(InputError, match="recorded in the ledger as one-written"):
        refuse_released(plan, (tmp_path / "out.csv").resolve())
    taken = taken_names(plan)
    assert free_release(taken, "one") == "one-written-2"
    assert wrong_name("one-written", taken) and wrong_name("", taken)
    assert wrong_name("june", taken) is None


def test_measures_for_experts_are_apart_unless_one_was_asked_for(plan: Path) -> None:
    pytest.importorskip("nicegui")
    from tacit.workbench.pages.repair.repair_answers import EXPERT, by_readers

    for utility, chosen in (("loss", "loss"), ("kl", "KL divergence")):
        found = search(plan, utility=utility)
        assert isinstance(found, Solved)
        readers, experts = by_readers(found.told.figures)
        assert {one.name for one in experts} == EXPERT - {chosen}
        assert chosen in {one.name for one in readers} and len(readers) + len(experts) == len(
            found.told.figures
        )


def wait_until_told(job: Job, place: str) -> str:
    """Work that goes on until it is stopped, or a file is there."""
    while not Path(place).exists():
        job.step("waiting", 0.5)
        threading.Event().wait(0.02)
    return "done"


@pytest.mark.slow
def test_what_was_stopped_is_not_shown_again(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    from tacit.workbench.pages.repair.repair_work import last_work

    works = Works(lambda text: None)
    (tmp_path / "now").touch()
    try:
        first = works.start(
            "repair-search", "one", wait_until_told, str(tmp_path / "now"), key="april"
        )
        assert first.wait(60) and first.state == "done"
        second = works.start(
            "repair-search", "two", wait_until_told, str(tmp_path / "never"), key="april"
        )
        assert last_work(works, "repair-search", "april") is second
        second.cancel()
        assert second.wait(60) and second.state == "cancelled"
        assert (
            last_work(works, "repair-search", "april") is first
            and works.latest("repair-search", "april") is second
        )
        assert (
            last_work(works, "repair-search", "may") is None
            and last_work(works, "repair-write", "april") is None
        )
    finally:
        works.close()


def test_what_is_not_computed_is_said_with_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [
        "Not computed: some values of ill are missing.",
        "Knowing how the levels were chosen does not help an attacker.",
    ]
    monkeypatch.setattr("tacit.report.repair_words.describe_aware_attacker", lambda found: told)
    first, second = knowing(None)  # type: ignore[arg-type]
    assert (
        first
        == (
            "What somebody learns who knows how the levels were chosen is not computed: some "
            "values of ill are missing."
        )
        and second == told[1]
    )


def test_beside_what_is_out_the_page_says_undecided_and_writes_only_if_somebody_insists(
    plan: Path,
) -> None:
    plan.write_text(
        plan.read_text("utf-8").replace(
            "releases:\n",
            'releases:\n  seen: {query: "SELECT condition FROM inpatients WHERE age < 30"}\n',
            1,
        )
        + "\npublished: [seen]\n",
        "utf-8",
    )
    found = search(plan)
    assert isinstance(found, Solved) and {one.status for one in found.told.answers} == {"undecided"}
    refused = written_by(plan, "out.csv", None)
    assert (
        isinstance(refused, Unsolved)
        and "cannot judge it together with what is published" in refused.because
    )
    assert (
        any("seen is public already" in one.story for one in refused.answers)
        and not (plan.parent / "out.csv").exists()
    )
    insisted = tasks_generalize.write(
        Job(), str(plan), str(plan.parent), "april", Wanted(), None, "out.csv", False, "d", True
    )
    assert (
        isinstance(insisted, WrittenRelease)
        and (plan.parent / "out.csv").exists()
        and "because you insisted" in insisted.html
    )


def test_levels_are_searched_beside_a_copy_that_is_out(plan: Path) -> None:
    text = plan.read_text("utf-8")
    for levels, kind in (("zip: 3, age: 2, nationality: 1", Solved), ("", Unsolved)):
        seen = f"  seen: {{table: inpatients, generalization: {{{levels}}}}}\n"
        plan.write_text(
            text.replace("releases:\n", f"releases:\n{seen}", 1) + "\npublished: [seen]\n", "utf-8"
        )
        found = search(plan)
        assert isinstance(found, kind)
        if isinstance(found, Unsolved):
            assert "together with seen, so that no level helps" in found.because
        else:
            assert {one.status for one in found.told.answers} == {"holds"}
