"""Verdicts about queries in the terminal and on the page:
words first, then the rows that matter as small tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pages import EVIL, Page
from report.answered import assessment_of
from report.printing import printed
from tacit.checking.assess import Assessment
from tacit.model.verdict import Verdict, Witness
from tacit.report import query_evidence
from tacit.report.html.page import render

Assess = Callable[[str], Assessment]

PLAN = """\
version: 1
tables:
  patients: {columns: {pid: integer, name: text}, key: [pid]}
  stays: {columns: {pid: integer, diagnosis: text, ward: text}, nullable: []}
  R: {columns: [a, b], key: [[a], [b]]}
  N: {columns: [x, y], nullable: []}
secrets:
  cancer: "SELECT DISTINCT p.name FROM patients p JOIN stays s ON p.pid = s.pid WHERE s.diagnosis = 'cancer'"
  names: "SELECT DISTINCT name FROM patients"
  one: "S() :- R(1, 1)"
  c: "SELECT DISTINCT 1 FROM N a, N b, N c WHERE a.y = b.y AND c.x = 'c'"
releases:
  flu-wards: {query: "SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'"}
  wards: {query: "SELECT DISTINCT ward FROM stays"}
  free: {query: "SELECT 'free' AS word WHERE NOT EXISTS (SELECT 1 FROM stays WHERE diagnosis = 'cancer')"}
  two: {query: "V() :- R(2, 2)"}
  d: {query: "SELECT DISTINCT 1 FROM N WHERE x = 'd'"}
checks:
"""  # noqa: E501
CHECKS = {
    "holds": "  - perfect-privacy: {secret: cancer, release: flu-wards}\n",
    "holds of names": "  - perfect-privacy: {secret: names, release: flu-wards}\n",
    "breached": "  - perfect-privacy: {secret: cancer, release: wards}\n",
    "together": "  - perfect-privacy: {secret: cancer, release: [wards, flu-wards]}\n",
    "gone": "  - perfect-privacy: {secret: cancer, release: free}\n",
    "two keys": "  - perfect-privacy: {secret: one, release: two}\n",
    "pairs": "  - perfect-privacy: {secret: c, release: d}\n",
}


@pytest.fixture
def asked(assessed: Assess) -> Callable[..., Assessment]:
    """The answers to some of the checks."""
    return lambda *names: assessed(PLAN + "".join(CHECKS[name] for name in names))


def test_a_breach_shows_the_row_and_what_it_does_to_both_answers_side_by_side(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("breached"))
    assert text.index("changes the answer of cancer") < text.index("secret cancer")
    assert (
        """\
             secret cancer                       view wards
             patients                            stays
                pid      name                       pid      diagnosis  ward
                _fresh1  _fresh3                 +  _fresh1  cancer     _fresh2
             stays                               answer without +   answer with +
                pid      diagnosis  ward            no rows         +  _fresh2
             +  _fresh1  cancer     _fresh2
             answer without +   answer with +
                no rows         +  _fresh3

             To make it hold: add the condition stays.diagnosis <> 'cancer'.
