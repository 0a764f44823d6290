"""What a plan's table is before an engine has it: which file, which types, which values."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engines.base import SQL_TYPES, Engine
from tacit.engines.files import CsvShape, cannot_read, open_text
from tacit.engines.sql import shapes_text
from tacit.errors import DataError, Mark, did_you_mean
from tacit.model.schema import ColumnType, Table

if TYPE_CHECKING:
    from sqlglot import exp

PLAIN_DECIMAL = (38, 10)  # `decimal` and no more, where the digits must not come from rows
MOST_DIGITS_BEFORE, MOST_DIGITS = 18, 20  # the point: what DECIMAL(38, 20) holds

NUMBERS = "Write numbers as 1234 or 1234.5, without separators"
FORMS: Mapping[str, str] = {
    "integer": NUMBERS,
    "decimal": NUMBERS,
    "date": "Write dates as 2024-02-29, without a time",
    "timestamp": (
        "Write times as 2024-02-29 13:05:59, without a time zone and with at most six digits "
        "after the point"
    ),
}


@dataclass(frozen=True, slots=True)
class Values:
    """The rows that stand in a plan, as Python values of the column's type, ready to be stored."""

    sql_types: Mapping[str, str]
    rows: tuple[tuple[Any, ...], ...]


def reworded(engine: Engine, raw: str, table: Table) -> exp.Select | None:
    """The text of a file with words for missing left out, and with points for decimal commas;
    None where the plan speaks of neither.

    Commas are points in columns whose values are all numbers, and some written so.
    """
    native = engine.native_types(raw)
    names = list(native)
    if strange := next((one for one in table.unknown if one not in ("*", *names)), None):
        raise DataError(
            f"unknown: table {table.name} has no column {strange!r}.",
            hint=did_you_mean(strange, names),
        )
    texts = [name for name in names if engine.meaning(native[name]).kind == "text"]
    typed = next((one for one in names if one in table.unknown and one not in texts), None)
    if typed and typed not in table.sensitive:
        raise DataError(
            f"unknown: column {typed!r} of table {table.name} is no text in its file.",
            hint="Leave its cells empty in the file.",
        )
    words = {name: [*map(plain_text, table.words_for_missing(name))] for name in texts}
    if not any(words.values()) and not table.decimal_comma:
        return None
    if not table.decimal_comma:
        return shapes_text.reworded(raw, names, words, ())
    return shapes_text.reworded(raw, names, words, comma_columns(engine, raw, words))


def comma_columns(engine: Engine, raw: str, words: Mapping[str, Sequence[str]]) -> list[str]:
    """The text columns whose values are all numbers, some of them with a decimal comma."""
    names = list(words)
    counts = next(
        engine.rows(shapes_text.comma_counts(shapes_text.reworded(raw, names, words, ()), names))
    )
    found = {name: counts[3 * at : 3 * at + 3] for at, name in enumerate(names)}
    return [name for name, (all_, whole, comma) in found.items() if 0 < comma == all_ - whole]


def refuse_words(table: Table) -> None:
    """Words for missing are taken out of files as they are read; a database has NULL for them."""
    named = [one for one in table.unknown if one == "*" or one not in table.sensitive]
    if named or table.decimal_comma:
        what = f"unknown of {named[0]!r}" if named else "decimal"
        raise DataError(
            f"{what} is for tables that are files, and {table.name} is none.",
            hint="Make a view that has NULL there, and name it as the table."
            if named
            else "Make the column a number where the rows are.",
        )


