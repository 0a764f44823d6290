"""Queries as pictures: nothing overlaps, what is marked is what the evidence is about, and the
picture stands by itself.
"""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import pytest

from pages import EVIL, Page
from report.answered import assessment_of
from tacit.checking.assess import Assessment
from tacit.families.queries.query import (
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Term,
    Variable,
)
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.report.charts.portrait_chart import Chart
from tacit.report.charts.query_graphs import MOST_SUBGOALS, QueryDrawing, chart, graphs
from tacit.report.charts.query_layout import Box, Join, layout, meeting_places
from tacit.report.charts.query_marks import critical
from tacit.report.html.page import render
from tacit.report.tellers.queries import TELLER

Assess = Callable[[str], Assessment]
TABLES = {
    "R": Relation("R", ("a", "b")),
    "S": Relation("S", ("a", "b", "c")),
    "T": Relation("T", ("key",)),
    "W": Relation("W", tuple(f"column{number}" for number in range(11))),
}
PLAN = """\
version: 1
tables:
  patients: {columns: {pid: integer, name: text}, key: [pid]}
  stays: {columns: {pid: integer, diagnosis: text, ward: text, day: integer}, nullable: []}
  N: {columns: [x, y], nullable: []}
secrets:
  cancer: "SELECT DISTINCT p.name FROM patients p JOIN stays s ON p.pid = s.pid WHERE s.diagnosis = 'cancer'"
  c: "SELECT DISTINCT 1 FROM N a, N b, N c WHERE a.y = b.y AND c.x = 'c'"
releases:
  wards: {query: "SELECT DISTINCT ward FROM stays WHERE day < 9"}
  either: {query: "SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu' UNION SELECT DISTINCT ward FROM stays WHERE diagnosis = 'cancer'"}
  late: {query: "SELECT DISTINCT a.ward FROM stays a, stays b WHERE a.pid = b.pid AND a.day < 3 AND b.day > 7"}
  free: {query: "SELECT 'free' AS word WHERE NOT EXISTS (SELECT 1 FROM stays WHERE diagnosis = 'cancer')"}
  flu: {query: "SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'"}
  d: {query: "SELECT DISTINCT 1 FROM N WHERE x = 'd'"}
checks:
"""  # noqa: E501


def asked(secret: str, *views: str, more: str = "") -> str:
    """A plan with one check."""
    return f"{PLAN}  - perfect-privacy: {{secret: {secret}, release: [{', '.join(views)}]{more}}}\n"


def drawn_in(assessment: Assessment) -> list[Chart]:
    """The pictures of the only verdict."""
    return list(TELLER.graphs(assessment.answered[0]))


def marked(one: Chart) -> list[str]:
    """The subgoals that a picture says are marked."""
    label = ET.fromstring(one.svg).attrib["aria-label"]
    return [
        part.partition(", marked ")[0] for part in re.split("; | or ", label) if ", marked " in part
    ]


def random_query(rng: random.Random, most: int = 12) -> Conjunctive:
    """Some subgoals over the tables, joined at random."""
    variables = [Variable(f"v{number}") for number in range(rng.randint(1, 14))]

    def term() -> Term:
        return Constant(rng.choice(["x", 1])) if rng.random() < 0.2 else rng.choice(variables)

    atoms = [
        Atom(name, tuple(term() for _ in TABLES[name].columns))
        for name in rng.choices(sorted(TABLES), k=rng.randint(1, most))
    ]
    used = [
        one
        for one in dict.fromkeys(term for atom in atoms for term in atom.terms)
        if isinstance(one, Variable)
    ]
    head = tuple(rng.sample(used, k=min(len(used), rng.randint(0, 3))))
    compared = (
        [Comparison(rng.choice(used), "!=", Constant("x"))] if used and rng.random() < 0.3 else []
    )
    return Conjunctive(head, tuple(atoms), tuple(compared))


