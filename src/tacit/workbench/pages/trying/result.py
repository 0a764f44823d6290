"""What came of a tried query: allowed or refused, step by step why, how it was read, the
evidence, and its first rows if one wants them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import count
from typing import Any

from nicegui import ui

from tacit.families.queries.explain import ExplainedPart, Explanation
from tacit.gateway.policy.explanations import SecretExplanation, TriedQuery
from tacit.gateway.trial import FirstRows, PreparedPolicy
from tacit.model.numbers import percents
from tacit.model.verdict import Verdict
from tacit.report.query_evidence import (
    Disclosure,
    EvidenceSide,
    MarkedRows,
    disclosure,
    legend,
    subgoal_pairs,
)
from tacit.workbench.bench import Visit
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.grids import csv_bytes
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger

MARKS = {"passed": "✓", "refused": "✕", "not asked": "○"}
STATUS = {
    "holds": "says nothing about it",
    "breached": "says something about it",
    "undecided": "could not be decided",
}


def show(
    visit: Visit,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any],
    tried: TriedQuery,
    prepared: PreparedPolicy,
) -> None:
    """The result of one try."""
    decision = tried.decision
    with (
        ui.element("section")
        .classes(f"card {'holds' if decision.allowed else 'breached'}")
        .props('aria-label="Decision" data-testid="decision"')
    ):
        with ui.element("div").classes("row"):
            badge(
                "holds" if decision.allowed else "breached",
                "allowed" if decision.allowed else "refused",
            )
            ui.label(f"as {tried.role}" if prepared.are_roles else f"against {tried.role}").classes(
                "muted"
            )
            if not decision.allowed:
                ui.label(decision.code).classes("mono fine").props(
                    'title="The code that a client gets"'
                )
        ui.label(decision.message).classes("try-said")
        if decision.hint:
            ui.label(decision.hint).classes("muted")
        steps(tried)
    evidence(tried)
    readings(tried)
    if decision.sql is not None:
        allowed(visit, sql, parameters, tried)


def steps(tried: TriedQuery) -> None:
    """The gateway's questions, in its order."""
    ui.html("Why", tag="h3", sanitize=False)
    with ui.element("ol").classes("try-steps"):
        for step in tried.steps:
            with ui.element("li").classes(step.outcome.replace(" ", "-")):
                ui.label(MARKS[step.outcome]).classes("sign").props(
                    f'aria-label="{step.outcome}"'
                ).props('role="img"')
                with ui.element("div"):
                    ui.label(step.asks).style("font-weight: 600")
                    ui.label(step.text).classes("muted")


# -- evidence --------------------------------------------------------------------------------------


def evidence(tried: TriedQuery) -> None:
    """What the query says about each secret, that of the refusal first."""
    for about in tried.secrets:
        verdict = about.verdict
        if verdict is None or (verdict.status == "holds" and not subgoal_pairs(verdict)):
            continue
        with (
            ui.element("section")
            .classes("card")
            .props(f'aria-label="Evidence about {aria(about.secret)}" data-testid="evidence"')
        ):
            with ui.element("div").classes("row"):
                ui.html(f"What it says about {escaped(about.secret)}", tag="h2", sanitize=False)
                badge(verdict.status, STATUS[verdict.status])
            words(verdict)
            if (found := disclosure(verdict)) is not None:
                disclosed(found)
            elif verdict.status == "holds":
                pairs(verdict)


def words(verdict: Verdict) -> None:
    """What was found, as a sentence."""
    if verdict.reason is not None:
        ui.label(f"{verdict.reason.text} ({verdict.reason.code})")
    else:
        text = verdict.because.replace(" and to query", " and to the query")
        ui.label(f"{text[:1].upper()}{text[1:]}.")


def pairs(verdict: Verdict) -> None:
    """Subgoals that could be one row, and why that row does not matter to both."""
    with ui.element("div").classes("scroll"), ui.element("table").classes("plain"):
        head("Of the secret", "Of the query", "Does without that row", "Because")
        with ui.element("tbody"):
            for one in subgoal_pairs(verdict):
                cells(one.secret, one.view, one.without, one.mapping, mono=True)


