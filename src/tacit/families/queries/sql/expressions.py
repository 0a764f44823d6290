"""Expressions of SQL: values and conditions, read as far as they can be said about columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.kinds import Clash, day, family, family_of, fitted, moment, number
from tacit.families.queries.query import NULL, Constant, Term
from tacit.families.queries.sql import truth
from tacit.families.queries.sql.account import Account, Role, is_query
from tacit.families.queries.sql.aliases import DialectClause
from tacit.families.queries.sql.approximations import APPROXIMATED, HINTS
from tacit.families.queries.sql.bodies import OPAQUE, Entry, Fresh, Opaque
from tacit.families.queries.sql.functions import code_of, refusal
from tacit.families.queries.sql.name_scope import SqlScope, shown, start_of
from tacit.families.queries.sql.result_rows import ResultRows
from tacit.families.queries.sql.truth import Dependence, Formula
from tacit.families.queries.understanding import Approximation

Operator = Literal["=", "!=", "<", "<="]
COMPARISONS: dict[type[exp.Expr], tuple[Operator, bool]] = {
    exp.EQ: ("=", False),
    exp.NEQ: ("!=", False),
    exp.LT: ("<", False),
    exp.LTE: ("<=", False),
    exp.GT: ("<", True),
    exp.GTE: ("<=", True),
}
CONSTANT_KINDS = {
    "number": "decimal",
    "text": "text",
    "date": "date",
    "timestamp": "timestamp",
    "boolean": "boolean",
}
WORDS = {
    "number": "a number",
    "text": "text",
    "date": "a date",
    "timestamp": "a timestamp",
    "boolean": "true or false",
}
TOO_LARGE = 10**30
EXACT_DIGITS = 18
SHORT = 10**9  # what fits beside the digits of every decimal


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression: a column, a constant, or something
    opaque that may look into subqueries.
    """

    entry: Entry
    kind: str | None = None
    depends: tuple[Dependence, ...] = ()

    @property
    def family(self) -> str | None:
        """What it is compared as."""
        return (
            family_of(self.entry.value) if isinstance(self.entry, Constant) else family(self.kind)
        )


class Notes:
    """What was not read exactly; `counts` matters only where nothing else
    is wrong but how often rows occur.
    """

    def __init__(self) -> None:
        self.found: list[Approximation] = []
        self.counts: list[Approximation] = []
        self.converts = False  # somewhere, whether or not it matters to what is read


