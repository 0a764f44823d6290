"""The rows of pg_catalog and information_schema, for what one role may know of.

Numbers of things begin where those of users' tables begin in PostgreSQL, in the order of the plan.
Nothing is counted: no table says how many rows it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tacit.gateway.postgres.knowledge import PUBLIC, RoleKnowledge, Thing
from tacit.gateway.postgres.settings import DEFAULTS
from tacit.gateway.postgres.wire import WireColumn

Row = Mapping[str, Any]
COLUMNS = Path(__file__).with_name("catalog_columns.txt")
CATALOG, INFORMATION = "pg_catalog", "information_schema"
CATALOG_OID, INFORMATION_OID, PUBLIC_OID = 11, 13000, 2200
OWNER, DATABASE, HEAP, BTREE = 10, 5, 2, 403
FIRST = 16384
COLLATION = 100
# name, number, size, category, number of its array, and how standard SQL calls it
TYPES = (
    ("bool", 16, 1, "B", 1000, "boolean"),
    ("bytea", 17, -1, "U", 1001, "bytea"),
    ("char", 18, 1, "Z", 1002, '"char"'),
    ("name", 19, 64, "S", 1003, "name"),
    ("int8", 20, 8, "N", 1016, "bigint"),
    ("int2", 21, 2, "N", 1005, "smallint"),
    ("int2vector", 22, -1, "A", 1006, "int2vector"),
    ("int4", 23, 4, "N", 1007, "integer"),
    ("regproc", 24, 4, "N", 1008, "regproc"),
    ("text", 25, -1, "S", 1009, "text"),
    ("oid", 26, 4, "N", 1028, "oid"),
    ("oidvector", 30, -1, "A", 1013, "oidvector"),
    ("json", 114, -1, "U", 199, "json"),
    ("float4", 700, 4, "N", 1021, "real"),
    ("float8", 701, 8, "N", 1022, "double precision"),
    ("unknown", 705, -2, "X", 0, "unknown"),
    ("bpchar", 1042, -1, "S", 1014, "character"),
    ("varchar", 1043, -1, "S", 1015, "character varying"),
    ("date", 1082, 4, "D", 1182, "date"),
    ("time", 1083, 8, "D", 1183, "time without time zone"),
    ("timestamp", 1114, 8, "D", 1115, "timestamp without time zone"),
    ("timestamptz", 1184, 8, "D", 1185, "timestamp with time zone"),
    ("interval", 1186, 16, "T", 1187, "interval"),
    ("numeric", 1700, -1, "N", 1231, "numeric"),
    ("regclass", 2205, 4, "N", 2210, "regclass"),
    ("regtype", 2206, 4, "N", 2211, "regtype"),
    ("uuid", 2950, 16, "U", 2951, "uuid"),
    ("jsonb", 3802, -1, "U", 3807, "jsonb"),
)
SQL_NAMES = {number: words for _, number, _, _, _, words in TYPES}
NAMES = {number: name for name, number, *_ in TYPES}
SYSTEM = {"pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255, "pg_class": 1259}
SYSTEM |= {"pg_namespace": 2615, "pg_constraint": 2606, "pg_index": 2610, "pg_database": 1262}


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table or view with its columns, as its source describes them, and its number."""

    thing: Thing
    oid: int
    columns: Sequence[WireColumn]

    def number(self, name: str) -> int:
        """The number of a column."""
        names = [one.name.lower() for one in self.columns]
        return names.index(name.lower()) + 1


@cache
def tables() -> dict[str, dict[str, str]]:
    """The catalogs: each table with its columns and their types; those of the information schema
    have its name before theirs.

    >>> tables()["pg_am"]["amname"], tables()["information_schema_tables"]["table_name"]
    ('t', 't')
    """
    found = {}
    for line in COLUMNS.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        schema, name, *columns = line.split()
        pairs = (one.partition(":") for one in columns)
        key = name if schema == CATALOG else f"{schema}_{name}"
        found[key] = {column: kind or "t" for column, _, kind in pairs}
    return found


def rows_of(
    known: RoleKnowledge, columns: Mapping[str, Sequence[WireColumn]]
) -> dict[str, list[Row]]:
    """The rows of every table that has some. `columns` are those of each thing by its name."""
    return Builder(known, columns).rows()


