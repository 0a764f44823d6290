"""ReleaseKind: what one kind of release is about, what makes it, and what it shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from tacit.errors import DataError
from tacit.model.release import Release
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Plan

R = TypeVar("R", bound=Release)
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ReleaseRows:
    """An answer to be read once: the names of its columns, and its rows in any order."""

    columns: tuple[str, ...]
    rows: Iterator[Row]


class ReleaseKind(ABC, Generic[R]):
    """One kind of release. A family has those that it makes; other families may judge them too.

    `answer` says where its rows come from: the "data" give them, only a "file" has them because
    they are drawn at random, or it has "none". `shuffled`: rows are written in an order of their
    own. `keeps_people`: the ledger remembers whom it is about. `example` is a check of it.
    """

    type: ClassVar[type[Release]]
    answer: ClassVar[Literal["data", "file", "none"]] = "data"
    shuffled: ClassVar[bool] = False
    keeps_people: ClassVar[bool] = False
    example: ClassVar[str]

    @abstractmethod
    def tables(self, release: R, opened: OpenPlan) -> tuple[str, ...]:
        """The tables of the plan that it says something about."""

    @abstractmethod
    def described(self, release: R, plan: Plan) -> dict[str, Any]:
        """What makes it, apart from its name, its recipients and its answer."""

    def shown(self, release: R, opened: OpenPlan) -> ReleaseRows:
        """Its rows as the data give them today; for those whose answer is in the data."""
        raise DataError(f"{release.name} is {release.called}: the data do not give its rows.")

    def is_file(self, release: R) -> bool:
        """Is it a file of the plan, made elsewhere, that the data need not give?"""
        return False

    def as_file(self, release: R, file: str) -> str:
        """How a plan says that a file has what was published."""
        return f"answer: {file}"

    def columns(self, release: R, opened: OpenPlan) -> tuple[str, ...]:
        """Its columns, as far as they are known without the data."""
        return ()

    def in_a_line(self, release: R, plan: Plan) -> str:
        """What it is, in a line for its owner."""
        return release.called[0].upper() + release.called[1:]

    def spent(self, release: R) -> Mapping[str, str]:
        """What it spends of a budget, for the ledger."""
        return {}

    def refuse_handed(self, release: R, opened: OpenPlan, answer: Path) -> None:
        """Raise DataError where a file cannot be what goes out with it."""
