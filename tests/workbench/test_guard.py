"""The guard, as an attacker sees it: nothing below /workbench without a session, and none that
another page or name could use.
"""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from tacit.errors import InputError
from tacit.ledger.users import User
from tacit.workbench.app import responses, sockets
from tacit.workbench.app.guard import BODY_BYTES, MOST_HEADERS, MOST_SOCKETS, MOST_UPLOADS
from tacit.workbench.app.sockets import EVENT, OVER, TO_SIGN_IN
from workbench.asking import FAR, HOST, NEAR, Bench, Message, scope_of

UPLOAD = "/workbench/_nicegui/client/4c1f/upload/7"
SOCKET = "/workbench/_nicegui_ws/socket.io/"
ORIGIN = {"origin": f"http://{HOST}"}
OLGA = User("olga", (), datetime(2026, 4, 1, tzinfo=UTC), None, owner=True)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def cookie(bench: Bench) -> str:
    return bench.signed_in()


# Without a session


@pytest.mark.parametrize(
    "path",
    [
        "/workbench/",
        "/workbench/overview",
        "/workbench/release/a b",
        "/workbench/enter/",
        "/workbench/sign-in/",
        "/workbench/saved/key",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_pages_without_a_session_lead_to_where_one_signs_in(
    bench: Bench, path: str, method: str
) -> None:
    got = bench.ask(path, method)
    assert got.status == 303 and got["location"] == "/workbench/sign-in" and not bench.inside.seen
    assert bool(got.body) is (method == "GET")


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        (SOCKET, "GET", {}),
        (SOCKET, "POST", ORIGIN),
        (SOCKET.rstrip("/"), "GET", {}),
        ("/workbench/_nicegui/3.18.0/static/nicegui.js", "GET", {}),
        ("/workbench/_nicegui/client/1/upload/2", "POST", ORIGIN),
        ("/workbench/overview", "POST", ORIGIN),
        ("/workbench/overview", "GET", {"sec-fetch-mode": "cors"}),
        ("/workbench/overview", "GET", {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}),
        ("/workbench/alive", "GET", {}),
    ],
)
def test_all_else_without_a_session_is_refused(
    bench: Bench, path: str, method: str, headers: dict[str, str]
) -> None:
    assert (
        bench.ask(path, method, headers=headers, query=b"EIO=4&transport=polling").status == 401
        and not bench.inside.seen
    )


def test_with_a_session_the_page_comes_and_knows_whose_it_is(bench: Bench, cookie: str) -> None:
    got = bench.ask("/workbench/overview", cookie=cookie)
    assert (got.status, got.text) == (200, "inside 0")
    seen = bench.inside.seen[0]
    assert seen["tacit.session"] is bench.sessions.find(cookie) and seen["endpoint"] is bench.inside
    assert seen["path"] == "/workbench/overview" and seen["root_path"] == "/workbench"


def test_a_token_of_the_gateway_opens_no_page(bench: Bench) -> None:
    token = "tacit_" + "a" * 43
    bench.owners.tokens[token] = OLGA
    assert bench.ask("/workbench/", headers={"authorization": f"Bearer {token}"}).status == 303
    assert bench.ask("/workbench/", cookie=token).status == 303
    assert bench.ask("/workbench/", query=f"token={token}".encode()).status == 303


def test_who_follows_a_link_on_another_page_is_asked_again_by_a_page_of_ours(
    bench: Bench, cookie: str
) -> None:
    from_afar = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    got = bench.ask("/workbench/release/<script>", headers=from_afar)
    assert (
        got.status == 200
        and 'content="0; url=/workbench/sign-in"' in got.text
        and "script" not in got.text
        and not bench.inside.seen
    )
    assert (
        got["cache-control"] == "no-store"
        and "default-src 'none'" in got["content-security-policy"]
    )
    assert bench.ask("/workbench/", "HEAD", headers=from_afar).body == b""
    assert (
        bench.ask(
            "/workbench/sign-in",
            cookie=cookie,
            headers={"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"},
        )["location"]
        == "/workbench/"
    )


# Cookies


@pytest.mark.parametrize(
    "cookies",
    [
        "tacit_session_8321={0}; tacit_session_8321={0}",
        "tacit_session_8321=x; tacit_session_8321={0}",
        "tacit_session_8321={0}; tacit_session_8321=",
        'tacit_session_8321="{0}"',
        "TACIT_SESSION_8321={0}",
        "tacit_session={0}",
        "tacit_session_9999={0}",
        "__Host-tacit_session_8321={0}",
        "tacit_form_8321={0}",
        "tacit_session_8321={0}x",
        "tacit_session_8321=%20{0}",
        "tacit_session_8321",
        "=;;=;{0}",
        "x=" + "y" * 9000 + "; tacit_session_8321={0}",
        "ä=ö; tacit_session_8321=é",
    ],
)
def test_cookies_that_are_not_just_ours_are_none(bench: Bench, cookie: str, cookies: str) -> None:
    assert (
        bench.ask("/workbench/", cookies=cookies.replace("{0}", cookie)).status == 303
        and not bench.inside.seen
    )


