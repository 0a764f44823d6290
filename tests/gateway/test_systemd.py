"""What systemd is told, where it listens."""

from __future__ import annotations

import secrets
import socket
import sys
from pathlib import Path

import pytest

from tacit.gateway.systemd import notify


@pytest.mark.parametrize("kind", ["file", "abstract"])
def test_systemd_is_told_at_its_socket(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "abstract" and sys.platform != "linux":
        pytest.skip("abstract sockets are Linux' own")
    name = f"@{secrets.token_hex(8)}" if kind == "abstract" else str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as place:
        place.bind(name.replace("@", "\0"))
        place.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        notify("READY=1")
        assert place.recv(100) == b"READY=1"


@pytest.mark.parametrize("name", ["", "vsock:2:1", "/nowhere/to/be/found", "/" + "a" * 500])
def test_where_nobody_listens_nothing_happens(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", name)
    notify("READY=1")
