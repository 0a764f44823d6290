"""SELECT: one query block, clause by clause in the order in which SQL evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from tacit.families.queries.query import Constant
from tacit.families.queries.sql import truth
from tacit.families.queries.sql.aliases import DialectClause, Place
from tacit.families.queries.sql.bodies import OPAQUE, Entry, Opaque, Slot
from tacit.families.queries.sql.expressions import Expressions, Value, only
from tacit.families.queries.sql.functions import is_aggregate, is_windowed
from tacit.families.queries.sql.joins import FromReader
from tacit.families.queries.sql.name_scope import FromSource, Name, SourceGroup, SqlScope
from tacit.families.queries.sql.result_rows import ResultColumn, ResultRows
from tacit.families.queries.sql.truth import Dependence, Formula

if TYPE_CHECKING:
    from tacit.families.queries.sql.sql_reader import SqlReader


class SelectReader:
    """Reads one SELECT, clause by clause in the order in which SQL evaluates them."""

    def __init__(
        self, reader: SqlReader, node: exp.Select, outer: SqlScope, bag: bool, only_exists: bool
    ) -> None:
        self.reader = reader
        self.algebra = reader.algebra
        self.node = node
        self.outer = outer
        self.only_exists = only_exists
        self.account = reader.account
        self.distinct = node.args.get("distinct")
        self.grouped = node.args.get("group") is not None or any(
            map(is_aggregate, self._computed_after())
        )
        self.bag = bag and not (self.distinct or self.grouped)
        self.scope = outer

    def _computed_after(self) -> list[exp.Expr]:
        """All that is computed after GROUP BY:
        an aggregate anywhere in it makes the query a grouped one.
        """
        node = self.node
        parts = [
            node.args.get("having"),
            node.args.get("qualify"),
            node.args.get("order"),
            self.distinct,
            *(node.args.get("windows") or []),
        ]
        return [*node.expressions, *(one for one in parts if one is not None)]

    def read(self) -> ResultRows:
        """The rows of the SELECT."""
        self._check_parts()
        first = self.node.args.get("from_")
        if first is not None:
            self.reader.allow(first, "this")
            self.account.took("support", first)
        group = FromReader(self.reader, self.outer, self.bag).read(
            first.this if first else None, self.node.args.get("joins") or []
        )
        self.scope = SqlScope(self.reader.text, group.sources, group.visible, self.outer)
        where = self.node.args.get("where")
        self.account.took("condition", where)
        formula: Formula = (
            self._expressions("where").formula(where.this) if where else truth.Constantly("T")
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

    def _aliases(self, nodes: Sequence[exp.Expr]) -> dict[str, tuple[exp.Expr, ...]]:
        found: dict[str, tuple[exp.Expr, ...]] = {}
        for one in nodes:
            if isinstance(one, exp.Alias):
                found[one.alias.lower()] = (*found.get(one.alias.lower(), ()), one.this)
        return found

    def _expressions(
        self, place: Place, *, before: int | None = None, keys: frozenset[Slot] = frozenset()
    ) -> Expressions:
        """A reader for one clause; `before`:
        only the first so many items of SELECT can be named.
        """
        nodes = self.node.expressions
        first, rest = (nodes, []) if before is None else (nodes[:before], nodes[before:])
        clause = DialectClause(self.reader.dialect, place)
        scope = replace(
            self.scope,
            aliases=self._aliases(first),
            later=frozenset(self._aliases(rest)),
            clause=clause,
            keys=keys,
        )
        found = self.reader.expressions(scope)
        found.aggregates = place != "where"
        return found

    # -- after WHERE

    def _after_where(self, rows: ResultRows, group: SourceGroup) -> ResultRows:
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
            rows = self.reader.depending(rows, group.slots, depends)
            rows = self.algebra.projected(
                rows,
                group.slots,
                [column for column, _ in items],
                [value.entry for _, value in items],
                base,
            )
        return self._last(rows, group)

    def _last(self, rows: ResultRows, group: SourceGroup) -> ResultRows:
        """Windows, QUALIFY, DISTINCT, ORDER BY and LIMIT."""
        node, expressions = self.node, self._expressions("qualify")
        qualify = node.args.get("qualify")
        if qualify is not None or any(map(is_windowed, node.expressions)):
            rows = self.algebra.hidden(rows)
            if qualify is not None:
                expressions.note("qualify", qualify)
        if self.distinct is not None:
            self.reader.allow(self.distinct, "on")
            self.account.took("head", self.distinct)
            if self.distinct.args.get("on"):
                expressions.note("distinct-on", self.distinct)
                rows = self.algebra.hidden(rows)
            else:
                expressions.note("distinct-inside", node, counts=True)
                rows = self.algebra.once(rows)
        if self.only_exists and _keeps_a_row(node):
            self.account.whole("unseen", node.args.get("limit"))
            return rows
        return self.reader.limited(rows, node, self.scope, ())

    def _ordering(self) -> list[Dependence]:
        """Check ORDER BY, QUALIFY, DISTINCT ON and windows; the subqueries that they look into.

        Whatever is outside may use the order of rows: LIMIT, string_agg, row_number() OVER ().
        Only the order of the answer itself is said beside the reading (`sorted_by`).
        """
        node, notes = self.node, self.reader.notes
        kept = len(notes.found)
        found: list[Dependence] = []
        order, on = (
            node.args.get("order"),
            self.distinct.args.get("on") if self.distinct is not None else None,
        )
        if order is not None:
            found += self._ordered(order)
        if on is not None:
            self.account.took("order", on)
            for one in on.expressions if isinstance(on, exp.Tuple) else [on]:
                found += self._expressions("distinct on").looked_at(one)
        for part in [*(node.args.get("windows") or []), *filter(None, [node.args.get("qualify")])]:
            self.account.took("computed", part)
            for child in part.iter_expressions():
                if isinstance(child, exp.Identifier):
                    self.account.took("name", child)
                else:
                    found += self._expressions("qualify").looked_at(child)
        del notes.found[kept:]
        return found

    def _ordered(self, order: exp.Order) -> list[Dependence]:
        self.reader.allow(order, "expressions")
        self.account.took("order", order)
        shown = {one.alias_or_name.lower() for one in self.node.expressions}
        found: list[Dependence] = []
        for one in order.expressions:
            self.reader.allow(one, "this", "desc", "nulls_first")
            self.account.took("order", one)
            item = one.this
            # A number, ALL, or a name of the result: what it stands for is read in SELECT.
            by_result = isinstance(item, exp.Literal | exp.Var) or (
                isinstance(item, exp.Column) and not item.table and item.name.lower() in shown
            )
            if by_result:
                self.account.whole("order", item)
            elif self.reader.is_answer_order(order):
                self._expressions("order by").looked_at(item)
                self.account.without("order", item)
            else:
                found += self._expressions("order by").looked_at(item)
        return found

    # -- the select list

    def _items(self, group: SourceGroup) -> list[tuple[ResultColumn, Value]]:
        found: list[tuple[ResultColumn, Value]] = []
        kept = len(self.reader.notes.found)
        for at, node in enumerate(self.node.expressions):
            if isinstance(node, exp.Star) or (
                isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
            ):
                found += self._starred(node, group)
            else:
                found.append(self._item(node, at))
        if self.only_exists and not self.grouped and _keeps_a_row(self.node):
            # Whether there is a row does not depend on what it shows;
            # but which are distinct does, and OFFSET counts these.
            for node in self.node.expressions:
                self.account.without("unseen", node)
            del self.reader.notes.found[kept:]
            found = [(column, Value(Constant(1), "integer")) for column, _ in found]
        if not found:
            raise self.reader.refuse("syntax", self.node, "SELECT needs a column")
        return found

    def _item(self, node: exp.Expr, at: int) -> tuple[ResultColumn, Value]:
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
            self.account.took("head", node, node.args["alias"])
            node = node.this
        expressions = self._expressions("select", before=at)
        expressions.role = "head"
        value = expressions.value(node)
        return ResultColumn(name, value.kind, named), value

    def _starred(self, node: exp.Expr, group: SourceGroup) -> list[tuple[ResultColumn, Value]]:
        names = group.visible
        star = node
        self.account.whole("head", node)
        if isinstance(node, exp.Column):
            star = node.this
            self.reader.allow(node, "this", "table")
            sources = [one for one in group.sources if one.called == node.table.lower()]
            if len(sources) != 1:
                raise self.scope.unknown(exp.column("*", table=node.table))
            names = sources[0].names
        if not names:
            raise self.reader.refuse("syntax", node, "* needs FROM")
        self.reader.allow(star, "except_")
        for one in star.args.get("except_") or []:
            left_out = self._left_out(one, names)
            names = tuple(name for name in names if name not in left_out)
        return [
            (ResultColumn(name.name, name.kind, name.named), Value(name.slot, name.kind))
            for name in names
        ]

    def _left_out(self, node: exp.Expr, names: tuple[Name, ...]) -> list[Name]:
        found = [name for name in names if name.name.lower() == node.name.lower()]
        if not found:
            raise SqlScope(self.reader.text, (FromSource("", names),), names).unknown(
                exp.column(node.name)
            )
        return found

    # -- GROUP BY

    def _grouped(
        self,
        rows: ResultRows,
        group: SourceGroup,
        items: Sequence[tuple[ResultColumn, Value]],
        depends: Sequence[Dependence],
    ) -> ResultRows:
        clause, having = self.node.args.get("group"), self.node.args.get("having")
        keys, sure = (
            self._keys(clause, items, frozenset(group.slots)) if clause is not None else ([], False)
        )
        slots = frozenset(one.entry for one in keys if isinstance(one.entry, Slot))
        self.account.took("condition", having)
        formula: Formula = (
            self._expressions("having", keys=slots).formula(having.this)
            if having
            else truth.Constantly("T")
        )
        if not sure:
            if clause is not None:
                self._expressions("group by").note("group-by", clause)
            rows = self.algebra.hidden(rows, one_row=True)
        rows = self.reader.depending(
            rows, group.slots, [*depends, *(one for key in keys for one in key.depends)]
        )
        rows = self.reader.filtered(rows, group.slots, formula, having or self.node, disjoint=False)
        columns = [column for column, _ in items]
        if not sure:
            entries = [
                value.entry if isinstance(value.entry, Constant) else OPAQUE for _, value in items
            ]
            return self.algebra.projected(rows, group.slots, columns, entries)
        return self._by_keys(
            rows, group, items, keys, any(map(is_aggregate, self._computed_after()))
        )

    def _by_keys(
        self,
        rows: ResultRows,
        group: SourceGroup,
        items: Sequence[tuple[ResultColumn, Value]],
        keys: Sequence[Value],
        aggregated: bool,
    ) -> ResultRows:
        """One row for each combination of keys; what is not a key is computed from the group."""
        entries = [value.entry for value in keys]
        rows = self.algebra.once(
            self.algebra.projected(
                rows, group.slots, [ResultColumn(f"key{at}") for at in range(len(keys))], entries
            )
        )
        if aggregated:
            rows = ResultRows(rows.columns, rows.bodies, False, False)
        else:
            self._expressions("select").note("distinct-inside", self.node, counts=True)
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
                self._expressions("select").note("group-by", node)
                entry = OPAQUE
            entry_of.append(entry if isinstance(entry, Opaque) else place.get(entry, entry))
        return self.algebra.projected(rows, slots, [column for column, _ in items], entry_of)

    def _nodes(self, items: Sequence[tuple[ResultColumn, Value]]) -> Sequence[exp.Expr]:
        nodes = self.node.expressions
        return nodes if len(nodes) == len(items) else [self.node] * len(items)

    def _keys(
        self, clause: exp.Group, items: Sequence[tuple[ResultColumn, Value]], mine: frozenset[Slot]
    ) -> tuple[list[Value], bool]:
        """The grouping keys; and whether there is one grouping, which has
        a row only where there are rows.
        """
        self.account.took("support", clause)
        if clause.args.get("all"):
            self.reader.allow(clause, "all")
            keys = [
                value
                for (_, value), node in zip(items, self._nodes(items), strict=True)
                if not is_aggregate(node)
            ]
            # Aggregates and constants alone are one group, which is there also where no row is.
            return keys, any(isinstance(one.entry, Slot) and one.entry in mine for one in keys)
        sets = [
            one
            for one in clause.expressions
            if isinstance(one, exp.Rollup | exp.Cube | exp.GroupingSets)
        ]
        more = [
            part for part in ("grouping_sets", "cube", "rollup", "totals") if clause.args.get(part)
        ]
        self.reader.allow(clause, "expressions", *more)
        found = [
            self._key(one, items)
            for one in clause.expressions
            if one not in sets and not _is_empty(one)
        ]
        for one in [*sets, *(child for part in more for child in _listed(clause.args[part]))]:
            found += self._set_keys(one, items)
        self.account.took("support", *filter(_is_empty, clause.expressions))
        return found, bool(found) and not sets and not more

    def _set_keys(self, node: exp.Expr, items: Sequence[tuple[ResultColumn, Value]]) -> list[Value]:
        """The keys of ROLLUP, CUBE or GROUPING SETS, sets within sets."""
        if isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
            self.reader.allow(node, "expressions")
            self.account.took("computed", node)
            return [key for one in node.expressions for key in self._set_keys(one, items)]
        return [self._key(node, items)]

    def _key(self, node: exp.Expr, items: Sequence[tuple[ResultColumn, Value]]) -> Value:
        expressions = self._expressions("group by")
        # Beside aggregates all rows of all groups are taken, whatever they are grouped by.
        expressions.role = "computed" if any(map(is_aggregate, self._computed_after())) else "head"
        while isinstance(node, exp.Paren):
            self.account.took(expressions.role, node)
            node = node.this
        if isinstance(node, exp.Literal) and not node.is_string:
            self.account.took(expressions.role, node)
            if not node.this.isdecimal() or not 1 <= int(node.this[:9]) <= len(items):
                raise self.reader.refuse(
                    "arity", node, f"GROUP BY {node.this}: there are {len(items)} columns"
                )
            return items[int(node.this) - 1][1]
        return expressions.value(node)


def _is_empty(node: exp.Expr) -> bool:
    """The grouping set () has no key."""
    return isinstance(node, exp.Tuple) and not node.expressions


def _listed(part: object) -> list[exp.Expr]:
    return [
        one for one in (part if isinstance(part, list) else [part]) if isinstance(one, exp.Expr)
    ]


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
