"""What a query that runs tells about a secret that would run, by
trying every database there can be.

From the definition, sharing no code with `tacit`: a schema with closed domains has finitely many
possible rows, and a database is a set of them that satisfies the keys. Secret and query are SQL
text, and their answers are what DuckDB gives on each of the databases; an error of DuckDB, with its
words, is an answer like any other, and where the text has ORDER BY the order of the rows is part of
the answer.

The definition itself is `independent`: weigh every database by independent odds of its rows, and
the two answers are independent for all odds. `discloses` is the theorem: a row is critical for a
query if on some database it changes the answer, and the two are dependent if rows critical for one
and the other are the same or are connected by rows that exclude each other. Tests hold one against
the other.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any

import duckdb

Row = tuple[str, tuple[Any, ...]]  # a table and a row of it; None is NULL
Answers = tuple[
    int, ...
]  # for each database the number of its answer: equal answers, equal numbers


@dataclass(frozen=True, slots=True)
class Column:
    """A column and the values that it can have."""

    name: str
    values: tuple[Any, ...]

    @property
    def type(self) -> str:
        """The type of its values, as SQL calls it."""
        return "integer" if any(isinstance(value, int) for value in self.values) else "text"

    @property
    def nullable(self) -> bool:
        """May a value be missing?"""
        return None in self.values


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its candidate keys."""

    name: str
    columns: tuple[Column, ...]
    keys: tuple[tuple[str, ...], ...] = ()

    def rows(self) -> Iterator[Row]:
        """All rows that it can have."""
        for values in itertools.product(*(column.values for column in self.columns)):
            yield self.name, values

    def exclude(self, one: Row, other: Row) -> bool:
        """Do two rows of it have the same value of some key?"""
        at = {column.name: number for number, column in enumerate(self.columns)}
        return any(all(one[1][at[name]] == other[1][at[name]] for name in key) for key in self.keys)


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables, small enough to try all databases."""

    tables: tuple[Table, ...]

    def __post_init__(self) -> None:
        for table in self.tables:
            keyed = {name for key in table.keys for name in key}
            if any(column.nullable for column in table.columns if column.name in keyed):
                raise ValueError("a key with NULLs excludes nothing: give the column no None")

    @property
    def possible(self) -> tuple[Row, ...]:
        """Every row that there can be."""
        return tuple(row for table in self.tables for row in table.rows())


class Laboratory:
    """All databases of a schema, in DuckDB, to run texts on.

    >>> patients = Table("p", (Column("name", ("ann", "bob")), Column("ill", ("cancer", "flu"))))
    >>> with Laboratory(Schema((patients,))) as lab:
    ...     secret = lab.answers("SELECT name FROM p WHERE ill = 'cancer'")
    ...     flu = lab.answers("SELECT name FROM p WHERE ill = 'flu'")
    ...     everybody = lab.answers("SELECT count(*) FROM p")
    ...     lab.discloses(secret, flu), lab.discloses(secret, everybody)
    (False, True)
    """

    def __init__(
        self, schema: Schema, *, backwards: bool = False, settings: Mapping[str, str] | None = None
    ) -> None:
        self.schema = schema
        self.possible = schema.possible
        self.databases = tuple(sorted(_databases(schema)))
        self._at = {database: number for number, database in enumerate(self.databases)}
        self._settings = dict(settings or {})
        self._kept: OrderedDict[str, list[Hashable]] = OrderedDict()
        self._views: dict[str, str] = {}
        self._backwards = backwards  # rows are stored the other way round
        self._duck = self._connected()  # all databases at once
        self._apart: duckdb.DuckDBPyConnection | None = None  # each by itself
        self._singles: list[duckdb.DuckDBPyConnection] | None = None
        self._numbered_tables()

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Forget all databases."""
        self._part()
        self._duck.close()

    def _connected(self) -> duckdb.DuckDBPyConnection:
        duck = duckdb.connect(config={"threads": 1, "enable_external_access": False})
        for name, value in self._settings.items():
            duck.execute(f"SET GLOBAL {name} = '{value}'")
        return duck

    def _part(self) -> None:
        for cursor in (*(self._singles or ()), *((self._apart,) if self._apart else ())):
            cursor.close()
        self._singles = self._apart = None

    # Running

    def answers(self, sql: str) -> Answers:
        """The answer of `sql` on each of the databases."""
        return _numbered(self.executed(sql))

    def executed(self, sql: str) -> list[Hashable]:
        """The answers themselves, by whichever way is faster and equal."""
        if sql not in self._kept:
            self._kept[sql] = self._executed(sql)
        if len(self._kept) > 100:
            self._kept.popitem(last=False)
        return self._kept[sql]

    def _executed(self, sql: str) -> list[Hashable]:
        if (text := self._unordered(sql)) is not None:
            try:
                return self.at_once(text)
            except duckdb.FatalException:  # DuckDB broke, and says no word again
                self._duck = self._connected()
                self._numbered_tables()
            except (duckdb.Error, RuntimeError):
                pass  # it may fail on some databases only
        return self.one_by_one(sql)

    def runs_at_once(self, sql: str) -> bool:
        """Can nothing in a text fail, and does nothing depend on how rows are stored?"""
        return self._unordered(sql) is not None

    def _unordered(self, sql: str) -> str | None:
        """The text to run on all databases at once, if that is the same.

        Rows in the order of all their columns are told by how often each is there:
        such an ORDER BY is taken away.
        """
        tree = parsed(self._duck, sql)
        if tree is None:
            return None
        places = [_places(one) for one in tree["modifiers"] if one["type"] == "ORDER_MODIFIER"]
        tree["modifiers"] = [one for one in tree["modifiers"] if one["type"] != "ORDER_MODIFIER"]
        if not _may_run_at_once(tree):
            return None
        if not places:
            return sql
        text = written(self._duck, tree)
        try:
            columns = self._duck.execute(f"{self._beside_numbers(text)} LIMIT 0").description or ()
        except (duckdb.Error, RuntimeError):
            return None
        return text if places == [set(range(1, len(columns)))] else None

    def in_order(self, sql: str) -> Answers:
        """The answers with the order of their rows, whether or not the text asks for one:
        a user sees it all the same.
        """
        return _numbered(self.one_by_one(sql, ordered=True))

    def one_by_one(
        self, sql: str, only: Sequence[int] | None = None, *, ordered: bool | None = None
    ) -> list[Hashable]:
        """Run `sql` on each database (or on those with these numbers):
        tables of its own, nothing else.
        """
        ordered = _has_order(sql) if ordered is None else ordered
        found = []
        for number in range(len(self.databases)) if only is None else only:
            try:
                found.append(_answer(self._separate()[number], sql, ordered=ordered))
            except duckdb.FatalException as error:
                self._part()
                found.append(("error", "broken", str(error).splitlines()[0]))
        return found

    def at_once(self, sql: str) -> list[Hashable]:
        """One statement for all databases: `sql` beside the number of each.

        Equal to one by one where nothing can fail and no order matters; tests compare the two.
        """
        found: dict[int, list[Any]] = {}
        for number, *row in self._duck.execute(self._beside_numbers(sql)).fetchall():
            found.setdefault(number, []).append(tuple(map(_value, row)))
        return [("rows", (), tuple(sorted(found.get(at, ())))) for at in range(len(self.databases))]

    def view(self, name: str, sql: str) -> None:
        """Let texts that run one by one use `name` for what `sql` answers."""
        self._kept.clear()
        self._views[name] = sql
        self._part()

    # Deciding

    def critical(self, answers: Answers) -> frozenset[int]:
        """The possible rows, by number, that change the answer on some database."""
        found = set()
        for number, database in enumerate(self.databases):
            for row in range(len(self.possible)):
                if row in found or database >> row & 1:
                    continue
                more = self._at.get(database | 1 << row)
                if more is not None and answers[number] != answers[more]:
                    found.add(row)
        return frozenset(found)

    @cached_property
    def component(self) -> tuple[int, ...]:
        """For each possible row the component that it is in, of rows that exclude each other."""
        component = list(range(len(self.possible)))
        for one, other in itertools.combinations(range(len(self.possible)), 2):
            if _exclude(self.schema, self.possible[one], self.possible[other]):
                old, new = component[other], component[one]
                component = [new if number == old else number for number in component]
        return tuple(component)

    def discloses(self, secret: Answers, *queries: Answers) -> bool:
        """Do the queries, seen together, say anything about the secret? By critical rows."""
        touched = {self.component[row] for row in self.critical(together(*queries))}
        return any(self.component[row] in touched for row in self.critical(secret))

    def independent(
        self, secret: Answers, *queries: Answers, rng: random.Random, priors: int = 3
    ) -> bool:
        """The definition, for some beliefs: are secret and queries independent under each of them?

        The odds are drawn at random; two polynomials that differ agree on few of them.
        """
        seen = together(*queries)
        for _ in range(priors):
            odds = [rng.randint(1, 10**9) for _ in self.possible]
            weights = [_product(odds, database) for database in self.databases]
            if not _are_independent(weights, secret, seen):
                return False
        return True

    def witness(self, secret: Answers, query: Answers) -> str:
        """Rows that make the two dependent, in words for a failing test."""
        shared = {self.component[row] for row in self.critical(secret)}
        rows = [row for row in sorted(self.critical(query)) if self.component[row] in shared]
        return "; ".join(str(self.possible[row]) for row in rows) or "none"

    # Parts

    def contents(self, database: int) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of a database, by table."""
        rows: dict[str, list[tuple[Any, ...]]] = {table.name: [] for table in self.schema.tables}
        for number, (table, values) in enumerate(self.possible):
            if database >> number & 1:
                rows[table].append(values)
        if self._backwards:
            return {table: found[::-1] for table, found in rows.items()}
        return rows

    def _numbered_tables(self) -> None:
        self._duck.execute("CREATE SCHEMA everything; SET schema = 'everything'")
        self._duck.execute(f"CREATE TABLE databases AS FROM range({len(self.databases)}) t(number)")
        for table in self.schema.tables:
            columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
            self._duck.execute(f'CREATE TABLE "all_{table.name}" (_number bigint, {columns})')
            rows = [
                (number, *values)
                for number, database in enumerate(self.databases)
                for values in self.contents(database)[table.name]
            ]
            if rows:
                marks = ", ".join("?" * (1 + len(table.columns)))
                self._insert(f'"all_{table.name}"', marks, rows)

    def _insert(self, table: str, marks: str, rows: Sequence[tuple[Any, ...]]) -> None:
        for start in range(0, len(rows), 500):
            part = rows[start : start + 500]
            values = ", ".join([f"({marks})"] * len(part))
            self._duck.execute(
                f"INSERT INTO {table} VALUES {values}", [value for row in part for value in row]
            )

    def _beside_numbers(self, sql: str) -> str:
        tables = ", ".join(
            f'"{table.name}" AS (SELECT {", ".join(_quoted(table))} FROM "all_{table.name}" _a '
            f"WHERE _a._number = _d.number)"
            for table in self.schema.tables
        )
        return (
            f"SELECT _d.number, _t.* FROM databases _d, "
            f"LATERAL (WITH {tables} SELECT * FROM ({sql.rstrip().rstrip(';')}\n) _q) _t"
        )

    def _separate(self) -> list[duckdb.DuckDBPyConnection]:
        if self._singles is None:
            self._apart = self._connected()
            self._singles = [
                self._single(number, database) for number, database in enumerate(self.databases)
            ]
        return self._singles

    def _single(self, number: int, database: int) -> duckdb.DuckDBPyConnection:
        assert self._apart is not None
        cursor = self._apart.cursor()
        cursor.execute(f"CREATE SCHEMA d{number}; SET schema = 'd{number}'")
        contents = self.contents(database)
        for table in self.schema.tables:
            columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
            cursor.execute(f'CREATE TABLE "{table.name}" ({columns})')
            if rows := contents[table.name]:
                cursor.execute(f'INSERT INTO "{table.name}" VALUES {_values(rows)}')
        for name, sql in self._views.items():
            cursor.execute(f'CREATE VIEW "{name}" AS {sql}')
        return cursor


class PostgresLaboratory(Laboratory):
    """All databases of a schema, each a schema of a PostgreSQL database:
    other errors, and other ways to run.
    """

    def __init__(self, schema: Schema, url: str, prefix: str) -> None:
        import psycopg

        super().__init__(schema)
        self._prefix = prefix
        self._postgres = psycopg.connect(url, autocommit=True)
        for number, database in enumerate(self.databases):
            self._postgres.execute("; ".join(self._made(number, database)))

    def _made(self, number: int, database: int) -> Iterator[str]:
        yield f"CREATE SCHEMA {self._prefix}{number}"
        contents = self.contents(database)
        for table in self.schema.tables:
            name = f'{self._prefix}{number}."{table.name}"'
            columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
            yield f"CREATE TABLE {name} ({columns})"
            if rows := contents[table.name]:
                yield f"INSERT INTO {name} VALUES {_values(rows)}"
            yield f"ANALYZE {name}"

    def close(self) -> None:
        """Leave PostgreSQL."""
        self._postgres.close()
        super().close()

    def _unordered(self, sql: str) -> str | None:
        """Never at once: PostgreSQL's errors are looked for here."""
        return None

    def one_by_one(
        self, sql: str, only: Sequence[int] | None = None, *, ordered: bool | None = None
    ) -> list[Hashable]:
        """Run `sql` on each database (or on those with these numbers)."""
        ordered = _has_order(sql) if ordered is None else ordered
        return [
            self._asked(sql, number, ordered=ordered)
            for number in (range(len(self.databases)) if only is None else only)
        ]

    def _asked(self, sql: str, number: int, *, ordered: bool) -> Hashable:
        import psycopg

        try:
            with self._postgres.cursor() as cursor:
                cursor.execute(f"SET search_path = {self._prefix}{number}")  # type: ignore[arg-type]
                cursor.execute(sql, prepare=False)  # type: ignore[arg-type]
                about = tuple((one.name, str(one.type_code)) for one in cursor.description or ())
                rows = (
                    [tuple(map(_value, row)) for row in cursor.fetchall()]
                    if cursor.description
                    else []
                )
        except (psycopg.Error, UnicodeError) as error:
            return "error", type(error).__name__, str(error).replace(f"{self._prefix}{number}", "")
        return "rows", about, tuple(rows if ordered else sorted(rows))


