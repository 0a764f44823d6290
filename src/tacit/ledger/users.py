"""Users of the gateway: names, roles and hashed tokens, beside the
ledger and sealed with its key.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError, did_you_mean
from tacit.ledger.entries import canonical, check_name, time_text
from tacit.ledger.reading import NO_HEAD, Book, changed, same
from tacit.ledger.store import Ask
from tacit.ledger.verifier import ITERATIONS, SALT, Verifier, verifier_from, verifier_of
from tacit.model.recipients import folded

if TYPE_CHECKING:
    from tacit.ledger.ledger import Ledger

PREFIX = "tacit_"
TOKEN = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")
ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,59}")
MOST_LETTERS = 200  # of an attribute's value
NOBODY = 0  # the version of a list without users


@dataclass(frozen=True, slots=True)
class User:
    """Someone who may ask the gateway in some roles of the plan, or open the workbench as an
    owner, or both.
    """

    name: str
    roles: tuple[str, ...]
    added: datetime
    revoked: datetime | None
    owner: bool = False
    attributes: tuple[tuple[str, str], ...] = ()  # what views may ask of them: $user.id

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        revoked = self.revoked and time_text(self.revoked)
        return {
            "name": self.name,
            "roles": list(self.roles),
            "owner": self.owner,
            "attributes": dict(self.attributes),
            "added": time_text(self.added),
            "revoked": revoked,
        }


@dataclass(frozen=True, slots=True)
class Kept:
    """A user as kept: with the keyed hash of the token, and what SCRAM is checked by, which rows
    of older tokens do not have.
    """

    user: User
    token: str
    scram: str | None = None

    def body(self) -> str:
        """What the seal of the row is made of.
        Rows from before there were owners do not say `owner`, nor do those that are like them;
        so it is with attributes.
        """
        said = {**self.user.to_json(), "token": self.token}
        if not self.user.owner:
            del said["owner"]
        if not self.user.attributes:
            del said["attributes"]
        if self.scram is not None:
            said["scram"] = self.scram
        return canonical(said)


@dataclass(frozen=True, slots=True)
class Known:
    """Users who were not revoked, as they were in some version of the store."""

    version: object
    by_token: Mapping[str, User]
    by_name: Mapping[str, Kept]


class Users:
    """The users of a ledger's gateway.

    Rows are sealed with the owner's key one by one and together, and the head of the ledger knows
    which list is the last: what someone else wrote, or an older list that was put back to undo a
    revocation, makes every question fail with a DataError. Only where the head of that time is put
    back too, and no entry was added since, a new process cannot tell; `verify` can, if it is told
    the version of the list.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._store = ledger.store
        self._book = ledger.book
        self._known: Known | None = None
        self._newest = NOBODY  # lists never grow younger
        self._lock = threading.Lock()

    def add(
        self,
        name: str,
        roles: Collection[str],
        *,
        owner: bool = False,
        attributes: Mapping[str, str] | None = None,
    ) -> str:
        """Add a user and return the token, which is not kept and cannot be shown again.
        An owner needs no role.
        """
        check_name("user", name)
        if isinstance(roles, str) or not (roles or owner):
            raise InputError(
                f"the user {name!r} needs a role.", hint="Name one or more roles of the plan."
            )
        for role in roles:
            check_name("role", role)
        token = PREFIX + secrets.token_urlsafe(32)
        given = tuple(sorted((attributes or {}).items()))
        for one in given:
            check_attribute(*one)
        user = User(name, tuple(dict.fromkeys(roles)), datetime.now(UTC), None, owner, given)
        with self._store.writing() as ask:
            kept = _read(ask, self._book)
            _refuse_taken(name, kept)
            made = Kept(user, self._hashed(token), str(verifier_of(token)))
            _write(ask, self._book, {**kept, name: made}, name)
        return token

    def all(self) -> list[User]:
        """Everybody, by name, also those who were revoked."""
        with self._store.reading() as ask:
            return [one.user for _, one in sorted(_read(ask, self._book).items())]

    def revoke(self, name: str) -> None:
        """From now on the token of this user is refused. Revoking twice changes nothing."""
        with self._store.writing() as ask:
            kept = _read(ask, self._book)
            if name not in kept:
                raise InputError(
                    f"there is no user {name!r}.",
                    hint=did_you_mean(name, kept) or "There are no users yet.",
                )
            before = kept[name]
            if before.user.revoked is None:
                user = replace(before.user, revoked=datetime.now(UTC))
                _write(ask, self._book, {**kept, name: replace(before, user=user)}, name)

    def find(self, token: str) -> User | None:
        """Whose token it is; None for one that nobody has or that was revoked.

        Looked up by its keyed hash: how long it takes says nothing about other tokens.
        """
        if not TOKEN.fullmatch(token):
            return None
        return self._now().by_token.get(self._hashed(token))

    def has(self, user: User) -> bool:
        """Is this user, with the token of that time, still among those who were not revoked?"""
        found = self._now().by_name.get(user.name)
        return found is not None and found.user == user

    def named(self, name: str) -> tuple[User, Verifier | None] | None:
        """The user of a name, and what SCRAM is checked by; None where nobody who was not revoked
        has that name.
        """
        found = self._now().by_name.get(name)
        return None if found is None else (found.user, verifier_from(found.scram or ""))

    def stand_in(self, name: str) -> Verifier:
        """What a name that nobody has is answered with: the same each time, and no token fits."""
        salt = bytes.fromhex(self._book.key.mac("nobody", name.encode()))[:SALT]
        return Verifier(salt, ITERATIONS, bytes(32), bytes(32))

    def version(self) -> object:
        """Something that changes when users were added or revoked, by whichever process
        (PostgreSQL: a second later at most).
        """
        return self._store.version()

    def _now(self) -> Known:
        now = self._store.version()
        with self._lock:
            if self._known is None or self._known.version != now:
                with self._store.reading() as ask:
                    kept, version = _read(ask, self._book), _version(ask)
                if version < self._newest:
                    raise changed(self._book.where, "an older list of users was put in its place.")
                self._newest = version
                known = {name: one for name, one in kept.items() if one.user.revoked is None}
                self._known = Known(now, {one.token: one.user for one in known.values()}, known)
            return self._known

    def _hashed(self, token: str) -> str:
        return self._book.key.mac("token", f"{self._book.id} {token}".encode())


