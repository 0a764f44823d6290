"""Scope: what the names in a piece of SQL stand for, and where it stands in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from tacit.errors import QueryError, did_you_mean
from tacit.queries.bodies import Slot
from tacit.queries.reading import Text
from tacit.queries.rows import Rows


@dataclass(frozen=True, slots=True)
class Name:
    """A column that can be named, and the slot that it stands for."""

    name: str
    slot: Slot
    kind: str | None = None
    named: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A table, view or subquery of FROM under its alias."""

    alias: str
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Joined sources: their rows, whose head is `slots`, and the columns that * and bare names find."""

    rows: Rows
    slots: tuple[Slot, ...]
    sources: tuple[Source, ...]
    visible: tuple[Name, ...]


@dataclass(slots=True)
class Scope:
    """The names that a piece of a query can use; what is not here is looked up in the query around it."""

    text: Text
    sources: tuple[Source, ...] = ()
    visible: tuple[Name, ...] = ()
    outer: Scope | None = None
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)

    def find(self, column: exp.Column) -> Name:
        """The column that a name stands for."""
        found = self._find(column)
        if found is None:
            raise self.unknown(column)
        return found

    def _find(self, column: exp.Column) -> Name | None:
        found = self.here(column)
        if found is None and not column.table and any(not one.named for one in self.visible):
            raise QueryError(
                f"column {column.name!r} could be one that is computed here and has no name.",
                code="ambiguous-column",
                hint="Name what is computed: AS ...",
                mark=self.text.mark(start_of(column)),
            )
        return found or (self.outer._find(column) if self.outer else None)

    def here(self, column: exp.Column) -> Name | None:
        """The column of this query itself that a name stands for, if there is one."""
        names = self._qualified(column) if column.table else self.visible
        matching = same_name(column.name, names) if names is not None else []
        if len(matching) > 1:
            owners = [
                source.alias
                for source in self.sources
                if any(one in source.names for one in matching)
            ]
            raise QueryError(
                f"column {column.name!r} is ambiguous: {' and '.join(dict.fromkeys(owners))} have one.",
                code="ambiguous-column",
                hint=f"Write {owners[0]}.{column.name}.",
                mark=self.text.mark(start_of(column)),
            )
        if matching:
            return matching[0]
        if names is not None and column.table:
            raise self.unknown(column)
        return None

    def _qualified(self, column: exp.Column) -> tuple[Name, ...] | None:
        wanted = [column.table.lower()]
        if column.args.get("db"):
            wanted = [f"{column.args['db'].name}.{column.table}".lower()]
        found = [one for one in self.sources if one.alias.lower() in wanted]
        if not found and column.args.get("db"):
            found = [one for one in self.sources if one.alias.lower() == column.table.lower()]
        if not found and not column.args.get("db"):
            found = [
                one
                for one in self.sources
                if one.alias.lower().rsplit(".", 1)[-1] == column.table.lower()
            ]
        if len(found) > 1:
            raise QueryError(
                f"{column.table!r} names two tables of this query.",
                code="ambiguous-table",
                hint="Give each of them an alias of its own.",
                mark=self.text.mark(start_of(column)),
            )
        return found[0].names if found else None

    def unknown(self, column: exp.Column) -> QueryError:
        """What to say about a column that is nowhere."""
        sources, scope = list(self.sources), self.outer
        while scope:
            sources += scope.sources
            scope = scope.outer
        mark = self.text.mark(start_of(column))
        if column.table and column.table.lower() not in (one.alias.lower() for one in sources):
            known = [one.alias for one in sources]
            return QueryError(
                f"there is no table {column.table!r} in this query.",
                code="unknown-table",
                hint=did_you_mean(column.table, known),
                mark=mark,
            )
        near = [
            one for one in sources if not column.table or one.alias.lower() == column.table.lower()
        ]
        known = list(dict.fromkeys(name.name for one in near for name in one.names))
        of = f"table {column.table!r} has" if column.table else "there is"
        return QueryError(
            f"{of} no column {column.name!r}.",
            code="unknown-column",
            hint=did_you_mean(column.name, known),
            mark=mark,
        )


def same_name(wanted: str, names: tuple[Name, ...]) -> list[Name]:
    """The columns of a name, whatever the case of its letters (`check_case` has seen to it that case tells nothing apart)."""
    return [one for one in names if one.named and one.name.lower() == wanted.lower()]


def start_of(node: exp.Expr) -> int | None:
    """Where a piece of SQL begins in the text, as far as its words tell."""
    places = [one.meta["start"] for one in node.walk() if "start" in one.meta]
    return min(places, default=None)


def shown(node: exp.Expr, dialect: str) -> str:
    """A piece of SQL as text, without warnings about what the dialect would not write."""
    try:
        return node.sql(dialect=dialect, unsupported_level=ErrorLevel.IGNORE, comments=False)
    except (SqlglotError, NotImplementedError, LookupError, ValueError, AttributeError, TypeError):
        # Only words for a message: sqlglot cannot write every tree that it can read, and fails in many ways.
        return node.key.upper()
