"""Scenes of synthetic releases: groups, cells and people against a
recount in plain Python, on every engine.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import DataError
from tacit.families.synthetic.cells import KEEP_UNITS
from tacit.families.synthetic.definitions.differential_privacy import DifferentialPrivacy
from tacit.families.synthetic.drawing.randomness import Randomness
from tacit.families.synthetic.occupied_cells import OccupiedCells
from tacit.families.synthetic.reading import people as people_module
from tacit.families.synthetic.reading.questions import SyntheticQuestions
from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene
from tacit.model.release import MilesKept, PublicDomain, Synthetic
from tacit.model.schema import Table
from tacit.plan.plan import Check, Plan
from thorough import THOROUGH


def plan_of(folder: Path, table: Table, *releases: Synthetic) -> Plan:
    return Plan(
        "tacit.yaml",
        folder,
        lambda *path, key=False: None,
        tables={table.name: table},
        releases={one.name: one for one in releases},
    )


def release(**options: Any) -> Synthetic:
    return Synthetic(
        "s",
        options.pop("table", "jobs"),
        "place",
        "home",
        options.pop("epsilon", Fraction(1)),
        options.pop("delta", Fraction(1, 100)),
        **options,
    )


def scene(
    folder: Path, table: Table, one: Synthetic, engine: Engine | None = None
) -> SyntheticScene:
    return SyntheticQuestions(plan_of(folder, table, one), engine or DuckDB(folder=folder)).scene(
        "s"
    )


def jobs(rows: list[tuple[Any, ...]], *more: str, **declared: Any) -> Table:
    return Table(
        "jobs", columns=dict.fromkeys(["place", "home", *more]), rows=tuple(rows), **declared
    )


def held(found: SyntheticScene, group: Any) -> dict[Any, int]:
    """Who is truly where, by label."""
    ((_, one),) = list(found.held([group]))
    places = found.domain(group).places
    cells = one.places if places is None else places[one.places]
    return dict(zip(found.values.take(cells), one.counts.tolist(), strict=True))


# -- small examples --------------------------------------------------------------------------------


def test_each_row_is_a_person(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text("home\nnorth\nsouth\nwest\n")
    found = scene(
        tmp_path,
        jobs([("mill", "north"), ("mill", "south"), ("mill", "north"), ("yard", "west")]),
        release(domain=PublicDomain("homes.csv")),
    )
    assert list(found.values) == ["north", "south", "west"]
    assert dict(found.sizes) == {"mill": 3, "yard": 1}
    assert held(found, "mill") == {"north": 2, "south": 1}
    assert found.domain("mill") is found.domain("yard") and found.domain("mill").cells.number == 3
    assert found.positions() is None and (found.outside.people, found.outside.pairs) == (0, 0)


def test_a_column_counts_people_and_nobody_is_no_group(tmp_path: Path) -> None:
    table = jobs([("mill", 1, 2), ("mill", 2, 0), ("yard", 2, 0), ("mill", 1, 3)], "n")
    found = scene(tmp_path, table, release(count="n"))
    assert dict(found.sizes) == {"mill": 5} and held(found, "mill") == {1: 5}
    assert list(found.values) == [1, 2]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ([7, 12, -3], ["007", "12", "-3"]),
        (["007", "7", " x"], ["007", "7", '" x"']),
        ([Decimal("1.50"), Decimal("2"), Decimal("-0.25")], ["1.5", "2.00", "-.25"]),
        ([date(2024, 2, 29), date(2020, 1, 1)], ["2024-02-29", "2020-01-01"]),
        ([True, False], ["true", "FALSE"]),
        (["it's", 'say "x"', "ä;b"], ["it's", '"say ""x"""', "ä;b"]),
    ],
)
def test_values_are_compared_as_the_column_has_them(
    tmp_path: Path, values: list[Any], written: list[str]
) -> None:
    (tmp_path / "homes.csv").write_text(
        "id,home\n" + "".join(f"{n},{one}\n" for n, one in enumerate(written)), encoding="utf-8"
    )
    kind = {date: "date", Decimal: "decimal"}.get(type(values[0]))
    table = Table(
        "jobs",
        columns={"place": None, "home": kind},
        rows=tuple(("mill", str(one) if kind else one) for one in values),
    )  # type: ignore[dict-item]
    found = scene(tmp_path, table, release(domain=PublicDomain("homes.csv")))
    assert list(found.values) == values
    assert held(found, "mill") == dict.fromkeys(values, 1)


