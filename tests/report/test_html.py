"""The page: complete, quiet, deterministic, and without personal
values where they do not belong.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pages import EVIL, POLICY, Page, plan_of
from report.answered import assessment_of, drawn_as
from tacit.checking.assess import Assessment
from tacit.errors import EngineError, InputError
from tacit.model.verdict import Certificate, Reason, Verdict, Witness
from tacit.report.html.page import render, write_report

pytest.importorskip("vl_convert")


def hand_made(**given: Any) -> Verdict:
    """A verdict of some later definition."""
    common: Mapping[str, Any] = {
        "check": "later",
        "label": "later check",
        "subject": {"release": "r"},
        "because": "so it is.",
    }
    return Verdict(**{**common, **given})


def test_the_owners_page_says_on_top_that_it_contains_personal_values(hospital: Assessment) -> None:
    text = Page(render(hospital, "owner")).text
    assert text.index("Owner's view: contains personal values. Do not pass it on.") < text.index(
        "april"
    )
    assert "Anyone who knows that Bruce is 31, American and lives in 13053 now knows that" in text


def test_each_release_has_its_conclusion_and_every_verdict_its_parts(hospital: Assessment) -> None:
    text = Page(render(hospital, "owner")).text
    assert "april DO NOT RELEASE" in text
    assert "may meets the checks of this plan" in text
    for verdict in hospital:
        for part in (
            verdict.label,
            verdict.protects,
            verdict.against,
            verdict.measure,
            verdict.because[1:],
        ):
            assert part in text
        for assumption in verdict.assumptions:
            assert assumption.text in text
    assert "Measured l = 1 Required kind = distinct, l = 3" in text
    assert "no other data about these people has been published (not checked)" in text
    assert "each row is one person (checked)" in text


def test_the_witness_is_a_table(hospital: Assessment) -> None:
    text = Page(render(hospital, "owner")).text
    assert "The group that proves it zip age nationality people 130** 3* * 4" in text
    assert "Its people condition people Cancer 4" in text


def test_what_is_not_promised_names_the_assumptions_nobody_checked(hospital: Assessment) -> None:
    text = Page(render(hospital, "shared")).text
    closing = text[text.index("What this does not promise") :]
    assert "no other data about these people has been published (not checked)" in closing
    assert "members of a group are equally likely (cannot be checked)" in closing
    assert "each row is one person" not in closing


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_results_are_never_called_more_than_they_are(hospital: Assessment, audience: Any) -> None:
    words = set(re.findall(r"[a-z]+", Page(render(hospital, audience)).text.lower()))
    assert not words & {"safe", "anonymous", "compliant", "gdpr", "guaranteed"}


@pytest.mark.parametrize("audience", ["owner", "shared"])
def test_the_page_asks_nothing_of_the_network(hospital: Assessment, audience: Any) -> None:
    raw = render(hospital, audience)
    page = Page(raw)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:", raw)
    assert not [
        tag
        for tag, _ in page.tags
        if tag in {"script", "link", "iframe", "object", "embed", "img", "form", "base"}
    ]
    loaded = {
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href"}
    }
    assert all(value and value.startswith("#") for value in loaded)
    assert {"http-equiv": "Content-Security-Policy", "content": POLICY} in page.named("meta")


def test_a_shared_page_has_no_personal_value(assessed: Callable[[str], Assessment]) -> None:
    rows = [(f"Zq{i}", f"zqtown{i % 3}", 9_100_000 + i % 4, f"zqill{i % 2}") for i in range(12)]
    assessment = assessed(
        plan_of(
            [*rows, ("Zq99", "zqtown9", 9_100_009, "zqill9")], ["name", "town", "age", "illness"]
        )
    )
    owner, shared = render(assessment, "owner"), render(assessment, "shared")
    for hidden in ("zq", "91000", "9,100,0"):
        assert hidden in owner.lower() or hidden == "9,100,0"
        assert hidden not in shared.lower()
    assert "No personal values" in Page(shared).text
    assert "DO NOT RELEASE" in Page(shared).text


def test_values_cannot_break_out_of_the_page(assessed: Callable[[str], Assessment]) -> None:
    rows = [(f"{EVIL}{i}", EVIL, f"{EVIL}{i % 2}", EVIL) for i in range(4)]
    page = Page(
        render(assessed(plan_of(rows, ["name", "town", f"job{EVIL}", f"ill{EVIL}"])), "owner")
    )
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.text


def test_a_hand_made_verdict_cannot_break_out_either() -> None:
    evidence = Witness(EVIL, {EVIL: EVIL}, {EVIL: {EVIL: [EVIL, None]}})
    verdict = hand_made(
        status="breached",
        evidence=evidence,
        story=EVIL,
        name=EVIL,
        warnings=(EVIL,),
        measured={EVIL: EVIL},
        subject={"release": EVIL},
    )
    page = Page(render(assessment_of(EVIL, (verdict,)), "owner"))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}


def test_an_undecided_verdict_gives_its_reason() -> None:
    verdict = hand_made(
        status="undecided", evidence=Reason("too-many-worlds", "More worlds than could be counted.")
    )
    text = Page(render(assessment_of("tacit.yaml", (verdict,)), "shared")).text
    assert "r not decided" in text
    assert "Undecided (too-many-worlds): More worlds than could be counted." in text
    assert "DO NOT RELEASE" not in text


def test_a_verdict_that_holds_of_nothing_says_so() -> None:
    verdict = hand_made(status="holds", evidence=Certificate("empty"), vacuous=True)
    assert (
        "nothing to protect" in Page(render(assessment_of("tacit.yaml", (verdict,)), "owner")).text
    )


def test_other_witnesses_are_shown_fact_by_fact_to_the_owner_only() -> None:
    evidence = Witness("person", {"worlds": 45}, {"person": {"name": "Donald"}, "value": "SARS"})
    assessment = assessment_of("tacit.yaml", (hand_made(status="breached", evidence=evidence),))
    assert "worlds 45 person name Donald value SARS" in Page(render(assessment, "owner")).text
    assert "Donald" not in render(assessment, "shared")


def test_the_owner_is_told_not_to_announce_a_refusal_that_depends_on_the_rows(
    hospital: Assessment,
) -> None:
    told = "Do not announce that you withheld this"
    assert Page(render(hospital, "owner")).text.count(told) == 1
    assert told not in render(hospital, "shared")


def test_the_same_answers_make_the_same_page(hospital: Assessment) -> None:
    later = tuple(
        replace(one, verdict=replace(one.verdict, seconds=9.0)) for one in hospital.answered
    )
    again = replace(hospital, seconds=99.0, answered=later)
    assert render(hospital, "owner") == render(again, "owner")


def test_every_chart_has_a_heading_and_words_for_a_screen_reader(hospital: Assessment) -> None:
    page = Page(render(hospital, "owner"))
    drawn = page.named("svg")
    assert len(drawn) == len(page.named("figure")) == 8
    assert all(one["role"] == "img" and one["aria-label"] for one in drawn)


def test_an_assessment_without_portraits_has_no_charts(hospital: Assessment) -> None:
    assert not Page(render(drawn_as(hospital, None), "owner")).named("figure")


def test_the_plans_folder_is_not_told(hospital: Assessment) -> None:
    assert "/" in hospital.plan
    assert str(Path(hospital.plan).parent) not in render(hospital, "shared")


def test_a_report_is_written_whole(hospital: Assessment, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")
    write_report(hospital, target, "shared")
    assert target.read_text("utf-8") == render(hospital, "shared")
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_full_disk_leaves_the_old_report(
    hospital: Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "report.html"
    target.write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(
        EngineError, match=r"report\.html cannot be written: the disk is full\. Free space"
    ):
        write_report(hospital, target, "shared")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_missing_folder_is_said(hospital: Assessment, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no folder .*nowhere\. Make it first"):
        write_report(hospital, tmp_path / "nowhere" / "report.html", "owner")


def test_a_file_is_no_folder(hospital: Assessment, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("")
    with pytest.raises(InputError, match="there is no folder"):
        write_report(hospital, tmp_path / "plan" / "report.html", "owner")


def test_a_folder_is_no_report(hospital: Assessment, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is not a file\. Name the file"):
        write_report(hospital, tmp_path, "owner")


def test_a_pipe_is_no_report_and_stays_one(hospital: Assessment, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(InputError, match=rf"{name} is not a file\. Name the file"):
            write_report(hospital, tmp_path / name, "owner")
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing yet"])
def test_a_link_stays_and_the_file_that_it_names_is_written(
    hospital: Assessment, tmp_path: Path, there: bool
) -> None:
    (tmp_path / "pages").mkdir()
    target, link = tmp_path / "pages" / "target.html", tmp_path / "link.html"
    link.symlink_to("pages/target.html")
    if there:
        target.write_text("old")
    write_report(hospital, link, "shared")
    assert link.is_symlink() and target.read_text("utf-8").rstrip().endswith("</html>")
    assert os.listdir(tmp_path / "pages") == ["target.html"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_said(hospital: Assessment, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(EngineError, match="permission denied"):
        write_report(hospital, tmp_path / "report.html", "owner")
