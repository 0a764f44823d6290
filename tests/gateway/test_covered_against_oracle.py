"""What a role may not see decides no answer that it gets: random policies and queries against brute
force on all small databases.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from gateway.gateway_plans import decider
from oracles.covered import Database, Small, Worlds
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.history import facts
from thorough import THOROUGH

VALUES = (1, 2)
POSTS = Small("posts", {"id": VALUES, "author": VALUES, "level": VALUES}, ("id",))
BAG = Small("shared", {"post": VALUES, "who": (1, 2, None)})
SET = Small("shared", BAG.columns | {"who": VALUES}, ("post", "who"))


def included(one: Database) -> bool:
    """Is every shared post there?"""
    ids = {row[0] for row in one["posts"]}
    return all(row[0] in ids for row in one["shared"])


@lru_cache(maxsize=4)
def worlds(keyed: bool, inclusion: bool) -> Worlds:
    tables = [POSTS, SET if keyed else BAG]
    return Worlds(tables, included) if inclusion else Worlds(tables)


class Writer:
    """Writes views and queries."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def condition(self, tables: list[str], values: list[str]) -> str:
        rng = self.rng
        column = rng.choice(self.columns(tables))
        kind = rng.random()
        if kind < 0.6:
            return f"{column} = {rng.choice(values)}"
        if kind < 0.75:
            return f"{column} {rng.choice(['<', '<=', '>', '!='])} {rng.choice(['1', '2'])}"
        if kind < 0.85:
            return f"({column} = {rng.choice(values)} OR {self.condition(tables, values)})"
        if kind < 0.9:
            return f"{column} IS {rng.choice(['', 'NOT '])}NULL"
        return f"{column} IN (1, {rng.choice(values)})"

    def columns(self, tables: list[str]) -> list[str]:
        found = ["posts.id", "posts.author", "posts.level"] if "posts" in tables else []
        return found + (["shared.post", "shared.who"] if "shared" in tables else [])

    def conditions(self, tables: list[str], values: list[str]) -> list[str]:
        joined = ["posts.id = shared.post"] if len(tables) > 1 and self.rng.random() < 0.9 else []
        if tables == ["shared"] and self.rng.random() < 0.35:
            author = f"posts.author = {self.rng.choice(values)}"
            joined = [
                self.rng.choice(
                    [
                        f"shared.post IN (SELECT posts.id FROM posts WHERE {author})",
                        f"EXISTS (SELECT 1 FROM posts WHERE posts.id = shared.post AND {author})",
                    ]
                )
            ]
        return joined + [
            self.condition(tables, values) for _ in range(self.rng.choice([0, 1, 1, 2]))
        ]

    def view(self) -> tuple[list[str], list[str], str]:
        rng = self.rng
        tables = rng.choice([["posts"], ["shared"], ["posts", "shared"]])
        conditions = self.conditions(tables, ["$user.id", "$user.id", "1", "2"])
        columns = self.columns(tables)
        shown = columns if rng.random() < 0.5 else rng.sample(columns, rng.randint(1, len(columns)))
        if len(tables) > 1 and rng.random() < 0.3:
            shown = columns[:3]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        once = "DISTINCT " if rng.random() < 0.3 else ""
        return (
            tables,
            conditions,
            f"SELECT {once}{', '.join(shown)} FROM {', '.join(tables)}{where}",
        )

    def query(self, views: list[tuple[list[str], list[str], str]], user: str) -> str:
        rng = self.rng
        tables, conditions, _ = rng.choice(views)
        values = [user, "1", "2"]
        if rng.random() < 0.2:
            tables = rng.choice([["posts"], ["shared"], ["posts", "shared"]])
            conditions = self.conditions(tables, values)
        conditions = [one.replace("$user.id", user) for one in conditions]
        conditions += [self.condition(tables, values) for _ in range(rng.choice([0, 0, 1]))]
        if conditions and rng.random() < 0.2:
            conditions.pop(rng.randrange(len(conditions)))
        source = ", ".join(tables)
        if tables == ["posts"] and rng.random() < 0.35:
            inner = f"SELECT {{}} FROM shared WHERE shared.post = posts.id AND shared.who = {user}"
            choice = rng.random()
            if choice < 0.4:
                conditions.append(f"EXISTS ({inner.format('1')})")
            elif choice < 0.6:
                conditions.append(
                    f"posts.id IN (SELECT shared.post FROM shared WHERE shared.who = {user})"
                )
            else:
                source = "posts LEFT JOIN shared ON shared.post = posts.id"
                source += f" AND shared.who = {user}" if rng.random() < 0.6 else ""
                tables = ["posts", "shared"]
                if rng.random() < 0.4:
                    conditions.append(f"(shared.who = {user} OR posts.level = 1)")
        if len(tables) > 1 and "LEFT" not in source and rng.random() < 0.3:
            source = "posts CROSS JOIN shared"
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return self.shown(tables, f"FROM {source}{where}")

    def shown(self, tables: list[str], rest: str) -> str:
        rng = self.rng
        columns = self.columns(tables)
        some = rng.sample(columns, rng.randint(1, len(columns)))
        kind = rng.random()
        if kind < 0.15:
            what = rng.choice(
                ["COUNT(*)", "COUNT(DISTINCT {})", "SUM({})", "MAX({})", "MIN({})", "COUNT({})"]
            ).format(some[0])
            return f"SELECT {what} AS n {rest}"
        if kind < 0.25:
            having = " HAVING COUNT(*) > 1" if rng.random() < 0.3 else ""
            what = rng.choice(["COUNT(*)", f"MAX({some[-1]})", f"SUM({some[-1]})"])
            return f"SELECT {some[0]}, {what} AS n {rest} GROUP BY {some[0]}{having}"
        if kind < 0.35:
            return f"SELECT 1 AS one {rest} LIMIT 1"
        order = ""
        if rng.random() < 0.3:
            order = f" ORDER BY {rng.choice(columns)} {rng.choice(['ASC', 'DESC'])}"
        limit = f" LIMIT {rng.choice([1, 1, 2])}" if rng.random() < 0.4 else ""
        offset = " OFFSET 1" if limit and rng.random() < 0.2 else ""
        once = "DISTINCT " if rng.random() < 0.3 and not order else ""
        found = f"SELECT {once}{', '.join(some)} {rest}{order}{limit}{offset}"
        if not order and rng.random() < 0.1:
            return f"SELECT COUNT(*) AS n FROM ({found}) s"
        return found


