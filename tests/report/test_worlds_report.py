"""Verdicts about possible worlds in the terminal and on the page:
a sentence, two databases side by side, two secrets and their odds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from pages import EVIL, Page
from report.answered import assessment_of
from report.printing import printed
from tacit.checking.assess import Assessment
from tacit.model.verdict import Certificate, Verdict, Witness
from tacit.report import world_evidence
from tacit.report.charts.world_chart import SecretShare, counts_chart, secrets_chart
from tacit.report.html.page import render

Assess = Callable[[str], Assessment]

PLAN = """\
version: 1
tables:
  stays:
    columns: [name, ward, diagnosis]
    key: [name]
    nullable: []
    domains: {name: [Ann, Bob, Cy], ward: [w1, w2], diagnosis: [cancer, flu, well]}
    rows: [[Ann, w1, cancer], [Bob, w1, flu], [Cy, w2, well]]
  beds: {columns: [ward, bed], domains: {ward: [w1, w2], bed: [b1, b2]}, nullable: [], rows: [[w1, b1]]}
secrets:
  cancer: "S(n) :- stays(n, w, 'cancer')"
  anybody: "S() :- stays(n, w, 'cancer')"
  who-has: "S(n) :- stays(n, w, $d)"
releases:
  names: {query: "SELECT DISTINCT name, ward FROM stays"}
  wards: {query: "SELECT DISTINCT ward, diagnosis FROM stays"}
  only: {query: "SELECT DISTINCT ward FROM stays"}
  kinds: {query: "SELECT DISTINCT diagnosis FROM stays", to: [doctors]}
  beds: {query: "SELECT DISTINCT bed FROM beds"}
published: [names]
checks:
"""  # noqa: E501
CHECKS = {
    "g": "  - g-safety: {secret: cancer, release: wards}\n",
    "e": "  - e-safety: {secret: cancer, release: wards}\n",
    "yes": "  - e-safety: {secret: anybody, release: wards}\n",
    "any": "  - g-safety: {secret: who-has, release: kinds}\n",
    "derived": "  - g-safety: {secret: cancer, release: only}\n",
    "separate": "  - e-safety: {secret: cancer, release: beds}\n",
    "domain": "  - g-safety: {secret: cancer, release: wards, over: domain}\n",
    "odds over domain": "  - e-safety: {secret: cancer, release: wards, over: domain}\n",
    "any over domain": "  - g-safety: {secret: who-has, release: wards, over: domain}\n",
}
NAMES = ("Ann", "Bob", "Cy")


@pytest.fixture
def asked(assessed: Assess) -> Callable[..., Assessment]:
    """The answers to some of the checks."""
    return lambda *names: assessed(PLAN + "".join(CHECKS[name] for name in names))


def verdict_of(kind: str, facts: dict[str, Any], personal: dict[str, Any], **more: Any) -> Verdict:
    """A breach that no solver chose."""
    return Verdict(
        check="g-safety" if kind == "world" else "e-safety",
        label="g-safety" if kind == "world" else "e-safety",
        subject={"secret": "cancer", "release": "wards", "given": ["names"], "over": "instance"},
        status="breached",
        because="wards rules out a possible database",
        evidence=Witness(kind, facts, personal),
        against="anyone who has seen names and knows the constraints",
        required={"over": "instance"},
        **{"story": "Ann is told.", "measured": {"worlds_equal": False}, **more},
    )


def row(*values: Any, relation: str = "stays") -> dict[str, Any]:
    return {
        "relation": relation,
        "columns": ["name", "ward", "diagnosis"][: len(values)],
        "values": list(values),
    }


WELL = {
    "world": [row("Ann", "w1", "well"), row("Bob", "w1", "flu"), row("w1", relation="beds")],
    "added": [row("Ann", "w1", "well")],
    "removed": [row("Ann", "w1", "cancer")],
    "secret": [["Ann"]],
    "secret_in_world": [],
}


def test_a_breach_shows_the_data_and_the_database_that_is_ruled_out_side_by_side() -> None:
    text = printed(assessment_of("p", (verdict_of("world", {"rows": 3}, WELL),)))
    assert (
        """\
             Ann is told.

             the data                    was possible, is ruled out by wards
             stays                       stays
                name  ward  diagnosis       name  ward  diagnosis
             -  Ann   w1    cancer       +  Ann   w1    well
                Bob   w1    flu             Bob   w1    flu
             answer of cancer            answer of cancer
             -  Ann                         no rows
             The same in both: beds (1 row).
