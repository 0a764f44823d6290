"""What a person reads after `tacit synthesize`: what is promised, what it cost, and what is still
true of the synthetic people.

Whatever compares with the true table is for the owner only:
the promise covers the synthetic file, and not how far it is off.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Rows
from rich.text import Text

from tacit.families.synthetic.runs.synthesis_results import SEEDED, NoiseSummary, Synthesized
from tacit.families.synthetic.utility.flow_utility import FlowUtility
from tacit.families.words import listed, people, plural, spoken
from tacit.model.numbers import percent
from tacit.model.release import Synthetic
from tacit.model.verdict import Audience
from tacit.report.charts.curves import (
    delta_text,
    distance_charts,
    error_charts,
    privacy_curve,
    times_text,
)
from tacit.report.charts.geojson import Areas
from tacit.report.charts.maps import Map, maps
from tacit.report.html.cards import HtmlGrid
from tacit.report.html.pages import render_page
from tacit.report.html.pages import write_page as write
from tacit.report.terminal.text_parts import hanging, headed, personal, put, two_sides
from tacit.report.terminal.verdict_lines import (
    conclusion,
    show_assumptions,
    show_next,
    show_verdict,
)

INDENT = 13
LARGEST_GROUPS = 10
MUCH_BETTER = 0.8  # an error that is at most this part of the other is said to be smaller
BOTH = {"dp": "differential privacy", "pdp": "probabilistic differential privacy"}
WORDS = {
    "group": (
        "People whose group is not a secret, such as all who work in one place. Each group is "
        "drawn by itself."
    ),
    "epsilon (ε)": (
        "How much one person's value can change the chance of any output: at most by the "
        "factor e^ε. Smaller is more private."
    ),
    "delta (δ)": "How much beyond e^ε may happen: 0 is never. It should be far below 1 / people.",
    "prior people": (
        "Made-up people who are mixed into a group before it is drawn from: the noise. Few in "
        "a large group, many in a small one."
    ),
    "alpha (α)": (
        "Prior people in each cell, that is in each value where somebody of a group could be."
    ),
    "total variation": (
        "The share of people who would have to change their value for the synthetic table to "
        "equal the true one. 0 is equal, 1 has nothing in common."
    ),
    "range query": (
        "A question how many people live in a random rectangle (or have one of some random "
        "values). Its error is a part of the true number, or of a thousandth of all people "
        "where there are fewer."
    ),
    "thresholded histogram": (
        "Another mechanism: noise on every true count, and small ones left out. It is drawn "
        "here to compare with, and thrown away."
    ),
}


# -- the promise in words --------------------------------------------------------------------------


def protected(release: Synthetic) -> str:
    """What the release protects.

    >>> protected(Synthetic("map", "jobs", "destination", "origin", "ln(50)", Fraction(0)))
    "each person's origin in jobs"
    """
    return f"each person's {spoken(release.value)} in {release.table}"


def not_protected(release: Synthetic) -> str:
    """What everybody may learn all the same.

    >>> not_protected(Synthetic("map", "jobs", "destination", "origin", "ln(50)", Fraction(0)))
    'their destination, how many people each destination has, and that they are in the file'
    """
    group = spoken(release.group)
    return f"their {group}, how many people each {group} has, and that they are in the file"


def unit(release: Synthetic) -> str:
    """Who counts as one person."""
    one = (
        f"Each of the people that {release.count} counts is one person"
        if release.count
        else "One row is one person"
    )
    return (
        f"{one}: somebody who is in the table several times is protected for each time alone, "
        "and with a multiple of ε for all of them."
    )


def meaning(found: Synthesized, release: Synthetic) -> str:
    """What epsilon and delta promise."""
    terms, value = found.terms, spoken(release.value)
    factor = times_text(float(terms.epsilon.ratio[1]))
    if terms.guarantee == "dp" and terms.delta:
        return (
            f"If one person's {value} were another one, no set of possible files would become more "
            f"than {factor} (e^ε) times as likely, and {delta_text(terms.delta)} (δ) on top. This "
            "stays true of whatever others compute from the file."
        )
    knows = (
        f"For somebody who knows everything but one person's {value}, the odds of any two "
        f"values change by a factor of at most {factor} (e^ε)"
    )
    if not terms.delta:
        return f"{knows}, whatever the file shows, and whatever others compute from it."
    return (
        f"{knows}, unless a file is drawn that tells more: the chance of that is at most "
        f"{delta_text(terms.delta)} (δ, for all groups together). This is a promise about the file "
        "as it is: it need not hold for what others compute from it."
    )


def describe_noise(noise: NoiseSummary, groups: int) -> str:
    """How much noise was needed."""
    if noise.thresholds is not None:
        low, high = noise.thresholds
        where = (
            "every cell, also the empty ones,"
            if noise.everywhere
            else "every cell that somebody is in"
        )
        least = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        return f"{where} gets two-sided geometric noise; a count is published from {least} on"
    if noise.least is None or noise.greatest is None:
        return "none"
    alpha = (
        number(noise.least)
        if noise.least == noise.greatest
        else f"{number(noise.least)} to {number(noise.greatest)}"
    )
    many = f" ({number(noise.prior)} in all {plural('group', groups)})" if groups > 1 else ""
    which = "a group in the middle has" if groups > 1 else "the group has"
    return (
        f"{alpha} prior people in each cell (α); {which} {number(noise.median)} prior people{many}"
    )


def number(value: Fraction | float) -> str:
    """A number with four digits, or whole and with commas.

    >>> number(Fraction(1, 3)), number(1234567.8), number(Fraction(12)), number(0.00012345)
    ('0.3333', '1,234,568', '12', '0.0001234')
    """
    if (isinstance(value, Fraction) and value.denominator == 1) or value >= 1000:
        return f"{round(value):,}"
    return f"{float(value):.4g}"


def shown_warnings(found: Synthesized, audience: Audience) -> list[str]:
    """What the reader has to know. Warnings may name true counts:
    others than the owner see only that a file is not private.
    """
    return [one for one in found.warnings if audience == "owner" or one == SEEDED]


# -- tables ----------------------------------------------------------------------------------------


def steps_grid(found: Synthesized) -> HtmlGrid | None:
    """What each option spends, with Machanavajjhala's (2008) own bound beside it."""
    if not found.steps:
        return None
    printed = any(step.printed is not None for step in found.steps)
    head = ["after", "ε", "δ", *(["ε as printed"] if printed else [])]
    rows = []
    for step in found.steps:
        beside = (
            [epsilon_text(step.printed) if step.printed is not None else "–"] if printed else []
        )
        rows.append([step.name, epsilon_text(step.epsilon), delta_text(found.terms.delta), *beside])
    return HtmlGrid("", head, rows, len(rows) - 1)


