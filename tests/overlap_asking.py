"""Asking Tacit about cases of overlapping views that the oracle has judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oracles.overlap_cases import Case
from tacit.checking.assess import assess
from tacit.families.overlaps.meanings import meanings
from tacit.families.overlaps.overlap import Overlap
from tacit.families.overlaps.question import OverlapQuestion
from tacit.model.verdict import Verdict
from tacit.plan.read.document import parse
from tacit.plan.read.load import read_plan


def asked(plan: dict[str, Any], folder: Path = Path()) -> tuple[Verdict, ...]:
    """The verdicts of a plan."""
    return assess(read_plan(parse(json.dumps(plan), "tacit.yaml"), folder)).verdicts


class Known:
    """People whom nobody has to look up."""

    def __init__(self, people: Sequence[tuple[tuple[Any, ...], int, int | None]]) -> None:
        self.people = sorted(people)

    def members(self, class_: int, limit: int, value: int | None) -> list[tuple[Any, ...]]:
        return [key for key, own, has in self.people if own == class_ and value in (None, has)][
            :limit
        ]

    def everyone(self, limit: int | None) -> Iterator[tuple[tuple[Any, ...], int, int | None]]:
        return iter(self.people[:limit])

    def class_of(self, key: tuple[Any, ...]) -> int | None:
        return next((own for one, own, _ in self.people if one == key), None)


def question_of(
    case: Case, values: Sequence[Any], people: Mapping[Any, Mapping[str, Any]]
) -> OverlapQuestion:
    """The question about a case without a plan or an engine:
    every view is looked at for every person and value.
    """
    numbers: dict[tuple[int, Any], int] = {}
    shown = [0]
    maps: dict[Any, int] = {}
    classes: list[Any] = []
    known, current = [], []
    for view, answer in enumerate(case.answers):
        for row, many in answer.items():
            numbers[view, row] = len(shown)
            shown.append(many)
    for key, row in people.items():
        outputs = []
        for view, query in enumerate(case.views):
            rows = [query.puts(row, value) for value in values]
            for one in rows:
                if one is not None and (view, one) not in numbers:
                    numbers[view, one] = len(shown)
                    shown.append(0)
            outputs.append(tuple(0 if one is None else numbers[view, one] for one in rows))
        own = maps.setdefault(tuple(outputs), len(classes))
        if own == len(classes):
            classes.append(outputs)
            current.append([0] * len(values))
        has = list(values).index(case.truth[key]) if case.truth[key] in values else None
        if has is not None:
            current[own][has] += 1
        known.append((key if isinstance(key, tuple) else (key,), own, has))
    outputs_array = np.array(classes, dtype=np.int64).reshape(
        len(classes), len(case.views), len(values)
    )
    sizes = np.bincount([own for _, own, _ in known], minlength=len(classes)).astype(np.int64)
    overlap = Overlap(
        tuple(values),
        tuple(view.name for view in case.views),
        outputs_array,
        sizes,
        np.array(shown, dtype=np.int64),
        np.array(current, dtype=np.int64).reshape(len(classes), len(values))
        if case.told is None
        else None,
    )
    return OverlapQuestion(
        overlap.views,
        "people",
        tuple(case.key),
        "condition",
        tuple(name for name in case.columns if name not in case.key),
        overlap,
        meanings=meanings(values, merge_spelling=False),
        people=Known(known),
    )
