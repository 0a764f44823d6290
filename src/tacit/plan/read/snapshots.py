"""Tables with `snapshot-of`: another table at another time, with the keys and roles of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tacit.errors import did_you_mean
from tacit.model.schema import Table
from tacit.plan.read.document import Faults
from tacit.plan.read.keys import TableKeys
from tacit.plan.read.tables import check_rows

OWN = ("snapshot-of", "file", "columns", "rows")  # all else is what the other table says


def with_snapshots(
    tables: Mapping[str, Table | None], keys: Mapping[str, TableKeys], faults: Faults
) -> dict[str, Table | None]:
    """The tables, those that are snapshots with keys and roles of the table that they name."""
    found = dict(tables)
    for name, one in keys.items():
        table = tables.get(name)
        if one.snapshot_of is not None and table is not None:
            found[name] = _snapshot(table, one, tables, keys, faults)
    return found


def _snapshot(
    table: Table,
    own: TableKeys,
    tables: Mapping[str, Table | None],
    keys: Mapping[str, TableKeys],
    faults: Faults,
) -> Table | None:
    path, before = ("tables", table.name, "snapshot-of"), len(faults)
    other = str(own.snapshot_of)
    for key in own.written():
        if key not in OWN:
            faults.add(
                f"{key!r} does not go with 'snapshot-of'.",
                *path[:2],
                key,
                hint=f"A snapshot has the keys and roles of {other!r}: remove this.",
                key=True,
            )
    if other not in keys:
        known = [name for name in keys if name != table.name]
        faults.add(f"there is no table {other!r}.", *path, hint=did_you_mean(other, known))
    elif keys[other].snapshot_of is not None:
        faults.add(f"{other!r} is a snapshot itself.", *path, hint="Name the table as it is today.")
    today = tables.get(other)
    if len(faults) > before or today is None:
        return None
    if not today.keys and not today.person:
        faults.add(
            f"table {other!r} has no key: nothing says who is who in both.",
            *path,
            hint=f"Add key: [...] to {other!r}: the columns that name a person in both.",
        )
        return None
    made = replace(
        today,
        name=table.name,
        file=table.file,
        rows=table.rows,
        columns=table.columns or today.columns,
        digits=table.digits or today.digits,
        foreign_keys=(),
        snapshot_of=other,
    )
    check_rows(made, path[:2], faults)
    return made if len(faults) == before else None