def epsilon_text(epsilon: float) -> str:
    """An epsilon with four decimals at most, rounded up.

    >>> epsilon_text(3.91202), epsilon_text(1.0), epsilon_text(math.inf)
    ('3.9121', '1', 'none')
    """
    if not math.isfinite(epsilon):
        return "none"
    return f"{math.ceil(epsilon * 10**4 - 1e-7) / 10**4:.4f}".rstrip("0").rstrip(".")


def budget_grid(found: Synthesized) -> HtmlGrid | None:
    """What releasing as much again about the same people comes to."""
    again = found.budget.get("again", ())
    if not again:
        return None
    once = [["once", epsilon_text(float(found.terms.epsilon)), delta_text(found.terms.delta)]]
    more = [
        [
            f"{one['times']} times",
            epsilon_text(float(one["epsilon"])),
            delta_text(float(one["delta"])),
        ]
        for one in again
    ]
    return HtmlGrid("", ["released", "ε", "δ"], [*once, *more])


def describe_budget(found: Synthesized) -> str:
    """How several releases add up."""
    if not found.budget.get("again"):
        return ""
    by = (
        "by privacy-loss accounting"
        if found.budget.get("by") == "accounting"
        else "by sums of ε and δ"
    )
    return f"Releases about the same people add up; so much for as many like this one ({by}):"


