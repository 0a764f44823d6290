"""Results: what a synthesis ends in, a file of synthetic people or the
verdicts for which there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from statistics import median
from typing import TYPE_CHECKING, Any

from tacit.model.numbers import plain
from tacit.model.verdict import Audience, Verdict, with_decimals

if TYPE_CHECKING:
    from tacit.families.synthetic.promise.spending import SpendingStep
    from tacit.families.synthetic.promise.terms import Noise, Terms
    from tacit.families.synthetic.question import Sort
    from tacit.families.synthetic.utility.flow_utility import FlowUtility
    from tacit.families.synthetic.utility.flows import Flows
    from tacit.families.synthetic.utility.positions import Positions

SEEDED = (
    "The output is not private: it was drawn with --seed, and whoever knows the seed can draw "
    "it again and compare."
)
EXIT_STATUS = {"breached": 1, "undecided": 3}


@dataclass(frozen=True, slots=True)
class NoiseSummary:
    """The noise of all groups together.

    Dirichlet: the least and the greatest `alpha` (people of the prior in a cell of weight 1), and
    how many people of the prior all groups have on average (`prior`) and a group has in the middle
    (`median`). Geometric: the `thresholds` from which on a count is published.
    """

    kinds: int  # of groups that need noise of their own, by their people and cells
    least: Fraction | None = None
    greatest: Fraction | None = None
    prior: Fraction = Fraction(0)
    median: Fraction = Fraction(0)
    thresholds: tuple[int, int] | None = None
    everywhere: bool = False

    @classmethod
    def of(cls, chosen: Sequence[tuple[Sort, Noise]]) -> NoiseSummary:
        """From the noise of each sort of groups."""
        alphas = [noise.alpha for _, noise in chosen if noise.alpha is not None]
        thresholds = [noise.threshold for _, noise in chosen if noise.threshold is not None]
        priors = [
            ((noise.alpha or Fraction(0)) * sort.cells.expected, sort.groups)
            for sort, noise in chosen
        ]
        return cls(
            len(chosen),
            min(alphas, default=None),
            max(alphas, default=None),
            sum((prior * many for prior, many in priors), Fraction(0)),
            middle(priors) if alphas else Fraction(0),
            (min(thresholds), max(thresholds)) if thresholds else None,
            any(noise.everywhere for _, noise in chosen),
        )

    def to_json(self) -> dict[str, Any]:
        """As `tacit synthesize --json` has it."""
        found: dict[str, Any] = {"kinds": str(self.kinds)}
        if self.least is not None and self.greatest is not None:
            found |= with_decimals({"least_alpha": self.least, "greatest_alpha": self.greatest})
            found |= with_decimals({"prior_people": self.prior, "prior_people_median": self.median})
        if self.thresholds is not None:
            found |= {
                "least_threshold": str(self.thresholds[0]),
                "greatest_threshold": str(self.thresholds[1]),
                "everywhere": self.everywhere,
            }
        return found


def middle(weighted: Sequence[tuple[Fraction, int]]) -> Fraction:
    """The median of numbers that occur several times.

    >>> middle([(Fraction(5), 1), (Fraction(1), 2)])
    Fraction(1, 1)
    >>> middle([(Fraction(1), 1), (Fraction(2), 1)])
    Fraction(3, 2)
    """
    ordered = sorted(weighted)
    many = sum(count for _, count in ordered)

    def at(place: int) -> Fraction:
        for number, count in ordered:
            place -= count
            if place < 0:
                return number
        return Fraction(0)

    return Fraction(median([at((many - 1) // 2), at(many // 2)]))


@dataclass(frozen=True, slots=True)
class Drawing:
    """How the draw went: synthetic people and rows, how often groups were drawn, batches, and
    how many of these an earlier run had left.
    """

    people: int = 0
    rows: int = 0
    tries: int = 0
    most_tries: int = 0
    batches: int = 0
    resumed: int = 0
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Picture:
    """True and synthetic people, for the owner's eyes only:
    what the report draws and the utility is measured on.
    """

    true: Flows
    synthetic: Flows
    positions: Positions | None = None


@dataclass(frozen=True, slots=True)
class Synthesized:
    """Synthetic people for which all checks hold;
    `output` is None where a check does not, and then nothing was drawn.

    `groups` and `people` are those of the table, after `dropped` ones outside the domain (people,
    pairs) were left out. `utility` compares with the true table, `baseline` does so for a
    thresholded geometric histogram with the same epsilon and delta that nobody ever sees: both are
    for the owner only. `budget` is what the release spends of epsilon and delta, and what repeating
    costs.
    """

    release: str
    output: str | None
    verdicts: tuple[Verdict, ...]
    terms: Terms
    noise: NoiseSummary
    steps: tuple[SpendingStep, ...] = ()
    groups: int = 0
    people: int = 0
    dropped: tuple[int, int] = (0, 0)
    drawing: Drawing = Drawing()
    utility: FlowUtility | None = None
    baseline: FlowUtility | None = None
    budget: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    picture: Picture | None = field(default=None, compare=False, repr=False)
    seconds: float = 0.0

    @property
    def exit_status(self) -> int:
        """0 written, 1 a check is breached, 3 a check is undecided."""
        found = {verdict.status for verdict in self.verdicts}
        return next((EXIT_STATUS[status] for status in EXIT_STATUS if status in found), 0)

    @property
    def because(self) -> str:
        """In a sentence: what was written, or why nothing was."""
        if self.output is None:
            failed = [verdict for verdict in self.verdicts if verdict.status != "holds"]
            told = "; ".join(
                f"{verdict.label} is {verdict.status}: {verdict.because}" for verdict in failed
            )
            return f"nothing was drawn or written, because {told}"
        return (
            f"{self.drawing.people:,} synthetic people in {self.groups:,} groups were written "
            f"to {self.output}"
        )

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit synthesize --json` prints;
        what compares with the true table is null for others than the owner.
        """
        owner = audience == "owner"
        return {
            "release": self.release,
            "output": self.output,
            "verdicts": [verdict.to_json(audience) for verdict in self.verdicts],
            "utility": self.utility.to_json() if owner and self.utility is not None else None,
            "seconds": round(self.seconds, 3),
            "because": self.because,
            "terms": terms_json(self.terms),
            "noise": self.noise.to_json(),
            "steps": [step_json(step, self.terms) for step in self.steps],
            "groups": str(self.groups),
            "people": str(self.people),
            "dropped": {"people": str(self.dropped[0]), "pairs": str(self.dropped[1])}
            if owner
            else None,
            "drawn": {
                "people": str(self.drawing.people),
                "rows": str(self.drawing.rows),
                "batches": str(self.drawing.batches),
                "resumed": str(self.drawing.resumed),
                "workers": str(self.drawing.workers),
            },
            "tries": {"all": str(self.drawing.tries), "most": str(self.drawing.most_tries)}
            if owner
            else None,
            "baseline": self.baseline.to_json() if owner and self.baseline is not None else None,
            "budget": dict(self.budget),
            "warnings": list(self.warnings),
        }


def step_json(step: SpendingStep, terms: Terms) -> dict[str, Any]:
    """What is spent once an option is counted, and the
    Machanavajjhala's (2008) own number where it has one.
    """
    found = {"name": step.name, "epsilon": step.epsilon, **with_decimals({"delta": terms.delta})}
    return found | {
        "printed_epsilon": step.printed if step.printed is None or isfinite(step.printed) else None
    }


def terms_json(terms: Terms) -> dict[str, Any]:
    """What a release promises, as JSON."""
    return {
        "epsilon": str(terms.epsilon),
        "epsilon_decimal": float(terms.epsilon),
        **with_decimals({"delta": terms.delta}),
        "guarantee": terms.guarantee,
        "mechanism": terms.mechanism,
        "accept": None if terms.accept is None else plain(terms.accept),
    }
