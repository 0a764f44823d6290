"""The small schemas that generated SQL is about: few enough rows to try every database.

Names cross on purpose: columns have the names of tables, and tables share columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from oracles.gateway import Column, Schema, Table

ONE_TWO = (1, 2)
SCHEMAS: Mapping[str, Schema] = {
    "two": Schema((Table("a", (Column("x", ONE_TWO),)), Table("b", (Column("y", ONE_TWO),)))),
    "crossed": Schema((Table("x", (Column("a", ONE_TWO),)), Table("a", (Column("x", ONE_TWO),)))),
    "nulls": Schema(
        (Table("t", (Column("v", (1, 2, None)),)), Table("u", (Column("v", (1, None)),)))
    ),
    "keyed": Schema(
        (
            Table("t", (Column("k", ONE_TWO), Column("v", ONE_TWO)), (("k",),)),
            Table("u", (Column("k", ONE_TWO),)),
        )
    ),
    "words": Schema(
        (
            Table("p", (Column("name", ("ann", "bob")), Column("ill", ("cancer", "flu")))),
            Table("s", (Column("name", ("ann",)),)),
        )
    ),
    "mixed": Schema(
        (
            Table("m", (Column("i", (0, 1)), Column("s", ("1", "ann")))),
            Table("n", (Column("i", (1,)),)),
        )
    ),
    "single": Schema(
        (
            Table("a", (Column("x", ONE_TWO),)),
            Table("b", (Column("x", ONE_TWO),)),
            Table("c", (Column("x", (1,)),)),
        )
    ),
    "plain": Schema(
        (
            Table("a", (Column("k", ONE_TWO), Column("x", ONE_TWO))),
            Table("c", (Column("k", ONE_TWO),)),
        )
    ),
    "quoted": Schema(
        (Table("t", (Column("x.y", ONE_TWO),)), Table("u", (Column("Group", ONE_TWO),)))
    ),
}


def ground_secrets(schema: Schema) -> dict[str, str]:
    """For each possible row the question whether it is there:
    the narrowest secrets, which most statements keep.
    """
    found = {}
    for table in schema.tables:
        for at, (_, values) in enumerate(table.rows()):
            conditions = (
                is_equal(column.name, value)
                for column, value in zip(table.columns, values, strict=True)
            )
            found[f"{table.name}{at}"] = (
                f"SELECT 1 AS one FROM {table.name} WHERE {' AND '.join(conditions)}"
            )
    return found


def secrets_of(schema: Schema) -> dict[str, str]:
    """Single rows, and a whole table counted."""
    last = schema.tables[-1].name
    return {**ground_secrets(schema), "number": f"SELECT count(*) AS n FROM {last}"}


def is_equal(column: str, value: object) -> str:
    """The condition that a column has a value.

    >>> is_equal("x", None), is_equal("x.y", "it's")
    ('x IS NULL', '"x.y" = \\'it\\'\\'s\\'')
    """
    return f"{quoted(column)} IS NULL" if value is None else f"{quoted(column)} = {literal(value)}"


def quoted(name: str) -> str:
    """A name as SQL takes it for one name; what is plain stays plain."""
    plain = (
        name.replace("_", "a").isalnum()
        and name.islower()
        and name not in ("group", "all", "order")
    )
    return name if plain else '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """A value as SQL writes it."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
