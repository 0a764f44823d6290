"""Charts: their findings, their words for those who do not see them, their colours."""

from __future__ import annotations

import re
import sys
from fractions import Fraction

import pytest

from report.answered import portraits
from tacit.checking.assess import Assessment
from tacit.errors import MissingExtra
from tacit.families.microdata.microdata import Person
from tacit.families.microdata.portrait import BeliefBand, Example, Exposure, Portrait, PortraitBar
from tacit.model.verdict import Certificate, Verdict
from tacit.report.charts import portrait_chart as charts

pytest.importorskip("vl_convert")


def titles(assessment: Assessment, release: str, audience: str = "owner") -> list[str]:
    verdicts = [verdict for verdict in assessment if verdict.subject["release"] == release]
    return [
        chart.title for chart in charts.charts(portraits(assessment)[release], verdicts, audience)
    ]  # type: ignore[arg-type]


def test_titles_state_the_finding(hospital: Assessment) -> None:
    assert titles(hospital, "april") == [
        "Everybody is in a group of 4",
        "4 of 12 people are in groups with one condition",
        "The condition of 4 of 12 people can be known for certain",
        "Bruce's condition becomes certain, and that of 3 others",
    ]
    assert titles(hospital, "may")[1:3] == [
        "Every group has at least 3 conditions",
        "Nobody's condition can be believed with more than 50 %",
    ]


def test_a_shared_page_has_no_chart_of_people(hospital: Assessment) -> None:
    assert titles(hospital, "april", "shared") == titles(hospital, "april")[:3]


@pytest.mark.parametrize(
    ("sizes", "required", "title"),
    [
        ([(1, 1, 5)], None, "Everybody stands alone"),
        ([(1, 1, 1), (4, 4, 4)], None, "1 of 5 people is alone in their group"),
        ([(2, 2, 2), (3, 3, 3)], None, "Everybody is in a group of 2 or more"),
        ([(2, 2, 2), (3, 3, 3)], 3, "2 of 5 people are in groups smaller than 3"),
        ([(2, 2, 2), (3, 3, 3)], 9, "All 5 people are in groups smaller than 9"),
    ],
)
def test_findings_about_sizes(
    sizes: list[tuple[int, int, int]], required: int | None, title: str
) -> None:
    portrait = Portrait("r", 5, 2, sizes[0][0], tuple(PortraitBar(*bar) for bar in sizes))
    assert charts.sizes(portrait, required).title == title


def test_the_border_of_what_is_required_stands_between_failing_and_passing_groups() -> None:
    lines = [charts.BarLine(label, 1) for label in ("a", "b", "c")]
    bars = [PortraitBar(1, 1, 1), PortraitBar(2, 4, 1), PortraitBar(5, 9, 1)]
    assert [line.label for line in charts.with_border(lines, bars, 5)] == [
        "a",
        "b",
        "required: 5",
        "c",
    ]
    assert [line.label for line in charts.with_border(lines, bars, 1)] == [
        "required: 1",
        "a",
        "b",
        "c",
    ]
    assert [line.label for line in charts.with_border(lines, bars, 99)] == [
        "a",
        "b",
        "c",
        "required: 99",
    ]


def test_a_chart_reads_its_numbers_aloud(hospital: Assessment) -> None:
    chart = charts.sizes(portraits(hospital)["april"], 4)
    assert chart.svg.startswith('<svg role="img" ')
    assert "<title>Everybody is in a group of 4</title>" in chart.svg
    assert (
        'aria-label="Everybody is in a group of 4. required: 4; groups of 4: 12 · 100 %."'
        in chart.svg
    )


def test_a_release_where_nothing_is_known_can_be_drawn() -> None:
    exposure = Exposure(
        "illness", (PortraitBar(0, 0, 3),), (), certain=0, greatest=Fraction(0), unknown=3
    )
    drawn = charts.charts(Portrait("r", 3, 1, 3, (PortraitBar(3, 3, 3),), (exposure,)), [], "owner")
    assert "no known illness" in drawn[1].svg
    assert drawn[1].title == "No illness is known"
    assert "nothing known" in drawn[2].svg
    assert len(drawn) == 3


def test_wide_numbers_and_labels_stay_inside_the_drawing() -> None:
    bars = tuple(PortraitBar(10**i, 10 ** (i + 1) - 1, 10**i) for i in range(9))
    exposure = Exposure(
        "x", (), (BeliefBand(Fraction(1), Fraction(1), 1),), certain=1, greatest=Fraction(1)
    )
    chart = charts.sizes(Portrait("r", 10**9, 9, 1, bars, (exposure,)), 12)
    assert f'width="{charts.WIDTH}"' in chart.svg


def test_a_long_name_of_a_column_leaves_room_for_the_bars() -> None:
    exposure = Exposure(
        "a_column_with_a_very_long_name" * 3,
        (PortraitBar(2, 2, 3),),
        (),
        certain=0,
        greatest=Fraction(1, 2),
    )
    svg = charts.diversity(Portrait("r", 3, 1, 3, (), (exposure,)), exposure, None).svg
    room = re.search(r'd="M0,0h(\d+)v', svg)
    assert f'width="{charts.WIDTH}"' in svg
    assert room
    assert int(room[1]) > 100


def test_where_a_picture_looks_otherwise_than_a_check_it_says_so() -> None:
    one = Exposure(
        "illness", (PortraitBar(2, 2, 3),), (), certain=0, greatest=Fraction(1, 2), unknown=3
    )
    alone, both = (
        Portrait("r", 3, 1, 3, (PortraitBar(3, 3, 3),), (one,) * number) for number in (1, 2)
    )
    assert "taken as unknown" not in charts.charts(alone, [], "shared")[1].note
    assert (
        "Other sensitive columns are taken as unknown." in charts.charts(both, [], "shared")[1].note
    )
    verdict = Verdict(
        "k-anonymity",
        "2-anonymity",
        {"release": "r"},
        "holds",
        "",
        Certificate("groups"),
        required={"k": 2, "missing": "match-any"},
    )
    assert all(
        "A missing value is drawn" in chart.note
        for chart in charts.charts(alone, [verdict], "shared")
    )


def test_colours_stand_out_from_white_and_from_each_other() -> None:
    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return sum(
            weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    for colour in (charts.INK, charts.MUTED, charts.EXPOSED, charts.SHELTERED):
        assert 1.05 / (light(colour) + 0.05) >= 4.5, colour  # WCAG AA for text


def test_without_the_package_the_error_says_what_to_install(
    hospital: Assessment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra, match=r"vl-convert-python.*'tacit-privacy\[report\]'"):
        charts.sizes(portraits(hospital)["april"], 4)


def test_a_small_belief_before_the_release_is_not_cut_off() -> None:
    person = Person({}, {"age": 64})
    rare = Example(person, "servant", Fraction(232, 45222), Fraction(1))
    often = Example(person, "clerk", Fraction(1, 4), Fraction(1))
    texts = (
        charts.dumbbells([rare])["padding"]["left"],
        charts.dumbbells([often])["padding"]["left"],
    )
    assert texts[0] >= charts.LETTER * len("0.51 %") and texts[0] > texts[1]
