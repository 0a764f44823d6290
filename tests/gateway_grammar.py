"""Random SQL over small schemas: what people ask, what attackers ask, and junk.

A text is made from a seed alone, so a failure names what to run again. Queries are in DuckDB's
dialect and mostly well typed. `Asker(guarded=...)` keeps away from some rows in most places, as
somebody does who wants an answer and not the secret; where it forgets to, or does it in a place
that does not help (the ON of an outer join, one side of an OR), the query is close to the border
between yes and no.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oracles.gateway import Column, Schema, Table

Names = tuple[tuple[str, str, str], ...]  # alias, column, type of what an expression may name


@dataclass(frozen=True, slots=True)
class Asked:
    """A text, and whether it must be refused whatever the policy says."""

    sql: str
    forbidden: bool = False
    why: str = "query"


# Schemas

ANN_BOB = Column("name", ("ann", "bob"))
ILL = Column("illness", ("cancer", "flu"))
ILL3 = Column("illness", ("cancer", "flu", "cold"))
ILL_NULL = Column("illness", ("cancer", "flu", None))
WARD = Column("ward", (1, 2))
WARD0 = Column("ward", (0, 1))
WARD_NULL = Column("ward", (1, None))

SCHEMAS: Mapping[str, Schema] = {
    "plain": Schema((Table("patients", (ANN_BOB, ILL)),)),
    "three": Schema((Table("patients", (ANN_BOB, ILL3)),)),
    "nulls": Schema((Table("patients", (ANN_BOB, ILL_NULL)),)),
    "keyed": Schema((Table("patients", (ANN_BOB, ILL3), (("name",),)),)),
    "two keys": Schema((Table("patients", (ANN_BOB, ILL), (("name",), ("illness",))),)),
    "two keys of three": Schema(
        (
            Table(
                "patients", (Column("name", ("ann", "bob", "cem")), ILL3), (("name",), ("illness",))
            ),
        )
    ),
    "wide": Schema((Table("patients", (ANN_BOB, ILL, WARD0)),)),
    "wide keyed": Schema(
        (Table("patients", (ANN_BOB, ILL, WARD), (("name", "ward"), ("illness", "ward"))),)
    ),
    "joined": Schema((Table("patients", (ANN_BOB, ILL)), Table("wards", (ILL, WARD0)))),
    "joined keyed": Schema(
        (
            Table("patients", (ANN_BOB, ILL), (("name",),)),
            Table("wards", (ILL, WARD), (("illness",),)),
        )
    ),
    "joined nulls": Schema(
        (
            Table("patients", (ANN_BOB, ILL_NULL), (("name",),)),
            Table("wards", (Column("ward", (0, 1, None)),)),
        )
    ),
    "numbers": Schema(
        (Table("patients", (Column("name", ("1", "ann")), Column("age", (0, 3, None)))),)
    ),
}
MOSTLY_SMALL = (
    *SCHEMAS,
    "plain",
    "three",
    "nulls",
    "keyed",
    "numbers",
    "plain",
    "two keys",
    "nulls",
    "numbers",
)


@dataclass
class Asker:
    """Writes queries over the tables of a schema."""

    rng: random.Random
    schema: Schema
    guards: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # table: conditions on {} its alias
    failing: float = 0.1  # how often an expression may be one that fails on some rows
    depth: int = 2
    careless: float = 0.06  # how often a guard is forgotten
    postgres: bool = False
    _aliases: int = 0
    _named: list[tuple[str, tuple[tuple[str, str], ...]]] = field(default_factory=list)  # CTEs

    # Queries

    def query(self) -> str:
        """A whole query."""
        kinds: list[tuple[float, Callable[[], str]]] = [
            (10, self._simple),
            (4, self._grouped),
            (2, self._set_operation),
            (2, self._with),
            (2, self._ordered),
            (1, self._windowed),
            (1, self._order_tells),
            (1, self._scalar_only),
        ]
        text = self._one(kinds)()
        if self.rng.random() < 0.2:  # whose column is it then?
            text = re.sub(
                r"\bt\d+\.(?=\w)", lambda found: found[0] if self.rng.random() < 0.4 else "", text
            )
        return text

    def secret(self) -> str:
        """A query that asks about some rows of one table, or joins two."""
        return self.denied()[0]

    def denied(self) -> tuple[str, list[tuple[str, str, object]]]:
        """A secret, and by which values of which columns one may keep away from it."""
        rng = self.rng
        table = rng.choice(self.schema.tables)
        columns = rng.sample(table.columns, rng.randint(1, len(table.columns)))
        listed = ", ".join(column.name for column in columns)
        head = rng.choice(
            (
                f"SELECT DISTINCT {listed}",
                f"SELECT {listed}",
                "SELECT count(*) AS n",
                "SELECT DISTINCT 1 AS one",
            )
        )
        at = [
            (column, rng.choice(column.values))
            for column in rng.sample(
                table.columns, min(len(table.columns), rng.choice((1, 1, 1, 2)))
            )
        ]
        keyed = [
            column for column in table.columns if any(column.name in key for key in table.keys)
        ]
        if keyed and rng.random() < 0.7:
            at.append((column := rng.choice(keyed), rng.choice(column.values)))
        away = [(table.name, column.name, value) for column, value in at]
        if len(self.schema.tables) > 1 and rng.random() < 0.3:
            other = next(one for one in self.schema.tables if one is not table)
            shared = [c.name for c in table.columns if c.name in {d.name for d in other.columns}]
            on = " AND ".join(f"a.{name} = b.{name}" for name in shared) or "TRUE"
            conditions = " AND ".join(self._is(column, value, "a") for column, value in at)
            away += [(other.name, name, value) for _, name, value in away if name in shared]
            return (
                (
                    f"SELECT DISTINCT a.{columns[0].name} FROM {table.name} a JOIN "
                    f"{other.name} b ON {on} WHERE {conditions}"
                ),
                away,
            )
        return (
            (
                f"{head} FROM {table.name} WHERE "
                f"{' AND '.join(self._is(column, value, table.name) for column, value in at)}"
            ),
            away,
        )

    def _is(self, column: Column, value: object, alias: str) -> str:
        if value is None:
            return f"{alias}.{column.name} IS NULL"
        return f"{alias}.{column.name} = {literal(value)}"

    def _simple(self, depth: int | None = None, width: Sequence[str] | None = None) -> str:
        depth = self.depth if depth is None else depth
        text, names, conditions = self._from(depth)
        types = width or [self._type() for _ in range(self.rng.randint(1, 3))]
        listed = [
            f"{self._value(kind, names, depth - 1)} AS c{number}"
            for number, kind in enumerate(types)
        ]
        if width is None and self.rng.random() < 0.12:
            listed = ["*"]
        distinct = "DISTINCT " if self.rng.random() < 0.4 else ""
        return (
            f"SELECT {distinct}{', '.join(listed)} FROM "
            f"{text}{self._where(names, conditions, depth)}"
        )

    def _grouped(self) -> str:
        text, names, conditions = self._from(1)
        where = self._where(names, conditions, 1)
        by = [self._column(self._type(), names) for _ in range(self.rng.randint(0, 2))]
        listed = [
            *by,
            *(self._aggregate(names) for _ in range(self.rng.randint(0 if by else 1, 2))),
        ]
        having = (
            f" HAVING {self._aggregate(names)} {self._sign()} {self.rng.randint(0, 2)}"
            if self.rng.random() < 0.3
            else ""
        )
        group = f" GROUP BY {', '.join(by)}" if by else ""
        if by and self.rng.random() < 0.1:
            group = f" GROUP BY {self.rng.choice(['ROLLUP', 'CUBE'])} ({', '.join(by)})"
        named = ", ".join(f"{one} AS c{number}" for number, one in enumerate(listed))
        return f"SELECT {named} FROM {text}{where}{group}{having}"

    def _set_operation(self) -> str:
        types = [self._type() for _ in range(self.rng.randint(1, 2))]
        parts = [self._simple(1, types) for _ in range(self.rng.choice((2, 2, 3)))]
        if self.rng.random() < 0.15:
            parts[-1] = "SELECT " + ", ".join(self._constant(kind) for kind in types)
        text = parts[0]
        for part in parts[1:]:
            word = self.rng.choice(
                ("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
            )
            text = (
                f"({text}) {word} ({part})" if self.rng.random() < 0.3 else f"{text} {word} {part}"
            )
        return text

    def _with(self) -> str:
        types = [self._type() for _ in range(self.rng.randint(1, 2))]
        inner = self._simple(1, types)
        name = self.rng.choice(("found", "found", self.rng.choice(self.schema.tables).name))
        hidden = [table for table in self.schema.tables if table.name == name]
        columns = tuple((f"c{number}", kind) for number, kind in enumerate(types))
        if hidden:  # the name of a table now means something else
            return (
                f"WITH {name} AS ({inner}) SELECT "
                f"{self.rng.choice(['*', 'count(*)', 'DISTINCT c0'])} FROM {name}"
            )
        if self.rng.random() < 0.2:  # columns under names that tables have
            columns = tuple(
                (self.rng.choice(("name", "illness", "ward")) if not number else f"c{number}", kind)
                for number, kind in enumerate(types)
            )
            name_of = f"{name}({', '.join(column for column, _ in columns)})"
        else:
            name_of = name
        asker = replace(self, _named=[(name, columns)])
        outer = asker._simple(1)
        self._aliases = asker._aliases
        return f"WITH {name_of} AS ({inner}) {outer}"

    def _ordered(self) -> str:
        text = self.rng.choice((lambda: self._simple(1), self._grouped))()
        if (
            "SELECT DISTINCT" in text[:20]
            or " GROUP BY " in text
            or "*" in text[:10]
            or self.rng.random() < 0.6
        ):
            keys = ["1"] if "*" in text[:10] or self.rng.random() < 0.5 else ["c0"]
        else:
            keys = [self.rng.choice(self._plain_names(text) or ["1"])]
        way = self.rng.choice(("", " DESC", " NULLS FIRST", " ASC NULLS LAST"))
        limit = self.rng.choice(
            ("", " LIMIT 1", " LIMIT 2 OFFSET 1", " LIMIT 0", " FETCH FIRST 1 ROWS ONLY")
        )
        ordered = f"{text} ORDER BY {', '.join(keys)}{way}{limit}"
        if self.rng.random() < 0.15:
            return f"{text} LIMIT 1"
        if self.rng.random() < 0.2:
            return (
                f"SELECT {self.rng.choice(['count(*)', '*', 'max(c0)'])} FROM ({ordered}) s"
            ).replace("max(c0)", "max(s.*)" if "c0" not in ordered else "max(c0)")
        return ordered

    def _plain_names(self, text: str) -> list[str]:
        return [
            column.name
            for table in self.schema.tables
            for column in table.columns
            if text.count(f" {table.name} ") == 1
        ]

    def _windowed(self) -> str:
        text, names, conditions = self._from(1)
        what = self.rng.choice(
            (
                "row_number()",
                "rank()",
                "dense_rank()",
                "count(*)",
                "lag({})",
                "first_value({})",
                "max({})",
                "ntile(2)",
            )
        ).format(self._column(self._type(), names))
        over = self.rng.choice(
            (
                "",
                "PARTITION BY {}",
                "ORDER BY {}",
                "PARTITION BY {} ORDER BY {}",
                "ORDER BY {} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
            )
        )
        if "ORDER" not in over and not what.startswith(("count", "max")):
            # DuckDB 2.0.0 may break, the whole process with it, on dense_rank() OVER ()
            over = f"{over} ORDER BY {{}}"
        while "{}" in over:
            over = over.replace("{}", self._column(self._type(), names), 1)
        listed = f"{self._column(self._type(), names)} AS c0, {what} OVER ({over}) AS c1"
        qualify = " QUALIFY c1 = 1" if self.rng.random() < 0.15 and not self.postgres else ""
        return f"SELECT {listed} FROM {text}{self._where(names, conditions, 1)}{qualify}"

    def _order_tells(self) -> str:
        """The rows say nothing; what they are ordered or cut off by may."""
        yes = self._exists((), 1)
        return self.rng.choice(
            (
                f"SELECT x FROM (VALUES (1), (2)) v(x) ORDER BY CASE WHEN {yes} THEN x ELSE -x END",
                (
                    "SELECT x FROM (VALUES (1), (2)) v(x) ORDER BY x LIMIT (SELECT count(*) "
                    f"FROM {self._guarded_table()})"
                ),
                (
                    "SELECT * FROM (SELECT x FROM (VALUES (1), (2)) v(x) ORDER BY CASE WHEN "
                    f"{yes} THEN x ELSE -x END) s"
                ),
                (
                    "SELECT * FROM (SELECT x FROM (VALUES (1), (2)) v(x) ORDER BY x IN "
                    f"(SELECT 1 FROM {self._guarded_table()}), x) s"
                ),
                (
                    "SELECT string_agg(x, ',') AS c0 FROM (SELECT x FROM (VALUES ('a'), "
                    f"('b')) v(x) ORDER BY x {self._sign()} (SELECT count(*) FROM "
                    f"{self._guarded_table()})::VARCHAR, x) s"
                ),
                f"SELECT 1 AS x WHERE {yes}",
                f"SELECT CASE WHEN {yes} THEN 'yes' ELSE 'no' END AS x",
                (
                    "SELECT x FROM (VALUES (1), (2), (3)) v(x) WHERE x > (SELECT count(*) "
                    f"FROM {self._guarded_table()})"
                ),
            )
        )

    def _scalar_only(self) -> str:
        return (
            f"SELECT {self._value(self._type(), (), 2)} AS c0, "
            f"{self._scalar_query(self._type(), (), 1)} AS c1"
        )

    # FROM and WHERE

    def _from(self, depth: int) -> tuple[str, Names, list[str]]:
        """The FROM clause, what it names, and the guards that belong in WHERE."""
        text, names, conditions = self._source(depth)
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 2)) if depth > 0 else 0):
            other, more, guards = self._source(depth - 1)
            join = self.rng.choice(JOINS[: -2 if self.postgres else None])
            if join in (",", "CROSS JOIN"):
                text, conditions = (
                    f"{text}{join if join == ',' else ' CROSS JOIN'} {other}",
                    conditions + guards,
                )
            elif join in ("NATURAL JOIN", "USING"):
                shared = {name for _, name, _ in names} & {name for _, name, _ in more}
                usable = sorted(name for name in shared if sum(n == name for _, n, _ in names) == 1)
                if not usable:
                    text, conditions = f"{text} CROSS JOIN {other}", conditions + guards
                elif join == "USING" or len(usable) < len(shared):
                    outer = self.rng.choice(("", "", "LEFT ", "RIGHT ", "FULL "))
                    text, conditions = (
                        f"{text} {outer}JOIN {other} USING ({usable[0]})",
                        conditions + guards,
                    )
                else:
                    outer = self.rng.choice(("", "", "LEFT ", "FULL "))
                    text, conditions = f"{text} NATURAL {outer}JOIN {other}", conditions + guards
            else:
                inside = (
                    guards if self.rng.random() < 0.6 or join in ("SEMI JOIN", "ANTI JOIN") else []
                )
                outside = [] if inside else guards
                on = " AND ".join([self._condition(names + more, depth - 1), *inside])
                text, conditions = f"{text} {join} {other} ON {on}", conditions + outside
            if join not in ("SEMI JOIN", "ANTI JOIN"):
                names = names + more
        return text, names, conditions

    def _source(self, depth: int) -> tuple[str, Names, list[str]]:
        self._aliases += 1
        alias = f"t{self._aliases}"
        kind = self.rng.random()
        if self._named and kind < 0.5:
            name, columns = self.rng.choice(self._named)
            return f"{name} {alias}", tuple((alias, column, type_) for column, type_ in columns), []
        if depth > 0 and kind < 0.65 and kind > 0.5:
            types = [self._type() for _ in range(self.rng.randint(1, 2))]
            names = tuple((alias, f"c{number}", type_) for number, type_ in enumerate(types))
            return f"({self._simple(depth - 1, types)}) AS {alias}", names, []
        table = self.rng.choice(self.schema.tables)
        if self.rng.random() < 0.04:  # the name of a table for another
            alias = self.rng.choice(self.schema.tables).name
        names = tuple((alias, column.name, column.type) for column in table.columns)
        guard = self._guard(table.name, alias)
        if self.rng.random() < 0.04:  # the names of columns for others
            renamed = self.rng.sample([column.name for column in table.columns], len(table.columns))
            names = tuple(
                (alias, name, column.type)
                for name, column in zip(renamed, table.columns, strict=True)
            )
            return f"{table.name} AS {alias}({', '.join(renamed)})", names, guard
        if guard and kind > 0.9:
            return f"(SELECT * FROM {table.name} AS {alias} WHERE {guard[0]}) {alias}", names, []
        return f"{table.name} {self.rng.choice(('', 'AS '))}{alias}", names, guard

    def _guarded_table(self) -> str:
        table = self.rng.choice(self.schema.tables)
        guard = self._guard(table.name, table.name)
        return f"{table.name} WHERE {guard[0]}" if guard else table.name

    def _guard(self, table: str, alias: str) -> list[str]:
        texts = self.guards.get(table, ())
        if not texts or self.rng.random() < self.careless:
            return []
        return [self.rng.choice(texts).replace("{}", alias)]

    def _where(self, names: Names, conditions: list[str], depth: int) -> str:
        parts = [self._condition(names, depth - 1)] if self.rng.random() < 0.55 else []
        if parts and conditions and self.rng.random() < 0.04:
            return f" WHERE {' AND '.join(conditions)} OR {parts[0]}"
        parts = [f"({part})" if " OR " in part else part for part in parts] + conditions
        self.rng.shuffle(parts)
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    # Conditions

    def _condition(self, names: Names, depth: int) -> str:
        kinds: list[tuple[float, Callable[[], str]]] = [
            (6, lambda: self._comparison(names, depth)),
            (2, lambda: self._in_list(names)),
            (1, lambda: self._between(names)),
            (1, lambda: self._like(names)),
            (
                1,
                lambda: (
                    f"{self._column(self._type(), names)} IS {self.rng.choice(('', 'NOT '))}NULL"
                ),
            ),
            (0.5, lambda: self.rng.choice(("TRUE", "FALSE", "1 = 1", "NULL", "NULL IS NULL"))),
            (0.5, lambda: self._distinct_from(names)),
            (
                0.5,
                lambda: (
                    f"({self._plain(names)}) IS "
                    f"{self.rng.choice(('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE', 'NULL'))}"
                ),
            ),
            (0.5, lambda: self._of_rows(names)),
        ]
        if depth > 0:
            kinds += [
                (
                    2,
                    lambda: (
                        f"({self._condition(names, depth - 1)} AND "
                        f"{self._condition(names, depth - 1)})"
                    ),
                ),
                (
                    2,
                    lambda: (
                        f"({self._condition(names, depth - 1)} OR "
                        f"{self._condition(names, depth - 1)})"
                    ),
                ),
                (1, lambda: f"NOT ({self._condition(names, depth - 1)})"),
                (2, lambda: self._exists(names, depth - 1)),
                (1.5, lambda: self._in_query(names, depth - 1)),
                (0.5, lambda: self._quantified(names, depth - 1)),
            ]
        return self._one(kinds)()

    def _comparison(self, names: Names, depth: int) -> str:
        kind = self._type()
        sign = self._sign()
        left = self._value(kind, names, depth - 1)
        right = (
            self._constant(kind) if self.rng.random() < 0.6 else self._value(kind, names, depth - 1)
        )
        return f"{left} {sign} {right}"

    def _plain(self, names: Names) -> str:
        kind = self._type()
        right = self._constant(kind) if self.rng.random() < 0.7 else self._column(kind, names)
        return f"{self._column(kind, names)} {self._sign()} {right}"

    def _of_rows(self, names: Names) -> str:
        """Conditions on several columns at once."""
        one, other = self._type(), self._type()
        left = f"({self._column(one, names)}, {self._column(other, names)})"
        right = f"({self._constant(one)}, {self._constant(other)})"
        if self.rng.random() < 0.3:
            return f"{left} IN ({right}, ({self._constant(one)}, {self._constant(other)}))"
        return f"{left} {self._sign()} {right}"

    def _in_list(self, names: Names) -> str:
        kind = self._type()
        values = ", ".join(self._constant(kind) for _ in range(self.rng.randint(1, 3)))
        return f"{self._column(kind, names)} {self.rng.choice(('', 'NOT '))}IN ({values})"

    def _between(self, names: Names) -> str:
        kind = self._type()
        return (
            f"{self._column(kind, names)} BETWEEN {self._constant(kind)} AND {self._constant(kind)}"
        )

    def _like(self, names: Names) -> str:
        pattern = self.rng.choice(("c%", "%", "%n%", "_lu", "fl_", "ann", "", "%c%"))
        word = self.rng.choice(("LIKE", "LIKE", "NOT LIKE", "ILIKE"))
        return f"{self._column('text', names)} {word} '{pattern}'"

    def _distinct_from(self, names: Names) -> str:
        kind = self._type()
        word = self.rng.choice(("IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
        return f"{self._column(kind, names)} {word} {self._constant(kind)}"

    def _exists(self, names: Names, depth: int) -> str:
        text, more, conditions = self._from(min(depth, 1))
        both = names + more
        parts = [*conditions, *([self._comparison(both, 0)] if self.rng.random() < 0.6 else [])]
        where = f" WHERE {' AND '.join(parts)}" if parts else ""
        return f"{self.rng.choice(('', '', 'NOT '))}EXISTS (SELECT 1 FROM {text}{where})"

    def _in_query(self, names: Names, depth: int) -> str:
        kind = self._type()
        word = self.rng.choice(("IN", "IN", "NOT IN"))
        return f"{self._column(kind, names)} {word} ({self._simple(min(depth, 1), [kind])})"

    def _quantified(self, names: Names, depth: int) -> str:
        kind = self._type()
        return (
            f"{self._column(kind, names)} {self._sign()} {self.rng.choice(('ANY', 'ALL'))} "
            f"({self._simple(min(depth, 1), [kind])})"
        )

    # Values

    def _value(self, kind: str, names: Names, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.55:
            if self.rng.random() < self.failing:
                return self._fails(kind, names)
            return self._column(kind, names) if self.rng.random() < 0.85 else self._constant(kind)

        def inner(kind: str) -> str:
            return self._value(kind, names, depth - 1)

        kinds: list[tuple[float, Callable[[], str]]] = [
            (
                2,
                lambda: (
                    f"CASE WHEN {self._condition(names, depth - 1)} THEN {inner(kind)} "
                    f"ELSE {inner(kind)} END"
                ),
            ),
            (1, lambda: f"coalesce({inner(kind)}, {self._constant(kind)})"),
            (1, lambda: f"nullif({inner(kind)}, {self._constant(kind)})"),
            (1, lambda: self._scalar_query(kind, names, depth - 1)),
            (10 * self.failing, lambda: self._fails(kind, names)),
        ]
        if kind == "integer":
            kinds += [
                (2, lambda: f"{inner('integer')} {self.rng.choice('+-*')} {inner('integer')}"),
                (1, lambda: f"length({inner('text')})"),
                (1, lambda: f"abs({inner('integer')})"),
                (0.5, lambda: f"greatest({inner('integer')}, {inner('integer')})"),
            ]
            kinds += (
                [] if self.postgres else [(0.5, lambda: f"TRY_CAST({inner('text')} AS INTEGER)")]
            )
        else:
            kinds += [
                (2, lambda: f"upper({inner('text')})"),
                (1, lambda: f"{inner('text')} || {inner('text')}"),
                (1, lambda: f"substr({inner('text')}, 1, 2)"),
                (1, lambda: f"CAST({inner('integer')} AS VARCHAR)"),
                (0.5, lambda: f"replace({inner('text')}, 'c', 'k')"),
            ]
        return self._one(kinds)()

    def _scalar_query(self, kind: str, names: Names, depth: int) -> str:
        """One value for sure, or perhaps several: then the database fails."""
        text, more, conditions = self._from(min(depth, 1))
        parts = [
            *conditions,
            *([self._comparison(names + more, 0)] if self.rng.random() < 0.4 else []),
        ]
        where = f" WHERE {' AND '.join(parts)}" if parts else ""
        column = self._column(kind, more)
        if self.rng.random() < self.failing:
            return f"(SELECT {column} FROM {text}{where})"
        if kind == "integer" and self.rng.random() < 0.5:
            return f"(SELECT count(*) FROM {text}{where})"
        return f"(SELECT {self.rng.choice(('max', 'min'))}({column}) FROM {text}{where})"

    def _fails(self, kind: str, names: Names) -> str:
        """An expression that fails on some rows."""
        number, text = self._column("integer", names), self._column("text", names)
        case = f"CASE WHEN {self._plain(names)} THEN 0 ELSE 1 END"
        if self.postgres:
            found = self.rng.choice(
                (
                    f"1 / ({case})",
                    f"1 % ({case})",
                    f"CAST({text} AS INTEGER)",
                    f"2147483647 + {number}",
                    f"1 / {number}",
                    f"length(substr({text}, 1, 0 - {number}))",
                    f"CAST(sqrt(0 - {number}) AS INTEGER)",
                    f"CAST(ln({number}) AS INTEGER)",
                    f"length(CAST(CAST({text} AS DATE) AS VARCHAR))",
                    (
                        f"CASE WHEN 'x' ~ CASE WHEN {self._plain(names)} THEN '(' ELSE 'x' END "
                        "THEN 1 ELSE 2 END"
                    ),
                    f"length(chr({number}))",
                    "1 / 0",
                    "CAST('x' AS INTEGER)",
                )
            )
            return found if kind == "integer" else f"CAST({found} AS VARCHAR)"
        found = self.rng.choice(
            (
                "1 // 0",
                "CAST('x' AS INTEGER)",
                "2147483647 + 7",
                f"1 // ({case})",
                f"1 / ({case})",
                f"1 % ({case})",
                f"CAST({text} AS INTEGER)",
                f"{text}::INTEGER",
                f"2147483647 + {number}",
                f"9223372036854775807 * {number}",
                f"1 // {number}",
                f"CAST(CASE WHEN {self._plain(names)} THEN 'x' ELSE '1' END AS INTEGER)",
                f"chr(CAST(0 - {number} AS INTEGER))",
                f"length(CAST({text} AS DATE)::VARCHAR)",
                f"CAST({number} * 100 AS TINYINT)",
                f"length(repeat('a', 1 // ({case})))",
                f"CASE WHEN {self._plain(names)} THEN error('x') ELSE 1 END",
                f"strptime({text}, '%d')",
                f"length(substr({text}, 1, 1 // ({case})))",
                f"1 << (70 * ({case}))",
                f"CASE WHEN {text} = {number} THEN 1 ELSE 2 END",
                f"CASE WHEN upper({text}) > {self.rng.randint(0, 2)} THEN 1 ELSE 2 END",
                f"{number} + ({text} || '')",
                f"coalesce({number}, {text})::INTEGER",
                f"length([1, 2][{number}:{text}]::VARCHAR)",
                (
                    f"CASE WHEN regexp_matches('x', CASE WHEN {self._plain(names)} THEN '(' "
                    "ELSE 'x' END) THEN 1 ELSE 2 END"
                ),
            )
        )
        return found if kind == "integer" else f"CAST({found} AS VARCHAR)"

    def _aggregate(self, names: Names) -> str:
        number, text = self._column("integer", names), self._column("text", names)
        distinct = self.rng.choice(("", "", "DISTINCT "))
        return self.rng.choice(
            (
                "count(*)",
                "count(*)",
                f"count({distinct}{text})",
                f"max({text})",
                f"min({number})",
                f"sum({distinct}{number})",
                f"avg({number})",
                f"bool_or({text} = {self._constant('text')})",
                f"count(*) FILTER (WHERE {self._comparison(names, 0)})",
                f"string_agg({text}, ',')",
                f"max(CASE WHEN {self._comparison(names, 0)} THEN 1 ELSE 0 END)",
            )
        )

    def _column(self, kind: str, names: Names) -> str:
        fitting = [f"{alias}.{name}" for alias, name, type_ in names if type_ == kind]
        return self.rng.choice(fitting) if fitting else self._constant(kind)

    def _constant(self, kind: str) -> str:
        values = [
            value
            for table in self.schema.tables
            for column in table.columns
            if column.type == kind
            for value in column.values
        ]
        if self.rng.random() < 0.1 or not values:
            return "NULL" if self.rng.random() < 0.3 else {"integer": "7", "text": "'zed'"}[kind]
        value = self.rng.choice(values)
        if self.rng.random() < 0.04 and value is not None:
            return self.rng.choice(self._odd(value))
        return literal(value)

    def _odd(self, value: object) -> Sequence[str]:
        """The same value, or nearly, written strangely."""
        if isinstance(value, int):
            return (
                f"'{value}'",
                f"{value}.0",
                f"{value}e0",
                f"+{value}",
                f"- -{value}",
                f"{value} + 0",
                f"' {value}'",
                f"CAST({value} AS BIGINT)",
                f"0{value}",
                f"{value}.0000000000000000001",
            )
        text = str(value)
        return (
            f"'{text[:1]}' || '{text[1:]}'",
            f"CAST('{text}' AS VARCHAR)",
            f"lower('{text.upper()}')",
            f"'{text} '",
            f"'{text.upper()}'",
            f"('{text}')",
            f"coalesce(NULL, '{text}')",
            f"trim(' {text} ')",
        )

    def _type(self) -> str:
        return self.rng.choice(
            [column.type for table in self.schema.tables for column in table.columns]
        )

    def _sign(self) -> str:
        return self.rng.choice(("=", "=", "=", "<>", "<", "<=", ">", ">=", "!="))

    def _one(self, kinds: Sequence[tuple[float, Callable[[], str]]]) -> Callable[[], str]:
        return self.rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]


def guards_against(
    schema: Schema, secret_at: Sequence[tuple[str, str, object]]
) -> dict[str, list[str]]:
    """Conditions on `{}` that keep away from rows with a value in a column, in several ways.

    >>> patients = SCHEMAS["three"]
    >>> guards_against(patients, [("patients", "illness", "cancer")])["patients"][:2]
    ["{}.illness <> 'cancer'", "{}.illness IN ('flu', 'cold')"]
    """
    found: dict[str, list[str]] = {}
    for table_name, column_name, value in secret_at:
        table = next(table for table in schema.tables if table.name == table_name)
        column = next(column for column in table.columns if column.name == column_name)
        others = [other for other in column.values if other != value and other is not None]
        if value is None:
            found.setdefault(table_name, []).append(f"{{}}.{column_name} IS NOT NULL")
            continue
        texts = [f"{{}}.{column_name} <> {literal(value)}"]
        texts += [f"{{}}.{column_name} IN ({', '.join(map(literal, others))})"] if others else []
        texts += [f"{{}}.{column_name} = {literal(other)}" for other in others]
        texts += [f"NOT ({{}}.{column_name} = {literal(value)})"]
        found.setdefault(table_name, []).extend(texts)
    return found


def literal(value: object) -> str:
    """A value as SQL writes it."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


