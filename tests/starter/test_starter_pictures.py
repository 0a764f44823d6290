"""What the start page shows of a column:
histograms that count every row once, previews that say what a level does, no names.
"""

from __future__ import annotations

import pickle
import random
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import DataError
from tacit.model.jobs import Cancelled, Job
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    MaskHierarchy,
    RangeHierarchy,
    Table,
)
from tacit.plan.read.load import load_plan
from tacit.starter.coarsening import coarsen
from tacit.starter.guessing import ColumnGuess, guess
from tacit.starter.histograms import (
    BINS,
    MOST_VALUES,
    TOP,
    Histogram,
    bins_of,
    histograms,
    is_shown,
)
from tacit.starter.previews import MOST_PARTS, Branch, preview
from tacit.starter.profile import profile_data, profile_table
from tacit.starter.survey import ColumnProfile, RowsPlace, look_at_table, tables_of

REAL_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def random_rows(rng: random.Random, many: int) -> dict[str, list[Any]]:
    low = rng.choice([-50, 0, 17])
    span = rng.choice([0, 1, 5, 11, 12, 40, 99999])
    born = date(rng.randint(1900, 2000), 1, 1)
    days = rng.choice([0, 20, 400, 30000])

    def some(make: Any, missing: float = 0.1) -> list[Any]:
        return [None if rng.random() < missing else make() for _ in range(many)]

    return {
        "age": some(lambda: rng.randint(low, low + span)),
        "dose": some(lambda: Decimal(rng.randint(-999, 99999)) / 100),
        "ward": some(lambda: rng.choice("ABCDEFGHIJKLMNOP"[: rng.choice([2, 16])]), 0.3),
        "born": some(lambda: born + timedelta(days=rng.randint(0, days))),
        "smokes": some(lambda: rng.random() < 0.5),
        "name": [f"person {number}" for number in range(many)],
    }


def stored(engine: Engine, columns: dict[str, list[Any]], name: str) -> None:
    kinds = {
        "age": "integer",
        "dose": "decimal",
        "ward": "text",
        "born": "date",
        "smokes": "boolean",
        "name": "text",
    }
    rows = tuple(zip(*columns.values(), strict=True))
    engine.attach(Table(name, columns=kinds, rows=rows))  # type: ignore[arg-type]


def count_bands(bar_label: str, values: list[Any]) -> int:
    """How many values a bar's label speaks of, read from the label alone."""
    low, _, high = (
        bar_label.rpartition("-") if " " not in bar_label else bar_label.partition(" to ")
    )
    ends = (Decimal(low or high), Decimal(high))
    return sum(ends[0] <= value <= ends[1] for value in values)


def test_every_row_is_in_one_bar(engine: Engine) -> None:
    for seed in range(6 if isinstance(engine, DuckDB) else 2):
        rng = random.Random(seed)
        columns = random_rows(rng, rng.choice([3, 30, 300]))
        name = f"t{seed}"
        stored(engine, columns, name)
        look = look_at_table(engine, ".", Table(name), None)
        found, counted = histograms(engine, name, guess(look.columns))
        for column, values in columns.items():
            known = [value for value in values if value is not None]
            one = found[column]
            assert len(one.bars) <= max(BINS, TOP)
            if one.kind != "none":
                assert sum(bar.rows for bar in one.bars) + one.others == len(known), (
                    seed,
                    column,
                    one,
                )
            if one.kind == "values":
                best = sorted(Counter(map(str, known)).values(), reverse=True)[:TOP]
                assert [bar.rows for bar in one.bars] == best
            if column == "age" and one.bars and min(known) >= 0:
                assert [bar.rows for bar in one.bars] == [
                    count_bands(bar.label, known) for bar in one.bars
                ]
            if one.kind == "dates":
                for bar in one.bars:
                    first, _, last = bar.label.partition(" to ")
                    assert bar.rows == sum(
                        first <= value.isoformat()[:7] <= (last or first) for value in known
                    )
            if column in counted:
                assert dict(counted[column]) == dict(Counter(known).most_common(MOST_VALUES))
        assert found["name"].bars == () and "name" not in counted


