"""`tacit synthesize` as a user runs it:
what it prints and writes, how it ends, and what it leaves behind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from families.synthetic.runs.city import HOMES, city, counts, sizes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    city(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_is_written_and_told_about(tacit: Any, folder: Path) -> None:
    ran = tacit("synthesize", "map", "-o", "out.csv")
    assert ran.status == 0 and not ran.err.strip()
    assert "out.csv" in ran.out and "holds" in ran.out
    assert sizes(counts(folder / "out.csv")) == sizes(counts(folder / "jobs.csv"))


def test_the_json_is_the_contract(tacit: Any) -> None:
    ran = tacit("synthesize", "map", "-o", "out.csv", "--json")
    document = ran.json
    assert list(document)[:5] == ["release", "output", "verdicts", "utility", "seconds"]
    assert document["release"] == "map" and document["output"] == "out.csv"
    verdict = document["verdicts"][0]
    assert (verdict["check"], verdict["status"]) == ("differential-privacy", "holds")
    assert document["terms"] == {
        "epsilon": "2",
        "epsilon_decimal": 2.0,
        "delta": "1/1000",
        "delta_decimal": 0.001,
        "guarantee": "dp",
        "mechanism": "dirichlet",
        "accept": None,
    }
    assert document["groups"] == "30" and document["drawn"]["people"] == document["people"]
    assert document["warnings"] == []
    assert document["steps"][0]["name"] == "Dirichlet-multinomial mechanism"


def test_in_ci_nothing_that_looks_at_the_truth_is_told(
    tacit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    document = tacit("synthesize", "map", "-o", "out.csv", "--json").json
    assert document["utility"] is document["baseline"] is None
    assert (
        tacit("synthesize", "map", "-o", "out.csv", "--json", "--audience", "owner").json["utility"]
        is not None
    )


def test_a_seed_is_warned_of_everywhere(tacit: Any, folder: Path) -> None:
    ran = tacit(
        "synthesize", "map", "-o", "out.csv", "--seed", "7", "--json", "--report", "page.html"
    )
    assert "Warning: The output is not private" in ran.err
    assert any("not private" in warning for warning in ran.json["warnings"])
    assert "not private" in (folder / "page.html").read_text()
    first = (folder / "out.csv").read_bytes()
    assert "not private" in tacit("synthesize", "map", "-o", "out.csv", "--seed", "7").err
    assert (folder / "out.csv").read_bytes() == first


def test_maps_have_areas_where_a_file_has_them(tacit: Any, folder: Path) -> None:
    spots = {home: (40 + place / 100, -74 + place / 90) for place, home in enumerate(HOMES)}
    works = {f"w{group:03d}": (40 + group / 300, -74 + group / 300) for group in range(30)}
    lines = [f"{name},{lat},{lon}" for name, (lat, lon) in {**spots, **works}.items()]
    (folder / "homes.csv").write_text("home,lat,lon\n" + "\n".join(lines[: len(spots)]) + "\n")
    (folder / "works.csv").write_text("work,lat,lon\n" + "\n".join(lines[len(spots) :]) + "\n")
    city(folder, terms="epsilon: 2, delta: 0.001, domain: {file: homes.csv, groups: works.csv}")
    corners = [(0, 0), (0.005, 0), (0.005, 0.005), (0, 0.005), (0, 0)]
    features = [
        {
            "type": "Feature",
            "properties": {"code": home},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[lon + x, lat + y] for x, y in corners]],
            },
        }
        for home, (lat, lon) in spots.items()
    ]
    (folder / "areas.geojson").write_text(
        json.dumps({"type": "FeatureCollection", "features": features})
    )
    arguments = ("synthesize", "map", "-o", "out.csv")
    ran = tacit(*arguments, "--areas", "areas.geojson", "--report", "page.html")
    assert ran.status == 0 and "<svg" in (folder / "page.html").read_text()
    assert "--areas is for the maps" in tacit(*arguments, "--areas", "areas.geojson").err
    assert (
        "cannot be read"
        in tacit(*arguments, "--areas", "none.geojson", "--report", "page.html").err
    )
    assert (
        "would be replaced"
        in tacit(*arguments, "--areas", "page.html", "--report", "page.html").err
    )


def test_a_breached_check_ends_in_1_and_writes_nothing(tacit: Any, folder: Path) -> None:
    city(
        folder,
        checks="checks:\n  - differential-privacy: {release: map, epsilon: 0.5, delta: 0.001}\n",
    )
    ran = tacit("synthesize", "map", "-o", "out.csv")
    assert ran.status == 1
    assert "othing was drawn or written" in " ".join(ran.out.split())
    ran = tacit("synthesize", "map", "-o", "out.csv", "--json")
    assert ran.status == 1 and ran.json["output"] is None and ran.json["utility"] is None
    assert not (folder / "out.csv").exists()


WRONG = {
    "no output": (("synthesize", "map"), "Missing option '--output'"),
    "no release": (("synthesize", "mop", "-o", "out.csv"), "no release 'mop'"),
    "a negative seed": (("synthesize", "map", "-o", "out.csv", "--seed", "-1"), "seed"),
    "no workers": (("synthesize", "map", "-o", "out.csv", "--workers", "0"), "workers"),
    "the report is the output": (
        ("synthesize", "map", "-o", "out.csv", "--report", "out.csv"),
        "the report would replace",
    ),
    "another format": (("synthesize", "map", "-o", "out.json"), "does not write .json"),
    "no plan": (("synthesize", "map", "-o", "out.csv", "--plan", "none.yaml"), "none.yaml"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_ends_in_2_with_words(tacit: Any, folder: Path, what: str) -> None:
    arguments, words = WRONG[what]
    ran = tacit(*arguments)
    assert ran.status == 2 and words in ran.err and "Traceback" not in ran.err
    assert words in tacit(*arguments, "--json").json["error"]["message"]
    assert sorted(path.name for path in folder.iterdir()) == ["jobs.csv", "tacit.yaml"]


def test_parts_of_other_terms_need_restart(
    tacit: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tacit.families.synthetic.runs.synthesize.publish", interrupted)
        ran = tacit("synthesize", "map", "-o", "out.csv")
    assert ran.status == 130
    assert (
        "1 of 1 batches are drawn" in ran.err and "the same command goes on from there" in ran.err
    )
    assert not (folder / "out.csv").exists()
    plan = (folder / "tacit.yaml").read_text()
    (folder / "tacit.yaml").write_text(plan.replace("epsilon: 2", "epsilon: 1"))
    ran = tacit("synthesize", "map", "-o", "out.csv")
    assert (
        ran.status == 2
        and "epsilon of the release changed from 2 to 1" in ran.err
        and "--restart" in ran.err
    )
    assert tacit("synthesize", "map", "-o", "out.csv", "--restart").status == 0
    assert sorted(path.name for path in folder.iterdir()) == ["jobs.csv", "out.csv", "tacit.yaml"]


def test_a_data_frame_needs_no_plan() -> None:
    import pandas
    import polars

    import tacit as package
    from tacit.errors import TacitError

    jobs = {
        "work": ["mill"] * 4 + ["yard"] * 2,
        "home": [1, 1, 2, 3, 2, 1],
        "many": [1, 2, 3, 4, 5, 6],
        "name": list("abcdef"),
    }
    for kind in (pandas.DataFrame, polars.DataFrame):
        found = package.synthesize(
            kind(jobs),
            group="work",
            value="home",
            count="many",
            domain=[1, 2, 3, 4],
            epsilon="ln(3)",
            delta=0,
            seed=3,
        )
        assert type(found.table) is kind and list(found.table.columns) == ["work", "home", "many"]
        by = dict.fromkeys(("mill", "yard"), 0)
        for group, many in zip(found.table["work"], found.table["many"], strict=True):
            by[group] += many
        assert by == {"mill": 10, "yard": 11}
        assert set(found.table["home"]) <= {1, 2, 3, 4}
        assert "not private" in found.warnings[0] and found.details["drawn"]["people"] == "21"
    with pytest.raises(TacitError, match="epsilon"):
        package.synthesize(pandas.DataFrame(jobs), group="work", value="home", epsilon=0, delta=0)
    with pytest.raises(TacitError, match="homes"):
        package.synthesize(pandas.DataFrame(jobs), group="work", value="homes", epsilon=1, delta=0)
