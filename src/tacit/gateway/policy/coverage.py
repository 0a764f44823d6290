"""Coverage: can an answer be computed from what a role is shown?

The answer is a function of a few cores (`cores`); each is read as conjunctive queries, and each of
these has to be determined by the views of the role (`determinacy`), or be put together from them
row by row (`covering`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from tacit.errors import QueryError
from tacit.families.queries.logic.covering import covers
from tacit.families.queries.logic.determinacy import (
    ShownBodies,
    has_one_row,
    is_counted,
    is_determined,
    with_keys,
)
from tacit.families.queries.logic.tableau import Rules
from tacit.families.queries.query import Conjunctive, Constant, Query
from tacit.families.queries.sql.sql_reader import read_tree
from tacit.families.queries.understanding import QueryText
from tacit.gateway.policy.cores import Core, cores, counts, probe
from tacit.model.deadline import Deadline

SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Covering:
    """Decides what is covered by some views; names in trees are written out."""

    rules: Rules
    dialect: str
    shown: ShownBodies
    source: QueryText
    deadline: Deadline
    readings: dict[str, Query | None] = field(default_factory=dict)

    def query(self, tree: exp.Expr) -> bool:
        """Is the answer of a query covered?"""
        if isinstance(tree, exp.Subquery):
            return not tree.args.get("with_") and _orders_by_place(tree) and self.query(tree.this)
        if isinstance(tree, exp.SetOperation):
            return (
                not tree.args.get("with_")
                and _orders_by_place(tree)
                and self.query(tree.this)
                and self.query(tree.expression)
            )
        if not isinstance(tree, exp.Select):
            return False
        return self._as_read(tree) or self._by_cores(tree) or self._by_parts(tree)

    def _as_read(self, tree: exp.Select) -> bool:
        # What is read has no order: one by columns that are not shown would tell more.
        exact = self.read(tree) if _orders_by_place(tree) else None
        return exact is not None and self._exact(exact, counts(tree))

    def read(self, tree: exp.Select) -> Query | None:
        """What a tree says, where that is read exactly."""
        text = self._text(tree)
        if text not in self.readings:
            self.readings[text] = self._read(tree)
        return self.readings[text]

    def knowing(self, tree: exp.Expr, exact: Query | None) -> Covering:
        """The same, where it is known already what a tree says."""
        self.readings[self._text(tree)] = exact
        return self

    def _text(self, tree: exp.Expr) -> str:
        return tree.sql(dialect=self.dialect, comments=False)

    def _read(self, tree: exp.Select) -> Query | None:
        try:
            return read_tree(
                tree, self.source, self.rules.relations, name="query", dialect=self.dialect
            ).exact
        except QueryError:
            return None

    def _exact(self, query: Query, counted: bool) -> bool:
        """Are all parts covered? `counted`: with how often each row is there. A query may be read
        as a set where all columns of a table are shown, but rows without a key can be there twice.
        """
        return all(
            self._is_determined(part, counted)
            or (query.bag == counted and self._is_put(part, counted))
            for part in query.parts
        )

    def _is_determined(self, part: Conjunctive, counted: bool) -> bool:
        told = with_keys(part, self.rules.relations) if counted else part
        return told is not None and is_determined(told, self.shown, self.rules, self.deadline)

    def _is_put(self, part: Conjunctive, counted: bool) -> bool:
        """Can it be put together from views row by row?"""
        whole = Query("query", (part,), counted)
        return covers(whole, self.shown.views, self.rules.relations) is not None

    # -- cores -------------------------------------------------------------------------------------

    def _by_cores(self, tree: exp.Select) -> bool:
        one = probe(tree)
        if one is not None and self._is_one_row(one):
            return True
        found = cores(tree)
        return bool(found) and all(self._core(one) for one in found or ())

    def _is_one_row(self, core: Core) -> bool:
        """Are all rows of a core alike, and is it known whether there is one?"""
        exact = self.read(core.tree())
        if exact is None or not self._exact(exact, False):
            return False
        if len(exact.parts) == 1:
            return has_one_row(exact.parts[0], self.rules.relations)
        heads = {part.head for part in exact.parts}
        return len(heads) == 1 and all(isinstance(term, Constant) for term in heads.pop())

    def _core(self, core: Core) -> bool:
        return self._rows(core) or self._filtered(core)

    def _rows(self, core: Core) -> bool:
        keyless = core.counted and not core.has_keys(self.rules.relations)
        if keyless and self._is_counted(core):
            return True
        exact = self.read(core.tree())
        if exact is not None and self._exact(exact, core.counted):
            return True
        if keyless or not core.counted:
            return False
        keyed = self.read(core.tree(keys=self.rules.relations))
        return keyed is not None and self._exact(keyed, False)

    def _is_counted(self, core: Core) -> bool:
        """Are these rows of a table without a key covered, each as often as it is there?"""
        if len(core.sources) > 1 or core.table not in self.rules.relations:
            return False
        exact = self.read(core.of_whole_rows(self.rules.relations).tree())
        return (
            exact is not None
            and self._exact(exact, False)
            and all(
                is_counted(part, core.table, self.shown, self.rules, self.deadline)
                for part in exact.parts
            )
        )

    def _filtered(self, core: Core) -> bool:
        """Is it covered without the conditions that are not read exactly?"""
        left = core
        for at in reversed(range(len(core.conditions))):
            alone = replace(core, conditions=(core.conditions[at],))
            if self.read(replace(alone, counted=False).tree()) is None:
                wider = left.without(at)
                if wider is None:
                    return False
                left = wider
        return left is not core and self._rows(left)

    # -- queries of queries ------------------------------------------------------------------------

    def _by_parts(self, tree: exp.Select) -> bool:
        """Are all queries covered that this one is computed from?"""
        first = tree.args.get("from_")
        sources = [first.this] if first is not None else []
        sources += [one.this for one in tree.args.get("joins") or ()]
        inner = [one for one in _queries(tree) if not any(one is other for other in sources)]
        if tree.args.get("with_") or not any(isinstance(one, exp.Subquery) for one in sources):
            return False
        if not all(isinstance(one, exp.Subquery) for one in sources):
            return False
        return all(_is_closed(one) and self.query(one) for one in (*sources, *inner))


def _orders_by_place(tree: exp.Expr) -> bool:
    order = tree.args.get("order")
    return order is None or all(isinstance(one.this, exp.Literal) for one in order.expressions)


def _queries(tree: exp.Select) -> Sequence[exp.Expr]:
    """The queries directly inside of another one."""
    found = []
    pending = list(tree.iter_expressions())
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Query):
            found.append(node)
        else:
            pending += list(node.iter_expressions())
    return found


def _is_closed(tree: exp.Expr) -> bool:
    """Does a query name columns of its own tables only?"""
    own = {one.alias_or_name for one in tree.find_all(exp.Table, exp.Subquery, exp.Values)}
    return all(one.table in own for one in tree.find_all(exp.Column))
