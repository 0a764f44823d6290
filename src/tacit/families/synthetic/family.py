"""Synthetic data as a family: outputs of a mechanism that promises something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.families.answer_files import read_file
from tacit.families.definition import Definition
from tacit.families.family import Family, about
from tacit.families.microdata.hierarchy import value_text
from tacit.families.release_kind import ReleaseKind, Row
from tacit.families.synthetic.question import SyntheticQuestion
from tacit.families.synthetic.reading.questions import synthetic_questions_of
from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene
from tacit.families.words import listed
from tacit.model.holdings import Hand, Problem, in_words
from tacit.model.numbers import exact, plain
from tacit.model.release import Synthetic
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan


class Outputs(ReleaseKind[Synthetic]):
    """Outputs of a mechanism; only the file itself says what goes out."""

    type = Synthetic
    answer = "file"
    example = "differential-privacy: {release: %s}"

    def tables(self, release: Synthetic, opened: OpenPlan) -> tuple[str, ...]:
        """Its one table."""
        return (release.table,)

    def described(self, release: Synthetic, plan: Plan) -> dict[str, Any]:
        """The mechanism."""
        fields = {key: one for key, one in asdict(release).items() if key not in ("name", "to")}
        return {"synthetic": fields}

    def in_a_line(self, release: Synthetic, plan: Plan) -> str:
        """What is drawn by what."""
        return f"Synthetic {release.value} by {release.group}, from {release.table}"

    def spent(self, release: Synthetic) -> Mapping[str, str]:
        """Its epsilon and delta, and which guarantee they are of."""
        return {
            "epsilon": str(release.epsilon),
            "delta": str(release.delta),
            "guarantee": release.guarantee,
        }

    def refuse_handed(self, release: Synthetic, opened: OpenPlan, answer: Path) -> None:
        """A file that the mechanism cannot have drawn."""
        refuse_drawn(synthetic_questions_of(opened).scene(release.name), answer)


class SyntheticFamily(Family[SyntheticQuestion]):
    """Outputs of mechanisms."""

    name = "synthetic"
    judges = frozenset({"synthetic"})
    draws = True
    releases = (Outputs(),)

    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> SyntheticQuestion:
        """All outputs together: what they spend adds up."""
        return synthetic_questions_of(opened).question(about(check, *hand.together))

    def needs_answers(self, check: Check) -> bool:
        """The promise is about all outputs."""
        return False

    def obstacle(
        self, check: Check, definition: Definition, plan: Plan, hand: Hand
    ) -> Problem | None:
        """Several outputs about the same people, and nothing says what they may spend in all."""
        said = getattr(definition, "epsilon", 0), getattr(definition, "delta", 0)
        if not hand.joined or None not in said:
            return None
        names = hand.together
        releases = [one for name in names if isinstance(one := plan.releases[name], Synthetic)]
        sums = (
            f", for example epsilon: {total([one.epsilon for one in releases])}, delta: "
            f"{float(sum(one.delta for one in releases)):g}"
        )
        text = (
            f"{in_words(hand.joined)} {'is' if len(hand.joined) == 1 else 'are'} about the same "
            f"people as {listed(hand.new)}, and what they spend adds up. Say in the check what "
            f"they may spend in all{sums}."
        )
        return Problem("composition", text, hand.joined[0])


def total(epsilons: Sequence[Fraction | str]) -> str:
    """Epsilons added up, as one writes it.

    >>> total([Fraction(2), Fraction(9, 2)]), total([Fraction(1), "ln(5)"])
    ('6.5', 'their sum')
    """
    try:
        return plain(sum((exact(one) for one in epsilons), Fraction(0)))
    except ValueError:
        return "their sum"


def refuse_drawn(scene: SyntheticScene, answer: Path) -> None:
    """Synthetic data that the mechanism cannot have drawn:
    other columns, values outside of the domain, other numbers of people.
    """
    release, shown = scene.release, read_file(answer, str(answer))
    names = (release.group, release.value, *([release.count] if release.count is not None else []))
    hint = (
        f"Give what tacit synthesize {release.name} -o FILE wrote, or record with "
        "--out-already what is published in any case."
    )
    if shown.columns != names:
        raise DataError(
            f"{answer} has the columns {', '.join(shown.columns)}, and {release.name} has "
            f"{', '.join(names)}.",
            hint=hint,
        )
    values, found = {value_text(value) for value in scene.labels}, Counter[str]()
    sizes = {value_text(group): people for group, people in scene.sizes.items()}
    for row in shown.rows:
        group, value = (None if one is None else value_text(one) for one in row[:2])
        if group is None or group not in sizes or value not in values:
            raise DataError(
                f"{answer} has people outside of the groups and the domain of {release.name}.",
                hint=hint,
            )
        found[group] += _people(row, answer)
    if release.mechanism == "dirichlet" and found != Counter(sizes):
        raise DataError(
            f"{answer} does not have as many people in each {release.group} as "
            f"{release.name} draws.",
            hint=hint,
        )


def _people(row: Row, answer: Path) -> int:
    """How many people a row of synthetic data stands for."""
    if len(row) == 2:
        return 1
    if not (text := value_text(row[2])).isdecimal():
        raise DataError(f"{answer} has {text!r} people in a row.", hint="Counts are whole numbers.")
    return int(text)


FAMILY = SyntheticFamily()
