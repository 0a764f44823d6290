"""Evidence of a disclosure between queries:
both are executed, and beliefs are counted under a simple prior.
"""

from __future__ import annotations

import datetime
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, count
from typing import Any

import duckdb
from sqlglot.errors import SqlglotError

from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes_bench
from tacit.errors import EngineError
from tacit.families.queries.evaluate import answers
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Query, Relation, Relations
from tacit.families.queries.sql.to_sql import to_sql
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.model.deadline import is_over, look

MOST_ROWS = 12  # possible rows of which each may be there or not
MOST_ROWS_BY_TEXT = 7  # the same where every set of rows is put to the engine
MEMORY = "512MB"  # for answers on a few rows: more than that is no evidence
STOP_EVERY = 0.1
SQL_TYPES = {
    "integer": "BIGINT",
    "decimal": "DECIMAL(38, 10)",
    "text": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}
Rows = tuple[tuple[Any, ...], ...]
Answer = Callable[[Iterable[Fact]], Any]  # of a query, on some facts, as something that compares


@dataclass(frozen=True, slots=True)
class Executed:
    """The answers of a query on an instance, and on the same instance with the critical tuple."""

    without: Rows
    with_: Rows

    @property
    def differs(self) -> bool:
        """Does the tuple change the answer?"""
        return self.without != self.with_


class EvidenceDatabase:
    """An empty database with the tables of the schema, in which queries are executed on a few rows.

    Whatever runs when the time is up is ended with an EngineError:
    thirty tables of two rows have a billion rows side by side.
    """

    def __init__(
        self,
        relations: Relations,
        dialect: str,
        views: Mapping[str, str] | None = None,
    ) -> None:
        self.relations = relations
        self.dialect = dialect
        self.engine = DuckDB()
        self._written: dict[
            str, str
        ] = {}  # queries in DuckDB's words: to write a long one takes a while
        self._closed = threading.Event()
        self._run(shapes_bench.settings(MEMORY, spill=""))
        threading.Thread(target=copy_context().run, args=(self._stop_late,), daemon=True).start()
        self._filled: set[str] = set()
        self._run("; ".join(_made(relations)))
        self._create_views(
            {name: text for name, text in (views or {}).items() if name not in relations}
        )

    def _create_views(self, views: Mapping[str, str]) -> None:
        """The views that the engine can read, whatever order they name each other in;
        no query may need the others.
        """
        waiting = dict(views)
        while waiting:
            made = []
            for name, text in waiting.items():
                with suppress(EngineError, SqlglotError):
                    self._run(shapes_bench.view(name, self._in_duckdb(text)))
                    made.append(name)
            if not made:
                return
            for name in made:
                del waiting[name]

    def _run(self, sql: str, values: Sequence[Any] = ()) -> Any:
        try:
            return self.engine.connection.execute(sql, list(values))
        except (duckdb.Error, RuntimeError) as error:
            if is_over():
                raise EngineError("The time was up before their answers were there.") from None
            if isinstance(error, duckdb.OutOfMemoryException):
                raise EngineError("Their answers need more memory than is set aside.") from None
            raise EngineError(
                f"The embedded engine cannot run the query: {str(error).splitlines()[0]}."
            ) from None

    def _in_duckdb(self, text: str) -> str:
        import sqlglot

        from tacit.families.queries.sql.parse import created_query

        if text not in self._written:
            self._written[text] = created_query(sqlglot.parse_one(text, read=self.dialect)).sql(
                dialect="duckdb", copy=False
            )
        return self._written[text]

    def __enter__(self) -> EvidenceDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self.engine.close()

    def _stop_late(self) -> None:
        """End what runs when the time is up, again and again:
        an engine between two statements does not hear it.
        """
        while not self._closed.wait(STOP_EVERY):
            if is_over():
                self.engine.connection.interrupt()

    def answer(self, sql: str, facts: Iterable[Fact]) -> Rows:
        """The answer of a query on some facts, its rows in order."""
        while self._filled:
            self._run(shapes_bench.no_rows(self._filled.pop()))
        for fact in facts:
            self._filled.add(fact.relation)
            self._run(shapes_bench.one_row(fact.relation, fact.values), fact.values)
        return tuple(sorted(self._run(sql).fetchall(), key=repr))

    def executed(
        self,
        reading: QueryUnderstanding,
        query: Query | None,
        facts: Sequence[Fact],
        tuple_: Fact,
        made: Mapping[Fact, Fact],
        instead: Fact | None = None,
    ) -> Executed:
        """A query on an instance without and with a tuple; without it there is `instead`.
        Answers show new values under their names.
        """
        sql = self.text(reading, query)
        names = fresh_names(made)
        otherwise = [*facts, instead] if instead is not None else facts
        without, with_ = (
            self.answer(sql, [made[one] for one in some]) for some in (otherwise, [*facts, tuple_])
        )
        return Executed(named(without, names), named(with_, names))

    def by_text(
        self, reading: QueryUnderstanding, query: Query, made: Mapping[Fact, Fact]
    ) -> Answer:
        """The answers of a query as the engine gives them, whatever was understood of it."""
        sql, names = self.text(reading, query), fresh_names(made)

        def answer(facts: Iterable[Fact]) -> Any:
            return Frozen(Counter(named(self.answer(sql, [made[one] for one in facts]), names)))

        return answer

    def text(self, reading: QueryUnderstanding, query: Query | None) -> str:
        """A query as the embedded engine reads it."""
        if reading.language == "datalog" and query is not None:
            return to_sql(query, self.relations)
        return self._in_duckdb(reading.text)