class Expressions:
    """Reads values and conditions in one scope.
    `subquery` reads a query in it: (query, bag, only whether it has rows).
    """

    def __init__(
        self,
        scope: SqlScope,
        dialect: str,
        notes: Notes,
        fresh: Fresh,
        subquery: Callable[[exp.Expr, SqlScope, bool, bool], ResultRows],
        account: Account,
    ) -> None:
        self.scope = scope
        self.dialect = dialect
        self.notes = notes
        self.fresh = fresh
        self.subquery = subquery
        self.account = account
        self.role: Role = "condition"  # what plain values and conditions are taken for here
        self.aliases_open: set[str] = set()
        self.aggregates = False  # may aggregates and windows be called here?

    @property
    def standard_rows(self) -> bool:
        """Does (a, b) = (c, d) mean a = c AND b = d? DuckDB and Spark compare structs, where
        NULL may equal NULL.
        """
        return self.dialect == "postgres"

    # -- values

    def value(self, node: exp.Expr) -> Value:
        """The value of an expression."""
        if isinstance(node, exp.Paren) and only(node, "this"):
            self.account.took(self.role, node)
            return self.value(node.this)
        if (
            isinstance(node, exp.Column)
            and only(node, "this", "table", "db")
            and isinstance(node.this, exp.Identifier)
        ):
            return self._column(node)
        constant = self.constant(node)
        if constant is not None:
            self.account.whole(self.role, node)
            # 1.0 equals 1, but is a number with a point to the database,
            # which shows one or the other.
            pointed = any(
                not one.is_string and not one.this.isdecimal() for one in node.find_all(exp.Literal)
            )
            whole = (
                isinstance(constant.value, int)
                and not isinstance(constant.value, bool)
                and not pointed
            )
            return Value(
                constant,
                "integer" if whole else CONSTANT_KINDS.get(family_of(constant.value) or ""),
            )
        return self.unread(node)

    def _column(self, node: exp.Column) -> Value:
        self.account.whole(self.role, node)
        name = node.name.lower()
        meant = self.scope.alias(node) if name not in self.aliases_open else None
        if meant is not None:
            self.aliases_open.add(name)
            try:
                return self.value(meant)
            finally:
                self.aliases_open.discard(name)
        found = self.scope.find(node)
        return Value(found.slot, found.kind)

    def constant(self, node: exp.Expr) -> Constant | None:
        """The constant that an expression is, if it plainly is one."""
        if isinstance(node, exp.Paren) and only(node, "this"):
            return self.constant(node.this)
        if isinstance(node, exp.Literal):
            return (
                Constant(node.this if node.is_string else number(node.this))
                if _written(node) and self._is_exact(node)
                else None
            )
        if isinstance(node, exp.Boolean):
            return Constant(bool(node.this))
        if isinstance(node, exp.Null):
            return NULL
        if isinstance(node, exp.Neg):
            inner = self.constant(node.this)
            return (
                Constant(-inner.value)
                if inner is not None and family_of(inner.value) == "number"
                else None
            )
        if isinstance(node, exp.Add | exp.Sub | exp.Mul):
            return self._sum(node)
        return self._cast(node) if isinstance(node, exp.Cast) else None

    def _is_exact(self, node: exp.Literal) -> bool:
        """Is a number what it is written as? But for PostgreSQL databases round what has an
        exponent or very many digits.
        """
        if node.is_string or self.dialect == "postgres":
            return True
        return (
            "e" not in node.this.lower() and sum(one.isdigit() for one in node.this) <= EXACT_DIGITS
        )

    def _sum(self, node: exp.Binary) -> Constant | None:
        """Arithmetic on whole numbers that are written down: 1999 + 1."""
        left, right = self.constant(node.this), self.constant(node.expression)
        if left is None or right is None or not only(node, "this", "expression"):
            return None
        one, other = left.value, right.value
        if not all(
            isinstance(v, int) and not isinstance(v, bool) and abs(v) < TOO_LARGE
            for v in (one, other)
        ):
            return None
        if isinstance(node, exp.Add):
            return Constant(one + other)
        return Constant(one - other if isinstance(node, exp.Sub) else one * other)

    @staticmethod
    def _cast(node: exp.Cast) -> Constant | None:
        """DATE '1994-01-01' and its like."""
        if not (
            isinstance(node.this, exp.Literal) and node.this.is_string and only(node, "this", "to")
        ):
            return None
        written, to = node.this.this, node.to.this
        found: dt.date | None = None
        if to == exp.DataType.Type.DATE:
            found = day(written)
        elif to in (
            exp.DataType.Type.TIMESTAMP,
            exp.DataType.Type.TIMESTAMPNTZ,
            exp.DataType.Type.DATETIME,
        ):
            found = moment(written)
        return Constant(found) if found is not None and not node.to.expressions else None

    # -- what is left to the engine

    def unread(self, node: exp.Expr, code: str | None = None) -> Value:
        """An expression that is left to the engine:
        noted, its names checked, its subqueries read.
        """
        while isinstance(node, exp.Paren):
            self.account.took("computed", node)
            node = node.this
        self.note(code or code_of(node), node)
        return Value(OPAQUE, self._kind_of(node), self.looked_at(node))

    def left_out(self, node: exp.Expr, depends: tuple[Dependence, ...] = ()) -> Formula:
        """A condition that is left to the engine, after its parts were read."""
        self.account.whole("computed", node)
        return truth.Unread(depends)

    def _kind_of(self, node: exp.Expr) -> str | None:
        """The type of what is left to the engine, where it is plain."""
        if isinstance(node, exp.Count):
            return "integer"
        if (
            isinstance(node, exp.Min | exp.Max)
            and isinstance(node.this, exp.Column)
            and not node.expressions
        ):
            return self._within(node)._quietly(node.this).kind
        return None

    def _quietly(self, node: exp.Column) -> Value:
        """A column's value; what an alias stands for was noted where it stands."""
        kept = len(self.notes.found)
        found = self._column(node)
        del self.notes.found[kept:]
        return found

    def _within(self, node: exp.Expr) -> Expressions:
        """A reader of what stands inside of a node: names may mean something else there."""
        clause = self.scope.clause
        if clause is None or isinstance(node, exp.Paren):
            return self
        inside = clause.inside
        if clause.place == "having" and isinstance(node, exp.AggFunc):
            inside = DialectClause(clause.dialect, "having, inside an aggregate")
        if inside == clause:
            return self
        found = copy(self)
        found.scope = replace(self.scope, clause=inside)
        return found

    def rows_of(self, node: exp.Expr, only_exists: bool) -> ResultRows:
        """The rows of a subquery that stands in an expression."""
        return self.account.asked(node, self.subquery(node, self.scope, False, only_exists))

    def note(self, code: str, node: exp.Expr, *, counts: bool = False) -> None:
        """Keep a fragment that is not read exactly."""
        line, column = self.scope.text.place(start_of(node) or 0)
        fragment = shown(node, self.dialect)
        found = Approximation(code, fragment, APPROXIMATED[code], line, column)
        self.notes.converts |= code == "implicit-cast"
        (self.notes.counts if counts else self.notes.found).append(found)

    def looked_at(self, node: exp.Expr) -> tuple[Dependence, ...]:
        """Check every name and function of an expression; the subqueries that it looks into."""
        if is_query(node):
            rows = self.rows_of(node, False)
            self.account.computed_from(node)
            return (Dependence(rows, self.fresh.slots(len(rows.columns))),)
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            if not only(node, "this", "table", "db"):
                raise self.refused(
                    "not-read", f"{shown(node, self.dialect)} is not a plain column", node
                )
            found = self._quietly(node).depends
            self.account.whole("computed", node)
            return found
        self.check(node)
        self.account.took("computed", node)
        inside = self._within(node)
        return tuple(found for child in self._children(node) for found in inside.looked_at(child))

    def _children(self, node: exp.Expr) -> Iterator[exp.Expr]:
        for child in node.iter_expressions():
            if isinstance(child, exp.DataType | exp.Var | exp.Identifier):
                self.account.whole("computed", child)
            else:
                yield child

    def check(self, node: exp.Expr) -> None:
        """Refuse what cannot stand in a query that is read."""
        if isinstance(node, exp.Window | exp.WindowSpec):
            if not self.aggregates:
                raise self.refused(
                    "misplaced", f"{shown(node, self.dialect)} cannot stand here", node
                )
            return
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            raise self.refused(
                "not-read", f"* cannot stand in {shown(node.parent or node, self.dialect)}", node
            )
        reason = refusal(node, self.dialect)
        if reason is not None:
            raise self.refused(*reason, node)
        if isinstance(node, exp.AggFunc) and not self.aggregates:
            raise self.refused("misplaced", f"{shown(node, self.dialect)} cannot stand here", node)
        if isinstance(node, exp.AggFunc) and not self._is_of_this_query(node):
            raise self.refused(
                "not-read",
                f"{shown(node, self.dialect)} may be an aggregate of the query around",
                node,
            )

    def _is_of_this_query(self, node: exp.AggFunc) -> bool:
        """Is an aggregate computed over the rows of this query? One of columns of the query
        around alone is computed there.
        """
        whole: exp.Expr = node
        while isinstance(
            whole.parent, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls
        ):
            whole = whole.parent
        if isinstance(whole.parent, exp.Window) and whole.arg_key == "this":
            return True
        parts = list(whole.walk(prune=is_query))
        columns = [
            one
            for one in parts
            if isinstance(one, exp.Column) and not isinstance(one.this, exp.Star)
        ]
        own = any(
            self.scope.columns(one) or (not one.table and one.name.lower() in self.scope.aliases)
            for one in columns
        )
        return own or (not columns and not any(map(is_query, parts)))

    def refused(self, code: str, why: str, node: exp.Expr) -> QueryError:
        """The error for something that is not read at all."""
        return QueryError(
            f"{why}.", code=code, hint=HINTS.get(code), mark=self.scope.text.mark(start_of(node))
        )

    # -- conditions

    def formula(self, node: exp.Expr, positive: bool = True) -> Formula:
        """A condition; `positive` says that it matters only where it is true."""
        self.account.took(self.role, node)
        if isinstance(node, exp.Paren) and only(node, "this"):
            return self.formula(node.this, positive)
        if isinstance(node, exp.And | exp.Or) and only(node, "this", "expression"):
            return self._connected(node, positive)
        if isinstance(node, exp.Not) and only(node, "this"):
            return truth.Not(self.formula(node.this, not positive))
        kind = type(node)
        if kind in COMPARISONS and only(node, "this", "expression"):
            return self._comparison(node, positive)
        for known, read in self._readers().items():
            if isinstance(node, known):
                return read(node, positive)
        return self._plain(node)

    def _readers(self) -> dict[type[exp.Expr], Callable[..., Formula]]:
        return {
            exp.Is: self._is,
            exp.In: self._in,
            exp.Between: self._between,
            exp.Exists: self._exists,
            exp.NullSafeEQ: self._same,
            exp.NullSafeNEQ: self._same,
        }

    def _connected(self, node: exp.Expr, positive: bool) -> Formula:
        """AND and OR, without recursion along long chains."""
        parts: list[exp.Expr] = []
        todo = [node]
        while todo:
            one = todo.pop()
            if type(one) is type(node) and only(one, "this", "expression"):
                self.account.took(self.role, one)
                todo += [one.expression, one.this]
            else:
                parts.append(one)
        found = [self.formula(one, positive) for one in parts]
        joint: Callable[[Formula, Formula], Formula] = (
            truth.Both if isinstance(node, exp.And) else truth.Either
        )
        return _balanced(joint, found)

    def _plain(self, node: exp.Expr) -> Formula:
        """Something that is true or false by itself: a column, TRUE, a function."""
        value = self.value(node)
        if value.entry == NULL:
            return truth.Constantly("U")
        if isinstance(value.entry, Constant) and isinstance(value.entry.value, bool):
            return truth.Constantly("T" if value.entry.value else "F")
        if isinstance(value.entry, Opaque):
            return self.left_out(node, value.depends)
        if value.family == "boolean":
            return truth.Compare(value.entry, "=", Constant(True))
        return self._left_to_engine(node, "implicit-cast")

    def _left_to_engine(self, node: exp.Expr, code: str) -> Formula:
        self.note(code, node)
        return self.left_out(node)

    def _comparison(self, node: exp.Expr, positive: bool) -> Formula:
        operator, turned = COMPARISONS[type(node)]
        left, right = node.this, node.expression
        if (
            isinstance(right, exp.Any)
            and operator == "="
            and only(right, "this")
            and is_query(right.this)
        ):
            self.account.took(self.role, right)
            return self._in_query(node, [left], right.this, positive)
        if isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple) and operator in ("=", "!="):
            self.account.took(self.role, left, right)
            return self._tuples(node, left.expressions, right.expressions, operator)
        return self._compared(node, self.value(left), operator, self.value(right), turned)

    def _tuples(
        self, node: exp.Expr, left: Sequence[exp.Expr], right: Sequence[exp.Expr], operator: str
    ) -> Formula:
        if len(left) != len(right):
            raise self.refused(
                "arity",
                f"{shown(node, self.dialect)} compares {len(left)} with {len(right)} values",
                node,
            )
        equal: Formula = truth.Constantly("T")
        for one, other in zip(left, right, strict=True):
            equal = truth.both(
                equal, self._compared(node, self.value(one), "=", self.value(other), False)
            )
        if not self.standard_rows:
            equal = truth.both(_nulls_meet(equal), truth.Unread())
            self.note("row-value", node)
        return equal if operator == "=" else truth.Not(equal)

    def _compared(
        self, node: exp.Expr, left: Value, operator: Operator, right: Value, turned: bool
    ) -> Formula:
        found = self.pair(node, left, right, ordered=operator in ("<", "<="))
        if found is None:
            return self.left_out(node, left.depends + right.depends)
        one, other = found
        return (
            truth.Compare(other, operator, one) if turned else truth.Compare(one, operator, other)
        )

    def pair(
        self, node: exp.Expr, left: Value, right: Value, *, ordered: bool = False
    ) -> tuple[Term, Term] | None:
        """Two values brought to one kind; None where only the engine can compare them."""
        if isinstance(left.entry, Opaque) or isinstance(right.entry, Opaque):
            self.notes.converts |= left.family is None or left.family != right.family
            return None
        self.notes.converts |= self._may_convert(left, right) or self._may_convert(right, left)
        one, other = self._fit(node, left, right), self._fit(node, right, left)
        if one is None or other is None:
            self.note("implicit-cast", node)
            return None
        # PostgreSQL sorts text by the rules of a language; only it knows which.
        if ordered and self.dialect == "postgres" and "text" in (left.family, right.family):
            self.note("collation", node)
            return None
        return one, other

    def _may_convert(self, value: Value, beside: Value) -> bool:
        """Could the database fail to bring the one to the type of the other, although the
        comparison itself is plain?

        A quoted number may not fit the column. Decimals have up to 38 digits (not in PostgreSQL):
        a column that is brought to the digits of the other side may not fit either.
        """
        if value.family == "text" and beside.family == "number":
            return True
        if self.dialect == "postgres" or value.family != "number" or beside.family != "number":
            return False
        if isinstance(value.entry, Constant):
            return not isinstance(value.entry.value, int) or (
                abs(value.entry.value) >= SHORT and beside.kind == "decimal"
            )
        return "decimal" in (value.kind, beside.kind) and not isinstance(beside.entry, Constant)

    def _fit(self, node: exp.Expr, value: Value, beside: Value) -> Term | None:
        """A value as it is compared with the one beside it."""
        assert not isinstance(value.entry, Opaque)
        if value.family is None or beside.family is None or value.family == beside.family:
            return value.entry
        if not isinstance(value.entry, Constant):
            # A constant beside a column takes the column's kind, never the reverse.
            return value.entry if isinstance(beside.entry, Constant) else None
        kind = (
            CONSTANT_KINDS.get(beside.family) if isinstance(beside.entry, Constant) else beside.kind
        )
        if isinstance(beside.entry, Constant):
            return None
        try:
            fits, fit = fitted(value.entry.value, kind)
        except Clash:
            written = shown(node, self.dialect)
            raise QueryError(
                f"{written} compares {WORDS.get(beside.family, beside.family)} with {value.entry}.",
                code="type-clash",
                hint=f"Write {WORDS.get(beside.family, beside.family)}, or correct the column.",
                mark=self.scope.text.mark(start_of(node)),
            ) from None
        return Constant(fit) if fits else None

    def _same(self, node: exp.Binary, positive: bool) -> Formula:
        left, right = self.value(node.this), self.value(node.expression)
        found = self.pair(node, left, right)
        formula: Formula = (
            self.left_out(node, left.depends + right.depends)
            if found is None
            else truth.IsSame(*found)
        )
        return formula if isinstance(node, exp.NullSafeEQ) else truth.Not(formula)

    def _is(self, node: exp.Is, positive: bool) -> Formula:
        right = node.expression
        turned = bool(node.args.get("negate"))
        formula: Formula
        if isinstance(right, exp.Null) and only(node, "this", "expression", "negate"):
            self.account.took(self.role, right)
            value = self.value(node.this)
            formula = (
                self.left_out(node, value.depends)
                if isinstance(value.entry, Opaque)
                else truth.IsNull(value.entry)
            )
        elif isinstance(right, exp.Boolean) and only(node, "this", "expression", "negate"):
            self.account.took(self.role, right)
            formula = truth.Is(
                self.formula(node.this, False), truth.TRUE if right.this else truth.FALSE
            )
        else:
            formula = truth.Unread(self.unread(node).depends)
        return truth.Not(formula) if turned else formula

    def _between(self, node: exp.Between, positive: bool) -> Formula:
        if not only(node, "this", "low", "high"):
            return truth.Unread(self.unread(node).depends)
        value = self.value(node.this)
        low = self._compared(node, self.value(node.args["low"]), "<=", value, False)
        return truth.Both(
            low, self._compared(node, value, "<=", self.value(node.args["high"]), False)
        )

    def _exists(self, node: exp.Exists, positive: bool) -> Formula:
        if not only(node, "this") or not is_query(node.this):
            return truth.Unread(self.unread(node).depends)
        rows = self.rows_of(node.this, True)
        self.note("semijoin" if positive else "not-exists", node, counts=positive)
        return truth.Exists(rows, self.fresh.slots(len(rows.columns)))

    def _in(self, node: exp.In, positive: bool) -> Formula:
        query = node.args.get("query")
        left = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        if isinstance(node.this, exp.Tuple):
            self.account.took(self.role, node.this)
        if query is not None and only(node, "this", "query"):
            return self._in_query(node, left, query, positive)
        if not only(node, "this", "expressions"):
            return truth.Unread(self.unread(node).depends)
        items = node.expressions
        if len(items) == 1 and is_query(items[0]):
            return self._in_query(node, left, items[0], positive)
        if isinstance(node.this, exp.Tuple):
            return self._in_tuples(node, left, items)
        return self._in_list(node, items)

    def _in_tuples(
        self, node: exp.In, left: Sequence[exp.Expr], items: Sequence[exp.Expr]
    ) -> Formula:
        formula: Formula = truth.Constantly("F")
        for item in items:
            if not isinstance(item, exp.Tuple):
                return truth.Unread(self.unread(node).depends)
            self.account.took(self.role, item)
            formula = truth.Either(formula, self._tuples(node, left, item.expressions, "="))
        return formula

    def _in_list(self, node: exp.In, items: Sequence[exp.Expr]) -> Formula:
        value = self.value(node.this)
        others = [self.value(item) for item in items]
        if isinstance(value.entry, Opaque):
            return self.left_out(
                node, tuple(one for other in (value, *others) for one in other.depends)
            )
        formulas = [self._compared(node, value, "=", other, False) for other in others]
        constants = [one.right for one in formulas if isinstance(one, truth.Compare)]
        if len(constants) == len(formulas) and all(
            isinstance(one, Constant) and one != NULL for one in constants
        ):
            return truth.Among(
                value.entry,
                tuple(dict.fromkeys(one for one in constants if isinstance(one, Constant))),
            )
        return _balanced(truth.Either, formulas)

    def _in_query(
        self, node: exp.Expr, left: Sequence[exp.Expr], query: exp.Expr, positive: bool
    ) -> Formula:
        rows = self.rows_of(query, False)
        if len(rows.columns) != len(left):
            raise self.refused(
                "arity", f"IN compares {len(left)} with {len(rows.columns)} columns", node
            )
        slots = self.fresh.slots(len(rows.columns))
        self.note("semijoin" if positive else "not-in", node, counts=positive)
        values = [self.value(one) for one in left]
        depends = tuple(one for value in values for one in value.depends)
        terms: list[Term] = []
        for value, slot, column in zip(values, slots, rows.columns, strict=True):
            found = self.pair(node, value, Value(slot, column.kind))
            if found is None:
                self.account.whole("computed", node)
                self.account.computed_from(query)
                plain = truth.InRows(None, rows, slots)
                return truth.Both(plain, truth.Unread(depends)) if depends else plain
            terms.append(found[0])
        nulls_meet = len(terms) > 1 and not self.standard_rows
        if nulls_meet:
            self.note("row-value", node)
        return truth.InRows(tuple(terms), rows, slots, nulls_meet)


