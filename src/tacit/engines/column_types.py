"""Column types: which types a plan may declare for a column that a source has, as a table;
all else is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from tacit.errors import DataError
from tacit.model.schema import ColumnType, Table

# The type that is declared, and what the source may have there. Queries are judged by the declared
# type and answered by the source's: a `date` declared `text` would make '2020-1-1' and '2020-01-01'
# two values to the judge and one to the database. What a source's own type is called here stands in
# its engine (`types`); CSV files have the declared type from the start.
COMPATIBLE: Mapping[ColumnType, tuple[ColumnType, ...]] = {
    "integer": ("integer",),
    "decimal": ("decimal",),
    "text": ("text",),
    "date": ("date",),
    "timestamp": ("timestamp",),
    "boolean": ("boolean",),
    "distribution": ("distribution", "text"),  # a mapping as JSON
}


def check_types(table: Table, found: Mapping[str, tuple[str, ColumnType]]) -> None:
    """Raise DataError where the plan declares another type than the source has;
    `found` has for each column the source's word and ours.
    """
    for name, (native, kind) in found.items():
        declared = table.columns.get(name)
        if declared is not None and kind not in COMPATIBLE[declared]:
            called = native if native.lower() == kind else f"{native}, here {kind}"
            raise DataError(
                f"column {name!r} of table {table.name} is declared {declared}, but the source has "
                f"{called}: queries would be read in another way than they are answered.",
                hint=(
                    f"Write columns: {{{name}: {kind}}}, or leave the column's type out. To "
                    f"have it as {declared}, store it so in the source."
                ),
            )
