"""What is shown after a repair: complete, quiet, the same for the same answer, personal only
where it may be.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pages import EVIL, POLICY, Page, plan_of
from tacit import demo
from tacit.errors import InputError
from tacit.families.catalog import DEFINITIONS
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.explore import Explored, Rung, explore
from tacit.families.microdata.runs.repair_results import Choice, NotRepaired, Repaired
from tacit.plan.plan import Check
from tacit.plan.read.load import load_plan
from tacit.report import repair_words
from tacit.report.charts.trade_off import trade_offs
from tacit.report.html.repair_page import render
from tacit.report.terminal.repair_summary import merged_neighbours, show, show_explored, write_page

pytest.importorskip("vl_convert")

PERSONAL = ("Bruce", "Umeko", "Cancer", "Viral", "13053", "1305*", "American")
Found = Repaired | NotRepaired


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hospital")
    demo.write(made)
    return made


@pytest.fixture(scope="module")
def hospital(folder: Path) -> Repaired:
    """The least levels for which the demo's April release meets its checks."""
    found = anonymize(
        load_plan(folder / "tacit.yaml"), "april", str(folder / "out.csv"), portrait=True
    )
    assert isinstance(found, Repaired)
    return found


@pytest.fixture
def repaired(tmp_path: Path) -> Callable[..., Found]:
    """What becomes of the release r of a plan written as text."""

    def run(plan: str, release: str = "r", **options: Any) -> Found:
        (tmp_path / "tacit.yaml").write_text(plan, "utf-8")
        return anonymize(
            load_plan(tmp_path / "tacit.yaml"), release, portrait=True, options=options
        )

    return run


def spread(rows: int = 40, *, k: int = 2, suppressing: str = "") -> str:
    """A plan with random people, three columns that can be
    generalized, and several minimal solutions.
    """
    draw = random.Random(7)
    lines = "".join(
        (
            f"      - [p{i}, {draw.randrange(20, 60)}, {draw.randrange(10000, 10040)}, "
            f"{draw.choice('ABCD')}, {draw.choice(['flu', 'cold', 'cough'])}]\n"
        )
        for i in range(rows)
    )
    return (
        "version: 1\ntables:\n  people:\n    columns: [name, age, zip, ward, ill]\n"
        f"    rows:\n{lines}"
        "    identifiers: [name]\n    quasi-identifiers: [age, zip, ward]\n    sensitive: [ill]\n"
        '    hierarchies: {age: {ranges: [5, 10, 20]}, zip: {mask: right}, ward: "*"}\n'
        f"releases:\n  r: {{table: people{suppressing}}}\n"
        f"checks:\n  - k-anonymity: {{release: r, k: {k}}}\n"
    )


def printed(found: Found, plan: Path, audience: Any = "owner", width: int = 100) -> str:
    out = io.StringIO()
    show(found, Console(file=out, width=width, highlight=False), audience, plan)
    return out.getvalue()


def said(explored: Explored) -> str:
    out = io.StringIO()
    show_explored(explored, Console(file=out, width=100, highlight=False))
    return out.getvalue()


def test_the_terminal_tells_levels_costs_verdicts_and_what_to_do(
    hospital: Repaired, folder: Path
) -> None:
    text = printed(hospital, folder / "tacit.yaml")
    for part in (
        "level 2 of 3",
        "100 % lost",
        "loss ",
        "discernibility",
        "average group",
        "height",
        "KL divergence",
        "range queries",
        "marginals",
        "(kept small)",
        "No other choice of levels loses less",
        "There is no other minimal solution",
        "holds      4-anonymity",
        "Assumed, not checked:",
        "the attacker does not know how the",
        "Who knows how they were chosen:",
        "Not written",
        "Next:",
    ):
        assert part in text, part


def test_a_narrow_terminal_cuts_no_number(repaired: Callable[..., Found], tmp_path: Path) -> None:
    found = repaired(spread())
    text = printed(found, tmp_path / "tacit.yaml", width=60)
    assert isinstance(found, Repaired) and len(found.choices) > 1
    for _, choice in repair_words.some(found.choices, 8):
        assert repair_words.number(choice.cost) in text


