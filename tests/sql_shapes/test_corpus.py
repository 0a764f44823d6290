"""The corpus of SQL shapes: what Tacit and its gateway say of each statement, against what the
engine answers on every small database.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sql_shapes import corpus
from sql_shapes.__main__ import Benches
from sql_shapes.databases import bags, critical, databases, disclosed
from sql_shapes.expressions import ANYWHERE, TRUTHS, VALUES
from sql_shapes.judging import Bench
from sql_shapes.queries import CLAUSES, PLACES, writer
from sql_shapes.schemas import SCHEMAS
from thorough import THOROUGH


def wrong_about(group: corpus.Group, bench: Bench) -> list[str]:
    """What is wrong in a group: with Tacit, or with what the corpus says of the engine."""
    found = []
    for kind, statements in group.statements.items():
        for sql in statements:
            outcome = bench.statement(sql, ["secret"])
            found += [f"{one.kind}: {one.sql}\n  {one.about}" for one in outcome.defects]
            if outcome.runs is (kind == "runs-not"):
                found.append(
                    f"{'runs' if outcome.runs else 'does not run'}: {sql}\n  {outcome.error}"
                )
            if kind in ("discloses", "keeps") and by_force(bench, sql) is not (kind == "discloses"):
                found.append(f"brute force does not say that it {kind}: {sql}")
    return found


def by_force(bench: Bench, sql: str) -> bool:
    """Do the rows of the answer depend on a row that matters to the secret?"""
    return disclosed(
        bench.lab, bench.critical["secret"], critical(bench.lab, bags(bench.lab.one_by_one(sql)))
    )


@pytest.mark.sampled
@pytest.mark.parametrize("group", corpus.written(), ids=lambda group: group.about)
def test_nothing_is_said_to_hold_that_discloses(group: corpus.Group, tmp_path: Path) -> None:
    with databases(group.schema) as lab:
        bench = Bench(group.schema, lab, tmp_path, closed=False, secrets={"secret": group.secret})
        found = wrong_about(group, bench)
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_nothing_is_said_to_hold_that_discloses_on_postgresql(
    tmp_path: Path, postgres_url: str
) -> None:
    import psycopg

    found = []
    for number, group in enumerate(corpus.written("postgres")):
        with psycopg.connect(postgres_url, autocommit=True) as owner:
            for table in group.schema.tables:
                owner.execute(
                    f'CREATE TABLE "{table.name}" '
                    f"({', '.join(f'{column.name} {column.type}' for column in table.columns)})"
                )
        with databases(group.schema, postgres_url, f"g{number}_") as lab:
            bench = Bench(
                group.schema,
                lab,
                tmp_path / str(number),
                closed=False,
                url=postgres_url,
                secrets={"secret": group.secret},
            )
            found += wrong_about(group, bench)
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_every_generated_shape_is_read_as_the_engine_runs_it(tmp_path: Path) -> None:
    benches = Benches(tmp_path, None)
    found, read = [], 0
    for shape in corpus.shapes():
        outcome = benches.bench(shape.schema, closed=True).statement(shape.sql)
        read += outcome.read in ("exactly", "by supports")
        found += [
            f"{shape.kind} at {shape.place}: {one.kind}: {one.sql}\n  {one.about}"
            for one in outcome.defects
        ]
    assert not found, "\n".join(found)
    assert read >= 0.9 * len(corpus.shapes()), "a corpus that is mostly refused proves nothing"


def test_every_place_and_every_kind_of_expression_is_in_the_corpus() -> None:
    shapes = corpus.shapes()
    assert {shape.place for shape in shapes} >= {*ANYWHERE, *PLACES}
    assert {shape.kind for shape in shapes} >= {*TRUTHS, *VALUES, *CLAUSES} - {
        "pseudo-column"
    }  # which no engine's table promises


def test_a_statement_is_made_from_its_seed_alone() -> None:
    assert writer("7 1", SCHEMAS["two"]).statement() == writer("7 1", SCHEMAS["two"]).statement()
    assert writer("7 1", SCHEMAS["two"]).statement() != writer("7 2", SCHEMAS["two"]).statement()


@pytest.mark.slow
def test_some_generated_statements_hold_nothing_wrong(tmp_path: Path) -> None:
    """A few of those that `python -m sql_shapes` runs by the thousand."""
    benches = Benches(tmp_path, None)
    found, kept = [], 0
    for number in range(60 * THOROUGH):
        bench, name, _ = benches.at(number)
        outcome = bench.statement(writer(f"suite {number}", SCHEMAS[name]).statement())
        kept += bool(outcome.verdicts["holds"])
        found += [f"{name}: {one.kind}: {one.sql}\n  {one.about}" for one in outcome.defects]
    assert not found, "\n".join(found)
    assert kept > 20 * THOROUGH
