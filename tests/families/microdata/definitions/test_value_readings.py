"""Values that may mean unknown, or differ only in spelling:
what is reported is the worst reading of all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from asking import Desk, question
from oracles import closeness, microdata
from tacit.errors import DataError
from tacit.families.catalog import define, kinds_of
from tacit.families.microdata.definitions.reading_verdicts import MORE_IS_WORSE, answer_with
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.model.verdict import Verdict
from tacit.plan.read.load import load_plan
from thorough import THOROUGH

CHECKS: list[tuple[str, dict[str, Any]]] = [
    ("k-anonymity", {"k": 2}),
    ("l-diversity", {"kind": "distinct", "l": 2}),
    ("l-diversity", {"kind": "entropy", "l": "1.7"}),
    ("l-diversity", {"kind": "recursive", "l": 2, "c": 2}),
    ("l-diversity", {"kind": "recursive", "l": 2, "c": 3, "negative": ["Flu"], "c2": 5}),
    ("risk", {"at-most": "1/3"}),
    ("t-closeness", {"t": "0.4"}),
    ("t-closeness", {"t": "0.4", "distance": "ordered"}),
    ("alpha-k", {"alpha": "3/4", "k": 3}),
    ("dissimilarity", {"epsilon": 0, "delta": "1/4", "k": 3}),
    ("rho1-rho2", {"rho1": "0.4", "rho2": "0.7"}),
    ("semantic", {"measure": {"positive": "0.9"}}),
    ("semantic", {"measure": {"positive": "0.95", "uninformative": "0.6"}}),
    ("semantic", {"measure": {"negative": "0.01"}}),
    ("semantic", {"measure": {"ratio": 6}}),
    ("semantic", {"measure": {"positive": "0.97"}, "against": {"negations": 1}}),
    ("t-closeness", {"t": "0.4", "distance": "hierarchical"}),
    ("l-diversity", {"kind": "recursive", "l": 3, "c": 9}),
    ("dissimilarity", {"epsilon": "1/2", "delta": "1/2", "k": 1}),
    ("rho1-rho2", {"rho1": "0.1", "rho2": "0.8"}),
    ("c-k-safety", {"c": "0.99", "k": 2}),
    ("c-k-safety", {"c": "0.95", "k": 1}),
    ("skyline", {"l": 0, "k": 1, "m": 0, "c": "0.95"}),
    ("m-invariance", {"m": 2}),
    ("m-invariance", {"m": 2, "kind": "values"}),
]
LEVELS = {
    "Flu": "air",
    "flu": "air",
    "Cold": "air",
    "COLD": "air",
    "Gout": "no",
    "Mumps": "air",
    "?": "no",
    "n/a": "no",
}
NUMERIC = {"k-e", "variance", "eps-m"}  # numbers have no words for unknown and no spellings
HIERARCHIES = {
    "hierarchical": {"s": {"rows": {value: (level, "*") for value, level in LEVELS.items()}}}
}
WORDS, VARIANTS = ("?", "n/a"), (("Flu", "flu"), ("Cold", "COLD"))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    opened = Desk(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.engine.close()


def readings(values: Sequence[str]) -> list[dict[str, str | None]]:
    """Everything that the values may mean: each word a value or none, each pair of spellings one
    value or two.
    """
    options: list[list[dict[str, str | None]]] = [
        [{}, {word: None}] for word in WORDS if word in values
    ]
    options += [[{}, {other: first}] for first, other in VARIANTS if {first, other} <= set(values)]
    return [
        {key: one for part in chosen for key, one in part.items()}
        for chosen in itertools.product(*options)
    ]


def asked(
    desk: Desk,
    kind: str,
    parameters: Mapping[str, Any],
    rows: Sequence[dict[str, Any]],
    **declared: Any,
) -> Verdict:
    with desk.counted(
        rows,
        quasi=["zip"],
        sensitive=["s"],
        types={"zip": "text", "s": "text"},
        declared=declared,
        hierarchies=HIERARCHIES.get(parameters.get("distance")),
    ) as counted:
        return answer_with(define(kind, parameters), question(counted, named=False), "s", None)


def some_table(draw: random.Random) -> list[dict[str, Any]]:
    words = draw.sample(
        ["Flu", "flu", "Cold", "COLD", "Gout", "Mumps", "?", "n/a"], draw.randint(3, 8)
    )
    many = {word: draw.choice([1, 1, 2, 4, 8]) for word in words}
    rows = [
        {"zip": zip_, "s": word}
        for zip_ in "AB"
        for word in words
        for _ in range(draw.choice([0, 1, many[word]]))
    ]
    return [
        *rows,
        *({"zip": zip_, "s": "Gout"} for zip_ in "AB"),
        *({"zip": zip_, "s": "Mumps"} for zip_ in "AB"),
    ]


def number(value: Any) -> Fraction | float:
    return float("inf") if value == "infinite" else Fraction(value)


def test_every_definition_says_which_numbers_are_worse() -> None:
    assert {kind for kind, _ in CHECKS} | NUMERIC == set(kinds_of("microdata"))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("kind", "parameters"),
    CHECKS,
    ids=[f"{kind}-{next(iter(some.values()))}" for kind, some in CHECKS],
)
def test_what_is_measured_is_the_worst_of_all_readings(
    desk: Desk, kind: str, parameters: dict[str, Any]
) -> None:
    """Each reading is written out as a table of its own, in which nothing is in doubt."""
    seen = set()
    for seed in range(12 * THOROUGH):
        rows = some_table(random.Random(seed))
        verdict = asked(desk, kind, parameters, rows)
        ways = readings([row["s"] for row in rows])
        each = [
            asked(
                desk,
                kind,
                parameters,
                [{**row, "s": way.get(row["s"], row["s"])} for row in rows],
                as_written=("s",),
            )
            for way in ways
        ]
        worst = min((one.status for one in each), key=("breached", "undecided", "holds").index)
        assert verdict.status == worst
        seen.add(worst)
        if worst != "holds":
            continue
        for name, value in verdict.measured.items():
            side = max if MORE_IS_WORSE[name] else min
            assert number(value) == side(number(one.measured[name]) for one in each), (seed, name)
        beliefs = [one.certificate.facts.get("greatest_belief") for one in each if one.certificate]
        if any(beliefs):
            assert verdict.certificate and verdict.certificate.facts["greatest_belief"] == max(
                filter(None, beliefs)
            )
    # These tables repeat values, and m-invariance wants each once.
    assert "holds" in seen or (kind, parameters) == ("m-invariance", {"m": 2})


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("k-e", {"k": 1, "e": 1}), ("variance", {"v": 1}), ("eps-m", {"epsilon": 1, "m": 2})],
)
def test_numbers_beside_a_word_for_unknown_are_refused(
    desk: Desk, kind: str, parameters: dict[str, Any]
) -> None:
    rows = [{"zip": "A", "s": value} for value in ("1", "10", "20", "?")]
    with pytest.raises(DataError, match="has to be numbers here"):
        asked(desk, kind, parameters, rows)


def test_the_worst_share_and_entropy_agree_with_the_definitions(desk: Desk) -> None:
    """Counted by hand in every reading."""
    for seed in range(20 * THOROUGH):
        rows = some_table(random.Random(1000 + seed))
        shares, entropies = [], []
        for way in readings([row["s"] for row in rows]):
            for zip_ in "AB":
                values = [way.get(row["s"], row["s"]) for row in rows if row["zip"] == zip_]
                known = [value for value in values if value is not None]
                counts = {value: known.count(value) for value in known}
                shares.append(closeness.share(counts))
                entropies.append(microdata.entropy_value(counts.values()))
        share = asked(desk, "alpha-k", {"alpha": 1, "k": 1}, rows)
        assert share.measured["alpha"] == max(shares)
        entropy = asked(desk, "l-diversity", {"kind": "entropy", "l": "1.01"}, rows)
        assert abs(Decimal(entropy.measured["l"]) - min(entropies)) <= Decimal("0.0001")


EIGHT = [{"zip": "A", "s": value} for value in ("?",) * 8 + ("Flu", "Cold", "Gout")]


def test_a_word_for_unknown_that_is_most_of_a_group_is_reported_as_written(desk: Desk) -> None:
    verdict = asked(desk, "alpha-k", {"alpha": "0.8", "k": 2}, EIGHT)
    assert (verdict.status, verdict.measured["alpha"]) == ("holds", Fraction(8, 11))
    assert "(the worst of 2 readings: values as written)" in verdict.because
    entropy = asked(desk, "l-diversity", {"kind": "entropy", "l": 2}, EIGHT)
    assert entropy.status == "holds" and str(entropy.measured["l"]).startswith("2.42")
    assert "values as written" in entropy.because


def test_the_belief_that_nobody_is_above_is_the_greatest_of_all_readings(desk: Desk) -> None:
    verdict = asked(desk, "l-diversity", {"kind": "distinct", "l": 3}, EIGHT)
    assert verdict.status == "holds" and verdict.measured["l"] == 3
    assert verdict.certificate and verdict.certificate.facts["greatest_belief"] == Fraction(8, 11)
    assert verdict.story and "73 %" in verdict.story
    assert verdict.certificate.facts["reading"] == "words for unknown as no value"


def test_a_word_may_mean_unknown_while_another_is_a_value(desk: Desk) -> None:
    """As written no value has more than 4/11, without both words 1/3; without one of them, 4/7."""
    rows = [
        {"zip": "A", "s": value}
        for value in ("?",) * 4 + ("refused", *(("n/a",) * 4)) + ("Flu", "Cold")
    ]
    verdict = asked(desk, "alpha-k", {"alpha": "1/2", "k": 2}, rows)
    assert (
        verdict.status == "breached"
        and "some of the words for unknown as no value" in verdict.because
    )


MANY = [
    {"zip": "A", "s": value}
    for number in range(6)
    for value in (f"value {number}", f"VALUE {number}")
]


def test_too_many_readings_are_undecided_unless_those_that_are_tried_are_the_worst(
    desk: Desk,
) -> None:
    verdict = asked(desk, "rho1-rho2", {"rho1": "0.4", "rho2": "0.7"}, MANY)
    assert (
        verdict.reason
        and verdict.reason.code == "many-readings"
        and "merge-spelling: [s]" in verdict.reason.text
    )
    assert (
        asked(desk, "rho1-rho2", {"rho1": "0.4", "rho2": "0.7"}, MANY, merge_spelling=("s",)).status
        == "holds"
    )
    assert (
        asked(
            desk,
            "rho1-rho2",
            {"rho1": "0.2", "rho2": "0.3"},
            [*MANY, *({"zip": "B", "s": "b"},) * 2],
        ).status
        == "breached"
    )
    for kind, parameters, value in (
        ("alpha-k", {"alpha": "1/2", "k": 2}, Fraction(1, 6)),
        ("l-diversity", {"kind": "distinct", "l": 6}, 6),
        ("k-anonymity", {"k": 12}, 12),
        ("l-diversity", {"kind": "entropy", "l": 6}, Fraction(6)),
        ("t-closeness", {"t": "0.1"}, 0),
        ("l-diversity", {"kind": "recursive", "l": 6, "c": 2}, 6),
    ):
        held = asked(desk, kind, parameters, MANY)
        assert held.status == "holds" and Fraction(next(iter(held.measured.values()))) == value, (
            kind
        )


def test_many_words_for_unknown_are_undecided_for_shares_too(desk: Desk) -> None:
    words = ["?", "-", "--", "n/a", "none", "null"]
    rows = [{"zip": "A", "s": value} for value in (*words, "Flu", "Cold", "Gout")]
    assert asked(desk, "alpha-k", {"alpha": "1/2", "k": 2}, rows).status == "undecided"
    assert asked(desk, "l-diversity", {"kind": "distinct", "l": 3}, rows).status == "holds"


def test_a_search_says_that_the_values_can_be_read_in_too_many_ways(tmp_path: Path) -> None:
    lines = [f"p{at},{at % 2},{row['s']}" for at, row in enumerate(MANY)]
    (tmp_path / "people.csv").write_text("\n".join(["name,zip,s", *lines, ""]))
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {people: {identifiers: [name], quasi-identifiers: [zip], sensitive: [s], "
        'hierarchies: {zip: "*"}}}\n'
        "releases: {out: {table: people}}\n"
        "checks:\n  - rho1-rho2: {release: out, rho1: 0.4, rho2: 0.7}\n"
    )
    with pytest.raises(DataError, match=r"can be read in too many ways.*merge-spelling: \[s\]"):
        anonymize(load_plan(tmp_path / "tacit.yaml"), "out", str(tmp_path / "new.csv"))
    assert not (tmp_path / "new.csv").exists()


def test_a_population_is_found_where_a_value_may_mean_unknown(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("zip,s\n1,Flu\n1,flu\n2,?\n2,Cold\n")
    (tmp_path / "town.csv").write_text("zip\n" + "1\n" * 3 + "2\n" * 4)
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {people: {quasi-identifiers: [zip], sensitive: [s]}, town: {quasi-identifiers: "
        "[zip]}}\n"
        "releases: {out: {table: people}}\n"
        "checks:\n  - risk: {release: out, at-most: 1/3, attacker: journalist, population: town}\n"
    )
    verdict = tacit.load(tmp_path / "tacit.yaml").check()[0]
    assert (verdict.status, verdict.measured["risk"]) == ("holds", Fraction(1, 3))


def beliefs_of(folder: Path, values: Sequence[str], declared: str) -> tuple[Fraction, int]:
    """The largest share of gamma-privacy, and the k of k-RSIND."""
    rows = ", ".join(f'[p{at}, {at % 3}, {at % 2}, "{value}"]' for at, value in enumerate(values))
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        f"tables: {{t: {{columns: [name, a, b, s], key: [name], sensitive: [s], rows: "
        f"[{rows}]{declared}}}}}\n"
        'releases: {one: {query: "SELECT a, s FROM t"}, two: {query: "SELECT s FROM t WHERE b '
        '= 0"}}\n'
        "checks:\n"
        "  - gamma-privacy: {releases: [one, two], gamma: 0.9}\n"
        "  - k-rsind: {releases: [one, two], k: 2}\n"
    )
    gamma, rsind = tacit.load(folder / "tacit.yaml").check()
    return Fraction(gamma.measured["gamma"]), int(rsind.measured["k"])


def test_overlapping_views_are_judged_by_the_worst_of_all_readings(tmp_path: Path) -> None:
    """A word for unknown may mean anything there, and counts with every value:
    no other reading is worse.
    """
    for seed in range(6 * THOROUGH):
        draw = random.Random(seed)
        values = [draw.choice(["Flu", "flu", "Cold", "Gout", "?", "n/a"]) for _ in range(6)]
        share, crowd = beliefs_of(tmp_path, values, "")
        words = [word for word in WORDS if word in values]
        for size in range(len(words) + 1):
            for unknown in itertools.combinations(words, size):
                for spelling in ("as-written", "merge-spelling"):
                    named = ", ".join(f'"{word}"' for word in unknown)
                    other, fewer = beliefs_of(
                        tmp_path, values, f", unknown: {{s: [{named}]}}, {spelling}: [s]"
                    )
                    assert share >= other and crowd <= fewer, (values, unknown, spelling)
