"""Cores: the rows that an answer is computed from, as queries of their own.

SELECT computes its answer from the rows that FROM, JOIN and WHERE find, and from no more of them
than the columns that it names. So whoever may know these rows may know the answer, with all that
LIMIT, ORDER BY, GROUP BY, HAVING and functions make of them: `with_total_order` sees to it that
they make the same of the same rows. Names in all trees are written out (`qualified`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tacit.families.queries.query import Relations

MOST_CASES = 16
CHOOSES = ("expressions", "from_", "where")
WholeRows = tuple[str, tuple[int, ...]]  # the table, and its columns in the order of the view
AFTER_ROWS = ("expressions", "group", "having", "qualify", "windows", "order", "distinct")
# They make the same of rows however often each is there.
COUNT_NOTHING = (exp.Min, exp.Max)
REJECT_NULL = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between, exp.Like)


@dataclass(frozen=True, slots=True)
class CoreSource:
    """A table in FROM. `outer`: rows stay without a partner here (LEFT JOIN)."""

    node: exp.Table
    outer: bool = False

    @property
    def alias(self) -> str:
        """The name that columns say."""
        return str(self.node.alias_or_name)


@dataclass(frozen=True, slots=True)
class Core:
    """Rows that an answer is computed from: tables, conditions that all hold, columns that matter.

    `counted`: it matters how often a row is there.
    """

    sources: tuple[CoreSource, ...]
    conditions: tuple[exp.Expr, ...]
    columns: tuple[exp.Column, ...]
    counted: bool

    def tree(self, *, keys: Relations | None = None) -> exp.Select:
        """The core as a query; with `keys` each row once, beside the keys of its tables."""
        shown: list[exp.Expr] = [one.copy() for one in self.columns]
        if keys is not None:
            have = {one.sql() for one in shown}
            new = [one for one in self._keys(keys) if one.sql() not in have]
            shown += new
        found = exp.select(
            *(exp.alias_(one, f"c{at}", quoted=True) for at, one in enumerate(shown)),
            *(() if shown else (exp.alias_(exp.Literal.number(1), "c0", quoted=True),)),
            copy=False,
        )
        found = found.from_(self.sources[0].node.copy(), copy=False)
        for one in self.sources[1:]:
            found = found.join(one.node.copy(), join_type="cross", copy=False)
        for condition in self.conditions:
            found = found.where(exp.paren(condition.copy(), copy=False), copy=False)
        if keys is not None or not self.counted:
            found = found.distinct(copy=False)
        return found

    def _keys(self, relations: Relations) -> Iterator[exp.Column]:
        if not self.counted:
            return
        for one in self.sources:
            for column in relations[_name(one.node)].keys[0]:
                yield exp.column(column, one.alias, quoted=True)

    @property
    def table(self) -> str:
        """The first table."""
        return _name(self.sources[0].node)

    def of_whole_rows(self, relations: Relations) -> Core:
        """Which rows of the first table are in the core, with all their columns."""
        alias = self.sources[0].alias
        columns = [exp.column(one, alias, quoted=True) for one in relations[self.table].columns]
        return replace(self, columns=tuple(columns), counted=False)

    def has_keys(self, relations: Relations) -> bool:
        """Has every table a key?"""
        return all(
            _name(one.node) in relations and relations[_name(one.node)].keys for one in self.sources
        )

    def without(self, at: int) -> Core | None:
        """The core with a condition left to be computed from its rows."""
        condition = self.conditions[at]
        if condition.find(exp.Query) is not None:
            return None
        more = [one for one in condition.find_all(exp.Column) if one not in self.columns]
        return replace(
            self,
            conditions=(*self.conditions[:at], *self.conditions[at + 1 :]),
            columns=(*self.columns, *dict.fromkeys(more)),
        )


def _name(table: exp.Table) -> str:
    return f"{table.db}.{table.name}" if table.db else str(table.name)


def cores(select: exp.Select) -> list[Core] | None:
    """The cores that an answer is computed from, all of them together; None where that is not
    seen.
    """
    sources = _sources(select)
    if sources is None:
        return None
    tables, conditions = sources
    where = select.args.get("where")
    conditions = [*conditions, *(conjuncts(where.this) if where is not None else ())]
    columns = _columns(select, {one.alias for one in tables})
    if columns is None:
        return None
    core = Core(tuple(tables), (), tuple(columns), counts(select))
    try:
        return list(_inner(core, conditions))
    except NotSeen:
        return None


def _sources(select: exp.Select) -> tuple[list[CoreSource], list[exp.Expr]] | None:
    """The tables of FROM, and the conditions of inner joins; None where others are in it."""
    first = select.args.get("from_")
    if first is None or select.args.get("with_"):
        return None
    if not _is_plain(first.this):
        return None
    tables, conditions = [CoreSource(first.this)], []
    for join in select.args.get("joins") or ():
        side, kind = str(join.side).upper(), str(join.kind).upper()
        on = join.args.get("on")
        if (
            not _is_plain(join.this)
            or side not in ("", "LEFT")
            or kind not in ("", "INNER", "CROSS", "OUTER")
            or any(join.args.get(one) for one in ("using", "method", "global_", "hint"))
        ):
            return None
        if side == "LEFT":
            if on is None or on.find(exp.Query) is not None:
                return None
            tables.append(CoreSource(_with_condition(join.this, on), outer=True))
        else:
            tables.append(CoreSource(join.this))
            conditions += conjuncts(on) if on is not None else []
    return tables, conditions


def _with_condition(table: exp.Table, on: exp.Expr) -> exp.Table:
    """The table of a LEFT JOIN, with its condition beside it."""
    found = table.copy()
    found.meta["on"] = on
    return found


def _is_plain(node: exp.Expr) -> bool:
    return isinstance(node, exp.Table) and not any(
        value for key, value in node.args.items() if key not in ("this", "db", "alias")
    )


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that AND puts together."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return [*conjuncts(node.this), *conjuncts(node.expression)]
    return [node]


def _disjuncts(node: exp.Expr) -> list[exp.Expr]:
    node = node.unnest()
    if isinstance(node, exp.Or):
        return [*_disjuncts(node.this), *_disjuncts(node.expression)]
    return [node]


def _columns(select: exp.Select, aliases: set[str]) -> list[exp.Column] | None:
    """The columns that the answer is computed from once its rows are found; None where it looks
    at other rows too.
    """
    nodes = list(_after(select))
    if any(one.find(exp.Query) is not None for one in nodes):
        return None
    found = dict.fromkeys(column for one in nodes for column in one.find_all(exp.Column))
    return list(found) if all(one.table in aliases for one in found) else None


def counts(select: exp.Select) -> bool:
    """Does it matter how often a row is found?"""
    aggregates = [one for node in _after(select) for one in node.walk() if puts_together(one)]
    if aggregates or select.args.get("group"):
        return not all(
            isinstance(one, COUNT_NOTHING)
            or (isinstance(one, exp.Count) and isinstance(one.this, exp.Distinct))
            for one in aggregates
        )
    distinct = select.args.get("distinct")
    return distinct is None or bool(distinct.args.get("on"))


def puts_together(node: exp.Expr) -> bool:
    """Does it compute something of several rows?"""
    return isinstance(node, exp.AggFunc | exp.Window)


def _after(select: exp.Select) -> Iterator[exp.Expr]:
    """What is computed once the rows are found."""
    for key in AFTER_ROWS:
        part = select.args.get(key)
        for node in part if isinstance(part, list) else [part]:
            if isinstance(node, exp.Expr):
                yield node


def probe(select: exp.Select) -> Core | None:
    """The core of LIMIT 1 over rows that are all alike: then it matters only whether there is one.
    That they are has to be seen by what is read of it.
    """
    limit = select.args.get("limit")
    if not (
        isinstance(limit, exp.Limit)
        and isinstance(limit.expression, exp.Literal)
        and limit.expression.this == "1"
        and not any(select.args.get(one) for one in ("offset", "group", "having", "qualify"))
        and not any(puts_together(one) for node in select.expressions for one in node.walk())
    ):
        return None
    alike = select.copy()
    for key in ("limit", "order"):
        alike.set(key, None)
    found = cores(alike.distinct(copy=False))
    return found[0] if found is not None and len(found) == 1 else None


# -- outer joins -----------------------------------------------------------------------------------


def _inner(core: Core, conditions: Sequence[exp.Expr]) -> Iterator[Core]:
    """The core as cores without LEFT JOIN, all of which are needed."""
    if not any(one.outer for one in core.sources):
        yield replace(core, conditions=tuple(conditions))
        return
    cases: list[Sequence[exp.Expr]] = [conditions]
    if not core.counted:
        # A set of rows is the union of those that satisfy one alternative each.
        options = [_disjuncts(one) for one in conditions]
        number = 1
        for one in options:
            number *= len(one)
        if number <= MOST_CASES:
            cases = [_flat(case) for case in product(*options)]
    for case in cases:
        yield from _case(core, case)


def _flat(case: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [one for condition in case for one in conjuncts(condition)]


def _case(core: Core, conditions: Sequence[exp.Expr]) -> Iterator[Core]:
    at = next((at for at, one in enumerate(core.sources) if one.outer), None)
    if at is None:
        yield replace(core, conditions=tuple(conditions))
        return
    source = core.sources[at]
    on = source.node.meta["on"]
    later = [one.node.meta["on"] for one in core.sources[at + 1 :] if one.outer]
    mentions = [one for one in conditions if _mentions(one, source.alias)]
    is_later = any(_mentions(one, source.alias) for one in later)
    is_shown = any(one.table == source.alias for one in core.columns)
    inner = replace(source, outer=False)
    with_it = (*core.sources[:at], inner, *core.sources[at + 1 :])
    without = (*core.sources[:at], *core.sources[at + 1 :])
    if any(_rejects(one, source.alias) for one in mentions):
        yield from _case(replace(core, sources=with_it), [*conditions, *conjuncts(on)])
        return
    if not (core.counted or mentions or is_later or is_shown):
        yield from _case(replace(core, sources=without), conditions)
        return
    # Which rows have no partner is seen by those that have one, where all else that is said of a
    # partner is left to be computed.
    if is_later or any(one.find(exp.Query) is not None for one in mentions):
        raise NotSeen
    columns = [
        *core.columns,
        *(one for node in (*mentions, on) for one in node.find_all(exp.Column)),
    ]
    own = [one for one in columns if one.table != source.alias]
    rest = [one for one in conditions if one not in mentions]
    yield from _case(
        replace(core, sources=with_it, columns=tuple(dict.fromkeys(columns))),
        [*rest, *conjuncts(on)],
    )
    yield from _case(replace(core, sources=without, columns=tuple(dict.fromkeys(own))), rest)


class NotSeen(Exception):
    """What an answer is computed from is not seen."""


def _mentions(node: exp.Expr, alias: str) -> bool:
    return any(one.table == alias for one in node.find_all(exp.Column))


def _rejects(condition: exp.Expr, alias: str) -> bool:
    """Is a condition never true where a table has no row?"""
    if condition.find(exp.Query) is not None:
        return False
    if isinstance(condition, exp.Not):
        inner = condition.this.unnest()
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
            return _is_of(inner.this, alias)
        return isinstance(inner, REJECT_NULL) and _is_of(inner.this, alias)
    if not isinstance(condition, REJECT_NULL):
        return False
    sides = [condition.this]
    if isinstance(condition, exp.Binary):
        sides.append(condition.expression)
    return any(_is_of(one, alias) for one in sides)


def _is_of(node: exp.Expr, alias: str) -> bool:
    return isinstance(node, exp.Column) and node.table == alias


# -- views -----------------------------------------------------------------------------------------


def whole_rows(text: str, relations: Relations, dialect: str) -> WholeRows | None:
    """The table of which a view shows whole rows; None where it does more than to choose them.

    It shows each of them as often as it is there, so that they can be counted also without a key.

    >>> from tacit.families.queries.query import Relation
    >>> relations = {"R": Relation("R", ("a", "b"))}
    >>> for text in (
    ...     "SELECT * FROM R WHERE a IN (SELECT a FROM R WHERE b = 7)",
    ...     "SELECT b, a FROM R",
    ...     "SELECT DISTINCT * FROM R",
    ...     "SELECT a FROM R",
    ... ):
    ...     whole_rows(text, relations, "duckdb")
    ('R', (0, 1))
    ('R', (1, 0))
    """
    try:
        tree = sqlglot.parse_one(text, read=dialect)
    except SqlglotError:
        return None
    source = tree.args.get("from_")
    if (
        not isinstance(tree, exp.Select)
        or any(value for key, value in tree.args.items() if key not in CHOOSES)
        or source is None
        or not isinstance(source.this, exp.Table)
        or any(value for key, value in source.this.args.items() if key not in ("this", "alias"))
        or source.this.name not in relations
    ):
        return None
    columns = relations[source.this.name].columns
    shown: list[str] = []
    for one in tree.expressions:
        if isinstance(one, exp.Star) and not any(one.args.values()):
            shown += columns
        elif isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
            if any(one.this.args.values()):
                return None
            shown += columns
        elif isinstance(one, exp.Column):
            shown.append(one.name)
        else:
            return None
    if sorted(shown) != sorted(columns):
        return None
    return source.this.name, tuple(map(columns.index, shown))
