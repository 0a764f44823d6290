"""Shapes about what values look like: which texts are numbers or dates, and a table of text with
its columns typed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from tacit.engines.sql.shapes import column, count_where, table_of
from tacit.model.text import BLANKS

# Numbers as text. A mark is put behind each value to find its end: Java's $ would also match
# before a last line feed. Up to 18 digits fit BIGINT; 18 and 20 behind the point DECIMAL(38, 20).
END = ";"
INTEGER = rf"^(0|-?[1-9][0-9]{{0,17}}){END}$"
DECIMAL = rf"^-?(0|[1-9][0-9]{{0,17}})([.][0-9]{{1,20}})?{END}$"
DIGITS = rf"^[0-9]+{END}$"
WITH_COMMA = rf"^-?(0|[1-9][0-9]{{0,17}}),[0-9]{{1,20}}{END}$"
TIME = r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
# What a cast would keep: engines drop the time of a date, the zone of a
# time, and digits beyond microseconds.
FORMS: Mapping[str, str] = {
    "date": rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{END}$",
    "timestamp": (
        rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T "
        rf"][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]{{1,6}})?)?)?{END}$"
    ),
}
ISO_DATE = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}({TIME})?{END}$"


def kinds_of_text(table: str, columns: Mapping[str, str | None]) -> exp.Select:
    """For each text column (given with its declared type): how many values, how many look like
    integers, like decimals, and the most digits after the point; how many have the form of the type
    that is declared, of dates and times.
    """
    parts: list[exp.Expr] = []
    for i, (name, declared) in enumerate(columns.items()):
        form = FORMS.get(declared or "")
        parts += [
            exp.alias_(exp.Count(this=column(name)), f"n{i}"),
            exp.alias_(count_where(looks_like(name, INTEGER)), f"i{i}"),
            exp.alias_(count_where(looks_like(name, DECIMAL)), f"d{i}"),
            exp.alias_(exp.Max(this=digits_after_point(name)), f"s{i}"),
            exp.alias_(count_where(looks_like(name, form)) if form else exp.null(), f"f{i}"),
        ]
    return exp.select(*parts).from_(table_of(table))


def column_facts(table: str, columns: Mapping[str, str]) -> exp.Select:
    """The number of rows, and for each column (given with its type) seven facts.

    How many values, how many different ones; the least and the greatest of numbers, the fewest and
    the most characters of text; how many texts are all digits, numbers, ISO dates. NULL elsewhere.

    >>> column_facts("t", {"born": "date"}).sql()
    'SELECT COUNT(*) AS n, COUNT("born") AS f0, COUNT(DISTINCT "born") AS f1, NULL AS f2, NULL AS f3, NULL AS f4, NULL AS f5, NULL AS f6 FROM "t"'
    """  # noqa: E501
    facts: list[exp.Expr] = []
    for name, kind in columns.items():
        facts += [
            exp.Count(this=column(name)),
            exp.Count(this=exp.Distinct(expressions=[column(name)])),
        ]
        size = {
            "text": exp.Length(this=column(name)),
            "integer": column(name),
            "decimal": column(name),
        }.get(kind)
        facts += (
            [exp.Min(this=size.copy()), exp.Max(this=size)] if size else [exp.null(), exp.null()]
        )
        for pattern in (DIGITS, DECIMAL, ISO_DATE):
            facts.append(count_where(looks_like(name, pattern)) if kind == "text" else exp.null())
    rows = exp.alias_(exp.Count(this=exp.Star()), "n")
    return exp.select(rows, *(exp.alias_(fact, f"f{i}") for i, fact in enumerate(facts))).from_(
        table_of(table)
    )


def line_end_count(table: str, name: str) -> exp.Select:
    """How many texts of a column end with half of a line's end."""
    ends = exp.Right(this=column(name), expression=exp.Literal.number(1)).eq(
        exp.Literal.string("\r")
    )
    return exp.select(exp.alias_(count_where(ends), "n")).from_(table_of(table))


def blank_counts(table: str, columns: Sequence[str]) -> exp.Select:
    """For each text column: how many of its values are blank."""
    counts = (count_where(shows_nothing(column(name))) for name in columns)
    return exp.select(*(exp.alias_(one, f"b{i}") for i, one in enumerate(counts))).from_(
        table_of(table)
    )


