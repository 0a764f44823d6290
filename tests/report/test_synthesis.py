"""What is shown of a synthetic release: the promise in words, true numbers for the owner only,
maps without any server.
"""

from __future__ import annotations

import io
import json
import math
import random
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from pages import EVIL, POLICY, Page
from tacit.errors import DataError, InputError
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.spending import SpendingStep
from tacit.families.synthetic.promise.terms import Terms
from tacit.families.synthetic.runs.synthesis_results import (
    SEEDED,
    Drawing,
    NoiseSummary,
    Picture,
    Synthesized,
)
from tacit.families.synthetic.utility.flow_comparison import compare
from tacit.families.synthetic.utility.flows import Flows
from tacit.families.synthetic.utility.positions import Positions
from tacit.model.release import Synthetic
from tacit.model.verdict import Assumption, Audience, Certificate, Reason, Verdict
from tacit.report.charts.curves import delta_text, privacy_curve, times_text
from tacit.report.charts.geojson import read_areas
from tacit.report.charts.map_marks import CLASSES, class_breaks, hexagon_of, hexagons
from tacit.report.charts.map_outlines import MOST_POINTS, fitted
from tacit.report.charts.map_plane import WIDTH, Plane, unrolled
from tacit.report.charts.maps import maps
from tacit.report.synthesis import render, show, write_page

pytest.importorskip("vl_convert")

RELEASE = Synthetic(
    "map", "jobs", "destination", "origin", "ln(50)", Fraction("1e-5"), count="jobs"
)
CURVE = [[str(epsilon / 2), str(0.3 * math.exp(-epsilon))] for epsilon in range(2, 20)]
LARGEST_PAGE = 2_000_000


def city(values: int, groups: int, seed: int) -> tuple[Flows, Positions]:
    """A city whose people live around where they work."""
    draw = np.random.default_rng(seed)
    latitude, longitude = draw.normal(44.9, 0.1, values), draw.normal(-93.2, 0.15, values)
    at = draw.choice(values, groups, replace=False)
    rows = []
    for group in range(groups):
        near = np.exp(
            -np.hypot(latitude - latitude[at[group]], longitude - longitude[at[group]]) * 20
        )
        counts = draw.multinomial(int(draw.lognormal(4, 1.5)) + 1, near / near.sum())
        rows += [
            (f"block {group}", f"cell {value}", int(counts[value]))
            for value in np.flatnonzero(counts)
        ]
    names = (
        [f"block {group}" for group in range(groups)],
        [f"cell {value}" for value in range(values)],
    )
    return Flows.of(rows, *names), Positions(latitude, longitude, latitude[at], longitude[at])


def redrawn(true: Flows, seed: int) -> Flows:
    """As many people of each group, some of them anywhere."""
    draw = np.random.default_rng(seed)
    value = np.where(
        draw.random(len(true.value)) < 0.3,
        draw.integers(0, len(true.values), len(true.value)),
        true.value,
    )
    return Flows(true.groups, true.values, true.group, value, true.count)


def verdict(status: str = "holds", **changes: Any) -> Verdict:
    evidence = (
        Certificate("curve", {"curve": CURVE})
        if status == "holds"
        else Reason("between-bounds", "too close to tell")
    )
    made = Verdict(
        check="differential-privacy",
        label="differential privacy",
        subject={"release": "map"},
        status="holds" if status == "holds" else "undecided",
        because="at an epsilon of ln(50) delta is at most 0.00001",
        evidence=evidence,
        scope="this domain",
        protects="a person's origin",
        assumptions=(Assumption("public-domain", "the tracts are public", "cannot"),),
        warnings=("91357 people are outside",),
        measured={"delta": "0.00000999", "alpha": Fraction("0.3394")},
        required={"epsilon": "ln(50)", "delta": Fraction("1e-5")},
    )
    return replace(made, **changes)


def synthesized(
    true: Flows,
    synthetic: Flows,
    positions: Positions | None,
    *,
    baseline: bool = True,
    **changes: Any,
) -> Synthesized:
    """A result as `tacit synthesize` has it."""
    made = Synthesized(
        "map",
        "map.csv",
        (verdict(),),
        Terms(Epsilon.read("ln(50)"), Fraction("1e-5")),
        NoiseSummary(3, Fraction("0.01"), Fraction("0.3394"), Fraction(123), Fraction("5.5")),
        steps=(
            SpendingStep("Dirichlet-multinomial mechanism", 2.1),
            SpendingStep("shrinking the domain", 3.912023, 5.5),
        ),
        groups=len(true.groups),
        people=true.people,
        dropped=(77_331, 71_113),
        drawing=Drawing(synthetic.people, len(synthetic.count), 3, 2),
        utility=compare(true, synthetic, positions),
        baseline=compare(true, redrawn(true, 99), positions) if baseline else None,
        budget={"by": "accounting", "again": [{"times": "2", "epsilon": 6.3111, "delta": 2e-5}]},
        warnings=("66227 people were not measured.",),
        picture=Picture(true, synthetic, positions),
        seconds=4.0,
    )
    return replace(made, **changes)


