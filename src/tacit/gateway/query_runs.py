"""Runs of allowed queries: a few at a time, each in a place of its own, stopped when its time is
up or nobody listens.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.engines.streams import AnswerStream, LongRow, Stopped
from tacit.errors import EngineError, TacitError
from tacit.gateway.http.compact import compact
from tacit.gateway.http.even_batches import even, even_bytes, text_bytes
from tacit.gateway.http.formats import CsvEncoder, Part, Piece
from tacit.gateway.policy.refusals import Refusal, busy
from tacit.gateway.turns import NOBODY, Turns

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.gateway.http.formats import Encoder
    from tacit.ledger.digests import AnswerDigest

Found = TypeVar("Found")

MOST_BYTES = 4 << 20  # of rows that are encoded at once
ENCODERS = (
    2  # threads of one answer: more would only wait for its one reader, or take cores from others
)
MOST_SEEN = 100  # rows of an answer that a session remembers
STOP_SECONDS = 30.0  # for an engine to give up; then its place is not used again
STEP = 0.1


class Gone(Exception):
    """The client has left."""


class Unreachable(Exception):
    """There is no database to ask; the cause is for the operator."""


class QuerySlot:
    """Where one query runs at a time: a thread, and the engine that it talks to.

    An engine that takes several queries at once (`shared`) is not the place's to close.
    """

    def __init__(self, number: int, open_engine: Callable[[], Engine], *, shared: bool) -> None:
        self._open = open_engine
        self._shared = shared
        self._engine: Engine | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"tacit-query-{number}")

    def do(self, work: Callable[[], Found]) -> asyncio.Future[Found]:
        """Have the place's thread do something."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    def engine(self) -> Engine:
        """The engine; opened where there is none. For the place's thread."""
        if self._engine is None:
            try:
                self._engine = self._open()
            except TacitError as error:
                raise Unreachable(str(error)) from None
        return self._engine

    def is_broken(self) -> bool:
        """Has the engine lost its database? For the place's thread."""
        return self._engine is not None and self._engine.is_lost()

    def forget(self) -> None:
        """Use another engine from now on. For the place's thread."""
        engine, self._engine = self._engine, None
        if engine is not None and not self._shared:
            with suppress(Exception):
                engine.close()

    def close(self) -> None:
        """Let the engine go when the thread has nothing else to do."""
        with suppress(RuntimeError):
            self._thread.submit(self.forget)
        self._thread.shutdown(wait=False)


