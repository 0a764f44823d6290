"""Alternatives: of an OR in a view, and of a constraint beside what somebody got."""

from __future__ import annotations

import pytest

from gateway.gateway_plans import decider
from tacit.families.queries.query import Conjunctive
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.decisions import Decider
from tacit.gateway.policy.history import facts

PLAN = """version: 1
tables:
  posts: {columns: {id: integer, author: integer, open: boolean}, nullable: [], key: id, rows: []}
  shared: {columns: {post: integer, who: integer}, nullable: [], key: [[post, who]], rows: []}
  notices: {columns: {id: integer, who: integer, post: integer}, nullable: [], key: id, rows: []}
  replies:
    columns: {id: integer, post: integer, parent: integer, text: text}
    nullable: [post, parent]
    key: id
    rows: []
constraints:
  - "notices(n, u, p) -> posts(p, a, 'true') | posts(p, a, o), shared(p, u)"
releases:
  open: {query: SELECT * FROM posts WHERE open = true}
  own: {query: SELECT * FROM posts WHERE author = $user.id}
  shown: {query: "SELECT posts.* FROM posts, shared WHERE post = posts.id AND who = $user.id"}
  told: {query: SELECT * FROM notices WHERE who = $user.id}
  open-talk: {query: "SELECT r.* FROM replies r, posts p WHERE r.post = p.id AND p.open = true"}
  shown-talk:
    query: "SELECT r.* FROM replies r, shared s WHERE r.post = s.post AND s.who = $user.id"
  mine:
    query: >-
      SELECT r.* FROM replies r JOIN posts p ON r.post = p.id OR r.parent = p.id
      WHERE p.author = $user.id
roles:
  readers: {default: deny, allow: [open, shown, told, open-talk, shown-talk]}
  authors: {default: deny, allow: [own, mine]}
"""
ANN = Asker("ann", {"id": "7"})
NOTICE = ("SELECT * FROM notices WHERE who = 7", (1, 7, 33))
CLOSED = ("SELECT * FROM posts WHERE id = 33", (33, 8, False))
TALK = "SELECT text FROM replies WHERE post = 33"


@pytest.fixture(scope="module")
def blog(tmp_path_factory: pytest.TempPathFactory) -> Decider:
    return decider(tmp_path_factory.mktemp("blog"), PLAN)


def got(blog: Decider, *answers: tuple[str, tuple[object, ...]]) -> tuple[Conjunctive, ...]:
    """What Ann knows after some answers of one row each."""
    known: list[Conjunctive] = []
    for sql, row in answers:
        found = blog.decide("readers", sql, (), ANN, tuple(known))
        assert found.allowed, (sql, found.message)
        known += facts(found.trace, [row])
    return tuple(known)


def test_a_row_that_contradicts_an_alternative_takes_no_leave_away(blog: Decider) -> None:
    assert not blog.decide("readers", TALK, (), ANN, ()).allowed
    assert blog.decide("readers", TALK, (), ANN, got(blog, NOTICE)).allowed
    # The post was closed when Ann got it. It may be open now: both alternatives are looked at.
    assert blog.decide("readers", TALK, (), ANN, got(blog, NOTICE, CLOSED)).allowed


def test_a_contradiction_alone_gives_no_leave(blog: Decider) -> None:
    (closed,) = facts(blog.decide("readers", NOTICE[0], (), ANN, ()).trace, [(1, 7, 34)])
    assert not blog.decide("readers", TALK, (), ANN, (closed,)).allowed
    known = got(blog, NOTICE, CLOSED)[1:]  # without the notice
    assert not blog.decide("readers", TALK, (), ANN, known).allowed


def test_rows_of_a_view_with_or_are_covered_by_either_condition(blog: Decider) -> None:
    mine = "SELECT r.* FROM replies r JOIN posts p ON {} WHERE p.author = 7"
    for condition, is_allowed in {
        "r.post = p.id": True,
        "r.parent = p.id": True,
        "r.parent = p.id AND r.post <> 4": True,
        "r.parent = p.id OR r.post = p.id": True,
        "r.parent < p.id": False,
    }.items():
        found = blog.decide(
            "authors", mine.format(condition).replace("r.*", "DISTINCT r.*"), (), ANN
        )
        assert found.allowed == is_allowed, (condition, found.message)
    by_other = mine.replace("= 7", "= 8").replace("r.*", "DISTINCT r.*").format("r.post = p.id")
    assert not blog.decide("authors", by_other, (), ANN).allowed
