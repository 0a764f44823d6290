"""Holdings: what the adversaries of a check hold by the ledger and by the plan, and what of it
can be judged with what is new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.checking.holdings.adversaries import adversaries, spellings_of, strangers
from tacit.checking.holdings.gateway_answers import gateway_answers
from tacit.checking.holdings.ledgers import from_ledger, is_begun, ledger_of, tables_in
from tacit.checking.publications import is_named, out_already
from tacit.errors import TacitError
from tacit.families.composition import (
    answer_changed,
    does_not_compose,
    people_changed,
    release_changed,
    under_another_name,
)
from tacit.families.family import answer_of, family_of, kind_of, tables_of
from tacit.families.scope import plainly
from tacit.families.words import listed
from tacit.model.holdings import Adversary, Hand, HeldRelease
from tacit.model.recipients import is_among
from tacit.model.verdict import Assumption
from tacit.plan.read.references import LEDGER

if TYPE_CHECKING:
    from tacit.checking.holdings.ties import Ties
    from tacit.checking.recording.answer_digests import Answers
    from tacit.ledger.ledger import Ledger
    from tacit.plan.open_plan import OpenPlan
    from tacit.plan.plan import Check

NOT_BEGUN = "the ledger was not begun yet: nothing is recorded in it"


def holdings_of(opened: OpenPlan, new_answers: Mapping[str, str] | None = None) -> Holdings:
    """What is published of an open plan, looked at once."""
    return opened.once(Holdings, lambda: Holdings(opened, new_answers))


class Holdings:
    """What is published, as far as it concerns the checks of a plan.
    The ledger is opened when the first check asks.
    """

    def __init__(
        self,
        opened: OpenPlan,
        new_answers: Mapping[str, str] | None = None,
        correcting: Collection[int] = (),
    ) -> None:
        if answers := gateway_answers(opened.plan):
            opened.add_releases(answers)
        self.opened = opened
        self.plan = opened.plan
        self.new_answers = new_answers or {}  # of releases that are about to go out, where known
        self.correcting = correcting  # entries that what goes out now is to correct
        self._held: dict[tuple[object, ...], list[HeldRelease]] = {}
        self._spellings = spellings_of(opened.plan)
        self._stack = ExitStack()
        opened.closing(self._stack.close)

    @cached_property
    def ledger(self) -> Ledger | None:
        """The plan's ledger; None where nothing was ever recorded."""
        return self._stack.enter_context(ledger_of(self.plan)) if is_begun(self.plan) else None

    @cached_property
    def answers(self) -> Answers:
        """The answers of the plan's releases, by their keyed hashes."""
        from tacit.checking.recording.answer_digests import Answers

        assert self.ledger is not None
        return Answers(self.opened, self.ledger.key)

    @cached_property
    def unread(self) -> TacitError | None:
        """Why the ledger cannot be read; None where it can."""
        try:
            _ = self._names
        except TacitError as error:
            return error
        return None

    def has_beside(self, check: Check) -> bool:
        """Is a check asked about more than what it names? If not, there is
        nothing else to be said about it.

        A family that has all adversaries has what they saw by the plan in its own question; it
        comes here where that is not all.
        """
        if is_named(check, self.plan) or self.is_unread(check):
            return True
        family = family_of(check.kind)
        if family.has_all_adversaries:
            return any(
                hand.problems
                or any(
                    one.entry is not None or not family.has_in_question(one, self.opened)
                    for one in hand.adversary.held
                )
                for hand in self.hands(check)
            )
        return check.given is not None or bool(check.collude) or bool(self.held(check))

    def asks_ledger(self, check: Check) -> bool:
        """Is a check asked about what the ledger holds? Raises TacitError where the plan names
        it and it cannot be read.
        """
        if LEDGER not in out_already(check, self.plan) or self.is_unread(check):
            return False
        return self.ledger is not None or is_named(check, self.plan)

    def is_unread(self, check: Check) -> bool:
        """Has the plan a ledger that it does not name, and that cannot be read? What is published
        is not known then.
        """
        return (
            LEDGER in out_already(check, self.plan)
            and not is_named(check, self.plan)
            and self.unread is not None
        )

    @cached_property
    def ties(self) -> Ties:
        """Which tables have the same people under two names."""
        from tacit.checking.holdings.ties import Ties
        from tacit.families.queries.reading.readings import readings_of

        opened = self.opened
        return Ties(self.plan, lambda: opened.engine, lambda: readings_of(opened).known().shared)

    # -- who holds what ----------------------------------------------------------------------------

    def hands(self, check: Check) -> list[Hand]:
        """Everybody who would get something new, with what they hold."""
        held = self.held(check)
        return [self._hand(check, one) for one in adversaries(check, self.plan, held)]

    def held(self, check: Check) -> list[HeldRelease]:
        """What is published and concerns a check, in the order in which it went out."""
        key = check.path, check.kind, check.releases, check.given
        if key not in self._held:
            self._held[key] = self._looked_up(check)
        return self._held[key]

    def _looked_up(self, check: Check) -> list[HeldRelease]:
        said, asks = self._said_by_plan(check), self.asks_ledger(check)
        if not said and not asks:
            return []
        family = family_of(check.kind)
        shared = self.ties.groups() if said or (asks and self._names) else []
        concerned: list[HeldRelease] = []
        # What is published may connect further tables with those of the check, and
        # other releases may be about these.
        while True:
            scope = family.scope(check, self.opened, concerned, shared)
            found = self._recorded(scope.asked) if asks else []
            wider = [
                one
                for one in (*found, *(one for one in said if not is_listed(one, found)))
                if scope.concerns(one)
            ]
            if wider == concerned:
                break
            concerned = wider
        # what is in the family's own question counts, whatever it is about
        concerned += [
            one for one in said if one not in concerned and family.has_in_question(one, self.opened)
        ]
        renamed = self._renamed if asks else []
        return [
            *(one for one in renamed if one.entry not in {other.entry for other in concerned}),
            *concerned,
        ]

    def left_out(self, check: Check) -> list[HeldRelease]:
        """What is published, matters to a check, is held by somebody who gets what it names, and is
        not among its `given`.
        """
        if check.given is None:
            return []
        others = [
            one
            for one in self.held(replace(check, given=None))
            if one.release not in check.given and one not in self.held(check)
        ]
        who = adversaries(check, self.plan, others)
        return [one for one in others if any(one in each.held for each in who)]

    def unrelated(self, check: Check) -> list[HeldRelease]:
        """What is published by the plan, of the check's own kind, about no table of the check,
        though the check itself names it or its people look like the same: nothing says who is who.
        """
        shape, held = family_of(check.kind).name, self.held(check)
        return [
            one
            for one in self._said_by_plan(check)
            if one.shape == shape and not is_listed(one, held)
            if one.release in (check.given or ()) or self._looks_same(check, one)
        ]

    def _looks_same(self, check: Check, held: HeldRelease) -> bool:
        """Do the tables of both tell people apart, and protect them, by columns of equal names?"""
        of, other = (
            {
                (table.naming, table.sensitive)
                for table in (self.plan.tables[name] for name in names)
                if table.naming
            }
            for names in (
                {name for one in check.releases for name in tables_of(one, self.opened)},
                held.tables,
            )
        )
        return not of.isdisjoint(other)

    def warnings(self, check: Check) -> tuple[str, ...]:
        """What the owner should mind about the ledger."""
        if not self.asks_ledger(check):
            return ()
        begun = () if self.ledger is not None else (NOT_BEGUN,)
        told = {name for one in self.held(check) if one.tied for name in one.tables}
        unknown = sorted(
            name for name in self._names if self._own_name(name) is None and name not in told
        )
        elsewhere = (
            [
                (
                    f"the ledger has releases about {listed(unknown)}, which this plan does "
                    "not have: what they tell is not judged"
                )
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
            f"{name} may ask the gateway too, and what was answered there is "
            + (
                f"in the ledger by the names of its users, not as {name}'s"
                if role.record == "answers"
                else "not in the ledger"
            )
            for name, role in sorted(self.plan.roles.items())
            if is_among(name, clients)
        ]
        return (*begun, *elsewhere, *nobody, *asking)

    @cached_property
    def _names(self) -> set[str]:
        """The tables that the ledger has something about."""
        return set() if self.ledger is None else tables_in(self.ledger)

    def _recorded(self, tables: Collection[str]) -> list[HeldRelease]:
        """What the ledger has about some tables, which another plan may
        have written in other letters.
        """
        if self.ledger is None:
            return []
        called = {*tables, *(name for name in self._names if self._own_name(name) in tables)}
        found = {
            one.entry: one
            for one in self._under_other_names(
                tables, {name for name in self._names if self._own_name(name) not in tables}
            )
        }
        for holding in self.ledger.held(called):
            found.setdefault(
                holding.entry, self._in_our_words(from_ledger(holding, self._spellings))
            )
        return [found[number] for number in sorted(found, key=lambda one: one or 0)]

    def _under_other_names(
        self, tables: Collection[str], foreign: Collection[str]
    ) -> Iterator[HeldRelease]:
        """What the ledger has about the people of some tables, where it calls these otherwise."""
        from tacit.checking.holdings.ties import under_other_names

        assert self.ledger is not None
        for holding, table, why in (
            under_other_names(self.ledger, self.ties, tables, foreign, self.answers)
            if foreign
            else ()
        ):
            held = self._in_our_words(from_ledger(holding, self._spellings))
            said = (
                f"{held.release_text} is about {listed(sorted(holding.tables))}, which is {table} "
                f"here: {why}"
            )
            yield replace(held, tables=held.tables | {table}, tied=said)

    @cached_property
    def _renamed(self) -> list[HeldRelease]:
        """What is published under the name of a release of this plan, but about tables that the
        plan does not have: it may be about any.
        """
        unknown = [name for name in self._names if self._own_name(name) is None]
        if self.ledger is None or not unknown:
            return []
        return [
            one
            for each in self.ledger.held(unknown)
            if (one := self._in_our_words(from_ledger(each, self._spellings))).release
            in self.plan.releases
        ]

    def _in_our_words(self, held: HeldRelease) -> HeldRelease:
        return replace(held, tables=frozenset(self._own_name(name) or name for name in held.tables))

    def _own_name(self, name: str) -> str | None:
        """What the plan calls a table of the ledger:
        small and capital letters, and PostgreSQL's own schema, make no difference.
        """
        if name in self.plan.tables:
            return name
        return next((one for one in self.plan.tables if plainly(one) == plainly(name)), None)

    def _said_by_plan(self, check: Check) -> list[HeldRelease]:
        """What is published by the plan. What is asked about is not out yet;
        of a mechanism that is to be drawn again an output is.
        """
        names = [name for name in out_already(check, self.plan) if name != LEDGER]
        return [
            self._published_by_plan(name, check)
            for name in names
            if name not in check.releases
            or (name in self.new_answers and family_of(check.kind).draws)
        ]

    def _published_by_plan(self, name: str, check: Check) -> HeldRelease:
        """A release of which the plan says that it is published."""
        release = self.plan.releases[name]
        try:
            tables = frozenset(tables_of(name, self.opened))
        except TacitError:
            if name in (check.given or ()):
                raise
            # the check does not name it: that it cannot be read is no error of this check, but it
            # may be about any table
            tables = frozenset()
        return HeldRelease(name, release.shape, tables, release.to)

    # -- what can be judged together ---------------------------------------------------------------

    def _hand(self, check: Check, adversary: Adversary) -> Hand:
        hand = Hand(adversary, warnings=tuple(self._cautions(adversary)))
        own: set[str | None] = (
            set()
        )  # answers of synthetic releases that are asked about and are published
        if family_of(check.kind).alone:
            return hand
        for held in (self._as_kept(check, one) for one in adversary.held):
            if held.release in adversary.new:
                hand = self._published_before(check, hand, held, own)
            else:
                hand = self._beside(check, hand, held)
        return replace(hand, assumptions=(*hand.assumptions, *self._as_today(check, hand)))

    def _as_today(self, check: Check, hand: Hand) -> Iterator[Assumption]:
        """Of what is published by the plan alone nobody knows the answer that was handed out,
        unless a file has it.
        """
        names = [
            one.release
            for one in hand.joined
            if one.entry is None
            and answer_of(one.shape) != "none"
            and self.plan.releases[one.release].answer_file is None
        ]
        if names and family_of(check.kind).needs_answers(check):
            yield Assumption(
                "published-as-today",
                f"what was published with {listed(names)} is what the data give today",
                "no",
            )

    def _beside(self, check: Check, hand: Hand, held: HeldRelease) -> Hand:
        """Another release that is published."""
        family = family_of(check.kind)
        by_answer = family.needs_answers(check) and answer_of(held.shape) != "none"
        why = self._other_name(check, held)
        if why and not family.draws:  # what is spent adds up under all names
            return replace(
                hand,
                problems=(
                    *hand.problems,
                    under_another_name(held, why, is_kept=self._is_same(held)),
                ),
            )
        if not self._is_same(held):
            return replace(hand, problems=(*hand.problems, release_changed(held, self.plan)))
        if held.shape not in family.judges:
            problem = does_not_compose(
                check, held, hand.new, hand.adversary.called, why, alone=not family.judges
            )
            return replace(hand, problems=(*hand.problems, problem))
        if by_answer and not self._answer_holds(held):
            return self._was_wrong(check, hand, held)
        if family.same_people and self._are_others(held):
            return replace(hand, problems=(*hand.problems, people_changed(held)))
        assumed = (*hand.assumptions, *self._not_compared(check, held))
        if by_answer and held.entry is not None and self._today(held.release) != held.answer:
            assumed = (
                *assumed,
                Assumption(
                    "published-still-true",
                    f"what was published with {held.release_text} is still true",
                    "no",
                ),
            )
        if family.draws:
            assumed = (*assumed, as_drawn(held))
        # by another entry, for other recipients
        if any(is_the_same(held, one, draws=family.draws) for one in hand.joined):
            return assuming(hand, one_output(held)) if family.draws else hand
        return replace(hand, joined=(*hand.joined, held), assumptions=tuple(dict.fromkeys(assumed)))

    def _published_before(
        self, check: Check, hand: Hand, held: HeldRelease, own: set[str | None]
    ) -> Hand:
        """A release that is asked about and is published."""
        family = family_of(check.kind)
        by_answer = family.needs_answers(check) and answer_of(held.shape) != "none"
        if held.tied:
            hand = replace(hand, warnings=(*hand.warnings, held.tied))
        if not self._is_same(held):
            return replace(hand, problems=(*hand.problems, release_changed(held, self.plan)))
        if family.draws:
            return self._drawn_again(hand, held, own)
        if by_answer and not self._goes_out_again(held):
            return self._was_wrong(check, hand, held)
        if family.same_people and self._are_others(held):
            return replace(hand, problems=(*hand.problems, people_changed(held)))
        assumed = (*hand.assumptions, *self._not_compared(check, held))
        return replace(
            hand,
            warnings=(*hand.warnings, f"{held.release_text} is published"),
            assumptions=tuple(dict.fromkeys(assumed)),
        )

    def _was_wrong(self, check: Check, hand: Hand, held: HeldRelease) -> Hand:
        """A release that the data give another answer.
        If it was corrected, some definitions judge who has both.
        """
        is_corrected = held.corrected is not None or held.entry in self.correcting
        if (
            is_corrected
            and family_of(check.kind).judges_corrected(check)
            and held.people is not None
            and self._people(held) == held.people
        ):
            return replace(hand, corrected=(*hand.corrected, held))
        return replace(
            hand,
            problems=(
                *hand.problems,
                answer_changed(
                    held,
                    hand.new,
                    is_corrected=is_corrected,
                    at_hand=self._today(held.release) is not None,
                ),
            ),
        )

    def _drawn_again(self, hand: Hand, held: HeldRelease, own: set[str | None]) -> Hand:
        """Every output of a mechanism spends by itself; where it is not known which one is asked
        about, it is the first that is published.
        """
        drawn = self.new_answers.get(held.release)
        is_that = held.answer == drawn if drawn is not None else not own
        if is_that or (held.answer is not None and held.answer in own):
            said = f"{held.release_text} is published; another output of it would spend once more"
            hand = replace(hand, warnings=tuple(dict.fromkeys([*hand.warnings, said])))
            if own or drawn is not None:
                hand = assuming(hand, one_output(held))
        else:
            hand = assuming(replace(hand, joined=(*hand.joined, held)), as_drawn(held))
        own.add(held.answer)
        return hand

    def _other_name(self, check: Check, held: HeldRelease) -> str:
        """Why a release is about the people of a check under another name:
        they would be judged as if they were others.
        """
        shared = self.ties.between(held.tables, self._own_tables(check)) if not held.tied else None
        return held.tied or (
            (
                f"{shared.tables[0]} and {shared.tables[1]} have the same people, or may: "
                f"{shared.because}"
            )
            if shared
            else ""
        )

    def _own_tables(self, check: Check) -> set[str]:
        """The tables that a check is about itself."""
        views = {name for one in check.releases for name in tables_of(one, self.opened)}
        return views | family_of(check.kind).secret_tables(check, self.opened)

    def _cautions(self, adversary: Adversary) -> list[str]:
        return [
            f"{one.release_text} was withdrawn on {one.withdrawn:%Y-%m-%d}: who had it still "
            "knows it"
            for one in adversary.held
            if one.withdrawn is not None
        ]

    def _as_kept(self, check: Check, held: HeldRelease) -> HeldRelease:
        """What is published, by the name under which the plan has it now:
        a release that was corrected may be kept under another one.
        """
        by_answer = family_of(check.kind).needs_answers(check) and answer_of(held.shape) == "data"
        if (
            held.entry is None
            or held.tied
            or (self._is_same(held) and not (by_answer and not self._answer_holds(held)))
        ):
            return held
        kept = (
            name
            for name in self.plan.releases
            if name != held.release and self._is_kept(name, held, by_answer=by_answer)
        )
        return replace(held, release=next(kept, held.release))

    def _is_kept(self, name: str, held: HeldRelease, *, by_answer: bool) -> bool:
        """Is a release of the plan what went out under another name?"""
        renamed = replace(held, release=name)
        if self.plan.releases[name].shape != held.shape or not self._is_same(renamed):
            return False
        return not by_answer or self._answer_holds(renamed)

    def _is_same(self, held: HeldRelease) -> bool:
        """Does the plan still say under its name what went out?"""
        if held.definition is None:
            return True
        if held.release not in self.plan.releases:
            return False
        from tacit.checking.recording.release_identity import definition_of

        assert self.ledger is not None
        return definition_of(
            self.plan, held.release, self.ledger.key
        ) == held.definition or self._is_its_file(held)

    def _is_its_file(self, held: HeldRelease) -> bool:
        """Are they microdata that the plan has as the very file that went out? That says all,
        however they were made.
        """
        release = self.plan.releases[held.release]
        kind = kind_of(release)
        is_file = (
            kind.is_file(release)
            and held.shape == release.shape
            and held.tables.issuperset(map(self._today_of, kind.tables(release, self.opened)))
        )
        return is_file and held.answer is not None and self.answers.fits(held.release, held.answer)

    def _answer_holds(self, held: HeldRelease) -> bool:
        """Is what was published what the data give, or is it in the file that the plan has?"""
        if held.entry is None:
            return True
        if held.answer is None:
            return False
        return self._today(held.release) == held.answer or self.answers.fits(
            held.release, held.answer
        )

    def _are_others(self, held: HeldRelease) -> bool:
        """Are other people in the table than when it went out, or does everybody know something
        else of them?
        """
        return held.people is not None and self._people(held) not in (None, held.people)

    def _not_compared(self, check: Check, held: HeldRelease) -> Iterator[Assumption]:
        """What is taken to be as it was when a release went out, though nothing says so."""
        family = family_of(check.kind)
        has_answer = answer_of(held.shape) != "none"
        if held.entry is None or not has_answer or not family.needs_answers(check):
            return
        knows_people = held.people is not None and self._people(held) is not None
        if (assumed := family.not_compared(held, knows_people=knows_people)) is not None:
            yield assumed

    def _people(self, held: HeldRelease) -> str | None:
        """The people of a release's table today."""
        names = [name for name in held.tables if name in self.plan.tables]
        if held.release in self.plan.releases:  # the data of then may be kept as a snapshot
            own = tables_of(held.release, self.opened)
            names = [name for name in own if self._today_of(name) in names] or names
        return self.answers.people(self.plan.tables[names[0]]) if len(names) == 1 else None

    def _today_of(self, table: str) -> str:
        """The table that a snapshot was taken of, or itself."""
        return self.plan.tables[table].today if table in self.plan.tables else table

    def is_todays(self, held: HeldRelease) -> bool:
        """Is what was published what the data give today?"""
        return held.entry is None or held.answer is None or self._today(held.release) == held.answer

    def _today(self, name: str) -> str | None:
        found = self.answers.today(name)
        return None if found is None else found.digest

    def _goes_out_again(self, held: HeldRelease) -> bool:
        """Is what is about to go out what went out before?"""
        new = self.new_answers.get(held.release)
        return new == held.answer if new is not None else self._answer_holds(held)


def assuming(hand: Hand, assumption: Assumption) -> Hand:
    """A hand that rests on one more assumption."""
    return replace(hand, assumptions=tuple(dict.fromkeys((*hand.assumptions, assumption))))


def as_drawn(held: HeldRelease) -> Assumption:
    """What an output spends is known by the sizes that its groups had."""
    return Assumption(
        "as-drawn", f"groups had the sizes of today when {held.release} was drawn", "no"
    )


def one_output(held: HeldRelease) -> Assumption:
    """Equal answers can be one file in two hands, or two draws that came
    out alike, which would spend twice.
    """
    return Assumption(
        "one-output",
        f"outputs of {held.release} that are equal in the ledger were drawn once and given "
        "out again",
        "no",
    )


def is_listed(said: HeldRelease, found: Sequence[HeldRelease]) -> bool:
    """Does the ledger say of a release all that the plan says:
    that it is published, and to whom at least?
    """
    own = [one for one in found if one.release == said.release]
    return any(not one.to for one in own) or (
        bool(said.to) and set(said.to) <= {client for one in own for client in one.to}
    )


def is_the_same(one: HeldRelease, other: HeldRelease, *, draws: bool) -> bool:
    """Do two entries speak of the same thing? Outputs that are drawn differ, and one that is not
    known is like no other.
    """
    if one.release != other.release:
        return False
    return not draws or (one.answer is not None and one.answer == other.answer)
