"""Scope: what the names in a piece of SQL stand for, and where it stands in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from tacit.errors import QueryError, did_you_mean
from tacit.families.queries.sql.aliases import GROUPS, PLAIN_INSIDE, DialectClause
from tacit.families.queries.sql.bodies import Slot
from tacit.families.queries.sql.result_rows import ResultRows
from tacit.families.queries.understanding import QueryText

LONG_LIST = 20
DEFAULT_SCHEMAS = ("", "main", "public", "default")
# Columns that tables have without being asked:
# they win over names of the query around, and over aliases.
PSEUDO_COLUMNS = frozenset(
    {
        "rowid",
        "filename",
        "file_row_number",
        "file_index",
        "ctid",
        "xmin",
        "xmax",
        "cmin",
        "cmax",
        "tableoid",
        "oid",
        "_metadata",
    }
)


@dataclass(frozen=True, slots=True)
class Name:
    """A column that can be named, and the slot that it stands for."""

    name: str
    slot: Slot
    kind: str | None = None
    named: bool = True


@dataclass(frozen=True, slots=True)
class FromSource:
    """A table, view or subquery of FROM under its alias.

    `schema`: of a stored table as the text writes it, "" where it writes none;
    None of anything else, and behind an alias.
    """

    alias: str
    names: tuple[Name, ...]
    stored: bool = False
    schema: str | None = None

    @property
    def called(self) -> str:
        """The name by which columns name it, without the case of letters."""
        return (self.alias if self.schema is None else self.alias.rsplit(".", 1)[-1]).lower()

    def is_in(self, schema: str) -> bool:
        """Is it a table of this schema, as far as the text says?"""
        return self.schema is not None and (
            self.schema.lower() == schema.lower()
            or (self.schema == "" and schema.lower() in DEFAULT_SCHEMAS)
        )


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """Joined sources: their rows, whose head is `slots`, and the
    columns that * and bare names find.
    """

    rows: ResultRows
    slots: tuple[Slot, ...]
    sources: tuple[FromSource, ...]
    visible: tuple[Name, ...]


@dataclass(slots=True)
class SqlScope:
    """The names that a piece of a query can use;
    what is not here is looked up in the query around it.

    `aliases` are the names that SELECT gives, each with all that it gives it to, `later` those that
    it gives behind this place. `clause` says which comes first; `keys` are the columns of GROUP BY.
    """

    text: QueryText
    sources: tuple[FromSource, ...] = ()
    visible: tuple[Name, ...] = ()
    outer: SqlScope | None = None
    aliases: Mapping[str, tuple[exp.Expr, ...]] = field(default_factory=dict)
    later: frozenset[str] = frozenset()
    clause: DialectClause | None = None
    keys: frozenset[Slot] = frozenset()

    def find(self, column: exp.Column) -> Name:
        """The column that a name stands for."""
        found = self._find(column, False)
        if found is None:
            raise self.unknown(column)
        return found

    def _find(self, column: exp.Column, from_inside: bool) -> Name | None:
        found = self.here(column)
        if not column.table:
            self._check_unnamed(column, found)
            self._check_given(column, found, from_inside)
        return found or (self.outer._find(column, True) if self.outer else None)

    def _check_unnamed(self, column: exp.Column, found: Name | None) -> None:
        if found is None and any(not one.named for one in self.visible):
            raise self.ambiguous(
                column,
                "could be one that is computed here and has no name",
                "Name what is computed: AS ...",
            )

    def _check_given(self, column: exp.Column, found: Name | None, from_inside: bool) -> None:
        """Refuse a name that SELECT gives, where engines differ in whether a subquery or an item
        before it can mean that.
        """
        name = column.name.lower()
        if (
            self.clause is None
            or self.clause.dialect == "postgres"
            or (name not in self.aliases and name not in self.later)
        ):
            return
        sure = found is not None and (
            self.clause.place in PLAIN_INSIDE or self._is_named_so(column)
        )
        if not sure and (from_inside or (found is None and name in self.later)):
            raise self.ambiguous(
                column, "could be what SELECT calls so", "Choose another name behind AS."
            )

    def alias(self, column: exp.Column) -> exp.Expr | None:
        """What SELECT gives a bare name to, where the name means that in this clause;
        None where it means a column.
        """
        given = (
            self.aliases.get(column.name.lower(), ())
            if not column.table and self.clause is not None
            else ()
        )
        if not given or self.clause is None or not self.clause.knows_aliases:
            return None
        columns = self.columns(column)
        if columns and (self.clause.rule[:1] == ("column",) or self._is_named_so(column)):
            return None
        if columns and (
            not self.clause.rule
            or (
                self.clause.place in GROUPS
                and not self.keys.isdisjoint(one.slot for one in columns)
            )
        ):
            raise self.ambiguous(
                column,
                f"is a column and also what SELECT calls so, and {self.clause.place.upper()} may "
                "mean either",
                "Choose another name behind AS.",
            )
        if any(one != given[0] for one in given):
            raise self.ambiguous(column, "is what SELECT calls so twice", "Give each its own name.")
        if not columns:
            self._check_bare(column)
            if (
                self.clause.dialect == "spark"
                and self.outer is not None
                and self.clause.place != "having"
                and self.outer._find(column, True) is not None
            ):
                raise self.ambiguous(
                    column, "could be one of the query around", "Choose another name behind AS."
                )
        return given[0]

    def _is_named_so(self, column: exp.Column) -> bool:
        """Does SELECT give the name to the very column that has it?"""
        columns = self.columns(column)
        return len(columns) == 1 and all(
            isinstance(one, exp.Column)
            and not isinstance(one.this, exp.Star)
            and self.columns(one) == columns
            for one in self.aliases.get(column.name.lower(), ())
        )

    def columns(self, column: exp.Column) -> list[Name]:
        """All columns of this query itself that a name could stand for."""
        names = self._qualified(column) if column.table else self.visible
        return same_name(column.name, names) if names is not None else []

    def here(self, column: exp.Column) -> Name | None:
        """The column of this query itself that a name stands for, if there is one."""
        matching = self.columns(column)
        if len(matching) > 1:
            owners = [
                source.alias
                for source in self.sources
                if any(one in source.names for one in matching)
            ]
            raise QueryError(
                f"column {column.name!r} is ambiguous: {' and '.join(dict.fromkeys(owners))} "
                "have one.",
                code="ambiguous-column",
                hint=f"Write {owners[0]}.{column.name}.",
                mark=self.text.mark(start_of(column)),
            )
        self._check_bare(column)
        if matching:
            return matching[0]
        if column.table and self._qualified(column) is not None:
            raise self.unknown(column)
        return None

    def _check_bare(self, column: exp.Column) -> None:
        """Refuse a name that the database may take for something that no text declares:
        its own columns, a row, a part of a value.
        """
        name = column.name.lower()
        if column.table:
            self._check_parts(column)
            return
        found = bool(self.columns(column))
        if name in PSEUDO_COLUMNS and any(
            one.stored and not same_name(name, one.names) for one in self.sources
        ):
            raise self.ambiguous(
                column,
                "may be a column that the database adds by itself",
                "Write alias.column, or choose another name.",
            )
        if not found and any(name == one.called for one in self.sources):
            raise self.ambiguous(
                column, "is a table here, and would be its whole row", "Name a column."
            )

    def _check_parts(self, column: exp.Column) -> None:
        first = column.text("db") or column.table
        fields = same_name(first, self.visible) if self._qualified(column) is None else []
        if any(one.kind is None for one in fields) or (
            column.text("db") and any(first.lower() == one.called for one in self.sources)
        ):
            raise self.ambiguous(
                column, f"could be a part of column {first!r}", "Give the table another alias."
            )

    def _qualified(self, column: exp.Column) -> tuple[Name, ...] | None:
        """The columns of the table that a name says it is of;
        a schema is said of stored tables without an alias only.
        """
        found = [one for one in self.sources if one.called == column.table.lower()]
        if schema := column.text("db"):
            found = [one for one in found if one.is_in(schema)]
        if len(found) > 1:
            raise QueryError(
                f"{column.table!r} names two tables of this query.",
                code="ambiguous-table",
                hint="Give each of them an alias of its own.",
                mark=self.text.mark(start_of(column)),
            )
        return found[0].names if found else None

    def ambiguous(self, column: exp.Expr, why: str, hint: str) -> QueryError:
        """The error for a name that could be read in two ways."""
        return QueryError(
            f"column {column.name!r} {why}.",
            code="ambiguous-column",
            hint=hint,
            mark=self.text.mark(start_of(column)),
        )

    def unknown(self, column: exp.Column) -> QueryError:
        """What to say about a column that is nowhere."""
        sources, scope = list(self.sources), self.outer
        while scope:
            sources += scope.sources
            scope = scope.outer
        mark = self.text.mark(start_of(column))
        if column.table and column.table.lower() not in (one.called for one in sources):
            known = [one.alias for one in sources]
            return QueryError(
                f"there is no table {column.table!r} in this query.",
                code="unknown-table",
                hint=did_you_mean(column.table, known),
                mark=mark,
            )
        near = [one for one in sources if not column.table or one.called == column.table.lower()]
        known = list(dict.fromkeys(name.name for one in near for name in one.names))
        of = f"table {column.table!r} has" if column.table else "there is"
        return QueryError(
            f"{of} no column {column.name!r}.",
            code="unknown-column",
            hint=did_you_mean(column.name, known),
            mark=mark,
        )


def same_name(wanted: str, names: tuple[Name, ...]) -> list[Name]:
    """The columns of a name, whatever the case of its letters (`check_case` has seen to it that
    case tells nothing apart).
    """
    return [one for one in names if one.named and one.name.lower() == wanted.lower()]


def start_of(node: exp.Expr) -> int | None:
    """Where a piece of SQL begins in the text, as far as its words tell."""
    places = [one.meta["start"] for one in node.walk() if "start" in one.meta]
    return min(places, default=None)


def shown(node: exp.Expr, dialect: str) -> str:
    """A piece of SQL as text, without warnings about what the dialect would not write;
    of a long list its first values.
    """
    long = [
        (one, one.expressions) for one in node.find_all(exp.In) if len(one.expressions) > LONG_LIST
    ]
    try:
        for (
            one,
            values,
        ) in long:  # and put back: a copy of twenty thousand values takes longer than to read them
            one.args["expressions"] = [*values[:3], exp.var(f"... {len(values)} values")]
        return node.sql(dialect=dialect, unsupported_level=ErrorLevel.IGNORE, comments=False)
    except (SqlglotError, NotImplementedError, LookupError, ValueError, AttributeError, TypeError):
        # Only words for a message: sqlglot cannot write every tree that it
        # can read, and fails in many ways.
        return node.key.upper()
    finally:
        for one, values in long:
            one.args["expressions"] = values
