"""The owner's key: 32 random bytes in a file of its own, without which no hash of the ledger can
be made or checked.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from tacit.errors import InputError, Mark

VARIABLE = "TACIT_KEY_FILE"
FILE = "tacit-ledger.key"
SIZE = 32  # bytes
OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Key:
    """A secret that makes keyed hashes (HMAC-SHA256);
    it is never printed and does not leave the process.

    Answers are often small (one count, one yes): a plain hash of them is undone by trying them all.

    >>> key = Key(bytes(32))
    >>> key
    Key(...)
    >>> key.mac("entry", b"x") == key.mac("head", b"x")
    False
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != SIZE:
            raise InputError(
                f"a key has {SIZE} bytes, not {len(secret)}.",
                hint="Take it from the file that Tacit made.",
            )
        self._secret = secret

    def __repr__(self) -> str:
        return "Key(...)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a key is not sent anywhere; send where its file is")

    def mac(self, purpose: str, data: bytes) -> str:
        """HMAC-SHA256 of the purpose, a zero byte and the data, in hex:
        hashes of different kinds never meet.

        >>> len(Key(bytes(32)).mac("answer", b""))
        64
        """
        return hmac.digest(self._secret, purpose.encode() + b"\0" + data, "sha256").hex()

    def begin(self, purpose: str) -> hmac.HMAC:
        """The same hash for data that come in pieces: `update` takes them, `hexdigest` ends it."""
        return hmac.new(self._secret, purpose.encode() + b"\0", hashlib.sha256)


def key_file(folder: Path) -> Path:
    """Where the key lies: where TACIT_KEY_FILE points, else beside the plan."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else folder / FILE


def read_key(folder: Path) -> Key:
    """The owner's key, for the ledger of a plan in this folder;
    an InputError where there is none or others can read it.
    """
    path = key_file(folder)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            written = file.read(SIZE * 4)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"the key of the ledger, {path}, cannot be read: {reason}.",
            hint="Run as the user who owns it.",
            mark=Mark(str(path)),
        ) from None
    if os.name == "posix" and mode & OTHERS:
        raise InputError(
            f"the key of the ledger, {path}, is open to other users (mode "
            f"{stat.S_IMODE(mode):04o}).",
            hint=(
                f"Run: chmod 600 {path}. Who has read it can forge entries and guess small answers."
            ),
            mark=Mark(str(path)),
        )
    return _parsed(path, written)


def owners_key(folder: Path) -> Key:
    """The owner's key; it is made where there is none.
    Two processes that begin at once end up with the same one.
    """
    path = key_file(folder)
    if not path.exists():
        _create(path)
    return read_key(folder)


def _missing(path: Path) -> InputError:
    return InputError(
        f"there is no key of the ledger at {path}.",
        hint=f"Put it back from your copy, or say where it is: {VARIABLE}=FILE. "
        "Without its key a ledger can be neither checked nor continued.",
        mark=Mark(str(path)),
    )


def _parsed(path: Path, written: bytes) -> Key:
    try:
        return Key(bytes.fromhex(written.decode("ascii").strip()))
    except ValueError:  # its words would repeat a part of the key
        raise InputError(
            f"{path} is not a key of a ledger: it has to hold {2 * SIZE} hexadecimal digits.",
            hint=f"Put the key back from your copy, or say where it is: {VARIABLE}=FILE.",
            mark=Mark(str(path)),
        ) from None


def _create(path: Path) -> None:
    """Write a new key beside its place and link it there:
    it is whole or not there, and never replaces another.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_hex(SIZE).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(beside, path)
        finally:
            beside.unlink()
        from tacit.engines.output import settle

        settle(path.parent)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"the key of the ledger cannot be written to {path}: {reason}.",
            hint=f"Make its folder writable, or choose another place: {VARIABLE}=FILE.",
            mark=Mark(str(path)),
        ) from None
