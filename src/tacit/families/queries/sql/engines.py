"""Engines: does the database's own parser make the same tree of a text as the parser here?

The tree that is read is written out again with parentheses around everything, and the engine parses
both texts: DuckDB by `json_serialize_sql`, PostgreSQL by its grammar in `pglast`. Where the trees
differ, positions aside, the text is not read. Spark has no parser outside of a server, so its texts
are only checked by character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from tacit.errors import QueryError
from tacit.families.queries.understanding import QueryText

Tree = Any  # of JSON

NOT_WRAPPED = (
    exp.Paren,
    exp.Dot,
    exp.PropertyEQ,
    exp.Slice,
    exp.Kwarg,
    exp.JSONExtract,
    exp.JSONExtractScalar,
)
# Types are written in many ways (INT, integer, int4), and are no part of how a text falls into
# words and brackets; nor is where NULL is sorted.
LEFT_ASIDE = frozenset(
    {
        "query_location",
        "query_location_length",
        "location",
        "stmt_len",
        "stmt_location",
        "rexpr_list_start",
        "rexpr_list_end",
        "list_start",
        "list_end",
        "null_order",
        "sortby_nulls",
        "type_expr",
        "cast_type",
        "typeName",
        "funcformat",
    }
)
# What is computed is left to the engine, so that it matters only what it looks at;
# the parser here may write it in other words.
COMPUTED = frozenset(
    {
        "FUNCTION",
        "CASE",
        "CAST",
        "LAMBDA",
        "FuncCall",
        "CaseExpr",
        "TypeCast",
        "CoalesceExpr",
        "MinMaxExpr",
        "A_ArrayExpr",
        "A_Indirection",
        "SQLValueFunction",
    }
)
COMPUTED_BY_OPERATOR = frozenset(
    {
        "OPERATOR_COALESCE",
        "OPERATOR_NULLIF",
        "ARRAY_CONSTRUCTOR",
        "ARRAY_EXTRACT",
        "ARRAY_SLICE",
        "STRUCT_EXTRACT",
        "AEXPR_NULLIF",
    }
)
LOOKED_AT = frozenset(
    {"COLUMN_REF", "SUBQUERY", "STAR", "PARAMETER", "ColumnRef", "SubLink", "ParamRef"}
)
CONSTANTS = frozenset({"CONSTANT", "A_Const"})
NUMBER = re.compile(r"\.?[0-9][0-9_]*(?:\.[0-9]*)?")
COMPARED = frozenset({"=", "<>", "<", ">", "<=", ">="})
SAID_TWICE = {"ASCENDING": "ORDER_DEFAULT", "SORTBY_ASC": "SORTBY_DEFAULT"}
DUCKDB_NOTS = {
    "OPERATOR_IS_NOT_NULL": "OPERATOR_IS_NULL",
    "COMPARE_NOT_IN": "COMPARE_IN",
    "COMPARE_DISTINCT_FROM": "COMPARE_NOT_DISTINCT_FROM",
}
POSTGRES_NOTS = {
    "IS_NOT_NULL": "IS_NULL",
    "IS_NOT_TRUE": "IS_TRUE",
    "IS_NOT_FALSE": "IS_FALSE",
    "IS_NOT_UNKNOWN": "IS_UNKNOWN",
}
SHORT = 4_000  # characters of a text whose outcome is remembered
HINT = "Put parentheses where it is not plain what belongs together, or write it in another way."


class Unparsed(Exception):
    """The engine does not read a text at all; its words."""


def check_engine(source: QueryText, text: str, tree: exp.Expr, dialect: str) -> None:
    """Refuse a text that the engine reads as another tree;
    `text` is the source, or what runs in its place.
    """
    if dialect not in TREES:
        return
    try:
        alike = same_tree(dialect, text, written_out(tree, dialect))
    except Unparsed as error:
        raise QueryError(
            f"this SQL does not parse: {error}", code="syntax", mark=source.mark(0)
        ) from None
    except RecursionError:
        raise QueryError(
            "this SQL is nested too deeply.",
            code="too-large",
            hint="Split it into several views.",
            mark=source.mark(0),
        ) from None
    if not alike:
        raise QueryError(
            "the database's own parser reads this otherwise than Tacit does.",
            code="read-differently",
            hint=HINT,
            mark=source.mark(0),
        )


def can_ask(dialect: str) -> bool:
    """Is the engine's parser here? Spark's never is."""
    return dialect != "postgres" or _postgres() is not None


def written_out(tree: exp.Expr, dialect: str) -> str:
    """The tree as text, with parentheses around everything that an operator joins.

    >>> from sqlglot import parse_one
    >>> written_out(parse_one("SELECT a + b * 2 FROM t WHERE NOT a = 1 OR b"), "duckdb")
    'SELECT a + (b * 2) FROM t WHERE (NOT (a = 1)) OR b'
    """
    found = tree.copy()
    for node in list(found.walk()):
        if (
            _joins(node)
            and node.parent is not None
            and _joins(node.parent)
            and not _goes_on(node, node.parent)
        ):
            around = exp.Paren()
            node.replace(around)
            around.set("this", node)
    told = found.sql(
        dialect=dialect, unsupported_level=ErrorLevel.IGNORE, comments=False, copy=False
    )
    return str(told)


def _joins(node: exp.Expr) -> bool:
    return isinstance(node, exp.Binary | exp.Unary | exp.Between | exp.In) and not isinstance(
        node, NOT_WRAPPED
    )


def _goes_on(node: exp.Expr, above: exp.Expr) -> bool:
    """a AND b AND c, a + b + c: chains are as long as people like, and brackets in them as deep."""
    return (
        type(node) is type(above)
        and isinstance(node, exp.Connector | exp.Add | exp.Mul | exp.DPipe)
        and node.arg_key == "this"
    )


def same_tree(dialect: str, text: str, other: str) -> bool:
    """Does the engine make the same tree of both texts? Raises Unparsed
    where it does not read the first.

    >>> (
    ...     same_tree("duckdb", "SELECT NOT a = b", "SELECT NOT (a = b)"),
    ...     same_tree("duckdb", "SELECT NOT a = b", "SELECT (NOT a) = b"),
    ... )
    (True, False)
    """
    return (_remembered if len(text) < SHORT else _compared)(dialect, text, other)


def _compared(dialect: str, text: str, other: str) -> bool:
    found = TREES[dialect](text, other)
    return found is None or are_alike(plain(found[0]), plain(found[1]))


_remembered = lru_cache(maxsize=1_000)(_compared)


def are_alike(one: Tree, other: Tree) -> bool:
    """Are two trees the same, but for how what is computed is written?"""
    if one == other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        if _is_computed(one) and _is_computed(other):
            plainly = not any(
                map(_looks_folded, (one, other))
            )  # constants are added up here, so their tree must be the same
            looked_at = _parts(one, LOOKED_AT) or (plainly and _parts(one, CONSTANTS))
            return (
                bool(looked_at)
                and looked_at == (_parts(other, LOOKED_AT) or _parts(other, CONSTANTS))
                and one.get("alias") == other.get("alias")
            )
        return one.keys() == other.keys() and all(are_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    return False


def _kind(tree: dict[str, Tree]) -> str:
    return str(tree.get("class") or (next(iter(tree)) if len(tree) == 1 else ""))


def _is_computed(tree: dict[str, Tree]) -> bool:
    if _kind(tree) == "A_Expr":
        has = tree["A_Expr"]
        return has.get("kind") in COMPUTED_BY_OPERATOR or (
            has.get("kind") == "AEXPR_OP" and has["name"][-1]["String"]["sval"] not in COMPARED
        )
    return _kind(tree) in COMPUTED or tree.get("type") in COMPUTED_BY_OPERATOR


def _looks_folded(tree: dict[str, Tree]) -> bool:
    return _kind(tree) in ("CAST", "TypeCast", "A_Expr") or bool(tree.get("is_operator"))


def _parts(tree: Tree, kinds: frozenset[str]) -> frozenset[str]:
    """The nodes of some kinds in something that is computed:
    the columns and subqueries that it looks at, or its constants.
    """
    if isinstance(tree, dict) and _kind(tree) in kinds:
        return frozenset({json.dumps(tree, sort_keys=True)})
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return frozenset().union(*(_parts(one, kinds) for one in parts))


def plain(tree: Tree) -> Tree:
    """A tree of an engine without positions, and with NOT said in one way:
    `x IS NOT NULL` is `NOT x IS NULL`.
    """
    if isinstance(tree, list):
        return [plain(one) for one in tree]
    if not isinstance(tree, dict):
        return SAID_TWICE.get(tree, tree) if isinstance(tree, str) else tree
    if isinstance(
        written := tree.get("fval")
        or (tree.get("kind") in ("NUMERIC", "INTEGER") and tree.get("text")),
        str,
    ) and NUMBER.fullmatch(written):
        return str(Decimal(written))  # .5 or 0.5
    if _is_interval(tree):
        return "INTERVAL"  # '1' DAY or '1 DAY'
    found = {key: plain(value) for key, value in tree.items() if key not in LEFT_ASIDE}
    return _duckdb_node(found) if "type" in found else _postgres_node(found)


# -- DuckDB ----------------------------------------------------------------------------------------


def _duckdb_node(node: dict[str, Tree]) -> dict[str, Tree]:
    kind = node["type"]
    if kind in DUCKDB_NOTS:
        return _duckdb_not({**node, "type": DUCKDB_NOTS[kind]})
    if kind in ("CONJUNCTION_AND", "CONJUNCTION_OR"):
        return {
            **node,
            "children": [
                one
                for child in node["children"]
                for one in (child["children"] if child.get("type") == kind else [child])
            ],
        }
    if str(node.get("function_name", "")).startswith("!~~"):
        return _duckdb_not({**node, "function_name": node["function_name"][1:]})
    return node


def _duckdb_not(node: dict[str, Tree]) -> dict[str, Tree]:
    return {
        "class": "OPERATOR",
        "type": "OPERATOR_NOT",
        "alias": node.pop("alias", ""),
        "children": [{**node, "alias": ""}],
    }


def _duckdb_trees(text: str, other: str) -> tuple[Tree, Tree]:
    from tacit.engines.duckdb.parser import trees

    found = trees(text, other)
    if found[0]["error"]:
        raise Unparsed(f"DuckDB says: {str(found[0].get('error_message')).splitlines()[0]}")
    return found


# -- PostgreSQL ------------------------------------------------------------------------------------


def _postgres_node(node: dict[str, Tree]) -> dict[str, Tree]:
    """A node of PostgreSQL's tree: a name and what it has."""
    (name, has), *more = node.items() if node else [("", None)]
    if more or not isinstance(has, dict):
        return node
    if name == "BoolExpr" and has.get("boolop") in ("AND_EXPR", "OR_EXPR"):
        inner = [one.get("BoolExpr", {}) for one in has["args"]]
        args = [
            part
            for one, deep in zip(has["args"], inner, strict=True)
            for part in (deep["args"] if deep.get("boolop") == has["boolop"] else [one])
        ]
        return {name: {**has, "args": args}}
    for key in ("nulltesttype", "booltesttype"):
        if has.get(key) in POSTGRES_NOTS:
            return _postgres_not({name: {**has, key: POSTGRES_NOTS[has[key]]}})
    return _postgres_operator(has) if name == "A_Expr" else node


