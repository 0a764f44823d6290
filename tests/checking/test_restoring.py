"""Restoring beside what is published: further views hold for everybody who is judged, with all that
they hold, or it is proved that none do.
"""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
import yaml

from checking.keeping import plan_of
from oracles import holdings, overlap
from tacit.errors import InputError
from tacit.families.overlaps.runs.restore import restore
from tacit.families.overlaps.runs.restore_results import NotRestored, Restored
from thorough import THOROUGH

Out = Sequence[tuple[str, Sequence[str]]]
CLIENTS = ("bank", "clinic")
GAMMAS = ("1/2", "3/5", "2/3", "3/4", "4/5")


def query(members: Sequence[int]) -> str:
    return f"SELECT condition FROM people WHERE age IN ({', '.join(map(str, sorted(members)))})"


class Drawn:
    """A few people in a row, views of some of them, who gets which, and what is published."""

    def __init__(self, number: int) -> None:
        rng = random.Random(f"restoring/{number}")
        many, values = ((7, "xyz"), (8, "vwxyz"))[number % 2]
        self.truth = dict(enumerate(rng.sample((values * 3)[:many], many)))
        order = rng.sample(range(many), many)
        both = rng.choice([1, 1, 2])
        self.members: dict[str, Sequence[int]] = {"v1": order[:4], "v2": order[4 - both : 8 - both]}
        if rng.random() < 0.5:
            self.members["v3"] = rng.sample(range(many), 4)
        names = list(self.members)
        self.new = {name: self._to(rng) for name in rng.sample(names, rng.choice([1, 1, 2]))}
        self.out = [(name, self._to(rng)) for name in names if name not in self.new]
        self.collude = (
            [list(CLIENTS)]
            if rng.random() < 0.5
            and len({c for to in (*self.new.values(), *(to for _, to in self.out)) for c in to}) > 1
            else []
        )
        self.gamma = rng.choice(GAMMAS)

    def _to(self, rng: random.Random) -> list[str]:
        return [] if rng.random() < 0.4 else [rng.choice(CLIENTS)]

    def plan(self, **said: Any) -> dict[str, Any]:
        table = {
            "columns": ["name", "age", "condition"],
            "key": ["name"],
            "sensitive": ["condition"],
            "rows": [[f"p{age}", age, one] for age, one in self.truth.items()],
        }
        to = {**dict(self.out), **self.new}
        check = {
            "releases": list(self.new),
            "gamma": self.gamma,
            **({"collude": self.collude} if self.collude else {}),
            **said.pop("check", {}),
        }
        return {
            "version": 1,
            "tables": {"people": table},
            "releases": {
                name: {"query": query(some), "to": to[name]} for name, some in self.members.items()
            },
            "checks": [{"gamma-privacy": check}],
            **said,
        }

    def is_breached(self, more: Mapping[str, Sequence[int]], to: Sequence[str]) -> bool:
        """With further views, by brute force."""
        members = {**self.members, **more}
        people = overlap.only_keys(self.truth)

        def too_much(has: frozenset[str], gets: frozenset[str]) -> bool:
            views = [overlap.by_members(name, members[name]) for name in sorted(has | gets)]
            largest = believed(
                tuple(sorted(tuple(sorted(members[name])) for name in has | gets)),
                people,
                self.truth,
                views,
            )
            return largest > Fraction(self.gamma)

        return holdings.is_breached(
            {**self.new, **dict.fromkeys(more, to)}, self.out, self.collude, too_much
        )

    def recipients(self) -> list[str]:
        return (
            sorted({one for to in self.new.values() for one in to})
            if all(self.new.values())
            else []
        )


KNOWN: dict[Any, Fraction] = {}


def believed(
    key: Any, people: Any, truth: Mapping[int, str], views: Sequence[overlap.View]
) -> Fraction:
    key = key, tuple(truth.items())
    if key not in KNOWN:
        KNOWN[key] = overlap.gamma(
            people, views, overlap.answers(people, truth, views), None
        ).largest or Fraction(0)
    return KNOWN[key]


