"""Datalog: what is read, and what is said about what cannot be."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from tacit.errors import QueryError
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Variable,
)
from tacit.families.queries.read import read

RELATIONS = {
    "P": Relation("P", ("pid", "name"), (("pid",),), kinds={"pid": "integer", "name": "text"}),
    "D": Relation(
        "D",
        ("pid", "illness", "ward", "day"),
        nullable=frozenset({"ward"}),
        kinds={"pid": "integer", "illness": "text", "ward": "integer", "day": "date"},
    ),
    "R": Relation("R", ("a", "b")),
}
N, ID, W, X = (Variable(name) for name in "niwx")


def query(text: str) -> Query:
    exact = read(text, RELATIONS, name="q").exact
    assert exact is not None and not exact.bag
    return exact


def only(text: str) -> Conjunctive:
    (part,) = query(text).parts
    return part


def test_constants_are_quoted_or_numbers_and_words_are_variables() -> None:
    part = only("S(n, 1) :- P(i, n), D(i, 'cancer', w, _), w != 12")
    day = Variable("_")
    assert part.head == (N, Constant(1))
    assert part.atoms == (Atom("P", (ID, N)), Atom("D", (ID, Constant("cancer"), W, day)))
    assert part.comparisons == (Comparison(W, "!=", Constant(12)),)
    assert part.known == {ID, W}


def test_each_underscore_is_a_variable_of_its_own() -> None:
    terms = only("S() :- R(_, _)").atoms[0].terms
    assert terms[0] != terms[1]


def test_greater_is_less_the_other_way_round() -> None:
    part = only("S(x) :- R(x, y), x > y, x >= 2, y <> 3")
    assert [str(one) for one in part.comparisons] == ["y < x", "2 <= x", "y != 3"]


def test_equal_terms_are_one_term() -> None:
    part = only("S(x, z) :- R(x, y), R(u, v), x = y, y = v, z = 'c', u = 1.50")
    assert str(part) == "(x, 'c') :- R(x, x), R(1.50, x)"
    assert part.atoms[1].terms[0] == Constant(Decimal("1.5"))
    assert part.known == {X}


def test_what_can_never_be_true_is_left_out() -> None:
    assert query("S(x) :- R(x, y), 1 = 2").parts == ()
    assert query("S(x) :- R(x, y), x < x; S(y) :- R(x, y), 1 < 2").parts == (
        only("S(y) :- R(x, y)"),
    )
    assert query("S(x) :- R(x, y), x <= x").parts[0].known == {X}


@pytest.mark.parametrize(
    "text",
    [
        "S(x) :- R(x, 1); S(y) :- R(2, y)",
        "S(x) :- R(x, 1)\nS(y) :- R(2, y)\n",
        "S(x) :- R(x, 1);\n\nS(y) :- R(2, y);",
    ],
)
def test_a_semicolon_or_a_new_line_separates_rules(text: str) -> None:
    assert [str(part) for part in query(text).parts] == ["(x) :- R(x, 1)", "(y) :- R(2, y)"]


def test_a_rule_goes_on_after_a_comma_and_inside_parentheses() -> None:
    text = "S(x,\n  y) :-\n  R(x, y),\n  R(y,\n    x)\n  , x !=\n 1"
    assert str(only(text)) == "(x, y) :- R(x, y), R(y, x), x != 1"


def test_a_yes_no_question_has_no_columns() -> None:
    reading = read("S() :- R(x, y)", RELATIONS, name="q")
    assert reading.columns == () and reading.exact is not None and reading.exact.parts[0].head == ()


def test_columns_are_named_by_the_head() -> None:
    assert read("S(n, 'c') :- P(i, n)", RELATIONS, name="q").columns == ("n", "col1")


def test_quotes_double_quotes_comments_and_case() -> None:
    part = only("""S(x) :- R(x, 'it''s'), R(x, "a ""b"" c") # why not""")
    assert [atom.terms[1] for atom in part.atoms] == [Constant("it's"), Constant('a "b" c')]


