"""Verdicts about overlapping views in the terminal and on the page:
who is above gamma and since when, and the smallest crowds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pages import EVIL, Page
from report.answered import assessment_of, drawn_as
from report.answered import stages as stages_of
from report.printing import printed
from tacit.checking.assess import Assessment, assess
from tacit.cli import next_steps
from tacit.families.overlaps.definitions.overlap_definition import counted_sizes
from tacit.families.overlaps.family import OverlapPicture
from tacit.families.overlaps.stages import TOO_LARGE, TOO_LONG, Largest, Stage, Stages
from tacit.model.numbers import percent
from tacit.model.verdict import Certificate, Verdict, Witness
from tacit.plan.read.load import load_plan
from tacit.report import crowds
from tacit.report.charts import belief_chart as belief_charts
from tacit.report.charts import share_chart as share_charts
from tacit.report.charts.belief_chart import beliefs_chart
from tacit.report.charts.share_chart import crowds_chart, shares_chart
from tacit.report.html.page import render

Assess = Callable[[str], Assessment]

ROWS = """[[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]"""
PLAN = f"""\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    key: [name]
    sensitive: [condition]
    rows: {ROWS}
releases:
  male:      {{query: "SELECT condition FROM patients WHERE sex = 'M'"}}
  age26to28: {{query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"}}
checks:
"""
GAMMA = "  - gamma-privacy: {releases: [male, age26to28], gamma: %s}\n"
NAMES = ("Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia")
ILLNESSES = ("Heart", "SARS", "Viral", "Flu")
HALF = Fraction(1, 2)


@pytest.fixture
def paper(assessed: Assess) -> Assessment:
    """The example of the paper, which is breached."""
    return assessed(PLAN + GAMMA % 0.5)


def flat(text: str) -> str:
    return " ".join(text.split())


def sind(sets: list[list[Any]], k: int = 3, **more: Any) -> Verdict:
    """A verdict about crowds."""
    smallest = min(sets, key=len)
    found = (
        Witness("set", {"size": len(smallest)}, {"people": smallest, **more})
        if len(smallest) < k
        else Certificate("crowds")
    )
    return Verdict(
        check="k-sind",
        label=f"{k}-SIND",
        subject={"releases": ["a", "b"]},
        status="breached" if len(smallest) < k else "holds",
        because=f"the smallest crowd has {len(smallest)} people, {k} required",
        evidence=found,
        measured={
            "k": len(smallest),
            "crowds": len(sets),
            "sizes": counted_sizes([len(one) for one in sets]),
        },
        required={"k": k},
        personal={"sets": sets},
        story="they can be told apart" if len(smallest) < k else None,
    )


def gamma(
    above: list[dict[str, Any]],
    *,
    people: int | None = None,
    tables: int = 45,
    limit: Fraction = HALF,
) -> Verdict:
    """A breach of gamma-privacy."""
    most = max(one["after"] for one in above)
    facts = {"after": most, "people_above": len(above) if people is None else people}
    return Verdict(
        check="gamma-privacy",
        label="0.5-privacy",
        subject={"releases": ["a", "b"]},
        status="breached",
        because="some are above",
        evidence=Witness(
            "person", facts, {"person": {"name": "x"}, "value": "SARS", "above": above}
        ),
        measured={"gamma": most, "worlds": tables},
        required={"gamma": limit},
        story="In most of the tables x has SARS.",
    )


def course(
    *beliefs: Any,
    sizes: tuple[int, ...] | None = None,
    missing: str = "",
    members: Any = None,
    shares: Any = None,
) -> Stages:
    """Stages by hand: for each release the beliefs of the classes, None where nothing is known."""
    found = []
    for number, column in enumerate(beliefs, 1):
        known = {
            class_: Largest(0, Fraction(one), Fraction(one))
            for class_, one in enumerate(column)
            if one is not None
        }
        unseen = frozenset(range(len(column))) - set(known) if not missing else frozenset()
        found.append(Stage(f"v{number}", known, unseen, missing=missing))
    return Stages(
        "condition",
        ("SARS", "Flu"),
        sizes or (1,) * len(beliefs[0]),
        tuple(found),
        shares or {},
        members or {},
        ((0,), (1,)),
    )


# -- the terminal ----------------------------------------------------------------------------------


def test_a_breach_tells_the_story_and_how_it_came(paper: Assessment) -> None:
    text = printed(paper)
    assert "male and age26to28 together" in text and "DO NOT RELEASE" in text
    assert "In 36 of the 45 tables that fit both views Donald has SARS." in text
    assert (
        "The largest share is 80 % (4/5); 45 tables fit; the smallest crowd has 1 person."
        in flat(text)
    )
    assert "largest share of the tables for Donald" in text
    assert re.search(r"after male +█{10}░{10} +50 % +SARS", text)
    assert re.search(r"after age26to28 +█{16}░{4} +80 % +SARS", text)
    assert "all fitting tables are equally likely" in text


def test_the_table_and_its_people_are_named_once(paper: Assessment) -> None:
    assert "patients: 7 people judged" in printed(paper)
    assert "patients: 7 people judged" in Page(render(paper, "owner")).text


@pytest.mark.parametrize("width", [60, 80, 140])
def test_it_fits_any_terminal(paper: Assessment, width: int) -> None:
    assert max(map(len, printed(paper, width).splitlines())) <= width


def test_without_a_report_a_breach_is_followed_and_a_verdict_that_holds_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "tacit.yaml").write_text(
        PLAN + GAMMA % 0.5 + "  - gamma-privacy: {release: male, gamma: 0.5}\n", "utf-8"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    assert stages_of(assess(plan)) == {}
    assert list(stages_of(assess(plan, depth="terminal"))) == ["male, age26to28"]
    assert list(stages_of(assess(plan, depth="page"))) == ["male, age26to28", "male"]


def test_what_holds_says_how_many_tables_fit(assessed: Assess) -> None:
    text = flat(printed(assessed(PLAN + GAMMA % 0.8)))
    assert "holds 0.8-privacy" in text and "meets the checks of this plan" in text
    assert (
        "The largest share is 80 % (4/5); 45 tables fit; the smallest crowd has 1 person." in text
    )
    assert "after male" not in text


def test_several_people_above_gamma_are_a_table_and_the_rest_a_number() -> None:
    above = [
        {"person": f"P{number}", "value": "Flu", "after": Fraction(3, 5)} for number in range(20)
    ]
    text = printed(assessment_of("tacit.yaml", (gamma(above),)))
    assert re.search(r"name +has +share of the tables\n +P0 +Flu +60 % \(3/5\)", text)
    assert "P7" in text and "P8" not in text
    assert "and 12 more, see --json" in text


def test_more_people_than_a_verdict_names_are_counted() -> None:
    above = [
        {"person": [number, "B"], "value": None, "after": Fraction(3, 5)} for number in range(9)
    ]
    verdict = gamma(above, people=5000)
    assert crowds.left_out(verdict) == 4992
    assert crowds.above(verdict).rows[0] == ("0 B", "(missing)", "60 % (3/5)")


def test_somebody_who_is_in_no_view_at_first_is_unknown() -> None:
    found = crowds.course(course([None, "1/2"], ["4/5", "1/2"]), HALF, owner=False)
    assert found is not None
    assert [(one.release, one.percent, one.text, one.is_above) for one in found.steps] == [
        ("v1", "", "nothing known", False),
        ("v2", "80 %", "", True),
    ]


def test_what_was_not_counted_says_why() -> None:
    stages = course(["1/2"], ["4/5"])
    first = replace(stages.stages[0], largest={}, missing=TOO_LONG)
    found = crowds.course(replace(stages, stages=(first, stages.last)), HALF, owner=True)
    assert found is not None and found.steps[0].text == "not counted: it took too long"


def test_one_release_has_no_course() -> None:
    assert crowds.course(course(["4/5"]), HALF, owner=True) is None
    assert crowds.course(None, HALF, owner=True) is None


def test_the_smallest_crowds_come_first() -> None:
    sets = [["Ann", "Bob", "Cy", "Di", "Ed"], ["Flo"], ["Gus", "Hal"]]
    text = printed(assessment_of("tacit.yaml", (sind(sets, values=["Flu", None]),)))
    assert re.search(
        r"people +who\n +1 +Flo\n +2 +Gus and Hal\n +5 +Ann, Bob, Cy, Di and 1 more", text
    )
    assert "What they may have: Flu and (missing)." in text
    assert "The smallest of 3 crowds has 1 person." in text
    assert (
        "To make it hold: publish fewer of these releases, or give them coarser conditions." in text
    )


def test_the_crowds_of_the_paper(assessed: Assess) -> None:
    pytest.importorskip("ortools")
    found = assessed(PLAN + "  - k-sind: {releases: [male, age26to28], k: 2}\n")
    text = printed(found)
    assert re.search(
        r"people +who\n +1 +Donald\n +3 +Alan, Bob and Clark\n +3 +Ellen, Fen and Garcia", text
    )
    assert not [name for name in NAMES if name in printed(found, audience="shared")]
    assert stages_of(found) == {}


def test_of_many_crowds_a_few_are_shown() -> None:
    assert (
        crowds.smallest_crowds(sind([[number] for number in range(50)]), owner=True).caption
        == "the smallest of 50 crowds"
    )
    assert (
        len(crowds.smallest_crowds(sind([[number] for number in range(50)]), owner=True).rows) == 5
    )


def test_crowds_that_are_not_listed_are_shown_by_their_sizes() -> None:
    verdict = replace(sind([["a"]]), personal={})
    shown = crowds.smallest_crowds(verdict, owner=True)
    assert shown is not None and shown.rows == (("1", "1"),)
    assert (
        "the smallest crowd has 1 person"
        in printed(assessment_of("tacit.yaml", (verdict,))).lower()
    )
    assert Page(render(assessment_of("tacit.yaml", (verdict,)), "owner")).text


def test_a_table_that_cannot_be_divided_says_so() -> None:
    verdict = replace(sind([["a"]]), check="k-rsind", measured={"k": 0}, personal={})
    assert crowds.measured(verdict) == "no division into crowds"


def test_no_two_values_but_one_table() -> None:
    one = gamma([{"person": "x", "value": "SARS", "after": Fraction(1)}], tables=1)
    assert crowds.measured(one) == "the largest share is 100 %; 1 table fits"


def test_a_statistical_verdict_shows_its_bounds() -> None:
    verdict = replace(
        gamma([{"person": "x", "value": "SARS", "after": Decimal("0.61")}]),
        certainty="statistical",
        measured={
            "gamma": Decimal("0.61"),
            "smallest_crowd": 3,
            "epsilon": Fraction(1, 50),
            "theta": Fraction(19, 20),
            "draws": 12345,
        },
    )
    assert crowds.measured(verdict) == (
        "the largest share is at least 61 %; found with 95 % confidence by drawing 12,345 "
        "tables at random; the smallest crowd has 3 people"
    )
    holds = replace(verdict, status="holds", evidence=Certificate("beliefs"))
    assert crowds.measured(holds).startswith("the largest share is at most 61 %")
    assert (
        "at most 61 %",
        "largest share of tables with one value for a person",
    ) in crowds.figures(None, [holds])


def test_the_next_step_after_a_breach_is_to_restore(paper: Assessment) -> None:
    assert "tacit restore --plan tacit.yaml" in next_steps(paper, Path("tacit.yaml"), None)
    named = assessment_of("tacit.yaml", [replace(one, name="both") for one in paper])
    assert "tacit restore both --plan tacit.yaml" in next_steps(named, Path("tacit.yaml"), None)


def test_what_is_certain_cannot_be_restored() -> None:
    verdict = gamma([{"person": "x", "value": "SARS", "after": Fraction(1)}])
    found = assessment_of("tacit.yaml", (verdict,))
    assert not any("restore" in step for step in next_steps(found, Path("tacit.yaml"), None))
    assert "To make it hold: somebody's value is certain, and no further view changes that" in flat(
        printed(found)
    )
    assert "tacit restore" not in render(found, "owner")


def test_nothing_is_advised_where_nothing_is_breached() -> None:
    verdict = sind([["a", "b", "c"]])
    assert crowds.advice(verdict) == ""
    assert next_steps(assessment_of("tacit.yaml", (verdict,)), Path("tacit.yaml"), None) == [
        "tacit check tacit.yaml --report report.html"
    ]


# -- numbers ---------------------------------------------------------------------------------------


def test_huge_numbers_are_rounded_to_the_nearest_tenth() -> None:
    for number in (
        10**9,
        10**57,
        10**57 - 1,
        12 * 10**56,
        20**5000,
        3**40000,
        995 * 10**30,
        9949 * 10**30,
    ):
        mantissa, power = crowds.large(number).split(" x 10^")
        assert abs(Fraction(mantissa) * 10 ** int(power) - number) <= Fraction(10 ** int(power), 20)
        assert re.fullmatch(r"[1-9]\.\d", mantissa)


def test_a_number_of_tables_with_thousands_of_digits_breaks_nothing() -> None:
    pytest.importorskip("vl_convert")
    share = Fraction(20**5000 - 1, 20**5000)
    found = assessment_of(
        "tacit.yaml",
        (gamma([{"person": "x", "value": "SARS", "after": share}] * 3, tables=20**5000),),
    )
    assert "1.4 x 10^6505 tables fit" in flat(printed(found))
    assert "1.4 × 10⁶⁵⁰⁵ tables fit" in Page(render(found, "owner")).text
    assert "99 %" in printed(found) and "100 %" not in printed(found)


# -- nothing personal for others -------------------------------------------------------------------


def test_others_see_nobodys_name_key_or_value(paper: Assessment) -> None:
    pytest.importorskip("vl_convert")
    shown = [
        printed(paper, audience="shared"),
        json.dumps(paper.to_json("shared")),
        render(paper, "shared"),
    ]
    for text in shown:
        assert not [word for word in (*NAMES, *ILLNESSES) if re.search(rf"\b{word}\b", text)]
    assert "largest share of the tables for the most exposed person" in shown[0]
    assert "DO NOT RELEASE" in shown[0] and "No personal values" in shown[2]


def test_others_see_the_sizes_of_crowds_only() -> None:
    pytest.importorskip("vl_convert")
    found = assessment_of(
        "tacit.yaml", (sind([["zqAnn"], ["zqBob"], ["zqCy", "zqDi"]], values=["zqFlu"]),)
    )
    text = printed(found, audience="shared")
    assert re.search(r"people +crowds\n +1 +2\n +2 +1", text)
    for shown in (text, json.dumps(found.to_json("shared")), render(found, "shared")):
        assert "zq" not in shown
    assert "zqAnn" in render(found, "owner")


def test_a_chart_for_others_names_nobody() -> None:
    pytest.importorskip("vl_convert")
    stages = course(
        ["1/2", "1/2"], ["4/5", "2/5"], members={0: (("zqDonald",),), 1: (("zqAlan",),)}
    )
    drawn = beliefs_chart(stages, HALF, owner=False)
    assert (
        drawn is not None
        and "zq" not in f"{drawn.title}{drawn.note}{drawn.svg}"
        and "1 person" in drawn.svg
    )
    assert "zqDonald" in beliefs_chart(stages, HALF, owner=True).svg


# -- the page --------------------------------------------------------------------------------------


def test_the_page_has_the_story_the_charts_and_the_words(paper: Assessment) -> None:
    pytest.importorskip("vl_convert")
    page = Page(render(paper, "owner"))
    assert "What would these releases disclose?" in page.text
    for part in (
        "In 36 of the 45 tables that fit both views Donald has SARS.",
        "1 of 7 people is above 50 % after age26to28, nobody before",
        "In 80 % of the tables that fit Donald has SARS",
        "tables fit the releases 45",
        "fitting table",
        "share",
        "crowd",
        "output map",
        "all fitting tables are equally likely (cannot be checked)",
        "exact: decided in exact arithmetic",
        "tacit restore",
        "gamma = 0.5",
    ):
        assert part in page.text
    assert "quasi-identifiers" not in page.text
    assert "1 of 7 people is in both views" in page.text
    assert len(page.named("svg")) == len(page.named("figure")) == 3
    assert all(one["role"] == "img" and one["aria-label"] for one in page.named("svg"))


def test_microdata_and_a_view_are_judged_on_one_page(assessed: Assess) -> None:
    pytest.importorskip("vl_convert")
    plan = f"""\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    key: [name]
    identifiers: [name]
    quasi-identifiers: [sex, age]
    sensitive: [condition]
    hierarchies: {{sex: "*", age: {{ranges: [10]}}}}
    rows: {ROWS}
releases:
  hospital: {{table: patients, generalization: {{sex: 1, age: 1}}}}
  insurer:  {{query: "SELECT condition FROM patients WHERE sex = 'M' AND age < 26"}}
checks:
  - k-anonymity: {{release: hospital, k: 2}}
  - gamma-privacy: {{releases: [hospital, insurer], gamma: 0.4}}
  - gamma-privacy: {{release: hospital, gamma: 0.4, name: alone}}
"""
    found = assessed(plan)
    text = printed(found)
    assert "patients: 7 rows, 7 people" in text and "judged" not in text
    assert re.search(r"after hospital +█{8}░{12} +43 %", text)
    page = Page(render(found, "owner")).text
    assert "hospital and insurer together DO NOT RELEASE" in page
    assert "All 7 people are above 40 % after hospital" in page.replace("\xa0", " ")
    assert "in the smallest crowd (anonymity)" not in page


def test_values_and_names_cannot_break_out_of_the_page() -> None:
    pytest.importorskip("vl_convert")
    stages = replace(
        course(
            ["1/2"], ["4/5"], members={0: ((EVIL,),)}, shares={0: (Fraction(4, 5), Fraction(1, 5))}
        ),
        values=(EVIL, EVIL + "2"),
        sensitive=EVIL,
    )
    stages = replace(stages, stages=tuple(replace(one, release=EVIL) for one in stages.stages))
    above = [{"person": EVIL, "value": EVIL, "after": Fraction(4, 5)}] * 2
    verdicts = (gamma(above), sind([[EVIL], [EVIL, EVIL]], values=[EVIL]))
    page = Page(render(assessment_of("tacit.yaml", verdicts, stages={"a, b": stages}), "owner"))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert len(page.named("figure")) == 3


def test_without_stages_the_rest_of_the_page_is_there(paper: Assessment) -> None:
    page = Page(render(drawn_as(paper, None), "owner"))
    assert not page.named("figure") and "Donald has SARS" in page.text


def test_beliefs_that_could_not_be_counted_are_not_drawn_and_the_page_says_so(
    paper: Assessment,
) -> None:
    stages = course(["1/2"], [None], missing=TOO_LONG)
    before = next(one.picture for one in paper.answered)
    assert isinstance(before, OverlapPicture)
    page = Page(render(drawn_as(paper, replace(before, stages=stages)), "owner"))
    assert (
        len(page.named("figure")) == 1
        and "beliefs, release by release, are not drawn: it took too long." in page.text
    )
    assert "after v1" not in printed(drawn_as(paper, OverlapPicture(stages)))


def test_the_same_answers_make_the_same_page(paper: Assessment) -> None:
    pytest.importorskip("vl_convert")
    assert render(paper, "owner") == render(paper, "owner")


# -- charts ----------------------------------------------------------------------------------------


def drawn(chart: Any) -> str:
    assert chart is not None
    return flat(f"{chart.title} {chart.note}").replace("\xa0", " ")


@pytest.fixture(autouse=True)
def no_drawing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a chart says does not need the drawing."""
    if request.node.name.startswith("test_chart"):
        monkeypatch.setattr(belief_charts, "picture", lambda spec, title, told: told)
        monkeypatch.setattr(share_charts, "picture", lambda spec, title, told: told)
        monkeypatch.setattr(share_charts, "bar_chart", lambda lines, whole, title: "")


def test_chart_titles_say_since_when() -> None:
    assert drawn(
        beliefs_chart(course(["1/2", "2/5"], ["4/5", "2/5"]), HALF, owner=True)
    ).startswith("1 of 2 people is above 50 % after v2, nobody before")
    assert drawn(
        beliefs_chart(course(["3/5", "2/5"], ["4/5", "3/5"]), HALF, owner=True)
    ).startswith("All 2 people are above 50 % after v2, 1 after v1")
    assert drawn(beliefs_chart(course(["4/5"]), HALF, owner=True)).startswith(
        "The only person is above 50 % after v1"
    )
    assert drawn(beliefs_chart(course(["1/3"], ["1/2"]), HALF, owner=True)).startswith(
        "Nobody is above 50 %: the largest share is 50 %"
    )
    assert drawn(beliefs_chart(course(["1/3"]), Fraction(2, 3), owner=True)).startswith(
        "Nobody is above 2/3: the largest share is 34 %"
    )


def test_chart_of_what_was_not_counted_says_so() -> None:
    stages = course(["1/3", None], ["1/3", None], missing=TOO_LARGE)
    text = drawn(beliefs_chart(stages, HALF, owner=True))
    assert text.startswith("Nobody who was counted is above 50 %")
    assert text.endswith(
        "1 person is not shown after v1: too many tables fit. 1 person is not shown after v2: too "
        "many tables fit."
    )
    assert beliefs_chart(course([None], [None], missing=TOO_LONG), HALF, owner=True) is None


def test_chart_with_many_ways_has_bands() -> None:
    column = [Fraction(number, 100) for number in range(100)]
    stages = course(column, column, sizes=(2,) * 100)
    text = drawn(beliefs_chart(stages, HALF, owner=False))
    assert "all people (light), the middle half of them (dark), the median (line)" in text
    assert text.startswith("98 of 200 people are above 50 %")
    assert belief_charts.quantiles(stages, 0, (0, 0.25, 0.5, 0.75, 1)) == [
        0.0,
        0.24,
        0.49,
        0.74,
        0.99,
    ]


def test_chart_gives_people_who_go_the_same_way_one_line() -> None:
    paths = belief_charts.paths_of(
        course(["1/2", "1/2", None], ["4/5", "2/5", "2/5"], sizes=(1, 3, 3)), HALF
    )
    assert [(one.people, one.is_exposed) for one in paths] == [(1, True), (3, False), (3, False)]


def test_chart_labels_do_not_stand_on_each_other() -> None:
    labels = [
        belief_charts.Label(Fraction(one, 100), str(one), "") for one in (100, 99, 98, 3, 2, 1, 0)
    ]
    places = [
        one["y"] for one in belief_charts.spread(labels, belief_charts.Scale(Fraction(1), 2, 200))
    ]
    assert all(b - a >= belief_charts.GAP for a, b in pairwise(places))
    assert (
        places[0] >= belief_charts.TOP and places[-1] <= belief_charts.TOP + belief_charts.HIGH + 4
    )


def test_chart_of_shares_is_about_those_above_gamma() -> None:
    stages = course(
        ["4/5", "1/3"],
        members={0: (("Donald",),)},
        shares={0: (Fraction(4, 5), Fraction(1, 5)), 1: (Fraction(1, 3), Fraction(2, 3))},
    )
    found = shares_chart(stages, HALF)
    assert drawn(found).startswith("In 80 % of the tables that fit Donald has SARS")
    assert found is not None and found.svg == "Donald; SARS: 80 %; Flu: 20 %"
    assert shares_chart(course(["1/3"], shares={0: (Fraction(1, 3), Fraction(2, 3))}), HALF) is None


def test_chart_of_shares_keeps_room_for_those_who_are_not_certain() -> None:
    beliefs = ["1", "1", "1", "1", "4/5"]
    shares = {class_: (Fraction(one), 1 - Fraction(one)) for class_, one in enumerate(beliefs)}
    stages = course(beliefs, shares=shares)
    assert share_charts.most_exposed(stages, HALF) == [0, 1, 2, 4]
    assert drawn(shares_chart(stages, HALF)).startswith(
        "In every table that fits 1 person has SARS"
    )


def test_chart_of_crowds_says_how_many_are_in_small_ones() -> None:
    assert drawn(crowds_chart({1: 2, 5: 1}, 3, "3-SIND")).startswith(
        "2 of 7 people are in a crowd smaller than 3"
    )
    assert drawn(crowds_chart({5: 2}, 3, "3-SIND")).startswith(
        "Everybody is in a crowd of 5 or more"
    )
    assert crowds_chart({}, 3, "3-SIND") is None


def test_chart_of_crowds_of_many_sizes_has_ranges_with_k_at_an_edge() -> None:
    bars = share_charts.size_bars(dict.fromkeys(range(1, 200), 1), 7)
    assert any(bar.low == 7 for bar in bars)
    assert sum(bar.people for bar in bars) == sum(range(1, 200))


def test_a_share_beside_its_limit_has_digits_enough() -> None:
    assert percent(Fraction(499_999, 1_000_000), beside=HALF) == "49.9999 %"
    assert percent(Fraction(500_001, 1_000_000), beside=HALF) == "51 %"
    assert percent(Fraction(1, 10**30)) == "under 0.00001 %"
    assert percent(Fraction(0)) == "0 %"
