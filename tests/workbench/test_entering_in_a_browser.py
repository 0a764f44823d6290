"""Entering in Chromium: by the link and by a token, leaving by choice and by revocation;
and a page of somebody else that tries to.
"""

from __future__ import annotations

import http.server
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.ledger.ledger import open_ledger
from tacit.ledger.users import Users
from tacit.workbench.app.sign_in import WRONG
from tacit.workbench.app.sockets import WHEN_LOST

pytest.importorskip("playwright.sync_api")
visiting = pytest.importorskip("browser.visiting")
if visiting.chromium_path() is None:
    pytest.skip("no Chromium: apt install chromium", allow_module_level=True)

PLAN = (
    "version: 1\n"
    "tables:\n"
    "  people: {columns: [name, ward], key: [name], rows: [[Ann, A], [Bob, B]]}\n"
    "roles:\n"
    "  nurses: {default: deny}\n"
)
ATTACK = """async (at) => {
  const found = {};
  const ask = async (name, path, more) => {
    try { const got = await fetch(at + path, {credentials: "include", ...more}); found[name] = `${got.type} ${got.status}`; }
    catch (error) { found[name] = "refused"; }
  };
  await ask("page", "/", {});
  await ask("page, not to be read", "/", {mode: "no-cors"});
  await ask("polling", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", {});
  await ask("form", "/sign-out", {method: "POST", mode: "no-cors", body: new URLSearchParams({csrf: "x"})});
  found.socket = await new Promise((done) => {
    const line = new WebSocket(at.replace("http", "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket");
    line.onopen = () => done("open"); line.onerror = () => done("refused");
  });
  return found;
}"""  # noqa: E501


class Server:
    """`tacit serve`, with an owner and a nurse."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tacit.yaml").write_text(PLAN)
        with open_ledger("tacit-ledger.sqlite", folder, create=True) as ledger:
            users = Users(ledger)
            self.olga, self.ann = users.add("olga", [], owner=True), users.add("ann", ["nurses"])
        self.lines: list[str] = []
        command = [
            sys.executable,
            "-m",
            "tacit",
            "serve",
            "tacit.yaml",
            "--port",
            "0",
            "--deciders",
            "1",
        ]
        self._process = subprocess.Popen(
            command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.link = self.next_link(0)
        self.url = self.link.partition("/enter")[0]

    def _read(self) -> None:
        assert self._process.stderr is not None
        self.lines.extend(self._process.stderr)  # it takes each line as it comes

    def links(self) -> list[str]:
        return re.findall(r"Open the workbench: (\S+)", "".join(list(self.lines)))

    def next_link(self, after: int) -> str:
        for _ in range(1200):
            if len(self.links()) > after:
                return self.links()[after]
            time.sleep(0.05)
        raise AssertionError("".join(self.lines))

    def revoke(self, name: str) -> None:
        with open_ledger("tacit-ledger.sqlite", self.folder) as ledger:
            Users(ledger).revoke(name)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("entering"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with visiting.chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context()
    page = context.new_page()
    page.troubles = []
    page.on(
        "console",
        lambda said: (
            page.troubles.append(said.text)
            if said.type == "error" and "Content Security Policy" in said.text
            else None
        ),
    )
    yield page
    context.close()


def sign_in(page: Any, server: Server, token: str) -> None:
    page.goto(server.url + "/")
    assert page.url == server.url + "/sign-in"
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def wait_for_url(page: Any, url: str, seconds: int = 15) -> None:
    """Look at the address until it is this one. A navigation that another one replaces is no
    failure, as it is to Playwright's own `wait_for_url`.
    """
    visiting.expect(page).to_have_url(url, timeout=seconds * 1000)


def wait_for_socket(page: Any) -> None:
    page.wait_for_function("window.did_handshake === true", timeout=15_000)


@pytest.mark.slow
def test_the_link_opens_the_workbench_and_signing_out_closes_it(page: Any, server: Server) -> None:
    before = len(server.links())
    page.goto(server.links()[-1])
    assert page.url == server.url + "/" and "once=" not in page.url
    page.goto(server.url + "/overview")
    wait_for_socket(page)
    server.next_link(before)
    page.get_by_role("button", name="Sign out").click()
    wait_for_url(page, server.url + "/sign-in")
    page.goto(server.url + "/overview")
    assert page.url == server.url + "/sign-in"
    assert page.troubles == []
    assert not [line for line in server.lines if "Traceback" in line or "Error" in line]


def test_only_an_owner_signs_in(page: Any, server: Server) -> None:
    for token in (server.ann, "tacit_" + "x" * 43):
        sign_in(page, server, token)
        page.get_by_role("alert").wait_for()
        assert page.get_by_role("alert").inner_text() == WRONG and token not in page.content()
    sign_in(page, server, server.olga)
    wait_for_url(page, server.url + "/")
    wait_for_socket(page)
    assert page.troubles == []


def test_a_page_of_somebody_else_gets_nothing(page: Any, server: Server) -> None:
    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f"<p>Hello</p><iframe src='{server.url}/'></iframe>".encode())

        def log_message(self, *_: Any) -> None:
            pass

    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        sign_in(page, server, server.olga)
        wait_for_url(page, server.url + "/")
        for name in ("127.0.0.1", "localhost"):
            theirs = page.context.new_page()
            theirs.goto(f"http://{name}:{other.server_address[1]}/")
            assert set(theirs.evaluate(ATTACK, server.url).values()) == {"refused"}
            assert all(not frame.url.startswith(server.url) for frame in theirs.frames)
            theirs.close()
        page.reload()
        assert page.url == server.url + "/", "the session is as it was"
    finally:
        other.shutdown()
        other.server_close()


@pytest.mark.slow
def test_who_is_revoked_is_shown_out_of_all_tabs_also_of_one_that_had_lost_the_connection(
    page: Any, server: Server
) -> None:
    page.add_init_script(WHEN_LOST)
    sign_in(page, server, server.olga)
    wait_for_url(page, server.url + "/")
    wait_for_socket(page)
    page.context.set_offline(True)
    tab = page.context.new_page()
    page.context.set_offline(False)
    tab.goto(server.url + "/")
    wait_for_socket(tab)
    server.revoke("olga")
    for one in (tab, page):
        wait_for_url(one, server.url + "/sign-in", 20)
