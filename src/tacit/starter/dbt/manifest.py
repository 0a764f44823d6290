"""What a dbt project says of itself: target/manifest.json as frozen values."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import InputError, Mark

ROLES = {
    "pii": "identifiers",
    "quasi_identifier": "quasi-identifiers",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}
ADAPTERS = ("duckdb", "postgres")
FINGERPRINT = re.compile(r"-- tacit fingerprint ([0-9a-f]{32})\n")
ROWS = re.compile(r"-- tacit rows (select .*)\n")
# What dbt makes of nothing but a SELECT over what it names; other models keep rows of the past.
SELECTED = ("view", "table", "ephemeral", "materialized_view")


@dataclass(frozen=True, slots=True)
class DbtNode:
    """A model, seed, snapshot, source or analysis; `sql` is what dbt compiled, where that is a
    SELECT over other nodes, and empty before it did.
    """

    id: str
    name: str
    kind: str
    place: tuple[str, str]
    columns: tuple[str, ...] | None
    roles: Mapping[str, tuple[str, ...]]
    keys: tuple[str, ...]
    sql: str | None
    reads: tuple[str, ...]
    marks: frozenset[str]

    @property
    def relation(self) -> str:
        """What a plan calls it: with its schema, but for DuckDB's own."""
        schema, name = self.place
        return name if schema == "main" else f"{schema}.{name}"


@dataclass(frozen=True, slots=True)
class WantedVerdict:
    """A test `tacit.verdict` of a model.

    As the test says that dbt compiled: what its verdict is stored under, and SQL for a hash of the
    model's rows; None before the model was built.
    """

    model: str
    check: str
    parameters: Mapping[str, Any]
    fingerprint: str
    rows: str | None
    test: str


@dataclass(frozen=True, slots=True)
class DbtProject:
    """A project as dbt compiled it."""

    name: str
    folder: Path
    target: Path
    adapter: str
    nodes: Mapping[str, DbtNode]
    exposures: Mapping[str, tuple[str, ...]]
    wanted: tuple[WantedVerdict, ...]

    def marked(self, mark: str, kinds: Iterable[str]) -> list[DbtNode]:
        """The nodes of some kinds with a tag, or a key of meta that is true."""
        return [one for one in self.nodes.values() if mark in one.marks and one.kind in kinds]

    def behind(self, node: DbtNode) -> Iterator[DbtNode]:
        """The seeds, sources and other kept rows that a node is made of."""
        if node.kind in ("seed", "source"):
            yield node
        for one in node.reads:
            yield from self.behind(self.nodes[one])


