"""The worked examples of the documents:
what a paper says, what its definition gives, what Tacit answers.

The examples are data (*.yaml beside this file). Each is asked of Tacit and of the oracle.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from asking import Desk, question
from oracles import microdata as oracle
from tacit.families.catalog import define
from tacit.model.verdict import Verdict, as_json

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DATA = Path(os.environ.get("TACIT_DATA") or ROOT.parent / "shared" / "data")

Row = dict[str, Any]


@cache
def paper(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((HERE / name).read_text("utf-8"))
    return document


EXAMPLES = [
    pytest.param(path.name, number, id=f"{path.stem}: {example['name']}")
    for path in sorted(HERE.glob("*.yaml"))
    for number, example in enumerate(paper(path.name)["examples"])
]
every_example = pytest.mark.parametrize(("file", "number"), EXAMPLES)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    opened = Desk(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.engine.close()


class Example:
    """One example with its table and release."""

    def __init__(self, file: str, number: int) -> None:
        document = paper(file)
        self.entry = document["examples"][number]
        release = document.get("releases", {}).get(self.entry.get("release"), {})
        self.levels: dict[str, int] = release.get("generalization", {})
        self.table = document["tables"][self.entry.get("table", release.get("table"))]
        ((self.kind, parameters),) = self.entry["check"].items()
        self.asked: str | None = parameters.get("sensitive")
        self.parameters = {key: value for key, value in parameters.items() if key != "sensitive"}
        self.expected = self.entry["expected"]
        self.quasi: list[str] = self.table["quasi"]
        self.sensitive: list[str] = self.table["sensitive"]
        self.person: list[str] = self.table.get("person", [])
        self.rows = rows_of(self.table, document.get("data"), (*self.quasi, *self.sensitive))
        self.hierarchies = {
            column: bands(*spec["bands"]) if "bands" in spec else spec
            for column, spec in self.table.get("hierarchies", {}).items()
        }

    def ask(self, desk: Desk) -> Verdict:
        """What Tacit answers."""
        definition = define(self.kind, self.parameters)
        with desk.counted(
            self.rows,
            quasi=self.quasi,
            sensitive=self.sensitive,
            person=self.person,
            hierarchies=self.hierarchies,
        ) as counted:
            return definition.check(question(counted, self.levels), sensitive=self.asked)

    def judged(self) -> list[oracle.Part]:
        """What the definition gives, by brute force."""
        rows = oracle.released(self.rows, self.hierarchies, self.levels)
        if self.kind == "k-anonymity":
            return oracle.k_anonymity(
                rows, self.quasi, self.parameters["k"], self.person, "own-group"
            )
        options = {key.replace("-", "_"): value for key, value in self.parameters.items()}
        options["l"] = Fraction(str(options["l"]))
        if options["kind"] != "entropy":
            options["l"] = int(options["l"])
        if "c" in options:
            options["c"] = Fraction(str(options["c"]))
        asked = [self.asked] if self.asked else self.sensitive
        return oracle.l_diversity(rows, self.quasi, asked, self.person, "own-group", **options)


def rows_of(table: dict[str, Any], data: str | None, columns: tuple[str, ...]) -> list[Row]:
    """The rows of an example: printed, as counts of one block or of several, or in a file."""
    if "rows" in table:
        return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    if "counts" in table:
        counts = table["counts"]
        blocks = counts if all(isinstance(one, dict) for one in counts.values()) else {"q*": counts}
        (quasi,), (sensitive,) = table["quasi"], table["sensitive"]
        return [
            {quasi: block, sensitive: value}
            for block, some in blocks.items()
            for value, number in some.items()
            for _ in range(number)
        ]
    assert data is not None
    if not (DATA / data).is_file():
        pytest.skip(f"no {data} in {DATA}: put the data there, or name its folder in TACIT_DATA")
    return list(read(DATA / data, columns))


def read(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {name: int(row[name]) if name == "age" else row[name] for name in columns}


def bands(low: int, width: int, end: int) -> dict[str, Any]:
    """A file of bands that do not begin at 0: 1-10, 11-20, ..."""
    starts = {age: (age - low) // width * width + low for age in range(low, end)}
    return {"rows": {age: [f"{start}-{start + width - 1}"] for age, start in starts.items()}}


@every_example
def test_tacit_gives_what_the_definition_gives(desk: Desk, file: str, number: int) -> None:
    example = Example(file, number)
    if len(example.rows) > 10_000:
        pytest.skip("Tacit is asked through the file, see below")
    assert_expected(example.ask(desk), example.expected)


def assert_expected(verdict: Verdict, expected: dict[str, Any]) -> None:
    assert verdict.status == expected["status"], str(verdict)
    assert verdict.certainty == "exact"
    for name, value in expected.get("measured", {}).items():
        assert as_json(verdict.measured[name]) == as_json(value)
    if "groups" in expected:
        evidence = verdict.certificate or verdict.witness
        assert evidence is not None
        assert (
            evidence.facts.get("groups", evidence.facts.get("groups_below")) == expected["groups"]
        )
    if "witness" in expected:
        assert verdict.witness is not None
        shown = {**verdict.witness.facts, **verdict.witness.personal}
        assert {key: shown[key] for key in expected["witness"]} == expected["witness"]


@every_example
def test_brute_force_gives_the_same(file: str, number: int) -> None:
    example = Example(file, number)
    if len(example.rows) > 10_000 and example.kind != "k-anonymity":
        assert_entropy_by_counting(example)
        return
    parts = example.judged()
    assert oracle.holds(parts) == (example.expected["status"] == "holds")
    for value in example.expected.get("measured", {}).values():
        found = oracle.measured(parts)
        assert str(found).startswith(value) if isinstance(value, str) else found == value
    if "groups" in example.expected:
        assert len(parts) == example.expected["groups"]


def assert_entropy_by_counting(example: Example) -> None:
    """45,222 people in one block: the integers of the formula are too
    long, the digits of e^H are enough.
    """
    counts = oracle.value_counts(example.rows, example.sensitive[0], ()).values()
    kind, value = example.parameters["kind"], example.expected["measured"]["l"]
    if kind == "entropy":
        assert str(oracle.entropy_value(counts)).startswith(value)
    elif kind == "recursive":
        assert oracle.recursive_value(counts, Fraction(example.parameters["c"])) == value
    else:
        assert oracle.distinct(counts) == value


def adult_examples() -> list[Any]:
    return [one for one in EXAMPLES if one.values[0] == "adult.yaml"]


@pytest.mark.parametrize(("file", "number"), adult_examples())
def test_tacit_reads_the_adult_file_itself(desk: Desk, file: str, number: int) -> None:
    """The same through the engine's own reading of the CSV file."""
    from tacit.families.microdata.reading.source import count_table
    from tacit.model.schema import Table

    example = Example(file, number)
    path = DATA / paper(file)["data"]
    table = Table(
        f"adult {number}",
        file=str(path),
        quasi_identifiers=tuple(example.quasi),
        sensitive=tuple(example.sensitive),
        hierarchies={
            column: desk.hierarchy(f"adult-{number}-{column}.csv", spec)
            for column, spec in example.hierarchies.items()
        },
    )
    desk.engine.attach(table)
    counted = count_table(desk.engine, table, desk.plan)
    verdict = define(example.kind, example.parameters).check(question(counted, example.levels))
    assert_expected(verdict, example.expected)


@pytest.mark.parametrize("file", sorted(path.name for path in HERE.glob("*.yaml")))
def test_every_example_says_where_it_comes_from(file: str) -> None:
    document = paper(file)
    assert document["source"]
    names = [example["name"] for example in document["examples"]]
    assert len(names) == len(set(names))
    for example in document["examples"]:
        assert example["where"]
        assert example["says"]
        assert example["expected"]["status"] in ("holds", "breached", "undecided")