@pytest.mark.parametrize(
    "cookies",
    [
        "a=1; tacit_session_8321={0}; b=2",
        "tacit_session_8321={0};",
        "tacit_session_8322=other; tacit_session_8321={0}",
        "x=" + "y" * 4000 + ";tacit_session_8321={0}",
    ],
)
def test_other_cookies_do_not_matter(bench: Bench, cookie: str, cookies: str) -> None:
    assert bench.ask("/workbench/", cookies=cookies.format(cookie)).status == 200


def test_two_cookie_headers_with_ours_in_both_are_none(bench: Bench, cookie: str) -> None:
    assert (
        bench.ask("/workbench/", cookie=cookie, cookies=f"tacit_session_8321={cookie}").status
        == 303
    )
    assert bench.ask("/workbench/", cookie=cookie, cookies="theme=dark").status == 200


def test_a_session_that_is_over_is_none(bench: Bench, cookie: str) -> None:
    bench.clock.now += 3599
    assert bench.ask("/workbench/", cookie=cookie).status == 200
    bench.clock.now += 3601
    assert bench.ask("/workbench/", cookie=cookie).status == 303
    assert bench.ask(UPLOAD, "POST", cookie=cookie, headers=ORIGIN).status == 401


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (SOCKET, {}),
        (SOCKET.rstrip("/"), {}),
        ("/workbench/alive", {}),
        ("/workbench/overview", {"nicegui-check": "try_reconnect"}),
    ],
)
def test_what_a_page_does_by_itself_does_not_keep_the_session(
    bench: Bench, cookie: str, path: str, headers: dict[str, str]
) -> None:
    bench.clock.now += 3000
    assert bench.ask(path, cookie=cookie, headers=headers).status in (200, 204)
    bench.clock.now += 1000
    assert bench.ask("/workbench/", cookie=cookie).status == 303


def test_what_somebody_does_on_a_page_without_websockets_keeps_the_session(
    bench: Bench, cookie: str
) -> None:
    bench.clock.now += 3000
    assert (
        bench.ask(
            SOCKET, "POST", cookie=cookie, headers=ORIGIN, parts=[b'42["ack",{}]\x1e3']
        ).status
        == 200
    )
    session = bench.sessions.find(cookie, touch=False)
    assert session is not None and session.used == 1000.0
    assert (
        bench.ask(
            SOCKET,
            "POST",
            cookie=cookie,
            headers=ORIGIN,
            parts=[b'42["ack",{}]\x1e' + EVENT.encode() + b",{}]"],
        ).status
        == 200
    )
    assert session.used == 4000.0


def test_alive_says_whether_the_session_is(bench: Bench, cookie: str) -> None:
    got = bench.ask("/workbench/alive", cookie=cookie)
    assert got.status == 204 and got["cache-control"] == "no-store" and not bench.inside.seen


# Who lost the right


def test_who_was_revoked_is_out_at_the_next_request(bench: Bench) -> None:
    bench.owners.tokens["t"] = OLGA
    cookie = bench.signed_in(OLGA)
    assert bench.ask("/workbench/", cookie=cookie).status == 200
    bench.owners.tokens.clear()
    assert bench.ask("/workbench/", cookie=cookie).status == 303
    bench.owners.tokens["t"] = OLGA
    assert bench.ask("/workbench/", cookie=cookie).status == 303, "it does not come back"


def test_while_the_users_cannot_be_read_nobody_who_signed_in_gets_a_page(bench: Bench) -> None:
    bench.owners.tokens["t"] = OLGA
    cookie, link = bench.signed_in(OLGA), bench.signed_in()
    bench.owners.fault = InputError("secret path /home/olga")
    got = bench.ask("/workbench/", cookie=cookie)
    assert got.status == 503 and "home" not in got.text and not bench.inside.seen
    assert bench.ask("/workbench/", cookie=link).status == 200
    bench.owners.fault = None
    assert bench.ask("/workbench/", cookie=cookie).status == 200


def test_without_anybody_to_ask_who_is_an_owner_nobody_is(bench: Bench) -> None:
    bench.guard._owners = None
    assert bench.ask("/workbench/", cookie=bench.signed_in(OLGA)).status == 303


# Names: DNS rebinding


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8321", "localhost:8321", "LOCALHOST:8321", "[::1]:8321"]
)
def test_this_machine_may_be_called_by_its_own_names(bench: Bench, cookie: str, host: str) -> None:
    assert bench.ask("/workbench/", cookie=cookie, host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8321",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:80",
        "127.0.0.1:8322",
        "localhost:8321.evil.example",
        "localhost:8321@evil.example",
        "evil@127.0.0.1:8321",
        "127.0.0.1:8321 ",
        "127.0.0.1:8321, evil.example",
        "localhost.:8321",
        "0.0.0.0:8321",
        "127.1:8321",
        "2130706433:8321",
        "[::ffff:127.0.0.1]:8321",
        "localhost:08321",
        "http://localhost:8321",
        "127.0.0.1:8321/x",
        "localhost:8321\x00",
        "é:8321",
    ],
)
def test_no_other_name_is_answered(bench: Bench, cookie: str, host: str | None) -> None:
    for path in ("/workbench/", "/workbench/sign-in", "/workbench/enter"):
        got = bench.ask(path, cookie=cookie, host=host)
        assert got.status == 421 and "--workbench-hosts" in got.text
    assert not bench.inside.seen


