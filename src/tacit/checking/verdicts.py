"""Verdicts: a check asked for every adversary with what they hold;
the worst verdict counts, and says who holds what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.checking.advice import advice
from tacit.checking.holdings.holdings import Holdings
from tacit.errors import DataError, QueryError, TacitError
from tacit.families.composition import UNREAD, answer_changed, does_not_compose
from tacit.families.family import Answered, Question, family_of
from tacit.families.words import listed
from tacit.model.holdings import Hand, HeldRelease, Problem, in_words
from tacit.model.verdict import Assumption, Reason, Verdict

if TYPE_CHECKING:
    from tacit.families.definition import Definition
    from tacit.plan.open_plan import OpenPlan
    from tacit.plan.plan import Check

# by what is judged together and what is new
Known = dict[tuple[tuple[str, ...], tuple[str, ...]], "Answered[Question] | TacitError"]
ORDER = ("breached", "undecided", "holds")
# A view that nobody could run: the plan is wrong, and says where.
MISTAKES = frozenset({"unknown-table", "unknown-column", "type-clash", "arity", "unsafe", "union"})
MOST_TOLD = 3  # adversaries in a sentence
ELSE = "no other data about these people has been published than what {says} of the same tables"


def worst_verdict(
    check: Check, definition: Definition, holdings: Holdings, alone: Verdict | None = None
) -> Answered[Question]:
    """Ask a definition for every adversary, and put their verdicts together; the question is that
    of whoever decided. Each different question is asked once.

    `alone` is the verdict about what is new, where that was judged already.
    """
    hands = holdings.hands(check)
    found: list[tuple[Answered[Question], Hand]] = []
    asking = AdversaryCheck(check, definition, holdings, alone)
    for one in map(asking.answer, hands):
        found.append(one)
        if one[0].verdict.status == "breached":
            break
    answered, hand = min(found, key=lambda one: _rank(*one))
    decided = [one for _, one in found] if answered.verdict.status == "holds" else [hand]
    held = [one for each in hands for one in each.adversary.held]
    verdict = verdict_with_holders(check, answered.verdict, hand, decided, holdings, held)
    return replace(answered, verdict=verdict)


def _rank(answered: Answered[Question], hand: Hand) -> tuple[object, ...]:
    """The worst first; of those that hold the one that holds by the least."""
    verdict = answered.verdict
    close = family_of(verdict.check).closeness(verdict)
    return ORDER.index(verdict.status), verdict.vacuous, close, -len(hand.joined)


def judged_each(
    check: Check, definition: Definition, holdings: Holdings
) -> list[tuple[Verdict, Hand]]:
    """The verdict for every adversary, each with what they hold;
    also where another is exposed already.
    """
    asking = AdversaryCheck(check, definition, holdings)
    return [
        (
            verdict_with_holders(check, one.verdict, hand, [hand], holdings, hand.adversary.held),
            hand,
        )
        for one, hand in map(asking.answer, holdings.hands(check))
    ]


class AdversaryCheck:
    """A check that is asked for one adversary after the other."""

    def __init__(
        self,
        check: Check,
        definition: Definition,
        holdings: Holdings,
        alone: Verdict | None = None,
    ) -> None:
        self.alone = alone
        self.check = check
        self.definition = definition
        self.holdings = holdings
        self.family = family_of(check.kind)
        self._known: Known = {}

    def answer(self, hand: Hand) -> tuple[Answered[Question], Hand]:
        """The verdict for one adversary, and what was judged for it."""
        check, definition, holdings = self.check, self.definition, self.holdings
        obstacle = self.family.obstacle(check, definition, holdings.plan, hand)
        if obstacle is not None:
            hand = replace(hand, joined=(), problems=(*hand.problems, obstacle))
        try:
            answered = self._answer(hand)
            if self.family.draws and answered.verdict.status == "undecided" and hand.joined:
                # What all spend could not be told; what is new may spend too much by itself.
                alone = self._answer(replace(hand, joined=()))
                answered = alone if alone.verdict.status == "breached" else answered
        except TacitError as error:
            if not hand.joined or (isinstance(error, QueryError) and error.code in MISTAKES):
                raise
            hand, answered = self._as_far_as_possible(hand, error)
        verdict = self.family.with_corrected(
            check, definition, holdings.opened, hand, answered.verdict
        )
        return replace(answered, verdict=_with_problems(check, holdings, verdict, hand)), hand

    def _as_far_as_possible(self, hand: Hand, error: TacitError) -> tuple[Hand, Answered[Question]]:
        """Something that is published keeps the question from being answered:
        what does is left out, and that is said.
        """
        kept: list[HeldRelease] = []
        problems: list[Problem] = []
        for one in hand.joined:
            try:
                self._answer(replace(hand, joined=(one,)))
                kept.append(one)
            except TacitError as its_own:
                problems.append(self._why(hand, one, its_own))
        if not problems:  # each fits what is new, and all of them together do not
            kept, problems = [], [self._why(hand, one, error) for one in hand.joined]
        hand = replace(hand, joined=tuple(kept), problems=(*hand.problems, *problems))
        try:
            return hand, self._answer(hand)
        except TacitError as again:
            if not kept:
                raise
            more = (self._why(hand, one, again) for one in kept)
            alone = replace(hand, joined=(), problems=(*hand.problems, *more))
            return alone, self._answer(alone)

    def _answer(self, hand: Hand) -> Answered[Question]:
        if self.alone is not None and not hand.joined:
            return Answered(self.check, self.alone)
        key = hand.names, hand.new
        if key not in self._known:
            try:
                opened = self.holdings.opened
                question = self.family.question(self.check, hand, opened)
                self._known[key] = ask(self.check, self.definition, question, opened)
            except TacitError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, TacitError):
            raise found
        return found

    def _why(self, hand: Hand, held: HeldRelease, error: TacitError) -> Problem:
        """What an error about releases that are judged together says of one that is published."""
        by_answer = self.family.needs_answers(self.check) and isinstance(error, DataError)
        if by_answer and not self.holdings.is_todays(held):
            return answer_changed(held, hand.new, has_file=True)
        # its hint is for what is not out yet
        return does_not_compose(self.check, held, hand.new, hand.adversary.called, error.message)


def ask(
    check: Check, definition: Definition, question: Question, opened: OpenPlan
) -> Answered[Question]:
    """A definition's answer to its question."""
    verdict = family_of(check.kind).answer(check, definition, question, opened)
    return Answered(check, verdict, question)


