"""Certainty (positive query implication; Benedikt, Bourhis, ten Cate, Puppis 2016) beside perfect
privacy: which reasonable queries and which attacks each of them answers. The page of perfect
privacy has the numbers.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path

from gateway.gateway_plans import decider

SECRET = "SELECT owner, text FROM mails WHERE owner <> 1"
REASONABLE = (
    "SELECT id, city FROM users",
    "SELECT city FROM users WHERE id = 2",
    "SELECT city, count(*) FROM users GROUP BY city",
    "SELECT count(*) FROM users",
    "SELECT id, text FROM mails WHERE owner = 1",
    "SELECT count(*) FROM mails WHERE owner = 1",
    "SELECT u.city, m.text FROM users u JOIN mails m ON m.owner = u.id WHERE u.id = 1",
    "SELECT id FROM users WHERE id = 1",
    "SELECT count(*) FROM mails",
    "SELECT id FROM mails",
)
ATTACKS: tuple[tuple[str, ...], ...] = (
    ("SELECT owner, text FROM mails",),
    ("SELECT text FROM mails WHERE owner = 2",),
    ("SELECT id FROM mails WHERE owner = 2 AND text = 'a'",),
    ("SELECT count(*) FROM mails WHERE owner = 2 AND text = 'a'",),
    # what somebody did not write
    ("SELECT 1 FROM users WHERE NOT EXISTS (SELECT 1 FROM mails WHERE owner = 2)",),
    ("SELECT count(*) FROM mails WHERE owner = 2 AND text <> 'a'",),
    # nearly certain
    ("SELECT text FROM mails",),
    ("SELECT DISTINCT text FROM mails",),
    ("SELECT count(*) FROM mails WHERE text = 'a'",),
    ("SELECT owner FROM mails",),
    # harmless one by one
    ("SELECT owner FROM mails WHERE id = 1", "SELECT text FROM mails WHERE id = 1"),
    ("SELECT id, owner FROM mails", "SELECT id, text FROM mails"),
    ("SELECT text FROM mails", "SELECT text FROM mails WHERE owner = 1"),
    ("SELECT count(*) FROM mails WHERE text = 'a'", "SELECT text FROM mails WHERE owner = 1"),
)


def databases() -> list[sqlite3.Connection]:
    """All small databases in which every mail has a user; values that no query names are among
    them, so that nothing is certain because there are so few.
    """
    found = []
    users = [(None, "x", "y")] * 2
    mails = [(None, *itertools.product((1, 2), "abc"))] * 2
    for cities in itertools.product(*users):
        for rows in itertools.product(*mails):
            if any(row and cities[row[0] - 1] is None for row in rows):
                continue
            one = sqlite3.connect(":memory:")
            one.execute("CREATE TABLE users (id INTEGER, city TEXT)")
            one.execute("CREATE TABLE mails (id INTEGER, owner INTEGER, text TEXT)")
            one.executemany(
                "INSERT INTO users VALUES (?, ?)",
                [(at, city) for at, city in enumerate(cities, 1) if city],
            )
            one.executemany(
                "INSERT INTO mails VALUES (?, ?, ?)",
                [(at, *row) for at, row in enumerate(rows, 1) if row],
            )
            found.append(one)
    return found


def makes_certain(queries: tuple[str, ...], worlds: list[sqlite3.Connection]) -> bool:
    """Is some row of the secret in all databases that give the answers of one of them?"""
    classes: dict[str, set[object]] = {}
    for one in worlds:
        seen = repr([sorted(one.execute(sql).fetchall()) for sql in queries])
        secret = set(one.execute(SECRET).fetchall())
        classes[seen] = classes[seen] & secret if seen in classes else secret
    return any(classes.values())


def plan(*, foreign_keys: bool, dictionary: bool) -> str:
    mails = {
        "columns": {"id": "integer", "owner": "integer", "text": "text"},
        "key": [["id"]],
        "nullable": [],
        "rows": [],
    }
    if foreign_keys:
        mails["foreign-keys"] = {"owner": "users.id"}
    users = {
        "columns": {"id": "integer", "city": "text"},
        "key": [["id"]],
        "nullable": [],
        "rows": [],
    }
    found = {
        "version": 1,
        "tables": {"users": users, "mails": mails},
        "secrets": {"mail": SECRET},
        "roles": {"all": {"default": "allow", "deny": ["mail"]}},
    }
    return json.dumps(found | ({"dictionary": ["users.id", "mails.id"]} if dictionary else {}))


def perfect(folder: Path, *, foreign_keys: bool, dictionary: bool) -> tuple[int, int]:
    """How many reasonable queries and attacks the gateway answers."""
    deciding = decider(folder, plan(foreign_keys=foreign_keys, dictionary=dictionary))

    def is_answered(*queries: str) -> bool:
        return all(deciding.decide("all", one).allowed for one in queries)

    return sum(map(is_answered, REASONABLE)), sum(is_answered(*one) for one in ATTACKS)


def test_certainty_answers_more_and_attacks_too() -> None:
    worlds = databases()
    assert not any(makes_certain((one,), worlds) for one in REASONABLE)
    answered = [one for one in ATTACKS if not makes_certain(one, worlds)]
    assert answered == list(ATTACKS[4:10])
    # Who asks in two names gets what one alone does not.
    pairs = [one for one in ATTACKS if len(one) > 1]
    assert not any(makes_certain((one,), worlds) for some in pairs for one in some)


def test_perfect_privacy_answers_less_and_no_attack(tmp_path: Path) -> None:
    assert perfect(tmp_path, foreign_keys=False, dictionary=False) == (5, 0)
    assert perfect(tmp_path, foreign_keys=True, dictionary=False) == (0, 0)
    assert perfect(tmp_path, foreign_keys=True, dictionary=True) == (6, 0)