def test_two_names_are_none(bench: Bench, cookie: str) -> None:
    assert bench.ask("/workbench/", cookie=cookie, headers=[("host", HOST)]).status == 421
    assert (
        bench.ask("/workbench/", cookie=cookie, headers={"x-forwarded-host": "evil.example"}).status
        == 200
    )
    assert not any(name == b"x-forwarded-host" for name, _ in bench.inside.seen[0]["headers"])


def test_the_port_of_all_may_be_left_out(bench: Bench) -> None:
    cookie = bench.signed_in()
    for host in ("localhost", "localhost:80"):
        name = "tacit_session" + ("_80" if ":" in host else "")
        assert (
            bench.ask(
                "/workbench/", cookies=f"{name}={cookie}", host=host, server=("127.0.0.1", 80)
            ).status
            == 200
        )
        assert bench.ask("/workbench/", cookies=f"{name}={cookie}", host=host).status == 421


def test_another_address_of_this_machine_is_a_name_too(bench: Bench, cookie: str) -> None:
    assert (
        bench.ask(
            "/workbench/", cookie=cookie, host="127.0.0.2:8321", server=("127.0.0.2", 8321)
        ).status
        == 200
    )
    assert bench.ask("/workbench/", cookie=cookie, host="127.0.0.2:8321").status == 421


@pytest.mark.parametrize(
    "more",
    [
        {"client": FAR},
        {"client": ("::2", 1)},
        {"client": ("", 1)},
        {"headers": {"x-forwarded-for": "127.0.0.1"}},
        {"headers": {"forwarded": "for=127.0.0.1"}},
        {"headers": {"via": "1.1 x"}},
        {"headers": {"x-real-ip": "127.0.0.1"}},
    ],
)
def test_only_this_machine_is_let_in_unless_it_is_opened(
    bench: Bench, cookie: str, more: Any
) -> None:
    for path in ("/workbench/", "/workbench/sign-in", "/workbench/enter", "/workbench/alive"):
        assert bench.ask(path, cookie=cookie, **more).status == 403
    assert not bench.inside.seen


class TestOpenToOthers:
    """Behind a proxy that speaks https."""

    @pytest.fixture
    def bench(self) -> Bench:
        return Bench(
            near_only=False, hosts=frozenset({"Tacit.Example", "tacit.example:8443"}), secure=True
        )

    def test_others_use_the_names_that_were_given(self, bench: Bench) -> None:
        cookie = bench.signed_in()
        for host, name in (
            ("tacit.example", "__Host-tacit_session"),
            ("TACIT.example:8443", "__Host-tacit_session_8443"),
        ):
            assert (
                bench.ask("/workbench/", host=host, cookies=f"{name}={cookie}", client=FAR).status
                == 200
            )
        for host in (
            HOST,
            "localhost:8321",
            "192.0.2.1:8321",
            "tacit.example:8321",
            "x.tacit.example",
            "tacit.example.",
            "evil.example",
        ):
            assert bench.ask("/workbench/", host=host, cookie=cookie, client=FAR).status == 421

    def test_a_cookie_that_anybody_could_have_set_is_none(self, bench: Bench) -> None:
        cookie = bench.signed_in()
        for name in ("tacit_session", "__Secure-tacit_session", "__host-tacit_session"):
            assert (
                bench.ask(
                    "/workbench/", host="tacit.example", cookies=f"{name}={cookie}", client=FAR
                ).status
                == 303
            )

    def test_forms_and_sockets_come_by_https(self, bench: Bench) -> None:
        cookies = f"__Host-tacit_session={bench.signed_in()}"
        for origin, status in (
            ("https://tacit.example", 200),
            ("http://tacit.example", 403),
            ("https://tacit.example:8443", 403),
        ):
            assert (
                bench.ask(
                    "/workbench/x",
                    "POST",
                    host="tacit.example",
                    cookies=cookies,
                    client=FAR,
                    headers={"origin": origin},
                ).status
                == status
            )

    def test_this_machine_still_calls_itself_as_before(self, bench: Bench) -> None:
        cookie = bench.signed_in()
        assert bench.ask("/workbench/", cookie=cookie).status == 200
        assert bench.ask("/workbench/x", "POST", cookie=cookie, headers=ORIGIN).status == 200
        assert (
            bench.ask("/workbench/", cookie=cookie, headers={"x-forwarded-for": "192.0.2.1"}).status
            == 421
        )

    def test_without_names_others_get_nothing(self) -> None:
        bench = Bench(near_only=False)
        assert (
            bench.ask(
                "/workbench/", host="192.0.2.1:8321", client=FAR, server=("192.0.2.1", 8321)
            ).status
            == 421
        )


# Pages of others: CSRF


