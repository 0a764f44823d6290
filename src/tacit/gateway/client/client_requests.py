"""What is sent to a gateway: to which address, with which token, and the query with its
parameters as JSON.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from urllib.parse import urlsplit

from tacit.errors import InputError, ParameterError

TOKEN = "TACIT_TOKEN"  # the variable of the environment that holds a token

Parameter = str | int | float | bool | Decimal | date | time | None
Parameters = Sequence[Parameter] | Mapping[str, Parameter]


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
        raise InputError(
            "this is not the address of a gateway.",
            hint="Write http://127.0.0.1:8321 or https://HOST.",
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "the address holds more than host, port and path.",
            hint="A token does not belong there: connect(url, token).",
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def token_of(given: str | None) -> str:
    """The token that is given, else the environment's; never shown in an error."""
    token = os.environ.get(TOKEN, "") if given is None else given
    if not isinstance(token, str) or not token.strip():
        raise InputError(
            "there is no token.",
            hint=(
                f"connect(url, token), or set the environment's {TOKEN}; tacit user add shows one."
            ),
        )
    if not re.fullmatch(r"[!-~]+", token.strip()):
        raise InputError(
            "the token holds a space or a letter that no token has.",
            hint="Copy what tacit user add showed, one word.",
        )
    return token.strip()


def is_loopback(url: str) -> bool:
    """Does an address stay in this machine?

    >>> (
    ...     is_loopback("http://[::1]:8321"),
    ...     is_loopback("http://localhost"),
    ...     is_loopback("http://10.0.0.5"),
    ... )
    (True, True, False)
    """
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def request_body(sql: str, parameters: Parameters, role: str | None, limit: int | None) -> bytes:
    """The body of a request.

    >>> request_body("SELECT $1", [Decimal("0.10")], None, 5)
    b'{"sql": "SELECT $1", "parameters": [0.10], "limit": 5}'
    """
    if isinstance(parameters, Mapping):
        values = (
            "{"
            + ", ".join(
                f"{json.dumps(str(name))}: {literal(name, value)}"
                for name, value in parameters.items()
            )
            + "}"
        )
    elif isinstance(parameters, Sequence) and not isinstance(parameters, str | bytes):
        values = (
            "["
            + ", ".join(literal(number, value) for number, value in enumerate(parameters, 1))
            + "]"
        )
    else:
        raise ParameterError(
            "parameters are neither a list nor a mapping.",
            parameter="parameters",
            hint='Write ["flu"], or {"ward": "A"}.',
        )
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ParameterError(
            f"limit={limit!r} is not a number of rows.",
            parameter="limit",
            hint="Use a whole number from 0.",
        )
    fields = {
        "sql": json.dumps(str(sql)),
        "role": role and json.dumps(role),
        "parameters": values if parameters else None,
    }
    fields["limit"] = None if limit is None else str(limit)
    return (
        "{"
        + ", ".join(f'"{name}": {text}' for name, text in fields.items() if text is not None)
        + "}"
    ).encode()


def literal(name: object, value: Any) -> str:
    """One parameter as JSON: numbers keep their digits, dates and times are texts.

    >>> [
    ...     literal("x", value)
    ...     for value in (1, 0.1, Decimal("1.50"), True, None, "a", date(2026, 11, 16))
    ... ]
    ['1', '0.1', '1.50', 'true', 'null', '"a"', '"2026-11-16"']
    """
    if value is None or isinstance(value, bool | str):
        return json.dumps(value)
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, date | time):
        return json.dumps(
            value.isoformat(" ") if isinstance(value, datetime) else value.isoformat()
        )
    if isinstance(value, Decimal | Real):
        number = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
        if number.is_finite():
            return str(number)
    raise ParameterError(
        f"parameter {name!r} of type {type(value).__name__} cannot be sent.",
        parameter=str(name),
        hint="Give text, a finite number, true, false, None, or a date.",
    )