"""
        in text
    )
    assert text.count("add the condition") == 1
    assert text.count("stand for any\nvalues that occur in neither query.") == 1


def test_where_it_is_narrow_the_tables_stand_below_each_other(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("breached"), width=70)
    assert re.search(r"no rows +\+  _fresh3\n\n {13}view wards\n {13}stays\n", text)
    assert max(map(len, text.splitlines())) <= 70


def test_every_line_says_about_which_secret_it_is(asked: Callable[..., Assessment]) -> None:
    text = printed(asked("holds", "holds of names"))
    assert text.count("\nflu-wards ") == 1
    assert "holds      perfect privacy of cancer   no row can matter" in text
    assert "holds      perfect privacy of names   no row can matter" in text
    assert "meets the checks of this plan" in text


def test_views_that_are_seen_together_point_at_the_one_that_tells(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("breached", "together"))
    assert "wards and flu-wards together" in text
    assert text.count("secret cancer  ") == 1
    assert "wards does so alone, see above." in text


def test_views_together_show_their_own_evidence_where_nobody_else_did(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("together"))
    assert (
        "wards and flu-wards together" in text and "view wards" in text and "see above" not in text
    )


def test_an_answer_that_loses_a_row_says_which(asked: Callable[..., Assessment]) -> None:
    verdict = asked("gone")[0]
    found = query_evidence.disclosure(verdict)
    assert verdict.status == "breached" and found is not None
    view = found.sides[1]
    assert view.without is not None and view.with_ is not None
    assert (view.without.rows, view.without.marks) == ((("free",),), ("-",))
    assert (view.with_.rows, view.with_.marks) == ((("no rows",),), ("",))
    assert "; - what it takes away." in printed(assessment_of("p", (verdict,)))
    assert ("tr", {"class": "gone"}) in Page(render(assessment_of("p", (verdict,)), "owner")).tags


def test_rows_that_answers_share_are_not_marked() -> None:
    executed = {"without": [("a",), ("b",)], "with": [("a",), ("a",), ("b",)]}
    critical = {"relation": "R", "columns": ["x"], "values": ["a"]}
    side = query_evidence.side("view", "v", [], critical, executed)
    assert side.with_ is not None and side.without is not None
    assert side.with_.marks == ("+", "", "") and side.without.marks == ("", "")


def test_with_several_keys_the_rows_between_are_shown(asked: Callable[..., Assessment]) -> None:
    text = printed(asked("two keys"))
    between = text[text.index("rows of which each excludes the next") :]
    assert re.search(r"a +b\n +1 +1\n +1 +2\n +2 +2\n", between)
    assert "1 1 1 2 2 2" in Page(render(asked("two keys"), "owner")).text


def test_what_holds_says_why_pair_by_pair(asked: Callable[..., Assessment]) -> None:
    assessment = asked("pairs")
    assert "N(x, y) and N('d', y): c does without that row by x -> 'c'" in printed(assessment)
    text = Page(render(assessment, "shared")).text
    assert "pair of the secret of the view does without by 1 N(x, y) N('d', y) c x -> 'c'" in text


def test_many_pairs_are_cut_short(asked: Callable[..., Assessment]) -> None:
    verdict = asked("pairs")[0]
    certificate = verdict.certificate
    assert certificate is not None
    many = replace(
        verdict,
        evidence=replace(
            certificate, facts={**certificate.facts, "pairs": certificate.facts["pairs"] * 20}
        ),
    )
    assert "and 36 more, see --json" in printed(assessment_of("p", (many,)))
    assert "and 28 more" in Page(render(assessment_of("p", (many,)), "owner")).text


def test_an_undecided_verdict_gives_its_code(assessed: Assess) -> None:
    rule = 'constraints: ["stays(p, d, w) -> patients(p, n)"]\n'
    assessment = assessed(PLAN.replace("checks:", f"{rule}checks:") + CHECKS["breached"])
    assert assessment[0].status == "undecided"
    assert "Reason (constraints):" in printed(assessment)
    assert "Undecided (constraints):" in Page(render(assessment, "shared")).text


def test_many_views_do_not_make_a_long_list_of_adversaries(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("holds", "breached", "together", "two keys", "pairs"))
    assert "and 2 more like these" in text
    assert len(re.findall("anyone who sees", text)) == 3


def test_the_page_shows_tables_beliefs_and_the_change(asked: Callable[..., Assessment]) -> None:
    raw = render(asked("breached"), "owner")
    page = Page(raw)
    assert (
        "secret cancer patients pid name value 1 value 3 stays pid diagnosis ward + "
        "value 1 cancer value 2"
    ) in page.text
    assert "answer without + no rows answer with + + value 3" in page.text
    assert "before 25 % (1/4) after 50 % (1/2)" in page.text
    assert (
        "Total among these rows: some answer of the view fixes the whole answer of the secret."
        in page.text
    )
    assert "Partial among these rows: beliefs move" in Page(render(asked("two keys"), "owner")).text
    assert 'style="width: 25.00%"' in raw and 'style="width: 50.00%"' in raw
    assert "To make it hold: add the condition stays.diagnosis <> 'cancer'." in page.text
    assert page.text.count("add the condition") == 1
    assert "Query classes of both: acyclic" in page.text and "O(n r)" in page.text


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_evidence_from_no_rows_is_for_everybody(
    asked: Callable[..., Assessment], audience: Any
) -> None:
    assessment = asked("breached")
    text = Page(render(assessment, audience)).text
    assert (
        "Nothing here is from your rows: it was decided from the tables' description and "
        "the queries."
    ) in text
    assert "Owner's view" not in text and "Do not announce" not in text
    assert "changes the answer of cancer" in text
    assert "To make it hold" in printed(assessment, audience=audience)


def test_the_glossary_has_the_words_of_this_page_only(
    asked: Callable[..., Assessment], hospital: Assessment
) -> None:
    words = Page(render(asked("holds"), "owner")).text
    assert "row that matters" in words and "quasi-identifiers" not in words
    both = assessment_of("p", (*hospital, *asked("holds")))
    page = Page(render(both, "owner")).text
    assert "row that matters" in page and "quasi-identifiers" in page
    assert "Owner's view: contains personal values." in page


def test_a_page_about_queries_promises_no_more_than_it_found(
    asked: Callable[..., Assessment],
) -> None:
    words = set(re.findall(r"[a-z]+", Page(render(asked(*CHECKS), "owner")).text.lower()))
    assert not words & {"safe", "anonymous", "compliant", "guaranteed"}


def test_constants_of_queries_cannot_break_out_of_the_page(
    asked: Callable[..., Assessment],
) -> None:
    verdict = asked("breached")[0]
    witness = verdict.witness
    assert witness is not None
    row = {"relation": EVIL, "columns": [EVIL], "values": [EVIL]}
    facts = {
        **witness.facts,
        "critical_tuple": row,
        "instance_view": [row],
        "view": EVIL,
        "claim": [EVIL],
        "changes": [EVIL],
        "executed": {
            "secret": {"without": [[EVIL]], "with": []},
            "view": {"without": [], "with": [[EVIL, None]]},
        },
    }
    evil: Verdict = replace(
        verdict, evidence=Witness("tuple", facts), subject={"secret": EVIL, "release": EVIL}
    )
    page = Page(render(assessment_of("p", (evil,)), "owner"))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert "NULL" in page.text
    assert "alert(1)" in printed(assessment_of("p", (evil,)))


WIDE = """\
version: 1
tables:
  orders: {columns: [okey, customer, status, price, day, priority, clerk, comment], key: [okey], nullable: []}
