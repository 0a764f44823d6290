"""The owner's key: made once, for the owner alone, and never shown."""

from __future__ import annotations

import hashlib
import hmac
import pickle
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.errors import InputError
from tacit.ledger.key import Key, owners_key, read_key


def test_a_key_is_made_at_the_first_write_and_found_again(tmp_path: Path) -> None:
    made = owners_key(tmp_path)
    path = tmp_path / "tacit-ledger.key"
    assert re.fullmatch(r"[0-9a-f]{64}\n", path.read_text("ascii"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (
        read_key(tmp_path).mac("x", b"y")
        == owners_key(tmp_path).mac("x", b"y")
        == made.mac("x", b"y")
    )
    assert [one.name for one in tmp_path.iterdir()] == ["tacit-ledger.key"]


def test_readers_never_make_a_key(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no key of the ledger") as caught:
        read_key(tmp_path)
    assert "TACIT_KEY_FILE" in str(caught.value.hint)
    assert not list(tmp_path.iterdir())


def test_the_environment_says_where_the_key_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACIT_KEY_FILE", str(tmp_path / "elsewhere"))
    made = owners_key(tmp_path / "plan")
    assert (tmp_path / "elsewhere").exists()
    assert read_key(Path("nowhere")).mac("x", b"") == made.mac("x", b"")


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o666, 0o610, 0o602])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    owners_key(tmp_path)
    path = tmp_path / "tacit-ledger.key"
    path.chmod(mode)
    for ask in (read_key, owners_key):
        with pytest.raises(InputError, match=f"is open to other users .mode {mode:04o}") as caught:
            ask(tmp_path)
        assert f"chmod 600 {path}" in str(caught.value.hint)
    path.chmod(0o400)
    read_key(tmp_path)


@pytest.mark.parametrize(
    "written", [b"", b"ab", b"\xff\xfe", b"g" * 64, b"a" * 62, b"a" * 66, b"a" * 64 + b"\nmore"]
)
def test_what_is_no_key_is_refused_without_repeating_it(tmp_path: Path, written: bytes) -> None:
    path = tmp_path / "tacit-ledger.key"
    path.write_bytes(written)
    path.chmod(0o600)
    with pytest.raises(InputError, match="is not a key of a ledger") as caught:
        read_key(tmp_path)
    assert not written or written.decode("latin-1") not in str(caught.value).replace(str(path), "")


def test_a_place_that_cannot_be_written_or_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"cannot be written to .* no such file"):
        owners_key(tmp_path / "missing")
    monkeypatch.setenv("TACIT_KEY_FILE", str(tmp_path))
    with pytest.raises(InputError, match="cannot be read"):
        read_key(tmp_path)


def test_a_key_is_not_shown(tmp_path: Path) -> None:
    owners_key(tmp_path)
    key, written = read_key(tmp_path), (tmp_path / "tacit-ledger.key").read_text("ascii").strip()
    assert written not in f"{key!r} {key} {[key]}" and not hasattr(key, "__dict__")
    with pytest.raises(TypeError, match="not sent"):
        pickle.dumps(key)


def test_hashes_are_hmacs_and_purposes_do_not_meet(secret: bytes) -> None:
    key = Key(secret)
    assert key.mac("entry", b"x") == hmac.new(secret, b"entry\0x", hashlib.sha256).hexdigest()
    assert (
        len({key.mac(purpose, data) for purpose in ("a", "ab") for data in (b"", b"b", b"bb")}) == 6
    )
    pieces = key.begin("file")
    pieces.update(b"ab")
    pieces.update(b"c")
    assert pieces.hexdigest() == key.mac("file", b"abc")


def test_processes_that_begin_at_once_make_one_key(tmp_path: Path) -> None:
    code = (
        "from tacit.ledger.key import owners_key; from pathlib import Path; "
        f"print(owners_key(Path({str(tmp_path)!r})).mac('x', b''))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    told = {one.communicate()[0] for one in running}
    assert told == {read_key(tmp_path).mac("x", b"") + "\n"}
    assert [one.name for one in tmp_path.iterdir()] == ["tacit-ledger.key"]
