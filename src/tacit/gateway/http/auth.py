"""Who asks: the user whose token a request carries, and the role they ask in."""

from __future__ import annotations

import asyncio
import hmac
from typing import TYPE_CHECKING, Protocol, TypeVar

from tacit.errors import TacitError
from tacit.gateway.policy.refusals import Refusal, busy, unauthorized

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tacit.gateway.oidc import IdentityProvider
    from tacit.ledger.users import User
    from tacit.ledger.verifier import Verifier

Found = TypeVar("Found")

MOST_LETTERS = 10_000
SCHEME = b"bearer "


class Tokens(Protocol):
    """Where users are looked up; it answers from memory as long as they did not change."""

    def find(self, token: str) -> User | None:
        """Whose token it is, if anybody's."""

    def named(self, name: str) -> tuple[tuple[User, Verifier | None], ...]:
        """The user of a name by each token, if anybody's, and what SCRAM is checked by."""

    def stand_in(self, name: str) -> Verifier:
        """What SCRAM is checked by for a name that nobody has."""

    def has(self, user: User) -> bool:
        """Is a user still there?"""

    def is_taken(self, name: str) -> bool:
        """Has, or had, somebody this name?"""


class TokenDoor:
    """Lets in whoever has a token. `far`: the users lie in another machine, so nobody else may
    wait for the answer. `provider`: tokens of the house's identity provider are taken too, but
    nobody comes in by the name of a user of ours.
    """

    def __init__(
        self, users: Tokens, *, far: bool = False, provider: IdentityProvider | None = None
    ) -> None:
        self._users = users
        self._far = far
        self._provider = provider

    async def user(self, authorization: bytes | None) -> User:
        """The user that the header names; a Refusal in the same words for everybody else."""
        token = token_of(authorization)
        if token is None:
            raise unauthorized()
        found = await self.found(token)
        if found is None:
            raise unauthorized()
        return found

    async def found(self, token: str) -> User | None:
        """Whose token it is, if anybody's."""
        provider = self._provider
        if provider is not None and provider.may_be(token):
            return await self._look_up(lambda: self._vouched_for(provider, token), far=True)
        return await self._look_up(lambda: self._users.find(token))

    @property
    def takes_others(self) -> bool:
        """May users come in whom the owner did not add?"""
        return self._provider is not None

    def _vouched_for(self, provider: IdentityProvider, token: str) -> User | None:
        found = provider.user(token)
        return None if found is None or self._users.is_taken(found.name) else found

    async def named(self, name: str) -> tuple[tuple[User, Verifier | None], ...]:
        """The user of a name by each token, and what SCRAM is checked by: None for a token from
        before there was SCRAM. Empty for a name that nobody has.
        """
        return await self._look_up(lambda: self._users.named(name))

    def stand_in(self, name: str) -> Verifier:
        """What no token fits, the same for a name each time."""
        return self._users.stand_in(name)

    async def has(self, user: User) -> bool:
        """Is a user who was let in still among those who may come in?"""
        if user.issuer is None:
            return await self._look_up(lambda: self._users.has(user))
        taken = await self._look_up(lambda: self._users.is_taken(user.name))
        return self.takes_others and not taken and not user.expired()

    async def _look_up(self, look: Callable[[], Found], *, far: bool = False) -> Found:
        try:
            return await asyncio.to_thread(look) if self._far or far else look()
        except TacitError:
            raise busy(
                "users", "the list of users cannot be read; its owner has to look at it.", 10
            ) from None


def token_of(authorization: bytes | None) -> str | None:
    """The token in a header.

    >>> token_of(b"Bearer abc"), token_of(b"Basic abc"), token_of(None)
    ('abc', None, None)
    """
    if (
        authorization is None
        or len(authorization) > MOST_LETTERS
        or authorization[: len(SCHEME)].lower() != SCHEME
    ):
        return None
    try:
        return authorization[len(SCHEME) :].decode("ascii").strip()
    except UnicodeDecodeError:
        return None


def role_of(user: User, named: str | None, roles: Mapping[str, object]) -> str:
    """The role that a user asks in: the one they name, else their only one.

    A role that the plan no longer has counts as one that the user does not have.
    """
    own = [role for role in user.roles if role in roles]
    if named is not None:
        if named in own:
            return named
        raise Refusal(403, "role", "you do not have this role.", hint="GET /me lists your roles.")
    if len(own) == 1:
        return own[0]
    if not own:
        raise Refusal(
            403,
            "role",
            "you have no role in this plan.",
            hint="Ask the owner for one: tacit user add NAME --role ROLE",
        )
    raise Refusal(
        400,
        "role",
        "you have several roles: say which.",
        hint=f'Add "role" to the body, one of: {", ".join(own)}.',
    )


def same_token(given: str | None, expected: str) -> bool:
    """Are two tokens the same? It takes as long for a near miss as for any other."""
    return given is not None and hmac.compare_digest(given.encode(), expected.encode())
