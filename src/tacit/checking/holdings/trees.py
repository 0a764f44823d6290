"""Trees: a view of the plan as a statement that its engine runs: tables by their full names, views that it names inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from tacit.engines import shapes
from tacit.errors import QueryError, TacitError
from tacit.model.release import View
from tacit.queries.datalog import is_datalog
from tacit.queries.reading import Text
from tacit.queries.sql import DEFAULT_SCHEMAS
from tacit.queries.sql_from import table_name
from tacit.queries.sql_parse import parsed
from tacit.queries.to_sql import to_sql
from tacit.readings import dialect_of

if TYPE_CHECKING:
    from tacit.plan.plan import Plan
    from tacit.readings import Readings


def tree_of(plan: Plan, name: str, readings: Readings) -> exp.Query | None:
    """What an engine runs to answer a view; None for a query whose answer is always empty."""
    release = plan.releases[name]
    assert isinstance(release, View)
    if is_datalog(release.query):
        exact = readings.view(name).exact
        if exact is None or not exact.parts:
            return None
        tree = parsed(
            Text(to_sql(exact, readings.relations(), readings.dialect), name), readings.dialect
        )
    else:
        readings.view(name)  # what is no single query, or changes by itself, is refused here
        tree = expanded(plan, name)
    assert isinstance(tree, exp.Query)
    return named_fully(tree, plan)


def expanded(plan: Plan, name: str) -> exp.Expr:
    """The tree of a view, with the views that it names as WITH queries, each before those that name it."""
    tree = own_tree(plan, name)
    for other in needed_views(plan, name):
        inner = own_tree(plan, other)
        if not isinstance(tree, exp.Query) or not isinstance(inner, exp.Query):
            raise QueryError(f"{name!r} names {other!r}, which is not read.", code="not-read")
        # The last one in front: it may name those that come before it.
        tree = tree.with_(spelling(tree, plan, other), as_=inner)
    return in_front(tree, len(needed_views(plan, name)))


def in_front(tree: exp.Expr, many: int) -> exp.Expr:
    """The last WITH queries moved before the others, which may name them."""
    found = tree.args.get("with_")
    if found is not None and many:
        own = found.expressions
        found.set("expressions", [*own[len(own) - many :], *own[: len(own) - many]])
    return tree


def own_tree(plan: Plan, name: str) -> exp.Expr:
    """A view as it is written."""
    release = plan.releases[name]
    assert isinstance(release, View)
    return parsed(Text(release.query, release.query_file or name), dialect_of(plan.source))


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


def outer_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """The tables in a query that are none of its own WITH queries."""
    local = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table):
        if isinstance(node.this, exp.Identifier) and not (
            not node.db and node.name.lower() in local
        ):
            yield node


def tables_of(plan: Plan, tree: exp.Expr) -> list[str]:
    """The tables of the plan that a query reads."""
    found = (_table(plan, node) for node in outer_tables(tree))
    return list(dict.fromkeys(name for name in found if name is not None))


def named_fully(tree: exp.Query, plan: Plan) -> exp.Query:
    """The query with the tables of the plan as engines know them, whatever the case of their letters."""
    for node in list(outer_tables(tree)):
        name = _table(plan, node)
        if name is None:
            continue
        written = shapes.table_of(name)
        alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
        for part in ("this", "db", "catalog"):
            node.set(part, written.args.get(part))
        node.set("alias", alias)
    return tree


def spelling(tree: exp.Expr, plan: Plan, name: str) -> exp.Identifier:
    """A view's name as a query has it, with its quotes: without them PostgreSQL means small letters."""
    found = next(
        (node.this for node in tree.find_all(exp.Table) if _view(plan, node) == name), None
    )
    return found.copy() if found is not None else exp.to_identifier(name, quoted=True)


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


def _view(plan: Plan, node: exp.Table) -> str | None:
    """The view of the plan that a name in FROM means."""
    views = [name for name, one in plan.releases.items() if isinstance(one, View)]
    wanted = table_name(node)
    if wanted in views:
        return wanted
    alike = [name for name in views if name.lower() == wanted.lower()]
    return alike[0] if len(alike) == 1 else None
