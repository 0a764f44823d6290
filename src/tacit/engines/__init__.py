"""Engines: where the rows live. DuckDB in the process by default, PostgreSQL, Spark."""
