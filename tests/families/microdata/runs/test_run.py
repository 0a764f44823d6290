"""From a plan to a release that meets its checks, written and read back."""

from __future__ import annotations

import csv
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from oracles import microdata as oracle
from tacit import demo
from tacit.engines.open import open_engine
from tacit.errors import EngineError, InputError, PlanError, TacitError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.repair.costs import cost_by
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.repair.output_check import compare
from tacit.families.microdata.repair.search import search
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.explore import explore
from tacit.families.microdata.runs.repair_results import NotRepaired, Repaired
from tacit.families.microdata.runs.task import task_of
from tacit.plan.read.load import load_plan

ADULT = Path(__file__).parents[5] / "shared" / "data" / "adult"
ADULT_QUASI = ("age", "sex", "race", "marital_status", "education", "native_country", "workclass")
ARX_BEST = {
    "age": 4,
    "sex": 0,
    "race": 0,
    "marital_status": 1,
    "education": 3,
    "native_country": 2,
    "workclass": 2,
}


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    demo.write(tmp_path)
    return tmp_path


def with_checks(folder: Path, checks: str, release: str = "{table: inpatients}") -> Any:
    text = (folder / "tacit.yaml").read_text("utf-8")
    head = text[: text.index("releases:")]
    (folder / "own.yaml").write_text(
        f"{head}releases:\n  out: {release}\nchecks:\n{checks}", "utf-8"
    )
    return load_plan(folder / "own.yaml")


