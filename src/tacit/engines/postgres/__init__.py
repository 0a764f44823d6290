"""PostgreSQL: the rows stay in the database."""
