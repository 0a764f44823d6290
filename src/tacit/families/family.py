"""Family: one kind of release, and all that is asked of it elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

from tacit.errors import InputError
from tacit.families.catalog import FAMILIES, FAMILY_OF
from tacit.families.definition import Definition
from tacit.families.release_kind import ReleaseKind
from tacit.families.scope import CheckScope, tied_or_all
from tacit.model.holdings import Hand, HeldRelease, Problem
from tacit.model.jobs import Job
from tacit.model.release import Release
from tacit.model.verdict import Assumption, Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

Depth = Literal["terminal", "page"]


class Question(Protocol):
    """What a definition is asked about."""

    def closed(self) -> Self:
        """The question once the source is closed: nobody can be looked up any more."""


Q = TypeVar("Q", bound=Question)
Asked = TypeVar("Asked", bound=Question, covariant=True)  # an answer is only read


@dataclass(frozen=True, slots=True)
class Answered(Generic[Asked]):
    """A verdict with the question that it answers; `picture` is what a report draws of both, where
    that was asked for. There is no question where Tacit itself went wrong.
    """

    check: Check
    verdict: Verdict
    question: Asked | None = None
    picture: object | None = None

    @property
    def family(self) -> Family[Any]:
        """The kind of release that it is about."""
        return family_of(self.check.kind)


class Family(ABC, Generic[Q]):
    """One kind of release: the question of a check, what it can judge together with what is
    published, and what a report shows of it.

    `judges` are the shapes of published releases that it judges together with a new one.
    `has_all_adversaries`: one question has the cases of all of them. `draws`: outputs are drawn at
    random, and each spends by itself. `same_people`: what is published counts only for the people
    that it was about. `is_advised`: it may be named where another family cannot judge. `releases`
    are the kinds that it makes. `alone`: what is published changes nothing about its answers.
    """

    name: ClassVar[str]
    judges: ClassVar[frozenset[str]] = frozenset()
    has_all_adversaries: ClassVar[bool] = False
    draws: ClassVar[bool] = False
    same_people: ClassVar[bool] = False
    is_advised: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    releases: ClassVar[tuple[ReleaseKind[Any], ...]] = ()

    # -- the question and its answer ---------------------------------------------------------------

    @abstractmethod
    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> Q:
        """What a check asks for one adversary, with what they hold."""

    def question_for_all(self, check: Check, hands: Sequence[Hand], opened: OpenPlan) -> Q:
        """One question for all adversaries, where the family has that."""
        return self.question(check, hands[0], opened)

    def answer(
        self, check: Check, definition: Definition, question: Q, opened: OpenPlan
    ) -> Verdict:
        """The verdict; errors point at the check."""
        try:
            return definition.check(question)
        except InputError as error:
            raise error.at(opened.plan.mark(*check.path)) from None

    def looked_at(self, question: Q) -> Mapping[str, tuple[int, str]]:
        """The tables that were looked at, by name: how much of each, and that in a line."""
        return {}

    def pictured(
        self, answered: Sequence[Answered[Q]], job: Job, depth: Depth
    ) -> list[Answered[Q]]:
        """The same with what the terminal or a page draws of them; the source is open."""
        return list(answered)

    def next_steps(
        self, answered: Sequence[Answered[Q]], plan: str, kinds: Sequence[str]
    ) -> list[str]:
        """Commands that help after a check; `kinds` are those of all checks of the plan."""
        return []

    # -- what is published -----------------------------------------------------------------------

    def needs_answers(self, check: Check) -> bool:
        """Does a check look at what was shown?"""
        return True

    def scope(
        self,
        check: Check,
        opened: OpenPlan,
        held: Sequence[HeldRelease],
        shared: Sequence[Collection[str]],
    ) -> CheckScope:
        """Which tables matter to a check: its own, and those that are tied to them."""
        own = {name for one in check.releases for name in tables_of(one, opened)}
        return CheckScope.of(own, [*tied_or_all(opened), *shared], held)

    def secret_tables(self, check: Check, opened: OpenPlan) -> set[str]:
        """The tables that a check's secret speaks of."""
        return set()

    def has_in_question(self, held: HeldRelease, opened: OpenPlan) -> bool:
        """Does the family's own question have a release that is published by the plan?"""
        return False

    def not_compared(self, held: HeldRelease, *, knows_people: bool) -> Assumption | None:
        """What is taken to be as it was when a release went out, though nothing says so."""
        if not self.same_people or knows_people:
            return None
        return Assumption(
            "same-people",
            "the people, and what everybody knows of them, are those of when "
            f"{held.release_text} went out",
            "no",
        )

    def obstacle(
        self, check: Check, definition: Definition, plan: Plan, hand: Hand
    ) -> Problem | None:
        """What keeps a check from being asked about all that somebody has."""
        return None

    def judges_corrected(self, check: Check) -> bool:
        """Can a check be asked for those who have a release as it was wrong, and its correction?"""
        return False

    def with_corrected(
        self, check: Check, definition: Definition, opened: OpenPlan, hand: Hand, verdict: Verdict
    ) -> Verdict:
        """A verdict about what is true, made one about who has the wrong answers too."""
        return verdict

    def closeness(self, verdict: Verdict) -> Fraction:
        """Of verdicts that all hold, the least is the one that holds by the least."""
        return Fraction(0)

    # -- advice ------------------------------------------------------------------------------------

    def cannot_judge(
        self, check: Check, hand: Hand, names: Sequence[str], opened: OpenPlan
    ) -> None:
        """Raise TacitError where the family would not take some releases together."""
        raise NotImplementedError(self.name)

    def advice(self, check: Check, names: Sequence[str], new: Sequence[str]) -> str:
        """What to ask of this family in the place of a check that cannot judge them."""
        raise NotImplementedError(self.name)


@cache
def family(name: str) -> Family[Any]:
    """A family by its name, loaded when it is first asked for."""
    found: Family[Any] = import_module(FAMILIES[name].home).FAMILY
    return found


def families() -> Iterator[Family[Any]]:
    """All kinds of release, in the order of the docs; each is loaded when it is its turn."""
    return map(family, FAMILIES)


def family_of(check: str) -> Family[Any]:
    """The family of a check.

    >>> family_of("k-sind").name
    'overlaps'
    """
    return family(FAMILY_OF[check])


def kind_of(release: Release) -> ReleaseKind[Any]:
    """What Tacit knows of the kind of a release."""
    return next(
        kind for one in families() for kind in one.releases if isinstance(release, kind.type)
    )


def answer_of(shape: str) -> str:
    """Where the rows of releases of a shape come from: the data, a file, or there are none.

    >>> answer_of("view"), answer_of("synthetic"), answer_of("constraint")
    ('data', 'file', 'none')
    """
    kinds = (kind for one in families() for kind in one.releases)
    return next((kind.answer for kind in kinds if kind.type.shape == shape), "file")


def tables_of(name: str, opened: OpenPlan) -> tuple[str, ...]:
    """The tables of the plan that a release says something about."""
    release = opened.plan.releases[name]
    return kind_of(release).tables(release, opened)


def about(check: Check, *names: str) -> Check:
    """The same check about other releases."""
    return replace(check, releases=names)
