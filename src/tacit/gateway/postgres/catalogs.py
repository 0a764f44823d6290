"""Catalogs: pg_catalog and information_schema as one role sees them, in a database of their own.

The database lies in memory, holds nothing but the rows of `catalog_rows`, and reaches no file and
no network. Its answers are a function of the plan, the role and the source's declared types.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from tacit.gateway.postgres.catalog_queries import (
    MACRO,
    MENTIONS,
    SCHEMA,
    asks_catalogs,
    question,
)
from tacit.gateway.postgres.catalog_rows import (
    CATALOG_OID,
    OWNER,
    PUBLIC_OID,
    SQL_NAMES,
    Row,
    rows_of,
    tables,
)
from tacit.gateway.postgres.catalog_rows import TYPES as BASE_TYPES
from tacit.gateway.postgres.rows import columns_of
from tacit.gateway.postgres.settings import VERSION
from tacit.gateway.postgres.types import SAID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.gateway.postgres.catalog_runs import CatalogRuns
    from tacit.gateway.postgres.knowledge import RoleKnowledge
    from tacit.gateway.postgres.text_readers import TextReaders

VISIBLE = (CATALOG_OID, PUBLIC_OID)
KEPT, KEPT_ROWS = 500, 1_000  # answers that are remembered, and how many rows they may have
TYPES = {"t": "VARCHAR", "b": "BOOLEAN", "s": "SMALLINT", "i": "INTEGER", "l": "BIGINT"}
TYPES |= {"o": "BIGINT", "f": "DOUBLE", "z": "TIMESTAMPTZ"}
LISTS = {pa.string(): 1009, pa.int16(): 1005, pa.int32(): 1007, pa.int64(): 1016, pa.bool_(): 1000}
# Columns that are no arrays in PostgreSQL but an older kind of list, with the number of its type.
VECTORS = {"indkey": 22, "indoption": 22, "indclass": 30, "indcollation": 30, "proargtypes": 30}


class Catalog:
    """The catalogs of one role. `describe` says what the answer to a query of the source looks
    like.
    """

    def __init__(
        self,
        known: RoleKnowledge,
        describe: Callable[[str], Awaitable[pa.Schema]],
        runs: CatalogRuns,
        readers: TextReaders,
    ) -> None:
        self._known = known
        self._describe = describe
        self._runs = runs
        self._readers = readers
        self._answers: OrderedDict[str, pa.Table] = OrderedDict()
        self._made: asyncio.Future[duckdb.DuckDBPyConnection] | None = None

    async def answers(self, sql: str, user: str) -> bool:
        """Is a query of a user about the catalogs, or about the session itself?"""
        if MENTIONS.search(sql) is None:
            return False
        return await self._readers.read(user, lambda: asks_catalogs(sql, self._known.names))

    async def table(
        self,
        sql: str,
        values: Sequence[Any],
        settings: Mapping[str, str],
        user: str,
        stop: asyncio.Future[None],
    ) -> pa.Table:
        """The answer to a question of a user about the catalogs; a Trouble where it cannot be
        read, Gone where nobody wants it any more.
        """
        role = self._known.role
        asked = await self._readers.read(user, lambda: question(sql, values, settings, role))
        found: Any = self._answers.get(asked)
        if found is None:
            answer = await self._runs.table(await self._database(), asked, user, stop)
            found = await asyncio.to_thread(shown, answer)
            if found.num_rows <= KEPT_ROWS:
                self._answers[asked] = found
            if len(self._answers) > KEPT:
                self._answers.popitem(last=False)
        return found

    async def _database(self) -> duckdb.DuckDBPyConnection:
        if self._made is None or (self._made.done() and self._made.exception() is not None):
            self._made = asyncio.ensure_future(self._make())
        return await asyncio.shield(self._made)

    async def _make(self) -> duckdb.DuckDBPyConnection:
        columns = {
            one.name: columns_of(await self._describe(one.sql)) for one in self._known.things
        }
        rows = rows_of(self._known, columns)
        return await asyncio.to_thread(database_of, rows)


def database_of(rows: Mapping[str, Sequence[Row]]) -> duckdb.DuckDBPyConnection:
    """A database with the catalogs, locked."""
    made = duckdb.connect(":memory:", config={"threads": "1", "memory_limit": "256MB"})
    made.execute(f"CREATE SCHEMA {SCHEMA}")
    for name, columns in tables().items():
        declared = ", ".join(
            f'"{column}" {TYPES[kind[0]]}{"[]" if kind.endswith("*") else ""}'
            for column, kind in columns.items()
        )
        made.execute(f'CREATE TABLE {SCHEMA}."{name}" ({declared})')
        if found := rows.get(name):
            known = [one for one in columns if any(one in row for row in found)]
            listed = ", ".join(f'"{one}"' for one in known)
            marks = ", ".join("?" * len(known))
            made.executemany(
                f'INSERT INTO {SCHEMA}."{name}" ({listed}) VALUES ({marks})',
                [[row.get(one) for one in known] for row in found],
            )
    for statement in macros(rows):
        made.execute(statement)
    made.execute("SET temp_directory = ''")  # what does not fit into memory fails
    made.execute("SET enable_external_access = false; SET lock_configuration = true")
    return made


def macros(rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """The functions that catalogs are asked with. What they look up is written into them: a
    function that asks a table for every row takes a hundred times as long.
    """
    names = dict(SQL_NAMES)
    names |= {array: f"{words}[]" for *_, array, words in BASE_TYPES if array}
    digits = (
        "CASE WHEN o = 1700 AND m >= 4 THEN '(' || ((m - 4) >> 16) || ',' || ((m - 4) & 65535) || "
        "')' WHEN o IN (1042, 1043) AND m >= 4 THEN '(' || (m - 4) || ')' ELSE '' END"
    )
    named = f"coalesce({looked_up(names, 'o')}, '-')"
    yield _macro("format_type", "o, m", f"{named} || coalesce({digits}, '')")
    nothing = "CAST(NULL AS VARCHAR)"
    for name, counts in {
        "pg_get_expr": (2, 3),
        "pg_get_serial_sequence": (2,),
        "pg_get_function_result": (1,),
        "pg_get_function_arguments": (1,),
        "pg_get_function_identity_arguments": (1,),
        "pg_get_functiondef": (1,),
        "pg_get_triggerdef": (1, 2),
        "pg_get_ruledef": (1, 2),
        "pg_get_partkeydef": (1,),
        "pg_get_statisticsobjdef_columns": (1,),
        "pg_tablespace_location": (1,),
        "obj_description": (1, 2),
        "col_description": (2,),
        "shobj_description": (2,),
        "aclexplode": (1,),
        "pg_advisory_unlock_all": (0,),
    }.items():
        yield _overloaded(name, counts, nothing)
    for name, counts in {
        "pg_table_size": (1,),
        "pg_relation_size": (1, 2),
        "pg_total_relation_size": (1,),
        "pg_indexes_size": (1,),
        "pg_database_size": (1,),
        "pg_stat_get_numscans": (1,),
        "_pg_char_max_length": (2,),
        "_pg_numeric_precision": (2,),
    }.items():
        yield _overloaded(name, counts, "CAST(NULL AS BIGINT)")
    yield _macro("pg_size_pretty", "a", nothing)
    # How a view is made may name what the role may not know of.
    yield _overloaded("pg_get_viewdef", (1, 2), "''")
    yes = ("pg_type", "pg_function", "pg_collation", "pg_operator", "pg_opclass")
    for one in yes:
        yield _macro(f"{one}_is_visible", "a", "true")
    far = [row["oid"] for row in rows["pg_class"] if row["relnamespace"] not in VISIBLE]
    yield _macro("pg_table_is_visible", "a", f"a NOT IN ({', '.join(map(str, [0, *far]))})")
    for one in ("table", "schema", "any_column", "database", "function", "sequence", "type"):
        yield _overloaded(
            f"has_{one}_privilege",
            (2, 3),
            "last_ ILIKE 'select%' OR last_ ILIKE 'usage%' OR last_ ILIKE 'connect%'",
        )
    yield _overloaded("has_column_privilege", (3, 4), "last_ ILIKE 'select%'")
    yield _overloaded("pg_has_role", (2, 3), "false")
    yield _macro("pg_is_in_recovery", "", "true")
    yield _macro("pg_is_wal_replay_paused", "", "false")
    yield _macro("pg_backend_pid", "", "0")
    yield _macro("pg_my_temp_schema", "", "CAST(0 AS BIGINT)")
    yield _macro("pg_is_other_temp_schema", "a", "false")
    yield _macro("pg_relation_is_publishable", "a", "false")
    yield _macro("pg_partition_ancestors", "a", "CAST(a AS BIGINT)")
    yield _macro("pg_encoding_to_char", "a", "'UTF8'")
    yield _macro("pg_get_userbyid", "a", f"CASE a WHEN {OWNER} THEN 'tacit' ELSE 'unknown' END")
    yield _macro("version", "", f"'PostgreSQL {VERSION} (Tacit)'")
    plain, quoted = (
        "regexp_full_match(a, '[a-z_][a-z0-9_$]*')",
        """'"' || replace(a, '"', '""') || '"'""",
    )
    yield _macro("quote_ident", "a", f"CASE WHEN {plain} THEN a ELSE {quoted} END")
    yield _macro("array_lower", "a, d", "CASE WHEN len(a) > 0 THEN 1 END")
    yield _macro("array_upper", "a, d", "CASE WHEN len(a) > 0 THEN len(a) END")
    yield _macro(
        "current_schemas", "a", "CASE WHEN a THEN ['pg_catalog', 'public'] ELSE ['public'] END"
    )
    pairs = "CAST(list_zip(a, generate_series(1, len(a))) AS STRUCT(x INTEGER, n INTEGER)[])"
    yield _macro("_pg_expandarray", "a", f"unnest({pairs})")
    yield _macro("_pg_truetypid", "a, t", "a.atttypid")
    yield from _names(rows)
    yield f"CREATE TABLE {SCHEMA}.t_ancestors (relid BIGINT, depth BIGINT)"
    said, whole, parts = definitions(rows)
    yield _overloaded("pg_get_constraintdef", (1, 2), looked_up(said, "a1"))
    index, place = looked_up(whole, "a1"), looked_up(parts, "a1 || ' ' || a2")
    yield (
        f"CREATE MACRO {MACRO}pg_get_indexdef(a1) AS {index}, (a1, a2, a3) AS CASE a2 WHEN 0 THEN "
        f"{index} ELSE {place} END"
    )


def _names(rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Between numbers of things and their names."""
    bare = "regexp_replace(regexp_replace(lower(a), '^(pg_catalog|public|information_schema)\\.', ''), '\"', '', 'g')"  # noqa: E501
    for kind, table, name in (
        ("regclass", "pg_class", "relname"),
        ("regnamespace", "pg_namespace", "nspname"),
        ("regrole", "pg_roles", "rolname"),
        ("regtype", "pg_type", "typname"),
    ):
        shown = {row["oid"]: row[name] for row in rows[table]}
        numbers = {words.lower(): oid for oid, words in reversed(shown.items())}
        if kind == "regtype":
            numbers |= {words: oid for oid, words in SQL_NAMES.items()}
        yield _macro(
            f"to_{kind}", "a", f"coalesce(TRY_CAST(a AS BIGINT), {looked_up(numbers, bare)})"
        )
        own = f"coalesce({looked_up(shown, 'a')}, CAST(a AS VARCHAR))"
        yield _macro(
            f"{kind}_name", "a", f"{MACRO}format_type(a, NULL)" if kind == "regtype" else own
        )
    for kind in ("regproc", "regprocedure", "regoper"):
        yield _macro(f"to_{kind}", "a", bare)
        yield _macro(f"{kind}_name", "a", "CAST(a AS VARCHAR)")


