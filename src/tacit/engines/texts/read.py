"""The columns of a file as text, whichever program wrote it."""

from __future__ import annotations

from pathlib import Path

from tacit.engines.files import check_names
from tacit.engines.formats import format_of
from tacit.engines.texts.columns import TextColumns
from tacit.errors import DataError, Mark


def read_texts(path: Path, shown: str) -> TextColumns:
    """The columns of an Excel, JSON lines, SPSS, Stata or SAS file."""
    kind = format_of(path)
    if kind == "excel":
        from tacit.engines.texts import excel

        found = excel.read(path, shown)
    elif kind == "json lines":
        from tacit.engines.texts import json_lines

        found = json_lines.read(path, shown)
    else:
        from tacit.engines.texts import statistics

        found = statistics.read(path, shown)
    if not found.names:
        raise DataError(f"{shown} has no columns.", mark=Mark(shown))
    check_names(found.names, shown, "Give every column a name.")
    return found
