"""Judging: a check asked for every adversary with what they hold;
the worst verdict counts, and says who holds what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.checking.advising import advice
from tacit.checking.holdings.composing import (
    UNREAD,
    Problem,
    answer_changed,
    does_not_compose,
    needs_answers,
)
from tacit.checking.holdings.corrections import with_corrected
from tacit.checking.holdings.held import Held, in_words
from tacit.checking.holdings.holdings import Hand, Holdings
from tacit.errors import DataError, QueryError, TacitError
from tacit.families.registry import OF_OVERLAPS, OF_SYNTHETIC, OF_WORLDS
from tacit.families.words import listed
from tacit.model.numbers import exact, plain
from tacit.model.release import Synthetic
from tacit.model.verdict import Assumption, Reason, Verdict

if TYPE_CHECKING:
    from tacit.families.definition import Definition
    from tacit.plan.plan import Check, Plan

Ask = Callable[["Check", Hand], Verdict]
Known = dict[
    tuple[tuple[str, ...], tuple[str, ...]], Verdict | TacitError
]  # by what is judged together and what is new
ORDER = ("breached", "undecided", "holds")
# A view that nobody could run: the plan is wrong, and says where.
MISTAKES = frozenset({"unknown-table", "unknown-column", "type-clash", "arity", "unsafe", "union"})
MOST_TOLD = 3  # adversaries in a sentence
ELSE = "nothing else about these people is out than what {says} of the same tables"


def judged(
    check: Check, definition: Definition, holdings: Holdings, ask: Ask
) -> tuple[Verdict, Hand]:
    """Ask a definition for every adversary, and put their verdicts together;
    also who it was that decided.

    `ask` answers for one adversary with what is judged together;
    it is asked once for each different question.
    """
    hands = holdings.hands(check)
    found: list[tuple[Verdict, Hand]] = []
    for one in _each(check, definition, holdings, hands, ask):
        found.append(one)
        if one[0].status == "breached":
            break
    verdict, hand = min(
        found,
        key=lambda one: (
            ORDER.index(one[0].status),
            one[0].vacuous,
            closeness(one[0]),
            -len(one[1].joined),
        ),
    )
    decided = [one for _, one in found] if verdict.status == "holds" else [hand]
    return told(
        check,
        verdict,
        hand,
        decided,
        holdings,
        [one for each in hands for one in each.adversary.held],
    ), hand


def judged_each(
    check: Check, definition: Definition, holdings: Holdings, ask: Ask
) -> list[tuple[Verdict, Hand]]:
    """The verdict for every adversary, each with what they hold;
    also where another is exposed already.
    """
    found = _each(check, definition, holdings, holdings.hands(check), ask)
    return [
        (told(check, verdict, hand, [hand], holdings, hand.adversary.held), hand)
        for verdict, hand in found
    ]


def _each(
    check: Check, definition: Definition, holdings: Holdings, hands: Sequence[Hand], ask: Ask
) -> Iterator[tuple[Verdict, Hand]]:
    known: Known = {}
    for hand in hands:
        yield _for(check, definition, holdings, hand, ask, known)


def _for(
    check: Check, definition: Definition, holdings: Holdings, hand: Hand, ask: Ask, known: Known
) -> tuple[Verdict, Hand]:
    """The verdict for one adversary, and what was judged for it."""
    if (budget := _no_budget(check, definition, holdings.plan, hand)) is not None:
        hand = replace(hand, joined=(), problems=(*hand.problems, budget))
    try:
        verdict = _asked(check, hand, ask, known)
        if check.kind in OF_SYNTHETIC and verdict.status == "undecided" and hand.joined:
            # What all of them spend could not be told; what is new may spend too much by itself.
            alone = _asked(check, replace(hand, joined=()), ask, known)
            verdict = alone if alone.status == "breached" else verdict
    except TacitError as error:
        if not hand.joined or (isinstance(error, QueryError) and error.code in MISTAKES):
            raise
        hand, verdict = _as_far_as_possible(check, holdings, hand, error, ask, known)
    return _with_problems(
        check, holdings, with_corrected(check, definition, holdings, hand, verdict), hand
    ), hand


def _as_far_as_possible(
    check: Check, holdings: Holdings, hand: Hand, error: TacitError, ask: Ask, known: Known
) -> tuple[Hand, Verdict]:
    """Something that is out keeps the question from being answered:
    what does is left out, and that is said.
    """
    kept: list[Held] = []
    problems: list[Problem] = []
    for one in hand.joined:
        try:
            _asked(check, replace(hand, joined=(one,)), ask, known)
            kept.append(one)
        except TacitError as its_own:
            problems.append(_why(check, holdings, hand, one, its_own))
    if not problems:  # each fits what is new, and all of them together do not
        kept, problems = [], [_why(check, holdings, hand, one, error) for one in hand.joined]
    hand = replace(hand, joined=tuple(kept), problems=(*hand.problems, *problems))
    try:
        return hand, _asked(check, hand, ask, known)
    except TacitError as again:
        if not kept:
            raise
        alone = replace(
            hand,
            joined=(),
            problems=(*hand.problems, *(_why(check, holdings, hand, one, again) for one in kept)),
        )
        return alone, _asked(check, alone, ask, known)


def _asked(check: Check, hand: Hand, ask: Ask, known: Known) -> Verdict:
    key = hand.names, hand.new
    if key not in known:
        try:
            known[key] = ask(check, hand)
        except TacitError as error:
            known[key] = error
    found = known[key]
    if isinstance(found, TacitError):
        raise found
    return found


def _why(check: Check, holdings: Holdings, hand: Hand, held: Held, error: TacitError) -> Problem:
    """What an error about releases that are judged together says of one that is out."""
    if needs_answers(check) and isinstance(error, DataError) and not holdings.is_todays(held):
        return answer_changed(held, hand.new, has_file=True)
    return does_not_compose(
        check, held, hand.new, hand.adversary.called, error.message
    )  # its hint is for what is not out yet


def _no_budget(check: Check, definition: Definition, plan: Plan, hand: Hand) -> Problem | None:
    """Several outputs about the same people, and nothing says what they may spend in all."""
    if (
        check.kind not in OF_SYNTHETIC
        or not hand.joined
        or None not in (getattr(definition, "epsilon", 0), getattr(definition, "delta", 0))
    ):
        return None
    names = [*hand.names, *hand.new]
    releases = [one for name in names if isinstance(one := plan.releases[name], Synthetic)]
    sums = (
        f", for example epsilon: {total([one.epsilon for one in releases])}, delta: "
        f"{float(sum(one.delta for one in releases)):g}"
    )
    text = (
        f"{in_words(hand.joined)} {'is' if len(hand.joined) == 1 else 'are'} about the same people "
        f"as {listed(hand.new)}, and what they spend adds up. Say in the check what they may spend "
        f"in all{sums}."
    )
    return Problem("composition", text, hand.joined[0])


def total(epsilons: Sequence[Fraction | str]) -> str:
    """Epsilons added up, as one writes it.

    >>> total([Fraction(2), Fraction(9, 2)]), total([Fraction(1), "ln(5)"])
    ('6.5', 'their sum')
    """
    try:
        return plain(sum((exact(one) for one in epsilons), Fraction(0)))
    except ValueError:
        return "their sum"


def _with_problems(check: Check, holdings: Holdings, verdict: Verdict, hand: Hand) -> Verdict:
    """A verdict that holds only as far as could be judged is undecided;
    one that is breached stays so. This is the one place that says it.
    """
    if holdings.is_unread(check) and verdict.status == "holds":
        return _undecided(
            verdict,
            f"by itself it holds; what is out by the ledger {holdings.plan.ledger} could not "
            "be read",
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


def closeness(verdict: Verdict) -> Any:
    """Of verdicts that all hold, the one that holds by the least:
    the greatest belief, the smallest crowd.
    """
    measured = verdict.measured
    if "gamma" in measured and isinstance(measured["gamma"], int | Fraction):
        return -Fraction(measured["gamma"])
    return (
        Fraction(measured["k"])
        if verdict.check in OF_OVERLAPS and isinstance(measured.get("k"), int)
        else Fraction(0)
    )


# -- words -----------------------------------------------------------------------------------------


def told(
    check: Check,
    verdict: Verdict,
    hand: Hand,
    hands: Sequence[Hand],
    holdings: Holdings,
    held: Sequence[Held],
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
    says = "the ledger and the plan say" if holdings.asks_ledger(check) else "the plan says"
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
    """The verdict, which says what is out and is left out by `given` of its check:
    then it is about a world in which that is not out.
    """
    left = holdings.left_out(check)
    if not left:
        return verdict
    by_plan, by_ledger = (
        [one for one in left if one.entry is None],
        [one for one in left if one.entry is not None],
    )
    notes = [
        note
        for some, how in ((by_plan, "published too"), (by_ledger, "out too, by the ledger"))
        if (note := not_judged(some, how))
    ]
    assumed = Assumption(
        "given-only",
        f"nobody has {in_words(left)}, though {'it is' if len(left) == 1 else 'they are'} out: "
        "`given` of this check leaves that out",
        "no",
    )
    return replace(
        verdict,
        warnings=tuple(dict.fromkeys([*verdict.warnings, *notes])),
        assumptions=(*verdict.assumptions, assumed),
    )


def not_judged(left: Sequence[Held], how: str) -> str:
    """That some releases are out and were left out; nothing where there are none.

    >>> not_judged([Held("a", "view", frozenset())], "published too")
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
    """Who has which releases that are out, in a sentence."""
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
    if check.kind in OF_WORLDS or not hand.who or verdict.status == "holds":
        return verdict.against
    return f"{verdict.against} (here {hand.adversary.called})"


def elsewhere(assumption: Assumption, says: str) -> Assumption:
    """That nothing else is out, where it was looked at what is."""
    return (
        replace(assumption, text=ELSE.format(says=says))
        if assumption.id == "no-other-release"
        else assumption
    )