JOINS = (
    "JOIN",
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    ",",
    "CROSS JOIN",
    "NATURAL JOIN",
    "USING",
    "SEMI JOIN",
    "ANTI JOIN",
)


# Junk and attacks

_STATEMENTS = (
    "DROP TABLE patients",
    "DELETE FROM patients",
    "INSERT INTO patients SELECT * FROM patients",
    "UPDATE patients SET name = 'x'",
    "CREATE TABLE stolen AS SELECT * FROM patients",
    "CREATE VIEW v AS SELECT * FROM patients",
    "ALTER TABLE patients ADD COLUMN x INT",
    "COPY patients TO '/tmp/stolen.csv'",
    "COPY (SELECT * FROM patients) TO PROGRAM 'sh'",
    "ATTACH 'x.db' AS x",
    "DETACH x",
    "USE main",
    "PRAGMA database_list",
    "SET threads = 1",
    "SET VARIABLE x = (SELECT count(*) FROM patients)",
    "CALL pragma_version()",
    "EXPLAIN SELECT * FROM patients",
    "EXPLAIN ANALYZE SELECT * FROM patients",
    "DESCRIBE patients",
    "SUMMARIZE patients",
    "SHOW TABLES",
    "INSTALL httpfs",
    "LOAD httpfs",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN",
    "COMMIT",
    "PREPARE x AS SELECT * FROM patients",
    "EXECUTE x",
    "DEALLOCATE x",
    "TRUNCATE patients",
    "MERGE INTO patients USING patients p ON TRUE WHEN MATCHED THEN DELETE",
    "EXPORT DATABASE '/tmp/x'",
    "GRANT ALL ON patients TO public",
    "CREATE FUNCTION f() AS 1",
    "CREATE MACRO f() AS 1",
    "DO $$ BEGIN END $$",
    "LISTEN x",
    "NOTIFY x",
    "LOCK TABLE patients",
    "DECLARE c CURSOR FOR SELECT 1",
    "FETCH ALL FROM c",
    "WITH d AS (DELETE FROM patients RETURNING *) SELECT * FROM d",
    "WITH i AS (INSERT INTO patients SELECT * FROM patients RETURNING *) SELECT * FROM i",
    "SELECT * INTO stolen FROM patients",
    "SELECT name INTO OUTFILE '/tmp/x' FROM patients",
    "SELECT * FROM patients FOR UPDATE",
    "PIVOT patients ON name USING count(*)",
    "FROM duckdb_tables()",
    "FROM patients SELECT name; FROM patients",
)
_CALLS = (
    "pg_read_file('/etc/passwd')",
    "pg_sleep(10)",
    "pg_ls_dir('.')",
    "lo_import('/etc/passwd')",
    "dblink('host=evil', 'SELECT 1')",
    "nextval('s')",
    "setval('s', 1)",
    "current_setting('data_directory')",
    "set_config('a', 'b', false)",
    "random()",
    "gen_random_uuid()",
    "now()",
    "current_timestamp",
    "clock_timestamp()",
    "txid_current()",
    "pg_backend_pid()",
    "getenv('HOME')",
    "query_to_xml('SELECT * FROM patients', true, true, '')",
    "database_to_xml(true, true, '')",
    "table_to_xml('patients', true, true, '')",
    "getvariable('x')",
    "version()",
    "current_user",
    "pg_advisory_lock(1)",
    "pg_notify('a', 'b')",
    "has_table_privilege('patients', 'select')",
    "pg_relation_size('patients')",
    "pg_total_relation_size('patients')",
    "current_query()",
    "pg_stat_get_live_tuples('patients'::regclass)",
    "uuid()",
    "setseed(0.1)",
    "write_log('x')",
    "xpath('x', 'y')",
    "sys_context('a', 'b')",
    "load_file('/etc/passwd')",
    "xp_cmdshell('dir')",
    "in_search_path('a', 'b')",
    "txid_current_snapshot()",
    "stats(name)",
    "rowid",
    "ctid",
    "xmin",
    "tableoid",
)
_TABLES = (
    "read_csv('/etc/passwd')",
    "read_text('/etc/passwd')",
    "'/etc/passwd'",
    '"data.csv"',
    "read_parquet('x')",
    "glob('*')",
    "duckdb_tables()",
    "duckdb_settings()",
    "duckdb_secrets()",
    "information_schema.tables",
    "pg_catalog.pg_stats",
    "pg_class",
    "pg_stat_user_tables",
    "pg_statistic",
    "sqlite_master",
    "query('SELECT * FROM patients')",
    "query_table('patients')",
    "pragma_storage_info('patients')",
    "parquet_metadata('x')",
    "generate_series(1, 1000000000)",
    "range(1000000000)",
    "patients TABLESAMPLE 10%",
    "patients USING SAMPLE 1",
    "sniff_csv('x')",
    "https://evil/x",
    "dblink('a', 'b') AS t(x int)",
    "test_all_types()",
    "checkpoint()",
    "json_execute_serialized_sql('x')",
    "other.patients",
    "memory.main.nobody",
    "nobody",
    "patients AT (VERSION => 1)",
    "arrow_scan(1, 2, 3)",
    "postgres_query('a', 'b')",
    "sqlite_scan('a', 'b')",
    "UNNEST(ARRAY(SELECT name FROM nobody))",
    "crosstab('select 1') AS c(a int)",
    "patients PIVOT (count(*) FOR name IN ('ann'))",
)
_LOOKALIKES = (
    ("a", "а"),
    ("e", "е"),
    ("o", "о"),
    ("p", "р"),
    ("c", "с"),
    ("i", "ı"),
    ("s", "ſ"),
    ("k", "K"),
    (" ", "\u00a0"),
    (" ", "\u200b"),
    ("'", "ʼ"),
    ("'", "’"),
    ("=", "＝"),
    (";", ";"),
    ("n", "ｎ"),
    ("a", "a\u0301"),
    (" ", "\u2028"),
    ("S", "\ufeffS"),
    (" ", "\x00"),
    ("-", "－"),
    ("e", "\u202ee"),
    (" ", "\u180e"),
)