def shown(drawn: Drawn, sql: str) -> list[int]:
    """Whom a further view selects, by another database."""
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE people (age INTEGER)")
        database.executemany("INSERT INTO people VALUES (?)", [(age,) for age in drawn.truth])
        return [
            row[0] for row in database.execute(sql.replace("SELECT condition", "SELECT age", 1))
        ]


def look_at(drawn: Drawn, found: Restored | NotRestored, most: int) -> str:
    """Is this what brute force says?"""
    ranges = [range(low, high + 1) for low in drawn.truth for high in drawn.truth if low <= high]
    to = drawn.recipients()

    def some_restore(many: int) -> bool:
        return any(
            not drawn.is_breached({f"f{at}": one for at, one in enumerate(some)}, to)
            for some in itertools.combinations(ranges, many)
        )

    if not drawn.is_breached({}, to):
        assert found.status == "holds", found
        return "holds"
    if isinstance(found, NotRestored):
        assert found.status in ("none", "impossible"), found
        assert not any(some_restore(many) for many in range(1, most + 1)), found
        return found.status
    assert found.status == "restored" and [one.status for one in found.verdicts] == [
        "breached",
        "holds",
    ]
    draft = yaml.safe_load(found.draft)
    [check] = [one["gamma-privacy"] for one in draft["checks"]]
    assert (
        check["releases"] == [*drawn.new, *draft["releases"]]
        and check.get("collude", []) == drawn.collude
    )
    assert all(one.get("to", []) == to for one in draft["releases"].values())
    assert not drawn.is_breached(
        {name: shown(drawn, one["query"]) for name, one in draft["releases"].items()}, to
    ), found
    assert not any(some_restore(many) for many in range(1, len(draft["releases"]))), found
    return f"restored for {'several' if len(found.seen_by) > 1 else 'one'}"


# Most that is drawn holds, or is stuck:
# these are some of each end, among them views for several adversaries.
SOME = (0, 1, 3, 4, 2, 6, 33, 37, 42, 52, 54, 76, 112)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["ledger", "given", "published"])
def test_what_is_found_holds_for_everybody_who_is_judged(
    way: str, kept: Callable[..., None]
) -> None:
    seen = Counter(
        searched(number, way, kept, most=1 + (number in (33, 52, 76)))
        for number in (SOME if way == "ledger" else SOME[2:])
    )
    assert (
        seen["impossible"]
        and seen["none"] == 2
        and seen["restored for one"] == 3
        and seen["restored for several"] == 4
    ), seen


@pytest.mark.slow
def test_what_is_found_holds_for_everybody_who_is_judged_many_times(
    kept: Callable[..., None],
) -> None:
    seen = Counter(
        searched(number, "ledger", kept, most=2) for number in range(120, 120 + 50 * THOROUGH)
    )
    assert seen["holds"] and seen["impossible"], seen


def searched(number: int, way: str, kept: Callable[..., None], most: int) -> str:
    drawn = Drawn(number)
    names = [name for name, _ in drawn.out]
    ways: dict[str, dict[str, Any]] = {
        "ledger": {"published": ["ledger"]},
        "given": {"check": {"given": names}},
        "published": {"published": names},
    }
    plan = plan_of(drawn.plan(**ways[way]))
    kept(plan, drawn.out)
    found = restore(plan, views=most, columns=["age"])
    try:
        return look_at(drawn, found, most)
    except AssertionError as error:
        raise AssertionError(f"{number}: {vars(drawn)}") from error