def _with_problems(check: Check, holdings: Holdings, verdict: Verdict, hand: Hand) -> Verdict:
    """A verdict that holds only as far as could be judged is undecided;
    one that is breached stays so. This is the one place that says it.
    """
    if holdings.is_unread(check) and verdict.status == "holds":
        return _undecided(
            verdict,
            f"by itself it holds; the ledger {holdings.plan.ledger} could not be read",
            Reason(UNREAD, unread(holdings)),
        )
    if not hand.problems:
        return verdict
    if verdict.status != "holds":
        return replace(
            verdict, warnings=(*verdict.warnings, *(one.text.rstrip(".") for one in hand.problems))
        )
    texts = list(
        dict.fromkeys([*(one.text for one in hand.problems), *advice(check, hand, holdings)])
    )
    has = (
        "everybody has"
        if not hand.who
        else f"{hand.adversary.called} {'has' if len(hand.who) == 1 else 'have'}"
    )
    because = (
        f"by itself it holds; together with {in_words([one.held for one in hand.problems])}, "
        f"which {has} already, this could not be decided"
    )
    return _undecided(verdict, because, Reason(hand.problems[0].code, " ".join(texts)))


def _undecided(verdict: Verdict, because: str, reason: Reason) -> Verdict:
    return replace(
        verdict, status="undecided", because=because, evidence=reason, story=None, vacuous=False
    )


def unread(holdings: Holdings) -> str:
    """Why the ledger could not be read, and what to do."""
    error = holdings.unread
    assert error is not None
    return " ".join(part for part in (f"{error.message.rstrip('.')}.", error.hint) if part)


# -- words -----------------------------------------------------------------------------------------


