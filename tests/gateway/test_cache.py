"""Decisions are remembered within bounds."""

from __future__ import annotations

import random
from collections import OrderedDict

import pytest

from tacit.gateway import cache
from tacit.gateway.cache import Decided, Decisions
from tacit.gateway.policy.decisions import Decision


def decided(text: str = "", *, until: float | None = None) -> Decided:
    return Decided(Decision(True, "allowed", "yes", sql=text), "SELECT ?", until)


def test_those_used_last_stay() -> None:
    kept = Decisions(2)
    for name in "ab":
        kept.keep((name, "", ""), decided(name))
    assert kept.find(("a", "", "")) is not None
    kept.keep(("c", "", ""), decided())
    assert (
        kept.find(("b", "", "")) is None and kept.find(("a", "", "")) is not None and len(kept) == 2
    )


def test_a_decision_that_was_cut_short_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Decisions(2)
    kept.keep(("a", "", ""), decided(until=5.0))
    monkeypatch.setattr(cache.time, "monotonic", lambda: 4.0)
    assert kept.find(("a", "", "")) is not None
    monkeypatch.setattr(cache.time, "monotonic", lambda: 6.0)
    assert kept.find(("a", "", "")) is None and len(kept) == 0


def test_long_queries_do_not_fill_the_memory() -> None:
    kept = Decisions(10_000, letters=1_000_000)
    for number in range(100):
        kept.keep(("r", f"{number}" + "x" * 50_000, ""), decided("y" * 50_000))
    assert 1 <= len(kept) <= 9


def test_a_cache_is_a_dictionary_that_forgets() -> None:
    rng = random.Random(1)
    for _ in range(200):
        most = rng.randint(1, 5)
        kept, model = Decisions(most), OrderedDict[str, Decided]()
        for _ in range(60):
            name = rng.choice("abcdefg")
            if rng.random() < 0.5:
                assert kept.find((name, "", "")) is model.get(name)
                if name in model:
                    model.move_to_end(name)
            else:
                model.pop(name, None)
                model[name] = one = decided(name)
                kept.keep((name, "", ""), one)
                if len(model) > most:
                    model.popitem(last=False)
        assert kept._room == cache.MOST_LETTERS - sum(size for _, size in kept._kept.values())
