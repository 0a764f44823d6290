"""Downloads: files that a page offers, sent once to the session that asked, as they are made."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

SECONDS = 120.0
MOST = 200
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "html": "text/html; charset=utf-8",
    "yaml": "application/yaml",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}

Pieces = Callable[[], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class Offered:
    """A file that waits to be fetched."""

    session: str
    name: str
    pieces: Pieces
    until: float


class Savings:
    """Files that wait to be fetched, each for a short time, by its session only, and once."""

    def __init__(self) -> None:
        self._offered: dict[str, Offered] = {}

    def offer(self, session: str, name: str, pieces: Pieces) -> str:
        """A name of its own for a file, to be fetched with."""
        now = time.monotonic()
        self._offered = {key: one for key, one in self._offered.items() if one.until > now}
        while len(self._offered) >= MOST:
            self._offered.pop(next(iter(self._offered)))
        key = secrets.token_urlsafe(24)
        self._offered[key] = Offered(session, name, pieces, now + SECONDS)
        return key

    async def send(self, request: Request) -> Response:
        """Send what was offered."""
        session: Any = request.scope.get("tacit.session")
        found = self._offered.get(request.path_params["key"])
        if (
            session is None
            or found is None
            or found.session != session.id
            or found.until < time.monotonic()
        ):
            return PlainTextResponse(
                "This file is no longer offered. Ask for it again on the page.", 404
            )
        del self._offered[request.path_params["key"]]
        kind = KINDS.get(found.name.rsplit(".", 1)[-1].lower(), "application/octet-stream")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}"
        }
        return StreamingResponse(found.pieces(), media_type=kind, headers=headers)
