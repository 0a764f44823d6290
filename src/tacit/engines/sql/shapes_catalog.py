"""Shapes of a catalog: which tables a database has. Spark has none that a query could read."""

from __future__ import annotations

from sqlglot import exp


def table_names() -> exp.Select:
    """The names of a database's tables and views, those of other schemas as schema.table."""
    name = (
        "CASE WHEN table_schema = CURRENT_SCHEMA() THEN table_name ELSE table_schema || '.' "
        "|| table_name END"
    )
    known = exp.select(name).from_("information_schema.tables")
    return known.where("NOT table_schema IN ('information_schema', 'pg_catalog')")
