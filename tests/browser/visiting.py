"""A visitor: Chromium with somebody in front of it, who notes every request and every complaint
of the page.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing but this machine has an address, so that what a page asks elsewhere fails, and is in the
# log as well.
APART = ("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",)
PHONE, DESK = 390, 1280
PATIENCE = 30_000  # milliseconds; for jobs a test says more

Theme = Literal["light", "dark"]


def chromium_path() -> str | None:
    """Where Chromium is: TACIT_CHROMIUM, or on the path."""
    given = os.environ.get("TACIT_CHROMIUM")
    return given or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    expect.set_options(timeout=PATIENCE)  # what is not there ends a test; a busy machine does not
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium_path(), args=[*APART, *sandbox])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visitor:
    """Somebody with one set of cookies, and as many tabs as they like."""

    context: BrowserContext
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("page", self._watch)

    def page(self, url: str | None = None) -> Page:
        """A new tab, at a URL where one is given."""
        tab = self.context.new_page()
        if url is not None:
            tab.goto(url)
        return tab

    @property
    def strayed(self) -> list[str]:
        """Requests that went elsewhere than to this machine."""
        return [url for url in self.requests if not stays_here(url)]

    def forgive(self, part: str) -> None:
        """Drop complaints that a test means to cause."""
        self.complaints = [one for one in self.complaints if part not in one]

    def _watch(self, page: Page) -> None:
        page.on("websocket", lambda socket: self.requests.append(socket.url))
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.on("console", lambda message: self._hear(page, message))

    def _hear(self, page: Page, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(
                f"{page.url}: {message.text} ({message.location.get('url', '')})"
            )


def visitor(browser: Browser, *, width: int = DESK, theme: Theme = "light") -> Visitor:
    """Somebody new, at a screen of some width whose system is light or dark."""
    size = {"width": width, "height": 844 if width < 600 else 900}
    context = browser.new_context(
        viewport=size, color_scheme=theme, reduced_motion="reduce", accept_downloads=True
    )  # type: ignore[arg-type]
    return Visitor(context)


def stays_here(url: str) -> bool:
    """Does a request stay on this machine?

    >>> [
    ...     stays_here(url)
    ...     for url in (
    ...         "http://127.0.0.1:81/x",
    ...         "ws://localhost/",
    ...         "data:,x",
    ...         "https://example.org/",
    ...         "http://10.0.0.1/",
    ...     )
    ... ]
    [True, True, True, False, False]
    """
    parts = urlsplit(url)
    if parts.scheme in ("data", "blob", "about"):
        return True
    if parts.hostname == "localhost":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
