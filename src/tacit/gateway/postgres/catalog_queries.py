"""Questions about catalogs: PostgreSQL's SQL about pg_catalog and information_schema, as SQL for a
small database in memory that has those tables and nothing else.

Only what is listed here gets through: tables of the catalogs, and functions that are known to look
at nothing but their arguments and these tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tacit.gateway.postgres.catalog_rows import tables
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.settings import ONLY
from tacit.gateway.postgres.statements import SqlToken, tokens

SCHEMA = "tacit"
MACRO = "t_"  # before the names of functions that the database in memory is given
MENTIONS = re.compile(
    r"\bpg_|information_schema|\bcurrent_|\bsession_user\b|\bversion\s*\(|\bto_reg|set_config"
    r"|format_type|_description\s*\(|\buser\b|has_\w+_privilege",
    re.IGNORECASE,
)
# Functions that are given, by how many values they take.
FUNCTIONS: Mapping[str, Collection[int]] = {
    "format_type": (2,),
    "pg_get_expr": (2, 3),
    "pg_get_constraintdef": (1, 2),
    "pg_get_indexdef": (1, 3),
    "pg_get_viewdef": (1, 2),
    "pg_get_userbyid": (1,),
    "pg_get_serial_sequence": (2,),
    "pg_get_function_result": (1,),
    "pg_get_function_arguments": (1,),
    "pg_get_function_identity_arguments": (1,),
    "pg_get_functiondef": (1,),
    "pg_get_triggerdef": (1, 2),
    "pg_get_ruledef": (1, 2),
    "pg_get_partkeydef": (1,),
    "pg_get_statisticsobjdef_columns": (1,),
    "pg_partition_ancestors": (1,),
    "pg_relation_is_publishable": (1,),
    "pg_table_is_visible": (1,),
    "pg_type_is_visible": (1,),
    "pg_function_is_visible": (1,),
    "pg_collation_is_visible": (1,),
    "pg_operator_is_visible": (1,),
    "pg_opclass_is_visible": (1,),
    "pg_encoding_to_char": (1,),
    "pg_table_size": (1,),
    "pg_relation_size": (1, 2),
    "pg_total_relation_size": (1,),
    "pg_indexes_size": (1,),
    "pg_database_size": (1,),
    "pg_size_pretty": (1,),
    "pg_tablespace_location": (1,),
    "pg_is_in_recovery": (0,),
    "pg_is_wal_replay_paused": (0,),
    "pg_backend_pid": (0,),
    "pg_advisory_unlock_all": (0,),
    "pg_my_temp_schema": (0,),
    "pg_is_other_temp_schema": (1,),
    "pg_stat_get_numscans": (1,),
    "obj_description": (1, 2),
    "col_description": (2,),
    "shobj_description": (2,),
    "has_table_privilege": (2, 3),
    "has_schema_privilege": (2, 3),
    "has_column_privilege": (3, 4),
    "has_any_column_privilege": (2, 3),
    "has_database_privilege": (2, 3),
    "has_function_privilege": (2, 3),
    "has_sequence_privilege": (2, 3),
    "has_type_privilege": (2, 3),
    "pg_has_role": (2, 3),
    "to_regclass": (1,),
    "to_regtype": (1,),
    "to_regnamespace": (1,),
    "_pg_expandarray": (1,),
    "array_lower": (2,),
    "array_upper": (2,),
    "current_schemas": (1,),
    "quote_ident": (1,),
    "version": (0,),
    "aclexplode": (1,),
    "_pg_truetypid": (2,),
    "_pg_char_max_length": (2,),
    "_pg_numeric_precision": (2,),
}
# Functions of the database in memory that only look at their arguments.
PLAIN = {"generate_subscripts", "generate_series", "unnest", "bool_and", "bool_or", "nullif"}
PLAIN |= {"array_to_string", "array_length", "array_append", "array_cat", "regexp_replace"}
PLAIN |= {"row_number", "string_agg", "array_agg", "strpos", "cardinality", "array_position"}
KNOWN_FUNCTIONS = (
    exp.Cast,
    exp.Coalesce,
    exp.Count,
    exp.Max,
    exp.Min,
    exp.Sum,
    exp.Lower,
    exp.Upper,
    exp.Length,
    exp.Concat,
    exp.ConcatWs,
    exp.Substring,
    exp.Trim,
    exp.Replace,
    exp.RegexpReplace,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.SplitPart,
    exp.StrPosition,
    exp.Left,
    exp.Right,
    exp.Abs,
    exp.Greatest,
    exp.Least,
    exp.Nullif,
    exp.If,
    exp.Case,
    exp.And,
    exp.Or,
    exp.Exists,
    exp.Array,
    exp.ArrayAgg,
    exp.ArrayToString,
    exp.ArraySize,
    exp.ArrayConcat,
    exp.ArrayAppend,
    exp.GroupConcat,
    exp.LogicalAnd,
    exp.LogicalOr,
    exp.RowNumber,
    exp.Explode,
    exp.Unnest,
    exp.GenerateSeries,
    exp.ExplodingGenerateSeries,
    exp.Posexplode,
    exp.List,
)
# Words that PostgreSQL takes as names behind AS and a point.
LABELS = {"select", "insert", "update", "delete", "table", "references", "trigger"}
GIVEN = (
    exp.CurrentUser,
    exp.SessionUser,
    exp.CurrentSchema,
    exp.CurrentSchemas,
    exp.CurrentCatalog,
    exp.CurrentDatabase,
)
OIDS = {"regclass", "regtype", "regnamespace", "regproc", "regrole", "regprocedure", "regoper"}
TEXTS = {"name", "char", "cstring", "citext", "pg_node_tree", "aclitem", "information_schema"}


def asks_catalogs(sql: str, known: Collection[str]) -> bool:
    """Does a query ask about the catalogs, or the session? `known` are names of the plan, which
    mean the plan's own tables.
    """
    return MENTIONS.search(sql) is not None and _asks(sql, frozenset(known))


@lru_cache(maxsize=2_000)
def _asks(sql: str, known: frozenset[str]) -> bool:
    try:
        tree = parsed(sql)
    except Trouble:
        return False
    local = {one.alias for one in tree.find_all(exp.CTE)}
    named = [one for one in tree.find_all(exp.Table) if one.name not in local]
    real = [one for one in named if isinstance(one.this, exp.Identifier)]
    if real:
        return any(not one.db and one.name in tables() and one.name not in known for one in real)
    return (
        tree.find(*GIVEN) is not None
        or any(
            one.name.lower() in FUNCTIONS or one.name.lower() in ("current_setting", "set_config")
            for one in tree.find_all(exp.Anonymous, exp.SessionUser)
        )
        or any(type(one).__name__ in ("Version", "CurrentVersion") for one in tree.walk())
    )


def parsed(sql: str) -> exp.Expr:
    """The tree of a query, without the names of the catalogs' schemas; a Trouble where it is not
    one query.
    """
    try:
        found = sqlglot.parse(cleaned(sql), read="postgres")
    except (SqlglotError, RecursionError, ValueError):
        raise Trouble("42601", "this question about catalogs is not read.") from None
    tree = found[0] if len(found) == 1 else None
    if not isinstance(tree, exp.Query):
        raise Trouble("42601", "this is not one query about catalogs.")
    return tree


def cleaned(sql: str) -> str:
    """The text without what only PostgreSQL reads: pg_catalog before names, OPERATOR(), COLLATE.

    >>> cleaned("SELECT pg_catalog.pg_class.oid FROM information_schema.tables")
    'SELECT pg_class.oid FROM information_schema_tables'
    >>> cleaned("a OPERATOR(pg_catalog.~) '^(b)$' COLLATE pg_catalog.default")
    "a ~ '^(b)$' "
    """
    found = list(tokens(sql))
    cuts: list[tuple[int, int, str]] = []
    for at, one in enumerate(found):
        follows = found[at + 1].text if at + 1 < len(found) else ""
        if one.kind not in ("word", "name"):
            continue
        before = found[at - 1].word if at else ""
        if one.kind == "word" and one.word in LABELS and before in (".", "as"):
            cuts.append((one.at, one.at + len(one.text), f'"{one.word}"'))
            continue
        if one.word == "pg_catalog" and follows == ".":
            cuts.append((one.at, found[at + 1].at + 1, ""))
        elif one.word == "information_schema" and follows == "." and at + 2 < len(found):
            name = found[at + 2]
            kept = "" if name.word.startswith("_") else "information_schema_"
            cuts.append((one.at, name.at + len(name.text), kept + name.word))
        elif one.word == "operator" and follows == "(":
            cuts += _operator(found, at)
        elif one.word == "collate" and at + 1 < len(found):
            end = at + 3 if found[at + 2 : at + 3] and found[at + 2].text == "." else at + 1
            last = found[min(end, len(found) - 1)]
            cuts.append((one.at, last.at + len(last.text), ""))
    parts: list[str] = []
    ended = 0
    for start, end, text in sorted(cuts):
        if start >= ended:  # what lies inside another cut went with it
            parts += [sql[ended:start], text]
            ended = end
    return "".join([*parts, sql[ended:]])


def _operator(found: Sequence[SqlToken], at: int) -> list[tuple[int, int, str]]:
    """OPERATOR(pg_catalog.~) without what stands around its sign."""
    close = next((n for n in range(at, len(found)) if found[n].text == ")"), None)
    if close is None:
        return []
    signs = [one.text for one in found[at + 2 : close] if one.kind == "other"]
    text = "".join(one for one in signs if one != ".")
    return [(found[at].at, found[close].at + 1, text)]


def question(sql: str, values: Sequence[Any], settings: Mapping[str, str], role: str) -> str:
    """A question about catalogs, as the database in memory is asked it."""
    tree = parsed(sql)
    for name in tree.find_all(exp.Identifier):
        if not name.args.get("quoted"):
            name.set("this", name.name.lower())
    for node in list(tree.find_all(exp.Parameter, exp.Placeholder)):
        number = node.name
        if not number.isdigit() or not 1 <= int(number) <= len(values):
            raise Trouble("42P02", f"there is no parameter ${number}.")
        node.replace(_constant(values[int(number) - 1]))
    _check_tables(tree)
    for part in reversed(list(tree.walk())):  # what stands inside comes first
        new = _rewritten(part, settings, role)
        if new is not part:
            part.replace(new)
    for called in tree.find_all(exp.Func):
        _check_function(called)
    return tree.sql(dialect="duckdb", comments=False, normalize_functions=False)


def _constant(value: Any) -> exp.Expr:
    return exp.null() if value is None else exp.convert(value)


def _check_tables(tree: exp.Expr) -> None:
    local = {one.alias for one in tree.find_all(exp.CTE)}
    for node in list(tree.find_all(exp.Table)):
        if node.this.name.lower() == "pg_partition_ancestors":
            node.set("this", exp.to_identifier("t_ancestors"))
            node.set("db", exp.to_identifier(SCHEMA))
            node.set("ordinality", None)
            continue
        if not isinstance(node.this, exp.Identifier):
            continue
        name = node.name
        if name in local and not node.db:
            continue
        if node.db or node.catalog or name not in tables():
            shown = f"{node.db}.{name}" if node.db else name
            raise Trouble(
                "42P01",
                f'there is no catalog "{shown}" here.',
                hint="Ask about catalogs and about data in queries of their own.",
            )
        alias = name.removeprefix("information_schema_")
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        node.set("db", exp.to_identifier(SCHEMA))


def _rewritten(node: exp.Expr, settings: Mapping[str, str], role: str) -> exp.Expr:
    """A node, as the database in memory reads it."""
    if isinstance(node, exp.Column) and node.table.startswith("information_schema_"):
        node.set("table", exp.to_identifier(node.table.removeprefix("information_schema_")))
    elif isinstance(node, exp.Cast):
        return _cast(node)
    elif isinstance(node, exp.Format):
        return _formatted(node)
    elif isinstance(node, exp.CurrentUser | exp.SessionUser):
        return exp.Literal.string(settings["session_authorization"])
    elif isinstance(node, exp.CurrentSchema):
        return exp.Literal.string("public")
    elif isinstance(node, exp.CurrentSchemas):
        return exp.Anonymous(this=MACRO + "current_schemas", expressions=[node.this or exp.false()])
    elif isinstance(node, exp.CurrentCatalog | exp.CurrentDatabase):
        return exp.Literal.string(role)
    elif isinstance(node, exp.Literal) and node.is_string:
        if re.fullmatch(r"\{[\d,]*\}", node.name):
            return exp.Literal.string(f"[{node.name[1:-1]}]")
    elif isinstance(node, exp.Bracket):
        return _indexed(node)
    elif isinstance(node, exp.Anonymous):
        return _called(node, settings)
    elif type(node).__name__ in ("Version", "CurrentVersion"):
        return exp.Anonymous(this=MACRO + "version")
    elif type(node).__name__ in ("JSONObject", "JSONBObject"):
        return exp.null()
    return node


def _cast(node: exp.Cast) -> exp.Expr:
    """A conversion: numbers of things show their names, where they are shown."""
    kind = node.to.sql(dialect="postgres").lower().strip('"')
    if kind in OIDS:
        inner = node.this
        if (isinstance(inner, exp.Literal) and inner.is_string) or isinstance(inner, exp.Null):
            return exp.Anonymous(this=f"{MACRO}to_{kind}", expressions=[inner])
        if isinstance(inner, exp.Concat):  # a name that is put together
            return exp.Anonymous(this=f"{MACRO}to_{kind}", expressions=[inner])
        above = node.parent
        shown = isinstance(above, exp.Select | exp.Alias | exp.Ordered) or (
            isinstance(above, exp.Cast)
            and above.to.this in (exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR)
        )
        if isinstance(inner, exp.Cast | exp.Anonymous) and not shown:
            return inner
        return exp.Anonymous(this=f"{MACRO}{kind}_name", expressions=[inner]) if shown else inner
    if kind in ("oid", "xid", "oidvector"):
        return exp.cast(node.this, "bigint")
    if kind in TEXTS:
        return exp.cast(node.this, "text")
    return node


def _formatted(node: exp.Format) -> exp.Expr:
    """format() with a constant: its pieces and values, one after the other."""
    pattern, values = node.this, list(node.expressions)
    pieces = re.split("(%[Is%])", pattern.name)
    marks = [one for one in pieces if one in ("%I", "%s")]
    if not pattern.is_string or "%" in "".join(pieces[::2]) or len(marks) > len(values):
        raise Trouble("0A000", "format() takes a constant here, with %I and %s for values.")
    parts: list[exp.Expr] = []
    for one in pieces:
        if one in marks:
            text = exp.cast(values.pop(0), "text")
            quoted = exp.Anonymous(this=f"{MACRO}quote_ident", expressions=[text])
            parts.append(quoted if one == "%I" else text)
        elif one:
            parts.append(exp.Literal.string(one))
    return exp.Concat(expressions=[exp.Literal.string(""), *parts])


def _indexed(node: exp.Bracket) -> exp.Expr:
    """A place in a list. Those of an index are counted from 0, all others from 1."""
    if node.this.name.lower() in ("indkey", "indoption", "indclass", "i_indoption"):
        places = [
            exp.Add(this=exp.Paren(this=one.copy()), expression=exp.Literal.number(1))
            for one in node.expressions
        ]
        node.set("expressions", places)
    return node


def _called(node: exp.Anonymous, settings: Mapping[str, str]) -> exp.Expr:
    """A call of a function that sqlglot does not know."""
    name, given = node.name.lower(), node.expressions
    if name in ("json_build_object", "jsonb_build_object"):
        return exp.null()
    first = given[0].unnest() if given else None
    while isinstance(first, exp.Cast):
        first = first.this
    if name == "current_setting" and first is not None:
        found = settings.get(first.name.lower()) if isinstance(first, exp.Literal) else None
        return exp.null() if found is None else exp.Literal.string(found)
    if name == "set_config" and len(given) == 3 and isinstance(first, exp.Literal):
        if first.name.lower() in (*ONLY, "statement_timeout", "role", "timezone"):
            raise Trouble("0A000", "set_config does not set this.", hint="Write SET name = value.")
        value: exp.Expr = given[1]
        return value
    if name in FUNCTIONS:
        if len(given) not in FUNCTIONS[name]:
            raise Trouble("42883", f"{name} does not take {len(given)} values.")
        return exp.Anonymous(this=MACRO + name, expressions=given)
    return node


def _check_function(node: exp.Func) -> None:
    name = node.name.lower() if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc) else ""
    if name.startswith(MACRO) or name in PLAIN or (not name and isinstance(node, KNOWN_FUNCTIONS)):
        return
    shown = name or node.sql_name().lower()
    raise Trouble("42883", f"the function {shown} is not there for questions about catalogs.")
