"""Classes of people, told apart where the rows live:
one GROUP BY over what each value would put into each view.

A condition that does not look at the private column is one bit, one that does a bit for each value.
What a view shows of a person is text, and nothing where it could never show that person. So only
classes and their sizes leave the engine, and people are looked up there when somebody asks for
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from tacit.engines.sql import shapes, shapes_stored
from tacit.engines.sql.shapes_conditions import BITS, any_of, in_words
from tacit.errors import DataError, EngineError, InputError
from tacit.families.microdata.counts import pack_codes
from tacit.families.overlaps.overlap import NOTHING
from tacit.families.overlaps.question import ViewAnswer
from tacit.families.words import plural
from tacit.model.deadline import look

if TYPE_CHECKING:
    from tacit.families.overlaps.overlap import Integers
    from tacit.families.overlaps.question import Key
    from tacit.families.overlaps.reading.view_tables import KeyedTable
    from tacit.families.overlaps.reading.views import OverlapView

    Booleans = np.ndarray[Any, np.dtype[np.bool_]]

MOST_BITS = 6_000  # in all conditions, for all values that they are tried with
FEW_VALUES = 16  # are tried on everybody
MOST_COMBINATIONS = 100_000  # of public values, on which more are tried first
MOST_CLASSES = 2_000_000
MOST_CELLS = 100_000_000  # classes times views times values
BATCH = 100_000


class Telling:
    """The SQL that tells people apart by some views.
    `values` are tried in conditions that look at the private column.
    """

    def __init__(
        self, people: KeyedTable, views: Sequence[OverlapView], values: Sequence[Any]
    ) -> None:
        self.people = people
        self.views = views
        conditions: list[exp.Expr] = []
        shown: list[exp.Expr] = []
        self.bits: list[
            range
        ] = []  # of each view: one, or one for each value that makes a difference
        self.alike = [alike_in(people, view, values) for view in views]
        self.truths: list[
            int | None
            # the bit that says whether a view that tests the private column does select a person
        ] = []
        truths: list[exp.Expr] = []
        self.columns: list[range] = []  # of each view
        check_few(people, sum(len(np.unique(one)) for one in self.alike), len(values))
        for view, alike in zip(views, self.alike, strict=True):
            own = (
                [view.selects(people, values[at]) for at in np.unique(alike).tolist()]
                if view.tests
                else [view.condition.copy()]
            )
            self.bits.append(range(len(conditions), len(conditions) + len(own)))
            conditions += own
            self.truths.append(len(truths) if view.tests and people.is_known else None)
            truths += [view.condition.copy()] if view.tests and people.is_known else []
            could = own[0] if not view.tests else any_of(own)
            self.columns.append(range(len(shown), len(shown) + len(view.shown)))
            collation = people.engine.collation
            shown += [
                shapes_stored.text_where(could.copy(), one.expression.copy(), collation)
                for one in view.shown
                if one.expression is not None
            ]
        self.words = in_words("b", conditions)
        self.does = in_words(
            "a", truths
        )  # beside what they could: it must follow from the class and the value
        self.shown = {f"s{at}": one for at, one in enumerate(shown)}
        self.value = {"v": people.read(people.sensitive)} if people.is_known else {}
        self.keys = {f"k{at}": people.read(name) for at, name in enumerate(people.key)}

    def rows(self, *outputs: Mapping[str, exp.Expr]) -> exp.Select:
        """Everybody, with some of these columns."""
        labels = {alias: one for view in self.views for alias, one in view.labels.items()}
        return shapes_stored.stored_rows(
            self.people.name,
            {name: one for some in outputs for name, one in some.items()},
            labels=labels,
        )

    def counted(self) -> ClassCounts:
        """How many people there are of each class with each value."""
        names = [*self.words, *self.does, *self.shown, *self.value]
        rows = self.people.engine.rows(
            shapes.tallied(self.rows(self.words, self.does, self.shown, self.value), names)
        )
        codes: list[dict[Any, int]] = [{} for _ in (*self.shown, *self.value)]
        parts: list[list[Integers]] = [[] for _ in (*names, "n")]
        wide = len(self.words) + len(self.does)
        fetched = 0
        while batch := list(islice(rows, BATCH)):
            look()
            if fetched <= MOST_CLASSES < fetched + len(batch):
                self._check_size()
            fetched += len(batch)
            for at, column in enumerate(zip(*batch, strict=True)):
                if wide <= at < len(names):
                    known = codes[at - wide]
                    column = tuple(known.setdefault(value, len(known)) for value in column)
                parts[at].append(np.array(column, dtype=np.int64))
        arrays = [np.concatenate(part) if part else np.zeros(0, dtype=np.int64) for part in parts]
        texts = [in_order(known) for known in codes[: len(self.shown)]]
        shown = [
            order[column]
            for (order, _), column in zip(texts, arrays[wide : wide + len(texts)], strict=True)
        ]
        value = arrays[-2] if self.value else np.full(len(arrays[-1]), -1, dtype=np.int64)
        bits = arrays[: len(self.words)], arrays[len(self.words) : wide]
        return ClassCounts(
            *bits,
            shown,
            [some for _, some in texts],
            list(codes[-1]) if self.value else [],
            value,
            arrays[-1],
        )

    def _check_size(self) -> None:
        """Many rows may be few classes with many values, or too many classes:
        the engine counts them.
        """
        many = self.people.engine.value(shapes.different_rows(self.rows(self.words, self.shown)))
        if many > MOST_CLASSES:
            raise DataError(
                f"the views tell {many:,} classes of people apart, and up to {MOST_CLASSES:,} "
                "are judged.",
                hint="Show fewer columns, or coarser ones: who is alone in a class has no crowd.",
            )


def check_few(people: KeyedTable, conditions: int, values: int) -> None:
    """Conditions are tried with all values, and there is an end to that."""
    if conditions > MOST_BITS:
        raise DataError(
            f"{people.sensitive} has {values:,} values, and the conditions would be tried with "
            f"each of them: {conditions:,} conditions.",
            hint=(
                f"Up to {MOST_BITS:,} are tried. Leave views that test {people.sensitive} "
                "out, or show it instead of testing it."
            ),
        )


def alike_in(people: KeyedTable, view: OverlapView, values: Sequence[Any]) -> Integers:
    """For each value the place of the first with which a view selects
    the same people, whoever they are.

    With few values each may stand for itself. With many the condition is tried on the combinations
    of public values that it looks at, of which there are fewer than people.
    """
    if not view.tests:
        return np.zeros(1, dtype=np.int64)
    every = np.arange(len(values))
    if len(values) <= FEW_VALUES:
        return every
    check_few(people, len(values), len(values))
    names = {one.name for one in view.condition.find_all(exp.Column)} - {people.sensitive}
    over: dict[str, exp.Expr] = {name: shapes.column(name, "t") for name in sorted(names)}
    if people.is_known:
        over[people.sensitive] = shapes_stored.nothing_like(people.sensitive)
    if not over:
        return every
    words = in_words("b", [view.selects(people, value) for value in values])
    query = shapes_stored.stored_rows(people.name, words, over=over)
    rows = list(islice(people.engine.rows(query), MOST_COMBINATIONS + 1))
    if len(rows) > MOST_COMBINATIONS:
        return every
    group = np.zeros(len(values), dtype=np.int64)
    for row in sorted(set(rows)):
        told = np.array(
            [row[at // BITS] >> (at % BITS) & 1 for at in range(len(values))], dtype=np.int64
        )
        group = np.unique(2 * group + told, return_inverse=True)[1].reshape(-1)
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    found: Integers = first[group.reshape(-1)]
    return found


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Combinations of a class and a value, with how many people each has.

    `words` are the bits of what views could do, `does` of what they do, and `shown` the codes of
    the texts, by column; `texts` are the texts themselves, sorted. `value` is the place of the
    value in `found`, -1 where it is not known.
    """

    words: list[Integers]
    does: list[Integers]
    shown: list[Integers]
    texts: list[list[str | None]]
    found: list[Any]
    value: Integers
    many: Integers
    first: Integers = field(init=False)
    class_: Integers = field(init=False)

    def __post_init__(self) -> None:
        dense = [np.unique(word, return_inverse=True) for word in self.words]
        codes = [inverse.reshape(-1) for _, inverse in dense] + self.shown
        sizes = [len(known) for known, _ in dense] + [max(len(some), 1) for some in self.texts]
        packed, _ = pack_codes(codes, sizes, len(self.many))
        _, first, class_ = np.unique(packed, return_index=True, return_inverse=True)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "class_", class_.reshape(-1))

    def could(self, places: Sequence[int], rows: Integers) -> Booleans:
        """Some bits of some combinations: one row for each, one column for each bit."""
        found = np.zeros((len(rows), len(places)), dtype=bool)
        for at, place in enumerate(places):
            found[:, at] = bit(self.words, place, rows)
        return found


