"""The form for synthetic releases on the page Start, without a browser:
from the form to the plan and back, and errors at their fields.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("nicegui")

from tacit.plan.edit.editing import rewritten
from tacit.plan.edit.wishes.release_wishes import RemoveRelease, SetSynthetic
from tacit.plan.edit.wishes.table_wishes import SetDomain
from tacit.plan.read.load import load_plan
from tacit.workbench import drafts
from tacit.workbench.bench import Bench
from tacit.workbench.drafts import PlanDraft
from tacit.workbench.pages.start.synthetic import columns_of
from tacit.workbench.pages.start.synthetic_fields import (
    EMPTY,
    Fields,
    doubt,
    fields_of,
    in_words,
    keys_of,
    refused,
    wishes_of,
)

PLAN = """\
version: 1
tables:
  commutes: {file: commutes.csv}  # who works where
"""
RICH = """\
version: 1
tables:
  commutes: {file: commutes.csv, columns: [workplace, home, jobs]}
releases:
  near:
    table: commutes
    to: [city]
    synthetic:
      group: workplace       # public
      value: home
      count: jobs
      epsilon: ln(1000)
      delta: 1e-5            # one in a hundred thousand
      guarantee: pdp
      domain:
        file: districts.csv  # of the city
        value: district
        groups: places.csv
        within: 30
      outside: drop
      prior: people.csv
      shrink: {miles: {2: 1, 5: 0.5, 10: "1/5"}, beyond: 0.05}
      accept: 40
  again: {table: commutes, synthetic: {group: workplace, value: home, count: jobs, epsilon: 1, delta: 0, domain: districts.csv, coarsen: districts.csv}}
checks:
  - probabilistic-dp: {release: near}
  - differential-privacy: {releases: [near, again], epsilon: 9, delta: 1e-4}
