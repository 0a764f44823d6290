"""`synthetic:` releases and their checks as the plan has them:
what they mean, and what is wrong with them, where.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.errors import TacitError
from tacit.model.release import MilesKept, PublicDomain, Synthetic
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Plan

Load = Callable[..., Plan]
HEAD = (
    "version: 1\n"
    "tables: {jobs: {columns: [origin, destination, n]}, people: {person: [id], identifiers: "
    "[id]}, open: , closed: {domains: {v: [a, b]}}}\n"
)


def release(
    options: str, table: str = "jobs", columns: str = "group: destination, value: origin"
) -> str:
    return f"{HEAD}releases: {{s: {{table: {table}, synthetic: {{{columns}, {options}}}}}}}\n"


def read(load: Load, options: str, **more: str) -> Synthetic:
    found = load(release(options, **more)).releases["s"]
    assert isinstance(found, Synthetic)
    return found


def test_every_option_is_read(load: Load) -> None:
    found = read(
        load,
        "count: n, epsilon: ln(50), delta: 1e-5, guarantee: pdp, domain: {file: tracts.csv, value: "
        "id, latitude: y, longitude: x, groups: places.csv, within: 30.5}, "
        "outside: drop, prior: people.csv, coarsen: boroughs.csv, shrink: {miles: {5: 0.5, 2.5: 1, "
        '10: "1/3"}, beyond: 0.05}, accept: 4',
    )
    assert found == Synthetic(
        "s",
        "jobs",
        "destination",
        "origin",
        "ln(50)",
        Fraction(1, 100_000),
        count="n",
        guarantee="pdp",
        domain=PublicDomain("tracts.csv", "id", "y", "x", "places.csv", Fraction(61, 2)),
        outside="drop",
        prior="people.csv",
        coarsen="boroughs.csv",
        shrink=MilesKept(
            (
                (Fraction(5, 2), Fraction(1)),
                (Fraction(5), Fraction(1, 2)),
                (Fraction(10), Fraction(1, 3)),
            ),
            Fraction(1, 20),
        ),
        accept=Fraction(4),
    )
    assert found.files() == ("tracts.csv", "places.csv", "people.csv", "boroughs.csv")


def test_the_defaults(load: Load) -> None:
    assert read(load, "epsilon: 4.6, delta: 0") == Synthetic(
        "s", "jobs", "destination", "origin", Fraction(23, 5), Fraction(0)
    )
    assert read(load, "epsilon: 1, delta: 0, prior: uniform, mechanism: geometric").prior is None
    assert read(load, "epsilon: 1, delta: 0, domain: a.csv, shrink: keep.csv").shrink == "keep.csv"


def test_beyond_is_not_needed_where_nothing_is(load: Load) -> None:
    found = read(
        load, "epsilon: 1, delta: 0.1, domain: {file: a.csv, within: 5}, shrink: {miles: {5: 0.5}}"
    )
    assert found.shrink == MilesKept(((Fraction(5), Fraction(1, 2)),), None)


def test_checks_take_logarithms_and_several_releases(load: Load) -> None:
    plan = load(
        HEAD
        + "releases:\n  a: {table: open, synthetic: {group: g, value: v, epsilon: 1, delta: 0}}\n"
        "  b: {table: open, synthetic: {group: g, value: v, epsilon: 2, delta: 0}}\n"
        "checks:\n"
        "- differential-privacy: {releases: [a, b], epsilon: ln(50), delta: 1e-6}\n"
        "- probabilistic-dp: {release: a, epsilon: 4.6}\n"
    )
    assert plan.checks[0].releases == ("a", "b")
    assert plan.checks[0].parameters == {"epsilon": "ln(50)", "delta": Fraction(1, 10**6)}
    assert plan.checks[1].parameters == {"epsilon": Fraction(23, 5)}


def test_public_files_are_the_owners(load: Load) -> None:
    text = release(
        "epsilon: 1, delta: 0, domain: {file: a.csv, groups: b.csv}, prior: c.csv, coarsen: d.csv, "
        "shrink: e.csv"
    )
    plan = load(text, dict.fromkeys(("a.csv", "b.csv", "c.csv", "d.csv", "e.csv"), "x\n"))
    assert {path.name for path in owners_files(plan)} == {
        "tacit.yaml",
        "a.csv",
        "b.csv",
        "c.csv",
        "d.csv",
        "e.csv",
    }


OK = "epsilon: 1, delta: 0.1"
WRONG = {
    "epsilon that is 0": (
        "epsilon: »0, delta: 0",
        "found the number 0 in 'epsilon'. Write a number above 0 and up to 700 such as 1, or ln(5)",
    ),
    "epsilon below 0": ("epsilon: »-1, delta: 0", "found the number -1 in 'epsilon'."),
    "a logarithm below 0": ("epsilon: »ln(0.5), delta: 0", "found 'ln(0.5)' in 'epsilon'."),
    "a logarithm of words": ("epsilon: »ln(many), delta: 0", "found 'ln(many)' in 'epsilon'."),
    "epsilon that means nothing": (
        "epsilon: »1000, delta: 0",
        "found the number 1000 in 'epsilon'.",
    ),
    "a true epsilon": ("epsilon: »true, delta: 0", "found true in 'epsilon'."),
    "delta below 0": (
        "epsilon: 1, delta: »-1e-5",
        "delta is -0.00001. Write a number from 0 to less than 1",
    ),
    "delta of 1": ("epsilon: 1, delta: »1", "delta is 1."),
    "another guarantee": (
        f"{OK}, guarantee: »pure",
        "found 'pure' in 'guarantee'. Write dp or pdp.",
    ),
    "another mechanism": (
        f"{OK}, mechanism: »laplace",
        "found 'laplace' in 'mechanism'. Write dirichlet or geometric.",
    ),
    "another outside": (f"{OK}, outside: »keep", "found 'keep' in 'outside'. Write error or drop."),
    "pdp without delta": (
        "epsilon: 1, delta: 0, guarantee: »pdp",
        "pdp with delta 0 is dp. Write guarantee: dp",
    ),
    "accept without delta": (
        "epsilon: 1, delta: 0, accept: »4",
        "this delta is 0. Leave out accept, or write a delta above 0.",
    ),
    "accept of 0": (f"{OK}, accept: »0", "accept is 0. Write a number above 0"),
    "accept with the other mechanism": (
        f"{OK}, mechanism: geometric, accept: »4",
        "'accept' does not go with mechanism geometric",
    ),
    "prior with the other mechanism": (
        f"{OK}, mechanism: geometric, prior: »p.csv",
        "'prior' does not go with mechanism geometric",
    ),
    "shrink with the other mechanism": (
        f"{OK}, mechanism: geometric, shrink: »s.csv",
        "'shrink' does not go with mechanism geometric",
    ),
    "a domain that is a list": (
        f"{OK}, »domain: [a, b]",
        "found a list in 'domain'. Write the name of a file, or {file: tracts.csv",
    ),
    "a domain without a file": (f"{OK}, »domain: {{within: 3}}", "'domain' needs the key 'file'."),
    "an unknown key of a domain": (
        f"{OK}, domain: {{file: a.csv, »witin: 3}}",
        "unknown key 'witin'. Did you mean 'within'?",
    ),
    "within 0 miles": (
        f"{OK}, domain: {{file: a.csv, within: »0}}",
        "found the number 0 in 'within'. Write a number of miles above 0",
    ),
    "half a place": (
        f"{OK}, domain: {{file: a.csv, »latitude: y}}",
        "'latitude' stands without 'longitude'.",
    ),
    "shrink without miles": (
        f"{OK}, domain: a.csv, »shrink: {{beyond: 0.1}}",
        "'shrink' needs the key 'miles'.",
    ),
    "miles that are words": (
        f"{OK}, domain: a.csv, shrink: {{miles: {{»near: 1}}, beyond: 0.1}}",
        "found 'near' in 'miles'.",
    ),
    "miles that are 0": (
        f"{OK}, domain: a.csv, shrink: {{miles: {{»0: 1}}, beyond: 0.1}}",
        "found the number 0 in 'miles'.",
    ),
    "miles twice": (
        f'{OK}, domain: a.csv, shrink: {{»miles: {{2: 1, "2": 0.5}}, beyond: 0.1}}',
        "'miles' has two steps of 2.",
    ),
    "a chance of 0": (
        f"{OK}, domain: a.csv, shrink: {{miles: {{2: 1}}, beyond: »0}}",
        "found the number 0 in 'beyond'. Write a chance above 0 and up to 1",
    ),
    "a chance above 1": (
        f"{OK}, domain: a.csv, shrink: {{miles: {{2: »1.5}}, beyond: 0.1}}",
        "found the number 1.5 in 'miles'",
    ),
    "nothing beyond": (
        f"{OK}, domain: a.csv, »shrink: {{miles: {{2: 1}}}}",
        "'shrink' does not say how many cells are kept beyond 2 miles. Write beyond: 0.05",
    ),
    "miles without places": (
        f"{OK}, »shrink: {{miles: {{2: 1}}, beyond: 0.1}}",
        "nothing says where they are. Add domain: FILE",
    ),
    "dropped from nothing": (
        f"{OK}, outside: »drop",
        "no value is outside of the values that the data have. Add domain: FILE",
    ),
    "an unknown option": (f"{OK}, »shrnk: a.csv", "unknown key 'shrnk'. Did you mean 'shrink'?"),
    "a number as a key elsewhere": (f"{OK}, »2: 1", "the number 2 is a key where a name belongs."),
}


def assert_reported(load: Load, text: str, said: str) -> None:
    """The » is where the caret points; `said` is a part of the message and its hint."""
    lines = text.split("\n")
    line = next(number for number, words in enumerate(lines, 1) if "»" in words)
    with pytest.raises(TacitError) as raised:
        load(text.replace("»", ""))
    (error,) = list(raised.value)
    assert error.mark is not None and (error.mark.line, error.mark.column) == (
        line,
        lines[line - 1].index("»") + 1,
    ), str(error)
    assert said in f"{error.message} {error.hint}"


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_where_it_stands(load: Load, case: str) -> None:
    assert_reported(load, release(WRONG[case][0]), WRONG[case][1])


COLUMNS = {
    "a column that is not there": (
        "jobs",
        "group: destination, value: »orign",
        "table 'jobs' has no column 'orign'. Did you mean 'origin'?",
    ),
    "a count that is not there": (
        "jobs",
        "group: destination, value: origin, count: »m",
        "table 'jobs' has no column 'm'.",
    ),
    "one column for both": (
        "open",
        "group: place, value: »place",
        "'place' is both the group and the value.",
    ),
    "a count of values": (
        "open",
        "group: place, value: home, count: »home",
        "'home' is both the value and the count.",
    ),
    "people and counts": (
        "people",
        "group: place, value: home, count: »n",
        "a row of 'people' is one person, told by id, and 'count' says that it is several.",
    ),
    "an identifier as value": (
        "people",
        "group: place, value: »id",
        "'id' is an identifier of 'people', and would be published.",
    ),
    "an identifier as group": (
        "people",
        "group: »id, value: home",
        "'id' is an identifier of 'people', and would be published.",
    ),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_that_do_not_fit(load: Load, case: str) -> None:
    table, columns, said = COLUMNS[case]
    assert_reported(load, release(OK, table=table, columns=columns), said)


def test_dropping_needs_a_domain_of_any_kind(load: Load) -> None:
    assert (
        read(load, f"{OK}, outside: drop", table="closed", columns="group: g, value: v").outside
        == "drop"
    )
    assert read(load, f"{OK}, outside: drop, prior: p.csv").outside == "drop"
    assert read(load, f"{OK}, outside: drop, coarsen: p.csv").outside == "drop"


def test_a_check_with_an_epsilon_that_means_nothing(load: Load) -> None:
    text = HEAD + (
        "releases: {s: {table: open, synthetic: {group: g, value: v, epsilon: 1, delta: "
        "0}}}\n"
        "checks:\n"
        "- differential-privacy: {release: s, epsilon: »0}\n"
    )
    assert_reported(load, text, "found the number 0 in 'epsilon'.")
