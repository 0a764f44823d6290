"""Composition: what to say where a definition cannot judge what is published with what is new."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tacit.model.holdings import HeldRelease, Problem
from tacit.plan.plan import Check, Plan

UNREAD = "ledger-unread"  # the code where what is published is not known


def does_not_compose(
    check: Check,
    held: HeldRelease,
    new: Sequence[str],
    who: str,
    why: str = "",
    *,
    alone: bool = False,
) -> Problem:
    """A release that is published, and that this definition cannot judge together with the new one;
    `alone`: it judges one release by itself, whatever is published.
    """
    names, has = (
        " and ".join(new),
        "is public" if who == "anyone" else f"is with {who.removesuffix(' together')}",
    )
    judges = (
        f"{check.kind} judges {names} alone"
        if alone
        else f"{check.kind} cannot judge {names} together with it"
    )
    return Problem(
        "does-not-compose",
        f"{held.release_text} {has} already, and "
        f"{judges}{f': {why.rstrip(chr(46))}' if why else ''}.",
        held,
        by_others=True,
    )


def correct(held: HeldRelease) -> str:
    """The command that records a correction of something that is published."""
    return f"tacit ledger correct {shlex.quote(held.release)}"


def release_changed(held: HeldRelease, plan: Plan) -> Problem:
    """What is published is not what the plan now calls so."""
    if held.release not in plan.releases:
        text = (
            f"{held.release_text} is published, and the plan has no release of that name: what it "
            "tells is "
            "not known. Keep it in the plan as it was, under any name."
        )
    else:
        text = (
            f"{held.release_text} is published, and the plan now says something else under "
            f"that name. "
            "Keep "
            "it in the plan as it was, under any name. If the new one corrects it: "
            f"{correct(held)}."
        )
    return Problem("release-changed", text, held)


def under_another_name(held: HeldRelease, why: str, *, is_kept: bool) -> Problem:
    """What is published is about the same people, and the plan has them under two names:
    judged together they would be two.
    """
    kept = "" if is_kept else f", and keep {held.release} in the plan as it was"
    return Problem(
        "does-not-compose" if is_kept else "release-changed",
        f"{why}. What {held.release_text} tells counts here too, and cannot be judged under two "
        "names. Use "
        f"one name for both{kept}.",
        held,
    )


def people_changed(held: HeldRelease) -> Problem:
    """What is published was about other people than are in the table today, or everybody knew
    something else of them.
    """
    text = (
        f"The people of {' and '.join(sorted(held.tables))}, or what everybody knows of them, "
        f"changed since {held.release_text} went out, though the data give it the same answer, "
        "or a file "
        "has it. Ask about the data as they were."
    )
    return Problem("answer-changed", text, held)


def answer_changed(
    held: HeldRelease,
    new: Sequence[str],
    *,
    has_file: bool = False,
    is_corrected: bool = False,
    at_hand: bool = True,
) -> Problem:
    """What is published is not what the data give today.
    Which rows differ is not said: a reason is for everybody to read.
    """
    if is_corrected:
        text = (
            f"{held.release_text} was wrong, and who has it can compare it with its correction. "
            "gamma-privacy and k-sind judge both where the people are the same ones, the table "
            "has domains: {COLUMN: [...]} for its sensitive column, all its other columns are of "
            "its key or quasi-identifiers, and many are alike in both."
        )
    elif held.release in new:
        text = (
            f"The name of {held.release_text} was already used for a different file: the data give "
            "another answer today, and who has both can compare them. "
            f"If the new one corrects it: {correct(held)}."
        )
    elif has_file:
        text = (
            f"What was published with {held.release_text} is in a file of the plan, and does not "
            "fit "
            "the data of today. Ask about the data as they were."
        )
    elif at_hand:  # a file with the old answer would contradict them
        text = (
            f"The data changed since {held.release_text} went out: they give it another answer "
            "today. "
            "Ask about the data as they were."
        )
    else:
        text = (
            f"The data that {held.release_text} was made of are not at hand, and no file of the "
            "plan "
            "has what was published. Name it: answer: FILE."
        )
    return Problem("answer-changed", text, held)