def test_texts_that_are_dates_have_a_histogram_of_dates(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "seen\n"
        + "".join(f"2024-{month:02}-0{day}\n" for month in range(1, 13) for day in (1, 1, 2))
    )
    found = profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml")
    assert [bar.rows for bar in found.histograms["seen"].bars] == [3] * 12 and found.histograms[
        "seen"
    ].bars[0].label == "2024-01"


@pytest.mark.parametrize(
    "low, high", [(0, 0), (0, 1), (17, 90), (-7, 4), (0, 10**15), (-(2**62), 2**62)]
)
def test_bands_of_whole_numbers_have_equal_width_and_cover_all(low: int, high: int) -> None:
    bins = bins_of(ColumnProfile("n", "integer", 99, 99, 50, Decimal(low), Decimal(high)))
    starts = [Decimal(low), *bins.edges]
    assert 1 <= len(bins.labels) == len(starts) <= BINS and starts[-1] <= high
    assert len({b - a for a, b in pairwise(starts)}) <= 1


@pytest.mark.parametrize(
    "low, high",
    [("0", "0.001"), ("40.50", "40.91"), ("-1e-9", "1e-9"), ("1e12", "2e12"), ("5.5", "5.5")],
)
def test_bands_of_decimals_grow(low: str, high: str) -> None:
    bins = bins_of(ColumnProfile("n", "decimal", 99, 99, 50, Decimal(low), Decimal(high)))
    assert (
        list(bins.edges) == sorted(set(bins.edges))
        and len(bins.labels) == len(bins.edges) + 1 <= BINS
    )
    assert len(set(bins.labels)) == len(bins.labels)


def test_values_that_tell_who_somebody_is_are_not_shown() -> None:
    def shown(name: str, kind: Any, distinct: int, role: Any) -> bool:
        return is_shown(
            ColumnGuess(
                ColumnProfile(name, kind, 100, 100, distinct, Decimal(0), Decimal(9)), role, ""
            )
        )

    assert not shown("name", "text", 3, "identifier") and not shown(
        "id", "integer", 100, "identifier"
    )
    assert not shown("note", "text", 95, "sensitive") and not shown("note", "text", 100, None)
    assert shown("age", "integer", 100, "quasi-identifier") and shown("ward", "text", 5, None)


def test_a_profile_holds_no_identifier_and_can_be_sent(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        "name,ward,code\n"
        + "".join(f"Somebody{number},W{number % 3},{number % 2}\n" for number in range(60))
    )
    found = profile_data(str(tmp_path / "p.csv"), plan=tmp_path / "tacit.yaml")
    sent = pickle.dumps(found)
    assert b"Somebody" not in sent and b"W1" in sent
    assert (
        pickle.loads(sent) == found
        and found.has_all_values("ward")
        and not found.has_all_values("name")
    )


def test_the_roles_of_a_plan_count_before_guesses(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "a,b\n" + "".join(f"secret{number % 3},{number % 4}\n" for number in range(30))
    )
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\ntables:\n  t: {file: t.csv, identifiers: [a], quasi-identifiers: [b]}\n"
    )
    found = profile_table(load_plan(tmp_path / "tacit.yaml"), "t")
    assert [one.role for one in found.guesses] == ["identifier", "quasi-identifier"]
    assert (
        "a" not in found.values
        and found.histograms["a"].kind == "none"
        and len(found.histograms["b"].bars) == 4
    )


def test_a_profile_tells_how_far_it_is_and_stops_when_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    told: list[float] = []
    profile_data(
        str(tmp_path / "t.csv"),
        plan=tmp_path / "tacit.yaml",
        job=Job(tell=lambda text, share: told.append(share)),
    )
    assert told == sorted(told) and told[-1] == 1.0
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml", job=job)


