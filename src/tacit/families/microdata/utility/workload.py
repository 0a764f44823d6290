"""Workload: how well the release answers random counting questions.

A question is "how many rows have these values?": conditions on one to three columns, at least one a
quasi-identifier. Each is made around a row of the table, drawn at random, so that its true answer
is at least 1: a range around the row's value where the column has numbers or dates, else a set of
values with the row's among them. A missing value is asked for by itself where values have an order,
else it is one more value. The release answers with each row spread evenly over the values that its
labels cover; rows that were dropped are not in it. The error of an answer is |answer - truth| /
truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import ParameterError
from tacit.families.microdata.counts import pack_codes
from tacit.families.microdata.utility.cover import (
    Cover,
    CoveredColumn,
    in_order,
    leaves_of,
    places,
    shown_columns,
)

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.groups import Mask
    from tacit.families.microdata.recoded import Recoded
    from tacit.families.microdata.utility.cover import Floats

COLUMNS = 3  # conditions in one question, at most
QUERIES = 400
SAMPLE = 50_000  # combinations that are looked at, at most


@dataclass(frozen=True, slots=True)
class RangeQueryError:
    """The errors of a random workload.
    `sampled` is how many combinations were looked at, where not all.
    """

    queries: int
    median: float
    ninth_decile: float
    sampled: int | None = None


@dataclass(frozen=True, slots=True)
class WorkloadColumn:
    """A column as the questions see it:
    the values of the table and what the release makes of them.
    """

    truth: Integers  # the value of each combination
    place: Integers
    values: int
    ordered: bool
    codes: Integers  # the label (or the value, of a sensitive column) of each cell
    cover: Cover | None = None

    def around(self, leaf: int, rng: np.random.Generator) -> Mask:
        """A condition that a value meets: by value, whether it is asked for."""
        chosen = np.zeros(len(self.place), dtype=bool)
        if not self.ordered:
            chosen[:] = rng.random(len(self.place)) < rng.random()
        elif leaf < self.values:
            here = int(self.place[leaf])
            low, high = rng.integers(0, here + 1), rng.integers(here, self.values)
            chosen[:] = (self.place >= low) & (self.place <= high)
        chosen[leaf] = True
        return chosen

    def answers(self, chosen: Mask) -> Floats:
        """Which part of each cell meets a condition, as the release tells it."""
        by_code = self.cover.parts(chosen) if self.cover is not None else chosen.astype(float)
        return np.asarray(by_code[self.codes])


@dataclass(frozen=True, slots=True)
class Workload:
    """The table and the release, ready to be asked."""

    quasi: int
    columns: Sequence[WorkloadColumn]
    occurrences: Integers
    counts: Integers

    def ask(self, row: int, rng: np.random.Generator) -> float:
        """The error of one random question about a row."""
        conditions = {}
        for number in self.choose(rng):
            column = self.columns[number]
            conditions[number] = column.around(int(column.truth[row]), rng)
        truth, answer = self.answer(conditions)
        return abs(answer - truth) / truth

    def answer(self, conditions: Mapping[int, Mask]) -> tuple[int, float]:
        """How many rows of the table meet some conditions, and how many the release says."""
        truth, answer = self.occurrences, self.counts.astype(float)
        for number, chosen in conditions.items():
            truth = truth * chosen[self.columns[number].truth]
            answer *= self.columns[number].answers(chosen)
        return int(truth.sum()), float(answer.sum())

    def choose(self, rng: np.random.Generator) -> list[int]:
        """Different columns to ask about, the first a quasi-identifier."""
        first = int(rng.integers(self.quasi))
        others = [
            number for number in rng.permutation(len(self.columns)).tolist() if number != first
        ]
        return [first, *others[: int(rng.integers(min(COLUMNS, len(self.columns))))]]


def range_query_error(
    recoded: Recoded,
    rng: np.random.Generator,
    *,
    queries: int = QUERIES,
    sample: int = SAMPLE,
    columns: Mapping[str, CoveredColumn] | None = None,
) -> RangeQueryError:
    """How wrong the release answers random counting questions:
    median and ninth decile of the relative error.

    Where the table has more than `sample` combinations, a random sample of that many is asked
    instead of all.
    """
    if queries < 1 or sample < 1:
        raise ParameterError(
            f"a workload of {queries} queries on {sample} combinations tells nothing.",
            parameter="queries",
            hint="Use at least 1 of each; 400 on 50000 is the default.",
        )
    base = recoded.raw.base
    if not recoded.raw.quasi or not base.rows:
        return RangeQueryError(queries, 0.0, 0.0)
    rows = np.arange(len(base))
    if len(base) > sample:
        rows = np.sort(rng.choice(len(base), size=sample, replace=False))
    work = workload(recoded, rows, shown_columns(recoded) if columns is None else columns)
    about = rng.choice(len(rows), size=queries, p=work.occurrences / work.occurrences.sum())
    errors = np.array([work.ask(row, rng) for row in about.tolist()])
    median, high = np.quantile(errors, [0.5, 0.9])
    return RangeQueryError(
        queries, float(median), float(high), len(rows) if len(rows) < len(base) else None
    )


def workload(recoded: Recoded, rows: Integers, shows: Mapping[str, CoveredColumn]) -> Workload:
    """The table and the release, as far as they are about some combinations."""
    raw = recoded.raw
    inside = np.zeros(len(raw.base), dtype=bool)
    inside[rows] = True
    cells = np.flatnonzero(inside[recoded.rows])
    names = (*raw.quasi, *raw.sensitive)
    codes, sizes = [], []
    for name in names:
        codes.append(
            shows[name].codes[cells] if name in shows else raw.base.codes(name)[recoded.rows[cells]]
        )
        sizes.append(len(shows[name].rows) if name in shows else raw.base.size(name))
    first, counts = merged_cells(codes, sizes, recoded.counts[cells])
    columns = []
    for name, code in zip(names, codes, strict=True):
        values, leaves = raw.base.dictionaries[name], leaves_of(raw, name)
        columns.append(
            WorkloadColumn(
                raw.base.codes(name)[rows],
                places(values, leaves),
                len(values),
                in_order(values),
                code[first],
                shows[name].cover if name in shows else None,
            )
        )
    return Workload(len(raw.quasi), columns, raw.base.occurrences[rows], counts)


def merged_cells(
    codes: list[Integers], sizes: list[int], counts: Integers
) -> tuple[Integers, Integers]:
    """Cells that show the same as one: where each is first found, and its rows."""
    key, _ = pack_codes(codes, sizes, len(counts))
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, np.bincount(number, weights=counts, minlength=len(first)).astype(np.int64)
