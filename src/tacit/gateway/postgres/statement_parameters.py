"""Parameters: of which type they are, by where they stand in a query; clients ask before they bind.

Only the plan is looked at: a parameter beside a column has the column's type, one in a CAST the
type of the CAST, and any other is text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tacit.families.queries.query import Relations
from tacit.gateway.postgres import types

KINDS: Mapping[str, int] = {
    "integer": types.INT8,
    "decimal": types.NUMERIC,
    "text": types.TEXT,
    "date": types.DATE,
    "timestamp": types.TIMESTAMP,
    "boolean": types.BOOL,
}
CASTS: Mapping[Any, int] = {
    exp.DataType.Type.SMALLINT: types.INT2,
    exp.DataType.Type.INT: types.INT4,
    exp.DataType.Type.BIGINT: types.INT8,
    exp.DataType.Type.FLOAT: types.FLOAT4,
    exp.DataType.Type.DOUBLE: types.FLOAT8,
    exp.DataType.Type.DECIMAL: types.NUMERIC,
    exp.DataType.Type.BOOLEAN: types.BOOL,
    exp.DataType.Type.DATE: types.DATE,
    exp.DataType.Type.TIMESTAMP: types.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ: types.TIMESTAMPTZ,
}
COMPARED = (exp.Binary, exp.Between, exp.In, exp.Paren, exp.Tuple)
PLACE = re.compile(r"\$(\d{1,4})")
MOST = 1_000


def parameter_types(sql: str, relations: Relations, dialect: str) -> tuple[int, ...]:
    """The numbers of the types of $1, $2, ...

    >>> from tacit.families.queries.query import Relation
    >>> known = {"r": Relation("r", ("a", "b"), kinds={"a": "integer", "b": "text"})}
    >>> parameter_types("SELECT a FROM r WHERE a > $1 AND b = $2 LIMIT $3", known, "duckdb")
    (20, 25, 20)
    """
    count = min(MOST, max(map(int, PLACE.findall(sql)), default=0))
    if not count:
        return ()
    found = dict.fromkeys(range(1, count + 1), types.TEXT)
    try:
        tree = sqlglot.parse_one(sql, read=dialect)
    except (SqlglotError, RecursionError, ValueError):
        return tuple(found.values())
    kinds = {
        column.casefold(): kind
        for relation in relations.values()
        for column, kind in relation.kinds.items()
    }
    for node in tree.find_all(exp.Placeholder, exp.Parameter):
        name = node.name
        if name.isdigit() and int(name) in found:
            found[int(name)] = _type(node, kinds)
    return tuple(found.values())


def _type(node: exp.Expr, kinds: Mapping[str, str]) -> int:
    above = node.parent
    if isinstance(above, exp.Limit | exp.Offset):
        return types.INT8
    if isinstance(above, exp.Cast):
        return CASTS.get(above.to.this, types.TEXT)
    while isinstance(above, COMPARED):
        for column in above.find_all(exp.Column):
            kind = kinds.get(column.name.casefold())
            if kind is not None:
                return KINDS.get(kind, types.TEXT)
        above = above.parent if isinstance(above, exp.Paren | exp.Tuple) else None
    return types.TEXT