def rows_of(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def solved(plan: Any, output: Path | None = None, **more: Any) -> Repaired:
    found = anonymize(plan, "out", None if output is None else str(output), **more)
    assert isinstance(found, Repaired), found
    return found


CHECKS = (
    "  - k-anonymity: {release: out, k: 3}\n"
    "  - l-diversity: {release: out, kind: distinct, l: 3, name: diverse}\n"
)


@pytest.mark.parametrize("method", ["lattice", "mondrian", "window"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_is_written_meets_the_checks(hospital: Path, method: str, suffix: str) -> None:
    plan = with_checks(hospital, CHECKS, f"{{table: inpatients, method: {method}}}")
    out = hospital / f"out.{suffix}"
    found = solved(plan, out)
    assert [verdict.status for verdict in found.verdicts] == ["holds", "holds"]
    assert [verdict.name for verdict in found.verdicts] == [None, "diverse"]
    if suffix == "csv":
        rows = rows_of(out)
        assert list(rows[0]) == ["zip", "age", "nationality", "condition"]
        for group in oracle.groups(rows, ["zip", "age", "nationality"], "own-group").values():
            assert len(group) >= 3
            assert len({row["condition"] for row in group}) >= 3
    again = with_checks(hospital, CHECKS, f"{{table: inpatients, file: out.{suffix}}}")
    assert [verdict.status for verdict in tacit.LoadedPlan(again).check()] == ["holds", "holds"]


def test_rows_are_dropped_where_that_is_allowed_and_pays(hospital: Path) -> None:
    with (hospital / "inpatients.csv").open("a", encoding="utf-8") as lines:
        lines.write("Zoe,99999,99,Martian,Cancer\n")
    (hospital / "zip.csv").open("a").write("99999;9999*;999**;*\n")
    (hospital / "age.csv").open("a").write("99;99;99;*\n")
    text = (
        (hospital / "nationality.csv").read_text()
        if (hospital / "nationality.csv").exists()
        else ""
    )
    if text:
        (hospital / "nationality.csv").open("a").write("Martian;*\n")
    checks = "  - k-anonymity: {release: out, k: 3}\n"
    strict = solved(with_checks(hospital, checks))
    loose = solved(
        with_checks(hospital, checks, "{table: inpatients, suppress: 10%}"), hospital / "out.csv"
    )
    assert strict.recoded.suppressed == 0
    assert loose.recoded.suppressed == 1
    assert loose.utility["after"]["loss"] < strict.utility["after"]["loss"]
    assert len(rows_of(hospital / "out.csv")) == 12
    assert "99999" not in (hospital / "out.csv").read_text()


def test_columns_without_a_role_and_identifiers_are_not_written_and_rows_are_shuffled(
    hospital: Path,
) -> None:
    plan = with_checks(hospital, "  - k-anonymity: {release: out, k: 2}\n")
    seen = set()
    for _ in range(6):
        solved(plan, hospital / "out.csv")
        assert "name" not in rows_of(hospital / "out.csv")[0]
        seen.add((hospital / "out.csv").read_text())
    assert len(seen) > 1


def test_it_says_what_stops_it_and_what_would_have_to_give(hospital: Path) -> None:
    plan = with_checks(
        hospital,
        "  - k-anonymity: {release: out, k: 2}\n"
        "  - l-diversity: {release: out, kind: distinct, l: 5}\n",
    )
    out = hospital / "out.csv"
    out.write_text("old")
    found = anonymize(plan, "out", str(out))
    assert isinstance(found, NotRepaired)
    assert found.exit_status == 1
    assert found.proved
    assert "even the coarsest release fails 5-diversity" in found.because
    assert any("l: 3 instead of 5" in line for line in found.advice)
    assert [verdict.status for verdict in found.verdicts] == ["holds", "breached"]
    assert out.read_text() == "old"


def test_advice_names_levels_that_are_not_allowed(hospital: Path) -> None:
    plan = with_checks(hospital, CHECKS, "{table: inpatients, at-most: {age: 0, zip: 0}}")
    found = anonymize(plan, "out", None)
    assert isinstance(found, NotRepaired)
    assert any("at-most" in line for line in found.advice)
    assert any("suppress" in line for line in found.advice) or found.advice


def test_weights_move_the_choice(hospital: Path) -> None:
    checks = "  - k-anonymity: {release: out, k: 2}\n"
    plain = solved(with_checks(hospital, checks)).recoded.generalization
    heavy = solved(
        with_checks(
            hospital, checks, "{table: inpatients, weights: {zip: 100, age: 1, nationality: 1}}"
        )
    )
    assert plain is not None
    assert heavy.recoded.generalization is not None
    assert heavy.recoded.generalization["zip"] <= plain["zip"]


def test_an_attacker_who_knows_how_the_levels_are_chosen(hospital: Path) -> None:
    plan = with_checks(hospital, CHECKS)
    found = anonymize(plan, "out", None, aware=True)
    if isinstance(found, Repaired):
        assert all(story.reason is None and not story.people for story in found.aware)
    only_sizes = anonymize(
        with_checks(hospital, "  - k-anonymity: {release: out, k: 3}\n"), "out", None, aware=True
    )
    assert isinstance(only_sizes, Repaired), "sizes of groups are no secret"


def test_levels_that_tell_something_by_being_the_least_are_not_accepted(tmp_path: Path) -> None:
    """Wong and others: with the least levels that pass, somebody's value can be worked out."""
    rows = ["a1,sick", "a1,sick", "a2,well", "a2,well", "a2,well", "a2,well"]
    (tmp_path / "t.csv").write_text("q,s\n" + "\n".join(rows) + "\n")
    (tmp_path / "q.csv").write_text("a1;*\na2;*\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {t: {quasi-identifiers: [q], sensitive: [s], hierarchies: {q: q.csv}}}\n"
        "releases: {out: {table: t}}\n"
        "checks:\n"
        '  - alpha-k: {release: out, alpha: "1/2", k: 2}\n'
        "  - l-diversity: {release: out, kind: distinct, l: 2}\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    plain = anonymize(plan, "out", None)
    if isinstance(plain, Repaired) and any(story.people for story in plain.aware):
        careful = anonymize(plan, "out", None, aware=True)
        assert isinstance(careful, NotRepaired)
        assert careful.exit_status == 3


def test_exploring_shows_what_can_be_met(hospital: Path) -> None:
    found = explore(with_checks(hospital, CHECKS), "out")
    by_k = {rung.value: rung for rung in found.rungs if rung.parameter == "k"}
    assert by_k[3].asked_for
    assert by_k[100].cost is None
    costs = [by_k[value].cost for value in sorted(by_k) if by_k[value].cost is not None]
    assert costs == sorted(costs), "more privacy never costs less"
    assert {rung.parameter for rung in found.rungs} == {"k", "l"}
    assert found.to_json()["explored"]


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("april2", "no microdata release"),
        ("file", "is a file that is there already"),
        ("bare", "no check of release"),
    ],
)
def test_input_that_is_wrong(hospital: Path, release: str, message: str) -> None:
    text = (hospital / "tacit.yaml").read_text("utf-8")
    (hospital / "tacit.yaml").write_text(
        text.replace(
            "releases:\n",
            "releases:\n  file: {table: inpatients, file: x.csv}\n  bare: {table: inpatients}\n",
            1,
        )
    )
    with pytest.raises(PlanError, match=message):
        anonymize(load_plan(hospital / "tacit.yaml"), release, None)


def test_groups_of_their_own_have_no_height_and_no_prior(hospital: Path) -> None:
    with pytest.raises(InputError, match="no height"):
        anonymize(
            with_checks(hospital, CHECKS, "{table: inpatients, method: mondrian, utility: height}"),
            "out",
            None,
        )
    with pytest.raises(InputError, match="--method lattice"):
        anonymize(
            with_checks(hospital, CHECKS, "{table: inpatients, method: window}"),
            "out",
            None,
            aware=True,
        )


def test_the_owners_files_are_never_replaced(hospital: Path) -> None:
    plan = with_checks(hospital, CHECKS)
    for name in ("inpatients.csv", "zip.csv"):
        before = (hospital / name).read_bytes()
        with pytest.raises(TacitError):
            anonymize(plan, "out", str(hospital / name))
        assert (hospital / name).read_bytes() == before


@pytest.mark.parametrize("room", [2**62, 1])
def test_an_output_that_was_changed_is_noticed(
    hospital: Path, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.families.microdata.repair.output_check.ROOM", room)
    plan = with_checks(hospital, CHECKS)
    out = hospital / "out.csv"
    found = solved(plan, out)
    text = out.read_text()
    with open_engine(plan.source, plan.folder) as engine:
        compare(found.recoded, engine, str(out))
        for changed in (text.replace("Cancer", "Flu", 1), text + text.splitlines()[-1] + "\n"):
            out.write_text(changed)
            with pytest.raises(EngineError, match="not what was meant"):
                compare(found.recoded, engine, str(out))


def test_data_frames_in_and_out() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    rng = random.Random(1)
    columns: dict[str, list[Any]] = {
        "age": [rng.randint(20, 60) for _ in range(200)],
        "sex": [rng.choice("FM") for _ in range(200)],
    }
    columns["condition"] = [rng.choice(["flu", "cold", "cough"]) for _ in range(200)]
    columns["secret id"] = list(range(200))
    for frame in (
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        polars.DataFrame(columns).to_arrow(),
    ):
        for method in ("lattice", "mondrian"):
            found = tacit.anonymize(
                frame,
                [tacit.KAnonymity(k=5), tacit.LDiversity(kind="entropy", l=2)],
                quasi_identifiers=["age", "sex"],
                sensitive="condition",
                hierarchies={"age": {"ranges": [5, 10, 20]}, "sex": "*"},
                method=method,
                suppress="5%",
            )
            assert type(found.table) is type(frame)
            rows = (
                found.table.to_dict("records")
                if hasattr(found.table, "to_dict") and method and not hasattr(found.table, "rows")
                else None
            )
            names = list(getattr(found.table, "column_names", None) or found.table.columns)
            assert names == ["age", "sex", "condition"]
            assert all(verdict.status == "holds" for verdict in found.verdicts)
            if rows is not None and type(frame).__module__.startswith("pandas"):
                assert min(Counter((row["age"], row["sex"]) for row in rows).values()) >= 5
    nothing = tacit.anonymize(
        pandas.DataFrame(columns),
        [tacit.LDiversity(kind="distinct", l=9)],
        quasi_identifiers=["age"],
        sensitive="condition",
    )
    assert nothing.table is None
    assert nothing.advice


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Any:
    if not ADULT.exists():
        pytest.skip("the Adult data are not here")
    folder = tmp_path_factory.mktemp("adult")
    lines = (ADULT / "adult.csv").read_text().splitlines()[:30163]
    (folder / "adult.csv").write_text("\n".join(lines) + "\n")
    for name in ADULT_QUASI:
        (folder / f"hierarchy_{name}.csv").write_text((ADULT / f"hierarchy_{name}.csv").read_text())
    trees = ", ".join(f"{name}: hierarchy_{name}.csv" for name in ADULT_QUASI)
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        f"tables: {{adult: {{quasi-identifiers: [{', '.join(ADULT_QUASI)}], sensitive: "
        "[occupation], "
        f"hierarchies: {{{trees}}}, as-written: [occupation]}}}}\n"
        "releases: {k: {table: adult}, e: {table: adult}, r: {table: adult}}\n"
        "checks:\n"
        "  - k-anonymity: {release: k, k: 5}\n"
        "  - l-diversity: {release: e, kind: entropy, l: 4}\n"
        "  - l-diversity: {release: r, kind: recursive, l: 4, c: 3}\n"
    )
    return load_plan(folder / "tacit.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("release", ["k", "e", "r"])
def test_the_optimum_of_a_peer_on_adult(adult: Any, release: str) -> None:
    """ARX 3.9.2 finds the same levels: by loss, and by discernibility."""
    with open_engine(adult.source, adult.folder) as engine:
        task = task_of(
            adult,
            release,
            MicrodataSource(adult, engine),
            {},
            aware=False,
            relaxed=False,
            seconds=None,
        )
    judge = NodeJudge(task.raw, task.required, task.lattice())
    found = search(judge, cost_by(judge, "loss"), every=False)
    assert judge.lattice.named(found.best or ()) == ARX_BEST
    assert found.cost is not None
    assert round(found.cost, 4) == 0.5644
    assert judge.asked < 200, "of 2,160 nodes"
    by_pairs = search(judge, cost_by(judge, "discernibility"), every=True)
    assert (by_pairs.best, by_pairs.cost) == ((1, 1, 1, 1, 3, 2, 2), 55_170_356)
    assert Fraction(judge.recoded(by_pairs.best or ()).suppressed) == 0
