"""Headlines and numbers say no more than what was found, and the same in terminal and page."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.model.numbers import percent
from tacit.model.verdict import Certificate, Reason, Verdict, Witness
from tacit.report.terminal.verdict_lines import conclusion

NINE = """\
version: 1
tables:
  t:
    columns: [name, age, condition]
    rows: [[a, 21, Flu], [b, 22, Flu], [c, 23, Flu], [d, 24, Flu], [e, 25, C1], [f, 26, C2], [g, 27, C3], [h, 28, C4], [i, 29, C5]]
    key: [name]
    identifiers: [name]
    quasi-identifiers: [age]
    sensitive: [condition]
    hierarchies: {age: "*"}
releases: {all: {table: t, generalization: {age: 1}}}
checks:
  - l-diversity: {release: all, kind: distinct, l: 2}
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_belief_that_stayed_does_not_look_as_if_it_moved(tacit: Any, folder: Path) -> None:
    Path("tacit.yaml").write_text(NINE, "utf-8")
    ran = tacit("check", "--report", "r.html")
    assert "Still learned: a has Flu, 45 % as before; nobody above 45 %." in ran.out
    page = Path("r.html").read_text("utf-8")
    assert (
        "can be believed with more than 45 %" in page.replace("&#39;", "'")
        and "more than 44 %" not in page
    )


VIEWS = """\
version: 1
tables:
  t:
    columns: [name, sex, age, COLUMN]
    rows: [[a, M, 21, x], [b, F, 22, y], [c, F, 23, z]]
    key: [name]
    identifiers: [name]
    sensitive: [COLUMN]
releases:
  women: {query: "SELECT COLUMN FROM t WHERE sex = 'F'"}
  one: {query: "SELECT COLUMN FROM t WHERE CONDITION"}
checks:
  - gamma-privacy: {releases: [women, one], gamma: 0.5}
"""


def about_views(column: str = "condition", condition: str = "sex = 'M'") -> str:
    return VIEWS.replace("COLUMN", column).replace("CONDITION", condition)


def test_one_table_fits(tacit: Any, folder: Path) -> None:
    Path("tacit.yaml").write_text(about_views(condition="age <= 22"), "utf-8")
    assert "In the only table that fits" in " ".join(tacit("check").out.split())


@pytest.mark.parametrize(
    ("column", "said"),
    [("condition", "has a value"), ("cp", "has a value of cp"), ("job", "works as a value")],
)
def test_a_share_is_measured_in_words_for_every_column(
    tacit: Any, folder: Path, column: str, said: str
) -> None:
    Path("tacit.yaml").write_text(about_views(column), "utf-8")
    assert (
        tacit("check", "--json").json["verdicts"][0]["measure"]
        == f"the share of fitting tables in which a person {said}"
    )


def test_a_condition_on_another_type_is_found_in_its_release(tacit: Any, folder: Path) -> None:
    Path("tacit.yaml").write_text(about_views(condition="sex = 1"), "utf-8")
    ran = tacit("check")
    assert ran.status in (2, 4) and "tacit.yaml:11:16: DuckDB could not answer" in ran.err
    assert "text stands in quotes, as in sex = '1'" in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize(
    "share",
    [Fraction(4, 9), Fraction(991, 1000), Fraction(9999, 10000), Fraction(1, 10**6), Fraction(1)],
)
def test_a_bound_is_never_understated(share: Fraction) -> None:
    assert Fraction(percent(share).removesuffix(" %")) >= share * 100


def verdict(status: str, *releases: str) -> Verdict:
    subject = {"release": releases[0]} if len(releases) == 1 else {"releases": list(releases)}
    evidence = {
        "holds": Certificate("proof", {}),
        "breached": Witness("attack", {}),
        "undecided": Reason("time", "no time"),
    }[status]
    return Verdict(
        check="k-sind",
        label="2-SIND",
        subject=subject,
        status=status,
        because="so",
        evidence=evidence,
    )


@pytest.mark.parametrize(
    ("own", "every", "said"),
    [
        (["copy"], [], "meets the checks of this plan"),
        (["copy"], [("breached", "other")], "meets the checks of this plan"),
        (["copy"], [("holds", "copy", "insurer")], "meets the checks of this plan"),
        (
            ["copy"],
            [("breached", "copy", "insurer")],
            "meets its own checks, not together with insurer",
        ),
        (
            ["copy"],
            [("undecided", "copy", "insurer")],
            "meets its own checks, not decided together with insurer",
        ),
        (
            ["copy"],
            [("undecided", "copy", "a"), ("breached", "b", "copy")],
            "meets its own checks, not together with b",
        ),
        (
            ["copy"],
            [("breached", "copy", "a", "b", "c")],
            "meets its own checks, not together with others",
        ),
        (["a", "b"], [("breached", "a", "b", "c")], "meet their own checks, not together with c"),
    ],
)
def test_a_headline_counts_what_is_judged_together(
    own: list[str], every: list[tuple[str, ...]], said: str
) -> None:
    mine = verdict("holds", *own)
    assert conclusion([mine], [mine, *(verdict(*one) for one in every)]).plain == said