Measured = Callable[[FlowUtility], str]


def measures(release: Synthetic, utility: FlowUtility) -> list[tuple[str, str, Measured, str]]:
    """What is compared: name, the true number where there is one, the
    other's number, and what it says.
    """
    value, group = spoken(release.value), spoken(release.group)
    found: list[tuple[str, str, Measured, str]] = [
        ("people", f"{utility.people:,}", lambda one: f"{one.drawn:,}", "in the file"),
        (
            "left empty",
            "0",
            lambda one: f"{one.empty:,}",
            f"{plural(group, 2).split(' ', 1)[1]} that have people and nobody in the file",
        ),
        (
            "total variation",
            "",
            lambda one: percent(one.total_variation),
            f"of the people would have to change their {value}, within their {group}",
        ),
        (
            f"the same, of {value} alone",
            "",
            lambda one: percent(one.value_variation),
            f"whatever the {group}",
        ),
        (
            f"top {plural(value, utility.of_top).removeprefix('1 ')}",
            str(utility.of_top),
            lambda one: f"{one.top:.3g}",
            "of the most frequent are among the most frequent; ties count in part",
        ),
        (
            "range queries",
            "",
            lambda one: describe_query_errors(one.queries),
            "relative error: median, and what nine of ten do not exceed",
        ),
        (
            f"range queries in one {group}",
            "",
            lambda one: describe_query_errors(one.group_queries),
            "the same for each of them",
        ),
    ]
    return (
        [*found[:2], *distance_measures(utility, group), *found[2:]]
        if utility.has_distances
        else found
    )


def distance_measures(utility: FlowUtility, group: str) -> list[tuple[str, str, Measured, str]]:
    """What is compared where places are known."""
    return [
        (
            "mean distance",
            miles(utility.mean_true),
            lambda one: miles(one.mean_synthetic),
            f"from the {group}",
        ),
        (
            "mean of short distances",
            miles(utility.short_mean_true),
            lambda one: miles(one.short_mean_synthetic),
            f"below {miles(utility.short)}, the true median",
        ),
        (
            "spurious long distances",
            "0",
            lambda one: of_all(one.beyond_longest, one.drawn),
            f"people farther away than anybody of their {group} truly is",
        ),
        (
            "very long distances",
            "up to 1 %",
            lambda one: of_all(one.beyond_far, one.drawn),
            f"people farther away than 99 % of their {group} truly are",
        ),
    ]


def miles(distance: float) -> str:
    """A distance in words.

    >>> miles(5.7651), miles(math.nan)
    ('5.77 miles', '–')
    """
    return "–" if math.isnan(distance) else f"{distance:.3g} miles"


def of_all(part: int, whole: int) -> str:
    """A number of people and their share."""
    return f"{part:,} ({percent(Fraction(part, whole))})" if whole else "0"


def describe_query_errors(errors: Any) -> str:
    """Median and ninth decile."""
    return f"{percent(errors.median)}, {percent(errors.high)}" if errors.asked else "–"


def utility_grid(found: Synthesized, release: Synthetic, *, page: bool = True) -> HtmlGrid | None:
    """Synthetic against true, and the histogram beside it; a page also says what is counted."""
    if found.utility is None:
        return None
    head = [
        "",
        "true",
        "synthetic",
        *(["thresholded histogram"] if found.baseline else []),
        *(["what it counts"] if page else []),
    ]
    rows = []
    for name, true, measured, says in measures(release, found.utility):
        beside = [measured(found.baseline)] if found.baseline else []
        rows.append([name, true, measured(found.utility), *beside, *([says] if page else [])])
    return HtmlGrid("", head, rows)


