"""Plans of the first design of the plan file, word for word, and what they mean."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from tacit.families.catalog import CHECKS, DEFINITIONS
from tacit.model.release import Constraint, Microdata, PublicDomain, Synthetic, View
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.plan import Plan, Role
from tacit.plan.read.checks import OWN_FIELDS
from tacit.plan.read.load import load_plan

PLANS = Path(__file__).parent / "plans"


def plan(name: str) -> Plan:
    return load_plan(PLANS / f"{name}.yaml", need_checks=True)


def test_the_demo_plan():
    demo = plan("microdata")
    table = demo.tables["inpatients"]
    assert (demo.source, demo.folder, demo.file) == (".", PLANS, str(PLANS / "microdata.yaml"))
    assert (table.file, table.keys, table.person) == ("inpatients.csv", (("name",),), ("name",))
    assert table.identifiers == ("name",)
    assert table.quasi_identifiers == ("zip", "age", "nationality")
    assert table.sensitive == ("condition",)
    assert table.columns == {} and table.rows is None and table.nullable is None
    assert table.hierarchies == {
        "zip": CsvHierarchy("zip.csv"),
        "age": CsvHierarchy("age.csv"),
        "nationality": FlatHierarchy(),
    }
    assert demo.releases["april"] == Microdata(
        "april", "inpatients", {"zip": 2, "age": 1, "nationality": 1}
    )
    first, second, third = demo.checks
    assert (first.kind, first.releases, first.parameters, first.name) == (
        "k-anonymity",
        ("april",),
        {"k": 4},
        None,
    )
    assert second.parameters == {"kind": "distinct", "l": Fraction(3)}
    assert third.parameters == {"kind": "entropy", "l": Fraction(14, 5)}
    assert third.name == "may-entropy"
    assert str(demo.mark(*first.path, "k")).endswith("microdata.yaml:19:38")


def test_views_under_constraints():
    conference = plan("constraints")
    rp = conference.tables["RP"]
    assert rp.columns == {"reviewer": None, "paper": None}
    assert rp.rows is not None and rp.rows[0] == ("r1", "p1")
    assert rp.domains == {"reviewer": ("r1", "r2", "r3", "r4")}
    assert rp.nullable == ()
    assert conference.constraints[1] == "RP(a, p), RP(b, p), RP(c, p), a != b -> c = a | c = b"
    assert conference.secrets["any-paper"] == "S(r) :- RP(r, $paper)"
    assert conference.releases["rs"] == View(
        "rs", "SELECT DISTINCT reviewer, subcom FROM RS", to=("authors",)
    )
    assert conference.releases["two"] == Constraint("two", "SP(c, p) -> RP(a, p), RP(b, p), a != b")
    assert conference.published == ("who",)
    assert [check.releases for check in conference.checks] == [("rs",), ("rs",), ("rs", "two")]
    assert {check.secret for check in conference.checks} == {"reviewers"}


def test_overlapping_views_of_one_table():
    patients = plan("overlapping")
    rows = patients.tables["patients"].rows
    assert rows is not None and rows[0] == ("Alan", "M", 23, "Heart") and len(rows) == 7
    gamma, sind = patients.checks
    assert (gamma.releases, gamma.parameters) == (("male", "age26to28"), {"gamma": Fraction(1, 2)})
    assert sind.parameters == {"k": 2}


def test_the_other_releases(load):
    text = (PLANS / "others.yaml").read_text(encoding="utf-8")
    others = load(text, {"views/wards.sql": "SELECT ward FROM staff\n"})
    wards = View("wards", "SELECT ward FROM staff", "views/wards.sql")
    assert others.releases["wards"] == wards
    assert others.releases["from-file"] == View("from-file", wards.query, wards.query_file)
    assert others.releases["outside"] == Microdata("outside", "T", file="released.csv")
    assert others.releases["answered"] == View(
        "answered", "SELECT condition FROM T", answer="insurer.csv", to=("insurer",)
    )
    full, least = others.releases["full"], others.releases["least"]
    assert isinstance(full, Synthetic) and isinstance(least, Synthetic)
    assert full == Synthetic(
        "full",
        "jobs",
        "destination",
        "origin",
        Fraction(23, 5),
        Fraction(1, 100_000),
        count="jobs",
        domain=PublicDomain("tracts.csv"),
        coarsen="FILE",
        shrink="FILE",
        accept=Fraction(1, 2),
    )
    assert least == Synthetic(
        "least", "jobs", "destination", "origin", Fraction(23, 5), Fraction(1, 100_000)
    )
    assert others.published == ("ledger",) and others.fresh == 2
    assert others.roles == {"nurses": Role("nurses", "deny", ("cancer",), ("wards",))}
    safety = others.checks[0]
    assert (safety.given, safety.collude) == (("answered", "ledger"), (("a", "b"),))
    assert safety.parameters == {"over": "domain"}
    closeness = others.checks[1]
    assert closeness.sensitive == "condition"
    assert closeness.parameters == {
        "t": Fraction(1, 5),
        "distance": "ordered",
        "missing": "match-any",
    }


def test_a_table_with_everything(load):
    text = (PLANS / "others.yaml").read_text(encoding="utf-8")
    staff = load(text, {"views/wards.sql": "SELECT ward FROM staff"}).tables["staff"]
    assert staff.columns["ward"] == "integer" and staff.columns["note"] is None
    assert staff.keys == (("name",), ("ward", "job"))
    assert staff.quasi_identifiers == ("ward",)
    assert staff.hierarchies == {
        "ward": RangeHierarchy((Fraction(5), Fraction(10), Fraction(20))),
        "born": DateHierarchy(("month", "year")),
        "job": MaskHierarchy("right"),
    }
    assert staff.distances == {
        "salary": "numeric",
        "note": "discrete",
        "job": {"taxonomy": "jobs.csv"},
        "mood": "variational",
        "illness": {"variational": ("p_flu", "p_cold")},
        "born": {"python": "module:function"},
    }


def test_values_are_read_as_written(load):
    rows = (
        load("""
