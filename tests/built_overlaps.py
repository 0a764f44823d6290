"""Overlaps from the oracle's cases: every view is looked at for every person and every value."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.overlap import Answer, Classes, Public, View, answers
from tacit.families.overlaps.overlap import Overlap


@dataclass(frozen=True)
class Built:
    """An overlap, and the people of each class by their keys."""

    overlap: Overlap
    members: tuple[tuple[Hashable, ...], ...]

    def keys(self, sets: Sequence[Sequence[int]]) -> set[frozenset[Hashable]]:
        """Sets of classes as sets of people."""
        return {frozenset(key for class_ in some for key in self.members[class_]) for some in sets}


def built(
    people: Mapping[Hashable, Public],
    truth: Mapping[Hashable, Hashable] | None,
    views: Sequence[View],
    values: Sequence[Hashable],
    given: Sequence[Answer] | None = None,
) -> Built:
    """The overlap of some views with the answers given, or else those of the true table."""
    if given is None:
        assert truth is not None
        given = answers(people, truth, views)
    outputs = {
        key: tuple(tuple(view.puts(row, value) for value in values) for view in views)
        for key, row in people.items()
    }
    members: dict[Any, list[Hashable]] = {}
    for key, rows in outputs.items():
        members.setdefault(rows, []).append(key)
    numbers, shown, known = {}, [0], list(members)
    for view, answer in enumerate(given):
        rows = dict.fromkeys(
            [*(row for one in known for row in one[view] if row is not None), *answer]
        )
        for row in rows:
            numbers[view, row] = len(shown)
            shown.append(answer[row])
    array = np.zeros((len(known), len(views), len(values)), dtype=np.int64)
    current = np.zeros((len(known), len(values)), dtype=np.int64)
    for class_, maps in enumerate(known):
        for view, one in enumerate(maps):
            array[class_, view] = [0 if row is None else numbers[view, row] for row in one]
        for key in members[maps]:
            if truth is not None:
                current[class_, list(values).index(truth[key])] += 1
    sizes = np.array([len(members[one]) for one in known], dtype=np.int64)
    names = tuple(view.name for view in views)
    overlap = Overlap(
        tuple(values),
        names,
        array,
        sizes,
        np.array(shown, dtype=np.int64),
        None if truth is None else current,
    )
    return Built(overlap, tuple(tuple(one) for one in members.values()))


def of_classes(classes: Classes) -> tuple[Overlap, list[int]]:
    """The overlap of the oracle's classes, with the answers given, and the number of the first
    row of each view.
    """
    views, values = len(classes.given), len(classes.outputs[0])
    numbers, shown, first = {}, [0], []
    for view, answer in enumerate(classes.given):
        first.append(len(shown))
        rows = dict.fromkeys(
            [
                *(one[value][view] for one in classes.outputs for value in range(values)),
                *sorted(answer, key=repr),
            ]
        )
        for row in rows:
            if row is not None:
                numbers[view, row] = len(shown)
                shown.append(answer.get(row, 0))
    array = np.array(
        [
            [
                [
                    0 if one[value][view] is None else numbers[view, one[value][view]]
                    for value in range(values)
                ]
                for view in range(views)
            ]
            for one in classes.outputs
        ],
        dtype=np.int64,
    )
    overlap = Overlap(
        tuple(range(values)),
        tuple(f"v{view}" for view in range(views)),
        array,
        np.array(classes.sizes, dtype=np.int64),
        np.array(shown, dtype=np.int64),
    )
    return overlap, first


# -- cases that were computed elsewhere ------------------------------------------------------------

SHARED = (
    Path(os.environ.get("TACIT_CASES") or Path(__file__).parents[2] / "shared" / "cases")
    / "tables.json"
)


def shared_sind() -> list[Any]:
    """The shared cases of SIND, as parameters of a test."""
    if not SHARED.is_file():
        return [
            pytest.param(
                {},
                marks=pytest.mark.skip(
                    reason="no tables.json in the folder that TACIT_CASES names"
                ),
            )
        ]
    every = json.loads(SHARED.read_text("utf-8"))["cases"]
    return [pytest.param(one, id=one["name"]) for one in every if one["kind"] == "sind"]


def of_shared(case: Mapping[str, Any]) -> Built:
    """The overlap of a shared case; people are numbered."""
    people = {
        number: dict(zip(case["attributes"], row, strict=True))
        for number, row in enumerate(case["B"])
    }
    views = [_view(view, f"v{number}") for number, view in enumerate(case["views"], 1)]
    return built(people, dict(enumerate(case["P"])), views, case["dom"])


def _view(given: Mapping[str, Any], name: str) -> View:
    cells = {tuple(cell) for cell in given.get("cells", ())}
    where = given.get("where", {})

    def selects(row: Public, value: Hashable) -> bool:
        if "cells" in given:
            return (row["id"], value) in cells
        return all({**row, "P": value}[column] in allowed for column, allowed in where.items())

    return View(name, selects, tuple(given["project"]), given["projectP"])


# -- the running example of Yao and others ---------------------------------------------------------

PATIENTS = (  # Figure 1: zip, age, race, gender, charge, problem of t1, ..., t12
    ("22030", 39, "White", "Male", 1, "Cold"),
    ("22030", 50, "White", "Male", 12, "AIDS"),
    ("22030", 38, "White", "Male", 5, "Obesity"),
    ("22030", 53, "Black", "Male", 5, "AIDS"),
    ("22031", 28, "Black", "Female", 8, "Chest Pain"),
    ("22031", 37, "White", "Female", 10, "Hypertension"),
    ("22031", 49, "Black", "Female", 1, "Obesity"),
    ("22031", 52, "White", "Male", 8, "Cold"),
    ("22032", 30, "Asian", "Male", 10, "Hypertension"),
    ("22032", 40, "Asian", "Male", 9, "Chest Pain"),
    ("22033", 30, "White", "Male", 10, "Hypertension"),
    ("22033", 40, "White", "Male", 9, "Chest Pain"),
)


def of_patients(*views: View, among: Sequence[int] = range(1, 13)) -> Built:
    """Views of the patients of Figure 1, or of some of them; a patient is called by the number."""
    names = ("zip", "age", "race", "gender", "charge")
    people = {
        one: {"id": one, **dict(zip(names, PATIENTS[one - 1], strict=False))} for one in among
    }
    truth = {one: PATIENTS[one - 1][-1] for one in among}
    return built(people, truth, views, sorted(set(truth.values())))
