"""A table of people: a key that names them, a private column, and the rest that everybody knows.

Without a key each row is one person, and all that everybody knows of them is their name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from tacit.engines.attach import kind_of_values
from tacit.engines.base import SQL_TYPES, Engine
from tacit.engines.sql import shapes, shapes_stored
from tacit.errors import DataError, EngineError, PlanError, did_you_mean
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.reading.source import check_keys, count_people
from tacit.model.schema import Table
from tacit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """A table of people as its engine has it:
    a key, a private column, and the rest that everybody knows.

    `native` are the columns that are there, with the engine's own types;
    the private one, of type `kind`, may be missing.
    """

    table: Table
    engine: Engine
    native: Mapping[str, str]
    sensitive: str
    kind: str

    @property
    def name(self) -> str:
        """The table's name."""
        return self.table.name

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell people apart; without a key all that are known of them, which
        several may share.
        """
        if self.table.keys:
            return self.table.keys[0]
        return tuple(name for name in self.native if name != self.sensitive)

    @property
    def is_known(self) -> bool:
        """Are the private values there?"""
        return self.sensitive in self.native

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, the private one too."""
        return tuple(dict.fromkeys([*self.native, self.sensitive]))

    @property
    def public(self) -> tuple[str, ...]:
        """What everybody knows of the people that the key names."""
        naming = self.key if self.table.keys else self.table.identifiers
        return tuple(name for name in self.native if name != self.sensitive and name not in naming)

    def read(self, name: str) -> exp.Expr:
        """A column in the form that all engines share."""
        return self.as_read(shapes.column(name, "t"), name)

    def as_read(self, value: exp.Expr, name: str) -> exp.Expr:
        """A value that is typed like a column, in the form that all engines share."""
        return (
            shapes_stored.as_read(
                value, self.engine.meaning(self.native[name]).read, self.engine.dialect
            )
            if name in self.native
            else value
        )

    def constant(self, value: Any) -> exp.Expr:
        """A value of the private column, typed as the column is."""
        native = self.native.get(self.sensitive)
        to = (native, self.engine.dialect) if native else (SQL_TYPES[self.kind], None)
        text = None if value is None else value_text(value)
        # A constant is compared by the rules of the database's language,
        # a column perhaps by its own.
        by_its_own = self.engine.collation is not None and self.is_known and self.kind == "text"
        return shapes_stored.typed_text(text, *to, like=self.sensitive if by_its_own else None)


def keyed(table: Table, plan: Plan, engine: Engine, asks: str) -> KeyedTable:
    """A table, attached, with one private column, in which everybody is once."""
    mark = plan.mark("tables", table.name)
    if len(table.sensitive) != 1:
        many = (
            f"has {len(table.sensitive)} ({', '.join(table.sensitive)})"
            if table.sensitive
            else "has none"
        )
        hint = (
            "Keep one; all other columns are taken as known to everybody."
            if table.sensitive
            else "Add sensitive: [COLUMN] to the table."
        )
        raise PlanError(
            f"{asks} needs one sensitive column, and {table.name!r} {many}.", hint=hint, mark=mark
        )
    sensitive = table.sensitive[0]
    if table.keys and sensitive in table.keys[0]:
        raise PlanError(
            f"{sensitive!r} is private, and the key of {table.name!r} that everybody knows has it.",
            hint="Name another key under key.",
            mark=mark,
        )
    if any(sensitive in key for key in table.keys):
        hint = (
            "These checks count tables in which everybody may have any value. Ask g-safety, "
            "which takes keys into account, or leave the key out if nobody knows it."
        )
        raise PlanError(
            f"{sensitive!r} is private, and a key of {table.name!r} says that its values exclude "
            "each other.",
            hint=hint,
            mark=mark,
        )
    if (
        isinstance(table.distances.get(sensitive), Mapping)
        and "variational" in table.distances[sensitive]
    ):
        raise PlanError(
            f"{sensitive!r} is made of several columns, and {asks} needs one that has a value.",
            hint="Name such a column under sensitive.",
            mark=mark,
        )
    try:
        engine.attach_once(table)
    except (DataError, EngineError) as error:
        raise error.at(mark) from None
    refuse_source_key(table, plan, engine, sensitive)
    native = engine.native_types(table.name)
    kind: str = (
        engine.meaning(native[sensitive]).kind
        if sensitive in native
        else kind_declared(table, sensitive)
    )
    people = KeyedTable(table, engine, native, sensitive, kind)
    try:
        engine.refuse_losses(table.name, (*people.key, sensitive))
    except DataError as error:
        raise error.at(mark) from None
    check_people(people, plan)
    return people


def refuse_source_key(table: Table, plan: Plan, engine: Engine, sensitive: str) -> None:
    """A key of the source that has the private column would rule
    out tables that are counted here.
    """
    keys = (
        engine.declared(table.name).keys
        if plan.source_keys != "ignore" and table.rows is None
        else ()
    )
    for key in keys:
        if sensitive in key:
            raise DataError(
                f"{sensitive!r} is private, and the source declares ({', '.join(key)}) unique in "
                f"{table.name}: its values exclude each other.",
                hint=(
                    "These checks count tables in which everybody may have any value. If "
                    "nobody knows of it, write source-keys: ignore."
                ),
                mark=plan.mark("tables", table.name),
            )


def check_people(people: KeyedTable, plan: Plan) -> None:
    """Everybody has a key of their own, and is in one row."""
    table, engine = people.table, people.engine
    for at, name in enumerate(people.key):
        if name not in people.native:
            raise DataError(
                f"table {table.name} has no column {name!r}.",
                hint=did_you_mean(name, people.native),
                mark=plan.mark("tables", table.name, "key", at),
            )
    rows, *missing = next(engine.rows(shapes.missing_counts(table.name, people.key)))
    if not rows:
        raise DataError(
            f"table {table.name} has no rows.",
            hint="There is nobody to protect.",
            mark=plan.mark("tables", table.name),
        )
    for name, many in zip(people.key, missing, strict=True):
        if many and table.keys:
            raise DataError(
                f"{name!r} tells people apart, but {many} of {rows} rows of {table.name} "
                "have none.",
                hint="Fill it in, or leave those rows out.",
                mark=plan.mark("tables", table.name, "key"),
            )
    check_keys(engine, table, plan, rows)
    if count_people(engine, table, plan, rows) < rows:
        raise DataError(
            f"some people have several rows in {table.name}; these checks need everybody to "
            "have one.",
            hint="Make a table with one row per person.",
            mark=plan.mark("tables", table.name, "person"),
        )
    if people.is_known:
        read = people.read(people.sensitive)
        if read != shapes.column(people.sensitive, "t") and next(
            engine.rows(shapes_stored.unread_value(table.name, people.sensitive, read)), None
        ):
            raise DataError(
                f"{people.sensitive} of {table.name} has values that are not numbers (NaN).",
                hint="Make them missing (NULL).",
                mark=plan.mark("tables", table.name, "sensitive"),
            )


def kind_declared(table: Table, column: str) -> str:
    """The type of a column that is not in the data:
    as declared, else that of its domain, else text.
    """
    return table.columns.get(column) or kind_of_values(
        table.name, column, list(table.domains.get(column, ()))
    )
