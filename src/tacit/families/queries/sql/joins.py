"""FROM: tables, subqueries and joins of every kind, as rows and the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.query import NULL
from tacit.families.queries.sql import truth
from tacit.families.queries.sql.bodies import QueryBody, Slot
from tacit.families.queries.sql.expressions import Value, only
from tacit.families.queries.sql.name_scope import (
    FromSource,
    Name,
    SourceGroup,
    SqlScope,
    same_name,
    shown,
)
from tacit.families.queries.sql.result_rows import ResultColumn, ResultRows, mentioned
from tacit.families.queries.sql.truth import Formula

if TYPE_CHECKING:
    from tacit.families.queries.sql.sql_reader import SqlReader

NOTHING = SourceGroup(ResultRows((), (QueryBody(),), distinct=True), (), (), ())


class FromReader:
    """Reads the FROM of one query. `bag`: how often rows occur matters."""

    def __init__(self, reader: SqlReader, outer: SqlScope, bag: bool) -> None:
        self.reader = reader
        self.algebra = reader.algebra
        self.account = reader.account
        self.outer = outer
        self.bag = bag

    def read(self, first: exp.Expr | None, joins: Sequence[exp.Join]) -> SourceGroup:
        """All of FROM. A comma binds less than JOIN, so the items
        between commas are joined first.
        """
        if first is None:
            return NOTHING
        items: list[tuple[exp.Expr, list[exp.Join]]] = [(first, [])]
        for join in joins:
            self.account.took("support", join)
            if only(join, "this"):
                items.append((join.this, []))
            else:
                items[-1][1].append(join)
        group = NOTHING
        for item, more in items:
            group = self._beside(group, self._joined(item, more, group))
        return group

    def _joined(
        self, item: exp.Expr, joins: Sequence[exp.Join], before: SourceGroup
    ) -> SourceGroup:
        group = self.item(item, before)
        for join in joins:
            group = self._join(group, join, before)
        return group

    def _beside(self, left: SourceGroup, right: SourceGroup) -> SourceGroup:
        self._names_differ(left, right)
        return SourceGroup(
            self.algebra.product(left.rows, left.slots, right.rows),
            left.slots + right.slots,
            left.sources + right.sources,
            left.visible + right.visible,
        )

    def _names_differ(self, left: SourceGroup, right: SourceGroup) -> None:
        taken = {source.alias.lower() for source in left.sources if source.alias}
        twice = [source.alias for source in right.sources if source.alias.lower() in taken]
        if twice:
            raise QueryError(
                f"{twice[0]!r} names two tables of this query.",
                code="ambiguous-table",
                hint="Give each of them an alias of its own.",
                mark=self.outer.text.mark(None),
            )

    # -- one item

    def item(self, node: exp.Expr, before: SourceGroup) -> SourceGroup:
        """A table, a subquery, VALUES, or joins in parentheses."""
        reader = self.reader
        if isinstance(node, exp.Table):
            return self._table(node, before)
        if node.args.get("pivots"):
            raise reader.refuse("pivot", node, "PIVOT and UNPIVOT are not read")
        if isinstance(node, exp.Subquery) and _holds_joins(node.this):
            return self._parenthesised(node, before)
        if isinstance(node, exp.Subquery | exp.Lateral | exp.Values):
            lateral = isinstance(node, exp.Lateral) or reader.dialect == "duckdb"
            inside: exp.Expr = node
            self.account.took("support", node)
            if isinstance(node, exp.Lateral):
                if not only(node, "this", "alias") or not isinstance(node.this, exp.Subquery):
                    raise reader.refuse(
                        "table-function", node, "LATERAL over anything but a subquery is not read"
                    )
                inside = node.this
                self.account.took("support", inside)
                self.account.whole("name", inside.args.get("alias"))
            joins: list[exp.Join] = []
            if isinstance(node, exp.Subquery):
                reader.allow(node, "this", "alias", "joins", "sample")
                joins = node.args.get("joins") or []
            scope = self._lateral(before) if lateral else self.outer
            bare = (
                inside.this
                if isinstance(inside, exp.Subquery) and only(inside, "this", "alias", "joins")
                else inside
            )
            rows = reader.query(bare, scope, self.bag, False)
            group = self._named(rows, node)
            for join in joins:
                group = self._join(group, join, before)
            return group
        raise reader.refuse("table-function", node, f"{node.key.upper()} in FROM is not read")

    def _lateral(self, before: SourceGroup) -> SqlScope:
        return SqlScope(self.outer.text, before.sources, before.visible, self.outer)

    def _parenthesised(self, node: exp.Subquery, before: SourceGroup) -> SourceGroup:
        """(r JOIN s ON ...): the aliases inside are seen outside, unless it has an alias itself."""
        self.reader.allow(node, "this", "alias", "joins")
        self.account.took("support", node)
        group = self.item(node.this, before)
        if node.args.get("alias"):
            group = self._named(self._shown(group), node)
        for join in node.args.get("joins") or []:
            group = self._join(group, join, before)
        return group

    def _shown(self, group: SourceGroup) -> ResultRows:
        columns = [ResultColumn(name.name, name.kind, name.named) for name in group.visible]
        return self.algebra.projected(
            group.rows, group.slots, columns, [name.slot for name in group.visible]
        )

    def _table(self, node: exp.Table, before: SourceGroup) -> SourceGroup:
        reader = self.reader
        if node.args.get("sample"):
            raise reader.refuse("volatile-function", node, "TABLESAMPLE draws rows at random")
        if node.args.get("pivots"):
            raise reader.refuse("pivot", node, "PIVOT and UNPIVOT are not read")
        if not isinstance(node.this, exp.Identifier):
            raise reader.refuse(
                "table-function", node, f"{shown(node, reader.dialect)} in FROM is not read"
            )
        reader.allow(node, "this", "alias", "db", "catalog", "joins")
        self.account.took("support", node, *(part for part in node.parts))
        group = self._named(reader.table(node, self.bag), node)
        for join in node.args.get("joins") or []:
            group = self._join(group, join, before)
        return group

    def _named(self, rows: ResultRows, node: exp.Expr) -> SourceGroup:
        """Rows under the alias of a node, its columns renamed where the alias does so."""
        alias = node.args.get("alias")
        self.account.whole("name", alias)
        names = [column.name for column in rows.columns]
        if isinstance(alias, exp.TableAlias):
            self.reader.allow(alias, "this", "columns")
            given = [one.name for one in alias.args.get("columns") or []]
            if len(given) > len(names):
                raise self.reader.refuse(
                    "arity", node, f"{alias.name} has {len(names)} columns and {len(given)} names"
                )
            names[: len(given)] = given
        else:
            given = []
        slots = self.algebra.fresh.slots(len(names))
        unsure = renamed_again(names) if self.reader.dialect == "duckdb" else frozenset()
        found = tuple(
            Name(name, slot, column.kind, (column.named or at < len(given)) and at not in unsure)
            for at, (name, slot, column) in enumerate(zip(names, slots, rows.columns, strict=True))
        )
        stored = isinstance(node, exp.Table) and self.reader.is_stored(node)
        called = node.alias or (table_name(node) if isinstance(node, exp.Table) else "")
        schema = node.text("db") if stored and not node.alias else None
        return SourceGroup(rows, slots, (FromSource(called, found, stored, schema),), found)

    # -- joins

    def _join(self, left: SourceGroup, join: exp.Join, before: SourceGroup) -> SourceGroup:
        reader = self.reader
        side, kind, method = (
            str(join.args.get(part) or "").upper() for part in ("side", "kind", "method")
        )
        reader.allow(join, "this", "on", "side", "kind", "using", "method")
        self.account.took("support", join)
        self.account.whole("condition", *(join.args.get("using") or []))
        if method not in ("", "NATURAL") or kind not in (
            "",
            "INNER",
            "CROSS",
            "OUTER",
            "SEMI",
            "ANTI",
        ):
            raise reader.refuse("join-kind", join, f"{method or kind} JOIN is not read")
        if side not in ("", "LEFT", "RIGHT", "FULL"):
            raise reader.refuse("join-kind", join, f"{side} JOIN is not read")
        right = self.item(join.this, self._beside_names(before, left))
        self._names_differ(left, right)
        pairs = self._pairs(left, right, join, method == "NATURAL")
        both = self._beside(left, right)
        # Only DuckDB looks into what stands before the comma;
        # elsewhere such a name is one of the query around.
        around = self._lateral(before) if reader.dialect == "duckdb" else self.outer
        scope = SqlScope(self.outer.text, both.sources, both.visible, around)
        formula = self._on(join, pairs, scope, kind in ("ANTI",) or side != "")
        matches = reader.filtered(both.rows, both.slots, formula, join, disjoint=self.bag)
        if kind in ("SEMI", "ANTI"):
            return self._half(left, matches, kind, join, scope)
        if side:
            reader.expressions(scope).note("outer-join", join)
            if side != "LEFT" and mentioned(right.rows) & set(left.slots):
                raise reader.refuse(
                    "join-kind",
                    join,
                    f"{side} JOIN of a subquery that looks at the left side is not read",
                )
            rows = self.algebra.outer(
                left.rows, right.rows, matches, keep_left=side != "RIGHT", keep_right=side != "LEFT"
            )
        else:
            rows = matches
        return self._merged(replace(both, rows=rows), left, right, pairs, side)

    def _beside_names(self, before: SourceGroup, left: SourceGroup) -> SourceGroup:
        return SourceGroup(
            before.rows, before.slots, before.sources + left.sources, before.visible + left.visible
        )

    def _half(
        self, left: SourceGroup, matches: ResultRows, kind: str, join: exp.Join, scope: SqlScope
    ) -> SourceGroup:
        expressions = self.reader.expressions(scope)
        if kind == "SEMI":
            expressions.note("semijoin", join, counts=True)
            return replace(left, rows=self.algebra.semi(left.rows, matches))
        expressions.note("not-exists", join)
        return replace(left, rows=self.algebra.anti(left.rows, matches))

    def _pairs(
        self, left: SourceGroup, right: SourceGroup, join: exp.Join, natural: bool
    ) -> list[tuple[Name, Name]]:
        """The columns that USING or NATURAL makes equal."""
        if natural:
            if not all(name.named for name in (*left.visible, *right.visible)):
                raise self.reader.refuse(
                    "ambiguous-column",
                    join,
                    "NATURAL JOIN may join by a column that has no name here",
                )
            shared = [name.name for name in left.visible if same_name(name.name, right.visible)]
            wanted = [(name, join) for name in dict.fromkeys(shared)]
        else:
            wanted = [(one.name, one) for one in join.args.get("using") or []]
        found = []
        for name, place in wanted:
            sides = []
            for group in (left, right):
                scope = SqlScope(self.outer.text, group.sources, group.visible)
                column = exp.column(exp.to_identifier(name))
                if not natural and isinstance(place, exp.Identifier):
                    column.this.meta.update(place.meta)
                sides.append(scope.find(column))
            found.append((sides[0], sides[1]))
        return found

    def _on(
        self, join: exp.Join, pairs: Sequence[tuple[Name, Name]], scope: SqlScope, negative: bool
    ) -> Formula:
        formula: Formula = truth.Constantly("T")
        expressions = self.reader.expressions(scope)
        for one, other in pairs:
            found = expressions.pair(join, Value(one.slot, one.kind), Value(other.slot, other.kind))
            formula = truth.both(
                formula, truth.Compare(found[0], "=", found[1]) if found else truth.Unread()
            )
        on = join.args.get("on")
        return (
            truth.both(formula, expressions.formula(on, not negative))
            if on is not None
            else formula
        )

    def _merged(
        self,
        both: SourceGroup,
        left: SourceGroup,
        right: SourceGroup,
        pairs: Sequence[tuple[Name, Name]],
        side: str,
    ) -> SourceGroup:
        """After USING a bare name means one column:
        of either side where both have it, else of the one that has.
        """
        if not pairs:
            return both
        rows, slots = both.rows, both.slots
        merged_names: dict[Slot, Name] = {}
        for one, other in pairs:
            merged = other if side == "RIGHT" else one
            if side == "FULL":
                rows, slots, merged = self._either(rows, slots, one, other)
            merged_names[one.slot] = Name(one.name, merged.slot, merged.kind)
        hidden = {other.slot for _, other in pairs}
        mine = tuple(merged_names.get(name.slot, name) for name in left.visible)
        rest = tuple(name for name in right.visible if name.slot not in hidden)
        if self.reader.dialect != "duckdb":  # the shared columns come first
            mine = (
                *merged_names.values(),
                *(name for name in left.visible if name.slot not in merged_names),
            )
        return SourceGroup(rows, slots, both.sources, mine + rest)

    def _either(
        self, rows: ResultRows, slots: tuple[Slot, ...], one: Name, other: Name
    ) -> tuple[ResultRows, tuple[Slot, ...], Name]:
        """A column more: the left value, or the right one where there is no left row."""
        at, beside = slots.index(one.slot), slots.index(other.slot)
        bodies = [
            replace(
                body,
                head=(*body.head, body.head[beside] if body.head[at] == NULL else body.head[at]),
            )
            for body in rows.bodies
        ]
        (slot,) = self.algebra.fresh.slots(1)
        columns = (*rows.columns, ResultColumn(one.name, one.kind))
        return (
            replace(rows, columns=columns, bodies=tuple(bodies)),
            (*slots, slot),
            Name(one.name, slot, one.kind),
        )


def table_name(node: exp.Table) -> str:
    """The name of a table as the plan writes it."""
    return ".".join(part.name for part in node.parts[-2:])


def renamed_again(names: Sequence[str]) -> frozenset[int]:
    """The columns that DuckDB gives another name: the second x of a subquery is x_1, or x_2 where
    that is taken.

    >>> sorted(renamed_again(["x", "y", "X", "x_1"]))
    [2, 3]
    """
    lower = [name.lower() for name in names]
    twice = {name for name in lower if lower.count(name) > 1}
    later = {at for at, name in enumerate(lower) if name in lower[:at]}
    return frozenset(
        later
        | {at for at, name in enumerate(lower) if any(name.startswith(f"{one}_") for one in twice)}
    )


def _holds_joins(node: exp.Expr) -> bool:
    """Do parentheses in FROM hold tables and joins, not a query?"""
    if isinstance(node, exp.Subquery):
        return bool(node.args.get("joins")) or _holds_joins(node.this)
    return isinstance(node, exp.Table)
