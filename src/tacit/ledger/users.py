"""Users of the gateway: names, roles and hashed tokens, beside the
ledger and sealed with its key.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError, did_you_mean
from tacit.ledger.checked_rows import NO_HEAD, LedgerIdentity, changed, same
from tacit.ledger.entries import canonical, check_name, time_text
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
LATER = ("owner", "attributes", "issued", "expires", "used")  # what a row says where it is so


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
    issued: datetime | None = None  # the token, where it is not the first one
    expires: datetime | None = None  # the token
    used: str | None = field(default=None, compare=False)  # the last day on which it was
    issuer: str | None = None  # who vouches for them, where it is not the owner

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "name": self.name,
            "roles": list(self.roles),
            "owner": self.owner,
            "attributes": dict(self.attributes),
            "added": time_text(self.added),
            "revoked": self.revoked and time_text(self.revoked),
            "issued": self.issued and time_text(self.issued),
            "expires": self.expires and time_text(self.expires),
            "used": self.used,
        }

    def expired(self) -> bool:
        """Is the token's time over?"""
        return self.expires is not None and self.expires <= datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class StoredUser:
    """A user as kept: with the keyed hash of the token, and what SCRAM is checked by, which rows
    of older tokens do not have.
    """

    user: User
    token: str
    scram: str | None = None
    older: StoredUser | None = None  # the token before this one, which is taken for some time still

    def body(self) -> str:
        """What the seal of the row is made of."""
        return canonical(self.said())

    def said(self) -> dict[str, Any]:
        """What the row says.
        Rows from before there were owners do not say `owner`, nor do those that are like them;
        so it is with all that came later.
        """
        said = {**self.user.to_json(), "token": self.token}
        for name in LATER:
            if not said[name]:
                del said[name]
        if self.scram is not None:
            said["scram"] = self.scram
        if self.older is not None:
            said["older"] = self.older.said()
        return said

    def each(self) -> Iterator[StoredUser]:
        """The user by each of the tokens that are taken."""
        for one in (self, self.older):
            if one is not None and self.user.revoked is None and not one.user.expired():
                yield one


