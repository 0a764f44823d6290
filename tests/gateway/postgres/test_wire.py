"""Whatever bytes come, the wire gives a message, waits, or raises its own error."""

from __future__ import annotations

import importlib.util
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.gateway.postgres import wire
from thorough import THOROUGH

STREAMS = 20_000 * THOROUGH


def message(letter: bytes, body: bytes) -> bytes:
    return letter + struct.pack(">I", len(body) + 4) + body


def whole(rng: random.Random) -> bytes:
    """A message that is well formed."""
    text = rng.choice([b"", b"SELECT 1", "ä\U0001f600".encode(), b"x" * 300])
    values = [rng.choice([None, b"", b"5", b"\0" * 8]) for _ in range(rng.randint(0, 3))]
    bound = b"".join(
        struct.pack(">i", -1 if one is None else len(one)) + (one or b"") for one in values
    )
    return rng.choice(
        [
            message(b"Q", text + b"\0"),
            message(b"P", b"s\0" + text + b"\0" + struct.pack(">HI", 1, 23)),
            message(b"B", b"p\0s\0\0\0" + struct.pack(">H", len(values)) + bound + b"\0\1\0\1"),
            message(b"D", rng.choice([b"S", b"P"]) + text + b"\0"),
            message(b"E", text + b"\0" + struct.pack(">I", rng.getrandbits(32))),
            message(b"C", b"P" + text + b"\0"),
            message(rng.choice([b"S", b"H", b"X", b"c"]), b""),
            message(rng.choice([b"p", b"F", b"d", b"f"]), text),
        ]
    )


def stream(rng: random.Random) -> bytes:
    """Messages, some of them with a byte changed, cut or put in; or bytes of no kind."""
    if rng.random() < 0.2:
        return rng.randbytes(rng.randint(0, 60))
    data = bytearray(b"".join(whole(rng) for _ in range(rng.randint(1, 4))))
    for _ in range(rng.choice([0, 1, 1, 3])):
        at = rng.randrange(len(data) or 1)
        change = rng.randrange(3)
        if change == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif change == 1:
            data[at:at] = rng.randbytes(rng.randint(1, 4))
        else:
            del data[at : at + rng.randint(1, 5)]
    return bytes(data)


def read_all(data: bytes, first: bool, step: int) -> tuple[list[object], bool]:
    """All that comes of the bytes, fed in steps, and whether they ended in an error."""
    reader, found = wire.MessageReader(), []
    if not first:
        reader.most = wire.MOST_MESSAGE
    for at in range(0, len(data), step):
        reader.feed(data[at : at + step])
        try:
            while (one := reader.first() if first else reader.next()) is not None:
                found.append(one)
                first = first and isinstance(one, wire.Encrypt)
        except wire.WireError as error:
            assert str(error)
            return found, True
    return found, False


def fuzz(seed: int, streams: int) -> int:
    """Random streams; how many messages came of them. All errors are ours, or this raises."""
    rng, came = random.Random(seed), 0
    for _ in range(streams):
        data, first = stream(rng), rng.random() < 0.3
        at_once = read_all(data, first, max(1, len(data)))
        assert read_all(data, first, rng.randint(1, 7)) == at_once
        came += len(at_once[0])
    return came


def test_random_streams_give_messages_or_errors_of_ours() -> None:
    assert fuzz(1, STREAMS) > STREAMS / 2


@pytest.mark.slow
def test_guided_by_coverage_nothing_foreign_is_raised(tmp_path: Path) -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("no atheris: pip install atheris")
    fuzzer = Path(__file__).with_name("fuzz_protocol.py")
    words = [f"-runs={STREAMS}", "-max_len=400", "-seed=1", str(tmp_path)]
    done = subprocess.run([sys.executable, fuzzer, *words], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]


def test_what_is_well_formed_is_read_to_its_last_byte() -> None:
    rng = random.Random(2)
    for _ in range(2_000):
        parts = [whole(rng) for _ in range(rng.randint(1, 4))]
        found, failed = read_all(b"".join(parts), False, 3)
        assert len(found) == len(parts) and not failed


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"Q\0\0\0\3", "a message of 3 bytes"),
        (b"Q\x7f\xff\xff\xff", "a message of 2,147,483,647 bytes"),
        (b"!\0\0\0\4", "of a kind that is not known"),
        (message(b"Q", b"x"), "has no end"),
        (message(b"Q", b"\xff\0"), "not UTF-8"),
        (message(b"Q", b"x\0y"), "goes on behind"),
        (message(b"B", b"\0\0\0\1\0\7\0\0\0\0"), "neither text"),
        (message(b"D", b"Xname\0"), "neither a statement"),
        (message(b"P", b"\0\0\xff\xff"), "more than 1,000"),
    ],
)
def test_a_message_that_is_none_is_named(data: bytes, said: str) -> None:
    reader = wire.MessageReader()
    reader.feed(data)
    with pytest.raises(wire.WireError, match=said):
        reader.next()


def test_a_first_packet_says_who_connects() -> None:
    reader = wire.MessageReader()
    body = struct.pack(">I", 196608) + b"user\0ann\0database\0nurses\0\0"
    reader.feed(struct.pack(">I", len(body) + 4) + body)
    assert reader.first() == wire.Startup(0, {"user": "ann", "database": "nurses"})
    reader.feed(struct.pack(">II", 8, wire.SSL))
    assert reader.first() == wire.Encrypt(wire.SSL)
    reader.feed(struct.pack(">II", 8, 2 << 16))
    with pytest.raises(wire.WireError, match=r"version 2\.0 of the protocol is not spoken"):
        reader.first()


if __name__ == "__main__":  # python tests/gateway/postgres/test_wire.py [streams]
    print(fuzz(0, int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000), "messages")
