"""The conference: its page prints what a reader gets, and conferences of every kind and size have
the verdicts they were made for.

`python tests/examples/test_conference.py` writes into the page what its commands print today.
Read the diff afterwards.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "docs")]

from examples.conference.generate import KINDS, Conference, conference  # noqa: E402
from snippets import agrees, blocks, is_run, plain_environment, run, steps  # noqa: E402

from tacit.families.worlds.definitions.e_safety import ESafety  # noqa: E402
from tacit.families.worlds.definitions.g_safety import GSafety  # noqa: E402
from tacit.families.worlds.question import SafetyCase, SafetyQuestion  # noqa: E402
from tacit.families.worlds.worlds import Bases, SettingWorlds  # noqa: E402
from tacit.model.verdict import Verdict  # noqa: E402

HERE = ROOT / "examples" / "conference"
PAGE = HERE / "README.md"
EXPECTED = {
    "tacit.yaml": {
        "example-1": ("breached", "world"),
        "example-1-odds": ("breached", "secrets"),
        "every-paper": ("breached", "secrets"),
        "follows": ("holds", "rewriting"),
        "another-paper": ("holds", "separate"),
        "unseen": ("undecided", "unseen-values"),
        "dictionary": ("breached", "secrets"),
        "example-3": ("breached", "secrets"),
        "nothing-left": ("holds", "worlds-equal"),
    },
    "one-subcommittee.yaml": {
        "members": ("holds", "worlds-equal"),
        "members-always": ("holds", "no-counterexample"),
        "example-2": ("breached", "secrets"),
        "example-2-always": ("breached", "secrets"),
    },
    "colluding.yaml": {
        "apart": ("holds", "odds-equal"),
        "together": ("breached", "secrets"),
        "any-belief": ("breached", "world"),
    },
}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the example, without what would change the output."""
    monkeypatch.chdir(HERE)
    for name in set(os.environ) - set(plain_environment()):
        monkeypatch.delenv(name)
    return HERE


def found(plan: str) -> dict[str, dict[str, object]]:
    printed = json.loads(run(f"tacit check {plan} --json --audience owner"))
    return {verdict["name"]: verdict for verdict in printed["verdicts"]}


@pytest.mark.parametrize("plan", EXPECTED)
def test_each_check_has_the_verdict_that_the_page_tells(plan: str, here: Path) -> None:
    verdicts = found(plan)
    kinds = {}
    for name, verdict in verdicts.items():
        reason = verdict.get("reason")
        evidence = verdict.get("witness") or verdict.get("certificate")
        kinds[name] = (verdict["status"], reason["code"] if reason else evidence["kind"])
    assert kinds == EXPECTED[plan]


def test_the_numbers_of_the_paper(here: Path) -> None:
    """Example 3 counts 15 and 3 secrets where there are 16 and 4;
    Example 2 is not safe, because of the empty answer.
    """
    verdicts = found("tacit.yaml")
    assert verdicts["example-1-odds"]["witness"]["no_longer_possible"] == [["r3"], ["r4"]]
    assert verdicts["example-3"]["witness"]["now_certain"] == [["r1"], ["r2"]]
    assert (
        verdicts["example-3"]["measured"]["secrets_before"],
        verdicts["example-3"]["measured"]["secrets_after"],
    ) == ("4", "1")
    second = found("one-subcommittee.yaml")["example-2"]
    assert [(one["rows"], one["before"], one["after"]) for one in second["witness"]["secrets"]] == [
        ([["r1"]], "5", "4"),
        ([], "10", "4"),
    ]


def test_the_page_shows_what_a_reader_gets(here: Path) -> None:
    shown = [step for block in blocks(PAGE) if block.language == "console" for step in steps(block)]
    assert len(shown) >= 7
    for step in shown:
        assert is_run(step.command)
        assert agrees(run(step.command), step.output), step.command


# --- the generator --------------------------------------------------------------------------------