# -- where things stand ----------------------------------------------------------------------------


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def points(join: Join) -> list[tuple[float, float]]:
    """Places along a curve, as it is drawn."""
    (x, y), (right, below) = join.start, join.end
    reach = 40 if join.back else (right - x) // 2
    far = right + reach if join.back else right - reach
    found = []
    for step in range(1, 20):
        t = step / 20
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        found.append(
            (
                sum(
                    weight * at
                    for weight, at in zip(weights, (x, x + reach, far, right), strict=True)
                ),
                sum(weight * at for weight, at in zip(weights, (y, y, below, below), strict=True)),
            )
        )
    return found


@pytest.mark.parametrize("seed", range(4))
def test_no_box_overlaps_another_and_no_line_runs_across_a_box(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        part = random_query(rng)
        found = layout(part, TABLES)
        assert len(found.boxes) == len(part.atoms)
        assert not any(overlap(one, other) for one, other in combinations(found.boxes, 2))
        assert all(
            box.x >= 0
            and box.x + box.width <= found.width
            and box.y >= 0
            and box.y + box.height <= found.height
            for box in found.boxes
        )
        for x, y in (point for join in found.joins for point in points(join)):
            assert 0 <= x <= found.width
            assert not any(
                box.x < x < box.x + box.width and box.y < y < box.y + box.height
                for box in found.boxes
            )


def test_every_variable_that_stands_in_several_places_is_one_line_through_all_of_them() -> None:
    rng = random.Random(9)
    for _ in range(300):
        part = random_query(rng)
        spots = meeting_places(part, range(len(part.atoms)))
        assert len(layout(part, TABLES).joins) == sum(len(places) - 1 for places in spots.values())


def test_a_join_ends_at_the_lines_of_its_columns() -> None:
    x, y = Variable("x"), Variable("y")
    found = layout(
        Conjunctive((), (Atom("R", (x, y)), Atom("S", (Constant("k"), Constant("k"), y)))), TABLES
    )
    [join] = found.joins
    one, other = found.boxes
    assert (
        join.start == (one.x + one.width, one.at(1))
        and join.end == (other.x, other.at(2))
        and not join.back
    )


def test_of_wide_tables_only_the_columns_are_drawn_of_which_something_is_asked() -> None:
    terms: list[Term] = [Variable(f"v{number}") for number in range(11)]
    terms[4] = Constant("F")
    [box] = layout(Conjunctive((terms[7],), (Atom("W", tuple(terms)),)), TABLES).boxes
    assert [(cell.column, cell.value, cell.shown) for cell in box.cells] == [
        ("column4", "'F'", False),
        ("column7", "v7", True),
    ]
    assert box.left_out == 9
    [everything] = layout(Conjunctive(tuple(terms), (Atom("W", tuple(terms)),)), TABLES).boxes
    assert (
        len(everything.cells) == 9
        and everything.left_out == 2
        and "column4" in [cell.column for cell in everything.cells]
    )


# -- the picture -----------------------------------------------------------------------------------


def test_a_picture_is_xml_by_itself_without_script_or_address_and_the_same_every_time() -> None:
    rng = random.Random(3)
    for _ in range(60):
        query = QueryDrawing(
            "view", "v", tuple(random_query(rng, 4) for _ in range(rng.randint(1, 3))), TABLES
        )
        one = chart(query)
        root = ET.fromstring(one.svg)
        assert (
            root.tag == "svg"
            and root.attrib["role"] == "img"
            and root.attrib["aria-label"].startswith("view v: ")
        )
        assert not re.search(r"https?:|url\(|<script|@import|var\(", one.svg)
        assert one == chart(query)
        width, height = int(root.attrib["width"]), int(root.attrib["height"])
        assert all(
            float(text.attrib["x"]) < width and float(text.attrib["y"]) < height
            for text in root.iter("text")
        )


def test_names_and_constants_cannot_break_out_of_the_picture() -> None:
    evil = {EVIL: Relation(EVIL, (EVIL, "b"))}
    part = Conjunctive(
        (Variable(EVIL),),
        (Atom(EVIL, (Variable(EVIL), Constant(EVIL))),),
        (Comparison(Variable(EVIL), "!=", Constant(EVIL)),),
    )
    root = ET.fromstring(chart(QueryDrawing("secret", EVIL, (part,), evil)).svg)
    assert not {element.tag for element in root.iter()} - {
        "svg",
        "title",
        "g",
        "rect",
        "text",
        "circle",
        "path",
    }


def test_a_large_query_is_shortened_to_what_is_near_the_marks_and_says_so() -> None:
    names = [Variable(f"v{number}") for number in range(21)]
    chain = Conjunctive(
        (names[0],), tuple(Atom("R", (names[at], names[at + 1])) for at in range(20))
    )
    one = chart(QueryDrawing("view", "v", (chain,), TABLES, marks={(0, 10): "+"}))
    assert (
        f"{MOST_SUBGOALS} of its 20 boxes are drawn: the marked ones and those nearest to them"
        in one.note
    )
    label = ET.fromstring(one.svg).attrib["aria-label"]
    assert (
        "R(v10, v11), marked +" in label
        and "R(v0, v1)" not in label
        and "and 8 more boxes" in label
    )
    assert (
        len(
            [
                rect
                for rect in ET.fromstring(one.svg).iter("rect")
                if "graph-badge" not in rect.attrib["class"]
            ]
        )
        == MOST_SUBGOALS
    )


def test_a_query_without_tables_has_a_picture_too() -> None:
    part = Conjunctive((Constant(1),), ())
    for parts in ((part,), ()):
        one = chart(QueryDrawing("view", "v", parts, TABLES))
        assert one.title == "view v: it depends on no table" and ET.fromstring(one.svg) is not None


# -- what is marked --------------------------------------------------------------------------------


def some_way(part: Conjunctive, place: int, rows: list[tuple[str, tuple[Any, ...]]]) -> bool:
    """By brute force: is there a choice of a row for each subgoal, the first row for this one,
    that satisfies the query?
    """
    for chosen in product(rows, repeat=len(part.atoms)):
        values: dict[Any, Any] = {}
        fits = chosen[place] == rows[0] and all(
            atom.relation == name for atom, (name, _) in zip(part.atoms, chosen, strict=True)
        )
        for atom, (_, row) in zip(part.atoms, chosen, strict=True) if fits else ():
            for term, value in zip(atom.terms, row, strict=True):
                fits = fits and (
                    term.value == value
                    if isinstance(term, Constant)
                    else values.setdefault(term, value) == value
                )
        if fits and all(
            values[one.left] != one.right.value
            for one in part.comparisons
            if isinstance(one.right, Constant)
        ):
            return True
    return False


def test_marked_are_the_subgoals_that_the_row_is_in_some_way_to_satisfy_the_query() -> None:
    rng = random.Random(5)
    tables, met = {name: TABLES[name] for name in "RT"}, 0
    for _ in range(600):
        variables = [Variable(name) for name in "xyz"]
        atoms = tuple(
            Atom(name, tuple(rng.choice([*variables, Constant("a")]) for _ in tables[name].columns))
            for name in rng.choices("RT", k=rng.randint(1, 3))
        )
        used = [term for atom in atoms for term in atom.terms if isinstance(term, Variable)]
        part = Conjunctive(
            (),
            atoms,
            (Comparison(rng.choice(used), "!=", Constant("b")),)
            if used and rng.random() < 0.4
            else (),
        )
        rows = [
            (name, tuple(rng.choice("ab") for _ in tables[name].columns))
            for name in rng.choices("RT", k=rng.randint(1, 4))
        ]
        row, *instance = [{"relation": name, "values": list(values)} for name, values in rows]
        expected = {(0, place) for place in range(len(atoms)) if some_way(part, place, rows)}
        if expected:
            met += 1
            assert set(critical([part], tables, row, instance)) == expected
    assert met > 100


def test_a_breach_marks_the_same_subgoals_in_both_queries(assessed: Assess) -> None:
    secret, view = drawn_in(assessed(asked("cancer", "wards")))
    assert marked(secret) == ["stays(pid, 'cancer', ward, day)"] and len(marked(view)) == 1
    assert secret.title == "secret cancer: the marked box can be the row that matters"
    assert ET.fromstring(view.svg).find(".//rect[@class='graph-matters']") is not None
    assert "+" in [text.text for text in ET.fromstring(view.svg).iter("text")]
    assert "Boxes are the tables" in secret.note and "Boxes" not in view.note


def test_comparisons_tell_subgoals_of_one_table_apart(assessed: Assess) -> None:
    assessment = assessed(asked("cancer", "late"))
    _, view = drawn_in(assessment)
    day = assessment[0].witness.facts["critical_tuple"]["values"][3]  # type: ignore[union-attr]
    assert len(marked(view)) == 1 and (day < 3) == ("ward" in marked(view)[0].split(", "))
    assert "where day < 3" in view.svg.replace("&lt;", "<")


def test_of_a_union_the_part_is_marked_that_can_be_the_row(assessed: Assess) -> None:
    _, view = drawn_in(assessed(asked("cancer", "either")))
    assert marked(view) == ["stays(pid, 'cancer', ward, day)"]
    assert "Its answer has the rows of 2 queries" in view.note


def test_what_is_not_read_exactly_says_so(assessed: Assess) -> None:
    _, view = drawn_in(assessed(asked("cancer", "free")))
    assert (
        marked(view) == ["stays(pid, 'cancer', ward, day)"]
        and "not read exactly" in view.note
        and "rows that it depends on" in view.svg
    )


def test_pairs_of_subgoals_have_the_same_number_in_both_queries(assessed: Assess) -> None:
    secret, view = drawn_in(assessed(asked("c", "d")))
    assert secret.title == "secret c: 2 of 3 boxes could be a row of the other query"
    numbers = [
        [
            text.text
            for text in ET.fromstring(one.svg).iter("text")
            if text.attrib["class"] == "graph-on"
        ]
        for one in (secret, view)
    ]
    assert numbers == [["1", "2"], ["1, 2"]]
    assert "stroke-dasharray" in secret.svg  # not by colour alone


def test_of_several_views_the_one_is_drawn_that_tells(assessed: Assess) -> None:
    assert [
        one.title.partition(":")[0] for one in drawn_in(assessed(asked("cancer", "flu", "wards")))
    ] == ["secret cancer", "view wards"]
    both = drawn_in(assessed(asked("c", "flu", "d")))
    assert [one.title.partition(":")[0] for one in both] == ["secret c", "view d"]


def test_with_independent_attributes_they_are_drawn_apart(assessed: Assess) -> None:
    plan = PLAN.replace("nullable: []}\n  N:", "key: [pid], nullable: []}\n  N:")
    [secret, _] = drawn_in(
        assessed(
            plan
            + (
                "  - perfect-privacy: {secret: cancer, release: either, model: "
                "attribute-independent}\n"
            )
        )
    )
    assert any("stays_diagnosis" in one for one in marked(secret))


def test_a_witness_of_other_tables_marks_nothing() -> None:
    read = QueryUnderstanding(
        "v",
        "",
        "datalog",
        (),
        (),
        Query("v", (Conjunctive((), (Atom("R", (Variable("x"), Variable("y"))),)),)),
    )
    row = {"relation": "gone", "columns": ["a"], "values": [1]}
    secret, view = graphs(
        QueryQuestion(read, (read,), TABLES),
        {"critical_tuple": row, "instance_secret": [], "instance_view": [row], "view": "v"},
    )
    assert marked(secret) == marked(view) == []


# -- on the page -----------------------------------------------------------------------------------


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_the_report_shows_both_queries_to_everybody(assessed: Assess, audience: Any) -> None:
    raw = render(assessed(asked("cancer", "wards")), audience)
    page = Page(raw)
    assert [one for one in page.named("figure") if one.get("class") == "graph"] == [
        {"class": "graph"}
    ] * 2
    assert "secret cancer: the marked box can be the row that matters" in page.text
    assert raw.index('class="graphs"') < raw.index('class="sides"')
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:", raw)


def test_a_report_without_the_questions_has_no_pictures(assessed: Assess) -> None:
    found = assessed(asked("cancer", "wards"))
    assert (
        "query-graph"
        not in render(assessment_of("p", found.verdicts), "owner").partition("</style>")[2]
    )
