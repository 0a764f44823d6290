"""The solver: CP-SAT where it is installed, and stopped when the user wants it to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from tacit.errors import MissingExtra
from tacit.model.deadline import OutOfTime, look
from tacit.model.jobs import Cancelled

LOOK_EVERY = 0.1  # seconds between two looks whether somebody still waits


def solve(solver: Any, model: Any) -> Any:
    """How the solver ends with a model.

    CP-SAT would take Ctrl-C for itself and never give it back, so that the next one kills the
    process with its temporary files. Here Python keeps it: the solver works beside, and stops when
    the user wants to.
    """
    solver.parameters.catch_sigint_signal = False
    with ThreadPoolExecutor(max_workers=1) as beside:
        work = beside.submit(solver.solve, model)
        try:
            while not wait([work], LOOK_EVERY).done:
                with suppress(OutOfTime):  # that is the solver's to say: it may have a solution
                    look()
        except (Cancelled, KeyboardInterrupt):
            solver.stop_search()
            raise
        return work.result()


def module() -> Any:
    """CP-SAT, where it is installed."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise MissingExtra(
            "ortools",
            extra="solve",
            purpose="g-safety, e-safety, overlapping views and second releases",
        ) from None
    return cp_model