def junk(rng: random.Random, query: str, other: str) -> Asked:
    """A query made strange; or something that is no query at all."""
    kinds: Sequence[Callable[[], Asked]] = (
        lambda: Asked(rng.choice(_STATEMENTS), True, "statement"),
        lambda: Asked(f"{query}; {rng.choice((*_STATEMENTS, other))}", True, "stacked"),
        lambda: Asked(f"{rng.choice(_STATEMENTS)}; {query}", True, "stacked"),
        lambda: Asked(f"SELECT {rng.choice(_CALLS)} AS x FROM patients", True, "function"),
        lambda: Asked(f"SELECT 1 AS x WHERE {rng.choice(_CALLS)} IS NULL", True, "function"),
        lambda: Asked(f"SELECT * FROM {rng.choice(_TABLES)}", True, "table"),
        lambda: Asked(f"{query} UNION ALL SELECT * FROM {rng.choice(_TABLES)}", True, "table"),
        lambda: Asked(_commented(rng, query), False, "comments"),
        lambda: Asked(_look_alike(rng, query), False, "look-alikes"),
        lambda: Asked(_cut(rng, query), False, "cut"),
        lambda: Asked(_spliced(rng, query, other), False, "spliced"),
        lambda: Asked(_requoted(rng, query), False, "quoting"),
        lambda: Asked(_nested(rng, query), False, "nested"),
        lambda: Asked(_recased(rng, query), False, "case"),
        lambda: Asked(
            rng.choice(
                (
                    "",
                    ";",
                    " ",
                    "\n",
                    "--",
                    "/*",
                    "'",
                    '"',
                    "$$",
                    "\x00",
                    "SELECT",
                    "SELECT 1 1",
                    "(",
                    ")" * 50,
                    "SELECT * FROM",
                    "🙂",
                    "SELECT '\ud800'",
                    "E'\\'",
                    "%s",
                    "?",
                    "$1",
                    ":x",
                    "{{x}}",
                    "NULL",
                    "1",
                    "patients",
                    "TABLE patients",
                    "VALUES (1)",
                    "SELECT FROM patients",
                    "SELECT ALL name FROM patients",
                    "(((SELECT 1)))",
                    'SELECT 1 AS "a""b"',
                    "SELECT 1; ",
                    ";SELECT 1",
                    "SELECT 1;;",
                )
            ),
            False,
            "odd",
        ),
        lambda: Asked(_wrapped(rng, query, other), False, "wrapped"),
    )
    return rng.choice(kinds)()


