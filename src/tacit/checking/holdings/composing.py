"""Composing: which releases a definition judges together with others, and what to say where it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.definitions.registry import MICRODATA, OF_OVERLAPS, OF_QUERIES, OF_SYNTHETIC, OF_WORLDS
from tacit.holdings.defined import shape_of
from tacit.holdings.held import Held

if TYPE_CHECKING:
    from tacit.ledger.entries import Shape
    from tacit.plan.plan import Check, Plan

Code = Literal["does-not-compose", "release-changed", "answer-changed", "composition"]

NOTHING: frozenset[Shape] = frozenset()
# What each family of definitions judges together with a new release; all else about the same table does not compose.
JUDGES: Mapping[str, frozenset[Shape]] = {
    **dict.fromkeys(MICRODATA, NOTHING),
    **dict.fromkeys(OF_OVERLAPS, frozenset({"view", "microdata"})),
    **dict.fromkeys(OF_QUERIES, frozenset({"view", "constraint"})),
    **dict.fromkeys(OF_WORLDS, frozenset({"view", "constraint"})),
    **dict.fromkeys(OF_SYNTHETIC, frozenset({"synthetic"})),
}
CALLED: Mapping[Shape, str] = {
    "view": "a view",
    "microdata": "microdata",
    "synthetic": "synthetic data",
    "constraint": "a rule",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something that an adversary holds could not be judged together with what is new."""

    code: Code
    text: str
    held: Held


def needs_answers(check: Check) -> bool:
    """Does a check look at what was shown? Perfect privacy and differential privacy do not, nor does what asks over all databases."""
    if check.kind in OF_WORLDS:
        return str(check.parameters.get("over", "instance")) == "instance"
    return check.kind in MICRODATA or check.kind in OF_OVERLAPS


def does_not_compose(
    check: Check, plan: Plan, held: Held, new: Sequence[str], who: str, why: str = ""
) -> Problem:
    """A release that is out, and that this definition cannot judge together with the new one."""
    names, has = (
        " and ".join(new),
        "is public" if who == "anyone" else f"is with {who.removesuffix(' together')}",
    )
    judges = (
        f"{check.kind} judges {names} alone"
        if not JUDGES[check.kind]
        else f"{check.kind} cannot judge {names} together with it"
    )
    text = f"{held.told} {has} already, and {judges}{f': {why.rstrip(chr(46))}' if why else ''}. {instead(check, plan, held, new)}"
    return Problem("does-not-compose", text, held)


def instead(check: Check, plan: Plan, held: Held, new: Sequence[str]) -> str:
    """What to ask about both."""
    both = f"releases: [{', '.join(dict.fromkeys([held.release, *new]))}]"
    shapes = {held.shape, *(shape_of(plan.releases[name]) for name in new)}
    if "synthetic" in shapes and shapes != {"synthetic"}:
        return "No definition judges synthetic data together with anything else: what both tell is not known."
    if shapes == {"synthetic"}:
        return f"Ask differential-privacy of both with epsilon and delta, {both}."
    if "constraint" in shapes:
        return "Ask g-safety or e-safety, which take rules and views that are out."
    table = plan.tables.get(next(iter(held.tables), ""))
    ready = table is not None and table.keys and len(table.sensitive) == 1
    if check.kind in OF_OVERLAPS:
        return "Ask g-safety, e-safety or perfect-privacy, which read more queries."
    return f"Ask gamma-privacy or k-sind of both, {both}{'' if ready else '; they need a table with a key and one sensitive column'}."


def release_changed(held: Held, plan: Plan) -> Problem:
    """What is out is not what the plan now calls so."""
    if held.release not in plan.releases:
        text = f"{held.told} is out, and the plan has no release of that name: what it tells is not known. Keep it in the plan under its name."
    else:
        text = f"{held.told} is out, and the plan now says something else under that name. Keep it in the plan as it was; give the new one another name."
    return Problem("release-changed", text, held)


def people_changed(held: Held) -> Problem:
    """What is out was about other people than are in the table today, or everybody knew something else of them."""
    text = (
        f"The people of {' and '.join(sorted(held.tables))}, or what everybody knows of them, changed since {held.told} went out, "
        "though the data give it the same answer, or a file has it. Ask about the data as they were."
    )
    return Problem("answer-changed", text, held)


def answer_changed(held: Held, new: Sequence[str], *, has_file: bool = False) -> Problem:
    """What is out is not what the data give today. Which rows differ is not said: a reason is for everybody to read."""
    if held.release in new:
        text = f"{held.told} went out with another answer than the data give today, and who has both can compare them. Give the new one another name."
    elif has_file:
        text = f"What was published with {held.told} is in a file of the plan, and does not fit the data of today. Ask about the data as they were."
    else:
        text = (
            f"The data changed since {held.told} went out: they give it another answer today, and no file of the plan has what was published. "
            "Ask about the data as they were, or name the file with what was published (answer: FILE)."
        )
    return Problem("answer-changed", text, held)
