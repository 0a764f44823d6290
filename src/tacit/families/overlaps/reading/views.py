"""Views of one table, read from SQL: whom each selects, and what it shows of them.

The database itself evaluates conditions and expressions, row by row; here is only settled that this
is what they are, and which columns they speak of. Whatever looks at other rows, or changes by
itself, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from tacit.engines.sql import shapes, shapes_stored
from tacit.engines.sql.shapes_conditions import with_value
from tacit.errors import EngineError, QueryError, TacitError, did_you_mean
from tacit.families.overlaps.reading.view_tables import KeyedTable as KeyedTable
from tacit.families.queries.datalog.datalog_reader import is_datalog
from tacit.families.queries.reading.readings import syntax
from tacit.families.queries.sql.approximations import HINTS
from tacit.families.queries.sql.functions import refusal
from tacit.families.queries.sql.joins import table_name
from tacit.families.queries.sql.name_scope import DEFAULT_SCHEMAS, shown, start_of
from tacit.families.queries.sql.parse import check_parse, explained_by, parsed
from tacit.families.queries.sql.sql_reader import known_name
from tacit.families.queries.understanding import QueryText
from tacit.model.release import View
from tacit.plan.plan import Plan

# Clauses of a SELECT that look at other rows: what they do, and what to write instead.
ONE_TABLE = (
    "Write SELECT ... FROM one table WHERE ...; put what comes from elsewhere into a column "
    "of that table."
)
COUNT = (
    "SELECT 1 FROM {table} WHERE ... publishes how many there are; perfect-privacy judges any SQL."
)
CLAUSES: Mapping[str, tuple[str, str, str]] = {
    "joins": ("not-read", "joins tables", ONE_TABLE),
    "laterals": ("not-read", "joins tables", ONE_TABLE),
    "with_": ("not-read", "has a WITH query", ONE_TABLE),
    "group": ("aggregate", "groups rows", COUNT),
    "having": ("aggregate", "groups rows", COUNT),
    "distinct": (
        "not-read",
        "is DISTINCT, and views are published with their repeated rows here",
        "Leave DISTINCT out, or ask g-safety, which judges sets.",
    ),
    "limit": (
        "limit",
        "has a LIMIT, which chooses rows by looking at others",
        "Say in WHERE who is shown.",
    ),
    "offset": (
        "limit",
        "has an OFFSET, which chooses rows by looking at others",
        "Say in WHERE who is shown.",
    ),
    "qualify": (
        "qualify",
        "has a QUALIFY, which chooses rows by looking at others",
        "Say in WHERE who is shown.",
    ),
    "windows": ("window", "has a window, which looks at other rows", "Leave it out."),
    "sample": ("volatile-function", "draws a sample", "Say in WHERE who is shown."),
    "pivots": ("pivot", "turns rows into columns", ONE_TABLE),
}
READ = ("expressions", "from_", "where", "order")
DATES = (
    "In a file dates are text; where the column holds dates, say so in the plan: columns: "
    "{COLUMN: date}."
)


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a view: an expression over public columns with its type where that is known,
    or the private column (None).
    """

    name: str
    expression: exp.Expr | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class OverlapView:
    """A view: SELECT columns FROM the table AS t WHERE condition. No condition selects everybody.

    `tests` says whether the condition looks at the private column. `labels` are relations to join
    with, as `shapes_stored.stored_rows` takes them. `file` has the answer, where that came from
    elsewhere.
    """

    name: str
    columns: tuple[ShownColumn, ...]
    condition: exp.Expr = field(default_factory=exp.true)
    tests: bool = False
    labels: Mapping[str, tuple[exp.Select, exp.Expr]] = field(default_factory=dict)
    file: str | None = None

    @property
    def private(self) -> int | None:
        """The place of the private column among the columns, if it is shown."""
        return next((at for at, one in enumerate(self.columns) if one.expression is None), None)

    @property
    def shown(self) -> list[ShownColumn]:
        """The other columns."""
        return [one for one in self.columns if one.expression is not None]

    def selects(self, people: KeyedTable, value: Any) -> exp.Expr:
        """The condition for people who have a value."""
        return (
            with_value(self.condition, people.sensitive, people.constant(value))
            if self.tests
            else self.condition
        )


