"""Holdings: what the adversaries of a check hold by the ledger and by the plan, and what of it can be judged with what is new."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.definitions.registry import OF_OVERLAPS, OF_SYNTHETIC, OF_WORLDS
from tacit.definitions.words import listed
from tacit.errors import TacitError
from tacit.holdings.adversaries import adversaries, spellings_of, strangers
from tacit.holdings.answers import Answers
from tacit.holdings.composing import (
    JUDGES,
    Problem,
    answer_changed,
    does_not_compose,
    needs_answers,
    people_changed,
    release_changed,
)
from tacit.holdings.concerning import concerns, out_already, says_so
from tacit.holdings.defined import definition_of, shape_of
from tacit.holdings.held import Adversary, Held, from_ledger
from tacit.holdings.ledgers import is_begun, ledger_of, tables_in
from tacit.holdings.scope import plainly, scope_of, tables_of
from tacit.model.recipients import is_among
from tacit.model.verdict import Assumption
from tacit.plan.references import LEDGER

if TYPE_CHECKING:
    from tacit.holdings.desk import Desk
    from tacit.ledger.ledger import Ledger
    from tacit.plan.plan import Check

NOT_BEGUN = "the ledger was not begun yet: nothing is out by it"


@dataclass(frozen=True, slots=True)
class Hand:
    """What one adversary has in hand: what is judged together with the new releases, and what could not be."""

    adversary: Adversary
    joined: tuple[Held, ...] = ()
    problems: tuple[Problem, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()

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
        """The releases that are out and are judged too."""
        return tuple(one.release for one in self.joined)


class Holdings:
    """What is out, as far as it concerns the checks of a plan. The ledger is opened when the first check asks."""

    def __init__(self, desk: Desk, answers: Mapping[str, str] | None = None) -> None:
        self.desk = desk
        self.plan = desk.plan
        self.new_answers = (
            answers or {}
        )  # of releases that are about to go out, where they are known
        self._held: dict[tuple[object, ...], list[Held]] = {}
        self._spellings = spellings_of(desk.plan)
        self._stack = ExitStack()

    def close(self) -> None:
        """Let the ledger go."""
        self._stack.close()

    @cached_property
    def ledger(self) -> Ledger | None:
        """The plan's ledger; None where nothing was ever recorded."""
        return self._stack.enter_context(ledger_of(self.plan)) if is_begun(self.plan) else None

    @cached_property
    def answers(self) -> Answers:
        """The answers of the plan's releases, by their keyed hashes."""
        assert self.ledger is not None
        return Answers(
            self.plan,
            self.desk.readings,
            lambda: self.desk.engine,
            lambda: self.desk.source,
            self.ledger.key,
        )

    def has_beside(self, check: Check) -> bool:
        """Is a check asked about what its recipients hold? Where only `published` says that something is out, if it is about the same table."""
        return concerns(check, self.plan) and (says_so(check, self.plan) or bool(self.held(check)))

    # -- who holds what ---------------------------------------------------------------------------------

    def hands(self, check: Check) -> list[Hand]:
        """Everybody who would get something new, with what they hold."""
        held = self.held(check)
        return [
            self._hand(check, one)
            for one in adversaries(check, self.plan, held, together=check.kind not in OF_WORLDS)
        ]

    def held(self, check: Check) -> list[Held]:
        """What is out and concerns a check, in the order in which it went out."""
        key = check.path, check.kind, check.releases, check.given
        if key not in self._held:
            self._held[key] = self._looked_up(check)
        return self._held[key]

    def _looked_up(self, check: Check) -> list[Held]:
        names = out_already(check, self.plan)
        said = [
            self._said(name, check)
            for name in names
            if name != LEDGER and name not in check.releases
        ]
        scope = scope_of(check, self.desk, said)
        found = self._recorded(scope.asked) if LEDGER in names else []
        renamed = self._renamed if LEDGER in names else []
        # What is out may connect further tables with those of the check, and other releases may be about these.
        while (wider := scope_of(check, self.desk, [*said, *found])) != scope:
            scope, found = wider, self._recorded(wider.asked) if LEDGER in names else []
        concerned = [
            one
            for one in (*found, *(one for one in said if not is_listed(one, found)))
            if scope.concerns(one)
        ]
        if not says_so(check, self.plan):
            concerned = [one for one in concerned if self._is_of_table(check, one)]
        return [*(one for one in renamed if one not in concerned), *concerned]

    def warnings(self, check: Check) -> tuple[str, ...]:
        """What the owner should mind about the ledger."""
        if LEDGER not in out_already(check, self.plan):
            return ()
        begun = () if self.ledger is not None else (NOT_BEGUN,)
        unknown = sorted(name for name in self._names if self._own_name(name) is None)
        elsewhere = (
            [
                f"the ledger has releases about {listed(unknown)}, which this plan does not have: what they tell is not judged"
            ]
            if unknown
            else []
        )
        clients = {client for one in self.held(check) for client in one.to}
        nobody = [
            f"{client} is said to collude, and has got nothing that matters here"
            for client in strangers(check, self.plan, clients)
        ]
        clients |= {client for name in check.releases for client in self.plan.releases[name].to}
        asking = [
            f"{name} may ask the gateway too, and what was answered there is not in the ledger"
            for name in sorted(self.plan.roles)
            if is_among(name, clients)
        ]
        return (*begun, *elsewhere, *nobody, *asking)

    def beside(self, check: Check) -> tuple[str, ...]:
        """Notes on what is published about tables that are tied to the one of a check, and is not judged with it."""
        if says_so(check, self.plan):
            return ()
        said = [
            self._said(name, check)
            for name in out_already(check, self.plan)
            if name not in check.releases
        ]
        scope = scope_of(check, self.desk, said)
        tied = [one for one in said if scope.concerns(one) and not self._is_of_table(check, one)]
        own = self.desk.overlaps.table_of(check.releases[0])
        return tuple(
            f"{one.release} is published too, about {listed(sorted(one.tables))}, and is not judged here: {own} is tied to that"
            for one in tied
        )

    def _is_of_table(self, check: Check, held: Held) -> bool:
        """Is a release about the table of a check itself? One of which nothing is known may be."""
        return not held.tables or self.desk.overlaps.table_of(check.releases[0]) in held.tables

    @cached_property
    def _names(self) -> set[str]:
        """The tables that the ledger has something about."""
        return set() if self.ledger is None else tables_in(self.ledger)

    def _recorded(self, tables: Collection[str]) -> list[Held]:
        """What the ledger has about some tables, which another plan may have written in other letters."""
        if self.ledger is None:
            return []
        called = {*tables, *(name for name in self._names if self._own_name(name) in tables)}
        return [
            self._in_our_words(from_ledger(one, self._spellings))
            for one in self.ledger.held(called)
        ]

    @cached_property
    def _renamed(self) -> list[Held]:
        """What is out under the name of a release of this plan, but about tables that the plan does not have: it may be about any."""
        unknown = [name for name in self._names if self._own_name(name) is None]
        if self.ledger is None or not unknown:
            return []
        return [
            one
            for each in self.ledger.held(unknown)
            if (one := self._in_our_words(from_ledger(each, self._spellings))).release
            in self.plan.releases
        ]

    def _in_our_words(self, held: Held) -> Held:
        return replace(held, tables=frozenset(self._own_name(name) or name for name in held.tables))

    def _own_name(self, name: str) -> str | None:
        """What the plan calls a table of the ledger: small and capital letters, and PostgreSQL's own schema, make no difference."""
        if name in self.plan.tables:
            return name
        return next((one for one in self.plan.tables if plainly(one) == plainly(name)), None)

    def _said(self, name: str, check: Check) -> Held:
        """A release of which the plan says that it is out."""
        release = self.plan.releases[name]
        try:
            tables = frozenset(tables_of(self.plan, name, self.desk.readings))
        except TacitError:
            if says_so(check, self.plan):
                raise
            tables = frozenset()  # the check does not name it: that it cannot be read is no error of this check, but it may be about any table
        return Held(name, shape_of(release), tables, release.to)

    # -- what can be judged together ------------------------------------------------------------------------

    def _hand(self, check: Check, adversary: Adversary) -> Hand:
        hand = Hand(adversary, warnings=tuple(self._cautions(adversary)))
        own: set[str | None] = (
            set()
        )  # answers of synthetic releases that are asked about and are out
        for held in adversary.held:
            if held.release in adversary.new:
                hand = self._again(check, hand, held, own)
            else:
                hand = self._beside(check, hand, held)
        return hand

    def _beside(self, check: Check, hand: Hand, held: Held) -> Hand:
        """Another release that is out."""
        if not self._is_same(held):
            return replace(hand, problems=(*hand.problems, release_changed(held, self.plan)))
        if held.shape not in JUDGES[check.kind]:
            problem = does_not_compose(check, self.plan, held, hand.new, hand.adversary.called)
            return replace(hand, problems=(*hand.problems, problem))
        if needs_answers(check) and held.shape != "constraint" and not self._answer_holds(held):
            return replace(hand, problems=(*hand.problems, answer_changed(held, hand.new)))
        if check.kind in OF_OVERLAPS and self._are_others(held):
            return replace(hand, problems=(*hand.problems, people_changed(held)))
        assumed = (*hand.assumptions, *self._not_compared(check, held))
        if (
            needs_answers(check)
            and held.shape != "constraint"
            and held.entry is not None
            and self._today(held.release) != held.answer
        ):
            assumed = (
                *assumed,
                Assumption(
                    "published-still-true",
                    f"what was published with {held.told} is still true",
                    "no",
                ),
            )
        if check.kind in OF_SYNTHETIC:
            assumed = (*assumed, as_drawn(held))
        if any(
            is_the_same(held, one) for one in hand.joined
        ):  # by another entry, for other recipients
            return hand if check.kind not in OF_SYNTHETIC else assuming(hand, one_output(held))
        return replace(hand, joined=(*hand.joined, held), assumptions=tuple(dict.fromkeys(assumed)))

    def _again(self, check: Check, hand: Hand, held: Held, own: set[str | None]) -> Hand:
        """A release that is asked about and is out already."""
        if not self._is_same(held):
            return replace(hand, problems=(*hand.problems, release_changed(held, self.plan)))
        if check.kind in OF_SYNTHETIC:
            return self._drawn_again(hand, held, own)
        if needs_answers(check) and held.shape != "constraint" and not self._goes_out_again(held):
            return replace(hand, problems=(*hand.problems, answer_changed(held, hand.new)))
        if check.kind in OF_OVERLAPS and self._are_others(held):
            return replace(hand, problems=(*hand.problems, people_changed(held)))
        assumed = (*hand.assumptions, *self._not_compared(check, held))
        return replace(
            hand,
            warnings=(*hand.warnings, f"{held.told} is out already"),
            assumptions=tuple(dict.fromkeys(assumed)),
        )

    def _drawn_again(self, hand: Hand, held: Held, own: set[str | None]) -> Hand:
        """Every output of a mechanism spends by itself; where it is not known which one is asked about, it is the first that is out."""
        drawn = self.new_answers.get(held.release)
        is_that = held.answer == drawn if drawn is not None else not own
        if is_that or (held.answer is not None and held.answer in own):
            said = f"{held.told} is out already; another output of it would spend once more"
            hand = replace(hand, warnings=tuple(dict.fromkeys([*hand.warnings, said])))
            if own or drawn is not None:
                hand = assuming(hand, one_output(held))
        else:
            hand = assuming(replace(hand, joined=(*hand.joined, held)), as_drawn(held))
        own.add(held.answer)
        return hand

    def _cautions(self, adversary: Adversary) -> list[str]:
        return [
            f"{one.told} was withdrawn on {one.withdrawn:%Y-%m-%d}: who had it still knows it"
            for one in adversary.held
            if one.withdrawn is not None
        ]

    def _is_same(self, held: Held) -> bool:
        """Does the plan still say under its name what went out?"""
        if held.definition is None:
            return True
        if held.release not in self.plan.releases:
            return False
        assert self.ledger is not None
        return definition_of(self.plan, held.release, self.ledger.key) == held.definition

    def _answer_holds(self, held: Held) -> bool:
        """Is what was published what the data give, or is it in the file that the plan has?"""
        if held.entry is None:
            return True
        if held.answer is None:
            return False
        return self._today(held.release) == held.answer or self.answers.fits(
            held.release, held.answer
        )

    def _are_others(self, held: Held) -> bool:
        """Are other people in the table than when it went out, or does everybody know something else of them?"""
        return held.people is not None and self._people(held) not in (None, held.people)

    def _not_compared(self, check: Check, held: Held) -> Iterator[Assumption]:
        """What is taken to be as it was when a release went out, though nothing says so."""
        if held.entry is None or held.shape == "constraint" or not needs_answers(check):
            return
        if check.kind in OF_WORLDS:
            yield Assumption(
                "same-data",
                f"nothing that {held.told} does not show has changed since it went out",
                "no",
            )
        elif check.kind in OF_OVERLAPS and (held.people is None or self._people(held) is None):
            yield Assumption(
                "same-people",
                f"the people, and what everybody knows of them, are those of when {held.told} went out",
                "no",
            )

    def _people(self, held: Held) -> str | None:
        """The people of a release's table today."""
        tables = [self.plan.tables[name] for name in held.tables if name in self.plan.tables]
        return self.answers.people(tables[0]) if len(tables) == 1 else None

    def is_todays(self, held: Held) -> bool:
        """Is what was published what the data give today?"""
        return held.entry is None or held.answer is None or self._today(held.release) == held.answer

    def _today(self, name: str) -> str | None:
        found = self.answers.today(name)
        return None if found is None else found.digest

    def _goes_out_again(self, held: Held) -> bool:
        """Is what is about to go out what went out before?"""
        new = self.new_answers.get(held.release)
        return new == held.answer if new is not None else self._answer_holds(held)