def _balanced(joint: Callable[[Formula, Formula], Formula], parts: Sequence[Formula]) -> Formula:
    """All parts joined in a tree of little depth, so that long chains need no deep recursion."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return joint(_balanced(joint, parts[:middle]), _balanced(joint, parts[middle:]))


def _nulls_meet(formula: Formula) -> Formula:
    """The same conjunction of equalities, with NULL equal to NULL."""
    if isinstance(formula, truth.Both):
        return truth.Both(_nulls_meet(formula.left), _nulls_meet(formula.right))
    return (
        truth.IsSame(formula.left, formula.right) if isinstance(formula, truth.Compare) else formula
    )


def is_limited(node: exp.Expr) -> bool:
    """Has a query a LIMIT or an OFFSET?"""
    return bool(node.args.get("limit") or node.args.get("offset"))


def only(node: exp.Expr, *allowed: str) -> bool:
    """Has the node no other parts than these? sqlglot adds parts with every version;
    none is passed over.
    """
    return not any(value for name, value in node.args.items() if name not in allowed)


def _written(node: exp.Literal) -> bool:
    """Is a literal one that we can take exactly?"""
    if node.is_string:
        return True
    try:
        return len(node.this) <= 60 and -(10**60) < number(node.this) < 10**60
    except (ArithmeticError, ValueError):
        return False
