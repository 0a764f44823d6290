"""Synthesize: how much noise a promise needs, by slider;
then draw synthetic people and write them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from nicegui import ui

from tacit.errors import TacitError
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.runs.trial_noise import SetTerms, SizeNoise
from tacit.families.words import spoken
from tacit.model.numbers import percent, plain
from tacit.model.release import Synthetic
from tacit.plan.plan import Plan
from tacit.plan.read import values
from tacit.report.synthesis import not_protected, number, protected
from tacit.workbench.bench import Visit
from tacit.workbench.pages.repair.repair_answers import (
    heading,
    plain_table,
    show_answers,
    show_numbers,
)
from tacit.workbench.pages.repair.repair_work import follow, last_work, record_button
from tacit.workbench.pages.repair.slider import RangeSlider
from tacit.workbench.pages.repair.write import FileName, change_plan, safe
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.save_button import save_button
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import synthesize as tasks
from tacit.workbench.tasks.synthesize import Sizes, SynthesisOutcome
from tacit.workbench.work import Work

LEAST, MOST = -2.0, 1.5  # of the slider: powers of ten of epsilon
NO_DELTA, MOST_DELTA = -15, -2  # of the slider: powers of ten of delta; the least stands for 0
MECHANISMS = {
    "dirichlet": "Dirichlet: people are drawn from the group mixed with invented ones",
    "geometric": "Geometric: noise on counts, small ones left out",
}
GUARANTEES = {"dp": "differential privacy", "pdp": "probabilistic differential privacy"}


async def show_synthetic(visit: Visit, plan: Plan, release: Synthetic) -> None:
    """The page of one synthetic release."""
    with ui.element("div").classes("stack").style("gap: .2rem"):
        heading(f"Synthesize {release.name}", "h1")
        ui.label(
            "Draw synthetic people with the least noise that the promise allows. Protected: "
            f"{protected(release)}. Not protected: {not_protected(release)}."
        ).classes("muted")
    page = Synthesizing(visit, release)
    page.open()


class Synthesizing:
    """The page while it is open. What the plan says is what is drawn:
    other values are tried here, and then put into the plan.
    """

    def __init__(self, visit: Visit, release: Synthetic) -> None:
        self.visit, self.release, self.name = visit, release, release.name
        self.sizes: Sizes | None = None
        self._turn = 0

    def open(self) -> None:
        """Show the controls, count the groups, and show what was drawn before."""
        with ui.element("section").classes("card").props('aria-label="The promise"'):
            heading("The promise", "h2")
            self._controls()
        self.counting = ui.element("div").classes("stack")
        with (
            ui.element("section").classes("card").props('aria-label="The noise" aria-live="polite"')
        ):
            heading("The noise that it needs", "h2")
            self.noise = ui.element("div").classes("stack").props('data-testid="noise"')
        self.writing = ui.element("div").classes("stack")
        self.done = ui.element("div").classes("stack").style("gap: 1.25rem")
        self._count()
        self._offer()
        if (work := last_work(self.visit.book.works, "repair-draw", self.name)) is not None:
            self._follow(work)

    # -- the promise -------------------------------------------------------------------------------

    def _controls(self) -> None:
        one = self.release
        with ui.element("div").classes("controls four"):
            with ui.element("div").classes("control"):
                ui.label(
                    "Epsilon: how much one person's value can change the chance of any output"
                ).classes("name")
                self.epsilon = ui.input(
                    value=str(Epsilon.read(one.epsilon)), on_change=self._try
                ).props('dense outlined aria-label="Epsilon" data-testid="epsilon" debounce=300')
                at = math.log10(float(Epsilon.read(one.epsilon)))
                self.epsilon_slider = RangeSlider(
                    "Epsilon, by slider",
                    LEAST,
                    MOST,
                    0.05,
                    min(max(at, LEAST), MOST),
                    name="epsilon-slider",
                    words=epsilon_words,
                    on_change=lambda power: self.epsilon.set_value(epsilon_words(power)),
                )
                ui.label(
                    "Smaller is more private, and needs more noise. From 0.1 to 10 is usual."
                ).classes("fine")
            with ui.element("div").classes("control"):
                ui.label("Delta: how far that may fail").classes("name")
                self.delta = ui.input(value=delta_words(one.delta), on_change=self._try).props(
                    'dense outlined aria-label="Delta" data-testid="delta" debounce=300'
                )
                power = (
                    NO_DELTA
                    if not one.delta
                    else min(max(round(math.log10(one.delta)), NO_DELTA + 1), MOST_DELTA)
                )
                self.delta_slider = RangeSlider(
                    "Delta, by slider",
                    NO_DELTA,
                    MOST_DELTA,
                    1,
                    power,
                    name="delta-slider",
                    words=power_words,
                    on_change=lambda power: self.delta.set_value(power_words(power)),
                )
                ui.label("0 is never. It should be far below one in the number of people.").classes(
                    "fine"
                )
            with ui.element("div").classes("control"):
                ui.label("Mechanism").classes("name")
                self.mechanism = ui.radio(
                    MECHANISMS, value=one.mechanism, on_change=self._try
                ).props('dense aria-label="Mechanism"')
                ui.label("Kind of promise").classes("name").style("margin-top: .5rem")
                self.guarantee = ui.radio(
                    GUARANTEES, value=one.guarantee, on_change=self._try
                ).props('dense aria-label="Kind of promise"')
            with ui.element("div").classes("control"):
                ui.label("Accept: a cell may have at most so many times its share").classes("name")
                self.accept = ui.input(
                    value="" if one.accept is None else plain(one.accept),
                    placeholder="any output",
                    on_change=self._try,
                ).props('dense outlined aria-label="Accept" data-testid="accept" debounce=300')
                ui.label("Other outputs are drawn again. Leave it empty to accept all.").classes(
                    "fine"
                )
        self.change = ui.element("div").classes("stack")

    def _follow_text(self) -> None:
        """Move the sliders to what was typed."""
        now = self._values()
        with suppress(values.UnfitError):
            epsilon = Epsilon.read(values.epsilon((self.epsilon.value or "").strip()))
            self.epsilon_slider.set_value(min(max(math.log10(float(epsilon)), LEAST), MOST))
        if isinstance(now["delta"], Fraction) and 0 <= now["delta"] < 1:
            self.delta_slider.set_value(
                min(max(round(math.log10(now["delta"])), NO_DELTA + 1), MOST_DELTA)
                if now["delta"]
                else NO_DELTA
            )

    def _terms(self) -> dict[str, Any]:
        """What is different from the plan; None takes a key away."""
        now, one = self._values(), self.release
        was = {
            "epsilon": as_number(str(Epsilon.read(one.epsilon))),
            "delta": one.delta,
            "mechanism": one.mechanism,
            "guarantee": one.guarantee,
            "accept": one.accept,
        }
        return {key: value for key, value in now.items() if value != was[key]}

    def _values(self) -> dict[str, Any]:
        accept = (self.accept.value or "").strip()
        return {
            "epsilon": as_number((self.epsilon.value or "").strip()),
            "delta": as_number((self.delta.value or "").strip()),
            "mechanism": self.mechanism.value,
            "guarantee": self.guarantee.value,
            "accept": as_number(accept) if accept else None,
        }

    # -- the noise ---------------------------------------------------------------------------------

    def _count(self) -> None:
        book, kind = self.visit.book, "repair-sizes"
        work = book.works.latest(kind, f"{self.name} {book.digest()}")
        if work is None or work.state in ("failed", "cancelled"):
            work = book.works.start(
                kind,
                f"Counting the groups of {self.name}",
                tasks.sizes,
                str(book.path),
                str(book.reach),
                self.name,
                key=f"{self.name} {book.digest()}",
            )

        async def counted(work: Work) -> None:
            if work.state == "done":
                self.sizes = work.result
                await self._try()
                self.counting.clear()  # last: this is called by what is cleared

        with self.counting:
            show_work(work, then=counted)

    async def _try(self) -> None:
        """The noise for what the controls say; the last press counts."""
        self._turn += 1
        turn = self._turn
        self._follow_text()
        if self.sizes is None:
            return
        book, terms = self.visit.book, self._terms()
        try:
            found = await asyncio.to_thread(
                tasks.tried, book.text(), book.path.name, book.folder, self.name, terms, self.sizes
            )
        except TacitError as error:
            if turn == self._turn:
                self._show_noise(error, terms)
            return
        if turn == self._turn:
            self._show_noise(found, terms)

    def _show_noise(
        self, found: tuple[SizeNoise, ...] | TacitError, terms: Mapping[str, Any]
    ) -> None:
        assert self.sizes is not None
        self.noise.clear()
        with self.noise:
            if isinstance(found, TacitError):
                show_error(found)
            else:
                ui.label(
                    f"{self.sizes.people:,} people in {self.sizes.groups:,} groups; some of them, "
                    "from the smallest to the largest:"
                ).classes("muted")
                heads, rows = noise_table(found, spoken(self.release.group))
                plain_table(
                    self.visit,
                    heads,
                    rows,
                    name=f"{safe(self.name)}-noise",
                    caption="Noise by size of group",
                )
            for warning in self.sizes.warnings if not terms else ():
                notice(f"{warning[:1].upper()}{warning[1:]}.", "warn")
        self.change.clear()
        with self.change:
            if terms and not isinstance(found, TacitError):
                said = ui.element("div").classes("stack")
                typed = {
                    "epsilon": self.epsilon.value,
                    "delta": self.delta.value,
                    "accept": self.accept.value,
                }
                ui.label(
                    f"Different from the plan: {describe_changes(terms, typed)}. What the plan "
                    "says is what "
                    "is drawn."
                ).classes("muted")
                ui.button(
                    "Put it into the plan", on_click=lambda: self._into_plan(terms, said)
                ).props('outline no-caps data-testid="into-plan"').style("align-self: flex-start")
        self._offer(changed=bool(terms))

    async def _into_plan(self, terms: Mapping[str, Any], said: ui.element) -> None:
        if await change_plan(
            self.visit.book, [SetTerms(self.name, terms)], said, "The plan has these values now."
        ):
            ui.navigate.reload()

    # -- drawing -----------------------------------------------------------------------------------

    def _offer(self, *, changed: bool = False) -> None:
        self.writing.clear()
        with (
            self.writing,
            ui.element("section").classes("card").props('aria-label="Draw and write"'),
        ):
            heading("Draw and write", "h2")
            if changed:
                ui.label("Put the values above into the plan first, or set them back.").classes(
                    "muted"
                )
                return
            ui.label(
                "Draw once, and keep what comes: each file that somebody sees adds to epsilon and "
                "delta, and choosing among several tells about the table."
            ).classes("muted")
            file = FileName(self.visit.book, self.name)
            restart = ui.checkbox("Throw away what an interrupted run has drawn").props("dense")

            def draw(name: str, replaces: bool) -> None:
                book = self.visit.book
                work = book.works.start(
                    "repair-draw",
                    f"Drawing {name}",
                    tasks.draw,
                    str(book.path),
                    str(book.reach),
                    self.name,
                    name,
                    replaces,
                    bool(restart.value),
                    book.digest(),
                    key=self.name,
                )
                self._follow(work)

            file.button("Draw and write", "draw", draw)

    def _follow(self, work: Work) -> None:
        follow(work, self.done, self._drawn, "Press Draw and write to go on.")

    def _drawn(self, found: SynthesisOutcome) -> None:
        with (
            ui.element("section")
            .classes("card holds" if found.output else "card breached")
            .props('data-testid="drawn"')
        ):
            heading(f"Written: {found.output}" if found.output else "Nothing was drawn", "h2")
            if found.digest != self.visit.book.digest():
                notice("The plan has changed since this was drawn.", "warn")
            ui.label(f"{found.because[:1].upper()}{found.because[1:]}.")
            for warning in found.warnings:
                notice(warning, "warn")
            show_numbers(found.numbers)
            ui.label(found.meaning)
            for name, text in found.told:
                with ui.element("div"):
                    ui.label(name).style("font-weight: 600")
                    ui.label(f"{text[:1].upper()}{text[1:]}")
            self._files(found)
        with ui.element("section").classes("card"):
            heading("What the checks say", "h3")
            show_answers(found.answers)
        for title, grid in found.tables:
            with ui.element("section").classes("card"):
                heading(title, "h3")
                plain_table(
                    self.visit,
                    grid.head,
                    grid.rows,
                    name=f"{safe(self.name)}-{safe(title)}",
                    caption=title,
                )
        self._pictures(found)

    def _files(self, found: SynthesisOutcome) -> None:
        if found.output:
            self.visit.book.kept.setdefault("written", {})[self.name] = found.output
            notice(
                "Pass on the file and nothing that compares it with the table: what follows shows "
                "true counts.",
                "warn",
            )
        with ui.element("div").classes("toolbar"):
            if found.output:
                place = self.visit.book.folder / found.output
                save_button(self.visit, "Download the file", place.name, lambda: place).props(
                    'outline data-testid="download"'
                )
            save_button(
                self.visit,
                "Save the report (HTML)",
                f"{safe(self.name)}-synthesized.html",
                lambda: found.html,
            ).props('outline data-testid="report"')
            if found.output:
                record_button(self.visit, lambda: (self.name, found.output))

    def _pictures(self, found: SynthesisOutcome) -> None:
        from tacit.report.charts.portrait_chart import Chart

        if found.charts:
            with ui.element("div").classes("grid-2"):
                for number_, chart in enumerate(found.charts, 1):
                    picture(self.visit, chart, f"{self.name}-{number_}")
        for place, one in enumerate(found.maps, 1):
            with ui.element("div").classes("grid-2"):
                for panel, svg in one.panels:
                    picture(
                        self.visit,
                        Chart(f"{one.title}: {panel}", one.note, svg),
                        f"{self.name}-map-{place}-{panel}",
                    )


def noise_table(found: tuple[SizeNoise, ...], group: str) -> tuple[list[str], list[list[str]]]:
    """The noise of some groups as a table.

    >>> noise_table((SizeNoise(10, 4, Fraction(1, 2), Fraction(2), None),), "ward")[1]
    [['10', '4', '0.5', '2', '17 %']]
    """
    if any(one.threshold is not None for one in found):
        heads = [f"people in the {group}", "cells", "a count is published from"]
        return heads, [
            [
                f"{one.people:,}",
                f"{one.cells:,}",
                f"{one.threshold:,}" if one.threshold is not None else "–",
            ]
            for one in found
        ]
    heads = [
        f"people in the {group}",
        "cells",
        "invented people in each cell (α)",
        "invented people in all",
        "share that is invented",
    ]
    rows = [
        [
            f"{one.people:,}",
            f"{one.cells:,}",
            number(one.alpha or Fraction(0)),
            number(one.prior),
            percent(one.share or Fraction(0)),
        ]
        for one in found
    ]
    return heads, rows


def epsilon_words(power: float) -> str:
    """An epsilon of the slider, with few digits.

    >>> epsilon_words(0.0), epsilon_words(0.65), epsilon_words(-2.0)
    ('1', '4.5', '0.01')
    """
    return f"{10**power:.2g}"


def power_words(power: float) -> str:
    """A delta of the slider.

    >>> power_words(-5), power_words(NO_DELTA)
    ('1e-5', '0')
    """
    return "0" if power <= NO_DELTA else f"1e{int(power)}"


def delta_words(delta: Fraction) -> str:
    """A delta as people write it.

    >>> delta_words(Fraction(0)), delta_words(Fraction(1, 10**5)), delta_words(Fraction(1, 3))
    ('0', '1e-5', '1/3')
    """
    if not delta:
        return "0"
    power = round(math.log10(delta))
    return f"1e{power}" if power < -3 and delta == Fraction(10) ** power else plain(delta)


def describe_changes(terms: Mapping[str, Any], typed: Mapping[str, str]) -> str:
    """What is different from the plan, each number as it was typed.

    >>> describe_changes(
    ...     {"epsilon": Fraction(1, 10_000), "guarantee": "pdp", "accept": None},
    ...     {"epsilon": "0.0001", "accept": ""},
    ... )
    'epsilon 0.0001, guarantee pdp, accept left out'
    """
    return ", ".join(
        f"{key} {'left out' if value is None else typed.get(key, value)}"
        for key, value in terms.items()
    )


def as_number(text: str) -> Any:
    """A number as the plan writes it, exactly;
    what is none stays a text, and the plan says what is wrong with it.

    >>> (
    ...     as_number("1e-5") == Fraction(1, 100000),
    ...     as_number("ln(50)"),
    ...     as_number("4.6") == Fraction(23, 5),
    ...     as_number("1e999999999"),
    ... )
    (True, 'ln(50)', True, '1e999999999')
    """
    try:
        return values.number(text)
    except values.UnfitError:
        return text
