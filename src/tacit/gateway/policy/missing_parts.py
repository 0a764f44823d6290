"""Missing: what keeps a query from being covered, in words: a table, a column, or the rows."""

from __future__ import annotations

from sqlglot import exp

from tacit.engines.sql.one_select import tables_in
from tacit.families.queries.query import Constant, Query, Relations
from tacit.families.words import listed
from tacit.gateway.policy.grants import written
from tacit.gateway.policy.policy import GatewayPolicy, RolePolicy

Place = tuple[str, str]  # table and column


def missing(tree: exp.Query, views: list[Query], relations: Relations) -> str:
    """What no view of a role shows of all that a query names; else the view that comes nearest."""
    tables = {
        one.alias_or_name: name
        for one in tree.find_all(exp.Table)
        if (name := f"{one.db}.{one.name}" if one.db else str(one.name)) in relations
    }
    wanted = {
        (tables[one.table], str(one.name))
        for one in tree.find_all(exp.Column)
        if one.table in tables
    }
    shown = {view.name: _shown(view, relations) for view in views}
    there = {name for places in shown.values() for name, _ in places}
    if without := sorted(set(tables.values()) - there):
        return f"No view of this role shows anything of {listed(without, 'or')}."
    everything = {place for places in shown.values() for place in places}
    if hidden := sorted(f"{table}.{column}" for table, column in wanted - everything):
        return f"No view of this role shows {listed(hidden, 'or')}."
    nearest = max(
        shown, key=lambda name: (len(wanted & shown[name]), -len(shown[name])), default=None
    )
    if nearest is None:
        return ""
    return (
        f"Its columns are shown, but not of all these rows, as far as was seen. The nearest view "
        f"is {nearest}."
    )


def _shown(view: Query, relations: Relations) -> frozenset[Place]:
    """The columns that a view shows, or has one value of."""
    return frozenset(
        (atom.relation, column)
        for part in view.parts
        for atom in part.atoms
        for column, term in zip(relations[atom.relation].columns, atom.terms, strict=True)
        if isinstance(term, Constant) or term in part.head
    )


def hidden_from(role: RolePolicy, policy: GatewayPolicy) -> frozenset[str]:
    """The tables and views of which a role is not told that they are there.

    One that is denied by default knows what it is allowed, and what those views read; any other all
    but the tables that it is denied and the views that read one of them.
    """
    reads = {
        name: tables_in(written(name, policy), policy.dialect)
        for name in {*policy.relations, *policy.views}
    }
    if role.default == "allow":
        denied = {name for name in role.denied if name in policy.relations}
        return frozenset(name for name, tables in reads.items() if tables & denied)
    known = {table for name in role.allowed for table in reads[name]}
    return frozenset(
        name for name, tables in reads.items() if name not in role.allowed and not tables <= known
    )
