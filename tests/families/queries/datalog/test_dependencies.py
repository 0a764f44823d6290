"""Integrity constraints as they are written, and what is wrong with them."""

from __future__ import annotations

import pytest

from tacit.errors import QueryError
from tacit.families.queries.datalog.dependencies import inclusion, keys_of, read_constraint
from tacit.families.queries.logic.cardinality import at_least, at_most
from tacit.families.queries.query import Relation

RELATIONS = {
    "RS": Relation("RS", ("reviewer", "subcom")),
    "SP": Relation("SP", ("subcom", "paper")),
    "RP": Relation("RP", ("reviewer", "paper")),
    "N": Relation("N", ("id", "age"), kinds={"id": "integer", "age": "integer"}),
}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("RP(r, p) -> RS(r, c), SP(c, p)", ["RP(r, p) -> RS(r, c), SP(c, p)"]),
        (
            "RP(a, p), RP(b, p), RP(c, p), a != b -> c = a | c = b",
            ["RP(a, p), RP(b, p), RP(c, p), a != b -> a = c | b = c"],
        ),
        ("true -> RS('a', 'b') | SP(x, y), x != y", ["true -> RS('a', 'b') | SP(x, y), x != y"]),
        ("RP(x, x) -> false", ["RP(x, x) -> false"]),
        ("RP(x, y) | RS(x, y) -> SP(y, z)", ["RP(x, y) -> SP(y, z)", "RS(x, y) -> SP(y, z)"]),
        ("RP(x, y), x = 'a' -> RS(x, z), z = y", ["RP('a', y) -> RS('a', y)"]),
        ("RP(x, y), 'a' = 'b' -> false", []),
        ("RP(x, y) -> x = 'a' | false", ["RP(x, y) -> x = 'a'"]),
        ("RP(x, y) ->\n  RS(x, z),\n  SP(z, y)", ["RP(x, y) -> RS(x, z), SP(z, y)"]),
        ("RP[reviewer] in RS[reviewer]", ["RP(reviewer, paper) -> RS(reviewer, subcom')"]),
        ("RP[reviewer] ⊆ RS[reviewer]", ["RP(reviewer, paper) -> RS(reviewer, subcom')"]),
        (
            "RS: reviewer -> subcom",
            ["RS(reviewer, subcom), RS(reviewer, subcom') -> subcom = subcom'"],
        ),
    ],
)
def test_constraints_are_read(text: str, read: list[str]) -> None:
    assert [str(one) for one in read_constraint(text, RELATIONS)] == read


@pytest.mark.parametrize(
    ("text", "code", "column", "words"),
    [
        ("RP(r, p), x != r -> false", "unsafe", 11, "x is compared on the left"),
        ("RP(r, p) -> RS(r, c), x != c", "unsafe", 23, "x is compared on the right"),
        ("RP(r, p) -> r = x", "unsafe", 17, "x is compared on the right"),
        ("RP(r, p)", "syntax", 9, "found the end"),
        ("RP(r, p) -> RX(r)", "unknown-table", 13, "there is no table 'RX'"),
        ("RP(r) -> false", "arity", 1, "RP has 2 columns"),
        ("RP(r, p) -> RS(r, c) RS(c, r)", "syntax", 22, "found 'RS'"),
        ("RP[rev] in RS[reviewer]", "unknown-column", 4, "no column 'rev'"),
        ("RP[reviewer, paper] in RS[reviewer]", "arity", 4, "2 columns of RP"),
        ("RX: a -> b", "unknown-table", 1, "there is no table 'RX'"),
        ("each SP.paper has at least 2 RS.reviewer", "unknown-column", 30, "no column 'paper'"),
        ("N(i, a) -> a = 'old'", "type-clash", 16, "no value"),
        ("N(i, a), RP(i, p) -> false", "type-clash", None, "never equal"),
        ("RP(r, $p) -> false", "parameter", 7, "$p is a parameter"),
    ],
)
def test_errors_say_where_and_what(text: str, code: str, column: int | None, words: str) -> None:
    relations = {
        **RELATIONS,
        "RP": Relation("RP", ("reviewer", "paper"), kinds={"reviewer": "text", "paper": "text"}),
    }
    with pytest.raises(QueryError, match=r".") as caught:
        read_constraint(text, relations)
    assert caught.value.code == code and words in caught.value.message and caught.value.hint
    assert column is None or (caught.value.mark is not None and caught.value.mark.column == column)


def test_keys_and_foreign_keys() -> None:
    relations = {
        "R": Relation("R", ("a", "b", "c"), keys=(("a",), ("b", "c"))),
        "T": Relation("T", ("x",), keys=(("x",),)),
    }
    assert [str(one) for one in keys_of(relations)] == [
        "R(a, b, c), R(a, b', c') -> b = b', c = c'",
        "R(a, b, c), R(a', b, c) -> a = a'",
    ]
    assert (
        str(inclusion("R", ["b", "c"], "R", ["c", "b"], relations)) == "R(a, b, c) -> R(a', c, b)"
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("RP(a, p), RP(b, p), RP(c, p), a != b -> c = a | c = b", 2),
        ("RP(a, p), RP(b, p) -> a = b", 1),
        ("each RP.paper has at most 3 RP.reviewer", 3),
        ("each SP.paper has at most 1 RP.reviewer", 1),
        ("RP(a, p), RP(b, q) -> a = b, p = q", 1),
        ("RP(a, p), RP(b, p), a != b -> p = 'x'", None),
        ("RP(a, p), RP(b, p), a != 'x' -> a = b", None),
        ("RP(a, p), RP(b, p), RP(c, p), a != b -> c = a", None),
        ("RP(a, p), RP(b, a) -> a = b", None),
        ("RP(a, p), RS(b, p) -> a = b", None),
    ],
)
def test_counting_constraints_are_recognised(text: str, number: int | None) -> None:
    [one] = read_constraint(text, RELATIONS)
    found = at_most(one, RELATIONS)
    assert (found.number if found else None) == number


def test_at_least_is_recognised() -> None:
    [one] = read_constraint("SP(c, p) -> RP(a, p), RP(b, p), a != b", RELATIONS)
    found = at_least(one.alternatives[0], one.universal(), RELATIONS)
    assert found is not None and found.number == 2
    for text in (
        "SP(c, p) -> RP(a, q), RP(b, q), a != b",
        "SP(c, p) -> RP(a, p), RP(b, p), a != p",
        "SP(c, p) -> RP(a, p), RP(b, p)",
    ):
        [one] = read_constraint(text, RELATIONS)
        assert at_least(one.alternatives[0], one.universal(), RELATIONS) is None
