"""Trees: a view of the plan as a statement that its engine runs:
tables by their full names, views that it names inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sqlglot import exp

from tacit.engines.sql.shapes_named import in_front, outer_tables, spelling, with_full_names
from tacit.errors import QueryError, TacitError
from tacit.families.queries.datalog.datalog_reader import is_datalog
from tacit.families.queries.reading.readings import Readings, dialect_of
from tacit.families.queries.sql.joins import table_name
from tacit.families.queries.sql.name_scope import DEFAULT_SCHEMAS
from tacit.families.queries.sql.parse import parsed
from tacit.families.queries.sql.to_sql import to_sql
from tacit.families.queries.understanding import QueryText
from tacit.model.release import View
from tacit.plan.plan import Plan


def tree_of(plan: Plan, name: str, readings: Readings) -> exp.Query | None:
    """What an engine runs to answer a view; None for a query whose answer is always empty."""
    release = plan.releases[name]
    assert isinstance(release, View)
    if is_datalog(release.query):
        exact = readings.view(name).exact
        if exact is None or not exact.parts:
            return None
        tree = parsed(
            QueryText(to_sql(exact, readings.relations(), readings.dialect), name), readings.dialect
        )
    else:
        readings.view(name)  # what is no single query, or changes by itself, is refused here
        tree = expanded(plan, name)
    assert isinstance(tree, exp.Query)
    # tables as engines know them, whatever the case of their letters
    return with_full_names(tree, partial(_table, plan))


def expanded(plan: Plan, name: str) -> exp.Expr:
    """The tree of a view, with the views that it names as WITH
    queries, each before those that name it.
    """
    tree = own_tree(plan, name)
    for other in needed_views(plan, name):
        inner = own_tree(plan, other)
        if not isinstance(tree, exp.Query) or not isinstance(inner, exp.Query):
            raise QueryError(f"{name!r} names {other!r}, which is not read.", code="not-read")
        # The last one in front: it may name those that come before it.
        called = spelling(tree, other, partial(_is_view, plan, other))
        tree = tree.with_(called, as_=inner)
    return in_front(tree, len(needed_views(plan, name)))


def own_tree(plan: Plan, name: str) -> exp.Expr:
    """A view as it is written."""
    release = plan.releases[name]
    assert isinstance(release, View)
    return parsed(QueryText(release.query, release.query_file or name), dialect_of(plan.source))


def needed_views(plan: Plan, name: str) -> list[str]:
    """All views that a view needs, each after those that it needs itself."""
    found: list[str] = []

    def visit(one: str, above: Sequence[str]) -> None:
        for other in _mentioned(plan, one):
            if other not in above and other not in found:
                visit(other, (*above, other))
                found.append(other)

    visit(name, (name,))
    return found


def _mentioned(plan: Plan, name: str) -> Iterator[str]:
    release = plan.releases[name]
    if not isinstance(release, View) or is_datalog(release.query):
        return
    try:
        tree = own_tree(plan, name)
    except TacitError:
        return
    for node in outer_tables(tree):
        if _table(plan, node) is None and (other := _view(plan, node)) is not None:
            yield other


def tables_of(plan: Plan, tree: exp.Expr) -> list[str]:
    """The tables of the plan that a query reads."""
    found = (_table(plan, node) for node in outer_tables(tree))
    return list(dict.fromkeys(name for name in found if name is not None))


def _table(plan: Plan, node: exp.Table) -> str | None:
    """The table of the plan that a name in FROM means; tables come before views."""
    for wanted in (
        (table_name(node), node.name) if node.db.lower() in DEFAULT_SCHEMAS else (table_name(node),)
    ):
        if wanted in plan.tables:
            return wanted
        alike = [name for name in plan.tables if name.lower() == wanted.lower()]
        if len(alike) == 1:
            return alike[0]
    return None


def _is_view(plan: Plan, name: str, node: exp.Table) -> bool:
    return _view(plan, node) == name


def _view(plan: Plan, node: exp.Table) -> str | None:
    """The view of the plan that a name in FROM means."""
    views = list(plan.of(View))
    wanted = table_name(node)
    if wanted in views:
        return wanted
    alike = [name for name in views if name.lower() == wanted.lower()]
    return alike[0] if len(alike) == 1 else None
