"""What there is to plan for: where the rows are, which table, and what its columns are like."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tacit.engines.attach import comma_columns
from tacit.engines.base import Engine
from tacit.engines.files import read_rows
from tacit.engines.formats import IN_WORDS, TEXT, ending_of
from tacit.engines.open import DATABASE_FILES, SPARK_MASTER, open_engine
from tacit.engines.sql import shapes, shapes_stored, shapes_text
from tacit.engines.sql.shapes_catalog import table_names
from tacit.errors import DataError, Mark
from tacit.families.microdata.cleaning import PLAINLY_UNKNOWN
from tacit.families.microdata.hierarchy import as_date
from tacit.model.schema import ColumnType, Table

if TYPE_CHECKING:
    from tacit.starter.hierarchy_files import HierarchyFile

AT_ONCE = 8  # columns in one query: each different value of all of them is held in memory meanwhile
MOST_SHOWN = 20
MOST_MATCHED = 10_000  # different values up to which files of hierarchies are looked for
MOST_COUNTED = 1000  # values of a column that are counted one by one
NEARLY = Decimal("0.9")  # the share of different values from which a column singles people out
ENOUGH = 20  # values below which a share says little
PASSWORDS = ("password", "sslpassword")
PLACES = (
    f"Use a file as {IN_WORDS}; a DuckDB "
    f"database ({', '.join(DATABASE_FILES)}), postgresql://host/database or spark."
)
LEFT_OUT = (
    "the password was left out of the plan. Before tacit check, set PGPASSWORD or write it to "
    "~/.pgpass."
)
NO_ROWS = (
    "the table has no rows: roles are guessed from names alone, and tacit check will need rows."
)
ODD_NAMES = (
    "some column names are numbers or dates. If the first line is data, put a line of names "
    "above it."
)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What a column is like, as counts:
    none of its values is kept but the ends of a number's range.

    `low` and `high` are those ends, of text the fewest and the most characters. `digits`, `numbers`
    and `dates` are how many texts consist of digits, are numbers, are ISO dates. `counts` are how
    many rows have each value, the most frequent first: of a sensitive column with few values only.
    """

    name: str
    kind: ColumnType
    rows: int
    values: int
    distinct: int
    low: Decimal | None = None
    high: Decimal | None = None
    digits: int = 0
    numbers: int = 0
    dates: int = 0
    counts: tuple[int, ...] = ()

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return self.rows - self.values

    @property
    def is_unique(self) -> bool:
        """Whether every row has a value of its own."""
        return self.distinct == self.rows > 1

    @property
    def is_nearly_unique(self) -> bool:
        """Whether most values occur once, so that a value tells who it is.

        >>> (
        ...     ColumnProfile("note", "text", 100, 100, 95).is_nearly_unique,
        ...     ColumnProfile("ward", "text", 9, 9, 8).is_nearly_unique,
        ... )
        (True, False)
        """
        if self.distinct == self.values > 1:
            return True
        return self.values >= ENOUGH and self.distinct >= NEARLY * self.values

    @property
    def is_number(self) -> bool:
        """Whether bands can be made of it: numbers, none of them infinite."""
        ends = (self.low, self.high)
        return self.kind in ("integer", "decimal") and all(
            end is not None and end.is_finite() for end in ends
        )

    @property
    def is_date(self) -> bool:
        """Whether it holds dates, or texts that are all dates."""
        return self.kind in ("date", "timestamp") or 0 < self.values == self.dates


@dataclass(frozen=True, slots=True)
class Look:
    """A table as it was found, and how a plan names it; `notes` are for the owner to read."""

    source: str
    table: str
    file: str | None
    rows: int
    columns: tuple[ColumnProfile, ...]
    notes: tuple[str, ...] = ()
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decimal_comma: bool = False
    hierarchies: Mapping[str, HierarchyFile] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """What the owner calls it."""
        return Path(self.file).name if self.file else self.table


def look(data: str, *, plan: Path, table: str | None = None) -> Look:
    """Look at a CSV or Parquet file, or at a table of a database.

    `plan` is where the plan will lie: its paths are relative to that. `table` chooses one of a
    database's tables; a file's table is called so.
    """
    with opened(data, plan=plan, table=table) as place:
        return look_at_table(place.engine, place.source, place.table, place.file, place.notes)


