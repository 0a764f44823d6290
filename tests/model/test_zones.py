"""Times with a time zone are generalized on the calendar that the plan names, on every engine;
else on that of UTC, and it is said.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from services import ENGINES, open_kind
from tacit.errors import DataError, PlanError
from tacit.families.microdata.reading.source import count_table
from tacit.model.schema import DateHierarchy, Table
from tacit.plan.plan import Plan

PLAN = """version: 1
tables: {{people: {{quasi-identifiers: [seen], sensitive: [s], hierarchies: {{seen: {levels}}}}}}}
releases: {{out: {{table: people, generalization: {{seen: 1}}}}}}
checks:
  - k-anonymity: {{release: out, k: 2}}
"""
LATE = "TIMESTAMPTZ '2026-03-31 23:30:00+00'"  # in Paris it is April already


def written(folder: Path, levels: str, kind: str = LATE) -> Path:
    duckdb = pytest.importorskip("duckdb")
    duckdb.sql(
        f"COPY (SELECT {kind} AS seen, 'Flu' AS s UNION ALL SELECT "
        f"{kind.replace('03-31 23', '04-01 11')}, 'Cold') TO '{folder}/people.parquet'"
    )
    (folder / "tacit.yaml").write_text(PLAN.format(levels=levels))
    return folder / "tacit.yaml"


def test_the_calendar_is_that_of_the_zone_that_the_plan_names(tmp_path: Path) -> None:
    [verdict] = tacit.load(written(tmp_path, "{dates: [month], zone: Europe/Paris}")).check()
    assert (verdict.status, verdict.warnings) == ("holds", ())


def test_without_a_zone_the_calendar_is_that_of_utc_and_the_verdict_says_so(tmp_path: Path) -> None:
    [verdict] = tacit.load(written(tmp_path, "{dates: [month]}")).check()
    assert verdict.status == "breached"
    assert verdict.warnings == (
        (
            "seen has a time zone, and its days, months and years are those of UTC. Say zone: "
            "beside dates:, for example zone: Europe/Paris, or zone: UTC"
        ),
    )
    [told] = tacit.load(written(tmp_path, "{dates: [month], zone: UTC}")).check()
    assert (told.status, told.warnings) == ("breached", ())


def test_a_column_without_a_time_zone_is_on_no_other_calendar(tmp_path: Path) -> None:
    plan = written(
        tmp_path, "{dates: [month], zone: Europe/Paris}", "TIMESTAMP '2026-03-31 23:30:00'"
    )
    with pytest.raises(DataError, match=r"has no time zone\. Leave zone out"):
        tacit.load(plan).check()


def test_a_zone_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"Europe/Pari.*such as Europe/Paris"):
        tacit.load(written(tmp_path, "{dates: [month], zone: Europe/Pari}"))
    with pytest.raises(PlanError, match="zone"):
        tacit.load(written(tmp_path, "{ranges: [5], zone: Europe/Paris}"))


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_has_the_same_calendar(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "postgres":
        import psycopg

        with psycopg.connect(request.getfixturevalue("postgres_url"), autocommit=True) as admin:
            admin.execute(
                "CREATE SCHEMA zones; CREATE TABLE zones.people AS SELECT timestamptz '2026-03-31 "
                "20:00+00' AS seen"
            )
    else:
        import duckdb

        duckdb.sql(
            "COPY (SELECT TIMESTAMPTZ '2026-03-31 20:00:00+00' AS seen) TO "
            f"'{tmp_path}/people.parquet'"
        )
    name = "zones.people" if kind == "postgres" else "people"
    table = Table(
        name,
        quasi_identifiers=("seen",),
        hierarchies={"seen": DateHierarchy(("day", "month"), zone="Asia/Kolkata")},
    )
    with open_kind(kind, request, tmp_path) as engine:
        engine.attach(table)
        counted = count_table(engine, table, Plan("tests", tmp_path, mark=lambda *path: None))
    assert [level.by_value()[0] for level in counted.hierarchies["seen"].levels[1:3]] == [
        "2026-04-01",
        "2026-04",
    ]
