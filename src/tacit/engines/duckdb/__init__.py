"""DuckDB in this process: files, a database file, or tables in memory."""
