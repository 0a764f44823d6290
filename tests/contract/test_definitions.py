"""What every definition of microdata promises, whichever it is.

A new definition is picked up from the registry; give it a line in SAMPLES and it is tested.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from asking import Desk, question
from oracles import microdata as oracle
from tacit.families.catalog import DEFINITIONS, define, kinds_of
from tacit.families.definition import Definition
from tacit.families.microdata.definitions.replay.replay import replay
from tacit.families.microdata.reading.source import CountedTable
from tacit.model.verdict import Verdict
from thorough import THOROUGH

Row = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """A definition with parameters, as a plan writes them.

    `names` says that sensitive values are mere names, so that renaming them changes nothing; where
    their order or distance matters they are numbers, and only quasi-identifiers are renamed.
    `column` asks for the first sensitive column alone.
    """

    kind: str
    parameters: dict[str, Any]
    names: bool = True
    column: bool = False

    def __str__(self) -> str:
        told = "-".join(str(value) for value in self.parameters.values())
        return f"{self.kind}-{told}{'-one' if self.column else ''}"

    def definition(self, missing: str = "own-group") -> Definition:
        return define(self.kind, {**self.parameters, "missing": missing})


SAMPLES = [
    Sample("k-anonymity", {"k": 2}),
    Sample("k-anonymity", {"k": 4}),
    Sample("l-diversity", {"kind": "distinct", "l": 2}),
    Sample("l-diversity", {"kind": "distinct", "l": 3}, column=True),
    Sample("l-diversity", {"kind": "entropy", "l": "1.7"}),
    Sample("l-diversity", {"kind": "entropy", "l": 2}, column=True),
    Sample("l-diversity", {"kind": "recursive", "l": 2, "c": 2}),
    Sample("l-diversity", {"kind": "recursive", "l": 3, "c": "1.5"}, column=True),
    Sample(
        "l-diversity",
        {"kind": "recursive", "l": 2, "c": "1.5", "dont-care": [7_000_001]},
        names=False,
        column=True,
    ),
    Sample("risk", {"at-most": "1/3"}),
    Sample("t-closeness", {"t": "0.3"}, column=True),
    Sample("t-closeness", {"t": "0.2", "distance": "ordered"}, names=False, column=True),
    Sample("alpha-k", {"alpha": "1/2", "k": 3}, column=True),
    Sample("k-e", {"k": 2, "e": 2}, names=False, column=True),
    Sample("m-invariance", {"m": 2, "kind": "unique"}, column=True),
    Sample("m-invariance", {"m": 2, "kind": "values"}, column=True),
    Sample("variance", {"v": "2/3"}, names=False, column=True),
    Sample("eps-m", {"epsilon": 1, "m": "6/5"}, names=False, column=True),
    Sample("dissimilarity", {"epsilon": 1, "delta": "1/10", "k": 2}, names=False, column=True),
    Sample("dissimilarity", {"epsilon": 0, "delta": "1/2", "k": 3}, column=True),
    Sample("risk", {"at-most": "1/4", "attacker": "marketer"}),
    Sample("rho1-rho2", {"rho1": "0.4", "rho2": "0.6"}, column=True),
    Sample("semantic", {"measure": {"positive": "0.7"}, "against": {"negations": 1}}, column=True),
    Sample(
        "semantic",
        {"measure": {"uninformative": "0.3"}, "against": {"known-people": 1}},
        column=True,
    ),
    Sample("c-k-safety", {"c": "0.7", "k": 1}, column=True),
    Sample("c-k-safety", {"c": "0.95", "k": 2}, column=True),
    Sample("skyline", {"l": 1, "k": 1, "m": 0, "c": "0.8"}, column=True),
    Sample("skyline", {"l": 0, "k": 1, "m": 1, "c": "0.75"}, column=True),
]

ids = [str(sample) for sample in SAMPLES]
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=ids)
every_way = pytest.mark.parametrize("missing", ["own-group", "match-any"])
rows_or_persons = pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])


# -- tables, counted once for all tests ---------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """A table with its roles, and hierarchies whose last level is *."""

    rows: tuple[Row, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    hierarchies: dict[str, Any] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    person: tuple[str, ...] = ("p",)

    def levels(self) -> list[dict[str, int]]:
        """Every release: each quasi-identifier at 0, 1 or 2."""
        return [
            dict(zip(self.quasi, chosen, strict=True))
            for chosen in itertools.product(range(3), repeat=len(self.quasi))
        ]


@dataclass(frozen=True)
class Prepared:
    """A table, the same with other words, and the same in another order;
    and its verdicts, which most tests ask for again.
    """

    data: Data
    counted: CountedTable
    renamed: CountedTable
    shuffled: CountedTable
    asked: dict[tuple[Any, ...], Verdict] = field(default_factory=dict)

    def ask(
        self,
        sample: Sample,
        levels: dict[str, int],
        missing: str = "own-group",
        counted: CountedTable | None = None,
        *,
        named: bool = False,
    ) -> Verdict:
        about = counted or self.counted
        key = (str(sample), *levels.values(), missing, id(about), named)
        if key not in self.asked:
            column = self.data.sensitive[0] if sample.column else None
            self.asked[key] = sample.definition(missing).check(
                question(about, levels, named=named), sensitive=column
            )
        return self.asked[key]

    def released(self, levels: dict[str, int]) -> list[Row]:
        return oracle.released(self.data.rows, self.data.hierarchies, levels)


class Pool:
    """The tables that all tests share, counted when they are first asked for."""

    def __init__(self, desk: Desk, stack: ExitStack) -> None:
        self.desk, self.stack = desk, stack
        self.ready: dict[tuple[bool, bool], list[Prepared]] = {}

    def tables(self, sample: Sample, *, persons: bool = False) -> list[Prepared]:
        key = (sample.names, persons)
        if key not in self.ready:
            self.ready[key] = [self.prepared(random.Random(seed), *key) for seed in range(9)]
        return self.ready[key]

    def prepared(self, rng: random.Random, names: bool, persons: bool) -> Prepared:
        data = random_data(rng, names=names, holes=rng.choice([0.0, 0.0, 0.2]), persons=persons)
        shuffled = list(data.rows)
        rng.shuffle(shuffled)
        others = (data, rename(rng, data, sensitive=names), replace(data, rows=tuple(shuffled)))
        return Prepared(data, *(self.counted(one) for one in others))

    def counted(self, data: Data) -> CountedTable:
        return self.stack.enter_context(
            self.desk.counted(
                data.rows,
                quasi=data.quasi,
                sensitive=data.sensitive,
                person=data.person,
                hierarchies=data.hierarchies,
                types=data.types,
            )
        )


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with ExitStack() as stack:
        yield Pool(Desk(tmp_path_factory.mktemp("desk")), stack)


def random_data(rng: random.Random, *, names: bool, holes: float, persons: bool) -> Data:
    """Words that occur nowhere else, so that they can be found in what is printed."""
    quasi = {
        f"q{i}": [f"Quasi{i}x{n}" for n in range(rng.randint(2, 4))]
        for i in range(rng.randint(1, 2))
    }
    sensitive = {
        f"s{i}": [f"Secret{i}x{n}" if names else 7_000_001 + n for n in range(rng.randint(2, 4))]
        for i in range(rng.choice([1, 1, 2]))
    }
    number = rng.choice([4, 8, 12, 20, 30])
    rows = []
    for who in range(number):
        row: Row = {"p": f"Person{rng.randrange(number // 2 + 1) if persons else who}"}
        for name, values in (*quasi.items(), *sensitive.items()):
            row[name] = None if rng.random() < holes else rng.choice(values)
        rows.append(row)
    hierarchies = {
        name: {"rows": {value: [f"Part{name}{rng.choice('uv')}", "*"] for value in values}}
        for name, values in quasi.items()
    }
    types = {
        "p": "text",
        **dict.fromkeys(quasi, "text"),
        **dict.fromkeys(sensitive, "text" if names else "integer"),
    }
    return Data(tuple(rows), tuple(quasi), tuple(sensitive), hierarchies, types)


def rename(rng: random.Random, data: Data, *, sensitive: bool) -> Data:
    """The same table with other words, which sort in another order."""
    columns = [*data.quasi, *(data.sensitive if sensitive else ()), *data.person]
    words: dict[str, dict[Any, Any]] = {}
    for name in columns:
        known = {row[name] for row in data.rows} | set(
            data.hierarchies.get(name, {"rows": {}})["rows"]
        )
        old = sorted(known - {None})
        new = [f"renamed {number:02}" for number in range(len(old))]
        rng.shuffle(new)
        words[name] = {**dict(zip(old, new, strict=True)), None: None}
    labels = {"*": "*"}
    for tree in data.hierarchies.values():
        for steps in tree["rows"].values():
            for step in steps:
                labels.setdefault(step, f"{rng.random()}")
    rows = tuple(
        {name: words[name][value] if name in words else value for name, value in row.items()}
        for row in data.rows
    )
    hierarchies = {
        name: {
            "rows": {
                words[name][value]: [labels[step] for step in steps]
                for value, steps in tree["rows"].items()
            }
        }
        for name, tree in data.hierarchies.items()
    }
    return replace(data, rows=rows, hierarchies=hierarchies)


def without_seconds(verdict: Verdict, audience: Any = "owner") -> dict[str, Any]:
    return {**verdict.to_json(audience), "seconds": 0}


# -- the contract -------------------------------------------------------------------------------


def test_every_definition_has_a_sample() -> None:
    missing = set(kinds_of("microdata")) - {sample.kind for sample in SAMPLES}
    assert not missing, (
        f'add a line to SAMPLES, for example Sample("{min(missing, default="")}", {{...}})'
    )


@pytest.mark.parametrize("kind", kinds_of("microdata"))
def test_a_definition_says_what_it_is(kind: str) -> None:
    definition = DEFINITIONS[kind]
    assert definition.check_name == kind
    for fact in ("monotone", "monotone_with_suppression", "simulatable", "needs_sensitive"):
        assert isinstance(getattr(definition, fact), bool), fact
    assert definition.monotone or not definition.monotone_with_suppression
    assert definition.__doc__


@every_sample
def test_evidence_and_words_fit_the_status(pool: Pool, sample: Sample) -> None:
    seen = set()
    for table in pool.tables(sample):
        for levels in table.data.levels():
            verdict = table.ask(sample, levels)
            seen.add(verdict.status)
            document = verdict.to_json()
            present = [key for key in ("certificate", "witness", "reason") if key in document]
            assert present == [
                {"holds": "certificate", "breached": "witness", "undecided": "reason"}[
                    verdict.status
                ]
            ]
            assert document["check"] == sample.kind
            assert document["measured"]
            assert document["required"]
            assert document["certainty"] in ("exact", "conservative", "statistical")
            for part in ("protects", "against", "measure", "because"):
                assert document[part], part
            assert {one["checked"] for one in document["assumptions"]} <= {"yes", "no", "cannot"}
            assert "no-other-release" in {one["id"] for one in document["assumptions"]}
            told = " ".join(
                [verdict.label, document["because"], document["protects"], document["against"]]
            )
            assert not re.search(r"\b(anonymous|safe|compliant)\b", told, re.IGNORECASE), told
            json.dumps(document, allow_nan=False)
    assert seen >= {"holds", "breached"}, (
        "choose parameters that are sometimes met and sometimes not"
    )


@every_sample
@every_way
def test_the_verdict_survives_renaming_values(pool: Pool, sample: Sample, missing: str) -> None:
    for table in pool.tables(sample):
        for levels in table.data.levels():
            one, other = (
                table.ask(sample, levels, missing),
                table.ask(sample, levels, missing, table.renamed),
            )
            assert unnamed(one) == unnamed(other)


def unnamed(verdict: Verdict) -> dict[str, Any]:
    """What a verdict says without naming a value;
    which of equally bad groups is shown may change.
    """
    document = without_seconds(verdict, "shared")
    evidence = verdict.witness or verdict.certificate
    counted = ("groups", "people", "smallest", "groups_below", "people_below")
    return {
        **{
            key: document[key]
            for key in (
                "check",
                "status",
                "certainty",
                "scope",
                "measured",
                "required",
                "assumptions",
            )
        },
        "facts": {
            key: str(value)
            for key, value in (evidence.facts if evidence else {}).items()
            if key in counted
        },
    }


@every_sample
@rows_or_persons
def test_the_verdict_does_not_depend_on_the_order_of_rows(
    pool: Pool, sample: Sample, persons: bool
) -> None:
    for table in pool.tables(sample, persons=persons)[: 3 * THOROUGH]:
        for levels in table.data.levels():
            one = table.ask(sample, levels, named=True)
            other = table.ask(sample, levels, counted=table.shuffled, named=True)
            assert json.dumps(without_seconds(one)) == json.dumps(without_seconds(other))


@every_sample
@every_way
@rows_or_persons
def test_the_witness_can_be_recounted_by_hand(
    pool: Pool, sample: Sample, missing: str, persons: bool
) -> None:
    for table in pool.tables(sample, persons=persons):
        for levels in table.data.levels():
            verdict = table.ask(sample, levels, missing)
            if verdict.witness is None or "values" not in verdict.witness.personal:
                continue
            facts, personal = verdict.witness.facts, verdict.witness.personal
            values = personal["values"]
            found = oracle.groups(table.released(levels), list(values), missing)
            assert tuple(values.values()) in found, "the group is in the release"
            members = found[tuple(values.values())]
            assert facts["size"] == oracle.people(members, table.data.person)
            if "counts" in personal and "sensitive" in facts and verdict.certainty == "exact":
                assert personal["counts"] == oracle.value_counts(
                    members, facts["sensitive"], table.data.person
                )


@every_sample
@every_way
@rows_or_persons
def test_no_group_fails_exactly_where_the_check_holds(
    pool: Pool, sample: Sample, missing: str, persons: bool
) -> None:
    for table in pool.tables(sample, persons=persons):
        column = table.data.sensitive[0] if sample.column else None
        for levels in table.data.levels():
            asked = question(table.counted, levels)
            failing = sample.definition(missing).failing(asked, sensitive=column)
            status = table.ask(sample, levels, missing).status
            assert failing is None or len(failing) == len(asked.groups(missing=missing))
            assert failing is None or (status == "holds") == (not failing.any())


@every_sample
@every_way
@rows_or_persons
def test_the_evidence_replays(pool: Pool, sample: Sample, missing: str, persons: bool) -> None:
    for table in pool.tables(sample, persons=persons):
        for levels in table.data.levels():
            verdict = table.ask(sample, levels, missing)
            assert replay(
                verdict, table.released(levels), table.data.quasi, person=table.data.person
            ), verdict


@every_sample
def test_a_tampered_witness_does_not_replay(pool: Pool, sample: Sample) -> None:
    for table in pool.tables(sample):
        for levels in table.data.levels():
            verdict = table.ask(sample, levels)
            if verdict.witness is None or "size" not in verdict.witness.facts:
                continue
            facts = {**verdict.witness.facts, "size": verdict.witness.facts["size"] + 1}
            tampered = replace(verdict, evidence=replace(verdict.witness, facts=facts))
            assert not replay(
                tampered, table.released(levels), table.data.quasi, person=table.data.person
            )


@every_sample
@rows_or_persons
def test_what_is_shared_names_nobody_and_no_value(
    pool: Pool, sample: Sample, persons: bool
) -> None:
    for table in pool.tables(sample, persons=persons):
        for levels in table.data.levels():
            document = table.ask(sample, levels, named=True).to_json("shared")
            # The owner's own parameters are repeated; they come from the plan, not from the rows.
            shared = json.dumps({**document, "required": {}, "warnings": []})
            assert not re.search(r"Quasi\dx|Secret\dx|Person\d|Partq|700000\d", shared), shared


@every_sample
def test_asking_twice_gives_the_same_answer(pool: Pool, sample: Sample) -> None:
    table = pool.tables(sample)[0]
    asked = question(table.counted, table.data.levels()[1])
    column = table.data.sensitive[0] if sample.column else None
    first, second = (sample.definition().check(asked, sensitive=column) for _ in range(2))
    assert without_seconds(first) == without_seconds(second)


# -- monotone -----------------------------------------------------------------------------------

WAYS: dict[str, tuple[bool, str]] = {
    "rows are people": (False, "own-group"),
    "people have several rows": (True, "own-group"),
    "missing values match any": (False, "match-any"),
}
every_setting = pytest.mark.parametrize("way", WAYS, ids=[way.replace(" ", "-") for way in WAYS])


@every_sample
@every_setting
def test_a_monotone_definition_still_holds_when_the_release_is_coarser(
    pool: Pool, sample: Sample, way: str
) -> None:
    definition = sample.definition(WAYS[way][1])
    claimed = 0
    for table, fine, coarse, below, above in coarser(pool, sample, way):
        if definition.is_monotone_for(question(table.counted, fine)):
            claimed += 1
            assert below.status != "holds" or above.status == "holds", describe(
                table, fine, coarse, below, above
            )
    if not claimed:
        pytest.skip(f"{sample.kind} does not claim to be monotone where {way}")


@every_sample
@every_setting
def test_a_monotone_definition_loses_no_more_people_when_the_release_is_coarser(
    pool: Pool, sample: Sample, way: str
) -> None:
    """Where groups that fail may be dropped:
    fewer people are in failing groups of a coarser release.
    """
    if not DEFINITIONS[sample.kind].monotone_with_suppression:
        pytest.skip(f"{sample.kind} does not claim to be monotone with suppression")
    for table, fine, coarse, below, above in coarser(pool, sample, way):
        lost = [one.witness.facts["people_below"] if one.witness else 0 for one in (below, above)]
        assert lost[1] <= lost[0], describe(table, fine, coarse, below, above)


def coarser(
    pool: Pool, sample: Sample, way: str
) -> Iterator[tuple[Prepared, Any, Any, Verdict, Verdict]]:
    """Every pair of releases of which one is a generalization of the other, with their verdicts."""
    persons, missing = WAYS[way]
    for table in pool.tables(sample, persons=persons):
        verdicts = [(levels, table.ask(sample, levels, missing)) for levels in table.data.levels()]
        for (fine, below), (coarse, above) in itertools.product(verdicts, repeat=2):
            if fine != coarse and all(fine[name] <= coarse[name] for name in fine):
                yield table, fine, coarse, below, above


def describe(table: Prepared, fine: Any, coarse: Any, *verdicts: Verdict) -> str:
    rows = "\n".join(str(row) for row in table.data.rows)
    return f"{fine} -> {coarse}\n{rows}\n{table.data.hierarchies}\n" + "\n".join(
        str(one) for one in verdicts
    )