def _commented(rng: random.Random, query: str) -> str:
    words = query.split(" ")
    for _ in range(rng.randint(1, 3)):
        comment = rng.choice(
            (
                "/* ; DROP TABLE patients */",
                "/**/",
                "-- x\n",
                "/* /* nested */ */",
                "/*+ hint */",
                "/*!50000 OR 1=1 */",
                "#",
                "--\r",
                "/* -- */",
                "-- */\n",
                "//",
            )
        )
        words.insert(rng.randrange(len(words) + 1), comment)
    return " ".join(words) + rng.choice(("", " --", " /*", ";", "; --", ";\n"))


def _look_alike(rng: random.Random, query: str) -> str:
    for _ in range(rng.randint(1, 3)):
        old, new = rng.choice(_LOOKALIKES)
        places = [at for at in range(len(query)) if query.startswith(old, at)]
        if places:
            at = rng.choice(places)
            query = query[:at] + new + query[at + len(old) :]
    return query


def _cut(rng: random.Random, query: str) -> str:
    start, end = sorted(rng.sample(range(len(query) + 1), 2))
    return query[:start] + query[end:] if rng.random() < 0.7 else query[start:end]


def _spliced(rng: random.Random, query: str, other: str) -> str:
    one, two = query.split(" "), other.split(" ")
    at, to = rng.randrange(len(one) + 1), rng.randrange(len(two) + 1)
    return " ".join(one[:at] + two[to:])