def plan(keyed: bool, inclusion: bool, views: dict[str, str]) -> str:
    shared: dict[str, Any] = {
        "columns": {"post": "integer", "who": "integer"},
        "nullable": [] if keyed else ["who"],
        "rows": [],
    }
    if keyed:
        shared["key"] = [["post", "who"]]
    return json.dumps(
        {
            "version": 1,
            "tables": {
                "posts": {
                    "columns": {"id": "integer", "author": "integer", "level": "integer"},
                    "nullable": [],
                    "key": [["id"]],
                    "rows": [],
                },
                "shared": shared,
            },
            "constraints": ["shared[post] in posts[id]"] if inclusion else [],
            "releases": {name: {"query": text} for name, text in views.items()},
            "roles": {"users": {"default": "deny", "allow": list(views)}},
        }
    )


@pytest.mark.slow
def test_what_is_answered_is_decided_by_what_the_user_may_see(tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    for seed in range(60 * THOROUGH):
        judge(seed, tmp_path, tally)
    assert tally["allowed"] > 100 * THOROUGH, tally
    assert tally["covered"] < tally["allowed"] * 2, tally


def judge(seed: int, folder: Path, tally: Counter[str]) -> None:
    """Ask queries under a random policy, for several users in turn."""
    rng = random.Random(seed)
    write = Writer(rng)
    keyed, inclusion = rng.random() < 0.5, rng.random() < 0.5
    views = [write.view() for _ in range(rng.randint(1, 3))]
    texts = {f"v{at}": text for at, (_, _, text) in enumerate(views)}
    deciding = decider(folder, plan(keyed, inclusion, texts))
    lab = worlds(keyed, inclusion)
    for _ in range(12):
        asked = write.query(views, "USER")
        for user in rng.sample(["1", "2", "3"], 2):
            sql = asked.replace("USER", user)
            decision = deciding.decide("users", sql, (), Asker("u", {"id": user}))
            tally[decision.code] += 1
            if not decision.allowed and seed % 3:
                continue
            seen = [text.replace("$user.id", user) for text in texts.values()]
            try:
                covered = lab.is_covered(decision.sql or sql, seen)
            except sqlite3.Error as error:
                assert not decision.allowed, (sql, decision.sql, error)
                continue
            tally["covered"] += covered
            assert covered or not decision.allowed, (seed, user, keyed, inclusion, sql, seen)


@pytest.mark.slow
def test_what_is_answered_in_a_session_is_decided_by_what_the_user_saw(tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    for seed in range(40 * THOROUGH):
        judge_session(seed, tmp_path, tally)
    assert tally["more"] > 5 * THOROUGH, tally


def judge_session(seed: int, folder: Path, tally: Counter[str]) -> None:
    """Ask queries one after the other on one database; answers count for later ones."""
    rng = random.Random(f"session {seed}")
    write = Writer(rng)
    keyed, inclusion = rng.random() < 0.5, rng.random() < 0.5
    views = [write.view() for _ in range(rng.randint(1, 2))]
    texts = {f"v{at}": text for at, (_, _, text) in enumerate(views)}
    deciding = decider(folder, plan(keyed, inclusion, texts))
    lab = worlds(keyed, inclusion)
    at = rng.randrange(len(lab.databases))
    user = rng.choice("123")
    who = Asker("u", {"id": user})
    seen = [text.replace("$user.id", user) for text in texts.values()]
    past: list[tuple[str, Any]] = []
    known: list[Any] = []
    for _ in range(25):
        sql = write.query(views, user)
        decision = deciding.decide("users", sql, (), who, tuple(dict.fromkeys(known)))
        tally[decision.code] += 1
        if not decision.allowed or decision.sql is None:
            continue
        tally["more"] += not deciding.decide("users", sql, (), who).allowed
        assert lab.is_covered(decision.sql, seen, past), (seed, user, keyed, inclusion, sql, past)
        rows = lab.databases[at].execute(decision.sql).fetchall()
        past.append((decision.sql, tuple(rows)))
        known += facts(decision.trace, rows)