def test_floats_are_found_by_how_they_are_written(tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "homes.csv").write_text("home\n0.10\n2\n1e3\n")
    engine = DuckDB()
    engine.put("jobs", duckdb.sql("SELECT 'mill' AS place, unnest([0.1::DOUBLE, 2, 1000]) AS home"))
    found = scene(tmp_path, Table("jobs"), release(domain=PublicDomain("homes.csv")), engine)
    assert list(found.values) == [0.1, 2.0, 1000.0] and held(found, "mill") == {
        0.1: 1,
        2.0: 1,
        1000.0: 1,
    }


def test_a_domain_in_parquet(tmp_path: Path) -> None:
    import duckdb

    duckdb.sql(
        f"COPY (SELECT 'x' AS name, range AS home FROM range(5)) TO '{tmp_path / 'homes.parquet'}'"
    )
    found = scene(tmp_path, jobs([("mill", 3)]), release(domain=PublicDomain("homes.parquet")))
    assert list(found.values) == [0, 1, 2, 3, 4] and held(found, "mill") == {3: 1}


def test_the_domain_of_the_plan(tmp_path: Path) -> None:
    found = scene(tmp_path, jobs([("mill", "b")], domains={"home": ("b", "a", "c")}), release())
    assert list(found.values) == ["b", "a", "c"] and held(found, "mill") == {"b": 1}


