"""Judging: a check asked for every adversary with what they hold; the worst verdict counts, and says who holds what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.definitions.registry import OF_OVERLAPS, OF_SYNTHETIC, OF_WORLDS
from tacit.definitions.words import listed
from tacit.errors import DataError, TacitError
from tacit.holdings.composing import Problem, answer_changed, does_not_compose, needs_answers
from tacit.holdings.concerning import out_already
from tacit.holdings.held import Held, in_words
from tacit.holdings.holdings import Hand, Holdings
from tacit.model.numbers import exact, plain
from tacit.model.release import Synthetic
from tacit.model.verdict import Assumption, Reason, Verdict
from tacit.plan.references import LEDGER

if TYPE_CHECKING:
    from tacit.definitions.base import Definition
    from tacit.plan.plan import Check, Plan

Ask = Callable[["Check", Hand], Verdict]
Known = dict[
    tuple[tuple[str, ...], tuple[str, ...]], Verdict | TacitError
]  # by what is judged together and what is new
ORDER = ("breached", "undecided", "holds")
MOST_TOLD = 3  # adversaries in a sentence
ELSE = "nothing else about these people is out than what {says} of the same tables"


def judged(
    check: Check, definition: Definition, holdings: Holdings, ask: Ask
) -> tuple[Verdict, Hand]:
    """Ask a definition for every adversary, and put their verdicts together; also who it was that decided.

    `ask` answers for one adversary with what is judged together; it is asked once for each different question.
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
    """The verdict for every adversary, each with what they hold; also where another is exposed already."""
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
    except TacitError as error:
        if not hand.joined:
            raise
        hand, verdict = _as_far_as_possible(check, holdings, hand, error, ask, known)
    return _with_problems(verdict, hand), hand


def _as_far_as_possible(
    check: Check, holdings: Holdings, hand: Hand, error: TacitError, ask: Ask, known: Known
) -> tuple[Hand, Verdict]:
    """Something that is out keeps the question from being answered: what does is left out, and that is said."""
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
    said = " ".join(part for part in (error.message, error.hint) if part)
    return does_not_compose(check, holdings.plan, held, hand.new, hand.adversary.called, said)


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
    sums = f", for example epsilon: {total([one.epsilon for one in releases])}, delta: {float(sum(one.delta for one in releases)):g}"
    text = (
        f"{in_words(hand.joined)} {'is' if len(hand.joined) == 1 else 'are'} about the same people as {listed(hand.new)}, and what they spend adds up. "
        f"Say in the check what they may spend in all{sums}."
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


def _with_problems(verdict: Verdict, hand: Hand) -> Verdict:
    """A verdict that holds only as far as could be judged is undecided; one that is breached stays so."""
    if not hand.problems:
        return verdict
    if verdict.status != "holds":
        return replace(
            verdict, warnings=(*verdict.warnings, *(one.text.rstrip(".") for one in hand.problems))
        )
    texts = list(dict.fromkeys(one.text for one in hand.problems))
    has = (
        "everybody has"
        if not hand.who
        else f"{hand.adversary.called} {'has' if len(hand.who) == 1 else 'have'}"
    )
    because = f"by itself it holds; together with {in_words([one.held for one in hand.problems])}, which {has} already, this could not be decided"
    reason = Reason(hand.problems[0].code, " ".join(texts))
    return replace(
        verdict, status="undecided", because=because, evidence=reason, story=None, vacuous=False
    )


def closeness(verdict: Verdict) -> Any:
    """Of verdicts that all hold, the one that holds by the least: the greatest belief, the smallest crowd."""
    measured = verdict.measured
    if "gamma" in measured and isinstance(measured["gamma"], int | Fraction):
        return -Fraction(measured["gamma"])
    return (
        Fraction(measured["k"])
        if verdict.check in OF_OVERLAPS and isinstance(measured.get("k"), int)
        else Fraction(0)
    )


# -- words ----------------------------------------------------------------------------------------------


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
    says = (
        "the ledger and the plan say"
        if LEDGER in out_already(check, holdings.plan)
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


def who_holds(hands: Sequence[Hand]) -> str:
    """Who has which releases that are out, in a sentence."""
    said = []
    for hand in hands:
        out = [one for one in hand.adversary.held if one.release not in hand.new]
        if out and not hand.who:
            said.append(f"everybody has {in_words(out)} already")
        elif out:
            said.append(
                f"{hand.adversary.called} {'has' if len(hand.who) == 1 else 'have'} {in_words(out)} already"
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