def bands_grid(found: Synthesized, release: Synthetic, *, page: bool = True) -> HtmlGrid | None:
    """Medians by size of group; the histogram's behind a stroke. A page has more of them."""
    utility, baseline = found.utility, found.baseline
    if utility is None or not utility.bands:
        return None
    beside = {band.least: band for band in baseline.bands} if baseline is not None else {}
    columns: list[tuple[str, str, Callable[[float], str]]] = [
        ("total variation", "total_variation", percent)
    ]
    columns += (
        [
            ("range queries", "query_error", percent),
            ("top values kept", "top", partial(percent, down=True)),
        ]
        if page
        else []
    )
    if utility.has_distances:
        columns.insert(0, ("mean distance off by", "error", miles))
    rows = []
    for band in utility.bands:
        other = beside.get(band.least)
        cells = [
            both(told, getattr(band, name), getattr(other, name) if other is not None else None)
            for _, name, told in columns
        ]
        rows.append([f"{band.label} people", f"{band.groups:,}", *cells])
    return HtmlGrid(
        "", [spoken(release.group), "how many", *(name for name, _, _ in columns)], rows
    )


def both(told: Callable[[float], str], ours: float, other: float | None) -> str:
    """A median, and the histogram's."""
    first = "–" if math.isnan(ours) else told(ours)
    return first if other is None else f"{first} | {'–' if math.isnan(other) else told(other)}"


def largest_grid(found: Synthesized, release: Synthetic) -> HtmlGrid | None:
    """The largest groups one by one."""
    utility, drawn = found.utility, found.picture
    if utility is None or drawn is None:
        return None
    by = utility.groups
    places = sorted(range(len(by.people)), key=lambda place: (-int(by.people[place]), place))[
        :LARGEST_GROUPS
    ]
    far = utility.has_distances
    rows = []
    for place in places:
        distances = (
            [
                miles(float(by.mean_true[place])),
                miles(float(by.mean_synthetic[place])),
                f"{int(by.beyond_longest[place]):,}",
            ]
            if far
            else []
        )
        kept = f"{by.top[place]:.2g} of {by.of_top[place]}"
        rows.append(
            [
                str(drawn.true.groups[place]),
                f"{by.people[place]:,}",
                *distances,
                percent(by.total_variation(place)),
                kept,
            ]
        )
    head = ["true mean distance", "synthetic", "spurious long"] if far else []
    return HtmlGrid(
        "", [spoken(release.group), "people", *head, "total variation", "top values kept"], rows
    )


def describe_better_values(found: Synthesized) -> str:
    """Where the thresholded histogram has the smaller error."""
    if found.utility is None or found.baseline is None:
        return ""
    name, what = (
        ("error", "error of the mean distance")
        if found.utility.has_distances
        else ("total_variation", "total variation")
    )
    beside = {band.least: band for band in found.baseline.bands}
    # Groups that the histogram leaves empty have no mean distance:
    # its total variation must be smaller too.
    smaller = [
        band.label
        for band in found.utility.bands
        if (other := beside.get(band.least)) is not None
        and getattr(other, name) < MUCH_BETTER * getattr(band, name)
        and other.total_variation < band.total_variation
    ]
    if not smaller:
        return (
            f"A thresholded histogram with the same ε and δ has no clearly smaller {what} at "
            "any size of group."
        )
    return (
        f"In groups of {listed(smaller)} people a thresholded histogram with the same ε and δ "
        f"has the smaller {what}: write mechanism: geometric to have it."
    )


# -- the terminal ----------------------------------------------------------------------------------


def show(
    found: Synthesized,
    console: Console,
    release: Synthetic,
    audience: Audience = "owner",
    plan: Path = Path("tacit.yaml"),
) -> None:
    """Print what was made: the promise and its price, what is still true, and where it is."""
    terms = found.terms
    size = (
        f"   {people(found.people)} in {plural('group', found.groups)}"
        if audience == "owner"
        else f"   {plural('group', found.groups)}"
    )
    console.print(two_sides(headed(found.release, size), personal(audience)))
    console.print(hanging("Protected", protected(release), INDENT))
    console.print(hanging("Not", not_protected(release), INDENT))
    console.print(
        hanging(
            "Promise",
            f"ε = {terms.epsilon}, δ = {delta_text(terms.delta)} in all, {BOTH[terms.guarantee]}",
            INDENT,
        )
    )
    console.print(hanging("Noise", describe_noise(found.noise, found.groups), INDENT))
    show_grid(steps_grid(found), console)
    if audience == "owner":
        if found.dropped[0]:
            console.print(
                hanging(
                    "Left out",
                    f"{people(found.dropped[0])} outside the domain "
                    f"({plural('pair', found.dropped[1])})",
                    INDENT,
                )
            )
        show_grid(utility_grid(found, release, page=False), console)
        show_grid(bands_grid(found, release, page=False), console)
        if told := describe_better_values(found):
            put(console, f"Left of the bar this release, right of it the histogram. {told}")
    show_budget(found, console)
    console.print()
    console.print(two_sides(Text(found.release, style="bold"), conclusion(found.verdicts)))
    for verdict in found.verdicts:
        show_verdict(
            verdict if audience == "owner" else replace(verdict, warnings=()), console, audience
        )
    show_assumptions(found.verdicts, console)
    show_output(found, console, audience, release.table, plan)


