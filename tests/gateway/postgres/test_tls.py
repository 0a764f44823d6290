"""TLS: both ports speak it with a certificate, and older tokens come in by it alone."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from gateway.live import PLAN, Live, add_user, live, write_plan
from tacit.errors import InputError, ParameterError
from tacit.gateway.options import Options
from tacit.gateway.tls import TlsCertificate
from tacit.ledger.users import StoredUser

if shutil.which("openssl") is None:
    pytest.skip("no openssl: apt install openssl", allow_module_level=True)


def certificate(folder: Path, name: str = "localhost") -> dict[str, Path]:
    """A certificate that signs itself, and its key."""
    made = {"tls_certificate": folder / f"{name}.pem", "tls_key": folder / f"{name}.key"}
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-nodes", "-newkey", "ec"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-days", "2", "-subj", f"/CN={name}", "-keyout", str(made["tls_key"])),
            *("-out", str(made["tls_certificate"])),
        ],
        check=True,
        capture_output=True,
    )
    return made


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("tls")
    with pytest.MonkeyPatch.context() as patch:
        written = StoredUser.body
        patch.setattr(StoredUser, "body", lambda one: written(replace(one, scram=None)))
        write_plan(folder)
        (folder / "old-token").write_text(add_user(folder / "tacit.yaml", "olga", ["nurses"]))
    with live(folder, PLAN, postgres_port=0, **certificate(folder)) as running:
        yield running


def test_both_ports_speak_tls(door: Live) -> None:
    assert door.query("SELECT ward FROM wards").json()["rows"] == [["A"], ["B"]]
    with psycopg.connect(door.postgres(sslmode="require")) as line:
        assert line.pgconn.ssl_in_use
        assert line.execute("SELECT ward FROM wards").fetchall() == [("A",), ("B",)]


def test_where_there_is_tls_there_is_nothing_else(door: Live) -> None:
    with pytest.raises(psycopg.OperationalError, match="speaks TLS only"):
        psycopg.connect(door.postgres(sslmode="disable"))


def test_an_older_token_comes_in_by_tls(door: Live) -> None:
    token = (door.plan.parent / "old-token").read_text()
    with psycopg.connect(door.postgres(user="olga", token=token, sslmode="require")) as line:
        assert line.execute("SELECT count(*) FROM wards").fetchone() == (2,)
    for wrong in (door.token, "x"):
        with pytest.raises(psycopg.OperationalError, match="valid token as password"):
            psycopg.connect(door.postgres(user="olga", token=wrong, sslmode="require"))


def test_an_older_token_is_not_asked_for_in_the_clear(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        written = StoredUser.body
        patch.setattr(StoredUser, "body", lambda one: written(replace(one, scram=None)))
        token = add_user(write_plan(tmp_path), "olga", ["nurses"])
    with live(tmp_path, postgres_port=0) as running:
        with pytest.raises(psycopg.OperationalError, match="valid token as password"):
            psycopg.connect(running.postgres(user="olga", token=token))
        with running.client(token) as client:
            assert client.get("/me").json()["user"] == "olga"


def test_what_was_sent_before_tls_is_not_listened_to(door: Live) -> None:
    with socket.create_connection(("127.0.0.1", door.postgres_port), timeout=10) as line:
        line.sendall(struct.pack(">II", 8, 80877103) + b"Q\0\0\0\5\0")
        assert b"between the lines" in line.recv(1000)


def test_a_renewed_certificate_is_shown(tmp_path: Path) -> None:
    first, second = certificate(tmp_path, "first"), certificate(tmp_path, "second")
    shown = TlsCertificate(first["tls_certificate"], first["tls_key"])

    def subject() -> str:
        ours, theirs = socket.socketpair()
        client = ssl.create_default_context(cafile=str(second["tls_certificate"]))
        client.load_verify_locations(first["tls_certificate"])
        client.check_hostname = False
        import threading

        def serve() -> None:
            shown.context.wrap_socket(theirs, server_side=True).close()

        thread = threading.Thread(target=serve)
        thread.start()
        with client.wrap_socket(ours) as line:
            found = line.getpeercert()
        thread.join()
        assert found is not None
        return str(found["subject"])

    assert "first" in subject()
    for name in ("tls_certificate", "tls_key"):
        os.replace(second[name], first[name]) if name == "tls_key" else shutil.copy(
            second[name], first[name]
        )
    shown.load()
    assert "second" in subject()
    first["tls_key"].write_text("no key")
    with pytest.raises(InputError, match="cannot be used"):
        shown.load()
    assert "second" in subject()


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="belong together"):
        Options(tls_certificate=tmp_path / "a.pem")
    with pytest.raises(InputError, match="cannot be used"):
        TlsCertificate(tmp_path / "a.pem", tmp_path / "a.key")