def test_solutions_are_told_by_what_values_become(
    repaired: Callable[..., Found], tmp_path: Path
) -> None:
    found = repaired(spread())
    assert isinstance(found, Repaired) and len(found.choices) > 1
    often = {
        name: repair_words.written(values[found.recoded.raw.base.rows_by_code(name).argmax()])
        for name, values in found.recoded.raw.base.dictionaries.items()
    }
    table = printed(found, tmp_path / "tacit.yaml").partition("All minimal")[2]
    for place, choice in repair_words.some(found.choices, 8):
        line = next(one for one in table.splitlines() if re.match(rf"\s+{place}  ", one))
        width = (0, 5, 10, 20)[level] if (level := choice.generalization["age"]) < 4 else None
        start = int(often["age"]) // (width or 1) * (width or 1) if width else 0
        age = (
            "not shown"
            if width is None
            else f"{start}-{start + width - 1}"
            if width
            else "as it is"
        )
        zip_, ward = choice.generalization["zip"], choice.generalization["ward"]
        masked = often["zip"][: 5 - zip_] + "*" * zip_
        shown = [age, "as it is" if not zip_ else "not shown" if zip_ == 6 else masked]
        assert re.match(rf"\s+{place}  ", line) and all(one in line for one in shown), (line, shown)
        assert ("as it is" if not ward else "not shown") in line


def test_many_columns_are_wrapped_not_cut_off(
    repaired: Callable[..., Found], tmp_path: Path
) -> None:
    found = repaired(spread())
    assert isinstance(found, Repaired)
    wide = " ".join(printed(found, tmp_path / "tacit.yaml", width=200).split())
    text = " ".join(printed(found, tmp_path / "tacit.yaml", width=50).split())
    labels = repair_words.labels_for(found, "owner")
    assert "…" not in text.partition("All minimal")[2]
    for _, choice in repair_words.some(found.choices, 8):
        for name, level in choice.generalization.items():
            words = repair_words.level_words(labels[name], level)
            assert words in wide and all(word in text for word in words.split())


def test_a_shared_view_has_numbers_of_levels(
    repaired: Callable[..., Found], tmp_path: Path
) -> None:
    found = repaired(spread())
    assert isinstance(found, Repaired)
    table = printed(found, tmp_path / "tacit.yaml", "shared").partition("All minimal")[2]
    assert "level 1" in table and "not shown" not in table


