"""What is shown before a release is written is what is written;
levels that are picked are asked like those that are found.
"""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tacit.engines.open import open_engine
from tacit.errors import InputError, ParameterError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.runs.anonymize import anonymize, solve
from tacit.families.microdata.runs.preview import Lens, lens_at, lens_of
from tacit.families.microdata.runs.repair_results import NotRepaired, Repaired
from tacit.families.microdata.runs.task import task_of
from tacit.model.jobs import Job
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan

ROWS = 14
HEIGHTS = {"age": 2, "zip": 2, "sex": 1}
PLAN = """version: 1
tables:
  t:
    file: t.csv
    key: [id]
    identifiers: [id]
    quasi-identifiers: [age, zip, sex]
    sensitive: [ill]
    insensitive: [ward]
    as-written: [ill]
    hierarchies: {age: {ranges: [10]}, zip: zip.csv, sex: "*"}
releases: {out: {table: t%s}}
checks:
  - k-anonymity: {release: out, k: %d}
  - l-diversity: {release: out, kind: distinct, l: %d}
"""


def plan_of(folder: Path, seed: int, *, release: str = "", k: int = 2, l: int = 2) -> Plan:  # noqa: E741
    rng = random.Random(seed)
    lines = ["id,age,zip,sex,ill,ward,note"]
    for number in range(ROWS):
        age, zip_, sex = (
            rng.choice([21, 25, 33, 38, ""]),
            rng.choice(["01305", "01306", "02100"]),
            rng.choice(["f", "m", ""]),
        )
        lines.append(
            f"{number},{age},{zip_},{sex},{rng.choice(['flu', 'cold', 'burn', ''])}"
            f",{rng.choice('ab')},n{number}"
        )
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    (folder / "zip.csv").write_text("01305,013*,*\n01306,013*,*\n02100,021*,*\n")
    (folder / "tacit.yaml").write_text(PLAN % (release, k, l))
    return load_plan(folder / "tacit.yaml")


def some_nodes(seed: int) -> list[tuple[int, ...]]:
    """The ends of the lattice, and a few between."""
    every = list(product(*(range(height + 1) for height in HEIGHTS.values())))
    return [every[0], every[-1], *random.Random(seed).sample(every[1:-1], 3)]


def shown(
    plan: Plan, levels: dict[str, int], **options: Any
) -> list[tuple[str | None, ...] | None]:
    with open_engine(plan.source, plan.folder) as engine:
        lens = lens_at(MicrodataSource(plan, engine), "out", levels, options=options)
        return [line.after for line in pages(lens, engine, 5)]


def pages(lens: Lens, engine: Any, size: int) -> list[Any]:
    return [
        line for offset in range(0, lens.rows, size) for line in lens.page(engine, offset, size)
    ]


def written(path: Path) -> list[tuple[str | None, ...]]:
    with path.open(newline="") as file:
        _, *rows = csv.reader(file)
    return [tuple(cell or None for cell in row) for row in rows]