class ViewReader:
    """Reads the views of a plan, in the SQL of its source."""

    def __init__(self, plan: Plan, dialect: str) -> None:
        self.plan = plan
        self.dialect = dialect
        self._parsed: dict[str, tuple[exp.Select, QueryText]] = {}

    def table(self, release: View) -> str:
        """The table of the plan that a view is about."""
        with self._placed(release):
            tree, text = self._tree(release)
            source = tree.args["from_"].this
            name = table_name(source)
            # A table of the plan is in the schema that the database looks into by itself.
            for wanted in (name, source.name) if source.db.lower() in DEFAULT_SCHEMAS else (name,):
                if (found := known_name(wanted, self.plan.tables)) is not None:
                    return found
            if name in self.plan.releases:
                raise refused(
                    text,
                    source,
                    "not-read",
                    f"{release.name!r} is a view of the release {name!r}",
                    ONE_TABLE,
                )
            raise QueryError(
                f"there is no table {name!r}.",
                code="unknown-table",
                hint=did_you_mean(name, self.plan.tables),
                mark=text.mark(start_of(source)),
            )

    def read(self, release: View, people: KeyedTable) -> OverlapView:
        """A view of a table, checked by the table's engine."""
        with self._placed(release):
            tree, text = self._tree(release)
            reading = ViewReading(tree, text, people, release.name)
            view = OverlapView(
                release.name, reading.shown(), *reading.condition(), file=release.answer
            )
            reading.check_order(view.columns)
            explained(view, people, text)
            reading.check_functions()
            check_parse(text, tree, self.dialect)
            return view

    def _tree(self, release: View) -> tuple[exp.Select, QueryText]:
        if release.name not in self._parsed:
            text = QueryText(release.query, release.query_file or release.name)
            if is_datalog(release.query):
                raise QueryError(
                    f"{release.name!r} is Datalog, which speaks of sets; views are published with "
                    "their repeated rows here.",
                    code="not-read",
                    hint="Write SQL: SELECT ... FROM table WHERE ...",
                    mark=text.mark(0),
                )
            explain = syntax(self.dialect)
            tree = parsed(text, self.dialect, explain)
            if explain is not None:
                explained_by(explain, text)
            self._parsed[release.name] = plain_select(tree, text, release.name), text
        return self._parsed[release.name]

    @contextmanager
    def _placed(self, release: View) -> Iterator[None]:
        """Errors in a query of the plan itself point at the plan, others into the query's file."""
        try:
            yield
        except TacitError as error:
            if release.query_file is None:
                error.mark = self.plan.mark("releases", release.name, "query")
            raise


def plain_select(tree: exp.Expr, text: QueryText, name: str) -> exp.Select:
    """A SELECT of one table that looks at each row by itself, or an error."""
    while isinstance(tree, exp.Subquery) and not any(
        value for key, value in tree.args.items() if key != "this"
    ):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        what = "combines queries" if isinstance(tree, exp.SetOperation) else "is not a plain SELECT"
        raise refused(
            text,
            tree,
            "not-read",
            f"{name!r} {what}",
            "Write one SELECT for each view, with OR in WHERE for a union.",
        )
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    called = table.name if isinstance(table, exp.Table) else "table"
    for key, value in tree.args.items():
        if value and key not in READ:
            code, does, hint = CLAUSES.get(
                key,
                ("not-read", f"has {key.strip('_').upper()}, which is not read here", ONE_TABLE),
            )
            raise refused(
                text,
                value[0] if isinstance(value, list) else value,
                code,
                f"{name!r} {does}",
                hint.format(table=called),
            )
    if table is None:
        raise refused(text, tree, "not-read", f"{name!r} is not about a table", ONE_TABLE)
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not plain or table.args.get("joins"):
        raise refused(
            text, table, "not-read", f"{name!r} is not a view of a table alone", ONE_TABLE
        )
    extra = [
        key
        for key, value in table.args.items()
        if value and key not in ("this", "db", "catalog", "alias")
    ]
    if extra or (table.args.get("alias") and table.args["alias"].args.get("columns")):
        code, does, hint = CLAUSES.get(
            extra[0] if extra else "",
            ("not-read", "does more in FROM than name a table", ONE_TABLE),
        )
        raise refused(text, table, code, f"{name!r} {does}", hint)
    return tree


