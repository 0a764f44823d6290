"""What the database expects to be much work is not run, where the owner says so."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from gateway.live import live
from tacit.engines.open import open_engine

PLAN = """\
version: 1
source: {source}
tables:
  wards: {{columns: {{ward: text, beds: integer}}, key: [ward], nullable: [], rows: [[A, 10], [B, 20]]}}
roles: {{nurses: {{default: allow}}}}
"""  # noqa: E501
CHEAP = "SELECT ward FROM wards WHERE beds > 5"
DEAR = f"SELECT count(*) AS n FROM {', '.join(f'wards w{at}' for at in range(20))}"


def check_refused(folder: Path, text: str, cost: float) -> None:
    with live(folder, text, query_cost=cost, postgres_port=0) as running:
        assert any("rows that nobody may see" in one for one in running.said)
        assert running.query(CHEAP).status_code == 200
        refused = running.query(DEAR)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "cost")
        with psycopg.connect(running.postgres(), autocommit=True) as line:
            assert len(line.execute(CHEAP).fetchall()) == 2
            with pytest.raises(psycopg.errors.ProgramLimitExceeded):
                line.execute(DEAR)  # type: ignore[call-overload]
        with running.client() as client:
            assert 'tacit_limited_total{limit="cost"} 2.0' in client.get("/metrics").text


def test_a_query_that_is_much_work_is_not_run(tmp_path: Path) -> None:
    check_refused(tmp_path, PLAN.format(source="."), 100_000)


@pytest.mark.slow
def test_postgresql_says_how_much_work_a_query_is(postgres_url: str) -> None:
    with open_engine(postgres_url, Path()) as engine:
        cheap = engine.stream("SELECT 1")
        dear = engine.stream("SELECT count(*) FROM generate_series(1, 1000000) a")
        costs = []
        for one in (cheap, dear):
            costs.append(one.estimate())
            one.begin()  # it can be run all the same
            assert len(list(one)) == 1
            one.close()
        assert costs[0] < 1 < 1_000 < costs[1]


def test_a_decision_costs_nothing(tmp_path: Path) -> None:
    with live(tmp_path, PLAN.format(source="."), query_cost=1e-9) as running:
        with running.client() as client:
            assert client.post("/check", json={"sql": DEAR}).json()["allowed"]
        assert running.query(CHEAP).json()["error"]["code"] == "cost"
