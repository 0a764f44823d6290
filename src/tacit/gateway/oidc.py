"""OIDC: users whom the house's identity provider knows. A token of it (a JWT, RFC 7519) is
verified by its keys; the claims say who it is, in which roles, with which attributes.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import time
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from tacit.errors import EngineError, InputError, MissingExtra
from tacit.gateway.options import Options
from tacit.ledger.entries import check_name
from tacit.ledger.users import User, check_attribute

# Signatures by a private key. "none", and those by a shared secret, which a public key could be
# taken for, are not among them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
MOST_LETTERS = 8_192  # of a token
MOST_BYTES = 1 << 20  # of a list of keys
MOST_KEPT = 10_000  # tokens that were verified
KEPT_SECONDS = 60.0  # how long a token is not verified anew
KEYS_SECONDS = 600.0  # how long keys are not read anew
AGAIN_SECONDS = 30.0  # between two tries, whoever asks
LEEWAY_SECONDS = 30
FETCH_SECONDS = 5
BEGAN = datetime.fromtimestamp(0, UTC)  # of users who were not added by the owner
DISCOVERY = "/.well-known/openid-configuration"


class IdentityProvider:
    """Whose tokens are taken. May be used by several threads; `user` may have to fetch keys."""

    def __init__(
        self,
        options: Options,
        tell: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        need_jwt()
        assert options.oidc_issuer is not None
        self._issuer = options.oidc_issuer
        self._audience = options.oidc_audience
        self._user_claim = options.oidc_user
        self._roles_claim = options.oidc_roles
        self._attributes = attributes_of(options.oidc_attributes)
        self._keys = SigningKeys(self._issuer, options.oidc_keys, tell, clock)
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[float, User]] = OrderedDict()
        self._lock = Lock()

    @staticmethod
    def may_be(token: str) -> bool:
        """Does a text look like a JWT?"""
        return token.count(".") == 2 and len(token) <= MOST_LETTERS and token.isascii()

    def user(self, token: str) -> User | None:
        """Whose token it is; None where it is not valid. An EngineError where the keys cannot be
        read.
        """
        if not self.may_be(token):
            return None
        name, now = hashlib.sha256(token.encode()).digest(), self._clock()
        with self._lock:
            until, found = self._known.get(name, (0.0, None))
        if found is None or now >= until:
            found = self._verified(token)
            if found is not None:
                with self._lock:
                    self._known[name] = now + KEPT_SECONDS, found
                    while len(self._known) > MOST_KEPT:
                        self._known.popitem(last=False)
        return None if found is None or found.expired() else found

    def _verified(self, token: str) -> User | None:
        import jwt

        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            # Of the header nothing but these two is believed: no key that it brings or names.
            if algorithm not in ALGORITHMS or "crit" in header or "b64" in header:
                return None
            key = self._keys.key(header.get("kid"), algorithm)
            if key is None:
                return None
            claims = jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm=algorithm),
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
            return self._person(claims)
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            return None

    def _person(self, claims: Mapping[str, Any]) -> User | None:
        name = claim(claims, self._user_claim)
        if not isinstance(name, str):
            return None
        attributes = []
        try:
            check_name("user", name)
            for one, path in sorted(self._attributes.items()):
                value = claim(claims, path)
                if isinstance(value, str) or type(value) is int:
                    check_attribute(one, str(value))
                    attributes.append((one, str(value)))
        except InputError:
            return None
        return User(
            name,
            words(claim(claims, self._roles_claim)),
            BEGAN,
            None,
            attributes=tuple(attributes),
            expires=datetime.fromtimestamp(int(claims["exp"]) + LEEWAY_SECONDS, UTC),
            issuer=self._issuer,
        )


@dataclass(slots=True)
class SigningKeys:
    """The keys of an issuer: from a file, from an address, or from where its discovery says. Keys
    that were read stay until others can be read.
    """

    issuer: str
    place: str | None
    tell: Callable[[str], None]
    clock: Callable[[], float]
    _keys: tuple[Mapping[str, Any], ...] = ()
    _tried: float | None = None
    _failing: bool = False
    _lock: Lock = field(default_factory=Lock)

    def key(self, name: object, algorithm: str) -> Mapping[str, Any] | None:
        """The key of this name, or the only one that may sign so; None where there is none."""
        self._read_after(KEYS_SECONDS)
        found = self._find(name, algorithm)
        if found is None:
            self._read_after(AGAIN_SECONDS)  # there may be a new one
            found = self._find(name, algorithm)
        if not self._keys:
            raise EngineError("the keys of the identity provider cannot be read.")
        return found

    def _find(self, name: object, algorithm: str) -> Mapping[str, Any] | None:
        kind = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}[algorithm[:2]]
        fitting = [
            one
            for one in self._keys
            if one.get("kty") == kind
            and one.get("use", "sig") == "sig"
            and one.get("alg", algorithm) == algorithm
            and (name is None or one.get("kid") == name)
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _read_after(self, seconds: float) -> None:
        # Who has some keys does not wait for newer ones that another thread reads.
        if not self._lock.acquire(blocking=not self._keys):
            return
        try:
            wait = min(seconds, AGAIN_SECONDS) if not self._keys or self._failing else seconds
            if self._tried is not None and self.clock() < self._tried + wait:
                return
            self._tried = self.clock()
            try:
                self._keys = keys_in(self._read())
                self._failing = False
            except (OSError, ValueError, RecursionError) as error:
                if not self._failing:
                    self.tell(f"The keys of {self.issuer} cannot be read: {type(error).__name__}.")
                self._failing = True
        finally:
            self._lock.release()

    def _read(self) -> Any:
        place = self.place
        if place is None:
            found = fetched(self.issuer.rstrip("/") + DISCOVERY)
            if not isinstance(found, dict) or found.get("issuer") != self.issuer:
                raise ValueError("another issuer")
            place = str(found.get("jwks_uri"))
        if "://" in place:
            return fetched(place)
        with Path(place).open("rb") as file:
            return json.loads(file.read(MOST_BYTES))


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keys come from where they are said to be, or not at all."""

    def redirect_request(self, *given: Any) -> None:
        """Go nowhere else."""


