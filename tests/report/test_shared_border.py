"""What is shared has no value of a protected column and no name:
every kind of verdict, on every surface, compared with the table.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from report.printing import printed
from tacit import cli
from tacit.checking.assess import Assessment, assess
from tacit.families.catalog import DEFINITIONS
from tacit.plan.read.load import load_plan
from tacit.report.html.page import render

NAMES = [f"Nqx{number}w" for number in range(12)]
TEXTS = ["Zvkalpha", "zvkalpha", "Zvkbeta", "Zvkgamma", "Zvkdelta", "?"]
NUMBERS = ["7310057", "7310961", "7329013", "7441777"]
WARDS = ["Hpward", "Jpward", "Kpward"]
PROTECTED = [*NAMES, *TEXTS[:-1], *NUMBERS, *WARDS]

MICRODATA = """version: 1
tables:
  people:
    file: people.csv
    person: [name]
    identifiers: [name]
    quasi-identifiers: [ward]
    sensitive: [ill, pay]
    hierarchies: {{ward: "*", ill: ill.csv}}
releases:
  raw: {{table: people}}
  out: {{table: people, generalization: {{ward: 1}}}}
checks:
{checks}
"""
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 2}],
    "l-diversity": [
        {"kind": "distinct", "l": 3, "sensitive": "ill"},
        {"kind": "entropy", "l": 2, "sensitive": "ill"},
        {"kind": "recursive", "l": 2, "c": 2, "sensitive": "ill"},
        {"kind": "distinct", "l": 2},
    ],
    "risk": [{"at-most": "1/3"}, {"at-most": "1/3", "attacker": "marketer"}],
    "rho1-rho2": [{"rho1": "0.4", "rho2": "0.6", "sensitive": "ill"}],
    "semantic": [
        {"measure": {"positive": "0.7"}, "against": {"negations": 1}, "sensitive": "ill"},
        {"measure": {"uninformative": "0.3"}, "against": {"known-people": 1}, "sensitive": "ill"},
        {"measure": {"negative": "0.05"}, "sensitive": "ill"},
        {
            "measure": {"positive": "0.7"},
            "protect": {"range": [7310000, 7320000]},
            "sensitive": "pay",
        },
    ],
    "t-closeness": [
        {"t": "0.2", "sensitive": "ill"},
        {"t": "0.2", "distance": "ordered", "sensitive": "pay"},
        {"t": "0.2", "distance": "hierarchical", "sensitive": "ill"},
        {"t": "0.2", "distance": "ordered", "sensitive": "ill"},
    ],
    "alpha-k": [{"alpha": "1/2", "k": 3, "sensitive": "ill"}],
    "k-e": [{"k": 2, "e": 2000, "sensitive": "pay"}],
    "m-invariance": [
        {"m": 2, "sensitive": "ill"},
        {"m": 2, "kind": "values", "sensitive": "ill"},
    ],
    "variance": [{"v": 1000000, "sensitive": "pay"}],
    "eps-m": [{"epsilon": 1000, "m": "6/5", "sensitive": "pay"}],
    "dissimilarity": [
        {"epsilon": 1000, "delta": "1/10", "k": 2, "sensitive": "pay"},
        {"epsilon": 0, "delta": "1/2", "k": 3, "sensitive": "ill"},
    ],
    "c-k-safety": [{"c": "0.7", "k": 1, "sensitive": "ill"}],
    "skyline": [
        {"l": 1, "k": 1, "m": 0, "c": "0.8", "sensitive": "ill"},
        {"l": 0, "k": 1, "m": 1, "c": "0.9", "sensitive": "pay"},
    ],
}
OVERLAPS = """version: 1
tables: {people: {file: people.csv, columns: {ward: text, ill: text, name: text, pay: text}, key: [name], sensitive: [ill]}}
releases:
  all: {query: "SELECT ill FROM people"}
  some: {query: "SELECT ward, ill FROM people"}
  low: {query: "SELECT ill FROM people WHERE pay < '733'"}
checks:
  - gamma-privacy: {releases: [all], gamma: 0.9}
  - gamma-privacy: {releases: [all, some, low], gamma: 0.3}
  - gamma-privacy: {releases: [some, low], gamma: 0.3, seconds: 0.001, epsilon: 0.05, theta: 0.9}
  - k-sind: {releases: [all, low], k: 2}
  - k-sind: {releases: [some, low], k: 6}
  - k-rsind: {releases: [all], k: 2}
  - k-rsind: {releases: [some, low], k: 4}
"""  # noqa: E501
VIEWS = """version: 1
tables: {people: {file: people.csv, columns: {name: text, ward: text, ill: text, pay: text}}}
secrets:
  ills: "S(n, i) :- people(n, w, i, p)"
  rare: "SELECT DISTINCT ill FROM people"
releases:
  wards: {query: "SELECT DISTINCT ward, ill FROM people"}
  names: {query: "SELECT DISTINCT name FROM people"}
checks:
  - perfect-privacy: {secret: ills, release: wards}
  - perfect-privacy: {secret: rare, release: names}
"""
SAFETY = """version: 1
tables:
  people: {file: few.csv, columns: {name: text, ill: text}, key: [name]}
secrets: {ills: "S(n) :- people(n, i)", all: "S(n, i) :- people(n, i)"}
releases:
  names: {query: "V(n) :- people(n, i)"}
  ill: {query: "V(i) :- people(n, i)"}
