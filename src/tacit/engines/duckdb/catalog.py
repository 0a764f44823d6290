"""What DuckDB's catalogue says of a database file:
which tables a view reads, and what is declared of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from tacit.engines.identity import Origin
from tacit.model.schema import SourceKeys, SourceReference

SOURCE = "tacit_source"  # what a database file is attached as
ROWS_OF_THEIR_OWN = frozenset(
    {"unnest", "generate_series", "range"}
)  # functions in FROM that read no table and no file

Entry = tuple[str, str]  # schema and name, in lower case: DuckDB does not tell Zip from zip


class Catalogue:
    """The tables, views and macros of a database file; `ask` runs a statement."""

    def __init__(self, database: Path, ask: Callable[[str], list[tuple[Any, ...]]]) -> None:
        self.database = database
        self._ask = ask

    @cached_property
    def tables(self) -> frozenset[Entry]:
        """The tables that have rows of their own."""
        found = self._ask(
            f"SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '{SOURCE}'"
        )
        return frozenset((str(schema).lower(), str(name).lower()) for schema, name in found)

    @cached_property
    def views(self) -> dict[Entry, str]:
        """The views, with their definitions."""
        found = self._ask(
            "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE database_name = "
            f"'{SOURCE}'"
        )
        return {(str(schema).lower(), str(name).lower()): str(sql) for schema, name, sql in found}

    @cached_property
    def macros(self) -> frozenset[str]:
        """The names of macros: what they read does not stand where they are called."""
        found = self._ask("SELECT function_name FROM duckdb_functions() WHERE NOT internal")
        return frozenset(str(name).lower() for (name,) in found)

    def origins(self, table: str) -> frozenset[Origin]:
        """The tables that a table is or a view reads, also over other views;
        what may hide others is said.
        """
        found: set[Origin] = set()
        seen, pending = set[Entry](), [entry_of(table)]
        while pending:
            if (one := pending.pop()) in seen:
                continue
            seen.add(one)
            if one in self.views:
                parts = list(self._read(one))
                found |= {part for part in parts if isinstance(part, Origin)}
                pending += [part for part in parts if not isinstance(part, Origin)]
            else:
                found.add(self._entry(one))
        return frozenset(found)

    def entry(self, table: str) -> str | None:
        """The number under which a table is known; a view has none."""
        return None if entry_of(table) in self.views else self._entry(entry_of(table)).value

    def declared(self, table: str) -> SourceKeys:
        """Keys, UNIQUE and unique indexes, and the columns that are NOT NULL."""
        own = [one for one in self._constraints if one[0] == entry_of(table)]
        keys = [names for _, kind, names, *_ in own if kind in ("PRIMARY KEY", "UNIQUE")]
        keys += [names for entry, names in self._unique_indexes if entry == entry_of(table)]
        never = frozenset(
            name for _, kind, names, *_ in own if kind == "NOT NULL" for name in names
        )
        return SourceKeys(tuple(dict.fromkeys(keys)), never)

    def references(self) -> list[SourceReference]:
        """All foreign keys. DuckDB names the other table without its schema:
        it is the one of the same schema, or any of that name.
        """
        found = []
        for (schema, name), kind, columns, other, others in self._constraints:
            if kind == "FOREIGN KEY":
                meant = (
                    [(schema, other)]
                    if (schema, other) in self.tables
                    else [one for one in sorted(self.tables) if one[1] == other]
                )
                found += [
                    SourceReference(
                        self._entry((schema, name)).value, columns, self._entry(one).value, others
                    )
                    for one in meant
                ]
        return found

    @cached_property
    def _constraints(self) -> list[tuple[Entry, str, tuple[str, ...], str, tuple[str, ...]]]:
        """Of each constraint its table, kind and columns, and what it refers to."""
        said = self._ask(
            "SELECT schema_name, table_name, constraint_type, constraint_column_names, "
            "referenced_table, referenced_column_names "
            f"FROM duckdb_constraints() WHERE database_name = '{SOURCE}' ORDER BY table_oid, "
            "constraint_index"
        )
        return [
            (
                (str(schema).lower(), str(name).lower()),
                str(kind),
                tuple(columns or ()),
                str(other or "").lower(),
                tuple(others or ()),
            )
            for schema, name, kind, columns, other, others in said
        ]

    @cached_property
    def _unique_indexes(self) -> list[tuple[Entry, tuple[str, ...]]]:
        """Unique indexes over columns; one over an expression says something else."""
        said = self._ask(
            "SELECT schema_name, table_name, sql FROM duckdb_indexes() WHERE database_name = "
            f"'{SOURCE}' AND is_unique AND NOT is_primary AND sql IS NOT NULL"
        )
        found = []
        for schema, name, sql in said:
            columns = index_columns(str(sql))
            if columns:
                found.append(((str(schema).lower(), str(name).lower()), columns))
        return found

    def _entry(self, one: Entry) -> Origin:
        return Origin("table", f"{self.database}#{'.'.join(one)}", f"the table {spoken(one)}")

    def _read(self, view: Entry) -> Iterator[Entry | Origin]:
        """What a view reads: entries of the catalogue, and the reason
        where it may read something else.
        """
        sql = self.views[view]
        for macro in sorted(self.macros):
            if re.search(rf"(?<!\w){re.escape(macro)}(?!\w)", sql, re.IGNORECASE):
                yield hidden(view, f"it may call the macro {macro}")
        try:
            trees = [tree for tree in sqlglot.parse(sql, read="duckdb") if tree is not None]
        except sqlglot.errors.SqlglotError:
            trees = [exp.Command()]
        for tree in trees:
            if tree.find(exp.Command):
                yield hidden(view, "its SQL is not understood")
            body = tree.expression if isinstance(tree, exp.Create) else tree
            local = {cte.alias.lower() for cte in body.find_all(exp.CTE)}
            for node in body.find_all(exp.Table, exp.Lateral):
                yield from self._entries_in_from(node, view, local)

    def _entries_in_from(
        self, node: exp.Expression, view: Entry, local: set[str]
    ) -> Iterator[Entry | Origin]:
        """The entries that something in FROM may mean.
        Without a schema they are all of that name: the search path decides.
        """
        if isinstance(node.this, exp.Func):
            function = (
                node.this.name if isinstance(node.this, exp.Anonymous) else node.this.sql_name()
            ).lower()
            if function not in ROWS_OF_THEIR_OWN:
                yield hidden(view, f"it reads {function}(...)")
        elif isinstance(node, exp.Table):
            name = node.name.lower()
            meant = [
                one
                for one in (*self.tables, *self.views)
                if one[1] == name and node.db.lower() in ("", one[0])
            ]
            if not meant and (node.db or name not in local):
                yield hidden(view, f"it reads {node.name}, which is no table of the database")
            yield from meant


def index_columns(sql: str) -> tuple[str, ...]:
    """The columns of an index; none where it is over an expression.

    >>> (
    ...     index_columns('CREATE UNIQUE INDEX i ON t(a, "b c");'),
    ...     index_columns("CREATE UNIQUE INDEX i ON t(lower(a));"),
    ... )
    (('a', 'b c'), ())
    """
    tree = sqlglot.parse_one(sql, read="duckdb")
    index = tree.find(exp.IndexParameters)
    ordered = index.args.get("columns") or [] if index else []
    columns = [one.this if isinstance(one, exp.Ordered) else one for one in ordered]
    return (
        tuple(one.name for one in columns)
        if all(isinstance(one, exp.Column) for one in columns)
        else ()
    )


def hidden(view: Entry, why: str) -> Origin:
    """A view may read what its definition does not name."""
    return Origin(
        "hidden", spoken(view), f"what the view {spoken(view)} reads cannot be told: {why}"
    )


def spoken(entry: Entry) -> str:
    """An entry as a plan names it.

    >>> spoken(("main", "wards")), spoken(("old", "wards"))
    ('wards', 'old.wards')
    """
    return entry[1] if entry[0] == "main" else ".".join(entry)


def entry_of(table: str) -> Entry:
    """A table of a plan as the catalogue has it.

    >>> entry_of("Wards"), entry_of("old.wards")
    (('main', 'wards'), ('old', 'wards'))
    """
    schema, _, name = table.lower().rpartition(".")
    return schema.rpartition(".")[2] or "main", name
