"""A plan's queries, read once."""