def test_a_quoted_day_is_a_day_in_a_date_column() -> None:
    part = only("S(i) :- D(i, d, w, t), t < '2020-01-31'")
    assert part.comparisons[0].right == Constant(dt.date(2020, 1, 31))


def test_null_is_no_constant_and_a_join_is_never_null() -> None:
    assert NULL not in only("S(i) :- D(i, d, w, t), D(j, e, w, u)").atoms[0].terms
    assert only("S(i) :- D(i, d, w, t), D(j, e, w, u)").known == {W}


WRONG = [
    (
        "S(x, z) :- R(x, y)",
        "unsafe",
        1,
        6,
        "z stands in the head only. Use it in a subgoal, or quote it: 'z'.",
    ),
    ("S(x) :- R(x, y), z < 1", "unsafe", 1, 18, "z is compared and stands in no subgoal."),
    ("S(x) :- R(x, y), z = u", "unsafe", 1, 18, "z is compared"),
    (
        "S(x) :- R(x)",
        "arity",
        1,
        9,
        "R has 2 columns, and 1 stand here. Write a term for each column of R(a, b)",
    ),
    ("S(x) :- RR(x, y)", "unknown-table", 1, 9, "there is no table 'RR'."),
    (
        "S(n) :- D(i, 1, w, d), P(i, n)",
        "type-clash",
        1,
        14,
        "1 is no value of D.illness, which is text. Write '1'.",
    ),
    (
        "S(n) :- P('x', n)",
        "type-clash",
        1,
        11,
        "'x' is no value of P.pid, which is integer. Write a number without quotes.",
    ),
    ("S(n) :- P(i, n), n < 3", "type-clash", 1, 22, "3 is no value of n"),
    (
        "S(n) :- P(n, n)",
        "type-clash",
        1,
        14,
        "n joins P.pid (number) with P.name (text), which are never equal.",
    ),
    ("S(n) :- P(i, n), i = n", "type-clash", 1, 18, "compares number with text"),
    ("S(i) :- D(i, d, w, 'soon')", "type-clash", 1, 20, "'soon' is no value of D.day"),
    ("S(x) :- R(x, 'abc)", "syntax", 1, 14, "this quote is not closed. Close it in the same line."),
    ("S(x) :- R(x, y), R(y z)", "syntax", 1, 22, "found 'z'. Write a comma or ) in R(...)."),
    (
        "S(x) :- R(x, y) R(y, x)",
        "syntax",
        1,
        17,
        "found 'R'. Write a comma, or ; before the next rule.",
    ),
    ("S(x) :-", "syntax", 1, 8, "found the end. Write a variable or a constant."),
    ("S(x) :- x", "syntax", 1, 10, "found the end. Write a comparison such as x != 'a'"),
    ("S x :- R(x, y)", "syntax", 1, 3, "found 'x'. Write ( after S."),
    ("S(x) :- R(x, 2020-01-01)", "syntax", 1, 18, "found '-01'."),
    ("S(x) :- R(x, y) & R(y, x)", "syntax", 1, 17, "'&' cannot stand here."),
    ("S(x) :- R(x, $paper)", "parameter", 1, 14, "$paper is a parameter, and has no value here."),
    ("S(x) :- R(x, y)\nT(x) :- R(y, x)", "union", 2, 1, "the rules of a union have one name"),
    (
        "S(x) :- R(x, y)\nS(x, y) :- R(y, x)",
        "arity",
        2,
        1,
        "S has 1 columns in the first rule and 2 here.",
    ),
    (":-", "syntax", 1, 1, "found ':-'. Write the head of a rule."),
]


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "message"), WRONG, ids=[one[0] for one in WRONG]
)
def test_bad_datalog_is_pointed_at(
    text: str, code: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(QueryError) as found:
        read(text, RELATIONS, name="q", file="q.dl")
    error = found.value
    assert error.mark is not None
    assert (error.code, error.mark.line, error.mark.column) == (code, line, column)
    assert message in f"{error.message} {error.hint}"
    assert str(error).startswith(f"q.dl:{line}:{column}: ") and str(error).endswith("^")
