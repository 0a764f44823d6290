"""Relations from a plan's tables: with data, with a source, and with nothing but the plan."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tacit.errors import DataError
from tacit.families.queries.schema import relations_of
from tacit.model.schema import Table


def test_a_plan_without_data_is_enough() -> None:
    table = Table(
        "wards",
        columns={"pid": "integer", "ward": None},
        keys=(("pid",),),
        domains={"ward": ("a", "b")},
        nullable=("ward",),
    )
    relation = relations_of({"wards": table})["wards"]
    assert relation.columns == ("pid", "ward") and relation.keys == (("pid",),)
    assert relation.domains == {"ward": ("a", "b")} and relation.nullable == {"ward"}
    assert relation.kinds == {"pid": "integer", "ward": "text"}, "the domain tells"


def test_the_source_knows_order_types_and_gaps_and_compares_what_the_plan_calls_otherwise() -> None:
    table = Table("t", columns={"b": "text"}, keys=(("a",),))
    found = relations_of(
        {"t": table}, {"t": {"a": "integer", "b": "integer", "c": "date"}}, {"t": ["a", "c"]}
    )["t"]
    assert found.columns == ("a", "b", "c")
    assert found.kinds == {"a": "integer", "b": "engine", "c": "date"}
    assert found.nullable == {"c"} and found.keys == (("a",),)


def test_a_key_that_may_be_null_is_no_key() -> None:
    table = Table("t", columns={"a": None, "b": None}, keys=(("a",), ("b",)), nullable=("b",))
    assert relations_of({"t": table})["t"].keys == (("a",),)


def test_rows_in_the_plan_tell_types_and_gaps() -> None:
    columns = dict.fromkeys("abcde")
    table = Table(
        "t", columns=columns, rows=((1, "x", True, Decimal("0.5"), 1), (2, None, False, 3, "y"))
    )
    relation = relations_of({"t": table})["t"]
    assert relation.kinds == {"a": "integer", "b": "text", "c": "boolean", "d": "decimal"}
    assert relation.nullable == {"b"}


def test_columns_may_be_known_by_their_roles_only() -> None:
    table = Table("t", keys=(("id",),), quasi_identifiers=("zip",), sensitive=("illness",))
    assert relations_of({"t": table})["t"].columns == ("id", "zip", "illness")


def test_a_table_of_which_nothing_is_known_is_an_error() -> None:
    with pytest.raises(DataError, match="columns of table 't' are not known"):
        relations_of({"t": Table("t")})


def test_a_domain_has_values_of_its_column() -> None:
    days = Table("t", columns={"day": "date"}, domains={"day": ("2020-01-01",)})
    assert str(relations_of({"t": days})["t"].domains["day"][0]) == "2020-01-01"
    numbers = Table("t", columns={"n": "integer"}, domains={"n": (1, Decimal("2.0"))})
    assert relations_of({"t": numbers})["t"].domains["n"] == (1, 2)
    with pytest.raises(DataError, match=r"domain of t\.n: 'x' is no number"):
        relations_of({"t": Table("t", columns={"n": "integer"}, domains={"n": ("x",)})})
