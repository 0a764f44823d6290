"""Trial: the roles of a plan made ready for the owner to try queries in them, and an allowed
query run for its first rows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tacit.engines.open import open_engine
from tacit.engines.streams import Stopped
from tacit.errors import EngineError, InputError, PlanError
from tacit.families.microdata.hierarchy import value_text
from tacit.families.queries.query_parameters import parameters as parameters_in
from tacit.gateway.gateway import prepare
from tacit.gateway.policy.decisions import Decider, Decision
from tacit.gateway.policy.policy import contradictions, unchecked_policy
from tacit.gateway.workers import START_SECONDS, DecisionWorker
from tacit.model.deadline import is_over, until
from tacit.model.jobs import Job
from tacit.plan.plan import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tacit.engines.streams import AnswerStream
    from tacit.gateway.policy.explanations import TriedQuery
    from tacit.gateway.policy.policy import GatewayPolicy
    from tacit.gateway.policy.values import Parameters
    from tacit.plan.plan import Plan

EXPLAINER = "tacit.gateway.policy.explanations:Explainer"
ALL = "all secrets"
MOST_ROWS, MOST_SECONDS = 100, 20.0
MOST_LETTERS = 500  # of a cell
STOP_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class PreparedPolicy:
    """A plan's policy, ready to try queries by.
    `are_roles`: its roles are those of the plan; else there is one for each secret.

    `contradictions` say which allowed views disclose what the same role is denied, by role: the
    gateway would not start with them. `left_out` are secrets that stand for many and cannot be
    tried.
    """

    policy: GatewayPolicy
    are_roles: bool
    contradictions: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of an answer as text, None where a value is missing;
    `more`: there are others.
    """

    decision: Decision
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool
    seconds: float