def together(*queries: Answers) -> Answers:
    """The answers of several queries as one answer: their vector."""
    return _numbered(list(zip(*queries, strict=True)))


def is_function_of(query: Answers, views: Sequence[Answers]) -> bool:
    """Do equal answers of the views mean equal answers of the query?

    >>> is_function_of((0, 0, 1), [(0, 0, 1)]), is_function_of((0, 1, 1), [(0, 0, 1)])
    (True, False)
    """
    seen: dict[Hashable, int] = {}
    vectors: Iterable[Hashable] = zip(*views, strict=True) if views else itertools.repeat(())
    return all(
        seen.setdefault(vector, one) == one for vector, one in zip(vectors, query, strict=False)
    )


# Databases and weights


def _databases(schema: Schema) -> Iterator[int]:
    """Every set of possible rows in which no two exclude each other, as bits."""
    rows = schema.possible
    against = [
        sum(
            1 << other
            for other in range(len(rows))
            if other != one and _exclude(schema, row, rows[other])
        )
        for one, row in enumerate(rows)
    ]

    def further(number: int, database: int) -> Iterator[int]:
        if number == len(rows):
            yield database
            return
        yield from further(number + 1, database)
        if not database & against[number]:
            yield from further(number + 1, database | 1 << number)

    return further(0, 0)


