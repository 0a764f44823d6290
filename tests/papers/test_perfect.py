"""Perfect privacy in the documents: what is printed, what the definition gives, what Tacit answers.

`perfect_cases.json` beside this file has the examples of chapter 2, corrected where they are wrong,
and a counterexample for each theorem that is wrong as printed. More cases, computed by others, are
read from the folder that TACIT_CASES names, where there is one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oracles import perfect as oracle
from oracles.perfect_cases import Case, as_relations, assert_replays, judged, read_query
from tacit.families.queries.logic.critical import judge
from tacit.families.queries.read import read

HERE = Path(__file__).parent
PRINTED: list[dict[str, Any]] = json.loads((HERE / "perfect_cases.json").read_text("utf-8"))[
    "cases"
]
SHARED = (
    Path(os.environ.get("TACIT_CASES") or HERE.parents[2] / "shared" / "cases") / "perfect.json"
)

Fact = oracle.Fact


def table(
    columns: dict[str, list[Any] | None],
    keys: list[list[str]] = [],  # noqa: B006
    nullable: list[str] = [],  # noqa: B006
) -> oracle.Table:
    names = list(columns)
    return oracle.Table(
        tuple(None if listed is None else tuple(listed) for listed in columns.values()),
        tuple(tuple(sorted(map(names.index, key))) for key in keys),
        frozenset(map(names.index, nullable)),
    )


def printed_case(entry: dict[str, Any], *, bag: bool) -> Case:
    known = entry.get("known", {})
    queries = [
        read_query(text, known.get(str(number), ()), bag=bag)
        for number, text in enumerate((entry["secret"], *entry["views"]))
    ]
    schema = {
        name: table(
            columns, entry.get("keys", {}).get(name, []), entry.get("nullable", {}).get(name, [])
        )
        for name, columns in entry["schema"].items()
    }
    return Case(entry["name"], schema, queries[0], tuple(queries[1:]))


def shared_case(entry: dict[str, Any], *, bag: bool) -> Case:
    schema = {
        name: table(
            {column: None if listed == "infinite" else listed for column, listed in columns},
            [key["columns"] for key in entry["keys"] if key["relation"] == name],
        )
        for name, columns in entry["schema"].items()
    }
    views = [entry["view"], *entry.get("more_views", [])]
    return Case(
        entry["id"],
        schema,
        read_query(entry["secret"], bag=bag),
        tuple(read_query(view, bag=bag) for view in views),
    )


def shared_entries() -> list[Any]:
    if not SHARED.is_file():
        reason = (
            f"no {SHARED.name} in {SHARED.parent}: put the cases there, or name their folder "
            "in TACIT_CASES"
        )
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    return [
        pytest.param(one, id=one["id"]) for one in json.loads(SHARED.read_text("utf-8"))["cases"]
    ]


def asked(entry: dict[str, Any], bag_name: str, make: Any) -> Iterator[tuple[Case, bool]]:
    """The case as sets and as bags, with what is expected, where something is."""
    yield make(entry, bag=False), entry["expected"] == "disclosed"
    if bag_name in entry:
        yield make(entry, bag=True), entry[bag_name] == "disclosed"


every_printed = pytest.mark.parametrize("entry", PRINTED, ids=[one["name"] for one in PRINTED])
every_shared = pytest.mark.parametrize("entry", shared_entries())


@every_printed
def test_brute_force_gives_the_corrected_verdict(entry: dict[str, Any]) -> None:
    for case, expected in asked(entry, "expected_bag", printed_case):
        assert oracle.disclosed(case.secret, case.views, case.schema) == expected, str(case)


@every_printed
def test_evidence_is_what_it_says(entry: dict[str, Any]) -> None:
    case = printed_case(entry, bag=False)
    for one in entry.get("evidence", ()):
        query = case.queries[one["query"]]
        (fact,), instance = facts([one["tuple"]]), facts(one["instance"])
        found = oracle.is_critical_on(query, fact, instance, case.schema)
        assert found == one["changes"], one["note"]
        if "row" in one:
            assert oracle.answer(query, {*instance, fact}) == {tuple(one["row"])}


def facts(rows: list[Any]) -> set[Fact]:
    return {(name, tuple(values)) for name, values in rows}


@every_printed
def test_tacit_gives_the_corrected_verdict(entry: dict[str, Any]) -> None:
    for case, expected in asked(entry, "expected_bag", printed_case):
        assert_tacit_says(case, expected)


def assert_tacit_says(case: Case, expected: bool) -> None:
    verdict = judged(case)
    assert type(verdict).__name__ == ("Disclosed" if expected else "Private"), f"{case}\n{verdict}"
    if expected:
        assert_replays(case, verdict)


@every_printed
def test_tacit_reads_the_printed_text(entry: dict[str, Any]) -> None:
    assert_read(printed_case(entry, bag=False), entry["secret"], entry["views"], entry["expected"])


def assert_read(case: Case, secret: str, views: list[str], expected: str) -> None:
    """The same with the queries as Tacit reads them."""
    relations = as_relations(case.schema)
    first, *others = (
        read(text, relations, name=f"q{number}").exact
        for number, text in enumerate((secret, *views))
    )
    assert first is not None
    verdict = judge(first, [one for one in others if one is not None], relations)
    assert type(verdict).__name__.lower() == expected, f"{case}\n{verdict}"


def test_every_case_says_where_it_comes_from() -> None:
    assert len({entry["name"] for entry in PRINTED}) == len(PRINTED)
    for entry in PRINTED:
        assert entry["where"]
        assert entry["says"]
        assert {entry["expected"], entry["expected_bag"]} <= {"private", "disclosed"}
        if entry["expected"] == "disclosed":  # bags tell at least as much
            assert entry["expected_bag"] == "disclosed"


@every_shared
def test_brute_force_gives_the_shared_verdict(entry: dict[str, Any]) -> None:
    for case, expected in asked(entry, "expected_bag_semantics", shared_case):
        if max(len(rule.variables) for query in case.queries for rule in query.rules) <= 6:
            assert oracle.disclosed(case.secret, case.views, case.schema) == expected, str(case)


@every_shared
def test_the_shared_evidence_replays(entry: dict[str, Any]) -> None:
    if "critical_tuple" not in entry:
        pytest.skip("no critical tuple is given")
    case = shared_case(entry, bag=False)
    of_view = entry.get("critical_tuple_of_view", entry["critical_tuple"])
    pairs = [
        (entry["critical_tuple"], "witness_instance_secret"),
        (of_view, "witness_instance_view"),
    ]
    for query, (fact, instance) in zip(case.queries, pairs, strict=True):
        rows = [(one["relation"], tuple(one["values"])) for one in entry[instance]]
        assert oracle.is_critical_on(
            query, (fact["relation"], tuple(fact["values"])), rows, case.schema
        )


@every_shared
def test_tacit_gives_the_shared_verdict(entry: dict[str, Any]) -> None:
    for case, expected in asked(entry, "expected_bag_semantics", shared_case):
        assert_tacit_says(case, expected)


@every_shared
def test_tacit_reads_the_shared_text(entry: dict[str, Any]) -> None:
    views = [entry["view"], *entry.get("more_views", [])]
    assert_read(shared_case(entry, bag=False), entry["secret"], views, entry["expected"])
