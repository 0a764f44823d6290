"""Full-domain generalization by brute force: every node, every row, every group."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from oracles import microdata

Row = Mapping[str, Any]
Node = tuple[int, ...]
Trees = Mapping[str, Mapping[Any, Sequence[str]]]  # column: value: labels of level 1, 2, ...
Check = tuple[
    Any, ...
    # ("k", 3), ("distinct", 2), ("entropy", Fraction), ("recursive",
    # c, l), ("alpha", a), ("near", t)
]


def nodes(trees: Trees, quasi: Sequence[str]) -> list[Node]:
    """All nodes of the lattice."""
    return list(
        itertools.product(*(range(len(next(iter(trees[name].values()))) + 1) for name in quasi))
    )


def shown(row: Row, trees: Trees, quasi: Sequence[str], node: Node) -> tuple[Any, ...]:
    """What the release shows of a row; a missing value stays missing unless all values read *."""
    labels = []
    for name, level in zip(quasi, node, strict=True):
        if level == 0:
            labels.append(row[name])
        elif row[name] is None:
            labels.append(
                "*" if all(steps[level - 1] == "*" for steps in trees[name].values()) else None
            )
        else:
            labels.append(trees[name][row[name]][level - 1])
    return tuple(labels)


def groups(rows: Sequence[Row], trees: Trees, quasi: Sequence[str], node: Node) -> list[list[Row]]:
    """Rows that look alike."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(shown(row, trees, quasi, node), []).append(row)
    return list(found.values())


def fits(group: Sequence[Row], check: Check, table: Sequence[Row], sensitive: str) -> bool:
    """Does one group meet a check, by its definition?"""
    kind, *parameters = check
    if kind == "k":
        return len(group) >= parameters[0]
    counts = Counter(row[sensitive] for row in group if row[sensitive] is not None)
    if kind == "distinct":
        return len(counts) >= parameters[0]
    if kind == "entropy":
        return bool(counts) and microdata.entropy_holds(counts.values(), parameters[0])
    if kind == "recursive":
        return microdata.recursive_holds(counts.values(), *parameters)
    if kind == "near":
        whole = Counter(row[sensitive] for row in table if row[sensitive] is not None)
        known, all_known = sum(counts.values()), sum(whole.values())
        if not known:
            return False  # nothing known counts as the worst there is
        return (
            sum(abs(Fraction(counts[v], known) - Fraction(whole[v], all_known)) for v in whole) / 2
            <= parameters[0]
        )
    raise ValueError(kind)


def passes(
    rows: Sequence[Row],
    trees: Trees,
    quasi: Sequence[str],
    node: Node,
    checks: Sequence[Check],
    sensitive: str,
    suppress: int = 0,
) -> int | None:
    """How many rows go when groups that fail are dropped until none fails;
    None where that is too many, or all.
    """
    kept = list(rows)
    while True:
        parts = groups(kept, trees, quasi, node)
        good = [
            part for part in parts if all(fits(part, check, kept, sensitive) for check in checks)
        ]
        if len(good) == len(parts):
            break
        kept = [row for part in good for row in part]
        if len(rows) - len(kept) > suppress:
            return None
    return len(rows) - len(kept) if kept else None


def loss(
    rows: Sequence[Row], trees: Trees, quasi: Sequence[str], node: Node, dropped: Sequence[Row] = ()
) -> float:
    """The geometric mean of 1 + share, less 1;
    share: the mean over rows of (leaves under the label - 1)/(leaves - 1).
    """
    product = 1.0
    for name, level in zip(quasi, node, strict=True):
        leaves = len(trees[name])
        if leaves < 2:
            continue
        under = Counter(
            steps[level - 1] if level else value for value, steps in trees[name].items()
        )
        gone = {id(row) for row in dropped}
        lost = sum(
            leaves - 1
            if id(row) in gone
            else under[trees[name][row[name]][level - 1] if level else row[name]] - 1
            for row in rows
        )
        product *= 1 + float(Fraction(lost, (leaves - 1) * len(rows)))
    return math.pow(product, 1 / len(quasi)) - 1


def minimal(found: Sequence[Node]) -> set[Node]:
    """Those with no other below."""
    return {
        node
        for node in found
        if not any(
            other != node and all(a <= b for a, b in zip(other, node, strict=True))
            for other in found
        )
    }