def _exclude(schema: Schema, one: Row, other: Row) -> bool:
    return one[0] == other[0] and next(t for t in schema.tables if t.name == one[0]).exclude(
        one, other
    )


def _product(odds: Sequence[int], database: int) -> int:
    weight = 1
    for number, one in enumerate(odds):
        if database >> number & 1:
            weight *= one
    return weight


def _are_independent(weights: Sequence[int], secret: Answers, seen: Answers) -> bool:
    """P(s and v) = P(s) P(v) for all answers, in whole numbers."""
    both: dict[tuple[int, int], int] = {}
    of_secret: dict[int, int] = {}
    of_seen: dict[int, int] = {}
    for weight, s, v in zip(weights, secret, seen, strict=True):
        both[s, v] = both.get((s, v), 0) + weight
        of_secret[s] = of_secret.get(s, 0) + weight
        of_seen[v] = of_seen.get(v, 0) + weight
    whole = sum(weights)
    return all(
        both.get((s, v), 0) * whole == weight * other
        for s, weight in of_secret.items()
        for v, other in of_seen.items()
    )


# Answers


def _numbered(answers: Sequence[Hashable]) -> Answers:
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(answer, len(numbers)) for answer in answers)


def _answer(cursor: duckdb.DuckDBPyConnection, sql: str, *, ordered: bool) -> Hashable:
    try:
        cursor.execute(sql)
        about = tuple((name, str(kind)) for name, kind, *_ in cursor.description or ())
        rows = [tuple(map(_value, row)) for row in cursor.fetchall()]
    except duckdb.FatalException:
        raise
    except (
        duckdb.Error,
        RuntimeError,
        UnicodeError,
    ) as error:  # DuckDB's own, or one that it did not foresee
        return "error", type(error).__name__, _without_place(str(error))
    return "rows", about, tuple(rows if ordered else sorted(rows))


