"""Dialects: queries in the spelling of another database, translated to the source's.

What runs is the translation, and it is judged. So this decides nothing about privacy; it sees to it
that the answer is the one that was asked for. Only what means the same everywhere is translated:
any other word is refused by name.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from tacit.errors import QueryError
from tacit.families.queries.query import Relations
from tacit.gateway.policy.asker import WHOLE
from tacit.gateway.policy.clock import with_known_names

PLACE = "tacit parameter "
# Parts of a query that mean the same in all of these.
SAME = (
    exp.Select,
    exp.Subquery,
    exp.From,
    exp.Join,
    exp.Where,
    exp.Group,
    exp.Having,
    exp.Order,
    exp.Ordered,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.Distinct,
    exp.Union,
    exp.Table,
    exp.TableAlias,
    exp.Alias,
    exp.Column,
    exp.Identifier,
    exp.Star,
    exp.Literal,
    exp.Boolean,
    exp.Null,
    exp.Paren,
    exp.Tuple,
    exp.And,
    exp.Or,
    exp.Not,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.Exists,
    exp.Count,
    exp.Min,
    exp.Max,
    exp.Sum,
    exp.Coalesce,
    exp.Nullif,
    exp.Case,
    exp.If,
    exp.Neg,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Placeholder,
    exp.Parameter,
    exp.With,
    exp.CTE,
    exp.CurrentTimestamp,
    exp.CurrentDate,
    exp.CurrentUser,
    exp.Interval,
    exp.Var,
)
NO_BOOLEANS = ("mysql", "tsql")  # 1 is true there
COMPARES = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between)


def translated(text: str, spoken: str | None, dialect: str) -> str:
    """The text in the dialect of the source, where it means the same; `?` and `@p1` stay places
    for values.

    >>> translated("SELECT `a` FROM `t` WHERE `b` = ? LIMIT 5, 2", "mysql", "duckdb")
    'SELECT "a" FROM "t" WHERE "b" = $1 LIMIT 2 OFFSET 5'
    >>> translated("SELECT TOP 3 [a] FROM t ORDER BY [a]", "tsql", "duckdb")
    'SELECT "a" FROM t ORDER BY "a" NULLS FIRST LIMIT 3'
    """
    if spoken is None or spoken == dialect:
        return text
    if PLACE in text:
        raise _not_read("this text")
    try:
        trees = sqlglot.parse(_numbered(text, spoken), read=spoken)
    except SqlglotError:
        raise QueryError(
            f"this is not SQL as {spoken} spells it.",
            code="syntax",
            hint="Correct it, or leave dialect out.",
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise QueryError("this is not one query.", code="not-a-query", hint="Write a SELECT.")
    tree = with_known_names(trees[0])
    for node in tree.walk():
        if not isinstance(node, SAME):
            raise _not_read(" ".join(node.sql(dialect=spoken).split()))
        if isinstance(node, exp.Select) and (node.args.get("hint") or node.args.get("into")):
            raise _not_read("a hint, or INTO")
    for node in list(tree.find_all(exp.Literal)):
        if node.is_string and str(node.this).startswith(PLACE):
            number = exp.Literal.number(str(node.this).removeprefix(PLACE))
            node.replace(exp.Parameter(this=number))
    return tree.sql(dialect=dialect, comments=False)


def _numbered(text: str, spoken: str) -> str:
    """The text with texts in the place of `?`: in which order they stand may change."""
    try:
        places = [
            one.start
            for one in sqlglot.tokenize(text, read=spoken)
            if one.token_type == TokenType.PLACEHOLDER and one.text == "?"
        ]
    except SqlglotError:
        return text
    for number, place in reversed(list(enumerate(places, 1))):
        text = f"{text[:place]}'{PLACE}{number}'{text[place + 1 :]}"
    return text


def _not_read(word: str) -> QueryError:
    return QueryError(
        f"{word} is not translated: it may mean something else in the source.",
        code="dialect",
        hint="Write it as the source does, and leave dialect out.",
    )


def with_booleans(tree: exp.Query, relations: Relations, spoken: str | None) -> exp.Query:
    """The tree with true and false where 1 and 0 are compared with a boolean column; names in it
    are written out.
    """
    if spoken not in NO_BOOLEANS:
        return tree
    for one in _beside(tree, relations, "boolean", (exp.EQ, exp.NEQ, exp.In)):
        if one.this in ("0", "1"):
            one.replace(exp.Boolean(this=one.this == "1"))
    return tree


def with_numbers(tree: exp.Query, relations: Relations) -> exp.Query:
    """The tree with whole numbers where they are compared, in quotes, with a column of whole
    numbers. It means the same, and cannot fail: the column's own type may be too short for them.
    """
    for one in _beside(tree, relations, "integer", COMPARES):
        if one.is_string and WHOLE.fullmatch(str(one.this)):
            one.replace(exp.Literal.number(int(one.this)))
    return tree


def _beside(
    tree: exp.Query, relations: Relations, kind: str, compares: tuple[type[exp.Expr], ...]
) -> list[exp.Literal]:
    """The literals that are compared with columns of a kind; names in the tree are written out."""
    names: dict[str, set[str]] = {}
    for one in tree.find_all(exp.Table):
        table = f"{one.db}.{one.name}" if one.db else str(one.name)
        names.setdefault(one.alias_or_name, set()).add(table)

    def is_of_kind(node: exp.Expr) -> bool:
        tables = names.get(node.table, set()) if isinstance(node, exp.Column) else set()
        found = {relations[one].kinds.get(node.name) for one in tables if one in relations}
        return found == {kind}

    found = []
    for node in tree.find_all(*compares):
        sides = [one for one in node.iter_expressions() if not isinstance(one, exp.Query)]
        if any(map(is_of_kind, sides)):
            found += [one for one in sides if isinstance(one, exp.Literal)]
    return found
