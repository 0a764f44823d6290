"""Schema: what everybody knows of the relations that queries speak of, from a plan's tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any

from tacit.errors import DataError, Mark, did_you_mean
from tacit.families.queries.kinds import ENGINE, Clash, domain_value
from tacit.families.queries.query import Relation, Relations
from tacit.model.schema import SourceKeys, Table

EngineColumns = Mapping[str, Mapping[str, str]]


def relations_of(
    tables: Mapping[str, Table],
    engine_columns: EngineColumns | None = None,
    engine_nullable: Mapping[str, Collection[str]] | None = None,
    declared: Mapping[str, SourceKeys] | None = None,
    mark: Callable[..., Mark | None] = lambda *path: None,
) -> Relations:
    """The relations of a plan: columns in order, keys, domains, types, which columns may be NULL.

    `engine_columns` (table -> column -> type) and `engine_nullable` (table -> columns) say what the
    source knows, `declared` what it forbids; the plan adds to it. `mark` is the place of a path in
    the plan. A key with a nullable column is no key, because SQL lets many rows have NULL there.
    Without `nullable`, and without a source that says, no column may be NULL, unless a row of the
    plan has nothing there.

    >>> ward = Table(
    ...     "ward", columns={"pid": "integer", "name": None}, keys=(("pid",),), nullable=("name",)
    ... )
    >>> relation = relations_of({"ward": ward})["ward"]
    >>> relation.columns, relation.keys, relation.nullable
    (('pid', 'name'), (('pid',),), frozenset({'name'}))
    """
    columns, nullable, keys = engine_columns or {}, engine_nullable or {}, declared or {}
    return {
        name: _relation(
            table, columns.get(name, {}), nullable.get(name), keys.get(name, SourceKeys()), mark
        )
        for name, table in tables.items()
    }


def foreign(tables: Mapping[str, Table]) -> list[set[str]]:
    """The pairs of tables that foreign keys tie together."""
    return [{table.name, one.table} for table in tables.values() for one in table.foreign_keys]


def derived(tables: Mapping[str, Table]) -> dict[str, frozenset[str]]:
    """The tables that are derived from others, or others at another time, with all tables that
    they come from.

    >>> eras = Table("eras", derived_from=("visits",))
    >>> spans = Table("spans", derived_from=("eras",))
    >>> {one: sorted(some) for one, some in derived({"eras": eras, "spans": spans}).items()}
    {'eras': ['visits'], 'spans': ['eras', 'visits']}
    """
    return {name: frozenset(found) for name in tables if (found := _behind(name, tables))}


def _behind(name: str, tables: Mapping[str, Table]) -> set[str]:
    found, pending = set[str](), [name]
    while pending:
        one = tables.get(pending.pop())
        direct = {*one.derived_from, one.today} - {one.name} if one is not None else set[str]()
        pending += direct - found
        found |= direct
    return found


def _relation(
    table: Table,
    found: Mapping[str, str],
    nullable: Collection[str] | None,
    source: SourceKeys,
    mark: Callable[..., Mark | None],
) -> Relation:
    names = _columns(table, found)
    _check_names(table, names)
    kinds = {
        name: kind
        for name in names
        if (kind := _declared(table, name, found) or _kind(table, name))
    }
    missing = _nullable(table, names, nullable) - source.never_missing
    # A key with a column that nobody may read says nothing of the others.
    keys = tuple(
        dict.fromkeys((*table.keys, *(key for key in source.keys if set(key) <= set(names))))
    )
    domains = {name: (False, True) for name, kind in kinds.items() if kind == "boolean"}
    domains |= {
        name: _domain(table, name, values, kinds.get(name), mark)
        for name, values in table.domains.items()
        if name in names
    }
    return Relation(
        table.name,
        names,
        tuple(key for key in keys if missing.isdisjoint(key)),
        domains,
        missing,
        kinds,
        tuple(key for key in keys if not missing.isdisjoint(key)),
    )


def _declared(table: Table, name: str, found: Mapping[str, str]) -> str | None:
    """The type that the plan gives, else the source's.
    Where they differ, only the database knows how values compare.
    """
    declared, source = table.columns.get(name), found.get(name)
    return (
        declared if source is None or source == declared else source if declared is None else ENGINE
    )


def _check_names(table: Table, names: tuple[str, ...]) -> None:
    """Keys, domains and nullable name columns that are there.
    A sensitive one may be known by answers of views only.
    """
    domains = [name for name in table.domains if name not in table.sensitive]
    for what, some in (
        ("key", [one for key in table.keys for one in key]),
        ("nullable", table.nullable or ()),
        ("domains", domains),
    ):
        for name in some:
            if name not in names:
                raise DataError(
                    f"{what} of table {table.name!r} names {name!r}, which is no column.",
                    hint=did_you_mean(name, names),
                )


def _columns(table: Table, found: Mapping[str, str]) -> tuple[str, ...]:
    """All columns in order: the source's, or those that the plan declares or names."""
    if found:
        return tuple(found)
    if table.columns:
        return tuple(table.columns)
    named = [
        *(name for key in table.keys for name in key),
        *table.person,
        *table.identifiers,
        *table.quasi_identifiers,
    ]
    named += [*table.sensitive, *table.insensitive, *table.domains, *(table.nullable or ())]
    if not named:
        raise DataError(
            f"the columns of table {table.name!r} are not known.",
            hint=(
                f"Add columns to it, e.g. {table.name}: {{columns: [name, ward]}}, or a file "
                "to look at."
            ),
        )
    return tuple(dict.fromkeys(named))


