"""SCRAM: the server's side of SCRAM-SHA-256 (RFC 5802, 7677), two messages in, two out."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.wire import Fields, WireError
from tacit.ledger.verifier import MECHANISM, Verifier, decoded, encoded

FIRST = re.compile(rb"([ny]),(a=[^,]*)?,((?:m=[^,]*,)?n=[^,]*,r=([\x21-\x2b\x2d-\x7e]+)(?:,.*)?)")
FINAL = re.compile(rb"(c=([A-Za-z0-9+/=]+),r=([\x21-\x2b\x2d-\x7e]+)(?:,[^p][^,]*)*),p=([^,]+)")


class Exchange:
    """One sign-in. It takes the same steps whether or not there is such a user: among `verifiers`
    is one that no token fits where there is none. All have the salt and the iterations of the
    first; `matched` is the place of the one whose token the client has.
    """

    def __init__(self, *verifiers: Verifier, nonce: str | None = None) -> None:
        self._verifiers = verifiers
        self.matched: int | None = None
        self._nonce = (nonce or secrets.token_urlsafe(18)).encode()
        self._header = self._said = b""

    def first(self, data: bytes) -> bytes:
        """The answer to the client's first message: salt, iterations, and a number used once."""
        fields = Fields(data)
        try:
            mechanism, size = fields.text(), fields.number("i")
            message = fields.take(max(size, 0))
        except WireError:
            raise malformed() from None
        found = FIRST.fullmatch(message)
        if mechanism != MECHANISM or found is None or found[3].startswith(b"m="):
            raise malformed()
        self._header = found[1] + b"," + (found[2] or b"") + b","
        self._nonce = found[4] + self._nonce
        salt = encoded(self._verifiers[0].salt).encode()
        answer = b"r=%b,s=%b,i=%d" % (self._nonce, salt, self._verifiers[0].iterations)
        self._said = found[3] + b"," + answer
        return answer

    def final(self, data: bytes) -> bytes | None:
        """The answer to the client's second message, by which it knows that we have the verifier;
        None where it does not have the token.
        """
        found = FINAL.fullmatch(data)
        if found is None:
            raise malformed()
        try:
            header, proof = decoded(found[2].decode()), decoded(found[4].decode())
        except ValueError:
            raise malformed() from None
        if header != self._header or found[3] != self._nonce or len(proof) != 32:
            raise malformed()
        said = self._said + b"," + found[1]
        for place, one in enumerate(self._verifiers):
            signature = hmac.digest(one.stored_key, said, "sha256")
            key = bytes(bit ^ other for bit, other in zip(proof, signature, strict=True))
            if hmac.compare_digest(hashlib.sha256(key).digest(), one.stored_key):
                self.matched = place
                return b"v=" + encoded(hmac.digest(one.server_key, said, "sha256")).encode()
        return None


def malformed() -> Trouble:
    """A message that is not of SCRAM-SHA-256."""
    return Trouble("08P01", "this is not a message of SCRAM-SHA-256.", fatal=True)
