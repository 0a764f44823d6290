"""What is judged a part at a time is judged as what is in memory, word for word."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asking import Desk, question
from commands import Ran
from tacit.engines.base import Engine
from tacit.errors import DataError
from tacit.families.catalog import define
from tacit.families.microdata import streamed
from tacit.families.microdata.definitions.reading_verdicts import answer_with
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.reading import source
from tacit.families.microdata.reading.source import count_table
from tacit.model import memory
from tacit.model.verdict import Verdict

CHECKS: list[tuple[str, dict[str, Any], bool]] = [
    ("k-anonymity", {"k": 2}, False),
    ("k-anonymity", {"k": 4, "missing": "error"}, False),
    ("l-diversity", {"kind": "distinct", "l": 2}, False),
    ("l-diversity", {"kind": "entropy", "l": "1.7"}, True),
    ("l-diversity", {"kind": "recursive", "l": 2, "c": 2}, False),
    ("l-diversity", {"kind": "recursive", "l": 3, "c": "1.5"}, True),
    ("l-diversity", {"kind": "recursive", "l": 2, "c": "1.5", "dont-care": [2]}, True),
    (
        "l-diversity",
        {"kind": "recursive", "l": 2, "c": 3, "negative": [1], "c2": 20},
        True,
    ),
    ("risk", {"at-most": "1/3"}, False),
    ("risk", {"at-most": "1/4", "attacker": "marketer"}, False),
    ("t-closeness", {"t": "0.3"}, True),
    ("t-closeness", {"t": "0.2", "distance": "ordered"}, True),
    ("alpha-k", {"alpha": "1/2", "k": 3}, True),
    ("k-e", {"k": 2, "e": 2}, True),
    ("m-invariance", {"m": 2, "kind": "unique"}, True),
    ("m-invariance", {"m": 2, "kind": "values"}, True),
    ("variance", {"v": "2/3"}, True),
    ("eps-m", {"epsilon": 1, "m": "6/5"}, True),
    ("dissimilarity", {"epsilon": 1, "delta": "1/10", "k": 2}, True),
    ("rho1-rho2", {"rho1": "0.4", "rho2": "0.6"}, True),
    ("semantic", {"measure": {"positive": "0.7"}, "against": {"negations": 1}}, True),
    ("semantic", {"measure": {"positive": "0.7"}, "against": {"implications": 1}}, True),
    ("semantic", {"measure": {"uninformative": "0.3"}, "against": {"known-people": 1}}, True),
    ("c-k-safety", {"c": "0.7", "k": 1}, True),
    ("c-k-safety", {"c": "0.95", "k": 3}, True),
    ("skyline", {"l": 1, "k": 1, "m": 0, "c": "0.8"}, True),
    ("skyline", {"l": 0, "k": 2, "m": 2, "c": "0.75"}, True),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def random_table(rng: random.Random) -> dict[str, Any]:
    """Two or three columns to look people up by, one or two sensitive ones, with holes."""
    quasi = {f"q{i}": [f"v{n}" for n in range(rng.randint(2, 5))] for i in range(rng.randint(1, 3))}
    sensitive = {f"s{i}": list(range(1, rng.randint(3, 6))) for i in range(rng.choice([1, 1, 2]))}
    holes = rng.choice([0.0, 0.0, 0.15])
    rows = [
        {"p": f"Person{who}"}
        | {
            name: None if rng.random() < holes else rng.choice(values)
            for name, values in (quasi | sensitive).items()
        }
        for who in range(rng.choice([3, 9, 25, 60]))
    ]
    trees = {
        name: {"rows": {value: [rng.choice("uv"), "*"] for value in values}}
        for name, values in quasi.items()
    }
    types = {"p": "text", **dict.fromkeys(quasi, "text"), **dict.fromkeys(sensitive, "integer")}
    return {
        "rows": rows,
        "quasi": tuple(quasi),
        "sensitive": tuple(sensitive),
        "hierarchies": trees,
        "types": types,
        "declared": {"identifiers": ("p",)},
    }


def documents(
    desk: Desk, table: dict[str, Any], levels: dict[str, int]
) -> Iterator[tuple[str, dict[str, Any]]]:
    with desk.counted(**table) as counted:
        yield from answers(table, question(counted, levels))


def answers(
    table: dict[str, Any], asked: MicrodataQuestion
) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind, parameters, one in CHECKS:
        column = table["sensitive"][0] if one or len(table["sensitive"]) == 1 else None
        try:
            found = answer_with(define(kind, parameters), asked, column, None)
        except DataError as error:  # what is refused is refused both ways
            yield f"{kind} {parameters}", {"error": re.sub(r"table t\d+", "table t", str(error))}
        else:
            yield f"{kind} {parameters}", document(found)


def document(verdict: Verdict) -> dict[str, Any]:
    return {**verdict.to_json("owner"), "seconds": 0}


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_a_verdict_is_the_same_a_part_at_a_time(
    desk: Desk, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for levels in ({}, {name: rng.randint(0, 2) for name in table["quasi"]}):
        whole = dict(documents(desk, table, levels))
        with monkeypatch.context() as patched:
            patched.setattr(source, "fits", lambda combinations: False)
            patched.setattr(streamed, "rows_at_once", lambda: 3)
            parts = dict(documents(desk, table, levels))
        for name, verdict in whole.items():
            assert parts[name] == verdict, name


@pytest.mark.slow
def test_every_engine_gives_the_same_verdicts_a_part_at_a_time(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    for seed in range(3):
        rng = random.Random(100 + seed)
        table = random_table(rng)
        levels = {name: rng.randint(0, 1) for name in table["quasi"]}
        whole = dict(documents(desk, table, levels))
        described = desk.described(f"t{seed}", **table)
        engine.attach(described)
        with monkeypatch.context() as patched:
            patched.setattr(source, "fits", lambda combinations: False)
            patched.setattr(streamed, "rows_at_once", lambda: 3)
            asked = question(count_table(engine, described, desk.plan), levels)
            parts = dict(answers(table, asked))
        for name, verdict in whole.items():
            assert parts[name] == verdict, name


PLAN = """\
version: 1
tables:
  people:
    columns: [name, zip, ill]
    rows: [[Ann, 1, flu], [Bob, 2, cold], [Cy, 1, flu]]
    identifiers: [name]
    quasi-identifiers: [zip]
    sensitive: [ill]
    hierarchies: {zip: "*"}
releases:
  raw: {table: people}
checks:
  - k-anonymity: {release: raw, k: 2}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tacit.yaml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [["anonymize", "raw", "-o", "out.csv"], ["attack", "raw"], ["check", "--report", "p.html"]],
)
def test_what_needs_all_combinations_is_refused_where_they_do_not_fit(
    tacit: Callable[..., Ran], folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr(source, "fits", lambda combinations: False)
    found = tacit(*command)
    assert (found.status, found.err.count("do not fit into")) == (2, 1), found.err
    assert not (folder / "out.csv").exists()


def test_memory_is_a_size(tacit: Callable[..., Ran], folder: Path) -> None:
    refused = tacit("check", "--memory", "2 apples")
    assert (refused.status, "Write for example 2GB" in refused.err) == (2, True)
    assert tacit("check", "--memory", "300MB", "--json").status == 1
    assert memory.told() is None
