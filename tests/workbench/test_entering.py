"""Entering: by a link that works once, or by an owner's token; and leaving again."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InputError
from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import User, Users
from tacit.workbench.app.owners import LedgerOwners
from tacit.workbench.app.sign_in import (
    LINK_EVERY_SECONDS,
    MOST_ADDRESSES,
    MOST_FORM,
    TRIES,
    TRIES_OF_ALL,
    WRONG,
    Tries,
)
from workbench.asking import FAR, HOST, Bench, Clock, Got

TOKEN = "tacit_" + "o" * 43
OLGA = User("olga", (), datetime(2026, 4, 1, tzinfo=UTC), None, owner=True)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.owners.tokens[TOKEN] = OLGA
    return bench


def code_in(bench: Bench) -> str:
    """The code of the link that was printed last."""
    return re.search(r"enter\?once=([\w-]{43}) ", bench.said[-1])[1]  # type: ignore[index]


def enter(bench: Bench, code: str, **more: Any) -> Got:
    return bench.ask("/workbench/enter", query=f"once={code}".encode(), **more)


def cookie_in(got: Got, name: str = "tacit_session_8321") -> str:
    return re.search(name + r"=([\w-]{43})", got["set-cookie"])[1]  # type: ignore[index]


def filled(bench: Bench, **more: Any) -> tuple[dict[str, str], str]:
    """The hidden field of a fresh form, and the cookie that belongs to it."""
    got = bench.ask("/workbench/sign-in", **more)
    nonce = got["set-cookie"].split(";")[0]
    return {"csrf": re.search(r'name="csrf" value="(\w+)"', got.text)[1]}, nonce  # type: ignore[index]


def sign_in(bench: Bench, token: str, **more: Any) -> Got:
    fields, nonce = filled(bench)
    return bench.form("/workbench/sign-in", {**fields, "token": token}, cookies=nonce, **more)


# The link


def test_the_link_opens_the_workbench_once(bench: Bench) -> None:
    bench.entering.tell_link()
    assert bench.said[0].startswith(f"Open the workbench: http://{HOST}/workbench/enter?once=")
    code = code_in(bench)
    got = enter(bench, code)
    assert got.status == 303 and got["location"] == "/workbench/"
    said = got["set-cookie"]
    assert said.endswith("; Path=/workbench; HttpOnly; SameSite=Strict") and "Domain" not in said
    assert bench.ask("/workbench/", cookie=cookie_in(got)).status == 200
    again = enter(bench, code)
    assert (
        again.status == 410
        and not again.all("set-cookie")
        and "terminal" in again.text
        and code not in again.text
    )
    assert len(bench.sessions) == 1


def test_after_a_link_was_used_the_next_one_is_printed(bench: Bench) -> None:
    bench.entering.tell_link()
    first = code_in(bench)
    enter(bench, first)
    assert len(bench.said) == 2 and code_in(bench) != first
    assert enter(bench, code_in(bench)).status == 303


def test_a_link_that_is_too_old_makes_a_new_one(bench: Bench) -> None:
    bench.entering.tell_link()
    bench.clock.now += 901
    got = enter(bench, code_in(bench))
    assert got.status == 410 and "A new one stands now" in got.text and len(bench.said) == 2
    assert enter(bench, code_in(bench)).status == 303


@pytest.mark.parametrize(
    "query",
    [
        b"",
        b"once=",
        b"once=x",
        b"once=" + b"a" * 43,
        b"once=" + b"a" * 9000,
        b"once=a&once=b",
        b"&" * 5000,
        b"once=%00",
        b"once=\xff",
        b"twice=a",
        b"once",
    ],
)
def test_wrong_codes_open_nothing_and_do_not_fill_the_terminal(bench: Bench, query: bytes) -> None:
    bench.entering.tell_link()
    good = code_in(bench)
    for _ in range(50):
        assert bench.ask("/workbench/enter", query=query).status == 410
        bench.clock.now += 5
    assert len(bench.said) == 1 and enter(bench, good).status == 303, (
        "the link that was printed stays good"
    )


def test_a_code_counts_only_as_we_write_it(bench: Bench) -> None:
    bench.entering.tell_link()
    code = code_in(bench)
    for query in (
        f"once={code}&x=1",
        f"x=1&once={code}",
        f"once={code}&once={code}",
        f"Once={code}",
        f"once= {code}",
    ):
        assert bench.ask("/workbench/enter", query=query.encode()).status == 410
    assert enter(bench, code).status == 303


def test_a_link_is_not_used_up_by_looking_at_it(bench: Bench) -> None:
    bench.entering.tell_link()
    query = {"query": f"once={code_in(bench)}".encode()}
    assert bench.ask("/workbench/enter", "HEAD", **query).status == 405
    for headers in (
        {"sec-purpose": "prefetch"},
        {"sec-purpose": "prefetch;prerender"},
        {"purpose": "prefetch"},
    ):
        assert bench.ask("/workbench/enter", headers=headers, **query).status == 503
    assert (
        bench.ask("/workbench/enter", "POST", headers={"origin": f"http://{HOST}"}, **query).status
        == 405
    )
    assert bench.ask("/workbench/enter", **query).status == 303


def test_a_link_works_on_this_machine_only() -> None:
    bench = Bench(near_only=False, hosts=frozenset({"tacit.example"}), secure=True)
    bench.entering.tell_link()
    code = code_in(bench)
    assert enter(bench, code, host="tacit.example", client=FAR).status == 403
    assert enter(bench, code, host="tacit.example").status == 403, (
        "a proxy on this machine that does not say so"
    )
    assert enter(bench, code).status == 303


def test_who_comes_from_another_page_is_let_in_by_a_page_of_ours(bench: Bench) -> None:
    bench.entering.tell_link()
    got = enter(
        bench,
        code_in(bench),
        headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    )
    assert (
        got.status == 200
        and 'http-equiv="refresh" content="0; url=/workbench/"' in got.text
        and cookie_in(got)
    )


def test_who_is_in_already_keeps_the_session_and_the_link(bench: Bench) -> None:
    bench.entering.tell_link()
    code, cookie = code_in(bench), bench.signed_in()
    got = enter(bench, code, cookie=cookie)
    assert got.status == 303 and got["location"] == "/workbench/" and not got.all("set-cookie")
    assert bench.sessions.find(cookie) is not None and enter(bench, code).status == 303


def test_nobody_chooses_the_cookie_of_somebody_else(bench: Bench) -> None:
    bench.entering.tell_link()
    planted = "p" * 43
    cookie = cookie_in(enter(bench, code_in(bench), cookie=planted))
    assert cookie != planted and bench.sessions.find(planted) is None
    got = sign_in(bench, TOKEN)
    assert bench.sessions.find(planted) is None and cookie_in(got) != cookie


# The token


def test_an_owner_signs_in(bench: Bench) -> None:
    got = sign_in(bench, TOKEN)
    assert got.status == 303 and got["location"] == "/workbench/" and not got.body
    session = bench.sessions.find(cookie_in(got))
    assert session is not None and (session.user, session.account) == ("olga", OLGA)
    assert bench.ask("/workbench/", cookie=cookie_in(got)).status == 200
    assert bench.said == []


def test_whoever_signs_in_anew_leaves_the_old_session(bench: Bench) -> None:
    cookie = bench.signed_in()
    fields, nonce = filled(bench)
    got = bench.form(
        "/workbench/sign-in",
        {**fields, "token": TOKEN},
        cookies=f"{nonce}; tacit_session_8321={cookie}",
    )
    assert (
        got.status == 303
        and bench.sessions.find(cookie) is None
        and bench.sessions.find(cookie_in(got)) is not None
    )


@pytest.mark.parametrize(
    "token", ["", "x", "tacit_" + "n" * 43, TOKEN[:-1], TOKEN.upper(), "ä", "\0", "' OR 1=1 --"]
)
def test_the_same_words_for_every_token_that_opens_nothing(bench: Bench, token: str) -> None:
    fields, nonce = filled(bench)
    other = bench.form(
        "/workbench/sign-in", {**fields, "token": "tacit_" + "z" * 43}, cookies=nonce
    )
    got = bench.form("/workbench/sign-in", {**fields, "token": token}, cookies=nonce)
    assert (
        got.status == 403
        and WRONG in got.text
        and not got.all("set-cookie")
        and len(bench.sessions) == 0
    )
    assert (got.headers, got.body) == (other.headers, other.body)
    assert len(token) < 5 or token not in got.text


@pytest.mark.parametrize(
    "form", [{}, {"csrf": ""}, {"csrf": "x" * 64}, b"csrf=%FF", b"csrf=a&csrf=b", b""]
)
def test_a_form_that_is_not_from_our_page_is_not_taken(bench: Bench, form: Any) -> None:
    _, nonce = filled(bench)
    body = {**form, "token": TOKEN} if isinstance(form, dict) else form + f"&token={TOKEN}".encode()
    for cookies in (nonce, None, nonce + "x", "tacit_form_8321=", f"{nonce}; {nonce}"):
        got = bench.form("/workbench/sign-in", body, cookies=cookies)
        assert got.status == 403 and "once more" in got.text and TOKEN not in got.text
    assert len(bench.sessions) == 0


def test_a_form_goes_with_the_cookie_of_its_browser(bench: Bench) -> None:
    (mine, my_nonce), (other, other_nonce) = filled(bench), filled(bench)
    for fields, nonce, status in (
        (mine, other_nonce, 403),
        (other, my_nonce, 403),
        (mine, my_nonce, 303),
    ):
        assert (
            bench.form("/workbench/sign-in", {**fields, "token": TOKEN}, cookies=nonce).status
            == status
        )


def test_the_form_keeps_its_cookie_and_shows_no_other_value(bench: Bench) -> None:
    _, nonce = filled(bench)
    got = bench.ask("/workbench/sign-in", cookies=nonce)
    assert not got.all("set-cookie")
    odd = bench.ask("/workbench/sign-in", cookies='tacit_form_8321="><script>')
    assert "<script" not in odd.text and odd.all("set-cookie")


@pytest.mark.parametrize(
    ("parts", "headers", "status"),
    [
        ([b"x" * (MOST_FORM + 1)], {}, 413),
        ([b"x" * 2000] * 3, {}, 413),
        ([b"&".join([b"a=1"] * 20)], {}, 400),
        ([b"\xff=1"], {}, 400),
        ([b"{}"], {"content-type": "application/json"}, 415),
        ([b"csrf=1"], {"content-type": "text/plain"}, 415),
        ([b"csrf=1"], {"content-type": ""}, 415),
    ],
)
def test_forms_are_short_and_plain(
    bench: Bench, parts: list[bytes], headers: dict[str, str], status: int
) -> None:
    said = {
        "origin": f"http://{HOST}",
        "content-type": "application/x-www-form-urlencoded",
        **headers,
    }
    for path in ("/workbench/sign-in", "/workbench/sign-out", "/workbench/new-link"):
        assert bench.ask(path, "POST", headers=said, parts=parts).status == status


def test_while_the_users_cannot_be_read_nobody_signs_in(bench: Bench) -> None:
    bench.owners.fault = InputError("the ledger /home/olga/x cannot be read")
    got = sign_in(bench, TOKEN)
    assert got.status == 503 and "home" not in got.text and len(bench.sessions) == 0


def test_tries_are_counted(bench: Bench) -> None:
    fields, nonce = filled(bench)
    statuses = [
        bench.form("/workbench/sign-in", {**fields, "token": "x"}, cookies=nonce).status
        for _ in range(TRIES + 2)
    ]
    assert statuses == [403] * TRIES + [429] * 2
    late = bench.form("/workbench/sign-in", {**fields, "token": TOKEN}, cookies=nonce)
    assert late.status == 429 and late["retry-after"] == "60"
    bench.clock.now += 61
    assert bench.form("/workbench/sign-in", {**fields, "token": TOKEN}, cookies=nonce).status == 303


def test_tries_are_counted_by_place_and_all_together() -> None:
    clock = Clock()
    tries = Tries(clock)
    assert [tries.take("192.0.2.1") for _ in range(TRIES + 1)] == [True] * TRIES + [False]
    assert tries.take("192.0.2.2")
    assert [tries.take(f"2001:db8::{n:x}") for n in range(TRIES + 1)] == [True] * TRIES + [False], (
        "one net of addresses is one place"
    )
    taken = sum(tries.take(f"10.0.{n >> 8}.{n & 255}") for n in range(3 * MOST_ADDRESSES))
    assert taken == TRIES_OF_ALL - 2 * TRIES - 1 and len(tries._of) <= MOST_ADDRESSES
    clock.now += 61
    assert tries.take("192.0.2.1") and tries.take("nowhere")


# Leaving


def test_signing_out_ends_the_session(bench: Bench) -> None:
    cookie = bench.signed_in()
    session = bench.sessions.find(cookie)
    assert session is not None
    for csrf in ("", "x", session.id):
        assert bench.form("/workbench/sign-out", {"csrf": csrf}, cookie=cookie).status == 403
    assert bench.ask("/workbench/sign-out", cookie=cookie).status == 405
    got = bench.form("/workbench/sign-out", {"csrf": session.csrf}, cookie=cookie)
    assert (
        got.status == 303
        and got["location"] == "/workbench/sign-in"
        and got["set-cookie"].startswith("tacit_session_8321=; ")
        and "Max-Age=0" in got["set-cookie"]
    )
    assert session.ended and bench.ask("/workbench/", cookie=cookie).status == 303
    assert bench.form("/workbench/sign-out", {}).status == 303, "who is out is out"


# A new link


def test_a_new_link_is_printed_for_those_on_this_machine(bench: Bench) -> None:
    fields, nonce = filled(bench)
    got = bench.form("/workbench/new-link", fields, cookies=nonce)
    assert (
        got.status == 200
        and "terminal" in got.text
        and len(bench.said) == 1
        and code_in(bench) not in got.text
    )
    for _ in range(5):
        assert bench.form("/workbench/new-link", fields, cookies=nonce).status == 200
    assert len(bench.said) == 1
    bench.clock.now += LINK_EVERY_SECONDS
    bench.form("/workbench/new-link", fields, cookies=nonce)
    assert len(bench.said) == 2 and enter(bench, code_in(bench)).status == 303
    assert bench.form("/workbench/new-link", {}, cookies=nonce).status == 403


def test_others_cannot_have_a_link_printed() -> None:
    bench = Bench(near_only=False, hosts=frozenset({"tacit.example"}), secure=True)
    far = {"host": "tacit.example", "client": FAR}
    got = bench.ask("/workbench/sign-in", **far)
    assert (
        "new-link" not in got.text
        and "Print" not in got.text
        and "new-link" in bench.ask("/workbench/sign-in").text
    )
    assert (
        got["set-cookie"].startswith("__Host-tacit_form=")
        and "; Path=/; Secure; HttpOnly; SameSite=Strict" in got["set-cookie"]
    )
    fields = {"csrf": re.search(r'name="csrf" value="(\w+)"', got.text)[1]}  # type: ignore[index]
    more = {
        **far,
        "cookies": got["set-cookie"].split(";")[0],
        "headers": {"origin": "https://tacit.example"},
    }
    assert bench.form("/workbench/new-link", fields, **more).status == 403 and bench.said == []
    bench.owners.tokens[TOKEN] = OLGA
    more["headers"] = {"origin": "https://tacit.example"}
    entered = bench.form("/workbench/sign-in", {**fields, "token": TOKEN}, **more)
    assert (
        entered.status == 303
        and entered["set-cookie"].startswith("__Host-tacit_session=")
        and "; Path=/; Secure; HttpOnly; SameSite=Strict" in entered["set-cookie"]
    )


# The page


class Read(HTMLParser):
    """What stands on a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def __getitem__(self, tag: str) -> list[dict[str, str | None]]:
        return [said for name, said in self.tags if name == tag]


