"""Excel workbooks: the one sheet that has values, its first row the names of the columns."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.engines.files import cannot_read
from tacit.engines.texts.columns import TextColumns, Texts
from tacit.engines.texts.values import text_of
from tacit.errors import DataError, Mark, MissingExtra

AT_ONCE = 50_000
EXACT = 2**53  # whole numbers up to which doubles, as Excel has them, are all different
# A cell with a formula whose value was not stored, as programs write it that cannot compute.
UNCOMPUTED = re.compile(
    rb'<c r="([A-Z]+[0-9]+)"(?![^>]*t="str")[^>]*><f(?:/>|[^>]*>[^<]*</f>)(?:<v/>|<v></v>)?</c>'
)
TAIL = 1 << 16  # longer than a formula can be


def read(path: Path, shown: str) -> TextColumns:
    """The sheet with values; a workbook with several is refused, as they may not be one table."""
    try:
        import python_calamine
    except ImportError:
        raise MissingExtra("python-calamine", extra="files", purpose="Excel workbooks") from None
    try:
        refuse_uncomputed(path, shown)
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except (python_calamine.CalamineError, zipfile.BadZipFile):
        raise DataError(
            f"{shown} is no whole Excel workbook, or it has a password.",
            hint="Open it in the program that made it, and save it anew as .xlsx.",
            mark=Mark(shown),
        ) from None
    except OSError as error:
        raise cannot_read(shown, error) from None
    filled = {name: rows for name, rows in sheets.items() if rows}
    if len(filled) > 1:
        raise DataError(
            f"{shown} has {len(filled)} sheets with values: {', '.join(filled)}.",
            hint="Save the sheet that you mean as a workbook of its own, or as CSV (UTF-8).",
            mark=Mark(shown),
        )
    rows = next(iter(filled.values()), [])
    if not rows:
        raise DataError(
            f"{shown} is empty.",
            hint="It needs a first row with the column names.",
            mark=Mark(shown),
        )
    names = tuple((text_of(cell) or "").strip() for cell in rows[0])
    refuse_long(names, rows, shown)
    return TextColumns(names, chunks(names, rows[1:]))


def chunks(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[Mapping[str, Texts]]:
    """Some rows at a time, by column; rows without any value are left out."""
    for begin in range(0, max(1, len(rows)), AT_ONCE):
        some = [row for row in rows[begin : begin + AT_ONCE] if any(cell != "" for cell in row)]
        yield {name: [text_of(row[at]) for row in some] for at, name in enumerate(names)}


def refuse_long(names: Sequence[str], rows: Sequence[Sequence[Any]], shown: str) -> None:
    """Numbers with more digits than Excel keeps could be others than were meant."""
    for line, row in enumerate(rows, 1):
        for name, cell in zip(names, row, strict=True):
            if isinstance(cell, float) and abs(cell) >= EXACT:
                raise DataError(
                    f"column {name!r} of {shown} has numbers of more than 15 digits, which Excel "
                    "does not keep exactly.",
                    hint="Make the column text in the program that the numbers come from.",
                    mark=Mark(shown, line),
                )


def refuse_uncomputed(path: Path, shown: str) -> None:
    """A formula without its value would be read as missing."""
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", name):
                continue
            with book.open(name) as sheet:
                before = b""
                while part := sheet.read(1 << 20):
                    if found := UNCOMPUTED.search(before + part):
                        raise DataError(
                            f"cell {found[1].decode()} has a formula, and no value.",
                            hint="Open the workbook in Excel or LibreOffice, and save it.",
                            mark=Mark(shown),
                        )
                    before = (before + part)[-TAIL:]