@pytest.fixture(scope="module")
def found() -> Synthesized:
    true, positions = city(300, 60, 1)
    return synthesized(true, redrawn(true, 2), positions)


@pytest.fixture(scope="module")
def pages(found: Synthesized) -> dict[Audience, str]:
    return {audience: render(found, audience, RELEASE) for audience in ("owner", "shared")}


def printed(result: Synthesized, audience: Audience = "owner", width: int = 100) -> str:
    file = io.StringIO()
    show(result, Console(file=file, width=width), RELEASE, audience, Path("tacit.yaml"))
    return file.getvalue()


# -- the page --------------------------------------------------------------------------------------


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_the_page_runs_nothing_and_asks_for_nothing(
    pages: dict[Audience, str], audience: Audience
) -> None:
    text = pages[audience]
    page = Page(text)
    assert {"http-equiv": "Content-Security-Policy", "content": POLICY} in page.named("meta")
    for tag in (
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "image",
        "use",
        "foreignobject",
        "base",
        "form",
    ):
        assert not page.named(tag), tag
    assert not [
        name
        for _, attributes in page.tags
        for name in attributes
        if name.startswith("on") or name in ("src", "href", "xlink:href")
    ]
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
    assert len(text.encode()) < LARGEST_PAGE


def test_the_owner_is_told_that_true_data_is_shown(pages: dict[Audience, str]) -> None:
    text = Page(pages["owner"]).text
    assert text.index("This page shows true data") < text.index("What is promised")
    assert "Owner's view" in text
    for said in (
        "What is still true",
        "True",
        "Synthetic",
        "thresholded histogram",
        "77,331 people outside the domain",
    ):
        assert said in text


def test_the_promise_is_said_with_the_words_of_the_plan(
    found: Synthesized, pages: dict[Audience, str]
) -> None:
    for text in (Page(pages["shared"]).text, " ".join(printed(found).split())):
        assert "each person's origin in jobs" in text
        assert (
            "their destination, how many people each destination has, and that they are in the file"
            in text
        )
        assert "0.00001" in text
        assert "3.9121" in text  # rounded up
        assert "5.5" in text  # Machanavajjhala's (2008) own bound
        assert "6.3111" in text  # releasing again


def test_the_shared_page_is_the_same_whatever_the_true_table_is(
    found: Synthesized, pages: dict[Audience, str]
) -> None:
    assert found.picture is not None
    synthetic, positions = found.picture.synthetic, found.picture.positions
    other, _ = city(300, 60, 17)
    elsewhere = synthesized(
        Flows(synthetic.groups, synthetic.values, other.group, other.value, other.count * 3),
        synthetic,
        positions,
        dropped=(1, 1),
        seconds=9.0,
        drawing=Drawing(synthetic.people, len(synthetic.count), 999, 99),
        warnings=("5 people were not measured.",),
        verdicts=(verdict(warnings=("12 people are outside",)),),
        people=12_345,
    )
    assert pages["shared"] == render(elsewhere, "shared", RELEASE)
    assert printed(found, "shared") == printed(elsewhere, "shared")
    assert pages["owner"] != render(elsewhere, "owner", RELEASE)


@pytest.mark.parametrize("number", ["77,331", "71,113", "66227", "91357"])
def test_counts_of_true_people_are_for_the_owner(
    found: Synthesized, pages: dict[Audience, str], number: str
) -> None:
    assert number in pages["owner"]
    assert number not in pages["shared"]
    assert number not in printed(found, "shared")


def test_the_shared_page_compares_with_nothing(pages: dict[Audience, str]) -> None:
    text = Page(pages["shared"]).text
    for word in ("true mean", "total variation", "truly", "spurious", "histogram"):
        assert word not in text.lower()
    assert "Synthetic" in text
    assert "No output becomes more than 50 times likelier" in text


