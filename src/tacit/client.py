"""The client of a gateway: ask over HTTP, and take the answer as Arrow, pandas or Python's own values."""

from __future__ import annotations

import io
import ipaddress
import json
import os
import re
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from tacit.errors import (
    GatewayError,
    InputError,
    MissingExtra,
    ParameterError,
    QueryError,
    Refused,
    TacitError,
)

if TYPE_CHECKING:
    import httpx
    import pandas
    import pyarrow

TOKEN = "TACIT_TOKEN"  # the variable of the environment that holds a token
SECONDS = 90.0  # more than a gateway has by default: 10 s for its turn, 60 s for the database
CONNECT_SECONDS = 10.0
ARROW = "application/vnd.apache.arrow.stream"
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # of every stream of Arrow
TRUNCATED = b"tacit.truncated"
IN_THE_CLEAR = "{url} is not encrypted: on the way everybody can read the token and all answers. Use https."

Parameter = str | int | float | bool | Decimal | date | time | None
Parameters = Sequence[Parameter] | Mapping[str, Parameter]


@dataclass(frozen=True, slots=True)
class Checked:
    """Would a query be answered? True where it would; else `code`, `message` and `hint` say why not, and `secret` what forbids it."""

    allowed: bool
    code: str
    message: str
    hint: str | None = None
    secret: str | None = None

    def __bool__(self) -> bool:
        return self.allowed


@dataclass(frozen=True, slots=True)
class Rights:
    """What a role may ask: everything but `deny` (default allow), or only what `allow` tells (default deny)."""

    default: Literal["allow", "deny"]
    deny: tuple[str, ...]
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Me:
    """Whose token it is, and what they may ask in each of their roles."""

    user: str
    roles: Mapping[str, Rights]


def connect(url: str, token: str | None = None, *, role: str | None = None, timeout: float | None = SECONDS) -> Connection:
    """A connection to the gateway at `url`. Nothing is sent before the first question.

    `token` is what `tacit user add` showed; where none is given it is taken from the environment, TACIT_TOKEN, which
    keeps it out of your code. `role` is the one to ask in, for who has several. `timeout` are the seconds to wait for a
    sign of the gateway (None: as long as it takes); it has its own for queries.

    >>> connection = connect("http://127.0.0.1:1", "tacit_0123")
    >>> connection
    Connection('http://127.0.0.1:1')
    >>> connection.query("SELECT ward, floor FROM wards")
    Traceback (most recent call last):
    tacit.errors.GatewayError: nobody answers at http://127.0.0.1:1. Is the gateway running (tacit serve), and are host and port right?
    """
    where = address_of(url)
    if where.startswith("http:") and not is_loopback(where):
        warnings.warn(IN_THE_CLEAR.format(url=where), stacklevel=2)
    return Connection(where, token_of(token), role=role, timeout=timeout)


class Connection:
    """A gateway, asked with one user's token. Several threads may use it; close it, or use it in a `with` statement.

    All questions raise Refused where the policy forbids an answer, QueryError where the query or its parameters are
    wrong, and GatewayError where the gateway cannot be asked. No error shows the token.
    """

    def __init__(self, url: str, token: str, *, role: str | None = None, timeout: float | None = SECONDS) -> None:
        self._url = url
        self._role = role
        package("pyarrow")
        self._client = client_of(url, token, timeout)

    def query(self, sql: str, parameters: Parameters = (), *, role: str | None = None, limit: int | None = None) -> Answer:
        """The answer to a query, of at most `limit` rows.

        `parameters` are values for `?` or `$1`, `$2`, ... (a list) or for `$name` (a mapping). A large answer is on its
        way when this returns: read it, or close it.
        """
        request = self._request("POST", "query", asked(sql, parameters, role or self._role, limit), ARROW)
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
        found = self._json("POST", "check", asked(sql, parameters, role or self._role, None))
        with reading(self._url):
            return Checked(bool(found["allowed"]), str(found["code"]), str(found["message"]), found["hint"], found["secret"])

    def me(self) -> Me:
        """Whose token this is, and what they may ask."""
        found = self._json("GET", "me", None)
        with reading(self._url):
            roles = {
                name: Rights(one["default"], tuple(one["deny"]), tuple(one["allow"])) for name, one in found["roles"].items()
            }
            return Me(str(found["user"]), roles)

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
            raise InputError("this connection is closed.", hint="Ask inside the with statement, or connect again.")
        headers = {"Accept": accept} if body is None else {"Accept": accept, "Content-Type": "application/json"}
        return self._client.build_request(method, f"{self._url}/{path}", content=body, headers=headers)

    def _json(self, method: str, path: str, body: bytes | None) -> Any:
        with explaining(self._url):
            response = self._client.send(self._request(method, path, body, "application/json"))
        if response.status_code != 200:
            raise error_of(response, self._url)
        with reading(self._url):
            return response.json()