def show_grid(grid: HtmlGrid | None, console: Console) -> None:
    """A table without lines; the last column may wrap."""
    if grid is None:
        return
    console.print()
    rows = Rows.grid(padding=(0, 3, 0, 0))
    for place, _ in enumerate(grid.head):
        rows.add_column(no_wrap=place < len(grid.head) - 1)
    rows.add_row(*(Text(name, style="dim") for name in grid.head))
    for row in grid.rows:
        rows.add_row(Text(row[0], style="bold"), *row[1:])
    console.print(Padding(rows, (0, 0, 0, 2)))


def show_budget(found: Synthesized, console: Console) -> None:
    """What further releases would come to."""
    if told := describe_budget(found):
        console.print()
        console.print(hanging("Budget", told, INDENT))
        show_grid(budget_grid(found), console)


def show_output(
    found: Synthesized, console: Console, audience: Audience, table: str, plan: Path
) -> None:
    """Where the synthetic people are, or why there are none; and what to do next."""
    console.print()
    name = shlex.quote(str(plan))
    if found.output is None:
        put(console, f"{found.because[0].upper()}{found.because[1:]}.", 0)
        show_next(
            [*changes(found, str(plan)), f"tacit check {name} --only {shlex.quote(found.release)}"],
            console,
        )
        return
    again = (
        f", {plural('batch', found.drawing.resumed)} from an earlier run"
        if found.drawing.resumed and audience == "owner"
        else ""
    )
    console.print(
        hanging(
            "Written",
            f"{found.output}: {people(found.drawing.people)} in "
            f"{plural('row', found.drawing.rows)} in random order{again}",
            INDENT,
        )
    )
    record = (
        f"tacit ledger record {shlex.quote(found.release)} --answer "
        f"{shlex.quote(str(found.output))} --plan {name}"
    )
    show_next(
        [record, f"publish {found.output}, and nothing that compares it with {table}"], console
    )


# -- the page --------------------------------------------------------------------------------------


def write_page(
    found: Synthesized,
    report: Path | None,
    audience: Audience,
    release: Synthetic,
    areas: Areas | None = None,
) -> None:
    """Write the page, where asked."""
    if report is not None:
        write(render(found, audience, release, areas=areas), report)


