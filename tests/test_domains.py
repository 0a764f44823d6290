"""A closed domain of a table is held against its data."""

from __future__ import annotations

from typing import Any

import pytest

from overlap_asking import asked
from tacit.errors import DataError, PlanError

DAYS = ["2020-01-02", "2020-01-03"]


def plan(kind: str, values: list[Any], domain: list[Any]) -> dict[str, Any]:
    table = {
        "columns": {"name": "text", "ward": "text", "since": kind},
        "rows": [[str(at), "A", value] for at, value in enumerate(values)],
        "identifiers": ["name"],
        "quasi-identifiers": ["ward"],
        "sensitive": ["since"],
        "domains": {"since": domain},
    }
    check = {"l-diversity": {"release": "wards", "kind": "distinct", "l": 2}}
    return {
        "version": 1,
        "tables": {"stays": table},
        "releases": {"wards": {"table": "stays"}},
        "checks": [check],
    }


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("date", DAYS),
        ("timestamp", ["2020-01-02 10:00:00", "2020-01-03 10:00:00.5"]),
        ("text", DAYS),
        ("integer", [1, 2]),
        ("decimal", [1.5, 2]),
        ("boolean", [True, False]),
    ],
)
def test_a_domain_lists_values_of_every_type(kind: str, values: list[Any]) -> None:
    """Dates stand as text in a plan, and were taken as none of the domain's."""
    assert asked(plan(kind, values, values))[0].status == "holds"
    with pytest.raises(DataError, match="has 1 value that the domain does not list"):
        asked(plan(kind, values, values[:1]))


def test_a_domain_that_is_not_of_the_type_is_named() -> None:
    with pytest.raises(PlanError, match="'soon' is no date, and 'since' is declared date"):
        asked(plan("date", DAYS, [*DAYS, "soon"]))