def test_a_file_drawn_with_a_seed_is_called_not_private_everywhere(found: Synthesized) -> None:
    seeded = replace(found, warnings=(*found.warnings, SEEDED))
    for audience in ("owner", "shared"):
        assert SEEDED in Page(render(seeded, audience, RELEASE)).text


def test_the_same_result_makes_the_same_bytes(
    found: Synthesized, pages: dict[Audience, str]
) -> None:
    assert pages["owner"] == render(found, "owner", RELEASE)


def test_names_that_try_to_break_out_are_only_text(found: Synthesized) -> None:
    assert found.picture is not None
    evil = [f"{EVIL}{one}" for one in range(60)]
    true, synthetic = (
        replace(flows, groups=evil) for flows in (found.picture.true, found.picture.synthetic)
    )
    release = replace(RELEASE, table=EVIL, group=EVIL, value=EVIL)
    text = render(
        replace(found, picture=Picture(true, synthetic, found.picture.positions)), "owner", release
    )
    page = Page(text)
    assert not page.named("script")
    assert not page.named("img")
    assert len(page.named("title")) == 1 + len(page.named("svg"))


def test_without_places_there_is_no_map_and_no_distance(found: Synthesized) -> None:
    assert found.picture is not None
    bare = synthesized(found.picture.true, found.picture.synthetic, None)
    text = Page(render(bare, "owner", RELEASE)).text
    assert "miles" not in text
    assert "total variation" in text
    assert "miles" not in printed(bare)


def test_nothing_drawn_says_why(found: Synthesized) -> None:
    failed = replace(
        found,
        output=None,
        verdicts=(verdict("undecided"),),
        utility=None,
        baseline=None,
        picture=None,
        drawing=Drawing(),
    )
    for text in (Page(render(failed, "owner", RELEASE)).text, " ".join(printed(failed).split())):
        assert "Nothing was drawn or written, because differential privacy is undecided" in text


def test_pure_privacy_and_histograms_have_their_own_words(found: Synthesized) -> None:
    pure = replace(found, terms=Terms(Epsilon.read(1), Fraction(0)))
    assert "whatever the file shows" in Page(render(pure, "shared", RELEASE)).text
    tails = replace(found, terms=Terms(Epsilon.read(1), Fraction("1e-6"), guarantee="pdp"))
    assert (
        "need not hold for what others compute from it"
        in Page(render(tails, "shared", RELEASE)).text
    )
    counted = replace(
        found,
        noise=NoiseSummary(1, thresholds=(4, 7)),
        terms=replace(found.terms, mechanism="geometric"),
        baseline=None,
    )
    text = Page(render(counted, "owner", RELEASE)).text
    assert "published from 4 to 7 on" in text
    assert "prior people" not in text


