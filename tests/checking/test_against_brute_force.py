"""Thousands of small plans with ledgers: what every set of clients holds, by brute force."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from checking.keeping import out as kept
from checking.keeping import plan_of
from oracles import holdings, overlap, overlap_cases, perfect, perfect_cases, safety, safety_cases
from tacit.errors import QueryError
from tacit.model.verdict import Verdict
from thorough import THOROUGH

Judge = Callable[..., tuple[Verdict, ...]]
CLIENTS = ("bank", "clinic", "press")


def recipients(rng: random.Random) -> list[str]:
    return [] if rng.random() < 0.3 else rng.sample(CLIENTS, rng.randint(1, 2))


def collusion(rng: random.Random, known: Sequence[str]) -> list[list[str]]:
    groups = [
        list(group)
        for group in (CLIENTS[:2], CLIENTS[1:], CLIENTS)
        if rng.random() < 0.25 and set(group) <= set(known)
    ]
    return groups[:2]


def dealt(
    rng: random.Random, names: Sequence[str]
) -> tuple[dict[str, list[str]], list[tuple[str, list[str]]], list[list[str]]]:
    """Who gets which release: what is new, what is published (some of it twice, some of it what is
    asked about), and who colludes.
    """
    new = {
        name: recipients(rng)
        for name in rng.sample(list(names), rng.randint(1, min(2, len(names))))
    }
    out = [(name, recipients(rng)) for name in names if name not in new and rng.random() < 0.8]
    out += [(name, recipients(rng)) for name, _ in out if rng.random() < 0.2]
    out += [(name, to) for name, to in new.items() if rng.random() < 0.15]
    rng.shuffle(out)
    known = {client for to in (*new.values(), *(to for _, to in out)) for client in to}
    return new, out, collusion(rng, sorted(known))


def asked(
    checks: Sequence[tuple[str, dict[str, Any]]], new: Sequence[str], collude: list[list[str]]
) -> list[Any]:
    return [
        {kind: {"releases": list(new), **({"collude": collude} if collude else {}), **more}}
        for kind, more in checks
    ]


def case_of_overlaps(number: int, judge: Judge, **changed: Any) -> list[tuple[str, bool]]:
    """What was found about views of one table, and whether what is published made the
    difference."""
    one = overlap_cases.case(
        ("gamma", "gamma-domain", "numbers", "two-keys", "missing")[number % 5], number
    )
    rng = random.Random(f"holdings/{number}")
    document = {**one.to_plan("gamma-privacy", "k-sind"), **changed}
    names = list(document["releases"])
    new, out, collude = dealt(rng, names)
    for name, to in new.items():
        document["releases"][name]["to"] = to
    gamma, k = rng.choice(overlap_cases.GAMMAS), rng.choice([2, 2, 3])
    document["published"] = ["ledger"]
    document["checks"] = asked(
        [("gamma-privacy", {"gamma": str(gamma)}), ("k-sind", {"k": k})], list(new), collude
    )
    views = dict(zip(names, one.views, strict=True))
    answers = dict(zip(names, overlap.answers(one.people, one.truth, one.views), strict=True))

    def above(has: frozenset[str], gets: frozenset[str]) -> bool:
        together = sorted(has | gets)
        largest = overlap.gamma(
            one.people,
            [views[name] for name in together],
            [answers[name] for name in together],
            one.domain,
        ).largest
        return largest is not None and largest > gamma

    def small(has: frozenset[str], gets: frozenset[str]) -> bool:
        sets = overlap.sind_partition(
            one.people, one.truth, [views[name] for name in sorted(has | gets)], one.domain
        )
        return overlap.level(sets) < k

    verdicts = judge(document, out)
    found = []
    for verdict, too_much in zip(verdicts, (above, small), strict=True):
        expected = status(holdings.is_breached(new, out, collude, too_much))
        assert verdict.status == expected, (number, str(one), new, out, collude, str(verdict))
        assert set(verdict.subject["given"]) <= {name for name, _ in out} - set(new)
        found.append((expected, expected != status(too_much(frozenset(), frozenset(new)))))
    return found


def status(breached: bool) -> str:
    return "breached" if breached else "holds"


TABLES = {"R": ("a", "b"), "S": ("c",)}
VALUES = {"a": ("x", "y"), "b": ("u", "v", "w"), "c": ("x", "y")}


def random_query(rng: random.Random, name: str) -> str:
    """A rule over R(a, b) and S(c)."""
    atoms, variables = [], []
    for _ in range(rng.choice([1, 1, 2])):
        table = rng.choice(["R", "R", "S"])
        terms = []
        for column in TABLES[table]:
            if rng.random() < 0.45:
                terms.append(f"'{rng.choice(VALUES[column])}'")
            else:
                terms.append(
                    rng.choice(variables)
                    if variables and column in "ac" and rng.random() < 0.4
                    else f"{column}{len(variables)}"
                )
                variables.append(terms[-1])
        atoms.append(f"{table}({', '.join(terms)})")
    head = sorted({one for one in variables if rng.random() < 0.5})
    return f"{name}({', '.join(head)}) :- {', '.join(atoms)}"


def case_of_queries(number: int, judge: Judge) -> list[tuple[str, bool]]:
    """What was found about views and a secret, by perfect privacy."""
    rng = random.Random(f"holdings/queries/{number}")
    keyed = rng.random() < 0.4
    names = [f"v{at}" for at in range(1, rng.randint(2, 4) + 1)]
    texts = {name: random_query(rng, name.upper()) for name in names}
    secret = random_query(rng, "S")
    new, out, collude = dealt(rng, names)
    tables = {
        name: {
            "columns": dict.fromkeys(columns, "text"),
            "domains": {one: list(VALUES[one]) for one in columns},
            "nullable": [],
        }
        for name, columns in TABLES.items()
    }
    if keyed:
        tables["R"]["key"] = ["a"]  # type: ignore[assignment]
    document = {
        "version": 1,
        "tables": tables,
        "secrets": {"hidden": secret},
        "published": ["ledger"],
        "releases": {
            name: {"query": text, **({"to": new[name]} if name in new else {})}
            for name, text in texts.items()
        },
        "checks": asked([("perfect-privacy", {"secret": "hidden"})], list(new), collude),
    }
    schema = {
        name: perfect.Table(
            tuple(VALUES[one] for one in columns), keys=((0,),) if keyed and name == "R" else ()
        )
        for name, columns in TABLES.items()
    }

    def discloses(has: frozenset[str], gets: frozenset[str]) -> bool:
        views = [perfect_cases.read_query(texts[name]) for name in sorted(has | gets)]
        return perfect.disclosed(perfect_cases.read_query(secret), views, schema)

    [verdict] = judge(document, out)
    expected = status(holdings.is_breached(new, out, collude, discloses))
    assert verdict.status == expected, (
        number,
        texts,
        secret,
        keyed,
        new,
        out,
        collude,
        str(verdict),
    )
    return [(expected, expected != status(discloses(frozenset(), frozenset(new))))]


def case_of_worlds(number: int, judge: Judge) -> list[tuple[str, bool]]:
    """What was found about new views and constraints, given those that are published, by view
    safety."""
    kinds = safety_cases.PLAIN
    one = safety_cases.case(kinds[number % len(kinds)], number)
    rng = random.Random(f"holdings/worlds/{number}")
    document = one.to_plan()
    said = {
        **{f"out{at}": ("view", text) for at, text in enumerate(one.views, 1)},
        **{f"new{at}": told for at, told in enumerate(one.new, 1)},
    }
    new, out, collude = dealt(rng, list(said))
    for name in said:
        document["releases"][name] |= {"to": new[name]} if name in new else {}
    document["published"] = ["ledger"]
    document["checks"] = asked(
        [("g-safety", {"secret": "hidden"}), ("e-safety", {"secret": "hidden"})], list(new), collude
    )
    space = safety.Space(one.schema)

    def judgement(has: frozenset[str], gets: frozenset[str]) -> safety.Judgement:
        seen = [said[name] for name in sorted(has)]
        rules = [text for kind, text in seen if kind == "constraint"]
        views = [text for kind, text in seen if kind == "view"]
        return safety.judge(
            one.schema,
            [*one.constraints, *rules],
            one.instance,
            views,
            [said[name] for name in sorted(gets)],
            one.secret,
            space=space,
        )

    try:
        verdicts = judge(document, out)
    except QueryError as error:
        assert error.code == "type-clash", error
        return []
    found = []
    for verdict, held in zip(verdicts, ("gsafe", "esafe"), strict=True):

        def unsafe(has: frozenset[str], gets: frozenset[str], held: str = held) -> bool:
            return not getattr(judgement(has, gets), held)

        expected = status(holdings.is_breached(new, out, collude, unsafe, together=False))
        assert verdict.status == expected, (number, str(one), new, out, collude, str(verdict))
        found.append((expected, expected != status(unsafe(frozenset(), frozenset(new)))))
    return found


def case_of_changes(number: int, judge: Judge) -> list[tuple[str, bool]]:
    """What was found about views of one table whose private values
    changed since some of them went out.
    """
    before = overlap_cases.case(("gamma-domain", "numbers")[number % 2], number)
    rng = random.Random(f"holdings/changes/{number}")
    values = before.domain or sorted({row[-1] for row in before.rows})
    rows = tuple(
        (*row[:-1], rng.choice(values) if rng.random() < 0.2 else row[-1]) for row in before.rows
    )
    after = replace(
        before, rows=rows, domain=before.domain and tuple(dict.fromkeys([*before.domain, *values]))
    )
    old, document = before.to_plan("gamma-privacy"), after.to_plan("gamma-privacy")
    names = list(document["releases"])
    new, out, collude = dealt(rng, names)
    gamma = rng.choice(overlap_cases.GAMMAS)
    for one in (old, document):
        one["published"] = ["ledger"]
        one["checks"] = asked([("gamma-privacy", {"gamma": str(gamma)})], list(new), collude)
        for name, to in new.items():
            one["releases"][name]["to"] = to
    views = dict(zip(names, after.views, strict=True))
    then, answers = (
        dict(zip(names, overlap.answers(one.people, one.truth, one.views), strict=True))
        for one in (before, after)
    )

    def above(has: frozenset[str], gets: frozenset[str]) -> bool:
        together = sorted(has | gets)
        largest = overlap.gamma(
            after.people,
            [views[name] for name in together],
            [answers[name] for name in together],
            after.domain,
        ).largest
        return largest is not None and largest > gamma

    [verdict] = judge(document, holdings=kept(plan_of(old), out))
    changed = {name for name in names if then[name] != answers[name]}
    expected = holdings.status(new, out, collude, above, changed)
    assert verdict.status == expected, (number, str(before), rows, new, out, collude, str(verdict))
    if expected == "undecided":
        assert verdict.reason is not None and verdict.reason.code == "answer-changed"
    return [(expected, expected == "undecided")]


def case_of_outputs(number: int, judge: Judge) -> list[tuple[str, bool]]:
    """What was found about synthetic releases: pure epsilons, so that what an adversary has got
    costs their sum.
    """
    rng = random.Random(f"holdings/outputs/{number}")
    names = [f"s{at}" for at in range(1, rng.randint(2, 4) + 1)]
    epsilons = {name: Fraction(rng.randint(1, 6), 2) for name in names}
    new, out, collude = dealt(rng, names)
    out = [(name, to) for name, to in out if name not in new]
    allowed = max(sum(epsilons[name] for name in new), Fraction(rng.randint(2, 16), 2))
    document = {
        "version": 1,
        "published": ["ledger"],
        "tables": {
            "jobs": {
                "columns": ["town", "home"],
                "rows": [["A", "n"], ["A", "s"], ["B", "n"]],
                "domains": {"home": ["n", "s", "w"]},
            }
        },
        "releases": {
            name: {
                "table": "jobs",
                "synthetic": {
                    "group": "town",
                    "value": "home",
                    "epsilon": str(epsilon),
                    "delta": 0,
                },
                **({"to": new[name]} if name in new else {}),
            }
            for name, epsilon in epsilons.items()
        },
        "checks": asked(
            [("differential-privacy", {"epsilon": str(allowed), "delta": 0})], list(new), collude
        ),
    }
    outputs = {name: f"{number:060d}{at:04d}" for at, name in enumerate(names)}
    [verdict] = judge(document, holdings=kept(plan_of(document), out, outputs))

    def spends_more(has: frozenset[str], gets: frozenset[str]) -> bool:
        return sum(epsilons[name] for name in has | gets) > allowed

    expected = "undecided" if holdings.is_breached(new, out, collude, spends_more) else "holds"
    assert verdict.status == expected, (number, epsilons, allowed, new, out, collude, str(verdict))
    return [(expected, expected == "undecided")]


CASES = {
    "outputs": case_of_outputs,
    "changes": case_of_changes,
    "overlaps": case_of_overlaps,
    "queries": case_of_queries,
    "worlds": case_of_worlds,
}


def check_many(about: str, numbers: range, judge: Judge) -> tuple[Counter[str], int]:
    if about == "outputs":
        pytest.importorskip("flint")
    found = [one for number in numbers for one in CASES[about](number, judge)]
    return Counter(said for said, _ in found), sum(differs for _, differs in found)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("about", "many"),
    [("overlaps", 25), ("queries", 60), ("worlds", 22), ("changes", 20), ("outputs", 8)],
)
def test_every_set_of_clients_is_asked_about(about: str, many: int, judge: Judge) -> None:
    seen, differ = check_many(about, range(many), judge)
    assert seen["holds"] > 2 and seen["breached"] + seen["undecided"] > 2 and differ > 1, (
        seen,
        differ,
    )


@pytest.mark.slow
@pytest.mark.parametrize("about", CASES)
@pytest.mark.parametrize("part", range(2 * THOROUGH))
def test_every_set_of_clients_is_asked_about_many_times(
    about: str, part: int, judge: Judge
) -> None:
    many = (
        15 if about == "outputs" else 50
    )  # sums alone, and each takes as long as three of the others
    seen, differ = check_many(about, range(1000 + many * part, 1000 + many * part + many), judge)
    assert (
        min(seen["holds"], seen["breached"] + seen["undecided"]) > many // 12
        and differ > many // 20
    ), (seen, differ)


def test_so_it_is_where_rows_are_in_postgresql(judge: Judge, postgres_url: str) -> None:
    found = [
        one
        for number in range(2000, 2006)
        for one in case_of_overlaps(number, judge, source=postgres_url)
    ]
    assert {said for said, _ in found} == {"holds", "breached"}