def without_blanks(rows: exp.Select, columns: Sequence[str], blank: Collection[str]) -> exp.Select:
    """The rows of a query, in which some columns of text are missing where they are blank."""
    shown = {name: column(name) for name in columns}
    return exp.select(
        *(
            exp.alias_(
                exp.Case().when(shows_something(one), one) if name in blank else one,
                name,
                quoted=True,
            )
            for name, one in shown.items()
        )
    ).from_(rows.subquery("r"))


def shows_something(text: exp.Expr) -> exp.Expr:
    """Whether there is more in a text than spaces and characters that cannot be seen.

    Nearly every text begins with a character of ASCII that shows; only the others are trimmed,
    which takes ten times as long as all the rest of a count.
    """
    shown = exp.cast(text.copy(), "TEXT")
    plain = exp.Between(
        this=exp.Anonymous(this="ASCII", expressions=[shown]),
        low=exp.Literal.number(ord("!")),
        high=exp.Literal.number(ord("~")),
    )
    rest = exp.Trim(this=shown.copy(), expression=exp.Literal.string(BLANKS))
    trimmed = exp.NEQ(this=rest, expression=exp.Literal.string(""))
    return exp.Case().when(plain, exp.true()).else_(trimmed)


def shows_nothing(text: exp.Expr) -> exp.Expr:
    """Whether there is nothing in a text that can be seen."""
    return exp.not_(shows_something(text))


def looks_like(name: str, pattern: str) -> exp.Expression:
    """Whether a text column's value, with the end mark behind it, fits a pattern."""
    marked = exp.DPipe(this=column(name), expression=exp.Literal.string(END), safe=True)
    return exp.RegexpLike(this=exp.paren(marked), expression=exp.Literal.string(pattern))


def digits_after_point(name: str) -> exp.Expression:
    """The digits after the point of a number written as text, counted by position."""
    point = exp.StrPosition(this=column(name), substr=exp.Literal.string("."))
    length = exp.Length(this=column(name))
    return (
        exp.Case()
        .when(point.copy().eq(exp.Literal.number(0)), exp.Literal.number(0))
        .else_(exp.Sub(this=length, expression=point))
    )


def comma_counts(rows: exp.Select, columns: Sequence[str]) -> exp.Select:
    """For each text column of a query: how many values there are, how many are
    numbers, and how many are numbers with a comma for a point.
    """
    counts = (
        exp.alias_(one, f"c{i}_{j}")
        for i, name in enumerate(columns)
        for j, one in enumerate(
            (
                exp.Count(this=column(name)),
                count_where(looks_like(name, INTEGER)),
                count_where(looks_like(name, WITH_COMMA)),
            )
        )
    )
    return exp.select(*counts).from_(rows.subquery("r"))


def reworded(
    table: str, columns: Sequence[str], words: Mapping[str, Sequence[str]], commas: Collection[str]
) -> exp.Select:
    """A table of text without the words that mean missing, and with points for decimal commas.

    >>> reworded("t", ["age", "kg"], {"age": ["?"]}, ["kg"]).sql()
    'SELECT CASE WHEN NOT "age" IN (\\'?\\') THEN "age" END AS "age", REPLACE("kg", \\',\\', \\'.\\') AS "kg" FROM "t"'
    """  # noqa: E501

    def read(name: str) -> exp.Expr:
        one: exp.Expr = column(name)
        if listed := words.get(name):
            known = exp.In(this=column(name), expressions=[*map(exp.Literal.string, listed)])
            one = exp.Case().when(exp.not_(known), one)
        if name in commas:
            one = exp.Anonymous(
                this="REPLACE", expressions=[one, *map(exp.Literal.string, (",", "."))]
            )
        return one

    return exp.select(*(exp.alias_(read(name), name, quoted=True) for name in columns)).from_(
        table_of(table)
    )


def word_counts(table: str, name: str, words: Collection[str]) -> exp.Select:
    """The values of a text column that are one of some words in lower case, with their rows."""
    lower = exp.Lower(this=exp.Trim(this=column(name)))
    return (
        exp.select(exp.alias_(column(name), "v"), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(table_of(table))
        .where(exp.In(this=lower, expressions=[*map(exp.Literal.string, sorted(words))]))
        .group_by(column(name))
    )


def typed(table: str, types: Mapping[str, str]) -> exp.Select:
    """A table of text with its columns cast to the given SQL types."""
    return exp.select(
        *(
            exp.alias_(
                column(name) if sql_type == "TEXT" else exp.cast(column(name), sql_type),
                name,
                quoted=True,
            )
            for name, sql_type in types.items()
        )
    ).from_(table_of(table))
