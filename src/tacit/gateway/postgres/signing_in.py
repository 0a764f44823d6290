"""Signing in: from the first byte of a connection to a user in a role, with TLS and SCRAM."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.gateway.http.auth import role_of
from tacit.gateway.policy.refusals import Refusal
from tacit.gateway.postgres import wire
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.scram import Exchange
from tacit.ledger.verifier import MECHANISM

if TYPE_CHECKING:
    from tacit.gateway.gateway import InForce
    from tacit.gateway.postgres.client_line import ClientLine
    from tacit.ledger.users import User

OPTION = re.compile(r"(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)")
NOT_SETTINGS = ("user", "database", "options", "replication")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Who connected, as which role, with which settings."""

    user: User
    role: str
    settings: Mapping[str, str]


async def first_of(line: ClientLine, tls: ssl.SSLContext | None) -> wire.Startup | wire.Cancel:
    """Who wants to come in, or to stop another session, after TLS where it is asked for."""
    asked: set[int] = set()
    while isinstance(found := await line.first(), wire.Encrypt):
        if found.by in asked:
            raise Trouble("08P01", "whether to encrypt was asked already.", fatal=True)
        asked.add(found.by)
        if found.by == wire.SSL and tls is not None and not line.secure:
            line.send(b"S")
            await line.encrypt(tls)
        else:
            line.send(b"N")
            await line.flush()
    if tls is not None and not line.secure and isinstance(found, wire.Startup):
        raise Trouble(
            "28000",
            "this gateway speaks TLS only.",
            hint="Connect with sslmode=require.",
            fatal=True,
        )
    return found


async def signed_in(line: ClientLine, now: InForce, asked: wire.Startup) -> SignedIn:
    """The user, if it is one. What is wrong with a name or a token is said in the same words."""
    said = dict(asked.settings)
    unknown = [name for name in said if name.startswith("_pq_.")]
    if asked.minor or unknown:
        line.send(wire.negotiate(0, unknown))
    if said.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise Trouble("0A000", "there is no replication here.", fatal=True)
    name = said.get("user", "")
    user = await shown(line, now, name)
    database = said.get("database") or name
    named = None if database == name and database not in now.policy.roles else database
    try:
        role = role_of(user, named, now.policy.roles)
    except Refusal as refusal:
        own = ", ".join(one for one in user.roles if one in now.policy.roles)
        hint = f"Connect to one of your roles as database: {own}." if own else refusal.hint
        raise Trouble("3D000", refusal.message, hint=hint, fatal=True) from None
    settings = {key: value for key, value in said.items() if key not in (*NOT_SETTINGS, *unknown)}
    for key, value in OPTION.findall(said.get("options", "")):
        settings[key.replace("-", "_")] = re.sub(r"\\(.)", r"\1", value)
    line.trust()
    line.send(wire.authentication(wire.OK))
    return SignedIn(user, role, settings)


async def shown(line: ClientLine, now: InForce, name: str) -> User:
    """The user of a name, after it was shown that the client has the token.

    A token from before there was SCRAM has to be sent, and so has one of an identity provider: only
    inside TLS. Without it, and for a name
    that nobody has, SCRAM goes its way and fails at the end.
    """
    known = await now.door.named(name)
    able = [(user, verifier) for user, verifier in known if verifier is not None]
    others = not known and now.door.takes_others
    if (known or others) and not able and line.secure:
        line.send(wire.authentication(wire.CLEARTEXT))
        found = await now.door.found((await answered(line)).rstrip(b"\0").decode("ascii", "ignore"))
        if found is None or found.name != name or (found.issuer is None) == others:
            raise refused()
        return found
    exchange = Exchange(*[verifier for _, verifier in able] or [now.door.stand_in(name)])
    line.send(wire.authentication(wire.SASL, wire.text(MECHANISM) + b"\0"))
    first = exchange.first(await answered(line))
    line.send(wire.authentication(wire.SASL_CONTINUE, first))
    final = exchange.final(await answered(line))
    if final is None or exchange.matched is None or not able:
        raise refused()
    line.send(wire.authentication(wire.SASL_FINAL, final))
    return able[exchange.matched][0]


async def answered(line: ClientLine) -> bytes:
    """What the client answers to what it was asked."""
    await line.flush()
    found = await line.receive()
    if not isinstance(found, wire.Password):
        raise Trouble("08P01", "a password was asked for.", fatal=True)
    return found.data


def refused() -> Trouble:
    """The same words whatever is wrong with a name or a token."""
    return Trouble(
        "28P01",
        "this needs the name of a user and a valid token as password.",
        hint="The owner adds users with: tacit user add NAME --role ROLE",
        fatal=True,
    )
