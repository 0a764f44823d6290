"""DuckDB relations, which come from another connection by way of Arrow: what becomes of each type.

| type | becomes |
|---|---|
| HUGEINT, UHUGEINT, BIGNUM, BIT, UUID, TIME WITH TIME ZONE, JSON, ENUM | itself: it goes as text, as Arrow has none, and is cast back |
| lists | text as DuckDB writes it |
| UNION, VARIANT | text, in which 1 and '1' differ |
| MAP or STRUCT with UHUGEINT or BIT inside | refused: Arrow would change them |
| all others | by Arrow, whose table says what becomes of them |
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tacit.engines.duckdb.frames import chosen, is_of, refused
from tacit.engines.sql import shapes

AND_BACK = re.compile(r"U?HUGEINT|BIGNUM|BIT|UUID|TIME WITH TIME ZONE|JSON|ENUM\(.*\)")
TEXT = {
    r".*\]": "CAST({0} AS VARCHAR)",
    r"UNION\(.*\)": "UNION_TAG({0}) || ': ' || CAST({0} AS VARCHAR)",
    "VARIANT": "CAST(TO_JSON({0}) AS VARCHAR)",
}
CHANGED_INSIDE = re.compile(r".*\b(UHUGEINT|BIT)\b.*")


def is_relation(data: Any) -> bool:
    """Is it a relation of DuckDB?"""
    return (is_of("duckdb", data) or is_of("_duckdb", data)) and hasattr(data, "project")


def for_arrow(relation: Any, columns: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """The columns that are asked for, in types that Arrow holds, and the SQL types to cast back
    to of those that go as text.
    """
    casts: dict[str, str] = {}
    picked: list[str] = []
    for name, at in chosen(relation.columns, columns).items():
        kind, shown = str(relation.types[at]), shapes.column(name).sql(dialect="duckdb")
        way = next((way for pattern, way in TEXT.items() if re.fullmatch(pattern, kind)), None)
        if AND_BACK.fullmatch(kind):
            casts[name], way = kind, "CAST({0} AS VARCHAR)"
        elif way is None and CHANGED_INSIDE.fullmatch(kind):
            raise refused(
                name,
                f"values of type {kind}, which Arrow cannot hold",
                "Give its parts another type, or make it text.",
            )
        picked.append(shown if way is None else f"{way.format(shown)} AS {shown}")
    return (relation.project(", ".join(picked)) if picked else relation), casts