@dataclass(frozen=True, slots=True)
class RowsPlace:
    """Where rows are: an open engine, and how a plan names what it reads."""

    engine: Engine
    source: str
    table: Table
    file: str | None = None
    notes: tuple[str, ...] = ()


@contextmanager
def opened(data: str, *, plan: Path, table: str | None = None) -> Iterator[RowsPlace]:
    """The engine for a file or a database, and the table of it that is asked for."""
    if is_database(data):
        source = source_of(data, plan)
        notes = (LEFT_OUT,) if data != source and is_postgres(data) else ()
        with open_database(data, plan) as engine:
            yield RowsPlace(engine, source, Table(table or only_table(engine, source)), None, notes)
        return
    path = existing_file(data)
    name = table or table_name(path)
    if not name.strip() or "." in name:
        raise DataError(
            f"{name!r} cannot be the name of a table.",
            hint="Use --table with letters, digits and _.",
        )
    with open_engine(".", Path(".")) as engine:
        yield RowsPlace(engine, ".", Table(name, file=data), relative(path, plan))


def is_database(data: str) -> bool:
    """Whether there are tables to choose from;
    a file that is none of the known kinds is an error.
    """
    return (
        is_spark(data) or is_postgres(data) or existing_file(data).suffix.lower() in DATABASE_FILES
    )


def is_postgres(data: str) -> bool:
    """Whether the rows are in PostgreSQL."""
    return data.startswith(("postgresql://", "postgres://"))


def source_of(data: str, plan: Path) -> str:
    """How a plan names a database: its password is left out."""
    if is_spark(data):
        return data
    return without_password(data) if is_postgres(data) else relative(existing_file(data), plan)


def tables_of(data: str, *, plan: Path) -> list[str]:
    """The names of a database's tables and views."""
    with open_database(data, plan) as engine:
        return tables_in(engine)


def is_spark(data: str) -> bool:
    """Whether the rows are Spark's."""
    return data == "spark" or bool(SPARK_MASTER.fullmatch(data))


def existing_file(data: str) -> Path:
    """A file of a kind that can be read, or the error that says what there is instead."""
    path = Path(data)
    if "://" in data:  # what follows may hold a password
        raise DataError(
            f"{data.partition('://')[0]}://... is not a place that Tacit knows.", hint=PLACES
        )
    if (
        shown := data.encode(errors="replace").decode()
    ) != data:  # neither DuckDB nor YAML could write it
        raise DataError(f"the name of {shown} is not UTF-8.", hint="Rename the file.")
    if path.is_dir():
        inside = sorted(one.name for one in path.iterdir() if ending_of(one))
        hint = (
            f"Give one of its files: tacit init {path / inside[0]}"
            if inside
            else "Give a file that holds a table."
        )
        raise DataError(f"{data} is a folder.", hint=hint, mark=Mark(data))
    if not path.exists():
        raise DataError(f"there is no file {data}.", hint="Check the path.", mark=Mark(data))
    if not ending_of(path) and path.suffix.lower() not in DATABASE_FILES:
        raise DataError(
            f"{data} is not a kind of file that Tacit knows.", hint=PLACES, mark=Mark(data)
        )
    return path


def relative(path: Path, plan: Path) -> str:
    """The path of a file as a plan writes it."""
    folder = os.path.realpath(path.parent)
    return Path(
        os.path.relpath(os.path.join(folder, path.name), os.path.realpath(plan.parent))
    ).as_posix()


def table_name(path: Path) -> str:
    """A file's name as the name of a table.

    >>> (
    ...     table_name(Path("data/Patients 2024-05.csv")),
    ...     table_name(Path("2024.csv")),
    ...     table_name(Path("!.csv")),
    ... )
    ('Patients_2024_05', 'table_2024', 'data')
    """
    stem = path.name[: -len(ending_of(path))] if ending_of(path) else path.stem
    name = re.sub(r"\W+", "_", stem).strip("_")
    return f"table_{name}" if name[:1].isdigit() else name or "data"


def without_password(url: str) -> str:
    """A database's address without its passwords.

    >>> without_password("postgresql://ann:secret@db:5432/clinic?sslmode=require&password=x")
    'postgresql://ann@db:5432/clinic?sslmode=require'
    >>> without_password("postgresql://db:5432/clinic")
    'postgresql://db:5432/clinic'
    """
    address, _, settings = re.sub(r"^(\w+://[^:@/]*):[^@/]*@", r"\1@", url).partition("?")
    kept = [
        one
        for one in settings.split("&")
        if one and unquote(one.split("=")[0]).lower() not in PASSWORDS
    ]
    return f"{address}?{'&'.join(kept)}" if kept else address