def test_the_tables_of_a_database_can_be_listed(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE b AS SELECT 1 AS x; CREATE TABLE a AS SELECT 2 AS y")
    assert tables_of(str(tmp_path / "d.duckdb"), plan=tmp_path / "tacit.yaml") == ["a", "b"]
    found = profile_data(str(tmp_path / "d.duckdb"), plan=tmp_path / "tacit.yaml", table="a")
    assert (found.look.source, found.look.table, found.look.file) == ("d.duckdb", "a", None)


# Previews


def brute(values: dict[Any, int], labels: list[Any]) -> dict[Any, int]:
    found: Counter[Any] = Counter()
    for label, rows in zip(labels, values.values(), strict=True):
        found[label] += rows
    return dict(found)


@pytest.mark.parametrize("seed", range(30))
def test_a_preview_says_what_each_level_does(seed: int) -> None:
    rng = random.Random(seed)
    values = {value: rng.randint(1, 9) for value in rng.sample(range(100), rng.randint(1, 40))}
    fine = rng.randint(2, 9)
    coarse = fine * rng.randint(2, 4)
    found = preview("n", tuple(values.items()), RangeHierarchy((fine, coarse)))
    for step, width in zip(found.steps[1:], (fine, coarse), strict=False):
        together = brute(values, [value // width for value in values])
        assert (step.labels, step.fewest) == (len(together), min(together.values()))
    assert [step.height for step in found.steps] == [0, 1, 2, 3] and found.steps[-1].labels == 1
    (top,) = found.trees
    assert (top.label, top.values, top.rows) == ("*", len(values), sum(values.values()))
    check_branch(top)


def check_branch(branch: Branch) -> None:
    assert len(branch.parts) <= MOST_PARTS
    if branch.parts and not branch.more:
        assert branch.rows == sum(part.rows for part in branch.parts) and branch.values == sum(
            part.values for part in branch.parts
        )
    for part in branch.parts:
        assert part.height == branch.height - 1
        check_branch(part)


def test_previews_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("13053;130*;*\n13068;130*;*\n")
    zips = (("13053", 2), ("13068", 1))
    assert [
        step.examples
        for step in preview("zip", zips, CsvHierarchy("zip.csv"), folder=tmp_path).steps
    ] == [("13053", "13068"), ("130*",), ("*",)]
    assert [step.labels for step in preview("zip", zips, MaskHierarchy("right")).steps] == [
        2,
        2,
        1,
        1,
        1,
        1,
    ]
    assert [
        step.examples for step in preview("sex", (("F", 1), ("M", 1)), FlatHierarchy()).steps
    ] == [("F", "M"), ("*",)]
    born = ((date(1985, 7, 4), 1), (date(1985, 7, 9), 2))
    assert [
        step.examples for step in preview("born", born, DateHierarchy(("month", "year"))).steps
    ][1:] == [("1985-07",), ("1985",), ("*",)]
    with pytest.raises(DataError, match="does not cover"):
        preview("zip", (("99999", 1),), CsvHierarchy("zip.csv"), folder=tmp_path)
    with pytest.raises(DataError, match="is not a number"):
        preview("zip", (("abc", 1),), RangeHierarchy((Fraction(5),)))


@pytest.mark.skipif(not (REAL_DATA / "adult" / "adult.csv").exists(), reason="no Adult data")
def test_every_proposal_for_adult_has_a_preview(tmp_path: Path) -> None:
    found = profile_data(str(REAL_DATA / "adult" / "adult.csv"), plan=tmp_path / "tacit.yaml")
    for one in found.guesses:
        if one.role == "quasi-identifier":
            shown = preview(one.name, found.values[one.name], coarsen(one).spec)
            assert shown.steps[0].labels == one.facts.distinct and shown.steps[-1].labels == 1
    assert [bar.label for bar in found.histograms["age"].bars][:2] == ["17-23", "24-30"]
    assert sum(bar.rows for bar in found.histograms["age"].bars) == 45222


def test_no_rows_no_bars(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n")
    found = profile_data(str(tmp_path / "t.csv"), plan=tmp_path / "tacit.yaml")
    assert (
        set(found.histograms.values()) == {Histogram("none", why="no row has a value")}
        and not found.values
    )


def test_a_place_that_is_attached_is_not_attached_again() -> None:
    with DuckDB() as engine:
        engine.attach(Table("t", columns={"a": None}, rows=((1,), (2,))))
        place = RowsPlace(engine, ".", Table("t"))
        assert look_at_table(engine, place.source, place.table, None).rows == 2
