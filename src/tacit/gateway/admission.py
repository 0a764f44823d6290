"""Admission: what all doors of the gateway share between who asks and the bytes that go out: the
decision, the place where the query runs, and what is written down about both.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.engines.sql.one_select import one_select, tables_in
from tacit.engines.streams import LongRow
from tacit.errors import EngineError, TacitError
from tacit.gateway.http.auth import role_of
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.history import facts
from tacit.gateway.policy.refusals import Refusal, busy
from tacit.gateway.query_runs import Gone, RunningAnswer, Unreachable
from tacit.gateway.turns import TooMuch

if TYPE_CHECKING:
    from tacit.gateway.cache import Decided
    from tacit.gateway.gateway import Gateway, InForce
    from tacit.gateway.http.formats import Encoder, Piece
    from tacit.gateway.http.requests import GatewayRequest
    from tacit.ledger.digests import AnswerDigest
    from tacit.ledger.users import User

MOST_RECORDED = 16 << 20  # bytes of an answer that is held until it is in the ledger


@dataclass(slots=True)
class Admitted:
    """A request that was let in, and what was decided on it. `path` is the door."""

    path: str
    now: InForce
    user: User
    role: str
    asked: GatewayRequest
    decided: Decided
    cached: bool
    began: float
    address: str | None
    id: str
    session: Hashable

    def remember(self, rows: Iterable[Sequence[Any]]) -> None:
        """The user got these rows."""
        found = facts(self.decided.decision.trace, rows)
        self.now.sessions.put(self.session, found)

    def milliseconds(self) -> float:
        """The time since the request came."""
        return round((time.perf_counter() - self.began) * 1000, 3)


async def admitted(
    gateway: Gateway,
    now: InForce,
    user: User,
    asked: GatewayRequest,
    *,
    path: str,
    address: str | None,
    began: float,
) -> Admitted:
    """Have decided what a user asks."""
    role = role_of(user, asked.role, now.policy.roles)
    asker = Asker(user.name, dict(user.attributes))
    session = (user.name, user.added, role, asked.session)
    with limited(gateway):
        gateway.quotas.enter(user.name)
        decided, cached = await gateway.decide_in_session(now, role, asked, asker, session)
    if user.issuer is None:
        now.last_used.mark(user.name)
    gateway.metrics.decision(decided.decision.code, cached, time.perf_counter() - began)
    number = secrets.token_hex(8)
    return Admitted(path, now, user, role, asked, decided, cached, began, address, number, session)


def event_of(gateway: Gateway, one: Admitted) -> dict[str, Any]:
    """A decision as the audit log has it."""
    full = gateway.options.audit_queries == "full"
    decision = one.decided.decision
    return {
        "event": "decision",
        "id": one.id,
        "path": one.path,
        "user": one.user.name,
        "role": one.role,
        "address": one.address,
        "query": one.asked.sql if full else one.decided.redacted,
        "parameters": one.asked.parameters if full else len(one.asked.parameters),
        "decision": "allowed" if decision.allowed else "refused",
        "code": decision.code,
        "secret": decision.secret,
        "cached": one.cached,
        "milliseconds": one.milliseconds(),
    }


@contextmanager
def limited(gateway: Gateway) -> Iterator[None]:
    """Count what is refused because a user has had their share."""
    try:
        yield
    except TooMuch as refusal:
        gateway.metrics.limited(refusal.limit)
        raise


@contextmanager
def explained(gateway: Gateway) -> Iterator[None]:
    """What goes wrong with the database, as a Refusal; its cause is for the operator."""
    try:
        yield
    except Unreachable as error:
        gateway.tell(f"The database cannot be asked: {error}")
        raise busy("database", "the database cannot be reached.", 10) from None
    except LongRow as error:
        raise Refusal(400, "answer-bytes", error.message, hint=error.hint) from None
    except EngineError as error:
        raise Refusal(400, "database", error.message, hint=error.hint) from None


def unrecorded(why: str) -> Refusal:
    """What is refused because answers of the role are recorded, whole, before they are sent."""
    return Refusal(
        400,
        "answer-recorded",
        f"answers to this role are recorded, and this one cannot be: {why}",
        hint="Ask for less, in the query itself.",
    )


class Run:
    """An allowed query while it runs. `end` frees its place and writes down how it ended."""

    def __init__(self, gateway: Gateway, one: Admitted, answer: RunningAnswer) -> None:
        self.answer = answer
        self.outcome = "fault"
        self._held: deque[Piece] | None = None  # of an answer that is recorded first
        self._gateway = gateway
        self._one = one
        self._began = time.perf_counter()
        self._size = 0

    @classmethod
    async def begin(
        cls,
        gateway: Gateway,
        one: Admitted,
        encoder: Encoder,
        gone: asyncio.Future[None],
        *,
        limit: int,
        seconds: float,
    ) -> Run:
        """Take a place for it; a Refusal where there is none."""
        sql = one.decided.decision.sql
        assert sql is not None
        with limited(gateway):
            answer = await one.now.places.begin(sql, encoder, limit, seconds, gone, one.user.name)
        if one.asked.session is not None and one.decided.decision.trace:
            answer.seen = []
        if one.now.plan.roles[one.role].record == "answers":
            answer.digest = one.now.book.digest(len(one.decided.decision.columns))
        return cls(gateway, one, answer)

    async def next(self) -> Piece | None:
        """The next piece, None after the last; what goes wrong is a Refusal, or Gone."""
        try:
            with explained(self._gateway):
                if self.answer.digest is not None:
                    return await self._recorded_next(self.answer.digest)
                piece = await self.answer.next()
            if piece is not None:
                self._count(sum(memoryview(part).nbytes for part in piece))
            return piece
        except Refusal as refusal:
            if refusal.code == "cost":
                self._gateway.metrics.limited("cost")
            unreached = refusal.code == "database" and refusal.status == 503
            self.outcome = "unreachable" if unreached else refusal.code
            raise
        except Gone:
            self.outcome = "left"
            raise

    async def _recorded_next(self, digest: AnswerDigest) -> Piece | None:
        """The next piece of an answer that is in the ledger before any of it is sent."""
        if self._held is None:
            held: deque[Piece] = deque()
            while (piece := await self.answer.next()) is not None:
                self._count(sum(memoryview(part).nbytes for part in piece))
                held.append(piece)
                if self._size > MOST_RECORDED:
                    raise unrecorded(f"it has more than {MOST_RECORDED} bytes.")
            if self.answer.truncated:
                raise unrecorded("rows of it would be left out.")
            await self._record(digest)
            self._held = held
        return self._held.popleft() if self._held else None

    async def _record(self, digest: AnswerDigest) -> None:
        one = self._one
        sql, dialect = one.decided.decision.sql, one.now.policy.dialect
        assert sql is not None

        def write(sql: str) -> None:
            tables = sorted(tables_in(sql, dialect) & set(one.now.plan.tables))
            if tables:  # or it says nothing
                one.now.book.record(one.user.name, one_select(sql, dialect), tables, digest)

        try:
            await asyncio.to_thread(write, sql)
        except TacitError as error:
            self._gateway.tell(f"An answer cannot be recorded, and was not sent: {error}")
            raise busy("ledger", "the answer cannot be recorded, so it is not given.", 10) from None

    def _count(self, size: int) -> None:
        """Bytes that are about to be sent; a Refusal where the answer has more than it may."""
        self._size += size
        with limited(self._gateway):
            self._gateway.quotas.sent(self._one.user.name, size)
        most = self._gateway.options.answer_bytes
        if most is not None and self._size > most:
            self._gateway.metrics.limited("answer")
            raise Refusal(
                400,
                "answer-bytes",
                f"the answer has more than {most} bytes.",
                hint="Ask for less, or ask the owner to raise --answer-bytes.",
            )

    def finished(self) -> None:
        """All of it was sent."""
        self._one.remember(self.answer.seen or ())
        self.outcome = "truncated" if self.answer.truncated else "complete"

    async def end(self) -> None:
        """Free the place, whether the query is finished or not."""
        one, answer, gateway = self._one, self.answer, self._gateway
        await asyncio.shield(asyncio.ensure_future(one.now.places.end(answer)))
        event = {
            "event": "answer",
            "id": one.id,
            "user": one.user.name,
            "outcome": self.outcome,
            "rows": answer.rows,
            "milliseconds": one.milliseconds(),
        }
        gateway.quotas.ran(one.user.name, time.perf_counter() - self._began)
        gateway.audit.put(event)
        gateway.metrics.query(self.outcome, answer.rows, time.perf_counter() - one.began)
