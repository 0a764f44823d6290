"""Refusal: why a request gets no answer, in the words and with the status that the client sees."""

from __future__ import annotations

import json
from collections.abc import Mapping

Headers = list[tuple[bytes, bytes]]

SECURITY: Headers = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
JSON_HEADERS: Headers = [(b"content-type", b"application/json"), *SECURITY]


class Refusal(Exception):
    """A request that is not answered. Nothing in it depends on rows,
    tokens or paths of the machine.

    >>> Refusal(
    ...     403, "discloses", "it would say something about cancer.", secret="cancer"
    ... ).to_json()["error"]["secret"]
    'cancer'
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        secret: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.secret = secret
        self.headers = dict(headers or {})

    def to_json(self) -> dict[str, dict[str, str | None]]:
        """The body that the client gets."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "hint": self.hint,
                "secret": self.secret,
            }
        }

    def body(self) -> bytes:
        """The body, encoded."""
        return json.dumps(self.to_json(), ensure_ascii=False).encode("utf-8", "replace")


def unauthorized() -> Refusal:
    """The same words whatever is wrong with a token:
    that there is none, that it is unknown, that it was revoked.
    """
    return Refusal(
        401,
        "token",
        "this needs a valid token.",
        hint=(
            "Send the header Authorization: Bearer TOKEN; the owner adds users with: tacit user add"
        ),
        headers={"WWW-Authenticate": "Bearer"},
    )


def busy(code: str, message: str, seconds: int = 1) -> Refusal:
    """The gateway cannot answer now; the client may ask again."""
    return Refusal(
        503, code, message, hint=f"Ask again in {seconds} s.", headers={"Retry-After": str(seconds)}
    )