version: 1
tables:
  t:
    columns: [value]
    rows:
    - [yes]
    - [off]
    - [2020-01-01]
    - [007]
    - [12:30]
    - [0x1F]
    - [1_000]
    - [1]
    - ["1"]
    - [0.10]
    - [1e-5]
    - [true]
    - ["true"]
    - [null]
    - [~]
    - ['']
    - [{flu: 0.9, cold: 0.1}]
""")
        .tables["t"]
        .rows
    )
    expected = [
        "yes",
        "off",
        "2020-01-01",
        "007",
        "12:30",
        "0x1F",
        "1_000",
        1,
        "1",
        Decimal("0.10"),
    ]
    expected += [Decimal("0.00001"), True, "true", None, None, ""]
    expected += [{"flu": Decimal("0.9"), "cold": Decimal("0.1")}]
    assert rows == tuple((value,) for value in expected)
    assert [type(value) for (value,) in rows] == [type(value) for value in expected]


@pytest.mark.parametrize("written", ["release: r", "releases: [r]", "release: [r]", "releases: r"])
def test_a_release_may_be_named_in_four_ways(load, written):
    plan = load(
        "version: 1\n"
        f"tables: {{t: }}\n"
        f"releases: {{r: {{table: t}}}}\n"
        "checks:\n"
        f"- k-anonymity: {{{written}, k: 2}}\n"
    )
    assert plan.checks[0].releases == ("r",)


def test_every_check_of_the_catalog_can_be_written_as_its_example_says(load):
    kinds = {
        Microdata: "{table: t}",
        View: "{query: SELECT 1}",
        Constraint: "{constraint: R(x) -> S(x)}",
        Synthetic: "{table: t, synthetic: {group: g, value: v, epsilon: 1, delta: 0}}",
    }
    for kind in CHECKS.values():
        example = kind.example().replace("NAME", "r")
        plan = load(
            "version: 1\ntables: {t: {sensitive: s}}\nsecrets: {r: SELECT 2}\n"
            f"releases: {{r: {kinds[kind.about[0]]}}}\nchecks:\n- {example}\n"
        )
        assert plan.checks[0].kind == kind.name


def test_the_catalog_has_the_checks_of_the_contract():
    names = """
        k-anonymity, l-diversity, t-closeness, alpha-k, k-e, eps-m, variance, c-k-safety, skyline, rho1-rho2,
        dissimilarity, semantic, risk, m-invariance, perfect-privacy, g-safety, e-safety, gamma-privacy, k-sind, k-rsind,
        differential-privacy, probabilistic-dp, hipaa-identifiers"""  # noqa: E501
    assert list(CHECKS) == [name.strip() for name in names.split(",")]


@pytest.mark.parametrize("kind", CHECKS)
def test_a_definition_takes_every_key_that_a_check_may_have(kind):
    keys = {one.name for one in CHECKS[kind].parameters} - set(OWN_FIELDS)
    takes = inspect.signature(DEFINITIONS[kind]).parameters
    assert {key.replace("-", "_") for key in keys} <= set(takes)
