"""Statements that make PostgreSQL enforce what a role may see: views, and rights on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from tacit.engines.sql.shapes import table_of


def granted(role: str, tables: Sequence[str], views: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The statements, one each: a schema with the views, each with its query; nothing of the
    tables; and the right to read the views.

    Views are security barriers: without that PostgreSQL may call somebody's function on rows
    that a view leaves out.

    >>> for one in granted("clinic", ["stays"], [("wards", "SELECT ward FROM stays")]):
    ...     print(one)
    CREATE SCHEMA IF NOT EXISTS "clinic"
    CREATE OR REPLACE VIEW "clinic"."wards" WITH (security_barrier) AS SELECT ward FROM stays
    REVOKE ALL ON "stays" FROM PUBLIC, "clinic"
    GRANT USAGE ON SCHEMA "clinic" TO "clinic"
    GRANT SELECT ON "clinic"."wards" TO "clinic"
    """
    own = quoted(role)
    if not views:
        return
    yield f"CREATE SCHEMA IF NOT EXISTS {own}"
    for name, query in views:
        yield f"CREATE OR REPLACE VIEW {own}.{quoted(name)} WITH (security_barrier) AS {query}"
    for table in tables:
        yield f"REVOKE ALL ON {table_of(table).sql(dialect='postgres')} FROM PUBLIC, {own}"
    yield f"GRANT USAGE ON SCHEMA {own} TO {own}"
    for name, _ in views:
        yield f"GRANT SELECT ON {own}.{quoted(name)} TO {own}"


def quoted(name: str) -> str:
    """A name in PostgreSQL."""
    return exp.to_identifier(name, quoted=True).sql(dialect="postgres")
