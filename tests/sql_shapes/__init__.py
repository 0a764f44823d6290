"""SQL of every shape: a generator, a corpus, and what DuckDB and PostgreSQL answer on all small
databases against what Tacit says.
"""