WRONG_ORIGINS = [
    "null",
    "",
    "http://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:8322",
    "http://localhost:8321",
    "https://127.0.0.1:8321.evil.example",
    "http://127.0.0.1:8321.evil.example",
    "http://evil.example/http://127.0.0.1:8321",
    "http://127.0.0.1:8321@evil.example",
    "http://127.0.0.1:8321/",
    "ftp://127.0.0.1:8321",
    "127.0.0.1:8321",
    "file://",
    "http://127.0.0.1:8321 http://evil.example",
    "chrome-extension://abc",
]


@pytest.mark.parametrize("origin", WRONG_ORIGINS)
def test_what_another_page_asks_is_refused(bench: Bench, cookie: str, origin: str) -> None:
    for method in ("GET", "HEAD", "POST"):
        for path in (
            "/workbench/overview",
            SOCKET,
            "/workbench/sign-in",
            "/workbench/sign-out",
            "/workbench/new-link",
        ):
            assert (
                bench.ask(path, method, cookie=cookie, headers={"origin": origin}).status == 403
            ), (method, path)
    assert not bench.inside.seen and len(bench.sessions) == 1


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("origin", f"http://{HOST}"), ("origin", f"http://{HOST}")],
        [("referer", f"http://{HOST}/workbench/")],
    ],
)
def test_who_changes_something_says_where_they_come_from(
    bench: Bench, cookie: str, headers: list[tuple[str, str]]
) -> None:
    assert (
        bench.ask("/workbench/overview", "POST", cookie=cookie, headers=headers).status == 403
        and not bench.inside.seen
    )


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_knows_of_the_page_that_asks_counts_too(
    bench: Bench, cookie: str, site: str
) -> None:
    said = {"sec-fetch-site": site}
    assert (
        bench.ask("/workbench/overview", "POST", cookie=cookie, headers={**ORIGIN, **said}).status
        == 403
    )
    assert (
        bench.ask(
            "/workbench/overview",
            "POST",
            cookie=cookie,
            headers={**ORIGIN, **said, "sec-fetch-mode": "navigate"},
        ).status
        == 403
    )
    for mode in ("cors", "no-cors", "same-origin", "websocket"):
        assert (
            bench.ask(
                "/workbench/overview", cookie=cookie, headers={**said, "sec-fetch-mode": mode}
            ).status
            == 403
        )
    assert (
        bench.ask("/workbench/overview", cookie=cookie, headers=said).status == 403
        and not bench.inside.seen
    )
    assert (
        bench.ask(
            "/workbench/overview", cookie=cookie, headers={**said, "sec-fetch-mode": "navigate"}
        ).status
        == 200
    ), "somebody followed a link"


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_pages_may_ask(bench: Bench, cookie: str, site: str) -> None:
    assert (
        bench.ask(
            "/workbench/overview", "POST", cookie=cookie, headers={**ORIGIN, "sec-fetch-site": site}
        ).status
        == 200
    )
    assert (
        bench.ask(
            "/workbench/overview",
            cookie=cookie,
            headers={"sec-fetch-site": site, "sec-fetch-mode": "cors"},
        ).status
        == 200
    )


@pytest.mark.parametrize(
    "method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get", ""]
)
def test_other_methods_are_not_taken(bench: Bench, cookie: str, method: str) -> None:
    for path in ("/workbench/", "/workbench/sign-in", SOCKET):
        got = bench.ask(path, method, cookie=cookie, headers=ORIGIN)
        assert (
            got.status == 405
            and got["allow"] == "GET, HEAD, POST"
            and not got.all("access-control-allow-origin")
        )
    assert not bench.inside.seen


# Paths


@pytest.mark.parametrize(
    "path",
    [
        "/workbench",
        "/workbenchx/",
        "/query",
        "/",
        "",
        "/WORKBENCH/",
        "//workbench/",
        "/workbench//",
        "/workbench//overview",
        "/workbench/../query",
        "/workbench/./overview",
        "/workbench/..",
        "/workbench/a/../../query",
        "/workbench/_nicegui/../sign-in",
        "/workbench/\\..\\query",
        "/workbench/a\0",
        "/workbench/a\nb",
        "/workbench/\x7f",
        "/workbench/sign-in/../overview",
        "/workbench/\u200b",
        "/x/workbench/",
    ],
)
def test_paths_that_can_be_read_in_two_ways_lead_nowhere(
    bench: Bench, cookie: str, path: str
) -> None:
    assert (
        bench.ask(path, cookie=cookie).status == 404
        and bench.ask(path).status == 404
        and not bench.inside.seen
    )


@pytest.mark.parametrize(
    "path",
    [
        "/workbench/release/100% of ..all",
        "/workbench/release/Größe",
        "/workbench/release/...",
        "/workbench/release/a.b",
    ],
)
def test_names_of_releases_may_be_odd(bench: Bench, cookie: str, path: str) -> None:
    assert bench.ask(path, cookie=cookie).status == 200


def test_too_many_headers_are_refused(bench: Bench, cookie: str) -> None:
    assert (
        bench.ask("/workbench/", cookie=cookie, headers=[("x", "y")] * MOST_HEADERS).status == 431
    )


