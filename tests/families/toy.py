"""A kind of release that Tacit does not have: the number of rows of a table is published.

It is registered by a test, and by nothing else. Its one check asks that the number is large enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from tacit.engines.sql import shapes
from tacit.errors import InputError
from tacit.families.definition import Definition, DefinitionFacts
from tacit.families.family import Family
from tacit.families.registration import (
    NAME,
    OUT,
    CheckKind,
    PlannedRelease,
    Registration,
    integer,
)
from tacit.families.release_kind import ReleaseKind, ReleaseRows
from tacit.model.holdings import Hand
from tacit.model.verdict import Certificate, Verdict, Witness
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan


@dataclass(frozen=True, slots=True)
class Total(PlannedRelease):
    """`{total: TABLE}`: how many rows a table has."""

    shape: ClassVar[str] = "total"
    called: ClassVar[str] = "a total"
    name: str
    table: str
    to: tuple[str, ...] = ()

    @classmethod
    def from_plan(cls, name: str, written: Any, to: tuple[str, ...]) -> Self:
        """The release as a plan writes it."""
        if not isinstance(written, str):
            raise InputError(f"{written!r} is no table.", hint="Write e.g. total: people")
        return cls(name, written, to)


@dataclass(frozen=True, slots=True)
class TotalQuestion:
    """How many rows there are."""

    release: str
    table: str
    rows: int

    def closed(self) -> Self:
        """The question itself."""
        return self


@dataclass(frozen=True, slots=True)
class LargeTotal(Definition):
    """The number of rows is at least `least`."""

    least: int
    check_name: ClassVar[str] = "large-total"
    monotone: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts("the table", "anyone", "rows", (), ())

    @property
    def label(self) -> str:
        """What is asked."""
        return f"a total of {self.least}"

    def check(self, question: TotalQuestion, *, sensitive: str | None = None) -> Verdict:
        """Compare."""
        holds = question.rows >= self.least
        facts = {"rows": question.rows}
        return Verdict(
            check=self.check_name,
            label=self.label,
            subject={"release": question.release},
            status="holds" if holds else "breached",
            because=f"the table has {question.rows} rows",
            evidence=Certificate("total", facts) if holds else Witness("total", facts),
            measured={"rows": Fraction(question.rows)},
            required={"least": self.least},
            protects=self.place.protects,
            against=self.place.against,
            measure=self.place.measured,
        )


class Totals(ReleaseKind[Total]):
    """Numbers of rows."""

    type = Total
    example = "large-total: {release: %s, least: 3}"

    def tables(self, release: Total, opened: OpenPlan) -> tuple[str, ...]:
        """Its table."""
        return (release.table,)

    def described(self, release: Total, plan: Plan) -> dict[str, Any]:
        """Its table."""
        return {"total": release.table}

    def shown(self, release: Total, opened: OpenPlan) -> ReleaseRows:
        """One number."""
        return ReleaseRows(("rows",), iter([(rows_of(release.table, opened),)]))


class TotalFamily(Family[TotalQuestion]):
    """Numbers of rows."""

    name = "totals"
    judges = frozenset({"total"})
    releases = (Totals(),)

    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> TotalQuestion:
        """Count the rows."""
        release = opened.plan.releases[check.releases[0]]
        assert isinstance(release, Total)
        return TotalQuestion(release.name, release.table, rows_of(release.table, opened))

    def looked_at(self, question: TotalQuestion) -> Mapping[str, tuple[int, str]]:
        """The table."""
        return {question.table: (question.rows, f"{question.table}: {question.rows} rows")}


def rows_of(name: str, opened: OpenPlan) -> int:
    """How many rows a table has."""
    opened.engine.attach_once(opened.plan.tables[name])
    return int(opened.engine.value(shapes.row_count(name)))


FAMILY = TotalFamily()
CHECK = CheckKind(
    "large-total", f"{__name__}.LargeTotal", (Total,), (integer("least", "3"), *OUT, *NAME)
)
REGISTRATION = Registration("totals", (CHECK,), {"total": Total}, __name__)
