"""Known tables: what everybody knows of a plan's tables, by the plan and
by what the source itself declares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.engines.identity import SharedRows, shared_rows
from tacit.engines.open import is_folder as names_folder
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError, TacitError
from tacit.families.queries.dependency import joined
from tacit.families.queries.kinds import ENGINE
from tacit.families.queries.logic.known_keys import KnownKeys, known_keys
from tacit.families.queries.query import Relations
from tacit.families.queries.schema import derived, foreign, relations_of
from tacit.model.schema import ForeignKey, SourceKeys
from tacit.model.verdict import Assumption

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.model.schema import SourceReference, Table
    from tacit.plan.plan import Plan

KEYS_IGNORED = Assumption(
    "source-keys-ignored",
    "the plan says source-keys: ignore: keys and foreign keys that the source declares are "
    "left out",
    "no",
)
AS_DECLARED = Assumption(
    "types-as-declared",
    "columns have the types that the plan declares: the source was not asked",
    "no",
)


@dataclass(frozen=True, slots=True)
class KnownTables:
    """What everybody knows of a plan's tables.

    `foreign_keys` are the plan's and the source's between tables of the plan. `tied` are groups of
    tables whose rows depend on each other: by foreign keys, also over tables that are not in the
    plan, because they share rows (`shared`), or because one is a view of the source (`views`) whose
    key the plan does not say. `outside` are groups of several tables that foreign keys tie over
    tables that are not in the plan. `said` is what the source declares, and `looked_at` the tables
    that it was asked for. `keys` are those that everybody knows, by the plan's `dictionary`, and
    `given` are the groups that are tied even so: a known key ties nobody who refers to it, and
    other known values tie the rows of their table.
    """

    relations: Relations
    foreign_keys: Mapping[str, tuple[ForeignKey, ...]]
    tied: tuple[frozenset[str], ...] = ()
    shared: tuple[SharedRows, ...] = ()
    views: tuple[str, ...] = ()
    outside: tuple[frozenset[str], ...] = ()
    said: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    keys: KnownKeys = field(default_factory=KnownKeys)
    given: tuple[frozenset[str], ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the owner should know of tables that are not what they look like."""
        shared = (
            f"{' and '.join(one.tables)} share rows, or may: {one.because}" for one in self.shared
        )
        views = (
            (
                f"{name} is a view of the source, and what its tables' keys say of its rows is "
                "not read: give it a key in the plan"
            )
            for name in self.views
        )
        return (*shared, *views)


def known_tables(plan: Plan, engine: Callable[[], Engine], *, by_rows: bool = True) -> KnownTables:
    """What everybody knows of a plan's tables.

    The source is asked for all tables that it has. Not `by_rows`: a column may be missing wherever
    nothing forbids it, whatever the rows are like, and types come from the plan or are declared in
    the source.
    """
    there = [table for table in plan.tables.values() if not by_rows or is_looked_at(plan, table)]
    if there:
        found = TableSource(plan, opened(engine), there, by_rows).known()
    else:
        relations = relations_of(plan.tables, mark=plan.mark)
        foreign_keys = {name: table.foreign_keys for name, table in plan.tables.items()}
        keys = keys_by(plan, relations, foreign_keys)
        found = KnownTables(
            relations,
            foreign_keys,
            joined(foreign(plan.tables)),
            keys=keys,
            given=joined([*kept_ties(foreign_keys, keys), *known_values(plan, keys)]),
        )
    unasked = not is_folder(plan) and any(
        table.rows is None and table.name not in found.looked_at for table in plan.tables.values()
    )
    return replace(found, assumptions=(*found.assumptions, *((AS_DECLARED,) if unasked else ())))


