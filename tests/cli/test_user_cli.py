"""`tacit user` as a data steward runs it:
who may ask the gateway, tokens that are shown once, roles of the plan.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tacit.gateway.http.auth import role_of
from tacit.gateway.policy.refusals import Refusal
from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import User, Users

PLAN = """\
version: 1
tables:
  patients: {columns: [name, ward, condition], key: [name], sensitive: [condition], rows: [[Ann, A, flu], [Bob, B, cold]]}
secrets:
  cancer: "S(n) :- patients(n, w, 'cancer')"
releases:
  wards: {query: "SELECT DISTINCT ward FROM patients"}
roles:
  nurses: {default: deny, deny: [cancer], allow: [wards]}
  desk: {default: deny, allow: [wards]}
"""  # noqa: E501
TOKEN = re.compile(r"tacit_[A-Za-z0-9_-]{43}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TACIT_KEY_FILE", raising=False)
    return tmp_path


def found(token: str, folder: Path) -> Any:
    with open_ledger("tacit-ledger.sqlite", folder) as ledger:
        return Users(ledger).find(token)


def test_a_user_gets_a_token_that_the_gateway_knows(tacit: Any, folder: Path) -> None:
    ran = tacit("user", "add", "ann", "--role", "nurses", "--role", "desk", "--role", "nurses")
    assert ran.status == 0 and "may ask the gateway as nurses or desk" in ran.out
    tokens = TOKEN.findall(ran.out)
    assert len(tokens) == 1 and "tacit serve tacit.yaml" in ran.out and "shown once" in ran.out
    assert found(tokens[0], folder).roles == ("nurses", "desk")


def test_the_token_is_shown_once_and_is_in_no_file(tacit: Any, folder: Path) -> None:
    token = tacit("user", "add", "ann", "--role", "nurses", "--json").json["token"]
    assert TOKEN.fullmatch(token)
    for command in (
        ("list",),
        ("list", "--json"),
        ("revoke", "ann"),
        ("revoke", "ann", "--json"),
        ("list",),
    ):
        ran = tacit("user", *command)
        assert (
            ran.status == 0
            and token not in ran.out + ran.err
            and token[6:] not in ran.out + ran.err
        )
    assert all(token.encode() not in path.read_bytes() for path in folder.iterdir())


def test_the_token_of_a_long_name_is_never_broken_over_lines(tacit: Any) -> None:
    ran = tacit("user", "add", "a" * 150, "--role", "nurses")
    assert ran.status == 0 and len(TOKEN.findall(ran.out)) == 1


def test_json_has_the_user_the_roles_and_the_token(tacit: Any) -> None:
    ran = tacit("user", "add", "reports", "--role", "desk", "--json")
    assert ran.status == 0 and ran.err == ""
    assert list(ran.json) == ["name", "roles", "owner", "attributes", "expires", "token"]
    assert ran.json["roles"] == ["desk"]


def test_a_list_says_who_may_ask_and_who_may_not_any_more(tacit: Any) -> None:
    tacit("user", "add", "ann", "--role", "nurses")
    tacit("user", "add", "bob", "--role", "desk")
    ran = tacit("user", "revoke", "ann")
    assert ran.status == 0 and "ann can ask no more" in ran.out
    users = {one["name"]: one for one in tacit("user", "list", "--json").json["users"]}
    assert (
        users["ann"]["revoked"].endswith("Z")
        and users["bob"]["revoked"] is None
        and users["bob"]["roles"] == ["desk"]
    )
    lines = tacit("user", "list").out.splitlines()
    assert lines[0].split() == ["user", "roles", "since", "(UTC)", "token", "last", "used"]
    assert "revoked 20" in lines[1] and "in use" in lines[2]


def test_a_revoked_token_is_refused_and_the_name_may_come_back(tacit: Any, folder: Path) -> None:
    first = tacit("user", "add", "ann", "--role", "nurses", "--json").json["token"]
    again = tacit("user", "add", "ann", "--role", "nurses")
    assert again.status == 2 and "there is a user 'ann' already" in again.err
    revoked = tacit("user", "revoke", "ann", "--json").json
    assert revoked["name"] == "ann" and revoked["revoked"]
    second = tacit("user", "add", "ann", "--role", "desk", "--json").json["token"]
    assert found(first, folder) is None and found(second, folder).roles == ("desk",)


def test_a_role_must_be_in_the_plan(tacit: Any, folder: Path) -> None:
    ran = tacit("user", "add", "ann", "--role", "nurse", "--role", "desk", "--role", "cooks")
    assert (
        ran.status == 2
        and "no role 'nurse'" in ran.err
        and "Did you mean 'nurses'?" in ran.err
        and "no role 'cooks'" in ran.err
    )
    assert "tacit.yaml:8:1" in ran.err
    assert (
        not (folder / "tacit-ledger.sqlite").exists() and not (folder / "tacit-ledger.key").exists()
    )


def test_a_plan_without_roles_says_what_to_write(tacit: Any, folder: Path) -> None:
    (folder / "tacit.yaml").write_text(PLAN.partition("roles:")[0], "utf-8")
    ran = tacit("user", "add", "ann", "--role", "nurses", "--json")
    assert (
        ran.status == 2
        and "has no roles" in ran.json["error"]["message"]
        and "nurses:" in ran.json["error"]["hint"]
    )


def test_a_role_that_the_plan_lost_is_marked(tacit: Any, folder: Path) -> None:
    tacit("user", "add", "ann", "--role", "nurses", "--role", "desk")
    (folder / "tacit.yaml").write_text(PLAN.partition("  desk:")[0], "utf-8")
    assert "desk (not in this plan)" in " ".join(tacit("user", "list").out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "ann"), "Missing option '--role'"),
        (("add", "--role", "nurses"), "Missing argument 'NAME'"),
        (("add", " ann", "--role", "nurses"), "cannot be the name of a user"),
        (("add", "a\nb", "--role", "nurses"), "cannot be the name of a user"),
        (("revoke", "nobody"), "there is no ledger"),
        (("list", "--plan", "no.yaml"), "no.yaml"),
        (("remove", "ann"), "No such command 'remove'"),
    ],
)
def test_what_is_wrong_is_said_in_words(tacit: Any, words: tuple[str, ...], said: str) -> None:
    ran = tacit("user", *words)
    assert ran.status == 2 and said in ran.err and "Traceback" not in ran.err and ran.out == ""


def test_an_unknown_user_cannot_be_revoked(tacit: Any) -> None:
    tacit("user", "add", "ann", "--role", "nurses")
    ran = tacit("user", "revoke", "anne")
    assert ran.status == 2 and "Did you mean 'ann'?" in ran.err


def test_nobody_yet(tacit: Any, folder: Path) -> None:
    with open_ledger("tacit-ledger.sqlite", folder, create=True):
        pass
    ran = tacit("user", "list")
    assert (
        ran.status == 0
        and "Nobody may ask" in ran.out
        and "tacit user add NAME --role nurses" in ran.out
    )
    assert tacit("user", "list", "--json").json == {"users": []}


def test_a_user_that_somebody_wrote_into_the_file_is_an_error(tacit: Any, folder: Path) -> None:
    tacit("user", "add", "ann", "--role", "nurses")
    with sqlite3.connect(folder / "tacit-ledger.sqlite") as database:
        row = database.execute("SELECT body, mac FROM tacit_users").fetchone()
        database.execute(
            "INSERT INTO tacit_users (name, body, mac) VALUES ('eve', ?, ?)",
            (row[0].replace("ann", "eve"), row[1]),
        )
    assert tacit("user", "list").status == 2
    assert tacit("ledger", "verify").status == 1


def test_without_a_command_the_help_is_shown(tacit: Any) -> None:
    ran = tacit("user")
    assert ran.status == 2 and ran.err.startswith("Usage: tacit user") and "revoke" in ran.err


def test_another_plan_is_named_in_the_next_steps(tacit: Any, folder: Path) -> None:
    other = folder / "my clinic"
    other.mkdir()
    (other / "plan.yaml").write_text(PLAN, "utf-8")
    ran = tacit("user", "add", "ann", "--role", "desk", "--plan", "my clinic/plan.yaml")
    assert ran.status == 0 and "tacit serve 'my clinic/plan.yaml'" in " ".join(ran.out.split())
    assert (other / "tacit-ledger.sqlite").exists() and not (
        folder / "tacit-ledger.sqlite"
    ).exists()


def test_it_runs_as_a_program_and_the_key_is_for_the_owner_only(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tacit", "user", "add", "ann", "--role", "nurses", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and TOKEN.fullmatch(json.loads(done.stdout)["token"])
    assert (folder / "tacit-ledger.key").stat().st_mode & 0o777 == 0o600


def test_an_owner_may_open_the_workbench_and_ask_nothing(tacit: Any, folder: Path) -> None:
    ran = tacit("user", "add", "olga", "--owner")
    assert ran.status == 0 and "olga   may open the workbench\n" in ran.out
    owner = found(TOKEN.findall(ran.out)[0], folder)
    assert owner.owner and owner.roles == ()
    both = tacit("user", "add", "bea", "--owner", "--role", "desk")
    assert "may open the workbench and ask the gateway as desk" in both.out
    nurse = tacit("user", "add", "ann", "--role", "nurses", "--json").json
    assert nurse["owner"] is False and not found(nurse["token"], folder).owner
    listed = tacit("user", "list", "--json").json["users"]
    assert [(one["name"], one["roles"], one["owner"]) for one in listed] == [
        ("ann", ["nurses"], False),
        ("bea", ["desk"], True),
        ("olga", [], True),
    ]
    lines = tacit("user", "list").out.splitlines()
    assert (
        "owner" not in lines[1]
        and "owner (opens the workbench), desk" in lines[2]
        and "owner (opens the workbench)" in lines[3]
    )
    assert tacit("user", "revoke", "olga", "--json").json["owner"] is True


def test_an_owner_can_be_added_to_a_plan_without_roles(tacit: Any, folder: Path) -> None:
    (folder / "tacit.yaml").write_text(PLAN.partition("roles:")[0], "utf-8")
    added = tacit("user", "add", "olga", "--owner", "--json")
    assert added.status == 0 and added.json["roles"] == [] and added.json["owner"] is True
    assert tacit("user", "add", "bea", "--owner", "--role", "desk").status == 2


def test_an_owner_without_a_role_cannot_query() -> None:
    owner = User("olga", (), datetime.now(UTC), None, owner=True)
    for named in (None, "nurses", "owner"):
        with pytest.raises(Refusal) as refused:
            role_of(owner, named, {"nurses": 1, "owner": 1})
        assert refused.value.status == 403


def test_attributes_are_kept_with_the_user(tacit: Any) -> None:
    added = ("--attribute", "id=7", "--attribute", "ward=A=B")
    ran = tacit("user", "add", "ann", "--role", "nurses", *added, "--json")
    assert ran.json["attributes"] == {"id": "7", "ward": "A=B"}
    users = tacit("user", "list", "--json").json["users"]
    assert [one["attributes"] for one in users] == [{"id": "7", "ward": "A=B"}]


@pytest.mark.parametrize("wrong", ["id", "Id=7", "id=", "id=\n"])
def test_an_attribute_that_no_view_could_use_is_refused(tacit: Any, wrong: str) -> None:
    ran = tacit("user", "add", "ann", "--role", "nurses", "--attribute", wrong)
    assert ran.status == 2 and "7" in ran.err


def test_a_token_has_a_time_and_is_replaced(tacit: Any, folder: Path) -> None:
    first = tacit("user", "add", "ann", "--role", "nurses", "--expires", "90d", "--json").json
    assert first["expires"].endswith("Z")
    second = tacit("user", "rotate", "ann", "--overlap", "24h", "--expires", "2199-01-31", "--json")
    assert second.json["expires"] == "2199-01-31T00:00:00.000000Z" and second.json["issued"]
    assert found(first["token"], folder).name == found(second.json["token"], folder).name == "ann"
    assert "in use until" in tacit("user", "list").out
    third = tacit("user", "rotate", "ann")
    assert "shown once" in third.out and found(second.json["token"], folder) is None


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--expires", "soon"),
        ("--expires", "1999-01-01"),
        ("--overlap", "1"),
        ("--expires", "-3d"),
        ("--overlap", "999999d"),
        ("--expires", "9999-12-31T23:59-10:00"),
    ],
)
def test_a_time_that_is_none_is_refused(tacit: Any, option: str, value: str) -> None:
    tacit("user", "add", "ann", "--role", "nurses")
    ran = tacit("user", "rotate", "ann", option, value)
    assert ran.status == 2 and "Traceback" not in ran.err
    assert tacit("user", "list", "--json").json["users"][0]["issued"] is None


def test_who_changed_what_is_in_the_audit_log(tacit: Any, folder: Path) -> None:
    tacit("user", "add", "ann", "--role", "nurses")
    tacit("user", "revoke", "ann")
    tacit("user", "rotate", "ann")  # refused: it was revoked
    log = (folder / "tacit-audit.jsonl").read_text().splitlines()
    said = [json.loads(line) for line in log]
    assert [one["event"] for one in said] == ["chain", "user-added", "token-revoked"]
    assert all(one["by"] for one in said[1:])
    ran = tacit("audit", "verify")
    assert ran.status == 0 and "3 lines checked: nothing was changed" in ran.out
    assert tacit("audit", "verify", "--expect", said[-1]["seal"]).status == 0
    assert tacit("audit", "verify", "--expect", "0" * 64).status == 1
    assert tacit("audit", "verify", "other.jsonl").status == 2


def test_a_log_that_cannot_be_written_changes_no_user(tacit: Any, folder: Path) -> None:
    (folder / "tacit-audit.jsonl").symlink_to(folder / "elsewhere")
    ran = tacit("user", "add", "ann", "--role", "nurses")
    assert ran.status == 2 and "symbolic link" in ran.err
    assert tacit("user", "list", "--json").json["users"] == []
    (folder / "tacit-audit.jsonl").unlink()
    token = tacit("user", "add", "ann", "--role", "nurses", "--json").json["token"]
    (folder / "tacit-audit.jsonl").rename(folder / "moved")
    (folder / "tacit-audit.jsonl").symlink_to(folder / "elsewhere")
    ran = tacit("user", "revoke", "ann")  # that never waits
    assert ran.status == 0 and "not in the audit log" in ran.err
    assert found(token, folder) is None