def rows_of(answer: Any) -> Any:
    """The rows of an answer without their order, or that it failed."""
    return "error" if answer[0] == "error" else tuple(sorted(answer[2]))


def _without_place(message: str) -> str:
    """An error's words; the names of our own schemas are no part of them."""
    return re.sub(r"\bd\d+\b", "d", message)


def _value(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _values(rows: Iterable[Sequence[Any]]) -> str:
    return ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)


def _quoted(table: Table) -> list[str]:
    return [f'_a."{column.name}"' for column in table.columns]


# What may run on all databases at once: judged by DuckDB's own tree of the text

_SAFE_FUNCTIONS = frozenset(
    [
        "+",
        "-",
        "*",
        "||",
        "count",
        "count_star",
        "sum",
        "min",
        "max",
        "avg",
        "upper",
        "lower",
        "length",
        "abs",
        "coalesce",
        "rank",
        "dense_rank",
        "contains",
        "prefix",
        "suffix",
        "~~",
        "!~~",
        "~~*",
        "!~~*",
        "bool_and",
        "bool_or",
        "greatest",
        "least",
        "substr",
        "replace",
        "nullif",
    ]
)
_SAFE_CLASSES = frozenset(
    [
        "COLUMN_REF",
        "CONSTANT",
        "COMPARISON",
        "CONJUNCTION",
        "FUNCTION",
        "OPERATOR",
        "BETWEEN",
        "CASE",
        "SUBQUERY",
        "STAR",
        "CAST",
        "TYPE",
    ]
)