def meets(rows: list[tuple[str | None, ...]], k: int, l: int) -> bool:  # noqa: E741
    """By counting: every group has k rows and l known values."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for age, zip_, sex, ill, _ in rows:
        groups[age, zip_, sex].append(ill)
    return all(
        len(some) >= k and len({one for one in some if one is not None}) >= l
        for some in groups.values()
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_what_is_shown_is_what_is_written_and_a_node_that_fails_is_refused(
    tmp_path: Path, seed: int
) -> None:
    plan, kinds = plan_of(tmp_path, seed), set()
    for node in some_nodes(seed):
        levels = dict(zip(HEIGHTS, node, strict=True))
        output = tmp_path / f"out{''.join(map(str, node))}.csv"
        found = anonymize(plan, "out", str(output), levels=levels)
        after = shown(plan, levels)
        assert meets([one for one in after if one], 2, 2) == isinstance(found, Repaired)
        kinds.add(type(found))
        if isinstance(found, NotRepaired):
            assert not output.exists()
            assert not found.proved
            assert any(verdict.status != "holds" for verdict in found.verdicts)
            continue
        assert all(verdict.status == "holds" for verdict in found.verdicts)
        assert found.recoded.generalization == levels
        assert not found.proved
        assert Counter(written(output)) == Counter(after)
    assert NotRepaired in kinds


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_dropped_are_marked(tmp_path: Path, seed: int) -> None:
    plan, done = plan_of(tmp_path, seed, release=", suppress: 50%"), 0
    for node in some_nodes(seed):
        levels = dict(zip(HEIGHTS, node, strict=True))
        output = tmp_path / f"out{''.join(map(str, node))}.csv"
        found = anonymize(plan, "out", str(output), levels=levels)
        if isinstance(found, NotRepaired):
            assert not output.exists()
            with pytest.raises(InputError, match=r"at the levels|as it is"):
                shown(plan, levels)
            continue
        done += 1
        after = shown(plan, levels)
        kept = [one for one in after if one is not None]
        assert len(after) - len(kept) == found.recoded.suppressed <= ROWS // 2
        assert meets(kept, 2, 2)
        assert Counter(written(output)) == Counter(kept)
    assert done


@pytest.mark.parametrize("method", ["mondrian", "window"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_of_their_own_are_shown_row_by_row(tmp_path: Path, seed: int, method: str) -> None:
    plan = plan_of(tmp_path, seed, release=f", method: {method}, suppress: 30%")
    with open_engine(plan.source, plan.folder) as engine:
        source = MicrodataSource(plan, engine)
        found = solve(
            task_of(plan, "out", source, {}, aware=False, relaxed=False, seconds=None), Job()
        )
        if isinstance(found, NotRepaired):
            pytest.skip("nothing to show")
        lines = pages(lens_of(found.recoded), engine, 4)
    anonymize(plan, "out", str(tmp_path / "out.csv"))
    there = Counter(written(tmp_path / "out.csv"))
    assert len(lines) == ROWS
    certain = Counter(line.after for line in lines if line.after and not line.one_of_several)
    assert not certain - there
    if not any(line.one_of_several for line in lines):
        assert certain == there


def test_the_rows_stand_beside_what_is_not_released(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 1)
    with open_engine(plan.source, plan.folder) as engine:
        lens = lens_at(MicrodataSource(plan, engine), "out", {"zip": 1})
        assert lens.heads(engine) == ["id", "age", "zip", "sex", "ill", "ward", "note"]
        assert lens.columns == ["age", "zip", "sex", "ill", "ward"]
        first, *_, last = lens.page(engine, 0, ROWS)
        assert (first.before[0], last.before[0]) == ("0", "13")
        assert [line.before[0] for line in lens.page(engine, 3, 2)] == ["3", "4"]
        down = [line.before[2] for line in lens.page(engine, 0, ROWS, sort="zip", descending=True)]
        assert down == sorted(down, reverse=True)
        assert first.after is not None
        assert first.after[1] in ("013*", "021*")


def test_levels_that_are_not_there_are_refused(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 1)
    with pytest.raises(ParameterError, match="cannot be released at level 3"):
        anonymize(plan, "out", levels={"zip": 3})
    with pytest.raises(ParameterError, match="no quasi-identifier"):
        anonymize(plan, "out", levels={"ill": 1})
    with pytest.raises(ParameterError, match="Levels 0"):
        anonymize(plan, "out", levels={"zip": 2}, options={"at_most": {"zip": 1}})
    with pytest.raises(InputError, match="labels of their own"):
        anonymize(plan, "out", levels={"zip": 2}, options={"method": "mondrian"})


def test_every_minimal_solution_can_be_picked(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 3)
    found = anonymize(plan, "out")
    assert isinstance(found, Repaired)
    assert found.all_choices
    for number, choice in enumerate(found.choices):
        again = anonymize(
            plan, "out", str(tmp_path / f"{number}.parquet"), levels=choice.generalization
        )
        assert isinstance(again, Repaired)
        (same,) = again.choices
        assert (same.cost, same.risk, same.belief, same.suppressed) == (
            choice.cost,
            choice.risk,
            choice.belief,
            choice.suppressed,
        )


def test_a_database_gives_the_same_pages(tmp_path: Path, postgres_url: str) -> None:
    """Rows of a database have no order of their own:
    pages follow the key, and each row comes once.
    """
    import psycopg

    plan = plan_of(tmp_path, 2, release=", suppress: 50%")
    with open_engine(plan.source, plan.folder) as engine:
        expected = sorted(
            line.before
            for line in pages(
                lens_at(MicrodataSource(plan, engine), "out", {"age": 2, "zip": 2, "sex": 1}),
                engine,
                4,
            )
        )
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "CREATE TABLE t (id int, age int, zip text, sex text, ill text, ward text, note text)"
        )
        with (tmp_path / "t.csv").open(newline="") as file:
            for row in list(csv.reader(file))[1:]:
                admin.execute(
                    "INSERT INTO t VALUES (%s, %s, %s, %s, %s, %s, %s)",
                    [cell or None for cell in row],
                )
    (tmp_path / "tacit.yaml").write_text(
        f"source: {postgres_url!r}\n"
        + (tmp_path / "tacit.yaml").read_text().replace("file: t.csv\n    ", "")
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        lens = lens_at(MicrodataSource(plan, engine), "out", {"age": 2, "zip": 2, "sex": 1})
        found = [line.before for line in pages(lens, engine, 4)]
    assert [int(str(row[0])) for row in found] == list(range(ROWS))
    assert sorted(found) == expected