def assuming(hand: Hand, assumption: Assumption) -> Hand:
    """A hand that rests on one more assumption."""
    return replace(hand, assumptions=tuple(dict.fromkeys((*hand.assumptions, assumption))))


def as_drawn(held: Held) -> Assumption:
    """What an output spends is known by the sizes that its groups had."""
    return Assumption(
        "as-drawn", f"groups had the sizes of today when {held.release} was drawn", "no"
    )


def one_output(held: Held) -> Assumption:
    """Equal answers can be one file in two hands, or two draws that came out alike, which would spend twice."""
    return Assumption(
        "one-output",
        f"outputs of {held.release} that are equal in the ledger were drawn once and given out again",
        "no",
    )


def is_listed(said: Held, found: Sequence[Held]) -> bool:
    """Does the ledger say of a release all that the plan says: that it is out, and to whom at least?"""
    own = [one for one in found if one.release == said.release]
    return any(not one.to for one in own) or (
        bool(said.to) and set(said.to) <= {client for one in own for client in one.to}
    )


def is_the_same(one: Held, other: Held) -> bool:
    """Do two entries speak of the same thing? A mechanism's outputs differ, and one that is not known is like no other."""
    if one.release != other.release:
        return False
    return one.shape != "synthetic" or (one.answer is not None and one.answer == other.answer)
