"""SQL: a SELECT read as conjunctive queries, exactly where it is one, else by its supports.

Every node of sqlglot's tree and every part of a node is either known here or refused: nothing is
passed over in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tacit.errors import QueryError, did_you_mean
from tacit.families.queries.kinds import family
from tacit.families.queries.query import NULL, Query, Relations
from tacit.families.queries.sql import truth
from tacit.families.queries.sql.account import Account
from tacit.families.queries.sql.approximations import APPROXIMATED, HINTS
from tacit.families.queries.sql.bodies import OPAQUE, Entry, Opaque, QueryBody, Slot
from tacit.families.queries.sql.expressions import Expressions, Notes, Value, is_limited, only
from tacit.families.queries.sql.joins import table_name
from tacit.families.queries.sql.name_scope import DEFAULT_SCHEMAS, SqlScope, shown, start_of
from tacit.families.queries.sql.names import check_names
from tacit.families.queries.sql.order import hidden_order, outermost
from tacit.families.queries.sql.parse import Explain, check_parse, explained_by, parsed
from tacit.families.queries.sql.public_order import beyond_rows
from tacit.families.queries.sql.result_rows import Algebra, ResultColumn, ResultRows, TooManyBodies
from tacit.families.queries.sql.supports import conjunctive, supports
from tacit.families.queries.sql.truth import Dependence, Formula
from tacit.families.queries.understanding import Approximation, QueryText, QueryUnderstanding

VALUES_NAMES = {
    "duckdb": ("col", 0),
    "postgres": ("column", 1),
    "spark": ("col", 1),
}  # what the columns of VALUES are called


def read_sql(
    text: str,
    relations: Relations,
    *,
    name: str,
    dialect: str = "duckdb",
    views: Mapping[str, str] | None = None,
    file: str | None = None,
    explain: Explain | None = None,
) -> QueryUnderstanding:
    """Read a SELECT; see `tacit.families.queries.read.read`."""
    source = QueryText(text, file or name)
    tree = parsed(source, dialect, explain)
    reading = read_tree(tree, source, relations, name=name, dialect=dialect, views=views)
    if explain is not None:
        explained_by(explain, source)
    check_parse(source, tree, dialect)
    return reading


def read_tree(
    tree: exp.Expr,
    source: QueryText,
    relations: Relations,
    *,
    name: str,
    dialect: str,
    views: Mapping[str, str] | None = None,
    account: Account | None = None,
) -> QueryUnderstanding:
    """Read a query that is parsed already; errors speak of places in `source`.
    `account` is told what became of each node.
    """
    check_names(tree, relations, dialect, source)
    reader = SqlReader(relations, dialect, source, views or {})
    reader.account = account or reader.account
    reader.answer = tuple(outermost(tree))
    try:
        rows = reader.query(tree, SqlScope(source), True, False)
        reader.check_account(tree)
    except (TooManyBodies, RecursionError):
        raise QueryError(
            "this query is nested too deeply, or falls apart into too many conjunctive queries.",
            code="too-large",
            hint="Split it into several views.",
            mark=source.mark(0),
        ) from None
    by = hidden_order(tree)
    return replace(
        _reading(reader, rows, tree, source, name),
        sorted_by=None if by is None else " ".join(shown(by, dialect).split()),
        order_shown=beyond_rows(tree, dialect) is None,
    )


def _reading(
    reader: SqlReader, rows: ResultRows, tree: exp.Expr, source: QueryText, name: str
) -> QueryUnderstanding:
    columns = tuple(column.name for column in rows.columns)
    exact: Query | None = None
    as_set = _is_set(tree)
    if rows.sets and (rows.bags or rows.distinct):
        bag = rows.bags and not (as_set and rows.distinct)
        parts = tuple(conjunctive(body) for body in rows.bodies)
        exact = Query(name, parts if bag else tuple(dict.fromkeys(parts)), bag)
        return QueryUnderstanding(
            name, source.text, "sql", columns, (exact,), exact, converts=reader.notes.converts
        )
    notes = list(dict.fromkeys(reader.notes.found))
    if rows.sets or not notes:
        counts = list(dict.fromkeys(reader.notes.counts))
        notes = notes + (counts or [_whole(tree, source, reader.dialect)])
    return QueryUnderstanding(
        name,
        source.text,
        "sql",
        columns,
        supports(name, rows.bodies),
        None,
        tuple(notes),
        reader.notes.converts,
    )


def _whole(tree: exp.Expr, source: QueryText, dialect: str) -> Approximation:
    line, column = source.place(start_of(tree) or 0)
    return Approximation("counts", shown(tree, dialect), APPROXIMATED["counts"], line, column)


def _is_set(tree: exp.Expr) -> bool:
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    return bool(tree.args.get("distinct") or tree.args.get("group"))


@dataclass(slots=True)
class Cte:
    """A WITH query: read when it is asked for, once for sets and once for bags."""

    node: exp.CTE
    known: Mapping[str, Cte]
    recursive: bool
    read: dict[bool, ResultRows] = field(default_factory=dict)
    reading: bool = False
    outer: SqlScope | None = None


class SqlReader:
    """Reads queries over some relations; `notes` is what could not be read exactly."""

    def __init__(
        self,
        relations: Relations,
        dialect: str,
        text: QueryText,
        views: Mapping[str, str],
        above: Sequence[str] = (),
    ) -> None:
        self.relations = relations
        self.algebra = Algebra(relations)
        self.dialect = dialect
        self.text = text
        self.views = views
        self.above = tuple(above)
        self.notes = Notes()
        self.account = Account()
        self.answer: tuple[
            exp.Expr, ...
        ] = ()  # the query whose order the reader of the answer sees
        self.ctes: Mapping[str, Cte] = {}

    # -- small things that the parts share

    def allow(self, node: exp.Expr, *allowed: str) -> None:
        """Refuse a node that has other parts than these."""
        if not only(node, *allowed):
            part = next(name for name, value in node.args.items() if value and name not in allowed)
            raise self.refuse("not-read", node, f"{part.strip('_').upper()} is not read here")

    def refuse(self, code: str, node: exp.Expr, why: str) -> QueryError:
        """The error for something that is not read at all."""
        return QueryError(
            f"{why}.", code=code, hint=HINTS.get(code), mark=self.text.mark(start_of(node))
        )

    def expressions(self, scope: SqlScope) -> Expressions:
        """A reader of values and conditions."""
        return Expressions(
            scope, self.dialect, self.notes, self.algebra.fresh, self.query, self.account
        )

    def check_account(self, tree: exp.Expr) -> None:
        """Refuse a statement of which something was not read."""
        lost = self.account.unaccounted(tree)
        if lost is not None:
            raise self.refuse("not-read", lost, f"{shown(lost, self.dialect)} is not read here")

    def is_answer_order(self, order: exp.Expr) -> bool:
        """Is this the order of the answer itself, by which neither
        LIMIT nor DISTINCT ON chooses rows?
        """
        return any(order.parent is one for one in self.answer) and not any(
            is_limited(one) or chooses_first(one) for one in self.answer
        )

    def depending(
        self, rows: ResultRows, slots: Sequence[Slot], on: Sequence[Dependence]
    ) -> ResultRows:
        """The same rows, whose computed columns also look into subqueries."""
        for one in on:
            self.account.used(one.rows)
        return self.algebra.depending(rows, slots, on)

    def filtered(
        self,
        rows: ResultRows,
        slots: Sequence[Slot],
        formula: Formula,
        node: exp.Expr,
        *,
        disjoint: bool,
    ) -> ResultRows:
        """The rows for which a condition is true, or more of them where it has too many cases."""
        for one in truth.dependences(formula):
            self.account.used(one.rows)
        if isinstance(node, exp.Where | exp.Having | exp.Join) and any(
            isinstance(entry, Opaque) for body in rows.bodies for entry in body.head
        ):
            self.account.whole(
                "computed", node.args.get("on") if isinstance(node, exp.Join) else node.this
            )  # of what is computed no condition is kept
        try:
            return self.algebra.filtered(rows, slots, formula, disjoint=disjoint)
        except truth.TooManyCases:
            pass
        try:
            return self.algebra.filtered(rows, slots, formula)
        except truth.TooManyCases:
            self.expressions(SqlScope(self.text)).note("too-many-cases", node)
            self.account.whole("computed", *node.iter_expressions())
            return self.algebra.filtered(rows, slots, truth.Unread(truth.dependences(formula)))

    # -- queries

    def query(self, node: exp.Expr, outer: SqlScope, bag: bool, only_exists: bool) -> ResultRows:
        """The rows of any query. `bag`: how often they occur matters;
        `only_exists`: only whether there are any.
        """
        before = self.ctes
        self.account.took("support", node)
        try:
            self._with(node, outer)
            if isinstance(node, exp.Subquery):
                return self._parenthesised(node, outer, bag, only_exists)
            if isinstance(node, exp.SetOperation):
                return self._operation(node, outer, bag)
            if isinstance(node, exp.Values):
                return self._values(node, outer)
            if isinstance(node, exp.Select):
                from tacit.families.queries.sql.select import SelectReader

                return SelectReader(self, node, outer, bag, only_exists).read()
            raise self.refuse(
                "not-a-query", node, f"{node.key.upper()} is not a query that Tacit reads"
            )
        finally:
            self.ctes = before

    def _parenthesised(
        self, node: exp.Subquery, outer: SqlScope, bag: bool, only_exists: bool
    ) -> ResultRows:
        self.allow(node, "this", "alias", "with_", "order", "limit", "offset")
        self.account.whole("name", node.args.get("alias"))
        if isinstance(node.this, exp.Table):
            self.account.whole("support", node.this)
            return self.query(exp.select("*").from_(node.this.copy()), outer, bag, only_exists)
        rows = self.query(node.this, outer, bag, only_exists and not is_limited(node))
        return self.limited(rows, node, SqlScope(self.text, outer=outer), ())

    def _with(self, node: exp.Expr, outer: SqlScope) -> None:
        clause = node.args.get("with_")
        if clause is None:
            return
        self.allow(clause, "expressions", "recursive")
        self.account.took("support", clause)
        self._check_with(clause)
        for one in clause.expressions:
            self.allow(one, "this", "alias", "materialized")
            self.account.took("support", one)
            self.account.whole("name", one.args["alias"])
            cte = Cte(one, self.ctes, bool(clause.args.get("recursive")), outer=outer)
            self.ctes = {**self.ctes, one.alias.lower(): cte}
            kept = len(self.notes.found), len(self.notes.counts)
            self._cte(cte, False)  # also one that nobody asks for must be right
            del self.notes.found[kept[0] :], self.notes.counts[kept[1] :]
            cte.read.clear()

    def _check_with(self, clause: exp.With) -> None:
        """Each name once, and under RECURSIVE no query that names a later one:
        engines differ in whether it can.
        """
        names = [one.alias.lower() for one in clause.expressions]
        for at, one in enumerate(clause.expressions):
            if names[at] in names[:at]:
                raise self.refuse("ambiguous-table", one, f"WITH gives the name {one.alias} twice")
            later = names[at + 1 :] if clause.args.get("recursive") else []
            for table in one.this.find_all(exp.Table):
                if not table.db and table.name.lower() in later:
                    raise self.refuse(
                        "ambiguous-table",
                        table,
                        f"{table.name} may be a table, or the query of that name further below",
                    )

    def _cte(self, cte: Cte, bag: bool) -> ResultRows:
        if cte.reading:
            raise self.refuse("recursion", cte.node, f"{cte.node.alias} is defined by itself")
        if bag not in cte.read:
            before, self.ctes = (
                self.ctes,
                {**cte.known, **({cte.node.alias.lower(): cte} if cte.recursive else {})},
            )
            cte.reading = cte.recursive
            try:
                rows = self.query(cte.node.this, cte.outer or SqlScope(self.text), bag, False)
            finally:
                self.ctes, cte.reading = before, False
            cte.read[bag] = self._renamed(rows, cte.node)
        return cte.read[bag]

    def _renamed(self, rows: ResultRows, node: exp.CTE) -> ResultRows:
        alias = node.args["alias"]
        given = [one.name for one in alias.args.get("columns") or []]
        if len(given) > len(rows.columns):
            raise self.refuse(
                "arity",
                node,
                f"{alias.name} has {len(rows.columns)} columns and {len(given)} names",
            )
        names = given + [column.name for column in rows.columns[len(given) :]]
        columns = tuple(
            ResultColumn(name, column.kind, column.named or at < len(given))
            for at, (name, column) in enumerate(zip(names, rows.columns, strict=True))
        )
        return ResultRows(columns, rows.bodies, rows.sets, rows.bags, rows.distinct)

    def table(self, node: exp.Table, bag: bool) -> ResultRows:
        """The rows of a table, a WITH query or a view, by name."""
        name = table_name(node)
        if node.catalog:
            raise self.refuse(
                "unknown-table",
                node,
                f"{shown(node, self.dialect)}: tables of another database are not read",
            )
        if name.lower() in self.ctes:
            return self._cte(self.ctes[name.lower()], bag)
        # A table of the plan is in the schema that the database looks into by itself.
        for wanted in (name, node.name) if node.db.lower() in DEFAULT_SCHEMAS else (name,):
            if (found := known_name(wanted, self.relations)) is not None:
                return self.algebra.scan(self.relations[found])
            if (found := known_name(wanted, self.views)) is not None:
                return self._view(found, node, bag)
        known = [*self.relations, *self.views, *(cte.node.alias for cte in self.ctes.values())]
        raise QueryError(
            f"there is no table {name!r}.",
            code="unknown-table",
            hint=did_you_mean(name, known),
            mark=self.text.mark(start_of(node)),
        )

    def is_stored(self, node: exp.Table) -> bool:
        """Is it a table of the source, and neither a WITH query nor a view of the plan?"""
        name = table_name(node)
        wanted = (name, node.name) if node.db.lower() in DEFAULT_SCHEMAS else (name,)
        return name.lower() not in self.ctes and any(
            known_name(one, self.relations) is not None for one in wanted
        )

    def _view(self, name: str, node: exp.Table, bag: bool) -> ResultRows:
        from tacit.families.queries.datalog.datalog_reader import is_datalog, rows_of

        if name in self.above:
            raise self.refuse("recursion", node, f"view {name} is defined by itself")
        text = QueryText(self.views[name], name)
        if is_datalog(text.text):
            return rows_of(text, self.algebra)
        inner = SqlReader(self.relations, self.dialect, text, self.views, (*self.above, name))
        inner.algebra, inner.notes = self.algebra, self.notes
        tree = parsed(text, self.dialect)
        check_names(tree, self.relations, self.dialect, text)
        rows = inner.query(tree, SqlScope(text), bag, False)
        inner.check_account(tree)
        check_parse(text, tree, self.dialect)
        return rows

    def _values(self, node: exp.Values, outer: SqlScope) -> ResultRows:
        self.allow(node, "expressions", "alias", "with_")
        expressions = self.expressions(SqlScope(self.text, outer=outer))
        expressions.role = "head"
        self.account.took("support", *node.expressions)
        self.account.whole("name", node.args.get("alias"))
        lines = [[expressions.value(one) for one in _cells(row)] for row in node.expressions]
        if len({len(line) for line in lines}) != 1:
            raise self.refuse("arity", node, "the rows of VALUES differ in length")
        word, first = VALUES_NAMES[self.dialect]
        columns = [
            ResultColumn(f"{word}{at + first}", _common_kind([line[at] for line in lines]))
            for at in range(len(lines[0]))
        ]
        for at in range(len(columns)):
            if len({line[at].family for line in lines} - {None}) > 1:
                expressions.note("implicit-cast", node)
                lines = [
                    [*line[:at], Value(OPAQUE, None, line[at].depends), *line[at + 1 :]]
                    for line in lines
                ]
        unit = ResultRows((), (QueryBody(),), distinct=True)
        found: ResultRows | None = None
        for line in lines:
            rows = self.depending(unit, (), [one for value in line for one in value.depends])
            rows = self.algebra.projected(rows, (), columns, [value.entry for value in line])
            found = self.algebra.united(found, rows, tuple(columns)) if found else rows
        assert found is not None
        return found

    def _operation(self, node: exp.SetOperation, outer: SqlScope, bag: bool) -> ResultRows:
        self.allow(
            node, "this", "expression", "distinct", "with_", "order", "limit", "offset", "by_name"
        )
        once = bool(node.args.get("distinct"))
        left, right = (
            self.query(one, outer, bag and not once, False) for one in (node.this, node.expression)
        )
        if node.args.get("by_name"):
            left, right = self._by_name(left, right, node)
        if len(left.columns) != len(right.columns):
            raise QueryError(
                f"{node.key.upper()} of {len(left.columns)} and {len(right.columns)} columns.",
                code="arity",
                hint="Both sides need as many columns.",
                mark=self.text.mark(start_of(node.expression)),
            )
        left, right, columns = self._alike(left, right, node)
        expressions = self.expressions(SqlScope(self.text, outer=outer))
        if isinstance(node, exp.Union):
            rows = self.algebra.united(left, right, columns)
        elif isinstance(node, exp.Intersect):
            rows = self.algebra.common(left, right, columns)
            if not once:
                expressions.note("intersect-all", node)
                rows = ResultRows(columns, rows.bodies, False, False)
        elif isinstance(node, exp.Except):
            expressions.note("except", node)
            rows = self.algebra.without(left, right, columns)
        else:
            raise self.refuse("not-read", node, f"{node.key.upper()} is not read")
        if once:
            expressions.note("distinct-inside", node, counts=True)
            rows = self.algebra.once(rows)
        return self.limited(rows, node, SqlScope(self.text, outer=outer), ())

    def _by_name(
        self, left: ResultRows, right: ResultRows, node: exp.SetOperation
    ) -> tuple[ResultRows, ResultRows]:
        """UNION BY NAME: columns of one name go together, and a side without one has NULL there."""
        if not isinstance(node, exp.Union):
            raise self.refuse("not-read", node, f"{node.key.upper()} BY NAME is not read")
        names = {
            column.name.lower(): column.name for rows in (right, left) for column in rows.columns
        }
        order = dict.fromkeys(
            column.name.lower() for rows in (left, right) for column in rows.columns
        )
        found = []
        for rows in (left, right):
            slots = self.algebra.fresh.slots(len(rows.columns))
            mine = {
                column.name.lower(): (slot, column.kind)
                for column, slot in zip(rows.columns, slots, strict=True)
            }
            if not all(column.named for column in rows.columns):
                raise self.refuse("ambiguous-column", node, "a side has a column without a name")
            if len(mine) < len(rows.columns):
                raise self.refuse("ambiguous-column", node, "a side has two columns of one name")
            columns = [
                ResultColumn(names[name], mine[name][1] if name in mine else None) for name in order
            ]
            found.append(
                self.algebra.projected(
                    rows, slots, columns, [mine[n][0] if n in mine else NULL for n in order]
                )
            )
        return found[0], found[1]

    def _alike(
        self, left: ResultRows, right: ResultRows, node: exp.SetOperation
    ) -> tuple[ResultRows, ResultRows, tuple[ResultColumn, ...]]:
        """Both sides with columns of the same kinds;
        where the engine would convert one, it is opaque.
        """
        columns = []
        for at, (one, other) in enumerate(zip(left.columns, right.columns, strict=True)):
            kinds = [family(column.kind) for column in (one, other)]
            decimal = "decimal" in (one.kind, other.kind)
            self.notes.converts |= (
                decimal and self.dialect != "postgres"
            )  # one side is brought to the digits of the other
            # PostgreSQL keeps the digits of one of two equal numbers: 1.0 or 1.00.
            if (None not in kinds and kinds[0] != kinds[1]) or (
                decimal and self.dialect == "postgres"
            ):
                self.expressions(SqlScope(self.text)).note("implicit-cast", node)
                left, right = _blanked(left, at), _blanked(right, at)
                columns.append(ResultColumn(one.name, None, one.named))
            else:
                columns.append(ResultColumn(one.name, one.kind or other.kind, one.named))
        return left, right, tuple(columns)

    def _check_order(self, order: exp.Expr, expressions: Expressions) -> None:
        """ORDER BY behind a set operation names columns of the result;
        nothing else is read there.
        """
        expressions.aggregates = True
        self.account.whole("order", order)
        self.allow(order, "expressions")
        for one in order.expressions:
            self.allow(one, "this", "desc", "nulls_first")
            if not _order_is_plain(one):
                raise self.refuse(
                    "not-read", one, "a subquery in ORDER BY behind a set operation is not read"
                )
            for inner in one.this.walk():
                if not isinstance(inner, exp.Column | exp.Identifier | exp.DataType | exp.Var):
                    expressions.check(inner)

    def limited(
        self, rows: ResultRows, node: exp.Expr, scope: SqlScope, depends: Sequence[Dependence]
    ) -> ResultRows:
        """The rows after ORDER BY, OFFSET and LIMIT.
        Order alone changes nothing: rows are compared as a bag.
        """
        expressions = self.expressions(scope)
        if not isinstance(node, exp.Select) and node.args.get("order"):
            self._check_order(node.args["order"], expressions)
        limits = [
            part for part in (node.args.get("limit"), node.args.get("offset")) if part is not None
        ]
        for part in limits:
            if any(
                part.find(exp.Query, exp.Subquery, exp.Column) for part in part.iter_expressions()
            ):
                raise self.refuse("not-read", part, f"{shown(part, self.dialect)} is computed")
            for child in part.iter_expressions():
                if not isinstance(child, exp.LimitOptions):
                    expressions.looked_at(child)
            self.account.whole("limit", part)
            expressions.note("limit", part)
        if limits:
            self.account.computed_from(node)
        return self.algebra.hidden(rows) if limits else rows


def chooses_first(node: exp.Expr) -> bool:
    """DISTINCT ON keeps the first row of some."""
    distinct = node.args.get("distinct")
    return isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None


def _order_is_plain(node: exp.Expr) -> bool:
    return node.find(exp.Query, exp.Subquery) is None


def known_name(wanted: str, known: Collection[str]) -> str | None:
    """A name as it is known, whatever the case of its letters;
    where case tells two apart, the one as written.
    """
    if wanted in known:
        return wanted
    found = [name for name in known if name.lower() == wanted.lower()]
    return found[0] if len(found) == 1 else None


def _cells(row: exp.Expr) -> list[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [row]


def _common_kind(values: Sequence[Value]) -> str | None:
    kinds = {value.kind for value in values if value.kind is not None}
    if kinds == {"integer", "decimal"}:
        return "decimal"
    return kinds.pop() if len(kinds) == 1 else None


def _blanked(rows: ResultRows, at: int) -> ResultRows:
    def blank(body: QueryBody) -> QueryBody:
        head: tuple[Entry, ...] = (*body.head[:at], OPAQUE, *body.head[at + 1 :])
        return QueryBody(head, body.atoms, body.comparisons, body.known, body.pending)

    return ResultRows(rows.columns, tuple(map(blank, rows.bodies)), False, False)
