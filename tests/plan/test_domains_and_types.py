"""The values of a domain are brought to the column's type without
loss, or refused at their place.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tacit.checking.assess import assess
from tacit.errors import DataError, TacitError
from tacit.families.queries.schema import relations_of
from tacit.plan.read.document import parse
from tacit.plan.read.load import load_plan, read_plan


def domain_of(kind: str, written: str) -> tuple[Any, ...]:
    text = (
        "version: 1\n"
        "tables:\n"
        f"  t: {{columns: {{zip: {kind}, name: text}}, domains: {{zip: {written}}}}}\n"
    )
    table = read_plan(parse(text), Path(".")).tables["t"]
    assert table.domains["zip"] == relations_of({"t": table})["t"].domains["zip"]
    return table.domains["zip"]


@pytest.mark.parametrize(
    ("kind", "written", "values"),
    [
        ("text", "[13053, 14850]", ("13053", "14850")),
        ("text", "[1.50, x, 007]", ("1.50", "x", "007")),
        ("integer", '["1", 2, "-3"]', (1, 2, -3)),
        ("decimal", '["1.50", 2, 2.5]', (Decimal("1.50"), 2, Decimal("2.5"))),
        ("date", "[2020-01-01]", (dt.date(2020, 1, 1),)),
        ("boolean", '["true", false]', (True, False)),
        ("timestamp", '["2020-01-01 10:00:00"]', (dt.datetime(2020, 1, 1, 10),)),
        ('"decimal(8, 2)"', '["1.5"]', (Decimal("1.5"),)),
    ],
)
def test_values_are_of_the_type_of_their_column(
    kind: str, written: str, values: tuple[Any, ...]
) -> None:
    assert domain_of(kind, written) == values
    assert [type(one) for one in domain_of(kind, written)] == [type(one) for one in values]


@pytest.mark.parametrize(
    ("kind", "written", "said"),
    [
        ("integer", "[1, x]", "'x' is no number, and 'zip' is declared integer"),
        ("integer", "[1.5]", "1.5 is no whole number"),
        ("integer", "[" + "9" * 5_000 + "]", "more than 38 digits"),
        ("decimal", "[" + "9" * 5_000 + "]", "more than 38 digits"),
        ("text", "[true]", "True is not of type text"),
        ("text", "[1e9]", "could be written in other ways"),
        ("date", "[soon]", "'soon' is no date"),
        ("date", "[12]", "12 is not of type date"),
        ("boolean", "[perhaps]", "neither true nor false"),
        ("text", '[1, "1"]', "stands twice"),
        ("integer", '["1", 1]', "stands twice"),
    ],
)
def test_what_cannot_be_a_value_of_the_column_is_refused_at_its_place(
    kind: str, written: str, said: str
) -> None:
    with pytest.raises(TacitError, match=said) as caught:
        domain_of(kind, written)
    assert caught.value.mark is not None and caught.value.mark.line == 3


PLAN = """version: 1
tables:
  people: {{{table}, nullable: [], domains: {{zip: {zips}, name: [Ann, Bob]}}}}
secrets: {{near: "SELECT name FROM people WHERE zip = '13053'"}}
releases: {{some: {{query: "SELECT name FROM people WHERE zip = '13053' OR zip = '1'"}}}}
checks:
- perfect-privacy: {{secret: near, release: some}}
- g-safety: {{secret: near, release: some, over: domain}}
- e-safety: {{secret: near, release: some, over: domain}}
"""


@pytest.mark.parametrize(
    "table", ["columns: {name: text, zip: text}", "file: people.csv, columns: {zip: text}"]
)
def test_forgotten_quotes_in_a_domain_do_not_make_a_breach_impossible(
    table: str, tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text("name,zip\nAnn,13053\nBob,14850\n")
    found = {}
    for zips in ("[13053, 14850]", '["13053", "14850"]'):
        (tmp_path / "tacit.yaml").write_text(PLAN.format(table=table, zips=zips))
        found[zips] = [
            (one.status, one.measured) for one in assess(load_plan(tmp_path / "tacit.yaml"))
        ]
    bare, quoted = found.values()
    assert bare == quoted and {status for status, _ in bare} == {"breached"}


def test_a_domain_that_is_not_of_the_source_s_type_is_refused_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,zip\nAnn,13053\nBob,14850\n")
    (tmp_path / "tacit.yaml").write_text(PLAN.format(table="file: people.csv", zips="[13053, x]"))
    with pytest.raises(
        TacitError,
        match=r"tacit\.yaml:3:.*domain of people\.zip: 'x' is no number, and the column is integer",
    ):
        assess(load_plan(tmp_path / "tacit.yaml"))


@pytest.mark.parametrize(
    ("row", "written", "values"),
    [("13053", '["13053", "14850"]', (13053, 14850)), ('"13053"', "[13053, x]", ("13053", "x"))],
)
def test_a_domain_is_brought_to_the_type_of_the_rows_where_none_is_declared(
    row: str, written: str, values: tuple[Any, ...]
) -> None:
    text = (
        "version: 1\ntables:\n"
        f"  t: {{columns: [zip], rows: [[{row}]], domains: {{zip: {written}}}}}\n"
    )
    tables = read_plan(parse(text), Path(".")).tables
    assert relations_of(tables)["t"].domains["zip"] == values


def test_perfect_privacy_compares_a_domain_with_the_data(tmp_path):
    (tmp_path / "p.csv").write_text("name,zip\nAnn,99999\n")
    (tmp_path / "tacit.yaml").write_text("""version: 1
tables: {p: {columns: {name: text, zip: integer}, domains: {zip: [13053]}}}
secrets: {who: "SELECT name, zip FROM p WHERE zip = 99999"}
releases: {v: {query: "SELECT name FROM p WHERE zip = 99999"}}
checks: [perfect-privacy: {secret: who, release: v}]
""")
    with pytest.raises(DataError, match="zip of table p has values that its domain does not have"):
        assess(load_plan(tmp_path / "tacit.yaml"))
