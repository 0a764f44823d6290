"""l-diversity: does every group have l well-represented sensitive values? (Machanavajjhala 2008,
3.4)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.errors import ParameterError
from tacit.families.definition import DefinitionFacts
from tacit.families.microdata.definitions.diversity import (
    UNBOUNDED,
    DiversityFinding,
    Rarest,
    below_entropy,
    distinct,
    entropic,
    largest_recursive,
    rarest,
    recursive,
)
from tacit.families.microdata.definitions.entropy import DIGITS, diversity, is_diverse
from tacit.families.microdata.definitions.microdata_definition import (
    MicrodataDefinition,
    exposed,
    group_facts,
    learned,
    most_learned,
    surest,
)
from tacit.families.microdata.definitions.together.person_view import (
    Needs,
    PersonView,
    Score,
    least,
)
from tacit.families.microdata.groups import Groups, Mask
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion, Missing
from tacit.families.microdata.streamed import GroupTelling
from tacit.families.parameters import number
from tacit.families.words import change, known_facts, mention, name_of, plural, saying
from tacit.model.numbers import percent, percent_exactly, plain
from tacit.model.verdict import Certificate, Verdict, Witness

Kind = Literal["distinct", "entropy", "recursive"]


@dataclass(frozen=True, slots=True)
class LDiversity(MicrodataDefinition):
    """Every group has `l` well-represented values of the sensitive column.

    `distinct`: at least l different values. `entropy` (Definition 3.7): the entropy of the values
    is at least log(l). `recursive` (Definition 3.8): r_1 < c (r_l + ... + r_m), where r_i is how
    often the i-th most frequent value occurs: whoever rules out l-2 values is still unsure.

    Recursive diversity has two extensions. Values in `dont_care` may be disclosed (pd-recursive,
    Definition 3.9). Values in `negative` must not be ruled out either: each occurs in at least `c2`
    percent of every group (npd-recursive, Definition 3.10).

    >>> LDiversity(kind="entropy", l="2.8").label
    'entropy 2.8-diversity'
    >>> LDiversity(kind="recursive", l=4)
    Traceback (most recent call last):
    tacit.errors.ParameterError: recursive l-diversity needs c. Write for example c: 3.
    """

    kind: Kind
    l: Any  # noqa: E741  (the literature's own name)
    c: Any = None
    dont_care: Sequence[Any] = ()
    negative: Sequence[Any] = ()
    c2: Any = None
    missing: Missing = "own-group"

    check_name: ClassVar[str] = "l-diversity"
    monotone: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="each person's value",
        against="the same, and who can rule out a few values for a person",
        measured="how well the values of a group are represented",
        risks=("inference",),
        disclosures=("attribute",),
    )

    def __post_init__(self) -> None:
        MicrodataDefinition.__post_init__(self)
        if self.kind not in ("distinct", "entropy", "recursive"):
            raise ParameterError(
                f"there is no kind {self.kind!r} of l-diversity.",
                parameter="kind",
                hint="Use distinct, entropy or recursive.",
            )
        object.__setattr__(self, "l", number("l", self.l, above=1, because="protects nobody"))
        if self.kind != "entropy" and self.l.denominator != 1:
            raise ParameterError(
                f"l={plain(self.l)} is not a whole number, and {self.kind} l-diversity "
                "counts values.",
                parameter="l",
                hint=f"Use l={self.l.__ceil__()}, or the kind entropy.",
            )
        self._check_c()

    def _check_c(self) -> None:
        if self.kind != "recursive":
            for name in ("c", "dont_care", "negative", "c2"):
                if getattr(self, name) not in (None, ()):
                    raise ParameterError(
                        f"{self.kind} l-diversity has no {name}.",
                        parameter=name,
                        hint=f"Leave {name} out, or use the kind recursive.",
                    )
            return
        if self.c is None:
            raise ParameterError(
                "recursive l-diversity needs c.", parameter="kind", hint="Write for example c: 3."
            )
        if bool(self.negative) != (self.c2 is not None):
            raise ParameterError(
                "negative and c2 belong together: which values must not be ruled out, and their "
                "least percentage.",
                parameter="negative" if self.negative else "c2",
                hint="Write for example negative: [HIV], c2: 5.",
            )
        object.__setattr__(self, "c", number("c", self.c, above=0))
        object.__setattr__(self, "dont_care", tuple(self.dont_care))
        object.__setattr__(self, "negative", tuple(self.negative))
        if self.c2 is not None:
            object.__setattr__(self, "c2", number("c2", self.c2, above=0, most=100))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        if self.negative:
            return f"npd-recursive ({plain(self.c)},{plain(self.c2)},{plain(self.l)})-diversity"
        if self.kind == "recursive":
            kind = "pd-recursive" if self.dont_care else "recursive"
            return f"{kind} ({plain(self.c)},{plain(self.l)})-diversity"
        return f"{'entropy ' if self.kind == 'entropy' else ''}{plain(self.l)}-diversity"

    @property
    def whole_groups_suffice(self) -> bool:
        """Fewer people never help where values are counted;
        their frequencies can become more even.
        """
        return self.kind == "distinct" and self.missing != "match-any"

    @property
    def strictest_is_worst(self) -> bool:
        """Where values are counted, fewer values are worse."""
        return self.kind == "distinct"

    @property
    def extreme_spellings_suffice(self) -> bool:
        """Values that become one majorize: their entropy falls, and fewer people are left beside
        the most frequent ones.
        """
        return not self.dont_care and not self.negative

    @property
    def least_group(self) -> int:
        """One person for each of l values, unless some may be disclosed."""
        return 1 if self.dont_care else int(self.l.__ceil__())

    @property
    def knows_the_rest(self) -> bool:
        """Yes, unless one column is named."""
        return True

    @property
    def asks_together(self) -> frozenset[Needs]:
        """Which values a person can have; how likely each is, where frequencies count."""
        return frozenset({"values"} if self.kind == "distinct" else {"beliefs"})

    def scores(self, seen: PersonView) -> Iterator[Score]:
        """How diverse the values are that a person can have."""
        if self.kind == "distinct":
            text = f"{plural(seen.about.column, len(seen.values))} left"
            yield least("l", len(seen.values), self.l, text, plain(self.l))
        elif self.kind == "entropy":
            counts = list(seen.weights.values()) or [1]
            found = diversity(counts)
            yield Score(
                "l",
                self._measured(found),
                not is_diverse(counts, self.l),
                -found,
                f"entropy {truncated(found, 3)}",
                f"{plain(self.l)} required",
            )
        else:
            yield from self._recursive_scores(seen)

    def _recursive_scores(self, seen: PersonView) -> Iterator[Score]:
        named = {seen.about.values[code]: weight for code, weight in seen.weights.items()}
        found = largest_recursive(named, self.c, self.dont_care)
        kind = "pd-recursive" if self.dont_care else "recursive"
        text = f"{kind} ({plain(self.c)},{self._measured(found)})-diversity"
        limit = f"({plain(self.c)},{plain(self.l)})"
        yield Score("l", self._measured(found), found < self.l, -found, text, f"{limit} required")
        if self.negative:
            share = min(Fraction(100 * named.get(one, 0), seen.total) for one in self.negative)
            text = f"a value left with {percent(share / 100, down=True)}"
            yield least("c2", share, self.c2, text, percent_exactly(self.c2 / 100))

    def failing(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Mask:
        """The groups that are not diverse enough;
        with several sensitive columns, those with such a part.
        """
        whole = question.groups(missing=self.missing)
        found = np.zeros(len(whole), dtype=bool)
        for groups in self._groups_to_judge(question, sensitive):
            found |= whole_groups(whole, groups, self._below(groups))
        return found

    def _below(self, groups: Groups) -> Mask:
        below = (
            self._finding(groups).below if self.kind != "entropy" else below_entropy(groups, self.l)
        )
        return below | self._rarest(groups).below if self.negative else below

    def _groups_to_judge(self, question: MicrodataQuestion, sensitive: str | None) -> list[Groups]:
        if sensitive is not None or len(question.sensitive) == 1:
            return [question.groups(sensitive or question.sensitive[0], self.missing)]
        return [question.groups_knowing_the_rest(name, self.missing) for name in question.sensitive]

    def telling(self, question: MicrodataQuestion, groups: Groups) -> GroupTelling:
        """The least diverse, the one in which most is believed, the one in which a value is rarest;
        of the others how many they are, which fail, and of whom somebody is certain.
        """
        found = self._finding(groups)
        named, alike = {found.number, surest(groups, self.dont_care)}, [found.below]
        if self.negative:
            rare = self._rarest(groups)
            named, alike = {*named, rare.number}, [*alike, rare.below]
        return GroupTelling(named, (groups.sizes, np.diff(groups.starts) == 1, *alike))

    def check(self, question: MicrodataQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for the least diverse group;
        with several sensitive columns, of each given the others.
        """
        asked = self._groups_to_judge(question, sensitive)
        findings = [self._finding(groups) for groups in asked]
        # A column that fails comes first, also where both round to the same l.
        worst = min(findings, key=lambda finding: (not finding.below.any(), finding.l))
        ruled_out = min(
            (self._rarest(groups) for groups in asked if self.negative),
            key=by_percent,
            default=None,
        )
        said = self.said_of_values(
            question,
            asked,
            measure="how certain someone can become",
            measured={
                "l": self._measured(worst.l),
                **({"c2": ruled_out.percent} if ruled_out is not None else {}),
            },
            required=self._required(),
            also_knows=self._negations(str(asked[0].sensitive)),
        )
        said["warnings"] = (*said["warnings"], *self._absent(asked))
        if any(bool(finding.below.any()) for finding in findings):
            return self._breached(question, worst, said)
        if ruled_out is not None and bool(ruled_out.below.any()):
            return self._ruled_out(question, ruled_out, said)
        return self._holds(question, worst, asked, said)

    def _required(self) -> dict[str, Any]:
        required = {"kind": self.kind, "l": self.l}
        optional = {
            "c": self.c,
            "dont-care": list(self.dont_care),
            "negative": list(self.negative),
            "c2": self.c2,
        }
        return required | {
            name: value for name, value in optional.items() if value not in (None, [])
        }

    def _absent(self, asked: list[Groups]) -> list[str]:
        """A don't-care value that does not occur is probably misspelt."""
        known = {value for groups in asked for value in groups.dictionary}
        named = {"dont-care": self.dont_care, "negative": self.negative}
        return [
            f"{name} names {value_text(value)!r}, which does not occur"
            for name, values in named.items()
            for value in values
            if value not in known
        ]

    def _rarest(self, groups: Groups) -> Rarest:
        return rarest(groups, self.negative, self.c2)

    def _finding(self, groups: Groups) -> DiversityFinding:
        if self.kind == "distinct":
            return distinct(groups, self.l)
        if self.kind == "recursive":
            return recursive(groups, self.l, self.c, self.dont_care)
        return entropic(groups, self.l)

    def _measured(self, value: Decimal | int) -> Any:
        if self.kind == "entropy":
            return Decimal(f"{value:.{DIGITS}f}")
        return min(int(value), int(self.l)) if value == UNBOUNDED else int(value)

    def _negations(self, column: str) -> str:
        """Entropy promises no number of values that may be ruled out;
        the other kinds promise l-2.
        """
        ruled_out = int(self.l) - 2 if self.kind != "entropy" else 0
        return (
            f", and can rule out {plural(column, ruled_out)} for a person" if ruled_out > 0 else ""
        )

    def _holds(
        self,
        question: MicrodataQuestion,
        worst: DiversityFinding,
        asked: list[Groups],
        said: dict[str, Any],
    ) -> Verdict:
        most = most_learned(question, asked, besides=self.dont_care)
        facts = {
            "groups": worst.groups.number,
            "people": question.people,
            "sensitive": [str(groups.sensitive) for groups in asked],
            **({"greatest_belief": Fraction(*most.after)} if most else {}),
        }
        return Verdict(
            status="holds",
            because=self._because(worst, breached=False),
            evidence=Certificate("groups", facts, most.personal() if most else {}),
            vacuous=worst.l == UNBOUNDED,
            story=most.remainder() if most else None,
            **said,
        )

    def _breached(
        self, question: MicrodataQuestion, worst: DiversityFinding, said: dict[str, Any]
    ) -> Verdict:
        groups = worst.groups
        facts = group_facts(question, groups, worst.number, worst.below)
        facts["people_certain"] = groups.people(np.diff(groups.starts) == 1)
        facts["sensitive"] = str(groups.sensitive)
        personal = {"values": groups.label(worst.number), "counts": groups.cells(worst.number)}
        found = learned(question, groups, worst.number, besides=self.dont_care)
        return Verdict(
            status="breached",
            because=self._because(worst, breached=True),
            evidence=Witness("group", facts, {**personal, **(found.personal() if found else {})}),
            story=f"{found.attack()} {exposed(facts, self.label)}" if found else None,
            **said,
        )

    def _ruled_out(
        self, question: MicrodataQuestion, found: Rarest, said: dict[str, Any]
    ) -> Verdict:
        """Negative disclosure: a value that must stay likely is nearly ruled out in a group."""
        groups = found.groups
        facts = {
            **group_facts(question, groups, found.number, found.below),
            "sensitive": str(groups.sensitive),
        }
        person = question.person(groups, found.number)
        column = str(groups.sensitive)
        personal = {
            "values": groups.label(found.number),
            "counts": groups.cells(found.number),
            "person": dict(person.identity),
            "known": dict(person.known),
            "value": found.value,
            "before": Fraction(
                question.before(column).get(found.value, 0), question.known_people(column)
            ),
            "after": found.percent / 100,
        }
        name = name_of(person)
        return Verdict(
            status="breached",
            because=(
                "a value that must not be ruled out occurs in "
                f"{percent(found.percent / 100, down=True)} of a group, "
                f"{percent_exactly(self.c2 / 100)} required"
            ),
            evidence=Witness("group", facts, personal),
            story=(
                f"Anyone who knows that {name} {known_facts(person.known)} can nearly rule "
                f"out that {mention(person)} {saying(column, found.value)}. Belief "
                f"{change(personal['before'], personal['after'])}. "
                f"{exposed(facts, self.label)}"
            ),
            **said,
        )

    def _because(self, worst: DiversityFinding, *, breached: bool) -> str:
        if self.kind == "distinct" and breached and (alike := all_alike(worst)):
            return alike
        if self.kind == "distinct":
            found = plural(str(worst.groups.sensitive), int(worst.l))
            return (
                f"one group has only {found}, {plain(self.l)} required"
                if breached
                else f"at least {found} in every group"
            )
        if self.kind == "entropy":
            found = f"entropy {truncated(worst.l, 3)}"
            return (
                f"{found} in a group, {plain(self.l)} required"
                if breached
                else f"{found} in every group"
            )
        kind = "pd-recursive" if self.dont_care else "recursive"
        if worst.l == UNBOUNDED:
            return "every group has only values that may be disclosed"
        found = f"{kind} ({plain(self.c)},{worst.l})-diverse"
        return f"a group that is only {found}" if breached else f"every group is {found}"


def all_alike(worst: DiversityFinding) -> str:
    """What is known where everybody in the worst group has the same value; else nothing."""
    groups, number = worst.groups, worst.number
    people = int(groups.sizes[number])
    if worst.l != 1 or people < 2 or int(groups.counts[groups.starts[number]]) != people:
        return ""
    value = plural(str(groups.sensitive), 1).replace("1 ", "one ", 1)
    return f"{people:,} people share {value}, so it is known"


def whole_groups(whole: Groups, parts: Groups, failing: Mask) -> Mask:
    """The groups that have a failing part; both are ordered by the same columns first."""
    if len(whole) == len(parts):
        return failing
    found = np.zeros(len(whole), dtype=bool)
    bad = np.isin(parts.key_of_row, parts.keys[failing])
    found[np.searchsorted(whole.keys, np.unique(whole.key_of_row[bad]))] = True
    return found


def truncated(value: Decimal, digits: int) -> str:
    """A decimal with fewer digits, never rounded up.

    >>> truncated(Decimal("2.8289"), 3)
    '2.828'
    """
    return str(value.quantize(Decimal(1).scaleb(-digits), rounding="ROUND_FLOOR"))


def by_percent(found: Rarest) -> Fraction:
    """The rarest first."""
    return found.percent