def fetched(address: str) -> Any:
    """The JSON at an address; an OSError or ValueError where there is none."""
    check_address(address)
    opener = urllib.request.build_opener(NoRedirects)
    with opener.open(address, timeout=FETCH_SECONDS) as answer:
        return json.loads(answer.read(MOST_BYTES))


def check_address(address: str) -> None:
    """Keys that somebody on the way could change are no keys: https, or this machine itself.

    >>> check_address("https://id.example/keys")
    >>> check_address("http://127.0.0.1:80/keys")
    >>> check_address("http://id.example/keys")
    Traceback (most recent call last):
    ValueError: neither https nor this machine
    """
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    with suppress(ValueError):
        near = parts.hostname == "localhost" or ipaddress.ip_address(parts.hostname or "")
        if parts.scheme == "http" and (near is True or getattr(near, "is_loopback", False)):
            return
    raise ValueError("neither https nor this machine")


def keys_in(found: Any) -> tuple[Mapping[str, Any], ...]:
    """The keys of a list (RFC 7517); a ValueError where there is none."""
    keys = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(keys, list) or not all(isinstance(one, dict) for one in keys) or not keys:
        raise ValueError("no list of keys")
    return tuple(keys)


def claim(claims: Mapping[str, Any], path: str) -> Any:
    """A claim by its name, or inside others by names with points between.

    >>> claim({"a.b": 1}, "a.b"), claim({"a": {"b": 2}}, "a.b"), claim({}, "a")
    (1, 2, None)
    """
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def words(found: Any) -> tuple[str, ...]:
    """The roles of a claim: a list of texts, or one text with spaces between.

    >>> words(["a b", "c", 3]), words("a b"), words(None)
    (('a b', 'c'), ('a', 'b'), ())
    """
    if isinstance(found, str):
        return tuple(found.split())
    if isinstance(found, list):
        return tuple(one for one in found if isinstance(one, str))
    return ()


def attributes_of(written: str) -> dict[str, str]:
    """Which claim an attribute comes from: NAME=CLAIM, with commas between.

    >>> attributes_of("id=employee_number, ward=ward")
    {'id': 'employee_number', 'ward': 'ward'}
    """
    found = {}
    for one in filter(None, (part.strip() for part in written.split(","))):
        name, equal, path = one.partition("=")
        if not equal or not path:
            raise InputError(
                f"{one!r} is not NAME=CLAIM.", hint="Write e.g. --oidc-attributes id=employee."
            )
        check_attribute(name, "1")
        found[name] = path
    return found


def provider_of(options: Options, tell: Callable[[str], None]) -> IdentityProvider | None:
    """The identity provider that the options name, if any."""
    return None if options.oidc_issuer is None else IdentityProvider(options, tell)


def need_jwt() -> None:
    """Raise MissingExtra unless tokens can be verified."""
    from importlib.util import find_spec

    for package, name in (("jwt", "pyjwt"), ("cryptography", "cryptography")):
        if find_spec(package) is None:
            raise MissingExtra(name, extra="oidc", purpose="identity providers")