def disclosed(found: Disclosure) -> None:
    """The row that matters to both, with each query's answer without and with it."""
    with ui.element("div").classes("grid-2"):
        for side in found.sides:
            one_side(side)
    if found.path:
        ui.label("Rows of which each excludes the next, because they share a key:").classes("muted")
        for rows in found.path:
            small_table(rows)
    if found.before is not None and found.after is not None:
        first, second = percents(found.before, found.after)
        ui.label(
            f"If {found.prior}, the belief that {found.claim} moves from {first} ({found.before}) "
            f"to {second} ({found.after}) for some answer of the query."
        )
    if found.changes:
        with ui.element("div").classes("notice good"):
            ui.label(f"It would be answered if you {' or '.join(found.changes)}.")
    ui.label(legend([found])).classes("fine")


def one_side(side: EvidenceSide) -> None:
    """What one of the two depends on."""
    with ui.element("div").classes("stack"):
        ui.html(
            f"{'The secret' if side.role == 'secret' else 'The query'}", tag="h3", sanitize=False
        )
        for rows in side.tables:
            small_table(rows)
        if side.without is not None and side.with_ is not None:
            with ui.element("div").classes("row try-answers"):
                small_table(side.without)
                small_table(side.with_)


def small_table(rows: MarkedRows) -> None:
    """A few rows, with what is added and what goes."""
    with ui.element("div").classes("scroll"), ui.element("table").classes("plain try-rows"):
        ui.html(escaped(rows.caption), tag="caption", sanitize=False)
        if rows.head:
            head("", *rows.head)
        with ui.element("tbody"):
            for mark, row in zip(rows.marks, rows.rows, strict=True):
                with ui.element("tr").classes({"+": "added", "-": "gone"}.get(mark, "")):
                    with ui.element("td").classes("mono"):
                        ui.label(mark)
                    for cell in row:
                        with ui.element("td"):
                            ui.label(cell)


# -- how it was read -------------------------------------------------------------------------------


def readings(tried: TriedQuery) -> None:
    """How the query and the secret in question were read."""
    if tried.reading is None:
        return
    with (
        ui.element("section")
        .classes("card")
        .props('aria-label="How it was read" data-testid="reading"')
    ):
        ui.html("How it was read", tag="h2", sanitize=False)
        asked = tried.in_question
        with ui.element("div").classes("grid-2"):
            reading("The query", tried.reading)
            for about in [asked] if asked is not None else tried.secrets[:1]:
                reading_of_secret(about)
        others = [one for one in tried.secrets if asked is None or one is not asked][
            0 if asked is not None else 1 :
        ]
        if others:
            with ui.element("details").classes("more"):
                ui.html(f"The role's other secrets ({len(others)})", tag="summary", sanitize=False)
                with ui.element("div").classes("grid-2"):
                    for about in others:
                        reading_of_secret(about)


def reading_of_secret(about: SecretExplanation) -> None:
    """How a secret was read."""
    reading(f"The secret {about.secret}", about.reading)


def reading(title: str, found: Explanation) -> None:
    """A query as the rows it depends on: subgoals and conditions."""
    with ui.element("div").classes("stack"):
        ui.html(escaped(title), tag="h3", sanitize=False)
        ui.label(
            "Read exactly."
            if found.exact
            else "Not read exactly: judged by all rows that it may depend on."
        ).classes("muted")
        boxes = count(1)
        for query in (found.exact,) if found.exact else found.supports:
            for number, part in enumerate(query.parts):
                if number:
                    ui.label("or").classes("fine")
                conditions(
                    part, f"{title}: conditions {next(boxes)}", with_head=found.exact is not None
                )
            if not query.parts:
                ui.label("It has no row on any database.")
            if query.classes:
                ui.label(
                    f"{'As a bag, rows count as often as they occur' if query.semantics == 'bag' else 'As a set'}; "  # noqa: E501
                    f"{', '.join(query.classes)}."
                ).classes("fine")
        if not found.exact and not found.supports:
            ui.label("It depends on no table.")
        for one in found.approximations:
            with ui.element("div").classes("notice warn"):
                ui.label(" ".join(one.fragment.split())).classes("mono")
                ui.label(f"Line {one.line}, column {one.column}: {one.text}.").classes("fine")