def _made(relations: Relations) -> Iterator[str]:
    """Statements that make the tables, empty."""
    for schema in dict.fromkeys(name.rpartition(".")[0] for name in relations):
        if schema:
            yield shapes_bench.empty_schema(schema)
    for name, relation in relations.items():
        types = {column: sql_type(relation, column) for column in relation.columns}
        yield shapes_bench.empty_table(name, types)


def views_named(texts: Iterable[str], views: Mapping[str, str]) -> dict[str, str]:
    """The views that some queries may name, directly or by way of other views.

    >>> views_named(['SELECT a FROM "V"'], {"v": "SELECT a FROM w", "w": "...", "u": "..."})
    {'v': 'SELECT a FROM w', 'w': '...'}
    """
    waiting, found = [unquoted(text) for text in texts], set[str]()
    while waiting:
        text = waiting.pop()
        new = [name for name in views if name not in found and unquoted(name) in text]
        found.update(new)
        waiting += [unquoted(views[name]) for name in new]
    return {name: text for name, text in views.items() if name in found}


def unquoted(text: str) -> str:
    """A text as names are looked for in it: however they are quoted or capitalised."""
    return text.translate({ord(mark): None for mark in '"`[]'}).casefold()


def fresh_names(made: Mapping[Fact, Fact]) -> dict[Any, Any]:
    """The names of the new values that were made."""
    return {
        new: old
        for fact, one in made.items()
        for old, new in zip(fact.values, one.values, strict=True)
        if is_fresh(old)
    }


def named(rows: Rows, names: Mapping[Any, Any]) -> Rows:
    """Rows with new values under the names that the tuples give them,
    also in lists and values with parts.
    """
    return tuple(tuple(named_value(value, names) for value in row) for row in rows)


def named_value(value: Any, names: Mapping[Any, Any]) -> Any:
    """A value that can be compared and counted:
    a list becomes a tuple, and what has parts a tuple of names and values.

    >>> named_value({"a": [1, "Ann"]}, {"Ann": "_fresh1"})
    (('a', (1, '_fresh1')),)
    """
    if isinstance(value, Mapping):
        return tuple(
            (named_value(key, names), named_value(one, names)) for key, one in value.items()
        )
    if isinstance(value, list | tuple | set):
        return tuple(named_value(one, names) for one in value)
    return names.get(value, value)


def sql_type(relation: Relation, column: str) -> str:
    """How a column is declared; one without a known type takes text,
    unless its domain says otherwise.
    """
    kind = relation.kinds.get(column)
    if kind in SQL_TYPES:
        return SQL_TYPES[str(kind)]
    values = relation.domains.get(column, ())
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "BIGINT"
    return "VARCHAR"


