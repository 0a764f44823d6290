"""Tables that engines tend to disagree about, as values of the model."""

from __future__ import annotations

import random
from decimal import Decimal

from tacit.model.schema import Table

# Text in the order of code points, which no dictionary would print.
TRICKY = (
    "",
    " ",
    "!",
    '"',
    "%",
    "'",
    "''",
    "0",
    "00",
    "1",
    "10",
    "2",
    "A",
    "B",
    "Z",
    "[a]",
    "\\",
    "\\'",
    "\\\\",
    "\\n",
    "_",
    "`",
    "a",
    "a b",
    "a\\b",
    "a\nb",
    "b",
    "it's",
    'say "hi"',
    "z",
    "{x}",
    "ä",
    "ß",
    "é",
    "e\u0301",
    "Straße",
    "straße",
    "ſ",
    "中",
    "\uffee",
    "😀",
    "😀😀",
    "𝒜",
)

PEOPLE = Table(
    "people",
    columns={
        "name": "text",
        'a "b"': "text",
        "it's": "integer",
        "Größe": "decimal",
        "order": "date",
        "seen at": "timestamp",
        "back`tick": "boolean",
    },
    rows=(
        ("Ana", "x", 1, Decimal("1.50"), "2024-02-29", "2024-03-31 02:30:00", True),
        ("ana", "x", 1, Decimal("1.5"), "2024-02-29", "2024-03-31 02:30:00.000001", False),
        ("Ána", "X", -1, Decimal("-0.25"), "1899-12-31", "1970-01-01 00:00:00", None),
        ("it's", None, 9007199254740993, Decimal("0"), None, None, True),
        (
            "a\\b",
            "",
            -9223372036854775808,
            Decimal("123456789012.34"),
            "2024-03-01",
            "9999-12-31 23:59:59",
            True,
        ),
        ("😀", "ß", None, None, "0001-01-01", "2024-03-31 02:30:00", None),
        (None, None, None, None, None, None, None),
        ("Ana", "x", 1, Decimal("1.50"), "2024-02-29", "2024-03-31 02:30:00", True),
    ),
)

WORDS = Table("words", columns={"word": "text"}, rows=tuple((word,) for word in (*TRICKY, None)))

# Text in which nothing can be read, and text in which something can.
BLANKS = Table(
    "blanks",
    columns={"n": "integer", "text": "text"},
    rows=tuple(
        enumerate(
            (
                "",
                " ",
                "\t\r\n",
                "\u00a0",
                "\u3000\u200b",
                "\ufeff",
                "\u2060\u00ad",
                "x",
                " x ",
                "\u200bx",
                ".",
                "0",
                "😀",
                None,
                "x\r",
            )
        )
    ),
)

# Numbers, and what only looks like them, as a CSV file would bring it.
LOOKS = Table(
    "looks",
    columns={"whole": "text", "part": "text", "mixed": "text", "none": "text"},
    rows=(
        ("0", "0.5", "1", None),
        ("-1", "-0.25", "1\n", None),
        ("12", "3", "01", None),
        ("999999999999999999", "123456789012345678.00000000000000000001", "+1", None),
        ("-999999999999999999", "-0", " 1", None),
        (None, None, "1e5", None),
        ("7", "7", "١", None),
        ("8", "8.0", "1,5", None),
        ("9", "9", "🧮.5", None),
    ),
)

# Dates as text, and what only looks like them.
DATES = Table(
    "written_dates",
    columns={"day": "text"},
    rows=(
        ("2024-02-29",),
        ("2024-02-29T12:30",),
        ("2024-02-29 12:30:00",),
        ("2024-02-29T12:30:00Z",),
        ("2024-02-29T12:30:00.12",),
        ("2024-02-29T12:30:00+01:00",),
        ("2024-02-29\n",),
        ("2024-2-29",),
        ("2024/02/29",),
        ("29.02.2024",),
        ("20240229",),
        (None,),
    ),
)

# A table whose name is also an alias in our SQL.
ALIAS = Table("d0", columns={"t": "text", "p": "integer"}, rows=(("x", 1), ("y", 2), ("x", 1)))

EMPTY = Table("empty", columns={"name": "text", "age": "integer"}, rows=())


def many(rows: int = 3000, seed: int = 20240229) -> Table:
    """A table with several rows for each person, persons in two columns,
    and NULL in all columns but one.
    """
    rng = random.Random(seed)

    def row() -> tuple[object, ...]:
        return (
            rng.choice(("Ana", "ana", "ANA", "Änne", None)),
            rng.randrange(400),
            rng.choice((*TRICKY, None)),
            rng.choice((*range(-3, 4), None)),
            rng.choice((Decimal("0.1"), Decimal("0.10"), Decimal("-0.1"), None)),
            rng.choice(("flu", "Flu", "cold", None)),
        )

    return Table(
        "many",
        columns={
            "first": "text",
            "number": "integer",
            "word": "text",
            "age": "integer",
            "dose": "decimal",
            "condition": "text",
        },
        rows=tuple(row() for _ in range(rows)),
    )


TABLES = (PEOPLE, WORDS, BLANKS, LOOKS, DATES, ALIAS, EMPTY, many())
