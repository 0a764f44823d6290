"""SELECT: one query block, clause by clause in the order in which SQL evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from tacit.queries import truth
from tacit.queries.bodies import OPAQUE, Entry, Opaque, Slot
from tacit.queries.query import Constant
from tacit.queries.rows import Column, Rows
from tacit.queries.sql_expressions import Expressions, Value, is_limited, only
from tacit.queries.sql_from import FromReader
from tacit.queries.sql_functions import is_aggregate, is_windowed
from tacit.queries.sql_scope import Group, Name, Scope, Source
from tacit.queries.truth import Dependence, Formula

if TYPE_CHECKING:
    from tacit.queries.sql import Reader


class SelectReader:
    """Reads one SELECT, clause by clause in the order in which SQL evaluates them."""

    def __init__(
        self, reader: Reader, node: exp.Select, outer: Scope, bag: bool, only_exists: bool
    ) -> None:
        self.reader = reader
        self.algebra = reader.algebra
        self.node = node
        self.outer = outer
        self.only_exists = only_exists
        self.distinct = node.args.get("distinct")
        self.grouped = node.args.get("group") is not None or any(
            map(
                is_aggregate,
                [
                    *node.expressions,
                    *filter(None, [node.args.get("having"), node.args.get("qualify")]),
                ],
            )
        )
        self.bag = bag and not (self.distinct or self.grouped)
        self.scope = outer

    def read(self) -> Rows:
        """The rows of the SELECT."""
        self._check_parts()
        first = self.node.args.get("from_")
        if first is not None:
            self.reader.allow(first, "this")
        group = FromReader(self.reader, self.outer, self.bag).read(
            first.this if first else None, self.node.args.get("joins") or []
        )
        self.scope = Scope(
            self.reader.text, group.sources, group.visible, self.outer, self._aliases()
        )
        where = self.node.args.get("where")
        formula: Formula = (
            self._expressions(False).formula(where.this) if where else truth.Constantly("T")
        )
        kept = self.reader.filtered(
            group.rows, group.slots, formula, where or self.node, disjoint=False
        )
        rows = self._after_where(kept, group)
        if self.bag and rows.sets and not rows.bags and not rows.distinct and len(kept.bodies) > 1:
            # Cases that overlap count a row twice; disjoint ones are longer, so they come second.
            noted = len(self.reader.notes.found), len(self.reader.notes.counts)
            apart = self.reader.filtered(
                group.rows, group.slots, formula, where or self.node, disjoint=True
            )
            again = self._after_where(apart, group)
            del self.reader.notes.found[noted[0] :], self.reader.notes.counts[noted[1] :]
            rows = again if again.bags else rows
        return rows

    def _check_parts(self) -> None:
        node, reader = self.node, self.reader
        if node.args.get("into"):
            raise reader.refuse("not-a-query", node, "SELECT INTO writes a table")
        if node.args.get("sample"):
            raise reader.refuse("volatile-function", node, "SAMPLE draws rows at random")
        if node.args.get("pivots"):
            raise reader.refuse("pivot", node, "PIVOT and UNPIVOT are not read")
        if node.args.get("laterals"):
            raise reader.refuse("table-function", node, "LATERAL VIEW is not read")
        if node.args.get("connect"):
            raise reader.refuse("recursion", node, "CONNECT BY is recursive")
        if node.args.get("locks"):
            raise reader.refuse("not-a-query", node, "FOR UPDATE locks rows")
        reader.allow(
            node,
            "with_",
            "expressions",
            "distinct",
            "from_",
            "joins",
            "where",
            "group",
            "having",
            "qualify",
            "windows",
            "order",
            "limit",
            "offset",
        )

    def _aliases(self) -> dict[str, exp.Expr]:
        return {
            one.alias.lower(): one.this
            for one in self.node.expressions
            if isinstance(one, exp.Alias)
        }

    def _expressions(self, aggregates: bool = True, *, keys: bool = False) -> Expressions:
        scope, dialect = self.scope, self.reader.dialect
        # Only DuckDB knows aliases of SELECT in WHERE; PostgreSQL knows them in GROUP BY (`keys`) and ORDER BY alone.
        if (not aggregates and dialect != "duckdb") or (dialect == "postgres" and not keys):
            scope = replace(scope, aliases={})
        found = self.reader.expressions(scope)
        found.aggregates = aggregates
        return found

    # -- after WHERE

    def _after_where(self, rows: Rows, group: Group) -> Rows:
        items = self._items(group)
        depends = [one for _, value in items for one in value.depends]
        depends += self._ordering()
        base = group.rows
        if self.grouped:
            rows = self._grouped(rows, group, items, depends)
        else:
            if self.node.args.get("having"):
                raise self.reader.refuse(
                    "misplaced", self.node.args["having"], "HAVING needs GROUP BY or an aggregate"
                )
            rows = self.algebra.depending(rows, group.slots, depends)
            rows = self.algebra.projected(
                rows,
                group.slots,
                [column for column, _ in items],
                [value.entry for _, value in items],
                base,
            )
        return self._last(rows, group)

    def _last(self, rows: Rows, group: Group) -> Rows:
        """Windows, QUALIFY, DISTINCT, ORDER BY and LIMIT."""
        node, expressions = self.node, self._expressions()
        qualify = node.args.get("qualify")
        if qualify is not None or any(map(is_windowed, node.expressions)):
            rows = self.algebra.hidden(rows)
            if qualify is not None:
                expressions.note("qualify", qualify)
        if self.distinct is not None:
            self.reader.allow(self.distinct, "on")
            if self.distinct.args.get("on"):
                expressions.note("distinct-on", self.distinct)
                rows = self.algebra.hidden(rows)
            else:
                expressions.note("distinct-inside", node, counts=True)
                rows = self.algebra.once(rows)
        if self.only_exists and _keeps_a_row(node):
            return rows
        return self.reader.limited(rows, node, self.scope, ())

    def _ordering(self) -> list[Dependence]:
        """Check ORDER BY, QUALIFY and windows; the subqueries that decide which rows stay."""
        node, expressions = self.node, self._expressions()
        kept = len(expressions.notes.found)
        found: list[Dependence] = []
        order = node.args.get("order")
        if order is not None:
            self.reader.allow(order, "expressions")
            for one in order.expressions:
                self.reader.allow(one, "this", "desc", "nulls_first")
                if not isinstance(one.this, exp.Literal | exp.Var):
                    found += self._looked_at_by_alias(one.this)
        if not (is_limited(node) or (self.distinct is not None and self.distinct.args.get("on"))):
            found = []
        if self.distinct is not None and self.distinct.args.get("on"):
            found += self._looked_at_by_alias(self.distinct.args["on"])
        for one in [*(node.args.get("windows") or []), *filter(None, [node.args.get("qualify")])]:
            for child in one.iter_expressions():
                found += (
                    expressions.looked_at(child) if not isinstance(child, exp.Identifier) else ()
                )
        del expressions.notes.found[kept:]
        return found

    def _looked_at_by_alias(self, node: exp.Expr) -> tuple[Dependence, ...]:
        """Names in ORDER BY are those of the result first."""
        results = {one.alias_or_name.lower(): one.unalias() for one in self.node.expressions}
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in results:
            return self._expressions().looked_at(results[node.name.lower()])
        return self._expressions().looked_at(node)

    # -- the select list

    def _items(self, group: Group) -> list[tuple[Column, Value]]:
        found: list[tuple[Column, Value]] = []
        kept = len(self.reader.notes.found)
        for at, node in enumerate(self.node.expressions):
            if isinstance(node, exp.Star) or (
                isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
            ):
                found += self._starred(node, group)
            else:
                found.append(self._item(node, at))
        if self.only_exists and not self.grouped:
            # Whether there is a row does not depend on what it shows.
            del self.reader.notes.found[kept:]
            found = [(column, Value(Constant(1), "integer")) for column, _ in found]
        if not found:
            raise self.reader.refuse("syntax", self.node, "SELECT needs a column")
        return found

    def _item(self, node: exp.Expr, at: int) -> tuple[Column, Value]:
        named = isinstance(node, exp.Alias | exp.Column)
        name = (
            node.alias_or_name
            if named
            else node.sql_name().lower()
            if isinstance(node, exp.Func)
            else f"col{at}"
        )
        if isinstance(node, exp.Alias):
            self.reader.allow(node, "this", "alias")
            node = node.this
        value = self._expressions().value(node)
        return Column(name, value.kind, named), value

    def _starred(self, node: exp.Expr, group: Group) -> list[tuple[Column, Value]]:
        names = group.visible
        star = node
        if isinstance(node, exp.Column):
            star = node.this
            self.reader.allow(node, "this", "table")
            sources = [one for one in group.sources if one.alias.lower() == node.table.lower()]
            if not sources:
                raise self.scope.unknown(exp.column("*", table=node.table))
            names = sources[0].names
        if not names:
            raise self.reader.refuse("syntax", node, "* needs FROM")
        self.reader.allow(star, "except_")
        for one in star.args.get("except_") or []:
            left_out = self._left_out(one, names)
            names = tuple(name for name in names if name not in left_out)
        return [
            (Column(name.name, name.kind, name.named), Value(name.slot, name.kind))
            for name in names
        ]

    def _left_out(self, node: exp.Expr, names: tuple[Name, ...]) -> list[Name]:
        found = [name for name in names if name.name.lower() == node.name.lower()]
        if not found:
            raise Scope(self.reader.text, (Source("", names),), names).unknown(
                exp.column(node.name)
            )
        return found

    # -- GROUP BY

    def _grouped(
        self,
        rows: Rows,
        group: Group,
        items: Sequence[tuple[Column, Value]],
        depends: Sequence[Dependence],
    ) -> Rows:
        clause, having = self.node.args.get("group"), self.node.args.get("having")
        keys = self._keys(clause, items) if clause is not None else None
        aggregated = keys is None or any(
            map(is_aggregate, [*self.node.expressions, *filter(None, [having])])
        )
        formula: Formula = (
            self._expressions().formula(having.this) if having else truth.Constantly("T")
        )
        if keys is None:
            if clause is not None:
                self._expressions().note("group-by", clause)
            rows = self.algebra.hidden(rows, one_row=True)
        rows = self.algebra.depending(rows, group.slots, depends)
        rows = self.reader.filtered(rows, group.slots, formula, having or self.node, disjoint=False)
        columns = [column for column, _ in items]
        if keys is None:
            entries = [
                value.entry if isinstance(value.entry, Constant) else OPAQUE for _, value in items
            ]
            return self.algebra.projected(rows, group.slots, columns, entries)
        return self._by_keys(rows, group, items, keys, aggregated)

    def _by_keys(
        self,
        rows: Rows,
        group: Group,
        items: Sequence[tuple[Column, Value]],
        keys: Sequence[Value],
        aggregated: bool,
    ) -> Rows:
        """One row for each combination of keys; what is not a key is computed from the group."""
        entries = [value.entry for value in keys]
        rows = self.algebra.once(
            self.algebra.projected(
                rows, group.slots, [Column(f"key{at}") for at in range(len(keys))], entries
            )
        )
        if aggregated:
            rows = Rows(rows.columns, rows.bodies, False, False)
        else:
            self._expressions().note("distinct-inside", self.node, counts=True)
        slots = self.algebra.fresh.slots(len(keys))
        place = {
            entry: slot
            for entry, slot in zip(entries, slots, strict=True)
            if not isinstance(entry, Opaque)
        }
        mine = set(group.slots)
        entry_of: list[Entry] = []
        for (_, value), node in zip(items, self._nodes(items), strict=True):
            entry = value.entry
            if isinstance(entry, Slot) and entry in mine and entry not in place:
                self._expressions().note("group-by", node)
                entry = OPAQUE
            entry_of.append(entry if isinstance(entry, Opaque) else place.get(entry, entry))
        return self.algebra.projected(rows, slots, [column for column, _ in items], entry_of)

    def _nodes(self, items: Sequence[tuple[Column, Value]]) -> Sequence[exp.Expr]:
        nodes = self.node.expressions
        return nodes if len(nodes) == len(items) else [self.node] * len(items)

    def _keys(self, clause: exp.Group, items: Sequence[tuple[Column, Value]]) -> list[Value] | None:
        """The grouping keys; None where there is more than one grouping."""
        several = any(
            isinstance(one, exp.Rollup | exp.Cube | exp.GroupingSets) for one in clause.expressions
        )
        if several or any(
            clause.args.get(part) for part in ("grouping_sets", "cube", "rollup", "totals")
        ):
            for one in clause.find_all(exp.Column):
                self._expressions().value(one)
            return None
        self.reader.allow(clause, "expressions", "all")
        if clause.args.get("all"):
            nodes = self._nodes(items)
            return [
                value
                for (_, value), node in zip(items, nodes, strict=True)
                if not is_aggregate(node)
            ]
        found = []
        for one in clause.expressions:
            if isinstance(one, exp.Literal) and not one.is_string:
                if not one.this.isdecimal() or not 1 <= int(one.this[:9]) <= len(items):
                    raise self.reader.refuse(
                        "arity", one, f"GROUP BY {one.this}: there are {len(items)} columns"
                    )
                found.append(items[int(one.this) - 1][1])
            else:
                found.append(self._expressions(keys=isinstance(one, exp.Column)).value(one))
        return found


def _keeps_a_row(node: exp.Select) -> bool:
    """Is LIMIT, if there is one, at least 1 and nothing skipped?"""
    limit = node.args.get("limit")
    if node.args.get("offset") or not isinstance(limit, exp.Limit | None):
        return False
    if limit is None:
        return True
    literal = limit.expression
    return (
        only(limit, "expression")
        and isinstance(literal, exp.Literal)
        and not literal.is_string
        and literal.this.isdigit()
        and int(literal.this) >= 1
    )
