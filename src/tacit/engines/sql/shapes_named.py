"""A statement that is there already, with other names: its tables by their full names, its
outputs by those that people know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp, parse_one

from tacit.engines.sql import shapes


def outer_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """The tables in a query that are none of its own WITH queries."""
    local = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        if isinstance(node.this, exp.Identifier) and not (
            not node.db and node.name.lower() in local
        ):
            yield node


def with_full_names(tree: exp.Query, meant: Callable[[exp.Table], str | None]) -> exp.Query:
    """The query with full names in the place of those of which `meant` knows one; what it calls
    them stays.

    >>> from sqlglot import parse_one
    >>> with_full_names(parse_one("SELECT Stays.ward FROM Stays"), lambda _: "s.stays").sql()
    'SELECT Stays.ward FROM "s"."stays" AS Stays'
    """
    for node in list(outer_tables(tree)):
        name = meant(node)
        if name is None:
            continue
        written = shapes.table_of(name)
        alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
        for part in ("this", "db", "catalog"):
            node.set(part, written.args.get(part))
        node.set("alias", alias)
    return tree


def in_front(tree: exp.Expr, many: int) -> exp.Expr:
    """The last WITH queries moved before the others, which may name them."""
    found = tree.args.get("with_")
    if found is not None and many:
        own = found.expressions
        found.set("expressions", [*own[len(own) - many :], *own[: len(own) - many]])
    return tree


def spelling(tree: exp.Expr, name: str, is_meant: Callable[[exp.Table], bool]) -> exp.Identifier:
    """A name as a query has it, with its quotes: without them PostgreSQL means small letters."""
    found = next((node.this for node in tree.find_all(exp.Table) if is_meant(node)), None)
    return found.copy() if found is not None else exp.to_identifier(name, quoted=True)


def with_outputs(sql: str, columns: Sequence[str], dialect: str) -> str:
    """A query whose outputs have other names, over several lines.

    >>> print(with_outputs("SELECT a AS c1 FROM t", ["ward"], "duckdb"))
    SELECT
      a AS "ward"
    FROM t
    """
    tree = parse_one(sql, read=dialect)
    for select in tree.find_all(exp.Select):
        for shown, name in zip(select.expressions, columns, strict=False):
            shown.set("alias", exp.to_identifier(name, quoted=True))
    return tree.sql(dialect=dialect, pretty=True)
