"""Stages: everybody's largest belief after each release, against every table there could be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from tacit.families.overlaps import stages as module
from tacit.families.overlaps.meanings import meanings
from tacit.families.overlaps.overlap import Overlap, overlap_of
from tacit.families.overlaps.question import Key, OverlapQuestion, ViewAnswer
from tacit.families.overlaps.stages import TOO_LARGE, TOO_LONG, TOO_MANY, stages
from tacit.model.jobs import Cancelled, Job

MALES, OLDER = ["Heart", "SARS", "SARS", "Viral"], ["Flu", "SARS", "SARS", "Viral"]
ILL = ["Flu", "Heart", "SARS", "Viral"]
PAPER = [[0], [0], [0], [0, 1], [1], [1], [1]]


class Numbered:
    """People who are called by the number of their class."""

    def members(self, class_: int, limit: int, value: int | None) -> list[Key]:
        return [(f"person {class_}",)][:limit]

    def everyone(self, limit: int | None) -> Any:
        return iter(())

    def class_of(self, key: Key) -> int | None:
        return None


def question_of(
    values: Sequence[Any],
    answers: Sequence[Sequence[Any]],
    members: Sequence[Sequence[int]],
    **more: Any,
) -> OverlapQuestion:
    """Views that show the private value of some people each, each person a class."""
    overlap = overlap_of(values, answers, members)
    seen = tuple(
        ViewAnswer(("condition",), ((),), 1 + number * len(values), 0)
        for number in range(len(answers))
    )
    names = tuple(f"v{number}" for number in range(1, len(answers) + 1))
    return OverlapQuestion(
        names,
        "patients",
        ("name",),
        "condition",
        (),
        overlap,
        seen,
        **{"meanings": meanings(values), "people": Numbered(), **more},
    )


def test_the_papers_example_before_and_after_the_second_view() -> None:
    found = stages(question_of(ILL, [MALES, OLDER], PAPER))
    first, last = found.stages
    assert [first.release, last.release] == ["v1", "v2"]
    assert {class_: one.least for class_, one in first.largest.items()} == dict.fromkeys(
        range(4), Fraction(1, 2)
    )
    assert first.unseen == {4, 5, 6} and first.tables == 12
    assert last.largest[3].least == last.largest[3].most == Fraction(4, 5)
    assert ILL[last.largest[3].value] == "SARS"
    assert [last.largest[class_].least for class_ in (0, 1, 2, 4, 5, 6)] == [Fraction(2, 5)] * 6
    assert not last.unseen and last.tables == 45
    assert found.people == 7 and not found.missing


def test_the_most_exposed_come_first_with_their_shares_and_names() -> None:
    found = stages(question_of(ILL, [MALES, OLDER], PAPER))
    assert found.exposed[0] == 3
    assert found.shares[3] == (0, 0, Fraction(4, 5), Fraction(1, 5))
    assert found.shares[0] == (0, Fraction(1, 3), Fraction(2, 5), Fraction(4, 15))
    assert found.members[3] == (("person 3",),)


def believed(
    members: Sequence[Sequence[int]],
    answers: Sequence[Sequence[Any]],
    values: Sequence[Any],
    many: int,
    same: Sequence[Sequence[int]],
) -> dict[int, Fraction]:
    """The largest share for everybody whom the first views show, by trying every table."""
    covered = [person for person, seen in enumerate(members) if any(view < many for view in seen)]
    fitting = []
    for guess in product(values, repeat=len(covered)):
        has = dict(zip(covered, guess, strict=True))
        if all(
            Counter(has[person] for person in covered if view in members[person])
            == Counter(answers[view])
            for view in range(many)
        ):
            fitting.append(has)
    return {
        person: max(
            Fraction(sum(values.index(table[person]) in one for table in fitting), len(fitting))
            for one in same
        )
        for person in covered
    }


def test_every_stage_is_what_counting_all_tables_gives() -> None:
    draw = random.Random(11)
    for _ in range(1500):
        values = ["a", "A", "b", None][: draw.randint(2, 4)]
        people, views = draw.randint(1, 5), draw.randint(1, 3)
        members = [[view for view in range(views) if draw.random() < 0.55] for _ in range(people)]
        has = [draw.choice(values) for _ in range(people)]
        answers = [
            [has[person] for person in range(people) if view in members[person]]
            for view in range(views)
        ]
        asked = question_of(
            values, answers, members, meanings=meanings(values, merge_spelling=draw.random() < 0.5)
        )
        for many, stage in enumerate(stages(asked).stages, 1):
            expected = believed(members, answers, values, many, asked.meanings)
            assert {class_: one.least for class_, one in stage.largest.items()} == expected
            assert {class_: one.most for class_, one in stage.largest.items()} == expected
            assert stage.unseen == set(range(people)) - set(expected)


def test_people_who_are_alike_are_counted_together() -> None:
    asked = question_of(["x", "y"], [["x", "x", "y"], ["y", "x"]], [[0], [0], [0, 1], [1]])
    wide = asked.overlap
    three = Overlap(
        wide.values, wide.views, wide.outputs[[0, 2, 3]], np.array([2, 1, 1]), wide.shown
    )
    found = stages(OverlapQuestion(asked.releases, "t", ("k",), "s", (), three, asked.answers))
    assert [one.largest[0].least for one in found.stages] == [Fraction(2, 3), Fraction(2, 3)]
    assert found.people == 4


def test_nobody_is_shown_yet() -> None:
    found = stages(question_of(["x", "y"], [[], ["x", "y"]], [[1], [1]]))
    assert found.stages[0].largest == {} and found.stages[0].unseen == {0, 1} and not found.missing
    assert found.last.largest[0].least == Fraction(1, 2)


def test_what_takes_too_long_is_left_out_and_said() -> None:
    found = stages(question_of(ILL, [MALES, OLDER], PAPER), seconds=0)
    assert [one.largest for one in found.stages] == [{}, {}] and found.missing == TOO_LONG
    assert found.stages[0].unseen == {4, 5, 6}
    assert found.shares == {} and found.exposed == []


def test_parts_that_are_too_large_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "averaged", lambda part, job, **_: None)
    found = stages(question_of(ILL, [MALES, OLDER, ["Flu"]], [*PAPER, [2]]))
    assert found.missing == TOO_LARGE
    assert set(found.last.largest) == {7}  # what is settled needs no counting
    assert found.last.largest[7].least == 1 and found.last.tables is None


def test_very_many_classes_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CELLS", 8)
    found = stages(question_of(ILL, [MALES, OLDER], PAPER))
    assert [one.missing for one in found.stages] == [
        "",
        TOO_MANY,
    ]  # three classes after the second view, one after the first


def test_the_work_can_be_stopped() -> None:
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        stages(question_of(ILL, [MALES, OLDER], PAPER), job)


def test_progress_names_the_release() -> None:
    said: list[str] = []
    stages(question_of(ILL, [MALES, OLDER], PAPER), Job(lambda text, share: said.append(text)))
    assert {"beliefs after v1", "beliefs after v2"} <= set(said)
