"""A copy together with those that are published: what somebody learns who has both, and where
levels are looked for beside them.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence

from nicegui import ui

from tacit.checking.holdings.ledgers import released_names
from tacit.errors import TacitError
from tacit.families.microdata.attacks.stories import Story
from tacit.model.release import Microdata
from tacit.plan.plan import Plan
from tacit.plan.read.references import LEDGER
from tacit.report.attack_report import story_chart
from tacit.workbench.bench import Visit
from tacit.workbench.parts.notices import notice
from tacit.workbench.parts.pictures import picture
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks.second_release import tell_together
from tacit.workbench.work import Work

STORY = "second release"
NO_COPY = (
    "No other copy of this table is published that can be judged together with it. Where one "
    "is, the "
    "checks say why not."
)


async def show(visit: Visit, release: Microdata) -> None:
    """The section, where something else is published."""
    plan = await to_thread(visit.book.plan)
    if await to_thread(others_out, plan, release.name):
        TogetherSection(visit, release, drafts_of(plan, release)).show()


def others_out(plan: Plan, name: str) -> bool:
    """Is anything published besides this release? It may be, where the ledger cannot be read.
    Blocks.
    """
    try:
        known = released_names(plan)
    except TacitError:
        return True
    return bool({*plan.published, *known} - {name, LEDGER})


def drafts_of(plan: Plan, release: Microdata) -> list[str]:
    """Releases of the same table for which levels can be looked for: itself, or where it is a
    file others that are none.
    """
    if release.file is None:
        return [release.name]
    return [
        one.name
        for one in plan.of(Microdata).values()
        if one.table == release.table
        and one.file is None
        and any(one.name in check.releases for check in plan.checks)
    ]


class TogetherSection:
    """A button that asks for the story, a link to the search, and the story."""

    def __init__(self, visit: Visit, release: Microdata, drafts: Sequence[str]) -> None:
        self.visit, self.name, self.drafts = visit, release.name, drafts

    def show(self) -> None:
        """Room for both."""
        with (
            ui.element("section")
            .classes("card")
            .props('aria-label="Together with what is published" data-testid="together"')
        ):
            ui.html("Together with what is published", tag="h2", sanitize=False)
            ui.label(
                "Whoever has another copy of the same table may know more by both than by each."
            ).classes("muted")
            with ui.element("div").classes("toolbar"):
                ui.button("What do both tell?", on_click=self._start).props(
                    'outline no-caps data-testid="tell-together"'
                )
                for name in self.drafts:
                    of = "" if name == self.name else f" for {name}"
                    ui.link(
                        f"Look for levels{of} beside what is published",
                        self.visit.link("repair", name),
                    ).mark("search-beside")
            self._place = ui.element("div").classes("stack").props('aria-live="polite"')
        works, key = self.visit.book.works, self._key()
        if (last := works.latest(STORY, key)) is not None and not last.over:
            self._follow(last)

    def _key(self) -> str:
        return f"{self.name} {self.visit.book.digest()}"

    def _start(self) -> None:
        book = self.visit.book
        title = f"Asking what {self.name} tells together with what is published"
        self._follow(
            book.works.start(
                STORY, title, tell_together, book.path, book.reach, self.name, key=self._key()
            )
        )

    def _follow(self, work: Work) -> None:
        self._place.clear()
        with self._place:
            show_work(work, self._ended)

    def _ended(self, work: Work) -> None:
        if work.state != "done":
            return
        self._place.clear()
        with self._place:
            for one in work.result:
                self._tell(one)
            if not work.result:
                notice(NO_COPY, "info")

    def _tell(self, story: Story) -> None:
        ui.label(f"{story.headline}.").style("font-weight: 600").props(
            'data-testid="together-headline"'
        )
        if story.text:
            ui.label(story.text).classes("story")
        if (chart := story_chart(story, "owner")) is not None:
            picture(self.visit, chart, f"{self.name} together")
