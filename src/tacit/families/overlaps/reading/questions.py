"""From a plan's check to a question about several views of one table:
the table, its views, their answers, the values.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.engines.base import Engine
from tacit.engines.sql import shapes_stored
from tacit.errors import (
    DataError,
    EngineError,
    Mark,
    PlanError,
    QueryError,
    TacitError,
    did_you_mean,
)
from tacit.families.microdata.reading.several_releases import SAME_ROWS
from tacit.families.overlaps.overlap import NOTHING, Integers, Overlap
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.reading.answer_rows import (
    FileRows,
    arranged,
    checked_with_data,
    numbered,
    people_fit,
    read_answer,
)
from tacit.families.overlaps.reading.microdata_views import MicrodataViews
from tacit.families.overlaps.reading.people_classes import (
    Assembled,
    EnginePeople,
    Telling,
    assembled,
)
from tacit.families.overlaps.reading.value_meanings import (
    check_inside,
    declared_domain,
    doubts,
    meanings_of,
    outside,
    possible_values,
    private_value,
    values_found,
)
from tacit.families.overlaps.reading.view_tables import KeyedTable, keyed
from tacit.families.overlaps.reading.views import OverlapView, ViewReader
from tacit.families.queries.reading.readings import Readings, readings_of
from tacit.families.words import listed
from tacit.families.words import people as some_people
from tacit.model.jobs import Job
from tacit.model.release import Microdata, View
from tacit.model.verdict import Assumption
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

GAMMA, RSIND = "gamma-privacy", "k-rsind"
NO_OTHER = Assumption(
    "no-other-release", "no other data about these people has been published", "no"
)
OTHER_TYPE = re.compile(
    r"\b(convert|conversion|cast|operator does not exist|invalid input syntax|type)", re.IGNORECASE
)  # what databases say of such conditions


def overlap_questions_of(opened: OpenPlan) -> OverlapQuestions:
    """The questions of an open plan about several views of one table."""
    return opened.once(
        OverlapQuestions,
        lambda: OverlapQuestions(
            opened.plan, readings_of(opened), lambda: opened.engine, opened.job
        ),
    )


class OverlapQuestions:
    """The questions of a plan about several views of one table.
    Each table is attached and looked at once.
    """

    def __init__(
        self, plan: Plan, readings: Readings, engine: Callable[[], Engine], job: Job | None = None
    ) -> None:
        self.plan = plan
        self.reader = ViewReader(plan, readings.dialect)
        self.job = job or Job()
        self._engine = engine
        self._people: dict[str, tuple[KeyedTable, MicrodataViews]] = {}

    def question(self, check: Check) -> OverlapQuestion:
        """The question that a check asks."""
        try:
            return self._question(check)
        except EngineError as error:
            raise self._in_a_view(check, error).at(self.plan.mark(*check.path)) from None
        except TacitError as error:
            raise error.at(self.plan.mark(*check.path)) from None

    def read(self, releases: Sequence[str], kind: str) -> None:
        """Read some releases as a question would, without counting anything;
        raises TacitError where they cannot be asked about together.
        """
        self._read(Check(kind, releases=tuple(releases)))

    def _read(self, check: Check) -> tuple[KeyedTable, tuple[OverlapView, ...]]:
        people, microdata = self._table(check)
        return people, tuple(self._view(name, people, microdata) for name in check.releases)

    def _question(self, check: Check) -> OverlapQuestion:
        people, views = self._read(check)
        given = {
            view.name: self._rows_of_file(view, people) for view in views if view.file is not None
        }
        if not people.is_known:
            self._check_answered(people, views)
        only_covered = check.kind == GAMMA
        is_about_values = only_covered or (
            check.kind == RSIND and check.parameters.get("variant") != "literal"
        )
        declared = declared_domain(people, self.plan)
        values = possible_values(people, views, given, declared, only_covered, self.plan)
        telling = Telling(people, views, values or ())
        counted = telling.counted()
        if values is None:
            values = values_found(telling, counted, only_covered)
        found = assembled(telling, counted, values)
        if people.is_known:
            check_inside(people, found, declared is not None, self.plan)
        shown = self._shown(people, found, given, values)
        kept = (
            np.flatnonzero((found.outputs != NOTHING).any(axis=(1, 2)))
            if only_covered
            else np.arange(len(counted.first))
        )
        strange = outside(people, found)
        current = found.current()[kept] if people.is_known and not strange else None
        overlap = Overlap(
            tuple(values), check.releases, found.outputs[kept], found.sizes[kept], shown, current
        )
        warnings = [
            f"{view.name} selects nobody"
            for view, many in zip(views, found.selected(shown), strict=True)
            if not many
        ]
        if strange:
            warnings.append(
                f"no view publishes the {people.sensitive} of {some_people(strange)} in the views; "
                f"taken to be one of those published. Say domains: {{{people.sensitive}: [...]}}"
            )
        return OverlapQuestion(
            check.releases,
            people.name,
            people.key,
            people.sensitive,
            people.public,
            overlap,
            found.answers,
            meanings_of(people.table, values),
            declared is not None,
            tuple(self._assumptions(people, views, overlap, declared is not None, only_covered)),
            (*warnings, *(doubts(people.table, values) if is_about_values else ())),
            EnginePeople(telling, counted, kept, values),
            self.job,
            "release"
            if any(isinstance(self.plan.releases[name], Microdata) for name in check.releases)
            else "view",
        )

    def _in_a_view(self, check: Check, error: EngineError) -> EngineError:
        """The same error at the view whose condition the database cannot compute, where there is
        one: all are asked in one statement.
        """
        if OTHER_TYPE.search(error.message) is None:
            return error
        people, _ = self._table(check)
        for name in check.releases:
            release = self.plan.releases[name]
            if not isinstance(release, View):
                continue
            condition = self.reader.read(release, people).condition
            try:
                deque(
                    people.engine.rows(
                        shapes_stored.stored_rows(people.name, {"b": condition.copy()})
                    ),
                    maxlen=0,
                )
            except EngineError as found:
                hint = (
                    "Its WHERE compares a column with a value of another type: text stands in "
                    "quotes, as in sex = '1', and a number does not, as in age = 30."
                )
                return EngineError(
                    f"{found.message.rstrip('.')}.",
                    hint=hint,
                    mark=self.plan.mark("releases", name, "query"),
                )
        return error

    # -- the table ---------------------------------------------------------------------------------

    def _table(self, check: Check) -> tuple[KeyedTable, MicrodataViews]:
        """The one table that all releases are about."""
        tables = {name: self.table_of(name) for name in check.releases}
        first = next(iter(tables))
        for name, table in tables.items():
            if table != tables[first]:
                raise PlanError(
                    f"{first!r} is about table {tables[first]!r}, and {name!r} about {table!r}: "
                    f"{check.kind} judges views of one table.",
                    hint="Ask about them in checks of their own, or put both into one table.",
                    mark=self.plan.mark(*check.path, "releases"),
                )
        if tables[first] not in self._people:
            people = keyed(self.plan.tables[tables[first]], self.plan, self._engine(), check.kind)
            self._people[tables[first]] = people, MicrodataViews(self.plan, people)
        return self._people[tables[first]]

    def table_of(self, name: str) -> str:
        """The table that a release is about."""
        release = self.plan.releases[name]
        if isinstance(release, View):
            return self.reader.table(release)
        assert isinstance(release, Microdata)
        return release.table

    # -- views and their answers -------------------------------------------------------------------

    def _view(self, name: str, people: KeyedTable, microdata: MicrodataViews) -> OverlapView:
        release = self.plan.releases[name]
        if isinstance(release, Microdata):
            return microdata.read(release)
        assert isinstance(release, View)
        view = self.reader.read(release, people)
        native = people.native.get(people.sensitive)
        if (
            view.tests
            and native
            and not people.engine.meaning(native).is_plain
            and people.kind != "decimal"
        ):
            raise QueryError(
                f"{name!r} tests {people.sensitive}, and only the database knows how values of "
                f"type {native} compare.",
                code="implicit-cast",
                hint="Make it text, a number or a date, or leave it out of WHERE.",
                mark=self.plan.mark("releases", name, "query"),
            )
        return view

    def _rows_of_file(self, view: OverlapView, people: KeyedTable) -> FileRows:
        assert view.file is not None
        try:
            given = arranged(read_answer(self.plan.folder, view.file), view)
            return given.converted(
                view.private, lambda cell: private_value(people, cell, view.file)
            )
        except TacitError as error:
            raise error.at(self._answer_mark(view)) from None

    def _answer_mark(self, view: OverlapView) -> Mark | None:
        key = "file" if isinstance(self.plan.releases[view.name], Microdata) else "answer"
        return self.plan.mark("releases", view.name, key)

    def _check_answered(self, people: KeyedTable, views: Iterable[OverlapView]) -> None:
        """Where the private values are not there, every view needs an answer."""
        for view in views:
            if view.file is None:
                raise DataError(
                    f"table {people.name} has no column {people.sensitive!r}, and {view.name!r} "
                    "has no answer.",
                    hint=(
                        "Give the table that column, or the view its answer (answer: "
                        f"FILE.csv). {did_you_mean(people.sensitive, people.native)}"
                    ),
                    mark=self.plan.mark("releases", view.name),
                )

    def _shown(
        self,
        people: KeyedTable,
        found: Assembled,
        given: Mapping[str, FileRows],
        values: Sequence[Any],
    ) -> Integers:
        """How often each row was published, by the data or by files,
        which must not contradict the data.
        """
        shown = found.shown() if people.is_known else np.zeros(found.rows, dtype=np.int64)
        for view, answer, many in zip(
            found.telling.views, found.answers, found.shown_people, strict=True
        ):
            if view.file is None:
                continue
            told = numbered(given[view.name], view, answer, values)
            try:
                if people.is_known:
                    checked_with_data(
                        told,
                        view,
                        shown[answer.first :][: answer.rows(len(values))],
                        answer,
                        values,
                    )
                else:
                    people_fit(told, view, answer, many, len(values))
                    shown[answer.first :][: answer.rows(len(values))] = told.counts if values else 0
            except TacitError as error:
                raise error.at(self._answer_mark(view)) from None
        return shown

    # -- what is relied on -------------------------------------------------------------------------

    def _assumptions(
        self,
        people: KeyedTable,
        views: Sequence[OverlapView],
        overlap: Overlap,
        is_declared: bool,
        only_covered: bool,
    ) -> Iterable[Assumption]:
        yield NO_OTHER
        known = f"everybody's {listed(people.public)}" if people.public else "who is in the table"
        yield Assumption("public-columns-known", f"everybody knows {known}", "cannot")
        if people.table.keys or people.table.person:
            named = bool(people.table.person) or set(people.key) <= set(people.table.identifiers)
            yield Assumption(
                "one-row-per-person", "each row is one person", "yes" if named else "no"
            )
        else:
            yield SAME_ROWS
        told = [at for at, view in enumerate(views) if view.private is not None and not view.tests]
        could = (overlap.outputs != NOTHING).any(axis=2)
        if not is_declared and bool((could.any(axis=1) & ~could[:, told].any(axis=1)).any()):
            where = (
                "the views publish" if only_covered or overlap.current is None else "the table has"
            )
            yield Assumption(
                "values-as-seen",
                f"everybody's {people.sensitive} is one of those that {where}",
                "no",
            )
