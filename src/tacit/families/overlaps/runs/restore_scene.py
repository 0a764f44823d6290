"""Scene: the people behind a check, everybody's public columns, and the conditions that further
views may have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from sqlglot import exp

from tacit.engines.base import SHORTEST
from tacit.engines.sql import shapes, shapes_stored
from tacit.engines.sql.shapes_drafted import of_class
from tacit.errors import DataError, InputError, did_you_mean
from tacit.families.overlaps.meanings import meanings
from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.question import Key, OverlapQuestion
from tacit.families.overlaps.reading.people_classes import EnginePeople
from tacit.families.overlaps.reading.questions import overlap_questions_of
from tacit.families.overlaps.reading.views import KeyedTable
from tacit.families.overlaps.restore.candidates import Condition, candidates
from tacit.families.overlaps.restore.disclosed_views import IN_NO_VIEW, DisclosedViews, Flags
from tacit.families.overlaps.runs import view_drafts
from tacit.families.queries.reading.readings import readings_of
from tacit.model.release import View
from tacit.plan.open_plan import OpenPlan

MOST_PEOPLE = 20_000  # in the views
MOST_ROWS = 100_000  # of the table
KINDS = ("integer", "decimal", "date", "timestamp", "boolean", "text")
Signs = Mapping[str, bool]  # which releases select somebody


@dataclass(frozen=True, eq=False)
class RestoreScene:
    """Everybody of a table: keys, public columns, and what is published about them."""

    opened: OpenPlan
    question: OverlapQuestion
    out: DisclosedViews
    keys: Sequence[Key]
    columns: Mapping[str, Sequence[Any]]
    values: tuple[Any, ...]

    @property
    def dialect(self) -> str:
        """The SQL of the source."""
        return readings_of(self.opened).dialect

    @cached_property
    def conditions(self) -> Mapping[str, exp.Expr]:
        """The conditions of the releases, where each of them is a view that shows the sensitive
        column alone; else none.
        """
        people = keyed(self.question)
        found = {}
        for name in self.question.releases:
            release = self.opened.plan.releases[name]
            if not isinstance(release, View):
                return {}
            view = overlap_questions_of(self.opened).reader.read(release, people)
            if view.tests or view.private is None or view.shown:
                return {}
            found[name] = view.condition
        return found

    def seen_as(self, question: OverlapQuestion) -> RestoreScene:
        """The same people as another adversary sees them."""
        check_known(question)
        true = [self.values[number] for number in self.out.value.tolist()]
        out, values = disclosed(self.opened, question, self.keys, true, self.out.gamma)
        return replace(self, question=question, out=out, values=values)

    def signs(self, class_: int) -> Signs:
        """Which releases have to select somebody, and which not, to mean this class alone."""
        inside = (self.out.overlap.outputs != 0).any(axis=2)
        own = inside[class_]
        alike = inside[inside[:, own].all(axis=1)]  # classes that all of its releases select
        needed = own | alike.any(axis=0)
        return {name: bool(own[at]) for at, name in enumerate(self.question.releases) if needed[at]}

    def names_people(self, condition: Condition | Signs) -> bool:
        """Is a condition on a column that says who somebody is?"""
        table = self.opened.plan.tables[self.question.table]
        names = {*self.question.key, *table.identifiers, *table.person}
        if isinstance(condition, Mapping):
            return any(
                column.name in names
                for release in condition
                for column in self.conditions[release].find_all(exp.Column)
            )
        return any(one.column in names for one in condition)

    def query(self, condition: Condition | Signs) -> str:
        """The SQL of a further view."""
        if isinstance(condition, Mapping):
            missing = [name for name, values in self.columns.items() if None in values]
            known = {name: self.conditions[name] for name in condition}
            tree = of_class(known, condition, missing, self.dialect)
        else:
            tree = view_drafts.written(condition, self.dialect)
        return view_drafts.query(self.question.table, self.question.sensitive, tree, self.dialect)

    def candidates(self, names: Sequence[str]) -> Choices:
        """The conditions on some columns, and where that can be said in
        SQL the classes of what is published.
        """
        focus = self.out.is_covered
        found = candidates({name: self.columns[name] for name in names}, focus=focus)
        conditions: list[Condition | Signs] = list(found.conditions)
        members = [found.members]
        if self.conditions:
            known = {one.tobytes() for one in found.members}
            for class_ in range(len(self.out.overlap.sizes)):
                flags = self.out.class_of == class_
                if flags.tobytes() not in known:
                    conditions.append(self.signs(class_))
                    members.append(flags[None])
        return Choices(
            tuple(names),
            tuple(conditions),
            np.concatenate(members),
            found.considered,
            found.thinned,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The candidates for further views: a condition each, and whom it selects."""

    columns: tuple[str, ...]
    conditions: tuple[Condition | Signs, ...]
    members: Flags
    considered: int
    thinned: tuple[str, ...]


def keyed(question: OverlapQuestion) -> KeyedTable:
    """The table of a question."""
    assert isinstance(question.people, EnginePeople)
    return question.people.telling.people


