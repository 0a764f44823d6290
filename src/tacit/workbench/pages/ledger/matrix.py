"""The picture of who holds what: a line for each holder, a column for each release, a dot where
they have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from tacit.families.words import listed, plural
from tacit.report.charts.portrait_chart import EXPOSED, FAINT, FONT, INK, MUTED, SHELTERED, Chart

if TYPE_CHECKING:
    from tacit.checking.holdings.shares import HeldShare, Holder
    from tacit.checking.recording.current_verdicts import Standings

MOST_HOLDERS, MOST_RELEASES = 40, 16
LINE, COLUMN = 30, 44
LETTER = 7.4  # the width of a letter of 14 pixels, in the widest of the fonts
MOST_LETTERS = 30
MOST_NAMED = 3
WORDS = {"holds": "holds", "breached": "breached", "undecided": "undecided", "": ""}
COLOURS = {"holds": "#0b6b57", "breached": EXPOSED, "undecided": "#7a5600", "": MUTED}


def matrix(found: Sequence[Holder], standings: Standings | None = None) -> Chart:
    """Who holds what, as a picture that is read line by line;
    with standings, what the checks say of each line.
    """
    releases = list(dict.fromkeys(one.release for holder in found for one in holder.shares))
    names = [short(holder.called) for holder in found]
    left = max(map(len, names), default=0) * LETTER + 16
    top = max(map(len, map(short, releases)), default=0) * LETTER * 0.72 + 30
    right = left + len(releases) * COLUMN
    wide, high = (
        right + (96 if standings is not None else 24) + top * 0.6,
        top + len(found) * LINE + 10,
    )
    parts = [
        *columns(releases, left, top),
        *(
            part
            for at, holder in enumerate(found)
            for part in line(holder, names[at], releases, left, top + at * LINE, right, standings)
        ),
    ]
    said = "; ".join(
        f"{holder.called}: {', '.join(holder.releases) or 'nothing'}" for holder in found
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" '
        f'width="{wide:.0f}" height="{high:.0f}" style="max-width: {wide:.0f}px" role="img" '
        f'aria-label="{escape(said)}" '
        f'font-family="{escape(FONT)}" font-size="14">{"".join(parts)}</svg>'
    )
    return Chart(title(found, standings), note(found, standings), svg)


def title(found: Sequence[Holder], standings: Standings | None) -> str:
    """The finding: who learns too much, or who holds the most."""
    if standings is not None:
        bad = [holder.called for holder in found if standings.status(holder.who) == "breached"]
        doubt = [holder.called for holder in found if standings.status(holder.who) == "undecided"]
        if bad:
            return (
                f"{bad[0][:1].upper()}{bad[0][1:]} "
                f"{'learn' if ' and ' in bad[0] else 'learns'} more than the plan allows"
            ) + (f", and {len(bad) - 1} more" if len(bad) > 1 else "")
        if doubt:
            return "What they hold together could not be decided for all"
        return (
            unjudged(found, standings)
            or "Nobody learns more than the plan allows from what is published"
        )
    many = max(len(one.releases) for one in found)
    most = [one for one in found if len(one.releases) == many]
    who = most[0].called if len(most) == 1 else f"{len(most)} recipients"
    return (
        f"{who[:1].upper()}{who[1:]} "
        f"{'holds' if len(most) == 1 and len(most[0].who) < 2 else 'hold'} "
        f"{plural('release', many)}{'' if len(most) == 1 else ' each'}"
    )


def unjudged(found: Sequence[Holder], standings: Standings) -> str:
    """Of whom, or else of what, no check says anything; nothing where all that is published is
    judged. Only a verdict says that somebody learns little.
    """
    silent = [holder for holder in found if holder.shares and not standings.status(holder.who)]
    if silent:
        names = [holder.called for holder in silent[:MOST_NAMED]]
        more = len(silent) - len(names)
        is_one = len(silent) == 1 and len(silent[0].who) < 2
        return (
            "No check asks about what "
            f"{listed([*names, *([f'{more} more'] if more else [])])} "
            f"{'holds' if is_one else 'hold'}"
        )
    return f"No check asks about {listed(standings.unasked)}" if standings.unasked else ""


def note(found: Sequence[Holder], standings: Standings | None) -> str:
    """How to read it."""
    shares = [one for holder in found for one in holder.shares]
    said = ["A dot: they have the release."]
    said += (
        ["A ring: they have it because it is public."] if any(one.public for one in shares) else []
    )
    said += ["Grey: withdrawn, and still known."] if any(one.withdrawn for one in shares) else []
    said += (
        [
            (
                "On the right: the worst verdict on all they hold, by the plan's checks with "
                "the data of today."
            )
        ]
        if standings is not None
        else []
    )
    return " ".join(said)


def columns(releases: Sequence[str], left: float, top: float) -> list[str]:
    """The names of the releases, slanted, and their lines."""
    found = []
    for at, name in enumerate(releases):
        x = left + (at + 0.5) * COLUMN
        found.append(
            f'<text x="{x:.1f}" y="{top - 12:.1f}" fill="{INK}" transform="rotate(-40 {x:.1f} '
            f'{top - 12:.1f})">{escape(short(name))}</text>'
        )
    return found


def line(
    holder: Holder,
    name: str,
    releases: Sequence[str],
    left: float,
    y: float,
    right: float,
    standings: Standings | None,
) -> list[str]:
    """One holder."""
    middle = y + LINE / 2
    weight = "600" if len(holder.who) != 1 else "400"
    found = [
        f'<line x1="0" x2="{right:.1f}" y1="{y + LINE:.1f}" y2="{y + LINE:.1f}" stroke="{FAINT}"/>',
        (
            f'<text x="0" y="{middle + 5:.1f}" fill="{INK}" '
            f'font-weight="{weight}">{escape(name)}</text>'
        ),
    ]
    for at, release in enumerate(releases):
        own = [one for one in holder.shares if one.release == release]
        if own:
            found.append(dot(own, left + (at + 0.5) * COLUMN, middle))
        else:
            found.append(
                f'<circle cx="{left + (at + 0.5) * COLUMN:.1f}" cy="{middle:.1f}" r="2" '
                f'fill="{FAINT}"/>'
            )
    if standings is not None and holder.shares:
        status = standings.status(holder.who)
        found.append(
            f'<text x="{right + 12:.1f}" y="{middle + 5:.1f}" fill="{COLOURS[status]}" '
            f'font-weight="600">{WORDS[status] or "no check"}</text>'
        )
    return found


def dot(own: Sequence[HeldShare], x: float, y: float) -> str:
    """A release that somebody has."""
    colour = MUTED if all(one.withdrawn for one in own) else SHELTERED
    if all(one.public for one in own):
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" fill="none" stroke="{colour}" '
            'stroke-width="3"/>'
        )
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" fill="{colour}"/>'


def short(text: str) -> str:
    """A name that fits.

    >>> short("a" * 31)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaa...'
    """
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 3]}..."
