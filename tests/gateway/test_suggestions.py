"""Views that are suggested for a log: with them its queries are answered, with fewer they are not,
and no view says anything about what the role is denied.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from commands import Ran, tacit
from tacit.engines.open import open_engine
from tacit.errors import InputError
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.decisions import Decider
from tacit.gateway.policy.policy import policy_of
from tacit.gateway.policy.suggestions import Suggestions, logged_queries, suggestions
from tacit.plan.read.load import load_plan

__all__ = ["tacit"]

SCHOOL = """version: 1
tables:
  users:
    columns: {id: integer, name: text, mail: text}
    key: [id]
    nullable: []
    rows: [[1, ann, a@x], [2, bob, b@x]]
  courses:
    columns: {id: integer, title: text, open: boolean}
    key: [id]
    nullable: []
    rows: [[7, Algebra, true]]
  grades:
    columns: {user_id: integer, course_id: integer, points: integer}
    key: [user_id, course_id]
    nullable: []
    rows: [[1, 7, 90]]
secrets:
  mails: "SELECT id, mail FROM users"
releases:
  titles: {query: "SELECT id, title FROM courses"}
"""
ROLE = "roles:\n  app: {default: deny, deny: [mails], allow: [titles]}\n"
LOG = """SELECT title FROM courses WHERE id = 7;
SELECT points FROM grades WHERE user_id = 1 AND course_id = 7;
SELECT avg(points) FROM grades WHERE user_id = 1; -- my average

SELECT title FROM courses WHERE title LIKE 'A%' AND open;
SELECT mail FROM users WHERE id = 2;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def suggested(folder: Path, roles: str, role: str, log: str, **attributes: str) -> Suggestions:
    (folder / "tacit.yaml").write_text(SCHOOL + roles, "utf-8")
    plan = load_plan(folder / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        return suggestions(plan, engine, role, logged_queries(log, "duckdb"), attributes)


def answered(folder: Path, roles: str, role: str, log: str, **attributes: str) -> list[int]:
    """The lines of the queries that a gateway on this plan answers."""
    (folder / "tacit.yaml").write_text(SCHOOL + roles, "utf-8")
    plan = load_plan(folder / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        decider = Decider(policy_of(plan, engine))
    asker = Asker("you", attributes)
    queries = logged_queries(log, "duckdb")
    return [one.line for one in queries if decider.decide(role, one.text, (), asker).allowed]


def as_plan(found: Suggestions) -> str:
    """What is printed, to be put behind the plan: its releases go under those that are there."""
    text = "\n".join(line for line in found.lines() if not line.startswith("#"))
    return text.removeprefix("releases:\n") + "\n"


def test_the_printed_part_of_a_plan_answers_the_log_about_whoever_asks(folder: Path) -> None:
    found = suggested(folder, ROLE, "app", LOG, id="1")
    assert (found.before, found.after) == (1, 4)
    assert [one.query for one in found.views] == [
        'SELECT "course_id", "points" FROM "grades" WHERE "user_id" = $user.id',
        'SELECT "title" FROM "courses" WHERE "open"',
    ]
    assert [one.lines for one in found.views] == [(2, 3), (5,)]
    assert [(one.line, one.code) for one in found.refused] == [(6, "discloses")]
    assert answered(folder, as_plan(found), "app", LOG, id="1") == [1, 2, 3, 5]
    other = LOG.replace("user_id = 1", "user_id = 2")
    assert answered(folder, as_plan(found), "app", other, id="2") == [1, 2, 3, 5]
    assert answered(folder, as_plan(found), "app", other, id="1") == [1, 5]


def test_a_role_that_the_plan_does_not_have_yet_begins_with_nothing(folder: Path) -> None:
    found = suggested(folder, "", "new", LOG)
    assert (found.before, found.after) == (0, 5)
    assert answered(folder, as_plan(found), "new", LOG) == [1, 2, 3, 5, 6]


def test_a_view_that_tells_what_is_denied_is_not_suggested(folder: Path) -> None:
    log = "SELECT name FROM users; SELECT name, mail FROM users WHERE id = 1"
    found = suggested(folder, ROLE, "app", log)
    assert all("mail" not in one.query for one in found.views)
    assert found.after == 0 or answered(folder, as_plan(found), "app", log) == [1]


PIECES = (
    "SELECT {t}.{c} FROM {t} WHERE {t}.{k} = {v}",
    "SELECT count(*) FROM {t} WHERE {t}.{k} > {v}",
    "SELECT DISTINCT {t}.{c} FROM {t} ORDER BY 1 LIMIT 2",
    "SELECT {t}.{c} FROM {t} LEFT JOIN grades g ON g.course_id = {t}.{k}",
    "SELECT {t}.{c} FROM {t} WHERE EXISTS (SELECT 1 FROM grades g WHERE g.user_id = {t}.{k})",
    "SELECT {t}.{c} FROM {t} WHERE {t}.{c} IN (SELECT points FROM grades) OR {t}.{k} = {v}",
    "SELECT {t}.{c} FROM {t} UNION SELECT {t}.{k} FROM {t}",
    "SELECT x.n FROM (SELECT {t}.{c} AS n FROM {t} WHERE {t}.{k} = {v}) x",
)
TABLES = (("users", "id", "id"), ("courses", "id", "id"), ("grades", "points", "user_id"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_what_is_suggested_is_enough_and_none_of_it_is_too_much(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    log = ";\n".join(
        chance.choice(PIECES).format(t=table, c=column, k=key, v=chance.choice([1, 2, 7]))
        for table, column, key in chance.choices(TABLES, k=5)
    )
    found = suggested(folder, "", "new", log)
    lines = answered(folder, as_plan(found), "new", log) if found.views else []
    assert len(lines) == found.after
    assert sorted({*lines, *(one.line for one in found.refused)}) == list(range(1, 6))
    for view in found.views:
        fewer = replace(found, views=tuple(one for one in found.views if one is not view))
        text = as_plan(fewer) if fewer.views else "roles: {new: {default: deny}}"
        assert set(answered(folder, text + "\n", "new", log)) < set(lines)


def test_a_role_that_may_ask_all_but_what_is_denied_needs_no_views(folder: Path) -> None:
    with pytest.raises(InputError, match="default: deny"):
        suggested(folder, "roles: {all: {default: allow, deny: [mails]}}\n", "all", LOG)


def test_the_command_prints_yaml_or_json_and_names_what_is_wrong(
    folder: Path, tacit: Callable[..., Ran]
) -> None:
    (folder / "tacit.yaml").write_text(SCHOOL + ROLE, "utf-8")
    (folder / "log.sql").write_text(LOG, "utf-8")
    plan = ("--plan", str(folder / "tacit.yaml"), "--role", "app")
    ran = tacit("policy", "suggest", str(folder / "log.sql"), *plan, "--attribute", "id=1")
    assert ran.status == 0
    assert "# app may ask 1 of 5 queries now, and 4 with these views." in ran.out
    ran = tacit("policy", "suggest", str(folder / "log.sql"), *plan, "--json")
    assert ran.json["queries"] == 5
    assert [one["line"] for one in ran.json["refused"]] == [6]
    ran = tacit("policy", "suggest", str(folder / "none.sql"), *plan)
    assert ran.status == 2
    assert "none.sql cannot be read" in ran.err
    (folder / "bad.sql").write_text("SELECT 'a", "utf-8")
    ran = tacit("policy", "suggest", str(folder / "bad.sql"), *plan)
    assert ran.status == 2
    assert "the log is not read" in ran.err
