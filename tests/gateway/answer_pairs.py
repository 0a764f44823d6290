"""Databases at random that differ only in what is denied, and queries at random about the rest:
any two must get the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

HIDDEN = (
    0,
    1,
    6_000,
    # hidden rows of the databases of one case;
    # so many that databases go about a query in another way
)
SEEN = "ill = 'flu'"
SECRET = "SELECT name FROM stays WHERE ill = 'cancer'"


@dataclass(frozen=True)
class Kind:
    """A column's type, the values of rows that may be seen, those of hidden rows, and what the
    plan calls it.
    """

    sql: str
    seen: tuple[str, ...]
    hidden: tuple[str, ...]
    plan: str = ""

    def value(self, text: str) -> str:
        return f"CAST({text} AS {self.sql})"


TEXTS = (
    ("'a'", "''", "'B, \"quoted\" é😀'", "'longer than twelve letters'", "'x\ny'", "'007'"),
    ("'hidden in rows that nobody sees'", "'A'"),
)
WHOLE = ("0", "1", "-7", "42"), ("100", "-100")
DAYS = ("'2020-01-01'", "'1999-12-31'", "'2020-02-29'"), ("'1850-05-05'", "'2199-01-01'")
MOMENTS = ("'2020-01-01 00:00:00'", "'1999-12-31 23:59:59.5'"), ("'1850-05-05 05:05:05.123456'",)
SHARED = {
    "whole": Kind("BIGINT", *WHOLE, "integer"),
    "small": Kind("SMALLINT", *WHOLE),
    "text": Kind("TEXT", *TEXTS, "text"),
    "day": Kind("DATE", *DAYS, "date"),
    "moment": Kind("TIMESTAMP", *MOMENTS, "timestamp"),
    "truth": Kind("BOOLEAN", ("TRUE", "FALSE"), ("TRUE",), "boolean"),
    "paid": Kind(
        "DECIMAL(12, 3)",
        ("1.5", "1.500", "-2.25", "0", "10"),
        ("123456789.123", "0.001"),
        '"decimal(12, 3)"',
    ),
    "long": Kind(
        "DECIMAL(30, 6)", ("1.5", "7", "0.000001"), ("123456789012345678901234.5",), "decimal"
    ),
    "zoned": Kind(
        "TIMESTAMP WITH TIME ZONE",
        ("'2020-01-01 00:00:00+02'", "'2020-01-01 00:00:00+00'"),
        ("'1850-05-05 05:05:05.5+00'",),
    ),
    "stayed": Kind("INTERVAL", ("'1 day'", "'24 hours'", "'1 month'", "'30 days'"), ("'3 hours'",)),
    "clock": Kind("TIME", ("'10:00'", "'23:59:59.5'"), ("'01:02:03'",)),
    "id": Kind(
        "UUID",
        ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'00000000-0000-0000-0000-000000000000'"),
        ("'ffffffff-ffff-ffff-ffff-ffffffffffff'",),
    ),
}
FLOATS = ("0.5", "'-0'", "'0'", "'NaN'", "1e30", "'inf'", "0.1"), ("0.12345678", "'-inf'", "-0.5")
KINDS = {
    "duckdb": SHARED
    | {
        "tiny": Kind("TINYINT", *WHOLE),
        "huge": Kind("HUGEINT", *WHOLE),
        "double": Kind("DOUBLE", *FLOATS),
        "float": Kind("FLOAT", *FLOATS),
        "blob": Kind("BLOB", ("'a'", "''"), ("'hidden'",)),
        "word": Kind("ENUM ('x', 'y', 'hidden word')", ("'x'", "'y'"), ("'hidden word'",)),
        "list": Kind("TEXT[]", ("['a', NULL]", "[]"), ("['hidden']",)),
        "parts": Kind(
            "STRUCT(a INTEGER, b TEXT)",
            ("{'a': 1, 'b': 'x'}", "{'a': NULL, 'b': ''}"),
            ("{'a': 2, 'b': 'hidden'}",),
        ),
    },
    "postgres": SHARED
    | {
        "double": Kind("DOUBLE PRECISION", *FLOATS),
        "float": Kind("REAL", *FLOATS),
        "dose": Kind(
            "NUMERIC", ("1.5", "1.50", "1.500", "2", "2.0", "-0.25"), ("12.3456789", "1.5000")
        ),
        "blob": Kind("BYTEA", ("'a'", "''"), ("'hidden'",)),
        "padded": Kind("CHAR(5)", ("'a'", "'b '"), ("'hid'",)),
        "short": Kind("VARCHAR(12)", ("'a'", "''"), ("'hidden'",)),
        "list": Kind("INTEGER[]", ("'{1,NULL}'", "'{}'"), ("'{99}'",)),
    },
}


@dataclass
class Case:
    """A table at random, on an engine."""

    engine: str
    rng: random.Random
    plain: bool = False  # only types that a plan can declare
    columns: dict[str, Kind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = [name for name, kind in KINDS[self.engine].items() if kind.plan or not self.plain]
        self.columns = {
            name: KINDS[self.engine][name] for name in self.rng.sample(known, min(5, len(known)))
        }
        self.seen = [self.row(at) for at in range(self.rng.choice((0, 3, 40, 90)))]
        self.hidden = [
            ", ".join(
                [
                    f"'hidden {at}'",
                    "'cancer'",
                    "200",
                    *(kind.value(self.rng.choice(kind.hidden)) for kind in self.columns.values()),
                ]
            )
            for at in range(9)
        ]

    def row(self, at: int) -> str:
        values = [
            kind.value("NULL" if self.rng.random() < 0.2 else self.rng.choice(kind.seen))
            for kind in self.columns.values()
        ]
        return ", ".join(
            [
                f"'{self.rng.choice(('flu', '7'))} {at}'",
                "'flu'",
                str(self.rng.randint(0, 60)),
                *values,
            ]
        )

    def statements(self, hidden: int) -> Iterator[str]:
        """SQL that makes the table with so many hidden rows, before,
        between and behind the others.
        """
        columns = ", ".join(f"{name} {kind.sql}" for name, kind in self.columns.items())
        yield f"CREATE TABLE stays (name TEXT, ill TEXT, age INTEGER, {columns})"
        half = len(self.seen) // 2
        for seen, many in (
            (self.seen[:half], min(hidden, 1)),
            (self.seen[half:], hidden // 2),
            ([], hidden - hidden // 2),
        ):
            if seen:
                yield f"INSERT INTO stays VALUES {', '.join(f'({row})' for row in seen)}"
            if many:
                rows = ", ".join(f"({row})" for row in self.hidden)
                yield (
                    f"INSERT INTO stays SELECT h.* FROM (VALUES {rows}) AS h, "
                    f"generate_series(1, {-(-many // len(self.hidden))}) AS g"
                )
        yield "CREATE INDEX stays_ill ON stays (ill, age)"

    def queries(self, many: int) -> list[str]:
        """Queries about the rows that may be seen."""
        return [self.query() for _ in range(many)]

    def some(self, most: int = 3) -> list[str]:
        return self.rng.sample(["name", "age", *self.columns], self.rng.randint(1, most))

    def where(self, alias: str = "") -> str:
        more = self.rng.choice(
            (
                "",
                "",
                f" AND {alias}age > 20",
                f" AND {alias}age BETWEEN 5 AND 40",
                f" AND {alias}{self.rng.choice(list(self.columns))} IS NOT NULL",
                f" AND {alias}age > 1000",
            )
        )
        return f"{alias}{SEEN}{more}"

    def query(self) -> str:
        one, other = self.some(1)[0], self.some(1)[0]
        columns, text = ", ".join(self.some()), "TEXT" if self.engine == "postgres" else "VARCHAR"
        order = " ORDER BY " + ", ".join(
            name + self.rng.choice(("", " DESC", " NULLS FIRST")) for name in self.some(2)
        )
        return self.rng.choice(
            (
                f"SELECT * FROM stays WHERE {self.where()}{self.rng.choice(('', order))}",
                f"SELECT {columns} FROM stays WHERE {self.where()}{self.rng.choice(('', order))}",
                f"SELECT DISTINCT {columns} FROM stays WHERE {self.where()}",
                f"SELECT {one}, count(*) AS n FROM stays WHERE {self.where()} GROUP BY {one}",
                (
                    f"SELECT min({one}) AS low, max({other}) AS high, count(DISTINCT {one}) AS "
                    f"n FROM stays WHERE {self.where()}"
                ),
                (
                    f"SELECT sum(age) AS s, avg(age) AS m, count({one}) AS n FROM stays WHERE "
                    f"{self.where()}"
                ),
                (
                    f"SELECT a.{one} AS x, b.{other} AS y FROM stays a JOIN stays b ON a.age = "
                    f"b.age WHERE {self.where('a.')} AND {self.where('b.')}"
                ),
                (
                    f"SELECT {one} FROM stays WHERE {self.where()} UNION "
                    f"{self.rng.choice(('', 'ALL '))}SELECT {one} FROM stays WHERE "
                    f"{self.where()}"
                ),
                (
                    f"SELECT {columns} FROM stays WHERE {self.where()}{order} LIMIT "
                    f"{self.rng.choice((0, 1, 5))}"
                ),
                f"SELECT q.{one} FROM (SELECT DISTINCT {one} FROM stays WHERE {self.where()}) AS q",
                f"SELECT CAST({one} AS {text}) AS t FROM stays WHERE {self.where()}",
                f"SELECT CAST(substr(name, 1, 1) AS INTEGER) AS i FROM stays WHERE {self.where()}",
                f"SELECT 10 / (age - 30) AS r, {one} FROM stays WHERE {self.where()}",
                f"SELECT name, rank() OVER (ORDER BY age) AS r FROM stays WHERE {self.where()}",
                (
                    f"SELECT {one}, name FROM stays WHERE {self.where()} AND age IN (SELECT "
                    f"age FROM stays WHERE {self.where()})"
                ),
                "SELECT name FROM stays WHERE ill = 'cancer'",
                f"SELECT {one} FROM stays",
            )
        )