def render(
    found: Synthesized, audience: Audience, release: Synthetic, *, areas: Areas | None = None
) -> str:
    """The page as text; for a `shared` audience without any number that the true table was
    looked at for.
    """
    owner = audience == "owner"
    assumptions = tuple(
        dict.fromkeys(one for verdict in found.verdicts for one in verdict.assumptions)
    )
    pictures = drawn_maps(found, owner, spoken(release.group), areas)
    group = spoken(release.group)
    return render_page(
        "synthesized_page.html",
        audience,
        found=found,
        release=release,
        verdicts=[
            verdict if owner else replace(verdict, warnings=()) for verdict in found.verdicts
        ],  # these may name true counts
        status=next(
            (
                one
                for one in ("breached", "undecided")
                if any(verdict.status == one for verdict in found.verdicts)
            ),
            "holds",
        ),
        conclusion=conclusion(found.verdicts).plain,
        numbers=numbers(found, owner),
        promise=[
            ("Protected", protected(release)),
            ("Not protected", not_protected(release)),
            ("One person", unit(release)),
        ],
        meaning=meaning(found, release),
        guarantee=BOTH[found.terms.guarantee],
        curve=privacy_curve(
            curve_of(found),
            float(found.terms.epsilon),
            found.terms.delta,
            guarantee=found.terms.guarantee,
        ),
        steps=steps_grid(found),
        noise=describe_noise(found.noise, found.groups),
        budget=describe_budget(found),
        again=budget_grid(found),
        utility=utility_grid(found, release) if owner else None,
        bands=bands_grid(found, release) if owner else None,
        better=describe_better_values(found) if owner else "",
        largest=largest_grid(found, release) if owner else None,
        charts=[
            *distance_charts(found.utility, group),
            *error_charts(found.utility, group, found.baseline),
        ]
        if owner and found.utility is not None
        else [],
        maps=pictures,
        warnings=shown_warnings(found, audience),
        steps_next=next_steps(found, owner),
        unproved=[one for one in assumptions if one.checked != "yes"],
        glossary=glossary(found, owner),
    )


def drawn_maps(found: Synthesized, owner: bool, group: str, areas: Areas | None) -> list[Map]:
    """The maps, where places are known and something was written."""
    drawn = found.picture
    if drawn is None or found.output is None:
        return []
    return maps(
        drawn.synthetic,
        drawn.positions,
        true=drawn.true if owner else None,
        areas=areas,
        group=group,
    )


def numbers(found: Synthesized, owner: bool) -> list[tuple[str, str]]:
    """The release in a few numbers."""
    told = [
        (str(found.terms.epsilon), "ε in all"),
        (delta_text(found.terms.delta), "δ in all"),
        (f"{found.groups:,}", "groups"),
    ]
    if found.output is not None:
        told.append((f"{found.drawing.people:,}", "synthetic people"))
    if owner and found.utility is not None:
        told.append((percent(found.utility.total_variation), "total variation"))
        if found.utility.has_distances:
            told.append(
                (
                    f"{found.utility.mean_synthetic:.3g} for {found.utility.mean_true:.3g}",
                    "mean distance in miles",
                )
            )
    return told


def curve_of(found: Synthesized) -> list[tuple[float, float]]:
    """Delta at every epsilon, as the verdicts prove it."""
    for verdict in found.verdicts:
        points = verdict.certificate.facts.get("curve") if verdict.certificate is not None else None
        if points:
            return [(float(Fraction(epsilon)), float(Fraction(delta))) for epsilon, delta in points]
    return []


def changes(found: Synthesized, plan: str) -> list[str]:
    """What to change in a plan so that a release may be drawn;
    nothing where no epsilon helps, because of what else is published.
    """
    codes = {verdict.reason.code for verdict in found.verdicts if verdict.reason is not None}
    if codes & {"does-not-compose", "release-changed", "ledger-unread"}:
        return []
    return [f"change epsilon and delta of {found.release} in {plan}, or of its check"]


def next_steps(found: Synthesized, owner: bool) -> list[str]:
    """What to do now."""
    if found.output is None:
        return [
            f"{one[0].upper()}{one[1:]}, and run tacit check." for one in changes(found, "the plan")
        ]
    steps = [
        (
            f"Publish {found.output}; ε and δ may be published with it, and the curve and the "
            "noise too."
        )
    ]
    if owner:
        steps.append(
            "Keep this page: it shows true counts. For others write one with --audience shared."
        )
        steps.append(
            "Do not draw again until a file looks better: each file that somebody sees adds to ε "
            "and δ, and choosing among several tells about the table."
        )
    return steps


def glossary(found: Synthesized, owner: bool) -> dict[str, str]:
    """The words of this page."""
    hidden = (
        set()
        if owner and found.utility is not None
        else {"total variation", "range query", "thresholded histogram"}
    )
    if found.noise.thresholds is not None:
        hidden |= {"prior people", "alpha (α)"}
    if found.baseline is None:
        hidden |= {"thresholded histogram"}
    return {word: text for word, text in WORDS.items() if word not in hidden}
