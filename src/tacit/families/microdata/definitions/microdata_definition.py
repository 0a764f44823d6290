"""What all definitions of microdata have in common: the attacker, the assumptions, the story."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from tacit.errors import DataError, ParameterError
from tacit.families.definition import (
    EQUALLY_LIKELY,
    LEVELS_NOT_KNOWN,
    MISSING_UNKNOWN,
    NO_OTHER_RELEASE,
    SEVERAL_VALUES,
    Definition,
)
from tacit.families.microdata.definitions.together.person_view import (
    COUNTED,
    Needs,
    PersonView,
    Score,
)
from tacit.families.microdata.groups import Groups, Mask
from tacit.families.microdata.microdata import MicrodataQuestion, Missing, Person
from tacit.families.microdata.streamed import GroupTelling
from tacit.families.words import (
    beliefs,
    change,
    everybodys,
    known_facts,
    listed,
    mention,
    name_of,
    people,
    saying,
)
from tacit.model.numbers import percent
from tacit.model.verdict import Assumption

CLOSE = 1e-9  # shares that differ by less are compared exactly


class MicrodataDefinition(Definition):
    """A definition about groups of people who share what the attacker can look up."""

    __slots__ = ()
    missing: Missing

    def __post_init__(self) -> None:
        if self.missing not in get_args(Missing):
            raise ParameterError(
                f"there is no way {self.missing!r} to read missing values.",
                parameter="missing",
                hint="Use own-group, match-any or error.",
            )

    def is_monotone_for(self, question: MicrodataQuestion) -> bool:
        """Does it still hold when this release is generalized further?

        Not where people have several rows, or groups overlap:
        then merged groups are not sums of groups.
        """
        return self.monotone and question.base.persons is None and self.missing != "match-any"

    @property
    def least_group(self) -> int:
        """So many people every group has where it holds:
        what a repair can rule out before it looks at values.
        """
        return 1

    @property
    def whole_groups_suffice(self) -> bool:
        """Where rows may be dropped: is it enough to drop the groups that
        fail, as a whole and each for itself?

        So it is where a group is judged alone, and fewer people never make it better.
        Otherwise dropping another group, or some rows of a group, may help too.
        """
        return False

    @property
    def looks_up(self) -> bool:
        """Does it look up the values behind the labels, in a prior or in another table?"""
        return False

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """Which of `question.groups()` fail, without telling a story;
        None where they are not judged one by one.

        No group fails exactly where `check` holds. A repair asks this of thousands of releases.
        """
        return None

    @property
    def folds(self) -> bool:
        """Can it judge groups that it sees a part at a time?

        Yes, where nothing but their sizes and values counts: one stands for all that are alike.
        """
        return not self.looks_up and self.missing != "match-any"

    @property
    def copies(self) -> int:
        """How many groups that are alike it has to see, to see what all of them do."""
        return 1

    def telling(self, question: MicrodataQuestion, groups: Groups) -> GroupTelling | None:
        """What of some groups of streamed cells its verdict tells; None where it may be all that
        they have. Another group may be worse: it is asked of each part.
        """
        return None

    def to_drop(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask | None:
        """Which groups go first where rows may be dropped: those that fail, or, where groups are
        not judged one by one, those without which it holds; None where that is not known.
        """
        return self.failing(question, sensitive=sensitive)

    @property
    def asks_together(self) -> frozenset[Needs]:
        """What it asks about several releases of one table; nothing where it judges one alone.

        Where it asks for beliefs, a mean of beliefs that pass must pass, too.
        """
        return frozenset()

    @property
    def only_greatest(self) -> bool:
        """Of the beliefs about a person, does only the greatest count?"""
        return False

    @property
    def monotone_together(self) -> bool:
        """Beside other releases, does it still hold when this one is generalized further?

        There are more worlds then: more values and rows, but beliefs in them may grow.
        """
        return not self.asks_together & COUNTED

    @property
    def alone_because(self) -> str:
        """Why it judges one release alone, where it does."""
        return f"what {self.check_name} means for several releases is not defined"

    @property
    def knows_the_rest(self) -> bool:
        """Does it judge each of several sensitive columns given the others (Definition 3.11)?"""
        return False

    @property
    def averages(self) -> bool:
        """Is its one number a mean over everybody, and not the worst of all?"""
        return False

    def required(self) -> dict[str, Any]:
        """The parameters that count."""
        mine = fields(self)  # type: ignore[arg-type]
        return {one.name: getattr(self, one.name) for one in mine if one.name != "missing"}

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """The numbers that it gives what several releases tell of a person."""
        return iter(())

    def said(
        self,
        question: MicrodataQuestion,
        *,
        protects: str,
        measure: str,
        measured: dict[str, Any],
        required: dict[str, Any],
        also_knows: str = "",
        assumptions: tuple[Assumption, ...] = (),
        several: bool = False,
    ) -> dict[str, Any]:
        """The parts of a verdict that do not depend on its outcome."""
        optional = {"missing": self.missing} if self.missing != "own-group" else {}
        return {
            "check": self.check_name,
            "label": self.label,
            "subject": {"release": question.release},
            "certainty": "conservative" if several else "exact",
            "protects": protects,
            "against": (
                "anyone who knows who is in the table, and "
                f"{everybodys(question.quasi)}{also_knows}"
            ),
            "measure": measure,
            "assumptions": (
                *question.assumptions,
                *assumptions,
                LEVELS_NOT_KNOWN,
                NO_OTHER_RELEASE,
                *((MISSING_UNKNOWN,) if self.missing == "match-any" else ()),
                *((SEVERAL_VALUES,) if several else ()),
            ),
            "measured": measured,
            "required": {**required, **optional},
            "warnings": question.warnings,
        }

    def said_of_values(
        self, question: MicrodataQuestion, asked: list[Groups], **parts: Any
    ) -> dict[str, Any]:
        """The same for definitions that protect sensitive values;
        with several columns, each given the others.
        """
        columns = [str(groups.sensitive) for groups in asked]
        others = ", and the other sensitive columns" if len(asked) > 1 else ""
        return self.said(
            question,
            protects=f"each person's {listed(columns)}",
            also_knows=others + parts.pop("also_knows", ""),
            assumptions=(EQUALLY_LIKELY,),
            several=any(groups.several for groups in asked),
            **parts,
        )


def one_column(question: MicrodataQuestion, sensitive: str | None, check: str) -> str:
    """The column that a definition for one column judges, which has values."""
    column = sensitive or question.sensitive[0]
    if sensitive is None and len(question.sensitive) > 1:
        raise DataError(
            f"table {question.table.name} has {len(question.sensitive)} sensitive columns, and "
            f"{check} judges one.",
            hint=f"Say which, for example sensitive: {column}",
        )
    if not question.base.dictionaries[column]:
        raise DataError(
            f"column {column!r} of table {question.table.name} has no values at all.",
            hint="There is nothing to protect: name another sensitive column.",
        )
    return column


@dataclass(frozen=True, slots=True)
class Learned:
    """What somebody learns about a person:
    a sensitive value, believed before and after the release.

    Beliefs are shares among the people whose value is known; `unknown` others are in the group.
    """

    person: Person
    column: str
    value: Any
    before: tuple[int, int]
    after: tuple[int, int]
    unknown: int = field(default=0, kw_only=True)

    def personal(self) -> dict[str, Any]:
        """As evidence: who, which value, belief before and after."""
        return {
            "person": dict(self.person.identity),
            "known": dict(self.person.known),
            "value": self.value,
            "before": Fraction(*self.before),
            "after": Fraction(*self.after),
        }

    def claim(self) -> str:
        """What is believed of the person."""
        return saying(self.column, self.value)

    def attack(self) -> str:
        """The story of a breach."""
        name, share = name_of(self.person), Fraction(*self.after)
        sure = "knows" if share == 1 else f"believes with {percent(share)}"
        if self.unknown:
            sure += f", unless it is one of the {people(self.unknown)} with none given,"
        return (
            f"Anyone who knows that {name} {known_facts(self.person.known)} now {sure} "
            f"that {mention(self.person)} {self.claim()}. {beliefs(self.before, self.after)}."
        )

    def remainder(self) -> str:
        """What is still learned where nothing is breached."""
        before, after = Fraction(*self.before), Fraction(*self.after)
        return (
            f"Still learned: {name_of(self.person)} {self.claim()}, {change(before, after)}; "
            f"nobody above {percent(after)}."
        )


def learned(
    question: MicrodataQuestion, groups: Groups, number: int, besides: Collection[Any] = ()
) -> Learned | None:
    """What is learned about the first person of a group who has its most frequent value.

    Values in `besides` may be disclosed and are passed over.
    """
    cells = groups.cells(number)
    value = next((value for value in cells if value not in besides), None)
    if value is None:
        return None
    column = str(groups.sensitive)
    return Learned(
        question.person(groups, number, value),
        column,
        value,
        (question.before(column)[value], question.known_people(column)),
        (cells[value], sum(cells.values())),
        unknown=int(groups.sizes[number]) - sum(cells.values()),
    )


def most_learned(
    question: MicrodataQuestion, asked: list[Groups], besides: Collection[Any] = ()
) -> Learned | None:
    """The greatest belief that anybody can have about anybody, in a
    value that is not in `besides`.
    """
    found = [learned(question, groups, surest(groups, besides), besides) for groups in asked]
    return max((one for one in found if one), key=lambda one: Fraction(*one.after), default=None)


def surest(groups: Groups, besides: Collection[Any] = ()) -> int:
    """The first group in which one value has the greatest share.

    Floats leave out what is clearly smaller; fractions decide among the rest.
    """
    owner = np.repeat(np.arange(len(groups)), np.diff(groups.starts))
    codes = [code for code, value in enumerate(groups.dictionary) if value in besides]
    allowed = np.flatnonzero(~np.isin(groups.values, codes)) if codes else np.arange(len(owner))
    if not len(allowed):
        return 0
    filled, first = np.unique(owner[allowed], return_index=True)
    top = groups.counts[allowed[first]]
    total = np.bincount(owner, weights=groups.counts, minlength=len(groups)).astype(np.int64)[
        filled
    ]
    close = np.flatnonzero(top / total >= np.max(top / total) - CLOSE)
    pairs, one = np.unique(np.stack((top[close], total[close])), axis=1, return_index=True)
    best = max(
        range(len(one)), key=lambda i: (Fraction(int(pairs[0, i]), int(pairs[1, i])), -one[i])
    )
    return int(filled[close[one[best]]])


def group_facts(
    question: MicrodataQuestion, groups: Groups, number: int, below: Any
) -> dict[str, Any]:
    """How big the group of a witness is, and how many are like it."""
    return {
        "size": int(groups.sizes[number]),
        "groups_below": groups.many(below),
        "people_below": groups.people(below),
        "people": question.people,
    }


def exposed(facts: dict[str, Any], label: str) -> str:
    """How many people are concerned, for the end of a story.

    >>> exposed({"people": 12, "people_below": 8, "people_certain": 4}, "3-diversity")
    '4 of 12 people are exposed for certain, 8 are in groups that fail 3-diversity.'
    """
    everybody, below, certain = (
        people(facts["people"]),
        facts["people_below"],
        facts.get("people_certain", 0),
    )
    if certain:
        return (
            f"{certain:,} of {everybody} are exposed for certain, {below:,} are in groups "
            f"that fail {label}."
        )
    return f"{below:,} of {everybody} are in groups that fail {label}."