def _kind(table: Table, column: str) -> str | None:
    """The type of a column from the rows in the plan and its domain.
    Where they differ the rows say: the domain is brought to it.
    """
    rows: list[Any] = []
    if table.rows and column in table.columns:
        at = list(table.columns).index(column)
        rows = [row[at] for row in table.rows]
    return _common_kind([*table.domains.get(column, ()), *rows]) or _common_kind(rows)


def _common_kind(values: Collection[Any]) -> str | None:
    there = [value for value in values if value is not None]
    if not there:
        return None
    if all(isinstance(value, str) for value in there):
        return "text"
    if all(isinstance(value, bool) for value in there):
        return "boolean"
    if all(isinstance(value, int | Decimal) and not isinstance(value, bool) for value in there):
        return "integer" if all(isinstance(value, int) for value in there) else "decimal"
    return None


def _nullable(
    table: Table, names: tuple[str, ...], source: Collection[str] | None
) -> frozenset[str]:
    if table.nullable is not None:
        return frozenset(table.nullable)
    keys = {name for key in table.keys for name in key}
    if source is not None:
        # What the plan calls a key identifies rows, also where the source would let it be NULL.
        return frozenset(source) - keys
    rows = table.rows or ()
    return frozenset(
        name
        for at, name in enumerate(table.columns)
        if name in names and any(row[at] is None for row in rows)
    )


def _domain(
    table: Table,
    column: str,
    values: tuple[Any, ...],
    kind: str | None,
    mark: Callable[..., Mark | None],
) -> tuple[Any, ...]:
    """The values as the column has them:
    one of another type would be a value that no query asks for.
    """
    found: list[Any] = []
    for at, value in enumerate(values):
        try:
            found.append(domain_value(value, kind))
        except Clash as clash:
            hint = (
                "Write it as the column has it, or correct its type under columns: "
                f"{{{column}: ...}}."
            )
            place = mark("tables", table.name, "domains", column, at)
            raise DataError(
                f"domain of {table.name}.{column}: {clash}, and the column is {kind}.",
                hint=hint,
                mark=place,
            ) from None
        if found[-1] in found[:-1]:
            place = mark("tables", table.name, "domains", column, at)
            raise DataError(
                f"domain of {table.name}.{column}: {found[-1]!r} stands twice.",
                hint="Remove one.",
                mark=place,
            )
    return tuple(found)
