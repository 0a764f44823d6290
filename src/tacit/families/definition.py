"""Definition: secret, adversary and measure with their parameters;
what every one of them offers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from tacit.errors import ParameterError
from tacit.model.verdict import Assumption, Verdict

Risk = Literal["singling out", "linkability", "inference"]
Disclosure = Literal["identity", "attribute", "membership"]


@dataclass(frozen=True, slots=True)
class DefinitionFacts:
    """Where a definition stands among the others: a row of docs/definitions/overview.md.

    `protects`, `against` and `measured` are the three parts in words. `risks` are those of the
    regulators (Article 29 Working Party, Opinion 05/2014, WP216) that it addresses, `disclosures`
    the kinds it limits. `composes`: two releases that meet it meet, taken together, a weaker form
    of it.
    """

    protects: str
    against: str
    measured: str
    risks: tuple[Risk, ...]
    disclosures: tuple[Disclosure, ...]
    composes: bool = False


class Definition(ABC):
    """A privacy definition with its parameters: one `check`, and facts about it as data.

    `monotone`: a release that is generalized further still meets it, where each row is one person
    and groups do not overlap (`is_monotone_for` looks). `monotone_with_suppression`: so too when
    whole groups may be dropped. `simulatable`: the other side could compute the decision without
    the rows, so refusing by it tells nothing. A definition claims none of them unless it says so.
    `place`: where it stands among the others.
    """

    __slots__ = ()
    check_name: ClassVar[str]
    monotone: ClassVar[bool] = False
    monotone_with_suppression: ClassVar[bool] = False
    simulatable: ClassVar[bool] = False
    needs_sensitive: ClassVar[bool] = False
    place: ClassVar[DefinitionFacts]

    @property
    @abstractmethod
    def label(self) -> str:
        """What is asked, in a few words."""

    @property
    def strictest_is_worst(self) -> bool:
        """Is it worst where doubtful values count as no diversity at all? Then no other reading
        has to be tried.
        """
        return False

    @property
    def extreme_spellings_suffice(self) -> bool:
        """Is it worst where all spellings of a value are one, or all are apart? Then what lies
        between need not be tried.
        """
        return False

    def with_files(self, read: Callable[[str], Sequence[tuple[int, Sequence[str]]]]) -> Self:
        """The same definition with the files that it names read, by their numbered lines;
        most name none.
        """
        return self

    @abstractmethod
    def check(self, question: Any, *, sensitive: str | None = None) -> Verdict:
        """Answer the question with a verdict; where it is breached, with the least witness."""


def check_seconds(seconds: Any) -> None:
    """Raise ParameterError where a limit leaves no time.

    >>> check_seconds(0)
    Traceback (most recent call last):
    tacit.errors.ParameterError: 0 seconds are no time. Use for example 60.
    """
    try:
        enough = float(seconds) > 0
    except (TypeError, ValueError):
        enough = False
    if not enough:
        raise ParameterError(
            f"{seconds} seconds are no time.", parameter="seconds", hint="Use for example 60."
        )


NO_OTHER_RELEASE = Assumption(
    "no-other-release", "no other data about these people has been published", "no"
)
LEVELS_NOT_KNOWN = Assumption(
    "levels-not-known", "the attacker does not know how the levels were chosen", "cannot"
)
EQUALLY_LIKELY = Assumption("equally-likely", "members of a group are equally likely", "cannot")
MISSING_UNKNOWN = Assumption(
    "missing-unknown", "the attacker does not know values that are missing in the table", "cannot"
)
SEVERAL_VALUES = Assumption(
    "several-values",
    "people with several values in a group count with the most frequent ones, which may refuse "
    "what is private",
    "yes",
)
