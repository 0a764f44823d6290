"""Shape: what queries share that differ only in the constants that columns are compared with."""

from __future__ import annotations

import hashlib

from sqlglot import exp

from tacit.gateway.policy.asker import Landmarks, orders_texts
from tacit.gateway.policy.bindings import BoundRole

COMPARES = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In, exp.Between)


def shape(tree: exp.Query, bound: BoundRole, marks: Landmarks) -> str:
    """One name for queries that are decided alike: the same text but for constants, which compare
    alike with the constants of the role, with the user's values and among each other.
    """
    found = tree.copy()
    ordered = orders_texts(tree)
    values = list(bound.values.values())
    for node in list(found.find_all(exp.Literal)):
        if _is_compared(node):
            values.append(str(node.this))
            kind = "text" if node.is_string else "number"
            node.replace(exp.Placeholder(this=f"{kind}_{len(values)}"))
    said = (bound.role.name, found.sql(comments=False), marks.pattern(values, ordered=ordered))
    return hashlib.sha256(repr(said).encode()).hexdigest()


def _is_compared(node: exp.Expr) -> bool:
    above = node.parent
    if not isinstance(above, COMPARES):
        return False
    sides = [above.this, above.args.get("expression")]
    return any(isinstance(one, exp.Column) for one in sides)
