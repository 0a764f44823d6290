"""The reference page of queries: every code is there, and its example does what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from tacit.errors import QueryError
from tacit.families.queries.query import Relation
from tacit.families.queries.read import read
from tacit.families.queries.sql import approximations
from tacit.families.queries.sql.aliases import RULES, Place

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "queries.md"
ROW = re.compile(
    r"^\| `(?P<code>[\w-]+)` \| (?:`(?P<query>(?:SELECT|WITH|DELETE|S\().*)`|.*) \|.*\|$",
    re.MULTILINE,
)
RELATIONS = {
    "P": Relation("P", ("pid", "name"), (("pid",),), kinds={"pid": "integer", "name": "text"}),
    "D": Relation(
        "D",
        ("pid", "illness", "ward", "day"),
        nullable=frozenset({"ward"}),
        kinds={"pid": "integer", "illness": "text", "ward": "integer", "day": "date"},
    ),
}
ROWS = [(found["code"], found["query"]) for found in ROW.finditer(PAGE.read_text("utf-8"))]
EXAMPLES = [(code, query) for code, query in ROWS if query]


def test_every_code_is_explained() -> None:
    codes = {*approximations.APPROXIMATED, *approximations.REFUSED, *approximations.WRONG}
    assert {code for code, _ in ROWS} == codes
    assert len(EXAMPLES) >= len(codes) - 6


@pytest.mark.parametrize(("code", "query"), EXAMPLES, ids=[code for code, _ in EXAMPLES])
def test_every_example_is_read_as_the_page_says(code: str, query: str) -> None:
    dialect = "postgres" if code == "collation" else "duckdb"
    if code in approximations.APPROXIMATED:
        reading = read(query, RELATIONS, name="q", dialect=dialect)
        assert not reading.is_exact and code in {one.code for one in reading.approximations}
    else:
        with pytest.raises(QueryError) as found:
            read(query, RELATIONS, name="q", dialect=dialect)
        assert found.value.code == code


def test_the_table_of_aliases_is_the_one_that_is_read_by() -> None:
    text = PAGE.read_text("utf-8")
    for place in get_args(Place):
        clause, _, inside = place.partition(",")
        orders = " | ".join(
            ", ".join(RULES[dialect].get(place, ())) or "-"
            for dialect in ("duckdb", "postgres", "spark")
        )
        assert f"| {clause.upper()}{',' if inside else ''}{inside} | {orders} |" in text, place
