"""Corrections of what went out, through the command line;
and what comparing both can tell, by brute force.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.families.overlaps.overlap import merged, overlap_of
from tacit.families.overlaps.reading.corrections import largest

DATA = (
    "name,sex,age,condition\n"
    "Alan,M,23,Heart\n"
    "Bob,M,24,SARS\n"
    "Clark,M,25,Viral\n"
    "Donald,M,26,SARS\n"
    "Ellen,F,27,Viral\n"
    "Fen,F,28,SARS\n"
    "Garcia,F,28,Flu\n"
)
DOMAIN = "    domains: {condition: [Heart, SARS, Viral, Flu]}\n"
PLAN = """\
version: 1
LEDGERtables:
  patients:
    key: [name]
    identifiers: [name]
    quasi-identifiers: [sex, age]
    sensitive: [condition]
    hierarchies: {sex: "*", age: {ranges: [5, 50]}}
DOMAINreleases:
MORE  men: {query: "SELECT condition FROM patients WHERE QUERY", to: [insurer]}
  older: {query: "SELECT condition FROM patients WHERE sex = 'F'", to: [insurer]}
  coarse: {table: patients, generalization: {sex: 1, age: 2}, to: [insurer]}
published: [ledger]
checks:
  - gamma-privacy: {release: men, gamma: 0.5}
  - gamma-privacy: {release: older, gamma: 0.5}
  - k-anonymity: {release: coarse, k: 4}
