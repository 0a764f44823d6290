"""Re-identification risk: how likely is it that a row is pinned to the right person?

The three attackers of the field (Elliot and Dale 1999; El Emam 2013, chapter 16).
Risk is about whose row it is, not about what the row says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tacit.errors import ParameterError
from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.together.person_view import Needs, PersonView, Score, most
from tacit.families.microdata.groups import Groups, Mask
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.streamed import GroupTelling
from tacit.families.parameters import number
from tacit.families.words import everybodys, known_facts, name_of, people
from tacit.model.numbers import percent, plain
from tacit.model.verdict import Assumption, Certificate, Verdict, Witness

if TYPE_CHECKING:
    Integers = np.ndarray[Any, np.dtype[np.int64]]

Attacker = Literal["prosecutor", "journalist", "marketer"]
MEASURES = {
    "prosecutor": "the chance to find the row of somebody who is known to be in the table",
    "journalist": "the chance to find the person of the population behind some row",
    "marketer": "the share of people who are found by guessing for everybody",
}


@dataclass(frozen=True, slots=True)
class Risk(MicrodataDefinition):
    """Re-identification risk is `at_most` so much, for one of three attackers.

    `prosecutor` knows that the target is in the table: one over the size of the group, for the
    person worst off. `journalist` wants to find anybody, and does not know who of the `population`
    (another table of the plan) is in the table: one over the population's group. `marketer` guesses
    for everybody: the expected share of right guesses.

    >>> Risk(at_most="1/5").label
    'prosecutor risk at most 0.2'
    """

    at_most: Any
    attacker: Attacker = "prosecutor"
    population: str | None = None
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "risk"
    monotone: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="which row is whose",
        against="a prosecutor, a journalist or a marketer",
        measured="the chance to find the right row",
        risks=("singling out",),
        disclosures=("identity",),
    )

    def __post_init__(self) -> None:
        MicrodataDefinition.__post_init__(self)
        object.__setattr__(self, "at_most", number("at_most", self.at_most, above=0, most=1))
        if self.attacker not in MEASURES:
            raise ParameterError(
                f"there is no attacker {self.attacker!r}.",
                parameter="attacker",
                hint="Use prosecutor, journalist or marketer.",
            )
        if self.attacker == "journalist" and self.population is None:
            raise ParameterError(
                "a journalist searches a population.",
                parameter="attacker",
                hint=(
                    "Name the table that has it, with the same quasi-identifiers: population: TABLE"
                ),
            )
        if self.attacker == "prosecutor" and self.population is not None:
            raise ParameterError(
                "a prosecutor knows who is in the table and needs no population.",
                parameter="population",
                hint="Leave it out, or use attacker: journalist or marketer.",
            )

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return f"{self.attacker} risk at most {plain(self.at_most)}"

    @property
    def whole_groups_suffice(self) -> bool:
        """Fewer people never help; the marketer's risk is a mean over all groups."""
        return self.attacker == "prosecutor" and self.missing != "match-any"

    @property
    def looks_up(self) -> bool:
        """Yes, where there is a population."""
        return self.population is not None

    @property
    def asks_together(self) -> frozenset[Needs]:
        """How likely it is that a row is a person's; a population is looked up for one release."""
        return frozenset() if self.looks_up else frozenset({"chances"})

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone."""
        return "how many of a population look alike is counted for one release"

    @property
    def averages(self) -> bool:
        """Yes, for who guesses for everybody."""
        return self.attacker == "marketer"

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The greatest chance that a row is the person's."""
        text, limit = f"risk {in_words(seen.chance)}", plain(self.at_most)
        yield most("risk", seen.chance, self.at_most, text, limit)

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """The groups whose members are too easy to find;
        the marketer's risk is not one of groups.
        """
        if self.attacker == "marketer":
            return None
        groups = question.groups(missing=self.missing)
        hidden_in = self._hidden_in(question, groups)
        too_few: Mask = hidden_in * self.at_most.numerator < self.at_most.denominator
        return too_few

    def to_drop(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """The same; for the marketer the people who are easiest to find, until the mean is met."""
        if self.attacker != "marketer":
            return self.failing(question)
        groups = question.groups(missing=self.missing)
        return easiest(groups.sizes, self._hidden_in(question, groups), self.at_most)

    @property
    def folds(self) -> bool:
        """Also where there is a population: it is counted group by group."""
        return self.missing != "match-any"

    def telling(self, question: MicrodataQuestion, groups: Groups) -> GroupTelling:
        """How many people they have, and among how many these are hidden."""
        return GroupTelling((), (groups.sizes, self._hidden_in(question, groups)))

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Compute the risk of every group."""
        groups = question.groups(missing=self.missing)
        hidden_in = self._hidden_in(question, groups)
        worst = int(np.argmin(hidden_in))
        risk = Fraction(1, int(hidden_in[worst]))
        if self.attacker == "marketer":
            risk = expected_share(groups.sizes, hidden_in, groups.times)
        said = self.said(
            question,
            protects="which row belongs to whom",
            measure=MEASURES[self.attacker],
            measured={"risk": risk},
            required={"risk": self.at_most, "attacker": self.attacker},
            assumptions=(IN_THE_TABLE,) if self.population is None else (POPULATION,),
        )
        if self.population is not None:
            said["against"] = (
                f"anyone who knows {everybodys(question.quasi)}, and searches the population"
            )
        facts = self._facts(question, groups, hidden_in)
        if risk <= self.at_most:
            because = f"risk {in_words(risk)}"
            return Verdict(
                status="holds", because=because, evidence=Certificate("groups", facts), **said
            )
        facts["size"] = int(hidden_in[worst])
        return self._breached(question, groups, worst, risk, facts, said)

    def _hidden_in(self, question: MicrodataQuestion, groups: Groups) -> Integers:
        """Among how many people those of each group are hidden."""
        if self.population is None:
            return groups.sizes
        return question.population(self.population, groups)

    def _facts(
        self, question: MicrodataQuestion, groups: Groups, hidden_in: Integers
    ) -> dict[str, Any]:
        return {
            "groups": groups.number,
            "people": question.people,
            "uniques": groups.many(hidden_in == 1),
            "average_risk": expected_share(groups.sizes, hidden_in, groups.times),
        }

    def _breached(
        self,
        question: MicrodataQuestion,
        groups: Groups,
        worst: int,
        risk: Fraction,
        facts: dict[str, Any],
        said: dict[str, Any],
    ) -> Verdict:
        person = question.person(groups, worst)
        name = name_of(person)
        where = "the table" if self.population is None else "the population"
        return Verdict(
            status="breached",
            because=f"risk {in_words(risk)}, at most {plain(self.at_most)} allowed; "
            f"{facts['uniques']:,} unique in {where}",
            evidence=Witness(
                "group",
                facts,
                {
                    "values": groups.label(worst),
                    "person": dict(person.identity),
                    "known": dict(person.known),
                },
            ),
            story=f"The easiest to find is {name}, who {known_facts(person.known)}: "
            f"one of {people(facts['size'])} of {where} who look like that.",
            **said,
        )


IN_THE_TABLE = Assumption("known-to-be-in", "the attacker knows who is in the table", "cannot")
POPULATION = Assumption(
    "population", "the population table lists everybody who could be in the table", "cannot"
)


def expected_share(sizes: Integers, hidden_in: Integers, times: Integers | None = None) -> Fraction:
    """The expected share of right guesses: the mean over people of one over what hides them.

    Equal pairs of sizes are added at once, so the exact sum stays cheap. There are `times` groups
    of each, or one.

    >>> expected_share(np.array([2, 2, 4]), np.array([2, 2, 4]))
    Fraction(3, 8)
    """
    alike = np.stack((sizes, hidden_in))
    if times is None:
        pairs, many = np.unique(alike, axis=1, return_counts=True)
        people = int(sizes.sum())
    else:
        pairs, kind = np.unique(alike, axis=1, return_inverse=True)
        many = np.zeros(pairs.shape[1], dtype=np.int64)
        np.add.at(many, kind.reshape(-1), times)
        people = int((sizes * times).sum())
    return (
        sum(
            (
                Fraction(size * number, hidden)
                for size, hidden, number in zip(
                    pairs[0].tolist(), pairs[1].tolist(), many.tolist(), strict=True
                )
            ),
            Fraction(0),
        )
        / people
    )


def easiest(sizes: Integers, hidden_in: Integers, at_most: Fraction) -> Mask:
    """The groups without which the expected share of right guesses is at most so much, those that
    hide people the least; all of them where nothing less helps.

    Without a population a smaller group is both dearer and fewer people, so no other groups of
    fewer people would do.

    >>> easiest(np.array([2, 1, 4, 1]), np.array([2, 1, 4, 1]), Fraction(2, 5))
    array([False,  True, False,  True])
    """
    alike, kind = np.unique(hidden_in * (sizes.max() + 1) + sizes, return_inverse=True)
    found = np.zeros(len(sizes), dtype=bool)
    order, times = np.argsort(kind, kind="stable"), np.bincount(kind, minlength=len(alike))
    firsts = np.cumsum(times) - times
    gains = [
        int(sizes[place]) * (Fraction(1, int(hidden_in[place])) - at_most)
        for place in order[firsts].tolist()
    ]
    over = sum((gain * int(many) for gain, many in zip(gains, times, strict=True)), Fraction(0))
    for first, gain, many in zip(firsts.tolist(), gains, times.tolist(), strict=True):
        if over <= 0:
            return found
        if gain <= 0:
            break
        needed = min(many, ceil(over / gain))
        found[order[first : first + needed]] = True
        over -= needed * gain
    return found if over <= 0 else np.ones(len(sizes), dtype=bool)


def in_words(risk: Fraction) -> str:
    """A risk as a person reads it.

    >>> in_words(Fraction(1, 4)), in_words(Fraction(167399801, 2539555200))
    ('1/4 (25 %)', '6.6 %')
    """
    return f"{risk} ({percent(risk)})" if risk.denominator < 10_000 else percent(risk)
