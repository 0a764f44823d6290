"""CSV files as people write them: which separator, which columns, and what is wrong with them."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import shlex
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tacit.errors import DataError, Mark, MissingExtra

csv.field_size_limit(sys.maxsize)  # of Python's reader, which would stop at 131,072 characters
SEPARATORS = (",", ";", "\t", "|")
SAMPLE_LINES = 20
INTERVAL = re.compile(r"[\[(][^\[\]();|\t]*,[^\[\]();|\t]*[\])]")  # its comma separates no columns
UTF8_MARK = "\ufeff"
# Those of four bytes first: the mark of UTF-32 begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
LINE_ENDS = {"\n": "LF", "\r\n": "CR LF", "\r": "CR"}
PACKED = {
    b"\x1f\x8b": ("compressed by gzip", "Give it a name that ends in .csv.gz."),
    b"BZh": ("compressed by bzip2", "Unpack it first: bunzip2 -c {0} > unpacked.csv"),
    b"\xfd7zXZ": ("compressed by xz", "Unpack it first: xz -dc {0} > unpacked.csv"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "Give it a name that ends in .csv.zst."),
    b"PK\x03\x04": (
        "a ZIP archive, perhaps an Excel workbook",
        "Unpack it; give an Excel workbook a name that ends in .xlsx.",
    ),
    b"PAR1": ("a Parquet file", "Give it a name that ends in .parquet."),
}


@dataclass(frozen=True, slots=True)
class CsvShape:
    """How a CSV file is written: its separator and the names in its first line."""

    separator: str
    header: tuple[str, ...]


def csv_shape(path: Path, shown: str | None = None, *, by_header: bool = False) -> CsvShape:
    """Look at the first lines of a CSV file with a header;
    raise a DataError that says what is wrong.

    `shown` is the file's name as the user wrote it.
    `by_header`: the separator is that of the first line, whatever the rows are like.
    """
    name = shown or str(path)
    lines = first_lines(path, name)
    if error := packed(path, name):
        raise error
    if not lines:
        raise DataError(
            f"{name} is empty.",
            hint="It needs a first line with the column names.",
            mark=Mark(name),
        )
    if "\0" in lines[0] and other_encoding(path):
        raise not_utf8(path, name)
    separator = likely_separator(lines[:1] if by_header else lines)
    header = tuple(cell.strip() for cell in next(csv.reader(lines[:1], delimiter=separator)))
    check_names(header, name, "Give every column a name in line 1.", Mark(name, 1))
    return CsvShape(separator, header)


def likely_separator(lines: list[str]) -> str:
    """The separator that splits the lines into the most columns of equal number;
    a comma if none does.

    >>> likely_separator(["zip;age", "13053;28"])
    ';'
    >>> likely_separator(["name", "O'Hara, Jo"])
    ','
    >>> likely_separator(["17;[15, 20);[10, 20)"])
    ';'
    """
    lines = [INTERVAL.sub("interval", line) for line in lines]

    def widths(separator: str) -> list[int]:
        return [len(row) for row in csv.reader(lines, delimiter=separator)]

    def quality(separator: str) -> tuple[bool, bool, int]:
        counts = widths(separator)
        return counts[0] > 1, len(set(counts)) == 1, counts[0]

    best = max(SEPARATORS, key=quality)
    return best if widths(best)[0] > 1 else ","


def check_names(names: Sequence[str], shown: str, hint: str, mark: Mark | None = None) -> None:
    """Each column has a name of its own; `hint` is for one that has none."""
    mark = mark or Mark(shown)
    folded = [one.casefold() for one in names]
    for position, column in enumerate(names, 1):
        if not column:
            raise DataError(f"column {position} of {shown} has no name.", hint=hint, mark=mark)
        first = folded.index(column.casefold()) + 1
        if first != position:  # engines do not tell Zip from zip
            raise DataError(
                f"{shown} has two columns named {column!r} (columns {first} and {position}).",
                hint="Rename one of them.",
                mark=mark,
            )


def unpacked(path: Path) -> Any:
    """A file to read bytes from, unpacked where its name ends in .gz or .zst."""
    ending = path.suffix.lower()
    if ending == ".gz":
        return gzip.open(path)
    if ending != ".zst":
        return path.open("rb")
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", extra="files", purpose="files packed by zstd") from None
    stream = pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")
    return io.BufferedReader(stream)


def open_text(path: Path, *, encoding: str = "utf-8", errors: str = "strict") -> IO[str]:
    """A file's text with its line ends as they are, unpacked where it is packed."""
    return io.TextIOWrapper(unpacked(path), encoding=encoding, errors=errors, newline="")


