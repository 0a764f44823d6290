"""The SQL of a model over the tables of the database alone: what it reads by ref stands in it."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tacit.engines.sql import shapes_inlined
from tacit.errors import InputError
from tacit.starter.dbt.manifest import DbtNode, DbtProject


class UnreadableError(Exception):
    """Why the rows of a model are not known from its SQL."""


def query_of(project: DbtProject, node: DbtNode) -> str:
    """A node as SQL over seeds, sources and what keeps rows of the past."""
    return tree_of(project, node).sql(dialect=project.adapter)


def tree_of(project: DbtProject, node: DbtNode) -> exp.Query:
    """The same as a tree."""
    if node.sql is None:
        return shapes_inlined.all_of(node.place)
    if not node.sql:
        raise InputError(f"{node.name} is not compiled.", hint="Run: dbt compile")
    try:
        (tree,) = sqlglot.parse(node.sql, read=project.adapter)
    except (SqlglotError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise UnreadableError(f"the SQL of {node.name} is not read: {first}") from None
    if not isinstance(tree, exp.Query):
        raise UnreadableError(f"{node.name} is no SELECT")
    for table in list(tree.find_all(exp.Table)):
        if table.db:  # others are names of WITH, else the reader says that there is no such table
            put_in(project, node, table)
    return tree


def put_in(project: DbtProject, node: DbtNode, table: exp.Table) -> None:
    """A table that a node reads: its SQL where it has some, else its name."""
    read = [project.nodes[one] for one in node.reads]
    found = [one for one in read if one.place == (table.db, table.name)]
    if len(found) != 1 or not isinstance(table.this, exp.Identifier):
        raise UnreadableError(
            f"{node.name} reads {table.db}.{table.name}, which is not one that it names by ref or "
            "source"
        )
    alias = table.args.get("alias")
    more = {name for name, part in table.args.items() if part} - {"this", "db", "catalog", "alias"}
    if more or (alias and alias.columns):
        raise UnreadableError(f"{node.name} reads {table.name} with more than a name")
    (one,) = found
    shapes_inlined.stand_in(table, one.place if one.sql is None else tree_of(project, one))


def kept(project: DbtProject, node: DbtNode) -> dict[str, DbtNode]:
    """The tables that the SQL of a node reads in the end, by id."""
    if node.sql is None:
        return {node.id: node}
    return {
        id: one for name in node.reads for id, one in kept(project, project.nodes[name]).items()
    }
