"""Uploads: a table that comes from the browser becomes a file beside the plan, whole, under a
safe name, and over no other file.
"""

from __future__ import annotations

import asyncio
import filecmp
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tacit.engines.files import csv_shape
from tacit.engines.formats import IN_WORDS, TABLE_FILES, TEXT, ending_of, format_of
from tacit.errors import DataError, InputError, TacitError

MOST_BYTES = 2 << 30
LONGEST_NAME = 80
KINDS = TABLE_FILES
MAGIC = b"PAR1"  # how a Parquet file begins and ends
# How others begin; of those that are not named the first bytes do not tell.
BEGINS = {"excel": (b"PK\x03\x04",), ".sav": (b"$FL2",), ".zsav": (b"$FL3",)}
SAMPLE = 1 << 20


@dataclass(frozen=True, slots=True)
class Stored:
    """A file that is there now; `is_new` where the upload made it."""

    path: Path
    is_new: bool


def in_page_words(error: TacitError) -> TacitError:
    """An error whose hints are about commands, with hints for somebody who has a page before them.

    >>> in_page_words(
    ...     DataError(
    ...         "t.csv is not UTF-8.", hint="Convert it first, for example: iconv -f LATIN1 t.csv"
    ...     )
    ... ).hint
    'Open it in the program that wrote it, save it as CSV (UTF-8), and bring it here again.'
    """
    for one in error:
        if one.hint and "iconv " in one.hint:
            one.hint = (
                "Open it in the program that wrote it, save it as CSV (UTF-8), and bring it "
                "here again."
            )
        elif one.hint and "tacit init" in one.hint:
            one.hint = "Choose one of its files."
    error.hint = next(iter(error)).hint
    return error


def safe_name(name: str) -> str:
    """A file's name without folders and without what a shell, a plan
    or a web address could misread.

    >>> (
    ...     safe_name("../../etc/Patients 2024 (final).csv"),
    ...     safe_name("C:\\\\data\\\\x.PARQUET"),
    ...     safe_name(".hidden.csv"),
    ... )
    ('Patients_2024_final.csv', 'x.parquet', 'hidden.csv')
    >>> safe_name("table.exe")
    Traceback (most recent call last):
    tacit.errors.InputError: 'table.exe' is not a kind of file that can be read here. Choose a file as CSV (.csv, .tsv, .txt, also with .gz or .zst), Parquet (.parquet, .pq), Excel (.xlsx), JSON lines (.jsonl, .ndjson), Arrow or Feather (.arrow, .feather), SPSS (.sav, .zsav), Stata (.dta) or SAS (.sas7bdat, .xpt).
    """  # noqa: E501
    last = re.split(r"[/\\]", name)[-1]
    ending = ending_of(Path(last))
    if not ending:
        raise InputError(
            f"{shortened(last)!r} is not a kind of file that can be read here.",
            hint=f"Choose a file as {IN_WORDS}.",
        )
    stem = last[: -len(ending)]
    plain = re.sub(r"[^\w-]+", "_", stem).strip("_-")[:LONGEST_NAME]
    return (plain or "table") + ending


def shortened(name: str) -> str:
    """A name that fits into a sentence."""
    return "".join(letter for letter in name if letter.isprintable())[:LONGEST_NAME]


async def store(
    pieces: AsyncIterator[bytes],
    name: str,
    folder: Path,
    *,
    limit: int = MOST_BYTES,
    check: Callable[[Path, str], None] | None = None,
) -> Stored:
    """Write what comes to a file in the folder;
    an InputError, and no file, where it is too much or no table.

    `check` looks at it instead of `look_over`. A file of that name that is there stays:
    if it is the same it is taken, else the new one gets a number.
    """
    final = safe_name(name)
    part = folder / f".upload-{secrets.token_hex(8)}{ending_of(Path(final))}"
    try:
        await receive(pieces, part, final, limit)
        await asyncio.to_thread(check or look_over, part, final)
        return await asyncio.to_thread(placed, part, folder / final)
    except TacitError as error:
        raise in_page_words(error) from None
    except OSError as error:
        reason = (error.strerror or "it failed").lower()
        raise InputError(
            f"{final} could not be stored: {reason}.", hint="Is there enough room beside the plan?"
        ) from None
    finally:
        with suppress(OSError):
            part.unlink()


async def receive(pieces: AsyncIterator[bytes], part: Path, final: str, limit: int) -> None:
    """Write pieces to a new file that only its owner can read."""
    size = 0
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        async for piece in pieces:
            size += len(piece)
            if size > limit:
                raise InputError(
                    f"{final} is larger than {in_words(limit)}.",
                    hint="Put it beside the plan by other means, and choose it there.",
                )
            await asyncio.to_thread(file.write, piece)


def look_over(part: Path, final: str) -> None:
    """Whether it looks like a whole table: refuse what is empty, cut off or something else."""
    with part.open("rb") as file:
        head = file.read(SAMPLE)
        file.seek(-min(4, part.stat().st_size), os.SEEK_END)
        tail = file.read()
    if not head:
        raise DataError(f"{final} is empty.", hint="It needs a first line with the column names.")
    kind, ending = format_of(part), ending_of(part)
    if kind == "parquet":
        if not head.startswith(MAGIC) or tail != MAGIC:
            raise DataError(
                f"{final} is no whole Parquet file.",
                hint="It may have been cut off on its way: save it again.",
            )
        return
    begins = BEGINS.get(kind, BEGINS.get(ending, ()))
    if begins and not head.startswith(begins):
        raise DataError(
            f"{final} is not what its name says.",
            hint="Open it in the program that wrote it, and save it again.",
        )
    if kind != "csv":
        return  # its reader says what is wrong
    if ending in TEXT and (head.startswith((MAGIC, b"PK\x03\x04", b"\x1f\x8b")) or b"\0" in head):
        raise DataError(
            f"{final} is not text.",
            hint="Save the table as CSV (UTF-8), or give it the ending of what it is.",
        )
    csv_shape(part, final)


def placed(part: Path, final: Path) -> Stored:
    """Give a finished file its name, or the next one that is free."""
    for number in count(1):
        ending = ending_of(final)
        stem = final.name.removesuffix(ending)
        place = final if number == 1 else final.with_name(f"{stem}-{number}{ending}")
        try:
            os.link(part, place)  # fails where the name is taken
        except FileExistsError:
            if (
                place.is_file()
                and not place.is_symlink()
                and filecmp.cmp(part, place, shallow=False)
            ):
                return Stored(place, is_new=False)
            continue
        return Stored(place, is_new=True)
    raise AssertionError("some name is free")


def in_words(size: int) -> str:
    """A number of bytes as people say it.

    >>> in_words(2 << 30), in_words(5 << 20), in_words(900)
    ('2 GB', '5 MB', '900 bytes')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} bytes"