def scene_of(opened: OpenPlan, question: OverlapQuestion, gamma: Fraction) -> RestoreScene:
    """Look up everybody: key, class, value, and public columns."""
    people = keyed(question)
    check_known(question)
    names = usable(people)
    outputs = {f"k{at}": people.read(name) for at, name in enumerate(people.key)}
    outputs |= {f"c{at}": people.read(name) for at, name in enumerate(names)} | {
        "v": people.read(people.sensitive)
    }
    wide = len(people.key)
    rows = sorted(
        people.engine.rows(shapes_stored.stored_rows(people.name, outputs)),
        key=lambda row: tuple(map(str, row[:wide])),
    )
    keys = [tuple(row[:wide]) for row in rows]
    out, values = disclosed(opened, question, keys, [row[-1] for row in rows], gamma)
    columns = {name: [row[wide + at] for row in rows] for at, name in enumerate(names)}
    return RestoreScene(opened, question, out, keys, columns, values)


def disclosed(
    opened: OpenPlan,
    question: OverlapQuestion,
    keys: Sequence[Key],
    true: Sequence[Any],
    gamma: Fraction,
) -> tuple[DisclosedViews, tuple[Any, ...]]:
    """What is published about some people, of whom the true values are given; and all values."""
    classes = {key: class_ for key, class_, _ in question.everyone()}
    values, numbers = numbered(question.overlap.values, true)
    out = DisclosedViews(
        question.overlap,
        np.array([classes.get(key, IN_NO_VIEW) for key in keys], dtype=np.int64),
        numbers,
        gamma,
        meanings_of(opened, question, values),
    )
    if not out.is_true():
        raise DataError(
            "the table does not give the views the answers that were published.",
            hint="Correct the table or the answer files.",
        )
    return out, values


def check_known(question: OverlapQuestion) -> None:
    """Refuse what is too large to search, or of which not all is known."""
    people = keyed(question)
    if not people.table.keys:
        raise DataError(
            f"further views are about people, and nothing tells the people in {people.name!r} "
            "apart.",
            hint="Add key: [COLUMN] to the table.",
        )
    check_size(question, people.engine.value(shapes.row_count(people.name)))
    if not people.is_known or question.overlap.current is None:
        raise DataError(
            f"the true {question.sensitive} of everybody in the views is needed to publish more "
            "of it.",
            hint=f"Give the table its column {question.sensitive!r}."
            if not people.is_known
            else (
                f"Say domains: {{{question.sensitive}: [...]}}: some people have one that no "
                "view publishes."
            ),
        )


def meanings_of(
    opened: OpenPlan, question: OverlapQuestion, values: Sequence[Any]
) -> tuple[tuple[int, ...], ...]:
    """Which values may mean the same, also among those that no view shows yet."""
    if len(values) == len(question.overlap.values):
        return question.meanings
    table = opened.plan.tables[question.table]
    plain = question.sensitive in table.as_written
    return meanings(
        values,
        unknown=table.unknown.get(question.sensitive),
        merge_spelling=not plain,
        guess_unknown=not plain,
    )


def numbered(known: Sequence[Any], values: Sequence[Any]) -> tuple[tuple[Any, ...], Integers]:
    """All values, those that are known first, and the number of each person's."""
    place = {value: at for at, value in enumerate(known)}
    for value in sorted(set(values) - set(place), key=lambda one: (one is None, str(one))):
        place[value] = len(place)
    return tuple(place), np.array([place[value] for value in values], dtype=np.int64)


def check_size(question: OverlapQuestion, rows: int) -> None:
    """Refuse what is too large to search."""
    if question.overlap.people > MOST_PEOPLE:
        raise DataError(
            f"{question.overlap.people:,} people are in the views, and restore looks at up to "
            f"{MOST_PEOPLE:,}.",
            hint="Ask about views of a part of the table, or publish less.",
        )
    if rows > MOST_ROWS:
        raise DataError(
            f"table {question.table} has {rows:,} rows, and restore looks at up to {MOST_ROWS:,}: "
            "a further view may show any of them.",
            hint="Make a table of the people that further views may show, and ask about that.",
        )


def usable(people: KeyedTable) -> list[str]:
    """The columns that a condition may be about:
    those whose values are what the database compares.
    """
    found = []
    for name in (*people.key, *people.public):
        meaning = people.engine.meaning(people.native[name])
        if meaning.kind in KINDS and (
            meaning.is_plain or (meaning.kind == "decimal" and meaning.changed != SHORTEST)
        ):
            found.append(name)
    return found


def chosen_columns(scene: RestoreScene, asked: Sequence[str] | None) -> list[str]:
    """The columns of conditions: those asked for, else all public ones that name nobody."""
    question = scene.question
    if asked is None:
        identifiers = scene.opened.plan.tables[question.table].identifiers
        found = [
            name for name in scene.columns if name not in question.key and name not in identifiers
        ]
        if not found and not scene.conditions:
            raise InputError(
                "there is no public column for conditions of further views.",
                hint="Name some with --columns, for example the key's.",
            )
        return found
    for name in asked:
        if name == question.sensitive:
            raise InputError(
                f"{name!r} is what the views show; a condition on it would tell more.",
                hint="Leave it out of --columns.",
            )
        if name not in scene.columns:
            raise InputError(
                f"--columns {name}: {question.table} has no such column to put a condition on.",
                hint=did_you_mean(name, scene.columns),
            )
    return list(dict.fromkeys(asked))