class TableSource:
    """A source that is asked for some tables of a plan."""

    def __init__(self, plan: Plan, engine: Engine, tables: Sequence[Table], by_rows: bool) -> None:
        self.plan = plan
        self.engine = engine
        self.tables = tables
        self.by_rows = by_rows
        engine.types_by_plan = engine.types_by_plan or not by_rows
        for table in tables:
            try:
                engine.attach_once(table)
            except TacitError as error:
                raise error.at(plan.mark("tables", table.name)) from None
        self.names = tuple(table.name for table in tables)
        self.stored = [table.name for table in tables if table.rows is None]
        self.declared = {name: engine.declared(name) for name in self.stored}
        if plan.source_keys != "ignore":
            self._check_keys()

    def known(self) -> KnownTables:
        """All that is known."""
        ignored = self.plan.source_keys == "ignore"
        columns = {name: kinds_of(self.engine, name) for name in self.names}
        kept = {
            name: SourceKeys((), one.never_missing) if ignored else one
            for name, one in self.declared.items()
        }
        relations = relations_of(
            self.plan.tables,
            columns,
            {name: self._nullable(name, columns[name]) for name in self.names},
            kept,
            self.plan.mark,
        )
        shared = tuple(shared_rows(self.engine, self.stored))
        views = () if ignored else tuple(self._views())
        foreign_keys = {name: table.foreign_keys for name, table in self.plan.tables.items()}
        tied: list[set[str]] = [
            *foreign(self.plan.tables),
            *(set(one.tables) for one in shared),
            *({name} for name in views),
        ]
        groups = [] if ignored else list(self._tied())
        tied += (set(group) for group, _ in groups)
        if not ignored:
            for name, one in self._between():
                if one not in foreign_keys[name]:
                    foreign_keys[name] = (*foreign_keys[name], one)
        said = tuple(self._declaration_sentences())
        outside = tuple(group for group, leads_out in groups if leads_out and len(group) > 1)
        keys = keys_by(self.plan, relations, foreign_keys)
        given = [
            *kept_ties(foreign_keys, keys),
            *(one.tables for one in shared),
            *((name,) for name in views),
            *(group for group, _ in ([] if ignored else self._tied(keys))),
            *known_values(self.plan, keys),
        ]
        return KnownTables(
            relations,
            foreign_keys,
            joined(tied),
            shared,
            views,
            outside,
            said,
            self.names,
            self._assumptions(said),
            keys,
            joined(given),
        )

    def _check_keys(self) -> None:
        """A key that the source declares and does not enforce is one now."""
        for name, one in self.declared.items():
            for key in () if one.enforced else one.keys:
                if self.engine.value(shapes.distinct_count(name, key)) < self.engine.value(
                    shapes.row_count(name)
                ):
                    hint = "Remove the repeated rows, or write source-keys: ignore."
                    raise DataError(
                        f"the source declares ({', '.join(key)}) a key of {name}, and rows "
                        "share it.",
                        hint=hint,
                        mark=self.plan.mark("tables", name),
                    )

    def _nullable(self, name: str, columns: Mapping[str, str]) -> list[str]:
        """The columns of a table that may be missing."""
        if self.by_rows:
            return self.engine.nullable(name)
        never = self.declared.get(name, SourceKeys()).never_missing
        return [column for column in columns if column not in never]

    @cached_property
    def _entries(self) -> dict[str, set[str]]:
        """The entries of the source's catalogue that each table reads."""
        return {
            name: {one.value for one in self.engine.origins(name) if one.kind == "table"}
            for name in self.stored
        }

    @cached_property
    def _references(self) -> list[SourceReference]:
        return self.engine.references()

    def _views(self) -> Iterator[str]:
        """Tables that are views of the source, and have no key in the plan:
        what they show may have keys that nobody said.
        """
        for name in self.stored:
            if (
                self._entries[name]
                and self.engine.entry(name) is None
                and not self.plan.tables[name].keys
                and not self.declared[name].keys
            ):
                yield name

    def _tied(self, keys: KnownKeys | None = None) -> Iterator[tuple[frozenset[str], bool]]:
        """Tables that foreign keys of the source tie together, and whether they do so over tables
        that are not in the plan; foreign keys into known `keys` tie nothing.

        A table that refers to one outside of the plan is tied to itself:
        its rows need the same rows there.
        """
        own = {self.engine.entry(name) for name in self.stored}
        columns = {
            self.engine.entry(name): one
            for name, one in (keys.columns.items() if keys else ())
            if name in self.stored
        }
        references = (
            one
            for one in self._references
            if columns.get(one.other) is None or one.references != (columns[one.other],)
        )
        for group in joined({one.entry, one.other} for one in references):
            if found := frozenset(
                name for name, entries in self._entries.items() if entries & group
            ):
                yield found, not group <= own

    def _between(self) -> Iterator[tuple[str, ForeignKey]]:
        """The source's foreign keys between tables of the plan."""
        names = {
            entry: name for name in self.stored if (entry := self.engine.entry(name)) is not None
        }
        for one in self._references:
            if one.entry in names and one.other in names:
                yield names[one.entry], ForeignKey(one.columns, names[one.other], one.references)

    def _declaration_sentences(self) -> Iterator[str]:
        """What the source declares, a sentence for each key and foreign key."""
        for name, one in self.declared.items():
            for key in one.keys:
                yield (
                    f"({', '.join(key)}) is "
                    f"{'a key' if one.never_missing.issuperset(key) else 'unique, where it is not NULL,'} "  # noqa: E501
                    f"of {name}"
                )
        names = {
            entry: name for name in self.stored if (entry := self.engine.entry(name)) is not None
        }
        for reference in self._references:
            if reference.entry in names:
                there = (
                    f"{names[reference.other]} ({', '.join(reference.references)})"
                    if reference.other in names
                    else "a table that is not in the plan"
                )
                yield f"{names[reference.entry]} ({', '.join(reference.columns)}) refers to {there}"

    def _assumptions(self, said: Sequence[str]) -> tuple[Assumption, ...]:
        if self.plan.source_keys == "ignore" or not said:
            return ()  # that they are left out is said on every verdict
        enforced = all(self.declared[name].enforced for name in self.stored)
        return (
            Assumption(
                "source-keys",
                f"everybody knows what the source declares: {'; '.join(said)}",
                "yes" if enforced else "no",
            ),
        )


