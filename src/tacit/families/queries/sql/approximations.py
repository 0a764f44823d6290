"""Approximations: every code that a reading or a refusal can carry, in words."""

from __future__ import annotations

from collections.abc import Mapping

# What is read by supports: what the fragment does, and what is asked instead.
APPROXIMATED: Mapping[str, str] = {
    "aggregate": (
        "an aggregate is computed from the rows that FROM and WHERE find; all of these are taken"
    ),
    "group-by": (
        "grouping sets, or a column that is not grouped, are computed from the rows of the group"
    ),
    "window": "a window looks at other rows; all rows are taken",
    "qualify": "QUALIFY chooses rows by looking at others; all rows are taken",
    "limit": "LIMIT and OFFSET choose rows by looking at others; all rows are taken",
    "distinct-on": "DISTINCT ON chooses rows by looking at others; all rows are taken",
    "outer-join": "whether a row stays without a match depends on its matches; both are taken",
    "not-exists": "whether no row matches depends on the rows that would; both sides are taken",
    "not-in": "NOT IN depends on the rows that are equal and on NULL; both sides are taken",
    "except": "EXCEPT depends on equal rows of the other side; both sides are taken",
    "intersect-all": "INTERSECT ALL counts equal rows of both sides; all of them are taken",
    "semijoin": (
        "without DISTINCT a row counts once, however many matches it has; all matches are taken"
    ),
    "distinct-inside": (
        "rows of a DISTINCT part are counted once in a result that counts; all rows behind "
        "them are taken"
    ),
    "counts": "how often a row occurs is not the number of ways to find it; all ways are taken",
    "scalar-subquery": "a subquery is used as a value; all its rows are taken",
    "arithmetic": (
        "a computed value; the condition is left out, or the columns that it uses are taken"
    ),
    "case": "a computed value; the condition is left out, or the columns that it uses are taken",
    "cast": "a converted value; the condition is left out, or the columns that it uses are taken",
    "function": (
        "a function of columns; the condition is left out, or the columns that it uses are taken"
    ),
    "like": "a pattern; the condition is left out, so any text may match",
    "condition": "a condition used as a value; the columns that it uses are taken",
    "implicit-cast": "the engine converts one side; the condition is left out",
    "collation": (
        "the order of text depends on the language of the database; the condition is left out"
    ),
    "row-value": "the engine has its own rules for NULL inside row values; NULL may equal NULL",
    "too-many-cases": "the condition has too many cases; it is left out",
}

# What is not read at all.
REFUSED: Mapping[str, str] = {
    "volatile-function": (
        "the answer would change by itself: random numbers, the clock, samples, who asks"
    ),
    "unknown-function": (
        "a function that is not on the list of those that depend on their arguments only"
    ),
    "recursion": (
        "WITH RECURSIVE that refers to itself, CONNECT BY, views that are defined by each other"
    ),
    "table-function": "functions, UNNEST and LATERAL VIEW in FROM",
    "pivot": "PIVOT and UNPIVOT",
    "join-kind": (
        "ASOF and POSITIONAL joins, and others than inner, outer, cross, natural, semi and anti"
    ),
    "parameter": "a placeholder without a value",
    "not-a-query": "anything but one SELECT: DML, DDL, several statements, SELECT INTO, FOR UPDATE",
    "not-read": "a clause that Tacit does not know; nothing is passed over in silence",
    "characters": (
        "a character outside of quotes that databases and the parser take for different things"
    ),
    "read-differently": "the database's own parser makes another tree of the text",
    "too-large": "the query falls apart into thousands of conjunctive queries",
    "dialect": "a dialect other than duckdb, postgres and spark",
}

# What is wrong in the query itself.
WRONG: Mapping[str, str] = {
    "syntax": "the text does not parse",
    "engine": "the text parses, but the database refuses it",
    "unknown-table": "no table, view or WITH query has this name",
    "unknown-column": "no table of the query has this column",
    "ambiguous-column": "several tables have this column",
    "ambiguous-table": "two tables have the same name or alias",
    "type-clash": "a constant or a column of another kind than the one that it is compared with",
    "arity": "two numbers of columns that must be equal are not",
    "misplaced": "an aggregate or a window where none can stand",
    "unsafe": "Datalog: a variable that stands in no subgoal",
    "union": "Datalog: rules of one union with different names",
}

HINTS: Mapping[str, str] = {
    "volatile-function": "Leave it out: what a view tells must not change by itself.",
    "unknown-function": "Leave it out, or compute it in a table of its own.",
    "parameter": "Write the value.",
    "misplaced": "Aggregates and windows belong into SELECT, HAVING, QUALIFY and ORDER BY.",
    "recursion": "Write the steps out as joins.",
    "table-function": "Put the rows into a table.",
    "pivot": "Write the columns out.",
    "join-kind": "Use JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN.",
    "not-a-query": "Write one SELECT.",
    "not-read": "Leave it out, or write it in another way.",
}
