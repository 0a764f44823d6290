"""Holdings as values: a release that is published, who has it, and what an adversary has in
hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from tacit.model.recipients import have_common
from tacit.model.verdict import Assumption


@dataclass(frozen=True, slots=True)
class HeldRelease:
    """A release that is published: by an entry of the ledger, or (`entry` None) because the plan
    says so.

    `to` are its recipients, nobody means the public. `definition`, `answer` and `people` are the
    ledger's keyed hashes, None where nothing is compared. `corrected` is the entry that corrects
    it. `tied` says why it is about a table of the plan that the ledger calls otherwise.
    """

    release: str
    shape: str
    tables: frozenset[str]
    to: tuple[str, ...] = ()
    entry: int | None = None
    at: datetime | None = None
    withdrawn: datetime | None = None
    definition: str | None = None
    answer: str | None = None
    people: str | None = None
    corrected: int | None = None
    tied: str = ""

    def known_to(self, group: Collection[str]) -> bool:
        """Has one of these clients got it? What is public everybody has."""
        return not self.to or have_common(self.to, group)

    @property
    def release_text(self) -> str:
        """The release with its entry.

        >>> HeldRelease(
        ...     "male", "view", frozenset({"patients"}), entry=3, at=datetime(2026, 11, 2)
        ... ).release_text
        'male (entry 3, 2026-11-02)'
        """
        if self.entry is None or self.at is None:
            return self.release
        return f"{self.release} (entry {self.entry}, {self.at:%Y-%m-%d})"


@dataclass(frozen=True, slots=True)
class Adversary:
    """Clients who tell each other what they have, nobody for the public;
    what they hold, and what they would get.
    """

    who: tuple[str, ...]
    held: tuple[HeldRelease, ...]
    new: tuple[str, ...]

    @property
    def called(self) -> str:
        """Who that is, in words.

        >>> Adversary(("a", "b"), (), ()).called, Adversary((), (), ()).called
        ('a and b together', 'anyone')
        """
        if not self.who:
            return "anyone"
        named = (
            self.who[0] if len(self.who) == 1 else f"{', '.join(self.who[:-1])} and {self.who[-1]}"
        )
        return named if len(self.who) == 1 else f"{named} together"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something that an adversary holds could not be judged together with what is new."""

    code: str
    text: str
    held: HeldRelease
    by_others: bool = False  # another definition may judge it


@dataclass(frozen=True, slots=True)
class Hand:
    """What one adversary has in hand: what is judged together with the new releases, and what
    could not be.
    """

    adversary: Adversary
    joined: tuple[HeldRelease, ...] = ()
    problems: tuple[Problem, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()
    corrected: tuple[
        HeldRelease, ...
    ] = ()  # was wrong, and they have the correction too, or get it

    @property
    def who(self) -> tuple[str, ...]:
        """The clients."""
        return self.adversary.who

    @property
    def new(self) -> tuple[str, ...]:
        """What they would get."""
        return self.adversary.new

    @property
    def names(self) -> tuple[str, ...]:
        """The releases that are published and are judged too."""
        return tuple(one.release for one in self.joined)

    @property
    def together(self) -> tuple[str, ...]:
        """All that is judged for them: what is published comes first."""
        return (*self.names, *self.new)


def in_words(held: Sequence[HeldRelease]) -> str:
    """Some releases with their entries.

    >>> in_words([HeldRelease("a", "view", frozenset()), HeldRelease("b", "view", frozenset())])
    'a and b'
    """
    names = list(dict.fromkeys(one.release_text for one in held))
    return (
        names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
    )