def definitions(
    rows: Mapping[str, Sequence[Row]],
) -> tuple[dict[int, str], dict[int, str], dict[str, str]]:
    """Constraints, indexes, and the columns of indexes, as they would be written."""
    names = {row["oid"]: row["relname"] for row in rows["pg_class"]}
    columns = {
        (row["attrelid"], row["attnum"]): f'"{row["attname"]}"'
        for row in rows.get("pg_attribute", ())
    }

    def listed(oid: int, numbers: Sequence[int]) -> str:
        return f"({', '.join(columns[oid, number] for number in numbers)})"

    said: dict[int, str] = {}
    whole: dict[int, str] = {}
    parts: dict[str, str] = {}
    for row in rows.get("pg_constraint", ()):
        own = listed(row["conrelid"], row["conkey"])
        if row["contype"] == "f":
            other = listed(row["confrelid"], row["confkey"])
            said[row["oid"]] = f'FOREIGN KEY {own} REFERENCES "{names[row["confrelid"]]}"{other}'
        else:
            said[row["oid"]] = f"{'PRIMARY KEY' if row['contype'] == 'p' else 'UNIQUE'} {own}"
    for row in rows.get("pg_index", ()):
        oid, table = row["indexrelid"], row["indrelid"]
        whole[oid] = (
            f'CREATE UNIQUE INDEX "{names[oid]}" ON "{names[table]}" USING btree '
            f"{listed(table, row['indkey'])}"
        )
        parts |= {f"{oid} {at}": columns[oid, at] for at in range(1, len(row["indkey"]) + 1)}
    return said, whole, parts


