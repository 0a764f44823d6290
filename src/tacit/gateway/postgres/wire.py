"""The wire: bytes of PostgreSQL's protocol, version 3, as messages, and messages as bytes.

Nothing here waits, decides or knows a session. Whatever bytes come, a message comes of them, or a
WireError, or more bytes are waited for; no length is believed before it was compared with a limit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

VERSION, SSL, GSS, CANCEL = 196608, 80877103, 80877104, 80877102  # what a first packet is about
MOST_STARTUP = 10_000  # bytes of a packet of somebody who has not said yet who they are
MOST_MESSAGE = 2 << 20  # bytes
MOST_VALUES = 1_000  # of one Bind


class WireError(Exception):
    """Bytes that are no message; what comes after them cannot be read either."""


@dataclass(frozen=True, slots=True)
class Startup:
    """Who connects, to which database, with which settings; `minor` is the version's after 3."""

    minor: int
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Encrypt:
    """Shall the line be encrypted? `by` is SSL or GSS."""

    by: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop what another session does: its number and its secret."""

    process: int
    secret: bytes


@dataclass(frozen=True, slots=True)
class Password:
    """A password, or a step of SASL: the bytes of the message."""

    data: bytes


@dataclass(frozen=True, slots=True)
class QueryMessage:
    """Statements in one text, to be answered one after the other."""

    sql: str


@dataclass(frozen=True, slots=True)
class Parse:
    """A statement to prepare; `types` are the numbers of its parameters' types, 0 where unsaid."""

    name: str
    sql: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """A portal of a prepared statement: values of its parameters, formats of the answer."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """What does a statement (S) or a portal (P) answer with?"""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Execute:
    """Rows of a portal, at most `rows` of them; 0: all."""

    portal: str
    rows: int


@dataclass(frozen=True, slots=True)
class Close:
    """Forget a statement (S) or a portal (P)."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Sync:
    """The end of a group of messages."""


@dataclass(frozen=True, slots=True)
class Flush:
    """Send what is there to be sent."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """The client leaves."""


@dataclass(frozen=True, slots=True)
class CopyIn:
    """A part of a COPY FROM STDIN: d (data), c (done) or f (failed). Nobody asked for it."""

    kind: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function by its number, as old clients do."""


First = Startup | Encrypt | Cancel
Message = (
    Password
    | QueryMessage
    | Parse
    | Bind
    | Describe
    | Execute
    | Close
    | Sync
    | Flush
    | Terminate
    | CopyIn
    | FunctionCall
)


