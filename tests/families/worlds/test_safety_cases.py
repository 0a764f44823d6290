"""Several cases in one check, and the ways of large databases on
small ones, against brute force.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from oracles import safety
from oracles.safety_cases import Case, cases
from safety_asking import asked, judged_directly, status
from tacit.errors import QueryError
from tacit.families.worlds import counting, nearby
from tacit.families.worlds.definitions import e_safety, view_safety

LIMITS = (
    (counting, "ENUMERATED", 3),
    (e_safety, "ENUMERATED", 3),
    (nearby, "AT_ONCE", 2),
    (nearby, "ROUNDS", 2),
    (nearby, "MENDED", 2),
    (nearby, "EASY", 1),
)


def test_the_ways_of_large_databases(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small limits parts are settled by solver calls and
    counted by states, as large ones are.
    """
    monkeypatch.setattr(view_safety, "derived", lambda setting: None)
    for module, name, limit in LIMITS:
        monkeypatch.setattr(module, name, limit)
    tried = 0
    for case, truth in cases(count=400):
        found = judged_directly(case)
        if found is not None:
            tried += 1
            assert tuple(one.status for one in found) == (
                status(truth.gsafe),
                status(truth.esafe),
            ), case
    assert tried >= 250


@pytest.mark.slow
def test_a_parameter_stands_for_every_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is breached if it is for some value of the column's domain, asked one by one."""
    monkeypatch.setattr(view_safety, "derived", lambda setting: None)
    rng = random.Random(6)
    seen: dict[str, int] = {}
    for case, _ in cases(count=200):
        name = rng.choice(sorted(case.schema))
        at = rng.randrange(len(case.schema[name]))
        others = [f"x{place}" for place in range(len(case.schema[name])) if place != at]
        terms = [*others[:at], "{}", *others[at:]]
        text = f"S({', '.join(others)}) :- {name}({', '.join(terms)})"
        truths = [
            replace(case, secret=text.format(safety.quoted(value))).judge()
            for value in case.schema[name][at][1]
        ]
        try:
            g, e = asked(replace(case, secret=text.format("$p")).to_plan(), tmp_path)
        except QueryError as error:
            assert error.code == "type-clash"
            continue
        assert g.status == status(all(one.gsafe for one in truths)), case
        assert e.status == status(all(one.esafe for one in truths)), case
        seen[e.status] = seen.get(e.status, 0) + 1
    assert min(seen.values()) >= 20 and len(seen) == 2


@pytest.mark.slow
def test_every_client_is_judged_with_what_they_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone and together; the public too where something new is public."""
    monkeypatch.setattr(view_safety, "derived", lambda setting: None)
    rng = random.Random(7)
    seen: dict[str, int] = {}
    for case, _ in cases(count=200):
        plan = case.to_plan()
        to = {name: rng.choice([[], ["ann"], ["bob"], ["ann", "bob"]]) for name in plan["releases"]}
        for name, clients in to.items():
            plan["releases"][name]["to"] = clients
        collude = rng.random() < 0.5 and {"ann", "bob"} <= {
            client for clients in to.values() for client in clients
        }
        for check in plan["checks"]:
            next(iter(check.values())).update({"collude": [["ann", "bob"]]} if collude else {})
        truths = [
            one.judge()
            for who in ([], ["ann"], ["bob"], *([["ann", "bob"]] if collude else []))
            if (one := seen_by(case, to, who))
        ]
        if not truths:
            continue
        try:
            g, e = asked(plan, tmp_path)
        except QueryError as error:
            assert error.code == "type-clash"
            continue
        assert g.status == status(all(one.gsafe for one in truths)), (case, to, collude)
        assert e.status == status(all(one.esafe for one in truths)), (case, to, collude)
        seen[e.status] = seen.get(e.status, 0) + 1
    assert min(seen.values()) >= 15 and len(seen) == 2


def seen_by(case: Case, to: dict[str, list[str]], who: list[str]) -> Case | None:
    """The case as some clients see it; None where nothing is new to them."""

    def sees(name: str) -> bool:
        return not to[name] or bool(set(to[name]) & set(who))

    views = tuple(text for at, text in enumerate(case.views, 1) if sees(f"out{at}"))
    new = tuple(one for at, one in enumerate(case.new, 1) if sees(f"new{at}"))
    return replace(case, views=views, new=new) if new else None