def _postgres_operator(has: dict[str, Tree]) -> dict[str, Tree]:
    """NOT LIKE, NOT IN, NOT BETWEEN as NOT of the other."""
    kind, words = str(has.get("kind")), [one["String"]["sval"] for one in has.get("name", [])]
    if kind.startswith("AEXPR_NOT_BETWEEN"):
        return _postgres_not(
            {
                "A_Expr": {
                    **has,
                    "kind": kind.replace("NOT_", ""),
                    "name": [{"String": {"sval": words[0].replace("NOT ", "")}}],
                }
            }
        )
    if kind == "AEXPR_IN" and words == ["<>"]:
        return _postgres_not({"A_Expr": {**has, "name": [{"String": {"sval": "="}}]}})
    if kind in ("AEXPR_LIKE", "AEXPR_ILIKE", "AEXPR_SIMILAR") and words[0].startswith("!"):
        return _postgres_not({"A_Expr": {**has, "name": [{"String": {"sval": words[0][1:]}}]}})
    return {"A_Expr": has}


def _postgres_not(node: dict[str, Tree]) -> dict[str, Tree]:
    return {"BoolExpr": {"boolop": "NOT_EXPR", "args": [node]}}


def _is_interval(tree: dict[str, Tree]) -> bool:
    cast = tree.get("TypeCast")
    if not isinstance(cast, dict) or "A_Const" not in cast.get("arg", {}):
        return False
    return bool(
        cast.get("typeName", {}).get("names", [])[-1:] == [{"String": {"sval": "interval"}}]
    )


def _postgres_trees(*texts: str) -> tuple[Tree, ...] | None:
    parse = _postgres()
    if parse is None:
        return None
    first = json.loads(parse(texts[0], True))
    return first, json.loads(parse(texts[1], False))


@cache
def _postgres() -> Callable[[str, bool], str] | None:
    try:
        from pglast.parser import ParseError, parse_sql_json
    except ImportError:
        return None

    def parse(text: str, given: bool) -> str:
        try:
            return str(parse_sql_json(text))
        except ParseError as error:
            if given:
                raise Unparsed(f"PostgreSQL says: {error.args[0]}") from None
            return '{"error": true}'

    return parse


TREES: dict[str, Callable[..., tuple[Tree, ...] | None]] = {
    "duckdb": _duckdb_trees,
    "postgres": _postgres_trees,
}
