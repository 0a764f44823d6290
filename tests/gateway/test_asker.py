"""The current user: views, secrets and decisions for whoever asks."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from gateway.gateway_plans import decider
from tacit.errors import TacitError
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.decisions import Decider

PLAN = """version: 1
tables:
  posts:
    columns: {id: integer, author: integer, level: text, made: timestamp}
    nullable: []
    key: id
    rows: []
  notes: {columns: {owner: text, text: text}, nullable: [], rows: []}
secrets:
  others: "SELECT text FROM notes WHERE owner != $user"
releases:
  mine: {query: "SELECT * FROM posts WHERE author = $user.id"}
  past: {query: "SELECT * FROM posts WHERE made < $now AND level = 'open'"}
  five: {query: "SELECT id, level FROM posts WHERE author = 5 AND author != $user.id"}
  noted: {query: "N(o, t) :- notes(o, t), o = $user"}
roles:
  members: {default: deny, allow: [mine, past, five]}
  writers: {default: allow, deny: [others]}
  readers: {default: deny, allow: [noted]}
"""


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Decider:
    return decider(tmp_path_factory.mktemp("members"), PLAN)


def asker(number: str | None, name: str = "ann") -> Asker:
    given = {} if number is None else {"id": number}
    return Asker(name, given, datetime(2026, 1, 1))


@pytest.mark.parametrize(
    ("number", "sql", "code"),
    [
        ("7", "SELECT * FROM posts WHERE author = 7", "allowed"),
        ("8", "SELECT * FROM posts WHERE author = 7", "not-granted"),
        ("8", "SELECT count(*) FROM posts WHERE author = 8 AND level LIKE 'a%'", "allowed"),
        ("8", "SELECT * FROM mine", "allowed"),
        ("7", "SELECT id, level FROM posts WHERE author = 5", "allowed"),
        ("5", "SELECT id, level FROM posts WHERE author = 5", "allowed"),
        ("7", "SELECT made FROM posts WHERE author = 5", "not-granted"),
        ("5", "SELECT id, level FROM posts WHERE author = 7", "not-granted"),
        ("7", "SELECT id FROM posts WHERE made < '2025-12-31' AND level = 'open'", "allowed"),
        ("7", "SELECT id FROM posts WHERE made < '2026-01-02' AND level = 'open'", "not-granted"),
        ("seven", "SELECT * FROM mine", "attribute"),
        (None, "SELECT 1 AS one", "attribute"),
    ],
)
def test_a_user_gets_their_own_rows(
    members: Decider, number: str | None, sql: str, code: str
) -> None:
    found = members.decide("members", sql, (), asker(number))
    assert found.code == code, found


def test_a_view_that_is_named_is_run_for_whoever_asks(members: Decider) -> None:
    runs = [members.decide("members", "SELECT id FROM mine", (), asker(one)).sql for one in "78"]
    assert "= 7" in str(runs[0]) and "= 8" in str(runs[1]) and "7" not in str(runs[1])


def test_a_denied_secret_may_speak_of_others(members: Decider) -> None:
    asked = "SELECT text FROM notes WHERE owner = '{}'"
    for name, about, code in (("ann", "ann", "allowed"), ("bob", "ann", "discloses")):
        found = members.decide("writers", asked.format(about), (), asker(None, name))
        assert found.code == code, found


def test_datalog_views_know_the_user_too(members: Decider) -> None:
    asked = "SELECT DISTINCT owner, text FROM notes WHERE owner = 'ann'"
    found = [
        members.decide("readers", asked, (), asker(None, name)).code for name in ("ann", "bob")
    ]
    assert found == ["allowed", "not-granted"]


@pytest.mark.slow
def test_a_thousand_users_cost_one_decision(
    members: Decider, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.gateway.policy.coverage import Covering

    asked = []
    real = Covering.query

    def counted(self: Covering, tree: object) -> bool:
        asked.append(tree)
        return real(self, tree)  # type: ignore[arg-type]

    monkeypatch.setattr(Covering, "query", counted)
    for number in map(str, range(1000, 2000)):
        sql = f"SELECT level FROM posts WHERE author = {number} AND id = 3 LIMIT 5"
        assert members.decide("members", sql, (), asker(number)).allowed
    assert len(asked) == 1


@pytest.mark.parametrize(
    "view",
    [
        "SELECT * FROM posts WHERE level LIKE $user",
        "SELECT id, $user AS me FROM posts",
        "SELECT * FROM posts WHERE $user.id = 5",
        "N(o, t) :- notes(o, t), $user = 'ann'",
    ],
)
def test_a_user_is_only_compared_with_columns(tmp_path: Path, view: str) -> None:
    text = PLAN.replace("SELECT * FROM posts WHERE author = $user.id", view)
    with pytest.raises(TacitError, match="can only be compared with a column"):
        decider(tmp_path, text)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT text FROM notes", "No view of this role shows anything of notes."),
        ("SELECT * FROM posts WHERE author = 8", "The nearest view is"),
    ],
)
def test_a_refusal_says_what_is_missing(members: Decider, sql: str, said: str) -> None:
    assert said in members.decide("members", sql, (), asker("7")).message


def test_a_column_that_no_view_shows_is_named(tmp_path: Path) -> None:
    text = PLAN.replace("allow: [mine, past, five]", "allow: [five]")
    found = decider(tmp_path, text).decide("members", "SELECT made FROM posts", (), asker("7"))
    assert "No view of this role shows posts.made." in found.message


def test_the_owner_is_told_that_constraints_have_to_be_true(tmp_path: Path) -> None:
    from gateway.gateway_plans import policy

    assert not any("have to be true" in one for one in policy(tmp_path, PLAN).warnings)
    text = PLAN.replace("secrets:", 'constraints: ["notes[owner] in posts[level]"]\nsecrets:')
    assert any("have to be true" in one for one in policy(tmp_path, text).warnings)
