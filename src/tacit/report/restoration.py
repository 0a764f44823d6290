"""What a person reads after `tacit restore`: the further views, what they do to beliefs, and
what to paste into the plan.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.families.overlaps.runs.restore_results import (
    FurtherView,
    NotRestored,
    Restored,
    SearchExtent,
)
from tacit.families.words import listed, people, plural
from tacit.model.numbers import plain
from tacit.model.verdict import Audience, Verdict
from tacit.report import crowds
from tacit.report.html import cards
from tacit.report.html.page import glossary
from tacit.report.html.pages import render_page
from tacit.report.html.pages import write_page as write
from tacit.report.terminal.text_parts import (
    gauge,
    hanging,
    headed,
    personal,
    put,
    show_advice,
    two_sides,
)
from tacit.report.terminal.verdict_lines import show_assumptions, show_next, show_verdict

BAR = 20  # letters of a bar
LEFT_OUT = "(its condition names people: for the owner only)"
FACTS = {
    "not considered": "show a value that is new to all views, or nobody",
    "not diverse": "show people, or leave some over, of whom too many have the same value",
    "the same as another": "rule out the same tables as a simpler view",
    "hopeless": (
        "hold a view after which somebody's share stays too large, whatever else is published"
    ),
    "hopeless pair": (
        "hold two views after which somebody's share stays too large, whatever else is published"
    ),
    "unfair": "show sums that no shares up to gamma have",
    "untouched": "leave somebody above gamma untouched",
}
WORDS = {
    "further view": (
        "A view that is published in addition. It is true; it only adds to what is published."
    ),
    "restore": (
        "To publish more so that less can be told about the one who is most exposed: others, "
        "about whom little is known, lose some of their protection."
    ),
    "known set": (
        "People whose values together are known, whoever of them has which. If one value is "
        "too frequent among them, no further view can help."
    ),
}


def show(
    found: Restored | NotRestored,
    console: Console,
    audience: Audience = "owner",
    plan: Path = Path("tacit.yaml"),
    options: Sequence[str] = (),
    check: str | None = None,
) -> None:
    """Print what was found: the further views and what they do, or why there are none.

    `options` are those of the search, and `check` what was asked for, to repeat it.
    """
    if isinstance(found, NotRestored):
        show_not_restored(found, console, audience, plan)
    elif found.views:
        show_restored(
            found,
            console,
            audience,
            plan,
            shlex.join(
                ["tacit", "restore", *([check] if check else []), "--plan", str(plan), *options]
            ),
        )
    else:
        console.print(
            two_sides(
                Text(releases_text(found), style="bold"), Text("holds already", style="green")
            )
        )
        put(console, "Nothing has to be restored.")
        show_verdict(found.verdicts[0], console, audience)
        show_assumptions(found.verdicts, console)


def write_page(found: Restored | NotRestored, report: Path | None, audience: Audience) -> None:
    """Write the page, where asked."""
    if report is not None:
        write(render(found, audience), report)


def releases_text(found: Restored | NotRestored) -> str:
    """The releases in words."""
    return f"{listed(found.releases)} together" if len(found.releases) > 1 else found.releases[0]


def show_restored(
    found: Restored, console: Console, audience: Audience, plan: Path, again: str
) -> None:
    """The further views, and what they do; `again` is the command that looked for them."""
    ending = Text(f"restored with {plural('further view', len(found.views))}", style="green")
    if found.exit_status:
        ending = Text("not against one who knows the search", style="yellow")
    console.print(
        two_sides(headed(releases_text(found), f"   {found.verdicts[0].label}"), personal(audience))
    )
    console.print(two_sides(Text(""), ending))
    show_shares(found, console)
    show_views(found, console, audience)
    console.print()
    console.print(hanging("Fewest?", describe_fewest(found), 9))
    console.print(hanging("Cost", describe_cost(found), 9))
    if found.seen_by:
        console.print(hanging("Seen by", describe_adversaries(found), 9))
    console.print()
    show_verdict(found.verdicts[-1], console, audience)
    show_assumptions(found.verdicts[-1:], console)
    show_aware(found, console, audience)
    show_draft(found, console, audience, plan, again)


def show_shares(found: Restored, console: Console) -> None:
    """The largest share before and after."""
    grid = Grid.grid(padding=(0, 3, 0, 0))
    for name, verdict in zip(("before", "after"), found.verdicts, strict=True):
        share = share_of(verdict)
        style = "red" if verdict.status == "breached" else "green"
        fits = crowds.large(verdict.measured["worlds"]) if "worlds" in verdict.measured else ""
        grid.add_row(
            Text(name, style="dim"),
            gauge(share, BAR, style),
            crowds.belief_text(verdict.measured["gamma"], limit_of(verdict)),
            Text(f"{fits} tables fit" if fits else "", style="dim"),
        )
    console.print(Padding(grid, (0, 0, 0, 2)))


def show_views(found: Restored, console: Console, audience: Audience) -> None:
    """The further views, with how many rows each has."""
    console.print()
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_column(justify="right", no_wrap=True)
    for one in found.views:
        grid.add_row(
            Text(one.name, style="bold"),
            Text(query_text(one, audience)),
            Text(plural("row", one.rows), style="dim"),
        )
    console.print(Padding(grid, (0, 0, 0, 2)))


def show_aware(found: Restored, console: Console, audience: Audience) -> None:
    """What somebody believes who knows how the views were chosen."""
    if found.aware is None:
        return
    console.print(hanging("Who knows how they were chosen:", sentence(found.aware.because), 2))
    if found.aware.story and audience == "owner":
        put(console, found.aware.story, 4)


def show_draft(
    found: Restored, console: Console, audience: Audience, plan: Path, again: str
) -> None:
    """Where the draft is, or the draft itself."""
    console.print()
    name = shlex.quote(str(plan))
    if found.exit_status:
        console.print(Text("Nothing was written.") if found.output is None else Text(""))
        show_next(
            ["try other columns (--columns)", f"{again} for one who does not know the search"],
            console,
        )
        return
    if found.output is not None:
        console.print(hanging("Written", f"{found.output}: lines to paste into {plan}", 9))
    elif not found.draft_for(audience):
        console.print(
            hanging(
                "To publish them",
                "their lines for the plan name people: see them with --audience owner, or write "
                "them with -o DRAFT.yaml.",
                2,
            )
        )
    else:
        console.print(
            hanging(
                "To publish them", f"add to {plan}, the check in place of the one that is there:", 2
            )
        )
        for line in found.draft.splitlines():
            console.print(Text(f"    {line}"), soft_wrap=True)
    steps = [f"paste it into {plan}, then tacit check {name}"]
    if found.to_record:
        steps.append(
            f"let them go out together: tacit ledger record {shlex.join(found.to_record)} "
            f"--plan {name}"
        )
    # Who knows the search is asked about where everybody sees the same.
    show_next(
        [*steps, *([f"{again} --aware"] if found.aware is None and len(found.seen_by) < 2 else [])],
        console,
    )


def show_not_restored(found: NotRestored, console: Console, audience: Audience, plan: Path) -> None:
    """Why there are no further views, and what would have to give."""
    ending = (
        Text("cannot be restored", style="bold red")
        if found.proved
        else Text("nothing found", style="yellow")
    )
    console.print(two_sides(headed(releases_text(found), f"   {found.verdicts[0].label}"), ending))
    put(console, f"{sentence(found.because)} Nothing was written.")
    if found.story and audience == "owner" and found.story != found.verdicts[0].story:
        put(console, found.story)
    if found.looked is not None:
        proof = "This is proved" if found.proved else "This is no proof"
        put(console, f"{proof}: {describe_search(found.looked)}.")
        for line in tally_lines(found.looked):
            put(console, Text(line, style="dim"), 4)
    console.print()
    show_verdict(found.verdicts[0], console, audience)
    show_advice(found.advice, console)
    show_assumptions(found.verdicts, console)


# -- words -----------------------------------------------------------------------------------------


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def query_text(view: FurtherView, audience: Audience) -> str:
    """The SQL of a further view, for those who may see it."""
    return view.query if view.is_for(audience) else LEFT_OUT


def share_of(verdict: Verdict) -> Fraction:
    """The largest share."""
    return Fraction(verdict.measured["gamma"])


def limit_of(verdict: Verdict) -> Fraction:
    """What the largest share may be."""
    return Fraction(verdict.required["gamma"])


def describe_fewest(found: Restored) -> str:
    """Whether fewer views would do, and whether others would keep more tables."""
    looked, many = found.looked, len(found.views)
    if looked is None:
        return ""
    if found.of_classes:
        return (
            "these are whole classes of what is published: no set of up to "
            f"{looked.sets[-1]['views']} other views was found"
        )
    if looked.fewer is not None:
        first = (
            f"{plural('view', looked.fewer)} would do for an adversary who does not know how "
            "they are chosen"
        )
    elif many == 1:
        first = "one view is the fewest"
    elif looked.proved:
        first = (
            f"no set of {'one view' if many == 2 else f'up to {many - 1} views'} restores it, "
            "of all that were considered"
        )
    else:
        first = "fewer may do: not all smaller sets could be judged"
    second = (
        "none of as few keeps more tables"
        if looked.most_worlds
        else "others of as few may keep more tables"
    )
    return f"{first}; {second}. {sentence(describe_search(looked))}"


def describe_search(looked: SearchExtent) -> str:
    """What was looked at."""
    thinned = f"; not every end of {listed(looked.thinned)}" if looked.thinned else ""
    kinds = (
        [f"{plural('condition', looked.conditions)} on {listed(looked.columns)}"]
        if looked.conditions
        else []
    )
    kinds += [f"{plural('class', looked.classes)} of what is published"] if looked.classes else []
    groups = (
        f"{listed(kinds) or 'no conditions'} select {looked.candidates:,} different groups "
        "of people"
    )
    return f"{groups}{thinned}; {plural('set', looked.judged)} were judged exactly"


def tally_lines(looked: SearchExtent) -> list[str]:
    """What became of all sets of each number of views."""
    found = []
    for one in looked.sets:
        out: Mapping[str, Any] = one["ruled_out"]
        parts = [
            f"{one['judged']:,} judged exactly",
            *(f"{many:,} {FACTS.get(fact, fact)}" for fact, many in out.items() if many),
        ]
        parts += [f"{one['left']:,} not judged"] if one["left"] else []
        found.append(
            f"{plural('set', one['sets'])} of {plural('view', one['views'])}: {', '.join(parts)}"
        )
    return found


def describe_cost(found: Restored) -> str:
    """How much more is published."""
    told = f"{plural('row', sum(one.rows for one in found.views))} more are published"
    if found.worlds_before is not None and found.worlds_after is not None:
        told += (
            f"; {crowds.large(found.worlds_after)} tables fit where "
            f"{crowds.large(found.worlds_before)} did"
        )
    if more := found.people_after - found.people_before:
        told += f", with {people(more)} who {'was' if more == 1 else 'were'} in no view before"
    return told


def describe_adversaries(found: Restored) -> str:
    """Who was judged, and what of all releases each of them sees;
    and who gets the further views.
    """
    own = {one.name for one in found.views}
    each = [
        f"{who} ({listed([name for name in views if name not in own])}, and all further views)"
        for who, views in found.seen_by
    ]
    gets = (
        f"the further views go to {listed(found.views[0].to)}, like {listed(found.releases)}"
        if found.views[0].to
        else "the further views are for everybody"
    )
    return f"{'; '.join(each)}{'. It holds for each of them' if len(each) > 1 else ''}; {gets}"


# -- the page --------------------------------------------------------------------------------------


def render(found: Restored | NotRestored, audience: Audience) -> str:
    """The page as text; for a `shared` audience without any personal value."""
    done = isinstance(found, Restored)
    assumptions = tuple(
        dict.fromkeys(one for verdict in found.verdicts for one in verdict.assumptions)
    )
    return render_page(
        "restored_page.html",
        audience,
        found=found,
        done=done,
        title=releases_text(found),
        numbers=numbers(found),
        views=views_grid(found, audience) if isinstance(found, Restored) and found.views else None,
        draft=found.draft_for(audience) if isinstance(found, Restored) else "",
        fewest=describe_fewest(found) if isinstance(found, Restored) else "",
        cost=describe_cost(found) if isinstance(found, Restored) and found.views else "",
        seen=describe_adversaries(found) if isinstance(found, Restored) and found.seen_by else "",
        looked=describe_search(found.looked) if found.looked else "",
        tally=tally_lines(found.looked) if found.looked else [],
        charts=crowds.charts(found.stages, found.verdicts, audience)
        if isinstance(found, Restored)
        else [],
        unproved=[one for one in assumptions if one.checked != "yes"],
        glossary={**WORDS, **glossary(found.verdicts)},
    )


def numbers(found: Restored | NotRestored) -> list[tuple[str, str]]:
    """The restoration in a few numbers."""
    told = []
    for name, verdict in zip(("before", "after"), found.verdicts, strict=False):
        if "gamma" in verdict.measured:
            told.append(
                (
                    crowds.belief_text(verdict.measured["gamma"], limit_of(verdict)),
                    f"largest share {name}",
                )
            )
        if "worlds" in verdict.measured:
            told.append((crowds.large(verdict.measured["worlds"], page=True), f"tables fit {name}"))
    return [*told, (plain(limit_of(found.verdicts[0])), "gamma")]


def views_grid(found: Restored, audience: Audience) -> cards.HtmlGrid:
    """The further views as a table."""
    return cards.HtmlGrid(
        "",
        ["view", "query", "rows"],
        [[one.name, query_text(one, audience), f"{one.rows:,}"] for one in found.views],
    )
