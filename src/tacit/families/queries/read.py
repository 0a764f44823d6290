"""Read: a query in Datalog or SQL as conjunctive queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tacit.families.queries.datalog.datalog_reader import is_datalog, read_datalog
from tacit.families.queries.query import Relations
from tacit.families.queries.understanding import QueryUnderstanding


def read(
    text: str,
    relations: Relations,
    *,
    name: str,
    dialect: str = "duckdb",
    views: Mapping[str, str] | None = None,
    file: str | None = None,
    explain: Callable[[str], None] | None = None,
) -> QueryUnderstanding:
    """What a query says: exactly where it is a union of conjunctive queries, else by its supports.

    Datalog is what has `:-`; the rest is SQL in the `dialect` of the source (duckdb, postgres,
    spark). `views` are other queries that SQL may name in FROM. Errors speak of `file`, or of the
    name. `explain` has the engine read the text as well: it raises EngineError where it cannot.

    >>> from tacit.families.queries.query import Relation
    >>> relations = {"R": Relation("R", ("a", "b"))}
    >>> print(read("SELECT DISTINCT a FROM R WHERE b = 1", relations, name="v").exact)
    v(a) :- R(a, 1)
    >>> reading = read("SELECT count(*) FROM R WHERE b = 1", relations, name="v")
    >>> reading.exact, [str(one) for one in reading.supports], reading.approximations[0].code
    (None, ['v.1(a) :- R(a, 1)'], 'aggregate')
    """
    if is_datalog(text):
        return read_datalog(text, relations, name=name, file=file)
    from tacit.families.queries.sql.sql_reader import read_sql

    return read_sql(
        text, relations, name=name, dialect=dialect, views=views, file=file, explain=explain
    )
