"""Signing in to the workbench: the plain pages on which one signs in and out, by the link that
works once or by an owner's token.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from html import escape
from ipaddress import IPv6Address, ip_address
from typing import Protocol
from urllib.parse import parse_qsl

from tacit.errors import TacitError
from tacit.gateway.http.app import address_of, header, next_part, reply
from tacit.gateway.policy.refusals import Headers
from tacit.gateway.visitors import Visitors
from tacit.ledger.users import User
from tacit.workbench.app.callers import (
    CALLED,
    SESSION,
    Called,
    Receive,
    RequestRefused,
    Scope,
    Send,
    cookie_of,
)
from tacit.workbench.app.workbench_sessions import (
    LETTERS,
    NewSession,
    WorkbenchSession,
    WorkbenchSessions,
)

MOST_FORM = 4 << 10
FORM_SECONDS = 10.0
TRIES, TRIES_OF_ALL, TRY_SECONDS = 10, 100, 60.0
MOST_ADDRESSES = 1_000
LINK_EVERY_SECONDS = 30.0
LINK, SIGN_IN = "/workbench/enter", "/workbench/sign-in"  # as the audit log has them
WRONG = "This token does not open the workbench."
HTML: Headers = [(b"content-type", b"text/html; charset=utf-8")]
STYLE = """\
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --ink: #1c2733; --muted: #566370; --line: #dde2e8; --edge: #7b8794;
  --breached: #b3360a; --breached-ground: #fdece4; --accent: #35618f; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --ground: #12171d; --card: #1b222b; --ink: #e6eaef; --muted: #a3afbb; --line: #313b47;
  --edge: #8390a0; --breached: #ff9d73; --breached-ground: #46200f; --accent: #8fb8e3; --on-accent: #12171d; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: break-word; }
main { width: 100%; max-width: 28rem; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1.75rem; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 .75rem; }
h2 { font-size: 1.0625rem; margin: 1.5rem 0 .25rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
p { margin: .5rem 0; }
.muted { color: var(--muted); }
.wrong { background: var(--breached-ground); color: var(--breached); border-radius: .4rem; padding: .6rem .8rem; font-weight: 600; }
label { display: block; font-weight: 600; margin: 1rem 0 .3rem; }
input[type=password] { width: 100%; font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--edge); border-radius: .4rem; padding: .55rem .7rem; }
button { font: inherit; font-weight: 600; margin-top: 1rem; padding: .55rem 1.1rem; border-radius: .4rem; cursor: pointer; color: var(--on-accent);
  background: var(--accent); border: 1px solid var(--accent); }
