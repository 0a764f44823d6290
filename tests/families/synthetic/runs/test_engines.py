"""Synthesizing where the rows are: Spark's partitions draw their own groups, PostgreSQL takes
the output as a table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from families.synthetic.runs.city import HOMES, city, counts, sizes
from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import EngineError, InputError
from tacit.families.synthetic.promise.noise import Chooser
from tacit.families.synthetic.reading.questions import SyntheticQuestions
from tacit.families.synthetic.runs.on_spark import SparkPartition, whole_groups
from tacit.families.synthetic.runs.synthesize import synthesize
from tacit.model.jobs import Job
from tacit.plan.read.load import load_plan


def test_pieces_end_where_groups_do() -> None:
    draw = np.random.default_rng(5)
    for _ in range(300):
        groups = np.sort(draw.integers(0, 6, int(draw.integers(0, 30))))
        cuts = np.sort(draw.integers(0, len(groups) + 1, int(draw.integers(0, 6))))
        batches = [(part, part * 2, part * 3) for part in np.split(groups, cuts)]
        pieces = list(whole_groups(iter(batches)))
        assert (
            np.concatenate([np.zeros(0, np.int64), *(piece[0] for piece in pieces)]).tolist()
            == groups.tolist()
        )
        assert all(
            (piece[1] == piece[0] * 2).all() and (piece[2] == piece[0] * 3).all()
            for piece in pieces
        )
        seen = [group for piece in pieces for group in np.unique(piece[0]).tolist()]
        assert len(seen) == len(set(seen))


@pytest.mark.parametrize("release", ["map", "each"])
def test_a_partition_draws_its_groups(tmp_path: Path, release: str) -> None:
    pa = pytest.importorskip("pyarrow")
    plan = load_plan(city(tmp_path))
    with DuckDB(folder=tmp_path) as engine:
        scene = SyntheticQuestions(plan, engine, Job()).scene(release)
        pairs = scene.true.pairs(0, len(scene.true.groups) - 1)
        partition = SparkPartition.of(scene, Chooser(scene.terms, groups=len(scene.sizes)), 3)
    table = pa.table({"k0": pairs.group, "k1": pairs.value, "n": pairs.count})
    drawn: Counter[Any] = Counter()
    orders: list[int] = []
    for batch in partition.drawn(iter(table.to_batches(max_chunksize=7))):
        columns = batch.to_pydict()
        orders += columns["order"]
        for group, count in zip(columns["group"], columns["count"], strict=True):
            drawn[list(scene.sizes)[group]] += count
        assert (
            max(columns["value"]) < len(HOMES)
            and columns["tries"][0] >= 1
            and not any(columns["tries"][1:])
        )
    assert drawn == dict(scene.sizes)
    assert len(set(orders)) == len(orders)


@pytest.fixture
def on_spark(spark_session: Any, tmp_path: Path) -> Path:
    return city(tmp_path, source="source: spark\n")


@pytest.mark.slow
@pytest.mark.parametrize(("release", "name"), [("map", "out.csv"), ("each", "out.parquet")])
def test_spark_draws_every_group_once(on_spark: Path, release: str, name: str) -> None:
    output = on_spark.parent / name
    found = synthesize(load_plan(on_spark), release, str(output))
    assert not found.exit_status and found.utility is not None
    rows = duckdb.sql(
        f"SELECT work, {'sum(jobs)' if release == 'map' else 'count(*)'}::INT FROM '{output}' "
        "GROUP BY ALL"
    ).fetchall()
    true = counts(on_spark.parent / "jobs.csv", "jobs" if release == "map" else "none")
    assert dict(rows) == dict(sizes(true))
    assert found.drawing.people == true.total() and found.drawing.tries == found.groups
    assert sorted(path.name for path in on_spark.parent.iterdir()) == sorted(
        ["jobs.csv", name, "tacit.yaml"]
    )


@pytest.mark.slow
def test_spark_draws_the_same_with_a_seed(on_spark: Path) -> None:
    output = on_spark.parent / "out.csv"
    drawn = []
    for _ in range(2):
        synthesize(load_plan(on_spark), "map", str(output), seed=4)
        drawn.append(output.read_bytes())
    assert drawn[0] == drawn[1]


@pytest.mark.slow
def test_spark_says_what_it_does_by_itself(on_spark: Path) -> None:
    output = str(on_spark.parent / "out.csv")
    with pytest.raises(InputError, match="nothing to restart"):
        synthesize(load_plan(on_spark), "map", output, restart=True)
    with pytest.raises(InputError, match="each partition draws"):
        synthesize(load_plan(on_spark), "map", output, workers=2)


@pytest.mark.slow
def test_a_table_of_spark_can_be_the_output(spark_session: Any, on_spark: Path) -> None:
    try:
        assert synthesize(load_plan(on_spark), "map", "made").output == "made"
        rows = spark_session.sql("SELECT work, sum(jobs) FROM made GROUP BY work").collect()
        assert dict(map(tuple, rows)) == dict(sizes(counts(on_spark.parent / "jobs.csv")))
    finally:
        spark_session.sql("DROP TABLE IF EXISTS made")


@pytest.mark.slow
def test_what_goes_wrong_in_a_partition_is_told(
    spark_session: Any, on_spark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: SparkPartition, batches: Any) -> Any:
        from tacit.errors import ParameterError

        raise ParameterError("no draw is good.", parameter="accept")

    monkeypatch.setattr(SparkPartition, "drawn", lambda self, batches: broken(self, batches))
    with pytest.raises(EngineError, match="Spark's Python could not draw"):
        synthesize(load_plan(on_spark), "map", str(on_spark.parent / "out.csv"))
    assert not (on_spark.parent / "out.csv").exists()


@pytest.mark.slow
def test_a_table_of_postgres_can_be_the_output(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    plan = city(tmp_path)
    true = counts(tmp_path / "jobs.csv")
    with psycopg.connect(postgres_url, autocommit=True) as database:
        database.execute(
            "DROP TABLE IF EXISTS jobs; DROP TABLE IF EXISTS made; CREATE TABLE jobs (work TEXT, "
            "home TEXT, jobs INT, name TEXT)"
        )
        with database.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO jobs VALUES (%s, %s, %s, 'x')",
                [(*pair, many) for pair, many in true.items()],
            )
        plan.write_text(plan.read_text().replace("file: jobs.csv, ", ""))
        loaded = replace(load_plan(plan), source=postgres_url)
        assert synthesize(loaded, "map", "made").output == "made"
        assert synthesize(loaded, "map", str(tmp_path / "out.csv")).output
        rows = database.execute("SELECT work, sum(jobs)::INT FROM made GROUP BY work").fetchall()
        database.execute("DROP TABLE jobs; DROP TABLE made")
    assert dict(rows) == dict(sizes(true)) == dict(sizes(counts(tmp_path / "out.csv")))
