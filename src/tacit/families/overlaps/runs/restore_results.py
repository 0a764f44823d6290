"""Results: what a restoration ends in, further views or the reason why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from tacit.model.numbers import digits
from tacit.model.verdict import Assumption, Audience, Verdict, as_json, with_decimals

if TYPE_CHECKING:
    from tacit.families.overlaps.stages import Stages

NOT_KNOWN = Assumption(
    "views-unexplained", "the adversary does not know why the further views came", "cannot"
)
Status = Literal["holds", "restored", "impossible", "none", "not-found"]


@dataclass(frozen=True, slots=True)
class FurtherView:
    """A view to publish in addition: its name, its SQL, how many rows it has, and who gets it
    (nobody means everybody).

    Where its condition is on a key or an identifier it `names_people`:
    the SQL is then for the owner only.
    """

    name: str
    query: str
    rows: int
    names_people: bool = False
    to: tuple[str, ...] = ()

    def is_for(self, audience: Audience) -> bool:
        """May these readers see the SQL?"""
        return audience == "owner" or not self.names_people

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """As `tacit restore --json` lists it."""
        return {
            "name": self.name,
            "query": self.query if self.is_for(audience) else None,
            "rows": str(self.rows),
            "to": list(self.to),
        }


@dataclass(frozen=True, slots=True)
class SearchExtent:
    """What was looked at: candidates, and for each number of views
    what became of all sets of so many.

    `sets` has rows of views, sets, judged exactly, ruled out by which fact, left without an answer.
    """

    columns: tuple[str, ...]
    conditions: int
    candidates: int
    sets: tuple[Mapping[str, Any], ...] = ()
    judged: int = 0
    proved: bool = False
    most_worlds: bool = False
    thinned: tuple[str, ...] = ()
    fewer: int | None = None  # that many would do for an adversary who does not know the search
    classes: int = 0  # candidates that are classes of what is published

    def to_json(self) -> dict[str, Any]:
        """As `tacit restore --json` has it."""
        return {
            "columns": list(self.columns),
            "conditions": str(self.conditions),
            "candidates": str(self.candidates),
            "sets": [as_json(one) for one in self.sets],
            "judged": str(self.judged),
            "fewest": self.proved,
            "most_worlds": self.most_worlds,
            "thinned": list(self.thinned),
        }


@dataclass(frozen=True, slots=True)
class AwareBelief:
    """What an adversary believes most who knows how the views were chosen;
    `person` and `value` are for the owner only.

    Of `asked` tables that fit all views `same` lead to the same further views.
    All are asked where there is no `epsilon`.
    """

    status: Literal["holds", "breached", "undecided"]
    because: str
    belief: Fraction | None = None
    same: int = 0
    asked: int = 0
    epsilon: Fraction | None = None
    person: Mapping[str, Any] | None = None
    value: Any = None
    story: str = ""

    def to_json(self, audience: Audience) -> dict[str, Any]:
        """As `tacit restore --json` has it."""
        found: dict[str, Any] = {"status": self.status, "because": self.because}
        if self.belief is not None:
            found |= with_decimals({"belief": self.belief})
        found |= {"same": str(self.same), "asked": str(self.asked)}
        if self.epsilon is not None:
            found |= {**with_decimals({"epsilon": self.epsilon}), "theta": "19/20"}
        if self.person is not None and audience == "owner":
            found |= {"person": as_json(self.person), "value": as_json(self.value)}
        return found


@dataclass(frozen=True, slots=True)
class Restored:
    """gamma-privacy holds: as it is (`views` is empty), or with further views.

    `draft` are lines to paste into the plan. `aware` is there where it was asked for. `to_record`
    are the releases that go out together now, where the plan asks its ledger. `seen_by` are the
    adversaries who were judged, each with the releases that they would see, where there is a
    choice: somebody holds something, or not all get the same.
    """

    releases: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    views: tuple[FurtherView, ...] = ()
    draft: str = ""
    worlds_before: int | None = None
    worlds_after: int | None = None
    people_before: int = 0
    people_after: int = 0
    looked: SearchExtent | None = None
    aware: AwareBelief | None = None
    of_classes: bool = False
    to_record: tuple[str, ...] = ()
    seen_by: tuple[tuple[str, tuple[str, ...]], ...] = ()
    output: str | None = None
    stages: Stages | None = field(default=None, compare=False)
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        """In a word."""
        return "restored" if self.views else "holds"

    @property
    def exit_status(self) -> int:
        """0, or 3 where somebody who knows how the views were chosen may believe too much."""
        return 3 if self.aware is not None and self.aware.status != "holds" else 0

    def draft_for(self, audience: Audience) -> str:
        """The lines for the plan; none for readers who may not see all of them."""
        return self.draft if all(one.is_for(audience) for one in self.views) else ""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the restoration relies on."""
        return (
            (NOT_KNOWN,)
            if self.views and (self.aware is None or self.aware.status != "holds")
            else ()
        )

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit restore --json` prints."""
        return {
            "release": list(self.releases),
            "output": self.output,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
            "utility": utility(
                self.worlds_before, self.worlds_after, sum(one.rows for one in self.views)
            )
            | {"people_before": str(self.people_before), "people_after": str(self.people_after)},
            "seconds": round(self.seconds, 3),
            "status": self.status,
            "views": [one.to_json(audience) for one in self.views],
            "draft": self.draft_for(audience) or None,
            "assumptions": [
                {"id": one.id, "text": one.text, "checked": one.checked} for one in self.assumptions
            ],
            "search": None if self.looked is None else self.looked.to_json(),
            "aware": None if self.aware is None else self.aware.to_json(audience),
        }


@dataclass(frozen=True, slots=True)
class NotRestored:
    """There are no further views, or none were found;
    `because` says it without naming anybody, `story` with a person.
    """

    releases: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    status: Status
    because: str
    story: str = ""
    advice: tuple[str, ...] = ()
    worlds_before: int | None = None
    looked: SearchExtent | None = None
    seconds: float = 0.0

    @property
    def proved(self) -> bool:
        """Is it proved that there are none, of any kind or of the kind that was looked at?"""
        return self.status in ("impossible", "none")

    @property
    def exit_status(self) -> int:
        """1 where it is proved impossible, 3 where nothing was found."""
        return 1 if self.proved else 3

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit restore --json` prints."""
        return {
            "release": list(self.releases),
            "output": None,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
            "utility": utility(self.worlds_before, None, 0),
            "seconds": round(self.seconds, 3),
            "status": self.status,
            "views": [],
            "draft": None,
            "assumptions": [],
            "search": None if self.looked is None else self.looked.to_json(),
            "aware": None,
            "because": f"{self.because}. {self.story}"
            if self.story and audience == "owner"
            else self.because,
            "proved": self.proved,
            "advice": list(self.advice),
        }


def utility(before: int | None, after: int | None, rows: int) -> dict[str, Any]:
    """How many tables fit before and after, and how many rows the further views have.

    >>> utility(45, 8, 4)
    {'worlds_before': '45', 'worlds_after': '8', 'rows': '4'}
    """
    found = {"worlds_before": before, "worlds_after": after, "rows": rows}
    return {name: None if many is None else digits(many) for name, many in found.items()}
