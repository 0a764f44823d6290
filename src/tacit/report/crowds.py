"""Verdicts about overlapping views as the terminal and the page show them:
who is above gamma and since when, and who is in which crowd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import log10
from typing import Any

from tacit.families.overlaps.family import is_restorable
from tacit.families.overlaps.memberships import Seats
from tacit.families.overlaps.stages import Stages
from tacit.families.words import listed, people, plural
from tacit.model.numbers import percent, percent_exactly, plain
from tacit.model.verdict import Audience, Verdict
from tacit.report.charts.belief_chart import above_in, beliefs_chart
from tacit.report.charts.portrait_chart import Chart
from tacit.report.charts.share_chart import (
    crowds_chart,
    group_name,
    person_by_key,
    shares_chart,
    value_words,
)
from tacit.report.charts.upset import upset_chart
from tacit.report.query_evidence import MarkedRows

AT_LEAST = "at least "
MOST_ROWS = 8
MOST_CROWDS = 5
MOST_NAMES = 4  # of a crowd in a table
MOST_STEPS = 12  # releases in the terminal
PLAINLY = 10**9  # numbers from here on are written with a power of ten
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
GAMMA, CROWDS = "gamma-privacy", ("k-sind", "k-rsind")

WORDS = {
    "view": "A release that is a query: others see its answer.",
    "fitting table": (
        "A way to give everybody in the releases a value so that each release would look "
        "just as it does. The true table is one of them; nobody who sees only the releases "
        "can tell which."
    ),
    "share": (
        "In how many of all fitting tables a person has a value: 36 of 45 is a share of 80 "
        "%. It is a belief for somebody to whom all fitting tables are equally likely, and "
        "no more than a count for anybody else."
    ),
    "output map": (
        "What each release would show of a person for each value that they might have. "
        "People with the same output map are treated alike by all releases, whatever their "
        "values."
    ),
    "crowd": (
        "People who could swap their values, and no release would look different. The larger "
        "it is, the less can be told about any one of them."
    ),
}


@dataclass(frozen=True, slots=True)
class CrowdStep:
    """The most exposed person after a release: the largest share in percent and the value that
    has it, or why there is none.
    """

    release: str
    share: Fraction | None
    percent: str
    text: str
    is_above: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """How the largest share of the most exposed person went, release by release."""

    who: str
    steps: tuple[CrowdStep, ...]


def gamma(verdicts: Sequence[Verdict]) -> Fraction | None:
    """The smallest share that gamma-privacy was asked for."""
    asked = [Fraction(one.required["gamma"]) for one in verdicts if one.check == GAMMA]
    return min(asked, default=None)


# -- who is above gamma ----------------------------------------------------------------------------


def above(verdict: Verdict) -> MarkedRows | None:
    """The people above gamma with their values: it names them.
    None where the story has told of the only one.
    """
    found = verdict.witness.personal.get("above", ()) if verdict.witness else ()
    if len(found) < 2 or verdict.witness is None:
        return None
    limit = Fraction(verdict.required["gamma"])
    key = " ".join(verdict.witness.personal.get("person", {"person": None}))
    rows = [
        (who(one["person"]), value_words(one["value"]), belief_text(one["after"], limit))
        for one in found[:MOST_ROWS]
    ]
    return MarkedRows(
        f"above {percent_exactly(limit)}",
        (key, "has", "share of the tables"),
        tuple(rows),
        ("",) * len(rows),
    )


def left_out(verdict: Verdict) -> int:
    """How many are above gamma beside those whom `above` shows."""
    if verdict.witness is None:
        return 0
    found = len(verdict.witness.personal.get("above", ()))
    return (
        max(found, int(verdict.witness.facts.get("people_above", 0))) - min(found, MOST_ROWS)
        if found > 1
        else 0
    )


def who(key: Any) -> str:
    """A person as JSON has them: the key's value, or a list of values.

    >>> who("Donald"), who([7, "B"])
    ('Donald', '7 B')
    """
    return person_by_key(key if isinstance(key, list | tuple) else (key,))


def belief_text(
    share: Fraction | Decimal, limit: Fraction | None = None, *, down: bool = False
) -> str:
    """A share in percent, and as a fraction where that is short.

    >>> (
    ...     belief_text(Fraction(4, 5)),
    ...     belief_text(Decimal("0.123456789012")),
    ...     belief_text(Fraction(1)),
    ... )
    ('80 % (4/5)', '13 %', '100 %')
    """
    exact = Fraction(share)
    text = percent(exact, down=down, beside=limit)
    return (
        f"{text} ({exact})"
        if isinstance(share, Fraction) and 1 < exact.denominator < 1000
        else text
    )


def course(stages: Stages | None, limit: Fraction, *, owner: bool) -> Course | None:
    """The most exposed person, release by release;
    None where there is one release only, or nothing was counted.
    """
    if stages is None or len(stages.stages) < 2 or not stages.exposed:
        return None
    class_ = stages.exposed[0]
    steps = []
    for one in stages.stages:
        found = one.largest.get(class_)
        if found is None:
            steps.append(
                CrowdStep(
                    one.release,
                    None,
                    "",
                    "nothing known" if class_ in one.unseen else f"not counted: {one.missing}",
                )
            )
        else:
            value = value_words(stages.values[found.value]) if owner else ""
            steps.append(
                CrowdStep(
                    one.release,
                    found.least,
                    percent(found.least, beside=limit),
                    value,
                    found.least > limit,
                )
            )
    return Course(
        group_name(stages, class_) if owner else "the most exposed person",
        tuple(steps[-MOST_STEPS:]),
    )


# -- crowds ----------------------------------------------------------------------------------------


def sizes(verdict: Verdict) -> Mapping[int, int]:
    """How many crowds there are of each size; empty where they are not listed."""
    return dict(verdict.measured.get("sizes", {}))


def smallest_crowds(verdict: Verdict, *, owner: bool) -> MarkedRows | None:
    """The smallest crowds: who is in them for the owner, else how many there are of which size."""
    sets = sorted(verdict.personal.get("sets", ()), key=len)
    if not sets or not owner:
        counted = sorted(sizes(verdict).items())[:MOST_CROWDS]
        if not counted:
            return None
        rows = [(f"{size:,}", f"{many:,}") for size, many in counted]
        return MarkedRows(
            "the smallest crowds", ("people", "crowds"), tuple(rows), ("",) * len(rows)
        )
    rows = [(f"{len(one):,}", some_names(one)) for one in sets[:MOST_CROWDS]]
    caption = "the crowds" if len(sets) <= MOST_CROWDS else f"the smallest of {len(sets):,} crowds"
    return MarkedRows(caption, ("people", "who"), tuple(rows), ("",) * len(rows))


def some_names(keys: Sequence[Any]) -> str:
    """The first people of a crowd.

    >>> some_names(["Ann", "Bob"]), some_names(list("abcdef"))
    ('Ann and Bob', 'a, b, c, d and 2 more')
    """
    names = [who(key) for key in keys[:MOST_NAMES]]
    return listed(
        names if len(keys) <= MOST_NAMES else [*names, f"{len(keys) - MOST_NAMES:,} more"]
    )


def may_have(verdict: Verdict) -> str:
    """What the people of the crowd that is too small may have, or for
    k-RSIND have, where that is known.
    """
    values = verdict.witness.personal.get("values", ()) if verdict.witness else ()
    if not values:
        return ""
    shown = [value_words(value) for value in values[:MOST_ROWS]]
    told = listed(
        [*shown, *([f"{len(values) - len(shown):,} more"] if len(values) > len(shown) else [])]
    )
    return f"What they {'may ' if verdict.check == 'k-sind' else ''}have: {told}"


def advice(verdict: Verdict) -> str:
    """What would help where restoring does not; empty where nothing has to."""
    if verdict.status != "breached" or is_restorable(verdict):
        return ""
    certain = (
        "somebody's value is certain, and no further view changes that; "
        if verdict.check == GAMMA
        else ""
    )
    return f"{certain}publish fewer of these releases, or give them coarser conditions."


# -- numbers and words -----------------------------------------------------------------------------


def measured(verdict: Verdict, *, page: bool = False) -> str:
    """What was measured, in a line."""
    told, found = dict(verdict.measured), []
    if verdict.check == GAMMA:
        if "gamma" in told:
            how = bound(verdict)
            share = belief_text(
                told.pop("gamma"), Fraction(verdict.required["gamma"]), down=how == AT_LEAST
            )
            found.append(f"the largest share is {how}{share}")
        if "draws" in told:
            sure = (
                f" with {percent_exactly(told.pop('theta'))} confidence" if "theta" in told else ""
            )
            told.pop("epsilon", None)
            found.append(f"found{sure} by drawing {plural('table', told.pop('draws'))} at random")
        if "worlds" in told:
            many = told.pop("worlds")
            found.append("1 table fits" if many == 1 else f"{large(many, page=page)} tables fit")
        if "worlds_digits" in told:
            found.append(
                f"the number of tables that fit has {plural('digit', told.pop('worlds_digits'))}"
            )
        if "smallest_crowd" in told:
            found.append(f"the smallest crowd has {people(told.pop('smallest_crowd'))}")
    elif "k" in told:
        crowds = told.pop("crowds", None)
        of = (
            f"the smallest of {plural('crowd', crowds)}"
            if crowds and crowds > 1
            else "the smallest crowd"
        )
        found.append(f"{of} has {people(told['k'])}" if told["k"] else "no division into crowds")
        del told["k"]
    found += [
        f"{name.replace('_', ' ')} {plain(value) if isinstance(value, Fraction) else value}"
        for name, value in told.items()
        if is_short(value)
    ]
    return "; ".join(found)


def bound(verdict: Verdict) -> str:
    """What tables drawn at random say of the largest share: a bound on the side that matters."""
    if verdict.certainty != "statistical":
        return ""
    return AT_LEAST if verdict.status == "breached" else "at most "


def is_short(value: Any) -> bool:
    """Is it a number or a word, and not a list of people?"""
    return isinstance(value, int | Fraction | Decimal | str)


def required(verdict: Verdict) -> str:
    """What was asked, in a line."""
    return ", ".join(
        f"{name} = {plain(value) if isinstance(value, Fraction) else value}"
        for name, value in verdict.required.items()
    )


def large(number: int, *, page: bool = False) -> str:
    """A number of tables, which may have thousands of digits.

    >>> (
    ...     large(45),
    ...     large(123456),
    ...     large(12 * 10**56),
    ...     large(999_999 * 10**20),
    ...     large(10**57, page=True),
    ... )
    ('45', '123,456', '1.2 x 10^57', '1.0 x 10^26', '1.0 × 10⁵⁷')
    """
    if number < PLAINLY:
        return f"{number:,}"
    power = int(log10(number))
    power += (number >= 10 ** (power + 1)) - (number < 10**power)  # log10 may be off by a hair
    tenths = (number * 10 + 10**power // 2) // 10**power
    if tenths >= 100:
        power, tenths = power + 1, 10
    mantissa = f"{tenths // 10}.{tenths % 10}"
    return (
        f"{mantissa} × 10{str(power).translate(SUPERSCRIPT)}"
        if page
        else f"{mantissa} x 10^{power}"
    )


def figures(stages: Stages | None, verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Some releases in a few numbers."""
    found: list[tuple[str, str]] = []
    limit = gamma(verdicts)
    asked = next((one for one in verdicts if one.check == GAMMA and one.measured), None)
    if stages is not None:
        kinds = len(stages.sizes)
        found += [
            (f"{stages.people:,}", "people in the releases"),
            (
                f"{kinds:,}",
                f"kind{'s' if kinds != 1 else ''} of people that the releases tell apart",
            ),
        ]
    if asked is not None and limit is not None:
        if "worlds" in asked.measured:
            found.append(
                (
                    large(asked.measured["worlds"], page=True),
                    "tables fit the releases"
                    if asked.measured["worlds"] != 1
                    else "table fits the releases",
                )
            )
        if "gamma" in asked.measured:
            share = percent(
                Fraction(asked.measured["gamma"]), down=bound(asked) == AT_LEAST, beside=limit
            )
            found.append(
                (f"{bound(asked)}{share}", "largest share of tables with one value for a person")
            )
        if stages is not None and stages.last.largest:
            found.append(
                (f"{above_in(stages, -1, limit):,}", f"with a share above {percent_exactly(limit)}")
            )
    for one in verdicts:
        if one.check in CROWDS and "k" in one.measured:
            found.append(
                (f"{one.measured['k']:,}", f"in the smallest crowd ({one.label.partition('-')[2]})")
            )
    return found


def not_drawn(stages: Stages | None) -> str:
    """Why there is no chart of beliefs; empty where there is one, or none was asked for."""
    if stages is None or stages.last.largest or not stages.missing:
        return ""
    return f"Everybody's beliefs, release by release, are not drawn: {stages.missing}."


def charts(
    stages: Stages | None,
    verdicts: Sequence[Verdict],
    audience: Audience,
    seats: Seats | None = None,
) -> list[Chart]:
    """The charts of some releases: who is in which, beliefs, what the most exposed may have (it
    names them), and crowds.

    Whom a view shows because of their private value is for the owner:
    others see what the public columns say.
    """
    owner, limit = audience == "owner", gamma(verdicts)
    drawn: list[Chart | None] = []
    if seats is not None:
        drawn.append(upset_chart(seats.true if owner else seats.told))
    if stages is not None and limit is not None:
        drawn += [
            beliefs_chart(stages, limit, owner=owner),
            shares_chart(stages, limit) if owner else None,
        ]
    for one in verdicts:
        if one.check in CROWDS:
            drawn.append(crowds_chart(sizes(one), int(one.required["k"]), one.label))
    return [chart for chart in drawn if chart is not None]
