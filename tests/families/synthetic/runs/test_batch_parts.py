"""Parts: what is kept is whole and of one run, two runs are kept apart, and a full disk loses
nothing that was drawn.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import DataError, EngineError
from tacit.families.synthetic.runs.batch_parts import BatchPart, Digest, Folder, RunFacts
from tacit.families.synthetic.runs.batches import Batch, batches, members, portions

SALT = bytes(range(32))
FACTS = RunFacts({"epsilon": "1", "delta": "0"}, "cells", "sizes", "none", ("first", "second"))
BATCHES = [Batch(0, 2, 7), Batch(2, 1, 9)]


def part(*counts: int) -> BatchPart:
    many = len(counts)
    return BatchPart(
        np.arange(many)[::-1].copy(),
        np.zeros(many, np.int64),
        np.arange(many),
        np.array(counts, np.int64),
        tries=many,
        most=1,
    )


def same(one: BatchPart | None, other: BatchPart) -> bool:
    return one is not None and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("order", "group", "value", "count", "tries", "most")
    )


@contextmanager
def begun(output: Path, facts: RunFacts = FACTS, *, restart: bool = False) -> Iterator[Folder]:
    with Folder(output) as folder:
        if restart:
            folder.forget()
        folder.begin(folder.salt() if folder.is_begun else SALT, facts, BATCHES)
        yield folder


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.csv"


@pytest.mark.parametrize("rows", [(), (3,), (3, 4, 5)])
def test_a_part_is_read_as_it_was_written(output: Path, rows: tuple[int, ...]) -> None:
    with begun(output) as folder:
        assert folder.kept(BATCHES[0]) is None
        folder.keep(BATCHES[0], part(*rows))
        assert same(folder.kept(BATCHES[0]), part(*rows))
        assert folder.kept(BATCHES[1]) is None


def test_parts_outlive_their_run(output: Path) -> None:
    with begun(output) as folder:
        folder.keep(BATCHES[1], part(1, 2))
    with begun(output) as folder:
        assert same(folder.kept(BATCHES[1]), part(1, 2))


def test_nobody_else_may_look_into_the_folder(output: Path) -> None:
    before = os.umask(0)
    try:
        with begun(output) as folder:
            folder.keep(BATCHES[0], part(1))
            assert folder.path.stat().st_mode & 0o777 == 0o700
            assert {place.stat().st_mode & 0o777 for place in folder.path.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_a_part_with_any_byte_changed_or_missing_is_drawn_again(output: Path) -> None:
    with begun(output) as folder:
        folder.keep(BATCHES[0], part(5, 6, 7))
        whole = folder.place(BATCHES[0]).read_bytes()
        for place in range(len(whole)):
            folder.place(BATCHES[0]).write_bytes(
                whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
            )
            assert folder.kept(BATCHES[0]) is None
            folder.place(BATCHES[0]).write_bytes(whole[:place])
            assert folder.kept(BATCHES[0]) is None
        folder.place(BATCHES[0]).write_bytes(whole)
        assert same(folder.kept(BATCHES[0]), part(5, 6, 7))


def test_the_part_of_another_batch_or_run_is_foreign(output: Path, tmp_path: Path) -> None:
    with begun(output) as folder, begun(tmp_path / "other.csv") as other:
        folder.keep(BATCHES[0], part(1))
        folder.place(BATCHES[1]).write_bytes(folder.place(BATCHES[0]).read_bytes())
        assert folder.kept(BATCHES[1]) is None
        other.place(BATCHES[0]).write_bytes(folder.place(BATCHES[0]).read_bytes())
        assert other.kept(BATCHES[0]) is None


CHANGED = {
    "release": (
        replace(FACTS, release={"epsilon": "2", "delta": "0"}),
        "epsilon of the release changed from 1 to 2",
    ),
    "cells": (replace(FACTS, cells="other"), "the domain, prior or another file"),
    "sizes": (replace(FACTS, sizes="other"), "groups of the table, or their sizes"),
    "counts": (replace(FACTS, counts=("first", "other")), "the people of the table"),
    "seed": (replace(FACTS, seed="7"), "the seed"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_changed_is_said_and_restart_begins_anew(output: Path, what: str) -> None:
    facts, words = CHANGED[what]
    with begun(output) as folder:
        folder.keep(BATCHES[0], part(1))
    with pytest.raises(DataError, match=words) as raised, begun(output, facts):
        pass
    assert "--restart" in str(raised.value.hint)
    with begun(output) as folder:  # the old run can still go on
        assert folder.kept(BATCHES[0]) is not None
    with begun(output, facts, restart=True) as folder:
        assert folder.kept(BATCHES[0]) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", "no json", json.dumps({"format": 99})])
def test_a_manifest_that_is_not_ours_is_an_error(output: Path, text: str) -> None:
    with begun(output) as folder:
        (folder.path / "manifest.json").write_text(text)
    with pytest.raises(DataError, match="is not as this version of Tacit"), begun(output):
        pass
    with begun(output, restart=True):
        pass


def test_parts_without_a_manifest_belong_to_nothing(output: Path) -> None:
    with begun(output) as folder:
        folder.keep(BATCHES[0], part(1))
        (folder.path / "manifest.json").unlink()
        place = folder.place(BATCHES[0]).read_bytes()
        folder.begin(SALT, FACTS, BATCHES)
        folder.place(BATCHES[0]).write_bytes(place)
        assert folder.kept(BATCHES[0]) is None


def test_a_folder_with_nothing_in_it_is_left_by_nobody(output: Path) -> None:
    with Folder(output):
        pass
    with begun(output) as folder:
        folder.keep(BATCHES[0], part(1))
        folder.remove()
    assert list(output.parent.iterdir()) == []


def test_two_runs_at_once_are_kept_apart(output: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tacit.families.synthetic.runs.batch_parts "
        "import "
        "Folder; from "
        "tacit.errors import EngineError\n"
        "try:\n"
        "    Folder(Path(sys.argv[1])).__enter__(); print('in')\n"
        "except EngineError as error: print(error)\n"
    )

    def other() -> str:
        return subprocess.run(
            [sys.executable, "-c", code, str(output)], capture_output=True, text=True, check=True
        ).stdout

    with begun(output):
        assert other().startswith("another run is drawing")
    assert other() == "in\n"


def test_a_very_long_name_has_a_folder_of_its_own(tmp_path: Path) -> None:
    one, other = (Folder(tmp_path / ("x" * 230 + end)) for end in ("1.csv", "2.csv"))
    assert one.path != other.path
    with one, other:
        assert one.path.is_dir()


def test_a_full_disk_keeps_the_parts_that_are_there(output: Path) -> None:
    with begun(output) as folder:
        folder.keep(BATCHES[0], part(1))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, before[1]))
        try:
            with pytest.raises(
                EngineError, match=r"out\.csv cannot be written: the disk is full"
            ) as raised:
                folder.keep(BATCHES[1], part(*range(1000)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "the same command goes on" in str(raised.value)
        assert folder.kept(BATCHES[1]) is None
        assert not [place for place in folder.path.iterdir() if place.suffix == ".tmp"]
    with begun(output) as folder:
        assert folder.kept(BATCHES[0]) is not None


def test_a_digest_tells_where_its_pieces_end() -> None:
    digest = Digest(SALT)
    assert digest.of(b"ab", b"c") != digest.of(b"a", b"bc") != digest.of(b"abc")
    assert Digest(bytes(32)).of(b"a") != digest.of(b"a")


def test_batches_and_portions_hold_every_group_once() -> None:
    draw = np.random.default_rng(3)
    for _ in range(500):
        sizes = draw.integers(0, 30, draw.integers(0, 60)).tolist()
        limit, most = int(draw.integers(1, 60)), int(draw.integers(1, 9))
        found = batches(sizes, people=limit, groups=most)
        assert members(found, range(len(sizes))) == list(range(len(sizes)))
        assert [one.people for one in found] == [
            sum(sizes[one.first : one.first + one.groups]) for one in found
        ]
        assert all((one.people <= limit or one.groups == 1) and one.groups <= most for one in found)
        assert [one for some in portions(found, people=50) for one in some] == found
        assert all(
            len(some) == 1 or sum(one.people for one in some) <= 50
            for some in portions(found, people=50)
        )
        assert len({one.name for one in found}) == len(found)