def test_the_pages_can_be_read_by_everybody_and_load_nothing(bench: Bench) -> None:
    for got in (bench.ask("/workbench/sign-in"), sign_in(bench, "x"), enter(bench, "x")):
        page = Read(got.text)
        assert (
            page["html"] == [{"lang": "en"}]
            and len(page["title"]) == len(page["h1"]) == len(page["main"]) == 1
        )
        assert (
            not page["script"]
            and not page["img"]
            and not page["iframe"]
            and [one["href"] for one in page["link"]] == ["data:,"]
        )
        assert (
            "default-src 'none'" in got["content-security-policy"]
            and got["cache-control"] == "no-store"
        )
        ids = {said["id"] for _, said in page.tags if "id" in said}
        labels = {one["for"] for one in page["label"]}
        for box in page["input"]:
            assert box["type"] == "hidden" or (
                box["id"] in labels
                and set((box["aria-describedby"] or "").split()) <= ids
                and box["type"] == "password"
            )
        assert "prefers-color-scheme: dark" in got.text and not re.search(r"https?://", got.text)


def test_who_is_in_already_need_not_sign_in(bench: Bench) -> None:
    got = bench.ask("/workbench/sign-in", cookie=bench.signed_in())
    assert got.status == 303 and got["location"] == "/workbench/"
    head = bench.ask("/workbench/sign-in", "HEAD")
    assert head.status == 200 and not head.body


