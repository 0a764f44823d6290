"""Beliefs: what somebody thinks about one person of a release:
before, after, and knowing the worst of some amount.

Somebody asks whether the person, of a group of N people of whom c have the value s, has s. They
know n values that the person does not have (negations), and k implications: atoms joined by and,
then atoms joined by or, where an atom says that somebody has a value. Whatever these are, with an
atom A_i out of each implication's first half

    odds against s  >=  P(the person has neither s nor a negated value, and no A_i is true) / P(the person has s)

and A_i -> "the person has s" reaches that (the proof of Martin, Kifer, Machanavajjhala, Gehrke and
Halpern, ICDE 2007, holds for every person and value; see `families.microdata.definitions.beliefs.implications`). So the atoms
are to be chosen that are least likely to be all false. Groups are independent; in other groups
`implications.least` knows the worst. In the person's own group let everybody avoid a set of values,
the person one with s and the negated ones:

* If two people avoid S and T, it is no more likely that they avoid the union and the intersection
  of S and T (whichever two values are left for the two, there are no more ways). So each set
  contains the next, the person's comes first, and person i avoids S_i with (N - c(S_i) - i) / (N -
  i), where c(S) people have a value of S.
* So every set has the most frequent values that it can have: the person's is s and the most
  frequent others, and a smaller one has the most frequent of all, which are among these.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.definitions.beliefs.implications import (
    KnownGroups,
    best_packs,
    crowds_of,
    least_logs,
    smallest,
)
from tacit.families.microdata.definitions.beliefs.worst_knowledge import (
    GroupKnowledge,
    denying,
    named,
    undecidable,
)
from tacit.families.microdata.definitions.c_k_safety import ways_to_avoid
from tacit.families.microdata.groups import Groups
from tacit.families.microdata.microdata import Person
from tacit.families.words import saying
from tacit.model.deadline import look

if TYPE_CHECKING:
    from tacit.families.microdata.definitions.beliefs.implications import Floats

MOST = 10  # negations, and implications, that somebody is taken to know
SHOWN = 12  # values of a person that are told of
CHECK = "background knowledge"


@dataclass(frozen=True, slots=True)
class KnowledgeAmount:
    """How much somebody knows: values that the person does not have, implications, and whether
    these may be about other groups too.
    """

    negations: int = 0
    implications: int = 0
    anywhere: bool = True


@dataclass(frozen=True, slots=True)
class BestGuess:
    """The greatest belief in one value of a person, and the knowledge behind it."""

    belief: Fraction
    knowledge: GroupKnowledge

    def beliefs(self, cells: Mapping[Any, int]) -> dict[Any, Fraction]:
        """The belief in every value of the person's group under this knowledge.

        Whatever else is avoided in the group is among what the person avoids:
        what is left is as likely as it is frequent.
        """
        knowledge = self.knowledge
        left = {
            value: number
            for value, number in cells.items()
            if value != knowledge.value and value not in knowledge.negated
        }
        whole = max(1, sum(left.values()))
        shares = {value: (1 - self.belief) * Fraction(left.get(value, 0), whole) for value in cells}
        return {**shares, knowledge.value: self.belief}


@dataclass(frozen=True, slots=True)
class AttackBelief:
    """One value: its share in the whole table, in the person's group, with what is known, and the
    most that such an amount could make it.

    `knowing` belongs to the knowledge that is worst for the value in question, `at_most` to the
    worst for this one; None where knowledge cannot be counted.
    """

    value: Any
    before: Fraction
    after: Fraction
    knowing: Fraction | None
    at_most: Fraction | None


@dataclass(frozen=True, slots=True)
class Believed:
    """What is believed about a person: `true` is their value in the table, `asked` the one that the
    knowledge is worst for.

    `people` share the group, `known` of them have a value, `different` values there are. `facts` is
    the knowledge in words; `outright` if they come to the same as being told, because somebody must
    have one of the values. `reason` says why knowledge was not counted.
    """

    person: Person
    column: str
    true: Any
    asked: Any
    people: int
    known: int
    different: int
    beliefs: tuple[AttackBelief, ...]
    facts: tuple[str, ...] = ()
    outright: bool = False
    reason: str | None = None

    def __getitem__(self, value: Any) -> AttackBelief:
        return next(one for one in self.beliefs if one.value == value)


Packs = list[
    tuple[Fraction, tuple[tuple[int, int], ...]]
]  # by number of atoms: how likely, and how many in which group


class OtherGroups:
    """The groups of a release as places for implications about people of
    other groups than the person's own.
    """

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._lengths = np.diff(groups.starts)
        self._filled = np.flatnonzero(self._lengths)
        self._found: dict[int, tuple[KnownGroups, Floats]] = {}

    def fewest(self, group: int) -> int | None:
        """The other group with the fewest values, the first of them;
        None where there is no other.
        """
        others = self._filled[self._filled != group]
        return int(others[np.argmin(self._lengths[others])]) if len(others) else None

    def packs(self, group: int, k: int) -> Packs:
        """For 0, 1, ... k atoms in other groups, the least probability that none is true, and how
        many are in which group.

        Every other group has more than k values.
        """
        if not k:
            return [(Fraction(1), ())]
        crowds, logs = self._crowds(k)
        hidden = np.searchsorted(crowds.numbers, group)
        if hidden < len(crowds.numbers) and crowds.numbers[hidden] == group:
            logs = logs.copy()
            logs[hidden] = np.inf
        found = [smallest(crowds, logs[:, atoms], atoms) for atoms in range(1, k + 1)]
        numbers = [int(crowds.numbers[row]) for row, _ in found]
        packs = best_packs([share for _, share in found])
        return [
            (share, tuple((numbers[size - 1], size) for size in sizes)) for share, sizes in packs
        ]

    def _crowds(self, k: int) -> tuple[KnownGroups, Floats]:
        if k not in self._found:
            crowds = crowds_of(deep(self.groups, k), k)
            self._found[k] = crowds, least_logs(crowds, k)
        return self._found[k]


def deep(groups: Groups, k: int) -> Groups:
    """The same groups, those with at most k values emptied."""
    lengths = np.diff(groups.starts)
    kept = np.where(lengths > k, lengths, 0)
    inside = np.repeat(lengths > k, lengths)
    return replace(
        groups,
        starts=np.concatenate(([0], np.cumsum(kept))),
        values=groups.values[inside],
        counts=groups.counts[inside],
    )


def worst_guess(
    groups: Groups, group: int, value: Any, amount: KnowledgeAmount, elsewhere: OtherGroups
) -> BestGuess:
    """The greatest belief that a person of a group has a value which
    occurs there, if so much is known.
    """
    cells, k = groups.cells(group), amount.implications
    others = tuple(one for one in cells if one != value)
    n = min(amount.negations, len(others))
    if n + k >= len(others):  # all other values can be ruled out
        return BestGuess(Fraction(1), GroupKnowledge(group, value, negated=others))
    apart = elsewhere.fewest(group) if amount.anywhere and k else None
    if apart is not None and len(every := tuple(groups.cells(apart))) <= k:
        # "If she has this value, then ..." for each value that she can have: that is to say it.
        return BestGuess(
            Fraction(1), GroupKnowledge(group, value, negated=others[:n], implied=((apart, every),))
        )
    packs = elsewhere.packs(group, k) if apart is not None else []
    inside = Inside(tuple(cells.values()), cells[value], n)
    own = [inside.least(at) for at in range(k + 1)]
    # Among equals the knowledge that is all about one group.
    at = min(
        range(k, -1, -1) if packs else (k,),
        key=lambda at: own[at][0] * packs[k - at][0] if packs else 0,
    )
    share, sizes = own[at]
    odds = share * (packs[k - at][0] if packs else 1) * inside.people / inside.having
    avoided = (value, *others[: sizes[0] - 1])
    mine = [(group, avoided if size == sizes[0] else tuple(cells)[:size]) for size in sizes[1:]]
    theirs = [
        (other, values)
        for other, size in (packs[k - at][1] if packs else ())
        for values in ways_to_avoid(groups, other, size)
    ]
    return BestGuess(
        1 / (1 + odds), GroupKnowledge(group, value, negated=avoided[1:], implied=(*mine, *theirs))
    )


Avoided = tuple[Fraction, tuple[int, ...]]  # how likely, and how many values everybody avoids


class Inside:
    """The person's own group: how likely it is that none of some atoms is true, one of which says
    that the person has the value.

    `counts` are its people by value, the most frequent first, `having` those with the value;
    the person avoids `negations` other values too.

    >>> Inside((2, 1, 1), having=1, negations=0).least(1)
    (Fraction(1, 4), (2,))
    """

    def __init__(self, counts: tuple[int, ...], having: int, negations: int) -> None:
        self.people, self.having, self._negations = sum(counts), having, negations
        others = list(counts)
        others.remove(having)
        self._whole = [
            having + one for one in accumulate(others, initial=0)
        ]  # with the value itself
        self._sums = [0, *accumulate(counts)]
        self._found: dict[tuple[int, int, int], Avoided | None] = {}

    def least(self, implications: int) -> Avoided:
        """The least probability with so many more atoms, and how many values everybody avoids,
        the person first.
        """
        atoms = 1 + self._negations + implications
        found = []
        for size in range(atoms, self._negations, -1):
            look()
            share = Fraction(1)
            for people in range(1, atoms // size + 1):
                share *= self._avoiding(self._whole[size - 1], people - 1)
                rest = self._rest(size - 1, people, atoms - people * size)
                if rest is not None:
                    found.append((share * rest[0], ((size,) * people) + rest[1]))
        return min(found, key=lambda one: one[0])

    def _avoiding(self, having: int, before: int) -> Fraction:
        """How likely somebody has no value of a set, if so many people before them have none of
        a larger one.
        """
        return Fraction(max(0, self.people - having - before), self.people - before)

    def _rest(self, size: int, person: int, atoms: int) -> Avoided | None:
        """The same for the atoms of further people who avoid at most so many values each, the
        most frequent ones.
        """
        if not atoms:
            return Fraction(1), ()
        if not size:
            return None
        if (size, person, atoms) not in self._found:
            self._found[size, person, atoms] = self._better(size, person, atoms)
        return self._found[size, person, atoms]

    def _better(self, size: int, person: int, atoms: int) -> Avoided | None:
        """The next person avoids so many values, or fewer."""
        fewer = self._rest(size - 1, person, atoms)
        if atoms < size or (more := self._rest(size, person + 1, atoms - size)) is None:
            return fewer
        share = self._avoiding(self._sums[size], person) * more[0]
        return fewer if fewer is not None and fewer[0] < share else (share, (size, *more[1]))


class Believer:
    """One sensitive column of a release, looked at once and then asked
    about one person after the other.

    `people` finds a few people of a group, to tell of them by name.
    """

    def __init__(
        self, scene: AttackScene, people: Callable[[int, int], list[Person]] | None = None
    ) -> None:
        self.scene, self.question, self.column, self.groups = (
            scene,
            scene.question,
            scene.column,
            scene.groups,
        )
        self._elsewhere = OtherGroups(self.groups)
        reason = undecidable(self.question, self.groups, CHECK)
        self._reason = reason.text if reason else None
        self._known = max(1, self.question.known_people(self.column))
        self._find = people or (
            lambda group, number: self.question.persons(self.groups, group, number)
        )
        self._people: dict[int, list[Person]] = {}

    def believe(
        self,
        person: Person,
        group: int,
        true: Any,
        amount: KnowledgeAmount | None = None,
        asked: Any = None,
    ) -> Believed:
        """What is believed about a person of a group.

        The knowledge is the worst for the value `asked` (else for the true one, of which all of it
        is true; else for the most frequent one).
        """
        amount = amount or KnowledgeAmount()
        shares = self.scene.shares(group)
        known = int(self.scene.cells.known[group])
        asked = next((one for one in (asked, true, *shares) if one in shares), None)
        told = dict.fromkeys(one for one in (asked, true, *list(shares)[:SHOWN]) if one is not None)
        guesses = (
            {}
            if self._reason
            else {
                value: worst_guess(self.groups, group, value, amount, self._elsewhere)
                for value in told
                if value in shares
            }
        )
        guess = guesses.get(asked)
        knowing = guess.beliefs(shares) if guess else {}
        beliefs = [
            AttackBelief(
                value,
                Fraction(self.question.before(self.column).get(value, 0), self._known),
                Fraction(shares.get(value, 0), max(1, known)),
                knowing.get(value, Fraction(0)) if guess else None,
                guesses[value].belief if value in guesses else None,
            )
            for value in told
        ]
        return Believed(
            person,
            self.column,
            true,
            asked,
            int(self.groups.sizes[group]),
            known,
            len(shares),
            tuple(sorted(beliefs, key=lambda one: -one.after)),
            self._knowledge_sentences(person, guess) if guess else (),
            any(
                len(values) == len(self.groups.cells(other))
                for other, values in guess.knowledge.implied
            )
            if guess
            else False,
            self._reason,
        )

    def _knowledge_sentences(self, person: Person, guess: BestGuess) -> tuple[str, ...]:
        """The knowledge in sentences about people of the table."""
        knowledge = guess.knowledge
        roles = [
            (knowledge.group, knowledge.value),
            *((group, None) for group, _ in knowledge.implied),
        ]
        names = named(
            roles, [person, *self._bystanders(person, [group for group, _ in knowledge.implied])]
        )
        claim = f"{names[0]} {saying(self.column, knowledge.value)}"
        return (
            *(f"{names[0]} {denying(self.column, value)}" for value in knowledge.negated),
            *(
                f"if {name} {saying(self.column, value)}, then {claim}"
                for name, (_, values) in zip(names[1:], knowledge.implied, strict=True)
                for value in values
            ),
        )

    def _bystanders(self, person: Person, groups: Sequence[int]) -> list[Person]:
        """Different people of some groups, none of them the person;
        without a name where there is none left.
        """
        taken: list[Mapping[str, Any]] = [person.identity]
        found = []
        for group in groups:
            if group not in self._people:
                self._people[group] = self._find(group, MOST + 1)
            one = next(
                (one for one in self._people[group] if one.identity not in taken), Person({}, {})
            )
            taken.append(one.identity)
            found.append(one)
        return found
