"""The SQL that we send: every statement is built here, as a sqlglot tree or as text."""