def open_database(data: str, plan: Path) -> Engine:
    """A database; PostgreSQL with the password that somebody typed,
    which a plan's `source` must not have.
    """
    if is_postgres(data):
        from tacit.engines.postgres.engine import Postgres

        return Postgres(data)
    return open_engine(data, plan.parent if is_spark(data) else Path("."))


def only_table(engine: Engine, source: str) -> str:
    """The table of a database that has one."""
    names = tables_in(engine)
    if len(names) == 1:
        return names[0]
    if not names:
        raise DataError(
            f"{source} has no tables that can be seen.", hint="Say which one is meant: --table NAME"
        )
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    raise DataError(
        f"{source} has {len(names)} tables.",
        hint=(
            "Say which one is meant with --table NAME (there are: "
            f"{', '.join(names[:MOST_SHOWN])}{more})."
        ),
    )


def tables_in(engine: Engine) -> list[str]:
    """The names of a database's tables and views, those of other schemas as schema.table."""
    from tacit.engines.spark.engine import Spark

    if isinstance(engine, Spark):  # Spark's catalog has no tables that a query could read
        return sorted(found.name for found in engine.session.catalog.listTables())
    return sorted(str(row[0]) for row in engine.rows(table_names()))


def look_at_table(
    engine: Engine, source: str, table: Table, file: str | None, notes: tuple[str, ...] = ()
) -> Look:
    """Attach a table, unless it is, and look at all its columns.

    Of a file that no plan speaks of yet, words for missing and decimal commas are found first, and
    the file is read with them.
    """
    engine.attach_once(table)
    if file and not table.unknown and not table.quasi_identifiers and not table.sensitive:
        unknown = words_for_missing(engine, table.name)
        found = replace(
            table,
            unknown=unknown,
            decimal_comma=has_decimal_commas(engine, table.name, unknown),
        )
        if found != table:
            engine.attach(found)
            table = found
    kinds = engine.columns(table.name)
    columns = tuple(
        only_real_dates(engine, table.name, facts)
        for facts in look_at_columns(engine, table.name, kinds)
    )
    columns = with_counts(engine, table.name, columns)
    rows = columns[0].rows if columns else int(engine.value(shapes.row_count(table.name)))
    hierarchies = hierarchies_beside(engine, table, columns) if file else {}
    notes = (
        *notes,
        *lint(engine, table, hierarchies),
        *engine.changes.get(table.name, ()),
        *(doubts(kinds) if file else ()),
        *(() if rows else (NO_ROWS,)),
    )
    return Look(
        source,
        table.name,
        file,
        rows,
        columns,
        notes,
        unknown=table.unknown,
        decimal_comma=table.decimal_comma,
        hierarchies=hierarchies,
    )


def hierarchies_beside(
    engine: Engine, table: Table, columns: Sequence[ColumnProfile]
) -> dict[str, HierarchyFile]:
    """The small files beside a table's file that have levels for all values of a column.

    One that is called after the column counts for all columns, others for those that are called by
    nobody: a list of all whole numbers would fit many.
    """
    from tacit.starter.hierarchy_files import is_called, matches

    own = Path(str(table.file))
    files = {
        path.name: path
        for path in sorted(own.parent.glob("*"))
        if path.suffix.lower() in TEXT and path.name != own.name and path.is_file()
    }
    if not files:
        return {}
    values = {
        one.name: [
            row[0]
            for row in engine.rows(shapes.distinct_rows(table.name, [one.name]))
            if row[0] is not None
        ]
        for one in columns
        if 0 < one.distinct <= MOST_MATCHED
    }
    found = matches(files, values)
    return {
        column: one
        for column, one in found.items()
        if is_called(column, one.file) or not any(is_called(other, one.file) for other in found)
    }


def lint(engine: Engine, table: Table, found: Mapping[str, HierarchyFile]) -> list[str]:
    """What is odd about the files of hierarchies."""
    from tacit.starter.hierarchy_files import oddities

    notes = []
    for column, one in found.items():
        rows = read_rows(Path(str(table.file)).parent / one.file, one.file)
        values = [row[0] for row in engine.rows(shapes.distinct_rows(table.name, [column]))]
        notes += [f"{one.file}: {odd}" for odd in oddities(values, rows)]
    return notes


