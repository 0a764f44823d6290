"""`tacit explain CHECK --worlds` and `--templates` as a user runs them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pages import Page
from tacit import cli

PLAN = """\
version: 1
tables:
  stays:
    columns: [name, ward, diagnosis]
    key: [name]
    nullable: []
    domains: {name: [Ann, Bob, Cy], ward: [w1, w2], diagnosis: [cancer, flu, well]}
    rows: [[Ann, w1, cancer], [Bob, w1, flu], [Cy, w2, well]]
secrets:
  cancer: "S(n) :- stays(n, w, 'cancer')"
  who-has: "S(n) :- stays(n, w, $d)"
releases:
  names: {query: "SELECT DISTINCT name, ward FROM stays"}
  wards: {query: "SELECT DISTINCT ward, diagnosis FROM stays"}
  kinds: {query: "SELECT DISTINCT diagnosis FROM stays", to: [doctors]}
  only: {query: "SELECT DISTINCT ward FROM stays"}
published: [names]
checks:
  - g-safety: {secret: cancer, release: wards}
  - e-safety: {secret: cancer, release: wards, name: odds}
  - e-safety: {secret: who-has, release: kinds, name: any}
  - g-safety: {secret: cancer, release: wards, over: domain, name: everywhere}
  - g-safety: {secret: cancer, release: only, given: [], name: free}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`tacit` with some words: its exit status, what it printed, and what it said."""
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    monkeypatch.chdir(tmp_path)

    def command(*words: str, command: str = "explain") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tacit", command, *words])
        status = cli.run()
        said = capsys.readouterr()
        return status, "\n".join(line.rstrip() for line in said.out.splitlines()), said.err

    return command


def test_few_databases_are_all_listed_with_the_data_first(run: Run) -> None:
    status, text, _ = run("g-safety", "--worlds")
    assert status == 0
    assert (
        text.startswith("g-safety of cancer ") and "owner's view: contains personal values" in text
    )
    assert "Databases  27 before, 2 after.\nSecrets    8 before, 2 after.\n" in text
    assert "All possible databases before" in text
    assert re.search(
        r"\n +1  stays +\{Ann\} +the data\n +2  stays +\{Bob\} +\+stays\(Ann,w1,flu\)", text
    )
    assert text.count("ruled out") == 25


def test_secrets_have_their_numbers_and_bars(run: Run) -> None:
    _, text, _ = run("odds", "--worlds")
    assert re.search(r"\{Ann\} +4  █+░+ 14 % +1  █+ 50 % +the data\n", text)
    assert re.search(r"the empty answer +8  █+░+ 30 % +0  ░+ 0 %\n", text)


def test_of_many_databases_some_are_drawn(run: Run) -> None:
    status, text, _ = run("free", "--worlds", "--sample", "5", "--json")
    found: dict[str, Any] = json.loads(text)
    assert status == 0 and found["check"] == "free"
    # Each of three people is absent or has one of six rows.
    assert (
        found["worlds_before"] == "343" and found["uniform"] is True and found["complete"] is False
    )
    assert len(found["listed"]) == 5
    _, text, _ = run("free", "--worlds", "--sample", "5")
    assert "5 of 343 possible databases before, drawn with the same chance" in text


def test_the_json_has_worlds_secrets_and_the_case(run: Run) -> None:
    status, text, said = run("g-safety", "--worlds", "--json")
    found: dict[str, Any] = json.loads(text)
    assert status == 0 and said == ""
    assert (
        found["worlds_before"],
        found["worlds_after"],
        found["secrets_before"],
        found["secrets_after"],
    ) == ("27", "2", "8", "2")
    assert found["complete"] is True and found["uniform"] is True and found["templates"] is None
    first = found["listed"][0]
    assert first["after"] is True and first["secret"] == [["Ann"]]
    assert {
        "relation": "stays",
        "columns": ["name", "ward", "diagnosis"],
        "values": ["Ann", "w1", "cancer"],
    } in first["world"]
    assert {"rows": [["Ann"]], "before": "4", "after": "1"} in found["secrets"]
    assert sum(one["after"] for one in found["listed"]) == 2


def test_several_cases_show_the_first_that_is_breached_or_the_one_asked_for(run: Run) -> None:
    _, text, _ = run("any", "--worlds")
    assert (
        "Case 1 of 3 (doctors, $d = cancer), the first that is breached. Another one: --case N.\n"
        in text
    )
    _, text, _ = run("any", "--worlds", "--case", "3")
    assert "Case 3 of 3 (doctors, $d = well). Another one: --case N.\n" in text
    assert json.loads(run("any", "--worlds", "--case", "2", "--json")[1])["case"]["parameters"] == {
        "d": "flu"
    }


def test_templates_explain_and_do_not_decide(run: Run) -> None:
    status, text, _ = run("g-safety", "--templates")
    assert status == 0 and "possible databases before" not in text
    assert "14 templates before\n" in text and "2 templates after\n" in text
    assert (
        "  stays('Ann', 'w1', 'flu'), stays('Bob', 'w1', 'cancer'), stays('Cy', 'w2', 'well')\n"
        in text
    )
    assert "They explain and do not decide" in text
    found = json.loads(run("g-safety", "--templates", "--json")[1])
    assert (
        len(found["templates"]["before"]["found"]) == 14
        and found["templates"]["after"]["complete"] is True
    )
    assert "listed" not in found


def test_others_get_numbers_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, text, _ = run(
        "any", "--worlds", "--templates", "--audience", "shared", "--report", "page.html"
    )
    told = text + Page(Path("page.html").read_text("utf-8")).text
    assert not re.search(r"Ann|Bob|Cy|cancer|flu|stays\(", told)
    assert "Databases  27 before, 6 after." in text and "is for the owner" in told
    monkeypatch.setenv("CI", "1")
    found = json.loads(run("any", "--worlds", "--templates", "--json")[1])
    assert (found["listed"], found["secrets"], found["templates"], found["worlds_before"]) == (
        [],
        [],
        None,
        "27",
    )
    assert "parameters" not in found["case"]


def test_the_page_has_charts_tables_and_no_script(run: Run) -> None:
    status, _, _ = run("any", "--worlds", "--templates", "--report", "page.html")
    page = Page(Path("page.html").read_text("utf-8"))
    assert status == 0 and len(page.named("svg")) == 2 and not page.named("script")
    assert (
        "6 of 27 databases stay; 3 of 8 secrets stay" in page.text
        and "The shares of 8 secrets change" in page.text
    )
    assert "All possible databases before" in page.text and "templates before" in page.text
    assert "Owner's view: contains personal values." in page.text and "ruled out" in page.text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("everywhere", "--worlds"),
            "the possible databases are those of one database, and everywhere asks over: domain.",
        ),
        (
            ("e-safety", "--worlds"),
            (
                "'e-safety' may mean 2 checks: odds (e-safety of cancer after wards); any "
                "(e-safety of who-has after kinds)."
            ),
        ),
        (("wards", "--worlds"), "'wards' may mean 3 checks"),
        (("od", "--worlds"), "the plan has no check 'od' of view safety. Did you mean 'odds'?"),
        (
            ("g-safety", "--worlds", "--case", "2"),
            "there is no case 2. There is one case: leave --case out.",
        ),
        (("any", "--worlds", "--case", "9"), "There are 3: --case 1 to --case 3."),
        (("odds",), "'odds' is a check. Ask: tacit explain odds --worlds, or --templates."),
        (
            ("cancer", "--sample", "3"),
            "--sample, --case and --report are for possible databases. Add --worlds",
        ),
        (("g-safety", "--worlds", "--sample", "0"), "0 is not in the range 1<=x<=1000"),
    ],
)
def test_what_is_wrong_is_said_without_a_traceback(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    status, text, said = run(*words)
    assert (status, text) == (2, "")
    assert told in said and "Traceback" not in said


def test_a_plan_without_such_checks_says_so(run: Run) -> None:
    Path("tacit.yaml").write_text(PLAN[: PLAN.index("checks:")], "utf-8")
    assert "the plan has no check of view safety" in run("g-safety", "--worlds")[2]


def test_too_many_possible_rows_are_an_error_that_says_what_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.families.worlds.possible_tuples.MOST_TUPLES", 3)
    Path("tacit.yaml").write_text(
        PLAN.replace("Cy", "Dee"), "utf-8"
    )  # another question: groundings are kept
    status, _, said = run("g-safety", "--worlds")
    assert status == 2 and "too many to look at" in said and "domains:" in said


def test_an_order_comparison_has_no_templates(run: Run) -> None:
    Path("tacit.yaml").write_text(
        PLAN.replace("S(n) :- stays(n, w, 'cancer')", "S(n) :- stays(n, w, d), d < 'd'"), "utf-8"
    )
    status, _, said = run("g-safety", "--templates")
    assert status == 2 and "order comparison" in said and "tacit.yaml" in said


def test_after_a_breach_the_next_step_is_to_look_at_the_worlds(run: Run) -> None:
    status, text, _ = run("tacit.yaml", command="check")
    assert status == 1 and "tacit explain g-safety --worlds --plan tacit.yaml" in " ".join(
        text.split()
    )


def test_open_columns_are_said_to_be_open(run: Run) -> None:
    Path("tacit.yaml").write_text(PLAN.replace(", diagnosis: [cancer, flu, well]", ""), "utf-8")
    status, text, _ = run("g-safety", "--worlds", "--sample", "2")
    assert status == 0
    assert "Note: stays.diagnosis may hold any value; looked at are those that are seen" in text
