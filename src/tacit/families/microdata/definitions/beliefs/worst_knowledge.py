"""What definitions about background knowledge share:
the worst knowledge, told about people by name.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.definition import EQUALLY_LIKELY
from tacit.families.microdata.definitions.microdata_definition import (
    Learned,
    MicrodataDefinition,
    exposed,
    group_facts,
    one_column,
)
from tacit.families.microdata.definitions.together.person_view import PersonView, Score
from tacit.families.microdata.definitions.worst_group import short
from tacit.families.microdata.groups import Groups, Mask
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.families.parameters import number
from tacit.families.words import (
    beliefs,
    change,
    known_facts,
    listed,
    mention,
    name_of,
    plural,
    saying,
    spoken,
)
from tacit.model.numbers import percent, plain
from tacit.model.verdict import Certificate, Reason, Verdict, Witness

REASONS = {
    "several-values": "people have several values",
    "several-groups": "people are in several groups",
}
SHOWN = 5  # facts in a story; the evidence has them all


@dataclass(frozen=True, slots=True)
class GroupKnowledge:
    """What is known beside the release to find out whether a person of a group has a value.

    `negated` are values that this person does not have. `known` are other people, by group, with
    the value of each. `implied` are other people, by group, with some values: if they had one of
    these, the person would have the value in question.
    """

    group: int
    value: Any
    negated: tuple[Any, ...] = ()
    known: tuple[tuple[int, Any], ...] = ()
    implied: tuple[tuple[int, tuple[Any, ...]], ...] = ()

    def roles(self) -> list[tuple[int, Any]]:
        """Everybody who occurs: their group and the value they have, None where it may be any."""
        anybody = [(group, None) for group, _ in self.implied]
        return [(self.group, self.value), *self.known, *anybody]


@dataclass(frozen=True, slots=True)
class GreatestBelief:
    """The greatest belief, the knowledge behind it, and the groups
    where belief is not below the limit.
    """

    belief: Fraction
    knowledge: GroupKnowledge
    below: Mask


@dataclass(frozen=True, slots=True)
class Deduced(Learned):
    """What somebody learns who knows other things too:
    `knowledge` in words, `more` for programs.
    """

    knowledge: tuple[str, ...]
    more: Mapping[str, Any]

    def personal(self) -> dict[str, Any]:
        """As evidence: who, which value, belief before and after, and what one has to know."""
        return {**Learned.personal(self), "knowledge": list(self.knowledge), **self.more}

    def attack(self) -> str:
        """The story of a breach."""
        share = Fraction(*self.after)
        sure = "knows" if share == 1 else f"believes with {percent(share)}"
        known = [f"that {name_of(self.person)} {known_facts(self.person.known)}"]
        if self.unknown:
            known.append(f"whose {spoken(self.column)} is not given")
        return (
            f"Anyone who knows {listed([*known, *self._sentences()])} now {sure} that "
            f"{mention(self.person)} {self.claim()}. {beliefs(self.before, self.after)}."
        )

    def remainder(self) -> str:
        """What is still learned where nothing is breached."""
        before, after = Fraction(*self.before), Fraction(*self.after)
        whom = f" for anyone who knows {listed(self._sentences())}" if self.knowledge else ""
        return (
            f"Still learned: {name_of(self.person)} {self.claim()}, {change(before, after)}{whom}; "
            f"nobody above {percent(after)}."
        )

    def _sentences(self) -> list[str]:
        rest = len(self.knowledge) - SHOWN
        more = [f"{plural('more fact', rest)} of this kind"] if rest > 0 else []
        return [*(f"that {fact}" for fact in self.knowledge[:SHOWN]), *more]


class BackgroundDefinition(MicrodataDefinition):
    """Whatever somebody knows beside the release, up to some amount, a belief stays below `c`."""

    __slots__ = ()
    c: Any

    def __post_init__(self) -> None:
        MicrodataDefinition.__post_init__(self)
        limit = "is no limit: no belief is below 0 or above 1"
        object.__setattr__(self, "c", number("c", self.c, above=0, most=1, because=limit))

    @abstractmethod
    def worst(self, groups: Groups) -> GreatestBelief:
        """The greatest belief that such knowledge can give."""

    @abstractmethod
    def knows(self, column: str) -> str:
        """What the other side may know beside the release, in words; empty where it is nothing."""

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The greatest belief in a value of somebody of whom nothing else is known."""
        if seen.weights:
            found = seen.greatest
            text = f"a belief of {short(found, up=True)}"
            limit = f"below {plain(self.c)} required"
            yield Score("belief", found, found >= self.c, found, text, limit, at_most=True)

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for the knowledge that tells most about anybody."""
        column = one_column(question, sensitive, self.check_name)
        groups = question.groups(column, self.missing)
        if reason := undecidable(question, groups, self.check_name):
            return Verdict(
                status="undecided",
                because=REASONS[reason.code],
                evidence=reason,
                **self._constant_parts(question, column, {}),
            )
        found = self.worst(groups)
        told = deduced(question, groups, found)
        said = self._constant_parts(question, column, {"belief": found.belief})
        if found.belief >= self.c:
            return self._breached(question, groups, found, told, said)
        return Verdict(
            status="holds",
            because=f"no belief is above {short(found.belief, up=True)}",
            evidence=Certificate(
                "groups",
                {"groups": groups.number, "people": question.people, "sensitive": [column]},
                told.personal(),
            ),
            story=told.remainder(),
            **said,
        )

    def _breached(
        self,
        question: MicrodataQuestion,
        groups: Groups,
        found: GreatestBelief,
        told: Deduced,
        said: dict[str, Any],
    ) -> Verdict:
        number = found.knowledge.group
        facts = {
            **group_facts(question, groups, number, found.below),
            "sensitive": str(groups.sensitive),
        }
        shown = {"values": groups.label(number), "counts": groups.cells(number)}
        return Verdict(
            status="breached",
            because=f"a belief of {short(found.belief, up=True)}, below {plain(self.c)} required",
            evidence=Witness("person", facts, {**shown, **told.personal()}),
            story=f"{told.attack()} {exposed(facts, self.label)}",
            **said,
        )

    def _constant_parts(
        self, question: MicrodataQuestion, column: str, measured: dict[str, Any]
    ) -> dict[str, Any]:
        knows = self.knows(column)
        return self.said(
            question,
            protects=f"each person's {column}",
            measure="how certain someone can become",
            measured=measured,
            required=self.required(),
            also_knows=f", and {knows}" if knows else "",
            assumptions=(EQUALLY_LIKELY,),
        )


def undecidable(question: MicrodataQuestion, groups: Groups, check: str) -> Reason | None:
    """Why the worlds of a release cannot be counted group by group, if so.

    Who has several values, or is in several groups, makes statements such as "if Ann has flu, so
    has Bob" mean more than one atom.
    """
    if groups.several:
        return Reason(
            "several-values",
            f"Some people have several values of {groups.sensitive} in a group, and {check} is "
            "defined for one value each. Keep one row for each person, or leave person: out to "
            "judge rows.",
        )
    if int(groups.sizes.sum()) > question.people:
        return Reason(
            "several-groups",
            f"Some people are in several groups, and {check} is defined for groups that do not "
            "overlap. Keep one row for each person, and read missing values as a group of their "
            "own.",
        )
    return None


def deduced(question: MicrodataQuestion, groups: Groups, found: GreatestBelief) -> Deduced:
    """The knowledge as facts about people of the table. It is true: the person has the value."""
    column, knowledge = str(groups.sensitive), found.knowledge
    everybody = cast(question, groups, knowledge.roles())
    names = named(knowledge.roles(), everybody)
    claim = f"{names[0]} {saying(column, knowledge.value)}"
    known = list(zip(names[1:], knowledge.known, strict=False))
    implied = list(zip(names[1 + len(known) :], knowledge.implied, strict=True))
    sentences = [
        *(f"{names[0]} {denying(column, value)}" for value in knowledge.negated),
        *(f"{name} {saying(column, value)}" for name, (_, value) in known),
        *(
            f"if {name} {saying(column, value)}, then {claim}"
            for name, (_, values) in implied
            for value in values
        ),
    ]
    before = question.before(column)[knowledge.value]
    return Deduced(
        everybody[0],
        column,
        knowledge.value,
        (before, question.known_people(column)),
        found.belief.as_integer_ratio(),
        tuple(sentences),
        pieces(groups, knowledge, everybody),
        unknown=sum(missing(groups, group) for group in {group for group, _ in knowledge.roles()}),
    )


def missing(groups: Groups, number: int) -> int:
    """How many people of a group have no value."""
    return int(groups.sizes[number]) - sum(groups.cells(number).values())


def pieces(groups: Groups, knowledge: GroupKnowledge, everybody: list[Person]) -> dict[str, Any]:
    """The knowledge for programs: each other person with their
    group, and what is known about them.
    """
    told = [
        *((group, {"has": value}) for group, value in knowledge.known),
        *((group, {"if": list(values)}) for group, values in knowledge.implied),
    ]
    others = [
        {"person": dict(person.identity), "values": groups.label(group), **fact}
        for person, (group, fact) in zip(everybody[1:], told, strict=True)
    ]
    return {"negated": list(knowledge.negated), "others": others}


def cast(question: MicrodataQuestion, groups: Groups, roles: list[tuple[int, Any]]) -> list[Person]:
    """Different people of the table for some roles; without a name where there is none left.

    Those who must have a certain value come first in `roles`, and so choose first.
    """
    found: dict[tuple[int, Any], list[Person]] = {}
    taken: list[Mapping[str, Any]] = []
    chosen = []
    for group, value in roles:
        if (group, value) not in found:
            found[group, value] = question.persons(groups, group, len(roles), value)
        nobody = Person({}, {})
        person = next((one for one in found[group, value] if one.identity not in taken), nobody)
        taken.append(person.identity)
        chosen.append(person)
    first = chosen[0] if chosen[0].identity else question.person(groups, *roles[0])
    return [first, *chosen[1:]]


def named(roles: list[tuple[int, Any]], everybody: list[Person]) -> list[str]:
    """How to call everybody in the facts; people without a name are told apart by numbers.

    >>> named(
    ...     [(0, "flu"), (0, None), (1, None)],
    ...     [Person({"name": "Ann"}, {}), Person({}, {}), Person({}, {})],
    ... )
    ['Ann', 'another person of the group (1)', 'a person of another group (2)']
    """
    names, number = [mention(everybody[0])], 0
    for (group, _), person in zip(roles[1:], everybody[1:], strict=True):
        number += not person.identity
        whose = (
            "another person of the group" if group == roles[0][0] else "a person of another group"
        )
        names.append(name_of(person) if person.identity else f"{whose} ({number})")
    return names


def denying(column: str, value: Any) -> str:
    """One fact about a person, denied.

    >>> (
    ...     denying("condition", "Flu"),
    ...     denying("sex", "F"),
    ...     denying("city", "Bonn"),
    ...     denying("born", 1990),
    ... )
    ('does not have Flu', 'is not F', 'does not live in Bonn', 'was not born 1990')
    """
    verb, _, rest = saying(column, value).partition(" ")
    if verb in ("is", "was"):
        return f"{verb} not {rest}"
    return f"does not {'have' if verb == 'has' else re.sub('s$', '', verb)} {rest}"