"""
WRONG = ("--wrong", "a condition was entered wrongly")


def write(domain: str = DOMAIN, query: str = "sex = 'M'", more: str = "", ledger: str = "") -> None:
    Path("tacit.yaml").write_text(
        PLAN.replace("DOMAIN", domain)
        .replace("QUERY", query)
        .replace("MORE", more)
        .replace("LEDGER", ledger),
        "utf-8",
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)
    (tmp_path / "patients.csv").write_text(DATA, "utf-8")
    write()
    return tmp_path


def flat(text: str) -> str:
    return " ".join(text.split())


def cured(folder: Path) -> None:
    """Bob had the flu."""
    (folder / "patients.csv").write_text(DATA.replace("Bob,M,24,SARS", "Bob,M,24,Flu"), "utf-8")


def test_a_correction_is_judged_with_what_was_wrong_and_recorded(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "men", "-o", "men.csv").status == 0
    cured(folder)
    refused = tacit("ledger", "record", "men", "-o", "new.csv")
    assert refused.status == 3 and "tacit ledger correct men" in flat(refused.out)
    ran = tacit("ledger", "correct", "men", *WRONG, "-o", "new.csv", "--by", "M. Weber")
    assert ran.status == 0, ran.out + ran.err
    said = flat(ran.out)
    assert (
        "recorded as entry 2, the correction of entry 1, to insurer" in said
        and "insurer has the old one" in said
        and "conservative" in said
    )
    assert sorted((folder / "new.csv").read_text("utf-8").split()[1:]) == [
        "Flu",
        "Heart",
        "SARS",
        "Viral",
    ]
    [first, second] = tacit("ledger", "list", "--json").json["entries"]
    assert (second["kind"], second["corrects"], second["wrong"], second["to"], second["by"]) == (
        "correction",
        [1],
        WRONG[1],
        ["insurer"],
        "M. Weber",
    )
    assert first["kind"] == "release" and second["answer"] != first["answer"] and second["version"]
    shown = tacit("ledger", "show", "2")
    assert "the correction of entry 1" in flat(shown.out) and WRONG[1] in flat(shown.out)
    assert (
        "view, correction" in tacit("ledger", "list").out and tacit("ledger", "verify").status == 0
    )


def test_after_a_correction_others_can_be_judged_again(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "men")
    cured(folder)
    assert tacit("check", "--only", "older").status == 3
    assert tacit("ledger", "correct", "men", *WRONG).status == 0
    assert tacit("check", "--only", "older").status == 0 and tacit("ledger", "recheck").status == 0
    assert tacit("ledger", "record", "men").status == 0  # the new one, once more


def test_what_cannot_be_judged_is_refused_unless_one_insists(tacit: Any, folder: Path) -> None:
    write(domain="")
    tacit("ledger", "record", "men")
    cured(folder)
    ran = tacit("ledger", "correct", "men", *WRONG, "-o", "new.csv")
    assert (
        ran.status == 3
        and "--unjudged" in flat(ran.out)
        and "domains: {COLUMN: [...]}" in flat(ran.out)
        and not (folder / "new.csv").exists()
    )
    ran = tacit("ledger", "correct", "men", *WRONG, "-o", "new.csv", "--unjudged", "--json")
    assert ran.status == 0 and (folder / "new.csv").exists()
    said = ran.json
    assert (said["release"], said["corrects"], said["holders"], said["left"], said["recorded"]) == (
        "men",
        [1],
        ["insurer"],
        [],
        True,
    )
    assert (
        said["entries"][0]["verdicts"][0]["status"] == "undecided"
        and "could not be judged" in said["because"]
    )


def test_a_public_column_without_a_role_is_named_as_what_keeps_both_from_being_judged(
    tacit: Any, folder: Path
) -> None:
    file = folder / "patients.csv"
    wider = "\n".join(f"{line},{'ward' if not at else 1}" for at, line in enumerate(DATA.split()))
    file.write_text(wider + "\n", "utf-8")
    assert tacit("ledger", "record", "men").status == 0
    file.write_text(wider.replace("Bob,M,24,SARS", "Bob,M,24,Flu") + "\n", "utf-8")
    refused = tacit("ledger", "correct", "men", *WRONG)
    assert refused.status == 3
    assert "other columns are of its key or quasi-identifiers" in flat(refused.out)


def test_microdata_and_their_correction_are_not_judged_together(tacit: Any, folder: Path) -> None:
    assert tacit("ledger", "record", "coarse", "-o", "coarse.csv").status == 0
    cured(folder)
    assert tacit("ledger", "correct", "coarse", *WRONG).status == 3
    assert tacit("ledger", "correct", "coarse", *WRONG, "--unjudged", "-o", "new.csv").status == 0


def test_a_query_that_was_wrong_is_judged_together_with_the_right_one(
    tacit: Any, folder: Path
) -> None:
    """The old one had Donald, the new one has not: who has both knows what Donald has."""
    assert tacit("ledger", "record", "men").status == 0
    write(query="sex = 'M' AND age < 26")
    assert (
        tacit("ledger", "correct", "men", "--wrong", "one too many").status == 3
    )  # what went out is not in the plan
    write(
        query="sex = 'M' AND age < 26",
        more=(
            "  men-april: {query: \"SELECT condition FROM patients WHERE sex = 'M'\", to: "
            "[insurer]}\n"
        ),
    )
    ran = tacit(
        "ledger", "correct", "men", "--wrong", "one too many", "-o", "new.csv", "--unjudged"
    )
    assert (
        ran.status == 1 and "Donald has SARS" in flat(ran.out) and not (folder / "new.csv").exists()
    )
    assert (
        tacit(
            "ledger", "correct", "men", "--wrong", "one too many", "--out-already", "-o", "new.csv"
        ).status
        == 2
    )
    ran = tacit("ledger", "correct", "men", "--wrong", "one too many", "--out-already")
    assert (
        ran.status == 0
        and not (folder / "new.csv").exists()
        and tacit("ledger", "recheck").status == 1
    )


def test_who_gets_no_correction_is_named(tacit: Any, folder: Path) -> None:
    tacit("ledger", "record", "men")
    tacit("ledger", "record", "men", "--to", "press")
    cured(folder)
    said = tacit("ledger", "correct", "men", *WRONG, "--to", "Insurer", "--json").json
    assert (said["to"], said["corrects"], said["holders"], said["left"]) == (
        ["insurer"],
        [1, 2],
        ["insurer", "press"],
        ["press"],
    )
    cured(folder)
    said = tacit("ledger", "correct", "men", *WRONG, "--public", "--json")
    assert said.status == 2 and "nothing to correct" in said.json["error"]["message"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("men", "--wrong", " "), "says what was wrong"),
        (("mem", *WRONG), "the ledger has no release 'mem'"),
        (("older", *WRONG), "the ledger has no release 'older'"),
        (("men", *WRONG), "there is nothing to correct"),
        (("men", *WRONG, "--public", "--to", "a"), "exclude each other"),
        (("men",), "--wrong"),
    ],
)
def test_what_is_no_correction(tacit: Any, folder: Path, words: tuple[str, ...], said: str) -> None:
    tacit("ledger", "record", "men")
    ran = tacit("ledger", "correct", *words)
    assert ran.status == 2 and said in flat(ran.err)


def test_nothing_was_recorded_so_nothing_is_corrected(tacit: Any, folder: Path) -> None:
    ran = tacit("ledger", "correct", "men", *WRONG)
    assert ran.status == 2 and "nothing was recorded yet" in flat(ran.err)


def test_synthetic_data_and_their_correction_both_spend(tacit: Any, folder: Path) -> None:
    pytest.importorskip("flint")
    drawn = (
        "  drawn: {table: patients, synthetic: {group: sex, value: condition, epsilon: 2, "
        "delta: 0, mechanism: dirichlet}, to: [insurer]}\n"
    )
    for epsilon, status in ((2, 3), (4, 0)):
        write(more=drawn)
        plan = (
            Path("tacit.yaml").read_text("utf-8")
            + f"  - differential-privacy: {{release: drawn, epsilon: {epsilon}, delta: 0}}\n"
        )
        Path("tacit.yaml").write_text(plan, "utf-8")
        for number, condition in ((1, "Heart"), (2, "Viral")):
            (folder / f"{number}.csv").write_text(
                "sex,condition\n" + f"M,{condition}\n" * 4 + "F,SARS\n" * 3, "utf-8"
            )
        assert tacit("ledger", "record", "drawn", "--answer", "1.csv").status == 0
        assert tacit("ledger", "correct", "drawn", *WRONG, "--answer", "2.csv").status == status


@pytest.mark.slow
def test_a_correction_in_a_ledger_in_postgresql(tacit: Any, folder: Path, ledger_url: str) -> None:
    write(ledger=f'ledger: "{ledger_url}"\n')
    tacit("ledger", "record", "men")
    cured(folder)
    assert tacit("ledger", "correct", "men", *WRONG).status == 0
    assert tacit("ledger", "list", "--json").json["entries"][1]["corrects"] == [1]
    assert tacit("ledger", "verify").status == 0 and tacit("ledger", "recheck").status == 0


def test_nobody_is_believed_more_than_the_bound_whatever_the_mistake_was() -> None:
    """All pairs of a wrong and a true table that fit both answers, weighted by how many values
    differ, in any way that knows no names.
    """
    chance = random.Random(5)
    for _ in range(60):
        people, values = range(chance.randint(2, 4)), ["x", "y", "z"][: chance.randint(2, 3)]
        members = [
            [view for view in range(3) if chance.random() < 0.7] for _ in people
        ]  # view 0 was wrong; 1 and 2 are true
        worlds = list(itertools.product(values, repeat=len(people)))
        old, new = chance.choice(worlds), chance.choice(worlds)

        def shown(
            world: tuple[str, ...], view: int, members: list[list[int]] = members
        ) -> Counter[str]:
            return Counter(value for person, value in enumerate(world) if view in members[person])

        fits_old = [one for one in worlds if shown(one, 0) == shown(old, 0)]
        fits_new = [
            one for one in worlds if all(shown(one, view) == shown(new, view) for view in (1, 2))
        ]
        answers = [
            list(shown(new, 1).elements()),
            list(shown(new, 2).elements()),
            list(shown(old, 0).elements()),
        ]
        turned = [[{1: 0, 2: 1, 0: 2}[view] for view in some] for some in members]
        bound = largest(merged(overlap_of(values, answers, turned)), 2)
        weight = [Fraction(chance.randint(1, 50)) for _ in range(len(people) + 1)]
        total: Fraction = Fraction(0)
        belief: Counter[tuple[int, str]] = Counter()
        for one, other in itertools.product(fits_old, fits_new):
            share = weight[sum(a != b for a, b in zip(one, other, strict=True))]
            total += share
            for person, value in enumerate(other):
                belief[person, value] += share  # type: ignore[assignment]
        covered = [person for person in people if members[person]]
        assert all(belief[person, value] <= bound * total for person in covered for value in values)
