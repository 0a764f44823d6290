"""Explanations: a query tried as a role, with all that the decision rests on.
For the owner only: refusals tell clients far less.

Each question that the gateway asks before it answers is a step, in its order: can the query be
read, does it say anything about a secret that the role must not learn, can it fail on rows that
were not judged, does it follow from what the role is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot.errors import SqlglotError

from tacit.errors import EngineError, QueryError
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.explain import Explanation, explained
from tacit.families.queries.logic.covering import covers
from tacit.families.queries.logic.rewriting import rewriting
from tacit.families.queries.query_classes import classes_of
from tacit.families.queries.read import read
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.families.words import listed
from tacit.gateway.policy.bindings import BoundRole
from tacit.gateway.policy.decisions import SECONDS, Decider, Decision
from tacit.gateway.policy.policy import GatewayPolicy, RolePolicy
from tacit.gateway.policy.row_order import orders_by_result
from tacit.gateway.policy.statement import Statement, statement_of
from tacit.gateway.policy.values import Parameters
from tacit.model.deadline import Deadline
from tacit.model.verdict import Verdict

EXPLAIN_SECONDS = (
    12.0  # for the evidence about all secrets of a role; the decision itself has its own limit
)
Outcome = Literal["passed", "refused", "not asked"]


@dataclass(frozen=True, slots=True)
class ExplanationStep:
    """One question of the gateway and how it went, in words."""

    asks: str
    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True)
class SecretExplanation:
    """What a query says about one secret. `verdict` has the evidence;
    it is None where the time for that was up.
    """

    secret: str
    reading: Explanation
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class TriedQuery:
    """A query tried as a role: the gateway's decision, how the query
    was read, and what it rests on.
    """

    role: str
    decision: Decision
    reading: Explanation | None = None
    steps: tuple[ExplanationStep, ...] = ()
    secrets: tuple[SecretExplanation, ...] = ()

    @property
    def in_question(self) -> SecretExplanation | None:
        """The secret for which the query was refused."""
        return next((one for one in self.secrets if one.secret == self.decision.secret), None)


ROWS_FOLLOW = (
    "The rows that it is computed from follow from what the role is allowed, so its answer does."
)


class Explainer:
    """Tries queries by one policy. What it says of a query is what the gateway's decider says;
    the rest is why.
    """

    def __init__(self, policy: GatewayPolicy, *, seconds: float = SECONDS) -> None:
        self.policy = policy
        self.decider = Reasoning(policy, seconds=seconds)
        self.definition = PerfectPrivacy(seconds=seconds)

    def decide(self, role: str, sql: str, parameters: Parameters = ()) -> TriedQuery:
        """The decision with its reasons. Never raises for what somebody
        wrote, and never looks at rows.
        """
        decision = self.decider.decide(role, sql, parameters)
        found = self.decider.read(sql, parameters)
        if found is None:
            return TriedQuery(
                role, decision, None, (ExplanationStep(READ, "refused", decision.message),)
            )
        statement, reading = found
        granted = self.policy.roles[role]
        about = tuple(self._about(granted, statement, reading, decision))
        steps = tuple(self.decider.steps(granted, statement, reading, decision))
        return TriedQuery(role, decision, self._explained(reading), steps, about)

    def _about(
        self,
        role: RolePolicy,
        statement: Statement,
        reading: QueryUnderstanding,
        decision: Decision,
    ) -> Iterator[SecretExplanation]:
        """The evidence about each secret, that of the refusal first."""
        deadline = Deadline(EXPLAIN_SECONDS)
        runnable = self._with_values(statement, reading)
        for name in sorted(role.denied, key=lambda one: one != decision.secret):
            secret = role.denied[name]
            yield SecretExplanation(
                name,
                self._explained(secret),
                None if deadline.is_past() else self._verdict(secret, runnable, reading),
            )

    def _verdict(
        self, secret: QueryUnderstanding, runnable: QueryUnderstanding, reading: QueryUnderstanding
    ) -> Verdict | None:
        try:
            return self.definition.check(self.policy.question(secret, runnable))
        except (EngineError, QueryError):  # the evidence is executed; the decision does without
            return None

    def _with_values(self, statement: Statement, reading: QueryUnderstanding) -> QueryUnderstanding:
        """The query as its text with the values of parameters in place,
        for evidence that is executed.
        """
        try:
            text = statement.tree.sql(dialect=self.policy.dialect, comments=False)
            found = read(
                text, self.policy.relations, name=reading.name, dialect=self.policy.dialect
            )
        except (QueryError, SqlglotError):
            return reading
        return (
            replace(found, approximations=reading.approximations)
            if found.is_exact == reading.is_exact
            else reading
        )

    def _explained(self, reading: QueryUnderstanding) -> Explanation:
        queries = [reading.exact] if reading.exact is not None else list(reading.supports)
        found = {
            query.name: sorted(classes.names) for query in queries if (classes := classes_of(query))
        }
        return explained(reading, self.policy.relations, found)


READ = "Can it be read as one query over the plan's tables?"
SECRETS = "Does it say anything about {secret}?"
FAILS = "Can it fail because of rows that were not judged?"
FOLLOWS = "Does it follow from what the role is allowed?"


class Reasoning(Decider):
    """A decider that also tells its steps, each by the very function that decides."""

    def read(self, sql: str, parameters: Parameters) -> tuple[Statement, QueryUnderstanding] | None:
        """The query as it is judged; None where it cannot be read."""
        try:
            statement = statement_of(
                sql, parameters, self.policy.relations, self.policy.views, self.policy.dialect
            )
            return statement, self._read(statement)
        except (
            QueryError,
            RecursionError,
            SqlglotError,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ):
            return None

    def steps(
        self,
        role: RolePolicy,
        statement: Statement,
        reading: QueryUnderstanding,
        decision: Decision,
    ) -> Iterator[ExplanationStep]:
        """The gateway's questions about a query that was read, up to
        the one at which it was refused.
        """
        yield self._step_read(reading, decision)
        if not decision.allowed and not decision.is_refusal:
            return
        for name, secret in role.denied.items():
            refused = self._says(name, secret, reading)
            said = (
                "No row that this query depends on matters to it."
                if refused is None
                else refused[1]
            )
            yield ExplanationStep(
                SECRETS.format(secret=name), "passed" if refused is None else "refused", said
            )
            if refused is not None:
                return
        if not role.denied:
            yield ExplanationStep(
                "Does it say anything about a secret?", "passed", "This role is denied nothing."
            )
        step = self._step_fails(role, statement, reading)
        yield step
        if step.outcome != "refused":
            yield self._step_follows(role, statement, reading)

    def _step_read(self, reading: QueryUnderstanding, decision: Decision) -> ExplanationStep:
        if (
            not decision.allowed and not decision.is_refusal
        ):  # its order cannot be made certain, for example
            return ExplanationStep(READ, "refused", decision.message)
        if reading.is_exact:
            return ExplanationStep(READ, "passed", "Yes, exactly as it is written.")
        first = reading.approximations[0] if reading.approximations else None
        why = f" {' '.join(first.fragment.split())}: {first.text}." if first else ""
        return ExplanationStep(
            READ,
            "passed",
            f"Yes, though not exactly: it is judged by all rows that FROM and WHERE find.{why}",
        )

    def _step_fails(
        self, role: RolePolicy, statement: Statement, reading: QueryUnderstanding
    ) -> ExplanationStep:
        part = self._may_fail(statement, reading)
        if part is None:
            return ExplanationStep(FAILS, "passed", "No, nothing in it can fail there.")
        refused = self._fails(role, part, self._touched(statement))
        return ExplanationStep(
            FAILS,
            "passed" if refused is None else "refused",
            f"{part} can fail, but this role may know all rows that it could fail on."
            if refused is None
            else refused[1],
        )

    def _step_follows(
        self, role: RolePolicy, statement: Statement, reading: QueryUnderstanding
    ) -> ExplanationStep:
        if role.default == "allow":
            return ExplanationStep(
                FOLLOWS,
                "not asked",
                "Its default is allow: whatever says nothing about a secret is answered.",
            )
        if not self._granted(BoundRole(role, {}), statement, reading):
            known = listed(sorted(role.allowed)) or "nothing"
            return ExplanationStep(
                FOLLOWS, "refused", f"No way was found to compute it from {known}."
            )
        return ExplanationStep(FOLLOWS, "passed", self._how_it_follows(role, statement, reading))

    def _how_it_follows(
        self, role: RolePolicy, statement: Statement, reading: QueryUnderstanding
    ) -> str:
        if set(statement.named) <= set(role.allowed):
            return (
                f"It asks {listed(sorted(statement.named)) or 'no table'}, which the role "
                "is allowed."
            )
        exact = reading.exact
        views = [
            replace(one.exact, name=name)
            for name, one in role.allowed.items()
            if one.exact is not None
        ]
        if exact is None or not orders_by_result(statement.tree):
            return ROWS_FOLLOW
        if (found := covers(exact, views, self.policy.relations)) is not None:
            return f"It can be computed from {listed(list(dict.fromkeys(found)))}, row by row."
        written = rewriting(
            exact, [replace(one, bag=False) for one in views], self.keys, self.policy.relations
        )
        if written is None:
            return ROWS_FOLLOW
        return f"It can be computed from what the role is allowed: {written}"
