"""Group commit: who writes at once waits once, and nobody fails for another's sake."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from tacit.errors import InputError
from tacit.ledger.entries import EntryDraft
from tacit.ledger.group_commit import GroupCommit
from tacit.ledger.ledger import Grown, Ledger

Drafts = Callable[..., EntryDraft]


def wait_for(commits: GroupCommit[int, int], number: int) -> None:
    """Until so many wait for their turn."""
    while len(commits._waiting) < number:
        threading.Event().wait(0.001)


class Disk:
    """Writes numbers, all or none; the first time it waits until others wait too."""

    def __init__(self, others: int) -> None:
        self.others = others
        self.groups: list[list[int]] = []
        self.begun = threading.Event()
        self.commits = GroupCommit(self.write)

    def write(self, numbers: Sequence[int]) -> list[int]:
        if not self.groups:
            self.begun.set()
            wait_for(self.commits, self.others)
        self.groups.append(list(numbers))
        if any(number < 0 for number in numbers):
            raise ValueError(min(numbers))
        return [number * 10 for number in numbers]

    def outcome(self, number: int) -> int | str:
        try:
            return self.commits.do(number)
        except ValueError as error:
            return f"failed: {error}"

    def all_of(self, numbers: Sequence[int]) -> list[int | str]:
        """What becomes of each number; the first is written alone while the others come."""
        with ThreadPoolExecutor(len(numbers)) as threads:
            first = threads.submit(self.outcome, numbers[0])
            self.begun.wait()
            others = [threads.submit(self.outcome, number) for number in numbers[1:]]
            return [one.result() for one in (first, *others)]


def test_who_comes_while_another_writes_is_written_together() -> None:
    disk = Disk(others=5)
    assert disk.all_of([1, 2, 3, 4, 5, 6]) == [10, 20, 30, 40, 50, 60]
    assert disk.groups[0] == [1]
    assert sorted(disk.groups[1]) == [2, 3, 4, 5, 6]
    assert len(disk.groups) == 2


def test_where_a_group_fails_each_is_tried_alone() -> None:
    disk = Disk(others=3)
    assert disk.all_of([1, 2, -3, 4]) == [10, 20, "failed: -3", 40]
    assert sorted(map(len, disk.groups)) == [1, 1, 1, 1, 3]


def test_where_the_leader_is_interrupted_the_others_are_done_by_the_next() -> None:
    begun = threading.Event()

    def write(numbers: Sequence[int]) -> list[int]:
        if not begun.is_set():
            begun.set()
            wait_for(commits, 1)
            raise KeyboardInterrupt
        return list(numbers)

    commits: GroupCommit[int, int] = GroupCommit(write)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(commits.do, 1)
        begun.wait()
        second = threads.submit(commits.do, 2)
        with pytest.raises(KeyboardInterrupt):
            first.result()
        assert second.result() == 2
    assert not commits._waiting


def test_many_threads_record_into_one_chain(ledger: Ledger, draft: Drafts) -> None:
    """What is not known cannot be withdrawn, and who follows an older end finds it grown."""
    wrong = draft(kind="withdrawal", release="never out")

    def work(number: int) -> str:
        try:
            if number % 10 == 3:
                ledger.record(wrong)
            elif number % 10 == 7:
                ledger.record(draft(), follows="not the end")
            else:
                return str(ledger.record(draft(release=f"r{number}")).number)
        except InputError:
            return "unknown"
        except Grown:
            return "grown"
        return "recorded"

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(work, range(100)))
    assert found.count("unknown") == found.count("grown") == 10
    assert sorted(int(one) for one in found if one.isdigit()) == list(range(1, 81))
    assert ledger.verify().intact
    assert {entry.release for entry in ledger.entries()} == {
        f"r{number}" for number in range(100) if number % 10 not in (3, 7)
    }