def read_project(folder: Path, target: Path | None = None) -> DbtProject:
    """The manifest of a dbt project, and its catalog where there is one."""
    target = target or folder / "target"
    file = target / "manifest.json"
    given = read_json(file)
    try:
        adapter = given["metadata"]["adapter_type"]
        if adapter not in ADAPTERS:
            raise InputError(
                f"the project runs on {adapter}; tacit dbt reads projects on {' and '.join(ADAPTERS)}.",  # noqa: E501
                mark=Mark(str(file)),
            )
        catalog = read_json(target / "catalog.json") if (target / "catalog.json").exists() else {}
        written = {**given["nodes"], **given["sources"]}
        keys = unique_columns(given["nodes"].values())
        return DbtProject(
            given["metadata"].get("project_name") or folder.resolve().name,
            folder,
            target,
            adapter,
            {
                id: node_of(one, folder, catalog, keys.get(id, ()))
                for id, one in written.items()
                if one["resource_type"] in ("model", "seed", "snapshot", "source", "analysis")
            },
            {one["name"]: tuple(one["depends_on"]["nodes"]) for one in given["exposures"].values()},
            tuple(wanted_verdicts(given["nodes"].values(), file)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"this is no manifest that dbt 1.8 or newer writes: {error!r}.",
            hint="Run: dbt compile",
            mark=Mark(str(file)),
        ) from None


def read_json(file: Path) -> Any:
    """A file that dbt wrote."""
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError:
        raise InputError(
            f"there is no {file}.",
            hint="Run dbt compile in the project, and give its folder: tacit dbt FOLDER",
        ) from None
    except ValueError:
        raise InputError(
            "this is no JSON file.", hint="Run: dbt compile", mark=Mark(str(file))
        ) from None


def node_of(
    written: Mapping[str, Any], folder: Path, catalog: Mapping[str, Any], keys: tuple[str, ...]
) -> DbtNode:
    """A node of the manifest."""
    kind, config = written["resource_type"], written.get("config") or {}
    place = (str(written["schema"]), str(written.get("alias") or written.get("identifier")))
    selects = kind == "analysis" or (
        kind == "model"
        and written.get("language", "sql") == "sql"
        and config.get("materialized") in SELECTED
    )
    return DbtNode(
        written["unique_id"],
        written["name"],
        kind,
        place,
        columns_of(written, folder, catalog),
        roles_of(written),
        keys,
        (written.get("compiled_code") or "") if selects else None,
        tuple((written.get("depends_on") or {}).get("nodes") or ()),
        marks_of(written),
    )


def marks_of(written: Mapping[str, Any]) -> frozenset[str]:
    """The tags of a node or column, and the keys of its meta that are true."""
    config = written.get("config") or {}
    metas = (written.get("meta") or {}, config.get("meta") or {})
    tags = (written.get("tags") or (), config.get("tags") or ())
    return frozenset(
        [name for meta in metas for name, value in meta.items() if value is True]
        + [name for some in tags for name in ([some] if isinstance(some, str) else some)]
    )


def roles_of(written: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The columns of each role; a column has one."""
    found: dict[str, tuple[str, ...]] = {}
    for column in written["columns"].values():
        roles = [role for role in ROLES if role in marks_of(column)]
        if len(roles) > 1:
            raise InputError(
                f"{written['name']}.{column['name']} is {' and '.join(roles)}; a column has one "
                "role.",
                hint="Take the others out of its tags or meta.",
                mark=Mark(written.get("patch_path") or written["original_file_path"]),
            )
        if roles:
            found[ROLES[roles[0]]] = (*found.get(ROLES[roles[0]], ()), column["name"])
    return found


def columns_of(
    written: Mapping[str, Any], folder: Path, catalog: Mapping[str, Any]
) -> tuple[str, ...] | None:
    """All columns: as the catalog has them, as the file of a seed has them, else as they are
    documented; None where nothing says.
    """
    for part in ("nodes", "sources"):
        found = (catalog.get(part) or {}).get(written["unique_id"])
        if found:
            return tuple(one["name"] for one in found["columns"].values())
    file = folder / written["original_file_path"]
    if written["resource_type"] == "seed" and file.is_file():
        delimiter = (written.get("config") or {}).get("delimiter") or ","
        with file.open(encoding="utf-8-sig", newline="") as lines:
            return tuple(next(csv.reader(lines, delimiter=delimiter), ()))
    return tuple(one["name"] for one in written["columns"].values()) or None


def unique_columns(written: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The columns that dbt's own test says are unique, by node."""
    found: dict[str, tuple[str, ...]] = {}
    for one in written:
        test = one.get("test_metadata") or {}
        if test.get("name") == "unique" and not test.get("namespace") and one.get("column_name"):
            node = one["attached_node"]
            found[node] = (*found.get(node, ()), one["column_name"])
    return found


def wanted_verdicts(written: Iterable[Mapping[str, Any]], file: Path) -> Iterator[WantedVerdict]:
    """The tests `tacit.verdict`."""
    for one in written:
        test = one.get("test_metadata") or {}
        if (test.get("namespace"), test.get("name")) != ("tacit", "verdict"):
            continue
        code = one.get("compiled_code") or ""
        said, rows = FINGERPRINT.search(code), ROWS.search(code)
        if said is None:
            raise InputError(
                f"the test {one['name']} is not compiled.",
                hint="Run: dbt compile",
                mark=Mark(str(file)),
            )
        arguments = test["kwargs"]
        yield WantedVerdict(
            one["attached_node"],
            arguments["check"],
            arguments.get("parameters") or {},
            said.group(1),
            rows and rows.group(1),
            one["name"],
        )
