"""Parts: a folder beside the output with one file for every batch that is drawn, for a run that
goes on where another one stopped.

A group must never be drawn twice and both drawings published: two together tell more than one. So
there is one part for a batch, a part counts only when it is whole and of this run, and the output
is made from the parts alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from tacit.engines.output import FULL, cannot_write, discard, disk_full, refusing, settle
from tacit.errors import DataError, EngineError
from tacit.families.synthetic.runs.batches import Batch

FORMAT = 1
MANIFEST, LOCK = "manifest.json", "lock"
ENDING = ".part"
MAGIC = b"tacit part 1\n"
LONGEST = 200  # letters of a file's name that are kept in the folder's
COLUMNS = ("order", "group", "value", "count")
GO_ON = "What is drawn so far is kept: the same command goes on from there."

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The rows of one batch: a random number to order them by, the group, the value (both by their
    place in lists), and the count.

    `tries` is how often its groups were drawn until they were accepted,
    `most` how often one of them was.
    """

    order: Integers
    group: Integers
    value: Integers
    count: Integers
    tries: int = 0
    most: int = 0

    @property
    def rows(self) -> int:
        """How many rows of the output these are."""
        return len(self.group)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What has to be the same for two runs to belong together;
    what is secret is told by its digest.

    `counts` has the digest of the true people of every batch.
    """

    release: Mapping[str, Any]
    cells: str
    sizes: str
    seed: str
    counts: tuple[str, ...]


# What a user is told to have changed, the first that did.
WORDS = {
    "release": "the release's terms or columns are not the same",
    "seed": "the seed is not the same",
    "cells": "the domain, prior or another file of the release is not the same",
    "sizes": "the groups of the table, or their sizes, are not the same",
    "counts": "the people of the table are not the same",
}


class PartStore(Protocol):
    """Where parts are kept."""

    output: Path

    def keep(self, batch: Batch, part: BatchPart) -> None:
        """Keep the part of a batch."""

    def kept(self, batch: Batch) -> BatchPart | None:
        """The part of a batch, None where there is none."""


class Memory:
    """Parts that are kept for as long as the process lasts."""

    output = Path("memory")

    def __init__(self) -> None:
        self._parts: dict[Batch, BatchPart] = {}

    def keep(self, batch: Batch, part: BatchPart) -> None:
        """Keep the part of a batch."""
        self._parts[batch] = part

    def kept(self, batch: Batch) -> BatchPart | None:
        """The part of a batch, None where there is none."""
        return self._parts.get(batch)


class Digest:
    """Digests under a salt: who sees them cannot try out which table fits."""

    def __init__(self, salt: bytes) -> None:
        self.salt = salt

    def of(self, *parts: bytes) -> str:
        """The digest of some pieces, each with its length."""
        found = hashlib.blake2b(key=self.salt, digest_size=20)
        for part in parts:
            found.update(len(part).to_bytes(8, "big"))
            found.update(part)
        return found.hexdigest()


def lock(handle: int) -> None:
    """Lock a file until it is closed; BlockingIOError where another process has done so."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(*error.args) from None
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Folder:
    """The folder of the parts of one output.
    Open it with `with`: it is locked meanwhile, and stays behind unless it is removed.
    """

    def __init__(self, output: Path) -> None:
        final = output.resolve()
        name = (
            final.name
            if len(final.name) <= LONGEST
            else f"{final.name[:LONGEST]}-{hashlib.sha256(final.name.encode()).hexdigest()[:8]}"
        )
        self.path = final.with_name(f".{name}.tacit-parts")
        self.output = output
        self.run = ""
        self._handle: int | None = None

    def __enter__(self) -> Self:
        with refusing(self.path):
            while self._handle is None:
                self.path.mkdir(mode=0o700, exist_ok=True)
                self._handle = self._locked()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # a run that kept nothing leaves no folder either
            if not self.is_begun:
                shutil.rmtree(self.path)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _locked(self) -> int | None:
        """The lock's handle; None where the folder was removed meanwhile by the run that had it."""
        place = self.path / LOCK
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            return None
        try:
            lock(handle)
            if os.fstat(handle).st_ino == place.stat().st_ino:
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(handle)
            raise EngineError(
                f"another run is drawing {self.output} at this moment.",
                hint="Wait until it is done, or write to another file.",
            ) from None
        os.close(handle)
        return None

    def salt(self) -> bytes:
        """The salt of what is kept, else a new one."""
        with suppress(DataError, ValueError, KeyError):
            return bytes.fromhex(self._manifest()["salt"])
        return os.urandom(32)

    @property
    def is_begun(self) -> bool:
        """Did an earlier run leave something?"""
        return (self.path / MANIFEST).exists()

    def forget(self) -> None:
        """Throw away what an earlier run drew, so that it cannot be published as well."""
        with refusing(self.path):
            (self.path / MANIFEST).unlink(missing_ok=True)
            for place in self.path.iterdir():
                if place.name != LOCK:
                    discard(place)
            settle(self.path)

    def begin(self, salt: bytes, facts: RunFacts, batches: Sequence[Batch]) -> None:
        """Go on with what is kept where it belongs to the same run; an error says what changed.
        Else begin anew.
        """
        if self.is_begun:
            self._compare(salt, facts, batches)
            return
        self.forget()  # parts without a manifest belong to nothing
        self.run = secrets.token_hex(16)
        named = [{"name": one.name, "groups": one.groups, "people": one.people} for one in batches]
        document = {
            "format": FORMAT,
            "run": self.run,
            "salt": salt.hex(),
            **asdict(facts),
            "batches": named,
        }
        self._write(
            self.path / MANIFEST, json.dumps(document, ensure_ascii=False, default=str).encode()
        )

    def _compare(self, salt: bytes, facts: RunFacts, batches: Sequence[Batch]) -> None:
        kept = self._manifest()
        meant = json.loads(json.dumps(asdict(facts), default=str))
        names = [one["name"] for one in kept["batches"]]
        changed = next((key for key in WORDS if kept[key] != meant[key]), None)
        changed = changed or (
            "sizes"
            if names != [one.name for one in batches] or bytes.fromhex(kept["salt"]) != salt
            else None
        )
        if changed is not None:
            raise DataError(
                f"an earlier run left parts of {self.output}, and since then "
                f"{told_change(changed, kept, meant)}: they cannot be published together.",
                hint="Add --restart to throw these parts away and draw everything again.",
            )
        self.run = kept["run"]

    def _manifest(self) -> dict[str, Any]:
        try:
            found = json.loads((self.path / MANIFEST).read_bytes())
            known = (
                isinstance(found, dict)
                and found["format"] == FORMAT
                and {*WORDS, "run", "salt", "batches"} <= found.keys()
            )
        except FileNotFoundError:
            raise DataError(f"{self.path} has no manifest.") from None
        except (OSError, ValueError, KeyError):
            known = False
        if not known:
            raise DataError(
                f"{self.path} is not as this version of Tacit leaves the parts of a run.",
                hint="Add --restart to throw them away and draw everything again.",
            )
        return dict(found)

    # -- parts -------------------------------------------------------------------------------------

    def place(self, batch: Batch) -> Path:
        """Where the part of a batch is."""
        return self.path / f"{batch.name}{ENDING}"

    def keep(self, batch: Batch, part: BatchPart) -> None:
        """Write the part of a batch: whole, or not at all."""
        columns = [np.ascontiguousarray(getattr(part, name), dtype="<i8") for name in COLUMNS]
        told = {
            "run": self.run,
            "batch": batch.name,
            "rows": part.rows,
            "tries": part.tries,
            "most": part.most,
        }
        header = json.dumps(told).encode() + b"\n"
        self._write(
            self.place(batch), MAGIC, header, *(one.tobytes() for one in columns), signed=True
        )

    def kept(self, batch: Batch) -> BatchPart | None:
        """The part of a batch; None where there is none that is whole and of this run."""
        try:
            data = self.place(batch).read_bytes()
        except OSError:
            return None
        body, sign = data[:-32], data[-32:]
        if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != sign:
            return None
        line, _, rest = body[len(MAGIC) :].partition(b"\n")
        told = json.loads(line)
        if (
            told["run"] != self.run
            or told["batch"] != batch.name
            or len(rest) != 8 * len(COLUMNS) * told["rows"]
        ):
            return None
        order, group, value, count = np.frombuffer(rest, dtype="<i8").reshape(
            len(COLUMNS), told["rows"]
        )
        return BatchPart(order, group, value, count, tries=told["tries"], most=told["most"])

    def remove(self) -> None:
        """The output is there: nothing is kept.
        The manifest goes first; without it parts belong to nothing.
        """
        with suppress(OSError):
            (self.path / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(self.path, ignore_errors=True)

    def _write(self, place: Path, *pieces: bytes, signed: bool = False) -> None:
        beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
        try:
            with keeping(self.output):
                handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "wb") as file:
                    sign = hashlib.sha256()
                    for piece in pieces:
                        sign.update(piece)
                        file.write(piece)
                    if signed:
                        file.write(sign.digest())
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(place)
                settle(place.parent)
        except BaseException:
            discard(beside)
            raise


def joined(arrays: Sequence[Integers]) -> Integers:
    """One array of several, or an empty one."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def told_change(key: str, kept: Mapping[str, Any], meant: Mapping[str, Any]) -> str:
    """What changed, with the release's own words where it is one of them.

    >>> told_change(
    ...     "release",
    ...     {"release": {"epsilon": "1", "delta": "0"}},
    ...     {"release": {"epsilon": "2", "delta": "0"}},
    ... )
    'epsilon of the release changed from 1 to 2'
    """
    if key == "release":
        for name in {**kept[key], **meant[key]}:
            before, after = kept[key].get(name), meant[key].get(name)
            if before != after:
                return f"{name} of the release changed from {before} to {after}"
    return WORDS[key]


@contextmanager
def keeping(output: Path) -> Iterator[None]:
    """The system's refusals as ours, with the word that nothing that is drawn is lost."""
    try:
        yield
    except OSError as error:
        found = disk_full(output) if error.errno in FULL else cannot_write(output, error)
        raise with_word(found) from None


def with_word(error: Any) -> Any:
    """An error with the word that the parts are kept."""
    error.hint = f"{error.hint or ''} {GO_ON}".strip()
    return error
