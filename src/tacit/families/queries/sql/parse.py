"""Parse: the one query that a text of SQL is, and what the database itself says of it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokenizer_core import TokenType

from tacit.errors import EngineError, Mark, QueryError, did_you_mean
from tacit.families.queries.sql.characters import check_characters
from tacit.families.queries.sql.engines import check_engine
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.sql.order import outermost
from tacit.families.queries.understanding import QueryText

Explain = Callable[[str], None]
DIALECTS = ("duckdb", "postgres", "spark")
MISSING = "something is missing here"
# Words that a query cannot end with.
GO_ON = frozenset(
    {
        "SELECT",
        "FROM",
        "JOIN",
        "ON",
        "WHERE",
        "BY",
        "HAVING",
        "LIMIT",
        "OFFSET",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "BETWEEN",
        "UNION",
        "INTERSECT",
        "EXCEPT",
    }
)


def parsed(
    source: QueryText, dialect: str, explain: Explain | None = None, *, created: bool = True
) -> exp.Expr:
    """The tree of the one query that a text is; `created`: the query of CREATE VIEW is one too."""
    if dialect not in DIALECTS:
        raise QueryError(
            f"dialect {dialect!r} is not read.",
            code="dialect",
            hint=did_you_mean(dialect, DIALECTS),
        )
    try:
        with _quietly():
            engine = Dialect.get_or_raise(dialect)
            tokens = engine.tokenize(source.text)
            check_characters(tokens, source, dialect)
            found = engine.parser().parse(tokens, source.text)
            # A comment behind the last semicolon is no statement.
            trees = [
                tree for tree in found if tree is not None and not isinstance(tree, exp.Semicolon)
            ]
    except QueryError:
        raise
    except ParseError as error:
        raise _unparsed(error, source, explain) from None
    except TokenError:
        raise QueryError(
            "this SQL does not end: a quote or a comment is not closed.",
            code="syntax",
            hint="Close it.",
            mark=source.mark(_open_quote(source.text)),
        ) from None
    except RecursionError:
        raise QueryError(
            "this SQL is nested too deeply.",
            code="too-large",
            hint="Split it into several views.",
            mark=source.mark(0),
        ) from None
    except (SqlglotError, ValueError, AttributeError, TypeError) as error:
        raise QueryError(
            f"this SQL is not read: {error}", code="syntax", mark=source.mark(0)
        ) from None
    if not trees:
        raise QueryError(
            "there is no query here.",
            code="not-a-query",
            hint="Write a SELECT.",
            mark=source.mark(0),
        )
    if len(trees) > 1:
        raise QueryError(
            f"there are {len(trees)} statements here.",
            code="not-a-query",
            hint="Write one SELECT.",
            mark=source.mark(start_of(trees[1])),
        )
    tree = created_query(trees[0]) if created else trees[0]
    if not isinstance(tree, exp.Query | exp.Values):
        raise QueryError(
            f"{first_word(source.text)} is not a query.",
            code="not-a-query",
            hint="Write a SELECT.",
            mark=source.mark(0),
        )
    return tree


def first_word(text: str) -> str:
    """How a text begins, in a word: a misspelled SELECT is called so,
    and not by what it was taken for.

    >>> first_word("  selec age FROM t"), first_word("DROP TABLE t"), first_word("1 + 1")
    ('SELEC', 'DROP', 'this')
    """
    found = re.match(r"\s*([A-Za-z]+)\b", text)
    return found[1].upper() if found else "this"


def created_query(tree: exp.Expr) -> exp.Expr:
    """The query of CREATE VIEW name AS query, or name (x, y):
    that is how the files of a database have it.

    Names for its columns are put around it: SELECT * FROM (query) AS name(x, y). A view with more
    than that is left as it is, and refused; so is one with names and an order, which nobody would
    see behind them.

    >>> from sqlglot import parse_one
    >>> created_query(parse_one("CREATE VIEW v(x, y) AS SELECT a, b FROM r")).sql()
    'SELECT * FROM (SELECT a, b FROM r) AS v(x, y)'
    """
    if (
        not isinstance(tree, exp.Create)
        or tree.args.get("kind") != "VIEW"
        or tree.expression is None
    ):
        return tree
    known = {"this", "kind", "expression", "replace", "exists"}
    if any(value for name, value in tree.args.items() if name not in known):
        return tree
    query: exp.Expr = tree.expression
    if isinstance(tree.this, exp.Table):
        return query
    named = tree.this
    plain = (
        isinstance(named, exp.Schema)
        and isinstance(named.this, exp.Table)
        and all(isinstance(one, exp.Identifier) for one in named.expressions)
    )
    if (
        not plain
        or not isinstance(query, exp.Query)
        or any(part.args.get("order") for part in outermost(query))
    ):
        return tree
    alias = exp.TableAlias(
        this=named.this.this.copy(), columns=[one.copy() for one in named.expressions]
    )
    return exp.Select(
        expressions=[exp.Star()], from_=exp.From(this=exp.Subquery(this=query, alias=alias))
    )


def check_parse(source: QueryText, tree: exp.Expr, dialect: str) -> None:
    """Refuse a text of which the database's own parser makes another
    tree than the one that was read.
    """
    check_engine(source, query_text(source.text, tree, dialect), tree, dialect)


def query_text(text: str, tree: exp.Expr, dialect: str) -> str:
    """The text of the query itself: what stands behind AS in CREATE VIEW ...
    AS, with the names of its columns around it.

    >>> from sqlglot import parse_one
    >>> view = "CREATE VIEW v(x) AS SELECT a FROM r;"
    >>> query_text(view, created_query(parse_one(view)), "duckdb")
    'SELECT * FROM (SELECT a FROM r\\n) AS v(x)'
    """
    if not re.search(r"\bcreate\b", text, re.IGNORECASE):
        return text
    tokens = [
        one
        for one in Dialect.get_or_raise(dialect).tokenize(text)
        if one.token_type != TokenType.SEMICOLON
    ]
    if not tokens or tokens[0].token_type != TokenType.CREATE:
        return text
    at = next(at for at, one in enumerate(tokens) if one.token_type == TokenType.ALIAS)
    query = text[tokens[at + 1].start : tokens[-1].end + 1]
    if not any(one.token_type == TokenType.L_PAREN for one in tokens[:at]):
        return query
    return (
        f"SELECT * FROM ({query}\n) AS {tree.args['from_'].this.args['alias'].sql(dialect=dialect)}"
    )


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the warnings that sqlglot logs: what it does not understand is refused below."""
    logger = logging.getLogger("sqlglot")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def _unparsed(error: ParseError, source: QueryText, explain: Explain | None) -> QueryError:
    found = error.errors[0] if error.errors else {}
    said = str(found.get("description") or "it does not parse").rstrip(".")
    if said.startswith("Required keyword") or " but got <Token" in said:
        said = MISSING  # the parser speaks of its own classes
    mark = source.mark(None)
    if found.get("line"):
        lines = source.text.split("\n")
        line = min(int(found["line"]), len(lines))
        highlight = str(found.get("highlight") or "")
        column = max(int(found.get("col") or 1) - len(highlight.split("\n")[-1]) + 1, 1)
        end = int(found.get("col") or 1)
        if (
            said == MISSING
            and GO_ON.issuperset(highlight.upper().split()[-1:])
            and not "".join([lines[line - 1][end:], *lines[line:]]).strip(" \t\r\n;")
        ):
            said, column = (
                "something is missing at its end",
                end + 1,
            )  # the parser points at the word before
        mark = Mark(source.file, line, column, lines[line - 1])
    return QueryError(
        f"this SQL does not parse: {said}.",
        code="syntax",
        hint=_engine_says(explain, source),
        mark=mark,
    )


def _engine_says(explain: Explain | None, source: QueryText) -> str | None:
    if explain is None:
        return None
    try:
        explain(source.text)
    except EngineError as error:
        return error.message
    return "The database reads it, but Tacit does not."


def explained_by(explain: Explain, source: QueryText) -> None:
    """Have the database read the text too, and pass on what it says against it."""
    try:
        explain(source.text)
    except EngineError as error:
        raise QueryError(
            error.message, code="engine", hint=error.hint, mark=source.mark(0)
        ) from None


def _open_quote(text: str) -> int:
    """The last quote or comment that is opened."""
    at, opened = 0, 0
    while at < len(text):
        closing = {"'": "'", '"': '"', "`": "`"}.get(text[at]) or {
            "--": "\n",
            "/*": "*/",
            "$$": "$$",
        }.get(text[at : at + 2])
        if closing is None:
            at += 1
            continue
        width = 2 if text[at : at + 2] in ("--", "/*", "$$") else 1
        opened = at
        end = text.find(closing, at + width)
        if end < 0:
            return opened
        at = end + len(closing)
    return opened