def parsed(duck: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any] | None:
    """The tree that DuckDB reads in a text, if it is one SELECT."""
    try:
        found = duck.execute("SELECT json_serialize_sql(?::varchar)", [sql]).fetchone()
    except duckdb.Error:
        return None
    tree = json.loads(found[0]) if found else {"error": True}
    if tree.get("error") or len(tree.get("statements", ())) != 1:
        return None
    return dict(tree["statements"][0]["node"])


def written(duck: duckdb.DuckDBPyConnection, tree: Mapping[str, Any]) -> str:
    """The text of a tree."""
    whole = json.dumps({"error": False, "statements": [{"node": tree, "named_param_map": []}]})
    found = duck.execute("SELECT json_deserialize_sql(?::json)", [whole]).fetchone()
    assert found is not None
    return str(found[0])


def _places(order: Mapping[str, Any]) -> set[int]:
    """The columns that an ORDER BY names by number."""
    constants = [one["expression"].get("literal") or {} for one in order["orders"]]
    return {int(one["text"]) if one.get("kind") == "INTEGER" else 0 for one in constants}


def _may_run_at_once(tree: Mapping[str, Any]) -> bool:
    """Nothing that can fail, depend on stored order, or be cut off."""
    return all(_is_safe(node) for node in _nodes(tree))


def _nodes(tree: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(tree, Mapping):
        yield tree
        for part in tree.values():
            yield from _nodes(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _nodes(part)


def _is_safe(node: Mapping[str, Any]) -> bool:
    checks: tuple[Callable[[Mapping[str, Any]], bool], ...] = (
        lambda node: "class" not in node or node["class"] in _SAFE_CLASSES,
        lambda node: (
            node.get("class") != "FUNCTION" or node.get("function_name") in _SAFE_FUNCTIONS
        ),
        lambda node: node.get("class") != "CAST" or _cannot_fail(node),
        lambda node: (
            node.get("class") != "FUNCTION" or not (node.get("order_bys") or {}).get("orders")
        ),
        lambda node: (
            node.get("subquery_type") != "SCALAR" or _is_one_aggregate(node["subquery"]["node"])
        ),
        lambda node: (
            len(str((node.get("literal") or {}).get("text", ""))) < 5 or not _is_number(node)
        ),
        lambda node: node.get("type") != "ORDER_MODIFIER" or not node.get("orders"),
        lambda node: node.get("type") not in ("LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER"),
        lambda node: node.get("type") not in ("TABLE_FUNCTION", "PIVOT", "RECURSIVE_CTE_NODE"),
        lambda node: not node.get("sample") and not node.get("qualify"),
        lambda node: not _is_distinct_on(node),
        lambda node: not node.get("schema_name") and not node.get("catalog_name"),
    )
    return all(check(node) for check in checks)


def _is_one_aggregate(node: Mapping[str, Any]) -> bool:
    """Exactly one row, whatever the data."""
    listed, grouped = (
        node.get("select_list") or (),
        node.get("group_expressions") or node.get("having"),
    )
    return (
        not grouped
        and len(listed) == 1
        and listed[0].get("function_name") in ("count_star", "count", "min", "max")
    )


def _cannot_fail(node: Mapping[str, Any]) -> bool:
    return bool(node.get("try_cast")) or (node.get("type_expr") or {}).get("type_name") == "VARCHAR"


def _is_number(node: Mapping[str, Any]) -> bool:
    return node["literal"].get("kind") != "STRING"


def _is_distinct_on(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "DISTINCT_MODIFIER" and bool(node.get("distinct_on_targets"))


def _has_order(sql: str) -> bool:
    """Is anything put in an order? Then the order of the answer may come from it."""
    return re.search(r"\border\s*(/\*.*?\*/\s*)?by\b", sql, re.IGNORECASE | re.DOTALL) is not None