class Builder:
    """Puts the rows together."""

    def __init__(self, known: RoleKnowledge, columns: Mapping[str, Sequence[WireColumn]]) -> None:
        self.known = known
        self.shapes = [
            TableShape(one, FIRST + at, columns[one.name]) for at, one in enumerate(known.things)
        ]
        self.by_name = {one.thing.name: one for one in self.shapes}
        schemas = dict.fromkeys(one.schema for one in known.things if one.schema != PUBLIC)
        self.schemas = {CATALOG: CATALOG_OID, PUBLIC: PUBLIC_OID, INFORMATION: INFORMATION_OID}
        self.schemas |= {name: 15000 + at for at, name in enumerate(schemas)}
        self.next = FIRST + len(self.shapes)
        self.found: dict[str, list[Row]] = {}

    def rows(self) -> dict[str, list[Row]]:
        """All of them."""
        self._fixed()
        for shape in self.shapes:
            self._thing(shape)
        keys: dict[tuple[str, tuple[str, ...]], str] = {}
        for shape in self.shapes:
            for at, key in enumerate(shape.thing.keys):
                keys[shape.thing.name, key] = self._key(shape, key, primary=at == 0)
        for at in range(len(self.known.references)):
            self._reference(at, keys)
        return self.found

    def _add(self, table: str, **row: Any) -> None:
        self.found.setdefault(table, []).append(row)

    def _new(self) -> int:
        self.next += 1
        return self.next - 1

    def _fixed(self) -> None:
        """What is the same for everybody."""
        role = self.known.role
        for name, oid in self.schemas.items():
            self._add("pg_namespace", oid=oid, nspname=name, nspowner=OWNER)
            self._add(
                "information_schema_schemata",
                catalog_name=role,
                schema_name=name,
                schema_owner="tacit",
            )
        for name, oid in SYSTEM.items():
            self._class(oid, name, CATALOG_OID, "r", 0)
        self._add(
            "pg_database",
            oid=DATABASE,
            datname=role,
            datdba=OWNER,
            encoding=6,
            datlocprovider="c",
            datistemplate=False,
            datallowconn=True,
            datconnlimit=-1,
            dattablespace=1663,
            datcollate="C",
            datctype="C",
        )
        self._add("pg_tablespace", oid=1663, spcname="pg_default", spcowner=OWNER)
        self._add("pg_am", oid=HEAP, amname="heap", amhandler="heap_tableam_handler", amtype="t")
        self._add("pg_am", oid=BTREE, amname="btree", amhandler="bthandler", amtype="i")
        self._add(
            "pg_collation",
            oid=COLLATION,
            collname="default",
            collnamespace=CATALOG_OID,
            collowner=OWNER,
            collprovider="d",
            collisdeterministic=True,
            collencoding=-1,
        )
        user = dict.fromkeys(("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication"), False)
        self._add(
            "pg_roles",
            oid=OWNER,
            rolname="tacit",
            rolinherit=True,
            rolcanlogin=False,
            rolbypassrls=False,
            rolconnlimit=-1,
            **user,
        )
        for name, value in {**DEFAULTS, "max_index_keys": "32"}.items():
            self._add("pg_settings", name=name, setting=value, vartype="string", context="user")
        for row in _types():
            self._add("pg_type", **row)

    def _class(self, oid: int, name: str, schema: int, kind: str, count: int, **more: Any) -> None:
        self._add(
            "pg_class",
            **{
                "oid": oid,
                "relname": name,
                "relnamespace": schema,
                "reltype": 0,
                "reloftype": 0,
                "relowner": OWNER,
                "relam": {"r": HEAP, "i": BTREE}.get(kind, 0),
                "relfilenode": 0,
                "reltablespace": 0,
                "relpages": 0,
                "reltuples": -1.0,
                "relallvisible": 0,
                "reltoastrelid": 0,
                "relhasindex": False,
                "relisshared": False,
                "relpersistence": "p",
                "relkind": kind,
                "relnatts": count,
                "relchecks": 0,
                "relhasrules": kind == "v",
                "relhastriggers": False,
                "relhassubclass": False,
                "relrowsecurity": False,
                "relforcerowsecurity": False,
                "relispopulated": True,
                "relreplident": "d" if kind == "r" else "n",
                "relispartition": False,
                "relrewrite": 0,
                **more,
            },
        )

    def _thing(self, shape: TableShape) -> None:
        thing, role = shape.thing, self.known.role
        kind = "v" if thing.is_view else "r"
        self._class(
            shape.oid,
            thing.table,
            self.schemas[thing.schema],
            kind,
            len(shape.columns),
            relhasindex=bool(thing.keys),
        )
        place = {"table_catalog": role, "table_schema": thing.schema, "table_name": thing.table}
        self._add(
            "information_schema_tables",
            **place,
            table_type="VIEW" if thing.is_view else "BASE TABLE",
            is_insertable_into="NO",
            is_typed="NO",
        )
        said = {"grantor": "tacit", "grantee": role, "privilege_type": "SELECT"}
        self._add(
            "information_schema_table_privileges",
            **place,
            **said,
            is_grantable="NO",
            with_hierarchy="NO",
        )
        if thing.is_view:
            self._add("information_schema_views", **place, check_option="NONE", is_updatable="NO")
            self._add("pg_views", schemaname=thing.schema, viewname=thing.table, viewowner="tacit")
        else:
            self._add(
                "pg_tables",
                schemaname=thing.schema,
                tablename=thing.table,
                tableowner="tacit",
                hasindexes=bool(thing.keys),
                hasrules=False,
                hastriggers=False,
                rowsecurity=False,
            )
        for at, column in enumerate(shape.columns, 1):
            self._column(shape.oid, at, column, column.name in thing.required)
            self._described(place, at, column, column.name in thing.required)

    def _column(self, oid: int, at: int, column: WireColumn, required: bool) -> None:
        self._add(
            "pg_attribute",
            attrelid=oid,
            attname=column.name,
            atttypid=column.type,
            attstattarget=-1,
            attlen=column.size,
            attnum=at,
            attndims=0,
            attcacheoff=-1,
            atttypmod=column.modifier,
            attbyval=0 < column.size <= 8,
            attalign="i",
            attstorage="p" if column.size > 0 else "x",
            attcompression="",
            attnotnull=required,
            atthasdef=False,
            atthasmissing=False,
            attidentity="",
            attgenerated="",
            attisdropped=False,
            attislocal=True,
            attinhcount=0,
            attcollation=COLLATION if column.type in (19, 25, 1042, 1043) else 0,
        )

    def _described(self, place: Row, at: int, column: WireColumn, required: bool) -> None:
        numbers = {20: (64, 0), 21: (16, 0), 23: (32, 0), 700: (24, None), 701: (53, None)}
        precision, scale = numbers.get(column.type, (None, None))
        radix = 2 if precision else None
        if column.type == 1700 and column.modifier >= 4:
            precision, scale = (column.modifier - 4) >> 16, (column.modifier - 4) & 0xFFFF
            radix = 10
        self._add(
            "information_schema_columns",
            **place,
            column_name=column.name,
            ordinal_position=at,
            is_nullable="NO" if required else "YES",
            data_type=SQL_NAMES.get(column.type, "text"),
            numeric_precision=precision,
            numeric_precision_radix=radix,
            numeric_scale=scale,
            datetime_precision=6 if column.type in (1083, 1114, 1184) else None,
            udt_catalog=self.known.role,
            udt_schema=CATALOG,
            udt_name=NAMES.get(column.type, "text"),
            dtd_identifier=str(at),
            is_self_referencing="NO",
            is_identity="NO",
            is_generated="NEVER",
            is_updatable="NO",
        )

    # -- keys --------------------------------------------------------------------------------------

    def _key(self, shape: TableShape, key: Sequence[str], *, primary: bool) -> str:
        """A key of a table: its constraint and its index."""
        thing, oid, index = shape.thing, self._new(), self._new()
        numbers = [shape.number(name) for name in key]
        name = f"{thing.table}_pkey" if primary else "_".join((thing.table, *key, "key"))
        self._class(index, name, self.schemas[thing.schema], "i", len(key))
        for at, number in enumerate(numbers, 1):
            self._column(index, at, shape.columns[number - 1], False)
        many = len(key)
        self._add(
            "pg_index",
            indexrelid=index,
            indrelid=shape.oid,
            indnatts=many,
            indnkeyatts=many,
            indisunique=True,
            indnullsnotdistinct=False,
            indisprimary=primary,
            indisexclusion=False,
            indimmediate=True,
            indisclustered=False,
            indisvalid=True,
            indcheckxmin=False,
            indisready=True,
            indislive=True,
            indisreplident=False,
            indkey=numbers,
            indcollation=[0] * many,
            indclass=[0] * many,
            indoption=[0] * many,
        )
        self._add("pg_indexes", schemaname=thing.schema, tablename=thing.table, indexname=name)
        kind = "p" if primary else "u"
        self._constraint(oid, name, shape, kind, numbers, index)
        self._add_constraint(shape, name, "PRIMARY KEY" if primary else "UNIQUE", key, key, shape)
        return name

    def _reference(self, at: int, keys: Mapping[tuple[str, tuple[str, ...]], str]) -> None:
        one = self.known.references[at]
        shape, other = self.by_name[one.thing.name], self.by_name[one.other.name]
        name = "_".join((shape.thing.table, *one.columns, "fkey"))
        target = keys.get((one.other.name, one.other_columns))
        index = next((row["oid"] for row in self.found["pg_class"] if row["relname"] == target), 0)
        self._constraint(
            self._new(),
            name,
            shape,
            "f",
            [shape.number(column) for column in one.columns],
            index,
            confrelid=other.oid,
            confkey=[other.number(column) for column in one.other_columns],
            confupdtype="a",
            confdeltype="a",
            confmatchtype="s",
        )
        self._add_constraint(shape, name, "FOREIGN KEY", one.columns, one.other_columns, other)
        self._add(
            "information_schema_referential_constraints",
            constraint_catalog=self.known.role,
            constraint_schema=shape.thing.schema,
            constraint_name=name,
            unique_constraint_catalog=self.known.role,
            unique_constraint_schema=other.thing.schema,
            unique_constraint_name=target,
            match_option="NONE",
            update_rule="NO ACTION",
            delete_rule="NO ACTION",
        )

    def _constraint(
        self,
        oid: int,
        name: str,
        shape: TableShape,
        kind: str,
        key: Sequence[int],
        index: int,
        **more: Any,
    ) -> None:
        row = {
            "oid": oid,
            "conname": name,
            "connamespace": self.schemas[shape.thing.schema],
            "contype": kind,
            "condeferrable": False,
            "condeferred": False,
            "convalidated": True,
            "conrelid": shape.oid,
            "contypid": 0,
            "conindid": index,
            "conparentid": 0,
            "confrelid": 0,
            "confupdtype": " ",
            "confdeltype": " ",
            "confmatchtype": " ",
            "conislocal": True,
            "coninhcount": 0,
            "connoinherit": True,
            "conkey": list(key),
        }
        self._add("pg_constraint", **{**row, **more})

    def _add_constraint(
        self,
        shape: TableShape,
        name: str,
        kind: str,
        columns: Sequence[str],
        others: Sequence[str],
        other: TableShape,
    ) -> None:
        """A constraint as the information schema has it."""
        role, thing = self.known.role, shape.thing
        said = {
            "constraint_catalog": role,
            "constraint_schema": thing.schema,
            "constraint_name": name,
        }
        place = {"table_catalog": role, "table_schema": thing.schema, "table_name": thing.table}
        self._add(
            "information_schema_table_constraints",
            **said,
            **place,
            constraint_type=kind,
            is_deferrable="NO",
            initially_deferred="NO",
            enforced="YES",
        )
        far = {
            "table_catalog": role,
            "table_schema": other.thing.schema,
            "table_name": other.thing.table,
        }
        for at, (column, theirs) in enumerate(zip(columns, others, strict=True), 1):
            self._add(
                "information_schema_key_column_usage",
                **said,
                **place,
                column_name=column,
                ordinal_position=at,
                position_in_unique_constraint=at if kind == "FOREIGN KEY" else None,
            )
            self._add(
                "information_schema_constraint_column_usage", **far, column_name=theirs, **said
            )


def _types() -> Iterator[Row]:
    """pg_type: the types that answers have, and their arrays."""
    for name, oid, size, category, array, _ in TYPES:
        row = {
            "oid": oid,
            "typname": name,
            "typnamespace": CATALOG_OID,
            "typowner": OWNER,
            "typlen": size,
            "typbyval": 0 < size <= 8,
            "typtype": "b",
            "typcategory": category,
            "typispreferred": name in ("bool", "text", "float8", "timestamptz", "oid"),
            "typisdefined": True,
            "typdelim": ",",
            "typrelid": 0,
            "typelem": 0,
            "typarray": array,
            "typinput": f"{name}in",
            "typoutput": f"{name}out",
            "typalign": "i",
            "typstorage": "p" if size > 0 else "x",
            "typnotnull": False,
            "typbasetype": 0,
            "typtypmod": -1,
            "typndims": 0,
            "typcollation": COLLATION if category == "S" else 0,
        }
        yield row
        if array:
            yield {
                **row,
                "oid": array,
                "typname": f"_{name}",
                "typlen": -1,
                "typbyval": False,
                "typcategory": "A",
                "typelem": oid,
                "typarray": 0,
                "typinput": "array_in",
                "typoutput": "array_out",
            }
