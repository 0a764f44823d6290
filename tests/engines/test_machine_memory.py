"""How much memory there is, where systemd or a container bounds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.engines.duckdb import engine
from tacit.engines.machine_memory import memory_there


@pytest.mark.parametrize(
    ("line", "file", "limit"),
    [
        ("0::/system.slice/tacit.service", "system.slice/tacit.service/memory.max", 4 << 30),
        ("0::/system.slice/tacit.service", "system.slice/memory.high", 3 << 30),
        ("0::/", "memory.max", 1 << 30),
        ("5:cpu,memory:/docker/ab", "memory/docker/ab/memory.limit_in_bytes", 2 << 30),
    ],
)
def test_the_least_limit_of_the_groups_counts(
    tmp_path: Path, line: str, file: str, limit: int
) -> None:
    place = tmp_path / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{limit}\n")
    for other in tmp_path.glob("system.slice/*.service"):
        (other / "memory.high").write_text("max\n")
    own = tmp_path / "cgroup"
    own.write_text(f"{line}\n")
    assert memory_there(tmp_path, own) == limit


def test_queries_of_others_take_a_quarter_of_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, share in ((4 << 30, 1 << 30), (None, 1 << 30), (1 << 40, 4 << 30)):
        monkeypatch.setattr(engine, "memory_there", lambda there=there: there)
        assert engine.memory_for_strangers() == share
