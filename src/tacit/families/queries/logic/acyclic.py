"""Acyclic: joins decided by their shape, without guessing.

A join is acyclic if its tables can be taken away one by one, each sharing its common variables with
one that stays (Graham; Yu and Ozsoyoglu). Then semijoins along that tree decide it. A join of small
width becomes acyclic when the tables of each bag of a tree decomposition are joined first. What is
left is searched, with propagation after every choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import and_, itemgetter
from typing import Any

from tacit.model.deadline import look

Check = Callable[[int, int, int], bool]
Row = tuple[int, ...]
WIDTH = 4  # bags with more variables than this are searched instead of listed,
BAG_ROWS = 20_000  # and so are bags with more rows than this


@dataclass(slots=True)
class TermTable:
    """Rows over some variables, each with the number of the fact it came from."""

    scope: tuple[int, ...]
    rows: dict[tuple[int, ...], int]


def join_tree(scopes: Sequence[Sequence[int]]) -> list[tuple[int, int]] | None:
    """The tables in the order in which they can be taken away, each with its parent (-1: none);
    None if cyclic.

    >>> join_tree([(1, 2), (2, 3), (3, 4)])
    [(0, 1), (1, 2), (2, -1)]
    >>> join_tree([(1, 2), (2, 3), (3, 1)]) is None
    True
    """
    edges = {number: set(scope) for number, scope in enumerate(scopes)}
    holders: dict[int, set[int]] = {}
    for number, scope in edges.items():
        for variable in scope:
            holders.setdefault(variable, set()).add(number)
    order: list[tuple[int, int]] = []
    waiting = sorted(edges, reverse=True)
    while waiting:
        number = waiting.pop()
        if number not in edges:
            continue
        parent = _parent(number, edges[number], holders)
        if parent is None:
            continue
        order.append((number, parent))
        touched: set[int] = set()
        for variable in edges.pop(number):
            holders[variable].discard(number)
            touched |= holders[variable]
        waiting += sorted(touched, reverse=True)
    return None if edges else order


def _parent(number: int, scope: set[int], holders: Mapping[int, set[int]]) -> int | None:
    """A table that holds all variables which this one shares;
    -1 where it shares none, None if there is none.
    """
    shared = [variable for variable in scope if len(holders[variable]) > 1]
    if not shared:
        return -1
    least = min(shared, key=lambda variable: (len(holders[variable]), variable))
    for other in sorted(holders[least]):
        if other != number and all(other in holders[variable] for variable in shared):
            return other
    return None


def tree_decomposition(scopes: Sequence[Sequence[int]]) -> list[frozenset[int]]:
    """Bags of variables, by taking away the variable with the fewest neighbours each time.

    >>> [sorted(bag) for bag in tree_decomposition([(1, 2), (2, 3), (3, 1)])]
    [[1, 2, 3]]
    """
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(other for other in scope if other != variable)
    bags: list[frozenset[int]] = []
    while near:
        variable = min(near, key=lambda one: (len(near[one]), -one))
        around = near.pop(variable)
        bag = frozenset(around | {variable})
        if not any(bag <= other for other in bags):
            bags.append(bag)
        for one in around:
            near[one].discard(variable)
            near[one] |= around - {one}
    return bags


def solve(
    tables: Sequence[TermTable],
    pairs: Sequence[tuple[int, int]],
    check: Check,
) -> list[int] | None:
    """For each table the fact of one row, so that rows agree on
    variables and each pair passes its check.

    `pairs` are variables that are compared; check(number of the pair, left, right).
    """
    if any(not table.rows for table in tables):
        return None
    if not pairs:
        tree = join_tree([table.scope for table in tables])
        if tree is not None:
            return semijoin(tables, tree)
    domains = _propagated(tables, pairs, check, None)
    if domains is None:
        return None
    small = _restricted(tables, domains)
    bags = tree_decomposition([*(table.scope for table in small), *pairs])
    joined = _joined(small, pairs, check, bags) if max(map(len, bags), default=0) <= WIDTH else None
    if joined is None:
        return _searched(small, pairs, check, domains)
    return _by_bags(small, joined)


def semijoin(tables: Sequence[TermTable], tree: Sequence[tuple[int, int]]) -> list[int] | None:
    """One row per table along a join tree: up with semijoins, down by picking.

    >>> chain = [TermTable((1, 2), {(1, 1): 0, (1, 2): 1}), TermTable((2, 3), {(2, 5): 7})]
    >>> semijoin(chain, [(0, 1), (1, -1)])
    [1, 7]
    """
    columns = _columns(tables)
    alive = _upwards(tables, columns, tree)
    if not all(table.rows for table in tables) or not all(map(any, alive.values())):
        return None
    chosen: dict[int, int] = {}
    for number, parent in reversed(tree):
        if parent < 0:
            chosen[number] = alive[number].index(True) if number in alive else 0
        else:
            mine, theirs = _common(tables[number].scope, tables[parent].scope)
            wanted = columns[parent].keys(theirs)[chosen[parent]]
            chosen[number] = columns[number].first(mine, wanted, alive.get(number))
    return [table.rows[columns[number].rows[chosen[number]]] for number, table in enumerate(tables)]


def reduced(tables: Sequence[TermTable]) -> list[TermTable]:
    """The tables without rows that cannot be in the join; all such rows where the join is acyclic.

    >>> [
    ...     list(table.rows)
    ...     for table in reduced(
    ...         [TermTable((1, 2), {(1, 1): 0, (1, 2): 1}), TermTable((2,), {(2,): 0})]
    ...     )
    ... ]
    [[(1, 2)], [(2,)]]
    """
    tree = join_tree([table.scope for table in tables])
    if tree is None:
        domains = _propagated(tables, (), lambda *_: True, None)
        return (
            [TermTable(table.scope, {}) for table in tables]
            if domains is None
            else _restricted(tables, domains)
        )
    columns = _columns(tables)
    alive = _upwards(tables, columns, tree)
    left: dict[int, list[int]] = {}
    for number, parent in reversed(tree):
        mask = alive.get(number)
        if parent < 0:
            every = range(len(columns[number].rows))
            left[number] = list(every if mask is None else compress(every, mask))
        else:  # few rows are left above as a rule: look up theirs instead of going through all
            mine, theirs = _common(tables[number].scope, tables[parent].scope)
            keys, places = columns[parent].keys(theirs), columns[number].places(mine)
            found = (
                place
                for key in {keys[place] for place in left[parent]}
                for place in places.get(key, ())
            )
            left[number] = sorted(place for place in found if mask is None or mask[place])
    return [
        TermTable(table.scope, _rows_at(table, columns[number], left[number]))
        for number, table in enumerate(tables)
    ]


def _rows_at(table: TermTable, columns: _Columns, places: Sequence[int]) -> dict[Row, int]:
    return {row: table.rows[row] for row in map(columns.rows.__getitem__, places)}


class _Columns:
    """Rows by their columns; no Python per row, because this is
    where long chains spend their time.
    """

    __slots__ = ("_keys", "_places", "rows")

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._keys: dict[tuple[int, ...], list[Any]] = {}
        self._places: dict[tuple[int, ...], dict[Any, list[int]]] = {}

    def keys(self, columns: tuple[int, ...]) -> list[Any]:
        """What each row says in some columns; one value is not made a tuple."""
        found = self._keys.get(columns)
        if found is None:
            found = list(map(itemgetter(*columns), self.rows)) if columns else [()] * len(self.rows)
            self._keys[columns] = found
        return found

    def places(self, columns: tuple[int, ...]) -> dict[Any, list[int]]:
        """The rows that say something in some columns."""
        found = self._places.get(columns)
        if found is None:
            found = self._places[columns] = {}
            for place, key in enumerate(self.keys(columns)):
                found.setdefault(key, []).append(place)
        return found

    def first(self, columns: tuple[int, ...], key: Any, alive: Sequence[bool] | None) -> int:
        """The first row left that says something in some columns."""
        keys = self.keys(columns)
        place = keys.index(key)
        while alive is not None and not alive[place]:
            place = keys.index(key, place + 1)
        return place


def _columns(tables: Sequence[TermTable]) -> list[_Columns]:
    """The columns of each table; tables that share their rows share them too."""
    seen: dict[int, _Columns] = {}
    return [
        seen.get(id(table.rows)) or seen.setdefault(id(table.rows), _Columns(table.rows))
        for table in tables
    ]


def _upwards(
    tables: Sequence[TermTable], columns: Sequence[_Columns], tree: Sequence[tuple[int, int]]
) -> dict[int, list[bool]]:
    """Which rows of each table that has children agree with a row left
    of every child, from the leaves up.
    """
    alive: dict[int, list[bool]] = {}
    for number, parent in tree:
        if parent >= 0:
            mine, theirs = _common(tables[number].scope, tables[parent].scope)
            keys, mask, above = columns[number].keys(mine), alive.get(number), alive.get(parent)
            left = set(keys if mask is None else compress(keys, mask))
            fits = map(left.__contains__, columns[parent].keys(theirs))
            alive[parent] = list(fits if above is None else map(and_, above, fits))
    return alive


def _common(one: Sequence[int], two: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """In which columns of each of two tables the variables stand that they share."""
    shared = [variable for variable in one if variable in two]
    return tuple(map(one.index, shared)), tuple(map(two.index, shared))


def _projection(scope: Sequence[int], onto: Sequence[int]) -> Callable[[Row], Row]:
    columns = [scope.index(variable) for variable in onto]
    return lambda row: tuple([row[column] for column in columns])


Domains = dict[int, set[int]]


def _propagated(
    tables: Sequence[TermTable],
    pairs: Sequence[tuple[int, int]],
    check: Check,
    start: Domains | None,
    changed: Sequence[int] = (),
) -> Domains | None:
    """The values each variable can still have when every table and pair is looked at alone;
    None if one has none.
    """
    domains: Domains = {} if start is None else dict(start)
    tables_of: dict[int, list[int]] = {}
    for number, table in enumerate(tables):
        for column, variable in enumerate(table.scope):
            tables_of.setdefault(variable, []).append(number)
            if start is None:
                values = {row[column] for row in table.rows}
                domains[variable] = domains[variable] & values if variable in domains else values
    waiting = (
        list(range(len(tables)))
        if start is None
        else [n for one in changed for n in tables_of.get(one, ())]
    )
    queued = set(waiting)
    while waiting:
        look()
        number = waiting.pop()
        queued.discard(number)
        smaller = _revised(tables[number], domains)
        for variable in smaller:
            if not domains[variable]:
                return None
            for other in tables_of[variable]:
                if other != number and other not in queued:
                    queued.add(other)
                    waiting.append(other)
        if not waiting:
            for variable in _compared(pairs, check, domains):
                if not domains[variable]:
                    return None
                for other in tables_of.get(variable, ()):
                    if other not in queued:
                        queued.add(other)
                        waiting.append(other)
    return domains if all(domains.values()) else None


def _revised(table: TermTable, domains: Domains) -> list[int]:
    """Keep the values that occur in a row which is still possible; the variables that lost some."""
    sets = [domains[variable] for variable in table.scope]
    rows = table.rows
    if len(sets) == 2:
        one, two = sets
        alive = [row for row in rows if row[0] in one and row[1] in two]
    else:
        alive = [
            row
            for row in rows
            if all(value in values for value, values in zip(row, sets, strict=True))
        ]
    lost = []
    for column, variable in enumerate(table.scope):
        values = {row[column] for row in alive}
        if len(values) < len(domains[variable]):
            domains[variable] = values
            lost.append(variable)
    return lost


def _compared(pairs: Sequence[tuple[int, int]], check: Check, domains: Domains) -> list[int]:
    lost = []
    for number, (left, right) in enumerate(pairs):
        lefts = {
            one for one in domains[left] if any(check(number, one, two) for two in domains[right])
        }
        rights = {two for two in domains[right] if any(check(number, one, two) for one in lefts)}
        for variable, values in ((left, lefts), (right, rights)):
            if len(values) < len(domains[variable]):
                domains[variable] = values
                lost.append(variable)
    return lost


def _restricted(tables: Sequence[TermTable], domains: Domains) -> list[TermTable]:
    """The tables without the rows that propagation excluded."""
    return [
        TermTable(
            table.scope,
            {
                row: fact
                for row, fact in table.rows.items()
                if all(
                    value in domains[variable]
                    for variable, value in zip(table.scope, row, strict=True)
                )
            },
        )
        for table in tables
    ]


def _joined(
    tables: Sequence[TermTable],
    pairs: Sequence[tuple[int, int]],
    check: Check,
    bags: Sequence[frozenset[int]],
) -> list[TermTable] | None:
    """The join of the tables inside each bag; None where one has too many rows."""
    joined: list[TermTable] = []
    for bag in bags:
        rows = _bag_rows(tables, pairs, check, bag)
        look()
        if rows is None:
            return None
        joined.append(rows)
    return joined


def _by_bags(tables: Sequence[TermTable], joined: Sequence[TermTable]) -> list[int] | None:
    """Semijoins between bags; a row of a bag is numbered by its place."""
    tree = join_tree([table.scope for table in joined])
    assert tree is not None, "bags of a tree decomposition form a tree"
    rows = [list(table.rows) for table in joined]
    numbered = [
        TermTable(table.scope, {row: number for number, row in enumerate(table.rows)})
        for table in joined
    ]
    chosen = semijoin(numbered, tree)
    if chosen is None:
        return None
    values: dict[int, int] = {}
    for place, number in enumerate(chosen):
        values.update(zip(joined[place].scope, rows[place][number], strict=True))
    return [table.rows[tuple(values[variable] for variable in table.scope)] for table in tables]


def _bag_rows(
    tables: Sequence[TermTable], pairs: Sequence[tuple[int, int]], check: Check, bag: frozenset[int]
) -> TermTable | None:
    """All rows over a bag that the tables, projected on it, allow;
    None where there are too many.
    """
    parts = []
    for table in tables:
        inside = tuple(variable for variable in table.scope if variable in bag)
        if inside:
            parts.append((inside, set(map(_projection(table.scope, inside), table.rows))))
    scope: tuple[int, ...] = ()
    rows: set[Row] = {()}
    while parts:
        # the part that shares most with what is joined, then the smallest
        number = min(
            range(len(parts)),
            key=lambda one: (-len({*parts[one][0]} & {*scope}), len(parts[one][1])),
        )
        other, more = parts.pop(number)
        shared = [variable for variable in other if variable in scope]
        new = [variable for variable in other if variable not in scope]
        by: dict[Row, list[Row]] = {}
        key, rest, mine = (
            _projection(other, shared),
            _projection(other, new),
            _projection(scope, shared),
        )
        for row in more:
            by.setdefault(key(row), []).append(rest(row))
        found: set[Row] = set()
        for row in rows:
            found.update(row + tail for tail in by.get(mine(row), ()))
            if len(found) > BAG_ROWS:
                return None
        scope, rows = scope + tuple(new), found
    for number, (left, right) in enumerate(pairs):
        if left in scope and right in scope:
            one, two = scope.index(left), scope.index(right)
            rows = {row for row in rows if check(number, row[one], row[two])}
    return TermTable(scope, dict.fromkeys(sorted(rows), 0))


def _searched(
    tables: Sequence[TermTable],
    pairs: Sequence[tuple[int, int]],
    check: Check,
    domains: Domains,
) -> list[int] | None:
    """Choose a value for the variable with the fewest, propagate, go on;
    undo where nothing is left.

    Values that are in use already come first:
    a homomorphism that folds is found before one that spreads.
    """
    seen = dict.fromkeys(value for table in tables for row in table.rows for value in row)
    place = {value: number for number, value in enumerate(seen)}
    current: Domains | None = domains
    stack: list[tuple[Domains, Iterator[tuple[int, int]]]] = []
    while True:
        look()
        if current is not None:
            choices = _choices(current, place)
            if choices is None:
                answer = {variable: next(iter(values)) for variable, values in current.items()}
                return [
                    table.rows[tuple(answer[variable] for variable in table.scope)]
                    for table in tables
                ]
            stack.append((current, choices))
        while stack and (choice := next(stack[-1][1], None)) is None:
            stack.pop()
        if not stack:
            return None
        assert choice is not None
        changed = dict(stack[-1][0])
        changed[choice[0]] = {choice[1]}
        current = _propagated(tables, pairs, check, changed, (choice[0],))


def _choices(domains: Domains, place: Mapping[int, int]) -> Iterator[tuple[int, int]] | None:
    """The variable with the fewest values left, with each of them; None where all are decided."""
    undecided = [variable for variable, values in domains.items() if len(values) > 1]
    if not undecided:
        return None
    variable = min(undecided, key=lambda one: (len(domains[one]), -one))
    used = {next(iter(values)) for values in domains.values() if len(values) == 1}
    options = sorted(domains[variable], key=lambda value: (value not in used, place[value]))
    return iter([(variable, value) for value in options])