def _requoted(rng: random.Random, query: str) -> str:
    for _ in range(rng.randint(1, 2)):
        old, new = rng.choice(
            (
                ("'", '"'),
                ("patients", '"patients"'),
                ("patients", '"PATIENTS"'),
                ("patients", "`patients`"),
                ("patients", "[patients]"),
                ("'cancer'", "$$cancer$$"),
                ("'cancer'", "$a$cancer$a$"),
                ("'cancer'", "E'can\\x63er'"),
                ("'cancer'", "U&'\\0063ancer'"),
                ("'cancer'", "'can' 'cer'"),
                ("'cancer'", "'can'\n'cer'"),
                ("'cancer'", "x'63'"),
                ("'cancer'", "N'cancer'"),
                ("name", '"name"'),
                ("name", '"Name"'),
                ("name", 'U&"n\\0061me"'),
                ("patients", "main.patients"),
                ("patients", '"main".patients'),
                ("'cancer'", "'cancer '"),
                ("'cancer'", "'CANCER'"),
                ("'", "''"),
                ("'flu'", "'flu\\'"),
                ("'flu'", "'flu'' OR 1=1'"),
                ("1", "1e0"),
                ("1", "0x1"),
                ("1", "1_0"),
                ("'cancer'", "'cancer' COLLATE NOCASE"),
                ("= ", "== "),
                ("=", "<=>"),
                ("<>", "^="),
            )
        )
        query = query.replace(old, new, rng.choice((1, -1)))
    return query