def first_lines(path: Path, name: str) -> list[str]:
    """The first lines of a text file, without the empty ones."""
    lines: list[str] = []
    try:
        with open_text(path) as file:
            for line in file:
                text = line.removeprefix(UTF8_MARK).rstrip("\r\n")
                if text:
                    lines.append(text)
                if len(lines) == SAMPLE_LINES:
                    break
    except UnicodeDecodeError:
        raise packed(path, name) or not_utf8(path, name) from None
    except (EOFError, zlib.error):
        raise cut_off(name) from None
    except OSError as error:
        raise cut_off(name) if error.errno is None else cannot_read(name, error) from None
    return lines


def cut_off(name: str) -> DataError:
    """A packed file that cannot be unpacked."""
    return DataError(
        f"{name} cannot be unpacked: it is damaged, cut off or packed in another way.",
        hint="Pack it again, or give it as it was before.",
        mark=Mark(name),
    )


def read_rows(path: Path, shown: str | None = None) -> list[tuple[int, list[str]]]:
    """The rows of a small CSV file without header, each with its line number;
    separator detected.
    """
    name = shown or str(path)
    lines = first_lines(path, name)
    separator = likely_separator(lines) if lines else ","
    try:
        with open_text(path, encoding="utf-8-sig") as file:
            reader = csv.reader(file, delimiter=separator)
            return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
    except UnicodeDecodeError:
        raise not_utf8(path, name) from None
    except csv.Error as error:
        raise DataError(f"{name} cannot be read as CSV: {error}.", mark=Mark(name)) from None


def mixed_line_ends(path: Path, name: str) -> DataError | None:
    """The first line of a file that ends in another way than the first does;
    line ends inside quotes are values.
    """
    first, line, inside = "", 0, False
    with open_text(path, errors="replace") as file:
        for text in file:
            inside ^= text.count('"') % 2 == 1
            end = text[len(text.rstrip("\r\n")) :]
            line += 1
            if inside or not end:
                continue
            first = first or end
            if end != first:
                return DataError(
                    f"{name} mixes line ends: line 1 ends with {LINE_ENDS.get(first, first)}, and "
                    f"line {line} with {LINE_ENDS.get(end, end)}.",
                    hint="Save it with one kind of line end."
                    if "\r" in (first, end)
                    else (
                        "Make them all the same, for example: tr -d '\\r' < "
                        f"{shlex.quote(name)} > converted.csv"
                    ),
                    mark=Mark(name, line),
                )
    return None


def packed(path: Path, name: str) -> DataError | None:
    """What a file is that is no text, by its first bytes."""
    with unpacked(path) as file:
        first = file.read(max(map(len, PACKED)))
    found = next(
        ((what, hint) for mark, (what, hint) in PACKED.items() if first.startswith(mark)), None
    )
    return (
        None
        if found is None
        else DataError(
            f"{name} is {found[0]}, and no CSV.",
            hint=found[1].format(shlex.quote(name)),
            mark=Mark(name),
        )
    )


def not_utf8(path: Path, name: str) -> DataError:
    """How a file is encoded, where it says so, or where the first byte stands that is not UTF-8."""
    if encoding := other_encoding(path):
        return DataError(
            f"{name} is {encoding}, and not UTF-8.",
            hint=conversion(encoding, name),
            mark=Mark(name, 1),
        )
    line = 1
    with unpacked(path) as file:
        for line, raw in enumerate(file, 1):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                return DataError(
                    f"{name} is not UTF-8 (byte 0x{raw[error.start]:02x} in line {line}).",
                    hint=conversion("LATIN1", name),
                    mark=Mark(name, line, error.start + 1),
                )
    return DataError(f"{name} is not UTF-8.", mark=Mark(name, line))


def other_encoding(path: Path) -> str | None:
    """The encoding that the first bytes of a file tell:
    by their mark, or as every other one is zero.
    """
    with unpacked(path) as file:
        first = file.read(4)
    marked = next((encoding for mark, encoding in MARKS.items() if first.startswith(mark)), None)
    if marked or 0 not in first:
        return marked
    return "UTF-16BE" if first[0] == 0 else "UTF-16LE"


def conversion(encoding: str, name: str) -> str:
    """How to make a file UTF-8."""
    return (
        f"Convert it first, for example: iconv -f {encoding} -t UTF-8 {shlex.quote(name)} > "
        "converted.csv"
    )


def cannot_read(name: str, error: OSError) -> DataError:
    """A file that is not there, or may not be read."""
    if isinstance(error, FileNotFoundError):
        return DataError(
            f"there is no file {name}.",
            hint="Check the path; it begins at the plan's folder, in Python at the current one.",
            mark=Mark(name),
        )
    reason = (error.strerror or str(error)).lower()
    return DataError(f"{name} cannot be read: {reason}.", mark=Mark(name))
