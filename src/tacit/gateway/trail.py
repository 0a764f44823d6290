"""The trail: a file of JSON lines that is only ever appended to, each line sealed with the owner's
key and tied to the one before, like the entries of the ledger.

Beside it lies a head, which says how many lines there are and the seal of the last: so lines that
are cut off at the end are missed. Several processes may append; the head is their lock. A file that
was moved away (logrotate, or `most` bytes) is followed by one that begins with its last seal.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tacit.errors import EngineError
from tacit.ledger.key import Key

SEALED = re.compile(rb'(\{.*), "seal": "([0-9a-f]{64})"\}')
HEAD = re.compile(rb"tacit audit (\d{20}) ([0-9a-f]{64}) ([0-9a-f]{64})\n")
HEAD_BYTES = 200  # more than a head has
TAIL_BYTES = 16 << 20  # more than a line has
CHAIN = "chain"  # the event of a line that says how the file goes on from what was before


@dataclass(frozen=True, slots=True)
class TrailHead:
    """How many lines were written, and the seal of the last."""

    lines: int
    last: str


class Trail:
    """A file to append to. Without a key, lines are not sealed, as before there were seals."""

    def __init__(self, path: Path, key: Key | None = None, *, most: int | None = None) -> None:
        self.key = key
        self._path = path
        self._most = most
        self._file = -1
        self._sent = TrailHead(0, "")  # to a device, which has no head
        self._open()
        if key is not None and not self._is_device():
            os.close(opened(head_file(path), os.O_RDWR))  # or it is said at once that it cannot be

    def append(self, lines: Sequence[bytes]) -> bytes:
        """Write lines, all or none of them; an OSError or EngineError where that cannot be. What
        was written, with its seals.
        """
        if self.key is None:
            self._follow()
            data = b"".join(lines)
            self._write(data)
        elif self._is_device():
            start = [] if self._sent.lines else [self._chain_line(self._sent)]
            data, sent = sealed_all(self.key, self._sent, [*start, *lines])
            self._write(data)
            self._sent = sent
        else:
            with self._locked() as handle:
                data = self._append_locked(self.key, handle, lines)
        return data

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)

    def _append_locked(self, key: Key, handle: int, lines: Sequence[bytes]) -> bytes:
        head = head_from(key, os.pread(handle, HEAD_BYTES, 0))
        self._follow()
        self._rotate()
        torn, start, last = self._start(head)
        before = TrailHead(head.lines if head else 0, last)
        data, now = sealed_all(key, before, [*start, *lines])
        size = self._write(torn + data)
        said = written_head(key, now)
        try:
            os.pwrite(handle, said, 0)
            os.ftruncate(handle, len(said))
        except OSError:  # or they would be written once more with each try
            os.ftruncate(self._file, size)
            raise
        return data

    def _start(self, head: TrailHead | None) -> tuple[bytes, list[bytes], str]:
        """What ends a torn line; the line that says how the file goes on, where it does not end as
        the head says; and the seal to go on from.
        """
        size = os.fstat(self._file).st_size
        with self._path.open("rb") as file:
            if head is not None and size:
                end = f'"seal": "{head.last}"}}\n'.encode()
                file.seek(max(0, size - len(end)))
                if file.read() == end:
                    return b"", [], head.last
            file.seek(max(0, size - TAIL_BYTES))
            whole, _, piece = file.read().rpartition(b"\n")
            match = SEALED.fullmatch(whole.rpartition(b"\n")[2])
            more = {}
            if size and match is None:
                file.seek(0)
                found = hashlib.file_digest(file, "sha256")
                found.update(b"\n" if piece else b"")
                more["unsealed"] = found.hexdigest()
            elif piece:
                more["torn"] = hashlib.sha256(piece).hexdigest()
        if match is not None:
            last = match[2].decode()
        else:
            last = head.last if head is not None and not size else ""
        start = self._chain_line(head or TrailHead(0, ""), **more)
        return (b"\n" if piece else b""), [start], last

    def _chain_line(self, head: TrailHead, **more: str) -> bytes:
        return encoded({"event": CHAIN, "after": head.last, "lines": head.lines, **more})

    def _write(self, data: bytes) -> int:
        """All of it, and how long the file was before; where that fails, what was written of it is
        taken back.
        """
        size = os.fstat(self._file).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, size)
            raise
        return size

    def _rotate(self) -> None:
        """Move a file away that is long enough."""
        if self._most is None or os.fstat(self._file).st_size < self._most:
            return
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
        self._path.rename(self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        self._follow()

    def _follow(self) -> None:
        """Open the file anew if another one, or none, has its name by now."""
        if self._is_device():
            return
        try:
            found = os.stat(self._path, follow_symlinks=False)
            if os.path.samestat(found, os.fstat(self._file)):
                return
        except OSError:
            pass
        before = self._file
        self._open()
        os.close(before)

    def _open(self) -> None:
        if self._path.is_symlink() and not self._is_device():
            raise EngineError(
                f"the audit log {self._path.name} is a symbolic link.",
                hint="Name the file itself with --audit: a link could lead to any other file.",
            )
        self._file = opened(self._path, os.O_WRONLY | os.O_APPEND, device=self._is_device())

    def _is_device(self) -> bool:
        """Is it one such as /dev/stdout? These are links, which only root can make."""
        return self._path.parent == Path("/dev")

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The head, for this process alone."""
        handle = opened(head_file(self._path), os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)


def opened(path: Path, flags: int, *, device: bool = False) -> int:
    """A file of ours, for the owner alone; made where there is none, and never a link."""
    flags |= os.O_CREAT | os.O_CLOEXEC | (0 if device else os.O_NOFOLLOW)
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        raise EngineError(
            f"the audit log {path.name} cannot be written: {error.strerror}.",
            hint="Name another file with --audit.",
        ) from None


def head_file(path: Path) -> Path:
    """Where the head of a trail lies."""
    return path.with_name(f"{path.name}.head")


def head_from(key: Key, said: bytes) -> TrailHead | None:
    """A head as it was written; None for one that was not written with this key."""
    match = HEAD.fullmatch(said)
    if match is None:
        return None
    head = TrailHead(int(match[1]), match[2].decode())
    return head if hmac.compare_digest(written_head(key, head), said) else None


def written_head(key: Key, head: TrailHead) -> bytes:
    """A head as it lies in its file: always of the same length, so that one replaces another."""
    said = f"{head.lines:020d} {head.last}"
    return f"tacit audit {said} {key.mac('audit-head', said.encode())}\n".encode()


def sealed_all(key: Key, head: TrailHead, lines: Sequence[bytes]) -> tuple[bytes, TrailHead]:
    """Lines as they are written after a head, and the head then."""
    last, parts = head.last, []
    for line in lines:
        said = line[:-2]  # without the bracket and the end of the line
        last = seal_of(key, last, said)
        parts.append(said + b', "seal": "' + last.encode() + b'"}\n')
    return b"".join(parts), TrailHead(head.lines + len(lines), last)


def seal_of(key: Key, before: str, said: bytes) -> str:
    """The seal of a line: of what it says, and of the seal before."""
    return key.mac("audit", before.encode() + b" " + said)


def encoded(event: Mapping[str, Any]) -> bytes:
    """A line of the log, with the time in UTC.

    >>> encoded({"user": "ann"}).decode()  # doctest: +ELLIPSIS
    '{"at": "...Z", "user": "ann"}\\n'
    """
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps({"at": at, **event}, ensure_ascii=True, default=str).encode() + b"\n"
