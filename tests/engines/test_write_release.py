"""A release written by DuckDB, PostgreSQL and Spark:
the same rows, and those that plain Python would write.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes
from tacit.errors import DataError
from tacit.families.microdata.cleaning import cleaned
from tacit.families.microdata.counts import count
from tacit.families.microdata.fused_columns import fuse_all, unfused
from tacit.families.microdata.hierarchy import Hierarchy, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.recoded import Recoded, generalized
from tacit.families.microdata.repair.release_statement import write
from tacit.model.jobs import Cancelled, Job
from tacit.model.schema import CsvHierarchy, FlatHierarchy, MaskHierarchy, RangeHierarchy, Table
from thorough import THOROUGH

Row = tuple[Any, ...]

WORDS = (
    "13053",
    "13068",
    "14850",
    "01305",
    " 1 ",
    "a,b",
    'say "hi"',
    "two\nlines",
    "cr\rlf\r\n",
    "semi;colon",
    "tab\t",
    "\\.",
    "\\N",
    "ä",
    "中",
    "😀",
    "NULL",
    "it's",
    "a\\b",
    "{x}",
    '"',
    "é",
    "e\u0301",
)
KINDS = {
    "zip": "text",
    "age": "integer",
    "dose": "decimal",
    "born": "date",
    "ill": "text",
    "ward": "text",
    "seen": "timestamp",
    "well": "boolean",
}
QUASI = ("zip", "age", "dose", "born")


def patients(rows: int = 400, seed: int = 7) -> Table:
    """A table with what files and databases stumble over, and missing values everywhere."""
    rng = random.Random(seed)

    def row(number: int) -> Row:
        values = (
            rng.choice(WORDS),
            rng.randrange(20, 26),
            rng.choice(("0.5", "1.25", "-3.00")),
            rng.choice(("2024-02-29", "1985-07-04")),
            rng.choice(("flu", "Flu ", "cold, bad", "?")),
            f"w{rng.randrange(3)}",
            rng.choice(("2024-03-31 02:30:00", "1970-01-01 00:00:00.000001")),
            rng.random() < 0.5,
        )
        return (
            f"P{number}",
            *(None if rng.random() < 0.08 else value for value in values),
            "not for others",
        )

    table = tuple(row(number) for number in range(rows))
    return Table(
        "patients",
        columns={"name": "text", **KINDS, "note": "text"},  # type: ignore[dict-item]
        rows=table,
        identifiers=("name",),
        quasi_identifiers=QUASI,
        sensitive=("ill",),
        insensitive=("ward", "seen", "well"),
        hierarchies={
            "zip": MaskHierarchy("right"),
            "age": RangeHierarchy((2, 4)),
            "dose": FlatHierarchy(),
        },
    )


RELEASED = (*QUASI, "ill", "ward", "seen", "well")


def ask(
    engine: Engine, table: Table, trees: dict[str, Hierarchy] | None = None
) -> MicrodataQuestion:
    """The question about the raw table."""
    parts = {name: tuple(way["variational"]) for name, way in table.distances.items()}
    columns = [*table.quasi_identifiers, *table.sensitive]
    base = fuse_all(count(engine, table.name, unfused(columns, parts), person=table.person), parts)
    for name in table.sensitive:
        if name in table.merge_spelling or name in table.unknown:
            base = cleaned(base, name, unknown=table.unknown.get(name, ()), merge_spelling=True)
    known = {
        name: hierarchy(name, base.dictionaries[name], table.hierarchies.get(name))
        for name in columns
        if name not in (trees or {})
    }
    hierarchies = {**known, **(trees or {})}
    levels = {name: hierarchies[name].level(0) for name in columns}
    return MicrodataQuestion(
        "april",
        table,
        table.quasi_identifiers,
        table.sensitive,
        base,
        levels,
        base.rows,
        base.rows,
        hierarchies=hierarchies,
    )


def stored_rows(engine: Engine, table: str, columns: tuple[str, ...] = RELEASED) -> list[Row]:
    """The rows that an engine has, as it gives them to us."""
    return list(engine.rows(shapes.columns_of(table, columns)))


def read_back(path: Path, kinds: dict[str, Any] | None = None) -> list[Row]:
    """The rows of a written file, read as Tacit reads any file."""
    with DuckDB(folder=path.parent) as engine:
        engine.attach(Table("out", file=path.name, columns=kinds or {}))
        return stored_rows(engine, "out", tuple(engine.columns("out")))


def mask(value: str | None, hidden: int) -> str | None:
    """A text with its last letters hidden, of as many as the longest has."""
    longest = max(map(len, WORDS))
    if hidden >= longest:
        return "*"
    return (
        None
        if value is None
        else value[: longest - hidden] + "*" * (longest - len(value[: longest - hidden]))
    )


def by_two(age: int | None) -> str | None:
    """Ages in bands of two."""
    return None if age is None else f"{age // 2 * 2}-{age // 2 * 2 + 1}"


@pytest.fixture(params=ENGINES, scope="module")
def place(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine of each kind with the table."""
    with open_kind(request.param, request) as engine:
        engine.attach(patients())
        yield engine


