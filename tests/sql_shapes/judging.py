"""One statement judged: what Tacit and its gateway say, against the
engine's answers on every database.

`holds` is wrong where a row is critical for the secret and for the answers; what the gateway allows
must not depend on a row that is critical for the secret, neither by its order nor by failing; what
is read exactly must answer as the engine does.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from oracles.gateway import Laboratory, Schema, Table
from oracles.sql_supports import evaluated
from sql_shapes.databases import bags, critical, disclosed, facts_of, shown_apart
from sql_shapes.schemas import secrets_of
from tacit.engines.open import open_engine
from tacit.errors import QueryError
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.logic.critical import Disclosed, Private, SecretJudge
from tacit.families.queries.query import Relation
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.gateway.policy.decisions import Decider
from tacit.gateway.policy.policy import policy_of
from tacit.plan.read.load import load_plan

SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Defect:
    """A statement about which Tacit is wrong."""

    kind: str
    sql: str
    about: str


@dataclass
class Outcome:
    """What came of one statement: how it was read, what was said of
    each secret, and what is wrong.
    """

    read: str = ""
    runs: bool = True
    error: str = ""  # what the engine says where it does not run
    verdicts: Counter[str] = field(default_factory=Counter)
    gateway: Counter[str] = field(default_factory=Counter)
    executed: int = 0  # statements that ran, each database counted
    defects: list[Defect] = field(default_factory=list)


class Bench:
    """A schema with all its databases, its secrets, and a gateway with a role for each secret."""

    def __init__(
        self,
        schema: Schema,
        lab: Laboratory,
        folder: Path,
        *,
        closed: bool,
        url: str | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        self.schema, self.lab, self.closed = schema, lab, closed
        self.dialect = "duckdb" if url is None else "postgres"
        self.secrets = dict(secrets or secrets_of(schema))
        self.relations = {table.name: _relation(table, closed=closed) for table in schema.tables}
        self.readings = {
            name: read(sql, self.relations, name=name, dialect=self.dialect)
            for name, sql in self.secrets.items()
        }
        self.decider = _decider(schema, self.secrets, folder, closed=closed, url=url)
        self.judge = SecretJudge(self.relations)
        self.facts = facts_of(lab)

    @cached_property
    def critical(self) -> dict[str, frozenset[int]]:
        """The rows that matter to each secret."""
        return {
            name: critical(self.lab, self.lab.one_by_one(sql)) for name, sql in self.secrets.items()
        }

    def statement(self, sql: str, roles: Sequence[str] | None = None) -> Outcome:
        """Judge a statement; the gateway is asked for these roles, or for those whose secret it
        is said to keep and one more.
        """
        outcome = Outcome()
        asked = _Asked(self, sql, outcome)
        if asked.runs():
            asked.read()
            asked.run()
            asked.gateway(roles)
        return outcome


@dataclass
class _Asked:
    bench: Bench
    sql: str
    outcome: Outcome
    reading: Any = None
    kept: list[str] = field(default_factory=list)  # the secrets for which it is said to hold
    breached: list[str] = field(
        default_factory=list
    )  # those for which both are exact, and it is said to be breached

    def defect(self, kind: str, about: str) -> None:
        self.outcome.defects.append(Defect(kind, self.sql, about))

    def read(self) -> None:
        """What Tacit reads and says."""
        bench = self.bench
        try:
            self.reading = read(self.sql, bench.relations, name="view", dialect=bench.dialect)
        except QueryError as error:
            self.outcome.read = f"refused: {error.code}"
            return None
        except Exception as error:
            self.outcome.read = "crashed"
            return self.defect("crash", f"{type(error).__name__}: {error}")
        self.outcome.read = "exactly" if self.reading.is_exact else "by supports"
        for name, secret in bench.readings.items():
            found = (
                PerfectPrivacy(seconds=SECONDS)
                .decide(
                    QueryQuestion(secret, (self.reading,), bench.relations, bench.dialect),
                    bench.judge,
                )
                .found
            )
            if isinstance(found, Private):
                self.kept.append(name)
                self.outcome.verdicts["holds"] += 1
            elif isinstance(found, Disclosed) and secret.is_exact and self.reading.is_exact:
                self.breached.append(name)
                self.outcome.verdicts["breached"] += 1
            else:
                self.outcome.verdicts[
                    "may depend on a common row" if isinstance(found, Disclosed) else "undecided"
                ] += 1
        return None

    def runs(self) -> bool:
        """Does the engine answer at all, on the least database or on the largest?"""
        lab = self.bench.lab
        first = lab.one_by_one(self.sql, [0, len(lab.databases) - 1])
        self.outcome.executed += 2
        self.outcome.runs = any(one[0] != "error" for one in first)
        if not self.outcome.runs:
            self.outcome.read, self.outcome.error = (
                "not run by the engine",
                " ".join(first[0][1:])[:100],
            )
        return self.outcome.runs

    def run(self) -> None:
        """What the engine answers, where it can prove somebody wrong."""
        lab = self.bench.lab
        if self.reading is None or not (self.kept or self.reading.is_exact):
            return None
        answers = bags(lab.one_by_one(self.sql, ordered=False))
        self.outcome.executed += len(answers)
        rows = critical(lab, answers)
        for name in self.kept:
            if disclosed(lab, self.bench.critical[name], rows):
                return self.defect(
                    "holds, and discloses",
                    f"{self.bench.secrets[name]}: {self._apart(answers, name)}",
                )
        if self.reading.is_exact:
            self._exactly(answers)
        for name in self.breached:
            if (
                self.bench.closed
                and None not in answers
                and not disclosed(lab, self.bench.critical[name], rows)
            ):
                return self.defect("breached, and discloses nothing", self.bench.secrets[name])
        return None

    def _apart(self, answers: Sequence[Any], name: str) -> str:
        lab = self.bench.lab
        tied = {lab.component[row] for row in self.bench.critical[name]}
        return shown_apart(
            lab,
            answers,
            frozenset(row for row in range(len(lab.possible)) if lab.component[row] in tied),
        )

    def _exactly(self, answers: Sequence[Counter[Any] | None]) -> None:
        for facts, answer in zip(self.bench.facts, answers, strict=True):
            said = Counter(
                {
                    tuple(f"{type(one).__name__} {one!r}" for one in row): count
                    for row, count in evaluated(self.reading.exact, facts).items()
                }
            )
            if answer is not None and plain(answer) != plain(said):
                return self.defect(
                    "read exactly, and answers differ",
                    f"on {sorted(facts, key=str)}: engine {dict(answer)}, reading {dict(said)}",
                )
        return None

    def gateway(self, roles: Sequence[str] | None) -> None:
        """What the gateway allows, and what runs then."""
        names = list(self.bench.secrets)
        some = hash_of(self.sql)
        asked = list(self.kept[some % max(len(self.kept), 1) :][:1] if roles is None else roles)
        if roles is None and some % 8 == 0:  # one of which nothing is known
            asked.append(names[some // 8 % len(names)])
        for role in asked:
            try:
                decision = self.bench.decider.decide(role, self.sql)
            except Exception as error:
                self.outcome.gateway["crashed"] += 1
                return self.defect("gateway crashes", f"{type(error).__name__}: {error}")
            self.outcome.gateway["allowed" if decision.allowed else "refused"] += 1
            if decision.allowed and self._answered(role, decision.sql or ""):
                return None
        return None

    def _answered(self, role: str, runs: str) -> bool:
        lab = self.bench.lab
        answers = lab.one_by_one(runs, ordered=True)
        self.outcome.executed += len(answers)
        if disclosed(lab, self.bench.critical[role], critical(lab, answers)):
            self.defect(
                "allowed, and discloses",
                f"{self.bench.secrets[role]}: runs {runs}: {self._apart(answers, role)}",
            )
            return True
        return False


def plain(rows: Counter[Any]) -> Counter[Any]:
    """Rows with numbers as numbers: 1 and 1.0 are the same.

    >>> plain(Counter({("int 1", "Decimal Decimal('1.0')"): 2}))
    Counter({('1', '1'): 2})
    """
    found: Counter[Any] = Counter()
    for row, count in rows.items():
        found[
            tuple(
                re.sub(
                    r"^(?:int|float|Decimal) (?:Decimal\(')?(-?\d+)(?:\.0+)?(?:'\))?$", r"\1", one
                )
                for one in row
            )
        ] += count
    return found


def hash_of(text: str) -> int:
    """A number for a text, the same in every run.

    >>> hash_of("ab")
    195
    """
    return sum(map(ord, text))


def _relation(table: Table, *, closed: bool) -> Relation:
    return Relation(
        table.name,
        tuple(column.name for column in table.columns),
        table.keys,
        domains={
            column.name: tuple(value for value in column.values if value is not None)
            for column in table.columns
        }
        if closed
        else {},
        nullable=frozenset(column.name for column in table.columns if column.nullable),
        kinds={column.name: column.type for column in table.columns},
    )


def _decider(
    schema: Schema, secrets: Mapping[str, str], folder: Path, *, closed: bool, url: str | None
) -> Decider:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "tacit.yaml"
    tables = {
        table.name: _planned(table, closed=closed, rows=url is None) for table in schema.tables
    }
    roles = {name: {"default": "allow", "deny": [name]} for name in secrets}
    file.write_text(
        json.dumps(
            {
                "version": 1,
                "source": url or ".",
                "tables": tables,
                "secrets": dict(secrets),
                "roles": roles,
            }
        )
    )
    plan = load_plan(file)
    with open_engine(plan.source, folder) as engine:
        return Decider(policy_of(plan, engine), seconds=SECONDS)


def _planned(table: Table, *, closed: bool, rows: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "columns": {column.name: column.type for column in table.columns},
        "nullable": [column.name for column in table.columns if column.nullable],
        **({"rows": []} if rows else {}),  # nothing may depend on them
    }
    if closed:
        found["domains"] = {
            column.name: [value for value in column.values if value is not None]
            for column in table.columns
        }
    if table.keys:
        found["key"] = list(table.keys[0])
    return found
