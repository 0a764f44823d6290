"""Tables that are derived from others, against brute force over all databases and derivations."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, product
from pathlib import Path

import pytest

from gateway.gateway_plans import decider, policy
from tacit.checking.assess import assess
from tacit.errors import PlanError
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy, depends
from tacit.families.queries.logic.critical import Private
from tacit.families.queries.query import Relation
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.families.queries.schema import derived
from tacit.model.schema import Table
from tacit.plan.read.load import load_plan
from thorough import THOROUGH

Rows = frozenset[str]
Database = Mapping[str, Rows]
VALUES = ("a", "b")
BASE, MADE = ("A", "B", "C"), ("D", "E")
RELATIONS = {name: Relation(name, ("x",), kinds={"x": "text"}) for name in (*BASE, *MADE)}
DERIVATIONS: tuple[Callable[[Rows], Rows], ...] = (
    lambda rows: rows,
    lambda rows: frozenset(VALUES) - rows,
    lambda rows: frozenset("a") if len(rows) == 1 else frozenset(),
)


def databases(sources: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[int, Database]]:
    """Every database of the first tables, with the others as each derivation makes them; and the
    number of the derivations.
    """
    some = [frozenset(one) for size in range(3) for one in combinations(VALUES, size)]
    for number, made in enumerate(product(DERIVATIONS, repeat=len(sources))):
        for rows in product(some, repeat=len(BASE)):
            found = dict(zip(BASE, rows, strict=True))
            for (name, behind), make in zip(sources.items(), made, strict=True):
                both = frozenset[str]()
                for one in behind:
                    both ^= found[one]
                found[name] = make(both)
            yield number, found


class Asked:
    """SELECT of the rows of a few tables, each with a value or not."""

    def __init__(self, rng: random.Random, tables: tuple[str, ...]) -> None:
        names = rng.choices(tables, k=rng.choice([1, 1, 2]))
        self.parts = [(name, rng.choice([None, *VALUES])) for name in names]

    @property
    def sql(self) -> str:
        named = [f"{name} t{at}" for at, (name, _) in enumerate(self.parts)]
        where = [f"t{at}.x = '{value}'" for at, (_, value) in enumerate(self.parts) if value]
        shown = ", ".join(f"t{at}.x AS c{at}" for at in range(len(self.parts)))
        told = f" WHERE {' AND '.join(where)}" if where else ""
        return f"SELECT DISTINCT {shown} FROM {', '.join(named)}{told}"

    def answer(self, database: Database) -> frozenset[tuple[str, ...]]:
        parts = [
            [one for one in database[name] if value in (None, one)] for name, value in self.parts
        ]
        return frozenset(product(*parts))


def is_told(secret: Asked, view: Asked, sources: Mapping[str, tuple[str, ...]]) -> bool:
    """By some derivation, does an answer of the view change how likely one of the secret is?"""
    both: Counter[tuple[int, object, object]] = Counter()
    for number, one in databases(sources):
        both[number, secret.answer(one), view.answer(one)] += 1
    numbers = {number for number, _, _ in both}
    for number in numbers:
        ours, theirs = Counter[object](), Counter[object]()
        for (which, left, right), often in both.items():
            if which == number:
                ours[left] += often
                theirs[right] += often
        total = sum(ours.values())
        if any(
            both[number, left, right] * total != ours[left] * theirs[right]
            for left, right in product(ours, theirs)
        ):
            return True
    return False


@pytest.mark.parametrize("seed", range(2 * THOROUGH))
def test_what_holds_beside_derived_tables_holds_however_they_are_derived(seed: int) -> None:
    rng, held = random.Random(seed), 0
    for _ in range(60):
        sources = {
            "D": tuple(rng.sample(BASE, rng.choice([1, 1, 2]))),
            "E": tuple(rng.sample([*BASE, "D"], 1)),
        }
        tables = {name: Table(name, derived_from=some) for name, some in sources.items()}
        secret, view = (Asked(rng, (*BASE, *MADE)) for _ in range(2))
        question = QueryQuestion(
            read(secret.sql, RELATIONS, name="secret", dialect="duckdb"),
            (read(view.sql, RELATIONS, name="view", dialect="duckdb"),),
            RELATIONS,
            derived=derived(tables),
        )
        found = PerfectPrivacy().decide(question).found
        apart = isinstance(found, Private)
        assert not (apart and is_told(secret, view, sources)), (sources, secret.sql, view.sql)
        held += apart
    assert held > 5


def test_ties_and_derivations_lead_on_to_each_other() -> None:
    tied, behind = [frozenset({"R", "E"})], {"E": {"D"}}
    assert depends({"R"}, tied, behind) == ({"R", "E", "D"}, {"R", "E", "D"})
    assert depends({"D"}, tied, behind) == ({"D"}, set())


PLAN = """version: 1
tables:
  visits: {columns: {id: integer, who: text, what: text}, rows: [[1, Ann, flu]], key: [id]}
  eras: {columns: {id: integer, who: text}, rows: [[1, Ann]], key: [id], derived-from: [visits]}
  wards: {columns: {ward: text}, rows: [[A]]}
secrets: {ill: "SELECT who FROM visits WHERE what = 'HIV'"}
releases: {spans: {query: "SELECT who FROM eras"}}
roles: {analysts: {default: allow, deny: [ill]}}
checks:
  - perfect-privacy: {secret: ill, release: spans}
"""


def test_a_denied_secret_reaches_through_derived_tables(tmp_path: Path) -> None:
    found = decider(tmp_path, PLAN)
    assert found.decide("analysts", "SELECT who FROM eras").code == "undecided"
    assert found.decide("analysts", "SELECT ward FROM wards").allowed
    open_plan = PLAN.replace(", derived-from: [visits]", "")
    assert decider(tmp_path, open_plan).decide("analysts", "SELECT who FROM eras").allowed
    assert policy(tmp_path, PLAN).digest != policy(tmp_path, open_plan).digest


def test_known_keys_of_a_derived_table_tell_of_what_it_is_derived_from(tmp_path: Path) -> None:
    asked = "SELECT id FROM visits"
    keys = "dictionary: [visits.id]\n"
    assert decider(tmp_path, PLAN + keys).decide("analysts", asked).allowed
    both = PLAN + "dictionary: [visits.id, eras.id]\n"
    assert decider(tmp_path, both).decide("analysts", asked).code == "undecided"


def checked(folder: Path, text: str) -> str:
    file = folder / "tacit.yaml"
    file.write_text(text)
    return str(assess(load_plan(file)).verdicts[0].status)


def test_a_check_of_perfect_privacy_is_not_decided_over_them(tmp_path: Path) -> None:
    assert checked(tmp_path, PLAN) == "undecided"
    assert checked(tmp_path, PLAN.replace(", derived-from: [visits]", "")) == "holds"


def test_a_snapshot_tells_of_the_table_of_today(tmp_path: Path) -> None:
    snapshot = "{rows: [[1, Ann, flu]], snapshot-of: visits}"
    text = PLAN.replace(
        "{columns: {id: integer, who: text}, rows: [[1, Ann]], key: [id], derived-from: [visits]}",
        snapshot,
    )
    assert checked(tmp_path, text) == "undecided"


@pytest.mark.parametrize("written", ["[nobody]", "[eras]", "3"])
def test_only_other_tables_can_be_named(tmp_path: Path, written: str) -> None:
    file = tmp_path / "tacit.yaml"
    file.write_text(PLAN.replace("derived-from: [visits]", f"derived-from: {written}"))
    with pytest.raises(PlanError, match=r"tacit\.yaml:4"):
        load_plan(file)
