"""The ledger by hand: the chain, what is held and equal answers, from the words of the manual and
with nothing of Tacit.

An entry's hash is HMAC-SHA256, under the owner's key, of "entry", a zero byte and the entry as JSON
with sorted keys, without spaces and in ASCII, its own hash left out and the hash of the entry
before it in. The first one follows the hash of "empty" with the ledger's id. The head is sealed in
the same way, and names the version of the list of users.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any


def mac(secret: bytes, purpose: str, text: str) -> str:
    return hmac.new(
        secret, purpose.encode() + b"\x00" + text.encode("utf-8", "surrogateescape"), hashlib.sha256
    ).hexdigest()


def chain(rows: Iterable[tuple[Any, ...]], head: tuple[Any, ...], own: str, secret: bytes) -> bool:
    """Is it the whole chain? Rows are (number, kind, release, body, hash) in the order of
    numbers, the head (number, hash, users, mac).
    """
    before, number = mac(secret, "empty", own), 0
    for number, (place, kind, release, body, hashed) in enumerate(rows, 1):
        if not isinstance(body, str) or mac(secret, "entry", body) != hashed:
            return False
        said = json.loads(body)
        if (said["number"], said["before"], said["kind"], said["release"]) != (
            number,
            before,
            kind,
            release,
        ) or place != number:
            return False
        if json.dumps(said, sort_keys=True, separators=(",", ":")) != body:
            return False
        before = hashed
    users = head[2]
    return head == (number, before, users, mac(secret, "head", f"{own} {number} {before} {users}"))


def concerns(rows: Iterable[tuple[Any, ...]]) -> Counter[tuple[str, int]]:
    """Which (table, entry) have to be listed."""
    said = [json.loads(row[3]) for row in rows]
    return Counter(
        (table, one["number"])
        for one in said
        if one["kind"] == "release"
        for table in one["tables"] or [""]
    )


def gives(one: dict[str, Any]) -> tuple[Any, ...]:
    """What an entry gives to whom; an answer that nobody knows is like no other."""
    known = one["answer"] is not None or one["shape"] == "constraint"
    return (
        one["release"],
        one["shape"],
        frozenset(one["tables"]),
        frozenset(one["to"]),
        one["definition"],
        one["answer"],
        tuple(sorted(one["spent"].items())),
        one.get("people"),
        None if known else one["number"],
    )


def held(
    said: Sequence[dict[str, Any]], tables: Collection[str] | None
) -> list[tuple[int, str | None]]:
    """(entry, when it was withdrawn) of everything that is published about the tables, by looking
    at all pairs of entries.
    """
    found = []
    for one in said:
        if one["kind"] != "release" or not (
            tables is None or not one["tables"] or set(tables) & set(one["tables"])
        ):
            continue
        later = [other for other in said if other["number"] > one["number"]]
        if any(other["kind"] == "release" and gives(other) == gives(one) for other in later):
            continue
        ended = [
            other["at"]
            for other in later
            if other["kind"] == "withdrawal"
            and other["release"] == one["release"]
            and (not other["to"] or (one["to"] and all(name in other["to"] for name in one["to"])))
        ]
        found.append((one["number"], ended[0] if ended else None))
    return found


def meaning(value: Any) -> Any:
    """What a value is, apart from how an engine hands it over."""
    if isinstance(value, bool) or value is None or isinstance(value, str | bytes):
        return type(value).__name__, value
    if isinstance(value, float):
        return "number", Fraction(repr(value)) if value - value == 0 else repr(value)
    if isinstance(value, int | Decimal):
        return "number", Fraction(value)
    if isinstance(value, dt.datetime):
        return "time", value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    return "time", dt.datetime.combine(value, dt.time())


def same_answer(one: Iterable[Sequence[Any]], two: Iterable[Sequence[Any]]) -> bool:
    """Are two answers the same rows, as often, in any order?"""
    return Counter(tuple(map(meaning, row)) for row in one) == Counter(
        tuple(map(meaning, row)) for row in two
    )
