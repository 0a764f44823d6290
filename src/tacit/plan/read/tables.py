"""An entry under `tables`: columns, rows, keys and roles that fit together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args

from tacit.errors import did_you_mean
from tacit.families.queries.kinds import Clash, domain_value
from tacit.model.schema import ColumnType, ForeignKey, HierarchySpec, Table
from tacit.plan.read import values
from tacit.plan.read.document import Faults, KeyPath
from tacit.plan.read.hierarchies import read_hierarchy
from tacit.plan.read.keys import TableKeys
from tacit.plan.read.values import UnfitError, quote_value, repeated

TYPES: tuple[str, ...] = get_args(ColumnType)
DECIMAL = re.compile(r"decimal\((\d{1,2})(?:, ?(\d{1,2}))?\)")
MOST_DIGITS = 38  # what all engines have
DIGITS = (
    f'"decimal(8, 2)", in quotes: how many digits, up to {MOST_DIGITS}, and how many of them '
    "behind the point"
)
ROLES = ("identifiers", "quasi-identifiers", "sensitive", "insensitive")

COLUMNS = "a list of columns, e.g. [name, ward], or column: type, e.g. {name: text, ward: integer}"
KEY = "a list of columns, e.g. [name], or a list of such keys, e.g. [[name], [ssn]]"
DISTANCES = (
    "numeric, discrete, variational, {taxonomy: FILE}, {variational: [columns]} or {python: "
    "module:function}"
)


def read_table(name: str, keys: TableKeys, faults: Faults) -> Table | None:
    """The table of that name, or None where something is wrong with it.

    >>> from tacit.plan.read.document import parse
    >>> text = "tables: {people: {quasi-identifiers: [zip, age], sensitive: age}}"
    >>> faults = Faults(parse(text))
    >>> written = {"quasi-identifiers": ["zip", "age"], "sensitive": "age"}
    >>> read_table("people", TableKeys.model_validate(written), faults)
    >>> print(faults.found[0])
    tacit.yaml:1:61: 'age' is in 'sensitive' and in 'quasi-identifiers'. A column has one role: remove one.
        tables: {people: {quasi-identifiers: [zip, age], sensitive: age}}
                                                                    ^
    """  # noqa: E501
    reader = _Table(("tables", name), keys, faults)
    before = len(faults)
    table = reader.table(name)
    if len(faults) == before:
        reader.check_roles()
        reader.check_sensitive(table)
        reader.check_names(table)
        if keys.snapshot_of is None:  # else it may have the columns of another table
            check_rows(table, reader.path, faults)
    return table if len(faults) == before else None


class _Table:
    """Reads one table; `path` is where it stands in the file."""

    def __init__(self, path: KeyPath, keys: TableKeys, faults: Faults) -> None:
        self.path, self.keys, self.faults = path, keys, faults
        self.given = keys.written()

    def table(self, name: str) -> Table:
        keys = self.keys
        columns = self.columns() if "columns" in self.given else {}
        return Table(
            name=name,
            file=keys.file,
            columns=columns,
            rows=self.rows() if "rows" in self.given else None,
            keys=self.key() if "key" in self.given else (),
            person=keys.person,
            identifiers=keys.identifiers,
            quasi_identifiers=keys.quasi_identifiers,
            sensitive=keys.sensitive,
            insensitive=keys.insensitive,
            hierarchies=self.hierarchies(),
            domains={column: self.domain(column, columns.get(column)) for column in keys.domains},
            nullable=keys.nullable,
            distances={column: self.distance(column) for column in keys.distances},
            unknown={column: self.unknown(column) for column in keys.unknown},
            decimal_comma=keys.decimal == ",",
            merge_spelling=keys.merge_spelling,
            as_written=keys.as_written,
            foreign_keys=tuple(
                self.foreign_key(columns, there) for columns, there in keys.foreign_keys.items()
            ),
            digits=self.digits(),
            derived_from=keys.derived_from,
        )

    def columns(self) -> dict[str, ColumnType | None]:
        """Names with their types, None where the data tell."""
        path = (*self.path, "columns")
        written = self.keys.columns
        if isinstance(written, dict) and written:
            for column, kind in written.items():
                self.faults.fit((*path, column), values.text, column, "column names in quotes")
                if kind is not None:
                    self.faults.fit((*path, column), column_type, kind)
            return {
                column: "decimal" if DECIMAL.fullmatch(str(kind)) else kind
                for column, kind in written.items()
            }
        if not isinstance(written, list) or not written:
            self.faults.unfit(UnfitError(written, COLUMNS), *path)
            return {}
        for at, column in enumerate(written):
            self.faults.fit(
                (*path, at), values.text, column, "the name of a column, in quotes if need be"
            )
        names = [column for column in written if isinstance(column, str)]
        for at, column in repeated(names):
            self.faults.add(
                f"column {column!r} stands twice.", *path, at, hint="Remove or rename one."
            )
        return dict.fromkeys(names)

    def digits(self) -> dict[str, tuple[int, int]]:
        """How many digits decimals have, where that is declared, and how
        many of them behind the point.
        """
        written = self.keys.columns if isinstance(self.keys.columns, dict) else {}
        found = {column: DECIMAL.fullmatch(str(kind)) for column, kind in written.items()}
        return {column: (int(one[1]), int(one[2] or 0)) for column, one in found.items() if one}

    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """Small data that stand in the plan."""
        path = (*self.path, "rows")
        rows = self.faults.fit(
            path, values.items, self.keys.rows, "a list of rows, e.g. [[Alan, 23], [Bob, 24]]"
        )
        for at, row in enumerate(rows or ()):
            if not isinstance(row, list):
                self.faults.unfit(UnfitError(row, "a row as a list, e.g. [Alan, 23]"), *path, at)
                return ()
            for cell in row:
                if isinstance(cell, list):
                    self.faults.add(
                        "a cell holds a list.",
                        *path,
                        at,
                        hint="Write one value, or value: probability.",
                    )
                    return ()
        return tuple(tuple(row) for row in rows or ())

    def key(self) -> tuple[tuple[str, ...], ...]:
        """One key, or several: [name] and [[name], [ssn]]."""
        written, path = self.keys.key, (*self.path, "key")
        columns = [written] if isinstance(written, str) else written
        if columns == []:
            return ()
        if isinstance(columns, list) and not any(isinstance(one, list) for one in columns):
            return (self.one_key(columns, path),)
        if isinstance(columns, list) and all(isinstance(one, list) and one for one in columns):
            return tuple(self.one_key(one, (*path, at)) for at, one in enumerate(columns))
        self.faults.unfit(UnfitError(written, KEY), *path)
        return ()

    def one_key(self, columns: list[Any], path: KeyPath) -> tuple[str, ...]:
        """Columns, each once, that tell rows apart together."""
        for at, column in enumerate(columns):
            self.faults.fit((*path, at), values.text, column, "the name of a column")
        for at, column in repeated(map(str, columns)):
            self.faults.add(f"{column!r} stands twice in the key.", *path, at, hint="Remove one.")
        return tuple(columns)

    def hierarchies(self) -> dict[str, HierarchySpec]:
        """Those that could be read."""
        read = {
            column: read_hierarchy(entry, (*self.path, "hierarchies", column), self.faults)
            for column, entry in self.keys.hierarchies.items()
        }
        return {column: spec for column, spec in read.items() if spec is not None}

    def domain(self, column: str, kind: str | None) -> tuple[Any, ...]:
        """The values a column can have, as its type has them.
        Two that are equal would be counted as two.
        """
        path = (*self.path, "domains", column)
        domain = self.faults.fit(
            path, values.items, self.keys.domains[column], "a list of values, e.g. [F, M]"
        )
        for at, value in enumerate(domain or ()):
            if value is None:
                hint = f"Whether values may be missing is said by: nullable: [{column}]"
                self.faults.add("a missing value is not part of a domain.", *path, at, hint=hint)
            elif isinstance(value, list | dict):
                self.faults.unfit(UnfitError(value, "one value"), *path, at)
                return ()
        typed = tuple(
            self.in_domain(value, column, kind, at) for at, value in enumerate(domain or ())
        )
        for at, value in repeated(typed):
            self.faults.add(
                f"{quote_value(value)} stands twice in the domain.", *path, at, hint="Remove one."
            )
        return typed

    def in_domain(self, value: Any, column: str, kind: str | None, at: int) -> Any:
        """A value of a domain as the column's declared type has it."""
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        try:
            return (
                domain_value(value, kind if kind in TYPES else "decimal" if number else None)
                if value is not None
                else None
            )
        except Clash as clash:
            hint = (
                "Write it in quotes, as it stands in the data."
                if kind == "text"
                else f"Correct it, or the type: columns: {{{column}: text}}."
            )
            of = f", and {column!r} is declared {kind}" if kind else ""
            self.faults.add(f"{clash}{of}.", *self.path, "domains", column, at, hint=hint)
            return value

    def foreign_key(self, columns: str, there: str) -> ForeignKey:
        """ward: wards.id, or for several columns "ward, bed": "beds.ward, beds.number"."""
        here = tuple(name.strip() for name in columns.split(","))
        targets = [name.strip().rpartition(".") for name in there.split(",")]
        tables = {table for table, _, _ in targets}
        if len(targets) != len(here) or len(tables) != 1 or "" in tables:
            instead = ", ".join(f"wards.{name}" for name in here)
            self.faults.unfit(
                UnfitError(there, f"a table and a column of it for each, e.g. {instead}"),
                *self.path,
                "foreign-keys",
                columns,
            )
            return ForeignKey((), "", ())
        return ForeignKey(here, targets[0][0], tuple(name for _, _, name in targets))

    def unknown(self, column: str) -> tuple[Any, ...]:
        """Values that mean that nothing is known."""
        path = (*self.path, "unknown", column)
        listed = self.faults.fit(
            path, values.items, self.keys.unknown[column], 'a list of values, e.g. ["?", unknown]'
        )
        return tuple(listed or ())

    def distance(self, column: str) -> Any:
        """How unlike two values of a column are."""
        entry, path = self.keys.distances[column], (*self.path, "distances", column)
        if callable(entry):
            return entry
        if isinstance(entry, str):
            return self.faults.fit(
                path, values.choice, entry, ("numeric", "discrete", "variational")
            )
        if not isinstance(entry, dict) or len(entry) != 1:
            self.faults.unfit(UnfitError(entry, DISTANCES), *path)
            return None
        ((way, what),) = entry.items()
        path = (*path, way)
        if way == "taxonomy":
            return {way: self.faults.fit(path, values.text, what, "the name of a file")}
        if way == "python":
            return {way: self.faults.fit(path, _function, what)}
        if way == "variational":
            columns = self.faults.fit(
                path, values.items, what, "one column per value, e.g. [p_flu, p_cold]"
            )
            for at, one in enumerate(columns or ()):
                self.faults.fit((*path, at), values.text, one, "the name of a column")
            return {way: tuple(columns or ())}
        self.faults.add(f"unknown key {way!r}.", *path, hint=f"Write {DISTANCES}.", key=True)
        return None

    def check_roles(self) -> None:
        """A column has one role, and stands once in each list."""
        first: dict[str, str] = {}
        for role in ROLES:
            for at, column in enumerate(self.given.get(role, ())):
                path = (*self.path, role, at)
                if first.get(column) == role:
                    self.faults.add(
                        f"{column!r} stands twice in {role!r}.", *path, hint="Remove one."
                    )
                elif column in first:
                    self.faults.add(
                        f"{column!r} is in {role!r} and in {first[column]!r}.",
                        *path,
                        hint="A column has one role: remove one.",
                    )
                else:
                    first[column] = role
        for key in ("person", "nullable"):
            for at, column in repeated(self.given.get(key) or ()):
                self.faults.add(
                    f"{column!r} stands twice in {key!r}.", *self.path, key, at, hint="Remove one."
                )

    def check_sensitive(self, table: Table) -> None:
        """How values are spelled matters for sensitive columns only."""
        hint = "A quasi-identifier is released, and looked up, as it is written."
        for key in ("merge-spelling", "as-written"):
            for column in self.given.get(key, ()):
                if column not in table.sensitive:
                    self.faults.add(
                        f"{key} is about sensitive columns, and {column!r} is none.",
                        *self.path,
                        key,
                        hint=hint,
                        key=True,
                    )

    def check_names(self, table: Table) -> None:
        """Every column that is named is one of the declared ones, where columns are declared."""
        typed_only = isinstance(self.keys.columns, dict) and table.rows is None
        if not table.columns or typed_only:
            return  # the data has the columns, and the engine looks there
        # {variational: [p_flu, p_cold]} gives one name to several columns.
        known = {*table.columns, *(name for name, way in table.distances.items() if _several(way))}
        for path, column in self.named(table):
            if column not in known:
                hint = did_you_mean(column, table.columns)
                is_key = path[-1] == column
                self.faults.add(
                    f"table {table.name!r} has no column {column!r}.", *path, hint=hint, key=is_key
                )

    def named(self, table: Table) -> Iterator[tuple[KeyPath, str]]:
        """Every place of the table's entry that names a column."""
        for key in ("person", *ROLES, "nullable", "merge-spelling", "as-written"):
            for at, column in enumerate(self.given.get(key) or ()):
                yield (*self.path, key, at), column
        for at, columns in enumerate(table.keys):
            for position, column in enumerate(columns):
                nested = isinstance(self.keys.key, list) and isinstance(self.keys.key[0], list)
                yield (*self.path, "key", *((at, position) if nested else (position,))), column
        for key in ("hierarchies", "domains", "distances", "unknown"):
            for column in self.given.get(key, {}):
                if (key, column) != ("unknown", "*"):
                    yield (*self.path, key, column), column
        for written, one in zip(
            self.given.get("foreign-keys", {}), table.foreign_keys, strict=True
        ):
            for column in one.columns:
                yield (*self.path, "foreign-keys", written), column
        for name, way in table.distances.items():
            for at, column in enumerate(_several(way)):
                yield (*self.path, "distances", name, "variational", at), column