class Fields:
    """Reads the fields of one message, from its first byte to its last."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, form: str) -> int:
        """A number: `h` and `H` have two bytes, `i` and `I` four; big end first."""
        size = struct.calcsize(form)
        return int(struct.unpack(">" + form, self.take(size))[0])

    def take(self, size: int) -> bytes:
        """So many bytes."""
        if size < 0 or self._at + size > len(self._data):
            raise WireError("a message ends in the middle of a field.")
        self._at += size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        """A text that ends with a zero byte."""
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise WireError("a text in a message has no end.")
        try:
            found = self._data[self._at : end].decode()
        except UnicodeDecodeError:
            raise WireError("a text is not UTF-8.") from None
        self._at = end + 1
        return found

    def numbers(self, form: str) -> tuple[int, ...]:
        """How many numbers, in two bytes, and the numbers."""
        count = self.number("H")
        if count > MOST_VALUES:
            raise WireError(f"a message lists more than {MOST_VALUES:,} things.")
        return tuple(self.number(form) for _ in range(count))

    def value(self) -> bytes | None:
        """A value with its length before it; None where that is -1."""
        size = self.number("i")
        return None if size == -1 else self.take(size)

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self._data) - self._at)

    def end(self) -> None:
        """There is nothing more."""
        if self._at != len(self._data):
            raise WireError("a message goes on behind its last field.")


class MessageReader:
    """Takes bytes as they come and gives messages.

    `first` gives packets of somebody who connects, which have no letter; `next` gives all others.

    >>> reader = MessageReader()
    >>> reader.feed(b"Q\\0\\0\\0\\x0dSELECT 1")
    >>> reader.next() is None
    True
    >>> reader.feed(b"\\0")
    >>> reader.next()
    QueryMessage(sql='SELECT 1')
    """

    def __init__(self) -> None:
        self._data = bytearray()
        self.most = MOST_STARTUP

    def __len__(self) -> int:
        return len(self._data)

    def feed(self, data: bytes) -> None:
        """Some bytes came."""
        self._data += data

    def first(self) -> First | None:
        """The first packet; None where it is not there yet."""
        body = self._body(0, MOST_STARTUP)
        if body is None:
            return None
        fields = Fields(body)
        code = fields.number("I")
        if code in (SSL, GSS):
            fields.end()
            return Encrypt(code)
        if code == CANCEL:
            return Cancel(fields.number("I"), fields.rest())
        if code >> 16 != 3:
            raise WireError(f"version {code >> 16}.{code & 0xFFFF} of the protocol is not spoken.")
        settings: dict[str, str] = {}
        while name := fields.text():
            settings[name] = fields.text()
        fields.end()
        return Startup(code & 0xFFFF, settings)

    def next(self) -> Message | None:
        """The next message; None where it is not whole yet."""
        if not self._data:
            return None
        read = MESSAGES.get(self._data[0])
        if read is None:
            raise WireError("a message of a kind that is not known.")
        body = self._body(1, self.most)
        return None if body is None else read(Fields(body))

    def _body(self, at: int, most: int) -> bytes | None:
        """What follows a length that stands at a place; it is taken out when it is whole."""
        if len(self._data) < at + 4:
            return None
        size = int.from_bytes(self._data[at : at + 4])
        if not 4 <= size <= most:
            raise WireError(f"a message of {size:,} bytes; up to {most:,} are read.")
        if len(self._data) < at + size:
            return None
        body = bytes(self._data[at + 4 : at + size])
        del self._data[: at + size]
        return body


Read = Callable[[Fields], Message]


def read_query(fields: Fields) -> Message:
    """Q: a text."""
    sql = fields.text()
    fields.end()
    return QueryMessage(sql)


def read_parse(fields: Fields) -> Message:
    """P: name, text, types of parameters."""
    found = Parse(fields.text(), fields.text(), fields.numbers("I"))
    fields.end()
    return found


def read_bind(fields: Fields) -> Message:
    """B: portal, statement, formats, values, formats of the answer."""
    portal, statement, formats = fields.text(), fields.text(), fields.numbers("H")
    count = fields.number("H")
    if count > MOST_VALUES:
        raise WireError(f"there are more than {MOST_VALUES:,} parameters.")
    values = tuple(fields.value() for _ in range(count))
    found = Bind(portal, statement, formats, values, fields.numbers("H"))
    fields.end()
    if any(one not in (0, 1) for one in (*found.formats, *found.results)):
        raise WireError("a format is neither text (0) nor binary (1).")
    return found


def read_described(fields: Fields) -> Message:
    """D: S or P, and a name."""
    return Describe(*_kind_and_name(fields))


def read_closed(fields: Fields) -> Message:
    """C: S or P, and a name."""
    return Close(*_kind_and_name(fields))


def _kind_and_name(fields: Fields) -> tuple[str, str]:
    kind = fields.take(1)
    if kind not in (b"S", b"P"):
        raise WireError("a message is about neither a statement (S) nor a portal (P).")
    name = fields.text()
    fields.end()
    return kind.decode(), name


def read_execute(fields: Fields) -> Message:
    """E: portal and the most rows."""
    found = Execute(fields.text(), fields.number("I"))
    fields.end()
    return found


def read_nothing(message: Message) -> Read:
    """A message without fields."""

    def read(fields: Fields) -> Message:
        fields.end()
        return message

    return read


MESSAGES: Mapping[int, Read] = {
    ord("Q"): read_query,
    ord("P"): read_parse,
    ord("B"): read_bind,
    ord("D"): read_described,
    ord("C"): read_closed,
    ord("E"): read_execute,
    ord("S"): read_nothing(Sync()),
    ord("H"): read_nothing(Flush()),
    ord("X"): read_nothing(Terminate()),
    ord("p"): lambda fields: Password(fields.rest()),
    ord("F"): lambda fields: FunctionCall(),
    ord("d"): lambda fields: CopyIn("d"),
    ord("c"): lambda fields: CopyIn("c"),
    ord("f"): lambda fields: CopyIn("f"),
}


# -- what the server says --------------------------------------------------------------------------


def packet(letter: bytes, *parts: bytes) -> bytes:
    """A message: its letter, its length, its fields.

    >>> packet(b"Z", b"I")
    b'Z\\x00\\x00\\x00\\x05I'
    """
    body = b"".join(parts)
    return letter + struct.pack(">I", len(body) + 4) + body


def text(value: str) -> bytes:
    """A text with the zero byte that ends it; one inside it would end it too early."""
    return value.replace("\0", "").encode("utf-8", "replace") + b"\0"


def authentication(code: int, data: bytes = b"") -> bytes:
    """What is asked of the client to show who it is; 0: nothing more."""
    return packet(b"R", struct.pack(">I", code), data)


OK, CLEARTEXT, SASL, SASL_CONTINUE, SASL_FINAL = 0, 3, 10, 11, 12


def parameter_status(name: str, value: str) -> bytes:
    """A setting, and its value from now on."""
    return packet(b"S", text(name), text(value))


def backend_key(process: int, secret: bytes) -> bytes:
    """By what this session can be cancelled."""
    return packet(b"K", struct.pack(">I", process), secret)


def negotiate(minor: int, unknown: Sequence[str]) -> bytes:
    """The newest version that is spoken, and the options that are not known."""
    return packet(b"v", struct.pack(">II", 3 << 16 | minor, len(unknown)), *map(text, unknown))


def ready(status: str) -> bytes:
    """All is answered. I: no transaction, T: in one, E: in one that failed."""
    return packet(b"Z", status.encode())


@dataclass(frozen=True, slots=True)
class WireColumn:
    """A column of an answer: name, number of its type, bytes (-1: any), modifier, format."""

    name: str
    type: int
    size: int = -1
    modifier: int = -1
    format: int = 0


def row_description(columns: Iterable[WireColumn]) -> bytes:
    """What the rows of an answer look like."""
    found = [
        text(one.name) + struct.pack(">IhIhih", 0, 0, one.type, one.size, one.modifier, one.format)
        for one in columns
    ]
    return packet(b"T", struct.pack(">H", len(found)), *found)


def parameter_description(types: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return packet(b"t", struct.pack(f">H{len(types)}I", len(types), *types))


def complete(tag: str) -> bytes:
    """A statement is done."""
    return packet(b"C", text(tag))


def copy_out(columns: int, form: int) -> bytes:
    """What follows are rows of a COPY."""
    return packet(b"H", struct.pack(f">bH{columns}H", form, columns, *([form] * columns)))


def fields_of(letter: bytes, fields: Mapping[str, str]) -> bytes:
    """An error (E) or a notice (N), field by field."""
    return packet(letter, *(key.encode() + text(value) for key, value in fields.items()), b"\0")


PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = packet(b"1"), packet(b"2"), packet(b"3")
NO_DATA, SUSPENDED, EMPTY, COPY_DONE = packet(b"n"), packet(b"s"), packet(b"I"), packet(b"c")