def bit(words: Sequence[Integers], place: int, rows: Integers) -> Booleans:
    """One bit of some combinations."""
    found: Booleans = ((words[place // BITS][rows] >> (place % BITS)) & 1).astype(bool)
    return found


def in_order(codes: Mapping[str | None, int]) -> tuple[Integers, list[str | None]]:
    """Texts sorted, the missing one last, and for each code that they were given the place."""
    texts = sorted(codes, key=lambda text: (text is None, text or ""))
    order = np.zeros(len(texts), dtype=np.int64)
    order[[codes[text] for text in texts]] = np.arange(len(texts))
    return order, texts


@dataclass(frozen=True, slots=True)
class Assembled:
    """What each class puts into each view: `outputs` as an Overlap has them, and how many people
    have what a view shows.

    `value` is the number of each combination's value, -1 where it is none of the values.
    """

    telling: Telling
    counted: ClassCounts
    outputs: Integers
    answers: tuple[ViewAnswer, ...]
    value: Integers
    shown_people: tuple[Integers, ...]

    @property
    def rows(self) -> int:
        """How many numbers of rows there are, that of no row among them."""
        last = self.answers[-1]
        return last.first + last.rows(self.outputs.shape[2])

    @property
    def sizes(self) -> Integers:
        """How many people each class has."""
        found = np.zeros(len(self.counted.first), dtype=np.int64)
        np.add.at(found, self.counted.class_, self.counted.many)
        return found

    def shown(self) -> Integers:
        """How often each row stands in the answers that the data give."""
        counted, found = self.counted, np.zeros(self.rows, dtype=np.int64)
        for at, (view, truth) in enumerate(
            zip(self.telling.views, self.telling.truths, strict=True)
        ):
            # Whom a view selects whatever their value, and of whom it shows no private value, puts
            # the same row into it with any.
            any_value = (
                np.maximum(self.value, 0) if view.private is None and not view.tests else self.value
            )
            known = (
                np.flatnonzero(any_value >= 0)
                if self.outputs.shape[2]
                else np.zeros(0, dtype=np.int64)
            )
            rows = self.outputs[counted.class_[known], at, any_value[known]]
            if truth is not None and bool(
                ((rows != NOTHING) != bit(counted.does, truth, known)).any()
            ):
                raise EngineError(
                    f"{view.name!r} selects people in another way than by their "
                    f"{self.telling.people.sensitive} alone.",
                    hint=(
                        "The database compares the column in a way that Tacit does not know; "
                        "show the column instead of testing it."
                    ),
                )
            np.add.at(found, rows, counted.many[known])
        found[NOTHING] = 0
        return found

    def selected(self, shown: Integers) -> list[int]:
        """How many people each view selects, where the private column decides by the answers."""
        wide = self.outputs.shape[2]
        return [
            int(
                shown[answer.first : answer.first + answer.rows(wide)].sum()
                if view.tests
                else people.sum()
            )
            for view, answer, people in zip(
                self.telling.views, self.answers, self.shown_people, strict=True
            )
        ]

    def outside(self) -> Booleans:
        """The combinations whose value is none of the values, of people whom some view could
        show or does show.
        """
        counted = self.counted
        does = np.zeros(len(counted.many), dtype=bool)
        for truth in self.telling.truths:
            if truth is not None:
                does |= bit(counted.does, truth, np.arange(len(does)))
        could: Booleans = (self.outputs != NOTHING).any(axis=(1, 2))
        found: Booleans = (self.value < 0) & (does | could[counted.class_])
        return found

    def current(self) -> Integers:
        """How many people of each class have which value."""
        found = np.zeros((len(self.counted.first), self.outputs.shape[2]), dtype=np.int64)
        known = self.value >= 0
        np.add.at(found, (self.counted.class_[known], self.value[known]), self.counted.many[known])
        return found


def assembled(telling: Telling, counted: ClassCounts, values: Sequence[Any]) -> Assembled:
    """Number the rows of the views, and say which of them each class
    puts into its view with each value.
    """
    classes, wide = len(counted.first), len(values)
    if classes * wide * len(telling.views) > MOST_CELLS:
        raise DataError(
            f"{classes:,} classes of people with {wide:,} values in "
            f"{plural('view', len(telling.views))} are too many to look at.",
            hint=f"Up to {MOST_CELLS:,} in all are looked at. Show fewer columns, or coarser ones.",
        )
    outputs = np.zeros((classes, len(telling.views), wide), dtype=np.int64)
    sizes = np.zeros(classes, dtype=np.int64)
    np.add.at(sizes, counted.class_, counted.many)
    answers: list[ViewAnswer] = []
    people = []
    first = NOTHING + 1
    for at, (view, places, columns) in enumerate(
        zip(telling.views, telling.bits, telling.columns, strict=True)
    ):
        selects = counted.could(places, counted.first)
        if view.tests:  # a bit stands for all values that are alike
            selects = selects[:, np.unique(telling.alike[at], return_inverse=True)[1].reshape(-1)]
        could = np.flatnonzero(selects.any(axis=1))
        codes = [counted.shown[column][counted.first[could]] for column in columns]
        packed, _ = pack_codes(
            codes, [max(len(counted.texts[column]), 1) for column in columns], len(could)
        )
        known, example, place = np.unique(packed, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        shown = [
            tuple(
                counted.texts[column][code[one]]
                for column, code in zip(columns, codes, strict=True)
            )
            for one in example.tolist()
        ]
        answer = ViewAnswer(
            tuple(one.name for one in view.columns), shown, first, view.private, view.file
        )
        numbers = first + place[:, None] * (1 if view.private is None else wide)
        block = numbers + (np.arange(wide)[None, :] if view.private is not None else 0)
        outputs[could, at, :] = np.where(selects[could], block, NOTHING)
        people.append(
            np.bincount(place, weights=sizes[could], minlength=len(known)).astype(np.int64)
        )
        answers.append(answer)
        first += answer.rows(wide)
    number = {value: place for place, value in enumerate(values)}
    code = np.array([number.get(value, -1) for value in counted.found] or [-1], dtype=np.int64)
    return Assembled(telling, counted, outputs, tuple(answers), code[counted.value], tuple(people))


class EnginePeople:
    """People, looked up in the engine by what tells their class apart.
    `kept` are the classes, by their places, that count.
    """

    def __init__(
        self, telling: Telling, counted: ClassCounts, kept: Integers, values: Sequence[Any]
    ) -> None:
        self.telling = telling
        self.counted = counted
        self.kept = kept
        self.values = values
        engine = telling.people.engine
        text = [
            engine.meaning(telling.people.native[name]).kind == "text"
            for name in telling.people.key
        ]
        self.collations = {
            name: engine.collation
            for name, one in zip(telling.keys, text, strict=True)
            if one and engine.collation
        }

    def members(self, class_: int, limit: int, value: int | None) -> list[Key]:
        """The first people of a class, with some value or with any."""
        telling = self.telling
        if value is not None and not telling.value:
            return []
        told: dict[str, Any] = dict(
            zip((*telling.words, *telling.shown), self._signature(class_), strict=True)
        )
        if value is not None:
            told["v"] = self.values[value]
        query = shapes.ordered(
            telling.rows(telling.keys, telling.words, telling.shown, telling.value),
            [*telling.keys],
            equal=told,
            by=[*telling.keys],
            collations=self.collations,
            limit=limit,
        )
        return list(telling.people.engine.rows(query))

    def everyone(self, limit: int | None) -> Iterator[tuple[Key, int, int | None]]:
        """The first people of all classes: key, class, and the number
        of the value where it is known.
        """
        telling = self.telling
        outputs = (telling.keys, telling.words, telling.shown, telling.value)
        whole = len(self.kept) == len(self.counted.first)
        query = shapes.ordered(
            telling.rows(*outputs),
            [name for some in outputs for name in some],
            by=[*telling.keys],
            collations=self.collations,
            limit=limit if whole else None,
        )
        numbers = {value: number for number, value in enumerate(self.values)}
        wide, end = len(telling.keys), len(telling.keys) + len(telling.words) + len(telling.shown)
        found = (
            (row[:wide], class_, numbers.get(row[end]) if telling.value else None)
            for row in telling.people.engine.rows(query)
            if (class_ := self._numbers.get(row[wide:end])) is not None
        )
        return islice(found, limit)

    def class_of(self, key: Key) -> int | None:
        """The class of a person; None for somebody who is not there or is left out."""
        telling = self.telling
        if len(key) != len(telling.keys):
            raise InputError(
                f"{key!r} is no key of {telling.people.name}.",
                hint=f"Give {', '.join(telling.people.key)}.",
            )
        query = shapes.ordered(
            telling.rows(telling.keys, telling.words, telling.shown),
            [*telling.words, *telling.shown],
            equal=dict(zip(telling.keys, key, strict=True)),
            by=[*telling.words],
            limit=1,
        )
        row = next(telling.people.engine.rows(query), None)
        return None if row is None else self._numbers.get(row)

    def _signature(self, class_: int) -> tuple[Any, ...]:
        """What tells a class apart: bits, and texts."""
        row = int(self.counted.first[self.kept[class_]])
        words = (int(word[row]) for word in self.counted.words)
        texts = (
            some[int(codes[row])]
            for some, codes in zip(self.counted.texts, self.counted.shown, strict=True)
        )
        return *words, *texts

    @cached_property
    def _numbers(self) -> dict[tuple[Any, ...], int]:
        return {self._signature(class_): class_ for class_ in range(len(self.kept))}