def keys_by(
    plan: Plan, relations: Relations, foreign_keys: Mapping[str, Sequence[ForeignKey]]
) -> KnownKeys:
    """The keys that everybody knows, by the plan's dictionary."""
    written = [
        (name, one.columns, one.table, one.references)
        for name, some in foreign_keys.items()
        for one in some
    ]
    return known_keys(plan.dictionary, relations, written)


def kept_ties(
    foreign_keys: Mapping[str, Sequence[ForeignKey]], keys: KnownKeys
) -> Iterator[set[str]]:
    """The pairs of tables that foreign keys tie together, but for those into known keys."""
    for name, some in foreign_keys.items():
        for one in some:
            if one.table not in keys.columns or one.references != (keys.columns[one.table],):
                yield {name, one.table}


def known_values(plan: Plan, keys: KnownKeys) -> Iterator[set[str]]:
    """Tables whose rows depend on each other because values of them are known that are no key, or
    tell of what a table is derived from.
    """
    sources = derived(plan.tables)
    for name in plan.dictionary:
        table, _, column = name.rpartition(".")
        if keys.columns.get(table) != column or table in sources:
            yield {table, *sources.get(table, ())}


def is_looked_at(plan: Plan, table: Table) -> bool:
    """Is the source asked what a table is like? Always where it has it;
    only under `source-keys: ignore` not, where the plan names the columns of a database's table.
    """
    if table.rows is not None or not table.columns:
        return table.rows is None
    return has_file(plan, table) if is_folder(plan) else plan.source_keys != "ignore"


def is_folder(plan: Plan) -> bool:
    """Are the rows in files of a folder?"""
    return plan.source == "." or names_folder(plan.source, plan.folder)


def has_file(plan: Plan, table: Table) -> bool:
    """Is there a file to look at?"""
    names = [table.file] if table.file else [f"{table.name}.csv", f"{table.name}.parquet"]
    return (
        table.rows is None
        and is_folder(plan)
        and any((plan.folder / plan.source / name).is_file() for name in names)
    )


def opened(engine: Callable[[], Engine]) -> Engine:
    """The source; where it cannot be reached, the way to do without."""
    try:
        return engine()
    except EngineError as error:
        error.hint = (
            f"{error.hint or ''} To judge queries by what the plan says alone, name all "
            "columns of the tables and write source-keys: ignore."
        ).strip()
        raise


def kinds_of(engine: Engine, table: str) -> dict[str, str]:
    """The columns of a table with their kinds;
    where only the engine knows how values compare, that is said.
    """
    plain = {name: engine.meaning(native) for name, native in engine.native_types(table).items()}
    return {name: str(one.kind) if one.is_plain else ENGINE for name, one in plain.items()}