class Answer:
    """The rows that answer a query. Read them in one way; `arrow`, `pandas` and `rows` keep them, `batches` does not."""

    def __init__(self, response: httpx.Response, url: str) -> None:
        self._response = response
        self._url = url
        self._known: pyarrow.Table | None = None
        self._begun = False
        told = response.headers.get("x-tacit-truncated")
        self._truncated: bool | None = None if told is None else told == "true"
        # Who forgets an answer must not keep the gateway's place for it.
        self._close = weakref.finalize(self, response.close)
        self._body = Body(response)

    def arrow(self) -> pyarrow.Table:
        """All rows as a table of Arrow."""
        if self._known is None:
            import pyarrow

            batches = list(self._read())
            self._known = pyarrow.Table.from_batches(batches, self._schema)
        return self._known

    def pandas(self) -> pandas.DataFrame:
        """All rows as a data frame of pandas."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            missing = MissingExtra("pandas", extra="client", purpose="data frames")
            missing.hint = "Run: pip install pandas"
            raise missing from None
        return self.arrow().to_pandas()

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as tuples of Python's values: int, Decimal, float, str, bool, date, datetime and None."""
        table = self.arrow()
        if not table.num_columns:
            return [()] * table.num_rows
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """The rows as record batches of Arrow, some thousand rows at a time. None is kept: the memory stays small.

        What was received is good only if the iteration ends without an error: it then was all there is.
        """
        if self._known is not None:
            yield from self._known.to_batches()
            return
        yield from self._read()

    @property
    def truncated(self) -> bool:
        """Were rows left out, by `limit` or the gateway's own limit? Where that is not known yet it reads the whole answer."""
        if self._truncated is None and not self._begun:
            self.arrow()
        if self._truncated is None:
            raise InputError("whether rows were left out is known after the last batch.", hint="Read all batches first.")
        return self._truncated

    def close(self) -> None:
        """Leave the rest of the answer; the gateway then stops the query."""
        self._close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        known = "on its way" if self._known is None else f"{self._known.num_rows} rows"
        return f"<Answer from {self._url}: {known}>"

    def _read(self) -> Iterator[pyarrow.RecordBatch]:
        """The batches, once, to the very end of the answer."""
        if self._begun:
            raise InputError("this answer was read already, as batches that are not kept.", hint="Ask again, or keep what arrow() gives.")
        self._begun = True
        try:
            with explaining(self._url), self._blaming():
                yield from self._batches()
        finally:
            self._close()

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        from pyarrow import ipc

        reader = ipc.open_stream(io.BufferedReader(self._body, 1 << 20))
        self._schema = reader.schema
        truncated = False
        while True:
            try:
                batch, told = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                break
            truncated = truncated or bool(told and told.get(TRUNCATED) == b"true")
            if batch.num_rows:
                yield batch
        self._body.finish()
        self._truncated = truncated

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        """What Arrow says of a stream that ends too early, or is none, as what happened."""
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, OSError, EOFError):
            if self._body.error is not None:
                raise self._body.error from None
            raise (cut_off(self._url) if self._body.is_arrow else not_a_gateway(self._url)) from None