def check_rows(table: Table, path: KeyPath, faults: Faults) -> None:
    """Rows need columns, as many as each row has cells, and no file beside them."""
    if table.rows is None:
        return
    if table.file is not None:
        hint = "Keep the rows or the file."
        faults.add(
            f"table {table.name!r} has both rows and a file.",
            *path,
            "rows",
            hint=hint,
            key=True,
        )
    if not table.columns:
        hint = "Add columns: [name of the first column, ...]"
        faults.add(
            f"the rows of {table.name!r} have no columns.",
            *path,
            "rows",
            hint=hint,
            key=True,
        )
        return
    wide = len(table.columns)
    wrong = [at for at, row in enumerate(table.rows) if len(row) != wide]
    if wrong:
        at, others = wrong[0], len(wrong) - 1
        more = f", and so have {others} more rows" if others else ""
        faults.add(
            f"this row has {len(table.rows[at])} cells for {wide} columns "
            f"({', '.join(table.columns)}){more}.",
            *path,
            "rows",
            at,
            hint="Write one value per column; null where it is missing.",
        )


def column_type(kind: object) -> str:
    """A type as it stands under `columns`.

    >>> column_type("decimal(8, 2)")
    'decimal(8, 2)'
    >>> column_type("decimal(2, 8)")
    Traceback (most recent call last):
    tacit.plan.read.values.UnfitError: found 'decimal(2, 8)'
    """
    if not isinstance(kind, str) or not kind.startswith("decimal("):
        return values.choice(kind, TYPES)
    found = DECIMAL.fullmatch(kind)
    if found and int(found[2] or 0) <= int(found[1]) <= MOST_DIGITS and int(found[1]):
        return kind
    raise UnfitError(kind, DIGITS)


def _several(way: Any) -> tuple[str, ...]:
    """The columns that a distance of several columns is over."""
    return way["variational"] if isinstance(way, dict) and "variational" in way else ()


def _function(value: object) -> str:
    instead = "module:function, e.g. clinic.distances:severity"
    written = values.text(value, instead)
    if not re.fullmatch(r"[\w.]+:[\w.]+", written):
        raise UnfitError(value, instead)
    return written
