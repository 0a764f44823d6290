"""A query without what it may say about people:
literals, comments, and names that the plan does not know are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.families.queries.query import Relations

UNREADABLE = "(not readable)"
SHORT = re.compile(r"[A-Za-z]\w?", re.ASCII)  # t, p1: what people call tables for a moment
MOST = 2_000


def redact(sql: str, dialect: str, names: Collection[str]) -> str:
    """The query's words; `?` stands for a literal, `_` for a name that is
    not among `names` (in lower case).

    >>> redact(
    ...     "SELECT name FROM wards p WHERE p.ward = 'Ellen Moss' -- 13053",
    ...     "duckdb",
    ...     {"name", "wards", "ward"},
    ... )
    'SELECT name FROM wards p WHERE p . ward = ?'
    >>> redact('SELECT "Ellen Moss", Ellen, COUNT(*) FROM wards LIMIT 3', "duckdb", {"wards"})
    'SELECT _ , _ , COUNT ( * ) FROM wards LIMIT ?'
    """
    import sqlglot
    from sqlglot.errors import SqlglotError
    from sqlglot.tokenizer_core import TokenType

    literal = {
        TokenType.NUMBER,
        TokenType.STRING,
        *(kind for kind in TokenType if kind.name.endswith("_STRING")),
    }
    try:
        tokens = sqlglot.tokenize(sql, read=dialect)
    except (SqlglotError, ValueError, RecursionError):
        return UNREADABLE
    words = []
    for number, token in enumerate(tokens):
        called = number + 1 < len(tokens) and tokens[number + 1].token_type == TokenType.L_PAREN
        if token.token_type in literal or "'" in token.text:
            words.append("?")
        elif token.token_type == TokenType.IDENTIFIER or (
            re.search(r"\w", token.text) and not is_keyword(token.text)
        ):
            words.append(token.text if may_show(token.text, names, called) else "_")
        else:
            words.append(token.text)
    shown = " ".join(words)
    return shown if len(shown) <= MOST else shown[:MOST] + " ..."


def may_show(word: str, names: Collection[str], called: bool) -> bool:
    """Is a name known from the plan, too short to tell anything, or a function's?"""
    return (
        word.lower() in names
        or bool(SHORT.fullmatch(word))
        or (called and word.upper() in functions())
    )


def is_keyword(word: str) -> bool:
    """Is it made of words of SQL itself?"""
    return all(part in keywords() for part in word.upper().split())


@lru_cache(maxsize=1)
def keywords() -> frozenset[str]:
    """The words of SQL, in capitals."""
    from sqlglot.tokens import Tokenizer

    return frozenset(part for word in Tokenizer.KEYWORDS for part in word.upper().split()) | {
        "ASC",
        "DESC",
        "BY",
        "ON",
        "FIRST",
        "LAST",
        "NULLS",
        "DISTINCT",
        "EXISTS",
        "ROWS",
    }


@lru_cache(maxsize=1)
def functions() -> frozenset[str]:
    """The names of functions, in capitals."""
    from sqlglot.expressions import FUNCTION_BY_NAME

    return frozenset(name.upper() for name in FUNCTION_BY_NAME)


def known_names(relations: Relations, views: Iterable[str]) -> frozenset[str]:
    """The names that a log may show:
    tables with their schemas, columns and views of the plan, in lower case.
    """
    tables = [part for name in (*relations, *views) for part in (name, *name.split("."))]
    columns = [column for relation in relations.values() for column in relation.columns]
    return frozenset(name.lower() for name in (*tables, *columns))