@dataclass(frozen=True, slots=True)
class KnownUsers:
    """Users who were not revoked, as they were in some version of the store."""

    version: object
    by_token: Mapping[str, User]
    by_name: Mapping[str, StoredUser]
    ever: frozenset[str]  # the folded names of all, also of those who were revoked


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
        self._known: KnownUsers | None = None
        self._newest = NOBODY  # lists never grow younger
        self._lock = threading.Lock()

    def add(
        self,
        name: str,
        roles: Collection[str],
        *,
        owner: bool = False,
        attributes: Mapping[str, str] | None = None,
        expires: datetime | None = None,
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
        check_expiry(expires)
        token = PREFIX + secrets.token_urlsafe(32)
        given = tuple(sorted((attributes or {}).items()))
        for one in given:
            check_attribute(*one)
        user = User(
            name,
            tuple(dict.fromkeys(roles)),
            datetime.now(UTC),
            None,
            owner,
            given,
            expires=expires,
        )
        with self._store.writing() as ask:
            kept = _read(ask, self._book)
            _refuse_taken(name, kept)
            made = StoredUser(user, self._hashed(token), str(verifier_of(token)))
            _write(ask, self._book, {**kept, name: made}, name)
        return token

    def rotate(
        self, name: str, *, overlap: timedelta = timedelta(0), expires: datetime | None = None
    ) -> str:
        """Give a user a new token and return it. The one before is taken for `overlap` still."""
        check_expiry(expires)
        token, now = PREFIX + secrets.token_urlsafe(32), datetime.now(UTC)
        with self._store.writing() as ask:
            kept = _read(ask, self._book)
            before = _of(name, kept)
            if before.user.revoked is not None:
                raise InputError(
                    f"the token of {name!r} was revoked.",
                    hint=f"Add the user again: tacit user add {name} --role ROLE.",
                )
            until = min(now + overlap, before.user.expires or now + overlap)
            older = replace(before, user=replace(before.user, expires=until), older=None)
            # Of one user all have one salt: a client is told one, whichever token it has.
            known = verifier_from(before.scram or "")
            made = StoredUser(
                replace(before.user, issued=now, expires=expires),
                self._hashed(token),
                str(verifier_of(token, known.salt if known else None)),
                older if until > now else None,
            )
            _write(ask, self._book, {**kept, name: made}, name)
        return token

    def mark_used(self, names: Collection[str]) -> None:
        """These users were there today. Written once a day for each."""
        today = datetime.now(UTC).date().isoformat()
        with self._store.writing() as ask:
            kept = _read(ask, self._book)
            fresh = [one for one in names if one in kept and (kept[one].user.used or "") < today]
            for one in fresh:
                kept[one] = replace(kept[one], user=replace(kept[one].user, used=today))
            if fresh:
                _write(ask, self._book, kept, *fresh)

    def all(self) -> list[User]:
        """Everybody, by name, also those who were revoked."""
        with self._store.reading() as ask:
            return [one.user for _, one in sorted(_read(ask, self._book).items())]

    def revoke(self, name: str) -> None:
        """From now on the token of this user is refused. Revoking twice changes nothing."""
        with self._store.writing() as ask:
            kept = _read(ask, self._book)
            before = _of(name, kept)
            if before.user.revoked is None:
                user = replace(before.user, revoked=datetime.now(UTC))
                _write(ask, self._book, {**kept, name: replace(before, user=user)}, name)

    def find(self, token: str) -> User | None:
        """Whose token it is; None for one that nobody has or that was revoked.

        Looked up by its keyed hash: how long it takes says nothing about other tokens.
        """
        if not TOKEN.fullmatch(token):
            return None
        found = self._now().by_token.get(self._hashed(token))
        return None if found is None or found.expired() else found

    def has(self, user: User) -> bool:
        """Is this user, with the token of that time, still among those who may come in?"""
        found = self._now().by_name.get(user.name)
        return found is not None and any(
            replace(one.user, expires=user.expires) == user for one in found.each()
        )

    def named(self, name: str) -> tuple[tuple[User, Verifier | None], ...]:
        """The user of a name by each token that is taken, with what SCRAM is checked by; all of
        them have one salt. Empty where nobody who may come in has that name.
        """
        found = self._now().by_name.get(name)
        each = () if found is None else found.each()
        return tuple((one.user, verifier_from(one.scram or "")) for one in each)

    def is_taken(self, name: str) -> bool:
        """Has, or had, a user of the owner's this name, in whichever letters?"""
        return folded(name) in self._now().ever

    def stand_in(self, name: str) -> Verifier:
        """What a name that nobody has is answered with: the same each time, and no token fits."""
        salt = bytes.fromhex(self._book.key.mac("nobody", name.encode()))[:SALT]
        return Verifier(salt, ITERATIONS, bytes(32), bytes(32))

    def version(self) -> object:
        """Something that changes when users were added or revoked, by whichever process
        (PostgreSQL: a second later at most).
        """
        return self._store.version()

    def _now(self) -> KnownUsers:
        now = self._store.version()
        with self._lock:
            if self._known is None or self._known.version != now:
                with self._store.reading() as ask:
                    kept, version = _read(ask, self._book), _version(ask)
                if version < self._newest:
                    raise changed(self._book.where, "an older list of users was put in its place.")
                self._newest = version
                known = {name: one for name, one in kept.items() if one.user.revoked is None}
                tokens = {each.token: each.user for one in known.values() for each in one.each()}
                ever = frozenset(map(folded, kept))
                self._known = KnownUsers(now, tokens, known, ever)
            return self._known

    def _hashed(self, token: str) -> str:
        return self._book.key.mac("token", f"{self._book.id} {token}".encode())


def check_expiry(expires: datetime | None) -> None:
    """Refuse a token that opens nothing from the start."""
    if expires is not None and expires <= datetime.now(UTC):
        raise InputError(
            f"the token would expire at {time_text(expires)}, which is over.",
            hint="Name a later time.",
        )


def _of(name: str, kept: Mapping[str, StoredUser]) -> StoredUser:
    if name not in kept:
        raise InputError(
            f"there is no user {name!r}.",
            hint=did_you_mean(name, kept) or "There are no users yet.",
        )
    return kept[name]


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


def _refuse_taken(name: str, kept: Mapping[str, StoredUser]) -> None:
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


def users_fault(ask: Ask, book: LedgerIdentity) -> str | None:
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


def list_seal(book: LedgerIdentity, version: int, seals: Collection[str]) -> str:
    """What the end of the list has to carry: it ties the rows together."""
    return book.key.mac("users", canonical([book.id, version, sorted(seals)]).encode())


def _row_seal(book: LedgerIdentity, body: str) -> str:
    return book.key.mac("user", f"{book.id} {body}".encode("utf-8", "surrogateescape"))


def _read(ask: Ask, book: LedgerIdentity) -> dict[str, StoredUser]:
    """All users; a DataError where someone else wrote to their list."""
    if (fault := users_fault(ask, book)) is not None or book.head(ask) is None:
        raise changed(book.where, fault or NO_HEAD)
    return {
        name: _kept(json.loads(body)) for name, body in ask("SELECT name, body FROM tacit_users")
    }


def _kept(said: dict[str, Any]) -> StoredUser:
    def time(name: str) -> datetime | None:
        return datetime.fromisoformat(said[name]) if said.get(name) else None

    return StoredUser(
        User(
            said["name"],
            tuple(said["roles"]),
            datetime.fromisoformat(said["added"]),
            time("revoked"),
            said.get("owner") is True,
            tuple(sorted(said.get("attributes", {}).items())),
            time("issued"),
            time("expires"),
            said.get("used"),
        ),
        said["token"],
        said.get("scram"),
        _kept(said["older"]) if "older" in said else None,
    )


def _write(ask: Ask, book: LedgerIdentity, kept: dict[str, StoredUser], *names: str) -> None:
    """Write the rows of some names, and the end of the list."""
    for name in names:
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