def test_no_client_says_with_which_address_pages_are_written(bench: Bench, cookie: str) -> None:
    bench.ask(
        "/workbench/",
        cookie=cookie,
        headers={
            "x-forwarded-prefix": "//evil.example",
            "x-forwarded-host": "evil.example",
            "accept": "text/html",
        },
    )
    names = [name for name, _ in bench.inside.seen[0]["headers"]]
    assert (
        b"x-forwarded-prefix" not in names
        and b"x-forwarded-host" not in names
        and b"accept" in names
    )


# Headers of answers


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/workbench/", {}),
        ("/workbench/", {"in": True}),
        ("/workbench/sign-in", {}),
        ("/workbench/enter", {}),
        ("/workbench/", {"host": "evil.example"}),
        ("/workbench/..", {}),
        (SOCKET, {}),
        ("/workbench/_nicegui/3/static/x.js", {"in": True}),
    ],
)
def test_every_answer_is_safe_to_show(
    bench: Bench, cookie: str, path: str, more: dict[str, Any]
) -> None:
    if more.pop("in", False):
        more["cookie"] = cookie
    got = bench.ask(path, **more)
    policy = got["content-security-policy"]
    for part in ("frame-ancestors 'none'", "form-action 'self'", "default-src '", "base-uri '"):
        assert part in policy
    assert "http" not in policy and "*" not in policy
    assert (got["x-frame-options"], got["x-content-type-options"], got["referrer-policy"]) == (
        "DENY",
        "nosniff",
        "same-origin",
    )
    assert got["cross-origin-opener-policy"] == got["cross-origin-resource-policy"] == "same-origin"
    assert got["cache-control"] == ("private, max-age=3600" if "static" in path else "no-store")
    assert not [name for name, _ in got.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "path",
    [
        "/workbench/_nicegui/3/dynamic_resources/x",
        "/workbench/_nicegui/client/1/upload/1",
        "/workbench/_nicegui/auto/static/1/f.csv",
        "/workbench/static/x",
        "/workbench/x/_nicegui/3/static/y",
    ],
)
def test_only_files_that_are_the_same_for_everybody_may_be_kept(
    bench: Bench, cookie: str, path: str
) -> None:
    assert bench.ask(path, cookie=cookie)["cache-control"] == "no-store"