def plain_text(value: Any) -> str:
    """A value of a plan as a file would have it.

    >>> plain_text(99), plain_text("?"), plain_text(True)
    ('99', '?', 'true')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def text_types(engine: Engine, raw: str, table: Table) -> dict[str, str]:
    """The SQL type of each column of a file that `engine` holds as text under the name `raw`."""
    names = list(engine.native_types(raw))
    declared = by_plan(table, names) if engine.types_by_plan else table
    facts = next(
        engine.rows(
            shapes_text.kinds_of_text(raw, {name: declared.columns.get(name) for name in names})
        )
    )
    found = {name: facts[5 * i : 5 * i + 5] for i, name in enumerate(names)}
    if engine.types_by_plan:
        untyped = [name for name in names if not table.columns.get(name)]
        engine.look_like[table.name] = {
            name: type_of_text(Table(table.name), name, *(*found[name][:4], None))
            for name in untyped
        }
    return {name: type_of_text(declared, name, *found[name]) for name in names}


def by_plan(table: Table, names: Iterable[str]) -> Table:
    """The table with a type for each column that no row has a say in:
    for answers to strangers, whom types would tell of rows.

    What the plan gives no type is of the type of its domain, else text.
    Decimals have as many digits behind the point as declared, else 10.
    """
    kinds: dict[str, ColumnType | None] = {
        name: table.columns.get(name)
        or kind_of_values(table.name, name, list(table.domains.get(name, ())))
        for name in names
    }
    digits = {
        name: table.digits.get(name, PLAIN_DECIMAL)
        for name, kind in kinds.items()
        if kind == "decimal"
    }
    return replace(table, columns=kinds, digits=digits)


def type_of_text(
    table: Table,
    name: str,
    values: int,
    integers: int,
    decimals: int,
    digits: int | None,
    in_form: int | None,
) -> str:
    """The SQL type of a text column: as declared, else what all its values look like."""
    declared = table.columns.get(name)
    fitting = {"integer": integers, "decimal": decimals}.get(
        declared or "", values if in_form is None else in_form
    )
    if fitting < values:
        raise DataError(
            f"column {name!r} of table {table.name} is declared {declared}, but "
            f"{values - fitting} of its {values} values are not.",
            hint=(
                f"{FORMS[declared or '']}, or declare the column as text: columns: {{{name}: "
                f"text}}."
            ),
        )
    if name in table.digits:
        return declared_decimal(table, name, digits or 0)
    if declared not in (None, "decimal"):
        return SQL_TYPES[declared]
    if declared is None and 0 < values == integers:
        return SQL_TYPES["integer"]
    if 0 < values == decimals:
        return f"DECIMAL(38, {digits})"
    return SQL_TYPES[declared or "text"]


def declared_decimal(table: Table, name: str, most: int) -> str:
    """The SQL type of a decimal with declared digits;
    `most` is how many its values have behind the point. Nothing is rounded.
    """
    digits, behind = table.digits[name]
    if most > behind:
        raise DataError(
            f"column {name!r} of table {table.name} has values with {most} digits behind the "
            f"point, and is declared to have {behind} at most.",
            hint=(
                f"Declare more: columns: {{{name}: "
                f'"decimal({min(38, digits + most - behind)}, {most})"}}.'
            ),
        )
    return f"DECIMAL({digits}, {behind})"


def stored_values(engine: Engine, table: Table) -> Values:
    """The rows that stand in a plan, in the types that they have on this engine."""
    if not engine.types_by_plan:
        return values_of(table)
    untyped = [name for name, kind in table.columns.items() if not kind]
    with suppress(DataError):  # a mix of types, which is text then
        engine.look_like[table.name] = {
            name: kind for name, kind in values_of(table).sql_types.items() if name in untyped
        }
    return values_of(by_plan(table, table.columns))


def values_of(table: Table) -> Values:
    """The rows of a plan's table, checked and converted.

    >>> from tacit.model.schema import Table
    >>> values_of(Table("t", columns={"zip": "text", "age": None}, rows=((13053, 28), (None, 29))))
    Values(sql_types={'zip': 'TEXT', 'age': 'BIGINT'}, rows=(('13053', 28), (None, 29)))
    """
    rows = table.rows or ()
    if any(len(row) != len(table.columns) for row in rows):
        raise DataError(
            f"table {table.name} has rows that do not have {len(table.columns)} values."
        )
    columns: list[list[Any]] = []
    sql_types: dict[str, str] = {}
    for i, (name, declared) in enumerate(table.columns.items()):
        given = [row[i] for row in rows]
        kind = declared or kind_of_values(table.name, name, given)
        columns.append([converted(table.name, name, kind, value) for value in given])
        sql_types[name] = (
            decimal_type(table, name, columns[-1]) if kind == "decimal" else SQL_TYPES[kind]
        )
    return Values(sql_types, tuple(zip(*columns, strict=True)) if rows else ())


def kind_of_values(table: str, name: str, values: list[Any]) -> ColumnType:
    """The type of a column whose values stand in the plan: 1 and "1" differ.

    >>> kind_of_values("t", "age", [28, None]), kind_of_values("t", "zip", ["13053"])
    ('integer', 'text')
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return "integer"
    if kinds and kinds <= {int, Decimal, float}:
        return "decimal"
    if kinds == {bool}:
        return "boolean"
    if kinds <= {str}:
        return "text"
    if kinds == {dict}:
        return "distribution"
    raise DataError(
        f"column {name!r} of table {table} mixes "
        f"{' and '.join(sorted(kind.__name__ for kind in kinds))}.",
        hint='Put the numbers in quotes ("1") to make it a column of text.',
    )


def converted(table: str, name: str, kind: ColumnType, value: Any) -> Any:
    """A value from the plan as the column's type has it; None stays None."""
    if value is None:
        return None
    try:
        return CONVERSIONS[kind](value)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        raise DataError(
            f"{value!r} in column {name!r} of table {table} is not of type {kind}.",
            hint=f"Correct the value, or declare the column as text: columns: {{{name}: text}}.",
        ) from None