@pytest.fixture(scope="module")
def raw(place: Engine) -> MicrodataQuestion:
    """The question about that table: no recoding changes it, and Spark
    takes seconds to count for one.
    """
    return ask(place, patients())


@pytest.fixture(params=("csv", "parquet"))
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file to write to."""
    return tmp_path / f"april [1].{request.param}"


LABELLED = {"zip": "text", "age": "text", "dose": "text"}
FULL: dict[str, tuple[dict[str, int], Callable[[Row], Row]]] = {
    "as it is": ({}, lambda row: row),
    "bands and masks": (
        {"zip": 3, "age": 1},
        lambda row: (mask(row[0], 3), by_two(row[1]), *row[2:]),
    ),
    "one column hidden, missing values too": ({"dose": 1}, lambda row: (*row[:2], "*", *row[3:])),
    "all that can be": (
        {"zip": 10, "age": 3, "dose": 1},
        lambda row: (mask(row[0], 10), "*", "*", *row[3:]),
    ),
}


def kinds_at(levels: dict[str, int]) -> dict[str, Any]:
    """The types of the columns, for a file that has none: recoded ones are text."""
    return {name: "text" if levels.get(name) else KINDS[name] for name in RELEASED}


@pytest.mark.parametrize("case", FULL)
def test_recoded_columns_are_written_as_python_would(
    place: Engine, raw: MicrodataQuestion, out: Path, case: str
) -> None:
    levels, expected = FULL[case]
    write(generalized(raw, levels), place, str(out))
    kinds = kinds_at(levels) if out.suffix == ".csv" else None
    assert Counter(read_back(out, kinds)) == Counter(map(expected, stored_rows(place, "patients")))


def test_only_columns_with_a_role_are_written_in_order(
    place: Engine, raw: MicrodataQuestion, out: Path
) -> None:
    write(generalized(raw, {"age": 2}), place, str(out))
    with DuckDB(folder=out.parent) as engine:
        engine.attach(Table("out", file=out.name))
        assert tuple(engine.columns("out")) == RELEASED


def test_numbers_dates_and_truth_values_keep_their_types_in_parquet(
    place: Engine, raw: MicrodataQuestion, tmp_path: Path
) -> None:
    write(generalized(raw, {"zip": 2}), place, str(tmp_path / "out.parquet"))
    with DuckDB(folder=tmp_path) as engine:
        engine.attach(Table("out"))
        assert engine.columns("out") == {name: KINDS[name] for name in RELEASED}


def test_suppressed_groups_are_not_written(
    place: Engine, raw: MicrodataQuestion, out: Path
) -> None:
    levels = {"zip": 4, "age": 1, "dose": 1}
    shown = [
        (mask(row[0], 4), by_two(row[1]), "*", *row[3:]) for row in stored_rows(place, "patients")
    ]
    sizes = Counter(row[:4] for row in shown)
    whole = generalized(raw, levels)
    keep = np.array([sizes[cell] >= 3 for cell in cells(whole)])
    assert 0 < keep.sum() < len(keep)
    write(generalized(raw, levels, keep=keep), place, str(out))
    kinds = kinds_at(levels) if out.suffix == ".csv" else None
    assert Counter(read_back(out, kinds)) == Counter(row for row in shown if sizes[row[:4]] >= 3)


def cells(recoded: Recoded) -> list[Row]:
    """The labels of each cell."""
    columns = [
        [recoded.labels[name][code] for code in recoded.codes[name]] for name in recoded.raw.quasi
    ]
    return list(zip(*columns, strict=True))


def test_suppression_by_values_that_are_shown_as_they_are(
    place: Engine, raw: MicrodataQuestion, out: Path
) -> None:
    whole = generalized(raw, {})
    rows = stored_rows(place, "patients")
    keep = np.array([cell[1] not in (21, None) for cell in cells(whole)])
    write(generalized(raw, {}, keep=keep), place, str(out))
    kinds = kinds_at({}) if out.suffix == ".csv" else None
    assert Counter(read_back(out, kinds)) == Counter(
        row for row in rows if row[1] not in (21, None)
    )


def local(raw: MicrodataQuestion, rng: random.Random, *, divided: bool) -> Recoded:
    """A recoding in which each cell has a group of its own choice;
    some combinations are in several, some in none.
    """
    rows, counts, codes = [], [], []
    labels = {
        "zip": ("*", "1****", None),
        "age": (20, 21, 22, 23, 24, 25, "20-25", None),
        "dose": ("*",),
    }
    for row, number in enumerate(raw.base.occurrences.tolist()):
        parts = [number - 1, 1] if divided and number > 1 else [number]
        for part in parts if rng.random() < 0.9 else parts[1:]:
            rows.append(row)
            counts.append(part)
            codes.append((rng.randrange(3), rng.randrange(8), 0))
    arrays = {
        name: np.array([code[i] for code in codes], dtype=np.int64) for i, name in enumerate(labels)
    }
    born = raw.base.codes("born")[rows]
    kept = (*raw.base.dictionaries["born"], None)
    return Recoded(
        raw, np.array(rows), np.array(counts), {**labels, "born": kept}, {**arrays, "born": born}
    )


@pytest.mark.parametrize(
    "divided", [False, True], ids=["whole combinations", "combinations divided"]
)
def test_every_group_has_its_own_labels(place: Engine, tmp_path: Path, divided: bool) -> None:
    table = replace(patients(600, 3), quasi_identifiers=("age", "born", "zip", "dose"))
    raw = ask(place, table)
    plan = local(raw, random.Random(5), divided=divided)
    write(plan, place, str(tmp_path / "out.parquet"))
    expected: Counter[Row] = Counter()
    for i, row in enumerate(plan.rows.tolist()):
        shown = [plan.labels[name][plan.codes[name][i]] for name in raw.quasi]
        words = [
            value if name == "born" or value is None else str(value)
            for name, value in zip(raw.quasi, shown, strict=True)
        ]
        expected[(*words, raw.base.value("ill", row))] += int(plan.counts[i])
    found = read_back(tmp_path / "out.parquet")
    assert Counter(row[:5] for row in found) == expected
    # What is not recoded stays with its row: a combination's other columns are all there.
    if not divided:
        known = Counter((row[4], row[3], *row[5:]) for row in stored_rows(place, "patients"))
        assert not Counter((row[4], row[1], *row[5:]) for row in found) - known


def test_people_with_several_rows_are_told_apart(
    tmp_path: Path, request: pytest.FixtureRequest, engine: Engine
) -> None:
    rows = tuple((f"p{i % 7}", 20 + i % 2, ("flu", "cold")[i % 3 == 0]) for i in range(50))
    table = Table(
        "visits",
        columns={"who": "text", "age": "integer", "ill": "text"},
        rows=rows,
        person=("who",),
        quasi_identifiers=("age",),
        sensitive=("ill",),
    )
    engine.attach(table)
    raw = ask(engine, table)
    person = raw.base.persons
    assert person is not None
    plan = Recoded(
        raw,
        np.arange(len(raw.base)),
        raw.base.occurrences,
        {"age": ("first", "others")},
        {"age": (person > 0).astype(np.int64)},
    )
    write(plan, engine, str(tmp_path / "out.csv"))
    expected = Counter(("first" if who == "p0" else "others", ill) for who, _, ill in rows)
    assert Counter(read_back(tmp_path / "out.csv")) == expected


def test_parts_of_a_distribution_and_cleaned_values_are_written_as_they_are_stored(
    engine: Engine, tmp_path: Path
) -> None:
    rows = (
        (20, Decimal("0.25"), Decimal("0.75"), "Flu"),
        (21, Decimal("1.00"), Decimal("0.00"), "flu "),
        (22, None, Decimal("1.00"), "?"),
    )
    table = Table(
        "beliefs",
        columns={"age": "integer", "p_flu": "decimal", "p_cold": "decimal", "ill": "text"},
        rows=rows,
        quasi_identifiers=("age",),
        sensitive=("belief", "ill"),
        distances={"belief": {"variational": ["p_flu", "p_cold"]}},
        merge_spelling=("ill",),
        unknown={"ill": ("?",)},
        hierarchies={"age": FlatHierarchy()},
    )
    engine.attach(table)
    raw = ask(engine, table)
    write(generalized(raw, {"age": 1}), engine, str(tmp_path / "out.parquet"))
    assert Counter(read_back(tmp_path / "out.parquet")) == Counter(("*", *row[1:]) for row in rows)
    each = np.arange(len(raw.base))
    write(
        Recoded(raw, each, raw.base.occurrences, {"age": ("young",)}, {"age": each * 0}),
        engine,
        str(tmp_path / "local.parquet"),
    )
    assert Counter(read_back(tmp_path / "local.parquet")) == Counter(
        ("young", *row[1:]) for row in rows
    )


def test_a_hierarchy_from_a_file(engine: Engine, tmp_path: Path) -> None:
    table = Table(
        "t",
        columns={"job": "text", "ill": "text"},
        rows=(("a", "flu"), ("b", None), (None, "flu"), ("c", "cold")),
        quasi_identifiers=("job",),
        sensitive=("ill",),
    )
    engine.attach(table)
    rows = [(1, ("a", "it's 1", "*")), (2, ("b", "it's 1", "*")), (3, ("c", "c", "*"))]
    raw = ask(
        engine,
        table,
        {
            "job": hierarchy(
                "job", ("a", "b", "c"), CsvHierarchy("job.csv"), rows=rows, file="job.csv"
            )
        },
    )
    write(generalized(raw, {"job": 1}), engine, str(tmp_path / "out.csv"))
    assert Counter(read_back(tmp_path / "out.csv")) == Counter(
        [("it's 1", "flu"), ("it's 1", None), (None, "flu"), ("c", "cold")]
    )
    write(generalized(raw, {"job": 2}), engine, str(tmp_path / "out.csv"))
    assert Counter(read_back(tmp_path / "out.csv")) == Counter(
        [("*", "flu"), ("*", None), ("*", "flu"), ("*", "cold")]
    )


def test_the_order_of_rows_is_random(place: Engine, raw: MicrodataQuestion, tmp_path: Path) -> None:
    plan = generalized(raw, {"age": 1})
    orders = []
    for name in ("one", "two"):
        write(plan, place, str(tmp_path / f"{name}.parquet"))
        orders.append(read_back(tmp_path / f"{name}.parquet"))
    assert orders[0] != orders[1]
    assert Counter(orders[0]) == Counter(orders[1])
    stored = [(row[0], by_two(row[1]), *row[2:]) for row in stored_rows(place, "patients")]
    assert stored not in orders
    # No part of the file is a part of the table either.
    first = Counter(orders[0][:100])
    assert first not in (Counter(stored[:100]), Counter(stored[-100:]))


def test_nothing_is_left_in_the_engine_or_beside_the_file(
    place: Engine, raw: MicrodataQuestion, out: Path
) -> None:
    write(generalized(raw, {"zip": 2}), place, str(out))
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    for name in ("tacit labels 0", "tacit left out", "tacit cells", "tacit groups"):
        with pytest.raises(Exception, match=r"tacit|Tacit"):
            list(place.rows(shapes.row_count(name)))


def test_a_release_without_rows_is_refused(tmp_path: Path) -> None:
    with DuckDB() as engine:
        engine.attach(patients())
        raw = ask(engine, patients())
        nobody = generalized(raw, {}, keep=np.zeros(len(raw.base), dtype=bool))
        with pytest.raises(DataError, match="nothing to write"):
            write(nobody, engine, str(tmp_path / "out.csv"))
    assert not list(tmp_path.iterdir())


def test_a_table_that_has_changed_is_not_written(tmp_path: Path) -> None:
    with DuckDB() as engine:
        engine.attach(patients())
        plan = generalized(ask(engine, patients()), {"zip": 2})
        engine.connection.execute("DELETE FROM patients WHERE name = 'P3'")
        (tmp_path / "out.csv").write_text("old\n")
        with pytest.raises(DataError, match="399 rows would have been written, but 400 were meant"):
            write(plan, engine, str(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text() == "old\n"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cancelled_job_writes_nothing(tmp_path: Path) -> None:
    with DuckDB() as engine:
        engine.attach(patients())
        job = Job(tell=lambda text, share: job.cancel())
        with pytest.raises(Cancelled):
            write(
                generalized(ask(engine, patients()), {}), engine, str(tmp_path / "out.csv"), job=job
            )
    assert not list(tmp_path.iterdir())


def check_random_recoding(seed: int, engine: Engine, path: Path) -> None:
    """A small table, recoded by levels, by suppressed groups or cell by
    cell, against the rows themselves.
    """
    rng = random.Random(seed)
    rows = tuple(
        (
            rng.choice(("a", "bb", None)),
            rng.choice((1, 2, 5, None)),
            rng.choice(("x", "y", None)),
            rng.randrange(3),
        )
        for _ in range(rng.randrange(1, 15))
    )
    table = Table(
        f"small {seed}",
        columns={"c": "text", "n": "integer", "s": "text", "i": "integer"},
        rows=rows,
        quasi_identifiers=("c", "n"),
        sensitive=("s",),
        insensitive=("i",),
        hierarchies={"c": MaskHierarchy("right"), "n": RangeHierarchy((3,))},
    )
    engine.attach(table)
    raw = ask(engine, table)
    levels = {name: rng.randrange(raw.hierarchies[name].height + 1) for name in ("c", "n")}
    whole = generalized(raw, levels)
    groups = sorted(set(cells(whole)), key=repr)
    dropped = set(rng.sample(groups, rng.randrange(len(groups))))
    keep = np.array([cell not in dropped for cell in cells(whole)])
    plan = generalized(raw, levels, keep=keep)
    if seed % 3 == 0:  # the same release, said cell by cell
        plan = replace(plan, generalization=None)
    elif seed % 3 == 1:  # groups that are suppressed in part
        keep &= np.array([rng.random() < 0.8 for _ in keep])
        plan = generalized(raw, levels, keep=keep)
    if not plan.released:
        return
    write(plan, engine, str(path))
    kept = {
        tuple(raw.base.value(name, row) for name in ("c", "n", "s")) for row in plan.rows.tolist()
    }
    label = {
        name: dict(
            zip(
                (*raw.base.dictionaries[name], None),
                raw.hierarchies[name].level(levels[name]).by_value(),
                strict=True,
            )
        )
        for name in ("c", "n")
    }
    expected = Counter(
        (label["c"][row[0]], label["n"][row[1]], *row[2:]) for row in rows if row[:3] in kept
    )
    found = read_back(path)
    if levels["n"] == 0:
        found = [(row[0], None if row[1] is None else int(row[1]), *row[2:]) for row in found]
    assert Counter(found) == expected, seed


@pytest.mark.slow
def test_random_recodings_are_what_python_writes(tmp_path: Path) -> None:
    with DuckDB() as engine:  # to open one takes as long as to write
        for seed in range(100 * THOROUGH):
            check_random_recoding(seed, engine, tmp_path / "out.parquet")
