"""What can go wrong with a gateway:
the network, an answer that is none, and what the gateway itself refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.errors import GatewayError, QueryError, Refused, TacitError

if TYPE_CHECKING:
    import httpx


@contextmanager
def explaining(url: str) -> Iterator[None]:
    """What the network does to a request, as a GatewayError."""
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise unreachable(
            url, secure=bool(re.search("ssl|certificate", str(error), re.IGNORECASE))
        ) from None
    except httpx.TimeoutException:
        raise GatewayError(
            f"{url} did not answer in time.",
            code="timeout",
            hint="Ask for less, or give a longer timeout=.",
        ) from None
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
        code, message, hint, secret = (
            str(found["code"]),
            str(found["message"]),
            found["hint"],
            found["secret"],
        )
    except (ValueError, KeyError, TypeError):
        return not_a_gateway(url, status)
    if status == 401:
        return GatewayError(
            f"{url} does not know this token.",
            code=code,
            hint=(
                "Was it revoked, or is it for another gateway? The owner adds users with: "
                "tacit user add"
            ),
        )
    if status == 403:
        return Refused(message, code=code, secret=secret, hint=hint)
    if status in (400, 413):
        return QueryError(message, code=code, hint=hint)
    return GatewayError(message, code=code, hint=hint)


def unreachable(url: str, *, secure: bool) -> GatewayError:
    """Nobody is there, or nobody that can prove who they are."""
    if secure:
        hint = "Does it speak https, with a certificate that this machine trusts?"
        return GatewayError(
            f"there is no secure connection to {url}.", code="unreachable", hint=hint
        )
    hint = "Is the gateway running (tacit serve), and are host and port right?"
    return GatewayError(f"nobody answers at {url}.", code="unreachable", hint=hint)


def cut_off(url: str) -> GatewayError:
    """The connection ended before the answer did."""
    return GatewayError(
        f"the answer of {url} was cut off.",
        code="broken-off",
        hint="What was received is not the whole answer: ask again.",
    )


def not_a_gateway(url: str, status: int | None = None) -> GatewayError:
    """Somebody else answers there."""
    said = f" (status {status})" if status else ""
    return GatewayError(
        f"what answers at {url} is no gateway of Tacit{said}.",
        code="not-a-gateway",
        hint="Look at the address: GET /health answers there.",
    )