def conditions(part: ExplainedPart, label: str, *, with_head: bool) -> None:
    """One conjunctive query as lines."""
    lines = [f"({', '.join(part.head)}) where" if with_head else "all rows where"]
    lines += [f"  {one}" for one in (*part.subgoals, *part.comparisons)] or [
        "  nothing: it is always true"
    ]
    if part.may_be_null:
        lines.append(f"  may be NULL: {', '.join(part.may_be_null)}")
    ui.html(box(chr(10).join(lines), label), sanitize=False)


def box(text: str, label: str, more: str = "") -> str:
    """Lines that may be wider than a small screen:
    they are scrolled by keyboard too, and have a name for those who hear them.

    >>> box("a < b", "Lines")
    '<pre class="try-box" tabindex="0" role="region" aria-label="Lines">a &lt; b</pre>'
    """
    return (
        f'<pre class="{" ".join(filter(None, ("try-box", more)))}" tabindex="0" role="region" '
        f'aria-label="{escaped(label)}">{escaped(text)}</pre>'
    )


# -- running it ------------------------------------------------------------------------------------


def allowed(
    visit: Visit, sql: str, parameters: Sequence[Any] | Mapping[str, Any], tried: TriedQuery
) -> None:
    """What would run, and a button that runs it."""
    with ui.element("section").classes("card").props('aria-label="The answer"'):
        ui.html("What would run", tag="h2", sanitize=False)
        ui.html(box(tried.decision.sql or "", "What would run", "try-wrap"), sanitize=False)
        place = ui.element("div").classes("stack")

        def press() -> None:
            work = visit.book.works.start(
                "query",
                f"Running a query as {tried.role}",
                tasks_ledger.run_query,
                visit.book.path,
                visit.book.reach,
                tried.role,
                sql,
                parameters,
            )
            place.clear()
            with place:
                show_work(work, done)

        def done(work: Any) -> None:
            if work.state == "done":
                found, work.result = work.result, None  # rows are for this page, and kept nowhere
                place.clear()
                with place:
                    answer(visit, found)

        with place, ui.element("div").classes("toolbar"):
            ui.button("Run it as this role", on_click=press).props('outline data-testid="run"')
            ui.label(
                "It is decided once more, then its first 100 rows are shown here; 20 seconds "
                "at most."
            ).classes("fine")


def answer(visit: Visit, found: FirstRows) -> None:
    """The first rows of an answer."""
    if not found.decision.allowed:
        notice(
            f"The plan changed meanwhile, and it is refused now: {found.decision.message}", "warn"
        )
        return
    many = (
        f"The first {len(found.rows)} rows; there are more."
        if found.more
        else f"{len(found.rows)} row{'' if len(found.rows) == 1 else 's'}, all of them."
    )
    ui.label(
        f"{many} As the role gets them, in {found.seconds:.1f} s with opening the data."
    ).classes("fine")
    with (
        ui.element("div")
        .classes("scroll")
        .props('tabindex="0" role="region" aria-label="The answer" data-testid="answer"'),
        ui.element("table").classes("plain"),
    ):
        head(*found.columns)
        with ui.element("tbody"):
            for row in found.rows:
                cells(*("NULL" if one is None else one for one in row))
    with ui.element("div").classes("toolbar"):
        save_button(
            visit,
            "Save these rows as CSV",
            "answer.csv",
            lambda: csv_bytes([found.columns, *found.rows]),
        )


def head(*names: str) -> None:
    """The head of a table."""
    with ui.element("thead"), ui.element("tr"):
        for name in names:
            with ui.element("th").props('scope="col"'):
                ui.label(name)


def cells(*values: str, mono: bool = False) -> None:
    """A row of a table."""
    with ui.element("tr"):
        for value in values:
            with ui.element("td").classes("mono" if mono else ""):
                ui.label(value)


def escaped(text: str) -> str:
    """A text for HTML."""
    return escape(text)
