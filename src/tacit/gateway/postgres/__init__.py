"""The gateway in PostgreSQL's protocol: ordinary SQL clients connect to it as to a database."""