def refused(text: QueryText, node: object, code: str, why: str, hint: str | None) -> QueryError:
    """The error for something that a view cannot have here."""
    place = start_of(node) if isinstance(node, exp.Expr) else 0
    return QueryError(f"{why}.", code=code, hint=hint, mark=text.mark(place))


class ViewReading:
    """One SELECT: its names are those of a table's columns."""

    def __init__(self, tree: exp.Select, text: QueryText, people: KeyedTable, name: str) -> None:
        self.tree = tree
        self.text = text
        self.people = people
        self.name = name
        source: exp.Table = tree.args["from_"].this
        self.aliases = [source.alias] if source.alias else [source.name, table_name(source)]

    def shown(self) -> tuple[ShownColumn, ...]:
        """The columns of the view."""
        found = [one for item in self.tree.expressions for one in self._item(item)]
        if sum(one.expression is None for one in found) > 1:
            raise self._refused(
                self.tree,
                "not-read",
                f"{self.name!r} shows {self.people.sensitive} twice",
                "Show it once.",
            )
        return tuple(found)

    def condition(self) -> tuple[exp.Expr, bool]:
        """Whom the view selects, and whether that depends on the private column."""
        where = self.tree.args.get("where")
        if where is None:
            return shapes.literal(True), False
        condition = self._resolved(where.this)
        return condition, self._is_private(condition)

    def check_order(self, columns: Sequence[ShownColumn]) -> None:
        """Sorting by what is shown tells nothing;
        sorting by anything else would tell whose rows they are.
        """
        order = self.tree.args.get("order")
        for one in order.expressions if order is not None else ():
            place = one.this.is_int and 1 <= int(one.this.name) <= len(columns)
            if not place and not (
                isinstance(one.this, exp.Column) and self._is_shown(one.this, columns)
            ):
                does = (
                    f"is sorted by {shown(one.this, self.people.engine.dialect)}, which it "
                    "does not show: that would tell whose rows they are"
                )
                raise self._refused(
                    one,
                    "not-read",
                    f"{self.name!r} {does}",
                    "Leave ORDER BY out, or sort by columns that are shown.",
                )

    def _is_shown(self, column: exp.Column, columns: Sequence[ShownColumn]) -> bool:
        """Does ORDER BY name a column of the view? A bare name means one, a name with its table
        a column of that.
        """
        if not column.table:
            return column.name.lower() in (one.name.lower() for one in columns)
        name = self._find(column)
        return any(
            (one.expression is None and name == self.people.sensitive)
            or one.expression == shapes.column(name, "t")
            for one in columns
        )

    def check_functions(self) -> None:
        """Every function is one that depends on its arguments alone."""
        where = self.tree.args.get("where")
        for part in [*self.tree.expressions, *([where.this] if where is not None else [])]:
            self._check(part)

    def _check(self, node: exp.Expr) -> None:
        if isinstance(node, exp.Column | exp.Star | exp.DataType | exp.Var | exp.Identifier):
            return
        reason = refusal(node, self.people.engine.dialect)
        if reason is not None:
            raise self._refused(node, reason[0], reason[1], HINTS.get(reason[0]))
        for child in node.iter_expressions():
            self._check(child)

    def _item(self, item: exp.Expr) -> Iterator[ShownColumn]:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            if any(star.args.values()):
                raise self._refused(
                    star,
                    "not-read",
                    f"{self.name!r} changes the columns of *",
                    "Write the columns out.",
                )
            if isinstance(item, exp.Column):
                self._check_alias(item)
            yield from (self._column(name, name) for name in self.people.columns)
            return
        inner = self._resolved(item.unalias())
        bare = inner.unnest()
        if isinstance(bare, exp.Column):
            # As it was written, so that a header of another case fits too.
            yield self._column(bare.name, item.alias or bare.name)
            return
        if self._is_private(inner):
            raise self._refused(
                item,
                "not-read",
                f"{self.name!r} computes with {self.people.sensitive}, which is private",
                f"Show {self.people.sensitive} itself, or test it in WHERE.",
            )
        yield ShownColumn(item.alias or shown(item, self.people.engine.dialect), inner)

    def _column(self, name: str, called: str) -> ShownColumn:
        if name == self.people.sensitive:
            return ShownColumn(called)
        kind = self.people.engine.meaning(self.people.native[name]).kind
        return ShownColumn(called, shapes.column(name, "t"), kind)

    def _is_private(self, expression: exp.Expr) -> bool:
        return any(
            column.name == self.people.sensitive for column in expression.find_all(exp.Column)
        )

    def _resolved(self, expression: exp.Expr) -> exp.Expr:
        """An expression with every column by its full name; what looks at other rows is refused."""
        for node in expression.walk():
            if isinstance(node, exp.Query | exp.Subquery | exp.Exists):
                raise self._refused(
                    node,
                    "not-read",
                    f"{self.name!r} has a subquery, which looks at other rows",
                    ONE_TABLE,
                )
            if isinstance(node, exp.Window):
                raise self._refused(node, *window(self.name))
            if isinstance(node, exp.AggFunc):
                raise self._refused(
                    node,
                    "aggregate",
                    f"{self.name!r} shows {shown(node, self.people.engine.dialect)}, which is "
                    "computed from many rows",
                    COUNT.format(table=self.people.name),
                )

        def full(node: exp.Expr) -> exp.Expr:
            return shapes.column(self._find(node), "t") if isinstance(node, exp.Column) else node

        return expression.copy().transform(full)

    def _find(self, column: exp.Column) -> str:
        """The column of the table that a name stands for."""
        self._check_alias(column)
        quoted = bool(column.this.args.get("quoted"))
        # Without quotes PostgreSQL means small letters.
        wanted = (
            column.name.lower()
            if self.people.engine.dialect == "postgres" and not quoted
            else column.name
        )
        found = known_name(wanted, self.people.columns)
        if found is None:
            aliases = [item.alias.lower() for item in self.tree.expressions if item.alias]
            hint = did_you_mean(column.name, self.people.columns)
            if column.name.lower() in aliases:
                hint = "It is a name given in SELECT; write what it stands for."
            raise QueryError(
                f"{self.name!r}: table {self.people.name!r} has no column {column.name!r}.",
                code="unknown-column",
                hint=hint,
                mark=self.text.mark(start_of(column)),
            )
        return found

    def _check_alias(self, column: exp.Column) -> None:
        written = ".".join(part.name for part in column.parts[:-1][-2:])
        if written and written.lower() not in (one.lower() for one in self.aliases):
            raise QueryError(
                f"{self.name!r}: there is no table {written!r} in this query.",
                code="unknown-table",
                hint=did_you_mean(written, self.aliases),
                mark=self.text.mark(start_of(column)),
            )

    def _refused(self, node: object, code: str, why: str, hint: str | None) -> QueryError:
        return refused(self.text, node, code, why, hint)


def window(name: str) -> tuple[str, str, str]:
    """What is said of a view with a window."""
    code, does, hint = CLAUSES["windows"]
    return code, f"{name!r} {does}", hint


def explained(view: OverlapView, people: KeyedTable, text: QueryText) -> None:
    """Have the engine read what the view says, and pass on what it says against it."""
    outputs = {
        f"c{at}": one.expression or shapes.column(people.sensitive, "t")
        for at, one in enumerate(view.columns)
    }
    condition = view.condition
    if not people.is_known:
        nothing = people.constant(None)
        outputs = {
            name: with_value(one, people.sensitive, nothing) for name, one in outputs.items()
        }
        condition = with_value(condition, people.sensitive, nothing)
    query = shapes_stored.stored_rows(people.name, outputs, where=condition)
    try:
        people.engine.explain(query)
    except EngineError as error:
        hint = error.hint or (
            DATES if "explicit" in error.message else None
        )  # as DuckDB asks for casts
        raise QueryError(
            f"{view.name!r}: {error.message.rstrip('.')}.",
            code="engine",
            hint=hint,
            mark=text.mark(0),
        ) from None
