"""Verifier: what is kept of a token so that a client can prove by SCRAM-SHA-256 that it has it,
without sending it (RFC 5802 and 7677).

Who reads a verifier cannot sign in with it, and cannot guess the token: it has 256 random bits.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass

MECHANISM = "SCRAM-SHA-256"
ITERATIONS = 4096
SALT = 16  # bytes


@dataclass(frozen=True, slots=True)
class Verifier:
    """Salt and iterations, which the client is told, and the two keys that it is checked by."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def __str__(self) -> str:
        """As it is kept, in the form that PostgreSQL keeps its own.

        >>> made = verifier_of("tacit_x", bytes(16))
        >>> verifier_from(str(made)) == made
        True
        """
        salt, stored, server = map(encoded, (self.salt, self.stored_key, self.server_key))
        return f"{MECHANISM}${self.iterations}:{salt}${stored}:{server}"


def verifier_of(token: str, salt: bytes | None = None) -> Verifier:
    """The verifier of a token."""
    salt = secrets.token_bytes(SALT) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt, ITERATIONS)
    client = hmac.digest(salted, b"Client Key", "sha256")
    return Verifier(
        salt,
        ITERATIONS,
        hashlib.sha256(client).digest(),
        hmac.digest(salted, b"Server Key", "sha256"),
    )


def verifier_from(text: str) -> Verifier | None:
    """A verifier as it was kept; None where the text is none."""
    try:
        mechanism, salted, keys = text.split("$")
        iterations, salt = salted.split(":")
        stored, server = keys.split(":")
        if mechanism == MECHANISM:
            return Verifier(decoded(salt), int(iterations), decoded(stored), decoded(server))
    except (ValueError, binascii.Error):
        pass
    return None


def encoded(data: bytes) -> str:
    """Bytes in base64."""
    return base64.b64encode(data).decode()


def decoded(text: str) -> bytes:
    """Bytes from base64; a ValueError where it is none."""
    return base64.b64decode(text, validate=True)
