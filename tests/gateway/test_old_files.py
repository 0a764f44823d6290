"""Files that an earlier version left, in old_files/: ledger, key, users and audit log open
unchanged, and are gone on with.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from gateway import live as module
from gateway.live import Live
from tacit.gateway.trail_check import verify_trail
from tacit.ledger.key import FILE, read_key
from tacit.ledger.ledger import Ledger, open_ledger
from tacit.ledger.users import Users

OLD = Path(__file__).parent / "old_files"
NOTED: dict[str, Any] = json.loads((OLD / "noted.json").read_text())
TOKENS: dict[str, str] = NOTED["tokens"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The old files as they were: a checkout does not keep who may read them."""
    made = Path(shutil.copytree(OLD, tmp_path / "old"))
    for one in made.iterdir():
        one.chmod(0o600)
    assert (made / FILE).exists()
    return made


def opened(folder: Path) -> Ledger:
    return open_ledger("tacit-ledger.sqlite", folder)


def test_an_old_ledger_is_intact_and_reading_changes_nothing(folder: Path) -> None:
    with opened(folder) as ledger:
        found = ledger.verify(NOTED["head"], users=NOTED["users"])
        assert found.intact and found.users == NOTED["users"]
        assert [one.kind for one in ledger.entries()] == ["release", "withdrawal"]
        assert [one.release for one in ledger.held()] == ["flu"]
        Users(ledger).all()
    for name in ("tacit-ledger.sqlite", "tacit-audit.jsonl", FILE):
        assert (folder / name).read_bytes() == (OLD / name).read_bytes()


def test_old_users_come_in_by_their_tokens(folder: Path) -> None:
    with opened(folder) as ledger:
        users = Users(ledger)
        assert users.find(TOKENS["gone"]) is None
        carl, olga = users.find(TOKENS["carl"]), users.find(TOKENS["olga"])
        assert carl is not None and carl.attributes == (("id", "7"),)
        assert olga is not None and olga.owner and users.has(olga)
        (_, without), *more = users.named("old")
        assert without is None and not more
        (_, verifier), *more = users.named("nora")
        assert verifier is not None and not more


def test_old_users_are_changed_and_the_list_stays_whole(folder: Path) -> None:
    with opened(folder) as ledger:
        users = Users(ledger)
        users.add("new", ["nurses"])
        for name in ("old", "nora"):
            fresh = users.rotate(name)
            assert users.find(TOKENS[name]) is None and users.find(fresh) is not None
        users.revoke("carl")
        users.mark_used(["olga"])
        assert ledger.verify(NOTED["head"], users=NOTED["users"]).intact


def test_a_gateway_goes_on_with_old_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "add_user", lambda *given: TOKENS["nora"])
    before = (folder / "tacit-audit.jsonl").read_bytes()
    with Live(folder / "tacit.yaml", postgres_port=0) as running:
        assert running.query("SELECT beds FROM wards ORDER BY beds").json()["rows"] == [[8], [12]]
        with httpx.Client(base_url=running.url, trust_env=False) as client:
            header = {"Authorization": f"Bearer {TOKENS['old']}"}
            assert client.get("/me", headers=header).status_code == 200
        with psycopg.connect(running.postgres(user="nora")) as line:
            assert line.execute("SELECT beds FROM wards ORDER BY beds").fetchall() == [(8,), (12,)]
    log = folder / "tacit-audit.jsonl"
    found = verify_trail([log], read_key(folder))
    assert log.read_bytes().startswith(before)
    assert found.intact and found.unsealed == 3 and found.lines > 3
    with opened(folder) as ledger:
        assert ledger.verify(NOTED["head"], users=NOTED["users"]).intact