def looked_up(known: Mapping[Any, Any], key: str) -> str:
    """SQL for what a value stands for; NULL where it stands for nothing."""
    if not known:
        return "NULL"
    pairs = ", ".join(f"{literal(one)}: {literal(other)}" for one, other in known.items())
    return f"map_extract(MAP {{{pairs}}}, {key})[1]"


def literal(value: str | int) -> str:
    """A constant of SQL.

    >>> literal("it's"), literal(5)
    ("'it''s'", '5::BIGINT')
    """
    return f"{value}::BIGINT" if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _macro(name: str, given: str, body: str) -> str:
    return f"CREATE MACRO {MACRO}{name}({given}) AS {body}"


def _overloaded(name: str, counts: Sequence[int], body: str) -> str:
    """A function that takes so many values, or so many; `last_` in it is the last of them."""
    forms = []
    for count in counts:
        given = [f"a{at}" for at in range(1, count + 1)]
        forms.append(f"({', '.join(given)}) AS {body.replace('last_', f'a{count}')}")
    return f"CREATE MACRO {MACRO}{name}{', '.join(forms)}"


def shown(table: pa.Table) -> pa.Table:
    """A table with its lists as text of PostgreSQL's arrays."""
    for at, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            vector = VECTORS.get(field.name)
            kind = vector or LISTS.get(field.type.value_type, 1009)
            write = vector_text if vector else array_text
            texts = pa.array([write(one) for one in table.column(at).to_pylist()], pa.string())
            said = pa.field(field.name, pa.string(), metadata={SAID: str(kind).encode()})
            table = table.set_column(at, said, texts)
    return table


def vector_text(values: Sequence[int] | None) -> str | None:
    """A list of numbers as PostgreSQL writes those of an index.

    >>> vector_text([1, 2])
    '1 2'
    """
    return None if values is None else " ".join(map(str, values))


def array_text(values: Sequence[Any] | None) -> str | None:
    """A list as PostgreSQL writes it.

    >>> array_text(["a", None, 'say "x"']), array_text([True, 3])
    ('{"a",NULL,"say \\\\"x\\\\""}', '{t,3}')
    """
    if values is None:
        return None
    return "{" + ",".join(map(_element, values)) + "}"


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