def test_empty_lines_and_other_separators(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text(
        "\ufeffhome;weight\na;1.5\n\nb;0,5\n".replace("0,5", "0.5") + ";\n", encoding="utf-8"
    )
    found = scene(
        tmp_path,
        jobs([("mill", "b")]),
        release(domain=PublicDomain("homes.csv"), prior="homes.csv"),
    )
    assert list(found.values) == ["a", "b"] and found.domain("mill").weights is not None
    assert found.domain("mill").weights.tolist() == [3, 1]


def test_weights_too_fine_to_be_exact_are_rounded_and_said(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("home,weight\na,1000000000000000001\nb,0.000001\n")
    questions = SyntheticQuestions(
        plan_of(tmp_path, jobs([("mill", "b")]), release(prior="p.csv")), DuckDB()
    )
    weights = questions.scene("s").domain("mill").weights
    assert weights is not None and weights[1] == 1 and 2**39 < weights.sum() <= 2**40
    assert any("rounded" in one for one in questions.planned("s").warnings)


def test_equal_weights_are_a_uniform_prior(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("home,weight\na,0.3\nb,0.30\n")
    assert (
        scene(tmp_path, jobs([("mill", "b")]), release(prior="p.csv")).domain("mill").weights
        is None
    )


def test_regions_have_people_and_values_get_them(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(
        "home,region,density\na,North,1\nb,North,0\nc,North,2.5\nd,South,0.5\n"
    )
    (tmp_path / "w.csv").write_text("region,weight\nSouth,1\nNorth,2\n")
    (tmp_path / "k.csv").write_text("region,keep\nSouth,0.25\nNorth,1\n")
    table = jobs([("mill", "a"), ("mill", "b"), ("mill", "d"), ("yard", "d")])
    found = scene(tmp_path, table, release(coarsen="r.csv", prior="w.csv", shrink="k.csv"))
    assert list(found.values) == ["North", "South"] and list(found.labels) == ["a", "b", "c", "d"]
    assert held(found, "mill") == {"North": 2, "South": 1} and held(found, "yard") == {"South": 1}
    domain = found.domain("mill")
    assert domain.weights is not None and domain.keeps is not None
    assert (domain.weights.tolist(), domain.keeps.tolist()) == (
        [2, 1],
        [KEEP_UNITS, KEEP_UNITS // 4],
    )
    drawn = Counter[str]()
    for seed in range(40):
        labels, counts = found.placed(
            "mill", OccupiedCells(np.array([0, 1]), np.array([70, 3])), Randomness.seeded(seed)
        )
        drawn.update(dict(zip(labels, counts.tolist(), strict=True)))
    assert drawn["d"] == 120 and drawn["b"] == 0 and drawn["a"] + drawn["c"] == 2800
    assert abs(drawn["a"] - 800) < 120  # 2 in 7: five standard deviations
    assert found.flows().people == 4


def test_without_density_people_are_spread_evenly(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("home,region\n" + "".join(f"h{n},{n % 2}\n" for n in range(20)))
    found = scene(tmp_path, jobs([("mill", "h3")]), release(coarsen="r.csv"))
    labels, counts = found.placed(
        "mill", OccupiedCells(np.array([0, 1]), np.array([50_000, 0])), Randomness.seeded(1)
    )
    assert labels == [f"h{n}" for n in range(0, 20, 2)] and counts.sum() == 50_000
    assert float(((counts - 5000) ** 2 / 5000).sum()) < 40


def test_chances_by_group_and_value(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text(
        "place,home,keep\n"
        + "".join(
            f"{g},{v},{k}\n"
            for g, v, k in [
                ("yard", "a", "0.5"),
                ("mill", "b", "1"),
                ("mill", "a", "1/3"),
                ("yard", "b", "0.25"),
                ("closed", "a", "1"),
            ]
        )
    )
    found = scene(
        tmp_path,
        jobs([("mill", "a"), ("yard", "b")], domains={"home": ("a", "b")}),
        release(shrink="k.csv"),
    )
    assert [found.domain(group).keeps.tolist() for group in ("mill", "yard")] == [
        [333_333_333, KEEP_UNITS],
        [500_000_000, 250_000_000],
    ]  # type: ignore[union-attr]


def test_nobody_lives_near_what_is_nearby(tmp_path: Path) -> None:
    """A region of which only empty land is near: its people are spread over that land."""
    (tmp_path / "d.csv").write_text("home,lat,lon\na,0,0\nb,0,0.01\nc,0,5\nmill,0,0\n")
    (tmp_path / "r.csv").write_text("home,region,density\na,N,0\nb,N,0\nc,N,1\nmill,M,1\n")
    found = scene(
        tmp_path,
        jobs([("mill", "a")]),
        release(domain=PublicDomain("d.csv", within=Fraction(10)), coarsen="r.csv"),
    )
    labels, counts = found.placed(
        "mill", OccupiedCells(np.array([1]), np.array([100])), Randomness.seeded(2)
    )
    assert labels == ["a", "b"] and counts.sum() == 100


# -- against a recount in plain Python -------------------------------------------------------------


def far(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The distance in miles along a great circle, by the cosine of
    the angle between two directions.
    """
    (y1, x1), (y2, x2) = ([math.radians(part) for part in place] for place in (one, other))
    cosine = math.sin(y1) * math.sin(y2) + math.cos(y1) * math.cos(y2) * math.cos(x1 - x2)
    return 3958.7613 * math.acos(max(-1.0, min(1.0, cosine)))


class Random:
    """A random release with its files, and the same facts as plain Python."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = rng = random.Random(seed)
        self.homes = [f"h{n}" for n in range(rng.randint(1, 12))]
        self.places = [f"w{n}" for n in range(rng.randint(1, 5))]
        self.where = {
            one: (rng.uniform(40, 41), rng.uniform(-75, -73)) for one in self.homes + self.places
        }
        self.within = rng.choice([None, 20, 40, 80])
        self.region = (
            {one: f"r{rng.randint(0, 3)}" for one in self.homes} if rng.random() < 0.4 else None
        )
        self.cells = sorted(set(self.region.values())) if self.region else self.homes
        self.weights = (
            {one: Fraction(rng.randint(1, 9), rng.choice([1, 2, 10])) for one in self.cells}
            if rng.random() < 0.5
            else None
        )
        self.shrink = rng.choice([None, "value", "pair", "miles"])
        self.keep = {
            (g, v): Fraction(rng.randint(1, 10), 10) for g in self.places for v in self.cells
        }
        self.counts = rng.random() < 0.5
        strange = ["s0", "s1"] if rng.random() < 0.5 else []
        pick = self.homes + strange
        self.rows = [
            (
                rng.choice(self.places),
                rng.choice(pick),
                rng.choice([0, 1, 1, 2, 7]) if self.counts else 1,
            )
            for _ in range(rng.randint(1, 40))
        ]
        self.write(folder)

    def write(self, folder: Path) -> None:
        shuffled = self.rng.sample(self.cells, len(self.cells))
        (folder / "homes.csv").write_text(
            "home,lat,lon\n"
            + "".join(
                f"{one},{self.where[one][0]!r},{self.where[one][1]!r}\n" for one in self.homes
            )
        )
        (folder / "places.csv").write_text(
            "place,lat,lon\n"
            + "".join(
                f"{one},{self.where[one][0]!r},{self.where[one][1]!r}\n" for one in self.places
            )
        )
        name = "region" if self.region else "home"
        (folder / "r.csv").write_text(
            "home,region\n" + "".join(f"{a},{b}\n" for a, b in (self.region or {}).items())
        )
        (folder / "w.csv").write_text(
            f"{name},weight\n"
            + "".join(f"{one},{(self.weights or {}).get(one)}\n" for one in shuffled)
        )
        (folder / "k.csv").write_text(
            f"{name},keep\n" + "".join(f"{v},{self.keep[self.places[0], v]}\n" for v in shuffled)
            if self.shrink == "value"
            else f"place,{name},keep\n"
            + "".join(f"{g},{v},{k}\n" for (g, v), k in self.keep.items())
        )

    def release(self) -> Synthetic:
        shrink: Any = {
            "value": "k.csv",
            "pair": "k.csv",
            "miles": MilesKept(
                ((Fraction(10), Fraction(1)), (Fraction(30), Fraction(1, 2))), Fraction(1, 10)
            ),
        }
        return release(
            count="n" if self.counts else None,
            domain=PublicDomain(
                "homes.csv",
                groups="places.csv",
                within=None if self.within is None else Fraction(self.within),
            ),
            outside="drop",
            prior="w.csv" if self.weights else None,
            coarsen="r.csv" if self.region else None,
            shrink=shrink.get(self.shrink),
        )

    def near(self, place: str) -> list[str]:
        return [
            one
            for one in self.homes
            if self.within is None or far(self.where[one], self.where[place]) <= self.within
        ]

    def cell(self, home: str) -> str:
        return self.region[home] if self.region else home

    def domain(self, place: str) -> dict[str, tuple[Fraction, Fraction]]:
        """The cells of a group with weight and chance."""
        found = {}
        for cell in self.cells:
            members = [one for one in self.near(place) if self.cell(one) == cell]
            if members:
                miles = min(far(self.where[one], self.where[place]) for one in members)
                steps = (
                    Fraction(1)
                    if miles <= 10
                    else Fraction(1, 2)
                    if miles <= 30
                    else Fraction(1, 10)
                )
                keep = {
                    "value": self.keep[self.places[0], cell],
                    "pair": self.keep[place, cell],
                    "miles": steps,
                }.get(self.shrink or "", Fraction(1))
                found[cell] = ((self.weights or {}).get(cell, Fraction(1)), keep)
        return found

    def held(self, place: str) -> Counter[str]:
        found = Counter[str]()
        for group, home, many in self.rows:
            if group == place and home in self.near(place):
                found[self.cell(home)] += many
        return +found

    def outside(self) -> tuple[int, int]:
        lost = Counter[tuple[str, str]]()
        for group, home, many in self.rows:
            if home not in self.near(group):
                lost[group, home] += many
        return sum(lost.values()), len(+lost)


def assert_same(one: Random, found: SyntheticScene) -> None:
    sizes = {place: sum(one.held(place).values()) for place in sorted({row[0] for row in one.rows})}
    assert dict(found.sizes) == {place: many for place, many in sizes.items() if many} and list(
        found.sizes
    ) == sorted(found.sizes)
    assert (found.outside.people, found.outside.pairs) == one.outside()
    assert sorted(found.values) == sorted(one.cells) and list(found.labels) == one.homes
    ratio = None
    for place, people in found.held(list(found.sizes)):
        domain, expected = found.domain(place), one.domain(place)
        cells = found.values.take(
            np.arange(domain.size) if domain.places is None else domain.places
        )
        assert sorted(cells) == sorted(expected)
        weights = [1] * domain.size if domain.weights is None else domain.weights.tolist()
        keeps = [KEEP_UNITS] * domain.size if domain.keeps is None else domain.keeps.tolist()
        for cell, weight, keep in zip(cells, weights, keeps, strict=True):
            assert keep == int(expected[cell][1] * KEEP_UNITS)
            ratio = ratio or weight / expected[cell][0]
            assert weight / expected[cell][0] == ratio  # the same scale for all groups
        assert {
            cells[at]: many
            for at, many in zip(people.places.tolist(), people.counts.tolist(), strict=True)
        } == one.held(place)
        assert people.places.tolist() == sorted(people.places.tolist())
        labels, counts = found.placed(place, people, Randomness.seeded(1))
        assert one.held(place) == Counter(
            [
                one.cell(label)
                for label, many in zip(labels, counts.tolist(), strict=True)
                for _ in range(many)
            ]
        )
        assert set(labels) <= set(one.near(place))


def compare(folder: Path, seed: int, engine: Engine) -> None:
    one = Random(seed, folder)
    rows = one.rows if one.counts else [row[:2] for row in one.rows]
    table = Table(
        f"jobs_{seed}",
        columns=dict.fromkeys(["place", "home", *(["n"] if one.counts else [])]),
        rows=tuple(rows),
    )
    planned = replace(one.release(), table=table.name)
    if any(one.held(place) for place in one.places):
        assert_same(one, scene(folder, table, planned, engine))
        return
    with pytest.raises(DataError, match=r"nobody in table .* is inside|there is nobody"):
        scene(folder, table, planned, engine)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [15, 10**6])  # by several queries, and by one
def test_scenes_are_what_plain_python_counts(
    tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people_module, "ROWS", rows)
    with DuckDB() as engine:
        for seed in range(rows, rows + 20):
            compare(tmp_path, seed, engine)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2 * THOROUGH))
def test_many_more_scenes_are_what_plain_python_counts(
    tmp_path: Path, start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people_module, "ROWS", 15 if start % 2 else 10**6)
    with DuckDB() as engine:
        for seed in range(start * 50, start * 50 + 50):
            compare(tmp_path, seed, engine)


@pytest.fixture(params=ENGINES, scope="module")
def opened(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with open_kind(request.param, request) as engine:
        yield engine


def test_every_engine_has_the_same_scene(opened: Engine, tmp_path: Path) -> None:
    for seed in (3, 5, 8):
        one = Random(seed, tmp_path)
        name = f"jobs_{seed}"
        table = Table(
            name, columns={"place": "text", "home": "text", "n": "integer"}, rows=tuple(one.rows)
        )
        assert_same(
            one, scene(tmp_path, table, replace(one.release(), table=name, count="n"), opened)
        )


def test_names_sort_by_code_point_on_every_engine(opened: Engine, tmp_path: Path) -> None:
    words = ["Z", "a", "ä", "B", "_", "10", "9", "it's"]
    table = Table(
        "odd names",
        columns={"place": None, "home": None},
        rows=tuple((one, other) for one in words for other in words),
    )
    found = scene(tmp_path, table, release(table="odd names"), opened)
    assert list(found.sizes) == sorted(words) == list(found.values)
    assert all(people.counts.tolist() == [1] * 8 for _, people in found.held(list(found.sizes)))


# -- questions -------------------------------------------------------------------------------------


def test_a_question_has_sorts_of_groups_and_what_it_relies_on(tmp_path: Path) -> None:
    rows = [("mill", "a")] * 3 + [("yard", "b")] * 3 + [("dock", "a")]
    table = jobs([(*row, n) for n, row in enumerate(rows)], "id", person=("id",))
    plan = plan_of(tmp_path, table, release(epsilon="ln(5)", delta=Fraction(1, 2)))
    question = SyntheticQuestions(plan, DuckDB()).question(
        Check("differential-privacy", releases=("s",))
    )
    (one,) = question.releases
    assert [(sort.people, sort.cells.number, sort.groups, sort.example) for sort in one.sorts] == [
        (3, 2, 2, "mill"),
        (1, 2, 1, "dock"),
    ]
    assert (one.groups, one.people, str(one.terms.epsilon)) == (3, 7, "ln(5)")
    assert one.labels == ()  # without a domain the values come from the data: nobody is told them
    assert {a.id: a.checked for a in one.assumptions} == {
        "public-group-sizes": "cannot",
        "one-row-per-person": "yes",
        "public-domain": "no",
    }
    assert any("no domain is given" in text for text in one.warnings) and any(
        "far below 1/7" in text for text in one.warnings
    )


def test_a_breach_is_told_with_cells_that_the_group_has(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text(
        "home,lat,lon\n"
        + "".join(
            f"{name}{one},{lat},{one / 100}\n"
            for name, lat in (("north", 60), ("south", 40))
            for one in range(4)
        )
    )
    (tmp_path / "places.csv").write_text("place,lat,lon\nmill,60,0\nyard,40,0\n")
    near = release(
        domain=PublicDomain("homes.csv", groups="places.csv", within=Fraction(30)),
        count="n",
        epsilon="3",
        delta=Fraction("1e-4"),
    )
    asking = SyntheticQuestions(
        plan_of(tmp_path, jobs([("mill", "north0", 500), ("yard", "south0", 4)], "n"), near),
        DuckDB(folder=tmp_path),
    )
    assert [(one.example, one.labels) for one in asking.planned("s").sorts] == [
        ("mill", ("north0", "north1", "north2")),
        ("yard", ("south0", "south1", "south2")),
    ]
    verdict = DifferentialPrivacy(epsilon="0.5", delta="0.2").check(
        asking.question(Check("differential-privacy", releases=("s",)))
    )
    assert verdict.witness is not None and (
        verdict.witness.facts["group_size"],
        verdict.witness.facts["known"],
    ) == (4, {"south2": 3})


def test_what_is_dropped_and_what_promises_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text("home\na\n")
    plan = plan_of(
        tmp_path,
        jobs([("mill", "a"), ("mill", "b")]),
        release(epsilon=Fraction(60), domain=PublicDomain("homes.csv"), outside="drop"),
    )
    one = SyntheticQuestions(plan, DuckDB()).planned("s")
    assert {a.id: a.checked for a in one.assumptions} == {
        "public-group-sizes": "cannot",
        "one-row-per-person": "no",
        "public-domain": "cannot",
        "public-outside": "cannot",
    }
    assert [text.split(" ")[:5] for text in one.warnings] == [
        ["an", "epsilon", "of", "60", "promises"],
        ["whose", "home", "is", "outside", "of"],
        ["there", "is", "one", "value", "only:"],
    ]


def test_coordinates_for_distances_and_maps(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("home,Latitude,LNG\na,10,20\nb,,\n3,5,6\n")
    found = scene(
        tmp_path,
        Table("jobs", columns={"place": "integer", "home": "text"}, rows=((3, "a"), (4, "b"))),
        release(domain=PublicDomain("d.csv")),
    )
    known = found.positions()
    assert known is not None and known.group_latitude is not None
    assert np.array_equal(known.latitude, [10, np.nan, 5], equal_nan=True) and np.array_equal(
        known.group_latitude, [5, np.nan], equal_nan=True
    )


@pytest.mark.slow
def test_eight_million_values_load_in_seconds(tmp_path: Path) -> None:
    import time

    many = (
        "SELECT lpad((n * 7)::VARCHAR, 15, '0') AS home, 40.5 AS lat, -74 AS lon FROM "
        "range(8_000_000) t(n)"
    )
    duckdb.sql(f"COPY ({many}) TO '{tmp_path / 'd.csv'}' (HEADER)")
    started = time.process_time()
    found = scene(
        tmp_path,
        jobs([("mill", f"{n * 7:015d}") for n in range(1000)]),
        release(domain=PublicDomain("d.csv")),
    )
    assert len(found.values) == 8_000_000 and found.sizes == {"mill": 1000}
    assert time.process_time() - started < 60