def verdict_with_holders(
    check: Check,
    verdict: Verdict,
    hand: Hand,
    hands: Sequence[Hand],
    holdings: Holdings,
    held: Sequence[HeldRelease],
) -> Verdict:
    """The verdict about what the check asks, with who holds what."""
    names = list(check.releases)
    given = [one.release for one in sorted(held, key=lambda one: one.entry or 0)]
    subject = {
        key: value
        for key, value in verdict.subject.items()
        if key not in ("release", "releases", "given", "over")
    }
    subject |= {"release": names[0]} if len(names) == 1 else {"releases": names}
    subject["given"] = [name for name in dict.fromkeys(given) if name not in names]
    subject |= {"over": verdict.subject["over"]} if "over" in verdict.subject else {}
    words = "" if verdict.status == "undecided" and hand.problems else who_holds(hands)
    warnings = [
        *verdict.warnings,
        *(one for each in hands for one in each.warnings),
        *holdings.warnings(check),
    ]
    says = (
        "`given` of this check says"
        if holdings.left_out(check)
        else "the ledger and the plan say"
        if holdings.asks_ledger(check)
        else "the plan says"
    )
    assumed = [
        *(elsewhere(one, says) for one in verdict.assumptions),
        *(one for each in hands for one in each.assumptions),
    ]
    return replace(
        verdict,
        subject=subject,
        because=f"{verdict.because} ({words})" if words else verdict.because,
        against=against(check, verdict, hand),
        warnings=tuple(dict.fromkeys(warnings)),
        assumptions=tuple(dict.fromkeys(assumed)),
    )


def with_left_out(check: Check, verdict: Verdict, holdings: Holdings) -> Verdict:
    """The verdict, which says what is published and is left out by `given` of its check: then it
    is about a world in which that is not out. It also says what is taken to be about others.
    """
    left, unrelated = holdings.left_out(check), holdings.unrelated(check)
    if unrelated:
        notes = [*verdict.warnings, other_people(unrelated)]
        verdict = replace(verdict, warnings=tuple(dict.fromkeys(notes)))
    if not left:
        return verdict
    by_plan, by_ledger = (
        [one for one in left if one.entry is None],
        [one for one in left if one.entry is not None],
    )
    ways = ((by_plan, "published too"), (by_ledger, "published too, as the ledger says"))
    notes = [note for some, how in ways if (note := not_judged(some, how))]
    assumed = Assumption(
        "given-only",
        f"nobody has {in_words(left)}, though {'it is' if len(left) == 1 else 'they are'} "
        "published: `given` of this check leaves that out",
        "no",
    )
    return replace(
        verdict,
        warnings=tuple(dict.fromkeys([*verdict.warnings, *notes])),
        assumptions=(*verdict.assumptions, assumed),
    )


def other_people(unrelated: Sequence[HeldRelease]) -> str:
    """That some releases are about other tables, and so were not judged together.

    >>> other_people([HeldRelease("a", "microdata", frozenset({"clubs"}))])
    'a is about clubs, taken to be other people: if not, say so by `snapshot-of` or a foreign key'
    """
    are = "is" if len(unrelated) == 1 else "are"
    tables = listed(sorted({name for one in unrelated for name in one.tables}))
    return (
        f"{in_words(unrelated)} {are} about {tables}, taken to be other people: if not, say so by "
        "`snapshot-of` or a foreign key"
    )


def not_judged(left: Sequence[HeldRelease], how: str) -> str:
    """That some releases are published and were left out; nothing where there are none.

    >>> not_judged([HeldRelease("a", "view", frozenset())], "published too")
    'a is published too, and is not judged here: `given` of this check leaves it out'
    """
    are, them = ("is", "it") if len(left) == 1 else ("are", "them")
    return (
        (
            f"{in_words(left)} {are} {how}, and {are} not judged here: `given` of this check "
            f"leaves {them} out"
        )
        if left
        else ""
    )


def who_holds(hands: Sequence[Hand]) -> str:
    """Who has which releases that are published, in a sentence."""
    said = []
    for hand in hands:
        out = [one for one in hand.adversary.held if one.release not in hand.new]
        if out and not hand.who:
            said.append(f"everybody has {in_words(out)} already")
        elif out:
            said.append(
                f"{hand.adversary.called} {'has' if len(hand.who) == 1 else 'have'} "
                f"{in_words(out)} already"
            )
    said = list(dict.fromkeys(said))
    more = [f"{len(said) - MOST_TOLD} more"] if len(said) > MOST_TOLD else []
    return "; ".join([*said[:MOST_TOLD], *more])


def against(check: Check, verdict: Verdict, hand: Hand) -> str:
    """Who the adversary is: the definition's words, and the clients who it was."""
    has_all = family_of(check.kind).has_all_adversaries
    if has_all or not hand.who or verdict.status == "holds":
        return verdict.against
    return f"{verdict.against} (here {hand.adversary.called})"


def elsewhere(assumption: Assumption, says: str) -> Assumption:
    """That nothing else is published, where it was looked at what is."""
    return (
        replace(assumption, text=ELSE.format(says=says))
        if assumption.id == "no-other-release"
        else assumption
    )
