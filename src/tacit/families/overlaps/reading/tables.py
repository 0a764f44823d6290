"""A table of people: a key that names them, a private column, and the rest that everybody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit.engines import shapes, shapes_stored
from tacit.engines.attach import kind_of_values
from tacit.engines.base import SQL_TYPES
from tacit.errors import DataError, EngineError, PlanError, did_you_mean
from tacit.source import check_keys, count_people
from tacit.tables.hierarchy import value_text

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.model.schema import Table
    from tacit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """A table of people as its engine has it: a key, a private column, and the rest that everybody knows.

    `native` are the columns that are there, with the engine's own types; the private one, of type `kind`, may be missing.
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
        """The columns that tell people apart."""
        return self.table.keys[0]

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
        return tuple(
            name for name in self.native if name != self.sensitive and name not in self.key
        )

    def read(self, name: str) -> exp.Expr:
        """A column in the form that all engines share."""
        return shapes_stored.as_read(
            shapes.column(name, "t"),
            self.engine.meaning(self.native[name]).read,
            self.engine.dialect,
        )

    def constant(self, value: Any) -> exp.Expr:
        """A value of the private column, typed as the column is."""
        sql_type = self.native.get(self.sensitive)
        to = (
            exp.DataType.build(sql_type, dialect=self.engine.dialect)
            if sql_type
            else exp.DataType.build(SQL_TYPES[self.kind])
        )
        written = exp.null() if value is None else exp.Literal.string(value_text(value))
        typed = exp.cast(written, to)
        if self.engine.collation is None or not self.is_known or self.kind != "text":
            return typed
        # A constant is compared by the rules of the database's language, a column perhaps by its own: this is always NULL, and has them.
        own = shapes.column(self.sensitive, "t")
        return exp.Coalesce(this=exp.Nullif(this=own, expression=own.copy()), expressions=[typed])


def keyed(table: Table, plan: Plan, engine: Engine, asks: str) -> KeyedTable:
    """A table, attached, with one key and one private column, in which everybody is once."""
    mark = plan.mark("tables", table.name)
    if not table.keys:
        raise PlanError(
            f"{asks} is about people, and nothing tells the people in {table.name!r} apart.",
            hint="Add key: [COLUMN] to the table.",
            mark=mark,
        )
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
    if sensitive in table.keys[0]:
        raise PlanError(
            f"{sensitive!r} is private, and the key of {table.name!r} that everybody knows has it.",
            hint="Name another key under key.",
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
        if not engine.has(table.name):
            engine.attach(table)
    except (DataError, EngineError) as error:
        raise error.at(mark) from None
    native = engine.native_types(table.name)
    kind: str = (
        engine.meaning(native[sensitive]).kind
        if sensitive in native
        else kind_declared(table, sensitive)
    )
    people = KeyedTable(table, engine, native, sensitive, kind)
    check_people(people, plan)
    return people


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
        if many:
            raise DataError(
                f"{name!r} tells people apart, but {many} of {rows} rows of {table.name} have none.",
                hint="Fill it in, or leave those rows out.",
                mark=plan.mark("tables", table.name, "key"),
            )
    check_keys(engine, table, plan, rows)
    if count_people(engine, table, plan, rows) < rows:
        raise DataError(
            f"some people have several rows in {table.name}; these checks need everybody to have one.",
            hint="Make a table with one row per person.",
            mark=plan.mark("tables", table.name, "person"),
        )
    if people.is_known:
        read = people.read(people.sensitive)
        no_number = exp.and_(
            shapes.column(people.sensitive, "t").is_(exp.null()).not_(), read.is_(exp.null())
        )
        if read != shapes.column(people.sensitive, "t") and next(
            engine.rows(
                shapes_stored.stored_rows(table.name, {"v": read}, where=no_number).limit(1)
            ),
            None,
        ):
            raise DataError(
                f"{people.sensitive} of {table.name} has values that are not numbers (NaN).",
                hint="Make them missing (NULL).",
                mark=plan.mark("tables", table.name, "sensitive"),
            )


def kind_declared(table: Table, column: str) -> str:
    """The type of a column that is not in the data: as declared, else that of its domain, else text."""
    return table.columns.get(column) or kind_of_values(
        table.name, column, list(table.domains.get(column, ()))
    )