class Body(io.RawIOBase):
    """The bytes of an answer as a file, from the network or from memory; it remembers how it ended."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self._pieces = response.iter_bytes()
        self._left = memoryview(b"")
        self._first = self._last = b""
        self.error: Exception | None = None

    @property
    def is_arrow(self) -> bool:
        """Does it begin as a stream of Arrow does?"""
        return self._first == END[:4]

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill a buffer with what comes next."""
        if not self._left:
            self._left = memoryview(self._next())
        size = min(len(target), len(self._left))
        target[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def finish(self) -> None:
        """Read the end; an error where it is not that of a whole answer: a proxy in between may cut it short."""
        self._left = memoryview(b"")
        while self._next():
            pass
        if self._last != END:
            raise EOFError

    def _next(self) -> bytes:
        try:
            piece = next((piece for piece in self._pieces if piece), b"")
        except Exception as error:  # Arrow would make another one of it
            self.error = error
            raise
        self._first = (self._first + piece[:4])[:4]
        self._last = (self._last + piece[-len(END) :])[-len(END) :]
        return piece


# -- what is sent -----------------------------------------------------------------------------------------


def address_of(url: str) -> str:
    """A gateway's address without what does not belong to it.

    >>> address_of("https://clinic.example/tacit/")
    'https://clinic.example/tacit'
    >>> address_of("localhost:8321")
    Traceback (most recent call last):
    tacit.errors.InputError: this is not the address of a gateway. Write http://127.0.0.1:8321 or https://HOST.
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError, TypeError):
        known = False
    if not known:
        raise InputError("this is not the address of a gateway.", hint="Write http://127.0.0.1:8321 or https://HOST.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError("the address holds more than host, port and path.", hint="A token does not belong there: connect(url, token).")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def token_of(given: str | None) -> str:
    """The token that is given, else the environment's; never shown in an error."""
    token = os.environ.get(TOKEN, "") if given is None else given
    if not isinstance(token, str) or not token.strip():
        raise InputError("there is no token.", hint=f"connect(url, token), or set the environment's {TOKEN}; tacit user add shows one.")
    if not re.fullmatch(r"[!-~]+", token.strip()):
        raise InputError("the token holds a space or a letter that no token has.", hint="Copy what tacit user add showed, one word.")
    return token.strip()


def is_loopback(url: str) -> bool:
    """Does an address stay in this machine?

    >>> is_loopback("http://[::1]:8321"), is_loopback("http://localhost"), is_loopback("http://10.0.0.5")
    (True, True, False)
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def asked(sql: str, parameters: Parameters, role: str | None, limit: int | None) -> bytes:
    """The body of a request.

    >>> asked("SELECT $1", [Decimal("0.10")], None, 5)
    b'{"sql": "SELECT $1", "parameters": [0.10], "limit": 5}'
    """
    if isinstance(parameters, Mapping):
        values = "{" + ", ".join(f"{json.dumps(str(name))}: {literal(name, value)}" for name, value in parameters.items()) + "}"
    elif isinstance(parameters, Sequence) and not isinstance(parameters, str | bytes):
        values = "[" + ", ".join(literal(number, value) for number, value in enumerate(parameters, 1)) + "]"
    else:
        raise ParameterError("parameters are neither a list nor a mapping.", parameter="parameters", hint='Write ["flu"], or {"ward": "A"}.')
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ParameterError(f"limit={limit!r} is not a number of rows.", parameter="limit", hint="Use a whole number from 0.")
    fields = {"sql": json.dumps(str(sql)), "role": role and json.dumps(role), "parameters": values if parameters else None}
    fields["limit"] = None if limit is None else str(limit)
    return ("{" + ", ".join(f'"{name}": {text}' for name, text in fields.items() if text is not None) + "}").encode()


def literal(name: object, value: Any) -> str:
    """One parameter as JSON: numbers keep their digits, dates and times are texts.

    >>> [literal("x", value) for value in (1, 0.1, Decimal("1.50"), True, None, "a", date(2026, 11, 16))]
    ['1', '0.1', '1.50', 'true', 'null', '"a"', '"2026-11-16"']
    """
    if value is None or isinstance(value, bool | str):
        return json.dumps(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, date | time):
        return json.dumps(value.isoformat(" ") if isinstance(value, datetime) else value.isoformat())
    if isinstance(value, Decimal | Real):
        number = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
        if number.is_finite():
            return str(number)
    raise ParameterError(
        f"parameter {name!r} of type {type(value).__name__} cannot be sent.", parameter=str(name),
        hint="Give text, a finite number, true, false, None, or a date.",
    )  # fmt: skip


def client_of(url: str, token: str, timeout: float | None) -> httpx.Client:
    """A client that sends the token to this address alone: no redirects, and no proxy on the way to this machine."""
    package("httpx")
    import httpx

    if timeout is not None and not 0 < timeout < float("inf"):
        raise ParameterError(f"timeout={timeout!r} is not a time.", parameter="timeout", hint="Use seconds above 0, or None.")
    waits = httpx.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout or CONNECT_SECONDS))
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "tacit"}
    return httpx.Client(headers=headers, timeout=waits, trust_env=not is_loopback(url), follow_redirects=False)


def package(name: str) -> Any:
    """A package of the extra `client`."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(name, extra="client", purpose="connections to a gateway") from None


# -- what went wrong --------------------------------------------------------------------------------------


@contextmanager
def explaining(url: str) -> Iterator[None]:
    """What the network does to a request, as a GatewayError."""
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise unreachable(url, secure=bool(re.search("ssl|certificate", str(error), re.IGNORECASE))) from None
    except httpx.TimeoutException:
        raise GatewayError(f"{url} did not answer in time.", code="timeout", hint="Ask for less, or give a longer timeout=.") from None
    except (httpx.TransportError, httpx.StreamError, httpx.InvalidURL, httpx.DecodingError):
        raise cut_off(url) from None


@contextmanager
def reading(url: str) -> Iterator[None]:
    """What is wrong with JSON that came, as a GatewayError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError):
        raise not_a_gateway(url) from None


def error_of(response: httpx.Response, url: str) -> TacitError:
    """The error that an answer other than 200 is."""
    status = response.status_code
    try:
        found = response.json()["error"]
        code, message, hint, secret = str(found["code"]), str(found["message"]), found["hint"], found["secret"]
    except (ValueError, KeyError, TypeError):
        return not_a_gateway(url, status)
    if status == 401:
        return GatewayError(f"{url} does not know this token.", code=code, hint="Was it revoked, or is it for another gateway? The owner adds users with: tacit user add")
    if status == 403:
        return Refused(message, code=code, secret=secret, hint=hint)
    if status in (400, 413):
        return QueryError(message, code=code, hint=hint)
    return GatewayError(message, code=code, hint=hint)


def unreachable(url: str, *, secure: bool) -> GatewayError:
    """Nobody is there, or nobody that can prove who they are."""
    if secure:
        hint = "Does it speak https, with a certificate that this machine trusts?"
        return GatewayError(f"there is no secure connection to {url}.", code="unreachable", hint=hint)
    hint = "Is the gateway running (tacit serve), and are host and port right?"
    return GatewayError(f"nobody answers at {url}.", code="unreachable", hint=hint)


def cut_off(url: str) -> GatewayError:
    """The connection ended before the answer did."""
    return GatewayError(f"the answer of {url} was cut off.", code="broken-off", hint="What was received is not the whole answer: ask again.")


def not_a_gateway(url: str, status: int | None = None) -> GatewayError:
    """Somebody else answers there."""
    said = f" (status {status})" if status else ""
    return GatewayError(f"what answers at {url} is no gateway of Tacit{said}.", code="not-a-gateway", hint="Look at the address: GET /health answers there.")


def media_type(response: httpx.Response) -> str:
    """What kind of body it is, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
