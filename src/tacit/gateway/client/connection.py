"""A connection to a gateway: ask over HTTP, with one user's token."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tacit.errors import InputError, MissingExtra, ParameterError
from tacit.gateway.client.client_answers import ARROW, Answer
from tacit.gateway.client.client_errors import error_of, explaining, not_a_gateway, reading
from tacit.gateway.client.client_requests import (
    Parameters,
    address_of,
    is_loopback,
    request_body,
    token_of,
)

if TYPE_CHECKING:
    import httpx

SECONDS = 90.0  # more than a gateway has by default: 10 s for its turn, 60 s for the database
CONNECT_SECONDS = 10.0
IN_THE_CLEAR = (
    "{url} is not encrypted: on the way everybody can read the token and all answers. Use https."
)


@dataclass(frozen=True, slots=True)
class Checked:
    """Would a query be answered? True where it would;
    else `code`, `message` and `hint` say why not, and `secret` what forbids it.
    """

    allowed: bool
    code: str
    message: str
    hint: str | None = None
    secret: str | None = None

    def __bool__(self) -> bool:
        return self.allowed


@dataclass(frozen=True, slots=True)
class Rights:
    """What a role may ask: everything but `deny` (default allow), or only
    what `allow` tells (default deny).
    """

    default: Literal["allow", "deny"]
    deny: tuple[str, ...]
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CurrentUser:
    """Whose token it is, and what they may ask in each of their roles."""

    user: str
    roles: Mapping[str, Rights]


def connect(
    url: str, token: str | None = None, *, role: str | None = None, timeout: float | None = SECONDS
) -> Connection:
    """A connection to the gateway at `url`. Nothing is sent before the first question.

    `token` is what `tacit user add` showed; where none is given it is taken from the environment,
    TACIT_TOKEN, which keeps it out of your code. `role` is the one to ask in, for who has several.
    `timeout` are the seconds to wait for a sign of the gateway (None: as long as it takes); it has
    its own for queries.

    >>> connection = connect("http://127.0.0.1:1", "tacit_0123")
    >>> connection
    Connection('http://127.0.0.1:1')
    >>> connection.query("SELECT ward, floor FROM wards")
    Traceback (most recent call last):
    tacit.errors.GatewayError: nobody answers at http://127.0.0.1:1. Is the gateway running (tacit serve), and are host and port right?
    """  # noqa: E501
    where = address_of(url)
    if where.startswith("http:") and not is_loopback(where):
        warnings.warn(IN_THE_CLEAR.format(url=where), stacklevel=2)
    return Connection(where, token_of(token), role=role, timeout=timeout)


class Connection:
    """A gateway, asked with one user's token. Several threads may use it;
    close it, or use it in a `with` statement.

    All questions raise Refused where the policy forbids an answer, QueryError where the query or
    its parameters are wrong, and GatewayError where the gateway cannot be asked. No error shows the
    token.
    """

    def __init__(
        self, url: str, token: str, *, role: str | None = None, timeout: float | None = SECONDS
    ) -> None:
        self._url = url
        self._role = role
        package("pyarrow")
        self._client = client_of(url, token, timeout)

    def query(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        role: str | None = None,
        limit: int | None = None,
    ) -> Answer:
        """The answer to a query, of at most `limit` rows.

        `parameters` are values for `?` or `$1`, `$2`, ... (a list) or for `$name` (a mapping).
        A large answer is on its way when this returns: read it, or close it.
        """
        request = self._request(
            "POST", "query", request_body(sql, parameters, role or self._role, limit), ARROW
        )
        with explaining(self._url):
            response = self._client.send(request, stream=True)
        try:
            with explaining(self._url):
                if response.status_code != 200:
                    response.read()
                    raise error_of(response, self._url)
                if media_type(response) != ARROW:
                    raise not_a_gateway(self._url)
                if "content-length" in response.headers:
                    response.read()  # it is small, and is done with the gateway
            return Answer(response, self._url)
        except BaseException:
            response.close()
            raise

    def check(self, sql: str, parameters: Parameters = (), *, role: str | None = None) -> Checked:
        """Would a query be answered? Nothing is run, and a query that would not be is no error."""
        found = self._json("POST", "check", request_body(sql, parameters, role or self._role, None))
        with reading(self._url):
            return Checked(
                bool(found["allowed"]),
                str(found["code"]),
                str(found["message"]),
                found["hint"],
                found["secret"],
            )

    def me(self) -> CurrentUser:
        """Whose token this is, and what they may ask."""
        found = self._json("GET", "me", None)
        with reading(self._url):
            roles = {
                name: Rights(one["default"], tuple(one["deny"]), tuple(one["allow"]))
                for name, one in found["roles"].items()
            }
            return CurrentUser(str(found["user"]), roles)

    def close(self) -> None:
        """End the connection, and all answers that are still on their way."""
        self._client.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Connection({self._url!r})"

    def _request(self, method: str, path: str, body: bytes | None, accept: str) -> httpx.Request:
        if self._client.is_closed:
            raise InputError(
                "this connection is closed.",
                hint="Ask inside the with statement, or connect again.",
            )
        headers = (
            {"Accept": accept}
            if body is None
            else {"Accept": accept, "Content-Type": "application/json"}
        )
        return self._client.build_request(
            method, f"{self._url}/{path}", content=body, headers=headers
        )

    def _json(self, method: str, path: str, body: bytes | None) -> Any:
        with explaining(self._url):
            response = self._client.send(self._request(method, path, body, "application/json"))
        if response.status_code != 200:
            raise error_of(response, self._url)
        with reading(self._url):
            return response.json()


def client_of(url: str, token: str, timeout: float | None) -> httpx.Client:
    """A client that sends the token to this address alone:
    no redirects, and no proxy on the way to this machine.
    """
    package("httpx")
    import httpx

    if timeout is not None and not 0 < timeout < float("inf"):
        raise ParameterError(
            f"timeout={timeout!r} is not a time.",
            parameter="timeout",
            hint="Use seconds above 0, or None.",
        )
    waits = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout or CONNECT_SECONDS))
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "tacit"}
    return httpx.Client(
        headers=headers, timeout=waits, trust_env=not is_loopback(url), follow_redirects=False
    )


def package(name: str) -> Any:
    """A package of the extra `client`."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(name, extra="client", purpose="connections to a gateway") from None


def media_type(response: httpx.Response) -> str:
    """What kind of body it is, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
