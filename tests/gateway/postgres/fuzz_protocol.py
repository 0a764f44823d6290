"""Coverage-guided fuzzing of what reads a client's bytes: messages, SCRAM, statements, values.

python tests/gateway/postgres/fuzz_protocol.py -runs=1000000    (needs atheris)
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

if __name__ == "__main__":  # only then: modules are instrumented as they are first imported
    import atheris

    sys.path.insert(0, str(Path(__file__).parents[2]))
    with atheris.instrument_imports(include=["tacit.gateway.postgres"]):
        import tacit.gateway.postgres.session  # noqa: F401

from tacit.gateway.postgres import scram, statements, types, wire
from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.ledger.verifier import Verifier

NUMBERS = sorted({*types.UNPACKED, *types.TEXTS, types.NUMERIC, types.UUID, 1_000})


def messages(data: bytes) -> None:
    """Bytes as a stream, in two steps."""
    reader = wire.MessageReader()
    first, half = data[:1] < b"\x40", len(data) // 2
    for part in (data[1:half], data[half:]):
        reader.feed(part)
        while (found := reader.first() if first else reader.next()) is not None:
            first = first and isinstance(found, wire.Encrypt)


def sign_in(data: bytes) -> None:
    """Two messages of SCRAM. Nobody comes in by chance."""
    stored = Verifier(b"s" * 16, 4096, b"k" * 32, b"v" * 32)
    exchange = scram.Exchange(stored, nonce="n" * 8)
    said, _, proof = data.partition(b"\xff")
    body = b"SCRAM-SHA-256\0" + len(said).to_bytes(4) + said
    exchange.first(body)
    assert exchange.final(proof) is None


def statement(data: bytes) -> None:
    """A text of statements, and what each asks for."""
    for one in statements.split(data.decode("utf-8", "replace")):
        statements.command_of(one)


def value(data: bytes) -> None:
    """A parameter's value."""
    kind = NUMBERS[data[0] % len(NUMBERS)] if data else 0
    types.WireValue(data[2:], data[1] % 2 if len(data) > 1 else 0, kind).value()


def one(data: bytes) -> None:
    """Some bytes for one of them; whatever comes is an answer or an error of ours."""
    with suppress(Trouble, wire.WireError):
        (messages, sign_in, statement, value)[data[0] % 4 if data else 0](data[1:])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