def test_what_is_saved_cannot_run_here(bench: Bench, cookie: str) -> None:
    async def download(scope: Message, receive: Any, send: Any) -> None:
        headers = [
            (b"content-type", b"image/svg+xml"),
            (b"Content-Disposition", b"attachment; filename=x.svg"),
            (b"Content-Security-Policy", b"default-src *"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<svg/>"})

    bench.inside.answer = download
    policy = bench.ask("/workbench/saved/1", cookie=cookie)["content-security-policy"]
    assert "sandbox" in policy and "default-src 'none'" in policy and "*" not in policy


# Sizes


def test_a_body_may_be_as_long_as_it_may_be(bench: Bench, cookie: str) -> None:
    more = {"cookie": cookie, "headers": ORIGIN}
    assert (
        bench.ask("/workbench/x", "POST", parts=[b"a" * BODY_BYTES], **more).text
        == f"inside {BODY_BYTES}"
    )
    assert bench.ask("/workbench/x", "POST", parts=[b"a" * BODY_BYTES, b"a"], **more).status == 413
    assert (
        bench.ask(UPLOAD, "POST", parts=[b"a" * BODY_BYTES] * 3, **more).text
        == f"inside {3 * BODY_BYTES}"
    )


@pytest.mark.parametrize(
    "said", ["1048577", "99999999999999999999999999", "-1", "1e9", "0x10", "", "1 ", "1,1"]
)
def test_a_body_that_says_it_is_longer_is_not_passed_on(
    bench: Bench, cookie: str, said: str
) -> None:
    got = bench.ask(
        "/workbench/x",
        "POST",
        cookie=cookie,
        headers={**ORIGIN, "content-length": said},
        parts=[b"a"],
    )
    assert got.status == 413 and got["connection"] == "close" and not bench.inside.seen


def test_files_have_a_limit_of_their_own() -> None:
    bench = Bench(upload_bytes=5 << 20)
    cookie = bench.signed_in()
    parts = [b"a" * (1 << 20)] * 5
    assert bench.ask(UPLOAD, "POST", cookie=cookie, headers=ORIGIN, parts=parts).status == 200
    assert (
        bench.ask(UPLOAD, "POST", cookie=cookie, headers=ORIGIN, parts=[*parts, b"a"]).status == 413
    )
    assert (
        bench.ask(
            UPLOAD, "POST", cookie=cookie, headers={**ORIGIN, "content-length": str((5 << 20) + 1)}
        ).status
        == 413
    )
    for path in (
        "/workbench/x/_nicegui/client/1/upload/1",
        UPLOAD + "/x",
        "/workbench/_nicegui/client/1/2/upload/1",
    ):
        assert bench.ask(path, "POST", cookie=cookie, headers=ORIGIN, parts=parts).status == 413


def test_an_answer_to_half_a_body_is_not_passed_on(bench: Bench, cookie: str) -> None:
    async def hasty(scope: Message, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    bench.inside.answer = hasty
    got = bench.ask(
        "/workbench/x", "POST", cookie=cookie, headers=ORIGIN, parts=[b"a" * BODY_BYTES, b"b", b"c"]
    )
    assert got.status == 413 and b"done" not in got.body


def test_a_body_that_does_not_come_is_given_up(
    bench: Bench, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "STILL_SECONDS", 0.02)
    monkeypatch.setattr("tacit.gateway.http.app.AWAY_SECONDS", 0.02)
    sent: list[Message] = []

    async def never() -> Message:
        await asyncio.sleep(3600)
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(bench.guard(scope_of(UPLOAD, "POST", cookie=cookie, headers=ORIGIN), never, send))
    assert sent[0]["status"] == 408


def test_some_files_are_sent_at_the_same_time_and_no_more(bench: Bench, cookie: str) -> None:
    async def main() -> list[int]:
        go, more = asyncio.Event(), {"cookie": cookie, "headers": ORIGIN}

        async def wait(scope: Message, receive: Any, send: Any) -> None:
            await go.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        bench.inside.answer = wait
        running = [
            asyncio.create_task(bench.asked(UPLOAD, "POST", **more)) for _ in range(MOST_UPLOADS)
        ]
        await asyncio.sleep(0)
        one_more = await bench.asked(UPLOAD, "POST", **more)
        go.set()
        first = [(await one).status for one in running]
        return [*first, one_more.status, (await bench.asked(UPLOAD, "POST", **more)).status]

    assert asyncio.run(main()) == [200] * MOST_UPLOADS + [503, 200]


def test_a_fault_inside_goes_its_way_and_counts_no_file(bench: Bench, cookie: str) -> None:
    async def fails(scope: Message, receive: Any, send: Any) -> None:
        raise RuntimeError("inside")

    bench.inside.answer = fails
    for _ in range(MOST_UPLOADS + 1):
        with pytest.raises(RuntimeError, match="inside"):
            bench.ask(UPLOAD, "POST", cookie=cookie, headers=ORIGIN)


# All rules together


def test_whatever_is_asked_only_our_own_pages_get_through() -> None:
    """Thousands of requests put together at random;
    which of them may get through is written out plainly here.
    """
    asyncio.run(
        ask_at_random(
            random.Random(10),
            Bench(near_only=False, hosts=frozenset({"tacit.example"}), secure=True),
        )
    )


async def ask_at_random(draw: random.Random, bench: Bench) -> None:
    good = bench.signed_in()
    over = bench.sessions.begin("gone")
    bench.sessions.end(over.session)
    passed = 0
    for _ in range(4000):
        host = draw.choice(
            [HOST, HOST, "localhost:8321", "tacit.example", "tacit.example", "evil.example", None]
        )
        client = draw.choice([NEAR, NEAR, FAR])
        proxied = draw.random() < 0.2
        method = draw.choice(["GET", "GET", "HEAD", "POST", "POST", "PUT", "OPTIONS"])
        path = draw.choice(
            [
                "/workbench/",
                "/workbench/overview",
                SOCKET,
                UPLOAD,
                "/workbench/../query",
                "/workbench//x",
                "/query",
                "/workbench/_nicegui/3/static/x.js",
            ]
        )
        value = draw.choice([good, good, good, over.cookie, "x" * 43, ""])
        name = draw.choice(
            [
                "tacit_session_8321",
                "tacit_session_8321",
                "__Host-tacit_session",
                "__Host-tacit_session",
                "tacit_session",
            ]
        )
        twice = draw.random() < 0.1
        origin = draw.choice(
            [
                None,
                None,
                f"http://{HOST}",
                f"http://{HOST}",
                "http://localhost:8321",
                "https://tacit.example",
                "https://tacit.example",
                "http://tacit.example",
                "http://evil.example",
                "null",
            ]
        )
        site = draw.choice([None, None, "same-origin", "none", "cross-site", "same-site"])
        mode = draw.choice([None, "navigate", "cors"])
        headers = {
            key: said
            for key, said in (
                ("origin", origin),
                ("sec-fetch-site", site),
                ("sec-fetch-mode", mode),
            )
            if said is not None
        }
        if proxied:
            headers["x-forwarded-for"] = "192.0.2.9"
        before = len(bench.inside.seen)
        await bench.asked(
            path,
            method,
            host=host,
            client=client,
            headers=headers,
            cookies="; ".join([f"{name}={value}"] * (1 + twice)),
        )
        here = host in (HOST, "localhost:8321") and client == NEAR and not proxied
        own = {f"http://{host}", f"https://{host}"} if here else {f"https://{host}"}
        from_elsewhere = site in ("cross-site", "same-site")
        may = (
            (here or host == "tacit.example")
            and (
                value == good
                and not twice
                and name == ("tacit_session_8321" if here else "__Host-tacit_session")
            )
            and (
                method in ("GET", "HEAD", "POST")
                and path not in ("/workbench/../query", "/workbench//x", "/query")
            )
            and (origin in own or (origin is None and method != "POST"))
            and not (from_elsewhere and (method == "POST" or mode != "navigate"))
        )
        assert (len(bench.inside.seen) > before) is may
        passed += may
    assert passed > 30, "some got through"


# Sockets


class Line:
    """A page's end of a socket."""

    def __init__(self) -> None:
        self.heard: list[Message] = []
        self.says: asyncio.Queue[Message] = asyncio.Queue()
        self.says.put_nowait({"type": "websocket.connect"})

    async def send(self, message: Message) -> None:
        self.heard.append(message)

    def say(self, text: str) -> None:
        self.says.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self.says.put_nowait({"type": "websocket.disconnect", "code": 1001})


async def echo(scope: Message, receive: Any, send: Any) -> None:
    """What is inside: it repeats what it hears until the page leaves."""
    while (message := await receive())["type"] != "websocket.disconnect":
        if message["type"] == "websocket.connect":
            await send({"type": "websocket.accept"})
        else:
            await send({"type": "websocket.send", "text": message["text"]})
    if message["code"] == OVER:  # as engine.io does, which must not come before our own last words
        await send({"type": "websocket.close"})


def refused(bench: Bench, path: str = SOCKET, **more: Any) -> bool:
    """Is a socket closed before it was open, and nothing inside heard of it?"""
    line, before = Line(), len(bench.inside.seen)
    bench.inside.answer = echo
    line.leave()
    headers = more.pop("headers", ORIGIN)
    asyncio.run(
        bench.guard(
            scope_of(path, kind="websocket", headers=headers, **more), line.says.get, line.send
        )
    )
    kinds = [one["type"] for one in line.heard]
    assert (kinds == ["websocket.close"]) is (len(bench.inside.seen) == before), kinds
    return kinds == ["websocket.close"]


def test_a_socket_needs_a_session(bench: Bench, cookie: str) -> None:
    assert (
        refused(bench)
        and refused(bench, cookie="x" * 43)
        and refused(bench, cookies=f"tacit_session_8321={cookie}; tacit_session_8321={cookie}")
    )
    assert not refused(bench, cookie=cookie) and not refused(
        bench, SOCKET.rstrip("/"), cookie=cookie
    )
    bench.clock.now += 3601
    assert refused(bench, cookie=cookie)


@pytest.mark.parametrize("origin", WRONG_ORIGINS)
def test_a_socket_needs_a_page_of_ours(bench: Bench, cookie: str, origin: str) -> None:
    assert refused(bench, cookie=cookie, headers={"origin": origin}) and refused(
        bench, cookie=cookie, headers={}
    )
    assert refused(bench, cookie=cookie, headers={**ORIGIN, "sec-fetch-site": "cross-site"})
    assert refused(bench, cookie=cookie, headers=[*ORIGIN.items(), ("origin", origin)])


@pytest.mark.parametrize(
    "more",
    [
        {"host": "evil.example:8321"},
        {"client": FAR},
        {"headers": {**ORIGIN, "x-forwarded-for": "127.0.0.1"}},
        {"host": None},
    ],
)
def test_a_socket_needs_a_name_of_ours(bench: Bench, cookie: str, more: Any) -> None:
    assert refused(bench, cookie=cookie, **more)


@pytest.mark.parametrize(
    "path",
    [
        "/workbench/",
        "/workbench/overview",
        "/workbench/sign-in",
        "/workbench/_nicegui_ws/",
        "/workbench/_nicegui_ws/socket.io/x",
        "/query",
        "/workbench/_nicegui_ws/../_nicegui_ws/socket.io/",
        "/workbench//_nicegui_ws/socket.io/",
        SOCKET + "//",
    ],
)
def test_there_is_one_place_for_sockets(bench: Bench, cookie: str, path: str) -> None:
    assert refused(bench, path, cookie=cookie)


def test_a_socket_of_someone_who_lost_the_right_is_refused(bench: Bench) -> None:
    bench.owners.tokens["t"] = OLGA
    cookie = bench.signed_in(OLGA)
    assert not refused(bench, cookie=cookie)
    bench.owners.fault = InputError("no")
    assert refused(bench, cookie=cookie)
    bench.owners.fault = None
    bench.owners.tokens.clear()
    assert refused(bench, cookie=cookie)


def talked(bench: Bench, cookie: str, happens: Any) -> list[Message]:
    """What a page hears on an open socket while something happens."""

    async def main() -> list[Message]:
        line = Line()
        bench.inside.answer = bench.inside.answer or echo
        running = asyncio.create_task(
            bench.guard(
                scope_of(SOCKET, kind="websocket", headers=ORIGIN, cookie=cookie),
                line.says.get,
                line.send,
            )
        )
        await asyncio.sleep(0.01)
        await happens(line)
        await asyncio.wait_for(running, 5)
        return line.heard

    return asyncio.run(main())


def test_a_socket_carries_what_is_said_and_ends_with_the_page(bench: Bench, cookie: str) -> None:
    async def happens(line: Line) -> None:
        line.say("2")
        line.say("42[]")
        line.leave()

    heard = talked(bench, cookie, happens)
    assert [one["type"] for one in heard] == [
        "websocket.accept",
        "websocket.send",
        "websocket.send",
    ] and heard[-1]["text"] == "42[]"
    assert bench.inside.seen[0]["tacit.session"] is bench.sessions.find(cookie)
    session = bench.sessions.find(cookie)
    assert session is not None and session.on_end == [] and bench.guard._sockets == 0


ENDS = {
    "idle": lambda bench, session: setattr(bench.clock, "now", bench.clock.now + 3601),
    "ended": lambda bench, session: bench.sessions.end(session),
    "revoked": lambda bench, session: bench.owners.tokens.clear(),
}


@pytest.mark.parametrize("how", ENDS)
def test_when_the_session_ends_the_page_goes_to_sign_in_and_the_socket_closes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(sockets, "LOOK_SECONDS", 0.03)
    bench.owners.tokens["t"] = OLGA
    cookie = bench.signed_in(OLGA)
    session = bench.sessions.find(cookie)

    async def happens(line: Line) -> None:
        line.say("hello")
        await asyncio.sleep(0.05)
        ENDS[how](bench, session)
        await asyncio.sleep(0.1)
        line.say("too late")

    heard = talked(bench, cookie, happens)
    assert [one.get("text", one.get("code")) for one in heard] == [None, "hello", TO_SIGN_IN, OVER]
    assert bench.guard._sockets == 0


def test_what_is_done_on_a_page_whose_session_is_over_does_not_happen(
    bench: Bench, cookie: str
) -> None:
    done: list[str] = []

    async def acts(scope: Message, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            if message["type"] == "websocket.connect":
                await send({"type": "websocket.accept"})
            else:
                done.append(message["text"])

    bench.inside.answer = acts

    async def happens(line: Line) -> None:
        bench.clock.now += 3601
        line.say(EVENT + ',{"delete": "all"}]')

    heard = talked(bench, cookie, happens)
    assert done == [] and heard[-1] == {"type": "websocket.close", "code": OVER}


def test_pings_do_not_keep_a_session_and_what_somebody_does_keeps_it(
    bench: Bench, cookie: str
) -> None:
    session = bench.sessions.find(cookie)
    assert session is not None
    used = []

    async def happens(line: Line) -> None:
        bench.clock.now += 3000
        for text in (
            "2",
            "3",
            '42["ack",{}]',
            '42["log",{}]',
            '42["javascript_response",{}]',
            '42["handshake",{}]',
            "40",
            "41",
            '421["event",{}]',
            EVENT + ",{}]",
        ):
            line.say(text)
            await asyncio.sleep(0.005)
            used.append(session.used)
        line.leave()

    talked(bench, cookie, happens)
    assert used == [1000.0] * 9 + [4000.0]


def test_an_application_that_does_not_listen_ends_too(
    bench: Bench, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "LOOK_SECONDS", 0.02)

    async def deaf(scope: Message, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        await asyncio.sleep(3600)

    bench.inside.answer = deaf

    async def happens(line: Line) -> None:
        bench.clock.now += 3601

    heard = talked(bench, cookie, happens)
    assert [one["type"] for one in heard] == [
        "websocket.accept",
        "websocket.send",
        "websocket.close",
    ]


def test_nothing_more_is_said_to_a_page_whose_session_is_over(
    bench: Bench, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "LOOK_SECONDS", 0.02)

    async def chatty(scope: Message, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        for _ in range(100):
            await asyncio.sleep(0.005)
            await send({"type": "websocket.send", "text": "data"})

    bench.inside.answer = chatty

    async def happens(line: Line) -> None:
        bench.sessions.end(bench.inside.seen[0]["tacit.session"])

    texts = [one.get("text") for one in talked(bench, cookie, happens)]
    assert texts[-2:] == [TO_SIGN_IN, None] and "data" not in texts[texts.index(TO_SIGN_IN) :]


def test_a_fault_inside_a_socket_goes_its_way(bench: Bench, cookie: str) -> None:
    async def fails(scope: Message, receive: Any, send: Any) -> None:
        raise RuntimeError("inside")

    async def nothing(line: Line) -> None:
        return

    bench.inside.answer = fails
    with pytest.raises(RuntimeError, match="inside"):
        talked(bench, cookie, nothing)
    assert bench.guard._sockets == 0


def test_there_are_never_too_many_sockets(bench: Bench, cookie: str) -> None:
    bench.guard._sockets = MOST_SOCKETS
    assert refused(bench, cookie=cookie)
    bench.guard._sockets = MOST_SOCKETS - 1
    assert not refused(bench, cookie=cookie)


def test_starting_and_stopping_is_passed_on(bench: Bench) -> None:
    async def started(scope: Message, receive: Any, send: Any) -> None:
        await send({"type": "lifespan.startup.complete"})

    async def main() -> list[Message]:
        line = Line()
        await bench.guard({"type": "lifespan"}, line.says.get, line.send)
        return line.heard

    bench.inside.answer = started
    assert asyncio.run(main()) == [{"type": "lifespan.startup.complete"}]
