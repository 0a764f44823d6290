"""Advising: what to ask in the place of a check that cannot judge what is out together with what
is new; each is tried before it is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tacit.checking.holdings.composing import JUDGES
from tacit.checking.recording.defined import shape_of
from tacit.errors import TacitError
from tacit.families.registry import OF_OVERLAPS, OF_QUERIES, OF_WORLDS
from tacit.plan.plan import Check

if TYPE_CHECKING:
    from tacit.checking.holdings.holdings import Hand, Holdings

NOTHING = "No definition judges these together: what they tell together is not known."
NOT_SYNTHETIC = (
    "No definition judges synthetic data together with anything else: what both tell is not known."
)
WAYS = (
    "gamma-privacy",
    "g-safety",
    "perfect-privacy",
)  # the first of each family, in the order in which they are named
FAMILIES = (OF_OVERLAPS, OF_WORLDS, OF_QUERIES)


def advice(check: Check, hand: Hand, holdings: Holdings) -> Iterator[str]:
    """What judges all of it together, in the place of a check that cannot; or that nothing does.

    Nothing is said where something else is in the way: then no other definition helps either.
    """
    if not all(one.by_others for one in hand.problems):
        return
    names = tuple(dict.fromkeys([*(one.release for one in hand.adversary.held), *hand.new]))
    shapes = {
        shape_of(holdings.plan.releases[name]) for name in names if name in holdings.plan.releases
    }
    whys: list[str] = []
    for kind in (
        one
        for one in WAYS
        if shapes <= JUDGES[one]
        and not any(one in some and check.kind in some for some in FAMILIES)
    ):
        why = obstacle(kind, check, hand, names, holdings)
        if not why:
            yield step(kind, check, names, hand.new)
            return
        whys.append(f"{kind} cannot either: {why.rstrip('.')}.")
    yield " ".join([NOT_SYNTHETIC if "synthetic" in shapes else NOTHING, *whys])


def step(kind: str, check: Check, names: Sequence[str], new: Sequence[str]) -> str:
    """What to ask in the place of a check.

    >>> step("gamma-privacy", Check("k-anonymity"), ["may", "april"], ["april"])
    'Ask gamma-privacy or k-sind of both, releases: [may, april].'
    >>> step("g-safety", Check("k-sind"), ["rule", "late"], ["late"])
    'Ask g-safety or e-safety, which take rules and views that are out: {secret: NAME, release: late}.'
    """  # noqa: E501
    if kind in OF_OVERLAPS:
        return (
            f"Ask gamma-privacy or k-sind of {'both' if len(names) == 2 else 'all'}, "
            f"releases: [{', '.join(names)}]."
        )
    about = f"release: {new[0]}" if len(new) == 1 else f"releases: [{', '.join(new)}]"
    told = (
        "g-safety or e-safety, which take rules and views that are out"
        if kind in OF_WORLDS
        else "perfect-privacy, which reads more queries"
    )
    return f"Ask {told}: {{secret: {check.secret or 'NAME'}, {about}}}."


def obstacle(kind: str, check: Check, hand: Hand, names: Sequence[str], holdings: Holdings) -> str:
    """Why a definition would not take some releases together; nothing where it would."""
    desk = holdings.desk
    try:
        if kind in OF_OVERLAPS:
            desk.overlaps.read(names, kind)
        elif kind in OF_WORLDS:
            desk.views.stated.views(names)
            desk.views.stated.constraints(names)
            if check.secret is not None:
                seen = [one for one in names if one not in hand.new]
                desk.views.question(
                    Check(kind, secret=check.secret, releases=hand.new, path=check.path),
                    (hand.who, seen, list(hand.new)),
                )
        elif kind in OF_QUERIES:
            for name in names:
                desk.readings.view(name)
    except TacitError as error:
        return error.message
    return ""