PATIENTS = {
    "columns": ["name", "sex", "age", "condition"],
    "key": ["name"],
    "identifiers": ["name"],
    "quasi-identifiers": ["sex", "age"],
    "sensitive": ["condition"],
    "rows": [
        ["Alan", "M", 23, "Heart"],
        ["Bob", "M", 24, "SARS"],
        ["Clark", "M", 25, "Viral"],
        ["Donald", "M", 26, "SARS"],
        ["Ellen", "F", 27, "Viral"],
        ["Fen", "F", 28, "SARS"],
        ["Garcia", "F", 28, "Flu"],
    ],
}
MEN, OLDER = (
    "SELECT condition FROM patients WHERE sex = 'M'",
    "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28",
)


def hospital(**changed: Any) -> dict[str, Any]:
    releases = {
        "men": {"query": MEN, "to": ["insurer"]},
        "older": {"query": OLDER, "to": ["registry"]},
    }
    check = {"release": "older", "gamma": 0.5, "collude": [["insurer", "registry"]]}
    return {
        "version": 1,
        "tables": {"patients": PATIENTS},
        "releases": releases,
        "published": ["ledger"],
        "checks": [{"gamma-privacy": check}],
        **changed,
    }


def test_what_is_out_counts_beside_the_releases_of_the_check(kept: Callable[..., None]) -> None:
    plan = plan_of(hospital())
    kept(plan, [("men", ["insurer"])])
    found = restore(plan)
    assert isinstance(found, Restored) and [
        one.query.split("WHERE ")[1] for one in found.views
    ] == ["age BETWEEN 25 AND 26", "age BETWEEN 26 AND 27"]
    assert found.seen_by == (
        ("insurer and registry together", ("men", "older", "further-1", "further-2")),
        ("registry", ("older", "further-1", "further-2")),
    )
    assert found.to_record == ("older", "further-1", "further-2") and found.verdicts[1].subject[
        "given"
    ] == ["men"]
    assert (
        'further-1: {query: "SELECT condition FROM patients WHERE age BETWEEN 25 AND 26", '
        "to: [registry]}"
    ) in found.draft
    assert (
        "{releases: [older, further-1, further-2], gamma: 0.5, collude: [[insurer, registry]]}"
        in found.draft
    )


def test_who_knows_the_search_is_asked_about_where_all_see_the_same(
    kept: Callable[..., None],
) -> None:
    plan = plan_of(hospital())
    kept(plan, [("men", ["insurer"])])
    with pytest.raises(
        InputError,
        match=(
            r"see the same releases, and these do not: insurer and registry together \(men "
            r"and older\) and registry \(older\)"
        ),
    ):
        restore(plan, against_aware=True)
    kept(plan, [("men", [])])
    found = restore(plan, against_aware=True)
    assert isinstance(found, Restored) and found.aware is not None
    [(_, views)] = found.seen_by
    assert views == ("men", "older", *(one.name for one in found.views))


def test_what_cannot_be_judged_beside_is_refused_with_the_reason(kept: Callable[..., None]) -> None:
    drawn = {
        "table": "patients",
        "synthetic": {"group": "sex", "value": "condition", "epsilon": 1, "delta": 0},
    }
    of_many = {"query": "SELECT sex, COUNT(*) AS people FROM patients GROUP BY sex"}
    for name, release, why in (
        ("drawn", drawn, "No definition judges synthetic data together"),
        ("counts", of_many, "counts: 'counts' groups rows"),
    ):
        document = hospital(published=[])
        document["releases"][name] = release
        document["checks"] = [
            {"gamma-privacy": {"releases": ["men", "older"], "gamma": 0.5, "given": [name]}}
        ]
        with pytest.raises(
            InputError, match="what is published cannot be judged with men and older"
        ) as error:
            restore(plan_of(document))
        assert why in error.value.message, error.value.message


def test_an_answer_that_changed_is_refused(kept: Callable[..., None]) -> None:
    before = hospital(
        tables={"patients": {**PATIENTS, "rows": [["Alan", "M", 23, "Flu"], *PATIENTS["rows"][1:]]}}
    )
    kept(plan_of(before), [("men", ["insurer"])])
    with pytest.raises(InputError, match="The data changed since men"):
        restore(plan_of(hospital()))