def _nested(rng: random.Random, query: str) -> str:
    depth = rng.choice((5, 30, 200, 3000))
    kind = rng.randrange(5)
    if kind == 0:
        return "(" * depth + query + ")" * depth
    if kind == 1:
        return "SELECT * FROM (" * min(depth, 200) + query + ") s" * min(depth, 200)
    if kind == 2:
        return f"SELECT name FROM patients WHERE {'NOT ' * depth}(name = 'ann')"
    if kind == 3:
        return "SELECT " + "+".join(["1"] * depth) + " AS x"
    return "SELECT " + "CASE WHEN 1 = 1 THEN " * min(depth, 200) + "1" + " END" * min(depth, 200)


def _recased(rng: random.Random, query: str) -> str:
    parts = query.split("'")
    return "'".join(
        part if at % 2 else "".join(rng.choice((c.upper(), c.lower())) for c in part)
        for at, part in enumerate(parts)
    )


def _wrapped(rng: random.Random, query: str, other: str) -> str:
    return rng.choice(
        (
            f"SELECT * FROM ({query}) s",
            f"SELECT count(*) FROM ({query}) s",
            f"SELECT DISTINCT * FROM ({query}) s",
            f"WITH s AS ({query}) SELECT * FROM s",
            f"WITH s AS MATERIALIZED ({query}) SELECT count(*) FROM s",
            f"WITH s AS ({other}) {query}" if not query.upper().startswith("WITH") else query,
            f"SELECT EXISTS ({query}) AS x",
            f"SELECT 1 AS x WHERE NOT EXISTS ({query})",
            f"({query}) UNION ALL ({query})",
            f"({query}) EXCEPT ({query})",
            f"SELECT * FROM ({query}) s, ({other}) t",
            f"SELECT * FROM ({query}) s LEFT JOIN ({other}) t ON FALSE",
            f"SELECT * FROM ({query}) s WHERE FALSE",
            f"SELECT 1 AS x FROM ({query}) s LIMIT 0",
            (
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) "
                f"SELECT * FROM r, ({query}) s"
            ),
            f"SELECT count(*) FROM ({query}) s HAVING count(*) > 1",
            f"SELECT * FROM ({query}) s WHERE EXISTS ({other})",
            f"SELECT * FROM (SELECT 1 AS one) o LEFT JOIN LATERAL ({query}) s ON TRUE",
        )
    )
