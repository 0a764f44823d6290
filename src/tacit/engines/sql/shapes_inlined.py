"""Queries that read other queries: what a name stands for is put in its place."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

Place = tuple[str, str]  # a schema and a name in it


def table_at(place: Place) -> exp.Table:
    """A table by its schema and name."""
    return exp.table_(place[1], db=place[0], quoted=True)


def all_of(place: Place) -> exp.Select:
    """The whole table.

    >>> all_of(("main", "visits")).sql()
    'SELECT * FROM "main"."visits"'
    """
    return exp.select("*").from_(table_at(place))


def distinct_of(place: Place, columns: Sequence[str]) -> exp.Select:
    """Which combinations of some columns there are.

    >>> distinct_of(("main", "visits"), ["name", "day"]).sql()
    'SELECT DISTINCT "name", "day" FROM "main"."visits"'
    """
    names = [exp.to_identifier(one, quoted=True) for one in columns]
    return exp.select(*names).distinct().from_(table_at(place))


def stand_in(table: exp.Table, meant: Place | exp.Query) -> None:
    """Put a table or a query where another table is read, under the same name.

    >>> query = exp.maybe_parse("SELECT v.day FROM s.visits AS v")
    >>> stand_in(query.find(exp.Table), ("main", "stays"))
    >>> query.sql()
    'SELECT v.day FROM "main"."stays" AS "v"'
    """
    name = exp.to_identifier(table.alias_or_name, quoted=True)
    if isinstance(meant, exp.Query):
        table.replace(meant.subquery(name))
    else:
        table.replace(exp.alias_(table_at(meant), name, table=True))


def in_catalog(query: exp.Select, catalog: str | None) -> exp.Select:
    """The same query in another database."""
    for table in query.find_all(exp.Table):
        table.set("catalog", exp.to_identifier(catalog))
    return query
