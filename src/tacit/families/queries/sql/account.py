"""Account: what became of every node of a statement.
A node that nobody took makes the query refused (`not-read`).

The reader says of each node that it reads what it was taken for. A subquery is only accounted for
once its rows are among those that a support or a condition is made of: to have looked at it is not
enough.
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from tacit.families.queries.sql.result_rows import ResultRows

Role = Literal["support", "head", "condition", "name", "computed", "order", "limit", "unseen"]

# Parts that are left out on purpose, and why the reading need not have them.
LEFT_OUT: dict[Role, str] = {
    "computed": "the engine computes it from rows that are all taken",
    "order": (
        "the order of rows is said beside the reading, or chooses among rows that are all taken"
    ),
    "limit": "it chooses among rows that are all taken",
    "name": "a name by itself says nothing of rows",
    "unseen": "nobody sees it: only whether there is a row matters",
}


class Account:
    """The roles of the nodes of some trees, and the subqueries that were asked and used."""

    def __init__(self) -> None:
        self.roles: dict[int, Role] = {}
        self._asked: list[tuple[exp.Expr, ResultRows]] = []
        self._used: dict[int, ResultRows] = {}  # held, so that no other rows get their place

    def took(self, role: Role, *nodes: exp.Expr | None) -> None:
        """These nodes, each by itself, were taken for this."""
        for node in nodes:
            if node is not None:
                self.roles[id(node)] = role

    def whole(self, role: Role, *nodes: exp.Expr | None) -> None:
        """These nodes with all that is in them, but for queries, were taken for this."""
        for top in nodes:
            if top is not None:
                for node in top.walk(prune=is_query):
                    if not is_query(node):
                        self.roles[id(node)] = role

    def asked(self, node: exp.Expr, rows: ResultRows) -> ResultRows:
        """A subquery was read; its rows must be used."""
        self._asked.append((node, rows))
        return rows

    def computed_from(self, node: exp.Expr) -> None:
        """What a subquery shows goes into something that is computed:
        all its rows are taken, whatever they show.
        """
        if isinstance(node, exp.SetOperation):
            self.computed_from(node.this)
            self.computed_from(node.expression)
        elif isinstance(node, exp.Subquery):
            self.computed_from(node.this)
        elif isinstance(node, exp.Select):
            self.whole("computed", *node.expressions)

    def used(self, rows: ResultRows) -> None:
        """These rows are among those that the reading is made of."""
        self._used[id(rows)] = rows

    def without(self, role: Role, node: exp.Expr) -> None:
        """Nothing in here matters to rows, subqueries included."""
        for one in node.walk():
            self.roles[id(one)] = role

    def unaccounted(self, tree: exp.Expr) -> exp.Expr | None:
        """A node that nobody took, or a subquery whose rows nobody used;
        None where there is none.
        """
        for node in tree.walk():
            if id(node) not in self.roles:
                return node
        lost = [
            node
            for node, rows in self._asked
            if id(rows) not in self._used and self.roles.get(id(node)) not in ("unseen", "order")
        ]
        return lost[0] if lost else None


def is_query(node: exp.Expr) -> bool:
    """A query inside of an expression is read by itself."""
    return isinstance(node, exp.Query | exp.Values)
