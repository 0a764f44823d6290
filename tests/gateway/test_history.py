"""What a user got counts for what they ask next, for a minute and in their session alone."""

from __future__ import annotations

import pytest

from gateway.live import Live, write_plan
from tacit.families.queries.query import Atom, Conjunctive, Constant, Variable
from tacit.gateway.policy.history import facts
from tacit.gateway.query_sessions import MOST_FACTS, QuerySessions
from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import Users

PLAN = """version: 1
tables:
  posts: {columns: {id: integer, text: text}, nullable: [], key: id, rows: [[33, a], [34, b]]}
  shared: {columns: {post: integer, who: integer}, nullable: [], key: [[post, who]], rows: [[33, 7]]}
  comments:
    columns: {id: integer, post: integer, text: text}
    nullable: []
    key: id
    rows: [[1, 33, x], [2, 34, y]]
releases:
  mine: {query: "SELECT posts.*, shared.who FROM posts, shared WHERE shared.post = posts.id AND shared.who = $user.id"}
  talk: {query: "SELECT comments.* FROM comments, shared WHERE shared.post = comments.post AND shared.who = $user.id"}
roles:
  members: {default: deny, allow: [mine, talk]}
"""  # noqa: E501
FIRST = "SELECT posts.* FROM posts, shared WHERE shared.post = posts.id AND shared.who = 7"
THEN = "SELECT text FROM comments WHERE post = {}"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> object:
    plan = write_plan(tmp_path_factory.mktemp("history"), PLAN)
    with open_ledger("tacit-ledger.sqlite", plan.parent, create=True) as ledger:
        token = Users(ledger).add("bob", ["members"], attributes={"id": "7"})
    with Live(plan) as found:
        found.token = token
        yield found


def test_a_row_that_was_got_counts_in_its_session(live: Live) -> None:
    with live.client() as client:

        def ask(sql: str, session: str | None) -> int:
            body = {"sql": sql, "session": session}
            return client.post("/query", json=body).status_code

        assert ask(THEN.format(33), "page") == 403
        assert ask(FIRST, None) == 200 and ask(THEN.format(33), None) == 403
        assert ask(FIRST, "page") == 200
        assert ask(THEN.format(33), "page") == 200
        assert ask(THEN.format(34), "page") == 403
        assert ask(THEN.format(33), "another") == 403
        assert client.post("/query", json={"sql": FIRST, "session": 5}).status_code == 400


def test_a_row_speaks_of_the_part_of_a_union_that_it_fits() -> None:
    x = Variable("x")
    parts = [Conjunctive((x, Constant(1)), (Atom("R", (x,)),)), Conjunctive((x, Constant(2)), ())]
    assert [str(one) for one in facts(parts, [(5, 1)])] == ["() :- R(5)"]


def test_a_row_that_fits_several_parts_says_what_they_have_in_common() -> None:
    x, y = Variable("x"), Variable("y")
    mine = Conjunctive((x,), (Atom("posts", (x, Constant(7))), Atom("seen", (x,))))
    public = Conjunctive((x,), (Atom("posts", (x, y)),))
    (found,) = facts([mine, public], [(5,)])
    assert str(found) == "() :- posts(5, some~1)"


def test_a_session_forgets_after_a_minute_and_keeps_no_more_than_it_may() -> None:
    now = [0.0]
    sessions = QuerySessions(lambda: now[0])
    some = [Conjunctive((), (Atom("R", (Constant(one),)),)) for one in range(MOST_FACTS + 5)]
    sessions.put("s", some)
    assert sessions.facts("s") == tuple(some[5:])
    now[0] = 61.0
    assert sessions.facts("s") == ()