"""
        in text
    )
    assert "- marks rows that only the database on the left has" in text


def test_where_it_is_narrow_the_databases_stand_below_each_other(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("g", "e", "any", "derived", "domain", "odds over domain"), width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert re.search(
        r"the data\n +stays\n(.*\n)+? +was possible, is ruled out by\n? *wards\n +stays\n", text
    )


def test_the_verdict_of_a_check_is_shown_with_what_was_counted(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("g"))
    assert "BREACHED   g-safety of cancer   wards rules out a possible database" in text
    assert "owner's view: contains personal values" in text
    assert "the data" in text and "was possible, is ruled out by wards" in text
    # Beside the three stays there are 16 sets of beds, which nothing speaks of.
    assert re.search(r"Before -> after: [\d,]+ -> [\d,]+ databases, 8 -> 2 secrets\.", text)


def test_two_secrets_are_shown_with_their_numbers_and_shares(
    asked: Callable[..., Assessment],
) -> None:
    verdict = asked("e")[0]
    found = world_evidence.evidence(verdict, True)
    assert found is not None and found.odds is not None
    assert [cell.strip() for cell in found.odds.secrets.head] == [
        "answer of cancer",
        "before",
        "after",
    ]
    assert found.odds.secrets.marks == ("", "-") and found.odds.secrets.rows[0][0] == "{Ann}"
    assert found.odds.before == Fraction(2, 3) and found.odds.after == 1
    assert [rows.caption for rows in found.more] == ["no longer possible in the answer of cancer"]
    text = printed(asked("e"))
    assert "Before, Cy could be in the answer of cancer. Now nobody believes that." in text
    assert (
        "before █████████████░░░░░░░ 66 %" in text and "after  ████████████████████ 100 %" in text
    )


def test_a_secret_that_was_not_counted_is_possible_or_impossible() -> None:
    secrets = [{"rows": [["Ann"]]}, {"rows": [["Bob"]], "after": 0}]
    found = world_evidence.evidence(verdict_of("secrets", {}, {"secrets": secrets}), True)
    assert found is not None and found.odds is not None and found.odds.before is None
    assert [[cell.strip() for cell in cells] for cells in found.odds.secrets.rows] == [
        ["{Ann}", "possible", "possible"],
        ["{Bob}", "possible", "impossible"],
    ]


def test_yes_and_no_are_said_as_such(asked: Callable[..., Assessment]) -> None:
    found = world_evidence.evidence(asked("yes")[0], True)
    assert found is not None and found.odds is not None and not found.more
    assert [cells[0] for cells in found.odds.secrets.rows] == ["yes", "no"]
    shown = world_evidence.evidence(verdict_of("world", {}, {**WELL, "secret": [[]]}), True)
    assert shown is not None and [one.answer.rows for one in shown.databases if one.answer] == [
        (("yes",),),
        (("no",),),
    ]


def test_the_title_names_the_secret_its_value_and_the_client(
    asked: Callable[..., Assessment],
) -> None:
    text = printed(asked("any"))
    assert "g-safety of who-has for $d = cancer against doctors   kinds rules" in text
    shared = printed(asked("any"), audience="shared")
    assert "g-safety of who-has against doctors   kinds rules out" in shared and "$d" not in shared


@pytest.mark.parametrize("width", [60, 100])
def test_what_holds_says_why(asked: Callable[..., Assessment], width: int) -> None:
    text = " ".join(printed(asked("derived", "separate"), width).split())
    assert "only says nothing that does not follow from what is published" in text.replace(
        " exact", ""
    )
    assert "only(ward) :- names(name, ward)." in text and text.count(":- names") == 1
    page = Page(render(asked("derived", "separate"), "shared")).text
    assert "How it follows from what is published: only(ward) :- names(name, ward)" in page
    assert "e-safety of cancer" in page


def test_over_a_domain_the_database_is_made_up_and_may_be_passed_on(
    asked: Callable[..., Assessment],
) -> None:
    assessment = asked("domain", "odds over domain")
    for audience in ("owner", "shared"):
        text = printed(assessment, audience=audience)
        assert (
            "g-safety of cancer over the domain" in text
            and "a database   " in text
            and "was possible, is ruled out by wards" in text
        )
        assert "databases by their secret" in text and "owner's view" not in text
        assert ("If the database were" in text) == (audience == "owner")
    page = Page(render(assessment, "owner"))
    assert (
        "Nothing here is from your rows" in page.text
        and "a database stays name ward diagnosis" in page.text
    )


def test_a_value_of_the_data_makes_it_personal_again(asked: Callable[..., Assessment]) -> None:
    assessment = asked("any over domain")
    assert assessment[0].witness is not None and "parameters" in assessment[0].witness.personal
    assert "a database" in printed(assessment) and "owner's view" in printed(assessment)
    assert "is ruled out by" not in printed(assessment, audience="shared")
    assert "Nothing here is from your rows" not in render(assessment, "owner")


def test_nobody_is_named_to_others(asked: Callable[..., Assessment]) -> None:
    assessment = asked("g", "e", "yes", "any")
    told = printed(assessment, audience="shared") + Page(render(assessment, "shared")).text
    assert not [name for name in NAMES if re.search(rf"\b{name}\b", told)]
    assert "no personal values shown" in told and "8 -> 2 secrets" in told
    owner = Page(render(assessment, "owner")).text
    assert "Owner's view: contains personal values." in owner and "Ann" in owner


def test_the_page_shows_both_databases_the_odds_and_a_chart(
    asked: Callable[..., Assessment],
) -> None:
    page = Page(render(asked("g", "e"), "owner"))
    assert (
        "the data stays name ward diagnosis" in page.text
        and "was possible, is ruled out by wards" in page.text
    )
    assert (
        "Of the databases that have one of these two secrets, the first one's share: "
        "before 66 % after 100 %"
    ) in page.text
    assert len(page.named("svg")) == 2 and not page.named("script")
    assert "2 of 8 secrets stay" in page.text
    assert "possible database" in page.text and "quasi-identifiers" not in page.text
    assert {"added", "gone"} <= {str(one.get("class")) for one in page.named("tr")}


def test_of_large_tables_the_rows_that_differ_are_shown_and_a_few_more() -> None:
    same = [row(f"p{number:03}", "w1", "flu") for number in range(500)]
    big = {**WELL, "world": [*same, *WELL["world"]]}
    found = world_evidence.evidence(verdict_of("world", {}, big), True)
    assert found is not None
    left, right = (one.tables[0] for one in found.databases)
    assert right.marks.count("+") == 1 and left.marks.count("-") == 1
    assert len(right.rows) == 5 and right.rows[-1] == ("and 498 more", "", "")
    many = {
        **WELL,
        "world": same,
        "added": same,
        "removed": [],
        "secret_in_world": [[f"p{number:03}"] for number in range(500)],
    }
    shown = world_evidence.evidence(verdict_of("world", {}, many), True)
    assert (
        shown is not None and len(shown.databases[1].tables[0].rows) == world_evidence.MOST_ROWS + 1
    )
    assert shown.databases[0].tables[0].rows == (("no rows", "", ""),)
    assert "and 490 more" in printed(assessment_of("p", (verdict_of("world", {}, many),)))


def test_where_only_answers_are_known_there_is_one_database() -> None:
    personal = {"world": WELL["world"], "secret_in_world": [["_fresh1"]]}
    found = world_evidence.evidence(verdict_of("world", {}, personal), True)
    assert found is not None and len(found.databases) == 1 and len(found.databases[0].tables) == 2
    assert "was possible, is ruled out by wards" in printed(
        assessment_of("p", (verdict_of("world", {}, personal),))
    )


def test_another_plausible_secret_is_shown_where_the_world_has_the_same() -> None:
    personal = {**WELL, "secret_in_world": [["Ann"]], "other_secret": [["Bob"]]}
    text = printed(assessment_of("p", (verdict_of("world", {}, personal),)))
    assert "answer of cancer in another possible database\n             +  Bob\n" in text


def test_new_values_are_explained_in_the_legend() -> None:
    personal = {
        **WELL,
        "world": [row("_fresh1", "w1", "flu")],
        "added": [row("_fresh1", "w1", "flu")],
        "removed": [],
    }
    assert "_fresh1, _fresh2, ... stand for any other value." in " ".join(
        printed(assessment_of("p", (verdict_of("world", {}, personal),))).split()
    )


def test_views_together_are_named_by_what_the_adversary_sees() -> None:
    verdict = replace(
        verdict_of("world", {}, WELL),
        subject={"secret": "cancer", "releases": ["wards", "two"], "given": [], "over": "instance"},
    )
    assert "was possible, is ruled out by what is new" in printed(assessment_of("p", (verdict,)))
    assert "wards and two together" in printed(assessment_of("p", (verdict,)))
    told = replace(verdict, evidence=Witness("world", {"new": ["two"]}, WELL))
    assert "was possible, is ruled out by two" in printed(assessment_of("p", (told,)))


def test_values_cannot_break_out_of_the_page_or_the_terminal() -> None:
    evil = row(EVIL, "[bold]no[/bold]", None)
    verdict = verdict_of(
        "world",
        {},
        {
            **WELL,
            "world": [evil],
            "added": [evil],
            "secret_in_world": [[EVIL]],
            "parameters": {"d": EVIL},
        },
        story=EVIL,
    )
    odds = verdict_of(
        "secrets",
        {},
        {
            "secrets": [
                {"rows": [[EVIL]], "before": 1, "after": 1},
                {"rows": [], "before": 1, "after": 0},
            ],
            "no_longer_possible": [[EVIL]],
        },
    )
    page = Page(render(assessment_of("p", (verdict, odds)), "owner"))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    text = printed(assessment_of("p", (verdict, odds)))
    assert "[bold]no[/bold]" in text and "NULL" in text


def test_numbers_that_fit_in_no_float_are_drawn() -> None:
    huge = 10**400
    chart = counts_chart([("database", huge, huge - 1), ("secret", 3, 1)])
    assert chart is not None and "1 of 3 secrets stays" in chart.title
    assert counts_chart([]) is None
    drawn = secrets_chart([SecretShare("{a}", huge, 1), SecretShare("{b}", huge, 1)], 2 * huge, 2)
    assert drawn.title == "No secret's share changes"
    assert (
        secrets_chart([SecretShare("{a}", 1, 1), SecretShare("{b}", 1, 0)], 2, 1).title
        == "The shares of 2 secrets change"
    )


def test_a_holds_verdict_without_numbers_is_still_told() -> None:
    verdict = Verdict(
        check="g-safety",
        label="g-safety",
        subject={"secret": "s", "release": "v"},
        status="holds",
        because="nothing new is published",
        evidence=Certificate("one-secret"),
        vacuous=True,
    )
    assert "g-safety of s   nothing new is published" in printed(assessment_of("p", (verdict,)))
    assert (
        "nothing to protect or nothing released"
        in Page(render(assessment_of("p", (verdict,)), "shared")).text
    )


def test_a_page_about_worlds_promises_no_more_than_it_found(
    asked: Callable[..., Assessment],
) -> None:
    words = set(re.findall(r"[a-z-]+", Page(render(asked("g", "derived"), "owner")).text.lower()))
    assert not words & {"safe", "anonymous", "compliant", "guaranteed"}