# Owners, as they are kept


PLAN = (
    "version: 1\n"
    "tables:\n"
    "  people: {columns: [name], rows: [[Ann]]}\n"
    "roles:\n"
    "  nurses: {default: deny}\n"
)


class Asked:
    """Owners of a plan, asked without a loop."""

    def __init__(self, plan: Path) -> None:
        self.owners = LedgerOwners(plan)

    def find(self, token: str) -> User | None:
        return asyncio.run(self.owners.find(token))

    def is_still(self, user: User) -> bool:
        return asyncio.run(self.owners.is_still(user))


def test_only_owners_are_owners(tmp_path: Path) -> None:
    plan = tmp_path / "tacit.yaml"
    plan.write_text(PLAN)
    asked = Asked(plan)
    assert asked.find(TOKEN) is None, "no ledger yet"
    with open_ledger("tacit-ledger.sqlite", tmp_path, create=True) as ledger:
        users = Users(ledger)
        owner, nurse = users.add("olga", [], owner=True), users.add("ann", ["nurses"])
        found = asked.find(owner)
        assert found is not None and found.name == "olga" and asked.is_still(found)
        ann = users.find(nurse)
        assert asked.find(nurse) is None and ann is not None and not asked.is_still(ann)
        plan.write_text("version: [broken")
        assert asked.is_still(found) and asked.find(owner) is not None, "the plan may be broken"
        plan.unlink()
        assert asked.is_still(found)
        plan.write_text(PLAN)
        users.revoke("olga")
        assert not asked.is_still(found) and asked.find(owner) is None
        users.add("olga", [], owner=True)
        assert not asked.is_still(found), "a new token is another"
        users.revoke("olga")
        users.add("olga", ["nurses"])
        assert not asked.is_still(found)
    asked.owners.close()


