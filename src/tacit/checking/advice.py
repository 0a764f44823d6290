"""Advice: what to ask in the place of a check that cannot judge what is published together with
what is new; each is tried before it is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tacit.errors import TacitError
from tacit.families.catalog import kinds_of
from tacit.families.family import answer_of, families, family_of

if TYPE_CHECKING:
    from tacit.checking.holdings.holdings import Holdings
    from tacit.model.holdings import Hand
    from tacit.plan.plan import Check

NOTHING = "No definition judges these together: what they tell together is not known."
NOT_DRAWN = (
    "No definition judges synthetic data together with anything else: what both tell is not known."
)


def advice(check: Check, hand: Hand, holdings: Holdings) -> Iterator[str]:
    """What judges all of it together, in the place of a check that cannot; or that nothing does.

    Nothing is said where something else is in the way: then no other definition helps either.
    """
    if not all(one.by_others for one in hand.problems):
        return
    names = tuple(dict.fromkeys([*(one.release for one in hand.adversary.held), *hand.new]))
    releases = holdings.plan.releases
    shapes = {releases[name].shape for name in names if name in releases}
    whys: list[str] = []
    # the one that judges the most data comes first
    for family in reversed([*families()]):
        own = family_of(check.kind) is family
        if own or not family.is_advised or not shapes <= family.judges:
            continue
        try:
            family.cannot_judge(check, hand, names, holdings.opened)
        except TacitError as error:
            whys.append(f"{kinds_of(family.name)[0]} cannot either: {error.message.rstrip('.')}.")
        else:
            yield family.advice(check, names, hand.new)
            return
    drawn = any(answer_of(shape) == "file" for shape in shapes)
    yield " ".join([NOT_DRAWN if drawn else NOTHING, *whys])
