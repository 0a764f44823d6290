"""Sessions: a link works once, a session ends when nobody uses it, and
nothing that is kept opens anything.
"""

from __future__ import annotations

import pytest

from tacit.workbench.app.workbench_sessions import (
    LINK_SECONDS,
    MOST_LINKS,
    MOST_SESSIONS,
    WorkbenchSessions,
)
from workbench.asking import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions(clock: Clock) -> WorkbenchSessions:
    return WorkbenchSessions(clock, idle=100.0, longest=1000.0)


def test_a_link_works_once(sessions: WorkbenchSessions) -> None:
    code = sessions.link()
    assert sessions.has_link()
    begun = sessions.enter(code)
    assert begun is not None and begun.session.user == "owner" and begun.session.account is None
    assert sessions.find(begun.cookie) is begun.session
    assert sessions.enter(code) is None and not sessions.has_link()


def test_a_link_is_good_for_a_quarter_of_an_hour(sessions: WorkbenchSessions, clock: Clock) -> None:
    first, second = sessions.link(), sessions.link()
    clock.now += LINK_SECONDS
    assert sessions.has_link() and sessions.enter(first) is not None
    clock.now += 0.1
    assert not sessions.has_link() and sessions.enter(second) is None


def test_only_the_newest_links_are_good(sessions: WorkbenchSessions) -> None:
    codes = [sessions.link() for _ in range(MOST_LINKS + 2)]
    assert [sessions.enter(code) is not None for code in codes] == [False] * 2 + [True] * MOST_LINKS


@pytest.mark.parametrize(
    "code", ["", "a", "a" * 43, "a" * 10_000, "\ud800" * 43, "ä" * 43, "\0" * 43]
)
def test_guesses_open_nothing(sessions: WorkbenchSessions, code: str) -> None:
    right = sessions.link()
    cookie = sessions.begin("owner").cookie
    for guess in (code, right[:-1], right + "a", f" {right}", right.swapcase()):
        assert sessions.enter(guess) is None and sessions.find(guess) is None
    assert sessions.find(cookie) is not None and sessions.enter(right) is not None


def test_a_code_is_no_cookie_and_a_cookie_no_code(sessions: WorkbenchSessions) -> None:
    code, begun = sessions.link(), sessions.begin("ann")
    assert sessions.find(code) is None and sessions.enter(begun.cookie) is None
    assert sessions.find(begun.session.id) is None and sessions.find(begun.session.csrf) is None


def test_a_session_ends_when_nobody_uses_it(sessions: WorkbenchSessions, clock: Clock) -> None:
    begun = sessions.begin("ann")
    for _ in range(3):
        clock.now += 99
        assert sessions.find(begun.cookie) is begun.session
    clock.now += 99
    assert sessions.find(begun.cookie, touch=False) is begun.session
    clock.now += 2
    assert sessions.find(begun.cookie) is None and begun.session.ended and len(sessions) == 0
    clock.now -= 50
    assert sessions.find(begun.cookie) is None


def test_a_session_ends_however_busy_it_is(sessions: WorkbenchSessions, clock: Clock) -> None:
    begun = sessions.begin("ann")
    for _ in range(20):
        clock.now += 50
        assert sessions.find(begun.cookie) is not None
    clock.now += 1
    assert sessions.find(begun.cookie) is None


def test_who_wants_to_know_hears_of_the_end_once(sessions: WorkbenchSessions, clock: Clock) -> None:
    heard: list[str] = []

    def fails() -> None:
        heard.append("fails")
        raise RuntimeError

    one, two = sessions.begin("ann").session, sessions.begin("bob").session
    one.on_end += [fails, lambda: heard.append("one")]
    two.on_end.append(lambda: heard.append("two"))
    sessions.end(one)
    sessions.end(one)
    assert heard == ["fails", "one"] and len(sessions) == 1
    clock.now += 101
    sessions.tidy()
    assert heard == ["fails", "one", "two"]


def test_there_are_never_too_many(sessions: WorkbenchSessions, clock: Clock) -> None:
    kept = sessions.begin("ann")
    others = []
    for _ in range(MOST_SESSIONS + 5):
        clock.now += 0.5
        sessions.touch(kept.session)
        others.append(sessions.begin("bob"))
    assert len(sessions) == MOST_SESSIONS and sessions.find(kept.cookie) is kept.session
    assert (
        sessions.find(others[0].cookie) is None
        and others[0].session.ended
        and sessions.find(others[-1].cookie) is not None
    )


def test_nothing_that_is_kept_opens_anything(sessions: WorkbenchSessions) -> None:
    code, begun = sessions.link(), sessions.begin("ann")
    kept = repr(
        [
            vars(sessions),
            [getattr(begun.session, name) for name in begun.session.__slots__],
            begun.session,
        ]
    )
    assert code not in kept and begun.cookie not in kept
    assert begun.session.csrf not in repr(begun.session)


def test_all_cookies_differ(sessions: WorkbenchSessions) -> None:
    begun = [sessions.begin("ann") for _ in range(50)]
    assert (
        len({one.cookie for one in begun})
        == len({one.session.id for one in begun})
        == len({one.session.csrf for one in begun})
        == 50
    )