def test_owners_are_those_of_the_ledger_that_the_plan_names(tmp_path: Path) -> None:
    plan = tmp_path / "tacit.yaml"
    plan.write_text(PLAN)
    with open_ledger("tacit-ledger.sqlite", tmp_path, create=True) as ledger:
        token = Users(ledger).add("olga", [], owner=True)
    with open_ledger("other.sqlite", tmp_path, create=True) as ledger:
        Users(ledger).add("ann", ["nurses"])
    asked = Asked(plan)
    found = asked.find(token)
    assert found is not None
    plan.write_text(PLAN + "ledger: other.sqlite\n")
    assert not asked.is_still(found) and asked.find(token) is None
    plan.write_text(PLAN)
    assert asked.is_still(found)
    asked.owners.close()


def test_a_list_of_users_that_somebody_else_wrote_opens_nothing(tmp_path: Path) -> None:
    plan = tmp_path / "tacit.yaml"
    plan.write_text(PLAN)
    with open_ledger("tacit-ledger.sqlite", tmp_path, create=True) as ledger:
        token = Users(ledger).add("olga", [], owner=True)
        with ledger.store.writing() as ask:
            ask("UPDATE tacit_users SET mac = 'x'")
    asked = Asked(plan)
    with pytest.raises(InputError):
        asked.find(token)
    asked.owners.close()
