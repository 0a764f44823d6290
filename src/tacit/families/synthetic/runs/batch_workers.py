"""Workers: draw batches of groups, in this process or in several
others that end when this one does.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from tacit.errors import EngineError, TacitError
from tacit.families.synthetic.drawing.group_drawing import draw
from tacit.families.synthetic.drawing.randomness import Randomness
from tacit.families.synthetic.occupied_cells import OccupiedCells
from tacit.families.synthetic.promise.terms import Noise, Terms
from tacit.families.synthetic.runs.batch_parts import GO_ON, Integers, joined
from tacit.families.synthetic.runs.batches import Batch

if TYPE_CHECKING:
    from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene

ALONE = 2_000_000  # people for whom other processes are not worth their start
AHEAD = 2  # batches that wait for each worker
CODE = (
    "import sys; sys.path[:] = {path!r}; from tacit.families.synthetic.runs.batch_workers import "
    "serve; serve()"
)


@dataclass(frozen=True, slots=True)
class BatchSetting:
    """What all batches share: the scene without its engine, the terms to draw by, and the seed,
    if there is one.
    """

    scene: SyntheticScene
    terms: Terms
    seed: int | None = None
    purpose: str = "people"

    @classmethod
    def of(
        cls, scene: SyntheticScene, terms: Terms, seed: int | None, purpose: str = "people"
    ) -> BatchSetting:
        """The part of a scene that can be sent to another process: all but the true people."""
        bare = replace(scene, true=replace(scene.true, engine=cast(Any, None), _kept={}))
        return cls(bare, terms, seed, purpose)


@dataclass(frozen=True, slots=True)
class BatchTask:
    """A batch to draw: its groups, their true people, and the noise of each."""

    batch: Batch
    groups: tuple[Any, ...]
    held: tuple[OccupiedCells, ...]
    noises: tuple[Noise, ...]


@dataclass(frozen=True, slots=True)
class DrawnBatch:
    """Synthetic people of a batch: the group's place among all groups, the value's in the labels of
    the output, and how many.

    `tries` is how often groups were drawn in all, `most` how often one of them was.
    """

    batch: Batch
    group: Integers
    value: Integers
    count: Integers
    tries: int
    most: int


def randomness_for(seed: int | None, *names: str) -> Randomness:
    """The system's randomness; with a seed, one for each batch and
    purpose that depends on nothing else.
    """
    return Randomness.system() if seed is None else Randomness.seeded(seed, " ".join(names))


def drawn(task: BatchTask, setting: BatchSetting) -> DrawnBatch:
    """Draw the groups of a batch."""
    randomness = randomness_for(setting.seed, task.batch.name, setting.purpose)
    groups, values, counts, tries, most = [], [], [], 0, 0
    for place, (group, held, noise) in enumerate(
        zip(task.groups, task.held, task.noises, strict=True), task.batch.first
    ):
        found = draw(held, setting.scene.domain(group), setting.terms, noise, randomness)
        where, many = setting.scene.spread(group, found.held, randomness)
        groups.append(np.full(len(where), place, dtype=np.int64))
        values.append(where)
        counts.append(many)
        tries, most = tries + found.tries, max(most, found.tries)
    return DrawnBatch(task.batch, joined(groups), joined(values), joined(counts), tries, most)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def pool(setting: BatchSetting, workers: int) -> Iterator[Pool]:
    """Somebody who draws: this process alone, or so many others."""
    found = Alone(setting) if workers == 1 or not sys.executable else Several(setting, workers)
    try:
        yield found
    finally:
        found.close()


class Alone:
    """This process draws itself."""

    def __init__(self, setting: BatchSetting) -> None:
        self.setting = setting

    def drawn(self, tasks: Iterable[BatchTask]) -> Iterator[DrawnBatch]:
        """The batches, one after the other."""
        for task in tasks:
            yield drawn(task, self.setting)

    def close(self) -> None:
        """Nothing to end."""


class Several:
    """Other processes draw. Each has a thread here that waits for it;
    they read from a pipe, which ends when this process does.
    """

    def __init__(self, setting: BatchSetting, workers: int) -> None:
        self.workers = [BatchWorker(setting) for _ in range(workers)]
        self._free: queue.SimpleQueue[BatchWorker] = queue.SimpleQueue()
        for one in self.workers:
            self._free.put(one)
        self._threads = ThreadPoolExecutor(workers)

    def drawn(self, tasks: Iterable[BatchTask]) -> Iterator[DrawnBatch]:
        """The batches, as they are done. Tasks are taken when they are needed, so that few of
        them are in memory.
        """
        waiting: set[Future[DrawnBatch]] = set()
        for task in tasks:
            if len(waiting) >= AHEAD * len(self.workers):
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
            waiting.add(self._threads.submit(self._ask, task))
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in done)

    def _ask(self, task: BatchTask) -> DrawnBatch:
        worker = self._free.get()
        try:
            return worker.ask(task)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End all of them, whatever they are at."""
        for one in self.workers:
            one.end()
        self._threads.shutdown(cancel_futures=True)


Pool = Alone | Several


class BatchWorker:
    """One other process."""

    def __init__(self, setting: BatchSetting) -> None:
        # Not multiprocessing: it would run the caller's own script again, and leave its processes
        # behind when this one is killed.
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C is for us; we end it
        )
        self._setting: BatchSetting | None = setting

    def ask(self, task: BatchTask) -> DrawnBatch:
        """Have a batch drawn."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            if self._setting is not None:
                pickle.dump(self._setting, self.process.stdin, pickle.HIGHEST_PROTOCOL)
                self._setting = None
            pickle.dump(task, self.process.stdin, pickle.HIGHEST_PROTOCOL)
            self.process.stdin.flush()
            answer = pickle.load(self.process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise EngineError(
                "a process that draws ended before it was done; the memory may be too small.",
                hint=f"Try again with fewer --workers. {GO_ON}",
            ) from None
        if isinstance(answer, TacitError):
            raise answer
        if isinstance(answer, str):
            raise RuntimeError(answer)
        assert isinstance(answer, DrawnBatch)
        return answer

    def end(self) -> None:
        """Stop it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


def serve() -> None:
    """What another process does: draw batches until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed is no answer
    with suppress(EOFError, BrokenPipeError):
        answer_all(sys.stdin.buffer, answers)


def answer_all(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Read the setting, then tasks, and write what is drawn."""
    setting: BatchSetting = pickle.load(tasks)
    while True:
        task: BatchTask = pickle.load(tasks)
        answer: DrawnBatch | TacitError | str
        try:
            answer = drawn(task, setting)
        except TacitError as error:
            answer = error
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
