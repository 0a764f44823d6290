"""Decisions in processes of their own: a query that is hard to judge holds up nobody and is cut
short at its time.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

from tacit.errors import EngineError
from tacit.gateway.policy.refusals import busy
from tacit.gateway.turns import Turns

if TYPE_CHECKING:
    from tacit.families.queries.query import Conjunctive
    from tacit.gateway.policy.asker import Asker
    from tacit.gateway.policy.decisions import Decision
    from tacit.gateway.policy.policy import GatewayPolicy

DECIDER = "tacit.gateway.policy.decisions:Decider"
START_SECONDS = 60.0
MOST_WAITING = 1_000
MOST_MEMORY = (
    4 << 30
)  # bytes of address space: beyond it a decision fails, and the machine does not
READY = "ready"


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    """What a process answers: the decision (None where it was cut short), and the query as a log
    may show it.
    """

    decision: Decision | None
    redacted: str


class Workers:
    """Some processes that each hold the policy; the next free one takes the next question."""

    def __init__(
        self,
        policy: GatewayPolicy,
        count: int,
        seconds: float,
        *,
        decider: str = DECIDER,
        replaced: Callable[[], None] = lambda: None,
        each: int | None = None,
    ) -> None:
        self._seconds = seconds
        self._replaced = replaced
        self._policy = policy
        self._decider = decider
        self._free: queue.SimpleQueue[DecisionWorker] = queue.SimpleQueue()
        self._all: set[DecisionWorker] = set()
        self._waiting = 0
        self._closed = False
        self.turns: Turns[int] = Turns("processes that decide", each or max(1, count // 2))
        for number in range(count):
            self.turns.add(number)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="tacit-decide")
        for _ in range(count):
            self._free.put(self._new())

    def wait_until_ready(self) -> None:
        """Wait for the processes to have read the policy; an EngineError if one cannot start."""
        for worker in list(self._all):
            if not worker.is_ready(START_SECONDS):
                self.close()
                raise EngineError(
                    "a process that decides could not be started.", hint="Is there enough memory?"
                )

    @property
    def alive(self) -> bool:
        """Is there a process that decides?"""
        return not self._closed and any(worker.is_alive() for worker in list(self._all))

    @asynccontextmanager
    async def turn(self, user: str) -> AsyncIterator[None]:
        """Wait until it is a user's turn to have something decided; theirs until the end."""
        mine = await self.turns.take(user)
        try:
            yield
        finally:
            self.turns.give(user, mine)

    async def judge(
        self,
        role: str,
        sql: str,
        parameters: Sequence[Any] | Mapping[str, Any],
        asker: Asker | None = None,
        history: Sequence[Conjunctive] | None = None,
        spoken: str | None = None,
    ) -> WorkerAnswer:
        """Have a free process decide; `decision` is None where it took
        too long, or died of the query.
        """
        if self._waiting >= MOST_WAITING or self._closed:
            raise busy("busy", "too many queries wait for a decision.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, self._ask, (role, sql, parameters, asker, history, spoken)
            )
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """End the processes, also in the middle of a decision."""
        self._closed = True
        for worker in list(self._all):
            worker.end()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ask(self, question: tuple[Any, ...]) -> WorkerAnswer:
        worker = self._free.get()
        try:
            answer = worker.ask(question, self._seconds)
            if answer is not None:
                return answer
            if not self._closed:
                worker = self._replace(worker)
            return WorkerAnswer(None, "(not read: the decision was cut short)")
        finally:
            self._free.put(worker)

    def _replace(self, worker: DecisionWorker) -> DecisionWorker:
        self._replaced()
        worker.end()
        self._all.discard(worker)
        worker = self._new()
        if self._closed:
            worker.end()
        return worker

    def _new(self) -> DecisionWorker:
        worker = DecisionWorker(self._policy, self._decider)
        self._all.add(worker)
        return worker


class DecisionWorker:
    """One process, and the line to it."""

    def __init__(self, policy: GatewayPolicy, decider: str) -> None:
        context = multiprocessing.get_context(
            "spawn"
        )  # a copy of this process would hold its threads' locks
        self._line, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, policy, decider), name="tacit-decide", daemon=True
        )
        self._process.start()
        theirs.close()
        self._ready = False

    def is_ready(self, seconds: float) -> bool:
        """Has the process read the policy? Waits for it."""
        if not self._ready:
            with suppress(EOFError, OSError):
                self._ready = self._line.poll(seconds) and self._line.recv() == READY
        return self._ready

    def is_alive(self) -> bool:
        """Is the process there?"""
        return self._process.is_alive()

    def ask(self, question: tuple[Any, ...], seconds: float) -> WorkerAnswer | None:
        """The answer, or None where the process hangs or is gone."""
        try:
            if not self.is_ready(START_SECONDS):
                return None
            self._line.send(question)
            if wait([self._line, self._process.sentinel], seconds) and self._line.poll():
                answer = self._line.recv()
                return answer if isinstance(answer, WorkerAnswer) else None
        except (EOFError, OSError):
            pass
        return None

    def end(self) -> None:
        """Kill the process and forget it."""
        with suppress(OSError, ValueError, AttributeError):
            self._process.kill()
            self._process.join(5)
        with suppress(OSError):
            self._line.close()


def work(line: Connection, policy: GatewayPolicy, decider: str) -> None:
    """What a process does: decide one query after the other, until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    module, _, name = decider.partition(":")
    decide = getattr(importlib.import_module(module), name)(policy)
    from tacit.engines.sql import shapes
    from tacit.gateway.policy.redaction import known_names, redact

    names = known_names(policy.relations, policy.views)
    limit_memory()
    for role in list(policy.roles)[
        :1
    ]:  # what is imported late is imported before somebody waits for it
        decide.decide(role, shapes.ANYTHING, ())
    line.send(READY)
    while True:
        try:
            role, sql, parameters, *more = line.recv()
        except (EOFError, OSError):
            return
        try:
            answer = WorkerAnswer(
                decide.decide(role, sql, parameters, *more),
                redact(sql, (more[2] if more else None) or policy.dialect, names),
            )
        except (Exception, RecursionError):  # a decision that fails is no permission
            answer = WorkerAnswer(None, "(not read: the decision failed)")
        line.send(answer)


def end_with_parent() -> None:
    """End when the server is gone, also in the middle of a decision."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def limit_memory() -> None:
    """Keep a decision from taking all memory of the machine, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(hard, MOST_MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
