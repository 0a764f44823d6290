"""Work: a job in a process of its own, with progress, time left and cancel;
it outlives the page that started it.
"""

from __future__ import annotations

import multiprocessing
import secrets
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Literal

from tacit.errors import EngineError, TacitError
from tacit.gateway.http.app import where
from tacit.gateway.workers import end_with_parent
from tacit.model.deadline import until
from tacit.model.jobs import Cancelled, Job

State = Literal["waiting", "running", "done", "failed", "cancelled"]
AT_ONCE = 2
KEPT = 50
GRACE_SECONDS = 3.0  # until work that does not look at its flag is ended
TELL_SECONDS = 0.05
CANCEL = "cancel"
PRELOAD = [
    "tacit.checking.assess",
    "tacit.report.html.page",
    "tacit.engines.duckdb.engine",
    "tacit.workbench.work",
]


class Work:
    """One piece of work. Read its fields from any thread; it changes them itself until `over`."""

    def __init__(
        self,
        kind: str,
        key: str,
        title: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        tell: Callable[[str], None],
    ) -> None:
        self.id = secrets.token_urlsafe(9)
        self.kind, self.key, self.title = kind, key, title
        self.state: State = "waiting"
        self.text, self.share = "waiting for its turn", 0.0
        self.began = time.monotonic()
        self.ended: float | None = None
        self.result: Any = None
        self.error: TacitError | None = None
        self.taken = False  # whether a page has done with the result what was to be done once
        self._function, self._arguments, self._tell = function, arguments, tell
        self._line: Connection | None = None
        self._process: Any = None
        self._cancelled = threading.Event()
        self._settled = False
        self._over = threading.Event()

    @property
    def over(self) -> bool:
        """Has it ended, in whichever way?"""
        return self._over.is_set()

    @property
    def stops(self) -> bool:
        """Was it told to stop, and has not stopped yet?"""
        return self._cancelled.is_set() and not self.over

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return (self.ended or time.monotonic()) - self.began

    @property
    def left(self) -> float | None:
        """The seconds that are left if it goes on like this; None where that cannot be told yet."""
        if self.state != "running" or self.stops or self.share < 0.02 or self.seconds < 1:
            return None
        return self.seconds * (1 - self.share) / self.share

    def cancel(self) -> None:
        """Stop it: at its next step, or by force after a few seconds.
        What it was writing is not left half-done.

        Work that is settled is about to be done, and cannot be stopped any more.
        """
        if self._settled:
            return
        self._cancelled.set()
        if self.state == "running":
            self.text = "stopping"
        with suppress(OSError, ValueError, AttributeError):
            self._line.send(CANCEL)  # type: ignore[union-attr]
        threading.Thread(target=self._force, daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over."""
        return self._over.wait(seconds)

    def run(self) -> None:
        """Start the process and follow it to its end. Blocks."""
        if self._cancelled.is_set():
            return self._end("cancelled")
        context = processes()
        self._line, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, self._function, self._arguments), name="tacit-work"
        )
        self.state, self.text, self.began = "running", "starting", time.monotonic()
        try:
            self._process.start()
            theirs.close()
            self._follow(self._line)
        except (OSError, EOFError):
            self._stopped()
        finally:
            self._process.join(GRACE_SECONDS)
            self._line.close()

    def _follow(self, line: Connection) -> None:
        while True:
            told, *values = line.recv()
            if told == "step":
                self.text, self.share = ("stopping" if self.stops else values[0]), values[1]
            elif told == "settled":
                self._settled = True
            elif told == "done":
                self.result, self.share = values[0], 1.0
                return self._end("done")
            elif told == "cancelled":
                return self._end("cancelled")
            else:
                self.error = values[0]
                if told == "fault":
                    self._tell(values[1])
                return self._end("failed")

    def _stopped(self) -> None:
        if self._cancelled.is_set():
            return self._end("cancelled")
        self.error = EngineError(
            "the work ended before it was done.",
            hint="Is there enough memory? Try it with fewer rows, or on the command line.",
        )
        return self._end("failed")

    def _end(self, state: State) -> None:
        self.state, self.ended = state, time.monotonic()
        self._over.set()

    def _force(self) -> None:
        for end in ("terminate", "kill"):
            if self._over.wait(GRACE_SECONDS) or self._settled:
                return
            with suppress(OSError, ValueError, AttributeError):
                getattr(self._process, end)()


class Works:
    """All work of one plan, the newest first: a reload or a second tab finds it again."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._all: list[Work] = []
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tacit-work")
        self._lock = threading.Lock()

    def start(
        self, kind: str, title: str, function: Callable[..., Any], *arguments: Any, key: str = ""
    ) -> Work:
        """Have `function(job, *arguments)` run in a process of its own;
        it must be importable, and all values picklable.
        """
        work = Work(kind, key, title, function, arguments, self._tell)
        with self._lock:
            running = [one for one in self._all if not one.over]
            ended = [one for one in self._all if one.over]
            self._all = [
                work,
                *sorted([*running, *ended[: KEPT - len(running)]], key=self._all.index),
            ]
        self._threads.submit(work.run)
        return work

    def latest(self, kind: str, key: str = "") -> Work | None:
        """The newest work of a kind about something."""
        return next((one for one in self._all if (one.kind, one.key) == (kind, key)), None)

    def running(self) -> list[Work]:
        """What is not over yet."""
        return [one for one in self._all if not one.over]

    def all(self) -> list[Work]:
        """Everything that is remembered, the newest first."""
        return list(self._all)

    def close(self) -> None:
        """Stop everything."""
        running = self.running()
        for one in running:
            one.cancel()
        for one in running:
            one.wait(3 * GRACE_SECONDS)
        self._threads.shutdown(wait=False, cancel_futures=True)


def processes() -> Any:
    """How processes are started: from one that has everything imported and no threads, where the
    system has such; else anew.

    A copy of this process would hold its threads' locks.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    return context


def get_ready() -> None:
    """Start the process from which others are started, so that the
    first work does not wait for it.
    """
    processes()
    with suppress(ImportError, OSError):
        from multiprocessing import forkserver

        forkserver.ensure_running()


def work(line: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What the process does: the work, and telling how far it is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to handle
    signal.signal(signal.SIGTERM, stop_here)
    threading.Thread(target=end_with_parent, daemon=True).start()
    told = [0.0]

    def tell(text: str, share: float) -> None:
        now = time.monotonic()
        if now - told[0] >= TELL_SECONDS or share >= 1:
            told[0] = now
            line.send(("step", text, share))

    def settled() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        line.send(("settled",))

    job = Job(tell, settled=settled)
    threading.Thread(target=listen, args=(line, job), daemon=True).start()
    line.send(ended(function, job, arguments))


def ended(function: Callable[..., Any], job: Job, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """How the work ended. The text of a fault may hold values of people: only its place is told."""
    try:
        with until(job=job):
            return "done", function(job, *arguments)
    except (Cancelled, KeyboardInterrupt):  # DuckDB answers SIGTERM with the latter
        return ("cancelled",)
    except TacitError as error:
        return "failed", error
    except MemoryError:
        return "failed", EngineError(
            "there is not enough memory for this.", hint="Try it with fewer rows or columns."
        )
    except Exception as error:
        number = secrets.token_hex(6)
        told = f"Fault {number}: {type(error).__name__} in work.{where(error)}"
        return (
            "fault",
            EngineError(
                f"something went wrong here (fault {number}).",
                hint="The terminal of `tacit serve` says where.",
            ),
            told,
        )


def listen(line: Connection, job: Job) -> None:
    """Cancel the job when the server says so."""
    with suppress(EOFError, OSError):
        if line.recv() == CANCEL:
            job.cancel()


def stop_here(number: int, frame: object) -> None:
    """End at once, but clean up on the way."""
    raise Cancelled
