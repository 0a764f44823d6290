"""Evidence of a disclosure: values of every kind, and a limit on the time that it takes."""

from __future__ import annotations

import time

import pytest

from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.families.queries.schema import relations_of
from tacit.model.schema import Table
from tacit.model.verdict import Verdict

TABLES = {"t": Table("t", columns={"name": "text", "age": "integer", "ill": "text"}, nullable=())}
SECRET = "SELECT name FROM t WHERE ill = 'cancer'"


def verdict_on(view: str, secret: str = SECRET, seconds: float = 60.0) -> Verdict:
    relations = relations_of(TABLES)
    question = QueryQuestion(
        read(secret, relations, name="s"), (read(view, relations, name="v"),), relations, "duckdb"
    )
    return PerfectPrivacy(seconds=seconds).check(question)


@pytest.mark.parametrize(
    "view",
    [
        "SELECT array_agg(name) AS x FROM t",
        "SELECT list(name ORDER BY name) AS x FROM t",
        "SELECT [name, ill] AS x FROM t",
        "SELECT {'a': name, 'b': ill} AS x FROM t",
        "SELECT struct_pack(a := name) AS x FROM t",
        "SELECT list({'a': [name]}) AS x FROM t",
    ],
)
def test_lists_and_values_with_parts_are_evidence_like_others(view: str) -> None:
    found = verdict_on(view)
    assert found.status == "breached" and found.witness is not None
    assert (
        found.witness.facts["executed"]["view"]["without"]
        != found.witness.facts["executed"]["view"]["with"]
    )
    assert found.to_json()["witness"]["kind"] == "tuple"


@pytest.mark.parametrize(
    ("select", "status"),
    [
        ("SELECT t0.name FROM", "breached"),
        ("SELECT count(*) AS n FROM", "undecided"),
        ("SELECT DISTINCT t0.name FROM", "breached"),
    ],
)
def test_the_time_limit_holds_while_a_witness_is_evaluated(select: str, status: str) -> None:
    begun = time.monotonic()
    found = verdict_on(
        f"{select} {', '.join(f't AS t{number}' for number in range(30))}", seconds=2
    )
    assert time.monotonic() - begun < 15
    assert found.status == status
    # Whichever is used up first, the time or the memory.
    assert found.reason is None or any(
        words in found.reason.text for words in ("The time was up", "more memory than is set aside")
    )


@pytest.mark.slow
def test_long_lists_of_values_are_named_by_their_first() -> None:
    begun = time.process_time()
    lists = [
        f"SELECT name FROM t WHERE age IN ({', '.join(map(str, range(start, start + 20_000)))})"
        for start in (0, 20_000)
    ]
    found = verdict_on(lists[1], secret=lists[0])
    assert time.process_time() - begun < 10
    assert found.reason is not None and "age IN (0, 1, 2, ... 20000 values)" in found.reason.text
