"""Work runs in a process of its own: it tells how far it is, ends when it
is told to, and leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from waiting import soon

pytest.importorskip("nicegui")

from tacit.errors import InputError
from tacit.workbench.parts.work_progress import describe_progress as told_of
from tacit.workbench.work import Work, Works
from workbench import long_work

SECONDS = 60.0


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def works(told: list[str]) -> Iterator[Works]:
    found = Works(told.append)
    yield found
    found.close()


def until(work: Work, state: str, text: str = "") -> None:
    so = soon(lambda: work.state == state and text in work.text, SECONDS)
    assert so, (work.state, work.text)


def test_it_ends_with_its_result(works: Works) -> None:
    work = works.start("count", "Counting", long_work.steps, 5)
    assert (
        work.wait(SECONDS)
        and work.state == "done"
        and work.result == 5
        and work.share == 1.0
        and work.left is None
    )


def test_it_tells_how_far_it_is_and_how_long_it_will_take(works: Works) -> None:
    work = works.start("count", "Counting", long_work.steps, 60, 0.1)
    until(work, "running", "step 15")
    assert 0 < work.share < 1 and work.left is not None and 0.1 < work.left < SECONDS
    work.cancel()
    assert work.wait(SECONDS) and work.state == "cancelled"


def test_a_reload_finds_it_again(works: Works) -> None:
    one = works.start("check", "One", long_work.steps, 1, key="april")
    two = works.start("check", "Two", long_work.steps, 1, key="may")
    assert (
        works.latest("check", "april") is one
        and works.latest("check", "may") is two
        and works.latest("check") is None
    )
    assert works.all()[:2] == [two, one]
    assert one.wait(SECONDS) and two.wait(SECONDS) and not set(works.running()) & {one, two}


def test_work_that_does_not_listen_is_ended_and_cleans_up(works: Works, tmp_path: Path) -> None:
    place = tmp_path / "out.part"
    work = works.start("write", "Writing", long_work.half_written, str(place))
    until(work, "running", "writing")
    assert place.exists()
    work.cancel()
    assert work.wait(SECONDS) and work.state == "cancelled" and not place.exists()


def test_work_that_was_told_to_stop_says_so_until_it_has(works: Works) -> None:
    work = works.start("stop", "Deaf", long_work.deaf, 60)
    until(work, "running")
    assert not work.stops
    work.cancel()
    assert work.stops and work.left is None and told_of(work) == "Stopping."
    assert work.wait(SECONDS) and not work.stops and told_of(work) == "Cancelled."


def test_what_waits_for_its_turn_can_be_cancelled_at_once(works: Works) -> None:
    busy = [works.start("deaf", "Deaf", long_work.deaf, 30) for _ in range(2)]
    waiting = works.start("count", "Counting", long_work.steps, 1)
    assert waiting.state == "waiting"
    waiting.cancel()
    for one in busy:
        one.cancel()
    assert all(one.wait(SECONDS) for one in (*busy, waiting)) and waiting.state == "cancelled"


@pytest.mark.slow
def test_what_is_settled_is_done_as_a_whole(works: Works, tmp_path: Path) -> None:
    work = works.start("record", "Recording", long_work.settled, str(tmp_path / "out"))
    until(work, "running", "recording")
    work.cancel()
    assert work.wait(SECONDS) and work.state == "done" and (tmp_path / "out").read_text() == "whole"


def test_an_error_keeps_its_words(works: Works) -> None:
    work = works.start("wrong", "Wrong", long_work.wrong)
    assert work.wait(SECONDS) and work.state == "failed"
    assert isinstance(work.error, InputError) and work.error.hint == "Add it."


def test_a_fault_tells_nothing_about_people(works: Works, told: list[str]) -> None:
    work = works.start("broken", "Broken", long_work.broken, "flu")
    assert work.wait(SECONDS) and work.state == "failed" and "fault" in str(work.error)
    assert any("ValueError" in line for line in told) and not any(
        "Bob" in line or "flu" in line for line in [*told, str(work.error)]
    )


def test_only_the_newest_are_kept() -> None:
    works = Works(lambda line: None)
    works._threads.shutdown()
    works._threads.submit = lambda run: None  # type: ignore[method-assign,assignment]
    first = [works.start("k", str(number), long_work.steps, 1) for number in range(60)]
    for one in first:
        one._end("done")
    last = works.start("k", "last", long_work.steps, 1)
    assert len(works.all()) == 51 and works.all()[0] is last and works.all()[1] is first[-1]
