"""Beliefs about one person as a picture: three bars for each value, before the release, with it,
and with what else is known.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape

from tacit.families.microdata.attacks.attack_beliefs import AttackBelief, Believed
from tacit.families.microdata.hierarchy import value_text
from tacit.families.words import mention, name_of, plural, saying
from tacit.model.numbers import percents
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    FONT,
    INK,
    MUTED,
    SHELTERED,
    SIZE,
    WIDTH,
    Chart,
    shortened,
)

BLOCK, BAR, GAP = 52, 7, 2  # pixels: a value, a bar, the space below a bar
HEAD = 16
BEFORE, GROUND = "#8b98a5", "#e9edf1"
LETTERS = 26


def believed_chart(found: Believed) -> Chart:
    """The picture, with what is believed in the value in question as its title."""
    knows = bool(found.facts)
    blocks = "".join(block(one, at, found, knows=knows) for at, one in enumerate(found.beliefs))
    height = BLOCK * len(found.beliefs)
    title, told = (
        title_of(found),
        "; ".join(f"{name(one, found)}: {shares(one, knows=knows)}" for one in found.beliefs),
    )
    svg = (
        f'<svg role="img" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'aria-label="{escape(f"{title}. {told}.")}">'
        f'<title>{escape(title)}</title><g font-family="{escape(FONT)}" '
        f'font-size="{SIZE}">{blocks}</g></svg>'
    )
    return Chart(title, note_of(found, knows=knows), svg)


def title_of(found: Believed) -> str:
    """What is believed, in one sentence."""
    if found.asked is None:
        return f"Nobody's value is known in the group of {name_of(found.person)}"
    one = found[found.asked]
    last = one.knowing if found.facts and one.knowing is not None else one.after
    claim = f"{mention(found.person)} {saying(found.column, found.asked)}"
    before, now = percents(one.before, last)
    return f"That {claim}: believed with {before} before, with {now} now"


def note_of(found: Believed, *, knows: bool) -> str:
    """How to read it."""
    bars = [
        "before the release (share in the whole table)",
        "with the release (share in the group)",
        *(["knowing the facts named here too"] if knows else []),
    ]
    rest = found.different - sum(one.after > 0 for one in found.beliefs)
    return f"From top to bottom: {', '.join(bars)}." + (
        f" {plural('value', rest)} of the group are not drawn." if rest > 0 else ""
    )


def block(one: AttackBelief, at: int, found: Believed, *, knows: bool) -> str:
    """One value: its name, its shares, its bars."""
    top = BLOCK * at
    weight = 650 if one.value == found.asked else 400
    bars = [
        (one.before, BEFORE),
        (one.after, SHELTERED),
        *([(one.knowing, EXPOSED)] if knows and one.knowing is not None else []),
    ]
    drawn = "".join(
        bar(share, colour, top + HEAD + 4 + number * (BAR + GAP))
        for number, (share, colour) in enumerate(bars)
    )
    return (
        f'<text x="0" y="{top + HEAD - 3}" fill="{INK}" '
        f'font-weight="{weight}">{escape(name(one, found))}</text>'
        f'<text x="{WIDTH}" y="{top + HEAD - 3}" fill="{MUTED}" '
        f'text-anchor="end">{shares(one, knows=knows)}</text>{drawn}'
    )


def name(one: AttackBelief, found: Believed) -> str:
    """The value, and whether it is the true one."""
    return shortened(value_text(one.value), LETTERS) + (
        " (true)" if one.value == found.true else ""
    )


def shares(one: AttackBelief, *, knows: bool) -> str:
    """The shares, one after the other."""
    more = [one.knowing] if knows and one.knowing is not None else []
    return " → ".join(percents(one.before, one.after, *more))


def bar(share: Fraction, colour: str, top: int) -> str:
    """A bar on its ground."""
    width = round(WIDTH * float(share), 1)
    ground = f'<rect x="0" y="{top}" width="{WIDTH}" height="{BAR}" rx="2" fill="{GROUND}"/>'
    return ground + (
        f'<rect x="0" y="{top}" width="{width}" height="{BAR}" rx="2" fill="{colour}"/>'
        if share
        else ""
    )