def judged(made: Conference, definition: type[GSafety] | type[ESafety]) -> Verdict:
    case = SafetyCase(made.setting(), (), made.published, made.new)
    return definition().check(
        SafetyQuestion("reviewers", made.new, made.published, (case,), ("r",))
    )


def kind_of(verdict: Verdict) -> tuple[str, str]:
    return verdict.status, getattr(verdict.evidence, "kind", "") or getattr(
        verdict.evidence, "code", ""
    )


@pytest.mark.sampled
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("size", [(4, 4, 2), (9, 7, 3), (20, 24, 4)])
def test_a_whole_conference_is_unsafe_unless_asked_for_a_safe_view(
    size: tuple[int, int, int], counted: bool
) -> None:
    safe, unsafe = (conference(*size, safe=one, counted=counted) for one in (True, False))
    assert (
        kind_of(judged(safe, GSafety)) == kind_of(judged(safe, ESafety)) == ("holds", "rewriting")
    )
    assert kind_of(judged(unsafe, GSafety)) == ("breached", "world")
    assert kind_of(judged(unsafe, ESafety)) == ("breached", "secrets")


@pytest.mark.parametrize("counted", [False, True])
def test_another_subcommittee_says_nothing_of_the_first_paper(counted: bool) -> None:
    made = conference(12, 16, 3, kind="separate", counted=counted)
    assert kind_of(judged(made, ESafety)) == ("holds", "separate")
    assert kind_of(judged(made, GSafety)) == ("breached", "world")


@pytest.mark.parametrize(
    ("kind", "size", "largest"), [("groups", (16, 20, 4), 20), ("program", (8, 30, 2), 60)]
)
def test_which_papers_share_a_reviewer_leaves_the_odds(
    kind: str, size: tuple[int, int, int], largest: int
) -> None:
    made = conference(*size, kind=kind)
    worlds = SettingWorlds(made.setting(), Bases())
    assert max(len(part.tuples) for part in worlds.parts) == largest
    assert sum(len(part.tuples) for part in worlds.parts) >= 60
    assert kind_of(judged(made, ESafety)) == ("holds", "odds-equal")
    assert kind_of(judged(made, GSafety)) == ("breached", "world")


def test_the_same_seed_makes_the_same_conference() -> None:
    one, two, three = (conference(12, 16, 3, counted=True, seed=seed) for seed in (1, 1, 2))
    assert one == two != three
    assert {row for row in one.tables["RP"] if row[1] == "p1"} < {
        (reviewer, "p1") for reviewer, subcom in one.tables["RS"] if subcom == "c1"
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_ask_what_the_function_asks(kind: str, tmp_path: Path) -> None:
    arguments = [
        "--kind",
        kind,
        "--reviewers",
        "8",
        "--papers",
        "8",
        "--subcommittees",
        "2",
        "--seed",
        "3",
    ]
    ran = subprocess.run(
        [sys.executable, HERE / "generate.py", tmp_path / "out", *arguments],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    by_files = dict(zip(("g-safety", "e-safety"), checked(tmp_path / "out"), strict=True))
    made = conference(8, 8, 2, kind=kind, seed=3)
    for check, definition in (("g-safety", GSafety), ("e-safety", ESafety)):
        verdict = judged(made, definition)
        assert by_files[check]["status"] == verdict.status
        assert by_files[check]["measured"] == verdict.to_json("owner")["measured"]


def checked(folder: Path) -> list[dict[str, object]]:
    return json.loads(run(f"tacit check {folder / 'tacit.yaml'} --json --audience owner"))[
        "verdicts"
    ]


def test_too_small_a_conference_is_refused() -> None:
    with pytest.raises(SystemExit, match="two reviewers and a paper"):
        conference(3, 4, 2)


def main() -> None:
    """Write into the page what its commands print today."""
    from unittest.mock import patch

    from refresh import refreshed

    os.chdir(HERE)
    with patch.dict(os.environ, plain_environment(), clear=True):
        PAGE.write_text(refreshed(PAGE, HERE), "utf-8")


if __name__ == "__main__":
    main()