def whole(value: Any) -> int:
    """An integer, or text that is one; nothing is rounded."""
    number = Decimal(str(value))
    if number != int(number) or not -(2**63) <= number < 2**63:
        raise ValueError(value)
    return int(number)


def exact_decimal(value: Any) -> Decimal:
    """A decimal as written: the float 0.1 is 1/10."""
    number = Decimal(str(value))
    if (
        not number.is_finite()
        or digits_after_point(number) > MOST_DIGITS
        or number.adjusted() >= MOST_DIGITS_BEFORE
    ):
        raise ValueError(value)
    return number


def digits_after_point(number: Decimal) -> int:
    """How many digits a decimal is written with after the point."""
    return max(0, -int(number.as_tuple().exponent))


def moment(value: Any) -> datetime:
    """A time; one with a time zone becomes its UTC time.
    Python would drop digits beyond microseconds.
    """
    if re.search(r"[.,][0-9]{7}", str(value)):
        raise ValueError(value)
    time = datetime.fromisoformat(str(value))
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


def truth(value: Any) -> bool:
    """A boolean, or text that is one."""
    known = {"true": True, "false": False}
    return known[str(value).lower()]


def json_text(value: Any) -> str:
    """A mapping value: probability as JSON, its numbers as written.

    >>> json_text({"flu": Decimal("0.30"), "cold": 0.4, "none": "3/10"})
    '{"flu": 0.30, "cold": 0.4, "none": "3/10"}'
    """
    import json

    if isinstance(value, str):
        return value
    pairs = ((key, json.dumps(one) if isinstance(one, str) else one) for key, one in value.items())
    return "{" + ", ".join(f"{json.dumps(str(key))}: {one}" for key, one in pairs) + "}"


CONVERSIONS: Mapping[ColumnType, Callable[[Any], Any]] = {
    "integer": whole,
    "decimal": exact_decimal,
    "text": str,
    "date": lambda value: date.fromisoformat(str(value)),
    "timestamp": moment,
    "boolean": truth,
    "distribution": json_text,
}


def decimal_type(table: Table, name: str, values: list[Decimal | None]) -> str:
    """The SQL type that holds the values exactly:
    as declared, else with as many digits as they need.

    >>> from tacit.model.schema import Table
    >>> decimal_type(Table("t"), "dose", [Decimal("1.25"), None, Decimal("3")])
    'DECIMAL(38, 2)'
    """
    there = [value for value in values if value is not None]
    most = max(map(digits_after_point, there), default=0)
    if name not in table.digits:
        return f"DECIMAL(38, {most})"
    digits, behind = table.digits[name]
    if wide := next(
        (value for value in there if value and value.adjusted() >= digits - behind), None
    ):
        raise DataError(
            f"{wide} in column {name!r} of table {table.name} is not of type decimal({digits}, "
            f"{behind}).",
            hint="Declare more digits.",
        )
    return declared_decimal(table, name, most)


def find_file(table: Table, folder: Path) -> tuple[Path, str]:
    """The table's file, and how to call it in messages."""
    if table.file is not None:
        path = folder / table.file
        if not path.is_file():
            raise cannot_read(table.file, FileNotFoundError())
        return path, table.file
    found = [folder / f"{table.name}{ending}" for ending in (".csv", ".parquet")]
    found = [path for path in found if path.is_file()]
    if len(found) == 1:
        return found[0], found[0].name
    if found:
        raise DataError(
            f"table {table.name} could be {found[0].name} or {found[1].name}.",
            hint=f"Say which: file: {found[0].name}",
        )
    others = sorted(path.name for path in folder.glob("*.csv")) + sorted(
        path.name for path in folder.glob("*.parquet")
    )
    raise DataError(
        f"there is no file for table {table.name}: neither {table.name}.csv nor "
        f"{table.name}.parquet is in the source folder.",
        hint=f"Name it with file: ... (there are: {', '.join(others[:5])})"
        if others
        else "Name it with file: ...",
    )


def ragged_line(path: Path, shown: str, shape: CsvShape) -> DataError | None:
    """The first row of a CSV file that has more or fewer values than
    columns, looked for line by line.
    """
    with open_text(path, encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=shape.separator)
        for row in reader:
            if row and len(row) != len(shape.header):
                return wrong_width(len(shape.header), len(row), Mark(shown, reader.line_num))
    return None


def wrong_width(expected: int, found: int, mark: Mark) -> DataError:
    """A row that has more or fewer values than there are columns."""
    return DataError(
        f"the first line names {expected} columns, this line has {found}.",
        hint='Put values that contain the separator into double quotes ("1,234").',
        mark=mark,
    )


def wrong_type(shown: str) -> DataError:
    """A file with values that cannot be what their column is declared to be."""
    return DataError(
        f"{shown} has values that are not of the type declared for their column.",
        hint="Correct the type under columns:, or declare the column as text.",
        mark=Mark(shown),
    )