def test_the_page_is_written_whole(found: Synthesized, tmp_path: Path) -> None:
    write_page(found, None, "owner", RELEASE)
    write_page(found, tmp_path / "page.html", "owner", RELEASE)
    assert (tmp_path / "page.html").read_text("utf-8").rstrip().endswith("</html>")
    with pytest.raises(InputError, match="no folder"):
        write_page(found, tmp_path / "missing" / "page.html", "owner", RELEASE)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_the_terminal_keeps_to_its_width(found: Synthesized, width: int) -> None:
    text = printed(found, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "Written" in text


# -- maps ------------------------------------------------------------------------------------------


def test_many_places_become_hexagons_and_a_page_stays_small() -> None:
    true, positions = city(4000, 40, 3)
    text = render(synthesized(true, redrawn(true, 4), positions), "owner", RELEASE)
    assert len(text.encode()) < LARGEST_PAGE
    assert "in each hexagon" in text


def test_both_sides_of_a_map_have_the_same_scales() -> None:
    true, positions = city(900, 12, 5)
    for one in maps(redrawn(true, 6), positions, true=true):
        legends = [re.findall(r">([\d,]+|none|people)</text>", svg) for _, svg in one.panels]
        assert len(legends) == 2
        assert legends[0] == legends[1]
        assert "people" in legends[0]


def test_a_map_shows_where_the_group_is_and_how_far_a_mile() -> None:
    true, positions = city(50, 4, 7)
    found = maps(redrawn(true, 8), positions, true=true, group="destination", groups=2)
    assert len(found) == 3
    assert found[1].title.startswith("Destination block ")
    assert all("mile" in svg for one in found for _, svg in one.panels)
    assert "the group itself" in found[1].panels[0][1]
    assert "the group itself" not in found[0].panels[0][1]


def test_people_who_are_not_on_the_map_are_counted() -> None:
    values = ["far", *map(str, range(20)), "nowhere"]
    positions = Positions(
        np.array([70.0, *np.linspace(40, 40.1, 20), math.nan]),
        np.array([10.0, *np.linspace(10, 10.1, 20), math.nan]),
    )
    true = Flows.of([("mill", value, 100) for value in values[1:21]], ["mill"], values)
    synthetic = Flows.of(
        [("mill", "0", 1997), ("mill", "far", 1), ("mill", "nowhere", 2)], ["mill"], values
    )
    assert (
        "3 people (synthetic) are outside the map or without a known place"
        in maps(synthetic, positions, true=true)[0].note
    )


def test_no_places_no_map() -> None:
    nowhere = Positions(np.array([math.nan]), np.array([math.nan]))
    assert maps(Flows.of([("mill", "north", 1)]), nowhere) == []


def test_the_largest_places_of_a_map_have_their_names_where_there_is_room() -> None:
    names = ["mill", "harbour", "a name that is far too long for a map"]
    positions = Positions(np.array([50.0, 50.5, 51.0]), np.array([10.0, 10.5, 10.2]))
    flows = Flows.of([("north", name, 5 + place) for place, name in enumerate(names)])
    svg = maps(flows, positions)[0].panels[0][1]
    assert (
        ">mill</text>" in svg and ">harbour</text>" in svg and ">a name that is fa…</text>" in svg
    )
    crowd = Positions(np.full(40, 50.0) + np.arange(40) / 1e4, np.full(40, 10.0))
    many = Flows.of([("north", f"place {number}", 9) for number in range(40)])
    assert 0 < maps(many, crowd)[0].panels[0][1].count(">place ") < 60


def test_the_map_of_an_ocean_is_not_cut_at_the_date_line() -> None:
    positions = Positions(np.array([-18.0, -17.0, -19.0]), np.array([178.0, -179.0, 179.5]))
    flows = Flows.of([("boat", "a", 5), ("boat", "b", 5), ("boat", "c", 5)])
    longitude = unrolled(positions.longitude)
    assert longitude.max() - longitude.min() == 3
    plane = Plane.around(positions.latitude, longitude, flows.totals)
    assert plane.holds(*plane.pixels(positions.latitude, longitude)).all()


def test_every_pixel_is_in_the_nearest_hexagon() -> None:
    draw = np.random.default_rng(1)
    x, y = draw.uniform(0, 440, 3000), draw.uniform(0, 440, 3000)
    column, row = hexagon_of(x, y)
    middles = np.array([one[0].mean(axis=0) for one in hexagons(column, row)])
    distance = np.hypot(x - middles[:, 0], y - middles[:, 1])
    everywhere = np.array(
        [
            one[0].mean(axis=0)
            for one in hexagons(
                *(part.ravel() for part in np.meshgrid(np.arange(-25, 45), np.arange(-2, 50)))
            )
        ]
    )
    nearest = np.array(
        [np.hypot(*(everywhere - [a, b]).T).min() for a, b in zip(x, y, strict=True)]
    )
    assert (distance <= nearest + 0.2).all()  # corners are rounded to a tenth


def test_classes_are_round_few_and_hold_the_largest() -> None:
    draw = random.Random(2)
    for _ in range(500):
        counts = np.array([int(draw.lognormvariate(3, 3)) for _ in range(draw.randint(1, 60))])
        breaks = class_breaks(counts)
        assert breaks[0] == 1
        assert list(breaks) == sorted(set(breaks))
        assert len(breaks) <= CLASSES
        assert all(str(one).rstrip("0") in ("1", "2", "5") for one in breaks)


# -- areas -----------------------------------------------------------------------------------------


def square(west: float, south: float, side: float = 0.1) -> list[list[float]]:
    return [
        [west, south],
        [west + side, south],
        [west + side, south + side],
        [west, south + side],
        [west, south],
    ]


def geojson(path: Path, features: list[Any]) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), "utf-8")
    return path


def feature(name: str, coordinates: list[Any], kind: str = "Polygon") -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"code": name, "more": 1},
        "geometry": {"type": kind, "coordinates": coordinates},
    }


