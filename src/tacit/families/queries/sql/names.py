"""Names: those that a database may tell apart, or put together, in another way than they are
read here are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.query import Relations
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.understanding import QueryText

HINT = (
    "Write the name as the database has it, in quotes where it has capital letters, or "
    "choose another."
)


def check_names(tree: exp.Expr, relations: Relations, dialect: str, source: QueryText) -> None:
    """Refuse names of tables with a dot in them, and names that only
    the case of letters tells apart.
    """
    names = list(tree.find_all(exp.Identifier))
    for one in names:
        if "." in one.name and _names_a_table(one):
            raise QueryError(
                f"{one.name!r} is one name with a dot in it, and reads like a table of a schema.",
                code="ambiguous-table",
                hint="Choose a name without a dot.",
                mark=source.mark(start_of(one)),
            )
    if dialect != "spark":
        _check_case(_column_names(names, relations, dialect), source, "ambiguous-column")
        _check_case(_table_names(names, dialect), source, "ambiguous-table")


def _names_a_table(node: exp.Identifier) -> bool:
    above = node.parent
    return (
        isinstance(above, exp.Table)
        or (isinstance(above, exp.TableAlias) and node.arg_key == "this")
        or (isinstance(above, exp.Column) and node.arg_key != "this")
    )


def _check_case(
    written: Iterator[tuple[str, exp.Expr | None]], source: QueryText, code: str
) -> None:
    """Which of two names is meant must not depend on case, where the database goes by it:
    PostgreSQL in quotes, DuckDB beyond a to z.
    """
    seen: dict[str, str] = {}
    for spelled, node in written:
        if (other := seen.setdefault(spelled.lower(), spelled)) != spelled and node is not None:
            raise QueryError(
                f"{spelled!r} and {other!r} differ only in case.",
                code=code,
                hint=HINT,
                mark=source.mark(start_of(node)),
            )


def _column_names(
    names: Sequence[exp.Identifier], relations: Relations, dialect: str
) -> Iterator[tuple[str, exp.Expr | None]]:
    """The columns of the tables that are named and whose names are used, then all names but
    those of tables.
    """
    tables = {one.name.lower() for one in names if isinstance(one.parent, exp.Table)}
    written = [
        one for one in names if not isinstance(one.parent, exp.Table) or one.arg_key != "this"
    ]
    used = {one.name.lower() for one in written}
    for name, relation in relations.items():
        if name.rpartition(".")[2].lower() in tables:
            yield from (
                (_spelled(column, True, dialect), None)
                for column in relation.columns
                if column.lower() in used
            )
    yield from ((_spelled(one.name, one.quoted, dialect), one) for one in written)


def _table_names(
    names: Sequence[exp.Identifier], dialect: str
) -> Iterator[tuple[str, exp.Expr | None]]:
    """The names that the query gives to tables and WITH queries,
    and those by which it names them.
    """
    given = [
        one for one in names if isinstance(one.parent, exp.TableAlias) and one.arg_key == "this"
    ]
    named = [
        one
        for one in names
        if (isinstance(one.parent, exp.Table) and one.arg_key == "this")
        or (isinstance(one.parent, exp.Column) and one.arg_key == "table")
    ]
    clashing = {one.name.lower() for one in given}
    for one in (*given, *named):
        if one.name.lower() in clashing:
            yield _spelled(one.name, one.quoted, dialect), one


def _spelled(name: str, quoted: bool, dialect: str) -> str:
    """A name as the database compares it."""
    if dialect == "postgres" and quoted:
        return name
    return "".join(one.lower() if one.isascii() else one for one in name)
