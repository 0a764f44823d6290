"""Common tables: queries of WITH, written where they are named.

What is said of queries inside of others then holds for them too. A query is the same wherever it
stands: nothing that is read depends on how often it runs.
"""

from __future__ import annotations

from typing import TypeVar

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.understanding import QueryText

MOST_NODES = 5_000
Q = TypeVar("Q", bound=exp.Expr)


def written_out(tree: exp.Query, source: QueryText) -> exp.Query:
    """The tree without WITH; names in it are written out, and each is given once (`qualified`)."""
    found = list(tree.find_all(exp.With))
    if not found or any(one.args.get("recursive") for one in found):
        return tree
    given = {one.alias: one.this for one in tree.find_all(exp.CTE)}
    where = start_of(found[0])
    for one in found:
        one.pop()
    done: dict[str, exp.Expr] = {}
    while len(done) < len(given):  # first those that name no other
        name = next(one for one in given if one not in done and not _named(given[one], given, done))
        done[name] = _put(given[name], done)
        if sum(1 for query in done.values() for _ in query.walk()) > MOST_NODES:
            raise _too_large(source, where)
    written = _put(tree, done)
    if sum(1 for _ in written.walk()) > MOST_NODES:
        raise _too_large(source, where)
    return written


def _named(query: exp.Expr, given: dict[str, exp.Expr], done: dict[str, exp.Expr]) -> bool:
    """Does a query name one of WITH that still names others?"""
    return any(
        not one.db and one.name in given and one.name not in done
        for one in query.find_all(exp.Table)
    )


def _put(query: Q, done: dict[str, exp.Expr]) -> Q:
    for one in list(query.find_all(exp.Table)):
        if not one.db and one.name in done:
            alias = exp.TableAlias(this=exp.to_identifier(one.alias_or_name, quoted=True))
            one.replace(exp.Subquery(this=done[one.name].copy(), alias=alias))
    return query


def _too_large(source: QueryText, where: int | None) -> QueryError:
    return QueryError(
        "the query is too large once WITH is written out.",
        code="too-large",
        hint="Name each query of WITH fewer times.",
        mark=source.mark(where or 0),
    )