button.second { color: var(--accent); background: none; border-color: var(--edge); margin-top: .5rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
code { font-size: .9375em; }
code span { white-space: nowrap; }
"""  # noqa: E501


class OwnerDirectory(Protocol):
    """Where owners are looked up."""

    async def find(self, token: str) -> User | None:
        """Whose token it is, if an owner's."""


class Entering:
    """The pages enter, sign-in, sign-out and new-link below the workbench's path;
    the guard lets everybody come here.

    `tell` gets the links, for whoever reads the server's terminal;
    `address` is what they begin with, as in http://127.0.0.1:8321. `visitors` writes down who
    came in, and who did not.
    """

    def __init__(
        self,
        sessions: WorkbenchSessions,
        owners: OwnerDirectory | None = None,
        *,
        tell: Callable[[str], None],
        address: Callable[[], str],
        prefix: str = "/workbench",
        secure: bool = False,
        visitors: Visitors | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._owners = owners
        self._visitors = visitors or Visitors(lambda event: None)
        self._tell = tell
        self._address = address
        self._prefix = prefix
        self._secure = secure
        self._clock = clock
        self._tries = Tries(clock)
        self._told: float | None = None
        self._secret = secrets.token_bytes(32)

    def tell_link(self) -> None:
        """Print a link that works once, for a quarter of an hour."""
        self._told = self._clock()
        self._tell(
            "Open the workbench: "
            f"{self._address()}{self._prefix}/enter?once={self._sessions.link()} (works once, for "
            "15 minutes)"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        pages = {
            ("/enter", "GET"): self._enter,
            ("/sign-in", "GET"): self._ask,
            ("/sign-in", "POST"): self._sign_in,
            ("/sign-out", "POST"): self._sign_out,
            ("/new-link", "POST"): self._new_link,
        }
        path, method = scope["path"].removeprefix(self._prefix), scope["method"]
        page = pages.get((path, "GET" if (path, method) == ("/sign-in", "HEAD") else method))
        if page is None:
            raise RequestRefused(405, "This path does not take this method.")
        await page(scope, receive, send)

    # The link

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the code of a link for a session."""
        if not is_here(scope):
            raise RequestRefused(
                403,
                "A link works only in a browser on the machine that runs tacit serve. Elsewhere, "
                "sign in with an owner's token.",
            )
        if header(scope, b"sec-purpose") is not None or header(scope, b"purpose") is not None:
            raise RequestRefused(503, "A link is not fetched ahead: it works once.")
        if (
            scope.get(SESSION) is not None
        ):  # in already: the link stays good for another browser, and other tabs keep their session
            await reply(send, 303, b"", [(b"location", f"{self._prefix}/".encode())])
            return
        begun = self._sessions.enter(code_of(scope["query_string"]))
        if begun is None:
            self._visitors.refused(LINK, address_of(scope))
            fresh = not self._sessions.has_link() and self._tell_again()
            await self._show(
                scope,
                send,
                410,
                "This link does not work any more",
                old_link(fresh, f"{self._prefix}/sign-in"),
            )
            return
        self._visitors.came(begun.session.user, LINK, address_of(scope))
        self.tell_link()  # for the next browser, or the next day
        await self._let_in(scope, send, begun)

    def _tell_again(self) -> bool:
        """Print a fresh link, unless one was printed just now: nobody fills the terminal."""
        if self._told is not None and self._clock() - self._told < LINK_EVERY_SECONDS:
            return False
        self.tell_link()
        return True

    async def _new_link(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Print a fresh link for whoever asks on this machine, who then has to read it there."""
        form = await read_form(scope, receive)
        if not is_here(scope) or not self._is_ours(scope, form):
            raise RequestRefused(
                403, "This form is not the workbench's, or it is too old: load the page again."
            )
        self._tell_again()
        words = (
            "<p>A link stands now in the terminal in which <code>tacit serve</code> runs, in "
            "its last line. It works once.</p>"
        )
        await self._show(scope, send, 200, "Look at the terminal", words)

    # The token

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the form, or the workbench to those who are in already."""
        if scope.get(SESSION) is not None:
            await reply(send, 303, b"", [(b"location", f"{self._prefix}/".encode())])
        else:
            await self._form(scope, send)

    async def _sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take an owner's token for a session. The same words for all tokens that open nothing."""
        form = await read_form(scope, receive)
        if not self._is_ours(scope, form):
            await self._form(scope, send, 403, "The form was too old. Try once more.")
            return
        if not self._tries.take(address_of(scope) or ""):
            await self._form(
                scope, send, 429, "Too many tries. Wait a minute.", [(b"retry-after", b"60")]
            )
            return
        try:
            found = (
                await self._owners.find(form.get("token", "").strip())
                if self._owners is not None
                else None
            )
        except TacitError:
            await self._form(
                scope, send, 503, "The list of users cannot be read; its owner has to look at it."
            )
            return
        if found is None:
            self._visitors.refused(SIGN_IN, address_of(scope))
            await self._form(scope, send, 403, WRONG)
            return
        self._visitors.came(found.name, SIGN_IN, address_of(scope))
        self._leave(scope)
        await self._let_in(scope, send, self._sessions.begin(found.name, found))

    async def _sign_out(self, scope: Scope, receive: Receive, send: Send) -> None:
        """End the session."""
        form = await read_form(scope, receive)
        session: WorkbenchSession | None = scope.get(SESSION)
        if session is not None and not same(form.get("csrf", ""), session.csrf):
            raise RequestRefused(
                403, "This form is not the workbench's, or it is too old: load the page again."
            )
        self._leave(scope)
        gone = self._cookie(scope, "session", "", "Max-Age=0")
        await reply(
            send,
            303,
            b"",
            [(b"location", f"{self._prefix}/sign-in".encode()), (b"set-cookie", gone)],
        )

    def _leave(self, scope: Scope) -> None:
        """End the session that the browser had, if any."""
        session: WorkbenchSession | None = scope.get(SESSION)
        if session is not None:
            self._sessions.end(session)

    async def _let_in(self, scope: Scope, send: Send, begun: NewSession) -> None:
        """Give the browser its cookie and the first page."""
        place = f"{self._prefix}/"
        headers: Headers = [(b"set-cookie", self._cookie(scope, "session", begun.cookie))]
        if header(scope, b"sec-fetch-site") in (b"cross-site", b"same-site"):
            # Whoever came by a link on another page would be sent on without the cookie, which is
            # for our own pages alone.
            words = f'<p><a href="{place}">Go on to the workbench</a></p>'
            await self._show(
                scope,
                send,
                200,
                "Welcome",
                words,
                headers,
                f'<meta http-equiv="refresh" content="0; url={place}">',
            )
        else:
            await reply(send, 303, b"", [(b"location", place.encode()), *headers])

    # What pages and forms are made of

    async def _form(
        self,
        scope: Scope,
        send: Send,
        status: int = 200,
        wrong: str = "",
        headers: Headers | None = None,
    ) -> None:
        """The page on which one signs in. It says the same to everybody."""
        nonce = cookie_of(scope, scope[CALLED].cookie("form", secure=self._secure)) or ""
        fresh: Headers = []
        if len(nonce) != LETTERS:
            nonce = secrets.token_urlsafe(32)
            fresh = [(b"set-cookie", self._cookie(scope, "form", nonce, "Max-Age=3600"))]
        words = sign_in_page(self._prefix, self._seal(nonce), wrong, near=is_here(scope))
        await self._show(scope, send, status, "Sign in", words, [*fresh, *(headers or [])])

    async def _show(
        self,
        scope: Scope,
        send: Send,
        status: int,
        title: str,
        words: str,
        headers: Headers | None = None,
        head: str = "",
    ) -> None:
        body = page(title, words, head).encode()
        await reply(
            send, status, b"" if scope["method"] == "HEAD" else body, [*HTML, *(headers or [])]
        )

    def _is_ours(self, scope: Scope, form: dict[str, str]) -> bool:
        """Does a form come from a page that this browser got from us? (Its origin was looked at
        by the guard.)
        """
        nonce = cookie_of(scope, scope[CALLED].cookie("form", secure=self._secure))
        return nonce is not None and same(form.get("csrf", ""), self._seal(nonce))

    def _seal(self, nonce: str) -> str:
        return hmac.new(
            self._secret, nonce.encode("latin-1", "replace"), hashlib.sha256
        ).hexdigest()

    def _cookie(self, scope: Scope, name: str, value: str, *more: str) -> bytes:
        """A cookie for our own pages alone, that no script can read."""
        called: Called = scope[CALLED]
        path = (
            ("Path=/", "Secure") if self._secure and not called.here else (f"Path={self._prefix}",)
        )
        return "; ".join(
            (
                f"{called.cookie(name, secure=self._secure)}={value}",
                *path,
                "HttpOnly",
                "SameSite=Strict",
                *more,
            )
        ).encode("ascii")


class Tries:
    """How often somebody may try a token:
    so many times a minute from one place, and from all together.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        each: int = TRIES,
        all_together: int = TRIES_OF_ALL,
    ) -> None:
        self._clock = clock
        self._each = each
        self._together = all_together
        self._all: deque[float] = deque()
        self._of: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """May one more be tried? If so, it counts."""
        now, place = self._clock(), place_of(address)
        own = self._of.setdefault(place, deque())
        self._of.move_to_end(place)
        while len(self._of) > MOST_ADDRESSES:
            self._of.popitem(last=False)
        for tries in (own, self._all):
            while tries and now - tries[0] > TRY_SECONDS:
                tries.popleft()
        if len(own) >= self._each or len(self._all) >= self._together:
            return False
        own.append(now)
        self._all.append(now)
        return True


def place_of(address: str) -> str:
    """Where tries are counted: an address, or the net of one that can have billions of them.

    >>> place_of("192.0.2.7"), place_of("2001:db8::1:2:3:4") == place_of("2001:db8::5")
    ('192.0.2.7', True)
    """
    try:
        found = ip_address(address)
    except ValueError:
        return ""
    return (
        found.exploded[:19]
        if isinstance(found, IPv6Address) and found.ipv4_mapped is None
        else str(found)
    )


def is_here(scope: Scope) -> bool:
    """Does a browser on this machine ask, by a name of this machine?"""
    called: Called = scope[CALLED]
    return called.here


def same(given: str, expected: str) -> bool:
    """Are two secrets the same? It takes as long for a near miss as for any other."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def code_of(query: bytes) -> str:
    """The code in a link, as we write links; nothing where it is written in any other way.

    >>> code_of(b"once=abc_-9"), code_of(b"once=a&once=b"), code_of(b"twice=a")
    ('abc_-9', '', '')
    """
    found = re.fullmatch(rb"once=([A-Za-z0-9_-]{1,100})", query)
    return found[1].decode() if found else ""


async def read_form(scope: Scope, receive: Receive) -> dict[str, str]:
    """The fields of a short form."""
    kind = (header(scope, b"content-type") or b"").split(b";")[0].strip().lower()
    if kind != b"application/x-www-form-urlencoded":
        raise RequestRefused(415, "This is not a form.")
    body, more = bytearray(), True
    try:
        async with asyncio.timeout(FORM_SECONDS):
            while more:
                message = await next_part(receive)
                body += message.get("body", b"")
                more = bool(message.get("more_body"))
                if len(body) > MOST_FORM:
                    raise RequestRefused(413, "The form is too long.")
    except TimeoutError:
        raise RequestRefused(408, "The form did not come in time.") from None
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=10, errors="replace"
        )
    except ValueError:
        raise RequestRefused(400, "The form cannot be read.") from None
    return {} if len(dict(pairs)) != len(pairs) else dict(pairs)


def page(title: str, words: str, head: str = "") -> str:
    """A page that loads nothing and runs nothing."""
    return (
        "<!doctype html>\n"
        '<html lang="en">\n'
        "<head>\n"
        '<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} - Tacit workbench</title>\n"
        '<link rel="icon" href="data:,">\n'
        f"{head}<style>\n"
        f"{STYLE}</style>\n"
        "</head>\n"
        f"<body>\n<main>\n<h1>{escape(title)}</h1>\n{words}\n</main>\n</body>\n</html>\n"
    )


def sign_in_page(prefix: str, csrf: str, wrong: str, *, near: bool) -> str:
    """What stands on the page on which one signs in:
    on this machine, first how one does without a token.
    """
    told = f'<p class="wrong" role="alert" id="wrong">{escape(wrong)}</p>\n' if wrong else ""
    hidden = f'<input type="hidden" name="csrf" value="{csrf}">'
    about = "wrong about" if wrong else "about"
    link = (
        "<p>Open the link that <code>tacit serve</code> printed last in its terminal. It works "
        "once.</p>\n"
        f'<form method="post" action="{prefix}/new-link">{hidden}\n'
        '<button type="submit" class="second">Print a new link there</button>\n'
        "</form>\n"
        "<h2>With an owner's token</h2>\n"
    )
    token = (
        '<p id="about" class="muted">It was shown when the owner was added: '
        "<code>tacit&nbsp;user&nbsp;add NAME&nbsp;<span>--owner</span></code>.</p>\n"
        f'<form method="post" action="{prefix}/sign-in">{hidden}\n'
        '<label for="token">Token</label>\n'
        '<input id="token" name="token" type="password" autocomplete="current-password" '
        'autocapitalize="none" spellcheck="false" maxlength="200" required '
        f'aria-describedby="{about}"{"" if near and not wrong else " autofocus"}>\n'
        '<button type="submit">Sign in</button>\n</form>'
    )
    return told + (link if near else "<p>The workbench is for owners.</p>\n") + token


def old_link(fresh: bool, sign_in: str) -> str:
    """What to do where a link does not work."""
    where = "A new one stands now" if fresh else "The newest one stands"
    return (
        f"<p>A link works once and for 15 minutes. {where} in the terminal in which <code>tacit "
        "serve</code> runs: open that one.</p>\n"
        f'<p class="muted">Or <a href="{sign_in}">sign in</a> with an owner\'s token.</p>'
    )
