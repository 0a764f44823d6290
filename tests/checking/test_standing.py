"""What the checks say of all that is published, for each holder:
thousands of small plans against brute force.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from checking.keeping import Kept, out, plan_of
from checking.test_against_brute_force import TABLES, VALUES, collusion, random_query, recipients
from checking.test_recording import GAMMA, MALE, plan_in
from checking.test_what_is_out import ANONYMITY, asking
from oracles import overlap, overlap_cases, perfect, perfect_cases
from oracles.holdings import reaches
from tacit.checking.recording.current_verdicts import Standings, standings
from tacit.checking.recording.record import record, withdraw
from tacit.errors import QueryError
from tacit.model.jobs import Cancelled, Job
from tacit.plan.read.load import load_plan
from thorough import THOROUGH

Out = Sequence[tuple[str, Sequence[str]]]
Stand = Callable[[Mapping[str, Any], Out], Standings]


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    """The standings of a plan whose ledger, in memory, holds some releases."""

    def stood(document: Mapping[str, Any], entries: Out) -> Standings:
        plan = plan_of(document)
        kept = Kept(out(plan, entries))
        for module in ("holdings.holdings", "recording.current_verdicts"):
            monkeypatch.setattr(f"tacit.checking.{module}.is_begun", lambda plan: True)
            monkeypatch.setattr(
                f"tacit.checking.{module}.ledger_of", lambda plan, create=False: kept
            )
        monkeypatch.setattr(
            "tacit.checking.holdings.holdings.tables_in",
            lambda ledger: {name for one in kept.holdings for name in one.tables},
        )
        return standings(plan)

    return stood


def expected(
    entries: Out,
    asked: Sequence[str],
    collude: Sequence[Sequence[str]],
    too_much: Callable[[frozenset[str]], bool],
) -> dict[tuple[str, ...], bool]:
    """For each holder that has some of what is asked about:
    does it, or a part of it that talks, learn too much from all it has?
    """
    clients = sorted({client for _, to in entries for client in to})
    groups = [tuple(sorted(group)) for group in collude]
    found = {}
    for holder in [(), *((one,) for one in clients), *dict.fromkeys(groups)]:
        parts = (
            [holder]
            if len(holder) < 2
            else [part for many in range(2, len(holder) + 1) for part in combinations(holder, many)]
        )
        has = [
            frozenset(name for name, to in entries if reaches(to, frozenset(part)))
            for part in parts
        ]
        judged = [one for one in has if one & set(asked)]
        if judged:
            found[holder] = any(too_much(one) for one in judged)
    return found


def compared(
    found: Standings, wanted: Mapping[tuple[str, ...], bool], case: object
) -> Counter[str]:
    assert {one.holder for one in found.found} == set(wanted), case
    for holder, breached in wanted.items():
        assert found.status(holder) == ("breached" if breached else "holds"), (
            case,
            holder,
            [str(one.verdict) for one in found.of(holder)],
        )
    return Counter(found.status(holder) for holder in wanted)


def dealt(
    rng: random.Random, names: Sequence[str]
) -> tuple[list[tuple[str, list[str]]], list[str], list[list[str]]]:
    entries = [(name, recipients(rng)) for name in names if rng.random() < 0.9] or [(names[0], [])]
    known = {client for _, to in entries for client in to}
    asked = [name for name in dict.fromkeys(name for name, _ in entries) if rng.random() < 0.6] or [
        entries[0][0]
    ]
    return entries, asked[:1], collusion(rng, sorted(known))


def of_views(number: int, stand: Stand) -> Counter[str]:
    one = overlap_cases.case(
        ("gamma", "gamma-domain", "numbers", "two-keys", "missing")[number % 5], number
    )
    rng = random.Random(f"standing/{number}")
    document = one.to_plan("gamma-privacy")
    names = list(document["releases"])
    entries, asked, collude = dealt(rng, names)
    gamma = rng.choice(overlap_cases.GAMMAS)
    check = {"releases": asked, "gamma": str(gamma), **({"collude": collude} if collude else {})}
    document |= {"published": rng.choice([[], ["ledger"]]), "checks": [{"gamma-privacy": check}]}
    views = dict(zip(names, one.views, strict=True))
    answers = dict(zip(names, overlap.answers(one.people, one.truth, one.views), strict=True))

    def above(has: frozenset[str]) -> bool:
        together = sorted(has)
        largest = overlap.gamma(
            one.people,
            [views[name] for name in together],
            [answers[name] for name in together],
            one.domain,
        ).largest
        return largest is not None and largest > gamma

    return compared(
        stand(document, entries),
        expected(entries, asked, collude, above),
        (number, str(one), entries, asked, collude),
    )


def of_queries(number: int, stand: Stand) -> Counter[str]:
    rng = random.Random(f"standing/queries/{number}")
    names = [f"v{at}" for at in range(1, rng.randint(2, 4) + 1)]
    texts, secret = (
        {name: random_query(rng, name.upper()) for name in names},
        random_query(rng, "S"),
    )
    entries, asked, collude = dealt(rng, names)
    tables = {
        name: {
            "columns": dict.fromkeys(columns, "text"),
            "domains": {one: list(VALUES[one]) for one in columns},
            "nullable": [],
        }
        for name, columns in TABLES.items()
    }
    check = {"secret": "hidden", "releases": asked, **({"collude": collude} if collude else {})}
    document = {
        "version": 1,
        "tables": tables,
        "secrets": {"hidden": secret},
        "releases": {name: {"query": text} for name, text in texts.items()},
        "checks": [{"perfect-privacy": check}],
    }
    schema = {
        name: perfect.Table(tuple(VALUES[one] for one in columns))
        for name, columns in TABLES.items()
    }

    def discloses(has: frozenset[str]) -> bool:
        return perfect.disclosed(
            perfect_cases.read_query(secret),
            [perfect_cases.read_query(texts[name]) for name in sorted(has)],
            schema,
        )

    return compared(
        stand(document, entries),
        expected(entries, asked, collude, discloses),
        (number, texts, secret, entries, asked, collude),
    )


@pytest.mark.parametrize("case", [of_views, of_queries])
@pytest.mark.parametrize(
    "numbers",
    [range(20), pytest.param(range(20, 20 + 40 * THOROUGH), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_every_holder_is_judged_with_all_that_it_has(
    case: Callable[[int, Stand], Counter[str]], numbers: range, stand: Stand
) -> None:
    seen: Counter[str] = Counter()
    for number in numbers:
        try:
            seen += case(number, stand)
        except QueryError:
            continue
    assert min(seen["holds"], seen["breached"]) > len(numbers) // 20


def test_two_who_talk_learn_more_than_each_of_them(tmp_path: Path) -> None:
    late = {"gamma-privacy": {"release": "late", "gamma": "1/2", "collude": [["bank", "press"]]}}
    plan = plan_in(tmp_path, MALE, late)
    assert standings(plan) == Standings((), ())  # nothing was ever recorded
    assert (
        record(plan, "male").entries
        and record(plan, "late", to=["press"], out_already=True).entries
        and record(plan, "floors", out_already=True).entries
    )
    found = standings(plan)
    assert {
        holder: found.status(holder) for holder in [(), ("bank",), ("press",), ("bank", "press")]
    } == {
        (): "",
        ("bank",): "holds",
        ("press",): "holds",
        ("bank", "press"): "breached",
    }
    [together] = [one for one in found.found if one.holder == ("bank", "press")]
    assert (
        together.releases == ("late",)
        and together.together.startswith("male (entry 1")
        and together.verdict is not None
        and together.verdict.story
    )
    assert found.unasked == ("floors",)
    withdraw(plan, "late")
    assert standings(plan).status(("bank", "press")) == "breached"  # they still know it


def test_what_cannot_be_judged_together_is_undecided_and_what_cannot_be_asked_says_why(
    tmp_path: Path,
) -> None:
    plan = plan_in(tmp_path, ANONYMITY, GAMMA)
    record(plan, "april")
    record(plan, "late", out_already=True)
    assert standings(plan).status(("bank",)) == "undecided"  # k-anonymity judges alone
    (tmp_path / "tacit.yaml").write_text(
        (tmp_path / "tacit.yaml").read_text().replace("BETWEEN 26 AND 28", "BETWEEN 26 AND 27")
    )
    again = standings(load_plan(tmp_path / "tacit.yaml"))
    reasons = [
        one.verdict.reason.text
        for one in again.of(("bank",))
        if one.verdict is not None and one.verdict.reason is not None
    ]
    assert any("the plan now says something else" in text for text in reasons)


def test_it_stops_when_it_is_asked_to(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE)
    record(plan, "male")
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        standings(plan, job)


def test_an_error_of_a_check_is_told_for_those_it_is_about(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE)
    record(plan, "male")
    broken = plan_of(
        {
            **asking(
                {
                    "gamma-privacy": {
                        "release": "male",
                        "gamma": "1/2",
                        "collude": [["bank", *(f"c{at}" for at in range(7))]],
                    }
                }
            ),
            "ledger": "tacit-ledger.sqlite",
        },
        tmp_path,
    )
    [found] = [one for one in standings(broken).found if one.holder == ("bank",)]
    assert (
        found.status == "not asked"
        and "more than 6 clients collude" in found.because
        and standings(broken).status(("bank",)) == "undecided"
    )


def test_a_recipient_in_other_letters_is_judged_as_one(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, MALE, GAMMA)
    assert (
        record(plan, "male", to=["Press"]).entries
        and record(plan, "late", to=["PRESS"], out_already=True).entries
    )
    assert standings(plan).status(("Press",)) == "breached"