def concrete(facts: Iterable[Fact], relations: Relations) -> dict[Fact, Fact]:
    """The same facts with new values that fit the types of their columns; equal ones stay equal.

    >>> bed = Relation("D", ("name", "ward"), kinds={"ward": "integer"})
    >>> print(*concrete([Fact("D", ("_fresh1", "_fresh2"))], {"D": bed}).values())
    D('_fresh1', 900001)
    """
    wanted: dict[str, str] = {}
    taken = {value for fact in facts for value in fact.values}
    for fact in facts:
        relation = relations[fact.relation]
        for column, value in zip(relation.columns, fact.values, strict=True):
            if is_fresh(value):
                kind = relation.kinds.get(column) or "text"
                wanted[value] = kind if wanted.get(value, "text") == "text" else wanted[value]
    numbers = (number for number in count(900_001) if number not in taken)
    made = {value: fitting(kind, value, numbers) for value, kind in wanted.items()}
    return {
        fact: Fact(fact.relation, tuple(made.get(value, value) for value in fact.values))
        for fact in facts
    }


def is_fresh(value: Any) -> bool:
    """Is this a value that occurs in neither query?"""
    return isinstance(value, str) and value.startswith("_fresh")


def fitting(kind: str, value: str, numbers: Iterator[int]) -> Any:
    """A value of a type that occurs nowhere else."""
    if kind in ("integer", "decimal"):
        return next(numbers)
    if kind == "date":
        return datetime.date(9000, 1, 1) + datetime.timedelta(next(numbers) - 900_001)
    if kind == "timestamp":
        return datetime.datetime(9000, 1, 1) + datetime.timedelta(next(numbers) - 900_001)
    return value


@dataclass(frozen=True, slots=True)
class BeliefMove:
    """How a belief moves under a simple prior:
    each of some possible rows is there or not by a fair coin.

    `claim` is a row of the secret's answer (empty: that the answer is yes).
    `total`: some answer of the views fixes the whole answer of the secret.
    """

    rows: int
    claim: tuple[Any, ...]
    before: Fraction
    after: Fraction
    seen: Any
    total: bool


def moved(
    rows: Sequence[Fact],
    relations: Relations,
    secret: Answer,
    views: Answer,
    claims: Iterable[tuple[Any, ...]],
) -> BeliefMove | None:
    """The belief in a row of the secret's answer that moves most, over
    all instances made of some rows.
    """
    worlds = [(secret(world), views(world)) for world in instances(rows, relations)]
    by_view: dict[Any, list[Any]] = {}
    for hidden, seen in worlds:
        by_view.setdefault(seen, []).append(hidden)
    different = len({hidden for hidden, _ in worlds}) > 1
    total = different and any(len(set(found)) == 1 for found in by_view.values())
    best: BeliefMove | None = None
    for claim in claims:
        before = Fraction(sum(claim in hidden for hidden, _ in worlds), len(worlds))
        for seen, found in by_view.items():
            after = Fraction(sum(claim in hidden for hidden in found), len(found))
            # A belief that rises is told rather than one that falls.
            if best is None or (after > before, abs(after - before)) > (
                best.after > best.before,
                abs(best.after - best.before),
            ):
                best = BeliefMove(len(rows), claim, before, after, seen, total)
    return best if best is not None and best.before != best.after else None


def instances(rows: Sequence[Fact], relations: Relations) -> Iterator[tuple[Fact, ...]]:
    """All sets of some rows that satisfy the keys."""
    for size in range(len(rows) + 1):
        for world in combinations(rows, size):
            look()
            if satisfies_keys(world, relations):
                yield world


def satisfies_keys(facts: Iterable[Fact], relations: Relations) -> bool:
    """Do no two rows share a key?"""
    seen: set[Any] = set()
    for fact in facts:
        relation = relations[fact.relation]
        for key in relation.keys:
            value = (
                fact.relation,
                key,
                tuple(fact.values[relation.columns.index(name)] for name in key),
            )
            if value in seen:
                return False
            seen.add(value)
    return True


def by_logic(query: Query) -> Answer:
    """The answer of a query that is read exactly; OutOfTime where it takes too long."""

    def answer(facts: Iterable[Fact]) -> Any:
        found = answers(query, facts)
        return Frozen(found) if isinstance(found, Counter) else frozenset(found)

    return answer


def rows_of(answer: Any) -> list[tuple[Any, ...]]:
    """The different rows of an answer."""
    return list(answer.rows if isinstance(answer, Frozen) else answer)


class Frozen(frozenset[Any]):
    """A bag that compares by how often each row occurs, and knows which rows are in it."""

    rows: Mapping[Any, int]

    def __new__(cls, bag: Counter[Any]) -> Frozen:
        """Rows with their numbers, and the rows themselves for membership."""
        made = super().__new__(cls, [*bag.items()])
        made.rows = bag
        return made

    def __contains__(self, row: object) -> bool:
        return row in self.rows