class Places:
    """All places of one policy's source. Who finds none free waits, and is sent away after some
    time. One user has at most `each` of them (None: half).
    """

    def __init__(
        self,
        count: int,
        wait: float,
        open_engine: Callable[[], Engine],
        *,
        shared: Engine | None = None,
        each: int | None = None,
        most_cell: int | None = None,
        most_row: int | None = None,
        most_work: float | None = None,
    ) -> None:
        self._wait = wait
        self._most_cell = most_cell
        self._most_row = most_row
        self._most_work = most_work
        self._open = open_engine if shared is None else lambda: shared
        self._shared = shared
        self._numbers = iter(range(1_000_000_000))
        self._turns: Turns[QuerySlot] = Turns("places for queries", each or max(1, count // 2))
        self._all: set[QuerySlot] = set()
        self._answers: set[RunningAnswer] = set()
        self._closed = False
        for _ in range(count):
            self._add()

    @property
    def running(self) -> int:
        """How many queries run."""
        return len(self._answers)

    @property
    def free(self) -> int:
        """How many places nobody has taken."""
        return self._turns.free

    @property
    def waiting(self) -> int:
        """How many queries wait for a place."""
        return self._turns.waiting

    async def begin(
        self,
        sql: str,
        encoder: Encoder,
        limit: int,
        seconds: float,
        gone: asyncio.Future[None],
        user: str = NOBODY,
    ) -> RunningAnswer:
        """Take a place for a query of a user when it is their turn, or raise a Refusal when there
        is none in time; Gone when the client leaves meanwhile.
        """
        if self._closed:
            raise closed()
        place = await self._turns.take(user, self._wait, gone)
        if place is None:
            raise Gone
        if self._closed:
            self._turns.give(user, place)
            raise closed()
        answer = RunningAnswer(place, sql, encoder, limit, seconds, gone)
        answer.user = user
        answer.most_cell = self._most_cell
        answer.most_row = self._most_row
        answer.most_work = self._most_work
        self._answers.add(answer)
        return answer

    async def end(self, answer: RunningAnswer) -> None:
        """End a query, whether it is finished or not, and free its place."""
        try:
            usable = await answer.end()
        finally:
            self._answers.discard(answer)
        if usable and not self._closed:
            self._turns.give(answer.user, answer.place)
            return
        self._turns.give(answer.user, None)
        self._all.discard(answer.place)
        answer.place.close()
        if not self._closed:
            self._add()
        self._close_shared()

    def shut(self) -> None:
        """Take no more queries."""
        self._closed = True

    def close(self) -> None:
        """Stop what runs, and let the engines go.
        May take a while, so it is for a thread of its own.
        """
        self.shut()
        for answer in list(self._answers):
            answer.stop()
        busy_places = {answer.place for answer in self._answers}
        for place in self._all - busy_places:
            place.close()
        self._close_shared()

    def _close_shared(self) -> None:
        if self._closed and not self._answers and self._shared is not None:
            self._shared.close()

    def _add(self) -> None:
        place = QuerySlot(next(self._numbers), self._open, shared=self._shared is not None)
        self._all.add(place)
        self._turns.add(place)


class RunningAnswer:
    """One query and its answer, a piece at a time.
    `rows` and `truncated` are final when `next` has given None.
    """

    def __init__(
        self,
        place: QuerySlot,
        sql: str,
        encoder: Encoder,
        limit: int,
        seconds: float,
        gone: asyncio.Future[None],
    ) -> None:
        self.place = place
        self.user = NOBODY
        self.rows = 0
        self.truncated = False
        self.seen: list[tuple[Any, ...]] | None = None  # rows that were sent, where they are kept
        self.digest: AnswerDigest | None = None  # of rows that were sent, where it is wanted
        self.most_cell: int | None = None  # bytes of one text
        self.most_row: int | None = None  # bytes of one row
        self.most_work: float | None = None  # that the engine may expect
        self.stopped = False
        self._sql = sql
        self._encoder = encoder
        self._limit = limit
        self._seconds = (
            seconds  # that the engine may still work; while the client reads the time stands still
        )
        self._gone = gone
        self._stream: AnswerStream | None = None
        self._pieces = self._made()
        self._working: asyncio.Future[Piece | None] | None = None
        self._since = 0.0

    def work(self) -> None:
        """Start on the next piece, if nothing is being done."""
        if self._working is None:
            self._since = time.monotonic()
            self._working = self.place.do(lambda: next(self._pieces, None))

    async def next(self) -> Piece | None:
        """The next piece, None after the last; a Refusal when the time is up, EngineError, Gone
        when the client has left.
        """
        self.work()
        working = self._working
        assert working is not None
        if not working.done():
            asked = time.monotonic()
            both: set[asyncio.Future[Any]] = {working, self._gone}
            await asyncio.wait(
                both, timeout=max(0.0, self._seconds), return_when=asyncio.FIRST_COMPLETED
            )
            # What was done while the client took the piece before counts as nothing;
            # what we waited for counts.
            self._seconds -= time.monotonic() - asked
        if self._gone.done():
            raise Gone
        if not working.done():
            raise Refusal(
                504,
                "timeout",
                "the database did not answer in time.",
                hint="Ask for less, or ask the owner to raise --timeout.",
            )
        self._working = None
        try:
            return working.result()
        except Stopped:
            raise closed() from None

    def stop(self) -> None:
        """Have the engine give up, if it has begun. Harmless at any time."""
        self.stopped = True
        if self._stream is not None:
            with suppress(Exception):
                self._stream.stop()

    async def end(self) -> bool:
        """End the query; can its place be used again?"""
        until = time.monotonic() + STOP_SECONDS
        while self._working is not None and not self._working.done():
            await asyncio.to_thread(
                self.stop
            )  # again and again: an engine between two steps does not hear it
            await asyncio.wait({self._working}, timeout=STEP)
            if time.monotonic() > until:
                return False
        if self._working is not None:
            self._working.exception()  # nobody asks for it any more
        try:
            await self.place.do(self._close)
        except Exception:
            return False
        return True

    def _made(self) -> Generator[Piece, None, None]:
        """The pieces, made in the place's thread. The end is part of the last one, so that a
        small answer is one piece.
        """
        stream = self._begun()
        held: Piece = [self._encoder.start(stream.schema)]
        if not self._encoder.rows_wanted:
            yield held
            return
        csv = isinstance(self._encoder, CsvEncoder) and not self._encoder.harmless
        looked_at = self.seen is not None or self.digest is not None
        as_it_is = stream.writes_csv and csv and not looked_at
        pieces: Iterator[Sequence[Part]] = (
            even_bytes(self._lines(stream))
            if as_it_is
            else self._encoded(self._batches_to_limit(stream))
        )
        for number, piece in enumerate(pieces):
            if number:
                yield held
                held = []
            held += piece
        yield [*held, self._encoder.end(self.truncated)]

    def _batches_to_limit(self, stream: AnswerStream) -> Iterator[Any]:
        """The batches up to the limit, in small parts.
        From here on nothing is left of other rows, so that no encoder can tell of them.
        """
        for batch in even(stream):
            wanted = min(batch.num_rows, self._limit - self.rows)
            self.rows += wanted
            if wanted:
                kept = compact(batch.slice(0, wanted))
                check_cells(kept, self.most_cell)
                check_rows(kept, self.most_row)
                self._see(kept)
                yield from small(kept)
            if wanted < batch.num_rows:
                self.truncated = True
                return

    def _see(self, batch: Any) -> None:
        """Keep the first rows that are sent, or sum all of them up, where that is asked for."""
        if self.seen is not None and (left := MOST_SEEN - len(self.seen)) > 0:
            self.seen += rows_of(batch.slice(0, left))
        if self.digest is not None:
            for row in rows_of(batch):
                self.digest.add(row)

    def _encoded(self, batches: Iterator[Any]) -> Iterator[Piece]:
        """The batches as bytes, in order. After the first, a few are encoded at the same time:
        Arrow needs no lock of Python.
        """
        for first in itertools.islice(batches, 1 if self._encoder.costly else None):
            yield self._encoder.batch(first)
        with ThreadPoolExecutor(ENCODERS, thread_name_prefix="tacit-encode") as encoders:
            begun: deque[Future[Piece]] = deque()
            for batch in batches:
                begun.append(encoders.submit(self._encoder.batch, batch))
                if len(begun) > ENCODERS:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()

    def _lines(self, stream: AnswerStream) -> Iterator[bytes | bytearray]:
        """The lines that the engine itself writes, up to the limit."""
        for lines, rows in stream.csv(self._limit):
            if self.rows + rows > self._limit:
                self.truncated = True
                return
            self.rows += rows
            if self.most_cell is not None and len(lines) > self.most_cell * max(1, rows):
                raise cell_too_large(self.most_cell)
            yield lines

    def _begun(self) -> AnswerStream:
        """The query, begun; once more where the database was restarted since the last one."""
        for again in (True, False):
            if self.stopped:
                raise Stopped
            self._stream = stream = self.place.engine().stream(self._sql)
            stream.most_row = self.most_row
            try:
                self._check_work(stream)
                stream.begin() if self._encoder.rows_wanted else stream.describe()
                break
            except TacitError:
                if not (again and self.place.is_broken()):
                    raise
                self.place.forget()
        return stream

    def _check_work(self, stream: AnswerStream) -> None:
        """Raise a Refusal where the engine expects more work than it may."""
        most, wanted = self.most_work, self._encoder.rows_wanted
        if most is not None and wanted and stream.estimate() > most:
            raise Refusal(
                400,
                "cost",
                "the database expects this query to be more work than it may be.",
                hint="Ask for less, or ask the owner to raise --query-cost.",
            )

    def _close(self) -> None:
        """End the query in its engine. For the place's thread."""
        stream, self._stream = self._stream, None
        try:
            if stream is not None:
                stream.close()
        except Exception:
            self.place.forget()
        if self.place.is_broken():
            self.place.forget()
        with suppress(Exception):
            # ends the threads that encode, here and not in the loop of all clients
            self._pieces.close()


def small(batch: Any) -> Iterator[Any]:
    """A compact batch in parts of at most a few megabytes, so that
    long texts do not fill the memory.
    """
    parts = min(max(1, batch.num_rows), max(1, -(-batch.nbytes // MOST_BYTES)))
    size = -(-batch.num_rows // parts) if parts > 1 else batch.num_rows
    for start in range(0, batch.num_rows, max(1, size)):
        yield batch.slice(start, size) if parts > 1 else batch


def rows_of(batch: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a batch, as values of Python."""
    return zip(*(one.to_pylist() for one in batch.columns), strict=True)


def check_cells(batch: Any, most: int | None) -> None:
    """Raise a Refusal where one text or binary value of the rows is longer than `most` bytes."""
    if most is None or batch.nbytes <= most:
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    is_a = pa.types
    for column in batch.columns:
        kind = column.type
        texts = is_a.is_string(kind) or is_a.is_binary(kind)
        texts |= is_a.is_large_string(kind) or is_a.is_large_binary(kind)
        if texts and (pc.max(pc.binary_length(column)).as_py() or 0) > most:
            raise cell_too_large(most)


def check_rows(batch: Any, most: int | None) -> None:
    """Raise LongRow where an engine that does not look itself gave a row of more bytes."""
    if most is not None and batch.nbytes > most and max(text_bytes(batch), default=0) > most:
        raise LongRow(most)


def cell_too_large(most: int) -> Refusal:
    """A value that is not sent."""
    return Refusal(
        400,
        "answer-bytes",
        f"a value of the answer has more than {most} bytes.",
        hint="Ask for a part of it, or ask the owner to raise --cell-bytes.",
    )


def closed() -> Refusal:
    """The gateway stopped the query itself: the policy changed, or it ends."""
    return busy("policy", "the plan changed or the gateway ends; the query was stopped.")


def check_powers(engine: Engine) -> None:
    """Refuse a user of the database who can do more than read tables."""
    found = engine.powers()
    if found:
        raise EngineError(
            f"the gateway's user of the database {', '.join(found)}.",
            hint=(
                "Connect as a role that may only SELECT from the plan's tables (see the guide "
                "to the gateway), or say --allow-superuser."
            ),
        )
