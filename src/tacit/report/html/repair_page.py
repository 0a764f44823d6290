"""The page of a repair: what is released, what it costs and risks,
and which other ways there were.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.families.microdata.portrait import Portrait, portraits
from tacit.families.microdata.recoded import nobody
from tacit.families.microdata.runs.repair_results import NotRepaired, Repaired
from tacit.families.words import people, plural
from tacit.model.numbers import percent
from tacit.model.verdict import Audience
from tacit.report import repair_words
from tacit.report.charts.portrait_chart import Chart, charts
from tacit.report.charts.trade_off import MOST_LISTED, loss_chart, moved_chart, trade_offs
from tacit.report.html.cards import HtmlGrid
from tacit.report.html.page import glossary
from tacit.report.html.pages import render_page
from tacit.report.tellers.microdata import figures

WORDS = {
    "level": (
        "How coarse a column is: level 0 is the value as it is, the highest level tells nothing."
    ),
    "minimal solution": (
        "Levels for which all checks hold, and none of which can be lower as long as the "
        "others stay."
    ),
    "loss": "The part of the columns' detail that is gone: 0 nothing, 1 everything.",
}


def render(found: Repaired | NotRepaired, audience: Audience) -> str:
    """The page as text; for a `shared` audience without any personal value."""
    return (
        repaired_page(found, audience)
        if isinstance(found, Repaired)
        else not_repaired_page(found, audience)
    )


def repaired_page(found: Repaired, audience: Audience) -> str:
    """The page of a release that meets its checks."""
    drawn = pictured(found)
    raw = found.recoded.raw
    columns = repair_words.columns(found, audience)
    assumptions = tuple(
        dict.fromkeys(one for verdict in found.verdicts for one in verdict.assumptions)
    )
    return render_page(
        "repaired_page.html",
        audience,
        found=found,
        conclusion=repair_words.describe_conclusion(found),
        status="undecided" if found.not_asked or not found.is_judged else "holds",
        unjudged=repair_words.not_judged(found),
        not_asked=repair_words.describe_unasked_checks(found),
        table=f"{raw.table.name}: {raw.base.rows:,} rows, {people(raw.people)}",
        numbers=numbers(found, drawn),
        columns=columns_grid(columns, audience),
        example=repair_words.example_row(found)
        if found.recoded.generalization is None and audience == "owner"
        else None,
        method=repair_words.describe_method(found),
        proof=repair_words.proof(found),
        rows=repair_words.describe_dropped_rows(found),
        utility=utility_grid(found),
        trade_offs=trade_offs(found),
        changes=changes(columns),
        choices=choices_grid(found, audience),
        others=plural("other", max(0, len(found.choices) - MOST_LISTED)),
        choices_told=repair_words.describe_choices(found),
        charts=charts(drawn, found.verdicts, audience),
        aware=list(
            zip(repair_words.describe_aware_attacker(found), found.aware or (None,), strict=False)
        ),
        left=repair_words.describe_unwritten_columns(found),
        written=repair_words.columns_written(found),
        unproved=[one for one in assumptions if one.checked != "yes"],
        glossary={**WORDS, **glossary(found.verdicts)},
    )


def not_repaired_page(found: NotRepaired, audience: Audience) -> str:
    """The page that says why there is no release."""
    return render_page(
        "not_repaired_page.html",
        audience,
        found=found,
        glossary={**WORDS, **glossary(found.verdicts)},
    )


def pictured(found: Repaired) -> Portrait:
    """The release in numbers; where nobody looked while the source
    was open, people have no names.
    """
    if found.portrait is not None:
        return found.portrait
    question = found.recoded.question()
    nameless = replace(
        question,
        find=nobody,
        readings=tuple(replace(one, find=nobody) for one in question.readings),
    )
    return portraits({found.release: nameless}, found.verdicts)[found.release]


def numbers(found: Repaired, drawn: Portrait) -> list[tuple[str, str]]:
    """The release in a few numbers: what was kept small first."""
    measure = next((one for one in repair_words.figures(found) if one.chosen), None)
    first = [(measure.after, measure.name)] if measure else []
    gone = [(f"{found.recoded.suppressed:,}", "rows dropped")] if found.repair.suppress else []
    return [*first, *gone, *figures(drawn)]


def columns_grid(columns: list[repair_words.RecodedColumn], audience: Audience) -> HtmlGrid:
    """What became of each quasi-identifier."""
    head = [
        "column",
        "level",
        *(["for example"] if audience == "owner" else []),
        "detail lost",
        "moved",
    ]
    rows = []
    for one in columns:
        example = [" → ".join(one.example) if one.example else ""] if audience == "owner" else []
        rows.append([one.name, one.steps, *example, percent(one.loss), percent(one.moved)])
    return HtmlGrid("", head, rows)


def utility_grid(found: Repaired) -> HtmlGrid:
    """Every measure before and after."""
    rows = [
        [f"{one.name}{' (kept small)' if one.chosen else ''}", one.before, one.after, one.says]
        for one in repair_words.figures(found)
    ]
    return HtmlGrid("", ["measure", "the table", "the release", "what it counts"], rows)


def changes(columns: list[repair_words.RecodedColumn]) -> list[Chart]:
    """What became of the columns, as pictures."""
    return [loss_chart(columns), moved_chart(columns)] if columns else []


def choices_grid(found: Repaired, audience: Audience) -> HtmlGrid | None:
    """The solutions, each with what it costs and what it risks."""
    if len(found.choices) < 2:
        return None
    names = found.recoded.raw.quasi
    dropped = any(choice.suppressed for choice in found.choices)
    head = [
        "",
        *names,
        found.utility["measure"],
        "smallest group",
        "greatest belief",
        *(["dropped"] if dropped else []),
    ]
    listed = repair_words.some(found.choices, MOST_LISTED)
    labels = repair_words.labels_for(found, audience)
    rows: list[list[Any]] = []
    for place, one in listed:
        belief = percent(one.belief) if one.belief is not None else "–"
        levels = [
            repair_words.level_words(labels.get(name, ()), one.generalization[name])
            for name in names
        ]
        gone = [f"{one.suppressed:,}"] if dropped else []
        first = f"{place}, {'written' if found.output else 'found'}" if one.chosen else str(place)
        rows.append(
            [first, *levels, repair_words.number(one.cost), f"{int(1 / one.risk):,}", belief, *gone]
        )
    marked = next(place for place, (_, one) in enumerate(listed) if one.chosen)
    return HtmlGrid("", head, rows, marked)