def test_areas_are_drawn_from_a_file(tmp_path: Path) -> None:
    hole = square(10.03, 50.03, 0.03)
    path = geojson(
        tmp_path / "areas.json",
        [
            feature("a", [square(10, 50), hole]),
            feature("b", [[square(10.1, 50)], [square(10.1, 50.2)]], "MultiPolygon"),
            feature("other", [square(11, 51)]),
        ],
    )
    areas = read_areas(path, ["a", "b", "c"])
    assert sorted(areas) == ["a", "b"]
    assert [len(polygon) for polygon in areas["a"]] == [2]
    positions = Positions(np.array([50.05, 50.05, 50.1]), np.array([10.05, 10.15, 10.0]))
    flows = Flows.of([("mill", "a", 3), ("mill", "b", 1), ("mill", "c", 1)])
    found = maps(flows, positions, areas=areas)
    assert "in each area" in found[0].note
    assert found[0].panels[0][1].count("Z") >= 4


def test_areas_need_no_coordinates_and_who_has_none_is_counted(tmp_path: Path) -> None:
    path = geojson(
        tmp_path / "areas.json", [feature("a", [square(0, 0, 1)]), feature("b", [square(1, 0, 1)])]
    )
    flows = Flows.of([("mill", "a", 5), ("mill", "b", 1), ("mill", "c", 7)])
    for positions in (None, Positions(np.array([0.5, 0.5, 0.5]), np.array([0.5, 1.5, 0.7]))):
        found = maps(flows, positions, areas=read_areas(path, ["a", "b", "c"]))
        assert found and "7 people (synthetic) are without a known place." in found[0].note
    assert maps(flows, None) == []


def test_areas_stay_inside_the_window_and_small(tmp_path: Path) -> None:
    angles = np.linspace(0, 2 * math.pi, 4001)
    ring = np.stack([10 + np.cos(angles), 50 + np.sin(angles) * 0.6], axis=1).tolist()
    areas = read_areas(
        geojson(
            tmp_path / "areas.json", [feature("a", [ring]), feature("b", [square(9.9, 49.9, 40)])]
        ),
        ["a", "b"],
    )
    positions = Positions(np.array([50.0, 50.01]), np.array([10.0, 10.01]))
    plane = Plane.around(np.array([49.9, 50.1]), np.array([9.9, 10.1]), np.array([1, 1]))
    corners = [
        ring for area in fitted(plane, list(areas.values())) for polygon in area for ring in polygon
    ]
    assert corners
    assert sum(map(len, corners)) <= MOST_POINTS
    for one in corners:
        assert (one >= -0.1).all()
        assert (one <= [WIDTH + 0.1, plane.height + 0.1]).all()
    assert maps(Flows.of([("mill", "a", 3), ("mill", "b", 1)]), positions, areas=areas)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no features"),
        ('{"features": []}', "no features"),
        (json.dumps({"features": [feature("z", [square(1, 1)])]}), "no area"),
        (
            json.dumps({"features": [feature("a", [[[500000, 1], [2, 3], [4, 5]]])]}),
            "longitude and latitude",
        ),
        (json.dumps({"features": [feature("a", [["x"]])]}), "longitude and latitude"),
        (
            json.dumps(
                {"features": [{"properties": {"code": "a"}, "geometry": {"type": "Polygon"}}]}
            ),
            "longitude and latitude",
        ),
    ],
)
def test_files_that_are_no_areas_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "areas.json").write_text(text)
    with pytest.raises(DataError, match=said):
        read_areas(tmp_path / "areas.json", ["a"])


def test_a_missing_file_of_areas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_areas(tmp_path / "areas.json", ["a"])


# -- numbers ---------------------------------------------------------------------------------------


def test_deltas_and_factors_are_never_understated() -> None:
    draw = random.Random(3)
    for _ in range(3000):
        delta = 10 ** draw.uniform(-20, 0)
        assert float(delta_text(delta)) >= delta * (1 - 1e-9)
        ratio = math.exp(draw.uniform(0, 20))
        assert float(times_text(ratio).replace(",", "")) >= ratio * (1 - 1e-9)


def test_the_curve_has_its_promise_and_leaves_out_what_is_nothing() -> None:
    points = [(float(epsilon), float(delta)) for epsilon, delta in CURVE]
    chart = privacy_curve([*points, (50.0, 0.0)], math.log(50), Fraction("1e-5"))
    assert chart is not None
    assert "δ = 0.00001" in chart.svg and "promised at ε" in chart.svg
    pure = privacy_curve(points, 1.0, Fraction(0))
    assert pure is not None
    assert "δ = 0<" in pure.svg
    assert privacy_curve([(1.0, 0.0), (2.0, 0.0)], 1.0, Fraction(0)) is None