def words_for_missing(engine: Engine, table: str) -> dict[str, tuple[str, ...]]:
    """The words such as ? and NA in the text columns of a table, by column; of several columns
    under `*`.
    """
    texts = [name for name, kind in engine.columns(table).items() if kind == "text"]
    found: dict[str, tuple[str, ...]] = {}
    for name in texts:
        rows = engine.rows(shapes_text.word_counts(table, name, PLAINLY_UNKNOWN))
        if words := tuple(sorted(str(value) for value, _ in rows)):
            found[name] = words
    if len(found) < 2:
        return found
    return {"*": tuple(sorted({word for words in found.values() for word in words}))}


def has_decimal_commas(engine: Engine, table: str, unknown: Mapping[str, tuple[str, ...]]) -> bool:
    """Has a table a column that is all numbers, some of them such as 61,5? Words for missing
    count for none.
    """
    kinds = engine.columns(table)
    everywhere = unknown.get("*", ())
    texts = {name: unknown.get(name, everywhere) for name, kind in kinds.items() if kind == "text"}
    return bool(texts) and bool(comma_columns(engine, table, texts))


def doubts(names: Iterable[str]) -> tuple[str, ...]:
    """What is odd about the names in a file's first line.

    >>> len(doubts(["zip", "age"])), len(doubts(["1980-01-02", "42"]))
    (0, 1)
    """
    from tacit.families.microdata.reading.source import single_column_hint

    hint = single_column_hint(dict.fromkeys(names))
    looks = any(re.fullmatch(r"-?\d+([.,]\d+)?|\d{4}-\d\d-\d\d", name) for name in names)
    return tuple(note for note in (hint, ODD_NAMES if looks else None) if note)


def look_at_columns(
    engine: Engine, table: str, kinds: Mapping[str, ColumnType]
) -> Iterator[ColumnProfile]:
    """Count what is in each column, a few columns at a time."""
    names = list(kinds)
    for begin in range(0, len(names), AT_ONCE):
        some = names[begin : begin + AT_ONCE]
        rows, *found = next(
            engine.rows(shapes_text.column_facts(table, {name: kinds[name] for name in some}))
        )
        for i, name in enumerate(some):
            values, distinct, low, high, *looks = found[7 * i : 7 * i + 7]
            digits, numbers, dates = (int(one or 0) for one in looks)
            yield ColumnProfile(
                name,
                kinds[name],
                rows,
                values,
                distinct,
                exact(low),
                exact(high),
                digits,
                numbers,
                dates,
            )


def with_counts(
    engine: Engine, table: str, columns: tuple[ColumnProfile, ...]
) -> tuple[ColumnProfile, ...]:
    """The same with the counts of columns that look sensitive:
    from them follows what a check may ask.
    """
    from tacit.starter.guessing import guess

    private = {
        one.name
        for one in guess(columns)
        if one.role == "sensitive" and one.facts.distinct <= MOST_COUNTED
    }
    return tuple(
        replace(one, counts=value_counts(engine, table, one.name)) if one.name in private else one
        for one in columns
    )


def value_counts(engine: Engine, table: str, name: str) -> tuple[int, ...]:
    """How many rows have each value of a column, the most frequent first;
    missing ones do not count.
    """
    rows = engine.rows(
        shapes.grouped(shapes_stored.stored_rows(table, {"v": shapes.column(name)}), ["v"])
    )
    return tuple(sorted((int(many) for value, many in rows if value is not None), reverse=True))


def exact(end: Any) -> Decimal | None:
    """An end of a range as a decimal.

    >>> exact(0.1), exact(None)
    (Decimal('0.1'), None)
    """
    return None if end is None else Decimal(str(end))


def only_real_dates(engine: Engine, table: str, facts: ColumnProfile) -> ColumnProfile:
    """Texts count as dates if the calendar has them all: 2024-02-30 only looks like one."""
    if facts.kind != "text" or not 0 < facts.dates == facts.values:
        return facts
    with closing(engine.rows(shapes.distinct_rows(table, [facts.name]))) as found:  # type: ignore[type-var]
        return facts if are_dates(row[0] for row in found) else replace(facts, dates=0)


def are_dates(values: Iterable[Any]) -> bool:
    """Whether all that is there can be read as a date.

    >>> are_dates(["2024-02-29", None]), are_dates(["2024-02-30"])
    (True, False)
    """
    try:
        return all(value is None or as_date("", value) for value in values)
    except DataError:
        return False