def test_the_page_has_every_part(hospital: Repaired) -> None:
    page = Page(render(hospital, "owner"))
    for part in (
        "What became of the columns",
        "What it is still good for",
        "What it discloses",
        "If the attacker knows how it was chosen",
        "What this does not promise",
        "Words",
        "13053 → 1305*",
        "Bruce",
        "meets the checks of this plan",
    ):
        assert part in page.text, part
    drawn = page.named("svg")
    assert len(drawn) == len(page.named("figure")) >= 6
    assert all(one["role"] == "img" and one["aria-label"] for one in drawn)


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_the_page_asks_nothing_of_the_network(hospital: Repaired, audience: Any) -> None:
    raw = render(hospital, audience)
    page = Page(raw)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:", raw)
    assert not [
        tag
        for tag, _ in page.tags
        if tag in {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    ]
    assert {"http-equiv": "Content-Security-Policy", "content": POLICY} in page.named("meta")


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_results_are_never_called_more_than_they_are(
    hospital: Repaired, folder: Path, audience: Any
) -> None:
    text = Page(render(hospital, audience)).text + printed(
        hospital, folder / "tacit.yaml", audience
    )
    assert not set(re.findall(r"[a-z]+", text.lower())) & {
        "safe",
        "anonymous",
        "compliant",
        "gdpr",
        "guaranteed",
        "anonymized",
    }


def test_a_shared_page_has_no_personal_value(hospital: Repaired, folder: Path) -> None:
    shared = render(replace(hospital, output="out.csv"), "shared") + printed(
        hospital, folder / "tacit.yaml", "shared"
    )
    assert not [word for word in PERSONAL if word in shared]
    assert all(word in render(hospital, "owner") for word in ("Bruce", "Cancer", "13053"))


def test_the_same_answer_makes_the_same_page(hospital: Repaired) -> None:
    assert render(hospital, "owner") == render(replace(hospital, seconds=99.0), "owner")


def test_values_cannot_break_out_of_the_page(repaired: Callable[..., Found]) -> None:
    rows = [
        (f"{EVIL}{i}", f"{EVIL}{i % 2}", f"{EVIL}{i % 2}", EVIL if i < 3 else "x") for i in range(6)
    ]
    plan = plan_of(rows, ["name", f"town{EVIL}", f"job{EVIL}", f"ill{EVIL}"])
    found = repaired(plan, "all")
    page = Page(render(found, "owner"))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_the_chart_has_every_minimal_solution_and_marks_the_written_one(
    repaired: Callable[..., Found],
) -> None:
    found = repaired(spread())
    assert isinstance(found, Repaired) and len(found.choices) > 2 and found.all_choices
    risk, belief = trade_offs(found)
    for chart in (risk, belief):
        assert f"1{', written' if found.choices[0].chosen else ''}" in chart.svg
        dots = re.findall(r'<path transform="translate[^>]* d="M[\d.]+,0A', chart.svg)
        assert found.draft is not None and len(dots) == len(found.choices) + 1
        assert ">draft" in chart.svg
        told = re.search(r'aria-label="([^"]+)"', chart.svg)
        assert (
            told
            and all(f"{place}" in told[1] for place in range(2, len(found.choices) + 1))
            and "1 (written)" in told[1]
        )
    assert "allowed: 1 in 2" in risk.svg


def test_hundreds_of_solutions_stay_readable(hospital: Repaired) -> None:
    draw = random.Random(3)
    many = tuple(
        Choice(
            {"zip": 1, "age": i % 4, "nationality": 1},
            i / 400,
            Fraction(1, draw.randrange(4, 90)),
            Fraction(draw.randrange(20, 90), 100),
            0,
            i == 0,
        )
        for i in range(300)
    )
    found = replace(hospital, choices=many)
    page = Page(render(found, "owner"))
    listed = [row for row in page.text.split() if row == "And"]
    assert listed and "280 others, which are in the charts only" in page.text
    assert all(len(chart.svg) < 200_000 for chart in trade_offs(found))
    labels = re.findall(r">(\d+)(?:, written)?</text>", trade_offs(found)[0].svg)
    assert len(set(labels)) <= 20


def test_listed_solutions_have_the_chosen_and_the_least_risky() -> None:
    choices = [
        Choice({}, float(i), Fraction(1, 2 + (i == 17) * 9), Fraction(1, 2 + (i == 13)), 0, i == 15)
        for i in range(30)
    ]
    listed = [place for place, _ in repair_words.some(choices, 6)]
    assert {1, 14, 16, 18} <= set(listed) and len(listed) == 6 and listed == sorted(listed)
    assert repair_words.some(choices[:4], 6) == list(enumerate(choices[:4], 1))


def test_dropped_rows_are_told(repaired: Callable[..., Found], tmp_path: Path) -> None:
    found = repaired(spread(suppressing=", suppress: 20%"))
    assert isinstance(found, Repaired) and found.recoded.suppressed
    text = printed(found, tmp_path / "tacit.yaml")
    assert f"{found.recoded.suppressed} of 40 rows dropped; 8 (20 %) may be" in text
    assert "not computed where rows may be dropped" in " ".join(text.split())
    assert "rows dropped" in Page(render(found, "shared")).text


@pytest.mark.parametrize("method", ["mondrian", "window"])
def test_groups_of_their_own_are_told(
    repaired: Callable[..., Found], tmp_path: Path, method: str
) -> None:
    found = repaired(spread(), method=method)
    text = printed(found, tmp_path / "tacit.yaml")
    assert "each with labels of its own" in text and "For example:" in text and "height" not in text
    page = Page(render(found, "owner"))
    assert (
        "by group" in page.text
        and "the table as it is" in page.text
        and "Other solutions" not in page.text
    )


def test_a_release_without_sensitive_columns_has_one_trade_off(
    repaired: Callable[..., Found], tmp_path: Path
) -> None:
    found = repaired(spread().replace("    sensitive: [ill]\n", ""))
    assert isinstance(found, Repaired) and len(trade_offs(found)) == 1
    assert "No column is sensitive" in printed(found, tmp_path / "tacit.yaml")


def test_why_there_is_no_release(repaired: Callable[..., Found], tmp_path: Path) -> None:
    found = repaired(spread(k=41))
    assert isinstance(found, NotRepaired) and found.proved
    text = printed(found, tmp_path / "tacit.yaml")
    for part in (
        "cannot be met",
        "Even the coarsest release fails 41-anonymity",
        "BREACHED",
        "What would have to give",
        "Next:",
    ):
        assert part in text, part
    page = Page(render(found, "owner")).text
    assert (
        "the checks cannot be met" in page
        and "What would have to give" in page
        and "The coarsest release" in page
    )
    assert "nothing was found" in Page(render(replace(found, proved=False), "owner")).text


def test_what_was_explored(folder: Path) -> None:
    text = said(explore(load_plan(folder / "tacit.yaml"), "april"))
    assert "which parameters can be met, at which loss" in text
    assert re.search(r"4 .*zip: 1305\*; age: <= 40; nationality: not shown\s+<- the plan", text)
    assert re.search(r"15 to 100\s+-\s+cannot be met", text)


def test_lines_that_end_the_same_way_are_one_unless_the_plan_asks() -> None:
    rungs = [
        Rung("k-anonymity", "k", k, 0.5, {"zip": 1}, 0, k == 4, True, "4-anonymity")
        for k in (2, 3, 4, 5, 6)
    ]
    assert [[rung.value for rung in together] for together in merged_neighbours(rungs)] == [
        [2, 3],
        [4],
        [5, 6],
    ]
    late = replace(rungs[0], proved=False)
    assert "(not proved)" in said(
        Explored("r", "loss", (late,))
    ) and "time for one line was up" in said(Explored("r", "loss", (late,)))
    assert "nothing found in time" in said(
        Explored("r", "kl", (replace(late, cost=None, generalization=None),))
    )
    assert "no parameter to move" in said(Explored("r", "loss", ()))


def test_the_lines_to_paste_are_a_plan(hospital: Repaired, tmp_path: Path) -> None:
    checks = (
        Check("k-anonymity", {"k": 4}, releases=("april",)),
        Check(
            "t-closeness",
            {"t": Fraction(1, 3), "distance": "equal"},
            releases=("april",),
            sensitive="condition",
        ),
        Check(
            "l-diversity",
            {
                "kind": "recursive",
                "l": Fraction(3),
                "c": Fraction(1, 2),
                "dont-care": ("a: b", "no"),
            },
            releases=("april",),
        ),
        Check(
            "semantic",
            {
                "measure": {"positive": Fraction(3, 4)},
                "against": {"negations": 1},
                "protect": {"equals": "all"},
            },
            releases=("april",),
        ),
        Check("k-anonymity", {"k": 9}, releases=("may",)),
    )
    assert {check.kind for check in checks} <= set(DEFINITIONS)
    (tmp_path / "tacit.yaml").write_text(
        (Path(demo.__file__).parent / "tacit.yaml").read_text("utf-8"), "utf-8"
    )
    plan = replace(load_plan(tmp_path / "tacit.yaml"), checks=checks)
    lines = repair_words.snippet(replace(hospital, output=str(tmp_path / "my file: 1.csv")), plan)
    assert len(lines) == 7
    table = (
        "version: 1\n"
        "tables: {inpatients: {quasi-identifiers: [zip, age, nationality], sensitive: "
        "[condition]}}\n"
    )
    (tmp_path / "again.yaml").write_text(table + "\n".join(lines) + "\n", "utf-8")
    again = load_plan(tmp_path / "again.yaml")
    assert [(one.kind, one.parameters, one.sensitive) for one in again.checks] == [
        (one.kind, one.parameters, one.sensitive) for one in checks[:4]
    ]
    assert again.releases["april-written"].file == "my file: 1.csv"  # type: ignore[union-attr]
    assert repair_words.snippet(replace(hospital, output="a_table"), plan) == []


def test_a_page_is_written_whole_or_not_at_all(hospital: Repaired, tmp_path: Path) -> None:
    write_page(hospital, None, "owner")
    write_page(hospital, tmp_path / "page.html", "shared")
    assert (tmp_path / "page.html").read_text("utf-8") == render(hospital, "shared")
    with pytest.raises(InputError, match="there is no folder"):
        write_page(hospital, tmp_path / "nowhere" / "page.html", "owner")


def test_a_page_can_be_drawn_when_the_source_is_closed(folder: Path) -> None:
    found = anonymize(load_plan(folder / "tacit.yaml"), "april")
    assert "meets the checks" in Page(render(found, "shared")).text