def with_roles(plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """The plan itself where it has roles; else with a role for each secret that may ask all but
    what says something about it.

    Also the secrets that are left out:
    with parameters they stand for many, and the gateway judges one.
    """
    if plan.roles:
        return plan, ()
    left_out = tuple(name for name, text in plan.secrets.items() if parameters_in(text))
    names = [name for name in plan.secrets if name not in left_out]
    if not names:
        hint = (
            'Add what must stay secret, and who may ask what: secrets: {cancer: "SELECT name '
            'FROM patients WHERE ..."}, roles: {nurses: {default: allow, deny: [cancer]}}.'
        )
        raise PlanError(
            "the plan has neither roles nor secrets that a query could be tried against.",
            hint=hint,
            mark=plan.mark(),
        )
    made = {name: Role(name, "allow", deny=(name,)) for name in names}
    every = (
        {ALL: Role(ALL, "allow", deny=tuple(names))} if len(names) > 1 and ALL not in made else {}
    )
    return replace(plan, roles={**every, **made}), left_out


def prepared(plan: Plan, job: Job | None = None) -> PreparedPolicy:
    """The policy to try queries by. The source is asked for its columns and whether what the
    plan declares is true; no row is shown.
    """
    job = job or Job()
    job.step("reading the tables and the roles", 0.1)
    with_them, left_out = with_roles(plan)
    with open_engine(plan.source, plan.folder) as engine:
        policy = unchecked_policy(with_them, engine)
    job.step("comparing what is allowed with what is denied", 0.5)
    found: dict[str, tuple[str, ...]] = {}
    for one in contradictions(policy):
        found[one.role] = (
            *found.get(one.role, ()),
            f"{one.view} is allowed and {one.said}. {one.why}",
        )
    job.step("done", 1.0)
    return PreparedPolicy(policy, bool(plan.roles), found, left_out)


class Trial:
    """A process that holds a policy and explains decisions, so that the next one takes no time
    to start. `close` ends it.
    """

    def __init__(self, policy: GatewayPolicy, *, seconds: float = 60.0) -> None:
        self.policy = policy
        self.used = time.monotonic()
        self._seconds = seconds
        self._lock = threading.Lock()
        self._worker: DecisionWorker | None = None

    def start(self) -> None:
        """Have the process start; an EngineError where it cannot."""
        with self._lock:
            self._started()

    def ask(self, role: str, sql: str, parameters: Parameters = ()) -> TriedQuery:
        """What comes of a query; an EngineError where that takes too long.
        Blocks: to be asked in a thread.
        """
        self.used = time.monotonic()
        if role not in self.policy.roles:
            raise InputError("the plan has no such role.", hint="Choose one of its roles.")
        with self._lock:
            answer = self._started().ask((role, sql, parameters), self._seconds)
            if answer is None or answer.decision is None:
                self._end()
                raise EngineError(
                    "why this is decided as it is was not found out in time.",
                    hint=(
                        "The gateway refuses what it cannot decide in time. Ask something simpler."
                    ),
                )
            return answer.decision  # type: ignore[return-value]

    def close(self) -> None:
        """End the process, also in the middle of a decision."""
        self._end()

    def _started(self) -> DecisionWorker:
        if self._worker is None:
            self._worker = DecisionWorker(self.policy, EXPLAINER)
        if not self._worker.is_ready(START_SECONDS):
            self._end()
            raise EngineError(
                "a process that decides could not be started.", hint="Is there enough memory?"
            )
        return self._worker

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


def first_rows(
    plan: Plan,
    role: str,
    sql: str,
    parameters: Parameters = (),
    job: Job | None = None,
    *,
    limit: int = MOST_ROWS,
    seconds: float = MOST_SECONDS,
) -> FirstRows:
    """Decide again by the plan as it is now and, if the role may have it, run the query in a
    locked engine for its first rows.
    """
    job, begun = job or Job(), time.monotonic()
    job.step("deciding", 0.1)
    with_them, _ = with_roles(plan)
    with open_engine(plan.source, plan.folder) as engine:
        policy = unchecked_policy(with_them, engine)
        if role not in policy.roles:
            raise InputError(
                "the plan has no such role any more.",
                hint="Choose one of its roles, and decide again.",
            )
        decision = Decider(policy).decide(role, sql, parameters)
        if decision.sql is None:
            return FirstRows(decision, (), (), more=False, seconds=time.monotonic() - begun)
        prepare(engine, plan, seconds)
        job.step("running the query", 0.5)
        stream = engine.stream(decision.sql)
        try:
            with stopped_after(stream, seconds, job):
                columns, rows = read_rows(stream, limit + 1)
        finally:
            stream.close()
    job.step("done", 1.0)
    return FirstRows(
        decision, columns, tuple(rows[:limit]), len(rows) > limit, time.monotonic() - begun
    )


def read_rows(
    stream: AnswerStream, most: int
) -> tuple[tuple[str, ...], list[tuple[str | None, ...]]]:
    """The columns and at most so many rows of an answer, as text."""
    stream.begin()
    rows: list[tuple[str | None, ...]] = []
    for batch in stream:
        wanted = batch.slice(0, most - len(rows))
        columns = [wanted.column(at).to_pylist() for at in range(wanted.num_columns)]
        rows += [tuple(as_text(value) for value in row) for row in zip(*columns, strict=True)]
        if len(rows) >= most:
            break
    return tuple(stream.schema.names), rows


def as_text(value: Any) -> str | None:
    """A value as a page shows it.

    >>> as_text(None), as_text("x" * 501)[-3:]
    (None, '...')
    """
    if value is None:
        return None
    text = value_text(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."


@contextmanager
def stopped_after(stream: AnswerStream, seconds: float, job: Job) -> Iterator[None]:
    """Stop a query when its time is up or the job is cancelled;
    engines hear it only while they work, so they are told again.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(STOP_EVERY):
            if is_over():
                stream.stop()

    with until(seconds, job):
        watching = threading.Thread(target=copy_context().run, args=(watch,), daemon=True)
    watching.start()
    try:
        yield
    except Stopped:
        job.step("stopped", 1.0)  # Cancelled, if that was it
        raise EngineError(
            f"the database did not answer within {seconds:g} seconds.",
            hint="Ask for less. The gateway's own limit is --timeout.",
        ) from None
    finally:
        done.set()
        watching.join()