checks:
  - g-safety: {secret: ills, release: names, name: one}
  - g-safety: {secret: all, release: ill, name: two}
  - e-safety: {secret: all, release: ill, name: three}
  - e-safety: {secret: ills, release: names, name: four}
"""
SYNTHETIC = """version: 1
tables: {people: {file: people.csv, person: [name], sensitive: [ill]}}
releases:
  drawn: {table: people, synthetic: {group: ward, value: ill, epsilon: 1, delta: 1e-5}}
  noise: {table: people, synthetic: {group: ward, value: ill, epsilon: 1, delta: 1e-5, mechanism: geometric}}
checks:
  - differential-privacy: {release: drawn}
  - differential-privacy: {release: drawn, epsilon: 0.1}
  - differential-privacy: {release: noise, epsilon: 0.1}
  - differential-privacy: {releases: [drawn, noise], epsilon: 3, delta: 0.01}
  - probabilistic-dp: {release: drawn}
"""  # noqa: E501


def write_tables(folder: Path) -> None:
    draw = random.Random(7)
    rows = [
        f"{name},{WARDS[at // 5]},{draw.choice(TEXTS)},{draw.choice(NUMBERS)}"
        for at, name in enumerate(NAMES)
    ]
    (folder / "people.csv").write_text("\n".join(["name,ward,ill,pay", *rows, ""]))
    (folder / "few.csv").write_text("name,ill\nNqx0w,Zvkalpha\nNqx1w,Zvkbeta\n")
    (folder / "ill.csv").write_text(
        "\n".join(f"{value};{'greek' if value != '?' else 'none'};*" for value in TEXTS) + "\n"
    )


def microdata() -> str:
    lines = [
        f"  - {kind}: {json.dumps({'release': release, **one})}"
        for kind, some in PARAMETERS.items()
        for one in some
        for release in ("raw", "out")
    ]
    return MICRODATA.format(checks="\n".join(lines))


IDENTIFIERS = """version: 1
tables:
  people: {file: people.csv, person: [name], identifiers: [ward], quasi-identifiers: [name], sensitive: [ill, pay]}
releases:
  raw: {table: people}
  out: {query: "SELECT ill FROM people"}
checks:
  - hipaa-identifiers: {release: raw}
  - hipaa-identifiers: {release: out}
"""  # noqa: E501

PLANS = {
    "microdata": microdata(),
    "overlaps": OVERLAPS,
    "views": VIEWS,
    "safety": SAFETY,
    "synthetic": SYNTHETIC,
    "identifiers": IDENTIFIERS,
}


def values_in(text: str, plan: str) -> list[str]:
    """The protected values that a text has, but for those that the plan itself names."""
    return [
        value
        for value in PROTECTED
        if re.search(rf"(?<![A-Za-z0-9]){value}(?![A-Za-z0-9])", text) and value not in plan
    ]


def answered(folder: Path, plan: str) -> Assessment:
    write_tables(folder)
    (folder / "tacit.yaml").write_text(plan)
    return assess(load_plan(folder / "tacit.yaml"), depth="page")


def test_every_kind_of_check_is_tried() -> None:
    tried = {kind for text in PLANS.values() for kind in DEFINITIONS if f"- {kind}:" in text}
    assert tried == set(DEFINITIONS)


@pytest.mark.parametrize("family", PLANS)
def test_what_is_shared_of_a_check_has_no_protected_value(family: str, tmp_path: Path) -> None:
    found, plan = answered(tmp_path, PLANS[family]), PLANS[family]
    for verdict in found.verdicts:
        assert not values_in(json.dumps(verdict.to_json("shared")), plan), (
            verdict.check,
            verdict.status,
        )
    assert not values_in(printed(found, audience="shared"), plan)
    assert not values_in(render(found, "shared"), plan)
    if family in ("microdata", "overlaps", "identifiers"):
        assert values_in(printed(found), plan), "the owner sees them"
        assert {verdict.status for verdict in found.verdicts} >= {"holds", "breached"}


COMMANDS = {
    "microdata": [("attack", "raw"), ("attack", "out"), ("anonymize", "raw", "-o", "new.csv")],
    "overlaps": [("restore", "all,some,low")],
    "synthetic": [("synthesize", "drawn", "-o", "new.csv")],
    "safety": [("explain", "one", "--worlds"), ("explain", "three", "--worlds")],
}


@pytest.mark.parametrize(
    ("family", "command"), [(family, one) for family, some in COMMANDS.items() for one in some]
)
@pytest.mark.parametrize("form", ["terminal", "json", "page"])
def test_what_is_shared_of_a_command_has_no_protected_value(
    family: str,
    command: tuple[str, ...],
    form: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_tables(tmp_path)
    (tmp_path / "tacit.yaml").write_text(PLANS[family])
    monkeypatch.chdir(tmp_path)
    options = {"terminal": (), "json": ("--json",), "page": ("--report", "page.html")}[form]
    monkeypatch.setattr("sys.argv", ["tacit", *command, "--audience", "shared", *options])
    status = cli.run()
    told = capsys.readouterr()
    page = (tmp_path / "page.html").read_text() if (tmp_path / "page.html").exists() else ""
    assert status != 2, told.err
    assert not values_in(told.out + page, PLANS[family])
