"""Desk: what holdings need of the place where a plan's checks are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.microdata.reading.source import Source
    from tacit.families.overlaps.reading.questions import OverlapQuestions
    from tacit.families.queries.reading.readings import Readings
    from tacit.families.synthetic.reading.questions import SyntheticQuestions
    from tacit.families.worlds.reading.questions import ViewQuestions
    from tacit.plan.plan import Plan


class Desk(Protocol):
    """The plan, its source, and its readers of questions, each made when it is first asked for."""

    plan: Plan

    @property
    def engine(self) -> Engine:
        """Where the rows live."""

    @property
    def source(self) -> Source:
        """The plan's tables, counted."""

    @property
    def readings(self) -> Readings:
        """The plan's queries, read."""

    @property
    def overlaps(self) -> OverlapQuestions:
        """Questions about several views of one table."""

    @property
    def synthetic(self) -> SyntheticQuestions:
        """Questions about synthetic releases."""

    @property
    def views(self) -> ViewQuestions:
        """Questions about view safety."""
