"""Knowledge: which tables, views and columns a role may know of, by the plan alone.

A role that is denied by default knows the names that it is allowed; any other knows all but the
tables that it is denied and the views that read one of them. Row counts are nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tacit.engines.sql.one_select import tables_in
from tacit.families.queries.sql.name_scope import DEFAULT_SCHEMAS
from tacit.gateway.policy.grants import written
from tacit.gateway.policy.policy import GatewayPolicy, RolePolicy
from tacit.plan.plan import Plan

PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class Thing:
    """A table or a view: its name in the plan, schema and name as clients see it, and a query of
    all of it.
    """

    name: str
    schema: str
    table: str
    is_view: bool
    sql: str
    required: frozenset[str] = frozenset()
    keys: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """Columns of a table that refer to columns of another."""

    thing: Thing
    columns: tuple[str, ...]
    other: Thing
    other_columns: tuple[str, ...]


class RoleKnowledge:
    """What one role may know of."""

    def __init__(self, plan: Plan, policy: GatewayPolicy, role: str) -> None:
        self.role = role
        self.dialect = policy.dialect
        self.things = tuple(_things(policy, policy.roles[role]))
        self.names = frozenset(plain for one in self.things for plain in (one.name, one.table))
        known = {one.name: one for one in self.things}
        self.references = tuple(
            Reference(thing, key.columns, known[key.table], key.references)
            for thing in self.things
            if not thing.is_view
            for key in plan.tables[thing.name].foreign_keys
            if key.table in known
        )


def _things(policy: GatewayPolicy, role: RolePolicy) -> Iterator[Thing]:
    denied = {name for name in role.denied if name in policy.relations}
    known = [*policy.relations, *(name for name in policy.views if name not in policy.relations)]
    wanted = known if role.default == "allow" else [one for one in known if one in role.allowed]
    for name in wanted:
        if name in role.denied:
            continue
        sql = written(name, policy)
        if denied & tables_in(sql, policy.dialect):
            continue
        schema, _, table = name.rpartition(".")
        schema = PUBLIC if schema in ("", *DEFAULT_SCHEMAS) else schema
        relation = policy.relations.get(name)
        if relation is None:
            yield Thing(name, schema, table, True, sql)
        else:
            required = frozenset(relation.columns) - relation.nullable
            yield Thing(name, schema, table, False, sql, required, relation.keys)
