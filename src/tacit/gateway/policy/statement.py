"""Statement: the text of a request as the one tree that is judged and run:
values in place, names as the plan has them.

Whatever runs is rendered from this tree, never from the text. Comments are gone, views stand as
subqueries, tables and views are named as in the plan, values stand where parameters stood.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.query import Relations
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.sql.parse import parsed
from tacit.families.queries.sql.sql_reader import read_tree
from tacit.families.queries.understanding import QueryText
from tacit.families.words import listed
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.clock import with_moment
from tacit.gateway.policy.common_tables import written_out
from tacit.gateway.policy.dialects import translated, with_booleans, with_numbers
from tacit.gateway.policy.qualified_names import qualified
from tacit.gateway.policy.row_order import check_order, check_stored_order, without_inner_order
from tacit.gateway.policy.table_names import TableNames
from tacit.gateway.policy.values import Parameters, is_text, numbered, shortened, with_values

MOST_CHARACTERS = 100_000
NOT_SHOWN = "not-granted"


@dataclass(frozen=True, slots=True)
class Statement:
    """A query ready to be judged. `named` are the tables and views of
    the plan that the text itself names.
    """

    tree: exp.Query
    source: QueryText
    named: tuple[str, ...]


def statement_of(
    text: str,
    parameters: Parameters,
    relations: Relations,
    views: Mapping[str, str],
    dialect: str,
    spoken: str | None = None,
    asker: Asker | None = None,
    hidden: Collection[str] | None = None,
) -> Statement:
    """The statement that a text and its parameters are;
    QueryError where it is not one SELECT over the plan's tables. `spoken` is how the text is
    spelled, where that is not the source's dialect; `asker` is who `current_user` stands for, at
    the moment that `now()` is. Whoever is not told of `hidden` tables and views is told the same of
    them as of what is not there (None: no name is a secret).
    """
    if len(text) > MOST_CHARACTERS:
        raise QueryError(
            f"the query has {len(text):,} characters; up to {MOST_CHARACTERS:,} are read.",
            code="too-large",
            hint="Write a shorter one.",
        )
    if not is_text(text):
        raise QueryError(
            "the query has characters that are no text.",
            code="syntax",
            hint="Send UTF-8 without NUL.",
        )
    text = translated(text, spoken, dialect)
    source = QueryText(numbered(text, dialect), "query")
    tree = parsed(source, dialect, created=False)
    if not isinstance(tree, exp.Query):
        raise QueryError(
            f"{tree.key.upper()} is not a query.",
            code="not-a-query",
            hint="Write a SELECT.",
            mark=source.mark(0),
        )
    names = TableNames(relations, views, dialect, source, hidden or ())
    if hidden is not None and (unknown := names.unknown(tree)):
        raise QueryError(
            f"No view of this role shows anything of {listed(unknown, 'or')}.", code=NOT_SHOWN
        )
    bound = with_moment(with_values(tree, parameters, source), asker)
    found = shortened(names.resolved(bound), dialect)
    read = read_tree(
        found, source, relations, name="query", dialect=dialect
    )  # for its words where something is wrong, and for the names of its columns
    found = written_out(qualified(found, relations, read.columns, dialect, source), source)
    found = with_numbers(with_booleans(found, relations, spoken), relations)
    found = without_inner_order(found, source)
    check_order(found, source)
    check_stored_order(found, source, relations, dialect)
    check_casts(found, source)
    return Statement(found, source, tuple(dict.fromkeys(names.named)))


TYPES = frozenset(
    exp.DataType.Type[name]
    for name in (
        "BIGINT",
        "BOOLEAN",
        "CHAR",
        "DATE",
        "DATETIME",
        "DECIMAL",
        "DOUBLE",
        "FLOAT",
        "INT",
        "INT128",
        "INTERVAL",
        "NCHAR",
        "NVARCHAR",
        "SMALLINT",
        "TEXT",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMPNTZ",
        "TIMESTAMPTZ",
        "TINYINT",
        "UBIGINT",
        "UINT",
        "USMALLINT",
        "UTINYINT",
        "UUID",
        "VARCHAR",
    )
)


def check_casts(tree: exp.Query, source: QueryText) -> None:
    """Refuse conversions to types that look something up:
    in PostgreSQL a number as regclass is the name of a table.
    """
    for node in tree.find_all(exp.Cast):
        if node.to.this not in TYPES:
            hint = "Convert to text, a number, a date or a time."
            raise QueryError(
                f"a conversion to {' '.join(node.to.sql().split())} is not read.",
                code="unknown-function",
                hint=hint,
                mark=source.mark(start_of(node)),
            )