"""  # noqa: E501
COMMUTES = (
    "workplace,home,jobs\n"
    "Harbour,Harbour,120\n"
    "Harbour,Old Town,310\n"
    "Station,Station,150\n"
    "Station,Harbour,33\n"
)
DISTRICTS = (
    "district,latitude,longitude\n"
    "Harbour,51.452,-2.602\n"
    "Old Town,51.454,-2.591\n"
    "Station,51.449,-2.580\n"
    "Upton,51.540,-2.418\n"
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "commutes.csv").write_text(COMMUTES)
    (tmp_path / "districts.csv").write_text(DISTRICTS)
    (tmp_path / "tacit.yaml").write_text(PLAN)
    return Bench(tmp_path / "tacit.yaml", lambda text: None)


def form(**more: str) -> Fields:
    filled = {
        "name": "homes",
        "table": "commutes",
        "group": "workplace",
        "value": "home",
        "count": "jobs",
        "epsilon": "2",
        "delta": "1e-5",
        "file": "districts.csv",
    }
    return {**EMPTY, **filled, **{key.replace("_", "-"): one for key, one in more.items()}}


def wrong(
    bench: Bench, text: str = PLAN, was: str | None = None, **more: str
) -> dict[str, list[str]]:
    """What the form is told, by field; no message may speak of a line that nobody sees."""
    found = refused(PlanDraft(text, text), bench.book(), bench, form(**more), was)
    assert not [one for problems in found.values() for one in problems if one.mark]
    return {field: [one.message for one in problems] for field, problems in found.items()}


def changed(text: str, was: str, **more: str) -> str:
    """The text after some fields of a release were changed in its form."""
    draft = PlanDraft(text, text)
    fields = fields_of(draft, was)
    assert fields is not None
    draft.wish(*wishes_of(draft, {**fields, **more}, was))
    return draft.text


def test_the_form_becomes_a_plan_that_the_commands_read(
    bench: Bench, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("flint")
    from tacit.cli.exit_status import run

    book = bench.book()
    draft = drafts.draft_of(book)
    assert draft is not None and refused(draft, book, bench, form(), None) == {}
    draft.wish(*wishes_of(draft, form(), None))
    drafts.save(draft, book)
    assert draft.text.startswith(PLAN)  # comments and all
    assert (
        "    synthetic: {group: workplace, value: home, count: jobs, epsilon: 2, delta: "
        "0.00001, domain: districts.csv}"
    ) in draft.text
    assert [one.kind for one in load_plan(book.path).checks] == ["differential-privacy"]
    monkeypatch.chdir(book.folder)
    for words in (["check"], ["synthesize", "homes", "-o", "homes.csv", "--workers", "1"]):
        monkeypatch.setattr(sys, "argv", ["tacit", *words])
        assert run() == 0 and "meets the checks of this plan" in capsys.readouterr().out
    assert (book.folder / "homes.csv").read_text().startswith("workplace,home,jobs")


def test_a_list_of_values_is_the_domain_of_the_column(bench: Bench) -> None:
    draft = PlanDraft(PLAN, PLAN)
    fields = form(domain="list", values="Harbour\n\n Old Town \nStation\n007\n")
    assert refused(draft, bench.book(), bench, fields, None) == {}
    draft.wish(*wishes_of(draft, fields, None))
    assert (
        'domains: {home: [Harbour, "Old Town", Station, "007"]}}  # who works where' in draft.text
    )
    opened = fields_of(draft, "homes")
    assert opened is not None and (opened["domain"], opened["values"]) == (
        "list",
        "Harbour\nOld Town\nStation\n007",
    )
    assert rewritten(draft.text, *wishes_of(draft, opened, "homes")) == draft.text


@pytest.mark.parametrize("name", ["near", "again"])
def test_a_release_opens_in_the_form_and_stays_as_it_is_written(name: str) -> None:
    draft = PlanDraft(RICH, RICH)
    fields = fields_of(draft, name)
    assert fields is not None and fields["name"] == name
    assert rewritten(RICH, *wishes_of(draft, fields, name)) == RICH


def test_what_is_changed_in_the_form_leaves_the_rest_of_the_text() -> None:
    assert changed(RICH, "near", epsilon="4.6") == RICH.replace("epsilon: ln(1000)", "epsilon: 4.6")
    assert changed(RICH, "near", within="12") == RICH.replace("within: 30", "within: 12")
    assert changed(RICH, "near", within="") == RICH.replace("        within: 30\n", "")
    assert changed(RICH, "near", accept="") == RICH.replace("      accept: 40\n", "")
    assert changed(RICH, "near", outside="error") == RICH.replace("outside: drop", "outside: error")
    assert changed(
        RICH, "again", guarantee="pdp", mechanism="geometric", delta="1e-6"
    ) == RICH.replace(
        "delta: 0, domain: districts.csv, coarsen: districts.csv",
        "delta: 0.000001, domain: districts.csv, coarsen: districts.csv, guarantee: pdp, "
        "mechanism: geometric",
    )


def test_another_file_has_other_columns() -> None:
    text = changed(RICH, "near", file="towns.csv")
    assert (
        "file: towns.csv      # of the city" in text
        and "value: district" not in text
        and "groups: places.csv" in text
        and "within: 30" in text
    )


def test_a_release_is_renamed_everywhere_and_removed_everywhere() -> None:
    text = changed(RICH, "near", name="nearby")
    assert (
        "near:" not in text
        and "probabilistic-dp: {release: nearby}" in text
        and "releases: [nearby, again]" in text
    )
    gone = rewritten(RICH, RemoveRelease("near"))
    assert "near" not in gone and "  again: {table" in gone and "releases: [again]" in gone


@pytest.mark.parametrize(
    "text",
    [
        (
            "releases: {x: {table: t, synthetic: {group: a, value: b, epsilon: 1, delta: 0, "
            "domian: f.csv}}}"
        ),
        (
            "releases: {x: {table: t, synthetic: {group: a, value: b, epsilon: 1, delta: 0, "
            "domain: [a, b]}}}"
        ),
        (
            "releases: {x: {table: t, synthetic: {group: a, value: b, epsilon: 1, delta: 0, "
            "shrink: {miles: 5}}}}"
        ),
        "releases: {x: {table: t, synthetic: 5}}",
        "releases: {x: {table: t}}",
        "releases: [x]",
        "releases: [",
    ],
)
def test_what_the_form_has_no_fields_for_is_left_to_the_text(text: str) -> None:
    assert fields_of(PlanDraft(text, None), "x") is None


def test_errors_stand_at_their_fields_in_the_words_of_the_plan(bench: Bench) -> None:
    assert wrong(bench) == {}
    assert wrong(bench, epsilon="") == {"epsilon": ["found nothing in 'epsilon'."]}
    assert wrong(bench, epsilon="much", delta="1,5") == {
        "epsilon": ["found 'much' in 'epsilon'."],
        "delta": ["found '1,5' in 'delta'."],
    }
    assert wrong(bench, value="", count="") == {"value": ["found nothing in 'value'."]}
    assert list(wrong(bench, group="home")) == ["value"] and list(wrong(bench, delta="2")) == [
        "delta"
    ]
    assert list(wrong(bench, guarantee="pdp", delta="0")) == ["guarantee"]
    assert list(wrong(bench, mechanism="geometric", accept="4")) == ["accept"] and list(
        wrong(bench, accept="-1")
    ) == ["accept"]
    assert list(wrong(bench, within="far")) == ["within"] and list(
        wrong(bench, domain="none", outside="drop")
    ) == ["outside"]
    assert list(wrong(bench, shrink="miles", miles="2: 1")) == ["shrink"] and list(
        wrong(bench, shrink="miles")
    ) == ["shrink"]
    assert list(wrong(bench, shrink="miles", miles="2: 3, x: 1", beyond="0")) == ["miles", "beyond"]
    assert list(wrong(bench, shrink="miles", miles="2: 1, 2: 0.5", beyond="0.1")) == ["miles"]
    assert list(wrong(bench, domain="list", values="a\na")) == ["values"] and list(
        wrong(bench, domain="list", values=" ")
    ) == ["values"]
    assert list(wrong(bench, name=" ")) == ["name"] and list(wrong(bench, table="nowhere")) == [
        "table"
    ]
    assert list(wrong(bench, RICH, name="near")) == ["name"] and list(
        wrong(bench, RICH, was="again", name="near")
    ) == ["name"]
    assert list(wrong(bench, file="../elsewhere.csv")) == ["file"]


def test_what_is_missing_hides_nothing_else(bench: Bench) -> None:
    assert list(wrong(bench, name="", file="", epsilon="", delta="no")) == [
        "name",
        "file",
        "epsilon",
        "delta",
    ]
    assert list(wrong(bench, RICH, name="near", domain="list", delta="3")) == [
        "values",
        "name",
        "delta",
    ]


def test_numbers_that_would_fill_the_memory_are_refused(bench: Bench) -> None:
    assert list(wrong(bench, epsilon="1e999999999", delta="1e-999999999", accept="9" * 500)) == [
        "epsilon",
        "delta",
        "accept",
    ]


def test_a_file_that_has_to_be_chosen_is_asked_for(bench: Bench) -> None:
    assert wrong(bench, file="") == {"file": ["no file is chosen."]}
    assert wrong(bench, shrink="file") == {"shrink-file": ["no file is chosen."]}


def test_in_a_plan_that_has_errors_already_only_the_form_s_own_count(bench: Bench) -> None:
    broken = PLAN + "roles: {x: {allow: [nothing]}}\n"
    assert wrong(bench, broken) == {} and list(wrong(bench, broken, delta="2")) == ["delta"]
    assert "" in wrong(bench, "tables: [")  # it cannot be read at all


OPTIONS = {
    "name": ("a b", "near", "x: y", "true"),
    "count": ("", "jobs"),
    "epsilon": ("ln(5)", "2.5", "1/3", "#"),
    "delta": ("0", "1e-5", "1/100000"),
    "guarantee": ("dp", "pdp"),
    "mechanism": ("dirichlet", "geometric"),
    "domain": ("file", "list", "none"),
    "values": ("a\nb", "1\n2\ntrue\n'x'"),
    "within": ("", "5"),
    "outside": ("error", "drop"),
    "coarsen": ("", "r.csv"),
    "prior": ("uniform", "p.csv"),
    "shrink": ("", "file", "miles"),
    "shrink-file": ("s.csv",),
    "miles": ("2: 1, 5: 0.5", "1: 1/2"),
    "beyond": ("", "0.1"),
    "accept": ("", "4"),
}


def test_whatever_is_accepted_loads_and_opens_again_as_it_was_written(bench: Bench) -> None:
    random, book, accepted = Random(7), bench.book(), 0
    texts = (
        PLAN,
        RICH,
        "version: 1\ntables: {commutes: }\n",
        "{version: 1, tables: {commutes: {file: commutes.csv}}}",
        "version: 1\r\ntables:\r\n  commutes:\r\nreleases:\r\n",
    )
    for _ in range(40):
        text = random.choice(texts)
        draft, was = (
            PlanDraft(text, text),
            random.choice((None, "near", "again")) if text == RICH else None,
        )
        fields = {
            **form(),
            **{key: random.choice(one) for key, one in OPTIONS.items() if random.random() < 0.4},
        }
        found = refused(draft, book, bench, fields, was)
        assert "" not in found, found  # all that can be wrong has a field
        if found:
            continue
        accepted += 1
        draft.wish(*wishes_of(draft, fields, was))
        assert drafts.problems(draft.text, book, bench) is None
        name, written = " ".join(fields["name"].split()), draft.text
        again = fields_of(draft, name)
        assert again is not None and keys_of(again) == keys_of(fields)
        draft.wish(*wishes_of(draft, again, name))
        assert draft.text == written
    assert accepted > 10


def test_what_is_protected_is_said_plainly() -> None:
    said = in_words(form())
    assert said[0] == "Protected: each person's home in commutes."
    assert said[1] == (
        "Not protected: their workplace, how many people each workplace has, and that "
        "they are in the file."
    )
    assert "jobs counts is one person" in said[2]
    assert all(
        in_words(one)[0].startswith("Choose the private column")
        for one in (form(group=""), form(group="home"))
    )


def test_the_values_of_the_table_are_said_to_be_no_domain() -> None:
    draft = PlanDraft(RICH, RICH)
    assert doubt(draft, form()) == ""
    assert "is the table commutes itself" in doubt(draft, form(file="commutes.csv"))
    assert "no domain that protects" in doubt(draft, form(domain="none"))
    assert "The values of districts.csv are taken" in doubt(
        draft, form(domain="none", coarsen="districts.csv")
    )
    draft.wish(SetDomain("commutes", "home", ("a", "b")))
    assert "has a list" in doubt(draft, form(domain="none"))


def test_columns_are_those_of_the_table(bench: Bench) -> None:
    draft = PlanDraft(RICH, RICH)
    assert (
        columns_of(draft, "commutes") == ["workplace", "home", "jobs"]
        and columns_of(draft, "others") == []
    )


def test_keys_are_set_one_by_one_so_that_comments_stay() -> None:
    wish = SetSynthetic("near", keys_of(form()))
    text = wish.applied(RICH)
    assert (
        "group: workplace       # public" in text
        and "delta: 1e-5            # one in a hundred thousand" in text
    )
    assert "domain: districts.csv" in text and "accept" not in text and wish.applied(text) == text


def test_a_synthetic_column_that_is_not_there_is_said_at_its_line(bench: Bench) -> None:
    from tacit.starter.profile import profile_table

    book = bench.book()
    here = os.getcwd()
    draft = drafts.draft_of(book)
    assert draft is not None
    draft.profiles["commutes"] = profile_table(book.plan(), "commutes")
    assert os.getcwd() == here and columns_of(draft, "commutes") == ["workplace", "home", "jobs"]
    draft.wish(*wishes_of(draft, form(value="hoem"), None))
    found = drafts.opinion(draft, book, bench)
    assert (
        found.wrong is None
        and found.strange is not None
        and "Did you mean 'home'?" in str(found.strange)
    )
