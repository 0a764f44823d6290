"""Where a release is written: a file that is whole or not there
at all, or a table of the source.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tacit.errors import DataError, EngineError, TacitError

Format = Literal["csv", "parquet"]
Relation = (
    Sequence[Any] | np.ndarray[Any, np.dtype[np.int64]]
)  # one column: whole numbers, or texts
Stamp = tuple[int, int, int]

FORMATS: dict[str, Format] = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
# Endings of files that Tacit does not write: nobody means a table of a schema by them.
OTHER_FILES = (
    ".arrow",
    ".avro",
    ".db",
    ".dta",
    ".duckdb",
    ".feather",
    ".gz",
    ".json",
    ".jsonl",
    ".ods",
    ".orc",
    ".rds",
    ".sav",
    ".sas7bdat",
    ".sqlite",
    ".tsv",
    ".txt",
    ".xls",
    ".xlsx",
    ".xml",
    ".yaml",
    ".yml",
    ".zip",
    ".zst",
)
LEFT = ".*tacit-????????.tmp"  # the temporary files of `temporary_place`
LEFT_SECONDS = 3600
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
SHORT = 40  # letters of a file's name in that of its temporary one, which has to fit as well
WRITABLE = "Write to a name that ends in .csv or .parquet"


def file_of(target: str) -> Path | None:
    """The file that a target means, None where it is the name of a table.

    >>> file_of("out/april.csv"), file_of("wards.april")
    (PosixPath('out/april.csv'), None)
    >>> file_of("april.xlsx")
    Traceback (most recent call last):
    tacit.errors.DataError: april.xlsx: Tacit does not write .xlsx files. Write to a name that ends in .csv or .parquet.
    """  # noqa: E501
    path = Path(target)
    ending = path.suffix.lower()
    if ending in FORMATS:
        return path
    if ending in OTHER_FILES:
        raise DataError(f"{target}: Tacit does not write {ending} files.", hint=f"{WRITABLE}.")
    if not target.strip() or len(path.parts) > 1 or target != target.strip() or path.is_dir():
        raise DataError(
            f"{target!r} is neither a file nor a table that can be written.", hint=f"{WRITABLE}."
        )
    return None


def format_of(path: Path) -> Format:
    """How a file is written, by its ending."""
    return FORMATS[path.suffix.lower()]


def no_database(target: str) -> DataError:
    """A table as target, where the source has no place for tables."""
    return DataError(
        f"{target!r} would be a table, but the source is no database that tables can be added to.",
        hint=f"{WRITABLE}.",
    )


def table_exists(name: str) -> DataError:
    """A target table that is there already."""
    return DataError(
        f"the database has a table {name!r} already.",
        hint="Choose another name, or drop the table; tacit anonymize replaces it with --replace.",
    )


def is_source(target: str) -> DataError:
    """A target that the release is made from."""
    return DataError(
        f"{target} belongs to what is released; it would be lost.",
        hint="Write the release to another name.",
    )


def check_file(path: Path, sources: Collection[Path]) -> None:
    """Refuse at once what could not be written later, or must not be."""
    with refusing(path):
        folder = final_place(path).parent
        if not folder.is_dir():
            named = folder if path.is_symlink() else path.parent
            raise DataError(
                f"there is no folder {named}.", hint="Make it first, or write somewhere else."
            )
        if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
            raise is_source(str(path))
        with trial(folder):
            pass


def final_place(path: Path) -> Path:
    """The file that a path leads to, so that a link keeps pointing where it does;
    an error where it leads to a folder, a pipe or a device.

    A file that is written beside its place would replace those:
    for root even the machine's /dev/null.
    """
    try:
        final = path.resolve()
    except RuntimeError:  # what Python before 3.13 makes of links in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise DataError(f"{path} is not a file.", hint="Name the file that is to be written.")
    return final


@contextmanager
def trial(folder: Path) -> Iterator[None]:
    """A file that only shows that the folder takes one."""
    place = folder / f".tacit-{secrets.token_hex(4)}.tmp"
    place.touch(exist_ok=False)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)


@contextmanager
def temporary_place(path: Path) -> Iterator[Path]:
    """A place for a file (or a folder with one) beside its final one,
    which it takes when all went well.

    What was there stays until then, and whatever goes wrong, also Ctrl-C, leaves it as it was. Only
    a process that is killed leaves the temporary file behind; nobody reads it, and it can be
    deleted.
    """
    with refusing(path):
        final = final_place(path)
    place = final.with_name(f".{final.name[:SHORT]}.tacit-{secrets.token_hex(4)}.tmp")
    try:
        with refusing(path):
            yield place
            keep_mode(place, final)
            settle(place)
            place.replace(final)
            settle(final.parent)
    except BaseException:
        discard(place)
        raise


def discard(place: Path) -> None:
    """Remove a temporary file or folder, if it is there."""
    with suppress(OSError):
        if place.is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)


def keep_mode(place: Path, final: Path) -> None:
    """Who may read the file does not change when it is written again. A new one is its owner's."""
    with suppress(OSError):
        if final.exists():
            place.chmod(stat.S_IMODE(final.stat().st_mode))
        else:
            place.chmod(0o700 if place.is_dir() else 0o600)


def sweep(folder: Path) -> list[str]:
    """Remove what killed processes left in a folder; the names. Files that somebody may be writing
    just now, those of the last hour, stay.
    """
    gone = []
    for place in sorted(folder.glob(LEFT)):
        with suppress(OSError):
            if time.time() - place.lstat().st_mtime > LEFT_SECONDS:
                discard(place)
                gone.append(place.name)
    return gone


def settle(place: Path) -> None:
    """Wait until a file or the names in a folder are on the disk, where the system can."""
    if os.name != "posix":  # Windows opens no folders, and flushes no file that is open for reading
        return
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """The system's refusals as ours."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: Path, error: OSError) -> TacitError:
    """Why a file cannot be written."""
    if error.errno in FULL:
        return disk_full(path)
    reason = (error.strerror or str(error)).lower()
    return EngineError(
        f"{path} cannot be written: {reason}.", hint="Write to a folder where you may."
    )


def disk_full(path: Path) -> EngineError:
    """A file for which there is no room."""
    return EngineError(
        f"{path} cannot be written: the disk is full.", hint="Free space, or write to another disk."
    )


def check_rows(written: int, meant: int | None) -> None:
    """What is written is as much as was meant."""
    if meant is not None and written != meant:
        raise DataError(
            f"{written} rows would have been written, but {meant} were meant: nothing was written.",
            hint="The table has changed since it was counted. Try again when nobody writes to it.",
        )


def stamp(path: Path) -> Stamp:
    """What changes when somebody writes to a file."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_unchanged(stamps: dict[Path, Stamp]) -> None:
    """The files that are read are the ones that were counted."""
    for path, before in stamps.items():
        if not path.exists() or stamp(path) != before:
            raise DataError(
                f"{path.name} has changed since it was counted: nothing was written.",
                hint="Try again when nobody writes to it.",
            )
