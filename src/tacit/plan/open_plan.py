"""OpenPlan: a plan whose source is opened when it is first needed, and what was read from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tacit.engines.open import open_engine
from tacit.model.jobs import Job

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.model.release import Release
    from tacit.plan.plan import Plan

T = TypeVar("T")


class OpenPlan:
    """A plan, its source, and each family's reader of it, made once. Some checks need no data:
    the source is opened when the first reader asks for it. `today` (default: in UTC) is the day of
    which it is asked.
    """

    def __init__(self, plan: Plan, job: Job | None = None, today: date | None = None) -> None:
        self.plan = plan
        self.today = today or datetime.now(UTC).date()
        self.job = job or Job()
        self._made: dict[type, Any] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @cached_property
    def engine(self) -> Engine:
        """Where the rows live."""
        return self._stack.enter_context(open_engine(self.plan.source, self.plan.folder))

    def once(self, kind: type[T], make: Callable[[], T]) -> T:
        """The plan's one reader of a kind."""
        if kind not in self._made:
            self._made[kind] = make()
        found: T = self._made[kind]
        return found

    def add_releases(self, more: Mapping[str, Release]) -> None:
        """Releases that are published and that the plan does not list: whatever is read from here
        on knows of them.
        """
        self.plan = replace(self.plan, releases={**more, **self.plan.releases})
        self._made.clear()

    def closing(self, close: Callable[[], None]) -> None:
        """Something else to be let go when the plan is."""
        self._stack.callback(close)
