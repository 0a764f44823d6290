"""The answer to a query: rows that come over the network, as
Arrow, pandas or Python's own values.
"""

from __future__ import annotations

import io
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError, MissingExtra
from tacit.gateway.client.client_errors import cut_off, explaining, not_a_gateway

if TYPE_CHECKING:
    import httpx
    import pandas
    import pyarrow

ARROW = "application/vnd.apache.arrow.stream"
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # of every stream of Arrow
TRUNCATED = b"tacit.truncated"


class Answer:
    """The rows that answer a query. Read them in one way;
    `arrow`, `pandas` and `rows` keep them, `batches` does not.
    """

    def __init__(self, response: httpx.Response, url: str) -> None:
        self._response = response
        self._url = url
        self._known: pyarrow.Table | None = None
        self._begun = False
        told = response.headers.get("x-tacit-truncated")
        self._truncated: bool | None = None if told is None else told == "true"
        # Who forgets an answer must not keep the gateway's place for it.
        self._close = weakref.finalize(self, response.close)
        self._body = AnswerBytes(response)

    def arrow(self) -> pyarrow.Table:
        """All rows as a table of Arrow."""
        if self._known is None:
            import pyarrow

            batches = list(self._read())
            self._known = pyarrow.Table.from_batches(batches, self._schema)
        return self._known

    def pandas(self) -> pandas.DataFrame:
        """All rows as a data frame of pandas."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            missing = MissingExtra("pandas", extra="client", purpose="data frames")
            missing.hint = "Run: pip install pandas"
            raise missing from None
        return self.arrow().to_pandas()

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as tuples of Python's values:
        int, Decimal, float, str, bool, date, datetime and None.
        """
        table = self.arrow()
        if not table.num_columns:
            return [()] * table.num_rows
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """The rows as record batches of Arrow, some thousand rows at a time.
        None is kept: the memory stays small.

        What was received is good only if the iteration ends without an error:
        it then was all there is.
        """
        if self._known is not None:
            yield from self._known.to_batches()
            return
        yield from self._read()

    @property
    def truncated(self) -> bool:
        """Were rows left out, by `limit` or the gateway's own limit? Where that is not known yet
        it reads the whole answer.
        """
        if self._truncated is None and not self._begun:
            self.arrow()
        if self._truncated is None:
            raise InputError(
                "whether rows were left out is known after the last batch.",
                hint="Read all batches first.",
            )
        return self._truncated

    def close(self) -> None:
        """Leave the rest of the answer; the gateway then stops the query."""
        self._close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        known = "on its way" if self._known is None else f"{self._known.num_rows} rows"
        return f"<Answer from {self._url}: {known}>"

    def _read(self) -> Iterator[pyarrow.RecordBatch]:
        """The batches, once, to the very end of the answer."""
        if self._begun:
            raise InputError(
                "this answer was read already, as batches that are not kept.",
                hint="Ask again, or keep what arrow() gives.",
            )
        self._begun = True
        try:
            with explaining(self._url), self._blaming():
                yield from self._batches()
        finally:
            self._close()

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        from pyarrow import ipc

        reader = ipc.open_stream(io.BufferedReader(self._body, 1 << 20))
        self._schema = reader.schema
        truncated = False
        while True:
            try:
                batch, told = reader.read_next_batch_with_custom_metadata()
            except StopIteration:
                break
            truncated = truncated or bool(told and told.get(TRUNCATED) == b"true")
            if batch.num_rows:
                yield batch
        self._body.finish()
        self._truncated = truncated

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        """What Arrow says of a stream that ends too early, or is none, as what happened."""
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, OSError, EOFError):
            if self._body.error is not None:
                raise self._body.error from None
            raise (
                cut_off(self._url) if self._body.is_arrow else not_a_gateway(self._url)
            ) from None


class AnswerBytes(io.RawIOBase):
    """The bytes of an answer as a file, from the network or from memory;
    it remembers how it ended.
    """

    def __init__(self, response: httpx.Response) -> None:
        super().__init__()
        self._pieces = response.iter_bytes()
        self._left = memoryview(b"")
        self._first = self._last = b""
        self.error: Exception | None = None

    @property
    def is_arrow(self) -> bool:
        """Does it begin as a stream of Arrow does?"""
        return self._first == END[:4]

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill a buffer with what comes next."""
        if not self._left:
            self._left = memoryview(self._next())
        size = min(len(target), len(self._left))
        target[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def finish(self) -> None:
        """Read the end; an error where it is not that of a whole answer:
        a proxy in between may cut it short.
        """
        self._left = memoryview(b"")
        while self._next():
            pass
        if self._last != END:
            raise EOFError

    def _next(self) -> bytes:
        try:
            piece = next((piece for piece in self._pieces if piece), b"")
        except Exception as error:  # Arrow would make another one of it
            self.error = error
            raise
        self._first = (self._first + piece[:4])[:4]
        self._last = (self._last + piece[-len(END) :])[-len(END) :]
        return piece