def check_attribute(name: str, value: str) -> None:
    """Refuse an attribute that no view could name, or that is no text."""
    if not ATTRIBUTE.fullmatch(name):
        raise InputError(
            f"{name!r} is no name of an attribute.",
            hint="Write small letters, digits and _, e.g. id=7: views name it $user.id.",
        )
    if not value or len(value) > MOST_LETTERS or not value.isprintable():
        raise InputError(
            f"the attribute {name} is empty, too long, or has letters that cannot be printed.",
            hint=f"Write e.g. {name}=7.",
        )


def _refuse_taken(name: str, kept: Mapping[str, Kept]) -> None:
    """Nobody has this name: also in other letters, which whoever reads the list or the log would
    take for the same one.
    """
    alike = [other for other in kept if folded(other) == folded(name)]
    if used := [other for other in alike if kept[other].user.revoked is None]:
        raise InputError(
            f"there is a user {used[0]!r} already.",
            hint="Choose another name, or revoke it first: the new token replaces the old one.",
        )
    if alike and name not in alike:
        raise InputError(
            f"there was a user {alike[0]!r}, who was revoked.",
            hint=f"Write it as {alike[0]!r}: the new token replaces the old one.",
        )


def users_fault(ask: Ask, book: Book) -> str | None:
    """What is wrong with the list of users, if anything."""
    rows = ask("SELECT name, body, mac FROM tacit_users ORDER BY name")
    for name, body, mac in rows:
        if (
            not isinstance(body, str)
            or not same(_row_seal(book, body), mac)
            or json.loads(body)["name"] != name
        ):
            return f"the row of the user {name!r} was not written with the owner's key."
    heads = ask("SELECT version, mac FROM tacit_users_head")
    if len(heads) != 1 or not same(
        list_seal(book, heads[0][0], [row[2] for row in rows]), heads[0][1]
    ):
        return "rows of the list of users were taken out or replaced by older ones."
    head = book.head(ask)
    if head is not None and head.users != heads[0][0]:
        return (
            f"the list of users is version {heads[0][0]}, and the last one was version "
            f"{head.users}."
        )
    return None


def _version(ask: Ask) -> int:
    return int(ask("SELECT version FROM tacit_users_head")[0][0])


def list_seal(book: Book, version: int, seals: Collection[str]) -> str:
    """What the end of the list has to carry: it ties the rows together."""
    return book.key.mac("users", canonical([book.id, version, sorted(seals)]).encode())


def _row_seal(book: Book, body: str) -> str:
    return book.key.mac("user", f"{book.id} {body}".encode("utf-8", "surrogateescape"))


def _read(ask: Ask, book: Book) -> dict[str, Kept]:
    """All users; a DataError where someone else wrote to their list."""
    if (fault := users_fault(ask, book)) is not None or book.head(ask) is None:
        raise changed(book.where, fault or NO_HEAD)
    return {
        name: _kept(json.loads(body)) for name, body in ask("SELECT name, body FROM tacit_users")
    }


def _kept(said: dict[str, Any]) -> Kept:
    revoked = said["revoked"] and datetime.fromisoformat(said["revoked"])
    return Kept(
        User(
            said["name"],
            tuple(said["roles"]),
            datetime.fromisoformat(said["added"]),
            revoked,
            said.get("owner") is True,
            tuple(sorted(said.get("attributes", {}).items())),
        ),
        said["token"],
        said.get("scram"),
    )


def _write(ask: Ask, book: Book, kept: dict[str, Kept], name: str) -> None:
    """Write one row and the end of the list."""
    body = kept[name].body()
    ask("DELETE FROM tacit_users WHERE name = ?", name)
    ask(
        "INSERT INTO tacit_users (name, body, mac) VALUES (?, ?, ?)",
        name,
        body,
        _row_seal(book, body),
    )
    version = _version(ask) + 1
    seals = [_row_seal(book, one.body()) for one in kept.values()]
    ask(
        "UPDATE tacit_users_head SET version = ?, mac = ? WHERE one = 1",
        version,
        list_seal(book, version, seals),
    )
    book.move(ask, book.end(ask)._replace(users=version))
