"""Checking a trail: is every line what was written, in its place, with none missing?"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.gateway.trail import CHAIN, HEAD_BYTES, SEALED, head_file, head_from, seal_of
from tacit.ledger.entries import HEX
from tacit.ledger.key import Key

MOST = 100  # faults that are told
RECENT = 20_000  # seals that are remembered: more than is ever written at once


@dataclass(frozen=True, slots=True)
class TrailFault:
    """One thing that is not as it was written, and where.

    Codes: `changed`, `unsealed`, `cut`, `head`, `gap`, `expected`.
    """

    code: str
    file: str
    line: int | None
    message: str

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "code": self.code,
            "file": self.file,
            "line": self.line,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class TrailVerified:
    """What was found. `unsealed` lines are from before there were seals."""

    lines: int
    unsealed: int
    last: str
    faults: tuple[TrailFault, ...]
    notes: tuple[str, ...]

    @property
    def intact(self) -> bool:
        """Nothing was changed."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "intact": self.intact,
            "lines": self.lines,
            "unsealed": self.unsealed,
            "last": self.last,
            "faults": [one.to_json() for one in self.faults],
            "notes": list(self.notes),
        }


def verify_trail(files: Sequence[Path], key: Key, expect: str | None = None) -> TrailVerified:
    """Was anything changed, taken out, added or cut off in these files, the oldest first?

    Who puts older copies of the log and of its head in their place goes unseen, unless `expect` is
    a seal that was noted elsewhere: some line has to have it.
    """
    if expect is not None and not HEX.fullmatch(expect):
        raise InputError(
            f"{expect[:80]!r} is not a seal of an audit log.",
            hint="Write the 64 digits that tacit audit verify printed.",
        )
    walk = TrailWalk(key, expect)
    for path in files:
        try:
            with path.open("rb") as file:
                walk.file(path, file)
        except OSError as error:
            raise InputError(
                f"the audit log {path} cannot be read: {(error.strerror or str(error)).lower()}.",
                hint="Name its files, the oldest first.",
            ) from None
    walk.end(files[-1])
    return TrailVerified(
        walk.sealed, walk.unsealed, walk.last, tuple(walk.faults[:MOST]), tuple(walk.notes)
    )


@dataclass(slots=True)
class TrailWalk:
    """Where the walk along the lines is."""

    key: Key
    expect: str | None
    last: str = ""
    sealed: int = 0
    unsealed: int = 0
    met: bool = False  # the expected seal
    faults: list[TrailFault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    _where: tuple[str, int] = ("", 0)
    _bare: list[tuple[int, bytes]] = field(default_factory=list)  # without a seal, not explained
    _bare_count: int = 0
    _digest: Any = None  # of the file up to here
    _any_here: bool = False  # was a line of this file sealed?

    def file(self, path: Path, lines: Iterable[bytes]) -> None:
        """Walk along one file."""
        self._digest, self._any_here = hashlib.sha256(), False
        for number, line in enumerate(lines, 1):
            self._where = (path.name, number)
            match = SEALED.fullmatch(line.removesuffix(b"\n"))
            if match is None:
                self._bare_count += 1
                self._bare = [*self._bare[:MOST], (number, line)]
            else:
                self._line(match[1], match[2].decode())
            self._digest.update(line)
        self._refuse_bare("unsealed", "line {} has no seal.")

    def end(self, path: Path) -> None:
        """Does it end where the head beside the last file says?"""
        self._where = (path.name, 0)
        if self.expect is not None and not self.met:
            self._fault("expected", "no line has the expected seal: an older copy was put there.")
        try:
            said = head_file(path).read_bytes()[:HEAD_BYTES]
        except OSError:
            said = b""
        if not said:
            if not self.sealed and not self.faults:
                self.notes.append("there are no lines yet")
            elif not self.met:
                self._fault(
                    "head",
                    f"there is no {head_file(path).name}: whether lines were cut off at the end "
                    "cannot be told. Name the newest file last, or give --expect.",
                )
            return
        head = head_from(self.key, said)
        if head is None:
            self._fault("head", f"{head_file(path).name} was not written with the owner's key.")
        elif head.last != self.last:
            if head.last in self._recent:
                self.notes.append("the last lines were written as the gateway was killed")
            else:
                self._fault("cut", f"its end was cut off: {head.lines} lines were written.")

    def _line(self, said: bytes, seal: str) -> None:
        """A line with a seal: it follows the one before, or says how it does."""
        event = parsed_line(said) if b'"event": "chain"' in said[:80] else {}
        before = self.last
        if event.get("event") == CHAIN:
            before = self._begun(event)
        self._any_here = True
        if not hmac.compare_digest(seal_of(self.key, before, said), seal):
            self._fault(
                "changed",
                f"line {self._where[1]} is not what was written after the line before it: it was "
                "changed, or lines were taken out, added or moved here.",
            )
        self._refuse_bare("unsealed", "line {} has no seal.")
        self.last = seal
        self._recent.append(seal)
        self.sealed += 1
        self.met |= seal == self.expect

    def _begun(self, event: dict[str, Any]) -> str:
        """Look at a line of the chain itself; the seal that it goes on from."""
        after, name = str(event.get("after")), self._where[0]
        if "unsealed" in event and not self._any_here:
            if event["unsealed"] == self._digest.hexdigest():
                self.unsealed += self._bare_count
                self._bare, self._bare_count = [], 0
            before = ""
        elif "torn" in event and self._bare:
            if hashlib.sha256(self._bare[-1][1].removesuffix(b"\n")).hexdigest() == event["torn"]:
                self.notes.append(f"line {self._where[1] - 1} of {name} was torn by a kill")
                self._bare.pop()
                self._bare_count -= 1
            before = self.last
        else:
            before = self.last if self._any_here else after
        if after and after not in self._recent:
            if self.sealed:
                self._fault("gap", f"lines before line {self._where[1]} were cut off.")
            else:
                self.notes.append(f"{name} goes on from an earlier file, which was not named")
        elif not after and self.sealed:
            self._fault("head", f"before line {self._where[1]} the head was taken away.")
        return before

    def _refuse_bare(self, code: str, message: str) -> None:
        for number, _ in self._bare:
            self._fault(code, message.format(number), number)
        self._bare, self._bare_count = [], 0

    def _fault(self, code: str, message: str, line: int | None = None) -> None:
        name, number = self._where
        self.faults.append(TrailFault(code, name, line or number or None, message))


def parsed_line(said: bytes) -> dict[str, Any]:
    """What a line says, without its seal."""
    try:
        found = json.loads(said + b"}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