secrets:
  final: "SELECT DISTINCT customer FROM orders WHERE status = 'F'"
releases:
  priorities: {query: "SELECT DISTINCT priority FROM orders"}
checks:
  - perfect-privacy: {secret: final, release: priorities}
"""  # noqa: E501


def test_of_wide_tables_only_the_values_are_shown_that_something_depends_on(
    assessed: Assess,
) -> None:
    assessment = assessed(WIDE)
    text = printed(assessment)
    assert query_evidence.because(assessment[0]).startswith(
        "rows orders(okey: '_fresh1', customer: '_fresh2', status: 'F', ...) and orders(okey"
    )
    assert re.search(r"okey +customer +status +\.\.\. +okey +priority +\.\.\.\n", text)
    assert "Columns that are left out (...) have such values too." in " ".join(text.split())
    page = Page(render(assessment, "shared")).text
    assert "okey customer status ... + value 1 value 2 F ..." in page and "comment" not in page
    assert len(assessment.to_json()["verdicts"][0]["witness"]["critical_tuple"]["columns"]) == 8


def test_square_brackets_are_no_markup(asked: Callable[..., Assessment]) -> None:
    verdict = asked("breached")[0]
    assert verdict.witness is not None
    row = {"relation": "R", "columns": ["x"], "values": ["[bold]no[/bold]"]}
    told = replace(
        verdict, evidence=Witness("tuple", {**verdict.witness.facts, "critical_tuple": row})
    )
    assert "[bold]no[/bold]" in printed(assessment_of("p", (told,)))
