"""Results: what an anonymization ends in, a release or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tacit.families.microdata.attacks.stories import Story
from tacit.families.microdata.portrait import Portrait, portraits
from tacit.families.microdata.recoded import Recoded
from tacit.model.release import Repair
from tacit.model.verdict import Audience, Verdict, with_decimals


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to release the table for which all checks hold: what it costs and what it risks.

    `risk` is one over the smallest group: the chance to pick somebody's row out of those that look
    like it. `belief` is the greatest share of one value in a group, None where nothing is
    sensitive.
    """

    generalization: Mapping[str, int]
    cost: float
    risk: Fraction
    belief: Fraction | None
    suppressed: int
    chosen: bool = False

    def to_json(self) -> dict[str, Any]:
        """As `tacit anonymize --json` lists it."""
        return {
            "generalization": dict(self.generalization),
            "cost": self.cost,
            **with_decimals(
                {"risk": self.risk, **({"belief": self.belief} if self.belief is not None else {})}
            ),
            "suppressed": str(self.suppressed),
            "chosen": self.chosen,
        }


@dataclass(frozen=True, slots=True)
class Dropping:
    """What a search found that may drop a `share` of the rows: it costs `cost` where `whole` is
    the cost of releasing all, and `suppressed` of the `rows` go.
    """

    share: Fraction
    suppressed: int
    rows: int
    whole: float
    cost: float


@dataclass(frozen=True, slots=True)
class Repaired:
    """A release for which all checks hold by itself, and what else the owner should know.

    Verdicts count with what is published:
    where a check cannot judge both together, it is undecided.

    `proved`: no other release of this kind costs less; `unproved` says why that is not known.
    `choices` are all minimal solutions where `all_choices`, else those that were seen. `aware` are
    the stories of an attacker who knows how the levels were chosen, one for each sensitive column.
    `not_written` are the table's columns that are not released. `not_asked` are checks of the plan
    about this release that the search cannot ask: whether they hold is not known. `because_of` says
    what is published and was counted with, `given`, and the levels of least `cost` without it.
    `draft` is the release as the plan has it, where it fails; `dropping` what a few dropped rows
    would save, where that is much.
    """

    release: str
    recoded: Recoded
    verdicts: tuple[Verdict, ...]
    utility: Mapping[str, Any]
    repair: Repair
    proved: bool
    output: str | None = None
    choices: tuple[Choice, ...] = ()
    all_choices: bool = False
    aware: tuple[Story, ...] = ()
    nodes: tuple[int, int] = (0, 0)  # asked, of so many
    unproved: str = ""
    not_written: tuple[str, ...] = ()
    portrait: Portrait | None = (
        None  # for a picture of it; people can be named while the source is open only
    )
    seconds: float = 0.0
    not_asked: tuple[str, ...] = ()
    because_of: Mapping[str, Any] = field(default_factory=dict)
    draft: Choice | None = None
    dropping: Dropping | None = None

    @property
    def is_judged(self) -> bool:
        """Could all checks be judged together with what is published? If not, it is written
        only if somebody insists.
        """
        return all(verdict.status == "holds" for verdict in self.verdicts)

    @property
    def exit_status(self) -> int:
        """0 found, and written where asked; 3 not written, because a check cannot judge it
        together with what is published.
        """
        return 0 if self.is_judged or self.output is not None else 3

    def with_portrait(self) -> Repaired:
        """The same, with what a picture of it needs."""
        drawn = portraits({self.release: self.recoded.question()}, self.verdicts)
        return replace(self, portrait=drawn[self.release])

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit anonymize --json` prints."""
        levels = self.recoded.generalization
        return {
            "release": self.release,
            "output": self.output,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
            "utility": dict(self.utility),
            "seconds": round(self.seconds, 3),
            **({"generalization": dict(levels)} if levels is not None else {}),
            "method": self.repair.method,
            "suppressed": str(self.recoded.suppressed),
            "optimal": self.proved,
            "nodes": {"asked": str(self.nodes[0]), "all": str(self.nodes[1])},
            "choices": [choice.to_json() for choice in self.choices],
            "all_choices": self.all_choices,
            "aware": [story.to_json(audience) for story in self.aware],
            "not_asked": list(self.not_asked),
            "unjudged": not self.is_judged,
            **({"because_of": dict(self.because_of)} if self.because_of else {}),
        }


@dataclass(frozen=True, slots=True)
class NotRepaired:
    """No release was found. `proved`: there is none;
    the verdicts are those of the coarsest release.

    `advice` says what would have to give.
    """

    release: str
    because: str
    proved: bool
    verdicts: tuple[Verdict, ...] = ()
    advice: tuple[str, ...] = ()
    repair: Repair = field(default_factory=Repair)
    nodes: tuple[int, int] = (0, 0)
    seconds: float = 0.0

    @property
    def exit_status(self) -> int:
        """1 where it is proved impossible, 3 where nothing was found."""
        return 1 if self.proved else 3

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit anonymize --json` prints."""
        return {
            "release": self.release,
            "output": None,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
            "utility": None,
            "seconds": round(self.seconds, 3),
            "method": self.repair.method,
            "impossible": self.proved,
            "because": self.because,
            "advice": list(self.advice),
            "nodes": {"asked": str(self.nodes[0]), "all": str(self.nodes[1])},
        }
