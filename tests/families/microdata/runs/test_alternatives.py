"""What a repair is compared with: the release as the plan has it, and one that drops a few rows."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.families.microdata.repair.search import SearchResult
from tacit.families.microdata.runs import alternatives
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.repair_results import Choice, Repaired
from tacit.model.numbers import percent
from tacit.plan.read.load import load_plan
from tacit.report import repair_words

PLAN = """\
version: 1
tables:
  people:
    quasi-identifiers: [age, town]
    sensitive: [ill]
    as-written: [ill]
    hierarchies: {{age: {{ranges: [10, 30]}}, town: "*"}}
releases:
  r: {{table: people{release}}}
checks:
  - k-anonymity: {{release: r, k: {k}}}
"""


def planned(folder: Path, rows: list[tuple[Any, ...]], k: int, release: str = "") -> Any:
    lines = ["age,town,ill", *(",".join(map(str, row)) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "tacit.yaml").write_text(PLAN.format(k=k, release=release), "utf-8")
    return load_plan(folder / "tacit.yaml")


def repaired(plan: Any, **options: Any) -> Repaired:
    found = anonymize(plan, "r", options=options)
    assert isinstance(found, Repaired), found
    return found


def people(seed: int, count: int, odd: int = 1) -> list[tuple[Any, ...]]:
    """A table in which a few stand out."""
    draw = random.Random(seed)
    rows: list[tuple[Any, ...]] = [
        (draw.randrange(20, 50), draw.choice("ab"), draw.choice("xyz")) for _ in range(count)
    ]
    return rows + [(90 + number, "far", "x") for number in range(odd)]


@pytest.mark.parametrize("seed", range(6))
def test_what_dropping_saves_is_what_a_search_that_drops_finds(seed: int, tmp_path: Path) -> None:
    plan = planned(tmp_path, people(seed, 300, odd=1 + seed % 3), 4)
    whole, dropped = repaired(plan), repaired(plan, suppress=Fraction(1, 100))
    cost = next(choice.cost for choice in whole.choices if choice.chosen)
    least = next(choice.cost for choice in dropped.choices if choice.chosen)
    few = whole.dropping
    assert few is not None and (few.whole, few.cost) == (cost, least) and least < 0.9 * cost
    assert few.suppressed == dropped.recoded.suppressed and few.rows == 300 + 1 + seed % 3
    said = repair_words.dropping_told(whole)
    assert percent(1 - Fraction(least) / Fraction(cost), down=True) in said
    assert dropped.dropping is None and repair_words.dropping_told(dropped) == ""


def test_nothing_is_said_of_dropping_where_it_saves_little_or_is_no_whole_row(
    tmp_path: Path,
) -> None:
    even = [(age, town, "x") for age in (20, 40) for town in "ab" for _ in range(60)]
    assert repaired(planned(tmp_path, even, 4)).dropping is None
    assert repaired(planned(tmp_path, people(1, 60), 4)).dropping is None


@pytest.mark.parametrize("seed", range(6))
def test_the_draft_risks_what_counting_its_rows_says(seed: int, tmp_path: Path) -> None:
    rows = people(seed, 200, odd=2)
    found = repaired(planned(tmp_path, rows, 4, ", generalization: {age: 1}"))
    groups = Counter((row[0] // 10, row[1]) for row in rows)
    values = Counter((row[0] // 10, row[1], row[2]) for row in rows)
    belief = max(Fraction(count, groups[key[:2]]) for key, count in values.items())
    draft = found.draft
    assert draft is not None and draft.generalization == {"age": 1, "town": 0}
    assert (draft.risk, draft.belief) == (Fraction(1, min(groups.values())), belief)
    assert not draft.suppressed and draft.cost < min(choice.cost for choice in found.choices)


def test_a_draft_whose_checks_hold_is_not_drawn(tmp_path: Path) -> None:
    plan = planned(tmp_path, people(1, 200), 4, ", generalization: {age: 3, town: 1}")
    assert repaired(plan).draft is None


def choice(risk: int, belief: Fraction | None, gone: int) -> Choice:
    return Choice({}, 0.5, Fraction(1, risk), belief, gone)


def test_the_first_picture_is_one_that_tells_the_solutions_apart() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    bound = [choice(5, half, 1), choice(5, third, 2), choice(5, Fraction(1, 4), 3)]
    assert repair_words.risks_drawn(bound, 100) == ("belief", "dropped")
    whole = [choice(5, half, 0), choice(7, third, 0), choice(9, third, 0)]
    assert repair_words.risks_drawn(whole, 100) == ("risk", "belief")
    nearly = [choice(5, Fraction(1, n), n) for n in range(2, 8)] + [choice(6, half, 0)]
    assert repair_words.risks_drawn(nearly, 100) == ("belief", "dropped", "risk")
    assert repair_words.risks_drawn([choice(5, None, 0)] * 2, 100) == ("risk",)


def test_dropping_is_told_also_where_the_search_has_no_time_to_rule_levels_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with many columns: the exact search has only the coarsest levels then."""
    plan = planned(tmp_path, people(1, 300), 4)
    exact = repaired(plan).dropping

    def hurried(judge: Any, costs: Any, **options: Any) -> SearchResult:
        top = judge.lattice.top
        return SearchResult(top, costs.of(judge.outcome(top)), False, (top,), False, 1)

    monkeypatch.setattr(alternatives, "search", hurried)
    assert exact is not None and repaired(plan).dropping == exact
